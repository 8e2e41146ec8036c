/* fused.c - the fused sums of Tensor Cores, of AMD CDNA3 and of RISC-V, by GMP integers; see dot.h.
 *
 * A term is an exact product. The largest exponent of a term decides the unit 2^(Emax - F) of the sum. Each term
 * becomes a multiple of the unit; the multiples are added exactly and rounded once (Fasi et al. 2021,
 * doi:10.7717/peerj-cs.330; Xie et al. 2025, arXiv 2511.10909; Khattak and Mikaitis 2025, arXiv 2512.07004).
 */
#include "dot.h"

#include <math.h>

int ulp_mpfr_exponent(double x, int emin) {
    const int e = x != 0.0 ? ilogb(x) : emin;
    return e > emin ? e : emin;
}

static long larger(long x, long y) { return x > y ? x : y; }

int ulp_mpfr_special(ulp_mpfr_dots *s, double c, const ulp_products *p, double *value) {
    ulp_mpfr_sum_clear(&s->exact);
    ulp_mpfr_sum_add(&s->exact, c, 1.0);
    for (size_t i = 0; i < p->k; i++) ulp_mpfr_sum_add(&s->exact, p->a[i], p->b[i]);
    return ulp_mpfr_sum_is_special(&s->exact, value);
}

void ulp_mpfr_align(ulp_mpfr_dots *s, double a, double b, long unit, ulp_mode mode) {
    const long e = ulp_mpfr_product(&s->exact, a, b);
    ulp_reference_round_integer(s->accumulator, s->aligned, s->exact.term, e - unit, mode);
}

/* 1 if |m 2^e| is 2^(emax + 1) or more. */
static int is_beyond(const ulp_reference *ref, mpz_srcptr m, long e) {
    return (long)mpz_sizeinbase(m, 2) + e > ilogb(ulp_reference_max(ref)) + 1;
}

/* m 2^e rounded in the unit's output mode to a format. */
static double round_output(const ulp_datapath *d, ulp_reference *ref, mpz_srcptr m, long e) {
    const ulp_mode mode = (ulp_mode)d->fused.output;
    if ((mode == ULP_RZ || mode == ULP_RO) && is_beyond(ref, m, e)) return mpz_sgn(m) < 0 ? -INFINITY : INFINITY;
    return ulp_reference_round_exact(ref, m, e, (ulp_rule){(uint8_t)mode, ULP_OVERFLOW_INF, 0}, 0);
}

double ulp_mpfr_unit_round(ulp_mpfr_dots *s, mpz_srcptr total, long unit) {
    if (mpz_sgn(total) == 0) return 0.0;
    const double y = round_output(s->datapath, s->result, total, unit);
    return y == 0.0 && !s->datapath->fused.signed_zero ? 0.0 : y;
}

/* x + y, rounded in a mode: the last addition of units that add c last. */
static double add_last(ulp_mpfr_dots *s, double x, double y, ulp_mode mode) {
    const ulp_rule rule = {(uint8_t)mode, ULP_OVERFLOW_INF, 0};
    ulp_mpfr_sum_clear(&s->exact);
    ulp_mpfr_sum_add(&s->exact, x, 1.0);
    ulp_mpfr_sum_add(&s->exact, y, 1.0);
    double special;
    const int finite = !ulp_mpfr_sum_is_special(&s->exact, &special) && mpz_sgn(s->exact.m) != 0;
    if (finite && (mode == ULP_RZ || mode == ULP_RO) && is_beyond(s->accumulator, s->exact.m, s->exact.e))
        return mpz_sgn(s->exact.m) < 0 ? -INFINITY : INFINITY;
    return ulp_mpfr_sum_round(&s->exact, s->accumulator, rule, 0);
}

/* ---- one sum of products ---- */

/* The exponent that the product a b, which is zero, counts with in Emax. ULP_NO_EXPONENT: it does not count. */
static long zero_exponent(const ulp_mpfr_dots *s, double a, double b) {
    const ulp_fused *f = &s->datapath->fused;
    if (f->zero_operand == ULP_NO_EXPONENT) return f->zero_product;
    return (a != 0.0 ? ulp_mpfr_exponent(a, s->a_emin) : f->zero_operand) +
           (b != 0.0 ? ulp_mpfr_exponent(b, s->b_emin) : f->zero_operand);
}

static long product_exponent(const ulp_mpfr_dots *s, double a, double b) {
    if (a == 0.0 || b == 0.0) return zero_exponent(s, a, b);
    return (long)ulp_mpfr_exponent(a, s->a_emin) + ulp_mpfr_exponent(b, s->b_emin);
}

/* The exponent of c in Emax. */
static long start_exponent(const ulp_mpfr_dots *s, double c) {
    return c != 0.0 ? ulp_mpfr_exponent(c, s->c_emin) : s->datapath->fused.zero_c;
}

/* c + at most `length` products times 2^scale; zeros replace the missing products. */
static double one_sum(ulp_mpfr_dots *s, double c, const ulp_products *p, int scale) {
    const ulp_fused *f = &s->datapath->fused;
    double special;
    if (ulp_mpfr_special(s, c, p, &special)) return special;
    long emax = larger(f->floor, start_exponent(s, c));
    for (size_t i = 0; i < p->k; i++) {
        const int zero = p->a[i] == 0.0 || p->b[i] == 0.0;
        emax = larger(emax, product_exponent(s, p->a[i], p->b[i]) + (zero ? 0 : scale));
    }
    if (p->k < f->length) emax = larger(emax, zero_exponent(s, 0.0, 0.0));
    if (emax == ULP_NO_EXPONENT) return 0.0; /* all terms are zeros that do not count */
    const long unit = emax - f->fraction;
    mpz_set_ui(s->total, 0);
    for (size_t i = 0; i <= p->k; i++) {
        const double a = i < p->k ? p->a[i] : c, b = i < p->k ? p->b[i] : 1.0;
        if (a == 0.0 || b == 0.0) continue;
        ulp_mpfr_align(s, a, b, unit - (i < p->k ? scale : 0), (ulp_mode)f->align);
        mpz_add(s->total, s->total, s->aligned);
    }
    return ulp_mpfr_unit_round(s, s->total, unit);
}

/* ---- groups of products with block scales ---- */

/* s->exact.m = the exact sum of the products of a group times the magnitudes of its scales. Returns the exponent of the
 * group in Emax. */
static long group_sum(ulp_mpfr_dots *s, const ulp_products *p, double x, double y) {
    size_t zeros = 0;
    ulp_mpfr_sum_clear(&s->exact);
    for (size_t i = 0; i < p->k; i++) {
        if (p->a[i] == 0.0 || p->b[i] == 0.0) zeros++;
        ulp_mpfr_sum_add(&s->exact, p->a[i], p->b[i]);
    }
    if (x == 0.0 || y == 0.0) ulp_mpfr_sum_clear(&s->exact);
    if (mpz_sgn(s->exact.m) != 0) {
        const long e = ulp_mpfr_product(&s->exact, fabs(x), fabs(y));
        mpz_mul(s->exact.m, s->exact.m, s->exact.term);
        s->exact.e += e;
    }
    if (zeros == p->k || x == 0.0 || y == 0.0) return s->datapath->fused.zero_product;
    return (long)ulp_mpfr_exponent(x, s->scale_emin) + ulp_mpfr_exponent(y, s->scale_emin);
}

/* The scale of products i, i + 1, ... of a block. */
static double scale_at(const double *scales, size_t i, size_t per) { return scales == NULL ? 1.0 : scales[i / per]; }

/* A group counts in Emax by the exponents of its scales, not by its sum. */
static double groups(ulp_mpfr_dots *s, double c, const ulp_products *p) {
    const ulp_datapath *d = s->datapath;
    const ulp_fused *f = &d->fused;
    if (!isfinite(c)) return c;
    long emax = larger(f->floor, start_exponent(s, c));
    for (int pass = 0; pass < 2; pass++) { /* Emax first, then the sum */
        const long unit = emax - f->fraction;
        if (pass == 1 && emax == ULP_NO_EXPONENT) return 0.0;
        mpz_set_ui(s->total, 0);
        if (pass == 1 && c != 0.0) {
            ulp_mpfr_align(s, c, 1.0, unit, (ulp_mode)f->align);
            mpz_set(s->total, s->aligned);
        }
        for (size_t i = 0; i < p->k; i += f->group) {
            const ulp_products group = {p->a + i, p->b + i, p->k - i < f->group ? p->k - i : f->group, NULL, NULL};
            const long e = group_sum(s, &group, scale_at(p->a_scales, i, d->scale_block),
                                     scale_at(p->b_scales, i, d->scale_block));
            if (pass == 0) emax = larger(emax, e);
            if (pass == 0 || mpz_sgn(s->exact.m) == 0) continue;
            ulp_reference_round_integer(s->accumulator, s->aligned, s->exact.m, s->exact.e - unit, (ulp_mode)f->align);
            mpz_add(s->total, s->total, s->aligned);
        }
    }
    return ulp_mpfr_unit_round(s, s->total, emax - f->fraction);
}

/* Whether a scale of the products is NaN. */
static int has_nan_scale(const ulp_datapath *d, const ulp_products *p) {
    int any = 0;
    for (size_t i = 0; i < p->k; i += d->scale_block)
        any |= isnan(scale_at(p->a_scales, i, d->scale_block)) || isnan(scale_at(p->b_scales, i, d->scale_block));
    return any;
}

/* ---- sums of fp8 on fp16 units: k = 0, 1 (mod 4) first, then the other products, then c ---- */

static double late(ulp_mpfr_dots *s, double c, const ulp_products *p) {
    double partial = 0.0;
    for (size_t half = 0; half < 2; half++) {
        double a[ULP_STEP_MAX], b[ULP_STEP_MAX];
        size_t n = 0;
        for (size_t i = 0; i < p->k; i++)
            if (i / 2 % 2 == half) a[n] = p->a[i], b[n++] = p->b[i];
        const ulp_products part = {a, b, n, NULL, NULL};
        partial = one_sum(s, partial, &part, 0);
    }
    const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0};
    return ulp_reference_arith(s->accumulator, (ulp_scalar_op){ULP_ADD, c, partial, 0.0}, nearest, 0);
}

double ulp_mpfr_fused(ulp_mpfr_dots *s, double c, const ulp_products *p) {
    const ulp_datapath *d = s->datapath;
    if (d->fused.late) return late(s, c, p);
    if (d->fused.join != 0) return ulp_mpfr_one_sided(s, c, p);
    if (d->fused.c_last) {
        const double products = one_sum(s, 0.0, p, 0);
        return add_last(s, c, products, (ulp_mode)d->fused.output);
    }
    if (d->scale_block == 0) return one_sum(s, c, p, 0);
    if (has_nan_scale(d, p)) return NAN;
    if (d->fused.group != 0) return groups(s, c, p);
    const double x = scale_at(p->a_scales, 0, 1), y = scale_at(p->b_scales, 0, 1);
    return one_sum(s, c, p, ulp_mpfr_exponent(x, s->scale_emin) + ulp_mpfr_exponent(y, s->scale_emin));
}

/* ---- the one-sided sum: fields join, normal, parts and c_cut of ulp_fused ---- */

/* s->total = the products of a part, cut below its largest exponent *e and added. */
static void part_sum(ulp_mpfr_dots *s, const ulp_products *p, size_t part, long *e) {
    const ulp_fused *f = &s->datapath->fused;
    *e = ULP_NO_EXPONENT;
    for (size_t i = part; i < p->k; i += f->parts) *e = larger(*e, product_exponent(s, p->a[i], p->b[i]));
    mpz_set_ui(s->total, 0);
    for (size_t i = part; i < p->k; i += f->parts) {
        if (p->a[i] == 0.0 || p->b[i] == 0.0) continue;
        ulp_mpfr_align(s, p->a[i], p->b[i], *e - f->fraction, (ulp_mode)f->align);
        mpz_add(s->total, s->total, s->aligned);
    }
}

/* m, in units of 2^from, becomes a multiple of 2^to, rounded down, in units of 2^to. */
static void floor_to(mpz_ptr m, long from, long to) {
    if (from >= to) mpz_mul_2exp(m, m, (mp_bitcnt_t)(from - to));
    else mpz_fdiv_q_2exp(m, m, (mp_bitcnt_t)(to - from));
}

/* c + the products where one is infinite or NaN, or where a product is 2^(emax + 1) or more and so infinite. */
static int one_sided_special(ulp_mpfr_dots *s, double c, const ulp_products *p, double *value) {
    ulp_mpfr_sum_clear(&s->exact);
    ulp_mpfr_sum_add(&s->exact, c, 1.0);
    for (size_t i = 0; i < p->k; i++) {
        const double a = p->a[i], b = p->b[i];
        const int finite = isfinite(a) && isfinite(b) && a != 0.0 && b != 0.0;
        const long e = finite ? ulp_mpfr_product(&s->exact, a, b) : 0;
        if (finite && is_beyond(s->accumulator, s->exact.term, e))
            ulp_mpfr_sum_add(&s->exact, mpz_sgn(s->exact.term) < 0 ? -INFINITY : INFINITY, 1.0);
        else ulp_mpfr_sum_add(&s->exact, a, b);
    }
    return ulp_mpfr_sum_is_special(&s->exact, value);
}

double ulp_mpfr_one_sided(ulp_mpfr_dots *s, double c, const ulp_products *p) {
    const ulp_fused *f = &s->datapath->fused;
    double special;
    if (one_sided_special(s, c, p, &special)) return special;
    long own[2] = {ULP_NO_EXPONENT, ULP_NO_EXPONENT}, top = ULP_NO_EXPONENT;
    mpz_ptr sum = s->exact.m, number = s->exact.term;
    ulp_mpfr_sum_clear(&s->exact);
    for (size_t part = 0; part < f->parts; part++) { /* the largest exponent of all parts */
        part_sum(s, p, part, &own[part]);
        top = larger(top, own[part]);
    }
    mpz_set_ui(sum, 0);
    for (size_t part = 0; part < f->parts; part++) {
        part_sum(s, p, part, &own[part]);
        if (mpz_sgn(s->total) == 0) continue;
        floor_to(s->total, own[part] - f->fraction, top - f->fraction);
        mpz_add(sum, sum, s->total);
    }
    const long start = start_exponent(s, c), meet = larger(top, start), unit = meet - f->join;
    if (meet == ULP_NO_EXPONENT) return 0.0;
    if (mpz_sgn(sum) != 0) floor_to(sum, top - f->fraction, unit);
    mpz_set(s->total, sum);
    if (c != 0.0 && !(f->c_cut && start < meet - f->fraction - 1)) {
        const long e = ulp_mpfr_product(&s->exact, c, 1.0);
        mpz_set(s->aligned, number);
        floor_to(s->aligned, e, meet - f->fraction);
        floor_to(s->aligned, meet - f->fraction, unit);
        mpz_add(s->total, s->total, s->aligned);
    }
    if (mpz_sgn(s->total) == 0) return 0.0;
    const long e = larger(unit + (long)mpz_sizeinbase(s->total, 2) - 1, s->c_emin), cut = e - f->normal;
    if (cut <= unit) return ulp_mpfr_unit_round(s, s->total, unit);
    floor_to(s->total, unit, cut);
    return ulp_mpfr_unit_round(s, s->total, cut);
}
