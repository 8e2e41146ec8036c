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
    char kind;      /* 'f': floats; 'i': signed integers; 'u': unsigned; 'c': codes of a format; 'b': truth values */
    int is_signed;  /* whether codes are stored as signed integers */
    size_t size;    /* bytes of an element */
    int is_big;     /* 1: the highest byte of an element comes first */
    int is_fortran; /* 1: the first index runs fastest */
    size_t dims;    /* 0: a single element */
    uint64_t shape[NPY_DIMENSIONS];
    uint64_t count; /* of the elements; size count < 2^63 */
} npy_array;

/* What a reader takes. */
typedef enum npy_wanted {
    NPY_NUMBERS, /* floats of 2, 4 or 8 bytes and signed integers; with a format: its codes, of 1, 2, 4 or 8 bytes */
    NPY_BYTES,   /* unsigned integers of one byte: codes of a block format */
    NPY_ANY      /* as NPY_NUMBERS, and unsigned integers and truth values, which are copied */
} npy_wanted;

/* Read the header of a .npy file and check it. `codes` is the format of codes, or NULL. A source of known size has to
 * hold the array and nothing after it. */
ulp_status npy_read_header(npy_array *array, file_source *source, npy_wanted wanted, const ulp_format *codes,
                           ulp_error *error);

/* Write a header of version 1.0, in a multiple of 64 bytes. A header of one dimension has 128 bytes. */
void npy_write_header(FILE *file, const npy_array *array);

#endif
