/* sweep.h - a complete sweep of a rounding by runs: all binary32 inputs, with the oracle asked at the ends of runs
 * only.
 *
 * The inputs go in the order of the real line: -Inf; the negative numbers up to -0; the numbers from +0 on; +Inf; then
 * the NaNs. Each of these parts is a span. Every input is rounded. A run is a maximal row of neighbouring inputs of a
 * span whose results are
 *
 *  - constant: one result, bit for bit, or
 *  - exact: each input's own value; under wrap the value modulo 2^bits quanta. An input whose result equals that of a
 *    neighbour belongs to a constant run.
 *
 * judge.c says what is asked of the oracle for each run, and why this finds every wrong result. What the runs of a case
 * are depends on the results alone. The list of runs has a line for each run: its first and last input as binary32
 * words and the result of the first, also a word (16 digits where results are binary64); for an exact run of more than
 * one input also the result of the last.
 */
#ifndef ULP_TOOL_SWEEP_H
#define ULP_TOOL_SWEEP_H

#include "formats/round.h"
#include "sha256.h"

/* Inputs whose binary32 words are first, first + step, ...; of one sign, all finite, all infinite or all NaN. */
typedef struct sweep_span {
    uint32_t first, count;
    int32_t step; /* 1 or -1 */
} sweep_span;

enum { SWEEP_SPANS = 6 };
extern const sweep_span sweep_line[SWEEP_SPANS]; /* all 2^32 inputs */

typedef struct sweep_run {
    sweep_span inputs;
    int exact;             /* 1: exact; 0: constant */
    uint64_t result, last; /* of the first and the last input: words of binary32, or of binary64 where wide */
} sweep_run;

/* The inputs of a sweep. */
typedef struct sweep_question {
    const ulp_format *format;
    int wraps; /* whether the overflow policy is wrap */
    int wide;  /* inputs and results of `round` are doubles, else floats */
    /* y (n) = x (n) rounded, for n inputs of a span: the rounding under test. */
    ulp_status (*round)(void *rounder, void *y, const void *x, size_t n);
    void *rounder;
    /* the right result for x */
    double (*oracle)(void *judge, double x);
    void *judge;
    /* Each may be NULL. `wrong` gets the first wrong input of a wrong run, `list` lines of the list of runs. */
    void (*wrong)(void *context, const sweep_run *run, double x, double got, double want);
    void (*list)(void *context, const char *lines, size_t length);
    void (*progress)(void *context, size_t inputs);
    void *context;
    const sweep_span *spans; /* (count), at most 2^32 inputs */
    size_t count;
} sweep_question;

typedef struct sweep_result {
    uint64_t inputs, runs, asked; /* asked: questions to the oracle */
    uint64_t mismatches;          /* inputs with a wrong result, exactly */
    uint64_t wrong_runs;
    char hash[SHA256_TEXT]; /* of the list of runs */
} sweep_result;

/* ULP_NO_MEMORY, or the status of `round` if it failed. */
ulp_status sweep_inputs(const sweep_question *q, sweep_result *result);

/* ---- for the files of this folder ---- */

static inline uint32_t sweep_word(const sweep_span *s, uint32_t i) {
    return s->first + (uint32_t)(s->step * (int64_t)i);
}

/* x modulo 2^bits quanta in -half .. half - 1 under wrap, else x: the result if no rounding is needed. */
double sweep_exact(const sweep_question *q, double x);

/* Whether the result `got` is the one that the oracle wants. Every NaN result is the positive quiet NaN. */
int sweep_agrees(double got, double want);

/* Ask the oracle about a run, and add to the counts of the result. */
void sweep_judge(const sweep_question *q, const sweep_run *run, sweep_result *result);

#endif
