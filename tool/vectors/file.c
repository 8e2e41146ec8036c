/* file.c - ulp vectors: arrays, cells and files; see vectors.h. */
#include "vectors.h"

#include "tool/files/npy.h"
#include "tool/files/npz_write.h"
#include "tool/files/output.h"

#include <string.h>

vectors_array *vectors_add(vectors_file *file, char kind, size_t size, const char *name, ...) {
    vectors_array *const array = &file->at[file->count++];
    va_list arguments;
    va_start(arguments, name);
    vsnprintf(array->name, sizeof array->name, name, arguments);
    va_end(arguments);
    array->kind = kind;
    array->size = size;
    return array;
}

void vectors_put(vectors_array *array, uint64_t element) {
    char bytes[8];
    for (size_t i = 0; i < array->size; i++) bytes[i] = (char)(element >> 8 * i & 255);
    ulp_text_add(&array->bytes, bytes, array->size);
}

void vectors_free(vectors_file *file) {
    for (size_t i = 0; i < file->count; i++) ulp_text_free(&file->at[i].bytes);
    file->count = 0;
}

size_t vectors_code_bytes(int bits) { return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8; }

void vectors_cell(ulp_text *csv, uint64_t code, int bits) {
    char text[20];
    const int digits = (bits + 3) / 4, first = csv->length == 0 || csv->data[csv->length - 1] == '\n';
    text[0] = ',';
    for (int i = digits; i > 0; i--, code >>= 4) text[i] = "0123456789abcdef"[code & 15];
    ulp_text_add(csv, text + first, (size_t)(digits + 1 - first));
}

/* ---- files ---- */

/* Open FOLDER/PATH; file_output_close() ends it. */
static ulp_status open_file(file_output *o, const vectors_request *to, const char *path, ulp_error *error) {
    ulp_text whole = {0};
    ulp_text_print(&whole, "%s/%s", to->folder, path);
    *o = (file_output){.program = to->program};
    const ulp_status status = file_output_open(o, ulp_text_of(&whole), NULL, error);
    ulp_text_free(&whole);
    return status;
}

ulp_status vectors_write_npz(const vectors_request *to, const char *path, const vectors_file *file, ulp_error *error) {
    file_output o;
    npz_writer archive = {0};
    const ulp_status status = open_file(&o, to, path, error);
    archive.file = o.file;
    for (const vectors_array *a = file->at; status == ULP_OK && a < file->at + file->count; a++) {
        const npy_array array = {.kind = a->kind, .size = a->size, .dims = 1, .shape = {a->bytes.length / a->size}};
        npz_begin(&archive, a->name);
        npy_write_header(o.file, &array);
        fwrite(ulp_text_of(&a->bytes), 1, a->bytes.length, o.file);
        npz_end(&archive);
    }
    return file_output_close(&o, status, status == ULP_OK ? npz_finish(&archive) : 0, error);
}

ulp_status vectors_write_text(const vectors_request *to, const char *path, const ulp_text *text, ulp_error *error) {
    file_output o;
    const ulp_status status = open_file(&o, to, path, error);
    if (status == ULP_OK) fwrite(ulp_text_of(text), 1, text->length, o.file);
    return file_output_close(&o, status, 0, error);
}

void vectors_file_name(char to[160], const char *folder, const char *name, const char *ending) {
    const int n = snprintf(to, 160, "%s/", folder);
    snprintf(to + n, (size_t)(160 - n), "%s%s", name, ending);
    for (char *c = to + n; *c != '\0'; c++)
        if (strchr(":/=", *c) != NULL) *c = '_';
}

/* ---- random words ---- */

vectors_draw vectors_draw_for(uint64_t seed, const char *name) {
    return (vectors_draw){ulp_stream_of_text(seed, name, strlen(name)), 0};
}

uint32_t vectors_word(vectors_draw *draw) { return ulp_random_word(draw->stream, draw->next++); }

uint32_t vectors_below(vectors_draw *draw, uint32_t n) { return (uint32_t)((uint64_t)vectors_word(draw) * n >> 32); }
