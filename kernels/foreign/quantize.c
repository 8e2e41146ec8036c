/* quantize.c - scaled quantisation, for other languages. */
#include "message.h"

#include <stdlib.h>

#include "formats/layouts.h"

static ulp_status set_rule(ulp_quantizer *q, const char *rule) {
    if (rule == NULL || ulp_quantizer_rule(q, rule) == ULP_OK) return ULP_OK;
    ulp_foreign_words words = {0};
    for (int i = 0; i < ULP_SCALE_RULE_COUNT; i++) ulp_foreign_add_word(&words, ulp_scale_rule_name((ulp_scale_rule)i));
    ulp_foreign_add_word(&words, "mse");
    return ulp_foreign_unknown("scale rule", rule, words.text);
}

static ulp_status set_numbers(ulp_quantizer *q, const char *name, uint32_t percentile, float tensor_scale,
                              int has_zero_point, int is_narrow) {
    q->percentile = percentile;
    q->tensor_scale = tensor_scale;
    q->has_zero_point = (uint8_t)(has_zero_point != 0);
    if (is_narrow && ulp_quantizer_narrow(q) != ULP_OK)
        return ulp_foreign_fail(ULP_UNSUPPORTED, "%s has no negative integers that a narrow range leaves out", name);
    if (has_zero_point && q->low == q->high)
        return ulp_foreign_fail(ULP_UNSUPPORTED, "%s is no integer or fixed-point format, and takes no zero point",
                                name);
    if (q->book != NULL && tensor_scale != 1.0f)
        return ulp_foreign_fail(ULP_UNSUPPORTED, "the code book %s takes no tensor scale", name);
    return ulp_foreign_status(ulp_quantizer_check(q, (ulp_rule){0}), NULL, name);
}

ulp_status ulp_foreign_quantizer(ulp_quantizer **quantizer, const char *name, const char *scale, const char *rule,
                                 uint32_t percentile, float tensor_scale, int has_zero_point, int is_narrow) {
    ULP_TRY(ulp_foreign_arithmetic());
    ulp_quantizer *const made = ulp_foreign_object(sizeof *made);
    if (made == NULL) return ULP_NO_MEMORY;
    ulp_status status = ulp_quantizer_parse(made, name, scale);
    if (status != ULP_OK)
        ulp_foreign_fail(status,
                         "%s with scales of %s: %s; an element is a format of up to 16 bits, intN, uintN, uqI.F, "
                         "a code book (nf4) or a block format (block:ELEMENT,SIZE,SCALE), and a scale is a "
                         "floating-point format with NaN within binary32",
                         name, scale, ulp_status_text(status));
    if (status == ULP_OK) status = set_rule(made, rule);
    if (status == ULP_OK) status = set_numbers(made, name, percentile, tensor_scale, has_zero_point, is_narrow);
    if (status == ULP_OK) *quantizer = made;
    else free(made);
    return status;
}

const char *ulp_foreign_quantizer_text(const ulp_quantizer *q, int which) {
    if (which == ULP_FOREIGN_Q_ELEMENT) return q->block.element.name;
    if (which == ULP_FOREIGN_Q_SCALE) return q->block.scale.name;
    return q->searches ? "mse" : ulp_scale_rule_name((ulp_scale_rule)q->block.rule);
}

int64_t ulp_foreign_quantizer_number(const ulp_quantizer *q, int which) {
    switch (which) {
    case ULP_FOREIGN_Q_SIZE: return q->block.size;
    case ULP_FOREIGN_Q_BITS: return q->bits;
    case ULP_FOREIGN_Q_LOW: return q->low;
    case ULP_FOREIGN_Q_HIGH: return q->high;
    default: return q->block.scale.bits;
    }
}

static ulp_tiling tiling_of(const uint64_t shape[6]) {
    ulp_tiling t;
    for (int d = 0; d < 3; d++) {
        t.shape[d] = (size_t)shape[d];
        t.tile[d] = (size_t)shape[3 + d];
    }
    return t;
}

ulp_status ulp_foreign_quantize(const ulp_quantizer *q, uint16_t *codes, double *scales, int32_t *zero_points,
                                const double *x, const uint64_t shape[6], const ulp_rounder *r, uint64_t seed,
                                uint64_t stream, uint64_t first) {
    const ulp_quantized array = {q, tiling_of(shape), codes, scales, zero_points};
    return ulp_foreign_status(ulp_quantize(&array, x, r->rule, (ulp_stream){seed, stream, first}), NULL,
                              q->block.element.name);
}

ulp_status ulp_foreign_quantize_floats(const ulp_quantizer *q, uint8_t *codes, double *scales, int32_t *zero_points,
                                       const float *x, const uint64_t shape[6], const ulp_rounder *r, uint64_t seed,
                                       uint64_t stream, uint64_t first) {
    const ulp_tiling tiling = tiling_of(shape);
    return ulp_foreign_status(ulp_backend_quantize(r->backend, codes, scales, zero_points, x, q, &tiling, r->rule,
                                                   (ulp_stream){seed, stream, first}),
                              r->backend, q->block.element.name);
}

ulp_status ulp_foreign_dequantize(const ulp_quantizer *q, float *y, uint16_t *codes, double *scales,
                                  int32_t *zero_points, const uint64_t shape[6]) {
    const ulp_quantized array = {q, tiling_of(shape), codes, scales, zero_points};
    return ulp_foreign_status(ulp_dequantize(y, &array), NULL, q->block.element.name);
}

size_t ulp_foreign_ggml_bytes(const char *name) {
    const ulp_ggml type = ulp_ggml_parse(name);
    return type < ULP_GGML_COUNT ? ulp_ggml_bytes(type) : 0;
}

ulp_status ulp_foreign_ggml_encode(const char *name, uint8_t *bytes, const float *x, size_t blocks) {
    size_t bad = 0;
    const ulp_status status = ulp_ggml_encode(bytes, &bad, x, blocks, ulp_ggml_parse(name));
    if (status != ULP_NOT_IN_RANGE) return ulp_foreign_status(status, NULL, name);
    return ulp_foreign_fail(status,
                            "%s: the block from element %zu, counted in C order from 0, has a number that is not "
                            "finite, or a scale beyond binary16 or without a reciprocal in binary32",
                            name, bad * ULP_GGML_SIZE);
}

void ulp_foreign_ggml_decode(const char *name, float *y, const uint8_t *bytes, size_t blocks) {
    ulp_ggml_decode(y, bytes, blocks, ulp_ggml_parse(name));
}
