/* t_gpu_banks.cpp - the writes of native products to shared memory have no conflicts of banks, by a model of the 32
 * banks over the addresses that the code forms. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int failed;

static void verdict(bool fine, const char *what) {
    printf("%sok - banks: %s\n", fine ? "" : "not ", what);
    failed |= !fine;
}

/* Writes of 16 bytes, one array after the other: one pass for 8 threads; and with a distance of 32 bytes: two. */
static void near(char *to) { ulp_emulated_shared_store(to + 16 * threadIdx.x, 16); }
static void apart(char *to) { ulp_emulated_shared_store(to + 32 * threadIdx.x, 16); }
static void same(char *to) { ulp_emulated_shared_store(to, 4); }

static void model(void (*kernel)(char *), unsigned long groups, unsigned long passes, const char *what) {
    alignas(128) static char shared[4096];
    const bool fine = ulp_cuda_launch("stores", kernel, 1, 64, shared) == ULP_OK;
    const ulp_emulated_store_counts counts = ulp_emulated_stores();
    verdict(fine && counts.groups == groups && counts.passes == passes, what);
}

static void product(const char *name, size_t m, size_t n, size_t k) {
    ulp_cuda_native native;
    ulp_gemm_shape shape = {};
    shape.m = m;
    shape.n = shape.ldb = shape.ldc = n;
    shape.k = shape.lda = k;
    const size_t bytes = (m * k + k * n + m * n) * sizeof(float);
    float *all = static_cast<float *>(ulp_cuda_room(bytes));
    const bool fine = all != nullptr && ulp_cuda_zero(all, bytes) == ULP_OK &&
                      ulp_cuda_native_parse(&native, name) == ULP_OK &&
                      ulp_cuda_native_gemm(&native, all + m * k + k * n, all, all + m * k, &shape) == ULP_OK;
    const ulp_emulated_store_counts counts = ulp_emulated_stores();
    char what[160];
    snprintf(what, sizeof what, "%s (%zu,%zu,%zu): %lu passes of %lu groups of threads", name, m, n, k, counts.passes,
             counts.groups);
    verdict(fine && counts.groups > 0 && counts.passes == counts.groups, what);
    ulp_cuda_release(all);
}

/* A device has the instructions of one generation: the program runs once for Hopper, and then again for Blackwell. */
int main(int, char **argv) {
    verdict(ulp_cuda_open() == ULP_OK && ulp_emulated_stores().groups == 0, "the device is there, nothing is counted");
    if (ulp_emulated_capability() == 100) {
        product("native:tcgen05:e4m3", 64, 8, 32);
        product("native:tcgen05:tf32", 130, 140, 50);
        product("native:tcgen05:e2m1-mxf4", 128, 16, 300);
        product("native:tcgen05:e2m1-nvf4", 130, 140, 200);
        return failed;
    }
    model(near, 8, 8, "neighbours of 16 bytes need one pass");
    model(apart, 8, 16, "neighbours 32 bytes apart need two");
    model(same, 2, 2, "one word needs one pass");
    product("native:wgmma:e4m3", 64, 8, 32);
    product("native:wgmma:e4m3", 130, 140, 200);
    product("native:wgmma:fp16", 128, 128, 64);
    product("native:wgmma:tf32", 20, 8, 50);
    fflush(stdout);
    if (failed == 0 && setenv("EMULATED_CAPABILITY", "100", 1) == 0) execv("/proc/self/exe", argv);
    return 1;
}
