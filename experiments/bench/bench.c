/* bench.c - throughput of rounding and of matrix products, beside memcpy and OpenBLAS in the same run.
 *
 * A row holds one median: the work is repeated until it has taken --seconds, in at least five batches. The numbers are
 * timings: they differ from run to run, and no test depends on them.
 *
 * Columns:
 *   - ratio: the speed, relative to the reference of the same size in the same run: memcpy for rounding (elements
 *     copied per second), sgemm for products
 *   - time: for products, the time relative to that of the binary32 chain
 *   - naive: for products, the speed relative to that of the definition of the datapath, a C loop that forms one output
 *     after the other
 */
#include "experiments/harness/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/harness/claims/spread.h"

#if defined(ULP_WITH_BLAS)
void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc);
void openblas_set_num_threads(int n);
#endif

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    ulp_datapath_list datapaths;
    int64_t cache, memory, size;
    double seconds;
    uint64_t seed;
} settings;

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_OF(settings, formats, "binary16,bfloat16,e4m3,e5m2", NULL),
    ULP_OPTION_MODES_OF(settings, modes, "rne,rz,ro,sr", "rne,sr"),
    ULP_OPTION_DATAPATHS_OF(
        settings, datapaths,
        "fp32,serial:binary16:rne,serial:bfloat16:rne,serial:binary16:sr,split:binary16:rne,chunk32:e6m9:rne,"
        "pairwise:binary16:rne,kahan:binary16:rne,exact:binary32:rne,int8,v100-fp16,a100-fp16,a100-bf16,a100-tf32,"
        "a100-fp16-fp16,h100-fp16,h100-bf16,h100-e4m3,h100-e4m3:promote=128,h100-e4m3-mma,b200-e4m3,b200-e4m3-mx",
        NULL),
    ULP_OPTION(settings, cache, integer, "2048", .help = "elements of an array that stays in the first-level cache",
               .min = 16, .max = 1e9),
    ULP_OPTION(settings, memory, integer, "33554432", .quick = "4194304",
               .help = "elements of an array that does not fit any cache", .min = 16, .max = 1e9),
    ULP_OPTION(settings, size, integer, "768", .quick = "256", .full = "2048",
               .help = "m = n = k of the matrix products", .min = 1, .max = 1e5),
    ULP_OPTION(settings, seconds, number, "0.2", .quick = "0.02", .full = "1", .help = "time per row at least",
               .min = 0.001, .max = 60),
    ULP_OPTION_SEED(settings, seed),
    {0},
};

/* A part of the run: rounding of arrays in one place with some number of threads, or the products. */
typedef struct point {
    int products, where, threads;
} point;

enum { MEMCPY, ROUND, SGEMM, GEMM };
#define WHAT_WORDS "memcpy round sgemm gemm"
enum { CACHE, MEMORY };
#define WHERE_WORDS "cache memory"

typedef struct row {
    int what;
    const char *format, *mode; /* format may also be the name of a datapath or of a library */
    int where;
    int64_t threads;
    double rate, ratio, time, naive;
} row;

static const ulp_column columns[] = {
    ULP_WORDS(row, what, WHAT_WORDS),
    ULP_COLUMNS(row, format, mode),
    ULP_WORDS(row, where, WHERE_WORDS),
    ULP_COLUMNS(row, threads, rate, ratio, time, naive),
    {0},
};

/* What all parts share. */
typedef struct bench {
    const ulp_backend *backend;
    size_t size;
    double seconds;
    float *x, *y, *z;
    double *wide; /* three matrices, for datapaths whose results do not fit binary32 */
} bench;

/* One piece of work to time. */
typedef struct job {
    const bench *b;
    size_t n;
    const ulp_format *format;
    ulp_rule rule;
    const ulp_datapath *datapath;
} job;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The median time of one call, in seconds. */
static double measure(void (*work)(const job *t), const job *t) {
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
    const job *t = context;
    memcpy(t->b->y + begin, t->b->x + begin, (end - begin) * sizeof(float));
}

static void copy_work(const job *t) { ulp_parallel_for(t->n, (size_t)1 << 20, copy_part, (void *)(uintptr_t)t); }

static void round_work(const job *t) {
    ulp_backend_round(t->b->backend, t->b->y, t->b->x, t->n,
                      (ulp_rounding){t->format, t->rule, (ulp_stream){1, 0, 0}, NULL});
}

static void gemm_work(const job *t) {
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

/* Forms one output by the definition of the datapath. */
static void dot_work(const job *t) {
    const size_t n = t->b->size;
    const double *wide = t->b->wide;
    t->b->wide[0] =
        ulp_dot(t->datapath, 0.0, (ulp_products){wide + n * n, wide + 2 * n * n, n, NULL, NULL}, (ulp_stream){1, 0, 0});
}

/* Fills the operands of a product: values in (-2, 2), or integers in (-128, 128), rounded to the inputs of the
 * datapath. */
static ulp_status operands(const bench *b, const ulp_datapath *d) {
    const size_t n = b->size * b->size;
    ulp_format fp16;
    ulp_status status = ulp_format_parse(&fp16, "binary16");
    const ulp_format *format[2] = {d->has_inputs ? &d->a : &fp16, d->has_inputs ? &d->b : &fp16};
    uint32_t state = 1; /* the quality of the random numbers does not matter */
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
static void blas_work(const job *t) {
    const int n = (int)t->b->size;
    cblas_sgemm(101, 111, 111, n, n, n, 1.0f, t->b->x, n, t->b->y, n, 0.0f, t->b->z, n);
}
#endif

/* ---- rows ---- */

/* A row with its rate, in units of 1e9 per second. The other numbers are empty. */
static row row_of(const ulp_rows *rows, int what, int where, int threads, double rate) {
    row r;
    ulp_row_clear(rows, &r);
    r.what = what;
    r.where = where;
    r.threads = threads;
    r.rate = rate * 1e-9;
    return r;
}

/* Puts the rows of one place: first memcpy, then every format and mode. */
static void put_rounding(const ulp_task *task, size_t n) {
    const settings *set = task->settings;
    const point *p = task->point;
    ulp_threads_set(p->threads);
    job t = {.b = task->context, .n = n};
    const double copy = (double)n / measure(copy_work, &t);
    row r = row_of(task->rows, MEMCPY, p->where, p->threads, copy);
    r.ratio = 1;
    ulp_row_put(task->rows, &r);
    for (size_t f = 0; f < set->formats.count; f++)
        for (size_t m = 0; m < set->modes.count; m++) {
            t.format = &set->formats.at[f];
            t.rule = set->modes.at[m].rule;
            const double rate = (double)n / measure(round_work, &t);
            r = row_of(task->rows, ROUND, p->where, p->threads, rate);
            r.format = t.format->name;
            r.mode = set->modes.at[m].name;
            r.ratio = rate / copy;
            ulp_row_put(task->rows, &r);
        }
}

/* Measures the products per second of the binary32 chain and of sgemm. sgemm gets a row. *blas is 0 without
 * OpenBLAS. */
static ulp_status put_yardsticks(const ulp_task *task, double *chain, double *blas) {
    const bench *b = task->context;
    const double n = (double)b->size, products = n * n * n;
    ulp_datapath fp32;
    const job t = {.b = b, .datapath = &fp32};
    ulp_status status = ulp_datapath_parse(&fp32, "fp32");
    if (status == ULP_OK) status = operands(b, &fp32);
    if (status != ULP_OK) return status;
    *chain = products / measure(gemm_work, &t);
    *blas = 0;
#if defined(ULP_WITH_BLAS)
    openblas_set_num_threads(1);
    *blas = products / measure(blas_work, &t);
    row r = row_of(task->rows, SGEMM, MEMORY, 1, *blas);
    r.format = "OpenBLAS";
    r.ratio = 1;
    r.time = *chain / *blas;
    ulp_row_put(task->rows, &r);
#endif
    return ULP_OK;
}

static ulp_status put_products(const ulp_task *task) {
    const ulp_datapath_list *datapaths = &((const settings *)task->settings)->datapaths;
    const bench *b = task->context;
    const double n = (double)b->size, products = n * n * n;
    double chain, blas;
    ulp_threads_set(1);
    ulp_status status = put_yardsticks(task, &chain, &blas);
    for (size_t d = 0; d < datapaths->count && status == ULP_OK; d++) {
        const job t = {.b = b, .datapath = &datapaths->at[d]};
        status = operands(b, t.datapath);
        if (status != ULP_OK) return ulp_task_fail(task, status, "%s: operands", t.datapath->name);
        const double rate = products / measure(gemm_work, &t), naive = n / measure(dot_work, &t);
        row r = row_of(task->rows, GEMM, MEMORY, 1, rate);
        r.format = t.datapath->name;
        if (blas > 0) r.ratio = rate / blas;
        r.time = chain / rate;
        r.naive = rate / naive;
        ulp_row_put(task->rows, &r);
        if (ulp_task_progress(task, (double)(d + 1) / (double)datapaths->count)) break;
    }
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    const point *p = task->point;
    const int threads = ulp_threads_get();
    ulp_status status = ULP_OK;
    if (p->products) status = put_products(task);
    else put_rounding(task, (size_t)(p->where == CACHE ? set->cache : set->memory));
    ulp_threads_set(threads);
    return status;
}

/* ---- the run ---- */

static ulp_status take_arrays(bench *b, size_t room) {
    const size_t matrix = b->size * b->size;
    if (room < matrix) room = matrix;
    b->x = b->backend->alloc(room * sizeof(float));
    b->y = b->backend->alloc(room * sizeof(float));
    b->z = b->backend->alloc(matrix * sizeof(float));
    b->wide = b->backend->alloc(3 * matrix * sizeof(double));
    if (b->x == NULL || b->y == NULL || b->z == NULL || b->wide == NULL) return ULP_NO_MEMORY;
    uint32_t state = 1; /* values in (-2, 2); the quality of the random numbers does not matter */
    for (size_t i = 0; i < room; i++) {
        state = state * 1664525u + 1013904223u;
        b->x[i] = (float)(int32_t)state * 0x1p-30f;
        b->y[i] = b->x[i];
    }
    return ULP_OK;
}

static ulp_status plan(ulp_plan *plan, const void *own, void *shared) {
    const settings *set = own;
    bench *b = shared;
    const int threads = ulp_threads_get();
    b->size = (size_t)set->size;
    b->seconds = set->seconds;
    ulp_status status = ulp_backend_get(&b->backend, "cpu");
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "ULPLAB_ISA=%s", getenv("ULPLAB_ISA"));
    status = take_arrays(b, (size_t)(set->memory > set->cache ? set->memory : set->cache));
    if (status != ULP_OK) return status;
    ulp_plan_note(plan, "timing", "yes: two runs of this file differ");
    ulp_plan_add(plan, &(point){.where = CACHE, .threads = 1}, 1, "in cache");
    ulp_plan_add(plan, &(point){.where = MEMORY, .threads = 1}, 1, "in memory, one thread");
    if (threads > 1) ulp_plan_add(plan, &(point){.where = MEMORY, .threads = threads}, 1, "in memory, all threads");
    ulp_plan_add(plan, &(point){.products = 1}, 1, "matrix products");
    return ULP_OK;
}

static void put_word(ulp_sheet *table, const char *words, int place) {
    ulp_sheet_put(table, "%s", ulp_word_of(words, (size_t)place).text);
}

void judge(ulp_claims *c) {
    const row *rows = c->table->rows;
    ulp_sheet *table = ulp_sheet_new("throughput: G elements/s of rounding, G products/s of gemm",
                                     "what,of,mode,where,threads,G/s,ratio,time / fp32's,naive loops");
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = &rows[i];
        const double numbers[] = {r->rate, r->ratio, r->time, r->naive};
        put_word(table, WHAT_WORDS, r->what);
        ulp_sheet_put(table, "%s", r->format ? r->format : "");
        ulp_sheet_put(table, "%s", r->mode ? r->mode : "");
        put_word(table, WHERE_WORDS, r->where);
        ulp_sheet_put(table, "%lld", (long long)r->threads);
        for (int k = 0; k < 4; k++)
            if (isnan(numbers[k])) ulp_sheet_put(table, "%s", "");
            else ulp_sheet_put(table, "%.3g", numbers[k]);
    }
    ulp_sheet_print(table, c->file);
}

static void release(void *shared) {
    bench *b = shared;
    free(b->x);
    free(b->y);
    free(b->z);
    free(b->wide);
}

static const ulp_experiment experiment = {
    .name = "bench",
    .question = "How fast is rounding, beside memcpy, and a matrix product, beside OpenBLAS?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(bench),
    .threads_inside = 1,
    .whole = 1,
    .release = release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
