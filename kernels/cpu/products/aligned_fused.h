/* aligned_fused.h - fused sums of Tensor Cores for a block of outputs: the integer definition of
 * kernels/products/fused.h in vectors.
 */
#ifndef ULP_ALIGNED_FUSED_H
#define ULP_ALIGNED_FUSED_H

#include "aligned.h"

/* x 2^(Emax - F) rounded to nearest even in binary16. like: a number with the exponent of x, which may be ready
 * earlier. The addition of 3 2^(e+12) leaves 11 bits of a number of exponent e. */
ULP_INLINE vfloat to_half(vfloat x, vfloat like, vint power, way w) {
    const int three = (13 << 23) | 0x400000;               /* from e to 3 2^(e+12) */
    const vuint field = (vuint)int_of(like) & 0x7f800000u; /* that of an infinity wraps around */
    const vint e = (vint)(field - (vuint)(power - ((bias_of(w) << 23) + three)));
    const vfloat anchor = float_of(larger_ints(e, (vint){0} + ((113 << 23) + three)));
    const vfloat y = float_fused(x, float_of(inverse(power, w)), anchor) - anchor;
    return w.care == WATCHED ? y * 0x1p112f * 0x1p-112f : y; /* 2^16 and beyond become infinite */
}

/* x 2^(Emax - F), where x is 0 or |x| >= 1. Where Emax <= F, a subtraction from the exponent forms it; the subtraction
 * with saturation in the upper half of a word leaves 0 as it is. */
ULP_INLINE vfloat unscale(vfloat x, vint power, way w) {
#if defined(__SSE2__)
    if (w.care == NEAR) return (vfloat)MM(subs_epu16)((MM_INTS)x, (MM_INTS)power);
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
                                   : larger_ints(half_of(e, h), int_of(c[r][h]) & 0x7f800000);
            if (w.narrow) t = at_least(t, (p->emin + 127) << 23, c[r][h]);
            if (!is_bounded(w)) look_at(&seen, c[r][h], t, p);
            power[r][h] = factor[r][h] = scale_to(p, t, w);
            if (w.kind == SCALED) {
                const vint x = (power[r][h] >> 23) + (half_of(shift, h) >> 16);
                factor[r][h] = larger_ints(x - larger_ints(x - 254, (vint){0}), (vint){0} + 1) << 23;
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
    const int middle = w.size == FITS_TWO ? 16 : length_of(p, w);
    for (int k = 0; k < middle; k++) add_product(first, factor, nearest, o, k, ahead, w);
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int h = 0; h < HALVES; h++) second[r][h] =
        w.size == FITS_TWO ? align(c[r][h], power[r][h], w) : (vint){0};
    for (int k = middle; w.size == FITS_TWO && k < p->length; k++) add_product(second, factor, nearest, o, k, ahead, w);
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

#endif
