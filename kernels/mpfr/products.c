/* products.c - the backend "mpfr": matrix products, each element one sum of dot.h. */
#include "dot.h"
#include "operations.h"

#include <math.h>
#include <stdlib.h>

/* A product; the arrays are of floats or of doubles. */
typedef struct job {
    void *c;
    const void *a, *b; /* a NULL: all elements are 1 */
    int wide;          /* 1: arrays of doubles */
    ulp_gemm_shape s;
    ulp_summation by;
    uint64_t words;    /* random words of a sum of k products */
    ulp_status status; /* of all threads */
} job;

static double element(const job *w, const void *array, size_t i) {
    return w->wide ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static void fail(job *w, ulp_status status) { __atomic_store_n((int *)&w->status, (int)status, __ATOMIC_RELAXED); }

/* ---- operands have to be values of the input formats ---- */

/* Whether x is a value of the format, up to the sign of a zero. */
static int is_value(ulp_reference *ref, const ulp_format *f, double x) {
    const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_SAT, 0};
    if (isnan(x)) return f->nan_codes != ULP_NAN_NONE;
    if (isinf(x)) return f->has_inf && (x > 0.0 || f->is_signed);
    return ulp_reference_round(ref, x, 0.0, nearest, 0) == x;
}

static ulp_status check_values(const job *w, const void *array, size_t rows, size_t width, size_t ld,
                               const ulp_format *f) {
    ulp_reference *ref = ulp_reference_new(f);
    if (ref == NULL) return ULP_NO_MEMORY;
    int all = 1;
    for (size_t i = 0; i < rows && all; i++)
        for (size_t j = 0; j < width && all; j++) all = is_value(ref, f, element(w, array, i * ld + j));
    ulp_reference_free(ref);
    return all ? ULP_OK : ULP_NO_CODE;
}

static ulp_status check_operands(const job *w) {
    const ulp_gemm_shape *s = &w->s;
    const ulp_datapath *d = w->by.datapath;
    ulp_status status = ULP_OK;
    if (!d->has_inputs || s->k == 0) return status;
    if (w->a != NULL) status = check_values(w, w->a, s->a_trans ? s->k : s->m, s->a_trans ? s->m : s->k, s->lda, &d->a);
    if (status != ULP_OK) return status;
    return check_values(w, w->b, s->b_trans ? s->n : s->k, s->b_trans ? s->k : s->n, s->ldb, &d->b);
}

/* ---- the sums ---- */

/* Row `i` of A, or column `i` of B as a row, in binary64, and its scales. */
static void load(double *to, double *scales, const job *w, size_t i, int is_a) {
    const ulp_gemm_shape *s = &w->s;
    const size_t ld = is_a ? s->lda : s->ldb, per = w->by.datapath->scale_block,
                 blocks = per ? (s->k + per - 1) / per : 0;
    const int across = is_a ? s->a_trans : !s->b_trans;
    const void *array = is_a ? w->a : w->b;
    const float *from = is_a ? s->a_scales : s->b_scales;
    for (size_t k = 0; k < s->k; k++) to[k] = array == NULL ? 1.0 : element(w, array, across ? k * ld + i : i * ld + k);
    for (size_t g = 0; g < blocks && from != NULL; g++) scales[g] = (double)from[i * blocks + g];
}

static void put(const job *w, size_t at, double value) {
    if (w->wide) ((double *)w->c)[at] = value;
    else ((float *)w->c)[at] = (float)value;
}

/* The operands of a sum: room for k products and their scales of a, then of b. */
static void sum_range(job *w, ulp_mpfr_dots *dots, double *room, size_t begin, size_t end) {
    const ulp_gemm_shape *s = &w->s;
    double *a = room, *sa = room + s->k, *b = room + 2 * s->k, *sb = room + 3 * s->k;
    ulp_products p = {a, b, s->k, s->a_scales != NULL ? sa : NULL, s->b_scales != NULL ? sb : NULL};
    for (size_t at = begin; at < end; at++) {
        const size_t i = at / s->n, j = at % s->n, to = s->c_trans ? j * s->ldc + i : i * s->ldc + j;
        ulp_stream stream = w->by.stream;
        stream.first += at * w->words;
        if (at == begin || j == 0) load(a, sa, w, i, 1);
        load(b, sb, w, j, 0);
        put(w, to, ulp_mpfr_dot(dots, s->accumulate ? element(w, w->c, to) : 0.0, &p, stream));
    }
}

static void sums_part(void *context, size_t begin, size_t end) {
    job *w = context;
    ulp_mpfr_dots dots;
    double *room = malloc((4 * w->s.k + 1) * sizeof *room);
    const ulp_status status = ulp_mpfr_dots_open(&dots, w->by.datapath);
    if (status == ULP_OK && room != NULL) sum_range(w, &dots, room, begin, end);
    else fail(w, status != ULP_OK ? status : ULP_NO_MEMORY);
    ulp_mpfr_dots_close(&dots);
    free(room);
}

/* The number of random words of a sum: a sum of zeros takes as many words as any other sum. */
static ulp_status count_words(job *w) {
    ulp_mpfr_dots dots;
    double *zeros = calloc(w->s.k + 1, sizeof *zeros);
    ulp_status status = ulp_mpfr_dots_open(&dots, w->by.datapath);
    if (zeros == NULL) status = ULP_NO_MEMORY;
    if (status == ULP_OK && ulp_mode_is_stochastic(w->by.datapath->rule.mode)) {
        const ulp_products p = {zeros, zeros, w->s.k, NULL, NULL};
        ulp_mpfr_dot(&dots, 0.0, &p, (ulp_stream){0, 0, 0});
        w->words = dots.used;
    }
    ulp_mpfr_dots_close(&dots);
    free(zeros);
    return status;
}

static ulp_status run(job w) {
    if (w.s.m == 0 || w.s.n == 0) return ULP_OK;
    ULP_TRY(check_operands(&w));
    ULP_TRY(count_words(&w));
    ulp_parallel_for(w.s.m * w.s.n, 256 / (w.s.k + 1) + 1, sums_part, &w);
    return w.status;
}

ulp_status ulp_mpfr_gemm(float *c, const float *a, const float *b, const ulp_gemm_shape *shape, ulp_summation by) {
    return run((job){.c = c, .a = a, .b = b, .s = *shape, .by = by});
}

ulp_status ulp_mpfr_gemm64(double *c, const double *a, const double *b, const ulp_gemm_shape *shape, ulp_summation by) {
    return run((job){.c = c, .a = a, .b = b, .wide = 1, .s = *shape, .by = by});
}

/* The product of a row of ones with x. */
ulp_status ulp_mpfr_reduce(float *y, const float *x, size_t m, size_t n, ulp_summation by) {
    const ulp_gemm_shape shape = {.m = 1, .n = n, .k = m, .lda = m, .ldb = n, .ldc = n};
    return run((job){.c = y, .b = x, .s = shape, .by = by});
}

/* ---- single sums ---- */

double ulp_mpfr_sum_of(const ulp_datapath *d, double c, ulp_products products, ulp_stream stream) {
    ulp_mpfr_dots dots;
    const ulp_status status = ulp_mpfr_dots_open(&dots, d);
    const double y = status == ULP_OK ? ulp_mpfr_dot(&dots, c, &products, stream) : NAN;
    ulp_mpfr_dots_close(&dots);
    return y;
}

static ulp_status dot_of_unit(void *context, uint64_t *code, double c, ulp_products products) {
    const ulp_datapath *d = context;
    return ulp_datapath_code(code, ulp_mpfr_sum_of(d, c, products, (ulp_stream){1, 0, 0}), d);
}

ulp_unit ulp_mpfr_unit_of(const ulp_datapath *d) {
    ulp_unit unit = ulp_unit_of(d);
    unit.dot = dot_of_unit;
    return unit;
}
