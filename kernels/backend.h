/* backend.h - the operations a machine offers on arrays, as a table of functions.
 *
 * Arrays carry values: float where ulp_format.fits_binary32, else double. Every operation is bit for bit
 * the scalar definition in formats/, for any thread count, instruction set and device. An operation that a backend
 * lacks answers ULP_UNSUPPORTED; nothing is substituted for it. Arrays, scales of a gemm
 * included, are the backend's own memory (alloc), which nothing but the table touches; formats, shapes, stats and steps
 * are the host's. Outputs may equal inputs exactly (not in gemm, im2col, permute and pool), and may not overlap
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

/* The geometry of a convolution by a kernel (K,K) on images x (B,c,h,w). x is spread out first: between its rows and
 * columns lie dilate - 1 rows and columns of zeros, and zeros lie around it. At position (p,q) of (oh,ow) the element
 * (i,j) of the kernel meets row p stride + i - pad and column q stride + j - pad of the spread image. */
typedef struct ulp_im2col {
    size_t B, c, h, w;
    size_t kernel, oh, ow;
    size_t stride, pad, dilate; /* stride and dilate at least 1 */
    uint8_t flip;               /* K - 1 - i and K - 1 - j for i and j */
} ulp_im2col;

/* How the elements of an array are rounded: element i takes the random word of index stream.first + i. */
typedef struct ulp_rounding {
    const ulp_format *format;
    ulp_rule rule;
    ulp_stream stream;
    ulp_stats *stats; /* counts what happened; NULL: nobody counts */
} ulp_rounding;

/* op(a, b, c), element by element; operands that the op does not use may be NULL. */
typedef struct ulp_array_op {
    ulp_op op;
    const float *a, *b, *c;
} ulp_array_op;

/* How sums of products are formed: element (i,j) of a result (m,n) takes the random words from index
 * stream.first + (i n + j) ulp_datapath_words(). */
typedef struct ulp_summation {
    const ulp_datapath *datapath;
    ulp_stream stream;
} ulp_summation;

/* An array (count,a,b,n), whose blocks of n elements are to become (count,b,a,n). */
typedef struct ulp_permute_shape {
    size_t count, a, b, n;
} ulp_permute_shape;

/* The classes of B rows, each of 0 .. C - 1; the labels are the backend's memory. */
typedef struct ulp_labels {
    const uint8_t *label; /* (B) */
    size_t B, C;
} ulp_labels;

/* The table that a backend fills; what each operation does is said at the function of its name below. Arguments have
 * passed that function's check: an entry does not check them again. NULL: not offered. */
typedef struct ulp_backend {
    const char *name; /* "cpu" */
    const char *what; /* the instruction set or device in use */

    void *(*alloc)(size_t bytes); /* 64-byte aligned; NULL when there is none */
    void (*release)(void *memory);
    ulp_status (*upload)(void *device, const void *host, size_t bytes);
    ulp_status (*download)(void *host, const void *device, size_t bytes);

    ulp_status (*round)(float *y, const float *x, size_t n, ulp_rounding rounding);
    ulp_status (*round64)(double *y, const double *x, size_t n, ulp_rounding rounding);
    ulp_status (*map)(float *y, ulp_array_op op, size_t n, ulp_rounding rounding);
    ulp_status (*update)(const ulp_update_step *step, size_t steps, size_t n);
    ulp_status (*largest)(float *y, const float *x, size_t n);
    ulp_status (*reduce)(float *y, const float *x, size_t m, size_t n, ulp_summation summation);
    ulp_status (*gemm)(float *c, const float *a, const float *b, const ulp_gemm_shape *shape, ulp_summation summation);
    ulp_status (*gemm64)(double *c, const double *a, const double *b, const ulp_gemm_shape *shape,
                         ulp_summation summation);
    ulp_status (*im2col)(float *y, const float *x, const ulp_im2col *geometry);
    ulp_status (*permute)(float *y, const float *x, ulp_permute_shape shape);
    ulp_status (*narrow)(float *y, const double *x, size_t n);
    ulp_status (*relu)(float *y, const float *x, size_t n);
    ulp_status (*relu_slope)(float *dx, const float *dy, const float *y, size_t n);
    ulp_status (*activate)(double *y, const float *x, size_t n, ulp_activation f);
    ulp_status (*activate_slope)(double *dx, const float *dy, const float *at, size_t n, ulp_activation f);
    ulp_status (*pool)(float *y, float *place, const float *x, const ulp_windows *windows);
    ulp_status (*pool_slope)(float *dx, const float *dy, const float *place, const ulp_windows *windows);
    ulp_status (*softmax)(double *p, double *loss, const float *z, ulp_labels labels);
    ulp_status (*softmax_slope)(double *dz, const float *p, ulp_labels labels, double scale);
} ulp_backend;

/* ---- the operations: each checks its arguments and calls the backend's own ----
 *
 * ULP_BAD_ARGUMENT or another status from the check comes back before an array is read or written, the same on every
 * backend. ULP_UNSUPPORTED for an operation that the backend lacks; ulp_backend_error() names it. */

/* y (n) = x (n) rounded. ULP_UNSUPPORTED if the format's values do not fit binary32. */
ulp_status ulp_backend_round(const ulp_backend *backend, float *y, const float *x, size_t n, ulp_rounding rounding);
ulp_status ulp_backend_round64(const ulp_backend *backend, double *y, const double *x, size_t n, ulp_rounding rounding);

/* y (n) = op(a (n), b (n), c (n)), the exact result rounded once. */
ulp_status ulp_backend_map(const ulp_backend *backend, float *y, ulp_array_op op, size_t n, ulp_rounding rounding);

/* The steps one after the other on arrays of n elements, bit for bit what round and map make of whole arrays, read
 * and written once: piece by piece, all steps on one piece while it is near. Arrays of different operands are equal
 * or apart. `step` is host memory. ULP_BAD_ARGUMENT for an operand that the op needs and the step lacks, or a
 * result that is neither array nor scratch; then nothing is written. */
ulp_status ulp_backend_update(const ulp_backend *backend, const ulp_update_step *step, size_t steps, size_t n);

/* *y (host) = the largest |x| of x (n): 0 of none, NaN if any is NaN, else Inf if any is infinite. */
ulp_status ulp_backend_largest(const ulp_backend *backend, float *y, const float *x, size_t n);

/* y (n) = the sums over i of x (m,n) in the datapath's order from +0: the product of a row of ones with x. */
ulp_status ulp_backend_reduce(const ulp_backend *backend, float *y, const float *x, size_t m, size_t n,
                              ulp_summation summation);

/* C = A B under a datapath; see ulp_gemm_shape. Each element is ulp_dot() of its row and column. ULP_NO_CODE if an
 * operand is no value of the datapath's input format; ULP_UNSUPPORTED if results are wider than binary32 (int8,
 * binary64): gemm64 gives them. */
ulp_status ulp_backend_gemm(const ulp_backend *backend, float *c, const float *a, const float *b,
                            const ulp_gemm_shape *shape, ulp_summation summation);
ulp_status ulp_backend_gemm64(const ulp_backend *backend, double *c, const double *a, const double *b,
                              const ulp_gemm_shape *shape, ulp_summation summation);

/* y (c K K, B oh ow) = for each element of the kernel the elements of x (B,c,h,w) that it meets; a convolution is a
 * product with y. */
ulp_status ulp_backend_im2col(const ulp_backend *backend, float *y, const float *x, const ulp_im2col *geometry);

/* y (count,b,a,n) from x (count,a,b,n): blocks of n elements change places; a transpose where n = 1. */
ulp_status ulp_backend_permute(const ulp_backend *backend, float *y, const float *x, ulp_permute_shape shape);

/* What networks do between products. relu is exact; the rest is binary64, to be rounded by round64 and narrowed. */

/* y (n) = x (n) in binary32, to nearest even: exact for values of a format that fits it. */
ulp_status ulp_backend_narrow(const ulp_backend *backend, float *y, const double *x, size_t n);

/* y (n) = max(x, 0); dx (n) = dy where y > 0, else 0; see activation.h. */
ulp_status ulp_backend_relu(const ulp_backend *backend, float *y, const float *x, size_t n);
ulp_status ulp_backend_relu_slope(const ulp_backend *backend, float *dx, const float *dy, const float *y, size_t n);

/* y (n) = f(x); dx (n) = f'(x) dy, from the values that activation.h calls `at` (n). */
ulp_status ulp_backend_activate(const ulp_backend *backend, double *y, const float *x, size_t n, ulp_activation f);
ulp_status ulp_backend_activate_slope(const ulp_backend *backend, double *dx, const float *dy, const float *at,
                                      size_t n, ulp_activation f);

/* y and place (images,h / K,w / K) = the maximum of each window of x (images,h,w) and its place in it; dx
 * (images,h,w) = dy (images,h / K,w / K) at those places, else +0; see pool.h. */
ulp_status ulp_backend_pool(const ulp_backend *backend, float *y, float *place, const float *x,
                            const ulp_windows *windows);
ulp_status ulp_backend_pool_slope(const ulp_backend *backend, float *dx, const float *dy, const float *place,
                                  const ulp_windows *windows);

/* p (B,C) = softmax of the rows of z (B,C); loss (B) = -log p[label], C at least 1; see softmax.h. dz (B,C) = scale
 * (p - t) / B, t one in the label's column. A label of C or more: NaN loss, and no t. */
ulp_status ulp_backend_softmax(const ulp_backend *backend, double *p, double *loss, const float *z, ulp_labels labels);
ulp_status ulp_backend_softmax_slope(const ulp_backend *backend, double *dz, const float *p, ulp_labels labels,
                                     double scale);

/* The part of a product's check that knows no datapath: operands that are read are not NULL, rows do not overlap. */
ulp_status ulp_gemm_shape_check(const void *a, const void *b, const ulp_gemm_shape *shape);

/* What kept the last operation that failed on this thread, in a sentence: the operation that the backend lacks, or what
 * the device said; "" if there is no more to say than the status. */
const char *ulp_backend_error(void);

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
