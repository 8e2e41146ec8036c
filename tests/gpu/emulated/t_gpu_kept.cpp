/* t_gpu_kept.cpp - arrays that do not change: their codes are made once; deferred answers to whether operands have
 * codes.
 */
#include "kernels/cuda/device.h"
#include "kernels/cuda/operations.h"

#include <stdio.h>
#include <string.h>

static int failed;

static void verdict(bool fine, const char *what) {
    printf("%sok - kept: %s\n", fine ? "" : "not ", what);
    failed |= !fine;
}

enum { N = 16, ALL = N * N };

/* C = A B by a datapath on matrices (16,16). Returns the number of launches. */
struct trial {
    const ulp_backend *gpu;
    ulp_datapath path;
    float a[ALL], b[ALL], c[ALL];
    float *device_a, *device_b, *device_c;

    explicit trial(const char *name) : gpu(nullptr), path() {
        ulp_error why;
        bool fine = ulp_cuda_backend(&gpu) == ULP_OK &&
                    (ulp_datapath_is_native(name) ? ulp_datapath_native(&path, name, &why)
                                                  : ulp_datapath_parse(&path, name)) == ULP_OK;
        for (int i = 0; i < ALL; i++) a[i] = (float)(i % 3 - 1), b[i] = (float)((3 * i + i / N) % 7 - 3);
        device_a = static_cast<float *>(ulp_cuda_room(sizeof a));
        device_b = static_cast<float *>(ulp_cuda_room(sizeof b));
        device_c = static_cast<float *>(ulp_cuda_room(sizeof c));
        fine = fine && send();
        if (!fine) verdict(false, name);
    }
    ~trial() {
        ulp_cuda_release(device_a);
        ulp_cuda_release(device_b);
        ulp_cuda_release(device_c);
    }
    bool send() {
        return ulp_cuda_upload(device_a, a, sizeof a) == ULP_OK && ulp_cuda_upload(device_b, b, sizeof b) == ULP_OK;
    }
    ulp_status run(unsigned *launches, bool deferred = false, bool turned = false) {
        ulp_gemm_shape shape = {};
        shape.m = shape.n = shape.k = shape.lda = shape.ldb = shape.ldc = N;
        shape.deferred = deferred;
        shape.b_trans = turned;
        const unsigned before = ulp_emulated_launches;
        const ulp_status status = ulp_backend_gemm(gpu, device_c, device_a, device_b, &shape, {&path, {}});
        *launches = ulp_emulated_launches - before;
        return status;
    }
    bool is_right(bool turned = false) {
        if (ulp_cuda_download(c, device_c, sizeof c) != ULP_OK) return false;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                float want = 0;
                for (int k = 0; k < N; k++) want += a[i * N + k] * (turned ? b[j * N + k] : b[k * N + j]);
                if (c[i * N + j] != want) return false;
            }
        return true;
    }
};

/* A pass over the second operand is saved from the second product on. */
static void once(const char *name) {
    trial t(name);
    char what[200];
    unsigned plain = 0, first = 0, second = 0, turned = 0, again = 0, changed = 0;
    bool fine = t.run(&plain) == ULP_OK && ulp_backend_keep(t.gpu, t.device_b, ALL) == ULP_OK;
    fine = fine && t.run(&first) == ULP_OK && t.is_right() && t.run(&second) == ULP_OK && t.is_right();
    fine = fine && t.run(&turned, false, true) == ULP_OK && t.is_right(true) && t.run(&again) == ULP_OK && t.is_right();
    snprintf(what, sizeof what, "%s: %u launches, kept %u and then %u, turned %u, again %u", name, plain, first, second,
             turned, again);
    verdict(fine && first == plain && second == plain - 1 && again == plain - 1, what);
    ulp_backend_forget(t.gpu, t.device_b + 7, 1);
    t.b[5] = 2.0f;
    fine = t.send() && t.run(&changed) == ULP_OK && t.is_right();
    snprintf(what, sizeof what, "%s: after a change", name);
    verdict(fine && changed == plain, what);
}

/* Two operands in one kept array have codes of their own. */
static void neighbours(const char *name) {
    trial t(name);
    unsigned launches = 0;
    float *const both = static_cast<float *>(ulp_cuda_room(2 * sizeof t.b)), *const own = t.device_b;
    float turned[ALL];
    for (int i = 0; i < ALL; i++) turned[i] = t.b[i % N * N + i / N];
    bool fine = both != nullptr && ulp_cuda_upload(both, t.b, sizeof t.b) == ULP_OK &&
                ulp_cuda_upload(both + ALL, turned, sizeof turned) == ULP_OK &&
                ulp_backend_keep(t.gpu, both, 2 * ALL) == ULP_OK;
    t.device_b = both;
    fine = fine && t.run(&launches) == ULP_OK && t.is_right();
    t.device_b = both + ALL;
    fine = fine && t.run(&launches) == ULP_OK && t.is_right(true);
    t.device_b = own;
    t.gpu->release(both);
    verdict(fine, "two operands in one kept array");
}

/* Memory that is released and taken again holds no kept array. */
static void released(const char *name) {
    trial t(name);
    unsigned launches = 0;
    bool fine = ulp_backend_keep(t.gpu, t.device_b, ALL) == ULP_OK && t.run(&launches) == ULP_OK;
    float *const before = t.device_b;
    t.gpu->release(t.device_b);
    t.device_b = static_cast<float *>(ulp_cuda_room(sizeof t.b));
    for (float &x : t.b) x = -x;
    fine = fine && t.device_b == before && t.send() && t.run(&launches) == ULP_OK && t.is_right();
    verdict(fine, "memory that is released is forgotten");
}

/* A deferred product returns before the answer, and settle gives the answer once. */
static void deferred(const char *name) {
    trial t(name);
    char what[120];
    unsigned launches = 0;
    bool fine = t.run(&launches, true) == ULP_OK && ulp_backend_settle(t.gpu) == ULP_OK && t.is_right();
    snprintf(what, sizeof what, "%s: a deferred product", name);
    verdict(fine, what);
    t.b[3] = 1.0f + 0x1p-20f;
    fine = t.send() && ulp_backend_keep(t.gpu, t.device_b, ALL) == ULP_OK;
    const unsigned before = ulp_emulated_downloads;
    fine = fine && t.run(&launches, true) == ULP_OK && ulp_emulated_downloads == before;
    fine = fine && ulp_backend_settle(t.gpu) == ULP_NO_CODE && ulp_backend_settle(t.gpu) == ULP_OK;
    snprintf(what, sizeof what, "%s: no transfer before the answer, which is given once", name);
    verdict(fine, what);
    fine = t.run(&launches) == ULP_NO_CODE && t.run(&launches) == ULP_NO_CODE;
    snprintf(what, sizeof what, "%s: kept operands without codes are refused each time", name);
    verdict(fine, what);
}

int main() {
    static const char *const names[] = {"native:mma:fp16", "native:wgmma:e4m3", "native:bf16", "h100-fp16"};
    for (const char *name : names) {
        once(name);
        deferred(name);
    }
    neighbours("native:mma:fp16");
    released("native:mma:fp16");
    return failed;
}
