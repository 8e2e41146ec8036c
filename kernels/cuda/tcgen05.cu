// tcgen05.cu - whole products by tcgen05: chains of instructions over ascending k, with D in tensor memory.
#include "native.h"
#include "tcgen05.h"

#include <type_traits>

namespace {

enum {
    ROWS = 128,
    THREADS = 128,
    STEPS = ULP_STAGE_STEPS,
    STAGE = ULP_STAGE_BYTES,
    STAGES = ULP_STAGES,
    AHEAD = ULP_STAGES_AHEAD,
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
    ulp_stage<ROWS, N> stages[STAGES];
    unsigned char scales[STAGES][2][SCALES_BYTES]; /* of A, of B */
    uint64_t done[STAGES];                         /* barriers: the instructions of the stage are done */
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

/* Begins the copy of a stage's groups of scales, 16 bytes a thread. */
template <typename Kind, int N>
__device__ inline void copy_scales(memory<Kind, N> *to, const ulp_native_job &w, size_t row, size_t column,
                                   size_t number) {
    enum { GROUPS = memory<Kind, N>::GROUPS, PIECES = ULP_SCALES_BYTES / 16 };
    static_assert(2 * GROUPS * PIECES <= THREADS, "a thread has one piece");
    const uint32_t operand = threadIdx.x / (GROUPS * PIECES), piece = threadIdx.x % (GROUPS * PIECES);
    if (operand > 1) return;
    const size_t group = number * STEPS * Kind::SCALES / ULP_SCALES_IN_GROUP + piece / PIECES,
                 of_row = (operand == 0 ? row : column) / ULP_SCALES_ROWS * w.groups;
    const bool inside = group < w.groups;
    const unsigned char *from = operand == 0 ? w.a_scales : w.b_scales;
    ulp_copy_begin(&to->scales[number % STAGES][operand][piece * 16],
                   from + (inside ? (of_row + group) * ULP_SCALES_BYTES + piece % PIECES * 16 : 0), inside);
}

/* Begins the instructions of a stage, and before them the copies of its scales to tensor memory, in one thread. */
template <typename Kind, int N>
__device__ inline void run_stage(memory<Kind, N> *m, uint32_t tensor, uint32_t instruction, size_t number, int steps,
                                 bool keep) {
    typedef memory<Kind, N> mem;
    const uint32_t slot = (uint32_t)(number % STAGES), scales = tensor + mem::D_COLUMNS + slot * mem::SCALES_COLUMNS,
                   first = (uint32_t)(number * STEPS * Kind::SCALES % ULP_SCALES_IN_GROUP);
    const ulp_stage<ROWS, N> &s = m->stages[slot];
#pragma unroll
    for (int i = 0; i < 2 * mem::GROUPS; i++)
        ulp_tensor_copy_scales(scales + i * ULP_SCALES_COLUMNS,
                               ulp_scales_descriptor(ulp_shared_address(m->scales[slot]) + i * ULP_SCALES_BYTES));
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
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

template <typename Kind, int N, bool HALF>
__device__ inline void product(const ulp_native_job &w, uint32_t instruction, memory<Kind, N> *m) {
    const ulp_native_origin tile = ulp_native_origin_of<ROWS, N>(w);
    const uint32_t warp = threadIdx.x / 32;
    const size_t stages = (w.depth + STAGE - 1) / STAGE, place = (tile.row + threadIdx.x) * w.n + tile.column;
    /* Every stage is a group of copies; the group of a stage past the end of k is empty. */
    auto begin_copy = [&](size_t number) {
        if (number < stages) {
            ulp_stage<ROWS, N> &to = m->stages[number % STAGES];
            ulp_stage_copy<ROWS, THREADS>(to.a, w.a, tile.row, number * STAGE, w.depth);
            ulp_stage_copy<N, THREADS>(to.b, w.b, tile.column, number * STAGE, w.depth);
            if constexpr (Kind::SCALES != 0) copy_scales<Kind, N>(m, w, tile.row, tile.column, number);
        }
        ulp_copy_commit();
    };
    auto wait = [&](size_t number) {
        ulp_instructions_wait(&m->done[number % STAGES], (uint32_t)(number / STAGES));
        __syncwarp(); /* the threads of a warp load from tensor memory together */
    };
    for (size_t number = 0; number < AHEAD; number++) begin_copy(number);
    if (warp == 0) ulp_tensor_alloc(&m->tensor, memory<Kind, N>::COLUMNS);
    if (threadIdx.x == 0) {
        for (uint64_t &barrier : m->done) ulp_instructions_init(&barrier);
        ulp_instructions_init_fence();
    }
    ulp_tensor_before();
    __syncthreads();
    ulp_tensor_after();
    const uint32_t tensor = m->tensor, mine = ulp_tensor_address(tensor, warp * 32, 0);
    if (w.c != NULL || stages == 0) {
#pragma unroll 1
        for (int column = 0; column < N; column += WORDS) {
            uint32_t d[WORDS] = {};
            if (w.c != NULL) results<HALF>::load(d, w.c, place + column);
            ulp_tensor_store(ulp_tensor_address(mine, 0, column), d);
        }
        ulp_tensor_store_wait();
        ulp_tensor_before();
    }
#pragma unroll 1
    for (size_t number = 0; number < stages; number++) {
        ulp_copy_wait<AHEAD - 1>();
        ulp_proxy_fence();
        __syncthreads(); /* the stage is there */
        if (threadIdx.x == 0) {
            const size_t left = (w.depth - number * STAGE) / ULP_OPERAND_BYTES;
            ulp_tensor_after();
            run_stage<Kind, N>(m, tensor, instruction, number, left < STEPS ? (int)left : STEPS,
                               number > 0 || w.c != NULL);
            ulp_instructions_commit(&m->done[number % STAGES]);
        }
        if (number >= STAGES - AHEAD) wait(number - (STAGES - AHEAD)); /* it had the memory that is copied to now */
        begin_copy(number + AHEAD);
    }
    if (stages > 0) {
        wait(stages - 1);
        ulp_tensor_after();
    }
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
