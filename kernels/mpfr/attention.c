/* attention.c - the backend "mpfr": the softmax of scores over keys, whole and in blocks of keys, and its slope.
 *
 * A second text of the definition in the head comment of kernels/functions/attention.h: it asks of every key whether
 * the query sees it. The powers are those of functions.c, with ldexp for the whole part; MPFR rounds the other
 * operations: in binary64, or in the format of the sums of a block.
 */
#include "operations.h"
#include "steps.h"
#include "words.h"

#include <math.h>

/* The arrays of an operation; each operation uses those that it needs. */
typedef struct work {
    double *to;
    float *carried;
    const float *s, *p, *other;
    const ulp_scores *by;
    ulp_rounding rounding;
    double scale;
} work;

static ulp_status run(work w, void (*body)(const void *arrays, ulp_reference *ref, size_t row)) {
    return ulp_mpfr_each(w.by->rows, 1, &ulp_binary64, &w, body);
}

/* The last query sees all keys, and each query before it one key fewer. */
static int sees(const ulp_scores *by, size_t row, size_t key) {
    return !by->causal || key + by->queries - row % by->queries <= by->keys;
}

/* e^x or 2^x. 2^1100 is infinite, and 2^-1200 is +0. */
static double power(const ulp_scores *by, double x) {
    if (!by->base2) return ulp_mpfr_exp(x);
    if (isnan(x)) return NAN;
    const double near = fmax(fmin(x, 1100.0), -1200.0), whole = nearbyint(near);
    return ldexp(ulp_mpfr_exp((near - whole) * 0x1.62e42fefa39efp-1), (int)whole);
}

static double larger(double most, double score) {
    return isnan(most) || isnan(score) ? (double)NAN : score > most ? score : most;
}

/* ---- whole rows ---- */

static void softmax(const void *arrays, ulp_reference *ref, size_t row) {
    const work *w = arrays;
    const size_t keys = w->by->keys;
    const float *s = w->s + row * keys;
    double largest = -(double)INFINITY, sum = 0.0, *p = w->to + row * keys;
    for (size_t j = 0; j < keys; j++)
        if (sees(w->by, row, j)) largest = larger(largest, (double)s[j]);
    for (size_t j = 0; j < keys; j++) {
        p[j] = 0.0;
        if (!sees(w->by, row, j)) continue;
        p[j] = power(w->by, ulp_mpfr_minus(ref, (double)s[j], largest));
        sum = ulp_mpfr_plus(ref, sum, p[j]);
    }
    for (size_t j = 0; j < keys; j++)
        if (sees(w->by, row, j)) p[j] = ulp_mpfr_over(ref, p[j], sum);
}

ulp_status ulp_mpfr_attention_softmax(double *p, const float *s, const ulp_scores *by) {
    return run((work){.to = p, .s = s, .by = by}, softmax);
}

static void slope(const void *arrays, ulp_reference *ref, size_t row) {
    const work *w = arrays;
    const size_t keys = w->by->keys;
    const float *p = w->p + row * keys, *dp = w->s + row * keys;
    double d = 0.0;
    for (size_t j = 0; j < keys; j++) d = ulp_mpfr_plus(ref, d, ulp_mpfr_times(ref, (double)p[j], (double)dp[j]));
    if (w->other != NULL) d = (double)w->other[row];
    for (size_t j = 0; j < keys; j++) {
        const double part = ulp_mpfr_times(ref, (double)p[j], ulp_mpfr_minus(ref, (double)dp[j], d));
        w->to[row * keys + j] = ulp_mpfr_times(ref, part, w->scale);
    }
}

ulp_status ulp_mpfr_attention_slope(double *ds, const float *p, const float *dp, const float *d, const ulp_scores *by,
                                    double scale) {
    return run((work){.to = ds, .p = p, .s = dp, .other = d, .by = by, .scale = scale}, slope);
}

/* ---- blocks of keys ---- */

static double shift_of(const ulp_scores *by, ulp_reference *ref, double maximum) {
    const double larger_one = ulp_mpfr_times(ref, (double)by->beta, maximum);
    return isnan(maximum) || maximum > 0.0 ? larger_one : by->beta == 1.0f ? maximum : 0.0;
}

static void maxima(const void *arrays, ulp_reference *ref, size_t row) {
    const work *w = arrays;
    const ulp_scores *by = w->by;
    const double before = (double)w->carried[row];
    double after = before, factor = 1.0;
    for (size_t j = by->from; j < by->to; j++)
        if (sees(by, row, j)) after = larger(after, (double)w->s[row * by->keys + j]);
    if (by->whole_maxima && fabs(after) < 2147483648.0) after = ceil(after) + 0.0; /* never -0 */
    if (before != after) {
        const double way = ulp_mpfr_minus(ref, shift_of(by, ref, before), shift_of(by, ref, after));
        factor = power(by, way);
    }
    w->to[row] = factor;
    w->carried[row] = (float)after;
}

ulp_status ulp_mpfr_softmax_maxima(float *maximum, double *factor, const float *s, const ulp_scores *by) {
    return run((work){.carried = maximum, .to = factor, .s = s, .by = by}, maxima);
}

static void block(const void *arrays, ulp_reference *ref, size_t row) {
    const work *w = arrays;
    const ulp_scores *by = w->by;
    const double shift = shift_of(by, ref, (double)w->other[row]);
    for (size_t j = by->from; j < by->to; j++) {
        double weight = 0.0;
        if (sees(by, row, j)) {
            weight = power(by, ulp_mpfr_minus(ref, (double)w->s[row * by->keys + j], shift));
            if (w->p != NULL) weight = ulp_mpfr_over(ref, weight, (double)w->p[row]);
        }
        w->to[row * (by->to - by->from) + j - by->from] = weight;
    }
}

ulp_status ulp_mpfr_softmax_block(double *p, const float *s, const float *maximum, const float *sum,
                                  const ulp_scores *by) {
    return run((work){.to = p, .s = s, .other = maximum, .p = sum, .by = by}, block);
}

/* Word `at` of a row belongs to key `at`; after those of its keys it has one for the product before each key. */
static double rounded(const work *w, ulp_reference *ref, ulp_scalar_op op, size_t row, size_t at) {
    const ulp_rule rule = w->rounding.rule;
    const uint64_t index = (uint64_t)row * 2 * w->by->keys + at;
    const uint32_t word = ulp_mode_is_stochastic(rule.mode) ? ulp_mpfr_word(w->rounding.stream, index) : 0;
    return ulp_reference_arith(ref, op, rule, word);
}

static void sums(const void *arrays, ulp_reference *ref, size_t row) {
    const work *w = arrays;
    const ulp_scores *by = w->by;
    const ulp_scalar_op product = {ULP_MUL, (double)w->carried[row], (double)w->other[row], 0.0};
    double sum = rounded(w, ref, product, row, by->keys + by->from);
    for (size_t j = by->from; j < by->to; j++) {
        const double weight = (double)w->p[row * (by->to - by->from) + j - by->from];
        sum = rounded(w, ref, (ulp_scalar_op){ULP_ADD, sum, weight, 0.0}, row, j);
    }
    w->carried[row] = (float)sum;
}

ulp_status ulp_mpfr_softmax_sums(float *sum, const float *p, const float *factor, const ulp_scores *by,
                                 ulp_rounding rounding) {
    const work w = {.carried = sum, .p = p, .other = factor, .by = by, .rounding = rounding};
    return ulp_mpfr_each(by->rows, 1, rounding.format, &w, sums);
}
