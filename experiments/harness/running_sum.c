/* running_sum.c - running sums that are rounded to a format after every addition; see running_sum.h. */
#include "running_sum.h"

#include <string.h>

ulp_sum ulp_sum_of(const ulp_format *format, const char *mode, ulp_rule rule, ulp_cure cure) {
    ulp_sum s = {.format = format, .mode = mode, .rule = rule, .cure = cure, .period = 1};
    s.native = strcmp(s.format->name, "binary32") == 0 && s.rule.mode == ULP_RNE;
    s.start = s.value = ulp_round(0, s.format, (ulp_rule){0}, 0);
    s.kept = s.cure == ULP_CURE_MASTER ? 0 : s.value;
    return s;
}

void ulp_sum_begin(ulp_sum *s, double start) {
    s->start = s->value = ulp_round(start, s->format, (ulp_rule){0}, 0);
    s->kept = s->cure == ULP_CURE_MASTER ? s->start : 0;
    s->terms = 0;
}

static double plus(const ulp_sum *s, double a, double b) { return ulp_sum_plus(s, a, b, 0); }

static void add_to_chunk(ulp_sum *s, double term) {
    s->kept = plus(s, s->kept, term);
    if (++s->terms < s->period) return;
    s->value = plus(s, s->value, s->kept);
    s->kept = ulp_round(0, s->format, (ulp_rule){0}, 0);
    s->terms = 0;
}

void ulp_sum_add(ulp_sum *s, double term, uint32_t word) {
    double corrected, next;
    switch (s->cure) {
    case ULP_CURE_KAHAN:
        corrected = plus(s, term, -s->kept);
        next = plus(s, s->value, corrected);
        s->kept = plus(s, plus(s, next, -s->value), -corrected);
        s->value = next;
        break;
    case ULP_CURE_MASTER:
        s->kept = (double)((float)s->kept + (float)term);
        s->value = ulp_round(s->kept, s->format, s->rule, 0);
        break;
    case ULP_CURE_CHUNKS: add_to_chunk(s, term); break;
    case ULP_CURE_FIRST:
        s->kept = plus(s, s->kept, term);
        s->value = plus(s, s->start, s->kept);
        break;
    case ULP_CURE_NONE: s->value = ulp_sum_plus(s, s->value, term, word); break;
    }
}
