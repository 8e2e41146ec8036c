/* count.h - the counts of a rounding pass, one element at a time, for host and device. */
#ifndef ULP_COUNT_H
#define ULP_COUNT_H

#include "kernels/backend.h"

ULP_C_BEGIN

/* Adds counts. Threads may call the function at the same time. */
void ulp_stats_add(ulp_stats *to, const ulp_stats *from);

/* The same where no other thread adds to the counts. Four locked additions take as long as the rounding of 400
 * elements.
 */
void ulp_stats_add_alone(ulp_stats *to, const ulp_stats *from);

/* Counts one element: the exact value x became y. */
ULP_FN void ulp_stats_count(ulp_stats *stats, ulp_exact x, double y, const ulp_format *format, ulp_rule rule,
                            uint32_t word) {
    const double size = y < 0 ? -y : y;
    const int overflow = ulp_rounding_overflows(x, format, rule, word);
    const int beyond = overflow || x.kind == ULP_EXACT_INF;
    const uint32_t policy = rule.overflow == ULP_OVERFLOW_DEFAULT ? format->overflow : rule.overflow;
    stats->count += 1;
    stats->overflow += (uint64_t)overflow;
    stats->saturated += (uint64_t)(beyond && policy != ULP_OVERFLOW_WRAP &&
                                   (y == format->max || y == -ulp_magnitude_limit(format, policy, 1)));
    stats->underflow += (uint64_t)(x.kind == ULP_EXACT_FINITE && y == 0.0 && !beyond);
    stats->subnormal += (uint64_t)(size > 0.0 && size < format->min_normal);
    stats->zero += (uint64_t)(y == 0.0);
    stats->nan += (uint64_t)(y != y);
}

ULP_C_END
#endif
