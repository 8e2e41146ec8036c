/* npy.h - the header of .npy files (numpy.lib.format), versions 1.0 to 3.0. */
#ifndef ULP_TOOL_FILES_NPY_H
#define ULP_TOOL_FILES_NPY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "source.h"

enum { NPY_DIMENSIONS = 64 };

/* An array: its elements, and its shape. */
typedef struct npy_array {
    char kind;      /* 'f': values; 'u': codes, or unsigned integers; 'i': signed integers */
    size_t size;    /* bytes of an element */
    int is_big;     /* 1: the highest byte of an element comes first */
    int is_fortran; /* 1: the first index runs fastest */
    size_t dims;    /* 0: a single element */
    uint64_t shape[NPY_DIMENSIONS];
    uint64_t count; /* of the elements; size count < 2^63 */
} npy_array;

/* Read the header of a .npy file and check it. `kind` is 'f' for values of 2, 4 or 8 bytes, 'u' for codes of one byte,
 * 'i' for integers of up to 4 bytes with and without a sign; array->kind then says which.
 * A source of known size has to hold the array and nothing after it. */
ulp_status npy_read_header(npy_array *array, file_source *source, char kind, ulp_error *error);

/* Write a header of version 1.0, in a multiple of 64 bytes. A header of one dimension has 128 bytes. */
void npy_write_header(FILE *file, const npy_array *array);

#endif
