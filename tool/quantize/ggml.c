/* ggml.c - ulp quantize: arrays of .npy and .npz files to blocks of GGUF, and back; see job.h. */
#include <stdlib.h>

#include "job.h"
#include "tool/files/npz_write.h"
#include "tool/files/output.h"

/* The bytes of a row of n elements; 0 if n is no number of blocks. */
static size_t row_bytes(const quantize_job *j, size_t n) {
    return n % ULP_GGML_SIZE == 0 ? n / ULP_GGML_SIZE * ulp_ggml_bytes(j->ggml) : 0;
}

static ulp_status encode(uint8_t **bytes, float **x, const quantize_job *j, const file_array *a, ulp_error *error) {
    const npy_array *const h = &a->header;
    const size_t n = (size_t)h->count, last = h->dims > 0 ? (size_t)h->shape[h->dims - 1] : 1;
    const double *const wide = a->elements;
    size_t bad = 0;
    if (last % ULP_GGML_SIZE != 0)
        return ulp_refuse(error, "%s: the last dimension, %zu, is no multiple of 32, the block of GGUF", a->shown,
                          last);
    *bytes = malloc(n / ULP_GGML_SIZE * ulp_ggml_bytes(j->ggml) + 1);
    *x = n < SIZE_MAX / sizeof **x ? malloc(n * sizeof **x + 1) : NULL;
    if (*bytes == NULL || *x == NULL)
        return ulp_fail(error, ULP_NO_MEMORY, "%s: out of memory for its blocks", a->shown);
    for (size_t i = 0; i < n; i++) (*x)[i] = (float)wide[i];
    if (ulp_ggml_encode(*bytes, &bad, *x, n / ULP_GGML_SIZE, j->ggml) == ULP_OK) return ULP_OK;
    return ulp_refuse(
        error,
        "%s: the block from element %zu, counted in C order from 0, has a number that is not finite, or a "
        "scale beyond binary16 or without a reciprocal in binary32",
        a->shown, bad * ULP_GGML_SIZE);
}

static ulp_status write_blocks(const quantize_job *j, const npy_array *elements, const uint8_t *bytes,
                               ulp_error *error) {
    file_output o = {.program = j->program};
    npy_array h = *elements;
    int failed = 0;
    h.shape[h.dims - 1] = row_bytes(j, (size_t)h.shape[h.dims - 1]);
    h.count = elements->count / ULP_GGML_SIZE * ulp_ggml_bytes(j->ggml);
    ulp_status status = file_output_open(&o, j->out, FILE_OUTPUT_NPZ, error);
    if (status == ULP_OK) status = file_output_refuse_terminal(&o, error);
    if (status == ULP_OK) {
        npz_writer w = {.file = o.file};
        npz_begin(&w, "blocks");
        quantize_write_bytes(o.file, &h, bytes);
        npz_end(&w);
        failed = npz_finish(&w);
    }
    return file_output_close(&o, status, failed, error);
}

ulp_status quantize_ggml(quantize_job *j, ulp_error *error) {
    file_array a;
    uint8_t *bytes = NULL;
    float *x = NULL;
    ulp_status status = j->is_archive ? file_array_read_npz(&a, j->program, j->path, NPY_NUMBERS, j->codes, error)
                                      : file_array_read_npy(&a, j->program, j->path, NPY_NUMBERS, j->codes, error);
    if (status == ULP_OK) status = encode(&bytes, &x, j, &a, error);
    if (status == ULP_OK && j->to_codes) status = write_blocks(j, &a.header, bytes, error);
    else if (status == ULP_OK) {
        ulp_ggml_decode(x, bytes, (size_t)a.header.count / ULP_GGML_SIZE, j->ggml);
        status = quantize_write_values(j, &a.header, x, error);
    }
    free(bytes);
    free(x);
    file_array_free(&a);
    return status;
}

static ulp_status decode(quantize_job *j, const file_array *a, ulp_error *error) {
    npy_array h = a->header;
    const size_t bytes = ulp_ggml_bytes(j->ggml), last = h.dims > 0 ? (size_t)h.shape[h.dims - 1] : 0;
    if (h.dims == 0 || last % bytes != 0)
        return ulp_refuse(error, "%s: the last dimension, %zu bytes, is no multiple of %zu, the bytes of a block",
                          a->shown, last, bytes);
    const size_t blocks = (size_t)h.count / bytes;
    float *const y = blocks < SIZE_MAX / 128 ? malloc(blocks * 128 + 1) : NULL;
    if (y == NULL) return ulp_fail(error, ULP_NO_MEMORY, "%s: out of memory for its values", a->shown);
    ulp_ggml_decode(y, a->elements, blocks, j->ggml);
    h.shape[h.dims - 1] = last / bytes * ULP_GGML_SIZE;
    h.count = blocks * ULP_GGML_SIZE;
    const ulp_status status = quantize_write_values(j, &h, y, error);
    free(y);
    return status;
}

ulp_status quantize_ggml_decode(quantize_job *j, ulp_error *error) {
    npz_archive z;
    file_array a = {0};
    int found = 0;
    ulp_status status = npz_open(&z, j->program, j->path, error);
    if (status == ULP_OK) status = file_array_read_member(&a, &found, &z, "blocks", NPY_BYTES, NULL, error);
    if (status == ULP_OK && !found)
        status = ulp_refuse(error, "%s: the archive has no array 'blocks', the bytes of GGUF", z.shown);
    if (status == ULP_OK) status = decode(j, &a, error);
    file_array_free(&a);
    npz_close(&z);
    return status;
}
