/* library.h - products by cuBLASLt. The library is opened at its first use, so that programs start without it. */
#ifndef ULP_CUDA_LIBRARY_H
#define ULP_CUDA_LIBRARY_H

#include "native.h"

/* The reason why the library cannot be used, in a sentence that names the library. "" if it can be used. */
const char *ulp_native_library_lacks(void);

/* D = A B + C by the call of a row of ULP_NATIVE_LIBRARY. The call does not split k into parts (reduction scheme NONE).
 * Returns ULP_UNSUPPORTED, with a sentence, if the library has no algorithm for the product. */
ulp_status ulp_native_library(unsigned row, const ulp_native_job *job);

#endif
