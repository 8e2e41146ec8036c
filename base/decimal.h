/* decimal.h - decimal texts of numbers, read and printed with a few multiplications; texts in base 16.
 *
 * No library in C does this: the ones that exist are written in C++, and strtod and printf of the C library take
 * several times as long. A number is multiplied by a power of ten that is cut to 128 bits. The result is known up to a
 * bound on the error, and it is used only if every number within the bound rounds to the same result; otherwise exact
 * integers (formats/number.h) and snprintf decide.
 */
#ifndef ULP_DECIMAL_H
#define ULP_DECIMAL_H

#include <stdint.h>

#include "formats/number.h"

enum {
    ULP_DECIMAL_AFTER = 8, /* characters that have to be readable from the end of a number on */
    ULP_DECIMAL_ROOM = 40, /* characters that ulp_decimal_print() may write */
    ULP_HEX_ROOM = 32,     /* characters that ulp_hex_text() may write */
    ULP_SHORT_ROOM = 64    /* characters that ulp_short_text() may write */
};

/* 10^q = (high 2^64 + low + d) 2^exponent with 0 <= d < 1, and d = 0 where 0 <= q <= 55; high has its top bit set. */
typedef struct ulp_power_of_ten {
    uint64_t high, low;
    int32_t exponent;
} ulp_power_of_ten;

enum { ULP_POWERS_FIRST = -342, ULP_POWERS_LAST = 340, ULP_POWERS_EXACT = 55 };

/* The table of powers; the entry of 10^q is at q - ULP_POWERS_FIRST. The first call computes it with exact integers; it
 * may not run on two threads at once. */
const ulp_power_of_ten *ulp_powers_of_ten(void);

/* Read the decimal number at the beginning of the text: sign, digits with an optional point, optional exponent. *x is
 * the exact value, or a value that rounds like it to every format, in every mode. Returns the character after the
 * number; NULL where ulp_exact_read has to decide: for a text of another form, for more than 19 digits, for numbers too
 * near to one of few bits, and for numbers beyond the table of powers. */
const char *ulp_decimal_read(ulp_exact *x, const char *text, const ulp_power_of_ten *powers);

/* The exact value of a whole text, of any form and length that ulp_number_read takes; `modulo` is of that function.
 * Returns ULP_NO_MEMORY if a long text finds no memory. */
ulp_status ulp_exact_read(ulp_exact *x, const char *text, int32_t modulo);

/* Write a number as printf does with %.17g, or as nan, inf, -inf, -0, without a NUL. Returns the number of characters,
 * which is at most 24; what stands after them up to ULP_DECIMAL_ROOM may be overwritten. */
int ulp_decimal_print(char *to, double value, const ulp_power_of_ten *powers);

/* Write a value of the format with the fewest digits that, rounded to nearest even, are the value again; of two such
 * texts the nearer one. nan, inf, -inf and -0 are words. With a NUL. */
void ulp_short_text(char to[ULP_SHORT_ROOM], double value, const ulp_format *format);

/* Write a number as a hex float, or as inf or nan, with a NUL, and return `to`. C leaves the first digit of %a to each
 * library; here it is 1 for normal numbers, as 0x1.8p+3, and 0 for zeros and subnormal numbers, as 0x0.8p-1022, so that
 * the text is that of glibc for binary64 numbers. */
const char *ulp_hex_text(char to[ULP_HEX_ROOM], double value);
/* The text of ulp_hex_text() as an argument of a call. */
#define ULP_HEX(value) ulp_hex_text((char[ULP_HEX_ROOM]){0}, value)

#endif
