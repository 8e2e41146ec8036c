/* loss_scaling.c - by how much must the loss be multiplied, and can the scale be found without tuning?
 *
 * Networks learn the digits in mixed precision (--policy), their gradients of weights and activations in one of
 * --formats, the loss multiplied by 2^scale and the weight gradients divided by it in binary32. Rows `final` are whole
 * runs: binary32 without a scale; static scales; dynamic scalers (sim/scaler.h); and no loss scale at all, but gradients of
 * 8 bits with a scale per tensor (sim/policy.h): amax, just in time; delayed16, from the last 16 steps, where what is
 * larger than all they held saturates; delayed16-inf, where it becomes infinite in formats that have Inf.
 * Rows `step` trace the first seed's dynamic runs of the first network. zero is the share of gradients that are zero, in
 * binary32 too where a relu is off; flushed the share that a rounding made zero, not what then is zero because it was
 * computed from zeros. Both are of all gradients, in every step of a trace and in every --every-th step of other runs.
 *
 * Too small a scale: gradients become zero and the network does not learn. Too large a one: the first Inf ends the
 * run, for a static scale has nothing to skip a step with. The axis goes far below 2^0 because these networks are
 * small and their loss a mean over few outputs: where the mean is taken over 2^k times as many, the same curves lie k to
 * the right. A scaler's growth interval is cut from its 2,000 steps (megatron: 1,000) to --interval so that a short run
 * shows growth; 0 leaves it. backoff never grows; logmax follows the gradients, with log_max, where 2^16 stands for
 * binary16, at the end of each format's range. layer is not for networks that add gradients of several layers.
 *
 * The first network gets the whole grid, the others that of the --other options. Claims hold for the set-up of the table
 * of options and for binary16, e5m2 and e4m3; elsewhere they are skipped and say what was measured. What counts as
 * the accuracy of binary32 is --points for mlp and small, and for the other networks follows from their spread (points_of).
 * After Micikevicius et al. 2018, "Mixed precision training", arXiv:1710.03740, section 3.2.
 * Longer than most files: the grid, its rows and when a claim about them can be expected are one thought.
 */
#include "harness/networks.h"
#include "harness/setup.h"
#include "harness/training.h"

#include <math.h>
#include <string.h>

#define SCALER_WORDS "pytorch apex keras megatron backoff logmax layer amax delayed16 delayed16-inf"

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("fp16,e5m2,e4m3", NULL),
    ULP_TAKES_NETWORKS("mlp,cnn,resnet,gru,lstm", "small,cnn,gru"),
    {"scales", ULP_OPTION_NUMBERS, "-24,-22,-20,-18,-16,-14,-12,-10,-8,-6,-4,-2,0,2,4,6,8,10,12,14,16,18,20,22,24", "-24,-12,-6,0,6,9,12,24", "-30..30",
     "log2 of the static scales", -100, 100, NULL, 0},
    {"scalers", ULP_OPTION_CHOICES, "all", "pytorch,layer,amax", NULL, "dynamic scalers; amax, delayed16, delayed16-inf: no loss scale, formats of 8 bits with one per tensor", 0, 0, SCALER_WORDS, 0},
    {"other-formats", ULP_OPTION_INTEGER, "2", "1", "100", "networks after the first: how many of the formats get loss scales", 0, 100, NULL, 0},
    {"other-scales", ULP_OPTION_NUMBERS, "-24,-16,-8,0,8,16,24", "-24,0,24", NULL, "networks after the first: log2 of the static scales", -100, 100, NULL, 0},
    {"other-scalers", ULP_OPTION_CHOICES, "pytorch,logmax,layer,amax,delayed16", "pytorch,amax", "all", "networks after the first: dynamic scalers", 0, 0, SCALER_WORDS, 0},
    {"interval", ULP_OPTION_INTEGER, "25", NULL, NULL, "good steps before a scaler doubles; 0: its own number", 0, 1e6, NULL, 0},
    {"policy", ULP_OPTION_TEXT, "mixed:fp16", NULL, NULL, "everything but the gradients' formats", 0, 0, NULL, 0},
    {"steps", ULP_OPTION_INTEGER, "300", "250", "1000", "training steps", 1, 1e7, NULL, 0},
    {"every", ULP_OPTION_INTEGER, "25", NULL, NULL, "count flushed gradients every so many steps", 1, 1e7, NULL, 0},
    {"points", ULP_OPTION_NUMBER, "1", "1.5", NULL, "mlp, small: how near to binary32 counts as the same, in percent of the test part", 0, 100, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("3", "2", "5"),
    {"other-seeds", ULP_OPTION_INTEGER, "2", "1", "5", "networks after the first: number of seeds", 1, 1e6, NULL, 0},
    ULP_TAKES_CHECKPOINT,
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

enum { REFERENCE = -2, STATIC = -1, AT_NET = 0, AT_FORMAT, AT_SCALER, AT_SCALE, AT_SEED };

/* How the gradients are kept within the format's range. */
typedef struct scaler_row {
    const char *name, *tensor; /* tensor: what the format gets for a scale per tensor, NULL for a scale of the loss */
    int grows;                 /* takes --interval */
    const char *way;           /* what the scale of one that does not grow did */
} scaler_row;

static const scaler_row scalers[] = {
    {"pytorch", NULL, 1, ""},
    {"apex", NULL, 1, ""},
    {"keras", NULL, 1, ""},
    {"megatron", NULL, 1, ""},
    {"backoff", NULL, 0, "its scale only ever halved"},
    {"logmax", NULL, 0, "its scale followed the gradients"},
    {"layer", NULL, 1, ""},
    {"amax", "@amax", 0, ""},
    {"delayed16", ":sat@delayed16", 0, ""},
    {"delayed16-inf", "@delayed16", 0, ""},
};
enum { SCALERS = sizeof scalers / sizeof scalers[0] };

/* ---- the grid ---- */

/* The options of the first network and of the others. */
static const double *scales_of(const ulp_run *run, size_t net, size_t *count) { return ulp_option_numbers(run, net ? "other-scales" : "scales", count); }

/* Whether a format gets static scales, and a scaler, in a network. */
static int has_scales(const ulp_run *run, size_t net, size_t format) { return net == 0 || (int64_t)format < ulp_option_integer(run, "other-formats"); }

static int has_scaler(const ulp_run *run, size_t net, size_t format, int s) {
    size_t formats;
    const ulp_format *f = &ulp_run_formats(run, &formats)[format];
    if (!ulp_option_chosen(run, net ? "other-scalers" : "scalers", scalers[s].name)) return 0;
    if (scalers[s].tensor == NULL) return has_scales(run, net, format);
    return f->bits <= 8 && (strcmp(scalers[s].name, "delayed16-inf") != 0 || f->has_inf);
}

/* Scales per layer are not for every network: the text of the scaler and the net decide. */
static int takes(const ulp_data *data, const ulp_network *network, const char *scaler_text) {
    ulp_net net;
    ulp_scaler scaler;
    ulp_loss_scaling scaling = {0};
    if (ulp_net_parse(&net, network->text, data->dims, NULL, 0) != ULP_OK) return 0;
    ulp_status status = ulp_scaler_parse(&scaler, scaler_text, NULL, 0);
    if (status == ULP_OK) status = ulp_loss_scaling_start(&scaling, &scaler, &net);
    ulp_loss_scaling_release(&scaling);
    ulp_net_release(&net);
    return status == ULP_OK;
}

/* The policy of runs with gradients in `format`. */
static void policy_text(const ulp_run *run, char *text, size_t size, const char *format, int64_t scaler) {
    const char *tensor = scaler >= 0 && scalers[scaler].tensor ? scalers[scaler].tensor : "";
    snprintf(text, size, "%s,agrad=%s%s,wgrad=%s%s", ulp_option_text(run, "policy"), format, tensor, format, tensor);
}

/* The policy in full goes into the header; a bad one ends the run before it starts. */
static ulp_status add_policy(ulp_run *run, const char *format) {
    char text[512], full[ULP_POLICY_TEXT_MAX];
    policy_text(run, text, sizeof text, format, STATIC);
    ulp_status status = ulp_policy_prepare(run, full, text, "--policy");
    if (status == ULP_OK) ulp_header_add(run, "policy in full", "%s", full);
    return status;
}

static void add_runs(ulp_run *run, size_t net, int64_t format, const char *name, int64_t scaler, int64_t scale) {
    ulp_network network;
    ulp_run_network(&network, run, net);
    for (int64_t s = 0; s < ulp_option_integer(run, net ? "other-seeds" : "seeds"); s++) {
        ulp_point point = {.at = {(int64_t)net, format, scaler, scale, (int64_t)ulp_run_seed(run) + s}, .cost = strcmp(network.name, "resnet") ? 1 : 2};
        if (scaler == STATIC) ulp_point_add(run, point, "%s %s static:%lld seed %lld", network.name, name, (long long)scale, (long long)point.at[AT_SEED]);
        else ulp_point_add(run, point, "%s %s %s seed %lld", network.name, name, scaler < 0 ? "none" : scalers[scaler].name, (long long)point.at[AT_SEED]);
    }
}

static void add_network(ulp_run *run, const ulp_data *data, size_t net, const ulp_network *network) {
    size_t formats, scales;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const double *scale = scales_of(run, net, &scales);
    add_runs(run, net, -1, "binary32", REFERENCE, 0);
    for (size_t f = 0; f < formats; f++) {
        for (size_t k = 0; k < scales && has_scales(run, net, f); k++) add_runs(run, net, (int64_t)f, format[f].name, STATIC, (int64_t)scale[k]);
        for (int s = 0; s < SCALERS; s++)
            if (has_scaler(run, net, f, s) && (scalers[s].tensor || takes(data, network, scalers[s].name))) add_runs(run, net, (int64_t)f, format[f].name, s, 0);
    }
}

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats;
    ulp_network network;
    const ulp_format *format = ulp_run_formats(run, &formats);
    ulp_status status = ulp_networks_load(run, context);
    for (size_t f = 0; f < formats && status == ULP_OK; f++) status = add_policy(run, format[f].name);
    for (size_t i = 0; status == ULP_OK && ulp_run_network(&network, run, i); i++) add_network(run, *context, i, &network);
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

static void see(void *context, const ulp_sight *sight) {
    sums *s = context;
    uint64_t zero = 0;
    for (size_t i = 0; i < sight->n; i++) zero += sight->rounded[i] == 0.0f;
    s->zero += zero;
    s->count += sight->n;
}

static void put_share(ulp_rows *rows, uint64_t part, uint64_t whole) {
    if (whole) ulp_put_number(rows, (double)part / (double)whole);
    else ulp_put_none(rows);
}

static void put_row(ulp_rows *rows, const work *w, const char *what, int64_t step, int64_t scale, double loss, int64_t skipped, const sums *s) {
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
    sums now = {0};
    const ulp_observer observer = {see, &now, 1u << ULP_AT_AGRAD | 1u << ULP_AT_WGRAD};
    t->pass.counting = w->trace || t->step % (uint64_t)w->every == 0;
    t->observer = t->pass.counting ? &observer : NULL;
    ulp_status status = ulp_trainer_step(t, step);
    t->observer = NULL;
    if (status != ULP_OK) return status;
    now.flushed = step->agrad.underflow + step->wgrad.underflow;
    now.overflow = step->agrad.overflow + step->wgrad.overflow;
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
    ulp_score learned, test;
    ulp_status status = ulp_trainer_score(t, ULP_TRAIN_PART, &learned);
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, &test);
    if (status != ULP_OK) return status;
    put_row(rows, w, "final", (int64_t)stretch->steps, t->scaler.log2, learned.loss, (int64_t)t->scaler.skipped, &w->all);
    ulp_put_number(rows, learned.accuracy);
    ulp_put_number(rows, test.accuracy);
    ulp_row_end(rows);
    return ULP_OK;
}

/* The scaler's text for sim/scaler.h. */
static void scaler_text(const ulp_run *run, char *text, size_t size, int64_t scaler, int64_t scale, const ulp_format *format) {
    int64_t interval = ulp_option_integer(run, "interval");
    if (scaler == REFERENCE || (scaler >= 0 && scalers[scaler].tensor)) snprintf(text, size, "none");
    else if (scaler == STATIC) snprintf(text, size, "static:%lld", (long long)scale);
    else if (strcmp(scalers[scaler].name, "logmax") == 0) snprintf(text, size, "logmax,log_max=%d", format->emax + 1);
    else if (interval == 0 || !scalers[scaler].grows) snprintf(text, size, "%s", scalers[scaler].name);
    else snprintf(text, size, "%s,interval=%lld", scalers[scaler].name, (long long)interval);
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    size_t formats;
    const int64_t scaler = point->at[AT_SCALER], steps = ulp_option_integer(run, "steps"), seed = point->at[AT_SEED];
    const ulp_format *format = scaler == REFERENCE ? NULL : &ulp_run_formats(run, &formats)[point->at[AT_FORMAT]];
    const char *name = format ? format->name : "binary32";
    char policy[512], text[64], optimizer[128];
    ulp_network network;
    ulp_run_network(&network, run, (size_t)point->at[AT_NET]);
    policy_text(run, policy, sizeof policy, name, scaler);
    scaler_text(run, text, sizeof text, scaler, point->at[AT_SCALE], format);
    ulp_network_optimizer(optimizer, sizeof optimizer, run, &network, steps);
    work w = {.net = network.name, .format = name, .scaler = scaler == REFERENCE ? "none" : scaler == STATIC ? "static" : scalers[scaler].name,
              .scale = point->at[AT_SCALE], .seed = seed, .every = ulp_option_integer(run, "every"),
              .trace = point->at[AT_NET] == 0 && scaler >= 0 && !scalers[scaler].tensor && seed == (int64_t)ulp_run_seed(run)};
    const ulp_training training = {
        .data = context,
        .options = {.net = network.text, .policy = format ? policy : "fp32", .scaler = text, .optimizer = optimizer, .batch = network.batch,
                    .seed = (uint64_t)seed, .backend = ulp_run_backend(run)},
        .steps = (uint64_t)steps,
        .every = (uint64_t)steps,
        .record = record,
        .step = take_step,
        .own = &w,
        .own_bytes = sizeof w.all,
    };
    return ulp_training_run(run, point, rows, &training);
}

/* ---- the table ---- */

/* The mean over seeds of a kind of run; accuracies in percent. */
typedef struct mean {
    double accuracy, loss, zero, skipped, scale, diverged;
    int n;
} mean;

static mean mean_of(const ulp_run *run, const char *net, const char *format, const char *scaler, const char *scale) {
    mean m = {0};
    for (long row = 0; (row = ulp_row_find(run, row, "what", "final", "net", net, "format", format, "scaler", scaler, "static_log2", scale, (const char *)NULL)) != ULP_NO_ROW; row++) {
        double loss = ulp_row_number(run, row, "loss");
        m.accuracy += 100 * ulp_row_number(run, row, "test_accuracy");
        m.loss += loss;
        m.zero += 100 * ulp_row_number(run, row, "zero");
        m.skipped += ulp_row_number(run, row, "skipped");
        m.scale += ulp_row_number(run, row, "scale_log2");
        m.diverged += isnan(loss) || isinf(loss);
        m.n++;
    }
    double n = m.n ? m.n : 1;
    mean result = {m.accuracy / n, m.loss / n, m.zero / n, m.skipped / n, m.scale / n, m.diverged, m.n};
    return result;
}

static mean static_mean(const ulp_run *run, const char *net, const char *format, double scale) {
    char text[24];
    snprintf(text, sizeof text, "%d", (int)scale);
    return mean_of(run, net, format, "static", text);
}

static void put_mean(ulp_table *table, const char *net, const char *format, const char *scaler, mean m) {
    if (m.n == 0) return;
    ulp_table_put(table, "%s", net);
    ulp_table_put(table, "%s", format);
    ulp_table_put(table, "%s", scaler);
    ulp_table_put(table, "%.2f", m.accuracy);
    ulp_table_put(table, "%.4g", m.loss);
    ulp_table_put(table, "%.0f of %d", m.diverged, m.n);
    ulp_table_put(table, "%.2f", m.zero);
    ulp_table_put(table, "%.1f", m.skipped);
    ulp_table_put(table, "2^%.1f", m.scale);
}

/* What was done to the scalers' growth intervals. */
static void interval_text(const ulp_run *run, char *text, size_t size) {
    long long interval = (long long)ulp_option_integer(run, "interval");
    if (interval) snprintf(text, size, "growth intervals cut from 2000 steps (megatron: 1000) to %lld", interval);
    else snprintf(text, size, "growth intervals of 2000 steps (megatron: 1000)");
}

static void print_table(const ulp_run *run) {
    size_t formats, scales;
    const ulp_format *format = ulp_run_formats(run, &formats);
    char cut[160], title[320], name[64];
    ulp_network network;
    interval_text(run, cut, sizeof cut);
    snprintf(title, sizeof title, "means over the seeds; accuracy on the test part (NaN answers are wrong) and zero gradients in percent; %s", cut);
    ulp_table *table = ulp_table_new(title, "net,gradients,scaler,accuracy,training loss,diverged,zero,skipped,last scale");
    for (size_t i = 0; ulp_run_network(&network, run, i); i++) {
        const double *k = scales_of(run, i, &scales);
        put_mean(table, network.name, "binary32", "none", mean_of(run, network.name, "binary32", "none", ""));
        for (size_t f = 0; f < formats; f++) {
            for (size_t j = 0; j < scales; j++) {
                snprintf(name, sizeof name, "2^%.0f", k[j]);
                put_mean(table, network.name, format[f].name, name, static_mean(run, network.name, format[f].name, k[j]));
            }
            for (int s = 0; s < SCALERS; s++) {
                scaler_text(run, name, sizeof name, s, 0, &format[f]);
                put_mean(table, network.name, format[f].name, scalers[s].tensor ? scalers[s].name : name, mean_of(run, network.name, format[f].name, scalers[s].name, ""));
            }
        }
    }
    ulp_table_print(table, run);
}

/* ---- claims ---- */

/* What the claims about one network need. */
typedef struct judge {
    ulp_run *run;
    ulp_network network;
    mean reference;
    double points;
    const double *scale; /* (scales) */
    size_t scales;
    const char *scalers; /* the option that names them */
    char why[320];       /* if another set-up than that of the claims: in which way */
} judge;

/* How far below binary32 counts as the same, in percent of the test part. Networks but mlp and small: four standard errors
 * of the mean over the seeds. The deviation of one run from that of binary32 with its seed is the root of the mean square of
 * 42 to 52 such deviations, those of the runs between the walls of the default run with three seeds. */
static double points_of(const ulp_run *run, const char *net, int seeds) {
    static const struct { const char *net; double deviation; } known[] = {{"cnn", 0.59}, {"resnet", 0.94}, {"gru", 0.83}, {"lstm", 1.55}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(net, known[i].net) == 0) return 4 * known[i].deviation / sqrt(seeds > 0 ? seeds : 1);
    return ulp_option_number(run, "points");
}

static judge judge_of(ulp_run *run, size_t net, const ulp_network *network) {
    judge j = {.run = run, .network = *network, .scalers = net ? "other-scalers" : "scalers", .reference = mean_of(run, network->name, "binary32", "none", "")};
    j.points = points_of(run, network->name, j.reference.n);
    j.scale = scales_of(run, net, &j.scales);
    if (!ulp_setup_differs(run, "policy net batch steps rate momentum interval points set", j.why, sizeof j.why))
        ulp_setup_differs(run, net ? "other-scales" : "scales", j.why, sizeof j.why);
    return j;
}

static int is_claimed(const char *format) { return strcmp(format, "binary16") == 0 || strcmp(format, "e5m2") == 0 || strcmp(format, "e4m3") == 0; }

/* The static scales of a format within the points of binary32: the widest run of neighbours on the grid. */
typedef struct window {
    double low, high; /* log2; low > high: none */
} window;

static window window_of(const judge *j, const char *format) {
    window best = {1, 0};
    for (size_t i = 0; i < j->scales; i++) {
        size_t end = i;
        while (end < j->scales && static_mean(j->run, j->network.name, format, j->scale[end]).accuracy >= j->reference.accuracy - j->points) end++;
        if (end == i) continue;
        if (best.low > best.high || j->scale[end - 1] - j->scale[i] > best.high - best.low) best = (window){j->scale[i], j->scale[end - 1]};
        i = end;
    }
    return best;
}

static const char *window_text(char *text, size_t size, window w) {
    if (w.low > w.high) snprintf(text, size, "no scale");
    else snprintf(text, size, "2^%.0f to 2^%.0f", w.low, w.high);
    return text;
}

/* Both walls in every format, what lies between, and, on a fine grid, that a wider range leaves more room. */
static void claim_walls(const judge *j, int fine) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(j->run, &formats);
    char text[200], room[64], within[300] = "", at_left[300] = "", at_right[300] = "";
    double low = INFINITY, high = -INFINITY, last = 0;
    int found = 0, last_range = 0, some = 1, left_wall = 1, right_wall = 1, narrower = 1;
    for (size_t i = 0; i < j->scales; i++) low = fmin(low, j->scale[i]), high = fmax(high, j->scale[i]);
    for (size_t f = 0; f < formats; f++) {
        mean left = static_mean(j->run, j->network.name, format[f].name, low), right = static_mean(j->run, j->network.name, format[f].name, high);
        window w = window_of(j, format[f].name);
        if (left.n == 0 || !is_claimed(format[f].name)) continue;
        ulp_list_add(within, sizeof within, "%s %s", format[f].name, window_text(room, sizeof room, w));
        ulp_list_add(at_left, sizeof at_left, "%s %.2f %% with %.2f %% zero", format[f].name, left.accuracy, left.zero);
        ulp_list_add(at_right, sizeof at_right, "%s %.0f of %d runs, %.2f %%", format[f].name, right.diverged, right.n, right.accuracy);
        some &= w.low <= w.high;
        left_wall &= left.accuracy <= j->reference.accuracy - 5 && left.zero > 95;
        right_wall &= right.diverged == right.n && right.accuracy <= j->reference.accuracy - 5;
        int range = format[f].emax - format[f].qmin;
        narrower &= found == 0 || (range > last_range ? w.high - w.low > last : range == last_range || w.high - w.low < last);
        last = w.high - w.low;
        last_range = range;
        found++;
    }
    if (!found) return;
    snprintf(text, sizeof text, "%s: in every format there are static scales at most %.2g points below binary32", j->network.name, j->points);
    ulp_claim_setup(j->run, j->why, some, text, "%s; binary32 %.2f %%", within, j->reference.accuracy);
    snprintf(text, sizeof text, "%s, left wall: at 2^%.0f nearly all gradients are zero and 5 points or more are lost", j->network.name, low);
    ulp_claim_setup(j->run, j->why, left_wall, text, "%s; binary32 %.2f %% with %.2f %%", at_left, j->reference.accuracy, j->reference.zero);
    snprintf(text, sizeof text, "%s, right wall: at 2^%.0f every run overflows and diverges", j->network.name, high);
    ulp_claim_setup(j->run, j->why, right_wall, text, "%s", at_right);
    snprintf(text, sizeof text, "%s: the fewer powers of two a format has, the closer its walls", j->network.name);
    if (fine && found > 1) ulp_claim_setup(j->run, j->why, narrower, text, "%s", within);
}

/* Nothing chosen by hand: one scaler, every format that claims are about. */
static void claim_scaler(const judge *j, int s) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(j->run, &formats);
    char text[320], measured[300] = "", where[300] = "", cut[160];
    int good = 1, found = 0;
    double skipped = 0, diverged = 0, runs = 0;
    for (size_t f = 0; f < formats; f++) {
        mean m = mean_of(j->run, j->network.name, format[f].name, scalers[s].name, "");
        if (m.n == 0 || !is_claimed(format[f].name)) continue;
        ulp_list_add(measured, sizeof measured, "%s %.2f %%", format[f].name, m.accuracy);
        ulp_list_add(where, sizeof where, "%s 2^%.1f", format[f].name, m.scale);
        good &= m.accuracy >= j->reference.accuracy - j->points && m.diverged == 0 && (scalers[s].tensor || m.scale >= window_of(j, format[f].name).low);
        mean one = static_mean(j->run, j->network.name, format[f].name, 0);
        if (scalers[s].tensor && one.n) good &= m.zero < one.zero;
        skipped += m.skipped;
        diverged += m.diverged;
        runs += m.n;
        found++;
    }
    if (!found && strcmp(scalers[s].name, "layer") == 0 && ulp_option_chosen(j->run, j->scalers, "layer")) {
        snprintf(text, sizeof text, "%s, layer", j->network.name);
        ulp_claim_skip(j->run, text, "not for networks that add gradients of several layers or round inner ones, nor for formats without claims");
    }
    if (!found) return;
    if (scalers[s].tensor && strcmp(scalers[s].name, "delayed16-inf") == 0) {
        snprintf(text, sizeof text, "%s, %s: late scales let a gradient overflow, and every run diverges where that gives Inf", j->network.name, scalers[s].name);
        ulp_claim_setup(j->run, j->why, diverged == runs, text, "%.0f of %.0f runs", diverged, runs);
    } else if (scalers[s].tensor) {
        snprintf(text, sizeof text, "%s, %s: with a scale per tensor and no loss scale 8-bit gradients end at most %.2g points below binary32, and fewer are zero than at 2^0", j->network.name, scalers[s].name, j->points);
        ulp_claim_setup(j->run, j->why, good, text, "%s; binary32 %.2f %%", measured, j->reference.accuracy);
    } else {
        snprintf(cut, sizeof cut, "%s", scalers[s].way);
        if (scalers[s].grows) interval_text(j->run, cut, sizeof cut);
        snprintf(text, sizeof text, "%s, %s: at most %.2g points below binary32 in every format with no scale chosen by hand; %s", j->network.name, scalers[s].name, j->points, cut);
        ulp_claim_setup(j->run, j->why, good, text, "%s; binary32 %.2f %%; last scales %s; %.1f steps skipped per run", measured, j->reference.accuracy, where, skipped / found);
    }
}

static void check(ulp_run *run, const void *context) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    ulp_network network;
    char text[96];
    (void)context;
    print_table(run);
    for (size_t f = 0; f < formats; f++) {
        snprintf(text, sizeof text, "%s gradients: walls and scalers", format[f].name);
        if (!is_claimed(format[f].name)) ulp_claim_skip(run, text, "the claims are about binary16, e5m2 and e4m3");
    }
    for (size_t i = 0; ulp_run_network(&network, run, i); i++) {
        const judge j = judge_of(run, i, &network);
        claim_walls(&j, i == 0);
        for (int s = 0; s < SCALERS; s++) claim_scaler(&j, s);
    }
}

static const ulp_experiment experiment = {
    .name = "loss_scaling",
    .question = "by how much must the loss be multiplied, and can the scale be found without tuning?",
    .columns = "net,format,scaler,static_log2,seed,what,step,scale_log2,loss,skipped,zero,flushed,overflowed,train_accuracy,test_accuracy",
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
    .release = ulp_context_release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
