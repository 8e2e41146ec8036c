/* rownorm.c - normalisation of each token over its features: ln with mean and variance, rms without a mean.
 *
 * The formulas and the ways to form mean and variance are those of kernels/functions/tokens.h. Parameters: gamma (d),
 * then beta (d) of ln. Mean and variance of a token are rounded at the point `norm`: once, or, under a method other
 * than the default, after every operation. The outputs and the gradients are computed in binary64 from the rounded
 * statistics and rounded once.
 */
#include "sim/layers/layer.h"

#include <string.h>

extern const ulp_layer_kind ulp_layer_rms;

enum { METHOD, HAS_BETA }; /* indices in layer->arg */

static ulp_status shape(ulp_layer *layer, const char *args) {
    static const char *const names[] = {
#define NAME(id, name) name,
        ULP_MOMENTS(NAME)
#undef NAME
    };
    const int of_ln = layer->kind != &ulp_layer_rms;
    layer->out = layer->in;
    layer->arg[METHOD] = ULP_MOMENTS_WIDE;
    layer->arg[HAS_BETA] = (size_t)of_ln;
    for (size_t i = 1; i < ULP_MOMENTS_COUNT && *args; i++)
        if ((of_ln || i == ULP_MOMENTS_ONE_PASS) && ulp_args_option(&args, names[i], NULL, 0)) layer->arg[METHOD] = i;
    if (*args) return ULP_BAD_ARGUMENT;
    layer->params = layer->in.w * (of_ln ? 2 : 1);
    layer->saved = 2 * layer->in.h;
    layer->inner = (of_ln ? 2 : 1) * layer->in.h;
    layer->widest = layer->saved;
    return ulp_dims_is_tokens(layer->in) ? ULP_OK : ULP_UNSUPPORTED;
}

static void init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    (void)stream, (void)std;
    for (size_t i = 0; i < layer->params; i++) w[i] = i < layer->in.w ? 1.0f : 0.0f;
}

static ulp_row_norm norm_of(const ulp_layer *layer, const ulp_pass *pass, const ulp_layer_tensors *t) {
    return (ulp_row_norm){.rows = pass->now.B * layer->in.h,
                          .n = layer->in.w,
                          .no_mean = !layer->arg[HAS_BETA],
                          .statistics = t->saved,
                          .w = t->w};
}

static ulp_status forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const ulp_row_norm by = norm_of(layer, pass, t);
    const ulp_site site = {.use = ULP_AT_NORM, .layer = layer->index, .per_sample = 2 * layer->in.h},
                   steps = {.use = ULP_AT_NORM,
                            .layer = layer->index,
                            .lane = 1,
                            .per_sample = layer->in.h * ulp_moments_words(layer->in.w)};
    ulp_row_moments how = {.rows = by.rows, .n = by.n, .method = (uint8_t)layer->arg[METHOD], .no_mean = by.no_mean};
    const ulp_rounding rounding = ulp_pass_rounding(pass, steps);
    how.format = *rounding.format;
    how.rule = rounding.rule;
    how.stream = rounding.stream;
    double *exact = pass->scratch.wide;
    ULP_TRY(ulp_backend_row_moments(backend, exact, t->x, &how));
    ULP_TRY(ulp_pass_round64(pass, site, t->saved, exact, 2 * by.rows));
    ULP_TRY(ulp_backend_row_norm(backend, exact, t->x, by));
    return ulp_layer_round_output(layer, pass, t);
}

static ulp_status backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_backend *backend = pass->run.backend;
    const ulp_row_norm by = norm_of(layer, pass, t);
    double *exact = pass->scratch.wide;
    ULP_TRY(ulp_backend_row_norm_sums(backend, exact, t->dy, t->x, by));
    ULP_TRY(ulp_pass_round64(pass, ulp_site_weight_gradients(layer), t->dw, exact, layer->params));
    if (!t->dx) return ULP_OK;
    ULP_TRY(ulp_backend_row_norm_slope(backend, exact, t->dy, t->x, by));
    return ulp_layer_round_gradient(layer, pass, t);
}

static void forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    const size_t d = layer->in.w, centred = layer->arg[HAS_BETA];
    for (size_t r = 0; r < B * layer->in.h; r++) {
        const double *x = t->x + r * d;
        double mean = 0.0, variance = 0.0;
        for (size_t i = 0; i < d && centred; i++) mean += x[i] / (double)d;
        for (size_t i = 0; i < d; i++) variance += (x[i] - mean) * (x[i] - mean) / (double)d;
        for (size_t i = 0; i < d; i++)
            t->y[r * d + i] =
                t->w[i] * (x[i] - mean) / sqrt(variance + ULP_ROW_NORM_EPS) + (centred ? t->w[d + i] : 0.0);
    }
}

const ulp_layer_kind ulp_layer_ln = {
    .name = "ln",
    .usage = "ln[:one-pass|:two-pass|:welford]: layer normalisation of each token; mean and variance in binary64, or "
             "every operation rounded at norm",
    .takes = "tokens: an image of one channel, whose rows are the tokens",
    .example = "ln tanh ln:welford",
    .passes = 2, /* for mean and variance, then for the output */
    .operation = ULP_OPERATION_LAYER_NORM,
    .reads = ULP_READS_INPUT,
    .shape = shape,
    .init = init,
    .forward = forward,
    .backward = backward,
    .forward64 = forward64,
};

const ulp_layer_kind ulp_layer_rms = {
    .name = "rms",
    .usage = "rms[:one-pass]: root mean square normalisation of each token; the mean square in binary64, or every "
             "operation rounded at norm",
    .takes = "tokens: an image of one channel, whose rows are the tokens",
    .example = "rms tanh rms:one-pass",
    .passes = 2,
    .operation = ULP_OPERATION_LAYER_NORM,
    .reads = ULP_READS_INPUT,
    .shape = shape,
    .init = init,
    .forward = forward,
    .backward = backward,
    .forward64 = forward64,
};
