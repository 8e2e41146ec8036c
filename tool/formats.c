/* formats.c - ulp formats: the registered formats as a table. */
#include "tool.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void nan_text(char to[48], const ulp_format *f, int csv) {
    char first[20], last[20];
    const int digits = (f->bits + 3) / 4;
    unsigned long long top = f->bits == 64 ? ~0ull : (1ull << f->bits) - 1;
    unsigned long long magnitude = f->is_signed ? top >> 1 : top;
    switch (f->nan_codes) {
    case ULP_NAN_NONE: strcpy(to, "none"); return;
    case ULP_NAN_IEEE:
        snprintf(first, sizeof first, "%0*llx", digits, (unsigned long long)f->inf_code + 1);
        snprintf(last, sizeof last, "%0*llx", digits, magnitude);
        if (f->bits > 32 && !csv) strcpy(to, "+-above inf");
        else if (strcmp(first, last) == 0) snprintf(to, 48, "+-%s", first);
        else snprintf(to, 48, "+-%s..%s", first, last);
        return;
    case ULP_NAN_ALL_ONES: snprintf(to, 48, "%s%0*llx", f->is_signed ? "+-" : "", digits, magnitude); return;
    default: snprintf(to, 48, "%0*llx", digits, (unsigned long long)f->nan_code); return;
    }
}

/* The unit roundoff: half a unit in the last place of 1; for fixed point the absolute bound 2^-(F+1). */
static double roundoff(const ulp_format *f) { return f->is_fixed ? ulp_scale(0.5, f->qmin) : ulp_scale(1.0, -f->prec); }

/* The columns of the table: the title, the title with --csv, and the width; negative: flush left. */
static const struct column {
    const char *title, *csv;
    int width;
} columns[] = {
    {"name", "name", -12},
    {"aliases", "aliases", -19},
    {"bits", "bits", 4},
    {"p", "p", 3},
    {"bias", "bias", 5},
    {"emin", "emin", 6},
    {"emax", "emax", 5},
    {"max", "max", -22},
    {"min normal", "min_normal", -15},
    {"min positive", "min_positive", -15},
    {"u", "u", -15},
    {"inf", "inf", -4},
    {"NaN codes", "nan_codes", -20},
    {"overflow", "overflow", -8},
    {"source", "source", 0},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], CELL = 64 };

static void fill_row(char cell[COLUMNS][CELL], size_t i, int csv) {
    ulp_format f;
    const ulp_format_row *row;
    const int width = csv ? 24 : 16;
    ulp_format_get(i, &f, &row);
    const int numbers[] = {f.bits, f.prec, f.bias, f.emin, f.emax};
    const double values[] = {f.max, f.min_normal, f.min_positive, roundoff(&f)};
    snprintf(cell[0], CELL, "%s", f.name);
    snprintf(cell[1], CELL, "%s", row->aliases);
    for (int k = 0; k < 5; k++) snprintf(cell[2 + k], CELL, "%d", numbers[k]);
    for (int k = 0; k < 4; k++) tool_exact_text(cell[7 + k], values[k], width);
    snprintf(cell[11], CELL, "%s", f.has_inf ? "yes" : "no");
    nan_text(cell[12], &f, csv);
    snprintf(cell[13], CELL, "%s", ulp_overflow_name((ulp_overflow)f.overflow));
    snprintf(cell[14], CELL, "%s", row->source);
}

static int width_of(size_t c) { return columns[c].width < 0 ? -columns[c].width : columns[c].width; }

/* The width of the last column, which is not padded. */
static int source_width(void) {
    char cell[COLUMNS][CELL];
    size_t most = 0;
    for (size_t i = 0; i < ulp_format_count; i++) {
        fill_row(cell, i, 0);
        if (strlen(cell[COLUMNS - 1]) > most) most = strlen(cell[COLUMNS - 1]);
    }
    return (int)most;
}

/* The end of the columns from `first` on that fit next to the name in `room` columns of the terminal; at least one. */
static size_t block_end(size_t first, int room) {
    int used = width_of(0);
    for (size_t c = first; c < COLUMNS; c++) {
        used += 1 + (c == COLUMNS - 1 ? source_width() : width_of(c));
        if (used > room && c > first) return c;
    }
    return COLUMNS;
}

/* One line: the name and the columns from `first` to `end`; row ulp_format_count is the titles. */
static void print_line(size_t i, size_t first, size_t end) {
    char cell[COLUMNS][CELL];
    for (size_t c = 0; c < COLUMNS; c++) snprintf(cell[c], CELL, "%s", columns[c].title);
    if (i < ulp_format_count) fill_row(cell, i, 0);
    printf("%*s", columns[0].width, cell[0]);
    for (size_t c = first; c < end; c++) /* the last column of a block is padded on the left alone */
        printf(" %*s", c + 1 < end || columns[c].width > 0 ? columns[c].width : 0, cell[c]);
    printf("\n");
}

/* All columns in one block, or on a narrow terminal in several, one below the other. */
static void print_table(void) {
    const int room = isatty(STDOUT_FILENO) ? ulp_columns_of(stdout) : INT_MAX;
    for (size_t first = 1, end; first < COLUMNS; first = end) {
        end = block_end(first, room);
        if (first > 1) printf("\n");
        print_line(ulp_format_count, first, end);
        for (size_t i = 0; i < ulp_format_count; i++) print_line(i, first, end);
    }
}

static void print_csv(void) {
    char cell[COLUMNS][CELL];
    for (size_t c = 0; c < COLUMNS; c++) printf("%s%s", c ? "," : "", columns[c].csv);
    for (size_t i = 0; i < ulp_format_count; i++) {
        fill_row(cell, i, 1);
        for (size_t c = 0; c < COLUMNS; c++) printf("%s%s", c ? "," : "\n", cell[c]);
    }
    printf("\n");
}

typedef struct settings {
    int csv;
} settings;

static const ulp_option options[] = {
    ULP_OPTION(settings, csv, flag, NULL, .help = "with commas between the columns"),
    {0},
};

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    const settings *s = fields;
    (void)a, (void)error;
    if (s->csv) print_csv();
    else print_table();
    return ULP_OK;
}

const tool_command tool_formats = {
    .command = {.name = "ulp formats",
                .usage = "[--csv]",
                .summary = "the registered formats and their parameters",
                .details =
                    "One row per format: code width, precision p, bias, exponents of the least and the greatest normal "
                    "value, largest finite value, least normal and least positive value, unit roundoff u, whether it "
                    "has infinities, its NaN codes, what overflow gives unless a rule says otherwise, and the defining "
                    "source. Values are exact decimals where short, else hex floats. `ulp help formats` says which "
                    "other names are formats.\n"},
    .size = sizeof(settings),
    .groups = {{"options", options, 0}},
    .run = run};
