/* gemm_serial.c - the product with every partial sum rounded, k ascending: columns of the result are the lanes.
 *
 * Two ways, the same bits: NEAREST, one binary64 fma and an anchored addition, where it is proved below that rounding to
 * binary64 first changes nothing; else the exact sum folded to odd, and the core of kernels/core.h.
 */
#include "exact_step.h"
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 64 };

typedef struct work {
    const ulp_job *job;
    ulp_core core;
    int vector; /* the core decides; else the scalar definition */
    float *packed; /* B as panels of (k, LANES), zero-padded */
} work;

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_gemm_shape *s = &w->job->s;
    for (size_t panel = begin; panel < end; panel++) {
        float *to = w->packed + panel * s->k * LANES;
        const size_t j0 = panel * LANES, width = s->n - j0 < LANES ? s->n - j0 : LANES;
        memset(to, 0, s->k * LANES * sizeof *to);
        for (size_t k = 0; k < s->k; k++)
            for (size_t j = 0; j < width; j++) to[k * LANES + j] = b_at(w->job, k, j0 + j);
    }
}

ULP_INLINE void serial_run(double *restrict acc, double a, const float *restrict b, const ulp_core *core,
                           const uint32_t *restrict words, uint32_t mode) {
    const ulp_core c = *core;
    for (size_t j = 0; j < LANES; j++)
        acc[j] = ulp_core_round64(odd_sum(a * (double)b[j], acc[j], mode), &c, mode, words == NULL ? 0u : words[j]);
}

static void serial_step(double *acc, double a, const float *b, const ulp_core *core, const uint32_t *words) {
    switch (core->mode) {
#define CASE(id, name, meaning)                                                                      \
    case id: serial_run(acc, a, b, core, ulp_mode_is_stochastic(id) ? words : NULL, id); break;
        ULP_MODES(CASE)
#undef CASE
    default: break;
    }
}

/* The words of step k of columns j0 .. j0 + width - 1 of row i: index (i n + j) K + k. */
static void step_words(uint32_t *words, const ulp_job *w, size_t i, size_t j0, size_t width, size_t k) {
    for (size_t j = 0; j < width; j++) words[j] = ulp_random_word(w->stream, ((uint64_t)i * w->s.n + j0 + j) * w->s.k + k);
}

static void row(const work *w, size_t i, size_t panel) {
    const ulp_job *job = w->job;
    const ulp_gemm_shape *s = &job->s;
    const size_t j0 = panel * LANES, width = s->n - j0 < LANES ? s->n - j0 : LANES;
    const float *b = w->packed + panel * s->k * LANES;
    float *c = (float *)job->c + i * s->ldc + j0;
    double acc[LANES] = {0};
    uint32_t words[LANES] = {0};
    const int stochastic = ulp_mode_is_stochastic(job->datapath->rule.mode);
    for (size_t j = 0; j < width && s->accumulate; j++) acc[j] = (double)c[j];
    for (size_t k = 0; k < s->k; k++) {
        if (stochastic) step_words(words, job, i, j0, width, k);
        serial_step(acc, (double)a_at(job, i, k), b + k * LANES, &w->core, words);
    }
    for (size_t j = 0; j < width; j++) c[j] = canonical((float)acc[j]);
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t panels = (w->job->s.n + LANES - 1) / LANES;
    for (size_t i = begin; i < end; i++)
        for (size_t panel = 0; panel < panels; panel++) row(w, i, panel);
}

ulp_status ULP_CPU(ulp_gemm_serial)(const ulp_job *job) {
    const ulp_datapath *d = job->datapath;
    work w = {.job = job};
    if (job->wide || d->kind != ULP_SERIAL || d->length != 1 || d->promote != 0 || d->has_inputs ||
        !ulp_core_init(&w.core, &d->accumulator, d->rule) || !ulp_core64_decides(&w.core))
        return ULP_UNSUPPORTED;
    const size_t panels = (job->s.n + LANES - 1) / LANES;
    w.packed = ULP_CPU(ulp_gemm_room)(panels * job->s.k * LANES, sizeof *w.packed);
    if (w.packed == NULL) return ULP_NO_MEMORY;
    ulp_parallel_for(panels, 1, pack_part, &w);
    ulp_parallel_for(job->s.m, 1, rows_part, &w);
    free(w.packed);
    return ULP_OK;
}
