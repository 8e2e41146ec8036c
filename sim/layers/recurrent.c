/* recurrent.c - the forward and backward pass through time of recurrent layers; see recurrent.h. */
#include "recurrent.h"

#include <math.h>
#include <stdlib.h>

#include "sim/normal.h"
#include "sim/tensor.h"

/* The sizes and arrays of one pass through a layer; the float arrays are in backend memory. */
typedef struct layer_pass {
    const ulp_cell *cell;
    const ulp_layer *layer;
    ulp_pass *pass;
    size_t F, N, T, B, G, w, u;
    const float *W, *U, *b;          /* (F,w), (N,u), (G) */
    float *x, *kept[ULP_STAGES_MAX]; /* saved: (T,B,F); (T+1, B, width N), step 0 is the initial state */
    const float *batch_ones;         /* (B) */
    float *sums;                     /* work of forward: (B,G) */
    float *dy, *p, *ones, *dx;       /* work of backward: (T,B,N), (B,N), (T,B), (T,B,F) */
    float *grad[ULP_STAGES_MAX];     /* (T+1, B, grad_width N), step T is zero */
} layer_pass;

/* The width of the tensor of a stage, in units of N; the sum of the widths of n stages. */
static size_t width_of(const ulp_cell_rule *rule) { return ulp_cell_widths_of(rule->stage).to; }

static size_t widths_of(const ulp_cell_rule *rule, size_t n) {
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += width_of(&rule[i]);
    return sum;
}

static layer_pass layer_pass_of(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_cell *cell = layer->kind->cell;
    layer_pass s = {.cell = cell, .layer = layer, .pass = pass};
    s.F = layer->in.c;
    s.N = layer->out.c;
    s.T = layer->in.w;
    s.B = pass->now.B;
    s.G = cell->gates * s.N;
    s.w = (cell->gates - cell->w_from) * s.N;
    s.u = cell->u_to * s.N;
    s.W = t->w;
    s.U = s.W + s.F * s.w;
    s.b = s.U + s.N * s.u;
    s.batch_ones = t->ones;
    s.x = t->saved;
    float *at = s.x + s.T * s.B * s.F;
    for (size_t k = 0; k < cell->stages; at += (s.T + 1) * s.B * width_of(&cell->forward[k++]) * s.N) s.kept[k] = at;
    s.sums = s.dy = t->own.work;
    s.p = s.dy + s.T * s.B * s.N;
    s.ones = s.p + s.B * s.N;
    s.dx = s.ones + s.T * s.B;
    at = s.dx + s.T * s.B * s.F;
    for (size_t k = 0; k < cell->grads; at += (s.T + 1) * s.B * width_of(&cell->backward[k++]) * s.N) s.grad[k] = at;
    return s;
}

_Static_assert(ULP_STEPS_MAX == 512, "recurrent.h: the text of ULP_RECURRENT_TAKES");

ulp_status ulp_recurrent_shape(ulp_layer *layer, const char *args) {
    const ulp_cell *cell = layer->kind->cell;
    size_t N, F = layer->in.c, T = layer->in.w;
    size_t kept = widths_of(cell->forward, cell->stages), grads = widths_of(cell->backward, cell->grads);
    if (ulp_args_number(&N, args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (!ulp_dims_is_sequence(layer->in) || T > ULP_STEPS_MAX) return ULP_UNSUPPORTED;
    layer->out = (ulp_dims){N, 1, T};
    layer->params = N * (F * (cell->gates - cell->w_from) + N * cell->u_to + cell->gates);
    layer->decays[0] = layer->params - N * cell->gates;
    layer->feedback = T * N * cell->u_to * N;
    layer->multiply_adds = T * F * (cell->gates - cell->w_from) * N + layer->feedback;
    layer->reread = (T - 1) * N * cell->u_to * N;
    layer->inner = T * (kept - 1) * N; /* all stages but the last, which is the output */
    layer->saved = T * F + (T + 1) * kept * N;
    layer->work = ulp_larger(cell->gates * N, T * (N + 1 + F) + N + (T + 1) * grads * N);
    layer->widest = cell->gates * N; /* ds */
    return ULP_OK;
}

/* W: Glorot and Bengio 2010, gate by gate. U: standard deviation 1 / sqrt(N), because U maps N units to N units, and
 * the forward and the backward rule both give the variance 1 / N. */
void ulp_recurrent_init(const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    const ulp_cell *cell = layer->kind->cell;
    size_t F = layer->in.c, N = layer->out.c;
    size_t in = F * (cell->gates - cell->w_from) * N, state = N * cell->u_to * N;
    double w_std = std > 0.0 ? std : sqrt(2.0 / (double)(F + N)), u_std = std > 0.0 ? std : sqrt(1.0 / (double)N);
    for (size_t i = 0; i < in + state; i++) w[i] = (float)((i < in ? w_std : u_std) * ulp_random_normal(stream, i));
    for (size_t j = 0; j < cell->gates * N; j++) w[in + state + j] = j / N + 1 == cell->open_gate ? 1.0f : 0.0f;
}

/* The site of a tensor of step t, with the lane 8 t + k. */
static ulp_site site_of(const layer_pass *s, uint32_t use, size_t t, size_t k, size_t row) {
    const size_t layer = s->layer->index + (use == ULP_AT_ACT);
    const uint32_t lane = (uint32_t)(8 * (t + s->layer->arg[0]) + k);
    return (ulp_site){.use = use, .layer = layer, .lane = lane, .per_sample = row};
}

/* ---- stages ---- */

/* An operand of a stage of step t. */
static const float *operand_of(const layer_pass *s, size_t operand, size_t t) {
    const size_t k = operand % 4, next = t + 1 < s->T ? t + 2 : 0; /* 0: the initial state, zeros */
    const size_t kept = s->B * s->N * width_of(&s->cell->forward[k]),
                 grad = s->B * s->N * width_of(&s->cell->backward[k]);
    switch (operand) {
    case ULP_SUMS: return s->sums;
    case ULP_DY: return s->dy + t * s->B * s->N;
    case ULP_P: return s->p;
    default: break;
    }
    switch (operand - k) {
    case ULP_WAS: return s->kept[k] + t * kept;
    case ULP_NOW: return s->kept[k] + (t + 1) * kept;
    case ULP_NEXT: return s->kept[k] + next * kept;
    case ULP_GRAD: return s->grad[k] + t * grad;
    default: return s->grad[k] + (t + 1) * grad;
    }
}

/* to (B, width N) = a stage of step t, rounded at a site. */
static ulp_status run_stage(const layer_pass *s, const ulp_cell_rule *rule, size_t t, float *to, ulp_site site) {
    const ulp_cell_widths widths = ulp_cell_widths_of(rule->stage);
    ulp_cell_arrays arrays = {.B = s->B, .N = s->N};
    double *exact = s->pass->scratch.wide;
    for (size_t i = 0; i < ULP_CELL_OPERANDS && widths.in[i] > 0; i++) arrays.in[i] = operand_of(s, rule->in[i], t);
    ULP_TRY(ulp_backend_cell(s->pass->run.backend, exact, &arrays, rule->stage));
    return ulp_pass_round64(s->pass, site, to, exact, s->B * widths.to * s->N);
}

/* ---- forward ---- */

static ulp_status forward_stage(const layer_pass *s, size_t t, size_t k) {
    const ulp_cell_rule *rule = &s->cell->forward[k];
    const size_t row = width_of(rule) * s->N;
    return run_stage(s, rule, t, s->kept[k] + (t + 1) * s->B * row, site_of(s, ULP_AT_ACT, t, k, row));
}

static ulp_status step_forward(const layer_pass *s, size_t t) {
    const ulp_site bias_site = site_of(s, ULP_USE_BIAS, t, 0, 1), in_site = site_of(s, ULP_USE_FORWARD, t, 0, 1),
                   state_site = site_of(s, ULP_USE_FORWARD, t, 1, 1);
    const float *x = s->x + t * s->B * s->F, *h = s->kept[s->cell->stages - 1] + t * s->B * s->N;
    ulp_gemm_shape start = {.m = s->B, .n = s->G, .k = 1, .lda = 1, .ldb = s->G, .ldc = s->G};
    ulp_gemm_shape in = {.m = s->B, .n = s->w, .k = s->F, .lda = s->F, .ldb = s->w, .ldc = s->G, .accumulate = 1};
    ulp_gemm_shape state = {.m = s->B, .n = s->u, .k = s->N, .lda = s->N, .ldb = s->u, .ldc = s->G, .accumulate = 1};
    ULP_TRY(ulp_pass_gemm(s->pass, bias_site, s->sums, s->batch_ones, s->b, &start));
    ULP_TRY(ulp_pass_gemm(s->pass, in_site, s->sums + s->G - s->w, x, s->W, &in));
    ULP_TRY(ulp_pass_gemm(s->pass, state_site, s->sums, h, s->U, &state));
    for (size_t k = 0; k < s->cell->stages; k++) ULP_TRY(forward_stage(s, t, k));
    return ULP_OK;
}

ulp_status ulp_recurrent_forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_cell *cell = layer->kind->cell;
    const ulp_backend *backend = pass->run.backend;
    const layer_pass s = layer_pass_of(layer, pass, t);
    ULP_TRY(ulp_transpose(backend, s.x, t->x, 1, s.B * s.F, s.T));
    for (size_t k = 0; k < cell->stages; k++)
        ULP_TRY(ulp_tensor_fill(backend, s.kept[k], s.B * width_of(&cell->forward[k]) * s.N, 0.0f));
    for (size_t step = 0; step < s.T; step++) ULP_TRY(step_forward(&s, step));
    return ulp_transpose(backend, t->y, s.kept[cell->stages - 1] + s.B * s.N, 1, s.T, s.B * s.N);
}

/* ---- backward ---- */

static ulp_status backward_stage(const layer_pass *s, size_t t, size_t k) {
    const ulp_cell_rule *rule = &s->cell->backward[k];
    const size_t row = width_of(rule) * s->N;
    return run_stage(s, rule, t, s->grad[k] + t * s->B * row, site_of(s, ULP_AT_AGRAD, t, k + 1, row));
}

static ulp_status step_backward(const layer_pass *s, size_t t) {
    ulp_gemm_shape shape = {.m = s->B, .n = s->N, .k = s->u, .lda = s->G, .ldb = s->u, .ldc = s->N, .b_trans = 1};
    const float *ds_next = s->grad[s->cell->grads - 1] + (t + 1) * s->B * s->G;
    if (t + 1 == s->T) ULP_TRY(ulp_tensor_fill(s->pass->run.backend, s->p, s->B * s->N, 0.0f));
    else ULP_TRY(ulp_pass_gemm(s->pass, site_of(s, ULP_USE_BACKWARD, t, 1, 1), s->p, ds_next, s->U, &shape));
    for (size_t k = 0; k < s->cell->grads; k++) ULP_TRY(backward_stage(s, t, k));
    return ULP_OK;
}

/* dW, dU and db: sums over samples and time. */
static ulp_status weight_gradients(const layer_pass *s, float *dw) {
    const ulp_site w_site = site_of(s, ULP_USE_WPRODUCT, 0, 0, 0), u_site = site_of(s, ULP_USE_WPRODUCT, 0, 1, 0),
                   b_site = site_of(s, ULP_USE_BPRODUCT, 0, 0, 0), dw_site = site_of(s, ULP_AT_WGRAD, 0, 0, 0);
    const ulp_pass_whole whole = {dw_site, dw};
    size_t k = s->T * s->B;
    const float *ds = s->grad[s->cell->grads - 1], *ds_in = ds + s->G - s->w, *h = s->kept[s->cell->stages - 1];
    float *dU = dw + s->F * s->w, *db = dU + s->N * s->u;
    ulp_gemm_shape w_shape = {.m = s->F, .n = s->w, .k = k, .lda = s->F, .ldb = s->G, .ldc = s->w, .a_trans = 1};
    ulp_gemm_shape u_shape = {.m = s->N, .n = s->u, .k = k, .lda = s->N, .ldb = s->G, .ldc = s->u, .a_trans = 1};
    ulp_gemm_shape b_shape = {.m = 1, .n = s->G, .k = k, .lda = k, .ldb = s->G, .ldc = s->G};
    ULP_TRY(ulp_tensor_fill(s->pass->run.backend, s->ones, k, 1.0f));
    ULP_TRY(ulp_pass_gemm_part(s->pass, u_site, dU, h, ds, &u_shape, &whole));
    ULP_TRY(ulp_pass_gemm_part(s->pass, w_site, dw, s->x, ds_in, &w_shape, &whole));
    ULP_TRY(ulp_pass_gemm_part(s->pass, b_site, db, s->ones, ds, &b_shape, &whole));
    return ulp_pass_round_whole(s->pass, &whole, s->layer->params);
}

static ulp_status input_gradient(const layer_pass *s, float *dx) {
    const ulp_site site = site_of(s, ULP_USE_BACKWARD, 0, 0, 1);
    size_t k = s->T * s->B;
    const float *ds_in = s->grad[s->cell->grads - 1] + s->G - s->w;
    ulp_gemm_shape shape = {.m = k, .n = s->F, .k = s->w, .lda = s->G, .ldb = s->w, .ldc = s->F, .b_trans = 1};
    ULP_TRY(ulp_pass_gemm(s->pass, site, s->dx, ds_in, s->W, &shape));
    return ulp_transpose(s->pass->run.backend, dx, s->dx, 1, s->T, s->B * s->F);
}

ulp_status ulp_recurrent_backward_sums(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    const ulp_cell *cell = layer->kind->cell;
    const layer_pass s = layer_pass_of(layer, pass, t);
    ULP_TRY(ulp_transpose(pass->run.backend, s.dy, t->dy, 1, s.B * s.N, s.T));
    for (size_t k = 0; k < cell->grads; k++) {
        size_t n = s.B * width_of(&cell->backward[k]) * s.N;
        ULP_TRY(ulp_tensor_fill(pass->run.backend, s.grad[k] + s.T * n, n, 0.0f));
    }
    for (size_t step = s.T; step-- > 0;) ULP_TRY(step_backward(&s, step));
    ULP_TRY(weight_gradients(&s, t->dw));
    return t->dx ? input_gradient(&s, t->dx) : ULP_OK;
}

ulp_status ulp_recurrent_backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    ULP_TRY(ulp_recurrent_backward_sums(layer, pass, t));
    if (!t->dx) return ULP_OK;
    return ulp_pass_round(pass, ulp_site_input_gradient(layer), t->dx, pass->now.B * ulp_dims_size(layer->in));
}

/* ---- binary64 ---- */

void ulp_recurrent_forward64(const ulp_layer *layer, const ulp_layer64 *own, size_t B) {
    const ulp_cell *cell = layer->kind->cell;
    const double *x = own->x, *w = own->w;
    size_t F = layer->in.c, N = layer->out.c, T = layer->in.w, G = cell->gates * N;
    size_t wn = G - cell->w_from * N, un = cell->u_to * N;
    const double *U = w + F * wn, *b = U + N * un;
    double *h = calloc(2 * N + G, sizeof *h), *c = h + N, *s = c + N;
    for (size_t at = 0; at < B * T; at++) {
        size_t sample = at / T, t = at % T;
        for (size_t j = 0; h && j < 2 * N && t == 0; j++) h[j] = 0.0;
        for (size_t j = 0; h && j < G; j++) {
            s[j] = b[j];
            for (size_t i = 0; i < F && j >= G - wn; i++)
                s[j] += x[(sample * F + i) * T + t] * w[i * wn + j - (G - wn)];
            for (size_t i = 0; i < N && j < un; i++) s[j] += h[i] * U[i * un + j];
        }
        for (size_t j = 0; h && j < N; j++) cell->unit64(h, c, s, j, N);
        for (size_t j = 0; j < N; j++)
            own->y[(sample * N + j) * T + t] = h ? h[j] : ulp_quiet_nan(); /* NaN: no memory */
    }
    free(h);
}
