/* checkpoint.h - saving a training run to a file, and loading the run from the file.
 *
 * A checkpoint holds everything that decides the rest of a run: a run that is continued from a checkpoint computes the
 * same bits as a run that was never interrupted. The file describes its run (net, policy, optimizer, scaler, seed,
 * batch, data), and no other run can load the file. A checksum covers the whole file. The file is written under
 * another name, forced to the disk and then renamed, so no part of a file ever has the final name. Numbers are stored
 * as they lie in memory: a file belongs to one kind of machine and one version of the program.
 *
 * A checkpoint keeps the whole arena of the trainer's tensors (tensor.h), with every array that a layer or an optimizer
 * carves from the arena, and the state outside of the arena that ulp_learner_visit() in saved.c visits. The same holds
 * for a run of two networks (gan.h), with two arenas.
 */
#ifndef ULP_CHECKPOINT_H
#define ULP_CHECKPOINT_H

#include "train.h"

ULP_C_BEGIN

/* Write the state of a run between two steps, and the caller's note (note_bytes), to the file `path`. ULP_BAD_FILE,
 * with a sentence in error (may be NULL), if the file cannot be written; an older file of that name is then unchanged.
 */
ulp_status ulp_checkpoint_save(const ulp_trainer *trainer, const char *path, const void *note, size_t note_bytes,
                               ulp_error *error);

/* Bring a run that has made no step yet to the state in the file `path`. *note gets the caller's note (free() it), and
 * *note_bytes its size. ULP_BAD_FILE: the file is missing or damaged. ULP_BAD_ARGUMENT: the run has begun, or the file
 * is of another run, and the sentence says which. On failure the trainer is unchanged and *note is NULL. */
ulp_status ulp_checkpoint_load(ulp_trainer *trainer, const char *path, void **note, size_t *note_bytes,
                               ulp_error *error);

ULP_C_END
#endif
