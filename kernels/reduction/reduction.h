/* reduction.h - how the gradients of many ranks become one mean, as data: an all-reduce.
 *
 * R ranks have an array of n elements each. A reduction defines the mean of the R arrays, element by element and bit by
 * bit: the order of the additions, the format and the rule of every partial sum, and the place of the division.
 *
 * Order. Each of the R - 1 sums of an element adds two partial sums and is rounded once. It has a number from 1 to
 * R - 1. Every rank gets the same bits.
 *
 *   ring       The array is cut into R chunks of ceil(n / R) elements; the last chunks may be shorter or empty. The sum
 *              of chunk c starts at rank c + 1, takes the ranks c + 2, c + 3, ... (mod R) one after another, and ends
 * at rank c. Sum number t adds the (t + 1)-th rank of this chain. tree       a binomial tree: in step d = 1, 2, 4, ...
 * a rank that is a multiple of 2 d receives the partial sum of rank + d, if this rank exists, and adds it. The number
 * of the sum is rank + d. doubling   recursive doubling. P is the largest power of two up to R. In the first 2 (R - P)
 * ranks, each odd rank gives its array to the even rank before it. The P ranks that remain are numbered again without
 * gaps. In step d = 1, 2, 4, ... the ranks v and v xor d exchange their partial sums, and both ranks add them. The
 *              number of a sum is the least rank of its right half. If R is a power of two, the sums are those of the
 *              tree, bit for bit.
 *   two-level  nodes of `node` ranks; the last node may have fewer. A node adds its arrays in the order of the ranks in
 *              binary32, to nearest even. The sum of a node is rounded to the format, and the sums of the nodes are
 *              added as by a ring whose ranks are the nodes.
 *
 * Ring: Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002. Tree and doubling: Thakur, Rabenseifner and Gropp
 * 2005, doi:10.1177/1094342005051521.
 *
 * Mean. Every division is exact and rounded once.
 *
 *   before     Every array is divided by R before the sum.
 *   after      Every array is rounded to the format, and the sum is divided by R.
 *   half       Every array and then the sum are divided by s, the square root of R rounded to binary32. s s = R if R is
 *              a square, else the mean is off by a factor within 1 +- 2^-23.
 *
 * One rank has no sum, only the roundings.
 *
 * The first rounding of an array is to the format, but of two-level to binary32, to nearest even.
 *
 * Overflow. As for gradients of a policy, a format that saturates overflows to Inf, or NaN if it has no Inf, unless its
 * name says :sat or it has no NaN.
 *
 * Random words. The word of element i in rounding number j has index stream.first + 2^32 j + i. j is 0 for the last
 * division, the number of a sum, R + r for the first rounding of rank r, and 2 R + q for the sum of node q.
 *
 * The text of a reduction is ORDER:FORMAT[:MODE], then settings: "ring:bf16", "two-level:fp16:sr:mean=before:node=4".
 */
#ifndef ULP_REDUCTION_H
#define ULP_REDUCTION_H

#include "base/error.h"
#include "kernels/backend.h"
#include "kernels/reduction/ranks.h"

ULP_C_BEGIN

typedef enum ulp_reduction_order {
    ULP_REDUCE_RING,
    ULP_REDUCE_TREE,
    ULP_REDUCE_DOUBLING,
    ULP_REDUCE_TWO_LEVEL,
    ULP_REDUCE_ORDERS
} ulp_reduction_order;

typedef enum ulp_mean_place { ULP_MEAN_AFTER, ULP_MEAN_BEFORE, ULP_MEAN_HALF, ULP_MEANS } ulp_mean_place;

enum { ULP_RANKS_MAX = 4096, ULP_REDUCTION_TEXT_MAX = 96 };

typedef struct ulp_reduction {
    ulp_format format;
    ulp_rule rule;
    uint8_t order;     /* ulp_reduction_order */
    uint8_t mean;      /* ulp_mean_place */
    uint16_t node;     /* ranks of a node of two-level, 1 to ULP_RANKS_MAX */
    ulp_format inside; /* binary32, in which nodes add; ulp_reduction_init() sets it */
} ulp_reduction;

/* "ring tree doubling two-level" and "after before half", in the order of the enumerations. */
extern const char ulp_reduction_orders[], ulp_reduction_means[];

/* A ring with the mean after the sum, and nodes of 8 ranks for the order two-level. ULP_UNSUPPORTED: the format does
 * not fit binary32, has no sign or no zero, or does not offer the rule; `error` (may be NULL) gets a sentence. */
ulp_status ulp_reduction_init(ulp_reduction *reduction, const ulp_format *format, ulp_rule rule, ulp_error *error);

/* The reduction that `text` describes. On failure `error` (may be NULL) gets a sentence that names the bad word and
 * lists the known words, and *reduction is unchanged. */
ulp_status ulp_reduction_parse(ulp_reduction *reduction, const char *text, ulp_error *error);

/* Write the canonical text; parsing the text gives the same reduction. ULP_BAD_ARGUMENT: the text does not fit. */
ulp_status ulp_reduction_print(char *text, size_t size, const ulp_reduction *reduction);

/* The reference text of `ulp help reductions`. */
void ulp_reduction_help(const ulp_help *to);

/* ---- reducing ---- */

typedef struct ulp_reduction_job {
    const ulp_reduction *how;
    const ulp_backend *backend;
    ulp_stream stream;
    size_t ranks; /* 1 to ULP_RANKS_MAX */
} ulp_reduction_job;

/* y (n) = the first rounding of x (n), the array of a rank; backend memory; y may be x. */
ulp_status ulp_reduction_enter(const ulp_reduction_job *job, float *y, const float *x, size_t n, size_t rank);

/* Simulated ranks: x (ranks,n), backend memory, has the arrays after their first rounding. Row 0 gets the mean, and the
 * other rows get partial sums. */
ulp_status ulp_reduction_sum(const ulp_reduction_job *job, float *x, size_t n);

/* The same by messages: x (n), backend memory, has the array of this rank after its first rounding, and gets the mean.
 * Every rank calls the function; ranks->count is job->ranks. */
ulp_status ulp_reduction_sum_over(const ulp_reduction_job *job, const ulp_ranks *ranks, float *x, size_t n);

ULP_C_END
#endif
