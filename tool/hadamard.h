/* hadamard.h - the option --hadamard G[:SIGNS]: a Hadamard transform of the groups of the last dimension. */
#ifndef ULP_TOOL_HADAMARD_H
#define ULP_TOOL_HADAMARD_H

#include "base/error.h"
#include "kernels/functions/hadamard.h"

typedef struct tool_hadamard {
    ulp_hadamard how; /* g = 0: no transform */
} tool_hadamard;

#define TOOL_HADAMARD_HELP                                                                                             \
    "first a Hadamard transform of each G neighbours along the last dimension, G a power of two from 2 to 256, "       \
    "rounded to binary32; with --decode its inverse last. SIGNS: none, te (Transformer Engine's, of 16), or N, from "  \
    "the stream N of --seed"

/* The text of the option; NULL is none. A number of SIGNS is a stream of the seed. */
ulp_status tool_hadamard_read(tool_hadamard *h, const char *text, uint64_t seed, int inverse, ulp_error *error);

/* Transforms x (rows,n) in place; numbers of binary64, and exact ones, are rounded to binary32 first. `shown` is the
 * name of the array in messages. */
ulp_status tool_hadamard_floats(const tool_hadamard *h, float *x, size_t rows, size_t n, const char *shown,
                                ulp_error *error);
ulp_status tool_hadamard_doubles(const tool_hadamard *h, double *x, size_t rows, size_t n, const char *shown,
                                 ulp_error *error);
ulp_status tool_hadamard_exact(const tool_hadamard *h, ulp_exact *x, size_t n, const char *shown, ulp_error *error);

#endif
