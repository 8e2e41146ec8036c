/* arrays.c - ulp block: arrays of .npy and .npz files; see arrays.h. */
#include "arrays.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "tool/files/array.h"
#include "tool/files/npz_write.h"
#include "tool/files/numbers.h"
#include "tool/files/output.h"

/* The codes of an array, or its values. */
typedef struct coded {
    npy_array shape;  /* of the elements */
    size_t n, rows;   /* length of the last dimension; their number */
    size_t m, high;   /* rows of a matrix, and rows that share scales: all rows and 1 without tiles */
    size_t bands;     /* rows of scales of a matrix */
    size_t scales;    /* of a row of scales */
    uint8_t *element; /* (rows, n) */
    uint8_t *scale;   /* (rows / m, bands, scales) */
    float *x;         /* (rows, n) */
} coded;

static void release(coded *c) {
    free(c->element);
    free(c->scale);
    free(c->x);
}

static ulp_status no_memory(const char *shown, ulp_error *error) {
    return ulp_fail(error, ULP_NO_MEMORY, "%s: out of memory for its codes", shown);
}

/* The number of scales. */
static size_t count_scales(const coded *c) { return c->m > 0 ? c->rows / c->m * c->bands * c->scales : 0; }

/* The scales of a row. */
static uint8_t *scales_of(const coded *c, size_t row) {
    return c->scale + (row / c->m * c->bands + row % c->m / c->high) * c->scales;
}

/* Set rows and scales of an array of this shape. */
static ulp_status set_shape(coded *c, const block_arrays *b, const file_array *a, ulp_error *error) {
    c->shape = a->header;
    if (a->header.dims == 0)
        return ulp_refuse(error, "%s is a single element; blocks take an array of 1 dimension at least", a->shown);
    c->n = a->header.shape[a->header.dims - 1];
    c->rows = c->n > 0 ? a->header.count / c->n : 0;
    c->scales = ulp_block_scales(c->n, b->block);
    c->m = c->bands = c->rows;
    c->high = 1;
    if (!b->tiles) return ULP_OK;
    if (a->header.dims < 2)
        return ulp_refuse(error, "--tiles: %s has 1 dimension; tiles are parts of the last two dimensions", a->shown);
    c->m = a->header.shape[a->header.dims - 2];
    c->high = b->block->size;
    c->bands = ulp_block_scales(c->m, b->block);
    return ULP_OK;
}

/* ---- output ---- */

static void write_bytes(FILE *file, const npy_array *header, const uint8_t *bytes) {
    npy_array h = *header;
    h.kind = 'u';
    h.size = 1;
    npy_write_header(file, &h);
    fwrite(bytes, 1, h.count, file);
}

/* Write values, which are then in little-endian order. */
static void write_floats(FILE *file, const npy_array *header, float *x) {
    npy_array h = *header;
    h.kind = 'f';
    h.size = sizeof *x;
    npy_write_header(file, &h);
    file_little_endian(x, h.count, h.size);
    fwrite(x, h.size, h.count, file);
}

/* Write the archive of the codes. Returns 0, or errno of a failure. */
static int write_codes(FILE *file, const block_arrays *b, const coded *c) {
    npz_writer w = {.file = file};
    npy_array scales = c->shape;
    float tensor_scale = b->tensor_scale;
    scales.shape[scales.dims - 1] = c->scales;
    if (b->tiles) scales.shape[scales.dims - 2] = c->bands;
    scales.count = count_scales(c);
    npz_begin(&w, "elements");
    write_bytes(file, &c->shape, c->element);
    npz_end(&w);
    npz_begin(&w, "scales");
    write_bytes(file, &scales, c->scale);
    npz_end(&w);
    if (b->block->scale.prec > 1 || tensor_scale != 1.0f) {
        npz_begin(&w, "tensor_scale");
        write_floats(file, &(npy_array){.count = 1}, &tensor_scale);
        npz_end(&w);
    }
    return npz_finish(&w);
}

/* Write codes or values to the file of --out. */
static ulp_status write_output(const block_arrays *b, coded *c, ulp_error *error) {
    file_output o = {.program = b->program};
    int failed = 0;
    ulp_status status = file_output_open(&o, b->out, b->to_codes ? FILE_OUTPUT_NPZ : NULL, error);
    if (status == ULP_OK) status = file_output_refuse_terminal(&o, error);
    if (status == ULP_OK && b->to_codes) failed = write_codes(o.file, b, c);
    else if (status == ULP_OK) write_floats(o.file, &c->shape, c->x);
    return file_output_close(&o, status, failed, error);
}

/* Fill c->x with the values of the codes. */
static ulp_status values_of(const block_arrays *b, coded *c) {
    const ulp_backend *backend;
    const ulp_block_array row = {b->block, c->n, b->tensor_scale};
    ULP_TRY(ulp_backend_get(&backend, "cpu"));
    if (!b->tiles) return ulp_backend_block_decode(backend, c->x, c->element, c->scale, c->rows, row);
    for (size_t i = 0; i < c->rows; i++)
        ULP_TRY(ulp_block_decode(c->x + i * c->n, c->element + i * c->n, scales_of(c, i), row));
    return ULP_OK;
}

/* ---- numbers to codes ---- */

static void find_tensor_scale(block_arrays *b, const file_array *a) {
    char text[40];
    b->tensor_scale = ulp_block_tensor_scale(ulp_amax64(a->elements, a->header.count), b->block);
    tool_exact_text(text, (double)b->tensor_scale, 24);
    ulp_complain(b->program, "tensor scale %s", text);
}

/* Encode a row. Vectors take numbers that binary32 holds; `room` has space for the row. */
static ulp_status encode_row(uint8_t *element, uint8_t *scale, const double *x, float *room,
                             const ulp_block_array *array, const block_arrays *b, ulp_stream stream) {
    const ulp_backend *backend;
    int wide = 0;
    for (size_t i = 0; i < array->n; i++) {
        const double size = x[i] < 0 ? -x[i] : x[i];
        room[i] = size > FLT_MAX && size <= DBL_MAX ? 0.0f : (float)x[i];
        wide |= (double)room[i] != x[i] && x[i] == x[i];
    }
    if (wide) return ulp_block_encode64(element, scale, x, *array, b->rule, stream);
    ULP_TRY(ulp_backend_get(&backend, "cpu"));
    return ulp_backend_block_encode(backend, element, scale, room, 1, *array, b->rule, stream);
}

/* Encode the tiles of a band, whose first row is number `first`. */
static void encode_band(const block_arrays *b, const coded *c, const double *x, size_t first) {
    const size_t left = c->m - first % c->m, size = b->block->size;
    for (size_t k = 0; k < c->scales; k++) {
        const ulp_block_part part = {first * c->n + k * size,
                                     {1, left < size ? left : size, c->n - k * size < size ? c->n - k * size : size},
                                     {0, c->n}};
        ulp_block_encode_part64(c->element, scales_of(c, first) + k, x, &part, b->block, b->tensor_scale, b->rule,
                                b->stream);
    }
}

/* Encode the rows; if values are wanted, c->x gets those of the codes. */
static ulp_status encode_rows(const block_arrays *b, coded *c, const file_array *a, ulp_error *error) {
    const double *const x = a->elements;
    c->element = malloc(c->shape.count + 1);
    c->scale = malloc(count_scales(c) + 1);
    if (!b->to_codes) c->x = malloc(c->shape.count * sizeof *c->x + 1);
    if (c->element == NULL || c->scale == NULL || (!b->to_codes && c->x == NULL)) return no_memory(a->shown, error);
    float *const room = malloc(c->n * sizeof *room + 1);
    if (room == NULL) return no_memory(a->shown, error);
    ulp_status status = ULP_OK;
    for (size_t row = 0; row < c->rows && b->tiles; row++)
        if (row % c->m % c->high == 0) encode_band(b, c, x, row);
    for (size_t row = 0; row < c->rows && status == ULP_OK && !b->tiles; row++) {
        ulp_stream stream = b->stream;
        stream.first += row * c->n;
        status = encode_row(c->element + row * c->n, c->scale + row * c->scales, x + row * c->n, room,
                            &(ulp_block_array){b->block, c->n, b->tensor_scale}, b, stream);
    }
    free(room);
    if (status == ULP_OK && !b->to_codes) status = values_of(b, c);
    return status == ULP_OK ? ULP_OK : ulp_fail(error, status, "%s", ulp_status_text(status));
}

ulp_status block_arrays_encode(block_arrays *b, ulp_error *error) {
    file_array a;
    coded c = {0};
    ulp_status status = b->is_archive ? file_array_read_npz(&a, b->program, b->path, NPY_NUMBERS, b->codes, error)
                                      : file_array_read_npy(&a, b->program, b->path, NPY_NUMBERS, b->codes, error);
    if (status == ULP_OK) status = set_shape(&c, b, &a, error);
    if (status == ULP_OK) status = tool_hadamard_doubles(&b->hadamard, a.elements, c.rows, c.n, a.shown, error);
    if (status == ULP_OK && b->finds_tensor_scale) find_tensor_scale(b, &a);
    if (status == ULP_OK) status = encode_rows(b, &c, &a, error);
    if (status == ULP_OK) status = write_output(b, &c, error);
    release(&c);
    file_array_free(&a);
    return status;
}

/* ---- codes to values ---- */

/* Read codes of the format. */
static ulp_status read_codes(file_array *a, const npz_archive *z, const char *name, const ulp_format *f,
                             ulp_error *error) {
    int found;
    ulp_status status = file_array_read_member(a, &found, z, name, NPY_BYTES, NULL, error);
    if (status == ULP_OK && !found)
        return ulp_refuse(error, "%s: the archive has no array '%s'; codes are the arrays elements and scales",
                          z->shown, name);
    const uint8_t *const code = a->elements;
    for (uint64_t i = 0; status == ULP_OK && i < a->header.count; i++)
        if (code[i] >> f->bits != 0) {
            ulp_text index = {0};
            file_array_add_index(&index, &a->header, i);
            status = ulp_refuse(error, "%s: element %s, %02x, is no code of %s: %d bits", a->shown, ulp_text_of(&index),
                                code[i], f->name, f->bits);
            ulp_text_free(&index);
        }
    return status;
}

/* Set the tensor scale from the archive, if it holds one. */
static ulp_status read_tensor_scale(block_arrays *b, const npz_archive *z, ulp_error *error) {
    file_array a;
    int found;
    ulp_status status = file_array_read_member(&a, &found, z, "tensor_scale", NPY_NUMBERS, NULL, error);
    if (status == ULP_OK && found) {
        const double value = a.header.count == 1 ? *(const double *)a.elements : 0;
        if (a.header.count != 1 || !(value > 0 && value <= (double)FLT_MAX) || (double)(float)value != value)
            status = ulp_refuse(error, "%s: must be one number, positive and finite in binary32", a.shown);
        else if (b->is_tensor_scale_told)
            status = ulp_refuse(error, "--tensor-scale: %s holds the tensor scale", z->shown);
        else b->tensor_scale = (float)value;
    }
    file_array_free(&a);
    return status;
}

/* The scales have the shape of the elements, but for the last dimension. */
static ulp_status check_scales(const block_arrays *b, const coded *c, const file_array *scales, ulp_error *error) {
    const npy_array *const h = &scales->header;
    const size_t last = c->shape.dims - 1;
    int agrees = h->dims == c->shape.dims && h->shape[last] == c->scales;
    for (size_t d = 0; d < last && agrees; d++)
        agrees = h->shape[d] == (b->tiles && d + 1 == last ? c->bands : c->shape.shape[d]);
    if (agrees) return ULP_OK;
    if (b->tiles)
        return ulp_refuse(error, "%s: the shape is not that of the elements with %zu x %zu scales of tiles of %u x %u",
                          scales->shown, c->bands, c->scales, (unsigned)b->block->size, (unsigned)b->block->size);
    return ulp_refuse(error,
                      "%s: the shape is not that of the elements with %zu scales in place of the last %zu "
                      "elements, %u elements a scale",
                      scales->shown, c->scales, c->n, (unsigned)b->block->size);
}

/* Take the codes of the arrays, and make their values. */
static ulp_status decode_rows(block_arrays *b, coded *c, file_array *elements, file_array *scales, ulp_error *error) {
    c->element = elements->elements;
    c->scale = scales->elements;
    elements->elements = scales->elements = NULL;
    c->x = c->shape.count < SIZE_MAX / sizeof *c->x ? malloc(c->shape.count * sizeof *c->x + 1) : NULL;
    if (c->x == NULL) return no_memory(elements->shown, error);
    const ulp_status status = values_of(b, c);
    if (status != ULP_OK) return ulp_fail(error, status, "%s", ulp_status_text(status));
    return tool_hadamard_floats(&b->hadamard, c->x, c->rows, c->n, elements->shown, error);
}

ulp_status block_arrays_decode(block_arrays *b, ulp_error *error) {
    npz_archive z;
    file_array elements = {0}, scales = {0};
    coded c = {0};
    ulp_status status = npz_open(&z, b->program, b->path, error);
    if (status == ULP_OK && z.wanted != NULL)
        status = ulp_refuse(error, "%s:%s: --decode takes the whole file, %s", z.path, z.wanted, z.path);
    if (status == ULP_OK) status = read_codes(&elements, &z, "elements", &b->block->element, error);
    if (status == ULP_OK) status = read_codes(&scales, &z, "scales", &b->block->scale, error);
    if (status == ULP_OK) status = read_tensor_scale(b, &z, error);
    if (status == ULP_OK) status = set_shape(&c, b, &elements, error);
    if (status == ULP_OK) status = check_scales(b, &c, &scales, error);
    if (status == ULP_OK) status = decode_rows(b, &c, &elements, &scales, error);
    if (status == ULP_OK) status = write_output(b, &c, error);
    release(&c);
    file_array_free(&elements);
    file_array_free(&scales);
    npz_close(&z);
    return status;
}
