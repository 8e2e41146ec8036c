/* gemm.c - matrix products under a datapath: the table of product paths, the check of the inputs, tiles, results in
 * transposed arrays. */
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

#define ROW(name, what, condition, example)                                                                            \
    {#name, what, condition, example, ULP_CPU(ulp_serves_##name), ULP_CPU(ulp_product_##name)},
static const ulp_product_path paths[] = {ULP_PATHS(ROW)};

const ulp_product_path *ULP_CPU(ulp_product_paths)(size_t *count) {
    *count = sizeof paths / sizeof *paths;
    return paths;
}

/* The search for elements of an array that are not values of a format. Where a quick test fails, the search rounds the
 * elements and compares. */
typedef struct input_check {
    const ulp_job *job;
    matrix of;
    const ulp_format *format;
    ulp_status status;
} input_check;

enum { PART = 256 };

/* Whether x (n) are values of a format, up to the sign of a zero; 0 if an answer takes more than this. A value has at
 * most p bits, is in range, and is a multiple of the quantum, which is the last place of the anchor. Normal numbers of
 * p bits are such multiples. */
static int are_values(const float *x, size_t n, const ulp_format *f) {
    if (!f->is_signed || !f->has_subnormals || !f->has_zero || f->zero_binade || f->prec > 23) return 0;
    const uint32_t lost = (1u << (24u - f->prec)) - 1u;
    const float normal = (float)f->min_normal, anchor = (float)ulp_scale(1.5, f->qmin + 23);
    uint32_t differ = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t u = ulp_bits32(x[i]), a = u & 0x7fffffffu;
        const float size = ulp_from_bits32(a), low = size < normal ? size : normal, same = (low + anchor) - anchor;
        differ |= (u & lost) | (ulp_bits32(same) ^ ulp_bits32(low));
        most = a > most ? a : most;
    }
    return differ == 0 && most <= largest_in_range(f);
}

static uint32_t bad_floats(const input_check *w, const float *x, size_t n) {
    float y[PART];
    const ulp_rule rule = {ULP_RNE, ULP_OVERFLOW_SAT, 0};
    const uint32_t nan = w->format->nan_codes == ULP_NAN_NONE, infinite = !w->format->has_inf,
                   negative = !w->format->is_signed;
    uint32_t bad = 0;
    if (!w->format->fits_binary32 || ulp_rule_check(w->format, rule) != ULP_OK) return 1;
    if (are_values(x, n, w->format)) return 0;
    ULP_CPU(ulp_cpu_round)(y, x, n, (ulp_rounding){.format = w->format, .rule = rule});
    for (size_t i = 0; i < n; i++) {
        const uint32_t u = ulp_bits32(x[i]), v = ulp_bits32(y[i]), a = u & 0x7fffffffu,
                       differs = (uint32_t)(u << 1 != v << 1);
        const uint32_t is_nan = (uint32_t)(a > 0x7f800000u), is_inf = (uint32_t)(a == 0x7f800000u);
        bad |= (is_nan & nan) | (is_inf & (infinite | (negative & u >> 31))) | (differs & ~is_nan & ~is_inf & 1u);
    }
    return bad;
}

/* Whether all elements are values of a signed fixed-point format of at most 32 bits. */
static int all_fixed(const double *x, size_t n, const ulp_format *f) {
    const double unit = ulp_scale(1.0, f->frac_bits), low = -ulp_scale(1.0, f->bits - 1), high = -low - 1.0;
    uint32_t open = 0;
    for (size_t i = 0; i < n; i++) {
        const double number = x[i] * unit, least = number > low ? number : low, near = least < high ? least : high;
        open |= (uint32_t)((double)(int32_t)near != number); /* NaN becomes low */
    }
    return open == 0;
}

static uint32_t bad_doubles(const input_check *w, const double *x, size_t n) {
    double y[PART];
    const ulp_rule rule = {ULP_RNE, ULP_OVERFLOW_SAT, 0};
    uint32_t open = 0, bad = 0;
    uint64_t code;
    if (w->format->is_fixed && w->format->is_signed && w->format->bits <= 32 && all_fixed(x, n, w->format)) return 0;
    /* a finite number whose rounding changes no bit is a value of the format; the encoder decides about all others */
    ULP_CPU(ulp_cpu_round64)(y, x, n, (ulp_rounding){.format = w->format, .rule = rule});
    for (size_t i = 0; i < n; i++)
        open |= (uint32_t)(ulp_bits64(x[i]) != ulp_bits64(y[i])) | (uint32_t)(x[i] - x[i] != 0.0);
    for (size_t i = 0; i < n && open; i++) bad |= ulp_encode(&code, x[i], w->format) != ULP_OK;
    return bad;
}

static void check_part(void *context, size_t begin, size_t end) {
    input_check *w = context;
    uint32_t bad = 0;
    for (size_t i = begin; i < end && bad == 0; i++)
        for (size_t j = 0; j < w->of.width; j += PART) {
            const size_t n = w->of.width - j < PART ? w->of.width - j : PART, at = i * w->of.ld + j;
            bad |= w->job->wide ? bad_doubles(w, (const double *)w->of.x + at, n)
                                : bad_floats(w, (const float *)w->of.x + at, n);
        }
    if (bad) __atomic_store_n((int *)&w->status, ULP_NO_CODE, __ATOMIC_RELAXED);
}

static ulp_status check_values(const ulp_job *job, matrix of, const ulp_format *f) {
    input_check w = {job, of, f, ULP_OK};
    ulp_parallel_for(of.rows, 16, check_part, &w);
    return w.status;
}

static ulp_status check_inputs(const ulp_job *w) {
    const ulp_datapath *d = w->datapath;
    if (!d->has_inputs) return ULP_OK;
    ULP_TRY(check_values(w, matrix_a(w), &d->a));
    return check_values(w, matrix_b(w), &d->b);
}

static const void *element_at(const ulp_job *w, const void *array, size_t elements) {
    return array == NULL ? NULL : (const char *)array + elements * (w->wide ? sizeof(double) : sizeof(float));
}

/* The tile of at most m rows and n columns at (i,j). */
static ulp_job tile_of(const ulp_job *w, size_t i, size_t j, size_t m, size_t n) {
    ulp_job t = *w;
    const size_t per = w->datapath->scale_block, blocks = per == 0 ? 0 : (w->s.k + per - 1) / per;
    t.i0 = i;
    t.j0 = j;
    t.s.m = w->s.m - i < m ? w->s.m - i : m;
    t.s.n = w->s.n - j < n ? w->s.n - j : n;
    t.c = (char *)w->c + (i * w->s.ldc + j) * (w->wide ? sizeof(double) : sizeof(float));
    t.a = element_at(w, w->a, w->s.k == 0 ? 0 : a_index(w, i, 0));
    t.b = element_at(w, w->b, w->s.k == 0 ? 0 : b_index(w, 0, j));
    if (t.s.a_scales != NULL) t.s.a_scales += i * blocks;
    if (t.s.b_scales != NULL) t.s.b_scales += j * blocks;
    return t;
}

static ulp_status run_tiles(const ulp_job *w) {
    size_t m, n;
    ulp_tile_get(&m, &n);
    if (m == 0 || m > w->s.m) m = w->s.m;
    if (n == 0 || n > w->s.n) n = w->s.n;
    for (size_t i = 0; i < w->s.m; i += m)
        for (size_t j = 0; j < w->s.n; j += n) {
            const ulp_job tile = tile_of(w, i, j, m, n);
            ULP_TRY(ulp_product_run(paths, sizeof paths / sizeof *paths, &tile));
        }
    return ULP_OK;
}

/* ---- a result whose array is the transpose of C ---- */

/* Whether a b = b a in this datapath, random words included. Then C' = B' A' has the same sums. */
static int commutes(const ulp_datapath *d, size_t k) {
    if (ulp_datapath_words(d, k) != 0) return 0;
    return !d->has_inputs || (ulp_format_equal(&d->a, &d->b) && d->zero_a == d->zero_b);
}

static ulp_job transposed_job(const ulp_job *w) {
    ulp_job t = *w;
    t.a = w->b;
    t.b = w->a;
    t.columns = w->s.m;
    t.s = (ulp_gemm_shape){.m = w->s.n,
                           .n = w->s.m,
                           .k = w->s.k,
                           .lda = w->s.ldb,
                           .ldb = w->s.lda,
                           .ldc = w->s.ldc,
                           .a_trans = !w->s.b_trans,
                           .b_trans = !w->s.a_trans,
                           .accumulate = w->s.accumulate,
                           .a_scales = w->s.b_scales,
                           .b_scales = w->s.a_scales};
    return t;
}

/* Copies C in memory (n,m) to `straight` (m,n), or back to C. */
static void copy_transposed(const ulp_job *w, void *straight, int back) {
    const size_t m = w->s.m, n = w->s.n, ld = w->s.ldc;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t from = j * ld + i, to = i * n + j;
            if (w->wide && back) ((double *)w->c)[from] = ((double *)straight)[to];
            else if (w->wide) ((double *)straight)[to] = ((double *)w->c)[from];
            else if (back) ((float *)w->c)[from] = ((float *)straight)[to];
            else ((float *)straight)[to] = ((float *)w->c)[from];
        }
}

static ulp_status run_transposed(const ulp_job *w) {
    if (commutes(w->datapath, w->s.k)) {
        const ulp_job t = transposed_job(w);
        return run_tiles(&t);
    }
    ulp_job t = *w;
    t.s.c_trans = 0;
    t.s.ldc = w->s.n;
    t.c = ULP_CPU(ulp_gemm_room)(w->s.m * w->s.n, w->wide ? sizeof(double) : sizeof(float));
    if (t.c == NULL) return ULP_NO_MEMORY;
    if (w->s.accumulate) copy_transposed(w, t.c, 0);
    ulp_status status = run_tiles(&t);
    if (status == ULP_OK) copy_transposed(w, t.c, 1);
    ulp_aligned_free(t.c);
    return status;
}

static ulp_status run(const ulp_job *w) {
    if (w->datapath->split_k != 0) return ULP_UNSUPPORTED; /* ulp_backend_gemm() asks for the product of each part */
    if (w->s.m == 0 || w->s.n == 0) return ULP_OK;
    if (w->s.k > 0) ULP_TRY(check_inputs(w));
    return w->s.c_trans ? run_transposed(w) : run_tiles(w);
}

ulp_status ULP_CPU(ulp_cpu_gemm)(float *c, const float *a, const float *b, const ulp_gemm_shape *shape,
                                 ulp_summation by) {
    const ulp_job job = {
        .c = c, .a = a, .b = b, .s = *shape, .columns = shape->n, .datapath = by.datapath, .stream = by.stream};
    return run(&job);
}

/* The product in binary32 rounds its result part by part. */
ulp_status ULP_CPU(ulp_cpu_gemm_round)(float *c, const float *a, const float *b, const ulp_gemm_shape *shape,
                                       ulp_summation by, ulp_rounding rounding) {
    const ulp_job job = {.c = c,
                         .a = a,
                         .b = b,
                         .s = *shape,
                         .columns = shape->n,
                         .datapath = by.datapath,
                         .stream = by.stream,
                         .rounding = &rounding};
    size_t m, n;
    ulp_tile_get(&m, &n);
    ulp_status status = ULP_UNSUPPORTED;
    if (shape->m > 0 && shape->n > 0 && m == 0 && n == 0 && ULP_CPU(ulp_serves_fp32_chain)(&job))
        status = ULP_CPU(ulp_product_fp32_chain)(&job);
    if (status != ULP_UNSUPPORTED) return status;
    ULP_TRY(ULP_CPU(ulp_cpu_gemm)(c, a, b, shape, by));
    return ULP_CPU(ulp_cpu_round)(c, c, shape->m * shape->n, rounding);
}

ulp_status ULP_CPU(ulp_cpu_gemm64)(double *c, const double *a, const double *b, const ulp_gemm_shape *shape,
                                   ulp_summation by) {
    const ulp_job job = {.c = c,
                         .a = a,
                         .b = b,
                         .wide = 1,
                         .s = *shape,
                         .columns = shape->n,
                         .datapath = by.datapath,
                         .stream = by.stream};
    return run(&job);
}

/* Column sums are the product of a row of ones with x. The products are exact. */
ulp_status ULP_CPU(ulp_cpu_reduce)(float *y, const float *x, size_t m, size_t n, ulp_summation by) {
    float *ones = ULP_CPU(ulp_gemm_room)(m, sizeof *ones);
    if (ones == NULL) return ULP_NO_MEMORY;
    for (size_t i = 0; i < m; i++) ones[i] = 1.0f;
    const ulp_gemm_shape shape = {.m = 1, .n = n, .k = m, .lda = m, .ldb = n, .ldc = n};
    const ulp_status status = ULP_CPU(ulp_cpu_gemm)(y, ones, x, &shape, by);
    ulp_aligned_free(ones);
    return status;
}
