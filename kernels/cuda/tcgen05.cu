// tcgen05.cu - whole products by tcgen05: chains of instructions over ascending k, with D in tensor memory.
#include "native.h"
#include "tcgen05.h"

#include <type_traits>

namespace {

enum {
    ROWS = 128,
    THREADS = 128,
    STEPS = 2,  /* instructions of a stage */
    STAGES = 4, /* in shared memory */
    WORDS = ULP_TENSOR_WORDS
};

constexpr int power_of_two(int least) { return least <= 32 ? 32 : 2 * power_of_two((least + 1) / 2); }

/* The block's dynamic shared memory, and its columns of tensor memory. */
template <typename Kind, int N> struct memory {
    enum {
        /* groups of scales of A that a stage takes, perhaps a part of a group; B has as many */
        GROUPS = (STEPS * Kind::SCALES + ULP_SCALES_IN_GROUP - 1) / ULP_SCALES_IN_GROUP,
        /* a stage has columns of its own for scales: their copy does not wait for the instructions before it */
        SCALES_COLUMNS = 2 * GROUPS * ULP_SCALES_COLUMNS,
        SCALES_BYTES = GROUPS > 0 ? GROUPS *ULP_SCALES_BYTES : 16, /* an array cannot be empty */
        D_COLUMNS = power_of_two(N),
        COLUMNS = power_of_two(D_COLUMNS + STAGES * SCALES_COLUMNS)
    };
    ulp_stage<ROWS, N, STEPS> stages[STAGES];
    unsigned char scales[STAGES][2][SCALES_BYTES]; /* of A, of B */
    uint64_t full[STAGES], done[STAGES];           /* barriers: the bytes of a stage, the end of its instructions */
    uint64_t all;                                  /* a barrier: the end of all instructions */
    uint32_t tensor;                               /* the block's tensor memory */
};

/* 16 neighbours in a row of C or D, in memory and as words of tensor memory, which hold one result each. */
template <bool HALF> struct results {
    enum { PIECES = HALF ? 2 : 4 }; /* of 16 bytes */
    typedef typename std::conditional<HALF, uint16_t, uint32_t>::type code;
    static __device__ void load(uint32_t (&d)[WORDS], const void *from, size_t at) {
        const uint4 *p = reinterpret_cast<const uint4 *>(static_cast<const code *>(from) + at);
#pragma unroll
        for (int i = 0; i < PIECES; i++) {
            const uint4 piece = p[i];
            const uint32_t w[4] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
            for (int j = 0; j < WORDS / PIECES; j++)
                d[i * (WORDS / PIECES) + j] = HALF ? w[j / 2] >> (j % 2 * 16) & 0xffffu : w[j % 4];
        }
    }
    static __device__ void store(void *to, const uint32_t (&d)[WORDS], size_t at) {
        uint4 *p = reinterpret_cast<uint4 *>(static_cast<code *>(to) + at);
#pragma unroll
        for (int i = 0; i < PIECES; i++) {
            const uint32_t *w = d + i * (WORDS / PIECES);
            if constexpr (HALF)
                p[i] = {(w[0] & 0xffffu) | w[1] << 16, (w[2] & 0xffffu) | w[3] << 16, (w[4] & 0xffffu) | w[5] << 16,
                        (w[6] & 0xffffu) | w[7] << 16};
            else p[i] = {w[0], w[1], w[2], w[3]};
        }
    }
};

/* Begins the copies of stage `number`: operands, and groups of scales, of which the last stages may have fewer. */
template <typename Kind, int N>
__device__ inline void copy_stage(memory<Kind, N> *m, const ulp_native_job &w, const ulp_native_origin &tile,
                                  size_t number, uint32_t steps) {
    const uint32_t slot = (uint32_t)(number % STAGES);
    uint64_t *const barrier = &m->full[slot];
    const size_t first = number * STEPS * Kind::SCALES / ULP_SCALES_IN_GROUP;
    uint32_t groups = memory<Kind, N>::GROUPS;
    if (first + groups > w.groups) groups = first < w.groups ? (uint32_t)(w.groups - first) : 0;
    ulp_stage_copy(&m->stages[slot], barrier, w, tile, number * STEPS, steps, 2 * groups * ULP_SCALES_BYTES);
    if (groups == 0) return;
    const size_t of_a = tile.row / ULP_SCALES_ROWS * w.groups + first,
                 of_b = tile.column / ULP_SCALES_ROWS * w.groups + first;
    ulp_copy_begin(m->scales[slot][0], w.a_scales + of_a * ULP_SCALES_BYTES, groups * ULP_SCALES_BYTES, barrier);
    ulp_copy_begin(m->scales[slot][1], w.b_scales + of_b * ULP_SCALES_BYTES, groups * ULP_SCALES_BYTES, barrier);
}

/* Begins the instructions of a stage, and before them the copies of its scales to tensor memory, in one thread. */
template <typename Kind, int N>
__device__ inline void run_stage(memory<Kind, N> *m, uint32_t tensor, uint32_t instruction, size_t number,
                                 uint32_t steps, bool keep) {
    typedef memory<Kind, N> mem;
    const uint32_t slot = (uint32_t)(number % STAGES), scales = tensor + mem::D_COLUMNS + slot * mem::SCALES_COLUMNS,
                   first = (uint32_t)(number * STEPS * Kind::SCALES % ULP_SCALES_IN_GROUP);
    const ulp_stage<ROWS, N, STEPS> &s = m->stages[slot];
#pragma unroll
    for (int i = 0; i < 2 * mem::GROUPS; i++)
        ulp_tensor_copy_scales(scales + i * ULP_SCALES_COLUMNS,
                               ulp_scales_descriptor(ulp_shared_address(m->scales[slot]) + i * ULP_SCALES_BYTES));
#pragma unroll
    for (uint32_t step = 0; step < STEPS; step++) {
        if (step == steps) break;
        ulp_tcgen05_operands o = {};
        o.d = tensor;
        o.a = ulp_tcgen05_descriptor(ulp_shared_address(s.a[step]));
        o.b = ulp_tcgen05_descriptor(ulp_shared_address(s.b[step]));
        o.instruction = instruction;
        o.keep = keep || step > 0;
        if constexpr (Kind::SCALES != 0) {
            const uint32_t scale = first + step * Kind::SCALES, id = scale % ULP_SCALES_IN_GROUP;
            o.a_scales = scales + scale / ULP_SCALES_IN_GROUP * ULP_SCALES_COLUMNS;
            o.b_scales = o.a_scales + mem::GROUPS * ULP_SCALES_COLUMNS;
            o.instruction = ulp_tcgen05_scale_ids(instruction, id, id);
        }
        Kind::run(o);
    }
}

/* The work of the thread that copies and begins instructions. The copies of a stage begin when the instructions that
 * had its memory are done. */
template <typename Kind, int N>
__device__ inline void run_stages(memory<Kind, N> *m, const ulp_native_job &w, const ulp_native_origin &tile,
                                  uint32_t tensor, uint32_t instruction) {
    const size_t slabs = w.depth / ULP_OPERAND_BYTES, stages = (slabs + STEPS - 1) / STEPS;
    auto copy = [&](size_t number) {
        if (number < stages) copy_stage(m, w, tile, number, ulp_stage_steps<STEPS>(slabs, number));
    };
#pragma unroll 1
    for (size_t number = 0; number < STAGES - 1; number++) copy(number);
#pragma unroll 1
    for (size_t number = 0; number < stages; number++) {
        const uint32_t slot = (uint32_t)(number % STAGES), use = (uint32_t)(number / STAGES);
        ulp_barrier_wait(&m->full[slot], use);
        ulp_tensor_after();
        run_stage<Kind, N>(m, tensor, instruction, number, ulp_stage_steps<STEPS>(slabs, number),
                           number > 0 || w.c != NULL);
        ulp_instructions_commit(&m->done[slot]);
        if (number > 0) ulp_barrier_wait(&m->done[(number - 1) % STAGES], (uint32_t)((number - 1) / STAGES));
        copy(number + STAGES - 1);
    }
    ulp_instructions_commit(&m->all);
}

template <typename Kind, int N, bool HALF>
__device__ inline void product(const ulp_native_job &w, uint32_t instruction, memory<Kind, N> *m) {
    const ulp_native_origin tile = ulp_native_origin_of<ROWS, N>(w);
    const uint32_t warp = threadIdx.x / 32;
    const size_t place = (tile.row + threadIdx.x) * w.n + tile.column;
    if (warp == 0) ulp_tensor_alloc(&m->tensor, memory<Kind, N>::COLUMNS);
    if (threadIdx.x == 0) {
        for (int slot = 0; slot < STAGES; slot++) {
            ulp_barrier_init(&m->full[slot], 1);
            ulp_barrier_init(&m->done[slot], 1);
        }
        ulp_barrier_init(&m->all, 1);
        ulp_barrier_init_fence();
    }
    ulp_tensor_before();
    __syncthreads();
    ulp_tensor_after();
    const uint32_t tensor = m->tensor, mine = ulp_tensor_address(tensor, warp * 32, 0);
    if (w.c != NULL || w.depth == 0) {
#pragma unroll 1
        for (int column = 0; column < N; column += WORDS) {
            uint32_t d[WORDS] = {};
            if (w.c != NULL) results<HALF>::load(d, w.c, place + column);
            ulp_tensor_store(ulp_tensor_address(mine, 0, column), d);
        }
        ulp_tensor_store_wait();
        ulp_tensor_before();
        __syncthreads();
        ulp_tensor_after();
    }
    if (threadIdx.x == 0) run_stages(m, w, tile, tensor, instruction);
    __syncwarp(); /* the threads of a warp load from tensor memory together */
    ulp_barrier_wait(&m->all, 0);
    ulp_tensor_after();
#pragma unroll 1
    for (int column = 0; column < N; column += WORDS) {
        uint32_t d[WORDS];
        ulp_tensor_load(d, ulp_tensor_address(mine, 0, column));
        ulp_tensor_load_wait(d);
        results<HALF>::store(w.d, d, place + column);
    }
    ulp_tensor_before();
    __syncthreads();
    ulp_tensor_after();
    if (warp == 0) ulp_tensor_free(tensor, memory<Kind, N>::COLUMNS);
}

/* On an architecture without tcgen05 the kernel is empty and is not launched. */
template <typename Kind, int N, bool HALF>
__global__ void __launch_bounds__(THREADS)
    tcgen05_kernel(const __grid_constant__ ulp_native_job w, const uint32_t instruction) {
    if constexpr (ULP_TCGEN05_OFFERED)
        product<Kind, N, HALF>(w, instruction, reinterpret_cast<memory<Kind, N> *>(ulp_dynamic_shared()));
}

template <typename Kind, int N, bool HALF>
ulp_status launch_as(const ulp_native_job &w, const ulp_native_tile &tile, uint32_t field, uint32_t a, uint32_t b) {
    return ulp_native_launch("tcgen05", tcgen05_kernel<Kind, N, HALF>, w, tile, THREADS, sizeof(memory<Kind, N>),
                             ulp_tcgen05_instruction(field, a, b, N));
}

template <typename Kind, bool HALF> ulp_status launch(const ulp_native_job &w, uint32_t field, uint32_t a, uint32_t b) {
    return w.n % ulp_tcgen05_large.columns == 0 ? launch_as<Kind, 128, HALF>(w, ulp_tcgen05_large, field, a, b)
                                                : launch_as<Kind, 16, HALF>(w, ulp_tcgen05_small, field, a, b);
}

constexpr bool is_half(const char *result) { return result[0] == 'f' && result[2] == '1'; }

} // namespace

ulp_status ulp_native_tcgen05(unsigned row, const ulp_native_job *job) {
    switch (row) {
#define CASE(ROW, name, a_type, b_type, result, model, unit, KIND, field, a, b)                                        \
    case ULP_NATIVE_TCGEN05_##ROW:                                                                                     \
        return launch<ulp_tcgen05_##KIND, is_half(result)>(*job, ULP_TCGEN05_FIELD_##field, a, b);
        ULP_NATIVE_TCGEN05(CASE)
#undef CASE
    default: return ULP_BAD_ARGUMENT;
    }
}
