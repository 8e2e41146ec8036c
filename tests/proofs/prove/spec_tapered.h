/* spec_tapered.h - the part of spec.h for posits, takums and HiF8. */
#ifndef SPEC_TAPERED_H
#define SPEC_TAPERED_H

/* The string of bits after the sign of the positive number 2^e (1 + fraction 2^-52): `length` bits, the last 52 of
 * which are the fraction. A code holds the first bits - 1 of them. */
typedef struct spec_string {
    spec_wide bits;
    int length;
} spec_string;

/* Posit Standard 2022, section 3: a regime for k = floor(e / 2^es), es exponent bits, the fraction. */
static inline spec_string spec_posit_string(int es, int e, uint64_t fraction) {
    const int k = e >> es, run = k >= 0 ? k + 1 : -k;       /* >> of a negative int is a floor in gcc and clang */
    const uint64_t regime = k >= 0 ? (2ull << run) - 2 : 1; /* k + 1 ones and a zero; or -k zeros and a one */
    const spec_string s = {((spec_wide)regime << es | (spec_wide)(uint64_t)(e - (k << es))) << 52 | fraction,
                           run + 1 + es + 52};
    return s;
}

/* Hunhold 2024: a direction, three bits for r, r characteristic bits, the fraction. */
static inline spec_string spec_takum_string(int e, uint64_t fraction) {
    const int up = e >= 0, n = up ? e + 1 : -e;
    int r = 0;
    for (int i = 1; i < 8; i++)
        if (n >> i != 0) r = i;
    const uint64_t head = (uint64_t)(up ? 8 + r : 7 - r), rest = (uint64_t)(up ? n - (1 << r) : (2 << r) - 1 - n);
    const spec_string s = {((spec_wide)head << r | rest) << 52 | fraction, 4 + r + 52};
    return s;
}

/* The bits of the number of a code of n bits below the sign, code > 0. */
static inline uint64_t spec_posit_number(int n, int es, uint64_t code) {
    const uint64_t first = code >> (n - 1) & 1;
    int run = 0, same = 1;
    for (int i = n - 1; i >= 0; i--) {
        same &= (code >> i & 1) == first;
        run += same;
    }
    const int k = first ? run - 1 : -run, left = n - run - 1 > 0 ? n - run - 1 : 0; /* bits after the regime */
    const uint64_t rest = (code & ((1ull << left) - 1)) << 32 >> left;              /* as a fraction of 2^32 */
    const int e = (k << es) + (int)(rest >> (32 - es));
    return ((uint64_t)(e + 1023) << 52) + (rest << (es + 20) & (spec_hidden - 1));
}

static inline uint64_t spec_takum_number(int n, uint64_t code) {
    const uint64_t string = code << (32 - n); /* 32 bits */
    const int up = (int)(string >> 31), three = (int)(string >> 28 & 7), r = up ? three : 7 - three;
    const uint64_t rest = string << 4 & 0xffffffffu;
    const int bits = (int)(rest >> (32 - r)), e = up ? (1 << r) - 1 + bits : 1 - (2 << r) + bits;
    return ((uint64_t)(e + 1023) << 52) + (rest << (r + 20) & (spec_hidden - 1));
}

static inline uint64_t spec_tapered_number(const spec_format *f, uint64_t code) {
    return f->taper == SPEC_POSIT ? spec_posit_number(f->bits - 1, f->es, code) : spec_takum_number(f->bits - 1, code);
}

/* The largest number: of a posit and a takum all ones; of HiF8 2^15. */
static inline uint64_t spec_tapered_end(const spec_format *f) {
    if (f->taper == SPEC_HIF8) return (15ull - (SPEC_FAULT == 2) + 1023) << 52;
    return spec_tapered_number(f, (1ull << (f->bits - 1)) - 1 - (SPEC_FAULT == 2));
}

/* Luo et al. 2024: fraction bits by the exponent; powers of two alone from 2^-22 to 2^-16; Inf where 1.5 2^15 would be.
 */
static inline uint64_t spec_hif8(const spec_format *f, spec_asked a, uint32_t neg, uint64_t M, int e, int e2) {
    const int size = e < 0 ? -e : e;
    const int width = e < -15 ? 0 : size < 4 ? 3 : size < 8 ? 2 : 1, q = e < -22 ? -22 + (SPEC_FAULT == 3) : e - width;
    const spec_cut cut = spec_cut_at(M, q - e2);
    /* the codes of 2^-22, 2^-21, ... are 1, 2, ...; there the parity is in the exponent */
    const int odd = e < -22 ? 0 : width == 0 ? (e + 23) & 1 : (int)(cut.m & 1);
    const uint64_t number = spec_pattern(cut.m + (uint64_t)spec_up(a, odd, neg, cut.rem, 1, q - e2), q);
    if (number == 0) return spec_zero(f, neg);
    if (number > spec_tapered_end(f)) return spec_beyond(f, a.mode, a.policy, neg, 0);
    return number | (neg ? spec_sign : 0);
}

/* Posits and takums: the code string is cut; no number becomes 0 and none passes the ends. */
static inline uint64_t spec_tapered(const spec_format *f, spec_asked a, uint32_t neg, uint64_t M, int e, int e2) {
    if (f->taper == SPEC_HIF8) return spec_hif8(f, a, neg, M, e, e2);
    const uint64_t size = e < -1022 ? 0 : (uint64_t)(e + 1023) << 52 | (M - spec_hidden);
    const uint64_t least = spec_tapered_number(f, 1), most = spec_tapered_end(f), sign = neg ? spec_sign : 0;
    if (size <= least) return sign | least;
    if (size >= most) return sign | most;
    const spec_string s =
        f->taper == SPEC_POSIT ? spec_posit_string(f->es, e, M - spec_hidden) : spec_takum_string(e, M - spec_hidden);
    const int shift = s.length - (f->bits - 1) + (SPEC_FAULT == 3);
    const uint64_t code = (uint64_t)(s.bits >> shift);
    const spec_wide rest = s.bits - ((spec_wide)code << shift);
    /* shift < 64: the rest has at most 63 bits, and spec_up takes 53 */
    const uint64_t next = code + (uint64_t)spec_up(a, (int)(code & 1), neg, (uint64_t)rest, 1, shift);
    return sign | spec_tapered_number(f, next);
}

#endif
