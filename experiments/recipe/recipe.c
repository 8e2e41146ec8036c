/* recipe.c - the recipe of mixed precision step by step: what does each ingredient do, and what can take its place?
 *
 * The same network learns the digits in every variant of the table VARIANTS, with the same seeds: first the ladder from
 * everything in binary16 to the whole recipe (Micikevicius et al. 2018, arXiv:1710.03740), then the recipe with one
 * ingredient changed. `fp32 sums` stands for their section 3.3: sums of products in binary32, and the softmax. Rows
 * `epoch` are learning curves: mean training loss of the steps since the row before. Rows `final` hold the loss over
 * the whole training part, under the variant's own policy.
 *
 * Why this set-up. The rate decays to zero, as in most training: late updates are far smaller than the weights, and
 * those below half a unit in the last place vanish unless something keeps them. Warm-up, a moderate rate and a batch of
 * a third of the training part keep the variants of one seed on one path, so that differences are those of arithmetic:
 * all claims about an ingredient compare runs of the same seed. A network this small has large gradients, a mean over
 * few outputs (the walls of experiments/loss_scaling/loss_scaling.c): binary16 holds them. The loss therefore has the
 * weight 2^--weight, which the rate divides out again, in all variants: gradients as small as those of a mean over 2^19
 * outputs, the half million tokens in a batch of a language model (Brown et al. 2020, arXiv:2005.14165, table 2.1), and
 * pessimistic in one point: there the gradients of weights, sums over those tokens, are larger again. A scaler starts
 * at 2^16 times that loss, and its growth interval is cut from 2,000 steps to --interval, as the run is short.
 * Accuracies on 360 test digits cannot tell most variants apart; the training loss can. A variant ends where fp32 ends
 * if the median over seeds of its difference to fp32 is at most fp32's own spread, its largest minus its smallest
 * value: that is how much a seed means.
 *
 * In place of master weights: weights rounded stochastically, or a compensated update (Zamirai et al. 2020,
 * arXiv:2010.06192), momentum and unscaled gradients in binary32 as in the recipe. bfloat16 without scaling: Kalamkar
 * et al. 2019, arXiv:1905.12322. Fp8: weights and activations in e4m3, their gradients in e5m2, weight gradients in
 * bfloat16, with a scale per tensor by its own largest magnitude or by that of the last 16 steps (Micikevicius et al.
 * 2022, arXiv:2209.05433); with the latter, conversions saturate, as a tensor that has just grown would overflow to
 * NaN.
 */
#include "experiments/harness/training/load.h"
#include "experiments/harness/claims/spread.h"
#include "experiments/harness/training/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* X(name, in plain words, policy, scaler, whether the update is a Kahan sum) */
#define VARIANTS(X)                                                                                                    \
    X("fp32", "binary32", "fp32", "none", 0)                                                                           \
    X("fp16", "everything in binary16", "fp16", "none", 0)                                                             \
    X("fp16-sums", "+ fp32 sums", "fp16,acc=fp32,loss=fp32,norm=fp32", "none", 0)                                      \
    X("fp16-master", "+ master weights", "mixed:fp16", "none", 0)                                                      \
    X("fp16-recipe", "+ loss scaling: the recipe", "mixed:fp16", "pytorch", 0)                                         \
    X("fp16-lowsums", "recipe but sums in fp16", "mixed:fp16,acc=serial:fp16:rne", "pytorch", 0)                       \
    X("fp16-nomaster", "recipe but no master weights", "mixed:fp16,master=none", "pytorch", 0)                         \
    X("fp16-sr", "stochastic weights instead", "mixed:fp16,master=none,weight=fp16/sr", "pytorch", 0)                  \
    X("fp16-kahan", "Kahan update instead", "mixed:fp16,master=none", "pytorch", 1)                                    \
    X("bf16", "everything in bfloat16", "bf16", "none", 0)                                                             \
    X("bf16-recipe", "bfloat16 recipe, unscaled", "mixed:bf16", "none", 0)                                             \
    X("bf16-lowsums", "the same but sums in bf16", "mixed:bf16,acc=serial:bf16:rne", "none", 0)                        \
    X("bf16-nomaster", "the same but no master weights", "mixed:bf16,master=none", "none", 0)                          \
    X("bf16-sr", "stochastic weights instead", "mixed:bf16,master=none,weight=bf16/sr", "none", 0)                     \
    X("bf16-kahan", "Kahan update instead", "mixed:bf16,master=none", "none", 1)                                       \
    X("fp8", "fp8 without any scale", "mixed:bf16,weight=e4m3,act=e4m3,agrad=e5m2", "none", 0)                         \
    X("fp8-loss", "fp8 with loss scaling", "mixed:bf16,weight=e4m3,act=e4m3,agrad=e5m2", "pytorch", 0)                 \
    X("fp8-now", "fp8, scales per tensor just in time", "mixed:bf16,weight=e4m3@amax,act=e4m3@amax,agrad=e5m2@amax",   \
      "none", 0)                                                                                                       \
    X("fp8-delayed", "fp8, scales per tensor delayed",                                                                 \
      "mixed:bf16,weight=e4m3:sat@delayed16,act=e4m3:sat@delayed16,agrad=e5m2:sat@delayed16", "none", 0)

typedef struct variant {
    const char *name, *words, *policy, *scaler;
    uint8_t kahan;
} variant;

#define ROW(...) {__VA_ARGS__},
#define WORD(name, words, policy, scaler, kahan) " " name
static const variant variants[] = {VARIANTS(ROW)};
enum { COUNT = sizeof variants / sizeof variants[0], AT_VARIANT = 0, AT_SEED };

#define NET "fc64 relu fc64 relu fc10"

static const ulp_option options[] = {
    {"variants", ULP_OPTION_CHOICES, "all",
     "fp32,fp16,fp16-sums,fp16-master,fp16-recipe,bf16-recipe,bf16-nomaster,fp8,fp8-now", NULL, "the variants to train",
     0, 0, VARIANTS(WORD), 0},
    {"net", ULP_OPTION_TEXT, NET, NULL, NULL, "the network, layer by layer", 0, 0, NULL, 0},
    {"batch", ULP_OPTION_INTEGER, "479", NULL, NULL, "samples per step", 1, 60000, NULL, 0},
    {"epochs", ULP_OPTION_INTEGER, "150", "60", "400", "trips through the training part", 1, 1e5, NULL, 0},
    {"every", ULP_OPTION_INTEGER, "3", NULL, "8", "a row after every so many epochs", 1, 1e5, NULL, 0},
    {"rate", ULP_OPTION_NUMBER, "0.2", NULL, NULL,
     "learning rate after warm-up, a tenth of the steps; then a cosine to zero", 0, 1000, NULL, 0},
    {"momentum", ULP_OPTION_NUMBER, "0.9", NULL, NULL, "momentum", 0, 1, NULL, 0},
    {"weight", ULP_OPTION_INTEGER, "-10", NULL, NULL, "log2 of the weight of the loss, before any scaling", -60, 0,
     NULL, 0},
    {"interval", ULP_OPTION_INTEGER, "25", NULL, NULL, "good steps before a loss scale doubles", 1, 1e6, NULL, 0},
    ULP_TAKES_SET,
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("5", "2", "10"),
    ULP_TAKES_CHECKPOINT,
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

/* ---- the grid ---- */

static uint64_t steps_of(const ulp_run *run, const ulp_data *data) {
    return ulp_epoch_steps(data, (size_t)ulp_option_integer(run, "batch")) *
           (uint64_t)ulp_option_integer(run, "epochs");
}

/* --weight is part of the loss: a scaler starts from there. */
static ulp_scaler_rule scaler_of(const ulp_run *run, const variant *v) {
    const int weight = (int)ulp_option_integer(run, "weight");
    ulp_scaler_rule rule = ulp_scaler_static(weight);
    if (strcmp(v->scaler, "none") == 0) return rule;
    rule = *ulp_scaler_rule_find(v->scaler);
    rule.init = (int16_t)(16 + weight);
    rule.interval = (uint32_t)ulp_option_integer(run, "interval");
    return rule;
}

static ulp_optimizer_rule optimizer_of(const ulp_run *run, const ulp_data *data, const variant *v) {
    const uint64_t steps = steps_of(run, data);
    ulp_optimizer_rule rule = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
    rule.rate = ulp_option_number(run, "rate");
    rule.momentum = ulp_option_number(run, "momentum");
    rule.warmup = (uint32_t)(steps / 10);
    rule.cosine = (uint32_t)steps;
    rule.kahan = v->kahan;
    return rule;
}

static ulp_status read_variant(ulp_training_rules *to, const ulp_run *run, const ulp_data *data, const variant *v,
                               int64_t seed) {
    to->scaler = scaler_of(run, v);
    to->optimizer = optimizer_of(run, data, v);
    to->options = (ulp_train_options){.net = &to->net,
                                      .policy = &to->policy,
                                      .scaler = &to->scaler,
                                      .optimizer = &to->optimizer,
                                      .batch = (size_t)ulp_option_integer(run, "batch"),
                                      .seed = (uint64_t)seed,
                                      .backend = ulp_run_backend(run)};
    ulp_status status = ulp_net_read(run, &to->net, ulp_option_text(run, "net"), data->dims);
    return status == ULP_OK ? ulp_policy_read(run, &to->policy, v->policy, v->name) : status;
}

/* The policy in full goes into the header. */
static ulp_status add_policy(ulp_run *run, const ulp_data *data, const variant *v) {
    ulp_training_rules r;
    char full[ULP_POLICY_TEXT_MAX];
    ulp_status status = read_variant(&r, run, data, v, 0);
    if (status == ULP_OK) status = ulp_policy_prepare(run, full, &r.policy, v->name);
    if (status == ULP_OK) {
        ulp_header_add(run, "policy in full", "%s: %s; scaler %s%s", v->name, full, v->scaler,
                       v->kahan ? ",kahan=1" : "");
        status = ulp_training_check(ulp_run_plan(run), data, &r.options);
    }
    ulp_net_release(&r.net);
    return status;
}

static ulp_status prepare(ulp_run *run, void **context) {
    ulp_status status = ulp_context_prepare(run, context, ulp_option_text(run, "set"));
    if (status != ULP_OK) return status;
    for (int64_t i = 0; i < COUNT && status == ULP_OK; i++) {
        if (!ulp_option_chosen(run, "variants", variants[i].name)) continue;
        status = add_policy(run, *context, &variants[i]);
        for (int64_t s = 0; s < ulp_option_integer(run, "seeds") && status == ULP_OK; s++) {
            ulp_point point = {.at = {i, (int64_t)ulp_run_seed(run) + s}};
            ulp_point_add(run, point, "%s seed %lld", variants[i].name, (long long)point.at[AT_SEED]);
        }
    }
    return status;
}

/* ---- one run ---- */

/* What a run was, for its rows. */
typedef struct key {
    const char *name;
    int64_t seed, weight;
} key;

static void put_row(ulp_rows *rows, const key *k, const ulp_trainer *t, const ulp_stretch *s, int summary) {
    ulp_put_text(rows, k->name);
    ulp_put_integer(rows, k->seed);
    ulp_put_text(rows, summary ? "final" : "epoch");
    ulp_put_integer(rows, (int64_t)s->epochs);
    ulp_put_number(rows, summary ? s->learned.loss : s->loss);
    if (summary) ulp_put_number(rows, s->learned.accuracy);
    else ulp_put_none(rows);
    ulp_put_number(rows, s->test.accuracy);
    ulp_put_integer(rows, t->scaler.log2 - k->weight);
    ulp_put_integer(rows, (int64_t)t->scaler.skipped);
    ulp_put_integer(rows, s->diverged);
    ulp_row_end(rows);
}

static ulp_status record(void *own, ulp_trainer *t, const ulp_stretch *s, ulp_rows *rows) {
    for (int summary = 0; summary <= s->last; summary++) put_row(rows, own, t, s, summary);
    return ULP_OK;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    ulp_training_rules r;
    const variant *v = &variants[point->at[AT_VARIANT]];
    key k = {v->name, point->at[AT_SEED], ulp_option_integer(run, "weight")};
    ulp_status status = read_variant(&r, run, context, v, k.seed);
    const ulp_training training = {
        .checkpoint = ulp_option_number(run, "checkpoint"),
        .data = context,
        .options = r.options,
        .steps = steps_of(run, context),
        .every = ulp_epoch_steps(context, (size_t)ulp_option_integer(run, "batch")) *
                 (uint64_t)ulp_option_integer(run, "every"),
        .want_learned = 1,
        .record = record,
        .own = &k,
    };
    if (status == ULP_OK) status = ulp_training_run(ulp_rows_task(rows), &training);
    ulp_net_release(&r.net);
    return status;
}

/* ---- claims ---- */

static ulp_spread spread_of(const ulp_run *run, const char *column, const char *what, const char *name) {
    return ulp_row_spread(run, column, "what", what, "variant", name, (const char *)NULL);
}

/* Of a column of the final rows, seed by seed: a against b, as a difference or as a quotient. A diverged run's loss is
 * infinite. */
typedef struct pairs {
    double least, median, most;
    int n;
} pairs;

static pairs compare(const ulp_run *run, const char *column, const char *a, const char *b, int quotient) {
    const int64_t seeds = ulp_option_integer(run, "seeds");
    double *d = calloc((size_t)seeds, sizeof *d);
    pairs p = {.n = 0};
    for (int64_t s = 0; d && s < seeds; s++) {
        char seed[24];
        snprintf(seed, sizeof seed, "%lld", (long long)(ulp_run_seed(run) + (uint64_t)s));
        long i = ulp_row_find(run, 0, "what", "final", "variant", a, "seed", seed, (const char *)NULL);
        long j = ulp_row_find(run, 0, "what", "final", "variant", b, "seed", seed, (const char *)NULL);
        if (i == ULP_NO_ROW || j == ULP_NO_ROW) continue;
        double x = ulp_row_number(run, i, column), y = ulp_row_number(run, j, column);
        if (isnan(x)) x = INFINITY;
        d[p.n++] = quotient ? x / y : x - y;
    }
    if (p.n) {
        ulp_sort_numbers(d, (size_t)p.n);
        p.least = d[0];
        p.most = d[p.n - 1];
        p.median = (d[(p.n - 1) / 2] + d[p.n / 2]) / 2;
    }
    free(d);
    return p;
}

static void print_table(const ulp_run *run) {
    ulp_sheet *table = ulp_sheet_new(
        "after the last epoch, over the seeds; loss / fp32 is seed by seed; accuracy on test digits in percent",
        "variant,what,loss,loss / fp32,least,most,accuracy,least,most,skipped,scale,diverged");
    for (size_t i = 0; i < COUNT; i++) {
        const char *name = variants[i].name;
        ulp_spread test = spread_of(run, "test_accuracy", "final", name),
                   diverged = spread_of(run, "diverged", "final", name);
        pairs ratio = compare(run, "loss", name, "fp32", 1);
        if (test.n == 0) continue;
        ulp_sheet_put(table, "%s", name);
        ulp_sheet_put(table, "%s", variants[i].words);
        ulp_sheet_put(table, "%.5f", spread_of(run, "loss", "final", name).median);
        ulp_sheet_put(table, "%.3f", ratio.median);
        ulp_sheet_put(table, "%.3f", ratio.least);
        ulp_sheet_put(table, "%.3f", ratio.most);
        ulp_sheet_put(table, "%.2f", 100 * test.median);
        ulp_sheet_put(table, "%.2f", 100 * test.least);
        ulp_sheet_put(table, "%.2f", 100 * test.most);
        ulp_sheet_put(table, "%.1f", spread_of(run, "skipped", "final", name).mean);
        ulp_sheet_put(table, "2^%.1f", spread_of(run, "scale_log2", "final", name).mean);
        ulp_sheet_put(table, "%.0f of %d", diverged.mean * diverged.n, diverged.n);
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

static int lacks(ulp_run *run, const char *text, const char *name) {
    if (spread_of(run, "diverged", "final", name).n) return 0;
    ulp_claim_skip(ulp_run_claims(run), text, "it needs --variants %s", name);
    return 1;
}

/* The median difference to fp32 is within the spread of fp32, in training loss and in accuracy. */
static void claim_same(ulp_run *run, const char *name, const char *text) {
    if (lacks(run, text, "fp32") || lacks(run, text, name)) return;
    if (ulp_option_integer(run, "seeds") < 5) {
        ulp_claim_skip(ulp_run_claims(run), text, "the spread of fewer than 5 seeds says little");
        return;
    }
    pairs loss = compare(run, "loss", name, "fp32", 0), accuracy = compare(run, "test_accuracy", name, "fp32", 0);
    ulp_spread losses = spread_of(run, "loss", "final", "fp32"),
               accuracies = spread_of(run, "test_accuracy", "final", "fp32");
    ulp_claim(ulp_run_claims(run),
              fabs(loss.median) <= losses.most - losses.least &&
                  fabs(accuracy.median) <= accuracies.most - accuracies.least,
              text, "loss %+.6f, spread of fp32 %.6f; accuracy %+.2f points, spread %.2f", loss.median,
              losses.most - losses.least, 100 * accuracy.median, 100 * (accuracies.most - accuracies.least));
}

/* Seed by seed, the training loss of `name` is that of `base` within a tenth. */
static void claim_close(ulp_run *run, const char *name, const char *base, const char *text) {
    if (lacks(run, text, name) || lacks(run, text, base)) return;
    pairs p = compare(run, "loss", name, base, 1);
    ulp_claim(ulp_run_claims(run), p.least >= 0.9 && p.most <= 1.1, text, "%.3f times, %.3f to %.3f over %d seeds",
              p.median, p.least, p.most, p.n);
}

/* In every seed `name` ends with a larger loss than `base`, in the median at least `times` as large; not in runs of
 * fewer than `from` epochs. */
static void claim_worse(ulp_run *run, const char *name, const char *base, double times, int from, const char *text) {
    if (lacks(run, text, name) || lacks(run, text, base)) return;
    pairs p = compare(run, "loss", name, base, 1);
    if (ulp_option_integer(run, "epochs") < from)
        ulp_claim_skip(ulp_run_claims(run), text, "it shows from %d epochs on; here: %.3f times, %.3f to %.3f", from,
                       p.median, p.least, p.most);
    else
        ulp_claim(ulp_run_claims(run), p.least > 1 && p.median >= times, text, "%.3f times, %.3f to %.3f over %d seeds",
                  p.median, p.least, p.most, p.n);
}

/* The median training loss of a variant around an epoch that has a row. */
static double loss_at(const ulp_run *run, const char *name, int64_t epoch) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)epoch);
    return ulp_row_spread(run, "loss", "what", "epoch", "variant", name, "epoch", text, (const char *)NULL).median;
}

/* By which factor the loss falls in the second half of the run. */
static double late_fall(const ulp_run *run, const char *name) {
    const int64_t epochs = ulp_option_integer(run, "epochs"), every = ulp_option_integer(run, "every");
    return loss_at(run, name, epochs / 2 / every * every) / loss_at(run, name, epochs);
}

static void claim_stagnation(ulp_run *run) {
    const char *text = "everything in bfloat16 stands still: in the second half of the run its loss falls less than "
                       "half as far, in logarithm, as that of fp32";
    if (lacks(run, text, "bf16") || lacks(run, text, "fp32")) return;
    double low = late_fall(run, "bf16"), high = late_fall(run, "fp32");
    ulp_claim(ulp_run_claims(run), low * low < high, text, "by %.3f and by %.3f", low, high);
}

static void claim_fp8(ulp_run *run) {
    const char *text = "fp8 without any scale learns nothing: every seed ends below 50 % accuracy";
    if (lacks(run, text, "fp8")) return;
    ulp_spread test = spread_of(run, "test_accuracy", "final", "fp8");
    ulp_claim(ulp_run_claims(run), test.most < 0.5, text, "%.1f %% to %.1f %%", 100 * test.least, 100 * test.most);
}

static void claim_ladder(ulp_run *run) {
    claim_same(run, "fp16-recipe",
               "the whole recipe in binary16 is within the seeds' spread of fp32, in loss and accuracy");
    claim_close(run, "fp16-recipe", "fp32",
                "the whole recipe in binary16: seed by seed its loss is that of fp32 within a tenth");
    claim_worse(run, "fp16", "fp32", 1.1, 150,
                "everything in binary16: more loss than fp32 in every seed, 1.1 times or more in the median");
    claim_close(
        run, "fp16-lowsums", "fp16-recipe",
        "sums in binary16 cost the recipe nothing, within a tenth seed by seed: they have at most 479 terms here");
    claim_worse(run, "fp16-sums", "fp16-master", 1.05, 150,
                "binary16 with binary32 sums, without master weights: more loss than with them in every seed, 1.05 "
                "times or more in the median");
    claim_worse(run, "fp16-master", "fp16-recipe", 1.05, 150,
                "binary16 with master weights, without loss scaling: more loss than with it in every seed, 1.05 times "
                "or more in the median");
    claim_worse(run, "fp16-nomaster", "fp16-recipe", 1.1, 150,
                "the recipe in binary16 but no master weights: more loss than with them in every seed, 1.1 times or "
                "more in the median");
}

static void claim_others(ulp_run *run) {
    claim_same(run, "fp16-sr",
               "binary16, weights rounded stochastically instead of master weights: within the spread of fp32");
    claim_same(run, "fp16-kahan", "binary16, Kahan update instead of master weights: within the spread of fp32");
    claim_same(run, "bf16-recipe", "bfloat16 needs no scaling: its recipe is within the spread of fp32");
    claim_same(run, "bf16-lowsums", "bfloat16, its recipe with sums in bfloat16: within the spread of fp32");
    claim_worse(
        run, "bf16-nomaster", "fp32", 2, 150,
        "bfloat16 without master weights: more loss than fp32 in every seed, twice as much or more in the median");
    claim_worse(run, "bf16-nomaster", "bf16-recipe", 1.2, 60,
                "bfloat16 without master weights: more loss than its recipe in every seed, 1.2 times or more in the "
                "median, in short runs too");
    claim_same(run, "bf16-sr",
               "bfloat16, weights rounded stochastically instead of master weights: within the spread of fp32");
    claim_same(run, "bf16-kahan", "bfloat16, Kahan update instead of master weights: within the spread of fp32");
    claim_worse(run, "bf16", "fp32", 2, 150,
                "everything in bfloat16: more loss than fp32 in every seed, twice as much or more in the median");
    claim_stagnation(run);
    claim_fp8(run);
    claim_same(run, "fp8-loss", "fp8 with one scale for the loss is within the spread of fp32");
    claim_same(run, "fp8-now", "fp8 with scales per tensor just in time is within the spread of fp32");
    claim_same(run, "fp8-delayed", "fp8 with delayed scales per tensor is within the spread of fp32");
}

/* Differences in accuracy to fp32, in points, as published for far larger networks. */
static void print_beside(ulp_run *run) {
    static const struct {
        const char *name, *what, *source, *published;
    } rows[] = {
        {"fp16-recipe", "recipe less fp32, points of accuracy (there ResNet-50)", "Micikevicius et al. 2018", "+0.12"},
        {"bf16-sr", "bfloat16, stochastic rounding, less fp32, points (there seven applications)",
         "Zamirai et al. 2020", "-0.1 to +0.2"},
        {"bf16-kahan", "bfloat16, Kahan update, less fp32, points (there seven applications)", "Zamirai et al. 2020",
         "-0.1 to +0.2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pairs p = compare(run, "test_accuracy", rows[i].name, "fp32", 0);
        if (p.n)
            ulp_beside(ulp_run_claims(run), &(ulp_published){rows[i].what, rows[i].source, rows[i].published}, "%+.2f",
                       100 * p.median);
    }
}

/* The claims are about long runs of the table of options. */
static int is_other_setup(const ulp_run *run, char *why, size_t size) {
    static const ulp_wanted long_enough[] = {{"epochs", "60", 1}, {0}};
    return ulp_options_differ(ulp_run_claims(run), "net batch rate momentum weight interval set", why, size) ||
           ulp_options_are_other(ulp_run_claims(run), long_enough, why, size);
}

static void check(ulp_run *run, const void *context) {
    char why[320];
    (void)context;
    print_table(run);
    print_beside(run);
    if (is_other_setup(run, why, sizeof why)) {
        ulp_claim_skip(ulp_run_claims(run),
                       "the recipe ends where fp32 ends, and does not without master weights or scaling", "%s", why);
        return;
    }
    claim_ladder(run);
    claim_others(run);
}

static const ulp_experiment experiment = {
    .name = "recipe",
    .question = "what does each ingredient of mixed precision do, and what can take its place?",
    .columns = "variant,seed,what,epoch,loss,train_accuracy,test_accuracy,scale_log2,skipped,diverged",
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
    .release = ulp_context_release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
