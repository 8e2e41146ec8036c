/* backend.h - a backend: its memory and its operations on arrays, as a table of functions; operations.def lists them.
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

#include "base/error.h"
#include "base/threads.h"
#include "formats/block_cast.h"
#include "formats/quantize.h"
#include "kernels/functions/attention.h"
#include "kernels/functions/cell.h"
#include "kernels/functions/elementwise.h"
#include "kernels/functions/hadamard.h"
#include "kernels/functions/low_bit.h"
#include "kernels/functions/norm.h"
#include "kernels/functions/squares.h"
#include "kernels/functions/windows.h"
#include "kernels/products/datapath.h"

#if SIZE_MAX < UINT64_MAX
#error "ulplab's arrays and files need a size_t of 64 bits: compile for a 64-bit machine, as without -m32"
#endif

ULP_C_BEGIN

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

/* Products of equal shape, outer x inner of them; product (o,i) is number o inner + i. Its operands begin
 * o stride[0] + i stride[1] elements after those of product (0,0). `b_share` neighbours i have one operand b: its place
 * is that of i / b_share. The results do not overlap. */
typedef struct ulp_gemm_batch {
    ulp_gemm_shape shape;         /* without scales */
    size_t outer, inner, b_share; /* at least 1 */
    size_t a_stride[2], b_stride[2], c_stride[2];
} ulp_gemm_batch;

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
/* Operations of update steps only: y = a rounded; y = a limited to -b .. b, b not negative, then rounded. NaN stays. */
enum { ULP_STEP_ROUND = ULP_OP_COUNT, ULP_STEP_LIMIT };

/* y = op(a, b, c): the exact result rounded once. The random word of element i has index stream.first + i. */
typedef struct ulp_update_step {
    uint8_t op; /* ulp_op, ULP_STEP_ROUND or ULP_STEP_LIMIT */
    ulp_operand y, a, b, c;
    ulp_format format;
    ulp_rule rule;
    ulp_stream stream;
} ulp_update_step;

/* a within -b .. b. */
ULP_FN float ulp_limited(float a, float b) { return a > b ? b : a < -b ? -b : a; }

/* The number of operands of a step; 0: there is no such operation. */
ULP_FN int ulp_step_operands(uint8_t op) {
    return op == ULP_STEP_ROUND ? 1 : op == ULP_STEP_LIMIT ? 2 : ulp_op_operands((ulp_op)op);
}

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

/* The table of a backend's functions: a member for each row of operations.def, with the parameters of the row. The
 * function ulp_backend_NAME checks the arguments for the member NAME. NULL: the backend does not offer the operation.
 */
/* The machine whose own products (datapaths of kind ULP_NATIVE) a backend computes. */
typedef enum ulp_machine_of_backend { ULP_OF_NO_MACHINE, ULP_OF_PROCESSOR, ULP_OF_GPU } ulp_machine_of_backend;

typedef struct ulp_backend {
    const char *name; /* "cpu" */
    const char *what; /* the instruction set or device in use */
    ulp_machine_of_backend machine;

    void *(*alloc)(size_t bytes); /* 64-byte aligned; NULL when no memory is left */
    void (*release)(void *memory);
    ulp_status (*upload)(void *device, const void *host, size_t bytes);
    ulp_status (*download)(void *host, const void *device, size_t bytes);

#define ULP_OPERATION(name, cpu, cuda, mpfr, parameters, ...) ulp_status(*name) parameters;
#include "kernels/operations.def"

    /* NULL: the backend derives nothing from arrays, and defers no answer. */
    ulp_status (*keep)(const float *x, size_t n);
    void (*forget)(const float *x, size_t n);
    ulp_status (*settle)(void);
} ulp_backend;

/* ---- the operations: each function checks its arguments and calls the backend's function ----
 *
 * Row NAME of operations.def declares and documents ulp_backend_NAME(backend, parameters of the row). A function that
 * returns ULP_BAD_ARGUMENT or another status of its check has not read or written an array. The check is equal for all
 * backends. ULP_UNSUPPORTED for an operation that the backend lacks, and for gemm64 with words.
 */
#define ULP_PARAMETERS(...) __VA_ARGS__ /* of a row, without their parentheses */
#define ULP_OPERATION(name, cpu, cuda, mpfr, parameters, ...)                                                          \
    ulp_status ulp_backend_##name(const ulp_backend *backend, ULP_PARAMETERS parameters);
#include "kernels/operations.def"

/* ulp_backend_keep declares that x (n) does not change until ulp_backend_forget, or until its memory is released. A
 * backend may keep what it derives from x, such as codes for its own products. ulp_backend_forget ends this for all
 * kept arrays that x (n) touches. A caller that changes a kept array gets results of its old elements. */
ulp_status ulp_backend_keep(const ulp_backend *backend, const float *x, size_t n);
void ulp_backend_forget(const ulp_backend *backend, const float *x, size_t n);

/* Waits for the answer of the deferred products since the last call. Returns ULP_NO_CODE if an operand of one of them
 * was no value of its format: then the results of these products mean nothing. */
ulp_status ulp_backend_settle(const ulp_backend *backend);

/* Checks the part of a product that does not depend on the datapath: operands that are read are not NULL, rows do not
 * overlap. */
ulp_status ulp_gemm_shape_check(const void *a, const void *b, const ulp_gemm_shape *shape);

/* The report of the device about its last failure, in a sentence. "" if there is none. */
const char *ulp_backend_error(void);

/* Writes to error why an operation of the backend returned `status`: the operations that the backend lacks, or the
 * report of the device. An empty error if the status says everything. */
void ulp_backend_explain(ulp_error *error, const ulp_backend *backend, ulp_status status);

/* NULL if about two dozen computations, some in each instruction set that the machine runs, have the bits of IEEE
 * arithmetic. Else a sentence that names the first fault and its usual cause, such as a flag of the compiler. Takes
 * about a microsecond. A program that uses formats/ alone calls it at its start; ulp_backend_get() calls it. */
const char *ulp_arithmetic_fault(void);

/* The backend called `name` ("cpu"); NULL is the default. Returns ULP_BAD_NAME for an unknown name, and ULP_NO_DEVICE
 * when this machine or build cannot offer the backend or the instruction set of ULPLAB_ISA, or has an arithmetic fault.
 */
ulp_status ulp_backend_get(const ulp_backend **backend, const char *name);

/* All names that ulp_backend_get() knows, separated by blanks. */
const char *ulp_backend_names(void);

/* The reason, in a sentence, why ulp_backend_get() returns ULP_NO_DEVICE for `name`. "" where it returns another
 * status. */
const char *ulp_backend_lacks(const char *name);

/* The name of instruction set `i` of the CPU build, slowest first: "baseline", "neon",
 * "sve256", "avx2", "avx512". NULL past the end. */
const char *ulp_cpu_isa_name(size_t i);
/* Whether this build has code for instruction set `i` and this machine runs the code. */
int ulp_cpu_isa_offered(size_t i);
/* The CPU backend of one instruction set, for tests and benchmarks. NULL if it is not offered. */
const ulp_backend *ulp_cpu_backend(size_t i);

/* Sets the largest tile of a matrix product, in rows and columns of the result. 0, the default, chooses the fastest
 * tile. Results never depend on the tile. Do not call ulp_tile_set while a product runs. */
void ulp_tile_set(size_t rows, size_t columns);
void ulp_tile_get(size_t *rows, size_t *columns);

ULP_C_END
#endif
