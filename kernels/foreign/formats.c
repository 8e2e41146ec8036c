/* formats.c - formats, their values and codes, for other languages. */
#include "message.h"

#include "formats/function.h"

#include <stdlib.h>
#include <strings.h>

/* ---- words ---- */

const char *ulp_foreign_word(int list, size_t i) {
    switch (list) {
    case ULP_FOREIGN_MODES: return i < ULP_MODE_COUNT ? ulp_mode_name((ulp_mode)i) : NULL;
    case ULP_FOREIGN_POLICIES: return i < ULP_OVERFLOW_COUNT ? ulp_overflow_name((ulp_overflow)i) : NULL;
    case ULP_FOREIGN_OPERATIONS: return i < ULP_OPERATION_COUNT ? ulp_operation_name((int)i) : NULL;
    case ULP_FOREIGN_SCALE_RULES: return i < ULP_SCALE_RULE_COUNT ? ulp_scale_rule_name((ulp_scale_rule)i) : NULL;
    default: return NULL;
    }
}

/* ---- formats ---- */

const char *ulp_foreign_format_names(int of_integers) {
#define NAME(field) #field " "
    return of_integers ? ULP_FOREIGN_FORMAT_INTEGERS(NAME) : ULP_FOREIGN_FORMAT_NUMBERS(NAME);
#undef NAME
}

const char *ulp_foreign_format_text(size_t i, int which) {
    const ulp_format_row *row;
    if (ulp_format_get(i, NULL, &row) != ULP_OK) return NULL;
    return which == ULP_FOREIGN_NAME ? row->name : which == ULP_FOREIGN_ALIASES ? row->aliases : row->source;
}

const char *ulp_foreign_other_name(size_t i, int which) {
    const ulp_other_name *row = ulp_other_name_get(i);
    if (row == NULL) return NULL;
    if (which == ULP_FOREIGN_OTHER_FORMAT) return row->format != NULL ? row->format : "";
    return which == ULP_FOREIGN_OTHER_NAME ? row->name : row->where;
}

/* Keeps the sentence about a name that is no format. */
static ulp_status unknown_format(const char *name) {
    ulp_foreign_words words = {0};
    const ulp_other_name *other;
    for (size_t i = 0; (other = ulp_other_name_get(i)) != NULL; i++)
        if (other->format == NULL && strcasecmp(other->name, name) == 0)
            return ulp_foreign_fail(ULP_BAD_NAME, "no format '%.64s': %s", name, other->where);
    for (size_t i = 0; (other = ulp_other_name_get(i)) != NULL; i++)
        if (other->format != NULL) ulp_foreign_add_word(&words, other->name);
    for (size_t i = 0; ulp_foreign_format_text(i, ULP_FOREIGN_NAME) != NULL; i++) {
        ulp_foreign_add_word(&words, ulp_foreign_format_text(i, ULP_FOREIGN_NAME));
        ulp_foreign_add_word(&words, ulp_foreign_format_text(i, ULP_FOREIGN_ALIASES));
    }
    return ulp_foreign_unknown("format", name, words.text);
}

ulp_status ulp_foreign_parse(ulp_format *format, const char *name) {
    if (name == NULL) return ulp_foreign_fail(ULP_BAD_ARGUMENT, "a format needs a name");
    ULP_TRY(ulp_foreign_arithmetic());
    const ulp_status status = ulp_format_parse(format, name);
    switch (status) {
    case ULP_OK: return ULP_OK;
    case ULP_BAD_NAME: return unknown_format(name);
    case ULP_NOT_IN_RANGE:
        return ulp_foreign_fail(status, "'%.64s' is out of range: %s", name, ulp_format_limits(name));
    default:
        return ulp_foreign_fail(
            status,
            "'%.64s': only fixed point wraps around, only formats with subnormals take :nosub, :daz "
            "and :ftz, and only formats with an exponent bias take :bias=N",
            name);
    }
}

ulp_status ulp_foreign_format(ulp_format **format, const char *name) {
    ulp_format *const made = ulp_foreign_object(sizeof *made);
    if (made == NULL) return ULP_NO_MEMORY;
    const ulp_status status = ulp_foreign_parse(made, name);
    if (status != ULP_OK) free(made);
    else *format = made;
    return status;
}

const char *ulp_foreign_format_fields(const ulp_format *format, uint64_t *integers, double *numbers) {
#define INTEGER(field) *integers++ = (uint64_t)format->field;
#define NUMBER(field) *numbers++ = format->field;
    ULP_FOREIGN_FORMAT_INTEGERS(INTEGER)
    ULP_FOREIGN_FORMAT_NUMBERS(NUMBER)
#undef INTEGER
#undef NUMBER
    return format->name;
}

/* ---- values ---- */

void ulp_foreign_next(const ulp_format *format, double *y, const double *x, size_t n, int up) {
    for (size_t i = 0; i < n; i++) y[i] = (up ? ulp_next_up : ulp_next_down)(x[i], format);
}

void ulp_foreign_spacing(const ulp_format *format, double *y, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = ulp_spacing(x[i], format);
}

/* ---- codes ---- */

static uint64_t code_at(const void *codes, size_t width, size_t i) {
    switch (width) {
    case 1: return ((const uint8_t *)codes)[i];
    case 2: return ((const uint16_t *)codes)[i];
    case 4: return ((const uint32_t *)codes)[i];
    default: return ((const uint64_t *)codes)[i];
    }
}

static void put_code(void *codes, size_t width, size_t i, uint64_t code) {
    switch (width) {
    case 1: ((uint8_t *)codes)[i] = (uint8_t)code; break;
    case 2: ((uint16_t *)codes)[i] = (uint16_t)code; break;
    case 4: ((uint32_t *)codes)[i] = (uint32_t)code; break;
    default: ((uint64_t *)codes)[i] = code; break;
    }
}

static ulp_status check_width(const ulp_format *format, size_t width) {
    if ((width == 1 || width == 2 || width == 4 || width == 8) && 8 * width >= format->bits) return ULP_OK;
    return ulp_foreign_fail(ULP_BAD_ARGUMENT,
                            "codes of %s have %d bits and need integers of 1, 2, 4 or 8 bytes, not %zu", format->name,
                            format->bits, width);
}

ulp_status ulp_foreign_decode(const ulp_format *format, double *y, const void *codes, size_t width, size_t n) {
    ULP_TRY(check_width(format, width));
    for (size_t i = 0; i < n; i++) y[i] = ulp_decode(code_at(codes, width, i), format);
    return ULP_OK;
}

ulp_status ulp_foreign_decode_floats(const ulp_format *format, float *y, const void *codes, size_t width, size_t n) {
    const ulp_backend *processor;
    ULP_TRY(check_width(format, width));
    ULP_TRY(ulp_foreign_backend(&processor, NULL));
    return ulp_foreign_status(ulp_backend_decode(processor, y, codes, n, (unsigned)(8 * width), format), processor,
                              format->name);
}

/* The first of n elements that is no value of the format, and the status of its encoding. */
static ulp_status first_without_code(const ulp_format *format, const double *x, size_t n, size_t *at) {
    uint64_t code;
    for (*at = 0; *at < n; ++*at) {
        const ulp_status status = ulp_encode(&code, x[*at], format);
        if (status != ULP_OK) return status;
    }
    return ULP_OK;
}

ulp_status ulp_foreign_encode(const ulp_format *format, void *codes, size_t width, const void *x, int wide, size_t n,
                              size_t *at) {
    enum { PIECE = 512 };
    double values[PIECE];
    uint64_t piece[PIECE];
    ULP_TRY(check_width(format, width));
    for (size_t begin = 0; begin < n; begin += PIECE) {
        const size_t more = n - begin < PIECE ? n - begin : PIECE;
        for (size_t i = 0; i < more; i++)
            values[i] = wide ? ((const double *)x)[begin + i] : (double)((const float *)x)[begin + i];
        size_t place = 0;
        int exact = ulp_encode_array(piece, values, more, format) == more;
        for (size_t i = 0; i < more && exact; i++) {
            const double y = ulp_decode(piece[i], format);
            exact = y == values[i] || (y != y && values[i] != values[i]);
        }
        const ulp_status bad = exact ? ULP_OK : first_without_code(format, values, more, &place);
        if (bad != ULP_OK) {
            *at = begin + place;
            return ulp_foreign_fail(bad, "element %zu, %.17g, has no code in %s: %s", *at, values[place], format->name,
                                    ulp_status_text(bad));
        }
        for (size_t i = 0; i < more; i++) put_code(codes, width, begin + i, piece[i]);
    }
    return ULP_OK;
}

ulp_status ulp_foreign_ordinals(const ulp_format *format, int64_t *y, const double *x, size_t n, size_t *at) {
    for (size_t i = 0; i < n; i++) {
        *at = i;
        if (ulp_ordinal(&y[i], x[i], format) != ULP_OK)
            return ulp_foreign_fail(ULP_NO_CODE, "element %zu, %.17g, is no number of %s", i, x[i], format->name);
    }
    return ULP_OK;
}
