/* gemm_files.h - ulp gemm: matrices of files, and the file of the result. */
#ifndef ULP_TOOL_GEMM_FILES_H
#define ULP_TOOL_GEMM_FILES_H

#include "gemm.h"

/* Refuse options that do not go together. */
ulp_status gemm_files_check(const gemm_job *w, const ulp_arguments *a, ulp_error *error);

/* Read A, B and C, if the job names files: sets m, n, k, and the elements in the input formats of the job. */
ulp_status gemm_files_read(gemm_job *w, const ulp_arguments *a, ulp_error *error);

/* Write C (m,n) to the file of --out, which is open, in binary32, or in binary64 if the result format needs it. */
void gemm_files_write(const gemm_job *w, FILE *file);

#endif
