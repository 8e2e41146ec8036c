/* gemm_files.h - ulp gemm: matrices of files, and the file of the result. */
#ifndef ULP_TOOL_GEMM_FILES_H
#define ULP_TOOL_GEMM_FILES_H

#include "gemm.h"

/* Refuse options that do not go together. Returns ULP_GO_ON, or the exit status after a message. */
int gemm_files_check(const gemm_job *w, const ulp_arguments *a);

/* Read A, B and C, if the job names files: sets m, n, k, and the elements in the input formats of the job. Returns
 * ULP_GO_ON, or the exit status after a message. */
int gemm_files_read(gemm_job *w, const ulp_arguments *a);

/* Write C (m,n) to the file of --out, which is open, in binary32, or in binary64 if the result format needs it. */
void gemm_files_write(const gemm_job *w, FILE *file);

#endif
