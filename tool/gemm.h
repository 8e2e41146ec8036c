/* gemm.h - settings and data of ulp gemm, shared by its files and the check of its result. */
#ifndef ULP_TOOL_GEMM_H
#define ULP_TOOL_GEMM_H

#include "tool.h"

#include <stdlib.h>

typedef struct gemm_job {
    tool_product product;
    ulp_datapath datapath;
    ulp_format a_format, b_format, in;
    int kind; /* data_kind */
    uint64_t m, n, k, seed, threads;
    const char *tile;
    ulp_format a_codes, b_codes, c_codes; /* of the codes in the files of A, B and C; bits = 0: they hold values */
    const char *a_file, *b_file, *c_file; /* of A, B and the start values; NULL: random data, +0 */
    const char *out;                      /* the file of the result, or NULL */
    double *start;                        /* (m,n) the start values, in host memory; NULL: +0 */
    double seconds;                       /* for which the product is repeated */
    size_t blocks;                        /* number of scales along k */
    double *a, *b, *c;                    /* (m,k), (k,n), (m,n); host memory */
    float *a_scales, *b_scales;           /* (m,blocks), (n,blocks), or NULL; host memory */
    const ulp_backend *backend;
    int explain; /* print which path computes the product, and compute nothing */
} gemm_job;

/* Room for `count` elements; NULL where memory ends. The caller frees it. */
static inline void *gemm_room(size_t count, size_t size) {
    return count <= SIZE_MAX / size ? malloc(count * size + 1) : NULL;
}

/* ---- gemm_check.c ---- */

/* The exact results of every stride-th output. */
typedef struct gemm_check {
    const gemm_job *job;
    ulp_datapath exact;
    size_t count, stride;   /* outputs 0, stride, 2 stride, ... */
    double *exact_c, *size; /* (count) exact results; elements of |A||B|, plus those of |C| */
    int lacks_memory;       /* then they are not there */
} gemm_check;

gemm_check gemm_check_of(const gemm_job *w);
void gemm_check_print(const gemm_check *check);
void gemm_check_release(gemm_check *check);

/* ---- gemm_files.c: matrices of files, and the file of the result ---- */

/* Refuse options that do not go together. */
ulp_status gemm_files_check(const gemm_job *w, const ulp_arguments *a, ulp_error *error);

/* Read A, B and C, if the job names files: sets m, n, k, and the elements in the input formats of the job. */
ulp_status gemm_files_read(gemm_job *w, const ulp_arguments *a, ulp_error *error);

/* Write C (m,n) to the file of --out, which is open, in binary32, or in binary64 if the result format needs it. */
void gemm_files_write(const gemm_job *w, FILE *file);

#endif
