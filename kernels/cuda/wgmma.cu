// wgmma.cu - whole products by wgmma: chains of instructions over ascending k, with operands in shared memory.
#include "native.h"
#include "operands.h"
#include "wgmma.h"

namespace {

enum { STEPS = ULP_STAGE_STEPS, STAGE = ULP_STAGE_BYTES, STAGES = ULP_STAGES, AHEAD = ULP_STAGES_AHEAD };

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
__device__ inline void product(const ulp_native_job &w, ulp_stage<64 * GROUPS, Op::N> *stages) {
    enum { ROWS = 64 * GROUPS, THREADS = 128 * GROUPS, PAIRS = Op::N / 4 };
    const ulp_native_origin tile = ulp_native_origin_of<ROWS, Op::N>(w);
    const size_t row = tile.row, column = tile.column;
    const uint32_t group = threadIdx.x / 128, thread = threadIdx.x % 128;
    auto place = [&](int pair) {
        return (row + group * 64 + ulp_wgmma_d_row(thread, 2 * pair)) * w.n + column +
               ulp_wgmma_d_column(thread, 2 * pair);
    };
    /* Every stage is a group of copies; the group of a stage past the end of k is empty. */
    auto begin_copy = [&](size_t number) {
        if (number * STAGE < w.depth) {
            ulp_stage_copy<ROWS, THREADS>(stages[number % STAGES].a, w.a, row, number * STAGE, w.depth);
            ulp_stage_copy<Op::N, THREADS>(stages[number % STAGES].b, w.b, column, number * STAGE, w.depth);
        }
        ulp_copy_commit();
    };
    for (size_t number = 0; number < AHEAD; number++) begin_copy(number);
    typename Op::word d[Op::D] = {}, total[PROMOTE ? Op::D : 1] = {};
    if (w.c != NULL)
#pragma unroll
        for (int pair = 0; pair < PAIRS; pair++) results<Op>::load(PROMOTE ? total : d, w.c, place(pair), pair);
    int keep = w.c != NULL && !PROMOTE; /* the first instruction of a sum from zero does not read D */
    size_t since = 0;                   /* bytes of k in D since the last promotion */
    ulp_wgmma_hold(d);
    auto next = [&](size_t number) -> const ulp_stage<ROWS, Op::N> & {
        ulp_copy_wait<AHEAD - 1>();
        ulp_proxy_fence();
        __syncthreads(); /* the stage is there, and nobody reads the stage that is copied to now */
        begin_copy(number + AHEAD);
        ulp_wgmma_fence();
        return stages[number % STAGES];
    };
    auto run = [&](const ulp_stage<ROWS, Op::N> &s, int step) {
        const uint32_t left = ulp_shared_address(s.a[step]) + group * 64 / 8 * ULP_OPERAND_STRIDE;
        Op::run(d, ulp_wgmma_descriptor(left), ulp_wgmma_descriptor(ulp_shared_address(s.b[step])), keep);
        keep = 1;
    };
    /* Ends a group of instructions. With a promotion it is one instruction, and D is added to the total where that is
     * due. */
    auto end = [&](bool last) {
        ulp_wgmma_commit();
        if constexpr (PROMOTE) {
            ulp_wgmma_wait<0>();
            ulp_wgmma_hold(d);
            since += ULP_OPERAND_BYTES;
            if (since != w.promote && !last) return;
#pragma unroll
            for (int i = 0; i < Op::D; i++) total[i] = results<Op>::add(total[i], d[i]);
            keep = 0;
            since = 0;
        }
    };
    const size_t whole = w.depth / STAGE;
    const bool half = w.depth % STAGE != 0;
    auto run_whole = [&](size_t number) {
        const ulp_stage<ROWS, Op::N> &s = next(number);
        run(s, 0);
        if constexpr (PROMOTE) {
            end(false);
            ulp_wgmma_fence();
        }
        run(s, 1);
        end(number + 1 == whole && !half);
    };
    if (whole > 0) {
        run_whole(0); /* before the loop: D in the loop comes from instructions only */
#pragma unroll 1
        for (size_t number = 1; number < whole; number++) {
            run_whole(number);
            if constexpr (!PROMOTE) ulp_wgmma_wait<1>();
        }
        ulp_wgmma_wait<0>();
        ulp_wgmma_hold(d);
    }
    if (half) {
        run(next(whole), 0);
        end(true);
        ulp_wgmma_wait<0>();
        ulp_wgmma_hold(d);
    }
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++) results<Op>::store(w.d, PROMOTE ? total : d, place(pair), pair);
}

/* GROUPS warpgroups, one below the other. On an architecture without wgmma the kernel is empty and is not launched. */
template <typename Op, int GROUPS, bool PROMOTE>
__global__ void __launch_bounds__(128 * GROUPS) wgmma_kernel(const __grid_constant__ ulp_native_job w) {
    if constexpr (ULP_WGMMA_OFFERED)
        product<Op, GROUPS, PROMOTE>(w, reinterpret_cast<ulp_stage<64 * GROUPS, Op::N> *>(ulp_dynamic_shared()));
}

template <typename Small, typename Large, bool PROMOTE> ulp_status launch_as(const ulp_native_job &w) {
    const bool large = w.m % ulp_wgmma_large.rows == 0 && w.n % ulp_wgmma_large.columns == 0;
    return large ? ulp_native_launch("wgmma", wgmma_kernel<Large, 2, PROMOTE>, w, ulp_wgmma_large, 256,
                                     STAGES * sizeof(ulp_stage<128, Large::N>))
                 : ulp_native_launch("wgmma", wgmma_kernel<Small, 1, PROMOTE>, w, ulp_wgmma_small, 128,
                                     STAGES * sizeof(ulp_stage<64, Small::N>));
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
