/* bench_gpu.h - what the parts of bench_gpu share: the arrays, a thing to time, rows. */
#ifndef ULP_BENCH_GPU_H
#define ULP_BENCH_GPU_H

#include "experiments/harness/harness.h"
#include "kernels/cuda/cuda.h"
#include "sim/data.h"

typedef struct bench {
    const ulp_backend *gpu, *cpu;
    ulp_cuda_timer *timer;
    size_t elements, arrays, size, native_size;
    uint64_t steps;
    int units;
    size_t batch;
    double seconds;
    float **x, **y;      /* (arrays) of `elements`, on the device */
    float *unit, *whole; /* matrices of numbers in (-2, 2) and of integers in (-128, 128), for the largest product */
    float *a, *b, *c;    /* matrices for the largest product */
    double *wide;        /* three of them, for results that are wider than binary32 */
    ulp_data data;
} bench;

/* One thing to time; `turn` chooses the arrays. */
typedef struct task {
    const bench *b;
    size_t turn;
    const ulp_format *format;
    ulp_rule rule;
    const ulp_datapath *datapath;
    ulp_cuda_product *product;
    ulp_stats *stats;
} task;

typedef ulp_status (*work)(task *t);

/* *median: seconds of one call, by the device's events: of at least five batches. */
ulp_status measure(double *median, work todo, task *t);

void emit(ulp_rows *rows, const char *what, const char *of, const char *mode, double n, double rate, const char *unit,
          double ratio);

/* arrays.c: everything on the device that is worked on, and its end. */
ulp_status arrays_open(bench *b);
void arrays_close(bench *b);
/* Matrices a and b of m numbers each, values of these formats; as binary64 too, if wide. */
ulp_status operands(const bench *b, size_t m, const ulp_format *fa, const ulp_format *fb, int wide);

/* products.c: a row for every datapath; a row for every product that the device offers itself. */
ulp_status gemm_rows(const ulp_run *run, const bench *b, ulp_rows *rows);
ulp_status native_rows(const ulp_run *run, const bench *b, ulp_rows *rows);

#endif
