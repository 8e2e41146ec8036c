// gemm_lanes.cu - products with every partial sum rounded: serial, chunked, promoted, split, Kahan, pairwise.
//
// Products of binary32 numbers are exact in binary64. A sum of two numbers is folded into one word that rounds like the
// sum (ulp_odd_sum), and an addition in one of the device's rounding modes rounds the word (anchor.h). In mode rne
// kernels/rounding/nearest.h rounds. There `direct` replaces the folding by binary64's own sum, where a proof shows
// that this changes no result. The operands decide whether the proof holds.
#include "anchor.h"
#include "kernels/rounding/nearest.h"
#include "tile.h"
#include "words.h"

namespace {

enum kind { CHAIN, SPLIT, KAHAN, TREE };

/* The ways to round: by nearest.h with an open or a closed range, or by anchor.h without or with random words. */
enum way { OPEN, CLOSED, PLAIN, RANDOM };

enum { DEPTH = 16, PAD = 2, LEVELS = 32 };

/* The findings about the operands: the bits that are set in significands of A and of B, and whether a start value is
 * not a value of the accumulator's format. */
enum { BITS_OF_A, BITS_OF_B, BAD_STARTS, FINDINGS };

/* The constants of a datapath for the kernels. */
struct plan {
    ulp_anchored rule;
    ulp_nearest nearest;
    uint32_t every;           /* products in a partial sum that joins the total; 0: no total */
    bool promotes;            /* the total is a binary32 sum; else a sum of chunks in the accumulator */
    int spare;                /* largest sum of significant bits of A and B for a direct fma; below 2: none */
    const uint32_t *findings; /* (FINDINGS); NULL: there are no findings */
};

/* ---- one rounding ---- */

/* The random words of one output. */
template <int WAY> struct words {
    __device__ inline void start(ulp_stream) {}
    __device__ inline uint32_t next(ulp_stream) { return 0; }
};
template <> struct words<RANDOM> {
    ulp_word_run run;
    __device__ inline void start(ulp_stream s) { run = ulp_word_run_at(s, 0); }
    __device__ inline uint32_t next(ulp_stream s) { return ulp_word_run_next(&run, s); }
};

/* An output's current sum. */
template <int KIND, int WAY> struct sum {
    double acc, error; /* error: the error e of KAHAN */
    words<WAY> word;
};

/* The partial sums of a tree of `count` products. at[l stride] has no right part yet: it is a sum of 2^l products. */
struct left_parts {
    double *at;
    int stride;
    uint32_t count;
};

template <int WAY> __device__ inline double rounded(double x, const plan &p, words<WAY> *word, ulp_stream s) {
    if (WAY == OPEN) return ulp_nearest64(x, &p.nearest, ULP_RANGE_OPEN);
    if (WAY == CLOSED) return ulp_nearest64(x, &p.nearest, ULP_RANGE_CLOSED);
    return ulp_anchored_round(x, p.rule, p.rule.mode, word->next(s));
}

/* x + y, two values of the accumulator's format if direct. */
template <int WAY, bool DIRECT>
__device__ inline double add(double x, double y, const plan &p, words<WAY> *word, ulp_stream s) {
    const double exact = DIRECT ? ulp_nearest_sum(x, y)
                                : ulp_odd_sum(x, y, WAY == OPEN || WAY == CLOSED ? (uint32_t)ULP_RNE : p.rule.mode);
    return rounded<WAY>(exact, p, word, s);
}

/* ---- one product of one output, as in kernels/products/sum.h ---- */

/* Adds a product. */
template <int KIND, int WAY, bool DIRECT>
__device__ inline void add_product(sum<KIND, WAY> *to, left_parts left, double a, double b, const plan &p,
                                   ulp_stream s) {
    const uint32_t mode = WAY == OPEN || WAY == CLOSED ? (uint32_t)ULP_RNE : p.rule.mode;
    words<WAY> *const word = &to->word;
    if (KIND == CHAIN) {
        const double exact = DIRECT ? __fma_rn(a, b, to->acc) : ulp_odd_sum(a * b, to->acc, mode);
        to->acc = rounded<WAY>(exact, p, word, s);
    } else if (KIND == SPLIT) {
        const double x = rounded<WAY>(a * b, p, word, s);
        to->acc = add<WAY, DIRECT>(to->acc, x, p, word, s);
    } else if (KIND == KAHAN) {
        const double c = to->acc, y = rounded<WAY>(ulp_odd_sum(a * b, -to->error, mode), p, word, s);
        const double t = add<WAY, DIRECT>(c, y, p, word, s);
        const double change = add<WAY, DIRECT>(t, -c, p, word, s);
        to->error = add<WAY, DIRECT>(change, -y, p, word, s);
        to->acc = t;
    } else {
        double x = rounded<WAY>(a * b, p, word, s);
        int l = 0;
        for (; left.count >> l & 1u; l++) x = add<WAY, DIRECT>(left.at[l * left.stride], x, p, word, s);
        left.at[l * left.stride] = x;
    }
}

/* The sum of the parts of a tree, latest part first, and of `start`. */
template <int KIND, int WAY, bool DIRECT>
__device__ inline double tree(sum<KIND, WAY> *to, left_parts left, double start, const plan &p, ulp_stream s) {
    double x = 0.0;
    bool any = false;
    for (int l = 0; l < LEVELS; l++) {
        if ((left.count >> l & 1u) == 0) continue;
        const double part = left.at[l * left.stride];
        x = any ? add<WAY, DIRECT>(part, x, p, &to->word, s) : part;
        any = true;
    }
    return any ? add<WAY, DIRECT>(start, x, p, &to->word, s) : start;
}

/* ---- a thread's outputs ---- */

template <int SIDE> struct buffers { double a[2][DEPTH][SIDE + PAD], b[2][DEPTH][SIDE + PAD]; };

template <int KIND, int WAY, bool DIRECT, int PER> struct thread_outputs {
    enum { SIDE = PER * ULP_TILE_ACROSS, HERE = KIND == TREE ? LEVELS * PER * PER : 1 };
    const ulp_cuda_job<float> &w;
    const plan &p;
    size_t i0, j0; /* of the tile */
    int y, x;      /* of the thread in the block */
    sum<KIND, WAY> sums[PER][PER];
    double levels[HERE]; /* (LEVELS, PER, PER) */
    uint32_t count;      /* products of the current sums */
    bool total_in_c;     /* C holds the start value or the total */

    __device__ inline thread_outputs(const ulp_cuda_job<float> &w_, const plan &p_, ulp_tile_origin o)
        : w(w_), p(p_), i0(o.i), j0(o.j), y((int)threadIdx.x / ULP_TILE_ACROSS), x((int)threadIdx.x % ULP_TILE_ACROSS),
          count(0), total_in_c(w_.accumulate) {}

    __device__ inline size_t row(int r) const { return i0 + (size_t)ulp_tile_line<PER>(y, r); }
    __device__ inline size_t column(int c) const { return j0 + (size_t)ulp_tile_line<PER>(x, c); }
    __device__ inline bool is_output(int r, int c) const { return row(r) < w.m && column(c) < w.n; }
    __device__ inline left_parts left(int r, int c) {
        return {levels + (KIND == TREE ? r * PER + c : 0), PER * PER, count};
    }

    /* The start value or the total in C. */
    __device__ inline double read_total(int r, int c) const {
        return total_in_c && is_output(r, c) ? (double)*ulp_cuda_c(w, row(r), column(c)) : 0.0;
    }

    __device__ inline void start() {
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int c = 0; c < PER; c++) {
                sums[r][c].acc = p.every == 0 && KIND != TREE ? read_total(r, c) : 0.0;
                sums[r][c].error = 0.0;
                sums[r][c].word.start(ulp_cuda_stream_of(w, row(r), column(c)));
            }
    }

    /* Adds the sums to the totals in C and sets them to zero. */
    __device__ inline void add_to_total() {
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int c = 0; c < PER; c++) {
                sum<KIND, WAY> *const s = &sums[r][c];
                const ulp_stream stream = w.stream;
                const double partial = KIND == TREE ? tree<KIND, WAY, DIRECT>(s, left(r, c), 0.0, p, stream) : s->acc;
                const double before = read_total(r, c);
                const double total = p.promotes ? (double)((float)before + (float)partial)
                                                : add<WAY, DIRECT>(before, partial, p, &s->word, stream);
                if (is_output(r, c)) *ulp_cuda_c(w, row(r), column(c)) = ulp_cuda_canonical((float)total);
                s->acc = s->error = 0.0;
            }
        total_in_c = true;
        count = 0;
    }

    __device__ inline void product(const double *a, const double *b) {
        double p_[PER], q[PER];
#pragma unroll
        for (int r = 0; r < PER; r++) p_[r] = a[ulp_tile_line<PER>(y, r)];
#pragma unroll
        for (int c = 0; c < PER; c++) q[c] = b[ulp_tile_line<PER>(x, c)];
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int c = 0; c < PER; c++)
                add_product<KIND, WAY, DIRECT>(&sums[r][c], left(r, c), p_[r], q[c], p, w.stream);
        if (++count == p.every) add_to_total();
    }

    __device__ inline void end() {
        if (p.every != 0 && count != 0) add_to_total();
#pragma unroll
        for (int r = 0; r < PER; r++)
#pragma unroll
            for (int c = 0; c < PER; c++) {
                double result = sums[r][c].acc;
                if (p.every != 0) result = read_total(r, c);
                else if (KIND == TREE)
                    result = tree<KIND, WAY, DIRECT>(&sums[r][c], left(r, c), read_total(r, c), p, w.stream);
                if (is_output(r, c)) *ulp_cuda_c(w, row(r), column(c)) = ulp_cuda_canonical((float)result);
            }
    }
};

template <int KIND, int WAY, bool DIRECT, int PER>
__device__ inline void run(const ulp_cuda_job<float> &w, const plan &p, buffers<PER * ULP_TILE_ACROSS> *room) {
    enum { SIDE = PER * ULP_TILE_ACROSS };
    const ulp_tile_origin o = ulp_tile_origin_of(blockIdx.x, w.n, SIDE);
    ulp_tile_operand<float, SIDE, DEPTH> a = ulp_tile_a<float, SIDE, DEPTH>(w, o.i, (int)threadIdx.x),
                                         b = ulp_tile_b<float, SIDE, DEPTH>(w, o.j, (int)threadIdx.x);
    thread_outputs<KIND, WAY, DIRECT, PER> outputs(w, p, o);
    float next_a[a.SHARE], next_b[b.SHARE];
    outputs.start();
    a.bring(next_a, w.k);
    b.bring(next_b, w.k);
    for (size_t k = 0, turn = 0; k < w.k; k += DEPTH, turn ^= 1) {
#pragma unroll
        for (int s = 0; s < a.SHARE; s++) (&room->a[turn][0][0])[a.place(s, SIDE + PAD)] = (double)next_a[s];
#pragma unroll
        for (int s = 0; s < b.SHARE; s++) (&room->b[turn][0][0])[b.place(s, SIDE + PAD)] = (double)next_b[s];
        __syncthreads(); /* all threads have read the other buffer before */
        if (k + DEPTH < w.k) {
            a.bring(next_a, w.k - k - DEPTH);
            b.bring(next_b, w.k - k - DEPTH);
        }
        const int depths = w.k - k < DEPTH ? (int)(w.k - k) : DEPTH; /* products of padding would be rounded */
#pragma unroll 1
        for (int e = 0; e < depths; e++) outputs.product(room->a[turn][e], room->b[turn][e]);
    }
    outputs.end();
}

/* Whether the findings allow the direct sum. */
template <int KIND> __device__ inline bool is_direct(const plan &p) {
    if (p.findings == NULL) return p.spare >= 48 || KIND != CHAIN;
    const uint32_t a = p.findings[BITS_OF_A] & 0x7fffffu, b = p.findings[BITS_OF_B] & 0x7fffffu;
    const int bits = (a == 0 ? 1 : 24 - (__ffs((int)a) - 1)) + (b == 0 ? 1 : 24 - (__ffs((int)b) - 1));
    return p.findings[BAD_STARTS] == 0 && (KIND != CHAIN || bits <= p.spare);
}

template <int KIND, int WAY, int PER>
__global__ void __launch_bounds__(ULP_TILE_THREADS, 2)
    lanes_kernel(const __grid_constant__ ulp_cuda_job<float> w, const __grid_constant__ plan p) {
    __shared__ __align__(16) buffers<PER * ULP_TILE_ACROSS> room;
    if ((WAY == OPEN || WAY == CLOSED) && is_direct<KIND>(p))
        run<KIND, WAY, WAY == OPEN || WAY == CLOSED, PER>(w, p, &room);
    else run<KIND, WAY, false, PER>(w, p, &room);
}

/* ---- the findings about the operands ---- */

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    bits_kernel(uint32_t *found, const float *x, size_t rows, size_t columns, size_t row, size_t column) {
    uint32_t bits = 0;
    for (size_t e = ulp_cuda_thread(); e < rows * columns; e += ulp_cuda_threads())
        bits |= ulp_bits32(x[e / columns * row + e % columns * column]);
    bits = __reduce_or_sync(0xffffffffu, bits);
    if (threadIdx.x % 32 == 0 && bits != 0) atomicOr(found, bits);
}

/* *found = 1 if an element of C is not NaN and rounding changes it. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    starts_kernel(uint32_t *found, const __grid_constant__ ulp_cuda_job<float> w, const __grid_constant__ plan p) {
    bool bad = false;
    for (size_t e = ulp_cuda_thread(); e < w.m * w.n; e += ulp_cuda_threads()) {
        const double c = (double)*ulp_cuda_c(w, e / w.n, e % w.n);
        bad |= c == c && ulp_anchored_round(c, p.rule, ULP_RNE, 0) != c;
    }
    if (bad) atomicOr(found, 1u);
}

/* Computes the findings *found (FINDINGS), which stay on the device. */
ulp_status find_bits_and_starts(uint32_t *found, const ulp_cuda_job<float> &w, const plan &p, bool bits, bool starts) {
    ULP_TRY(ulp_cuda_zero(found, FINDINGS * sizeof *found));
    if (bits) {
        const bool a_down = w.a_row == 1, b_down = w.b_row == 1; /* the kernel runs along memory */
        ULP_TRY(ulp_cuda_launch("bits of a", bits_kernel, ulp_cuda_blocks(w.m * w.k), ULP_CUDA_THREADS,
                                found + BITS_OF_A, w.a, a_down ? w.k : w.m, a_down ? w.m : w.k,
                                a_down ? w.a_column : w.a_row, a_down ? w.a_row : w.a_column));
        ULP_TRY(ulp_cuda_launch("bits of b", bits_kernel, ulp_cuda_blocks(w.k * w.n), ULP_CUDA_THREADS,
                                found + BITS_OF_B, w.b, b_down ? w.n : w.k, b_down ? w.k : w.n,
                                b_down ? w.b_column : w.b_row, b_down ? w.b_row : w.b_column));
    }
    return starts ? ulp_cuda_launch("start values", starts_kernel, ulp_cuda_blocks(w.m * w.n), ULP_CUDA_THREADS,
                                    found + BAD_STARTS, w, p)
                  : ULP_OK;
}

/* ---- the choice of the kernel ---- */

template <int KIND, int WAY, int PER> ulp_status launch(const ulp_cuda_job<float> &w, const plan &p) {
    const unsigned tiles = ulp_tile_count(w.m, w.n, PER * ULP_TILE_ACROSS);
    return tiles == 0
               ? ULP_UNSUPPORTED
               : ulp_cuda_launch("gemm with rounded sums", lanes_kernel<KIND, WAY, PER>, tiles, ULP_TILE_THREADS, w, p);
}

/* A thread has more outputs if a rounding is short, so that operands are read less often. */
template <int KIND> ulp_status launch_way(const ulp_cuda_job<float> &w, const plan &p, int way) {
    enum { LONG = KIND == TREE ? 1 : 2, SHORT = KIND == CHAIN ? 4 : LONG };
    switch (way) {
    case OPEN: return launch<KIND, OPEN, SHORT>(w, p);
    case CLOSED: return launch<KIND, CLOSED, SHORT>(w, p);
    case PLAIN: return launch<KIND, PLAIN, LONG>(w, p);
    default: return launch<KIND, RANDOM, LONG>(w, p);
    }
}

ulp_status launch_kind(const ulp_cuda_job<float> &w, const plan &p, uint32_t kind, int way) {
    switch (kind) {
    case ULP_SPLIT: return launch_way<SPLIT>(w, p, way);
    case ULP_KAHAN: return launch_way<KAHAN>(w, p, way);
    case ULP_PAIRWISE: return launch_way<TREE>(w, p, way);
    default: return launch_way<CHAIN>(w, p, way);
    }
}

bool is_offered(const ulp_datapath &d, size_t k) {
    const bool serial = d.kind == ULP_CHUNKED || (d.kind == ULP_SERIAL && d.length == 1), tree = d.kind == ULP_PAIRWISE;
    return (serial || tree || d.kind == ULP_SPLIT || d.kind == ULP_KAHAN) && !d.has_inputs &&
           k < (size_t)1 << (LEVELS - 1);
}

} // namespace

ulp_status ulp_cuda_gemm_lanes(const ulp_cuda_job<float> &w, const ulp_datapath &d) {
    plan p = {};
    if (!is_offered(d, w.k) || !ulp_anchored_init(&p.rule, &d.accumulator, d.rule)) return ULP_UNSUPPORTED;
    const int range = ulp_nearest_range(&p.nearest, &d.accumulator, d.rule);
    const bool chain = d.kind == ULP_SERIAL || d.kind == ULP_CHUNKED,
               fma = ulp_nearest_by_fma(&d.accumulator, 1, 1) != 0;
    p.promotes = d.promote != 0;
    p.every = p.promotes ? d.promote : d.kind == ULP_CHUNKED ? d.length : 0;
    p.spare = fma ? 52 - (int)d.accumulator.prec : 0;
    const int way = range == ULP_RANGE_OPEN               ? OPEN
                    : range == ULP_RANGE_CLOSED           ? CLOSED
                    : ulp_mode_is_stochastic(d.rule.mode) ? RANDOM
                                                          : PLAIN;
    if (way == PLAIN || way == RANDOM) return launch_kind(w, p, d.kind, way);
    const bool bits = chain && fma && w.k > 0 && p.spare < 48, starts = w.accumulate && !p.promotes;
    uint32_t *found = NULL;
    ulp_status status = ULP_OK;
    if (bits || starts) {
        found = static_cast<uint32_t *>(ulp_cuda_room(FINDINGS * sizeof *found));
        if (found == NULL) return ULP_NO_MEMORY;
        status = find_bits_and_starts(found, w, p, bits, starts);
        if (chain && !fma) p.spare = 0;
        p.findings = found;
    }
    if (status == ULP_OK) status = launch_kind(w, p, d.kind, way);
    if (found != NULL) ulp_cuda_release(found);
    return status;
}
