/* arrays.c - ulp quantize: arrays of .npy and .npz files to codes or values, and codes to values; see job.h. */
#include <stdlib.h>

#include "job.h"

/* ---- numbers to codes ---- */

static float *make_values(const quantize_job *j, const quantize_codes *c, const char *shown, ulp_error *error) {
    const size_t n = (size_t)c->elements.count;
    float *const y = n < SIZE_MAX / sizeof *y ? malloc(n * sizeof *y + 1) : NULL;
    if (y != NULL) ulp_dequantize(y, &c->array);
    else ulp_fail(error, ULP_NO_MEMORY, "%s: out of memory for its values", shown);
    if (y == NULL || !j->hadamard.how.inverse) return y;
    const npy_array *const h = &c->elements;
    if (tool_hadamard_floats(&j->hadamard, y, quantize_row_count(h), quantize_row_length(h), shown, error) == ULP_OK)
        return y;
    free(y);
    return NULL;
}

static ulp_status write_values(const quantize_job *j, const quantize_codes *c, const char *shown, ulp_error *error) {
    float *const y = make_values(j, c, shown, error);
    const ulp_status status = y != NULL ? quantize_write_values(j, &c->elements, y, error) : ULP_BAD_ARGUMENT;
    free(y);
    return status;
}

/* --packed and --swizzled need a last dimension. */
static ulp_status check_layouts(const quantize_job *j, const quantize_codes *c, const char *shown, ulp_error *error) {
    if (j->packs && (c->elements.dims == 0 || c->elements.shape[c->elements.dims - 1] > INT32_MAX))
        return ulp_refuse(error, "--packed: the last dimension of %s has to have from 0 to 2^31 - 1 elements", shown);
    if (j->swizzles && c->scales.dims == 0)
        return ulp_refuse(error, "--swizzled: the scales of %s are a single number; the layout is of a matrix", shown);
    return ULP_OK;
}

ulp_status quantize_arrays(quantize_job *j, ulp_error *error) {
    file_array a;
    quantize_codes c = {0};
    ulp_status status = j->is_archive ? file_array_read_npz(&a, j->program, j->path, NPY_NUMBERS, j->codes, error)
                                      : file_array_read_npy(&a, j->program, j->path, NPY_NUMBERS, j->codes, error);
    if (status == ULP_OK) status = quantize_prepare(&c, j, &a.header, a.shown, error);
    if (status == ULP_OK) status = check_layouts(j, &c, a.shown, error);
    if (status == ULP_OK)
        status = tool_hadamard_doubles(&j->hadamard, a.elements, quantize_row_count(&a.header),
                                       quantize_row_length(&a.header), a.shown, error);
    if (status == ULP_OK) status = quantize_fill(&c, j, a.elements, NULL, error);
    if (status == ULP_OK)
        status = j->to_codes ? quantize_write_codes(j, &c, error) : write_values(j, &c, a.shown, error);
    quantize_release(&c);
    file_array_free(&a);
    return status;
}

/* ---- codes to values ---- */

static ulp_status refuse_element(const file_array *a, uint64_t i, ulp_error *error, const char *why) {
    ulp_text index = {0};
    file_array_add_index(&index, &a->header, i);
    const ulp_status status = ulp_refuse(error, "%s: element %s, %.9g, %s", a->shown, ulp_text_of(&index),
                                         ((const double *)a->elements)[i], why);
    ulp_text_free(&index);
    return status;
}

static ulp_status need(file_array *a, const npz_archive *z, const char *name, npy_wanted wanted,
                       const ulp_format *codes, ulp_error *error) {
    int found;
    const ulp_status status = file_array_read_member(a, &found, z, name, wanted, codes, error);
    if (status != ULP_OK || found) return status;
    return ulp_refuse(error, "%s: the archive has no array '%s'; codes are elements or packed, scales or swizzled%s",
                      z->shown, name, ", zero_points and tensor_scale");
}

/* The length of the rows of packed codes, which the archive may hold. */
static ulp_status read_length(size_t *length, const npz_archive *z, const file_array *packed, ulp_error *error) {
    file_array a;
    int found;
    const npy_array *const h = &packed->header;
    const size_t bytes = h->dims > 0 ? (size_t)h->shape[h->dims - 1] : 0;
    *length = 2 * bytes;
    if (h->dims == 0) return ulp_refuse(error, "%s: packed codes have a dimension at least", packed->shown);
    ulp_status status = file_array_read_member(&a, &found, z, "length", NPY_NUMBERS, NULL, error);
    if (status == ULP_OK && found) {
        const double n = a.header.count == 1 ? *(const double *)a.elements : -1;
        if (n >= 0 && (n + 1 == 2 * (double)bytes || n == 2 * (double)bytes)) *length = (size_t)n;
        else
            status = ulp_refuse(error, "%s: %.17g; %zu bytes a row hold %zu or %zu codes", a.shown, n, bytes,
                                bytes > 0 ? 2 * bytes - 1 : 0, 2 * bytes);
    }
    file_array_free(&a);
    return status;
}

static ulp_status read_packed(quantize_codes *c, const quantize_job *j, const npz_archive *z, ulp_error *error) {
    file_array a = {0};
    size_t length = 0;
    ulp_status status = need(&a, z, "packed", NPY_BYTES, NULL, error);
    if (status == ULP_OK) status = read_length(&length, z, &a, error);
    if (status == ULP_OK) {
        npy_array h = a.header;
        const size_t bytes = (size_t)h.shape[h.dims - 1], rows = bytes > 0 ? (size_t)h.count / bytes : 0;
        h.shape[h.dims - 1] = length;
        h.count = rows * length;
        status = quantize_prepare(c, j, &h, a.shown, error);
        for (size_t i = 0; i < rows && status == ULP_OK; i++)
            ulp_unpack4(c->array.codes + i * length, (const uint8_t *)a.elements + i * bytes, length);
    }
    file_array_free(&a);
    return status;
}

static ulp_status read_elements(quantize_codes *c, const quantize_job *j, const npz_archive *z, ulp_error *error) {
    file_array a = {0};
    char why[64];
    const ulp_quantizer *const q = &j->quantizer;
    ulp_format integers = {.bits = q->bits, .is_fixed = 1, .is_signed = 1}; /* the bits of codes without a sign */
    snprintf(integers.name, sizeof integers.name, "%s", q->block.element.name);
    if (npz_find(z, "elements") == NULL && npz_find(z, "packed") != NULL) return read_packed(c, j, z, error);
    ulp_status status = ulp_format_init(&integers);
    if (status == ULP_OK) status = need(&a, z, "elements", NPY_NUMBERS, q->low < 0 ? NULL : &integers, error);
    if (status == ULP_OK && q->low >= 0 && (a.header.kind == 'i' || a.header.is_signed))
        status = ulp_refuse(error, "%s has signed integers; codes of %s have no sign: are they of another --format?",
                            a.shown, q->block.element.name);
    if (status == ULP_OK) status = quantize_prepare(c, j, &a.header, a.shown, error);
    for (uint64_t i = 0; status == ULP_OK && i < a.header.count; i++)
        if (!quantize_is_code(&c->array.codes[i], ((const double *)a.elements)[i], q)) {
            snprintf(why, sizeof why, "is no code of %s: %d bits", q->block.element.name, q->bits);
            status = refuse_element(&a, i, error, why);
        }
    file_array_free(&a);
    return status;
}

static int same_shape(const npy_array *a, const npy_array *b) {
    int same = a->dims == b->dims;
    for (size_t d = 0; d < a->dims && same; d++) same = a->shape[d] == b->shape[d];
    return same;
}

static ulp_status check_shape(const quantize_codes *c, const file_array *a, ulp_error *error) {
    ulp_text got = {0}, wanted = {0};
    if (same_shape(&a->header, &c->scales)) return ULP_OK;
    file_array_add_shape(&got, &a->header);
    file_array_add_shape(&wanted, &c->scales);
    const ulp_status status =
        ulp_refuse(error,
                   "%s has the shape %s; with this --per and the shape of the codes it is %s; --per has to be the one "
                   "that made the archive",
                   a->shown, ulp_text_of(&got), ulp_text_of(&wanted));
    ulp_text_free(&got);
    ulp_text_free(&wanted);
    return status;
}

static ulp_status read_swizzled(quantize_codes *c, const quantize_job *j, const npz_archive *z, ulp_error *error) {
    file_array a = {0};
    ulp_status status = need(&a, z, "swizzled", NPY_BYTES, NULL, error);
    const size_t columns = c->scales.dims > 0 ? (size_t)c->scales.shape[c->scales.dims - 1] : 0;
    const size_t rows = columns > 0 ? (size_t)c->scales.count / columns : 0, size = ulp_swizzled_size(rows, columns);
    if (status == ULP_OK && (a.header.dims != 1 || a.header.count != size || j->quantizer.block.scale.bits > 8))
        status = ulp_refuse(error, "%s has %llu bytes; %zu rows of %zu scales of 8 bits are %zu bytes", a.shown,
                            (unsigned long long)a.header.count, rows, columns, size);
    for (size_t i = 0; i < c->scales.count && status == ULP_OK; i++)
        c->array.scales[i] = ulp_block_scale_value(
            ((const uint8_t *)a.elements)[ulp_swizzled_place(i / columns, i % columns, columns)], &j->quantizer.block);
    file_array_free(&a);
    return status;
}

static ulp_status read_scales(quantize_codes *c, const quantize_job *j, const npz_archive *z, ulp_error *error) {
    file_array a = {0};
    const ulp_format *const f = &j->quantizer.block.scale;
    char why[96];
    if (npz_find(z, "scales") == NULL && npz_find(z, "swizzled") != NULL) return read_swizzled(c, j, z, error);
    ulp_status status = need(&a, z, "scales", f->bits <= 8 ? NPY_BYTES : NPY_NUMBERS, NULL, error);
    if (status == ULP_OK) status = check_shape(c, &a, error);
    for (size_t i = 0; i < c->scales.count && status == ULP_OK; i++) {
        if (f->bits <= 8)
            c->array.scales[i] = ulp_block_scale_value(((const uint8_t *)a.elements)[i], &j->quantizer.block);
        else c->array.scales[i] = ((const double *)a.elements)[i];
        if (quantize_is_scale(c->array.scales[i], f)) continue;
        snprintf(why, sizeof why, "is no scale: NaN, or a finite value of %s from 0 on", f->name);
        status = refuse_element(&a, i, error, why);
    }
    file_array_free(&a);
    return status;
}

static ulp_status read_zero_points(quantize_codes *c, const quantize_job *j, const npz_archive *z, ulp_error *error) {
    file_array a = {0};
    char why[64];
    if (!j->quantizer.has_zero_point && npz_find(z, "zero_points") != NULL)
        return ulp_refuse(error, "%s holds zero_points; add --zero-point", z->shown);
    if (!j->quantizer.has_zero_point) return ULP_OK;
    ulp_status status = need(&a, z, "zero_points", NPY_NUMBERS, NULL, error);
    if (status == ULP_OK) status = check_shape(c, &a, error);
    for (size_t i = 0; i < c->scales.count && status == ULP_OK; i++) {
        const double value = ((const double *)a.elements)[i];
        c->array.zero_points[i] = (int32_t)value;
        if (value >= j->quantizer.low && value <= j->quantizer.high) continue;
        snprintf(why, sizeof why, "is no zero point: %d to %d", (int)j->quantizer.low, (int)j->quantizer.high);
        status = c->array.scales[i] == c->array.scales[i] || value != 0.0 ? refuse_element(&a, i, error, why) : ULP_OK;
    }
    file_array_free(&a);
    return status;
}

static ulp_status read_tensor_scale(quantize_job *j, const npz_archive *z, ulp_error *error) {
    file_array a;
    int found;
    ulp_status status = file_array_read_member(&a, &found, z, "tensor_scale", NPY_NUMBERS, NULL, error);
    if (status == ULP_OK && found) {
        const double value = a.header.count == 1 ? *(const double *)a.elements : 0;
        if (!(value > 0 && value <= (double)0x1.fffffep127f) || (double)(float)value != value)
            status = ulp_refuse(error, "%s: must be one number, positive and finite in binary32", a.shown);
        else if (j->is_tensor_scale_given && (float)value != j->quantizer.tensor_scale)
            status =
                ulp_refuse(error, "--tensor-scale %.9g: %s is %.9g", (double)j->quantizer.tensor_scale, a.shown, value);
        else j->quantizer.tensor_scale = (float)value;
    }
    file_array_free(&a);
    return status;
}

ulp_status quantize_arrays_decode(quantize_job *j, ulp_error *error) {
    npz_archive z;
    quantize_codes c = {0};
    ulp_status status = npz_open(&z, j->program, j->path, error);
    if (status == ULP_OK && z.wanted != NULL)
        status = ulp_refuse(error, "%s:%s: --decode takes the whole file, %s", z.path, z.wanted, z.path);
    if (status == ULP_OK) status = read_tensor_scale(j, &z, error);
    if (status == ULP_OK) status = read_elements(&c, j, &z, error);
    if (status == ULP_OK) status = read_scales(&c, j, &z, error);
    if (status == ULP_OK) status = read_zero_points(&c, j, &z, error);
    if (status == ULP_OK) status = write_values(j, &c, z.shown, error);
    quantize_release(&c);
    npz_close(&z);
    return status;
}
