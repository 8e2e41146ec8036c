// timer.cu - time of device work, by events in the stream, and a copy as the reference for memory speed.
#include "device.h"

#include <stdlib.h>

struct ulp_cuda_timer {
    cudaEvent_t begin, end;
};

ulp_status ulp_cuda_timer_open(ulp_cuda_timer **timer) {
    if (timer == NULL) return ULP_BAD_ARGUMENT;
    *timer = NULL;
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK) return status;
    ulp_cuda_timer *t = static_cast<ulp_cuda_timer *>(calloc(1, sizeof *t));
    if (t == NULL) return ULP_NO_MEMORY;
    status = ulp_cuda_check(cudaEventCreate(&t->begin), "cudaEventCreate");
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
    ulp_status status = ulp_cuda_check(cudaEventRecord(timer->end, ulp_cuda_stream()), "cudaEventRecord");
    if (status == ULP_OK) status = ulp_cuda_check(cudaEventSynchronize(timer->end), "work that is timed");
    if (status == ULP_OK)
        status = ulp_cuda_check(cudaEventElapsedTime(&milliseconds, timer->begin, timer->end), "cudaEventElapsedTime");
    if (status == ULP_OK) *seconds = 1e-3 * (double)milliseconds;
    return status;
}

void ulp_cuda_timer_close(ulp_cuda_timer *timer) {
    if (timer == NULL) return;
    (void)cudaEventDestroy(timer->begin);
    (void)cudaEventDestroy(timer->end);
    free(timer);
}

ulp_status ulp_cuda_copy(void *y, const void *x, size_t bytes) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK || bytes == 0) return status;
    return ulp_cuda_check(cudaMemcpyAsync(y, x, bytes, cudaMemcpyDeviceToDevice, ulp_cuda_stream()),
                          "cudaMemcpyAsync on the device");
}
