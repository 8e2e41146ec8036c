/* t_harness.c - a toy experiment in the harness: options, threads, places, claims, exit statuses. */
#include "toy.h"

TEST(values) {
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
    for (size_t i = 0; i < COUNT_OF(lines); i++) assert_true(has("v.csv", lines[i]));
    assert_true(lacks("v.csv", ",nan")); /* a cell without a number is empty */
    assert_true(has("v.run.json", "\"verdict\": \"PASS\""));
    assert_true(has("stdout.txt", "PASS rows are found (2000 of 2000)"));
    assert_false(is_there("v.csv.part") || is_there("v.csv.tmp"));
    expect_exit(0, "--size=1000 --quick --scale -0.125 --list-of 5..5 --formats fp16 --shape tree --parts "
                   "head,tail --seed 16 --out w.csv --quiet");
    assert_same("v.csv", "w.csv");
    assert_true(has("stdout.txt", ""));
    char *silent = read_all("stdout.txt");
    assert_string_equal(silent, "");
    free(silent);
}

TEST(defaults) {
    expect_exit(0, "--quick --out q.csv");
    assert_true(has("q.csv", "# formats: e4m3\n") && has("q.csv", "# size: 1\n"));
    expect_exit(0, "--full --out f.csv --size 0"); /* points without rows */
    assert_true(has("f.csv", "# size: 0\n") && has("f.csv", "# counts: 2,4,5\n"));
    expect_exit(0, "--modes all --formats all --list-of 0..2 --out a.csv"); /* all: all formats that the toy takes */
    assert_true(has("a.csv", "# formats: binary32,tf32,binary16,") && has("a.csv", ",q8.0,q4.0,"));
    expect_exit(0, "--size 2");
    assert_true(is_there("results/toy.csv") && is_there("results/toy.run.json"));
    expect_exit(0, "--help");
    assert_true(has("stdout.txt", "--shape WORD") && has("stdout.txt", "--counts N,... ") &&
                has("stdout.txt", "[--full: 10]"));
    assert_true(has("stdout.txt", "--shard I/N ") && has("stdout.txt", "--merge FILE... ") &&
                has("stdout.txt", "--data PATH ") && has("stdout.txt", "(fp16, bf16, any eXmY or qI.F),") &&
                has("stdout.txt", "ulp help TOPIC"));
    expect_exit(0, "--version");
}

TEST(refusals) {
    static const char *const bad[][2] = {
        {"--sizes 3", "did you mean --size?"},
        {"--size", "needs a value"},
        {"--size --quick", "needs a value"},
        {"--size 1.5", "whole number"},
        {"--size 3x", "not a number"},
        {"--size -1", "--size -1: has to be a whole number from 0 to 1000000\n"},
        {"--size 1e7", "whole number from 0 to 1000000"},
        {"--scale nan", "--scale nan: has to be a finite number"},
        {"--scale -inf", "--scale -inf: has to be a finite number"},
        {"--scale 1e999", "--scale 1e999: has to be a finite number"},
        {"--size 1e999", "finite number"},
        {"--scale infinite", "not a number"},
        {"--seed -1", "--seed -1: has to be a whole number from 0 to 9007199254740992\n"},
        {"--seed 1e17", "--seed 1e17: has to be a whole number from 0 to 9007199254740992\n"},
        {"--size 1e17", "whole number from 0 to 1000000"},
        {"--out=", "--out: the file's name is empty"},
        {"--list-of 3..1", "--list-of '3..1': a range a..b has 1 to 1000000 numbers\n"},
        {"--list-of 1,,2", "an item is empty"},
        {"--list-of 1,", "an item is empty"},
        {"--list-of 101", "from 0 to 100"},
        {"--counts 1,2.5", "--counts 2.5: has to be a whole number"},
        {"--counts 1..1.5", "--counts 1.5: has to be a whole number"},
        {"--counts -10", "--counts -10: has to be a whole number from -9 to 9\n"},
        {"--counts 3,1,3", "3 is given twice"},
        {"--shape rign", "did you mean 'ring'?"},
        {"--parts head,tial", "did you mean 'tail'?"},
        {"--shape ring,tree", "no choice"},
        {"--formats bfloat61", "did you mean 'bfloat16'?"},
        {"--formats fp16,fp64", "--formats binary64: too wide"},
        {"--formats q40.20", "--formats q40.20"},
        {"--formats fp16,half", "binary16 is given twice"},
        {"--modes rnx", "no mode 'rnx'"},
        {"--modes rne/4", "random bits"},
        {"--modes sr/33", "random bits"},
        {"--datapath fp32", "would change nothing"},
        {"--quick --full", "exclude"},
        {"--quick=yes", "takes no value"},
        {"extra", "not an option"},
        {"--", "not an option"},
        {"--shard 2/2", "0 <= I < N"},
        {"--shard 0/0", "0 <= I < N"},
        {"--shard 1/2/3", "0 <= I < N"},
        {"--shard -1/2", "0 <= I < N"},
        {"--threads 1e9", "whole number from 0"},
        {"--resume --out -", "needs --out to be a file"},
        {"--data=", "--data: the path is empty"},
        {"--merge", "needs a value: --merge FILE..."},
        {"--size 4 --size=5", "--size is given twice: '4' and '5'"},
        {"--shard 0/99999999999", "has to be I/N with 0 <= I < N <= 1000000"},
        {"--list --merge nosuch", "--list and --merge exclude each other"},
        {"--list --resume", "--list and --resume exclude each other"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        expect_exit(2, bad[i][0]);
        assert_true(has("stderr.txt", bad[i][1]));
    }
    expect_said(2, "--flavour x", "no option --flavour (--help lists the options)");
}

TEST(statuses) {
    expect_exit(1, "--claim fail --out c.csv --quiet");
    assert_true(has("stdout.txt", "FAIL rows are found") && has("c.run.json", "\"verdict\": \"FAIL\"") &&
                is_there("c.csv"));
    static const char *const reasons[][2] = {
        {"--scale 8", "PASS some options ("},
        {"--size 4", "SKIP some options (--size is 4, the claim is about 3; "},
        {"--scale 0.125", "SKIP some options (--scale is 0.125, the claim is about 0.25 or more; "},
        {"--shape tree --scale 0", "SKIP some options (--shape is tree, the claim is about ring; "},
    };
    for (size_t i = 0; i < COUNT_OF(reasons); i++) {
        char line[128];
        snprintf(line, sizeof line, "--claim skip --out w.csv --restart %s", reasons[i][0]);
        expect_exit(0, line);
        assert_true(has("stdout.txt", reasons[i][1]));
    }
    expect_exit(0, "--claim skip --out c.csv");
    assert_true(has("stdout.txt", "SKIP a claim") && has("c.run.json", "\"a claim \\\"quoted\\\"\""));
    char line[80];
    static const int exits[][2] = {{ULP_NO_DEVICE, 3}, {ULP_UNSUPPORTED, 2}, {ULP_NO_MEMORY, 1}, {ULP_BAD_FILE, 1}};
    for (int i = 0; i < 4; i++) {
        snprintf(line, sizeof line, "--status %d --out s%d.csv", exits[i][0], i);
        expect_said(exits[i][1], line, "toy: point binary16 rne 3\n"); /* the sentence without the text of the status */
        assert_false(is_there("s0.csv"));
    }
    static const int unplanned[][2] = {{ULP_NO_DEVICE, 3}, {ULP_UNSUPPORTED, 2}, {ULP_NO_MEMORY, 1}, {ULP_BAD_FILE, 2}};
    for (int i = 0; i < 4; i++) { /* a file that plan() reads counts as input */
        snprintf(line, sizeof line, "--unplanned %d --out u.csv", unplanned[i][0]);
        expect_said(unplanned[i][1], line, "toy: not planned\n");
    }
    expect_exit(0, "--help");
    assert_true(has("stdout.txt", "exit: 0 fine, 1 the run or a check failed, 2 usage or bad input, 3 the machine"));
}

TEST(places) {
    expect_exit(0, "--out plain.csv --quiet");
    expect_exit(0, "--out -");
    assert_same("stdout.txt", "plain.csv");
    assert_true(has("stderr.txt", "PASS rows are found"));
    expect_exit(2, "--out nowhere/x.csv");
    assert_true(has("stderr.txt", "cannot write nowhere/x.csv.part: ") && has("stderr.txt", "--out"));
    assert_int_equal(mkdir("folder", 0777), 0);
    expect_said(2, "--out folder", "cannot write folder: ");
    assert_int_equal(mkdir("taken.csv.part", 0777), 0);
    expect_said(2, "--out taken.csv", "cannot write taken.csv.part: ");
    if (geteuid() != 0) { /* root may write to every folder */
        assert_int_equal(mkdir("locked", 0555), 0);
        expect_exit(2, "--out locked/x.csv");
        assert_true(has("stderr.txt", "cannot write locked/x.csv.part: "));
    }
    if (access("/dev/full", W_OK) == 0) {
        expect_exit(1, "--out /dev/full");
        assert_true(has("stderr.txt", "cannot write /dev/full: "));
    }
}

TEST(threads) {
    expect_exit(0, "--threads 1 --size 50 --list-of 0..20 --out t1.csv");
    expect_exit(0, "--threads 2 --size 50 --list-of 0..20 --out t2.csv");
    expect_exit(0, "--threads 7 --size 50 --list-of 0..20 --out t7.csv");
    assert_same("t1.csv", "t2.csv");
    assert_same("t1.csv", "t7.csv");
}

TEST(streams) {
    assert_true(ulp_stream_named(7, "a").stream ==
                0xaf63dc4c8601ec8cu); /* FNV-1a 64 of "a": Fowler, Noll, Vo; RFC 9923 */
    assert_true(ulp_stream_named(7, "%s", "").stream == 0xcbf29ce484222325u);
    assert_true(ulp_stream_named(7, "run %d", 1).stream != ulp_stream_named(7, "run %d", 2).stream);
    assert_true(ulp_stream_named(7, "a").seed == 7);
}

static int run_all(void) { return run_listed_tests(NULL, NULL); }

int main(void) { return in_a_folder(run_all); }
