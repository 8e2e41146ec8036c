/* checkpoint.h - a training run put into a file and taken out again: everything that decides its future.
 *
 * The run that goes on from a checkpoint makes the same bits as one that was never interrupted. A file says for which
 * run it is (net, policy, optimizer, scaler, seed, batch, data) and fits no other; a checksum covers all of it. It
 * appears whole or not at all: written under another name, forced to the disk, renamed. Numbers are stored as they
 * lie in memory, so a file belongs to one kind of machine and one version of the program.
 *
 * What is kept: the whole arena of the trainer's tensors (tensor.h), so that an array that a layer or an optimizer
 * carves is kept without a word here, and what visit_state() in checkpoint.c names, a line for each piece outside of
 * it.
 */
#ifndef ULP_CHECKPOINT_H
#define ULP_CHECKPOINT_H

#include "train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write the run as it is between two steps, with note (note_bytes) of the caller's own. ULP_BAD_FILE, with a sentence
 * in error (may be NULL), if the file cannot be written; what was there before under that name is then still there. */
ulp_status ulp_checkpoint_save(const ulp_trainer *trainer, const char *path, const void *note, size_t note_bytes,
                               char *error, size_t error_size);

/* Put a run that has made no step yet where the file left off. *note gets the caller's bytes (free() it), *note_bytes
 * how many. ULP_BAD_FILE: missing or damaged; ULP_BAD_ARGUMENT: the file is of another run, the sentence says which. On
 * failure the trainer is as it was and *note is NULL. */
ulp_status ulp_checkpoint_load(ulp_trainer *trainer, const char *path, void **note, size_t *note_bytes, char *error,
                               size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
