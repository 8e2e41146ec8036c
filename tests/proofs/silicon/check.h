/* check.h - rows of the report that the parts of check_silicon share. */
#ifndef ULP_SILICON_CHECK_H
#define ULP_SILICON_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend.h"
#include "kernels/cpu/native/native.h"
#include "kernels/probe/probe.h"

/* How much is run: all, or a part that takes seconds. */
typedef struct check_plan {
    int small, tap;
    int passed, failed, skipped;
} check_plan;

/* Print a row. `first` is the first difference of a row that failed, or a remark. */
void check_row(check_plan *plan, int good, const char *name, const char *first, ...)
    __attribute__((format(printf, 4, 5)));
void check_skip(check_plan *plan, const char *name, const char *why);

/* products.c: the product against its model: properties, order, directed vectors, random sums, a matrix product. */
void check_product(check_plan *plan, const ulp_cpu_native *native);

/* conversions.c: VCVTPS2PH, VCVTPH2PS and VCVTNEPS2BF16 in all modes. */
void check_conversions(check_plan *plan);

/* The control word of the vector unit: its rounding, flushing of operands and results, and flags, with the bits of
 * MXCSR; and the names of the processor for them. */
enum { CHECK_DEFAULT_CONTROL = 0x1f80, CHECK_FTZ = 0x8000, CHECK_DAZ = 0x40, CHECK_ROUNDING = 13, CHECK_FLAGS = 0x3f };
#if defined(__aarch64__)
#define CHECK_CONTROL "FPCR"
#define CHECK_FLUSHING "FPCR.FZ"
#define CHECK_STATUS "FPSR"
#else
#define CHECK_CONTROL "MXCSR"
#define CHECK_FLUSHING "MXCSR.FTZ and DAZ"
#define CHECK_STATUS "MXCSR"
#endif
unsigned check_control_get(void);
void check_control_set(unsigned control);

/* A random word: splitmix64 (Steele et al. 2014, doi:10.1145/2660193.2660195). */
static inline uint64_t check_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
