// gemm_groups.cu - the product on rows whose groups are summed exactly before their scales apply: mxf4 and nvf4.
//
// The source computes the integer definition of kernels/products/fused.h. The sum of a group of e2m1 products is exact
// in binary32 (multiples of 1/4 up to 576). Its multiple by two scales is exact in binary64 and below 2^(Emax + 12).
// The other steps are those of gemm_aligned.cu.
#include "anchor.h"
#include "tile.h"

namespace {

enum { PER = 2, SIDE = PER * ULP_TILE_ACROSS, DEPTH = ULP_STEP_MAX, GROUP = 16, GROUPS = DEPTH / GROUP, PAD = 4 };

/* An exponent below the exponent of every term. */
enum { LOWEST = -700 };

struct plan {
    int fraction, floor, kept, emin, scale_emin;
    size_t scale_block;
    double limit; /* 2^(emax+1) */
};

struct buffers {
    float2 a[2][DEPTH][(SIDE + PAD) / 2], b[2][DEPTH][(SIDE + PAD) / 2];
    double a_scale[2][GROUPS][SIDE], b_scale[2][GROUPS][SIDE];
};

/* |scale| of group `group` of a line. 1 if there is no scale. */
__device__ inline double scale_at(const float *scales, size_t line, size_t lines, size_t group, size_t blocks,
                                  size_t scale_block) {
    const size_t block = group * GROUP / scale_block;
    const double x = scales == NULL || line >= lines || block >= blocks ? 1.0 : (double)scales[line * blocks + block];
    return x < 0.0 ? -x : x;
}

/* Whether a product of group g of a line of A and a line of B is not zero. */
__device__ inline bool has_product(const buffers *room, size_t turn, int g, int i, int j) {
    bool any = false;
    for (int e = g * GROUP; e < (g + 1) * GROUP; e++)
        any |= (&room->a[turn][e][0].x)[i] != 0.0f && (&room->b[turn][e][0].x)[j] != 0.0f;
    return any;
}

/* c and the scaled sums of the groups, aligned, truncated, added and rounded once. exponents: those with which the
 * groups count. */
__device__ inline float fused(float c, const double terms[GROUPS], const int exponents[GROUPS], const plan &p) {
    const double from = (double)c;
    int emax = max(p.floor, (int)LOWEST);
    if (from != 0.0) emax = max(emax, ulp_exponent(from, p.emin));
#pragma unroll
    for (int g = 0; g < GROUPS; g++) emax = max(emax, exponents[g]);
    double sum = ulp_to_unit<false>(from, emax - p.fraction);
#pragma unroll
    for (int g = 0; g < GROUPS; g++) sum += ulp_to_unit<false>(terms[g], emax - p.fraction);
    const double y = ulp_to_unit<false>(sum, ulp_exponent(sum, p.emin) - p.kept);
    return (float)(y >= p.limit || y <= -p.limit ? ulp_from_high((ulp_high(sum) & 0x80000000u) | 0x7ff00000u) : y);
}

/* One step: c <- the fused sum of c and the products of a buffer. */
__device__ inline void step(float c[PER][PER], const buffers *room, size_t turn, int y, int x, const plan &p) {
    double terms[PER][PER][GROUPS];
    int exponents[PER][PER][GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        float sums[PER][PER] = {{0.0f, 0.0f}, {0.0f, 0.0f}};
#pragma unroll
        for (int e = g * GROUP; e < (g + 1) * GROUP; e++) {
            const float2 a = room->a[turn][e][y], b = room->b[turn][e][x];
            sums[0][0] = __fmaf_rn(a.x, b.x, sums[0][0]);
            sums[0][1] = __fmaf_rn(a.x, b.y, sums[0][1]);
            sums[1][0] = __fmaf_rn(a.y, b.x, sums[1][0]);
            sums[1][1] = __fmaf_rn(a.y, b.y, sums[1][1]);
        }
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int q = 0; q < PER; q++) {
                const double sa = room->a_scale[turn][g][ulp_tile_line<PER>(y, r)],
                             sb = room->b_scale[turn][g][ulp_tile_line<PER>(x, q)];
                const int e = ulp_exponent(sa, p.scale_emin) + ulp_exponent(sb, p.scale_emin);
                const bool counts = sums[r][q] != 0.0f ||
                                    has_product(room, turn, g, ulp_tile_line<PER>(y, r), ulp_tile_line<PER>(x, q));
                terms[r][q][g] = (double)sums[r][q] * (sa * sb);
                exponents[r][q][g] = counts && sa * sb != 0.0 ? e : (int)LOWEST;
            }
    }
#pragma unroll
    for (int r = 0; r < PER; r++)
#pragma unroll
        for (int q = 0; q < PER; q++) c[r][q] = fused(c[r][q], terms[r][q], exponents[r][q], p);
}

__global__ void __launch_bounds__(ULP_TILE_THREADS, 2)
    groups_kernel(const __grid_constant__ ulp_cuda_job<float> w, const __grid_constant__ plan p) {
    __shared__ buffers room;
    const int thread = (int)threadIdx.x, y = thread / ULP_TILE_ACROSS, x = thread % ULP_TILE_ACROSS;
    const ulp_tile_origin o = ulp_tile_origin_of(blockIdx.x, w.n, SIDE);
    ulp_tile_operand<float, SIDE, DEPTH> a = ulp_tile_a<float, SIDE, DEPTH>(w, o.i, thread),
                                         b = ulp_tile_b<float, SIDE, DEPTH>(w, o.j, thread);
    const int group = thread / SIDE % GROUPS,
              line = thread % SIDE; /* of the scale that a thread loads; the first half of the block loads those of A */
    float c[PER][PER], next_a[a.SHARE], next_b[b.SHARE];
    ulp_tile_start<PER>(c, w, o, y, x);
    a.bring(next_a, w.k);
    b.bring(next_b, w.k);
    for (size_t k = 0, turn = 0; k < w.k; k += DEPTH, turn ^= 1) {
#pragma unroll
        for (int s = 0; s < a.SHARE; s++) (&room.a[turn][0][0].x)[a.place(s, SIDE + PAD)] = next_a[s];
#pragma unroll
        for (int s = 0; s < b.SHARE; s++) (&room.b[turn][0][0].x)[b.place(s, SIDE + PAD)] = next_b[s];
        const size_t at = k / GROUP + (size_t)group;
        if (thread < GROUPS * SIDE)
            room.a_scale[turn][group][line] =
                scale_at(w.a_scales, o.i + (size_t)line, w.m, at, w.blocks, p.scale_block);
        else
            room.b_scale[turn][group][line] =
                scale_at(w.b_scales, o.j + (size_t)line, w.n, at, w.blocks, p.scale_block);
        __syncthreads(); /* all threads have read the other buffer before */
        if (k + DEPTH < w.k) {
            a.bring(next_a, w.k - k - DEPTH);
            b.bring(next_b, w.k - k - DEPTH);
        }
        step(c, &room, turn, y, x, p);
    }
    ulp_tile_store<PER>(c, w, o, y, x);
}

bool is_offered(const ulp_datapath &d) {
    const ulp_fused *f = &d.fused;
    return d.kind == ULP_ALIGNED && f->group == GROUP && d.step == DEPTH && d.promote == 0 && !f->late &&
           d.a_prec <= 2 && d.b_prec <= 2 && d.a.emax <= 2 && d.b.emax <= 2 && d.a.qmin >= -1 && d.b.qmin >= -1 &&
           d.scale.prec <= 4 && f->fraction <= 37 && f->floor <= 128 && f->align == ULP_RZ && f->output == ULP_RZ &&
           d.accumulator.prec == 24 && d.accumulator.emin == -126 && f->zero_c == ULP_NO_EXPONENT &&
           f->zero_product == ULP_NO_EXPONENT && !f->signed_zero;
}

} // namespace

ulp_status ulp_cuda_gemm_groups(const ulp_cuda_job<float> &w, const ulp_datapath &d) {
    const unsigned tiles = ulp_tile_count(w.m, w.n, SIDE);
    if (!is_offered(d) || tiles == 0) return ULP_UNSUPPORTED;
    plan p = {};
    p.fraction = d.fused.fraction;
    p.floor = d.fused.floor;
    p.kept = d.fused.kept;
    p.emin = d.accumulator.emin;
    p.scale_emin = d.scale.emin;
    p.scale_block = d.scale_block;
    p.limit = ulp_scale(1.0, d.accumulator.emax + 1);
    return ulp_cuda_launch("gemm on groups", groups_kernel, tiles, ULP_TILE_THREADS, w, p);
}
