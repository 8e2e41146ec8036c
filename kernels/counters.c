/* counters.c - addition of the counts of a rounding pass, from several threads at once. */
#include "kernels/rounding/count.h"

void ulp_stats_add(ulp_stats *to, const ulp_stats *from) {
    __atomic_fetch_add(&to->count, from->count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->overflow, from->overflow, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->saturated, from->saturated, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->underflow, from->underflow, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->subnormal, from->subnormal, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->zero, from->zero, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->nan, from->nan, __ATOMIC_RELAXED);
}
