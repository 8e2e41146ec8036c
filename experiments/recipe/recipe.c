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
#include "experiments/harness/training/training.h"

#include <math.h>

#include "experiments/harness/claims/spread.h"
#include "experiments/harness/training/lesson.h"

/* The variants, and their words on the command line and in rows, in the same order. */
enum variant_index {
    FP32,
    FP16,
    FP16_SUMS,
    FP16_MASTER,
    FP16_RECIPE,
    FP16_LOWSUMS,
    FP16_NOMASTER,
    FP16_SR,
    FP16_KAHAN,
    BF16,
    BF16_RECIPE,
    BF16_LOWSUMS,
    BF16_NOMASTER,
    BF16_SR,
    BF16_KAHAN,
    FP8,
    FP8_LOSS,
    FP8_NOW,
    FP8_DELAYED,
    COUNT,
    AMP = COUNT /* the variant of --amp: the policy and the scaler that sim/policy/amp.h derives */
};
#define VARIANT_WORDS                                                                                                  \
    "fp32 fp16 fp16-sums fp16-master fp16-recipe fp16-lowsums fp16-nomaster fp16-sr fp16-kahan "                       \
    "bf16 bf16-recipe bf16-lowsums bf16-nomaster bf16-sr bf16-kahan fp8 fp8-loss fp8-now fp8-delayed"
#define ROW_WORDS VARIANT_WORDS " amp"

typedef struct variant {
    const char *words, *policy, *scaler; /* the loss scale of --weight, times 2^16 at the start if dynamic */
    uint8_t kahan;                       /* 1: the update is a Kahan sum */
} variant;

static const variant variants[COUNT + 1] = {
    [FP32] = {"binary32", "fp32", "none", 0},
    [FP16] = {"everything in binary16", "fp16", "none", 0},
    [FP16_SUMS] = {"+ fp32 sums", "fp16,acc=fp32,loss=fp32,norm=fp32", "none", 0},
    [FP16_MASTER] = {"+ master weights", "mixed:fp16", "none", 0},
    [FP16_RECIPE] = {"+ loss scaling: the recipe", "mixed:fp16", "pytorch", 0},
    [FP16_LOWSUMS] = {"recipe but sums in fp16", "mixed:fp16,acc=serial:fp16:rne", "pytorch", 0},
    [FP16_NOMASTER] = {"recipe but no master weights", "mixed:fp16,master=none", "pytorch", 0},
    [FP16_SR] = {"stochastic weights instead", "mixed:fp16,master=none,weight=fp16/sr", "pytorch", 0},
    [FP16_KAHAN] = {"Kahan update instead", "mixed:fp16,master=none", "pytorch", 1},
    [BF16] = {"everything in bfloat16", "bf16", "none", 0},
    [BF16_RECIPE] = {"bfloat16 recipe: no scaling", "mixed:bf16", "none", 0},
    [BF16_LOWSUMS] = {"bf16 recipe but sums in bf16", "mixed:bf16,acc=serial:bf16:rne", "none", 0},
    [BF16_NOMASTER] = {"bf16 recipe but no master weights", "mixed:bf16,master=none", "none", 0},
    [BF16_SR] = {"stochastic weights instead", "mixed:bf16,master=none,weight=bf16/sr", "none", 0},
    [BF16_KAHAN] = {"Kahan update instead", "mixed:bf16,master=none", "none", 1},
    [FP8] = {"fp8 without any scale", "mixed:bf16,weight=e4m3,act=e4m3,agrad=e5m2", "none", 0},
    [FP8_LOSS] = {"fp8 with loss scaling", "mixed:bf16,weight=e4m3,act=e4m3,agrad=e5m2", "pytorch", 0},
    [FP8_NOW] = {"fp8 with tensor scales just in time", "mixed:bf16,weight=e4m3@amax,act=e4m3@amax,agrad=e5m2@amax",
                 "none", 0},
    [FP8_DELAYED] = {"fp8 with delayed tensor scales",
                     "mixed:bf16,weight=e4m3:sat@delayed16,act=e4m3:sat@delayed16,agrad=e5m2:sat@delayed16", "none", 0},
    [AMP] = {.words = "formats by lists of operations"},
};

static ulp_word variant_name(int index) { return ulp_word_of(ROW_WORDS, (size_t)index); }

typedef struct settings {
    uint64_t variants; /* bit i stands for variant i */
    ulp_lesson_settings lesson;
    int64_t every, weight, interval;
    double rate, momentum;
    ulp_named_tail tail;
} settings;

typedef struct point {
    int variant;
    uint64_t seed;
} point;

typedef struct row {
    int variant, what; /* what: 0 for epoch, 1 for final */
    int64_t seed;
    ulp_training_cells cells;
} row;

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
    ULP_OPTION_TAIL(settings, tail),
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
    ulp_train_options trained = ulp_lesson_options(&x->lesson, m, s->lesson.seed);
    ulp_training_tail(&trained, &s->tail, steps);
    ULP_TRY(ulp_training_check(plan, &x->lesson.data, &trained));
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
    if (s->tail.share > 0) {
        char full[ULP_POLICY_TEXT_MAX];
        ULP_TRY(ulp_policy_admit(plan, &s->tail.policy, "tail", s->lesson.backend, full));
        ulp_plan_note(plan, "tail", "from step %llu: %s",
                      (unsigned long long)floor(s->tail.share * (double)ulp_lesson_steps(&x->lesson, s->lesson.epochs)),
                      full);
    }
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
    ulp_training_tail(&training.options, &((const settings *)task->settings)->tail, training.steps);
    return ulp_training_run(task, &training);
}

/* ---- the claims ---- */

enum { END = -2, ANY = -1 }; /* in place of an epoch: the row at the end of the run; the rows of all epochs */

static int is_of(const row *r, int index, int64_t epoch) {
    return r->variant == index && r->what == (epoch == END) && (epoch < 0 || r->cells.epoch == epoch);
}

/* A number taken from a row and from the row `b` of another variant with the same seed. The loss of a diverged run
 * is infinite. */
typedef double (*reading)(const row *r, const row *base);
static double loss_of(const row *r, const row *b) { return (void)b, isnan(r->cells.loss) ? HUGE_VAL : r->cells.loss; }
static double accuracy_of(const row *r, const row *b) { return (void)b, 100 * r->cells.test_accuracy; }
static double ratio_of(const row *r, const row *b) { return loss_of(r, b) / b->cells.loss; }
static double distance(const row *r, const row *b) { return fabs(loss_of(r, b) - b->cells.loss); }
static double gain(const row *r, const row *b) { return accuracy_of(r, b) - accuracy_of(b, b); }

/* The spread, over the seeds, of a number taken from the rows of two variants. */
static ulp_spread compare(const ulp_claims *c, reading of, int64_t epoch, int index, int base) {
    const row *r = c->table->rows, *end = r + c->table->count;
    ulp_numbers n = {0};
    for (; r < end; r++)
        for (const row *b = c->table->rows; is_of(r, index, epoch) && b < end; b++)
            if (is_of(b, base, epoch == ANY ? END : epoch) && b->seed == r->seed) ulp_numbers_add(&n, of(r, b));
    return ulp_numbers_take(&n);
}

/* Test accuracies less those of fp32, published for far larger networks. */
static const ulp_published published[COUNT + 1] = {
    [FP16_RECIPE] = {"fp16-recipe less fp32, points (there ResNet-50)", "Micikevicius et al. 2018", "+0.12"},
    [BF16_SR] = {"bf16-sr less fp32, points (there seven tasks)", "Zamirai et al. 2020", "-0.1 to +0.2"},
    [BF16_KAHAN] = {"bf16-kahan less fp32, points (there seven tasks)", "Zamirai et al. 2020", "-0.1 to +0.2"},
};

static void put_variant(ulp_claims *c, ulp_sheet *sheet, int index) {
    const ulp_word name = variant_name(index);
    const ulp_spread loss = compare(c, loss_of, END, index, index), test = compare(c, accuracy_of, END, index, index),
                     ratio = compare(c, ratio_of, END, index, FP32), more = compare(c, gain, END, index, FP32);
    if (test.n == 0) return;
    ulp_sheet_put_row(sheet, "%s,%s,%.5f,%.3f,%.3f,%.3f,%.2f,%.2f,%.2f", name.text, variants[index].words, loss.median,
                      ratio.median, ratio.least, ratio.most, test.median, test.least, test.most);
    if (published[index].what && more.n) ulp_beside(c, &published[index], "%+.2f", more.median);
    ulp_summary_spread(c, "test accuracy", test.median, &test, "%s", name.text);
    ulp_summary_spread(c, "loss over fp32", ratio.median, &ratio, "%s", name.text);
    for (int64_t epoch = 1; epoch <= ((const settings *)c->settings)->lesson.epochs; epoch++) {
        const ulp_spread at = compare(c, ratio_of, epoch, index, FP32);
        if (at.n) ulp_summary_spread(c, "loss over fp32 at an epoch", at.median, &at, "%s %d", name.text, (int)epoch);
    }
}

/* Claims with the name and the words of a variant, and the name of the variant that it is compared with. */
enum { WORSE, BEHIND, FROZEN, NEARER };
static const char *const sentences[] = {
    [WORSE] = "%s (%s): more loss than %s in every seed",
    [BEHIND] = "%s (%s) falls behind %s in the second half, in every seed",
    [FROZEN] = "%s (%s) learns nothing: the answers to the test digits never change",
    [NEARER] = "%s (%s): every seed is nearer to fp32 than the median of %s",
};

typedef struct claim {
    int kind, of, base;    /* variants */
    int64_t epochs, seeds; /* the claim needs at least so many; after 72 epochs updates are small */
} claim;

static const claim claims[] = {
    {NEARER, FP16_RECIPE, FP16, 72, 5},
    {NEARER, FP16_RECIPE, FP16_MASTER, 72, 5},
    {NEARER, FP16_LOWSUMS, FP16_MASTER, 72, 5},
    {WORSE, FP16_SUMS, FP16_MASTER, 72, 5},
    {WORSE, FP16_MASTER, FP16_RECIPE, 72, 5},
    {WORSE, FP16_NOMASTER, FP16_RECIPE, 72, 5},
    {NEARER, FP16_SR, FP16_NOMASTER, 72, 5},
    {NEARER, FP16_KAHAN, FP16_NOMASTER, 72, 5},
    {NEARER, BF16_RECIPE, BF16_NOMASTER, 72, 5},
    {NEARER, BF16_LOWSUMS, BF16_NOMASTER, 72, 5},
    {WORSE, BF16_NOMASTER, BF16_RECIPE, 60, 2},
    {NEARER, BF16_SR, BF16_NOMASTER, 72, 5},
    {NEARER, BF16_KAHAN, BF16_NOMASTER, 72, 5},
    {WORSE, BF16, FP32, 72, 5},
    {BEHIND, BF16, FP32, 72, 5},
    {FROZEN, FP8, FP8, 0, 1},
    {NEARER, FP8_LOSS, FP8, 0, 5},
    {NEARER, FP8_NOW, FP8, 0, 5},
    {NEARER, FP8_DELAYED, FP8, 0, 5},
};

static void test(ulp_claims *c, const claim *k) {
    const settings *s = c->settings;
    const int64_t end = s->lesson.epochs, half = end / 2 / s->every * s->every;
    const ulp_word of = variant_name(k->of), base = variant_name(k->base);
    const char *text = ulp_claim_text(c, sentences[k->kind], of.text, variants[k->of].words, base.text);
    const ulp_spread ratio = compare(c, ratio_of, END, k->of, k->base),
                     middle = compare(c, ratio_of, half, k->of, k->base),
                     late = compare(c, ratio_of, end, k->of, k->base), moved = compare(c, gain, ANY, k->of, k->base),
                     off = compare(c, distance, END, k->of, FP32), other = compare(c, distance, END, k->base, FP32);
    if (off.n + off.lost == 0 || other.n + other.lost == 0) ulp_claim_skip(c, text, "a variant is not in --variants");
    else if (end < k->epochs || s->lesson.seeds < k->seeds)
        ulp_claim_skip(c, text, "it takes %lld epochs and %lld seeds", (long long)k->epochs, (long long)k->seeds);
    else if (k->kind == WORSE) /* without effect of the ingredient, a seed has more loss with probability 1/2 */
        ulp_claim(c, ratio.least > 1, text, "%.3f times, %.3f to %.3f over %d seeds, by chance 1 in %.0f", ratio.median,
                  ratio.least, ratio.most, ratio.n, ldexp(1, ratio.n));
    else if (k->kind == BEHIND)
        ulp_claim(c, late.least > middle.most, text, "%.3f to %.3f times at epoch %lld, %.3f to %.3f at the end",
                  middle.least, middle.most, (long long)half, late.least, late.most);
    else if (k->kind == FROZEN) /* if no weight moves, every row of a run has the same test accuracy */
        ulp_claim(c, moved.n > 0 && moved.least == 0 && moved.most == 0, text,
                  "%d test accuracies are %+.2f to %+.2f points off those at the end", moved.n, moved.least,
                  moved.most);
    else
        ulp_claim(c, off.most < other.median, text, "loss off by at most %.6f, and by %.6f in the median of the other",
                  off.most, other.median);
}

/* Of a text: the losses in bits per character. */
static void put_bits(ulp_claims *c) {
    ulp_sheet *sheet = ulp_sheet_new("bits per character of the training part at the end, over the seeds",
                                     "variant,bits per character,least,most");
    for (int v = 0; v <= AMP; v++) {
        const ulp_spread loss = compare(c, loss_of, END, v, v);
        if (loss.n)
            ulp_sheet_put_row(sheet, "%s,%.4f,%.4f,%.4f", variant_name(v).text, loss.median / log(2.0),
                              loss.least / log(2.0), loss.most / log(2.0));
    }
    ulp_sheet_print(sheet, c->file);
}

void judge(ulp_claims *c) {
    if (((const settings *)c->settings)->tail.share > 0) ulp_claims_skip_all(c, ULP_TAIL_OTHER);
    const char *why = ulp_claim_reason(c, "net, batch, every, rate, momentum, weight, interval, set, epochs>=60");
    ulp_sheet *sheet = ulp_sheet_new("at the end, over the seeds; loss / fp32 seed by seed; test accuracy in percent",
                                     "variant,what,loss,loss / fp32,least,most,accuracy,least,most");
    for (int v = 0; v <= AMP; v++) put_variant(c, sheet, v);
    ulp_sheet_print(sheet, c->file);
    if (((const context *)c->context)->lesson.data.tokens) put_bits(c);
    if (*why)
        ulp_claim_skip(c, "the recipe ends where fp32 ends, and does not without master weights or scaling", "%s", why);
    else
        for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) test(c, &claims[i]);
    const double held = ulp_claims_count(c, ULP_PASS), tested = held + ulp_claims_count(c, ULP_FAIL);
    if (tested > 0) ulp_summary(c, "share of claims that hold", held / tested, "all");
}

const ulp_experiment experiment = {
    .name = "recipe",
    .question = "what does each ingredient of mixed precision do, and what can take its place?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(context),
    .release = ulp_lesson_release,
};
