/* attention.c - the softmax of scores over keys, whole and in blocks of keys, its slope, and batches of products. */
#include "kernels/cpu/cpu.h"

/* The arrays of an operation; each operation uses those that it needs. */
typedef struct work {
    double *to;
    float *sum;
    const float *s, *p, *other; /* p: of softmax_block the sums of the rows, or NULL */
    const ulp_scores *by;
    ulp_rounding rounding;
    double scale;
} work;

static ulp_status run(work w, void (*part)(void *context, size_t begin, size_t end)) {
    ulp_parallel_for(w.by->rows, ULP_PIECE / (w.by->keys + 1) + 1, part, &w);
    return ULP_OK;
}

/* y (n) = f(x - shift). The function is a constant in each instance. */
ULP_INLINE void powers(double *y, const float *x, size_t n, double shift, int base2) {
    if (base2)
        for (size_t j = 0; j < n; j++) y[j] = ulp_exp2_lane((double)x[j] - shift);
    else
        for (size_t j = 0; j < n; j++) y[j] = ulp_exp_lane((double)x[j] - shift);
}

static void softmax_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_scores *by = w->by;
    for (size_t r = begin; r < end; r++) {
        const size_t seen = ulp_scores_seen(by, r);
        const float *s = w->s + r * by->keys;
        double *p = w->to + r * by->keys;
        const double largest = ulp_scores_largest(-(double)INFINITY, s, 0, seen);
        powers(p, s, seen, largest, by->base2);
        const double sum = ulp_softmax_sum(p, seen);
        for (size_t j = 0; j < seen; j++) p[j] = ulp_quieted(p[j] / sum);
        for (size_t j = seen; j < by->keys; j++) p[j] = 0.0;
    }
}

ulp_status ULP_CPU(ulp_cpu_attention_softmax)(double *p, const float *s, const ulp_scores *by) {
    return run((work){.to = p, .s = s, .by = by}, softmax_part);
}

static void slope_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t keys = w->by->keys;
    for (size_t r = begin; r < end; r++) {
        const float *p = w->p + r * keys, *dp = w->s + r * keys;
        const double d = w->other ? (double)w->other[r] : ulp_scores_dot(p, dp, keys);
        for (size_t j = 0; j < keys; j++) w->to[r * keys + j] = ulp_scores_slope(p[j], dp[j], d, w->scale);
    }
}

ulp_status ULP_CPU(ulp_cpu_attention_slope)(double *ds, const float *p, const float *dp, const float *d,
                                            const ulp_scores *by, double scale) {
    return run((work){.to = ds, .p = p, .s = dp, .other = d, .by = by, .scale = scale}, slope_part);
}

/* ---- blocks of keys ---- */

static void maxima_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t r = begin; r < end; r++) {
        const double before = (double)w->sum[r], after = ulp_scores_maximum(w->by, before, w->s + r * w->by->keys, r);
        w->to[r] = ulp_scores_factor(w->by, before, after);
        w->sum[r] = (float)after; /* exact: a score, or an integer below 2^31 next to one */
    }
}

ulp_status ULP_CPU(ulp_cpu_softmax_maxima)(float *maximum, double *factor, const float *s, const ulp_scores *by) {
    return run((work){.sum = maximum, .to = factor, .s = s, .by = by}, maxima_part);
}

static void block_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_scores *by = w->by;
    const size_t width = by->to - by->from;
    for (size_t r = begin; r < end; r++) {
        const size_t seen = ulp_scores_seen(by, r), to = by->to < seen ? by->to : seen;
        const size_t n = to > by->from ? to - by->from : 0;
        double *p = w->to + r * width;
        powers(p, w->s + r * by->keys + by->from, n, ulp_scores_shift(by, (double)w->other[r]), by->base2);
        if (w->p)
            for (size_t j = 0; j < n; j++) p[j] = p[j] / (double)w->p[r];
        for (size_t j = 0; j < n; j++) p[j] = ulp_quieted(p[j]);
        for (size_t j = n; j < width; j++) p[j] = 0.0;
    }
}

ulp_status ULP_CPU(ulp_cpu_softmax_block)(double *p, const float *s, const float *maximum, const float *sum,
                                          const ulp_scores *by) {
    return run((work){.to = p, .s = s, .other = maximum, .p = sum, .by = by}, block_part);
}

static void sums_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const ulp_scores *by = w->by;
    ulp_rounded_steps steps = {w->rounding.format, w->rounding.rule, w->rounding.stream, 0};
    for (size_t r = begin; r < end; r++)
        w->sum[r] = (float)ulp_scores_sum(by, (double)w->sum[r], (double)w->other[r], w->p + r * (by->to - by->from), r,
                                          &steps);
}

ulp_status ULP_CPU(ulp_cpu_softmax_sums)(float *sum, const float *p, const float *factor, const ulp_scores *by,
                                         ulp_rounding rounding) {
    return run((work){.sum = sum, .p = p, .other = factor, .by = by, .rounding = rounding}, sums_part);
}

/* ---- batches of products: a thread forms whole products ---- */

typedef struct batch_work {
    float *c;
    const float *a, *b;
    const ulp_gemm_batch *batch;
    ulp_summation summation;
    ulp_status status; /* of all threads */
} batch_work;

static void batch_part(void *context, size_t begin, size_t end) {
    batch_work *w = context;
    const ulp_gemm_batch *of = w->batch;
    const uint64_t words = of->shape.m * of->shape.n * ulp_datapath_words(w->summation.datapath, of->shape.k);
    for (size_t k = begin; k < end; k++) {
        const size_t o = k / of->inner, i = k % of->inner;
        ulp_summation own = w->summation;
        own.stream.first += k * words;
        const ulp_status status = ULP_CPU(ulp_cpu_gemm)(
            w->c + o * of->c_stride[0] + i * of->c_stride[1], w->a + o * of->a_stride[0] + i * of->a_stride[1],
            w->b + o * of->b_stride[0] + i / of->b_share * of->b_stride[1], &of->shape, own);
        if (status != ULP_OK) __atomic_store_n((int *)&w->status, (int)status, __ATOMIC_RELAXED);
    }
}

ulp_status ULP_CPU(ulp_cpu_gemm_batch)(float *c, const float *a, const float *b, const ulp_gemm_batch *batch,
                                       ulp_summation summation) {
    batch_work w = {c, a, b, batch, summation, ULP_OK};
    ulp_parallel_for(batch->outer * batch->inner, 1, batch_part, &w);
    return w.status;
}
