/* sum.h - the step function of every datapath: the definition of a sum of products, for host and device.
 *
 * A caller starts a sum at c, adds `datapath->step` products at a time in the order of k (the last step may have
 * fewer), and ends the sum. The fields of the datapath define a step.
 */
#ifndef ULP_SUM_H
#define ULP_SUM_H

#include "formats/rng.h"
#include "chains.h"
#include "one_sided.h"
#include "wide_sum.h"

/* The state of a sum. */
typedef struct ulp_sum {
    double acc;       /* the partial sum, in the accumulator's format */
    double total;     /* c, plus the sums of complete chunks (CHUNKED) or the promoted sums (in binary32) */
    double error;     /* KAHAN: the error e, the excess of acc */
    double level[64]; /* PAIRWISE: left sums of 2^i products without their right part */
    uint64_t count;   /* number of products so far, since the last promotion or chunk */
    uint64_t index;   /* index of the next random word */
    ulp_wide wide;    /* EXACT; SERIAL and CHAINS with several products in an exact sum */
} ulp_sum;

ULP_FN double ulp_sum_round(ulp_sum *s, const ulp_datapath *d, ulp_exact x, ulp_stream stream) {
    uint32_t word = ulp_mode_is_stochastic(d->rule.mode) ? ulp_random_word(stream, s->index++) : 0;
    return ulp_round_exact(x, &d->accumulator, d->rule, word);
}

/* round(x + y) */
ULP_CALLED double ulp_sum_add(ulp_sum *s, const ulp_datapath *d, double x, double y, ulp_stream stream) {
    return ulp_sum_round(s, d, ulp_exact_add(ulp_exact_of(x), ulp_exact_of(y)), stream);
}

/* round(a b + c) */
ULP_CALLED double ulp_sum_fma(ulp_sum *s, const ulp_datapath *d, double a, double b, double c, ulp_stream stream) {
    return ulp_sum_round(s, d, ulp_exact_fma(ulp_exact_of(a), ulp_exact_of(b), ulp_exact_of(c)), stream);
}

ULP_FN double ulp_sum_product(ulp_sum *s, const ulp_datapath *d, double a, double b, ulp_stream stream) {
    return ulp_sum_round(s, d, ulp_exact_mul(ulp_exact_of(a), ulp_exact_of(b)), stream);
}

/* Starts a sum at c. `index` is the first random word, counted from stream.first. */
ULP_FN void ulp_sum_start(ulp_sum *s, const ulp_datapath *d, double c, uint64_t index) {
    const int32_t outside = d->promote != 0 || d->kind == ULP_CHUNKED || d->kind == ULP_PAIRWISE; /* c is added later */
    s->acc = outside ? 0.0 : c;
    s->total = c;
    s->error = 0.0;
    s->count = 0;
    s->index = index;
    if (d->kind == ULP_EXACT) {
        ulp_wide_clear(&s->wide);
        ulp_wide_add(&s->wide, s->acc, 1.0);
    }
}

/* acc <- round(acc + the exact sum of n products) */
ULP_FN double ulp_sum_several(ulp_sum *s, const ulp_datapath *d, const double *a, const double *b, uint32_t n,
                              ulp_stream stream) {
    if (n == 1) return ulp_sum_fma(s, d, a[0] - d->zero_a, b[0] - d->zero_b, s->acc, stream);
    ulp_wide_clear(&s->wide);
    ulp_wide_add(&s->wide, s->acc, 1.0);
    for (uint32_t i = 0; i < n; i++) ulp_wide_add(&s->wide, a[i] - d->zero_a, b[i] - d->zero_b);
    return ulp_sum_round(s, d, ulp_wide_exact(&s->wide), stream);
}

/* The sum of two products of 8-bit integers as an integer of 16 bits. */
ULP_FN double ulp_sum_pair(double sum, int32_t wraps) {
    if (wraps) return (double)(int32_t)(((uint32_t)(int32_t)sum + 0x8000u) & 0xffffu) - 32768.0;
    return sum > 32767.0 ? 32767.0 : (sum < -32768.0 ? -32768.0 : sum);
}

/* acc <- round(acc + the sums of the pairs of n products); the last pair may have one product */
ULP_FN double ulp_sum_pairs(ulp_sum *s, const ulp_datapath *d, const double *a, const double *b, uint32_t n,
                            ulp_stream stream) {
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i += 2)
        sum += ulp_sum_pair(a[i] * b[i] + (i + 1 < n ? a[i + 1] * b[i + 1] : 0.0), d->pairs_wrap);
    return ulp_sum_add(s, d, s->acc, sum, stream);
}

ULP_FN void ulp_sum_kahan(ulp_sum *s, const ulp_datapath *d, double a, double b, ulp_stream stream) {
    double y = ulp_sum_fma(s, d, a, b, -s->error, stream), t = ulp_sum_add(s, d, s->acc, y, stream);
    double change = ulp_sum_add(s, d, t, -s->acc, stream);
    s->error = ulp_sum_add(s, d, change, -y, stream);
    s->acc = t;
}

/* Adds a leaf to the tree. A partial sum joins an earlier partial sum of equal size at once. */
ULP_FN void ulp_sum_leaf(ulp_sum *s, const ulp_datapath *d, double a, double b, ulp_stream stream) {
    double x = ulp_sum_product(s, d, a, b, stream);
    uint32_t i = 0;
    for (; s->count >> i & 1u; i++) x = ulp_sum_add(s, d, s->level[i], x, stream);
    s->level[i] = x;
}

/* The sum of the tree's parts, latest part first, and of c. */
ULP_CALLED double ulp_sum_tree(ulp_sum *s, const ulp_datapath *d, ulp_stream stream) {
    const double start = d->promote != 0 ? 0.0 : s->total;
    double x = 0.0;
    int32_t any = 0;
    for (uint32_t i = 0; i < 64; i++) {
        if ((s->count >> i & 1u) == 0) continue;
        x = any ? ulp_sum_add(s, d, s->level[i], x, stream) : s->level[i];
        any = 1;
    }
    return any ? ulp_sum_add(s, d, start, x, stream) : start;
}

ULP_FN int32_t ulp_scales_hold_nan(const double *sa, const double *sb, uint32_t n) {
    int32_t yes = 0;
    for (uint32_t i = 0; i < n; i++) yes |= sa[i] != sa[i] || sb[i] != sb[i];
    return yes;
}

/* The fused sum of c and at most datapath->step products with block scales. */
ULP_CALLED double ulp_sum_scaled(const ulp_datapath *d, double c, const ulp_products *p) {
    double x[ULP_STEP_MAX], y[ULP_STEP_MAX]; /* one scale for each group */
    const uint32_t n = (uint32_t)p->k, size = d->fused.group ? d->fused.group : d->scale_block,
                   groups = (n + size - 1) / size;
    for (uint32_t g = 0; g < groups; g++) {
        x[g] = p->a_scales == NULL ? 1.0 : p->a_scales[g * size / d->scale_block];
        y[g] = p->b_scales == NULL ? 1.0 : p->b_scales[g * size / d->scale_block];
    }
    if (ulp_scales_hold_nan(x, y, groups)) return ulp_quiet_nan();
    const ulp_products by_group = {p->a, p->b, p->k, x, y};
    if (d->fused.group) return ulp_fused_groups(d, c, &by_group);
    const int32_t scale = ulp_term_of(x[0], 1, d->scale.emin).e + ulp_term_of(y[0], 1, d->scale.emin).e;
    return ulp_fused_sum(d, c, p->a, p->b, n, scale);
}

/* The fused sum of c and at most datapath->step products with their scales. */
ULP_FN double ulp_sum_fused(const ulp_datapath *d, double c, const ulp_products *p) {
    const uint32_t n = (uint32_t)p->k;
    if (d->fused.late) return ulp_fused_late(d, c, p->a, p->b, n);
    if (d->fused.join != 0) return ulp_one_sided_sum(d, c, p->a, p->b, n);
    if (d->fused.c_last) return ulp_fused_add(d, c, ulp_fused_sum(d, 0.0, p->a, p->b, n, 0));
    return d->scale_block == 0 ? ulp_fused_sum(d, c, p->a, p->b, n, 0) : ulp_sum_scaled(d, c, p);
}

/* Adds the partial sum to the total and starts the next partial sum. */
ULP_FN void ulp_sum_hand_over(ulp_sum *s, const ulp_datapath *d, ulp_stream stream) {
    if (d->promote != 0) {
        double partial = s->acc;
        if (d->kind == ULP_PAIRWISE) partial = ulp_sum_tree(s, d, stream);
        if (d->kind == ULP_EXACT) partial = ulp_sum_round(s, d, ulp_wide_exact(&s->wide), stream);
        uint64_t index = s->index;
        s->total = (double)((float)s->total + (float)partial); /* binary32 values: the addition rounds once */
        double total = s->total;
        ulp_sum_start(s, d, 0.0, index);
        s->total = total;
    } else if (d->kind == ULP_CHUNKED) {
        s->total = ulp_sum_add(s, d, s->total, s->acc, stream);
        s->acc = 0.0;
        s->count = 0;
    }
}

/* Adds the next products: datapath->step products, or fewer at the end. */
ULP_FN void ulp_sum_step(ulp_sum *s, const ulp_datapath *d, const ulp_products *next, ulp_stream stream) {
    const double *a = next->a, *b = next->b;
    const uint32_t n = (uint32_t)next->k;
    switch (d->kind) {
    case ULP_SERIAL: s->acc = ulp_sum_several(s, d, a, b, n, stream); break;
    case ULP_PAIRS: s->acc = ulp_sum_pairs(s, d, a, b, n, stream); break;
    case ULP_SPLIT: s->acc = ulp_sum_add(s, d, s->acc, ulp_sum_product(s, d, a[0], b[0], stream), stream); break;
    case ULP_CHUNKED: s->acc = ulp_sum_fma(s, d, a[0], b[0], s->acc, stream); break;
    case ULP_PAIRWISE: ulp_sum_leaf(s, d, a[0], b[0], stream); break;
    case ULP_KAHAN: ulp_sum_kahan(s, d, a[0], b[0], stream); break;
    case ULP_EXACT: ulp_wide_add(&s->wide, a[0], b[0]); break;
    case ULP_ALIGNED: s->acc = ulp_sum_fused(d, s->acc, next); break;
    case ULP_CHAINS: s->acc = ulp_chains_sum(d, s->acc, a, b, n, s->count == 0, &s->wide); break;
    default: break;
    }
    s->count += n;
    if (s->count == d->promote || (d->kind == ULP_CHUNKED && s->count == d->length)) ulp_sum_hand_over(s, d, stream);
}

/* The result, a value of datapath->result. */
ULP_FN double ulp_sum_end(ulp_sum *s, const ulp_datapath *d, ulp_stream stream) {
    const int32_t outer = d->promote != 0 || d->kind == ULP_CHUNKED;
    if (outer) {
        if (s->count != 0) ulp_sum_hand_over(s, d, stream);
        return s->total == s->total ? s->total : ulp_quiet_nan();
    }
    if (d->kind == ULP_PAIRWISE) return ulp_sum_tree(s, d, stream);
    return d->kind == ULP_EXACT ? ulp_sum_round(s, d, ulp_wide_exact(&s->wide), stream) : s->acc;
}

#endif
