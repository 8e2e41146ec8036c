/* t_options.c - the command line of a toy command: values, refusals, help, messages, variables of the environment. */
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "toy_command.h"

static int show(const ulp_arguments *a) {
    ulp_text text = {0};
    for (size_t i = 0; i < a->count; i++) {
        const ulp_setting *one = &a->settings[i];
        ulp_text_print(&text, "%s: ", one->option->name);
        one->option->type->print(&text, one->field, one->option);
        ulp_text_print(&text, "\n");
    }
    for (size_t i = 0; i < a->word_count; i++) ulp_text_print(&text, "word: %s\n", a->words[i]);
    fputs(ulp_text_of(&text), stdout);
    ulp_text_free(&text);
    return ULP_EXIT_FINE;
}

static int toy_main(int argc, char **argv) {
    ulp_arguments a = {.command = &toy, .groups = groups, .group_count = 2};
    ulp_error error;
    int result = ULP_EXIT_FINE;
    ulp_status status = ulp_arguments_read(&a, argc, argv, 0, &error);
    if (status == ULP_OK && !a.is_done)
        status = ulp_arguments_resolve(&a, s.flag ? ULP_PRESET_QUICK : ULP_PRESET_DEFAULT, &error);
    if (status != ULP_OK) result = ulp_complain_of(toy.name, &error);
    else if (!a.is_done) result = show(&a);
    ulp_arguments_free(&a);
    return ulp_finish_stdout(toy.name, result);
}

static char out[1 << 16], err[1 << 16];

static void read_file(const char *path, char *to, size_t size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    to[fread(to, 1, size - 1, file)] = '\0';
    fclose(file);
}

/* Run the toy with `line` (words separated by single spaces). Returns the exit status. */
static int run_to(const char *line, const char *place) {
    const pid_t child = fork();
    int status;
    assert_true(child >= 0);
    if (child == 0) {
        char *words = ulp_copy_text(line), *argv[80] = {(char[]){"toy"}, NULL};
        int argc = 1, end = 99;
        for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
        if (freopen(place, "w", stdout) && freopen("err.txt", "w", stderr)) end = toy_main(argc, argv);
        free(words);
        exit(end);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    read_file("err.txt", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void expect(int want, const char *line) {
    const int got = run_to(line, "out.txt");
    if (got != want) fail_msg("toy %.200s: exit %d, want %d\n%s", line, got, want, err);
    read_file("out.txt", out, sizeof out);
}

static void has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("no '%s' in:\n%s", part, text);
}

static size_t widest(const char *text) {
    size_t most = 0;
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (strcspn(text, "\n") > most) most = strcspn(text, "\n");
    return most;
}

TEST(values) {
    expect(0, "--size 1e3 --scale=-0x1p-3 --list-of 5 --counts -2,0x3 --format half --formats fp16,e5m7 --shape tree "
              "--parts tail,body --seed 18446744073709551615 --modes sr,rne --mode rz --op fma --overflow sat "
              "--datapath h100-fp16,fp32 --folder . --merge a b --flag --out x.csv");
    static const char *const lines[] = {
        "size: 1000\nscale: -0.125\nseed: 18446744073709551615\nlist-of: 5\ncounts: -2,3\n",
        "shape: tree\nparts: body,tail\n",
        "format: binary16\nformats: binary16,e5m7\nmode: rz\nmodes: sra,rne\noverflow: sat\nop: fma\n",
        "datapath: h100-fp16,fp32\nbackend: cpu\nout: x.csv\nfolder: .\nmerge: a b\nflag: yes\n"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) has(out, lines[i]);
    expect(0, "--format e4m3 --seed 1e3");
    has(out, "size: 3\nscale: 0.5\nseed: 1000\nlist-of: 1,2,3,7\ncounts: 2,4,5\nshape: ring\nparts: all\n");
    has(out, "merge: \nflag: no\n");
    expect(0, "--format e4m3 --parts tail,body,head --seed 0x1p40 --formats all --modes all");
    has(out, "parts: all\n");
    has(out, "seed: 1099511627776\n");
    has(out, "formats: binary32,tf32,binary16,");
    has(out, "modes: rne,rna,rz,ru,rd,ro,sra,srb,src\n");
    expect(0, "--format e4m3 --parts head,tail");
    has(out, "parts: tail,head\n"); /* printed like the default of --quick */
}

TEST(presets) {
    assert_string_equal(ulp_option_default(&options[0], ULP_PRESET_QUICK), "1");
    assert_string_equal(ulp_option_default(&options[0], ULP_PRESET_FULL), "10");
    assert_string_equal(ulp_option_default(&options[1], ULP_PRESET_FULL), "0.5");
}

TEST(words) {
    toy.takes_words = 1;
    expect(0, "--format e4m3 one -1 -inf - --size 4 two -- --size -x");
    has(out, "size: 4\n");
    has(out, "word: one\nword: -1\nword: -inf\nword: -\nword: two\nword: --size\nword: -x\n");
    expect(2, "--format e4m3 -x");
    has(err, "no option -x");
    toy.takes_words = 0;
}

TEST(refusals) {
    static const char *const bad[][2] = {
        {"--sizes 3", "no option --sizes; did you mean --size?"},
        {"--flavour x", "no option --flavour (--help lists the options)"},
        {"--hlep", "did you mean --help?"},
        {"--nets 3", "--nets would change nothing here"},
        {"--size", "--size needs a value: --size N, rows of a point"},
        {"--size --flag", "needs a value"},
        {"--flag=yes", "takes no value"},
        {"--help=1", "--help takes no value\n"},
        {"--version=1", "--version takes no value\n"},
        {"--seed=", "--seed '': has to be a whole number from 0"},
        {"--seed :3", "--seed :3: has to be a whole number from 0"},
        {"--formats all,fp16", "--formats 'all,fp16': all stands alone"},
        {"--modes rne,all", "--modes 'rne,all': all stands alone"},
        {"--parts all,head", "--parts 'all,head': all stands alone"},
        {"--modes sr/+8", "random bits"},
        {"--modes sr/", "random bits"},
        {"extra", "not an option"},
        {"--", "not an option"},
        {"--size 1.5", "--size 1.5: has to be a whole number from 0 to 1000000\n"},
        {"--size 3x", "not a number"},
        {"--size=", "not a number"},
        {"--size -1", "has to be a whole number from 0 to 1000000\n"},
        {"--scale nan", "--scale nan: has to be a finite number"},
        {"--scale 1e999", "--scale 1e999: has to be a finite number"},
        {"--seed -1", "--seed -1: has to be a whole number from 0 to 18446744073709551615\n"},
        {"--seed 18446744073709551616", "whole number from 0 to"},
        {"--seed 1.5", "whole number from 0 to"},
        {"--list-of 3..1", "--list-of '3..1': a range a..b has 1 to 1000000 numbers\n"},
        {"--list-of 0..1e7", "has to be from 0 to 100"},
        {"--list-of 1..", "--list-of '1..': a range is written a..b"},
        {"--list-of 2,..3", "--list-of '..3': a range is written a..b"},
        {"--list-of 1,,2", "an item is empty"},
        {"--list-of 1,", "an item is empty"},
        {"--counts 1,2.5", "--counts 2.5: has to be a whole number"},
        {"--counts 3,1,3", "3 is given twice"},
        {"--shape rign", "--shape: no choice 'rign'; did you mean 'ring'?\nknown: ring tree line\n"},
        {"--parts head,tial", "did you mean 'tail'?"},
        {"--parts head,head", "head is given twice"},
        {"--out=", "--out: the file's name is empty"},
        {"--formats bfloat61", "--formats: no format 'bfloat61'; did you mean 'bfloat16'?\n(`ulp help formats`"},
        {"--formats fp16:foo", "suffixes are :nosub, :bias=N with N from 0 to 63, and one of :inf"},
        {"--formats fp16,fp64", "--formats binary64: has to lie within binary32"},
        {"--formats fp16,half", "binary16 is given twice"},
        {"--formats q40.2",
         "--formats q40.2: out of range: qI.F takes I from 1, which counts the sign, and I + F up to 32"},
        {"--formats e12m3", "out of range: eXmY takes X from 1 to 11 and Y from 0 to 52"},
        {"--formats binary32p4se", "out of range: binaryKpP takes K from 3 to 16"},
        {"--formats fp16:wrap", "--formats fp16:wrap: only fixed point wraps around"},
        {"--modes rnd", "--modes: no mode 'rnd'; did you mean 'rne'?"},
        {"--modes rne/4", "random bits"},
        {"--modes sr/33", "random bits"},
        {"--mode sr/8", "no mode 'sr/8'"},
        {"--overflow up", "--overflow: no overflow policy 'up'\nknown: default inf sat nan wrap\n"},
        {"--overflow wrp", "--overflow: no overflow policy 'wrp'; did you mean 'wrap'?\nknown: default"},
        {"--op pow", "--op: no operation 'pow'\nknown: add sub mul div sqrt fma exp exp2 log"},
        {"--op sqr", "--op: no operation 'sqr'; did you mean 'sqrt'?\nknown: add"},
        {"--datapath h100-pf16", "(`ulp help datapaths` lists them)"},
        {"--datapath h100-fp16:F=99", "'F=99': F is a whole number from 0 to 40"},
        {"--datapath h100-fp16:F", "h100-fp16: F needs a value, as F=...: a whole number from 0 to 40 (bits kept"},
        {"--datapath fp32:promote", "fp32: promote needs a value, as promote=...: a whole number from 1 to"},
        {"--datapath int8:foo", "int8: 'foo' is not key=value; words stand between colons"},
        {"--backend tpu", "--backend: no backend 'tpu'; did you mean 'cpu'?\nknown: cpu cuda mpfr\n"},
        {"--folder nope", "--folder nope: there is no such folder\n"},
        {"--folder err.txt", "--folder err.txt: there is no such folder\n"},
        {"--folder=", "--folder: the folder's name is empty"},
        {"--size 4 --size 4", "--size is given twice: '4' and '4'"},
        {"--size 4 --size=5", "--size is given twice: '4' and '5'"},
        {"--flag --flag", "--flag is given twice"},
        {"--merge a --flag --merge b", "--merge is given twice: 'a' and 'b'"},
    };
    char line[200];
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        snprintf(line, sizeof line, "--format fp16 %s", bad[i][0]);
        expect(2, line);
        has(err, bad[i][1]);
        assert_int_equal(strncmp(err, "toy: ", 5), 0);
        assert_true(ulp_count_fields(err, '\n') <= 4); /* three lines */
        assert_string_equal(out, "");
    }
    expect(2, "--size 4");
    has(err, "toy: --format FORMAT is needed (see --help)\n");
}

/* Messages shorten a word of 100,000 characters at every place of the command line. */
TEST(long_words) {
    static const char *const before[] = {"--format ", "--format e4m3 --modes ", "--format e4m3 --datapath ",
                                         "--",        "--format e4m3 --size ",  "--format e4m3 --shape ",
                                         ""};
    enum { LENGTH = 100000 };
    for (size_t i = 0; i < COUNT_OF(before); i++) {
        ulp_text line = {0};
        ulp_text_print(&line, "%s", before[i]);
        for (int c = 0; c < LENGTH; c++) ulp_text_add(&line, "z", 1);
        expect(2, line.data);
        has(err, "zzz... (1000");
        assert_true(strlen(err) < 1000);
        ulp_text_free(&line);
    }
}

TEST(help) {
    static const char *const lines[] = {
        "toy - a command that prints",
        "\nusage: toy [OPTION...] [FILE...]\n",
        "\nthis toy\n  --size N              rows of a point [3] [--quick: 1] [--full: 10]\n",
        "\n  --shape WORD          a word: ring tree line [ring]\n",
        "\n  --overflow POLICY     policy: default inf sat nan wrap [default]\n",
        "\n  --op OP               operation: add sub mul div sqrt fma exp exp2 log log2\n",
        "\n  --backend NAME        machine: cpu cuda mpfr [cpu]\n",
        "\n  --format FORMAT       one format [needed]\n",
        "\nevery toy\n  --out FILE            the CSV\n                        [alpha,bravo,",
        "\n  --merge FILE...       finished points\n  --flag                a flag\n  --help ",
        "\nA paragraph of details, which is longer than the eighty columns of a terminal.\n",
        "topics here: formats, modes,",
        "\nenvironment: ULPLAB_ISA (baseline, neon, sve256, avx2, avx512),\n",
        "\nexit: 0 fine, 1 the run or a check failed,"};
    unsetenv("COLUMNS");
    expect(0, "--help");
    for (size_t i = 0; i < COUNT_OF(lines); i++) has(out, lines[i]);
    assert_true(widest(out) <= 80);
    setenv("COLUMNS", "300", 1);
    expect(0, "-h");
    assert_true(widest(out) <= 80);
    setenv("COLUMNS", "40", 1);
    expect(0, "--size 3 --help");
    assert_true(widest(out) <= 40);
    has(out, "\n  --size N\n      rows of a point [3] [--quick: 1]\n      [--full: 10]\n");
    unsetenv("COLUMNS");
    expect(0, "--version");
    has(out, ", experiment toy\n");
    has(out, ulp_build_id());
}

TEST(full_stdout) {
    static const char *const lines[] = {"--help", "--version", "--format fp16"};
    if (access("/dev/full", W_OK) != 0) skip();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run_to(lines[i], "/dev/full"), 1);
        has(err, "toy: cannot write the output: ");
    }
}

static void expect_variable(int want, const char *name, const char *value, const char *says) {
    setenv(name, value, 1);
    expect(want, "--format fp16");
    has(err, says);
    expect(0, "--help");
    unsetenv(name);
}

TEST(environment) {
    expect_variable(2, "ULPLAB_ISA", "foo",
                    "toy: ULPLAB_ISA=foo: no instruction set of that name; instruction sets here: baseline");
    expect_variable(0, "ULPLAB_ISA", "baseline", "");
    expect_variable(0, "ULPLAB_ISA", "", "");
    expect_variable(2, "ULPLAB_DATA", "no/such/folder", "toy: ULPLAB_DATA=no/such/folder: there is no such folder");
    expect_variable(0, "ULPLAB_DATA", ".", "");
    static const char *const threads[] = {"many", "0", "-1", "2,", ",2", "2;3", "1e9", "9999999999", "2 3"};
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        expect_variable(2, "OMP_NUM_THREADS", threads[i], "has to be a number of threads from 1 to 999999999\n");
    expect_variable(0, "OMP_NUM_THREADS", " 4 , 2 ", "");
}

static void count(void *context, size_t begin, size_t end) {
    __atomic_add_fetch((size_t *)context, end - begin, __ATOMIC_RELAXED);
}

/* The largest number of threads that the option takes does not end the program. */
TEST(threads) {
    size_t counted = 0;
    ulp_threads_set(65536);
    assert_true(ulp_threads_get() <= 1024);
    ulp_parallel_for(100000, 1, count, &counted);
    assert_int_equal(counted, 100000);
    ulp_threads_set(0);
}

int main(void) {
    char folder[] = "/tmp/ulp-options-XXXXXX";
    static const char *const variables[] = {"ULPLAB_ISA", "ULPLAB_DATA", "OMP_NUM_THREADS", "COLUMNS"};
    for (int i = 0; i < 4; i++) unsetenv(variables[i]);
    if (!mkdtemp(folder) || chdir(folder) != 0) return 2;
    const int status = run_listed_tests(NULL, NULL);
    unlink("out.txt");
    unlink("err.txt");
    rmdir(folder);
    return status;
}
