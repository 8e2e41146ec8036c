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
#include "sim/layer.h"

#include <math.h>
#include <stdlib.h>

static const double eps = 1e-5;

static ulp_status bn_shape(ulp_layer *layer, const char *args) {
    layer->out = layer->in;
    layer->params = layer->states = layer->saved = 2 * layer->in.c; /* `saved` is used for the batch, not per sample */
    layer->widest = layer->params;
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

/* The arrays of one computation over channels; host memory. */
typedef struct work {
    size_t B, c, positions;
    const float *x, *dy;     /* (B,c,positions) */
    double *to;              /* y or dx (B,c,positions), or m and v (2 c) */
    double *sums;            /* dgamma, dbeta (2 c) */
    const float *statistics; /* m, v (2 c) */
    const float *w;          /* gamma, beta (2 c) */
} work;

static size_t place(const work *t, size_t c, size_t b) { return (b * t->c + c) * t->positions; }

static void statistics_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const double M = (double)(t->B * t->positions);
    for (size_t c = begin; c < end; c++) {
        double sum = 0.0, squares = 0.0;
        for (size_t b = 0; b < t->B; b++)
            for (size_t i = 0; i < t->positions; i++) sum += (double)t->x[place(t, c, b) + i];
        const double mean = sum / M;
        for (size_t b = 0; b < t->B; b++)
            for (size_t i = 0; i < t->positions; i++) {
                const double d = (double)t->x[place(t, c, b) + i] - mean;
                squares += d * d;
            }
        t->to[c] = mean;
        t->to[t->c + c] = squares / M;
    }
}

static double inverse_deviation(const work *t, size_t c) { return 1.0 / sqrt((double)t->statistics[t->c + c] + eps); }

static void forward_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    for (size_t c = begin; c < end; c++) {
        const double mean = (double)t->statistics[c], inverse = inverse_deviation(t, c);
        const double gamma = (double)t->w[c], beta = (double)t->w[t->c + c];
        for (size_t b = 0; b < t->B; b++)
            for (size_t i = place(t, c, b); i < place(t, c, b) + t->positions; i++)
                t->to[i] = gamma * (((double)t->x[i] - mean) * inverse) + beta;
    }
}

static void backward_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const double M = (double)(t->B * t->positions);
    for (size_t c = begin; c < end; c++) {
        const double mean = (double)t->statistics[c], inverse = inverse_deviation(t, c), gamma = (double)t->w[c];
        double dgamma = 0.0, dbeta = 0.0;
        for (size_t b = 0; b < t->B; b++)
            for (size_t i = place(t, c, b); i < place(t, c, b) + t->positions; i++) {
                dbeta += (double)t->dy[i];
                dgamma += (double)t->dy[i] * (((double)t->x[i] - mean) * inverse);
            }
        for (size_t b = 0; b < t->B && t->to; b++)
            for (size_t i = place(t, c, b); i < place(t, c, b) + t->positions; i++) {
                const double z = ((double)t->x[i] - mean) * inverse;
                t->to[i] = gamma * inverse * ((double)t->dy[i] - dbeta / M - z * (dgamma / M));
            }
        t->sums[c] = dgamma;
        t->sums[t->c + c] = dbeta;
    }
}

static work work_of(const ulp_layer *layer, const ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_dims d = layer->in;
    return (work){.B = pass->now.B, .c = d.c, .positions = d.h * d.w, .x = t->own.host_x, .to = t->own.host_wide};
}

/* t->saved = the statistics of the batch in `part`. The running statistics take a tenth of them. batch and running (2
 * c) are host memory for both. */
static ulp_status train_statistics(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t, const work *part,
                                   float *batch, float *running) {
    const ulp_backend *backend = pass->run.backend;
    const ulp_site batch_site = {.use = ULP_AT_NORM, .layer = layer->index},
                   running_site = {.use = ULP_AT_NORM, .layer = layer->index, .lane = 1};
    const size_t n = 2 * part->c, M = part->B * part->positions;
    ulp_parallel_for(part->c, 1, statistics_part, (void *)part);
    ulp_status status = ulp_pass_round_host(pass, batch_site, t->saved, part->to, n);
    if (status == ULP_OK) status = backend->download(batch, t->saved, n * sizeof(float));
    if (status == ULP_OK) status = backend->download(running, t->state, n * sizeof(float));
    if (status != ULP_OK) return status;
    for (size_t i = 0; i < n; i++) {
        const double unbiased = i < part->c || M < 2 ? 1.0 : (double)M / (double)(M - 1);
        part->to[i] = 0.9 * (double)running[i] + 0.1 * ((double)batch[i] * unbiased);
    }
    return ulp_pass_round_host(pass, running_site, t->state, part->to, n);
}

static ulp_status bn_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    work part = work_of(layer, pass, t);
    const size_t n = pass->now.B * ulp_dims_size(layer->in), c = part.c;
    float *host = malloc(4 * c * sizeof *host); /* m, v, gamma, beta (c) */
    if (!host) return ULP_NO_MEMORY;
    part.statistics = host;
    part.w = host + 2 * c;
    ulp_status status = backend->download(t->own.host_x, t->x, n * sizeof(float));
    if (status == ULP_OK && !pass->now.evaluation) status = train_statistics(layer, pass, t, &part, host, host + 2 * c);
    if (status == ULP_OK)
        status = backend->download(host, pass->now.evaluation ? t->state : t->saved, 2 * c * sizeof(float));
    if (status == ULP_OK) status = backend->download(host + 2 * c, t->w, 2 * c * sizeof(float));
    if (status == ULP_OK) ulp_parallel_for(c, 1, forward_part, &part);
    free(host);
    return status == ULP_OK ? ulp_pass_round_host(pass, ulp_site_output(layer), t->y, t->own.host_wide, n) : status;
}

static ulp_status bn_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    work part = work_of(layer, pass, t);
    const size_t n = pass->now.B * ulp_dims_size(layer->in), c = part.c;
    double *sums = malloc(4 * c * sizeof *sums); /* dgamma, dbeta (c); then m, v, gamma (c) as floats */
    if (!sums) return ULP_NO_MEMORY;
    float *host = (float *)(void *)(sums + 2 * c);
    part.sums = sums;
    part.statistics = host;
    part.w = host + 2 * c;
    part.dy = t->own.host_y;
    if (!t->dx) part.to = NULL;
    ulp_status status = backend->download(t->own.host_x, t->x, n * sizeof(float));
    if (status == ULP_OK) status = backend->download(t->own.host_y, t->dy, n * sizeof(float));
    if (status == ULP_OK) status = backend->download(host, t->saved, 2 * c * sizeof(float));
    if (status == ULP_OK) status = backend->download(host + 2 * c, t->w, c * sizeof(float));
    if (status == ULP_OK) ulp_parallel_for(c, 1, backward_part, &part);
    if (status == ULP_OK && t->dx)
        status = ulp_pass_round_host(pass, ulp_site_input_gradient(layer), t->dx, t->own.host_wide, n);
    if (status == ULP_OK)
        status = ulp_pass_round_host(pass, ulp_site_weight_gradients(layer), t->dw, sums, layer->params);
    free(sums);
    return status;
}

static void bn_forward64(const ulp_layer *layer, double *y, const double *x, const double *skip, const double *w,
                         size_t B) {
    (void)skip;
    const size_t C = layer->in.c, positions = layer->in.h * layer->in.w;
    for (size_t c = 0; c < C; c++) {
        double mean = 0.0, variance = 0.0, M = (double)(B * positions);
        for (size_t i = 0; i < B * positions; i++) mean += x[(i / positions * C + c) * positions + i % positions] / M;
        for (size_t i = 0; i < B * positions; i++) {
            const double d = x[(i / positions * C + c) * positions + i % positions] - mean;
            variance += d * d / M;
        }
        for (size_t i = 0; i < B * positions; i++) {
            const size_t at = (i / positions * C + c) * positions + i % positions;
            y[at] = w[c] * (x[at] - mean) / sqrt(variance + eps) + w[C + c];
        }
    }
}

extern const ulp_layer_kind ulp_layer_bn;
const ulp_layer_kind ulp_layer_bn = {
    .name = "bn",
    .usage = "bn: batch normalisation of every channel",
    .example = "bn conv3@2 bn tanh fc4 bn",
    .gain = 1.0,
    .passes = 2, /* for mean and variance, then for the output */
    .operation = "norm",
    .shape = bn_shape,
    .init = bn_init,
    .init_state = bn_init_state,
    .forward = bn_forward,
    .backward = bn_backward,
    .forward64 = bn_forward64,
};
