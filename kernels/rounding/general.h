/* general.h - branch-free rounding of array elements to the formats that core.h and tapered.h do not offer.
 *
 * Every number is a binary64 word here; binary32 elements become one exactly. Modes are the deterministic ones. The
 * formats: unsigned ones, those with p = 1, dlfloat16, hif8, fixed point modulo 2^bits and beyond 24 bits, binary64.
 *
 * A magnitude u lies between two numbers of the format, `down` and down + quantum. The addition of an anchor of 2^52
 * quanta (anchor.h) gives `down` and the parity of its code; u - down is exact (Sterbenz 1974, or down = 0). The mode
 * decides by u - down, the quantum and the parity: ulp_round_up.
 *
 *  - p = 1: all significands are 1. The parity is that of the code, which is e + bias.
 *  - dlfloat16: below its least number the quantum is the least number, and 0 counts as even.
 *  - hif8: the precision falls with |e|, from 4 bits to 1; with 1 bit the code of 2^e is e + 23.
 *  - fixed point modulo 2^bits: the rounded integer n is reduced to n - k 2^bits, k = n / 2^bits to nearest. From
 *    2^(bits + 52) quanta on, every binary64 number is a multiple of 2^bits quanta.
 *
 * The results are those of ulp_round_exact for every input (tests: t_kernels, t_tapered, and `make check-all`).
 */
#ifndef ULP_ROUNDING_GENERAL_H
#define ULP_ROUNDING_GENERAL_H

#include "kernels/functions/lanes.h"
#include "kernels/rounding/core.h"

typedef enum ulp_general_kind {
    ULP_GENERAL_FLOAT,  /* one precision; also fixed point that does not wrap */
    ULP_GENERAL_SINGLE, /* p = 1 */
    ULP_GENERAL_HIF8,
    ULP_GENERAL_WRAPPED, /* fixed point modulo 2^bits */
    ULP_GENERAL_KEPT,    /* every binary64 number is a number of the format */
    ULP_GENERAL_NONE
} ulp_general_kind;

/* A format and a rule, prepared for the loop. Index [1] is for negative values. */
typedef struct ulp_general {
    double normal, beyond; /* 2^emin, 2^(emax + 1) */
    double first;          /* below it the neighbours are 0 and `first`; 0: nowhere */
    uint64_t places;       /* p - 1 */
    uint64_t parity; /* of bias - 1023 (hif8: 23 - 1023): with the exponent field of binary64 it gives that of a code */
    double limit[2], overflow[2], infinite[2], zero[2];
    double quantum, unit; /* fixed point: 2^-F and 2^F */
    double whole, part;   /* 2^bits and 2^-bits */
    double far;           /* 2^(bits + 52) quanta */
} ulp_general;

/* The kind of a format and rule; ULP_GENERAL_NONE: not offered. */
ULP_FN ulp_general_kind ulp_general_offers(const ulp_format *f, ulp_rule rule) {
    if (ulp_mode_is_stochastic(rule.mode) || rule.mode >= ULP_MODE_COUNT || f->flushes != 0) return ULP_GENERAL_NONE;
    if (f->taper != ULP_TAPER_NONE) return f->taper == ULP_TAPER_HIF8 ? ULP_GENERAL_HIF8 : ULP_GENERAL_NONE;
    if (ulp_core_policy(f, rule) == ULP_OVERFLOW_WRAP)
        return f->is_fixed && f->is_signed && f->bits <= 32 ? ULP_GENERAL_WRAPPED : ULP_GENERAL_NONE;
    if (f->prec == 53 && f->emin == -1022 && f->emax == 1023 && f->is_signed && f->has_subnormals && f->has_neg_zero)
        return ULP_GENERAL_KEPT;
    if (f->emin - f->prec < -1000 || f->emax + 53 - f->prec > 1000 || f->prec > 50) return ULP_GENERAL_NONE;
    if (f->prec == 1) return f->is_fixed ? ULP_GENERAL_NONE : ULP_GENERAL_SINGLE;
    return f->has_zero && (f->has_subnormals || f->zero_binade) ? ULP_GENERAL_FLOAT : ULP_GENERAL_NONE;
}

ULP_FN ulp_general ulp_general_of(const ulp_format *f, ulp_rule rule) {
    const uint32_t policy = ulp_core_policy(f, rule);
    const uint32_t special = policy == ULP_OVERFLOW_WRAP ? (uint32_t)ULP_OVERFLOW_SAT : policy;
    ulp_general g;
    g.normal = ulp_scale(1.0, f->emin);
    g.beyond = f->emax < 1023 ? ulp_scale(1.0, f->emax + 1) : f->max;
    g.first = f->zero_binade ? f->min_positive : 0.0;
    g.places = f->prec - 1u;
    g.parity = ((uint64_t)(int64_t)(f->taper == ULP_TAPER_HIF8 ? 23 : f->bias) + 1u) & 1u;
    for (uint32_t neg = 0; neg < 2; neg++) {
        g.limit[neg] = neg && !f->is_signed ? 0.0 : ulp_magnitude_limit(f, special, neg);
        g.overflow[neg] = ulp_overflow_value(f, rule.mode, special, neg, 0);
        g.infinite[neg] = ulp_overflow_value(f, rule.mode, special, neg, 1);
        g.zero[neg] = ulp_zero_value(f, neg);
    }
    g.quantum = ulp_scale(1.0, f->is_fixed ? -f->frac_bits : 0);
    g.unit = ulp_scale(1.0, f->frac_bits);
    g.whole = ulp_scale(1.0, f->bits);
    g.part = ulp_scale(1.0, -f->bits);
    g.far = ulp_scale(g.quantum, f->bits + 52);
    return g;
}

/* Whether a magnitude that lies `rest` above the number below is rounded up. Each deterministic mode decides by the
 * place of rest / quantum among 0, 1/2 and 1, so that 1/4 and 3/4 stand for all fractions of their halves. */
ULP_CORE uint64_t ulp_general_up(double rest, double quantum, uint64_t odd, uint64_t neg, uint32_t mode) {
    const uint64_t inexact = (uint64_t)(rest > 0.0), above = (uint64_t)(rest + rest > quantum),
                   tie = (uint64_t)(rest + rest == quantum);
    if (mode == ULP_RNE) return above | (tie & odd);
    const ulp_fraction lost = {(uint32_t)((inexact + tie) << 30 | above << 31), 0};
    return ulp_round_up(mode, (uint32_t)odd, lost, (uint32_t)neg, 0, 32);
}

/* A magnitude rounded to precision p, before overflow. */
ULP_CORE double ulp_general_magnitude(double u, uint64_t neg, const ulp_general *g, int kind, uint32_t mode) {
    u = u < g->beyond ? u : g->beyond; /* also for NaN */
    const double binade = ulp_from_bits64(ulp_bits64(u) & 0x7ff0000000000000u);
    const uint64_t b = ulp_bits64(binade > g->normal ? binade : g->normal), field = b >> 52;
    uint64_t places = kind == ULP_GENERAL_SINGLE ? 0 : g->places, single = kind == ULP_GENERAL_SINGLE;
    if (kind == ULP_GENERAL_HIF8) {
        const double top = ulp_from_bits64(b); /* 2^e */
        places = (uint64_t)(top >= 0x1p-15) + ((uint64_t)(top >= 0x1p-7) & (uint64_t)(top <= 0x1p7)) +
                 ((uint64_t)(top >= 0x1p-3) & (uint64_t)(top <= 0x1p3));
        single = (uint64_t)(top < 0x1p-15);
    }
    double quantum = ulp_from_bits64(b - (places << 52));
    const double anchor = ulp_from_bits64(b - (places << 52) + ((uint64_t)52 << 52));
    const double sum = ulp_anchor64_sum(u, anchor, ULP_RD);
    double down = sum - anchor;
    uint64_t odd = ulp_bits64(sum) & 1u;
    if (kind == ULP_GENERAL_SINGLE || kind == ULP_GENERAL_HIF8)
        odd = ulp_select(single, (field ^ g->parity) & (uint64_t)(down > 0.0), odd) & 1u;
    if (kind == ULP_GENERAL_FLOAT) {
        const uint64_t below = (uint64_t)(u < g->first);
        down = ulp_choose(below, 0.0, down);
        quantum = ulp_choose(below, g->first, quantum);
        odd &= below ^ 1u;
    }
    return down + ulp_choose(ulp_general_up(u - down, quantum, odd, neg, mode), quantum, 0.0);
}

/* A finite number rounded to fixed point modulo 2^bits. */
ULP_CORE double ulp_general_wrapped(double u, uint64_t neg, const ulp_general *g, uint32_t mode) {
    const double v = (u < g->far ? u : 0.0) * g->unit;
    const double sum = ulp_anchor64_sum(v, 0x1p52, ULP_RD), down = sum - 0x1p52;
    const uint64_t odd = ulp_bits64(sum) & 1u, small = (uint64_t)(v < 0x1p52);
    const double rounded = down + ulp_choose(ulp_general_up(v - down, 1.0, odd, neg, mode), 1.0, 0.0);
    const double n = ulp_choose(small, rounded, v), half = 0.5 * g->whole;
    const double rest = n - ((n * g->part + 0x1p52) - 0x1p52) * g->whole; /* exact: |rest| <= half */
    const double r = ulp_choose(neg, -rest, rest);
    return ulp_choose((uint64_t)(r == half), -half, r) * g->quantum + 0.0; /* + 0.0: -0 becomes +0 */
}

/* A number rounded to the format. */
ULP_CORE double ulp_general_round(double x, const ulp_general *g, int kind, uint32_t mode) {
    const uint64_t bits = ulp_bits64(x), a = bits & 0x7fffffffffffffffu, neg = bits >> 63;
    const double u = ulp_from_bits64(a);
    double y = x;
    if (kind == ULP_GENERAL_WRAPPED) {
        y = ulp_general_wrapped(u, neg, g, mode);
    } else if (kind != ULP_GENERAL_KEPT) {
        const double size = ulp_general_magnitude(u, neg, g, kind, mode);
        const double limit = ulp_choose(neg, g->limit[1], g->limit[0]);
        y = ulp_from_bits64(ulp_bits64(size) | neg << 63);
        y = ulp_choose((uint64_t)(size == 0.0), ulp_choose(neg, g->zero[1], g->zero[0]), y);
        y = ulp_choose((uint64_t)(size > limit), ulp_choose(neg, g->overflow[1], g->overflow[0]), y);
    }
    const double infinity = ulp_from_bits64(0x7ff0000000000000u);
    y = ulp_choose((uint64_t)(u == infinity), ulp_choose(neg, g->infinite[1], g->infinite[0]), y);
    return ulp_choose((uint64_t)(x != x), ulp_quiet_nan(), y);
}

#endif
