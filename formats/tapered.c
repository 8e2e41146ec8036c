/* tapered.c - derivation of tapered formats from their kind and their bits, codes, neighbours and spacings. */
#define ULP_DEFINES_TAPERED /* round.h defines ulp_round_tapered here */
#include "tapered.h"

static double rounded(double x, const ulp_format *f, ulp_mode mode) {
    const ulp_rule rule = {(uint8_t)mode, ULP_OVERFLOW_SAT, 0};
    return ulp_round_exact(ulp_exact_of(x), f, rule, 0);
}

static uint64_t sign_of(const ulp_format *f) { return (uint64_t)1 << (f->bits - 1); }

/* ---- codes ---- */

/* Negation is the two's complement in posits and takums, and a sign bit in hif8. */
static uint64_t negated(uint64_t code, const ulp_format *f) {
    return f->taper == ULP_TAPER_HIF8 ? code ^ sign_of(f) : (0 - code) & (2 * sign_of(f) - 1);
}

double ulp_tapered_decode(uint64_t code, const ulp_format *f) {
    const int neg = (code & sign_of(f)) != 0;
    const uint64_t magnitude = neg ? negated(code, f) : code;
    const uint64_t rank = f->taper == ULP_TAPER_HIF8 ? ulp_hif8_rank(magnitude) : magnitude;
    if (rank == 0) return 0.0;
    const double value = rank > ulp_taper_last(f) ? ulp_from_bits64(0x7ff0000000000000u) : ulp_taper_value(f, rank);
    return neg ? -value : value;
}

uint64_t ulp_tapered_encode(ulp_exact x, const ulp_format *f) {
    if (x.kind != ULP_EXACT_FINITE) return 0;
    const uint64_t rank = ulp_cut_at(ulp_taper_rank(x, f, x.exp + 127), 0).kept;
    const uint64_t code = f->taper == ULP_TAPER_HIF8 ? ulp_hif8_code(rank) : rank;
    return x.neg ? negated(code, f) : code;
}

/* n letters, no more than fit before `end`. Returns the end of the letters. */
static char *put_letters(char *at, const char *end, char letter, int n) {
    while (n-- > 0 && at < end) *at++ = letter;
    return at;
}

void ulp_tapered_letters(char *letters, uint64_t code, const ulp_format *f) {
    const uint64_t low = code & (sign_of(f) - 1);
    char *const end = letters + f->bits, *at = put_letters(letters, end, 's', 1);
    if (f->taper == ULP_TAPER_POSIT) {
        const uint64_t string = low << (65 - f->bits), run = string >> 63 ? ~string : string;
        at = put_letters(at, end, 'r', run == 0 ? f->bits : ulp_leading_zeros(run) + 1);
        at = put_letters(at, end, 'e', f->exponent_bits);
    } else if (f->taper == ULP_TAPER_TAKUM) {
        const int head = (int)(low >> (f->bits - 5)), r = head >> 3 ? head & 7 : 7 - head;
        at = put_letters(at, end, 'd', 1);
        at = put_letters(at, end, 'r', 3);
        at = put_letters(at, end, 'c', r);
    } else {
        const int size = (int)(low >> 3); /* 0: powers of two; 1: e = 0; 2 and 3: |e| = 1; ... */
        at = put_letters(at, end, 'd', size < 2 ? 4 : size < 4 ? 3 : 2);
        at = put_letters(at, end, 'e', size < 2 ? 0 : size < 4 ? 1 : size < 8 ? 2 : size < 12 ? 3 : 4);
    }
    at = put_letters(at, end, 'f', f->bits);
    *at = '\0';
}

/* ---- derivation ---- */

/* The fraction bits of the values at 2^e. */
static int fraction_bits(const ulp_format *f, int e) {
    const int width = ulp_taper_at(f, e).width;
    return width > 0 ? width : 0;
}

static int log2_of(double x) { return ulp_exact_of(x).exp + 127; }

ulp_status ulp_tapered_init(ulp_format *f) {
    static const uint8_t least_bits[] = {0, 3, 6, 8}, most_bits[] = {0, 32, 32, 8};
    if (f->taper >= ULP_TAPER_COUNT || f->bits < least_bits[f->taper] || f->bits > most_bits[f->taper] ||
        f->exponent_bits > 4)
        return ULP_NOT_IN_RANGE;
    f->bias = 0;
    f->is_signed = f->has_zero = 1;
    f->is_fixed = f->frac_bits = f->has_neg_zero = f->has_subnormals = f->zero_binade = 0;
    f->has_inf = f->taper == ULP_TAPER_HIF8;
    f->nan_codes = ULP_NAN_NEG_ZERO;
    f->nan_code = sign_of(f);
    f->inf_code = f->has_inf ? ulp_hif8_code(ulp_taper_last(f) + 1) : 0;
    f->max = ulp_taper_value(f, ulp_taper_last(f));
    f->lowest = -f->max;
    f->min_positive = ulp_taper_value(f, 1);
    f->min_normal = f->taper == ULP_TAPER_HIF8 ? 0x1p-15 : f->min_positive;
    f->max_code = ulp_tapered_encode(ulp_exact_of(f->max), f);
    f->emin = (int16_t)log2_of(f->min_positive);
    f->emax = (int16_t)log2_of(f->max);
    f->prec = (uint8_t)(fraction_bits(f, 0) + 1);
    f->qmin = f->emin;
    for (int e = f->emin; e <= f->emax; e++)
        if (e - fraction_bits(f, e) < f->qmin) f->qmin = (int16_t)(e - fraction_bits(f, e));
    f->fits_binary32 = f->prec <= 24 && f->emax <= 127 && f->qmin >= -149;
    return ULP_OK;
}

/* ---- sets of values ---- */

static int holds_value(const ulp_format *f, double x) { return rounded(x, f, ULP_RZ) == x; }

/* The last bit of the values with the exponent e, as an exponent. */
static int last_bit(const ulp_format *f, int e) {
    if (f->taper != ULP_TAPER_NONE) return e - fraction_bits(f, e);
    const int least = f->is_fixed ? -f->frac_bits : f->emin - f->prec + 1;
    return f->is_fixed || e - f->prec + 1 < least ? least : e - f->prec + 1;
}

/* Whether `outer` holds every value of `inner` with the exponent e. The values with the last bit are the test: the
 * least of them and the one below 2^(e+1), where `inner` has them. */
static int holds_binade(const ulp_format *outer, const ulp_format *inner, int e) {
    const double least = ulp_scale(1.0, e), last = ulp_scale(1.0, last_bit(inner, e));
    const double inside[] = {least, least + last, 2.0 * least - last};
    for (int i = 0; i < 3; i++)
        if (holds_value(inner, inside[i]) && !holds_value(outer, inside[i])) return 0;
    return 1;
}

int ulp_tapered_holds(const ulp_format *outer, const ulp_format *inner) {
    if (inner->has_inf > outer->has_inf || inner->has_zero > outer->has_zero) return 0;
    if (inner->nan_codes != ULP_NAN_NONE && outer->nan_codes == ULP_NAN_NONE) return 0;
    if (!holds_value(outer, inner->max) || !holds_value(outer, inner->lowest)) return 0;
    const int below = inner->is_fixed ? -inner->frac_bits : log2_of(inner->min_positive);
    for (int e = below; e <= inner->emax; e++)
        if (!holds_binade(outer, inner, e)) return 0;
    return 1;
}

/* ---- neighbours ---- */

double ulp_tapered_next(double x, const ulp_format *f) {
    const double beyond = f->has_inf ? ulp_from_bits64(0x7ff0000000000000u) : f->max;
    const double y = rounded(x, f, ULP_RU);
    uint64_t code;
    if (x >= f->max) return beyond;
    if (y > x) return y;
    if (x < 0.0 && -x <= f->min_positive) return 0.0; /* y < x where posits do not round to zero */
    if (x == 0.0) return f->min_positive;
    code = ulp_cut_at(ulp_taper_rank(ulp_exact_of(x), f, log2_of(x)), 0).kept;
    return x < 0.0 ? -ulp_taper_value(f, code - 1) : ulp_taper_value(f, code + 1);
}

double ulp_tapered_spacing(double x, const ulp_format *f) {
    const double from = x < 0.0 ? -x : x, size = rounded(from, f, ULP_RZ);
    if (x == 0.0 || size > from || size == 0.0) return f->min_positive;
    uint64_t rank = ulp_cut_at(ulp_taper_rank(ulp_exact_of(size), f, log2_of(size)), 0).kept;
    if (rank == ulp_taper_last(f)) rank--;
    return ulp_taper_value(f, rank + 1) - ulp_taper_value(f, rank);
}
