/* descriptor.c - derivation of a format's ranges and special codes from its deciding parameters, and the value of a
 * code.
 *
 * In every format the magnitude codes have the order of the magnitudes (P3109 interim report v4.0, section 4.3). A
 * floating-point code is a sign, an exponent field and a fraction. A fixed-point code is a two's complement integer. In
 * a format with :nosub the codes of subnormals decode to zero. tapered.c derives tapered formats and decodes their
 * codes.
 */
#include "tapered.h"

/* ---- the value of a code ---- */

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
    uint64_t sign = sign_bit(f); /* 0 without a sign */
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
    if (f->taper != ULP_TAPER_NONE) return ulp_tapered_decode(code, f);
    double magnitude = decode_magnitude(code & ~sign_bit(f), f);
    if (magnitude == 0.0)
        return ulp_zero_value(f, (code & sign_bit(f)) != 0); /* :nosub gives codes of -0 in a format without -0 */
    return code & sign_bit(f) ? -magnitude : magnitude;
}

ulp_class ulp_classify(uint64_t code, const ulp_format *f) {
    double value = ulp_decode(code, f);
    if (value != value) return ULP_NAN;
    double magnitude = value < 0 ? -value : value;
    if (magnitude == 0.0) return ULP_ZERO;
    if (magnitude > 0x1.fffffffffffffp1023) return ULP_INFINITE;
    return magnitude < f->min_normal ? ULP_SUBNORMAL : ULP_NORMAL;
}

/* ---- derivation ---- */

static ulp_status init_fixed(ulp_format *f) {
    if (f->bits < 1 || f->bits > ULP_FIXED_MOST || f->frac_bits > f->bits + 32) return ULP_NOT_IN_RANGE;
    f->prec = f->bits;
    f->bias = 0;
    f->has_zero = f->has_subnormals = 1;
    f->has_inf = f->has_neg_zero = f->zero_binade = 0;
    f->nan_codes = ULP_NAN_NONE;
    f->emin = f->emax = (int16_t)(f->bits - 1 - f->frac_bits);
    f->qmin = (int16_t)-f->frac_bits;
    f->fits_binary32 = f->bits <= 24;
    f->max_code = low_bits(f->bits - f->is_signed);
    f->inf_code = f->nan_code = 0;
    f->max = ulp_scale((double)f->max_code, f->qmin);
    f->lowest = f->is_signed ? -ulp_scale((double)(f->max_code + 1), f->qmin) : 0.0;
    f->min_normal = f->min_positive = ulp_scale(1.0, f->qmin);
    return ULP_OK;
}

/* Computes the codes of Inf, NaN and max from the positions of the NaN codes. */
static void place_specials(ulp_format *f) {
    uint64_t ones = low_bits(f->bits - (f->is_signed != 0));
    uint64_t hidden = 1ull << (f->prec - 1);
    uint64_t top = ones; /* the largest magnitude code that is not NaN */
    f->nan_code = 0;
    if (f->nan_codes == ULP_NAN_IEEE) {
        top = ones & ~(hidden - 1);
        f->nan_code = top | hidden >> 1;
    } else if (f->nan_codes == ULP_NAN_ALL_ONES) {
        top = ones - 1;
        f->nan_code = ones;
    } else if (f->nan_codes == ULP_NAN_NEG_ZERO) {
        f->nan_code = ones + 1;
    }
    f->inf_code = f->has_inf ? top : 0;
    f->max_code = f->has_inf ? top - 1 : top;
}

static ulp_status init_floating(ulp_format *f) {
    int width = f->bits - (f->is_signed != 0) - (f->prec - 1); /* width of the exponent field */
    if (f->bits < 2 || f->bits > 64 || f->prec < 1 || f->prec > 53 || width < 1 || width > 11) return ULP_NOT_IN_RANGE;
    if (f->nan_codes == ULP_NAN_IEEE && (f->prec < 2 || !f->has_inf)) return ULP_NOT_IN_RANGE;
    if (f->nan_codes == ULP_NAN_NEG_ZERO && (!f->is_signed || f->has_neg_zero)) return ULP_NOT_IN_RANGE;
    place_specials(f);
    int field = (int)(f->max_code >> (f->prec - 1)); /* exponent field of max */
    int lowest_field = f->zero_binade || !f->has_zero ? 0 : 1;
    if (!f->has_subnormals && field < lowest_field) return ULP_NOT_IN_RANGE;
    int emin = lowest_field - f->bias, emax = field - f->bias;
    int qmin = f->has_subnormals ? emin - f->prec + 1 : emin;
    if (emin - f->prec + 1 < -1074 || emax > 1023) return ULP_NOT_IN_RANGE;
    f->emin = (int16_t)emin;
    f->emax = (int16_t)emax;
    f->qmin = (int16_t)qmin;
    f->fits_binary32 = f->prec <= 24 && emax <= 127 && emin - f->prec + 1 >= -149;
    f->max = decode_magnitude(f->max_code, f);
    double significand = f->zero_binade ? (double)((1ull << (f->prec - 1)) + 1) : (double)(1ull << (f->prec - 1));
    f->min_normal = ulp_scale(significand, emin - f->prec + 1);
    f->min_positive = f->has_subnormals ? ulp_scale(1.0, qmin) : f->min_normal;
    f->lowest = f->is_signed ? -f->max : f->has_zero ? 0.0 : f->min_positive;
    return ULP_OK;
}

ulp_status ulp_format_init(ulp_format *format) {
    ulp_status status = format->taper != ULP_TAPER_NONE ? ulp_tapered_init(format)
                        : format->is_fixed              ? init_fixed(format)
                                                        : init_floating(format);
    if (status != ULP_OK) return status;
    if (format->overflow == ULP_OVERFLOW_DEFAULT)
        format->overflow = format->has_inf || format->taper != ULP_TAPER_NONE ? ULP_OVERFLOW_INF : ULP_OVERFLOW_SAT;
    if (format->overflow == ULP_OVERFLOW_WRAP && !format->is_fixed) return ULP_UNSUPPORTED;
    return format->overflow < ULP_OVERFLOW_COUNT ? ULP_OK : ULP_BAD_ARGUMENT;
}

/* log2 of the spacing at the lower end of the normal numbers. In a format with subnormals no spacing is smaller. */
static int least_spacing(const ulp_format *f) { return f->is_fixed ? -f->frac_bits : f->emin - f->prec + 1; }

/* The significant bits of the values. A signed fixed-point value has at most bits - 1: the lowest is a power of two. */
static int significand(const ulp_format *f) { return f->is_fixed ? f->bits - f->is_signed : f->prec; }

int ulp_format_holds(const ulp_format *outer, const ulp_format *inner) {
    if (outer->taper != ULP_TAPER_NONE || inner->taper != ULP_TAPER_NONE) return ulp_tapered_holds(outer, inner);
    if (inner->has_inf > outer->has_inf || inner->has_zero > outer->has_zero) return 0;
    if (inner->nan_codes != ULP_NAN_NONE && outer->nan_codes == ULP_NAN_NONE) return 0;
    if (inner->max > outer->max || inner->lowest < outer->lowest || least_spacing(inner) < least_spacing(outer))
        return 0;
    if (outer->is_fixed) return 1;
    return significand(inner) <= significand(outer) &&
           (outer->has_subnormals || inner->min_positive >= outer->min_normal);
}

ulp_status ulp_format_shift(ulp_format *format, int k) {
    ulp_format shifted = *format;
    if (format->taper != ULP_TAPER_NONE) return ULP_UNSUPPORTED;
    if (k < -4096 || k > 4096 || (shifted.is_fixed && (shifted.frac_bits < k || shifted.frac_bits - k > 255)))
        return ULP_NOT_IN_RANGE;
    if (shifted.is_fixed) shifted.frac_bits = (uint8_t)(shifted.frac_bits - k);
    else shifted.bias = (int16_t)(shifted.bias - k);
    ulp_status status = ulp_format_init(&shifted);
    if (status == ULP_OK) *format = shifted;
    return status;
}

ulp_overflow ulp_overflow_of(const ulp_format *format, ulp_overflow policy) {
    return policy == ULP_OVERFLOW_DEFAULT ? (ulp_overflow)format->overflow : policy;
}

/* ---- rows for code ---- */

/* A signed format with subnormals and -0, with the fields that ulp_format_init derives. inf_ = 0: no infinities. */
#define FORMAT(name_, bits_, prec_, bias_, emax_, nan_codes_, max_code_, inf_, nan_, max_, normal_, least_)            \
    {                                                                                                                  \
        .name = name_, .bits = bits_, .prec = prec_, .bias = bias_, .is_signed = 1, .has_inf = (inf_) != 0,            \
        .has_zero = 1, .has_neg_zero = 1, .has_subnormals = 1, .nan_codes = nan_codes_,                                \
        .overflow = (inf_) != 0 ? ULP_OVERFLOW_INF : ULP_OVERFLOW_SAT, .emin = 1 - bias_, .emax = emax_,               \
        .qmin = 2 - bias_ - prec_, .fits_binary32 = prec_ <= 24, .max_code = max_code_, .inf_code = inf_,              \
        .nan_code = nan_, .max = max_, .lowest = -max_, .min_normal = normal_, .min_positive = least_                  \
    }

const ulp_format ulp_binary64 =
    FORMAT("binary64", 64, 53, 1023, 1023, ULP_NAN_IEEE, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000,
           0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1074);
const ulp_format ulp_binary32 = FORMAT("binary32", 32, 24, 127, 127, ULP_NAN_IEEE, 0x7f7fffff, 0x7f800000, 0x7fc00000,
                                       0x1.fffffep127, 0x1p-126, 0x1p-149);
const ulp_format ulp_binary16 =
    FORMAT("binary16", 16, 11, 15, 15, ULP_NAN_IEEE, 0x7bff, 0x7c00, 0x7e00, 65504.0, 0x1p-14, 0x1p-24);
const ulp_format ulp_bfloat16 =
    FORMAT("bfloat16", 16, 8, 127, 127, ULP_NAN_IEEE, 0x7f7f, 0x7f80, 0x7fc0, 0x1.fep127, 0x1p-126, 0x1p-133);
const ulp_format ulp_e4m3 = FORMAT("e4m3", 8, 4, 7, 8, ULP_NAN_ALL_ONES, 0x7e, 0, 0x7f, 448.0, 0x1p-6, 0x1p-9);
const ulp_format ulp_e5m2 = FORMAT("e5m2", 8, 3, 15, 15, ULP_NAN_IEEE, 0x7b, 0x7c, 0x7e, 57344.0, 0x1p-14, 0x1p-16);

int ulp_format_equal(const ulp_format *a, const ulp_format *b) {
    for (size_t i = 0; i < ULP_NAME_MAX; i++) {
        if (a->name[i] != b->name[i]) return 0;
        if (a->name[i] == '\0') break;
    }
    return a->bits == b->bits && a->prec == b->prec && a->bias == b->bias && a->is_signed == b->is_signed &&
           a->is_fixed == b->is_fixed && a->frac_bits == b->frac_bits && a->has_inf == b->has_inf &&
           a->has_zero == b->has_zero && a->has_neg_zero == b->has_neg_zero && a->has_subnormals == b->has_subnormals &&
           a->zero_binade == b->zero_binade && a->nan_codes == b->nan_codes && a->overflow == b->overflow &&
           a->taper == b->taper && a->exponent_bits == b->exponent_bits && a->flushes == b->flushes;
}
