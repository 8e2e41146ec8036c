/* tensor_counts.c - histograms and counts of tensors, and rows of histograms; see tensor_counts.h. */
#include "tensor_counts.h"

#include <stdlib.h>

#include "formats/exact.h"
#include "formats/scale.h"

enum { STAGES = ULP_STAGES, SLOTS = ULP_LAYER_SLOTS, KINDS = ULP_TENSOR_KINDS };

static int is_sound(const ulp_tensor_counts *c) { return c->status == ULP_OK; }

/* Puts x (n) times a factor into backend memory. The product is exact, because no number that is scaled is near the
 * ends of the range of binary32. */
static void scale(ulp_tensor_counts *c, const float *x, size_t n, float factor) {
    for (size_t i = 0; i < n; i++) c->host[i] = x[i] * factor;
    if (is_sound(c)) c->status = c->looks.backend->upload(c->scaled, c->host, n * sizeof *c->host);
}

/* Counts what becomes of the first n scaled numbers in format f. */
static void count(ulp_tensor_counts *c, ulp_stats *stats, size_t n, size_t f) {
    if (is_sound(c))
        c->status = ulp_backend_round(c->looks.backend, c->rounded, c->scaled, n,
                                      (ulp_rounding){.format = &c->looks.formats->at[f], .stats = stats});
}

void ulp_tensor_count(ulp_tensor_counts *c, int kind, size_t slot, int stage, const float *x, size_t n) {
    const ulp_format_list *formats = c->looks.formats;
    const ulp_integer_list *scales = c->looks.scales;
    ulp_layer_counts *to = &c->at[kind][slot];
    if (n == 0 || !is_sound(c)) return;
    ulp_histogram_add(&to->histogram[stage], x, n);
    if (to->stats[stage] == NULL) to->stats[stage] = calloc(formats->count * c->columns, sizeof *to->stats[stage]);
    ulp_stats *stats = to->stats[stage];
    if (stats == NULL) c->status = ULP_NO_MEMORY;
    for (size_t k = 0; scales && k < scales->count && is_sound(c); k++) {
        scale(c, x, n, (float)ulp_scale(1.0, (int32_t)scales->at[k]));
        for (size_t f = 0; f < formats->count; f++) count(c, &stats[f * c->columns + k], n, f);
    }
    const float amax = scales ? ulp_amax(x, n, 1) : 0;
    for (size_t f = 0; f < formats->count && is_sound(c); f++) {
        if (scales) scale(c, x, n, ulp_scaling_of(amax, &formats->at[f], ULP_SCALING_POWER2).scale);
        else if (f == 0) scale(c, x, n, 1);
        count(c, &stats[(f + 1) * c->columns - 1], n, f);
    }
}

/* Adds one stage of a slot to a stage of another slot. */
static void add(ulp_tensor_counts *c, ulp_layer_counts *to, int to_stage, const ulp_layer_counts *from,
                int from_stage) {
    const size_t n = c->looks.formats->count * c->columns;
    if (from->stats[from_stage] == NULL) return;
    ulp_histogram_merge(&to->histogram[to_stage], &from->histogram[from_stage]);
    if (to->stats[to_stage] == NULL) to->stats[to_stage] = calloc(n, sizeof *to->stats[to_stage]);
    if (to->stats[to_stage] == NULL) c->status = ULP_NO_MEMORY;
    for (size_t i = 0; to->stats[to_stage] != NULL && i < n; i++) {
        to->stats[to_stage][i].count += from->stats[from_stage][i].count;
        to->stats[to_stage][i].underflow += from->stats[from_stage][i].underflow;
        to->stats[to_stage][i].subnormal += from->stats[from_stage][i].subnormal;
        to->stats[to_stage][i].overflow += from->stats[from_stage][i].overflow;
    }
}

ulp_status ulp_tensor_counts_new(ulp_tensor_counts **counts, const ulp_tensor_looks *looks, const ulp_model *model) {
    const size_t tensor = model->batch * model->net.widest,
                 largest = model->net.params > tensor ? model->net.params : tensor;
    ulp_tensor_counts *c = *counts = calloc(1, sizeof *c);
    if (c == NULL) return ULP_NO_MEMORY;
    c->looks = *looks;
    c->columns = looks->scales ? looks->scales->count + 1 : 1;
    for (int i = 0; i < KINDS * SLOTS * STAGES; i++)
        ulp_histogram_clear(&c->at[i / STAGES / SLOTS][i / STAGES % SLOTS].histogram[i % STAGES]);
    c->host = malloc(largest * sizeof *c->host);
    c->scaled = looks->backend->alloc(largest * sizeof(float));
    c->rounded = looks->backend->alloc(largest * sizeof(float));
    return c->host && c->scaled && c->rounded ? ULP_OK : ULP_NO_MEMORY;
}

ulp_status ulp_tensor_counts_sum(ulp_tensor_counts *c) {
    for (int kind = 0; kind < KINDS; kind++) {
        ulp_layer_counts *at = c->at[kind];
        for (int slot = 0; slot < ULP_LAYER_ALL; slot++)
            for (int stage = 0; stage < ULP_STAGE_ALL; stage++) add(c, &at[ULP_LAYER_ALL], stage, &at[slot], stage);
        for (int slot = 0; slot < SLOTS; slot++)
            for (int stage = 0; stage < ULP_STAGE_ALL; stage++) add(c, &at[slot], ULP_STAGE_ALL, &at[slot], stage);
    }
    return c->status;
}

void ulp_tensor_counts_free(ulp_tensor_counts *c) {
    if (c == NULL) return;
    if (c->scaled != NULL) c->looks.backend->release(c->scaled);
    if (c->rounded != NULL) c->looks.backend->release(c->rounded);
    free(c->host);
    for (int i = 0; i < KINDS * SLOTS * STAGES; i++)
        free(c->at[i / STAGES / SLOTS][i / STAGES % SLOTS].stats[i % STAGES]);
    free(c);
}

/* ---- rows ---- */

void ulp_bins_put(ulp_rows *rows, const void *row, ulp_bin *bin, int *what, const ulp_histogram *h) {
    for (int e = ULP_BIN_MIN - 1; e <= ULP_BIN_MAX; e++) { /* the zeros come first */
        *what = e < ULP_BIN_MIN;
        const uint64_t n = *what ? h->zero : h->bin[e - ULP_BIN_MIN];
        *bin = (ulp_bin){*what ? ULP_NO_INTEGER : e, (int64_t)n, (double)n / (double)h->count};
        if (n) ulp_row_put(rows, row);
    }
}
