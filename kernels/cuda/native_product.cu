// native_product.cu - one native product: its operands as codes on the device, its run, its results.
#include "fragments.h"
#include "kept.h"
#include "native.h"
#include "native_rows.h"

#include <stdlib.h>

struct ulp_cuda_product {
    ulp_cuda_native native;
    ulp_native_job job;
    size_t m, n, k;
    ulp_native_array result; /* the layout of c and d in the caller's array */
    unsigned result_bytes;
    unsigned char *a, *b; /* memory of this product; NULL: the operand's codes are kept */
    unsigned char *a_scales, *b_scales;
    void *c, *d;
};

namespace {

size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

ulp_status check(const ulp_cuda_native *native, const void *c, const void *a, const void *b, const ulp_gemm_shape *s) {
    if (native == NULL || s == NULL || native->row >= ULP_NATIVE_ROWS) return ULP_BAD_ARGUMENT;
    ULP_TRY(ulp_native_open());
    if (native->lacks[0] != '\0') {
        ulp_cuda_say("%s", native->lacks);
        return ULP_UNSUPPORTED;
    }
    if ((native->a_scale != 1.0f || native->b_scale != 1.0f) &&
        (ulp_native_family_of(native) != ULP_NATIVE_BY_LIBRARY || !ulp_native_is_fp8(native))) {
        ulp_cuda_say("%s takes no factors: those of fp8 by cuBLASLt do", native->name);
        return ULP_UNSUPPORTED;
    }
    if (s->m > 0 && s->n > 0 && s->accumulate && c == NULL) return ULP_BAD_ARGUMENT;
    if (native->scale_block == 0 && (s->a_scales != NULL || s->b_scales != NULL)) return ULP_BAD_ARGUMENT;
    return ulp_gemm_shape_check(a, b, s);
}

/* The tile that the result of a product is padded to: the small tile of the family if the result fits it. */
ulp_native_tile tile_of(const ulp_cuda_product *p) {
    auto choose = [&](const ulp_native_tile &small, const ulp_native_tile &large) {
        return p->m <= small.rows && p->n <= small.columns ? small : large;
    };
    switch (ulp_native_family_of(&p->native)) {
    case ULP_NATIVE_BY_LIBRARY: return {16, 16}; /* the requirement of cuBLASLt for fp8 */
    case ULP_NATIVE_BY_WGMMA:
        return choose(ulp_wgmma_small,
                      p->n <= ulp_wgmma_large.columns || p->native.promote != 0 ? ulp_wgmma_large : ulp_wgmma_wide);
    case ULP_NATIVE_BY_TCGEN05: return choose(ulp_tcgen05_small, ulp_tcgen05_large);
    default: return p->native.result.bits == 64 ? ulp_mma_64 : choose(ulp_mma_small, ulp_mma_large);
    }
}

/* Computes the sizes of the padded operands. */
void set_sizes(ulp_cuda_product *p) {
    const ulp_native_tile tile = tile_of(p);
    const bool library = ulp_native_family_of(&p->native) == ULP_NATIVE_BY_LIBRARY;
    const unsigned codes = ulp_native_operand_codes(&p->native); /* in 16 bytes; an instruction takes 32 bytes */
    p->job.m = round_up(p->m, tile.rows);
    p->job.n = round_up(p->n, tile.columns);
    p->job.k = round_up(p->k == 0 && library ? 1 : p->k, (size_t)2 * codes);
    p->job.depth = p->job.k / codes * 16;
    p->job.promote = (size_t)p->native.promote * 16 / codes;
    p->job.a_scale = p->native.a_scale;
    p->job.b_scale = p->native.b_scale;
    if (p->native.scale_block != 0)
        p->job.groups = round_up(p->job.k / p->native.scale_block, ULP_SCALES_IN_GROUP) / ULP_SCALES_IN_GROUP;
}

unsigned char *room_of_scales(size_t rows, size_t groups) {
    return static_cast<unsigned char *>(
        ulp_cuda_room(round_up(rows, ULP_SCALES_ROWS) / ULP_SCALES_ROWS * groups * ULP_SCALES_BYTES));
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
    return to == NULL ? ULP_NO_MEMORY : ulp_native_encode(found, to, x, array, format);
}

/* The codes of the block scales of A and of B. */
ulp_status encode_scales(ulp_cuda_product *p, uint32_t *found, const ulp_gemm_shape *s) {
    const size_t blocks = (s->k + p->native.scale_block - 1) / p->native.scale_block;
    const ulp_native_array left = {s->m, blocks, blocks, 1, 0, 0, 0, false, false},
                           right = {s->n, blocks, blocks, 1, 0, 0, 0, false, false};
    ULP_TRY(ulp_native_encode_scales(found, p->a_scales, s->a_scales, &left, p->job.groups, &p->native.scale));
    return ulp_native_encode_scales(found, p->b_scales, s->b_scales, &right, p->job.groups, &p->native.scale);
}

/* Reads no operand if the result has no elements. In binary64 the products of the padding are -0, so that a sum of -0
 * stays -0. A product of +0 in the chain of fma would give +0. */
template <typename T>
ulp_status encode(ulp_cuda_product *p, const T *c, const T *a, const T *b, const ulp_gemm_shape *s) {
    if (s->m == 0 || s->n == 0) return ULP_OK;
    ulp_native_job *w = &p->job;
    const unsigned codes = ulp_native_operand_codes(&p->native);
    const ulp_native_family family = ulp_native_family_of(&p->native);
    const bool slabs = family == ULP_NATIVE_BY_WGMMA || family == ULP_NATIVE_BY_TCGEN05;
    const ulp_native_array left = {
        s->m, s->k, s->a_trans ? 1 : s->lda, s->a_trans ? s->lda : 1, w->m, w->depth, codes, p->native.a.bits == 64,
        slabs};
    const ulp_native_array right = {
        s->n, s->k, s->b_trans ? s->ldb : 1, s->b_trans ? 1 : s->ldb, w->n, w->depth, codes, false, slabs};
    ulp_cuda_question q;
    ULP_TRY(ulp_cuda_question_begin(&q, s->deferred != 0));
    ulp_status status = operand(&w->a, &p->a, q.found, a, &left, &p->native.a);
    if (status == ULP_OK) status = operand(&w->b, &p->b, q.found, b, &right, &p->native.b);
    if (status == ULP_OK && p->c != NULL) status = ulp_native_encode(q.found, p->c, c, &p->result, &p->native.result);
    if (status == ULP_OK && p->native.scale_block != 0) status = encode_scales(p, q.found, s);
    return ulp_cuda_question_end(&q, status);
}

template <typename T>
ulp_status begin(ulp_cuda_product **product, const ulp_cuda_native *native, const T *c, const T *a, const T *b,
                 const ulp_gemm_shape *s) {
    if (product == NULL) return ULP_BAD_ARGUMENT;
    *product = NULL;
    ULP_TRY(check(native, c, a, b, s));
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
    p->result = {s->m,  s->n, s->c_trans ? 1 : s->ldc, s->c_trans ? s->ldc : 1, w->m, pitch, 16 / p->result_bytes,
                 false, false};
    p->d = ulp_cuda_room(w->m * pitch);
    if (s->accumulate) p->c = ulp_cuda_room(w->m * pitch);
    bool fine = p->d != NULL && (!s->accumulate || p->c != NULL);
    if (native->scale_block != 0) {
        p->a_scales = room_of_scales(w->m, w->groups);
        p->b_scales = room_of_scales(w->n, w->groups);
        fine = fine && p->a_scales != NULL && p->b_scales != NULL;
    }
    w->a_scales = p->a_scales;
    w->b_scales = p->b_scales;
    w->c = p->c;
    w->d = p->d;
    const ulp_status status = fine ? encode(p, c, a, b, s) : ULP_NO_MEMORY;
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
    if (shape != NULL && shape->accumulate) ULP_TRY(check_floats(native));
    return begin(product, native, c, a, b, shape);
}

ulp_status ulp_cuda_product_begin64(ulp_cuda_product **product, const ulp_cuda_native *native, const double *c,
                                    const double *a, const double *b, const ulp_gemm_shape *shape) {
    return begin(product, native, c, a, b, shape);
}

ulp_status ulp_cuda_product_run(ulp_cuda_product *p) {
    if (p == NULL) return ULP_BAD_ARGUMENT;
    if (p->m == 0 || p->n == 0) return ULP_OK;
    switch (ulp_native_family_of(&p->native)) {
    case ULP_NATIVE_BY_MMA: return ulp_native_mma(p->native.row, &p->job);
    case ULP_NATIVE_BY_WGMMA: return ulp_native_wgmma(p->native.row, &p->job);
    case ULP_NATIVE_BY_TCGEN05: return ulp_native_tcgen05(p->native.row, &p->job);
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
    ULP_TRY(p == NULL ? ULP_BAD_ARGUMENT : check_floats(&p->native));
    return values(p, c);
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
    ulp_cuda_release(p->a_scales);
    ulp_cuda_release(p->b_scales);
    ulp_cuda_release(p->c);
    ulp_cuda_release(p->d);
    free(p);
}

ulp_status ulp_cuda_native_gemm(const ulp_cuda_native *native, float *c, const float *a, const float *b,
                                const ulp_gemm_shape *shape) {
    ULP_TRY(check_floats(native));
    return multiply(native, c, a, b, shape);
}

ulp_status ulp_cuda_native_gemm64(const ulp_cuda_native *native, double *c, const double *a, const double *b,
                                  const ulp_gemm_shape *shape) {
    return multiply(native, c, a, b, shape);
}
