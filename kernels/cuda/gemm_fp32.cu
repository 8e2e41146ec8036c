// gemm_fp32.cu - the product as chains of binary32 fused multiply-adds, k ascending, in register tiles.
#include "tile.h"

namespace {

enum { DEPTH = 8 };

/* Padding between the products of a buffer: vectors stay aligned, and neighbouring products use different banks. */
enum { PAD = 4 };

template <int SIDE> struct buffers { float a[2][DEPTH][SIDE + PAD], b[2][DEPTH][SIDE + PAD]; };

/* Reads the PER numbers of a thread from the numbers of one product. */
template <int PER> __device__ inline void read(float to[PER], const float *from, int at) {
#pragma unroll
    for (int r = 0; r < PER; r += 4) {
        const float4 v = *reinterpret_cast<const float4 *>(from + ulp_tile_line<PER>(at, r));
        to[r] = v.x;
        to[r + 1] = v.y;
        to[r + 2] = v.z;
        to[r + 3] = v.w;
    }
}

/* Adds one product to all outputs of a thread. */
template <int PER>
__device__ inline void add_product(float acc[PER][PER], const float *a, const float *b, int y, int x) {
    float p[PER], q[PER];
    read<PER>(p, a, y);
    read<PER>(q, b, x);
#pragma unroll
    for (int r = 0; r < PER; r++)
#pragma unroll
        for (int c = 0; c < PER; c++) acc[r][c] = __fmaf_rn(p[r], q[c], acc[r][c]);
}

template <int PER>
__global__ void __launch_bounds__(ULP_TILE_THREADS, 2) fp32_kernel(const __grid_constant__ ulp_cuda_job<float> w) {
    enum { SIDE = PER * ULP_TILE_ACROSS };
    __shared__ __align__(16) buffers<SIDE> room;
    const int thread = (int)threadIdx.x, y = thread / ULP_TILE_ACROSS, x = thread % ULP_TILE_ACROSS;
    const ulp_tile_origin o = ulp_tile_origin_of(blockIdx.x, w.n, SIDE);
    ulp_tile_operand<float, SIDE, DEPTH> a = ulp_tile_a<float, SIDE, DEPTH>(w, o.i, thread),
                                         b = ulp_tile_b<float, SIDE, DEPTH>(w, o.j, thread);
    float acc[PER][PER], next_a[a.SHARE], next_b[b.SHARE];
    ulp_tile_start<PER>(acc, w, o, y, x);
    a.bring(next_a, w.k);
    b.bring(next_b, w.k);
    for (size_t k = 0, turn = 0; k < w.k; k += DEPTH, turn ^= 1) {
#pragma unroll
        for (int s = 0; s < a.SHARE; s++) (&room.a[turn][0][0])[a.place(s, SIDE + PAD)] = next_a[s];
#pragma unroll
        for (int s = 0; s < b.SHARE; s++) (&room.b[turn][0][0])[b.place(s, SIDE + PAD)] = next_b[s];
        __syncthreads(); /* the only barrier of a step: all threads have read the other buffer before */
        if (k + DEPTH < w.k) {
            a.bring(next_a, w.k - k - DEPTH);
            b.bring(next_b, w.k - k - DEPTH);
        }
        if (k + DEPTH <= w.k) {
#pragma unroll
            for (int e = 0; e < DEPTH; e++) add_product<PER>(acc, room.a[turn][e], room.b[turn][e], y, x);
        } else { /* adding products of zeros would turn a sum of -0 into +0 */
            for (int e = 0; e < (int)(w.k - k); e++) add_product<PER>(acc, room.a[turn][e], room.b[turn][e], y, x);
        }
    }
    ulp_tile_store<PER>(acc, w, o, y, x);
}

bool is_fp32_chain(const ulp_datapath &d) {
    const ulp_format *f = &d.accumulator;
    return d.kind == ULP_SERIAL && d.length == 1 && d.promote == 0 && !d.has_inputs && f->prec == 24 &&
           f->emin == -126 && f->emax == 127 && f->has_subnormals && f->has_inf && d.rule.mode == ULP_RNE &&
           ulp_overflow_of(f, (ulp_overflow)d.rule.overflow) == ULP_OVERFLOW_INF;
}

} // namespace

/* Uses large tiles if there are enough large tiles for all processors. */
ulp_status ulp_cuda_gemm_fp32(const ulp_cuda_job<float> &w, const ulp_datapath &datapath) {
    if (!is_fp32_chain(datapath)) return ULP_UNSUPPORTED;
    const unsigned large = ulp_tile_count(w.m, w.n, 128), small = ulp_tile_count(w.m, w.n, 64);
    if (large != 0 && (large >= (unsigned)ulp_cuda_device()->processors || small == 0))
        return ulp_cuda_launch("gemm fp32", fp32_kernel<8>, large, ULP_TILE_THREADS, w);
    return small == 0 ? ULP_UNSUPPORTED : ulp_cuda_launch("gemm fp32", fp32_kernel<4>, small, ULP_TILE_THREADS, w);
}
