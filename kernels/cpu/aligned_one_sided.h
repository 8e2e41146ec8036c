/* aligned_one_sided.h - one-sided sums of AMD CDNA3 for a block of outputs: the integer definition of
 * kernels/products/one_sided.h in vectors.
 *
 * A sum of products is an integer s in units of 2^(e - F), where e is the largest exponent of the
 * products. It meets c at the exponent m, the larger of e and the exponent of c. The integer `high` counts units of
 * 2^(m - F); the `guard` bits below them come from s alone, as c is rounded down to these units. One addition of
 * binary32 rounds high 2^guard + low once: the upper bits of `high` and all other bits are two exact binary32 numbers.
 */
#ifndef ULP_ALIGNED_ONE_SIDED_H
#define ULP_ALIGNED_ONE_SIDED_H

#include "aligned.h"

enum {
    PARTS = 2,        /* the most parts of a step */
    MOST_GUARD = 8,   /* guard bits: the unit of the last one is a normal number for every m */
    LOW_BITS = 1 << 7 /* of `high`, |high| < 2^30: the last 7 bits go with the guard bits */
};

ULP_INLINE int parts_of(way w) { return w.kind == ONE_SIDED && w.span == 16 ? 2 : 1; }

/* x rounded down to integers; 0 for |x| < least. least = 0 is a constant. */
ULP_INLINE vint floor_ints(vfloat x, float least) {
    const vfloat size = float_of(int_of(x) & INT32_MAX);
#if defined(__AVX512F__)
    const __m512 y = (__m512)x;
    if (least == 0.0f) return (vint)_mm512_cvt_roundps_epi32(y, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __mmask16 counts = _mm512_cmp_ps_mask((__m512)size, _mm512_set1_ps(least), _CMP_GE_OQ);
    return (vint)_mm512_maskz_cvt_roundps_epi32(counts, y, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#else
#if defined(__AVX2__)
    const vint floor = (vint)_mm256_cvttps_epi32(_mm256_floor_ps((__m256)x));
#else
    const vint cut = __builtin_convertvector(x, vint), floor = cut + (vint)(__builtin_convertvector(cut, vfloat) > x);
#endif
    return least == 0.0f ? floor : floor & (vint)(size >= least);
#endif
}

/* Minus the unit to which a sum in units of the guard bits is rounded down, or -1. x: a number with the exponent of the
 * sum. per_unit: minus the part of 2^exponent that the machine keeps. */
ULP_INLINE vint grain_of(vfloat x, float per_unit) {
    const vfloat grain = float_of(int_of(x) & 0x7f800000) * per_unit;
#if defined(__AVX512F__)
    return (vint)_mm512_cvt_roundps_epi32((__m512)grain, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#else
    return __builtin_convertvector(smaller_floats(grain, -1.0f - (vfloat){0}), vint);
#endif
}

/* (high 2^guard + low modulo 2^guard) modulo 2^guard LOW_BITS, rounded down to multiples of -grain. */
ULP_INLINE vint rest_of(vuint high, vuint low, vint grain, int guard) {
    const uint32_t all = (uint32_t)((LOW_BITS << guard) - 1);
#if defined(__AVX512F__)
    const vuint both = bits_by(all_uints((1u << guard) - 1u), low, high);
    return (vint)_mm512_ternarylogic_epi32((__m512i)both, (__m512i)all_uints(all), (__m512i)grain, 0x80);
#else
    const uint32_t below = (1u << guard) - 1u;
    return (vint)((low & below) | (high & (all - below))) & grain;
#endif
}

/* x with its last bits replaced by those of LOW_BITS / 2. */
ULP_INLINE vint with_middle(vint x) {
#if defined(__AVX512F__)
    return (vint)bits_by(all_uints(LOW_BITS - 1), all_uints(LOW_BITS / 2), (vuint)x);
#else
    return (x & -LOW_BITS) | (LOW_BITS / 2);
#endif
}

/* The sum of the products and c: sum 2^(e - F) + c, cut and rounded. e: the exponent field. least_c: c counts as zero
 * if it is less than this part of a unit. */
ULP_INLINE vfloat join(vint sum, vint e, vfloat c, const plan *p, float least_c) {
    const vint meet = larger_field(e, c);
    const vuint down = (vuint)(meet - e) >> 23, guard = all_uints((uint32_t)p->guard);
    const vfloat unit = float_of(meet - ((p->fraction + p->guard) << 23)),
                 per_unit = float_of(((254 + p->fraction) << 23) - meet);
    const vint high = shift_down(sum, down) + floor_ints(c * per_unit, least_c);
    const vuint low = (vuint)shift_down((vint)shift_up((vuint)sum, less(guard, down)), less(down, guard));
    /* 24 bits: the conversion is exact. The exponent is that of the sum, also just above -2^n; at -2^n it is less, but
     * nothing is lost there */
    const vfloat top = __builtin_convertvector(with_middle(high), vfloat);
    const vint rest = rest_of(shift_up((vuint)high, guard), low, grain_of(top, p->grain), p->guard),
               middle = (vint){0} + (LOW_BITS / 2 << p->guard);
    return float_fused(top, p->per_guard - (vfloat){0}, __builtin_convertvector(rest - middle, vfloat)) * unit;
}

/* The largest exponent field of the parts. */
ULP_INLINE vint largest_field(vint e[PARTS][ROWS][HALVES], int parts, int r, int h) {
    return parts == 1 ? e[0][r][h] : max32(e[0][r][h], e[1][r][h]);
}

/* One one-sided sum of the products of a step for ROWS x WIDTH outputs, in place. nearest, more, and the result: fuse
 * of aligned_fused.h; the distances of each part are apart. */
ULP_INLINE int fuse_one_sided(vfloat c[ROWS][HALVES], vbytes nearest[PARTS][PAIRS], const operands *o, const plan *p,
                              way w, int more) {
    const int parts = parts_of(w), ahead = more ? length_of(p, w) : 0;
    vint e[PARTS][ROWS][HALVES], sum[ROWS][HALVES];
    watch seen = {{0}, {0}, {0}};
    for (int q = 0; q < parts; q++) {
        UNROLLED for (int r = 0; r < ROWS; r++) fields_of_row(e[q][r], nearest[q], r, &seen, o, p, w);
        UNROLLED for (int i = 0; i < PAIRS; i++) nearest[q][i] = start_of(o, p, w);
    }
    if (!is_bounded(w)) {
        UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++)
            look_at(&seen, c[r][h], max32(largest_field(e, parts, r, h), int_of(c[r][h]) & 0x7f800000), p);
        if (out_of_range(seen.below, seen.most, seen.c_below) != 0) return 0;
    }
    for (int q = 0; q < parts; q++) {
        vint part[ROWS][HALVES], power[ROWS][HALVES];
        UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) {
            power[r][h] = scale_to(p, e[q][r][h], w);
            part[r][h] = (vint){0};
        }
        for (int k = q; k < length_of(p, w); k += parts) add_product(part, power, nearest[q], o, k, ahead, w);
        UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) {
            if (parts == 1) {
                sum[r][h] = part[r][h];
            } else { /* rounded down to the larger exponent */
                const vint top = largest_field(e, parts, r, h),
                           here = shift_down(part[r][h], (vuint)(top - e[q][r][h]) >> 23);
                sum[r][h] = q == 0 ? here : sum[r][h] + here;
            }
        }
    }
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) {
        c[r][h] = join(sum[r][h], largest_field(e, parts, r, h), c[r][h], p, parts == 1 ? 0.0f : p->least_c);
    }
    return 1;
}

#endif
