/* recurrent.c - forward and backward through time; see recurrent.h. */
#include "recurrent.h"

#include <math.h>
#include <stdlib.h>

#include "normal.h"
#include "tensor.h"

/* Where everything of a layer lies; float arrays in backend memory. */
typedef struct parts {
    size_t F, N, T, B, G, w, u;
    const float *W, *U, *b;          /* (F,w), (N,u), (G) */
    float *x, *kept[ULP_STAGES_MAX]; /* saved: (T,B,F); (T+1, B, width N), the first one is the initial state */
    float *dy, *p, *ones, *dx;       /* work of backward: (T,B,N), (B,N), (T,B), (T,B,F) */
    float *grad[ULP_STAGES_MAX];     /* (T+1, B, grad_width N), the last one is zero */
} parts;

static size_t sum_of(const size_t *width, size_t n) {
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += width[i];
    return sum;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static parts parts_of(const ulp_cell *cell, const ulp_layer *layer, const ulp_pass *pass, const ulp_layer_tensors *t) {
    parts s = {.F = layer->in.c, .N = layer->out.c, .T = layer->in.w, .B = pass->B};
    s.G = cell->gates * s.N;
    s.w = (cell->gates - cell->w_from) * s.N;
    s.u = cell->u_to * s.N;
    s.W = t->w;
    s.U = s.W + s.F * s.w;
    s.b = s.U + s.N * s.u;
    s.x = t->saved;
    float *at = s.x + s.T * s.B * s.F;
    for (size_t k = 0; k < cell->stages; at += (s.T + 1) * s.B * cell->width[k++] * s.N) s.kept[k] = at;
    s.dy = pass->work;
    s.p = s.dy + s.T * s.B * s.N;
    s.ones = s.p + s.B * s.N;
    s.dx = s.ones + s.T * s.B;
    at = s.dx + s.T * s.B * s.F;
    for (size_t k = 0; k < cell->grads; at += (s.T + 1) * s.B * cell->grad_width[k++] * s.N) s.grad[k] = at;
    return s;
}

_Static_assert(ULP_STEPS_MAX == 512, "recurrent.h: what ULP_RECURRENT_KIND takes");

ulp_status ulp_recurrent_shape(const ulp_cell *cell, ulp_layer *layer, const char *args) {
    size_t N, F = layer->in.c, T = layer->in.w;
    size_t kept = sum_of(cell->width, cell->stages), grads = sum_of(cell->grad_width, cell->grads);
    if (ulp_args_number(&N, args, 1, ULP_UNITS_MAX) != ULP_OK) return ULP_BAD_ARGUMENT;
    if (!ulp_dims_is_sequence(layer->in) || T > ULP_STEPS_MAX) return ULP_UNSUPPORTED;
    layer->out = (ulp_dims){N, 1, T};
    layer->params = N * (F * (cell->gates - cell->w_from) + N * cell->u_to + cell->gates);
    layer->saved = T * F + (T + 1) * kept * N;
    layer->work = larger(cell->gates * N, T * (N + 1 + F) + N + (T + 1) * grads * N);
    layer->widest = N * larger(larger(3 * kept, 2 + 2 * grads), cell->gates); /* what a view holds on the host */
    return ULP_OK;
}

/* Glorot and Bengio 2010 for W, gate by gate; 1 / sqrt(N) for U: it maps N units to N, and both variances are 1/N. */
void ulp_recurrent_init(const ulp_cell *cell, const ulp_layer *layer, float *w, ulp_stream stream, double std) {
    size_t F = layer->in.c, N = layer->out.c;
    size_t in = F * (cell->gates - cell->w_from) * N, state = N * cell->u_to * N;
    double w_std = std > 0.0 ? std : sqrt(2.0 / (double)(F + N)), u_std = std > 0.0 ? std : sqrt(1.0 / (double)N);
    for (size_t i = 0; i < in + state; i++) w[i] = (float)((i < in ? w_std : u_std) * ulp_random_normal(stream, i));
    for (size_t j = 0; j < cell->gates * N; j++) w[in + state + j] = j / N + 1 == cell->open_gate ? 1.0f : 0.0f;
}

/* Download n floats to *at and move it on; the address. */
static const float *fetch(const ulp_pass *pass, float **at, const float *from, size_t n, ulp_status *status) {
    float *to = *at;
    if (*status == ULP_OK) *status = pass->backend->download(to, from, n * sizeof *to);
    *at += n;
    return to;
}

/* ---- forward ---- */

static ulp_status round_stage(const ulp_cell *cell, const ulp_layer *layer, ulp_pass *pass, const parts *s, size_t t,
                              size_t k) {
    ulp_cell_view view = {.B = s->B, .N = s->N};
    ulp_status status = ULP_OK;
    float *a = pass->host_a, *b = pass->host_b;
    view.sums = fetch(pass, &a, pass->work, s->B * s->G, &status);
    for (size_t i = 0; i < cell->stages; i++) {
        size_t n = s->B * cell->width[i] * s->N;
        view.was[i] = fetch(pass, &b, s->kept[i] + t * n, n, &status);
        view.now[i] = fetch(pass, &b, s->kept[i] + (t + 1) * n, n, &status);
    }
    if (status != ULP_OK) return status;
    cell->forward[k](pass->host_wide, &view);
    size_t row = cell->width[k] * s->N;
    pass->lane = (uint32_t)(8 * t + k);
    return ulp_pass_round_wide(pass, ULP_AT_ACT, layer->index + 1, s->kept[k] + (t + 1) * s->B * row, s->B * row, row);
}

static ulp_status step_forward(const ulp_cell *cell, const ulp_layer *layer, ulp_pass *pass, const parts *s, size_t t) {
    const ulp_datapath *datapath = &pass->policy->forward;
    float *sums = pass->work, *h = s->kept[cell->stages - 1] + t * s->B * s->N;
    ulp_gemm_shape start = {.m = s->B, .n = s->G, .k = 1, .lda = 1, .ldb = s->G, .ldc = s->G};
    ulp_gemm_shape in = {.m = s->B, .n = s->w, .k = s->F, .lda = s->F, .ldb = s->w, .ldc = s->G, .accumulate = 1};
    ulp_gemm_shape state = {.m = s->B, .n = s->u, .k = s->N, .lda = s->N, .ldb = s->u, .ldc = s->G, .accumulate = 1};
    pass->lane = (uint32_t)(8 * t);
    ulp_status status = ulp_pass_gemm(pass, ULP_USE_BIAS, layer->index, datapath, sums, pass->ones, s->b, &start, 1);
    if (status == ULP_OK)
        status = ulp_pass_gemm(pass, ULP_USE_FORWARD, layer->index, datapath, sums + s->G - s->w,
                               s->x + t * s->B * s->F, s->W, &in, 1);
    pass->lane = (uint32_t)(8 * t + 1);
    if (status == ULP_OK)
        status = ulp_pass_gemm(pass, ULP_USE_FORWARD, layer->index, datapath, sums, h, s->U, &state, 1);
    for (size_t k = 0; k < cell->stages && status == ULP_OK; k++) status = round_stage(cell, layer, pass, s, t, k);
    return status;
}

ulp_status ulp_recurrent_forward(const ulp_cell *cell, const ulp_layer *layer, ulp_pass *pass,
                                 const ulp_layer_tensors *t) {
    parts s = parts_of(cell, layer, pass, t);
    ulp_status status = ulp_transpose(pass->backend, s.x, t->x, 1, s.B * s.F, s.T);
    for (size_t k = 0; k < cell->stages && status == ULP_OK; k++)
        status = ulp_tensor_fill(pass->backend, s.kept[k], s.B * cell->width[k] * s.N, 0.0f);
    for (size_t step = 0; step < s.T && status == ULP_OK; step++) status = step_forward(cell, layer, pass, &s, step);
    pass->lane = 0;
    if (status != ULP_OK) return status;
    return ulp_transpose(pass->backend, t->y, s.kept[cell->stages - 1] + s.B * s.N, 1, s.T, s.B * s.N);
}

/* ---- backward ---- */

static ulp_status round_grad(const ulp_cell *cell, const ulp_layer *layer, ulp_pass *pass, const parts *s, size_t t,
                             size_t k) {
    ulp_cell_view view = {.B = s->B, .N = s->N};
    ulp_status status = ULP_OK;
    float *a = pass->host_a, *b = pass->host_b;
    view.dy = fetch(pass, &a, s->dy + t * s->B * s->N, s->B * s->N, &status);
    view.p = fetch(pass, &a, s->p, s->B * s->N, &status);
    for (size_t i = 0; i < cell->grads; i++) {
        size_t n = s->B * cell->grad_width[i] * s->N;
        view.grad[i] = fetch(pass, &a, s->grad[i] + t * n, n, &status);
        view.grad_next[i] = fetch(pass, &a, s->grad[i] + (t + 1) * n, n, &status);
    }
    for (size_t i = 0; i < cell->stages; i++) {
        size_t n = s->B * cell->width[i] * s->N;
        view.was[i] = fetch(pass, &b, s->kept[i] + t * n, n, &status);
        view.now[i] = fetch(pass, &b, s->kept[i] + (t + 1) * n, n, &status);
        view.next[i] = fetch(pass, &b, s->kept[i] + (t + 1 < s->T ? t + 2 : 0) * n, n,
                             &status); /* past the end: the zeros of the start */
    }
    if (status != ULP_OK) return status;
    cell->backward[k](pass->host_wide, &view);
    size_t row = cell->grad_width[k] * s->N;
    pass->lane = (uint32_t)(8 * t + 1 + k);
    return ulp_pass_round_wide(pass, ULP_AT_AGRAD, layer->index, s->grad[k] + t * s->B * row, s->B * row, row);
}

static ulp_status step_backward(const ulp_cell *cell, const ulp_layer *layer, ulp_pass *pass, const parts *s,
                                size_t t) {
    ulp_gemm_shape shape = {.m = s->B, .n = s->N, .k = s->u, .lda = s->G, .ldb = s->u, .ldc = s->N, .b_trans = 1};
    const float *ds_next = s->grad[cell->grads - 1] + (t + 1) * s->B * s->G;
    ulp_status status;
    pass->lane = (uint32_t)(8 * t + 1);
    if (t + 1 == s->T) status = ulp_tensor_fill(pass->backend, s->p, s->B * s->N, 0.0f);
    else
        status = ulp_pass_gemm(pass, ULP_USE_BACKWARD, layer->index, &pass->policy->backward, s->p, ds_next, s->U,
                               &shape, 1);
    for (size_t k = 0; k < cell->grads && status == ULP_OK; k++) status = round_grad(cell, layer, pass, s, t, k);
    return status;
}

/* dW, dU and db over samples and time, then dx if it is wanted. */
static ulp_status products(const ulp_cell *cell, const ulp_layer *layer, ulp_pass *pass, const parts *s,
                           const ulp_layer_tensors *t) {
    const ulp_datapath *datapath = &pass->policy->backward;
    size_t k = s->T * s->B;
    const float *ds = s->grad[cell->grads - 1], *ds_in = ds + s->G - s->w, *h = s->kept[cell->stages - 1];
    float *dU = t->dw + s->F * s->w, *db = dU + s->N * s->u;
    ulp_gemm_shape w_shape = {.m = s->F, .n = s->w, .k = k, .lda = s->F, .ldb = s->G, .ldc = s->w, .a_trans = 1};
    ulp_gemm_shape u_shape = {.m = s->N, .n = s->u, .k = k, .lda = s->N, .ldb = s->G, .ldc = s->u, .a_trans = 1};
    ulp_gemm_shape b_shape = {.m = 1, .n = s->G, .k = k, .lda = k, .ldb = s->G, .ldc = s->G};
    ulp_gemm_shape x_shape = {.m = k, .n = s->F, .k = s->w, .lda = s->G, .ldb = s->w, .ldc = s->F, .b_trans = 1};
    pass->lane = 1;
    ulp_status status = ulp_tensor_fill(pass->backend, s->ones, k, 1.0f);
    if (status == ULP_OK)
        status = ulp_pass_gemm(pass, ULP_USE_WPRODUCT, layer->index, datapath, dU, h, ds, &u_shape, 0);
    pass->lane = 0;
    if (status == ULP_OK)
        status = ulp_pass_gemm(pass, ULP_USE_WPRODUCT, layer->index, datapath, t->dw, s->x, ds_in, &w_shape, 0);
    if (status == ULP_OK)
        status = ulp_pass_gemm(pass, ULP_USE_BPRODUCT, layer->index, datapath, db, s->ones, ds, &b_shape, 0);
    if (status == ULP_OK) status = ulp_pass_round(pass, ULP_AT_WGRAD, layer->index, t->dw, layer->params, 0);
    if (status != ULP_OK || !t->dx) return status;
    status = ulp_pass_gemm(pass, ULP_USE_BACKWARD, layer->index, datapath, s->dx, ds_in, s->W, &x_shape, 0);
    if (status == ULP_OK) status = ulp_transpose(pass->backend, t->dx, s->dx, 1, s->T, s->B * s->F);
    if (status == ULP_OK) status = ulp_pass_round(pass, ULP_AT_AGRAD, layer->index, t->dx, k * s->F, s->T * s->F);
    return status;
}

ulp_status ulp_recurrent_backward(const ulp_cell *cell, const ulp_layer *layer, ulp_pass *pass,
                                  const ulp_layer_tensors *t) {
    parts s = parts_of(cell, layer, pass, t);
    ulp_status status = ulp_transpose(pass->backend, s.dy, t->dy, 1, s.B * s.N, s.T);
    for (size_t k = 0; k < cell->grads && status == ULP_OK; k++) {
        size_t n = s.B * cell->grad_width[k] * s.N;
        status = ulp_tensor_fill(pass->backend, s.grad[k] + s.T * n, n, 0.0f);
    }
    for (size_t step = s.T; step-- > 0 && status == ULP_OK;) status = step_backward(cell, layer, pass, &s, step);
    pass->lane = 0;
    return status == ULP_OK ? products(cell, layer, pass, &s, t) : status;
}

/* ---- binary64 ---- */

void ulp_recurrent_forward64(const ulp_cell *cell, const ulp_layer *layer, double *y, const double *x, const double *w,
                             size_t B) {
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
        for (size_t j = 0; j < N; j++) y[(sample * N + j) * T + t] = h ? h[j] : ulp_quiet_nan(); /* NaN: no memory */
    }
    free(h);
}
