/* bench_gpu.h - what the parts of bench_gpu share: settings, points, rows, the arrays, and a piece of work to time. */
#ifndef ULP_BENCH_GPU_H
#define ULP_BENCH_GPU_H

#include "experiments/harness/experiment.h"
#include "kernels/cuda/cuda.h"
#include "sim/data/data.h"
#include "sim/net.h"
#include "sim/policy/policy.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    ulp_datapath_list datapaths;
    int64_t elements, arrays, size, native_size, units, batch, steps;
    double seconds;
    int backend;
    uint64_t seed;
} settings;

/* One row of the CSV. */
typedef struct point {
    ulp_status (*put)(const ulp_task *task); /* measures the row and puts it */
    const ulp_format *format;                /* rounding: format and mode, and 1 to count events */
    const ulp_named_rule *mode;
    int counts;
    const ulp_datapath *datapath; /* products under datapaths */
    size_t index;                 /* of a native product in its list, or of a training */
} point;

typedef struct row {
    const char *what, *of, *mode;
    double n, rate;
    const char *unit;
    double ratio;
    const char *against; /* what the ratio is to; NULL: it has no rate */
    double clock;        /* of the device's processors right after the row, in MHz */
} row;

/* A network and a policy whose training is timed. */
typedef struct training {
    char text[128];
    ulp_net net;
    ulp_policy policy;
    const char *name; /* the CSV has this name in place of the policy */
} training;

enum { TRAININGS = 4, NATIVES = 256 };

/* Rates of earlier rows, which later rows are compared with. 0: not measured. */
typedef struct rates {
    double copy;            /* GB/s */
    double products;        /* G products/s of `reference` */
    const char *reference;  /* native:fp32 or fp32 */
    double native[NATIVES]; /* T operations/s of the native products, by index */
} rates;

typedef struct bench {
    rates *rates;
    const ulp_backend *gpu, *cpu;
    ulp_cuda_timer *timer;
    size_t elements, arrays, size, native_size;
    double seconds;
    float **x, **y;      /* (arrays) arrays of `elements`, on the device */
    float *unit, *whole; /* matrices of numbers in (-2, 2) and of integers in (-128, 128), for the largest product */
    float *a, *b, *c;    /* matrices for the largest product */
    double *wide;        /* three matrices, for results that do not fit binary32 */
    ulp_data data;
    training training[TRAININGS];
} bench;

/* One piece of work to time. `turn` selects the arrays. */
typedef struct job {
    const bench *b;
    size_t turn;
    const ulp_format *format;
    ulp_rule rule;
    const ulp_datapath *datapath;
    ulp_cuda_product *product;
    ulp_stats *stats;
    double clock; /* after the last measurement, in MHz */
} job;

typedef ulp_status (*work)(job *t);

/* measure.c: puts a row, with its ratio to `base`, the rate of r.against. If `base` is 0, the row has no ratio. */
void put(const ulp_task *task, row r, double base);
/* *median gets the time of one call in seconds, by the events of the device: the median of at least five
 * batches, after a warm-up as long as all of them. t->clock gets the clock after them. */
ulp_status measure(double *median, work todo, job *t);
/* *megahertz gets the clock of the device's processors now. */
ulp_status clock_now(double *megahertz);

/* arrays.c: allocates and frees all arrays on the device. */
ulp_status arrays_open(bench *b);
void arrays_close(bench *b);
/* Fills the matrices a and b with m numbers each, which are values of the formats fa and fb. If `wide`, also fills the
 * binary64 matrices. */
ulp_status operands(const bench *b, size_t m, const ulp_format *fa, const ulp_format *fb, int wide);

/* Add the points of a part. rounding.c: a copy, and every format and mode. */
void plan_rounding(ulp_plan *plan, const settings *set);
/* products.c: every datapath, and what they are compared with. */
void plan_products(ulp_plan *plan, const settings *set);
/* native.c: every product of the device itself, and a point for each reason why others are left out. native_rate()
 * gives the operations per second, times 10^-12, of a native product with m = n = k. */
void plan_native_products(ulp_plan *plan);
ulp_status native_rate(double *rate, job *t, const ulp_cuda_native *native, size_t n);

/* trainings.c: trainings_open() reads networks and policies for the data of `b`, which is already loaded.
 * trainings_close() releases them. */
void plan_trainings(ulp_plan *plan, const settings *set);
ulp_status trainings_open(const ulp_plan *plan, bench *b, int64_t units);
void trainings_close(bench *b);

#endif
