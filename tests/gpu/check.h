/* check.h - what the checks of the CUDA backend share: rows of the report, comparing bits, data.
 *
 * The same program is linked twice: with the real backend (make check-gpu) and with its kernels on the emulated device
 * (make check), where sizes are smaller and what only silicon can say is skipped.
 */
#ifndef ULP_CHECK_H
#define ULP_CHECK_H

#include "kernels/backend.h"
#include "kernels/cuda/cuda.h"

typedef struct check {
    const ulp_backend *cpu, *gpu;
    ulp_cuda_info info;
    int emulated; /* no silicon */
    int small;    /* sizes for seconds */
} check;

/* A row under way: compared elements and the first that differ. */
typedef struct row {
    const char *name;
    uint64_t compared, wrong;
    char first[400]; /* the first difference, or why the row is skipped */
    int skipped, stopped;
} row;

row row_of(const char *name);
/* got (n) and want (n) hold the same bits, NaN included; `format` and what follows name the case for the first
 * difference. */
void row_floats(row *r, const float *got, const float *want, size_t n, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void row_doubles(row *r, const double *got, const double *want, size_t n, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void row_words(row *r, const uint64_t *got, const uint64_t *want, size_t n, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* One condition as a comparison. */
void row_true(row *r, int yes, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A call has to succeed; else the row counts as wrong and its check may stop: returns whether it did succeed. */
int row_ok(row *r, ulp_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void row_skip(row *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Print the row; it has to have compared something, or be skipped. */
void row_end(row *r);

/* Seeded numbers, element i from the word of index i. */
uint32_t word_of(uint64_t seed, uint64_t i);
/* x (n): numbers of the format, its ends, specials, subnormals and neighbours of ties, and any binary32 bits. */
void fill_any(float *x, size_t n, const ulp_format *format, uint64_t seed);
/* x (n): normally distributed, times scale. */
void fill_normal(float *x, size_t n, double scale, uint64_t seed);
/* x (n): random codes of the format without NaN and Inf; special != 0: now and then with them. */
void fill_codes(float *x, size_t n, const ulp_format *format, int special, uint64_t seed);

/* Host memory of zeros for n elements, never NULL: the program ends where there is none. */
void *room(size_t n, size_t size);

/* Device memory that holds x, and its way back; each fails the row. NULL when there is none. */
void *to_device(const check *c, row *r, const void *host, size_t bytes);
int from_device(const check *c, row *r, void *host, const void *device, size_t bytes);

/* The checks, one source each. */
void check_elements(const check *c);
void check_moves(const check *c);
void check_gemm(const check *c);
void check_refused(const check *c);
void check_tensor_cores(const check *c);
void check_native(const check *c);
void check_network(const check *c);
void check_training(const check *c);

#endif
