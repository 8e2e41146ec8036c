/* walled_operations.h - what the sources of the walled backend share: the wall, checks of arguments, operations. */
#ifndef ULP_TESTS_WALLED_OPERATIONS_H
#define ULP_TESTS_WALLED_OPERATIONS_H

#include "walled.h"

/* The names that programs see. */
#define enter walled_enter
#define left walled_left
#define open_wall walled_open
#define inside walled_inside
#define outside walled_outside

/* Every operation calls enter(), checks its arguments, computes with the backend that open_wall() returns, and calls
 * left(), which returns the status. */
void enter(void);
const ulp_backend *open_wall(void);
ulp_status left(ulp_status status);

/* Check that [at, at + bytes) lies in one live block of the backend's memory, or outside of this memory. */
void inside(const char *operation, const void *at, size_t bytes);
void outside(const char *operation, const void *at, size_t bytes);

/* walled_sequences.c */
ulp_status walled_cell(double *to, const ulp_cell_arrays *arrays, ulp_cell_stage stage);
ulp_status walled_ctc_outputs(double *p, const float *z, ulp_sequences of, int linear);
ulp_status walled_ctc(double *dz, double *loss, double *work, const float *p, ulp_sequences of,
                      const ulp_path_sums *sums);

#endif
