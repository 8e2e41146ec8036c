/* sheet.c - printing tables with columns as wide as their widest cell; see sheet.h. */
#include "sheet.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/harness/cli/message.h"

struct ulp_sheet {
    char *title;
    size_t columns, count, room;
    char **cells; /* (count) row by row; the first row is the head */
};

static void add(ulp_sheet *sheet, char *cell) {
    sheet->cells = ulp_room_for(sheet->cells, sheet->count, &sheet->room, sizeof *sheet->cells);
    sheet->cells[sheet->count++] = cell;
}

/* Add a cell for each field of a list with commas. */
static void add_fields(ulp_sheet *sheet, const char *list) {
    for (size_t left = ulp_count_fields(list, ','); left > 0; left--) {
        ulp_text cell = {0};
        const size_t length = strcspn(list, ",");
        ulp_text_add(&cell, list, length);
        add(sheet, cell.data);
        list += length + 1;
    }
}

ulp_sheet *ulp_sheet_new(const char *title, const char *columns) {
    ulp_sheet *sheet = ulp_grow(NULL, sizeof *sheet);
    *sheet = (ulp_sheet){.title = ulp_copy_text(title), .columns = ulp_count_fields(columns, ',')};
    add_fields(sheet, columns);
    return sheet;
}

void ulp_sheet_put(ulp_sheet *sheet, const char *cell, ...) {
    ulp_text text = {0};
    va_list arguments;
    va_start(arguments, cell);
    ulp_text_print_list(&text, cell, arguments);
    va_end(arguments);
    add(sheet, text.data ? text.data : ulp_copy_text(""));
}

void ulp_sheet_put_row(ulp_sheet *sheet, const char *cells, ...) {
    ulp_text text = {0};
    va_list arguments;
    va_start(arguments, cells);
    ulp_text_print_list(&text, cells, arguments);
    va_end(arguments);
    add_fields(sheet, ulp_text_of(&text));
    ulp_text_free(&text);
}

/* Whether a column holds numbers only; it is then aligned on the right. */
static int is_numeric(const ulp_sheet *sheet, size_t column) {
    for (size_t i = sheet->columns + column; i < sheet->count; i += sheet->columns) {
        char *end;
        const char *cell = sheet->cells[i];
        strtod(cell, &end);
        if (end == cell ? *cell && strcmp(cell, "-") != 0 : *end && strcmp(end, " %") != 0) return 0;
    }
    return 1;
}

/* The width in columns of the terminal: the number of UTF-8 characters. */
static int width_of(const char *cell) {
    int width = 0;
    for (; *cell; cell++) width += ((unsigned char)*cell & 0xc0) != 0x80;
    return width;
}

static int column_width(const ulp_sheet *sheet, size_t column) {
    int width = 0;
    for (size_t i = column; i < sheet->count; i += sheet->columns)
        if (width_of(sheet->cells[i]) > width) width = width_of(sheet->cells[i]);
    return width;
}

static void print_cell(const ulp_sheet *sheet, FILE *file, size_t row, size_t column, int last) {
    const char *cell = sheet->cells[row * sheet->columns + column];
    const int pad = column_width(sheet, column) - width_of(cell);
    if (is_numeric(sheet, column)) fprintf(file, "%*s%s", pad, "", cell);
    else fprintf(file, "%s%*s", cell, last ? 0 : pad, "");
}

/* Print column 0 and the columns from `first` on that fit; returns the first column that did not fit. */
static size_t print_block(const ulp_sheet *sheet, FILE *file, size_t first, int columns) {
    size_t end = first;
    int width = first > 0 ? column_width(sheet, 0) : 0;
    do width += column_width(sheet, end) + (end > 0 ? 2 : 0);
    while (++end < sheet->columns && (!columns || width + 2 + column_width(sheet, end) <= columns));
    for (size_t row = 0; row < (sheet->count + sheet->columns - 1) / sheet->columns; row++) {
        if (first > 0) print_cell(sheet, file, row, 0, 0);
        for (size_t c = first; c < end && row * sheet->columns + c < sheet->count; c++) {
            if (c > 0) fprintf(file, "  ");
            print_cell(sheet, file, row, c, c + 1 == end);
        }
        fprintf(file, "\n");
    }
    return end;
}

void ulp_sheet_print(ulp_sheet *sheet, FILE *file) {
    if (file) {
        const int columns = isatty(fileno(file)) ? ulp_columns_of(file) : 0;
        ulp_text title = {0};
        ulp_text_wrap(&title, sheet->title, 0, 0, columns ? columns : 1 << 20);
        fprintf(file, "\n%s\n", ulp_text_of(&title));
        ulp_text_free(&title);
        for (size_t at = 0; at < sheet->columns;) {
            if (at > 0) fprintf(file, "\n");
            at = print_block(sheet, file, at, columns);
        }
    }
    for (size_t i = 0; i < sheet->count; i++) free(sheet->cells[i]);
    free(sheet->cells);
    free(sheet->title);
    free(sheet);
}
