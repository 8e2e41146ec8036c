/* blas.h - sums of OpenBLAS as devices: one dot product, and one element of a matrix product. */
#ifndef ULP_TOOL_BLAS_H
#define ULP_TOOL_BLAS_H

#include "kernels/products/unit.h"

/* The product whose element (0,0) is the sum: A (m,k) times B (k,n). */
typedef struct tool_blas_size {
    size_t m, n;
} tool_blas_size;

/* Whether the name is that of a function of OpenBLAS. */
int tool_blas_is_name(const char *name);

/* The function called `name` as a device; `size` must exist as long as the device. The library is loaded at the first
 * call, because every start of the tool would otherwise load it. Returns ULP_NO_DEVICE without OpenBLAS, ULP_BAD_NAME.
 * *with_c: whether the function takes a start value. */
ulp_status tool_blas_unit(ulp_unit *unit, const char *name, const tool_blas_size *size, int *with_c);

/* The library's kernels: "OpenBLAS 0.3.21, SkylakeX". */
const char *tool_blas_what(void);

#endif
