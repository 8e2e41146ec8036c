/* codec.c - encoding by rounding: the code of a value, the neighbours of a value in the format, and their spacing. */
#include "round.h"

/* The magnitude code of a finite non-zero value of the format. */
static uint64_t encode_magnitude(ulp_exact x, const ulp_format *f) {
    int32_t e = x.exp + 127;
    if (e < f->emin) return ulp_cut_at(x, f->qmin).kept;
    uint64_t significand = ulp_cut_at(x, e - f->prec + 1).kept;
    return ((uint64_t)(e + f->bias) << (f->prec - 1)) + significand - (1ull << (f->prec - 1));
}

ulp_status ulp_encode(uint64_t *code, double value, const ulp_format *f) {
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

/* The least positive binary64 value: no binary64 value lies between a binary64 value x and x + step. */
static const double step = 0x1p-1074;

double ulp_next_up(double x, const ulp_format *f) {
    ulp_rule rule = {ULP_RU, (uint8_t)(f->has_inf ? ULP_OVERFLOW_INF : ULP_OVERFLOW_SAT), 0};
    if (x != x) return x;
    if (x < f->lowest) return f->lowest;
    double y = ulp_round_pair(x, step, f, rule, 0);
    /* a zero above a negative x is -0; x + step can cancel, which gives +0 */
    return y == 0.0 ? ulp_zero_value(f, 1) : y;
}

double ulp_next_down(double x, const ulp_format *f) {
    ulp_rule rule = {ULP_RD, (uint8_t)(f->has_inf && f->is_signed ? ULP_OVERFLOW_INF : ULP_OVERFLOW_SAT), 0};
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
