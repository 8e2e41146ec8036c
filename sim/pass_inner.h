/* pass_inner.h - functions that the files of the operations of a pass share; see pass.h. */
#ifndef ULP_PASS_INNER_H
#define ULP_PASS_INNER_H

#include "pass.h"

/* The cast that the policy gives a tensor. */
const ulp_cast *ulp_pass_cast(const ulp_pass *pass, const ulp_site *site);

/* The random stream of a tensor whose samples take `words` words each. */
ulp_stream ulp_pass_stream(const ulp_pass *pass, const ulp_site *site, size_t words);

/* The rounding of a tensor by a cast. If the pass counts, the rounding counts in `counted`, which starts at zero. */
ulp_rounding ulp_pass_rounding_of(const ulp_pass *pass, const ulp_site *site, const ulp_cast *cast, ulp_stats *counted);

/* The cast with the tensor scale of x (n), backend memory. */
ulp_status ulp_pass_scaled_cast(ulp_pass *pass, ulp_cast *cast, const float *x, size_t n);

/* log2 of the factor by which a gradient is multiplied before its rounding. */
int ulp_pass_rescaling(const ulp_pass *pass, const ulp_site *site);

int ulp_pass_is_observed(const ulp_pass *pass, const ulp_site *site);
void ulp_pass_add_counts(ulp_pass *pass, const ulp_site *site, const ulp_stats *counted);

/* The time of an operation begins. Evaluations are not timed. */
double ulp_pass_begin_time(const ulp_pass *pass);

#endif
