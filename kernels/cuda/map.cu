// map.cu - elementwise operations on arrays, the exact result rounded once; several of them in one pass over memory.
#include "counting.h"
#include "operations.h"
#include "kernels/rounding/core.h"
#include "kernels/products/exact_step.h"
#include "words.h"

namespace {

/* The ways to round results: by the hardware, by the core from one binary64 number, by the scalar definition. */
enum way { NATIVE, CORE, SCALAR };

struct rounding {
    ulp_format format;
    ulp_rule rule;
    ulp_stream stream;
    ulp_core core;
    uint8_t op, way, stochastic;
};

rounding rounding_of(int op, const ulp_format *format, ulp_rule rule, ulp_stream stream) {
    rounding r = {*format, rule, stream, {}, (uint8_t)op, SCALAR, (uint8_t)ulp_mode_is_stochastic(rule.mode)};
    if (!ulp_core_init(&r.core, format, rule)) return r;
    if (op >= ULP_STEP_ROUND || ulp_core64_decides(&r.core)) r.way = CORE;
    if (ulp_core_is_binary32(&r.core)) r.way = NATIVE;
    return r;
}

__device__ float native(int op, float a, float b, float c) {
    float y = a;
    switch (op) {
    case ULP_ADD: y = a + b; break;
    case ULP_SUB: y = a - b; break;
    case ULP_MUL: y = a * b; break;
    case ULP_DIV: y = a / b; break;
    case ULP_SQRT: y = __builtin_sqrtf(a); break;
    case ULP_FUSED: y = __fmaf_rn(a, b, c); break;
    default: break;
    }
    return y == y ? y : ulp_from_bits32(0x7fc00000u);
}

__device__ float one_result(const rounding &r, float a, float b, float c, uint32_t word) {
    if (r.op == ULP_STEP_LIMIT) a = ulp_limited(a, b);
    if (r.way == NATIVE) return native(r.op, a, b, c);
    if (r.way == SCALAR) {
        const ulp_scalar_op op = {(ulp_op)r.op, (double)a, (double)b, (double)c};
        const ulp_exact x = r.op >= ULP_STEP_ROUND ? ulp_exact_of(op.a) : ulp_exact_op(op);
        return (float)ulp_round_exact(x, &r.format, r.rule, word);
    }
    if (r.op >= ULP_STEP_ROUND) {
        const uint32_t u = ulp_bits32(a);
        return ulp_from_bits32(ulp_core_finish(u, ulp_core_any(u, &r.core, r.core.mode, word), &r.core, 0));
    }
    const double z = ulp_odd_op((ulp_op)r.op, (double)a, (double)b, (double)c, r.core.mode);
    return (float)ulp_core_round64(z, &r.core, r.core.mode, word);
}

template <bool COUNT>
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    map_kernel(float *y, ulp_array_op op, size_t n, const __grid_constant__ rounding r, ulp_stats *stats) {
    ulp_stats s = {};
    for (size_t i = ulp_cuda_thread() * 4; i < n; i += ulp_cuda_threads() * 4) {
        uint32_t word[4] = {0, 0, 0, 0};
        if (r.stochastic) ulp_words_of_four(word, r.stream, i);
        for (uint32_t e = 0; e < 4 && i + e < n; e++) {
            const size_t at = i + e;
            const float a = op.a[at], b = op.b == NULL ? 0.0f : op.b[at], c = op.c == NULL ? 0.0f : op.c[at];
            const float result = one_result(r, a, b, c, word[e]);
            if (COUNT) {
                const double z = ulp_odd_op((ulp_op)r.op, (double)a, (double)b, (double)c, r.rule.mode);
                ulp_stats_count(&s, ulp_exact_of(z), (double)result, &r.format, r.rule, word[e]);
            }
            y[at] = result;
        }
    }
    if (COUNT) ulp_cuda_add_counters(stats, ulp_cuda_counters_of(&s));
}

/* ---- several steps ---- */

struct step {
    rounding how;
    ulp_operand y, a, b, c;
};

__device__ float fetch(const ulp_operand &o, const float *scratch, size_t i) {
    switch (o.kind) {
    case ULP_OPERAND_ARRAY: return o.at[i];
    case ULP_OPERAND_VALUE: return o.value;
    case ULP_OPERAND_SCRATCH: return scratch[o.slot];
    default: return 0.0f;
    }
}

/* The first steps of a list are arguments of the launch; a longer list is in device memory. */
enum { ARGUMENTS = 16 };
struct step_list {
    const step *longer; /* NULL: the steps are `first` */
    size_t count;
    step first[ARGUMENTS];
};
static_assert(sizeof(step_list) < 32764, "a launch has 32,764 bytes of arguments (CUDA 12.1 and later)");

/* Runs all steps on an element before the next element. A step may read the results of earlier steps for this
 * element. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS) update_kernel(const __grid_constant__ step_list list, size_t n) {
    const step *const steps = list.longer != NULL ? list.longer : list.first;
    const size_t count = list.count;
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) {
        float scratch[ULP_UPDATE_SCRATCH] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (size_t k = 0; k < count; k++) {
            const step &s = steps[k];
            const uint32_t word = s.how.stochastic ? ulp_random_word(s.how.stream, i) : 0;
            const float y =
                one_result(s.how, fetch(s.a, scratch, i), fetch(s.b, scratch, i), fetch(s.c, scratch, i), word);
            if (s.y.kind == ULP_OPERAND_ARRAY) s.y.at[i] = y;
            else scratch[s.y.slot] = y;
        }
    }
}

step prepared(const ulp_update_step &s) {
    const int operands = ulp_step_operands(s.op);
    const ulp_operand none = {};
    return {rounding_of(s.op, &s.format, s.rule, s.stream), s.y, s.a, operands > 1 ? s.b : none,
            operands > 2 ? s.c : none};
}

/* The bits of magnitudes have the order of the magnitudes; Inf is above the numbers and NaN is above Inf.
 * Magnitudes with larger bits than `past` do not count. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    largest_kernel(uint32_t *most, const float *x, size_t n, uint32_t past) {
    uint32_t own = 0;
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) {
        const uint32_t magnitude = ulp_bits32(x[i]) & 0x7fffffffu;
        own = ulp_max_u32(own, magnitude > past ? 0 : magnitude);
    }
    own = __reduce_max_sync(0xffffffffu, own);
    if (threadIdx.x % 32 == 0 && own != 0) atomicMax(most, own);
}

} // namespace

ulp_status ulp_cuda_map(float *y, ulp_array_op op, size_t n, ulp_rounding how) {
    const int operands = ulp_op_operands(op.op);
    if (operands < 2) op.b = NULL;
    if (operands < 3) op.c = NULL;
    ULP_TRY(ulp_cuda_open());
    if (n == 0) return ULP_OK;
    const rounding r = rounding_of(op.op, how.format, how.rule, how.stream);
    const unsigned blocks = ulp_cuda_blocks((n + 3) / 4);
    ulp_cuda_counting counting;
    ulp_status status = ulp_cuda_counting_begin(&counting, how.stats);
    auto *const kernel = how.stats != NULL ? map_kernel<true> : map_kernel<false>;
    if (status == ULP_OK)
        status = ulp_cuda_launch("map", kernel, blocks, ULP_CUDA_THREADS, y, op, n, r, counting.device);
    return ulp_cuda_counting_end(&counting, n, status);
}

ulp_status ulp_cuda_update(const ulp_update_step *list, size_t steps, size_t n) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || steps == 0 || n == 0) return status;
    step_list all = {NULL, steps, {}};
    step *host = all.first, *device = NULL;
    if (steps > ARGUMENTS) {
        host = static_cast<step *>(malloc(steps * sizeof *host));
        device = static_cast<step *>(ulp_cuda_room(steps * sizeof *device));
        if (host == NULL || device == NULL) status = ULP_NO_MEMORY;
    }
    for (size_t k = 0; k < steps && status == ULP_OK; k++) host[k] = prepared(list[k]);
    if (status == ULP_OK && device != NULL) status = ulp_cuda_upload(device, host, steps * sizeof *host);
    all.longer = device;
    if (status == ULP_OK)
        status = ulp_cuda_launch("update", update_kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, all, n);
    ulp_cuda_release(device);
    if (host != all.first) free(host);
    return status;
}

ulp_status ulp_cuda_largest(float *y, const float *x, size_t n, int finite) {
    ULP_TRY(ulp_cuda_open());
    uint32_t most = 0, *device = static_cast<uint32_t *>(ulp_cuda_room(sizeof *device));
    if (device == NULL) return ULP_NO_MEMORY;
    ulp_status status = ulp_cuda_zero(device, sizeof *device);
    if (status == ULP_OK && n > 0)
        status = ulp_cuda_launch("largest", largest_kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, device, x, n,
                                 finite ? 0x7f7fffffu : 0x7fffffffu);
    if (status == ULP_OK) status = ulp_cuda_download(&most, device, sizeof most);
    ulp_cuda_release(device);
    if (status == ULP_OK) *y = ulp_from_bits32(most > 0x7f800000u ? 0x7fc00000u : most);
    return status;
}
