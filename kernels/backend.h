/* backend.h - the operations a machine offers on arrays, as a table of functions.
 *
 * Arrays carry values: float where ulp_format.fits_binary32, else double. Every operation is bit for bit
 * the scalar definition in formats/, for any thread count, instruction set and device. An operation that
 * is NULL, or answers ULP_UNSUPPORTED, is not offered; nothing is substituted for it. Arrays, scales of a gemm
 * included, are the backend's own memory (alloc), which nothing but the table touches; formats, shapes, stats and steps
 * are the host's. Outputs may equal inputs exactly (not in gemm, patches, permute and pool), and may not overlap
 * otherwise.
 */
#ifndef ULP_BACKEND_H
#define ULP_BACKEND_H

#include "kernels/functions/activation.h"
#include "kernels/products/datapath.h"
#include "kernels/functions/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What happened in a rounding pass; added to, never reset. */
typedef struct ulp_stats {
    uint64_t count;     /* elements */
    uint64_t overflow;  /* finite input whose rounded magnitude exceeds the range, whatever the policy made of it */
    uint64_t saturated; /* results put on the end of the range: overflow or infinity that became +-max */
    uint64_t underflow; /* finite non-zero input whose rounded magnitude is zero */
    uint64_t subnormal; /* non-zero result below the least normal value */
    uint64_t zero;      /* results that are zero, of either sign */
    uint64_t nan;       /* NaN results */
} ulp_stats;

/* C (m,n) = A (m,k) B (k,n), row-major; *_trans says that the array in memory is the transpose,
 * A as (k,m) or B as (n,k). Leading dimensions are the arrays' row lengths in memory. */
typedef struct ulp_gemm_shape {
    size_t m, n, k;
    size_t lda, ldb, ldc;
    uint8_t a_trans, b_trans;
    uint8_t c_trans; /* the array of C in memory is (n,m); names of elements, and so their random words, stay those of
                        (m,n) */
    uint8_t accumulate; /* start each sum at the element of C, a value of the datapath's result format; else at +0 */
    /* Scales for datapaths that have them: of A (m, ceil(k / scale_block)), of B (n, ceil(k / scale_block)), values of
     * the scale format; NULL means ones. */
    const float *a_scales, *b_scales;
} ulp_gemm_shape;

/* Where a step of an update finds an operand, or puts its result: element i of an array, one value for every element,
 * or element i of a scratch array, which lives as long as the update and is never seen outside it. */
typedef enum ulp_operand_kind {
    ULP_OPERAND_NONE,
    ULP_OPERAND_ARRAY,
    ULP_OPERAND_VALUE,
    ULP_OPERAND_SCRATCH
} ulp_operand_kind;

typedef struct ulp_operand {
    uint8_t kind; /* ulp_operand_kind */
    uint8_t slot; /* of SCRATCH: 0 .. ULP_UPDATE_SCRATCH - 1 */
    float value;  /* of VALUE */
    float *at;    /* (n), of ARRAY */
} ulp_operand;

enum { ULP_UPDATE_SCRATCH = 4 };
enum { ULP_STEP_ROUND = ULP_OP_COUNT }; /* y = a, rounded: an op of steps alone */

/* y = op(a, b, c), the exact result rounded once; element i takes the random word of index stream.first + i. */
typedef struct ulp_update_step {
    uint8_t op; /* ulp_op or ULP_STEP_ROUND */
    ulp_operand y, a, b, c;
    ulp_format format;
    ulp_rule rule;
    ulp_stream stream;
} ulp_update_step;

/* The places of a kernel (K,K) on images x (B,c,h,w): at position (p,q) of (oh,ow) its element (i,j) lies on row
 * p stride + i - pad and column q stride + j - pad of x drawn apart: there x's rows and columns are `dilate` apart.
 * Between them and outside are zeros. */
typedef struct ulp_places {
    size_t B, c, h, w;
    size_t kernel, oh, ow;
    size_t stride, pad, dilate; /* stride and dilate at least 1 */
    uint8_t flip;               /* K - 1 - i and K - 1 - j for i and j */
} ulp_places;

typedef struct ulp_backend {
    const char *name; /* "cpu" */
    const char *what; /* the instruction set or device in use */

    void *(*alloc)(size_t bytes); /* 64-byte aligned; NULL when there is none */
    void (*release)(void *memory);
    ulp_status (*upload)(void *device, const void *host, size_t bytes);
    ulp_status (*download)(void *host, const void *device, size_t bytes);

    /* y (n) = x (n) rounded; element i takes the random word of index stream.first + i. stats may be NULL.
     * ULP_UNSUPPORTED if the format's values do not fit binary32. */
    ulp_status (*round)(float *y, const float *x, size_t n, const ulp_format *format, ulp_rule rule, ulp_stream stream,
                        ulp_stats *stats);
    ulp_status (*round64)(double *y, const double *x, size_t n, const ulp_format *format, ulp_rule rule,
                          ulp_stream stream, ulp_stats *stats);

    /* y (n) = op(a (n), b (n), c (n)), the exact result rounded once; operands not used may be NULL. */
    ulp_status (*map)(ulp_op op, float *y, const float *a, const float *b, const float *c, size_t n,
                      const ulp_format *format, ulp_rule rule, ulp_stream stream, ulp_stats *stats);

    /* The steps one after the other on arrays of n elements, bit for bit what round and map make of whole arrays, read
     * and written once: piece by piece, all steps on one piece while it is near. Arrays of different operands are equal
     * or apart. `step` is host memory. ULP_BAD_ARGUMENT for an operand that the op needs and the step lacks, or a
     * result that is neither array nor scratch; then nothing is written. */
    ulp_status (*update)(const ulp_update_step *step, size_t steps, size_t n);

    /* *y (host) = the largest |x| of x (n): 0 of none, NaN if any is NaN, else Inf if any is infinite. */
    ulp_status (*largest)(float *y, const float *x, size_t n);

    /* y (n) = the sums over i of x (m,n) in the datapath's order from +0: the product of a row of ones with x. */
    ulp_status (*reduce)(float *y, const float *x, size_t m, size_t n, const ulp_datapath *datapath, ulp_stream stream);

    /* C = A B under a datapath; see ulp_gemm_shape. Element (i,j) is ulp_dot() with the random words from index
     * stream.first + (i n + j) ulp_datapath_words(). ULP_NO_CODE if an operand is no value of the datapath's input
     * format; ULP_UNSUPPORTED if results are wider than binary32 (int8, binary64): gemm64 gives them. */
    ulp_status (*gemm)(float *c, const float *a, const float *b, const ulp_gemm_shape *shape,
                       const ulp_datapath *datapath, ulp_stream stream);
    ulp_status (*gemm64)(double *c, const double *a, const double *b, const ulp_gemm_shape *shape,
                         const ulp_datapath *datapath, ulp_stream stream);

    /* y (c K K, B oh ow): what every element of the kernel lies on, from x (B,c,h,w); a convolution is a product with
     * it. */
    ulp_status (*patches)(float *y, const float *x, const ulp_places *places);

    /* y (count,b,a,n) from x (count,a,b,n): blocks of n elements change places; a transpose where n = 1. */
    ulp_status (*permute)(float *y, const float *x, size_t count, size_t a, size_t b, size_t n);

    /* What networks do between products. relu is exact; the rest is binary64, to be rounded by round64 and narrowed. */

    /* y (n) = x (n) in binary32, to nearest even: exact for values of a format that fits it. */
    ulp_status (*narrow)(float *y, const double *x, size_t n);

    /* y (n) = max(x, 0); dx (n) = dy where y > 0, else 0; see curve.h. */
    ulp_status (*relu)(float *y, const float *x, size_t n);
    ulp_status (*relu_slope)(float *dx, const float *dy, const float *y, size_t n);

    /* y (n) = f(x); dx (n) = f'(x) dy, from what curve.h names as `at` (n). */
    ulp_status (*curve)(ulp_curve f, double *y, const float *x, size_t n);
    ulp_status (*slope)(ulp_curve f, double *dx, const float *dy, const float *at, size_t n);

    /* y and place (images,h / K,w / K) = the maximum of each window of x (images,h,w) and its place in it; dx
     * (images,h,w) = dy (images,h / K,w / K) at those places, else +0; see pool.h. */
    ulp_status (*pool)(float *y, float *place, const float *x, const ulp_windows *windows);
    ulp_status (*pool_slope)(float *dx, const float *dy, const float *place, const ulp_windows *windows);

    /* p (B,C) = softmax of the rows of z (B,C); loss (B) = -log p[label], C at least 1; see softmax.h. dz (B,C) = scale
     * (p - t) / B, t one in the label's column. label (B) is the backend's memory, too; a label of C or more: NaN loss,
     * and no t. */
    ulp_status (*softmax)(double *p, double *loss, const float *z, const uint8_t *label, size_t B, size_t C);
    ulp_status (*softmax_slope)(double *dz, const float *p, const uint8_t *label, size_t B, size_t C, double scale);
} ulp_backend;

/* The backend called `name` ("cpu"); NULL is the default. ULP_BAD_NAME, or ULP_NO_DEVICE when this
 * machine or build cannot offer it, ULPLAB_ISA included. */
ulp_status ulp_backend_get(const ulp_backend **backend, const char *name);

/* All names that it knows, with commas between them. */
const char *ulp_backend_names(void);

/* Why ulp_backend_get() answers ULP_NO_DEVICE for `name`, in a sentence; "" where it does not. */
const char *ulp_backend_lacks(const char *name);

/* Instruction sets of the CPU build, slowest first: "baseline", "avx2", "avx512"; NULL past the end. */
const char *ulp_cpu_isa_name(size_t i);
/* Whether this build holds code for it and this machine runs it. */
int ulp_cpu_isa_offered(size_t i);
/* The CPU backend of one instruction set, for tests and benchmarks; NULL if not offered. */
const ulp_backend *ulp_cpu_backend(size_t i);

/* Number of threads for array operations, 1024 at most; 0 restores the default (OMP_NUM_THREADS, else all processors).
 * No loop takes more threads than it has pieces. Results never depend on it. */
void ulp_threads_set(int n);
int ulp_threads_get(void);

/* Form matrix products in tiles of at most so many rows and columns of the result; 0, the default: as is best. Results
 * never depend on it. Not while a product runs. */
void ulp_tile_set(size_t rows, size_t columns);
void ulp_tile_get(size_t *rows, size_t *columns);

/* Run body(context, begin, end) over [0, n) in pieces that are multiples of `grain` (the last excepted),
 * on as many threads as are set; inside a parallel region, on the caller's alone. */
void ulp_parallel_for(size_t n, size_t grain, void (*body)(void *context, size_t begin, size_t end), void *context);

#ifdef __cplusplus
}
#endif
#endif
