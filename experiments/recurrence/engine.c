/* engine.c - runs a recurrent network forward and backward under different policies, and measures its errors. */
#include "recurrence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/claims/spread.h"
#include "kernels/functions/elementary.h"

/* The number of gradients of inner tensors that a cell rounds per step. The first of them is dL/dh_t. */
static const size_t grads[CELLS] = {2, 2, 3};

static void observe(void *own, const ulp_observation *observed) {
    engine *e = own;
    if (observed->layer != e->at) return;
    size_t step = e->seen / e->grads, n = e->B * e->N;
    if (e->seen % e->grads == 0 && step < e->T && observed->n == n) {
        memcpy(e->dh + step * n, observed->rounded, n * sizeof(float));
        e->kept++;
    }
    e->seen++;
}

static void carve(void *own, ulp_arena *arena) {
    engine *e = own;
    e->weight = ulp_arena_take(arena, e->model.net.params);
}

ulp_status engine_start(engine *e, const ulp_backend *backend, const ulp_net *net, size_t B, size_t at, int c) {
    *e = (engine){.B = B, .at = at, .grads = grads[c]};
    e->pass.run.backend = backend;
    e->pass.run.policy = &e->policy;
    e->pass.now.B = B;
    e->observer = (ulp_observer){observe, e, 1u << ULP_AT_AGRAD};
    e->pass.now.observer = &e->observer;
    ULP_TRY(ulp_policy_parse(&e->policy, "fp32", NULL));
    ULP_TRY(ulp_model_init(&e->model, net, B, B));
    e->N = e->model.net.layers[at].out.c;
    e->T = e->model.net.layers[at].out.w;
    size_t h = B * e->N * e->T, x = B * ulp_dims_size(net->in), out = B * ulp_dims_size(net->out);
    e->w = calloc(e->model.net.params + x + 3 * h, sizeof(float));
    e->x64 = calloc(x + 2 * h + out, sizeof(double));
    if (!e->w || !e->x64) return ULP_NO_MEMORY;
    e->x = e->w + e->model.net.params;
    e->h = e->x + x;
    e->dh = e->h + h;
    e->dh32 = e->dh + h;
    e->h64 = e->x64 + x;
    e->moved = e->h64 + h;
    e->top = e->moved + h;
    return ulp_model_alloc(&e->model, &e->pass, &e->arena, carve, e);
}

void engine_end(engine *e) {
    ulp_model_release(&e->model, &e->pass);
    ulp_arena_release(&e->arena);
    free(e->w);
    free(e->x64);
}

ulp_status engine_reference(engine *e, double *h) {
    const ulp_net *net = &e->model.net;
    double *w = calloc(net->params + e->B * ulp_dims_size(net->in), sizeof *w);
    if (w == NULL) return ULP_NO_MEMORY;
    double *inner = w + net->params;
    for (size_t i = 0; i < net->params; i++) w[i] = (double)e->w[i];
    /* at most one layer precedes the recurrent layer, and it only moves numbers */
    if (e->at) net->layers[0].kind->forward64(&net->layers[0], &(ulp_layer64){.y = inner, .x = e->x64, .w = w}, e->B);
    const ulp_layer *layer = &net->layers[e->at];
    layer->kind->forward64(layer, &(ulp_layer64){.y = h, .x = e->at ? inner : e->x64, .w = w + layer->first_param},
                           e->B);
    free(w);
    return ULP_OK;
}

ulp_status engine_forward(engine *e, const ulp_policy *policy) {
    const ulp_backend *backend = e->pass.run.backend;
    const ulp_net *net = &e->model.net;
    size_t in = ulp_dims_size(net->in);
    e->policy = *policy;
    ULP_TRY(backend->upload(e->weight, e->w, net->params * sizeof(float)));
    for (size_t i = 0; i < net->count; i++)
        if (net->layers[i].params)
            ULP_TRY(ulp_pass_round(&e->pass, ulp_site_of(ULP_AT_WEIGHT, i, 0), e->weight + net->layers[i].first_param,
                                   net->layers[i].params));
    ULP_TRY(backend->upload(e->model.tensor[0], e->x, e->B * in * sizeof(float)));
    ULP_TRY(ulp_pass_round(&e->pass, ulp_site_of(ULP_AT_ACT, 0, in), e->model.tensor[0], e->B * in));
    ULP_TRY(ulp_model_forward(&e->model, &e->pass, e->weight));
    return backend->download(e->h, e->model.tensor[e->at + 1], e->B * e->N * e->T * sizeof(float));
}

ulp_status engine_backward(engine *e, int scale_log2) {
    const ulp_net *net = &e->model.net;
    size_t out = ulp_dims_size(net->out);
    e->pass.now.scales.log2 = scale_log2;
    e->seen = e->kept = 0;
    ULP_TRY(ulp_pass_round_host(&e->pass, ulp_site_of(ULP_AT_AGRAD, net->count, out), e->model.grad[net->count], e->top,
                                e->B * out));
    ULP_TRY(ulp_model_backward(&e->model, &e->pass, e->weight));
    /* the layer rounds `grads` gradients per step, and the gradient of its input if another layer precedes it */
    return e->kept != e->T || e->seen != e->T * e->grads + (e->at ? 1 : 0) ? ULP_UNSUPPORTED : ULP_OK;
}

/* ---- rows ---- */

row row_of(const ulp_task *task) {
    const point *at = task->point;
    row r;
    ulp_row_clear(task->rows, &r);
    r.cell = at->cell;
    r.gain = at->gain;
    r.seed = (int64_t)at->seed;
    r.mode = "rne";
    r.scale_log2 = 0;
    return r;
}

static int is_shown(size_t step, size_t last) { return step == 0 || step == last || ulp_is_thinned_row((int64_t)step); }

/* The natural logarithm of the relative error of sequence b at step t. The states are `moved` (B,N,T), or e->h if
 * `moved` is NULL. */
static double log_error(const engine *e, const double *moved, size_t b, size_t t) {
    double square = 0, norm = 0;
    for (size_t j = 0; j < e->N; j++) {
        size_t i = (b * e->N + j) * e->T + t;
        double d = (moved ? moved[i] : (double)e->h[i]) - e->h64[i];
        square += d * d;
        norm += e->h64[i] * e->h64[i];
    }
    return norm > 0 ? ulp_log(fmax(sqrt(square / norm), 0x1p-53)) : ulp_log(0x1p-53);
}

void add_errors(errors *sum, const engine *e, const double *moved) {
    for (size_t b = 0; b < e->B; b++, sum->n++)
        for (size_t t = 0; t < e->T; t++) sum->log_sum[t] += log_error(e, moved, b, t);
}

void put_errors(ulp_rows *rows, row r, const errors *sum, size_t T) {
    for (size_t t = 0; t < T; t++) {
        if (!is_shown(t + 1, T)) continue;
        r.step = (int64_t)t + 1;
        r.error = ulp_exp(sum->log_sum[t] / (double)sum->n);
        ulp_row_put(rows, &r);
    }
}

void add_losses(losses *sum, const engine *e, int scale_log2) {
    size_t n = e->B * e->N;
    for (size_t i = 0; i < e->T * n; i++) {
        double exact = (double)e->dh32[i], d = ulp_scale((double)e->dh[i], -scale_log2) - exact;
        sum->square[i / n] += d * d;
        sum->norm[i / n] += exact * exact;
        sum->count[i / n] += exact != 0;
        sum->zero[i / n] += exact != 0 && e->dh[i] == 0;
        sum->lost[i / n] += isfinite(e->dh[i]) ? 0 : 1;
    }
}

void put_losses(ulp_rows *rows, row r, const losses *sum, size_t T) {
    for (size_t t = 0; t < T; t++) {
        const double count = (double)sum->count[t], error = sqrt(sum->square[t] / sum->norm[t]);
        if (!is_shown(t, T - 1) || count == 0) continue;
        r.step = (int64_t)t;
        r.error = isfinite(error) ? error : ULP_NO_NUMBER;
        r.size = sqrt(sum->norm[t] / count);
        r.zeros = (double)sum->zero[t] / count;
        r.lost = (double)sum->lost[t] / count;
        ulp_row_put(rows, &r);
    }
}
