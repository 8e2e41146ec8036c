/* cartoon_sgd.c - gradient ascent on a parabola, every operation rounded: where do updates stop moving the weight?
 *
 * The experiment maximizes Q(w) = -(w - 3)^2 + 3 from w = 0 with rate 0.01. An update computes d = 3 - w, g = 2 d,
 * u = rate g and w <- w + u. Each operation is rounded once. The rate is first rounded to the format (rne). The update
 * u is about 0.02 d. Near the top, u is less than half the spacing of the numbers at w, and w does not move although
 * the gradient is not 0.
 *
 * Two cures are tried under rne:
 *
 *  - kahan: the update is compensated, in the format (Kahan 1965, doi:10.1145/363707.363723)
 *  - master: weight, rate and update are in binary32. d and g are computed in the format, from the weight rounded to
 *    the format (Micikevicius et al. 2018, arXiv 1710.03740, section 3.1).
 *
 * Stochastic rounding of every operation is measured over many runs. No run goes beyond 3: u is at most d, and 3 is a
 * number of the format, so w + u, at most 3, rounds to at most 3. Once w is 3, d is 0 and w stays. Without rounding, w
 * after k updates is 3 (1 - (1 - 2 rate)^k). Stochastic rounding is unbiased and every operation is linear, so this is
 * the mean of the runs too.
 *
 * The kinds of rows:
 *
 *  - path: one run
 *  - stop: the number of updates after which nothing moves
 *  - open: the weight still moves after --updates updates
 *  - spread: a summary of all runs of a stochastic mode
 *
 * The column weight is the number that the updates are added to: the master copy, or without a master copy the weight
 * in the format. The column value is the weight in the format.
 */
#include "cartoon_sgd.h"

#include <stdlib.h>

static int takes_format(const ulp_format *f) {
    return f->fits_binary32 && f->is_signed && f->has_zero && ulp_round(3, f, (ulp_rule){0}, 0) == 3;
}

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, ULP_SUM_FORMATS, NULL, takes_format,
                          "has to lie within binary32 and to hold 0, 3 and negative numbers"),
    ULP_OPTION_MODES_OF(settings, modes, "rne,rz,ru,sra", NULL),
    ULP_OPTION(settings, rate, number, "0.01", .help = "step size", .min = 1e-6, .max = 0.25),
    ULP_OPTION(settings, updates, integer, "2000", .full = "10000", .help = "updates at most", .min = 1, .max = 1e5),
    ULP_OPTION_RUNS(settings, runs, "1000", "300", "20000"),
    ULP_OPTION_PATHS(settings, paths, "3"),
    ULP_OPTION_SEED(settings, seed),
    {0},
};

static const ulp_column columns[] = {
    ULP_SUM_COLUMNS_OF(row, key, WHAT_WORDS),
    ULP_COLUMNS(row, update, weight, value, code),
    ULP_DISTRIBUTION_COLUMNS_OF(row, runs),
    {0},
};

static ulp_status plan(ulp_plan *plan, const void *own, void *context) {
    const settings *s = own;
    (void)context;
    ulp_sum_points(plan, &(ulp_sum_grid){&s->formats, &s->modes, cures, CURES, {1, 500, 1}, {1, 3000, 1}});
    return ULP_OK;
}

/* ---- rows ---- */

static row row_of(const ulp_rows *rows, ulp_sum_key key, int64_t update) {
    row r;
    ulp_row_clear(rows, &r);
    r.key = key;
    r.update = update;
    return r;
}

static void put_value(ulp_rows *rows, row r, const ulp_format *format, double weight, double value) {
    r.weight = weight;
    r.value = value;
    r.code = (ulp_code){format, value};
    ulp_row_put(rows, &r);
}

/* ---- one ascent ---- */

/* An ascent in progress: the weight, to which updates are added, and the rate. */
typedef struct ascent {
    ulp_sum weight;
    double rate;
} ascent;

/* The number that the updates are added to. */
static double kept_weight(const ulp_sum *w) { return w->cure == ULP_CURE_MASTER ? w->kept : w->value; }

static void step(ascent *s) {
    ulp_sum *w = &s->weight;
    const double d = ulp_arith((ulp_scalar_op){ULP_SUB, 3, w->value, 0}, w->format, w->rule, 0),
                 gradient = ulp_arith((ulp_scalar_op){ULP_MUL, 2, d, 0}, w->format, w->rule, 0);
    if (w->cure == ULP_CURE_MASTER) ulp_sum_add(w, (double)((float)s->rate * (float)gradient), 0);
    else ulp_sum_add(w, ulp_arith((ulp_scalar_op){ULP_MUL, s->rate, gradient, 0}, w->format, w->rule, 0), 0);
}

static void put_weight(ulp_rows *rows, const ulp_sum *w, int what, int64_t update) {
    put_value(rows, row_of(rows, ulp_sum_key_of(w, what, 1), update), w->format, kept_weight(w), w->value);
}

/* Ascends until the state repeats. Each state depends on the state before alone, so nothing changes from then on. */
static void put_ascent(ulp_rows *rows, ascent s, int64_t updates) {
    const ulp_sum *w = &s.weight;
    int64_t k = 0, last = 0;
    int moves = 1;
    put_weight(rows, w, PATH, 0);
    while (moves && k < updates) {
        const ulp_sum before = *w;
        step(&s);
        k++;
        moves = !ulp_same(w->value, before.value) || !ulp_same(w->kept, before.kept);
        if (!ulp_same(kept_weight(w), kept_weight(&before))) last = k;
        put_weight(rows, w, PATH, k);
    }
    put_weight(rows, w, moves ? OPEN : STOP, moves ? updates : last);
}

/* ---- many ascents ---- */

enum { DIFFERENCE, GRADIENT, UPDATE, WEIGHT, OPERATIONS };

/* w, d and u of all runs, and the constants of the updates. */
typedef struct crowd {
    const ulp_backend *cpu;
    ulp_stream stream[OPERATIONS];
    size_t runs;
    float *w, *d, *u; /* (runs) each, as are three, two and rate */
    float *three, *two, *rate;
} crowd;

static ulp_status crowd_new(crowd *c, const settings *set, const ascent *s) {
    static const char *const names[OPERATIONS] = {"difference", "gradient", "update", "weight"};
    const size_t runs = (size_t)set->runs;
    ULP_TRY(ulp_backend_get(&c->cpu, "cpu"));
    c->runs = runs;
    c->w = c->cpu->alloc(6 * runs * sizeof *c->w);
    if (!c->w) return ULP_NO_MEMORY;
    c->d = c->w + runs;
    c->u = c->d + runs;
    c->three = c->u + runs;
    c->two = c->three + runs;
    c->rate = c->two + runs;
    for (size_t i = 0; i < runs; i++) {
        c->w[i] = 0;
        c->three[i] = 3;
        c->two[i] = 2;
        c->rate[i] = (float)s->rate;
    }
    for (int i = 0; i < OPERATIONS; i++)
        c->stream[i] =
            ulp_stream_named(set->seed, "cartoon_sgd %s %s %s", s->weight.format->name, s->weight.mode, names[i]);
    return ULP_OK;
}

/* Computes update k. Run i takes word k 2^32 + i of the streams of the four operations, so no run depends on the number
 * of runs. */
static ulp_status update_all(crowd *c, const ulp_sum *s, int64_t k) {
    const struct {
        ulp_op op;
        float *to;
        const float *a, *b;
    } operations[OPERATIONS] = {[DIFFERENCE] = {ULP_SUB, c->d, c->three, c->w},
                                [GRADIENT] = {ULP_MUL, c->u, c->two, c->d},
                                [UPDATE] = {ULP_MUL, c->u, c->rate, c->u},
                                [WEIGHT] = {ULP_ADD, c->w, c->w, c->u}};
    for (int i = 0; i < OPERATIONS; i++) {
        c->stream[i].first = (uint64_t)k << 32;
        ULP_TRY(ulp_backend_map(c->cpu, operations[i].to,
                                (ulp_array_op){operations[i].op, operations[i].a, operations[i].b, NULL}, c->runs,
                                (ulp_rounding){s->format, s->rule, c->stream[i], NULL}));
    }
    return ULP_OK;
}

static void put_crowd(const ulp_task *task, const ulp_sum *s, const crowd *c, int64_t k) {
    const settings *set = task->settings;
    ulp_rows *rows = task->rows;
    double *values = ulp_grow(NULL, c->runs * sizeof *values);
    for (size_t i = 0; i < c->runs; i++) values[i] = (double)c->w[i];
    for (int64_t i = 0; i < set->paths && i < set->runs; i++)
        put_value(rows, row_of(rows, ulp_sum_key_of(s, PATH, i + 1), k), s->format, values[i], values[i]);
    row r = row_of(rows, ulp_sum_key_of(s, SPREAD, 0), k);
    r.runs = ulp_distribution_of(values, c->runs);
    ulp_row_put(rows, &r);
    free(values);
}

static ulp_status put_ensemble(const ulp_task *task, const ascent *s) {
    const settings *set = task->settings;
    crowd c = {0};
    ulp_status status = crowd_new(&c, set, s);
    for (int64_t k = 0; k <= set->updates && status == ULP_OK; k++) {
        if (k > 0) status = update_all(&c, &s->weight, k);
        if ((k % EVERY != 0 && k < set->updates) || status != ULP_OK) continue;
        put_crowd(task, &s->weight, &c, k);
        if (ulp_task_progress(task, (double)k / (double)set->updates)) break;
    }
    if (c.w) c.cpu->release(c.w);
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    ascent s = {.weight = ulp_sum_start(task->point)};
    s.rate = rate_in(set, s.weight.format, s.weight.cure);
    if (ulp_mode_is_stochastic(s.weight.rule.mode)) return put_ensemble(task, &s);
    put_ascent(task->rows, s, set->updates);
    return ULP_OK;
}

static const ulp_experiment experiment = {
    .name = "cartoon_sgd",
    .question =
        "Gradient ascent on a parabola, every operation rounded: where do the updates vanish, and what cures it?",
    ULP_EXPERIMENT_OF(settings, ulp_sum_point, row),
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
