/* absent.c - the interface of the CUDA backend in a build that has none: everything says so. */
#include "cuda.h"

ulp_status ulp_cuda_backend(const ulp_backend **backend) { return backend == NULL ? ULP_BAD_ARGUMENT : ULP_NO_DEVICE; }

const char *ulp_cuda_lacks(void) { return "this build has no CUDA: nvcc was missing when it was made, or it is a build for sanitizers"; }

const char *ulp_cuda_error(void) { return ""; }

ulp_status ulp_cuda_describe(ulp_cuda_info *info) { return info == NULL ? ULP_BAD_ARGUMENT : ULP_NO_DEVICE; }

ulp_status ulp_cuda_timer_open(ulp_cuda_timer **timer) { return timer == NULL ? ULP_BAD_ARGUMENT : ULP_NO_DEVICE; }

ulp_status ulp_cuda_timer_start(ulp_cuda_timer *timer) { return timer == NULL ? ULP_BAD_ARGUMENT : ULP_NO_DEVICE; }

ulp_status ulp_cuda_timer_stop(ulp_cuda_timer *timer, double *seconds) {
    return timer == NULL || seconds == NULL ? ULP_BAD_ARGUMENT : ULP_NO_DEVICE;
}

void ulp_cuda_timer_close(ulp_cuda_timer *timer) { (void)timer; }

ulp_status ulp_cuda_copy(void *y, const void *x, size_t bytes) { return y == NULL || x == NULL || bytes == 0 ? ULP_BAD_ARGUMENT : ULP_NO_DEVICE; }
