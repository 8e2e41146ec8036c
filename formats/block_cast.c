/* block_cast.c - a matrix in a block-scaled format: its blocks, one after the other; see block_cast.h. */
#include "block_units.h"

ulp_status ulp_block_cast_check(const ulp_block_cast *c) {
    if (c == NULL || c->has_tensor_scale > 1 || c->along >= ULP_ALONG_COUNT || c->tiles > 1) return ULP_BAD_ARGUMENT;
    ULP_TRY(ulp_block_check(&c->block));
    if (c->has_tensor_scale && c->block.scale.prec == 1) return ULP_UNSUPPORTED;
    if (c->eden % c->block.size != 0) return ULP_BAD_ARGUMENT;
    if (c->eden > 0 && (c->tiles || ulp_mode_is_stochastic(c->rule.mode))) return ULP_UNSUPPORTED;
    if (c->eden > 0) ULP_TRY(ulp_element_check(&c->block.scale, (ulp_rule){ULP_SRA, ULP_OVERFLOW_SAT, 0}));
    return ulp_element_check(&c->block.element, c->rule);
}

float ulp_block_cast_tensor_scale(const ulp_block_cast *c, float amax) {
    ulp_block block = c->block;
    if (c->eden > 0) block.rule = ULP_SCALE_MSE46;
    return c->has_tensor_scale ? ulp_block_tensor_scale((double)amax, &block) : 1.0f;
}

static ulp_status convert(const float *x, size_t rows, size_t columns, const ulp_block_cast *c, ulp_block_results to,
                          float *tensor_scale) {
    ULP_TRY(ulp_block_cast_check(c));
    const size_t n = rows * columns;
    *tensor_scale = ulp_block_cast_tensor_scale(c, n > 0 ? ulp_amax(x, n, 1) : 0.0f);
    if (n == 0) return ULP_OK;
    const ulp_block_matrix m = ulp_block_matrix_of(x, rows, columns, c, *tensor_scale, to);
    for (size_t k = 0, units = ulp_block_units(&m); k < units; k++) ulp_block_unit(&m, k);
    return ULP_OK;
}

ulp_status ulp_block_cast_values(float *y, const float *x, size_t rows, size_t columns, const ulp_block_cast *c) {
    float tensor_scale;
    if (rows * columns > 0 && (y == NULL || x == NULL)) return ULP_BAD_ARGUMENT;
    return convert(x, rows, columns, c, (ulp_block_results){.values = y}, &tensor_scale);
}

ulp_status ulp_block_cast_elements(float *elements, float *scales, float *tensor_scale, const float *x, size_t rows,
                                   size_t columns, const ulp_block_cast *c) {
    if (tensor_scale == NULL || (rows * columns > 0 && (elements == NULL || scales == NULL || x == NULL)))
        return ULP_BAD_ARGUMENT;
    return convert(x, rows, columns, c, (ulp_block_results){.elements = elements, .scales = scales}, tensor_scale);
}
