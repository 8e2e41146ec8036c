/* write.c - ulp quantize: codes, scales and values in .npy and .npz files; see job.h. */
#include <errno.h>
#include <stdlib.h>

#include "job.h"
#include "tool/files/npz_write.h"
#include "tool/files/numbers.h"
#include "tool/files/output.h"

void quantize_write_bytes(FILE *file, const npy_array *header, const uint8_t *bytes) {
    npy_array h = *header;
    h.kind = 'u';
    h.size = 1;
    npy_write_header(file, &h);
    fwrite(bytes, 1, (size_t)h.count, file);
}

void quantize_write_floats(FILE *file, const npy_array *header, float *x) {
    npy_array h = *header;
    h.kind = 'f';
    h.size = sizeof *x;
    npy_write_header(file, &h);
    file_little_endian(x, (size_t)h.count, h.size);
    fwrite(x, h.size, (size_t)h.count, file);
}

ulp_status quantize_write_values(const quantize_job *j, const npy_array *shape, float *y, ulp_error *error) {
    file_output o = {.program = j->program};
    ulp_status status = file_output_open(&o, j->out, NULL, error);
    if (status == ULP_OK) status = file_output_refuse_terminal(&o, error);
    if (status == ULP_OK) quantize_write_floats(o.file, shape, y);
    return file_output_close(&o, status, 0, error);
}

/* ---- arrays of codes ---- */

/* Codes as integers of the element's sign: |i1 for int8, |u1 for e4m3. */
static void write_elements(npz_writer *w, const quantize_codes *c) {
    const ulp_quantizer *const q = c->array.quantizer;
    npy_array h = c->elements;
    h.kind = q->low < 0 ? 'i' : 'u';
    h.size = q->bits <= 8 ? 1 : 2;
    npz_begin(w, "elements");
    npy_write_header(w->file, &h);
    const uint32_t sign = q->low < 0 ? 1u << (q->bits - 1) : 0;
    for (size_t i = 0; i < h.count; i++) {
        const uint32_t code = (c->array.codes[i] ^ sign) - sign;
        putc((int)(code & 255), w->file);
        if (h.size == 2) putc((int)(code >> 8 & 255), w->file);
    }
    npz_end(w);
}

/* Rows of packed codes, and the number of elements of a row. */
static void write_packed(npz_writer *w, const quantize_codes *c) {
    npy_array h = c->elements;
    const size_t last = h.dims - 1, n = (size_t)h.shape[last], bytes = n / 2 + n % 2;
    const size_t rows = n > 0 ? (size_t)h.count / n : 0;
    uint8_t *const row = malloc(bytes + 1);
    int32_t length = (int32_t)n;
    if (row == NULL) {
        w->failed = ENOMEM;
        return;
    }
    h.shape[last] = bytes;
    h.kind = 'u';
    h.size = 1;
    npz_begin(w, "packed");
    npy_write_header(w->file, &h);
    for (size_t i = 0; i < rows; i++) {
        ulp_pack4(row, c->array.codes + i * n, n);
        fwrite(row, 1, bytes, w->file);
    }
    npz_end(w);
    free(row);
    npz_begin(w, "length");
    npy_write_header(w->file, &(npy_array){.kind = 'i', .size = 4, .count = 1});
    file_little_endian(&length, 1, 4);
    fwrite(&length, 4, 1, w->file);
    npz_end(w);
}

static uint8_t scale_code(double scale, const ulp_format *f) {
    uint64_t code = f->nan_code;
    if (scale == scale) (void)ulp_encode(&code, scale, f);
    return (uint8_t)code;
}

static void write_swizzled(npz_writer *w, const quantize_codes *c) {
    const size_t columns = (size_t)c->scales.shape[c->scales.dims - 1];
    const size_t rows = columns > 0 ? (size_t)c->scales.count / columns : 0, size = ulp_swizzled_size(rows, columns);
    uint8_t *const bytes = size < SIZE_MAX ? calloc(size + 1, 1) : NULL;
    if (bytes == NULL) {
        w->failed = ENOMEM;
        return;
    }
    for (size_t i = 0; i < c->scales.count; i++)
        bytes[ulp_swizzled_place(i / columns, i % columns, columns)] =
            scale_code(c->array.scales[i], &c->array.quantizer->block.scale);
    npz_begin(w, "swizzled");
    quantize_write_bytes(w->file, &(npy_array){.dims = 1, .shape = {size}, .count = size}, bytes);
    npz_end(w);
    free(bytes);
}

/* Scales of up to 8 bits as codes, others as numbers of binary32. */
static void write_scales(npz_writer *w, const quantize_codes *c) {
    const ulp_format *const f = &c->array.quantizer->block.scale;
    npy_array h = c->scales;
    h.kind = f->bits <= 8 ? 'u' : 'f';
    h.size = f->bits <= 8 ? 1 : 4;
    npz_begin(w, "scales");
    npy_write_header(w->file, &h);
    for (size_t i = 0; i < h.count; i++) {
        float scale = (float)c->array.scales[i];
        file_little_endian(&scale, 1, 4);
        if (h.size == 1) putc(scale_code(c->array.scales[i], f), w->file);
        else fwrite(&scale, 4, 1, w->file);
    }
    npz_end(w);
}

static void write_zero_points(npz_writer *w, const quantize_codes *c) {
    npy_array h = c->scales;
    h.kind = 'i';
    h.size = 4;
    npz_begin(w, "zero_points");
    npy_write_header(w->file, &h);
    for (size_t i = 0; i < h.count; i++) {
        int32_t zero_point = c->array.zero_points[i];
        file_little_endian(&zero_point, 1, 4);
        fwrite(&zero_point, 4, 1, w->file);
    }
    npz_end(w);
}

static int write_archive(FILE *file, const quantize_job *j, const quantize_codes *c) {
    npz_writer w = {.file = file};
    float tensor_scale = j->quantizer.tensor_scale;
    if (j->packs) write_packed(&w, c);
    else write_elements(&w, c);
    if (j->swizzles) write_swizzled(&w, c);
    else write_scales(&w, c);
    if (j->quantizer.has_zero_point) write_zero_points(&w, c);
    if (tensor_scale != 1.0f || j->finds_tensor_scale) {
        npz_begin(&w, "tensor_scale");
        quantize_write_floats(file, &(npy_array){.count = 1}, &tensor_scale);
        npz_end(&w);
    }
    return npz_finish(&w);
}

ulp_status quantize_write_codes(const quantize_job *j, const quantize_codes *c, ulp_error *error) {
    file_output o = {.program = j->program};
    int failed = 0;
    ulp_status status = file_output_open(&o, j->out, FILE_OUTPUT_NPZ, error);
    if (status == ULP_OK) status = file_output_refuse_terminal(&o, error);
    if (status == ULP_OK) failed = write_archive(o.file, j, c);
    return file_output_close(&o, status, failed, error);
}
