/* array.c - whole arrays of .npy and .npz files in memory; see array.h. */
#include "array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tool/tool.h"
#include "numbers.h"

/* ---- the bytes of the elements ---- */

/* Complain that elements are missing. */
static int refuse_end(const file_source *s, uint64_t got, uint64_t wanted, int failed) {
    if (failed) return ulp_run_error(s->program, "%s: cannot read: %s", s->shown, strerror(failed));
    return ulp_usage_error(s->program, "%s ends after %llu bytes of elements; its header announces %llu", s->shown,
                           (unsigned long long)got, (unsigned long long)wanted);
}

/* A pipe has to end after its array, as a file on a disk. */
static int refuse_more(file_source *s, uint64_t wanted) {
    char byte;
    int failed;
    if (file_source_read(s, &byte, 1, &failed) == 0) return ULP_GO_ON;
    return ulp_usage_error(s->program, "%s goes on behind the %llu bytes of elements that its header announces",
                           s->shown, (unsigned long long)wanted);
}

/* Read all elements as they are in the file into *bytes, which grows as they come. */
static int read_bytes(unsigned char **bytes, file_source *s, uint64_t wanted) {
    enum { FIRST_ROOM = 1 << 20 };
    uint64_t done = 0, room = 0;
    int failed = 0;
    do {
        room = room == 0 ? FIRST_ROOM : 2 * room;
        if (room > wanted) room = wanted;
        unsigned char *const more = room < SIZE_MAX ? realloc(*bytes, (size_t)room + 1) : NULL;
        if (more == NULL) return ulp_run_error(s->program, "%s: out of memory for its elements", s->shown);
        *bytes = more;
        done += file_source_read(s, more + done, (size_t)(room - done), &failed);
    } while (done == room && room < wanted);
    return done == wanted ? refuse_more(s, wanted) : refuse_end(s, done, wanted, failed);
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

/* The elements (count) of `size` bytes as doubles, or as bytes if they are codes, in C order. */
static int set_elements(file_array *a, unsigned char *bytes, const char *program) {
    npy_array *const h = &a->header;
    const size_t to_size = h->kind == 'f' ? sizeof(double) : 1;
    float *const halves = h->size == 2 ? file_halves() : NULL;
    uint64_t index[NPY_DIMENSIONS] = {0};
    a->elements = h->count < SIZE_MAX / to_size ? malloc((size_t)h->count * to_size + 1) : NULL;
    const int has_memory = a->elements != NULL && (halves != NULL || h->size != 2);
    file_little_endian(bytes, (size_t)h->count, h->size);
    if (h->is_big) file_swap(bytes, (size_t)h->count, h->size);
    for (uint64_t i = 0, to = 0; i < h->count && has_memory; i++) {
        if (h->kind == 'u') ((unsigned char *)a->elements)[to] = bytes[i];
        else ((double *)a->elements)[to] = value_of(bytes, i, h->size, halves);
        to = h->is_fortran ? next_place(index, h) : i + 1;
    }
    free(halves);
    h->is_fortran = h->is_big = 0;
    return has_memory ? ULP_GO_ON : ulp_run_error(program, "%s: out of memory for its elements", a->shown);
}

int file_array_read_source(file_array *a, file_source *s, char kind) {
    unsigned char *bytes = NULL;
    *a = (file_array){.shown = ulp_copy_text(s->shown)};
    int status = npy_read_header(&a->header, s, kind);
    if (status == ULP_GO_ON) status = read_bytes(&bytes, s, a->header.size * a->header.count);
    if (status == ULP_GO_ON) status = set_elements(a, bytes, s->program);
    free(bytes);
    return status;
}

int file_array_read_npy(file_array *a, const char *program, const char *path, char kind) {
    file_source s;
    *a = (file_array){0};
    int status = file_source_open(&s, program, path);
    if (status == ULP_GO_ON) status = file_array_read_source(a, &s, kind);
    file_source_close(&s);
    return status;
}

int file_array_read_npz(file_array *a, const char *program, const char *path, char kind) {
    file_source s = {0};
    npz_archive z;
    const npz_member *member;
    *a = (file_array){0};
    int status = npz_open(&z, program, path);
    if (status == ULP_GO_ON) status = npz_choose(&member, &z);
    if (status == ULP_GO_ON) status = npz_open_member(&s, &z, member);
    if (status == ULP_GO_ON) status = file_array_read_source(a, &s, kind);
    file_source_close(&s);
    npz_close(&z);
    return status;
}

int file_array_read(file_array *a, const char *program, const char *path, char kind) {
    return npz_is_named(path) ? file_array_read_npz(a, program, path, kind)
                              : file_array_read_npy(a, program, path, kind);
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
