/* progress.h - the clock, the wish to stop, and one line that says how far a program is. */
#ifndef ULP_CLI_PROGRESS_H
#define ULP_CLI_PROGRESS_H

#include "text.h"

/* Seconds, monotonic. */
double ulp_clock(void);

/* After ulp_stop_on_signals() the first SIGINT or SIGTERM makes ulp_stopping() true; the second one ends the program.
 */
void ulp_stop_on_signals(void);
int ulp_stopping(void);

/* The line of one program: a bar with the time left on a terminal that is wide enough, else a plain line every ten
 * seconds. The line never takes more columns than the terminal has. The caller serialises the calls. */
typedef struct ulp_progress {
    const char *program; /* NULL: silent */
    double started, shown;
    double before; /* share that was done at the start (a resumed run): not counted for the time left */
    int bar;       /* a bar may be on the terminal's line */
} ulp_progress;

/* `program` NULL: nothing is ever shown. */
ulp_progress ulp_progress_start(const char *program, double share_before);

/* `share` done, 0 to 1; `detail` is a word or two ("12 points"). Shows at most ten times a second. */
void ulp_progress_show(ulp_progress *p, double share, const char *detail);

/* Adds the line to `to`: at most columns - 1 characters, of program, bar, per cent and `says` ("12 points, 5 s left")
 * as much as fits. */
void ulp_progress_line(ulp_text *to, const char *program, double share, const char *says, int columns);

/* Erases the bar, before other lines are written and at the end. */
void ulp_progress_clear(ulp_progress *p);

#endif
