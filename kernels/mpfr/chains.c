/* chains.c - the instructions with a rounding after each addition: x86, Arm, AMD CDNA2; see ulp_chains in datapath.h.
 */
#include "dot.h"

#include <math.h>

/* x as an instruction takes it: `least` is the smallest normal number. */
static double flushed(double x, double least, ulp_flush_input how) {
    if (how == ULP_KEEP_INPUT || isnan(x) || fabs(x) >= least) return x;
    return how == ULP_FLUSH_POSITIVE ? 0.0 : copysign(0.0, x);
}

/* Whether a finite sum that is not zero has a tiny result y. s->exact holds the sum. */
static int is_tiny(ulp_mpfr_dots *s, double y, double least) {
    const ulp_mpfr_sum *x = &s->exact;
    const int below = x->e + (long)mpz_sizeinbase(x->m, 2) - 1 < ilogb(least), up = 128;
    switch ((ulp_flush_output)s->datapath->chains.flush) {
    case ULP_KEEP_OUTPUT: return 0;
    case ULP_FLUSH_BEFORE: return below;
    case ULP_FLUSH_ROUNDED: return fabs(y) < least;
    case ULP_FLUSH_AFTER: break;
    }
    /* 2^up times the sum is rounded as if the exponent had no lower bound */
    return below &&
           fabs(ulp_reference_round_exact(s->accumulator, x->m, x->e + up, s->datapath->rule, 0)) < ldexp(least, up);
}

/* s->exact rounded to the accumulator. */
static double round_sum(ulp_mpfr_dots *s) {
    const ulp_datapath *d = s->datapath;
    const ulp_mpfr_sum *x = &s->exact;
    const double max = ulp_reference_max(s->accumulator), least = ulp_reference_min_normal(s->accumulator);
    const int cuts = d->rule.mode == ULP_RZ || d->rule.mode == ULP_RO, neg = mpz_sgn(x->m) < 0;
    double y;
    if (ulp_mpfr_sum_is_special(x, &y) || mpz_sgn(x->m) == 0)
        return ulp_mpfr_sum_round(&s->exact, s->accumulator, d->rule, 0);
    if (cuts && x->e + (long)mpz_sizeinbase(x->m, 2) - 1 > ilogb(max)) return neg ? -INFINITY : INFINITY;
    y = ulp_mpfr_sum_round(&s->exact, s->accumulator, d->rule, 0);
    if (d->chains.saturate && !isfinite(y)) return neg ? -max : max;
    return is_tiny(s, y, least) ? copysign(0.0, y) : y;
}

static double add(ulp_mpfr_dots *s, double x, double y) {
    ulp_mpfr_sum_clear(&s->exact);
    ulp_mpfr_sum_add(&s->exact, x, 1.0);
    ulp_mpfr_sum_add(&s->exact, y, 1.0);
    return round_sum(s);
}

/* The sum of the products of term t, and of *start unless start is NULL, rounded once. Zeros replace missing products.
 */
static double term(ulp_mpfr_dots *s, const double *start, const ulp_products *p, size_t t) {
    const ulp_chains *how = &s->datapath->chains;
    ulp_mpfr_sum_clear(&s->exact);
    if (start != NULL) ulp_mpfr_sum_add(&s->exact, *start, 1.0);
    for (size_t i = t * how->term; i < (t + 1) * how->term; i++) {
        const double a = i < p->k ? flushed(p->a[i], s->a_least, (ulp_flush_input)how->flush_ab) : 0.0;
        const double b = i < p->k ? flushed(p->b[i], s->b_least, (ulp_flush_input)how->flush_ab) : 0.0;
        ulp_mpfr_sum_add(&s->exact, a, ldexp(b, -how->shift));
    }
    return round_sum(s);
}

double ulp_mpfr_chains(ulp_mpfr_dots *s, double c, const ulp_products *p, int first) {
    const ulp_chains *how = &s->datapath->chains;
    const size_t set = (size_t)how->term * how->lanes * (how->swapped ? 2 : 1), sets = (p->k + set - 1) / set,
                 terms = sets * set / how->term;
    const int alone = how->c_last && how->length == how->term * how->lanes;
    double chain[ULP_STEP_MAX] = {0};
    if (first) c = flushed(c, ulp_reference_min_normal(s->accumulator), (ulp_flush_input)how->flush_c);
    if (!how->c_last) chain[0] = c;
    for (size_t i = 0; i < terms; i++) {
        const size_t t = how->swapped ? (i % 2 == 0 ? i + 1 : i - 1) : i, lane = t % how->lanes;
        if (how->fused) {
            chain[lane] = term(s, &chain[lane], p, t);
        } else {
            const double products = term(s, NULL, p, t);
            chain[lane] = alone ? products : add(s, chain[lane], products);
        }
    }
    for (size_t width = how->lanes; width > 1; width /= 2)
        for (size_t l = 0; l < width / 2; l++) chain[l] = add(s, chain[2 * l], chain[2 * l + 1]);
    return how->c_last ? add(s, c, chain[0]) : chain[0];
}
