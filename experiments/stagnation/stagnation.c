/* stagnation.c - add 0.01 to 100 a hundred times: in which formats and modes does the sum move, and what cures it?
 *
 * Start and term are first rounded to the format (rne). Then every addition is rounded once. Three cures are tried
 * under rne:
 *
 *  - master: the sum is kept in binary32. Its value is this sum rounded to the format.
 *  - kahan: compensated summation, every operation in the format (Kahan 1965, doi:10.1145/363707.363723)
 *  - first: the terms are summed first, and their sum is added to the start once
 *
 * Stochastic rounding is measured over many runs.
 *
 * The kinds of rows:
 *
 *  - path: one run
 *  - spread: a summary of all runs of a stochastic mode. The column value is the mean, and every quantile is a value of
 *    a run (nearest rank).
 *
 * The example is Catanzaro's. The claims compare the sums with the published numbers to the last bit.
 */
#include "experiments/harness/sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    ulp_sum_settings sums;
    double start, term;
    int64_t steps;
} settings;

static const ulp_sum_cures cures = {{ULP_CURE_MASTER, ULP_CURE_KAHAN, ULP_CURE_FIRST}, 3};

/* --start or --term rounded to nearest even in the format. */
static double rounded(double value, const ulp_format *format) { return ulp_round(value, format, (ulp_rule){0}, 0); }

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_OF(settings, sums.formats, "binary32,binary16,tf32,bfloat16,e6m9,e4m3,e4m3:inf,e5m2,q8.8,q16.16",
                          NULL),
    ULP_OPTION_MODES_OF(settings, sums.modes, "rne,rna,rz,ru,rd,ro,sra,srb,src", NULL),
    ULP_OPTION(settings, start, number, "100", .help = "the value that is added to", .min = -1e30, .max = 1e30),
    ULP_OPTION(settings, term, number, "0.01", .help = "what is added in every step", .min = -1e30, .max = 1e30),
    ULP_OPTION(settings, steps, integer, "100", .help = "number of additions", .min = 1, .max = 1e6),
    ULP_OPTION_AS(settings, sums.runs, "runs", integer, "2000", .quick = "1000", .full = "100000",
                  .help = "runs of every stochastic mode", .min = 1, .max = 1e7),
    ULP_OPTION_AS(settings, sums.paths, "paths", integer, "3", .help = "stochastic runs whose every step is written",
                  .max = 1000),
    ULP_OPTION_SEED(settings, sums.seed),
    {0},
};

static const ulp_column columns[] = {
    ULP_SUM_COLUMNS,
    ULP_COLUMN_AS(ulp_sum_row, n, "step"),
    ULP_COLUMNS(ulp_sum_row, value, code),
    ULP_COLUMN_AS(ulp_sum_row, runs.sd, "sd"),
    ULP_QUANTILE_COLUMNS_OF(ulp_sum_row, runs),
    {0},
};

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    const ulp_sum_costs costs = {1, (double)s->sums.runs, 1};
    ulp_sum_points(plan, &(ulp_sum_grid){&s->sums, &cures, costs, costs});
    return ULP_OK;
}

/* A sum in progress. */
typedef struct sum {
    ulp_sum sum;
    double term;
} sum;

static sum sum_new(const settings *set, const void *point) {
    sum s = {.sum = ulp_sum_start(point)};
    ulp_sum_begin(&s.sum, set->start);
    s.term = rounded(set->term, s.sum.format);
    return s;
}

static void put_path(ulp_rows *rows, sum s, int64_t number, int64_t steps, ulp_stream stream) {
    for (int64_t k = 0; k <= steps; k++) {
        const uint32_t word =
            ulp_mode_is_stochastic(s.sum.rule.mode) && k > 0 ? ulp_random_word(stream, (uint64_t)k - 1) : 0;
        if (k > 0) ulp_sum_add(&s.sum, s.term, word);
        const ulp_sum_row r = ulp_sum_row_of(rows, &s.sum, ULP_SUM_PATH, number, k, s.sum.value);
        ulp_row_put(rows, &r);
    }
}

static void put_spread(ulp_rows *rows, const ulp_sum *s, const double *value, size_t runs, int64_t k) {
    ulp_sum_row r = ulp_sum_row_of(rows, s, ULP_SUM_SPREAD, 0, k, 0);
    r.runs = ulp_distribution_of(value, runs);
    r.value = r.runs.mean;
    ulp_row_put(rows, &r);
}

static ulp_stream stream_of(const settings *set, const ulp_sum *s, int64_t number) {
    return ulp_stream_named(set->sums.seed, "stagnation %s %s run %lld", s->format->name, s->mode, (long long)number);
}

static ulp_status put_ensemble(const ulp_task *task, const sum *s) {
    const settings *set = task->settings;
    const size_t runs = (size_t)set->sums.runs;
    ulp_stream *stream = malloc(runs * sizeof *stream);
    double *value = malloc(runs * sizeof *value);
    const ulp_status status = stream && value ? ULP_OK : ULP_NO_MEMORY;
    for (size_t i = 0; i < runs && status == ULP_OK; i++) {
        stream[i] = stream_of(set, &s->sum, (int64_t)i + 1);
        value[i] = s->sum.start;
    }
    for (int64_t k = 0; k <= set->steps && status == ULP_OK; k++) {
        for (size_t i = 0; k > 0 && i < runs; i++)
            value[i] = ulp_sum_plus(&s->sum, value[i], s->term, ulp_random_word(stream[i], (uint64_t)k - 1));
        put_spread(task->rows, &s->sum, value, runs, k);
        if (ulp_task_progress(task, (double)k / (double)set->steps)) break;
    }
    free(stream);
    free(value);
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    const sum s = sum_new(set, task->point);
    int64_t paths = 1;
    ulp_status status = ULP_OK;
    if (ulp_mode_is_stochastic(s.sum.rule.mode)) {
        paths = set->sums.paths;
        status = put_ensemble(task, &s);
    }
    for (int64_t i = 1; i <= paths; i++) put_path(task->rows, s, i, set->steps, stream_of(set, &s.sum, i));
    return status;
}

/* ---- the claims ---- */

/* A row of the published table: the start, and the sum after 100 steps by rounding mode. */
typedef struct fact {
    const char *format;
    ulp_overflow overflow;
    double start, rne, rz, ru;
} fact;

static const fact facts[] = {
    {"binary32", ULP_OVERFLOW_INF, 100, 101.000213623046875, 100.99945068359375, 101.000213623046875},
    {"binary16", ULP_OVERFLOW_INF, 100, 100, 100, 106.25},
    {"tf32", ULP_OVERFLOW_INF, 100, 100, 100, 106.25},
    {"bfloat16", ULP_OVERFLOW_INF, 100, 100, 100, 172},
    {"e6m9", ULP_OVERFLOW_INF, 100, 100, 100, 112.5},
    {"e4m3", ULP_OVERFLOW_SAT, 96, 96, 96, 448},
    {"e4m3", ULP_OVERFLOW_INF, 96, 96, 96, NAN},
    {"e4m3", ULP_OVERFLOW_NAN, 96, 96, 96, NAN},
    {"e5m2", ULP_OVERFLOW_INF, 96, 96, 96, INFINITY},
    {"q8.8", ULP_OVERFLOW_SAT, 100, 101.171875, 101.171875, 101.171875},
    {"q16.16", ULP_OVERFLOW_SAT, 100, 100.99945068359375, 100.99945068359375, 100.99945068359375},
};

static int is_named(const ulp_format *format, const char *name) {
    const size_t length = strlen(name);
    return strncmp(format->name, name, length) == 0 && (format->name[length] == '\0' || format->name[length] == ':');
}

/* The rows of the sums after the last step: without a cure, and with a cure under rne. NULL if there is no such row. */
static const ulp_sum_row *mode_end(const ulp_claims *c, const ulp_format *format, const char *mode, int what) {
    const settings *s = c->settings;
    return ulp_sum_after(c, format, ulp_sum_rule(c, mode), what, s->steps);
}

static const ulp_sum_row *cured_end(const ulp_claims *c, const ulp_format *format, ulp_cure cure) {
    const settings *s = c->settings;
    return ulp_sum_find_at(c->table, &(ulp_sum_wanted){format, NULL, cure, ULP_SUM_PATH}, s->steps);
}

/* ---- claims ---- */

static void claim_fact(ulp_claims *c, const ulp_format *format, const fact *want) {
    const settings *s = c->settings;
    const double start = rounded(s->start, format);
    const ulp_sum_row *rne = mode_end(c, format, "rne", ULP_SUM_PATH), *rz = mode_end(c, format, "rz", ULP_SUM_PATH),
                      *ru = mode_end(c, format, "ru", ULP_SUM_PATH);
    char measured[160] = "all to the last bit";
    if (!rne || !rz || !ru) return;
    const int pass = start == want->start && ulp_same(rne->value, want->rne) && ulp_same(rz->value, want->rz) &&
                     ulp_same(ru->value, want->ru);
    if (!pass)
        snprintf(measured, sizeof measured, "from %.17g: rne %.17g, rz %.17g, ru %.17g", start, rne->value, rz->value,
                 ru->value);
    ulp_claim(c, pass,
              ulp_claim_text(c, "%s: 100 steps of 0.01 from %.17g end at rne %.17g, rz %.17g, ru %.17g, exactly",
                             format->name, want->start, want->rne, want->rz, want->ru),
              "%s", measured);
}

static void claim_facts(ulp_claims *c, const ulp_format *format) {
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (is_named(format, facts[i].format) && format->overflow == facts[i].overflow && format->has_subnormals)
            claim_fact(c, format, &facts[i]);
}

/* Claims that the sums with a cure end at `want` in all formats that are both in `names` (separated by spaces) and in
 * --formats. */
static void claim_cure(ulp_claims *c, ulp_cure cure, const char *names, double want, const char *text) {
    const settings *s = c->settings;
    ulp_finding found = {0};
    for (size_t f = 0; f < s->sums.formats.count; f++) {
        const ulp_format *format = &s->sums.formats.at[f];
        const ulp_sum_row *end = ulp_list_has(names, format->name) ? cured_end(c, format, cure) : NULL;
        if (end) ulp_finding_add(&found, ulp_same(end->value, want), "%s %.17g", format->name, end->value);
    }
    ulp_claim_found(c, "", &found, "%s", text);
}

#define LAW_P "p the fraction of term / ulp"

/* Mean and standard deviation of the runs, the mean and standard deviation of start + ulp Binomial(steps, p), and the
 * differences of the two in standard errors. */
typedef struct spread_test {
    double mean, sd, want_mean, want_sd, mean_errors, sd_errors;
} spread_test;

static int test_spread(const ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule, spread_test *t) {
    const settings *s = c->settings;
    const ulp_sum_row *end = ulp_sum_after(c, format, rule, ULP_SUM_SPREAD, s->steps);
    if (!end) return 0;
    const double start = rounded(s->start, format), term = rounded(s->term, format);
    const double n = (double)s->steps, runs = (double)s->sums.runs;
    const double ulp = ulp_spacing(start, format), p = fmod(term / ulp, 1.0), variance = n * p * (1 - p);
    const double fourth = variance * (1 + 3 * (n - 2) * p * (1 - p)); /* fourth central moment of the binomial */
    t->mean = end->value;
    t->sd = end->runs.sd;
    t->want_mean = start + n * term;
    t->want_sd = ulp * sqrt(variance);
    if (variance == 0) {
        t->mean_errors = ulp_same(t->mean, t->want_mean) ? 0 : INFINITY;
        t->sd_errors = ulp_same(t->sd, 0) ? 0 : INFINITY;
        return 1;
    }
    t->mean_errors = fabs(t->mean - t->want_mean) / (t->want_sd / sqrt(runs));
    t->sd_errors =
        fabs(t->sd - t->want_sd) / (ulp * sqrt((fourth - variance * variance) / runs) / (2 * sqrt(variance)));
    return 1;
}

/* Whether the format's range holds the start as given and the exact sum, as the binomial law requires. */
static int has_room(const settings *s, const ulp_format *format) {
    const double end = rounded(s->start, format) + (double)s->steps * rounded(s->term, format);
    return s->start >= format->lowest && s->start <= format->max && end >= format->lowest && end <= format->max;
}

static void claim_published_spread(ulp_claims *c, const char *name, double mean, double sd) {
    const settings *s = c->settings;
    const ulp_format *format = ulp_formats_find(&s->sums.formats, name);
    spread_test t;
    if (!format || !test_spread(c, format, ulp_sum_rule(c, "sra"), &t)) return;
    const char *text = ulp_claim_text(
        c, "%s sra: mean %.9f and sd %.5f agree with start + ulp Binomial(100, p), " LAW_P ", within 3 standard errors",
        name, mean, sd);
    const int published = fabs(t.want_mean - mean) < 1e-9 && fabs(t.want_sd - sd) < 1e-5;
    ulp_claim(c, published && t.mean_errors <= 3 && t.sd_errors <= 3, text,
              "%lld run%s: mean %.9f, off by %.2f; sd %.5f, off by %.2f", (long long)s->sums.runs,
              ulp_plural((size_t)s->sums.runs), t.mean, t.mean_errors, t.sd, t.sd_errors);
}

/* The tests are several dozen. They allow 4 standard errors, so that an experiment with another seed does not fail by
 * chance. */
static void claim_all_spreads(ulp_claims *c) {
    const settings *s = c->settings;
    double worst = 0;
    char where[64] = "", left_out[160] = "";
    int count = 0;
    for (size_t f = 0; f < s->sums.formats.count; f++) {
        const ulp_format *format = &s->sums.formats.at[f];
        if (!has_room(s, format)) {
            ulp_list_add(left_out, sizeof left_out, "%s", format->name);
            continue;
        }
        for (size_t m = 0; m < s->sums.modes.count; m++) {
            const ulp_named_rule *rule = &s->sums.modes.at[m];
            spread_test t;
            if (rule->rule.random_bits || !test_spread(c, format, rule, &t)) continue;
            const double errors = fmax(t.mean_errors, t.sd_errors);
            count++;
            if (errors <= worst) continue;
            worst = errors;
            snprintf(where, sizeof where, "%s %s", format->name, rule->name);
        }
    }
    if (left_out[0])
        ulp_claim_skip(c, "stochastic rounding keeps mean and sd in formats that the sum leaves",
                       "100 or 101 is out of range: %s", left_out);
    if (count)
        ulp_claim(c, worst <= 4,
                  "stochastic rounding keeps mean and sd of start + ulp Binomial(100, p), " LAW_P
                  ", in every format whose range holds the sum, within 4 standard errors",
                  "%d format-mode pairs, the farthest off by %.2f: %s", count, worst, where);
}

/* ---- the table and the summary ---- */

static const char *const modes[] = {"rne", "rz", "ru"};
enum { MODES = sizeof modes / sizeof modes[0] };

/* One value of the table, or a dash if there is no such row. */
static void print_cell(ulp_sheet *sheet, const ulp_sum_row *end) { ULP_SHEET_PUT_IF(end, sheet, "%.12g", end->value); }

static void print_table(const ulp_claims *c) {
    const settings *s = c->settings;
    ulp_sheet *sheet = ulp_sheet_new(
        "the sum after the last step; start and term are first rounded to nearest even, whatever the mode",
        "format,start,term,ulp,rne,rz,ru,master,kahan,terms first,sra mean +- sd");
    for (size_t f = 0; f < s->sums.formats.count; f++) {
        const ulp_format *format = &s->sums.formats.at[f];
        const double start = rounded(s->start, format);
        const ulp_sum_row *sra = mode_end(c, format, "sra", ULP_SUM_SPREAD);
        ulp_sheet_put_row(sheet, "%s,%.12g,%.8g,%.8g", format->name, start, rounded(s->term, format),
                          ulp_spacing(start, format));
        for (int m = 0; m < MODES; m++) print_cell(sheet, mode_end(c, format, modes[m], ULP_SUM_PATH));
        for (size_t k = 0; k < cures.count; k++) print_cell(sheet, cured_end(c, format, cures.at[k]));
        ULP_SHEET_PUT_IF(sra, sheet, "%.6f +- %.6f", sra->value, sra->runs.sd);
    }
    ulp_sheet_print(sheet, c->file);
}

static void summarize(ulp_claims *c, const ulp_format *format) {
    const ulp_sum_row *sra = mode_end(c, format, "sra", ULP_SUM_SPREAD);
    for (int m = 0; m < MODES; m++) {
        const ulp_sum_row *end = mode_end(c, format, modes[m], ULP_SUM_PATH);
        if (end) ulp_summary(c, "end", end->value, "%s %s plain", format->name, modes[m]);
    }
    for (size_t k = 0; k < cures.count; k++) {
        const ulp_sum_row *end = cured_end(c, format, cures.at[k]);
        const ulp_word cure = ulp_word_of(ULP_CURE_WORDS, cures.at[k]);
        if (end) ulp_summary(c, "end", end->value, "%s rne %s", format->name, cure.text);
    }
    if (!sra) return;
    ulp_summary(c, "mean", sra->value, "%s sra", format->name);
    ulp_summary(c, "sd", sra->runs.sd, "%s sra", format->name);
    ulp_summary(c, "q25", sra->runs.quantile[2], "%s sra", format->name);
    ulp_summary(c, "q75", sra->runs.quantile[4], "%s sra", format->name);
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    print_table(c);
    for (size_t f = 0; f < s->sums.formats.count; f++) summarize(c, &s->sums.formats.at[f]);
    if (s->start != 100 || s->term != 0.01 || s->steps != 100) {
        ulp_claim_skip(c, "the published numbers", "they are for 100 steps of 0.01 from 100");
        return;
    }
    for (size_t f = 0; f < s->sums.formats.count; f++) claim_facts(c, &s->sums.formats.at[f]);
    claim_cure(c, ULP_CURE_MASTER, "binary16 bfloat16", 101,
               "a binary32 master copy rounds to exactly 101 in 16-bit floating point");
    claim_cure(c, ULP_CURE_KAHAN, "binary32 binary16 bfloat16 e6m9", 101,
               "Kahan's summation within the format reaches exactly 101");
    claim_cure(c, ULP_CURE_KAHAN, "e4m3 e5m2", 96, "Kahan's summation does not help 8 bits: the sum stays at 96");
    claim_published_spread(c, "binary16", 101.000213623046875, 0.22915);
    claim_published_spread(c, "bfloat16", 101.0009765625, 0.70034);
    claim_all_spreads(c);
}

const ulp_experiment experiment = {
    .name = "stagnation",
    .question = "Add 0.01 to 100 a hundred times: in which formats and modes does the sum move, and what cures it?",
    ULP_EXPERIMENT_OF(settings, ulp_sum_point, ulp_sum_row),
};
