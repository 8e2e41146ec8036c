/* ctc.c - the probability of a label sequence is tiny: where linear sums over paths underflow, and what learns to read.
 *
 * Sums (rows `sum` and `gone`). The forward recursion of CTC (kernels/functions/ctc.h) runs over T steps. All C
 * outputs are equally probable at every step. No two neighbours of the L labels are equal. The number of paths then has
 * a closed form:
 *
 *     -log P = T log C - log binomial(T + L, 2 L)
 *
 * The probabilities, or their logarithms, are rounded into a format first. Every operation is then rounded once to
 * nearest into the format. In binary64 there is no additional rounding. In a row `gone`, the column `steps` holds the
 * greatest T up to --longest whose linear P is above 0.
 *
 * Training (rows `curve` and `final`). A recurrent network reads strips of 4 to 6 joined digits. The position of each
 * digit is not given. The label error is the number of edits that turn the answers into the labels, divided by the
 * number of labels, on strips of digits that are not in the training part. There are two kinds of runs:
 *   - recipes: policies for all rounding points
 *   - loss formats: everything is in binary32 except the loss, whose sums over paths are formed in either form and in
 *     any of the formats
 *
 * The experiment follows Graves et al. 2006, doi:10.1145/1143844.1143891. Their section 4.1 rescales alpha at every
 * step against the underflow of the linear form. Logarithms make this rescaling unnecessary.
 */
#include "ctc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/claims/spread.h"
#include "experiments/harness/training/training.h"
#include "kernels/functions/elementary.h"
#include "sim/losses/answers.h"

/* --formats refuses binary64, because the sums always include it. */
static int takes_format(const ulp_format *f) { return strcmp(f->name, "binary64") != 0; }

#define LARGER_NET "columns4 %64 conv11@1"

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "fp32,fp16,bf16", "fp32,fp16", takes_format,
                          "the sums are formed in it, too, in any case"),
    ULP_OPTION(settings, outputs, integers, "8,11",
               .help = "equally probable outputs C of the sums, the blank included", .min = 3, .max = 255),
    ULP_OPTION(settings, labels, integers, "0,5", .help = "labels L of the sums", .max = 100),
    ULP_OPTION(settings, longest, integer, "1000", .quick = "600", .full = "4000",
               .help = "steps T of the longest sums", .min = 1, .max = 20000),
    ULP_OPTION(settings, cells, choices, "gru,lstm", .quick = "gru", .words = CELL_WORDS,
               .help = "recurrent layers; the first one learns with all forms of the loss"),
    ULP_OPTION(settings, recipes, choices, "fp32,mixed:fp16", .full = "all", .words = RECIPE_WORDS,
               .help = "what is rounded in training; mixed ones scale the loss"),
    ULP_OPTION(settings, net, text, "columns4 %32 conv11@1", .quick = LARGER_NET, .full = LARGER_NET, .topic = "nets",
               .help = "the network; % stands for the cell"),
    ULP_OPTION(settings, optimizer, text, "sgd,momentum=0.9,cosine=%", .topic = "optimizers",
               .help = "how the weights move, without the rate; % stands for the steps"),
    ULP_OPTION_AS(settings, gru_rate, "gru-rate", number, "0.05", .help = "learning rate of gru", .max = 1000),
    ULP_OPTION_AS(settings, lstm_rate, "lstm-rate", number, "0.1",
                  .help = "learning rate of lstm, which learns more slowly", .max = 1000),
    ULP_OPTION(settings, batch, integer, "16", .quick = "32", .full = "32", .help = "strips per step", .min = 1,
               .max = 12000),
    ULP_OPTION(settings, steps, integer, "600", .quick = "100", .full = "1500", .help = "of every training", .min = 1,
               .max = 1e7),
    ULP_OPTION(settings, every, integer, "50", .quick = "25", .help = "steps between two points of a curve", .min = 1,
               .max = 1e7),
    ULP_OPTION(settings, set, choice, "strips", .words = SET_WORDS, .help = "the data set"),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_SEEDS(settings, seeds, "3", "1", "5"),
    ULP_OPTION_CHECKPOINT(settings, checkpoint),
    ULP_OPTION_BACKEND_OF(settings, backend),
    ULP_OPTION_DATA(settings, data),
    ULP_OPTIONS_TRAINING(settings, how),
    {0},
};

static const ulp_column columns[] = {
    ULP_WORDS(row, kind, KIND_WORDS),
    ULP_WORDS(row, cell, CELL_WORDS),
    ULP_WORDS(row, recipe, ROW_RECIPE_WORDS),
    ULP_WORDS(row, form, FORM_WORDS),
    ULP_COLUMNS(row, format, seed, outputs, labels, steps, loss),
    ULP_COLUMNS(row, exact, error, label_error, strip_error, skipped, diverged),
    {0},
};

/* Data shared by all points. Fields for trainings that are not in the run stay empty. */
typedef struct context {
    ulp_data data;
    ulp_net net[CELLS];
    ulp_policy policy[RECIPES];
    ulp_scaler_rule scaler[RECIPES];
    ulp_policy amp[CELLS]; /* of --amp */
    ulp_scaler_rule amp_scaler[CELLS];
    ulp_optimizer_rule optimizer[CELLS];
    const ulp_loss_kind *loss[FORMS];
} context;

/* ---- the grid ---- */

static const char *const cells[CELLS] = {"gru", "lstm"};
static const struct {
    const char *policy, *scaler, *loss; /* loss: the format of the sums over paths under the policy */
} recipes[RECIPES + 1] = {
    {"fp32", "none", "binary32"}, {"mixed:fp16", "pytorch", "binary32"}, {"mixed:bf16", "none", "binary32"},
    {"fp16", "none", "binary16"}, {"bf16", "none", "bfloat16"},          {"amp", "none", "binary32"},
};
static const char *const forms[FORMS] = {"log", "linear"}, *const losses[FORMS] = {"ctc", "ctc-linear"};

static void add_sums(ulp_plan *plan, const settings *s, int form, const ulp_format *format) {
    for (size_t c = 0; c < s->outputs.count; c++)
        for (size_t l = 0; l < s->labels.count; l++) {
            const point p = {.form = form, .format = format, .outputs = s->outputs.at[c], .labels = s->labels.at[l]};
            ulp_plan_add(plan, &p, 0.1, "sums of %lld labels, %lld outputs, %s %s", (long long)p.labels,
                         (long long)p.outputs, forms[form], format ? format->name : "binary64");
        }
}

static void add_training(ulp_plan *plan, point p) {
    const double cost = p.cell == GRU ? 10 : 16;
    p.training = 1;
    if (!p.format)
        ulp_plan_add(plan, &p, cost, "%s %s seed %llu", cells[p.cell], recipes[p.recipe].policy,
                     (unsigned long long)p.seed);
    else
        ulp_plan_add(plan, &p, cost, "%s loss %s %s seed %llu", cells[p.cell], forms[p.form], p.format->name,
                     (unsigned long long)p.seed);
}

static void add_seed(ulp_plan *plan, const settings *s, uint64_t seed) {
    const int first = s->cells & 1 << GRU ? GRU : LSTM;
    for (int c = 0; c < CELLS; c++)
        for (int r = 0; r < RECIPES; r++)
            if (s->cells >> c & 1 && s->recipes >> r & 1)
                add_training(plan, (point){.cell = c, .recipe = r, .seed = seed});
    for (int c = 0; c < CELLS; c++)
        if (s->cells >> c & 1 && s->how.amp.bits) add_training(plan, (point){.cell = c, .recipe = AMP, .seed = seed});
    for (int form = 0; form < FORMS; form++)
        for (size_t f = 0; f < s->formats.count; f++) {
            const ulp_format *format = &s->formats.at[f];
            const int is_recipe = form == LOG && s->recipes & 1 << FP32 && strcmp(format->name, "binary32") == 0;
            if (!is_recipe) add_training(plan, (point){.form = form, .format = format, .cell = first, .seed = seed});
        }
}

/* ---- reading of texts ---- */

/* A text with `word` in place of every %. */
static ulp_text fill_in(const char *text, const char *word) {
    ulp_text filled = {0};
    for (const char *c = text; *c; c++) {
        if (*c == '%') ulp_text_print(&filled, "%s", word);
        else ulp_text_add(&filled, c, 1);
    }
    return filled;
}

/* Reads the network of --net for a cell and checks that it fits CTC. */
static ulp_status read_net(ulp_plan *plan, const settings *s, context *x, int cell) {
    ulp_error error;
    ulp_loss loss;
    ulp_text text = fill_in(s->net, cells[cell]);
    ulp_status status = ulp_plan_read_net(plan, &x->net[cell], ulp_text_of(&text), x->data.dims);
    ulp_text_free(&text);
    if (status != ULP_OK) return status;
    status = ulp_loss_init(&loss, NULL, x->net[cell].out, &x->data, &error);
    return status == ULP_OK ? ULP_OK : ulp_plan_fail(plan, status, "%s", error.text);
}

/* Reads --optimizer, with the number of steps filled in. The rate is that of the cell. */
static ulp_status read_optimizer(ulp_plan *plan, const settings *s, context *x) {
    ulp_error error;
    char steps[32];
    snprintf(steps, sizeof steps, "%lld", (long long)s->steps);
    ulp_text text = fill_in(s->optimizer, steps);
    ulp_status status = ulp_optimizer_parse(&x->optimizer[GRU], ulp_text_of(&text), &error);
    if (status != ULP_OK) ulp_plan_fail(plan, status, "%s", error.text);
    else if (strstr(ulp_text_of(&text), ",rate="))
        status = ulp_plan_fail(plan, ULP_BAD_ARGUMENT,
                               "--optimizer '%s': the rate is that of --gru-rate and --lstm-rate", ulp_text_of(&text));
    ulp_text_free(&text);
    x->optimizer[LSTM] = x->optimizer[GRU];
    x->optimizer[GRU].rate = s->gru_rate;
    x->optimizer[LSTM].rate = s->lstm_rate;
    return status;
}

/* Reads the policy of a recipe and checks that the optimizer works under it. */
static ulp_status read_recipe(ulp_plan *plan, const settings *s, context *x, int r) {
    ulp_error error;
    ulp_optimizer optimizer;
    x->scaler[r] = *ulp_scaler_rule_find(recipes[r].scaler);
    ulp_status status = ulp_plan_read_policy(plan, &x->policy[r], recipes[r].policy, recipes[r].policy);
    if (status != ULP_OK) return status;
    status = ulp_optimizer_init(&optimizer, &x->optimizer[GRU], &x->policy[r], &error);
    return status == ULP_OK ? ULP_OK : ulp_plan_fail(plan, status, "--optimizer '%s': %s", s->optimizer, error.text);
}

static ulp_status plan(ulp_plan *plan) {
    static const char *const sets[] = {"strips", "mnist-strips"};
    const settings *s = plan->settings;
    context *x = plan->context;
    ulp_status status = ulp_set_load(plan, &x->data, &(ulp_set){sets[s->set], s->data, s->seed});
    for (int c = 0; c < CELLS && status == ULP_OK; c++)
        if (s->cells >> c & 1) status = read_net(plan, s, x, c);
    for (int c = 0; c < CELLS && status == ULP_OK; c++)
        if (s->cells >> c & 1)
            status = ulp_plan_amp(plan, &x->amp[c], &x->amp_scaler[c], &s->how.amp, &x->net[c], cells[c]);
    if (status == ULP_OK) status = read_optimizer(plan, s, x);
    for (int r = 0; r < RECIPES && status == ULP_OK; r++) /* FP32 is always read: the runs of the loss formats use it */
        if (r == FP32 || s->recipes >> r & 1) status = read_recipe(plan, s, x, r);
    for (int form = 0; form < FORMS && status == ULP_OK; form++) {
        status = ulp_loss_parse(&x->loss[form], losses[form], NULL);
        add_sums(plan, s, form, NULL);
        for (size_t f = 0; f < s->formats.count; f++) add_sums(plan, s, form, &s->formats.at[f]);
    }
    for (int64_t i = 0; i < s->seeds; i++) add_seed(plan, s, s->seed + (uint64_t)i);
    return status;
}

static void release(void *shared) {
    context *x = shared;
    for (int c = 0; c < CELLS; c++) ulp_net_release(&x->net[c]);
    ulp_data_release(&x->data);
}

/* ---- sums over paths of equally probable outputs, by number of steps, and the same sums in closed form ---- */

typedef struct paths {
    size_t C, L, longest;
    ulp_ctc_form form;
    double *p, *alpha; /* (C,T) and (T,2 L + 1) */
    uint8_t label[100];
} paths;

static double sum_of_paths(const paths *s, size_t T) {
    return ulp_ctc_alpha(s->alpha, s->p, &(ulp_ctc_task){s->label, s->L, s->C, T}, &s->form);
}

static ulp_status paths_new(paths *s, const point *at, size_t longest) {
    *s = (paths){.C = (size_t)at->outputs, .L = (size_t)at->labels, .longest = longest};
    s->form = ulp_ctc_form_of(at->form == LINEAR, (ulp_rounding){.format = at->format, .rule = {.mode = ULP_RNE}});
    for (size_t i = 0; i < s->L; i++) s->label[i] = (uint8_t)(i % (s->C - 1));
    s->p = malloc(s->C * s->longest * sizeof *s->p);
    s->alpha = malloc(s->longest * (2 * s->L + 1) * sizeof *s->alpha);
    if (!s->p || !s->alpha) return ULP_NO_MEMORY;
    double p = s->form.linear ? 1.0 / (double)s->C : -ulp_log((double)s->C);
    if (at->format) p = ulp_round(p, at->format, s->form.rounding.rule, 0);
    for (size_t i = 0; i < s->C * s->longest; i++) s->p[i] = p;
    return ULP_OK;
}

/* The greatest T whose sum over paths did not underflow. The alpha of the longest T begins with the alpha of every
 * shorter T, so that one recursion is enough. */
static size_t last_path(const paths *s) {
    double nothing = s->form.linear ? 0.0 : -INFINITY;
    size_t S = 2 * s->L + 1, T = s->longest;
    sum_of_paths(s, T);
    while (T > 0 && s->alpha[T * S - 1] == nothing && (S == 1 || s->alpha[T * S - 2] == nothing)) T--;
    return T;
}

/* Puts a row of the point. A row of kind SUM gets the loss of T steps. */
static void put_sum(const ulp_task *task, const paths *s, int kind, size_t T) {
    const point *at = task->point;
    row r;
    ulp_row_clear(task->rows, &r);
    r.kind = kind;
    r.form = at->form;
    r.format = at->format ? at->format->name : "binary64";
    r.outputs = at->outputs;
    r.labels = at->labels;
    r.steps = (int64_t)T;
    if (kind == SUM) {
        r.loss = ulp_ctc_loss(sum_of_paths(s, T), &s->form);
        r.exact = exact_loss(r.outputs, r.labels, r.steps);
        r.error = r.loss / r.exact - 1;
    }
    ulp_row_put(task->rows, &r);
}

/* Puts the rows `sum` and `gone` of a point. */
static ulp_status compute_sums(const ulp_task *task) {
    paths s;
    ulp_status status = paths_new(&s, task->point, (size_t)((const settings *)task->settings)->longest);
    for (size_t T = s.L ? s.L : 1; T <= s.longest && status == ULP_OK; T++)
        if (ulp_is_thinned_row((int64_t)T) || T == s.longest) put_sum(task, &s, SUM, T);
    if (status == ULP_OK) put_sum(task, &s, GONE, last_path(&s));
    free(s.p);
    free(s.alpha);
    return status;
}

/* ---- training ---- */

static ulp_status record(const ulp_task *task, const ulp_trainer *t, const ulp_stretch *s) {
    const point *at = task->point;
    row r;
    ulp_row_clear(task->rows, &r);
    r.kind = s->final ? FINAL : CURVE;
    r.cell = at->cell;
    r.recipe = at->recipe;
    r.form = at->form;
    r.format = at->format ? at->format->name : recipes[at->recipe].loss;
    r.seed = (int64_t)at->seed;
    r.steps = (int64_t)s->steps;
    r.loss = s->loss;
    r.label_error = 100 * s->test.label_error;
    r.strip_error = 100 * (1 - s->test.accuracy);
    r.skipped = (int64_t)t->scaler.skipped;
    r.diverged = s->diverged;
    ulp_row_put(task->rows, &r);
    return ULP_OK;
}

static ulp_status compute_training(const ulp_task *task) {
    const settings *s = task->settings;
    const context *x = task->context;
    const point *at = task->point;
    const int by_lists = at->recipe == AMP;
    ulp_policy policy = by_lists ? x->amp[at->cell] : x->policy[at->recipe];
    const ulp_training training = {.checkpoint = s->checkpoint,
                                   .data = &x->data,
                                   .options = {.net = &x->net[at->cell],
                                               .policy = &policy,
                                               .scaler = by_lists ? &x->amp_scaler[at->cell] : &x->scaler[at->recipe],
                                               .optimizer = &x->optimizer[at->cell],
                                               .loss = x->loss[at->form],
                                               .batch = (size_t)s->batch,
                                               .seed = at->seed,
                                               .backend = s->backend},
                                   .steps = (uint64_t)s->steps,
                                   .every = (uint64_t)s->every,
                                   .record = record};
    if (at->format) ULP_TRY(ulp_policy_set(&policy, ULP_AT_LOSS, at->format, ULP_UNSCALED, 0));
    return ulp_training_run(task, &training);
}

static ulp_status compute(const ulp_task *task) {
    return ((const point *)task->point)->training ? compute_training(task) : compute_sums(task);
}

const ulp_experiment experiment = {
    .name = "ctc",
    .question = "the probability of a label sequence is tiny: where do sums over paths underflow, and what still "
                "learns to read?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(context),
    .release = release,
};
