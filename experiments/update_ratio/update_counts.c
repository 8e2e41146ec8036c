/* update_counts.c - counts the updates that a format loses, by the criterion and the zones of update_ratio.c. */
#include "update_ratio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/round.h"

/* ---- one update of one format ---- */

/* The criterion: w + u rounds to w if |u| is less than half the distance from w to its neighbour in the direction of u,
 * or is half this distance and w is even. w is a value of the format, u is not zero. w is even if it is an even
 * multiple of the distance. With one significand bit every number is a power of two, and the code of w decides. */
static int stays(double w, double u, const ulp_format *f) {
    double next = u > 0 ? ulp_next_up(w, f) : ulp_next_down(w, f), distance = fabs(next - w);
    uint64_t code;
    if (next == w || isinf(next)) distance = ulp_spacing(w, f); /* at the end of the range */
    if (fabs(u) != distance / 2) return fabs(u) < distance / 2;
    if (f->prec > 1) return fmod(fabs(w) / distance, 2) == 0;
    return ulp_encode(&code, w, f) == ULP_OK && code % 2 == 0;
}

static int is_normal(double w, const ulp_format *f) {
    return !f->is_fixed && (fabs(w) > f->min_normal || (fabs(w) == f->min_normal && f->has_subnormals));
}

/* Counts one update: w is the weight rounded to the format, u the exact update, sum the rounded sum, next the weight of
 * the run after the step. level is 2 for |w / u| >= 2^(p+1), 1 for |w / u| >= 2^p, else 0. */
static void count_update(tally *t, double w, double u, double sum, float next, const ulp_format *f) {
    int lost = sum == w, level = fabs(w) >= ulp_scale(fabs(u), f->prec + 1) ? 2
                                 : fabs(w) >= ulp_scale(fabs(u), f->prec)   ? 1
                                                                            : 0;
    t->count++;
    t->against_run += strcmp(f->name, "binary32") == 0 && (float)sum != next;
    if (u == 0) {
        t->zero++;
        return;
    }
    t->lost += lost;
    t->against_criterion += lost != stays(w, u, f);
    if (level == 2) t->certain++;
    else if (!is_normal(w, f)) t->small++;
    else if (level == 1) t->open++, t->open_lost += lost;
    else t->safe++;
    t->against_zones += level == 2 ? !lost : level == 0 && is_normal(w, f) && lost;
}

void tally_add(tally *to, const tally *from) {
    int64_t *a = &to->count;
    const int64_t *b = &from->count;
    for (size_t i = 0; i < sizeof *to / sizeof *a; i++) a[i] += b[i];
}

/* ---- all weights at one step ---- */

/* The bins are exact: w has 24 bits and u has 48 bits, so no quotient below a power of two rounds up to this power. */
void update_counts_ratios(update_counts *w, double rate) {
    ulp_histogram_clear(&w->ratio);
    for (size_t i = 0; i < w->n; i++) {
        double u = rate * (double)w->direction[i];
        int e;
        if (u == 0) continue;
        w->ratio.count++;
        if (w->before[i] == 0.0F) {
            w->ratio.zero++;
            continue;
        }
        frexp((double)w->before[i] / u, &e);
        e = e - 1 < ULP_BIN_MIN ? ULP_BIN_MIN : e - 1 > ULP_BIN_MAX ? ULP_BIN_MAX : e - 1;
        w->ratio.bin[e - ULP_BIN_MIN]++;
    }
}

ulp_status update_counts_round(update_counts *w, const ulp_net *net, float rate, const float *direction,
                               const ulp_format *f) {
    const ulp_backend *b = w->backend;
    ulp_operand at = {.kind = ULP_OPERAND_ARRAY, .at = w->weight}, to = {.kind = ULP_OPERAND_ARRAY, .at = w->sum};
    ulp_operand d = {.kind = ULP_OPERAND_ARRAY, .at = (float *)(uintptr_t)direction},
                r = {.kind = ULP_OPERAND_VALUE, .value = -rate};
    ulp_update_step steps[2] = {{.op = ULP_STEP_ROUND, .y = at, .a = at, .format = *f},
                                {.op = ULP_FUSED, .y = to, .a = r, .b = d, .c = at, .format = *f}};
    ULP_TRY(b->upload(w->weight, w->before, w->n * sizeof(float)));
    ULP_TRY(ulp_backend_update(b, steps, 2, w->n));
    ULP_TRY(b->download(w->host, w->weight, w->n * sizeof(float)));
    float *sum = w->host + w->n;
    ULP_TRY(b->download(sum, w->sum, w->n * sizeof(float)));
    memset(w->at, 0, sizeof w->at);
    for (size_t l = 0; l < net->count; l++) {
        const ulp_layer *layer = &net->layers[l];
        for (size_t i = layer->first_param; i < layer->first_param + layer->params; i++)
            count_update(&w->at[l], (double)w->host[i], (double)-rate * (double)w->direction[i], (double)sum[i],
                         w->after[i], f);
        tally_add(&w->at[ALL], &w->at[l]);
    }
    return ULP_OK;
}

void update_counts_edges(const update_counts *w, const ulp_format *f, tally *t) {
    for (size_t i = 0; i < 6 * w->n; i++) {
        double x = (double)w->host[i / 6], next = i % 2 ? ulp_next_up(x, f) : ulp_next_down(x, f);
        const size_t side = i % 6 / 2; /* below half of the gap, at it, above it */
        double u = (next - x) / 2 * (1 + ((double)side - 1) * 0x1p-20);
        if (next == x || isinf(next)) continue;
        t->count++;
        t->against_criterion += (ulp_round_pair(x, u, f, (ulp_rule){0}, 0) == x) != stays(x, u, f);
    }
}

ulp_status update_counts_start(update_counts *w, size_t n) {
    w->n = n;
    w->before = malloc(5 * n * sizeof *w->before);
    w->weight = w->backend->alloc(n * sizeof(float));
    w->sum = w->backend->alloc(n * sizeof(float));
    if (w->before == NULL || w->weight == NULL || w->sum == NULL) return ULP_NO_MEMORY;
    w->after = w->before + n;
    w->direction = w->after + n;
    w->host = w->direction + n; /* (2 n) */
    return ULP_OK;
}

void update_counts_end(update_counts *w) {
    if (w->weight != NULL) w->backend->release(w->weight);
    if (w->sum != NULL) w->backend->release(w->sum);
    free(w->before);
}
