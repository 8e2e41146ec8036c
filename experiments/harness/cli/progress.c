/* progress.c - requests to stop, and the progress line; see progress.h. */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "message.h"

static volatile sig_atomic_t stop_asked;

static void on_signal(int signal_number) {
    (void)signal_number;
    stop_asked = 1;
}

int ulp_stopping(void) { return stop_asked != 0; }

void ulp_stop_on_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART); /* a write to a slow pipe goes on, and is not half a write */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

ulp_progress ulp_progress_start(const char *program, double share_before) {
    ulp_progress p = {.program = program, .before = share_before};
    p.started = p.shown = ulp_clock();
    p.bar = program && ulp_bar_on(stderr);
    return p;
}

static void print_left(char *text, size_t size, double seconds) {
    if (seconds < 0) snprintf(text, size, "time left unknown");
    else if (seconds < 100) snprintf(text, size, "%.0f s left", seconds);
    else if (seconds < 6000) snprintf(text, size, "%.0f min left", seconds / 60);
    else snprintf(text, size, "%.1f h left", seconds / 3600);
}

void ulp_progress_line(ulp_text *to, const char *program, double share, const char *says, int columns) {
    enum { WIDEST = 30, NARROWEST = 6 };
    const int most = columns - 1; /* a character in the last column makes some terminals begin a new line */
    const size_t from = to->length;
    const char *details[] = {says, strrchr(says, ',') ? strrchr(says, ',') + 2 : ""};
    for (int i = 0; i < 2; i++) {
        const int fixed = (int)(strlen(program) + strlen(details[i])) + (details[i][0] ? 2 : 0) + 6;
        const int bar = most - fixed - 3 > WIDEST ? WIDEST : most - fixed - 3;
        if (fixed > most) continue;
        ulp_text_print(to, "%s ", program);
        if (bar >= NARROWEST) {
            ulp_text_add(to, "[", 1);
            for (int c = 0; c < bar; c++) ulp_text_add(to, c < (int)(share * bar) ? "#" : ".", 1);
            ulp_text_add(to, "] ", 2);
        }
        ulp_text_print(to, "%3.0f %%%s%s", 100 * share, details[i][0] ? "  " : "", details[i]);
        return;
    }
    ulp_text_print(to, "%.0f %%", 100 * share);
    if (to->length - from > (size_t)(most > 0 ? most : 0)) to->data[to->length = from] = '\0';
}

void ulp_progress_show(ulp_progress *p, double share, const char *detail) {
    const double now = ulp_clock(), fresh = share - p->before;
    char left[40];
    ulp_text says = {0}, line = {0};
    if (!p->program || now - p->shown < (p->bar ? 0.1 : 10.0)) return;
    p->shown = now;
    print_left(left, sizeof left, fresh > 0 ? (now - p->started) * (1 - share) / fresh : -1);
    ulp_text_print(&says, "%s%s%s", detail ? detail : "", detail && *detail ? ", " : "", left);
    if (p->bar) {
        ulp_text_print(&line, "\r\033[K");
        ulp_progress_line(&line, p->program, share, ulp_text_of(&says), ulp_columns_of(stderr));
    } else ulp_text_print(&line, "%s: %.0f %%, %s\n", p->program, 100 * share, ulp_text_of(&says));
    fwrite(line.data, 1, line.length, stderr);
    fflush(stderr);
    ulp_text_free(&says);
    ulp_text_free(&line);
}

void ulp_progress_clear(ulp_progress *p) {
    if (!p->bar) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}
