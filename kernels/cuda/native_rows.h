/* native_rows.h - the list of native products, one line each.
 *
 * A line gives a product's name, its operands, the row of datapaths that models it, its instruction or library call,
 * and its kernel. A line begins with ROW, NAME behind "native:", A, B, RESULT, MODEL, UNIT. The columns of its family
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

/* wgmma of a warpgroup: ..., k and types, type of D, operands behind the predicate: signs of A and B, and transposes
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
#define ULP_NATIVE_INDEX(row, ...) ULP_NATIVE_LIBRARY_##row,
            ULP_NATIVE_LIBRARY(ULP_NATIVE_INDEX)
#undef ULP_NATIVE_INDEX
                ULP_NATIVE_ROWS
} ulp_native_row;

#endif
