/* t_resume.c - runs that are killed and resumed, divided into shards, or started twice; runs that must stay whole.
 *
 * The file is long because every case is a run of the same toy experiment. */
#include "toy.h"

TEST(resume) {
    static const char *const deaths[] = {"--signal 9", "--signal 2", "--signal 15", "--signal 2 --slow", "--status 7"};
    char line[120];
    expect_exit(0, "--out whole.csv");
    for (size_t i = 0; i < COUNT_OF(deaths); i++) {
        remove("r.csv");
        snprintf(line, sizeof line, "--threads 1 --out r.csv %s", deaths[i]);
        expect_exit(i == 0 ? 128 + 9 : 1, line);
        assert_false(is_there("r.csv"));
        assert_true(has("r.csv.part", "# end 1: 3 crc32 "));
        append("r.csv.part", "# point 9: e4m3 rne 2\ne4m3,rne,0,0.1"); /* as after a kill during writing */
        expect_said(2, "--out r.csv --resume --seed 2", "made with other options: there '# seed: 1', here '# seed: 2'");
        expect_exit(0, "--out r.csv --resume");
        assert_same("whole.csv", "r.csv");
        assert_true(has("r.run.json", strstr(deaths[i], "--signal 2") || strstr(deaths[i], "15")
                                          ? "\"points_resumed\": "
                                          : "\"points_resumed\": 2"));
        assert_false(is_there("r.csv.part"));
    }
    expect_said(0, "--out r.csv --resume", "no r.csv.part to resume");
    assert_same("whole.csv", "r.csv");
    /* killed, resumed and killed again: all points that were finished are still there */
    expect_exit(128 + 9, "--threads 1 --out again.csv --signal 9");
    expect_exit(128 + 9, "--threads 1 --out again.csv --resume --signal 9");
    assert_true(has("again.csv.part", "# end 0: 3 crc32 ") && has("again.csv.part", "# end 1: 3 crc32 "));
}

TEST(shards) {
    char line[400];
    expect_exit(0, "--out whole.csv");
    for (int n = 1; n <= 20; n += n == 3 ? 17 : 1) { /* with 16 points, some of 20 shards are empty */
        char merge[600] = "--out m.csv --merge";
        for (int i = n - 1; i >= 0; i--) {
            snprintf(line, sizeof line, "--shard %d/%d --out s%d-%d --quiet --claim fail", i, n, i, n);
            expect_exit(0, line);
            snprintf(merge + strlen(merge), sizeof merge - strlen(merge), " s%d-%d", i, n);
        }
        expect_exit(0, merge);
        assert_same("whole.csv", "m.csv");
        assert_true(has("m.run.json", "\"points_resumed\": 16"));
    }
    expect_exit(0, "--shard 1/3");
    assert_true(is_there("results/toy.shard-1-of-3.csv"));
    expect_exit(0, "--merge results/toy.shard-1-of-3.csv --out m.csv");
    assert_true(has("stderr.txt", "5 of 16 points are in the files to merge; computing the other 11\n"));
    assert_true(lacks("stderr.txt", "cut off"));
    assert_same("whole.csv", "m.csv");
    expect_said(2, "--merge whole.csv --out m.csv", "not a finished CSV");
    expect_exit(2, "--merge results/toy.shard-1-of-3.csv --out m.csv --size 4");
    expect_said(2, "--merge . --out m.csv", "--merge: cannot read .: ");
    expect_said(2, "--out m.csv --merge=", "--merge: the name of a file is empty");
    expect_said(2, "--merge missing --out m.csv", "--merge: cannot read missing: ");
    expect_exit(0, "--shard 0/16 --out forged.csv");
    append("forged.csv", "# piece 1: binary16 rne 2\n# end 1: 0 crc32 18bd1aba\n");
    expect_exit(1, "--merge results/toy.shard-1-of-3.csv forged.csv --out m.csv");
    assert_true(has("stderr.txt", "point 'binary16 rne 2' differs"));
    expect_exit(0, "--shard 0/16 --out forged.csv");
    append("forged.csv", "# piece 1: binary16 rne 2\nno row\n# end 1: 1 crc32 27221aae\n");
    expect_said(2, "--merge forged.csv --out m.csv",
                "the lines of point 'binary16 rne 2' are no rows of this experiment");
    expect_exit(2, "--merge /dev/null --out m.csv");
}

/* A run that pauses in its third point keeps its lock; after a kill it blocks no other run. */
TEST(two_at_once) {
    static const char *const others[] = {"--out l.csv", "--out ./l.csv --resume", "--out l.csv --size 2"};
    char line[80];
    int status;
    expect_exit(0, "--out whole.csv");
    snprintf(line, sizeof line, "--threads 1 --out l.csv --signal %d", SIGSTOP);
    for (int killed = 0; killed < 2; killed++) {
        pid_t first = start_toy(line);
        assert_int_equal(waitpid(first, &status, WUNTRACED), first);
        assert_true(WIFSTOPPED(status));
        char *before = read_all("l.csv.part");
        for (size_t i = 0; i < COUNT_OF(others); i++) { expect_said(2, others[i], "another run is writing "); }
        assert_false(is_there("l.csv") || is_there("l.csv.part.tmp"));
        char *after = read_all("l.csv.part");
        assert_true(before && after);
        assert_string_equal(before, after);
        free(before);
        free(after);
        expect_exit(0, "--out elsewhere.csv");
        kill(first, killed ? SIGKILL : SIGCONT);
        assert_int_equal(end_of(first), killed ? 128 + SIGKILL : 0);
        assert_int_equal(is_there("l.csv.part"), killed);
        if (killed) expect_exit(0, "--out l.csv --restart");
        assert_same("whole.csv", "l.csv");
        assert_false(is_there("l.csv.part"));
        remove("l.csv");
    }
}

/* Write the file `to`: `from` with the first `old` after the text `after` replaced by `new`. */
static void change(const char *to, const char *from, const char *after, const char *old, const char *new) {
    char *text = read_all(from), *at = text ? strstr(text, after) : NULL;
    at = at ? strstr(at + strlen(after), old) : NULL;
    assert_non_null(at);
    FILE *file = fopen(to, "w");
    assert_non_null(file);
    assert_true(fwrite(text, 1, (size_t)(at - text), file) == (size_t)(at - text) && fputs(new, file) >= 0 &&
                fputs(at + strlen(old), file) >= 0 && fclose(file) == 0);
    free(text);
}

/* A resumed run computes a damaged piece again; a merge refuses it and names it. */
TEST(damage) {
    static const char *const damages[][4] = {
        {"rne 2\n", ",1,0.", ",1,0x", "point 'binary16 rne 2' is damaged: its lines do not match"},
        {"rne 2\n", ",1,0.", ",1#0.", "point 'binary16 rne 2' is damaged: its lines do not match"},
        {"rne 2\n", ",1,0.", ",1,0,", "point 'binary16 rne 2' is damaged: its lines do not match"},
        {"rne 2\n", "binary16,", "#inary16,", "point 'binary16 rne 2' is damaged: its end line is missing"},
        {"rne 2\n", "# end 1: 3", "# end 1: 4", "point 'binary16 rne 2' is damaged: its lines do not match"},
        {"rne 2\n", "# end 1: 3 crc32 ", "# end 1: 3 crc33 ",
         "point 'binary16 rne 2' is damaged: its lines do not match"},
        {"rne 1\n", "# piece 1: binary16", "# piece 1: binary61",
         "a piece is damaged: this line names none of this run"},
    };
    expect_exit(0, "--out whole.csv");
    expect_exit(0, "--shard 0/1 --out shard.csv");
    expect_exit(0, "--merge shard.csv --out m.csv");
    for (size_t i = 0; i < COUNT_OF(damages); i++) {
        change("bad.csv", "shard.csv", damages[i][0], damages[i][1], damages[i][2]);
        expect_exit(2, "--merge bad.csv --out m.csv");
        assert_true(has("stderr.txt", "bad.csv, line ") && has("stderr.txt", damages[i][3]));
        assert_int_equal(rename("bad.csv", "d.csv.part"), 0);
        expect_exit(0, "--resume --out d.csv");
        assert_true(has("stderr.txt", damages[i][3]) && has("stderr.txt", "; it is computed again\n"));
        assert_true(has("d.run.json", "\"points_resumed\": 15"));
        assert_same("whole.csv", "d.csv");
    }
    expect_exit(2, "--merge whole.csv --out m.csv");
    assert_true(has("stderr.txt", "whole.csv, line ") && has("stderr.txt", "not a finished CSV"));
}

/* Pieces without a CRC-32, pieces that occur twice in a file, and pieces of another build are not used. */
TEST(foreign_pieces) {
    expect_exit(0, "--out whole.csv");
    expect_exit(0, "--shard 0/1 --out shard.csv");
    change("bad.csv", "shard.csv", "# end 1: 3", " crc32 ", " crc23 ");
    expect_said(2, "--merge bad.csv --out m.csv", "point 'binary16 rne 2' is damaged: its lines do not match");
    change("bad.csv", "shard.csv", "rne 1\n", "# piece 1: binary16 rne 2\n", "# piece 0: binary16 rne 1\n");
    expect_exit(2, "--merge bad.csv --out m.csv");
    char *text = read_all("shard.csv"), *first = strstr(text, "# piece 0: "), *second = strstr(text, "# piece 1: ");
    assert_true(first && second);
    *second = 0;
    append("shard.csv", first); /* the whole first piece a second time */
    free(text);
    expect_said(2, "--merge shard.csv --out m.csv", "point 'binary16 rne 1' is damaged: it stands in this file twice");
    expect_exit(0, "--shard 0/1 --out built.csv");
    change("bad.csv", "built.csv", "# columns: ", "# build: ", "# build: f");
    expect_said(2, "--merge bad.csv --out m.csv", "was made by another build");
}

/* A shard does not replace the file of another shard; files with CRLF line ends and a byte order mark are read. */
TEST(shard_files) {
    expect_exit(0, "--out whole.csv");
    expect_exit(0, "--shard 0/2 --out first.csv");
    expect_exit(2, "--shard 1/2 --out first.csv");
    assert_true(has("stderr.txt", "first.csv holds shard 0/2: give shard 1/2 a name of its own"));
    expect_exit(0, "--shard 0/2 --out first.csv");
    expect_exit(0, "--shard 1/2 --out second.csv");
    char *text = read_all("first.csv");
    FILE *file = fopen("dos.csv", "w");
    assert_true(text && file && fputs("\xef\xbb\xbf", file) >= 0);
    for (const char *c = text; *c; c++) assert_true((*c != '\n' || fputc('\r', file) >= 0) && fputc(*c, file) >= 0);
    assert_int_equal(fclose(file), 0);
    free(text);
    expect_exit(0, "--merge dos.csv second.csv --out m.csv");
    assert_true(has("m.run.json", "\"points_resumed\": 16"));
    assert_same("whole.csv", "m.csv");
}

/* A merge says that a file is cut off, at whichever byte, and computes its last point again. */
TEST(cut_shard) {
    static const char *const cuts[][2] = {
        {"# piece 1: binary16 rne 2\n", "1 of 16 points are"}, /* the file ends after this text: its points */
        {"# piece 1: binary16 rne 2\nbinary16,rne,0,0.", "1 of 16 points are"},
        {"\n# end 1: 3 crc32 ", "1 of 16 points are"},
        {"\n# piece 2: bin", "2 of 16 points are"},
        {"\n# end 15: ", "15 of 16 points are"},
    };
    char line[120];
    expect_exit(0, "--out whole.csv");
    expect_exit(0, "--shard 0/1 --out shard.csv");
    char *text = read_all("shard.csv");
    for (size_t i = 0; i < COUNT_OF(cuts); i++) {
        const char *at = text ? strstr(text, cuts[i][0]) : NULL;
        FILE *file = fopen("cut.csv", "w");
        assert_true(at && file);
        const size_t length = (size_t)(at - text) + strlen(cuts[i][0]);
        size_t number = text[length - 1] != '\n';
        for (size_t c = 0; c < length; c++) number += text[c] == '\n';
        assert_true(fwrite(text, 1, length, file) == length && fclose(file) == 0);
        expect_exit(0, "--merge cut.csv --out m.csv");
        snprintf(line, sizeof line, "cut.csv is cut off at line %zu: its last point is not whole and is not used\n",
                 number);
        assert_true(has("stderr.txt", line) && has("stderr.txt", cuts[i][1]));
        assert_same("whole.csv", "m.csv");
    }
    text[strlen(text) - 1] = 0; /* a file without its last line break is whole */
    FILE *file = fopen("cut.csv", "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
    free(text);
    expect_exit(0, "--merge cut.csv --out m.csv");
    assert_true(has("m.run.json", "\"points_resumed\": 16") && lacks("stderr.txt", "cut off"));
}

/* A merge does not replace one of the files that it reads, under whichever name. */
TEST(merge_into_shard) {
    expect_exit(0, "--shard 0/2 --out first.csv");
    expect_exit(0, "--shard 1/2 --out second.csv");
    char *before = read_all("first.csv");
    remove("same.csv");
    assert_int_equal(symlink("first.csv", "same.csv"), 0);
    static const char *const lines[] = {"--merge first.csv second.csv --out first.csv",
                                        "--merge second.csv ./first.csv --out same.csv",
                                        "--merge second.csv same.csv --out first.csv --restart"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        expect_said(2, lines[i], " is the output, too, and would be replaced: give another --out\n");
        char *after = read_all("first.csv");
        assert_true(before && after);
        assert_string_equal(before, after);
        free(after);
    }
    free(before);
    assert_false(is_there("first.csv.part"));
}

/* A symbolic link stays a link, and the file behind it gets the rows. */
TEST(link) {
    struct stat about;
    expect_exit(0, "--out whole.csv");
    assert_int_equal(symlink("behind.csv", "link.csv"), 0);
    expect_exit(0, "--out link.csv");
    assert_true(lstat("link.csv", &about) == 0 && S_ISLNK(about.st_mode));
    assert_same("whole.csv", "behind.csv");
    expect_exit(0, "--out link.csv --size 3");
    assert_true(lstat("link.csv", &about) == 0 && S_ISLNK(about.st_mode));
}

/* The points of a stopped run are used or deleted on request only. */
TEST(spared) {
    static const char *const lines[] = {"--out k.csv", "--out k.csv --seed 2", "--out k.csv --merge k.csv.part"};
    expect_exit(0, "--out whole.csv");
    expect_exit(128 + 9, "--threads 1 --out k.csv --signal 9");
    char *before = read_all("k.csv.part");
    assert_non_null(before);
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        expect_said(2, lines[i],
                    "k.csv.part holds 2 finished points of a run that was stopped: --resume goes on with "
                    "them, --restart forgets them\n");
        char *after = read_all("k.csv.part");
        assert_non_null(after);
        assert_string_equal(before, after);
        free(after);
    }
    free(before);
    expect_said(2, "--out k.csv --resume --restart", "--resume and --restart exclude each other");
    expect_exit(0, "--out k.csv --restart");
    assert_same("whole.csv", "k.csv");
    assert_true(has("k.run.json", "\"points_resumed\": 0"));
    expect_exit(2, "--shard 2/16 --out k.csv"); /* a whole run is no shard */
    assert_true(has("stderr.txt", "k.csv holds no shard: give shard 2/16 a name of its own with --out"));
    assert_same("whole.csv", "k.csv");
    expect_exit(128 + 9, "--shard 2/16 --out l.csv --signal 9"); /* killed in its first point */
    assert_true(is_there("l.csv.part"));
    expect_exit(0, "--out l.csv");
}

TEST(spared_checkpoint) {
    append("c.csv.part.5.ckpt", "steps");
    expect_said(2, "--out c.csv",
                "c.csv.part.5.ckpt is the checkpoint of a run that was stopped: --resume goes on from it, "
                "--restart forgets it\n");
    assert_true(is_there("c.csv.part.5.ckpt") && !is_there("c.csv.part") && !is_there("c.csv"));
    remove("c.csv.part.5.ckpt");
    expect_exit(128 + 9, "--threads 1 --out c.csv --signal 9");
    append("c.csv.part.1.ckpt", "steps"); /* as after a kill before the removal; the point is kept */
    expect_exit(0, "--out c.csv --resume");
    assert_false(is_there("c.csv.part.1.ckpt"));
}

/* A run that fails before its first point leaves no file; an empty .part counts as no file. */
TEST(nothing_to_keep) {
    expect_exit(1, "--threads 1 --shard 2/16 --status 7 --out n.csv");
    assert_false(is_there("n.csv.part") || is_there("n.csv"));
    append("n.csv.part", "");
    expect_said(0, "--resume --out n.csv", "n.csv.part is empty, nothing to resume");
    append("n.csv.part", "");
    expect_exit(0, "--out n.csv");
    append("n.csv.part", "my notes\n");
    expect_said(2, "--out n.csv --resume", "n.csv.part, line 1: this is no file of a stopped run\n");
    expect_exit(2, "--out n.csv --restart");
    assert_true(has("stderr.txt", "n.csv.part is no file of a stopped run: move it away") && has("n.csv.part", "my"));
    expect_said(2, "--out other.csv --merge n.csv.part", "n.csv.part, line 1: this is no file of a stopped run\n");
    remove("n.csv.part");
    struct stat about;
    assert_int_equal(mkfifo("p.csv.part", 0600), 0); /* a pipe is not replaced by a file */
    expect_said(2, "--out p.csv", "p.csv.part is a device or a pipe: choose another place with --out");
    assert_true(stat("p.csv.part", &about) == 0 && S_ISFIFO(about.st_mode));
    char name[280] = "--out "; /* the longest name that a .part file can have leaves no room for .part.tmp */
    memset(name + 6, 'n', 250);
    expect_exit(2, name);
    assert_false(is_there(strcat(name + 6, ".part")));
}

TEST(whole) {
    static const char *const cuts[] = {"--shard 0/2", "--merge a b", "--merge=a", "--resume"};
    toy.whole = 1;
    for (size_t i = 0; i < COUNT_OF(cuts); i++) { expect_said(2, cuts[i], "run it whole"); }
    expect_exit(0, "--list --out x.csv");
    assert_true(has("stdout.txt", "toy --out x.csv # all points: this experiment is not cut into shards"));
    expect_exit(0, "--help");
    char *help = read_all("stdout.txt");
    assert_true(help && !strstr(help, "--shard") && !strstr(help, "--resume"));
    free(help);
    expect_said(1, "--threads 1 --signal 2 --slow --out w.csv",
                "stopped after 2 of 16 points; w.csv.part keeps all finished points\n");
    assert_true(has("w.csv.part", "# end 1: 3 crc32 ") && lacks("w.csv.part", "# piece 2") && !is_there("w.csv"));
    expect_exit(128 + 9, "--threads 1 --signal 9 --out w.csv");
    assert_true(has("w.csv.part", "# end 1: 3 crc32 "));
    expect_exit(0, "--out w.csv"); /* the run cannot be resumed, so it needs no --restart */
    assert_false(is_there("w.csv.part"));
    append("w.csv.part", "my notes\n");
    expect_exit(2, "--out w.csv");
    assert_true(has("w.csv.part", "my notes"));
    remove("w.csv.part");
    expect_exit(0, "--out w.csv --restart");
    toy.whole = 0;
}

/* A point that fails leaves the others; the head of the CSV says what failed and why. */
TEST(goes_on) {
    char line[120];
    toy.whole = toy.goes_on = toy.threads_inside = 1;
    const int ends[][2] = {{ULP_DEVICE_FAILED, 1}, {ULP_UNSUPPORTED, 0}};
    for (int i = 0; i < 2; i++) {
        const char *says = i == 0 ? "failed: binary16 rne 3: point binary16 rne 3\n"
                                  : "left out: binary16 rne 3: point binary16 rne 3\n";
        snprintf(line, sizeof line, "--formats binary16 --out g.csv --status %d", ends[i][0]);
        expect_exit(ends[i][1], line);
        assert_true(has("stderr.txt", says) && has("stderr.txt", i == 0 ? ", 1 failed, " : ", 1 left out, "));
        snprintf(line, sizeof line, "# %sformat,mode,", says);
        assert_true(has("g.csv", line));
        assert_true(has("g.csv", "\nbinary16,rne,2,") && has("g.csv", "\nbinary16,sra/8,2,"));
        assert_true(has("g.run.json", "\"rows\": 21,") && !is_there("g.csv.part"));
    }
    remove("g.csv");
    snprintf(line, sizeof line, "--out g.csv --status %d", ULP_NO_DEVICE);
    expect_exit(1, line);
    assert_true(has("stderr.txt", "toy: the device is lost\n") && has("stderr.txt", "stopped after 2 of 16 points; "));
    assert_true(has("g.csv.part", "# end 1: 3 crc32 ") && has("g.csv.part", "# failed: binary16 rne 3: point "));
    assert_false(is_there("g.csv"));
    toy.whole = toy.goes_on = toy.threads_inside = 0;
}

TEST(list) {
    expect_exit(0, "--list --size 2 --out x.csv --seed 3");
    assert_true(
        has("stdout.txt", "toy --seed 3 --size 2 --quiet --shard 15/16 --out x.shard-15-of-16.csv # e4m3 sra/8 7\n"));
    assert_true(has("stdout.txt", "# then: toy --seed 3 --size 2 --out x.csv --merge x.shard-*-of-16.csv\n"));
    assert_false(is_there("x.csv"));
}

static int run_all(void) { return run_listed_tests(NULL, NULL); }

int main(void) { return in_a_folder(run_all); }
