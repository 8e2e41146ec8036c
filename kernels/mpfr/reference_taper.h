/* reference_taper.h - the oracle's code strings of posits, takums and HiF8, bit by bit. Only reference.c includes this
 * file, and nothing here calls formats/. */
#ifndef ULP_REFERENCE_TAPER_H
#define ULP_REFERENCE_TAPER_H

#include <math.h>
#include <stdint.h>

#include "formats/format.h"

/* The bits of a code below the sign, before the fraction. */
typedef struct taper_string {
    uint64_t bits;
    int length;
} taper_string;

static inline void taper_push(taper_string *s, uint64_t bits, int length) {
    for (int i = length - 1; i >= 0; i--) s->bits = s->bits << 1 | (bits >> i & 1);
    s->length += length;
}

/* The string of 2^e .. 2^(e+1); length 0: there is none. The string is no longer than 44 bits: exponents far out of
 * range have the same 33 first bits as the ends of the range. */
static inline taper_string taper_head(const ulp_format *f, long e) {
    taper_string s = {0, 0};
    if (f->taper == ULP_TAPER_POSIT) {
        const long unit = 1L << f->exponent_bits;
        long regime = (long)floor((double)e / (double)unit), last = e - regime * unit;
        if (regime > 38) regime = 38;
        if (regime < -38) regime = -38;
        for (long i = 0; i < (regime >= 0 ? regime + 1 : -regime); i++) taper_push(&s, regime >= 0, 1);
        taper_push(&s, regime < 0, 1);
        taper_push(&s, (uint64_t)last, f->exponent_bits);
        return s;
    }
    if (e > 254 || e < -255) { /* beyond all strings: the position is that of a carry out of the string, or zero */
        s.bits = e > 0;
        return s;
    }
    int r = 0; /* 2^r - 1 <= e < 2^(r+1) - 1, or -2^(r+1) < e <= -2^r */
    while (e >= 0 ? e >= (2L << r) - 1 : e <= -(2L << r)) r++;
    taper_push(&s, e >= 0, 1);
    taper_push(&s, (uint64_t)(e >= 0 ? r : 7 - r), 3);
    taper_push(&s, (uint64_t)(e >= 0 ? e - ((1L << r) - 1) : e + (2L << r) - 1), r);
    return s;
}

static inline int taper_bit(const ulp_format *f, uint64_t code, int i) { /* bit i from the top, below the sign */
    return i < f->bits - 1 ? (int)(code >> (f->bits - 2 - i) & 1) : 0;
}

/* 2^e (1 + the fraction that begins at bit i). */
static inline double taper_fraction(const ulp_format *f, uint64_t code, int i, int e) {
    double value = 1, weight = 0.5;
    for (; i < f->bits - 1; i++, weight /= 2) value += weight * taper_bit(f, code, i);
    return ldexp(value, e);
}

static inline double taper_hif8(uint64_t code) {
    const double m3 = (double)(code & 7) / 8;
    if (code < 8) return code == 0 ? 0 : ldexp(1, (int)code - 23);
    if (code < 0x10) return 1 + m3;
    if (code < 0x20) return ldexp(1 + m3, code & 8 ? -1 : 1);
    if (code < 0x40) return ldexp(1 + m3, (code & 16 ? -1 : 1) * (2 + (int)(code >> 3 & 1)));
    if (code < 0x60) return ldexp(1 + (double)(code & 3) / 4, (code & 16 ? -1 : 1) * (4 + (int)(code >> 2 & 3)));
    return ldexp(1 + (double)(code & 1) / 2, (code & 16 ? -1 : 1) * (8 + (int)(code >> 1 & 7)));
}

/* The value of a magnitude code that is finite. */
static inline double taper_magnitude(const ulp_format *f, uint64_t code) {
    int i = 1, e = 0;
    if (code == 0) return 0;
    if (f->taper == ULP_TAPER_HIF8) return taper_hif8(code);
    if (f->taper == ULP_TAPER_POSIT) {
        const int first = taper_bit(f, code, 0);
        while (i < f->bits - 1 && taper_bit(f, code, i) == first) i++;
        const int regime = first ? i - 1 : -i;
        i++;
        for (int k = 0; k < f->exponent_bits; k++) e = 2 * e + taper_bit(f, code, i++);
        return taper_fraction(f, code, i, e + regime * (1 << f->exponent_bits));
    }
    int r = 4 * taper_bit(f, code, 1) + 2 * taper_bit(f, code, 2) + taper_bit(f, code, 3);
    const int up = taper_bit(f, code, 0);
    if (!up) r = 7 - r;
    for (i = 4; i < 4 + r; i++) e = 2 * e + taper_bit(f, code, i);
    return taper_fraction(f, code, i, up ? e + (1 << r) - 1 : e + 1 - (2 << r));
}

/* The magnitudes of HiF8 in ascending order, and what would be the values of the ranks of Inf and of the next rank. */
enum { LADDER = 129 };

static inline void taper_ladder(double ladder[LADDER]) {
    for (int i = 0; i < LADDER - 1; i++) {
        const double value = taper_hif8((uint64_t)i);
        int at = i;
        for (; at > 0 && ladder[at - 1] > value; at--) ladder[at] = ladder[at - 1];
        ladder[at] = value;
    }
    ladder[LADDER - 1] = 0x1p16;
}

#endif
