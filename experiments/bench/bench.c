/* bench.c - throughput of rounding and of matrix products, beside memcpy and OpenBLAS in the same run.
 *
 * Every row holds one median: the work is repeated until it has taken `--seconds`, in at least five batches.
 * `ratio` compares with the yardstick of the same size in the same run: memcpy for rounding (elements copied
 * per second), sgemm for products. For products, `time` is the time in units of the binary32 chain's, and `naive` the
 * speed in units of the datapath's definition, a C loop that forms one output after the other. The numbers are timings:
 * they differ from run to run and decide no test.
 */
#include "experiments/harness/harness.h"
#include "experiments/harness/claims/spread.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(ULP_WITH_BLAS)
void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc);
void openblas_set_num_threads(int n);
#endif

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("binary16,bfloat16,e4m3,e5m2", NULL),
    ULP_TAKES_MODES("rne,rz,ro,sr", "rne,sr"),
    ULP_TAKES_DATAPATHS(
        "fp32,serial:binary16:rne,serial:bfloat16:rne,serial:binary16:sr,split:binary16:rne,chunk32:e6m9:rne,"
        "pairwise:binary16:rne,kahan:binary16:rne,exact:binary32:rne,int8,v100-fp16,a100-fp16,a100-bf16,a100-tf32,"
        "a100-fp16-fp16,h100-fp16,h100-bf16,h100-e4m3,h100-e4m3:promote=128,h100-e4m3-mma,b200-e4m3,b200-e4m3-mx",
        NULL),
    {"cache", ULP_OPTION_INTEGER, "2048", NULL, NULL, "elements of an array that stays in the first-level cache", 16,
     1e9, NULL, 0},
    {"memory", ULP_OPTION_INTEGER, "33554432", "4194304", NULL, "elements of an array that does not fit any cache", 16,
     1e9, NULL, 0},
    {"size", ULP_OPTION_INTEGER, "768", "256", "2048", "m = n = k of the matrix products", 1, 1e5, NULL, 0},
    {"seconds", ULP_OPTION_NUMBER, "0.2", "0.02", "1", "time per row at least", 0.001, 60, NULL, 0},
    ULP_TAKES_SEED,
    {0},
};

typedef struct bench {
    const ulp_backend *backend;
    size_t cache, memory, size;
    double seconds;
    float *x, *y, *z;
    double *wide; /* three matrices, for datapaths whose results are wider than binary32 */
} bench;

/* One thing to time. */
typedef struct task {
    const bench *b;
    size_t n;
    const ulp_format *format;
    ulp_rule rule;
    const ulp_datapath *datapath;
} task;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Median seconds of one call. */
static double measure(void (*work)(const task *t), const task *t) {
    enum { BATCHES = 41 };
    double batch[BATCHES];
    work(t);
    double started = now();
    work(t);
    double once = now() - started + 1e-9;
    size_t calls = (size_t)(t->b->seconds / BATCHES / once) + 1, batches = 0;
    started = now();
    while (batches < BATCHES && (batches < 5 || now() - started < t->b->seconds)) {
        double begin = now();
        for (size_t i = 0; i < calls; i++) work(t);
        batch[batches++] = (now() - begin) / (double)calls;
    }
    ulp_sort_numbers(batch, batches);
    return batch[batches / 2];
}

static void copy_part(void *context, size_t begin, size_t end) {
    const task *t = context;
    memcpy(t->b->y + begin, t->b->x + begin, (end - begin) * sizeof(float));
}

static void copy_work(const task *t) { ulp_parallel_for(t->n, (size_t)1 << 20, copy_part, (void *)(uintptr_t)t); }

static void round_work(const task *t) {
    ulp_backend_round(t->b->backend, t->b->y, t->b->x, t->n,
                      (ulp_rounding){t->format, t->rule, (ulp_stream){1, 0, 0}, NULL});
}

static void gemm_work(const task *t) {
    const size_t n = t->b->size;
    const double *wide = t->b->wide;
    const ulp_gemm_shape shape = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
    const ulp_stream stream = {1, 0, 0};
    if (t->datapath->result.fits_binary32)
        ulp_backend_gemm(t->b->backend, t->b->z, t->b->x, t->b->y, &shape, (ulp_summation){t->datapath, stream});
    else
        ulp_backend_gemm64(t->b->backend, t->b->wide, wide + n * n, wide + 2 * n * n, &shape,
                           (ulp_summation){t->datapath, stream});
}

/* One output by the definition. */
static void dot_work(const task *t) {
    const size_t n = t->b->size;
    const double *wide = t->b->wide;
    t->b->wide[0] =
        ulp_dot(t->datapath, 0.0, wide + n * n, wide + 2 * n * n, n, (ulp_scales){NULL, NULL}, (ulp_stream){1, 0, 0});
}

/* Operands of a product: values in (-2, 2), integers in (-128, 128), rounded to the datapath's inputs. */
static ulp_status operands(const bench *b, const ulp_datapath *d) {
    const size_t n = b->size * b->size;
    ulp_format fp16;
    ulp_status status = ulp_format_parse(&fp16, "binary16");
    const ulp_format *format[2] = {d->has_inputs ? &d->a : &fp16, d->has_inputs ? &d->b : &fp16};
    uint32_t state = 1; /* nothing here depends on their quality */
    for (int m = 0; m < 2 && status == ULP_OK; m++) {
        float *x = m == 0 ? b->x : b->y;
        for (size_t i = 0; i < n; i++) {
            state = state * 1664525u + 1013904223u;
            x[i] = (float)(int32_t)state * (format[m]->is_fixed ? 0x1p-24f : 0x1p-30f);
        }
        status = ulp_backend_round(b->backend, x, x, n,
                                   (ulp_rounding){.format = format[m], .stream = (ulp_stream){1, 0, 0}});
        for (size_t i = 0; i < n; i++) b->wide[(size_t)(m + 1) * n + i] = (double)x[i];
    }
    return status;
}

#if defined(ULP_WITH_BLAS)
static void blas_work(const task *t) {
    const int n = (int)t->b->size;
    cblas_sgemm(101, 111, 111, n, n, n, 1.0f, t->b->x, n, t->b->y, n, 0.0f, t->b->z, n);
}
#endif

static void emit(ulp_rows *rows, const char *what, const char *format, const char *mode, const char *where, int threads,
                 double rate, double ratio, double time, double naive) {
    ulp_put_text(rows, what);
    ulp_put_text(rows, format);
    ulp_put_text(rows, mode);
    ulp_put_text(rows, where);
    ulp_put_integer(rows, threads);
    ulp_put_number(rows, rate * 1e-9);
    const double last[] = {ratio, time, naive};
    for (int i = 0; i < 3; i++) {
        if (last[i] > 0) ulp_put_number(rows, last[i]);
        else ulp_put_none(rows);
    }
    ulp_row_end(rows);
}

/* The rows of one place: memcpy, then every format and mode beside it. */
static void round_rows(const ulp_run *run, const bench *b, ulp_rows *rows, const char *where, size_t n, int threads) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    ulp_threads_set(threads);
    task t = {.b = b, .n = n};
    double copy = (double)n / measure(copy_work, &t);
    emit(rows, "memcpy", "", "", where, threads, copy, 1, 0, 0);
    for (size_t f = 0; f < formats; f++)
        for (size_t m = 0; m < modes; m++) {
            t.format = &format[f];
            t.rule = mode[m].rule;
            double rate = (double)n / measure(round_work, &t);
            emit(rows, "round", format[f].name, mode[m].name, where, threads, rate, rate / copy, 0, 0);
        }
}

static ulp_status gemm_rows(const ulp_run *run, const bench *b, ulp_rows *rows) {
    size_t datapaths;
    const ulp_datapath *datapath = ulp_run_datapaths(run, &datapaths);
    const double n = (double)b->size, products = n * n * n;
    double blas = 0, chain;
    task t = {.b = b};
    ulp_threads_set(1);
    ulp_datapath fp32;
    ulp_status status = ulp_datapath_parse(&fp32, "fp32");
    if (status == ULP_OK) status = operands(b, &fp32);
    if (status != ULP_OK) return status;
    t.datapath = &fp32;
    chain = products / measure(gemm_work, &t);
#if defined(ULP_WITH_BLAS)
    openblas_set_num_threads(1);
    blas = products / measure(blas_work, &t);
    emit(rows, "sgemm", "OpenBLAS", "", "memory", 1, blas, 1, chain / blas, 0);
#endif
    for (size_t d = 0; d < datapaths; d++) {
        t.datapath = &datapath[d];
        status = operands(b, t.datapath);
        if (status != ULP_OK) return ulp_run_fail(run, status, "%s: operands", datapath[d].name);
        const double rate = products / measure(gemm_work, &t), naive = n / measure(dot_work, &t);
        emit(rows, "gemm", datapath[d].name, "", "memory", 1, rate, blas > 0 ? rate / blas : 0.0, chain / rate,
             rate / naive);
        if (ulp_rows_progress(rows, (double)(d + 1) / (double)datapaths)) return ULP_OK;
    }
    return ULP_OK;
}

enum { CACHE, MEMORY, MEMORY_ALL, PRODUCTS };

static ulp_status prepare(ulp_run *run, void **context) {
    bench *b = calloc(1, sizeof *b);
    if (b == NULL) return ULP_NO_MEMORY;
    *context = b;
    *b = (bench){.cache = (size_t)ulp_option_integer(run, "cache"),
                 .memory = (size_t)ulp_option_integer(run, "memory"),
                 .size = (size_t)ulp_option_integer(run, "size"),
                 .seconds = ulp_option_number(run, "seconds")};
    size_t room = b->memory > b->cache ? b->memory : b->cache;
    if (room < b->size * b->size) room = b->size * b->size;
    ulp_status status = ulp_backend_get(&b->backend, "cpu");
    if (status != ULP_OK) return ulp_run_fail(run, status, "ULPLAB_ISA=%s", getenv("ULPLAB_ISA"));
    b->x = b->backend->alloc(room * sizeof(float));
    b->y = b->backend->alloc(room * sizeof(float));
    b->z = b->backend->alloc(b->size * b->size * sizeof(float));
    b->wide = b->backend->alloc(3 * b->size * b->size * sizeof(double));
    if (b->x == NULL || b->y == NULL || b->z == NULL || b->wide == NULL) return ULP_NO_MEMORY;
    uint32_t state = 1; /* values in (-2, 2): nothing here depends on their quality */
    for (size_t i = 0; i < room; i++) {
        state = state * 1664525u + 1013904223u;
        b->x[i] = (float)(int32_t)state * 0x1p-30f;
        b->y[i] = b->x[i];
    }
    ulp_header_add(run, "timing", "yes: two runs of this file differ");
    ulp_point_add(run, (ulp_point){.at = {CACHE}}, "in cache");
    ulp_point_add(run, (ulp_point){.at = {MEMORY}}, "in memory, one thread");
    if (ulp_threads_get() > 1)
        ulp_point_add(run, (ulp_point){.at = {MEMORY_ALL, ulp_threads_get()}}, "in memory, all threads");
    ulp_point_add(run, (ulp_point){.at = {PRODUCTS}}, "matrix products");
    return ULP_OK;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    const bench *b = context;
    const int threads = ulp_threads_get();
    ulp_status status = ULP_OK;
    switch (point->at[0]) {
    case CACHE: round_rows(run, b, rows, "cache", b->cache, 1); break;
    case MEMORY: round_rows(run, b, rows, "memory", b->memory, 1); break;
    case MEMORY_ALL: round_rows(run, b, rows, "memory", b->memory, (int)point->at[1]); break;
    default: status = gemm_rows(run, b, rows); break;
    }
    ulp_threads_set(threads);
    return status;
}

static void check(ulp_run *run, const void *context) {
    (void)context;
    ulp_sheet *table = ulp_sheet_new("throughput: G elements/s of rounding, G products/s of gemm",
                                     "what,of,mode,where,threads,G/s,ratio,time / fp32's,naive loops");
    for (long row = 0; row < ulp_row_count(run); row++) {
        static const char *const columns[] = {"what", "format", "mode", "where", "threads"};
        for (int c = 0; c < 5; c++) ulp_sheet_put(table, "%s", ulp_row_text(run, row, columns[c]));
        static const char *const numbers[] = {"rate", "ratio", "time", "naive"};
        for (int c = 0; c < 4; c++) {
            const double x = ulp_row_number(run, row, numbers[c]);
            if (x == x) ulp_sheet_put(table, "%.3g", x);
            else ulp_sheet_put(table, "%s", "");
        }
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

static void release(void *context) {
    bench *b = context;
    if (b == NULL) return;
    free(b->x);
    free(b->y);
    free(b->z);
    free(b->wide);
    free(b);
}

static const ulp_experiment experiment = {
    .name = "bench",
    .question = "How fast is rounding, beside memcpy, and a matrix product, beside OpenBLAS?",
    .columns = "what,format,mode,where,threads,rate,ratio,time,naive",
    .options = options,
    .threads_inside = 1,
    .whole = 1,
    .prepare = prepare,
    .compute = compute,
    .check = check,
    .release = release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
