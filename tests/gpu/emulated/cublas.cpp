/* cublas.cpp - cuBLASLt of the emulated device, which refuses what the manual refuses.
 *
 * A sum is the sum of the products of even k, in ascending order, plus the sum of the products of odd k. If a reduction
 * scheme allows it, k has two parts: the first half and the second half are summed in this way, and then added. No GPU
 * is known to have this order. Each addition of a product rounds once, to binary32 or binary16. Fast accumulation of
 * fp8 keeps 14 bits of each partial sum on devices on which the flag has an effect. int32 wraps around. Operands of
 * tf32 lose their lower 13 bits.
 *
 * For tests, EMULATED_CUBLAS_REFUSES and EMULATED_CUBLAS_FAILS name a type of operands (fp16, bf16, e4m3, e5m2, int8 or
 * fp32) whose products have no algorithm, or fail when they are started.
 * The file is long because a call of cuBLASLt reads state that most of its other calls set. */
#include "cublasLt.h"
#include "formats/round.h"

#include <stdlib.h>
#include <string.h>
#include <vector>

struct ulp_emulated_blas {
    bool started;
};
struct ulp_emulated_matmul {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    int32_t a_operation, b_operation;
    const void *a_scale, *b_scale;
    int8_t fast;
};
struct ulp_emulated_layout {
    cudaDataType_t type;
    uint64_t rows, columns;
    int64_t ld;
};
struct ulp_emulated_preference {
    uint64_t workspace;
    uint32_t reductions;
};

namespace {

/* Combinations of types: the rows of the manual's table that the project uses. */
struct combination {
    cublasComputeType_t compute;
    cudaDataType_t scale, a, b, result;
};
const combination combinations[] = {
    {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_8I, CUDA_R_32I},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_8F_E5M2, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E5M2, CUDA_R_8F_E4M3, CUDA_R_32F},
};

enum { ALIGNMENT = 256 }; /* the default of a preference, in bytes */
const uint64_t MOST_WORKSPACE = 1 << 16;

size_t bytes_of(cudaDataType_t type) {
    return type == CUDA_R_32F || type == CUDA_R_32I ? 4 : type == CUDA_R_16F || type == CUDA_R_16BF ? 2 : 1;
}
bool is_fp8(cudaDataType_t type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }

template <typename T> cublasStatus_t make(T **to, const T &value) {
    if (to == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *to = new T(value);
    return CUBLAS_STATUS_SUCCESS;
}

template <typename T> cublasStatus_t drop(T *x) {
    delete x;
    return CUBLAS_STATUS_SUCCESS;
}

/* Set an attribute; `size` must be the size of its type. */
template <typename T> cublasStatus_t set(T *to, const void *value, size_t size) {
    if (value == nullptr || size != sizeof *to) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- requirements ---- */

/* The descriptors of one product. */
struct problem {
    const ulp_emulated_matmul *what;
    const ulp_emulated_layout *a, *b, *c, *d;
};

uint64_t depth_of(const problem &p) { return p.what->a_operation == CUBLAS_OP_N ? p.a->columns : p.a->rows; }

bool operation_is_known(int32_t operation) { return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T; }

/* Whether the sizes fit together. C must have the layout of D. */
bool fits_together(const problem &p) {
    for (const ulp_emulated_layout *x : {p.a, p.b, p.c, p.d})
        if (x->rows == 0 || x->columns == 0 || x->ld < 0 || (uint64_t)x->ld < x->rows) return false;
    if (!operation_is_known(p.what->a_operation) || !operation_is_known(p.what->b_operation)) return false;
    const bool a_plain = p.what->a_operation == CUBLAS_OP_N, b_plain = p.what->b_operation == CUBLAS_OP_N;
    if ((a_plain ? p.a->rows : p.a->columns) != p.d->rows || (b_plain ? p.b->columns : p.b->rows) != p.d->columns)
        return false;
    return (b_plain ? p.b->rows : p.b->columns) == depth_of(p) && p.c->type == p.d->type && p.c->rows == p.d->rows &&
           p.c->columns == p.d->columns && p.c->ld == p.d->ld;
}

/* Products of 8-bit types need A transposed and B not transposed, and sizes that are multiples of `unit` bytes. */
bool bytes_lie_well(const problem &p, unsigned unit) {
    return p.what->a_operation == CUBLAS_OP_T && p.what->b_operation == CUBLAS_OP_N && p.d->rows % unit == 0 &&
           depth_of(p) % unit == 0 && (uint64_t)p.a->ld % unit == 0 && (uint64_t)p.b->ld % unit == 0 &&
           (uint64_t)p.d->ld * bytes_of(p.d->type) % unit == 0;
}

const char *name_of(cudaDataType_t type) {
    switch (type) {
    case CUDA_R_16F: return "fp16";
    case CUDA_R_16BF: return "bf16";
    case CUDA_R_8F_E4M3: return "e4m3";
    case CUDA_R_8F_E5M2: return "e5m2";
    case CUDA_R_8I: return "int8";
    default: return "fp32";
    }
}

/* For tests: whether a variable of the environment names the type of an operand. */
bool is_named(const char *variable, cudaDataType_t type) {
    const char *named = getenv(variable);
    return named != nullptr && strcmp(named, name_of(type)) == 0;
}

cublasStatus_t judge(const problem &p) {
    if (p.what == nullptr || p.a == nullptr || p.b == nullptr || p.c == nullptr || p.d == nullptr)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!fits_together(p)) return CUBLAS_STATUS_INVALID_VALUE;
    if (!is_fp8(p.a->type) && (p.what->a_scale != nullptr || p.what->b_scale != nullptr))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (is_fp8(p.a->type) && (ulp_emulated_capability() < 89 || !bytes_lie_well(p, 16)))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (p.a->type == CUDA_R_8I && !bytes_lie_well(p, 4)) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (is_named("EMULATED_CUBLAS_REFUSES", p.a->type)) return CUBLAS_STATUS_NOT_SUPPORTED;
    for (const combination &k : combinations)
        if (k.compute == p.what->compute && k.scale == p.what->scale && k.a == p.a->type && k.b == p.b->type &&
            k.result == p.d->type)
            return CUBLAS_STATUS_SUCCESS;
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

/* The data of an algorithm: a hash of its problem, the size of its workspace, and whether k has two parts. */
enum { OF, WORKSPACE, PARTS };

uint64_t sign(const problem &p) {
    std::vector<uint64_t> all = {(uint64_t)p.what->compute, (uint64_t)p.what->scale, (uint64_t)p.what->a_operation,
                                 (uint64_t)p.what->b_operation, (uint64_t)(p.what->fast != 0)};
    for (const ulp_emulated_layout *x : {p.a, p.b, p.c, p.d})
        all.insert(all.end(), {(uint64_t)x->type, x->rows, x->columns, (uint64_t)x->ld});
    uint64_t mixed = 0xcbf29ce484222325u;
    for (uint64_t x : all) mixed = (mixed ^ x) * 0x100000001b3u, mixed ^= mixed >> 29;
    return mixed;
}

/* Whether a matrix lies in one allocation, at a multiple of ALIGNMENT from its start. cudaMalloc aligns the start. */
bool is_there(const void *at, const ulp_emulated_layout *x) {
    const ptrdiff_t place = ulp_emulated_place(at, ((x->columns - 1) * (uint64_t)x->ld + x->rows) * bytes_of(x->type));
    return place >= 0 && place % ALIGNMENT == 0;
}

bool is_on_device(const void *at, size_t bytes) { return ulp_emulated_place(at, bytes) >= 0; }

/* ---- the product ---- */

/* The arguments of the kernel, with copies of alpha and beta. */
struct job {
    ulp_emulated_matmul what;
    ulp_emulated_layout a_layout, b_layout, d_layout;
    const void *a, *b, *c;
    void *d, *workspace;
    uint32_t alpha, beta;
    uint64_t workspace_bytes;
    bool parts, shortens;
};

/* Whether partial sums keep 14 bits: the flag has an effect only for fp8 on Ada and Hopper. */
bool shortens(const problem &p) {
    const int capability = ulp_emulated_capability();
    return p.what->fast != 0 && is_fp8(p.a->type) && (capability == 89 || capability == 90);
}

const ulp_format *format_of(cudaDataType_t type) {
    static ulp_format known[CUDA_R_8F_E5M2 + 1];
    if (known[type].bits == 0) (void)ulp_format_parse(&known[type], name_of(type));
    return &known[type];
}

template <typename T> T load(const void *from, size_t i) {
    T x;
    memcpy(&x, static_cast<const char *>(from) + i * sizeof x, sizeof x);
    return x;
}

double value_at(const void *from, size_t i, cudaDataType_t type, cublasComputeType_t compute) {
    if (type == CUDA_R_8I) return load<int8_t>(from, i);
    if (type == CUDA_R_32I) return load<int32_t>(from, i);
    if (type != CUDA_R_32F)
        return ulp_decode(bytes_of(type) == 2 ? load<uint16_t>(from, i) : load<uint8_t>(from, i), format_of(type));
    uint32_t code = load<uint32_t>(from, i);
    if (compute == CUBLAS_COMPUTE_32F_FAST_TF32) code &= ~(uint32_t)0x1fff;
    return load<float>(&code, 0);
}

double in_half(double x) { return ulp_round(x, format_of(CUDA_R_16F), {ULP_RNE, ULP_OVERFLOW_INF, 0}, 0); }

/* x truncated to 14 bits of precision. */
float shortened(float x) {
    uint32_t code = load<uint32_t>(&x, 0) & ~(uint32_t)0x3ff;
    return load<float>(&code, 0);
}

/* sum + a b. Sums of integers are exact, because they are far below 2^53. */
double add(const job &w, double sum, double a, double b) {
    if (w.what.compute == CUBLAS_COMPUTE_32I) return sum + a * b;
    if (w.what.compute == CUBLAS_COMPUTE_16F) return in_half(sum + a * b);
    const float result = __builtin_fmaf((float)a, (float)b, (float)sum);
    return w.shortens ? shortened(result) : result;
}

double sum_of(const job &w, const double *a, const double *b, size_t begin, size_t end) {
    double sums[2] = {0.0, 0.0};
    for (size_t odd = 0; odd < 2; odd++)
        for (size_t k = begin + odd; k < end; k += 2) sums[odd] = add(w, sums[odd], a[k], b[k]);
    return add(w, sums[0], sums[1], 1.0);
}

/* D = alpha scale(A) scale(B) sum + beta C, in the type of alpha and beta. C is not read if beta = 0. */
void store(const job &w, size_t at, double sum) {
    if (w.what.scale == CUDA_R_32I) {
        const uint32_t c = w.beta == 0 ? 0 : load<uint32_t>(w.c, at),
                       result = w.alpha * (uint32_t)(int64_t)sum + w.beta * c;
        memcpy(static_cast<char *>(w.d) + 4 * at, &result, sizeof result);
        return;
    }
    const bool half = w.what.scale == CUDA_R_16F;
    float factor = (float)value_at(&w.alpha, 0, w.what.scale, CUBLAS_COMPUTE_32F);
    const float beta = (float)value_at(&w.beta, 0, w.what.scale, CUBLAS_COMPUTE_32F);
    if (w.what.a_scale != nullptr) factor *= load<float>(w.what.a_scale, 0);
    if (w.what.b_scale != nullptr) factor *= load<float>(w.what.b_scale, 0);
    float result = factor * (float)sum;
    if (half) result = (float)in_half(result);
    if (beta != 0.0f) result += beta * (float)value_at(w.c, at, w.d_layout.type, CUBLAS_COMPUTE_32F);
    uint64_t code = 0;
    if (w.d_layout.type == CUDA_R_32F) memcpy(&code, &result, sizeof result);
    else (void)ulp_encode(&code, in_half(result), format_of(CUDA_R_16F));
    memcpy(static_cast<char *>(w.d) + at * bytes_of(w.d_layout.type), &code,
           bytes_of(w.d_layout.type)); /* the machine is little-endian */
}

/* The rows of op(A), or the columns of op(B), one after the other; each has k elements. */
std::vector<double> vectors_of(const job &w, const void *from, const ulp_emulated_layout &x, bool k_is_down) {
    const size_t k = k_is_down ? x.rows : x.columns, count = k_is_down ? x.columns : x.rows, ld = (size_t)x.ld;
    std::vector<double> all(k * count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < k; j++)
            all[i * k + j] = value_at(from, k_is_down ? i * ld + j : j * ld + i, x.type, w.what.compute);
    return all;
}

/* The kernel. One thread computes the whole product. It overwrites the workspace, as the library may. */
void multiply(job w) {
    const std::vector<double> a = vectors_of(w, w.a, w.a_layout, w.what.a_operation == CUBLAS_OP_T);
    const std::vector<double> b = vectors_of(w, w.b, w.b_layout, w.what.b_operation == CUBLAS_OP_N);
    const size_t rows = w.d_layout.rows, columns = w.d_layout.columns, k = a.size() / rows,
                 middle = w.parts ? k / 2 : k;
    if (w.workspace_bytes != 0) memset(w.workspace, 0xff, w.workspace_bytes);
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++) {
            double sum = sum_of(w, &a[i * k], &b[j * k], 0, middle);
            if (w.parts) sum = add(w, sum, sum_of(w, &a[i * k], &b[j * k], middle, k), 1.0);
            store(w, j * (size_t)w.d_layout.ld + i, sum);
        }
}

ulp_emulated_blas only;

} // namespace

/* ---- the interface ---- */

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    if (ulp_emulated_capability() == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
    only.started = true;
    *handle = &only;
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasLtGetStatusString(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    }
    return "unknown status";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *what, cublasComputeType_t compute, cudaDataType_t scale) {
    return make(what, {compute, scale, CUBLAS_OP_N, CUBLAS_OP_N, nullptr, nullptr, 0});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t what) { return drop(what); }

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t what, cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t size) {
    if (what == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return set(&what->a_operation, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSB: return set(&what->b_operation, value, size);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER: return set(&what->a_scale, value, size);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER: return set(&what->b_scale, value, size);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM: return set(&what->fast, value, size);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
    return make(layout, {type, rows, columns, ld});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return drop(layout); }

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
    return make(preference, {0, CUBLASLT_REDUCTION_SCHEME_MASK});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return drop(preference); }

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
                                                    size_t size) {
    if (preference == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return set(&preference->workspace, value, size);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: return set(&preference->reductions, value, size);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t what,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t *results, int *found) {
    const problem p = {what, a, b, c, d};
    if (handle != &only || !only.started) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (preference == nullptr || wanted < 1 || results == nullptr || found == nullptr)
        return CUBLAS_STATUS_INVALID_VALUE;
    *found = 0;
    const cublasStatus_t status = judge(p);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    const uint64_t workspace = preference->workspace < MOST_WORKSPACE ? preference->workspace : MOST_WORKSPACE;
    results[0] = {{{sign(p), workspace, preference->reductions != CUBLASLT_REDUCTION_SCHEME_NONE}},
                  workspace,
                  CUBLAS_STATUS_SUCCESS,
                  1.0f,
                  {0, 0, 0, 0}};
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t what, const void *alpha, const void *a,
                              cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout,
                              const void *beta, const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
    const problem p = {what, a_layout, b_layout, c_layout, d_layout};
    if (handle != &only || !only.started) return CUBLAS_STATUS_NOT_INITIALIZED;
    const cublasStatus_t status = judge(p);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (is_named("EMULATED_CUBLAS_FAILS", a_layout->type)) return CUBLAS_STATUS_EXECUTION_FAILED;
    if (alpha == nullptr || beta == nullptr || is_on_device(alpha, 1) || is_on_device(beta, 1))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (algorithm == nullptr || algorithm->data[OF] != sign(p) || algorithm->data[WORKSPACE] > workspace_bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    job w = {*what,
             *a_layout,
             *b_layout,
             *d_layout,
             a,
             b,
             c,
             d,
             workspace,
             0,
             0,
             algorithm->data[WORKSPACE],
             algorithm->data[PARTS] != 0,
             shortens(p)};
    memcpy(&w.alpha, alpha, bytes_of(what->scale));
    memcpy(&w.beta, beta, bytes_of(what->scale));
    const bool scales = (w.what.a_scale == nullptr || is_on_device(w.what.a_scale, 4)) &&
                        (w.what.b_scale == nullptr || is_on_device(w.what.b_scale, 4));
    if (((uintptr_t)w.what.a_scale | (uintptr_t)w.what.b_scale) % 16 != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    const ptrdiff_t place = workspace_bytes == 0 ? 0 : ulp_emulated_place(workspace, workspace_bytes);
    if (!scales || place < 0 || place % ALIGNMENT != 0 || !is_there(a, a_layout) || !is_there(b, b_layout) ||
        !is_there(d, d_layout) || (w.beta != 0 && !is_there(c, c_layout)) || (c == d && c_layout != d_layout))
        return CUBLAS_STATUS_INVALID_VALUE;
    cudaLaunchConfig_t config = {};
    config.stream = stream;
    return cudaLaunchKernelEx(&config, multiply, w) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                   : CUBLAS_STATUS_EXECUTION_FAILED;
}
