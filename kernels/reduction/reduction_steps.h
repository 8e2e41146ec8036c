/* reduction_steps.h - the roundings of a reduction, which simulated ranks and ranks with messages share. */
#ifndef ULP_REDUCTION_STEPS_H
#define ULP_REDUCTION_STEPS_H

#include "reduction.h"

/* Elements first .. first + n - 1 of an array. */
typedef struct ulp_elements {
    size_t first, n;
} ulp_elements;

/* y = a + b at these elements: sum number `number`. y may be a or b. */
ulp_status ulp_reduction_add(const ulp_reduction_job *job, float *y, const float *a, const float *b, ulp_elements e,
                             uint64_t number);

/* The same in binary32, to nearest even, inside a node. */
ulp_status ulp_reduction_add_inside(const ulp_reduction_job *job, float *y, const float *x, ulp_elements e);

/* Round the sum of node q to the format. */
ulp_status ulp_reduction_leave_node(const ulp_reduction_job *job, float *y, ulp_elements e, size_t q);

/* The last rounding: the division of the sum, if there is one. */
ulp_status ulp_reduction_finish(const ulp_reduction_job *job, float *y, ulp_elements e);

/* The number of nodes, and the number of ranks of a node. */
size_t ulp_reduction_nodes(const ulp_reduction_job *job);
size_t ulp_reduction_in_node(const ulp_reduction_job *job, size_t q);

/* Chunk c of N chunks of n elements. */
ulp_elements ulp_reduction_chunk(size_t n, size_t N, size_t c);

/* The ranks that remain in recursive doubling: their number, a power of two, and the rank of number v among them. */
size_t ulp_reduction_doublers(size_t ranks);
size_t ulp_reduction_doubler(size_t ranks, size_t v);

#endif
