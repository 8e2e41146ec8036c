/* dropout.c - dropout, with random words for a piece of the array at a time. */
#include "kernels/cpu/philox.h"

typedef struct work {
    double *y;
    const float *x;
    ulp_dropout how;
} work;

static void dropout_part(void *context, size_t begin, size_t end) {
    const work *t = context;
    const uint32_t percent = t->how.percent, least = ulp_dropout_least(percent);
    uint32_t words[ULP_PIECE];
    philox p;
    philox_begin(&p, t->how.stream.seed, t->how.stream.stream);
    for (size_t at = begin; at < end; at += ULP_PIECE) {
        const size_t n = end - at < ULP_PIECE ? end - at : ULP_PIECE;
        const float *x = t->x + at;
        double *y = t->y + at;
        ULP_CPU(ulp_philox_words)(words, n, &p, t->how.stream.first + at);
        for (size_t i = 0; i < n; i++) y[i] = ulp_dropout_value(x[i], words[i], least, percent);
    }
}

ulp_status ULP_CPU(ulp_cpu_dropout)(double *y, const float *x, size_t n, ulp_dropout how) {
    work t = {y, x, how};
    ulp_parallel_for(n, ULP_GRAIN, dropout_part, &t);
    return ULP_OK;
}
