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

/* The place in C order of the element after *index (dims) in Fortran order; *index moves on. */
static uint64_t next_place(uint64_t *index, const npy_array *h) {
    uint64_t place = 0;
    for (size_t d = 0; d < h->dims && ++index[d] == h->shape[d]; d++) index[d] = 0;
    for (size_t d = 0; d < h->dims; d++) place = place * h->shape[d] + index[d];
    return place;
}

static ulp_status refuse_element(const file_array *a, uint64_t i, const unsigned char *bytes, const ulp_format *codes,
                                 ulp_error *error) {
    ulp_text index = {0};
    file_array_add_index(&index, &a->header, i);
    const unsigned long long bits = file_integer(bytes, a->header.size);
    if (codes != NULL)
        ulp_refuse(error, "%s: element %s is %llx: a code of %s has %d bits", a->shown, ulp_text_of(&index), bits,
                   codes->name, codes->bits);
    else
        ulp_refuse(error, "%s: element %s is %lld, which binary64 does not hold", a->shown, ulp_text_of(&index),
                   (long long)bits);
    ulp_text_free(&index);
    return ULP_BAD_ARGUMENT;
}

/* The elements (count) as doubles, or as bytes, in C order. */
static ulp_status set_elements(file_array *a, unsigned char *bytes, npy_wanted wanted, const ulp_format *codes,
                               ulp_error *error) {
    npy_array *const h = &a->header;
    const size_t to_size = wanted == NPY_BYTES ? 1 : sizeof(double);
    file_reader reader;
    uint64_t index[NPY_DIMENSIONS] = {0};
    ulp_status status = ULP_OK;
    a->elements = h->count < SIZE_MAX / to_size ? malloc((size_t)h->count * to_size + 1) : NULL;
    if (!file_reader_open(&reader, h->kind, h->size, codes) || a->elements == NULL)
        status = ulp_fail(error, ULP_NO_MEMORY, "%s: out of memory for its elements", a->shown);
    file_little_endian(bytes, (size_t)h->count, h->size);
    if (h->is_big) file_swap(bytes, (size_t)h->count, h->size);
    for (uint64_t i = 0, to = 0; i < h->count && status == ULP_OK; i++) {
        const unsigned char *const at = bytes + i * h->size;
        if (wanted == NPY_BYTES) ((unsigned char *)a->elements)[to] = *at;
        else if (!file_reader_take(&reader, (double *)a->elements + to, at))
            status = refuse_element(a, to, at, codes, error);
        to = h->is_fortran ? next_place(index, h) : i + 1;
    }
    file_reader_close(&reader);
    h->is_fortran = h->is_big = 0;
    return status;
}

ulp_status file_array_read_source(file_array *a, file_source *s, npy_wanted wanted, const ulp_format *codes,
                                  ulp_error *error) {
    unsigned char *bytes = NULL;
    *a = (file_array){.shown = ulp_copy_text(s->shown)};
    ulp_status status = npy_read_header(&a->header, s, wanted, codes, error);
    if (status == ULP_OK) status = read_bytes(&bytes, s, a->header.size * a->header.count, error);
    if (status == ULP_OK) status = set_elements(a, bytes, wanted, codes, error);
    free(bytes);
    return status;
}

ulp_status file_array_read_npy(file_array *a, const char *program, const char *path, npy_wanted wanted,
                               const ulp_format *codes, ulp_error *error) {
    file_source s;
    *a = (file_array){0};
    ulp_status status = file_source_open(&s, program, path, error);
    if (status == ULP_OK) status = file_array_read_source(a, &s, wanted, codes, error);
    file_source_close(&s);
    return status;
}

ulp_status file_array_read_npz(file_array *a, const char *program, const char *path, npy_wanted wanted,
                               const ulp_format *codes, ulp_error *error) {
    file_source s = {0};
    npz_archive z;
    const npz_member *member;
    *a = (file_array){0};
    ulp_status status = npz_open(&z, program, path, error);
    if (status == ULP_OK) status = npz_choose(&member, &z, error);
    if (status == ULP_OK) status = npz_open_member(&s, &z, member, error);
    if (status == ULP_OK) status = file_array_read_source(a, &s, wanted, codes, error);
    file_source_close(&s);
    npz_close(&z);
    return status;
}

ulp_status file_array_read(file_array *a, const char *program, const char *path, npy_wanted wanted,
                           const ulp_format *codes, ulp_error *error) {
    return npz_is_named(path) ? file_array_read_npz(a, program, path, wanted, codes, error)
                              : file_array_read_npy(a, program, path, wanted, codes, error);
}

ulp_status file_array_read_member(file_array *a, int *found, const npz_archive *z, const char *name, npy_wanted wanted,
                                  const ulp_format *codes, ulp_error *error) {
    file_source s = {0};
    const npz_member *const member = npz_find(z, name);
    *a = (file_array){0};
    *found = member != NULL;
    if (member == NULL) return ULP_OK;
    ulp_status status = npz_open_member(&s, z, member, error);
    if (status == ULP_OK) status = file_array_read_source(a, &s, wanted, codes, error);
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

ulp_status file_array_same_shape(const file_array *a, const file_array *b, ulp_error *error) {
    const npy_array *const x = &a->header, *const y = &b->header;
    if (x->dims == y->dims && memcmp(x->shape, y->shape, x->dims * sizeof *x->shape) == 0) return ULP_OK;
    ulp_text of_a = {0}, of_b = {0};
    file_array_add_shape(&of_a, x);
    file_array_add_shape(&of_b, y);
    ulp_refuse(error, "%s has the shape %s and %s has %s", a->shown, ulp_text_of(&of_a), b->shown, ulp_text_of(&of_b));
    ulp_text_free(&of_a);
    ulp_text_free(&of_b);
    return ULP_BAD_ARGUMENT;
}

static ulp_status refuse_value(const file_array *x, uint64_t i, double value, const ulp_format *f, ulp_error *error) {
    char number[40];
    ulp_text index = {0};
    snprintf(number, sizeof number, "%.17g", value);
    file_array_add_index(&index, &x->header, i);
    const ulp_status status = ulp_refuse(error,
                                         "%s: element %s, %s, has no code in %s; --in rounds the elements of A and B, "
                                         "and `ulp round --format %s --from npy --to npy` those of a file",
                                         x->shown, ulp_text_of(&index), number, f->name, f->name);
    ulp_text_free(&index);
    return status;
}

ulp_status file_array_take(double **to, file_array *x, const ulp_format *f, int rounds, ulp_error *error) {
    double *const at = x->elements;
    for (uint64_t i = 0; i < x->header.count; i++) {
        uint64_t code;
        const double y = rounds ? ulp_round(at[i], f, (ulp_rule){ULP_RNE, ULP_OVERFLOW_DEFAULT, 0}, 0) : at[i];
        if (ulp_encode(&code, y, f) != ULP_OK) return refuse_value(x, i, y, f, error);
        at[i] = ulp_decode(code, f);
    }
    *to = at;
    x->elements = NULL;
    return ULP_OK;
}
