/* saved.h - the file form of a run: lines that describe it, its state, the caller's note, and a checksum.
 *
 * checkpoint.h says what holds for such files. Here is what the checkpoints of all kinds of runs share.
 */
#ifndef ULP_SAVED_H
#define ULP_SAVED_H

#include "train.h"

/* Lines of text; they are cut off at a limit, and the file is then refused. */
typedef struct ulp_lines {
    char *text;
    size_t used;
} ulp_lines;

void ulp_lines_add(ulp_lines *lines, const char *format, ...) ULP_PRINTF(2, 3);

/* Handles one piece of state; the result 0 ends the visit. */
typedef int (*ulp_state_visitor)(void *context, void *at, size_t bytes);

/* How a kind of run is saved. */
typedef struct ulp_saved_kind {
    /* Add the lines that describe the run. No other run has these lines. */
    ulp_status (*describe)(ulp_lines *lines, const void *run);
    /* Visit every piece of state outside of the arenas. Saving reads the pieces, loading writes them. */
    int (*visit)(const void *run, ulp_state_visitor visit, void *context);
    /* The i-th arena; NULL past the end. */
    const ulp_arena *(*arena)(const void *run, size_t i);
} ulp_saved_kind;

/* Write a run and the caller's note (note_bytes) to the file `path`, as ulp_checkpoint_save() says. */
ulp_status ulp_saved_write(const ulp_saved_kind *kind, const void *run, const char *path, const void *note,
                           size_t note_bytes, ulp_error *error);

/* Bring a run that has made `steps` steps to the state in the file, as ulp_checkpoint_load() says. */
ulp_status ulp_saved_read(const ulp_saved_kind *kind, const void *run, uint64_t steps, const char *path, void **note,
                          size_t *note_bytes, ulp_error *error);

/* ---- for the kinds ---- */

/* Add the lines of the net, the policy, the optimizer and the scaler of a network; and the line of a data set. */
ulp_status ulp_learner_describe(ulp_lines *lines, const ulp_trainer *learner);
void ulp_lines_add_data(ulp_lines *lines, const ulp_data *data);

/* Visit the steps, the scaler, the loss scales, the optimizer and the history of a network, a ulp_trainer. */
int ulp_learner_visit(const void *learner, ulp_state_visitor visit, void *context);

#endif
