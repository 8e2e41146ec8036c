/* codec.c - codes and values: encode, decode, classify, and the neighbours of a value.
 *
 * Magnitude codes are ordered like magnitudes in every format (P3109 interim report v4.0, section 4.3), so
 * a code is a sign, an exponent field and a fraction; fixed point is a two's complement integer. In a
 * format with :nosub the codes of subnormals decode to zero.
 */
#include "round.h"

static uint64_t low_bits(int n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }

static uint64_t sign_bit(const ulp_format *f) { return f->is_signed ? 1ull << (f->bits - 1) : 0; }

static int is_nan_code(uint64_t code, const ulp_format *f) {
    uint64_t magnitude = code & ~sign_bit(f);
    switch (f->nan_codes) {
    case ULP_NAN_IEEE: return magnitude > f->inf_code;
    case ULP_NAN_ALL_ONES: return magnitude == f->nan_code;
    case ULP_NAN_NEG_ZERO: return code == f->nan_code;
    default: return 0;
    }
}

static double decode_fixed(uint64_t code, const ulp_format *f) {
    uint64_t sign = sign_bit(f);
    double n = code & sign ? -(double)(2 * sign - code) : (double)code;
    return ulp_scale(n, f->qmin);
}

static double decode_magnitude(uint64_t code, const ulp_format *f) {
    uint64_t hidden = 1ull << (f->prec - 1), fraction = code & (hidden - 1);
    int field = (int)(code >> (f->prec - 1));
    if (f->has_inf && code == f->inf_code) return ulp_from_bits64(0x7ff0000000000000u);
    if (field == 0 && f->zero_binade && fraction == 0) return 0.0;
    if (field == 0 && f->has_zero && !f->zero_binade)
        return f->has_subnormals ? ulp_scale((double)fraction, 1 - f->bias - f->prec + 1) : 0.0;
    return ulp_scale((double)(hidden | fraction), field - f->bias - f->prec + 1);
}

double ulp_decode(uint64_t code, const ulp_format *f) {
    code &= low_bits(f->bits);
    if (f->is_fixed) return decode_fixed(code, f);
    if (is_nan_code(code, f)) return ulp_quiet_nan();
    double magnitude = decode_magnitude(code & ~sign_bit(f), f);
    if (magnitude == 0.0)
        return ulp_zero_value(f, (code & sign_bit(f)) != 0); /* :nosub has such codes where there is no -0 */
    return code & sign_bit(f) ? -magnitude : magnitude;
}

/* The magnitude code of a finite non-zero member of the format. */
static uint64_t encode_magnitude(ulp_exact x, const ulp_format *f) {
    int32_t e = x.exp + 127;
    if (e < f->emin) return ulp_cut_at(x, f->qmin).kept;
    uint64_t significand = ulp_cut_at(x, e - f->prec + 1).kept;
    return ((uint64_t)(e + f->bias) << (f->prec - 1)) + significand - (1ull << (f->prec - 1));
}

ulp_status ulp_encode(uint64_t *code, double value, const ulp_format *f) {
    const ulp_rule exact = {ULP_RZ, ULP_OVERFLOW_SAT, 0};
    ulp_exact x = ulp_exact_of(value);
    uint64_t sign = x.neg ? sign_bit(f) : 0;
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
    if (x.kind == ULP_EXACT_ZERO) {
        *code = f->has_neg_zero ? sign : 0;
    } else if (f->is_fixed) {
        uint64_t n = ulp_cut_at(x, f->qmin).kept;
        *code = (x.neg ? 0 - n : n) & low_bits(f->bits);
    } else {
        *code = sign | encode_magnitude(x, f);
    }
    return ULP_OK;
}

ulp_class ulp_classify(uint64_t code, const ulp_format *f) {
    double value = ulp_decode(code, f);
    if (value != value) return ULP_NAN;
    double magnitude = value < 0 ? -value : value;
    if (magnitude == 0.0) return ULP_ZERO;
    if (magnitude > 0x1.fffffffffffffp1023) return ULP_INFINITE;
    return magnitude < f->min_normal ? ULP_SUBNORMAL : ULP_NORMAL;
}

/* The least positive binary64 value: nothing lies between a binary64 value x and x + step. */
static const double step = 0x1p-1074;

double ulp_next_up(double x, const ulp_format *f) {
    ulp_rule rule = {ULP_RU, f->has_inf ? ULP_OVERFLOW_INF : ULP_OVERFLOW_SAT, 0};
    if (x != x) return x;
    if (x < f->lowest) return f->lowest;
    double y = ulp_round_pair(x, step, f, rule, 0);
    return y == 0.0 ? ulp_zero_value(f, 1) : y; /* from below; x + step may cancel, which is +0 */
}

double ulp_next_down(double x, const ulp_format *f) {
    ulp_rule rule = {ULP_RD, f->has_inf && f->is_signed ? ULP_OVERFLOW_INF : ULP_OVERFLOW_SAT, 0};
    if (x != x) return x;
    if (x > f->max) return f->max;
    double y = ulp_round_pair(x, -step, f, rule, 0);
    return y == 0.0 ? ulp_zero_value(f, 0) : y;
}

double ulp_spacing(double x, const ulp_format *f) {
    ulp_exact v = ulp_exact_of(x);
    if (v.kind == ULP_EXACT_NAN || v.kind == ULP_EXACT_INF) return ulp_quiet_nan();
    if (f->is_fixed || v.kind != ULP_EXACT_FINITE || v.exp + 127 < f->emin) return ulp_scale(1.0, f->qmin);
    return ulp_scale(1.0, v.exp + 127 - f->prec + 1);
}
