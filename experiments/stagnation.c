/* stagnation.c - add 0.01 to 100 a hundred times: in which formats and modes does the sum move, and what cures it?
 *
 * Start and term are rounded to the format first (rne); then every addition is rounded once. Cures, under rne:
 *   master  the sum is kept in binary32 and rounded to the format to be looked at
 *   kahan   compensated summation, every operation in the format (Kahan 1965, doi:10.1145/363707.363723)
 *   first   the terms are summed first and the start is added once
 * and stochastic rounding, over many runs. Rows `path` are one run; rows `spread` summarise all runs of a
 * stochastic mode: value is the mean, quantiles are values that occurred (nearest rank).
 * One file, a little long: the published table, the spread's theory and the claims belong beside each other.
 * The example is Catanzaro's; the numbers of the table below are facts of arithmetic, compared to the last bit.
 */
#include "harness/harness.h"

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

typedef enum cure { PLAIN, MASTER, KAHAN, FIRST, CURE_COUNT } cure;
static const char *const cure_names[CURE_COUNT] = {"plain", "master", "kahan", "first"};

enum { AT_FORMAT, AT_MODE, AT_CURE };

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    (void)context;
    for (size_t f = 0; f < formats; f++) {
        for (size_t m = 0; m < modes; m++) {
            int stochastic = ulp_mode_is_stochastic(mode[m].rule.mode);
            ulp_point point = {.at = {(int64_t)f, (int64_t)m, PLAIN},
                               .cost = stochastic ? (double)ulp_option_integer(run, "runs") : 1};
            ulp_point_add(run, point, "%s %s plain", format[f].name, mode[m].name);
        }
        for (int c = PLAIN + 1; c < CURE_COUNT; c++) {
            ulp_point point = {.at = {(int64_t)f, 0, c}};
            ulp_point_add(run, point, "%s rne %s", format[f].name, cure_names[c]);
        }
    }
    return ULP_OK;
}

/* A sum under way: what is shown, and what the cure keeps beside it. */
typedef struct sum {
    const ulp_format *format;
    ulp_rule rule;
    cure cure;
    double start, term;
    double value, kept; /* kept: the master copy, Kahan's correction, or the sum of the terms */
} sum;

static double add(const sum *s, double a, double b, uint32_t word) {
    return ulp_arith(ULP_ADD, a, b, 0, s->format, s->rule, word);
}

static void step_kahan(sum *s) {
    double corrected = ulp_arith(ULP_SUB, s->term, s->kept, 0, s->format, s->rule, 0);
    double next = add(s, s->value, corrected, 0);
    double moved = ulp_arith(ULP_SUB, next, s->value, 0, s->format, s->rule, 0);
    s->kept = ulp_arith(ULP_SUB, moved, corrected, 0, s->format, s->rule, 0);
    s->value = next;
}

static void step(sum *s, uint32_t word) {
    switch (s->cure) {
    case MASTER:
        s->kept = (double)((float)s->kept + (float)s->term);
        s->value = ulp_round(s->kept, s->format, s->rule, 0);
        break;
    case KAHAN: step_kahan(s); break;
    case FIRST:
        s->kept = add(s, s->kept, s->term, 0);
        s->value = add(s, s->start, s->kept, 0);
        break;
    default: s->value = add(s, s->value, s->term, word); break;
    }
}

static sum sum_new(const ulp_run *run, const ulp_format *format, ulp_rule rule, cure c) {
    sum s = {.format = format, .rule = rule, .cure = c};
    s.start = s.value = ulp_round(ulp_option_number(run, "start"), format, (ulp_rule){0}, 0);
    s.term = ulp_round(ulp_option_number(run, "term"), format, (ulp_rule){0}, 0);
    s.kept = c == MASTER ? s.start : 0;
    return s;
}

static void put_key(ulp_rows *rows, const ulp_format *format, const char *mode, cure c, const char *what) {
    ulp_put_text(rows, format->name);
    ulp_put_text(rows, mode);
    ulp_put_text(rows, cure_names[c]);
    ulp_put_text(rows, what);
}

static void put_path(ulp_rows *rows, sum s, const char *mode, int64_t number, int64_t steps, ulp_stream stream) {
    for (int64_t k = 0; k <= steps; k++) {
        if (k > 0) step(&s, ulp_mode_is_stochastic(s.rule.mode) ? ulp_random_word(stream, (uint64_t)k - 1) : 0);
        put_key(rows, s.format, mode, s.cure, "path");
        ulp_put_integer(rows, number);
        ulp_put_integer(rows, k);
        ulp_put_number(rows, s.value);
        ulp_put_code(rows, s.value, s.format);
        for (int i = 0; i < 8; i++) ulp_put_none(rows);
        ulp_row_end(rows);
    }
}

static int compare_values(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* value (n) is sorted in place */
static void put_spread(ulp_rows *rows, double *value, size_t n, int64_t k) {
    static const double quantiles[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
    double total = 0, squares = 0;
    for (size_t i = 0; i < n; i++) total += value[i];
    double mean = total / (double)n;
    for (size_t i = 0; i < n; i++) squares += (value[i] - mean) * (value[i] - mean);
    qsort(value, n, sizeof *value, compare_values);
    ulp_put_none(rows);
    ulp_put_integer(rows, k);
    ulp_put_number(rows, mean);
    ulp_put_none(rows);
    ulp_put_number(rows, n > 1 ? sqrt(squares / (double)(n - 1)) : 0);
    for (size_t q = 0; q < sizeof quantiles / sizeof quantiles[0]; q++)
        ulp_put_number(rows, value[(size_t)(quantiles[q] * (double)(n - 1) + 0.5)]);
    ulp_row_end(rows);
}

static ulp_stream stream_of(const ulp_run *run, const ulp_format *format, const char *mode, int64_t number) {
    return ulp_stream_named(ulp_run_seed(run), "stagnation %s %s run %lld", format->name, mode, (long long)number);
}

static ulp_status put_ensemble(const ulp_run *run, ulp_rows *rows, sum start, const char *mode) {
    int64_t steps = ulp_option_integer(run, "steps");
    size_t runs = (size_t)ulp_option_integer(run, "runs");
    ulp_stream *stream = malloc(runs * sizeof *stream);
    double *value = malloc(runs * sizeof *value), *sorted = malloc(runs * sizeof *sorted);
    ulp_status status = stream && value && sorted ? ULP_OK : ULP_NO_MEMORY;
    for (size_t i = 0; i < runs && status == ULP_OK; i++) {
        stream[i] = stream_of(run, start.format, mode, (int64_t)i + 1);
        value[i] = start.value;
    }
    for (int64_t k = 0; k <= steps && status == ULP_OK; k++) {
        for (size_t i = 0; k > 0 && i < runs; i++)
            value[i] = add(&start, value[i], start.term, ulp_random_word(stream[i], (uint64_t)k - 1));
        memcpy(sorted, value, runs * sizeof *sorted);
        put_key(rows, start.format, mode, PLAIN, "spread");
        put_spread(rows, sorted, runs, k);
        if (ulp_rows_progress(rows, (double)k / (double)steps)) break;
    }
    free(stream);
    free(value);
    free(sorted);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    size_t formats, modes;
    const ulp_format *format = &ulp_run_formats(run, &formats)[point->at[AT_FORMAT]];
    const cure c = (cure)point->at[AT_CURE];
    const ulp_named_rule nearest = {"rne", {0}},
                         *mode = c == PLAIN ? &ulp_run_modes(run, &modes)[point->at[AT_MODE]] : &nearest;
    const sum start = sum_new(run, format, mode->rule, c);
    const int64_t steps = ulp_option_integer(run, "steps");
    int64_t paths = 1;
    ulp_status status = ULP_OK;
    (void)context;
    if (ulp_mode_is_stochastic(mode->rule.mode)) {
        paths = ulp_option_integer(run, "paths");
        status = put_ensemble(run, rows, start, mode->name);
    }
    for (int64_t i = 1; i <= paths; i++)
        put_path(rows, start, mode->name, i, steps, stream_of(run, format, mode->name, i));
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

static int same(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

static int is_named(const ulp_format *format, const char *name) {
    size_t length = strlen(name);
    return strncmp(format->name, name, length) == 0 && (format->name[length] == '\0' || format->name[length] == ':');
}

/* *value: the last one in a column of a path or a spread. Returns 0, with *value as it was, if the run did not compute
 * it. */
static int last_value(const ulp_run *run, const ulp_format *format, const char *mode, cure c, const char *what,
                      const char *column, double *value) {
    char steps[24];
    snprintf(steps, sizeof steps, "%lld", (long long)ulp_option_integer(run, "steps"));
    long row = ulp_row_find(run, 0, "step", steps, "format", format->name, "mode", mode, "cure", cure_names[c], "what",
                            what, (const char *)NULL);
    if (row != ULP_NO_ROW) *value = ulp_row_number(run, row, column);
    return row != ULP_NO_ROW;
}

static void claim_table(ulp_run *run, const ulp_format *format) {
    double got[3];
    static const char *const modes[] = {"rne", "rz", "ru"};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const fact *want = &facts[i];
        char text[256], exact[96], what[96];
        if (!is_named(format, want->format) || format->overflow != want->overflow || !format->has_subnormals) continue;
        for (int m = 0; m < 3; m++)
            if (!last_value(run, format, modes[m], PLAIN, "path", "value", &got[m])) return;
        snprintf(text, sizeof text, "%s: 100 steps from %.17g end at rne %.17g, rz %.17g, ru %.17g, exactly",
                 format->name, want->start, want->rne, want->rz, want->ru);
        double start = sum_new(run, format, (ulp_rule){0}, PLAIN).start;
        int pass = start == want->start && same(got[0], want->rne) && same(got[1], want->rz) && same(got[2], want->ru);
        snprintf(exact, sizeof exact, "%.9g, %.9g, %.9g", want->rne, want->rz, want->ru);
        snprintf(what, sizeof what, "%s from %.9g after 100 steps: rne, rz, ru", format->name, want->start);
        ulp_beside(run, what, "exact", exact, "%.9g, %.9g, %.9g", got[0], got[1], got[2]);
        ulp_claim(run, pass, text, "from %.17g: rne %.17g, rz %.17g, ru %.17g", start, got[0], got[1], got[2]);
    }
}

static int has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return 1;
    return 0;
}

/* The formats of `names` (separated by spaces) that are on the grid end at `want` under a cure. */
static void claim_cure(ulp_run *run, cure c, const char *names, double want, const char *text) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    int found = 0, good = 1;
    char measured[200] = "";
    for (size_t f = 0; f < formats; f++) {
        double value;
        if (!has_word(names, format[f].name) || !last_value(run, &format[f], "rne", c, "path", "value", &value))
            continue;
        size_t used = strlen(measured);
        snprintf(measured + used, sizeof measured - used, "%s%s %.17g", found ? ", " : "", format[f].name, value);
        found++;
        good &= same(value, want);
    }
    if (found) ulp_claim(run, good, text, "%s", measured);
}

/* How far mean and sd of the runs are from start + ulp Binomial(steps, p), in standard errors. */
typedef struct spread_test {
    double mean, sd, want_mean, want_sd, mean_errors, sd_errors;
} spread_test;

static int test_spread(const ulp_run *run, const ulp_format *format, const char *mode, spread_test *t) {
    const sum s = sum_new(run, format, (ulp_rule){0}, PLAIN);
    double n = (double)ulp_option_integer(run, "steps"), runs = (double)ulp_option_integer(run, "runs");
    if (!last_value(run, format, mode, PLAIN, "spread", "value", &t->mean) ||
        !last_value(run, format, mode, PLAIN, "spread", "sd", &t->sd))
        return 0;
    double ulp = ulp_spacing(s.start, format), p = fmod(s.term / ulp, 1.0), variance = n * p * (1 - p);
    double fourth = variance * (1 + 3 * (n - 2) * p * (1 - p)); /* central moment of the binomial */
    t->want_mean = s.start + n * s.term;
    t->want_sd = ulp * sqrt(variance);
    if (variance == 0) {
        t->mean_errors = same(t->mean, t->want_mean) ? 0 : INFINITY;
        t->sd_errors = same(t->sd, 0) ? 0 : INFINITY;
        return 1;
    }
    t->mean_errors = fabs(t->mean - t->want_mean) / (t->want_sd / sqrt(runs));
    t->sd_errors =
        fabs(t->sd - t->want_sd) / (ulp * sqrt((fourth - variance * variance) / runs) / (2 * sqrt(variance)));
    return 1;
}

/* The binomial law needs room: neither the start as given nor the exact sum may lie beyond the format's ends. */
static int has_room(const ulp_run *run, const ulp_format *format) {
    const sum s = sum_new(run, format, (ulp_rule){0}, PLAIN);
    const double given = ulp_option_number(run, "start");
    const double end = s.start + (double)ulp_option_integer(run, "steps") * s.term;
    return given >= format->lowest && given <= format->max && end >= format->lowest && end <= format->max;
}

static void claim_published_spread(ulp_run *run, const char *name, double mean, double sd) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    spread_test t;
    char text[160], want[48], what[64];
    for (size_t f = 0; f < formats; f++) {
        if (strcmp(format[f].name, name) != 0 || !test_spread(run, &format[f], "sra", &t)) continue;
        snprintf(text, sizeof text,
                 "%s sra: mean %.9f and sd %.5f as for start + ulp Binomial(100, p), within 3 standard errors", name,
                 mean, sd);
        int published = fabs(t.want_mean - mean) < 1e-9 && fabs(t.want_sd - sd) < 1e-5;
        snprintf(want, sizeof want, "%.9f, %.5f", mean, sd);
        snprintf(what, sizeof what, "%s, stochastic: mean and standard deviation", name);
        ulp_beside(run, what, "start + ulp Binomial(100, p)", want, "%.9f, %.5f", t.mean, t.sd);
        ulp_claim(run, published && t.mean_errors <= 3 && t.sd_errors <= 3, text,
                  "%lld runs: mean %.9f, off by %.2f; sd %.5f, off by %.2f",
                  (long long)ulp_option_integer(run, "runs"), t.mean, t.mean_errors, t.sd, t.sd_errors);
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
            size_t used = strlen(left_out);
            snprintf(left_out + used, sizeof left_out - used, "%s%s", used ? ", " : "", format[f].name);
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
        ulp_claim_skip(run, "stochastic rounding keeps mean and sd in formats that the sum leaves", "100 or 101 is out of range: %s",
                       left_out);
    if (count)
        ulp_claim(run, worst <= 4,
                  "stochastic rounding keeps mean and sd of start + ulp Binomial(100, p) in every format whose range "
                  "holds the sum, within 4 standard errors",
                  "%d format-mode pairs, the farthest off by %.2f: %s", count, worst, where);
}

/* One value of the table, or a dash where the options left it out. */
static void print_cell(ulp_table *table, const ulp_run *run, const ulp_format *format, const char *mode, cure c) {
    double value;
    if (last_value(run, format, mode, c, "path", "value", &value)) ulp_table_put(table, "%.12g", value);
    else ulp_table_put(table, "-");
}

static void print_table(const ulp_run *run) {
    static const char *const modes[] = {"rne", "rz", "ru"};
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    ulp_table *table = ulp_table_new("the sum after the last step; start and term are first rounded to nearest even, whatever the mode",
                                     "format,start,term,ulp,rne,rz,ru,master,kahan,terms first,sra mean +- sd");
    for (size_t f = 0; f < formats; f++) {
        const sum s = sum_new(run, &format[f], (ulp_rule){0}, PLAIN);
        ulp_table_put(table, "%s", format[f].name);
        ulp_table_put(table, "%.12g", s.start);
        ulp_table_put(table, "%.8g", s.term);
        ulp_table_put(table, "%.8g", ulp_spacing(s.start, &format[f]));
        for (int m = 0; m < 3; m++) print_cell(table, run, &format[f], modes[m], PLAIN);
        for (int c = MASTER; c < CURE_COUNT; c++) print_cell(table, run, &format[f], "rne", (cure)c);
        double mean, sd;
        if (last_value(run, &format[f], "sra", PLAIN, "spread", "value", &mean) &&
            last_value(run, &format[f], "sra", PLAIN, "spread", "sd", &sd))
            ulp_table_put(table, "%.6f +- %.6f", mean, sd);
        else ulp_table_put(table, "-");
    }
    ulp_table_print(table, run);
}

static void check(ulp_run *run, const void *context) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    (void)context;
    print_table(run);
    if (ulp_option_number(run, "start") != 100 || ulp_option_number(run, "term") != 0.01 ||
        ulp_option_integer(run, "steps") != 100) {
        ulp_claim_skip(run, "the published numbers", "they are for 100 steps of 0.01 from 100");
        return;
    }
    for (size_t f = 0; f < formats; f++) claim_table(run, &format[f]);
    claim_cure(run, MASTER, "binary16 bfloat16", 101, "a binary32 master copy rounds to exactly 101 in 16-bit floating point");
    claim_cure(run, KAHAN, "binary32 binary16 bfloat16 e6m9", 101,
               "Kahan's summation within the format reaches exactly 101");
    claim_cure(run, KAHAN, "e4m3 e5m2", 96, "Kahan's summation does not help 8 bits: the sum stays at 96");
    claim_published_spread(run, "binary16", 101.000213623046875, 0.22915);
    claim_published_spread(run, "bfloat16", 101.0009765625, 0.70034);
    claim_all_spreads(run);
}

static const ulp_experiment experiment = {
    .name = "stagnation",
    .question = "Add 0.01 to 100 a hundred times: in which formats and modes does the sum move, and what cures it?",
    .columns = "format,mode,cure,what,run,step,value,code,sd,min,q05,q25,median,q75,q95,max",
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
