/* peers.c - starts the workers of other libraries and asks them for measurements; see peers.h. */
#include "peers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct peer {
    char *command;
    pid_t process;
    FILE *to, *from;
};

enum { LINE = 1000 };

static int start(peer *p) {
    int down[2], up[2];
    if (pipe(down) != 0) return 0;
    if (pipe(up) != 0 || (p->process = fork()) < 0) return 0;
    if (p->process == 0) {
        dup2(down[0], STDIN_FILENO);
        dup2(up[1], STDOUT_FILENO);
        close(down[0]);
        close(down[1]);
        close(up[0]);
        close(up[1]);
        execl("/bin/sh", "sh", "-c", p->command, (char *)NULL);
        _exit(127);
    }
    close(down[0]);
    close(up[1]);
    /* a later worker must not hold this one's input open */
    fcntl(down[1], F_SETFD, FD_CLOEXEC);
    fcntl(up[0], F_SETFD, FD_CLOEXEC);
    p->to = fdopen(down[1], "w");
    p->from = fdopen(up[0], "r");
    return p->to && p->from;
}

/* Cuts a field off a line; *at moves after the tab. */
static char *next_field(char **at) {
    char *field = *at;
    *at += strcspn(field, "\t\n");
    if (**at) *(*at)++ = '\0';
    return ulp_copy_text(field);
}

static void take_offer(peers *to, peer *worker, char *line, int number) {
    peer_offer offer = {.worker = worker, .number = number};
    offer.what = next_field(&line);
    offer.of = next_field(&line);
    offer.mode = next_field(&line);
    offer.by = next_field(&line);
    to->offers = ulp_room_for(to->offers, to->offered, &to->offers_room, sizeof *to->offers);
    to->offers[to->offered++] = offer;
}

static ulp_status open_worker(const ulp_plan *plan, peers *to, const char *command, size_t length) {
    char line[LINE];
    ulp_text text = {0};
    peer *worker = ulp_grow(NULL, sizeof *worker);
    ulp_text_print(&text, "%.*s", (int)length, command);
    *worker = (peer){.command = text.data};
    to->workers = ulp_room_for(to->workers, to->count, &to->room, sizeof *to->workers);
    to->workers[to->count++] = worker;
    if (!start(worker)) return ulp_plan_fail(plan, ULP_NO_DEVICE, "--peers %s: the worker does not start", text.data);
    for (int number = 0; fgets(line, sizeof line, worker->from); number++) {
        if (strcmp(line, "ready\n") == 0) return ULP_OK;
        take_offer(to, worker, line, number);
    }
    return ulp_plan_fail(plan, ULP_NO_DEVICE, "--peers %s: the worker ended before it was ready", text.data);
}

ulp_status peers_open(const ulp_plan *plan, peers *to, const char *commands) {
    ulp_status status = ULP_OK;
    signal(SIGPIPE, SIG_IGN); /* a worker that ended gives an error of the write */
    while (*commands && status == ULP_OK) {
        const size_t length = strcspn(commands, ";");
        if (length) status = open_worker(plan, to, commands, length);
        commands += length + (commands[length] == ';');
    }
    return status;
}

void peers_close(peers *to) {
    for (size_t i = 0; i < to->count; i++) {
        peer *worker = to->workers[i];
        if (worker->to) fclose(worker->to);
        if (worker->from) fclose(worker->from);
        if (worker->process > 0) waitpid(worker->process, NULL, 0);
        free(worker->command);
        free(worker);
    }
    for (size_t i = 0; i < to->offered; i++) {
        const peer_offer *o = &to->offers[i];
        const char *const texts[] = {o->what, o->of, o->mode, o->by};
        for (int k = 0; k < 4; k++) free((void *)(uintptr_t)texts[k]);
    }
    free(to->workers);
    free(to->offers);
    *to = (peers){0};
}

int peer_measure(call_time *once, const peer_offer *offer, size_t n, int threads, double seconds) {
    char line[LINE], *end;
    FILE *to = offer->worker->to;
    if (fprintf(to, "%d %zu %d %.6g\n", offer->number, n, threads, seconds) < 0 || fflush(to) != 0) return 0;
    if (!fgets(line, sizeof line, offer->worker->from)) return 0;
    once->clock = strtod(line, &end);
    once->thread = strtod(end, NULL);
    return once->clock > 0 && once->thread > 0;
}

const char *peer_command(const peer_offer *offer) { return offer->worker->command; }

static int matches(const char *wanted, const char *text) { return !wanted || strcmp(wanted, text) == 0; }

const peer_offer *peers_find(const peers *p, size_t *at, const char *what, const char *of, const char *mode) {
    for (; p && *at < p->offered; ++*at) {
        const peer_offer *o = &p->offers[*at];
        if (matches(what, o->what) && matches(of, o->of) && matches(mode, o->mode)) return &p->offers[(*at)++];
    }
    return NULL;
}
