/* aligned.h - declarations for fused sums of a block of outputs at once, in vectors of binary32: operands, exponents,
 * aligned products.
 *
 * The inputs have at most 11 significant bits, so that a product is exact in binary32, and its multiple by the power of
 * two 2^(F - Emax) is exact as well. Where Emax <= F, an addition to the exponent forms the multiple. Conversion to
 * integer truncates toward zero: this is the alignment. The terms add up in int32_t. A file for each kind of sum
 * includes this file: aligned_fused.h, aligned_one_sided.h, aligned_odd.h; aligned_runs.h has the loop over steps.
 * Separate arrays hold, as bytes, how far exponents are below the largest one of a block or panel: their distances.
 * Emax needs one addition and one minimum of distances for the products of four vectors. A watched function returns 0
 * where an exponent is too near the ends of the range of binary32; the others need operands and sums whose range is
 * known.
 */
#ifndef ULP_ALIGNED_H
#define ULP_ALIGNED_H

#include <string.h>

#include "aligned_vectors.h"
#include "gemm.h"

enum { ROWS = 4 };

/* A vector has LANES floats. A panel has two vectors: a vector of 16-bit integers holds as many columns. Its 32-bit
 * words hold the integers of vector 0 in their lower halves (h = 0) and those of vector 1 in their upper halves. A
 * vector of bytes holds as many columns of a pair of rows: the lower byte of a 16-bit integer is that of the first row.
 */
enum { LANES = FLOATS, HALVES = 2, WIDTH = HALVES * LANES, PAIRS = ROWS / 2 };

enum {
    FARTHEST = 255,  /* the distance of zero, and of all products from this distance on */
    ABSENT = -16384, /* added to the exponent of zero: below every other exponent, also after adding a scale */
    TOO_LOW = -1024, /* the same where a product that is not zero can be at this distance: below plan.lowest */
    HIGHEST = 119
};

/* The constants of a row for the vectors. */
typedef struct plan {
    int32_t length, fraction, floor;
    int32_t lowest; /* scales, terms and results are normal binary32 numbers for Emax from `lowest` to HIGHEST */
    int32_t least;  /* the same for all steps, without a watch, if no product and no start value is below 2^least */
    int32_t keep;   /* mask of the kept bits of a binary32 result */
    int32_t emin;   /* emin of the accumulator */

    /* one-sided sums */
    int32_t kept_rest; /* mask of the last bits of an integer sum that the row keeps */
    float grain;       /* minus the unit to which a sum of exponent 0 is rounded down, in units of the guard bits */
    float least_c;     /* c counts as zero if it is less than this part of its unit */
} plan;

/* The arrays of the operands of `count` steps. A distance of B is there twice: for both rows of a pair. */
typedef struct operands {
    const float *a, *b;
    const uint8_t *a_distance, *b_distance;
    const int16_t *a_scale, *b_scale;
    const uint8_t *a_special, *b_special; /* (count) */
    size_t count;
    int top;  /* the exponent at distance 0, biased by 127 */
    int zero; /* added to the exponent at distance FARTHEST: ABSENT or TOO_LOW */
} operands;

/* Not 0 if an exponent is out of the range in which these lanes are exact. below: plan.lowest minus the Emax of a
 * lane's products. most: the largest Emax of a lane, as an exponent field. c_below: the field of plan.lowest minus c.
 */
ULP_INLINE uint64_t out_of_range(vint16 below, vint most, vint c_below) {
    const vint wide = (most >= ((128 + HIGHEST) << 23)) | (c_below > 0);
    union {
        vint whole;
        uint64_t word[ULP_VECTOR_BYTES / 8];
    } any = {wide | (vint)(below > 0)};
    uint64_t all = 0;
    for (int i = 0; i < ULP_VECTOR_BYTES / 8; i++) all |= any.word[i];
    return all;
}

/* How a row computes its sums. All fields are constants where a function is compiled. */
typedef struct way {
    enum { PLAIN, LATE, SCALED, ONE_SIDED, ODD } kind;
    int span;   /* products of an unrolled loop: L, or 16 where L is a multiple of 16 */
    int narrow; /* the results are binary16 */
    enum {
        FITS_FLOAT, /* |sum of the aligned terms| < 2^24 */
        FITS_INT,   /* |sum| < 2^31; of ONE_SIDED, |sum| < 2^30 */
        FITS_TWO,   /* the first 16 products, and all other terms, are two sums below 2^31 */
        FITS_FOUR   /* the sums of each 4 products are below 2^31 */
    } size;
    enum {
        NEAR,    /* Emax <= F in all steps */
        FAR,     /* Emax <= HIGHEST in all steps */
        WATCHED, /* exponents can be out of range, or a binary32 result keeps fewer bits than an integer sum has */
        CARES
    } care;
} way;

/* The bias of the exponent of 2^(F - Emax): without bias the exponent is added to products. Where zeros would become
 * numbers that are not integers, which count in ODD, products are multiplied. */
ULP_INLINE int bias_of(way w) { return w.care == NEAR && w.kind != ODD ? 0 : 127; }

/* 2^(F - Emax) as words, from the exponent field of Emax. */
ULP_INLINE vint scale_to(const plan *p, vint top, way w) {
    return (vint)(((uint32_t)(127 + bias_of(w) + p->fraction) << 23) - (vuint)top);
}

/* 2^(Emax - F) as words. */
ULP_INLINE vint inverse(vint power, way w) { return ((127 + bias_of(w)) << 23) - power; }

/* x 2^(F - Emax) as an integer: rounded toward zero, in ODD to odd. Without bias, a zero becomes a number below 1:
 * F - Emax < 127. */
ULP_INLINE vint align(vfloat x, vint power, way w) {
    if (w.kind == ODD) return odd_ints(x * float_of(power));
    const vfloat y = bias_of(w) == 0 ? float_of(int_of(x) + power) : x * float_of(power);
    return __builtin_convertvector(y, vint);
}

/* Whether the range of the exponents is known. */
ULP_INLINE int is_bounded(way w) { return w.care != WATCHED && w.kind != SCALED; }

/* The products of a fused sum; a constant where they are few. */
ULP_INLINE int length_of(const plan *p, way w) { return w.span < 16 ? w.span : p->length; }

/* The distance of Emax before the first product: that of its floor, if the range is known. */
ULP_INLINE vbytes start_of(const operands *o, const plan *p, way w) {
    return (vbytes){0} + (uint8_t)(is_bounded(w) ? o->top - (p->floor + 127) : FARTHEST);
}

/* nearest: takes the smaller of itself and the distances of product k, for each pair of rows. */
ULP_INLINE void take_distances(vbytes nearest[PAIRS], const uint8_t *a, const uint8_t *b, int k) {
    UNROLLED for (int q = 0; q < PAIRS; q++) {
        uint16_t two;
        memcpy(&two, a + k * ROWS + 2 * q, sizeof two);
        const vbytes columns = *(const vbytes *)(const void *)(b + k * 2 * WIDTH);
        nearest[q] = min8(nearest[q], add8(columns, (vbytes)((vshort){0} + two)));
    }
}

/* The byte of row r and half h in each 32-bit word, as an exponent field with any bits around it. */
ULP_INLINE vint field_of(vbytes x, int r, int h) {
    const vuint u = (vuint)x;
    const int place = 16 * h + 8 * (r % 2);
    return (vint)(place < 23 ? u << (23 - place) : u >> (place - 23));
}

/* The larger of two exponent fields; c is finite. */
ULP_INLINE vint larger_field(vint u, vfloat c) {
#if defined(__AVX512DQ__)
    return (vint)_mm512_range_ps((__m512)u, (__m512)c, LARGER_SIZE) & 0x7f800000;
#else
    return larger_ints(u & 0x7f800000, int_of(c) & 0x7f800000);
#endif
}

/* sum += product k, aligned. nearest: takes the distances of product k + `ahead`: alone, the minima would wait for each
 * other. */
ULP_INLINE void add_product(vint sum[ROWS][HALVES], vint power[ROWS][HALVES], vbytes nearest[PAIRS], const operands *o,
                            int k, int ahead, way w) {
    const vfloat *b = (const vfloat *)(const void *)(o->b + k * WIDTH);
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) sum[r][h] +=
        align(o->a[k * ROWS + r] * b[h], power[r][h], w);
    take_distances(nearest, o->a_distance, o->b_distance, k + ahead);
}

/* The data for out_of_range. */
typedef struct watch {
    vint16 below;
    vint most, c_below;
} watch;

/* The exponents of the products of row r, biased, times 2^7, where their range is not known. shift: those of the block
 * scales. */
ULP_INLINE vint16 largest_exponents(const vbytes nearest[PAIRS], int r, vint16 *shift, watch *seen, const operands *o,
                                    const plan *p, way w) {
    const vshort two = (vshort)nearest[r / 2], distance = r % 2 == 0 ? two & 0xff : two >> 8;
    vint16 e = (int16_t)o->top - (vint16)distance + ((vint16)(distance == FARTHEST) & (int16_t)o->zero);
    if (w.kind == SCALED) {
        *shift = *(const vint16 *)(const void *)o->b_scale + o->a_scale[r];
        e += *shift;
    }
    seen->below = max16(seen->below, ((int16_t)(p->lowest + 127) - e) & (e > ABSENT / 2));
    e = max16(e, (vint16){0} + (int16_t)(p->floor + 127));
    return (e - max16(e - (HIGHEST + 128), (vint16){0})) << 7; /* at most HIGHEST + 1 */
}

/* Adds to `seen` what out_of_range needs of c, and of t, the exponent field of Emax. */
ULP_INLINE void look_at(watch *seen, vfloat c, vint t, const plan *p) {
    const vint size = int_of(c) & 0x7fffffff;
    seen->c_below = larger_ints(seen->c_below, (((127 + p->lowest) << 23) - size) & (size > 0));
    seen->most = larger_ints(seen->most, t);
}

/* The exponent fields of the products of row r, not below that of p->floor. */
ULP_INLINE void fields_of_row(vint e[HALVES], const vbytes nearest[PAIRS], int r, watch *seen, const operands *o,
                              const plan *p, way w) {
    const vbytes field = (uint8_t)o->top - nearest[r / 2];
    vint16 shift = {0}, both = {0};
    if (!is_bounded(w)) both = largest_exponents(nearest, r, &shift, seen, o, p, w);
    UNROLLED for (int h = 0; h < HALVES; h++) e[h] =
        is_bounded(w) ? field_of(field, r, h) & 0x7f800000 : half_of(both, h);
}

#endif
