/* gradient_counts.c - histograms and counts of gradients; see watch.h. */
#include "gradient_counts.h"

#include <stdlib.h>

#include "formats/exact.h"
#include "formats/scale.h"

enum {
    STAGES = ULP_WATCH_STAGES,
    ALL = ULP_WATCH_ALL,
    LAYERS = ULP_WATCH_LAYERS,
    SLOTS = ULP_WATCH_SLOTS,
    KINDS = ULP_WATCH_KINDS
};

ulp_watch *ulp_watch_new(const ulp_backend *backend, const ulp_format *format, size_t formats, const double *scale,
                         size_t scales, uint64_t steps, uint64_t every) {
    ulp_watch *w = calloc(1, sizeof *w);
    if (w == NULL) return NULL;
    *w = (ulp_watch){.backend = backend,
                     .format = format,
                     .scale = scale,
                     .formats = formats,
                     .scales = scales,
                     .columns = scales + 1,
                     .steps = steps,
                     .every = every};
    for (int i = 0; i < KINDS * SLOTS * STAGES; i++)
        ulp_histogram_clear(&w->at[i / STAGES / SLOTS][i / STAGES % SLOTS].histogram[i % STAGES]);
    return w;
}

/* Count what every format from f to last makes of x (n), all of it times a factor. */
static void count(ulp_watch *w, ulp_stats *stats, const float *x, size_t n, float factor, size_t column, size_t f,
                  size_t last) {
    for (size_t i = 0; i < n; i++) w->host[i] = x[i] * factor; /* exact: no gradient is near the ends of binary32 */
    if (w->status == ULP_OK) w->status = w->backend->upload(w->scaled, w->host, n * sizeof *w->host);
    for (; f < last && w->status == ULP_OK; f++)
        w->status =
            ulp_backend_round(w->backend, w->rounded, w->scaled, n,
                              (ulp_rounding){.format = &w->format[f], .stats = &stats[f * w->columns + column]});
}

static void see(void *context, const ulp_observation *observed) {
    ulp_watch *w = context;
    if (observed->step % w->every != 0 || observed->layer >= LAYERS) return;
    size_t stage = (size_t)(observed->step * 3 / w->steps);
    ulp_watched *t = &w->at[observed->point == ULP_AT_AGRAD ? ULP_WATCH_AGRAD : ULP_WATCH_WGRAD][observed->layer];
    ulp_histogram_add(&t->histogram[stage], observed->raw, observed->n);
    if (t->stats[stage] == NULL) t->stats[stage] = calloc(w->formats * w->columns, sizeof *t->stats[stage]);
    if (t->stats[stage] == NULL) w->status = ULP_NO_MEMORY;
    for (size_t k = 0; k < w->scales && w->status == ULP_OK; k++)
        count(w, t->stats[stage], observed->raw, observed->n, (float)ulp_scale(1.0, (int32_t)w->scale[k]), k, 0,
              w->formats);
    for (size_t f = 0; f < w->formats && w->status == ULP_OK; f++) {
        float own = ulp_scaling_of(ulp_amax(observed->raw, observed->n, 1), &w->format[f], ULP_SCALING_POWER2).scale;
        count(w, t->stats[stage], observed->raw, observed->n, own, w->scales, f, f + 1);
    }
}

/* One stage of one tensor into another place. */
static void add_to(ulp_watch *w, ulp_watched *to, int to_stage, const ulp_watched *from, int from_stage) {
    const size_t n = w->formats * w->columns;
    ulp_histogram_merge(&to->histogram[to_stage], &from->histogram[from_stage]);
    if (from->stats[from_stage] == NULL) return;
    if (to->stats[to_stage] == NULL) to->stats[to_stage] = calloc(n, sizeof *to->stats[to_stage]);
    if (to->stats[to_stage] == NULL) w->status = ULP_NO_MEMORY;
    for (size_t i = 0; to->stats[to_stage] != NULL && i < n; i++) {
        to->stats[to_stage][i].count += from->stats[from_stage][i].count;
        to->stats[to_stage][i].underflow += from->stats[from_stage][i].underflow;
        to->stats[to_stage][i].overflow += from->stats[from_stage][i].overflow;
    }
}

ulp_observer ulp_watch_observer(ulp_watch *w) {
    return (ulp_observer){see, w, 1u << ULP_AT_AGRAD | 1u << ULP_AT_WGRAD};
}

ulp_status ulp_watch_room(ulp_watch *w, const ulp_model *model) {
    size_t tensor = model->batch * model->net.widest, largest = model->net.params > tensor ? model->net.params : tensor;
    if (model->net.count >= LAYERS) return ULP_BAD_ARGUMENT;
    w->host = malloc(largest * sizeof *w->host);
    w->scaled = w->backend->alloc(largest * sizeof(float));
    w->rounded = w->backend->alloc(largest * sizeof(float));
    return w->host && w->scaled && w->rounded ? ULP_OK : ULP_NO_MEMORY;
}

ulp_status ulp_watch_add_up(ulp_watch *w) {
    for (int kind = 0; kind < KINDS; kind++) {
        ulp_watched *all = &w->at[kind][LAYERS];
        for (int i = 0; i < LAYERS * ALL; i++) add_to(w, all, i % ALL, &w->at[kind][i / ALL], i % ALL);
        for (int i = 0; i < SLOTS * ALL; i++) add_to(w, &w->at[kind][i / ALL], ALL, &w->at[kind][i / ALL], i % ALL);
    }
    return w->status;
}

void ulp_watch_free(ulp_watch *w) {
    if (w == NULL) return;
    if (w->scaled != NULL) w->backend->release(w->scaled);
    if (w->rounded != NULL) w->backend->release(w->rounded);
    free(w->host);
    for (int i = 0; i < KINDS * SLOTS * STAGES; i++)
        free(w->at[i / STAGES / SLOTS][i / STAGES % SLOTS].stats[i % STAGES]);
    free(w);
}
