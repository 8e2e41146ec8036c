/* t_gpu_tiles.cpp - the tiles of kernels/cuda/tile.h: every output and every operand has exactly one place. */
#include "kernels/cuda/tile.h"

#include <stdio.h>
#include <vector>

static int failed;

static void verdict(bool fine, const char *what, int a, int b) {
    printf("%sok - tiles: %s, %d, %d\n", fine ? "" : "not ", what, a, b);
    failed |= !fine;
}

/* Each line of the tile belongs to exactly one thread of a row of threads. */
template <int PER> static void lines() {
    std::vector<int> seen(ULP_TILE_ACROSS * PER);
    bool fine = true;
    for (int at = 0; at < ULP_TILE_ACROSS; at++)
        for (int r = 0; r < PER; r++) {
            const int line = ulp_tile_line<PER>(at, r);
            fine = fine && line >= 0 && line < ULP_TILE_ACROSS * PER && seen[(size_t)line]++ == 0;
            if (r % 4 != 0) fine = fine && line == ulp_tile_line<PER>(at, r - 1) + 1; /* four lines are read at once */
        }
    verdict(fine, "each line of a tile is one thread's; lines in a tile, of a thread", ULP_TILE_ACROSS * PER, PER);
}

/* The threads of a block bring each element of a step once and to its place; they bring zeros outside the matrix. */
template <int SIDE, int DEPTH> static void operands(size_t matrix_lines, size_t k, bool along_depth) {
    const size_t line_stride = along_depth ? k + 3 : 1, depth_stride = along_depth ? 1 : matrix_lines + 5;
    std::vector<float> x(matrix_lines * line_stride + k * depth_stride + 1, -1.0f);
    for (size_t i = 0; i < matrix_lines; i++)
        for (size_t d = 0; d < k; d++) x[i * line_stride + d * depth_stride] = (float)(1 + i * k + d);
    bool fine = true;
    typedef ulp_tile_operand<float, SIDE, DEPTH> operand;
    std::vector<operand> threads;
    for (int t = 0; t < ULP_TILE_THREADS; t++)
        threads.push_back(
            ulp_tile_operand_of<float, SIDE, DEPTH>(x.data(), matrix_lines, line_stride, depth_stride, t));
    for (size_t from = 0; from < k; from += DEPTH) {
        std::vector<float> buffer((size_t)SIDE * DEPTH, -2.0f);
        for (operand &o : threads) {
            float mine[operand::SHARE];
            o.bring(mine, k - from);
            for (int s = 0; s < operand::SHARE; s++) {
                float &at = buffer[(size_t)o.place(s, SIDE)];
                fine = fine && at == -2.0f;
                at = mine[s];
            }
        }
        for (size_t d = 0; d < DEPTH; d++)
            for (size_t i = 0; i < SIDE; i++)
                fine = fine && buffer[d * SIDE + i] ==
                                   (i < matrix_lines && from + d < k ? (float)(1 + i * k + from + d) : 0.0f);
    }
    verdict(fine, along_depth ? "operands along k; lines, k" : "operands along lines; lines, k", (int)matrix_lines,
            (int)k);
}

/* The tiles of a result cover each output exactly once. */
static void origins(size_t m, size_t n, size_t side) {
    std::vector<int> seen(m * n);
    bool fine = true;
    for (unsigned t = 0; t < ulp_tile_count(m, n, side); t++) {
        const ulp_tile_origin o = ulp_tile_origin_of(t, n, side);
        for (size_t i = o.i; i < o.i + side && i < m; i++)
            for (size_t j = o.j; j < o.j + side && j < n; j++) seen[i * n + j]++;
        fine = fine && o.i < m && o.j < n;
    }
    for (int s : seen) fine = fine && s == 1;
    verdict(fine, "tiles cover the result; m, n", (int)m, (int)n);
}

template <int SIDE, int DEPTH> static void shape() {
    const size_t sizes[][2] = {
        {1, 1}, {SIDE, DEPTH}, {SIDE - 1, DEPTH + 1}, {SIDE + 7, 3 * DEPTH}, {5, 2 * DEPTH - 1}, {SIDE, 1}};
    for (const size_t *s : sizes) {
        const size_t in_tile = s[0] < SIDE ? s[0] : SIDE;
        operands<SIDE, DEPTH>(in_tile, s[1], true);
        operands<SIDE, DEPTH>(in_tile, s[1], false);
    }
}

int main() {
    lines<1>();
    lines<2>();
    lines<4>();
    lines<8>();
    shape<128, 8>(); /* the tiles of gemm_*.cu */
    shape<64, 8>();
    shape<64, 16>();
    shape<64, 32>();
    shape<32, 16>();
    shape<32, 64>();
    shape<16, 16>();
    const size_t sides[] = {16, 32, 64, 128};
    for (size_t side : sides) {
        origins(1, 1, side);
        origins(side, side, side);
        origins(side + 1, 2 * side - 1, side);
        origins(3, 5 * side + 2, side);
    }
    verdict(ulp_tile_count((size_t)1 << 40, (size_t)1 << 40, 64) == 0, "a result of too many tiles is refused; side",
            64, 0);
    verdict(ulp_tile_count(0, 9, 64) == 0, "an empty result has none; side", 64, 0);
    return failed;
}
