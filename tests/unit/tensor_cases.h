/* tensor_cases.h - operands for tests of Tensor Core rows, with codes near the limits of formats and alignment. */
#ifndef ULP_TESTS_TENSOR_CASES_H
#define ULP_TESTS_TENSOR_CASES_H

#include "support.h"
#include "tensor_oracle.h"

/* The styles of operands:
 *
 *  - ANY: any codes
 *  - NEAR: exponents near each other, with products that cancel
 *  - ZEROS: mostly zeros
 *  - TINY: products around the least values of the result and around the floors
 *  - LARGE: products around the largest values of the result
 *
 * The last four styles also exist with special values. */
enum { ANY, NEAR, ZEROS, TINY, LARGE, STYLES, SPECIALS = 8 };

static inline int between(uint64_t *seed, int low, int high) {
    return low + (int)(next_random(seed) % (uint64_t)(high - low + 1));
}

static inline int code_bits(const oracle_format *f) { return 1 + f->e + f->f; }

/* A code whose value has the exponent e. For e below the format's range the value is subnormal; for e above the range
 * the value is in the largest binade. */
static inline uint32_t code_near(const oracle_format *f, int e, uint64_t *seed) {
    const int top = (1 << f->e) - (f->specials == ORACLE_IEEE ? 2 : 1), field = e - oracle_emin(f) + 1;
    const uint64_t bits = next_random(seed);
    uint32_t fraction = (uint32_t)(bits >> 32) & ((1u << f->f) - 1);
    if (bits % 8 == 0) fraction = 0;
    if (bits % 8 == 1) fraction = (1u << f->f) - 1;
    if (field < 0) fraction >>= -field < f->f ? -field : f->f - 1;
    uint32_t code = (uint32_t)(field < 0 ? 0 : field > top ? top : field) << f->f | fraction;
    if (f->specials == ORACLE_NAN_ONLY && code == (1u << (f->e + f->f)) - 1) code--;
    return code | (uint32_t)(bits >> 8 & 1) << (f->e + f->f);
}

/* A special code of the format: NaN, Inf, zero, the least or largest subnormal, the least normal, the largest value, or
 * 1. */
static inline uint32_t code_special(const oracle_format *f, uint64_t *seed) {
    const uint32_t one = ((1u << (f->e - 1)) - 1) << f->f, full = (1u << (f->e + f->f)) - 1, inf = oracle_inf(f, 0);
    const uint32_t largest = f->specials == ORACLE_IEEE ? inf - 1 : f->specials == ORACLE_NAN_ONLY ? full - 1 : full;
    const uint32_t nan = f->specials == ORACLE_FINITE
                             ? 0
                             : full - (f->specials == ORACLE_IEEE && f->f > 1 ? (uint32_t)between(seed, 0, 1) : 0);
    const uint32_t special[] = {
        0, 1, (1u << f->f) - 1, 1u << f->f, largest, one, f->specials == ORACLE_IEEE ? inf : largest, nan};
    return special[between(seed, 0, 7)] | (uint32_t)between(seed, 0, 1) << (f->e + f->f);
}

/* The operands of one dot product. */
typedef struct tensor_case {
    uint32_t a[256], b[256], sa[16], sb[16], c;
    size_t k;
    int style, special;
} tensor_case;

static inline int is_scaled(const oracle *o) { return o->scale_block > 0; }
static inline size_t step_of(const oracle *o) { return (size_t)(o->late ? 2 * o->length : o->length); }

static inline uint32_t scale_code(const oracle *o, int style, int e, uint64_t *seed) {
    const uint64_t bits = next_random(seed);
    if (bits % 97 == 0) return o->e4m3_scales ? (bits >> 8) % 3 == 0 ? 0x7f : (bits >> 8) % 3 == 1 ? 0x80 : 0 : 0xff;
    if (o->e4m3_scales)
        return style == ANY || bits % 2 ? (uint32_t)(bits >> 16) & 0xff & ~(uint32_t)(bits % 5 ? 0x80 : 0)
                                        : code_near(oracle_format_of("e4m3", 4), e, seed);
    if (style == ANY) return (uint32_t)(bits >> 16) & 0xff;
    e += 127;
    return (uint32_t)(e < 0 ? 0 : e > 254 ? 254 : e);
}

/* The exponent around which the products of a style lie, for results in binary32 or binary16. */
static inline int centre_of(const oracle *o, int style, uint64_t *seed) {
    const int wide = o->acc->f == 23;
    if (style == TINY) return wide ? between(seed, -165, -118) : between(seed, -40, -8);
    if (style == LARGE) return wide ? between(seed, 118, 132) : between(seed, 8, 18);
    return o->a->e == 8 && between(seed, 0, 1) ? between(seed, -100, 100) : between(seed, -6, 6);
}

static inline void case_fill(tensor_case *t, const oracle *o, int style, size_t k, uint64_t *seed) {
    static const int spreads[] = {0, 1, 3, 6, 14, 30};
    const int centre = centre_of(o, style, seed), spread = spreads[between(seed, 0, 5)];
    const int special = style != ANY && between(seed, 0, 2) == 0;
    t->k = k, t->style = style, t->special = special;
    const int scale =
        is_scaled(o) && (style == TINY || style == LARGE) ? centre - between(seed, -2, 3) : between(seed, -3, 3);
    for (int i = 0; i < 16; i++) {
        const int e = scale / 2 + between(seed, -2, 2);
        t->sa[i] = is_scaled(o) ? scale_code(o, style, e, seed) : 0;
        t->sb[i] = is_scaled(o) ? scale_code(o, style, scale - e + between(seed, 0, spread) / 2, seed) : 0;
    }
    /* a sum near a breakpoint: the first product is half the least quantum for rounding to nearest, and some quanta for
     * rounding toward zero; the other products are very small */
    const int tie = style == TINY && between(seed, 0, 1) ? oracle_emin(o->acc) - o->acc->f : 0;
    const int deep = !o->nearest ? between(seed, 3, 22) : between(seed, 0, 1) ? 23 : between(seed, 14, 24);
    const int least_a = oracle_emin(o->a), least_b = oracle_emin(o->b);
    for (size_t i = 0; i < k; i++) {
        if (style == ANY) {
            t->a[i] = (uint32_t)next_random(seed) & ((1u << code_bits(o->a)) - 1);
            t->b[i] = (uint32_t)next_random(seed) & ((1u << code_bits(o->b)) - 1);
            continue;
        }
        int e = (is_scaled(o) ? between(seed, -1, 3) : centre) - between(seed, 0, spread);
        if (tie) e = i == 0 ? tie + (o->nearest ? -1 : between(seed, 0, 8)) : tie - between(seed, deep, 24);
        int ea = e / 2 + between(seed, -4, 4);
        if (between(seed, 0, 3) == 0) ea = between(seed, 0, 1) ? -least_a : least_a - between(seed, 0, o->a->f);
        if (ea < least_a) ea = between(seed, 0, 1) ? least_a : ea;
        if (tie && i == 0) ea = e - least_b < least_a ? least_a : between(seed, least_a, e - least_b);
        int eb = e - ea;
        if (eb < least_b - o->b->f) eb = least_b;
        t->a[i] = code_near(o->a, ea, seed), t->b[i] = code_near(o->b, eb, seed);
        if (tie && i == 0) t->a[i] &= ~0u << o->a->f, t->b[i] &= ~0u << o->b->f;
        if (i > 0 && !tie && between(seed, 0, 2) == 0) { /* the negative of an earlier product */
            const size_t from = between(seed, 0, 1) ? i - 1 : (size_t)between(seed, 0, (int)i - 1);
            t->a[i] = t->a[from] ^ 1u << (o->a->e + o->a->f), t->b[i] = t->b[from];
        }
        if ((style == ZEROS && between(seed, 0, 2) > 0) || (tie && i > 1 && between(seed, 0, 3) == 0))
            t->a[i] &= 1u << (o->a->e + o->a->f);
        if (style == ZEROS && between(seed, 0, 2) > 0) t->b[i] &= 1u << (o->b->e + o->b->f);
        if (special && between(seed, 0, (int)k) == 0) t->a[i] = code_special(o->a, seed);
        if (special && between(seed, 0, (int)k) == 0) t->b[i] = code_special(o->b, seed);
    }
    const int nothing = style == ZEROS && between(seed, 0, 3) == 0;
    for (size_t i = 0; nothing && i < k; i++) t->a[i] &= 1u << (o->a->e + o->a->f);
    const oracle_format *c = o->promote > 0 ? &oracle_formats[0] : o->acc;
    const int how = between(seed, 0, 7);
    const uint32_t sign = (uint32_t)between(seed, 0, 1) << (c->e + c->f);
    if (nothing && how < 3) t->c = code_special(c, seed);
    else if (style == ANY || (nothing && how < 6))
        t->c = (uint32_t)next_random(seed) & (uint32_t)((1ull << code_bits(c)) - 1);
    else if (how < 2 || tie || (style == ZEROS && how < 5)) t->c = sign;
    else if (how == 2) t->c = oracle_dot(o, 0, t->a, t->b, k, t->sa, t->sb) ^ 1u << (c->e + c->f);
    else if (how == 3 && special) t->c = code_special(c, seed);
    else t->c = code_near(c, centre + between(seed, -o->fraction - 2, 3), seed);
}

/* The operands of a case as text. */
static inline const char *case_text(char *to, size_t size, const oracle *o, const tensor_case *t) {
    size_t n = (size_t)snprintf(to, size, "c %x, k %zu, a", t->c, t->k);
    for (size_t i = 0; i < t->k && n < size; i++) n += (size_t)snprintf(to + n, size - n, " %x", t->a[i]);
    if (n < size) n += (size_t)snprintf(to + n, size - n, ", b");
    for (size_t i = 0; i < t->k && n < size; i++) n += (size_t)snprintf(to + n, size - n, " %x", t->b[i]);
    for (size_t i = 0; is_scaled(o) && i * (size_t)o->scale_block < t->k && n < size; i++)
        n += (size_t)snprintf(to + n, size - n, "%s%x*%x", i == 0 ? ", scales " : " ", t->sa[i], t->sb[i]);
    return to;
}

/* The value of a scale code of the row. */
static inline double scale_value(const oracle *o, uint32_t code) {
    if (o->e4m3_scales) return oracle_value(oracle_decode(code, oracle_format_of("e4m3", 4)));
    return code == 0xff ? (double)NAN : ldexp(1.0, (int)code - 127);
}

/* The code of the datapath's result for a case; with promotion this is a binary32 code. */
static inline uint32_t case_model(const ulp_datapath *d, const oracle *o, const tensor_case *t, ulp_status *status) {
    double a[256], b[256], sa[16], sb[16];
    for (size_t i = 0; i < t->k; i++)
        a[i] = oracle_value(oracle_decode(t->a[i], o->a)), b[i] = oracle_value(oracle_decode(t->b[i], o->b));
    for (size_t i = 0; i < 16; i++)
        sa[i] = is_scaled(o) ? scale_value(o, t->sa[i]) : 1, sb[i] = is_scaled(o) ? scale_value(o, t->sb[i]) : 1;
    const double c = oracle_value(oracle_decode(t->c, o->promote > 0 ? &oracle_formats[0] : o->acc));
    ulp_products products = {a, b, t->k, NULL, NULL};
    if (is_scaled(o)) products.a_scales = sa, products.b_scales = sb;
    uint64_t code = 0;
    *status = ulp_datapath_code(&code, ulp_dot(d, c, products, (ulp_stream){1, 2, 3}), d);
    return (uint32_t)code;
}

#endif
