/* curves.c - tanh and sigmoid of binary64 numbers in vectors; kernels/curves.h documents them. */
#include "cpu.h"
#include "kernels/functions/lanes.h"

void ULP_CPU(ulp_cpu_tanh_rows)(double *x, size_t rows, size_t ld, size_t n);
void ULP_CPU(ulp_cpu_sigmoid_rows)(double *x, size_t rows, size_t ld, size_t n);

typedef struct work {
    double *x;
    size_t ld, n;
} work;

/* The elements of a piece of work. */
enum { PIECE = 8 * ULP_PIECE };

static void tanh_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t row = begin; row < end; row++) {
        double *x = w->x + row * w->ld;
        for (size_t i = 0; i < w->n; i++) x[i] = ulp_tanh_lane(x[i]);
    }
}

static void sigmoid_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t row = begin; row < end; row++) {
        double *x = w->x + row * w->ld;
        for (size_t i = 0; i < w->n; i++) x[i] = ulp_sigmoid_lane(x[i]);
    }
}

void ULP_CPU(ulp_cpu_tanh_rows)(double *x, size_t rows, size_t ld, size_t n) {
    work w = {x, ld, n};
    ulp_parallel_for(rows, PIECE / (n + 1) + 1, tanh_part, &w);
}

void ULP_CPU(ulp_cpu_sigmoid_rows)(double *x, size_t rows, size_t ld, size_t n) {
    work w = {x, ld, n};
    ulp_parallel_for(rows, PIECE / (n + 1) + 1, sigmoid_part, &w);
}
