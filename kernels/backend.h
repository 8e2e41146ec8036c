/* backend.h - the operations of a backend on arrays, as a table of functions.
 *
 * Arrays hold values: float where ulp_format.fits_binary32, else double. Every operation gives the bits of the scalar
 * definition in formats/, for any thread count, instruction set and device. An operation that a backend lacks returns
 * ULP_UNSUPPORTED; no other operation replaces it. Arrays, including the scales of a gemm, are the backend's own memory
 * (alloc); only the functions of the table access this memory. Formats, shapes, stats and steps are host memory. An
 * output may be the same array as an input (but not in gemm, im2col, permute, pool and upsample). Arrays may not
 * overlap in another way.
 */
#ifndef ULP_BACKEND_H
#define ULP_BACKEND_H

#include "base/threads.h"
#include "kernels/functions/activation.h"
#include "kernels/functions/cell.h"
#include "kernels/functions/dropout.h"
#include "kernels/functions/norm.h"
#include "kernels/functions/pool.h"
#include "kernels/products/datapath.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The counts of a rounding pass. A pass adds to the counts and never resets them. */
typedef struct ulp_stats {
    uint64_t count;     /* elements */
    uint64_t overflow;  /* finite input whose rounded magnitude exceeds the range, under any policy */
    uint64_t saturated; /* results at the end of the range, +-max, that come from overflow or infinity */
    uint64_t underflow; /* finite non-zero input whose rounded magnitude is zero */
    uint64_t subnormal; /* non-zero result below the least normal value */
    uint64_t zero;      /* results that are zero, of either sign */
    uint64_t nan;       /* NaN results */
} ulp_stats;

/* C (m,n) = A (m,k) B (k,n), row-major. *_trans is 1 if the array in memory is the transpose: A as (k,m), B as (n,k).
 * Leading dimensions are the row lengths of the arrays in memory. */
typedef struct ulp_gemm_shape {
    size_t m, n, k;
    size_t lda, ldb, ldc;
    uint8_t a_trans, b_trans;
    uint8_t c_trans;    /* the array of C in memory is (n,m); an element has the random words of its place in (m,n) */
    uint8_t accumulate; /* a sum starts at the element of C, a value of the datapath's result format; else it starts at
                           +0 */
    uint8_t deferred;   /* the caller asks ulp_backend_settle() later whether all operands were values of their formats;
                           a backend may then return ULP_OK before it knows */
    /* The scales of a datapath with scales: of A (m, ceil(k / scale_block)) and of B (n, ceil(k / scale_block)), values
     * of the scale format. NULL means that all scales are 1. */
    const float *a_scales, *b_scales;
} ulp_gemm_shape;

/* The kinds of operands and results of an update step: element i of an array, one value for every element, or element
 * i of a scratch array. A scratch array exists only during the update. */
typedef enum ulp_operand_kind {
    ULP_OPERAND_NONE,
    ULP_OPERAND_ARRAY,
    ULP_OPERAND_VALUE,
    ULP_OPERAND_SCRATCH
} ulp_operand_kind;

typedef struct ulp_operand {
    uint8_t kind; /* ulp_operand_kind */
    uint8_t slot; /* number of the SCRATCH array, 0 .. ULP_UPDATE_SCRATCH - 1 */
    float value;  /* the value of VALUE */
    float *at;    /* (n), the array of ARRAY */
} ulp_operand;

enum { ULP_UPDATE_SCRATCH = 4 };
enum { ULP_STEP_ROUND = ULP_OP_COUNT }; /* y = a rounded: an operation of update steps only */

/* y = op(a, b, c): the exact result rounded once. The random word of element i has index stream.first + i. */
typedef struct ulp_update_step {
    uint8_t op; /* ulp_op or ULP_STEP_ROUND */
    ulp_operand y, a, b, c;
    ulp_format format;
    ulp_rule rule;
    ulp_stream stream;
} ulp_update_step;

/* The geometry of a convolution by a kernel (K,K) on images x (B,c,h,w). An image is first dilated and padded:
 * dilate - 1 rows (columns) of zeros are inserted between neighbouring rows (columns), and zeros surround the image. At
 * position (p,q) of (oh,ow), element (i,j) of the kernel meets row p stride + i - pad and column q stride + j - pad of
 * the dilated image. */
typedef struct ulp_im2col {
    size_t B, c, h, w;
    size_t kernel, oh, ow;
    size_t stride, pad, dilate; /* stride and dilate at least 1 */
    uint8_t flip;               /* 1: K - 1 - i and K - 1 - j replace i and j */
} ulp_im2col;

/* The rounding of the elements of an array. The random word of element i has index stream.first + i. */
typedef struct ulp_rounding {
    const ulp_format *format;
    ulp_rule rule;
    ulp_stream stream;
    ulp_stats *stats; /* the counts to add to; NULL: no counting. Calls on several threads have counts of their own. */
} ulp_rounding;

/* The elementwise operation op(a, b, c). Operands that the operation does not use may be NULL. */
typedef struct ulp_array_op {
    ulp_op op;
    const float *a, *b, *c;
} ulp_array_op;

/* The formation of sums of products. The random words of element (i,j) of a result (m,n) start at index
 * stream.first + (i n + j) ulp_datapath_words(). */
typedef struct ulp_summation {
    const ulp_datapath *datapath;
    ulp_stream stream;
} ulp_summation;

/* An array (count,a,b,n). A permutation of its blocks of n elements gives (count,b,a,n). */
typedef struct ulp_permute_shape {
    size_t count, a, b, n;
} ulp_permute_shape;

/* The classes of B rows, each in 0 .. C - 1. The labels are the backend's memory. */
typedef struct ulp_labels {
    const uint8_t *label; /* (B) */
    size_t B, C;
} ulp_labels;

/* B sequences of labels at T steps with C outputs each, for connectionist temporal classification (functions/ctc.h). A
 * sequence ends at its first ULP_NO_LABEL, or at L. Labels are outputs in 0 .. C - 2; output C - 1 is the blank. The
 * labels are the backend's memory. */
typedef struct ulp_sequences {
    const uint8_t *label; /* (B,L) */
    size_t B, C, T, L;
} ulp_sequences;

enum { ULP_NO_LABEL = 255, ULP_LABELS_MAX = 254 };

/* The sums over paths of a batch, and their gradient. */
typedef struct ulp_path_sums {
    uint8_t linear;        /* 1: probabilities, 0: their natural logarithms */
    double scale;          /* factor of the gradient */
    ulp_rounding rounding; /* of every operation of alpha and beta, see functions/ctc.h. The words of sample b begin at
                              stream.first + b ulp_ctc_words(L, T). The counts leave out `saturated`. */
    uint64_t beta_stream;  /* takes the place of rounding.stream.stream in beta */
} ulp_path_sums;

/* The table of a backend's functions. The function ulp_backend_NAME below documents the entry NAME and checks its
 * arguments, so that the entry does not check them. NULL: the backend does not offer the operation. */
typedef struct ulp_backend {
    const char *name; /* "cpu" */
    const char *what; /* the instruction set or device in use */

    void *(*alloc)(size_t bytes); /* 64-byte aligned; NULL when no memory is left */
    void (*release)(void *memory);
    ulp_status (*upload)(void *device, const void *host, size_t bytes);
    ulp_status (*download)(void *host, const void *device, size_t bytes);

    ulp_status (*round)(float *y, const float *x, size_t n, ulp_rounding rounding);
    ulp_status (*round64)(double *y, const double *x, size_t n, ulp_rounding rounding);
    ulp_status (*map)(float *y, ulp_array_op op, size_t n, ulp_rounding rounding);
    ulp_status (*update)(const ulp_update_step *step, size_t steps, size_t n);
    ulp_status (*largest)(float *y, const float *x, size_t n, int finite);
    ulp_status (*reduce)(float *y, const float *x, size_t m, size_t n, ulp_summation summation);
    ulp_status (*gemm)(float *c, const float *a, const float *b, const ulp_gemm_shape *shape, ulp_summation summation);
    ulp_status (*gemm64)(double *c, const double *a, const double *b, const ulp_gemm_shape *shape,
                         ulp_summation summation);
    ulp_status (*im2col)(float *y, const float *x, const ulp_im2col *geometry);
    ulp_status (*permute)(float *y, const float *x, ulp_permute_shape shape);
    ulp_status (*narrow)(float *y, const double *x, size_t n);
    ulp_status (*scale)(double *y, const double *x, size_t n, double factor);
    ulp_status (*relu)(float *y, const float *x, size_t n);
    ulp_status (*relu_slope)(float *dx, const float *dy, const float *y, size_t n);
    ulp_status (*activate)(double *y, const float *x, size_t n, ulp_activation f);
    ulp_status (*activate_slope)(double *dx, const float *dy, const float *at, size_t n, ulp_activation f);
    ulp_status (*pool)(float *y, float *place, const float *x, const ulp_windows *windows);
    ulp_status (*pool_slope)(float *dx, const float *dy, const float *place, const ulp_windows *windows);
    ulp_status (*pool_strided)(float *y, float *place, const float *x, const ulp_strided_windows *windows);
    ulp_status (*pool_strided_slope)(double *dx, const float *dy, const float *place,
                                     const ulp_strided_windows *windows);
    ulp_status (*average)(double *y, const float *x, const ulp_windows *windows);
    ulp_status (*average_slope)(double *dx, const float *dy, const ulp_windows *windows);
    ulp_status (*upsample)(float *y, const float *x, const ulp_windows *windows);
    ulp_status (*upsample_slope)(double *dx, const float *dy, const ulp_windows *windows);
    ulp_status (*norm_statistics)(double *to, const float *x, ulp_channels shape);
    ulp_status (*norm_running)(double *to, const float *running, const float *batch, ulp_channels shape);
    ulp_status (*norm)(double *y, const float *x, ulp_norm by);
    ulp_status (*norm_sums)(double *sums, const float *dy, const float *x, ulp_norm by);
    ulp_status (*norm_slope)(double *dx, const float *dy, const float *x, const double *sums, ulp_norm by);
    ulp_status (*dropout)(double *y, const float *x, size_t n, ulp_dropout how);
    ulp_status (*softmax)(double *p, double *loss, const float *z, ulp_labels labels);
    ulp_status (*softmax_slope)(double *dz, const float *p, ulp_labels labels, double scale);
    ulp_status (*cell)(double *to, const ulp_cell_arrays *arrays, ulp_cell_stage stage);
    ulp_status (*ctc_outputs)(double *p, const float *z, ulp_sequences sequences, int linear);
    ulp_status (*ctc)(double *dz, double *loss, double *work, const float *p, ulp_sequences sequences,
                      const ulp_path_sums *sums);
    /* NULL: ulp_backend_gemm_round() calls gemm, then round. */
    ulp_status (*gemm_round)(float *c, const float *a, const float *b, const ulp_gemm_shape *shape,
                             ulp_summation summation, ulp_rounding rounding);
    /* NULL: the backend derives nothing from arrays, and defers no answer. */
    ulp_status (*keep)(const float *x, size_t n);
    void (*forget)(const float *x, size_t n);
    ulp_status (*settle)(void);
} ulp_backend;

/* ---- the operations: each function checks its arguments and calls the backend's function ----
 *
 * A function that returns ULP_BAD_ARGUMENT or another status of its check has not read or written an array. The check
 * is equal for all backends. ULP_UNSUPPORTED for an operation that the backend lacks; ulp_backend_error() names the
 * operation.
 */

/* y (n) = x (n) rounded. ulp_backend_round returns ULP_UNSUPPORTED if the format's values do not fit binary32. */
ulp_status ulp_backend_round(const ulp_backend *backend, float *y, const float *x, size_t n, ulp_rounding rounding);
ulp_status ulp_backend_round64(const ulp_backend *backend, double *y, const double *x, size_t n, ulp_rounding rounding);

/* y (n) = op(a (n), b (n), c (n)), the exact result rounded once. */
ulp_status ulp_backend_map(const ulp_backend *backend, float *y, ulp_array_op op, size_t n, ulp_rounding rounding);

/* Runs the steps in order on arrays of n elements, with the bits of round and map on whole arrays. Every step runs on
 * one piece of the arrays while the piece is in the cache, so that each array is read and written once. Arrays of
 * different operands are the same array or do not overlap. `step` is host memory. Returns ULP_BAD_ARGUMENT, and writes
 * no array, for an operand that the operation needs and the step lacks, and for a result that is neither array nor
 * scratch. */
ulp_status ulp_backend_update(const ulp_backend *backend, const ulp_update_step *step, size_t steps, size_t n);

/* *y (host memory) = the largest |x| of x (n): 0 if n = 0, NaN if any element is NaN, else Inf if any element is
 * infinite. With finite = 1 only finite elements count: 0 if no element is finite. */
ulp_status ulp_backend_largest(const ulp_backend *backend, float *y, const float *x, size_t n, int finite);

/* y (n) = the sums over i of x (m,n) in the datapath's order from +0: the product of a row of ones with x. */
ulp_status ulp_backend_reduce(const ulp_backend *backend, float *y, const float *x, size_t m, size_t n,
                              ulp_summation summation);

/* C = A B under a datapath; see ulp_gemm_shape. Each element is the ulp_dot() of its row and column. Returns
 * ULP_NO_CODE if the datapath's input format does not hold an operand. ulp_backend_gemm returns ULP_UNSUPPORTED if
 * results are wider than binary32 (int8, binary64); ulp_backend_gemm64 gives these results. Datapaths with words are of
 * ulp_backend_gemm alone. */
ulp_status ulp_backend_gemm(const ulp_backend *backend, float *c, const float *a, const float *b,
                            const ulp_gemm_shape *shape, ulp_summation summation);
ulp_status ulp_backend_gemm64(const ulp_backend *backend, double *c, const double *a, const double *b,
                              const ulp_gemm_shape *shape, ulp_summation summation);

/* C = A B as ulp_backend_gemm(), and then C rounded as an array of m n elements: element (i,j) is number i n + j. The
 * rows of C follow each other: ldc = n and c_trans = 0. A backend may round a part of C while the part is in the cache.
 */
ulp_status ulp_backend_gemm_round(const ulp_backend *backend, float *c, const float *a, const float *b,
                                  const ulp_gemm_shape *shape, ulp_summation summation, ulp_rounding rounding);

/* ulp_backend_keep declares that x (n) does not change until ulp_backend_forget, or until its memory is released. A
 * backend may keep what it derives from x, such as codes for its own products. ulp_backend_forget ends this for all
 * kept arrays that x (n) touches. A caller that changes a kept array gets results of its old elements. */
ulp_status ulp_backend_keep(const ulp_backend *backend, const float *x, size_t n);
void ulp_backend_forget(const ulp_backend *backend, const float *x, size_t n);

/* Waits for the answer of the deferred products since the last call. Returns ULP_NO_CODE if an operand of one of them
 * was no value of its format: then the results of these products mean nothing. */
ulp_status ulp_backend_settle(const ulp_backend *backend);

/* y (c K K, B oh ow) = for each element of the kernel, the elements of x (B,c,h,w) that the kernel element meets. A
 * convolution is a matrix product with y. */
ulp_status ulp_backend_im2col(const ulp_backend *backend, float *y, const float *x, const ulp_im2col *geometry);

/* y (count,b,a,n) = x (count,a,b,n) with its blocks of n elements permuted; a transpose where n = 1. */
ulp_status ulp_backend_permute(const ulp_backend *backend, float *y, const float *x, ulp_permute_shape shape);

/* The operations of networks between matrix products. relu is exact. The other operations compute in binary64; round64
 * and narrow then round their results. */

/* y (n) = x (n) rounded to nearest even in binary32. This is exact for values of a format that fits binary32. */
ulp_status ulp_backend_narrow(const ulp_backend *backend, float *y, const double *x, size_t n);

/* y (n) = factor x (n), one product in binary64. */
ulp_status ulp_backend_scale(const ulp_backend *backend, double *y, const double *x, size_t n, double factor);

/* y (n) = max(x, 0). dx (n) = dy where y > 0, else 0. See activation.h. */
ulp_status ulp_backend_relu(const ulp_backend *backend, float *y, const float *x, size_t n);
ulp_status ulp_backend_relu_slope(const ulp_backend *backend, float *dx, const float *dy, const float *y, size_t n);

/* y (n) = f(x). dx (n) = f'(x) dy, computed from the values `at` (n) of activation.h. */
ulp_status ulp_backend_activate(const ulp_backend *backend, double *y, const float *x, size_t n, ulp_activation f);
ulp_status ulp_backend_activate_slope(const ulp_backend *backend, double *dx, const float *dy, const float *at,
                                      size_t n, ulp_activation f);

/* y and place (images,h / K,w / K) = the maximum of each window of x (images,h,w), and the place of the maximum in the
 * window. dx (images,h,w) = dy (images,h / K,w / K) at these places, else +0. See pool.h. */
ulp_status ulp_backend_pool(const ulp_backend *backend, float *y, float *place, const float *x,
                            const ulp_windows *windows);
ulp_status ulp_backend_pool_slope(const ulp_backend *backend, float *dx, const float *dy, const float *place,
                                  const ulp_windows *windows);

/* The same for windows with a stride and a frame: p x q windows for each image, as ulp_strided_count() says. y and
 * place (images,p,q) = the maximum of each window of x (images,h,w), and its place; the frame has no numbers. dx
 * (images,h,w) = the sums in binary64 of the dy (images,p,q) of the windows whose maximum a pixel is, in the order of
 * the windows. */
ulp_status ulp_backend_pool_strided(const ulp_backend *backend, float *y, float *place, const float *x,
                                    const ulp_strided_windows *windows);
ulp_status ulp_backend_pool_strided_slope(const ulp_backend *backend, double *dx, const float *dy, const float *place,
                                          const ulp_strided_windows *windows);

/* y (images,h / K,w / K) = the mean of each window of x (images,h,w). dx (images,h,w) = dy (images,h / K,w / K) / K^2
 * in the windows, and +0 outside. See average.h; K is at least 1 and has no upper bound. */
ulp_status ulp_backend_average(const ulp_backend *backend, double *y, const float *x, const ulp_windows *windows);
ulp_status ulp_backend_average_slope(const ulp_backend *backend, double *dx, const float *dy,
                                     const ulp_windows *windows);

/* y (images,h,w) = x (images,h / K,w / K): a pixel of x fills a window; y is +0 outside of the windows. dx (images,h /
 * K,w / K) = the exact sums of dy (images,h,w) in the windows, each as one number that rounds like the sum to any
 * format of at most 51 bits. See upsample.h; K is at least 1 and has no upper bound. */
ulp_status ulp_backend_upsample(const ulp_backend *backend, float *y, const float *x, const ulp_windows *windows);
ulp_status ulp_backend_upsample_slope(const ulp_backend *backend, double *dx, const float *dy,
                                      const ulp_windows *windows);

/* Batch normalisation of the channels of x (B,c,n); see norm.h. Arrays without numbers (B c n = 0) give no results.
 *
 *  - norm_statistics: to (2,c) = the means and the variances of the channels
 *  - norm_running: to (2,c) = 9/10 of running (2,c) + 1/10 of batch (2,c), whose variances are made unbiased
 *  - norm: y (B,c,n) = gamma z + beta
 *  - norm_sums: sums (2,c) = dgamma, dbeta
 *  - norm_slope: dx (B,c,n), from the results of norm_sums */
ulp_status ulp_backend_norm_statistics(const ulp_backend *backend, double *to, const float *x, ulp_channels shape);
ulp_status ulp_backend_norm_running(const ulp_backend *backend, double *to, const float *running, const float *batch,
                                    ulp_channels shape);
ulp_status ulp_backend_norm(const ulp_backend *backend, double *y, const float *x, ulp_norm by);
ulp_status ulp_backend_norm_sums(const ulp_backend *backend, double *sums, const float *dy, const float *x,
                                 ulp_norm by);
ulp_status ulp_backend_norm_slope(const ulp_backend *backend, double *dx, const float *dy, const float *x,
                                  const double *sums, ulp_norm by);

/* y (n) = 100 / (100 - percent) x for the elements that their random words keep, and +0 for the others. See dropout.h.
 */
ulp_status ulp_backend_dropout(const ulp_backend *backend, double *y, const float *x, size_t n, ulp_dropout how);

/* p (B,C) = softmax of the rows of z (B,C); loss (B) = -log p[label]; C is at least 1; see softmax.h. dz (B,C) = scale
 * (p - t) / B, where t is 1 in the column of the label, else 0. A label of C or more gives a NaN loss and t = 0. */
ulp_status ulp_backend_softmax(const ulp_backend *backend, double *p, double *loss, const float *z, ulp_labels labels);
ulp_status ulp_backend_softmax_slope(const ulp_backend *backend, double *dz, const float *p, ulp_labels labels,
                                     double scale);

/* to (B, width N) = a stage of the cell of a recurrent layer; see cell.h. */
ulp_status ulp_backend_cell(const ulp_backend *backend, double *to, const ulp_cell_arrays *arrays,
                            ulp_cell_stage stage);

/* p (B,C,T) = log softmax over the C outputs of each step of z (B,C,T); the softmax if linear. The relative error of a
 * softmax is below 2^-48. */
ulp_status ulp_backend_ctc_outputs(const ulp_backend *backend, double *p, const float *z, ulp_sequences sequences,
                                   int linear);

/* The loss (B) of sequences of labels, and the gradient dz (B,C,T) = scale (softmax - e) / B of their mean, from p
 * (B,C,T), softmax or log softmax; see ctc.h. Both are in binary64, computed from the rounded sums. The gradient of a
 * sample is NaN where its loss is not finite; so it is where a label is not an output. C and T are at least 1, L is at
 * most ULP_LABELS_MAX. work (B, 2 T + 1, 2 L + 1) is the backend's memory; its contents do not matter. */
ulp_status ulp_backend_ctc(const ulp_backend *backend, double *dz, double *loss, double *work, const float *p,
                           ulp_sequences sequences, const ulp_path_sums *sums);

/* Checks the part of a product that does not depend on the datapath: operands that are read are not NULL, rows do not
 * overlap. */
ulp_status ulp_gemm_shape_check(const void *a, const void *b, const ulp_gemm_shape *shape);

/* The reason of the last failure on this thread, in a sentence: the operation that the backend lacks, or the report of
 * the device. "" if the status says everything. */
const char *ulp_backend_error(void);

/* The backend called `name` ("cpu"); NULL is the default. Returns ULP_BAD_NAME for an unknown name, and ULP_NO_DEVICE
 * when this machine or build cannot offer the backend or the instruction set of ULPLAB_ISA. */
ulp_status ulp_backend_get(const ulp_backend **backend, const char *name);

/* All names that ulp_backend_get() knows, separated by blanks. */
const char *ulp_backend_names(void);

/* The reason, in a sentence, why ulp_backend_get() returns ULP_NO_DEVICE for `name`. "" where it returns another
 * status. */
const char *ulp_backend_lacks(const char *name);

/* The name of instruction set `i` of the CPU build, slowest first: "baseline", "avx2", "avx512". NULL past the end. */
const char *ulp_cpu_isa_name(size_t i);
/* Whether this build has code for instruction set `i` and this machine runs the code. */
int ulp_cpu_isa_offered(size_t i);
/* The CPU backend of one instruction set, for tests and benchmarks. NULL if it is not offered. */
const ulp_backend *ulp_cpu_backend(size_t i);

/* Sets the largest tile of a matrix product, in rows and columns of the result. 0, the default, chooses the fastest
 * tile. Results never depend on the tile. Do not call ulp_tile_set while a product runs. */
void ulp_tile_set(size_t rows, size_t columns);
void ulp_tile_get(size_t *rows, size_t *columns);

#ifdef __cplusplus
}
#endif
#endif
