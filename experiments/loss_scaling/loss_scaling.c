/* loss_scaling.c - by how much must the loss be multiplied, and can the scale be found without tuning?
 *
 * Networks learn the digits in mixed precision (--policy), with gradients in one of --formats. The loss is multiplied
 * by 2^scale, and the weight gradients are divided by 2^scale in binary32. Rows `final` are whole runs: binary32,
 * static loss scales, dynamic scalers (sim/train/scaler.h; log_max of logmax is the end of the range of the format),
 * and, for formats of 8 bits, tensor scales (sim/policy/policy.h) without a loss scale. amax takes the largest
 * magnitude of the tensor itself. delayed16 takes the largest magnitude of the last 16 steps; a larger magnitude
 * saturates. delayed16-inf is the same, but a larger magnitude becomes infinite.
 *
 * Rows `step` trace the dynamic scalers of the first network with the first seed. The shares of gradients are those of
 * every step in a trace, and of every --every-th step in other runs.
 *
 * A static scale skips no step, so that the first Inf ends the run. The scales begin far below 2^0, because the loss of
 * these small networks is a mean over few outputs: with 2^k times as many outputs the same curves lie k to the right.
 * --interval shortens the growth intervals of scalers (2,000 steps; megatron: 1,000), so that a short run shows growth.
 * The experiment follows Micikevicius et al. 2018, arXiv:1710.03740, section 3.2.
 */
#include "loss_scaling.h"

#include <stdio.h>
#include <string.h>

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "fp16,e5m2,e4m3", NULL, ulp_format_with_sign, ULP_WANTS_WITH_SIGN),
    ULP_OPTIONS_NETWORKS(settings, networks, "small,cnn,resnet,gru,lstm", "small,cnn,gru", "mlp,cnn,resnet,gru,lstm"),
    ULP_OPTION_AS(settings, grid[0].scales, "scales", integers, "-24,-21,-18,-15,-12,-9,-6,-3,0,3,6,9,12,15,18,21,24",
                  .quick = "-24,-12,-6,0,6,9,12,24", .full = "-30..30", .min = -100, .max = 100,
                  .help = "log2 of the static scales"),
    ULP_OPTION_AS(settings, grid[0].scalers, "scalers", choices, "all", .quick = "pytorch,layer,amax",
                  .words = DYNAMIC_WORDS, .help = "dynamic scalers; the last three scale tensors of 8 bits, no loss"),
    ULP_OPTION_AS(settings, other_formats, "other-formats", integer, "2", .quick = "1", .full = "100", .max = 100,
                  .help = "networks after the first: how many of the formats get loss scales"),
    ULP_OPTION_AS(settings, grid[1].scales, "other-scales", integers, "-24,0,8,24", .quick = "-24,0,24",
                  .full = "-24,-16,-8,0,8,16,24", .min = -100, .max = 100,
                  .help = "networks after the first: log2 of the static scales"),
    ULP_OPTION_AS(settings, grid[1].scalers, "other-scalers", choices, "pytorch,logmax,layer,amax,delayed16",
                  .quick = "pytorch,amax", .full = "all", .words = DYNAMIC_WORDS,
                  .help = "networks after the first: dynamic scalers"),
    ULP_OPTION(settings, interval, integer, "25", .max = 1e6, .help = "good steps before a scale doubles; 0: its own"),
    ULP_OPTION(settings, policy, policy, "mixed:fp16",
               .help = "everything but the formats and tensor scales of gradients"),
    ULP_OPTION(settings, steps, integer, "250", .full = "1000", .min = 1, .max = 1e7, .help = "training steps"),
    ULP_OPTION(settings, every, integer, "25", .min = 1, .max = 1e7, .help = "count gradients every so many steps"),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_SEEDS(settings, grid[0].seeds, "2", NULL, "5"),
    ULP_OPTION_AS(settings, grid[1].seeds, "other-seeds", integer, "1", .full = "5", .min = 1, .max = 1e6,
                  .help = "networks after the first: number of seeds"),
    ULP_OPTION_CHECKPOINT(settings, checkpoint),
    ULP_OPTION_BACKEND_OF(settings, backend),
    ULP_OPTION_DATA(settings, networks.data),
    ULP_OPTIONS_TRAINING(settings, networks.how),
    {0},
};

static const ulp_column columns[] = {ULP_COLUMNS(row, net, format),       ULP_WORDS(row, scaler, SCALER_WORDS),
                                     ULP_COLUMNS(row, static_log2, seed), ULP_WORDS(row, what, "final step"),
                                     ULP_TRAINING_COLUMNS_OF(row, cells), {0}};

/* ---- the grid ---- */

/* The policy of a run: binary32, or --policy or --amp with gradients in a format. */
static ulp_status make_policy(ulp_policy *policy, const settings *s, const point *p) {
    const int steps = p->scaler >= DELAYED16 ? 16 : 0;
    const ulp_tensor_scale when = steps ? ULP_SCALED_DELAYED : p->scaler == AMAX ? ULP_SCALED_NOW : ULP_UNSCALED;
    if (!p->format) return ulp_policy_parse(policy, "fp32", NULL);
    *policy = s->networks.how.amp.bits ? p->network->policy : s->policy.policy;
    ULP_TRY(ulp_policy_set(policy, ULP_AT_AGRAD, p->format, when, steps));
    ULP_TRY(ulp_policy_set(policy, ULP_AT_WGRAD, p->format, when, steps));
    if (p->scaler == DELAYED16)
        policy->at[ULP_AT_AGRAD].rule.overflow = policy->at[ULP_AT_WGRAD].rule.overflow = ULP_OVERFLOW_SAT;
    return ULP_OK;
}

static void add_runs(ulp_plan *plan, const settings *s, int other, point p) {
    const char *format = p.format ? p.format->name : "binary32";
    char scale[24] = "";
    if (p.scaler == STATIC) snprintf(scale, sizeof scale, ":%lld", (long long)p.scale);
    for (p.seed = s->seed; p.seed < s->seed + (uint64_t)s->grid[other].seeds; p.seed++)
        ulp_plan_add(plan, &p, p.network->cost, "%s %s %s%s seed %llu", p.network->name, format,
                     ulp_word_of(SCALER_WORDS, (size_t)p.scaler).text, scale, (unsigned long long)p.seed);
}

/* Whether the networks of a grid have runs with a format and a scaler. */
static int has_runs(const settings *s, int other, size_t f, int scaler) {
    const ulp_format *format = &s->formats.at[f];
    if (scaler >= PYTORCH && !(s->grid[other].scalers >> (scaler - PYTORCH) & 1)) return 0;
    if (scaler >= AMAX) return format->bits <= 8 && (scaler != DELAYED16_INF || format->has_inf);
    return !other || (int64_t)f < s->other_formats;
}

static int is_same_cast(const ulp_cast *a, const ulp_cast *b) {
    return strcmp(a->format.name, b->format.name) == 0 && a->tensor_scale == b->tensor_scale &&
           a->history == b->history;
}

/* Whether a policy gives the gradients at a point formats or tensor scales other than those of its preset, or gives
 * some layers a rounding mode of their own there: make_policy() replaces all of these. */
static int sets_gradients(const ulp_policy *policy, const ulp_policy *preset, ulp_point_kind at) {
    const ulp_cast *all = &policy->at[at];
    if (!is_same_cast(all, &preset->at[at])) return 1;
    for (size_t i = 0; i < policy->selections; i++) {
        const ulp_selection *s = &policy->selection[i];
        if (s->what == at && (!is_same_cast(&s->cast, all) || s->cast.rule.mode != all->rule.mode)) return 1;
    }
    return 0;
}

/* Refuse agrad= and wgrad= in --policy. */
static ulp_status check_gradients(ulp_plan *plan, const ulp_named_policy *named) {
    char text[ULP_POLICY_TEXT_MAX];
    ulp_policy preset;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(named->text, ","), named->text);
    ULP_TRY(ulp_policy_parse(&preset, strchr(text, '=') ? "fp32" : text, NULL));
    for (int i = 0; i < 2; i++) {
        const ulp_point_kind at = i ? ULP_AT_WGRAD : ULP_AT_AGRAD;
        if (sets_gradients(&named->policy, &preset, at))
            ULP_TRY(ulp_plan_fail(plan, ULP_BAD_ARGUMENT,
                                  "--policy: %s: --formats decides the formats of gradients, and --scalers their "
                                  "tensor scales; leave %s out",
                                  ulp_point_name(at), ulp_point_name(at)));
    }
    return ULP_OK;
}

/* Refuse a policy that the network or its trainer does not take. */
static ulp_status check_training(ulp_plan *plan, const settings *s, const ulp_network *network, const ulp_data *data,
                                 const ulp_policy *policy) {
    ulp_train_options o = ulp_network_options(network, s->seed, s->backend);
    o.policy = policy;
    return ulp_training_check(plan, data, &o);
}

static ulp_status add_network(ulp_plan *plan, const settings *s, const ulp_networks *networks, size_t i) {
    const ulp_network *network = &networks->at[i];
    const ulp_data *data = &networks->data;
    const int other = i > 0;
    const ulp_integer_list *scales = &s->grid[other].scales;
    point p = {.network = network};
    char full[ULP_POLICY_TEXT_MAX];
    ulp_policy policy;
    add_runs(plan, s, other, p);
    for (size_t f = 0; f < s->formats.count; f++)
        for (p.scaler = STATIC; p.scaler < SCALERS; p.scaler++) {
            p.format = &s->formats.at[f];
            if (!has_runs(s, other, f, p.scaler)) continue;
            ULP_TRY(make_policy(&policy, s, &p));
            ULP_TRY(ulp_policy_admit(plan, &policy, "--policy", s->backend, full));
            ULP_TRY(check_training(plan, s, network, data, &policy));
            if (!other && p.scaler == STATIC) ulp_plan_note(plan, "policy in full", "%s", full);
            for (size_t k = 0; k < (p.scaler == STATIC ? scales->count : 1); k++) {
                p.scale = p.scaler == STATIC ? scales->at[k] : 0;
                add_runs(plan, s, other, p);
            }
        }
    return ULP_OK;
}

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    ulp_networks *n = plan->context;
    if (s->networks.how.amp.bits && ulp_setting_given(plan->arguments, "policy"))
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT,
                             "--amp derives the policy, and --policy gives one: give one of the two");
    ULP_TRY(s->networks.how.amp.bits ? ULP_OK : check_gradients(plan, &s->policy));
    ULP_TRY(ulp_networks_load(plan, n, &s->networks, s->seed, s->steps));
    for (size_t i = 0; i < n->count; i++) ULP_TRY(add_network(plan, s, n, i));
    return ULP_OK;
}

/* ---- one run ---- */

static void put_row(const ulp_task *task, int what, ulp_training_cells cells) {
    const point *p = task->point;
    const int64_t log2 = p->scaler == STATIC ? p->scale : ULP_NO_INTEGER;
    const row r = {
        p->network->name, p->format ? p->format->name : "binary32", p->scaler, what, log2, (int64_t)p->seed, cells};
    ulp_row_put(task->rows, &r);
}

static void record_step(const ulp_task *task, const ulp_step *step) { put_row(task, STEP, ulp_cells_of_step(step)); }

static ulp_status record(const ulp_task *task, const ulp_trainer *t, const ulp_stretch *stretch) {
    if (stretch->final) put_row(task, FINAL, ulp_cells_of_stretch(t, stretch));
    return ULP_OK;
}

static ulp_scaler_rule rule_of(const settings *s, const point *p) {
    if (p->scaler == STATIC) return ulp_scaler_static((int)p->scale);
    const int word = p->scaler < AMAX ? p->scaler : NONE;
    ulp_scaler_rule rule = *ulp_scaler_rule_find(ulp_word_of(SCALER_WORDS, (size_t)word).text);
    if (p->scaler == LOGMAX) rule.log_max = p->format->emax + 1;
    if (rule.interval && s->interval) rule.interval = (uint32_t)s->interval;
    return rule;
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    const point *p = task->point;
    const ulp_networks *networks = task->context;
    const int traced = p->network == networks->at && p->seed == s->seed && p->scaler >= PYTORCH && p->scaler < AMAX;
    const ulp_scaler_rule rule = rule_of(s, p);
    ulp_policy policy;
    ULP_TRY(make_policy(&policy, s, p));
    ulp_training training = {.data = &networks->data,
                             .options = ulp_network_options(p->network, p->seed, s->backend),
                             .steps = (uint64_t)s->steps,
                             .every = (uint64_t)s->steps,
                             .count_every = traced ? 1 : (uint64_t)s->every,
                             .want_learned = 1,
                             .checkpoint = s->checkpoint,
                             .record = record,
                             .record_step = traced ? record_step : NULL};
    training.options.scaler = &rule;
    training.options.policy = &policy;
    return ulp_training_run(task, &training);
}

const ulp_experiment experiment = {
    .name = "loss_scaling",
    .question = "by how much must the loss be multiplied, and can the scale be found without tuning?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(ulp_networks),
    .release = ulp_networks_release,
};
