/* pass_inner.h - functions that the files of the operations of a pass share; see pass.h. */
#ifndef ULP_PASS_INNER_H
#define ULP_PASS_INNER_H

#include "pass.h"
#include "policy/operand_parts.h"

/* A matrix (rows,columns) of an operand of a product, the sum of the product along one of its sides. */
typedef struct ulp_pass_operand {
    const float *x;
    size_t rows, columns;
    ulp_along along;
    ulp_operand_use use;
    const ulp_operand_cast *how;
} ulp_pass_operand;

/* The numbers of a sum. */
static inline size_t ulp_pass_length(const ulp_pass_operand *o) {
    return o->along == ULP_ALONG_ROWS ? o->columns : o->rows;
}

/* The stream of the cast of an operand. The elements of samples have words of their own; all samples and ranks have the
 * same weights. */
ulp_stream ulp_pass_operand_stream(const ulp_pass *pass, const ulp_site *site, const ulp_pass_operand *o);

/* The numbers of an operand that its cast takes: *x in `room` if the policy has a transform, else o->x. */
ulp_status ulp_pass_transform(ulp_pass *pass, const ulp_site *site, const float **x, const ulp_pass_operand *o,
                              float *room);

/* The cast of an operand of blocks, and of one of signs or ternary numbers. */
ulp_block_cast ulp_pass_block_cast(const ulp_pass *pass, const ulp_site *site, const ulp_pass_operand *o);
ulp_low_bit ulp_pass_low_bit(const ulp_pass *pass, const ulp_site *site, const ulp_pass_operand *o);

/* C = A B, or C + A B, from elements and scales (policy/operand_parts.h). The shape is that of the operands, without
 * scales. */
ulp_status ulp_pass_parts_gemm(ulp_pass *pass, const ulp_site *site, float *c, const ulp_pass_operand operand[2],
                               const ulp_gemm_shape *shape, ulp_summation by);

/* The cast that the policy gives a tensor. */
const ulp_cast *ulp_pass_cast(const ulp_pass *pass, const ulp_site *site);

/* The random stream of a tensor whose samples take `words` words each. */
ulp_stream ulp_pass_stream(const ulp_pass *pass, const ulp_site *site, size_t words);

/* The rounding of a tensor by a cast. If the pass counts, the rounding counts in `counted`, which starts at zero. */
ulp_rounding ulp_pass_rounding_of(const ulp_pass *pass, const ulp_site *site, const ulp_cast *cast, ulp_stats *counted);

/* The cast with the tensor scale of x (n), backend memory. *log2 (may be NULL): the logarithm of the scale. */
ulp_status ulp_pass_scaled_cast(ulp_pass *pass, ulp_cast *cast, const float *x, size_t n, int *log2);

/* log2 of the factor by which a gradient is multiplied before its rounding. */
int ulp_pass_rescaling(const ulp_pass *pass, const ulp_site *site);

int ulp_pass_is_observed(const ulp_pass *pass, const ulp_site *site);
void ulp_pass_add_counts(ulp_pass *pass, const ulp_site *site, const ulp_stats *counted);

/* The time of an operation begins. Evaluations are not timed. */
double ulp_pass_begin_time(const ulp_pass *pass);

#endif
