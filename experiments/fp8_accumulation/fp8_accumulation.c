/* fp8_accumulation.c - products of e4m3 matrices in units that keep few bits of the sum: what is lost, what saves it?
 *
 * Tensor Cores of Ada and Hopper align the products of e4m3 numbers and the sum to the largest of them and keep 14
 * significant bits, the others are cut off (DeepSeek-AI 2024, arXiv 2412.19437, section 3.3.2; Xie et al. 2025, arXiv
 * 2511.10909). Promotion: every so many products the sum is added to one in binary32 and starts again from zero. Rows:
 *   uniform, normal  C = A B of k = 4096 products each, data from U[0,1] and N(0,1) rounded to e4m3, errors against the
 *                    exact product of the rounded data; `cast` is what rounding the data itself cost, norm-wise
 *   constant         the running sum of 32768 products 1/16 x 1/16 = 2^-8; 128 in the end, if nothing is lost
 * `bits` b is the h100-e4m3 unit with b significant bits in alignment and result (24 at most in the result). A sum of
 * constants stops at 2^(b-8): there the last bit that is kept weighs 2^-7, twice the product.
 * The claims, with the published numbers, are in fp8_accumulation/claims.c.
 */
#include "fp8_accumulation.h"
#include "experiments/harness/training/matrices.h"
#include "sim/normal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ulp_option options[] = {
    ULP_TAKES_DATAPATHS("h100-e4m3,l40s-e4m3,h100-e4m3-mma,b200-e4m3", NULL),
    {"bits", ULP_OPTION_INTEGERS, "12..25", NULL, NULL, "significant bits that a unit keeps", 8, 36, NULL, 0},
    {"promote", ULP_OPTION_INTEGERS, "32,64,128,256,512,1024,2048", NULL, NULL,
     "h100-e4m3 promoted every so many products, multiples of 32", 32, 16384, NULL, 0},
    {"k", ULP_OPTION_INTEGER, "4096", NULL, NULL, "products in one output of the random matrices", 32, 131072, NULL, 0},
    {"outputs", ULP_OPTION_INTEGER, "32", "16", "128", "m: outputs are m x m", 16, 4096, NULL, 0},
    {"scaling", ULP_OPTION_CHOICE, "none", NULL, NULL,
     "none, or amax: the largest magnitude of a matrix becomes 448 before it is rounded", 0, 0, "none amax", 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("3", "1", "10"),
    ULP_TAKES_BACKEND,
    {0},
};

const char *const fp8_data[DATA_COUNT] = {"uniform", "normal", "constant"};

enum { AT_DATA, AT_SEED, SUM_STEP = 1024 };

ulp_status fp8_ways(const ulp_run *run, fp8_way *ways, size_t *count) {
    size_t datapaths, bits, intervals;
    const ulp_datapath *datapath = ulp_run_datapaths(run, &datapaths);
    const double *b = ulp_option_numbers(run, "bits", &bits),
                 *interval = ulp_option_numbers(run, "promote", &intervals);
    *count = datapaths + bits + intervals;
    if (*count > WAYS_MAX)
        return ulp_run_fail(run, ULP_NOT_IN_RANGE, "more than %d datapaths, bits and intervals", WAYS_MAX);
    for (size_t i = 0; i < *count; i++) {
        char name[ULP_DATAPATH_NAME_MAX];
        const int n = (int)(i < datapaths          ? 0
                            : i < datapaths + bits ? b[i - datapaths]
                                                   : interval[i - datapaths - bits]);
        ways[i] = (fp8_way){.bits = i < datapaths + bits ? n : 0, .promote = i < datapaths + bits ? 0 : n};
        if (i < datapaths) snprintf(name, sizeof name, "%s", datapath[i].name);
        else if (i < datapaths + bits)
            snprintf(name, sizeof name, "h100-e4m3:F=%d:kept=%d", n - 1, n - 1 < 23 ? n - 1 : 23);
        else snprintf(name, sizeof name, "h100-e4m3:promote=%d", n);
        ulp_status status = ulp_datapath_parse(&ways[i].datapath, name);
        if (status != ULP_OK) return ulp_run_fail(run, status, "--promote %d: has to be a multiple of 32", n);
        const ulp_datapath *d = &ways[i].datapath;
        if ((d->has_inputs && (strcmp(d->a.name, "e4m3") != 0 || strcmp(d->b.name, "e4m3") != 0)) ||
            !d->result.fits_binary32)
            return ulp_run_fail(run, ULP_UNSUPPORTED,
                                "--datapath %s: needs e4m3 inputs and results no wider than binary32", name);
    }
    return ULP_OK;
}

static ulp_status prepare(ulp_run *run, void **context) {
    static fp8_way ways[WAYS_MAX];
    size_t count;
    ulp_status status = fp8_ways(run, ways, &count);
    (void)context;
    ulp_point constant = {.at = {CONSTANT, 0}};
    ulp_point_add(run, constant, "constant");
    for (int data = UNIFORM; data <= NORMAL; data++)
        for (int64_t s = 0; s < ulp_option_integer(run, "seeds"); s++) {
            const int64_t seed = (int64_t)ulp_run_seed(run) + s;
            ulp_point point = {.at = {data, seed}, .cost = 4};
            ulp_point_add(run, point, "%s seed %lld", fp8_data[data], (long long)seed);
        }
    return status;
}

static void put_key(ulp_rows *rows, const ulp_point *point, const fp8_way *w, size_t k) {
    ulp_put_text(rows, fp8_data[point->at[AT_DATA]]);
    if (point->at[AT_DATA] == CONSTANT) ulp_put_none(rows);
    else ulp_put_integer(rows, point->at[AT_SEED]);
    ulp_put_text(rows, w->datapath.name);
    if (w->bits) ulp_put_integer(rows, w->bits);
    else ulp_put_none(rows);
    if (w->promote) ulp_put_integer(rows, w->promote);
    else ulp_put_none(rows);
    ulp_put_integer(rows, (int64_t)k);
}

/* x (SUM_LENGTH) and y (1) are backend memory. */
static ulp_status put_constant(const ulp_backend *backend, ulp_rows *rows, const ulp_point *point, const fp8_way *w,
                               const float *x, float *y) {
    ulp_status status = ULP_OK;
    for (size_t k = SUM_STEP; k <= SUM_LENGTH && status == ULP_OK; k += SUM_STEP) {
        const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = k, .lda = k, .ldb = k, .ldc = 1, .b_trans = 1};
        const double exact = (double)k * 0x1p-8;
        float sum;
        status = ulp_backend_gemm(backend, y, x, x, &shape, (ulp_summation){&w->datapath, (ulp_stream){1, 0, 0}});
        if (status == ULP_OK) status = backend->download(&sum, y, sizeof sum);
        if (status != ULP_OK) break;
        put_key(rows, point, w, k);
        ulp_put_number(rows, (double)sum);
        ulp_put_code(rows, (double)sum, &w->datapath.result);
        ulp_put_number(rows, fabs((double)sum - exact) / exact);
        ulp_put_nones(rows, 4);
        ulp_row_end(rows);
    }
    return status;
}

/* One product's operands, B as columns, and what is compared. */
typedef struct product {
    size_t m, k;
    float *a, *b, *c;          /* a (m,k), b (m,k), c (m,m) */
    double *a64, *b64, *exact; /* exact (m,m): of the rounded data */
    ulp_matrices there;        /* the same in backend memory */
    double cast;
} product;

static double largest(const double *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static double scale_of(const ulp_run *run, const double *x64, size_t n) {
    return ulp_option_chosen(run, "scaling", "amax") ? 448 / largest(x64, n) : 1;
}

/* x64 (n) scaled and rounded, and a copy in x. */
static void cast(double *x64, float *x, size_t n, double scale) {
    ulp_format e4m3;
    ulp_format_parse(&e4m3, "e4m3");
    for (size_t i = 0; i < n; i++) {
        x64[i] = ulp_round(x64[i] * scale, &e4m3, (ulp_rule){0}, 0);
        x[i] = (float)x64[i];
    }
}

/* The operands, their exact product, and how far rounding them moved it. */
static ulp_status fill(const ulp_run *run, product *p, int data, uint64_t seed, double *before) {
    const ulp_backend *backend = ulp_run_backend(run);
    const ulp_stream a = ulp_stream_named(seed, "fp8_accumulation %s A", fp8_data[data]);
    const ulp_stream b = ulp_stream_named(seed, "fp8_accumulation %s B", fp8_data[data]);
    double moved = 0, size = 0;
    for (size_t i = 0; i < p->m * p->k; i++) {
        p->a64[i] = data == UNIFORM ? ulp_random_uniform(a, i) : ulp_random_normal(a, i);
        p->b64[i] = data == UNIFORM ? ulp_random_uniform(b, i) : ulp_random_normal(b, i);
    }
    ulp_status status = ulp_matrices_multiply_exactly(backend, before, &p->there, p->a64, p->b64);
    const double sa = scale_of(run, p->a64, p->m * p->k), sb = scale_of(run, p->b64, p->m * p->k);
    cast(p->a64, p->a, p->m * p->k, sa);
    cast(p->b64, p->b, p->m * p->k, sb);
    if (status == ULP_OK) status = ulp_matrices_multiply_exactly(backend, p->exact, &p->there, p->a64, p->b64);
    for (size_t i = 0; i < p->m * p->m && status == ULP_OK; i++) {
        const double want = before[i] * sa * sb;
        moved += (p->exact[i] - want) * (p->exact[i] - want);
        size += want * want;
    }
    p->cast = sqrt(moved / size);
    return status;
}

static void put_errors(ulp_rows *rows, const product *p, const ulp_point *point, const fp8_way *w) {
    double mean = 0, most = 0, moved = 0, size = 0, drift = 0;
    const double outputs = (double)(p->m * p->m);
    for (size_t i = 0; i < p->m * p->m; i++) {
        const double error = (double)p->c[i] - p->exact[i], relative = error / p->exact[i];
        mean += fabs(relative) / outputs;
        drift += relative / outputs;
        most = isnan(relative) ? INFINITY : fmax(most, fabs(relative));
        moved += error * error;
        size += p->exact[i] * p->exact[i];
    }
    put_key(rows, point, w, p->k);
    ulp_put_none(rows);
    ulp_put_none(rows);
    ulp_put_number(rows, mean);
    ulp_put_number(rows, sqrt(moved / size));
    ulp_put_number(rows, most);
    ulp_put_number(rows, drift);
    ulp_put_number(rows, p->cast);
    ulp_row_end(rows);
}

static ulp_status put_ways(const ulp_run *run, ulp_rows *rows, const ulp_point *point, const fp8_way *ways,
                           size_t count, product *p) {
    const ulp_backend *backend = ulp_run_backend(run);
    const int data = (int)point->at[AT_DATA];
    const uint64_t seed = (uint64_t)point->at[AT_SEED];
    ulp_status status = ULP_OK;
    if (data == CONSTANT)
        for (size_t i = 0; i < SUM_LENGTH; i++) p->a[i] = 0x1p-4f;
    else status = fill(run, p, data, seed, p->exact + p->m * p->m);
    if (status == ULP_OK) status = ulp_matrices_upload(backend, &p->there, p->a, data != CONSTANT ? p->b : NULL);
    for (size_t i = 0; i < count && status == ULP_OK; i++) {
        const ulp_datapath *d = &ways[i].datapath;
        if (data == CONSTANT) status = put_constant(backend, rows, point, &ways[i], p->there.a, p->there.c);
        else {
            const ulp_stream stream = ulp_stream_named(seed, "fp8_accumulation %s %s", fp8_data[data], d->name);
            status = ulp_matrices_multiply(backend, p->c, &p->there, d, stream);
            if (status == ULP_OK) put_errors(rows, p, point, &ways[i]);
        }
        if (status != ULP_OK) return ulp_run_fail(run, status, "datapath %s: %s", d->name, ulp_status_text(status));
        if (ulp_rows_progress(rows, (double)(i + 1) / (double)count)) break;
    }
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    ulp_family family;
    const int constant = point->at[AT_DATA] == CONSTANT;
    product p = {.m = constant ? 1 : (size_t)ulp_option_integer(run, "outputs"),
                 .k = constant ? SUM_LENGTH : (size_t)ulp_option_integer(run, "k")};
    const size_t in = p.m * p.k, out = p.m * p.m;
    size_t count = 0;
    (void)context;
    ulp_family_init(&family, ulp_run_backend(run));
    ulp_matrices_carve(&p.there, &family, p.m, p.k);
    p.a = malloc((2 * in + out) * sizeof(float));
    p.a64 = malloc((2 * in + 2 * out) * sizeof(double));
    fp8_way *ways = malloc(WAYS_MAX * sizeof *ways);
    ulp_status status = p.a != NULL && p.a64 != NULL && ways != NULL ? ulp_family_alloc(&family) : ULP_NO_MEMORY;
    if (status == ULP_OK) {
        ulp_matrices_carve(&p.there, &family, p.m, p.k);
        p.b = p.a + in;
        p.c = p.b + in;
        p.b64 = p.a64 + in;
        p.exact = p.b64 + in;
        status = fp8_ways(run, ways, &count);
        if (status == ULP_OK) status = put_ways(run, rows, point, ways, count, &p);
    }
    ulp_family_release(&family);
    free(p.a);
    free(p.a64);
    free(ways);
    return status;
}

static const ulp_experiment experiment = {
    .name = "fp8_accumulation",
    .question = "how much of a product of e4m3 matrices is lost in a unit that keeps 14 bits of the sum, and what does "
                "promotion save?",
    .columns = "data,seed,datapath,bits,promote,k,sum,code,mean_error,norm_error,max_error,drift,cast",
    .options = options,
    .threads_inside = 1,
    .prepare = prepare,
    .compute = compute,
    .check = fp8_check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
