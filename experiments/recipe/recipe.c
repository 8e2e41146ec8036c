/* recipe.c - the recipe of mixed precision step by step: what does each ingredient do, and what can take its place?
 *
 * The recipe is that of Micikevicius et al. 2018, arXiv:1710.03740. `fp32 sums` stands for their section 3.3: sums of
 * products and the softmax are in binary32. The sums of the variants `lowsums` have at most --batch terms. Stochastic
 * weights and the Kahan update follow Zamirai et al. 2020, arXiv:2010.06192; bfloat16 without loss scaling follows
 * Kalamkar et al. 2019, arXiv:1905.12322; the tensor scales of fp8 follow Micikevicius et al. 2022, arXiv:2209.05433.
 * With delayed scales conversions saturate, because a tensor that has just grown would overflow to NaN.
 *
 * Rows `epoch` are the learning curve: the mean training loss of the steps since the row before. Rows `final` have the
 * loss over the whole training part, under the policy of the variant.
 *
 * Reasons for this set-up:
 *   - The rate decays to zero, so that late updates are far smaller than the weights. Updates below half a unit in the
 *     last place vanish unless an ingredient keeps them.
 *   - Warm-up, a moderate rate, batches of a third of the training part and a shallow net keep the variants of one seed
 *     on one path. Where arithmetic makes no difference, their losses differ by a tenth of a percent.
 *   - The loss has the weight 2^W with W = --weight, and the rate divides the weight out again. A mean over few outputs
 *     has large gradients, which binary16 holds. With the weight they are as small as those of a mean over 2^19 outputs
 *     (a batch of a language model: half a million tokens, Brown et al. 2020, arXiv:2005.14165, table 2.1).
 *   - The growth interval of a scaler is cut from 2,000 steps to --interval, because the run is short.
 *   - The training loss is compared, because accuracies on 360 test digits cannot tell most variants apart.
 */
#include "recipe.h"

static const ulp_option options[] = {
    ULP_OPTION(settings, variants, choices, "all", .words = VARIANT_WORDS, .help = "the variants to train",
               .quick = "fp32,fp16,fp16-sums,fp16-master,fp16-recipe,bf16-recipe,bf16-nomaster,fp8,fp8-now"),
    ULP_OPTION_NET(settings, lesson, "fc64 relu fc10", "fc64 relu fc64 relu fc10", NULL),
    ULP_OPTION_BATCH(settings, lesson, "479"),
    ULP_OPTION_EPOCHS(settings, lesson, "72", "60", "400"),
    ULP_OPTION(settings, every, integer, "3", .full = "8", .help = "epochs between two rows", .min = 1, .max = 1e5),
    ULP_OPTION(settings, rate, number, "0.2", .help = "learning rate after warm-up, then a cosine to zero",
               .max = 1000),
    ULP_OPTION(settings, momentum, number, "0.9", .help = "momentum", .max = 1),
    ULP_OPTION(settings, weight, integer, "-10", .help = "log2 of a weight of the loss, before scaling", .min = -60),
    ULP_OPTION(settings, interval, integer, "25", .help = "good steps before a scale doubles", .min = 1, .max = 1e6),
    ULP_OPTIONS_OF_RUNS(settings, lesson, "5", "2", "10"),
    {0},
};

static const ulp_column columns[] = {
    ULP_WORDS(row, variant, ROW_WORDS),
    ULP_COLUMNS(row, seed),
    ULP_WORDS(row, what, "epoch final"),
    ULP_COLUMNS_OF(row, cells, epoch, loss, train_accuracy, test_accuracy, scale_log2, skipped, diverged),
    {0}};

typedef struct context {
    ulp_lesson lesson;
    ulp_method method[COUNT + 1];
} context;

static ulp_status add_variant(ulp_plan *plan, const settings *s, context *x, int index) {
    const variant *v = &variants[index];
    const ulp_word name = variant_name(index);
    const char *scaler = index == AMP ? x->lesson.plain.scaler.name : v->scaler;
    const uint32_t steps = (uint32_t)ulp_lesson_steps(&x->lesson, s->lesson.epochs);
    ulp_method *m = &x->method[index];
    point at = {index, s->lesson.seed};
    char full[ULP_POLICY_TEXT_MAX];
    *m = ulp_method_sgd(s->rate, s->momentum);
    m->scaler = *ulp_scaler_rule_find(scaler);
    m->scaler.init = (int16_t)(s->weight + (m->scaler.way == ULP_SCALE_FIXED ? 0 : 16));
    m->scaler.interval = (uint32_t)s->interval;
    m->optimizer.warmup = steps / 10;
    m->optimizer.cosine = steps;
    m->optimizer.kahan = v->kahan;
    m->policy = x->lesson.plain.policy;
    if (v->policy) ULP_TRY(ulp_plan_read_policy(plan, &m->policy, v->policy, name.text));
    ULP_TRY(ulp_lesson_admit(plan, &x->lesson, m, name.text, full));
    if (index != AMP)
        ulp_plan_note(plan, "policy in full", "%s: %s; scaler %s%s", name.text, full, scaler,
                      v->kahan ? ",kahan=1" : "");
    for (; at.seed < s->lesson.seed + (uint64_t)s->lesson.seeds; at.seed++)
        ulp_plan_add(plan, &at, 1, "%s seed %llu", name.text, (unsigned long long)at.seed);
    return ULP_OK;
}

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    context *x = plan->context;
    ULP_TRY(ulp_lesson_load(plan, &x->lesson, &s->lesson));
    for (int i = 0; i < COUNT; i++)
        if (s->variants >> i & 1) ULP_TRY(add_variant(plan, s, x, i));
    return s->lesson.how.amp.bits ? add_variant(plan, s, x, AMP) : ULP_OK;
}

static ulp_status record(const ulp_task *task, const ulp_trainer *t, const ulp_stretch *s) {
    const point *at = task->point;
    row r = {at->variant, s->final, (int64_t)at->seed, ulp_cells_of_stretch(t, s)};
    r.cells.scale_log2 -= ((const settings *)task->settings)->weight;
    ulp_row_put(task->rows, &r);
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const context *x = task->context;
    const point *at = task->point;
    ulp_training training = ulp_lesson_training(&x->lesson, &x->method[at->variant], at->seed);
    training.every = ulp_lesson_steps(&x->lesson, ((const settings *)task->settings)->every);
    training.record = record;
    return ulp_training_run(task, &training);
}

const ulp_experiment experiment = {
    .name = "recipe",
    .question = "what does each ingredient of mixed precision do, and what can take its place?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(context),
    .release = ulp_lesson_release,
};
