/* sum_growth.h - what the sums and the claims of sum_growth share: settings, points, rows. */
#ifndef ULP_EXPERIMENT_SUM_GROWTH_H
#define ULP_EXPERIMENT_SUM_GROWTH_H

#include "experiments/harness/experiment.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    uint64_t data, seed;
    double longest, delta;
    int64_t runs;
    const ulp_backend *backend;
} settings;

enum { POSITIVE, SIGNED, DOT_POSITIVE, DOT_SIGNED, HARMONIC, DATA_COUNT };
#define DATA_WORDS "positive signed dot-positive dot-signed harmonic"

/* A word of DATA_WORDS. */
typedef struct data_name {
    char text[16];
} data_name;
data_name data_name_of(int data);

/* All modes, on the same terms. */
typedef struct point {
    const ulp_format *format;
    int data;
} point;

typedef struct row {
    const char *format;
    int data;
    const char *mode;
    int64_t n;
    double least_error, median, rms, most_error; /* of all runs; Inf where a sum left the format's range */
    double gamma, linear, likely, lambda;        /* bounds; empty: none */
    int64_t within;
    double least, most, exact;
} row;

/* The longest sum has growth_length(growth_quarters(s)) terms, the shortest growth_length(4) = 10. */
int growth_quarters(const settings *s);

/* 10^(q / 4), rounded to a whole number. */
size_t growth_length(int q);

/* With few random bits errors have a bias, and the likely bound is no theorem; sr_bits.c is about that. */
int growth_is_unbiased(ulp_rule rule);

/* Prints the table and tests the claims. */
void judge(ulp_claims *claims);

#endif
