/* t_gpu_memory.cpp - the memory of the emulated device: kernels and copies use it, and any other access ends the
 * program.
 */
#include "cuda_runtime.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int failed;

static void verdict(bool fine, const char *what) {
    printf("%sok - memory: %s\n", fine ? "" : "not ", what);
    failed |= !fine;
}

enum { N = 40, THREADS = 64 };

/* Writes y[i] = i for each thread i < n, and waits at barriers between. */
static void fill(float *y, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    __syncthreads();
    if (i < n) y[i] = (float)i;
    __syncthreads();
}

static cudaError_t launch(void (*kernel)(float *, size_t), float *y, size_t n) {
    const cudaLaunchConfig_t config = {dim3(2), dim3(THREADS), 0, nullptr, nullptr, 0};
    return cudaLaunchKernelEx(&config, kernel, y, n);
}

static float *device_array(void) {
    float *memory = nullptr;
    return cudaMalloc(&memory, N * sizeof *memory) == cudaSuccess ? memory : nullptr;
}

static void host_reads(void) {
    const volatile float *y = device_array();
    (void)y[0];
}

static void host_reads_after_a_wait(void) {
    float *y = device_array();
    launch(fill, y, N);
    cudaStreamSynchronize(nullptr);
    (void)*(const volatile float *)y;
}

/* An array of N floats ends at a multiple of 64 bytes, after which no access is allowed. */
static void kernel_writes_too_far(void) {
    float *y = device_array();
    launch(fill, y, (N + 15) / 16 * 16 + 1);
}

static void kernel_writes_freed_memory(void) {
    float *y = device_array();
    cudaFree(y);
    launch(fill, y, N);
}

/* A thread that waits at a barrier that the others do not reach. */
static void half_waits(float *y, size_t) {
    if (threadIdx.x % 2 == 0) __syncthreads();
    else ulp_emulated_exchange(y, y, 1);
}
static void barrier_is_missing(void) {
    float host[32 * THREADS] = {0};
    launch(half_waits, host, N);
}

/* Whether the function ends its process by a signal. */
static bool is_killed(void (*function)(void)) {
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
        function();
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main() {
    float got[N], *y = device_array();
    bool fine = y != nullptr && launch(fill, y, N) == cudaSuccess;
    fine = fine && cudaMemcpyAsync(got, y, sizeof got, cudaMemcpyDeviceToHost, nullptr) == cudaSuccess;
    for (int i = 0; i < N && fine; i++) fine = got[i] == (float)i;
    verdict(fine, "a kernel writes its array, and a copy brings it to the host");
    fine = fine && cudaFree(y) == cudaSuccess && device_array() == y && launch(fill, y, 1) == cudaSuccess;
    fine = fine && cudaMemcpyAsync(got, y, sizeof got, cudaMemcpyDeviceToHost, nullptr) == cudaSuccess;
    verdict(fine && got[0] == 0.0f && got[1] > 3e38f, "memory that is used again holds no earlier numbers");
    verdict(is_killed(host_reads), "the host cannot read it");
    verdict(is_killed(host_reads_after_a_wait), "the host cannot read it after a kernel has used it");
    verdict(is_killed(kernel_writes_too_far), "a kernel cannot write behind an array");
    verdict(is_killed(kernel_writes_freed_memory), "a kernel cannot write freed memory");
    verdict(is_killed(barrier_is_missing), "a block in which threads wait at different barriers ends the program");
    return failed;
}
