// wgmma.cu - whole products by wgmma: chains of instructions over ascending k, with operands in shared memory.
#include "native.h"
#include "wgmma.h"

namespace {

enum { STEPS = 2, STAGE = STEPS * ULP_WGMMA_K_BYTES }; /* number of instructions and bytes of k between two barriers */

/* The operands of STEPS instructions, without swizzle. Each instruction has a slab of 32 bytes of k. */
template <int ROWS, int COLUMNS> struct stage {
    unsigned char a[STEPS][ROWS * ULP_WGMMA_K_BYTES], b[STEPS][COLUMNS * ULP_WGMMA_K_BYTES];
};

/* Copies a matrix of ROWS rows from memory to a stage, 16 bytes at a time through registers. Bytes past the end of
 * k are 0. Eight neighbouring threads have eight neighbouring rows: they fill a core matrix, 128 bytes in all 32 banks.
 * The four groups of a warp have the whole of these rows, so that each row is read as 64 bytes. */
template <int ROWS, int THREADS> struct loader {
    enum { ACROSS = STAGE / 16, PIECES = ROWS * ACROSS, COUNT = (PIECES + THREADS - 1) / THREADS };
    uint4 piece[COUNT];

    static __device__ uint32_t number_of(int i) { return i * THREADS + threadIdx.x; }
    static __device__ uint32_t row_of(uint32_t p) { return p / (8 * ACROSS) * 8 + p % 8; }
    static __device__ uint32_t byte_of(uint32_t p) { return p / 8 % ACROSS * 16; }

    __device__ void load(const unsigned char *from, size_t row, size_t k, size_t depth) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const uint32_t p = number_of(i), byte = byte_of(p);
            const bool inside = p < PIECES && k + byte < depth;
            piece[i] = inside ? *reinterpret_cast<const uint4 *>(from + (row + row_of(p)) * depth + k + byte)
                              : uint4{0, 0, 0, 0};
        }
    }
    __device__ void store(unsigned char (*to)[ROWS * ULP_WGMMA_K_BYTES]) const {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const uint32_t p = number_of(i), byte = byte_of(p);
            if (p < PIECES)
                ulp_wgmma_store(&to[byte / ULP_WGMMA_K_BYTES][ulp_wgmma_place(row_of(p), byte % ULP_WGMMA_K_BYTES)],
                                piece[i]);
        }
    }
};

/* Whether a word of D holds one binary32 result. Otherwise a word holds two binary16 results. */
template <typename Op> constexpr bool is_wide = Op::D == Op::N / 2;

/* Loads and stores neighbours in a row of C and D, and adds sums in binary32. */
template <typename Op> struct results {
    typedef typename Op::word word;
    static __device__ void load(word *d, const void *c, size_t at, int pair) {
        if constexpr (is_wide<Op>) {
            const float2 two = *reinterpret_cast<const float2 *>(static_cast<const float *>(c) + at);
            d[2 * pair] = two.x;
            d[2 * pair + 1] = two.y;
        } else {
            d[pair] = *reinterpret_cast<const word *>(static_cast<const uint16_t *>(c) + at);
        }
    }
    static __device__ void store(void *to, const word *d, size_t at, int pair) {
        if constexpr (is_wide<Op>)
            *reinterpret_cast<float2 *>(static_cast<float *>(to) + at) = {d[2 * pair], d[2 * pair + 1]};
        else *reinterpret_cast<word *>(static_cast<uint16_t *>(to) + at) = d[pair];
    }
    /* round(x + y), with the NaN of the hardware's adder */
    static __device__ word add(word x, word y) {
        const word sum = x + y;
#if defined(ULP_EMULATED_DEVICE)
        return sum == sum ? sum : ulp_from_bits32(0x7fffffffu);
#else
        return sum;
#endif
    }
};

template <typename Op, int GROUPS, bool PROMOTE>
__device__ inline void product(const ulp_native_job &w, stage<64 * GROUPS, Op::N> (&stages)[2]) {
    enum { ROWS = 64 * GROUPS, THREADS = 128 * GROUPS, PAIRS = Op::N / 4 };
    const ulp_native_origin tile = ulp_native_origin_of<ROWS, Op::N>(w);
    const size_t row = tile.row, column = tile.column;
    const uint32_t group = threadIdx.x / 128, thread = threadIdx.x % 128;
    auto place = [&](int pair) {
        return (row + group * 64 + ulp_wgmma_d_row(thread, 2 * pair)) * w.n + column +
               ulp_wgmma_d_column(thread, 2 * pair);
    };
    typename Op::word d[Op::D] = {}, total[PROMOTE ? Op::D : 1] = {};
    if (w.c != NULL)
#pragma unroll
        for (int pair = 0; pair < PAIRS; pair++) results<Op>::load(PROMOTE ? total : d, w.c, place(pair), pair);
    int keep = w.c != NULL && !PROMOTE; /* the first instruction of a sum from zero does not read D */
    size_t since = 0;                   /* bytes of k in D since the last promotion */
    loader<ROWS, THREADS> a;
    loader<Op::N, THREADS> b;
    a.load(w.a, row, 0, w.depth);
    b.load(w.b, column, 0, w.depth);
    a.store(stages[0].a);
    b.store(stages[0].b);
    ulp_proxy_fence();
    __syncthreads();
    for (size_t k = 0, at = 0; k < w.depth; k += STAGE, at ^= 1) {
        const bool more = k + STAGE < w.depth;
        if (more) a.load(w.a, row, k + STAGE, w.depth);
        if (more) b.load(w.b, column, k + STAGE, w.depth);
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            if (k + step * ULP_WGMMA_K_BYTES >= w.depth) break;
            const uint32_t left = ulp_shared_address(stages[at].a[step]) + group * 64 / 8 * ULP_WGMMA_STRIDE;
            ulp_wgmma_hold(d);
            ulp_wgmma_fence();
            Op::run(d, ulp_wgmma_descriptor(left), ulp_wgmma_descriptor(ulp_shared_address(stages[at].b[step])), keep);
            ulp_wgmma_commit();
            if (step == 0 && more) { /* stores while the instruction runs */
                a.store(stages[at ^ 1].a);
                b.store(stages[at ^ 1].b);
            }
            ulp_wgmma_wait();
            ulp_wgmma_hold(d);
            keep = 1;
            if constexpr (PROMOTE) {
                since += ULP_WGMMA_K_BYTES;
                if (since == w.promote || k + (step + 1) * ULP_WGMMA_K_BYTES >= w.depth) {
#pragma unroll
                    for (int i = 0; i < Op::D; i++) total[i] = results<Op>::add(total[i], d[i]);
                    keep = 0;
                    since = 0;
                }
            }
        }
        ulp_proxy_fence();
        __syncthreads();
    }
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++) results<Op>::store(w.d, PROMOTE ? total : d, place(pair), pair);
}

/* GROUPS warpgroups, one below the other. On an architecture without wgmma the kernel is empty and is not launched. */
template <typename Op, int GROUPS, bool PROMOTE>
__global__ void __launch_bounds__(128 * GROUPS) wgmma_kernel(const __grid_constant__ ulp_native_job w) {
    if constexpr (ULP_WGMMA_OFFERED) {
        __shared__ __align__(128) stage<64 * GROUPS, Op::N> stages[2];
        product<Op, GROUPS, PROMOTE>(w, stages);
    }
}

template <typename Small, typename Large, bool PROMOTE> ulp_status launch_as(const ulp_native_job &w) {
    const bool large = w.m % ulp_wgmma_large.rows == 0 && w.n % ulp_wgmma_large.columns == 0;
    return large ? ulp_native_launch("wgmma", wgmma_kernel<Large, 2, PROMOTE>, w, ulp_wgmma_large, 256)
                 : ulp_native_launch("wgmma", wgmma_kernel<Small, 1, PROMOTE>, w, ulp_wgmma_small, 128);
}

template <typename Small, typename Large> ulp_status launch(const ulp_native_job &w) {
    if constexpr (is_wide<Small>)
        return w.promote != 0 ? launch_as<Small, Large, true>(w) : launch_as<Small, Large, false>(w);
    else return w.promote != 0 ? ULP_UNSUPPORTED : launch_as<Small, Large, false>(w);
}

} // namespace

ulp_status ulp_native_wgmma(unsigned row, const ulp_native_job *job) {
    switch (row) {
#define CASE(ROW, ...)                                                                                                 \
    case ULP_NATIVE_WGMMA_##ROW: return launch<ulp_wgmma_##ROW##_8, ulp_wgmma_##ROW##_128>(*job);
        ULP_NATIVE_WGMMA(CASE)
#undef CASE
    default: return ULP_BAD_ARGUMENT;
    }
}
