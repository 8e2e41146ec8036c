/* library.h - cuBLASLt, found when it is first wanted: programs start where it is missing. */
#ifndef ULP_CUDA_LIBRARY_H
#define ULP_CUDA_LIBRARY_H

#include "native.h"

/* Why the library cannot be used, in a sentence that names it; "" if it can. */
const char *ulp_native_library_lacks(void);

/* D = A B + C by the call of a row of ULP_NATIVE_LIBRARY; k is not split into parts that are added in an order of their
 * own (reduction scheme NONE). ULP_UNSUPPORTED with a sentence if the library has no algorithm for it. */
ulp_status ulp_native_library(unsigned row, const ulp_native_job *job);

#endif
