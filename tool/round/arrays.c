/* arrays.c - ulp round: files of binary32 or binary64 values or codes, and .npy and .npz files, as input and output. */
#include "job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/files/npy.h"
#include "tool/files/npz.h"
#include "tool/files/numbers.h"

/* ---- the output ---- */

/* Choose how values are written into a .npy file: as <f4 or <f8, or as <f2 if `size` is 2; the least of at least `size`
 * bytes that holds every value of the format. */
static void choose_values(round_job *j, size_t size) {
    j->arrays.to_halves = size == 2 && ulp_format_holds(&ulp_binary16, &j->target.format);
    if (j->arrays.to_halves) j->to = TO_CODELE;
    else j->to = size == 8 || !j->target.format.fits_binary32 ? TO_F64LE : TO_F32LE;
}

/* ---- the input ---- */

typedef struct binaries {
    round_job *job;
    const char *shown;
    file_source source;
    npy_array array;
    file_reader reader; /* of codes and integers; else of no kind */
    uint64_t bytes;     /* that were read of the elements of the file */
    uint64_t most;      /* elements of the file; UINT64_MAX: to its end */
    float *halves;      /* (2^16) the values of binary16; NULL: not needed yet */
} binaries;

/* ---- the numbers of a group ---- */

static ulp_status make_halves(binaries *b, ulp_error *error) {
    if (b->halves == NULL) b->halves = file_halves();
    return b->halves != NULL ? ULP_OK : ulp_fail(error, ULP_NO_MEMORY, "out of memory for the values of binary16");
}

/* The memory that elements of the file are read into. */
static void *place_of(binaries *b) {
    round_job *j = b->job;
    if (b->array.kind != 'f') return j->code;
    return b->array.size == 8 ? (void *)j->x : b->array.size == 4 ? (void *)j->arrays.x : (void *)j->output.code16;
}

/* The n codes or integers that were read become the numbers of the group. Returns the number before the first one that
 * is none. */
static size_t take_integers(binaries *b, size_t n) {
    round_job *j = b->job;
    size_t i = 0;
    while (i < n && file_reader_take(&b->reader, &j->x[i], (const char *)j->code + i * b->array.size)) i++;
    j->arrays.is_narrow = 0;
    j->n = n;
    return i;
}

/* The same for any elements. */
static size_t set_numbers(binaries *b, size_t n) {
    round_job *j = b->job;
    file_little_endian(place_of(b), n, b->array.size);
    if (b->array.is_big) file_swap(place_of(b), n, b->array.size);
    if (b->array.kind != 'f') return take_integers(b, n);
    for (size_t i = 0; i < n && b->array.size == 2; i++) j->arrays.x[i] = b->halves[j->output.code16[i]];
    j->arrays.is_narrow = b->array.size < 8 && j->target.format.fits_binary32;
    for (size_t i = 0; i < n && b->array.size < 8 && !j->arrays.is_narrow; i++) j->x[i] = (double)j->arrays.x[i];
    j->n = n;
    return n;
}

static ulp_status refuse_integer(const binaries *b, uint64_t element, const void *bytes, ulp_error *error) {
    const unsigned long long bits = file_integer(bytes, b->array.size), at = element;
    if (b->array.kind == 'c')
        return ulp_refuse(error, "%s: element %llu, counted from 0, is %llx: a code of %s has %d bits", b->shown, at,
                          bits, b->reader.format.name, b->reader.format.bits);
    return ulp_refuse(error, "%s: element %llu, counted from 0, is %lld, which binary64 does not hold", b->shown, at,
                      (long long)bits);
}

static void round_group(round_job *j) {
    round_arrays *r = &j->arrays;
    if (r->is_narrow) ulp_backend_round(j->backend, r->y, r->x, j->n, round_how(j));
    else ulp_backend_round64(j->backend, j->y, j->x, j->n, round_how(j));
    for (size_t i = 0; r->is_narrow && i < j->n && j->to != TO_F32LE; i++) j->y[i] = (double)r->y[i];
}

/* Round and write the n elements that were read. */
static ulp_status finish(binaries *b, size_t n, ulp_error *error) {
    round_job *j = b->job;
    const uint64_t first = b->bytes / b->array.size;
    if (n == 0) return ULP_OK;
    const size_t numbers = set_numbers(b, n);
    if (numbers < n) return refuse_integer(b, first + numbers, (const char *)j->code + numbers * b->array.size, error);
    round_group(j);
    const size_t written = round_write(j);
    if (written < n) {
        tool_refuse_result(j->y[written], &j->target.format, error);
        return ulp_fail_within(error, ULP_BAD_ARGUMENT, "%s: element %llu, counted from 0", b->shown,
                               (unsigned long long)(first + written));
    }
    b->bytes += n * b->array.size;
    return ferror(j->file) ? tool_failed(error, TOOL_CHECK_FAILED) : ULP_OK;
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
        return ulp_refuse(error, "%s holds %llu bytes: %zu more than a whole number of %s, %zu bytes each", b->shown,
                          (unsigned long long)bytes, rest,
                          b->array.kind == 'c' ? "codes"
                          : b->array.size == 8 ? "binary64 values"
                                               : "binary32 values",
                          b->array.size);
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

/* Whether integers of an archive go to an archive as they are. */
static int passes(const round_job *j) { return j->from == FROM_NPZ && j->arrays.is_npz && !j->given.has_codes; }

static int is_copied(const binaries *b) { return passes(b->job) && b->array.kind != 'f'; }

static ulp_status open_reader(binaries *b, ulp_error *error) {
    if (is_copied(b)) return ULP_OK;
    if (file_reader_open(&b->reader, b->array.kind, b->array.size, tool_form_codes(&b->job->given))) return ULP_OK;
    return ulp_fail(error, ULP_NO_MEMORY, "%s: out of memory for the values of its codes", b->shown);
}

/* The type of the elements of plain bytes. */
static npy_array plain_type(const round_job *j) {
    size_t size = 1;
    if (j->from != FROM_CODELE) return (npy_array){.kind = 'f', .size = j->from == FROM_F32LE ? 4 : 8};
    while (8 * size < (size_t)j->given.codes.bits) size *= 2;
    return (npy_array){.kind = 'c', .size = size};
}

/* Read the header, and write the header of the output: the same shape, and elements of another type. `member` is the
 * name of the array in a .npz file of the output. */
static ulp_status read_header(binaries *b, const char *member, ulp_error *error) {
    round_job *j = b->job;
    const ulp_format *const codes = tool_form_codes(&j->given);
    ULP_TRY(npy_read_header(&b->array, &b->source, passes(j) ? NPY_ANY : NPY_NUMBERS, codes, error));
    if (b->array.kind == 'f' && b->array.size == 2) ULP_TRY(make_halves(b, error));
    if (b->array.kind != 'f') ULP_TRY(open_reader(b, error));
    b->most = b->array.count;
    if (!j->arrays.is_npy || is_copied(b)) return ULP_OK;
    if (j->arrays.npy_kind == 'f') choose_values(j, b->array.kind == 'f' ? b->array.size : 4);
    npy_array out = b->array;
    out.kind = j->arrays.npy_kind;
    out.size = round_size(j);
    if (j->arrays.is_npz) npz_begin(&j->arrays.archive, member);
    npy_write_header(j->file, &out);
    return ULP_OK;
}

/* Copy an array of integers or truth values of an archive as it is. */
static ulp_status copy_array(binaries *b, const char *member, ulp_error *error) {
    round_job *j = b->job;
    size_t n = 0;
    int failed = 0;
    npz_begin(&j->arrays.archive, member);
    npy_write_header(j->file, &b->array);
    while ((n = file_source_read(&b->source, j->output.text, sizeof j->output.text, &failed)) > 0) {
        if (b->array.is_big) file_swap(j->output.text, n / b->array.size, b->array.size); /* the header says < */
        fwrite(j->output.text, 1, n, j->file);
        b->bytes += n;
    }
    npz_end(&j->arrays.archive);
    if (failed || b->bytes != b->array.count * b->array.size) return check_end(b, 0, failed, error);
    return ferror(j->file) ? tool_failed(error, TOOL_CHECK_FAILED) : ULP_OK;
}

/* Read the source, which is open, and close it. */
static ulp_status read_source(binaries *b, const char *member, ulp_error *error) {
    b->shown = b->source.shown;
    b->bytes = 0;
    b->most = UINT64_MAX;
    b->array = plain_type(b->job);
    ulp_status status = b->job->from >= FROM_NPY ? read_header(b, member, error)
                        : b->array.kind == 'c'   ? open_reader(b, error)
                                                 : ULP_OK;
    if (status == ULP_OK && is_copied(b)) status = copy_array(b, member, error);
    else if (status == ULP_OK) {
        status = read_elements(b, error);
        if (status == ULP_OK && b->job->arrays.is_npz && b->job->from >= FROM_NPY) npz_end(&b->job->arrays.archive);
    }
    file_reader_close(&b->reader);
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
    if (status == ULP_OK && (z.wanted != NULL || !b->job->arrays.is_npz || z.count == 0)) {
        status = npz_choose(&member, &z, error);
        if (status == ULP_OK) status = read_member(b, &z, member, error);
    } else {
        for (size_t i = 0; i < z.count && status == ULP_OK; i++) status = read_member(b, &z, &z.members[i], error);
    }
    npz_close(&z);
    return status;
}

ulp_status round_binaries(round_job *j, const ulp_arguments *a, ulp_error *error) {
    binaries b = {.job = j};
    const char *path;
    ulp_status status = ULP_OK;
    for (size_t i = 0; status == ULP_OK && (path = ulp_input_path(a, i)) != NULL; i++)
        status =
            j->from == FROM_NPZ ? read_archive(&b, a->program, path, error) : read_file(&b, a->program, path, error);
    free(b.halves);
    return status;
}

/* ---- the file of the output ---- */

/* The form of the output: bytes are values of 4 or 8 bytes, or codes. */
static ulp_status choose_form(round_job *j, const ulp_arguments *a, ulp_error *error) {
    round_arrays *r = &j->arrays;
    r->is_npz = j->to == TO_NPZ || j->to == TO_NPZCODE;
    r->is_npy = j->to == TO_NPY || j->to == TO_NPYCODE || r->is_npz;
    r->npy_kind = j->to == TO_NPY || j->to == TO_NPZ ? 'f' : 'u';
    r->is_header_late = r->is_npy && j->from < FROM_NPY;
    if (j->to == TO_F32LE && !j->target.format.fits_binary32)
        return ulp_refuse(error, "--to f32le: %s has values that binary32 does not hold; f64le holds them",
                          j->target.format.name);
    if (r->is_npy && j->from >= FROM_NPY && a->word_count > 1)
        return ulp_refuse(error,
                          r->is_npz ? "a .npz file gets the arrays of one file; name one file, not %zu"
                                    : "a .npy file holds one array; name one file, not %zu",
                          a->word_count);
    if (r->is_npy && r->npy_kind == 'u') j->to = TO_CODELE;
    if (r->is_npy && r->npy_kind == 'f') choose_values(j, j->from == FROM_F64LE ? 8 : 4);
    return ULP_OK;
}

static void write_header(const round_job *j, uint64_t count) {
    npy_write_header(j->file,
                     &(npy_array){.kind = j->arrays.npy_kind, .size = round_size(j), .dims = 1, .shape = {count}});
}

ulp_status round_open(round_job *j, const ulp_arguments *a, ulp_error *error) {
    round_arrays *r = &j->arrays;
    r->output.program = a->program;
    ULP_TRY(choose_form(j, a, error));
    const char *const needs_file =
        r->is_npz           ? FILE_OUTPUT_NPZ
        : r->is_header_late ? "the header of a .npy file holds the number of elements, which is known at the end; name "
                              "a file with --out"
                            : NULL;
    ULP_TRY(file_output_open(&r->output, j->out, needs_file, error));
    j->file = r->archive.file = r->output.file;
    if (j->to >= TO_F32LE) ULP_TRY(file_output_refuse_terminal(&r->output, error));
    if (r->is_header_late && r->is_npz) npz_begin(&r->archive, "arr_0");
    if (r->is_header_late) write_header(j, 0);
    return ULP_OK;
}

/* Write the header at the beginning of the array again. */
static void complete_header(round_job *j) {
    round_arrays *r = &j->arrays;
    if (fseek(j->file, r->is_npz ? npz_first(&r->archive) : 0, SEEK_SET) != 0) r->archive.failed = errno;
    write_header(j, j->index);
    if (fseek(j->file, 0, SEEK_END) != 0) r->archive.failed = errno;
    if (r->is_npz) npz_end(&r->archive);
}

ulp_status round_close(round_job *j, ulp_status status, ulp_error *error) {
    round_arrays *r = &j->arrays;
    if (status == ULP_OK && r->is_header_late) complete_header(j);
    if (r->output.file != NULL && r->is_npz) npz_finish(&r->archive);
    return file_output_close(&r->output, status, status == ULP_OK ? r->archive.failed : 0, error);
}
