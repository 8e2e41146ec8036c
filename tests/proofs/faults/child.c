/* child.c - running a command in a folder, with a fault or without; see child.h. */
#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 100, SECONDS = 60 };

static const char *const names[] = {FAULT_NAMES};

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "replay: %s: %s\n", what, strerror(errno));
    exit(3);
}

void places_make(places *p, const char *scratch) {
    char path[700];
    snprintf(p->run, sizeof p->run, "%s/run", scratch);
    snprintf(p->meta, sizeof p->meta, "%s/meta", scratch);
    if (mkdir(p->run, 0777) != 0 || mkdir(p->meta, 0777) != 0) fail(scratch);
    snprintf(path, sizeof path, "%s/counts", p->meta);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || ftruncate(file, sizeof(fault_counts)) != 0) fail(path);
    p->counts = mmap(NULL, sizeof(fault_counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p->counts == MAP_FAILED) fail(path);
    close(file);
}

static int status_of(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) fail("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void set_path(const char *name, const places *p, const char *file) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", p->meta, file);
    setenv(name, path, 1);
}

static void redirect(int descriptor, const char *path, int flags) {
    const int file = open(path, flags, 0666);
    if (file < 0 || dup2(file, descriptor) < 0) _exit(126);
    close(file);
}

static void set_fault(const places *p, const fault_order *order) {
    char at[60];
    setenv("FAULT_ROOT", p->run, 1);
    set_path("FAULT_COUNTS", p, "counts");
    set_path("FAULT_LOG", p, "log");
    if (order->at) {
        snprintf(at, sizeof at, "%s:%llu", names[order->family], (unsigned long long)order->at);
        setenv("FAULT_AT", at, 1);
        setenv("FAULT_HOW", order->how, 1);
    }
    if (order->all) setenv("FAULT_ALL", "1", 1);
    if (order->clock) setenv("FAULT_CLOCK", order->clock, 1);
    setenv("LD_PRELOAD", p->library, 1);
}

static _Noreturn void become(const places *p, const char *command, const fault_order *order) {
    char text[2000], program[800], *words[WORDS + 1] = {0};
    size_t count = 0;
    snprintf(text, sizeof text, "%s", command);
    for (char *word = strtok(text, " "); word && count < WORDS; word = strtok(NULL, " ")) {
        for (char *c = word; *c; c++)
            if (*c == '|') *c = ' '; /* a blank within a word */
        words[count++] = word;
    }
    if (chdir(p->run) != 0) _exit(126);
    redirect(STDIN_FILENO, access("stdin", F_OK) == 0 ? "stdin" : "/dev/null", O_RDONLY);
    snprintf(program, sizeof program, "%s/out", p->meta);
    redirect(STDOUT_FILENO, program, O_WRONLY | O_CREAT | O_TRUNC);
    snprintf(program, sizeof program, "%s/err", p->meta);
    redirect(STDERR_FILENO, program, O_WRONLY | O_CREAT | O_TRUNC);
    snprintf(program, sizeof program, "%s/%s", p->bin, words[0]);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    alarm(SECONDS); /* a command that hangs ends with SIGALRM */
    if (order) set_fault(p, order);
    execv(program, words);
    _exit(127);
}

int run_shell(const places *p, const char *commands) {
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        if (chdir(p->run) != 0) _exit(126);
        setenv("BIN", p->bin, 1);
        redirect(STDOUT_FILENO, "/dev/null", O_WRONLY);
        execl("/bin/sh", "sh", "-c", commands, (char *)NULL);
        _exit(127);
    }
    return status_of(child);
}

static void add_stdout(outcome *o, const places *p) {
    char path[700];
    tree_file file = {.name = need(strdup("(stdout)"))};
    snprintf(path, sizeof path, "%s/out", p->meta);
    file.bytes = need(read_bytes(path, &file.size));
    tree *t = &o->files; /* "(" sorts before the names of the cases */
    t->at = need(realloc(t->at, (t->count + 1) * sizeof *t->at));
    memmove(t->at + 1, t->at, t->count * sizeof *t->at);
    t->at[0] = file;
    t->room = ++t->count;
}

outcome run_command(const places *p, const char *command, const fault_order *order) {
    char path[700];
    outcome o = {0};
    size_t size;
    if (order) memset(p->counts, 0, sizeof *p->counts);
    snprintf(path, sizeof path, "%s/log", p->meta);
    unlink(path);
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) become(p, command, order);
    o.status = status_of(child);
    o.files = tree_read(p->run);
    add_stdout(&o, p);
    snprintf(path, sizeof path, "%s/err", p->meta);
    o.says = need(read_bytes(path, &size));
    return o;
}

void outcome_free(outcome *o) {
    tree_free(&o->files);
    free(o->says);
    *o = (outcome){0};
}
