/* dot_files.c - ulp dot: arrays of operands in place of lines; see dot.h. */
#include "dot.h"

#include <stdlib.h>
#include <string.h>

#include "tool/files/array.h"

ulp_status dot_files_check(const dot_files *f, const ulp_arguments *arguments, ulp_error *error) {
    if ((f->a == NULL) != (f->b == NULL))
        return ulp_refuse(error, "--%s %s: --a and --b are given together", f->a != NULL ? "a" : "b",
                          f->a != NULL ? f->a : f->b);
    if (f->a == NULL && f->c != NULL) return ulp_refuse(error, "--c %s: goes with --a and --b", f->c);
    if (f->a == NULL && (f->a_codes.bits > 0 || f->b_codes.bits > 0))
        return ulp_refuse(error, "--%s-format %s: goes with --a and --b", f->a_codes.bits > 0 ? "a" : "b",
                          f->a_codes.bits > 0 ? f->a_codes.name : f->b_codes.name);
    if (f->c == NULL && f->c_codes.bits > 0) return ulp_refuse(error, "--c-format %s: goes with --c", f->c_codes.name);
    if (f->a != NULL && arguments->word_count > 0)
        return ulp_refuse(error, "%s: lines of a file and the arrays of --a and --b do not go together",
                          arguments->words[0]);
    return ULP_OK;
}

static ulp_status read_array(file_array *x, const char *program, const char *path, const ulp_format *codes,
                             ulp_error *error) {
    return file_array_read(x, program, path, NPY_NUMBERS, codes->bits > 0 ? codes : NULL, error);
}

/* c has the shape of a without the last dimension. */
static ulp_status check_start(const file_array *c, const file_array *a, ulp_error *error) {
    npy_array rows = a->header;
    rows.dims--;
    if (c->header.dims == rows.dims && memcmp(c->header.shape, rows.shape, rows.dims * sizeof *rows.shape) == 0)
        return ULP_OK;
    ulp_text got = {0}, wanted = {0};
    file_array_add_shape(&got, &c->header);
    file_array_add_shape(&wanted, &rows);
    const ulp_status status =
        ulp_refuse(error, "%s has the shape %s; there is a start value for each row of a and b, of the shape %s",
                   c->shown, ulp_text_of(&got), ulp_text_of(&wanted));
    ulp_text_free(&got);
    ulp_text_free(&wanted);
    return status;
}

static ulp_status set_sizes(dot_arrays *to, const file_array *a, const file_array *b, ulp_error *error) {
    const npy_array *const h = &a->header;
    ULP_TRY(file_array_same_shape(a, b, error));
    if (h->dims == 0) return ulp_refuse(error, "%s is a single number; its last dimension is summed", a->shown);
    to->k = (size_t)h->shape[h->dims - 1];
    to->rows = 1;
    for (size_t d = 0; d + 1 < h->dims; d++) to->rows *= (size_t)h->shape[d];
    return ULP_OK;
}

ulp_status dot_files_read(dot_arrays *to, const dot_files *files, const char *program, const ulp_format *a_format,
                          const ulp_format *b_format, const ulp_format *c_format, int rounds, ulp_error *error) {
    file_array a = {0}, b = {0}, c = {0};
    *to = (dot_arrays){0};
    ulp_status status = read_array(&a, program, files->a, &files->a_codes, error);
    if (status == ULP_OK) status = read_array(&b, program, files->b, &files->b_codes, error);
    if (status == ULP_OK) status = set_sizes(to, &a, &b, error);
    if (status == ULP_OK && files->c != NULL) status = read_array(&c, program, files->c, &files->c_codes, error);
    if (status == ULP_OK && files->c != NULL) status = check_start(&c, &a, error);
    if (status == ULP_OK) status = file_array_take(&to->a, &a, a_format, rounds, error);
    if (status == ULP_OK) status = file_array_take(&to->b, &b, b_format, rounds, error);
    if (status == ULP_OK && files->c != NULL) status = file_array_take(&to->c, &c, c_format, 0, error);
    file_array_free(&a);
    file_array_free(&b);
    file_array_free(&c);
    return status;
}

void dot_arrays_release(dot_arrays *arrays) {
    free(arrays->a);
    free(arrays->b);
    free(arrays->c);
}
