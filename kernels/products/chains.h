/* chains.h - the products of an instruction in chains with a rounding after each addition: the definition, for host and
 * device.
 *
 * The fields of ulp_chains (datapath.h) say which products form a term, how terms form chains, and where c is added. An
 * instruction ends early after the last complete set of terms, one for each chain, that has a product. Zeros replace
 * the missing products of this set.
 */
#ifndef ULP_CHAINS_H
#define ULP_CHAINS_H

#include "datapath.h"
#include "wide_sum.h"

/* x, or a zero if |x| < least. `how` is an ulp_flush_input; a zero counts as subnormal. */
ULP_FN double ulp_flushed(double x, double least, uint32_t how) {
    const double size = x < 0.0 ? -x : x;
    if (how == ULP_KEEP_INPUT || !(size < least)) return x;
    return how == ULP_FLUSH_POSITIVE ? 0.0 : ulp_from_bits64(ulp_bits64(x) & 0x8000000000000000u);
}

/* x rounded to the accumulator. A tiny result is flushed as chains.flush says. Modes rz and ro make 2^(emax + 1) and
 * larger results infinite. */
ULP_FN double ulp_chains_round(const ulp_datapath *d, ulp_exact x) {
    const ulp_format *f = &d->accumulator;
    const uint32_t flush = d->chains.flush, finite = x.kind == ULP_EXACT_FINITE;
    const int32_t up = 128; /* a multiplication by 2^up makes tiny results normal */
    if (finite && x.exp + 127 > f->emax && (d->rule.mode == ULP_RZ || d->rule.mode == ULP_RO))
        return ulp_from_bits64((uint64_t)x.neg << 63 | 0x7ff0000000000000u);
    double y = ulp_round_exact(x, f, d->rule, 0);
    if (finite && d->chains.saturate && y - y != 0.0) return x.neg ? -f->max : f->max;
    const double size = y < 0.0 ? -y : y;
    uint32_t tiny = flush == ULP_FLUSH_ROUNDED && size < f->min_normal;
    if (finite && x.exp + 127 < f->emin) {
        tiny |= flush == ULP_FLUSH_BEFORE;
        if (flush == ULP_FLUSH_AFTER) {
            x.exp += up;
            const double above = ulp_round_exact(x, f, d->rule, 0);
            tiny = (above < 0.0 ? -above : above) < ulp_scale(f->min_normal, up);
        }
    }
    return tiny && y == y ? ulp_from_bits64(ulp_bits64(y) & 0x8000000000000000u) : y;
}

/* x + y, rounded. */
ULP_FN double ulp_chains_add(const ulp_datapath *d, double x, double y) {
    return ulp_chains_round(d, ulp_exact_add(ulp_exact_of(x), ulp_exact_of(y)));
}

/* The products of a sum that are present: b times 2^-shift. */
typedef struct ulp_chain_operands {
    const double *a, *b;
    uint32_t n;
} ulp_chain_operands;

/* Operand k of a, or of b with its scale; a missing product has zeros. */
ULP_FN double ulp_chain_operand(const ulp_datapath *d, const double *x, uint32_t n, uint32_t k, const ulp_format *f) {
    return k < n ? ulp_flushed(x[k], f->min_normal, d->chains.flush_ab) : 0.0;
}

/* The exact sum of term `t` and of `start`, rounded. `start` = -0 changes nothing. */
ULP_FN double ulp_chain_term(const ulp_datapath *d, double start, const ulp_chain_operands *o, uint32_t t,
                             ulp_wide *wide) {
    const uint32_t size = d->chains.term;
    const double scale = ulp_scale(1.0, -(int32_t)d->chains.shift);
    if (size == 1) {
        const double a = ulp_chain_operand(d, o->a, o->n, t, &d->a), b = ulp_chain_operand(d, o->b, o->n, t, &d->b);
        return ulp_chains_round(d, ulp_exact_fma(ulp_exact_of(a), ulp_exact_of(b * scale), ulp_exact_of(start)));
    }
    ulp_wide_clear(wide);
    if (ulp_bits64(start) != 0x8000000000000000u) ulp_wide_add(wide, start, 1.0);
    for (uint32_t k = t * size; k < (t + 1) * size; k++)
        ulp_wide_add(wide, ulp_chain_operand(d, o->a, o->n, k, &d->a),
                     ulp_chain_operand(d, o->b, o->n, k, &d->b) * scale);
    return ulp_chains_round(d, ulp_wide_exact(wide));
}

/* The sum of c and n <= length products. `first`: c is the start value of the whole sum. */
ULP_CALLED double ulp_chains_sum(const ulp_datapath *d, double c, const double *a, const double *b, uint32_t n,
                                 int first, ulp_wide *wide) {
    const ulp_chains *s = &d->chains;
    const uint32_t set = (uint32_t)s->term * s->lanes * (s->swapped ? 2u : 1u),
                   terms = (n + set - 1) / set * set / s->term;
    const ulp_chain_operands o = {a, b, n};
    const uint32_t single = s->c_last && (uint32_t)s->length == (uint32_t)s->term * s->lanes;
    double chain[ULP_STEP_MAX];
    if (first) c = ulp_flushed(c, d->accumulator.min_normal, s->flush_c);
    for (uint32_t l = 0; l < s->lanes; l++) chain[l] = 0.0;
    if (!s->c_last) chain[0] = c;
    for (uint32_t i = 0; i < terms; i++) {
        const uint32_t t = s->swapped ? i ^ 1u : i, l = t % s->lanes;
        if (s->fused) chain[l] = ulp_chain_term(d, chain[l], &o, t, wide);
        else {
            const double term = ulp_chain_term(d, -0.0, &o, t, wide);
            chain[l] = single ? term : ulp_chains_add(d, chain[l], term);
        }
    }
    for (uint32_t width = s->lanes; width > 1; width /= 2)
        for (uint32_t l = 0; l < width / 2; l++) chain[l] = ulp_chains_add(d, chain[2 * l], chain[2 * l + 1]);
    return s->c_last ? ulp_chains_add(d, c, chain[0]) : chain[0];
}

#endif
