/* check.h - rows of the report, comparisons of bits, data, shared by the checks of the CUDA backend.
 *
 * The program is linked twice: with the real device (make check-gpu) and with the emulated device (make check). On the
 * emulated device the sizes are smaller, and checks that need silicon are skipped. */
#ifndef ULP_CHECK_H
#define ULP_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda.h"

typedef struct check {
    const ulp_backend *cpu, *gpu;
    ulp_cuda_info info;
    int emulated; /* the device is the emulated one */
    int small;    /* small sizes, for runs of seconds */
    int lengthy;  /* large sizes, for runs of more than minutes */
} check;

/* A row before it is printed: the number of compared elements, the number of wrong elements, the first difference. */
typedef struct row {
    const char *name;
    uint64_t compared, wrong;
    char first[400]; /* the first difference, or why the row is skipped */
    int skipped, stopped;
} row;

row row_of(const char *name);
/* Compare the bits of got (n) and want (n), NaN included. `format` and its arguments name the case in the text of the
 * first difference. */
void row_floats(row *r, const float *got, const float *want, size_t n, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void row_doubles(row *r, const double *got, const double *want, size_t n, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void row_words(row *r, const uint64_t *got, const uint64_t *want, size_t n, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Compare the counters of a result; `of` and `how` name the case. */
void row_counters(row *r, const ulp_stats *got, const ulp_stats *want, const char *of, const char *how);
/* Count a condition as one comparison. */
void row_true(row *r, int yes, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Returns whether a call succeeded. A call that failed makes the row fail and sets `stopped`. */
int row_ok(row *r, ulp_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void row_skip(row *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Print the row. A row that compared nothing and is not skipped fails. */
void row_end(row *r);

/* The random word of index i. */
uint32_t word_of(uint64_t seed, uint64_t i);
/* x (n) = values of the format, its largest and smallest values, special values, numbers near ties, any binary32 bits.
 */
void fill_any(float *x, size_t n, const ulp_format *format, uint64_t seed);
/* x (n) = normally distributed numbers times scale. */
void fill_normal(float *x, size_t n, double scale, uint64_t seed);
/* x (n) = values of random codes of the format. NaN and Inf occur only if special != 0, and then rarely. */
void fill_codes(float *x, size_t n, const ulp_format *format, int special, uint64_t seed);

/* Host memory for n elements, set to zero; never NULL: the program ends if there is no memory. */
void *room(size_t n, size_t size);

/* A copy of host memory in device memory (NULL if that fails), and a copy back. A failure makes the row fail. */
void *to_device(const check *c, row *r, const void *host, size_t bytes);
int from_device(const check *c, row *r, void *host, const void *device, size_t bytes);

/* Compare the result (n) of a call on the device, which lies at `device`, with the one on the host. */
void device_floats(const check *c, row *r, ulp_status status, const void *device, const float *want, size_t n,
                   const char *format, ...) __attribute__((format(printf, 7, 8)));
void device_doubles(const check *c, row *r, ulp_status status, const void *device, const double *want, size_t n,
                    const char *format, ...) __attribute__((format(printf, 7, 8)));

/* The checks; each has its own source. */
void check_layouts(const check *c);
void check_tensor_cores(const check *c);
void check_chains(const check *c);
void check_library(const check *c);
void check_elements(const check *c);
void check_blocks(const check *c);
void check_moves(const check *c);
void check_network(const check *c);
void check_layers(const check *c); /* a part of check_network */
void check_tokens(const check *c); /* a part of check_network */
void check_sequences(const check *c);
void check_gemm(const check *c);
void check_refused(const check *c);
void check_races(const check *c);
void check_training(const check *c);
void check_open(const check *c);
void check_exhaustive(const check *c);

/* Prints the open points: the question, the publications, the answers, and the field of the row that the answer sets.
 */
void print_open_points(void);

#endif
