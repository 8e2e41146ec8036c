/* table.h - tables with typed columns: a row is a struct, and the CSV is the form of a table in a file.
 *
 *     typedef struct row {
 *         const char *format;
 *         int what;
 *         int64_t step;
 *         double value;
 *     } row;
 *     static const ulp_column columns[] = {
 *         ULP_COLUMNS(row, format), ULP_WORDS(row, what, "path spread"), ULP_COLUMNS(row, step, value), {0}};
 *
 *     row r;
 *     ulp_row_clear(rows, &r);
 *     r.format = format->name;
 *     r.what = PATH;
 *     ulp_row_put(rows, &r);
 *
 * Claims read the rows back as the same structs, whether this run computed them, or a stopped run, or several shards.
 */
#ifndef ULP_TABLE_TABLE_H
#define ULP_TABLE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/harness/cli/text.h"
#include "formats/format.h"

/* A value whose cell is its code in hex with ceil(bits / 4) digits. The cell is empty if `format` is NULL or has no
 * code for the value. Claims cannot read such a cell back; they read the column of the number. */
typedef struct ulp_code {
    const ulp_format *format;
    double value;
} ulp_code;

typedef enum ulp_cell_type {
    ULP_CELL_TEXT,    /* const char *, no comma, quote, # or line break; NULL is an empty cell */
    ULP_CELL_WORD,    /* int: the index of a word in `words`; -1 is an empty cell */
    ULP_CELL_INTEGER, /* int64_t; ULP_NO_INTEGER is an empty cell */
    ULP_CELL_NUMBER,  /* double, %.17g, or inf, -inf, nan; ULP_NO_NUMBER is an empty cell */
    ULP_CELL_CODE     /* ulp_code */
} ulp_cell_type;

/* A column; a table of them ends with {0}. */
typedef struct ulp_column {
    const char *name;
    ulp_cell_type type;
    size_t at, end; /* offsets in the row struct: the field's first byte, and the byte after the field */
    const char *words;
} ulp_column;

#define ULP_CELL_OF(row, field)                                                                                        \
    _Generic(((row *)0)->field,                                                                                        \
             const char *: ULP_CELL_TEXT,                                                                              \
             int: ULP_CELL_WORD,                                                                                       \
             int64_t: ULP_CELL_INTEGER,                                                                                \
             double: ULP_CELL_NUMBER,                                                                                  \
             ulp_code: ULP_CELL_CODE)
#define ULP_WORDS_AS(row, field, name_, words_)                                                                        \
    {                                                                                                                  \
        .name = name_, .type = ULP_CELL_OF(row, field), .at = offsetof(row, field),                                    \
        .end = offsetof(row, field) + sizeof(((row *)0)->field), .words = words_                                       \
    }
#define ULP_WORDS(row, field, words_) ULP_WORDS_AS(row, field, #field, words_)
#define ULP_COLUMN_AS(row, field, name_) ULP_WORDS_AS(row, field, name_, NULL)
/* One to eight columns, each with the name of its field: a field of the row struct, or of its member `part`. */
#define ULP_COLUMNS(row, ...) ULP_COLUMNS_IN(row, , __VA_ARGS__)
#define ULP_COLUMNS_OF(row, part, ...) ULP_COLUMNS_IN(row, part., __VA_ARGS__)
#define ULP_COLUMNS_IN(row, in, ...)                                                                                   \
    ULP_NINTH(__VA_ARGS__, ULP_COLUMNS_8, ULP_COLUMNS_7, ULP_COLUMNS_6, ULP_COLUMNS_5, ULP_COLUMNS_4, ULP_COLUMNS_3,   \
              ULP_COLUMNS_2, ULP_COLUMNS_1, )                                                                          \
    (row, in, __VA_ARGS__)
#define ULP_NINTH(a, b, c, d, e, f, g, h, ninth, ...) ninth
#define ULP_COLUMNS_1(row, in, field) ULP_COLUMN_AS(row, in field, #field)
#define ULP_COLUMNS_2(row, in, field, ...) ULP_COLUMNS_1(row, in, field), ULP_COLUMNS_1(row, in, __VA_ARGS__)
#define ULP_COLUMNS_3(row, in, field, ...) ULP_COLUMNS_1(row, in, field), ULP_COLUMNS_2(row, in, __VA_ARGS__)
#define ULP_COLUMNS_4(row, in, field, ...) ULP_COLUMNS_1(row, in, field), ULP_COLUMNS_3(row, in, __VA_ARGS__)
#define ULP_COLUMNS_5(row, in, field, ...) ULP_COLUMNS_1(row, in, field), ULP_COLUMNS_4(row, in, __VA_ARGS__)
#define ULP_COLUMNS_6(row, in, field, ...) ULP_COLUMNS_1(row, in, field), ULP_COLUMNS_5(row, in, __VA_ARGS__)
#define ULP_COLUMNS_7(row, in, field, ...) ULP_COLUMNS_1(row, in, field), ULP_COLUMNS_6(row, in, __VA_ARGS__)
#define ULP_COLUMNS_8(row, in, field, ...) ULP_COLUMNS_1(row, in, field), ULP_COLUMNS_7(row, in, __VA_ARGS__)

#define ULP_NO_INTEGER INT64_MIN
#define ULP_NO_NUMBER ulp_no_number()
double ulp_no_number(void);     /* a NaN with bits that no operation gives */
int ulp_is_no_number(double x); /* 0 for every other NaN */

/* The rows of one point as lines of the CSV. */
typedef struct ulp_rows {
    const ulp_column *columns;
    ulp_text text;
    size_t count;
    const char *label; /* label of the point, for messages */
} ulp_rows;

/* Make every cell of a row empty. */
void ulp_row_clear(const ulp_rows *rows, void *row);
void ulp_row_put(ulp_rows *rows, const void *row);

/* The header row of the CSV. The caller frees it. */
char *ulp_columns_text(const ulp_column *columns);

/* ---- reading ---- */

typedef struct ulp_table {
    const ulp_column *columns;
    void *rows; /* (count) of the row struct; texts point into `texts` */
    size_t row_size, count, room;
    const void **points; /* (count) the point of each row */
    char **texts;        /* (text_count) */
    size_t text_count, text_room;
} ulp_table;

/* An empty table. */
ulp_table ulp_table_of(const ulp_column *columns, size_t row_size);

/* Whether the lines are rows of these columns. */
int ulp_rows_fit(const ulp_column *columns, const char *lines, size_t length);

/* Append the lines of a point; returns 0 if a line does not fit the columns. */
int ulp_table_add(ulp_table *table, const char *lines, size_t length, const void *point);
void ulp_table_free(ulp_table *table);

/* The first row from *index on that `matches` the key, or NULL; *index gets the index of the row. */
typedef int (*ulp_row_match)(const void *row, const void *point, const void *key);
const void *ulp_table_find(const ulp_table *table, size_t *index, ulp_row_match matches, const void *key);

#endif
