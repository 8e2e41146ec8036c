/* arrays.h - ulp block: arrays of .npy and .npz files to codes or values of a block format, and codes to values.
 *
 * Blocks lie along the last dimension and do not cross its end: an array of the shape (..., n) has scales of the shape
 * (..., ceil(n / size)). Tiles are parts of the last two dimensions: an array (..., m, n) has scales of the shape
 * (..., ceil(m / size), ceil(n / size)). The codes are a .npz file with the arrays `elements` and `scales`, one byte a
 * code, and `tensor_scale`, a binary32 number, where the format has one.
 */
#ifndef ULP_TOOL_BLOCK_ARRAYS_H
#define ULP_TOOL_BLOCK_ARRAYS_H

#include "tool/hadamard.h"
#include "tool/tool.h"
#include "formats/block.h"

typedef struct block_arrays {
    const char *program;
    const char *path;        /* of the input; "-" is stdin */
    const ulp_format *codes; /* of the input, if it has codes, or NULL */
    const char *out;         /* of the output; "-" is stdout, which takes no codes */
    const ulp_block *block;
    ulp_rule rule;
    ulp_stream stream; /* element i takes the random word stream.first + i */
    float tensor_scale;
    int tiles;                /* 1: size x size elements of a matrix share a scale */
    tool_hadamard hadamard;   /* before the encoding, and inverted after the decoding */
    int finds_tensor_scale;   /* 1: the tensor scale is that of the array */
    int is_tensor_scale_told; /* 1: the user gives the tensor scale */
    int is_archive;           /* 1: the input is a .npz file */
    int to_codes;             /* 1: the output is a .npz file of codes, else a .npy file of binary32 values */
} block_arrays;

/* After a failure an old output is as it was. */
ulp_status block_arrays_encode(block_arrays *b, ulp_error *error);
ulp_status block_arrays_decode(block_arrays *b, ulp_error *error);

#endif
