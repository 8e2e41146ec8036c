/* block.h - block-scaled formats: elements of few bits that share a scale, how the scale is found, conversion.
 *
 * A block is `size` neighbours in an array and one scale; element e stands for e * scale (OCP MX v1.0, section 5) or
 * e * scale * tensor scale (NVFP4: one binary32 number for the whole array). Each decision is one rounding of an exact
 * value: amax / divisor to the scale format, x / (scale * tensor scale) to the element format, and e * scale * tensor
 * scale to nearest in binary32 where it becomes a float; in MX this last one is exact up to binary32's range. Common
 * software (torchao, Transformer Engine) multiplies by rounded reciprocals. In NVFP4 this gives other elements. In MX
 * it gives the same elements at all scales but the smallest: scale code 0 stands for 2^-127, and torchao divides by
 * 2^-126 there.
 *
 * The special cases:
 *   - amax, the largest magnitude, is taken over the finite values: NaN and Inf leave the scale to the others.
 *   - the scale is clamped to the positive finite values of its format: 2^-127 .. 2^127 in e8m0, 2^-9 .. 448 in e4m3.
 *     Tiny values become subnormal elements or zero. A block of zeros, the limit of tiny ones, gets the smallest scale:
 *     its zeros decode to zeros of their sign, and a scale that small aligns nothing away in a sum. In e8m0 this is the
 *     smallest scale of torchao, too; in e4m3 the smallest scale of torchao is 2^-6, and here it is 2^-9.
 *   - finite values past the element's range: under the policy `default` they clamp to max with their sign in every
 *     element format (OCP MX v1.0, section 6.3); mxint8 then never holds -2. Other policies act as in round.h.
 *   - infinite values: under `default`, Inf where the element format has it (e5m2), else NaN. Under `sat` they are the
 *     end of the element's range, at the scale that the finite values chose.
 *   - NaN is a NaN element. Element formats without NaN (e3m2, e2m3, e2m1, fixed point): the scale becomes NaN, and
 *     with it the whole block (OCP MX v1.0, section 5.1); its element codes are 0.
 *   - a last block that is not full has fewer elements, nothing is padded. Blocks run on through an array: the rows of
 *     a matrix whose length is not a multiple of the size are converted one by one.
 */
#ifndef ULP_BLOCK_H
#define ULP_BLOCK_H

#include "scale.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the scale follows from amax: X(enumerator, name, meaning). max is the element's largest value, emax its exponent
 * floor(log2 max), p its significand bits (fixed point: bits - 1). The meanings are those of power-of-two scales. Other
 * scales are amax / max, rounded toward zero by floor, to nearest even by even, up by ceil and noclip.
 *   floor   OCP MX v1.0, section 6.3; torchao's FLOOR, microxcaling. amax may clip: amax / scale < 2 2^emax
 *   ceil    torchao's CEIL. Never clips: amax / scale <= 2^emax
 *   even    torchao's EVEN. amax may clip, by less: amax / scale < (2 - 2^-p) 2^emax
 *   noclip  torchao's RCEIL, cuBLAS's block quantization. The smallest scale with amax / scale <= max
 * "Never" ends where the scale is clamped. With a tensor scale, amax / tensor scale takes the place of amax. */
#define ULP_SCALE_RULES(X)                                                                                             \
    X(ULP_SCALE_FLOOR, "floor", "2^(floor(log2 amax) - emax)")                                                         \
    X(ULP_SCALE_CEIL, "ceil", "2^(ceil(log2 amax) - emax)")                                                            \
    X(ULP_SCALE_EVEN, "even", "2^(floor(log2 (amax to p bits, nearest even)) - emax)")                                 \
    X(ULP_SCALE_NOCLIP, "noclip", "2^ceil(log2 (amax / max))")

typedef enum ulp_scale_rule {
#define ULP_SCALE_RULE_ID(id, name, meaning) id,
    ULP_SCALE_RULES(ULP_SCALE_RULE_ID)
#undef ULP_SCALE_RULE_ID
        ULP_SCALE_RULE_COUNT
} ulp_scale_rule;

/* "floor", ... and what they mean; NULL past the end. */
const char *ulp_scale_rule_name(ulp_scale_rule rule);
const char *ulp_scale_rule_meaning(ulp_scale_rule rule);

/* A block-scaled format, plain data. A registered one may be changed: another size, other formats. */
typedef struct ulp_block {
    char name[ULP_NAME_MAX]; /* the registered name, and :RULE where the rule is not the registered one */
    ulp_format element;      /* up to 8 bits */
    ulp_format scale;        /* floating point, up to 8 bits, with NaN; the sign bit of a signed one is not looked at */
    uint32_t size;           /* elements per scale, from 1 */
    uint32_t rule;           /* ulp_scale_rule */
} ulp_block;

/* The number of registered block formats. */
extern const size_t ulp_block_count;

/* Row `i` of the registry and its descriptor; ULP_BAD_ARGUMENT past the end. Either pointer may be NULL. */
ulp_status ulp_block_get(size_t i, ulp_block *block, const ulp_format_row **row);

/* The block format called `text`, in any case: a registered name or alias and, if wanted, a scale rule: mxfp4:noclip.
 * ULP_BAD_NAME if there is none. *block is written only on ULP_OK. */
ulp_status ulp_block_parse(ulp_block *block, const char *text);

/* Whether a descriptor is one that the functions below can work with: ULP_BAD_ARGUMENT where a number is out of range,
 * ULP_UNSUPPORTED for formats other than said above. */
ulp_status ulp_block_check(const ulp_block *block);

/* ceil(n / size): the number of scales of n elements. */
size_t ulp_block_scales(size_t n, const ulp_block *block);

/* The value of a scale code: positive, 0 (e4m3 only, never encoded) or NaN. */
double ulp_block_scale_value(uint8_t code, const ulp_block *block);

/* The code of the scale of one block x (n) by the block's rule, NaN and Inf in x left aside, any n. tensor_scale as
 * below. ULP_BAD_ARGUMENT: null, a tensor scale that is not positive and finite; else as ulp_block_check. */
ulp_status ulp_block_scale(uint8_t *code, const float *x, size_t n, const ulp_block *block, float tensor_scale);

/* The tensor scale of NVFP4 for an array whose largest magnitude is `amax`: amax / (max * largest scale), rounded to
 * nearest in binary32, at least 2^-149; 1 where amax is 0, NaN or infinite. NVIDIA, Pretraining Large Language Models
 * with NVFP4, 2025, arXiv:2509.25149. */
float ulp_block_tensor_scale(float amax, const ulp_block *block);

/* x (n) to element codes (n), in the low bits of a byte each, and scale codes (ceil(n / size)). tensor_scale: 1.0f for
 * none. `rule` rounds the elements; the word of element i has index stream.first + i. Errors as ulp_block_scale and
 * ulp_element_check. */
ulp_status ulp_block_encode(uint8_t *elements, uint8_t *scales, const float *x, size_t n, const ulp_block *block,
                            float tensor_scale, ulp_rule rule, ulp_stream stream);

/* The values y (n) of element codes (n) and scale codes (ceil(n / size)); any codes. Values past binary32's range are
 * infinite, a zero element times a NaN scale is NaN. Errors as ulp_block_scale. */
ulp_status ulp_block_decode(float *y, const uint8_t *elements, const uint8_t *scales, size_t n, const ulp_block *block,
                            float tensor_scale);

/* y (n) = what ulp_block_decode makes of ulp_block_encode's codes, without the codes; y may be x. */
ulp_status ulp_block_round(float *y, const float *x, size_t n, const ulp_block *block, float tensor_scale,
                           ulp_rule rule, ulp_stream stream);

#ifdef __cplusplus
}
#endif
#endif
