/* stats.c - the counters of a rounding pass, for the scalar path and across threads. */
#include "cpu/cpu.h"

/* Under policy nan a finite value becomes NaN exactly if its rounded magnitude is out of range. */
static int overflows(ulp_exact x, const ulp_format *format, ulp_rule rule, uint32_t word) {
    rule.overflow = ULP_OVERFLOW_NAN;
    double y = ulp_round_exact(x, format, rule, word);
    return x.kind == ULP_EXACT_FINITE && y != y;
}

void ulp_stats_count(ulp_stats *stats, ulp_exact x, double y, const ulp_format *format, ulp_rule rule, uint32_t word) {
    const double size = y < 0 ? -y : y;
    const int overflow = overflows(x, format, rule, word);
    const int beyond = overflow || x.kind == ULP_EXACT_INF;
    stats->count += 1;
    stats->overflow += (uint64_t)overflow;
    stats->saturated += (uint64_t)(beyond && ulp_overflow_of(format, (ulp_overflow)rule.overflow) != ULP_OVERFLOW_WRAP &&
                                   (y == format->max || y == format->lowest));
    stats->underflow += (uint64_t)(x.kind == ULP_EXACT_FINITE && y == 0.0 && !beyond);
    stats->subnormal += (uint64_t)(size > 0.0 && size < format->min_normal);
    stats->nan += (uint64_t)(y != y);
}

void ulp_stats_add(ulp_stats *to, const ulp_stats *from) {
    __atomic_fetch_add(&to->count, from->count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->overflow, from->overflow, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->saturated, from->saturated, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->underflow, from->underflow, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->subnormal, from->subnormal, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to->nan, from->nan, __ATOMIC_RELAXED);
}
