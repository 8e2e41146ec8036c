/* rows.c - the rows of a point while they are written, and of the whole grid while they are read. */
#include "experiments/harness/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/claims/spread.h"

/* A mistake in an experiment's own text, not in its input: there is nothing to continue with. */
static void stop_for_bug(const ulp_run *run, const char *what, const char *which) {
    fprintf(stderr, "%s: internal error: %s: %s\n", run->experiment->name, what, which);
    abort();
}

size_t ulp_count_fields(const char *list, char separator) {
    size_t count = 1;
    for (; *list; list++) count += *list == separator;
    return count;
}

static void put_cell(ulp_rows *rows, const char *cell, size_t length) {
    if (rows->cell == rows->run->column_count) stop_for_bug(rows->run, "more cells than columns", rows->point->label);
    if (rows->cell++) ulp_text_add(&rows->text, ",", 1);
    ulp_text_add(&rows->text, cell, length);
}

void ulp_put_text(ulp_rows *rows, const char *text) {
    if (strpbrk(text, ",\"\r\n#")) stop_for_bug(rows->run, "a cell with a comma, quote, # or line break", text);
    put_cell(rows, text, strlen(text));
}

void ulp_put_number(ulp_rows *rows, double value) {
    char cell[40];
    if (isnan(value)) snprintf(cell, sizeof cell, "nan"); /* printf may show a sign that means nothing */
    else snprintf(cell, sizeof cell, "%.17g", value);
    put_cell(rows, cell, strlen(cell));
}

void ulp_put_integer(ulp_rows *rows, int64_t value) {
    char cell[24];
    snprintf(cell, sizeof cell, "%lld", (long long)value);
    put_cell(rows, cell, strlen(cell));
}

void ulp_put_code(ulp_rows *rows, double value, const ulp_format *f) {
    char cell[24] = "";
    uint64_t code = 0;
    if (ulp_encode(&code, value, f) == ULP_OK)
        snprintf(cell, sizeof cell, "%0*llx", (f->bits + 3) / 4, (unsigned long long)code);
    put_cell(rows, cell, strlen(cell));
}

void ulp_put_none(ulp_rows *rows) { put_cell(rows, "", 0); }

void ulp_put_nones(ulp_rows *rows, int cells) {
    for (int i = 0; i < cells; i++) ulp_put_none(rows);
}

void ulp_row_end(ulp_rows *rows) {
    if (rows->cell != rows->run->column_count) stop_for_bug(rows->run, "fewer cells than columns", rows->point->label);
    ulp_text_add(&rows->text, "\n", 1);
    rows->cell = 0;
    rows->count++;
}

void ulp_rows_index(ulp_run *run) {
    size_t bytes = 0, rows = 0, cell = 0;
    for (size_t k = 0; k < run->point_count; k++) bytes += run->rows[k].text.length, rows += run->rows[k].count;
    run->cells = ulp_grow(run->cells, bytes + 1);
    run->index = ulp_grow(run->index, rows * run->column_count * sizeof *run->index);
    run->row_count = (long)rows;
    char *to = run->cells;
    for (size_t k = 0; k < run->point_count; k++) {
        const ulp_text *text = &run->rows[k].text;
        int start = 1;
        for (size_t i = 0; i < text->length; i++, to++) {
            if (start) run->index[cell++] = to;
            start = text->data[i] == ',' || text->data[i] == '\n';
            *to = text->data[i];
            if (start) *to = '\0';
        }
    }
}

static size_t column_of(const ulp_run *run, const char *name) {
    const char *at = run->experiment->columns;
    size_t length = strlen(name);
    for (size_t i = 0; i < run->column_count; i++) {
        size_t width = strcspn(at, ",");
        if (width == length && memcmp(at, name, length) == 0) return i;
        at += width + 1;
    }
    stop_for_bug(run, "no such column", name);
    return 0;
}

long ulp_row_count(const ulp_run *run) { return run->row_count; }

const char *ulp_row_text(const ulp_run *run, long row, const char *column) {
    if (row < 0 || row >= run->row_count) stop_for_bug(run, "no such row, column", column);
    return run->index[(size_t)row * run->column_count + column_of(run, column)];
}

double ulp_row_number(const ulp_run *run, long row, const char *column) {
    const char *text = ulp_row_text(run, row, column);
    return *text ? strtod(text, NULL) : (double)NAN;
}

int ulp_row_is(const ulp_run *run, long row, const char *column, const char *text) {
    return strcmp(ulp_row_text(run, row, column), text) == 0;
}

enum { CONDITIONS = 16 };

/* Pairs of column and text. */
typedef struct conditions {
    size_t column[CONDITIONS], count;
    const char *wanted[CONDITIONS];
} conditions;

static conditions read_conditions(const ulp_run *run, va_list arguments) {
    conditions c = {.count = 0};
    const char *name;
    while (c.count < CONDITIONS && (name = va_arg(arguments, const char *)) != NULL) {
        c.column[c.count] = column_of(run, name);
        c.wanted[c.count++] = va_arg(arguments, const char *);
    }
    return c;
}

static long find_row(const ulp_run *run, long from, const conditions *c) {
    for (long row = from < 0 ? 0 : from; row < run->row_count; row++) {
        const char **cells = run->index + (size_t)row * run->column_count;
        size_t i = 0;
        while (i < c->count && strcmp(cells[c->column[i]], c->wanted[i]) == 0) i++;
        if (i == c->count) return row;
    }
    return ULP_NO_ROW;
}

long ulp_row_find(const ulp_run *run, long from, ...) {
    va_list arguments;
    va_start(arguments, from);
    conditions c = read_conditions(run, arguments);
    va_end(arguments);
    return find_row(run, from, &c);
}

ulp_spread ulp_row_spread(const ulp_run *run, const char *column, ...) {
    ulp_spread s = {NAN, NAN, NAN, NAN, 0, 0};
    double *values = NULL, total = 0;
    size_t room = 0;
    va_list arguments;
    va_start(arguments, column);
    conditions c = read_conditions(run, arguments);
    va_end(arguments);
    for (long row = 0; (row = find_row(run, row, &c)) != ULP_NO_ROW; row++) {
        double value = ulp_row_number(run, row, column);
        s.lost += isnan(value) != 0;
        if (isnan(value)) continue;
        values = ulp_room_for(values, (size_t)s.n, &room, sizeof *values);
        values[s.n++] = value;
        total += value;
    }
    if (s.n) {
        ulp_sort_numbers(values, (size_t)s.n);
        s.least = values[0];
        s.most = values[s.n - 1];
        s.median = 0.5 * (values[(s.n - 1) / 2] + values[s.n / 2]);
        s.mean = total / s.n;
    }
    free(values);
    return s;
}
