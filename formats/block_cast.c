/* block_cast.c - a matrix in a block-scaled format, as values: its blocks, one after the other; see block_cast.h. */
#include "block_cast.h"

ulp_status ulp_block_cast_check(const ulp_block_cast *c) {
    if (c == NULL || c->has_tensor_scale > 1 || c->along >= ULP_ALONG_COUNT || c->tiles > 1) return ULP_BAD_ARGUMENT;
    ULP_TRY(ulp_block_check(&c->block));
    if (c->has_tensor_scale && c->block.scale.prec == 1) return ULP_UNSUPPORTED;
    return ulp_element_check(&c->block.element, c->rule);
}

float ulp_block_cast_tensor_scale(const ulp_block_cast *c, float amax) {
    return c->has_tensor_scale ? ulp_block_tensor_scale((double)amax, &c->block) : 1.0f;
}

ulp_status ulp_block_cast_values(float *y, const float *x, size_t rows, size_t columns, const ulp_block_cast *c) {
    ULP_TRY(ulp_block_cast_check(c));
    const size_t n = rows * columns, parts = n > 0 ? ulp_block_cast_parts(rows, columns, c) : 0;
    if (n > 0 && (y == NULL || x == NULL)) return ULP_BAD_ARGUMENT;
    const float tensor_scale = ulp_block_cast_tensor_scale(c, n > 0 ? ulp_amax(x, n, 1) : 0.0f);
    for (size_t k = 0; k < parts; k++) {
        const ulp_block_part part = ulp_block_cast_part(k, rows, columns, c);
        ulp_block_round_part(y, x, &part, &c->block, tensor_scale, c->rule, c->stream);
    }
    return ULP_OK;
}
