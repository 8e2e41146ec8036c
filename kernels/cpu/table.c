/* table.c - the backend table of one instruction set. */
#include "cpu.h"

#include <stdlib.h>
#include <string.h>

#define ULP_TEXT2(x) #x
#define ULP_TEXT(x) ULP_TEXT2(x)

static void *alloc(size_t bytes) { return aligned_alloc(64, (bytes + 64) / 64 * 64); }

static ulp_status copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0) memcpy(to, from, bytes);
    return ULP_OK;
}

extern const ulp_backend ULP_CPU(ulp_cpu_table);
const ulp_backend ULP_CPU(ulp_cpu_table) = {
    .name = "cpu",
    .what = ULP_TEXT(ULP_ISA),
    .alloc = alloc,
    .release = free,
    .upload = copy,
    .download = copy,
    .round = ULP_CPU(ulp_cpu_round),
    .round64 = ULP_CPU(ulp_cpu_round64),
    .map = ULP_CPU(ulp_cpu_map),
    .update = ULP_CPU(ulp_cpu_update),
    .largest = ULP_CPU(ulp_cpu_largest),
    .reduce = ULP_CPU(ulp_cpu_reduce),
    .gemm = ULP_CPU(ulp_cpu_gemm),
    .gemm64 = ULP_CPU(ulp_cpu_gemm64),
    .im2col = ULP_CPU(ulp_cpu_im2col),
    .permute = ULP_CPU(ulp_cpu_permute),
    .narrow = ULP_CPU(ulp_cpu_narrow),
    .scale = ULP_CPU(ulp_cpu_scale),
    .relu = ULP_CPU(ulp_cpu_relu),
    .relu_slope = ULP_CPU(ulp_cpu_relu_slope),
    .activate = ULP_CPU(ulp_cpu_activate),
    .activate_slope = ULP_CPU(ulp_cpu_activate_slope),
    .pool = ULP_CPU(ulp_cpu_pool),
    .pool_slope = ULP_CPU(ulp_cpu_pool_slope),
    .pool_strided = ULP_CPU(ulp_cpu_pool_strided),
    .pool_strided_slope = ULP_CPU(ulp_cpu_pool_strided_slope),
    .average = ULP_CPU(ulp_cpu_average),
    .average_slope = ULP_CPU(ulp_cpu_average_slope),
    .upsample = ULP_CPU(ulp_cpu_upsample),
    .upsample_slope = ULP_CPU(ulp_cpu_upsample_slope),
    .norm_statistics = ULP_CPU(ulp_cpu_norm_statistics),
    .norm_running = ULP_CPU(ulp_cpu_norm_running),
    .norm = ULP_CPU(ulp_cpu_norm),
    .norm_sums = ULP_CPU(ulp_cpu_norm_sums),
    .norm_slope = ULP_CPU(ulp_cpu_norm_slope),
    .dropout = ULP_CPU(ulp_cpu_dropout),
    .softmax = ULP_CPU(ulp_cpu_softmax),
    .softmax_slope = ULP_CPU(ulp_cpu_softmax_slope),
    .cell = ULP_CPU(ulp_cpu_cell),
    .ctc_outputs = ULP_CPU(ulp_cpu_ctc_outputs),
    .ctc = ULP_CPU(ulp_cpu_ctc),
    .gemm_round = ULP_CPU(ulp_cpu_gemm_round),
};
