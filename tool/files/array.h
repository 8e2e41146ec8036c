/* array.h - whole arrays of .npy and .npz files in memory. */
#ifndef ULP_TOOL_FILES_ARRAY_H
#define ULP_TOOL_FILES_ARRAY_H

#include "experiments/harness/cli/text.h"
#include "npy.h"
#include "npz.h"

/* An array in C order: the last index runs fastest. */
typedef struct file_array {
    npy_array header; /* is_fortran and is_big are 0 */
    char *shown;      /* the name of the file in messages */
    void *elements;   /* (count) doubles; bytes, if NPY_BYTES was wanted */
} file_array;

/* Read the array of `path`, a .npy file, FILE.npz, FILE.npz:NAME, or "-". `wanted` and `codes` are as in
 * npy_read_header(), `program` as in ulp_input_open(). The memory grows with the bytes that are read, not with what the
 * header announces. The caller frees the array in any case. */
ulp_status file_array_read(file_array *a, const char *program, const char *path, npy_wanted wanted,
                           const ulp_format *codes, ulp_error *error);
/* The same, of a path that is a .npy file, or FILE or FILE.npz:NAME of an archive, whatever its name says. */
ulp_status file_array_read_npy(file_array *a, const char *program, const char *path, npy_wanted wanted,
                               const ulp_format *codes, ulp_error *error);
ulp_status file_array_read_npz(file_array *a, const char *program, const char *path, npy_wanted wanted,
                               const ulp_format *codes, ulp_error *error);
/* The same, from a source that is open. */
ulp_status file_array_read_source(file_array *a, file_source *source, npy_wanted wanted, const ulp_format *codes,
                                  ulp_error *error);
/* Read an array of an archive; *found is 0 if there is none of this name. */
ulp_status file_array_read_member(file_array *a, int *found, const npz_archive *z, const char *name, npy_wanted wanted,
                                  const ulp_format *codes, ulp_error *error);
void file_array_free(file_array *a);

/* Refuse two arrays of different shapes. */
ulp_status file_array_same_shape(const file_array *a, const file_array *b, ulp_error *error);

/* *to (count) = the elements of x, doubles, which it takes over, as values of the format; `rounds`: rounded to nearest
 * even. An element without a code is refused. The caller frees *to. */
ulp_status file_array_take(double **to, file_array *x, const ulp_format *f, int rounds, ulp_error *error);

/* Add the index of element i, as (3, 5). */
void file_array_add_index(ulp_text *to, const npy_array *header, uint64_t i);
/* Add the shape, as (3, 5). */
void file_array_add_shape(ulp_text *to, const npy_array *header);

#endif
