/* aligned.h - fused sums of a Tensor Core row for a block of outputs at once, in vectors of binary32.
 *
 * The vectors compute the integer definition of kernels/products/fused.h. The inputs have at most 11 significant bits,
 * so that a product is exact in binary32, and its multiple by the power of two 2^(F - Emax) is exact as well.
 * Conversion to integer truncates toward zero: this is the alignment. Sums of up to 2^(29-F) terms fit an int32_t.
 * Exponents are 16-bit integers in separate arrays: Emax needs one addition and one maximum for each product. fuse()
 * returns 0 where an exponent is too near the ends of the range of binary32.
 */
#ifndef ULP_ALIGNED_H
#define ULP_ALIGNED_H

#include "gemm.h"

enum { BYTES = ULP_VECTOR_BYTES, ROWS = BYTES / 16 };

/* A vector has LANES floats. A panel has two vectors: a vector of 16-bit exponents holds as many columns. Vector
 * h holds the columns 2 i + h, so that its exponents are the lower (h = 0) or upper halves of 32-bit words. */
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

/* The maximum of vectors, in a form that the compiler turns into one or two instructions. */
#if defined(__clang__) || (defined(__AVX2__) && !defined(__AVX512BW__))
#define VECTOR_MAX(name, type, elements)                                                                               \
    ULP_INLINE type name(type a, type b) {                                                                             \
        type yes = (type)(a > b);                                                                                      \
        return (a & yes) | (b & ~yes);                                                                                 \
    }
#else
#define VECTOR_MAX(name, type, elements)                                                                               \
    ULP_INLINE type name(type a, type b) {                                                                             \
        for (int i = 0; i < (elements); i++) a[i] = a[i] > b[i] ? a[i] : b[i];                                         \
        return a;                                                                                                      \
    }
#endif
VECTOR_MAX(max16, vshort, WIDTH)
VECTOR_MAX(max32, vint, LANES)

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

/* hi 1024 + lo rounded toward zero to 24 bits. *inexact: -1 where bits were lost. |hi| < 2^24, 0 <= lo < 2^12. */
ULP_INLINE vfloat truncate(vint hi, vint lo, vint *inexact) {
    const vfloat x = __builtin_convertvector(hi, vfloat) * 1024.0f, y = __builtin_convertvector(lo, vfloat);
    const vfloat sum = x + y, error = y - (sum - x); /* exact: |x| >= |y|, or both are small */
    *inexact = (vint)(error != 0.0f);
    const vint back = ((bits_of(error) ^ bits_of(sum)) >> 31) & *inexact; /* one unit where |sum| is too large */
    return float_of((vint)((vuint)sum + (vuint)back));
}

/* A binary32 value that is rounded to odd, rounded to nearest even in binary16. The addition of 3 2^(e+12) leaves 11
 * bits. */
ULP_INLINE vfloat to_half(vfloat x) {
    const vint e = max32(bits_of(x) & 0x7f800000, (vint){0} + (113 << 23));
    const vfloat anchor = float_of((vint)((vuint)e + ((13u << 23) | 0x400000u)));
    const vfloat y = (x + anchor) - anchor;
    return y * 0x1p112f * 0x1p-112f; /* 2^16 and beyond become infinite */
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

/* 2^(F - Emax) as words, from the exponent field of Emax. */
ULP_INLINE vint scale_to(const plan *p, vint top) { return (vint)(((uint32_t)(254 + p->fraction) << 23) - (vuint)top); }

/* One fused sum of p->length products for ROWS x WIDTH outputs, in place. Returns 0 where the outputs need the scalar
 * definition; then c is unchanged. */
ULP_INLINE int fuse(vfloat c[ROWS][HALVES], const operands *o, const plan *p, int span, int narrow, int scaled) {
    vshort emax[ROWS];
    for (int r = 0; r < ROWS; r++) emax[r] = (vshort){0} + (int16_t)ABSENT;
    for (int k0 = 0; k0 < p->length; k0 += span)
        UNROLLED for (int k = k0; k < k0 + span; k++) for (int r = 0; r < ROWS; r++) emax[r] =
            max16(emax[r], *(const vshort *)(const void *)(o->b_exponent + k * WIDTH) + o->a_exponent[k * ROWS + r]);
    vint factor[ROWS][HALVES], top[ROWS][HALVES], most = {0}, c_below = {0};
    vshort below = {0};
    UNROLLED for (int r = 0; r < ROWS; r++) {
        vshort shift = {0}, e = emax[r];
        if (scaled) {
            shift = *(const vshort *)(const void *)o->b_scale + o->a_scale[r];
            e += shift;
        }
        below = max16(below, (LOWEST - e) & (e > SKIPPED / 2));
        e = max16(e, (vshort){0} + (int16_t)p->floor);
        e = (e - max16(e - (HIGHEST + 1), (vshort){0}) + 127) << 7; /* at most HIGHEST + 1 */
        UNROLLED for (int h = 0; h < HALVES; h++) {
            const vint u = bits_of(c[r][h]) & 0x7fffffff, field = u & 0x7f800000;
            c_below = max32(c_below, (((127 + LOWEST) << 23) - u) & (u > 0));
            vint t = max32(half_of(e, h), field);
            if (narrow) t = max32(t, (u != 0) & ((p->emin + 127) << 23));
            most = max32(most, t);
            top[r][h] = t;
            factor[r][h] = scale_to(p, t);
            if (scaled) {
                const vint x = (factor[r][h] >> 23) + (half_of(shift, h) >> 16);
                factor[r][h] = max32(x - max32(x - 254, (vint){0}), (vint){0} + 1) << 23;
            }
        }
    }
    if (out_of_range(below, most, c_below) != 0) return 0;

    vint hi[ROWS][HALVES], lo[ROWS][HALVES], sum[ROWS][HALVES];
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) {
        sum[r][h] = __builtin_convertvector(c[r][h] * float_of(scale_to(p, top[r][h])), vint);
        hi[r][h] = sum[r][h] >> 10;
        lo[r][h] = sum[r][h] & 1023;
    }
    for (int k0 = 0; k0 < p->length; k0 += span) {
        for (int r = 0; r < ROWS; r++)
            for (int h = 0; h < HALVES && span == 16; h++) sum[r][h] = (vint){0}; /* 8 products and c fit one integer */
        UNROLLED for (int k = k0; k < k0 + span; k++) {
            const vfloat *b = (const vfloat *)(const void *)(o->b + k * WIDTH);
            for (int r = 0; r < ROWS; r++)
                for (int h = 0; h < HALVES; h++)
                    sum[r][h] += __builtin_convertvector(o->a[k * ROWS + r] * b[h] * float_of(factor[r][h]), vint);
        }
        for (int r = 0; r < ROWS; r++)
            for (int h = 0; h < HALVES; h++) {
                hi[r][h] = (span == 16 ? hi[r][h] : (vint){0}) + (sum[r][h] >> 10);
                lo[r][h] = (span == 16 ? lo[r][h] : (vint){0}) + (sum[r][h] & 1023);
            }
    }
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) {
        vint inexact;
        const vfloat total = truncate(hi[r][h], lo[r][h], &inexact);
        const vfloat unit = float_of(top[r][h] - (p->fraction << 23));
        if (narrow) c[r][h] = to_half(float_of(bits_of(total) | (inexact & 1)) * unit);
        else c[r][h] = float_of(bits_of(total) & p->keep) * unit;
    }
    return 1;
}

/* fp8 on fp16 units: two sums start at zero, and c is added last. binary32 is wide enough for sums of binary16: 24 >= 2
 * 11 + 2 bits (Figueroa 1995, doi:10.1145/221332.221334). */
ULP_INLINE int fuse_late(vfloat c[ROWS][HALVES], const operands *o, const plan *p, int span, int narrow) {
    vfloat partial[ROWS][HALVES];
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HALVES; h++) partial[r][h] = (vfloat){0};
    operands second = *o;
    second.a += p->length * ROWS, second.a_exponent += p->length * ROWS;
    second.b += p->length * WIDTH, second.b_exponent += p->length * WIDTH;
    if (!fuse(partial, o, p, span, narrow, 0) || !fuse(partial, &second, p, span, narrow, 0)) return 0;
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HALVES; h++) {
            const vfloat sum = c[r][h] + partial[r][h];
            c[r][h] = narrow ? to_half(sum) : sum;
        }
    return 1;
}

enum { PLAIN, LATE, SCALED };

/* Runs up to o.count steps in order. Stops before a step that holds special values or is out of range. Returns the
 * number of steps that are done. */
ULP_INLINE size_t run_steps(vfloat c[ROWS][HALVES], operands o, const plan *row_plan, int kind, int span, int narrow) {
    const plan p = *row_plan;
    const int step = kind == LATE ? 2 * p.length : p.length;
    vfloat sums[ROWS][HALVES];
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HALVES; h++) sums[r][h] = c[r][h];
    size_t at = 0;
    for (; at < o.count; at++) {
        if (o.a_special[at] | o.b_special[at]) break;
        if (!(kind == LATE ? fuse_late(sums, &o, &p, span, narrow) : fuse(sums, &o, &p, span, narrow, kind == SCALED)))
            break;
        o.a += step * ROWS, o.a_exponent += step * ROWS, o.a_scale += ROWS;
        o.b += step * WIDTH, o.b_exponent += step * WIDTH, o.b_scale += WIDTH;
    }
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HALVES; h++) c[r][h] = sums[r][h];
    return at;
}

typedef size_t (*run_function)(vfloat c[ROWS][HALVES], operands o, const plan *p);

/* One function for each kind, width of the unrolled sum and width of the result: X(name, kind, span, narrow). */
#define RUNS(X)                                                                                                        \
    X(plain4, PLAIN, 4, 0)                                                                                             \
    X(plain8, PLAIN, 8, 0)                                                                                             \
    X(plain16, PLAIN, 16, 0)                                                                                           \
    X(narrow4, PLAIN, 4, 1)                                                                                            \
    X(narrow8, PLAIN, 8, 1)                                                                                            \
    X(narrow16, PLAIN, 16, 1)                                                                                          \
    X(late16, LATE, 16, 0)                                                                                             \
    X(late_narrow16, LATE, 16, 1)                                                                                      \
    X(scaled16, SCALED, 16, 0)

#define RUN(name, kind, span, narrow)                                                                                  \
    static size_t name(vfloat c[ROWS][HALVES], operands o, const plan *p) {                                            \
        return run_steps(c, o, p, kind, span, narrow);                                                                 \
    }
RUNS(RUN)

#endif
