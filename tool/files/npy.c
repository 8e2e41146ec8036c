/* npy.c - reading and writing the header of .npy files; see npy.h. */
#include "npy.h"

#include <stdarg.h>
#include <string.h>

#include "experiments/harness/cli/message.h"
#include "experiments/harness/cli/options.h"

enum { MOST_HEADER = 65535 }; /* what version 1.0 allows; the header of an array of numbers has 128 bytes */

typedef struct header {
    file_source *source;
    npy_wanted wanted;
    const ulp_format *codes;
    const char *at;             /* the rest of the text */
    char text[MOST_HEADER + 1]; /* the dictionary */
} header;

static ULP_PRINTF(3, 4) ulp_status refuse(ulp_error *error, const header *h, const char *text, ...) {
    ulp_text why = {0};
    va_list arguments;
    va_start(arguments, text);
    ulp_text_print_list(&why, text, arguments);
    va_end(arguments);
    ulp_refuse(error, "%s: the header of the .npy file %s", h->source->shown, ulp_text_of(&why));
    ulp_text_free(&why);
    return ULP_BAD_ARGUMENT;
}

/* ---- the bytes before the dictionary ---- */

static ulp_status read_part(const header *h, void *to, size_t bytes, ulp_error *error) {
    int failed;
    const size_t n = file_source_read(h->source, to, bytes, &failed);
    if (failed) return ulp_fail(error, ULP_BAD_FILE, "%s: cannot read: %s", h->source->shown, strerror(failed));
    return n == bytes ? ULP_OK : refuse(error, h, "is cut off: %zu of %zu bytes of it are missing", bytes - n, bytes);
}

/* Read magic, version and length, and then the dictionary. */
static ulp_status read_text(header *h, ulp_error *error) {
    unsigned char start[8], length[4];
    int failed;
    const size_t n = file_source_read(h->source, start, sizeof start, &failed);
    if (failed) return ulp_fail(error, ULP_BAD_FILE, "%s: cannot read: %s", h->source->shown, strerror(failed));
    if (n < sizeof start || memcmp(start, "\x93NUMPY", 6) != 0)
        return ulp_refuse(error, "%s is no .npy file: it does not begin with the bytes 93 4e 55 4d 50 59 and a version",
                          h->source->shown);
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return refuse(error, h, "has version %d.%d; known: 1.0 2.0 3.0", start[6], start[7]);
    ULP_TRY(read_part(h, length, start[6] == 1 ? 2 : 4, error));
    uint32_t bytes = length[0] | (uint32_t)length[1] << 8;
    if (start[6] > 1) bytes |= (uint32_t)length[2] << 16 | (uint32_t)length[3] << 24;
    if (bytes > MOST_HEADER)
        return refuse(error, h, "has %lu bytes; at most %d are read", (unsigned long)bytes, MOST_HEADER);
    ULP_TRY(read_part(h, h->text, bytes, error));
    h->text[bytes] = '\0';
    for (uint32_t i = 0; i < bytes; i++)
        if ((h->text[i] < ' ' || h->text[i] > '~') && h->text[i] != '\n')
            return refuse(error, h, "holds the byte %02x; it has to be a dictionary in printable characters",
                          (unsigned char)h->text[i]);
    return ULP_OK;
}

/* ---- the dictionary ---- */

static char next(header *h) {
    h->at += strspn(h->at, " \n");
    return *h->at;
}

static ulp_status refuse_form(const header *h, const char *wanted, ulp_error *error) {
    return refuse(error, h, "has '%.20s' at byte %zu of the dictionary, in place of %s", h->at,
                  (size_t)(h->at - h->text), wanted);
}

/* Take a character, after blanks. */
static ulp_status take(header *h, char c, ulp_error *error) {
    const char wanted[] = {'\'', c, '\'', '\0'};
    if (next(h) != c) return refuse_form(h, wanted, error);
    h->at++;
    return ULP_OK;
}

/* Read a text in quotes, cut to the size of `to`. */
static ulp_status read_quoted(char *to, size_t size, header *h, const char *wanted, ulp_error *error) {
    const char quote = next(h);
    const char *const end = quote == '\'' || quote == '"' ? strchr(h->at + 1, quote) : NULL;
    if (end == NULL) return refuse_form(h, wanted, error);
    snprintf(to, size, "%.*s", (int)(end - h->at - 1), h->at + 1);
    h->at = end + 1;
    return ULP_OK;
}

/* Elements of the type are numbers: floats of 2 to 8 bytes, signed integers. */
static int is_number(const npy_array *a) { return a->kind == 'i' || (a->kind == 'f' && a->size > 1); }

/* Set what the type of the elements says, as |u1, <f4, |V2. Returns 0 if no array of such a type is read. */
static int set_type(npy_array *a, const char *descr) {
    static const char kinds[] = "fiuVb";
    if (descr[0] == '\0' || strchr("<>|", descr[0]) == NULL || strlen(descr) != 3) return 0;
    a->kind = descr[1];
    a->is_big = descr[0] == '>';
    a->size = (size_t)(descr[2] - '0');
    return strchr(kinds, descr[1]) != NULL && strchr("1248", descr[2]) != NULL &&
           (descr[0] != '|' || a->size == 1 || descr[1] == 'V');
}

static ulp_status refuse_codes(const npy_array *a, const header *h, const char *descr, ulp_error *error) {
    const ulp_format *const f = h->codes;
    if (is_number(a) && a->kind == 'f' && 8 * a->size > (size_t)f->bits)
        return refuse(error, h, "says that the elements are '%s', which are values; codes of %s have %d bits", descr,
                      f->name, f->bits);
    return refuse(error, h, "says that the elements are '%s', of %zu bytes; codes of %s have %d bits", descr, a->size,
                  f->name, f->bits);
}

static ulp_status read_descr(npy_array *array, header *h, ulp_error *error) {
    char descr[64];
    ULP_TRY(read_quoted(descr, sizeof descr, h, "a quoted type (records are not read)", error));
    const int known = set_type(array, descr);
    if (h->wanted == NPY_BYTES) {
        if (strcmp(descr, "|u1") == 0) return ULP_OK;
        return refuse(error, h, "says that the elements are '%s'; codes of a block format are of the type |u1", descr);
    }
    if (known && h->codes != NULL) {
        if (8 * array->size < (size_t)h->codes->bits ||
            (is_number(array) && array->kind == 'f' && 8 * array->size > (size_t)h->codes->bits))
            return refuse_codes(array, h, descr, error);
        array->is_signed = array->kind == 'i';
        array->kind = 'c';
        return ULP_OK;
    }
    if (known && (is_number(array) || (h->wanted == NPY_ANY && (array->kind == 'u' || array->kind == 'b'))))
        return ULP_OK;
    if (known && array->kind != 'b')
        return refuse(error, h,
                      "says that the elements are '%s', which may be codes or integers without a sign: name their "
                      "format, as in --from npy:e4m3 or --a-format e4m3",
                      descr);
    return refuse(
        error, h,
        "says that the elements are '%s'; known: floats <f2 <f4 <f8, integers |i1 <i2 <i4 <i8, the same with >, "
        "and codes of 1, 2, 4 or 8 bytes whose format is named",
        descr);
}

static ulp_status read_order(npy_array *array, header *h, ulp_error *error) {
    next(h);
    array->is_fortran = strncmp(h->at, "True", 4) == 0;
    if (!array->is_fortran && strncmp(h->at, "False", 5) != 0) return refuse_form(h, "True or False", error);
    h->at += array->is_fortran ? 4 : 5;
    return ULP_OK;
}

static ulp_status read_dimension(npy_array *array, header *h, ulp_error *error) {
    uint64_t n = 0;
    const char *const first = h->at;
    for (; *h->at >= '0' && *h->at <= '9'; h->at++) {
        const uint64_t digit = (uint64_t)(*h->at - '0');
        if (n > (INT64_MAX - digit) / 10) {
            h->at = first;
            return refuse_form(h, "a length below 2^63", error);
        }
        n = 10 * n + digit;
    }
    if (h->at == first) return refuse_form(h, "a length, a whole number", error);
    if (*h->at == 'L') h->at++; /* Python 2 */
    if (array->dims == NPY_DIMENSIONS) return refuse(error, h, "has more than %d dimensions", NPY_DIMENSIONS);
    array->shape[array->dims++] = n;
    return ULP_OK;
}

static ulp_status read_shape(npy_array *array, header *h, ulp_error *error) {
    ULP_TRY(take(h, '(', error));
    for (size_t commas = 0; next(h) != ')'; commas++) {
        ULP_TRY(read_dimension(array, h, error));
        if (next(h) == ')' && commas > 0) break;
        ULP_TRY(take(h, ',', error)); /* (3) is no tuple in Python */
    }
    return take(h, ')', error);
}

static ulp_status read_dictionary(npy_array *array, header *h, ulp_error *error) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    static ulp_status (*const read_value[])(npy_array *, header *, ulp_error *) = {read_descr, read_order, read_shape};
    unsigned seen = 0;
    ULP_TRY(take(h, '{', error));
    while (next(h) != '}') {
        char key[32];
        size_t k = 0;
        ULP_TRY(read_quoted(key, sizeof key, h, "a quoted key", error));
        while (k < 3 && strcmp(key, keys[k]) != 0) k++;
        if (k == 3 || seen >> k & 1)
            return refuse(error, h, "has %s '%s'; it needs descr, fortran_order and shape, each once",
                          k == 3 ? "the unknown key" : "twice the key", key);
        ULP_TRY(take(h, ':', error));
        ULP_TRY(read_value[k](array, h, error));
        seen |= 1u << k;
        if (next(h) == '}') break;
        ULP_TRY(take(h, ',', error));
    }
    ULP_TRY(take(h, '}', error));
    if (next(h) != '\0') return refuse_form(h, "its end", error);
    for (size_t k = 0; k < 3; k++)
        if ((seen >> k & 1) == 0) return refuse(error, h, "lacks '%s'", keys[k]);
    return ULP_OK;
}

/* ---- the array ---- */

static ulp_status count_elements(npy_array *array, const header *h, ulp_error *error) {
    array->count = 1;
    for (size_t i = 0; i < array->dims; i++)
        if (array->shape[i] == 0) array->count = 0;
    for (size_t i = 0; i < array->dims && array->count > 0; i++) {
        if (array->shape[i] > INT64_MAX / array->size / array->count)
            return refuse(error, h, "has a shape of 2^63 bytes or more");
        array->count *= array->shape[i];
    }
    return ULP_OK;
}

/* A source of known size has to hold the array and nothing else. */
static ulp_status check_size(const npy_array *array, const header *h, ulp_error *error) {
    const file_source *s = h->source;
    if (s->size == UINT64_MAX) return ULP_OK;
    const uint64_t holds = s->size > s->given ? s->size - s->given : 0, wants = array->size * array->count;
    if (holds == wants) return ULP_OK;
    return refuse(error, h, "announces %llu bytes of elements, and the file holds %llu", (unsigned long long)wants,
                  (unsigned long long)holds);
}

ulp_status npy_read_header(npy_array *array, file_source *source, npy_wanted wanted, const ulp_format *codes,
                           ulp_error *error) {
    static header h;
    h.source = source;
    h.wanted = wanted;
    h.codes = codes;
    h.at = h.text;
    memset(array, 0, sizeof *array);
    ULP_TRY(read_text(&h, error));
    ULP_TRY(read_dictionary(array, &h, error));
    ULP_TRY(count_elements(array, &h, error));
    return check_size(array, &h, error);
}

void npy_write_header(FILE *file, const npy_array *array) {
    ulp_text text = {0};
    ulp_text_print(&text, "{'descr': '%c%c%zu', 'fortran_order': %s, 'shape': (", array->size > 1 ? '<' : '|',
                   array->kind, array->size, array->is_fortran ? "True" : "False");
    for (size_t i = 0; i < array->dims; i++)
        ulp_text_print(&text, "%s%llu%s", i > 0 ? " " : "", (unsigned long long)array->shape[i],
                       array->dims == 1 || i + 1 < array->dims ? "," : "");
    ulp_text_print(&text, "), }");
    const size_t all = (10 + text.length + 1 + 63) / 64 * 64, bytes = (all < 128 ? 128 : all) - 10;
    fwrite("\x93NUMPY\x01", 1, 8, file); /* and the minor version, 0 */
    putc((int)(bytes & 255), file);
    putc((int)(bytes >> 8), file);
    fprintf(file, "%-*s\n", (int)bytes - 1, ulp_text_of(&text));
    ulp_text_free(&text);
}
