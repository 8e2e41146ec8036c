/* bench_gpu.c - throughput of a GPU: rounding beside a device copy, products under datapaths, the device's own
 * products, training.
 *
 * Times are those of events in the device's stream; a row holds the median of at least five batches, and the arrays
 * that are rounded take turns, so that none is found in the second-level cache. `ratio` compares with the yardstick of
 * the same run: the copy, in bytes per second, for rounding; the binary32 chain for products under datapaths; cuBLAS in
 * binary32 for the device's own; the CPU backend for training. The numbers are timings: they differ from run to run and
 * decide no test.
 */
#include "bench_gpu.h"

#include "experiments/harness/claims/spread.h"
#include "sim/train.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("binary16,bfloat16,e4m3,e5m2,q8.8", "binary16,bfloat16"),
    ULP_TAKES_MODES("rne,rz,ro,sr,sr/8", "rne,sr"),
    ULP_TAKES_DATAPATHS(
        "fp32,serial:binary16:rne,serial:bfloat16:rne,serial:binary16:sr,split:binary16:rne,chunk32:e6m9:rne,"
        "pairwise:binary16:rne,kahan:binary16:rne,exact:binary32:rne,int8,v100-fp16,a100-fp16,a100-bf16,a100-tf32,"
        "h100-fp16,h100-bf16,h100-e4m3,h100-e4m3:promote=128,h100-e4m3-mma,b200-e4m3,b200-e4m3-mx",
        "fp32,serial:binary16:rne,h100-fp16"),
    {"elements", ULP_OPTION_INTEGER, "134217728", "65536", NULL, "elements of an array that is rounded", 16, 1e10, NULL,
     0},
    {"arrays", ULP_OPTION_INTEGER, "3", NULL, NULL, "pairs of arrays that take turns", 1, 64, NULL, 0},
    {"size", ULP_OPTION_INTEGER, "2048", "64", "4096", "m = n = k of products under datapaths", 1, 1e5, NULL, 0},
    {"native-size", ULP_OPTION_INTEGER, "8192", "64", NULL, "m = n = k of the device's own products; 0: none", 0, 65536,
     NULL, 0},
    {"units", ULP_OPTION_INTEGER, "1024", "16", NULL, "of the layers of the networks that are trained", 1, 65536, NULL,
     0},
    {"batch", ULP_OPTION_INTEGER, "256", "16", NULL, "samples of a training step", 1, 1024, NULL, 0},
    {"steps", ULP_OPTION_INTEGER, "60", "2", "300", "training steps that are timed", 1, 1e6, NULL, 0},
    {"seconds", ULP_OPTION_NUMBER, "0.3", "0.001", "1", "time per row at least", 0.0001, 60, NULL, 0},
    {"backend", ULP_OPTION_CHOICE, "cuda", NULL, NULL, "the machine that is timed, a CUDA device", 0, 0, "cuda", 1},
    ULP_TAKES_SEED,
    {0},
};

/* Networks of `units` units and policies whose training is timed. */
static const struct training {
    const char *name, *net, *policy; /* the name stands for the policy in the CSV */
} trainings[] = {
    {"fp32", "fc%d relu fc%d relu fc10", "fp32"},
    {"mixed:fp16", "fc%d relu fc%d relu fc10", "mixed:fp16"},
    {"mixed:fp16 sr h100-fp16", "fc%d relu fc%d relu fc10", "mixed:fp16,mode=sr,acc=h100-fp16"},
    {"mixed:fp16", "conv32@3p1 relu pool2 conv64@3p1 relu pool2 fc%d relu fc10", "mixed:fp16"},
};
enum { TRAININGS = sizeof trainings / sizeof trainings[0], BATCHES = 41 };

ulp_status measure(double *median, work todo, task *t) {
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

void emit(ulp_rows *rows, const char *what, const char *of, const char *mode, double n, double rate, const char *unit,
          double ratio) {
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

static ulp_status copy_work(task *t) {
    const size_t k = t->turn++ % t->b->arrays;
    return ulp_cuda_copy(t->b->y[k], t->b->x[k], t->b->elements * sizeof(float));
}

static ulp_status round_work(task *t) {
    const size_t k = t->turn++ % t->b->arrays;
    return ulp_backend_round(t->b->gpu, t->b->y[k], t->b->x[k], t->b->elements,
                             (ulp_rounding){t->format, t->rule, (ulp_stream){1, 0, 0}, t->stats});
}

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
                emit(rows, counting ? "round and count" : "round", format[f].name, mode[m].name, n,
                     bytes / seconds * 1e-9, "GB/s", bytes / seconds / copy);
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
static ulp_status train(double *rate, const bench *b, const char *net, const struct training *what,
                        const ulp_backend *backend, uint64_t steps) {
    char error[1024];
    ulp_trainer *trainer;
    ulp_net parsed;
    ulp_policy policy;
    const ulp_scaler_rule scaler = ulp_scaler_static(8);
    ulp_optimizer_rule optimizer = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
    optimizer.momentum = 0.9;
    const ulp_train_options o = {.net = &parsed,
                                 .policy = &policy,
                                 .scaler = &scaler,
                                 .optimizer = &optimizer,
                                 .batch = b->batch,
                                 .seed = 1,
                                 .backend = backend};
    ulp_status status = ulp_policy_parse(&policy, what->policy, error, sizeof error);
    if (status == ULP_OK) status = ulp_net_parse(&parsed, net, b->data.dims, error, sizeof error);
    if (status != ULP_OK) return status;
    status = ulp_trainer_new(&trainer, &b->data, &o, error, sizeof error);
    ulp_net_release(&parsed);
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
        char net[128];
        snprintf(net, sizeof net, trainings[i].net, b->units, b->units);
        ulp_status status = train(&gpu, b, net, &trainings[i], b->gpu, b->steps);
        if (status == ULP_OK) status = train(&cpu, b, net, &trainings[i], b->cpu, b->steps < 10 ? b->steps : 10);
        if (status != ULP_OK) return ulp_run_fail(run, status, "training %s: %s", net, ulp_cuda_error());
        emit(rows, "training", net, trainings[i].name, (double)b->batch, gpu, "steps/s", gpu / cpu);
        if (ulp_rows_progress(rows, (double)(i + 1) / TRAININGS)) return ULP_OK;
    }
    return ULP_OK;
}

/* ---- the run ---- */

enum { ROUNDING, PRODUCTS, NATIVE, TRAINING };

static ulp_status prepare(ulp_run *run, void **context) {
    char error[1024];
    ulp_cuda_info info;
    bench *b = calloc(1, sizeof *b);
    if (b == NULL) return ULP_NO_MEMORY;
    *context = b;
    *b = (bench){.elements = (size_t)ulp_option_integer(run, "elements"),
                 .arrays = (size_t)ulp_option_integer(run, "arrays"),
                 .size = (size_t)ulp_option_integer(run, "size"),
                 .native_size = (size_t)ulp_option_integer(run, "native-size"),
                 .steps = (uint64_t)ulp_option_integer(run, "steps"),
                 .units = (int)ulp_option_integer(run, "units"),
                 .batch = (size_t)ulp_option_integer(run, "batch"),
                 .seconds = ulp_option_number(run, "seconds")};
    ulp_point_add(run, (ulp_point){.at = {ROUNDING}}, "rounding");
    ulp_point_add(run, (ulp_point){.at = {PRODUCTS}}, "matrix products");
    if (b->native_size > 0) ulp_point_add(run, (ulp_point){.at = {NATIVE}}, "the device's own products");
    ulp_point_add(run, (ulp_point){.at = {TRAINING}}, "training");
    if (ulp_option_flag(run, "list")) return ULP_OK; /* the grid is no device's */
    ulp_status found = ulp_backend_get(&b->gpu, "cuda");
    if (found != ULP_OK) return ulp_run_fail(run, found, "--backend cuda: %s", ulp_cuda_lacks());
    ulp_status status = ulp_backend_get(&b->cpu, "cpu");
    if (status == ULP_OK) status = ulp_cuda_describe(&info);
    if (status == ULP_OK) status = ulp_cuda_timer_open(&b->timer);
    if (status == ULP_OK) status = arrays_open(b);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", ulp_cuda_error());
    status = ulp_data_load(&b->data, "digits", NULL, 1, error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", error);
    ulp_header_add(run, "timing", "yes: two runs of this file differ");
    ulp_header_add(run, "device", "%s, compute capability %d.%d", info.name, info.capability / 10,
                   info.capability % 10);
    return ULP_OK;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    const bench *b = context;
    switch (point->at[0]) {
    case ROUNDING: return round_rows(run, b, rows);
    case PRODUCTS: return gemm_rows(run, b, rows);
    case NATIVE: return native_rows(run, b, rows);
    default: return train_rows(run, b, rows);
    }
}

static void check(ulp_run *run, const void *context) {
    (void)context;
    ulp_sheet *table = ulp_sheet_new("throughput of the CUDA backend", "what,of,mode,n,rate,unit,ratio");
    for (long row = 0; row < ulp_row_count(run); row++) {
        static const char *const words[] = {"what", "of", "mode"};
        for (int c = 0; c < 3; c++) ulp_sheet_put(table, "%s", ulp_row_text(run, row, words[c]));
        ulp_sheet_put(table, "%.0f", ulp_row_number(run, row, "n"));
        ulp_sheet_put(table, "%.4g", ulp_row_number(run, row, "rate"));
        ulp_sheet_put(table, "%s", ulp_row_text(run, row, "unit"));
        const double ratio = ulp_row_number(run, row, "ratio");
        if (ratio == ratio) ulp_sheet_put(table, "%.3g", ratio);
        else ulp_sheet_put(table, "%s", "");
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

static void release(void *context) {
    bench *b = context;
    if (b == NULL) return;
    arrays_close(b);
    ulp_cuda_timer_close(b->timer);
    ulp_data_release(&b->data);
    free(b);
}

static const ulp_experiment experiment = {
    .name = "bench_gpu",
    .question = "How fast is a GPU at rounding, beside a copy, at emulated and native products, and at training?",
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
