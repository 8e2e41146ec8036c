/* number.c - one number in a format: its code in fields, its neighbours, the results of every mode and policy. */
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const classes[] = {"zero", "subnormal", "normal", "infinite", "NaN"};

static void add_bits(uint64_t code, const ulp_format *f) {
    char bits[72];
    for (int i = 0; i < f->bits; i++) bits[i] = code >> (f->bits - 1 - i) & 1 ? '1' : '0';
    bits[f->bits] = '\0';
    web_text_field("bits", bits);
    ulp_code_letters(bits, code, f);
    web_text_field("letters", bits);
}

/* The value as sign, binary significand and power of two. */
static void add_product(uint64_t code, const ulp_format *f) {
    const uint64_t sign = f->is_signed && !f->is_fixed ? 1ull << (f->bits - 1) : 0, magnitude = code & ~sign;
    const int subnormal = ulp_classify(code, f) == ULP_SUBNORMAL;
    char digits[72] = "";
    size_t n = 0;
    if (f->is_fixed) {
        web_integer_field("integer", (int64_t)ulp_scale(ulp_decode(code, f), f->frac_bits));
        web_integer_field("exponent", -f->frac_bits);
        return;
    }
    if (f->taper != ULP_TAPER_NONE) {
        const double value = ulp_decode(code, f), size = value < 0 ? -value : value;
        const int e = ulp_exact_of(size).exp + 127;
        uint64_t fraction = ulp_bits64(ulp_scale(size, -e)) << 12;
        digits[n++] = '1';
        for (digits[n++] = '.'; fraction != 0; fraction <<= 1) digits[n++] = fraction >> 63 ? '1' : '0';
        digits[digits[n - 1] == '.' ? n - 1 : n] = '\0';
        web_text_field("sign", value < 0 ? "-" : "+");
        web_text_field("significand", digits);
        web_integer_field("exponent", e);
        return;
    }
    const int field = (int)(magnitude >> (f->prec - 1));
    digits[n++] = subnormal ? '0' : '1';
    if (f->prec > 1) digits[n++] = '.';
    for (int i = f->prec - 2; i >= 0; i--) digits[n++] = magnitude >> i & 1 ? '1' : '0';
    digits[n] = '\0';
    web_text_field("sign", code & sign ? "-" : "+");
    web_text_field("significand", digits);
    web_integer_field("field", field);
    web_integer_field("exponent", subnormal ? f->emin : field - f->bias);
}

static void add_neighbour(const char *key, double value, double y, const ulp_format *f) {
    web_key(key);
    if (value == y || value != value) {
        web_add("null");
        return;
    }
    web_add("{");
    web_exact_field("value", value);
    web_code_field("code", value, f);
    web_add("}");
}

/* The spacing at x; beyond the range, the spacing at the end of the range. */
static double spacing_within(double x, const ulp_format *f) {
    if (x > f->max) x = f->max;
    if (x < f->lowest) x = f->lowest;
    return ulp_spacing(x, f);
}

/* log2 of a power of two; null for another number: spacings of tapered formats. */
static void add_power(const char *key, double x) {
    const ulp_exact power = ulp_exact_of(x);
    if (power.hi << 1 == 0) {
        web_integer_field(key, power.exp + 127);
    } else {
        web_key(key);
        web_add("null");
    }
}

/* Describes a code of a format as the fields of an object. */
static void add_code(uint64_t code, const ulp_format *f) {
    const double y = ulp_decode(code, f), unit = spacing_within(y, f);
    char text[40];
    web_bits_field("code", 1, code, f);
    add_bits(code, f);
    web_exact_field("value", y);
    web_float_field("hex", y);
    snprintf(text, sizeof text, y != y ? "nan" : "%.17g", y);
    web_text_field("short", text);
    web_text_field("class", classes[ulp_classify(code, f)]);
    if (ulp_classify(code, f) == ULP_NORMAL || ulp_classify(code, f) == ULP_SUBNORMAL) add_product(code, f);
    if (y == y) {
        add_neighbour("below", ulp_next_down(y, f), y, f);
        add_neighbour("above", ulp_next_up(y, f), y, f);
    }
    if (unit == unit) {
        web_exact_field("ulp", unit);
        add_power("ulpExponent", unit);
    }
}

/* A code in hex, with or without 0x, of at most `bits` bits. */
static int read_code(uint64_t *code, const char *text, int bits) {
    char *end;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) text += 2;
    const size_t digits = strspn(text, "0123456789abcdefABCDEF");
    if (digits == 0 || digits > 16 || text[digits] != '\0') return 0;
    *code = strtoull(text, &end, 16);
    return bits >= 64 || *code >> bits == 0;
}

WEB_EXPORT(web_code) const char *web_code(const char *format, const char *text) {
    ulp_format f;
    uint64_t code;
    if (!web_format_read(&f, format)) return web_answer();
    if (!read_code(&code, text, f.bits))
        return web_refuse("\"%.40s\" is not a code of %s. A code of %s is %d bits, written as at most %d hex digits.",
                          text, f.name, f.name, f.bits, (f.bits + 3) / 4);
    web_begin();
    add_code(code, &f);
    return web_end();
}

static void add_mode(ulp_exact exact, const ulp_format *f, ulp_rule rule) {
    const double x = ulp_round_exact(exact, &ulp_binary64, (ulp_rule){0}, 0);
    const web_coin coin = web_coin_of(exact, f, rule);
    const double unit = spacing_within(x, f);
    web_object();
    web_text_field("mode", ulp_mode_name((ulp_mode)rule.mode));
    web_exact_field("value", coin.low);
    web_code_field("code", coin.low, f);
    web_number_field("error", (coin.low - x) / unit);
    if (coin.ups > 0) {
        web_exact_field("other", coin.high);
        web_code_field("otherCode", coin.high, f);
        web_integer_field("ups", (int64_t)coin.ups);
        web_integer_field("words", (int64_t)coin.words);
    }
    web_add("}");
}

static void add_policies(ulp_exact x, const ulp_format *f, ulp_rule rule) {
    web_list("policies");
    for (int p = ULP_OVERFLOW_INF; p < ULP_OVERFLOW_COUNT; p++) {
        rule.overflow = (uint8_t)p;
        if (ulp_rule_check(f, rule) != ULP_OK) continue;
        web_object();
        web_text_field("policy", ulp_overflow_name((ulp_overflow)p));
        web_exact_field("value", ulp_round_exact(x, f, rule, 0));
        web_code_field("code", ulp_round_exact(x, f, rule, 0), f);
        web_integer_field("own", p == (int)f->overflow);
        web_add("}");
    }
    web_add("]");
}

/* Reads a typed number; a failure answers with a sentence and returns 0. */
static int read_typed(ulp_exact *x, const char *text) {
    if (web_exact_read(x, text)) return 1;
    if (*text == '\0') web_refuse("The field is empty. Type a number, for example 0.1.");
    else if (strchr(text, ',') != NULL)
        web_refuse("\"%.40s\" is not a number: write a point, not a comma, as in 0.1.", text);
    else web_refuse("\"%.40s\" is not a number. Allowed are 0.1, -2.5e-3, 0x1.8p-4, 2^-14, 3*2^-7, inf and nan.", text);
    return 0;
}

WEB_EXPORT(web_number)
const char *web_number(const char *format, const char *text, const char *mode, const char *overflow, uint32_t bits) {
    ulp_format f;
    ulp_rule rule;
    ulp_exact exact;
    uint64_t code;
    if (!web_format_read(&f, format) || !web_mode_read(&rule, mode, overflow, bits, &f) || !read_typed(&exact, text))
        return web_answer();
    const double x = ulp_round_exact(exact, &ulp_binary64, (ulp_rule){0}, 0);
    web_begin();
    web_exact_field("x", x);
    web_float_field("xHex", x);
    web_integer_field("isBinary64", ulp_exact_is(exact, x));
    web_key("result");
    const double y = ulp_round_exact(exact, &f, rule, 0);
    if (ulp_encode(&code, y, &f) == ULP_OK) {
        web_add("{");
        add_code(code, &f);
        web_add("}");
    } else {
        web_add("null");
    }
    web_list("modes");
    for (int m = 0; m < ULP_MODE_COUNT; m++)
        add_mode(exact, &f, (ulp_rule){(uint8_t)m, rule.overflow, rule.random_bits});
    web_add("]");
    add_policies(exact, &f, rule);
    web_integer_field("beyond", x > f.max || x < f.lowest);
    return web_end();
}

/* A typed number of [low, high]: {"x": its digits}, or a sentence that names what is allowed. */
WEB_EXPORT(web_finite) const char *web_finite(const char *text, double low, double high) {
    const int all = high > 1e300;
    char allowed[120] = "finite numbers";
    double x;
    if (!all) snprintf(allowed, sizeof allowed, "numbers from %.17g to %.17g", low, high);
    if (!web_number_read(&x, text)) {
        if (*text == '\0') return web_refuse("The field is empty. Allowed are %s.", allowed);
        if (strchr(text, ',') != NULL)
            return web_refuse("\"%.40s\" is not a number: write a point, not a comma, as in 0.1.", text);
        return web_refuse("\"%.40s\" is not a number. Allowed are %s, such as 0.1, 2.5e-3, 0x1.8p-4, 2^-14, 3*2^-7.",
                          text, allowed);
    }
    if (!(x >= low && x <= high)) return web_refuse("%.40s is not possible. Allowed are %s.", text, allowed);
    web_begin();
    web_exact_field("x", x);
    return web_end();
}

/* The number in several formats, whose names have commas or blanks between them. */
WEB_EXPORT(web_sides) const char *web_sides(const char *formats, const char *text, const char *mode) {
    ulp_rule rule;
    ulp_exact exact;
    if (!web_mode_read(&rule, mode, "default", 32, NULL) || !read_typed(&exact, text)) return web_answer();
    const double x = ulp_round_exact(exact, &ulp_binary64, (ulp_rule){0}, 0);
    ulp_format f[32];
    size_t count = 0;
    for (const char *at = formats; *(at += strspn(at, " ,;\n")) != '\0';) {
        char name[64] = "";
        const size_t n = strcspn(at, " ,;\n");
        memcpy(name, at, n < sizeof name ? n : sizeof name - 1);
        at += n;
        if (count == 32) return web_refuse("At most 32 formats fit side by side; \"%s\" is one too many.", name);
        if (!web_format_read(&f[count++], name)) return web_answer();
    }
    if (count == 0) return web_refuse("The list of formats is empty. Type names, for example binary16, bf16, e4m3.");
    web_begin();
    web_list("rows");
    for (size_t i = 0; i < count; i++) {
        uint64_t code;
        const double y = ulp_round_exact(exact, &f[i], rule, 0);
        web_object();
        web_text_field("format", f[i].name);
        web_exact_field("value", y);
        web_code_field("code", y, &f[i]);
        if (ulp_encode(&code, y, &f[i]) == ULP_OK) add_bits(code, &f[i]);
        web_number_field("relative", x == 0 ? 0 : (y - x) / x);
        add_power("ulpExponent", spacing_within(y == y ? y : 0, &f[i]));
        web_add("}");
    }
    web_add("]");
    return web_end();
}
