/* library.h - cuBLASLt, found when it is first wanted: programs start where it is missing. */
#ifndef ULP_CUDA_LIBRARY_H
#define ULP_CUDA_LIBRARY_H

#include "native.h"

/* The calls, in the order of their numbers. */
enum {
    ULP_CALL_FP32,
    ULP_CALL_TF32,
    ULP_CALL_FP16,
    ULP_CALL_FP16_FP16,
    ULP_CALL_BF16,
    ULP_CALL_E4M3,
    ULP_CALL_E4M3_E5M2,
    ULP_CALL_E5M2_E4M3,
    ULP_CALL_INT8
};

/* What a call computes in. */
const char *ulp_native_library_text(unsigned call, int fast);

/* Why the library cannot be used, in a sentence that names it; "" if it can. */
const char *ulp_native_library_lacks(void);

/* D = A B + C by one call, no split of k whose parts are added in an order of its own (reduction scheme NONE). fast:
 * fp8 accumulates without promotion. ULP_UNSUPPORTED with a sentence if the library has no algorithm for it. */
ulp_status ulp_native_library(unsigned call, int fast, const ulp_native_job *job);

#endif
