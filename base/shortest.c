/* shortest.c - the shortest decimal of a number in a format; see decimal.h. */
#include "decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/round.h"

enum { MOST = 40, EXACT_ROOM = 1200 }; /* digits that are tried; characters of an exact decimal */

/* A decimal d1.d2d3... 10^exponent. */
typedef struct decimal {
    char digits[MOST + 2];
    int count, exponent;
} decimal;

/* The number of digits of 1.5 as one more unit in the last digit. */
static void add_unit(decimal *d) {
    int i = d->count;
    while (i > 0 && d->digits[i - 1] == '9') d->digits[--i] = '0';
    if (i > 0) {
        d->digits[i - 1]++;
        return;
    }
    memmove(d->digits + 1, d->digits, (size_t)d->count); /* 9.99 becomes 10.0, which is 1.00 and one exponent more */
    d->digits[0] = '1';
    d->exponent++;
}

static void write_decimal(char to[ULP_SHORT_ROOM], const decimal *d, int negative) {
    int n = d->count;
    while (n > 1 && d->digits[n - 1] == '0') n--;
    const int x = d->exponent;
    const char *const sign = negative ? "-" : "";
    if (x < -5 || x > 16)
        snprintf(to, ULP_SHORT_ROOM, "%s%c%s%.*se%d", sign, d->digits[0], n > 1 ? "." : "", n - 1, d->digits + 1, x);
    else if (x < 0) snprintf(to, ULP_SHORT_ROOM, "%s0.%.*s%.*s", sign, -x - 1, "00000", n, d->digits);
    else if (n <= x + 1) snprintf(to, ULP_SHORT_ROOM, "%s%.*s%.*s", sign, n, d->digits, x + 1 - n, "0000000000000000");
    else snprintf(to, ULP_SHORT_ROOM, "%s%.*s.%.*s", sign, x + 1, d->digits, n - x - 1, d->digits + x + 1);
}

/* Whether the text, rounded to nearest even, is the value again. A text beyond the range is not. */
static int reads_back(const char *text, double value, const ulp_format *format) {
    const ulp_rule rule = {.overflow = ULP_OVERFLOW_NAN};
    ulp_exact x;
    return ulp_exact_read(&x, text, ULP_NUMBER_ALL) == ULP_OK &&
           ulp_bits64(ulp_round_exact(x, format, rule, 0)) == ulp_bits64(value);
}

void ulp_short_text(char to[ULP_SHORT_ROOM], double value, const ulp_format *format) {
    char exact[EXACT_ROOM];
    const int negative = (int)(ulp_bits64(value) >> 63);
    if (value != value || value - value != 0 || value == 0) {
        snprintf(to, ULP_SHORT_ROOM, "%s%s", value == value && negative ? "-" : "",
                 value != value ? "nan"
                 : value == 0   ? "0"
                                : "inf");
        return;
    }
    snprintf(exact, sizeof exact, "%.1100e", value < 0 ? -value : value);
    memmove(exact + 1, exact + 2, strlen(exact + 2) + 1); /* without the point */
    const int exponent = atoi(strchr(exact, 'e') + 1);
    for (int n = 1; n <= MOST; n++) {
        char upper[ULP_SHORT_ROOM];
        decimal d = {.count = n, .exponent = exponent};
        memcpy(d.digits, exact, (size_t)n);
        write_decimal(to, &d, negative);
        const int down = reads_back(to, value, format);
        add_unit(&d);
        write_decimal(upper, &d, negative);
        const int up = reads_back(upper, value, format);
        if (up && (!down || exact[n] >= '5')) memcpy(to, upper, sizeof upper);
        if (up || down) return;
    }
    snprintf(to, ULP_SHORT_ROOM, "%.17g", value);
}
