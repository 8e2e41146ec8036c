/* t_harness.c - the harness with a toy experiment: options, threads, resume, shards, claims, exit statuses.
 *
 * Every run is a child process, as a user would start it, with its files in a folder of its own.
 */
#include <errno.h>
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
    {"shape", ULP_OPTION_CHOICE, "ring", NULL, NULL, "a word", 0, 0, "ring tree line", 0},
    {"parts", ULP_OPTION_CHOICES, "all", NULL, NULL, "words", 0, 0, "head body tail", 0},
    {"claim", ULP_OPTION_CHOICE, "pass", NULL, NULL, "verdict", 0, 0, "pass fail skip", 1},
    {"status", ULP_OPTION_INTEGER, "0", NULL, NULL, "what the third point returns", 0, 20, NULL, 1},
    {"signal", ULP_OPTION_INTEGER, "0", NULL, NULL, "signal raised in the third point", 0, 64, NULL, 1},
    {"slow", ULP_OPTION_FLAG, "", NULL, NULL, "asks whether to stop", 0, 0, NULL, 1},
    {0},
};

static ulp_status prepare(ulp_run *run, void **context) {
    size_t formats, modes, numbers;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    const double *number = ulp_option_numbers(run, "list-of", &numbers);
    *context = malloc(1); /* so that a missing release shows under a leak checker */
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
    ulp_table *table = ulp_table_new("a table", "format,rows");
    ulp_table_put(table, "%s", format[0].name);
    ulp_table_put(table, "%ld", rows);
    ulp_table_print(table, run);
    if (ulp_option_chosen(run, "claim", "skip")) ulp_claim_skip(run, "a claim \"quoted\"", "not now");
    else
        ulp_claim(
            run, ulp_option_chosen(run, "claim", "pass") && rows * (long)formats == ulp_row_count(run) && rows == empty,
            "rows are found", "%ld of %ld", rows, ulp_row_count(run));
}

static const ulp_experiment toy = {
    "toy", "is the harness right?", "format,mode,step,value,code,nothing", options, 0, prepare, compute, check, free};

/* ---- children ---- */

static char *read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *data = calloc(1, 1 << 20);
    assert_true(data && fread(data, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
    fclose(file);
    return data;
}

static int has(const char *path, const char *text) {
    char *data = read_all(path);
    int found = data && strstr(data, text);
    if (!found) print_message("%s lacks '%s':\n%s\n", path, text, data ? data : "(no file)");
    free(data);
    return found;
}

static void assert_same(const char *a, const char *b) {
    char *x = read_all(a), *y = read_all(b);
    assert_true(x && y);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

/* Runs the toy with `line` (words separated by single spaces); 128 + n for a signal. */
static int run_toy(const char *line) {
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
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void expect_exit(int want, const char *line) {
    int got = run_toy(line);
    if (got == want) return;
    char *errors = read_all("stderr.txt");
    fail_msg("toy %s: exit %d, want %d\n%s", line, got, want, errors ? errors : "");
}

static int is_there(const char *path) { return access(path, F_OK) == 0; }

/* ---- cases ---- */

static void test_values(void **state) {
    (void)state;
    expect_exit(
        0,
        "--size 1e3 --scale=-0x1p-3 --list-of 5 --formats half --shape tree --parts head,tail --seed 0x10 --out v.csv");
    static const char *const lines[] = {"# size: 1000\n",
                                        "# scale: -0.125\n",
                                        "# list-of: 5\n",
                                        "# formats: binary16\n",
                                        "# shape: tree\n",
                                        "# parts: head,tail\n",
                                        "# seed: 16\n# generator: philox4x32-10\n# generator layout: 1\n",
                                        "# modes: rne,sra/8\n",
                                        "# toy data: checksum 42\n",
                                        "# format binary16: bits=16 p=11",
                                        "\nformat,mode,step,value,code,nothing\nbinary16,rne,0,"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) assert_true(has("v.csv", lines[i]));
    assert_true(has("v.run.json", "\"verdict\": \"PASS\""));
    assert_true(has("stdout.txt", "PASS rows are found (2000 of 2000)"));
    assert_false(is_there("v.csv.part") || is_there("v.csv.tmp"));
    expect_exit(0, "--size 4 --size=1000 --quick --scale -0.125 --list-of 5..5 --formats fp16 --shape tree --parts "
                   "head,tail --seed 16 --out w.csv --quiet");
    assert_same("v.csv", "w.csv");
    assert_true(has("stdout.txt", ""));
    char *silent = read_all("stdout.txt");
    assert_string_equal(silent, "");
    free(silent);
}

static void test_defaults(void **state) {
    (void)state;
    expect_exit(0, "--quick --out q.csv");
    assert_true(has("q.csv", "# formats: e4m3\n") && has("q.csv", "# size: 1\n"));
    expect_exit(0, "--full --out f.csv --size 0"); /* points without rows */
    assert_true(has("f.csv", "# size: 0\n"));
    expect_exit(0, "--modes all --formats all --list-of 0..2 --out a.csv");
    expect_exit(0, "--size 2");
    assert_true(is_there("results/toy.csv") && is_there("results/toy.run.json"));
    expect_exit(0, "--help");
    assert_true(has("stdout.txt", "--shape WORD") && has("stdout.txt", "[--full: 10]"));
    expect_exit(0, "--version");
}

static void test_refusals(void **state) {
    static const char *const bad[][2] = {
        {"--sizes 3", "did you mean --size?"},
        {"--size", "needs a value"},
        {"--size --quick", "needs a value"},
        {"--size 1.5", "whole number"},
        {"--size 3x", "not a number"},
        {"--size -1", "has to be from 0"},
        {"--size 1e7", "has to be from 0"},
        {"--scale nan", "not a number"},
        {"--scale 1e999", "not a number"},
        {"--list-of 3..1", "empty or too long"},
        {"--list-of 1,,2", "an item is empty"},
        {"--list-of 1,", "an item is empty"},
        {"--list-of 101", "from 0 to 100"},
        {"--shape rign", "did you mean 'ring'?"},
        {"--parts head,tial", "did you mean 'tail'?"},
        {"--shape ring,tree", "no choice"},
        {"--formats bfloat61", "did you mean 'bfloat16'?"},
        {"--formats q40.2", "--formats q40.2"},
        {"--formats fp16,half", "binary16 is there twice"},
        {"--modes rnd", "no mode 'rnd'"},
        {"--modes rne/4", "random bits"},
        {"--modes sr/33", "random bits"},
        {"--datapath fp32", "would change nothing"},
        {"--quick --full", "exclude"},
        {"--quick=yes", "takes no value"},
        {"extra", "not an option"},
        {"--", "not an option"},
        {"--shard 0/2", "1 <= i <= n"},
        {"--shard 3/2", "1 <= i <= n"},
        {"--shard 1/2/3", "1 <= i <= n"},
        {"--shard -1/2", "1 <= i <= n"},
        {"--threads 1e9", "has to be from 0"},
        {"--resume --out -", "needs --out to be a file"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        expect_exit(2, bad[i][0]);
        assert_true(has("stderr.txt", bad[i][1]));
    }
    expect_exit(2, "--flavour x");
    assert_true(has("stderr.txt", "known: --formats --modes"));
}

static void test_statuses(void **state) {
    (void)state;
    expect_exit(1, "--claim fail --out c.csv --quiet");
    assert_true(has("stdout.txt", "FAIL rows are found") && has("c.run.json", "\"verdict\": \"FAIL\"") &&
                is_there("c.csv"));
    expect_exit(0, "--claim skip --out c.csv");
    assert_true(has("stdout.txt", "SKIP a claim") && has("c.run.json", "\"a claim \\\"quoted\\\"\""));
    char line[80];
    static const int exits[][2] = {{ULP_NO_DEVICE, 3}, {ULP_UNSUPPORTED, 2}, {ULP_NO_MEMORY, 1}, {ULP_BAD_FILE, 1}};
    for (int i = 0; i < 4; i++) {
        snprintf(line, sizeof line, "--status %d --out s%d.csv", exits[i][0], i);
        expect_exit(exits[i][1], line);
        assert_true(has("stderr.txt", "point binary16 rne 3: "));
        assert_false(is_there("s0.csv"));
    }
}

static void test_places(void **state) {
    (void)state;
    expect_exit(0, "--out plain.csv --quiet");
    expect_exit(0, "--out -");
    assert_same("stdout.txt", "plain.csv");
    assert_true(has("stderr.txt", "PASS rows are found"));
    expect_exit(1, "--out nowhere/x.csv");
    assert_true(has("stderr.txt", "cannot write nowhere/x.csv.part: ") && has("stderr.txt", "--out"));
    assert_int_equal(mkdir("folder", 0777), 0);
    expect_exit(1, "--out folder");
    assert_true(has("stderr.txt", "cannot write folder: "));
    if (access("/dev/full", W_OK) == 0) {
        expect_exit(1, "--out /dev/full");
        assert_true(has("stderr.txt", "cannot write /dev/full: "));
    }
}

static void test_threads(void **state) {
    (void)state;
    expect_exit(0, "--threads 1 --size 50 --list-of 0..20 --out t1.csv");
    expect_exit(0, "--threads 2 --size 50 --list-of 0..20 --out t2.csv");
    expect_exit(0, "--threads 7 --size 50 --list-of 0..20 --out t7.csv");
    assert_same("t1.csv", "t2.csv");
    assert_same("t1.csv", "t7.csv");
}

static void append(const char *path, const char *text) {
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static void test_resume(void **state) {
    static const char *const deaths[] = {"--signal 9", "--signal 2", "--signal 15", "--signal 2 --slow", "--status 7"};
    char line[120];
    (void)state;
    expect_exit(0, "--out whole.csv");
    for (size_t i = 0; i < sizeof deaths / sizeof deaths[0]; i++) {
        remove("r.csv");
        snprintf(line, sizeof line, "--threads 1 --out r.csv %s", deaths[i]);
        expect_exit(i == 0 ? 128 + 9 : 1, line);
        assert_false(is_there("r.csv"));
        assert_true(has("r.csv.part", "# end 1: 3\n"));
        append("r.csv.part", "# point 9: e4m3 rne 2\ne4m3,rne,0,0.1"); /* killed while writing */
        expect_exit(2, "--out r.csv --resume --seed 2");
        assert_true(has("stderr.txt", "made with other options: there '# seed: 1', here '# seed: 2'"));
        expect_exit(0, "--out r.csv --resume");
        assert_same("whole.csv", "r.csv");
        assert_true(has("r.run.json", strstr(deaths[i], "--signal 2") || strstr(deaths[i], "15")
                                          ? "\"points_resumed\": "
                                          : "\"points_resumed\": 2"));
        assert_false(is_there("r.csv.part"));
    }
    expect_exit(0, "--out r.csv --resume");
    assert_true(has("stderr.txt", "no r.csv.part to resume"));
    assert_same("whole.csv", "r.csv");
}

static void test_shards(void **state) {
    char line[400];
    (void)state;
    expect_exit(0, "--out whole.csv");
    for (int n = 1; n <= 20; n += n == 3 ? 17 : 1) { /* 16 points: with 20 shards some are empty */
        char merge[400] = "--out m.csv --merge";
        for (int i = n; i >= 1; i--) {
            snprintf(line, sizeof line, "--shard %d/%d --out s%d --quiet --claim fail", i, n, i);
            expect_exit(0, line);
            snprintf(merge + strlen(merge), sizeof merge - strlen(merge), " s%d", i);
        }
        expect_exit(0, merge);
        assert_same("whole.csv", "m.csv");
        assert_true(has("m.run.json", "\"points_resumed\": 16"));
    }
    expect_exit(0, "--shard 2/3");
    assert_true(is_there("results/toy.shard-2-of-3.csv"));
    expect_exit(0, "--merge results/toy.shard-2-of-3.csv --out m.csv");
    assert_true(has("stderr.txt", "5 of 16 points are in the files to merge; computing the rest"));
    assert_same("whole.csv", "m.csv");
    expect_exit(2, "--merge whole.csv --out m.csv");
    assert_true(has("stderr.txt", "not a finished CSV"));
    expect_exit(2, "--merge results/toy.shard-2-of-3.csv --out m.csv --size 4");
    expect_exit(1, "--merge missing --out m.csv");
    expect_exit(0, "--shard 1/16 --out forged.csv");
    append("forged.csv", "# point 1: binary16 rne 2\n# end 1: 0\n");
    expect_exit(1, "--merge results/toy.shard-2-of-3.csv forged.csv --out m.csv");
    assert_true(has("stderr.txt", "point 'binary16 rne 2' differs"));
    expect_exit(2, "--merge /dev/null --out m.csv");
}

static void test_list(void **state) {
    (void)state;
    expect_exit(0, "--list --size 2 --out x.csv --seed 3");
    assert_true(
        has("stdout.txt", "toy --seed 3 --size 2 --quiet --shard 16/16 --out x.shard-16-of-16.csv # e4m3 sra/8 7\n"));
    assert_true(has("stdout.txt", "# then: toy --seed 3 --size 2 --out x.csv --merge x.shard-*-of-16.csv\n"));
    assert_false(is_there("x.csv"));
}

static void test_streams(void **state) {
    (void)state;
    assert_true(ulp_stream_named(7, "a").stream ==
                0xaf63dc4c8601ec8cu); /* FNV-1a 64 of "a": Fowler, Noll, Vo; RFC 9923 */
    assert_true(ulp_stream_named(7, "%s", "").stream == 0xcbf29ce484222325u);
    assert_true(ulp_stream_named(7, "run %d", 1).stream != ulp_stream_named(7, "run %d", 2).stream);
    assert_true(ulp_stream_named(7, "a").seed == 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),   cmocka_unit_test(test_defaults), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_statuses), cmocka_unit_test(test_places),   cmocka_unit_test(test_threads),
        cmocka_unit_test(test_resume),   cmocka_unit_test(test_shards),   cmocka_unit_test(test_list),
        cmocka_unit_test(test_streams),
    };
    char folder[] = "/tmp/ulp-harness-XXXXXX", command[64];
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) != 0 || failed;
}
