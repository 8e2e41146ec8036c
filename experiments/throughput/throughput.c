/* throughput.c - how many training steps a second does a GPU take in binary32, tf32, 16 and 8 bits?
 *
 * One network is trained for --steps steps under each policy, with products of the device itself (native:... of `ulp
 * help datapaths`) and, for comparison, with emulated sums. The experiment runs on a GPU alone. On a CPU `--profile` of
 * every program that trains shows what each rounding point costs.
 *
 * The published factors of 3 to 4 (Micikevicius et al. 2018, arXiv:1710.03740) belong to programs whose arrays have 16
 * bits. Here all arrays carry binary32, whatever their format, so the memory traffic of a step is that of binary32, and
 * the rounding of every tensor comes on top: the quotient is a lower bound of what the units of the device can give.
 * The clock is that of the host, because much of a step is work of the host.
 *
 * Each variant is a row. OUT.part has the rows so far at every moment, also after a kill, and the CSV is written at the
 * end. A variant that fails, or whose products the device or this machine lacks, is a line `# failed: ` or `# left out:
 * ` with the reason in the head of the CSV, and the others run.
 */
#include "experiments/harness/cli/progress.h"
#include "experiments/harness/training/lesson.h"
#include "kernels/cuda/cuda.h"

#include <math.h>

enum { WARM_UP = 3 };

/* The name, the policy, and 1 if the products are the device's own. The first one is the base of the quotients. */
static const struct variant {
    const char *name, *policy;
} variants[] = {
    {"fp32", "fp32,acc=native:fp32"},
    {"fp32-emulated", "fp32"},
    {"tf32", "fp32,weight=tf32,act=tf32,agrad=tf32,acc=native:tf32"},
    {"fp16", "mixed:fp16,acc=native:fp16"},
    {"fp16-mma", "mixed:fp16,acc=native:mma:fp16"},
    {"fp16-emulated", "mixed:fp16,acc=h100-fp16"},
    {"bf16", "mixed:bf16,acc=native:bf16"},
    {"fp8", "mixed:bf16,weight=e4m3,act=e4m3,fwd=native:mma:e4m3,bwd=native:bf16"},
};
enum { VARIANTS = sizeof variants / sizeof *variants };
#define VARIANT_WORDS "fp32 fp32-emulated tf32 fp16 fp16-mma fp16-emulated bf16 fp8"

typedef struct settings {
    uint64_t variants; /* bit i stands for variant i */
    ulp_lesson_settings lesson;
    int64_t steps;
    int backend; /* 1: cuda */
} settings;

typedef struct point {
    int variant;
} point;

typedef struct row {
    int variant;
    double steps, samples; /* per second */
} row;

typedef struct context {
    ulp_lesson lesson;            /* first */
    ulp_lesson_settings settings; /* with the device as backend */
    ulp_method method[VARIANTS];
    char lacks[VARIANTS][512]; /* why a variant does not run here; "" if it runs */
} context;

static const ulp_option options[] = {
    ULP_OPTION(settings, variants, choices, "all", .words = VARIANT_WORDS, .help = "the policies"),
    ULP_OPTION_NET(settings, lesson, "fc2048 relu fc2048 relu fc10", "fc64 relu fc10",
                   "fc8192 relu fc8192 relu fc8192 relu fc10"),
    ULP_OPTION_BATCH(settings, lesson, "512"),
    ULP_OPTION(settings, steps, integer, "100", .quick = "5", .full = "500", .min = 1, .max = 1e7,
               .help = "steps that are timed, after three to warm up"),
    ULP_OPTION_SET(settings, lesson.set),
    ULP_OPTION_SEED(settings, lesson.seed),
    ULP_OPTION(settings, backend, choice, "cuda", .words = "cpu cuda", .silent = 1,
               .help = "the device that is measured, cuda"),
    ULP_OPTION_DATA(settings, lesson.data),
    {0},
};

static const ulp_column columns[] = {ULP_WORDS(row, variant, VARIANT_WORDS), ULP_COLUMNS(row, steps, samples), {0}};

/* Reads the policy of a variant. One with products that the device lacks is a point without a row. */
static ulp_status prepare(ulp_plan *plan, context *x, int i) {
    const char *name = variants[i].name;
    ulp_error why;
    char full[ULP_POLICY_TEXT_MAX];
    ulp_method *method = &x->method[i];
    *method = ulp_method_sgd(0.05, 0.9);
    ulp_status status = ulp_policy_parse(&method->policy, variants[i].policy, &why);
    if (status == ULP_NO_DEVICE) {
        snprintf(x->lacks[i], sizeof x->lacks[i], "%s", ulp_after_subject(why.text, "policy"));
        return ULP_OK;
    }
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s: %s", name, why.text);
    status = ulp_lesson_admit(plan, &x->lesson, method, name, full);
    if (status == ULP_OK) ulp_plan_note(plan, "policy", "%s: %s", name, full);
    return status;
}

static ulp_status plan(ulp_plan *plan, const void *own, void *shared) {
    const settings *s = own;
    context *x = shared;
    ulp_cuda_info info;
    for (int i = 0; i < VARIANTS; i++)
        if (s->variants >> i & 1) ulp_plan_add(plan, &(point){i}, 1, "%s", variants[i].name);
    if (ulp_setting_given(plan->arguments, "list")) return ULP_OK; /* the grid does not depend on the device */
    if (!s->backend)
        return ulp_plan_fail(plan, ULP_NO_DEVICE,
                             "--backend cpu: the experiment measures a GPU; on a CPU, --profile of a program that "
                             "trains shows the cost of each rounding point");
    x->settings = s->lesson;
    ulp_status status = ulp_backend_get(&x->settings.backend, "cuda");
    if (status == ULP_OK) status = ulp_cuda_describe(&info);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "--backend cuda: %s", ulp_cuda_lacks());
    status = ulp_lesson_load(plan, &x->lesson, &x->settings);
    if (status != ULP_OK) return status;
    ulp_plan_note(plan, "timing", "yes: two runs of this file differ");
    ulp_plan_note(plan, "device", "%s, compute capability %d.%d", info.name, info.capability / 10,
                  info.capability % 10);
    for (int i = 0; i < VARIANTS && status == ULP_OK; i++)
        if (s->variants >> i & 1) status = prepare(plan, x, i);
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    const context *x = task->context;
    const int i = ((const point *)task->point)->variant;
    const ulp_train_options o = ulp_lesson_options(&x->lesson, &x->method[i], s->lesson.seed);
    ulp_trainer *t;
    double began = 0;
    if (x->lacks[i][0] != '\0') return ulp_task_fail(task, ULP_UNSUPPORTED, "%s", x->lacks[i]);
    ulp_status status = ulp_training_open(&t, task, &x->lesson.data, &o);
    for (int64_t k = 0; k < WARM_UP + s->steps && status == ULP_OK; k++) {
        ulp_step step; /* the check for overflow waits for the device, so a step ends when the function returns */
        if (k == WARM_UP) began = ulp_clock();
        status = ulp_trainer_step(t, &step);
        if (ulp_task_progress(task, (double)k / (double)(WARM_UP + s->steps))) break;
    }
    const double rate = (double)s->steps / (ulp_clock() - began + 1e-9);
    if (status == ULP_OK) ulp_row_put(task->rows, &(row){i, rate, rate * (double)s->lesson.batch});
    else ulp_task_fail(task, status, "%s", ulp_backend_error());
    ulp_training_close(task, t);
    return status;
}

void judge(ulp_claims *c) {
    const row *r = c->table->rows;
    ulp_sheet *sheet = ulp_sheet_new("training steps and samples per second, and beside native fp32",
                                     "variant,policy,steps/s,samples/s,times fp32");
    for (size_t i = 0; i < c->table->count; i++) {
        const double ratio = r[0].variant == 0 ? r[i].steps / r[0].steps : NAN;
        ulp_sheet_put(sheet, "%s", variants[r[i].variant].name);
        ulp_sheet_put(sheet, "%s", variants[r[i].variant].policy);
        ulp_sheet_put(sheet, "%.4g", r[i].steps);
        ulp_sheet_put(sheet, "%.4g", r[i].samples);
        ulp_sheet_put(sheet, "%.3g", ratio);
        if (!isnan(ratio)) ulp_summary(c, "steps per second over fp32", ratio, "%s", variants[r[i].variant].name);
    }
    ulp_sheet_print(sheet, c->file);
    static const ulp_published published = {"mixed binary16 over binary32, times", "Micikevicius et al. 2018",
                                            "2 to 6 (operations of DeepBench on Volta)"};
    for (size_t i = 0; i < c->table->count; i++)
        if (r[0].variant == 0 && r[i].variant == 3) ulp_beside(c, &published, "%.2f", r[i].steps / r[0].steps);
}

static const ulp_experiment experiment = {
    .name = "throughput",
    .question = "how many training steps a second does a GPU take in binary32, tf32, 16 and 8 bits?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(context),
    .threads_inside = 1,
    .whole = 1,
    .goes_on = 1,
    .release = ulp_lesson_release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
