/* number.c - numbers as students write them: decimals, fractions, powers of two, hex numbers, sums of these. */
#include "answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A number, and whether it is exactly what the text says. */
typedef struct number {
    double value;
    int exact;
} number;

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t"); }

/* Whether the decimal from `at` to `end`, of which x is the nearest double, is exactly x: whether both have the same
 * digits, zeros at the beginning and at the end left out. */
static int is_exact(const char *at, const char *end, double x) {
    char digits[1200];
    const char *own = digits;
    snprintf(digits, sizeof digits, "%.1100e", x);
    own += strspn(own, "-0.");
    at += strspn(at, "0.");
    for (; at < end && tolower((unsigned char)*at) != 'e'; at++) {
        if (*at == '.') continue;
        own += *own == '.';
        if (*at != (isdigit((unsigned char)*own) ? *own : '0')) return 0;
        own += isdigit((unsigned char)*own) != 0;
    }
    own += strspn(own, "0.");
    return !isdigit((unsigned char)*own);
}

/* Read the exponent after 2^: digits with a sign, also in parentheses. Returns NULL if there is none. */
static const char *read_exponent(int *e, const char *at) {
    const int open = *at == '(';
    char *end;
    at = skip_blanks(at + open);
    if (!isdigit((unsigned char)at[*at == '-' || *at == '+'])) return NULL;
    const long given = strtol(at, &end, 10);
    if (given < -2000 || given > 2000) return NULL;
    *e = (int)given;
    at = end;
    if (open) {
        at = skip_blanks(at);
        if (*at++ != ')') return NULL;
    }
    return at;
}

/* Read a decimal, a hex number, or a power of two. Returns the text after it, or NULL. */
static const char *read_factor(number *to, const char *at) {
    char *end;
    int e;
    if (!isdigit((unsigned char)*at) && *at != '.') return NULL;
    const int hex = at[0] == '0' && tolower((unsigned char)at[1]) == 'x';
    to->value = strtod(at, &end);
    to->exact = hex || is_exact(at, end, to->value);
    if (hex && !memchr(at, 'p', (size_t)(end - at)) && !memchr(at, 'P', (size_t)(end - at))) return NULL;
    if (end == at) return NULL;
    const char *next = skip_blanks(end);
    const size_t power = next[0] == '^' ? 1 : next[0] == '*' && next[1] == '*' ? 2 : 0;
    if (!power) return end;
    if (to->value != 2) return NULL;
    next = read_exponent(&e, skip_blanks(next + power));
    if (next) to->value = ulp_scale(1, e);
    return next;
}

/* Read factors with * and at most one / between them. Returns the text after them and after blanks, or NULL. */
static const char *read_product(number *to, const char *at) {
    number next;
    int divided = 0;
    at = read_factor(to, skip_blanks(at));
    while (at && *(at = skip_blanks(at)) && strchr("*x/", *at)) {
        const int divides = *at == '/';
        if (divides && divided++) return NULL;
        at = read_factor(&next, skip_blanks(at + 1));
        if (!at || (divides && next.value == 0)) return NULL;
        to->value = divides ? to->value / next.value : to->value * next.value;
        to->exact &= next.exact;
    }
    return at;
}

/* Read products with + and - between them, up to the end of the text; `negative` is the sign of the first product. */
static int read_sum(number *to, const char *at, int negative) {
    number next;
    at = read_product(to, at);
    if (negative) to->value = -to->value;
    while (at && *at) {
        const char sign = *at;
        if (sign != '+' && sign != '-') return 0;
        at = read_product(&next, at + 1);
        if (at) {
            to->value = sign == '+' ? to->value + next.value : to->value - next.value;
            to->exact &= next.exact;
        }
    }
    return at != NULL;
}

/* The sentence for a number with a comma. Three digits after the comma can be decimals or thousands. */
static void explain_comma(ulp_text *why, const char *text, const char *comma) {
    const size_t digits = strspn(comma + 1, "0123456789");
    if (strchr(comma + 1, ',')) ulp_text_print(why, "'%s' has commas: leave the commas out", text);
    else if (digits == 3 && !comma[4] && comma > text && text[strspn(text, "-+")] != '0')
        ulp_text_print(why,
                       "'%s' has a comma: if the comma separates thousands, leave the comma out; if decimals stand "
                       "after the comma, write a point",
                       text);
    else
        ulp_text_print(why, "'%s' has a comma: write a point, as in %.*s.%s", text, (int)(comma - text), text,
                       comma + 1);
}

/* Whether a text ends in a whole number that is subtracted from 2, as if the sign ^ were forgotten. */
static int lacks_power(const char *text) {
    const size_t n = strlen(text);
    size_t at = n;
    while (at > 0 && isdigit((unsigned char)text[at - 1])) at--;
    if (at == n || at < 2 || text[at - 1] != '-' || text[at - 2] != '2') return 0;
    return at == 2 || strchr("+-*x ", text[at - 3]) != NULL;
}

/* The sentence for a text that is no number. */
static void explain(ulp_text *why, const char *text) {
    const char *unit = strpbrk(text, "0123456789");
    const char *comma = strchr(text, ','), *blank = unit ? strpbrk(unit, " \t") : NULL;
    if (comma && unit) explain_comma(why, text, comma);
    else if (lacks_power(text))
        ulp_text_print(
            why, "'%s' has no ^: write a power of two as in 2^-4, and a difference of whole numbers as one number",
            text);
    else if (strchr(text, '=')) ulp_text_print(why, "'%s' has the sign =: write one number, without =", text);
    else if (strpbrk(text, "()[]{}"))
        ulp_text_print(why, "'%s': write no brackets, but a sum of products, as in 2^16-2^10", text);
    else if (strchr(text, '%'))
        ulp_text_print(why, "'%s': write the number without a percent sign, 0.25 and not 25%%", text);
    else if (text[strspn(text, "-+")] == '0' && strpbrk(text, "xX") == text + strspn(text, "-+") + 1)
        ulp_text_print(
            why, "'%s' looks like a code, and the question asks for a number; a hex number has a p, as in 0x1.8p-2",
            text);
    else if (blank && isdigit((unsigned char)blank[-1]) && isdigit((unsigned char)blank[1]))
        ulp_text_print(why, "'%s' has a blank between digits: write the digits without blanks", text);
    else if (strchr(text, '^') || strstr(text, "**"))
        ulp_text_print(
            why, "'%s': a power has the base 2 and a whole exponent from -2000 to 2000, as in 2^-4 or 3*2^-4", text);
    else ulp_text_print(why, "'%s' is no number as 0.375, 3e-5, 3/8, 2^-4, 3*2^-3 or 1+2^-10", text);
}

/* Add a text with the signs of typesetters (UTF-8) as signs of ASCII. */
static void add_plain(ulp_text *to, const char *text) {
    static const struct {
        const char *sign, *plain;
    } signs[] = {{"\xe2\x88\x92", "-"} /* minus */,
                 {"\xe2\x80\x93", "-"} /* dash */,
                 {"\xc3\x97", "*"} /* times */,
                 {"\xc2\xb7", "*"} /* middle dot */,
                 {"\xe2\x88\x9e", "inf"}};
    enum { SIGNS = sizeof signs / sizeof signs[0] };
    while (*text) {
        int i = 0;
        while (i < SIGNS && strncmp(text, signs[i].sign, strlen(signs[i].sign)) != 0) i++;
        if (i < SIGNS) ulp_text_print(to, "%s", signs[i].plain);
        else ulp_text_add(to, text, 1);
        text += i < SIGNS ? strlen(signs[i].sign) : 1;
    }
}

/* Read a number in ASCII. */
static int read_plain(number *to, const char *text, ulp_text *why) {
    const char *at = text;
    int negative = 0;
    if (*at == '-' || *at == '+') negative = *at++ == '-';
    at = skip_blanks(at);
    to->exact = 1;
    if (strcasecmp(at, "inf") == 0 || strcasecmp(at, "infinity") == 0) {
        to->value = ulp_from_bits64((uint64_t)negative << 63 | 0x7ff0000000000000u);
    } else if (strcasecmp(at, "nan") == 0) {
        to->value = ulp_quiet_nan();
    } else if (lacks_power(text) || !read_sum(to, at, negative)) {
        explain(why, text);
        return 0;
    } else if (to->value - to->value != 0) {
        ulp_text_print(why, "'%s' is larger than every number that is read here, which are less than 2^1024", text);
        return 0;
    }
    return 1;
}

course_reading course_read_number(double *value, const char *text, ulp_text *why) {
    ulp_text plain = {0};
    number read = {0};
    add_plain(&plain, text);
    const int is_number = read_plain(&read, ulp_text_of(&plain), why);
    ulp_text_free(&plain);
    *value = read.value;
    return !is_number ? COURSE_NO_NUMBER : read.exact ? COURSE_EXACT : COURSE_ROUNDED;
}
