/* page.c - the text of an answer, and numbers in texts; see page.h. */
#include "page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MAX = 1 << 19, LIMBS = 1600 }; /* limbs for a number of some 5000 characters */

static char input[WEB_INPUT_MAX], answer[ANSWER_MAX];
static double values[WEB_VALUES_MAX];
static size_t used;

WEB_EXPORT(web_input) char *web_input(void) { return input; }
WEB_EXPORT(web_values) double *web_values(void) { return values; }

/* ---- the text of an answer ---- */

static void add_list(const char *format, va_list arguments) {
    const int n = vsnprintf(answer + used, ANSWER_MAX - used, format, arguments);
    if (n > 0) used += (size_t)n < ANSWER_MAX - used ? (size_t)n : ANSWER_MAX - 1 - used;
}

void web_add(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_list(format, arguments);
    va_end(arguments);
}

void web_begin(void) {
    used = 0;
    web_add("{");
}

const char *web_end(void) {
    web_add("}");
    return answer;
}

void web_string(const char *text) {
    web_add("\"");
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') web_add("\\%c", c);
        else if (c < 0x20) web_add("\\u%04x", c);
        else web_add("%c", c);
    }
    web_add("\"");
}

void web_item(void) {
    if (answer[used - 1] != '{' && answer[used - 1] != '[') web_add(",");
}

void web_object(void) {
    web_item();
    web_add("{");
}

void web_key(const char *key) {
    web_item();
    web_add("\"%s\":", key);
}

void web_list(const char *key) {
    web_key(key);
    web_add("[");
}

void web_text_field(const char *key, const char *text) {
    web_key(key);
    web_string(text);
}

void web_exact_text(char to[WEB_EXACT_MAX], double value) {
    if (value != value) strcpy(to, "nan"); /* printf may print a sign, which has no meaning */
    else snprintf(to, WEB_EXACT_MAX, "%.1100g", value);
}

void web_exact_field(const char *key, double value) {
    char text[WEB_EXACT_MAX];
    web_exact_text(text, value);
    web_text_field(key, text);
}

void web_float_field(const char *key, double value) {
    char text[40];
    snprintf(text, sizeof text, value != value ? "nan" : "%a", value);
    web_text_field(key, text);
}

void web_integer_field(const char *key, int64_t value) {
    web_key(key);
    web_add("%lld", (long long)value);
}

void web_number_field(const char *key, double value) {
    web_key(key);
    if (value - value == 0) web_add("%.17g", value);
    else web_add("null");
}

void web_bits_field(const char *key, int known, uint64_t code, const ulp_format *f) {
    web_key(key);
    if (known) web_add("\"%0*llx\"", (f->bits + 3) / 4, (unsigned long long)code);
    else web_add("null");
}

void web_code_field(const char *key, double value, const ulp_format *f) {
    uint64_t code = 0;
    const int known = ulp_encode(&code, value, f) == ULP_OK;
    web_bits_field(key, known, code, f);
}

const char *web_answer(void) { return answer; }

const char *web_refuse(const char *format, ...) {
    char sentence[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    web_begin();
    web_text_field("error", sentence);
    return web_end();
}

/* ---- reading ---- */

/* Reads a decimal, a hex float, inf or nan. */
static int read_plain(ulp_exact *x, const char *text, size_t length) {
    static uint32_t room[LIMBS];
    if (ulp_number_room(length) > LIMBS) return 0;
    return ulp_number_read(x, text, length, ULP_NUMBER_ALL, room) == ULP_OK;
}

/* The exponent of a power of two. */
static int read_power(int32_t *exponent, const char *text) {
    char *end;
    const long value = strtol(text, &end, 10);
    *exponent = (int32_t)value;
    return end != text && *end == '\0' && strchr(" \t\n\r", *text) == NULL && value >= -2200 && value <= 2200;
}

int web_exact_read(ulp_exact *x, const char *text) {
    const char *const hat = strchr(text, '^');
    if (hat == NULL) return read_plain(x, text, strlen(text));
    const size_t sign = *text == '-' || *text == '+', length = (size_t)(hat - text);
    int32_t power;
    if (length < 1 || hat[-1] != '2' || !read_power(&power, hat + 1)) return 0;
    if (length == sign + 1) { /* -2^-3 is -(2^-3) */
        *x = ulp_exact_of(*text == '-' ? -1.0 : 1.0);
    } else {
        if (hat[-2] != '*' && hat[-2] != 'x') return 0;
        if (length == sign + 3 && text[sign] == '0' && hat[-2] == 'x') return 0; /* 0x2 */
        if (!read_plain(x, text, length - 2)) return 0;
    }
    if (x->kind == ULP_EXACT_FINITE) x->exp += power;
    return 1;
}

int web_number_read(double *value, const char *text) {
    ulp_exact x;
    if (!web_exact_read(&x, text)) return 0;
    *value = ulp_round_exact(x, &ulp_binary64, (ulp_rule){0}, 0);
    return 1;
}

int web_is_too_large(const char *text, double value) {
    return value == value && value - value != 0 && strpbrk(text, "iI") == NULL;
}

int web_comma_unclear(const char *text, double line) {
    static const char digits[] = "0123456789";
    const size_t sign = *text == '-' || *text == '+', before = strspn(text + sign, digits);
    const char *comma = text + sign + before;
    if (before == 0 || *comma != ',') return 0;
    size_t n = sign + before + 1 + strspn(comma + 1, digits);
    if (n == sign + before + 1) return 0;
    if (text[n] == 'e' || text[n] == 'E') n += strcspn(text + n, " \t\r\n;,]");
    if (text[n] != '\0' && strchr(" \t\r\n;]", text[n]) == NULL) return 0;
    web_refuse("\"%.*s\" in line %.0f is not clear: write a point, as in 0.1, or a blank between two numbers.",
               n < 40 ? (int)n : 40, text, line);
    return 1;
}

int web_format_read(ulp_format *format, const char *name) {
    ulp_status status = ulp_format_parse(format, name);
    if (status == ULP_OK && format->flushes != 0) status = ULP_UNSUPPORTED; /* the page shows no flushed operands */
    if (status == ULP_OK) return 1;
    const char *limits = ulp_format_limits(name);
    if (strlen(name) > 60)
        web_refuse("The name of a format has at most 31 characters; this name has %zu.", strlen(name));
    else if (status == ULP_UNSUPPORTED) web_refuse("The format \"%s\" does not offer this suffix.", name);
    else if (*limits != '\0') web_refuse("\"%s\" is not a format: %s.", name, limits);
    else
        web_refuse("\"%s\" is not a format. Allowed are names such as binary16, bf16, e4m3, any eXmY such as e5m7, and "
                   "any qI.F such as q4.12.",
                   name);
    return 0;
}

static void refuse_name(const char *what, const char *name, const char *allowed) {
    web_refuse("\"%.40s\" is not %s. Allowed: %s.", name, what, allowed);
}

int web_mode_read(ulp_rule *rule, const char *mode, const char *overflow, uint32_t bits, const ulp_format *format) {
    ulp_mode m;
    ulp_overflow policy;
    char names[200] = "";
    for (int i = 0; i < ULP_MODE_COUNT; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? ", " : "",
                 ulp_mode_name((ulp_mode)i));
    if (ulp_mode_parse(&m, mode) != ULP_OK) return refuse_name("a rounding mode", mode, names), 0;
    if (ulp_overflow_parse(&policy, overflow) != ULP_OK)
        return refuse_name("an overflow policy", overflow, "default, inf, sat, nan, wrap, sym, zero"), 0;
    if (bits < 1 || bits > 32)
        return web_refuse("%u random bits are not possible. Allowed are 1 to 32.", (unsigned)bits), 0;
    *rule = (ulp_rule){(uint8_t)m, (uint8_t)policy, (uint8_t)bits};
    if (format == NULL || ulp_rule_check(format, *rule) == ULP_OK) return 1;
    return web_refuse("The policy \"wrap\" is for fixed point only; %s is floating point.", format->name), 0;
}

int web_seed_read(double seed) {
    if (seed >= 0 && seed <= 0x1p53 && seed == (double)(uint64_t)seed) return 1;
    web_refuse("The seed %.17g is not possible. Allowed are whole numbers from 0 to 2^53.", seed);
    return 0;
}

/* ---- coins ---- */

web_coin web_coin_of(ulp_exact x, const ulp_format *f, ulp_rule rule) {
    const uint32_t r = rule.random_bits ? rule.random_bits : 32u, shift = 32 - r;
    web_coin c = {ulp_round_exact(x, f, rule, 0), ulp_round_exact(x, f, rule, 0xffffffffu), 0, 1ull << r};
    if (c.low == c.high || (c.low != c.low && c.high != c.high)) return c;
    uint64_t below = 0, up = c.words - 1; /* word `below` rounds down, word `up` rounds up */
    while (up - below > 1) {
        const uint64_t middle = (below + up) / 2;
        const double y = ulp_round_exact(x, f, rule, (uint32_t)(middle << shift));
        if (y == c.low) below = middle;
        else up = middle;
    }
    c.ups = c.words - up;
    return c;
}
