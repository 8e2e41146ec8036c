/* bench_gpu.c - throughput of a GPU at rounding, at emulated products, at its own products, and at training.
 *
 * Times come from events in the stream of the device. A row holds the median of at least five batches, after a warm-up
 * of the same length; `clock` is that of the processors in MHz, right after the batches. The arrays that are rounded
 * take turns, so that none of them is in the second-level cache. The numbers are timings: they differ from run to run,
 * and no test depends on them.
 *
 * Each row is a point of its own. OUT.part has the rows so far at every moment, also after a kill, and the CSV is
 * written at the end. A row that fails, or that the device or its library does not offer, is a line `# failed: ` or `#
 * left out: ` with the reason in the head of the CSV, and the run goes on. A device that is lost ends the run.
 *
 * What is timed:
 *   - rounding: the call of ulp_backend_round
 *   - products under datapaths: the call of ulp_backend_gemm; where the datapath has input formats, it also checks that
 *     both operands have numbers of these formats, and waits for the answer
 *   - products of the device itself: the product of codes alone, without the conversion of operands and result
 *   - training: whole steps, by the clock of the host
 *
 * `ratio` compares the speed with what `against` names, in the same run:
 *   - rounding: a copy on the device, in bytes per second
 *   - products under datapaths: the row `reference`, which is cuBLASLt in binary32, of the same size; the binary32
 * chain if the library is not there
 *   - products of the device itself: the product of the same types by cuBLASLt if it has a row, else that in binary32
 *   - training: the CPU backend
 * A row whose reference failed has no ratio.
 */
#include "bench_gpu.h"

#include <math.h>
#include <stdlib.h>

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_OF(settings, formats, "binary16,bfloat16,e4m3,e5m2,q8.8", "binary16,bfloat16"),
    ULP_OPTION_MODES_OF(settings, modes, "rne,rz,ro,sr,sr/8", "rne,sr"),
    ULP_OPTION_DATAPATHS_OF(
        settings, datapaths,
        "fp32,serial:binary16:rne,serial:bfloat16:rne,serial:binary16:sr,split:binary16:rne,chunk32:e6m9:rne,"
        "pairwise:binary16:rne,kahan:binary16:rne,exact:binary32:rne,int8,v100-fp16,a100-fp16,a100-bf16,a100-tf32,"
        "h100-fp16,h100-bf16,h100-e4m3,h100-e4m3:promote=128,h100-e4m3-mma,b200-e4m3,b200-e4m3-mx",
        "fp32,serial:binary16:rne,h100-fp16"),
    ULP_OPTION(settings, elements, integer, "134217728", .quick = "65536",
               .help = "elements of an array that is rounded", .min = 16, .max = 1e10),
    ULP_OPTION(settings, arrays, integer, "3", .help = "pairs of arrays that take turns", .min = 1, .max = 64),
    ULP_OPTION(settings, size, integer, "2048", .quick = "64", .full = "4096",
               .help = "m = n = k of products under datapaths", .min = 1, .max = 1e5),
    ULP_OPTION_AS(settings, native_size, "native-size", integer, "8192", .quick = "64",
                  .help = "m = n = k of the device's own products; 0: none", .max = 65536),
    ULP_OPTION(settings, units, integer, "1024", .quick = "16",
               .help = "of the layers of the networks that are trained", .min = 1, .max = 65536),
    ULP_OPTION(settings, batch, integer, "256", .quick = "16", .help = "samples of a training step", .min = 1,
               .max = 1024),
    ULP_OPTION(settings, steps, integer, "60", .quick = "2", .full = "300", .help = "training steps that are timed",
               .min = 1, .max = 1e6),
    ULP_OPTION(settings, seconds, number, "0.3", .quick = "0.001", .full = "1",
               .help = "time per row at least, and as long to warm up", .min = 0.0001, .max = 60),
    ULP_OPTION(settings, backend, choice, "cuda", .help = "the machine that is timed, a CUDA device", .words = "cuda",
               .silent = 1),
    ULP_OPTION_SEED(settings, seed),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, what, of, mode, n, rate, unit, ratio, against, clock),
    {0},
};

static ulp_status open_device(ulp_plan *plan, bench *b) {
    ulp_cuda_info info;
    const ulp_status found = ulp_backend_get(&b->gpu, "cuda");
    if (found != ULP_OK) return ulp_plan_fail(plan, found, "--backend cuda: %s", ulp_cuda_lacks());
    ulp_status status = ulp_backend_get(&b->cpu, "cpu");
    if (status == ULP_OK) status = ulp_cuda_describe(&info);
    if (status == ULP_OK) status = ulp_cuda_timer_open(&b->timer);
    if (status == ULP_OK) status = arrays_open(b);
    if (status == ULP_OK) b->rates = calloc(1, sizeof *b->rates);
    if (status == ULP_OK && b->rates == NULL) status = ULP_NO_MEMORY;
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s", ulp_backend_error());
    ulp_plan_note(plan, "timing", "yes: two runs of this file differ");
    ulp_plan_note(plan, "device", "%s, compute capability %d.%d", info.name, info.capability / 10,
                  info.capability % 10);
    return ULP_OK;
}

static ulp_status plan(ulp_plan *plan, const void *own, void *shared) {
    const settings *set = own;
    bench *b = shared;
    const int lists = ulp_setting_given(plan->arguments, "list"); /* the list does not depend on the device */
    ulp_error error;
    b->elements = (size_t)set->elements;
    b->arrays = (size_t)set->arrays;
    b->size = (size_t)set->size;
    b->native_size = (size_t)set->native_size;
    b->seconds = set->seconds;
    ulp_status status = lists ? ULP_OK : open_device(plan, b);
    if (status != ULP_OK) return status;
    plan_rounding(plan, set);
    plan_products(plan, set);
    if (b->native_size > 0 && !lists) plan_native_products(plan);
    plan_trainings(plan, set);
    if (lists) return ULP_OK;
    status = ulp_data_load(&b->data, "digits", NULL, 1, &error);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s", error.text);
    return trainings_open(plan, b, set->units);
}

/* A device whose clock cannot be read after a failure runs no kernel any more: every later row would fail. */
static ulp_status compute(const ulp_task *task) {
    const ulp_status status = ((const point *)task->point)->put(task);
    const int of_device = status == ULP_UNSUPPORTED || status == ULP_NO_MEMORY || status == ULP_DEVICE_FAILED;
    double clock;
    if (status == ULP_OK) return ULP_OK;
    ulp_task_fail(task, status, "%s", of_device ? ulp_backend_error() : ulp_status_text(status));
    if (status == ULP_UNSUPPORTED) return status;
    return clock_now(&clock) == ULP_OK ? ULP_DEVICE_FAILED : ULP_NO_DEVICE;
}

void judge(ulp_claims *c) {
    const row *rows = c->table->rows;
    ulp_sheet *table = ulp_sheet_new("throughput of the CUDA backend", "what,of,mode,n,rate,unit,ratio,to,MHz");
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = &rows[i];
        ulp_sheet_put(table, "%s", r->what);
        ulp_sheet_put(table, "%s", r->of ? r->of : "");
        ulp_sheet_put(table, "%s", r->mode ? r->mode : "");
        ulp_sheet_put(table, "%.0f", r->n);
        ulp_sheet_put(table, "%.4g", r->rate);
        ulp_sheet_put(table, "%s", r->unit);
        if (isnan(r->ratio)) ulp_sheet_put(table, "%s", "");
        else ulp_sheet_put(table, "%.3g", r->ratio);
        ulp_sheet_put(table, "%s", r->against ? r->against : "");
        ulp_sheet_put(table, "%.0f", r->clock);
    }
    ulp_sheet_print(table, c->file);
}

static void release(void *shared) {
    bench *b = shared;
    trainings_close(b);
    arrays_close(b);
    ulp_cuda_timer_close(b->timer);
    ulp_data_release(&b->data);
    free(b->rates);
}

static const ulp_experiment experiment = {
    .name = "bench_gpu",
    .question = "How fast is a GPU at rounding, beside a copy, at emulated and native products, and at training?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(bench),
    .threads_inside = 1,
    .whole = 1,
    .goes_on = 1,
    .release = release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
