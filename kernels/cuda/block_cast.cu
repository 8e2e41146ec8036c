// block_cast.cu - matrices in block-scaled formats, as values, and the Hadamard transform: a thread converts a block or
// transforms a group, in the order of the definition.
#include "counting.h"
#include "device.h"
#include "operations.h"
#include "formats/block_steps.h"
#include "formats/rng.h"
#include "kernels/functions/hadamard_steps.h"

namespace {

/* Element i under the factor of its block. */
__device__ double element_of(const ulp_block_numbers &n, size_t i, double factor, const ulp_block_cast &c) {
    const ulp_format *const f = &c.block.element;
    const uint32_t word = ulp_mode_is_stochastic(c.rule.mode) ? ulp_random_word(c.stream, i) : 0;
    const bool wraps = c.rule.overflow == ULP_OVERFLOW_WRAP && factor != 0.0;
    const ulp_exact quotient = wraps
                                   ? ulp_exact_div_wrapped(ulp_block_number(&n, i), ulp_exact_of(factor), f->qmin - 40)
                                   : ulp_block_quotient(&n, i, factor);
    return ulp_block_element_step(quotient, f, c.rule, word);
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    cast_blocks(float *y, const float *x, size_t rows, size_t columns, const __grid_constant__ ulp_block_cast c,
                float tensor_scale) {
    const size_t parts = ulp_block_cast_parts(rows, columns, &c);
    for (size_t k = ulp_cuda_thread(); k < parts; k += ulp_cuda_threads()) {
        const ulp_block_numbers n = {x, NULL, NULL, ulp_block_cast_part(k, rows, columns, &c)};
        const double scale = ulp_block_scale_step(&n, ulp_exact_of(ulp_block_amax(&n)), &c.block, tensor_scale);
        const double factor = scale * (double)tensor_scale;
        bool is_nan = false;
        ULP_BLOCK_EACH(&n.part, i) {
            const double e = element_of(n, i, factor, c);
            is_nan |= e != e;
            y[i] = ulp_block_value_step(e, factor);
        }
        if (!is_nan || c.block.element.nan_codes != ULP_NAN_NONE) continue;
        ULP_BLOCK_EACH(&n.part, i) y[i] = ulp_from_bits32(0x7fc00000u);
    }
}

/* A transform and the rounding of its results. */
struct transform {
    ulp_hadamard how;
    ulp_format format;
    ulp_rule rule;
    ulp_stream stream;
    ulp_stats *stats; /* device memory, or NULL */
    double factor;
};

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    transform_groups(float *y, const float *x, size_t groups, size_t columns, const __grid_constant__ transform t) {
    const bool is_row = t.how.along == ULP_ALONG_ROWS, stochastic = ulp_mode_is_stochastic(t.rule.mode);
    const size_t g = t.how.g, step = is_row ? 1 : columns;
    double v[ULP_HADAMARD_MOST];
    ulp_stats s = {};
    for (size_t k = ulp_cuda_thread(); k < groups; k += ulp_cuda_threads()) {
        const size_t first = is_row ? k * g : k / columns * g * columns + k % columns;
        for (size_t j = 0; j < g; j++)
            v[j] = (double)x[first + j * step] * (!t.how.inverse && ulp_hadamard_sign(&t.how, j) ? -1.0 : 1.0);
        ulp_hadamard_stages(v, t.how.g);
        for (size_t j = 0; j < g; j++) {
            const size_t i = first + j * step;
            const double r = v[j] * t.factor * (t.how.inverse && ulp_hadamard_sign(&t.how, j) ? -1.0 : 1.0);
            const uint32_t word = stochastic ? ulp_random_word(t.stream, i) : 0;
            const ulp_exact exact = ulp_exact_of(r);
            const double result = ulp_round_exact(ulp_flush_operand(exact, &t.format), &t.format, t.rule, word);
            y[i] = (float)result;
            if (t.stats != NULL) ulp_stats_count(&s, exact, result, &t.format, t.rule, word);
        }
    }
    if (t.stats != NULL) ulp_cuda_add_counters(t.stats, ulp_cuda_counters_of(&s));
}

} // namespace

ulp_status ulp_cuda_block_cast(float *y, const float *x, size_t rows, size_t columns, const ulp_block_cast *cast) {
    const size_t n = rows * columns;
    float amax = 0.0f;
    ULP_TRY(ulp_cuda_open());
    if (n == 0) return ULP_OK;
    if (cast->has_tensor_scale) ULP_TRY(ulp_cuda_largest(&amax, x, n, 1));
    return ulp_cuda_over(ulp_block_cast_parts(rows, columns, cast), "block_cast", cast_blocks, y, x, rows, columns,
                         *cast, ulp_block_cast_tensor_scale(cast, amax));
}

ulp_status ulp_cuda_hadamard(float *y, const float *x, size_t rows, size_t columns, const ulp_hadamard *how,
                             ulp_rounding rounding) {
    const size_t n = rows * columns;
    ULP_TRY(ulp_cuda_open());
    if (n == 0) return ULP_OK;
    ulp_cuda_counting counting;
    ulp_status status = ulp_cuda_counting_begin(&counting, rounding.stats);
    const transform t = {
        *how, *rounding.format, rounding.rule, rounding.stream, counting.device, ulp_hadamard_factor(how->g)};
    if (status == ULP_OK)
        status = ulp_cuda_over(n / how->g, "hadamard", transform_groups, y, x, n / how->g, columns, t);
    return ulp_cuda_counting_end(&counting, n, status);
}
