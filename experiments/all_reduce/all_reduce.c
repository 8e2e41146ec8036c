/* all_reduce.c - gradients of 2 to 4096 ranks become one mean: which order, format and place of the division keep it?
 *
 * A reduction (kernels/reduction/reduction.h, `ulp help reductions`) adds the arrays of R ranks and divides by R. Each
 * partial sum is rounded once to the format. The numbers of the ranks are
 *
 *   1          equal gradients: a ring adds them one after another and stops at 2^p
 *   64, 2^-20  equal gradients whose sum overflows binary16, or whose quotient by R underflows
 *   normal     N(0,1); uniform: U[0,1]; rounded to binary32. The errors are relative to the mean magnitude of an
 *              element over the ranks. `bound` is (1 + u)^k - 1 for an element that passes through k roundings with
 *              |error| <= u, if nothing overflows or underflows: u = 2^-p to nearest, 2^(1-p) in other modes
 *   training   a network learns the digits with R ranks of B/R samples each. Weights and all other numbers are in
 *              binary32, so only the reduction differs between the runs. `moved` is the distance of the weights to a
 *              run with one rank, relative to its weights. The gradients carry a loss
 *              scale that is halved after an overflow.
 *
 * With `mpirun -n N`, the N processes are the ranks of the points with N ranks, and exchange messages; other points are
 * simulated as in one process. The CSV is the same.
 */
#include "all_reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/normal.h"
#include "sim/optim/update.h"

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "fp32,fp16,bf16,e5m2,e4m3", "fp16,bf16,e4m3", ulp_format_with_sign,
                          ULP_WANTS_WITH_SIGN),
    ULP_OPTION_MODES_OF(settings, modes, "rne,sra", NULL),
    ULP_OPTION(settings, orders, choices, "all", .words = ulp_reduction_orders, .help = "orders of the sums"),
    ULP_OPTION(settings, means, choices, "all", .words = ulp_reduction_means,
               .help = "where the sum becomes a mean, for equal gradients; random ones are divided after the sum"),
    ULP_OPTION(settings, ranks, integers, "2,4,8,16,32,64,128,256,512,1024,2048,4096", .quick = "2,16,256,1024,4096",
               .min = 1, .max = ULP_RANKS_MAX, .help = "numbers of ranks"),
    ULP_OPTION(settings, node, integer, "8", .min = 1, .max = ULP_RANKS_MAX, .help = "ranks of a node of two-level"),
    ULP_OPTION(settings, elements, integer, "64", .quick = "16", .full = "1024", .min = 1, .max = 1e6,
               .help = "elements of an array of random or equal gradients"),
    ULP_OPTION(
        settings, reductions, reductions,
        "ring:fp32,ring:fp16,ring:bf16,tree:bf16,ring:e5m2,tree:e5m2,ring:e4m3,tree:e4m3,two-level:e4m3,ring:e4m3:sr",
        .quick = "ring:fp32,ring:e4m3,tree:e4m3", .help = "reductions of the trainings"),
    ULP_OPTION_AS(settings, train_ranks, "train-ranks", integers, "2,8,32,128", .quick = "2,32",
                  .full = "2,4,8,16,32,64,128", .min = 1, .max = ULP_RANKS_MAX,
                  .help = "numbers of ranks of the trainings; they divide the batch"),
    ULP_OPTION_NET(settings, lesson, "fc32 relu fc10", NULL, NULL),
    ULP_OPTION_BATCH(settings, lesson, "128"),
    ULP_OPTION(settings, steps, integer, "80", .quick = "40", .full = "400", .min = 1, .max = 1e7,
               .help = "training steps"),
    ULP_OPTION(settings, rate, number, "0.2", .help = "learning rate", .max = 1000),
    ULP_OPTION(settings, momentum, number, "0.9", .help = "momentum", .max = 1),
    ULP_OPTION(settings, scale, integer, "2", .min = -24, .max = 24,
               .help = "log2 of the loss scale at the start; it is halved on overflow, and the step is skipped"),
    ULP_OPTIONS_OF_RUNS(settings, lesson, "2", "1", "5"),
    {0},
};

static const ulp_column columns[] = {
    ULP_WORDS(row, data, DATA_WORDS),
    ULP_COLUMNS(row, reduction),
    ULP_WORDS(row, order, ORDER_WORDS),
    ULP_COLUMNS(row, format, mode),
    ULP_WORDS(row, mean, MEAN_WORDS),
    ULP_COLUMNS(row, ranks, seed, value, error, worst, bound),
    ULP_COLUMNS(row, loss, accuracy, loss_change, moved, skipped, scale_log2, diverged),
    {0}};

/* ---- plan ---- */

/* The points of one kind of numbers and one reduction: one for each number of ranks. */
static void add_ranks(ulp_plan *plan, point p, const ulp_integer_list *ranks) {
    char text[ULP_REDUCTION_TEXT_MAX];
    ulp_reduction_print(text, sizeof text, &p.how);
    for (size_t i = 0; i < ranks->count; i++) {
        p.ranks = (size_t)ranks->at[i];
        const double cost = (double)p.ranks * (p.data == TRAINING ? 400 : p.how.order == ULP_REDUCE_RING ? 3 : 1);
        ulp_plan_add(plan, &p, cost, "%s %s ranks %zu seed %llu", ulp_word_of(DATA_WORDS, (size_t)p.data).text, text,
                     p.ranks, (unsigned long long)p.seed);
    }
}

/* Whether equal or random numbers are reduced in this way: 64 and 2^-20 are about binary16. */
static int has_points(const settings *s, int data, const point *p) {
    if (data != NORMAL && data != UNIFORM && !(s->means >> p->how.mean & 1)) return 0;
    if ((data == NORMAL || data == UNIFORM) && p->how.mean != ULP_MEAN_AFTER) return 0;
    if (data == LARGE || data == TINY)
        return p->how.rule.mode == ULP_RNE && strcmp(p->how.format.name, "binary16") == 0;
    return 1;
}

static ulp_status add_format(ulp_plan *plan, const settings *s, int data, const ulp_format *format) {
    ulp_error why;
    point p = {.data = data, .seed = s->lesson.seed};
    for (size_t m = 0; m < s->modes.count; m++) {
        const ulp_status status = ulp_reduction_init(&p.how, format, s->modes.at[m].rule, &why);
        if (status != ULP_OK) return ulp_plan_fail(plan, status, "--formats, --modes: %s", why.text);
        p.how.node = (uint16_t)s->node;
        for (p.how.order = 0; p.how.order < ULP_REDUCE_ORDERS; p.how.order++)
            for (p.how.mean = 0; p.how.mean < ULP_MEANS; p.how.mean++)
                if (s->orders >> p.how.order & 1 && has_points(s, data, &p)) add_ranks(plan, p, &s->ranks);
    }
    return ULP_OK;
}

/* The result of a sum outside the range of the format: inf, nan, sat, ... */
static const char *overflow_of(const ulp_reduction *how) {
    const int overflow = how->rule.overflow ? how->rule.overflow : how->format.overflow;
    return ulp_overflow_name(overflow == ULP_OVERFLOW_INF && !how->format.has_inf ? ULP_OVERFLOW_NAN
                                                                                  : (ulp_overflow)overflow);
}

/* Add a blank and a format with the overflow of its sums to the text, unless the text has them. */
static void add_overflow(ulp_text *to, const ulp_reduction *how) {
    char item[ULP_NAME_MAX + 16];
    snprintf(item, sizeof item, " %s=%s", how->format.name, overflow_of(how));
    if (!strstr(ulp_text_of(to), item)) ulp_text_print(to, "%s", item);
}

/* The header line about overflow: sums of gradients do not saturate where other numbers of the format do. */
static void note_overflows(ulp_plan *plan, const settings *s) {
    ulp_text text = {0};
    ulp_reduction how;
    for (size_t f = 0; f < s->formats.count; f++)
        if (ulp_reduction_init(&how, &s->formats.at[f], (ulp_rule){0}, NULL) == ULP_OK) add_overflow(&text, &how);
    for (size_t i = 0; i < s->reductions.count; i++) add_overflow(&text, &s->reductions.at[i].reduction);
    ulp_plan_note(plan, "overflow of sums", "%s", text.length ? text.data + 1 : "");
    ulp_text_free(&text);
}

/* ---- trainings ---- */

typedef struct context {
    ulp_lesson lesson;
    ulp_method method;
} context;

static ulp_train_options options_of(const context *x, const point *p) {
    ulp_train_options o = ulp_lesson_options(&x->lesson, &x->method, p->seed);
    o.ranks = p->ranks;
    o.reduction = &p->how;
    return o;
}

static ulp_status plan_trainings(ulp_plan *plan, const settings *s, context *x) {
    ulp_status status = ulp_lesson_load(plan, &x->lesson, &s->lesson);
    x->method = ulp_lesson_plain(&x->lesson, s->rate, s->momentum);
    x->method.scaler = *ulp_scaler_rule_find("backoff");
    x->method.scaler.init = (int16_t)s->scale;
    for (size_t r = 0; r < s->train_ranks.count && status == ULP_OK; r++) {
        const point p = {.ranks = (size_t)s->train_ranks.at[r], .how = s->reductions.at[0].reduction};
        const ulp_train_options o = options_of(x, &p);
        status = ulp_training_check(plan, &x->lesson.data, &o);
    }
    for (size_t i = 0; i < s->reductions.count && status == ULP_OK; i++)
        for (uint64_t seed = s->lesson.seed; seed < s->lesson.seed + (uint64_t)s->lesson.seeds; seed++)
            add_ranks(plan, (point){.data = TRAINING, .how = s->reductions.at[i].reduction, .seed = seed},
                      &s->train_ranks);
    return status;
}

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    ulp_status status = plan_trainings(plan, s, plan->context);
    note_overflows(plan, s);
    for (int data = ONES; data < TRAINING; data++)
        for (size_t f = 0; f < s->formats.count && status == ULP_OK; f++)
            status = add_format(plan, s, data, &s->formats.at[f]);
    return status;
}

/* ---- reducing equal or random numbers, and the errors of the result ---- */

/* A row of a point, with empty cells of results. */
static row row_of(const ulp_task *task, char text[ULP_REDUCTION_TEXT_MAX]) {
    const point *p = task->point;
    row r;
    ulp_row_clear(task->rows, &r);
    ulp_reduction_print(text, ULP_REDUCTION_TEXT_MAX, &p->how);
    r.data = p->data;
    r.reduction = text;
    r.format = p->how.format.name;
    r.mode = ulp_mode_name((ulp_mode)p->how.rule.mode);
    r.order = p->how.order;
    r.mean = p->how.mean;
    r.ranks = (int64_t)p->ranks;
    r.seed = (int64_t)p->seed;
    return r;
}

/* x (n) = the numbers of a rank. */
static void fill(float *x, size_t n, const point *p, size_t rank) {
    ulp_stream stream = ulp_stream_named(p->seed, "all_reduce %s", ulp_word_of(DATA_WORDS, (size_t)p->data).text);
    stream.first = (uint64_t)rank << 32;
    for (size_t i = 0; i < n; i++) {
        switch (p->data) {
        case ONES: x[i] = 1.0f; break;
        case LARGE: x[i] = 64.0f; break;
        case TINY: x[i] = 0x1p-20f; break;
        case NORMAL: x[i] = (float)ulp_random_normal(stream, i); break;
        default: x[i] = (float)ulp_random_uniform(stream, i); break;
        }
    }
}

/* to (n) = the numbers of a rank after their first rounding, backend memory; scratch (n): host memory. */
static ulp_status enter(const ulp_reduction_job *job, float *to, float *scratch, const point *p, size_t n,
                        size_t rank) {
    fill(scratch, n, p, rank);
    ULP_TRY(job->backend->upload(to, scratch, n * sizeof *to));
    return ulp_reduction_enter(job, to, to, n, rank);
}

/* result (n) = the mean, host memory. rows (ranks,n): backend memory; of processes that are a rank each only row 0. */
static ulp_status reduce(const ulp_task *task, const ulp_reduction_job *job, float *result, float *rows, size_t n) {
    const point *p = task->point;
    const ulp_ranks *ranks = task->ranks;
    const ulp_backend *backend = job->backend;
    if (ranks) ULP_TRY(enter(job, rows, result, p, n, ranks->rank));
    for (size_t r = 0; !ranks && r < p->ranks; r++) ULP_TRY(enter(job, rows + r * n, result, p, n, r));
    ULP_TRY(ranks ? ulp_reduction_sum_over(job, ranks, rows, n) : ulp_reduction_sum(job, rows, n));
    return backend->download(result, rows, n * sizeof *result);
}

/* The roundings that an element passes through, in the format. */
static uint64_t roundings_of(const point *p) {
    const size_t R = p->ranks, nodes = (R + p->how.node - 1) / p->how.node;
    uint64_t steps = 0;
    while ((size_t)1 << steps < R) steps++;
    switch ((ulp_reduction_order)p->how.order) {
    case ULP_REDUCE_RING: return R - 1 + 2;
    case ULP_REDUCE_TREE:
    case ULP_REDUCE_DOUBLING: return steps + 2;
    case ULP_REDUCE_TWO_LEVEL: return nodes - 1 + 2;
    case ULP_REDUCE_ORDERS: break;
    }
    return 0;
}

static double bound_of(const point *p) {
    const double u = ldexp(1, p->how.rule.mode == ULP_RNE ? -p->how.format.prec : 1 - p->how.format.prec);
    double factor = ulp_power(1 + u, roundings_of(p));
    if (p->how.order == ULP_REDUCE_TWO_LEVEL) factor *= ulp_power(1 + 0x1p-24, p->how.node);
    return factor - 1;
}

/* Errors of result (n), with sums in the order of the ranks. */
static void put_errors(row *r, const float *result, const point *p, size_t n) {
    double *mean = ulp_grow(NULL, 2 * n * sizeof *mean), *size = mean + n, sum = 0, squares = 0, worst = 0;
    float *x = ulp_grow(NULL, n * sizeof *x);
    for (size_t i = 0; i < 2 * n; i++) mean[i] = 0;
    for (size_t k = 0; k < p->ranks; k++) {
        fill(x, n, p, k);
        for (size_t i = 0; i < n; i++) {
            mean[i] += (double)x[i] / (double)p->ranks;
            size[i] += fabs((double)x[i]) / (double)p->ranks;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const double error = fabs((double)result[i] - mean[i]) / size[i];
        sum += (double)result[i];
        squares += error * error;
        worst = error > worst || error != error ? error : worst;
    }
    r->value = sum / (double)n;
    r->error = sqrt(squares / (double)n);
    r->worst = worst;
    r->bound = bound_of(p);
    free(mean);
    free(x);
}

/* Reduces the numbers of a point that is no training, and puts its row. */
static ulp_status measure(const ulp_task *task) {
    const settings *s = task->settings;
    const point *p = task->point;
    const size_t n = (size_t)s->elements;
    const ulp_backend *backend = s->lesson.backend;
    char text[ULP_REDUCTION_TEXT_MAX];
    row r = row_of(task, text);
    const ulp_reduction_job job = {&p->how, backend, ulp_stream_named(p->seed, "all_reduce sum %s", text), p->ranks};
    float *rows = backend->alloc(p->ranks * n * sizeof *rows), *result = malloc(n * sizeof *result);
    const ulp_status status = rows && result ? reduce(task, &job, result, rows, n) : ULP_NO_MEMORY;
    if (status == ULP_OK) {
        put_errors(&r, result, p, n);
        ulp_row_put(task->rows, &r);
    }
    if (rows) backend->release(rows);
    free(result);
    return status;
}

/* ---- trainings: their points ---- */

/* The distance of two runs' weights, relative to the weights of the first run. */
static ulp_status compare_weights(double *moved, const ulp_trainer *one, const ulp_trainer *many) {
    const size_t n = one->model.net.params;
    float *w = ulp_grow(NULL, 2 * n * sizeof *w);
    double apart = 0, size = 0;
    ulp_status status = ulp_trainer_weights(one, w, NULL);
    if (status == ULP_OK) status = ulp_trainer_weights(many, w + n, NULL);
    for (size_t i = 0; i < n && status == ULP_OK; i++) {
        const double d = (double)w[n + i] - (double)w[i];
        apart += d * d;
        size += (double)w[i] * (double)w[i];
    }
    *moved = sqrt(apart / size);
    free(w);
    return status;
}

/* Compare the end of a training with a run of one rank. */
static ulp_status compare_with_one(const ulp_task *task, const ulp_trainer *many, row *r) {
    const settings *s = task->settings;
    const context *x = task->context;
    ulp_train_options o = options_of(x, task->point);
    ulp_trainer *one;
    ulp_score learned;
    o.ranks = 1;
    ulp_status status = ulp_training_before(&one, task, &x->lesson.data, &o, (uint64_t)s->steps, 1);
    if (status == ULP_OK) status = ulp_trainer_score(one, ULP_TRAIN_PART, &learned);
    if (status == ULP_OK) status = compare_weights(&r->moved, one, many);
    if (status == ULP_OK) r->loss_change = r->loss - learned.loss;
    ulp_training_close(task, one);
    return status;
}

static ulp_status record(const ulp_task *task, const ulp_trainer *t, const ulp_stretch *stretch) {
    char text[ULP_REDUCTION_TEXT_MAX];
    if (!stretch->final) return ULP_OK;
    row r = row_of(task, text);
    r.loss = stretch->loss;
    r.accuracy = stretch->test.accuracy;
    r.skipped = (int64_t)t->scaler.skipped;
    r.scale_log2 = t->scaler.log2;
    r.diverged = stretch->diverged;
    ULP_TRY(compare_with_one(task, t, &r));
    ulp_row_put(task->rows, &r);
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    const point *p = task->point;
    const context *x = task->context;
    if (p->data != TRAINING) return measure(task);
    ulp_training training = ulp_lesson_training(&x->lesson, &x->method, p->seed);
    training.options = options_of(x, p);
    training.options.group = task->ranks;
    training.steps = training.every = (uint64_t)s->steps;
    training.record = record;
    return ulp_training_run(task, &training);
}

static size_t ranks_of(const void *at) { return ((const point *)at)->ranks; }

const ulp_experiment experiment = {
    .name = "all_reduce",
    .question = "gradients of many ranks become one mean: which order, format and place of the division keep it?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .ranks = ranks_of,
    .context_size = sizeof(context),
    .release = ulp_lesson_release,
};
