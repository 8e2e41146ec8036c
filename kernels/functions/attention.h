/* attention.h - the softmax of scores over keys, whole or in blocks of keys, and its slope: one definition for every
 * backend.
 *
 * Vaswani et al. 2017, arXiv:1706.03762. Row r of the scores s (rows,keys) belongs to query r mod queries. Under a
 * causal mask a query sees the keys up to its own place: with as many keys as queries, keys 0 .. query. Other keys have
 * the weight +0. Sums run over the keys in ascending order from +0. f(x) is e^x, or 2^x for base 2. Every operation
 * rounds to nearest even in binary64, and the callers round the results:
 *
 *   p = f(s - largest) / sum f(s - largest)              ds = (p (dp - D)) scale, D = sum p dp
 *
 * In blocks of keys (Milakov and Gimelshein 2018, arXiv:1805.02867; Dao et al. 2022, arXiv:2205.14135), for each block:
 *
 *   m' = max(m, largest of the block), or the next integer upward; factor = f(shift(m) - shift(m'))
 *   p = f(s - shift(m'))[/ sum]   sum <- r(sum factor), then sum <- r(sum + p), key by key
 *
 * r() is the rounding of a call. m begins at -Inf. shift(m) = beta m for m > 0; for other m it is m if beta = 1, else 0
 * (Qiu and Yao 2025, arXiv:2510.04212). With base 2, integer maxima and a whole beta every factor is a power of two,
 * and exact.
 */
#ifndef ULP_ATTENTION_H
#define ULP_ATTENTION_H

#include "lanes.h"
#include "tokens.h"

ULP_C_BEGIN

#define ULP_LN2 0x1.62e42fefa39efp-1

/* Rows of scores (rows,keys), and the block of keys from, ..., to - 1 that a call takes. */
typedef struct ulp_scores {
    size_t rows, queries, keys;
    size_t from, to;
    uint8_t causal, base2, whole_maxima; /* whole_maxima: maxima are integers */
    float beta;                          /* 1: no shift but the maximum */
} ulp_scores;

/* The number of keys that row r sees. */
ULP_CORE size_t ulp_scores_seen(const ulp_scores *s, size_t r) {
    const size_t after = s->queries - 1 - r % s->queries; /* queries behind this one */
    return !s->causal ? s->keys : s->keys > after ? s->keys - after : 0;
}

/* 2^x: the whole part of x is exact. */
ULP_CORE double ulp_exp2_lane(double x) {
    double c = x < 1100.0 ? x : 1100.0; /* also for NaN */
    c = c > -1200.0 ? c : -1200.0;
    const double t = c + ULP_TO_INTEGER, k = t - ULP_TO_INTEGER, y = ulp_exp_lane((c - k) * ULP_LN2);
    const uint64_t whole = ulp_bits64(t) - ulp_bits64(ULP_TO_INTEGER), half = ((whole + 4096u) >> 1) - 2048u;
    const double scaled = y * ulp_from_bits64((half + 1023u) << 52) * ulp_from_bits64((whole - half + 1023u) << 52);
    return ulp_choose((uint64_t)(x != x), x, scaled);
}

ULP_CORE double ulp_scores_f(const ulp_scores *s, double x) { return s->base2 ? ulp_exp2_lane(x) : ulp_exp_lane(x); }

/* The larger of two; NaN if one of them is NaN. */
ULP_CORE double ulp_larger_score(double most, double x) { return ((x > most) | (x != x)) ? x : most; }

/* The largest of `most` and of the elements from, ..., to - 1 of s. NaN if any of them is NaN. */
ULP_CORE double ulp_scores_largest(double most, const float *s, size_t from, size_t to) {
    for (size_t j = from; j < to; j++) most = most == most ? ulp_larger_score(most, (double)s[j]) : most;
    return most;
}

/* The least integer that is not below x, for |x| < 2^31; other x stay. */
ULP_CORE double ulp_next_whole(double x) {
    const double near = x + ULP_TO_INTEGER - ULP_TO_INTEGER;
    const int inside = x > -2147483648.0 && x < 2147483648.0;
    return inside ? (near < x ? near + 1.0 : near) : x;
}

ULP_CORE double ulp_scores_shift(const ulp_scores *s, double m) {
    return m > 0.0 || s->beta == 1.0f || m != m ? (double)s->beta * m : 0.0;
}

/* The new maximum of row r after the block. */
ULP_CORE double ulp_scores_maximum(const ulp_scores *s, double before, const float *row, size_t r) {
    const size_t seen = ulp_scores_seen(s, r), to = s->to < seen ? s->to : seen;
    const double most = ulp_scores_largest(before, row, s->from, to);
    return s->whole_maxima ? ulp_next_whole(most) : most;
}

/* The factor of what a row holds, when its maximum changes. */
ULP_CORE double ulp_scores_factor(const ulp_scores *s, double before, double after) {
    return before == after ? 1.0
                           : ulp_quieted(ulp_scores_f(s, ulp_scores_shift(s, before) - ulp_scores_shift(s, after)));
}

/* The words of a row for the sums of its blocks: of the sums themselves, then of the products with factors. */
ULP_CORE uint64_t ulp_scores_words(const ulp_scores *s) { return 2 * (uint64_t)s->keys; }

/* The sum of row r after the block, whose weights are p (to - from). steps->at is not used. */
ULP_FN double ulp_scores_sum(const ulp_scores *s, double sum, double factor, const float *p, size_t r,
                             ulp_rounded_steps *steps) {
    const uint64_t first = (uint64_t)r * ulp_scores_words(s);
    steps->at = first + s->keys + s->from;
    sum = ulp_rounded_step(steps, ULP_MUL, sum, factor);
    steps->at = first + s->from;
    for (size_t j = 0; j < s->to - s->from; j++) sum = ulp_rounded_step(steps, ULP_ADD, sum, (double)p[j]);
    return sum;
}

/* The sum D of a row. */
ULP_CORE double ulp_scores_dot(const float *p, const float *dp, size_t keys) {
    double d = 0.0;
    for (size_t j = 0; j < keys; j++) d += (double)p[j] * (double)dp[j];
    return d;
}

ULP_CORE double ulp_scores_slope(float p, float dp, double d, double scale) {
    return ulp_quieted((double)p * ((double)dp - d) * scale);
}

ULP_C_END
#endif
