/* cuda.h - what C sees of the CUDA backend: its table, the device in use, and why there is none. */
#ifndef ULP_CUDA_H
#define ULP_CUDA_H

#include "kernels/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The backend "cuda". Device 0, or the one that ULPLAB_CUDA_DEVICE names, is chosen at the first call and stays.
 * ULP_NO_DEVICE; ULP_BAD_NAME if ULPLAB_CUDA_DEVICE is no device's number. */
ulp_status ulp_cuda_backend(const ulp_backend **backend);

/* Why there is no device, in a sentence; "" if there is one. */
const char *ulp_cuda_lacks(void);

/* The call that failed last and what the runtime said: "cudaMalloc: out of memory"; "" if none did. */
const char *ulp_cuda_error(void);

/* The device in use. */
typedef struct ulp_cuda_info {
    char name[256];
    int capability;          /* 10 major + minor: 90 for 9.0 */
    int processors;          /* streaming multiprocessors */
    uint64_t memory;         /* bytes */
    int clock_khz;           /* the highest of the processors */
    int driver, runtime;     /* versions as CUDA writes them: 13000 for 13.0 */
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

#ifdef __cplusplus
}
#endif
#endif
