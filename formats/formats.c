/* formats.c - the registry of number formats, and the names of formats, overflow policies and statuses.
 *
 * To add a format, add a row to `rows`. ulp_format_init derives the other fields from a row's parameters. Every test,
 * table and help text loops over the registry.
 */
#include "words.h"

enum {
    S = 1,
    INF = 2,
    NEGZERO = 4,
    SUB = 8,
    ZERO = 16,
    BINADE0 = 32,
    TAPERED = 64,
    UNSIGNED = 128, /* of fixed point, which is signed otherwise */
    IEEE = S | INF | NEGZERO | SUB | ZERO
};

typedef struct row {
    ulp_format_row text;
    uint8_t bits, prec;
    int16_t bias;
    uint8_t flags, nan_codes;
} row;

#define OCP8 "OCP OFP8 v1.0"
#define OCPMX "OCP MX v1.0"
#define P3109 "IEEE P3109 v4.0"
#define POSITS "Posit Standard 2022"
/* CFloat8 has a bias of 6 bits that a program sets: suffix :bias=N. Without the suffix the bias is that of IEEE 754.
 * Every exponent code holds numbers. The text gives subnormals as 0.m 2^-bias and normal numbers from 2^(1-bias) on,
 * which would leave a hole of half a binade between them. It also speaks of gradual underflow. So subnormals here are
 * 0.m 2^(1-bias), as in IEEE 754. */
#define TESLA "Tesla Dojo 2021"

static const row rows[] = {
    /* name, aliases, source, bits, p, bias, flags, NaN codes */
    {{"binary64", "fp64 double", "IEEE 754-2019"}, 64, 53, 1023, IEEE, ULP_NAN_IEEE},
    {{"binary32", "fp32 single float", "IEEE 754-2019"}, 32, 24, 127, IEEE, ULP_NAN_IEEE},
    {{"tf32", "tensorfloat32", "NVIDIA A100 whitepaper 2020"}, 19, 11, 127, IEEE, ULP_NAN_IEEE},
    {{"binary16", "fp16 half", "IEEE 754-2019"}, 16, 11, 15, IEEE, ULP_NAN_IEEE},
    {{"bfloat16", "bf16", "Intel bfloat16 definition 2018"}, 16, 8, 127, IEEE, ULP_NAN_IEEE},
    {{"e6m9", "", "Wang et al. 2018"}, 16, 10, 31, IEEE, ULP_NAN_IEEE},
    {{"e5m2", "fp8e5m2", OCP8}, 8, 3, 15, IEEE, ULP_NAN_IEEE},
    {{"e4m3", "e4m3fn fp8e4m3", OCP8}, 8, 4, 7, S | NEGZERO | SUB | ZERO, ULP_NAN_ALL_ONES},
    {{"e4m3fnuz", "", "Noune et al. 2022"}, 8, 4, 8, S | SUB | ZERO, ULP_NAN_NEG_ZERO},
    {{"e5m2fnuz", "", "Noune et al. 2022"}, 8, 3, 16, S | SUB | ZERO, ULP_NAN_NEG_ZERO},
    {{"binary8p1se", "", P3109}, 8, 1, 64, S | INF | SUB | ZERO, ULP_NAN_NEG_ZERO},
    {{"binary8p3se", "", P3109}, 8, 3, 16, S | INF | SUB | ZERO, ULP_NAN_NEG_ZERO},
    {{"binary8p4se", "", P3109}, 8, 4, 8, S | INF | SUB | ZERO, ULP_NAN_NEG_ZERO},
    {{"binary8p5se", "", P3109}, 8, 5, 4, S | INF | SUB | ZERO, ULP_NAN_NEG_ZERO},
    {{"binary8p3sf", "", P3109}, 8, 3, 16, S | SUB | ZERO, ULP_NAN_NEG_ZERO},
    {{"binary8p4sf", "", P3109}, 8, 4, 8, S | SUB | ZERO, ULP_NAN_NEG_ZERO},
    {{"binary8p4ue", "", P3109}, 8, 4, 16, INF | SUB | ZERO, ULP_NAN_ALL_ONES},
    {{"binary8p4uf", "", P3109}, 8, 4, 16, SUB | ZERO, ULP_NAN_ALL_ONES},
    {{"binary8p1uf", "", P3109}, 8, 1, 128, SUB | ZERO, ULP_NAN_ALL_ONES},
    {{"e3m4", "", "IEEE 754-2019 rules"}, 8, 5, 3, IEEE, ULP_NAN_IEEE},
    {{"e3m2", "fp6e3m2", OCPMX}, 6, 3, 3, S | NEGZERO | SUB | ZERO, ULP_NAN_NONE},
    {{"e2m3", "fp6e2m3", OCPMX}, 6, 4, 1, S | NEGZERO | SUB | ZERO, ULP_NAN_NONE},
    {{"e2m1", "fp4e2m1", OCPMX}, 4, 2, 1, S | NEGZERO | SUB | ZERO, ULP_NAN_NONE},
    {{"e8m0", "ue8m0", OCPMX}, 8, 1, 127, 0, ULP_NAN_ALL_ONES},
    {{"cfloat8_1_4_3", "cfloat8e4m3", TESLA}, 8, 4, 7, S | NEGZERO | SUB | ZERO, ULP_NAN_NONE},
    {{"cfloat8_1_5_2", "cfloat8e5m2", TESLA}, 8, 3, 15, S | NEGZERO | SUB | ZERO, ULP_NAN_NONE},
    {{"dlfloat16", "dlfloat", "Agrawal et al. 2019"}, 16, 10, 31, S | NEGZERO | ZERO | BINADE0, ULP_NAN_ALL_ONES},
    {{"fp24", "e8m15", "IEEE 754-2019 rules"}, 24, 16, 127, IEEE, ULP_NAN_IEEE},
    {{"q8.8", "", "two's complement"}, 16, 0, 8, 0, ULP_NAN_NONE},
    {{"q16.16", "", "two's complement"}, 32, 0, 16, 0, ULP_NAN_NONE},
    {{"q2.14", "", "two's complement"}, 16, 0, 14, 0, ULP_NAN_NONE},
    {{"q6.10", "", "two's complement"}, 16, 0, 10, 0, ULP_NAN_NONE},
    {{"q8.0", "int8", "two's complement"}, 8, 0, 0, 0, ULP_NAN_NONE},
    {{"q4.0", "int4", "two's complement"}, 4, 0, 0, 0, ULP_NAN_NONE},
    /* tapered: the column of p holds the exponent bits of posits, the column of the bias holds the kind */
    {{"posit8", "", POSITS}, 8, 2, ULP_TAPER_POSIT, TAPERED, ULP_NAN_NEG_ZERO},
    {{"posit16", "", POSITS}, 16, 2, ULP_TAPER_POSIT, TAPERED, ULP_NAN_NEG_ZERO},
    {{"takum8", "", "Hunhold 2024 (linear)"}, 8, 0, ULP_TAPER_TAKUM, TAPERED, ULP_NAN_NEG_ZERO},
    {{"takum16", "", "Hunhold 2024 (linear)"}, 16, 0, ULP_TAPER_TAKUM, TAPERED, ULP_NAN_NEG_ZERO},
    {{"hif8", "hifloat8", "Luo et al. 2024"}, 8, 0, ULP_TAPER_HIF8, TAPERED | INF, ULP_NAN_NEG_ZERO},
};

const size_t ulp_format_count = sizeof rows / sizeof rows[0];

/* Formats with a name of their own that no list and no table of results shows. */
static const row unlisted[] = {
    {{"e1m6fn", "", "sign and magnitude of 7 bits, times 2^-6"}, 8, 7, 1, S | NEGZERO | SUB | ZERO, ULP_NAN_NONE},
    {{"e1m2fn", "", "sign and magnitude of 3 bits, times 2^-2"}, 4, 3, 1, S | NEGZERO | SUB | ZERO, ULP_NAN_NONE},
    {{"q6.0", "int6", "two's complement"}, 6, 0, 0, 0, ULP_NAN_NONE},
};

enum { UNLISTED = sizeof unlisted / sizeof unlisted[0] };

const char *ulp_status_text(ulp_status status) {
    switch (status) {
    case ULP_OK: return "no error";
    case ULP_BAD_ARGUMENT: return "an argument is out of its range";
    case ULP_BAD_NAME: return "no such name";
    case ULP_NOT_IN_RANGE: return "the name has the right form, but its numbers are out of range";
    case ULP_NO_CODE: return "the value is not in the format";
    case ULP_NO_NAN: return "the value is NaN and the format has no NaN code";
    case ULP_UNSUPPORTED: return "this combination is not offered";
    case ULP_NO_MEMORY: return "out of memory";
    case ULP_NO_DEVICE: return "this machine or build lacks what was asked for";
    case ULP_BAD_FILE: return "a file is missing, truncated or of another kind";
    case ULP_DEVICE_FAILED: return "the device reported an error";
    }
    return "unknown status";
}

/* ---- parts of names ---- */

/* Reads a decimal number of at most three digits without leading zeros from [*at, end). -1 if there is no number. */
static int number(const char **at, const char *end) {
    int value = -1;
    const char *p = *at;
    while (p < end && *p >= '0' && *p <= '9' && p - *at < 3) value = (value < 0 ? 0 : value) * 10 + (*p++ - '0');
    if (**at == '0' && p - *at > 1) return -1;
    *at = p;
    return value;
}

static int letter(const char **at, const char *end, char c) {
    if (*at >= end || ulp_lower(**at) != c) return 0;
    ++*at;
    return 1;
}

/* The word w at the beginning of [*at, end). */
static int word(const char **at, const char *end, const char *w) {
    while (*w != '\0')
        if (!letter(at, end, *w++)) return 0;
    return 1;
}

/* ---- overflow policies ---- */

static const char *const policy_names[ULP_OVERFLOW_COUNT] = {"default", "inf", "sat", "nan", "wrap", "sym", "zero"};

const char *ulp_overflow_name(ulp_overflow policy) {
    return (unsigned)policy < ULP_OVERFLOW_COUNT ? policy_names[policy] : "?";
}

/* The policy that the first n characters of the text name; ULP_OVERFLOW_COUNT: none. */
static int policy_of(const char *text, size_t n) {
    int policy = 0;
    while (policy < ULP_OVERFLOW_COUNT && !ulp_is_one_of(text, n, policy_names[policy])) policy++;
    return policy;
}

ulp_status ulp_overflow_parse(ulp_overflow *policy, const char *text) {
    if (policy == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    const size_t n = ulp_word_length(text);
    const int found = policy_of(text, n);
    if (found == ULP_OVERFLOW_COUNT || text[n] != '\0') return ULP_BAD_NAME;
    *policy = (ulp_overflow)found;
    return ULP_OK;
}

/* ---- families ---- */

static ulp_format from_row(const row *r) {
    ulp_format f = {.bits = r->bits, .prec = r->prec, .bias = r->bias, .nan_codes = r->nan_codes};
    f.is_signed = (r->flags & S) != 0;
    f.has_inf = (r->flags & INF) != 0;
    f.has_neg_zero = (r->flags & NEGZERO) != 0;
    f.has_subnormals = (r->flags & SUB) != 0;
    f.has_zero = (r->flags & ZERO) != 0;
    f.zero_binade = (r->flags & BINADE0) != 0;
    if (r->flags & TAPERED) {
        f.taper = (uint8_t)r->bias;
        f.exponent_bits = r->prec;
        f.bias = 0;
        f.prec = 0;
    } else if (r->prec == 0) { /* fixed point: the column of the bias holds F */
        f.is_fixed = 1;
        f.is_signed = (r->flags & UNSIGNED) == 0;
        f.frac_bits = (uint8_t)r->bias;
        f.bias = 0;
    }
    return f;
}

static ulp_status parse_ieee_like(ulp_format *f, const char *at, const char *end) {
    if (!letter(&at, end, 'e')) return ULP_BAD_NAME;
    int x = number(&at, end);
    if (!letter(&at, end, 'm')) return ULP_BAD_NAME;
    int y = number(&at, end);
    if (x < 0 || y < 0 || (at != end && !ulp_is_one_of(at, (size_t)(end - at), "ieee"))) return ULP_BAD_NAME;
    if (x < 1 || x > 11 || y > 52) return ULP_NOT_IN_RANGE;
    row r = {{"", "", ""}, (uint8_t)(1 + x + y), (uint8_t)(y + 1), (int16_t)((1 << (x - 1)) - 1), IEEE, ULP_NAN_IEEE};
    if (y == 0) r.nan_codes = ULP_NAN_NONE; /* without a fraction bit NaN has no code but that of Inf */
    *f = from_row(&r);
    return ULP_OK;
}

static ulp_status parse_fixed(ulp_format *f, const char *at, const char *end) {
    const int is_unsigned = letter(&at, end, 'u');
    if (!letter(&at, end, 'q')) return ULP_BAD_NAME;
    const int below = letter(&at, end, '-');
    int i = number(&at, end);
    if (!letter(&at, end, '.')) return ULP_BAD_NAME;
    int frac = number(&at, end);
    if (i < 0 || frac < 0 || (below && i == 0) || at != end) return ULP_BAD_NAME;
    if (below) i = -i;
    if (i < -32 || i + frac < 1 || i + frac > ULP_FIXED_MOST) return ULP_NOT_IN_RANGE;
    row r = {{"", "", ""}, (uint8_t)(i + frac), 0, (int16_t)frac, (uint8_t)(is_unsigned ? UNSIGNED : 0), ULP_NAN_NONE};
    *f = from_row(&r);
    return ULP_OK;
}

static ulp_status parse_p3109(ulp_format *f, const char *at, const char *end) {
    if (!word(&at, end, "binary")) return ULP_BAD_NAME;
    int k = number(&at, end);
    if (!letter(&at, end, 'p')) return ULP_BAD_NAME;
    int p = number(&at, end);
    int is_signed = letter(&at, end, 's');
    if (!is_signed && !letter(&at, end, 'u')) return ULP_BAD_NAME;
    int extended = letter(&at, end, 'e');
    if (!extended && !letter(&at, end, 'f')) return ULP_BAD_NAME;
    if (k < 0 || p < 0 || at != end) return ULP_BAD_NAME;
    if (k < 3 || k > 16 || p < 1 || k - p - is_signed < 0 || k - p - is_signed > 10) return ULP_NOT_IN_RANGE;
    row r = {{"", "", ""},
             (uint8_t)k,
             (uint8_t)p,
             (int16_t)(1 << (k - p - is_signed)),
             (uint8_t)(SUB | ZERO | (is_signed ? S : 0) | (extended ? INF : 0)),
             (uint8_t)(is_signed ? ULP_NAN_NEG_ZERO : ULP_NAN_ALL_ONES)};
    *f = from_row(&r);
    return ULP_OK;
}

static ulp_status parse_posit(ulp_format *f, const char *at, const char *end) {
    if (!word(&at, end, "posit")) return ULP_BAD_NAME;
    int n = number(&at, end), es = 2;
    if (at != end && (!word(&at, end, "es") || (es = number(&at, end)) < 0)) return ULP_BAD_NAME;
    if (n < 0 || at != end) return ULP_BAD_NAME;
    if (n < 3 || n > 32 || es > 4) return ULP_NOT_IN_RANGE;
    row r = {{"", "", ""}, (uint8_t)n, (uint8_t)es, ULP_TAPER_POSIT, TAPERED, ULP_NAN_NEG_ZERO};
    *f = from_row(&r);
    return ULP_OK;
}

static ulp_status parse_takum(ulp_format *f, const char *at, const char *end) {
    if (!word(&at, end, "takum")) return ULP_BAD_NAME;
    int n = number(&at, end);
    if (n < 0 || at != end) return ULP_BAD_NAME;
    if (n < 6 || n > 32) return ULP_NOT_IN_RANGE;
    row r = {{"", "", ""}, (uint8_t)n, 0, ULP_TAPER_TAKUM, TAPERED, ULP_NAN_NEG_ZERO};
    *f = from_row(&r);
    return ULP_OK;
}

/* The families of names, and the sentence that states the numbers in a name. */
static const struct family {
    ulp_status (*parse)(ulp_format *f, const char *at, const char *end);
    const char *limits;
} families[] = {
    {parse_ieee_like, "eXmY takes X from 1 to 11 and Y from 0 to 52"},
    {parse_fixed,
     "qI.F, where I counts the sign, and uqI.F without a sign take I from -32 and I + F from 1 to 53: values "
     "are kept as binary64 numbers, which have 53 bits"},
    {parse_p3109, "binaryKpP takes K from 3 to 16, P from 1, and an exponent field of at most 11 bits"},
    {parse_posit, "positN takes N from 3 to 32, and positNesE also E from 0 to 4"},
    {parse_takum, "takumN takes N from 6 to 32"},
};

enum { FAMILIES = sizeof families / sizeof families[0] };

/* The suffix :bias=N. */
static ulp_status parse_bias(ulp_format *f, const char *text, size_t n) {
    const char *at = text, *end = text + n;
    if (!word(&at, end, "bias=")) return ULP_BAD_NAME;
    const int bias = number(&at, end);
    if (at != end || bias < 0) return ULP_BAD_NAME;
    for (const char *name = f->name; *name != '\0'; name++) /* only one bias */
        if (name[0] == ':' && name[1] == 'b') return ULP_BAD_NAME;
    if (f->is_fixed || f->taper != ULP_TAPER_NONE) return ULP_UNSUPPORTED;
    if (bias > 63) return ULP_NOT_IN_RANGE;
    f->bias = (int16_t)bias;
    return ulp_name_add(f->name, ":", 1) && ulp_name_add(f->name, text, n) ? ULP_OK : ULP_BAD_NAME;
}

static ulp_status parse_with_suffixes(ulp_format *f, const char *text);

static ulp_status parse_base(ulp_format *f, const char *text, size_t n) {
    for (size_t i = 0; i < ulp_format_count + UNLISTED; i++) {
        const row *const r = i < ulp_format_count ? &rows[i] : &unlisted[i - ulp_format_count];
        const char *const name = r->text.name;
        if (!ulp_is_one_of(text, n, name) && !ulp_is_one_of(text, n, r->text.aliases)) continue;
        *f = from_row(r);
        return ulp_name_add(f->name, name, ulp_word_length(name)) ? ULP_OK : ULP_BAD_NAME;
    }
    const ulp_other_name *other;
    for (size_t i = 0; (other = ulp_other_name_get(i)) != NULL; i++)
        if (other->format != NULL && ulp_is_one_of(text, n, other->name)) return parse_with_suffixes(f, other->format);
    ulp_status status = ULP_BAD_NAME;
    for (size_t i = 0; i < FAMILIES && status == ULP_BAD_NAME; i++) status = families[i].parse(f, text, text + n);
    if (status == ULP_OK && !ulp_name_add(f->name, text, n)) status = ULP_BAD_NAME;
    return status;
}

/* The limits of the suffixes :bias=N and :nosub, where one of them puts the format `text` out of range; else "". n: the
 * length of the name without suffixes. */
static const char *limits_of_suffixes(const char *text, size_t n) {
    static const char bias[] = ":bias=N takes N from 0 to 63, and a format with an exponent field of at most 10 bits";
    ulp_format f;
    const int known = parse_base(&f, text, n) == ULP_OK;
    const int width = known ? f.bits - f.is_signed - f.prec + 1 : 0;
    int has_nosub = 0;
    if (!known) f.name[0] = '\0', f.is_fixed = f.taper = 0;
    for (const char *at = text + n, *end = at; *at != '\0'; at = end) {
        do end++;
        while (*end != '\0' && *end != ':');
        const ulp_status status = parse_bias(&f, at + 1, (size_t)(end - at - 1));
        if (status == ULP_NOT_IN_RANGE || (status == ULP_OK && width > 10)) return bias;
        has_nosub |= ulp_is_one_of(at + 1, (size_t)(end - at - 1), "nosub");
    }
    return has_nosub && known ? ":nosub takes a format with normal numbers, which eXmY has from X = 2" : "";
}

const char *ulp_format_limits(const char *text) {
    ulp_format f;
    size_t n = 0;
    while (text[n] != '\0' && text[n] != ':') n++;
    const char *limits = limits_of_suffixes(text, n);
    for (size_t i = 0; i < FAMILIES && *limits == '\0'; i++)
        if (families[i].parse(&f, text, text + n) != ULP_BAD_NAME) limits = families[i].limits;
    return limits;
}

static ulp_status parse_suffix(ulp_format *f, const char *text, size_t n) {
    const ulp_status status = parse_bias(f, text, n);
    if (status != ULP_BAD_NAME) return status;
    if (ulp_is_one_of(text, n, "nosub")) {
        if (f->is_fixed || !f->has_subnormals || f->flushes != 0) return ULP_UNSUPPORTED;
        f->has_subnormals = 0;
        return ulp_name_add(f->name, ":nosub", 6) ? ULP_OK : ULP_BAD_NAME;
    }
    const uint8_t flush = ulp_is_one_of(text, n, "daz")   ? ULP_FLUSH_INPUTS
                          : ulp_is_one_of(text, n, "ftz") ? ULP_FLUSH_RESULTS
                                                          : 0;
    if (flush != 0) {
        if (f->is_fixed || f->taper != ULP_TAPER_NONE || !f->has_subnormals) return ULP_UNSUPPORTED;
        if (f->flushes & flush) return ULP_BAD_NAME;
        f->flushes |= flush;
        return ulp_name_add(f->name, ":", 1) && ulp_name_add(f->name, text, n) ? ULP_OK : ULP_BAD_NAME;
    }
    const int policy = policy_of(text, n);
    if (policy == ULP_OVERFLOW_COUNT || policy == ULP_OVERFLOW_DEFAULT || f->overflow != ULP_OVERFLOW_DEFAULT)
        return ULP_BAD_NAME;
    f->overflow = (uint8_t)policy;
    return ulp_name_add(f->name, ":", 1) && ulp_name_add(f->name, text, n) ? ULP_OK : ULP_BAD_NAME;
}

/* Reads a whole name into the parameters that decide a format. */
static ulp_status parse_with_suffixes(ulp_format *f, const char *text) {
    size_t n = ulp_word_length(text);
    ULP_TRY(parse_base(f, text, n));
    while (text[n] == ':') {
        text += n + 1;
        n = ulp_word_length(text);
        ULP_TRY(parse_suffix(f, text, n));
    }
    return text[n] == '\0' ? ULP_OK : ULP_BAD_NAME;
}

ulp_status ulp_format_parse(ulp_format *format, const char *text) {
    if (format == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    ulp_format f;
    ULP_TRY(parse_with_suffixes(&f, text));
    ULP_TRY(ulp_format_init(&f));
    *format = f;
    return ULP_OK;
}

ulp_status ulp_format_get(size_t i, ulp_format *format, const ulp_format_row **text) {
    if (i >= ulp_format_count) return ULP_BAD_ARGUMENT;
    if (text != NULL) *text = &rows[i].text;
    return format == NULL ? ULP_OK : ulp_format_parse(format, rows[i].text.name);
}
