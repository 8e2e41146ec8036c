/* groups.c - ulp quantize: which elements of an array share a scale, and their quantisation; see job.h. */
#include "job.h"

#include <stdlib.h>

static size_t parts_of(size_t n, size_t size) { return n / size + (n % size != 0); }

size_t quantize_row_length(const npy_array *h) { return h->dims > 0 ? (size_t)h->shape[h->dims - 1] : 1; }

size_t quantize_row_count(const npy_array *h) {
    const size_t n = quantize_row_length(h);
    return n > 0 ? (size_t)h->count / n : 0;
}

/* The product of the lengths of dimensions first .. end - 1. */
static size_t product_of(const npy_array *h, size_t first, size_t end) {
    size_t n = 1;
    for (size_t d = first; d < end; d++) n *= (size_t)h->shape[d];
    return n;
}

static void keep_dimensions(npy_array *scales, const npy_array *elements, size_t dims) {
    scales->dims = dims;
    for (size_t d = 0; d < dims; d++) scales->shape[d] = elements->shape[d];
}

static void count_scales(npy_array *scales) {
    scales->count = 1;
    for (size_t d = 0; d < scales->dims; d++) scales->count *= scales->shape[d];
}

static ulp_status set_channels(quantize_codes *c, const quantize_job *j, const char *shown, ulp_error *error) {
    const npy_array *const h = &c->elements;
    const int64_t dims = (int64_t)h->dims, axis = j->axis < 0 ? j->axis + dims : j->axis;
    if (axis < 0 || axis >= dims)
        return ulp_refuse(error, "--axis %lld: %s has %zu dimensions: the axis is from %lld to %lld",
                          (long long)j->axis, shown, h->dims, (long long)-dims, (long long)dims - 1);
    const size_t outer = product_of(h, 0, (size_t)axis), inner = product_of(h, (size_t)axis + 1, h->dims);
    const size_t channels = (size_t)h->shape[axis];
    c->array.tiling = (ulp_tiling){{outer, channels, inner}, {outer > 0 ? outer : 1, 1, inner > 0 ? inner : 1}};
    c->scales = (npy_array){.dims = 1, .shape = {channels}};
    return ULP_OK;
}

/* Tiles of the last two dimensions, or blocks of the last one. */
static ulp_status set_tiles(quantize_codes *c, const quantize_job *j, const char *shown, ulp_error *error) {
    const npy_array *const h = &c->elements;
    const size_t wants = j->tile[0] > 0 ? 2 : 1;
    if (h->dims < wants)
        return ulp_refuse(error, "%s has %zu dimensions; %s of %zu at least", shown, h->dims,
                          wants == 2 ? "tiles are parts of arrays" : "rows and blocks are parts of arrays", wants);
    const size_t last = h->dims - 1, n = (size_t)h->shape[last], m = wants == 2 ? (size_t)h->shape[last - 1] : 1;
    const size_t rows = wants == 2 ? j->tile[0] : 1, columns = j->per == PER_ROW ? (n > 0 ? n : 1) : j->tile[1];
    c->array.tiling = (ulp_tiling){{product_of(h, 0, h->dims - wants), m, n}, {1, rows, columns}};
    keep_dimensions(&c->scales, h, h->dims - (j->per == PER_ROW));
    if (j->per != PER_ROW) c->scales.shape[last] = parts_of(n, columns);
    if (wants == 2) c->scales.shape[last - 1] = parts_of(m, rows);
    return ULP_OK;
}

static ulp_status set_groups(quantize_codes *c, const quantize_job *j, const char *shown, ulp_error *error) {
    if (j->per == PER_CHANNEL) return set_channels(c, j, shown, error);
    if (j->per != PER_TENSOR) return set_tiles(c, j, shown, error);
    const size_t n = (size_t)c->elements.count;
    c->array.tiling = (ulp_tiling){{1, 1, n}, {1, 1, n > 0 ? n : 1}};
    return ULP_OK;
}

ulp_status quantize_prepare(quantize_codes *c, const quantize_job *j, const npy_array *elements, const char *shown,
                            ulp_error *error) {
    *c = (quantize_codes){.array = {.quantizer = &j->quantizer}, .elements = *elements};
    ULP_TRY(set_groups(c, j, shown, error));
    count_scales(&c->scales);
    const size_t n = (size_t)elements->count, groups = (size_t)c->scales.count;
    c->array.codes = n < SIZE_MAX / 2 ? malloc(2 * n + 1) : NULL;
    c->array.scales = groups < SIZE_MAX / 8 ? malloc(8 * groups + 1) : NULL;
    c->array.zero_points = groups < SIZE_MAX / 8 ? calloc(groups + 1, 4) : NULL;
    if (c->array.codes != NULL && c->array.scales != NULL && c->array.zero_points != NULL) return ULP_OK;
    return ulp_fail(error, ULP_NO_MEMORY, "%s: out of memory for its codes", shown);
}

void quantize_release(quantize_codes *c) {
    free(c->array.codes);
    free(c->array.scales);
    free(c->array.zero_points);
}

static void find_tensor_scale(quantize_job *j, double amax) {
    char text[40];
    j->quantizer.tensor_scale = ulp_block_tensor_scale(amax, &j->quantizer.block);
    tool_exact_text(text, (double)j->quantizer.tensor_scale, 24);
    ulp_complain(j->program, "tensor scale %s", text);
}

ulp_status quantize_fill(quantize_codes *c, quantize_job *j, const double *x, const ulp_exact *exact,
                         ulp_error *error) {
    static const double zero = 0.0;
    const size_t n = (size_t)c->elements.count;
    if (j->finds_tensor_scale) find_tensor_scale(j, x != NULL ? ulp_amax64(x, n) : ulp_amax_exact(exact, n));
    ulp_quantized array = c->array;
    ulp_status status = ULP_OK;
    if (n == 0 && c->scales.count > 0) { /* a tensor without elements has the scale of zeros */
        array.tiling = (ulp_tiling){{1, 1, 1}, {1, 1, 1}};
        for (size_t i = 0; i < c->scales.count && status == ULP_OK; i++) {
            uint16_t code;
            array.codes = &code;
            array.scales = c->array.scales + i;
            array.zero_points = c->array.zero_points + i;
            status = ulp_quantize(&array, &zero, j->rule, j->stream);
        }
    } else if (n > 0) {
        status = x != NULL ? ulp_quantize(&array, x, j->rule, j->stream)
                           : ulp_quantize_exact(&array, exact, j->rule, j->stream);
    }
    return status == ULP_OK ? ULP_OK : ulp_fail(error, status, "%s", ulp_status_text(status));
}

int quantize_is_code(uint16_t *code, double value, const ulp_quantizer *q) {
    if (!(value >= -ulp_scale(1.0, q->bits - 1) && value < ulp_scale(1.0, q->bits))) return 0;
    if (value != (double)(int32_t)value) return 0;
    *code = (uint16_t)((int32_t)value & ((1 << q->bits) - 1));
    return 1;
}

int quantize_is_scale(double value, const ulp_format *f) {
    uint64_t code;
    if (value != value) return 1;
    return value >= 0.0 && value <= f->max && ulp_encode(&code, value, f) == ULP_OK;
}
