/* tensor.c - carving, filling and copying; see tensor.h. */
#include "tensor.h"

enum { ALIGNMENT = 64, PIECE = 1 << 14 /* of an upload */ };

void ulp_family_init(ulp_family *family, const ulp_backend *backend) {
    family->backend = backend;
    family->memory = NULL;
    family->bytes = family->used = 0;
}

static void *take(ulp_family *family, size_t bytes) {
    size_t at = family->used;
    family->used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return family->memory && family->used <= family->bytes ? family->memory + at : NULL;
}

float *ulp_family_take(ulp_family *family, size_t n) { return take(family, n * sizeof(float)); }

double *ulp_family_take64(ulp_family *family, size_t n) { return take(family, n * sizeof(double)); }

uint8_t *ulp_family_take8(ulp_family *family, size_t n) { return take(family, n); }

ulp_status ulp_family_alloc(ulp_family *family) {
    size_t bytes = family->used ? family->used : ALIGNMENT;
    family->memory = family->backend->alloc(bytes);
    if (!family->memory) return ULP_NO_MEMORY;
    family->bytes = bytes;
    family->used = 0;
    return ulp_tensor_fill(family->backend, (float *)(void *)family->memory, bytes / sizeof(float), 0.0f);
}

void ulp_family_release(ulp_family *family) {
    if (family->memory) family->backend->release(family->memory);
    family->memory = NULL;
    family->bytes = family->used = 0;
}

ulp_status ulp_tensor_fill(const ulp_backend *backend, float *x, size_t n, float value) {
    float piece[PIECE];
    ulp_status status = ULP_OK;
    for (size_t i = 0; i < PIECE && i < n; i++) piece[i] = value;
    for (size_t at = 0; at < n && status == ULP_OK; at += PIECE)
        status = backend->upload(x + at, piece, (n - at < PIECE ? n - at : PIECE) * sizeof(float));
    return status;
}

ulp_status ulp_tensor_copy(const ulp_backend *backend, float *y, const float *x, size_t n) {
    return ulp_backend_permute(backend, y, x, (ulp_permute_shape){1, 1, 1, n});
}
