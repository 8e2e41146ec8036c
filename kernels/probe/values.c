/* values.c - the prober's tests of values: subnormals, infinities, NaN, range, zeros, floors, scales. */
#include "vectors.h"

static const double infinity = 1.0 / 0.0;

static int is_nan(double x) { return x != x; }

/* ---- subnormals ---- */

/* Whether a product of normal operands is lost as well, because zeros in the sum remove bits of small terms. */
static int lost_from_normal(prober *p, double product) {
    ulp_vector_start(p, 0.0);
    ulp_vector_put(p, 0, product);
    return ulp_vector_gives(p, product) != 1;
}

static void find_subnormals_in(prober *p) {
    int good = 1, seen = 0;
    for (int i = 0; i < 2; i++) {
        const ulp_format *f = i == 0 ? &p->unit->a : &p->unit->b, *g = i == 0 ? &p->unit->b : &p->unit->a;
        double other = 1.0, least = f->min_positive;
        if (!f->has_subnormals || least == f->min_normal) continue;
        if (p->f_found == ULP_FOUND && p->fraction == 0) continue;
        while (p->f_found == ULP_FOUND && least * ulp_power(p->fraction) < f->min_normal) least *= 2;
        while (least * other < 1 && other * 2 <= g->max) other *= 2;
        ulp_vector_start(p, 0.0);
        ulp_vector_put_factors(p, 0, i == 0 ? least : other, i == 0 ? other : least);
        const int r = least < f->min_normal ? ulp_vector_gives(p, ulp_vector_product(p, least, other)) : -1;
        if (r < 0 || (r == 0 && lost_from_normal(p, ulp_vector_product(p, least, other)))) continue;
        good &= r;
        seen++;
    }
    if (seen) ulp_found_value(p, ULP_P_SUBNORMAL_IN, !good, "a subnormal value of a times a power of two, and of b");
    else
        ulp_unreached(p, ULP_P_SUBNORMAL_IN,
                      "the inputs have no subnormals, or F, zeros or the range cut their products");
}

static void find_subnormals_out(prober *p) {
    const ulp_format *f = &p->unit->result;
    if (f->is_fixed || !f->has_subnormals) {
        ulp_unreached(p, ULP_P_SUBNORMAL_OUT, "the result has none");
        return;
    }
    const int bits = p->f_found == ULP_FOUND && p->fraction < p->kept ? p->fraction : p->kept;
    const double least = bits > 0 && bits < f->prec ? f->min_normal * ulp_power(-bits) : f->min_positive;
    ulp_vector_start(p, least);
    int c = ulp_vector_gives(p, least);
    ulp_vector_start(p, f->min_normal + least); /* zeros in the sum may remove bits of normal results as well */
    if (c == 0 && ulp_vector_gives(p, f->min_normal + least) != 1) c = -1;
    ulp_vector_start(p, 0.0);
    ulp_vector_put(p, 0, 0.5 * f->min_normal);
    int product = ulp_vector_gives(p, 0.5 * f->min_normal);
    if (product == 0 && lost_from_normal(p, 1.5 * f->min_normal)) product = -1;
    if (c < 0 && product < 0) ulp_unreached(p, ULP_P_SUBNORMAL_OUT, "F or zeros cut the least normal result as well");
    else
        ulp_found_value(p, ULP_P_SUBNORMAL_OUT, c == 0 || product == 0,
                        c < 0          ? "a product of half the least normal; c is cut in normal results, too"
                        : product >= 0 ? "c the least value of these bits alone, and a product of half the least normal"
                                       : "c the least value of these bits alone; no product is that small and kept");
}

/* ---- infinities and NaN ---- */

static void find_specials(prober *p) {
    const ulp_format *a = &p->unit->a, *b = &p->unit->b, *f = &p->unit->result;
    double y;
    ulp_unreached(p, ULP_P_INF_ZERO, "the inputs have no infinity");
    if (a->has_inf || b->has_inf) {
        ulp_vector_start(p, 0.0);
        ulp_vector_put_factors(p, 0, a->has_inf ? infinity : 0.0, a->has_inf ? 0.0 : infinity);
        y = ulp_vector_run(p);
        if (!p->beyond) ulp_found_value(p, ULP_P_INF_ZERO, !is_nan(y), "inf x 0 alone");
    }
    ulp_unreached(p, ULP_P_INF_INF, "only c can be infinite");
    if (a->has_inf || b->has_inf) {
        ulp_vector_start(p, f->has_inf ? infinity : 0.0);
        ulp_vector_put_factors(p, 0, a->has_inf ? -infinity : 1.0, a->has_inf ? 1.0 : -infinity);
        if (!f->has_inf) ulp_vector_put_factors(p, 1, a->has_inf ? infinity : 1.0, a->has_inf ? 1.0 : infinity);
        y = ulp_vector_run(p);
        if (!p->beyond) ulp_found_value(p, ULP_P_INF_INF, !is_nan(y), "a product of -inf and c = inf");
    }
    ulp_vector_start(p, f->nan_codes != ULP_NAN_NONE ? ulp_quiet_nan() : 0.0);
    if (f->nan_codes == ULP_NAN_NONE) ulp_unreached(p, ULP_P_NAN, "results have no NaN");
    else {
        y = ulp_vector_run(p);
        if (is_nan(y)) ulp_found_value(p, ULP_P_NAN, (int64_t)p->code, "c = NaN");
        else ulp_unreached(p, ULP_P_NAN, "c = NaN gives no NaN");
    }
}

/* ---- the end of the range ---- */

static void find_overflow(prober *p) {
    const ulp_format *f = &p->unit->result;
    const double ulp = ulp_spacing(f->max, f);
    double got[2] = {0, 0};
    ulp_unreached(p, ULP_P_OVERFLOW, "products do not reach an ulp of the largest result");
    for (int i = f->is_fixed; i < 2; i++) {
        ulp_vector_start(p, f->max);
        ulp_vector_put(p, 0, i == 0 ? 0.5 * ulp : ulp);
        got[i] = ulp_vector_run(p);
        if (p->beyond) return;
    }
    if (f->is_fixed) got[0] = f->max;
    if (p->stochastic) {
        ulp_unreached(p, ULP_P_OVERFLOW, "the rounding is stochastic: max + ulp/2 goes either way");
        return;
    }
    const int value =
        got[1] == f->lowest
            ? 3
            : (got[1] == f->max ? 2 : (got[1] != infinity ? 4 : (got[0] == infinity ? 1 : (got[0] == f->max ? 0 : 4))));
    ulp_found_value(p, ULP_P_OVERFLOW, value,
                    f->is_fixed ? "c = max and a product of 1" : "c = max, and products of half an ulp and of an ulp");
}

static void find_cancel(prober *p) {
    const double power = ulp_power(p->unit->result.emax);
    ulp_unreached(p, ULP_P_CANCEL, "no product is beyond the range of results");
    if (p->unit->result.is_fixed) return;
    ulp_vector_start(p, 0.0);
    ulp_vector_put(p, 0, 4 * power);
    ulp_vector_put(p, 1, -3.5 * power);
    const int r = ulp_vector_gives(p, 0.5 * power);
    if (r >= 0) ulp_found_value(p, ULP_P_CANCEL, !r, "4 x 2^emax - 3.5 x 2^emax = 2^(emax - 1)");
}

/* ---- zeros ---- */

static void find_zeros(prober *p) {
    const ulp_format *f = &p->unit->result;
    double x, y, tiny = 0.25 * f->min_positive;
    ulp_unreached(p, ULP_P_ZEROS, "there is no -0");
    ulp_unreached(p, ULP_P_UNDERFLOW, "no product is below the least result");
    if (f->is_fixed || !f->has_neg_zero || !p->unit->a.has_neg_zero) return;
    ulp_vector_start(p, -0.0);
    for (int k = 0; k < PROBE_K; k++) p->a[k] = -0.0, p->b[k] = 1.0;
    y = ulp_vector_run(p);
    ulp_found_value(p, ULP_P_ZEROS, ulp_zero_sign(y), "c = -0 and products -0 x 1");
    if (p->stochastic) ulp_unreached(p, ULP_P_UNDERFLOW, "the rounding is stochastic: zero or the least result");
    if (p->stochastic || tiny == 0.0 || !ulp_vector_factor(p, &x, &y, -tiny)) return;
    ulp_vector_start(p, 0.0);
    ulp_vector_put_factors(p, 0, x, y);
    y = ulp_vector_run(p);
    ulp_found_value(p, ULP_P_UNDERFLOW, ulp_zero_sign(y), "a product of -1/4 of the least result");
}

/* ---- the exponents of tiny and zero terms in the alignment ---- */

/* The other terms in the sum: terms that cancel, zeros, or terms that cancel and a tiny c. */
typedef enum neighbours { CANCELLING, ZEROS, TINY_C } neighbours;

/* Fills the places of the first sum from the i-th on with +-least x least. These terms cancel, even if they lose
 * bits. */
static void fill_cancelling(prober *p, int i) {
    const double x = p->unit->a.min_positive, y = p->unit->b.min_positive;
    if ((p->length - i) % 2 != 0) p->beyond = 1;
    for (; i < p->length && !p->beyond; i++) ulp_vector_put_factors(p, p->place[i], i % 2 ? -x : x, y);
}

/* The exponent of x, at least the lowest exponent of normal values of f. */
static int exponent_of(double x, const ulp_format *f) {
    int e = f->emin;
    while (ulp_power(e + 1) <= (x < 0 ? -x : x)) e++;
    return e;
}

/* The largest exponent of a term of the vector. A subnormal operand has the exponent emin. */
static int own_exponent(const prober *p) {
    int most = -10000;
    for (int i = 0; i < p->length; i++) {
        const double x = p->a[p->place[i]], y = p->b[p->place[i]];
        if (x == 0 || y == 0) continue;
        const int e = exponent_of(x, &p->unit->a) + exponent_of(y, &p->unit->b) - p->shift;
        most = e > most ? e : most;
    }
    return p->c != 0 && most < p->unit->result.emin ? p->unit->result.emin : most;
}

/* Whether a sum keeps the term 2^-j. `beside` says which other terms the sum has. Let h be half the least result.
 *   - 2^-j >= h: the sum is 2^-j + 2^-j.
 *   - 2^-j < h, rounding to nearest: the sum is h + 2^-j, a tie that 2^-j breaks.
 *   - 2^-j < h, rounding toward zero: the sum is (h - 2^-j) + h/2 + h/2 + 2^-j. The result is the least result if the
 *     sum keeps 2^-j, else a smaller one.
 */
static int keeps_tiny(prober *p, int j, neighbours beside) {
    const double least = p->unit->result.min_positive, h = ulp_power(p->unit->result.qmin - 1), t = ulp_power(-j),
                 c = beside == TINY_C ? 2 * least : 0;
    int n = 2;
    ulp_vector_start(p, c);
    if (t >= h || p->mode == ULP_RNE) {
        ulp_vector_put(p, p->place[0], t >= h ? t : h);
        ulp_vector_put(p, p->place[1], t);
    } else {
        ulp_vector_put(p, p->place[0], h - t);
        ulp_vector_put(p, p->place[1], h / 2);
        ulp_vector_put(p, p->place[2], h / 2);
        ulp_vector_put(p, p->place[3], t);
        n = 4;
    }
    if (beside != ZEROS) fill_cancelling(p, n);
    const double y = ulp_vector_run(p);
    if (p->beyond || p->status != ULP_OK) return -1;
    return t < h ? y == c + least : y >= 2 * t && y > c;
}

/* The exponent at which tiny terms are aligned: FOUND, or AT_MOST where the sum keeps every term that can be formed, or
 * where the exponent is the exponent of a term. */
static ulp_found tiny_exponent(prober *p, neighbours beside, int *exponent) {
    int last = 0, known = 0, r = -1;
    for (int j = 2 - p->top; j < 47 - p->unit->result.qmin && r != 0; j++)
        if ((r = keeps_tiny(p, j, beside)) == 1) last = j, known = 1;
    if (!known) return ULP_NOT_REACHABLE;
    *exponent = p->fraction - last;
    return r == 0 && *exponent > own_exponent(p) ? ULP_FOUND : ULP_AT_MOST;
}

/* Finds the floor and the exponent of c = 0. The tiny c has the lowest normal exponent or less. The test tells c = 0
 * from a floor only if the exponent of c = 0 is above the exponent of the tiny c. */
static void find_floor(prober *p) {
    int floor = 0, zero = 0, other = 0;
    const int cut = p->to->property[ULP_P_ALIGN].found == ULP_FOUND && p->to->property[ULP_P_ALIGN].value == ULP_RZ;
    const ulp_property *promotion = &p->to->property[ULP_P_PROMOTION];
    const int leaves = promotion->found != ULP_FOUND || promotion->value != 0;
    const char *why = p->group > 1              ? "groups align at the exponents of their scales"
                      : p->length < 4           ? "needs four products in a sum"
                      : p->f_found != ULP_FOUND ? "F is not known"
                      : leaves && !p->inside    ? "the sums leave for an outer one, and their own range is not known"
                      : p->kept != p->unit->result.prec - 1     ? "needs results of all bits of their format"
                      : !cut                                    ? "needs an alignment toward zero"
                      : p->mode != ULP_RNE && p->mode != ULP_RZ ? "needs a rounding to nearest or toward zero"
                                                                : "no products are small enough to be lost alone";
    static const ulp_property_id all[] = {ULP_P_FLOOR, ULP_P_ZERO_C, ULP_P_ZERO_PRODUCT};
    for (int i = 0; i < 3; i++) ulp_report(p, all[i], ULP_NOT_REACHABLE, 0, "%s", why);
    if (why[0] != 'n' || why[1] != 'o') return;
    const ulp_found found = tiny_exponent(p, CANCELLING, &floor), with_zeros = tiny_exponent(p, ZEROS, &zero),
                    with_c = p->inside ? tiny_exponent(p, TINY_C, &other) : ULP_NOT_REACHABLE;
    const int last = p->fraction - floor;
    if (found == ULP_NOT_REACHABLE) return;
    if (found == ULP_FOUND && with_c != ULP_NOT_REACHABLE && floor > other) {
        ulp_found_value(p, ULP_P_ZERO_C, floor, "c = 0, the rest cancels: kept to 2^-%d; c = 2^%d: to 2^-%d", last,
                        p->unit->result.qmin + 1, p->fraction - other);
        ulp_report(p, ULP_P_FLOOR, with_c, other, "c = 2^%d, the rest cancels: kept to 2^-%d", p->unit->result.qmin + 1,
                   p->fraction - other);
    } else {
        ulp_report(p, ULP_P_FLOOR, found, floor, "c = 0, the rest cancels: kept to 2^-%d", last);
        if (found == ULP_FOUND && floor <= p->unit->result.emin)
            ulp_report(p, ULP_P_ZERO_C, ULP_AT_MOST, floor,
                       "c = 0: kept to 2^-%d; no other c counts with less than %d, so it passes for a floor", last,
                       p->unit->result.emin);
        else ulp_report(p, ULP_P_ZERO_C, ULP_AT_MOST, floor, "c = 0, the rest cancels: kept to 2^-%d", last);
    }
    if (with_zeros == ULP_FOUND && zero > floor)
        ulp_found_value(p, ULP_P_ZERO_PRODUCT, zero, "c = 0, beside products 0 x 0: kept to 2^-%d", p->fraction - zero);
    else if (with_zeros != ULP_NOT_REACHABLE)
        ulp_report(p, ULP_P_ZERO_PRODUCT, ULP_AT_MOST, zero > floor ? zero : floor,
                   "c = 0, beside products 0 x 0: as many bits are kept");
}

/* The exponent of 0 x big in the alignment, from the loss of a small product in the same sum. ULP_AT_MOST if no product
 * is lost. */
static ulp_found zero_exponent(prober *p, double big, int *exponent) {
    int j, last = 0, r = 1;
    const int from = 2 - p->unit->result.emax;
    int known = 0;
    for (j = from; j < 160 && r != 0; j++) {
        ulp_vector_start(p, 0.0);
        ulp_vector_put_factors(p, p->place[0], 0.0, big);
        ulp_vector_put(p, p->place[1], ulp_power(-j));
        if ((r = ulp_vector_gives(p, ulp_power(-j))) == 1) last = j, known = 1;
        if (r != 0) continue;
        ulp_vector_start(p, 0.0); /* the term must not be lost without the zero */
        ulp_vector_put(p, p->place[1], ulp_power(-j));
        if (ulp_vector_gives(p, ulp_power(-j)) != 1) r = -1, j = 160;
    }
    *exponent = p->fraction - last;
    return !known ? ULP_NOT_REACHABLE : (r == 0 ? ULP_FOUND : ULP_AT_MOST);
}

static void find_zero_operand(prober *p) {
    int e = 0, lower = 0, power = p->unit->b.emax;
    if (p->length < 2 || p->f_found != ULP_FOUND || p->unit->b.max < 8) {
        ulp_unreached(p, ULP_P_ZERO_OPERAND, "needs two products in a sum, F and a large operand");
        return;
    }
    while (ulp_power(power) > p->unit->b.max) power--;
    const ulp_found found = zero_exponent(p, ulp_power(power), &e),
                    second = zero_exponent(p, ulp_power(power - 2), &lower);
    if (found == ULP_AT_MOST)
        ulp_report(p, ULP_P_ZERO_OPERAND, found, e - power, "0 x 2^%d beside 2^-j: all down to 2^%d is kept", power,
                   e - p->fraction);
    else if (found == ULP_FOUND && (second != found || lower == e - 2))
        ulp_found_value(p, ULP_P_ZERO_OPERAND, e - power, "0 x 2^%d beside 2^-j: below 2^%d it is lost", power,
                        e - p->fraction);
    else if (found == ULP_FOUND)
        ulp_found_value(p, ULP_P_ZERO_PRODUCT, e, "0 x b beside 2^-j, any b: below 2^%d it is lost", e - p->fraction);
}

/* ---- block scales ---- */

/* The result of c plus a product 1 at place k. The first block has the scales sa and sb, and other blocks have the
 * scale 1. */
static double scaled(prober *p, double c, int k, double sa, double sb) {
    double x[PROBE_K], y[PROBE_K];
    for (int i = 0; i < PROBE_K; i++) x[i] = y[i] = 1.0;
    x[0] = sa, y[0] = sb;
    ulp_vector_start(p, c);
    ulp_vector_put(p, k, 1.0);
    if (p->beyond || p->status != ULP_OK) return 0.0;
    p->status = p->unit->dot(p->unit->context, &p->code, p->c, (ulp_products){p->a, p->b, PROBE_K, x, y});
    p->to->runs++;
    return ulp_decode(p->code, &p->unit->result);
}

static void find_scales(prober *p) {
    for (int i = ULP_P_SCALE; i <= ULP_P_SCALE_NAN; i++)
        ulp_report(p, (ulp_property_id)i, ULP_NOT_REACHABLE, 0, "the device has no block scales");
    if (p->unit->scale_block == 0) return;
    const double both = scaled(p, 1.0, 0, 2.0, 2.0);
    int size = 0;
    ulp_found_value(p, ULP_P_SCALE, both == 5.0 ? 0 : (both == 8.0 ? 1 : 2), "c = 1 and 1 x 1 with scales 2 and 2");
    while (size < PROBE_K && scaled(p, 0.0, size, 2.0, 1.0) == 2.0) size++;
    ulp_found_value(p, ULP_P_SCALE_BLOCK, size,
                    "1 at k, the first scale 2: the result is 2 up to the end of the block");
    if (p->unit->scale.nan_codes != ULP_NAN_NONE)
        ulp_found_value(p, ULP_P_SCALE_NAN, !is_nan(scaled(p, 0.0, 0, ulp_quiet_nan(), 1.0)), "1 with a scale of NaN");
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
