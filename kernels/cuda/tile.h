/* tile.h - tiles of matrix products: the outputs of a thread, the operands that it loads, and their places.
 *
 * A block of THREADS = ACROSS x ACROSS threads computes a tile of SIDE x SIDE outputs, SIDE = ACROSS PER, and goes
 * along k in steps of DEPTH products. A thread has PER x PER outputs. The threads load the operands of a step from
 * memory to registers during the step before. Then they store the operands in one of two shared buffers. A step has one
 * barrier.
 */
#ifndef ULP_CUDA_TILE_H
#define ULP_CUDA_TILE_H

#include "gemm.h"

enum { ULP_TILE_ACROSS = 16, ULP_TILE_THREADS = ULP_TILE_ACROSS * ULP_TILE_ACROSS };

/* The row in a tile of a thread's row r. `at` is the number of the thread, 0 to ACROSS - 1 from the top. Columns use
 * the same map. A thread reads four consecutive numbers from shared memory at once. */
template <int PER> static __host__ __device__ inline int ulp_tile_line(int at, int r) {
    const int run = PER < 4 ? PER : 4;
    return r / run * (run * ULP_TILE_ACROSS) + at * run + r % run;
}

/* The first output of a tile. The tiles are numbered row by row. */
struct ulp_tile_origin {
    size_t i, j;
};

static __host__ __device__ inline ulp_tile_origin ulp_tile_origin_of(size_t tile, size_t columns, size_t side) {
    const size_t across = (columns + side - 1) / side;
    const ulp_tile_origin o = {tile / across * side, tile % across * side};
    return o;
}

/* The number of tiles of a result. 0 if it exceeds the blocks of a launch. */
static inline unsigned ulp_tile_count(size_t m, size_t n, size_t side) {
    const size_t down = (m + side - 1) / side, across = (n + side - 1) / side;
    return down != 0 && across > 0x7fffffff / down ? 0 : (unsigned)(down * across);
}

/* The elements that a thread loads of SIDE lines (rows of A, columns of B) by DEPTH products: element s is product
 * depth + s depth_step of line line + s line_step. Neighbouring threads load neighbours in memory. */
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

/* One operand of a tile, as one thread loads it. */
template <typename T, int SIDE, int DEPTH> struct ulp_tile_operand {
    enum { SHARE = SIDE * DEPTH / ULP_TILE_THREADS };
    ulp_tile_share share;
    const T *at;          /* element 0 of the thread's share in the next step */
    size_t step, advance; /* distance to the next element of the share; distance to the next step */
    int lines;            /* lines of the matrix in this tile */

    /* Loads the thread's share of the next DEPTH products. `left` products remain. Elements past the end of the matrix
     * are 0. */
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

/* x points to the first element of the first line. `lines` lines follow, perhaps more than a tile has. */
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

/* The sums of thread (y,x) start at C if the product accumulates, else at 0. */
template <int PER>
static __device__ inline void ulp_tile_start(float sums[PER][PER], const ulp_cuda_job<float> &w, ulp_tile_origin o,
                                             int y, int x) {
#pragma unroll
    for (int r = 0; r < PER; r++)
#pragma unroll
        for (int c = 0; c < PER; c++) {
            const size_t i = o.i + (size_t)ulp_tile_line<PER>(y, r), j = o.j + (size_t)ulp_tile_line<PER>(x, c);
            sums[r][c] = w.accumulate && i < w.m && j < w.n ? *ulp_cuda_c(w, i, j) : 0.0f;
        }
}

/* C gets the sums of thread (y,x). */
template <int PER>
static __device__ inline void ulp_tile_store(const float sums[PER][PER], const ulp_cuda_job<float> &w,
                                             ulp_tile_origin o, int y, int x) {
#pragma unroll
    for (int r = 0; r < PER; r++)
#pragma unroll
        for (int c = 0; c < PER; c++) {
            const size_t i = o.i + (size_t)ulp_tile_line<PER>(y, r), j = o.j + (size_t)ulp_tile_line<PER>(x, c);
            if (i < w.m && j < w.n) *ulp_cuda_c(w, i, j) = ulp_cuda_canonical(sums[r][c]);
        }
}

#endif
