/* toy.h - a toy experiment that runs as a child process, for tests of the harness. */
#ifndef ULP_TESTS_TOY_H
#define ULP_TESTS_TOY_H

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "experiments/harness/experiment.h"

/* ---- the toy: every point has rows that its options and stream decide ---- */

enum { PASS, FAIL, SKIP };

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    uint64_t seed, parts;
    const char *data;
    int64_t size, status, unplanned, signal;
    double scale;
    ulp_number_list numbers;
    ulp_integer_list counts;
    int shape, claim, slow;
} settings;

typedef struct point {
    const ulp_format *format;
    const ulp_named_rule *mode;
    long long number;
} point;

typedef struct row {
    const char *format, *mode;
    int64_t step;
    double value;
    ulp_code code;
    double nothing;
} row;

typedef struct context {
    void *room; /* a leak checker reports it if the harness does not call release() */
} context;

static int takes_format(const ulp_format *format) { return format->bits <= 32; }

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "binary16,e4m3", "e4m3", takes_format, "too wide"),
    ULP_OPTION_MODES_OF(settings, modes, "rne,sr/8", NULL),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_DATA(settings, data),
    ULP_OPTION(settings, size, integer, "3", .quick = "1", .full = "10", .help = "rows of a point", .max = 1e6),
    ULP_OPTION(settings, scale, number, "0.5", .help = "any number"),
    ULP_OPTION_AS(settings, numbers, "list-of", numbers, "1..3,7", .help = "numbers", .max = 100),
    ULP_OPTION(settings, counts, integers, "2,4..5", .help = "whole numbers", .min = -9, .max = 9),
    ULP_OPTION(settings, shape, choice, "ring", .help = "a word", .words = "ring tree line"),
    ULP_OPTION(settings, parts, choices, "all", .help = "words", .words = "head body tail"),
    ULP_OPTION(settings, claim, choice, "pass", .help = "verdict", .words = "pass fail skip", .silent = 1),
    ULP_OPTION(settings, status, integer, "0", .help = "what the third point returns", .max = 20, .silent = 1),
    ULP_OPTION(settings, unplanned, integer, "0", .help = "what plan() returns", .max = 20, .silent = 1),
    ULP_OPTION(settings, signal, integer, "0", .help = "signal raised in the third point", .max = 64, .silent = 1),
    {.name = "slow", .type = &ulp_type_flag, ULP_FIELD(settings, slow), .help = "asks whether to stop", .silent = 1},
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, format, mode, step, value, code, nothing),
    {0},
};

static ulp_status plan(ulp_plan *to) {
    const settings *set = to->settings;
    ((context *)to->context)->room = malloc(1);
    if (set->unplanned) return ulp_plan_fail(to, (ulp_status)set->unplanned, "not planned");
    ulp_plan_note(to, "toy data", "checksum %d", 42);
    for (size_t f = 0; f < set->formats.count; f++)
        for (size_t m = 0; m < set->modes.count; m++)
            for (size_t i = 0; i < set->numbers.count; i++) {
                const double number = set->numbers.at[i];
                const point p = {&set->formats.at[f], &set->modes.at[m], (long long)number};
                ulp_plan_add(to, &p, 1, "%s %s %g", p.format->name, p.mode->name, number);
            }
    return ULP_OK;
}

/* End the third point as the options ask: by a signal, after a request to stop, or with a status. */
static ulp_status end_third(const ulp_task *task) {
    const settings *set = task->settings;
    if (set->signal) raise((int)set->signal);
    if (set->slow && ulp_task_progress(task, 0.5)) return ULP_BAD_FILE;
    if (set->status) return ulp_task_fail(task, (ulp_status)set->status, "point %s", task->label);
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    const point *p = task->point;
    const ulp_stream stream = ulp_stream_named(set->seed, "toy %s %s %lld", p->format->name, p->mode->name, p->number);
    assert_non_null(((const context *)task->context)->room);
    for (int64_t i = 0; i < set->size; i++) {
        const double exact = ulp_random_uniform(stream, 2 * (uint64_t)i) * set->scale;
        row r;
        ulp_row_clear(task->rows, &r);
        r.format = p->format->name;
        r.mode = p->mode->name;
        r.step = i;
        r.value = ulp_round(exact, p->format, p->mode->rule, ulp_random_word(stream, 2 * (uint64_t)i + 1));
        r.code = (ulp_code){p->format, r.value};
        ulp_row_put(task->rows, &r);
    }
    return task->index == 2 ? end_third(task) : ULP_OK;
}

/* Whether a row is of the format `key`. */
static int is_of_format(const void *any, const void *at, const void *key) {
    const row *r = any;
    const ulp_format *format = ((const point *)at)->format;
    return format == key && strcmp(r->format, format->name) == 0 && isnan(r->nothing) &&
           ulp_round(r->value, format, (ulp_rule){0}, 0) == r->value;
}

void judge(ulp_claims *c) {
    const settings *set = c->settings;
    size_t found = 0;
    for (size_t i = 0; ulp_table_find(c->table, &i, is_of_format, &set->formats.at[0]); i++) found++;
    ulp_sheet *table = ulp_sheet_new("a table", "format,rows");
    ulp_sheet_put(table, "%s", set->formats.at[0].name);
    ulp_sheet_put(table, "%zu", found);
    ulp_sheet_print(table, c->file);
    if (set->claim == SKIP) {
        ulp_claim_skip(c, "a claim \"quoted\"", "not now");
        ulp_claim_if(c, ulp_claim_reason(c, "size, shape=ring, scale>=0.25"), found > 0, "some options", "%zu", found);
    } else
        ulp_claim(c, set->claim == PASS && found * set->formats.count == c->table->count, "rows are found",
                  "%zu of %zu", found, c->table->count);
}

static void release(void *shared) { free(((context *)shared)->room); }

static ulp_experiment toy = {.name = "toy",
                             .question = "is the harness right?",
                             .options = options,
                             .columns = columns,
                             .settings_size = sizeof(settings),
                             .point_size = sizeof(point),
                             .row_size = sizeof(row),
                             .context_size = sizeof(context),
                             .plan = plan,
                             .compute = compute,
                             .judge = judge,
                             .release = release};

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

/* Whether the file is there without the text. */
static inline int lacks(const char *path, const char *text) {
    char *data = read_all(path);
    const int lacking = data && !strstr(data, text);
    free(data);
    return lacking;
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

/* The toy ends with this status and says the text on standard error. */
static inline void expect_said(int want, const char *line, const char *text) {
    expect_exit(want, line);
    if (!has("stderr.txt", text)) fail_msg("toy %s", line);
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
