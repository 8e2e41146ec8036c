/* number.h - the exact value of a text: decimals and hex floats of any length, inf and nan.
 *
 * A text is an exact number. It is cut once, to the 128 bits and the sticky bit of ulp_exact, so that ulp_round_exact
 * rounds it once, in every mode and to every format. Integers of 32-bit limbs compute the value; the caller gives the
 * memory.
 */
#ifndef ULP_NUMBER_H
#define ULP_NUMBER_H

#include "round.h"

ULP_C_BEGIN

enum {
    ULP_NUMBER_LONGEST = 100000, /* characters of a text */
    ULP_NUMBER_ALL = INT32_MAX   /* no bit of the value is left out */
};

/* The 32-bit limbs that ulp_number_read needs for a text of `length` characters. */
size_t ulp_number_room(size_t length);

/* The exact value of the text of `length` characters: [+-] and digits with an optional point, and after them e and an
 * exponent; or [+-] 0x and hex digits with an optional point, and after them p and an exponent of two; or [+-] inf,
 * infinity or nan, in letters of either case. Numbers below 10^-400 and from 10^400 on round like such a number.
 *
 * modulo: the bits of |value| with weights from 2^modulo on are left out, for formats that wrap around; such formats
 * look only at the bits below. ULP_NUMBER_ALL keeps all.
 *
 * Returns ULP_BAD_ARGUMENT for other texts, and for texts of more than ULP_NUMBER_LONGEST characters. */
ulp_status ulp_number_read(ulp_exact *x, const char *text, size_t length, int32_t modulo, uint32_t *room);

/* A step of a long division: the next limb of the quotient of u (n + 1 limbs, the lowest first) by v (n), whose top bit
 * is set; the upper n limbs of u are below v. u becomes the remainder, whose limb n is zero. */
uint32_t ulp_limb_divide(uint32_t *u, const uint32_t *v, size_t n);

/* x rounded to odd at 53 bits, or at 2^-1074, and at most the largest binary64 value: a binary64 value that rounds like
 * x to a format of at most 51 bits of precision, with a stochastic mode of r bits at most 51 - r (Boldo and Melquiond
 * 2008, doi:10.1109/TC.2007.70819), if the quantum of the format is at least 2^-969. */
ULP_FN double ulp_exact_to_odd(ulp_exact x) {
    const uint64_t sign = (uint64_t)x.neg << 63;
    if (x.kind == ULP_EXACT_NAN) return ulp_quiet_nan();
    if (x.kind == ULP_EXACT_INF) return ulp_from_bits64(sign | 0x7ff0000000000000u);
    if (x.kind != ULP_EXACT_FINITE) return ulp_from_bits64(sign);
    const int32_t e = x.exp + 127; /* 2^e <= |x| < 2^(e+1) */
    if (e > 1023) return ulp_from_bits64(sign | 0x7fefffffffffffffu);
    uint64_t hi = x.hi, lo = x.lo;
    uint32_t sticky = x.sticky;
    ulp_shift_right(&hi, &lo, e < -1022 ? (e < -1200 ? 128 : 11 - 1022 - e) : 11, &sticky);
    const uint64_t odd = hi | (uint64_t)(sticky | (uint32_t)(lo != 0));
    return ulp_from_bits64(sign | (e < -1022 ? odd : ((uint64_t)(e + 1022) << 52) + odd));
}

/* x rounded to odd at 106 bits, for ulp_exact_add. Comparisons of the result with numbers of at most 104 bits are those
 * of x. */
ULP_FN ulp_exact ulp_exact_cut(ulp_exact x) {
    const uint64_t tail = (1u << 22) - 1;
    if (x.kind == ULP_EXACT_FINITE && (x.sticky || (x.lo & tail) != 0)) x.lo = (x.lo & ~tail) | (tail + 1);
    x.sticky = 0;
    return x;
}

/* x / y for a rounding that wraps around: the quotient without its bits from 2^(least + 128) on, and with those down to
 * 2^least. y as in ulp_exact_div. */
ULP_FN ulp_exact ulp_exact_div_wrapped(ulp_exact x, ulp_exact y, int32_t least) {
    const ulp_exact whole = ulp_exact_div(x, y);
    if (whole.kind != ULP_EXACT_FINITE || whole.exp <= least) return whole;
    uint64_t rem = x.hi >> 1, next = x.hi << 63 | x.lo >> 1, last = x.lo << 63, qhi = 0, qlo = 0;
    const int32_t exp = x.exp - y.exp - 126, more = exp - least; /* bits after those of ulp_exact_div */
    for (int32_t i = 0; i < 127 + more; i++) {
        const uint64_t bit = rem >= y.hi >> 1;
        rem = (rem - (bit ? y.hi >> 1 : 0)) << 1 | next >> 63;
        next = next << 1 | last >> 63;
        last <<= 1;
        qhi = qhi << 1 | qlo >> 63;
        qlo = qlo << 1 | bit;
    }
    if ((qhi | qlo) == 0 && rem != 0) return ulp_exact_pack(x.neg ^ y.neg, 1, 0, 1, least - 192);
    return ulp_exact_pack(x.neg ^ y.neg, qhi, qlo, (uint32_t)(rem != 0) | x.sticky, least);
}

/* Whether x is the number y. NaN is. */
ULP_FN int ulp_exact_is(ulp_exact x, double y) {
    const ulp_exact z = ulp_exact_of(y);
    return x.kind == z.kind && x.neg == z.neg && x.hi == z.hi && x.lo == z.lo && x.exp == z.exp && !x.sticky;
}

/* Whether a rounding by the rule takes ulp_exact_to_odd(x) for x. */
int ulp_odd_suffices(const ulp_format *format, ulp_rule rule);

/* The argument `modulo` of ulp_number_read for a rounding by the rule. */
int32_t ulp_number_modulo(const ulp_format *format, ulp_rule rule);

ULP_C_END
#endif
