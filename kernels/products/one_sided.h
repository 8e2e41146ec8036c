/* one_sided.h - the one-sided fused sum of AMD CDNA3: products truncated toward zero, then sums rounded down.
 *
 * Products are aligned to their own largest exponent, without c, and truncated toward zero to `fraction` bits. Their
 * sum and c meet at the larger exponent, where both are rounded down: the sum to `join` bits, c to `fraction` bits. The
 * normalised result is rounded down to `normal` bits, then rounded once more to the accumulator. Rounding down makes
 * the unit biased, and f(-x) differs from -f(x). The definition uses integers only, for host and device. Facts: Xie et
 * al. 2025, arXiv 2511.10909, version 2; Khattak and Mikaitis 2025, arXiv 2512.07004.
 */
#ifndef ULP_ONE_SIDED_H
#define ULP_ONE_SIDED_H

#include "fused.h"

/* floor(x 2^-right), or x 2^-right exactly for a negative `right`. */
ULP_FN int64_t ulp_floor_shift(int64_t x, int32_t right) {
    if (right >= 63) return x < 0 ? -1 : 0;
    const uint64_t low = right > 0 ? (uint64_t)x & ((1ull << right) - 1u) : 0;
    return right <= 0 ? x * (int64_t)(1ull << -right) : (x - (int64_t)low) / (int64_t)(1ull << right);
}

/* NaN, or the infinity of the sum, or 0 where all terms are finite. A product of 2^(emax + 1) or more is infinite. */
ULP_FN double ulp_one_sided_special(const ulp_datapath *d, double c, const double *a, const double *b, uint32_t n) {
    double sum = ulp_fused_special(c, a, b, n);
    const double beyond = ulp_scale(1.0, d->accumulator.emax + 1);
    for (uint32_t i = 0; i < n; i++) {
        const double product = a[i] * b[i];
        if (product >= beyond || product <= -beyond)
            sum += ulp_from_bits64(product > 0.0 ? 0x7ff0000000000000u : 0xfff0000000000000u);
    }
    return sum == sum ? sum : ulp_quiet_nan();
}

/* The sum of the products of one part, truncated to multiples of 2^(e - fraction); *e is the largest exponent. */
ULP_FN int64_t ulp_part_sum(const ulp_datapath *d, const ulp_term *terms, const int32_t *counted, uint32_t n,
                            uint32_t part, int32_t *e) {
    int64_t total = 0;
    *e = ULP_NO_EXPONENT;
    for (uint32_t i = part; i < n; i += d->fused.parts) *e = ulp_max_i32(*e, counted[i]);
    for (uint32_t i = part; i < n; i += d->fused.parts)
        total += ulp_term_align(terms[i], *e - d->fused.fraction, d->fused.align);
    return total;
}

/* total 2^unit, rounded down to `normal` bits below its exponent, then rounded to the accumulator. */
ULP_FN double ulp_one_sided_round(const ulp_datapath *d, int64_t total, int32_t unit) {
    const uint64_t size = total < 0 ? 0u - (uint64_t)total : (uint64_t)total;
    int32_t e = unit + 63 - ulp_leading_zeros(size), cut;
    if (total == 0) return 0.0;
    e = ulp_max_i32(e, d->accumulator.emin);
    cut = e - d->fused.normal - unit;
    return cut > 0 ? ulp_fused_round(d, ulp_floor_shift(total, cut), unit + cut) : ulp_fused_round(d, total, unit);
}

/* One sum of c and n <= length products. */
ULP_CALLED double ulp_one_sided_sum(const ulp_datapath *d, double c, const double *a, const double *b, uint32_t n) {
    const ulp_fused *f = &d->fused;
    const double special = ulp_one_sided_special(d, c, a, b, n);
    if (special != 0.0) return special;
    ulp_term terms[ULP_STEP_MAX], tc = ulp_term_of(c, d->accumulator.prec, d->accumulator.emin);
    int32_t counted[ULP_STEP_MAX], top = ULP_NO_EXPONENT, own[2];
    int64_t sums[2], sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        ulp_term x = ulp_term_of(a[i], d->a_prec, d->a_emin), y = ulp_term_of(b[i], d->b_prec, d->b_emin);
        counted[i] = ulp_product_exponent(f, x, y);
        terms[i].m = x.m * y.m;
        terms[i].e = x.e + y.e;
        terms[i].w = x.w + y.w;
        terms[i].neg = x.neg ^ y.neg;
    }
    for (uint32_t p = 0; p < f->parts; p++) {
        sums[p] = ulp_part_sum(d, terms, counted, n, p, &own[p]);
        top = ulp_max_i32(top, own[p]);
    }
    for (uint32_t p = 0; p < f->parts; p++) sum += sums[p] == 0 ? 0 : ulp_floor_shift(sums[p], top - own[p]);
    const int32_t ec = tc.m != 0 ? tc.e : f->zero_c, meet = ulp_max_i32(top, ec), unit = meet - f->join;
    if (meet == ULP_NO_EXPONENT) return 0.0;
    if (sum != 0) sum = ulp_floor_shift(sum, unit - (top - f->fraction));
    if (tc.m != 0 && !(f->c_cut && ec < meet - f->fraction - 1))
        sum += ulp_term_align(tc, meet - f->fraction, ULP_RD) * (int64_t)(1ull << (f->join - f->fraction));
    return ulp_one_sided_round(d, sum, unit);
}

#endif
