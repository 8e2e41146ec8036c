// timer.cu - time of device work, by events in the stream, and a copy as the reference for memory speed.
#include "device.h"

#include <stdlib.h>

struct ulp_cuda_timer {
    cudaEvent_t begin, end;
};

ulp_status ulp_cuda_timer_open(ulp_cuda_timer **timer) {
    if (timer == NULL) return ULP_BAD_ARGUMENT;
    *timer = NULL;
    ULP_TRY(ulp_cuda_open());
    ulp_cuda_timer *t = static_cast<ulp_cuda_timer *>(calloc(1, sizeof *t));
    if (t == NULL) return ULP_NO_MEMORY;
    ulp_status status = ulp_cuda_check(cudaEventCreate(&t->begin), "cudaEventCreate");
    if (status == ULP_OK) {
        status = ulp_cuda_check(cudaEventCreate(&t->end), "cudaEventCreate");
        if (status != ULP_OK) (void)cudaEventDestroy(t->begin);
    }
    if (status == ULP_OK) *timer = t;
    else free(t);
    return status;
}

ulp_status ulp_cuda_timer_start(ulp_cuda_timer *timer) {
    return ulp_cuda_check(cudaEventRecord(timer->begin, ulp_cuda_stream()), "cudaEventRecord");
}

ulp_status ulp_cuda_timer_stop(ulp_cuda_timer *timer, double *seconds) {
    float milliseconds = 0.0f;
    ULP_TRY(ulp_cuda_check(cudaEventRecord(timer->end, ulp_cuda_stream()), "cudaEventRecord"));
    ULP_TRY(ulp_cuda_check(cudaEventSynchronize(timer->end), "work that is timed"));
    ULP_TRY(ulp_cuda_check(cudaEventElapsedTime(&milliseconds, timer->begin, timer->end), "cudaEventElapsedTime"));
    *seconds = 1e-3 * (double)milliseconds;
    return ULP_OK;
}

void ulp_cuda_timer_close(ulp_cuda_timer *timer) {
    if (timer == NULL) return;
    (void)cudaEventDestroy(timer->begin);
    (void)cudaEventDestroy(timer->end);
    free(timer);
}

namespace {

/* The device's clock of nanoseconds, and the clock of this processor. */
__device__ inline uint64_t nanoseconds(void) {
#if defined(ULP_EMULATED_DEVICE)
    return ulp_emulated_nanoseconds();
#else
    uint64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
#endif
}
__device__ inline uint64_t cycles(void) {
#if defined(ULP_EMULATED_DEVICE)
    return ulp_emulated_nanoseconds();
#else
    return (uint64_t)clock64();
#endif
}

/* to = the cycles and the nanoseconds of a loop of at least `least` nanoseconds. */
__global__ void clock_kernel(uint64_t *to, uint64_t least) {
    const uint64_t begin = nanoseconds(), first = cycles();
    uint64_t now = begin;
    while (now - begin < least) now = nanoseconds();
    to[0] = cycles() - first;
    to[1] = now - begin;
}

} // namespace

ulp_status ulp_cuda_clock(double *hertz) {
    uint64_t seen[2] = {0, 1}, *device;
    if (hertz == NULL) return ULP_BAD_ARGUMENT;
    ULP_TRY(ulp_cuda_open());
    device = static_cast<uint64_t *>(ulp_cuda_room(sizeof seen));
    if (device == NULL) return ULP_NO_MEMORY;
    ulp_status status = ulp_cuda_launch("the clock", clock_kernel, 1, 1, device, 2000000);
    if (status == ULP_OK) status = ulp_cuda_download(seen, device, sizeof seen);
    ulp_cuda_release(device);
    *hertz = 1e9 * (double)seen[0] / (double)seen[1];
    return status;
}

ulp_status ulp_cuda_copy(void *y, const void *x, size_t bytes) {
    ULP_TRY(ulp_cuda_open());
    if (bytes == 0) return ULP_OK;
    return ulp_cuda_check(cudaMemcpyAsync(y, x, bytes, cudaMemcpyDeviceToDevice, ulp_cuda_stream()),
                          "cudaMemcpyAsync on the device");
}
