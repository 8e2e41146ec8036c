// library.cu - products by cuBLASLt: opening the library, its functions, and the plan of the latest product.
#include "native.h"
#include "native_rows.h"

#if !__has_include(<cublasLt.h>)

const char *ulp_native_library_lacks(void) {
    return "this build has no cuBLASLt: its header was missing when it was made";
}

ulp_status ulp_native_library(unsigned, const ulp_native_job *) { return ULP_UNSUPPORTED; }

#else

#include <cublasLt.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

/* X(function): the functions that this source calls. */
#define FUNCTIONS(X)                                                                                                   \
    X(cublasLtCreate)                                                                                                  \
    X(cublasLtGetStatusString)                                                                                         \
    X(cublasLtMatmul)                                                                                                  \
    X(cublasLtMatmulAlgoGetHeuristic)                                                                                  \
    X(cublasLtMatmulDescCreate)                                                                                        \
    X(cublasLtMatmulDescDestroy)                                                                                       \
    X(cublasLtMatmulDescSetAttribute)                                                                                  \
    X(cublasLtMatmulPreferenceCreate)                                                                                  \
    X(cublasLtMatmulPreferenceDestroy)                                                                                 \
    X(cublasLtMatmulPreferenceSetAttribute)                                                                            \
    X(cublasLtMatrixLayoutCreate)                                                                                      \
    X(cublasLtMatrixLayoutDestroy)

struct functions {
#define MEMBER(name) decltype(&::name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

/* A call: the types of operands and result in cuBLASLt's names. */
struct call {
    cublasComputeType_t compute;
    cudaDataType_t scale, a, b, result;
    bool fast, fp8; /* fp8: A and B have scales */
};

/* The call of a row of ULP_NATIVE_LIBRARY. false for other rows. */
bool call_of(call *to, unsigned row) {
    switch (row) {
#define CASE(ROW, name, a_format, b_format, result_format, model, unit, compute, scale, a, b, result, fast)            \
    case ULP_NATIVE_LIBRARY_##ROW:                                                                                     \
        *to = {CUBLAS_COMPUTE_##compute, CUDA_R_##scale, CUDA_R_##a, CUDA_R_##b, CUDA_R_##result, fast != 0, false};   \
        break;
        ULP_NATIVE_LIBRARY(CASE)
#undef CASE
    default: return false;
    }
    to->fp8 = to->a == CUDA_R_8F_E4M3 || to->a == CUDA_R_8F_E5M2;
    return true;
}

const size_t WORKSPACE = (size_t)32 << 20;

/* The scales of our B and of our A are this many floats apart: cuBLASLt 13 wants pointers to scales to be multiples of
 * 16 bytes, and refuses a call with others as not supported. */
enum { BETWEEN_SCALES = 4 };

/* The library's descriptors of one product. */
struct plan {
    bool made;
    unsigned row;
    size_t m, n, depth;
    cublasLtMatmulDesc_t what;
    cublasLtMatrixLayout_t left, right, result;
    cublasLtMatmulAlgo_t algorithm;
};

struct library {
    pthread_once_t once;
    pthread_mutex_t lock;
    char lacks[240];
    functions f;
    cublasLtHandle_t handle;
    void *workspace;
    float *scales;                   /* in device memory */
    float known[BETWEEN_SCALES + 1]; /* the numbers in `scales`, if is_known */
    bool is_known;
    plan latest;
};
library lt = {PTHREAD_ONCE_INIT, PTHREAD_MUTEX_INITIALIZER, "", {}, NULL, NULL, NULL, {}, false, {}};

#if defined(ULP_EMULATED_DEVICE)

void find_functions(void) {
#define FIND(name) lt.f.name = ::name;
    FUNCTIONS(FIND)
#undef FIND
}

#else

/* The library that ULPLAB_CUBLASLT names, and no other; without it the first that is found. NULL: `lacks` says why. */
void *open_any(void) {
    const char *chosen = getenv("ULPLAB_CUBLASLT");
    if (chosen != NULL && chosen[0] != '\0') {
        void *found = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
        if (found != NULL) return found;
        const char *why = dlerror();
        const size_t length = strlen(chosen); /* most reasons begin with the name, which may fill the sentence */
        if (strncmp(why, chosen, length) == 0 && why[length] == ':') why += length + 2;
        snprintf(lt.lacks, sizeof lt.lacks, "ULPLAB_CUBLASLT=%s: %s", chosen, why);
        return NULL;
    }
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                        "/usr/local/cuda/lib64/libcublasLt.so.13",
                                        "/usr/local/cuda/lib64/libcublasLt.so.12"};
    for (const char *name : names) {
        void *found = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (found != NULL) return found;
    }
    snprintf(lt.lacks, sizeof lt.lacks,
             "cuBLASLt was not found: the loader finds neither libcublasLt.so.13 nor libcublasLt.so.12, and "
             "ULPLAB_CUBLASLT names no library");
    return NULL;
}

void find_functions(void) {
    void *found = open_any();
    if (found == NULL) return;
#define FIND(name)                                                                                                     \
    lt.f.name = reinterpret_cast<decltype(lt.f.name)>(dlsym(found, #name));                                            \
    if (lt.f.name == NULL) snprintf(lt.lacks, sizeof lt.lacks, "the cuBLASLt that was found has no function " #name);
    FUNCTIONS(FIND)
#undef FIND
}

#endif

void open_once(void) {
    find_functions();
    if (lt.lacks[0] != '\0') return;
    const cublasStatus_t status = lt.f.cublasLtCreate(&lt.handle);
    if (status != CUBLAS_STATUS_SUCCESS)
        snprintf(lt.lacks, sizeof lt.lacks, "cuBLASLt does not start: %s", lt.f.cublasLtGetStatusString(status));
}

ulp_status checked(cublasStatus_t status, const char *name) {
    if (status == CUBLAS_STATUS_SUCCESS) return ULP_OK;
    ulp_cuda_say("%s: %s", name, lt.f.cublasLtGetStatusString(status));
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? ULP_UNSUPPORTED : ULP_DEVICE_FAILED;
}

#define TRY(function, ...)                                                                                             \
    do {                                                                                                               \
        const ulp_status tried = checked(lt.f.function(__VA_ARGS__), #function);                                       \
        if (tried != ULP_OK) return tried;                                                                             \
    } while (0)

void clear_plan(plan *p) {
    if (p->what != NULL) lt.f.cublasLtMatmulDescDestroy(p->what);
    if (p->left != NULL) lt.f.cublasLtMatrixLayoutDestroy(p->left);
    if (p->right != NULL) lt.f.cublasLtMatrixLayoutDestroy(p->right);
    if (p->result != NULL) lt.f.cublasLtMatrixLayoutDestroy(p->result);
    *p = {};
}

ulp_status choose_algorithm(plan *p, cublasLtMatmulPreference_t preference) {
    const uint32_t no_reduction = CUBLASLT_REDUCTION_SCHEME_NONE;
    cublasLtMatmulHeuristicResult_t best = {};
    int count = 0;
    TRY(cublasLtMatmulPreferenceSetAttribute, preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &WORKSPACE,
        sizeof WORKSPACE);
    TRY(cublasLtMatmulPreferenceSetAttribute, preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &no_reduction,
        sizeof no_reduction);
    TRY(cublasLtMatmulAlgoGetHeuristic, lt.handle, p->what, p->left, p->right, p->result, p->result, preference, 1,
        &best, &count);
    if (count == 0 || best.state != CUBLAS_STATUS_SUCCESS) {
        ulp_cuda_say("cuBLASLt has no algorithm for this product");
        return ULP_UNSUPPORTED;
    }
    p->algorithm = best.algo;
    return ULP_OK;
}

/* The matrices of cuBLASLt are column-major: its columns are our rows of B^T and A, and D^T (n,m) = (B^T)^T A^T. */
ulp_status make_plan(plan *p, unsigned row, const call *c, const ulp_native_job *w) {
    const cublasOperation_t transposed = CUBLAS_OP_T, plain = CUBLAS_OP_N;
    const size_t k = w->k;
    const int8_t quick = 1;
    clear_plan(p);
    TRY(cublasLtMatmulDescCreate, &p->what, c->compute, c->scale);
    TRY(cublasLtMatmulDescSetAttribute, p->what, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
    TRY(cublasLtMatmulDescSetAttribute, p->what, CUBLASLT_MATMUL_DESC_TRANSB, &plain, sizeof plain);
    if (c->fast) TRY(cublasLtMatmulDescSetAttribute, p->what, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &quick, sizeof quick);
    if (c->fp8) { /* our B is the library's A */
        const float *const left = lt.scales, *const right = lt.scales + BETWEEN_SCALES;
        TRY(cublasLtMatmulDescSetAttribute, p->what, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &left, sizeof left);
        TRY(cublasLtMatmulDescSetAttribute, p->what, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &right, sizeof right);
    }
    TRY(cublasLtMatrixLayoutCreate, &p->left, c->b, k, w->n, (int64_t)k);
    TRY(cublasLtMatrixLayoutCreate, &p->right, c->a, k, w->m, (int64_t)k);
    TRY(cublasLtMatrixLayoutCreate, &p->result, c->result, w->n, w->m, (int64_t)w->n);
    cublasLtMatmulPreference_t preference = NULL;
    TRY(cublasLtMatmulPreferenceCreate, &preference);
    const ulp_status status = choose_algorithm(p, preference);
    lt.f.cublasLtMatmulPreferenceDestroy(preference);
    if (status != ULP_OK) return status;
    p->row = row;
    p->m = w->m;
    p->n = w->n;
    p->depth = w->depth;
    p->made = true;
    return ULP_OK;
}

/* 1 or 0 in the type of a call's factors. */
uint32_t factor_of(cudaDataType_t type, bool one) {
    if (!one) return 0;
    return type == CUDA_R_32I ? 1u : type == CUDA_R_16F ? 0x3c00u : 0x3f800000u;
}

/* Allocates the memory that all calls share. Uploads the scales of an fp8 call if they are not those of the call
 * before: an upload waits for the device. */
ulp_status prepare_memory(const call *c, const ulp_native_job *w) {
    float scales[BETWEEN_SCALES + 1] = {w->b_scale};
    scales[BETWEEN_SCALES] = w->a_scale;
    if (lt.workspace == NULL) lt.workspace = ulp_cuda_room(WORKSPACE);
    if (lt.scales == NULL) lt.scales = static_cast<float *>(ulp_cuda_room(sizeof scales));
    if (lt.workspace == NULL || lt.scales == NULL) return ULP_NO_MEMORY;
    if (!c->fp8 || (lt.is_known && memcmp(lt.known, scales, sizeof scales) == 0)) return ULP_OK;
    const ulp_status status = ulp_cuda_upload(lt.scales, scales, sizeof scales);
    memcpy(lt.known, scales, sizeof scales);
    lt.is_known = status == ULP_OK;
    return status;
}

ulp_status multiply(unsigned row, const call *c, const ulp_native_job *w) {
    plan *p = &lt.latest;
    ulp_status status = prepare_memory(c, w);
    if (status == ULP_OK && (!p->made || p->row != row || p->m != w->m || p->n != w->n || p->depth != w->depth))
        status = make_plan(p, row, c, w);
    if (status != ULP_OK) return status;
    const uint32_t alpha = factor_of(c->scale, true), beta = factor_of(c->scale, w->c != NULL);
    return checked(lt.f.cublasLtMatmul(lt.handle, p->what, &alpha, w->b, p->left, w->a, p->right, &beta,
                                       w->c != NULL ? w->c : w->d, p->result, w->d, p->result, &p->algorithm,
                                       lt.workspace, WORKSPACE, ulp_cuda_stream()),
                   "cublasLtMatmul");
}

} // namespace

const char *ulp_native_library_lacks(void) {
    pthread_once(&lt.once, open_once);
    return lt.lacks;
}

ulp_status ulp_native_library(unsigned row, const ulp_native_job *job) {
    call c;
    if (!call_of(&c, row)) return ULP_BAD_ARGUMENT;
    if (ulp_native_library_lacks()[0] != '\0') {
        ulp_cuda_say("%s", lt.lacks);
        return ULP_UNSUPPORTED;
    }
    pthread_mutex_lock(&lt.lock);
    const ulp_status status = multiply(row, &c, job);
    pthread_mutex_unlock(&lt.lock);
    return status;
}

#endif
