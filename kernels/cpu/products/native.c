/* native.c - the product by one of the processor's own instructions (kernels/cpu/native/). */
#include "gemm.h"
#include "kernels/cpu/native/native.h"

enum { LANES = ULP_NATIVE_LANES };

typedef struct work {
    const ulp_job *job;
    const ulp_cpu_native *native;
    size_t words;      /* of a sum */
    uint32_t *a, *b;   /* A (m, words), B (panels, words, 16) */
    ulp_status status; /* the first failure of a conversion */
} work;

static void put_code(work *w, uint32_t *to, double x, size_t k, int is_b) {
    const unsigned bits = 32u / w->native->codes;
    uint32_t code = 0;
    const ulp_status status = ulp_cpu_native_code(&code, x, w->native, is_b);
    if (status != ULP_OK) __atomic_store_n((int *)&w->status, (int)status, __ATOMIC_RELAXED);
    *to |= (code & (bits == 8 ? 0xffu : 0xffffu)) << bits * (unsigned)(k % w->native->codes);
}

static void pack_rows(void *context, size_t begin, size_t end) {
    work *w = context;
    for (size_t i = begin; i < end; i++) {
        uint32_t *to = w->a + i * w->words;
        for (size_t k = 0; k < w->words; k++) to[k] = 0;
        for (size_t k = 0; k < w->job->s.k; k++)
            put_code(w, to + k / w->native->codes, job_at(w->job, w->job->a, a_index(w->job, i, k)), k, 0);
    }
}

static void pack_panels(void *context, size_t begin, size_t end) {
    work *w = context;
    for (size_t p = begin; p < end; p++) {
        uint32_t *to = w->b + p * w->words * LANES;
        for (size_t k = 0; k < w->words * LANES; k++) to[k] = 0;
        for (size_t j = 0; j < LANES && p * LANES + j < w->job->s.n; j++)
            for (size_t k = 0; k < w->job->s.k; k++)
                put_code(w, to + k / w->native->codes * LANES + j,
                         job_at(w->job, w->job->b, b_index(w->job, k, p * LANES + j)), k, 1);
    }
}

/* The code of a start value; the caller has checked that the format holds it. */
static uint32_t start_code(const work *w, size_t at) {
    const double c = job_at(w->job, w->job->c, at);
    if (!w->native->result.is_fixed) return ulp_bits32((float)c);
    return (uint32_t)(int32_t)c;
}

static void sum_panel(const work *w, size_t i, size_t p) {
    const ulp_job *job = w->job;
    uint32_t c[LANES] = {0};
    const size_t width = job->s.n - p * LANES < LANES ? job->s.n - p * LANES : LANES, at = i * job->s.ldc + p * LANES;
    for (size_t j = 0; job->s.accumulate && j < width; j++) c[j] = start_code(w, at + j);
    ulp_cpu_native_run(w->native, c, w->a + i * w->words, w->b + p * w->words * LANES, w->words);
    for (size_t j = 0; j < width; j++) {
        const double y = ulp_cpu_native_value(c[j], w->native);
        if (job->wide) ((double *)job->c)[at + j] = y == y ? y : ulp_quiet_nan();
        else ((float *)job->c)[at + j] = canonical((float)y);
    }
}

static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t p = 0; p * LANES < w->job->s.n; p++) /* a panel of B stays in the cache */
        for (size_t i = begin; i < end; i++) sum_panel(w, i, p);
}

int ULP_CPU(ulp_serves_native)(const ulp_job *job) { return job->datapath->kind == ULP_NATIVE; }

ulp_status ULP_CPU(ulp_product_native)(const ulp_job *job) {
    ulp_cpu_native native;
    const ulp_status status = ulp_cpu_native_of(&native, job->datapath);
    if (status != ULP_OK) return status;
    const size_t panels = (job->s.n + LANES - 1) / LANES;
    work w = {.job = job, .native = &native, .words = (job->s.k + native.codes - 1) / native.codes, .status = ULP_OK};
    rooms r = {.count = 0};
    w.a = rooms_take(&r, job->s.m * w.words, sizeof *w.a);
    w.b = rooms_take(&r, panels * w.words * LANES, sizeof *w.b);
    if (r.failed) w.status = ULP_NO_MEMORY;
    if (w.status == ULP_OK) ulp_parallel_for(job->s.m, 1, pack_rows, &w);
    if (w.status == ULP_OK) ulp_parallel_for(panels, 1, pack_panels, &w);
    if (w.status == ULP_OK) ulp_parallel_for(job->s.m, 16, rows_part, &w);
    rooms_end(&r);
    return w.status;
}
