/* fp8_accumulation.h - what the products and the claims of fp8_accumulation.c share. */
#ifndef ULP_EXPERIMENT_FP8_ACCUMULATION_H
#define ULP_EXPERIMENT_FP8_ACCUMULATION_H

#include "experiments/harness/harness.h"

enum { UNIFORM, NORMAL, CONSTANT, DATA_COUNT };
extern const char *const fp8_data[DATA_COUNT];

enum { SUM_LENGTH = 32768 }; /* products of constants */

/* A way to sum; 0 where bits or interval are not what it varies. */
typedef struct fp8_way {
    ulp_datapath datapath;
    int bits, promote;
} fp8_way;

enum { WAYS_MAX = 256 };

/* The datapaths, then the bits, then the intervals, and their number. */
ulp_status fp8_ways(const ulp_run *run, fp8_way *ways, size_t *count);

/* Prints the table and tests the claims. */
void fp8_check(ulp_run *run, const void *context);

#endif
