/* aligned.h - fused sums of a Tensor Core row for a block of outputs at once, in vectors of binary32.
 *
 * The vectors compute the integer definition of kernels/products/fused.h. The inputs have at most 11 significant bits,
 * so that a product is exact in binary32, and its multiple by the power of two 2^(F - Emax) is exact as well. Where
 * Emax <= F, an addition to the exponent forms the multiple. Conversion to integer truncates toward zero: this is the
 * alignment. The terms add up in one or two int32_t.
 * Exponents are 16-bit integers in separate arrays: Emax needs one addition and one maximum for each product. A watched
 * function returns 0 where an exponent is too near the ends of the range of binary32; the others need operands and
 * sums whose range is known.
 */
#ifndef ULP_ALIGNED_H
#define ULP_ALIGNED_H

#include "gemm.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { BYTES = ULP_VECTOR_BYTES, ROWS = 4 };

/* A vector has LANES floats. A panel has two vectors: a vector of 16-bit exponents holds as many columns. Its 32-bit
 * words hold the exponents of vector 0 in their lower halves (h = 0) and those of vector 1 in their upper halves. */
enum { LANES = BYTES / 4, HALVES = 2, WIDTH = HALVES * LANES };

typedef float vfloat __attribute__((vector_size(BYTES)));
typedef int32_t vint __attribute__((vector_size(BYTES)));
typedef uint32_t vuint __attribute__((vector_size(BYTES)));
typedef int16_t vshort __attribute__((vector_size(BYTES)));

enum {
    SKIPPED = -16384, /* the exponent of zero: below every other exponent; the sum of two fits an int16_t */
    ABSENT = -20000,  /* below every product with one zero, also after adding a scale */
    LOWEST = -100,    /* scales, terms and results are normal binary32 numbers for Emax from LOWEST to HIGHEST */
    HIGHEST = 119
};

/* The larger of two numbers. */
ULP_INLINE vshort max16(vshort a, vshort b) {
#if defined(__AVX512BW__)
    return (vshort)_mm512_max_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vshort)_mm256_max_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (vshort)_mm_max_epi16((__m128i)a, (__m128i)b);
#else
    const vshort yes = (vshort)(a > b);
    return (a & yes) | (b & ~yes);
#endif
}

ULP_INLINE vint max32(vint a, vint b) {
#if defined(__AVX512F__)
    return (vint)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vint)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    const vint yes = (vint)(a > b);
    return (a & yes) | (b & ~yes);
#endif
}

ULP_INLINE vint bits_of(vfloat x) { return (vint)x; }
ULP_INLINE vfloat float_of(vint u) { return (vfloat)u; }

/* The constants of a row for the vectors. */
typedef struct plan {
    int32_t length, fraction, floor;
    int32_t keep; /* mask of the kept bits of a binary32 result */
    int32_t emin; /* emin of the accumulator */
} plan;

/* The arrays of the operands of `count` steps. */
typedef struct operands {
    const float *a, *b;
    const int16_t *a_exponent, *b_exponent, *a_scale, *b_scale;
    const uint8_t *a_special, *b_special; /* (count) */
    size_t count;
} operands;

/* v rounded toward zero to 24 bits; |v| < 2^31. */
ULP_INLINE vfloat toward_zero(vint v) {
#if defined(__AVX512F__)
    return (vfloat)_mm512_cvt_roundepi32_ps((__m512i)v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    /* Where |v| >= 2^24, |v| >> 24 has its first one at the first bit of |v| that binary32 loses. Without this bit the
     * conversion to nearest rounds down. */
    const vint sign = v >> 31, size = (v ^ sign) - sign;
    const vfloat x = __builtin_convertvector(size & ~(size >> 24), vfloat);
    return float_of(bits_of(x) | (sign & INT32_MIN));
#endif
}

/* The larger of t and `least` where c is not zero, else t. */
ULP_INLINE vint at_least(vint t, int32_t least, vfloat c) {
#if defined(__AVX512F__)
    const __mmask16 counts = _mm512_test_epi32_mask((__m512i)c, _mm512_set1_epi32(0x7f800000));
    return (vint)_mm512_mask_max_epi32((__m512i)t, counts, (__m512i)t, _mm512_set1_epi32(least));
#else
    return max32(t, (vint)((bits_of(c) & 0x7f800000) != 0) & least);
#endif
}

/* v rounded to odd; |v| < 2^31. */
ULP_INLINE vfloat to_odd(vint v) {
    const vfloat x = toward_zero(v);
    const vint back = __builtin_convertvector(x, vint);
#if defined(__AVX512F__)
    const __mmask16 inexact = _mm512_cmpneq_epi32_mask((__m512i)back, (__m512i)v);
    return (vfloat)_mm512_mask_or_epi32((__m512i)x, inexact, (__m512i)x, _mm512_set1_epi32(1));
#else
    return float_of(bits_of(x) | ((vint)(back == v) + 1));
#endif
}

/* a b + c, where a b is exact. */
ULP_INLINE vfloat multiply_add(vfloat a, vfloat b, vfloat c) {
#if defined(__AVX512F__)
    return (vfloat)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__)
    return (vfloat)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

/* Not 0 if an exponent is out of the range in which these lanes are exact. below: LOWEST minus the Emax of a lane's
 * products. most: the largest Emax of a lane, as an exponent field. c_below: the field of LOWEST minus c. */
ULP_INLINE uint64_t out_of_range(vshort below, vint most, vint c_below) {
    const vint wide = (most >= ((128 + HIGHEST) << 23)) | (c_below > 0);
    union {
        vint whole;
        uint64_t word[BYTES / 8];
    } any = {wide | (vint)(below > 0)};
    uint64_t all = 0;
    for (int i = 0; i < BYTES / 8; i++) all |= any.word[i];
    return all;
}

/* One half of each 32-bit word, times 2^16, as a 32-bit integer. Half 0 is the lower half. */
ULP_INLINE vint half_of(vshort x, int h) { return (vint)(h == 0 ? (vuint)x << 16 : (vuint)x & 0xffff0000u); }

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
    const vfloat y = w.care == NEAR ? float_of(bits_of(x) + power) : x * float_of(power);
    return __builtin_convertvector(y, vint);
}

/* Whether largest_exponents starts at the floor of Emax. */
ULP_INLINE int is_bounded(way w) { return w.care != WATCHED && w.kind != SCALED; }

/* The largest exponents of p->length products, biased by 127. */
ULP_INLINE void largest_exponents(vshort emax[ROWS], const int16_t *a, const int16_t *b, const plan *p, way w) {
    const int least = is_bounded(w) ? p->floor + 127 : ABSENT;
    for (int r = 0; r < ROWS; r++) emax[r] = (vshort){0} + (int16_t)least;
    for (int k = 0; k < p->length; k += 2)
        UNROLLED for (int i = k; i < k + 2; i++) UNROLLED for (int r = 0; r < ROWS; r++) emax[r] =
            max16(emax[r], *(const vshort *)(const void *)(b + i * WIDTH) + a[i * ROWS + r]);
}

/* sum += products begin .. end - 1, aligned. */
ULP_INLINE void add_products(vint sum[ROWS][HALVES], vint power[ROWS][HALVES], const operands *o, int begin, int end,
                             way w) {
    for (int k = begin; k < end; k++) {
        const vfloat *b = (const vfloat *)(const void *)(o->b + k * WIDTH);
        UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) sum[r][h] +=
            align(o->a[k * ROWS + r] * b[h], power[r][h], w);
    }
}

/* x 2^(Emax - F) rounded to nearest even in binary16, where x is rounded to odd. like: a number with the exponent
 * of x, which may be ready earlier. The addition of 3 2^(e+12) leaves 11 bits of a number of exponent e. */
ULP_INLINE vfloat to_half(vfloat x, vfloat like, vint power, way w) {
    const int three = (13 << 23) | 0x400000;                /* from e to 3 2^(e+12) */
    const vuint field = (vuint)bits_of(like) & 0x7f800000u; /* that of an infinity wraps around */
    const vint e = (vint)(field - (vuint)(power - ((bias_of(w) << 23) + three)));
    const vfloat anchor = float_of(max32(e, (vint){0} + ((113 << 23) + three)));
    const vfloat y = multiply_add(x, float_of(inverse(power, w)), anchor) - anchor;
    return w.care == WATCHED ? y * 0x1p112f * 0x1p-112f : y; /* 2^16 and beyond become infinite */
}

/* The rounded sum, times 2^(Emax - F). */
ULP_INLINE vfloat round_sum(vint first, vint second, vint power, const plan *p, way w) {
    vint sum = first;
    if (w.size == FITS_FLOAT) {
        const vfloat total = __builtin_convertvector(sum, vfloat);
        if (w.narrow) return to_half(total, total, power, w);
        return float_of(bits_of(total) & p->keep) * float_of(inverse(power, w));
    }
    if (w.size == FITS_TWO) {
        sum = (vint)((vuint)first + (vuint)second);
        const vint over = ((sum ^ first) & (sum ^ second)) >> 31; /* -1: the sum needs 33 bits */
        const vint half = ((sum >> 1) ^ INT32_MIN) | (sum & 1);   /* with the lost bit: the same after rounding */
        sum = (half & over) | (sum & ~over);
        power -= over & (1 << 23);
    }
    if (w.narrow) return to_half(to_odd(sum), toward_zero(sum), power, w);
    const vfloat total = toward_zero(sum);
    return (w.care == WATCHED ? float_of(bits_of(total) & p->keep) : total) * float_of(inverse(power, w));
}

/* One fused sum of p->length products for ROWS x WIDTH outputs, in place. emax: the largest exponents of the products,
 * and then of the products of the next step, if `more`. Returns 0 where the outputs need the scalar definition; then c
 * is unchanged. */
ULP_INLINE int fuse(vfloat c[ROWS][HALVES], vshort emax[ROWS], const operands *o, const plan *p, way w, int more) {
    vshort below = {0};
    vint power[ROWS][HALVES], factor[ROWS][HALVES], most = {0}, c_below = {0};
    const int watched = w.care == WATCHED;
    UNROLLED for (int r = 0; r < ROWS; r++) {
        vshort shift = {0}, e = emax[r];
        if (w.kind == SCALED) {
            shift = *(const vshort *)(const void *)o->b_scale + o->a_scale[r];
            e += shift;
        }
        if (watched) below = max16(below, (LOWEST + 127 - e) & (e > SKIPPED / 2));
        if (!is_bounded(w)) e = max16(e, (vshort){0} + (int16_t)(p->floor + 127));
        if (watched) e = e - max16(e - (HIGHEST + 128), (vshort){0}); /* at most HIGHEST + 1, biased */
        e <<= 7;
        UNROLLED for (int h = 0; h < HALVES; h++) {
            const vint field = bits_of(c[r][h]) & 0x7f800000;
            vint t = max32(half_of(e, h), field);
            if (w.narrow) t = at_least(t, (p->emin + 127) << 23, c[r][h]);
            if (watched) {
                const vint u = bits_of(c[r][h]) & 0x7fffffff;
                c_below = max32(c_below, (((127 + LOWEST) << 23) - u) & (u > 0));
                most = max32(most, t);
            }
            power[r][h] = factor[r][h] = scale_to(p, t, w);
            if (w.kind == SCALED) {
                const vint x = (power[r][h] >> 23) + (half_of(shift, h) >> 16);
                factor[r][h] = max32(x - max32(x - 254, (vint){0}), (vint){0} + 1) << 23;
            }
        }
    }
    if (watched && out_of_range(below, most, c_below) != 0) return 0;

    /* the first 16 products are a sum of their own where the terms need two */
    vint first[ROWS][HALVES], second[ROWS][HALVES];
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) first[r][h] =
        w.size == FITS_TWO ? (vint){0} : align(c[r][h], power[r][h], w);
    add_products(first, factor, o, 0, w.size == FITS_TWO ? 16 : p->length, w);
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) second[r][h] =
        w.size == FITS_TWO ? align(c[r][h], power[r][h], w) : (vint){0};
    if (w.size == FITS_TWO) add_products(second, factor, o, 16, p->length, w);
    const int ahead = more ? p->length : 0;
    largest_exponents(emax, o->a_exponent + ahead * ROWS, o->b_exponent + ahead * WIDTH, p, w);
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) c[r][h] =
        round_sum(first[r][h], second[r][h], power[r][h], p, w);
    return 1;
}

/* fp8 on fp16 units: two sums start at zero, and c is added last. binary32 is wide enough for sums of binary16: 24 >= 2
 * 11 + 2 bits (Figueroa 1995, doi:10.1145/221332.221334). */
ULP_INLINE int fuse_late(vfloat c[ROWS][HALVES], vshort emax[ROWS], const operands *o, const plan *p, way w, int more) {
    vfloat partial[ROWS][HALVES];
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) partial[r][h] = (vfloat){0};
    operands second = *o;
    second.a += p->length * ROWS, second.a_exponent += p->length * ROWS;
    second.b += p->length * WIDTH, second.b_exponent += p->length * WIDTH;
    if (!fuse(partial, emax, o, p, w, 1) || !fuse(partial, emax, &second, p, w, more)) return 0;
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
    const int step = w.kind == LATE ? 2 * p.length : p.length;
    vfloat sums[ROWS][HALVES];
    vshort emax[ROWS];
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) sums[r][h] = c[r][h];
    largest_exponents(emax, o.a_exponent, o.b_exponent, &p, w);
    size_t at = 0;
    for (; at < o.count; at++) {
        const int more = at + 1 < o.count;
        if (w.care == WATCHED && (o.a_special[at] | o.b_special[at])) break;
        if (!(w.kind == LATE ? fuse_late(sums, emax, &o, &p, w, more) : fuse(sums, emax, &o, &p, w, more))) break;
        o.a += step * ROWS, o.a_exponent += step * ROWS, o.a_scale += ROWS;
        o.b += step * WIDTH, o.b_exponent += step * WIDTH, o.b_scale += WIDTH;
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
