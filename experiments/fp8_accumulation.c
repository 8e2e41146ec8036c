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
 * One file, a little long: the units, the data and the published numbers belong beside each other.
 */
#include "harness/harness.h"
#include "sim/elementary.h"

#include <math.h>
#include <string.h>

static const ulp_option options[] = {
    ULP_TAKES_DATAPATHS("h100-e4m3,l40s-e4m3,h100-e4m3-mma,b200-e4m3", NULL),
    {"bits", ULP_OPTION_NUMBERS, "12..25", NULL, NULL, "significant bits that a unit keeps", 8, 36, NULL, 0},
    {"promote", ULP_OPTION_NUMBERS, "32,64,128,256,512,1024,2048", NULL, NULL,
     "h100-e4m3 promoted every so many products, multiples of 32", 32, 16384, NULL, 0},
    {"k", ULP_OPTION_INTEGER, "4096", NULL, NULL, "products in one output of the random matrices", 32, 131072, NULL, 0},
    {"outputs", ULP_OPTION_INTEGER, "32", "16", "128", "m: outputs are m x m", 16, 4096, NULL, 0},
    {"scaling", ULP_OPTION_CHOICE, "none", NULL, NULL,
     "none, or amax: the largest magnitude of a matrix becomes 448 before it is rounded", 0, 0, "none amax", 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("3", "1", "10"),
    {0},
};

enum { UNIFORM, NORMAL, CONSTANT, DATA_COUNT };
static const char *const data_names[DATA_COUNT] = {"uniform", "normal", "constant"};

enum { AT_DATA, AT_SEED, SUM_LENGTH = 32768, SUM_STEP = 1024 };

/* A way to sum; 0 where bits or interval are not what it varies. */
typedef struct way {
    ulp_datapath datapath;
    int bits, promote;
} way;

enum { WAYS_MAX = 256 };

/* The datapaths, then the bits, then the intervals. Returns their number. */
static ulp_status ways_of(const ulp_run *run, way *ways, size_t *count) {
    size_t datapaths, bits, intervals;
    const ulp_datapath *datapath = ulp_run_datapaths(run, &datapaths);
    const double *b = ulp_option_numbers(run, "bits", &bits),
                 *interval = ulp_option_numbers(run, "promote", &intervals);
    *count = datapaths + bits + intervals;
    if (*count > WAYS_MAX)
        return ulp_run_fail(run, ULP_NOT_IN_RANGE, "more than %d datapaths, bits and intervals", WAYS_MAX);
    for (size_t i = 0; i < *count; i++) {
        char name[ULP_DATAPATH_NAME_MAX];
        const double value = i < datapaths          ? 0
                             : i < datapaths + bits ? b[i - datapaths]
                                                    : interval[i - datapaths - bits];
        const int n = (int)value;
        ways[i] = (way){.bits = i < datapaths + bits ? n : 0, .promote = i < datapaths + bits ? 0 : n};
        if (i < datapaths) snprintf(name, sizeof name, "%s", datapath[i].name);
        else if (i < datapaths + bits)
            snprintf(name, sizeof name, "h100-e4m3:F=%d:kept=%d", n - 1, n - 1 < 23 ? n - 1 : 23);
        else snprintf(name, sizeof name, "h100-e4m3:promote=%d", n);
        ulp_status status = n == value ? ulp_datapath_parse(&ways[i].datapath, name) : ULP_NOT_IN_RANGE;
        if (status != ULP_OK)
            return ulp_run_fail(run, status, "--%s %g: %s", ways[i].bits ? "bits" : "promote", value,
                                ulp_status_text(status));
        const ulp_datapath *d = &ways[i].datapath;
        if ((d->has_inputs && (strcmp(d->a.name, "e4m3") != 0 || strcmp(d->b.name, "e4m3") != 0)) ||
            !d->result.fits_binary32)
            return ulp_run_fail(run, ULP_UNSUPPORTED,
                                "--datapath %s: needs e4m3 inputs and results no wider than binary32", name);
    }
    return ULP_OK;
}

static ulp_status prepare(ulp_run *run, void **context) {
    static way ways[WAYS_MAX];
    size_t count;
    ulp_status status = ways_of(run, ways, &count);
    (void)context;
    ulp_point constant = {.at = {CONSTANT, 0}};
    ulp_point_add(run, constant, "constant");
    for (int data = UNIFORM; data <= NORMAL; data++)
        for (int64_t s = 0; s < ulp_option_integer(run, "seeds"); s++) {
            const int64_t seed = (int64_t)ulp_run_seed(run) + s;
            ulp_point point = {.at = {data, seed}, .cost = 4};
            ulp_point_add(run, point, "%s seed %lld", data_names[data], (long long)seed);
        }
    return status;
}

static void put_key(ulp_rows *rows, const ulp_point *point, const way *w, size_t k) {
    ulp_put_text(rows, data_names[point->at[AT_DATA]]);
    if (point->at[AT_DATA] == CONSTANT) ulp_put_none(rows);
    else ulp_put_integer(rows, point->at[AT_SEED]);
    ulp_put_text(rows, w->datapath.name);
    if (w->bits) ulp_put_integer(rows, w->bits);
    else ulp_put_none(rows);
    if (w->promote) ulp_put_integer(rows, w->promote);
    else ulp_put_none(rows);
    ulp_put_integer(rows, (int64_t)k);
}

static ulp_status put_constant(const ulp_backend *backend, ulp_rows *rows, const ulp_point *point, const way *w,
                               const float *x) {
    ulp_status status = ULP_OK;
    for (size_t k = SUM_STEP; k <= SUM_LENGTH && status == ULP_OK; k += SUM_STEP) {
        const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = k, .lda = k, .ldb = k, .ldc = 1, .b_trans = 1};
        const double exact = (double)k * 0x1p-8;
        float sum;
        status = backend->gemm(&sum, x, x, &shape, &w->datapath, (ulp_stream){1, 0, 0});
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

static ulp_gemm_shape shape_of(const product *p) {
    return (ulp_gemm_shape){.m = p->m, .n = p->m, .k = p->k, .lda = p->k, .ldb = p->k, .ldc = p->m, .b_trans = 1};
}

/* The operands, their exact product, and how far rounding them moved it. */
static ulp_status fill(const ulp_run *run, product *p, int data, uint64_t seed, double *before) {
    const ulp_backend *backend = ulp_run_backend(run);
    const ulp_stream a = ulp_stream_named(seed, "fp8_accumulation %s A", data_names[data]);
    const ulp_stream b = ulp_stream_named(seed, "fp8_accumulation %s B", data_names[data]);
    const ulp_gemm_shape shape = shape_of(p);
    ulp_datapath exact;
    double moved = 0, size = 0;
    for (size_t i = 0; i < p->m * p->k; i++) {
        p->a64[i] = data == UNIFORM ? ulp_random_uniform(a, i) : ulp_random_normal(a, i);
        p->b64[i] = data == UNIFORM ? ulp_random_uniform(b, i) : ulp_random_normal(b, i);
    }
    ulp_status status = ulp_datapath_parse(&exact, "exact:binary64:rne");
    if (status == ULP_OK) status = backend->gemm64(before, p->a64, p->b64, &shape, &exact, (ulp_stream){0});
    const double sa = scale_of(run, p->a64, p->m * p->k), sb = scale_of(run, p->b64, p->m * p->k);
    cast(p->a64, p->a, p->m * p->k, sa);
    cast(p->b64, p->b, p->m * p->k, sb);
    if (status == ULP_OK) status = backend->gemm64(p->exact, p->a64, p->b64, &shape, &exact, (ulp_stream){0});
    for (size_t i = 0; i < p->m * p->m && status == ULP_OK; i++) {
        const double want = before[i] * sa * sb;
        moved += (p->exact[i] - want) * (p->exact[i] - want);
        size += want * want;
    }
    p->cast = sqrt(moved / size);
    return status;
}

static void put_errors(ulp_rows *rows, const product *p, const ulp_point *point, const way *w) {
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

static ulp_status put_ways(const ulp_run *run, ulp_rows *rows, const ulp_point *point, const way *ways, size_t count,
                           product *p) {
    const ulp_backend *backend = ulp_run_backend(run);
    const int data = (int)point->at[AT_DATA];
    const ulp_gemm_shape shape = shape_of(p);
    const uint64_t seed = (uint64_t)point->at[AT_SEED];
    ulp_status status = ULP_OK;
    if (data == CONSTANT)
        for (size_t i = 0; i < SUM_LENGTH; i++) p->a[i] = 0x1p-4f;
    else status = fill(run, p, data, seed, p->exact + p->m * p->m);
    for (size_t i = 0; i < count && status == ULP_OK; i++) {
        const ulp_datapath *d = &ways[i].datapath;
        if (data == CONSTANT) status = put_constant(backend, rows, point, &ways[i], p->a);
        else {
            status = backend->gemm(p->c, p->a, p->b, &shape, d,
                                   ulp_stream_named(seed, "fp8_accumulation %s %s", data_names[data], d->name));
            if (status == ULP_OK) put_errors(rows, p, point, &ways[i]);
        }
        if (status != ULP_OK) return ulp_run_fail(run, status, "datapath %s: %s", d->name, ulp_status_text(status));
        if (ulp_rows_progress(rows, (double)(i + 1) / (double)count)) break;
    }
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    const ulp_backend *backend = ulp_run_backend(run);
    const int constant = point->at[AT_DATA] == CONSTANT;
    product p = {.m = constant ? 1 : (size_t)ulp_option_integer(run, "outputs"),
                 .k = constant ? SUM_LENGTH : (size_t)ulp_option_integer(run, "k")};
    const size_t in = p.m * p.k, out = p.m * p.m;
    size_t count = 0;
    (void)context;
    p.a = backend->alloc((2 * in + out) * sizeof(float));
    p.a64 = backend->alloc((2 * in + 2 * out) * sizeof(double));
    way *ways = backend->alloc(WAYS_MAX * sizeof *ways);
    ulp_status status = ULP_NO_MEMORY;
    if (p.a != NULL && p.a64 != NULL && ways != NULL) {
        p.b = p.a + in;
        p.c = p.b + in;
        p.b64 = p.a64 + in;
        p.exact = p.b64 + in;
        status = ways_of(run, ways, &count);
        if (status == ULP_OK) status = put_ways(run, rows, point, ways, count, &p);
    }
    backend->release(p.a);
    backend->release(p.a64);
    backend->release(ways);
    return status;
}

/* ---- claims ---- */

/* A column of the rows of one datapath (by name, bits or interval, whichever is given), mean over the seeds; NaN if
 * there are none. */
static double mean_of(const ulp_run *run, const char *data, const char *column, const char *by, const char *what) {
    double total = 0;
    int count = 0;
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "data", data, by, what, (const char *)NULL);
        if (row == ULP_NO_ROW) return count ? total / count : NAN;
        total += ulp_row_number(run, row, column);
        count++;
    }
}

static double of_number(const ulp_run *run, const char *data, const char *column, const char *by, int number) {
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    return mean_of(run, data, column, by, text);
}

static double of_row(const ulp_run *run, const char *data, const char *column, const char *datapath) {
    return mean_of(run, data, column, "datapath", datapath);
}

/* The last running sum of 2^-8; NaN if there is none. */
static double end_of(const ulp_run *run, const char *by, const char *what) {
    char k[16];
    snprintf(k, sizeof k, "%d", SUM_LENGTH);
    const long row = ulp_row_find(run, 0, "data", data_names[CONSTANT], by, what, "k", k, (const char *)NULL);
    return row == ULP_NO_ROW ? NAN : ulp_row_number(run, row, "sum");
}

static void claim_end(ulp_run *run, const char *datapath, double want) {
    const double got = end_of(run, "datapath", datapath);
    char text[160];
    snprintf(text, sizeof text, "32768 products 1/16 x 1/16: %s ends at %.0f, exactly", datapath, want);
    if (isnan(got)) ulp_claim_skip(run, text, "it is not in --datapath");
    else ulp_claim(run, got == want, text, "%.17g", got);
}

/* Every number of an option: sums of constants end at want(number). */
static void claim_ends(ulp_run *run, const char *option, double (*want)(double), const char *text) {
    size_t count;
    const double *number = ulp_option_numbers(run, option, &count);
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        char what[16];
        snprintf(what, sizeof what, "%.0f", number[i]);
        wrong += !(end_of(run, option, what) == want(number[i]));
    }
    if (count > 0) ulp_claim(run, wrong == 0, text, "%zu values of --%s, %d against it", count, option, wrong);
}

static double stop_of_bits(double b) { return b < 15 ? ldexp(1, (int)b - 8) : 128; }
static double no_stop(double interval) { return interval > 0 ? 128 : NAN; }

/* Each number of the list, ascending, errs less (sign -1) or more (sign 1) than the one before it on positive data. */
static void claim_monotone(ulp_run *run, const char *option, int sign, double below, const char *text) {
    size_t count;
    const double *number = ulp_option_numbers(run, option, &count);
    int steps = 0, wrong = 0;
    for (size_t i = 1; i < count; i++) {
        if (number[i] <= number[i - 1] || number[i] > below) continue;
        const double last = of_number(run, "uniform", "mean_error", option, (int)number[i - 1]);
        steps++;
        wrong += !(sign * (of_number(run, "uniform", "mean_error", option, (int)number[i]) - last) > 0);
    }
    if (steps > 0) ulp_claim(run, wrong == 0, text, "%d steps, %d against it", steps, wrong);
}

static void claim_about(ulp_run *run, double got, double want, double room, const char *text) {
    if (isnan(got)) ulp_claim_skip(run, text, "its datapath is not in this run");
    else ulp_claim(run, fabs(got - want) <= room, text, "%.4f %%", 100 * got);
}

/* The published shares, with room for other random numbers. */
static void claim_published(ulp_run *run) {
    const double raw = of_row(run, "uniform", "mean_error", "h100-e4m3"),
                 promoted = of_number(run, "uniform", "mean_error", "promote", 128);
    const double normal = of_row(run, "normal", "norm_error", "h100-e4m3");
    if (!isnan(raw))
        ulp_beside(run, "mean relative error, U[0,1], k = 4096, 14 bits kept", "emulation; cf. DeepSeek-V3 2024", "6.6 %", "%.2f %%", 100 * raw);
    if (!isnan(promoted))
        ulp_beside(run, "the same, promoted every 128 products", "emulation; cf. DeepSeek-V3 2024", "0.05 %", "%.3f %%", 100 * promoted);
    if (!isnan(normal))
        ulp_beside(run, "norm-wise error, N(0,1), k = 4096, 14 bits kept", "emulated", "0.13 %", "%.3f %%", 100 * normal);
    claim_about(run, raw, 0.066, 0.001,
                "U[0,1], k = 4096: with 14 bits the mean relative error is 6.6 %, within 0.1 points");
    claim_about(run, promoted, 0.0005, 0.00002,
                "U[0,1], k = 4096: promotion every 128 products leaves 0.050 %, within 0.002 points");
    claim_about(run, normal, 0.0013, 0.0003,
                "N(0,1), k = 4096: with 14 bits the error is 0.13 % norm-wise, within 0.03 points");
}

static void claim_cast(ulp_run *run) {
    const double raw = of_row(run, "uniform", "norm_error", "h100-e4m3"),
                 promoted = of_number(run, "uniform", "norm_error", "promote", 128);
    const double cast_error = of_row(run, "uniform", "cast", "h100-e4m3"),
                 normal = of_row(run, "normal", "norm_error", "h100-e4m3");
    const double normal_cast = of_row(run, "normal", "cast", "h100-e4m3"),
                 wide = of_row(run, "uniform", "mean_error", "b200-e4m3");
    if (isnan(raw)) return;
    if (!isnan(promoted))
        ulp_claim(run, raw > 10 * cast_error && promoted < cast_error,
                  "U[0,1]: 14 bits cost over 10 times what rounding the data to e4m3 does, with promotion every 128 "
                  "less than that",
                  "data %.3f %%, 14 bits %.3f %%, promoted %.3f %%", 100 * cast_error, 100 * raw, 100 * promoted);
    ulp_claim(run, normal < normal_cast / 10,
              "N(0,1): 14 bits cost less than a tenth of what rounding the data to e4m3 does",
              "data %.2f %%, 14 bits %.3f %%", 100 * normal_cast, 100 * normal);
    if (!isnan(wide))
        ulp_claim(run, wide < 1e-5, "U[0,1]: Blackwell's 26 bits of alignment err by less than 10^-5", "%.2g", wide);
}

static void print_line(ulp_table *table, const ulp_run *run, const char *by, const char *what, const char *name) {
    ulp_table_put(table, "%s", name);
    ulp_table_put(table, "%.4g %%", 100 * mean_of(run, "uniform", "mean_error", by, what));
    ulp_table_put(table, "%.4g %%", 100 * mean_of(run, "uniform", "max_error", by, what));
    ulp_table_put(table, "%.4g %%", 100 * mean_of(run, "normal", "norm_error", by, what));
    ulp_table_put(table, "%.9g", end_of(run, by, what));
}

static void print_table(const ulp_run *run) {
    static way ways[WAYS_MAX];
    size_t count = 0;
    if (ways_of(run, ways, &count) != ULP_OK || count == 0) return;
    ulp_table *table =
        ulp_table_new("errors against the exact product of the e4m3 data; the sum of 32768 products 2^-8 is 128",
                      "unit,uniform: mean,largest,normal: norm-wise,32768 x 2^-8");
    for (size_t i = 0; i < count; i++) {
        char text[40] = "";
        if (ways[i].bits) snprintf(text, sizeof text, "%d bits", ways[i].bits);
        if (ways[i].promote) snprintf(text, sizeof text, "promoted every %d", ways[i].promote);
        const char *name = text[0] ? text : ways[i].datapath.name;
        print_line(table, run, "datapath", ways[i].datapath.name, name);
    }
    ulp_table_put(table, "rounding the data");
    ulp_table_put(table, "%.4g %% norm-wise", 100 * of_row(run, "uniform", "cast", ways[0].datapath.name));
    ulp_table_put(table, "-");
    ulp_table_put(table, "%.4g %%", 100 * of_row(run, "normal", "cast", ways[0].datapath.name));
    ulp_table_put(table, "-");
    ulp_table_print(table, run);
}

static void check(ulp_run *run, const void *context) {
    (void)context;
    print_table(run);
    claim_end(run, "h100-e4m3", 64);
    claim_end(run, "b200-e4m3", 128);
    claim_end(run, "h100-e4m3-mma", 128);
    claim_ends(run, "promote", no_stop, "32768 products 1/16 x 1/16: with any promotion the sum ends at 128, exactly");
    claim_ends(run, "bits", stop_of_bits,
               "32768 products 1/16 x 1/16: with b bits the sum ends at 2^(b-8), exactly, and at 128 from b = 15 on");
    if (ulp_option_integer(run, "k") != 4096 || !ulp_option_chosen(run, "scaling", "none")) {
        ulp_claim_skip(run, "the published errors", "they are for --k 4096 --scaling none");
        return;
    }
    claim_published(run);
    claim_cast(run);
    claim_monotone(run, "bits", -1, 23, "U[0,1]: every further bit up to 23 lowers the error");
    claim_monotone(run, "promote", 1, 16384, "U[0,1]: every longer interval of promotion raises it");
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
    .check = check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
