/* block_parts.c - matrices in block-scaled formats as elements and scales, by the steps of formats/block_units.h. */
#include "block_plan.h"
#include "formats/block_units.h"

static void convert_part(void *context, size_t begin, size_t end) {
    for (size_t k = begin; k < end; k++) ulp_block_unit(context, k);
}

ulp_status ULP_CPU(ulp_cpu_block_parts)(float *elements, float *scales, float *tensor_scale, const float *x,
                                        size_t rows, size_t columns, const ulp_block_cast *cast) {
    ulp_block_matrix m =
        ulp_block_matrix_of(x, rows, columns, cast, 1.0f, (ulp_block_results){.elements = elements, .scales = scales});
    const size_t n = rows * columns;
    float amax = 0.0f;
    if (cast->has_tensor_scale && n > 0) ULP_TRY(ULP_CPU(ulp_cpu_largest)(&amax, x, n, 1));
    *tensor_scale = m.tensor_scale = ulp_block_cast_tensor_scale(cast, amax);
    if (n > 0) ulp_parallel_for(ulp_block_units(&m), 64, convert_part, &m);
    return ULP_OK;
}
