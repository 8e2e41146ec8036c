/* fp8_accumulation.c - products of e4m3 matrices in units that keep few bits of the sum: errors, and promotion.
 *
 * Tensor Cores of Ada and Hopper align the sum and the products of e4m3 numbers to the largest of these terms. They
 * keep 14 significant bits and cut off the other bits (DeepSeek-AI 2024, arXiv 2412.19437, section 3.3.2; Xie et al.
 * 2025, arXiv 2511.10909). Under promotion, the partial sum is added to a binary32 total after a fixed number of
 * products, and starts again from zero.
 *
 * Rows:
 *   - uniform, normal: C = A B with k products in one output, 4096 by default, data from U[0,1] and N(0,1) rounded to
 * e4m3. The errors are relative to the exact product of the rounded data. The column cast is the norm-wise error that
 * comes from the rounding of the data.
 *   - constant: the running sum of 32768 products 1/16 x 1/16 = 2^-8. The sum ends at 128 if nothing is lost.
 *
 * The option bits varies the h100-e4m3 unit: b significant bits in the alignment and in the result (at most 24 in the
 * result). A sum of constants stops at 2^(b-8), where the last kept bit weighs 2^-7, twice the product.
 *
 * The claims, with the published numbers, are in claims.c.
 */
#include "fp8_accumulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/training/matrices.h"
#include "sim/normal.h"

static const ulp_option options[] = {
    ULP_OPTION_DATAPATHS_OF(settings, datapaths, "h100-e4m3,l40s-e4m3,h100-e4m3-mma,b200-e4m3", NULL),
    ULP_OPTION(settings, bits, integers, "12..25", .help = "significant bits that a unit keeps", .min = 8, .max = 36),
    ULP_OPTION(settings, promote, integers, "32,64,128,256,512,1024,2048",
               .help = "h100-e4m3 promoted every so many products, multiples of 32", .min = 32, .max = 16384),
    ULP_OPTION(settings, k, integer, "4096", .help = "products in one output of the random matrices", .min = 32,
               .max = 131072),
    ULP_OPTION(settings, outputs, integer, "32", .quick = "16", .full = "128", .help = "m: outputs are m x m",
               .min = 16, .max = 4096),
    ULP_OPTION(settings, scaling, choice, "none",
               .help = "none, or amax: the largest magnitude of a matrix becomes 448 before it is rounded",
               .words = SCALING_WORDS),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_SEEDS(settings, seeds, "3", "1", "10"),
    ULP_OPTION_BACKEND_OF(settings, backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_WORDS(row, data, DATA_WORDS),
    ULP_COLUMNS(row, seed, datapath, bits, promote, k, sum),
    ULP_COLUMNS(row, code, mean_error, norm_error, max_error, drift, cast),
    {0},
};

static const char *const data_names[KINDS] = {"uniform", "normal", "constant"};

enum { SUM_STEP = 1024 };

/* ---- the ways to sum, and the grid ---- */

/* Appends the way w if its datapath takes e4m3 numbers. */
static ulp_status add_way(const ulp_plan *plan, ways *to, const way *w) {
    const ulp_datapath *d = &w->datapath;
    if ((d->has_inputs && (strcmp(d->a.name, "e4m3") != 0 || strcmp(d->b.name, "e4m3") != 0)) ||
        !d->result.fits_binary32)
        return ulp_plan_fail(plan, ULP_UNSUPPORTED,
                             "--datapath %s: needs e4m3 inputs and results no wider than binary32", d->name);
    to->at[to->count++] = *w;
    return ULP_OK;
}

/* Appends the Hopper unit with one property varied. `name` is the name of the datapath. */
static ulp_status add_variant(const ulp_plan *plan, ways *to, kind by, int64_t number, const char *name) {
    way w = {.by = by, .number = number};
    snprintf(w.name, sizeof w.name, "%s", name);
    const ulp_status status = ulp_datapath_parse(&w.datapath, name);
    if (status != ULP_OK)
        return ulp_plan_fail(plan, status, "--promote %lld: has to be a multiple of 32", (long long)number);
    return add_way(plan, to, &w);
}

static ulp_status list_ways(const ulp_plan *plan, ways *to, const settings *set) {
    char name[ULP_DATAPATH_NAME_MAX];
    const size_t count = set->datapaths.count + set->bits.count + set->promote.count;
    if (count > WAYS_MAX)
        return ulp_plan_fail(plan, ULP_NOT_IN_RANGE, "more than %d datapaths, bits and intervals", WAYS_MAX);
    to->at = ulp_grow(NULL, count * sizeof *to->at);
    for (size_t i = 0; i < set->datapaths.count; i++) {
        way w = {.datapath = set->datapaths.at[i], .by = BY_NAME, .number = ULP_NO_INTEGER};
        strcpy(w.name, w.datapath.name);
        ULP_TRY(add_way(plan, to, &w));
    }
    for (size_t i = 0; i < set->bits.count; i++) {
        const int n = (int)set->bits.at[i];
        snprintf(name, sizeof name, "h100-e4m3:F=%d:kept=%d", n - 1, n - 1 < 23 ? n - 1 : 23);
        ULP_TRY(add_variant(plan, to, BY_BITS, n, name));
    }
    for (size_t i = 0; i < set->promote.count; i++) {
        snprintf(name, sizeof name, "h100-e4m3:promote=%d", (int)set->promote.at[i]);
        ULP_TRY(add_variant(plan, to, BY_PROMOTE, set->promote.at[i], name));
    }
    return ULP_OK;
}

static ulp_status plan(ulp_plan *plan) {
    const settings *set = plan->settings;
    const ulp_status status = list_ways(plan, plan->context, set);
    ulp_plan_add(plan, &(point){.data = CONSTANT}, 1, "constant");
    for (int data = UNIFORM; data <= NORMAL; data++)
        for (int64_t s = 0; s < set->seeds; s++) {
            const point p = {data, set->seed + (uint64_t)s};
            ulp_plan_add(plan, &p, 4, "%s seed %llu", data_names[data], (unsigned long long)p.seed);
        }
    return status;
}

static void release(void *context) { free(((ways *)context)->at); }

static row row_of(const ulp_rows *rows, const point *at, const way *w, size_t k) {
    row r;
    ulp_row_clear(rows, &r);
    r.data = at->data;
    if (at->data != CONSTANT) r.seed = (int64_t)at->seed;
    r.datapath = w->name;
    if (w->by == BY_BITS) r.bits = w->number;
    if (w->by == BY_PROMOTE) r.promote = w->number;
    r.k = (int64_t)k;
    return r;
}

/* ---- one point ---- */

/* Puts the running sums of constants. x (SUM_LENGTH) and y (1) are backend memory. */
static ulp_status put_constant(const ulp_task *task, const way *w, const float *x, float *y) {
    const ulp_backend *backend = ((const settings *)task->settings)->backend;
    ulp_status status = ULP_OK;
    for (size_t k = SUM_STEP; k <= SUM_LENGTH && status == ULP_OK; k += SUM_STEP) {
        const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = k, .lda = k, .ldb = k, .ldc = 1, .b_trans = 1};
        const double exact = (double)k * 0x1p-8;
        float sum;
        status = ulp_backend_gemm(backend, y, x, x, &shape, (ulp_summation){&w->datapath, (ulp_stream){1, 0, 0}});
        if (status == ULP_OK) status = backend->download(&sum, y, sizeof sum);
        if (status != ULP_OK) break;
        row r = row_of(task->rows, task->point, w, k);
        r.sum = (double)sum;
        r.code = (ulp_code){&w->datapath.result, (double)sum};
        r.mean_error = fabs((double)sum - exact) / exact;
        ulp_row_put(task->rows, &r);
    }
    return status;
}

static double largest(const double *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static double scale_of(int scaling, const double *x64, size_t n) {
    return scaling == SCALING_AMAX ? 448 / largest(x64, n) : 1;
}

/* Scales and rounds x64 (n), and copies it to x (n). */
static void cast(double *x64, float *x, size_t n, double scale) {
    ulp_format e4m3;
    ulp_format_parse(&e4m3, "e4m3");
    for (size_t i = 0; i < n; i++) {
        x64[i] = ulp_round(x64[i] * scale, &e4m3, (ulp_rule){0}, 0);
        x[i] = (float)x64[i];
    }
}

/* Fills and rounds the operands, and computes their exact product, host.c64. *error is the norm-wise error from the
 * rounding. p->other gets the exact product of the unrounded data. */
static ulp_status fill(double *error, const settings *set, const ulp_product *p, const point *at) {
    const ulp_matrices *on = &p->host;
    const int data = at->data;
    const ulp_stream a = ulp_stream_named(at->seed, "fp8_accumulation %s A", data_names[data]);
    const ulp_stream b = ulp_stream_named(at->seed, "fp8_accumulation %s B", data_names[data]);
    double moved = 0, size = 0;
    for (size_t i = 0; i < p->m * p->k; i++) {
        on->a64[i] = data == UNIFORM ? ulp_random_uniform(a, i) : ulp_random_normal(a, i);
        on->b64[i] = data == UNIFORM ? ulp_random_uniform(b, i) : ulp_random_normal(b, i);
    }
    ulp_status status = ulp_product_multiply_exactly(p, p->other);
    const double sa = scale_of(set->scaling, on->a64, p->m * p->k), sb = scale_of(set->scaling, on->b64, p->m * p->k);
    cast(on->a64, on->a, p->m * p->k, sa);
    cast(on->b64, on->b, p->m * p->k, sb);
    if (status == ULP_OK) status = ulp_product_multiply_exactly(p, on->c64);
    for (size_t i = 0; i < p->m * p->m && status == ULP_OK; i++) {
        const double want = p->other[i] * sa * sb;
        moved += (on->c64[i] - want) * (on->c64[i] - want);
        size += want * want;
    }
    *error = sqrt(moved / size);
    return status;
}

/* Puts the errors of the product. cast_error is the error from the rounding of the data. */
static void put_errors(ulp_rows *rows, const ulp_product *p, const point *at, const way *w, double cast_error) {
    double mean = 0, most = 0, moved = 0, size = 0, drift = 0;
    const double outputs = (double)(p->m * p->m);
    for (size_t i = 0; i < p->m * p->m; i++) {
        const double exact = p->host.c64[i], error = (double)p->host.c[i] - exact, relative = error / exact;
        mean += fabs(relative) / outputs;
        drift += relative / outputs;
        most = isnan(relative) ? INFINITY : fmax(most, fabs(relative));
        moved += error * error;
        size += exact * exact;
    }
    row r = row_of(rows, at, w, p->k);
    r.mean_error = mean;
    r.norm_error = sqrt(moved / size);
    r.max_error = most;
    r.drift = drift;
    r.cast = cast_error;
    ulp_row_put(rows, &r);
}

/* Puts the errors of the product, or the sums of constants, of one way. */
static ulp_status put_way(const ulp_task *task, const way *w, const ulp_product *p, double cast_error) {
    const point *at = task->point;
    const ulp_datapath *d = &w->datapath;
    if (at->data == CONSTANT) return put_constant(task, w, p->device.a, p->device.c);
    const ulp_stream stream = ulp_stream_named(at->seed, "fp8_accumulation %s %s", data_names[at->data], d->name);
    ULP_TRY(ulp_product_multiply(p, d, stream));
    put_errors(task->rows, p, at, w, cast_error);
    return ULP_OK;
}

static ulp_status put_ways(const ulp_task *task, const ulp_product *p) {
    const settings *set = task->settings;
    const ways *all = task->context;
    const point *at = task->point;
    double cast_error = 0;
    ulp_status status = ULP_OK;
    if (at->data == CONSTANT)
        for (size_t i = 0; i < SUM_LENGTH; i++) p->host.a[i] = p->host.b[i] = 0x1p-4f;
    else status = fill(&cast_error, set, p, at);
    if (status == ULP_OK) status = ulp_product_upload(p);
    for (size_t i = 0; i < all->count && status == ULP_OK; i++) {
        status = put_way(task, &all->at[i], p, cast_error);
        if (status != ULP_OK)
            return ulp_task_fail(task, status, "datapath %s: %s", all->at[i].name, ulp_status_text(status));
        if (ulp_task_progress(task, (double)(i + 1) / (double)all->count)) break;
    }
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    const int constant = ((const point *)task->point)->data == CONSTANT;
    const size_t m = constant ? 1 : (size_t)set->outputs;
    ulp_product p;
    ulp_status status = ulp_product_open(&p, set->backend, m, m, constant ? SUM_LENGTH : (size_t)set->k, 1);
    if (status == ULP_OK) status = put_ways(task, &p);
    ulp_product_close(&p);
    return status;
}

const ulp_experiment experiment = {
    .name = "fp8_accumulation",
    .question = "how much of a product of e4m3 matrices is lost in a unit that keeps 14 bits of the sum, and what does "
                "promotion save?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(ways),
    .threads_inside = 1,
    .release = release,
};
