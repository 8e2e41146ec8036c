/* fixed_point.c - can a network be trained in 16-bit fixed point, with nearest and with stochastic rounding?
 *
 * A fully connected network learns digits. Its weights, biases, activations and all gradients are in qI.F, and it has
 * no master weights. It is trained once with rounding to nearest, once with stochastic rounding, and once in binary32.
 * Fixed point saturates. Ties go to even; in the paper they go toward minus infinity.
 *
 * Rows:
 *   - epoch: the learning curve: the mean training loss of the steps of the epoch, errors in percent, and `moved`, the
 *     share of the weights that the last step of the epoch changed
 *   - final: the loss over the whole training part
 *
 * The policy of every setting:
 *   - A sum of products is formed in binary32 and rounded once.
 *   - The input of the softmax is not rounded (out=fp32).
 *   - An update w - rate g is formed exactly and rounded once into the format of the weight. Rounding to nearest
 *     therefore loses an update that is smaller than half a quantum.
 *
 * The loss is 2^7 times the mean over 100 samples, which is 1.28 times the sum over the samples. The rate divides the
 * factor out again. The paper does not say whether its gradients are those of the sum or of the mean. The gradients of
 * the mean are 100 times smaller: most of them vanish in q8.8, and the network learns nothing. The paper does not give
 * the value of the rate either. Here the rate is 0.4 and constant over the run. With --full the initial weights are
 * N(0, 0.01^2).
 *
 * The experiment repeats Gupta et al. 2015, "Deep learning with limited numerical precision", arXiv:1502.02551, section
 * 4. The format <IL,FL> of the paper is qIL.FL here; IL counts the sign. The options --full --set mnist give the run of
 * the paper with the fully connected network. Its run with the convolutional network, in which weights and gradients
 * change their format and layer outputs are <6,10> in all cases, takes these options in addition:
 *
 *     --net "conv8@5 relu pool2 conv16@5 relu pool2 fc128 relu fc10" --formats q2.14,q4.12
 *     --policy weight=%,act=q6.10/%,out=fp32,agrad=%,wgrad=%
 *     --optimizer sgd,rate=0.03,momentum=0.9,decay=5e-4,drop=0.95/600 --scale 0
 *
 * The rate of the paper is 0.1. Momentum is a sum here and not a mean; with this form of momentum a rate of 0.1 ends at
 * an error of 2.5 % in binary32. With --scale 7 the convolutional network also learns in q2.14 with rounding to
 * nearest. It learns nothing with activations in q2.14.
 *
 * The claims about the digits use a smaller network and larger initial weights. They are about the training loss,
 * because 360 test samples cannot tell 3 % from 3.5 %. On the digits q2.14 is the worst format in both modes, because
 * the activations of that network exceed 2 and saturate: with act=fp32 in --policy and everything else in q2.14, the
 * loss is that of binary32.
 */
#include "fixed_point.h"

#include <string.h>

/* ---- the option --policy ---- */

/* Appends the text with FORMAT/MODE, or MODE, in place of every %. */
static void put_into(ulp_text *to, const char *text, const char *format, const char *mode) {
    for (const char *c = text; *c; c++)
        if (*c != '%') ulp_text_add(to, c, 1);
        else if (c > text && c[-1] == '/') ulp_text_print(to, "%s", mode);
        else ulp_text_print(to, "%s/%s", format, mode);
}

static ulp_status read_with(ulp_policy *policy, const char *text, const char *format, const char *mode,
                            ulp_error *error) {
    ulp_error why;
    ulp_text whole = {0};
    put_into(&whole, text, format, mode);
    const ulp_status status = ulp_policy_parse(policy, ulp_text_of(&whole), &why);
    ulp_text_free(&whole);
    if (status == ULP_OK) return ULP_OK;
    return ulp_refuse(error, ": %s", why.text);
}

static uint8_t formats_differ(const ulp_cast *a, const ulp_cast *b) {
    return strcmp(a->format.name, b->format.name) != 0;
}

static uint8_t rules_differ(const ulp_cast *a, const ulp_cast *b) { return a->rule.mode != b->rule.mode; }

/* Reads the pattern twice, with different formats and modes. A point has a place in the pattern if the two readings
 * differ at the point. Every format that a datapath takes as input holds all numbers of q2.1 and of q2.0, so that no
 * pattern is refused because of the formats of the readings. */
static ulp_status read_pattern(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    pattern *p = field;
    ulp_policy other;
    (void)option;
    p->text = text;
    ULP_TRY(read_with(&p->policy, text, "q2.1", "rne", error));
    ULP_TRY(read_with(&other, text, "q2.0", "rz", error));
    for (int i = 0; i < ULP_AT_COUNT; i++) {
        p->takes_format[i] = formats_differ(&p->policy.at[i], &other.at[i]);
        p->takes_rule[i] = rules_differ(&p->policy.at[i], &other.at[i]);
    }
    p->out_takes_format = p->policy.has_out && formats_differ(&p->policy.out, &other.out);
    p->out_takes_rule = p->policy.has_out && rules_differ(&p->policy.out, &other.out);
    return ULP_OK;
}

static void print_pattern(ulp_text *to, const void *field, const ulp_option *option) {
    (void)option;
    ulp_text_print(to, "%s", ((const pattern *)field)->text);
}

static const ulp_option_type type_pattern = {
    .value_name = "POLICY", .size = sizeof(pattern), .read = read_pattern, .print = print_pattern, .topic = "policies"};

/* Fills the places of the policy with a format and a rule. */
static ulp_status pattern_fill(ulp_policy *policy, const pattern *p, const ulp_format *format, ulp_rule rule) {
    *policy = p->policy;
    for (int i = 0; i < ULP_AT_COUNT; i++) {
        const ulp_cast *cast = &p->policy.at[i];
        const ulp_status status =
            p->takes_format[i]
                ? ulp_policy_set(policy, (ulp_point_kind)i, format, (ulp_tensor_scale)cast->tensor_scale, cast->history)
                : ULP_OK;
        if (status != ULP_OK) return status;
        if (p->takes_rule[i]) policy->at[i].rule = rule;
    }
    if (p->out_takes_format) policy->out.format = *format;
    if (p->out_takes_rule) policy->out.rule = rule;
    return ULP_OK;
}

/* ---- the experiment ---- */

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "q2.14,q6.10,q8.8", NULL, ulp_format_with_sign, ULP_WANTS_WITH_SIGN),
    ULP_OPTION_MODES_OF(settings, modes, "rne,sra", NULL),
    {.name = "policy",
     .type = &type_pattern,
     ULP_FIELD(settings, policy),
     .value = POLICY,
     .help = "what is rounded; % stands for FORMAT/MODE, after a / for MODE"},
    ULP_OPTION(settings, scale, integer, "7", .help = "log2 of what the mean loss is multiplied by", .min = -126,
               .max = 126),
    ULP_OPTION_NET(settings, lesson, "fc100 relu fc100 relu fc10", NULL, MLP),
    ULP_OPTION(settings, std, number, "0.1", .full = "0.01",
               .help = "standard deviation of the initial weights; 0: He and Glorot", .max = 100),
    ULP_OPTION_BATCH(settings, lesson, "100"),
    ULP_OPTION_EPOCHS(settings, lesson, "50", "50", "30"),
    ULP_OPTION(settings, optimizer, optimizer, "sgd,rate=0.4", .help = "and its rate; sim/optim/optim.h"),
    ULP_OPTIONS_OF_RUNS(settings, lesson, "3", "2", "3"),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, format, mode, seed),
    ULP_WORDS(row, what, WHAT_WORDS),
    ULP_COLUMNS(row, epoch, loss, train_error, test_error, moved, diverged),
    {0},
};

/* ---- the grid ---- */

static const ulp_named_rule by_lists = {.name = BY_LISTS};

static ulp_status make_method(ulp_method *m, const settings *set, const ulp_lesson *x, const point *p) {
    *m = x->plain;
    m->optimizer = set->optimizer.rule;
    if (p->rule == &by_lists) return ULP_OK;
    m->scaler = ulp_scaler_static((int)set->scale);
    return p->format ? pattern_fill(&m->policy, &set->policy, p->format, p->rule->rule)
                     : ulp_policy_parse(&m->policy, "fp32", NULL);
}

static ulp_status add_run(ulp_plan *plan, const settings *set, const ulp_lesson *x, const point *p) {
    ulp_method m;
    char full[ULP_POLICY_TEXT_MAX];
    ULP_TRY(make_method(&m, set, x, p));
    ULP_TRY(ulp_lesson_admit(plan, x, &m, "--policy", full));
    if (p->seed == set->lesson.seed && p->rule != &by_lists) ulp_plan_note(plan, "policy in full", "%s", full);
    if (!p->format) ulp_plan_add(plan, p, 1, "binary32 seed %llu", (unsigned long long)p->seed);
    else ulp_plan_add(plan, p, 1, "%s %s seed %llu", p->format->name, p->rule->name, (unsigned long long)p->seed);
    return ULP_OK;
}

static ulp_status plan(ulp_plan *plan) {
    const settings *set = plan->settings;
    ulp_lesson *x = plan->context;
    ulp_status status = ulp_lesson_load(plan, x, &set->lesson);
    for (int64_t s = 0; s < set->lesson.seeds && status == ULP_OK; s++) {
        point p = {.seed = set->lesson.seed + (uint64_t)s};
        status = add_run(plan, set, x, &p);
        if (status == ULP_OK && set->lesson.how.amp.bits)
            status = add_run(plan, set, x, &(point){&set->lesson.how.amp, &by_lists, p.seed});
        for (size_t f = 0; f < set->formats.count; f++)
            for (size_t m = 0; m < set->modes.count && status == ULP_OK; m++) {
                p.format = &set->formats.at[f];
                p.rule = &set->modes.at[m];
                status = add_run(plan, set, x, &p);
            }
    }
    return status;
}

/* ---- one run ---- */

/* Puts a row after every epoch, and a row about the whole run at its end. */
static ulp_status record(const ulp_task *task, const ulp_trainer *t, const ulp_stretch *s) {
    const point *p = task->point;
    row r;
    (void)t;
    ulp_row_clear(task->rows, &r);
    r.format = p->format ? p->format->name : "binary32";
    if (p->rule) r.mode = p->rule->name;
    r.seed = (int64_t)p->seed;
    r.what = s->final ? FINAL : EPOCH;
    r.epoch = (int64_t)s->epochs;
    r.loss = s->loss;
    if (s->final) r.train_error = 100 * (1 - s->train_accuracy);
    r.test_error = 100 * (1 - s->test.accuracy);
    r.moved = s->moved;
    r.diverged = s->diverged;
    ulp_row_put(task->rows, &r);
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    const point *p = task->point;
    ulp_method m;
    const ulp_status status = make_method(&m, set, task->context, p);
    ulp_training training = ulp_lesson_training(task->context, &m, p->seed);
    training.options.init_std = set->std;
    training.want_moved = 1;
    training.record = record;
    return status == ULP_OK ? ulp_training_run(task, &training) : status;
}

const ulp_experiment experiment = {
    .name = "fixed_point",
    .question = "can a network be trained in 16-bit fixed point, with nearest and with stochastic rounding?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(ulp_lesson),
    .release = ulp_lesson_release,
};
