/* native_rows.h - the list of native products, one line each.
 *
 * A line gives a product's name, its operands, the row of datapaths that models it, its instruction or library call,
 * and its kernel. A line begins with ROW, NAME after "native:", A, B, RESULT, MODEL, UNIT. The columns of its family
 * follow. MODEL and UNIT give the datapath that is expected to have the bits of the product (see struct unit in
 * native.cu). MODEL is "" if none is known.
 */
#ifndef ULP_CUDA_NATIVE_ROWS_H
#define ULP_CUDA_NATIVE_ROWS_H

/* mma.sync of a warp: ..., instruction, form of its registers, registers of A and of D, least architecture. B has half
 * the registers of A. */
#define ULP_NATIVE_MMA(X)                                                                                              \
    X(FP16, "mma:fp16", "fp16", "fp16", "fp32", "fp16", WHOLE, "m16n8k16.row.col.f32.f16.f16.f32", F32_WIDE, 4, 4,     \
      800)                                                                                                             \
    X(FP16_FP16, "mma:fp16-fp16", "fp16", "fp16", "fp16", "fp16-fp16", WHOLE, "m16n8k16.row.col.f16.f16.f16.f16",      \
      F16_WIDE, 4, 2, 800)                                                                                             \
    X(BF16, "mma:bf16", "bf16", "bf16", "fp32", "bf16", WHOLE, "m16n8k16.row.col.f32.bf16.bf16.f32", F32_WIDE, 4, 4,   \
      800)                                                                                                             \
    X(TF32, "mma:tf32", "tf32", "tf32", "fp32", "tf32", WHOLE, "m16n8k8.row.col.f32.tf32.tf32.f32", F32_WIDE, 4, 4,    \
      800)                                                                                                             \
    X(FP16_K8, "mma:fp16-k8", "fp16", "fp16", "fp32", "fp16", HALF_K8, "m16n8k8.row.col.f32.f16.f16.f32", F32_SLIM, 2, \
      4, 800)                                                                                                          \
    X(BF16_K8, "mma:bf16-k8", "bf16", "bf16", "fp32", "bf16", HALF_K8, "m16n8k8.row.col.f32.bf16.bf16.f32", F32_SLIM,  \
      2, 4, 800)                                                                                                       \
    X(TF32_K4, "mma:tf32-k4", "tf32", "tf32", "fp32", "tf32", HALF_K4, "m16n8k4.row.col.f32.tf32.tf32.f32", F32_SLIM,  \
      2, 4, 800)                                                                                                       \
    X(E4M3, "mma:e4m3", "e4m3", "e4m3", "fp32", "e4m3", EIGHT_BITS, "m16n8k32.row.col.f32.e4m3.e4m3.f32", F32_WIDE, 4, \
      4, 890)                                                                                                          \
    X(E4M3_E5M2, "mma:e4m3.e5m2", "e4m3", "e5m2", "fp32", "e4m3.e5m2", EIGHT_BITS,                                     \
      "m16n8k32.row.col.f32.e4m3.e5m2.f32", F32_WIDE, 4, 4, 890)                                                       \
    X(E5M2_E4M3, "mma:e5m2.e4m3", "e5m2", "e4m3", "fp32", "e5m2.e4m3", EIGHT_BITS,                                     \
      "m16n8k32.row.col.f32.e5m2.e4m3.f32", F32_WIDE, 4, 4, 890)                                                       \
    X(E5M2, "mma:e5m2", "e5m2", "e5m2", "fp32", "e5m2", EIGHT_BITS, "m16n8k32.row.col.f32.e5m2.e5m2.f32", F32_WIDE, 4, \
      4, 890)                                                                                                          \
    X(E4M3_FP16, "mma:e4m3-fp16", "e4m3", "e4m3", "fp16", "e4m3-fp16", EIGHT_BITS,                                     \
      "m16n8k32.row.col.f16.e4m3.e4m3.f16", F16_WIDE, 4, 2, 890)                                                       \
    X(E4M3_E5M2_FP16, "mma:e4m3.e5m2-fp16", "e4m3", "e5m2", "fp16", "e4m3.e5m2-fp16", EIGHT_BITS,                      \
      "m16n8k32.row.col.f16.e4m3.e5m2.f16", F16_WIDE, 4, 2, 890)                                                       \
    X(E5M2_E4M3_FP16, "mma:e5m2.e4m3-fp16", "e5m2", "e4m3", "fp16", "e5m2.e4m3-fp16", EIGHT_BITS,                      \
      "m16n8k32.row.col.f16.e5m2.e4m3.f16", F16_WIDE, 4, 2, 890)                                                       \
    X(E5M2_FP16, "mma:e5m2-fp16", "e5m2", "e5m2", "fp16", "e5m2-fp16", EIGHT_BITS,                                     \
      "m16n8k32.row.col.f16.e5m2.e5m2.f16", F16_WIDE, 4, 2, 890)                                                       \
    X(INT8, "mma:int8", "int8", "int8", "q32.0", "int8", ANY, "m16n8k32.row.col.s32.s8.s8.s32", S32_WIDE, 4, 4, 800)   \
    X(INT8_SAT, "mma:int8:sat", "int8", "int8", "q32.0", "int8:sat", ANY, "m16n8k32.row.col.satfinite.s32.s8.s8.s32",  \
      S32_WIDE, 4, 4, 800)

/* mma.sync of binary64: ..., instruction, form of its registers. */
#define ULP_MMA64_INSTRUCTION "m8n8k4.row.col.f64.f64.f64.f64"
#define ULP_NATIVE_MMA64(X)                                                                                            \
    X(FP64, "mma:fp64", "fp64", "fp64", "fp64", "serial:fp64:rne", ANY, ULP_MMA64_INSTRUCTION, F64)

/* wgmma of a warpgroup: ..., k and types, type of D, operands after the predicate: signs of A and B, and transposes
 * where the type has transposes. */
#define ULP_NATIVE_WGMMA(X)                                                                                            \
    X(FP16, "wgmma:fp16", "fp16", "fp16", "fp32", "fp16", HOPPER, "k16.f32.f16.f16", F32, ", 1, 1, 0, 0")              \
    X(FP16_FP16, "wgmma:fp16-fp16", "fp16", "fp16", "fp16", "fp16-fp16", HOPPER, "k16.f16.f16.f16", F16,               \
      ", 1, 1, 0, 0")                                                                                                  \
    X(BF16, "wgmma:bf16", "bf16", "bf16", "fp32", "bf16", HOPPER, "k16.f32.bf16.bf16", F32, ", 1, 1, 0, 0")            \
    X(TF32, "wgmma:tf32", "tf32", "tf32", "fp32", "tf32", HOPPER, "k8.f32.tf32.tf32", F32, ", 1, 1")                   \
    X(E4M3, "wgmma:e4m3", "e4m3", "e4m3", "fp32", "e4m3", HOPPER, "k32.f32.e4m3.e4m3", F32, ", 1, 1")                  \
    X(E4M3_E5M2, "wgmma:e4m3.e5m2", "e4m3", "e5m2", "fp32", "e4m3.e5m2", HOPPER, "k32.f32.e4m3.e5m2", F32, ", 1, 1")   \
    X(E5M2_E4M3, "wgmma:e5m2.e4m3", "e5m2", "e4m3", "fp32", "e5m2.e4m3", HOPPER, "k32.f32.e5m2.e4m3", F32, ", 1, 1")   \
    X(E5M2, "wgmma:e5m2", "e5m2", "e5m2", "fp32", "e5m2", HOPPER, "k32.f32.e5m2.e5m2", F32, ", 1, 1")                  \
    X(E4M3_FP16, "wgmma:e4m3-fp16", "e4m3", "e4m3", "fp16", "e4m3-fp16", HOPPER, "k32.f16.e4m3.e4m3", F16, ", 1, 1")   \
    X(E4M3_E5M2_FP16, "wgmma:e4m3.e5m2-fp16", "e4m3", "e5m2", "fp16", "e4m3.e5m2-fp16", HOPPER, "k32.f16.e4m3.e5m2",   \
      F16, ", 1, 1")                                                                                                   \
    X(E5M2_E4M3_FP16, "wgmma:e5m2.e4m3-fp16", "e5m2", "e4m3", "fp16", "e5m2.e4m3-fp16", HOPPER, "k32.f16.e5m2.e4m3",   \
      F16, ", 1, 1")                                                                                                   \
    X(E5M2_FP16, "wgmma:e5m2-fp16", "e5m2", "e5m2", "fp16", "e5m2-fp16", HOPPER, "k32.f16.e5m2.e5m2", F16, ", 1, 1")

/* The kinds of tcgen05.mma: name, text, products of one instruction, format of the scales ("" without scales), products
 * that share a scale. An instruction takes 32 bytes of k in shared memory, so that 16 bytes hold half of its products.
 */
#define ULP_TCGEN05_KINDS(X)                                                                                           \
    X(KIND_F16, "f16", 16, "", 0)                                                                                      \
    X(KIND_TF32, "tf32", 8, "", 0)                                                                                     \
    X(KIND_F8F6F4, "f8f6f4", 32, "", 0)                                                                                \
    X(KIND_I8, "i8", 32, "", 0)                                                                                        \
    X(KIND_MXF8F6F4, "mxf8f6f4.block_scale.scale_vec::1X", 32, "e8m0", 32)                                             \
    X(KIND_MXF4, "mxf4.block_scale.scale_vec::2X", 64, "e8m0", 32)                                                     \
    X(KIND_NVF4, "mxf4nvf4.block_scale.scale_vec::4X", 64, "e4m3", 16)

/* The types of f8f6f4 and mxf8f6f4, and their codes in the instruction descriptor. */
#define ULP_TCGEN05_NAME_E4M3 "e4m3"
#define ULP_TCGEN05_NAME_E5M2 "e5m2"
#define ULP_TCGEN05_NAME_E2M3 "e2m3"
#define ULP_TCGEN05_NAME_E3M2 "e3m2"
#define ULP_TCGEN05_NAME_E2M1 "e2m1"
enum {
    ULP_TCGEN05_CODE_E4M3 = 0,
    ULP_TCGEN05_CODE_E5M2 = 1,
    ULP_TCGEN05_CODE_E2M3 = 3,
    ULP_TCGEN05_CODE_E3M2 = 4,
    ULP_TCGEN05_CODE_E2M1 = 5
};

/* The rows of a pair of these types: results in binary32, in binary16, and with block scales. */
#define ULP_TCGEN05_PAIR(X, ROW, types, A, B)                                                                          \
    X(ROW, "tcgen05:" types, ULP_TCGEN05_NAME_##A, ULP_TCGEN05_NAME_##B, "fp32", types, TCGEN05, KIND_F8F6F4, F32,     \
      ULP_TCGEN05_CODE_##A, ULP_TCGEN05_CODE_##B)                                                                      \
    X(ROW##_FP16, "tcgen05:" types "-fp16", ULP_TCGEN05_NAME_##A, ULP_TCGEN05_NAME_##B, "fp16", types "-fp16",         \
      TCGEN05, KIND_F8F6F4, F16, ULP_TCGEN05_CODE_##A, ULP_TCGEN05_CODE_##B)                                           \
    X(ROW##_MX, "tcgen05:" types "-mx", ULP_TCGEN05_NAME_##A, ULP_TCGEN05_NAME_##B, "fp32", types "-mx", TCGEN05,      \
      KIND_MXF8F6F4, UE8M0, ULP_TCGEN05_CODE_##A, ULP_TCGEN05_CODE_##B)
#define ULP_TCGEN05_EQUAL(X, A) ULP_TCGEN05_PAIR(X, A, ULP_TCGEN05_NAME_##A, A, A)
#define ULP_TCGEN05_MIXED(X, A, B) ULP_TCGEN05_PAIR(X, A##_##B, ULP_TCGEN05_NAME_##A "." ULP_TCGEN05_NAME_##B, A, B)
#define ULP_TCGEN05_WITH(X, A, B, C, D, E)                                                                             \
    ULP_TCGEN05_EQUAL(X, A)                                                                                            \
    ULP_TCGEN05_MIXED(X, A, B)                                                                                         \
    ULP_TCGEN05_MIXED(X, A, C) ULP_TCGEN05_MIXED(X, A, D) ULP_TCGEN05_MIXED(X, A, E)

/* tcgen05.mma of a block: ..., kind, field of the instruction descriptor for the result or the scales
 * (ULP_TCGEN05_FIELD_F32 in fragments.h and so on), codes of A and of B there. */
#define ULP_NATIVE_TCGEN05(X)                                                                                          \
    X(FP16, "tcgen05:fp16", "fp16", "fp16", "fp32", "fp16", TCGEN05, KIND_F16, F32, 0, 0)                              \
    X(FP16_FP16, "tcgen05:fp16-fp16", "fp16", "fp16", "fp16", "fp16-fp16", TCGEN05, KIND_F16, F16, 0, 0)               \
    X(BF16, "tcgen05:bf16", "bf16", "bf16", "fp32", "bf16", TCGEN05, KIND_F16, F32, 1, 1)                              \
    X(TF32, "tcgen05:tf32", "tf32", "tf32", "fp32", "tf32", TCGEN05, KIND_TF32, F32, 2, 2)                             \
    ULP_TCGEN05_WITH(X, E4M3, E5M2, E2M3, E3M2, E2M1)                                                                  \
    ULP_TCGEN05_WITH(X, E5M2, E4M3, E2M3, E3M2, E2M1)                                                                  \
    ULP_TCGEN05_WITH(X, E2M3, E4M3, E5M2, E3M2, E2M1)                                                                  \
    ULP_TCGEN05_WITH(X, E3M2, E4M3, E5M2, E2M3, E2M1)                                                                  \
    ULP_TCGEN05_WITH(X, E2M1, E4M3, E5M2, E2M3, E3M2)                                                                  \
    X(INT8, "tcgen05:int8", "int8", "int8", "q32.0", "int8", ANY, KIND_I8, S32, 1, 1)                                  \
    X(INT8_SAT, "tcgen05:int8:sat", "int8", "int8", "q32.0", "int8:sat", ANY, KIND_I8, S32_SAT, 1, 1)                  \
    X(MXF4, "tcgen05:e2m1-mxf4", "e2m1", "e2m1", "fp32", "e2m1-mxf4", TCGEN05, KIND_MXF4, UE8M0, 1, 1)                 \
    X(NVF4, "tcgen05:e2m1-nvf4", "e2m1", "e2m1", "fp32", "e2m1-nvf4", TCGEN05, KIND_NVF4, UE4M3, 1, 1)

/* cuBLASLt: ..., compute type, type of its factors, types of A, of B and of the result, 1 for fast accumulation. */
#define ULP_NATIVE_LIBRARY(X)                                                                                          \
    X(FP32, "fp32", "fp32", "fp32", "fp32", "", ANY, 32F_PEDANTIC, 32F, 32F, 32F, 32F, 0)                              \
    X(TF32, "tf32", "tf32", "tf32", "fp32", "", ANY, 32F_FAST_TF32, 32F, 32F, 32F, 32F, 0)                             \
    X(FP16, "fp16", "fp16", "fp16", "fp32", "", ANY, 32F, 32F, 16F, 16F, 32F, 0)                                       \
    X(FP16_FP16, "fp16-fp16", "fp16", "fp16", "fp16", "", ANY, 16F, 16F, 16F, 16F, 16F, 0)                             \
    X(BF16, "bf16", "bf16", "bf16", "fp32", "", ANY, 32F, 32F, 16BF, 16BF, 32F, 0)                                     \
    X(E4M3, "e4m3", "e4m3", "e4m3", "fp32", "", ANY, 32F, 32F, 8F_E4M3, 8F_E4M3, 32F, 0)                               \
    X(E4M3_FAST, "e4m3:fast", "e4m3", "e4m3", "fp32", "", ANY, 32F, 32F, 8F_E4M3, 8F_E4M3, 32F, 1)                     \
    X(E4M3_E5M2, "e4m3.e5m2", "e4m3", "e5m2", "fp32", "", ANY, 32F, 32F, 8F_E4M3, 8F_E5M2, 32F, 0)                     \
    X(E4M3_E5M2_FAST, "e4m3.e5m2:fast", "e4m3", "e5m2", "fp32", "", ANY, 32F, 32F, 8F_E4M3, 8F_E5M2, 32F, 1)           \
    X(E5M2_E4M3, "e5m2.e4m3", "e5m2", "e4m3", "fp32", "", ANY, 32F, 32F, 8F_E5M2, 8F_E4M3, 32F, 0)                     \
    X(E5M2_E4M3_FAST, "e5m2.e4m3:fast", "e5m2", "e4m3", "fp32", "", ANY, 32F, 32F, 8F_E5M2, 8F_E4M3, 32F, 1)           \
    X(INT8, "int8", "int8", "int8", "q32.0", "int8", ANY, 32I, 32I, 8I, 8I, 32I, 0)

/* The index of each row: ULP_NATIVE_MMA_FP16, ULP_NATIVE_WGMMA_FP16, ULP_NATIVE_LIBRARY_FP16 and so on. */
typedef enum ulp_native_row {
#define ULP_NATIVE_INDEX(row, ...) ULP_NATIVE_MMA_##row,
    ULP_NATIVE_MMA(ULP_NATIVE_INDEX) ULP_NATIVE_MMA64(ULP_NATIVE_INDEX)
#undef ULP_NATIVE_INDEX
#define ULP_NATIVE_INDEX(row, ...) ULP_NATIVE_WGMMA_##row,
        ULP_NATIVE_WGMMA(ULP_NATIVE_INDEX)
#undef ULP_NATIVE_INDEX
#define ULP_NATIVE_INDEX(row, ...) ULP_NATIVE_TCGEN05_##row,
            ULP_NATIVE_TCGEN05(ULP_NATIVE_INDEX)
#undef ULP_NATIVE_INDEX
#define ULP_NATIVE_INDEX(row, ...) ULP_NATIVE_LIBRARY_##row,
                ULP_NATIVE_LIBRARY(ULP_NATIVE_INDEX)
#undef ULP_NATIVE_INDEX
                    ULP_NATIVE_ROWS
} ulp_native_row;

#endif
