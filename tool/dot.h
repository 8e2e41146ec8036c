/* dot.h - the files of ulp dot: arrays of operands in place of lines.
 */
#ifndef ULP_TOOL_DOT_H
#define ULP_TOOL_DOT_H

#include "tool.h"

/* The files of a, b and c, and the formats of codes in them; bits = 0: they hold values. */
typedef struct dot_files {
    const char *a, *b, *c;
    ulp_format a_codes, b_codes, c_codes;
} dot_files;

/* Sums c[i] + a[i] b[i] of rows of k products. */
typedef struct dot_arrays {
    size_t rows, k;
    double *a, *b, *c; /* (rows, k), (rows, k) and (rows); c is NULL: +0 */
} dot_arrays;

/* Refuse options that do not go together. */
ulp_status dot_files_check(const dot_files *files, const ulp_arguments *arguments, ulp_error *error);

/* Read the arrays: a and b of one shape, whose last dimension is k; c of the shape without it. Elements are values of
 * the formats a, b and c; `rounds`: those of a and b are rounded to nearest even. The caller releases them. */
ulp_status dot_files_read(dot_arrays *arrays, const dot_files *files, const char *program, const ulp_format *a,
                          const ulp_format *b, const ulp_format *c, int rounds, ulp_error *error);
void dot_arrays_release(dot_arrays *arrays);

#endif
