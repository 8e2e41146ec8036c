/* split_k_gemm.c - matrix products whose sums have parts, on any backend. */
#include "split_k_gemm.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/products/split_k.h"

/* A product: its arrays are the backend's memory, of doubles if `wide`, else of floats. */
typedef struct job {
    const ulp_backend *backend;
    const ulp_datapath *d;
    ulp_datapath part;
    int wide;
    void *c;
    const void *a, *b;
    ulp_gemm_shape s;
    size_t rows, width;         /* of the array of C in memory */
    void *device;               /* (rows, width): a part's sums */
    void *host, *total;         /* (rows, width) in host memory: a part's sums, and the sum of parts */
    float *a_scales, *b_scales; /* in host memory, as in the shape */
    float *a_some, *b_some;     /* the scales of a part in the backend's memory */
    float *scales;              /* room for these scales in host memory */
    size_t blocks;              /* scales of a row of A */
} job;

static size_t bytes_of(const job *w, size_t elements) { return elements * (w->wide ? sizeof(double) : sizeof(float)); }

static const void *at(const job *w, const void *array, size_t elements) {
    return array == NULL ? NULL : (const char *)array + bytes_of(w, elements);
}

/* Copies the scales of blocks first .. first + count - 1 of all rows to `to`, the backend's memory. */
static ulp_status take_scales(const job *w, float *to, const float *from, size_t rows, size_t first, size_t count) {
    for (size_t i = 0; i < rows; i++) memcpy(w->scales + i * count, from + i * w->blocks + first, count * sizeof *from);
    return w->backend->upload(to, w->scales, rows * count * sizeof *to);
}

/* total (n) += x (n) */
static void add_to_total(const job *w, void *total, const void *x, size_t n) {
    double *const to = total;
    float *const narrow = total;
    const double *const from = x;
    const float *const narrow_from = x;
    if (w->wide)
        for (size_t i = 0; i < n; i++) to[i] = ulp_split_k_add(w->d, to[i], from[i]);
    else
        for (size_t i = 0; i < n; i++) narrow[i] += narrow_from[i];
}

static ulp_status round_device(const job *w, const ulp_format *format) {
    const ulp_rounding nearest = {.format = format};
    const size_t n = w->rows * w->width;
    return w->wide ? w->backend->round64(w->device, w->device, n, nearest)
                   : w->backend->round(w->device, w->device, n, nearest);
}

/* Adds the part of `length` products from product `first` on. */
static ulp_status add_part(const job *w, size_t first, size_t length) {
    ulp_gemm_shape s = w->s;
    const ulp_summation by = {&w->part, {0, 0, 0}};
    const void *a = at(w, w->a, s.a_trans ? first * s.lda : first), *b = at(w, w->b, s.b_trans ? first : first * s.ldb);
    s.k = length;
    s.ldc = w->width;
    s.accumulate = 0;
    if (w->blocks > 0) {
        const size_t per = w->d->scale_block, begin = first / per, count = (length + per - 1) / per;
        if (s.a_scales != NULL) ULP_TRY(take_scales(w, w->a_some, w->a_scales, s.m, begin, count));
        if (s.b_scales != NULL) ULP_TRY(take_scales(w, w->b_some, w->b_scales, s.n, begin, count));
        if (s.a_scales != NULL) s.a_scales = w->a_some;
        if (s.b_scales != NULL) s.b_scales = w->b_some;
    }
    ULP_TRY(w->wide ? w->backend->gemm64(w->device, a, b, &s, by) : w->backend->gemm(w->device, a, b, &s, by));
    ULP_TRY(round_device(w, &w->d->split_k_format));
    ULP_TRY(w->backend->download(w->host, w->device, bytes_of(w, w->rows * w->width)));
    add_to_total(w, w->total, w->host, w->rows * w->width);
    return ULP_OK;
}

/* Adds the start values to the totals, rounds the totals, and writes them to C. */
static ulp_status finish(const job *w) {
    const size_t all = bytes_of(w, w->rows * w->width), row = bytes_of(w, w->width);
    char *const host = w->host, *const total = w->total, *const c = w->c;
    for (size_t r = 0; r < w->rows && w->s.accumulate; r++) {
        ULP_TRY(w->backend->download(host, c + bytes_of(w, r * w->s.ldc), row));
        add_to_total(w, total + r * row, host, w->width);
    }
    ULP_TRY(w->backend->upload(w->device, total, all));
    ULP_TRY(round_device(w, &w->d->result));
    ULP_TRY(w->backend->download(host, w->device, all));
    if (w->s.ldc == w->width) return w->backend->upload(c, host, all);
    for (size_t r = 0; r < w->rows; r++)
        ULP_TRY(w->backend->upload(c + bytes_of(w, r * w->s.ldc), host + r * row, row));
    return ULP_OK;
}

static ulp_status run(const job *w) {
    const size_t most = ulp_split_k_length(w->d, w->s.k);
    for (size_t k = 0; k < w->s.k; k += most) ULP_TRY(add_part(w, k, w->s.k - k < most ? w->s.k - k : most));
    return finish(w);
}

/* *host = a copy of scales (rows, blocks), and *some = room for the scales of a part. */
static ulp_status prepare_scales(const job *w, float **host, float **some, const float *from, size_t rows) {
    const size_t bytes = rows * w->blocks * sizeof *from;
    if (from == NULL) return ULP_OK;
    *host = malloc(bytes);
    *some = w->backend->alloc(bytes);
    return *host == NULL || *some == NULL ? ULP_NO_MEMORY : w->backend->download(*host, from, bytes);
}

static ulp_status prepare(job *w) {
    const size_t n = w->rows * w->width, per = w->d->scale_block;
    ULP_TRY(ulp_split_k_part(&w->part, w->d));
    w->device = w->backend->alloc(bytes_of(w, n));
    w->host = malloc(bytes_of(w, n));
    w->total = calloc(n, bytes_of(w, 1));
    if (w->device == NULL || w->host == NULL || w->total == NULL) return ULP_NO_MEMORY;
    if (per == 0 || w->s.k == 0) return ULP_OK;
    w->blocks = (w->s.k + per - 1) / per;
    w->scales = malloc((w->s.m > w->s.n ? w->s.m : w->s.n) * w->blocks * sizeof *w->scales);
    if (w->scales == NULL) return ULP_NO_MEMORY;
    ULP_TRY(prepare_scales(w, &w->a_scales, &w->a_some, w->s.a_scales, w->s.m));
    return prepare_scales(w, &w->b_scales, &w->b_some, w->s.b_scales, w->s.n);
}

static ulp_status multiply(job w) {
    if (w.s.m == 0 || w.s.n == 0) return ULP_OK;
    w.rows = w.s.c_trans ? w.s.n : w.s.m;
    w.width = w.s.c_trans ? w.s.m : w.s.n;
    ulp_status status = prepare(&w);
    if (status == ULP_OK) status = run(&w);
    void *const of_backend[] = {w.device, w.a_some, w.b_some};
    void *const of_host[] = {w.host, w.total, w.a_scales, w.b_scales, w.scales};
    for (size_t i = 0; i < sizeof of_backend / sizeof of_backend[0]; i++)
        if (of_backend[i] != NULL) w.backend->release(of_backend[i]);
    for (size_t i = 0; i < sizeof of_host / sizeof of_host[0]; i++) free(of_host[i]);
    return status;
}

ulp_status ulp_split_k_gemm(const ulp_backend *backend, float *c, const float *a, const float *b,
                            const ulp_gemm_shape *shape, const ulp_datapath *d) {
    if (backend->gemm == NULL || backend->round == NULL) return ULP_UNSUPPORTED;
    return multiply((job){.backend = backend, .d = d, .c = c, .a = a, .b = b, .s = *shape});
}

ulp_status ulp_split_k_gemm64(const ulp_backend *backend, double *c, const double *a, const double *b,
                              const ulp_gemm_shape *shape, const ulp_datapath *d) {
    if (backend->gemm64 == NULL || backend->round64 == NULL) return ULP_UNSUPPORTED;
    return multiply((job){.backend = backend, .d = d, .wide = 1, .c = c, .a = a, .b = b, .s = *shape});
}
