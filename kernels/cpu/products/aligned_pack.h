/* aligned_pack.h - the operands of a row with aligned sums, packed for aligned.h: elements, their exponents, their
 * range.
 *
 * B is packed as panels of WIDTH columns, A as blocks of ROWS rows, both in the order of the summation and with zeros
 * up to whole steps and whole blocks.
 */
#ifndef ULP_ALIGNED_PACK_H
#define ULP_ALIGNED_PACK_H

#include <string.h>

#include "aligned_runs.h"

enum { OF_SPECIAL = 128 }; /* the exponent of a special value */

/* The least and the largest exponent of numbers that are not zero. special: there are special values. empty: all are
 * zero. */
typedef struct range {
    int least, most, special, empty;
} range;

typedef struct work {
    const ulp_job *job;
    plan plan;
    run_function run[CARES];
    size_t padded; /* k rounded up to whole steps */
    size_t steps, panels;
    int log_k, cuts;     /* padded <= 2^log_k; whether only the watched functions cut the sums of the row */
    float *b;            /* (panels, padded, WIDTH), in the order of the summation, zero-padded */
    uint8_t *b_distance; /* (panels, padded, WIDTH, 2), of the exponents from the largest of the panel */
    int16_t *b_scale;    /* (panels, steps, WIDTH), exponents of the block scales */
    uint8_t *b_special;  /* (panels, steps) */
    range *b_range;      /* (panels) */
    char *a;             /* blocks for the arrays of `struct rows`, of a_bytes each */
    size_t a_bytes;
} work;

/* The place of column j among the scales of a panel. */
ULP_INLINE size_t lane(size_t j) { return j % LANES * HALVES + j / LANES; }

/* The place of product k in the order of the summation: fp8 on fp16 units adds k = 0, 1 (mod 4) first. */
static size_t place(const ulp_datapath *d, size_t k) {
    if (!d->fused.late) return k;
    const size_t at = k % d->step, half = at / 2 % 2;
    return k - at + half * d->fused.length + at / 4 * 2 + at % 2;
}

ULP_INLINE uint32_t is_special(float x) { return (uint32_t)((ulp_bits32(x) & 0x7f800000u) == 0x7f800000u); }

/* The exponent of a block's scale. A NaN scale makes the block special. */
static int16_t scale_of(const float *scales, size_t at, const ulp_datapath *d, uint8_t *special) {
    if (scales == NULL) return 0;
    if (is_special(scales[at])) {
        *special = 1;
        return 0;
    }
    return (int16_t)ulp_term_of((double)scales[at], 1, d->scale.emin).e;
}

/* The largest |x| of some numbers x, and the largest 2^31 - |x| of those that are not zero, as words. */
typedef union extremes {
    vint v[2];
    int32_t word[2][LANES];
} extremes;

ULP_INLINE void extend(extremes *e, vint x) {
    const vint size = x & INT32_MAX;
    e->v[0] = larger_ints(e->v[0], size);
    e->v[1] = larger_ints(e->v[1], -size & INT32_MAX);
}

/* The range of numbers, where those below 2^emin have the exponent emin. */
static range range_between(const extremes *e, int emin) {
    int32_t most = 0, rest = 0;
    for (int i = 0; i < LANES; i++) {
        most = e->word[0][i] > most ? e->word[0][i] : most;
        rest = e->word[1][i] > rest ? e->word[1][i] : rest;
    }
    const int low = (int)((0x80000000u - (uint32_t)rest) >> 23) - 127, high = (most >> 23) - 127;
    return (range){low > emin ? low : emin, high > emin ? high : emin, most >= 0x7f800000, most == 0};
}

/* The range of x (n); n is a multiple of LANES. */
static range range_of(const float *x, size_t n, int emin) {
    extremes e = {{{0}, {0}}};
    for (size_t i = 0; i < n; i += LANES) extend(&e, *(const vint *)(const void *)(x + i));
    return range_between(&e, emin);
}

/* The largest exponent of x (n) that is not one of a special value, and at least emin. */
static int largest_finite(const float *x, size_t n, int emin) {
    for (size_t i = 0; i < n; i++) {
        const int e = (int)(ulp_bits32(x[i]) >> 23 & 0xff) - 127;
        if (e < OF_SPECIAL && e > emin) emin = e;
    }
    return emin;
}

/* The distances of the exponents of x from `top`, which is biased; those of special values do not matter. Numbers below
 * 2^emin have the exponent emin, which is -126 or more. */
ULP_INLINE vuint distances_of(vint x, int top, int emin) {
    const vint size = x & INT32_MAX, e = larger_ints(size >> 23, (vint){0} + (emin + 127));
    return (vuint)((top - e) | ((vint)(size == 0) & FARTHEST));
}

/* distance (n, WIDTH, 2), from n rows x of a panel. */
static void find_b_distances(uint8_t *distance, const float *x, size_t n, int top, int emin) {
    for (size_t k = 0; k < n; k++) {
        const vint *from = (const vint *)(const void *)(x + k * WIDTH);
        const vuint once = distances_of(from[0], top, emin) | distances_of(from[1], top, emin) << 16;
        *(vuint *)(void *)(distance + k * 2 * WIDTH) = once | once << 8;
    }
}

/* distance (n), from the elements x of a block. */
static void find_a_distances(uint8_t *restrict distance, const float *restrict x, size_t n, int top, int emin) {
    for (size_t i = 0; i < n; i++) {
        const int32_t size = (int32_t)(ulp_bits32(x[i]) & 0x7fffffffu), field = size >> 23;
        distance[i] = (uint8_t)((top - (field > emin + 127 ? field : emin + 127)) | -(size == 0));
    }
}

/* Sets which of `steps` steps, of n elements each, have special values; `any` says whether one has. */
static void find_specials(uint8_t *special, size_t steps, const float *x, size_t n, int any) {
    memset(special, 0, steps);
    for (size_t at = 0; any && at < steps; at++)
        for (size_t i = 0; i < n; i++) special[at] |= (uint8_t)is_special(x[at * n + i]);
}

/* Row k of a panel of B, from column j0 on; zeros past the end. */
ULP_INLINE void read_row(float x[WIDTH], const ulp_job *job, size_t k, size_t j0) {
    const size_t width = job->s.n - j0;
    if (k < job->s.k && width >= WIDTH && !job->s.b_trans)
        memcpy(x, (const float *)job->b + b_index(job, k, j0), WIDTH * sizeof *x);
    else
        for (size_t j = 0; j < WIDTH; j++) x[j] = k < job->s.k && j < width ? b_at(job, k, j0 + j) : 0.0f;
}

/* The scales of a panel. Their special values are those of the steps, too. */
static void pack_scales(const work *w, size_t panel) {
    const ulp_gemm_shape *s = &w->job->s;
    int16_t *scale = w->b_scale + panel * w->steps * WIDTH;
    uint8_t *special = w->b_special + panel * w->steps;
    for (size_t at = 0; at < w->steps; at++)
        for (size_t j = panel * WIDTH; j < (panel + 1) * WIDTH; j++)
            scale[at * WIDTH + lane(j % WIDTH)] =
                j < s->n ? scale_of(s->b_scales, j * w->steps + at, w->job->datapath, &special[at]) : 0;
}

static void pack_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_datapath *d = w->job->datapath;
    for (size_t panel = begin; panel < end; panel++) {
        float *b = w->b + panel * w->padded * WIDTH;
        range *of_panel = &w->b_range[panel];
        extremes found = {{{0}, {0}}};
        for (size_t k = 0; k < w->padded; k++) {
            const size_t to = place(d, k) * WIDTH;
            read_row(b + to, w->job, k, panel * WIDTH);
            for (size_t h = 0; h < HALVES; h++) extend(&found, *(const vint *)(const void *)(b + to + h * LANES));
        }
        *of_panel = range_between(&found, d->b_emin);
        if (of_panel->special) of_panel->most = largest_finite(b, w->padded * WIDTH, d->b_emin);
        find_b_distances(w->b_distance + panel * w->padded * 2 * WIDTH, b, w->padded, of_panel->most + 127, d->b_emin);
        find_specials(w->b_special + panel * w->steps, w->steps, b, d->step * WIDTH, of_panel->special);
        if (d->scale_block != 0) pack_scales(w, panel);
    }
}

/* ROWS rows of A. */
typedef struct rows {
    range *range;
    float *a;          /* (padded, ROWS) */
    uint8_t *distance; /* (padded, ROWS), of the exponents from the largest of the block */
    int16_t *scale;    /* (steps, ROWS) */
    uint8_t *special;  /* (steps) */
} rows;

/* x (n, 4) from the rows a .. a + 3 ld. */
static void interleave(float *restrict x, const float *a, size_t ld, size_t n) {
    const float *const a1 = a + ld, *const a2 = a1 + ld, *const a3 = a2 + ld;
    for (size_t k = 0; k < n; k++) {
        x[4 * k] = a[k];
        x[4 * k + 1] = a1[k];
        x[4 * k + 2] = a2[k];
        x[4 * k + 3] = a3[k];
    }
}

/* ROWS rows of A from row i0 on; zeros past the end. */
static void read_rows(const work *w, float *x, size_t i0) {
    const ulp_gemm_shape *s = &w->job->s;
    const int whole = ROWS == 4 && s->m - i0 >= ROWS && !s->a_trans && !w->job->datapath->fused.late;
    const size_t done = whole ? s->k : 0;
    if (whole) interleave(x, (const float *)w->job->a + a_index(w->job, i0, 0), s->lda, s->k);
    for (size_t k = done; k < w->padded; k++)
        for (size_t i = 0; i < ROWS; i++)
            x[place(w->job->datapath, k) * ROWS + i] = k < s->k && i0 + i < s->m ? a_at(w->job, i0 + i, k) : 0.0f;
}

static void pack_rows(const work *w, const rows *r, size_t i0) {
    const ulp_datapath *d = w->job->datapath;
    const ulp_gemm_shape *s = &w->job->s;
    read_rows(w, r->a, i0);
    *r->range = range_of(r->a, w->padded * ROWS, d->a_emin);
    if (r->range->special) r->range->most = largest_finite(r->a, w->padded * ROWS, d->a_emin);
    find_a_distances(r->distance, r->a, w->padded * ROWS, r->range->most + 127, d->a_emin);
    find_specials(r->special, w->steps, r->a, d->step * ROWS, r->range->special);
    for (size_t at = 0; at < w->steps && d->scale_block != 0; at++)
        for (size_t i = 0; i < ROWS; i++)
            r->scale[at * ROWS + i] =
                i0 + i < s->m ? scale_of(s->a_scales, (i0 + i) * w->steps + at, d, r->special + at) : 0;
}

enum { ROOM_OF_RANGE = 16 }; /* floats */

static rows rows_at(const work *w, size_t at) {
    void *room = w->a + at * w->a_bytes;
    rows r = {.range = room, .a = (float *)room + ROOM_OF_RANGE};
    r.distance = (uint8_t *)(r.a + w->padded * ROWS);
    r.scale = (int16_t *)(void *)(r.distance + w->padded * ROWS);
    r.special = (uint8_t *)(r.scale + w->steps * ROWS);
    return r;
}

#endif
