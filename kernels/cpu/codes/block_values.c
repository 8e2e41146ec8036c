/* block_values.c - values of arrays in block-scaled formats: elements times the factors of their blocks.
 *
 * The bits are those of ulp_block_decode. The product of an element and a factor is rounded once: in binary32 where
 * binary32 holds every factor, else in binary64, where the product is exact.
 */
#include "block_plan.h"
#include "kernels/cpu/floats.h"

#include <string.h>

typedef double many_doubles __attribute__((vector_size(2 * ULP_VECTOR_BYTES)));

/* A vector of elements times a factor, rounded once; every NaN is the quiet one. */
ULP_INLINE void multiply_vector(float *y, float narrow, double factor, int wide, int plain) {
    vfloat v;
    memcpy(&v, y, sizeof v);
    if (wide) v = __builtin_convertvector(__builtin_convertvector(v, many_doubles) * factor, vfloat);
    else v *= narrow;
    if (!plain) {
        const vint nan = (vint)(v != v);
        v = (vfloat)(((vint)v & ~nan) | (nan & 0x7fc00000));
    }
    memcpy(y, &v, sizeof v);
}

ULP_INLINE void multiply_block(float *y, size_t n, double factor, int wide, int plain) {
    const float narrow = (float)factor;
    float last[FLOATS] = {0};
    size_t i = 0;
    for (; i + FLOATS <= n; i += FLOATS) multiply_vector(y + i, narrow, factor, wide, plain);
    if (i == n) return;
    memcpy(last, y + i, (n - i) * sizeof *y);
    multiply_vector(last, narrow, factor, wide, plain);
    memcpy(y + i, last, (n - i) * sizeof *y);
}

#define MULTIPLY(of)                                                                                                   \
    for (size_t j = 0; j < whole; j++) multiply_block(y + j * (of), of, r->factor[scales[j]], wide, plain)

ULP_INLINE void multiply_blocks(float *y, const uint8_t *scales, size_t n, const block_reading *r, int wide,
                                int plain) {
    const size_t size = r->size, whole = n / size;
    BY_SIZE(MULTIPLY, size)
    if (n > whole * size) multiply_block(y + whole * size, n - whole * size, r->factor[scales[whole]], wide, plain);
}

void ULP_CPU(ulp_blocks_values)(float *y, const uint8_t *elements, const uint8_t *scales, size_t n,
                                const block_reading *r) {
    ULP_CPU(ulp_values_of_codes)(y, elements, n, 8, &r->element);
    if (r->wide) multiply_blocks(y, scales, n, r, 1, 0);
    else if (r->plain) multiply_blocks(y, scales, n, r, 0, 1);
    else multiply_blocks(y, scales, n, r, 0, 0);
}

ulp_status ULP_CPU(ulp_block_reading_begin)(block_reading *r, const ulp_block *b, float tensor_scale) {
    const ulp_format *const e = &b->element;
    r->size = b->size;
    r->wide = 0;
    ULP_TRY(ULP_CPU(ulp_reading_begin)(&r->element, r->room, e));
    for (int code = 0; code < 256; code++) {
        r->factor[code] = ulp_block_scale_value((uint8_t)code, b) * (double)tensor_scale;
        const double back = (double)(float)r->factor[code];
        r->wide |= back != r->factor[code] && r->factor[code] == r->factor[code];
    }
    r->plain = e->nan_codes == ULP_NAN_NONE && !e->has_inf && !b->scale.has_inf;
    return ULP_OK;
}

void ULP_CPU(ulp_block_reading_end)(block_reading *r) { ULP_CPU(ulp_reading_end)(&r->element, r->room); }

/* ---- arrays ---- */

typedef struct job {
    float *y;
    const uint8_t *elements, *scales;
    size_t n, per_row;
    block_reading reading;
} job;

/* Blocks begin .. end - 1 of all rows. */
static void decode_part(void *context, size_t begin, size_t end) {
    const job *const j = context;
    const size_t size = j->reading.size, n = j->n, most = size < ULP_PIECE ? ULP_PIECE / size : 1;
    for (size_t block = begin; block < end;) {
        const size_t row = block / j->per_row, first = block % j->per_row, left = j->per_row - first;
        size_t count = end - block < left ? end - block : left;
        if (count > most) count = most;
        const size_t from = first * size, to = (first + count) * size < n ? (first + count) * size : n;
        ULP_CPU(ulp_blocks_values)
        (j->y + row * n + from, j->elements + row * n + from, j->scales + block, to - from, &j->reading);
        block += count;
    }
}

ulp_status ULP_CPU(ulp_cpu_block_decode)(float *y, const uint8_t *elements, const uint8_t *scales, size_t rows,
                                         ulp_block_array array) {
    job j = {.y = y, .elements = elements, .scales = scales};
    if (array.n == 0) return ULP_OK;
    rows = ulp_join_rows(&array, rows);
    j.n = array.n;
    j.per_row = ulp_block_scales(array.n, array.block);
    ULP_TRY(ULP_CPU(ulp_block_reading_begin)(&j.reading, array.block, array.tensor_scale));
    const size_t grain = ULP_GRAIN / array.block->size;
    ulp_parallel_for(rows * j.per_row, grain > 0 ? grain : 1, decode_part, &j);
    ULP_CPU(ulp_block_reading_end)(&j.reading);
    return ULP_OK;
}
