// gemm_int8.cu - the product of 8-bit integers into 32-bit integers that wrap or clamp, in arrays of binary64.
//
// Up to 64 products of numbers below 2^9 are exact in 32 bits. Sums that wrap are sums modulo 2^32 in any order. Sums
// that clamp add `length` products at a time.
#include "tile.h"

namespace {

enum { PER = 4, SIDE = PER * ULP_TILE_ACROSS, DEPTH = 16, PAD = 4 };

struct plan {
    int zero_a, zero_b;
    uint32_t length;
};

struct buffers {
    int4 a[2][DEPTH][(SIDE + PAD) / 4], b[2][DEPTH][(SIDE + PAD) / 4];
};

/* A thread's sums, as words modulo 2^32. If the sums clamp, `part` holds the products that are added to acc next. */
template <bool CLAMPS> struct thread_sums {
    uint32_t acc[PER][PER], part[PER][PER];

    __device__ inline void product(const int4 a, const int4 b) {
        const int p[PER] = {a.x, a.y, a.z, a.w}, q[PER] = {b.x, b.y, b.z, b.w};
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int c = 0; c < PER; c++) (CLAMPS ? part : acc)[r][c] += (uint32_t)(p[r] * q[c]);
    }

    __device__ inline void add_part() {
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int c = 0; c < PER; c++) {
                const int64_t sum = (int64_t)(int32_t)acc[r][c] + (int32_t)part[r][c];
                acc[r][c] = (uint32_t)(int32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
                part[r][c] = 0;
            }
    }
};

template <bool CLAMPS>
__global__ void __launch_bounds__(ULP_TILE_THREADS, 2)
    int8_kernel(const __grid_constant__ ulp_cuda_job<double> w, const __grid_constant__ plan p) {
    __shared__ buffers room;
    const int thread = (int)threadIdx.x, y = thread / ULP_TILE_ACROSS, x = thread % ULP_TILE_ACROSS;
    const ulp_tile_origin o = ulp_tile_origin_of(blockIdx.x, w.n, SIDE);
    ulp_tile_operand<double, SIDE, DEPTH> a = ulp_tile_a<double, SIDE, DEPTH>(w, o.i, thread),
                                          b = ulp_tile_b<double, SIDE, DEPTH>(w, o.j, thread);
    thread_sums<CLAMPS> sums;
    double next_a[a.SHARE], next_b[b.SHARE];
    uint32_t count = 0;
#pragma unroll
    for (int r = 0; r < PER; r++)
#pragma unroll
        for (int c = 0; c < PER; c++) {
            const size_t i = o.i + (size_t)ulp_tile_line<PER>(y, r), j = o.j + (size_t)ulp_tile_line<PER>(x, c);
            sums.acc[r][c] = w.accumulate && i < w.m && j < w.n ? (uint32_t)(int64_t)*ulp_cuda_c(w, i, j) : 0;
            sums.part[r][c] = 0;
        }
    a.bring(next_a, w.k);
    b.bring(next_b, w.k);
    for (size_t k = 0, turn = 0; k < w.k; k += DEPTH, turn ^= 1) {
#pragma unroll
        for (int s = 0; s < a.SHARE; s++) (&room.a[turn][0][0].x)[a.place(s, SIDE + PAD)] = (int)next_a[s] - p.zero_a;
#pragma unroll
        for (int s = 0; s < b.SHARE; s++) (&room.b[turn][0][0].x)[b.place(s, SIDE + PAD)] = (int)next_b[s] - p.zero_b;
        __syncthreads(); /* all threads have read the other buffer before */
        if (k + DEPTH < w.k) {
            a.bring(next_a, w.k - k - DEPTH);
            b.bring(next_b, w.k - k - DEPTH);
        }
        const int depths = w.k - k < DEPTH ? (int)(w.k - k) : DEPTH; /* padding is not 0, but 0 - zero point */
        for (int e = 0; e < depths; e++) {
            sums.product(room.a[turn][e][y], room.b[turn][e][x]);
            if (!CLAMPS || ++count < p.length) continue;
            sums.add_part();
            count = 0;
        }
    }
    if (CLAMPS) sums.add_part();
#pragma unroll
    for (int r = 0; r < PER; r++)
#pragma unroll
        for (int c = 0; c < PER; c++) {
            const size_t i = o.i + (size_t)ulp_tile_line<PER>(y, r), j = o.j + (size_t)ulp_tile_line<PER>(x, c);
            if (i < w.m && j < w.n) *ulp_cuda_c(w, i, j) = (double)(int32_t)sums.acc[r][c];
        }
}

bool is_offered(const ulp_datapath &d, ulp_overflow policy) {
    const ulp_format *f = &d.accumulator;
    return d.kind == ULP_SERIAL && d.promote == 0 && d.has_inputs && d.a.is_fixed && d.b.is_fixed && d.a.bits <= 8 &&
           d.b.bits <= 8 && d.a.frac_bits + d.b.frac_bits == 0 && f->is_fixed && f->bits == 32 && f->frac_bits == 0 &&
           (policy == ULP_OVERFLOW_SAT || policy == ULP_OVERFLOW_WRAP);
}

} // namespace

ulp_status ulp_cuda_gemm_int8(const ulp_cuda_job<double> &w, const ulp_datapath &d) {
    const ulp_overflow policy = ulp_overflow_of(&d.accumulator, (ulp_overflow)d.rule.overflow);
    const unsigned tiles = ulp_tile_count(w.m, w.n, SIDE);
    if (!is_offered(d, policy) || tiles == 0) return ULP_UNSUPPORTED;
    const plan p = {d.zero_a, d.zero_b, d.length};
    return policy == ULP_OVERFLOW_SAT ? ulp_cuda_launch("gemm int8", int8_kernel<true>, tiles, ULP_TILE_THREADS, w, p)
                                      : ulp_cuda_launch("gemm int8", int8_kernel<false>, tiles, ULP_TILE_THREADS, w, p);
}
