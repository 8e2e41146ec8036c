/* round.c - the prober's tests of a result: bits kept, rounding, carries, and properties that depend on them. */
#include "vectors.h"

/* The least t such that a sum of 2^t ones has an ulp small enough to test `bits` fraction bits. -1 if no t does. */
static int carry_for(const prober *p, int bits, int products) {
    if (p->f_found != ULP_FOUND || bits <= p->fraction) return 0;
    const int t = bits - p->fraction;
    return t < 7 && (1 << t) + products <= p->length ? t : -1;
}

/* Puts 2^t products of `one` at the front of the first sum. */
static void put_ones(prober *p, int t, double one) {
    if (p->length == 0) ulp_vector_put(p, 0, one);
    for (int i = 0; i < 1 << t && i < p->length; i++) ulp_vector_put(p, p->place[i], one);
}

static double one_of(const prober *p) { return p->inside ? p->one : ulp_power(p->top); }

/* The place of the product after 2^t ones: in the same sum, or in the next sum where a sum has one product. */
static int place_after(const prober *p, int t) {
    return p->length > 1 << t ? p->place[1 << t] : (p->length == 1 && t == 0 ? 1 : -1);
}

/* Forms the sum sign (2^t + extra) in units of one_of(p). The ones are products; `extra` is c if c is in the sum, else
 * a product. */
static void put_sum(prober *p, int t, double sign, double extra) {
    const double one = one_of(p);
    ulp_vector_start(p, p->inside ? sign * extra * one : 0.0);
    put_ones(p, t, sign * one);
    if (!p->inside) ulp_vector_put(p, place_after(p, t), sign * extra * one);
}

/* Whether `extra` is lost without the ones as well, because zeros in the sum take part in the alignment. */
static int lost_beside_zeros(prober *p, int t, double extra) {
    const double small = extra * one_of(p);
    ulp_vector_start(p, p->inside ? small : 0.0);
    if (!p->inside) ulp_vector_put(p, place_after(p, t), small);
    return ulp_vector_gives(p, small) == 0;
}

static void find_kept(prober *p) {
    int n = 1, r = -1, t = 0;
    p->kept = 0;
    for (; n <= 60; n++) {
        if ((t = carry_for(p, n, !p->inside)) < 0) break;
        put_sum(p, t, 1, ulp_power(t - n));
        r = n > 52 ? 0 : ulp_vector_gives(p, one_of(p) * (ulp_power(t) + ulp_power(t - n)));
        if (r != 1) break;
        p->kept = n;
    }
    /* a result outside the format counts as a bit that is lost */
    const int lost = t >= 0 && n <= 60 && (r == 0 || (!p->beyond && p->status == ULP_OK));
    if (lost && r == 0 && lost_beside_zeros(p, t, ulp_power(t - n))) {
        if (p->inside && p->one == 1.0 && p->top > 0) {
            p->one = ulp_power(p->top);
            find_kept(p);
            return;
        }
        ulp_report(p, ULP_P_KEPT, p->kept > 0 ? ULP_AT_LEAST : ULP_NOT_REACHABLE, p->kept,
                   "beside zeros 2^(t-n) is lost without the ones, too");
        p->kept = 0;
        return;
    }
    if (p->kept == 0)
        ulp_unreached(p, ULP_P_KEPT, r == 0 ? "1 + 1/2 is not exact" : "1 + 1/2 cannot be formed in one sum");
    else if (lost)
        ulp_found_value(p, ULP_P_KEPT, p->kept, "2^t ones and 2^(t-n) are exact up to n, t as large as F asks for");
    else ulp_report(p, ULP_P_KEPT, ULP_AT_LEAST, p->kept, "L ones carry no further");
}

/* Whether 1 + `extra` gives another result where zeros precede it. */
static int varies_with_k(prober *p, double extra) {
    double first = 0;
    for (int k = 0; k < 32; k++) {
        ulp_vector_start(p, p->inside ? extra * one_of(p) : 0.0);
        ulp_vector_put(p, k, one_of(p));
        if (!p->inside) ulp_vector_put(p, k + 1, extra * one_of(p));
        const double got = ulp_vector_run(p);
        if (p->beyond) return 0;
        if (k == 0) first = got;
        if (got != first) return 1;
    }
    return 0;
}

/* Finds the mode from sums sign (2^t + (4 q + m) / 4 ulp), by the change of q. */
static void find_mode(prober *p) {
    unsigned modes = ULP_DETERMINISTIC_MODES;
    int seen = 0;
    const int t = carry_for(p, p->kept + 2, !p->inside);
    if (p->kept == 0 || t < 0) {
        ulp_unreached(p, ULP_P_OUTPUT,
                      p->kept == 0 ? "the bits kept are not known"
                                   : "L products do not carry far enough to show quarters of an ulp");
        return;
    }
    const double ulp = ulp_power(t - p->kept);
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int quarters = 1; quarters < 8; quarters++) {
            const int whole = quarters / 4;
            put_sum(p, t, sign, quarters * 0.25 * ulp);
            const double got = sign * ulp_vector_run(p) / one_of(p);
            if (p->beyond) continue;
            ulp_modes_watch(&modes, sign < 0, whole, quarters % 4, (got - ulp_power(t)) / ulp - whole);
            seen++;
        }
    p->mode = seen ? ulp_modes_one(modes) : -1;
    p->stochastic = seen && modes == 0 && varies_with_k(p, 0.5 * ulp);
    if (p->stochastic) {
        ulp_found_value(p, ULP_P_OUTPUT, ULP_STOCHASTIC, "1 + 1/2 ulp at k = 0, 1, ...: up at some k, down at others");
        return;
    }
    ulp_report_mode(p, ULP_P_OUTPUT, modes, seen,
                    t == 0 ? "1 and 1/4 to 7/4 ulp, both signs"
                           : "2^t ones and 1/4 to 7/4 ulp of their sum, both signs");
}

/* Finds the rounding of a c that is added last, from one product and a c of quarters of an ulp of their sum. The sum
 * with c may have more bits than a sum of products. */
static void find_last(prober *p) {
    unsigned modes = ULP_DETERMINISTIC_MODES;
    int seen = 0;
    int n = 0, r = 1;
    for (; n < 52 && r == 1; n += r == 1) {
        ulp_vector_start(p, ulp_power(p->top - n - 1));
        ulp_vector_put(p, 0, ulp_power(p->top));
        r = ulp_vector_gives(p, ulp_power(p->top) + ulp_power(p->top - n - 1));
        /* a result outside the format counts as a bit that is lost */
        if (r < 0 && (p->beyond || p->status != ULP_OK)) break;
    }
    if (n == 0 || p->beyond) {
        ulp_unreached(p, ULP_P_LAST, "c does not reach below an ulp of a product");
        return;
    }
    const double ulp = ulp_power(p->top - n);
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int quarters = 1; quarters < 8; quarters++) {
            const int whole = quarters / 4;
            ulp_vector_start(p, sign * quarters * 0.25 * ulp);
            ulp_vector_put(p, 0, sign * ulp_power(p->top));
            const double got = sign * ulp_vector_run(p);
            if (p->beyond) continue;
            ulp_modes_watch(&modes, sign < 0, whole, quarters % 4, (got - ulp_power(p->top)) / ulp - whole);
            seen++;
        }
    if (seen && modes == 0 && p->stochastic) ulp_unreached(p, ULP_P_LAST, "the rounding is stochastic");
    else ulp_report_mode(p, ULP_P_LAST, modes, seen, "1 and c = 1/4 to 7/4 ulp of their sum, both signs");
}

void ulp_find_rounding(prober *p) {
    find_kept(p);
    find_mode(p);
    if (!p->inside && p->kept > 0) find_last(p);
}

/* ---- properties that depend on bits and rounding ---- */

static void find_carry(prober *p) {
    if (p->length < 3 || p->kept < 6) return;
    ulp_vector_start(p, 0.0);
    for (int i = 0; i < p->length; i++) ulp_vector_put_factors(p, p->place[i], 1.5, 1.5);
    int good = ulp_vector_gives(p, ulp_vector_product(p, 1.5, 1.5) * p->length);
    const int last = p->f_found == ULP_FOUND && p->fraction < p->kept - 1 ? p->fraction : p->kept - 1;
    ulp_vector_start(p, ulp_power(-last));
    for (int i = 0; i < 3; i++) ulp_vector_put(p, p->place[i], 1.0);
    good &= ulp_vector_gives(p, 3 + ulp_power(-last));
    if (good >= 0)
        ulp_found_value(p, ULP_P_CARRY, !good, "L products 1.5 x 1.5 give 2.25 L; 1, 1, 1 and c = 2^-%d are exact",
                        last);
}

/* Looks for a c just below 1 with a larger result than c = 1. The products are 3/2 or 1/2 of the unit of the alignment
 * at c = 1. A c just below 1 keeps their last bits, and c = 1 loses these bits. */
static void find_monotonic(prober *p) {
    int low = p->low;
    if (!p->inside || p->length < 2 || p->f_found != ULP_FOUND) return;
    while (low + p->fraction + 1 > p->unit->result.emax - 2 && low > p->top - p->depth) low--;
    const double c = ulp_power(low + p->fraction + 1), below = ulp_next_down(c, &p->unit->result);
    for (int threes = 0; threes <= p->length; threes++) {
        double got[2];
        for (int i = 0; i < 2; i++) {
            ulp_vector_start(p, i == 0 ? below : c);
            for (int l = 0; l < p->length; l++) ulp_vector_put(p, p->place[l], (l < threes ? 3 : 1) * ulp_power(low));
            got[i] = ulp_vector_run(p);
        }
        if (p->beyond) return;
        if (got[0] <= got[1]) continue;
        ulp_found_value(
            p, ULP_P_MONOTONIC, 1,
            "%d products 2^-%d and %d products 3 x 2^-%d: the sum is less with c = 1 than with c just below 1",
            p->length - threes, p->fraction + 1, threes, p->fraction + 1);
        return;
    }
    ulp_found_value(p, ULP_P_MONOTONIC, 0, "c = 1 and c just below 1, each with L products 2^-%d or 3 x 2^-%d",
                    p->fraction + 1, p->fraction + 1);
}

/* Uses a sum that needs more bits than `kept`, and a next sum that cancels the ones of the first. Where a sum has one
 * product and c is added last, the first sum is two sums: of the one, and of the product after it. */
static void find_between(prober *p) {
    const int t = carry_for(p, p->kept + 2, !p->inside);
    if (p->kept == 0 || t < 0 || p->length == 0) return;
    const double extra = 0.75 * ulp_power(t - p->kept), one = one_of(p);
    const int next = p->length == 1 && !p->inside ? 2 : p->span;
    put_sum(p, t, 1, extra);
    for (int i = 0; i < 1 << t; i++) ulp_vector_put(p, next + p->place[i], -one);
    const double got = ulp_vector_run(p);
    if (!p->beyond)
        ulp_found_value(p, ULP_P_BETWEEN, got == extra * one,
                        "2^t + 3/4 ulp in a sum, -2^t in the next: 3/4 ulp comes out if all is carried on");
}

/* ---- promotion ---- */

enum { CHAIN = 8192 };

/* Forms a sum of n terms: +2^top, then n - 1 products of `small`, each lost against 2^top. Returns how many products
 * are not lost, or -1 if no vector decides. */
static int count_kept(prober *p, double small, int n) {
    double a[CHAIN], b[CHAIN], x, y;
    const double big = ulp_power(p->top);
    if (!ulp_vector_factor(p, &x, &y, small)) return -1;
    for (int i = 1; i < n; i++) a[i] = x, b[i] = y;
    ulp_vector_factor(p, &a[0], &b[0], big);
    if (p->status != ULP_OK) return -1;
    p->status = p->unit->dot(p->unit->context, &p->code, 0.0, (ulp_products){a, b, (size_t)n, NULL, NULL});
    p->to->runs++;
    if (p->status != ULP_OK) return -1;
    const double many = (ulp_decode(p->code, &p->unit->result) - big) / small;
    return many >= 0 && many < n - 1 ? (int)many : -1;
}

/* Whether c = 2^top keeps something of as many products of `small` as a sum takes. */
static int keeps_some(prober *p, double small) {
    const double big = ulp_power(p->top);
    ulp_vector_start(p, big);
    for (int i = 0; i < p->length; i++) ulp_vector_put(p, p->place[i], small);
    return ulp_vector_gives(p, big) == 0;
}

/* A sum stays at its large first term until it is promoted. The sum of the later products gives the length of the
 * interval. The second run has products of half the size, because trees and compensated sums keep more of them. */
static void find_promotion(prober *p) {
    int bits = p->f_found == ULP_FOUND && p->fraction > p->kept + 1 ? p->fraction + 1 : p->kept + 2;
    /* to nearest, products that are not aligned with c have to be lost together, and need not be lost one by one */
    const int by_sum = p->inside && p->mode == ULP_RNE, most = bits + 7;
    if (by_sum) bits = p->kept + 2;
    while (by_sum && bits < most && keeps_some(p, ulp_power(p->top - bits))) bits++;
    if (p->kept == 0 || p->mode < 0 || (p->length > 1 && p->f_found != ULP_FOUND)) {
        ulp_unreached(p, ULP_P_PROMOTION,
                      p->stochastic ? "the rounding is stochastic: no chain stalls for certain"
                                    : "F or the rounding is not known: no products are known to be lost");
        return;
    }
    const double small = ulp_power(p->top - bits);
    const int first = count_kept(p, small, CHAIN), halved = count_kept(p, small / 2, CHAIN);
    if (first < 0 || halved < 0 || first != halved)
        ulp_unreached(p, ULP_P_PROMOTION, "2^%d and products 2^%d: %s", p->top, p->top - bits,
                      first < 0 && halved < 0 ? "the chain does not stall, or they cannot be formed"
                                              : "the chain stalls for some of them only");
    else if (first > 0 && count_kept(p, small, CHAIN - first) != 0) /* later intervals lose products too */
        ulp_unreached(p, ULP_P_PROMOTION, "sums of equal products stall within an interval, too");
    else if (first == 0 && !p->inside && p->mode == ULP_RNE && bits > p->kept + 2)
        ulp_unreached(p, ULP_P_PROMOTION, "products that are lost one by one may be lost together");
    else if (first > 0 && !p->inside && p->mode == ULP_RNE && CHAIN - first == p->length)
        ulp_unreached(p, ULP_P_PROMOTION, "the products of one sum are not lost together");
    else
        ulp_found_value(p, ULP_P_PROMOTION, first == 0 ? 0 : CHAIN - first, "1 and %d products 2^-%d: %s", CHAIN - 1,
                        bits, first == 0 ? "all are lost" : "those after the first interval count");
}

static uint64_t mix(uint64_t *state) { /* splitmix64 (Steele et al. 2014, doi:10.1145/2660193.2660195) */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Runs sums of random operands in order, in reverse order and rotated. Groups stay together. */
static void find_permuted(prober *p) {
    enum { TRIALS = 100 };
    uint64_t state = 1, first = 0;
    int differs = 0;
    const int group = p->group > 1 ? p->group : 1, groups = p->length / group;
    const int reach = p->depth < 5 ? 1 : (p->depth < 36 ? p->depth : 36) - 3;
    if (groups < 2) return;
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint64_t seed = mix(&state);
        for (int turn = 0; turn < 3; turn++) {
            uint64_t s = seed;
            ulp_vector_start(p, ulp_power((int)(mix(&s) % 5)));
            for (int i = 0; i < p->length; i++) {
                const int g = i / group,
                          to = turn == 0 ? g : (turn == 1 ? groups - 1 - g : (g + groups / 2 + 1) % groups);
                const uint64_t r = mix(&s);
                const int odd = p->unit->a.prec > 2 ? (int)(r % 4) * 2 + 1 : (int)(r % 2) * 2 + 1,
                          e = p->top - 4 - (int)((r >> 8 & 0xffff) % (unsigned)reach);
                ulp_vector_put(p, p->place[to * group + i % group], (r >> 40 & 1 ? -odd : odd) * ulp_power(e));
            }
            ulp_vector_run(p);
            if (p->beyond) break;
            if (turn == 0) first = p->code;
            else differs |= p->code != first;
        }
    }
    if (!p->beyond)
        ulp_found_value(p, ULP_P_PERMUTED, differs, "%d sums of random operands, each forwards, backwards and turned",
                        TRIALS);
}

/* 1.5 x 1.5 = 2.25 aligns with exponent 1 if products are normalised. The control sum with twice the power must lose
 * the term. */
static void find_normalised(prober *p) {
    double x, y;
    const int e = p->top - 1, f = p->to->property[ULP_P_FRACTION_C].found == ULP_FOUND
                                      ? (int)p->to->property[ULP_P_FRACTION_C].value
                                      : p->fraction;
    const int as_product = !p->inside;
    if (p->length < 2 || (p->inside ? p->to->property[ULP_P_FRACTION_C].found : p->f_found) != ULP_FOUND) return;
    ulp_vector_factor(p, &x, &y, ulp_power(e + 1));
    const int control = ulp_survives(p, x, y, ulp_power(e - f), as_product);
    ulp_vector_factor(p, &x, &y, ulp_power(e));
    const int product = ulp_survives(p, 1.5 * x, 1.5 * y, ulp_power(e - f), as_product);
    if (control == 0 && product >= 0)
        ulp_found_value(p, ULP_P_NORMALISED, !product, "1.5 x 1.5 - 1.5 x 1.5 + 2^-F; beside 2 - 2 it is lost");
}

/* Uses the least value of a times a power of two. Its exponent is that of the least normal value, or its own
 * exponent. */
static void find_subnormal(prober *p) {
    const ulp_format *a = &p->unit->a, *b = &p->unit->b;
    const int f = (int)p->to->property[ULP_P_FRACTION_C].value, drop = a->prec - 1;
    double y = ulp_power(b->emax);
    if (!p->inside || p->length < 2 || p->to->property[ULP_P_FRACTION_C].found != ULP_FOUND || !a->has_subnormals ||
        drop < 1)
        return;
    while (y > b->max) y *= 0.5;
    int j = 0, r = 1;
    for (; j < 100 &&
           (r = ulp_survives(p, a->min_positive, y, ulp_vector_product(p, a->min_positive, y) * ulp_power(-j), 0)) == 1;
         j++) {}
    if (r == 0 && j - 1 == f - drop)
        ulp_found_value(p, ULP_P_SUBNORMAL, 0, "+x -x and c, x the least value times 2^%d: c is lost %d places earlier",
                        b->emax, drop);
    else if (r == 0 && j - 1 == f)
        ulp_found_value(p, ULP_P_SUBNORMAL, 1,
                        "+x -x and c, x the least value times 2^%d: c is lost as beside a normal x", b->emax);
    else
        ulp_unreached(p, ULP_P_SUBNORMAL, "no c is small enough to be lost beside the least value times 2^%d", b->emax);
}

void ulp_probe_rounding(prober *p) {
    const int groups = p->group > 1;
    const struct {
        ulp_property_id id;
        const char *why;
    } missing[] = {
        {ULP_P_CARRY, "needs three products in a sum and six bits"},
        {ULP_P_MONOTONIC, "needs L and F, c in the sum and products that small"},
        {ULP_P_BETWEEN, "L products do not carry far enough"},
        {ULP_P_PERMUTED, "one product at a time, or one group"},
        {ULP_P_NORMALISED, groups ? "groups align at the exponents of their scales"
                                  : "needs two products in a sum, F, and products that show it"},
        {ULP_P_SUBNORMAL, groups ? "groups align at the exponents of their scales"
                                 : "needs c in the sum, F of c and subnormal operands"},
    };
    for (unsigned i = 0; i < sizeof missing / sizeof missing[0]; i++)
        if (p->to->property[missing[i].id].found == ULP_NOT_REACHABLE)
            ulp_report(p, missing[i].id, ULP_NOT_REACHABLE, 0, "%s", missing[i].why);
    if (p->inside || p->kept == 0)
        ulp_unreached(p, ULP_P_LAST, "%s", p->inside ? "c is not added last" : "the bits kept are not known");
    find_carry(p);
    find_monotonic(p);
    find_between(p);
    find_promotion(p);
    find_permuted(p);
    if (groups) return;
    find_normalised(p);
    find_subnormal(p);
}
