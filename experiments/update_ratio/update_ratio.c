/* update_ratio.c - how large are weights compared with their updates, and which updates can a format still add?
 *
 * A network learns in binary32 by SGD with momentum and, by default, a rate that falls along a cosine. At --looks of
 * its steps, every weight w is compared with its update u = -rate' v, the exact product of the binary32 rate and the
 * momentum v of this step. The optimizer adds u to w. For each format, the weight is rounded to the format. The update
 * is lost if round(w + u) = w, where the exact sum is rounded once to nearest even. Updates that are zero in binary32
 * are counted apart.
 *
 * Rows:
 *   - bin: the number of non-zero updates with 2^x <= |w / u| < 2^(x+1), w in binary32
 *   - zero: the number of non-zero updates of weights that are zero
 *   - share: for a format, the number of non-zero updates that are lost, and the number in each of the zones below. The
 *     columns against_zones, against_criterion and against_run count the elements that contradict the zones, the
 *     criterion, or (binary32) the weight of the run after the step.
 *   - edge: for a format, the criterion against rounding at ties and beside ties
 *   - trace: the training loss, mean of the steps since the last trace
 *   - train_loss, train_accuracy, test_accuracy: the scores after the last step
 *
 * Rows trace and the scores exist for this run and for further runs, one for each mode and each format other than
 * binary32. In a further run the weights have the format, there are no master weights, and everything else is binary32.
 *
 * The criterion is exact for p significand bits and w of the format. Let h be half the distance from w to its neighbour
 * in the direction of u. The update is lost if |u| < h, or if |u| = h and w is even. For a normal w in [2^e, 2^(e+1)),
 * h is 2^(e-p). From w = 2^e towards zero, h is 2^(e-p-1), and the tie goes to w, because w is even. The zones follow:
 *   - certain: |w / u| >= 2^(p+1). The update is lost. This also holds for a subnormal w and in fixed point, because h
 *     is not smaller there.
 *   - safe: |w / u| < 2^p, and w is normal. The weight moves.
 *   - open: 2^p <= |w / u| < 2^(p+1), and w is normal. The place of w in its binade decides.
 *   - small: |w / u| < 2^(p+1), and w is not normal. Only the criterion decides.
 *
 * Ties are rare in a training. Rows edge test the criterion against rounding at u = h and u = h (1 +- 2^-20), in both
 * directions from every weight of the first look.
 *
 * Micikevicius et al. 2018, "Mixed precision training", arXiv:1710.03740, section 3.1, name the ratio 2048 = 2^11 for
 * binary16.
 */
#include "update_ratio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/round.h"

/* Formats that wrap around are left out: a sum that wraps around is not a rounded sum. */
static int takes_format(const ulp_format *f) {
    return ulp_format_with_sign(f) && f->overflow != ULP_OVERFLOW_WRAP && f->taper == ULP_TAPER_NONE;
}

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "fp32,fp16,bf16,e4m3", NULL, takes_format,
                          ULP_WANTS_WITH_SIGN ", not to wrap around, " ULP_WANTS_ONE_PRECISION),
    ULP_OPTION_MODES_OF(settings, modes, "rne,sr", NULL),
    ULP_OPTION_NET(settings, lesson, "fc128 relu fc64 relu fc10", NULL, NULL),
    ULP_OPTION_SET(settings, lesson.set),
    ULP_OPTION_BATCH(settings, lesson, "64"),
    ULP_OPTION(settings, steps, integer, "1000", .quick = "600", .full = "20000", .help = "training steps", .min = 2,
               .max = 1e7),
    ULP_OPTION(settings, looks, integer, "40", .quick = "12", .help = "how many steps are looked at", .min = 2,
               .max = 1000),
    ULP_OPTION(settings, rate, number, "0.05", .help = "learning rate at the start", .min = 0x1p-40, .max = 1000),
    ULP_OPTION(settings, schedule, choice, "cosine", .help = "the rate: falls to zero along a cosine, or constant",
               .words = SCHEDULE_WORDS),
    ULP_OPTION(settings, momentum, number, "0.9", .help = "momentum", .max = 1),
    ULP_OPTION_SEED(settings, lesson.seed),
    ULP_OPTION_SEEDS(settings, lesson.seeds, "2", "1", "5"),
    ULP_OPTION_BACKEND_OF(settings, lesson.backend),
    ULP_OPTION_DATA(settings, lesson.data),
    ULP_OPTIONS_TRAINING(settings, lesson.how),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, seed, run, mode),
    ULP_WORDS(row, what, WHAT_WORDS),
    ULP_COLUMNS(row, step, layer, format),
    ULP_BIN_COLUMNS_OF(row, bin),
    ULP_COLUMNS_OF(row, tally, zero, lost, certain, open, safe),
    ULP_COLUMNS_OF(row, tally, small, open_lost, against_zones, against_criterion, against_run),
    ULP_COLUMNS(row, value),
    {0},
};

/* ---- one update of one format ---- */

/* The criterion: w + u rounds to w if |u| is less than half the distance from w to its neighbour in the direction of u,
 * or is half this distance and w is even. w is a value of the format, u is not zero. w is even if it is an even
 * multiple of the distance. With one significand bit every number is a power of two, and the code of w decides. */
static int stays(double w, double u, const ulp_format *f) {
    double next = u > 0 ? ulp_next_up(w, f) : ulp_next_down(w, f), distance = fabs(next - w);
    uint64_t code;
    if (next == w || isinf(next)) distance = ulp_spacing(w, f); /* at the end of the range */
    if (fabs(u) != distance / 2) return fabs(u) < distance / 2;
    if (f->prec > 1) return fmod(fabs(w) / distance, 2) == 0;
    return ulp_encode(&code, w, f) == ULP_OK && code % 2 == 0;
}

static int is_normal(double w, const ulp_format *f) {
    return !f->is_fixed && (fabs(w) > f->min_normal || (fabs(w) == f->min_normal && f->has_subnormals));
}

/* Counts one update: w is the weight rounded to the format, u the exact update, sum the rounded sum, next the weight of
 * the run after the step. level is 2 for |w / u| >= 2^(p+1), 1 for |w / u| >= 2^p, else 0. */
static void count_update(tally *t, double w, double u, double sum, float next, const ulp_format *f) {
    int lost = sum == w, level = fabs(w) >= ulp_scale(fabs(u), f->prec + 1) ? 2
                                 : fabs(w) >= ulp_scale(fabs(u), f->prec)   ? 1
                                                                            : 0;
    t->count++;
    t->against_run += strcmp(f->name, "binary32") == 0 && (float)sum != next;
    if (u == 0) {
        t->zero++;
        return;
    }
    t->lost += lost;
    t->against_criterion += lost != stays(w, u, f);
    if (level == 2) t->certain++;
    else if (!is_normal(w, f)) t->small++;
    else if (level == 1) t->open++, t->open_lost += lost;
    else t->safe++;
    t->against_zones += level == 2 ? !lost : level == 0 && is_normal(w, f) && lost;
}

/* ---- all weights at one step ---- */

/* The bins are exact: w has 24 bits and u has 48 bits, so no quotient below a power of two rounds up to this power. */
/* Fills the histogram of |w / u|, with u = -rate direction and the weights w before the step. */
static void update_counts_ratios(update_counts *w, double rate) {
    ulp_histogram_clear(&w->ratio);
    for (size_t i = 0; i < w->n; i++) {
        double u = rate * (double)w->direction[i];
        int e;
        if (u == 0) continue;
        w->ratio.count++;
        if (w->before[i] == 0.0F) {
            w->ratio.zero++;
            continue;
        }
        frexp((double)w->before[i] / u, &e);
        e = e - 1 < ULP_BIN_MIN ? ULP_BIN_MIN : e - 1 > ULP_BIN_MAX ? ULP_BIN_MAX : e - 1;
        w->ratio.bin[e - ULP_BIN_MIN]++;
    }
}

/* Counts in w->at what happens to the updates -rate direction in a format. The operation of the optimizer adds them to
 * the rounded weights. direction (n) is backend memory; w->direction holds its copy. */
static ulp_status update_counts_round(update_counts *w, const ulp_net *net, float rate, const float *direction,
                                      const ulp_format *f) {
    const ulp_backend *b = w->backend;
    ulp_operand at = {.kind = ULP_OPERAND_ARRAY, .at = w->weight}, to = {.kind = ULP_OPERAND_ARRAY, .at = w->sum};
    ulp_operand d = {.kind = ULP_OPERAND_ARRAY, .at = (float *)(uintptr_t)direction},
                r = {.kind = ULP_OPERAND_VALUE, .value = -rate};
    ulp_update_step steps[2] = {{.op = ULP_STEP_ROUND, .y = at, .a = at, .format = *f},
                                {.op = ULP_FUSED, .y = to, .a = r, .b = d, .c = at, .format = *f}};
    ULP_TRY(b->upload(w->weight, w->before, w->n * sizeof(float)));
    ULP_TRY(ulp_backend_update(b, steps, 2, w->n));
    ULP_TRY(b->download(w->host, w->weight, w->n * sizeof(float)));
    float *sum = w->host + w->n;
    ULP_TRY(b->download(sum, w->sum, w->n * sizeof(float)));
    memset(w->at, 0, sizeof w->at);
    for (size_t l = 0; l < net->count; l++) {
        const ulp_layer *layer = &net->layers[l];
        for (size_t i = layer->first_param; i < layer->first_param + layer->params; i++)
            count_update(&w->at[l], (double)w->host[i], (double)-rate * (double)w->direction[i], (double)sum[i],
                         w->after[i], f);
        tally_add(&w->at[ALL], &w->at[l]);
    }
    return ULP_OK;
}

/* Compares the criterion with rounding and counts the disagreements in *t. The updates are h and numbers just beside h,
 * in both directions from every weight that the last update_counts_round() rounded. Ties are rare in a training. */
static void update_counts_edges(const update_counts *w, const ulp_format *f, tally *t) {
    for (size_t i = 0; i < 6 * w->n; i++) {
        double x = (double)w->host[i / 6], next = i % 2 ? ulp_next_up(x, f) : ulp_next_down(x, f);
        const size_t side = i % 6 / 2; /* below half of the gap, at it, above it */
        double u = (next - x) / 2 * (1 + ((double)side - 1) * 0x1p-20);
        if (next == x || isinf(next)) continue;
        t->count++;
        t->against_criterion += (ulp_round_pair(x, u, f, (ulp_rule){0}, 0) == x) != stays(x, u, f);
    }
}

/* Allocates the arrays for n weights. The caller sets backend, format and formats before. update_counts_end() releases
 * the arrays, and accepts a struct of zeros. */
static ulp_status update_counts_start(update_counts *w, size_t n) {
    w->n = n;
    w->before = malloc(5 * n * sizeof *w->before);
    w->weight = w->backend->alloc(n * sizeof(float));
    w->sum = w->backend->alloc(n * sizeof(float));
    if (w->before == NULL || w->weight == NULL || w->sum == NULL) return ULP_NO_MEMORY;
    w->after = w->before + n;
    w->direction = w->after + n;
    w->host = w->direction + n; /* (2 n) */
    return ULP_OK;
}

static void update_counts_end(update_counts *w) {
    if (w->weight != NULL) w->backend->release(w->weight);
    if (w->sum != NULL) w->backend->release(w->sum);
    free(w->before);
}

/* ---- rows ---- */

/* A row of the task's run. If layer or format is NULL, its cell is empty. */
static row row_of(const ulp_task *task, int what, int64_t step, const char *layer, const ulp_format *format) {
    const point *at = task->point;
    row r;
    ulp_row_clear(task->rows, &r);
    r.seed = (int64_t)at->seed;
    r.run = at->format ? at->format->name : "binary32";
    r.mode = at->mode ? at->mode->name : "rne";
    r.what = what;
    r.step = step;
    r.layer = layer;
    if (format) r.format = format->name;
    return r;
}

static void put_tally(const ulp_task *task, row r, const tally *t) {
    r.tally = *t;
    r.bin.count = t->count;
    ulp_row_put(task->rows, &r);
}

static void put_shares(const ulp_task *task, int64_t step, const update_counts *w, const ulp_net *net,
                       const ulp_format *f) {
    for (size_t l = 0; l <= LAYERS; l++) {
        char name[112] = ALL_LAYERS;
        if (w->at[l].count == 0) continue;
        if (l < ALL) snprintf(name, sizeof name, "%zu %s", l, net->layers[l].word);
        put_tally(task, row_of(task, SHARE, step, name, f), &w->at[l]);
    }
    if (step > 0) return;
    tally edges = {0};
    update_counts_edges(w, f, &edges);
    put_tally(task, row_of(task, EDGE, step, ALL_LAYERS, f), &edges);
}

static void put_value(const ulp_task *task, int what, int64_t step, double value) {
    row r = row_of(task, what, step, NULL, NULL);
    r.value = value;
    ulp_row_put(task->rows, &r);
}

/* ---- the grid: per seed the observed run, and one run per format and mode without master weights ---- */

static void list_points(ulp_plan *plan, const settings *set) {
    for (int64_t s = 0; s < set->lesson.seeds; s++) {
        point p = {.seed = set->lesson.seed + (uint64_t)s};
        ulp_plan_add(plan, &p, 1.5, "seed %llu observed", (unsigned long long)p.seed);
        for (size_t i = 0; i < set->formats.count; i++)
            for (size_t m = 0; m < set->modes.count && strcmp(set->formats.at[i].name, "binary32") != 0; m++) {
                p.format = &set->formats.at[i];
                p.mode = &set->modes.at[m];
                ulp_plan_add(plan, &p, 1, "seed %llu %s %s", (unsigned long long)p.seed, p.format->name, p.mode->name);
            }
    }
}

static ulp_status plan(ulp_plan *plan) {
    const settings *set = plan->settings;
    if (set->looks > set->steps)
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT, "--looks %lld: more than --steps %lld", (long long)set->looks,
                             (long long)set->steps);
    ULP_TRY(ulp_lesson_load(plan, plan->context, &set->lesson));
    ulp_plan_note(
        plan, "update",
        "u = -rate' v: the binary32 rate of the step times its momentum, exact; lost: w + u rounded once, rne, is w");
    list_points(plan, set);
    return ULP_OK;
}

/* ---- one run ---- */

/* Counts the updates of the step that the trainer made last, in all formats. */
static ulp_status look_at_all(const ulp_task *task, update_counts *w, const ulp_trainer *t) {
    const int64_t step = (int64_t)t->step - 1;
    const float rate = (float)ulp_rate_at(&t->optimizer.rule, (uint64_t)step);
    const float *direction = t->optimizer.momentum ? t->optimizer.momentum : t->model.wgrad;
    row bins = row_of(task, BIN, step, ALL_LAYERS, NULL);
    ULP_TRY(ulp_trainer_weights(t, w->after, NULL));
    ULP_TRY(w->backend->download(w->direction, direction, w->n * sizeof(float)));
    update_counts_ratios(w, (double)rate);
    ulp_bins_put(task->rows, &bins, &bins.bin, &bins.what, &w->ratio);
    for (size_t i = 0; i < w->formats; i++) {
        ULP_TRY(update_counts_round(w, &t->model.net, rate, direction, &w->format[i]));
        put_shares(task, step, w, &t->model.net, &w->format[i]);
    }
    return ULP_OK;
}

static ulp_status put_scores(const ulp_task *task, ulp_trainer *t) {
    const int64_t steps = ((const settings *)task->settings)->steps;
    ulp_score train_part = {0}, test_part = {0};
    ULP_TRY(ulp_trainer_score(t, ULP_TRAIN_PART, &train_part));
    ULP_TRY(ulp_trainer_score(t, ULP_TEST_PART, &test_part));
    put_value(task, TRAIN_LOSS, steps, train_part.loss);
    put_value(task, TRAIN_ACCURACY, steps, train_part.accuracy);
    put_value(task, TEST_ACCURACY, steps, test_part.accuracy);
    return ULP_OK;
}

/* Runs the training steps. If w is NULL, no updates are counted. */
static ulp_status train(const ulp_task *task, ulp_trainer *t, update_counts *w) {
    const settings *set = task->settings;
    const unsigned long long seed = ((const point *)task->point)->seed;
    int64_t looks = 0, since = 0;
    ulp_status status = w ? update_counts_start(w, t->model.net.params) : ULP_OK;
    double loss = 0;
    for (int64_t i = 0; i < set->steps && status == ULP_OK; i++) {
        ulp_step step;
        const int is_look = i == look_step(set, looks);
        if (w && is_look) status = ulp_trainer_weights(t, w->before, NULL);
        if (status == ULP_OK) status = ulp_trainer_step(t, &step);
        if (status != ULP_OK) break;
        if (w && !isfinite(step.loss))
            return ulp_task_fail(task, ULP_BAD_ARGUMENT,
                                 "--rate %g: the binary32 run of seed %llu diverges at step %lld", set->rate, seed,
                                 (long long)i);
        loss += step.loss;
        since++;
        if (is_look) {
            put_value(task, TRACE, i, loss / (double)since);
            loss = 0;
            since = 0;
            looks++;
            if (w) status = look_at_all(task, w, t);
        }
        if (ulp_task_progress(task, (double)i / (double)set->steps)) break;
    }
    if (status == ULP_OK) status = put_scores(task, t);
    if (status == ULP_OK) return ULP_OK;
    return ulp_task_fail(task, status, "the training run of seed %llu: %s", seed, ulp_status_text(status));
}

/* Makes the trainer of a point. The weights have the format and the mode of the point, everything else is binary32. */
static ulp_status start(ulp_trainer **t, const ulp_task *task) {
    const settings *set = task->settings;
    const ulp_lesson *x = task->context;
    const point *at = task->point;
    ulp_method m =
        at->format ? ulp_method_sgd(set->rate, set->momentum) : ulp_lesson_plain(x, set->rate, set->momentum);
    m.optimizer.cosine = set->schedule == COSINE ? (uint32_t)set->steps : 0;
    if (at->format) {
        ULP_TRY(ulp_policy_set(&m.policy, ULP_AT_WEIGHT, at->format, ULP_UNSCALED, 0));
        m.policy.at[ULP_AT_WEIGHT].rule = at->mode->rule;
    }
    const ulp_train_options o = ulp_lesson_options(x, &m, at->seed);
    ULP_TRY(ulp_training_open(t, task, &x->data, &o));
    if ((*t)->model.net.count > LAYERS)
        return ulp_task_fail(task, ULP_BAD_ARGUMENT, "--net has %zu layers, at most %d are looked at",
                             (*t)->model.net.count, LAYERS);
    if ((*t)->model.net.params == 0)
        return ulp_task_fail(task, ULP_BAD_ARGUMENT, "--net '%s' has no parameters", set->lesson.net);
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    update_counts w = {.backend = set->lesson.backend, .format = set->formats.at, .formats = set->formats.count};
    ulp_trainer *t = NULL;
    ulp_status status = start(&t, task);
    if (status == ULP_OK) status = train(task, t, ((const point *)task->point)->format ? NULL : &w);
    ulp_training_close(task, t);
    update_counts_end(&w);
    return status;
}

const ulp_experiment experiment = {
    .name = "update_ratio",
    .question = "how large are weights compared with their updates, and which updates can a format still add?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(ulp_lesson),
    .release = ulp_lesson_release,
};
