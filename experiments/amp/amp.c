/* amp.c - does automatic mixed precision end where binary32 ends, and what does it save and cost?
 *
 * Every network learns the digits in binary32 and, for each of --formats, in three ways: `amp`, with the policy and the
 * scaler that sim/policy/amp.h derives from lists of operations; `recipe`, the preset mixed:FORMAT, the same for all
 * layers (for the first format alone); `low`, every number and every sum in the format, without master weights and loss
 * scaling. --policy and --scaler replace what amp derives, for one network and one format.
 *
 * The loss has the weight 2^W with W = --weight, and the rate divides the weight out again. A mean over few outputs has
 * large gradients, which binary16 holds. With the weight 2^-16 the gradients of a batch of 32 are as small as those of
 * a mean over 2^21 outputs; the largest language model of Brown et al. 2020 (arXiv:2005.14165, table 2.1) has batches
 * of 3.2 million tokens. The growth interval of scalers is cut from 2,000 steps to --interval, because the run is
 * short.
 *
 * Counts of a row: `casts` are the numbers that a step converts between formats (weights, gradients of weights, and
 * tensors where the format changes). `kept` and `weights` are bytes (sim/train/footprint.h): activations and their
 * gradients; weights, master weights, gradients of weights and the optimizer's state. `moved` are the bytes that a step
 * reads and writes.
 */
#include "amp.h"

#include <stdlib.h>
#include <string.h>

#include "sim/train/footprint.h"

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "fp16,bf16", "fp16", ulp_amp_takes,
                          "the formats of amp: floating point with a sign, in the range of binary32, not tapered"),
    ULP_OPTION(settings, ways, choices, "all", .words = &(WAY_WORDS)[sizeof "fp32"],
               .help = "ways to train in a format"),
    ULP_OPTIONS_NETWORKS(settings, networks, "small,cnn,resnet,gru,lstm", "small,cnn", NULL),
    ULP_OPTION(settings, steps, integer, "100", .quick = "40", .full = "1000", .min = 1, .max = 1e7,
               .help = "training steps"),
    ULP_OPTION(settings, interval, integer, "25", .min = 1, .max = 1e6, .help = "good steps before a scale doubles"),
    ULP_OPTION(settings, weight, integer, "-16", .help = "log2 of a weight of the loss, before scaling", .min = -60),
    ULP_OPTION(settings, policy, policy, "fp32", .silent = 1,
               .help = "if given: in place of what amp derives; takes one network and one format"),
    ULP_OPTION(settings, scaler, text, "", .value_name = "SCALER", .silent = 1, .topic = "scalers",
               .help = "in place of what amp derives, as --policy"),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_SEEDS(settings, seeds, "5", "2", "10"),
    ULP_OPTION_CHECKPOINT(settings, checkpoint),
    ULP_OPTION_BACKEND_OF(settings, backend),
    ULP_OPTION_DATA(settings, networks.data),
    ULP_OPTION_PROFILE(settings, profile),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, net, format),
    ULP_WORDS(row, way, WAY_WORDS),
    ULP_COLUMNS(row, seed),
    ULP_COLUMNS_OF(row, cells, step, scale_log2, loss, skipped, diverged, train_accuracy, test_accuracy),
    ULP_COLUMNS(row, casts, kept, weights, moved),
    {0}};

typedef struct context {
    ulp_networks networks; /* first */
    method *methods;       /* (count) */
    size_t count;
} context;

static void release(void *own) {
    context *x = own;
    free(x->methods);
    ulp_networks_release(&x->networks);
}

/* ---- the cost of a policy ---- */

static ulp_status count_costs(ulp_plan *plan, method *m, const ulp_network *network) {
    ulp_error error;
    ulp_footprint whole, *layer = ulp_grow(NULL, network->net.count * sizeof *layer);
    const ulp_footprint_run run = {&network->net, &m->policy, &network->optimizer, network->batch};
    const ulp_status status = ulp_footprint_count(layer, &whole, &run, &error);
    free(layer);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s: %s", network->name, error.text);
    m->casts = (int64_t)whole.casts;
    m->kept = (double)(whole.bytes[ULP_BYTES_ACT] + whole.bytes[ULP_BYTES_AGRAD]);
    m->weights = (double)(whole.bytes[ULP_BYTES_WEIGHT] + whole.bytes[ULP_BYTES_MASTER] + whole.bytes[ULP_BYTES_STATE] +
                          whole.bytes[ULP_BYTES_WGRAD]);
    for (int k = 0; k < ULP_EFFORT_KINDS; k++) m->moved += (double)whole.effort[k].bytes;
    return ULP_OK;
}

/* ---- the grid ---- */

/* The scaler of a way, with the weight of the loss. */
static void weigh(ulp_scaler_rule *scaler, const settings *s) {
    if (scaler->way == ULP_SCALE_FIXED) {
        *scaler = ulp_scaler_static((int)s->weight);
        return;
    }
    scaler->init = (int16_t)(scaler->init + s->weight);
    scaler->interval = (uint32_t)s->interval;
}

static ulp_status derive(ulp_plan *plan, method *m, const settings *s, const ulp_network *network,
                         const ulp_format *format) {
    ulp_error error;
    ulp_amp amp;
    ulp_status status = ulp_amp_derive(&amp, &network->net, format, &error);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s: %s", network->name, error.text);
    m->policy = ulp_setting_given(plan->arguments, "policy") ? s->policy.policy : amp.policy;
    m->scaler = amp.scaler;
    if (*s->scaler && ulp_scaler_parse(&m->scaler, s->scaler, &error) != ULP_OK)
        return ulp_plan_fail(plan, ULP_BAD_NAME, "--scaler: %s", ulp_after_subject(error.text, "scaler"));
    return ULP_OK;
}

/* Set policy and scaler of a way. */
static ulp_status choose(ulp_plan *plan, method *m, const settings *s, const ulp_network *network,
                         const ulp_format *format, int way) {
    char text[80];
    if (way == AMP) return derive(plan, m, s, network, format);
    const int wide = format && format->emin <= -126 && format->emax >= 127;
    m->scaler = *ulp_scaler_rule_find(way == RECIPE && !wide ? "pytorch" : "none");
    snprintf(text, sizeof text, "%s%s", way == RECIPE ? "mixed:" : "", format ? format->name : "fp32");
    return ulp_plan_read_policy(plan, &m->policy, text, text);
}

static ulp_status add_way(ulp_plan *plan, const settings *s, context *x, point at) {
    char full[ULP_POLICY_TEXT_MAX], key[96];
    method *m = &x->methods[x->count++];
    memset(m, 0, sizeof *m);
    at.method = m;
    const char *word = ulp_word_of(WAY_WORDS, (size_t)at.way).text, *format = at.format ? at.format->name : "binary32";
    ULP_TRY(choose(plan, m, s, at.network, at.format, at.way));
    ULP_TRY(ulp_policy_admit(plan, &m->policy, "--policy", s->backend, full));
    ULP_TRY(count_costs(plan, m, at.network));
    if (at.way == AMP) {
        snprintf(key, sizeof key, "amp of %s in %s", at.network->name, format);
        ulp_plan_note(plan, key, "%s; scaler %s", full, m->scaler.name);
    }
    weigh(&m->scaler, s);
    ulp_train_options o = ulp_network_options(at.network, s->seed, s->backend);
    o.policy = &m->policy;
    o.scaler = &m->scaler;
    ULP_TRY(ulp_training_check(plan, &x->networks.data, &o));
    for (at.seed = s->seed; at.seed < s->seed + (uint64_t)s->seeds; at.seed++)
        ulp_plan_add(plan, &at, at.network->cost * (at.way == LOW ? 4 : 1), "%s %s %s seed %llu", at.network->name,
                     format, word, (unsigned long long)at.seed);
    return ULP_OK;
}

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    context *x = plan->context;
    const int by_hand = ulp_setting_given(plan->arguments, "policy") || ulp_setting_given(plan->arguments, "scaler");
    ULP_TRY(ulp_networks_load(plan, &x->networks, &s->networks, s->seed, s->steps));
    if (by_hand && (x->networks.count > 1 || s->formats.count > 1))
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT,
                             "--policy and --scaler take one network and one format; this run has %zu and %zu",
                             x->networks.count, s->formats.count);
    x->methods = ulp_grow(NULL, x->networks.count * (1 + (WAYS - 1) * s->formats.count) * sizeof *x->methods);
    for (size_t i = 0; i < x->networks.count; i++) {
        point at = {.network = &x->networks.at[i], .way = FP32};
        ULP_TRY(add_way(plan, s, x, at));
        for (size_t f = 0; f < s->formats.count; f++)
            for (at.way = AMP; at.way < WAYS; at.way++) {
                at.format = &s->formats.at[f];
                if (s->ways >> (at.way - AMP) & 1 && (at.way != RECIPE || f == 0)) ULP_TRY(add_way(plan, s, x, at));
            }
    }
    return ULP_OK;
}

/* ---- one run ---- */

static ulp_status record(const ulp_task *task, const ulp_trainer *t, const ulp_stretch *stretch) {
    const point *p = task->point;
    if (!stretch->final) return ULP_OK;
    const row r = {p->network->name,
                   p->format ? p->format->name : "binary32",
                   p->way,
                   (int64_t)p->seed,
                   ulp_cells_of_stretch(t, stretch),
                   p->method->casts,
                   p->method->kept,
                   p->method->weights,
                   p->method->moved};
    ulp_row_put(task->rows, &r);
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    const point *p = task->point;
    ulp_training training = {.data = &((const context *)task->context)->networks.data,
                             .options = ulp_network_options(p->network, p->seed, s->backend),
                             .steps = (uint64_t)s->steps,
                             .every = (uint64_t)s->steps,
                             .want_learned = 1,
                             .checkpoint = s->checkpoint,
                             .record = record};
    training.options.policy = &p->method->policy;
    training.options.scaler = &p->method->scaler;
    return ulp_training_run(task, &training);
}

const ulp_experiment experiment = {
    .name = "amp",
    .question = "does automatic mixed precision end where binary32 ends, and what does it save and cost?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(context),
    .release = release,
};
