// gemm_aligned.cu - the product on Tensor Core rows: aligned, truncated, added and rounded once, in binary64.
//
// Additions that round toward zero compute the integer definition of kernels/products/fused.h. Let u = 2^(Emax - F) be
// the weight of the last bit that is kept, and A = 2^52 u with the sign of the product. RZ(A + a b) - A is the product
// without its bits below u: a b is below 2^(F+2) u, so that the sum stays in the binade of A, whose last place is u.
// The addition of these terms is exact while F + 2 + log2(L + 1) <= 52. The final rounding is another addition, of an
// anchor for the result's binade. binary64 holds every exponent that occurs, also of subnormals and with block scales.
// Inf and NaN of binary64 give the Inf and NaN of the definition.
#include "anchor.h"
#include "tile.h"

namespace {

enum kind { PLAIN, LATE, SCALED };

enum { PER = 4, SIDE = PER * ULP_TILE_ACROSS, DEPTH = 32, PAD = 2 };

/* Exponents. SKIPPED is the exponent of zero: it is below every other exponent, and the sum of two fits an int16_t.
 * LOWEST is below the exponent of every product. NO_SCALE is the exponent of a NaN scale. */
enum { SKIPPED = -16384, LOWEST = -700, HIGHEST = 128, NO_SCALE = 1 << 20 };

/* The constants of a row for the kernels. */
struct plan {
    int length, step, fraction, floor;
    int a_emin, b_emin, emin, prec, kept; /* emin of the inputs; emin and bits of the accumulator; kept fraction bits */
    int scale_emin;
    double limit; /* 2^(emax+1) */
    size_t every; /* products between two promotions; 0: no promotion */
};

struct buffers {
    double a[DEPTH][SIDE + PAD], b[DEPTH][SIDE + PAD];
    union {                            /* 4 or 8 numbers more in a row put neighbours in k into different banks */
        uint32_t one[DEPTH][SIDE + 4]; /* two copies in a word */
        uint4 four[DEPTH][SIDE / 4 + 1];
    } a_exponent;
    union {
        uint16_t one[DEPTH][SIDE + 8];
        uint2 four[DEPTH][SIDE / 4 + 2];
    } b_exponent;
    int a_scale[SIDE], b_scale[SIDE];
};

/* ---- numbers ---- */

/* Rounds the exact sum to the accumulator. */
template <bool NEAREST> __device__ inline double rounded(double x, const plan &p, int kept) {
    const double y = ulp_to_unit<NEAREST>(x, ulp_exponent(x, p.emin) - kept);
    const double infinite = ulp_from_high((ulp_high(x) & 0x80000000u) | 0x7ff00000u);
    return y >= p.limit || y <= -p.limit ? infinite : y;
}

/* The exponent of x in the alignment. */
__device__ inline int operand_exponent(float x, int emin) {
    const uint32_t a = ulp_bits32(x) & 0x7fffffffu;
    return a == 0 ? (int)SKIPPED : max((int)(a >> 23) - 127, emin);
}

/* ---- tiles ---- */

/* The place of product k in the order of the summation: fp8 on fp16 units adds k = 0, 1 (mod 4) first. */
template <int KIND> __device__ inline int place(int k, const plan &p) {
    if (KIND != LATE) return k;
    const int at = k % p.step, half = at / 2 % 2;
    return k - at + half * p.length + at / 4 * 2 + at % 2;
}

/* A thread's share of the next DEPTH products. */
struct shares {
    ulp_tile_operand<float, SIDE, DEPTH> a, b;
    float next_a[SIDE * DEPTH / ULP_TILE_THREADS], next_b[SIDE * DEPTH / ULP_TILE_THREADS];

    __device__ inline void bring(size_t left) {
        a.bring(next_a, left);
        b.bring(next_b, left);
    }

    template <int KIND> __device__ inline void put(buffers *room, const plan &p) const {
#pragma unroll
        for (int s = 0; s < a.SHARE; s++) {
            const int k = place<KIND>(a.share.depth + s * a.share.depth_step, p),
                      line = a.share.line + s * a.share.line_step;
            room->a[k][line] = (double)next_a[s];
            room->a_exponent.one[k][line] = (uint32_t)(uint16_t)operand_exponent(next_a[s], p.a_emin) * 0x10001u;
        }
#pragma unroll
        for (int s = 0; s < b.SHARE; s++) {
            const int k = place<KIND>(b.share.depth + s * b.share.depth_step, p),
                      line = b.share.line + s * b.share.line_step;
            room->b[k][line] = (double)next_b[s];
            room->b_exponent.one[k][line] = (uint16_t)operand_exponent(next_b[s], p.b_emin);
        }
    }
};

/* The exponent of the scale of line `line` and block `block`. */
__device__ inline int scale_exponent(const float *scales, size_t line, size_t lines, size_t block, size_t blocks,
                                     int emin) {
    if (scales == NULL || line >= lines) return 0;
    const double x = (double)scales[line * blocks + block];
    return x != x ? (int)NO_SCALE : ulp_exponent(x, emin);
}

/* ---- a thread's outputs ---- */

template <int KIND, bool NEAREST> struct thread_outputs {
    const ulp_cuda_job<float> &w;
    const plan &p;
    size_t i0, j0;
    int y, x;
    float c[PER][PER]; /* current sums */
    bool total_in_c;   /* C holds the start value or the promoted sums */

    __device__ inline thread_outputs(const ulp_cuda_job<float> &w_, const plan &p_, ulp_tile_origin o)
        : w(w_), p(p_), i0(o.i), j0(o.j), y((int)threadIdx.x / ULP_TILE_ACROSS), x((int)threadIdx.x % ULP_TILE_ACROSS),
          total_in_c(w_.accumulate) {}

    __device__ inline size_t row(int r) const { return i0 + (size_t)ulp_tile_line<PER>(y, r); }
    __device__ inline size_t column(int q) const { return j0 + (size_t)ulp_tile_line<PER>(x, q); }
    __device__ inline bool is_output(int r, int q) const { return row(r) < w.m && column(q) < w.n; }
    __device__ inline float read_total(int r, int q) const {
        return total_in_c && is_output(r, q) ? *ulp_cuda_c(w, row(r), column(q)) : 0.0f;
    }

    __device__ inline void start() {
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int q = 0; q < PER; q++) {
                const double from = p.every == 0 ? (double)read_total(r, q) : 0.0;
                c[r][q] = (float)from;
                if (KIND != LATE && w.k > 0 && from - from == 0.0)
                    c[r][q] = (float)ulp_to_unit<false>(from, ulp_exponent(from, p.emin) + 1 - p.prec);
            }
    }

    /* One fused sum of the products from `first` on: v <- round(v + ...) */
    __device__ inline void fuse(const buffers *room, int first, float v[PER][PER]) {
        uint32_t top[PER][PER / 2];
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int q = 0; q < PER / 2; q++) top[r][q] = (uint32_t)(uint16_t)SKIPPED * 0x10001u;
#pragma unroll 4
        for (int e = first; e < first + p.length; e++) {
            const uint4 a = room->a_exponent.four[e][y];
            const uint2 b = room->b_exponent.four[e][x];
            const uint32_t down[PER] = {a.x, a.y, a.z, a.w}, across[PER / 2] = {b.x, b.y};
#pragma unroll
            for (int r = 0; r < PER; r++)
#pragma unroll
                for (int q = 0; q < PER / 2; q++) top[r][q] = __viaddmax_s16x2(down[r], across[q], top[r][q]);
        }
        uint32_t anchor[PER][PER]; /* high words; for products without scales */
        double sum[PER][PER];
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int q = 0; q < PER; q++) {
                const double from = (double)v[r][q];
                const int scale = shift(room, r, q);
                int emax =
                    max((int)(int16_t)(uint16_t)(top[r][q / 2] >> (q % 2 * 16)) + scale, max(p.floor, (int)LOWEST));
                if (from != 0.0) emax = max(emax, min(ulp_exponent(from, p.emin), (int)HIGHEST));
                anchor[r][q] = ulp_power(emax - scale - p.fraction + 52);
                sum[r][q] = ulp_to_unit<false>(from, emax - p.fraction) *
                            ulp_from_high(ulp_power(-scale)); /* in units of the products */
            }
        add_products(room, first, anchor, sum);
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int q = 0; q < PER; q++) v[r][q] = (float)rounded<NEAREST>(scaled(sum[r][q], room, r, q), p, p.kept);
    }

    __device__ inline void add_products(const buffers *room, int first, const uint32_t anchor[PER][PER],
                                        double sum[PER][PER]) {
#pragma unroll 2
        for (int e = first; e < first + p.length; e++) {
            double a[PER], b[PER];
#pragma unroll
            for (int r = 0; r < PER; r++) a[r] = room->a[e][ulp_tile_line<PER>(y, r)];
#pragma unroll
            for (int q = 0; q < PER; q++) b[q] = room->b[e][ulp_tile_line<PER>(x, q)];
#pragma unroll
            for (int r = 0; r < PER; r++)
#pragma unroll
                for (int q = 0; q < PER; q++) {
                    const double from = ulp_from_high(((ulp_high(a[r]) ^ ulp_high(b[q])) & 0x80000000u) | anchor[r][q]);
                    sum[r][q] += __fma_rz(a[r], b[q], from) - from;
                }
        }
    }

    /* The exponent that the scales add to an output's products. 0 for a NaN scale. */
    __device__ inline int shift(const buffers *room, int r, int q) const {
        if (KIND != SCALED) return 0;
        const int s = room->a_scale[ulp_tile_line<PER>(y, r)] + room->b_scale[ulp_tile_line<PER>(x, q)];
        return s > NO_SCALE / 2 ? 0 : s;
    }
    __device__ inline double scaled(double sum, const buffers *room, int r, int q) const {
        if (KIND != SCALED) return sum;
        const int s = room->a_scale[ulp_tile_line<PER>(y, r)] + room->b_scale[ulp_tile_line<PER>(x, q)];
        return sum * (s > NO_SCALE / 2 ? ulp_quiet_nan() : ulp_from_high(ulp_power(s)));
    }

    /* fp8 on fp16 units: two sums start at zero, and c is added last. */
    __device__ inline void step_late(const buffers *room, int first) {
        float partial[PER][PER];
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int q = 0; q < PER; q++) partial[r][q] = 0.0f;
#pragma unroll 1
        for (int half = 0; half < 2; half++) fuse(room, first + half * p.length, partial);
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int q = 0; q < PER; q++) c[r][q] = late(c[r][q], partial[r][q]);
    }

    /* c + partial to nearest. The sum of binary16 values is exact in binary64; for binary32 one addition rounds. */
    __device__ inline float late(float from, float partial) const {
        return NEAREST ? (float)rounded<true>((double)from + (double)partial, p, p.prec - 1) : from + partial;
    }

    /* Promotion: adds the sums to C and sets them to zero. */
    __device__ inline void promote_sums() {
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int q = 0; q < PER; q++) {
                const float total = read_total(r, q) + c[r][q];
                if (is_output(r, q)) *ulp_cuda_c(w, row(r), column(q)) = ulp_cuda_canonical(total);
                c[r][q] = 0.0f;
            }
        total_in_c = true;
    }

    __device__ inline void end() {
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int q = 0; q < PER; q++) {
                const float result = p.every != 0 ? read_total(r, q) : c[r][q];
                if (is_output(r, q)) *ulp_cuda_c(w, row(r), column(q)) = ulp_cuda_canonical(result);
            }
    }
};

template <int KIND, bool NEAREST>
__global__ void __launch_bounds__(ULP_TILE_THREADS, 2)
    aligned_kernel(const __grid_constant__ ulp_cuda_job<float> w, const __grid_constant__ plan p) {
    __shared__ __align__(16) buffers room;
    const int thread = (int)threadIdx.x;
    const ulp_tile_origin o = ulp_tile_origin_of(blockIdx.x, w.n, SIDE);
    thread_outputs<KIND, NEAREST> outputs(w, p, o);
    shares s = {ulp_tile_a<float, SIDE, DEPTH>(w, o.i, thread), ulp_tile_b<float, SIDE, DEPTH>(w, o.j, thread), {}, {}};
    const bool works = outputs.is_output(0, 0);
    outputs.start();
    for (size_t k = 0; k < w.k; k += DEPTH) {
        s.bring(w.k - k);
        s.template put<KIND>(&room, p);
        if (KIND == SCALED && thread < SIDE)
            room.a_scale[thread] =
                scale_exponent(w.a_scales, o.i + (size_t)thread, w.m, k / DEPTH, w.blocks, p.scale_emin);
        else if (KIND == SCALED && thread < 2 * SIDE)
            room.b_scale[thread - SIDE] =
                scale_exponent(w.b_scales, o.j + (size_t)(thread - SIDE), w.n, k / DEPTH, w.blocks, p.scale_emin);
        __syncthreads();
        for (int e = 0; works && e < DEPTH && k + (size_t)e < w.k; e += p.step) {
            if (KIND == LATE) outputs.step_late(&room, e);
            else outputs.fuse(&room, e, outputs.c);
            const size_t done = k + (size_t)(e + p.step);
            if (p.every != 0 && (done % p.every == 0 || done >= w.k)) outputs.promote_sums();
        }
        __syncthreads(); /* all threads have read the buffers */
    }
    outputs.end();
}

/* ---- the rows that this source computes ---- */

bool is_offered(const ulp_datapath &d) {
    const ulp_fused *f = &d.fused;
    const ulp_format *c = &d.accumulator;
    const bool open = f->zero_operand != ULP_NO_EXPONENT || f->zero_product != ULP_NO_EXPONENT ||
                      f->zero_c != ULP_NO_EXPONENT || f->signed_zero || f->join != 0 || f->c_last;
    const bool results = c->has_inf && c->has_subnormals && c->emin >= -126 && c->emax <= 127 && c->prec <= 24 &&
                         ulp_overflow_of(c, ULP_OVERFLOW_DEFAULT) == ULP_OVERFLOW_INF;
    const bool rounding = f->align == ULP_RZ && (f->output == ULP_RZ || f->output == ULP_RNE);
    const bool late = !f->late || (c->prec == 24 ? f->output == ULP_RZ : c->prec == 11 && f->output == ULP_RNE);
    const bool inputs = d.a.fits_binary32 && d.b.fits_binary32 && d.a_prec + d.b_prec <= 48;
    const bool scales = d.scale_block == 0 || (d.step == DEPTH && f->output == ULP_RZ && !f->late);
    return d.kind == ULP_ALIGNED && f->group == 0 && DEPTH % d.step == 0 && f->floor <= HIGHEST && !open && results &&
           rounding && late && inputs && scales;
}

plan plan_of(const ulp_datapath &d) {
    plan p = {};
    p.length = d.fused.length;
    p.step = (int)d.step;
    p.fraction = d.fused.fraction;
    p.floor = d.fused.floor;
    p.a_emin = d.a_emin;
    p.b_emin = d.b_emin;
    p.emin = d.accumulator.emin;
    p.prec = d.accumulator.prec;
    p.kept = d.fused.kept;
    p.scale_emin = d.scale.emin;
    p.limit = ulp_scale(1.0, d.accumulator.emax + 1);
    p.every = d.promote;
    return p;
}

} // namespace

ulp_status ulp_cuda_gemm_aligned(const ulp_cuda_job<float> &w, const ulp_datapath &d) {
    const unsigned tiles = ulp_tile_count(w.m, w.n, SIDE);
    if (!is_offered(d) || tiles == 0) return ULP_UNSUPPORTED;
    const bool nearest = d.fused.output == ULP_RNE;
    void (*const kernel)(ulp_cuda_job<float>, plan) =
        d.fused.late         ? (nearest ? aligned_kernel<LATE, true> : aligned_kernel<LATE, false>)
        : d.scale_block != 0 ? aligned_kernel<SCALED, false>
        : nearest            ? aligned_kernel<PLAIN, true>
                             : aligned_kernel<PLAIN, false>;
    return ulp_cuda_launch("gemm on aligned sums", kernel, tiles, ULP_TILE_THREADS, w, plan_of(d));
}
