/* bn.c - batch normalisation of every channel over batch and positions; parameters gamma (c), beta (c).
 *
 * Ioffe and Szegedy 2015, arXiv:1502.03167. Training, with M numbers x per channel. All sums are binary64 sums over the
 * samples, and in each sample over the positions, in ascending order:
 *
 *   m = sum x / M, v = sum (x - m)^2 / M               each rounded once at ULP_AT_NORM, v about the m before it
 *   y = gamma (x - m) / sqrt(v + eps) + beta           from the rounded m and v in binary64, rounded once at ULP_AT_ACT
 *   running <- 9/10 running + 1/10 of m, of v M/(M-1)  in binary64, rounded once at ULP_AT_NORM (lane 1); v for M = 1
 *   dbeta = sum dy, dgamma = sum dy z                  z = (x - m) / sqrt(v + eps); rounded once at ULP_AT_WGRAD
 *   dx = gamma / sqrt(v + eps) (dy - dbeta / M - z dgamma / M)   from the binary64 sums, rounded once at ULP_AT_AGRAD
 *
 * eps is 1e-5. An evaluation uses the running statistics as m and v; their initial values are 0 and 1.
 */
#include "sim/layers/layer.h"

#include <math.h>

static ulp_status bn_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    layer->params = layer->states = layer->saved = 2 * layer->in.c; /* `saved` is used for the batch, not per sample */
    layer->widest = layer->params;
    layer->work = 2 * layer->params; /* the batch's sums, in binary64 */
    return *args ? ULP_BAD_ARGUMENT : ULP_OK;
}

static void bn_init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    (void)stream;
    (void)std;
    for (size_t i = 0; i < layer->params; i++) w[i] = i < layer->in.c ? 1.0f : 0.0f;
}

static void bn_init_state(const ulp_layer *layer, float *state) {
    for (size_t i = 0; i < layer->states; i++) state[i] = i < layer->in.c ? 0.0f : 1.0f;
}

static ulp_norm norm_of(const ulp_layer *layer, const ulp_pass *pass, const float *statistics, const float *w) {
    const ulp_dims d = layer->in;
    return (ulp_norm){.shape = {.B = pass->now.B, .c = d.c, .n = d.h * d.w}, .statistics = statistics, .w = w};
}

/* t->saved = the statistics of the batch. The running statistics take a tenth of them. */
static ulp_status train_statistics(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t,
                                   ulp_channels shape) {
    const ulp_backend *backend = pass->run.backend;
    const ulp_site batch_site = {.use = ULP_AT_NORM, .layer = layer->index},
                   running_site = {.use = ULP_AT_NORM, .layer = layer->index, .lane = 1};
    double *exact = pass->scratch.wide;
    ULP_TRY(ulp_backend_norm_statistics(backend, exact, t->x, shape));
    ULP_TRY(ulp_pass_round64(pass, batch_site, t->saved, exact, layer->states));
    ULP_TRY(ulp_backend_norm_running(backend, exact, t->state, t->saved, shape));
    return ulp_pass_round64(pass, running_site, t->state, exact, layer->states);
}

static ulp_status bn_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_norm by = norm_of(layer, pass, pass->now.evaluation ? t->state : t->saved, t->w);
    const size_t n = pass->now.B * ulp_dims_size(layer->in);
    double *exact = pass->scratch.wide;
    ULP_TRY(pass->now.evaluation ? ULP_OK : train_statistics(layer, pass, t, by.shape));
    ULP_TRY(ulp_backend_norm(pass->run.backend, exact, t->x, by));
    return ulp_pass_round64(pass, ulp_site_output(layer), t->y, exact, n);
}

static ulp_status bn_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const ulp_norm by = norm_of(layer, pass, t->saved, t->w);
    const size_t n = pass->now.B * ulp_dims_size(layer->in);
    double *exact = pass->scratch.wide, *sums = (double *)(void *)t->own.work;
    ULP_TRY(ulp_backend_norm_sums(backend, sums, t->dy, t->x, by));
    if (t->dx) ULP_TRY(ulp_backend_norm_slope(backend, exact, t->dy, t->x, sums, by));
    if (t->dx) ULP_TRY(ulp_pass_round64(pass, ulp_site_input_gradient(layer), t->dx, exact, n));
    return ulp_pass_round64(pass, ulp_site_weight_gradients(layer), t->dw, sums, layer->params);
}

static void bn_forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t C = layer->in.c, positions = layer->in.h * layer->in.w;
    for (size_t c = 0; c < C; c++) {
        double mean = 0.0, variance = 0.0, M = (double)(B * positions);
        for (size_t i = 0; i < B * positions; i++)
            mean += t->x[(i / positions * C + c) * positions + i % positions] / M;
        for (size_t i = 0; i < B * positions; i++) {
            const double d = t->x[(i / positions * C + c) * positions + i % positions] - mean;
            variance += d * d / M;
        }
        for (size_t i = 0; i < B * positions; i++) {
            const size_t at = (i / positions * C + c) * positions + i % positions;
            t->y[at] = t->w[c] * (t->x[at] - mean) / sqrt(variance + ULP_NORM_EPS) + t->w[C + c];
        }
    }
}

const ulp_layer_kind ulp_layer_bn = {
    .name = "bn",
    .usage = "bn: batch normalisation of every channel",
    .example = "bn conv3@2 bn tanh fc4 bn",
    .passes = 2, /* for mean and variance, then for the output */
    .operation = ULP_OPERATION_NORM,
    .reads = ULP_READS_INPUT,
    .shape = bn_shape,
    .init = bn_init,
    .init_state = bn_init_state,
    .forward = bn_forward,
    .backward = bn_backward,
    .forward64 = bn_forward64,
};
