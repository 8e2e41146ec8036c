/* ctc.c - the probability of a label sequence is tiny: where linear sums over paths underflow, and what learns to read.
 *
 * Two parts. Sums (rows `sum`, `gone`): the forward recursion of CTC (sim/ctc.h) over T steps at which all C outputs
 * are equally probable, for L labels of which no two neighbours are equal. The paths are then counted in closed form,
 *
 *   -log P = T log C - log binomial(T + L, 2 L)
 *
 * Every operation is rounded once to nearest into a format, or not at all beyond binary64; the probabilities, or their
 * logarithms, are rounded into it first. `gone` holds in `steps` the greatest T up to --longest whose linear P is above
 * 0.
 *
 * Training (rows `curve`, `final`): a recurrent network reads strips of 4 to 6 joined digits, nobody says where each
 * is. The label error is the edits that turn the answers into the labels, over the number of labels, on strips of
 * digits that training has not seen. Recipes are policies of all rounding points; beside them stand runs that are
 * binary32 but for the loss, whose sums over paths are formed in either form and any of the formats.
 *
 * After Graves et al. 2006, doi:10.1145/1143844.1143891, whose section 4.1 rescales alpha at every step against the
 * underflow of the linear form; logarithms make that unnecessary.
 */
#include "ctc.h"
#include "experiments/harness/training/load.h"
#include "experiments/harness/claims/spread.h"
#include "experiments/harness/training/training.h"

#include "sim/ctc.h"
#include "kernels/functions/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("fp32,fp16,bf16", "fp32,fp16"),
    {"outputs", ULP_OPTION_INTEGERS, "8,11", NULL, NULL, "equally probable outputs C of the sums, the blank included",
     3, 255, NULL, 0},
    {"labels", ULP_OPTION_INTEGERS, "0,5", NULL, NULL, "labels L of the sums", 0, 100, NULL, 0},
    {"longest", ULP_OPTION_INTEGER, "1000", "600", "4000", "steps T of the longest sums", 1, 20000, NULL, 0},
    {"cells", ULP_OPTION_CHOICES, "gru,lstm", "gru", NULL,
     "recurrent layers; the first one learns with all forms of the loss", 0, 0, "gru lstm", 0},
    {"recipes", ULP_OPTION_CHOICES, "fp32,mixed:fp16,fp16", "fp32,mixed:fp16", "all",
     "what is rounded in training; mixed ones scale the loss", 0, 0, "fp32 mixed:fp16 mixed:bf16 fp16 bf16", 0},
    {"net", ULP_OPTION_TEXT, "columns4 %64 conv11@1", NULL, NULL, "the network; % stands for the cell", 0, 0, NULL, 0},
    {"optimizer", ULP_OPTION_TEXT, "sgd,momentum=0.9,cosine=%", NULL, NULL,
     "how the weights move, without the rate; % stands for the steps", 0, 0, NULL, 0},
    {"gru-rate", ULP_OPTION_NUMBER, "0.05", NULL, NULL, "learning rate of gru", 0, 1000, NULL, 0},
    {"lstm-rate", ULP_OPTION_NUMBER, "0.1", NULL, NULL, "learning rate of lstm, which learns more slowly", 0, 1000,
     NULL, 0},
    {"batch", ULP_OPTION_INTEGER, "32", NULL, NULL, "strips per step", 1, 12000, NULL, 0},
    {"steps", ULP_OPTION_INTEGER, "450", "100", "1500", "of every training", 1, 1e7, NULL, 0},
    {"every", ULP_OPTION_INTEGER, "50", "25", NULL, "steps between two points of a curve", 1, 1e7, NULL, 0},
    {"set", ULP_OPTION_CHOICE, "strips", NULL, NULL, "the data set", 0, 0, "strips mnist-strips", 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("3", "1", "5"),
    ULP_TAKES_CHECKPOINT,
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

/* A point's axes. PART decides what the others are. */
enum { AT_PART = 0, AT_OUTPUTS = 1, AT_LABELS, AT_CELL = 1, AT_RECIPE, AT_SEED, AT_FORM = 4, AT_FORMAT };
enum { PART_SUMS, PART_TRAINING };

const char *const ctc_forms[] = {"log", "linear"}, *const ctc_cells[] = {"gru", "lstm"};
static const char *const loss_names[] = {"ctc", "ctc-linear"};
static const char *const rate_names[] = {"gru-rate", "lstm-rate"};

const ctc_recipe ctc_recipes[] = {
    {"fp32", "none", "binary32"}, {"mixed:fp16", "pytorch", "binary32"}, {"mixed:bf16", "none", "binary32"},
    {"fp16", "none", "binary16"}, {"bf16", "none", "bfloat16"},
};

/* ---- the grid ---- */

const char *ctc_format_name(const ulp_run *run, int64_t at) {
    size_t n;
    const ulp_format *format = ulp_run_formats(run, &n);
    return at == CTC_BINARY64 ? "binary64" : format[at].name;
}

static void add_sums(ulp_run *run, int64_t form, int64_t format) {
    size_t outputs, labels;
    const double *C = ulp_option_numbers(run, "outputs", &outputs), *L = ulp_option_numbers(run, "labels", &labels);
    for (size_t c = 0; c < outputs; c++)
        for (size_t l = 0; l < labels; l++)
            ulp_point_add(
                run, (ulp_point){.at = {PART_SUMS, (int64_t)C[c], (int64_t)L[l], 0, form, format}, .cost = 0.1},
                "sums of %.0f labels, %.0f outputs, %s %s", L[l], C[c], ctc_forms[form], ctc_format_name(run, format));
}

/* Format CTC_BINARY64 with training: as the recipe has it. */
static void add_training(ulp_run *run, int64_t cell, int64_t recipe, int64_t form, int64_t format, int64_t seed) {
    const ulp_point point = {.at = {PART_TRAINING, cell, recipe, seed, form, format}, .cost = cell == 0 ? 10 : 16};
    if (format == CTC_BINARY64)
        ulp_point_add(run, point, "%s %s seed %lld", ctc_cells[cell], ctc_recipes[recipe].policy, (long long)seed);
    else
        ulp_point_add(run, point, "%s loss %s %s seed %lld", ctc_cells[cell], ctc_forms[form],
                      ctc_format_name(run, format), (long long)seed);
}

static void add_seed(ulp_run *run, int64_t seed) {
    size_t formats;
    int64_t first = -1;
    const ulp_format *format = ulp_run_formats(run, &formats);
    for (int64_t c = 0; c < CTC_CELLS; c++) {
        if (!ulp_option_chosen(run, "cells", ctc_cells[c])) continue;
        if (first < 0) first = c;
        for (int64_t r = 0; r < CTC_RECIPES; r++)
            if (ulp_option_chosen(run, "recipes", ctc_recipes[r].policy))
                add_training(run, c, r, 0, CTC_BINARY64, seed);
    }
    for (int64_t form = 0; form < 2; form++)
        for (int64_t f = 0; f < (int64_t)formats; f++) {
            int is_recipe =
                form == 0 && ulp_option_chosen(run, "recipes", "fp32") && strcmp(format[f].name, "binary32") == 0;
            if (!is_recipe) add_training(run, first, 0, form, f, seed);
        }
}

/* The sums have binary64 beside the formats in any case. */
static int takes_format(const ulp_format *f) { return strcmp(f->name, "binary64") != 0; }

/* An option's text with `word` in place of every %; free() it. */
static char *fill_in(const ulp_run *run, const char *option, const char *word) {
    const char *from = ulp_option_text(run, option);
    size_t size = 1, used = 0;
    for (const char *c = from; *c; c++) size += *c == '%' ? strlen(word) : 1;
    char *text = malloc(size);
    for (const char *c = from; text && *c; c++)
        used +=
            (size_t)snprintf(text + used, size - used, "%.*s", *c == '%' ? (int)strlen(word) : 1, *c == '%' ? word : c);
    if (text) text[used] = '\0'; /* of an empty one */
    return text;
}

/* What --net says for a cell; ulp_net_release() in either case. */
static ulp_status read_net(ulp_net *net, const ulp_run *run, const ulp_data *data, int64_t cell) {
    char *text = fill_in(run, "net", ctc_cells[cell]);
    *net = (ulp_net){0};
    ulp_status status = text ? ulp_net_read(run, net, text, data->dims) : ULP_NO_MEMORY;
    free(text);
    return status;
}

/* What --optimizer says, with the steps. */
static ulp_status read_optimizer(ulp_optimizer_rule *rule, const ulp_run *run) {
    char steps[32];
    snprintf(steps, sizeof steps, "%lld", (long long)ulp_option_integer(run, "steps"));
    char *text = fill_in(run, "optimizer", steps);
    ulp_status status = text ? ulp_optimizer_read(run, rule, text) : ULP_NO_MEMORY;
    if (status == ULP_OK && strstr(text, ",rate="))
        status = ulp_run_fail(run, ULP_BAD_ARGUMENT, "--optimizer '%s': the rate is that of --gru-rate and --lstm-rate",
                              text);
    free(text);
    return status;
}

static ulp_status read_training(ulp_training_rules *to, const ulp_run *run, const ulp_data *data,
                                const ulp_point *point) {
    const int64_t *at = point->at;
    const ctc_recipe *recipe = &ctc_recipes[at[AT_RECIPE]];
    char error[512] = "";
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    to->scaler = *ulp_scaler_rule_find(recipe->scaler);
    to->options = (ulp_train_options){.net = &to->net,
                                      .policy = &to->policy,
                                      .scaler = &to->scaler,
                                      .optimizer = &to->optimizer,
                                      .batch = (size_t)ulp_option_integer(run, "batch"),
                                      .seed = (uint64_t)at[AT_SEED],
                                      .backend = ulp_run_backend(run)};
    ulp_status status = read_net(&to->net, run, data, at[AT_CELL]);
    if (status == ULP_OK) status = ulp_policy_read(run, &to->policy, recipe->policy, recipe->policy);
    if (status == ULP_OK && at[AT_FORMAT] != CTC_BINARY64)
        status = ulp_policy_set(&to->policy, ULP_AT_LOSS, &format[at[AT_FORMAT]], ULP_UNSCALED, 0);
    if (status == ULP_OK) status = read_optimizer(&to->optimizer, run);
    if (status == ULP_OK) status = ulp_loss_parse(&to->options.loss, loss_names[at[AT_FORM]], error, sizeof error);
    to->optimizer.rate = ulp_option_number(run, rate_names[at[AT_CELL]]);
    return status == ULP_OK || !error[0] ? status : ulp_run_fail(run, status, "%s", error);
}

/* A bad --net or --optimizer ends the run before it starts: here the net of a cell ... */
static ulp_status check_net(const ulp_run *run, const ulp_data *data, int cell) {
    char error[1536];
    ulp_net net;
    ulp_loss loss;
    ulp_status status = read_net(&net, run, data, cell);
    if (status != ULP_OK) return status;
    status = ulp_loss_init(&loss, NULL, net.out, data, error, sizeof error);
    ulp_net_release(&net);
    return status == ULP_OK ? ULP_OK : ulp_run_fail(run, status, "%s", error);
}

/* ... and the optimizer under a recipe. */
static ulp_status check_optimizer(const ulp_run *run, const ctc_recipe *recipe) {
    char error[1024];
    ulp_policy policy;
    ulp_optimizer optimizer;
    ulp_optimizer_rule rule;
    ulp_status status = read_optimizer(&rule, run);
    if (status == ULP_OK) status = ulp_policy_read(run, &policy, recipe->policy, recipe->policy);
    if (status != ULP_OK) return status;
    status = ulp_optimizer_init(&optimizer, &rule, &policy, error, sizeof error);
    return status == ULP_OK
               ? ULP_OK
               : ulp_run_fail(run, status, "--optimizer '%s': %s", ulp_option_text(run, "optimizer"), error);
}

static ulp_status check_texts(const ulp_run *run, const ulp_data *data) {
    ulp_status status = ULP_OK;
    for (int c = 0; c < CTC_CELLS && status == ULP_OK; c++)
        if (ulp_option_chosen(run, "cells", ctc_cells[c])) status = check_net(run, data, c);
    for (int r = 0; r < CTC_RECIPES && status == ULP_OK; r++) /* the first one is that of all forms of the loss */
        if (r == 0 || ulp_option_chosen(run, "recipes", ctc_recipes[r].policy))
            status = check_optimizer(run, &ctc_recipes[r]);
    return status;
}

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats;
    ulp_run_formats(run, &formats);
    ulp_status status = ulp_context_prepare(run, context, ulp_option_text(run, "set"));
    if (status == ULP_OK) status = check_texts(run, *context);
    if (status != ULP_OK) return status;
    for (int64_t form = 0; form < 2; form++)
        for (int64_t f = CTC_BINARY64; f < (int64_t)formats; f++) add_sums(run, form, f);
    for (int64_t s = 0; s < ulp_option_integer(run, "seeds"); s++) add_seed(run, (int64_t)ulp_run_seed(run) + s);
    return ULP_OK;
}

/* ---- sums over paths ---- */

/* log binomial(T + L, 2 L), the number of paths of L labels without equal neighbours. */
static double log_paths(size_t L, size_t T) {
    double sum = 0;
    for (size_t i = 1; i <= 2 * L; i++) sum += ulp_log((double)(T - L + i)) - ulp_log((double)i);
    return sum;
}

typedef struct paths {
    size_t C, L, longest;
    ulp_cast cast;
    ulp_ctc_form form; /* cast: the one above, or NULL */
    double *p, *alpha; /* (C,T), (T,2 L + 1) */
    uint8_t label[100];
} paths;

static double sum_of_paths(const paths *s, size_t T) {
    return ulp_ctc_alpha(s->alpha, s->p, &(ulp_ctc_task){s->label, s->L, s->C, T}, &s->form);
}

static ulp_status paths_new(paths *s, const ulp_run *run, const ulp_point *point) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    *s = (paths){.C = (size_t)point->at[AT_OUTPUTS],
                 .L = (size_t)point->at[AT_LABELS],
                 .longest = (size_t)ulp_option_integer(run, "longest")};
    s->form.linear = point->at[AT_FORM] == 1;
    if (point->at[AT_FORMAT] != CTC_BINARY64) {
        s->cast = (ulp_cast){.format = format[point->at[AT_FORMAT]], .rule = {.mode = ULP_RNE}};
        s->form.cast = &s->cast;
    }
    for (size_t i = 0; i < s->L; i++) s->label[i] = (uint8_t)(i % (s->C - 1));
    s->p = malloc(s->C * s->longest * sizeof *s->p);
    s->alpha = malloc(s->longest * (2 * s->L + 1) * sizeof *s->alpha);
    if (!s->p || !s->alpha) return ULP_NO_MEMORY;
    double p = s->form.linear ? 1.0 / (double)s->C : -ulp_log((double)s->C);
    if (s->form.cast) p = ulp_round(p, &s->cast.format, s->cast.rule, 0);
    for (size_t i = 0; i < s->C * s->longest; i++) s->p[i] = p;
    return ULP_OK;
}

static void put_sum(const ulp_run *run, const ulp_point *point, ulp_rows *rows, const char *kind, size_t T) {
    ulp_put_text(rows, kind);
    ulp_put_nones(rows, 2);
    ulp_put_text(rows, ctc_forms[point->at[AT_FORM]]);
    ulp_put_text(rows, ctc_format_name(run, point->at[AT_FORMAT]));
    ulp_put_none(rows);
    ulp_put_integer(rows, point->at[AT_OUTPUTS]);
    ulp_put_integer(rows, point->at[AT_LABELS]);
    ulp_put_integer(rows, (int64_t)T);
}

static void put_loss(ulp_rows *rows, double loss, double exact) {
    ulp_put_number(rows, loss);
    ulp_put_number(rows, exact);
    ulp_put_number(rows, loss / exact - 1);
    ulp_put_nones(rows, 4);
    ulp_row_end(rows);
}

/* The greatest T with a path whose number did not underflow; the alpha of a shorter T begins that of the longest. */
static size_t last_path(const paths *s) {
    double nothing = s->form.linear ? 0.0 : -INFINITY;
    size_t S = 2 * s->L + 1, T = s->longest;
    sum_of_paths(s, T);
    while (T > 0 && s->alpha[T * S - 1] == nothing && (S == 1 || s->alpha[T * S - 2] == nothing)) T--;
    return T;
}

static ulp_status compute_sums(const ulp_run *run, const ulp_point *point, ulp_rows *rows) {
    paths s;
    ulp_status status = paths_new(&s, run, point);
    for (size_t T = s.L ? s.L : 1; T <= s.longest && status == ULP_OK; T++) {
        if (!ulp_is_thinned_row((int64_t)T) && T != s.longest) continue;
        put_sum(run, point, rows, "sum", T);
        put_loss(rows, ulp_ctc_loss(sum_of_paths(&s, T), &s.form),
                 (double)T * ulp_log((double)s.C) - log_paths(s.L, T));
    }
    if (status == ULP_OK) {
        put_sum(run, point, rows, "gone", last_path(&s));
        ulp_put_nones(rows, 7);
        ulp_row_end(rows);
    }
    free(s.p);
    free(s.alpha);
    return status;
}

/* ---- training ---- */

typedef struct key {
    const ulp_run *run;
    const ulp_point *point;
} key;

static void put_training(const key *k, ulp_rows *rows, const char *kind, uint64_t step) {
    const int64_t *at = k->point->at;
    ulp_put_text(rows, kind);
    ulp_put_text(rows, ctc_cells[at[AT_CELL]]);
    ulp_put_text(rows, ctc_recipes[at[AT_RECIPE]].policy);
    ulp_put_text(rows, ctc_forms[at[AT_FORM]]);
    ulp_put_text(rows, at[AT_FORMAT] == CTC_BINARY64 ? ctc_recipes[at[AT_RECIPE]].loss
                                                     : ctc_format_name(k->run, at[AT_FORMAT]));
    ulp_put_integer(rows, at[AT_SEED]);
    ulp_put_none(rows);
    ulp_put_none(rows);
    ulp_put_integer(rows, (int64_t)step);
}

static ulp_status record(void *own, ulp_trainer *t, const ulp_stretch *s, ulp_rows *rows) {
    for (int last = 0; last <= s->last; last++) {
        put_training(own, rows, last ? "final" : "curve", s->steps);
        ulp_put_number(rows, s->loss);
        ulp_put_none(rows);
        ulp_put_none(rows);
        ulp_put_number(rows, 100 * s->test.label_error);
        ulp_put_number(rows, 100 * (1 - s->test.accuracy));
        ulp_put_integer(rows, (int64_t)t->scaler.skipped);
        ulp_put_integer(rows, s->diverged);
        ulp_row_end(rows);
    }
    return ULP_OK;
}

static ulp_status compute_training(const ulp_run *run, const ulp_data *data, const ulp_point *point, ulp_rows *rows) {
    ulp_training_rules r;
    key k = {run, point};
    ulp_status status = read_training(&r, run, data, point);
    const ulp_training training = {
        .checkpoint = ulp_option_number(run, "checkpoint"),
        .data = data,
        .options = r.options,
        .steps = (uint64_t)ulp_option_integer(run, "steps"),
        .every = (uint64_t)ulp_option_integer(run, "every"),
        .record = record,
        .own = &k,
    };
    if (status == ULP_OK) status = ulp_training_run(ulp_rows_task(rows), &training);
    ulp_net_release(&r.net);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    return point->at[AT_PART] == PART_SUMS ? compute_sums(run, point, rows)
                                           : compute_training(run, context, point, rows);
}

static const ulp_experiment experiment = {
    .name = "ctc",
    .question = "the probability of a label sequence is tiny: where do sums over paths underflow, and what still "
                "learns to read?",
    .columns = "kind,cell,recipe,form,format,seed,outputs,labels,steps,loss,exact,error,label_error,strip_error,"
               "skipped,diverged",
    .options = options,
    .takes_format = takes_format,
    .format_wants = "the sums are formed in it beside the formats in any case",
    .prepare = prepare,
    .compute = compute,
    .check = ctc_check,
    .release = ulp_context_release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
