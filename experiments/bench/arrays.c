/* arrays.c - arrays and matrices of numbers on the backend; the quality of the random numbers does not matter. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* Fills x (n) and x64 (n), where they are not NULL, with numbers in (-scale, scale). */
static ulp_status fill(const bench *b, float *x, double *x64, size_t n, double scale) {
    enum { PIECE = 1 << 20 };
    const size_t most = n < PIECE ? n : PIECE;
    float *host = malloc(most * sizeof *host);
    double *host64 = malloc(most * sizeof *host64);
    uint32_t state = 1;
    ulp_status status = host && host64 ? ULP_OK : ULP_NO_MEMORY;
    for (size_t at = 0; at < n && status == ULP_OK; at += most) {
        const size_t some = n - at < most ? n - at : most;
        for (size_t i = 0; i < some; i++) {
            state = state * 1664525u + 1013904223u;
            host64[i] = (double)(int32_t)state * 0x1p-31 * scale;
            host[i] = (float)host64[i];
        }
        if (x) status = b->backend->upload(x + at, host, some * sizeof *host);
        if (status == ULP_OK && x64) status = b->backend->upload(x64 + at, host64, some * sizeof *host64);
    }
    free(host64);
    free(host);
    return status;
}

static ulp_status take(const bench *b, void *x, size_t bytes) {
    void *taken = b->backend->alloc(bytes);
    memcpy(x, &taken, sizeof taken);
    return taken ? ULP_OK : ULP_NO_MEMORY;
}

static void give(const bench *b, void *x) {
    if (x) b->backend->release(x);
}

/* ---- arrays that are rounded ---- */

ulp_status arrays_open(arrays *a, const bench *b, size_t n, size_t pairs, int wide) {
    *a = (arrays){.n = n, .pairs = pairs};
    for (size_t k = 0; k < pairs; k++) {
        ULP_TRY(take(b, &a->x[k], n * sizeof(float)));
        ULP_TRY(take(b, &a->y[k], n * sizeof(float)));
        ULP_TRY(fill(b, a->x[k], NULL, n, 2));
        ULP_TRY(copy_numbers(b, a->y[k], a->x[k], n * sizeof(float)));
    }
    if (!wide) return ULP_OK;
    ULP_TRY(take(b, &a->x64, n * sizeof(double)));
    ULP_TRY(take(b, &a->y64, n * sizeof(double)));
    ULP_TRY(take(b, &a->words, n * sizeof(uint32_t)));
    ULP_TRY(fill(b, NULL, a->x64, n, 2));
    return copy_numbers(b, a->y64, a->x64, n * sizeof(double));
}

void arrays_release(arrays *a, const bench *b) {
    for (size_t k = 0; k < a->pairs; k++) {
        give(b, a->x[k]);
        give(b, a->y[k]);
    }
    give(b, a->x64);
    give(b, a->y64);
    give(b, a->words);
}

ulp_status copy_numbers(const bench *b, void *y, const void *x, size_t bytes) {
    if (b->timer) return ulp_cuda_copy(y, x, bytes);
    memcpy(y, x, bytes);
    return ULP_OK;
}

/* ---- matrices ---- */

ulp_status matrices_open(matrices *m, const bench *b, size_t n) {
    *m = (matrices){.b = b, .n = n};
    ULP_TRY(take(b, &m->unit, n * n * sizeof(float)));
    ULP_TRY(take(b, &m->whole, n * n * sizeof(float)));
    ULP_TRY(take(b, &m->c, n * n * sizeof(float)));
    ULP_TRY(take(b, &m->c64, n * n * sizeof(double)));
    ULP_TRY(fill(b, m->unit, NULL, n * n, 2));
    return fill(b, m->whole, NULL, n * n, 128);
}

void matrices_release(matrices *m) {
    for (size_t i = 0; i < m->count; i++) {
        give(m->b, m->at[i].x);
        give(m->b, m->at[i].y);
        give(m->b, m->at[i].x64);
        give(m->b, m->at[i].y64);
    }
    free(m->at);
    give(m->b, m->unit);
    give(m->b, m->whole);
    give(m->b, m->c);
    give(m->b, m->c64);
}

/* Fills x (n) with numbers of a format, and x64 with the same if it is not NULL. If binary32 does not hold all numbers
 * of the format, x gets some that binary32 holds. */
static ulp_status numbers(const matrices *m, float *x, double *x64, size_t n, const ulp_format *format) {
    const bench *b = m->b;
    const float *from = format->is_fixed ? m->whole : m->unit;
    const ulp_rounding how = {.format = format, .stream = (ulp_stream){1, 0, 0}};
    ulp_status status = format->fits_binary32 ? ulp_backend_round(b->backend, x, from, n, how)
                                              : copy_numbers(b, x, from, n * sizeof *x);
    if (status != ULP_OK || !x64) return status;
    float *host = malloc(n * sizeof *host);
    double *wide = malloc(n * sizeof *wide);
    status = host && wide ? b->backend->download(host, x, n * sizeof *host) : ULP_NO_MEMORY;
    for (size_t i = 0; i < n && status == ULP_OK; i++) wide[i] = (double)host[i];
    if (status == ULP_OK) status = b->backend->upload(x64, wide, n * sizeof *wide);
    free(wide);
    free(host);
    return status;
}

static ulp_status new_operands(matrices *m) {
    const size_t all = m->n * m->n;
    m->at = ulp_room_for(m->at, m->count, &m->room, sizeof *m->at);
    operands *o = &m->at[m->count++];
    *o = (operands){.x = NULL};
    ULP_TRY(take(m->b, &o->x, all * sizeof(float)));
    ULP_TRY(take(m->b, &o->y, all * sizeof(float)));
    ULP_TRY(take(m->b, &o->x64, all * sizeof(double)));
    return take(m->b, &o->y64, all * sizeof(double));
}

ulp_status operands_of(matrices *m, const operands **found, size_t n, const ulp_format *fa, const ulp_format *fb,
                       int wide) {
    const int device = m->b->timer != NULL;
    for (size_t i = 0; i < m->count && !device; i++)
        if (strcmp(m->at[i].fa.name, fa->name) == 0 && strcmp(m->at[i].fb.name, fb->name) == 0) {
            *found = &m->at[i];
            return ULP_OK;
        }
    ULP_TRY(device && m->count ? ULP_OK : new_operands(m));
    operands *o = &m->at[m->count - 1];
    o->fa = *fa;
    o->fb = *fb;
    *found = o;
    ULP_TRY(numbers(m, o->x, wide ? o->x64 : NULL, n * n, fa));
    return numbers(m, o->y, wide ? o->y64 : NULL, n * n, fb);
}
