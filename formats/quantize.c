/* quantize.c - scaled quantisation: the scale and zero point of a group, codes and values; see quantize.h. */
#include "quantize.h"

/* ---- groups ---- */

size_t ulp_tiling_groups(size_t groups[3], const ulp_tiling *t) {
    for (int d = 0; d < 3; d++) groups[d] = t->shape[d] / t->tile[d] + (t->shape[d] % t->tile[d] != 0);
    return groups[0] * groups[1] * groups[2];
}

/* The work on an array: its numbers, and what all groups need. */
typedef struct job {
    const ulp_quantized *q;
    const double *wide; /* one of these two */
    const ulp_exact *exact;
    ulp_rule rule;
    ulp_stream stream;
    ulp_format lattice; /* of fixed point: the multiples of 2^-F, of 32 bits */
    int wraps;
} job;

ulp_group ulp_tiling_group(const ulp_tiling *t, const size_t groups[3], size_t number) {
    ulp_group g;
    for (int d = 2; d >= 0; d--) {
        g.first[d] = number % groups[d] * t->tile[d];
        g.size[d] = t->shape[d] - g.first[d] < t->tile[d] ? t->shape[d] - g.first[d] : t->tile[d];
        number /= groups[d];
    }
    return g;
}

size_t ulp_group_run(const ulp_group *g, const ulp_tiling *t, size_t r) {
    return ((g->first[0] + r / g->size[1]) * t->shape[1] + g->first[1] + r % g->size[1]) * t->shape[2] + g->first[2];
}

/* Calls the body with each element's index `i`, in C order. */
#define FOR_EACH(j, g, i)                                                                                              \
    for (size_t run_ = 0; run_ < (g)->size[0] * (g)->size[1]; run_++)                                                  \
        for (size_t i = ulp_group_run(g, &(j)->q->tiling, run_), end_ = i + (g)->size[2]; i < end_; i++)

static ulp_exact number_at(const job *j, size_t i) { return j->wide != NULL ? ulp_exact_of(j->wide[i]) : j->exact[i]; }

/* A binary64 number that is ordered like element i; not strictly, for exact numbers. */
static double order_at(const job *j, size_t i) { return j->wide != NULL ? j->wide[i] : ulp_exact_to_odd(j->exact[i]); }

static int is_finite(double x) { return (ulp_bits64(x) >> 52 & 0x7ff) != 0x7ff; }

/* ---- the ends of a group ---- */

typedef struct ends {
    ulp_exact low, high; /* low <= 0 <= high; without a zero point low = 0 and high is the amax */
} ends;

/* A key whose order, as an integer, is that of the magnitudes or of the numbers. */
static uint64_t key_of(double x, int of_magnitude) {
    const uint64_t u = ulp_bits64(x), sign = 1ull << 63;
    return of_magnitude ? u & ~sign : u & sign ? ~u : u | sign;
}

/* The key number `rank`, counted from 1, of the finite elements in ascending order. */
static uint64_t key_of_rank(const job *j, const ulp_group *g, uint64_t rank) {
    const int of_magnitude = !j->q->quantizer->has_zero_point;
    uint64_t least = 0, most = UINT64_MAX;
    while (least < most) {
        const uint64_t middle = least + (most - least) / 2;
        uint64_t count = 0;
        FOR_EACH(j, g, i) {
            const double x = order_at(j, i);
            count += (uint64_t)(is_finite(x) && key_of(x, of_magnitude) <= middle);
        }
        if (count >= rank) most = middle;
        else least = middle + 1;
    }
    return least;
}

/* Whether |a| > |b|. */
static int is_larger(ulp_exact a, ulp_exact b) {
    if (a.kind != ULP_EXACT_FINITE || b.kind != ULP_EXACT_FINITE) return a.kind == ULP_EXACT_FINITE;
    if (a.exp != b.exp) return a.exp > b.exp;
    if (a.hi != b.hi) return a.hi > b.hi;
    return a.lo != b.lo ? a.lo > b.lo : a.sticky > b.sticky;
}

/* Takes x as an end if it lies farther out. */
static void widen(ends *e, ulp_exact x, int of_magnitude) {
    ulp_exact *const end = x.neg && !of_magnitude ? &e->low : &e->high;
    if (of_magnitude) x.neg = 0;
    if (is_larger(x, *end)) *end = x;
}

/* ceil(percentile m / 10^8) */
static uint64_t rank_of(uint64_t m, uint32_t percentile) {
    const uint64_t all = ULP_ALL_PERCENT;
    return m / all * percentile + (m % all * percentile + all - 1) / all;
}

static ends find_ends(const job *j, const ulp_group *g) {
    const ulp_quantizer *const q = j->q->quantizer;
    const int of_magnitude = !q->has_zero_point;
    uint64_t least = 0, most = UINT64_MAX, m = 0;
    if (q->percentile < ULP_ALL_PERCENT) {
        FOR_EACH(j, g, i) m += (uint64_t)is_finite(order_at(j, i));
        const uint64_t rank = rank_of(m, q->percentile);
        most = m > 0 ? key_of_rank(j, g, rank) : 0;
        if (!of_magnitude && m > 0) least = key_of_rank(j, g, m - rank + 1);
    }
    ends e = {ulp_exact_special(ULP_EXACT_ZERO, 0), ulp_exact_special(ULP_EXACT_ZERO, 0)};
    double low = 0.0, high = 0.0;
    FOR_EACH(j, g, i) {
        double x = order_at(j, i);
        const uint64_t key = key_of(x, of_magnitude);
        const int is_low = x < 0.0 && !of_magnitude;
        if (!is_finite(x) || (is_low ? key < least : key > most)) continue;
        if (j->exact != NULL) widen(&e, j->exact[i], of_magnitude);
        if (x < 0.0 && of_magnitude) x = -x;
        if (x > high) high = x;
        if (x < low) low = x;
    }
    return j->exact != NULL ? e : (ends){ulp_exact_of(low), ulp_exact_of(high)};
}

/* ---- scale and zero point ---- */

typedef struct scaling {
    double scale;
    int32_t zero_point;
} scaling;

static double scale_of_range(ulp_exact range, const ulp_quantizer *q) {
    const ulp_format *const s = &q->block.scale;
    const double divisor = ulp_scale((double)(q->high - q->low), -q->block.element.frac_bits);
    const double scale = ulp_round_exact(ulp_exact_div(range, ulp_exact_of(divisor * (double)q->tensor_scale)), s,
                                         ulp_scale_rounding((ulp_scale_rule)q->block.rule), 0);
    return scale < s->min_positive ? s->min_positive : scale;
}

/* least code - low / factor to the nearest integer, ties to even, within the codes. The quotient in quarters, rounded
 * to odd, shows whether it lies below, on or above a tie. */
static int32_t zero_point_of(ulp_exact low, double factor, const ulp_quantizer *q) {
    ulp_format quarters = {.bits = 32, .is_signed = 1, .is_fixed = 1, .frac_bits = 2};
    if (ulp_format_init(&quarters) != ULP_OK) return q->low;
    ulp_exact quotient = ulp_exact_div(low, ulp_exact_of(factor));
    quotient.exp += q->block.element.frac_bits;
    const double steps = -ulp_round_exact(quotient, &quarters, (ulp_rule){ULP_RO, ULP_OVERFLOW_SAT, 0}, 0) + q->low;
    if (!(steps < q->high)) return q->high;
    const int32_t whole = (int32_t)steps - (steps < (double)(int32_t)steps);
    const double rest = steps - whole;
    return whole + (rest > 0.5 || (rest == 0.5 && (whole & 1) != 0));
}

static scaling scaling_of(ends e, const ulp_quantizer *q) {
    scaling s = {1.0, 0};
    const ulp_exact range =
        q->has_zero_point ? ulp_exact_add(ulp_exact_cut(e.high), ulp_exact_negate(ulp_exact_cut(e.low))) : e.high;
    const int is_zero = range.kind != ULP_EXACT_FINITE;
    if (!is_zero || q->block.scale.bits <= 8)
        s.scale = q->has_zero_point ? scale_of_range(range, q) : ulp_block_scale_of(range, &q->block, q->tensor_scale);
    if (q->has_zero_point) s.zero_point = zero_point_of(e.low, s.scale * (double)q->tensor_scale, q);
    return s;
}

void ulp_quantizer_scaling(double *scale, int32_t *zero_point, const ulp_quantizer *q, double low, double high) {
    const scaling s = scaling_of((ends){ulp_exact_of(low), ulp_exact_of(high)}, q);
    *scale = s.scale;
    *zero_point = s.zero_point;
}

/* ---- elements ---- */

/* x / factor as a number that rounds like it to an element of at most 16 bits. The quotient is rounded to odd at 53
 * bits; within these exponents the remainder is exact. A quotient by zero is zero for zero, else beyond every range. */
static ulp_exact quotient_at(const job *j, size_t i, double factor) {
    if (factor == 0.0) {
        const ulp_exact x = number_at(j, i);
        return x.kind == ULP_EXACT_FINITE ? ulp_exact_pack(x.neg, 1ull << 63, 0, 0, 5000) : x;
    }
    if (j->wraps) return ulp_exact_div_wrapped(number_at(j, i), ulp_exact_of(factor), j->lattice.qmin - 40);
    if (j->wide != NULL) {
        const double x = j->wide[i], magnitude = x < 0 ? -x : x;
        if (magnitude > 0x1p-500 && magnitude < 0x1p500) {
            const double quotient = x / factor, remainder = ULP_FMA(-quotient, factor, x);
            return ulp_exact_of(ulp_to_odd(quotient, remainder));
        }
    }
    return ulp_exact_div(number_at(j, i), ulp_exact_of(factor));
}

enum { NO_NAN = -1 }; /* in place of a code: NaN in an element without NaN */

static int32_t integer_code(ulp_exact quotient, const job *j, int32_t zero_point, ulp_rule rule, uint32_t word) {
    const ulp_quantizer *const q = j->q->quantizer;
    const double r = ulp_block_element(quotient, &j->lattice, rule, word);
    if (r != r) return NO_NAN;
    int64_t code = (int64_t)ulp_scale(r, q->block.element.frac_bits) + zero_point;
    const int32_t low = rule.overflow == ULP_OVERFLOW_SYM && q->low < -q->high ? -q->high : q->low;
    int64_t inside = code < low ? low : code > q->high ? q->high : code;
    if (rule.overflow == ULP_OVERFLOW_NAN && code != inside) return NO_NAN;
    if (rule.overflow == ULP_OVERFLOW_ZERO && code != inside) inside = zero_point;
    if (!j->wraps) code = inside;
    return (int32_t)(code & ((1 << q->bits) - 1));
}

/* The code of element i under a scaling, or NO_NAN. */
static int32_t code_at(const job *j, size_t i, scaling s, ulp_rule rule, uint32_t word) {
    const ulp_quantizer *const q = j->q->quantizer;
    const double factor = s.scale * (double)q->tensor_scale;
    uint64_t code = 0;
    if (q->book != NULL) {
        const ulp_exact x = number_at(j, i);
        if (x.kind == ULP_EXACT_NAN || (x.kind == ULP_EXACT_INF && rule.overflow == ULP_OVERFLOW_DEFAULT))
            return NO_NAN;
        return (int32_t)ulp_book_code(x, factor, q->book, rule, word);
    }
    const ulp_exact quotient = quotient_at(j, i, factor);
    if (q->low < q->high) return integer_code(quotient, j, s.zero_point, rule, word);
    const double e = ulp_block_element(quotient, &q->block.element, rule, word);
    return ulp_encode(&code, e, &q->block.element) == ULP_OK ? (int32_t)code : NO_NAN;
}

/* The element of a code, for the zero point 0. */
static double element_of(const ulp_quantizer *q, uint32_t code) {
    if (q->book != NULL) return code < q->book->count ? q->book->value[code] : ulp_quiet_nan();
    if (q->low >= q->high) return ulp_decode(code, &q->block.element);
    const int32_t sign = q->low < 0 ? 1 << (q->bits - 1) : 0;
    const int32_t integer = (int32_t)((code & ((1u << q->bits) - 1)) ^ (uint32_t)sign) - sign;
    return ulp_scale((double)integer, -q->block.element.frac_bits);
}

/* What the zero point takes from an element, and what the rest is multiplied by. */
typedef struct factors {
    double offset, factor;
    int is_exact; /* whether products of elements are exact in binary64: the factor has 24 bits */
} factors;

static factors factors_of(const ulp_quantizer *q, scaling s) {
    return (factors){ulp_scale((double)s.zero_point, -q->block.element.frac_bits), s.scale * (double)q->tensor_scale,
                     q->tensor_scale == 1.0f};
}

/* The value in binary32, rounded once: the product of an element and of two scales has at most 72 bits. */
static float product_of(double element, factors f) {
    double product = (element - f.offset) * f.factor;
    if (product != product) return (float)ulp_quiet_nan();
    if (f.is_exact || !is_finite(product)) return (float)product;
    const double error = ulp_two_prod(element - f.offset, f.factor, &product);
    return (float)ulp_to_odd(product, error);
}

static float value_of(const ulp_quantizer *q, uint32_t code, scaling s) {
    return product_of(element_of(q, code), factors_of(q, s));
}

/* ---- the least squared error ---- */

static double to_binary64(ulp_exact x) {
    return ulp_round_exact(x, &ulp_binary64, (ulp_rule){ULP_RNE, ULP_OVERFLOW_SAT, 0}, 0);
}

static double error_of(const job *j, const ulp_group *g, scaling s) {
    const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0};
    double sum = 0.0;
    FOR_EACH(j, g, i) {
        if (!is_finite(order_at(j, i))) continue;
        const double x = j->wide != NULL ? j->wide[i] : to_binary64(j->exact[i]);
        const int32_t code = code_at(j, i, s, nearest, 0);
        const double d = x - (double)value_of(j->q->quantizer, (uint32_t)code, s);
        sum += d * d;
    }
    return sum;
}

/* e times k / 32, of ends in binary64. */
static ends part_of(ends e, int k) {
    const ulp_exact factor = ulp_exact_of(k / 32.0);
    e.low = ulp_exact_mul(ulp_exact_of(to_binary64(e.low)), factor);
    e.high = ulp_exact_mul(ulp_exact_of(to_binary64(e.high)), factor);
    return e;
}

static scaling search(const job *all, const ulp_group *g, ends e) {
    job j = *all;
    ulp_quantizer q = *j.q->quantizer;
    q.block.rule = ULP_SCALE_AMAX;
    j.wraps = 0;
    scaling best = scaling_of(part_of(e, 32), &q), last = best;
    double least = error_of(&j, g, best);
    for (int k = 16; k <= 48; k++) {
        const scaling s = scaling_of(part_of(e, k), &q);
        if (s.scale == last.scale && s.zero_point == last.zero_point) continue;
        last = s;
        const double error = error_of(&j, g, s);
        if (error < least) best = s, least = error;
    }
    return best;
}

/* ---- rules that need all numbers of a group ---- */

static scaling search_scale(const job *j, const ulp_group *g) {
    const ulp_quantizer *const q = j->q->quantizer;
    const size_t *const shape = j->q->tiling.shape;
    const ulp_block_part part = {
        ulp_group_run(g, &j->q->tiling, 0), {g->size[0], g->size[1], g->size[2]}, {shape[1] * shape[2], shape[2]}};
    const double scale = j->wide != NULL ? ulp_block_scale_of_part64(j->wide, &part, &q->block, q->tensor_scale)
                                         : ulp_block_scale_of_part_exact(j->exact, &part, &q->block, q->tensor_scale);
    return (scaling){scale, 0};
}

/* ---- arrays ---- */

static void quantize_group(const job *j, const ulp_group *g, size_t number) {
    const ulp_quantized *const q = j->q;
    const int by_all = !q->quantizer->searches && ulp_scale_rule_searches(q->quantizer->block.rule);
    const ends e = by_all ? (ends){ulp_exact_of(0.0), ulp_exact_of(0.0)} : find_ends(j, g);
    scaling s = by_all ? search_scale(j, g) : q->quantizer->searches ? search(j, g, e) : scaling_of(e, q->quantizer);
    int is_nan = 0;
    FOR_EACH(j, g, i) {
        const int32_t code = code_at(j, i, s, j->rule, ulp_element_word(j->rule, j->stream, i));
        q->codes[i] = (uint16_t)code;
        is_nan |= code == NO_NAN;
    }
    if (is_nan) {
        s = (scaling){ulp_quiet_nan(), 0};
        FOR_EACH(j, g, i) q->codes[i] = 0;
    }
    q->scales[number] = s.scale;
    if (q->zero_points != NULL) q->zero_points[number] = s.zero_point;
}

static ulp_status check(const ulp_quantized *q, ulp_rule rule) {
    if (q == NULL || q->quantizer == NULL || q->codes == NULL || q->scales == NULL) return ULP_BAD_ARGUMENT;
    if (q->quantizer->has_zero_point && q->zero_points == NULL) return ULP_BAD_ARGUMENT;
    for (int d = 0; d < 3; d++)
        if (q->tiling.tile[d] < 1) return ULP_BAD_ARGUMENT;
    return ulp_quantizer_check(q->quantizer, rule);
}

static ulp_status quantize_all(job *j) {
    size_t counts[3];
    ULP_TRY(check(j->q, j->rule));
    const ulp_quantizer *const q = j->q->quantizer;
    j->wraps =
        q->low < q->high && ulp_overflow_of(&q->block.element, (ulp_overflow)j->rule.overflow) == ULP_OVERFLOW_WRAP;
    j->lattice = (ulp_format){.bits = 32, .is_signed = 1, .is_fixed = 1, .frac_bits = q->block.element.frac_bits};
    if (q->low < q->high) ULP_TRY(ulp_format_init(&j->lattice));
    if (j->wraps) j->rule.overflow = ULP_OVERFLOW_WRAP;
    const size_t n = ulp_tiling_groups(counts, &j->q->tiling);
    for (size_t i = 0; i < n; i++) {
        const ulp_group g = ulp_tiling_group(&j->q->tiling, counts, i);
        quantize_group(j, &g, i);
    }
    return ULP_OK;
}

ulp_status ulp_quantize(const ulp_quantized *q, const double *x, ulp_rule rule, ulp_stream stream) {
    job j = {.q = q, .wide = x, .rule = rule, .stream = stream};
    return x != NULL ? quantize_all(&j) : ULP_BAD_ARGUMENT;
}

ulp_status ulp_quantize_exact(const ulp_quantized *q, const ulp_exact *x, ulp_rule rule, ulp_stream stream) {
    job j = {.q = q, .exact = x, .rule = rule, .stream = stream};
    return x != NULL ? quantize_all(&j) : ULP_BAD_ARGUMENT;
}

ulp_status ulp_dequantize(float *y, const ulp_quantized *q) {
    size_t counts[3];
    if (y == NULL) return ULP_BAD_ARGUMENT;
    ULP_TRY(check(q, (ulp_rule){ULP_RNE, ULP_OVERFLOW_DEFAULT, 0}));
    const size_t n = ulp_tiling_groups(counts, &q->tiling);
    const job j = {.q = q};
    const ulp_quantizer *const z = q->quantizer;
    double element[256];
    const uint32_t codes = z->bits <= 8 ? 1u << z->bits : 0; /* in the table */
    for (uint32_t code = 0; code < codes; code++) element[code] = element_of(z, code);
    for (size_t k = 0; k < n; k++) {
        const ulp_group g = ulp_tiling_group(&q->tiling, counts, k);
        const factors f = factors_of(z, (scaling){q->scales[k], q->zero_points != NULL ? q->zero_points[k] : 0});
        FOR_EACH(&j, &g, i)
        y[i] = product_of(q->codes[i] < codes ? element[q->codes[i]] : element_of(z, q->codes[i]), f);
    }
    return ULP_OK;
}
