/* squares.c - sums of squares of chunks of an array; see kernels/functions/squares.h. */
#include "kernels/cpu/cpu.h"

typedef struct work {
    double *y;
    const float *x;
    size_t n;
} work;

static double sum_of_chunk(const float *x, size_t n) {
    double lane[ULP_SQUARES_LANES] = {0.0};
    const size_t whole = n - n % ULP_SQUARES_LANES;
    for (size_t i = 0; i < whole; i += ULP_SQUARES_LANES)
        for (size_t j = 0; j < ULP_SQUARES_LANES; j++) lane[j] += (double)x[i + j] * (double)x[i + j];
    for (size_t j = 0; j < n - whole; j++) lane[j] += (double)x[whole + j] * (double)x[whole + j];
    for (size_t h = ULP_SQUARES_LANES / 2; h > 0; h /= 2)
        for (size_t j = 0; j < h; j++) lane[j] += lane[j + h];
    return ulp_quieted(lane[0]);
}

static void squares_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t chunk = ULP_SQUARES_CHUNK;
    for (size_t c = begin; c < end; c++) {
        const size_t first = c * chunk, left = w->n - first;
        w->y[c] = sum_of_chunk(w->x + first, left < chunk ? left : chunk);
    }
}

ulp_status ULP_CPU(ulp_cpu_squares)(double *y, const float *x, size_t n) {
    work w = {y, x, n};
    ulp_parallel_for(ulp_squares_chunks(n), ULP_GRAIN / ULP_SQUARES_CHUNK, squares_part, &w);
    return ULP_OK;
}
