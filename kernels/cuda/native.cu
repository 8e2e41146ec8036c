// native.cu - native products by name: what there is, what this device offers, operands on their way to it and back.
#include "library.h"
#include "native.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

enum { MMA, WGMMA, LIBRARY };

/* A row: `type` names it, `slim` is the end of it that names half the k, `number` counts in the family's own order.
 * fast: of the library; promote: of a row that is listed beside the plain one. */
struct row {
    unsigned char family, number;
    const char *type, *a, *b, *result, *slim;
    unsigned char fast;
    unsigned short promote;
};

const row rows[] = {
    {MMA, 0, "fp16", "fp16", "fp16", "fp32", "", 0, 0},
    {MMA, 1, "fp16-fp16", "fp16", "fp16", "fp16", "", 0, 0},
    {MMA, 2, "bf16", "bf16", "bf16", "fp32", "", 0, 0},
    {MMA, 3, "tf32", "tf32", "tf32", "fp32", "", 0, 0},
    {MMA, 4, "fp16-k8", "fp16", "fp16", "fp32", "-k8", 0, 0},
    {MMA, 5, "bf16-k8", "bf16", "bf16", "fp32", "-k8", 0, 0},
    {MMA, 6, "tf32-k4", "tf32", "tf32", "fp32", "-k4", 0, 0},
    {MMA, 7, "e4m3", "e4m3", "e4m3", "fp32", "", 0, 0},
    {MMA, 8, "e4m3.e5m2", "e4m3", "e5m2", "fp32", "", 0, 0},
    {MMA, 9, "e5m2.e4m3", "e5m2", "e4m3", "fp32", "", 0, 0},
    {MMA, 10, "e5m2", "e5m2", "e5m2", "fp32", "", 0, 0},
    {MMA, 11, "e4m3-fp16", "e4m3", "e4m3", "fp16", "", 0, 0},
    {MMA, 12, "e4m3.e5m2-fp16", "e4m3", "e5m2", "fp16", "", 0, 0},
    {MMA, 13, "e5m2.e4m3-fp16", "e5m2", "e4m3", "fp16", "", 0, 0},
    {MMA, 14, "e5m2-fp16", "e5m2", "e5m2", "fp16", "", 0, 0},
    {MMA, 15, "int8", "int8", "int8", "q32.0", "", 0, 0},
    {MMA, 16, "int8:sat", "int8", "int8", "q32.0", "", 0, 0},
    {MMA, 17, "fp64", "fp64", "fp64", "fp64", "", 0, 0},
    {WGMMA, 0, "fp16", "fp16", "fp16", "fp32", "", 0, 0},
    {WGMMA, 1, "fp16-fp16", "fp16", "fp16", "fp16", "", 0, 0},
    {WGMMA, 2, "bf16", "bf16", "bf16", "fp32", "", 0, 0},
    {WGMMA, 3, "tf32", "tf32", "tf32", "fp32", "", 0, 0},
    {WGMMA, 4, "e4m3", "e4m3", "e4m3", "fp32", "", 0, 0},
    {WGMMA, 5, "e4m3.e5m2", "e4m3", "e5m2", "fp32", "", 0, 0},
    {WGMMA, 6, "e5m2.e4m3", "e5m2", "e4m3", "fp32", "", 0, 0},
    {WGMMA, 7, "e5m2", "e5m2", "e5m2", "fp32", "", 0, 0},
    {WGMMA, 8, "e4m3-fp16", "e4m3", "e4m3", "fp16", "", 0, 0},
    {WGMMA, 9, "e4m3.e5m2-fp16", "e4m3", "e5m2", "fp16", "", 0, 0},
    {WGMMA, 10, "e5m2.e4m3-fp16", "e5m2", "e4m3", "fp16", "", 0, 0},
    {WGMMA, 11, "e5m2-fp16", "e5m2", "e5m2", "fp16", "", 0, 0},
    {WGMMA, 4, "e4m3", "e4m3", "e4m3", "fp32", "", 0, 64},
    {WGMMA, 4, "e4m3", "e4m3", "e4m3", "fp32", "", 0, 128},
    {LIBRARY, ULP_CALL_FP32, "fp32", "fp32", "fp32", "fp32", "", 0, 0},
    {LIBRARY, ULP_CALL_TF32, "tf32", "tf32", "tf32", "fp32", "", 0, 0},
    {LIBRARY, ULP_CALL_FP16, "fp16", "fp16", "fp16", "fp32", "", 0, 0},
    {LIBRARY, ULP_CALL_FP16_FP16, "fp16-fp16", "fp16", "fp16", "fp16", "", 0, 0},
    {LIBRARY, ULP_CALL_BF16, "bf16", "bf16", "bf16", "fp32", "", 0, 0},
    {LIBRARY, ULP_CALL_E4M3, "e4m3", "e4m3", "e4m3", "fp32", "", 0, 0},
    {LIBRARY, ULP_CALL_E4M3, "e4m3:fast", "e4m3", "e4m3", "fp32", "", 1, 0},
    {LIBRARY, ULP_CALL_E4M3_E5M2, "e4m3.e5m2", "e4m3", "e5m2", "fp32", "", 0, 0},
    {LIBRARY, ULP_CALL_E4M3_E5M2, "e4m3.e5m2:fast", "e4m3", "e5m2", "fp32", "", 1, 0},
    {LIBRARY, ULP_CALL_E5M2_E4M3, "e5m2.e4m3", "e5m2", "e4m3", "fp32", "", 0, 0},
    {LIBRARY, ULP_CALL_E5M2_E4M3, "e5m2.e4m3:fast", "e5m2", "e4m3", "fp32", "", 1, 0},
    {LIBRARY, ULP_CALL_INT8, "int8", "int8", "int8", "q32.0", "", 0, 0},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* The device, as the code that runs there was compiled. */
struct built {
    pthread_once_t once;
    ulp_status status;
    int architecture, wgmma;
};
built code = {PTHREAD_ONCE_INIT, ULP_OK, 0, 0};

void look(void) { code.status = ulp_native_built(&code.architecture, &code.wgmma); }

ulp_status open(void) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK) return status;
    pthread_once(&code.once, look);
    return code.status;
}

/* ---- what a row is on this device ---- */

bool is_fp8(const row *r) { return strcmp(r->a, "e4m3") == 0 || strcmp(r->a, "e5m2") == 0; }

const char *generation(int capability) {
    switch (capability / 10) {
    case 7: return capability == 75 ? "t4" : "v100";
    case 8: return capability == 89 ? "l40s" : "a100";
    case 9: return "h100";
    case 10: return "b200";
    case 12: return "rtx5090";
    default: return "";
    }
}

/* The datapath that is said to give the row's bits on a device of this capability. */
void model_of(char to[ULP_DATAPATH_NAME_MAX], const row *r, int capability, unsigned promote) {
    char stem[32], tail[32] = "";
    const char *gpu = generation(capability);
    ulp_datapath known;
    to[0] = '\0';
    if (r->family == LIBRARY && r->number == ULP_CALL_INT8) strcpy(to, "int8");
    if (r->family == LIBRARY || (r->family == WGMMA && capability / 10 != 9)) return;
    if (r->result[0] == 'q') {
        strcpy(to, r->type);
        return;
    }
    if (strcmp(r->type, "fp64") == 0) {
        strcpy(to, "serial:fp64:rne");
        return;
    }
    snprintf(stem, sizeof stem, "%.*s", (int)(strlen(r->type) - strlen(r->slim)), r->type);
    /* before Hopper half of k is half of the steps, and the row is the same; there fp8 by mma.sync is a row of its own
     */
    const char *unit = capability >= 90 ? r->slim : "";
    if (r->family == MMA && ((capability / 10 == 9 && is_fp8(r)) || capability / 10 == 10))
        unit = r->slim[0] == '\0' ? "-mma" : "-none";
    if (promote != 0) snprintf(tail, sizeof tail, ":promote=%u", promote);
    snprintf(to, ULP_DATAPATH_NAME_MAX, "%s-%s%s%s", gpu, stem, unit, tail);
    if (gpu[0] == '\0' || ulp_datapath_parse(&known, to) != ULP_OK) to[0] = '\0';
}

/* Why this device does not offer the row. */
void lacks_of(char to[200], const row *r) {
    const int capability = ulp_cuda_device()->capability;
    to[0] = '\0';
    if (r->family == MMA && is_fp8(r) && capability < 89)
        snprintf(to, 200, "fp8 needs compute capability 8.9; this device has %d.%d", capability / 10, capability % 10);
    else if (r->family == WGMMA && capability / 10 != 9)
        snprintf(to, 200, "wgmma is of compute capability 9.0; this device has %d.%d", capability / 10,
                 capability % 10);
    else if (r->family == WGMMA && !code.wgmma)
        snprintf(to, 200, "wgmma needs code for sm_90a, which this build does not hold");
    else if (r->family == LIBRARY && is_fp8(r) && capability < 89)
        snprintf(to, 200, "fp8 needs compute capability 8.9; this device has %d.%d", capability / 10, capability % 10);
    else if (r->family == LIBRARY) snprintf(to, 200, "%s", ulp_native_library_lacks());
    else if (r->family == MMA && is_fp8(r) && code.architecture < 89)
        snprintf(
            to, 200,
            "fp8 needs code for compute capability 8.9 or more; what this build holds for %d.%d was compiled for %d.%d",
            capability / 10, capability % 10, code.architecture / 10, code.architecture % 10);
}

const char *const families[] = {"mma:", "wgmma:", ""};

ulp_status describe(ulp_cuda_native *n, const row *r, unsigned promote) {
    ulp_status status = open();
    if (status != ULP_OK) return status;
    memset(n, 0, sizeof *n);
    status = ulp_format_parse(&n->a, r->a);
    if (status == ULP_OK) status = ulp_format_parse(&n->b, r->b);
    if (status == ULP_OK) status = ulp_format_parse(&n->result, r->result);
    n->family = r->family;
    n->instruction = r->number;
    n->fast = r->fast;
    n->promote = promote;
    n->a_scale = n->b_scale = 1.0f;
    if (r->family == LIBRARY)
        snprintf(n->what, sizeof n->what, "cuBLASLt, compute type %s", ulp_native_library_text(r->number, r->fast));
    else
        snprintf(n->what, sizeof n->what, "%s",
                 r->family == MMA ? ulp_native_mma_text(r->number) : ulp_native_wgmma_text(r->number));
    if (promote != 0)
        snprintf(n->name, sizeof n->name, "native:%s%s:promote=%u", families[r->family], r->type, promote);
    else snprintf(n->name, sizeof n->name, "native:%s%s", families[r->family], r->type);
    model_of(n->model, r, ulp_cuda_device()->capability, promote);
    lacks_of(n->lacks, r);
    return status;
}

/* The row of a name behind "native:", and what follows the row's own. */
const row *row_of(const char *text, const char **rest) {
    const row *best = NULL;
    size_t length = 0;
    for (const row *r = rows; r < rows + ROWS; r++) {
        char name[48];
        const size_t n = (size_t)snprintf(name, sizeof name, "%s%s", families[r->family], r->type);
        if (r->promote != 0 || n <= length || strncmp(text, name, n) != 0 || (text[n] != '\0' && text[n] != ':'))
            continue;
        best = r;
        length = n;
    }
    *rest = text + length;
    return best;
}

/* ":promote=N" as a number of products that one instruction's divide; false for anything else. */
bool promotion(unsigned *promote, const char *rest, const row *r) {
    ulp_format a;
    char *end;
    if (strncmp(rest, ":promote=", 9) != 0 || rest[9] < '1' || rest[9] > '9' || r->family != WGMMA ||
        strcmp(r->result, "fp32") != 0)
        return false;
    const unsigned long n = strtoul(rest + 9, &end, 10);
    if (*end != '\0' || n > 1u << 20 || ulp_format_parse(&a, r->a) != ULP_OK ||
        n % (256 / (a.bits == 19 ? 32u : a.bits)) != 0)
        return false;
    *promote = (unsigned)n;
    return true;
}

} // namespace

ulp_status ulp_cuda_native_get(size_t i, ulp_cuda_native *native) {
    if (native == NULL || i >= ROWS) return ULP_BAD_ARGUMENT;
    return describe(native, &rows[i], rows[i].promote);
}

ulp_status ulp_cuda_native_parse(ulp_cuda_native *native, const char *text) {
    const char *rest;
    unsigned promote = 0;
    if (native == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    if (strncmp(text, "native:", 7) != 0) return ULP_BAD_NAME;
    const row *r = row_of(text + 7, &rest);
    if (r == NULL || (*rest != '\0' && !promotion(&promote, rest, r))) return ULP_BAD_NAME;
    return describe(native, r, promote);
}

/* ---- a product ---- */

struct ulp_cuda_product {
    ulp_cuda_native native;
    ulp_native_job job;
    size_t m, n, k;
    ulp_native_array result; /* of c and d, as the caller's array lies */
    unsigned result_bytes;
    unsigned char *a, *b;
    void *c, *d;
};

namespace {

/* Bytes of a code in memory; tf32 stands in the upper bits of a binary32 word. */
unsigned bytes_of(const ulp_format *f) { return f->bits == 19 ? 4u : f->bits / 8u; }
unsigned shift_of(const ulp_format *f) { return f->bits == 19 ? 13u : 0u; }

size_t whole(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

ulp_status check(const ulp_cuda_native *native, const void *c, const void *a, const void *b, const ulp_gemm_shape *s) {
    if (native == NULL || s == NULL) return ULP_BAD_ARGUMENT;
    ulp_status status = open();
    if (status != ULP_OK) return status;
    if (native->lacks[0] != '\0') {
        ulp_cuda_say("%s", native->lacks);
        return ULP_UNSUPPORTED;
    }
    if ((native->a_scale != 1.0f || native->b_scale != 1.0f) &&
        (native->family != LIBRARY || native->a.bits != 8 || native->a.is_fixed)) {
        ulp_cuda_say("%s takes no scales: those of fp8 by cuBLASLt do", native->name);
        return ULP_UNSUPPORTED;
    }
    if (s->m > 0 && s->n > 0 && s->accumulate && c == NULL) return ULP_BAD_ARGUMENT;
    return s->a_scales != NULL || s->b_scales != NULL ? ULP_BAD_ARGUMENT : ulp_gemm_shape_check(a, b, s);
}

/* Sizes of the padded operands: small tiles where one holds all. */
void measure(ulp_cuda_product *p) {
    const bool wide = p->native.result.bits == 64;
    const ulp_native_tile library = {16, 16}; /* what fp8 by cuBLASLt asks for */
    const ulp_native_tile small = p->native.family == LIBRARY ? library
                                  : p->native.family == WGMMA ? ulp_wgmma_small
                                  : wide                      ? ulp_mma_64
                                                              : ulp_mma_small;
    const ulp_native_tile large = p->native.family == LIBRARY ? library
                                  : p->native.family == WGMMA ? ulp_wgmma_large
                                  : wide                      ? ulp_mma_64
                                                              : ulp_mma_large;
    const ulp_native_tile tile = p->m <= small.rows && p->n <= small.columns ? small : large;
    p->job.m = whole(p->m, tile.rows);
    p->job.n = whole(p->n, tile.columns);
    p->job.depth = whole(p->k == 0 && p->native.family == LIBRARY ? 1 : p->k * bytes_of(&p->native.a), 32);
    p->job.promote = (size_t)p->native.promote * bytes_of(&p->native.a);
    p->job.a_scale = p->native.a_scale;
    p->job.b_scale = p->native.b_scale;
}

/* Nothing is read where the result has no elements. */
template <typename T>
ulp_status encode(ulp_cuda_product *p, const T *c, const T *a, const T *b, const ulp_gemm_shape *s) {
    if (s->m == 0 || s->n == 0) return ULP_OK;
    const ulp_native_job *w = &p->job;
    const ulp_native_array left = {s->m, s->k, s->a_trans ? 1 : s->lda, s->a_trans ? s->lda : 1, w->m, w->depth};
    const ulp_native_array right = {s->n, s->k, s->b_trans ? s->ldb : 1, s->b_trans ? 1 : s->ldb, w->n, w->depth};
    const ulp_format *f = &p->native.a, *g = &p->native.b;
    ulp_status status = ulp_native_encode(p->a, a, &left, f, bytes_of(f), shift_of(f));
    if (status == ULP_OK) status = ulp_native_encode(p->b, b, &right, g, bytes_of(g), shift_of(g));
    if (status == ULP_OK && p->c != NULL)
        status = ulp_native_encode(p->c, c, &p->result, &p->native.result, p->result_bytes, 0);
    return status;
}

template <typename T>
ulp_status begin(ulp_cuda_product **product, const ulp_cuda_native *native, const T *c, const T *a, const T *b,
                 const ulp_gemm_shape *s) {
    if (product == NULL) return ULP_BAD_ARGUMENT;
    *product = NULL;
    ulp_status status = check(native, c, a, b, s);
    if (status != ULP_OK) return status;
    ulp_cuda_product *p = static_cast<ulp_cuda_product *>(calloc(1, sizeof *p));
    if (p == NULL) return ULP_NO_MEMORY;
    p->native = *native;
    p->m = s->m;
    p->n = s->n;
    p->k = s->k;
    measure(p);
    ulp_native_job *w = &p->job;
    p->result_bytes = native->result.bits / 8u;
    const size_t pitch = w->n * p->result_bytes;
    p->result = {s->m, s->n, s->c_trans ? 1 : s->ldc, s->c_trans ? s->ldc : 1, w->m, pitch};
    p->a = static_cast<unsigned char *>(ulp_cuda_room(w->m * w->depth));
    p->b = static_cast<unsigned char *>(ulp_cuda_room(w->n * w->depth));
    p->d = ulp_cuda_room(w->m * pitch);
    if (s->accumulate) p->c = ulp_cuda_room(w->m * pitch);
    w->a = p->a;
    w->b = p->b;
    w->c = p->c;
    w->d = p->d;
    status = p->a == NULL || p->b == NULL || p->d == NULL || (s->accumulate && p->c == NULL) ? ULP_NO_MEMORY
                                                                                             : encode(p, c, a, b, s);
    if (status != ULP_OK) ulp_cuda_product_end(p);
    else *product = p;
    return status;
}

template <typename T> ulp_status values(ulp_cuda_product *p, T *c) {
    if (p == NULL || (c == NULL && p->m * p->n > 0)) return ULP_BAD_ARGUMENT;
    return ulp_native_decode(c, p->d, &p->result, &p->native.result);
}

template <typename T>
ulp_status multiply(const ulp_cuda_native *native, T *c, const T *a, const T *b, const ulp_gemm_shape *s) {
    ulp_cuda_product *p = NULL;
    ulp_status status = begin(&p, native, c, a, b, s);
    if (status == ULP_OK) status = ulp_cuda_product_run(p);
    if (status == ULP_OK) status = values(p, c);
    ulp_cuda_product_end(p);
    return status;
}

/* Results wider than binary32 do not go into floats. */
ulp_status floats(const ulp_cuda_native *native) {
    if (native == NULL) return ULP_BAD_ARGUMENT;
    if (native->result.fits_binary32) return ULP_OK;
    ulp_cuda_say("%s: results are %s, which floats do not hold", native->name, native->result.name);
    return ULP_UNSUPPORTED;
}

} // namespace

ulp_status ulp_cuda_product_begin(ulp_cuda_product **product, const ulp_cuda_native *native, const float *c,
                                  const float *a, const float *b, const ulp_gemm_shape *shape) {
    ulp_status status = shape != NULL && shape->accumulate ? floats(native) : ULP_OK;
    return status == ULP_OK ? begin(product, native, c, a, b, shape) : status;
}

ulp_status ulp_cuda_product_begin64(ulp_cuda_product **product, const ulp_cuda_native *native, const double *c,
                                    const double *a, const double *b, const ulp_gemm_shape *shape) {
    return begin(product, native, c, a, b, shape);
}

ulp_status ulp_cuda_product_run(ulp_cuda_product *p) {
    if (p == NULL) return ULP_BAD_ARGUMENT;
    if (p->m == 0 || p->n == 0) return ULP_OK;
    if (p->native.family == LIBRARY) return ulp_native_library(p->native.instruction, p->native.fast, &p->job);
    return p->native.family == WGMMA ? ulp_native_wgmma(p->native.instruction, &p->job)
                                     : ulp_native_mma(p->native.instruction, &p->job);
}

ulp_status ulp_cuda_product_values(ulp_cuda_product *p, float *c) {
    ulp_status status = p == NULL ? ULP_BAD_ARGUMENT : floats(&p->native);
    return status == ULP_OK ? values(p, c) : status;
}

ulp_status ulp_cuda_product_values64(ulp_cuda_product *p, double *c) { return values(p, c); }

ulp_status ulp_cuda_product_codes(ulp_cuda_product *p, uint64_t *codes) {
    if (p == NULL || (codes == NULL && p->m * p->n > 0)) return ULP_BAD_ARGUMENT;
    return ulp_native_widen(codes, p->d, &p->result, p->result_bytes);
}

void ulp_cuda_product_end(ulp_cuda_product *p) {
    if (p == NULL) return;
    ulp_cuda_release(p->a);
    ulp_cuda_release(p->b);
    ulp_cuda_release(p->c);
    ulp_cuda_release(p->d);
    free(p);
}

ulp_status ulp_cuda_native_gemm(const ulp_cuda_native *native, float *c, const float *a, const float *b,
                                const ulp_gemm_shape *shape) {
    ulp_status status = floats(native);
    return status == ULP_OK ? multiply(native, c, a, b, shape) : status;
}

ulp_status ulp_cuda_native_gemm64(const ulp_cuda_native *native, double *c, const double *a, const double *b,
                                  const ulp_gemm_shape *shape) {
    return multiply(native, c, a, b, shape);
}
