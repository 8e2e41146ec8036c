/* table.c - writing rows as lines of a CSV, and reading them back; see table.h. */
#include "table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/exact.h"

#define NEVER_IN_TEXT ",\"\r\n#" /* characters that no cell of text has */

static const uint64_t no_number_bits = 0x7ff8000000756c70u; /* a quiet NaN with "ulp" in its payload */

double ulp_no_number(void) { return ulp_from_bits64(no_number_bits); }

int ulp_is_no_number(double x) { return ulp_bits64(x) == no_number_bits; }

/* End the program: the mistake is in the code of an experiment, not in its input. */
static _Noreturn void stop_for_bug(const ulp_rows *rows, const char *what, const char *which) {
    fprintf(stderr, "internal error at point '%s': %s: %s\n", rows->label ? rows->label : "", what, which);
    abort();
}

static void *cell_of(void *row, const ulp_column *c) { return (char *)row + c->at; }

static void clear_cell(void *cell, ulp_cell_type type) {
    switch (type) {
    case ULP_CELL_TEXT: *(const char **)cell = NULL; break;
    case ULP_CELL_WORD: *(int *)cell = -1; break;
    case ULP_CELL_INTEGER: *(int64_t *)cell = ULP_NO_INTEGER; break;
    case ULP_CELL_NUMBER: *(double *)cell = ULP_NO_NUMBER; break;
    case ULP_CELL_CODE: *(ulp_code *)cell = (ulp_code){NULL, 0}; break;
    }
}

static void clear_row(const ulp_column *columns, void *row) {
    for (const ulp_column *c = columns; c->name; c++) clear_cell(cell_of(row, c), c->type);
}

void ulp_row_clear(const ulp_rows *rows, void *row) { clear_row(rows->columns, row); }

/* ---- writing ---- */

static void put_text(ulp_rows *rows, const char *text) {
    if (!text) return;
    if (strpbrk(text, NEVER_IN_TEXT)) stop_for_bug(rows, "a cell with a comma, quote, # or line break", text);
    ulp_text_add(&rows->text, text, strlen(text));
}

static void put_word(ulp_rows *rows, const ulp_column *c, int place) {
    const char *at = c->words;
    if (place < 0) return;
    for (int i = 0; at && i < place; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    if (!at || !*at) stop_for_bug(rows, "a word that the column does not have", c->name);
    ulp_text_add(&rows->text, at, strcspn(at, " "));
}

static void put_number(ulp_rows *rows, double value) {
    if (ulp_is_no_number(value)) return;
    if (isnan(value)) ulp_text_add(&rows->text, "nan", 3); /* printf may print a sign, which has no meaning */
    else ulp_text_print(&rows->text, "%.17g", value);
}

static void put_code(ulp_rows *rows, const ulp_code *code) {
    uint64_t bits = 0;
    if (code->format && ulp_encode(&bits, code->value, code->format) == ULP_OK)
        ulp_text_print(&rows->text, "%0*llx", (code->format->bits + 3) / 4, (unsigned long long)bits);
}

void ulp_row_put(ulp_rows *rows, const void *row) {
    for (const ulp_column *c = rows->columns; c->name; c++) {
        const void *cell = (const char *)row + c->at;
        if (c != rows->columns) ulp_text_add(&rows->text, ",", 1);
        switch (c->type) {
        case ULP_CELL_TEXT: put_text(rows, *(const char *const *)cell); break;
        case ULP_CELL_WORD: put_word(rows, c, *(const int *)cell); break;
        case ULP_CELL_INTEGER:
            if (*(const int64_t *)cell != ULP_NO_INTEGER)
                ulp_text_print(&rows->text, "%lld", (long long)*(const int64_t *)cell);
            break;
        case ULP_CELL_NUMBER: put_number(rows, *(const double *)cell); break;
        case ULP_CELL_CODE: put_code(rows, cell); break;
        }
    }
    ulp_text_add(&rows->text, "\n", 1);
    rows->count++;
}

char *ulp_columns_text(const ulp_column *columns) {
    ulp_text text = {0};
    for (const ulp_column *c = columns; c->name; c++) ulp_text_print(&text, "%s%s", c != columns ? "," : "", c->name);
    return text.data;
}

/* ---- reading ---- */

ulp_table ulp_table_of(const ulp_column *columns, size_t row_size) {
    return (ulp_table){.columns = columns, .row_size = row_size};
}

static int word_of(const char *words, const char *cell) {
    const size_t length = strlen(cell);
    int i = 0;
    for (const char *at = words; at && *at; i++) {
        const size_t width = strcspn(at, " ");
        if (width == length && memcmp(at, cell, length) == 0) return i;
        at += width + (at[width] == ' ');
    }
    return -1;
}

/* Read a cell; returns 0 for a text that no cell of the column has. */
static int read_cell(void *to, const ulp_column *c, const char *cell) {
    char *end = NULL;
    clear_cell(to, c->type);
    if (!*cell || c->type == ULP_CELL_CODE) return 1;
    switch (c->type) {
    case ULP_CELL_TEXT: *(const char **)to = cell; return !strpbrk(cell, NEVER_IN_TEXT);
    case ULP_CELL_WORD: *(int *)to = word_of(c->words, cell); return *(int *)to >= 0;
    case ULP_CELL_INTEGER:
        errno = 0;
        *(int64_t *)to = strtoll(cell, &end, 10);
        return !*end && errno == 0 && *(int64_t *)to != ULP_NO_INTEGER;
    case ULP_CELL_NUMBER: *(double *)to = strtod(cell, &end); return !*end && !ulp_is_no_number(*(double *)to);
    case ULP_CELL_CODE: break;
    }
    return 1;
}

/* A cell of any type. */
typedef union any_cell {
    const char *text;
    int word;
    int64_t integer;
    double number;
    ulp_code code;
} any_cell;

/* Read one line into a row, or, if row is NULL, only check the line; the line is cut into cells in place. */
static int read_row(const ulp_column *columns, void *row, char *line) {
    const ulp_column *c = columns;
    any_cell unused;
    for (char *next; c->name && line; c++, line = next) {
        next = strchr(line, ',');
        if (next) *next++ = '\0';
        if (!read_cell(row ? cell_of(row, c) : &unused, c, line)) return 0;
    }
    return !c->name && !line;
}

/* Cut a text at its first line break. Returns the next line. */
static char *cut_line(char *text) {
    char *end = text + strcspn(text, "\n");
    if (*end) *end++ = '\0';
    return end;
}

int ulp_rows_fit(const ulp_column *columns, const char *lines, size_t length) {
    if (length && memchr(lines, '\0', length)) return 0;
    char *text = ulp_grow(NULL, length + 1);
    int good = 1;
    if (length) memcpy(text, lines, length);
    text[length] = '\0';
    for (char *line = text, *next; *line && good; line = next) {
        next = cut_line(line);
        good = read_row(columns, NULL, line);
    }
    free(text);
    return good;
}

int ulp_table_add(ulp_table *t, const char *lines, size_t length, const void *point) {
    char *text = ulp_grow(NULL, length + 1);
    memcpy(text, lines, length);
    text[length] = '\0';
    t->texts = ulp_room_for(t->texts, t->text_count, &t->text_room, sizeof *t->texts);
    t->texts[t->text_count++] = text;
    for (char *line = text, *next; *line; line = next) {
        next = cut_line(line);
        if (t->count == t->room) {
            t->room = t->room ? 2 * t->room : 64;
            t->rows = ulp_grow(t->rows, t->room * t->row_size);
            t->points = ulp_grow(t->points, t->room * sizeof *t->points);
        }
        if (!read_row(t->columns, (char *)t->rows + t->count * t->row_size, line)) return 0;
        t->points[t->count++] = point;
    }
    return 1;
}

void ulp_table_free(ulp_table *t) {
    for (size_t i = 0; i < t->text_count; i++) free(t->texts[i]);
    free(t->texts);
    free(t->rows);
    free(t->points);
    *t = (ulp_table){.columns = t->columns, .row_size = t->row_size};
}

const void *ulp_table_find(const ulp_table *t, size_t *index, ulp_row_match matches, const void *key) {
    for (; *index < t->count; ++*index) {
        const void *row = (const char *)t->rows + *index * t->row_size;
        if (matches(row, t->points[*index], key)) return row;
    }
    return NULL;
}
