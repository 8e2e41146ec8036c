/* tensor_oracle.h - the oracle of sums on Tensor Cores: from a row's name and codes it computes a code with integers.
 *
 * The oracle has its own arithmetic. A number is (-1)^neg m 2^(e-w) with an exact integer m. A sum of products is
 * formed as the literature describes it (Fasi et al. 2021, doi:10.7717/peerj-cs.330; Xie et al. 2025, arXiv 2511.10909;
 * Khattak and Mikaitis 2025, arXiv 2512.07004).
 *
 * int64_t holds every sum exactly: a term of a product is below 2^(F+2), a term of a group of 16 products with scales
 * is below 2^(F+12), and there are at most 65 terms. With the largest F, 35, the sum is below 2^54.
 */
#ifndef ULP_TESTS_TENSOR_ORACLE_H
#define ULP_TESTS_TENSOR_ORACLE_H

#include "tensor_rows.h"

static inline uint32_t oracle_nan(const oracle_format *f) { return f->f == 23 ? 0x7fffffffu : 0x7fffu; }
static inline uint32_t oracle_inf(const oracle_format *f, int neg) {
    return ((uint32_t)neg << (f->e + f->f)) | (((1u << f->e) - 1) << f->f);
}

/* The code of total 2^q, rounded once to `kept` fraction bits: to nearest even, or toward zero. */
static inline uint32_t oracle_round(int64_t total, int q, const oracle_format *f, int kept, int nearest,
                                    int signed_zero) {
    const uint32_t sign = total < 0 ? 1u << (f->e + f->f) : 0;
    uint64_t m = total < 0 ? 0 - (uint64_t)total : (uint64_t)total;
    if (m == 0) return 0;
    int e = q, emin = oracle_emin(f);
    for (uint64_t x = m; x > 1; x /= 2) e++;
    if (e < emin) e = emin;
    /* the result is a multiple of 2^(e - kept) */
    const int drop = e - kept - q;
    if (drop > 62) m = 0;
    else if (drop > 0) {
        const uint64_t half = (uint64_t)1 << (drop - 1), rest = m & (2 * half - 1);
        m >>= drop;
        if (nearest && (rest > half || (rest == half && m % 2 == 1))) m++;
        q += drop;
    }
    if (m == 0) return signed_zero ? sign : 0;
    /* shift m to f bits below the leading bit, or to the quantum of subnormals */
    while (m >= (uint64_t)2 << f->f) m /= 2, q++;
    while (m < (uint64_t)1 << f->f && q > emin - f->f) m *= 2, q--;
    if (m < (uint64_t)1 << f->f) return sign | (uint32_t)m;
    e = q + f->f;
    if (e > oracle_emax(f)) return oracle_inf(f, total < 0);
    return sign | (uint32_t)(e - emin + 1) << f->f | ((uint32_t)m & ((1u << f->f) - 1));
}

/* The value of a binary32 code, and the code of x + y in binary32, rounded to nearest even by the machine's addition.
 */
static inline float oracle_float(uint32_t code) {
    float x;
    memcpy(&x, &code, sizeof x);
    return x;
}
static inline uint32_t oracle_add32(uint32_t x, uint32_t y) {
    const float sum = oracle_float(x) + oracle_float(y);
    uint32_t code;
    memcpy(&code, &sum, sizeof code);
    return isnan(sum) ? 0x7fffffffu : code;
}

/* The code of x + y in binary16, rounded to nearest even. x and y are integers of up to 42 bits times 2^-24. */
static inline uint32_t oracle_add16(uint32_t x, uint32_t y) {
    const oracle_format *f = &oracle_formats[1];
    const oracle_number a = oracle_decode(x, f), b = oracle_decode(y, f);
    if (a.nan || b.nan || (a.inf && b.inf && a.neg != b.neg)) return oracle_nan(f);
    if (a.inf || b.inf) return oracle_inf(f, a.inf ? a.neg : b.neg);
    if (a.m == 0 && b.m == 0 && a.neg && b.neg) return 0x8000;
    const int64_t p = a.m << (a.e + 14), r = b.m << (b.e + 14);
    return oracle_round((a.neg ? -p : p) + (b.neg ? -r : r), -24, f, 10, 1, 0);
}

/* x as a multiple of 2^q, truncated toward zero, or, if `below`, toward -infinity. */
static inline int64_t oracle_align(const oracle_number *x, int q, int below) {
    const int shift = x->e - x->w - q;
    if (x->m == 0) return 0;
    if (shift >= 0) return x->neg ? -(x->m << shift) : x->m << shift;
    const int64_t whole = shift < -62 ? 0 : x->m >> -shift, lost = shift < -62 ? x->m : x->m - (whole << -shift);
    return x->neg ? -whole - (below && lost != 0) : whole;
}

/* The scale of operand i: a power of two or a magnitude of e4m3, and 1 without scales. */
static inline oracle_number oracle_scale(const oracle *o, const uint32_t *scales, int i) {
    oracle_number one = {.m = 1};
    if (o->scale_block == 0 || scales == NULL) return one;
    const uint32_t code = scales[i / o->scale_block];
    if (o->e4m3_scales) return oracle_decode(code & 0x7f, oracle_format_of("e4m3", 4));
    one.nan = code == 0xff;
    one.e = (int)code - 127;
    return one;
}

/* An operand of 8 bits as the unit converts it to binary16: a subnormal of the operand's format may become normal. */
static inline oracle_number oracle_unpack(oracle_number x) {
    while (x.m != 0 && x.m < (int64_t)1 << x.w && x.e > -14) x.m *= 2, x.e--;
    return x;
}

/* The terms of one sum without C: products with their scales, or groups of products. Returns the number of terms, or -1
 * for NaN. *infinite gets bit 0 for +Inf and bit 1 for -Inf. *emax is raised to the largest exponent of a term. */
static inline int oracle_terms(const oracle *o, oracle_number *term, int *infinite, int *emax, const uint32_t *a,
                               const uint32_t *b, const uint32_t *sa, const uint32_t *sb) {
    int n = 0, any = 0;
    for (int i = 0; i < o->length; i++) {
        oracle_number x = oracle_decode(a[i], o->a), y = oracle_decode(b[i], o->b);
        if (o->late) x = oracle_unpack(x), y = oracle_unpack(y);
        const oracle_number s = oracle_scale(o, sa, i), t = oracle_scale(o, sb, i);
        oracle_number p = {.neg = x.neg ^ y.neg, .m = x.m * y.m, .e = x.e + y.e, .w = x.w + y.w};
        if (x.nan || y.nan || s.nan || t.nan) return -1;
        if ((x.inf && !y.inf && y.m == 0) || (y.inf && !x.inf && x.m == 0)) return -1;
        if (x.inf || y.inf) {
            *infinite |= 1 << p.neg;
            continue;
        }
        if (o->group == 0) {
            p.e += s.e + t.e;
            int e = p.m != 0 ? p.e : o->zero_product;
            if (p.m == 0 && o->zero_operand != ORACLE_NONE)
                e = (x.m == 0 ? o->zero_operand : x.e) + (y.m == 0 ? o->zero_operand : y.e);
            if (e > *emax) *emax = e;
            term[n++] = p;
        } else {
            if (i % o->group == 0) term[n++] = (oracle_number){.e = 0, .w = 2, .m = 0};
            oracle_number *g = &term[n - 1];
            any = i % o->group == 0 ? 0 : any;
            any |= p.m != 0;
            g->m += (p.neg ? -p.m : p.m) * ((int64_t)1 << p.e); /* units of 1/4: e2m1 products are multiples */
            if ((i + 1) % o->group != 0) continue;
            g->neg = g->m < 0;
            g->m = (g->neg ? -g->m : g->m) * s.m * t.m;
            g->e = s.e + t.e;
            g->w = 2 + s.w + t.w;
            const int counted = any && s.m != 0 && t.m != 0 ? g->e : o->zero_product;
            if (counted > *emax) *emax = counted;
        }
    }
    return n;
}

/* One fused sum of `length` products and c. */
static inline uint32_t oracle_block(const oracle *o, uint32_t c, const uint32_t *a, const uint32_t *b,
                                    const uint32_t *sa, const uint32_t *sb) {
    oracle_number term[ORACLE_LENGTH + 1];
    int infinite = 0, emax = ORACLE_NONE;
    const oracle_number start = oracle_decode(c, o->acc);
    int n = oracle_terms(o, term, &infinite, &emax, a, b, sa, sb);
    if (start.inf) infinite |= 1 << start.neg;
    if (n < 0 || start.nan || infinite == 3) return oracle_nan(o->acc);
    if (infinite != 0) return oracle_inf(o->acc, infinite == 2);
    const int ec = start.m != 0 ? start.e : o->zero_c;
    if (ec > emax) emax = ec;
    if (emax < o->floor) emax = o->floor;
    if (emax == ORACLE_NONE) return 0;
    term[n++] = start;
    int64_t total = 0;
    for (int i = 0; i < n; i++) total += oracle_align(&term[i], emax - o->fraction, o->floor_align);
    return oracle_round(total, emax - o->fraction, o->acc, o->kept, o->nearest, o->signed_zero);
}

/* A sum from zero of the products k = 0, 1 (mod 4); a second sum that starts at the first sum, of k = 2, 3 (mod 4);
 * then c is added. */
static inline uint32_t oracle_late(const oracle *o, uint32_t c, const uint32_t *a, const uint32_t *b) {
    uint32_t p = 0, x[ORACLE_LENGTH], y[ORACLE_LENGTH];
    for (int half = 0; half < 2; half++) {
        int n = 0;
        for (int k = 0; k < 2 * o->length; k++)
            if (k % 4 / 2 == half) x[n] = a[k], y[n++] = b[k];
        p = oracle_block(o, p, x, y, NULL, NULL);
    }
    return o->acc->f == 23 ? oracle_add32(c, p) : oracle_add16(c, p);
}

/* c + a (k) b (k), padded with zeros to a multiple of the length. scale_block products share a scale. The scales may be
 * NULL. */
static inline uint32_t oracle_chain(const oracle *o, uint32_t c, const uint32_t *a, const uint32_t *b, size_t k,
                                    const uint32_t *sa, const uint32_t *sb) {
    const size_t step = (size_t)(o->late ? 2 * o->length : o->length), block = (size_t)o->scale_block;
    for (size_t at = 0; at < k; at += step) {
        uint32_t x[ORACLE_LENGTH] = {0}, y[ORACLE_LENGTH] = {0}, s[8], t[8];
        for (size_t i = 0; i < step && at + i < k; i++) x[i] = a[at + i], y[i] = b[at + i];
        for (size_t i = 0; i < 8; i++) { /* scales past the end are 1 */
            const size_t from = block > 0 ? at / block + i : 0;
            const uint32_t one = o->e4m3_scales ? 0x38 : 127;
            s[i] = block > 0 && sa != NULL && from * block < k ? sa[from] : one;
            t[i] = block > 0 && sb != NULL && from * block < k ? sb[from] : one;
        }
        c = o->late ? oracle_late(o, c, x, y) : oracle_block(o, c, x, y, s, t);
    }
    return c;
}

/* c + a (k) b (k), with promotion if the row has it. With promotion c and the result are binary32 codes. */
static inline uint32_t oracle_dot(const oracle *o, uint32_t c, const uint32_t *a, const uint32_t *b, size_t k,
                                  const uint32_t *sa, const uint32_t *sb) {
    if (o->promote == 0) return oracle_chain(o, c, a, b, k, sa, sb);
    const size_t every = (size_t)o->promote, block = o->scale_block > 0 ? (size_t)o->scale_block : 1;
    for (size_t at = 0; at < k; at += every) {
        const size_t n = k - at < every ? k - at : every, skip = at / block;
        uint32_t part =
            oracle_chain(o, 0, a + at, b + at, n, sa != NULL ? sa + skip : NULL, sb != NULL ? sb + skip : NULL);
        const float value = (float)oracle_value(oracle_decode(part, o->acc)); /* exact for binary32 and binary16 */
        memcpy(&part, &value, sizeof part);
        c = oracle_add32(c, part);
    }
    return c;
}

#endif
