/* block_parts.c - matrices in block-scaled formats as elements and scales, and groups of blocks with a correction; by
 * the steps of formats/block_units.h.
 */
#include "block_plan.h"
#include "formats/block_units.h"

static void convert_part(void *context, size_t begin, size_t end) {
    for (size_t k = begin; k < end; k++) ulp_block_unit(context, k);
}

static ulp_status convert(ulp_block_matrix m, float *tensor_scale) {
    const size_t n = m.rows * m.columns;
    float amax = 0.0f;
    if (m.cast.has_tensor_scale && n > 0) ULP_TRY(ULP_CPU(ulp_cpu_largest)(&amax, m.x, n, 1));
    *tensor_scale = m.tensor_scale = ulp_block_cast_tensor_scale(&m.cast, amax);
    if (n > 0) ulp_parallel_for(ulp_block_units(&m), 64, convert_part, &m);
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_cpu_block_parts)(float *elements, float *scales, float *tensor_scale, const float *x,
                                        size_t rows, size_t columns, const ulp_block_cast *cast) {
    return convert(
        ulp_block_matrix_of(x, rows, columns, cast, 1.0f, (ulp_block_results){.elements = elements, .scales = scales}),
        tensor_scale);
}

ulp_status ULP_CPU(ulp_block_groups)(float *y, const float *x, size_t rows, size_t columns,
                                     const ulp_block_cast *cast) {
    float tensor_scale;
    return convert(ulp_block_matrix_of(x, rows, columns, cast, 1.0f, (ulp_block_results){.values = y}), &tensor_scale);
}
