// round.cu - rounding of whole arrays, with optional counting.
//
// A thread rounds groups of four neighbours. The words of a group are one Philox block, and a group is one access of 16
// bytes to memory where the alignment allows it. A thread works on two groups at a time.
#include "counting.h"
#include "operations.h"
#include "kernels/rounding/core.h"
#include "words.h"

namespace {

enum { GROUP = 4, AT_ONCE = 2 };
enum { ANY_MODE = -1, ANY_SHAPE = -1 };

__device__ void count(ulp_cuda_counters *s, uint32_t u, uint32_t magnitude, uint32_t result, const ulp_core &c) {
    const uint32_t a = u & 0x7fffffffu, size = result & 0x7fffffffu;
    s->overflow += (uint32_t)(magnitude > ulp_by_sign(c.limit, u & 0x80000000u)) & (uint32_t)(a < 0x7f800000u);
    s->underflow += (uint32_t)(magnitude == 0) & (uint32_t)(a - 1u < 0x7f7fffffu);
    const uint32_t limit = ulp_by_sign(c.limit, result & 0x80000000u);
    s->saturated += (uint32_t)(size == limit) & (uint32_t)(magnitude > limit);
    s->subnormal += (uint32_t)(size - 1u < c.min_normal - 1u);
    s->zero += (uint32_t)(size == 0);
    s->nan += (uint32_t)(size > 0x7f800000u);
}

/* For a number in the normal range the shapes ANY and WIDE give equal results. Most numbers are in the normal range. */
template <int SHAPE> __device__ uint32_t magnitude_of(uint32_t u, const ulp_core &c, uint32_t mode, uint32_t word) {
    if (SHAPE != ANY_SHAPE && SHAPE != ULP_SHAPE_ANY) return ulp_core_magnitude(u, &c, mode, (uint32_t)SHAPE, word);
    if ((u & 0x7fffffffu) >> 23 >= c.emin) return ulp_core_wide(u, &c, mode, word);
    return ulp_core_any(u, &c, mode, word);
}

/* A kernel with a constant shape has a symmetric core, which halves the work after the rounding. */
template <int SHAPE, bool COUNT>
__device__ float round_one(float x, const ulp_core &c, uint32_t mode, uint32_t word, ulp_cuda_counters *s) {
    const uint32_t u = ulp_bits32(x), magnitude = magnitude_of<SHAPE>(u, c, mode, word);
    const uint32_t y = ulp_core_finish(u, magnitude, &c, SHAPE != ANY_SHAPE);
    if (COUNT) count(s, u, magnitude, y, c);
    return ulp_from_bits32(y);
}

/* Whether i is an element of the array. A group may begin before the array and end after it. */
__device__ bool inside(size_t i, size_t n) { return i < n; } /* indices before it wrap to above n */

__device__ float4 load_group(const float *x, size_t i, size_t n, bool whole) {
    if (whole && i < n && n - i >= GROUP) return *reinterpret_cast<const float4 *>(x + i);
    return make_float4(inside(i, n) ? x[i] : 0.0f, inside(i + 1, n) ? x[i + 1] : 0.0f,
                       inside(i + 2, n) ? x[i + 2] : 0.0f, inside(i + 3, n) ? x[i + 3] : 0.0f);
}

__device__ void store_group(float *y, size_t i, size_t n, bool whole, float4 v) {
    if (whole && i < n && n - i >= GROUP) {
        *reinterpret_cast<float4 *>(y + i) = v;
        return;
    }
    if (inside(i, n)) y[i] = v.x;
    if (inside(i + 1, n)) y[i + 1] = v.y;
    if (inside(i + 2, n)) y[i + 2] = v.z;
    if (inside(i + 3, n)) y[i + 3] = v.w;
}

/* The arrays and the rounding of round_groups. */
struct job {
    float *y;
    const float *x;
    size_t n;
    ulp_core core;
    ulp_stream stream;
    ulp_stats *stats; /* device memory, or NULL */
};

/* The first `skip` elements of the first group are before the array, so that a group has the words of one block. whole:
 * groups are aligned to 16 bytes in both arrays. */
template <int MODE, int SHAPE, bool COUNT>
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    round_groups(const __grid_constant__ job w, uint32_t skip, bool whole) {
    const ulp_core &core = w.core;
    const uint32_t mode = MODE == ANY_MODE ? core.mode : (uint32_t)MODE;
    const size_t n = w.n;
    const bool stochastic = ulp_mode_is_stochastic(mode);
    const size_t groups = (skip + n + GROUP - 1) / GROUP, stride = ulp_cuda_threads();
    ulp_cuda_counters s = {};
    for (size_t g = ulp_cuda_thread(); g < groups; g += AT_ONCE * stride) {
        float4 v[AT_ONCE];
        size_t at[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            at[j] = (g + j * stride) * GROUP - skip;
            if (g + j * stride < groups) v[j] = load_group(w.x, at[j], n, whole);
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            if (g + j * stride >= groups) break;
            const size_t i = at[j];
            philox4x32_ctr_t word = {{0, 0, 0, 0}};
            if (stochastic)
                word = ulp_random_block(w.stream.seed, w.stream.stream, (w.stream.first + skip + i) / GROUP);
            ulp_cuda_counters own = {}, other = {};
            v[j].x = round_one<SHAPE, COUNT>(v[j].x, core, mode, word.v[0], inside(i, n) ? &own : &other);
            v[j].y = round_one<SHAPE, COUNT>(v[j].y, core, mode, word.v[1], inside(i + 1, n) ? &own : &other);
            v[j].z = round_one<SHAPE, COUNT>(v[j].z, core, mode, word.v[2], inside(i + 2, n) ? &own : &other);
            v[j].w = round_one<SHAPE, COUNT>(v[j].w, core, mode, word.v[3], inside(i + 3, n) ? &own : &other);
            store_group(w.y, i, n, whole, v[j]);
            if (!COUNT) continue;
            s.overflow += own.overflow;
            s.saturated += own.saturated;
            s.underflow += own.underflow;
            s.subnormal += own.subnormal;
            s.zero += own.zero;
            s.nan += own.nan;
        }
    }
    if (COUNT) ulp_cuda_add_counters(w.stats, s);
}

/* A rounding by the scalar definition. */
struct scalar_rounding {
    ulp_format format;
    ulp_rule rule;
    ulp_stream stream;
    ulp_stats *stats; /* device memory, or NULL */
};

/* Any format, any rule, floats or doubles: the scalar definition, element by element. */
template <typename T, bool COUNT>
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    round_scalar(T *y, const T *x, size_t n, const __grid_constant__ scalar_rounding how) {
    const bool stochastic = ulp_mode_is_stochastic(how.rule.mode);
    ulp_stats s = {};
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) {
        const uint32_t word = stochastic ? ulp_random_word(how.stream, i) : 0;
        const ulp_exact exact = ulp_exact_of((double)x[i]);
        const double r = ulp_round_exact(ulp_flush_operand(exact, &how.format), &how.format, how.rule, word);
        y[i] = (T)r;
        if (COUNT) ulp_stats_count(&s, exact, r, &how.format, how.rule, word);
    }
    if (COUNT) ulp_cuda_add_counters(how.stats, ulp_cuda_counters_of(&s));
}

/* ---- launches ---- */

template <int MODE, int SHAPE> ulp_status launch(const job &w) {
    const uint32_t skip = ulp_mode_is_stochastic(w.core.mode) ? (uint32_t)(w.stream.first & 3u) : 0;
    const uintptr_t before = skip * sizeof(float);
    const bool whole = ((((uintptr_t)w.x - before) | ((uintptr_t)w.y - before)) & 15u) == 0;
    const unsigned blocks = ulp_cuda_blocks((w.n + skip + GROUP - 1) / GROUP);
    if (w.stats != NULL)
        return ulp_cuda_launch("round", round_groups<MODE, SHAPE, true>, blocks, ULP_CUDA_THREADS, w, skip, whole);
    return ulp_cuda_launch("round", round_groups<MODE, SHAPE, false>, blocks, ULP_CUDA_THREADS, w, skip, whole);
}

/* Frequent modes and shapes have kernels of their own. */
ulp_status launch_core(const job &w) {
    if (!w.core.symmetric) return launch<ANY_MODE, ANY_SHAPE>(w);
    if (w.core.mode == ULP_RNE && w.core.shape == ULP_SHAPE_NARROW) return launch<ULP_RNE, ULP_SHAPE_NARROW>(w);
    if (w.core.mode == ULP_RNE && w.core.shape == ULP_SHAPE_WIDE) return launch<ULP_RNE, ULP_SHAPE_WIDE>(w);
    if (w.core.mode == ULP_SRA && w.core.shape == ULP_SHAPE_WIDE) return launch<ULP_SRA, ULP_SHAPE_WIDE>(w);
    if (w.core.mode == ULP_SRA) return launch<ULP_SRA, ULP_SHAPE_ANY>(w);
    return launch<ANY_MODE, ANY_SHAPE>(w);
}

/* how.stats is device memory or NULL. */
template <typename T> ulp_status launch_scalar(T *y, const T *x, size_t n, const ulp_rounding &how) {
    auto *const kernel = how.stats != NULL ? round_scalar<T, true> : round_scalar<T, false>;
    const scalar_rounding on_device = {*how.format, how.rule, how.stream, how.stats};
    return ulp_cuda_launch("round", kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, y, x, n, on_device);
}

} // namespace

ulp_status ulp_cuda_round(float *y, const float *x, size_t n, ulp_rounding how) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || n == 0) return status;
    ulp_cuda_counting counting;
    status = ulp_cuda_counting_begin(&counting, how.stats);
    how.stats = counting.device;
    job w = {y, x, n, {}, how.stream, how.stats};
    if (status == ULP_OK)
        status = ulp_core_init(&w.core, how.format, how.rule) ? launch_core(w) : launch_scalar(y, x, n, how);
    return ulp_cuda_counting_end(&counting, n, status);
}

ulp_status ulp_cuda_round64(double *y, const double *x, size_t n, ulp_rounding how) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || n == 0) return status;
    ulp_cuda_counting counting;
    status = ulp_cuda_counting_begin(&counting, how.stats);
    how.stats = counting.device;
    if (status == ULP_OK) status = launch_scalar(y, x, n, how);
    return ulp_cuda_counting_end(&counting, n, status);
}
