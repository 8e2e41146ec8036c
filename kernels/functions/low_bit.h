/* low_bit.h - numbers of one or two bits with a scale, and sums of products of elements times their scales: one
 * definition for every backend.
 *
 * A matrix of numbers x becomes elements -1, 0, 1 and scales; a value is element times scale, rounded once to binary32.
 *   - sign: +1 where x >= 0, else -1; the scale is 1. Stochastic: +1 with probability (x + 1) / 2 within 0 .. 1, that
 * is where x > (2 word + 1) 2^-32 - 1. Courbariaux, Bengio and David 2015, arXiv:1511.00363, equations 1 to 3
 *   - xnor: the sign to nearest; the scale of a group, a row or a column, is the mean of its magnitudes. Rastegari et
 *     al. 2016, arXiv:1603.05279, equation 6
 *   - ternary: 0 where |x| <= d, else the sign; d is a threshold times the mean of all magnitudes, and the scale is the
 *     mean of the magnitudes above d (0: there are none). Li, Zhang and Liu 2016, arXiv:1605.04711, equations 3 to 6;
 *     their threshold is 0.7
 *
 * The mean of a group is a sum in binary64 in the order of the group, each sum rounded, then one quotient by the number
 * of its numbers, rounded to binary64 and then to binary32. The sums of the whole matrix are the sums of its rows,
 * added in the order of the rows. d is rounded to binary64, then to binary32. NaN is a NaN element, and lies above
 * every threshold.
 */
#ifndef ULP_LOW_BIT_H
#define ULP_LOW_BIT_H

#include "formats/block_cast.h"

ULP_C_BEGIN

typedef enum ulp_low_bit_kind { ULP_LOW_SIGN, ULP_LOW_XNOR, ULP_LOW_TERNARY, ULP_LOW_COUNT } ulp_low_bit_kind;

typedef struct ulp_low_bit {
    uint8_t kind;       /* ulp_low_bit_kind */
    uint8_t along;      /* ulp_along: a group of xnor is a row, or a column */
    uint8_t stochastic; /* of sign */
    uint8_t values;     /* 1: values take the place of elements */
    double threshold;   /* of ternary, from 0 to 1000 */
    ulp_stream stream;  /* the random word of element (i,j) has index stream.first + i columns + j */
} ulp_low_bit;

/* The number of scales: of the groups of xnor, else 1. */
ULP_FN size_t ulp_low_bit_scales(size_t rows, size_t columns, const ulp_low_bit *how) {
    return how->kind != ULP_LOW_XNOR ? 1 : how->along == ULP_ALONG_ROWS ? rows : columns;
}

/* The sums (m,n) of a product of elements, and c = start + sum times scale: the scale of row i times that of column j,
 * rounded to binary32, times factor, rounded to binary32; then one rounding of start + sum scale. */
typedef struct ulp_sum_scales {
    const float *row, *column;         /* scales; NULL: 1 */
    uint8_t row_is_one, column_is_one; /* 1: one number for all rows, or for all columns */
    float factor;
    size_t m, n, ldc;
    uint8_t c_trans;    /* c is (n,m), its rows ldc apart */
    uint8_t accumulate; /* start is c, else +0 */
} ulp_sum_scales;

ULP_C_END
#endif
