/* number.c - numbers as students write them: decimals, fractions, powers of two, hex numbers, sums of these. */
#include "answer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t"); }

/* Read the exponent behind 2^: digits with a sign, also in parentheses. Returns NULL if there is none. */
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

/* Read a decimal, a hex number, or a power of two. Returns the text behind it, or NULL. */
static const char *read_factor(double *value, const char *at) {
    char *end;
    int e;
    if (!isdigit((unsigned char)*at) && *at != '.') return NULL;
    const int hex = at[0] == '0' && tolower((unsigned char)at[1]) == 'x';
    *value = strtod(at, &end);
    if (hex && !memchr(at, 'p', (size_t)(end - at)) && !memchr(at, 'P', (size_t)(end - at))) return NULL;
    if (end == at) return NULL;
    const char *next = skip_blanks(end);
    const size_t power = next[0] == '^' ? 1 : next[0] == '*' && next[1] == '*' ? 2 : 0;
    if (!power) return end;
    if (*value != 2) return NULL;
    next = read_exponent(&e, skip_blanks(next + power));
    if (next) *value = ulp_scale(1, e);
    return next;
}

/* Read FACTOR, FACTOR * FACTOR or FACTOR / FACTOR. Returns the text behind it and behind blanks, or NULL. */
static const char *read_product(double *value, const char *at) {
    double second;
    at = read_factor(value, skip_blanks(at));
    if (!at) return NULL;
    at = skip_blanks(at);
    if (*at != '*' && *at != 'x' && *at != '/') return at;
    const char sign = *at;
    at = read_factor(&second, skip_blanks(at + 1));
    if (!at || (sign == '/' && second == 0)) return NULL;
    *value = sign == '/' ? *value / second : *value * second;
    return skip_blanks(at);
}

/* Read products with + and - between them, up to the end of the text; `negative` is the sign of the first product. */
static int read_sum(double *value, const char *at, int negative) {
    double next;
    at = read_product(value, at);
    if (negative) *value = -*value;
    while (at && *at) {
        const char sign = *at;
        if (sign != '+' && sign != '-') return 0;
        at = read_product(&next, at + 1);
        if (at) *value = sign == '+' ? *value + next : *value - next;
    }
    return at != NULL;
}

/* The sentence for a text that is no number. */
static void explain(ulp_text *why, const char *text) {
    const char *unit = strpbrk(text, "0123456789");
    const char *comma = strchr(text, ','), *blank = unit ? strpbrk(unit, " \t") : NULL;
    if (comma && unit && !strchr(comma + 1, ','))
        ulp_text_print(why, "'%s' has a comma: write a point, as in %.*s.%s", text, (int)(comma - text), text,
                       comma + 1);
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
    else ulp_text_print(why, "'%s' is no number. " COURSE_NUMBER_FORMS, text);
}

int course_read_number(double *value, const char *text, ulp_text *why) {
    static const char minus[] = "\xe2\x88\x92"; /* the minus sign of typesetters, U+2212 */
    const char *at = text;
    int negative = 0;
    if (strncmp(at, minus, 3) == 0) negative = 1, at += 3;
    else if (*at == '-' || *at == '+') negative = *at++ == '-';
    at = skip_blanks(at);
    if (strcasecmp(at, "inf") == 0 || strcasecmp(at, "infinity") == 0) {
        *value = ulp_from_bits64((uint64_t)negative << 63 | 0x7ff0000000000000u);
    } else if (strcasecmp(at, "nan") == 0) {
        *value = ulp_quiet_nan();
    } else if (!read_sum(value, at, negative)) {
        explain(why, text);
        return 0;
    } else if (*value - *value != 0) {
        ulp_text_print(why, "'%s' is larger than every number that is read here, which are less than 2^1024", text);
        return 0;
    }
    return 1;
}
