/* units_oracle.h - the oracle of matrix units beyond NVIDIA's: from a row's name and codes it computes a code with
 * integers.
 *
 * Every number is an integer of 704 bits in units of 2^-352, so that products, their sums and all intermediate results
 * are exact. A rule cuts and rounds such integers as UNITS.md and the sources there describe it. The oracle shares no
 * code and no table with the tested code. The file is long because whoever checks it against the sources reads it
 * whole.
 */
#ifndef ULP_TESTS_UNITS_ORACLE_H
#define ULP_TESTS_UNITS_ORACLE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- integers ---- */

enum { WHOLE_WORDS = 22, WHOLE_UNIT = -352 };

typedef struct whole {
    uint32_t word[WHOLE_WORDS]; /* two's complement, least significant first */
} whole;

static inline int whole_negative(const whole *x) { return (int)(x->word[WHOLE_WORDS - 1] >> 31); }

static inline whole whole_minus(const whole *x) {
    whole y;
    uint64_t carry = 1;
    for (int i = 0; i < WHOLE_WORDS; i++) {
        carry += (uint32_t)~x->word[i];
        y.word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return y;
}

static inline whole whole_add(const whole *x, const whole *y) {
    whole z;
    uint64_t carry = 0;
    for (int i = 0; i < WHOLE_WORDS; i++) {
        carry += (uint64_t)x->word[i] + y->word[i];
        z.word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return z;
}

/* (-1)^neg m 2^e */
static inline whole whole_of(int neg, uint64_t m, int e) {
    whole x = {{0}};
    const int at = e - WHOLE_UNIT, up = at % 32;
    if (m == 0) return x;
    const uint64_t low = (m & 0xffffffffu) << up, high = (m >> 32 << up) + (low >> 32);
    x.word[at / 32] = (uint32_t)low;
    x.word[at / 32 + 1] = (uint32_t)high;
    x.word[at / 32 + 2] = (uint32_t)(high >> 32);
    return neg ? whole_minus(&x) : x;
}

static inline int whole_bit(const whole *x, int i) { return (int)(x->word[i / 32] >> (i % 32) & 1); }

/* Whether one of the lowest n bits is 1. */
static inline int whole_any(const whole *x, int n) {
    uint32_t any = 0;
    for (int i = 0; i < n / 32; i++) any |= x->word[i];
    return (any | (n % 32 > 0 ? x->word[n / 32] << (32 - n % 32) : 0)) != 0;
}

static inline int whole_is_zero(const whole *x) {
    uint32_t any = 0;
    for (int i = 0; i < WHOLE_WORDS; i++) any |= x->word[i];
    return any == 0;
}

/* The exponent of |x|; x is not zero. */
static inline int whole_exponent(const whole *x) {
    const whole size = whole_negative(x) ? whole_minus(x) : *x;
    int i = WHOLE_WORDS - 1, bit = 31;
    while (size.word[i] == 0) i--;
    while (size.word[i] >> bit == 0) bit--;
    return 32 * i + bit + WHOLE_UNIT;
}

/* The largest multiple of 2^e that is not above x. */
static inline whole whole_floor(const whole *x, int e) {
    whole y = *x;
    int n = e - WHOLE_UNIT, i = 0;
    if (n > 32 * WHOLE_WORDS - 1) n = 32 * WHOLE_WORDS - 1;
    for (; n >= 32; n -= 32) y.word[i++] = 0;
    if (n > 0) y.word[i] &= ~((1u << n) - 1);
    return y;
}

/* The multiple of 2^e that is next to x and not larger in magnitude. */
static inline whole whole_truncate(const whole *x, int e) {
    if (!whole_negative(x)) return whole_floor(x, e);
    const whole size = whole_minus(x), low = whole_floor(&size, e);
    return whole_minus(&low);
}

/* ---- formats ---- */

typedef enum { UNIT_IEEE, UNIT_ONE_NAN, UNIT_FNUZ } unit_specials;

typedef struct unit_format {
    const char *name;
    int exponent, fraction, bias;
    unit_specials specials;
} unit_format;

static const unit_format unit_formats[] = {
    {"fp32", 8, 23, 127, UNIT_IEEE},  {"fp16", 5, 10, 15, UNIT_IEEE},    {"bf16", 8, 7, 127, UNIT_IEEE},
    {"tf32", 8, 10, 127, UNIT_IEEE},  {"e5m2", 5, 2, 15, UNIT_IEEE},     {"e4m3", 4, 3, 7, UNIT_ONE_NAN},
    {"e4m3fnuz", 4, 3, 8, UNIT_FNUZ}, {"e5m2fnuz", 5, 2, 16, UNIT_FNUZ},
};

static inline const unit_format *unit_format_of(const char *name, size_t n) {
    for (size_t i = 0; i < COUNT_OF(unit_formats); i++)
        if (strlen(unit_formats[i].name) == n && memcmp(unit_formats[i].name, name, n) == 0) return &unit_formats[i];
    return NULL;
}

/* A number of a format: m 2^(e - fraction). A subnormal number and zero have the lowest exponent. */
typedef struct unit_number {
    int nan, inf, neg, e;
    uint64_t m;
    const unit_format *f;
} unit_number;

static inline unit_number unit_decode(uint32_t code, const unit_format *f) {
    const uint32_t size = code & ((1u << (f->exponent + f->fraction)) - 1), top = (1u << f->exponent) - 1;
    const uint32_t field = size >> f->fraction, fraction = size & ((1u << f->fraction) - 1);
    unit_number x = {.neg = (int)(code >> (f->exponent + f->fraction)) & 1, .f = f};
    x.nan = f->specials == UNIT_IEEE      ? field == top && fraction != 0
            : f->specials == UNIT_ONE_NAN ? size == (1u << (f->exponent + f->fraction)) - 1
                                          : x.neg && size == 0;
    x.inf = f->specials == UNIT_IEEE && field == top && fraction == 0;
    x.e = field == 0 ? 1 - f->bias : (int)field - f->bias;
    x.m = field == 0 ? fraction : fraction | 1u << f->fraction;
    return x;
}

static inline int unit_is_subnormal(const unit_number *x) { return x->m < (uint64_t)1 << x->f->fraction; }

/* ---- rows ---- */

typedef enum { RULE_EXACT, RULE_CHAINS, RULE_ONE_SIDED, RULE_BULK } unit_rule;
typedef enum { FLUSH_NONE, FLUSH_SIGN, FLUSH_PLUS } unit_zero;
typedef enum { TINY_KEPT, TINY_EXACT, TINY_UNBOUNDED, TINY_SUBNORMAL } unit_tiny;
typedef enum { NEAREST, ODD, TRUNCATED } unit_round;

/* One line per machine, accumulator and unit. `inputs` begins with "=" where only equal formats are rows. */
typedef struct unit_line {
    const char *machine, *inputs, *acc, *unit;
    unit_rule rule;
    int length;
    int term, fused, lanes, swapped, last; /* RULE_CHAINS */
    unit_zero operands, start;
    unit_tiny tiny;
    unit_round round;
    int fraction, parts, cut; /* RULE_ONE_SIDED, RULE_BULK */
} unit_line;

static const unit_line unit_lines[] = {
    {"mi100", "=fp16", "fp32", "", RULE_EXACT, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"mi100", "=bf16", "fp32", "", RULE_EXACT, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"mi250", "=fp16 bf16", "fp32", "", RULE_CHAINS, 4, 1, 0, 4, 0, 1, FLUSH_PLUS, FLUSH_PLUS, TINY_SUBNORMAL, 0, 0, 0,
     0},
    {"mi250", "=bf16", "fp32", "p2", RULE_CHAINS, 2, 1, 0, 2, 0, 1, FLUSH_PLUS, FLUSH_PLUS, TINY_SUBNORMAL, 0, 0, 0, 0},
    {"mi300", "=fp16 bf16", "fp32", "", RULE_ONE_SIDED, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24, 1, 0},
    {"mi300", "=tf32", "fp32", "", RULE_ONE_SIDED, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24, 1, 0},
    {"mi300", "e4m3fnuz e5m2fnuz", "fp32", "", RULE_ONE_SIDED, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24, 2, 1},
    {"avx512", "=bf16", "fp32", "", RULE_CHAINS, 2, 1, 1, 1, 1, 0, FLUSH_SIGN, FLUSH_SIGN, TINY_UNBOUNDED, 0, 0, 0, 0},
    {"avx512", "=fp16", "fp32", "", RULE_CHAINS, 2, 1, 1, 1, 1, 0, FLUSH_NONE, FLUSH_SIGN, TINY_UNBOUNDED, 0, 0, 0, 0},
    {"amx", "=bf16", "fp32", "", RULE_CHAINS, 32, 1, 1, 2, 0, 1, FLUSH_SIGN, FLUSH_SIGN, TINY_UNBOUNDED, 0, 0, 0, 0},
    {"amx", "=fp16", "fp32", "", RULE_CHAINS, 32, 1, 1, 2, 0, 1, FLUSH_NONE, FLUSH_SIGN, TINY_UNBOUNDED, 0, 0, 0, 0},
    {"amx", "e4m3 e5m2", "fp32", "", RULE_CHAINS, 64, 2, 0, 2, 0, 1, FLUSH_NONE, FLUSH_SIGN, TINY_UNBOUNDED, 0, 0, 0,
     0},
    {"arm", "=bf16", "fp32", "", RULE_CHAINS, 2, 1, 0, 2, 0, 1, FLUSH_SIGN, FLUSH_SIGN, TINY_EXACT, ODD, 0, 0, 0},
    {"arm", "=bf16", "fp32", "ebf", RULE_CHAINS, 2, 2, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0},
    {"arm", "=fp16 bf16", "fp32", "fmlal", RULE_EXACT, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"arm", "=fp16", "fp32", "fmopa", RULE_CHAINS, 2, 2, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0},
    {"arm", "e4m3 e5m2", "fp32", "", RULE_CHAINS, 4, 4, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"arm", "e4m3 e5m2", "fp16", "", RULE_CHAINS, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"riscv", "=bf16", "fp32", "", RULE_BULK, 8, 0, 0, 0, 0, 0, 0, 0, 0, ODD, 26, 0, 0},
    {"riscv", "=e4m3 e5m2", "fp32", "", RULE_BULK, 16, 0, 0, 0, 0, 0, 0, 0, 0, ODD, 27, 0, 0},
};
enum { UNIT_LINES = COUNT_OF(unit_lines), UNIT_MOST = 64 };

/* A row, and the settings that a test may change. */
typedef struct unit_oracle {
    const unit_format *a, *b, *acc;
    unit_line row;
    int join, normal, shift, saturate; /* of RULE_ONE_SIDED; of products and sums */
} unit_oracle;

/* The name of row i, MACHINE-A[.B][-fp16][-UNIT], and its oracle. 0 past the end. */
static inline int unit_oracle_get(size_t i, char *name, size_t size, unit_oracle *o) {
    for (size_t line = 0; line < UNIT_LINES; line++) {
        const unit_line *l = &unit_lines[line];
        const int equal = l->inputs[0] == '=';
        for (const char *a = l->inputs + equal; *a != '\0'; a += strcspn(a, " "), a += *a == ' ')
            for (const char *b = l->inputs + equal; *b != '\0'; b += strcspn(b, " "), b += *b == ' ') {
                if ((equal && a != b) || i-- > 0) continue;
                int n = snprintf(name, size, "%s-%.*s", l->machine, (int)strcspn(a, " "), a);
                if (a != b) n += snprintf(name + n, size - (size_t)n, ".%.*s", (int)strcspn(b, " "), b);
                snprintf(name + n, size - (size_t)n, "%s%s%s", strcmp(l->acc, "fp16") == 0 ? "-fp16" : "",
                         *l->unit ? "-" : "", l->unit);
                *o = (unit_oracle){.row = *l, .join = 32, .normal = 31};
                o->a = unit_format_of(a, strcspn(a, " "));
                o->b = unit_format_of(b, strcspn(b, " "));
                o->acc = unit_format_of(l->acc, 4);
                return 1;
            }
    }
    return 0;
}

/* ---- rounding ---- */

static inline uint32_t unit_infinity(const unit_format *f, int neg) {
    return (uint32_t)neg << (f->exponent + f->fraction) | ((1u << f->exponent) - 1) << f->fraction;
}

static inline uint32_t unit_nan(const unit_format *f) { return unit_infinity(f, 0) | 1u << (f->fraction - 1); }

/* The size of x as a multiple of 2^e, rounded. */
static inline uint64_t unit_multiple(const whole *x, int e, unit_round round) {
    const whole size = whole_negative(x) ? whole_minus(x) : *x;
    const int at = e - WHOLE_UNIT, half = at > 0 && whole_bit(&size, at - 1),
              above = at > 1 && whole_any(&size, at - 1);
    uint64_t m = 0;
    for (int i = 0; i < 3 && at / 32 + i < WHOLE_WORDS; i++) {
        const uint64_t word = size.word[at / 32 + i];
        const int up = 32 * i - at % 32;
        m |= up < 0 ? word >> -up : up < 64 ? word << up : 0;
    }
    if (round == ODD) return m | (uint64_t)(half | above);
    return round == NEAREST && half && (above || m % 2 == 1) ? m + 1 : m;
}

/* The code of x rounded to f. neg: the sign of a zero. */
static inline uint32_t unit_round_to(const whole *x, int neg, const unit_format *f, unit_round round, unit_tiny tiny) {
    if (whole_is_zero(x)) return (uint32_t)neg << (f->exponent + f->fraction);
    const int emin = 1 - f->bias, emax = f->bias, own = whole_exponent(x);
    neg = whole_negative(x);
    const uint32_t sign = (uint32_t)neg << (f->exponent + f->fraction);
    int e = own < emin ? emin : own;
    uint64_t m = unit_multiple(x, e - f->fraction, round);
    if (m == (uint64_t)2 << f->fraction) m /= 2, e++;
    if (e > emax) return unit_infinity(f, neg);
    if (tiny == TINY_EXACT && own < emin) return sign;
    if (tiny == TINY_SUBNORMAL && m < (uint64_t)1 << f->fraction) return sign;
    if (tiny == TINY_UNBOUNDED && own < emin &&
        !(own == emin - 1 && unit_multiple(x, own - f->fraction, round) == (uint64_t)2 << f->fraction))
        return sign;
    if (m < (uint64_t)1 << f->fraction) return sign | (uint32_t)m;
    return sign | (uint32_t)(e + f->bias) << f->fraction | ((uint32_t)m & ((1u << f->fraction) - 1));
}

/* ---- one instruction ---- */

/* A finite number, or an infinity, or NaN, with the sign of a zero. */
typedef struct unit_value {
    int nan, inf, neg;
    whole x;
} unit_value;

static inline unit_value unit_value_of(unit_number n) {
    unit_value v = {.nan = n.nan, .inf = n.inf, .neg = n.neg};
    v.x = n.nan || n.inf ? whole_of(0, 0, 0) : whole_of(n.neg, n.m, n.e - n.f->fraction);
    return v;
}

static inline unit_value unit_product(unit_number a, unit_number b, int shift) {
    unit_value v = {.nan = a.nan || b.nan, .inf = a.inf || b.inf, .neg = a.neg ^ b.neg};
    if ((a.inf && !b.inf && b.m == 0) || (b.inf && !a.inf && a.m == 0)) v.nan = 1;
    v.x = v.nan || v.inf ? whole_of(0, 0, 0)
                         : whole_of(v.neg, a.m * b.m, a.e - a.f->fraction + b.e - b.f->fraction - shift);
    return v;
}

static inline unit_value unit_sum(const unit_value *x, const unit_value *y) {
    unit_value z = {.nan = x->nan || y->nan || (x->inf && y->inf && x->neg != y->neg)};
    z.inf = x->inf || y->inf;
    z.x = whole_add(&x->x, &y->x);
    z.neg = z.inf ? (x->inf ? x->neg : y->neg) : whole_is_zero(&z.x) ? x->neg && y->neg : whole_negative(&z.x);
    return z;
}

static inline uint32_t unit_code(const unit_value *v, const unit_format *f, unit_round round, unit_tiny tiny) {
    if (v->nan) return unit_nan(f);
    if (v->inf) return unit_infinity(f, v->neg);
    return unit_round_to(&v->x, v->neg, f, round, tiny);
}

/* v rounded to the accumulator. */
static inline unit_value unit_rounded(const unit_oracle *o, unit_value v) {
    uint32_t code = unit_code(&v, o->acc, o->row.round, o->row.tiny);
    if (o->saturate && !v.nan && !v.inf && code << 1 >> 1 == unit_infinity(o->acc, 0)) code--;
    if (o->saturate && !v.nan && !v.inf && code == unit_infinity(o->acc, 1)) code--;
    return unit_value_of(unit_decode(code, o->acc));
}

static inline unit_value unit_add(const unit_oracle *o, unit_value x, unit_value y) {
    return unit_rounded(o, unit_sum(&x, &y));
}

static inline unit_number unit_flushed(unit_number x, unit_zero how) {
    if (how == FLUSH_NONE || x.nan || x.inf || !unit_is_subnormal(&x)) return x;
    x.m = 0;
    if (how == FLUSH_PLUS) x.neg = 0;
    return x;
}

static inline unit_value unit_chains(const unit_oracle *o, unit_value c, const uint32_t *a, const uint32_t *b, int n) {
    const unit_line *r = &o->row;
    const int set = r->term * r->lanes * (1 + r->swapped), terms = (n + set - 1) / set * set / r->term;
    unit_value chain[UNIT_MOST] = {{0}};
    int count[UNIT_MOST] = {0};
    if (!r->last) chain[0] = c, count[0] = 1;
    for (int step = 0; step < terms; step++) {
        const int t = r->swapped ? (step % 2 ? step - 1 : step + 1) : step, l = t % r->lanes;
        unit_value sum = {0};
        for (int i = t * r->term; i < (t + 1) * r->term; i++) {
            unit_number x = unit_decode(i < n ? a[i] : 0, o->a), y = unit_decode(i < n ? b[i] : 0, o->b);
            const unit_value p = unit_product(unit_flushed(x, r->operands), unit_flushed(y, r->operands), o->shift);
            sum = i == t * r->term ? p : unit_sum(&sum, &p);
        }
        if (!r->fused) sum = unit_rounded(o, sum);
        if (count[l]++ > 0 || r->length > r->term * r->lanes) chain[l] = unit_add(o, chain[l], sum);
        else chain[l] = r->fused ? unit_rounded(o, sum) : sum;
    }
    for (int width = r->lanes; width > 1; width /= 2)
        for (int l = 0; l < width / 2; l++) chain[l] = unit_add(o, chain[2 * l], chain[2 * l + 1]);
    return r->last ? unit_add(o, c, chain[0]) : chain[0];
}

/* NaN, an infinity, or a finite number: the kind of c plus all products. beyond: larger products are infinite. */
static inline unit_value unit_specials_of(const unit_oracle *o, unit_value c, const uint32_t *a, const uint32_t *b,
                                          int n, int beyond) {
    unit_value all = c;
    for (int i = 0; i < n; i++) {
        unit_value p = unit_product(unit_decode(a[i], o->a), unit_decode(b[i], o->b), o->shift);
        if (!p.nan && !p.inf && !whole_is_zero(&p.x) && whole_exponent(&p.x) >= beyond) p.inf = 1;
        all = unit_sum(&all, &p);
    }
    return all;
}

/* The exponent that a product aligns with: the sum of its operands' exponents. */
static inline int unit_product_exponent(unit_number x, unit_number y) { return x.e + y.e; }

enum { UNIT_NONE = -100000 };

/* The sum of products first, first + step, ..., each truncated (toward zero, or to odd) `fraction` bits below the
 * largest exponent *top of a product that is not zero. */
static inline whole unit_aligned(const unit_oracle *o, const uint32_t *a, const uint32_t *b, int n, int first, int step,
                                 int *top) {
    whole sum = whole_of(0, 0, 0);
    *top = UNIT_NONE;
    for (int pass = 0; pass < 2; pass++)
        for (int i = first; i < n; i += step) {
            const unit_number x = unit_decode(a[i], o->a), y = unit_decode(b[i], o->b);
            const int e = unit_product_exponent(x, y);
            if (x.m == 0 || y.m == 0) continue;
            if (pass == 0) {
                if (e > *top) *top = e;
                continue;
            }
            const unit_value p = unit_product(x, y, 0);
            const int cut = *top - o->row.fraction;
            whole part = whole_truncate(&p.x, cut);
            if (o->row.round == ODD) {
                const whole minus = whole_minus(&part), rest = whole_add(&p.x, &minus);
                const uint64_t size = unit_multiple(&p.x, cut, ODD);
                if (!whole_is_zero(&rest)) part = whole_of(p.neg, size, cut);
            }
            sum = whole_add(&sum, &part);
        }
    return sum;
}

static inline uint32_t unit_one_sided(const unit_oracle *o, uint32_t c, const uint32_t *a, const uint32_t *b, int n) {
    const unit_number start = unit_decode(c, o->acc);
    const unit_value special = unit_specials_of(o, unit_value_of(start), a, b, n, o->acc->bias + 1);
    if (special.nan || special.inf) return unit_code(&special, o->acc, NEAREST, TINY_KEPT);
    int top[2] = {UNIT_NONE, UNIT_NONE}, meet = start.e;
    whole part[2], sum = whole_of(0, 0, 0);
    for (int p = 0; p < o->row.parts; p++) part[p] = unit_aligned(o, a, b, n, p, o->row.parts, &top[p]);
    const int both = top[0] > top[1] ? top[0] : top[1];
    for (int p = 0; p < o->row.parts && both != UNIT_NONE; p++) {
        part[p] = whole_floor(&part[p], both - o->row.fraction);
        sum = whole_add(&sum, &part[p]);
    }
    if (both > meet) meet = both;
    sum = whole_floor(&sum, meet - o->join);
    whole from = whole_of(start.neg, start.m, start.e - 23);
    from = whole_floor(&from, meet - o->row.fraction);
    if (!(o->row.cut && start.e < meet - o->row.fraction - 1)) sum = whole_add(&sum, &from);
    if (whole_is_zero(&sum)) return 0;
    int e = whole_exponent(&sum);
    if (e < -126) e = -126;
    const int neg = whole_negative(&sum);
    sum = whole_floor(&sum, e - o->normal);
    return unit_round_to(&sum, neg, o->acc, NEAREST, TINY_KEPT);
}

static inline unit_value unit_bulk(const unit_oracle *o, unit_value c, const uint32_t *a, const uint32_t *b, int n) {
    int top;
    const unit_value special = unit_specials_of(o, (unit_value){.x = whole_of(0, 0, 0)}, a, b, n, 1000000);
    if (special.nan || special.inf) return unit_add(o, c, special);
    const unit_value sum = {.x = unit_aligned(o, a, b, n, 0, 1, &top)};
    unit_value rounded = {0};
    if (!whole_is_zero(&sum.x)) rounded = unit_rounded(o, sum);
    return unit_add(o, c, rounded);
}

/* c + a (k) b (k). */
static inline uint32_t unit_oracle_dot(const unit_oracle *o, uint32_t c, const uint32_t *a, const uint32_t *b, int k) {
    const unit_line *r = &o->row;
    if (r->rule == RULE_CHAINS && k > 0) {
        const unit_value start = unit_value_of(unit_flushed(unit_decode(c, o->acc), r->start));
        c = unit_code(&start, o->acc, NEAREST, TINY_KEPT);
    }
    for (int at = 0; at < k; at += r->length) {
        const int n = k - at < r->length ? k - at : r->length;
        const unit_value from = unit_value_of(unit_decode(c, o->acc));
        unit_value to = from;
        if (r->rule == RULE_ONE_SIDED) {
            c = unit_one_sided(o, c, a + at, b + at, n);
            continue;
        }
        if (r->rule == RULE_CHAINS) to = unit_chains(o, from, a + at, b + at, n);
        if (r->rule == RULE_BULK) to = unit_bulk(o, from, a + at, b + at, n);
        if (r->rule == RULE_EXACT) {
            for (int i = at; i < at + n; i++) {
                const unit_value p = unit_product(unit_decode(a[i], o->a), unit_decode(b[i], o->b), o->shift);
                to = unit_sum(&to, &p);
            }
            to = unit_rounded(o, to);
        }
        c = unit_code(&to, o->acc, r->round, TINY_KEPT);
    }
    return c;
}

#endif
