/* blocks.c - block-scaled formats, for other languages. */
#include "message.h"

#include <stdlib.h>

ulp_status ulp_foreign_block(ulp_block **block, const char *name) {
    ulp_foreign_words words = {0};
    ULP_TRY(ulp_foreign_arithmetic());
    ulp_block *const made = ulp_foreign_object(sizeof *made);
    if (made == NULL) return ULP_NO_MEMORY;
    if (name != NULL && ulp_block_parse(made, name) == ULP_OK) {
        *block = made;
        return ULP_OK;
    }
    free(made);
    for (size_t i = 0; ulp_foreign_block_text(i, ULP_FOREIGN_NAME) != NULL; i++)
        ulp_foreign_add_word(&words, ulp_foreign_block_text(i, ULP_FOREIGN_NAME));
    return ulp_foreign_unknown("block format", name != NULL ? name : "", words.text);
}

const char *ulp_foreign_block_text(size_t i, int which) {
    const ulp_format_row *row;
    if (ulp_block_get(i, NULL, &row) != ULP_OK) return NULL;
    return which == ULP_FOREIGN_NAME ? row->name : which == ULP_FOREIGN_ALIASES ? row->aliases : row->source;
}

const char *ulp_foreign_block_part(const ulp_block *block, int which) {
    switch (which) {
    case ULP_FOREIGN_B_NAME: return block->name;
    case ULP_FOREIGN_B_ELEMENT: return block->element.name;
    case ULP_FOREIGN_B_SCALE: return block->scale.name;
    default: return ulp_scale_rule_name((ulp_scale_rule)block->rule);
    }
}

size_t ulp_foreign_block_size(const ulp_block *block) { return block->size; }

float ulp_foreign_tensor_scale(const ulp_block *block, double amax) { return ulp_block_tensor_scale(amax, block); }

ulp_status ulp_foreign_block_encode(const ulp_block *block, uint8_t *elements, uint8_t *scales, const void *x, int wide,
                                    size_t rows, size_t n, float tensor_scale, const ulp_rounder *r, uint64_t seed,
                                    uint64_t stream, uint64_t first) {
    const ulp_block_array array = {block, n, tensor_scale};
    const size_t per_row = ulp_block_scales(n, block);
    ulp_status status = ULP_OK;
    if (!wide)
        status = ulp_backend_block_encode(r->backend, elements, scales, x, rows, array, r->rule,
                                          (ulp_stream){seed, stream, first});
    for (size_t i = 0; i < rows && wide && status == ULP_OK; i++)
        status = ulp_block_encode64(elements + i * n, scales + i * per_row, (const double *)x + i * n, array, r->rule,
                                    (ulp_stream){seed, stream, first + i * n});
    return ulp_foreign_status(status, r->backend, block->name);
}

ulp_status ulp_foreign_block_decode(const ulp_block *block, float *y, const uint8_t *elements, const uint8_t *scales,
                                    size_t rows, size_t n, float tensor_scale) {
    const ulp_backend *processor;
    ULP_TRY(ulp_foreign_backend(&processor, NULL));
    return ulp_foreign_status(
        ulp_backend_block_decode(processor, y, elements, scales, rows, (ulp_block_array){block, n, tensor_scale}),
        processor, block->name);
}

ulp_status ulp_foreign_hadamard(const ulp_rounder *r, float *y, const float *x, size_t rows, size_t columns, uint32_t g,
                                int signs, int inverse, uint64_t sign_seed, uint64_t sign_stream, uint64_t seed,
                                uint64_t stream, uint64_t first) {
    const ulp_hadamard how = {.g = g,
                              .signs = (uint8_t)signs,
                              .inverse = (uint8_t)(inverse != 0),
                              .sign_stream = {sign_seed, sign_stream, 0}};
    if (g < 2 || g > ULP_HADAMARD_MOST || (g & (g - 1)) != 0)
        return ulp_foreign_fail(ULP_BAD_ARGUMENT, "g is %u; groups have a power of two of numbers from 2 to %d", g,
                                ULP_HADAMARD_MOST);
    if (signs == ULP_SIGNS_FIXED && g != 16)
        return ulp_foreign_fail(ULP_BAD_ARGUMENT, "g is %u; Transformer Engine has signs for g = 16", g);
    if (columns % g != 0)
        return ulp_foreign_fail(ULP_BAD_ARGUMENT, "the axis has %zu numbers, which is no multiple of g, %u", columns,
                                g);
    return ulp_foreign_status(ulp_backend_hadamard(r->backend, y, x, rows, columns, &how,
                                                   (ulp_rounding){&r->format, r->rule, {seed, stream, first}, NULL}),
                              r->backend, r->format.name);
}
