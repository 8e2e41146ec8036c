// block_cast.cu - matrices in block-scaled formats, and the Hadamard transform: a thread converts a unit of blocks or
// transforms a group, in the order of the definition.
#include "counting.h"
#include "device.h"
#include "operations.h"
#include "formats/block_units.h"
#include "formats/rng.h"
#include "kernels/functions/hadamard_steps.h"

namespace {

__global__ void __launch_bounds__(ULP_CUDA_THREADS) cast_blocks(const __grid_constant__ ulp_block_matrix m) {
    const size_t units = ulp_block_units(&m);
    for (size_t k = ulp_cuda_thread(); k < units; k += ulp_cuda_threads()) ulp_block_unit(&m, k);
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

static ulp_status convert(ulp_block_matrix m, float *tensor_scale) {
    const size_t n = m.rows * m.columns;
    float amax = 0.0f;
    ULP_TRY(ulp_cuda_open());
    if (m.cast.has_tensor_scale && n > 0) ULP_TRY(ulp_cuda_largest(&amax, m.x, n, 1));
    *tensor_scale = m.tensor_scale = ulp_block_cast_tensor_scale(&m.cast, amax);
    return n == 0 ? ULP_OK : ulp_cuda_over(ulp_block_units(&m), "block_cast", cast_blocks, m);
}

ulp_status ulp_cuda_block_cast(float *y, const float *x, size_t rows, size_t columns, const ulp_block_cast *cast) {
    float tensor_scale;
    return convert(ulp_block_matrix_of(x, rows, columns, cast, 1.0f, {y, NULL, NULL}), &tensor_scale);
}

ulp_status ulp_cuda_block_parts(float *elements, float *scales, float *tensor_scale, const float *x, size_t rows,
                                size_t columns, const ulp_block_cast *cast) {
    return convert(ulp_block_matrix_of(x, rows, columns, cast, 1.0f, {NULL, elements, scales}), tensor_scale);
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
