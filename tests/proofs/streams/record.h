/* record.h - the random words that training takes: a backend that records them, and the list of the records. */
#ifndef ULP_TESTS_RECORD_H
#define ULP_TESTS_RECORD_H

#include "kernels/backend.h"

/* The words first .. last of a stream, which one operation takes. */
typedef struct record {
    uint64_t seed, stream, first, last;
    const char *what; /* the operation */
    uint64_t number;  /* of the operation, from 1 */
    uint64_t input;   /* checksum of the numbers that a rounding or a cast to blocks reads; else 0 */
} record;

/* The recording form of a CPU backend: it computes with the operations of `inner`. A program has one at a time. */
const ulp_backend *recording(const ulp_backend *inner);

/* The number of operations so far. A rounding that changes no value is no operation: its words decide nothing. */
uint64_t records_operations(void);

/* Forget all records. */
void records_clear(void);

/* Sort the records by seed, stream and first word. Returns them, *count of them; valid until the next operation. */
const record *records_sorted(size_t *count);

#endif
