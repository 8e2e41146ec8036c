/* cuda.h - the C interface of the CUDA backend: its table, the device in use, native products. */
#ifndef ULP_CUDA_H
#define ULP_CUDA_H

#include "kernels/backend.h"

ULP_C_BEGIN

/* The backend "cuda". The first call chooses device 0, or the device whose number is in ULPLAB_CUDA_DEVICE, for the
 * whole process. Returns ULP_NO_DEVICE, or ULP_NOT_IN_RANGE if ULPLAB_CUDA_DEVICE is not the number of a device. */
ulp_status ulp_cuda_backend(const ulp_backend **backend);

/* The reason why there is no device, in a sentence. "" if there is a device. */
const char *ulp_cuda_lacks(void);

/* The last call that failed and the message of the runtime: "cudaMalloc: out of memory". "" if no call failed. */
const char *ulp_cuda_error(void);

/* The device in use. */
typedef struct ulp_cuda_info {
    char name[256];
    int capability;      /* 10 major + minor: 90 for 9.0 */
    int processors;      /* streaming multiprocessors */
    uint64_t memory;     /* bytes */
    int clock_khz;       /* the highest clock of the processors */
    int driver, runtime; /* versions in CUDA's form: 13000 for 13.0 */
} ulp_cuda_info;

ulp_status ulp_cuda_describe(ulp_cuda_info *info);

/* ---- for benchmarks ---- */

/* The time of the device work that the caller starts between start and stop. stop waits for the work. */
typedef struct ulp_cuda_timer ulp_cuda_timer;
ulp_status ulp_cuda_timer_open(ulp_cuda_timer **timer);
ulp_status ulp_cuda_timer_start(ulp_cuda_timer *timer);
ulp_status ulp_cuda_timer_stop(ulp_cuda_timer *timer, double *seconds);
void ulp_cuda_timer_close(ulp_cuda_timer *timer);

/* The clock of the processors in Hz, as a kernel counts it during 2 ms after the work before. */
ulp_status ulp_cuda_clock(double *hertz);

/* y = x, both on the device: the reference for operations that only read and write memory. */
ulp_status ulp_cuda_copy(void *y, const void *x, size_t bytes);

/* ---- native products: the device's own arithmetic ---- */

/* A native product: "native:mma:fp16", "native:wgmma:e4m3:promote=128", "native:tcgen05:e2m1-nvf4", "native:fp16". */
typedef struct ulp_cuda_native {
    char name[ULP_DATAPATH_NAME_MAX];
    char what[120];                    /* the instruction or call */
    char model[ULP_DATAPATH_NAME_MAX]; /* datapath expected to have its bits on this device; "" if none is known */
    char lacks[200];                   /* the reason why this device or build does not offer it; "" if offered */
    ulp_format a, b, result;
    uint8_t scale_block;    /* products that share a block scale of a and one of b; 0: no scales */
    ulp_format scale;       /* format of the block scales; the sign of a scale is ignored */
    uint16_t row;           /* row in the list of native products, kernels/cuda/native_rows.h */
    uint8_t fast;           /* 1: the library's fast accumulation */
    uint32_t promote;       /* N of a datapath's promote=N */
    float a_scale, b_scale; /* factors of A and of B in the library's fp8 products; 1 unless the caller sets them */
} ulp_cuda_native;

/* Native product `i`: first the rows, then rows with a promotion. The list includes products that the device lacks.
 * Returns ULP_BAD_ARGUMENT past the end, and ULP_NO_DEVICE. */
ulp_status ulp_cuda_native_get(size_t i, ulp_cuda_native *native);
/* The native product called `text`. Returns ULP_BAD_NAME for an unknown name. */
ulp_status ulp_cuda_native_parse(ulp_cuda_native *native, const char *text);

/* C = A B by the device's own arithmetic, with the arguments of the backend's gemm and gemm64. Scales, as in the shape,
 * go with a product that has a scale_block. Returns ULP_NO_CODE if a format does not hold an operand or a scale.
 * Returns ULP_UNSUPPORTED, with a sentence in ulp_cuda_error, where the device lacks the product, and where results are
 * wider than binary32 and `c` is an array of floats. */
ulp_status ulp_cuda_native_gemm(const ulp_cuda_native *native, float *c, const float *a, const float *b,
                                const ulp_gemm_shape *shape);
ulp_status ulp_cuda_native_gemm64(const ulp_cuda_native *native, double *c, const double *a, const double *b,
                                  const ulp_gemm_shape *shape);

/* A native product in parts: begin converts the operands to codes on the device, so that run is only the product and
 * can be repeated. begin reads `c` if the shape accumulates. */
typedef struct ulp_cuda_product ulp_cuda_product;
ulp_status ulp_cuda_product_begin(ulp_cuda_product **product, const ulp_cuda_native *native, const float *c,
                                  const float *a, const float *b, const ulp_gemm_shape *shape);
ulp_status ulp_cuda_product_begin64(ulp_cuda_product **product, const ulp_cuda_native *native, const double *c,
                                    const double *a, const double *b, const ulp_gemm_shape *shape);
ulp_status ulp_cuda_product_run(ulp_cuda_product *product);
/* Runs the product `times` times, each time on cleared results. *different (host memory) = the number of 4-byte words
 * of results, padding included, that differ from those of the first time. */
ulp_status ulp_cuda_product_repeat(ulp_cuda_product *product, unsigned times, uint64_t *different);
ulp_status ulp_cuda_product_values(ulp_cuda_product *product, float *c);
ulp_status ulp_cuda_product_values64(ulp_cuda_product *product, double *c);
/* codes (m,n), device memory: the codes that the hardware wrote, including codes of NaN. */
ulp_status ulp_cuda_product_codes(ulp_cuda_product *product, uint64_t *codes);
void ulp_cuda_product_end(ulp_cuda_product *product);

ULP_C_END
#endif
