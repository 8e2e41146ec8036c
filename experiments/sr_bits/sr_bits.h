/* sr_bits.h - settings, points and rows of sr_bits, and their words. */
#ifndef ULP_EXPERIMENT_SR_BITS_H
#define ULP_EXPERIMENT_SR_BITS_H

#include "experiments/harness/experiment.h"

typedef struct settings {
    ulp_format_list formats;
    uint64_t modes; /* bit A, bit B and bit C are the modes of --modes */
    ulp_integer_list bits;
    int64_t reach, terms, runs;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

enum { A, B, C, MODE_COUNT };
#define MODE_WORDS "sra srb src"

enum { STOP, BIAS, ERROR, KIND_COUNT };
#define KIND_WORDS "stop bias error"

enum { BELOW_ONE, ONES, LATTICE, MIDPOINTS, UNIFORM };
#define INPUT_WORDS "below-one ones lattice midpoints uniform"

typedef struct point {
    const ulp_format *format;
    int mode, kind;
    int64_t bits;
} point;

typedef struct row {
    int kind;
    const char *format;
    int64_t p;
    int mode;
    int64_t bits;
    int input;
    int64_t cut_bits;
    double first_stuck, least, most;
    int64_t terms;
    double bias, mean_error, rms, predicted;
} row;

#endif
