/* counters.c - addition of the counts of a rounding pass, from one thread or from several threads at once. */
#include "kernels/rounding/count.h"

/* Most counts of most passes are zero, and a locked addition takes as long as the rounding of many elements. */
static void add(uint64_t *to, uint64_t count, int alone) {
    if (alone) *to += count;
    else if (count != 0) __atomic_fetch_add(to, count, __ATOMIC_RELAXED);
}

static void add_all(ulp_stats *to, const ulp_stats *from, int alone) {
    add(&to->count, from->count, alone);
    add(&to->overflow, from->overflow, alone);
    add(&to->saturated, from->saturated, alone);
    add(&to->underflow, from->underflow, alone);
    add(&to->subnormal, from->subnormal, alone);
    add(&to->zero, from->zero, alone);
    add(&to->nan, from->nan, alone);
}

void ulp_stats_add(ulp_stats *to, const ulp_stats *from) { add_all(to, from, 0); }
void ulp_stats_add_alone(ulp_stats *to, const ulp_stats *from) { add_all(to, from, 1); }
