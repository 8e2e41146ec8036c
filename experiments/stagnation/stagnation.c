/* stagnation.c - add 0.01 to 100 a hundred times: in which formats and modes does the sum move, and what cures it?
 *
 * Start and term are rounded to the format first (rne); then every addition is rounded once. Cures, under rne:
 *   master  the sum is kept in binary32 and rounded to the format to be looked at
 *   kahan   compensated summation, every operation in the format (Kahan 1965, doi:10.1145/363707.363723)
 *   first   the terms are summed first and the start is added once
 * and stochastic rounding, over many runs. Rows `path` are one run; rows `spread` summarise all runs of a
 * stochastic mode: value is the mean, quantiles are values that occurred (nearest rank).
 * The example is Catanzaro's; the numbers of the table below are facts of arithmetic, compared to the last bit.
 */
#include "experiments/harness/sweep/running_sum.h"
#include "experiments/harness/claims/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("binary32,binary16,tf32,bfloat16,e6m9,e4m3,e4m3:inf,e5m2,q8.8,q16.16", NULL),
    ULP_TAKES_MODES("all", NULL),
    {"start", ULP_OPTION_NUMBER, "100", NULL, NULL, "the value that is added to", -1e30, 1e30, NULL, 0},
    {"term", ULP_OPTION_NUMBER, "0.01", NULL, NULL, "what is added in every step", -1e30, 1e30, NULL, 0},
    {"steps", ULP_OPTION_INTEGER, "100", NULL, NULL, "number of additions", 1, 1e6, NULL, 0},
    {"runs", ULP_OPTION_INTEGER, "2000", "1000", "100000", "runs of every stochastic mode", 1, 1e7, NULL, 0},
    {"paths", ULP_OPTION_INTEGER, "3", NULL, NULL, "stochastic runs whose every step is written", 0, 1000, NULL, 0},
    ULP_TAKES_SEED,
    {0},
};

enum { CURES = 3 };
static const ulp_cure cures[CURES] = {ULP_CURE_MASTER, ULP_CURE_KAHAN, ULP_CURE_FIRST};

static ulp_status prepare(ulp_run *run, void **context) {
    const double runs = (double)ulp_option_integer(run, "runs");
    size_t formats;
    ulp_run_formats(run, &formats);
    (void)context;
    for (size_t f = 0; f < formats; f++) ulp_running_points(run, f, cures, CURES, (ulp_running_costs){1, runs, 1});
    return ULP_OK;
}

/* --start or --term as the format has it. */
static double rounded(const ulp_run *run, const char *option, const ulp_format *format) {
    return ulp_round(ulp_option_number(run, option), format, (ulp_rule){0}, 0);
}

/* A sum under way; with the terms first, what it keeps is the sum of the terms. */
typedef struct sum {
    ulp_running sum;
    double start, term;
} sum;

static sum sum_new(const ulp_run *run, const ulp_point *point) {
    sum s = {.sum = ulp_running_start(run, point)};
    s.start = s.sum.value = rounded(run, "start", s.sum.format);
    s.term = rounded(run, "term", s.sum.format);
    s.sum.kept = s.sum.cure == ULP_CURE_MASTER ? s.start : 0;
    return s;
}

static void step(sum *s, uint32_t word) {
    if (s->sum.cure != ULP_CURE_FIRST) {
        ulp_running_add(&s->sum, s->term, word);
        return;
    }
    s->sum.kept = ulp_running_plus(&s->sum, s->sum.kept, s->term, 0);
    s->sum.value = ulp_running_plus(&s->sum, s->start, s->sum.kept, 0);
}

static void put_path(ulp_rows *rows, sum s, int64_t number, int64_t steps, ulp_stream stream) {
    for (int64_t k = 0; k <= steps; k++) {
        if (k > 0) step(&s, ulp_mode_is_stochastic(s.sum.rule.mode) ? ulp_random_word(stream, (uint64_t)k - 1) : 0);
        ulp_running_key(rows, &s.sum, "path", number);
        ulp_put_integer(rows, k);
        ulp_put_number(rows, s.sum.value);
        ulp_put_code(rows, s.sum.value, s.sum.format);
        ulp_put_nones(rows, 1 + ULP_QUANTILES);
        ulp_row_end(rows);
    }
}

static void put_spread(ulp_rows *rows, const ulp_running *s, const double *value, size_t runs, int64_t k) {
    const ulp_distribution d = ulp_distribution_of(value, runs);
    ulp_running_key(rows, s, "spread", 0);
    ulp_put_integer(rows, k);
    ulp_put_number(rows, d.mean);
    ulp_put_none(rows);
    ulp_put_number(rows, d.sd);
    ulp_put_quantiles(rows, &d);
    ulp_row_end(rows);
}

static ulp_stream stream_of(const ulp_run *run, const ulp_running *s, int64_t number) {
    return ulp_stream_named(ulp_run_seed(run), "stagnation %s %s run %lld", s->format->name, s->mode,
                            (long long)number);
}

static ulp_status put_ensemble(const ulp_run *run, ulp_rows *rows, const sum *s) {
    int64_t steps = ulp_option_integer(run, "steps");
    size_t runs = (size_t)ulp_option_integer(run, "runs");
    ulp_stream *stream = malloc(runs * sizeof *stream);
    double *value = malloc(runs * sizeof *value);
    ulp_status status = stream && value ? ULP_OK : ULP_NO_MEMORY;
    for (size_t i = 0; i < runs && status == ULP_OK; i++) {
        stream[i] = stream_of(run, &s->sum, (int64_t)i + 1);
        value[i] = s->start;
    }
    for (int64_t k = 0; k <= steps && status == ULP_OK; k++) {
        for (size_t i = 0; k > 0 && i < runs; i++)
            value[i] = ulp_running_plus(&s->sum, value[i], s->term, ulp_random_word(stream[i], (uint64_t)k - 1));
        put_spread(rows, &s->sum, value, runs, k);
        if (ulp_rows_progress(rows, (double)k / (double)steps)) break;
    }
    free(stream);
    free(value);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    const sum s = sum_new(run, point);
    int64_t paths = 1;
    ulp_status status = ULP_OK;
    (void)context;
    if (ulp_mode_is_stochastic(s.sum.rule.mode)) {
        paths = ulp_option_integer(run, "paths");
        status = put_ensemble(run, rows, &s);
    }
    for (int64_t i = 1; i <= paths; i++)
        put_path(rows, s, i, ulp_option_integer(run, "steps"), stream_of(run, &s.sum, i));
    return status;
}

/* ---- claims ---- */

/* The published table: after 100 steps, by mode. */
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
    size_t length = strlen(name);
    return strncmp(format->name, name, length) == 0 && (format->name[length] == '\0' || format->name[length] == ':');
}

/* *value: the last one in a column of a path or a spread. Returns 0, with *value as it was, if the run did not compute
 * it. */
static int last_value(const ulp_run *run, const ulp_format *format, const char *mode, ulp_cure c, const char *what,
                      const char *column, double *value) {
    const long row = ulp_running_row_at(run, format->name, mode, c, what, "step", ulp_option_integer(run, "steps"));
    if (row != ULP_NO_ROW) *value = ulp_row_number(run, row, column);
    return row != ULP_NO_ROW;
}

static void claim_table(ulp_run *run, const ulp_format *format) {
    double got[3];
    static const char *const modes[] = {"rne", "rz", "ru"};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const fact *want = &facts[i];
        char text[256], measured[160] = "all to the last bit";
        if (!is_named(format, want->format) || format->overflow != want->overflow || !format->has_subnormals) continue;
        for (int m = 0; m < 3; m++)
            if (!last_value(run, format, modes[m], ULP_CURE_NONE, "path", "value", &got[m])) return;
        snprintf(text, sizeof text, "%s: 100 steps of 0.01 from %.17g end at rne %.17g, rz %.17g, ru %.17g, exactly",
                 format->name, want->start, want->rne, want->rz, want->ru);
        double start = rounded(run, "start", format);
        int pass = start == want->start && ulp_same(got[0], want->rne) && ulp_same(got[1], want->rz) &&
                   ulp_same(got[2], want->ru);
        if (!pass)
            snprintf(measured, sizeof measured, "from %.17g: rne %.17g, rz %.17g, ru %.17g", start, got[0], got[1],
                     got[2]);
        ulp_claim(ulp_run_claims(run), pass, text, "%s", measured);
    }
}

/* The formats of `names` (separated by spaces) that are on the grid end at `want` under a cure. */
static void claim_cure(ulp_run *run, ulp_cure c, const char *names, double want, const char *text) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    int found = 0, good = 1;
    char measured[200] = "";
    for (size_t f = 0; f < formats; f++) {
        double value;
        if (!ulp_list_has(names, format[f].name) || !last_value(run, &format[f], "rne", c, "path", "value", &value))
            continue;
        ulp_list_add(measured, sizeof measured, "%s %.17g", format[f].name, value);
        found++;
        good &= ulp_same(value, want);
    }
    if (found) ulp_claim(ulp_run_claims(run), good, text, "%s", measured);
}

#define LAW_P "p the fraction of term / ulp"

/* How far mean and sd of the runs are from start + ulp Binomial(steps, p), in standard errors. */
typedef struct spread_test {
    double mean, sd, want_mean, want_sd, mean_errors, sd_errors;
} spread_test;

static int test_spread(const ulp_run *run, const ulp_format *format, const char *mode, spread_test *t) {
    const double start = rounded(run, "start", format), term = rounded(run, "term", format);
    double n = (double)ulp_option_integer(run, "steps"), runs = (double)ulp_option_integer(run, "runs");
    if (!last_value(run, format, mode, ULP_CURE_NONE, "spread", "value", &t->mean) ||
        !last_value(run, format, mode, ULP_CURE_NONE, "spread", "sd", &t->sd))
        return 0;
    double ulp = ulp_spacing(start, format), p = fmod(term / ulp, 1.0), variance = n * p * (1 - p);
    double fourth = variance * (1 + 3 * (n - 2) * p * (1 - p)); /* central moment of the binomial */
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

/* The binomial law needs room: neither the start as given nor the exact sum may lie beyond the format's ends. */
static int has_room(const ulp_run *run, const ulp_format *format) {
    const double given = ulp_option_number(run, "start"), steps = (double)ulp_option_integer(run, "steps");
    const double end = rounded(run, "start", format) + steps * rounded(run, "term", format);
    return given >= format->lowest && given <= format->max && end >= format->lowest && end <= format->max;
}

static void claim_published_spread(ulp_run *run, const char *name, double mean, double sd) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    spread_test t;
    char text[200];
    for (size_t f = 0; f < formats; f++) {
        if (strcmp(format[f].name, name) != 0 || !test_spread(run, &format[f], "sra", &t)) continue;
        snprintf(text, sizeof text,
                 "%s sra: mean %.9f and sd %.5f as for start + ulp Binomial(100, p), " LAW_P
                 ", within 3 standard errors",
                 name, mean, sd);
        int published = fabs(t.want_mean - mean) < 1e-9 && fabs(t.want_sd - sd) < 1e-5;
        ulp_claim(ulp_run_claims(run), published && t.mean_errors <= 3 && t.sd_errors <= 3, text,
                  "%lld runs: mean %.9f, off by %.2f; sd %.5f, off by %.2f", (long long)ulp_option_integer(run, "runs"),
                  t.mean, t.mean_errors, t.sd, t.sd_errors);
    }
}

/* Several dozen tests of one kind: 4 standard errors, so that a run by another seed does not fail by chance. */
static void claim_all_spreads(ulp_run *run) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    double worst = 0;
    char where[64] = "", left_out[160] = "";
    int count = 0;
    for (size_t f = 0; f < formats; f++) {
        if (!has_room(run, &format[f])) {
            ulp_list_add(left_out, sizeof left_out, "%s", format[f].name);
            continue;
        }
        for (size_t m = 0; m < modes; m++) {
            spread_test t;
            if (mode[m].rule.random_bits || !test_spread(run, &format[f], mode[m].name, &t)) continue;
            double errors = fmax(t.mean_errors, t.sd_errors);
            count++;
            if (errors <= worst) continue;
            worst = errors;
            snprintf(where, sizeof where, "%s %s", format[f].name, mode[m].name);
        }
    }
    if (left_out[0])
        ulp_claim_skip(ulp_run_claims(run), "stochastic rounding keeps mean and sd in formats that the sum leaves",
                       "100 or 101 is out of range: %s", left_out);
    if (count)
        ulp_claim(ulp_run_claims(run), worst <= 4,
                  "stochastic rounding keeps mean and sd of start + ulp Binomial(100, p), " LAW_P
                  ", in every format whose "
                  "range holds the sum, within 4 standard errors",
                  "%d format-mode pairs, the farthest off by %.2f: %s", count, worst, where);
}

/* One value of the table, or a dash where the options left it out. */
static void print_cell(ulp_sheet *table, const ulp_run *run, const ulp_format *format, const char *mode, ulp_cure c) {
    double value;
    if (last_value(run, format, mode, c, "path", "value", &value)) ulp_sheet_put(table, "%.12g", value);
    else ulp_sheet_put(table, "-");
}

static void print_table(const ulp_run *run) {
    static const char *const modes[] = {"rne", "rz", "ru"};
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    ulp_sheet *table = ulp_sheet_new(
        "the sum after the last step; start and term are first rounded to nearest even, whatever the mode",
        "format,start,term,ulp,rne,rz,ru,master,kahan,terms first,sra mean +- sd");
    for (size_t f = 0; f < formats; f++) {
        const double start = rounded(run, "start", &format[f]);
        ulp_sheet_put(table, "%s", format[f].name);
        ulp_sheet_put(table, "%.12g", start);
        ulp_sheet_put(table, "%.8g", rounded(run, "term", &format[f]));
        ulp_sheet_put(table, "%.8g", ulp_spacing(start, &format[f]));
        for (int m = 0; m < 3; m++) print_cell(table, run, &format[f], modes[m], ULP_CURE_NONE);
        for (int c = 0; c < CURES; c++) print_cell(table, run, &format[f], "rne", cures[c]);
        double mean, sd;
        if (last_value(run, &format[f], "sra", ULP_CURE_NONE, "spread", "value", &mean) &&
            last_value(run, &format[f], "sra", ULP_CURE_NONE, "spread", "sd", &sd))
            ulp_sheet_put(table, "%.6f +- %.6f", mean, sd);
        else ulp_sheet_put(table, "-");
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

static void check(ulp_run *run, const void *context) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    (void)context;
    print_table(run);
    if (ulp_option_number(run, "start") != 100 || ulp_option_number(run, "term") != 0.01 ||
        ulp_option_integer(run, "steps") != 100) {
        ulp_claim_skip(ulp_run_claims(run), "the published numbers", "they are for 100 steps of 0.01 from 100");
        return;
    }
    for (size_t f = 0; f < formats; f++) claim_table(run, &format[f]);
    claim_cure(run, ULP_CURE_MASTER, "binary16 bfloat16", 101,
               "a binary32 master copy rounds to exactly 101 in 16-bit floating point");
    claim_cure(run, ULP_CURE_KAHAN, "binary32 binary16 bfloat16 e6m9", 101,
               "Kahan's summation within the format reaches exactly 101");
    claim_cure(run, ULP_CURE_KAHAN, "e4m3 e5m2", 96, "Kahan's summation does not help 8 bits: the sum stays at 96");
    claim_published_spread(run, "binary16", 101.000213623046875, 0.22915);
    claim_published_spread(run, "bfloat16", 101.0009765625, 0.70034);
    claim_all_spreads(run);
}

static const ulp_experiment experiment = {
    .name = "stagnation",
    .question = "Add 0.01 to 100 a hundred times: in which formats and modes does the sum move, and what cures it?",
    .columns = ULP_RUNNING_COLUMNS ",step,value,code,sd," ULP_QUANTILE_COLUMNS,
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
