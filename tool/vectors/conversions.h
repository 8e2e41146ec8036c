/* conversions.h - ulp vectors: the vectors of a format. */
#ifndef ULP_TOOL_VECTORS_CONVERSIONS_H
#define ULP_TOOL_VECTORS_CONVERSIONS_H

#include "file.h"
#include "formats/format.h"

/* What was written. */
typedef struct vectors_counts {
    uint64_t codes, inputs, overflows, stochastic, compared;
} vectors_counts;

/* Write formats/NAME.npz and formats/NAME.csv, NAME.codes.csv, NAME.overflow.csv, NAME.stochastic.csv. Returns
 * ULP_GO_ON, or the exit status after a message; if MPFR gives another result, nothing is written. */
int vectors_of_format(vectors_counts *counts, const ulp_format *format, const vectors_request *request);

#endif
