/* aligned_one_sided.h - one-sided sums of AMD CDNA3 for a block of outputs: the integer definition of
 * kernels/products/one_sided.h in vectors.
 *
 * A sum of products is an integer s in units of 2^(e - F), where e is the largest exponent of the products. It meets c
 * at the exponent m, the larger of e and the exponent of c. The integer `high` counts units of 2^(m - F); the GUARD
 * bits below them come from s alone, as c is rounded down to these units. One addition of binary32 rounds high 2^GUARD
 * and the guard bits once: the upper bits of `high` and all other bits are two exact binary32 numbers.
 *
 * Where m - e > 32, s is less than a quarter of a unit, and c is a power of two or has a last place of two units: the
 * sum rounds to c. The same holds for s 2^-32 instead of s 2^(e - m), which is what the vectors add.
 */
#ifndef ULP_ALIGNED_ONE_SIDED_H
#define ULP_ALIGNED_ONE_SIDED_H

#include "aligned.h"

enum {
    PARTS = 2,       /* the most parts of a step */
    GUARD = 8,       /* bits of the sum below `high`; a row may keep fewer of them */
    MIDDLE = 1 << 6, /* half of the last 7 bits of `high`, |high| < 2^30, which go with the guard bits */
    LOW_BITS = 2 * MIDDLE
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
#elif defined(ULP_ARM)
    const vint floor = (vint)arm_floor_epi32(x);
#else
    const vint cut = __builtin_convertvector(x, vint), floor = cut + (vint)(__builtin_convertvector(cut, vfloat) > x);
#endif
    return least == 0.0f ? floor : floor & (vint)(size >= least);
#endif
}

/* Minus the unit to which a sum in units of the guard bits is rounded down, or -1. x: a number with the exponent of the
 * sum. per_unit: minus the unit for the exponent 0. */
ULP_INLINE vint grain_of(vfloat x, float per_unit) {
    const vfloat grain = float_of(int_of(x) & 0x7f800000) * per_unit;
#if defined(__AVX512F__)
    return (vint)_mm512_cvt_roundps_epi32((__m512)grain, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#else
    return __builtin_convertvector(smaller_floats(grain, -1.0f - (vfloat){0}), vint);
#endif
}

/* The last bits of high 2^GUARD + the first GUARD bits of `part`, a part of 2^32, that are in the mask, rounded down to
 * multiples of -grain; less MIDDLE 2^GUARD. */
ULP_INLINE vfloat rest_of(vuint high, vuint part, vint grain, int32_t mask) {
#if defined(__AVX512BW__)
    /* the bytes of 2^23 + rest: byte 0 of `high` becomes byte 1, and byte 3 of `part` byte 0; a row is 128 bits */
    const __m512i from_high = _mm512_set_epi32(0xc00, 0x800, 0x400, 0, 0xc00, 0x800, 0x400, 0, 0xc00, 0x800, 0x400, 0,
                                               0xc00, 0x800, 0x400, 0),
                  from_part = _mm512_set_epi32(15, 11, 7, 3, 15, 11, 7, 3, 15, 11, 7, 3, 15, 11, 7, 3);
    const __m512i upper = _mm512_mask_shuffle_epi8(_mm512_set1_epi32(0x4b000000), 0x2222222222222222u, (__m512i)high,
                                                   from_high),
                  all = _mm512_mask_shuffle_epi8(upper, 0x1111111111111111u, (__m512i)part, from_part);
    const __m512i kept = _mm512_ternarylogic_epi32(all, _mm512_set1_epi32(mask | 0x4b000000), (__m512i)grain, 0x80);
    return (vfloat)kept - (float)(0x800000 + (MIDDLE << GUARD));
#else
    const vint x = (vint)(high << GUARD | part >> (32 - GUARD)) & mask & grain;
    return __builtin_convertvector(x - (MIDDLE << GUARD), vfloat);
#endif
}
_Static_assert(GUARD == 8, "the guard bits are a byte");

/* x with MIDDLE instead of its last bits. */
ULP_INLINE vint with_middle(vint x) {
#if defined(__AVX512F__)
    return (vint)bits_by(all_uints(LOW_BITS - 1), all_uints(MIDDLE), (vuint)x);
#else
    return (x & -LOW_BITS) | MIDDLE;
#endif
}

/* The sum of the products and c: sum 2^(e - F) + c, cut and rounded. e: the exponent field. least_c: c counts as zero
 * if it is less than this part of a unit. */
ULP_INLINE vfloat join(vint sum, vint e, vfloat c, const plan *p, float least_c) {
    const vint meet = larger_field(e, c);
    const vuint down = (vuint)(meet - e) >> 23, part = shift_up((vuint)sum, less(all_uints(32), down));
    const vfloat unit = float_of(meet - ((p->fraction + GUARD) << 23)),
                 per_unit = float_of((vint)(((uint32_t)(254 + p->fraction) << 23) - (vuint)meet));
    const vint high = shift_down(sum, down) + floor_ints(c * per_unit, least_c);
    /* 24 bits: the conversion is exact. The exponent is that of the sum, also just above -2^n; at -2^n it is less, but
     * nothing is lost there */
    const vfloat top = __builtin_convertvector(with_middle(high), vfloat);
    const vfloat rest = rest_of((vuint)high, part, grain_of(top, p->grain), p->kept_rest);
    return float_fused(top, (float)(1 << GUARD) - (vfloat){0}, rest) * unit;
}

/* The largest exponent field of the parts. */
ULP_INLINE vint largest_field(vint e[PARTS][ROWS][HALVES], int parts, int r, int h) {
    return parts == 1 ? e[0][r][h] : larger_ints(e[0][r][h], e[1][r][h]);
}

/* One one-sided sum of the products of a step for ROWS x WIDTH outputs, in place. nearest, more, and the result: fuse
 * of aligned_fused.h; the distances of each part are apart. */
ULP_INLINE int fuse_one_sided(vfloat c[ROWS][HALVES], vbytes nearest[PARTS][PAIRS], const operands *o, const plan *p,
                              way w, int more) {
    const int parts = parts_of(w), ahead = more ? length_of(p, w) : 0;
    vint e[PARTS][ROWS][HALVES], sum[ROWS][HALVES];
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ != 12
    memset(sum, 0, sizeof sum); /* gcc 11, 13 and 14 do not see that the first part sets every sum */
#endif
    watch seen = {{0}, {0}, {0}};
    for (int q = 0; q < parts; q++) {
        UNROLLED for (int r = 0; r < ROWS; r++) fields_of_row(e[q][r], nearest[q], r, &seen, o, p, w);
        UNROLLED for (int i = 0; i < PAIRS; i++) nearest[q][i] = start_of(o, p, w);
    }
    if (!is_bounded(w)) {
        UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++)
            look_at(&seen, c[r][h], larger_ints(largest_field(e, parts, r, h), int_of(c[r][h]) & 0x7f800000), p);
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
