/* operands.c - ulp vectors: operands that bring out how a datapath aligns, truncates and rounds; see vectors.h. */
#include "vectors.h"

#include <string.h>

typedef const ulp_format format;

/* ---- codes ---- */

static uint64_t encoded(double v, format *f) {
    uint64_t code = 0;
    const ulp_rule toward_zero = {ULP_RZ, ULP_OVERFLOW_SAT, 0};
    ulp_encode(&code, v == v ? ulp_round(v, f, toward_zero, 0) : f->max, f);
    return code;
}

static uint64_t mask_of(format *f) { return f->bits == 64 ? UINT64_MAX : (1ull << f->bits) - 1; }

static int is_finite(uint64_t code, format *f) {
    const ulp_class c = ulp_classify(code, f);
    return c != ULP_NAN && c != ULP_INFINITE;
}

static uint64_t any_code(format *f, vectors_draw *draw) {
    const uint64_t high = vectors_word(draw);
    return (high << 32 | vectors_word(draw)) & mask_of(f);
}

static uint64_t finite_code(format *f, vectors_draw *draw) {
    uint64_t code;
    do code = any_code(f, draw);
    while (!is_finite(code, f));
    return code;
}

/* A subnormal number, or one of the least normal numbers, of either sign. */
static uint64_t low_code(format *f, vectors_draw *draw) {
    const int bits = f->is_fixed ? 2 : f->prec < f->bits - 1 ? f->prec : f->bits - 1;
    uint64_t code;
    do {
        code = any_code(f, draw) & ((1ull << bits) - 1);
        if (f->is_signed) code = encoded((vectors_word(draw) & 1) != 0 ? -ulp_decode(code, f) : ulp_decode(code, f), f);
    } while (!is_finite(code, f));
    return code;
}

/* NaN, Inf, the ends of the range, zeros, or any code, each where the format has it. */
static uint64_t special_code(format *f, vectors_draw *draw) {
    const double infinity = ulp_from_bits64(0x7ff0000000000000u);
    const double specials[] = {ulp_quiet_nan(), infinity, -infinity, f->max, f->lowest, 0.0, -0.0};
    const uint32_t i = vectors_below(draw, 8);
    uint64_t code;
    return i < 7 && ulp_encode(&code, specials[i], f) == ULP_OK ? code : any_code(f, draw);
}

enum significand { ANY, POWER, ONES, ANY_OR_POWER };
enum sign { POSITIVE, NEGATIVE, EITHER };

/* +-m 2^e with 1 <= m < 2, cut to the format; beyond the range, its nearest end. All random words but those of e are
 * drawn here, one after the other: C does not order the arguments of a call. */
static uint64_t code_at(int e, enum significand kind, enum sign sign, format *f, vectors_draw *draw) {
    if (kind == ANY_OR_POWER) kind = vectors_below(draw, 2) ? ANY : POWER;
    if (sign == EITHER) sign = vectors_below(draw, 2) ? NEGATIVE : POSITIVE;
    const double m = kind == ANY ? 1.0 + 0x1p-32 * vectors_word(draw) : kind == POWER ? 1.0 : 2.0 - 0x1p-40;
    const double v = ulp_scale(m, e < -1000 ? -1000 : e > 1000 ? 1000 : e);
    return encoded(sign == NEGATIVE && f->is_signed ? -v : v, f);
}

static uint64_t negated(uint64_t code, format *f) { return encoded(-ulp_decode(code, f), f); }

/* The exponents of normal numbers; of integers and fixed point, those of all numbers. */
static int least_exponent(format *f) { return f->is_fixed ? f->qmin : f->emin; }
static int greatest_exponent(format *f) { return f->emax - f->is_fixed; }

static int random_exponent(format *f, vectors_draw *draw) {
    const int least = least_exponent(f), range = greatest_exponent(f) - least + 1;
    return least + (int)vectors_below(draw, (uint32_t)range);
}

/* ---- the kinds ---- */

typedef struct maker {
    vectors_sum *sum;
    const vectors_product *product;
    format *a, *b, *c;
    vectors_draw *draw;
    int ea, eb; /* exponents about which the operands lie */
} maker;

static int below(maker *m, uint32_t n) { return (int)vectors_below(m->draw, n); }

static void make_random(maker *m, size_t i) {
    m->sum->a[i] = finite_code(m->a, m->draw);
    m->sum->b[i] = finite_code(m->b, m->draw);
    if (i > 0) return;
    const int e = m->ea + m->eb + below(m, 61) - 30;
    m->sum->c = below(m, 4) == 0 ? finite_code(m->c, m->draw) : code_at(e, ANY, EITHER, m->c, m->draw);
}

static void make_near(maker *m, size_t i) {
    m->sum->a[i] = code_at(m->ea + below(m, 4) - 2, ANY, EITHER, m->a, m->draw);
    m->sum->b[i] = code_at(m->eb + below(m, 4) - 2, ANY, EITHER, m->b, m->draw);
    if (i == 0) m->sum->c = code_at(m->ea + m->eb + below(m, 8) - 3, ANY, EITHER, m->c, m->draw);
}

/* Every other product takes back the product before it, or all but its last bits. */
static void make_cancel(maker *m, size_t i) {
    make_near(m, i);
    if (i % 2 == 0 || !m->a->is_signed) return;
    m->sum->b[i] = m->sum->b[i - 1];
    m->sum->a[i] = negated(m->sum->a[i - 1], m->a);
    if (below(m, 4) != 0) return;
    const double next = ulp_next_up(ulp_decode(m->sum->a[i], m->a), m->a);
    m->sum->a[i] = encoded(next, m->a);
}

/* Exponents of a and b whose sum is `total`, as far as the formats allow; of subnormal numbers only where there is no
 * other way, because their terms are aligned as terms of the least normal exponent. */
static void split_exponent(maker *m, int total, int *ea, int *eb) {
    const int least = least_exponent(m->b), most = greatest_exponent(m->b);
    *eb = total - random_exponent(m->a, m->draw);
    *eb = *eb < least ? least : *eb > most ? most : *eb;
    *ea = total - *eb;
    if (*ea >= m->a->qmin) return;
    *ea = m->a->qmin;
    *eb = total - *ea;
}

/* Terms about the last bit that a floor of Emax leaves, after a first product of the least result or half of it. The
 * start value is zero: the exponent of another one may lie above the floor. */
static void make_floor(maker *m, size_t i) {
    const ulp_fused *f = &m->product->datapath.fused;
    int ea, eb;
    split_exponent(m, i == 0 ? m->c->qmin - below(m, 2) : f->floor - f->fraction + below(m, 5) - 4, &ea, &eb);
    m->sum->a[i] = code_at(ea, i > 0 ? ANY_OR_POWER : POWER, EITHER, m->a, m->draw);
    m->sum->b[i] = code_at(eb, POWER, EITHER, m->b, m->draw);
    m->sum->c = encoded(0.0, m->c);
}

/* Whether products can lie below the last bit that the floor leaves. */
static int reaches_floor(const maker *m) {
    const ulp_datapath *d = &m->product->datapath;
    return d->kind == ULP_ALIGNED && d->fused.floor != ULP_NO_EXPONENT &&
           m->a->qmin + m->b->qmin < d->fused.floor - d->fused.fraction;
}

static void make_subnormal(maker *m, size_t i) {
    if ((m->ea & 1) != 0 && reaches_floor(m)) {
        make_floor(m, i);
        return;
    }
    m->sum->a[i] = low_code(m->a, m->draw);
    m->sum->b[i] = below(m, 2) ? low_code(m->b, m->draw) : finite_code(m->b, m->draw);
    if (i > 0) return;
    const int e = least_exponent(m->a) + m->eb + below(m, 9) - 4;
    const int which = below(m, 3);
    m->sum->c = which == 0   ? encoded(0.0, m->c)
                : which == 1 ? low_code(m->c, m->draw)
                             : code_at(e, ANY, EITHER, m->c, m->draw);
}

/* One large term, c or the first product; the other terms end just above and just below its last bit that counts. */
static void make_edge(maker *m, size_t i) {
    const ulp_datapath *d = &m->product->datapath;
    const int bits = d->kind == ULP_ALIGNED ? d->fused.fraction : d->accumulator.prec, large_c = m->ea & 1;
    const int top = large_c ? m->ea + m->eb + bits : greatest_exponent(m->a) + greatest_exponent(m->b) - 1;
    const int total = !large_c && i == 0 ? top : top - bits + below(m, 6) - 3;
    int ea, eb;
    split_exponent(m, total, &ea, &eb);
    m->sum->a[i] = code_at(ea, ANY_OR_POWER, EITHER, m->a, m->draw);
    m->sum->b[i] = code_at(eb, ANY_OR_POWER, EITHER, m->b, m->draw);
    if (i > 0) return;
    const int e = large_c ? top : top - bits + below(m, 6) - 3;
    m->sum->c = code_at(e, ANY_OR_POWER, EITHER, m->c, m->draw);
}

static void make_special(maker *m, size_t i) {
    make_near(m, i);
    if (below(m, 12) == 0) m->sum->a[i] = special_code(m->a, m->draw);
    if (below(m, 12) == 0) m->sum->b[i] = special_code(m->b, m->draw);
    if (i == 0 && below(m, 3) == 0) m->sum->c = special_code(m->c, m->draw);
}

/* Significands of ones and one sign: sums that carry, and at the top of the range overflow. */
static void make_carry(maker *m, size_t i) {
    const enum sign sign = (m->ea & 1 & m->a->is_signed) != 0 ? NEGATIVE : POSITIVE;
    const int top = m->eb & 1;
    const int ea = top ? greatest_exponent(m->a) : m->ea, eb = top ? greatest_exponent(m->b) : m->eb;
    m->sum->a[i] = code_at(ea, ONES, sign, m->a, m->draw);
    m->sum->b[i] = code_at(eb, below(m, 4) ? ONES : POWER, POSITIVE, m->b, m->draw);
    if (i == 0) m->sum->c = code_at(ea + eb + below(m, 4), ONES, sign, m->c, m->draw);
}

/* Zeros of both signs among numbers next to zero and other numbers. */
static void make_zero(maker *m, size_t i) {
    m->sum->a[i] = below(m, 8) == 0 ? low_code(m->a, m->draw) : encoded(below(m, 2) ? -0.0 : 0.0, m->a);
    m->sum->b[i] = below(m, 2) ? finite_code(m->b, m->draw) : encoded(below(m, 2) ? -0.0 : 0.0, m->b);
    if (i == 0) m->sum->c = below(m, 4) == 0 ? low_code(m->c, m->draw) : encoded(below(m, 2) ? -0.0 : 0.0, m->c);
}

/* ---- a sum ---- */

/* Mostly few products; else a block, a part of a block, or up to two blocks. */
static size_t choose_length(size_t block, vectors_draw *draw) {
    const uint32_t n = (uint32_t)block, i = vectors_below(draw, 16), few = n < 5 ? n : 5;
    if (i < 12) return 1 + vectors_below(draw, few);
    if (i < 14) return block;
    return i == 14 ? 1 + vectors_below(draw, n) : block + 1 + vectors_below(draw, n);
}

/* Scales near 1, or 1 where the exponents of terms count; in random sums any scale that is no NaN, in special sums any
 * code. */
static void make_scales(maker *m, uint64_t *scales, int kind) {
    format *f = &m->product->datapath.scale;
    for (size_t i = 0; i < m->sum->blocks; i++) {
        if (kind == 0) scales[i] = finite_code(f, m->draw);
        else if (kind == 4) scales[i] = code_at(0, POWER, POSITIVE, f, m->draw);
        else scales[i] = code_at(below(m, 9) - 4, ANY, POSITIVE, f, m->draw);
        if (kind == 5 && below(m, 4) == 0) scales[i] = any_code(f, m->draw);
    }
}

static void decode_all(double *to, const uint64_t *codes, size_t n, format *f) {
    for (size_t i = 0; i < n; i++) to[i] = ulp_decode(codes[i], f);
}

static double result_of(const vectors_sum *s, const vectors_product *p, double c) {
    double a[VECTORS_LONGEST], b[VECTORS_LONGEST], x[VECTORS_LONGEST], y[VECTORS_LONGEST];
    const ulp_products products = {a, b, s->k, s->blocks != 0 ? x : NULL, s->blocks != 0 ? y : NULL};
    decode_all(a, s->a, s->k, &p->a);
    decode_all(b, s->b, s->k, &p->b);
    decode_all(x, s->a_scales, s->blocks, &p->datapath.scale);
    decode_all(y, s->b_scales, s->blocks, &p->datapath.scale);
    return ulp_dot(&p->datapath, c, products, (ulp_stream){0});
}

ulp_status vectors_sum_make(vectors_sum *s, const vectors_product *p, uint64_t i, vectors_draw *draw) {
    static void (*const make[VECTORS_KIND_COUNT])(maker *, size_t) = {
        make_random, make_near, make_cancel, make_subnormal, make_edge, make_special, make_carry, make_zero};
    const ulp_datapath *d = &p->datapath;
    const int kind = (int)(i % VECTORS_KIND_COUNT);
    maker m = {s, p, &p->a, &p->b, &d->result, draw, 0, 0};
    m.ea = random_exponent(m.a, draw);
    m.eb = random_exponent(m.b, draw);
    s->k = choose_length(p->block, draw);
    s->blocks = d->scale_block != 0 ? (s->k + d->scale_block - 1) / d->scale_block : 0;
    for (size_t n = 0; n < s->k; n++) make[kind](&m, n);
    make_scales(&m, s->a_scales, kind);
    make_scales(&m, s->b_scales, kind);
    if (kind == 2 && below(&m, 2)) s->c = encoded(-result_of(s, p, 0.0), m.c); /* c takes back the products, too */
    return ulp_datapath_code(&s->result, result_of(s, p, ulp_decode(s->c, m.c)), d);
}
