/* loss_scaling.c - by how much must the loss be multiplied, and can the scale be found without tuning?
 *
 * Networks learn the digits in mixed precision (--policy), their gradients of weights and activations in one of
 * --formats, the loss multiplied by 2^scale and the weight gradients divided by it in binary32. Rows `final` are whole
 * runs: binary32 without a scale; static scales; dynamic scalers (sim/scaler.h); and no loss scale at all, but
 * gradients of 8 bits with a scale per tensor (sim/policy.h): amax, just in time; delayed16, from the last 16 steps,
 * where what is larger than all they held saturates; delayed16-inf, where it becomes infinite in formats that have Inf.
 * Rows `step` trace the first seed's dynamic runs of the first network. zero is the share of gradients that are zero,
 * in binary32 too where a relu is off; flushed the share that a rounding made zero, not what then is zero because it
 * was computed from zeros. Both are of all gradients, in every step of a trace and in every --every-th step of other
 * runs.
 *
 * Too small a scale: gradients become zero and the network does not learn. Too large a one: the first Inf ends the
 * run, for a static scale has nothing to skip a step with. The axis goes far below 2^0 because these networks are
 * small and their loss a mean over few outputs: where the mean is taken over 2^k times as many, the same curves lie k
 * to the right. A scaler's growth interval is cut from its 2,000 steps (megatron: 1,000) to --interval so that a short
 * run shows growth; 0 leaves it. backoff never grows; logmax follows the gradients, with log_max, where 2^16 stands for
 * binary16, at the end of each format's range.
 *
 * The first network gets the whole grid, the others that of the --other options. Claims hold for the set-up of the
 * table of options and for binary16, e5m2 and e4m3; elsewhere they are skipped and say what was measured. What counts
 * as the accuracy of binary32 is --points for mlp and small, and for the other networks follows from their spread
 * (points_of in loss_scaling/claims.c).
 * After Micikevicius et al. 2018, "Mixed precision training", arXiv:1710.03740, section 3.2.
 */
#include "experiments/harness/training/networks.h"
#include "experiments/harness/training/training.h"
#include "loss_scaling.h"

#include <string.h>

#define SCALER_WORDS "pytorch apex keras megatron backoff logmax layer amax delayed16 delayed16-inf"

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("fp16,e5m2,e4m3", NULL),
    ULP_TAKES_NETWORKS("mlp,cnn,resnet,gru,lstm", "small,cnn,gru"),
    {"scales", ULP_OPTION_INTEGERS, "-24,-22,-20,-18,-16,-14,-12,-10,-8,-6,-4,-2,0,2,4,6,8,10,12,14,16,18,20,22,24",
     "-24,-12,-6,0,6,9,12,24", "-30..30", "log2 of the static scales", -100, 100, NULL, 0},
    {"scalers", ULP_OPTION_CHOICES, "all", "pytorch,layer,amax", NULL,
     "dynamic scalers; amax, delayed16, delayed16-inf: no loss scale, formats of 8 bits with one per tensor", 0, 0,
     SCALER_WORDS, 0},
    {"other-formats", ULP_OPTION_INTEGER, "2", "1", "100",
     "networks after the first: how many of the formats get loss scales", 0, 100, NULL, 0},
    {"other-scales", ULP_OPTION_INTEGERS, "-24,-16,-8,0,8,16,24", "-24,0,24", NULL,
     "networks after the first: log2 of the static scales", -100, 100, NULL, 0},
    {"other-scalers", ULP_OPTION_CHOICES, "pytorch,logmax,layer,amax,delayed16", "pytorch,amax", "all",
     "networks after the first: dynamic scalers", 0, 0, SCALER_WORDS, 0},
    {"interval", ULP_OPTION_INTEGER, "25", NULL, NULL, "good steps before a scaler doubles; 0: its own number", 0, 1e6,
     NULL, 0},
    {"policy", ULP_OPTION_TEXT, "mixed:fp16", NULL, NULL, "everything but the gradients' formats", 0, 0, NULL, 0},
    {"steps", ULP_OPTION_INTEGER, "300", "250", "1000", "training steps", 1, 1e7, NULL, 0},
    {"every", ULP_OPTION_INTEGER, "25", NULL, NULL, "count flushed gradients every so many steps", 1, 1e7, NULL, 0},
    {"points", ULP_OPTION_NUMBER, "1", "1.5", NULL,
     "mlp, small: how near to binary32 counts as the same, in percent of the test part", 0, 100, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("3", "2", "5"),
    {"other-seeds", ULP_OPTION_INTEGER, "2", "1", "5", "networks after the first: number of seeds", 1, 1e6, NULL, 0},
    ULP_TAKES_CHECKPOINT,
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

enum { AT_NET = 0, AT_FORMAT, AT_SCALER, AT_SCALE, AT_SEED };

const scaler_row scalers[SCALERS] = {
    {"pytorch", ULP_UNSCALED, 0, 1, ""},
    {"apex", ULP_UNSCALED, 0, 1, ""},
    {"keras", ULP_UNSCALED, 0, 1, ""},
    {"megatron", ULP_UNSCALED, 0, 1, ""},
    {"backoff", ULP_UNSCALED, 0, 0, "its scale only ever halved"},
    {"logmax", ULP_UNSCALED, 0, 0, "its scale followed the gradients"},
    {"layer", ULP_UNSCALED, 0, 1, ""},
    {"amax", ULP_SCALED_NOW, 0, 0, ""},
    {"delayed16", ULP_SCALED_DELAYED, 1, 0, ""},
    {"delayed16-inf", ULP_SCALED_DELAYED, 0, 0, ""},
};

/* ---- the grid ---- */

const double *scales_of(const ulp_run *run, size_t net, size_t *count) {
    return ulp_option_numbers(run, net ? "other-scales" : "scales", count);
}

/* Whether a format gets static scales, and a scaler, in a network. */
static int has_scales(const ulp_run *run, size_t net, size_t format) {
    return net == 0 || (int64_t)format < ulp_option_integer(run, "other-formats");
}

static int has_scaler(const ulp_run *run, size_t net, size_t format, int s) {
    size_t formats;
    const ulp_format *f = &ulp_run_formats(run, &formats)[format];
    if (!ulp_option_chosen(run, net ? "other-scalers" : "scalers", scalers[s].name)) return 0;
    if (!scalers[s].tensor) return has_scales(run, net, format);
    return f->bits <= 8 && (strcmp(scalers[s].name, "delayed16-inf") != 0 || f->has_inf);
}

/* The policy of runs with gradients in `format`; NULL: binary32 throughout. */
static ulp_status read_policy(ulp_policy *policy, const ulp_run *run, const ulp_format *format, int64_t scaler) {
    ulp_format gradient;
    char name[2 * ULP_NAME_MAX];
    if (!format) return ulp_policy_read(run, policy, "fp32", "the reference");
    const scaler_row *row = scaler >= 0 ? &scalers[scaler] : NULL;
    const ulp_scaling_time when = row ? row->tensor : ULP_UNSCALED;
    snprintf(name, sizeof name, "%s%s", format->name, row && row->saturates ? ":sat" : "");
    ulp_status status = ulp_policy_read(run, policy, ulp_option_text(run, "policy"), "--policy");
    if (status == ULP_OK && ulp_format_parse(&gradient, name) != ULP_OK)
        status = ulp_run_fail(run, ULP_BAD_NAME, "--formats %s: there is no format %s for %s", format->name, name,
                              scalers[scaler].name);
    const int history = when == ULP_SCALED_DELAYED ? 16 : 0;
    if (status == ULP_OK) status = ulp_policy_set(policy, ULP_AT_AGRAD, &gradient, when, history);
    return status == ULP_OK ? ulp_policy_set(policy, ULP_AT_WGRAD, &gradient, when, history) : status;
}

/* The policy in full goes into the header; a bad one ends the run before it starts. */
static ulp_status add_policy(ulp_run *run, const ulp_format *formats, size_t f) {
    char full[ULP_POLICY_TEXT_MAX];
    ulp_policy policy;
    ulp_status status = read_policy(&policy, run, &formats[f], STATIC);
    if (status == ULP_OK) status = ulp_policy_prepare(run, full, &policy, "--policy");
    if (status == ULP_OK) ulp_header_add(run, "policy in full", "%s", full);
    for (int s = 0; s < SCALERS && status == ULP_OK; s++) {
        if (!scalers[s].tensor || !(has_scaler(run, 0, f, s) || has_scaler(run, 1, f, s))) continue;
        status = read_policy(&policy, run, &formats[f], s);
        if (status == ULP_OK) status = ulp_policy_prepare(run, full, &policy, "--policy");
    }
    return status;
}

static void add_runs(ulp_run *run, size_t net, int64_t format, const char *name, int64_t scaler, int64_t scale) {
    ulp_network network;
    ulp_run_network(&network, run, net);
    for (int64_t s = 0; s < ulp_option_integer(run, net ? "other-seeds" : "seeds"); s++) {
        ulp_point point = {.at = {(int64_t)net, format, scaler, scale, (int64_t)ulp_run_seed(run) + s},
                           .cost = strcmp(network.name, "resnet") ? 1 : 2};
        if (scaler == STATIC)
            ulp_point_add(run, point, "%s %s static:%lld seed %lld", network.name, name, (long long)scale,
                          (long long)point.at[AT_SEED]);
        else
            ulp_point_add(run, point, "%s %s %s seed %lld", network.name, name,
                          scaler < 0 ? "none" : scalers[scaler].name, (long long)point.at[AT_SEED]);
    }
}

static void add_network(ulp_run *run, size_t net) {
    size_t formats, scales;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const double *scale = scales_of(run, net, &scales);
    add_runs(run, net, -1, "binary32", REFERENCE, 0);
    for (size_t f = 0; f < formats; f++) {
        for (size_t k = 0; k < scales && has_scales(run, net, f); k++)
            add_runs(run, net, (int64_t)f, format[f].name, STATIC, (int64_t)scale[k]);
        for (int s = 0; s < SCALERS; s++)
            if (has_scaler(run, net, f, s)) add_runs(run, net, (int64_t)f, format[f].name, s, 0);
    }
}

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats;
    ulp_network network;
    const ulp_format *format = ulp_run_formats(run, &formats);
    ulp_status status = ulp_networks_load(run, context);
    for (size_t f = 0; f < formats && status == ULP_OK; f++) status = add_policy(run, format, f);
    for (size_t i = 0; status == ULP_OK && ulp_run_network(&network, run, i); i++) add_network(run, i);
    return status;
}

/* ---- one run ---- */

/* Gradients counted so far. */
typedef struct sums {
    uint64_t count, zero, flushed, overflow;
} sums;

/* A run: what it has counted, which is kept in checkpoints, and what it is. */
typedef struct work {
    sums all;
    const char *net, *format, *scaler;
    int64_t scale, seed, every;
    int trace;
} work;

static void put_share(ulp_rows *rows, uint64_t part, uint64_t whole) {
    if (whole) ulp_put_number(rows, (double)part / (double)whole);
    else ulp_put_none(rows);
}

static void put_row(ulp_rows *rows, const work *w, const char *what, int64_t step, int64_t scale, double loss,
                    int64_t skipped, const sums *s) {
    ulp_put_text(rows, w->net);
    ulp_put_text(rows, w->format);
    ulp_put_text(rows, w->scaler);
    if (strcmp(w->scaler, "static") == 0) ulp_put_integer(rows, w->scale);
    else ulp_put_none(rows);
    ulp_put_integer(rows, w->seed);
    ulp_put_text(rows, what);
    ulp_put_integer(rows, step);
    ulp_put_integer(rows, scale);
    ulp_put_number(rows, loss);
    ulp_put_integer(rows, skipped);
    put_share(rows, s->zero, s->count);
    put_share(rows, s->flushed, s->count);
    put_share(rows, s->overflow, s->count);
}

/* One step, counted or not. */
static ulp_status take_step(void *own, ulp_trainer *t, ulp_step *step, ulp_rows *rows) {
    work *w = own;
    t->counting = w->trace || t->step % (uint64_t)w->every == 0;
    ulp_status status = ulp_trainer_step(t, step);
    if (status != ULP_OK) return status;
    const sums now = {.count = step->agrad_all.count + step->wgrad_all.count,
                      .zero = step->agrad_all.zero + step->wgrad_all.zero,
                      .flushed = step->agrad.underflow + step->wgrad.underflow,
                      .overflow = step->agrad.overflow + step->wgrad.overflow};
    w->all.count += now.count;
    w->all.zero += now.zero;
    w->all.flushed += now.flushed;
    w->all.overflow += now.overflow;
    if (!w->trace) return ULP_OK;
    put_row(rows, w, "step", (int64_t)step->step, step->scale_log2, step->loss, step->skipped, &now);
    ulp_put_nones(rows, 2);
    ulp_row_end(rows);
    return ULP_OK;
}

static ulp_status record(void *own, ulp_trainer *t, const ulp_stretch *stretch, ulp_rows *rows) {
    const work *w = own;
    put_row(rows, w, "final", (int64_t)stretch->steps, t->scaler.log2, stretch->learned.loss,
            (int64_t)t->scaler.skipped, &w->all);
    ulp_put_number(rows, stretch->learned.accuracy);
    ulp_put_number(rows, stretch->test.accuracy);
    ulp_row_end(rows);
    return ULP_OK;
}

static ulp_scaler_rule scaler_of(const ulp_run *run, int64_t scaler, int64_t scale, const ulp_format *format) {
    const int64_t interval = ulp_option_integer(run, "interval");
    if (scaler == STATIC) return ulp_scaler_static((int)scale);
    if (scaler == REFERENCE || scalers[scaler].tensor) return *ulp_scaler_rule_find("none");
    ulp_scaler_rule rule = *ulp_scaler_rule_find(scalers[scaler].name);
    if (rule.way == ULP_SCALE_BY_SIZE) rule.log_max = format->emax + 1;
    else if (interval && scalers[scaler].grows) rule.interval = (uint32_t)interval;
    return rule;
}

void scaler_label(const ulp_run *run, char *text, size_t size, int64_t scaler, const ulp_format *format) {
    const long long interval = (long long)ulp_option_integer(run, "interval");
    const char *name = scalers[scaler].name;
    if (strcmp(name, "logmax") == 0) snprintf(text, size, "logmax,log_max=%d", format->emax + 1);
    else if (interval == 0 || !scalers[scaler].grows) snprintf(text, size, "%s", name);
    else snprintf(text, size, "%s,interval=%lld", name, interval);
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    size_t formats;
    const int64_t scaler = point->at[AT_SCALER], steps = ulp_option_integer(run, "steps"), seed = point->at[AT_SEED];
    const ulp_format *format = scaler == REFERENCE ? NULL : &ulp_run_formats(run, &formats)[point->at[AT_FORMAT]];
    const char *name = format ? format->name : "binary32";
    const ulp_data *data = context;
    ulp_net net = {0};
    ulp_policy policy;
    ulp_network network;
    ulp_run_network(&network, run, (size_t)point->at[AT_NET]);
    const ulp_scaler_rule rule = scaler_of(run, scaler, point->at[AT_SCALE], format);
    const ulp_optimizer_rule optimizer = ulp_network_optimizer(run, &network, steps);
    ulp_status status = read_policy(&policy, run, format, scaler);
    if (status == ULP_OK) status = ulp_net_read(run, &net, network.text, data->dims);
    work w = {.net = network.name,
              .format = name,
              .scaler = scaler == REFERENCE ? "none"
                        : scaler == STATIC  ? "static"
                                            : scalers[scaler].name,
              .scale = point->at[AT_SCALE],
              .seed = seed,
              .every = ulp_option_integer(run, "every"),
              .trace = point->at[AT_NET] == 0 && scaler >= 0 && !scalers[scaler].tensor &&
                       seed == (int64_t)ulp_run_seed(run)};
    const ulp_training training = {
        .checkpoint = ulp_option_number(run, "checkpoint"),
        .data = data,
        .options = {.net = &net,
                    .policy = &policy,
                    .scaler = &rule,
                    .optimizer = &optimizer,
                    .batch = network.batch,
                    .seed = (uint64_t)seed,
                    .backend = ulp_run_backend(run)},
        .steps = (uint64_t)steps,
        .every = (uint64_t)steps,
        .want_learned = 1,
        .record = record,
        .step = take_step,
        .own = &w,
        .own_bytes = sizeof w.all,
    };
    if (status == ULP_OK) status = ulp_training_run(ulp_rows_task(rows), &training);
    ulp_net_release(&net);
    return status;
}

static const ulp_experiment experiment = {
    .name = "loss_scaling",
    .question = "by how much must the loss be multiplied, and can the scale be found without tuning?",
    .columns = "net,format,scaler,static_log2,seed,what,step,scale_log2,loss,skipped,zero,flushed,overflowed,train_"
               "accuracy,test_accuracy",
    .options = options,
    .takes_format = ulp_format_with_sign,
    .format_wants = ULP_WANTS_WITH_SIGN,
    .prepare = prepare,
    .compute = compute,
    .check = loss_scaling_check,
    .release = ulp_context_release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
