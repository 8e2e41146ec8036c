/* judge.h - the files that a run with a fault may leave. */
#ifndef FAULTS_JUDGE_H
#define FAULTS_JUDGE_H

#include "cases.h"
#include "child.h"

/* The data to judge a case: the files before it, and what an undisturbed run makes. */
typedef struct expected {
    const fault_case *of;
    tree before;
    outcome undisturbed;
    fault_counts counts; /* calls of the undisturbed run */
} expected;

/* Return NULL if all is well, or what is wrong; the text is valid until the next call. */

/* After a run with a fault: nothing wrong if it succeeded, and a sentence and whole files if it failed. */
const char *judge_fault(const expected *e, const fault_order *order, const outcome *o);

/* After the run that follows: the files of the undisturbed run and no others. */
const char *judge_again(const expected *e, const outcome *failed, const outcome *again);

/* The order of the calls of an undisturbed run, from its log: a file is on the disk before it gets a name, its name is
 * on the disk before an old file goes away. */
const char *judge_order(const char *log);

#endif
