/* ctc.h - what the grid and the claims of ctc.c share. */
#ifndef ULP_EXPERIMENT_CTC_H
#define ULP_EXPERIMENT_CTC_H

#include "experiments/harness/harness.h"

enum { CTC_BINARY64 = -1 }; /* in place of a format: nothing is rounded beyond binary64 */
enum { CTC_CELLS = 2, CTC_RECIPES = 5 };
extern const char *const ctc_forms[2], *const ctc_cells[CTC_CELLS]; /* "log", "linear"; "gru", "lstm" */

/* `loss` is the format in which the policy forms the sums over paths. */
typedef struct ctc_recipe {
    const char *policy, *scaler, *loss;
} ctc_recipe;

extern const ctc_recipe ctc_recipes[CTC_RECIPES];

/* The name of the format that a point's axis holds; -1 is binary64. */
const char *ctc_format_name(const ulp_run *run, int64_t at);

/* Prints the tables and tests the claims. */
void ctc_check(ulp_run *run, const void *context);

#endif
