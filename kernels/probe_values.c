/* probe_values.c - the prober's questions about values: subnormals, infinities, NaN, ends of the range, zeros, floors,
 * scales. */
#include "probing.h"

static const double infinity = 1.0 / 0.0;

static int is_nan(double x) { return x != x; }

/* ---- subnormals ---- */

static void find_subnormals_in(prober *p) {
    int good = 1, seen = 0;
    for (int i = 0; i < 2; i++) {
        const ulp_format *f = i == 0 ? &p->unit->a : &p->unit->b, *g = i == 0 ? &p->unit->b : &p->unit->a;
        double other = 1.0;
        while (f->has_subnormals && f->min_positive * other < p->unit->result.min_normal && other * 2 <= g->max)
            other *= 2;
        if (!f->has_subnormals || f->min_positive == f->min_normal) continue;
        ulp_vector_start(p, 0.0);
        ulp_vector_put_factors(p, 0, i == 0 ? f->min_positive : other, i == 0 ? other : f->min_positive);
        const int r = ulp_vector_gives(p, f->min_positive * other);
        if (r < 0) continue;
        good &= r;
        seen++;
    }
    if (seen)
        ulp_report(p, ULP_P_SUBNORMAL_IN, ULP_FOUND, !good, "the least value of a times a power of two, and of b");
    else
        ulp_report(p, ULP_P_SUBNORMAL_IN, ULP_NOT_REACHABLE, 0,
                   "the inputs have no subnormals, or their products are no results");
}

static void find_subnormals_out(prober *p) {
    const ulp_format *f = &p->unit->result;
    if (f->is_fixed || !f->has_subnormals) {
        ulp_report(p, ULP_P_SUBNORMAL_OUT, ULP_NOT_REACHABLE, 0, "the result has none");
        return;
    }
    const int bits = p->f_found == ULP_FOUND && p->fraction < p->kept ? p->fraction : p->kept;
    const double least = bits > 0 && bits < f->prec ? f->min_normal * ulp_power(-bits) : f->min_positive;
    ulp_vector_start(p, least);
    int good = ulp_vector_gives(p, least) == 1;
    ulp_vector_start(p, 0.0);
    ulp_vector_put(p, 0, 0.5 * f->min_normal);
    const int product = ulp_vector_gives(p, 0.5 * f->min_normal);
    if (product >= 0) good &= product;
    ulp_report(p, ULP_P_SUBNORMAL_OUT, ULP_FOUND, !good,
               product >= 0 ? "c the least value of these bits alone, and a product of half the least normal"
                            : "c the least value of these bits alone; no product is that small");
}

/* ---- infinities and NaN ---- */

static void find_specials(prober *p) {
    const ulp_format *a = &p->unit->a, *b = &p->unit->b, *f = &p->unit->result;
    double y;
    ulp_report(p, ULP_P_INF_ZERO, ULP_NOT_REACHABLE, 0, "the inputs have no infinity");
    if (a->has_inf || b->has_inf) {
        ulp_vector_start(p, 0.0);
        ulp_vector_put_factors(p, 0, a->has_inf ? infinity : 0.0, a->has_inf ? 0.0 : infinity);
        y = ulp_vector_run(p);
        if (!p->beyond) ulp_report(p, ULP_P_INF_ZERO, ULP_FOUND, !is_nan(y), "inf x 0 alone");
    }
    ulp_report(p, ULP_P_INF_INF, ULP_NOT_REACHABLE, 0, "only c can be infinite");
    if (a->has_inf || b->has_inf) {
        ulp_vector_start(p, f->has_inf ? infinity : 0.0);
        ulp_vector_put_factors(p, 0, a->has_inf ? -infinity : 1.0, a->has_inf ? 1.0 : -infinity);
        if (!f->has_inf) ulp_vector_put_factors(p, 1, a->has_inf ? infinity : 1.0, a->has_inf ? 1.0 : infinity);
        y = ulp_vector_run(p);
        if (!p->beyond) ulp_report(p, ULP_P_INF_INF, ULP_FOUND, !is_nan(y), "a product of -inf and c = inf");
    }
    ulp_vector_start(p, f->nan_codes != ULP_NAN_NONE ? ulp_quiet_nan() : 0.0);
    if (f->nan_codes == ULP_NAN_NONE) ulp_report(p, ULP_P_NAN, ULP_NOT_REACHABLE, 0, "results have no NaN");
    else {
        y = ulp_vector_run(p);
        if (is_nan(y)) ulp_report(p, ULP_P_NAN, ULP_FOUND, (int64_t)p->code, "c = NaN");
        else ulp_report(p, ULP_P_NAN, ULP_NOT_REACHABLE, 0, "c = NaN gives no NaN");
    }
}

/* ---- the end of the range ---- */

static void find_overflow(prober *p) {
    const ulp_format *f = &p->unit->result;
    const double ulp = ulp_spacing(f->max, f);
    double got[2] = {0, 0};
    ulp_report(p, ULP_P_OVERFLOW, ULP_NOT_REACHABLE, 0, "products do not reach an ulp of the largest result");
    for (int i = f->is_fixed; i < 2; i++) {
        ulp_vector_start(p, f->max);
        ulp_vector_put(p, 0, i == 0 ? 0.5 * ulp : ulp);
        got[i] = ulp_vector_run(p);
        if (p->beyond) return;
    }
    if (f->is_fixed) got[0] = f->max;
    const int value =
        got[1] == f->lowest
            ? 3
            : (got[1] == f->max ? 2 : (got[1] != infinity ? 4 : (got[0] == infinity ? 1 : (got[0] == f->max ? 0 : 4))));
    ulp_report(p, ULP_P_OVERFLOW, ULP_FOUND, value,
               f->is_fixed ? "c = max and a product of 1" : "c = max, and products of half an ulp and of an ulp");
}

static void find_cancel(prober *p) {
    const double power = ulp_power(p->unit->result.emax);
    ulp_report(p, ULP_P_CANCEL, ULP_NOT_REACHABLE, 0, "no product is beyond the range of results");
    if (p->unit->result.is_fixed) return;
    ulp_vector_start(p, 0.0);
    ulp_vector_put(p, 0, 4 * power);
    ulp_vector_put(p, 1, -3.5 * power);
    const int r = ulp_vector_gives(p, 0.5 * power);
    if (r >= 0) ulp_report(p, ULP_P_CANCEL, ULP_FOUND, !r, "4 x 2^emax - 3.5 x 2^emax = 2^(emax - 1)");
}

/* ---- zeros ---- */

static int zero_sign(double y) { return y != 0.0 ? 2 : (int)(ulp_bits64(y) >> 63); }

static void find_zeros(prober *p) {
    const ulp_format *f = &p->unit->result;
    double x, y, tiny = 0.25 * f->min_positive;
    ulp_report(p, ULP_P_ZEROS, ULP_NOT_REACHABLE, 0, "there is no -0");
    ulp_report(p, ULP_P_UNDERFLOW, ULP_NOT_REACHABLE, 0, "no product is below the least result");
    if (f->is_fixed || !f->has_neg_zero || !p->unit->a.has_neg_zero) return;
    ulp_vector_start(p, -0.0);
    for (int k = 0; k < PROBE_K; k++) p->a[k] = -0.0, p->b[k] = 1.0;
    y = ulp_vector_run(p);
    ulp_report(p, ULP_P_ZEROS, ULP_FOUND, zero_sign(y), "c = -0 and products -0 x 1");
    if (tiny == 0.0 || !ulp_factor(&x, &y, -tiny, &p->unit->a, &p->unit->b)) return;
    ulp_vector_start(p, 0.0);
    ulp_vector_put_factors(p, 0, x, y);
    y = ulp_vector_run(p);
    ulp_report(p, ULP_P_UNDERFLOW, ULP_FOUND, zero_sign(y), "a product of -1/4 of the least result");
}

/* ---- exponents that tiny and zero terms align with ---- */

/* Fill the first sum's places from the i-th on: +-least x least, which cancel, or leave zeros. */
static void fill(prober *p, int i, int zeros) {
    for (; !zeros && i + 1 < p->length; i += 2)
        for (int s = 0; s < 2; s++)
            ulp_vector_put_factors(p, p->place[i + s], s ? -p->unit->a.min_positive : p->unit->a.min_positive,
                                   p->unit->b.min_positive);
}

/* Whether 2^-j is kept beside terms of half the least result, c = 0. To nearest: a tie that it breaks. Toward zero:
 * (h - 2^-j) + h + 2^-j, which is the least result if nothing is lost and less if 2^-j is. */
static int keeps_tiny(prober *p, int j, int zeros) {
    const int half = p->unit->result.qmin - 1;
    ulp_vector_start(p, 0.0);
    if (p->mode == ULP_RNE) {
        ulp_vector_put(p, p->place[0], ulp_power(half));
        ulp_vector_put(p, p->place[1], ulp_power(-j));
        fill(p, 2, zeros);
    } else {
        ulp_vector_put(p, p->place[0], ulp_power(half) - ulp_power(-j));
        ulp_vector_put(p, p->place[1], ulp_power(half - 1));
        ulp_vector_put(p, p->place[2], ulp_power(half - 1));
        ulp_vector_put(p, p->place[3], ulp_power(-j));
        fill(p, 4, zeros);
    }
    return ulp_vector_gives(p, p->unit->result.min_positive);
}

/* The exponent that tiny terms are aligned at: FOUND, or AT_MOST where all that can be formed is kept. */
static ulp_found tiny_exponent(prober *p, int zeros, int *exponent) {
    int last = 0, lost = 0;
    const int from = 2 - p->unit->result.qmin;
    for (int j = from; j < from + 45 && !lost; j++) {
        const int r = keeps_tiny(p, j, zeros);
        if (r == 1) last = j;
        lost = r == 0;
    }
    if (last == 0) return ULP_NOT_REACHABLE;
    *exponent = p->fraction - last;
    /* no lower than the terms themselves */
    return lost && *exponent > p->unit->result.qmin - 1 ? ULP_FOUND : ULP_AT_MOST;
}

static void find_floor(prober *p) {
    int floor = 0, zero = 0;
    for (int i = ULP_P_FLOOR; i <= ULP_P_ZERO_OPERAND; i++)
        ulp_report(p, (ulp_property_id)i, ULP_NOT_REACHABLE, 0,
                   p->length < 4 ? "needs four products in a sum"
                                 : "no products of half the least result, or F is unknown");
    if (p->length < 4 || p->f_found != ULP_FOUND || (p->mode != ULP_RNE && p->mode != ULP_RZ)) return;
    const ulp_found found = tiny_exponent(p, 0, &floor), with_zeros = tiny_exponent(p, 1, &zero);
    if (found == ULP_NOT_REACHABLE) return;
    ulp_report(p, ULP_P_FLOOR, found, floor, "%s, c = 0, the rest cancels: kept to 2^-%d",
               p->mode == ULP_RNE ? "2^-j beside half the least result"
                                  : "(h - 2^-j) + h + 2^-j, h half the least result",
               p->fraction - floor);
    if (with_zeros == ULP_FOUND && zero != floor)
        ulp_report(p, ULP_P_ZERO_PRODUCT, ULP_FOUND, zero, "the same beside products 0 x 0");
    else if (with_zeros != ULP_NOT_REACHABLE)
        ulp_report(p, ULP_P_ZERO_PRODUCT, ULP_AT_MOST, zero, "the same beside products 0 x 0: as many bits are kept");
}

/* The exponent of 0 x big: what it takes from a small product beside it. Returns ULP_AT_MOST where all is kept. */
static ulp_found zero_exponent(prober *p, double big, int *exponent) {
    int j, last = -1, r = 1;
    const int from = p->low > -4 ? -p->low : 4;
    for (j = from; j < 160 && r != 0; j++) {
        ulp_vector_start(p, 0.0);
        ulp_vector_put_factors(p, p->place[0], 0.0, big);
        ulp_vector_put(p, p->place[1], ulp_power(-j));
        if ((r = ulp_vector_gives(p, ulp_power(-j))) == 1) last = j;
        if (r != 0) continue;
        ulp_vector_start(p, 0.0); /* not if it is lost without the zero, too */
        ulp_vector_put(p, p->place[1], ulp_power(-j));
        if (ulp_vector_gives(p, ulp_power(-j)) != 1) r = -1, j = 160;
    }
    *exponent = p->fraction - (last < 0 ? from - 1 : last);
    return r == 0 ? ULP_FOUND : (last < 0 ? ULP_NOT_REACHABLE : ULP_AT_MOST);
}

static void find_zero_operand(prober *p) {
    int e = 0, lower = 0, power = p->unit->b.emax;
    if (p->length < 2 || p->f_found != ULP_FOUND || p->unit->b.max < 8) {
        ulp_report(p, ULP_P_ZERO_OPERAND, ULP_NOT_REACHABLE, 0, "needs two products in a sum, F and a large operand");
        return;
    }
    while (ulp_power(power) > p->unit->b.max) power--;
    const ulp_found found = zero_exponent(p, ulp_power(power), &e),
                    again = zero_exponent(p, ulp_power(power - 2), &lower);
    if (found == ULP_AT_MOST)
        ulp_report(p, ULP_P_ZERO_OPERAND, found, e - power, "0 x 2^%d beside 2^-j: all down to 2^-%d is kept", power,
                   p->fraction - e);
    else if (found == ULP_FOUND && (again != found || lower == e - 2))
        ulp_report(p, ULP_P_ZERO_OPERAND, ULP_FOUND, e - power, "0 x 2^%d beside 2^-j: below 2^-%d it is lost", power,
                   p->fraction - e);
    else if (found == ULP_FOUND)
        ulp_report(p, ULP_P_ZERO_PRODUCT, ULP_FOUND, e, "0 x b beside 2^-j, any b: below 2^-%d it is lost",
                   p->fraction - e);
}

/* ---- block scales ---- */

/* The result with scales of `sa` for the first block and 1 for the others; 1 as product k and c. */
static double scaled(prober *p, double c, int k, double sa, double sb) {
    double x[PROBE_K], y[PROBE_K];
    for (int i = 0; i < PROBE_K; i++) x[i] = y[i] = 1.0;
    x[0] = sa, y[0] = sb;
    ulp_vector_start(p, c);
    ulp_vector_put(p, k, 1.0);
    if (p->beyond || p->status != ULP_OK) return 0.0;
    p->status = p->unit->dot(p->unit->context, &p->code, p->c, p->a, p->b, PROBE_K, (ulp_scales){x, y});
    p->to->runs++;
    return ulp_decode(p->code, &p->unit->result);
}

static void find_scales(prober *p) {
    for (int i = ULP_P_SCALE; i <= ULP_P_SCALE_NAN; i++)
        ulp_report(p, (ulp_property_id)i, ULP_NOT_REACHABLE, 0, "the device has no block scales");
    if (p->unit->scale_block == 0) return;
    const double both = scaled(p, 1.0, 0, 2.0, 2.0);
    int size = 0;
    ulp_report(p, ULP_P_SCALE, ULP_FOUND, both == 5.0 ? 0 : (both == 8.0 ? 1 : 2),
               "c = 1 and 1 x 1 with scales 2 and 2");
    while (size < PROBE_K && scaled(p, 0.0, size, 2.0, 1.0) == 2.0) size++;
    ulp_report(p, ULP_P_SCALE_BLOCK, ULP_FOUND, size,
               "1 at k, the first scale 2: the result is 2 up to the end of the block");
    if (p->unit->scale.nan_codes != ULP_NAN_NONE)
        ulp_report(p, ULP_P_SCALE_NAN, ULP_FOUND, !is_nan(scaled(p, 0.0, 0, ulp_quiet_nan(), 1.0)),
                   "1 with a scale of NaN");
}

void ulp_probe_values(prober *p) {
    find_subnormals_in(p);
    find_subnormals_out(p);
    find_specials(p);
    find_overflow(p);
    find_cancel(p);
    find_zeros(p);
    if (!p->unit->result.is_fixed) {
        find_floor(p);
        find_zero_operand(p);
    }
    find_scales(p);
}
