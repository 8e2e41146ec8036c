/* verify_sample.h - the inputs of ulp verify --sample. */
#ifndef ULP_TOOL_VERIFY_SAMPLE_H
#define ULP_TOOL_VERIFY_SAMPLE_H

#include "formats/format.h"

/* Input i, a function of the arguments alone. Three of four inputs are values near a breakpoint of the format, the
 * others have random bits. If i is even and the format fits binary32, the input is a binary32 value, else a binary64
 * value. */
double verify_sample(const ulp_format *f, uint64_t seed, uint64_t i);

#endif
