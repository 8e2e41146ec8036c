/* paths.h - the rows of the table of product paths, in the order in which they are tried. */
#ifndef ULP_CPU_PATHS_H
#define ULP_CPU_PATHS_H

#include "kernels/cpu/cpu.h"
#include "kernels/product_paths.h"

/* X(name, what, condition, example): the fields of ulp_product_path. kernels/cpu/products/NAME.c defines the functions
 * ULP_CPU(ulp_serves_NAME) and ULP_CPU(ulp_product_NAME), which are `serves` and `run`. A faster path stands before the
 * slower ones; a path that costs a look at the data stands before the path that does without. */
#define ULP_PATHS(X)                                                                                                   \
    X(native, "native products, by one of the processor's own instructions", "", "native:avx512-bf16")                 \
    X(fp32_chain, "chains of fused multiply-adds in binary32, in blocks of registers", "", "fp32")                     \
    X(fp64_chain, "chains of fused multiply-adds in binary64, in blocks of registers", "", "serial:fp64:rne")          \
    X(integers,                                                                                                        \
      "integers of 8 or 16 bits into 32 bits, and rows of e2m1 and e2m3 as integers, in vectors of integers",          \
      "no partial sum of e2m1 or e2m3 rounds; sums of 16-bit integers that clamp have two products at a time", "int8") \
    X(fixed, "serial sums in fixed point of at most 16 bits, in vectors of integers",                                  \
      "operands and start values are values of the format", "serial:q8.8:rne")                                         \
    X(pairs, "sums of two products of 8-bit integers in 16 bits (VPMADDUBSW), in vectors of 32-bit integers", "",      \
      "maddubs-int8")                                                                                                  \
    X(aligned, "sums of aligned products (Tensor Cores, CDNA3, RISC-V), in vectors of 32-bit integers", "",            \
      "h100-fp16")                                                                                                     \
    X(scaled_groups, "groups that are summed exactly before their scales apply (mxf4, nvf4), in vectors", "",          \
      "b200-e2m1-nvf4")                                                                                                \
    X(dot_instructions, "instructions that round after each addition (x86, Arm, CDNA2), in vectors of binary32", "",   \
      "amx-bf16")                                                                                                      \
    X(serial_floats, "serial and chunked sums in formats of at most 22 bits, in vectors of binary32",                  \
      "products are below 2^100, operands are binary32 values, and start values are values of the format; in mode "    \
      "sra usual sums are normal numbers",                                                                             \
      "serial:fp16:sra")                                                                                               \
    X(serial_doubles, "serial and chunked sums, in vectors of binary64",                                               \
      "in arrays of binary64: operands and start values are binary32 values", "serial:fp16:srb")                       \
    X(serial_general, "serial sums in posits, takums, hif8 and formats without a sign, in vectors of binary64",        \
      "in arrays of binary64: products are exact in binary64", "serial:posit16:rne")                                   \
    X(terms_floats, "split and pairwise sums to nearest in formats of at most 11 bits, in vectors of binary32",        \
      "products are exact in binary32, no sum is beyond the range, and start values are values of the format",         \
      "split:fp16:rne")                                                                                                \
    X(terms_doubles, "split, pairwise and Kahan sums, in vectors of binary64",                                         \
      "in arrays of binary64: operands and start values are binary32 values", "kahan:fp16:rne")                        \
    X(nearest_blocks, "block sums to nearest in binary32 or binary16, CDNA1 and FDOT, in vectors of binary64",         \
      "operands are finite, and sums of the products of a step are exact in binary64", "mi100-bf16")                   \
    X(block_bounds, "block sums to nearest in binary32, between bounds in vectors of binary64", "", "block4:fp32:rne") \
    X(exact, "exact sums, and block sums of any format and mode, in vectors of binary64",                              \
      "for block sums in arrays of binary64: operands and start values are binary32 values", "exact:fp32:rne")         \
    X(definition, "every datapath but native products, one output after the other, by the definition", "",             \
      "serial:fp64:rz")

#define ULP_PATH(name, what, condition, example)                                                                       \
    int ULP_CPU(ulp_serves_##name)(const ulp_job *job);                                                                \
    ulp_status ULP_CPU(ulp_product_##name)(const ulp_job *job);
ULP_PATHS(ULP_PATH)
#undef ULP_PATH

/* The functions of a path that this instruction set, or the compiler, does not offer. */
#define ULP_PATH_ABSENT(name)                                                                                          \
    int ULP_CPU(ulp_serves_##name)(const ulp_job *job) {                                                               \
        (void)job;                                                                                                     \
        return 0;                                                                                                      \
    }                                                                                                                  \
    ulp_status ULP_CPU(ulp_product_##name)(const ulp_job *job) {                                                       \
        (void)job;                                                                                                     \
        return ULP_UNSUPPORTED;                                                                                        \
    }

/* The table of this instruction set, *count rows. */
const ulp_product_path *ULP_CPU(ulp_product_paths)(size_t *count);

#endif
