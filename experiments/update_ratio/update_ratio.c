/* update_ratio.c - how large are a network's weights beside their updates, and which updates can a format still add?
 *
 * A network learns in binary32 by SGD with momentum and a rate that falls along a cosine. At --looks of its steps every
 * weight w meets its update u = -rate' v, the exact product of the binary32 rate and the momentum v of that step: what
 * the optimizer adds. For each format the weight is rounded to it, and the update is lost if round(w + u) = w, the
 * exact sum rounded once to nearest even. Updates that are zero in binary32 are counted apart. Rows: bin    how many
 * have 2^x <= |w / u| < 2^(x+1), w in binary32; `zero`: how many weights are zero share  of a format: how many of the
 * non-zero updates are lost; how many lie in the zones below; against: elements that contradict the zones, the
 * criterion, or (binary32) the weight that the run really had next trace  training loss, mean of the steps since the
 * last trace, of this run and of runs whose weights are of a format without master weights, all else binary32, by every
 * mode; score: loss and accuracies after the last step
 *
 * With p significand bits and w of the format, exactly: let h be half the distance from w to its neighbour in u's
 * direction. The update is lost if |u| < h, or |u| = h and w is even. For a normal w in [2^e, 2^(e+1)) h is 2^(e-p), or
 * 2^(e-p-1) from w = 2^e towards zero, and that tie goes to w, which is even. So |w / u| >= 2^(p+1)   certain: the
 * update is lost; for subnormal w and fixed point too, where h is not smaller |w / u| <  2^p       safe: the weight
 * moves, if it is normal between              open: it depends on w's place in its binade small                the
 * weight is not normal, so only the criterion tells; less than 2^(p+1) Ties hardly happen in a training: rows `edge`
 * count the criterion against rounding at u = h and h (1 +- 2^-20), both ways from every weight of the first look.
 * Micikevicius et al. 2018, "Mixed precision training", arXiv:1710.03740, section 3.1, name the ratio 2048 = 2^11 for
 * binary16.
 */
#include "experiments/harness/training/histogram_rows.h"
#include "experiments/harness/training/load.h"
#include "update_ratio.h"

#include <math.h>
#include <string.h>

#include "sim/train.h"

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("fp32,fp16,bf16,e4m3", NULL),
    ULP_TAKES_MODES("rne,sr", NULL),
    {"net", ULP_OPTION_TEXT, "fc128 relu fc64 relu fc10", NULL, NULL, "the network, layer by layer", 0, 0, NULL, 0},
    ULP_TAKES_SET,
    {"batch", ULP_OPTION_INTEGER, "64", NULL, NULL, "samples per step", 1, 60000, NULL, 0},
    {"steps", ULP_OPTION_INTEGER, "2000", "600", "20000", "training steps", 2, 1e7, NULL, 0},
    {"looks", ULP_OPTION_INTEGER, "40", "12", NULL, "how many steps are looked at", 2, 1000, NULL, 0},
    {"rate", ULP_OPTION_NUMBER, "0.05", NULL, NULL, "learning rate at the start", 0x1p-40, 1000, NULL, 0},
    {"schedule", ULP_OPTION_CHOICE, "cosine", NULL, NULL, "the rate: falls to zero along a cosine, or constant", 0, 0,
     "cosine constant", 0},
    {"momentum", ULP_OPTION_NUMBER, "0.9", NULL, NULL, "momentum", 0, 1, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("2", "1", "5"),
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

enum { OBSERVED = -1 }; /* in place of a format: the binary32 run that is looked at */

/* ---- rows ---- */

typedef struct key {
    uint64_t seed;
    const char *run, *mode; /* format of the weights and how they are rounded */
} key;

static void put_key(ulp_rows *rows, const key *k, const char *what, int64_t step, const char *layer,
                    const char *format) {
    ulp_put_integer(rows, (int64_t)k->seed);
    ulp_put_text(rows, k->run);
    ulp_put_text(rows, k->mode);
    ulp_put_text(rows, what);
    ulp_put_integer(rows, step);
    if (layer) ulp_put_text(rows, layer);
    else ulp_put_none(rows);
    if (format) ulp_put_text(rows, format);
    else ulp_put_none(rows);
}

static void put_bins(ulp_rows *rows, const key *k, int64_t step, const ulp_histogram *h) {
    for (int e = ULP_BIN_ZERO; e <= ULP_BIN_MAX; e++) {
        if (ulp_bin_count(h, e) == 0) continue;
        put_key(rows, k, ulp_bin_word(e), step, "all", NULL);
        ulp_put_bin(rows, h, e);
        ulp_put_nones(rows, 11);
        ulp_row_end(rows);
    }
}

static void put_tally(ulp_rows *rows, const key *k, const char *what, int64_t step, const char *layer,
                      const ulp_format *f, const tally *t) {
    put_key(rows, k, what, step, layer, f->name);
    ulp_put_none(rows);
    ulp_put_integer(rows, (int64_t)t->count);
    ulp_put_none(rows);
    const uint64_t *cell = &t->zero;
    for (size_t i = 1; i < sizeof *t / sizeof *cell; i++) ulp_put_integer(rows, (int64_t)cell[i - 1]);
    ulp_put_none(rows);
    ulp_row_end(rows);
}

static void put_shares(ulp_rows *rows, const key *k, int64_t step, const watch *w, const ulp_net *net,
                       const ulp_format *f) {
    for (size_t l = 0; l <= LAYERS; l++) {
        char name[48] = "all";
        if (w->at[l].count == 0) continue;
        if (l < ALL) snprintf(name, sizeof name, "%zu %s", l, net->layers[l].word);
        put_tally(rows, k, "share", step, name, f, &w->at[l]);
    }
    if (step > 0) return;
    tally edges = {0};
    watch_edges(w, f, &edges);
    put_tally(rows, k, "edge", step, "all", f, &edges);
}

static void put_value(ulp_rows *rows, const key *k, const char *what, int64_t step, double value) {
    put_key(rows, k, what, step, NULL, NULL);
    ulp_put_nones(rows, 13);
    ulp_put_number(rows, value);
    ulp_row_end(rows);
}

/* ---- the grid: per seed the observed run, and one run per format and mode without master weights ---- */

/* A sum that wraps around is no rounded sum. */
static int takes_format(const ulp_format *f) { return ulp_format_with_sign(f) && f->overflow != ULP_OVERFLOW_WRAP; }

static void list_points(ulp_run *run) {
    size_t formats, modes;
    const ulp_format *f = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    for (int64_t s = 0; s < ulp_option_integer(run, "seeds"); s++) {
        ulp_point point = {.at = {(int64_t)ulp_run_seed(run) + s, OBSERVED}, .cost = 1.5};
        ulp_point_add(run, point, "seed %lld observed", (long long)point.at[0]);
        point.cost = 1;
        for (size_t i = 0; i < formats; i++)
            for (size_t m = 0; m < modes && strcmp(f[i].name, "binary32") != 0; m++) {
                point.at[1] = (int64_t)i;
                point.at[2] = (int64_t)m;
                ulp_point_add(run, point, "seed %lld %s %s", (long long)point.at[0], f[i].name, mode[m].name);
            }
    }
}

static ulp_status prepare(ulp_run *run, void **context) {
    if (ulp_option_integer(run, "looks") > ulp_option_integer(run, "steps"))
        return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--looks %lld: more than --steps %lld",
                            (long long)ulp_option_integer(run, "looks"), (long long)ulp_option_integer(run, "steps"));
    ulp_status status = ulp_context_prepare(run, context, ulp_option_text(run, "set"));
    if (status != ULP_OK) return status;
    ulp_header_add(
        run, "update",
        "u = -rate' v: the binary32 rate of the step times its momentum, exact; lost: w + u rounded once, rne, is w");
    list_points(run);
    return ULP_OK;
}

uint64_t look_step(const ulp_run *run, uint64_t i) {
    uint64_t looks = (uint64_t)ulp_option_integer(run, "looks"), last = (uint64_t)ulp_option_integer(run, "steps") - 1;
    return i * last / (looks - 1);
}

/* All formats at the step that was just done. */
static ulp_status look_at_all(watch *w, const ulp_trainer *t, ulp_rows *rows, const key *k) {
    int64_t step = (int64_t)t->step - 1;
    float rate = (float)ulp_rate_at(&t->optimizer.rule, (uint64_t)step);
    const float *direction = t->optimizer.momentum ? t->optimizer.momentum : t->model.wgrad;
    ulp_status status = ulp_trainer_weights(t, w->after, NULL);
    if (status == ULP_OK) status = w->backend->download(w->direction, direction, w->n * sizeof(float));
    if (status != ULP_OK) return status;
    watch_ratios(w, (double)rate);
    put_bins(rows, k, step, &w->ratio);
    for (size_t i = 0; i < w->formats && status == ULP_OK; i++) {
        status = watch_format(w, &t->model.net, rate, direction, &w->format[i]);
        if (status == ULP_OK) put_shares(rows, k, step, w, &t->model.net, &w->format[i]);
    }
    return status;
}

static ulp_status train(const ulp_run *run, ulp_trainer *t, watch *w, ulp_rows *rows, const key *k) {
    uint64_t steps = (uint64_t)ulp_option_integer(run, "steps"), looks = 0, since = 0;
    ulp_status status = w ? watch_start(w, t->model.net.params) : ULP_OK;
    double loss = 0;
    for (uint64_t i = 0; i < steps && status == ULP_OK; i++) {
        ulp_step step;
        int looking = i == look_step(run, looks);
        if (w && looking) status = ulp_trainer_weights(t, w->before, NULL);
        if (status == ULP_OK) status = ulp_trainer_step(t, &step);
        if (status != ULP_OK) break;
        if (w && !isfinite(step.loss))
            return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--rate %g: the binary32 run of seed %llu diverges at step %llu",
                                ulp_option_number(run, "rate"), (unsigned long long)k->seed, (unsigned long long)i);
        loss += step.loss;
        since++;
        if (looking) {
            put_value(rows, k, "trace", (int64_t)i, loss / (double)since);
            loss = 0;
            since = 0;
            looks++;
            if (w) status = look_at_all(w, t, rows, k);
        }
        if (ulp_rows_progress(rows, (double)i / (double)steps)) break;
    }
    ulp_score train_part = {0}, test_part = {0};
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TRAIN_PART, &train_part);
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, &test_part);
    if (status != ULP_OK)
        return ulp_run_fail(run, status, "the training run of seed %llu: %s", (unsigned long long)k->seed,
                            ulp_status_text(status));
    put_value(rows, k, "train_loss", (int64_t)steps, train_part.loss);
    put_value(rows, k, "train_accuracy", (int64_t)steps, train_part.accuracy);
    put_value(rows, k, "test_accuracy", (int64_t)steps, test_part.accuracy);
    return ULP_OK;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    char error[1024];
    size_t formats, modes;
    const ulp_format *f = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    int observed = point->at[1] == OBSERVED;
    key k = {(uint64_t)point->at[0], observed ? "binary32" : f[point->at[1]].name,
             observed ? "rne" : mode[point->at[2]].name};
    watch w = {.backend = ulp_run_backend(run), .format = f, .formats = formats};
    ulp_trainer *t = NULL;
    const ulp_data *data = context;
    ulp_net net;
    ulp_policy policy;
    ulp_optimizer_rule optimizer = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
    optimizer.rate = ulp_option_number(run, "rate");
    optimizer.momentum = ulp_option_number(run, "momentum");
    optimizer.cosine = ulp_option_chosen(run, "schedule", "cosine") ? (uint32_t)ulp_option_integer(run, "steps") : 0;
    ulp_status status = ulp_policy_read(run, &policy, "fp32", "the run without rounding");
    if (status == ULP_OK && !observed) {
        status = ulp_policy_set(&policy, ULP_AT_WEIGHT, &f[point->at[1]], ULP_UNSCALED, 0);
        policy.at[ULP_AT_WEIGHT].rule = mode[point->at[2]].rule;
    }
    if (status != ULP_OK) return status;
    status = ulp_net_read(run, &net, ulp_option_text(run, "net"), data->dims);
    if (status != ULP_OK) return status;
    ulp_train_options o = {
        .net = &net,
        .policy = &policy,
        .optimizer = &optimizer,
        .batch = (size_t)ulp_option_integer(run, "batch"),
        .seed = k.seed,
        .backend = ulp_run_backend(run),
    };
    status = ulp_trainer_new(&t, data, &o, error, sizeof error);
    ulp_net_release(&net);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", error);
    if (t->model.net.count > LAYERS)
        status = ulp_run_fail(run, ULP_BAD_ARGUMENT, "--net has %zu layers, at most %d are looked at",
                              t->model.net.count, LAYERS);
    if (status == ULP_OK && t->model.net.params == 0)
        status = ulp_run_fail(run, ULP_BAD_ARGUMENT, "--net '%s' has no parameters", ulp_option_text(run, "net"));
    if (status == ULP_OK) status = train(run, t, observed ? &w : NULL, rows, &k);
    ulp_trainer_free(t);
    watch_end(&w);
    return status;
}

static const ulp_experiment experiment = {
    .name = "update_ratio",
    .question = "how large are a network's weights beside their updates, and which updates can a format still add?",
    .columns = "seed,run,mode,what,step,layer,format,x,count,share,zero,lost,certain,open,safe,small,open_lost,against_"
               "zones,against_criterion,against_run,value",
    .options = options,
    .takes_format = takes_format,
    .format_wants = ULP_WANTS_WITH_SIGN ", and not to wrap around",
    .prepare = prepare,
    .compute = compute,
    .check = update_ratio_check,
    .release = ulp_context_release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
