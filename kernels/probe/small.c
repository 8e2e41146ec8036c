/* small.c - the prober's tests of signs, of numbers far below a sum, of bits below c, and of numbers below the least
 * normal number.
 */
#include "vectors.h"

#include <string.h>

/* ---- signs ---- */

enum { SIGN_SUMS = 64, SIGN_PRODUCTS = 8 };

/* Products of +-1, +-2 and +-4, and a start value that is small against them: the same sum for the same i. */
static void put_small_start(prober *p, int i, int negate) {
    uint32_t random = 12345u + 977u * (uint32_t)i;
    const double c = ulp_scale((double)(1 + i % 7), -i % (p->unit->result.prec + 6));
    ulp_vector_start(p, (i % 2 != 0) != negate ? -c : c);
    for (int k = 0; k < SIGN_PRODUCTS; k++) {
        random = random * 1664525u + 1013904223u;
        const double product = (double)(1 << (random >> 28 & 1)) * (double)(1 << (random >> 29 & 1));
        ulp_vector_put(p, k, (random >> 31 != 0) != negate ? -product : product);
    }
}

static void find_symmetry(prober *p) {
    int seen = 0, odd = 1;
    if (!p->unit->a.is_signed || !p->unit->result.is_signed || p->stochastic) {
        ulp_unreached(p, ULP_P_SIGNS, "%s",
                      p->stochastic ? "the rounding is stochastic" : "there are no negative numbers");
        return;
    }
    for (int i = 0; i < SIGN_SUMS && p->status == ULP_OK; i++) {
        put_small_start(p, i, 0);
        const double y = ulp_vector_run(p);
        if (p->beyond) continue;
        put_small_start(p, i, 1);
        const double z = ulp_vector_run(p);
        if (p->beyond || y != y) continue;
        odd &= y == -z;
        seen++;
    }
    if (seen > SIGN_SUMS / 4)
        ulp_found_value(p, ULP_P_SIGNS, !odd, "%d sums with small c, and the same with all signs changed", seen);
    else ulp_unreached(p, ULP_P_SIGNS, "too few sums of these formats");
}

/* ---- a start value far below the sum ---- */

/* The result of a product +-2^t and c = +-2^(t - prec - 3), in units of the product: -1 below, 0 equal, 1 above; 2 if
 * the vector cannot be formed. */
static int moved(prober *p, int t, int negative, int c_negative) {
    const double base = negative ? -ulp_power(t) : ulp_power(t), c = ulp_power(t - p->unit->result.prec - 3);
    ulp_vector_start(p, c_negative ? -c : c);
    ulp_vector_put(p, 0, base);
    const double y = ulp_vector_run(p);
    if (p->beyond || y != y) return 2;
    return y > base ? 1 : y < base ? -1 : 0;
}

static void find_small_start(prober *p) {
    static const struct {
        int moved[4]; /* +base +c, +base -c, -base +c, -base -c */
        int value;
    } patterns[] = {{{0, 0, 0, 0}, ULP_SMALL_LOST},    {{0, -1, 0, -1}, ULP_SMALL_DOWN},
                    {{0, -1, 0, 0}, ULP_SMALL_DOWN}, /* down to half an ulp of -base, and to even */
                    {{1, 0, 1, 0}, ULP_SMALL_UP},      {{0, -1, 1, 0}, ULP_SMALL_TO_ZERO},
                    {{1, -1, 1, -1}, ULP_SMALL_TO_ODD}};
    const int t = p->unit->result.emin + p->unit->result.prec + 4 > 0 ? 4 : 0;
    int got[4], value = ULP_SMALL_ANOTHER, seen = 1;
    for (int i = 0; i < 4; i++) seen &= (got[i] = moved(p, t, i >= 2, i % 2)) != 2;
    for (size_t m = 0; m < sizeof patterns / sizeof patterns[0]; m++)
        if (memcmp(got, patterns[m].moved, sizeof got) == 0) value = patterns[m].value;
    if (p->stochastic || !seen)
        ulp_unreached(p, ULP_P_SMALL_C, "%s",
                      seen ? "the rounding is stochastic" : "the formats hold no such product and c");
    else ulp_found_value(p, ULP_P_SMALL_C, value, "products +-2^%d and c = +-2^%d", t, t - p->unit->result.prec - 3);
}

/* ---- the order in a pair ---- */

/* Whether 2^t + the two products, -2^t and 2^(t - prec) with the latter at place `at`, is 2^(t - prec): 1, 0 if it is
 * zero, -1 else. */
static int keeps_last(prober *p, int t, int at) {
    const double small = ulp_power(t - p->unit->result.prec);
    ulp_vector_start(p, ulp_power(t));
    ulp_vector_put(p, at, small);
    ulp_vector_put(p, 1 - at, -ulp_power(t));
    const double y = ulp_vector_run(p);
    return p->beyond ? -1 : y == small ? 1 : y == 0.0 ? 0 : -1;
}

static void find_pair(prober *p) {
    double x, y;
    int t = p->unit->result.prec;
    while (t > 0 && !(ulp_vector_factor(p, &x, &y, ulp_power(t)) &&
                      ulp_vector_factor(p, &x, &y, ulp_power(t - p->unit->result.prec))))
        t--;
    const int first = keeps_last(p, t, 1), second = keeps_last(p, t, 0);
    if (p->stochastic || first < 0 || second < 0)
        ulp_unreached(p, ULP_P_PAIR, "the formats hold no such products, or the rounding hides them");
    else
        ulp_found_value(p, ULP_P_PAIR,
                        first && second ? 2
                        : first         ? 0
                        : second        ? 1
                                        : 3,
                        "c = 2^%d, products -2^%d and 2^%d in both orders: which sum is not zero", t, t,
                        t - p->unit->result.prec);
}

/* ---- below the least normal number ---- */

/* c has to meet a product before it meets a zero, so both first places are tried. */
static void find_subnormal_start(prober *p) {
    const double normal = ulp_power(p->unit->result.emin);
    int kept = 0, flushed = 0;
    for (int k = 0; k < 2; k++) {
        ulp_vector_start(p, 0.5 * normal);
        ulp_vector_put(p, k, normal);
        const double y = ulp_vector_run(p);
        kept |= !p->beyond && y == 1.5 * normal;
        flushed |= !p->beyond && y == normal;
    }
    if (p->beyond || p->unit->result.qmin == p->unit->result.emin)
        ulp_unreached(p, ULP_P_SUBNORMAL_C, "no product is the least normal number");
    else if (kept || flushed)
        ulp_found_value(p, ULP_P_SUBNORMAL_C, !kept, "c half the least normal number, which is a product");
    else ulp_unreached(p, ULP_P_SUBNORMAL_C, "zeros or the floor cut such sums");
}

static void find_tiny(prober *p) {
    const double normal = ulp_power(p->unit->result.emin);
    ulp_vector_start(p, 1.5 * normal);
    ulp_vector_put(p, 0, -normal);
    const double y = ulp_vector_run(p);
    if (p->beyond || p->unit->result.qmin == p->unit->result.emin)
        ulp_unreached(p, ULP_P_TINY, "no product is the least normal number");
    else if (y == 0.5 * normal || y == 0.0)
        ulp_found_value(p, ULP_P_TINY, y == 0.0, "c = 3/2 of the least normal number and a product of -1");
    else ulp_unreached(p, ULP_P_TINY, "zeros or the floor cut such sums");
}

/* The result of the least normal number times `factor`, c or the product at place 0, and a tiny product after it. */
static double beside(prober *p, int place, double factor, double tiny) {
    const double normal = factor * ulp_power(p->unit->result.emin);
    ulp_vector_start(p, place == 0 ? normal : 0.0);
    if (place != 0) ulp_vector_put(p, 0, normal);
    ulp_vector_put(p, place, tiny);
    return ulp_vector_run(p);
}

/* With a rounding to nearest: 2^emin - 2^(emin - prec - 1) rounds to 2^emin with any exponents, and 2^emin - 2^(emin -
 * prec) only in the format. A tiny product has to be added before it is rounded. */
static void find_flush(prober *p) {
    const int emin = p->unit->result.emin, prec = p->unit->result.prec;
    const double normal = ulp_power(emin);
    ulp_unreached(p, ULP_P_FLUSH, "tiny results are not flushed, or not rounded to nearest");
    if (p->to->property[ULP_P_TINY].found != ULP_FOUND || p->to->property[ULP_P_TINY].value == 0 || p->mode != ULP_RNE)
        return;
    ulp_unreached(p, ULP_P_FLUSH, "a tiny product is flushed before it is added, or cannot be formed");
    for (int place = 0; place <= 4; place++) {
        const double proof = ulp_power(emin - prec / 2);
        if (beside(p, place, 1.5, proof) != 1.5 * normal + proof || p->beyond) continue;
        const double nearly = beside(p, place, 1.0, -ulp_power(emin - prec - 1));
        const double below = beside(p, place, 1.0, -ulp_power(emin - prec));
        if (p->beyond) continue;
        ulp_found_value(p, ULP_P_FLUSH,
                        nearly == 0.0  ? 0
                        : below == 0.0 ? 1
                                       : 2,
                        "2^%d less 2^%d and less 2^%d: which one is zero", emin, emin - prec - 1, emin - prec);
        return;
    }
}

/* ---- signs of zeros ---- */

static void find_minus_zeros(prober *p) {
    const double half = -0.5 * ulp_power(p->unit->result.emin);
    ulp_unreached(p, ULP_P_MINUS_ZERO, "there is no -0");
    ulp_unreached(p, ULP_P_NEGATIVE_C, "there is no negative subnormal c");
    if (!p->unit->result.has_neg_zero || !p->unit->a.is_signed) return;
    ulp_vector_start(p, -0.0);
    for (int k = 0; k < PROBE_K; k++) p->a[k] = -1.0;
    ulp_found_value(p, ULP_P_MINUS_ZERO, ulp_zero_sign(ulp_vector_run(p)), "c = -0 and products -1 x 0");
    ulp_vector_start(p, half);
    ulp_vector_put_factors(p, 0, 0.0, 1.0);
    if (p->beyond || p->unit->result.qmin == p->unit->result.emin) return;
    const double y = ulp_vector_run(p);
    ulp_found_value(p, ULP_P_NEGATIVE_C,
                    y == half  ? 0
                    : y != 0.0 ? 3
                               : 2 - ulp_zero_sign(y),
                    "c = -2^%d and a product 0 x 1", p->unit->result.emin - 1);
}

/* ---- parts ---- */

/* +big and -big at the first and the third place, and half the negative unit of the alignment at another: lost in their
 * part, where it is cut toward zero, and a whole unit in another part, whose sum is rounded down. */
static void find_parts(prober *p) {
    const double half = ulp_power(p->top - p->fraction - 1);
    int apart = 0, seen = 0;
    ulp_unreached(p, ULP_P_PARTS, "needs four products in a sum, F, and an alignment toward zero");
    if (p->length < 4 || p->f_found != ULP_FOUND || p->group > 1 || p->to->property[ULP_P_SIGNS].found != ULP_FOUND)
        return;
    for (int i = 1; i < p->length; i++) {
        if (i == 2) continue;
        ulp_vector_start(p, 0.0);
        ulp_vector_put(p, p->place[0], ulp_power(p->top));
        ulp_vector_put(p, p->place[2], -ulp_power(p->top));
        ulp_vector_put(p, p->place[i], -half);
        const double y = ulp_vector_run(p);
        if (p->beyond || (y != 0.0 && y != -2 * half)) return;
        apart += y != 0.0;
        seen++;
    }
    if (apart < seen)
        ulp_found_value(p, ULP_P_PARTS, apart == 0 ? 1 : 2,
                        "+big -big and -2^-%d big: at %d of %d places a unit is left", p->fraction + 1, apart, seen);
}

/* ---- bits below c ---- */

/* Whether c = 2^t, +-2^(t - gap), half a unit in the last place of their sum, and 2^(t - j) round up to the next
 * number: 1, 0 if down, -1 if the vector cannot be formed or gives another result. j = 0: without the last product. */
static int breaks_tie(prober *p, int t, int gap, int sign, int j) {
    const double base = ulp_power(t) + sign * ulp_power(t - gap),
                 unit = ulp_power(t + 1 - p->unit->result.prec - (sign < 0));
    ulp_vector_start(p, ulp_power(t));
    ulp_vector_put(p, 0, sign * ulp_power(t - gap));
    ulp_vector_put(p, 1, 0.5 * unit);
    if (j > 0) ulp_vector_put(p, 2, ulp_power(t - j));
    const double y = ulp_vector_run(p);
    return p->beyond ? -1 : y == base + unit ? 1 : y == base ? 0 : -1;
}

/* The sum ends below 2^t with sign = -1, and has the exponent t with sign = 1. */
static void find_bits_below(prober *p, ulp_property_id id, int sign) {
    const int prec = p->unit->result.prec, gap = prec < 19 ? prec - 3 : 16, first = prec + 1 + (sign < 0);
    ulp_report(p, id, ULP_NOT_REACHABLE, 0, "needs a rounding to nearest of c and three products in one sum");
    if (prec < 8 || p->stochastic) return;
    for (int t = 30; t > -20; t--) {
        int last = first, r = breaks_tie(p, t, gap, sign, 0);
        if (r != 0 || breaks_tie(p, t, gap, sign, first) != 1) continue;
        while (last < 100 && (r = breaks_tie(p, t, gap, sign, last + 1)) == 1) last++;
        /* where the alignment, or a rounding, of the products may cut */
        const int end = gap + (p->f_found == ULP_FOUND ? p->fraction : prec) - (sign > 0);
        ulp_report(p, id, r == 0 && last < end ? ULP_FOUND : ULP_AT_LEAST, last,
                   "c = 2^%d, %c2^%d, half an ulp, and 2^(%d - j): the tie is broken up to j = %d", t,
                   sign < 0 ? '-' : '+', t - gap, t, last);
        if (r == 0) return;
    }
}

void ulp_probe_small(prober *p) {
    find_symmetry(p);
    find_small_start(p);
    find_pair(p);
    find_subnormal_start(p);
    find_tiny(p);
    find_flush(p);
    find_minus_zeros(p);
    find_parts(p);
    find_bits_below(p, ULP_P_BESIDE_C, -1);
    find_bits_below(p, ULP_P_BEFORE, 1);
}
