/* checkpoints.h - the checkpoints of a point: the file from which --resume continues a training that was stopped.
 *
 * Every `seconds` seconds of wall time, and when the run is stopped, the training and the rows so far go to the file of
 * the point (ulp_task.file). A run with --resume continues from there with the same rows. The sweep removes the file
 * when the rows of the point are saved. A run that writes to standard output or to a device, or a run under MPI, keeps
 * no such files.
 *
 *     work w = {.task = task, ...};
 *     ulp_checkpoints checkpoints = {.task = task, .kind = &kind, .run = &w, .state = &w.now,
 *                                    .state_bytes = sizeof w.now, .seconds = settings->checkpoint};
 *     ... w gets a trainer that has made no step ...
 *     status = ulp_checkpoints_start(&checkpoints);
 *     for each step: ... the step, its rows ...
 *                    const int stop = ulp_task_progress(task, share);
 *                    ulp_checkpoints_keep(&checkpoints, stop);
 */
#ifndef ULP_TRAINING_CHECKPOINTS_H
#define ULP_TRAINING_CHECKPOINTS_H

#include "experiments/harness/experiment.h"

/* --checkpoint, bound to a field (double) of the settings `s`. */
#define ULP_OPTION_CHECKPOINT(s, field)                                                                                \
    ULP_OPTION_AS(s, field, "checkpoint", number, "60",                                                                \
                  .help = "seconds between checkpoints of a training under way; 0: none", .max = 1e6, .silent = 1)

/* The functions of a checkpoint for a kind of run. `run` is ulp_checkpoints.run, the caller's struct. */
typedef struct ulp_checkpoint_kind {
    /* Save and load as ulp_checkpoint_save() and ulp_checkpoint_load() (sim/train/checkpoint.h). */
    ulp_status (*save)(const void *run, const char *path, const void *note, size_t note_bytes, ulp_error *error);
    ulp_status (*load)(void *run, const char *path, void **note, size_t *note_bytes, ulp_error *error);
    /* Replace a run that load() has changed by a run that has made no step. */
    ulp_status (*restart)(void *run);
} ulp_checkpoint_kind;

typedef struct ulp_checkpoints {
    const ulp_task *task;
    const ulp_checkpoint_kind *kind;
    void *run;
    void *state; /* (state_bytes) the caller's own numbers between two steps: a struct without pointers */
    size_t state_bytes;
    double seconds; /* between checkpoints; 0: no checkpoints */

    /* of checkpoints.c */
    const char *file; /* NULL: no checkpoints */
    double saved;     /* the time of the last checkpoint, in seconds of ulp_clock() */
} ulp_checkpoints;

/* Called before the first step. With --resume, brings the run, the state and the rows of the point to those of the
 * checkpoint of the point. A checkpoint that is damaged or of another run is ignored with a message; the rows are the
 * same in all cases. The status is that of restart(). */
ulp_status ulp_checkpoints_start(ulp_checkpoints *checkpoints);

/* Called between two steps. Saves a checkpoint if the time has come, or if `stop` is not 0. A checkpoint that cannot be
 * written does not end the run: a message says so, and the run goes on without checkpoints. */
void ulp_checkpoints_keep(ulp_checkpoints *checkpoints, int stop);

#endif
