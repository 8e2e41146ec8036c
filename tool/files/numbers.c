/* numbers.c - numbers as they stand in files; see numbers.h. */
#include "numbers.h"

#include <stdlib.h>
#include <string.h>

#include "formats/round.h"

void file_swap(void *numbers, size_t n, size_t size) {
    unsigned char *at = numbers;
    for (size_t i = 0; i < n; i++, at += size)
        for (size_t low = 0, high = size - 1; low < high; low++, high--) {
            const unsigned char byte = at[low];
            at[low] = at[high];
            at[high] = byte;
        }
}

void file_little_endian(void *numbers, size_t n, size_t size) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    if (first == 0) file_swap(numbers, n, size);
}

float *file_halves(void) {
    float *halves = malloc(65536 * sizeof *halves);
    for (uint64_t code = 0; halves != NULL && code < 65536; code++)
        halves[code] = (float)ulp_decode(code, &ulp_binary16);
    return halves;
}

uint64_t file_integer(const void *bytes, size_t size) {
    int8_t one;
    int16_t two;
    int32_t four;
    uint64_t eight;
    switch (size) {
    case 1: return memcpy(&one, bytes, 1), (uint64_t)(int64_t)one;
    case 2: return memcpy(&two, bytes, 2), (uint64_t)(int64_t)two;
    case 4: return memcpy(&four, bytes, 4), (uint64_t)(int64_t)four;
    default: return memcpy(&eight, bytes, 8), eight;
    }
}

/* The values (2^bits) of the codes of a format. */
static double *values_of(const ulp_format *format) {
    const uint64_t count = 1ull << format->bits;
    double *const values = malloc(count * sizeof *values);
    for (uint64_t code = 0; values != NULL && code < count; code++) values[code] = ulp_decode(code, format);
    return values;
}

int file_reader_open(file_reader *r, char kind, size_t size, const ulp_format *codes) {
    *r = (file_reader){.kind = kind, .size = size};
    if (kind == 'c') r->format = *codes;
    if (kind == 'f' && size == 2) {
        r->kind = 'c';
        r->format = ulp_binary16;
    }
    if (r->kind != 'c' || r->format.bits > 16) return 1;
    r->values = values_of(&r->format);
    return r->values != NULL;
}

int file_reader_take(const file_reader *r, double *value, const void *bytes) {
    float narrow;
    if (r->kind == 'f' && r->size == 4) return memcpy(&narrow, bytes, 4), *value = (double)narrow, 1;
    if (r->kind == 'f') return memcpy(value, bytes, 8), 1;
    const uint64_t bits = file_integer(bytes, r->size);
    if (r->kind == 'i') {
        const int64_t integer = (int64_t)bits;
        *value = (double)integer;
        return integer >= -(1ll << 53) && integer <= 1ll << 53;
    }
    const uint64_t mask = r->size == 8 ? ~0ull : (1ull << (8 * r->size)) - 1, code = bits & mask;
    if (r->format.bits < 64 && code >> r->format.bits != 0) return 0;
    *value = r->values != NULL ? r->values[code] : ulp_decode(code, &r->format);
    return 1;
}

void file_reader_close(file_reader *r) {
    free(r->values);
    r->values = NULL;
}
