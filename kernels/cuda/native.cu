// native.cu - native products by name: the list, the products that this device offers, and the conversion of operands.
#include "kept.h"
#include "library.h"
#include "native.h"
#include "native_rows.h"
#include "kernels/products/datapath_names.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

enum { MMA, WGMMA, LIBRARY };

/* The end of a model's name on each generation of GPUs: the model is GPU-MODEL and this end. NULL: no model is known.
 * `same`: the model has one name on all GPUs. */
struct unit {
    bool same;
    const char *ampere, *hopper, *b200, *rtx; /* ampere: and earlier GPUs */
};
constexpr unit ANY = {true, NULL, NULL, NULL, NULL};
constexpr unit WHOLE = {false, "", "", "-mma", ""};
/* before Hopper, half of k is half of the steps, and the model is the row of the whole k */
constexpr unit HALF_K8 = {false, "", "-k8", NULL, NULL}, HALF_K4 = {false, "", "-k4", NULL, NULL};
constexpr unit EIGHT_BITS = {false, "", "-mma", "-mma", ""};
constexpr unit HOPPER = {false, NULL, "", NULL, NULL};

struct row {
    unsigned char family;
    const char *name, *a, *b, *result, *model;
    unit where;
    const char *what;
    bool fast;
};

const row rows[] = {
#define ROW(row, name, a, b, result, model, unit, instruction, ...)                                                    \
    {MMA, name, a, b, result, model, unit, "mma.sync " instruction, false},
    ULP_NATIVE_MMA(ROW) ULP_NATIVE_MMA64(ROW)
#undef ROW
#define ROW(row, name, a, b, result, model, unit, types, ...)                                                          \
    {WGMMA, name, a, b, result, model, unit, "wgmma m64n8, m64n128 " types, false},
        ULP_NATIVE_WGMMA(ROW)
#undef ROW
#define ROW(row, name, a, b, result, model, unit, compute, scale, type_a, type_b, type, fast)                          \
    {LIBRARY, name, a, b, result, model, unit, "cuBLASLt, compute type " #compute, fast != 0},
            ULP_NATIVE_LIBRARY(ROW)
#undef ROW
};

/* Promotions that the list has after the rows. */
const struct {
    ulp_native_row row;
    unsigned promote;
} promoted[] = {{ULP_NATIVE_WGMMA_E4M3, 64}, {ULP_NATIVE_WGMMA_E4M3, 128}};

enum { PROMOTED = sizeof promoted / sizeof promoted[0] };

/* The rows on this device, described once. They depend on the code that was compiled for the device. */
struct {
    pthread_once_t once;
    ulp_status status;
    int architecture, wgmma;
    ulp_cuda_native row[ULP_NATIVE_ROWS];
} known = {PTHREAD_ONCE_INIT, ULP_OK, 0, 0, {}};

/* ---- a row on this device ---- */

bool is_fp8(const ulp_cuda_native *n) { return n->a.bits == 8 && !n->a.is_fixed; }

const char *generation(int capability) {
    switch (capability / 10) {
    case 7: return capability == 75 ? "t4" : "v100";
    case 8: return capability == 89 ? "l40s" : "a100";
    case 9: return "h100";
    case 10: return "b200";
    case 12: return "rtx5090";
    default: return NULL;
    }
}

const char *ending(const unit &where, int capability) {
    switch (capability / 10) {
    case 9: return where.hopper;
    case 10: return where.b200;
    case 12: return where.rtx;
    default: return where.ampere;
    }
}

/* The datapath that is expected to have the bits of the row on a device of this capability. */
void model_of(char to[ULP_DATAPATH_NAME_MAX], const row *r, int capability) {
    const char *gpu = generation(capability), *end = ending(r->where, capability);
    ulp_datapath model;
    to[0] = '\0';
    if (r->where.same) snprintf(to, ULP_DATAPATH_NAME_MAX, "%s", r->model);
    else if (gpu != NULL && end != NULL) snprintf(to, ULP_DATAPATH_NAME_MAX, "%s-%s%s", gpu, r->model, end);
    if (ulp_datapath_parse(&model, to) != ULP_OK) to[0] = '\0';
}

/* The reason why this device does not offer the row. */
void lacks_of(char to[200], const row *r, bool fp8) {
    const int capability = ulp_cuda_device()->capability;
    to[0] = '\0';
    if (r->family == WGMMA && capability / 10 != 9)
        snprintf(to, 200, "wgmma is of compute capability 9.0; this device has %d.%d", capability / 10,
                 capability % 10);
    else if (r->family == WGMMA && !known.wgmma)
        snprintf(to, 200, "wgmma needs code for sm_90a, which this build does not hold");
    else if (r->family != WGMMA && fp8 && capability < 89)
        snprintf(to, 200, "fp8 needs compute capability 8.9; this device has %d.%d", capability / 10, capability % 10);
    else if (r->family == LIBRARY) snprintf(to, 200, "%s", ulp_native_library_lacks());
    else if (r->family == MMA && fp8 && known.architecture < 89)
        snprintf(
            to, 200,
            "fp8 needs code for compute capability 8.9 or more; what this build holds for %d.%d was compiled for %d.%d",
            capability / 10, capability % 10, known.architecture / 10, known.architecture % 10);
}

ulp_status describe(ulp_cuda_native *n, unsigned index) {
    const row *r = &rows[index];
    ulp_status status = ulp_format_parse(&n->a, r->a);
    if (status == ULP_OK) status = ulp_format_parse(&n->b, r->b);
    if (status == ULP_OK) status = ulp_format_parse(&n->result, r->result);
    n->row = (uint16_t)index;
    n->fast = r->fast;
    n->a_scale = n->b_scale = 1.0f;
    snprintf(n->what, sizeof n->what, "%s%s", r->what, r->fast ? ", fast accumulation" : "");
    snprintf(n->name, sizeof n->name, "native:%s", r->name);
    model_of(n->model, r, ulp_cuda_device()->capability);
    lacks_of(n->lacks, r, is_fp8(n));
    return status;
}

void describe_all(void) {
    known.status = ulp_native_built(&known.architecture, &known.wgmma);
    for (unsigned i = 0; i < ULP_NATIVE_ROWS && known.status == ULP_OK; i++) known.status = describe(&known.row[i], i);
}

ulp_status open(void) {
    ulp_status status = ulp_cuda_open();
    if (status != ULP_OK) return status;
    pthread_once(&known.once, describe_all);
    return known.status;
}

/* ---- names ---- */

/* Adds a promotion: the sum is added to a binary32 total after each `products` products. */
void promote(ulp_cuda_native *n, unsigned products) {
    const size_t name = strlen(n->name), model = strlen(n->model);
    n->promote = products;
    snprintf(n->name + name, sizeof n->name - name, ":promote=%u", products);
    if (model > 0) snprintf(n->model + model, sizeof n->model - model, ":promote=%u", products);
}

/* The row called native:NAME. -1 if there is none. */
int row_of(const char *text) {
    if (!ulp_datapath_is_native(text)) return -1;
    for (int i = 0; i < ULP_NATIVE_ROWS; i++)
        if (strcmp(text + strlen("native:"), rows[i].name) == 0) return i;
    return -1;
}

/* Whether a promotion can follow each `products` products: a multiple of the products of one instruction. */
bool can_promote(const row *r, unsigned products) {
    ulp_format a;
    return r->family == WGMMA && strcmp(r->result, "fp32") == 0 && ulp_format_parse(&a, r->a) == ULP_OK &&
           products <= 1u << 20 && products * ulp_native_bytes(&a) % 32 == 0;
}

} // namespace

ulp_status ulp_cuda_native_get(size_t i, ulp_cuda_native *native) {
    if (native == NULL || i >= ULP_NATIVE_ROWS + PROMOTED) return ULP_BAD_ARGUMENT;
    const ulp_status status = open();
    if (status != ULP_OK) return status;
    *native = known.row[i < ULP_NATIVE_ROWS ? i : (size_t)promoted[i - ULP_NATIVE_ROWS].row];
    if (i >= ULP_NATIVE_ROWS) promote(native, promoted[i - ULP_NATIVE_ROWS].promote);
    return ULP_OK;
}

/* Checks the name before the device is opened. */
ulp_status ulp_cuda_native_parse(ulp_cuda_native *native, const char *text) {
    ulp_datapath_parts parts;
    ulp_datapath given = {};
    given.kind = ULP_NATIVE;
    if (native == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    if (!ulp_datapath_cut(&parts, text) || ulp_datapath_settings(&given, &parts, NULL, 0) != ULP_OK)
        return ULP_BAD_NAME;
    const int index = row_of(parts.base);
    const unsigned products = given.promote;
    if (index < 0 || (products != 0 && !can_promote(&rows[index], products))) return ULP_BAD_NAME;
    const ulp_status status = open();
    if (status != ULP_OK) return status;
    *native = known.row[index];
    if (products != 0) promote(native, products);
    return ULP_OK;
}

ulp_status ulp_native_of(ulp_cuda_native *native, const ulp_datapath *datapath) {
    if (datapath->native >= ULP_NATIVE_ROWS) return ULP_BAD_ARGUMENT;
    const ulp_status status = open();
    if (status != ULP_OK) return status;
    *native = known.row[datapath->native];
    native->promote = datapath->promote;
    return ULP_OK;
}

/* ---- a product ---- */

struct ulp_cuda_product {
    ulp_cuda_native native;
    ulp_native_job job;
    size_t m, n, k;
    ulp_native_array result; /* the layout of c and d in the caller's array */
    unsigned result_bytes;
    unsigned char *a, *b; /* memory of this product; NULL: the operand's codes are kept */
    void *c, *d;
};

namespace {

size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

ulp_status check(const ulp_cuda_native *native, const void *c, const void *a, const void *b, const ulp_gemm_shape *s) {
    if (native == NULL || s == NULL || native->row >= ULP_NATIVE_ROWS) return ULP_BAD_ARGUMENT;
    ulp_status status = open();
    if (status != ULP_OK) return status;
    if (native->lacks[0] != '\0') {
        ulp_cuda_say("%s", native->lacks);
        return ULP_UNSUPPORTED;
    }
    if ((native->a_scale != 1.0f || native->b_scale != 1.0f) &&
        (rows[native->row].family != LIBRARY || !is_fp8(native))) {
        ulp_cuda_say("%s takes no scales: those of fp8 by cuBLASLt do", native->name);
        return ULP_UNSUPPORTED;
    }
    if (s->m > 0 && s->n > 0 && s->accumulate && c == NULL) return ULP_BAD_ARGUMENT;
    return s->a_scales != NULL || s->b_scales != NULL ? ULP_BAD_ARGUMENT : ulp_gemm_shape_check(a, b, s);
}

/* Computes the sizes of the padded operands. A product that fits one small tile uses the small tile. */
void set_sizes(ulp_cuda_product *p) {
    const bool wide = p->native.result.bits == 64;
    const unsigned family = rows[p->native.row].family;
    const ulp_native_tile library = {16, 16}; /* the requirement of cuBLASLt for fp8 */
    const ulp_native_tile small = family == LIBRARY ? library
                                  : family == WGMMA ? ulp_wgmma_small
                                  : wide            ? ulp_mma_64
                                                    : ulp_mma_small;
    const ulp_native_tile large = family == LIBRARY ? library
                                  : family == WGMMA ? ulp_wgmma_large
                                  : wide            ? ulp_mma_64
                                                    : ulp_mma_large;
    const ulp_native_tile tile = p->m <= small.rows && p->n <= small.columns ? small : large;
    p->job.bytes = ulp_native_bytes(&p->native.a);
    p->job.m = round_up(p->m, tile.rows);
    p->job.n = round_up(p->n, tile.columns);
    p->job.depth = round_up(p->k == 0 && family == LIBRARY ? 1 : p->k * p->job.bytes, 32);
    p->job.promote = (size_t)p->native.promote * p->job.bytes;
    p->job.a_scale = p->native.a_scale;
    p->job.b_scale = p->native.b_scale;
}

/* *codes = the codes of an operand, which are kept or in memory of its own at *own. */
template <typename T>
ulp_status operand(const unsigned char **codes, unsigned char **own, uint32_t *found, const T *x,
                   const ulp_native_array *array, const ulp_format *format) {
    unsigned char *to = NULL;
    const ulp_kept kept = ulp_cuda_kept_codes(&to, x, array, format);
    if (kept == ULP_KEPT_NOT) to = *own = static_cast<unsigned char *>(ulp_cuda_room(array->all_rows * array->pitch));
    *codes = to;
    if (kept == ULP_KEPT_OLD) return ULP_OK;
    const ulp_status status = to == NULL ? ULP_NO_MEMORY : ulp_native_encode(found, to, x, array, format);
    if (status != ULP_OK && kept == ULP_KEPT_NEW) ulp_cuda_kept_drop(to);
    return status;
}

/* Reads no operand if the result has no elements. In binary64 the products of the padding are -0, so that a sum of -0
 * stays -0. A product of +0 in the chain of fma would give +0. */
template <typename T>
ulp_status encode(ulp_cuda_product *p, const T *c, const T *a, const T *b, const ulp_gemm_shape *s) {
    if (s->m == 0 || s->n == 0) return ULP_OK;
    ulp_native_job *w = &p->job;
    ulp_cuda_question q;
    const ulp_native_array left = {s->m, s->k,     s->a_trans ? 1 : s->lda, s->a_trans ? s->lda : 1,
                                   w->m, w->depth, p->native.a.bits == 64};
    const ulp_native_array right = {s->n,     s->k, s->b_trans ? s->ldb : 1, s->b_trans ? 1 : s->ldb, w->n,
                                    w->depth, false};
    ulp_status status = ulp_cuda_question_begin(&q, s->deferred != 0);
    if (status != ULP_OK) return status;
    status = operand(&w->a, &p->a, q.found, a, &left, &p->native.a);
    if (status == ULP_OK) status = operand(&w->b, &p->b, q.found, b, &right, &p->native.b);
    if (status == ULP_OK && p->c != NULL) status = ulp_native_encode(q.found, p->c, c, &p->result, &p->native.result);
    status = ulp_cuda_question_end(&q, status);
    if (status == ULP_NO_CODE && p->a == NULL) ulp_cuda_kept_drop(w->a);
    if (status == ULP_NO_CODE && p->b == NULL) ulp_cuda_kept_drop(w->b);
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
    set_sizes(p);
    ulp_native_job *w = &p->job;
    p->result_bytes = native->result.bits / 8u;
    const size_t pitch = w->n * p->result_bytes;
    p->result = {s->m, s->n, s->c_trans ? 1 : s->ldc, s->c_trans ? s->ldc : 1, w->m, pitch, false};
    p->d = ulp_cuda_room(w->m * pitch);
    if (s->accumulate) p->c = ulp_cuda_room(w->m * pitch);
    w->c = p->c;
    w->d = p->d;
    status = p->d == NULL || (s->accumulate && p->c == NULL) ? ULP_NO_MEMORY : encode(p, c, a, b, s);
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

/* Whether arrays of floats hold the results. */
ulp_status check_floats(const ulp_cuda_native *native) {
    if (native == NULL) return ULP_BAD_ARGUMENT;
    if (native->result.fits_binary32) return ULP_OK;
    ulp_cuda_say("%s: results are %s, which floats do not hold", native->name, native->result.name);
    return ULP_UNSUPPORTED;
}

} // namespace

ulp_status ulp_cuda_product_begin(ulp_cuda_product **product, const ulp_cuda_native *native, const float *c,
                                  const float *a, const float *b, const ulp_gemm_shape *shape) {
    ulp_status status = shape != NULL && shape->accumulate ? check_floats(native) : ULP_OK;
    return status == ULP_OK ? begin(product, native, c, a, b, shape) : status;
}

ulp_status ulp_cuda_product_begin64(ulp_cuda_product **product, const ulp_cuda_native *native, const double *c,
                                    const double *a, const double *b, const ulp_gemm_shape *shape) {
    return begin(product, native, c, a, b, shape);
}

ulp_status ulp_cuda_product_run(ulp_cuda_product *p) {
    if (p == NULL) return ULP_BAD_ARGUMENT;
    if (p->m == 0 || p->n == 0) return ULP_OK;
    switch (rows[p->native.row].family) {
    case MMA: return ulp_native_mma(p->native.row, &p->job);
    case WGMMA: return ulp_native_wgmma(p->native.row, &p->job);
    default: return ulp_native_library(p->native.row, &p->job);
    }
}

ulp_status ulp_cuda_product_repeat(ulp_cuda_product *p, unsigned times, uint64_t *different) {
    if (p == NULL || different == NULL) return ULP_BAD_ARGUMENT;
    const size_t bytes = p->job.m * p->job.n * p->result_bytes;
    *different = 0;
    if (p->m == 0 || p->n == 0 || times == 0) return ULP_OK;
    void *first = ulp_cuda_room(bytes);
    uint64_t *count = static_cast<uint64_t *>(ulp_cuda_room(sizeof *count));
    ulp_status status = first == NULL || count == NULL ? ULP_NO_MEMORY : ulp_cuda_zero(count, sizeof *count);
    for (unsigned i = 0; i < times && status == ULP_OK; i++) {
        p->job.d = i == 0 ? first : p->d;
        status = ulp_cuda_zero(p->job.d, bytes);
        if (status == ULP_OK) status = ulp_cuda_product_run(p);
        if (status == ULP_OK && i > 0) status = ulp_native_differ(count, p->d, first, bytes / sizeof(uint32_t));
    }
    p->job.d = p->d;
    if (status == ULP_OK) status = ulp_cuda_download(different, count, sizeof *count);
    ulp_cuda_release(first);
    ulp_cuda_release(count);
    return status;
}

ulp_status ulp_cuda_product_values(ulp_cuda_product *p, float *c) {
    ulp_status status = p == NULL ? ULP_BAD_ARGUMENT : check_floats(&p->native);
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
    ulp_status status = check_floats(native);
    return status == ULP_OK ? multiply(native, c, a, b, shape) : status;
}

ulp_status ulp_cuda_native_gemm64(const ulp_cuda_native *native, double *c, const double *a, const double *b,
                                  const ulp_gemm_shape *shape) {
    return multiply(native, c, a, b, shape);
}
