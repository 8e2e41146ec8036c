/* aligned.h - fused sums of a Tensor Core row for a block of outputs at once, in vectors of binary32.
 *
 * The vectors compute the integer definition of kernels/products/fused.h. The inputs have at most 11 significant bits,
 * so that a product is exact in binary32, and its multiple by the power of two 2^(F - Emax) is exact as well. Where
 * Emax <= F, an addition to the exponent forms the multiple. Conversion to integer truncates toward zero: this is the
 * alignment. The terms add up in one or two int32_t.
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
    TOO_LOW = -1024, /* the same where a product that is not zero can be at this distance: below LOWEST */
    LOWEST = -100,   /* scales, terms and results are normal binary32 numbers for Emax from LOWEST to HIGHEST */
    HIGHEST = 119
};

/* The constants of a row for the vectors. */
typedef struct plan {
    int32_t length, fraction, floor;
    int32_t keep; /* mask of the kept bits of a binary32 result */
    int32_t emin; /* emin of the accumulator */
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

/* Not 0 if an exponent is out of the range in which these lanes are exact. below: LOWEST minus the Emax of a lane's
 * products. most: the largest Emax of a lane, as an exponent field. c_below: the field of LOWEST minus c. */
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
    enum { PLAIN, LATE, SCALED } kind;
    int span;   /* products of an unrolled loop: L, or 16 where L is a multiple of 16 */
    int narrow; /* the results are binary16 */
    enum {
        FITS_FLOAT, /* |sum of the aligned terms| < 2^24 */
        FITS_INT,   /* |sum| < 2^31 */
        FITS_TWO    /* the first 16 products, and all other terms, are two sums below 2^31 */
    } size;
    enum {
        NEAR,    /* Emax <= F in all steps */
        FAR,     /* Emax <= HIGHEST in all steps */
        WATCHED, /* exponents can be out of range, or a binary32 result keeps fewer bits than an integer sum has */
        CARES
    } care;
} way;

/* The bias of the exponent of 2^(F - Emax): without bias the exponent is added to products. */
ULP_INLINE int bias_of(way w) { return w.care == NEAR ? 0 : 127; }

/* 2^(F - Emax) as words, from the exponent field of Emax. */
ULP_INLINE vint scale_to(const plan *p, vint top, way w) {
    return (vint)(((uint32_t)(127 + bias_of(w) + p->fraction) << 23) - (vuint)top);
}

/* 2^(Emax - F) as words. */
ULP_INLINE vint inverse(vint power, way w) { return ((127 + bias_of(w)) << 23) - power; }

/* The integer part of x 2^(F - Emax). A zero times 2^(F - Emax) may be a number below 1: F - Emax < 127. */
ULP_INLINE vint align(vfloat x, vint power, way w) {
    const vfloat y = w.care == NEAR ? float_of(int_of(x) + power) : x * float_of(power);
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
    return max32(u & 0x7f800000, int_of(c) & 0x7f800000);
#endif
}

/* sum += products begin .. end - 1, aligned. nearest: takes the distances of as many products, `ahead` products later:
 * alone, the minima would wait for each other. */
ULP_INLINE void add_products(vint sum[ROWS][HALVES], vint power[ROWS][HALVES], vbytes nearest[PAIRS], const operands *o,
                             int begin, int end, int ahead, way w) {
    for (int k = begin; k < end; k++) {
        const vfloat *b = (const vfloat *)(const void *)(o->b + k * WIDTH);
        UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) sum[r][h] +=
            align(o->a[k * ROWS + r] * b[h], power[r][h], w);
        take_distances(nearest, o->a_distance, o->b_distance, k + ahead);
    }
}

/* x 2^(Emax - F) rounded to nearest even in binary16. like: a number with the exponent of x, which may be ready
 * earlier. The addition of 3 2^(e+12) leaves 11 bits of a number of exponent e. */
ULP_INLINE vfloat to_half(vfloat x, vfloat like, vint power, way w) {
    const int three = (13 << 23) | 0x400000;               /* from e to 3 2^(e+12) */
    const vuint field = (vuint)int_of(like) & 0x7f800000u; /* that of an infinity wraps around */
    const vint e = (vint)(field - (vuint)(power - ((bias_of(w) << 23) + three)));
    const vfloat anchor = float_of(max32(e, (vint){0} + ((113 << 23) + three)));
    const vfloat y = float_fused(x, float_of(inverse(power, w)), anchor) - anchor;
    return w.care == WATCHED ? y * 0x1p112f * 0x1p-112f : y; /* 2^16 and beyond become infinite */
}

/* x 2^(Emax - F), where x is 0 or |x| >= 1. Where Emax <= F, a subtraction from the exponent forms it; the subtraction
 * with saturation in the upper half of a word leaves 0 as it is. */
ULP_INLINE vfloat unscale(vfloat x, vint power, way w) {
#if defined(__AVX512BW__)
    if (w.care == NEAR) return (vfloat)_mm512_subs_epu16((__m512i)x, (__m512i)power);
#elif defined(__AVX2__)
    if (w.care == NEAR) return (vfloat)_mm256_subs_epu16((__m256i)x, (__m256i)power);
#elif defined(__SSE2__)
    if (w.care == NEAR) return (vfloat)_mm_subs_epu16((__m128i)x, (__m128i)power);
#endif
    return x * float_of(inverse(power, w));
}

/* The rounded sum, times 2^(Emax - F). */
ULP_INLINE vfloat round_sum(vint first, vint second, vint power, const plan *p, way w) {
    vint sum = first;
    if (w.size == FITS_FLOAT) {
        const vfloat total = __builtin_convertvector(sum, vfloat);
        if (w.narrow) return to_half(total, total, power, w);
        return unscale(float_of(int_of(total) & p->keep), power, w);
    }
    if (w.size == FITS_TWO) {
        sum = (vint)((vuint)first + (vuint)second);
        const vint over = ((sum ^ first) & (sum ^ second)) >> 31; /* -1: the sum needs 33 bits */
        const vint half = ((sum >> 1) ^ INT32_MIN) | (sum & 1);   /* with the lost bit: the same after rounding */
        sum = (half & over) | (sum & ~over);
        power -= over & (1 << 23);
    }
    if (w.narrow) return to_half(with_lost_bits(sum), toward_zero(sum), power, w);
    const vfloat total = toward_zero(sum);
    return unscale(w.care == WATCHED ? float_of(int_of(total) & p->keep) : total, power, w);
}

/* What out_of_range needs. */
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
    seen->below = max16(seen->below, (LOWEST + 127 - e) & (e > ABSENT / 2));
    e = max16(e, (vint16){0} + (int16_t)(p->floor + 127));
    return (e - max16(e - (HIGHEST + 128), (vint16){0})) << 7; /* at most HIGHEST + 1 */
}

/* Adds to `seen` what out_of_range needs of c, and of t, the exponent field of Emax. */
ULP_INLINE void look_at(watch *seen, vfloat c, vint t) {
    const vint size = int_of(c) & 0x7fffffff;
    seen->c_below = max32(seen->c_below, (((127 + LOWEST) << 23) - size) & (size > 0));
    seen->most = max32(seen->most, t);
}

/* One fused sum of the products of a step for ROWS x WIDTH outputs, in place. nearest: the smallest distances of the
 * products, and then of the products of the next step, if `more`. Returns 0 where the outputs need the scalar
 * definition; then c is unchanged. */
ULP_INLINE int fuse(vfloat c[ROWS][HALVES], vbytes nearest[PAIRS], const operands *o, const plan *p, way w, int more) {
    vint power[ROWS][HALVES], factor[ROWS][HALVES];
    watch seen = {{0}, {0}, {0}};
    UNROLLED for (int r = 0; r < ROWS; r++) {
        const vbytes field = (uint8_t)o->top - nearest[r / 2];
        vint16 shift = {0}, e = {0};
        if (!is_bounded(w)) e = largest_exponents(nearest, r, &shift, &seen, o, p, w);
        UNROLLED for (int h = 0; h < HALVES; h++) {
            vint t = is_bounded(w) ? larger_field(field_of(field, r, h), c[r][h])
                                   : max32(half_of(e, h), int_of(c[r][h]) & 0x7f800000);
            if (w.narrow) t = at_least(t, (p->emin + 127) << 23, c[r][h]);
            if (!is_bounded(w)) look_at(&seen, c[r][h], t);
            power[r][h] = factor[r][h] = scale_to(p, t, w);
            if (w.kind == SCALED) {
                const vint x = (power[r][h] >> 23) + (half_of(shift, h) >> 16);
                factor[r][h] = max32(x - max32(x - 254, (vint){0}), (vint){0} + 1) << 23;
            }
        }
    }
    if (!is_bounded(w) && out_of_range(seen.below, seen.most, seen.c_below) != 0) return 0;

    const int ahead = more ? length_of(p, w) : 0;
    UNROLLED for (int q = 0; q < PAIRS; q++) nearest[q] = start_of(o, p, w);
    /* the first 16 products are a sum of their own where the terms need two */
    vint first[ROWS][HALVES], second[ROWS][HALVES];
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) first[r][h] =
        w.size == FITS_TWO ? (vint){0} : align(c[r][h], power[r][h], w);
    add_products(first, factor, nearest, o, 0, w.size == FITS_TWO ? 16 : length_of(p, w), ahead, w);
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) second[r][h] =
        w.size == FITS_TWO ? align(c[r][h], power[r][h], w) : (vint){0};
    if (w.size == FITS_TWO) add_products(second, factor, nearest, o, 16, p->length, ahead, w);
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) c[r][h] =
        round_sum(first[r][h], second[r][h], power[r][h], p, w);
    return 1;
}

/* fp8 on fp16 units: two sums start at zero, and c is added last. binary32 is wide enough for sums of binary16: 24 >= 2
 * 11 + 2 bits (Figueroa 1995, doi:10.1145/221332.221334). */
ULP_INLINE int fuse_late(vfloat c[ROWS][HALVES], vbytes nearest[PAIRS], const operands *o, const plan *p, way w,
                         int more) {
    vfloat partial[ROWS][HALVES];
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) partial[r][h] = (vfloat){0};
    operands second = *o;
    second.a += p->length * ROWS, second.a_distance += p->length * ROWS;
    second.b += p->length * WIDTH, second.b_distance += p->length * 2 * WIDTH;
    if (!fuse(partial, nearest, o, p, w, 1) || !fuse(partial, nearest, &second, p, w, more)) return 0;
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) {
        const vfloat sum = c[r][h] + partial[r][h];
        c[r][h] = w.narrow ? to_half(sum, sum, (vint){0} + (bias_of(w) << 23), w) : sum;
    }
    return 1;
}

/* Runs up to o.count steps in order. Stops before a step that holds special values or is out of range. Returns the
 * number of steps that are done. */
ULP_INLINE size_t run_steps(vfloat c[ROWS][HALVES], operands o, const plan *row_plan, way w) {
    const plan p = *row_plan;
    const int step = w.kind == LATE ? 2 * p.length : length_of(&p, w);
    if (is_bounded(w) && o.top < p.floor + 127) o.top = p.floor + 127;
    vfloat sums[ROWS][HALVES];
    vbytes nearest[PAIRS];
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) sums[r][h] = c[r][h];
    UNROLLED for (int q = 0; q < PAIRS; q++) nearest[q] = start_of(&o, &p, w);
    for (int k = 0; k < p.length; k++) take_distances(nearest, o.a_distance, o.b_distance, k);
    size_t at = 0;
    for (; at < o.count; at++) {
        const int more = at + 1 < o.count;
        if (w.care == WATCHED && (o.a_special[at] | o.b_special[at])) break;
        if (!(w.kind == LATE ? fuse_late(sums, nearest, &o, &p, w, more) : fuse(sums, nearest, &o, &p, w, more))) break;
        o.a += step * ROWS, o.a_distance += step * ROWS, o.a_scale += ROWS;
        o.b += step * WIDTH, o.b_distance += step * 2 * WIDTH, o.b_scale += WIDTH;
    }
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) c[r][h] = sums[r][h];
    return at;
}

typedef size_t (*run_function)(vfloat c[ROWS][HALVES], operands o, const plan *p);

/* Every way: X(name, kind, span, narrow, size). */
#define RUNS(X)                                                                                                        \
    X(plain4, PLAIN, 4, 0, FITS_INT)                                                                                   \
    X(plain8, PLAIN, 8, 0, FITS_INT)                                                                                   \
    X(plain16_short, PLAIN, 16, 0, FITS_FLOAT)                                                                         \
    X(plain16, PLAIN, 16, 0, FITS_TWO)                                                                                 \
    X(narrow4, PLAIN, 4, 1, FITS_INT)                                                                                  \
    X(narrow8, PLAIN, 8, 1, FITS_INT)                                                                                  \
    X(narrow16_short, PLAIN, 16, 1, FITS_FLOAT)                                                                        \
    X(narrow16, PLAIN, 16, 1, FITS_TWO)                                                                                \
    X(late16, LATE, 16, 0, FITS_INT)                                                                                   \
    X(late_narrow16, LATE, 16, 1, FITS_INT)                                                                            \
    X(scaled16, SCALED, 16, 0, FITS_TWO)

#define RUN_WITH(name, ...)                                                                                            \
    static size_t name(vfloat c[ROWS][HALVES], operands o, const plan *p) {                                            \
        return run_steps(c, o, p, (way){__VA_ARGS__});                                                                 \
    }
#define RUN(name, kind, span, narrow, size)                                                                            \
    RUN_WITH(name##_near, kind, span, narrow, size, NEAR)                                                              \
    RUN_WITH(name##_far, kind, span, narrow, size, FAR)                                                                \
    RUN_WITH(name##_watched, kind, span, narrow, size, WATCHED)
RUNS(RUN)

#endif
