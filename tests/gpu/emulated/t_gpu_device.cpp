/* t_gpu_device.cpp - the device of the CUDA backend: copies from the host, memory that is given back, what a call
 * uploads.
 */
#include "kernels/cuda/native.h"
#include "kernels/cuda/operations.h"

#include <stdio.h>
#include <string.h>

static int failed;

static void verdict(bool fine, const char *what) {
    printf("%sok - device: %s\n", fine ? "" : "not ", what);
    failed |= !fine;
}

/* The caller of an upload may write to its array at once. */
static void uploads(void) {
    float host[4] = {1, 2, 3, 4}, got[4] = {};
    void *memory = ulp_cuda_room(sizeof host);
    bool fine = memory != nullptr && ulp_cuda_upload(memory, host, sizeof host) == ULP_OK;
    memset(host, 0, sizeof host);
    fine = fine && ulp_cuda_download(got, memory, sizeof got) == ULP_OK;
    verdict(fine && got[0] == 1 && got[3] == 4, "an upload has read the host's memory when it returns");
    fine = ulp_cuda_zero(memory, 8) == ULP_OK && ulp_cuda_download(got, memory, sizeof got) == ULP_OK;
    verdict(fine && got[0] == 0 && got[1] == 0 && got[2] == 3, "zero writes its bytes only");
    ulp_cuda_release(memory);
}

static void nothing(int) {}

/* A launch that needs memory gets the memory of released blocks. */
static void launches(void) {
    void *memory = ulp_cuda_room(1 << 20);
    ulp_emulated_memory = 3 << 19;
    ulp_emulated_local = 1 << 20;
    verdict(ulp_cuda_launch("a kernel", nothing, 1, 1, 0) == ULP_NO_MEMORY && strstr(ulp_cuda_error(), "a kernel: "),
            "a launch without memory is refused by its name");
    ulp_cuda_release(memory);
    verdict(ulp_cuda_launch("a kernel", nothing, 1, 1, 0) == ULP_OK, "a launch gets the memory of released blocks");
    memory = ulp_cuda_room(1 << 10);
    verdict(memory != nullptr, "and memory is there after it");
    ulp_cuda_release(memory);
    ulp_emulated_memory = (size_t)4 << 30;
    ulp_emulated_local = 0;
}

/* The steps y = y + 1, `count` times, in one call. */
static void updates(size_t count, unsigned uploads) {
    ulp_update_step step[20] = {};
    float host[5] = {0, 1, 2, 3, 4}, got[5] = {};
    float *y = static_cast<float *>(ulp_cuda_room(sizeof host));
    bool fine = y != nullptr && ulp_cuda_upload(y, host, sizeof host) == ULP_OK;
    for (size_t k = 0; k < count; k++) {
        fine = fine && ulp_format_parse(&step[k].format, "fp32") == ULP_OK;
        step[k].op = ULP_ADD;
        step[k].y.kind = step[k].a.kind = ULP_OPERAND_ARRAY;
        step[k].y.at = step[k].a.at = y;
        step[k].b.kind = ULP_OPERAND_VALUE;
        step[k].b.value = 1;
    }
    const unsigned before = ulp_emulated_uploads;
    fine = fine && ulp_cuda_update(step, count, 5) == ULP_OK;
    const unsigned made = ulp_emulated_uploads - before;
    fine = fine && ulp_cuda_download(got, y, sizeof got) == ULP_OK;
    for (int i = 0; i < 5; i++) fine = fine && got[i] == (float)((size_t)i + count);
    char what[80];
    snprintf(what, sizeof what, "%zu steps of an update, by %u uploads", count, made);
    verdict(fine && made == uploads, what);
    ulp_cuda_release(y);
}

/* The second call of a product of the library uploads nothing; other scales are uploaded. */
static void products(const char *name, unsigned first, unsigned other) {
    ulp_cuda_native native;
    float host[256];
    for (int i = 0; i < 256; i++) host[i] = (float)(i % 5 - 2);
    float *a = static_cast<float *>(ulp_cuda_room(sizeof host)), *c = static_cast<float *>(ulp_cuda_room(sizeof host));
    ulp_gemm_shape shape = {};
    shape.m = shape.n = shape.k = shape.lda = shape.ldb = shape.ldc = 16;
    bool fine = a != nullptr && c != nullptr && ulp_cuda_upload(a, host, sizeof host) == ULP_OK &&
                ulp_cuda_native_parse(&native, name) == ULP_OK;
    unsigned made[3] = {};
    for (int i = 0; i < 3 && fine; i++) {
        const unsigned before = ulp_emulated_uploads;
        if (i == 2 && other > 0) native.a_scale = 2.0f;
        fine = ulp_cuda_native_gemm(&native, c, a, a, &shape) == ULP_OK;
        made[i] = ulp_emulated_uploads - before;
    }
    char what[120];
    snprintf(what, sizeof what, "%s: %u, %u and, with another scale, %u uploads", name, made[0], made[1], made[2]);
    verdict(fine && made[0] == first && made[1] == 0 && made[2] == other, what);
    ulp_cuda_release(a);
    ulp_cuda_release(c);
}

/* Words of two arrays that differ are counted, whatever their number, and added to the count. */
static void differences(size_t words, size_t differ) {
    static uint32_t host[40000], other[40000]; /* more than a launch has threads */
    memset(other, 0, sizeof other);
    uint64_t count[2] = {5, 0};
    for (size_t i = 0; i < differ; i++) other[(i * 7 + words - 1) % words] = 1u << (i % 32);
    uint32_t *x = static_cast<uint32_t *>(ulp_cuda_room(sizeof host)),
             *y = static_cast<uint32_t *>(ulp_cuda_room(sizeof host));
    uint64_t *to = static_cast<uint64_t *>(ulp_cuda_room(sizeof count));
    bool fine = x != nullptr && y != nullptr && to != nullptr && ulp_cuda_upload(x, host, sizeof host) == ULP_OK &&
                ulp_cuda_upload(y, other, sizeof other) == ULP_OK &&
                ulp_cuda_upload(to, count, sizeof count) == ULP_OK && ulp_native_differ(to, x, y, words) == ULP_OK &&
                ulp_cuda_download(count, to, sizeof count) == ULP_OK;
    char what[80];
    snprintf(what, sizeof what, "%zu of %zu words differ", differ, words);
    verdict(fine && count[0] == 5 + differ && count[1] == 0, what);
    ulp_cuda_release(x);
    ulp_cuda_release(y);
    ulp_cuda_release(to);
}

int main() {
    verdict(ulp_cuda_open() == ULP_OK, "is there");
    uploads();
    launches();
    updates(16, 0);
    updates(17, 1);
    differences(1, 1);
    differences(39999, 0);
    differences(39999, 30000);
    products("native:fp16", 0, 0);
    products("native:e4m3", 1, 1);
    return failed;
}
