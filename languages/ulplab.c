/* ulplab.c - rounding and sums of products in Octave and MATLAB: a MEX file on the functions of kernels/foreign.
 *
 *   y = ulplab('round', x, format)
 *   y = ulplab('round', x, format, mode, NAME, VALUE, ...)    names: bits overflow seed stream first backend
 *   s = ulplab('dot', a, b, datapath, NAME, VALUE, ...)       names: c cast seed stream first backend
 *   C = ulplab('matmul', A, B, datapath, NAME, VALUE, ...)    the same names
 *
 * Arrays are full, real, and single or double. The result of 'round' has the class and the shape of x, and x(i) takes
 * random word first + i - 1. The result of a product is single, or double if the result format does not fit binary32.
 * Operands are values of the datapath's input formats; 'cast' is the mode that rounds operands to these formats. `c`
 * has the start values of the sums. The sum of row i and column j takes its random words in the order of rows, as in C
 * and Python. languages/README.md has examples and the commands that build this file.
 */
#include "kernels/foreign/foreign.h"

#include <mex.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

/* Objects of the library in use. An error leaves mexFunction at once, and fail() releases them. mxMalloc's memory is
 * freed by the interpreter. */
static void *held[4];
static int held_count;

static void release_all(void) {
    while (held_count > 0) ulp_foreign_release(held[--held_count]);
}

static void fail(const char *id, const char *sentence, ...) {
    static char said[1000];
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(said, sizeof said, sentence, arguments);
    va_end(arguments);
    release_all();
    mexErrMsgIdAndTxt(id, "%s", said);
}

static void check(ulp_status status) {
    const int device = status == ULP_NO_DEVICE || status == ULP_DEVICE_FAILED;
    if (status != ULP_OK)
        fail(status == ULP_NO_MEMORY ? "ulplab:memory"
             : device                ? "ulplab:device"
                                     : "ulplab:argument",
             "%s", ulp_foreign_error());
}

/* ---- arguments ---- */

static char *text(const mxArray *from, const char *name) {
    if (!mxIsChar(from)) fail("ulplab:type", "%s is of class %s; it must be a text", name, mxGetClassName(from));
    const size_t size = (size_t)mxGetNumberOfElements(from) + 1;
    char *const read = mxMalloc(size); /* not mxArrayToString, whose memory Octave 7 does not free */
    if (mxGetString(from, read, (mwSize)size) != 0) fail("ulplab:type", "%s cannot be read as a text", name);
    return read;
}

/* A number from 0 to `most`, at most 2^53 unless it is a uint64. */
static uint64_t whole(const mxArray *from, const char *name, double most) {
    if (!mxIsNumeric(from) || mxIsComplex(from) || mxGetNumberOfElements(from) != 1)
        fail("ulplab:type", "%s must be one whole number", name);
    if (mxIsUint64(from) && most >= 0x1p53) return *(const uint64_t *)mxGetData(from);
    const double value = mxGetScalar(from);
    if (!(value >= 0 && value <= most) || value != (double)(uint64_t)value)
        fail("ulplab:argument", "%s is %.17g; it must be a whole number from 0 to %.0f", name, value, most);
    return (uint64_t)value;
}

static size_t count_of(const mxArray *a) { return (size_t)mxGetNumberOfElements(a); }

/* Refuses what is no full real array of numbers of 32 or 64 bits. */
static void check_array(const mxArray *a, const char *name) {
    if (!(mxIsSingle(a) || mxIsDouble(a)) || mxIsSparse(a) || mxIsComplex(a))
        fail("ulplab:type", "%s is a %s%s array of class %s; it must be full, real, and single or double", name,
             mxIsSparse(a) ? "sparse " : "full ", mxIsComplex(a) ? "complex" : "real", mxGetClassName(a));
}

typedef struct options {
    const char *mode, *overflow, *backend, *cast;
    const mxArray *c;
    int bits;
    uint64_t seed, stream, first;
} options;

static void read_option(options *to, const char *name, const mxArray *value) {
    if (strcmp(name, "overflow") == 0) to->overflow = text(value, name);
    else if (strcmp(name, "backend") == 0) to->backend = text(value, name);
    else if (strcmp(name, "cast") == 0) to->cast = text(value, name);
    else if (strcmp(name, "c") == 0) to->c = value;
    else if (strcmp(name, "bits") == 0) to->bits = (int)whole(value, name, 0x7fffffff);
    else if (strcmp(name, "seed") == 0) to->seed = whole(value, name, 0x1p53);
    else if (strcmp(name, "stream") == 0) to->stream = whole(value, name, 0x1p53);
    else to->first = whole(value, name, 0x1p53);
}

/* Whether a list of words, with a blank before and after each, has the word. */
static int has_word(const char *words, const char *word) {
    char wanted[40];
    const int length = snprintf(wanted, sizeof wanted, " %s ", word);
    return length < (int)sizeof wanted && strchr(word, ' ') == NULL && strstr(words, wanted) != NULL;
}

/* Reads pairs of a name and a value. */
static void read_options(options *to, int count, const mxArray *const *from, const char *names) {
    for (int i = 0; i < count; i += 2) {
        const char *const name = text(from[i], "the name of an option");
        if (!has_word(names, name)) fail("ulplab:argument", "no option '%.64s'; there are:%s", name, names);
        if (i + 1 == count) fail("ulplab:argument", "the option '%s' has no value", name);
        read_option(to, name, from[i + 1]);
    }
}

/* ---- rounding ---- */

/* y (n) = x (n) rounded. */
static void round_numbers(void *y, const void *x, size_t n, int wide, const char *format, const options *how) {
    ulp_rounder *rounder;
    check(ulp_foreign_rounder(&rounder, format, how->mode, how->overflow, how->bits, how->backend));
    held[held_count++] = rounder;
    check(ulp_foreign_round_any(rounder, y, x, n, wide, how->seed, how->stream, how->first, NULL));
    ulp_foreign_release(held[--held_count]);
}

static mxArray *round_array(int count, const mxArray *const *from) {
    options how = {0};
    if (count < 2) fail("ulplab:argument", "ulplab('round', x, format, mode, ...) takes an array and a format");
    check_array(from[0], "x");
    const char *const format = text(from[1], "the format");
    const int mode = count > 2 && count % 2 == 1;
    if (mode) how.mode = text(from[2], "the mode");
    read_options(&how, count - 2 - mode, from + 2 + mode, " bits overflow seed stream first backend ");
    mxArray *const y =
        mxCreateNumericArray(mxGetNumberOfDimensions(from[0]), mxGetDimensions(from[0]), mxGetClassID(from[0]), mxREAL);
    round_numbers(mxGetData(y), mxGetData(from[0]), count_of(from[0]), mxIsDouble(from[0]), format, &how);
    return y;
}

/* ---- products ---- */

typedef struct product {
    ulp_datapath *datapath;
    int wide; /* arrays are binary64 */
    options how;
} product;

/* Refuses an element that is no value of the format. */
static void check_values(const product *p, const void *x, size_t n, const char *name, const char *format_name) {
    ulp_format *format;
    size_t at = 0;
    if (format_name[0] == '\0') return;
    uint64_t *const codes = mxMalloc((n + 1) * sizeof *codes);
    check(ulp_foreign_format(&format, format_name));
    held[held_count++] = format;
    const ulp_status status = ulp_foreign_encode(format, codes, sizeof *codes, x, p->wide, n, &at);
    if (status == ULP_NO_CODE || status == ULP_NO_NAN)
        fail("ulplab:argument", "%s(%zu) is %.17g, no value of %s; round %s first%s", name, at + 1,
             p->wide ? ((const double *)x)[at] : (double)((const float *)x)[at], format_name, name,
             strcmp(name, "c") == 0 ? "" : ", or give 'cast', 'rne'");
    check(status);
    ulp_foreign_release(held[--held_count]);
    mxFree(codes);
}

static double *widened(const float *x, size_t n) {
    double *const y = mxMalloc((n + 1) * sizeof *y);
    for (size_t i = 0; i < n; i++) y[i] = x[i];
    return y;
}

static float *narrowed(const double *x, size_t n, const char *name) {
    float *const y = mxMalloc((n + 1) * sizeof *y);
    for (size_t i = 0; i < n; i++) {
        y[i] = (float)x[i];
        if (!((double)y[i] == x[i] || x[i] != x[i]))
            fail("ulplab:argument", "%s(%zu) is %.17g, no number of class single; round %s first%s", name, i + 1, x[i],
                 name, strcmp(name, "c") == 0 ? "" : ", or give 'cast', 'rne'");
    }
    return y;
}

/* The elements of an operand, rounded to its format if 'cast' is given, in the type of the product's arrays. */
static const void *operand(const product *p, const mxArray *of, const char *name, const char *format, int cast) {
    const size_t n = count_of(of);
    const void *x = mxGetData(of);
    int wide = mxIsDouble(of);
    if (!wide && p->wide) {
        x = widened(x, n);
        wide = 1;
    }
    if (cast && p->how.cast != NULL) {
        void *const rounded = mxMalloc((n + 1) * sizeof(double));
        const options how = {.mode = p->how.cast};
        round_numbers(rounded, x, n, wide, format[0] != '\0' ? format : p->wide ? "binary64" : "binary32", &how);
        x = rounded;
    }
    return wide && !p->wide ? narrowed(x, n, name) : x;
}

/* to (columns, rows) = from (rows, columns), both in the order of rows. */
static void transpose(const product *p, void *to, const void *from, size_t rows, size_t columns) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            if (p->wide) ((double *)to)[j * rows + i] = ((const double *)from)[i * columns + j];
            else ((float *)to)[j * rows + i] = ((const float *)from)[i * columns + j];
        }
}

/* The m x n product of a (m, k) and b (k, n), which lie in memory column after column: for C transposed matrices. */
static mxArray *multiply(product *p, const mxArray *a, const mxArray *b, size_t m, size_t n, size_t k) {
    const size_t size = p->wide ? sizeof(double) : sizeof(float);
    const char *const a_format = ulp_foreign_datapath_text(p->datapath, ULP_FOREIGN_D_A),
                      *const b_format = ulp_foreign_datapath_text(p->datapath, ULP_FOREIGN_D_B),
                      *const result = ulp_foreign_datapath_text(p->datapath, ULP_FOREIGN_D_RESULT);
    const void *const left = operand(p, a, "a", a_format, 1), *const right = operand(p, b, "b", b_format, 1);
    void *const rows = mxMalloc((m * n + 1) * size);
    if (p->how.c != NULL) {
        check_array(p->how.c, "c");
        if ((size_t)mxGetM(p->how.c) != m || (size_t)mxGetN(p->how.c) != n)
            fail("ulplab:argument", "c is %zu x %zu; the result is %zu x %zu", (size_t)mxGetM(p->how.c),
                 (size_t)mxGetN(p->how.c), m, n);
        const void *const start = operand(p, p->how.c, "c", result, 0);
        check_values(p, start, m * n, "c", result);
        transpose(p, rows, start, n, m);
    }
    const uint64_t shape[ULP_FOREIGN_SHAPE] = {
        m, n, k, m > 0 ? m : 1, k > 0 ? k : 1, n > 0 ? n : 1, 1, 1, p->how.c != NULL};
    const ulp_status status = ulp_foreign_gemm(p->datapath, p->how.backend, rows, left, right, shape, p->wide, NULL,
                                               NULL, p->how.seed, p->how.stream, p->how.first);
    if (status == ULP_NO_CODE) {
        check_values(p, left, m * k, "a", a_format);
        check_values(p, right, k * n, "b", b_format);
        check(status);
    }
    check(status);
    mxArray *const c = mxCreateNumericMatrix((mwSize)m, (mwSize)n, p->wide ? mxDOUBLE_CLASS : mxSINGLE_CLASS, mxREAL);
    transpose(p, mxGetData(c), rows, m, n);
    return c;
}

static product product_of(int count, const mxArray *const *from, const char *usage) {
    product p = {0};
    if (count < 3) fail("ulplab:argument", "%s takes two arrays and a datapath", usage);
    check_array(from[0], "a");
    check_array(from[1], "b");
    const char *const name = text(from[2], "the datapath");
    read_options(&p.how, count - 3, from + 3, " c cast seed stream first backend ");
    check(ulp_foreign_datapath(&p.datapath, name));
    held[held_count++] = p.datapath;
    p.wide = !ulp_foreign_datapath_integer(p.datapath, ULP_FOREIGN_D_FITS_BINARY32);
    return p;
}

static int is_vector(const mxArray *a) {
    return mxGetNumberOfDimensions(a) == 2 && (mxGetM(a) == 1 || mxGetN(a) == 1 || count_of(a) == 0);
}

static mxArray *dot(int count, const mxArray *const *from) {
    product p = product_of(count, from, "ulplab('dot', a, b, datapath, ...)");
    const size_t k = count_of(from[0]);
    if (!is_vector(from[0]) || !is_vector(from[1])) fail("ulplab:argument", "a dot product takes two vectors");
    if (k != count_of(from[1])) fail("ulplab:argument", "a has %zu elements and b %zu", k, count_of(from[1]));
    return multiply(&p, from[0], from[1], 1, 1, k);
}

static mxArray *matmul(int count, const mxArray *const *from) {
    product p = product_of(count, from, "ulplab('matmul', A, B, datapath, ...)");
    if (mxGetNumberOfDimensions(from[0]) != 2 || mxGetNumberOfDimensions(from[1]) != 2)
        fail("ulplab:argument", "a product takes two matrices");
    const size_t m = (size_t)mxGetM(from[0]), k = (size_t)mxGetN(from[0]), n = (size_t)mxGetN(from[1]);
    if (k != (size_t)mxGetM(from[1]))
        fail("ulplab:argument", "a is %zu x %zu and b is %zu x %zu; a needs as many columns as b has rows", m, k,
             (size_t)mxGetM(from[1]), n);
    return multiply(&p, from[0], from[1], m, n, k);
}

void mexFunction(int result_count, mxArray *results[], int count, const mxArray *from[]) {
    held_count = 0;
    if (result_count > 1) fail("ulplab:argument", "ulplab has one result");
    const char *const what = count > 0 ? text(from[0], "the first argument") : "";
    if (strcmp(what, "round") == 0) results[0] = round_array(count - 1, from + 1);
    else if (strcmp(what, "dot") == 0) results[0] = dot(count - 1, from + 1);
    else if (strcmp(what, "matmul") == 0) results[0] = matmul(count - 1, from + 1);
    else fail("ulplab:argument", "the first argument is '%.64s'; it must be 'round', 'dot' or 'matmul'", what);
    release_all();
}
