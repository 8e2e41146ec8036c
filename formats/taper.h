/* taper.h - tapered formats: the ranks and the codes of posits, takums and HiF8.
 *
 * The precision of a tapered format depends on the exponent. The positive values in ascending order have the ranks 1,
 * 2, 3, ...; 0 has the rank 0. For x = (1 + fraction) 2^e the rank is (first + fraction) 2^width, a real number where x
 * is not a value of the format: first and width depend on e alone. The rounding of x is the rounding of its rank to an
 * integer. The kinds:
 *
 *   - POSIT: a regime, exponent_bits exponent bits and a fraction (Posit Standard 2022, section 3.3; older posits have
 *     other exponent_bits). The rank is the code. width < 0: the code lacks the last -width exponent bits.
 *   - TAKUM: a direction bit, three regime bits, 0 to 7 characteristic bits and a fraction (Hunhold 2024,
 *     arXiv:2404.18603, definition of the linear takum: (1 + fraction) 2^c). The rank is the code.
 *   - HIF8: a dot field of 2 to 4 bits, an exponent with a sign and a hidden leading 1, and a fraction of 1 to 3 bits;
 *     below 2^-15 powers of two alone (Luo et al. 2024, arXiv:2409.16626). The codes do not have the order of the
 *     values.
 *
 * In posits and takums the code of -x is the two's complement of the code of x.
 */
#ifndef ULP_TAPER_H
#define ULP_TAPER_H

#include "exact.h"

/* The binade 2^e <= x < 2^(e+1). */
typedef struct ulp_taper_binade {
    int64_t first;
    int32_t width;
} ulp_taper_binade;

/* Whether no value except zero rounds to zero, and no finite value to NaN or infinity: small values round to the least
 * value, large values to the largest (Posit Standard 2022, section 4.1; Hunhold 2024, section 4). */
ULP_FN int ulp_taper_saturates(const ulp_format *f) {
    return f->taper == ULP_TAPER_POSIT || f->taper == ULP_TAPER_TAKUM;
}

/* floor(log2 n), for n >= 1. */
ULP_FN int32_t ulp_taper_log2(uint64_t n) { return 63 - ulp_leading_zeros(n); }

/* e = k 2^es + (last exponent bits). The regime of k >= 0 is k + 1 ones and a zero; of k < 0, -k zeros and a one. */
ULP_FN ulp_taper_binade ulp_posit_binade(const ulp_format *f, int32_t e) {
    const int32_t es = f->exponent_bits, k = (e + (4096 << es)) / (1 << es) - 4096; /* floor(e / 2^es) */
    const int32_t length = k >= 0 ? k + 2 : 1 - k;
    const int64_t regime = k >= 0 ? ((int64_t)2 << (k + 1)) - 2 : 1;
    ulp_taper_binade b = {regime * (1 << es) + (e - k * (1 << es)), f->bits - 1 - length - es};
    return b;
}

ULP_FN ulp_taper_binade ulp_takum_binade(const ulp_format *f, int32_t c) {
    const int32_t r = c >= 0 ? ulp_taper_log2((uint64_t)(c + 1)) : ulp_taper_log2((uint64_t)-c);
    const int64_t head = c >= 0 ? 8 + r : 7 - r, bits = c >= 0 ? c + 1 - (1 << r) : c - 1 + (2 << r);
    ulp_taper_binade b = {head * (1 << r) + bits, f->bits - 5 - r};
    return b;
}

/* The steps of HiF8: in a step all binades have the same width, and first = e + lift. */
ULP_FN int32_t ulp_hif8_width(int32_t e) {
    const int32_t size = e < 0 ? -e : e;
    return e < -15 ? 0 : size < 4 ? 3 : size < 8 ? 2 : 1;
}

ULP_FN int32_t ulp_hif8_lift(int32_t e) {
    return e < -15 ? 23 : e < -7 ? 19 : e < -3 ? 13 : e < 4 ? 8 : e < 8 ? 20 : 48;
}

/* The exponent of the value of a rank: the ranks of the steps begin at 1, 8, 24, 40, 96 and 112. */
ULP_FN int32_t ulp_hif8_exponent(int32_t rank) {
    if (rank < 8) return rank - 23;
    if (rank < 24) return (rank >> 1) - 19;
    if (rank < 40) return (rank >> 2) - 13;
    if (rank < 96) return (rank >> 3) - 8;
    return rank < 112 ? (rank >> 2) - 20 : (rank >> 1) - 48;
}

/* The binade of e, for f->emin <= e <= f->emax. */
ULP_FN ulp_taper_binade ulp_taper_at(const ulp_format *f, int32_t e) {
    if (f->taper == ULP_TAPER_POSIT) return ulp_posit_binade(f, e);
    if (f->taper == ULP_TAPER_TAKUM) return ulp_takum_binade(f, e);
    ulp_taper_binade b = {e + ulp_hif8_lift(e), ulp_hif8_width(e)};
    return b;
}

/* The rank of the largest finite value. */
ULP_FN uint64_t ulp_taper_last(const ulp_format *f) {
    return ((uint64_t)1 << (f->bits - 1)) - 1 - (f->taper == ULP_TAPER_HIF8);
}

/* The rank of |x| as an exact number, which need not be normalised; 2^e <= |x| < 2^(e+1). The top 40 bits of the result
 * hold `first`, which is below 2^40. */
ULP_FN ulp_exact ulp_taper_rank(ulp_exact x, const ulp_format *f, int32_t e) {
    const ulp_taper_binade b = ulp_taper_at(f, e);
    uint64_t hi = x.hi << 1 | x.lo >> 63, lo = x.lo << 1; /* the fraction without the leading 1 */
    uint32_t sticky = x.sticky;
    ulp_shift_right(&hi, &lo, 40, &sticky);
    x.hi = (uint64_t)b.first << 24 | hi;
    x.lo = lo;
    x.sticky = (uint8_t)sticky;
    x.exp = b.width - 88;
    return x;
}

/* (1 + fraction 2^-64) 2^e, for a fraction of at most 52 bits. */
ULP_FN double ulp_taper_number(int32_t e, uint64_t fraction) {
    return ulp_scale((double)((uint64_t)1 << 52 | fraction >> 12), e - 52);
}

/* The value of a posit's code: `string` holds the bits below the sign, from bit 63 on. */
ULP_FN double ulp_posit_value(uint64_t string, int32_t es) {
    const int32_t ones = (int32_t)(string >> 63), run = ulp_leading_zeros(ones ? ~string : string);
    const int32_t k = ones ? run - 1 : -run;
    const uint64_t rest = string << run << 1;
    const int32_t last = (int32_t)(rest >> 32 >> (32 - es)); /* the exponent bits */
    return ulp_taper_number(k * (1 << es) + last, rest << es);
}

ULP_FN double ulp_takum_value(uint64_t string) {
    const int32_t direction = (int32_t)(string >> 63), regime = (int32_t)(string >> 60 & 7u);
    const int32_t r = direction ? regime : 7 - regime;
    const uint64_t rest = string << 4;
    const int32_t bits = (int32_t)(rest >> 32 >> (32 - r)); /* the characteristic bits */
    return ulp_taper_number(bits + (direction ? (1 << r) - 1 : 1 - (2 << r)), rest << r);
}

/* The value of a rank from 1 to the last. */
ULP_FN double ulp_taper_value(const ulp_format *f, uint64_t rank) {
    if (f->taper == ULP_TAPER_POSIT) return ulp_posit_value(rank << (65 - f->bits), f->exponent_bits);
    if (f->taper == ULP_TAPER_TAKUM) return ulp_takum_value(rank << (65 - f->bits));
    const int32_t e = ulp_hif8_exponent((int32_t)rank), width = ulp_hif8_width(e);
    return ulp_taper_number(e, rank << 32 << (32 - width));
}

/* The magnitude code of a rank of HiF8, Inf (127) included. */
ULP_FN uint64_t ulp_hif8_code(uint64_t rank) {
    const int32_t e = ulp_hif8_exponent((int32_t)rank), width = ulp_hif8_width(e), size = e < 0 ? -e : e;
    const uint32_t fraction = (uint32_t)rank & ((1u << width) - 1u), below = (uint32_t)(e < 0);
    if (rank < 8) return rank;                                           /* dot 0000 */
    if (size < 2) return (size == 0 ? 8u : 16u | below << 3) | fraction; /* dot 0001, 001 */
    const int32_t bits = ulp_taper_log2((uint64_t)size);                 /* below the hidden 1 */
    const uint32_t low = ((uint32_t)size - (1u << bits)) << width;
    return (uint32_t)(bits == 1 ? 0x20 : bits == 2 ? 0x40 : 0x60) | below << 4 | low | fraction; /* dot 01, 10, 11 */
}

/* The rank of a magnitude code of HiF8. */
ULP_FN uint64_t ulp_hif8_rank(uint64_t code) {
    const uint32_t c = (uint32_t)code;
    if (c < 8) return c;
    const int32_t bits = c < 0x10   ? -1
                         : c < 0x20 ? 0
                                    : (int32_t)(c >> 5); /* of the exponent, without sign and hidden 1 */
    const int32_t width = bits < 2 ? 3 : 4 - bits;
    const int32_t low = bits < 1 ? 0 : (int32_t)(c >> width) & ((1 << bits) - 1);
    const int32_t size = bits < 0 ? 0 : (1 << bits) + low, below = (int32_t)(c >> (bits < 1 ? 3 : 4) & 1u);
    const int32_t e = bits >= 0 && below ? -size : size;
    return ((uint64_t)(e + ulp_hif8_lift(e)) << width) + (c & ((1u << width) - 1u));
}

#endif
