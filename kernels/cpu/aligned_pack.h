/* aligned_pack.h - the operands of a Tensor Core row, packed for aligned.h: elements, their exponents, their range.
 *
 * B is packed as panels of WIDTH columns, A as blocks of ROWS rows, both in the order of the summation and with zeros
 * up to whole steps and whole blocks.
 */
#ifndef ULP_ALIGNED_PACK_H
#define ULP_ALIGNED_PACK_H

#include <string.h>

#include "aligned.h"

/* The least and the largest exponent of numbers that are not zero. No such number: least > most. special: there are
 * special values. */
typedef struct range {
    int least, most, special;
} range;

typedef struct work {
    const ulp_job *job;
    plan plan;
    run_function run[CARES];
    size_t padded; /* k rounded up to whole steps */
    size_t steps, panels;
    int log_k, cuts;     /* padded < 2^log_k; whether only the watched functions cut the sums of the row */
    float *b;            /* (panels, padded, WIDTH), in the order of the summation, zero-padded */
    int16_t *b_exponent; /* (panels, padded, WIDTH) */
    int16_t *b_scale;    /* (panels, steps, WIDTH), exponents of the block scales */
    uint8_t *b_special;  /* (panels, steps) */
    range *b_range;      /* (panels) */
    char *a;             /* blocks for the arrays of `struct rows`, of a_bytes each */
    size_t a_bytes;
} work;

/* The place of column j among the 16-bit integers of a panel. */
ULP_INLINE size_t lane(size_t j) { return j % LANES * HALVES + j / LANES; }

/* The place of product k in the order of the summation: fp8 on fp16 units adds k = 0, 1 (mod 4) first. */
static size_t place(const ulp_datapath *d, size_t k) {
    if (!d->fused.late) return k;
    const size_t at = k % d->step, half = at / 2 % 2;
    return k - at + half * d->fused.length + at / 4 * 2 + at % 2;
}

/* The exponent of x in the alignment, plus bias. emin is -126 or more. */
ULP_INLINE int32_t exponent_of(float x, int32_t emin, int32_t bias) {
    const uint32_t a = ulp_bits32(x) & 0x7fffffffu;
    const int32_t e = (int32_t)(a >> 23) - 127, at_least = (e > emin ? e : emin) + bias;
    return a == 0 ? SKIPPED : at_least;
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

/* Sets the exponents of a row of a panel. */
ULP_INLINE void find_exponents(int16_t *restrict exponent, const float *restrict x, int32_t emin) {
    uint32_t pairs[LANES];
    for (size_t i = 0; i < LANES; i++) {
        const uint32_t lower = (uint32_t)exponent_of(x[i], emin, 0) & 0xffffu,
                       upper = (uint32_t)exponent_of(x[LANES + i], emin, 0) << 16;
        pairs[i] = lower | upper;
    }
    memcpy(exponent, pairs, sizeof pairs);
}

enum { OF_SPECIAL = 128 }; /* exponent_of a special value */

/* The range of n exponents with a bias. */
static range range_of(const int16_t *exponent, size_t n, int bias) {
    uint16_t least = UINT16_MAX; /* from SKIPPED + 1 on: SKIPPED itself is the largest */
    int16_t most = SKIPPED;
    for (size_t i = 0; i < n; i++) most = exponent[i] > most ? exponent[i] : most;
    for (size_t i = 0; i < n; i++) {
        const uint16_t e = (uint16_t)(exponent[i] - (SKIPPED + 1));
        least = e < least ? e : least;
    }
    return (range){least + (SKIPPED + 1) - bias, most - bias, most - bias == OF_SPECIAL};
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
        int16_t *e = w->b_exponent + panel * w->padded * WIDTH;
        for (size_t k = 0; k < w->padded; k++) {
            const size_t to = place(d, k) * WIDTH;
            read_row(b + to, w->job, k, panel * WIDTH);
            find_exponents(e + to, b + to, d->b_emin);
        }
        w->b_range[panel] = range_of(e, w->padded * WIDTH, 0);
        find_specials(w->b_special + panel * w->steps, w->steps, b, d->step * WIDTH, w->b_range[panel].special);
        if (d->scale_block != 0) pack_scales(w, panel);
    }
}

enum { BIAS = 127 }; /* of the exponents of A */

/* ROWS rows of A. */
typedef struct rows {
    range *range;
    float *a;          /* (padded, ROWS) */
    int16_t *exponent; /* (padded, ROWS), biased */
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
    for (size_t i = 0; i < w->padded * ROWS; i++) r->exponent[i] = (int16_t)exponent_of(r->a[i], d->a_emin, BIAS);
    *r->range = range_of(r->exponent, w->padded * ROWS, BIAS);
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
    r.exponent = (int16_t *)(void *)(r.a + w->padded * ROWS);
    r.scale = r.exponent + w->padded * ROWS;
    r.special = (uint8_t *)(r.scale + w->steps * ROWS);
    return r;
}

#endif
