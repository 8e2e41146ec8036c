/* memory.h - the memory that a trainer allocates, counted from its options alone, and measured in a trainer.
 *
 * Our emulation stores every number in binary32, whatever the policy says, and keeps all tensors of a pass. A trainer
 * has an arena of backend memory, in which each array begins at a multiple of 64 bytes, and host memory. The count is
 * exact: a test compares it with the allocations of trainers, byte for byte. footprint.h counts the bytes of a machine.
 */
#ifndef ULP_MEMORY_H
#define ULP_MEMORY_H

#include "train.h"

ULP_C_BEGIN

/* The arrays of a trainer by their purpose; all but the last two kinds are in the arena. */
typedef enum ulp_memory_kind {
    ULP_MEMORY_WEIGHT,
    ULP_MEMORY_MASTER,
    ULP_MEMORY_STATE, /* of the optimizer */
    ULP_MEMORY_NORM,  /* running statistics */
    ULP_MEMORY_ACT,   /* outputs of layers and their inner numbers, for the training batch and for scores */
    ULP_MEMORY_WGRAD,
    ULP_MEMORY_AGRAD,
    ULP_MEMORY_LOSS,
    ULP_MEMORY_SCRATCH, /* workspace of layers, tensor of ones, scratch of roundings */
    ULP_MEMORY_RANKS,   /* gradients of the ranks and the state of rank 0 */
    ULP_MEMORY_HOST,    /* scratch of roundings on the host, order and samples, histories, the trainer itself */
    ULP_MEMORY_KINDS
} ulp_memory_kind;

typedef struct ulp_memory {
    size_t bytes[ULP_MEMORY_KINDS];
} ulp_memory;

/* The bytes that ulp_trainer_new() allocates and keeps for these options. Statuses and sentences are those of
 * ulp_train_check(). */
ulp_status ulp_memory_count(ulp_memory *memory, const ulp_data *data, const ulp_train_options *options,
                            ulp_error *error);

/* The bytes of the arena of a trainer, from the places of its arrays: an array ends where the next one begins. The
 * memory outside of the arena cannot be measured in this way and is 0. ULP_NO_MEMORY. */
ulp_status ulp_memory_measure(ulp_memory *memory, const ulp_trainer *trainer);

/* The sum over the arena. */
size_t ulp_memory_arena(const ulp_memory *memory);

/* "weights", "master weights", ...; NULL past the end. */
const char *ulp_memory_kind_name(ulp_memory_kind kind);

ULP_C_END
#endif
