/* progress.h - requests to stop, and the progress line of a program. */
#ifndef ULP_CLI_PROGRESS_H
#define ULP_CLI_PROGRESS_H

#include "base/clock.h"
#include "text.h"

/* After ulp_stop_on_signals() the first SIGINT or SIGTERM makes ulp_stopping() true; the second signal ends the
 * program. */
void ulp_stop_on_signals(void);
int ulp_stopping(void);

/* The progress line of a program. On a terminal it is a line with a bar and the time left that is written again and
 * again; elsewhere it is a plain line every ten seconds. It is never wider than the terminal. Only one thread at a time
 * may call the functions. */
typedef struct ulp_progress {
    const char *program; /* NULL: nothing is written */
    double started, shown;
    double before; /* share that was done before the start (a resumed run); it does not count for the time left */
    int bar;       /* 1: the line is written again and again on a terminal */
} ulp_progress;

/* If `program` is NULL, nothing is ever written. */
ulp_progress ulp_progress_start(const char *program, double share_before);

/* Show the share that is done, 0 to 1, and `detail`, a word or two ("12 points"). At most ten times a second the line
 * is written. */
void ulp_progress_show(ulp_progress *p, double share, const char *detail);

/* Add the progress line to `to`: program, bar, per cent and `says` ("12 points, 5 s left"). Parts that do not fit into
 * columns - 1 characters are left out. */
void ulp_progress_line(ulp_text *to, const char *program, double share, const char *says, int columns);

/* Erase the line. Call it before other lines are written, and at the end. */
void ulp_progress_clear(ulp_progress *p);

#endif
