/* tile.h - tiles of matrix products: which outputs a thread holds, which operands it brings, how they lie between.
 *
 * A block of THREADS = ACROSS x ACROSS threads makes a tile of SIDE x SIDE outputs, SIDE = ACROSS PER, and walks along
 * k in steps of DEPTH products. A thread holds PER x PER outputs. Operands of a step are brought from memory to
 * registers while the step before is worked on, then put into one of two shared buffers: one barrier a step.
 */
#ifndef ULP_CUDA_TILE_H
#define ULP_CUDA_TILE_H

#include "gemm.h"

enum { ULP_TILE_ACROSS = 16, ULP_TILE_THREADS = ULP_TILE_ACROSS * ULP_TILE_ACROSS };

/* The row, in a tile, of a thread's row r, for the thread that is number `at` of ACROSS from the top; columns likewise.
 * Four that follow each other are read from shared memory at once. */
template <int PER> static __host__ __device__ inline int ulp_tile_line(int at, int r) {
    const int run = PER < 4 ? PER : 4;
    return r / run * (run * ULP_TILE_ACROSS) + at * run + r % run;
}

/* The first output of a tile: tiles of a row of the result follow each other. */
struct ulp_tile_origin {
    size_t i, j;
};

static __host__ __device__ inline ulp_tile_origin ulp_tile_origin_of(size_t tile, size_t columns, size_t side) {
    const size_t across = (columns + side - 1) / side;
    const ulp_tile_origin o = {tile / across * side, tile % across * side};
    return o;
}

/* The tiles of a result; 0 if more than a launch may have blocks. */
static inline unsigned ulp_tile_count(size_t m, size_t n, size_t side) {
    const size_t down = (m + side - 1) / side, across = (n + side - 1) / side;
    return down != 0 && across > 0x7fffffff / down ? 0 : (unsigned)(down * across);
}

/* Which elements of a step's SIDE lines (rows of A, columns of B) by DEPTH products a thread brings: number s is
 * product depth + s depth_step of line line + s line_step. Neighbouring threads bring neighbours in memory. */
struct ulp_tile_share {
    int line, depth, line_step, depth_step;
};

template <int SIDE, int DEPTH>
static __host__ __device__ inline ulp_tile_share ulp_tile_share_of(int thread, bool along_depth) {
    static_assert(ULP_TILE_THREADS % DEPTH == 0 && ULP_TILE_THREADS % SIDE == 0,
                  "every thread brings elements of one line or one depth");
    ulp_tile_share s;
    s.line = along_depth ? thread / DEPTH : thread % SIDE;
    s.depth = along_depth ? thread % DEPTH : thread / SIDE;
    s.line_step = along_depth ? ULP_TILE_THREADS / DEPTH : 0;
    s.depth_step = along_depth ? 0 : ULP_TILE_THREADS / SIDE;
    return s;
}

/* One operand of a tile on its way along k, as one thread brings it. */
template <typename T, int SIDE, int DEPTH> struct ulp_tile_operand {
    enum { SHARE = SIDE * DEPTH / ULP_TILE_THREADS };
    ulp_tile_share share;
    const T *at;          /* element 0 of the thread's share of the next step */
    size_t step, advance; /* to the next element of the share, to the next step */
    int lines;            /* of the matrix in this tile */

    /* The thread's share of the next DEPTH products, of which the matrix has `left`; zeros where it ends. */
    __device__ inline void bring(T to[SHARE], size_t left) {
        const int depths = left < DEPTH ? (int)left : DEPTH;
#pragma unroll
        for (int s = 0; s < SHARE; s++)
            to[s] = share.line + s * share.line_step < lines && share.depth + s * share.depth_step < depths
                        ? at[s * step]
                        : (T)0;
        at += advance;
    }

    /* The place of element s of a share in a buffer whose products are `row` numbers apart. */
    __host__ __device__ inline int place(int s, int row) const {
        return (share.depth + s * share.depth_step) * row + share.line + s * share.line_step;
    }
};

/* x: the first line's first element; `lines` follow, more than a tile's perhaps. */
template <typename T, int SIDE, int DEPTH>
static __host__ __device__ inline ulp_tile_operand<T, SIDE, DEPTH>
ulp_tile_operand_of(const T *x, size_t lines, size_t line_stride, size_t depth_stride, int thread) {
    ulp_tile_operand<T, SIDE, DEPTH> o;
    o.share = ulp_tile_share_of<SIDE, DEPTH>(thread, depth_stride == 1);
    o.at = x + (size_t)o.share.line * line_stride + (size_t)o.share.depth * depth_stride;
    o.step = (size_t)o.share.line_step * line_stride + (size_t)o.share.depth_step * depth_stride;
    o.advance = DEPTH * depth_stride;
    o.lines = lines < SIDE ? (int)lines : SIDE;
    return o;
}

template <typename T, int SIDE, int DEPTH>
static __host__ __device__ inline ulp_tile_operand<T, SIDE, DEPTH> ulp_tile_a(const ulp_cuda_job<T> &w, size_t i,
                                                                              int thread) {
    return ulp_tile_operand_of<T, SIDE, DEPTH>(w.a + i * w.a_row, w.m - i, w.a_row, w.a_column, thread);
}

template <typename T, int SIDE, int DEPTH>
static __host__ __device__ inline ulp_tile_operand<T, SIDE, DEPTH> ulp_tile_b(const ulp_cuda_job<T> &w, size_t j,
                                                                              int thread) {
    return ulp_tile_operand_of<T, SIDE, DEPTH>(w.b + j * w.b_column, w.n - j, w.b_column, w.b_row, thread);
}

#endif
