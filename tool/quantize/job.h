/* job.h - ulp quantize: what the options ask for, and the codes of an array. */
#ifndef ULP_TOOL_QUANTIZE_JOB_H
#define ULP_TOOL_QUANTIZE_JOB_H

#include "formats/layouts.h"
#include "formats/quantize.h"
#include "tool/files/array.h"
#include "tool/hadamard.h"
#include "tool/tool.h"

/* What shares a scale. */
typedef enum quantize_per { PER_TENSOR, PER_ROW, PER_CHANNEL, PER_TILE } quantize_per;

typedef struct quantize_job {
    const char *program;
    const char *path;                /* of the input; "-" is stdin */
    const char *out;                 /* of the output; "-" is stdout */
    const char *name;                /* of the format, as it was given */
    int prints_codes, prints_values; /* what lines of text hold */
    const ulp_format *codes;         /* the format of the input's codes; NULL: the input has numbers */
    ulp_quantizer quantizer;
    ulp_ggml ggml; /* a type of GGUF; ULP_GGML_COUNT: none, and the quantizer counts */
    ulp_rule rule;
    ulp_stream stream;
    quantize_per per;
    int64_t axis;           /* of channels; negative: counted from the last one */
    size_t tile[2];         /* rows and columns of a tile; 0 rows: a block of the last dimension */
    tool_hadamard hadamard; /* before the quantisation; inverse: after the decoding */
    int finds_tensor_scale, is_tensor_scale_given;
    int is_archive; /* the input is a .npz file */
    int to_codes;   /* the output is a .npz file of codes, else a .npy file of binary32 values */
    int packs;      /* codes of 4 bits, two in a byte */
    int swizzles;   /* the scales in cuBLAS's layout */
} quantize_job;

/* The codes of an array. */
typedef struct quantize_codes {
    ulp_quantized array;
    npy_array elements, scales; /* the shapes */
} quantize_codes;

/* Set the tiling of an array of this shape, the shape of its scales, and the memory. The caller releases it in any
 * case. `shown` is the name of the array in messages. */
ulp_status quantize_prepare(quantize_codes *c, const quantize_job *j, const npy_array *elements, const char *shown,
                            ulp_error *error);
void quantize_release(quantize_codes *c);

/* The length of the last dimension, and the number of these rows. */
size_t quantize_row_length(const npy_array *h);
size_t quantize_row_count(const npy_array *h);

/* Quantise numbers of binary64 or, if `x` is NULL, exact ones. Finds the tensor scale of the job, and says it. */
ulp_status quantize_fill(quantize_codes *c, quantize_job *j, const double *x, const ulp_exact *exact, ulp_error *error);

/* The code whose bits, with or without a sign, are an integer. Returns 0 if the element has no such code. */
int quantize_is_code(uint16_t *code, double value, const ulp_quantizer *q);

/* Whether a number can be a scale of the format: NaN, or a value of it that is finite and not negative. */
int quantize_is_scale(double value, const ulp_format *f);

/* arrays.c: numbers of a .npy or .npz file to codes or values, and codes to values. After a failure an old output is
 * as it was. */
ulp_status quantize_arrays(quantize_job *j, ulp_error *error);
ulp_status quantize_arrays_decode(quantize_job *j, ulp_error *error);

/* ggml.c: the same for blocks of GGUF, the array `blocks` of a .npz file. */
ulp_status quantize_ggml(quantize_job *j, ulp_error *error);
ulp_status quantize_ggml_decode(quantize_job *j, ulp_error *error);

/* lines.c: the same for lines of text: a vector of exact numbers, and lines of codes. */
ulp_status quantize_lines(quantize_job *j, const ulp_arguments *a, ulp_error *error);
ulp_status quantize_lines_decode(quantize_job *j, const ulp_arguments *a, ulp_error *error);

/* write.c: arrays of a .npy or .npz file. */
void quantize_write_bytes(FILE *file, const npy_array *header, const uint8_t *bytes);
void quantize_write_floats(FILE *file, const npy_array *header, float *x); /* x is then in little-endian order */
/* Write y (shape) as the .npy file of --out. */
ulp_status quantize_write_values(const quantize_job *j, const npy_array *shape, float *y, ulp_error *error);
/* Write the archive of codes to the file of --out. */
ulp_status quantize_write_codes(const quantize_job *j, const quantize_codes *c, ulp_error *error);

#endif
