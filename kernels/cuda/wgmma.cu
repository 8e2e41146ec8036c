// wgmma.cu - whole products by wgmma: chains of instructions over ascending k, with operands in shared memory.
#include "native.h"
#include "operands.h"
#include "wgmma.h"

namespace {

/* Instructions of a stage, and stages in shared memory. */
enum { STEPS = 4, STAGES = 4 };

/* The block's dynamic shared memory. `full` counts the bytes of a stage, `free` the warps that no longer read it. */
template <int ROWS, int COLUMNS> struct memory {
    ulp_stage<ROWS, COLUMNS, STEPS> stages[STAGES];
    uint64_t full[STAGES], free[STAGES];
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

/* The work of the thread that copies: it fills a stage as soon as no warp reads it. */
template <int ROWS, int COLUMNS>
__device__ inline void copy_stages(const ulp_native_job &w, const ulp_native_origin &tile, memory<ROWS, COLUMNS> *m,
                                   size_t slabs) {
#pragma unroll 1
    for (size_t number = 0; number * STEPS < slabs; number++) {
        const uint32_t slot = (uint32_t)(number % STAGES), use = (uint32_t)(number / STAGES);
        if (use > 0) ulp_barrier_wait(&m->free[slot], use - 1);
        ulp_stage_copy(&m->stages[slot], &m->full[slot], w, tile, number * STEPS, ulp_stage_steps<STEPS>(slabs, number),
                       0);
    }
}

/* The current stage of a warpgroup, and the descriptors of its operands there. */
template <int ROWS, int COLUMNS> struct reader {
    typedef memory<ROWS, COLUMNS> shared;
    enum { UNIT = 16 }; /* descriptors have addresses in units of 16 bytes, in their lowest bits */
    shared *m;
    uint32_t slot, use;
    uint64_t a, b;

    __device__ reader(shared *memory, uint32_t group) : m(memory), slot(0), use(0) {
        a = ulp_wgmma_descriptor(ulp_shared_address(m->stages[0].a[0]) + group * 64 / 8 * ULP_OPERAND_STRIDE);
        b = ulp_wgmma_descriptor(ulp_shared_address(m->stages[0].b[0]));
    }
    __device__ void wait() const { ulp_barrier_wait(&m->full[slot], use); }
    template <typename Op> __device__ void run(typename Op::word *d, int step, int keep) const {
        enum { A = sizeof m->stages[0].a[0] / UNIT, B = sizeof m->stages[0].b[0] / UNIT };
        Op::run(d, a + step * A, b + step * B, keep);
    }
    /* The instructions of a stage are done. */
    __device__ void release(uint32_t stage) const {
        if (threadIdx.x % 32 == 0) ulp_barrier_arrive(&m->free[stage]);
    }
    __device__ void next() {
        enum { STAGE = sizeof m->stages[0] / UNIT };
        const bool last = slot == STAGES - 1;
        const int64_t by = last ? -(int64_t)STAGE * (STAGES - 1) : (int64_t)STAGE;
        slot = last ? 0 : slot + 1;
        use += last;
        a += by;
        b += by;
    }
};

/* d = d + the chain over `slabs` slabs, or the chain alone if not `keep`. While the instructions of a stage run, those
 * of the next one are begun. */
template <typename Op, typename Reader>
__device__ inline void add_chain(typename Op::word (&d)[Op::D], Reader r, size_t slabs, int keep) {
    const size_t whole = slabs / STEPS;
    const int rest = (int)(slabs % STEPS);
    auto run_whole = [&]() {
        r.wait();
        ulp_wgmma_fence();
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            r.template run<Op>(d, step, keep);
            keep = 1;
        }
        ulp_wgmma_commit();
    };
    if (whole > 0) {
        run_whole(); /* before the loop: D in the loop comes from instructions only */
#pragma unroll 1
        for (size_t number = 1; number < whole; number++) {
            const uint32_t before = r.slot;
            r.next();
            run_whole();
            ulp_wgmma_wait<1>();
            r.release(before);
        }
        ulp_wgmma_wait<0>();
        ulp_wgmma_hold(d);
        r.next();
    }
    if (rest > 0) r.wait();
#pragma unroll 1
    for (int step = 0; step < rest; step++) { /* a few instructions, each of which is waited for */
        ulp_wgmma_fence();
        r.template run<Op>(d, step, keep);
        keep = 1;
        ulp_wgmma_commit();
        ulp_wgmma_wait<0>();
        ulp_wgmma_hold(d);
    }
}

/* total = total + the chain over `slabs` slabs, of which every `every` slabs are a sum of their own. The instructions
 * are waited for before a sum is added, and before a stage is released. */
template <typename Op, typename Reader>
__device__ inline void add_promoted(typename Op::word (&total)[Op::D], Reader r, size_t slabs, size_t every) {
    typename Op::word d[Op::D] = {};
    size_t since = 0; /* slabs in D */
    ulp_wgmma_hold(d);
#pragma unroll 1
    for (size_t done = 0; done < slabs; r.next()) {
        r.wait();
#pragma unroll 1
        for (int step = 0; step < STEPS && done < slabs; step++) {
            ulp_wgmma_fence();
            r.template run<Op>(d, step, since != 0); /* the first instruction of a sum does not read D */
            ulp_wgmma_commit();
            done++;
            if (++since != every && done != slabs) continue;
            ulp_wgmma_wait<0>();
            ulp_wgmma_hold(d);
#pragma unroll
            for (int i = 0; i < Op::D; i++) total[i] = results<Op>::add(total[i], d[i]);
            since = 0;
        }
        ulp_wgmma_wait<0>();
        ulp_wgmma_hold(d);
        r.release(r.slot);
    }
}

/* GROUPS warpgroups multiply, one below the other, and the first thread of the warp after them copies. */
template <typename Op, int GROUPS, bool PROMOTE>
__device__ inline void product(const ulp_native_job &w, memory<64 * GROUPS, Op::N> *m) {
    enum { ROWS = 64 * GROUPS, PAIRS = Op::N / 4 };
    const ulp_native_origin tile = ulp_native_origin_of<ROWS, Op::N>(w);
    const uint32_t group = ulp_warpgroup(), thread = threadIdx.x % 128;
    const size_t slabs = w.depth / ULP_OPERAND_BYTES;
    if (threadIdx.x == 0) {
        for (int slot = 0; slot < STAGES; slot++) {
            ulp_barrier_init(&m->full[slot], 1);
            ulp_barrier_init(&m->free[slot], 4 * GROUPS);
        }
        ulp_barrier_init_fence();
    }
    __syncthreads();
    if (group == GROUPS) {
        if (thread == 0) copy_stages(w, tile, m, slabs);
        return;
    }
    auto place = [&](int pair) {
        return (tile.row + group * 64 + ulp_wgmma_d_row(thread, 2 * pair)) * w.n + tile.column +
               ulp_wgmma_d_column(thread, 2 * pair);
    };
    const reader<ROWS, Op::N> r(m, group);
    typename Op::word d[Op::D] = {};
    if (w.c != NULL)
#pragma unroll
        for (int pair = 0; pair < PAIRS; pair++) results<Op>::load(d, w.c, place(pair), pair);
    ulp_wgmma_hold(d);
    if constexpr (PROMOTE) add_promoted<Op>(d, r, slabs, w.promote / ULP_OPERAND_BYTES);
    else add_chain<Op>(d, r, slabs, w.c != NULL);
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++) results<Op>::store(w.d, d, place(pair), pair);
}

/* On an architecture without wgmma the kernel is empty and is not launched. */
template <typename Op, int GROUPS, bool PROMOTE>
__global__ void __launch_bounds__(128 * GROUPS + 32) wgmma_kernel(const __grid_constant__ ulp_native_job w) {
    if constexpr (ULP_WGMMA_OFFERED)
        product<Op, GROUPS, PROMOTE>(w, reinterpret_cast<memory<64 * GROUPS, Op::N> *>(ulp_dynamic_shared()));
}

template <typename Op, int GROUPS, bool PROMOTE>
ulp_status launch_tiles(const ulp_native_job &w, const ulp_native_tile &tile) {
    return ulp_native_launch("wgmma", wgmma_kernel<Op, GROUPS, PROMOTE>, w, tile, 128 * GROUPS + 32,
                             sizeof(memory<64 * GROUPS, Op::N>));
}

/* The widest tile that divides the result. */
template <typename Small, typename Large, typename Wide> ulp_status launch(const ulp_native_job &w) {
    const bool large = w.m % ulp_wgmma_large.rows == 0 && w.n % ulp_wgmma_large.columns == 0;
    if constexpr (is_wide<Small>) {
        if (w.promote != 0)
            return large ? launch_tiles<Large, 2, true>(w, ulp_wgmma_large)
                         : launch_tiles<Small, 1, true>(w, ulp_wgmma_small);
    } else if (w.promote != 0) {
        return ULP_UNSUPPORTED;
    }
    if (large && w.n % ulp_wgmma_wide.columns == 0) return launch_tiles<Wide, 2, false>(w, ulp_wgmma_wide);
    return large ? launch_tiles<Large, 2, false>(w, ulp_wgmma_large)
                 : launch_tiles<Small, 1, false>(w, ulp_wgmma_small);
}

} // namespace

ulp_status ulp_native_wgmma(unsigned row, const ulp_native_job *job) {
    switch (row) {
#define CASE(ROW, ...)                                                                                                 \
    case ULP_NATIVE_WGMMA_##ROW: return launch<ulp_wgmma_##ROW##_8, ulp_wgmma_##ROW##_128, ulp_wgmma_##ROW##_256>(*job);
        ULP_NATIVE_WGMMA(CASE)
#undef CASE
    default: return ULP_BAD_ARGUMENT;
    }
}
