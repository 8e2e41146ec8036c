/* loss_scaling.c - by how much must the loss be multiplied, and can the scale be found without tuning?
 *
 * A network learns the digits in mixed precision (--policy), its gradients of weights and activations in one of
 * --formats, the loss multiplied by 2^scale and the weight gradients divided by it in binary32. Rows `final` are whole
 * runs: binary32 without a scale, static scales, dynamic scalers (sim/scaler.h). Rows `step` trace the first
 * seed's dynamic runs. zero is the share of gradients that are zero, in binary32 too where a relu is off; flushed
 * the share that a rounding made zero, not what then is zero because it was computed from zeros. Both are
 * of all gradients, in every step of a trace and in every --every-th step of other runs.
 *
 * Too small a scale: gradients become zero and the network does not learn. Too large a one: the first Inf ends the
 * run, for a static scale has nothing to skip a step with. The axis goes far below 2^0 because this network is
 * small and its loss a mean over few outputs: where the mean is taken over 2^k times as many, the same curves lie k to
 * the right. A scaler's growth interval is cut from its 2,000 steps (megatron: 1,000) to --interval so that a short run
 * shows growth; 0 leaves it. backoff never grows. Claims hold for the set-up of the table of options and for
 * binary16, e5m2 and e4m3; elsewhere they are skipped and say what was measured.
 * After Micikevicius et al. 2018, "Mixed precision training", arXiv:1710.03740, section 3.2.
 * Longer than most files: the grid, its rows and when a claim about them can be expected are one thought.
 */
#include "harness/harness.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/train.h"

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("fp16,e5m2,e4m3", NULL),
    {"scales", ULP_OPTION_NUMBERS, "-24,-22,-20,-18,-16,-14,-12,-10,-8,-6,-4,-2,0,2,4,6,8,10,12,14,16,18,20,22,24", "-24,-12,-6,0,6,9,12,24", "-30..30",
     "log2 of the static scales", -100, 100, NULL, 0},
    {"scalers", ULP_OPTION_CHOICES, "pytorch,apex,keras,megatron,backoff", "pytorch", "all", "dynamic scalers", 0, 0, "pytorch apex keras megatron backoff", 0},
    {"interval", ULP_OPTION_INTEGER, "25", NULL, NULL, "good steps before a scaler doubles; 0: its own number", 0, 1e6, NULL, 0},
    {"policy", ULP_OPTION_TEXT, "mixed:fp16", NULL, NULL, "everything but the gradients' formats", 0, 0, NULL, 0},
    {"net", ULP_OPTION_TEXT, "fc128 relu fc128 relu fc64 relu fc10", "fc64 relu fc64 relu fc10", NULL, "the network, layer by layer", 0, 0, NULL, 0},
    {"batch", ULP_OPTION_INTEGER, "256", "128", NULL, "samples per step", 1, 60000, NULL, 0},
    {"steps", ULP_OPTION_INTEGER, "300", "250", "1000", "training steps", 1, 1e7, NULL, 0},
    {"rate", ULP_OPTION_NUMBER, "0.1", NULL, NULL, "learning rate", 0, 1000, NULL, 0},
    {"momentum", ULP_OPTION_NUMBER, "0.9", NULL, NULL, "momentum", 0, 1, NULL, 0},
    {"every", ULP_OPTION_INTEGER, "25", NULL, NULL, "count flushed gradients every so many steps", 1, 1e7, NULL, 0},
    {"points", ULP_OPTION_NUMBER, "1", "1.5", NULL, "how near to binary32 counts as the same accuracy, in percent of the test part", 0, 100, NULL, 0},
    {"set", ULP_OPTION_TEXT, "digits", NULL, NULL, "the data set: digits or mnist", 0, 0, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("3", "2", "5"),
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

static const char *const scaler_names[] = {"pytorch", "apex", "keras", "megatron", "backoff"};
enum { SCALERS = sizeof scaler_names / sizeof scaler_names[0], REFERENCE = -2, STATIC = -1, AT_FORMAT = 0, AT_SCALER, AT_SCALE, AT_SEED };

/* ---- the grid ---- */

/* The policy of runs with gradients in `format`. */
static void policy_text(const ulp_run *run, char *text, size_t size, const char *format) {
    snprintf(text, size, "%s,agrad=%s,wgrad=%s", ulp_option_text(run, "policy"), format, format);
}

/* The policy in full goes into the header; a bad one ends the run before it starts. */
static ulp_status add_policy(ulp_run *run, const char *format) {
    char text[512], full[ULP_POLICY_TEXT_MAX], error[1024];
    ulp_policy policy;
    policy_text(run, text, sizeof text, format);
    ulp_status status = ulp_policy_parse(&policy, text, error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "--policy: %s", error);
    status = ulp_policy_print(full, sizeof full, &policy);
    if (status == ULP_OK) ulp_header_add(run, "policy in full", "%s", full);
    return status;
}

static void add_runs(ulp_run *run, int64_t format, const char *name, int64_t scaler, int64_t scale) {
    for (int64_t s = 0; s < ulp_option_integer(run, "seeds"); s++) {
        ulp_point point = {.at = {format, scaler, scale, (int64_t)ulp_run_seed(run) + s}};
        if (scaler == STATIC) ulp_point_add(run, point, "%s static:%lld seed %lld", name, (long long)scale, (long long)point.at[AT_SEED]);
        else ulp_point_add(run, point, "%s %s seed %lld", name, scaler < 0 ? "none" : scaler_names[scaler], (long long)point.at[AT_SEED]);
    }
}

static ulp_status prepare(ulp_run *run, void **context) {
    char error[1024];
    size_t formats, scales;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const double *scale = ulp_option_numbers(run, "scales", &scales);
    ulp_data *data = calloc(1, sizeof *data);
    if (data == NULL) return ULP_NO_MEMORY;
    *context = data;
    ulp_status status = ulp_data_load(data, ulp_option_text(run, "set"), ulp_run_data(run), ulp_run_seed(run), error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", error);
    ulp_header_add(run, "data", "%s, crc32 %08x, %zu for training, %zu for tests", data->name, data->checksum, data->n_train, data->n - data->n_train);
    add_runs(run, -1, "binary32", REFERENCE, 0);
    for (size_t f = 0; f < formats && status == ULP_OK; f++) {
        status = add_policy(run, format[f].name);
        for (size_t k = 0; k < scales; k++) add_runs(run, (int64_t)f, format[f].name, STATIC, (int64_t)scale[k]);
        for (int s = 0; s < SCALERS; s++)
            if (ulp_option_chosen(run, "scalers", scaler_names[s])) add_runs(run, (int64_t)f, format[f].name, s, 0);
    }
    return status;
}

/* ---- one run ---- */

/* What a run was, for its rows. */
typedef struct key {
    const char *format, *scaler;
    int64_t scale, seed;
} key;

/* Gradients counted so far. */
typedef struct sums {
    uint64_t count, zero, flushed, overflow;
} sums;

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

static void put_row(ulp_rows *rows, const key *k, const char *what, int64_t step, int64_t scale, double loss, int64_t skipped, const sums *s) {
    ulp_put_text(rows, k->format);
    ulp_put_text(rows, k->scaler);
    if (strcmp(k->scaler, "static") == 0) ulp_put_integer(rows, k->scale);
    else ulp_put_none(rows);
    ulp_put_integer(rows, k->seed);
    ulp_put_text(rows, what);
    ulp_put_integer(rows, step);
    ulp_put_integer(rows, scale);
    ulp_put_number(rows, loss);
    ulp_put_integer(rows, skipped);
    put_share(rows, s->zero, s->count);
    put_share(rows, s->flushed, s->count);
    put_share(rows, s->overflow, s->count);
}

static void add_to(sums *s, const sums *step) {
    s->count += step->count;
    s->zero += step->zero;
    s->flushed += step->flushed;
    s->overflow += step->overflow;
}

/* One step, counted or not. */
static ulp_status take_step(ulp_trainer *t, ulp_step *step, sums *now, int counted) {
    const ulp_observer observer = {see, now, 1u << ULP_AT_AGRAD | 1u << ULP_AT_WGRAD};
    memset(now, 0, sizeof *now);
    t->pass.counting = counted;
    t->observer = counted ? &observer : NULL;
    ulp_status status = ulp_trainer_step(t, step);
    t->observer = NULL;
    now->flushed = step->agrad.underflow + step->wgrad.underflow;
    now->overflow = step->agrad.overflow + step->wgrad.overflow;
    return status;
}

static ulp_status train(const ulp_run *run, ulp_trainer *t, const key *k, int trace, ulp_rows *rows) {
    uint64_t steps = (uint64_t)ulp_option_integer(run, "steps"), every = (uint64_t)ulp_option_integer(run, "every");
    ulp_status status = ULP_OK;
    ulp_score learned = {0}, test = {0};
    sums all = {0};
    for (uint64_t i = 0; i < steps && status == ULP_OK; i++) {
        ulp_step step = {0};
        sums now;
        status = take_step(t, &step, &now, trace || i % every == 0);
        if (status != ULP_OK || ulp_rows_progress(rows, (double)i / (double)steps)) break;
        add_to(&all, &now);
        if (trace) {
            put_row(rows, k, "step", (int64_t)step.step, step.scale_log2, step.loss, step.skipped, &now);
            for (int empty = 0; empty < 2; empty++) ulp_put_none(rows);
            ulp_row_end(rows);
        }
        if (isnan(step.loss) && !step.skipped && step.overflow) break; /* NaN in the weights stays there */
    }
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TRAIN_PART, &learned);
    if (status == ULP_OK) status = ulp_trainer_score(t, ULP_TEST_PART, &test);
    if (status != ULP_OK) return status;
    put_row(rows, k, "final", (int64_t)t->step, t->scaler.log2, learned.loss, (int64_t)t->scaler.skipped, &all);
    ulp_put_number(rows, learned.accuracy);
    ulp_put_number(rows, test.accuracy);
    ulp_row_end(rows);
    return ULP_OK;
}

/* The scaler's text for sim/scaler.h. */
static void scaler_text(const ulp_run *run, char *text, size_t size, int64_t scaler, int64_t scale) {
    int64_t interval = ulp_option_integer(run, "interval");
    if (scaler == REFERENCE) snprintf(text, size, "none");
    else if (scaler == STATIC) snprintf(text, size, "static:%lld", (long long)scale);
    else if (interval == 0 || strcmp(scaler_names[scaler], "backoff") == 0) snprintf(text, size, "%s", scaler_names[scaler]);
    else snprintf(text, size, "%s,interval=%lld", scaler_names[scaler], (long long)interval);
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    int64_t scaler = point->at[AT_SCALER];
    key k = {scaler == REFERENCE ? "binary32" : format[point->at[AT_FORMAT]].name,
             scaler == REFERENCE ? "none" : scaler == STATIC ? "static" : scaler_names[scaler], point->at[AT_SCALE], point->at[AT_SEED]};
    char policy[512], text[64], optimizer[96], error[1024];
    policy_text(run, policy, sizeof policy, k.format);
    scaler_text(run, text, sizeof text, scaler, k.scale);
    snprintf(optimizer, sizeof optimizer, "sgd,rate=%.17g,momentum=%.17g", ulp_option_number(run, "rate"), ulp_option_number(run, "momentum"));
    ulp_train_options o = {
        .net = ulp_option_text(run, "net"),
        .policy = scaler == REFERENCE ? "fp32" : policy,
        .scaler = text,
        .optimizer = optimizer,
        .batch = (size_t)ulp_option_integer(run, "batch"),
        .seed = (uint64_t)k.seed,
        .backend = ulp_run_backend(run),
    };
    ulp_trainer *t;
    ulp_status status = ulp_trainer_new(&t, context, &o, error, sizeof error);
    if (status != ULP_OK) return ulp_run_fail(run, status, "%s", error);
    status = train(run, t, &k, scaler >= 0 && k.seed == (int64_t)ulp_run_seed(run), rows);
    ulp_trainer_free(t);
    return status;
}

static void release(void *context) {
    if (context != NULL) ulp_data_release(context);
    free(context);
}

/* ---- claims ---- */

/* The mean over seeds of a kind of run; accuracies in percent. */
typedef struct mean {
    double accuracy, loss, zero, skipped, scale, diverged;
    int n;
} mean;

static mean mean_of(const ulp_run *run, const char *format, const char *scaler, const char *scale) {
    mean m = {0};
    for (long row = 0; (row = ulp_row_find(run, row, "what", "final", "format", format, "scaler", scaler, "static_log2", scale, (const char *)NULL)) != ULP_NO_ROW; row++) {
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

static mean static_mean(const ulp_run *run, const char *format, double scale) {
    char text[24];
    snprintf(text, sizeof text, "%d", (int)scale);
    return mean_of(run, format, "static", text);
}

/* The static scales of a format within --points of binary32: the widest run of neighbours on the grid. */
typedef struct window {
    double low, high; /* log2; low > high: none */
} window;

static window window_of(const ulp_run *run, const char *format, double reference) {
    size_t scales;
    const double *k = ulp_option_numbers(run, "scales", &scales);
    const double enough = reference - ulp_option_number(run, "points");
    window best = {1, 0};
    for (size_t i = 0; i < scales; i++) {
        if (static_mean(run, format, k[i]).accuracy < enough) continue;
        size_t j = i;
        while (j + 1 < scales && static_mean(run, format, k[j + 1]).accuracy >= enough) j++;
        if (best.low > best.high || k[j] - k[i] > best.high - best.low) best = (window){k[i], k[j]};
        i = j;
    }
    return best;
}

static void put_mean(ulp_table *table, const char *format, const char *scaler, const mean *m) {
    ulp_table_put(table, "%s", format);
    ulp_table_put(table, "%s", scaler);
    ulp_table_put(table, "%.2f", m->accuracy);
    ulp_table_put(table, "%.4g", m->loss);
    ulp_table_put(table, "%.0f of %d", m->diverged, m->n);
    ulp_table_put(table, "%.2f", m->zero);
    ulp_table_put(table, "%.1f", m->skipped);
    ulp_table_put(table, "2^%.1f", m->scale);
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
    const double *k = ulp_option_numbers(run, "scales", &scales);
    char cut[160];
    interval_text(run, cut, sizeof cut);
    char title[320];
    snprintf(title, sizeof title, "means over the seeds; accuracy on the test part (NaN answers are wrong) and zero gradients in percent; %s", cut);
    ulp_table *table = ulp_table_new(title,
                                     "gradients,scaler,accuracy,training loss,diverged,zero,skipped,last scale");
    mean m = mean_of(run, "binary32", "none", "");
    put_mean(table, "binary32", "none", &m);
    for (size_t f = 0; f < formats; f++) {
        for (size_t i = 0; i < scales; i++) {
            char name[32];
            snprintf(name, sizeof name, "2^%.0f", k[i]);
            m = static_mean(run, format[f].name, k[i]);
            put_mean(table, format[f].name, name, &m);
        }
        for (int s = 0; s < SCALERS; s++) {
            char name[64];
            scaler_text(run, name, sizeof name, s, 0);
            m = mean_of(run, format[f].name, scaler_names[s], "");
            if (m.n) put_mean(table, format[f].name, name, &m);
        }
    }
    ulp_table_print(table, run);
}

/* ---- when a claim can be expected ---- */

static const char *const claimed_formats[] = {"binary16", "e5m2", "e4m3"};
enum { CLAIMED = sizeof claimed_formats / sizeof claimed_formats[0] };

static int is_claimed(const char *format) {
    for (int i = 0; i < CLAIMED; i++)
        if (strcmp(format, claimed_formats[i]) == 0) return 1;
    return 0;
}

/* Both ends of the published grid are there and no gap is wider than its gaps of two; or it is the table's own grid. */
static int covers_walls(const ulp_run *run, const char *table) {
    size_t scales;
    const double *k = ulp_option_numbers(run, "scales", &scales);
    if (strcmp(ulp_option_text(run, "scales"), table) == 0) return 1;
    for (int want = -24; want <= 24; want++) {
        int found = 0, next = 0;
        for (size_t i = 0; i < scales; i++) {
            found |= k[i] == want;
            next |= k[i] == want + 1;
        }
        if (!found && (want == -24 || want == 24 || !next)) return 0;
    }
    return 1;
}

/* Whether the set-up is another than that of the table of options, and in which way. */
static int is_other_setup(const ulp_run *run, char *why, size_t size) {
    static const char *const decisive[] = {"policy", "net", "batch", "steps", "rate", "momentum", "interval", "points", "set", "scales"};
    for (const ulp_option *o = options; o->name != NULL; o++)
        for (size_t i = 0; i < sizeof decisive / sizeof decisive[0]; i++) {
            const char *want = o->quick && ulp_option_flag(run, "quick") ? o->quick : o->full && ulp_option_flag(run, "full") ? o->full : o->value;
            const char *have = ulp_option_text(run, o->name);
            if (strcmp(o->name, decisive[i]) != 0 || strcmp(have, want) == 0) continue;
            if (strcmp(o->name, "scales") == 0 && covers_walls(run, want)) continue;
            snprintf(why, size, "--%s is %.60s, the claim is about %s", o->name, have, want);
            return 1;
        }
    return 0;
}

static void claim_setup(ulp_run *run, int pass, const char *text, const char *measured, ...) ULP_PRINTF(4, 5);
static void claim_setup(ulp_run *run, int pass, const char *text, const char *measured, ...) {
    char values[600], why[400];
    va_list arguments;
    va_start(arguments, measured);
    vsnprintf(values, sizeof values, measured, arguments);
    va_end(arguments);
    if (is_other_setup(run, why, sizeof why)) ulp_claim_skip(run, text, "%s; here: %s", why, values);
    else ulp_claim(run, pass, text, "%s", values);
}

/* "1 point", "1.5 points" */
static const char *points_text(const ulp_run *run, char *text, size_t size) {
    double points = ulp_option_number(run, "points");
    snprintf(text, size, "%g point%s", points, points == 1 ? "" : "s");
    return text;
}

static const char *window_text(char *text, size_t size, window w, const char *between) {
    if (w.low > w.high) snprintf(text, size, "no scale");
    else snprintf(text, size, "2^%.0f%s2^%.0f", w.low, between, w.high);
    return text;
}

/* Both walls of one format, and what lies between. */
static void claim_walls(ulp_run *run, const char *format, const mean *reference) {
    size_t scales;
    const double *k = ulp_option_numbers(run, "scales", &scales);
    double low = k[0], high = k[0];
    for (size_t i = 1; i < scales; i++) {
        low = k[i] < low ? k[i] : low;
        high = k[i] > high ? k[i] : high;
    }
    window w = window_of(run, format, reference->accuracy);
    mean left = static_mean(run, format, low), right = static_mean(run, format, high);
    char text[160], room[64], points[32];
    snprintf(text, sizeof text, "%s gradients: between the walls a static scale is within %s of binary32", format, points_text(run, points, sizeof points));
    claim_setup(run, w.low <= w.high, text, "%s; binary32 %.2f %%", window_text(room, sizeof room, w, " to "), reference->accuracy);
    snprintf(text, sizeof text, "%s gradients, left wall: at 2^%.0f nearly all gradients are zero and 5 points or more are lost", format, low);
    claim_setup(run, left.accuracy <= reference->accuracy - 5 && left.zero > 95, text, "%.2f %%; %.2f %% of the gradients are zero, %.2f %% in binary32",
                left.accuracy, left.zero, reference->zero);
    snprintf(text, sizeof text, "%s gradients, right wall: at 2^%.0f every run overflows and diverges", format, high);
    claim_setup(run, right.diverged == right.n && right.accuracy <= reference->accuracy - 5, text, "%.0f of %d runs, %.2f %%", right.diverged, right.n,
                right.accuracy);
}

static int has_format(const ulp_run *run, const char *name) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    for (size_t f = 0; f < formats; f++)
        if (strcmp(format[f].name, name) == 0) return 1;
    return 0;
}

/* Wider exponent ranges leave more room between the walls. */
static void claim_widths(ulp_run *run, double reference) {
    char measured[160] = "", room[64];
    double last = INFINITY;
    int good = 1, found = 0;
    for (int i = 0; i < CLAIMED; i++) {
        if (!has_format(run, claimed_formats[i])) continue;
        window w = window_of(run, claimed_formats[i], reference);
        size_t used = strlen(measured);
        snprintf(measured + used, sizeof measured - used, "%s%s %s", found++ ? ", " : "", claimed_formats[i], window_text(room, sizeof room, w, ".."));
        good &= w.high - w.low < last;
        last = w.high - w.low;
    }
    if (found > 1) claim_setup(run, good, "the fewer powers of two a format has, the closer its walls", "%s", measured);
}

/* No scale chosen by hand: every scaler, every format that claims are about. */
static void claim_dynamic(ulp_run *run, double reference) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    for (int s = 0; s < SCALERS; s++) {
        char text[320], measured[300] = "", where[200] = "", cut[160], points[32];
        int good = 1, inside = 1, found = 0;
        double skipped = 0;
        for (size_t f = 0; f < formats; f++) {
            mean m = mean_of(run, format[f].name, scaler_names[s], "");
            window w = window_of(run, format[f].name, reference);
            if (m.n == 0 || !is_claimed(format[f].name)) continue;
            size_t used = strlen(measured), at = strlen(where);
            snprintf(measured + used, sizeof measured - used, "%s%s %.2f %%", found ? ", " : "", format[f].name, m.accuracy);
            snprintf(where + at, sizeof where - at, "%s%s 2^%.1f", found++ ? ", " : "", format[f].name, m.scale);
            good &= m.accuracy >= reference - ulp_option_number(run, "points");
            inside &= m.scale >= w.low && m.diverged == 0;
            skipped += m.skipped;
        }
        if (!found) continue;
        if (strcmp(scaler_names[s], "backoff") == 0) snprintf(cut, sizeof cut, "its scale only ever halved");
        else interval_text(run, cut, sizeof cut);
        snprintf(text, sizeof text, "%s: within %s of binary32 in every format with no scale chosen by hand; %s", scaler_names[s],
                 points_text(run, points, sizeof points), cut);
        claim_setup(run, good && inside, text, "%s; binary32 %.2f %%; last scales %s; %.1f steps skipped per run", measured, reference, where, skipped / found);
    }
}

static void check(ulp_run *run, const void *context) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    mean reference = mean_of(run, "binary32", "none", "");
    (void)context;
    print_table(run);
    for (size_t f = 0; f < formats; f++) {
        char text[96];
        snprintf(text, sizeof text, "%s gradients: walls and scalers", format[f].name);
        if (is_claimed(format[f].name)) claim_walls(run, format[f].name, &reference);
        else ulp_claim_skip(run, text, "the claims are about binary16, e5m2 and e4m3");
    }
    claim_widths(run, reference.accuracy);
    claim_dynamic(run, reference.accuracy);
}

static const ulp_experiment experiment = {
    .name = "loss_scaling",
    .question = "by how much must the loss be multiplied, and can the scale be found without tuning?",
    .columns = "format,scaler,static_log2,seed,what,step,scale_log2,loss,skipped,zero,flushed,overflowed,train_accuracy,test_accuracy",
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
    .release = release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
