/* breakpoints.h - ulp vectors: the numbers where a conversion to a format can go wrong. */
#ifndef ULP_TOOL_VECTORS_BREAKPOINTS_H
#define ULP_TOOL_VECTORS_BREAKPOINTS_H

#include "file.h"
#include "formats/format.h"

typedef struct vectors_numbers {
    double *at; /* (count) */
    size_t count, room;
} vectors_numbers;

/* *to = the inputs of the conversions to a format, in ascending order, -0 before +0, NaN at the end, none twice. The
 * README of the vectors says which numbers these are. The caller frees to->at. */
void vectors_inputs(vectors_numbers *to, const ulp_format *format, const vectors_request *request);

/* The finite values of a format of up to 8 bits, or the selected values of a wider one, in ascending order, one zero.
 */
void vectors_values(vectors_numbers *to, const ulp_format *format, const vectors_request *request);

#endif
