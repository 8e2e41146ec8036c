/* block.h - block-scaled formats: elements of few bits that share a scale, the rules of the scale, and conversion.
 *
 * A block is `size` neighbours in an array and one scale. Element e stands for e * scale (OCP MX v1.0, section 5) or
 * e * scale * tensor scale (NVFP4: one binary32 number for the whole array). Each of the following is one rounding of
 * an exact value: amax / divisor to the scale format, x / (scale * tensor scale) to the element format, and
 * e * scale * tensor scale to nearest in binary32 when the value becomes a float. In MX the last value is exact within
 * the range of binary32. Common software (torchao, Transformer Engine) multiplies by rounded reciprocals. In NVFP4
 * rounded reciprocals give other elements. In MX they give equal elements at all scales but the smallest: scale code 0
 * stands for 2^-127, and torchao divides by 2^-126 there.
 *
 * The special cases:
 *   - amax is the largest finite magnitude. NaN and Inf do not change the scale.
 *   - the scale is clamped to the positive finite values of its format, except under the rule te: 2^-127 .. 2^127 in
 * e8m0, 2^-9 .. 448 in e4m3. Tiny values become subnormal elements or zero. A block of zeros gets the smallest scale:
 * its zeros decode to zeros of their sign, and a scale this small removes no bits of other terms when a sum is aligned.
 * In e8m0 the smallest scale of torchao is equal. In e4m3 Transformer Engine and torchao (pull request 4598) have no
 * such clamp: their scale of zeros and of tiny values is code 00. The rule te is theirs: elements of a scale of 0 are x
 * / 0, so that zeros stay and other numbers become max with their sign; all of them decode to zero.
 *   - finite values beyond the element's range: the policy `default` clamps them to max with their sign in every
 *     element format (OCP MX v1.0, section 6.3); mxint8 then never holds -2. Other policies act as in round.h.
 *   - infinite values: `default` gives Inf where the element format has Inf (e5m2), else NaN. `sat` gives the end of
 *     the element's range, at the scale of the finite values.
 *   - NaN is a NaN element. In element formats without NaN (e3m2, e2m3, e2m1, fixed point) the scale becomes NaN, so
 *     that the whole block is NaN (OCP MX v1.0, section 5.1); its element codes are 0.
 *   - a last block that is not full has fewer elements; it is not padded. Blocks do not stop at the end of a matrix
 *     row: a matrix whose row length is not a multiple of the size is converted row by row.
 */
#ifndef ULP_BLOCK_H
#define ULP_BLOCK_H

#include "number.h"
#include "scale.h"

ULP_C_BEGIN

/* The scale rules: X(enumerator, name, meaning). max is the element's largest value, emax = floor(log2 max) its
 * exponent, p its significand bits (fixed point: bits - 1). The meanings are for power-of-two scales. Another scale is
 * amax / max: floor rounds it toward zero, even, amax and te to nearest even, ceil and noclip round it up.
 *   - floor: OCP MX v1.0, section 6.3; torchao's FLOOR, microxcaling. amax can clip: amax / scale < 2 2^emax
 *   - ceil: torchao's CEIL. amax does not clip: amax / scale <= 2^emax
 *   - even: torchao's EVEN. amax can clip, but less: amax / scale < (2 - 2^-p) 2^emax
 *   - noclip: torchao's RCEIL, cuBLAS's block quantization. The smallest scale with amax / scale <= max
 *   - amax: the plain quotient of integer and FP8 quantisation, amax / max, to nearest
 *   - te: Transformer Engine's scales. A scale that is no power of two can be 0
 *   - mse46: Four Over Six (arXiv:2512.02010). Of two scales, amax / max and 3/2 of it, each to nearest, the one with
 * the smaller squared error; the first of them if the errors are equal. In e2m1 amax then becomes 6 or 4; in any other
 *     element format max or 2/3 of max, which need not be an element
 *   - best: of all positive finite scales the one with the smallest squared error; the larger one of equals. If every
 *     element is zero under the smallest scale, the scale is the smallest
 *   - up17: 17/16 amax / max to nearest. In a scale of 4 significand bits amax then never clips, except where the scale
 *     is subnormal or clamped; under even amax / scale can reach 17/16 max
 * Under ceil and noclip amax can still clip where the scale is clamped. With a tensor scale, amax / tensor scale
 * replaces amax. The squared error of a block under a scale is the sum of (x - v)^2 over its finite numbers x, where v
 * is the element of x to nearest, times scale and tensor scale, before it is rounded to binary32. Errors are compared
 * exactly, so that the order of the numbers has no influence; numbers of more than 53 bits, and their amax, are rounded
 * to odd at 53 bits in mse46, best and up17.
 */
#define ULP_SCALE_RULES(X)                                                                                             \
    X(ULP_SCALE_FLOOR, "floor", "2^(floor(log2 amax) - emax)")                                                         \
    X(ULP_SCALE_CEIL, "ceil", "2^(ceil(log2 amax) - emax)")                                                            \
    X(ULP_SCALE_EVEN, "even", "2^(floor(log2 (amax to p bits, nearest even)) - emax)")                                 \
    X(ULP_SCALE_NOCLIP, "noclip", "2^ceil(log2 (amax / max))")                                                         \
    X(ULP_SCALE_AMAX, "amax", "amax / max, to the nearest power of two")                                               \
    X(ULP_SCALE_TE, "te", "2^ceil(log2 (amax / max)); nvfp4 without the smallest scale")                               \
    X(ULP_SCALE_MSE46, "mse46", "amax / max or 3/2 of it, to nearest: the smaller squared error")                      \
    X(ULP_SCALE_BEST, "best", "the scale with the smallest squared error")                                             \
    X(ULP_SCALE_UP17, "up17", "17/16 amax / max, to the nearest power of two")

typedef enum ulp_scale_rule {
#define ULP_SCALE_RULE_ID(id, name, meaning) id,
    ULP_SCALE_RULES(ULP_SCALE_RULE_ID)
#undef ULP_SCALE_RULE_ID
        ULP_SCALE_RULE_COUNT
} ulp_scale_rule;

/* The name of a scale rule ("floor", ...) and its meaning. NULL past the end. */
const char *ulp_scale_rule_name(ulp_scale_rule rule);
const char *ulp_scale_rule_meaning(ulp_scale_rule rule);

/* The rounding of a scale that is no power of two, amax / max to the scale format, by the rule; it saturates. */
ulp_rule ulp_scale_rounding(ulp_scale_rule rule);

/* A block-scaled format, plain data. A caller may change a registered format: another size, other formats. */
typedef struct ulp_block {
    char name[ULP_NAME_MAX]; /* the registered name, :SIZE and :RULE where they are not the registered ones */
    ulp_format element;      /* up to 8 bits */
    ulp_format scale;        /* floating point with NaN, up to 8 bits; the sign bit of a signed format is ignored */
    uint32_t size;           /* elements per scale, at least 1 */
    uint32_t rule;           /* ulp_scale_rule */
} ulp_block;

/* The number of registered block formats. */
extern const size_t ulp_block_count;

/* The texts and the descriptor of registered block format `i`. Either pointer may be NULL. ULP_BAD_ARGUMENT past the
 * end. */
ulp_status ulp_block_get(size_t i, ulp_block *block, const ulp_format_row **row);

/* The block format called `text`, in upper or lower case: a registered name or alias, optionally with another size
 * (mxint8:256), or block:ELEMENT,SIZE,SCALE with names of formats without suffixes, and optionally a scale rule:
 * mxfp4:noclip, nvfp4:32:noclip, block:e2m1,16,e4m3:te. The rule of
 * block: is floor for power-of-two scales, else even. Returns ULP_BAD_NAME for an unknown name, and the status of
 * ulp_block_check for formats and sizes of block: that are out of range. The function writes *block only if it returns
 * ULP_OK. */
ulp_status ulp_block_parse(ulp_block *block, const char *text);

/* The parts of block:ELEMENT,SIZE,SCALE[:RULE]. */
typedef struct ulp_block_text {
    char element[ULP_NAME_MAX], scale[ULP_NAME_MAX];
    uint32_t size, rule; /* rule: ULP_SCALE_RULE_COUNT if the text has none */
} ulp_block_text;

/* Takes the text apart, without a look at the formats. Returns ULP_BAD_NAME for a text of another form. */
ulp_status ulp_block_split(ulp_block_text *parts, const char *text);

/* The scale rule called by all of `text`, in upper or lower case; ULP_SCALE_RULE_COUNT: none. */
ulp_scale_rule ulp_scale_rule_parse(const char *text);

/* Whether the functions below can use a descriptor. Returns ULP_BAD_ARGUMENT where a number is out of range, and
 * ULP_UNSUPPORTED for an element or scale format outside the limits of ulp_block. */
ulp_status ulp_block_check(const ulp_block *block);

/* The number of scales of n elements: ceil(n / size). */
size_t ulp_block_scales(size_t n, const ulp_block *block);

/* The value of a scale code: positive, 0 (e4m3 only; encoding gives 0 under the rule te only) or NaN. */
double ulp_block_scale_value(uint8_t code, const ulp_block *block);

/* The code of the scale of one block x (n) by the block's rule, for any n. NaN and Inf in x do not count. tensor_scale
 * is 1 or the result of ulp_block_tensor_scale. Returns ULP_BAD_ARGUMENT for a null pointer and for a tensor scale that
 * is not positive and finite, else the status of ulp_block_check. */
ulp_status ulp_block_scale(uint8_t *code, const float *x, size_t n, const ulp_block *block, float tensor_scale);

/* Whether a rule needs all numbers of a block, and not the amax alone: mse46 and best. */
int ulp_scale_rule_searches(uint32_t rule);

/* The scale of a block whose largest magnitude is `amax`, by the rule: a value of the scale format, of any width. Under
 * mse46 and best it is that of a block of this one number. */
double ulp_block_scale_of(ulp_exact amax, const ulp_block *block, float tensor_scale);

/* The value of the element format that the quotient of a number and its scales becomes. Finite numbers and infinite
 * ones beyond the range: the head of this file. */
double ulp_block_element(ulp_exact quotient, const ulp_format *element, ulp_rule rule, uint32_t word);

/* The largest scale that the tensor scale leaves to blocks: the largest of the scale format, 448 of e4m3. Under mse46
 * it is the largest power of two whose 3/2 the format holds, 256 of e4m3: both scales of the block of amax are then
 * exact. */
double ulp_block_largest_scale(const ulp_block *block);

/* The tensor scale of NVFP4 for an array whose largest magnitude is `amax`: amax / (max * ulp_block_largest_scale),
 * rounded to nearest in binary32, from 2^-149 to the largest finite number. 1 where amax is 0, NaN or infinite. NVIDIA,
 * Pretraining Large Language Models with NVFP4, 2025, arXiv:2509.25149. */
float ulp_block_tensor_scale(double amax, const ulp_block *block);

/* An array of n elements in a block format. */
typedef struct ulp_block_array {
    const ulp_block *block;
    size_t n;
    float tensor_scale; /* 1 for none */
} ulp_block_array;

/* Encodes x (n) to element codes (n), each in the low bits of a byte, and scale codes (ceil(n / size)). `rule` rounds
 * the elements. The random word of element i has index stream.first + i. Errors: the errors of ulp_block_scale and of
 * ulp_element_check. */
ulp_status ulp_block_encode(uint8_t *elements, uint8_t *scales, const float *x, ulp_block_array array, ulp_rule rule,
                            ulp_stream stream);

/* The same for numbers of binary64 and for exact numbers, as of texts. */
ulp_status ulp_block_encode64(uint8_t *elements, uint8_t *scales, const double *x, ulp_block_array array, ulp_rule rule,
                              ulp_stream stream);
ulp_status ulp_block_encode_exact(uint8_t *elements, uint8_t *scales, const ulp_exact *x, ulp_block_array array,
                                  ulp_rule rule, ulp_stream stream);

/* The largest finite magnitude of x (n). That of exact numbers is rounded to odd at 53 bits (ulp_exact_to_odd), and
 * gives the scales of the exact magnitude. */
double ulp_amax64(const double *x, size_t n);
double ulp_amax_exact(const ulp_exact *x, size_t n);

/* The values y (n) of any element codes (n) and scale codes (ceil(n / size)). A value beyond the range of binary32
 * becomes infinite. A zero element times a NaN scale is NaN. Errors: the errors of ulp_block_scale. */
ulp_status ulp_block_decode(float *y, const uint8_t *elements, const uint8_t *scales, ulp_block_array array);

/* y (n) = the values that ulp_block_encode and then ulp_block_decode give for x (n), without storing codes. y may be
 * x. */
ulp_status ulp_block_round(float *y, const float *x, ulp_block_array array, ulp_rule rule, ulp_stream stream);

/* A part of an array whose elements share a scale: element (i,j,k) for i < size[0], j < size[1], k < size[2] is element
 * first + i stride[0] + j stride[1] + k of the array. */
typedef struct ulp_block_part {
    size_t first, size[3], stride[2];
} ulp_block_part;

/* The scale of a part of x, a value of the scale format, by the block's rule. x is not NULL. */
double ulp_block_scale_of_part(const float *x, const ulp_block_part *part, const ulp_block *block, float tensor_scale);
double ulp_block_scale_of_part64(const double *x, const ulp_block_part *part, const ulp_block *block,
                                 float tensor_scale);
double ulp_block_scale_of_part_exact(const ulp_exact *x, const ulp_block_part *part, const ulp_block *block,
                                     float tensor_scale);

/* The element codes of a part of x (elements has the places of x), and its scale code. */
void ulp_block_encode_part64(uint8_t *elements, uint8_t *scale, const double *x, const ulp_block_part *part,
                             const ulp_block *block, float tensor_scale, ulp_rule rule, ulp_stream stream);

/* The elements of y = the values of a part of x under a given scale, in a deterministic mode, for numbers that the
 * element format holds or clamps. */
void ulp_block_round_scaled(float *y, const float *x, const ulp_block_part *part, const ulp_block *block, double scale,
                            float tensor_scale, ulp_rule rule);

ULP_C_END
#endif
