/* replay.c - runs commands again and again, and lets each call fail in its turn; see README.md.
 *
 * For each case: an undisturbed run counts the calls of each family. Then the command runs once for each call and each
 * way of failing. What the run leaves is judged, and the same command runs without a fault and has to give the files of
 * the undisturbed run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "judge.h"
#include "power.h"

static const char *const names[] = {FAULT_NAMES};

/* The ways of failing of each family. "28" is ENOSPC, and so on: a number is an errno. */
static const struct way {
    fault_family family;
    const char *how;
    int all;
    int power; /* 1: then the power fails */
    const char *text;
} ways[] = {
    {FAULT_MEMORY, "12", 0, 0, "ENOMEM once"},
    {FAULT_MEMORY, "12", 1, 0, "ENOMEM from then on"},
    {FAULT_THREAD, "11", 0, 0, "EAGAIN once"},
    {FAULT_THREAD, "11", 1, 0, "EAGAIN from then on"},
    {FAULT_CREATE, "13", 0, 0, "EACCES once"},
    {FAULT_CREATE, "30", 1, 0, "EROFS from then on"},
    {FAULT_OPEN, "23", 0, 0, "ENFILE once"},
    {FAULT_OPEN, "5", 1, 0, "EIO from then on"},
    {FAULT_READ, "5", 0, 0, "EIO once"},
    {FAULT_READ, "5", 1, 0, "EIO from then on"},
    {FAULT_READ, "short", 0, 0, "half once"},
    {FAULT_READ, "short", 1, 0, "half from then on"},
    {FAULT_WRITE, "28", 0, 0, "ENOSPC once"},
    {FAULT_WRITE, "28", 1, 0, "ENOSPC from then on"},
    {FAULT_WRITE, "5", 0, 0, "EIO once"},
    {FAULT_WRITE, "4", 0, 0, "EINTR once"},
    {FAULT_WRITE, "short", 0, 0, "half once"},
    {FAULT_WRITE, "short", 1, 0, "half from then on"},
    {FAULT_STDOUT, "28", 0, 0, "ENOSPC once"},
    {FAULT_STDOUT, "5", 1, 0, "EIO from then on"},
    {FAULT_STDOUT, "short", 1, 0, "half from then on"},
    {FAULT_SYNC, "5", 0, 0, "EIO once"},
    {FAULT_SYNC, "5", 1, 0, "EIO from then on"},
    {FAULT_SYNC, "22", 1, 0, "EINVAL from then on"},
    {FAULT_SYNC, "4", 0, 0, "EINTR once"},
    {FAULT_RENAME, "13", 0, 0, "EACCES once"},
    {FAULT_RENAME, "28", 1, 0, "ENOSPC from then on"},
    {FAULT_LINK, "1", 0, 0, "EPERM once"},
    {FAULT_LINK, "28", 1, 0, "ENOSPC from then on"},
    {FAULT_REMOVE, "13", 0, 0, "EACCES once"},
    {FAULT_REMOVE, "30", 1, 0, "EROFS from then on"},
    {FAULT_CLOSE, "5", 0, 0, "EIO once"},
    {FAULT_CLOSE, "5", 1, 0, "EIO from then on"},
    {FAULT_CUT, "5", 0, 0, "EIO once"},
    {FAULT_FOLDER, "13", 0, 0, "EACCES once"},
    {FAULT_CHANGES, "kill", 0, 0, "SIGKILL before"},
    {FAULT_CHANGES, "killed", 0, 0, "SIGKILL after"},
    {FAULT_CHANGES, "killed", 0, 1, "power lost after"},
};

typedef struct settings {
    places at;
    const char *only_case, *only_family;
    uint64_t limit; /* replays of one way at most */
    int brief;
} settings;

typedef struct tally {
    uint64_t runs, failures;
} tally;

static int failed;

/* ---- one fault ---- */

static char *again_of(const fault_case *c) {
    char *text;
    if (c->again) return need(strdup(*c->again ? c->again : c->command));
    if (asprintf(&text, "%s --resume", c->command) < 0) exit(3);
    return text;
}

static const char *replay(const settings *s, const expected *e, const struct way *w, const fault_order *order) {
    static char kept[4400];
    char *again = again_of(e->of);
    tree_write(&e->before, s->at.run);
    outcome o = run_command(&s->at, e->of->command, order);
    if (w->power) lose_power(&s->at, &o);
    const char *what = judge_fault(e, order, &o);
    if (!what && o.status != e->undisturbed.status) {
        outcome second = run_command(&s->at, again, NULL);
        what = judge_again(e, &o, &second);
        if (what) {
            snprintf(kept, sizeof kept, "then `%.300s`: %s", again, what);
            what = kept;
        }
        outcome_free(&second);
    }
    outcome_free(&o);
    free(again);
    return what;
}

static void report(const expected *e, const struct way *w, uint64_t at, const char *what) {
    printf("# %s, %s %llu, %s: ", e->of->name, names[w->family], (unsigned long long)at, w->text);
    for (; *what; what++) {
        putchar(*what);
        if (*what == '\n' && what[1]) printf("#   ");
    }
    putchar('\n');
}

/* The number of the i-th of `runs` replays: all calls, or the first half of the limit and then even steps. */
static uint64_t number_of(uint64_t i, uint64_t runs, uint64_t calls) {
    const uint64_t half = runs / 2;
    if (runs == calls || i <= half) return i;
    return half + (uint64_t)((double)(i - half) * (double)(calls - half) / (double)(runs - half));
}

static tally replay_way(const settings *s, const expected *e, const struct way *w) {
    const uint64_t calls = e->counts.calls[w->family], runs = calls < s->limit ? calls : s->limit;
    tally t = {0};
    for (uint64_t i = 1; i <= runs; i++) {
        const fault_order order = {w->family, number_of(i, runs, calls), w->how, w->all, NULL};
        const char *what = replay(s, e, w, &order);
        t.runs++;
        if (what && t.failures++ < 3) report(e, w, order.at, what);
    }
    if (!runs) return t;
    printf("%s - %s: %s, %s: %llu of %llu calls%s\n", t.failures ? "not ok" : "ok", e->of->name, names[w->family],
           w->text, (unsigned long long)runs, (unsigned long long)calls,
           runs < calls ? ", evenly spaced in their second half" : "");
    fflush(stdout);
    failed |= t.failures > 0;
    return t;
}

/* ---- one case ---- */

static int is_wanted(const settings *s, const fault_case *c, const struct way *w) {
    if (s->only_family && strcmp(s->only_family, names[w->family]) != 0) return 0;
    return !c->threads || w->family == FAULT_THREAD || w->family == FAULT_MEMORY;
}

/* The undisturbed run. Returns 0 after a message if it fails, or if its calls have a wrong order. */
static int observe(const settings *s, expected *e) {
    const fault_order nothing = {FAULT_FAMILIES, 0, NULL, 0, NULL};
    char path[700];
    size_t size;
    tree_write(&(tree){0}, s->at.run);
    if (run_shell(&s->at, e->of->prepare) != 0) {
        printf("not ok - %s: the commands before it fail\n", e->of->name);
        return 0;
    }
    e->before = tree_read(s->at.run);
    e->undisturbed = run_command(&s->at, e->of->command, &nothing);
    e->counts = *s->at.counts;
    if (e->undisturbed.status != 0) {
        printf("# %s\nnot ok - %s: exit status %d without a fault\n", e->undisturbed.says, e->of->name,
               e->undisturbed.status);
        return 0;
    }
    snprintf(path, sizeof path, "%s/log", s->at.meta);
    char *log = read_bytes(path, &size);
    const char *what = log ? judge_order(log) : NULL;
    if (what) printf("# %s\n", what);
    printf("%s - %s: write, fsync, rename, fsync of the folder, in this order\n", what ? "not ok" : "ok", e->of->name);
    free(log);
    return !what;
}

static void replay_case(const settings *s, const fault_case *c) {
    expected e = {.of = c};
    uint64_t runs[FAULT_FAMILIES] = {0}, all = 0;
    if (observe(s, &e))
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
            if (is_wanted(s, c, &ways[i])) runs[ways[i].family] += replay_way(s, &e, &ways[i]).runs;
            else continue;
    else failed = 1;
    printf("# faults of %s:", c->name);
    for (int f = 0; f < FAULT_FAMILIES; f++) {
        if (runs[f]) printf(" %s %llu", names[f], (unsigned long long)runs[f]);
        all += runs[f];
    }
    printf(" all %llu\n", (unsigned long long)all);
    tree_free(&e.before);
    outcome_free(&e.undisturbed);
}

/* ---- the program ---- */

/* The first point of an experiment, for all experiments: what each of them allocates. */
static fault_case first_point(const char *program) {
    static char name[100], command[300];
    snprintf(name, sizeof name, "first point of %s", program);
    snprintf(command, sizeof command, "%s --quick --shard 0/100000 --threads 1 --quiet --out o.csv", program);
    return (fault_case){.name = name, .prepare = "true", .command = command, .threads = 1};
}

/* Whether the library counts calls here. */
static int is_possible(const settings *s) {
    const fault_order nothing = {FAULT_FAMILIES, 0, NULL, 0, NULL};
    outcome o = run_command(&s->at, "ulp backends", &nothing);
    outcome_free(&o);
    return s->at.counts->ready == 1 && s->at.counts->calls[FAULT_STDOUT] > 0;
}

static const char *value_of(int argc, char **argv, const char *name) {
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0) return argv[i + 1];
    return NULL;
}

static int has(int argc, char **argv, const char *name) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0) return 1;
    return 0;
}

/* A path that holds in every folder; NULL if there is no such file. */
static const char *whole_path(const char *path) { return path ? realpath(path, NULL) : NULL; }

int main(int argc, char **argv) {
    settings s = {.only_case = value_of(argc, argv, "--case"),
                  .only_family = value_of(argc, argv, "--family"),
                  .brief = has(argc, argv, "--brief")};
    const char *limit = value_of(argc, argv, "--limit"), *scratch = value_of(argc, argv, "--scratch");
    s.at.bin = whole_path(value_of(argc, argv, "--bin"));
    s.at.library = whole_path(value_of(argc, argv, "--library"));
    s.limit = limit ? strtoull(limit, NULL, 10) : 1000000;
    if (has(argc, argv, "--list")) {
        for (int i = 0; i < fault_case_count; i++) puts(fault_cases[i].name);
        return 0;
    }
    if (!s.at.bin || !s.at.library || !scratch) {
        fputs("usage: replay --list | --bin FOLDER --library FILE --scratch FOLDER [--case NAME | --first-point "
              "EXPERIMENT] [--family NAME] [--limit N] [--brief]\n",
              stderr);
        return 2;
    }
    places_make(&s.at, scratch);
    if (!is_possible(&s)) {
        puts("ok - faults # SKIP this machine has no seccomp filters for the interposed library");
        return 0;
    }
    const char *program = value_of(argc, argv, "--first-point");
    if (program) {
        const fault_case c = first_point(program);
        replay_case(&s, &c);
        return failed;
    }
    for (int i = 0; i < fault_case_count; i++)
        if ((!s.only_case || strcmp(s.only_case, fault_cases[i].name) == 0) && (!s.brief || fault_cases[i].brief))
            replay_case(&s, &fault_cases[i]);
    return failed;
}
