/* verify_sample.h - the inputs of ulp verify --sample. */
#ifndef ULP_TOOL_VERIFY_SAMPLE_H
#define ULP_TOOL_VERIFY_SAMPLE_H

#include "formats/format.h"

/* Input i: of seven in eight a value near a breakpoint of the format, of the others random bits; a binary32 value where
 * i is even and the format fits binary32, else a binary64 value. A pure function of its arguments. */
double verify_sample(const ulp_format *f, uint64_t seed, uint64_t i);

#endif
