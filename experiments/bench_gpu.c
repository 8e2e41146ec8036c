/* bench_gpu.c - throughput of the CUDA backend: rounding beside a device copy, matrix products under datapaths, training.
 *
 * Times are those of events in the device's stream; a row holds the median of at least five batches, and arrays are rotated
 * so that nothing is found in the second-level cache. `ratio` compares with the yardstick of the same run: the copy, in bytes
 * per second, for rounding; the binary32 chain for products under datapaths; the CPU's own backend for training. The numbers
 * are timings: they differ from run to run and decide no test.
 */
#include "harness/harness.h"
#include "harness/spread.h"
#include "kernels/cuda/cuda.h"
#include "sim/train.h"

#include <stdlib.h>
#include <time.h>

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("binary16,bfloat16,e4m3,e5m2,q8.8", "binary16,bfloat16"),
    ULP_TAKES_MODES("rne,rz,ro,sr,sr/8", "rne,sr"),
    ULP_TAKES_DATAPATHS("fp32,serial:binary16:rne,serial:bfloat16:rne,serial:binary16:sr,split:binary16:rne,chunk32:e6m9:rne,"
                        "pairwise:binary16:rne,kahan:binary16:rne,exact:binary32:rne,int8,v100-fp16,a100-fp16,a100-bf16,a100-tf32,"
                        "h100-fp16,h100-bf16,h100-e4m3,h100-e4m3:promote=128,h100-e4m3-mma,b200-e4m3,b200-e4m3-mx",
                        "fp32,serial:binary16:rne,h100-fp16"),
    {"elements", ULP_OPTION_INTEGER, "134217728", "65536", NULL, "elements of an array that is rounded", 16, 1e10, NULL, 0},
    {"arrays", ULP_OPTION_INTEGER, "3", NULL, NULL, "pairs of arrays that take turns", 1, 64, NULL, 0},
    {"size", ULP_OPTION_INTEGER, "2048", "64", "4096", "m = n = k of products under datapaths", 1, 1e5, NULL, 0},
    {"steps", ULP_OPTION_INTEGER, "60", "2", "300", "training steps that are timed", 1, 1e6, NULL, 0},
    {"seconds", ULP_OPTION_NUMBER, "0.3", "0.001", "1", "time per row at least", 0.0001, 60, NULL, 0},
    ULP_TAKES_SEED,
    {0},
};

/* Networks and policies whose training is timed. */
static const struct training {
    const char *name, *net, *policy; /* the name stands for the policy in the CSV */
} trainings[] = {
    {"fp32", "fc1024 relu fc1024 relu fc10", "fp32"},
    {"mixed:fp16", "fc1024 relu fc1024 relu fc10", "mixed:fp16"},
    {"mixed:fp16 sr h100-fp16", "fc1024 relu fc1024 relu fc10", "mixed:fp16,mode=sr,acc=h100-fp16"},
    {"mixed:fp16", "conv32@3p1 relu pool2 conv64@3p1 relu pool2 fc128 relu fc10", "mixed:fp16"},
};
enum { TRAININGS = sizeof trainings / sizeof trainings[0], BATCHES = 41, BATCH = 256 };

typedef struct bench {
    const ulp_backend *gpu, *cpu;
    ulp_cuda_timer *timer;
    size_t elements, arrays, size;
    uint64_t steps;
    double seconds;
    float **x, **y;          /* (arrays) of `elements`, on the device */
    float *a, *b, *c;        /* matrices (size,size) */
    double *wide;            /* three matrices, for datapaths whose results are wider than binary32 */
    ulp_data data;
} bench;

/* One thing to time; `turn` chooses the arrays. */
typedef struct task {
    const bench *b;
    size_t turn;
    const ulp_format *format;
    ulp_rule rule;
    const ulp_datapath *datapath;
    ulp_stats *stats;
} task;

typedef ulp_status (*work)(task *t);

/* *median: seconds of one call. */
static ulp_status measure(double *median, work todo, task *t) {
    double batch[BATCHES], once = 0.0, sum = 0.0;
    ulp_status status = todo(t);
    if (status == ULP_OK) status = ulp_cuda_timer_start(t->b->timer);
    if (status == ULP_OK) status = todo(t);
    if (status == ULP_OK) status = ulp_cuda_timer_stop(t->b->timer, &once);
    const double share = t->b->seconds / BATCHES / (once + 1e-7);
    const size_t calls = share < 1.0 ? 1 : share > 1e5 ? 100000 : (size_t)share;
    size_t batches = 0;
    for (; status == ULP_OK && batches < BATCHES && (batches < 5 || sum < t->b->seconds); batches++) {
        double seconds = 0.0;
        status = ulp_cuda_timer_start(t->b->timer);
        for (size_t i = 0; i < calls && status == ULP_OK; i++) status = todo(t);
        if (status == ULP_OK) status = ulp_cuda_timer_stop(t->b->timer, &seconds);
        batch[batches] = seconds / (double)calls;
        sum += seconds;
    }
    if (status != ULP_OK) return status;
    ulp_sort_numbers(batch, batches);
    *median = batch[batches / 2];
    return ULP_OK;
}

static ulp_status copy_work(task *t) {
    const size_t k = t->turn++ % t->b->arrays;
    return ulp_cuda_copy(t->b->y[k], t->b->x[k], t->b->elements * sizeof(float));
}

static ulp_status round_work(task *t) {
    const size_t k = t->turn++ % t->b->arrays;
    return t->b->gpu->round(t->b->y[k], t->b->x[k], t->b->elements, t->format, t->rule, (ulp_stream){1, 0, 0}, t->stats);
}

static ulp_status gemm_work(task *t) {
    const size_t n = t->b->size, all = n * n;
    const ulp_gemm_shape shape = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
    const ulp_stream stream = {1, 0, 0};
    if (t->datapath->result.fits_binary32) return t->b->gpu->gemm(t->b->c, t->b->a, t->b->b, &shape, t->datapath, stream);
    return t->b->gpu->gemm64(t->b->wide, t->b->wide + all, t->b->wide + 2 * all, &shape, t->datapath, stream);
}

static void emit(ulp_rows *rows, const char *what, const char *of, const char *mode, double n, double rate, const char *unit, double ratio) {
    ulp_put_text(rows, what);
    ulp_put_text(rows, of);
    ulp_put_text(rows, mode);
    ulp_put_number(rows, n);
    ulp_put_number(rows, rate);
    ulp_put_text(rows, unit);
    if (ratio > 0) ulp_put_number(rows, ratio);
    else ulp_put_none(rows);
    ulp_row_end(rows);
}

/* ---- rounding ---- */

static ulp_status round_rows(const ulp_run *run, const bench *b, ulp_rows *rows) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    const double n = (double)b->elements, bytes = 2.0 * sizeof(float) * n;
    double seconds, copy;
    task t = {.b = b};
    ulp_stats stats = {0};
    ulp_status status = measure(&seconds, copy_work, &t);
    if (status != ULP_OK) return status;
    copy = bytes / seconds;
    emit(rows, "copy", "", "", n, copy * 1e-9, "GB/s", 1);
    for (size_t f = 0; f < formats; f++)
        for (size_t m = 0; m < modes; m++)
            for (int counting = 0; counting < 2; counting++) {
                t.format = &format[f];
                t.rule = mode[m].rule;
                t.stats = counting ? &stats : NULL;
                if (counting && (f > 0 || m > 0)) continue; /* counters: once is enough to know their price */
                status = measure(&seconds, round_work, &t);
                if (status != ULP_OK) return ulp_run_fail(run, status, "%s %s", format[f].name, mode[m].name);
                emit(rows, counting ? "round and count" : "round", format[f].name, mode[m].name, n, bytes / seconds * 1e-9, "GB/s", bytes / seconds / copy);
            }
    return ULP_OK;
}

/* ---- products ---- */

/* Operands in (-2, 2), integers in (-128, 128), rounded to the datapath's inputs. */
static ulp_status operands(const bench *b, const ulp_datapath *d) {
    const size_t n = b->size * b->size;
    ulp_format fp16;
    ulp_status status = ulp_format_parse(&fp16, "binary16");
    const ulp_format *format[2] = {d->has_inputs ? &d->a : &fp16, d->has_inputs ? &d->b : &fp16};
    float *x = malloc(n * sizeof *x);
    double *wide = malloc(n * sizeof *wide);
    if (x == NULL || wide == NULL) status = ULP_NO_MEMORY;
    uint32_t state = 1; /* nothing here depends on their quality */
    for (size_t m = 0; m < 2 && status == ULP_OK; m++) {
        for (size_t i = 0; i < n; i++) {
            state = state * 1664525u + 1013904223u;
            x[i] = (float)(int32_t)state * (format[m]->is_fixed ? 0x1p-24f : 0x1p-30f);
        }
        float *const at = m == 0 ? b->a : b->b;
        status = b->gpu->upload(at, x, n * sizeof *x);
        if (status == ULP_OK) status = b->gpu->round(at, at, n, format[m], (ulp_rule){0, 0, 0}, (ulp_stream){1, 0, 0}, NULL);
        if (status == ULP_OK) status = b->gpu->download(x, at, n * sizeof *x);
        for (size_t i = 0; i < n; i++) wide[i] = (double)x[i];
        if (status == ULP_OK) status = b->gpu->upload(b->wide + (m + 1) * n, wide, n * sizeof *wide);
    }
    free(wide);
    free(x);
    return status;
}

static ulp_status gemm_rows(const ulp_run *run, const bench *b, ulp_rows *rows) {
    size_t datapaths;
    const ulp_datapath *datapath = ulp_run_datapaths(run, &datapaths);
    const double n = (double)b->size, products = n * n * n;
    double seconds, chain;
    task t = {.b = b};
    ulp_datapath fp32;
    ulp_status status = ulp_datapath_parse(&fp32, "fp32");
    t.datapath = &fp32;
    if (status == ULP_OK) status = operands(b, &fp32);
    if (status == ULP_OK) status = measure(&seconds, gemm_work, &t);
    if (status != ULP_OK) return ulp_run_fail(run, status, "fp32: %s", ulp_cuda_error());
    chain = products / seconds;
    for (size_t d = 0; d < datapaths; d++) {
        t.datapath = &datapath[d];
        status = operands(b, t.datapath);
        if (status == ULP_OK) status = measure(&seconds, gemm_work, &t);
        if (status != ULP_OK) return ulp_run_fail(run, status, "%s: %s", datapath[d].name, ulp_cuda_error());
        emit(rows, "gemm", datapath[d].name, "", n, products / seconds * 1e-9, "G products/s", products / seconds / chain);
        if (ulp_rows_progress(rows, (double)(d + 1) / (double)datapaths)) return ULP_OK;
    }
    return ULP_OK;
}

/* ---- training ---- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* *rate: steps per second after a few to warm up; the host's clock, since much of a step is the host's. */
static ulp_status train(double *rate, const bench *b, const struct training *what, const ulp_backend *backend, uint64_t steps) {
    char error[1024];
    ulp_trainer *trainer;
    const ulp_train_options o = {.net = what->net, .policy = what->policy, .scaler = "static:8", .optimizer = "sgd,momentum=0.9",
                                 .batch = BATCH < b->data.n_train ? BATCH : b->data.n_train, .seed = 1, .backend = backend};
    ulp_status status = ulp_trainer_new(&trainer, &b->data, &o, error, sizeof error);
    if (status != ULP_OK) return status;
    double began = 0.0;
    for (uint64_t k = 0; k < steps + 3 && status == ULP_OK; k++) {
        if (k == 3) began = now();
        status = ulp_trainer_step(trainer, NULL);
    }
    *rate = (double)steps / (now() - began + 1e-9);
    ulp_trainer_free(trainer);
    return status;
}

static ulp_status train_rows(const ulp_run *run, const bench *b, ulp_rows *rows) {
    for (size_t i = 0; i < TRAININGS; i++) {
        double gpu, cpu;
        ulp_status status = train(&gpu, b, &trainings[i], b->gpu, b->steps);
        if (status == ULP_OK) status = train(&cpu, b, &trainings[i], b->cpu, b->steps < 10 ? b->steps : 10);
        if (status != ULP_OK) return ulp_run_fail(run, status, "training %s: %s", trainings[i].net, ulp_cuda_error());
        emit(rows, "training", trainings[i].net, trainings[i].name, BATCH, gpu, "steps/s", gpu / cpu);
        if (ulp_rows_progress(rows, (double)(i + 1) / TRAININGS)) return ULP_OK;
    }
    return ULP_OK;
}

/* ---- the run ---- */

enum { ROUNDING, PRODUCTS, TRAINING };

static ulp_status prepare_arrays(bench *b) {
    const size_t n = b->size * b->size, piece = b->elements < (1u << 20) ? b->elements : (1u << 20);
    b->x = calloc(2 * b->arrays, sizeof *b->x);
    float *host = malloc(piece * sizeof *host);
    if (b->x == NULL || host == NULL) return free(host), ULP_NO_MEMORY;
    b->y = b->x + b->arrays;
    uint32_t state = 1;
    for (size_t i = 0; i < piece; i++) {
        state = state * 1664525u + 1013904223u;
        host[i] = (float)(int32_t)state * 0x1p-30f;
    }
    ulp_status status = ULP_OK;
    for (size_t k = 0; k < b->arrays && status == ULP_OK; k++) {
        b->x[k] = b->gpu->alloc(b->elements * sizeof(float));
        b->y[k] = b->gpu->alloc(b->elements * sizeof(float));
        if (b->x[k] == NULL || b->y[k] == NULL) status = ULP_NO_MEMORY;
        for (size_t at = 0; at < b->elements && status == ULP_OK; at += piece)
            status = b->gpu->upload(b->x[k] + at, host, (b->elements - at < piece ? b->elements - at : piece) * sizeof *host);
    }
    free(host);
    b->a = b->gpu->alloc(n * sizeof(float));
    b->b = b->gpu->alloc(n * sizeof(float));
    b->c = b->gpu->alloc(n * sizeof(float));
    b->wide = b->gpu->alloc(3 * n * sizeof(double));
    return b->a == NULL || b->b == NULL || b->c == NULL || b->wide == NULL ? ULP_NO_MEMORY : status;
}

static ulp_status prepare(ulp_run *run, void **context) {
    char error[1024];
    ulp_cuda_info info;
    bench *b = calloc(1, sizeof *b);
    if (b == NULL) return ULP_NO_MEMORY;
    *context = b;
    *b = (bench){.elements = (size_t)ulp_option_integer(run, "elements"), .arrays = (size_t)ulp_option_integer(run, "arrays"),
                 .size = (size_t)ulp_option_integer(run, "size"), .steps = (uint64_t)ulp_option_integer(run, "steps"),
                 .seconds = ulp_option_number(run, "seconds")};
    if (ulp_backend_get(&b->gpu, "cuda") != ULP_OK) return ulp_run_fail(run, ULP_NO_DEVICE, "%s", ulp_cuda_lacks());
    ulp_status status = ulp_backend_get(&b->cpu, "cpu");
    if (status == ULP_OK) status = ulp_cuda_describe(&info);
    if (status == ULP_OK) status = ulp_cuda_timer_open(&b->timer);
    if (status == ULP_OK) status = prepare_arrays(b);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", ulp_cuda_error());
    status = ulp_data_load(&b->data, "digits", NULL, 1, error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", error);
    ulp_header_add(run, "timing", "yes: two runs of this file differ");
    ulp_header_add(run, "device", "%s, compute capability %d.%d", info.name, info.capability / 10, info.capability % 10);
    ulp_point_add(run, (ulp_point){.at = {ROUNDING}}, "rounding");
    ulp_point_add(run, (ulp_point){.at = {PRODUCTS}}, "matrix products");
    ulp_point_add(run, (ulp_point){.at = {TRAINING}}, "training");
    return ULP_OK;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    const bench *b = context;
    switch (point->at[0]) {
    case ROUNDING: return round_rows(run, b, rows);
    case PRODUCTS: return gemm_rows(run, b, rows);
    default: return train_rows(run, b, rows);
    }
}

static void check(ulp_run *run, const void *context) {
    (void)context;
    ulp_table *table = ulp_table_new("throughput of the CUDA backend", "what,of,mode,n,rate,unit,ratio");
    for (long row = 0; row < ulp_row_count(run); row++) {
        static const char *const words[] = {"what", "of", "mode"};
        for (int c = 0; c < 3; c++) ulp_table_put(table, "%s", ulp_row_text(run, row, words[c]));
        ulp_table_put(table, "%.0f", ulp_row_number(run, row, "n"));
        ulp_table_put(table, "%.4g", ulp_row_number(run, row, "rate"));
        ulp_table_put(table, "%s", ulp_row_text(run, row, "unit"));
        const double ratio = ulp_row_number(run, row, "ratio");
        if (ratio == ratio) ulp_table_put(table, "%.3g", ratio);
        else ulp_table_put(table, "%s", "");
    }
    ulp_table_print(table, run);
}

static void release(void *context) {
    bench *b = context;
    if (b == NULL) return;
    for (size_t k = 0; b->x != NULL && k < 2 * b->arrays; k++)
        if (b->x[k] != NULL) b->gpu->release(b->x[k]);
    float *const matrices[] = {b->a, b->b, b->c};
    for (size_t k = 0; k < 3; k++)
        if (matrices[k] != NULL) b->gpu->release(matrices[k]);
    if (b->wide != NULL) b->gpu->release(b->wide);
    ulp_cuda_timer_close(b->timer);
    ulp_data_release(&b->data);
    free(b->x);
    free(b);
}

static const ulp_experiment experiment = {
    .name = "bench_gpu",
    .question = "How fast is a GPU at rounding, beside a copy, and at products and training in emulated arithmetic?",
    .columns = "what,of,mode,n,rate,unit,ratio",
    .options = options,
    .threads_inside = 1,
    .whole = 1,
    .prepare = prepare,
    .compute = compute,
    .check = check,
    .release = release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
