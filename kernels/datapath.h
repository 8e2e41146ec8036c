/* datapath.h - how a sum of products is formed, as data.
 *
 * A datapath defines the result of every output of a GEMM element by element: sum over k = 0, 1, ... of
 * a[k] b[k], in this order, from a start value c. Tiles, threads, vectors and devices may not change a
 * bit of it. Names are those of the command line: "fp32", "serial:FORMAT:MODE".
 */
#ifndef ULP_DATAPATH_H
#define ULP_DATAPATH_H

#include "formats/round.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ulp_datapath_kind {
    ULP_SERIAL /* acc <- round(acc + a b), k ascending, the product exact (one rounding, as in fma) */
} ulp_datapath_kind;

typedef struct ulp_datapath {
    char name[64];
    uint8_t kind;           /* ulp_datapath_kind */
    ulp_format accumulator; /* every partial sum is a value of this format */
    ulp_rule rule;          /* of the accumulation; step k of output (i,j) of an (m,n) result uses the
                               random word of index (i n + j) K + k, K the number of products */
} ulp_datapath;

/* The datapath called `text`; a mode may carry its number of random bits: serial:fp16:sr/8.
 * ULP_BAD_NAME, or what the format parser says. */
ulp_status ulp_datapath_parse(ulp_datapath *datapath, const char *text);

/* The forms of names that ulp_datapath_parse knows, one per line, for messages and help. */
const char *ulp_datapath_names(void);

/* One step of the sum, the definition that every kernel equals: acc, a, b values of any format. */
double ulp_datapath_step(const ulp_datapath *datapath, double acc, double a, double b, uint32_t word);

#ifdef __cplusplus
}
#endif
#endif
