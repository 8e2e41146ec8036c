/* conditions.h - claims that hold for the set-up of an experiment's table of options and say so elsewhere. */
#ifndef ULP_SETUP_H
#define ULP_SETUP_H

#include "experiments/harness/harness.h"

/* Whether one of `names`, separated by blanks, is set to something else than its default (that of --quick or --full in
 * such a run); the sentence in `why` (size) says which, and is empty otherwise. */
int ulp_setup_differs(const ulp_run *run, const char *names, char *why, size_t size);

/* The same for values that are not the defaults: ends with {0}; `or_more`: a larger number is as good. */
typedef struct ulp_wanted {
    const char *name, *value;
    int or_more;
} ulp_wanted;

int ulp_setup_is_other(const ulp_run *run, const ulp_wanted *wanted, char *why, size_t size);

/* A claim, skipped where `why` is a sentence; what was measured is told in either case. */
void ulp_claim_setup(ulp_run *run, const char *why, int pass, const char *text, const char *measured, ...)
    ULP_PRINTF(5, 6);

/* Add an item to a list in `text` (size), which starts empty; what does not fit is cut off. */
void ulp_list_add(char *text, size_t size, const char *item, ...) ULP_PRINTF(3, 4);

/* Whether an item of a list, with blanks or commas between them, is this one. */
int ulp_list_has(const char *list, const char *item);

/* Whether --formats has the format of that name. */
int ulp_run_has_format(const ulp_run *run, const char *name);

#endif
