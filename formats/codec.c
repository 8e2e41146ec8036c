/* codec.c - encoding by rounding: the code of a value, the neighbours of a value in the format, and their spacing. */
#include "taper.h"
#include "tapered.h"

/* The magnitude code of a finite non-zero value of the format. */
static uint64_t encode_magnitude(ulp_exact x, const ulp_format *f) {
    int32_t e = x.exp + 127;
    if (e < f->emin) return ulp_cut_at(x, f->qmin).kept;
    uint64_t significand = ulp_cut_at(x, e - f->prec + 1).kept;
    return ((uint64_t)(e + f->bias) << (f->prec - 1)) + significand - (1ull << (f->prec - 1));
}

/* The format without the flush of subnormals, which is of operations: the values of the format contain subnormals. */
static ulp_format unflushed(const ulp_format *f) {
    ulp_format all = *f;
    all.flushes = 0;
    return all;
}

ulp_status ulp_encode(uint64_t *code, double value, const ulp_format *f) {
    if (f->flushes != 0) {
        const ulp_format all = unflushed(f);
        return ulp_encode(code, value, &all);
    }
    const ulp_rule exact = {ULP_RZ, ULP_OVERFLOW_SAT, 0};
    ulp_exact x = ulp_exact_of(value);
    uint64_t sign = x.neg && f->is_signed ? 1ull << (f->bits - 1) : 0;
    if (x.kind == ULP_EXACT_NAN) {
        if (f->nan_codes == ULP_NAN_NONE) return ULP_NO_NAN;
        *code = f->nan_code;
        return ULP_OK;
    }
    if (x.kind == ULP_EXACT_INF) {
        if (!f->has_inf || (x.neg && !f->is_signed)) return ULP_NO_CODE;
        *code = sign | f->inf_code;
        return ULP_OK;
    }
    if (ulp_round(value, f, exact, 0) != value) return ULP_NO_CODE;
    if (f->taper != ULP_TAPER_NONE) {
        *code = ulp_tapered_encode(x, f);
        return ULP_OK;
    }
    if (x.kind == ULP_EXACT_ZERO) {
        *code = f->has_neg_zero ? sign : 0;
    } else if (f->is_fixed) {
        uint64_t n = ulp_cut_at(x, f->qmin).kept;
        *code = (x.neg ? 0 - n : n) & ((1ull << f->bits) - 1);
    } else {
        *code = sign | encode_magnitude(x, f);
    }
    return ULP_OK;
}

ulp_status ulp_ordinal(int64_t *ordinal, double value, const ulp_format *f) {
    const ulp_exact x = ulp_exact_of(value);
    uint64_t code;
    if (value - value != 0 || ulp_encode(&code, value, f) != ULP_OK) return ULP_NO_CODE;
    if (x.kind == ULP_EXACT_ZERO) code = 0;
    else if (f->taper != ULP_TAPER_NONE) code = ulp_cut_at(ulp_taper_rank(x, f, x.exp + 127), 0).kept;
    else code = f->is_fixed ? ulp_cut_at(x, f->qmin).kept : encode_magnitude(x, f);
    *ordinal = x.neg ? -(int64_t)code : (int64_t)code;
    return ULP_OK;
}

/* The parts of the code of a value. A magnitude below 2^emin, and each magnitude of fixed point, counts quanta: it
 * is the difference of the binary64 codes of unit + magnitude and of unit, where unit = 2^(qmin + 52) has the spacing
 * 2^qmin. Above, the code is the binary64 code with fewer fraction bits and another bias. */
typedef struct recipe {
    uint64_t normal; /* binary64 code of 2^emin; of fixed point that of Inf */
    uint64_t bias;   /* what the shifted binary64 code exceeds the magnitude code by */
    uint64_t inf, nan, sign, mask;
    uint64_t neg_zero, is_fixed, no_inf, no_negative_inf, no_nan; /* all bits one if so, else zero */
    double unit;
    int shift;
} recipe;

static const uint64_t infinity = 0x7ff0000000000000u;

static uint64_t all_bits(int condition) { return condition ? ~0ull : 0; }

static recipe recipe_of(const ulp_format *f) {
    recipe r = {.inf = f->inf_code, .nan = f->nan_code};
    r.shift = f->is_fixed ? 0 : 53 - f->prec;
    r.bias = f->is_fixed ? 0 : (uint64_t)(1023 - f->bias) << (f->prec - 1);
    r.normal = f->is_fixed ? infinity : ulp_bits64(ulp_scale(1.0, f->emin));
    r.unit = ulp_scale(1.0, f->qmin + 52);
    r.sign = f->is_signed && !f->is_fixed ? 1ull << (f->bits - 1) : 0;
    r.mask = ~0ull >> (64 - f->bits);
    r.neg_zero = all_bits(f->has_neg_zero);
    r.is_fixed = all_bits(f->is_fixed);
    r.no_inf = all_bits(!f->has_inf);
    r.no_negative_inf = all_bits(!f->has_inf || !f->is_signed);
    r.no_nan = all_bits(f->nan_codes == ULP_NAN_NONE);
    return r;
}

/* All bits are the top bit of x. a - b of numbers below 2^63 has the top bit where a < b; SSE2 has no such comparison.
 */
ULP_CORE uint64_t top_bit(uint64_t x) { return 0 - (x >> 63); }

static size_t encode_each(uint64_t *code, const double *value, size_t n, const ulp_format *f) {
    size_t i = 0;
    while (i < n && ulp_encode(&code[i], value[i], f) == ULP_OK) i++;
    return i;
}

size_t ulp_encode_array(uint64_t *code, const double *value, size_t n, const ulp_format *f) {
    /* binary64 has no normal numbers there */
    /* and the sum of unit and a magnitude of 53 bits leaves its binade */
    if (f->emin < -1022 || f->taper != ULP_TAPER_NONE || (f->is_fixed && f->bits > 52))
        return encode_each(code, value, n, f);
    const recipe r = recipe_of(f);
    const uint64_t unit = ulp_bits64(r.unit);
    uint64_t missing = 0;
#if defined(__clang__) /* its cost model sees no gain, which is a factor of 2 */
#pragma clang loop vectorize(enable)
#endif
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = ulp_bits64(value[i]), magnitude = bits & ~(1ull << 63), negative = top_bit(bits);
        const uint64_t few = ulp_bits64(ulp_from_bits64(magnitude) + r.unit) - unit;
        const uint64_t many = (magnitude >> r.shift) - r.bias, is_few = top_bit(magnitude - r.normal);
        const uint64_t is_nan = top_bit(infinity - magnitude), is_inf = top_bit(infinity - 1 - magnitude) & ~is_nan;
        const uint64_t finite = (few & is_few) | (many & ~is_few), any = (finite & ~is_inf) | (r.inf & is_inf);
        const uint64_t flip = negative & r.is_fixed, sign = r.sign & negative & (~top_bit(magnitude - 1) | r.neg_zero);
        code[i] = (((((any ^ flip) - flip) & r.mask) | sign) & ~is_nan) | (r.nan & is_nan);
        missing |= (is_inf & ((negative & r.no_negative_inf) | (~negative & r.no_inf))) | (is_nan & r.no_nan);
    }
    return missing == 0 ? n : encode_each(code, value, n, f);
}

void ulp_code_letters(char *letters, uint64_t code, const ulp_format *f) {
    const int fraction = f->is_fixed ? f->frac_bits : f->prec - 1;
    if (f->taper != ULP_TAPER_NONE) {
        ulp_tapered_letters(letters, code, f);
        return;
    }
    for (int i = 0; i < f->bits; i++) letters[i] = i >= f->bits - fraction ? 'f' : f->is_fixed ? 'i' : 'e';
    if (f->is_signed && !f->is_fixed) letters[0] = 's';
    letters[f->bits] = '\0';
}

/* The least positive binary64 value: no binary64 value lies between a binary64 value x and x + step. */
static const double step = 0x1p-1074;

double ulp_next_up(double x, const ulp_format *f) {
    ulp_rule rule = {ULP_RU, (uint8_t)(f->has_inf ? ULP_OVERFLOW_INF : ULP_OVERFLOW_SAT), 0};
    if (x != x) return x;
    if (x < f->lowest) return f->lowest;
    if (f->taper != ULP_TAPER_NONE) return ulp_tapered_next(x, f);
    const ulp_format all = unflushed(f);
    double y = ulp_round_pair(x, step, &all, rule, 0);
    /* a zero above a negative x is -0; x + step can cancel, which gives +0 */
    return y == 0.0 ? ulp_zero_value(f, 1) : y;
}

double ulp_next_down(double x, const ulp_format *f) {
    ulp_rule rule = {ULP_RD, (uint8_t)(f->has_inf && f->is_signed ? ULP_OVERFLOW_INF : ULP_OVERFLOW_SAT), 0};
    if (x != x) return x;
    if (x > f->max) return f->max;
    if (f->taper != ULP_TAPER_NONE) return 0.0 - ulp_tapered_next(-x, f);
    const ulp_format all = unflushed(f);
    double y = ulp_round_pair(x, -step, &all, rule, 0);
    return y == 0.0 ? ulp_zero_value(f, 0) : y;
}

double ulp_spacing(double x, const ulp_format *f) {
    ulp_exact v = ulp_exact_of(x);
    if (v.kind == ULP_EXACT_NAN || v.kind == ULP_EXACT_INF) return ulp_quiet_nan();
    if (f->taper != ULP_TAPER_NONE) return ulp_tapered_spacing(x, f);
    if (f->is_fixed || v.kind != ULP_EXACT_FINITE || v.exp + 127 < f->emin) return ulp_scale(1.0, f->qmin);
    return ulp_scale(1.0, v.exp + 127 - f->prec + 1);
}
