/* paths.h - product paths of the processor, as ulp gemm --explain and ulp backends --products print them. */
#ifndef ULP_TOOL_PATHS_H
#define ULP_TOOL_PATHS_H

#include "tool.h"

#include "kernels/product_paths.h"

/* Whether `ulp gemm` keeps operands of these formats and the results of a datapath in arrays of binary32. */
int tool_paths_narrow(const ulp_datapath *datapath, const ulp_format *a, const ulp_format *b);

/* Print which path serves a product of this shape in arrays of binary32, or of binary64 if `wide`, and which path does
 * where the data do not meet the condition of the first one. */
void tool_paths_explain(const ulp_backend *backend, const ulp_datapath *datapath, int wide,
                        const ulp_gemm_shape *shape);

/* Print the table of a backend, with one example for each row. */
void tool_paths_list(const ulp_backend *backend);

#endif
