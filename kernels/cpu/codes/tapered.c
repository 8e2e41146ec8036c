/* tapered.c - codes of values of posits and takums, and values of codes of posits, in vectors.
 *
 * As in kernels/rounding/tapered.h, the last exponent bits and the fraction of a word, cut at bit s, are the end of the
 * code; the regime, which depends on the exponent alone, is its beginning. A negative code is a complement.
 */
#include "codes.h"

int ULP_CPU(ulp_tapered_codes_serve)(const ulp_format *f) {
    if (f->bits < 6 || f->bits > 16) return 0;
    if (f->taper == ULP_TAPER_TAKUM) return 1;
    return f->taper == ULP_TAPER_POSIT && f->fits_binary32 && f->prec <= 23 && f->emin >= -126;
}

/* The constants of a format. */
typedef struct taper {
    uint32_t bits, es, cut; /* cut: s of the shortest regime */
    uint32_t most, mask, nan;
    uint64_t one; /* 1: gcc makes no vectors of shifts of a constant by counts of 64 bits */
} taper;

static taper taper_of(const ulp_format *f) {
    const uint32_t before = f->taper == ULP_TAPER_POSIT ? 3u + f->exponent_bits : 5u; /* bits that are no fraction */
    return (taper){f->bits,
                   f->exponent_bits,
                   (f->taper == ULP_TAPER_POSIT ? 23u : 52u) + before - f->bits,
                   (1u << (f->bits - 1)) - 1u,
                   0xffffffffu >> (32 - f->bits),
                   (uint32_t)f->nan_code,
                   f->is_signed};
}

/* The exponent is k 2^es + (es bits). The regime is k + 1 ones and a zero for k >= 0, else -k zeros and a one. The
 * largest value has no zero at its end. */
ULP_INLINE uint32_t posit_code_of(float x, const taper *t) {
    const uint32_t u = ulp_bits32(x), size = u & 0x7fffffffu, w = size + (1u << 23), end = 23u + t->es;
    const int32_t k = (int32_t)(w >> end) - (int32_t)(128u >> t->es);
    const uint32_t below = 0u - ((uint32_t)k >> 31), run = ((uint32_t)k ^ below) & 15u; /* 15: of a zero or NaN */
    const uint32_t s = t->cut + run < end ? t->cut + run : end, rest = (w & ((1u << end) - 1u)) >> s;
    const uint32_t regime = below ? 1u : (2u << run) - 1u, shift = end - s + (below ? 0u : 1u);
    const uint32_t all = regime << shift | rest, code = all < t->most ? all : t->most, neg = 0u - (u >> 31);
    const uint32_t number = ((code ^ neg) - neg) & t->mask;
    return (int32_t)size >= 0x7f800000 ? t->nan : size == 0 ? 0u : number;
}

/* The characteristic has r = floor(log2) of e + 1 bits for e >= 0, of -e bits for e < 0; before it stand the direction
 * bit and the 3 bits of r, or of 7 - r. */
ULP_INLINE uint64_t takum_code_of(double x, const taper *t) {
    const uint64_t u = ulp_bits64(x), size = u & 0x7fffffffffffffffu, field = size >> 52;
    const uint64_t up = 0u - (uint64_t)(field >= 1023u), e1 = (((field - 1022u) & up) | ((1023u - field) & ~up)) & 255u;
    const uint64_t r = (ulp_bits64(ulp_from_bits64(e1 | 0x4330000000000000u) - 0x1p52) >> 52) - 1023u, few = r & 7u;
    const uint64_t w = size + ((t->one << 53) & up), rest = (w & ((t->one << (52u + few)) - 1u)) >> (t->cut + few);
    const uint64_t first = (8u & up) | (up ? few : 7u - few), neg = 0u - (u >> 63);
    const uint64_t code = first << (t->bits - 5u) | rest, number = ((code ^ neg) - neg) & t->mask;
    return size >= 0x7ff0000000000000u ? t->nan : size == 0 ? 0u : number;
}

#define RUN(name, type, number, code)                                                                                  \
    static void name(type *restrict to, const number *restrict x, size_t n, const taper *of) {                         \
        const taper t = *of;                                                                                           \
        for (size_t i = 0; i < n; i++) to[i] = (type)code(x[i], &t);                                                   \
    }
RUN(posit_bytes, uint8_t, float, posit_code_of)
RUN(posit_shorts, uint16_t, float, posit_code_of)
RUN(takum_bytes, uint8_t, double, takum_code_of)
RUN(takum_shorts, uint16_t, double, takum_code_of)
#undef RUN

void ULP_CPU(ulp_posit_codes)(void *codes, const float *x, size_t n, unsigned width, const ulp_format *f) {
    const taper t = taper_of(f);
    if (width == 16) posit_shorts(codes, x, n, &t);
    else posit_bytes(codes, x, n, &t);
}

void ULP_CPU(ulp_takum_codes)(void *codes, const double *x, size_t n, unsigned width, const ulp_format *f) {
    const taper t = taper_of(f);
    if (width == 16) takum_shorts(codes, x, n, &t);
    else takum_bytes(codes, x, n, &t);
}

/* ---- values of posits ---- */

/* `lead` is the place of the bit that ends the regime; -1: the largest value, which has none. The bits below it are
 * exponent bits and fraction. */
ULP_INLINE float posit_value_of(uint32_t code, const taper *t) {
    const uint32_t bits = code & t->mask, neg = 0u - (bits >> (t->bits - 1)), size = ((bits ^ neg) - neg) & t->most;
    const uint32_t ones = 0u - (size >> (t->bits - 2)), other = (size ^ ones) & t->most;
    const int32_t field = (int32_t)(ulp_bits32((float)(int32_t)other) >> 23) - 127, lead = field > -1 ? field : -1;
    const int32_t run = (int32_t)t->bits - 2 - lead, k = ones ? run - 1 : -run;
    const uint32_t below = (uint32_t)(lead > 0 ? lead : 0), rest = size & ((1u << below) - 1u);
    const uint32_t word = (rest << (23u + t->es - below)) + ((uint32_t)(k * (1 << t->es) + 127) << 23);
    const uint32_t number = word | (neg & 0x80000000u);
    return ulp_from_bits32(bits == 0 ? 0u : bits == t->nan ? 0x7fc00000u : number);
}

#define RUN(name, type)                                                                                                \
    static void name(float *restrict y, const type *restrict codes, size_t n, const taper *of) {                       \
        const taper t = *of;                                                                                           \
        for (size_t i = 0; i < n; i++) y[i] = posit_value_of(codes[i], &t);                                            \
    }
RUN(values_of_bytes, uint8_t)
RUN(values_of_shorts, uint16_t)
#undef RUN

void ULP_CPU(ulp_posit_values)(float *y, const void *codes, size_t n, unsigned width, const ulp_format *f) {
    const taper t = taper_of(f);
    if (width == 16) values_of_shorts(y, codes, n, &t);
    else values_of_bytes(y, codes, n, &t);
}
