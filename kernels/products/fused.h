/* fused.h - one fused sum of products, as Tensor Cores form it: the definition, for host and device.
 *
 * The definition uses integers only. A term is a signed significand m 2^(e - w). The sum of the aligned terms has
 * fraction + 2 + log2(length + 1) bits, which fit an int64_t for every row.
 */
#ifndef ULP_FUSED_H
#define ULP_FUSED_H

#include "datapath.h"

typedef struct ulp_term {
    uint64_t m; /* |value| = m 2^(e - w) */
    int32_t e, w;
    uint32_t neg;
} ulp_term;

/* A value of at most `prec` significant bits as a term. A subnormal value keeps the exponent emin. */
ULP_FN ulp_term ulp_term_of(double value, int32_t prec, int32_t emin) {
    uint64_t u = ulp_bits64(value), m = u & 0xfffffffffffffu;
    int32_t field = (int32_t)(u >> 52 & 0x7ff), e = field == 0 ? -1022 : field - 1023, shift = 53 - prec;
    ulp_term t = {field == 0 ? m : m | 1ull << 52, e, prec - 1, (uint32_t)(u >> 63)};
    if (t.m == 0) {
        t.e = emin;
        return t;
    }
    while (t.m >> 52 == 0) { /* a subnormal of binary64 */
        t.m <<= 1;
        t.e -= 1;
    }
    if (t.e < emin) {
        shift += emin - t.e;
        t.e = emin;
    }
    t.m = shift < 64 ? t.m >> shift : 0;
    return t;
}

/* A term as a signed integer in units of 2^unit. `mode` rounds the bits below the unit. */
ULP_FN int64_t ulp_term_align(ulp_term t, int32_t unit, uint32_t mode) {
    int32_t right = unit - (t.e - t.w);
    uint64_t kept, lost = 0;
    if (t.m == 0) return 0; /* the exponent of a zero may be far above the other exponents */
    if (right > 0) {
        kept = right < 64 ? t.m >> right : 0;
        lost = right < 64 ? t.m << (64 - right) : (right == 64 ? t.m : (uint64_t)(t.m != 0));
    } else {
        kept = t.m << -right;
    }
    if (lost != 0 && mode != ULP_RZ) { /* many terms lose no bits, and truncation drops them */
        const ulp_fraction fraction = {(uint32_t)(lost >> 32),
                                       (uint32_t)(lost >> 31 & 1u) << 1 | (uint32_t)((lost & 0x7fffffffu) != 0)};
        kept += ulp_round_up(mode, (uint32_t)kept & 1u, fraction, t.neg, 0, 32);
    }
    return t.neg ? -(int64_t)kept : (int64_t)kept;
}

/* total 2^unit rounded once to the accumulator. */
ULP_FN double ulp_fused_round(const ulp_datapath *d, int64_t total, int32_t unit) {
    const uint32_t neg = total < 0;
    if (total == 0) return 0.0;
    ulp_exact x = ulp_exact_pack(neg, 0, neg ? 0u - (uint64_t)total : (uint64_t)total, 0, unit);
    if ((d->fused.output == ULP_RZ || d->fused.output == ULP_RO) && x.exp + 127 > d->rounded.emax)
        return ulp_from_bits64((uint64_t)neg << 63 | 0x7ff0000000000000u);
    ulp_rule rule = {d->fused.output, ULP_OVERFLOW_INF, 0};
    double y = ulp_round_exact(x, &d->rounded, rule, 0);
    return y == 0.0 && !d->fused.signed_zero ? 0.0 : y;
}

/* x + y rounded in the mode `output`, as the last addition where c is added last. */
ULP_FN double ulp_fused_add(const ulp_datapath *d, double x, double y) {
    const ulp_exact sum = ulp_exact_add(ulp_exact_of(x), ulp_exact_of(y));
    const ulp_rule rule = {d->fused.output, ULP_OVERFLOW_INF, 0};
    if (sum.kind == ULP_EXACT_FINITE && (d->fused.output == ULP_RZ || d->fused.output == ULP_RO) &&
        sum.exp + 127 > d->accumulator.emax)
        return ulp_from_bits64((uint64_t)sum.neg << 63 | 0x7ff0000000000000u);
    return ulp_round_exact(sum, &d->accumulator, rule, 0);
}

/* NaN, or the infinity of the sum, or 0 where all terms are finite. */
ULP_FN double ulp_fused_special(double c, const double *a, const double *b, uint32_t n) {
    double sum = c - c == 0.0 ? 0.0 : c;
    for (uint32_t i = 0; i < n; i++) {
        if (a[i] - a[i] == 0.0 && b[i] - b[i] == 0.0) continue;
        sum += a[i] * b[i];
    }
    return sum == sum ? sum : ulp_quiet_nan();
}

ULP_FN int32_t ulp_max_i32(int32_t a, int32_t b) { return a > b ? a : b; }

/* The exponent of a product in the alignment. ULP_NO_EXPONENT if the product does not count. */
ULP_FN int32_t ulp_product_exponent(const ulp_fused *f, ulp_term a, ulp_term b) {
    int32_t e = a.e + b.e;
    if (a.m != 0 && b.m != 0) return e;
    if (f->zero_operand != ULP_NO_EXPONENT)
        return (a.m != 0 ? a.e : f->zero_operand) + (b.m != 0 ? b.e : f->zero_operand);
    return f->zero_product;
}

/* The exponent in the alignment of the zeros that replace missing products. */
ULP_FN int32_t ulp_padding_exponent(const ulp_fused *f) {
    return f->zero_operand != ULP_NO_EXPONENT ? 2 * f->zero_operand : f->zero_product;
}

/* One fused sum of c and n <= length products. Zeros replace missing products. `scale` is added to the exponents of all
 * products. */
ULP_CALLED double ulp_fused_sum(const ulp_datapath *d, double c, const double *a, const double *b, uint32_t n,
                                int32_t scale) {
    const ulp_fused *f = &d->fused;
    double special = ulp_fused_special(c, a, b, n);
    if (special != 0.0) return special;
    ulp_term terms[ULP_STEP_MAX], tc = ulp_term_of(c, d->accumulator.prec, d->accumulator.emin);
    int32_t emax = ulp_max_i32(f->floor, tc.m != 0 ? tc.e : f->zero_c);
    for (uint32_t i = 0; i < n; i++) {
        ulp_term x = ulp_term_of(a[i], d->a_prec, d->a_emin), y = ulp_term_of(b[i], d->b_prec, d->b_emin);
        int32_t e = ulp_product_exponent(f, x, y);
        if (e != ULP_NO_EXPONENT) emax = ulp_max_i32(emax, x.m != 0 && y.m != 0 ? e + scale : e);
        terms[i].m = x.m * y.m;
        terms[i].e = x.e + y.e + scale;
        terms[i].w = x.w + y.w;
        terms[i].neg = x.neg ^ y.neg;
    }
    if (n < f->length && ulp_padding_exponent(f) != ULP_NO_EXPONENT) emax = ulp_max_i32(emax, ulp_padding_exponent(f));
    if (emax == ULP_NO_EXPONENT) return 0.0; /* every term is zero */
    const int32_t unit = emax - f->fraction;
    int64_t total = ulp_term_align(tc, unit, f->align);
    for (uint32_t i = 0; i < n; i++) total += ulp_term_align(terms[i], unit, f->align);
    return ulp_fused_round(d, total, unit);
}

/* The exact sum of a group of products, in units of 2^(a_emin + b_emin - w), where w = a_prec - 1 + b_prec - 1. */
ULP_FN int64_t ulp_group_sum(const ulp_datapath *d, const double *a, const double *b, uint32_t n) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        ulp_term x = ulp_term_of(a[i], d->a_prec, d->a_emin), y = ulp_term_of(b[i], d->b_prec, d->b_emin);
        int64_t m = (int64_t)(x.m * y.m << (x.e - d->a_emin + y.e - d->b_emin));
        sum += x.neg ^ y.neg ? -m : m;
    }
    return sum;
}

/* Whether all products are zero. */
ULP_FN int32_t ulp_products_are_zero(const double *a, const double *b, uint32_t n) {
    int32_t all = 1;
    for (uint32_t i = 0; i < n; i++) all &= (int32_t)(a[i] == 0.0) | (int32_t)(b[i] == 0.0);
    return all;
}

/* mxf4 and nvf4: the exact sum of each group times the significands of its scales, aligned at the sum of the scales'
 * exponents. A group counts in Emax even if its products cancel; a group of zeros counts as a zero product. The inputs
 * have no Inf and no NaN. There is one scale for each group, not for each scale_block. */
ULP_CALLED double ulp_fused_groups(const ulp_datapath *d, double c, const ulp_products *p) {
    const ulp_fused *f = &d->fused;
    const uint32_t n = (uint32_t)p->k, groups = (n + f->group - 1u) / f->group;
    ulp_term terms[ULP_STEP_MAX], tc = ulp_term_of(c, d->accumulator.prec, d->accumulator.emin);
    if (c - c != 0.0) return c == c ? c : ulp_quiet_nan();
    int32_t emax = ulp_max_i32(f->floor, tc.m != 0 ? tc.e : f->zero_c);
    for (uint32_t g = 0; g < groups; g++) {
        const uint32_t at = g * f->group, size = n - at < f->group ? n - at : f->group;
        ulp_term x = ulp_term_of(p->a_scales[g], d->scale.prec, d->scale.emin),
                 y = ulp_term_of(p->b_scales[g], d->scale.prec, d->scale.emin);
        int64_t sum = ulp_group_sum(d, p->a + at, p->b + at, size);
        terms[g].neg = sum < 0;
        terms[g].m = (sum < 0 ? 0u - (uint64_t)sum : (uint64_t)sum) * x.m * y.m;
        terms[g].e = x.e + y.e;
        terms[g].w = x.w + y.w + d->a_prec - 1 + d->b_prec - 1 - d->a_emin - d->b_emin;
        const int32_t zero = x.m == 0 || y.m == 0 || ulp_products_are_zero(p->a + at, p->b + at, size);
        emax = ulp_max_i32(emax, zero ? f->zero_product : terms[g].e);
    }
    if (emax == ULP_NO_EXPONENT) return 0.0;
    const int32_t unit = emax - f->fraction;
    int64_t total = ulp_term_align(tc, unit, f->align);
    for (uint32_t g = 0; g < groups; g++) total += ulp_term_align(terms[g], unit, f->align);
    return ulp_fused_round(d, total, unit);
}

/* 2 L products of fp8 on fp16 units, as two fused sums. The first sum takes the products k = 0, 1 (mod 4) and starts at
 * zero. The second sum takes the other products and starts at the first sum. c is added last, rounded to nearest. */
ULP_CALLED double ulp_fused_late(const ulp_datapath *d, double c, const double *a, const double *b, uint32_t n) {
    double x[2][ULP_STEP_MAX / 2], y[2][ULP_STEP_MAX / 2], partial = 0.0;
    uint32_t count[2] = {0, 0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t half = i >> 1 & 1u;
        x[half][count[half]] = a[i];
        y[half][count[half]++] = b[i];
    }
    for (uint32_t half = 0; half < 2; half++) partial = ulp_fused_sum(d, partial, x[half], y[half], count[half], 0);
    ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0};
    return ulp_round_exact(ulp_exact_add(ulp_exact_of(c), ulp_exact_of(partial)), &d->accumulator, nearest, 0);
}

#endif
