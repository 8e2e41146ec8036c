/* pipe.c - a user's program that forms sums; see pipe.h. */
#include "pipe.h"

#include "base/decimal.h"
#include "experiments/harness/cli/progress.h"
#include "tool/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MAX = 4096 };

struct tool_pipe {
    tool_pipe_plan plan;
    pid_t pid;
    int to, from; /* -1: closed */
    unsigned long answers;
    char *line; /* operands */
    size_t room, length;
    char answer[ANSWER_MAX];
    size_t have;
    char problem[200];
};

/* The process group that an interrupt of this program ends, too. One program runs at a time. */
static volatile sig_atomic_t running;
static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
enum { CAUGHT = sizeof caught / sizeof caught[0] };

static void pass_on(int number) {
    if (running > 0) kill(-(pid_t)running, SIGKILL);
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_signals(void (*handler)(int)) {
    for (size_t i = 0; i < CAUGHT; i++) signal(caught[i], handler);
    signal(SIGPIPE, handler == SIG_DFL ? SIG_DFL : SIG_IGN);
}

/* ---- start and end ---- */

static void run_command(const char *command, int in, int out) {
    setpgid(0, 0);
    watch_signals(SIG_DFL);
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static void close_all(const int fd[4]) {
    for (int i = 0; i < 4; i++)
        if (fd[i] >= 0) close(fd[i]);
}

static ulp_status start(tool_pipe *p) {
    int fd[4] = {-1, -1, -1, -1}; /* the program reads 0, we write 1; we read 2, the program writes 3 */
    if (pipe(fd) != 0 || pipe(fd + 2) != 0) {
        close_all(fd);
        return ULP_DEVICE_FAILED;
    }
    for (int i = 0; i < 4; i++) fcntl(fd[i], F_SETFD, FD_CLOEXEC);
    p->pid = fork();
    if (p->pid == 0) run_command(p->plan.command, fd[0], fd[3]);
    if (p->pid < 0) {
        close_all(fd);
        return ULP_DEVICE_FAILED;
    }
    setpgid(p->pid, p->pid); /* the child does the same: whoever comes first */
    running = (sig_atomic_t)p->pid;
    watch_signals(pass_on);
    close(fd[0]);
    close(fd[3]);
    p->to = fd[1];
    p->from = fd[2];
    fcntl(p->to, F_SETFL, O_NONBLOCK);
    fcntl(p->from, F_SETFL, O_NONBLOCK);
    return ULP_OK;
}

ulp_status tool_pipe_open(tool_pipe **pipe, const tool_pipe_plan *plan) {
    tool_pipe *p = calloc(1, sizeof *p);
    *pipe = p;
    if (p == NULL) return ULP_NO_MEMORY;
    p->plan = *plan;
    p->to = p->from = -1;
    return start(p);
}

/* Wait until the program has ended, but no longer than `seconds`. The process stays known to the system. */
static int has_ended(pid_t pid, double seconds) {
    const struct timespec moment = {0, 2000000};
    for (const double until = ulp_clock() + seconds;;) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid) return 1;
        if (ulp_clock() >= until) return 0;
        nanosleep(&moment, NULL);
    }
}

/* End the process group and collect the program. Returns its status as of waitpid(). */
static int end_program(tool_pipe *p, double patience) {
    int status = 0;
    if (p->to >= 0) close(p->to);
    if (p->from >= 0) close(p->from);
    p->to = p->from = -1;
    if (p->pid <= 0) return 0;
    has_ended(p->pid, patience);
    kill(-p->pid, SIGKILL);
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) {}
    p->pid = 0;
    running = 0;
    watch_signals(SIG_DFL);
    return status;
}

void tool_pipe_close(tool_pipe *p) {
    if (p == NULL) return;
    end_program(p, 1.0);
    free(p->line);
    free(p);
}

const char *tool_pipe_problem(const tool_pipe *p) { return p->problem; }

/* ---- one sum ---- */

static ulp_status failed(tool_pipe *p, const char *text, ...) {
    va_list list;
    va_start(list, text);
    vsnprintf(p->problem, sizeof p->problem, text, list);
    va_end(list);
    end_program(p, 0.0);
    return ULP_DEVICE_FAILED;
}

static ulp_status has_died(tool_pipe *p) {
    char when[60];
    const unsigned long n = p->answers;
    snprintf(when, sizeof when, n == 0 ? "before its first answer" : "after %lu answer%s", n, n == 1 ? "" : "s");
    const int ended = has_ended(p->pid, 1.0), status = end_program(p, 0.0);
    if (!ended) return failed(p, "closed its output %s", when);
    if (WIFSIGNALED(status)) return failed(p, "was ended by signal %d %s", WTERMSIG(status), when);
    char why[40] = "";
    const int code = WEXITSTATUS(status);
    if (code == 127) snprintf(why, sizeof why, " (no such program)");
    if (code > 128) snprintf(why, sizeof why, " (signal %d)", code - 128); /* as shells report it */
    return failed(p, "ended with exit status %d%s %s", code, why, when);
}

static int add_value(tool_pipe *p, double value, char after) {
    if (p->length + 64 > p->room) {
        char *more = realloc(p->line, 2 * p->room + 4096);
        if (more == NULL) return 0;
        p->line = more;
        p->room = 2 * p->room + 4096;
    }
    p->length += (size_t)ulp_decimal_print(p->line + p->length, value, ulp_powers_of_ten());
    p->line[p->length++] = after;
    return 1;
}

static int form_line(tool_pipe *p, double c, const ulp_products *products) {
    const size_t k = products->k;
    p->length = 0;
    int fits = add_value(p, c, k == 0 ? '\n' : ' ');
    for (size_t i = 0; fits && i < k; i++) fits = add_value(p, products->a[i], ' ');
    for (size_t i = 0; fits && i < k; i++) fits = add_value(p, products->b[i], i + 1 < k ? ' ' : '\n');
    return fits;
}

/* Take what the program has written. Returns 0 at the end of its output. */
static int take_output(tool_pipe *p) {
    const ssize_t got = read(p->from, p->answer + p->have, sizeof p->answer - 1 - p->have);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    p->have += (size_t)got;
    p->answer[p->have] = '\0';
    return got > 0;
}

/* Write the line and read until a line break: at once, since a program may write before it has read all. */
static ulp_status exchange(tool_pipe *p) {
    const double until = ulp_clock() + p->plan.timeout;
    p->have = 0;
    p->answer[0] = '\0';
    for (size_t sent = 0; memchr(p->answer, '\n', p->have) == NULL;) {
        struct pollfd fds[2] = {{p->from, POLLIN, 0}, {sent < p->length ? p->to : -1, POLLOUT, 0}};
        const double left = until - ulp_clock();
        if (p->have + 1 >= sizeof p->answer)
            return failed(p, "answered with more than %d characters without a line break", ANSWER_MAX - 2);
        if (left <= 0) return failed(p, "gave no answer within %.9g s", p->plan.timeout);
        if (poll(fds, 2, (int)(left * 1000) + 1) <= 0) continue;
        if (fds[1].revents != 0) {
            const ssize_t wrote = write(p->to, p->line + sent, p->length - sent);
            if (wrote > 0) sent += (size_t)wrote;
            else if (wrote < 0 && errno == EPIPE)
                sent = p->length; /* it may have answered before it closed its input */
        }
        if (fds[0].revents != 0 && !take_output(p)) return has_died(p);
    }
    return ULP_OK;
}

/* The beginning of an answer, for a message. */
static void quote(char to[44], const char *text) {
    size_t n = 0;
    for (; n < 40 && text[n] != '\0'; n++) to[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
    strcpy(to + n, text[n] != '\0' ? "..." : "");
}

const char *tool_answer_read(uint64_t *code, char *answer, size_t n, const ulp_format *result, char why[200]) {
    char shown[44];
    ulp_exact value;
    char *end = memchr(answer, '\n', n);
    if ((size_t)(end + 1 - answer) != n || memchr(answer, '\0', n) != NULL)
        return "answered one line of operands with more than one line";
    while (end > answer && (end[-1] == '\r' || end[-1] == ' ')) end--;
    *end = '\0';
    const char *word = answer + strspn(answer, " ");
    quote(shown, word);
    const int is_number = ulp_read_exact(&value, word, ULP_NUMBER_ALL);
    if (!is_number) snprintf(why, 200, "answered '%s', which is not one number", shown);
    else {
        const double y = ulp_round_exact(value, result, (ulp_rule){ULP_RNE, ULP_OVERFLOW_DEFAULT, 0}, 0);
        if (ulp_encode(code, y, result) == ULP_OK) return NULL;
        snprintf(why, 200, "answered '%s', which has no code in %s", shown, result->name);
    }
    return why;
}

static ulp_status dot_by_program(void *context, uint64_t *code, double c, ulp_products products) {
    tool_pipe *p = context;
    if (p->problem[0] != '\0' || p->pid <= 0) return ULP_DEVICE_FAILED;
    if (!form_line(p, c, &products)) return ULP_NO_MEMORY;
    ULP_TRY(exchange(p));
    char room[200];
    const char *why = tool_answer_read(code, p->answer, p->have, &p->plan.result, room);
    if (why != NULL) return failed(p, "%s", why);
    p->answers++;
    return ULP_OK;
}

ulp_unit tool_pipe_unit(tool_pipe *pipe) {
    return (ulp_unit){
        .dot = dot_by_program, .context = pipe, .a = pipe->plan.in, .b = pipe->plan.in, .result = pipe->plan.result};
}
