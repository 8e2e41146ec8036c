/* quantize.h - scaled quantisation: elements of any format that share a scale per tensor, channel, row, tile or block.
 *
 * A group is a part of an array with one scale s of a scale format and, for integers, one zero point z, an integer.
 * An element code stands for e s t, of an integer (q - z) 2^-F s t; t is the tensor scale, 1 if there is none. Each of
 * the following is one rounding of an exact value:
 *   - s = amax / max by the scale rule of block.h, for max the largest element (255 of uint8, 127 of int8, 1 of nf4).
 *     With a zero point s = (high - low) / (the largest code - the least code), rounded toward zero by floor, up by
 *     ceil and noclip, else to nearest; low <= 0 <= high are the ends of the group, with 0 added to it.
 *   - z = least code - low / s, to the nearest integer, ties to even, within the codes
 *   - x / (s t) to an element by the mode. An integer is the quotient rounded, plus z, within the codes, as in
 *     QuantizeLinear of ONNX
 *   - e s t to nearest in binary32 when a code becomes a value
 * An amax of zero gives s = 1 in scale formats of more than 8 bits; in others block.h says. NaN and Inf do not change
 * s and z, and become elements as in block.h: where the element has no NaN, a NaN makes the scale NaN, and with it the
 * group; the codes of such a group, and its zero point, are 0.
 */
#ifndef ULP_QUANTIZE_H
#define ULP_QUANTIZE_H

#include "block.h"

ULP_C_BEGIN

enum {
    ULP_BOOK_MOST = 16,         /* values of a code book */
    ULP_PERCENT = 1000000,      /* one percent, in units of ulp_quantizer.percentile */
    ULP_ALL_PERCENT = 100000000 /* 100 percent: the amax */
};

/* A code book: the values of the codes 0, 1, ..., ascending binary32 numbers of at most 29 bits from the largest to the
 * least, with a zero. */
typedef struct ulp_code_book {
    ulp_format_row text;
    uint32_t bits, count;
    double value[ULP_BOOK_MOST];
} ulp_code_book;

extern const ulp_code_book ulp_code_books[];
extern const size_t ulp_code_book_count;

/* The code of x / factor in a code book, factor > 0 of at most 24 bits: the nearest value, in a tie the even code (rna:
 * the value farther from zero), or a neighbour by the mode. Beyond the ends the end. */
uint32_t ulp_book_code(ulp_exact x, double factor, const ulp_code_book *book, ulp_rule rule, uint32_t word);

/* How a group is quantised, plain data. ulp_quantizer_parse makes it; the caller changes the other fields. */
typedef struct ulp_quantizer {
    ulp_block block;           /* element, scale and rule; size 0: the name is that of an element alone */
    const ulp_code_book *book; /* NULL: none, and block.element is the format of the elements. Else block.element has
                                  the bits and the largest value of the book for the scale rule */
    int32_t low, high;         /* the integers of fixed-point codes, in units of 2^-F; both 0 for other elements */
    uint8_t bits;              /* of a code, at most 16 */
    uint8_t has_zero_point;    /* fixed point only */
    uint8_t searches;          /* the scale is that with the least squared error, see ulp_quantize */
    uint32_t percentile;       /* the amax is this percentile of the magnitudes, in 10^-6 percent, 1 .. 10^8 */
    float tensor_scale;        /* 1: none; a code book takes no other */
} ulp_quantizer;

/* The quantizer called `text`: a block format (ulp_block_parse; block: also with elements and scales of up to 16 and 32
 * bits); or an element, with scales of `scale`, "binary32" if NULL, and the rule amax: a code book, uintN and uqI.F of
 * up to 16 bits, or a format of up to 16 bits. Block formats have symmetric integers, -127 to 127 of 8 bits. Returns
 * ULP_BAD_NAME, ULP_NOT_IN_RANGE, or ULP_UNSUPPORTED for formats beyond these limits and scales without NaN. */
ulp_status ulp_quantizer_parse(ulp_quantizer *q, const char *text, const char *scale);

/* Sets the rule: a scale rule of block.h, or mse for a search. ULP_BAD_NAME: another word. */
ulp_status ulp_quantizer_rule(ulp_quantizer *q, const char *text);

/* -127 to 127 in place of -128 to 127. Returns ULP_UNSUPPORTED for elements that are no signed integers. */
ulp_status ulp_quantizer_narrow(ulp_quantizer *q);

/* Whether the functions below can use a quantizer with the rule: ULP_OK, or ULP_BAD_ARGUMENT for a field out of range,
 * ULP_UNSUPPORTED for a zero point of elements that are no integers, a tensor scale and the policies nan and wrap of a
 * code book; up17, mse46 and best with a zero point; mse46 and best of a code book, of a percentile, of integers that
 * are not symmetric, and of elements or scales of more than 8 bits; and where ulp_element_check says so. */
ulp_status ulp_quantizer_check(const ulp_quantizer *q, ulp_rule rule);

/* An array of three dimensions in C order, and the part of it that shares a scale; parts at the ends may be smaller.
 * Arrays of other dimensions are arrays of three: per tensor the tile is the shape; per channel it is (shape 0, 1,
 * shape 2); tiles R x C of matrices are (1, R, C); blocks are (1, 1, size). */
typedef struct ulp_tiling {
    size_t shape[3], tile[3]; /* tile at least 1 */
} ulp_tiling;

/* The number of groups along each dimension; in C order they are the order of scales. Returns their number. */
size_t ulp_tiling_groups(size_t groups[3], const ulp_tiling *t);

/* A group: the part of an array from `first`, of `size`: size[0] size[1] runs of size[2] neighbours. */
typedef struct ulp_group {
    size_t first[3], size[3];
} ulp_group;

/* Group `number`, in C order, of an array whose groups have the counts of ulp_tiling_groups. */
ulp_group ulp_tiling_group(const ulp_tiling *t, const size_t groups[3], size_t number);

/* The index of the first element of run r of a group. */
size_t ulp_group_run(const ulp_group *group, const ulp_tiling *t, size_t r);

typedef struct ulp_quantized {
    const ulp_quantizer *quantizer;
    ulp_tiling tiling;
    uint16_t *codes;      /* (shape) */
    double *scales;       /* (groups): values of the scale format */
    int32_t *zero_points; /* (groups); NULL where the quantizer has none */
} ulp_quantized;

/* Fills the codes, scales and zero points of x (shape). The random word of element i is stream.first + i.
 *
 * searches: candidates are the scales (by the rule amax) and zero points of j / 32 of the ends of a group, for j = 32,
 * and then 16 to 48. The error of a candidate is the sum, in binary64 and in C order, of (x - v)^2 over the finite
 * elements; x is a binary64 number, v is the value of the code in rne, and each operation is rounded to nearest. The
 * first candidate with the least error is taken.
 * percentile: with m finite magnitudes in ascending order, number ceil(percentile m) is the amax; with a zero point
 * number ceil(percentile m) of the values, and the same number from above, are the ends.
 * Errors: those of ulp_quantizer_check; ULP_BAD_ARGUMENT for null pointers and tiles of 0. */
ulp_status ulp_quantize(const ulp_quantized *q, const double *x, ulp_rule rule, ulp_stream stream);

/* The same for exact numbers. With a zero point, the ends of a group are cut to 106 bits, rounded to odd. */
ulp_status ulp_quantize_exact(const ulp_quantized *q, const ulp_exact *x, ulp_rule rule, ulp_stream stream);

/* The scale and the zero point (0 where there is none) of a group with the ends low <= 0 <= high, finite numbers;
 * without a zero point high is the amax, and low does not count. The quantizer has passed ulp_quantizer_check. */
void ulp_quantizer_scaling(double *scale, int32_t *zero_point, const ulp_quantizer *q, double low, double high);

/* y (shape) = the values of codes. */
ulp_status ulp_dequantize(float *y, const ulp_quantized *q);

ULP_C_END
#endif
