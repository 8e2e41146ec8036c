/* pass_operands.c - what the cast of an operand of a product is: its random words, its transform, blocks, signs; see
 * pass_inner.h and policy/operand_cast.h.
 */
#include "pass_inner.h"

static int is_weight(const ulp_pass_operand *o) { return o->use == ULP_FORWARD_W || o->use == ULP_DGRAD_W; }

static ulp_stream stream_of(const ulp_pass *pass, const ulp_site *site, uint32_t use, size_t words) {
    ulp_site own = *site;
    own.use = use;
    return ulp_pass_stream(pass, &own, words);
}

ulp_stream ulp_pass_operand_stream(const ulp_pass *pass, const ulp_site *site, const ulp_pass_operand *o) {
    const int is_low_bit = is_weight(o) && o->how->kind == ULP_OPERAND_LOW_BIT; /* both products have one choice */
    const ulp_operand_use use = is_low_bit ? ULP_FORWARD_W : o->use;
    ulp_stream stream = stream_of(pass, site, ULP_USE_OPERAND + (uint32_t)use, site->per_sample * ulp_pass_length(o));
    if (is_weight(o)) stream.first = 0;
    return stream;
}

ulp_status ulp_pass_transform(ulp_pass *pass, const ulp_site *site, const float **x, const ulp_pass_operand *o,
                              float *room) {
    const size_t g = ulp_operand_transform(o->how, ulp_pass_length(o));
    ulp_hadamard transform = {.g = (uint32_t)g,
                              .along = (uint8_t)o->along,
                              .signs = (uint8_t)(o->how->random_signs      ? ULP_SIGNS_STREAM
                                                 : o->how->transform == 16 ? ULP_SIGNS_FIXED
                                                                           : ULP_SIGNS_NONE),
                              .sign_stream = stream_of(pass, site, ULP_USE_SIGNS + (uint32_t)o->use / 2, 0)};
    transform.sign_stream.first = 0; /* all samples and ranks have the same signs */
    *x = o->x;
    if (!g) return ULP_OK;
    *x = room;
    return ulp_backend_hadamard(pass->run.backend, room, o->x, o->rows, o->columns, &transform,
                                (ulp_rounding){.format = &ulp_bfloat16});
}

ulp_block_cast ulp_pass_block_cast(const ulp_pass *pass, const ulp_site *site, const ulp_pass_operand *o) {
    const size_t g = ulp_operand_transform(o->how, ulp_pass_length(o)), size = o->how->block.size;
    return (ulp_block_cast){.block = o->how->block,
                            .rule = o->how->cast.rule,
                            .stream = ulp_pass_operand_stream(pass, site, o),
                            .has_tensor_scale = o->how->has_tensor_scale,
                            .along = (uint8_t)o->along,
                            .tiles = o->how->tiles,
                            .eden = (uint32_t)(!o->how->eden               ? 0
                                               : g > size && g % size == 0 ? g
                                                                           : size)};
}

/* The weights of dgrad are those of the forward product: their groups lie across the sum, unless they are kernels. */
ulp_low_bit ulp_pass_low_bit(const ulp_pass *pass, const ulp_site *site, const ulp_pass_operand *o) {
    const int across = o->use == ULP_DGRAD_W && site->operands != ULP_SITE_KERNELS, is_row = o->along == ULP_ALONG_ROWS;
    return (ulp_low_bit){.kind = o->how->low_bit,
                         .along = (uint8_t)(is_row != across ? ULP_ALONG_ROWS : ULP_ALONG_COLUMNS),
                         .stochastic = (uint8_t)ulp_mode_is_stochastic(o->how->cast.rule.mode),
                         .threshold = o->how->threshold,
                         .stream = ulp_pass_operand_stream(pass, site, o)};
}
