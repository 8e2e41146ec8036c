/* dot.c - whole sums of products: steps, chunks, promotions, and the datapaths without an instruction; see dot.h. */
#include "dot.h"

#include <math.h>
#include <string.h>

/* The smallest normal number of a format, 0 without memory. */
static double least_of(const ulp_format *format) {
    ulp_reference *ref = ulp_reference_new(format);
    const double least = ref != NULL ? ulp_reference_min_normal(ref) : 0.0;
    ulp_reference_free(ref);
    return least;
}

static int emin_of(const ulp_format *format) { return ilogb(least_of(format)); }

/* The format whose values a unit rounds sums to: the accumulator with kept + 1 bits of precision. */
static ulp_format result_of(const ulp_datapath *d) {
    ulp_format f = d->accumulator;
    f.bits = (uint8_t)(f.bits - f.prec + d->fused.kept + 1);
    f.prec = (uint8_t)(d->fused.kept + 1);
    return f;
}

static void open_aligned(ulp_mpfr_dots *s, const ulp_datapath *d) {
    const ulp_format result = result_of(d);
    s->result = ulp_reference_new(&result);
    s->a_emin = d->fused.late ? -14 : emin_of(&d->a); /* the unit takes operands as numbers of binary16 */
    s->b_emin = d->fused.late ? -14 : emin_of(&d->b);
    s->c_emin = emin_of(&d->accumulator);
    if (d->scale_block != 0) s->scale_emin = emin_of(&d->scale);
}

/* The format in which the sums of parts are added: binary64 for results that are no values of binary32. */
static ulp_reference *total_of(const ulp_datapath *d) {
    return ulp_reference_new(d->result.fits_binary32 ? &ulp_binary32 : &ulp_binary64);
}

/* The integers of 16 bits: the accumulator's with fewer bits. */
static ulp_reference *integers_of_16(const ulp_datapath *d) {
    ulp_format f = d->accumulator;
    f.bits = f.prec = 16;
    return ulp_reference_new(&f);
}

ulp_status ulp_mpfr_dots_open(ulp_mpfr_dots *s, const ulp_datapath *d) {
    memset(s, 0, sizeof *s);
    s->datapath = d;
    mpz_inits(s->total, s->aligned, (mpz_ptr)0);
    ulp_mpfr_sum_open(&s->exact);
    if (d->kind == ULP_NATIVE || d->words != 0) return ULP_UNSUPPORTED;
    s->accumulator = ulp_reference_new(&d->accumulator);
    s->single = ulp_reference_new(&d->result);
    if (d->split_k != 0) s->part = ulp_reference_new(&d->split_k_format), s->parts = total_of(d);
    if (d->kind == ULP_PAIRS) s->pair = integers_of_16(d);
    if (d->kind == ULP_ALIGNED) open_aligned(s, d);
    if (d->kind == ULP_CHAINS) s->a_least = least_of(&d->a), s->b_least = least_of(&d->b);
    const int whole = s->accumulator != NULL && s->single != NULL && (d->kind != ULP_ALIGNED || s->result != NULL) &&
                      (d->kind != ULP_PAIRS || s->pair != NULL) &&
                      (d->split_k == 0 || (s->part != NULL && s->parts != NULL));
    return whole ? ULP_OK : ULP_NO_MEMORY;
}

void ulp_mpfr_dots_close(ulp_mpfr_dots *s) {
    ulp_mpfr_sum_close(&s->exact);
    mpz_clears(s->total, s->aligned, (mpz_ptr)0);
    ulp_reference_free(s->accumulator);
    ulp_reference_free(s->single);
    ulp_reference_free(s->result);
    ulp_reference_free(s->pair);
    ulp_reference_free(s->part);
    ulp_reference_free(s->parts);
}

/* ---- roundings to the accumulator, each with its random word ---- */

static uint32_t take_word(ulp_mpfr_dots *s) {
    const uint64_t i = s->used++;
    return ulp_mode_is_stochastic(s->datapath->rule.mode) ? ulp_mpfr_word(s->stream, i) : 0;
}

/* c + the products a b, exact, rounded once. */
static double exact_sum(ulp_mpfr_dots *s, double c, const double *a, const double *b, size_t n) {
    const ulp_datapath *d = s->datapath;
    ulp_mpfr_sum_clear(&s->exact);
    ulp_mpfr_sum_add(&s->exact, c, 1.0);
    for (size_t i = 0; i < n; i++) ulp_mpfr_sum_add(&s->exact, a[i] - d->zero_a, b[i] - d->zero_b);
    return ulp_mpfr_sum_round(&s->exact, s->accumulator, d->rule, take_word(s));
}

static double product(ulp_mpfr_dots *s, double a, double b) {
    ulp_mpfr_sum_clear(&s->exact);
    ulp_mpfr_sum_add(&s->exact, a, b);
    return ulp_mpfr_sum_round(&s->exact, s->accumulator, s->datapath->rule, take_word(s));
}

static double sum(ulp_mpfr_dots *s, double x, double y) {
    const double one = 1.0;
    ulp_mpfr_sum_clear(&s->exact);
    ulp_mpfr_sum_add(&s->exact, x, one);
    ulp_mpfr_sum_add(&s->exact, y, one);
    return ulp_mpfr_sum_round(&s->exact, s->accumulator, s->datapath->rule, take_word(s));
}

/* ---- the datapaths ---- */

static double split(ulp_mpfr_dots *s, double c, const ulp_products *p) {
    for (size_t i = 0; i < p->k; i++) {
        const double rounded = product(s, p->a[i], p->b[i]);
        c = sum(s, c, rounded);
    }
    return c;
}

static double kahan(ulp_mpfr_dots *s, double c, const ulp_products *p) {
    double error = 0.0;
    for (size_t i = 0; i < p->k; i++) {
        const double y = exact_sum(s, -error, p->a + i, p->b + i, 1), t = sum(s, c, y), gained = sum(s, t, -c);
        error = sum(s, gained, -y);
        c = t;
    }
    return c;
}

/* Steps of `length` products, each exact with the sum so far and rounded once. */
static double serial(ulp_mpfr_dots *s, double c, const ulp_products *p, size_t length) {
    for (size_t i = 0; i < p->k; i += length)
        c = exact_sum(s, c, p->a + i, p->b + i, p->k - i < length ? p->k - i : length);
    return c;
}

/* Every two products are an integer of 16 bits, which clamps or wraps; the instruction's integers are added exactly. */
static double pairs(ulp_mpfr_dots *s, double c, const ulp_products *p) {
    const ulp_datapath *d = s->datapath;
    const ulp_rule to_sixteen = {ULP_RNE, (uint8_t)(d->pairs_wrap ? ULP_OVERFLOW_WRAP : ULP_OVERFLOW_SAT), 0};
    for (size_t i = 0; i < p->k; i += d->length) {
        double term[1 + ULP_STEP_MAX / 2] = {c};
        size_t terms = 1;
        for (size_t k = i; k < p->k && k < i + d->length; k += 2) {
            ulp_mpfr_sum_clear(&s->exact);
            ulp_mpfr_sum_add(&s->exact, p->a[k], p->b[k]);
            if (k + 1 < p->k) ulp_mpfr_sum_add(&s->exact, p->a[k + 1], p->b[k + 1]);
            term[terms++] = ulp_mpfr_sum_round(&s->exact, s->pair, to_sixteen, 0);
        }
        ulp_mpfr_sum_clear(&s->exact);
        for (size_t t = 0; t < terms; t++) ulp_mpfr_sum_add(&s->exact, term[t], 1.0);
        c = ulp_mpfr_sum_round(&s->exact, s->accumulator, d->rule, take_word(s));
    }
    return c;
}

/* The tree of n > 0 products: the left child is the largest power of two below n. The words of a child come before
 * those of its parent, and the left child comes first. */
static double tree(ulp_mpfr_dots *s, const double *a, const double *b, size_t n) {
    size_t left = 1;
    if (n == 1) return product(s, a[0], b[0]);
    while (2 * left < n) left *= 2;
    const double x = tree(s, a, b, left), y = tree(s, a + left, b + left, n - left);
    return sum(s, x, y);
}

static double pairwise(ulp_mpfr_dots *s, double c, const ulp_products *p) {
    if (p->k == 0) return c;
    const double x = tree(s, p->a, p->b, p->k);
    return sum(s, c, x);
}

/* The products of an instruction; of the sums without instructions, the products of one rounding. */
static size_t instruction_of(const ulp_datapath *d) {
    if (d->kind == ULP_CHAINS) return d->chains.length;
    if (d->kind == ULP_ALIGNED) return (size_t)d->fused.length * (d->fused.late ? 2 : 1);
    return d->kind == ULP_SERIAL || d->kind == ULP_PAIRS ? d->length : 1;
}

/* Instructions of at most datapath->step products each. */
static double instructions(ulp_mpfr_dots *s, double c, const ulp_products *p) {
    const ulp_datapath *d = s->datapath;
    const size_t length = instruction_of(d);
    for (size_t i = 0; i < p->k; i += length) {
        const size_t n = p->k - i < length ? p->k - i : length;
        ulp_products next = {p->a + i, p->b + i, n, NULL, NULL};
        if (p->a_scales != NULL) next.a_scales = p->a_scales + i / d->scale_block;
        if (p->b_scales != NULL) next.b_scales = p->b_scales + i / d->scale_block;
        c = d->kind == ULP_CHAINS ? ulp_mpfr_chains(s, c, &next, i == 0) : ulp_mpfr_fused(s, c, &next);
    }
    return c;
}

/* A sum without promotion. */
static double plain(ulp_mpfr_dots *s, double c, const ulp_products *p) {
    const ulp_datapath *d = s->datapath;
    switch ((ulp_datapath_kind)d->kind) {
    case ULP_SERIAL: return serial(s, c, p, d->length);
    case ULP_PAIRS: return pairs(s, c, p);
    case ULP_SPLIT: return split(s, c, p);
    case ULP_PAIRWISE: return pairwise(s, c, p);
    case ULP_KAHAN: return kahan(s, c, p);
    case ULP_EXACT: return exact_sum(s, c, p->a, p->b, p->k);
    case ULP_ALIGNED:
    case ULP_CHAINS: return instructions(s, c, p);
    case ULP_CHUNKED:
        for (size_t i = 0; i < p->k; i += d->length) {
            const ulp_products chunk = {p->a + i, p->b + i, p->k - i < d->length ? p->k - i : d->length, NULL, NULL};
            const double part = serial(s, 0.0, &chunk, 1);
            c = sum(s, c, part);
        }
        return c;
    case ULP_NATIVE: break;
    }
    return NAN;
}

/* Products `first` to `end` - 1 of a sum, from the first product of a block of scales. */
static ulp_products some_of(const ulp_datapath *d, const ulp_products *p, size_t first, size_t end) {
    const size_t per = d->scale_block != 0 ? d->scale_block : 1;
    ulp_products some = {p->a + first, p->b + first, (end < p->k ? end : p->k) - first, NULL, NULL};
    if (p->a_scales != NULL) some.a_scales = p->a_scales + first / per;
    if (p->b_scales != NULL) some.b_scales = p->b_scales + first / per;
    return some;
}

/* A sum with its promotions. */
static double whole(ulp_mpfr_dots *s, double c, const ulp_products *p) {
    const ulp_datapath *d = s->datapath;
    if (d->promote == 0) return plain(s, c, p);
    for (size_t i = 0; i < p->k; i += d->promote) {
        const ulp_products part = some_of(d, p, i, i + d->promote);
        const ulp_scalar_op add = {ULP_ADD, c, plain(s, 0.0, &part), 0.0};
        c = ulp_reference_arith(s->single, add, (ulp_rule){0}, 0);
    }
    return c;
}

/* split_k parts of ceil(instructions / split_k) instructions: each part rounded, added to the parts before, last c. */
static double parts(ulp_mpfr_dots *s, double c, const ulp_products *p) {
    const ulp_datapath *d = s->datapath;
    const size_t one = instruction_of(d), all = (p->k + one - 1) / one, most = (all + d->split_k - 1) / d->split_k;
    const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0};
    ulp_scalar_op add = {ULP_ADD, 0.0, 0.0, 0.0};
    for (size_t first = 0; first < p->k; first += most * one) {
        const ulp_products some = some_of(d, p, first, first + most * one);
        add.b = ulp_reference_round(s->part, whole(s, 0.0, &some), 0.0, nearest, 0);
        add.a = ulp_reference_arith(s->parts, add, nearest, 0);
    }
    add.b = c;
    return ulp_reference_round(s->single, ulp_reference_arith(s->parts, add, nearest, 0), 0.0, nearest, 0);
}

double ulp_mpfr_dot(ulp_mpfr_dots *s, double c, const ulp_products *p, ulp_stream stream) {
    s->stream = stream;
    s->used = 0;
    const double y = s->datapath->split_k != 0 ? parts(s, c, p) : whole(s, c, p);
    return isnan(y) ? NAN : y;
}
