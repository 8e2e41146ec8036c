/* operands.h - operands of products by an instruction, of kinds that show different properties. */
#ifndef ULP_CHECK_OPERANDS_H
#define ULP_CHECK_OPERANDS_H

#include "codes.h"

/* Kinds of operands. Trials take the kinds below KINDS in all sizes; SIGNS has zeros of both signs alone. */
typedef enum kind { NORMAL, CODES, SPECIALS, TINY, ZEROS, CANCELLING, LONG, TIES, KINDS, SIGNS = KINDS } kind;

const char *kind_name(kind what);

/* Fill A, B, C and the block scales of x, which are allocated, with values of the product's formats, as doubles and as
 * floats. Operands of binary64 use its range and all of its bits. */
void fill_operands(matrices *x, kind what, const ulp_cuda_native *d, uint64_t seed);

/* x rounded to the format; fixed point saturates. */
double in_format(double x, const ulp_format *f);

/* The number of values that are finite and not zero. */
size_t count_ordinary(const double *x, size_t n);

#endif
