/* array.c - whole arrays of .npy and .npz files in memory; see array.h. */
#include "array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tool/tool.h"
#include "numbers.h"

/* ---- the bytes of the elements ---- */

/* Complain that elements are missing. */
static ulp_status refuse_end(const file_source *s, uint64_t got, uint64_t wanted, int failed, ulp_error *error) {
    if (failed) return ulp_fail(error, ULP_BAD_FILE, "%s: cannot read: %s", s->shown, strerror(failed));
    return ulp_refuse(error, "%s ends after %llu bytes of elements; its header announces %llu", s->shown,
                      (unsigned long long)got, (unsigned long long)wanted);
}

/* A pipe has to end after its array, as a file on a disk. */
static ulp_status refuse_more(file_source *s, uint64_t wanted, ulp_error *error) {
    char byte;
    int failed;
    if (file_source_read(s, &byte, 1, &failed) == 0) return ULP_OK;
    return ulp_refuse(error, "%s goes on after the %llu bytes of elements that its header announces", s->shown,
                      (unsigned long long)wanted);
}

/* Read all elements as they are in the file into *bytes, which grows as they come. */
static ulp_status read_bytes(unsigned char **bytes, file_source *s, uint64_t wanted, ulp_error *error) {
    enum { FIRST_ROOM = 1 << 20 };
    uint64_t done = 0, room = 0;
    int failed = 0;
    do {
        room = room == 0 ? FIRST_ROOM : 2 * room;
        if (room > wanted) room = wanted;
        unsigned char *const more = room < SIZE_MAX ? realloc(*bytes, (size_t)room + 1) : NULL;
        if (more == NULL) return ulp_fail(error, ULP_NO_MEMORY, "%s: out of memory for its elements", s->shown);
        *bytes = more;
        done += file_source_read(s, more + done, (size_t)(room - done), &failed);
    } while (done == room && room < wanted);
    return done == wanted ? refuse_more(s, wanted, error) : refuse_end(s, done, wanted, failed, error);
}

/* ---- values ---- */

/* The value of element i of the bytes, whose order is this machine's. */
static double value_of(const unsigned char *bytes, uint64_t i, size_t size, const float *halves) {
    double wide;
    float narrow;
    uint16_t code;
    if (size == 8) return memcpy(&wide, bytes + 8 * i, 8), wide;
    if (size == 4) return memcpy(&narrow, bytes + 4 * i, 4), (double)narrow;
    memcpy(&code, bytes + 2 * i, 2);
    return (double)halves[code];
}

/* The place in C order of the element after *index (dims) in Fortran order; *index moves on. */
static uint64_t next_place(uint64_t *index, const npy_array *h) {
    uint64_t place = 0;
    for (size_t d = 0; d < h->dims && ++index[d] == h->shape[d]; d++) index[d] = 0;
    for (size_t d = 0; d < h->dims; d++) place = place * h->shape[d] + index[d];
    return place;
}

/* The same of integers. */
static double integer_of(const unsigned char *bytes, uint64_t i, const npy_array *h) {
    uint8_t one;
    uint16_t two;
    uint32_t four;
    if (h->size == 1) return memcpy(&one, bytes + i, 1), h->kind == 'i' ? (double)(int8_t)one : (double)one;
    if (h->size == 2) return memcpy(&two, bytes + 2 * i, 2), h->kind == 'i' ? (double)(int16_t)two : (double)two;
    return memcpy(&four, bytes + 4 * i, 4), h->kind == 'i' ? (double)(int32_t)four : (double)four;
}

/* The elements (count) of `size` bytes as doubles, or as bytes if they are codes, in C order. */
static ulp_status set_elements(file_array *a, unsigned char *bytes, char kind, ulp_error *error) {
    npy_array *const h = &a->header;
    const size_t to_size = kind != 'u' ? sizeof(double) : 1;
    float *const halves = kind == 'f' && h->size == 2 ? file_halves() : NULL;
    uint64_t index[NPY_DIMENSIONS] = {0};
    a->elements = h->count < SIZE_MAX / to_size ? malloc((size_t)h->count * to_size + 1) : NULL;
    const int has_memory = a->elements != NULL && (halves != NULL || h->size != 2 || kind != 'f');
    file_little_endian(bytes, (size_t)h->count, h->size);
    if (h->is_big) file_swap(bytes, (size_t)h->count, h->size);
    for (uint64_t i = 0, to = 0; i < h->count && has_memory; i++) {
        if (kind == 'u') ((unsigned char *)a->elements)[to] = bytes[i];
        else if (kind == 'i') ((double *)a->elements)[to] = integer_of(bytes, i, h);
        else ((double *)a->elements)[to] = value_of(bytes, i, h->size, halves);
        to = h->is_fortran ? next_place(index, h) : i + 1;
    }
    free(halves);
    h->is_fortran = h->is_big = 0;
    return has_memory ? ULP_OK : ulp_fail(error, ULP_NO_MEMORY, "%s: out of memory for its elements", a->shown);
}

ulp_status file_array_read_source(file_array *a, file_source *s, char kind, ulp_error *error) {
    unsigned char *bytes = NULL;
    *a = (file_array){.shown = ulp_copy_text(s->shown)};
    ulp_status status = npy_read_header(&a->header, s, kind, error);
    if (status == ULP_OK) status = read_bytes(&bytes, s, a->header.size * a->header.count, error);
    if (status == ULP_OK) status = set_elements(a, bytes, kind, error);
    free(bytes);
    return status;
}

ulp_status file_array_read_npy(file_array *a, const char *program, const char *path, char kind, ulp_error *error) {
    file_source s;
    *a = (file_array){0};
    ulp_status status = file_source_open(&s, program, path, error);
    if (status == ULP_OK) status = file_array_read_source(a, &s, kind, error);
    file_source_close(&s);
    return status;
}

ulp_status file_array_read_npz(file_array *a, const char *program, const char *path, char kind, ulp_error *error) {
    file_source s = {0};
    npz_archive z;
    const npz_member *member;
    *a = (file_array){0};
    ulp_status status = npz_open(&z, program, path, error);
    if (status == ULP_OK) status = npz_choose(&member, &z, error);
    if (status == ULP_OK) status = npz_open_member(&s, &z, member, error);
    if (status == ULP_OK) status = file_array_read_source(a, &s, kind, error);
    file_source_close(&s);
    npz_close(&z);
    return status;
}

ulp_status file_array_read(file_array *a, const char *program, const char *path, char kind, ulp_error *error) {
    return npz_is_named(path) ? file_array_read_npz(a, program, path, kind, error)
                              : file_array_read_npy(a, program, path, kind, error);
}

ulp_status file_array_read_member(file_array *a, int *found, const npz_archive *z, const char *name, char kind,
                                  ulp_error *error) {
    file_source s = {0};
    const npz_member *const member = npz_find(z, name);
    *a = (file_array){0};
    *found = member != NULL;
    if (member == NULL) return ULP_OK;
    ulp_status status = npz_open_member(&s, z, member, error);
    if (status == ULP_OK) status = file_array_read_source(a, &s, kind, error);
    file_source_close(&s);
    return status;
}

void file_array_free(file_array *a) {
    free(a->elements);
    free(a->shown);
    *a = (file_array){0};
}

void file_array_add_index(ulp_text *to, const npy_array *h, uint64_t i) {
    uint64_t after = 1; /* elements for each step of an index */
    for (size_t d = 1; d < h->dims; d++) after *= h->shape[d];
    ulp_text_print(to, "(");
    for (size_t d = 0; d < h->dims; d++) {
        ulp_text_print(to, "%s%llu", d > 0 ? ", " : "", (unsigned long long)(i / after));
        i %= after;
        if (d + 1 < h->dims) after /= h->shape[d + 1];
    }
    ulp_text_print(to, h->dims == 1 ? ",)" : ")");
}

void file_array_add_shape(ulp_text *to, const npy_array *h) {
    ulp_text_print(to, "(");
    for (size_t d = 0; d < h->dims; d++)
        ulp_text_print(to, "%s%llu", d > 0 ? ", " : "", (unsigned long long)h->shape[d]);
    ulp_text_print(to, h->dims == 1 ? ",)" : ")");
}
