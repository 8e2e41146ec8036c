/* split_k.h - sums whose products are divided among N parts, as kernels with split-K do: the setting split-k=N:FORMAT.
 *
 * The k products are ceil(k / step) steps, and a part has ceil(steps / N) of them, so that a part is a whole number of
 * the unit's instructions; CUTLASS divides iterations of its main loop in this way (kernel::Gemm, gemm_k_iterations).
 * The last part that has products may have fewer, and parts after this one have none: N beyond the number of steps
 * gives a part for each step. A part is a sum of the row on its own, from +0. Its result is rounded to FORMAT, to
 * nearest even, with the overflow policy of FORMAT: the value in the workspace.
 *
 * A total starts at +0, and the parts are added to it in their order, and then c. An addition is rounded to binary32,
 * to nearest even, or to binary64 where the values of the row's results do not fit binary32. The last total is rounded
 * to the row's result format, to nearest even. This is the order of CUTLASS's parallel split-K (reduction::kernel::
 * ReduceSplitK: the accumulator is cleared, partitions are added one by one, the epilogue adds C). FORMAT = binary32 is
 * cuBLASLt's CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, and FORMAT = the format of the results is its
 * CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE; cuBLASLt documents where partial sums are kept, not the order of their sum.
 * Serial split-K, which rounds the total to the output's format after each part, is another sum.
 *
 * An empty part would add +0 to a total that is never -0, so that it would change no bit. An empty sum is c, rounded
 * to the result's format.
 */
#ifndef ULP_SPLIT_K_H
#define ULP_SPLIT_K_H

#include "datapath.h"

ULP_C_BEGIN

/* The largest N. */
enum { ULP_SPLIT_K_MAX = 1 << 16 };

/* The products of a part of a sum of k products; at least 1. The last part may have fewer. */
size_t ulp_split_k_length(const ulp_datapath *datapath, size_t k);

/* The datapath of one part: the row without the setting. */
ulp_status ulp_split_k_part(ulp_datapath *part, const ulp_datapath *datapath);

/* total + x, rounded to datapath->split_k_total. */
static inline double ulp_split_k_add(const ulp_datapath *datapath, double total, double x) {
    return datapath->split_k_total.prec == 24 ? (double)((float)total + (float)x) : total + x;
}

ULP_C_END
#endif
