// mma.cu - whole products by mma.sync: an element is a chain of accumulating instructions over ascending k.
#include "mma.h"
#include "native.h"

namespace {

/* Loads the one or two registers of the elements 2 pair and 2 pair + 1 of C or D. */
template <int D> __device__ inline void load_pair(uint32_t *d, const void *c, size_t at, uint32_t pair) {
    if constexpr (D == 4) {
        const uint2 two = *reinterpret_cast<const uint2 *>(static_cast<const uint32_t *>(c) + at);
        d[2 * pair] = two.x;
        d[2 * pair + 1] = two.y;
    } else {
        d[pair] = *reinterpret_cast<const uint32_t *>(static_cast<const uint16_t *>(c) + at);
    }
}

template <int D> __device__ inline void store_pair(void *to, const uint32_t *d, size_t at, uint32_t pair) {
    if constexpr (D == 4) *reinterpret_cast<uint2 *>(static_cast<uint32_t *>(to) + at) = {d[2 * pair], d[2 * pair + 1]};
    else *reinterpret_cast<uint32_t *>(static_cast<uint16_t *>(to) + at) = d[pair];
}

/* The tile of a warp: DOWN x ACROSS tiles of the instruction, from (row, column) on. A lane reads four bytes at a time
 * from memory: a row of a tile is 16 or 32 bytes, and the cache holds the bytes that lanes share. */
template <typename Op, int DOWN, int ACROSS>
__device__ inline void warp_product(const ulp_native_job &w, size_t row, size_t column) {
    const uint32_t lane = threadIdx.x % 32;
    uint32_t d[DOWN][ACROSS][Op::D] = {};
    auto place = [&](int i, int j, uint32_t pair) {
        return (row + 16 * i + ulp_mma_c_row(lane, 2 * pair)) * w.n + column + 8 * j + ulp_mma_c_column(lane, 2 * pair);
    };
    if (w.c != NULL)
        for (int i = 0; i < DOWN; i++)
            for (int j = 0; j < ACROSS; j++)
                for (uint32_t pair = 0; pair < 2; pair++) load_pair<Op::D>(d[i][j], w.c, place(i, j, pair), pair);
    for (size_t k = 0; k < w.depth; k += Op::BYTES) {
        uint32_t a[DOWN][Op::A], b[ACROSS][Op::B];
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (uint32_t r = 0; r < Op::A; r++)
                a[i][r] = *reinterpret_cast<const uint32_t *>(w.a + (row + 16 * i + ulp_mma_a_row(lane, r)) * w.depth +
                                                              k + ulp_mma_a_byte(lane, r));
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
#pragma unroll
            for (uint32_t r = 0; r < Op::B; r++)
                b[j][r] = *reinterpret_cast<const uint32_t *>(
                    w.b + (column + 8 * j + ulp_mma_b_column(lane)) * w.depth + k + ulp_mma_b_byte(lane, r));
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (int j = 0; j < ACROSS; j++) Op::run(d[i][j], a[i], b[j]);
    }
    for (int i = 0; i < DOWN; i++)
        for (int j = 0; j < ACROSS; j++)
            for (uint32_t pair = 0; pair < 2; pair++) store_pair<Op::D>(w.d, d[i][j], place(i, j, pair), pair);
}

/* SIDE x SIDE warps. The kernel is empty and is not launched where the architecture lacks the instruction. */
template <typename Op, int SIDE, int DOWN, int ACROSS>
__global__ void __launch_bounds__(32 * SIDE * SIDE) mma_kernel(const __grid_constant__ ulp_native_job w) {
    if constexpr (Op::offered) {
        const size_t warp = threadIdx.x / 32;
        const ulp_native_origin tile = ulp_native_origin_of<16 * DOWN * SIDE, 8 * ACROSS * SIDE>(w);
        warp_product<Op, DOWN, ACROSS>(w, tile.row + warp / SIDE * (16 * DOWN),
                                       tile.column + warp % SIDE * (8 * ACROSS));
    }
}

/* One warp computes a tile of 8 x 8. */
__global__ void __launch_bounds__(32) mma64_kernel(const __grid_constant__ ulp_native_job w) {
    const uint32_t lane = threadIdx.x;
    const double *a = reinterpret_cast<const double *>(w.a), *b = reinterpret_cast<const double *>(w.b),
                 *c = static_cast<const double *>(w.c);
    const ulp_native_origin tile = ulp_native_origin_of<8, 8>(w);
    const size_t k = w.depth / sizeof *a, at = (tile.row + ulp_mma64_c_row(lane)) * w.n + tile.column;
    double d[2] = {0.0, 0.0};
    for (uint32_t e = 0; c != NULL && e < 2; e++) d[e] = c[at + ulp_mma64_c_column(lane, e)];
    for (size_t i = 0; i < k; i += 4)
        ulp_mma_fp64(d, a[(tile.row + ulp_mma64_a_row(lane)) * k + i + ulp_mma64_a_k(lane)],
                     b[(tile.column + ulp_mma64_b_column(lane)) * k + i + ulp_mma64_b_k(lane)]);
    for (uint32_t e = 0; e < 2; e++) static_cast<double *>(w.d)[at + ulp_mma64_c_column(lane, e)] = d[e];
}

template <typename Op> ulp_status launch(const ulp_native_job &w) {
    const bool large = w.m % ulp_mma_large.rows == 0 && w.n % ulp_mma_large.columns == 0;
    return large ? ulp_native_launch("mma.sync", mma_kernel<Op, 2, 2, 4>, w, ulp_mma_large, 128)
                 : ulp_native_launch("mma.sync", mma_kernel<Op, 1, 1, 1>, w, ulp_mma_small, 32);
}

ulp_status launch64(const ulp_native_job &w) {
    return ulp_native_launch("mma.sync of binary64", mma64_kernel, w, ulp_mma_64, 32);
}

__global__ void built_kernel(ulp_native_code *to) {
#if defined(ULP_EMULATED_DEVICE)
    const int capability = ulp_emulated_capability();
    *to = {capability, capability == 90, capability == 100};
#else
    *to = {0, 0, 0};
#if defined(__CUDA_ARCH__)
    to->architecture = __CUDA_ARCH__ / 10;
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    to->wgmma = 1;
#endif
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
    to->tcgen05 = 1;
#endif
#endif
}

} // namespace

ulp_status ulp_native_mma(unsigned row, const ulp_native_job *job) {
    switch (row) {
#define CASE(ROW, ...)                                                                                                 \
    case ULP_NATIVE_MMA_##ROW: return launch<ulp_mma_##ROW>(*job);
        ULP_NATIVE_MMA(CASE)
#undef CASE
    case ULP_NATIVE_MMA_FP64: return launch64(*job);
    default: return ULP_BAD_ARGUMENT;
    }
}

ulp_status ulp_native_built(ulp_native_code *code) {
    ulp_native_code *device = static_cast<ulp_native_code *>(ulp_cuda_room(sizeof *device));
    if (device == NULL) return ULP_NO_MEMORY;
    ulp_status status = ulp_cuda_launch("what the code was compiled for", built_kernel, 1, 1, device);
    if (status == ULP_OK) status = ulp_cuda_download(code, device, sizeof *code);
    ulp_cuda_release(device);
    return status;
}
