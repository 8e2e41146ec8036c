/* toy.h - a toy experiment for tests of the harness, which runs as a child process. */
#ifndef ULP_TESTS_TOY_H
#define ULP_TESTS_TOY_H

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/harness/harness.h"

/* ---- the toy: every point emits rows that its options and stream decide ---- */

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("binary16,e4m3", "e4m3"),
    ULP_TAKES_MODES("rne,sr/8", NULL),
    ULP_TAKES_SEED,
    ULP_TAKES_DATA,
    {"size", ULP_OPTION_INTEGER, "3", "1", "10", "rows of a point", 0, 1e6, NULL, 0},
    {"scale", ULP_OPTION_NUMBER, "0.5", NULL, NULL, "any number", 0, 0, NULL, 0},
    {"list-of", ULP_OPTION_NUMBERS, "1..3,7", NULL, NULL, "numbers", 0, 100, NULL, 0},
    {"counts", ULP_OPTION_INTEGERS, "2,4..5", NULL, NULL, "whole numbers", -9, 9, NULL, 0},
    {"shape", ULP_OPTION_CHOICE, "ring", NULL, NULL, "a word", 0, 0, "ring tree line", 0},
    {"parts", ULP_OPTION_CHOICES, "all", NULL, NULL, "words", 0, 0, "head body tail", 0},
    {"claim", ULP_OPTION_CHOICE, "pass", NULL, NULL, "verdict", 0, 0, "pass fail skip", 1},
    {"status", ULP_OPTION_INTEGER, "0", NULL, NULL, "what the third point returns", 0, 20, NULL, 1},
    {"unprepared", ULP_OPTION_INTEGER, "0", NULL, NULL, "what prepare() returns", 0, 20, NULL, 1},
    {"signal", ULP_OPTION_INTEGER, "0", NULL, NULL, "signal raised in the third point", 0, 64, NULL, 1},
    {"slow", ULP_OPTION_FLAG, "", NULL, NULL, "asks whether to stop", 0, 0, NULL, 1},
    {0},
};

static int takes_format(const ulp_format *format) { return format->bits <= 32; }

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats, modes, numbers;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    const double *number = ulp_option_numbers(run, "list-of", &numbers);
    *context = malloc(1); /* so that a missing release shows under a leak checker */
    if (ulp_option_integer(run, "unprepared"))
        return ulp_run_fail(run, (ulp_status)ulp_option_integer(run, "unprepared"), "not prepared");
    ulp_header_add(run, "toy data", "checksum %d", 42);
    for (size_t f = 0; f < formats; f++)
        for (size_t m = 0; m < modes; m++)
            for (size_t i = 0; i < numbers; i++)
                ulp_point_add(run, (ulp_point){.at = {(int64_t)f, (int64_t)m, (int64_t)number[i]}}, "%s %s %g",
                              format[f].name, mode[m].name, number[i]);
    return ULP_OK;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    size_t count;
    const ulp_format *format = &ulp_run_formats(run, &count)[point->at[0]];
    const ulp_named_rule *mode = &ulp_run_modes(run, &count)[point->at[1]];
    ulp_stream stream =
        ulp_stream_named(ulp_run_seed(run), "toy %s %s %lld", format->name, mode->name, (long long)point->at[2]);
    assert_non_null(context);
    for (int64_t i = 0; i < ulp_option_integer(run, "size"); i++) {
        double exact = ulp_random_uniform(stream, 2 * (uint64_t)i) * ulp_option_number(run, "scale");
        double value = ulp_round(exact, format, mode->rule, ulp_random_word(stream, 2 * (uint64_t)i + 1));
        ulp_put_text(rows, format->name);
        ulp_put_text(rows, mode->name);
        ulp_put_integer(rows, i);
        ulp_put_number(rows, value);
        ulp_put_code(rows, value, format);
        ulp_put_none(rows);
        ulp_row_end(rows);
    }
    if (point->index != 2) return ULP_OK;
    if (ulp_option_integer(run, "signal")) raise((int)ulp_option_integer(run, "signal"));
    if (ulp_option_flag(run, "slow") && ulp_rows_progress(rows, 0.5)) return ULP_BAD_FILE;
    if (ulp_option_integer(run, "status"))
        return ulp_run_fail(run, (ulp_status)ulp_option_integer(run, "status"), "point %s", point->label);
    return ULP_OK;
}

static void check(ulp_run *run, const void *context) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    long rows = 0, empty = 0;
    (void)context;
    for (long r = ulp_row_find(run, 0, "format", format[0].name, (const char *)NULL); r != ULP_NO_ROW;
         r = ulp_row_find(run, r + 1, "format", format[0].name, (const char *)NULL)) {
        rows += ulp_row_is(run, r, "format", format[0].name);
        empty += isnan(ulp_row_number(run, r, "nothing"));
        if (ulp_round(ulp_row_number(run, r, "value"), format, (ulp_rule){0}, 0) != ulp_row_number(run, r, "value"))
            rows = -1000000;
    }
    ulp_sheet *table = ulp_sheet_new("a table", "format,rows");
    ulp_sheet_put(table, "%s", format[0].name);
    ulp_sheet_put(table, "%ld", rows);
    ulp_sheet_print(table, ulp_run_people(run));
    if (ulp_option_chosen(run, "claim", "skip")) ulp_claim_skip(ulp_run_claims(run), "a claim \"quoted\"", "not now");
    else
        ulp_claim(ulp_run_claims(run),
                  ulp_option_chosen(run, "claim", "pass") && rows * (long)formats == ulp_row_count(run) &&
                      rows == empty,
                  "rows are found", "%ld of %ld", rows, ulp_row_count(run));
}

static ulp_experiment toy = {.name = "toy",
                             .question = "is the harness right?",
                             .columns = "format,mode,step,value,code,nothing",
                             .options = options,
                             .takes_format = takes_format,
                             .format_wants = "too wide",
                             .prepare = prepare,
                             .compute = compute,
                             .check = check,
                             .release = free};

/* ---- children ---- */

static inline char *read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *data = calloc(1, 1 << 20);
    assert_true(data && fread(data, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
    fclose(file);
    return data;
}

static inline int has(const char *path, const char *text) {
    char *data = read_all(path);
    int found = data && strstr(data, text);
    if (!found) print_message("%s lacks '%s':\n%s\n", path, text, data ? data : "(no file)");
    free(data);
    return found;
}

static inline void assert_same(const char *a, const char *b) {
    char *x = read_all(a), *y = read_all(b);
    assert_true(x && y);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

/* Start the toy with `line` (words separated by single spaces). */
static inline pid_t start_toy(const char *line) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char words[1000], *argv[80] = {(char[]){"toy"}, NULL};
        int argc = 1, status = 99;
        snprintf(words, sizeof words, "%s", line);
        for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
        if (freopen("stdout.txt", "w", stdout) && freopen("stderr.txt", "w", stderr))
            status = ulp_experiment_main(&toy, argc, argv);
        exit(status);
    }
    return child;
}

/* The exit status of a child; 128 + n after signal n. */
static inline int end_of(pid_t child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline int run_toy(const char *line) { return end_of(start_toy(line)); }

static inline void expect_exit(int want, const char *line) {
    int got = run_toy(line);
    if (got == want) return;
    char *errors = read_all("stderr.txt");
    fail_msg("toy %s: exit %d, want %d\n%s", line, got, want, errors ? errors : "");
}

static inline int is_there(const char *path) { return access(path, F_OK) == 0; }

static inline void append(const char *path, const char *text) {
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Run the tests in a temporary folder, and remove the folder. Returns the exit status of main. */
static inline int in_a_folder(int (*run)(void)) {
    char folder[] = "/tmp/ulp-harness-XXXXXX", command[64];
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    int failed = run();
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) != 0 || failed;
}

#endif
