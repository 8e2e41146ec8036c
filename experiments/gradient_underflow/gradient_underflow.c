/* gradient_underflow.c - how small are the gradients of a network, and how many does a format turn to zero?
 *
 * Networks learn the digits in binary32. At every --every-th step all gradients are looked at: of activations
 * (tensor i enters layer i; the last one is the loss's gradient with respect to the output) and of weights, by layer
 * (`all`: their sum) and stage of training (the thirds begin, middle, end; `all`); of the networks after the first one
 * the sums alone. Rows: bin     how many have 2^x <= |gradient| < 2^(x+1); rows `zero` count exact zeros share   what
 * becomes of them, times 2^scale, rounded once to nearest even in a format: zero already in binary32, flushed to zero,
 * overflowed (whether that gives Inf, NaN or the largest value); the rest is kept tensor  the same, each tensor of each
 * step times a power of two of its own that brings its largest gradient just below the format's largest number
 * (sim/policy.h, @amax) Tables, claims and figure give percentages of the gradients that are not zero in binary32; what
 * is zero there (a relu that is off, say) is counted apart. The column `share` is of all gradients, so that a tensor's
 * bins and zeros add to 1. A scale is safe if not one gradient of either kind overflows. The loss is the mean over the
 * batch, as usual, and nothing is scaled down for show. A network of one's own (--net) has the batch and the rate of
 * mlp unless they are given.
 *
 * After Micikevicius et al. 2018, "Mixed precision training", arXiv:1710.03740, figures 2b and 3: in their SSD detector
 * 67 % of the activation gradients are zero and a scale of 8 is enough; scales per tensor after Micikevicius et al.
 * 2022, arXiv:2209.05433.
 */
#include "gradient_underflow.h"
#include "experiments/harness/training/histogram_rows.h"
#include "experiments/harness/training/networks.h"

#include "sim/train.h"

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("fp16,e5m2,e4m3,bf16,q8.8", NULL),
    ULP_TAKES_NETWORKS("mlp,cnn,resnet,gru,lstm", NULL),
    {"steps", ULP_OPTION_INTEGER, "300", "90", "6000", "training steps", 3, 1e7, NULL, 0},
    {"every", ULP_OPTION_INTEGER, "15", NULL, NULL, "look at every so many steps", 1, 1e7, NULL, 0},
    {"scales", ULP_OPTION_INTEGERS, "0..24", NULL, NULL, "log2 of the factors", -100, 100, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("2", "1", "5"),
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

enum { AT_NET, AT_SEED };
enum { LAYERS = ULP_WATCH_LAYERS, SLOTS = ULP_WATCH_SLOTS };
const char *const gradient_stage_names[ULP_WATCH_STAGES] = {"begin", "middle", "end", "all"};
const char *const gradient_kind_names[ULP_WATCH_KINDS] = {"agrad", "wgrad"};

/* ---- rows ---- */

/* A run under observation. */
typedef struct work {
    const char *net;
    uint64_t seed;
    ulp_watch *watch;
} work;

static void put_key(ulp_rows *rows, const work *w, int kind, size_t layer, const char *name, int stage,
                    const char *what) {
    ulp_put_text(rows, w->net);
    ulp_put_integer(rows, (int64_t)w->seed);
    ulp_put_text(rows, gradient_kind_names[kind]);
    if (layer == LAYERS) ulp_put_text(rows, "all");
    else ulp_put_integer(rows, (int64_t)layer);
    ulp_put_text(rows, name);
    ulp_put_text(rows, gradient_stage_names[stage]);
    ulp_put_text(rows, what);
}

static void put_bins(ulp_rows *rows, const work *w, int kind, size_t layer, const char *name, int stage,
                     const ulp_histogram *h) {
    for (int e = ULP_BIN_ZERO; e <= ULP_BIN_MAX; e++) {
        if (ulp_bin_count(h, e) == 0) continue;
        put_key(rows, w, kind, layer, name, stage, ulp_bin_word(e));
        ulp_put_nones(rows, 2);
        ulp_put_bin(rows, h, e);
        ulp_put_nones(rows, 4);
        ulp_row_end(rows);
    }
}

static void put_shares(ulp_rows *rows, const work *w, int kind, size_t layer, const char *name, int stage) {
    const ulp_watch *of = w->watch;
    const ulp_watched *t = &of->at[kind][layer];
    for (size_t i = 0; t->stats[stage] != NULL && i < of->formats * of->columns; i++) {
        const ulp_stats *s = &t->stats[stage][i];
        const size_t column = i % of->columns;
        put_key(rows, w, kind, layer, name, stage, column < of->scales ? "share" : "tensor");
        ulp_put_text(rows, of->format[i / of->columns].name);
        if (column < of->scales) ulp_put_integer(rows, (int64_t)of->scale[column]);
        else ulp_put_none(rows);
        ulp_put_none(rows);
        ulp_put_integer(rows, (int64_t)s->count);
        ulp_put_none(rows);
        ulp_put_integer(rows, (int64_t)t->histogram[stage].zero);
        ulp_put_integer(rows, (int64_t)s->underflow);
        ulp_put_integer(rows, (int64_t)s->overflow);
        ulp_put_integer(rows, (int64_t)(s->count - t->histogram[stage].zero - s->underflow - s->overflow));
        ulp_row_end(rows);
    }
}

static void put_run(ulp_rows *rows, const work *w, const ulp_net *net, int sums_only) {
    for (int kind = 0; kind < ULP_WATCH_KINDS; kind++)
        for (size_t layer = sums_only ? LAYERS : 0; layer < SLOTS; layer++)
            for (int stage = sums_only ? ULP_WATCH_ALL : 0; stage < ULP_WATCH_STAGES; stage++) {
                const ulp_histogram *h = &w->watch->at[kind][layer].histogram[stage];
                if (h->count == 0) continue;
                /* an activation is called by the layer that made it */
                const char *name =
                    layer == LAYERS ? "all" : net->layers[kind == ULP_WATCH_AGRAD ? layer - 1 : layer].word;
                put_bins(rows, w, kind, layer, name, stage, h);
                put_shares(rows, w, kind, layer, name, stage);
            }
}

static void put_score(ulp_rows *rows, const work *w, const char *what, double value) {
    ulp_put_text(rows, w->net);
    ulp_put_integer(rows, (int64_t)w->seed);
    ulp_put_nones(rows, 4);
    ulp_put_text(rows, what);
    ulp_put_nones(rows, 4);
    ulp_put_number(rows, value);
    ulp_put_nones(rows, 4);
    ulp_row_end(rows);
}

/* ---- the grid: one training run per network and seed ---- */

static ulp_status prepare(ulp_run *run, void **context) {
    ulp_network network;
    ulp_status status = ulp_networks_load(run, context);
    if (status != ULP_OK) return status;
    ulp_header_add(run, "rounding",
                   "rne: zero, flushed, overflowed and kept count what one rounding to nearest even makes of a "
                   "gradient times 2^scale_log2");
    ulp_header_add(run, "share", "of all gradients of the tensor, those that are zero in binary32 included");
    for (size_t i = 0; ulp_run_network(&network, run, i); i++)
        for (int64_t s = 0; s < ulp_option_integer(run, "seeds"); s++) {
            ulp_point point = {.at = {(int64_t)i, (int64_t)ulp_run_seed(run) + s}};
            ulp_point_add(run, point, "%s seed %lld", network.name, (long long)point.at[AT_SEED]);
        }
    return ULP_OK;
}

static ulp_status train(const ulp_run *run, ulp_trainer *t, const work *w, ulp_rows *rows, int sums_only) {
    ulp_score score = {0};
    ulp_status status = ulp_watch_room(w->watch, &t->model);
    if (status == ULP_BAD_ARGUMENT)
        return ulp_run_fail(run, status, "--net has %zu layers, at most %d are looked at", t->model.net.count,
                            LAYERS - 1);
    for (uint64_t i = 0; i < w->watch->steps && status == ULP_OK; i++) {
        status = ulp_trainer_step(t, NULL);
        if (status == ULP_OK) status = w->watch->status;
        if (ulp_rows_progress(rows, (double)i / (double)w->watch->steps)) break;
    }
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, &score);
    if (status == ULP_OK) status = ulp_watch_add_up(w->watch);
    if (status != ULP_OK)
        return ulp_run_fail(run, status, "the training run of %s, seed %llu: %s", w->net, (unsigned long long)w->seed,
                            ulp_status_text(status));
    put_run(rows, w, &t->model.net, sums_only);
    put_score(rows, w, "accuracy", score.accuracy);
    return ULP_OK;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    char error[1024];
    size_t formats, scales;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const double *scale = ulp_option_numbers(run, "scales", &scales);
    const int64_t steps = ulp_option_integer(run, "steps");
    const ulp_backend *backend = ulp_run_backend(run);
    ulp_trainer *t = NULL;
    ulp_network network;
    ulp_run_network(&network, run, (size_t)point->at[AT_NET]);
    const ulp_data *data = context;
    ulp_net net;
    const ulp_optimizer_rule optimizer = ulp_network_optimizer(run, &network, steps);
    ulp_status status = ulp_net_read(run, &net, network.text, data->dims);
    if (status != ULP_OK) return status;
    const work w = {network.name, (uint64_t)point->at[AT_SEED],
                    ulp_watch_new(backend, format, formats, scale, scales, (uint64_t)steps,
                                  (uint64_t)ulp_option_integer(run, "every"))};
    if (w.watch == NULL) {
        ulp_net_release(&net);
        return ULP_NO_MEMORY;
    }
    const ulp_observer observer = ulp_watch_observer(w.watch);
    const ulp_train_options o = {.net = &net,
                                 .optimizer = &optimizer,
                                 .batch = network.batch,
                                 .seed = w.seed,
                                 .backend = backend,
                                 .observer = &observer};
    status = ulp_trainer_new(&t, data, &o, error, sizeof error);
    status = status == ULP_OK ? train(run, t, &w, rows, point->at[AT_NET] > 0) : ulp_run_fail(run, status, "%s", error);
    ulp_trainer_free(t);
    ulp_watch_free(w.watch);
    ulp_net_release(&net);
    return status;
}

static const ulp_experiment experiment = {
    .name = "gradient_underflow",
    .question = "how small are the gradients of a network, and how many does a format turn to zero?",
    .columns = "net,seed,kind,layer,name,stage,what,format,scale_log2,x,count,share,zero,flushed,overflowed,kept",
    .options = options,
    .takes_format = ulp_format_with_sign,
    .format_wants = ULP_WANTS_WITH_SIGN,
    .prepare = prepare,
    .compute = compute,
    .check = gradient_underflow_check,
    .release = ulp_context_release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
