/* binary.c - ulp round: numbers of files of binary32 or binary64 values, and of .npy and .npz files. */
#include "group.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/files/npy.h"
#include "tool/files/npz.h"
#include "tool/files/numbers.h"

typedef struct binaries {
    round_group *group;
    int from; /* round_from */
    const char *shown;
    file_source source;
    npy_array array;
    uint64_t bytes; /* that were read of the elements of the file */
    uint64_t most;  /* elements of the file; UINT64_MAX: to its end */
    float *halves;  /* (2^16) the values of binary16; NULL: not needed yet */
} binaries;

/* ---- the numbers of a group ---- */

static ulp_status make_halves(binaries *b, ulp_error *error) {
    if (b->halves == NULL) b->halves = file_halves();
    return b->halves != NULL ? ULP_OK : ulp_fail(error, ULP_NO_MEMORY, "out of memory for the values of binary16");
}

/* The memory that elements of the file are read into. */
static void *place_of(binaries *b) {
    round_group *g = b->group;
    return b->array.size == 8 ? (void *)g->x : b->array.size == 4 ? (void *)g->narrow_x : (void *)g->output.code16;
}

/* The n elements that were read become the numbers of the group. */
static void set_numbers(binaries *b, size_t n) {
    round_group *g = b->group;
    file_little_endian(place_of(b), n, b->array.size);
    if (b->array.is_big) file_swap(place_of(b), n, b->array.size);
    for (size_t i = 0; i < n && b->array.size == 2; i++) g->narrow_x[i] = b->halves[g->output.code16[i]];
    g->is_narrow = b->array.size < 8 && g->target.format.fits_binary32;
    for (size_t i = 0; i < n && b->array.size < 8 && !g->is_narrow; i++) g->x[i] = (double)g->narrow_x[i];
    g->n = n;
}

/* Round and write the n elements that were read. */
static ulp_status finish(binaries *b, size_t n, ulp_error *error) {
    round_group *g = b->group;
    if (n == 0) return ULP_OK;
    set_numbers(b, n);
    const size_t written = round_group_write(g);
    const uint64_t first = b->bytes / b->array.size;
    g->index += n;
    g->n = 0;
    if (written < n) {
        ulp_text why = {0};
        round_add_missing(&why, g->y[written], &g->target.format);
        ulp_refuse(error, "%s: element %llu, counted from 0: %s", b->shown, (unsigned long long)(first + written),
                   ulp_text_of(&why));
        ulp_text_free(&why);
        return ULP_BAD_ARGUMENT;
    }
    b->bytes += n * b->array.size;
    return ferror(g->out) ? tool_failed(error, TOOL_CHECK_FAILED) : ULP_OK;
}

/* ---- the elements of a file ---- */

/* Complain about the end of a file in which `rest` bytes follow the whole elements. */
static ulp_status check_end(const binaries *b, size_t rest, int failed, ulp_error *error) {
    const uint64_t bytes = b->bytes + rest;
    if (failed) return ulp_fail(error, ULP_BAD_FILE, "%s: cannot read: %s", b->shown, strerror(failed));
    if (b->most != UINT64_MAX && bytes < b->most * b->array.size)
        return ulp_refuse(error, "%s ends after %llu bytes of elements; its header announces %llu", b->shown,
                          (unsigned long long)bytes, (unsigned long long)(b->most * b->array.size));
    if (rest > 0)
        return ulp_refuse(error,
                          "%s holds %llu bytes: %zu more than a whole number of binary%zu values, %zu bytes each",
                          b->shown, (unsigned long long)bytes, rest, 8 * b->array.size, b->array.size);
    return ULP_OK;
}

/* A .npy file from a pipe has to end after its array, as one on a disk. */
static ulp_status check_nothing_follows(binaries *b, ulp_error *error) {
    char byte;
    int failed;
    const size_t n = b->most == UINT64_MAX ? 0 : file_source_read(&b->source, &byte, 1, &failed);
    if (n == 0) return ULP_OK;
    return ulp_refuse(error, "%s goes on after the %llu bytes of elements that its header announces", b->shown,
                      (unsigned long long)(b->most * b->array.size));
}

static ulp_status read_elements(binaries *b, ulp_error *error) {
    for (;;) {
        const uint64_t left = b->most == UINT64_MAX ? UINT64_MAX : b->most - b->bytes / b->array.size;
        const size_t wanted = left < ROUND_GROUP ? (size_t)left : ROUND_GROUP;
        int failed;
        const size_t bytes = file_source_read(&b->source, place_of(b), wanted * b->array.size, &failed);
        ULP_TRY(finish(b, bytes / b->array.size, error));
        if (bytes < wanted * b->array.size) return check_end(b, bytes % b->array.size, failed, error);
        if (wanted < ROUND_GROUP) return check_nothing_follows(b, error);
    }
}

/* ---- files ---- */

/* Read the header, and write the header of the output: the same shape, and elements of another type. `member` is the
 * name of the array in a .npz file of the output. */
static ulp_status read_header(binaries *b, const char *member, ulp_error *error) {
    round_group *g = b->group;
    ULP_TRY(npy_read_header(&b->array, &b->source, 'f', error));
    if (b->array.size == 2) ULP_TRY(make_halves(b, error));
    b->most = b->array.count;
    if (!g->is_npy) return ULP_OK;
    if (g->npy_kind == 'f') round_choose_values(g, b->array.size);
    npy_array out = b->array;
    out.kind = g->npy_kind;
    out.size = round_size(g);
    if (g->is_npz) npz_begin(&g->archive, member);
    npy_write_header(g->out, &out);
    return ULP_OK;
}

/* Read the source, which is open, and close it. */
static ulp_status read_source(binaries *b, const char *member, ulp_error *error) {
    b->shown = b->source.shown;
    b->bytes = 0;
    b->most = UINT64_MAX;
    b->array = (npy_array){.size = b->from == FROM_F32LE ? 4 : 8};
    ulp_status status = b->from >= FROM_NPY ? read_header(b, member, error) : ULP_OK;
    if (status == ULP_OK) status = read_elements(b, error);
    if (status == ULP_OK && b->group->is_npz && b->from >= FROM_NPY) npz_end(&b->group->archive);
    file_source_close(&b->source);
    return status;
}

static ulp_status read_file(binaries *b, const char *program, const char *path, ulp_error *error) {
    ulp_status status = file_source_open(&b->source, program, path, error);
    if (status == ULP_OK && isatty(b->source.file))
        status = ulp_refuse(error, "%s is a terminal, and --from asks for binary numbers; name a file or use a pipe",
                            b->source.shown);
    if (status == ULP_OK) return read_source(b, "arr_0", error);
    file_source_close(&b->source);
    return status;
}

static ulp_status read_member(binaries *b, const npz_archive *z, const npz_member *member, ulp_error *error) {
    const ulp_status status = npz_open_member(&b->source, z, member, error);
    if (status == ULP_OK) return read_source(b, member->name, error);
    file_source_close(&b->source);
    return status;
}

/* Read the array that the path names, or all arrays if the output holds them all. */
static ulp_status read_archive(binaries *b, const char *program, const char *path, ulp_error *error) {
    npz_archive z;
    const npz_member *member = NULL;
    ulp_status status = npz_open(&z, program, path, error);
    if (status == ULP_OK && (z.wanted != NULL || !b->group->is_npz || z.count == 0)) {
        status = npz_choose(&member, &z, error);
        if (status == ULP_OK) status = read_member(b, &z, member, error);
    } else {
        for (size_t i = 0; i < z.count && status == ULP_OK; i++) status = read_member(b, &z, &z.members[i], error);
    }
    npz_close(&z);
    return status;
}

ulp_status round_binaries(round_group *g, int from, const ulp_arguments *a, ulp_error *error) {
    binaries b = {.group = g, .from = from};
    const char *path;
    ulp_status status = ULP_OK;
    for (size_t i = 0; status == ULP_OK && (path = ulp_input_path(a, i)) != NULL; i++)
        status = from == FROM_NPZ ? read_archive(&b, a->program, path, error) : read_file(&b, a->program, path, error);
    free(b.halves);
    return status;
}
