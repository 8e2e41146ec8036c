/* gradient_counts.c - histograms and counts of gradients; see gradient_counts.h. */
#include "gradient_counts.h"

#include <stdlib.h>

#include "formats/exact.h"
#include "formats/scale.h"

enum { STAGES = ULP_STAGES, SLOTS = ULP_LAYER_SLOTS, KINDS = ULP_GRADIENT_KINDS };

static int is_sound(const ulp_gradient_counts *c) { return c->status == ULP_OK; }

/* Puts x (n) times a factor into backend memory. The product is exact, because no gradient is near the ends of the
 * range of binary32. */
static void scale(ulp_gradient_counts *c, const float *x, size_t n, float factor) {
    for (size_t i = 0; i < n; i++) c->host[i] = x[i] * factor;
    if (is_sound(c)) c->status = c->looks.backend->upload(c->scaled, c->host, n * sizeof *c->host);
}

/* Counts how many of the first n scaled numbers become zero or overflow in format f. */
static void count(ulp_gradient_counts *c, ulp_stats *stats, size_t n, size_t f) {
    if (is_sound(c))
        c->status = ulp_backend_round(c->looks.backend, c->rounded, c->scaled, n,
                                      (ulp_rounding){.format = &c->looks.formats->at[f], .stats = stats});
}

static void observe(void *context, const ulp_observation *observed) {
    ulp_gradient_counts *c = context;
    const ulp_format_list *formats = c->looks.formats;
    const ulp_integer_list *scales = c->looks.scales;
    if (observed->step % (uint64_t)c->looks.every != 0 || observed->layer >= ULP_LAYER_ALL) return;
    const size_t stage = (size_t)(observed->step * 3 / (uint64_t)c->looks.steps);
    ulp_layer_counts *to =
        &c->at[observed->point == ULP_AT_AGRAD ? ULP_GRADIENTS_ACT : ULP_GRADIENTS_WEIGHT][observed->layer];
    ulp_histogram_add(&to->histogram[stage], observed->raw, observed->n);
    if (to->stats[stage] == NULL) to->stats[stage] = calloc(formats->count * c->columns, sizeof *to->stats[stage]);
    ulp_stats *stats = to->stats[stage];
    if (stats == NULL) c->status = ULP_NO_MEMORY;
    for (size_t k = 0; k < scales->count && is_sound(c); k++) {
        scale(c, observed->raw, observed->n, (float)ulp_scale(1.0, (int32_t)scales->at[k]));
        for (size_t f = 0; f < formats->count; f++) count(c, &stats[f * c->columns + k], observed->n, f);
    }
    const float amax = ulp_amax(observed->raw, observed->n, 1);
    for (size_t f = 0; f < formats->count && is_sound(c); f++) {
        scale(c, observed->raw, observed->n, ulp_scaling_of(amax, &formats->at[f], ULP_SCALING_POWER2).scale);
        count(c, &stats[f * c->columns + scales->count], observed->n, f);
    }
}

/* Adds one stage of a layer to a stage of another slot. */
static void add(ulp_gradient_counts *c, ulp_layer_counts *to, int to_stage, const ulp_layer_counts *from,
                int from_stage) {
    const size_t n = c->looks.formats->count * c->columns;
    ulp_histogram_merge(&to->histogram[to_stage], &from->histogram[from_stage]);
    if (from->stats[from_stage] == NULL) return;
    if (to->stats[to_stage] == NULL) to->stats[to_stage] = calloc(n, sizeof *to->stats[to_stage]);
    if (to->stats[to_stage] == NULL) c->status = ULP_NO_MEMORY;
    for (size_t i = 0; to->stats[to_stage] != NULL && i < n; i++) {
        to->stats[to_stage][i].count += from->stats[from_stage][i].count;
        to->stats[to_stage][i].underflow += from->stats[from_stage][i].underflow;
        to->stats[to_stage][i].overflow += from->stats[from_stage][i].overflow;
    }
}

ulp_status ulp_gradient_counts_new(ulp_gradient_counts **counts, const ulp_gradient_looks *looks,
                                   const ulp_model *model) {
    const size_t tensor = model->batch * model->net.widest,
                 largest = model->net.params > tensor ? model->net.params : tensor;
    *counts = NULL;
    if (model->net.count >= ULP_LAYER_ALL) return ULP_BAD_ARGUMENT;
    ulp_gradient_counts *c = *counts = calloc(1, sizeof *c);
    if (c == NULL) return ULP_NO_MEMORY;
    c->looks = *looks;
    c->columns = looks->scales->count + 1;
    c->observer = (ulp_observer){observe, c, 1u << ULP_AT_AGRAD | 1u << ULP_AT_WGRAD};
    for (int i = 0; i < KINDS * SLOTS * STAGES; i++)
        ulp_histogram_clear(&c->at[i / STAGES / SLOTS][i / STAGES % SLOTS].histogram[i % STAGES]);
    c->host = malloc(largest * sizeof *c->host);
    c->scaled = looks->backend->alloc(largest * sizeof(float));
    c->rounded = looks->backend->alloc(largest * sizeof(float));
    return c->host && c->scaled && c->rounded ? ULP_OK : ULP_NO_MEMORY;
}

ulp_status ulp_gradient_counts_sum(ulp_gradient_counts *c) {
    for (int kind = 0; kind < KINDS; kind++) {
        ulp_layer_counts *at = c->at[kind];
        for (int layer = 0; layer < ULP_LAYER_ALL; layer++)
            for (int stage = 0; stage < ULP_STAGE_ALL; stage++) add(c, &at[ULP_LAYER_ALL], stage, &at[layer], stage);
        for (int layer = 0; layer < SLOTS; layer++)
            for (int stage = 0; stage < ULP_STAGE_ALL; stage++) add(c, &at[layer], ULP_STAGE_ALL, &at[layer], stage);
    }
    return c->status;
}

void ulp_gradient_counts_free(ulp_gradient_counts *c) {
    if (c == NULL) return;
    if (c->scaled != NULL) c->looks.backend->release(c->scaled);
    if (c->rounded != NULL) c->looks.backend->release(c->rounded);
    free(c->host);
    for (int i = 0; i < KINDS * SLOTS * STAGES; i++)
        free(c->at[i / STAGES / SLOTS][i / STAGES % SLOTS].stats[i % STAGES]);
    free(c);
}
