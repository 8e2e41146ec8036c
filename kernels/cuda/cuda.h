/* cuda.h - what C sees of the CUDA backend: its table, the device in use, and why there is none. */
#ifndef ULP_CUDA_H
#define ULP_CUDA_H

#include "kernels/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The backend "cuda". Device 0, or the one that ULPLAB_CUDA_DEVICE names, is chosen at the first call and stays.
 * ULP_NO_DEVICE; ULP_NOT_IN_RANGE if ULPLAB_CUDA_DEVICE is no device's number. */
ulp_status ulp_cuda_backend(const ulp_backend **backend);

/* Why there is no device, in a sentence; "" if there is one. */
const char *ulp_cuda_lacks(void);

/* The call that failed last and what the runtime said: "cudaMalloc: out of memory"; "" if none did. */
const char *ulp_cuda_error(void);

/* The device in use. */
typedef struct ulp_cuda_info {
    char name[256];
    int capability;      /* 10 major + minor: 90 for 9.0 */
    int processors;      /* streaming multiprocessors */
    uint64_t memory;     /* bytes */
    int clock_khz;       /* the highest of the processors */
    int driver, runtime; /* versions as CUDA writes them: 13000 for 13.0 */
} ulp_cuda_info;

ulp_status ulp_cuda_describe(ulp_cuda_info *info);

/* ---- for benchmarks ---- */

/* The time of device work that was asked for between start and stop, which waits for it. */
typedef struct ulp_cuda_timer ulp_cuda_timer;
ulp_status ulp_cuda_timer_open(ulp_cuda_timer **timer);
ulp_status ulp_cuda_timer_start(ulp_cuda_timer *timer);
ulp_status ulp_cuda_timer_stop(ulp_cuda_timer *timer, double *seconds);
void ulp_cuda_timer_close(ulp_cuda_timer *timer);

/* y = x, both on the device: the yardstick of what only reads and writes memory. */
ulp_status ulp_cuda_copy(void *y, const void *x, size_t bytes);

/* ---- native products: what the device itself does, beside its models ---- */

/* One way to multiply: "native:mma:fp16", "native:wgmma:e4m3:promote=128", "native:fp16". */
typedef struct ulp_cuda_native {
    char name[ULP_DATAPATH_NAME_MAX];
    char what[120];                    /* the instruction or call */
    char model[ULP_DATAPATH_NAME_MAX]; /* the datapath that is said to give its bits on this device; "" if none is known
                                        */
    char lacks[200];                   /* why this device or build does not offer it, in a sentence; "" if it does */
    ulp_format a, b, result;
    uint16_t row;           /* of the list of native products, kernels/cuda/native_rows.h */
    uint8_t fast;           /* the library's fast accumulation */
    uint32_t promote;       /* as in a datapath's promote=N */
    float a_scale, b_scale; /* of all of A and of B, for the library's fp8 products; 1, until the caller changes them */
} ulp_cuda_native;

/* Number `i`: the rows, then rows with a promotion; ULP_BAD_ARGUMENT past the end. What the device lacks is listed,
 * too. ULP_NO_DEVICE. */
ulp_status ulp_cuda_native_get(size_t i, ulp_cuda_native *native);
/* The one called `text`; ULP_BAD_NAME. */
ulp_status ulp_cuda_native_parse(ulp_cuda_native *native, const char *text);

/* C = A B as the backend's gemm and gemm64 take it, by the device's own arithmetic; no scales. ULP_NO_CODE if an
 * operand is no value of its format; ULP_UNSUPPORTED with a sentence in ulp_cuda_error where the device lacks it, or
 * where results are wider than binary32 and floats are asked for. */
ulp_status ulp_cuda_native_gemm(const ulp_cuda_native *native, float *c, const float *a, const float *b,
                                const ulp_gemm_shape *shape);
ulp_status ulp_cuda_native_gemm64(const ulp_cuda_native *native, double *c, const double *a, const double *b,
                                  const ulp_gemm_shape *shape);

/* The same in parts, operands as codes on the device between them, so that a run is the product alone and may be
 * repeated. `c` is read where the shape accumulates. */
typedef struct ulp_cuda_product ulp_cuda_product;
ulp_status ulp_cuda_product_begin(ulp_cuda_product **product, const ulp_cuda_native *native, const float *c,
                                  const float *a, const float *b, const ulp_gemm_shape *shape);
ulp_status ulp_cuda_product_begin64(ulp_cuda_product **product, const ulp_cuda_native *native, const double *c,
                                    const double *a, const double *b, const ulp_gemm_shape *shape);
ulp_status ulp_cuda_product_run(ulp_cuda_product *product);
ulp_status ulp_cuda_product_values(ulp_cuda_product *product, float *c);
ulp_status ulp_cuda_product_values64(ulp_cuda_product *product, double *c);
/* codes (m,n), device memory: those that the hardware wrote, of NaN too. */
ulp_status ulp_cuda_product_codes(ulp_cuda_product *product, uint64_t *codes);
void ulp_cuda_product_end(ulp_cuda_product *product);

#ifdef __cplusplus
}
#endif
#endif
