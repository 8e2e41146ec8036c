/* vectors.h - ulp vectors: the vectors of a format and of a datapath, and known words of the generator. */
#ifndef ULP_TOOL_VECTORS_H
#define ULP_TOOL_VECTORS_H

#include "file.h"
#include "kernels/products/datapath.h"

/* What was written. */
typedef struct vectors_counts {
    uint64_t codes, inputs, overflows, stochastic, compared;
} vectors_counts;

/* Write formats/NAME.npz and formats/NAME.csv, NAME.codes.csv, NAME.overflow.csv, NAME.stochastic.csv. If
 * MPFR gives another result, nothing is written. */
ulp_status vectors_of_format(vectors_counts *counts, const ulp_format *format, const vectors_request *request,
                             ulp_error *error);

/* Datapath i of the vectors: the rows of hardware, then a list of general forms; *in = the format of a and b where the
 * datapath implies none, else unchanged. Returns ULP_BAD_ARGUMENT past the end. */
ulp_status vectors_datapath(size_t i, ulp_datapath *datapath, const char **in);

/* Write datapaths/NAME.npz and NAME.csv, and append a line to `index`, the text of datapaths.csv, whose first line is
 * vectors_index. `in` is the format of a and b, NULL for that of the accumulator. */
ulp_status vectors_of_datapath(ulp_text *index, const ulp_datapath *datapath, const char *in,
                               const vectors_request *request, ulp_error *error);
extern const char vectors_index[];

/* Write words.csv and words.npz: words of ULP_RNG_NAME as a function of seed, stream and index. */
ulp_status vectors_words(const vectors_request *request, ulp_error *error);

#endif
