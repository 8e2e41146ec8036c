/* counters.c - addition of the counts of a rounding pass, from one thread or from several threads at once. */
#include "kernels/rounding/count.h"

/* Most counts of most passes are zero, and an addition takes as long as the rounding of many elements. */
static void add(uint64_t *to, uint64_t count) {
    if (count != 0) __atomic_fetch_add(to, count, __ATOMIC_RELAXED);
}

void ulp_stats_add_alone(ulp_stats *to, const ulp_stats *from) {
    to->count += from->count;
    to->overflow += from->overflow;
    to->saturated += from->saturated;
    to->underflow += from->underflow;
    to->subnormal += from->subnormal;
    to->zero += from->zero;
    to->nan += from->nan;
}

void ulp_stats_add(ulp_stats *to, const ulp_stats *from) {
    add(&to->count, from->count);
    add(&to->overflow, from->overflow);
    add(&to->saturated, from->saturated);
    add(&to->underflow, from->underflow);
    add(&to->subnormal, from->subnormal);
    add(&to->zero, from->zero);
    add(&to->nan, from->nan);
}
