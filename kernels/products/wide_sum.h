/* wide_sum.h - a sum of binary64 products without rounding: one fixed-point number that covers their range.
 *
 * The long accumulator of Kulisch (2013, Computer Arithmetic and Validity, section 8): two's complement, bit 0 has
 * weight 2^-2148, and the width suffices for 2^63 products of binary64 numbers. For host and device.
 */
#ifndef ULP_WIDE_SUM_H
#define ULP_WIDE_SUM_H

#include "formats/exact.h"

enum { ULP_WIDE_WORDS = 68, ULP_WIDE_UNIT = -2148 };

typedef struct ulp_wide {
    uint64_t word[ULP_WIDE_WORDS]; /* least significant first */
    double special;                /* sum of the terms that are not finite, else 0 */
    uint32_t terms; /* kinds of terms so far: 1 for +0, 2 for -0, 4 for others, ORed; decides the sign of a zero */
} ulp_wide;

ULP_FN void ulp_wide_clear(ulp_wide *w) {
    for (int32_t i = 0; i < ULP_WIDE_WORDS; i++) w->word[i] = 0;
    w->special = 0.0;
    w->terms = 0;
}

ULP_FN uint64_t ulp_field64(double x) { return ulp_bits64(x) >> 52 & 0x7ff; }

ULP_FN uint64_t ulp_significand64(double x) {
    return (ulp_bits64(x) & 0xfffffffffffffu) | (uint64_t)(ulp_field64(x) != 0) << 52;
}

/* Adds a b. */
ULP_FN void ulp_wide_add(ulp_wide *w, double a, double b) {
    const uint64_t neg = (ulp_bits64(a) ^ ulp_bits64(b)) >> 63, ea = ulp_field64(a), eb = ulp_field64(b);
    if (ea == 0x7ff || eb == 0x7ff) {
        w->special += a * b;
        return;
    }
    uint64_t hi, lo;
    ulp_wide_mul(ulp_significand64(a), ulp_significand64(b), &hi, &lo);
    w->terms |= (hi | lo) != 0 ? 4u : (neg ? 2u : 1u);
    if ((hi | lo) == 0) return;
    const uint32_t bit = (uint32_t)((ea == 0 ? 0 : ea - 1) + (eb == 0 ? 0 : eb - 1)), at = bit / 64, up = bit % 64;
    const uint64_t part[3] = {lo << up, up == 0 ? hi : hi << up | lo >> (64 - up), up == 0 ? 0 : hi >> (64 - up)};
    uint64_t carry = neg; /* -x = ~x + 1, in the higher words as well */
    for (uint32_t j = 0; at + j < ULP_WIDE_WORDS; j++) {
        if (j >= 3 && carry == neg) return; /* the higher words do not change: they add zeros, or ones and a carry */
        uint64_t sum = w->word[at + j] + ((j < 3 ? part[j] : 0) ^ (0u - neg)), more = sum < w->word[at + j];
        w->word[at + j] = sum + carry;
        carry = more | (uint64_t)(w->word[at + j] < sum);
    }
}

/* The sum as an exact value to round. */
ULP_CALLED ulp_exact ulp_wide_exact(const ulp_wide *w) {
    if (w->special != w->special) return ulp_exact_special(ULP_EXACT_NAN, 0);
    if (w->special != 0.0) return ulp_exact_special(ULP_EXACT_INF, w->special < 0.0);
    const uint32_t neg = (uint32_t)(w->word[ULP_WIDE_WORDS - 1] >> 63);
    uint64_t magnitude[ULP_WIDE_WORDS + 2] = {0, 0}, carry = neg;
    const uint64_t *m = magnitude + 2; /* two words of zeros lie below */
    int32_t top = -1;
    for (int32_t i = 0; i < ULP_WIDE_WORDS; i++) {
        magnitude[i + 2] = (w->word[i] ^ (0u - (uint64_t)neg)) + carry;
        carry &= (uint64_t)(m[i] == 0);
        if (m[i] != 0) top = i;
    }
    if (top < 0) return ulp_exact_special(w->terms <= 2u ? ULP_EXACT_ZERO : ULP_EXACT_CANCELLED, w->terms == 2u);
    const int32_t n = ulp_leading_zeros(m[top]);
    ulp_exact x = {m[top], m[top - 1], 64 * (top - 1) + ULP_WIDE_UNIT - n, (uint8_t)neg, 0, ULP_EXACT_FINITE};
    uint64_t rest = m[top - 2] << n;
    if (n > 0) {
        x.hi = x.hi << n | m[top - 1] >> (64 - n);
        x.lo = x.lo << n | m[top - 2] >> (64 - n);
    }
    for (int32_t i = 0; i < top - 2; i++) rest |= m[i];
    x.sticky = (uint8_t)(rest != 0);
    return x;
}

#endif
