/* device.h - declarations that the sources of the CUDA backend share: checked calls and launches, device memory.
 *
 * A process uses one device and one stream. Launches, copies and releases happen in the order of their calls. Memory
 * that is released can therefore be reused while kernels that read the memory have not run yet.
 */
#ifndef ULP_CUDA_DEVICE_H
#define ULP_CUDA_DEVICE_H

#include "base/error.h"
#include "cuda.h"

#include <cuda_runtime.h>

/* Chooses the device on the first call. Without a device, this function and the functions below return its status. */
ulp_status ulp_cuda_open(void);

/* The stream of all work; valid after ulp_cuda_open. */
cudaStream_t ulp_cuda_stream(void);
const ulp_cuda_info *ulp_cuda_device(void);

/* The status of a runtime call. Keeps the sentence of a failure for ulp_cuda_error. */
ulp_status ulp_cuda_check(cudaError_t error, const char *call);
/* Keeps a sentence for ulp_cuda_error. */
void ulp_cuda_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Allocates device memory, 256-byte aligned, from released blocks or by cudaMalloc. NULL when no memory is left. */
void *ulp_cuda_room(size_t bytes);
void ulp_cuda_release(void *memory);
/* Bytes of a live allocation, at least those that were asked for; 0 for other addresses. */
size_t ulp_cuda_room_of(const void *memory);

/* Copies from the host. The host's memory can be used again at the return. Waits until all earlier work is done:
 * numbers for a kernel are better arguments of its launch. */
ulp_status ulp_cuda_upload(void *device, const void *host, size_t bytes);
/* Fills device memory with bytes 0, in the order of the stream. */
ulp_status ulp_cuda_zero(void *device, size_t bytes);
/* Waits until all earlier work is done, and reports its failures. */
ulp_status ulp_cuda_download(void *host, const void *device, size_t bytes);

/* Gives released blocks, which are kept for later requests, back to the device. */
void ulp_cuda_trim(void);

/* Launches kernel(arguments...) on the stream, with `shared` bytes of dynamic shared memory. The first launch of a
 * kernel with much local memory needs memory of the device: where there is none, released blocks are given back and the
 * launch is tried once more. */
template <typename... Expected, typename... Given>
static inline ulp_status ulp_cuda_launch_with(const char *name, void (*kernel)(Expected...), dim3 grid, dim3 block,
                                              size_t shared, Given &&...given) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = ulp_cuda_stream();
    cudaError_t error = cudaSuccess;
    if (shared > 48 << 10) /* more than a kernel has without asking */
        error = cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error != cudaSuccess) return ulp_cuda_check(error, name);
    error = cudaLaunchKernelEx(&config, kernel, static_cast<Expected>(given)...);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        ulp_cuda_trim();
        error = cudaLaunchKernelEx(&config, kernel, static_cast<Expected>(given)...);
    }
    return ulp_cuda_check(error, name);
}

/* The same without dynamic shared memory. */
template <typename... Expected, typename... Given>
static inline ulp_status ulp_cuda_launch(const char *name, void (*kernel)(Expected...), dim3 grid, dim3 block,
                                         Given &&...given) {
    return ulp_cuda_launch_with(name, kernel, grid, block, 0, static_cast<Given &&>(given)...);
}

/* Threads of a block of elementwise kernels, and the number of blocks for n pieces of work. The threads go through the
 * array with a stride. The number of blocks is a multiple of the blocks that the device runs at once, so that little of
 * the device is idle at the end; fewer pieces need fewer blocks. */
enum { ULP_CUDA_THREADS = 256 };
static inline unsigned ulp_cuda_blocks(size_t n) {
    const size_t most = (size_t)ulp_cuda_device()->processors * 32,
                 blocks = (n + ULP_CUDA_THREADS - 1) / ULP_CUDA_THREADS;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/* Launches a kernel on n elements, if there are any: a thread handles its element and the elements at multiples of the
 * grid size after it. */
template <typename... Expected, typename... Given>
static inline ulp_status ulp_cuda_over(size_t n, const char *name, void (*kernel)(Expected...), Given &&...given) {
    ULP_TRY(ulp_cuda_open());
    if (n == 0) return ULP_OK;
    return ulp_cuda_launch(name, kernel, ulp_cuda_blocks(n), ULP_CUDA_THREADS, static_cast<Given &&>(given)...);
}

/* The index of a thread in the launch, and the number of threads. */
static __device__ inline size_t ulp_cuda_thread(void) { return (size_t)blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ inline size_t ulp_cuda_threads(void) { return (size_t)gridDim.x * blockDim.x; }

template <typename Body>
__global__ void __launch_bounds__(ULP_CUDA_THREADS) ulp_cuda_each_kernel(size_t n, const __grid_constant__ Body body) {
    for (size_t i = ulp_cuda_thread(); i < n; i += ulp_cuda_threads()) body(i);
}

/* body(i) for each i < n on the device: [=] __device__(size_t i) { ... }. */
template <typename Body> static inline ulp_status ulp_cuda_each(size_t n, const char *name, const Body &body) {
    return ulp_cuda_over(n, name, ulp_cuda_each_kernel<Body>, n, body);
}

#endif
