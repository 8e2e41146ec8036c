/* conversion.h - conversions of hardware as rules of ours: which format and mode, and which bits of a random word each
 * value gets.
 *
 * A conversion rounds one to four values with one word. Blackwell's cvt.rs has a word of 32 bits (PTX ISA 9.0, cvt,
 * semantics of rbits); the text does not say whether the two values of a pair share 16 bits or get 8 bits each, so both
 * readings are rows. VCVTNEPS2BF16 takes subnormal numbers for zero (Intel SDM 325462, volume 2). VCVTBIASPH2BF8 and
 * VCVTBIASPH2HF8 have 8 bits of the user (Intel AVX10.2, 361050).
 */
#ifndef ULP_CONVERSION_H
#define ULP_CONVERSION_H

#include "round.h"

ULP_C_BEGIN

enum { ULP_CONVERSION_VALUES = 4 };

/* A row. The random bits of value v are bits first[v] .. first[v] + bits - 1 of the word; with two_parts, the upper
 * half of the bits begins at bit upper[v], and the lower half at bit first[v]. bits = 0: no random bits. */
typedef struct ulp_conversion {
    const char *name, *from, *to;
    uint8_t mode, overflow; /* ulp_mode, ulp_overflow */
    uint8_t values, bits;
    uint8_t tiny_bits; /* random bits of a result below the smallest normal number, where more bits are dropped */
    uint8_t word_bits; /* bits of the word */
    uint8_t two_parts; /* 1: the bits are two halves of bits / 2 */
    uint8_t flushes;   /* 1: a subnormal input is a zero of its sign; both formats have the same exponents */
    uint8_t first[ULP_CONVERSION_VALUES], upper[ULP_CONVERSION_VALUES];
} ulp_conversion;

/* Conversion i. NULL past the end. */
const ulp_conversion *ulp_conversion_get(size_t i);

/* The conversion called exactly `name`, or NULL. */
const ulp_conversion *ulp_conversion_find(const char *name);

/* The rule with which value v < values is rounded. `tiny`: the result is below the smallest normal number. */
ulp_rule ulp_conversion_rule(const ulp_conversion *conversion, int tiny);

/* The word that ulp_round() takes for value v: its random bits at the top. */
uint32_t ulp_conversion_word(const ulp_conversion *conversion, uint32_t v, uint32_t word, int tiny);

/* Value v, x, as the conversion rounds it with a word. `to` is its format conversion->to. */
double ulp_convert(const ulp_conversion *conversion, uint32_t v, double x, uint32_t word, const ulp_format *to);

ULP_C_END
#endif
