/* sum.c - the prober's tests of a sum: which products it adds, how it aligns them, and the place of c.
 *
 * If the formats have a wide range, the test +big - big + small shows that a term is lost. In narrow formats c is the
 * large term, and the test is the effect of a small product on the last bit of the result.
 */
#include "vectors.h"

/* ---- products and powers that can be formed ---- */

void ulp_probe_shift(prober *p) {
    ulp_vector_start(p, 0.0);
    ulp_vector_put_factors(p, 0, 1.0, 1.0);
    const double y = ulp_vector_run(p);
    int shift = 0;
    while (shift < 127 && y < ulp_power(-shift)) shift++;
    if (p->beyond || y != ulp_power(-shift)) {
        ulp_unreached(p, ULP_P_SHIFT, "1 x 1 alone cannot be formed, or gives no power of two");
        return;
    }
    p->shift = shift;
    ulp_found_value(p, ULP_P_SHIFT, shift, "1 x 1 alone gives 2^-%d", shift);
}

static void find_reach(prober *p) {
    double x, y;
    for (p->top = 12; p->top > -20; p->top--)
        if (p->top <= p->unit->result.emax - 3 && ulp_vector_factor(p, &x, &y, ulp_power(p->top))) break;
    while (p->depth < 100 && ulp_is_member(ulp_power(p->top - p->depth - 1), &p->unit->result, 0) &&
           ulp_vector_factor(p, &x, &y, ulp_power(p->top - p->depth - 1)))
        p->depth++;
    for (; p->depth > 1; p->depth--) { /* the device may flush a product of subnormal operands */
        ulp_vector_start(p, 0.0);
        ulp_vector_put(p, 0, ulp_power(p->top - p->depth));
        if (ulp_vector_gives(p, ulp_power(p->top - p->depth)) == 1) break;
    }
    p->low = p->top - p->depth > -8 ? p->top - p->depth : -8;
    const double small = ulp_power(p->top - p->depth);
    ulp_vector_start(p, 0.0);
    ulp_vector_put(p, 0, ulp_power(p->top));
    ulp_vector_put(p, 1, small);
    ulp_vector_put(p, 2, -ulp_power(p->top));
    p->cancels = ulp_vector_gives(p, small) == 0;
}

/* ---- L and the order of k ---- */

/* lost[l] = 1 if the sum of +big at `at`, -big at `at` + 1 and a small product at l loses the small product. Returns
 * one more than the last l with lost[l] = 1, or 0. */
static int find_lost(prober *p, int at, uint8_t lost[PROBE_K]) {
    int end = 0;
    for (int l = 0; l < PROBE_K; l++) {
        lost[l] = 0;
        if (l == at || l == at + 1) continue;
        ulp_vector_start(p, 0.0);
        ulp_vector_put(p, at, ulp_power(p->top));
        ulp_vector_put(p, at + 1, -ulp_power(p->top));
        ulp_vector_put(p, l, ulp_power(p->top - p->depth));
        lost[l] = ulp_vector_gives(p, ulp_power(p->top - p->depth)) == 0;
        if (lost[l]) end = l + 1;
    }
    return end;
}

/* Whether c = 2^s and a product of half an ulp give c, and with a product too small for a rounded sum of both, c + ulp:
 * an exact sum of three terms, which is rounded once to nearest. */
static int adds_two_exactly(prober *p) {
    const int prec = p->unit->result.prec;
    int s = 0;
    double x, y;
    while (s < p->top && !ulp_vector_factor(p, &x, &y, ulp_power(s - 2 * prec - 2))) s++;
    const double c = ulp_power(s), ulp = ulp_power(s + 1 - prec);
    ulp_vector_start(p, c);
    ulp_vector_put(p, 0, 0.5 * ulp);
    if (ulp_vector_gives(p, c) != 1) return 0;
    ulp_vector_put(p, 1, ulp_scale(ulp, -prec - 3));
    return ulp_vector_gives(p, c + ulp) == 1;
}

/* The length of a sum that loses no third product next to two: 1 or 2. */
static int one_or_two(prober *p) {
    const double big = ulp_power(p->top), small = ulp_power(p->top - p->depth);
    if (adds_two_exactly(p)) return 2;
    ulp_vector_start(p, big);
    ulp_vector_put(p, 0, -big);
    ulp_vector_put(p, 1, small);
    if (ulp_vector_gives(p, small) != 0) return 1;
    ulp_vector_start(p, small); /* a c that is added last gives 0 as well, but a small c then stays in the result */
    ulp_vector_put(p, 0, big);
    ulp_vector_put(p, 1, -big);
    return ulp_vector_gives(p, small) == 1 ? 1 : 2;
}

static void find_length(prober *p) {
    uint8_t lost[PROBE_K];
    const int end = find_lost(p, 0, lost);
    p->place[0] = 0, p->place[1] = 1, p->length = 2;
    for (int l = 2; l < end; l++)
        if (lost[l]) p->place[p->length++] = l;
    p->span = end > 2 ? end : 2;
    if (end == 0) p->length = p->span = one_or_two(p);
    const int j = p->depth;
    if (p->length == 1)
        ulp_found_value(p, ULP_P_LENGTH, 1, "+big - big + 2^-%d big: the small term is not lost at any k after them",
                        j);
    else
        ulp_report(p, ULP_P_LENGTH, end == PROBE_K ? ULP_AT_LEAST : ULP_FOUND, p->length,
                   "+big at k = 0, -big at 1, 2^-%d big at k: lost in the same sum", j);
    int first = 2, mod4 = 1;
    while (first < end && lost[first]) first++;
    if (first >= end) {
        ulp_found_value(p, ULP_P_ORDER, 0, "the small term is lost up to k = %d and kept after it", p->span - 1);
        return;
    }
    for (int l = 2; l < end; l++) mod4 &= lost[l] == (l % 4 < 2);
    p->span = find_lost(p, first, lost);
    ulp_found_value(p, ULP_P_ORDER, mod4 ? 1 : 2,
                    "+big at k = 0, -big at 1: a small term at k = 2, 3 (mod 4) below %d outlives them", p->span);
}

/* ---- narrow formats: c is in the sum, and a product changes the last bit of the result ---- */

/* Whether c = sign 2^(low + j) and a product of -sign quarters 2^low give a result other than c. Then the alignment
 * keeps the product. In mode rne another product of half an ulp of c makes a tie, and a product of sign quarters 2^low
 * breaks it. */
static int changes_result(prober *p, int j, int sign, int quarters) {
    const double c = sign * ulp_power(p->low + j), small = sign * quarters * ulp_power(p->low);
    ulp_vector_start(p, c);
    if (p->mode == ULP_RZ) ulp_vector_put(p, 0, -small);
    else if (p->mode == ULP_RNE) {
        ulp_vector_put(p, 0, ulp_scale(c, -p->kept - 1));
        ulp_vector_put(p, 1, small);
    } else return -1;
    const int unchanged = ulp_vector_gives(p, c);
    return unchanged < 0 ? -1 : !unchanged;
}

static void find_fraction_narrow(prober *p) {
    int j = p->mode == ULP_RNE ? p->kept + 2 : 1, r = -1;
    for (; j <= 80 && (r = changes_result(p, j, 1, 1)) == 1 && (r = changes_result(p, j, -1, 1)) == 1; j++) {
    } /* both signs, since the alignment may round to one side */
    p->fraction = j - 1;
    p->f_found = r == 0 ? ULP_FOUND : (j > (p->mode == ULP_RNE ? p->kept + 2 : 1) ? ULP_AT_LEAST : ULP_NOT_REACHABLE);
    const int own_sum = p->f_found == ULP_FOUND && p->mode == ULP_RNE && p->fraction >= p->kept + p->unit->result.prec;
    if (own_sum)
        ulp_unreached(p, ULP_P_FRACTION, "products have a rounded sum of their own, which keeps 2^-%d beside c = 1",
                      p->fraction);
    else if (p->f_found == ULP_NOT_REACHABLE)
        ulp_unreached(p, ULP_P_FRACTION, "products reach from 2^%d to 2^%d only", p->top - p->depth, p->top);
    else if (p->mode == ULP_RZ)
        ulp_report(p, ULP_P_FRACTION, p->f_found, p->fraction,
                   "c = +-2^j 2^%d and a product of -+2^%d: the result is nearer to 0 than c", p->low, p->low);
    else
        ulp_report(p, ULP_P_FRACTION, p->f_found, p->fraction,
                   "c = 2^j 2^%d, half its ulp, and 2^%d: the tie is broken", p->low, p->low);
}

static void find_length_narrow(prober *p) {
    const int shift = p->mode == ULP_RNE ? 3 : 2;
    const double ulp = ulp_power(p->low + shift), c = ulp_scale(ulp, p->kept);
    int end = 0;
    if (p->f_found == ULP_FOUND && p->fraction < p->kept + shift) {
        ulp_unreached(p, ULP_P_LENGTH, "F is so small that products below an ulp of c are aligned away");
        return;
    }
    p->place[p->length++] = 0;
    for (int i = 1; i < PROBE_K; i++) {
        ulp_vector_start(p, c);
        ulp_vector_put(p, 0, 3 * ulp_power(p->low));
        ulp_vector_put(p, i, 3 * ulp_power(p->low));
        if (ulp_vector_gives(p, c + ulp) != 1) continue;
        p->place[p->length++] = i;
        end = i + 1;
    }
    p->span = end > 0 ? end : 1;
    ulp_report(p, ULP_P_LENGTH, end == PROBE_K ? ULP_AT_LEAST : ULP_FOUND, p->length,
               "c and two products of %s ulp, at k = 0 and k: only in one sum they move c", shift == 3 ? "3/8" : "3/4");
    ulp_found_value(p, ULP_P_ORDER, p->length == p->span ? 0 : 2, "the two move c up to k = %d", p->span - 1);
}

/* Products below the aligned unit have an effect together if they are added before the alignment. */
static void find_group_narrow(prober *p) {
    p->group = 0;
    if (p->mode != ULP_RZ || p->f_found != ULP_FOUND || p->length < 2) {
        ulp_unreached(p, ULP_P_GROUP, "no vector of these products shows that terms are lost");
        return;
    }
    const double c = ulp_power(p->low + p->fraction + 1);
    p->group = 1;
    for (int i = 1; i < p->length; i++) {
        ulp_vector_start(p, c);
        ulp_vector_put(p, 0, -ulp_power(p->low));
        ulp_vector_put(p, p->place[i], -ulp_power(p->low));
        if (ulp_vector_gives(p, c) == 0) p->group++;
    }
    ulp_found_value(p, ULP_P_GROUP, p->group,
                    "c and two products of half the aligned unit: together they count in a group");
}

/* All ties here lie above an even unit, where rnz gives what rne gives; no known unit has rnz. */
static void find_align_narrow(prober *p) {
    unsigned modes = ULP_DETERMINISTIC_MODES & ~(1u << ULP_RNZ);
    int seen = 0;
    if (p->f_found != ULP_FOUND || p->mode != ULP_RZ) {
        ulp_unreached(p, ULP_P_ALIGN, "F of products is not reachable");
        return;
    }
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int q = 1; q <= 3; q++) {
            const int r = changes_result(p, p->fraction + 2, sign, q);
            if (r < 0) continue;
            ulp_modes_watch(&modes, sign > 0, 0, q, r);
            seen++;
        }
    ulp_report_mode(p, ULP_P_ALIGN, modes, seen,
                    "c = +-2^F units and products of 1/4, 1/2, 3/4 unit: whether the result moves");
}

/* ---- F, the place of c, alignment ---- */

/* The largest j for which a product 2^-j at place k is kept. *reached_end = 1 if every j that can be formed is kept. */
static int fraction_at(prober *p, int k, int *reached_end) {
    int j = 1;
    for (; j <= p->depth; j++) {
        ulp_vector_start(p, 0.0);
        ulp_vector_put(p, k, ulp_power(p->top - j));
        double x, y;
        ulp_vector_factor(p, &x, &y, ulp_power(p->top));
        ulp_vector_pair(p, x, y, k);
        if (ulp_vector_gives(p, ulp_power(p->top - j)) != 1) break;
    }
    *reached_end = j > p->depth;
    return j - 1;
}

static void find_fraction(prober *p) {
    int least = 1000, most = 0, end;
    if (p->length < 2) {
        ulp_unreached(p, ULP_P_FRACTION, "one product at a time: no third term is aligned with two that cancel");
        return;
    }
    for (int i = 0; i < p->length; i++) {
        const int f = fraction_at(p, p->place[i], &end);
        least = f < least ? f : least;
        most = f > most ? f : most;
    }
    p->fraction = least;
    p->f_found = end ? ULP_AT_LEAST : ULP_FOUND;
    if (least == most)
        ulp_report(p, ULP_P_FRACTION, p->f_found, least, "+1 -1 2^-j returns 2^-j up to j = F, at every k of the sum");
    else
        ulp_report(p, ULP_P_FRACTION, p->f_found, least, "+1 -1 2^-j returns 2^-j up to j = F; up to %d at some k",
                   most);
}

static void find_place(prober *p) {
    double x, y, big = p->group > 1 ? 1.0 : ulp_power(p->top); /* groups align at the exponents of their scales */
    int j = 1, r = 1;
    ulp_vector_factor(p, &x, &y, big);
    if (p->length == 1) { /* the order of the sum is c = small, +big, -big */
        ulp_vector_start(p, ulp_power(p->top - p->depth));
        ulp_vector_put(p, 0, big);
        ulp_vector_put(p, 1, -big);
        p->inside = ulp_vector_run(p) != p->c;
        ulp_unreached(p, ULP_P_FRACTION_C, "one product at a time");
        ulp_found_value(p, ULP_P_PLACE, !p->inside, "c = 2^-%d big, +big, -big: c is %s", p->depth,
                        p->inside ? "lost" : "kept");
        return;
    }
    for (; j <= 100 && (r = ulp_survives(p, x, y, big * ulp_power(-j), 0)) == 1; j++) {}
    p->inside = r == 0;
    if (r == 0) {
        ulp_found_value(p, ULP_P_FRACTION_C, j - 1, "+1 -1 and c = 2^-j return 2^-j up to j = F");
        ulp_found_value(p, ULP_P_PLACE, 0, "c = 2^-%d is lost beside +1 -1", j);
    } else if (j > 1 && p->f_found == ULP_FOUND && j - 1 > p->fraction) {
        ulp_unreached(p, ULP_P_FRACTION_C, "c is not in the sum");
        ulp_found_value(p, ULP_P_PLACE, 1, "c = 2^-%d outlives +1 -1", j - 1);
    } else {
        p->inside = 1;
        ulp_report(p, ULP_P_FRACTION_C, j > 1 ? ULP_AT_LEAST : ULP_NOT_REACHABLE, j - 1, "c reaches no further");
        ulp_unreached(p, ULP_P_PLACE, "no c is small enough to be lost");
    }
}

static void find_align(prober *p) {
    unsigned modes = ULP_DETERMINISTIC_MODES;
    int seen = 0;
    if (p->f_found != ULP_FOUND || p->length < 2) {
        ulp_unreached(p, ULP_P_ALIGN,
                      p->length < 2 ? "one product at a time: nothing is aligned" : "F is not reachable");
        return;
    }
    const int at = p->place[p->length - 1];
    const double unit = ulp_power(p->top - p->fraction);
    double x, y;
    ulp_vector_factor(p, &x, &y, ulp_power(p->top));
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int quarters = 1; quarters < 8; quarters++) {
            const int whole = quarters / 4;
            ulp_vector_start(p, 0.0);
            ulp_vector_put(p, at, sign * quarters * 0.25 * unit);
            ulp_vector_pair(p, x, y, at);
            const double got = sign * ulp_vector_run(p) / unit;
            if (p->beyond) continue;
            ulp_modes_watch(&modes, sign < 0, whole, quarters % 4, got - whole);
            seen++;
        }
    ulp_report_mode(p, ULP_P_ALIGN, modes, seen, "+1 -1 and x 2^-F, x = +-1/4 to +-7/4: the result in units of 2^-F");
}

void ulp_probe_sum(prober *p) {
    find_reach(p);
    if (p->cancels) {
        find_length(p);
        find_fraction(p);
        if (p->length > 2)
            ulp_found_value(p, ULP_P_GROUP, 1, "a third product is lost beside two that cancel: each is aligned alone");
        find_place(p);
        find_align(p);
        ulp_find_rounding(p);
        return;
    }
    ulp_find_rounding(p);
    if (p->kept == 0 || (p->mode != ULP_RZ && p->mode != ULP_RNE)) {
        ulp_unreached(p, ULP_P_LENGTH, "nothing is lost from 2^%d to 2^%d, and the rounding is not to zero or nearest",
                      p->top, p->top - p->depth);
        return;
    }
    find_fraction_narrow(p);
    if (p->f_found == ULP_FOUND && p->fraction < p->kept + 2) { /* the alignment, not the rounding, cut the bits */
        ulp_report(p, ULP_P_KEPT, ULP_AT_LEAST, p->kept, "F cuts c and a small product before the rounding does");
        ulp_unreached(p, ULP_P_OUTPUT, "F cuts c and a small product before the rounding does");
    }
    find_length_narrow(p);
    find_group_narrow(p);
    find_align_narrow(p);
    find_place(p);
}
