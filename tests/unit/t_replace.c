/* t_replace.c - files that are written whole or not at all: two processes, names that are there, exit(), the files that
 * are left.
 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/replace.h"
#include "support.h"

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static int holds(const char *path, const char *text) {
    char got[64] = "";
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    const size_t n = fread(got, 1, sizeof got - 1, file);
    fclose(file);
    return n == strlen(text) && strcmp(got, text) == 0;
}

static int is_there(const char *path) { return access(path, F_OK) == 0; }

/* Run body() in another process, and return its exit status. */
static int elsewhere(void (*body)(void)) {
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        body();
        _exit(7);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void try_to_open(void) {
    ulp_replacement *r;
    _exit((int)ulp_replacement_open(&r, "x"));
}

static void lock_the_file(void) {
    FILE *file;
    _exit((int)ulp_lock_open(&file, "x"));
}

TEST(replaces) {
    ulp_replacement *r;
    put("x", "old");
    put("x.tmp", "the rest of a process that was killed, longer than the new text");
    assert_int_equal(ulp_replacement_open(&r, "x"), ULP_LOCK_OURS);
    assert_true(fputs("new", r->file) >= 0);
    assert_true(holds("x", "old"));
    assert_int_equal(elsewhere(try_to_open), ULP_LOCK_TAKEN);
    assert_true(ulp_replacement_finish(r));
    assert_true(holds("x", "new") && !is_there("x.tmp"));
    assert_int_equal(elsewhere(try_to_open), ULP_LOCK_OURS);
    remove("x.tmp"); /* of _exit() */
}

TEST(drops) {
    ulp_replacement *r;
    put("x", "old");
    assert_int_equal(ulp_replacement_open(&r, "x"), ULP_LOCK_OURS);
    ulp_replacement_drop(r);
    assert_true(holds("x", "old") && !is_there("x.tmp"));
    assert_int_equal(ulp_replacement_open(&r, "no/x"), ULP_LOCK_FAILED);
    assert_int_equal(errno, ENOENT);
    assert_null(r);
    assert_int_equal(mkdir("d", 0777), 0); /* no file replaces a folder */
    assert_int_equal(ulp_replacement_open(&r, "d"), ULP_LOCK_OURS);
    assert_false(ulp_replacement_finish(r));
    assert_int_equal(errno, EISDIR);
    assert_false(is_there("d.tmp"));
}

TEST(new) {
    ulp_replacement *r;
    put("x", "old");
    assert_int_equal(ulp_replacement_open(&r, "x"), ULP_LOCK_OURS);
    assert_false(ulp_replacement_finish_new(r));
    assert_int_equal(errno, EEXIST);
    assert_true(holds("x", "old") && !is_there("x.tmp"));
    assert_int_equal(ulp_replacement_open(&r, "y"), ULP_LOCK_OURS);
    assert_true(fputs("new", r->file) >= 0 && ulp_replacement_finish_new(r));
    assert_true(holds("y", "new") && !is_there("y.tmp"));
}

TEST(keeps_lock) {
    ulp_replacement *r;
    assert_int_equal(ulp_replacement_open(&r, "x"), ULP_LOCK_OURS);
    FILE *file = ulp_replacement_keep(r);
    assert_non_null(file);
    assert_int_equal(elsewhere(lock_the_file), ULP_LOCK_TAKEN);
    assert_true(fputs("more", file) >= 0 && fclose(file) == 0);
    assert_true(holds("x", "more"));
    assert_int_equal(elsewhere(lock_the_file), ULP_LOCK_OURS);
}

static void leave_by_exit(void) {
    ulp_replacement *r, *s;
    if (ulp_replacement_open(&r, "x") != ULP_LOCK_OURS || ulp_replacement_open(&s, "z") != ULP_LOCK_OURS) _exit(8);
    fputs("half", r->file);
    if (!ulp_replacement_finish(s)) _exit(9);
    if (freopen("/dev/null", "w", stdout) == NULL) _exit(10);
    exit(0);
}

TEST(exit) {
    put("x", "old");
    assert_int_equal(elsewhere(leave_by_exit), 0);
    assert_true(holds("x", "old") && !is_there("x.tmp") && holds("z", "") && !is_there("z.tmp"));
}

int main(void) {
    char folder[] = "/tmp/ulp-replace-XXXXXX", command[80];
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    const int failed = run_listed_tests(NULL, NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed != 0;
}
