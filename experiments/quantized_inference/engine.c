/* engine.c - runs a trained network in floating point or in integers; see engine.h. */
#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/losses/answers.h"

static void carve(void *own, ulp_arena *arena) {
    engine *e = own;
    e->weight = ulp_arena_take(arena, e->model.net.params);
}

ulp_status engine_start(engine *e, const ulp_backend *backend, const ulp_data *data, const ulp_net *net,
                        const float *trained) {
    ulp_error error;
    *e = (engine){.data = data, .trained = trained};
    e->pass.run.backend = backend;
    e->pass.run.policy = &e->policy;
    ULP_TRY(ulp_policy_parse(&e->policy, "fp32", &error));
    ULP_TRY(ulp_model_init(&e->model, net, 0, BATCH));
    const ulp_net *n = &e->model.net;
    e->host = calloc(n->params, sizeof *e->host);
    e->sums = calloc(BATCH * n->widest, sizeof *e->sums);
    e->exact = calloc(BATCH * n->widest, sizeof *e->exact);
    e->low = calloc(2 * (n->count + 1), sizeof *e->low);
    e->high = e->low ? e->low + n->count + 1 : NULL;
    e->answer = calloc(data->n - data->n_train + 1, 1);
    if (!e->host || !e->sums || !e->exact || !e->low || !e->answer) return ULP_NO_MEMORY;
    return ulp_model_alloc(&e->model, &e->pass, &e->arena, carve, e);
}

void engine_end(engine *e) {
    ulp_model_release(&e->model, &e->pass);
    ulp_arena_release(&e->arena);
    free(e->host);
    free(e->sums);
    free(e->exact);
    free(e->low);
    free(e->answer);
}

void engine_begin(engine *e) { e->right = e->agreed = e->changed = e->formed = 0; }

ulp_status engine_round_weights(engine *e) {
    const ulp_net *net = &e->model.net;
    ULP_TRY(e->pass.run.backend->upload(e->weight, e->trained, net->params * sizeof(float)));
    for (size_t i = 0; i < net->count; i++)
        if (net->layers[i].params)
            ULP_TRY(ulp_pass_round(&e->pass, ulp_site_of(ULP_AT_WEIGHT, i, 0), e->weight + net->layers[i].first_param,
                                   net->layers[i].params));
    return ULP_OK;
}

/* Puts samples [first, first + B) into e->sums, as numbers from 0 to 1. */
static void read_samples(engine *e, size_t first, size_t B) {
    const ulp_data *d = e->data;
    for (size_t i = 0; i < B * d->features; i++)
        e->sums[i] = (float)d->pixel[first * d->features + i] / (float)d->white;
    e->pass.now.B = B;
}

/* Counts right answers and agreement for the outputs z (B,classes) of B test samples, of which `first` is the first. */
static void score(engine *e, const float *z, size_t first, size_t B, int reference) {
    size_t C = e->data->classes;
    for (size_t b = 0; b < B; b++) {
        size_t best = ulp_place_of_largest(z + b * C, C, 1); /* C, which is no class, if a NaN is among the outputs */
        if (reference) e->answer[first + b] = (uint8_t)best;
        e->agreed += best < C && best == e->answer[first + b];
        e->right += best == e->data->label[e->data->n_train + first + b];
    }
}

ulp_status engine_run_floating(engine *e, int learn) {
    const ulp_backend *backend = e->pass.run.backend;
    const ulp_net *net = &e->model.net;
    size_t begin = learn ? 0 : e->data->n_train, end = learn ? e->data->n_train : e->data->n;
    ulp_status status = ULP_OK;
    e->pass.now.evaluation = 1;
    for (size_t at = begin; at < end && status == ULP_OK; at += BATCH) {
        size_t B = end - at < BATCH ? end - at : BATCH;
        e->pass.now.first = at;
        read_samples(e, at, B);
        status = backend->upload(e->model.tensor[0], e->sums, B * e->data->features * sizeof(float));
        if (status == ULP_OK)
            status = ulp_pass_round(&e->pass, ulp_site_of(ULP_AT_ACT, 0, e->data->features), e->model.tensor[0],
                                    B * e->data->features);
        if (status == ULP_OK) status = ulp_model_forward(&e->model, &e->pass, e->weight);
        for (size_t i = 0; i <= net->count && learn && status == ULP_OK; i++) {
            size_t n = B * ulp_dims_size(i < net->count ? net->layers[i].in : net->out);
            status = backend->download(e->sums, e->model.tensor[i], n * sizeof(float));
            for (size_t j = 0; j < n; j++) {
                e->low[i] = fmin(e->low[i], (double)e->sums[j]);
                e->high[i] = fmax(e->high[i], (double)e->sums[j]);
            }
        }
        if (!learn && status == ULP_OK) {
            status = backend->download(e->sums, e->model.tensor[net->count], B * e->data->classes * sizeof(float));
            score(e, e->sums, at - e->data->n_train, B, e->pass.now.step == 0);
        }
    }
    return status;
}

/* ---- integers ---- */

code engine_code_of(double low, double high, int bits, int scheme) {
    code c;
    double levels = ldexp(1, bits) - 1, half = ldexp(1, bits - 1) - 1;
    low = fmin(low, 0);
    high = fmax(high, 0);
    if (scheme == SYMMETRIC) {
        c.scale = fmax(-low, high) / half;
        c.low = -half;
        c.high = half;
    } else {
        c.scale = (high - low) / levels;
        c.low = c.scale > 0 ? -rint(-low / c.scale) : 0;
        c.high = c.low + levels;
    }
    if (!(c.scale > 0)) c.scale = 1;
    return c;
}

static double cut(double q, const code *c) { return q < c->low ? c->low : q > c->high ? c->high : q; }

/* sum S with S = multiplier 2^-shift, rounded to nearest, halves up. The multiplier has 31 bits, and |sum| < 2^31. */
static double requantize(double sum, double scale) {
    int exponent;
    int64_t multiplier = (int64_t)rint(ldexp(frexp(scale, &exponent), 31));
    int shift = 31 - exponent;
    if (shift > 62) return 0;
    if (shift < 1) return sum * scale;
    int64_t product = (int64_t)sum * multiplier + ((int64_t)1 << (shift - 1));
    /* rounds toward minus infinity for both signs */
    return (double)(product >= 0 ? product >> shift : -((-product + ((int64_t)1 << shift) - 1) >> shift));
}

/* The index of the first layer with parameters, from layer i on. Its input is the next tensor that takes part in a
 * product. */
static size_t next_operand(const ulp_net *net, size_t i) {
    while (i < net->count && net->layers[i].params == 0) i++;
    return i;
}

/* Computes layer i, which has parameters. Its input is q - Z in tensor[i]. Its output is q - Z of the next operand, or
 * the sums if no operand follows. */
static ulp_status integer_layer(engine *e, size_t i, const code *x, const code *w, const ulp_datapath *narrow,
                                const code *y) {
    const ulp_backend *backend = e->pass.run.backend;
    const ulp_layer *layer = &e->model.net.layers[i];
    size_t outputs = ulp_dims_size(layer->out), n = e->pass.now.B * outputs, plane = layer->out.h * layer->out.w;
    const float *bias = e->trained + layer->first_param + layer->params - layer->out.c;
    ulp_status status = ulp_model_forward_layer(&e->model, &e->pass, e->weight, i);
    if (status == ULP_OK) status = backend->download(e->exact, e->model.tensor[i + 1], n * sizeof(float));
    memcpy(e->sums, e->exact, n * sizeof(float));
    if (narrow && status == ULP_OK) {
        ulp_policy policy = e->policy;
        ulp_pass pass = e->pass; /* the same pass, under another policy */
        policy.forward = *narrow;
        pass.run.policy = &policy;
        status = ulp_model_forward_layer(&e->model, &pass, e->weight, i);
        if (status == ULP_OK) status = backend->download(e->sums, e->model.tensor[i + 1], n * sizeof(float));
    }
    for (size_t j = 0; j < n && status == ULP_OK; j++) {
        size_t channel = j % outputs / plane;
        double sum = (double)e->sums[j] + rint((double)bias[channel] / (x->scale * w->scale));
        e->changed += e->sums[j] != e->exact[j];
        e->sums[j] = (float)(y ? cut(requantize(sum, x->scale * w->scale / y->scale), y) : sum);
    }
    e->formed += n;
    return status == ULP_OK ? backend->upload(e->model.tensor[i + 1], e->sums, n * sizeof(float)) : status;
}

ulp_status engine_put_weights(engine *e, code *w, int bits, int scheme) {
    const ulp_net *net = &e->model.net;
    memset(e->host, 0, net->params * sizeof *e->host);
    for (size_t i = 0; i < net->count; i++) {
        const ulp_layer *layer = &net->layers[i];
        const float *from = e->trained + layer->first_param;
        size_t n = layer->params ? layer->params - layer->out.c : 0;
        double low = 0, high = 0;
        for (size_t j = 0; j < n; j++) {
            low = (double)from[j] < low ? (double)from[j] : low;
            high = (double)from[j] > high ? (double)from[j] : high;
        }
        w[i] = engine_code_of(low, high, bits, scheme);
        for (size_t j = 0; j < n; j++)
            e->host[layer->first_param + j] = (float)cut(rint((double)from[j] / w[i].scale), &w[i]);
    }
    return e->pass.run.backend->upload(e->weight, e->host, net->params * sizeof *e->host);
}

ulp_status engine_run_integers(engine *e, const code *x, const code *w, const ulp_datapath *narrow) {
    const ulp_backend *backend = e->pass.run.backend;
    const ulp_net *net = &e->model.net;
    for (size_t at = e->data->n_train; at < e->data->n; at += BATCH) {
        size_t B = e->data->n - at < BATCH ? e->data->n - at : BATCH;
        read_samples(e, at, B);
        const code *first = &x[next_operand(net, 0)];
        for (size_t i = 0; i < B * e->data->features; i++)
            e->sums[i] = (float)cut(rint((double)e->sums[i] / first->scale), first);
        ULP_TRY(backend->upload(e->model.tensor[0], e->sums, B * e->data->features * sizeof(float)));
        for (size_t i = 0; i < net->count; i++) {
            size_t next = next_operand(net, i + 1);
            if (net->layers[i].params == 0) ULP_TRY(ulp_model_forward_layer(&e->model, &e->pass, e->weight, i));
            else ULP_TRY(integer_layer(e, i, &x[i], &w[i], narrow, next < net->count ? &x[next] : NULL));
        }
        ULP_TRY(backend->download(e->sums, e->model.tensor[net->count], B * e->data->classes * sizeof(float)));
        score(e, e->sums, at - e->data->n_train, B, 0);
    }
    return ULP_OK;
}
