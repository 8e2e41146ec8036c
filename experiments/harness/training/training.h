/* training.h - what training experiments repeat: train so many steps, record a learning curve, survive being killed.
 *
 * compute() fills a ulp_training and calls ulp_training_run(), which makes the trainer and takes the steps. After every
 * `every` steps, and after the last one, it calls record(), which puts rows; a summary row is for the call with `last`.
 *
 *     static ulp_status record(void *own, ulp_trainer *t, const ulp_stretch *s, ulp_rows *rows);
 *     const ulp_training training = {.data = data, .options = {...}, .steps = epochs * ulp_epoch_steps(data, batch),
 *                                    .every = ulp_epoch_steps(data, batch), .record = record, .own = &mine};
 *     return ulp_training_run(task, &training);
 *
 * Every `checkpoint` seconds of wall time, and when the run is being stopped, the trainer, the rows so far and the
 * experiment's own running state go to the point's file (ulp_task.file); a run with --resume goes on from there with
 * the same rows, and the sweep removes the file when the point is kept. A run that writes
 * to standard output or to a device, or under MPI, keeps no such files.
 *
 * Divergence is a result: a loss that is not finite in a step that was not skipped sets `diverged`, and a run whose
 * weights have become NaN ends there, its last call of record() included.
 */
#ifndef ULP_TRAINING_H
#define ULP_TRAINING_H

#include "experiments/harness/experiment.h"

#include "sim/train.h"

/* --checkpoint, bound to a field (double) of the settings `s`. */
#define ULP_OPTION_CHECKPOINT(s, field)                                                                                \
    {                                                                                                                  \
        .name = "checkpoint", .type = &ulp_type_number, ULP_AT(s, field), .value = "60",                               \
        .help = "seconds between checkpoints of a training under way; 0: none", .max = 1e6, .silent = 1                \
    }

/* What a training is made of; `options` point to the other fields, so that none of it moves. ulp_net_release(&net). */
typedef struct ulp_training_rules {
    ulp_net net;
    ulp_policy policy;
    ulp_scaler_rule scaler;
    ulp_optimizer_rule optimizer;
    ulp_train_options options;
} ulp_training_rules;

/* What became of the gradients of all layers, as shares of them; ULP_NO_NUMBER where none was counted. */
typedef struct ulp_gradient_shares {
    double zero;       /* zero as the layers hand them on, from whatever cause */
    double flushed;    /* made zero by a rounding */
    double overflowed; /* beyond the largest number of the format */
} ulp_gradient_shares;

/* Of one step that was counted. */
ulp_gradient_shares ulp_step_shares(const ulp_step *step);

/* What happened since the last call of record(). */
typedef struct ulp_stretch {
    uint64_t steps;   /* done in the whole training */
    uint64_t epochs;  /* trips through the training part that these began */
    uint64_t count;   /* of this stretch, skipped ones included */
    uint64_t skipped; /* of this stretch */
    double loss;      /* mean training loss of this stretch's steps that were not skipped; NaN if there are none */
    double moved;     /* share of the weights that the last step changed, if wanted; else NaN */
    int diverged;     /* in this stretch or before */
    int last;
    ulp_gradient_shares gradients; /* of all counted steps so far */
    ulp_score test;                /* of the test part after this stretch */
    ulp_score learned;             /* of the training part, if wanted and last */
} ulp_stretch;

typedef struct ulp_training {
    const ulp_data *data;
    ulp_train_options options;
    uint64_t steps, every; /* of the whole training, of a stretch; both at least 1 */
    uint64_t count_every;  /* the gradients of every so many steps are counted; 0: none are */
    int want_moved, want_learned;
    double checkpoint; /* seconds between checkpoints; 0: none */
    ulp_status (*record)(void *own, ulp_trainer *trainer, const ulp_stretch *stretch, ulp_rows *rows);
    /* One step, where ulp_trainer_step() alone is not enough: a schedule, an observer. NULL: ulp_trainer_step(). */
    ulp_status (*step)(void *own, ulp_trainer *trainer, ulp_step *step, ulp_rows *rows);
    void *own;        /* the experiment's state of this run, plain data without pointers; kept in checkpoints */
    size_t own_bytes; /* 0: nothing in it outlives a call */
} ulp_training;

/* Steps that one trip through the training part takes. */
uint64_t ulp_epoch_steps(const ulp_data *data, size_t batch);

/* From plan(), for every setting that compute() will train with: options that no trainer takes end the run before
 * anything is computed or written. */
ulp_status ulp_training_check(const ulp_plan *plan, const ulp_data *data, const ulp_train_options *options);

ulp_status ulp_training_run(const ulp_task *task, const ulp_training *training);

/* A trainer that has taken so many steps, fewer if the run is being stopped, for points whose own work begins then, at
 * `share` of their progress; without rows and checkpoints. ulp_trainer_free() in either case: *trainer is NULL if there
 * is none. */
ulp_status ulp_training_before(ulp_trainer **trainer, const ulp_task *task, const ulp_data *data,
                               const ulp_train_options *options, uint64_t steps, double share);

#endif
