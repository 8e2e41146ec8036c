/* gemm_files.c - ulp gemm: matrices of files, and the file of the result; see gemm.h. */
#include "gemm.h"

#include <string.h>

#include "tool/files/array.h"
#include "tool/files/numbers.h"

enum { ROWS = 1 << 20, DEPTH = 1 << 24 }; /* as --m, --n and --k */

ulp_status gemm_files_check(const gemm_job *w, const ulp_arguments *a, ulp_error *error) {
    if ((w->a_file == NULL) != (w->b_file == NULL))
        return ulp_refuse(error, "--%s %s: --a and --b are given together", w->a_file != NULL ? "a" : "b",
                          w->a_file != NULL ? w->a_file : w->b_file);
    if (w->a_file == NULL && w->c_file != NULL) return ulp_refuse(error, "--c %s: goes with --a and --b", w->c_file);
    if (w->a_file != NULL && ulp_setting_given(a, "data"))
        return ulp_refuse(error, "--data %s: the data are those of --a and --b", ulp_setting_find(a, "data")->value);
    if (w->a_file == NULL && (w->a_codes.bits > 0 || w->b_codes.bits > 0))
        return ulp_refuse(error, "--%s-format %s: goes with --a and --b", w->a_codes.bits > 0 ? "a" : "b",
                          w->a_codes.bits > 0 ? w->a_codes.name : w->b_codes.name);
    if (w->c_file == NULL && w->c_codes.bits > 0)
        return ulp_refuse(error, "--c-format %s: goes with --c", w->c_codes.name);
    if (w->out == NULL) return ULP_OK;
    const size_t n = strlen(w->out);
    if (strcmp(w->out, "-") == 0)
        return ulp_refuse(error, "--out -: the report goes to stdout; the matrix goes to a .npy file");
    if (n >= 4 && strcmp(w->out + n - 4, ".npz") == 0)
        return ulp_refuse(error, "--out %s: the result is one array, which goes to a .npy file", w->out);
    return ULP_OK;
}

/* ---- shapes ---- */

/* Read a file that has to hold a matrix. */
static ulp_status read_matrix(file_array *x, const char *program, const char *path, const ulp_format *codes,
                              ulp_error *error) {
    ULP_TRY(file_array_read(x, program, path, NPY_NUMBERS, codes->bits > 0 ? codes : NULL, error));
    const npy_array *const h = &x->header;
    if (h->dims != 2)
        return ulp_refuse(error, "%s has %zu dimension%s; a matrix has 2", x->shown, h->dims, h->dims == 1 ? "" : "s");
    return h->count > 0 ? ULP_OK : ulp_refuse(error, "%s has no elements", x->shown);
}

/* Refuse a size of the files that is too large, or that an option contradicts. */
static ulp_status check_size(const ulp_arguments *a, const char *name, uint64_t given, uint64_t size, uint64_t most,
                             ulp_error *error) {
    if (size > most)
        return ulp_refuse(error, "%s is %llu in the files; at most %llu is allowed", name, (unsigned long long)size,
                          (unsigned long long)most);
    if (!ulp_setting_given(a, name) || given == size) return ULP_OK;
    return ulp_refuse(error, "--%s %llu: %s is %llu in the files of --a and --b", name, (unsigned long long)given, name,
                      (unsigned long long)size);
}

/* Set m, n and k. */
static ulp_status set_sizes(gemm_job *w, const ulp_arguments *arguments, const file_array *a, const file_array *b,
                            ulp_error *error) {
    const uint64_t m = a->header.shape[0], k = a->header.shape[1], rows = b->header.shape[0], n = b->header.shape[1];
    if (k != rows)
        return ulp_refuse(error, "%s is (%llu, %llu) and %s is (%llu, %llu): A has %llu columns, and B has %llu rows",
                          a->shown, (unsigned long long)m, (unsigned long long)k, b->shown, (unsigned long long)rows,
                          (unsigned long long)n, (unsigned long long)k, (unsigned long long)rows);
    ULP_TRY(check_size(arguments, "m", w->m, m, ROWS, error));
    ULP_TRY(check_size(arguments, "n", w->n, n, ROWS, error));
    ULP_TRY(check_size(arguments, "k", w->k, k, DEPTH, error));
    w->m = m;
    w->n = n;
    w->k = k;
    return ULP_OK;
}

static ulp_status check_start(const gemm_job *w, const file_array *c, ulp_error *error) {
    const uint64_t rows = c->header.shape[0], columns = c->header.shape[1];
    if (rows == w->m && columns == w->n) return ULP_OK;
    return ulp_refuse(error, "%s is (%llu, %llu), and the product of A and B is (%llu, %llu)", c->shown,
                      (unsigned long long)rows, (unsigned long long)columns, (unsigned long long)w->m,
                      (unsigned long long)w->n);
}

/* ---- elements ---- */

ulp_status gemm_files_read(gemm_job *w, const ulp_arguments *arguments, ulp_error *error) {
    const char *const program = arguments->program;
    const int rounds = ulp_setting_given(arguments, "in");
    file_array a = {0}, b = {0}, c = {0};
    if (w->a_file == NULL) return ULP_OK;
    ulp_status status = read_matrix(&a, program, w->a_file, &w->a_codes, error);
    if (status == ULP_OK) status = read_matrix(&b, program, w->b_file, &w->b_codes, error);
    if (status == ULP_OK) status = set_sizes(w, arguments, &a, &b, error);
    if (status == ULP_OK && w->c_file != NULL) status = read_matrix(&c, program, w->c_file, &w->c_codes, error);
    if (status == ULP_OK && w->c_file != NULL) status = check_start(w, &c, error);
    if (status == ULP_OK) status = file_array_take(&w->a, &a, &w->a_format, rounds, error);
    if (status == ULP_OK) status = file_array_take(&w->b, &b, &w->b_format, rounds, error);
    if (status == ULP_OK && w->c_file != NULL) status = file_array_take(&w->start, &c, &w->datapath.result, 0, error);
    file_array_free(&a);
    file_array_free(&b);
    file_array_free(&c);
    return status;
}

/* ---- the result ---- */

void gemm_files_write(const gemm_job *w, FILE *file) {
    const int is_float = w->datapath.result.fits_binary32;
    const size_t count = w->m * w->n;
    npy_write_header(
        file,
        &(npy_array){.kind = 'f', .size = is_float ? sizeof(float) : sizeof(double), .dims = 2, .shape = {w->m, w->n}});
    for (size_t i = 0; i < count; i++) {
        float narrow = (float)w->c[i];
        double wide = w->c[i];
        void *const element = is_float ? (void *)&narrow : &wide;
        const size_t size = is_float ? sizeof narrow : sizeof wide;
        file_little_endian(element, 1, size);
        fwrite(element, size, 1, file);
    }
}
