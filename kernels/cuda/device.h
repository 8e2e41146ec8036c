/* device.h - what the sources of the CUDA backend share: checked calls and launches, room on the device.
 *
 * One device and one stream in a process: what is launched, copied and released happens in that order, so memory that
 * is released may be given out again while kernels that read it are still waiting.
 */
#ifndef ULP_CUDA_DEVICE_H
#define ULP_CUDA_DEVICE_H

#include "cuda.h"

#include <cuda_runtime.h>

/* Choose the device on the first call. What the functions below answer when there is none is this, too. */
ulp_status ulp_cuda_open(void);

/* The stream of all work; valid after ulp_cuda_open. */
cudaStream_t ulp_cuda_stream(void);
const ulp_cuda_info *ulp_cuda_device(void);

/* The status of a runtime call; a failure's sentence is kept for ulp_cuda_error. */
ulp_status ulp_cuda_check(cudaError_t error, const char *call);
/* Keep a sentence of one's own for ulp_cuda_error. */
void ulp_cuda_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Device memory, from blocks that were released before, else by cudaMalloc; 256-byte aligned. NULL when there is none.
 */
void *ulp_cuda_room(size_t bytes);
void ulp_cuda_release(void *memory);

ulp_status ulp_cuda_upload(void *device, const void *host, size_t bytes);
/* Waits until all work before it is done; what failed there is reported here. */
ulp_status ulp_cuda_download(void *host, const void *device, size_t bytes);

/* Launch kernel(arguments...) on the stream. */
template <typename... Expected, typename... Given>
static inline ulp_status ulp_cuda_launch(const char *name, void (*kernel)(Expected...), dim3 grid, dim3 block,
                                         Given &&...given) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = ulp_cuda_stream();
    return ulp_cuda_check(cudaLaunchKernelEx(&config, kernel, static_cast<Expected>(given)...), name);
}

/* Threads in a block of elementwise kernels, and blocks for n pieces of work that walk the array with strides: some
 * times as many as the device holds at once, so that the last ones to end leave little idle; fewer for less. */
enum { ULP_CUDA_THREADS = 256 };
static inline unsigned ulp_cuda_blocks(size_t n) {
    const size_t most = (size_t)ulp_cuda_device()->processors * 32,
                 blocks = (n + ULP_CUDA_THREADS - 1) / ULP_CUDA_THREADS;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/* The place of a thread among all, and their number. */
static __device__ inline size_t ulp_cuda_thread(void) { return (size_t)blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ inline size_t ulp_cuda_threads(void) { return (size_t)gridDim.x * blockDim.x; }

#endif
