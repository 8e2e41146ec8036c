/* report.c - what people read at the end: tables and claims. */
#include "experiments/harness/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ulp_colour_on(FILE *file) {
    const char *off = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (!off || !*off) && terminal && strcmp(terminal, "dumb") != 0 && isatty(fileno(file));
}

FILE *ulp_report_file(const ulp_run *run) { return run->out && strcmp(run->out, "-") == 0 ? stderr : stdout; }

struct ulp_table {
    char *title;
    size_t columns, count, room;
    char **cells; /* the head first */
};

static void table_add(ulp_table *table, char *cell) {
    table->cells = ulp_room_for(table->cells, table->count, &table->room, sizeof *table->cells);
    table->cells[table->count++] = cell;
}

ulp_table *ulp_table_new(const char *title, const char *columns) {
    ulp_table *table = ulp_grow(NULL, sizeof *table);
    *table = (ulp_table){.title = ulp_copy_text(title), .columns = ulp_count_fields(columns, ',')};
    for (size_t i = 0; i < table->columns; i++) {
        ulp_text cell = {0};
        size_t length = strcspn(columns, ",");
        ulp_text_add(&cell, columns, length);
        table_add(table, cell.data);
        columns += length + 1;
    }
    return table;
}

void ulp_table_put(ulp_table *table, const char *cell, ...) {
    ulp_text text = {0};
    va_list arguments;
    va_start(arguments, cell);
    ulp_text_print_list(&text, cell, arguments);
    va_end(arguments);
    table_add(table, text.data ? text.data : ulp_copy_text(""));
}

/* A column of numbers stands on the right. */
static int is_numeric(const ulp_table *table, size_t column) {
    for (size_t i = table->columns + column; i < table->count; i += table->columns) {
        char *end;
        const char *cell = table->cells[i];
        strtod(cell, &end);
        if (end == cell ? *cell && strcmp(cell, "-") != 0 : *end && strcmp(end, " %") != 0) return 0;
    }
    return 1;
}

static void print_rows(const ulp_table *table, FILE *file) {
    for (size_t i = 0; i < table->count; i++) {
        size_t column = i % table->columns;
        int width = 0;
        for (size_t j = column; j < table->count; j += table->columns)
            if ((int)strlen(table->cells[j]) > width) width = (int)strlen(table->cells[j]);
        int last = column + 1 == table->columns || i + 1 == table->count;
        if (is_numeric(table, column)) fprintf(file, "%s%*s", column ? "  " : "", width, table->cells[i]);
        else fprintf(file, "%s%-*s", column ? "  " : "", last ? 0 : width, table->cells[i]);
        if (last) fprintf(file, "\n");
    }
}

void ulp_table_print(ulp_table *table, const ulp_run *run) {
    FILE *file = ulp_report_file(run);
    if (!ulp_option_flag(run, "quiet")) {
        fprintf(file, "\n%s\n", table->title);
        print_rows(table, file);
    }
    for (size_t i = 0; i < table->count; i++) free(table->cells[i]);
    free(table->cells);
    free(table->title);
    free(table);
}

static void add_claim(ulp_run *run, ulp_verdict verdict, const char *text, const char *measured, va_list arguments) {
    ulp_text numbers = {0};
    ulp_text_print_list(&numbers, measured, arguments);
    run->claims = ulp_room_for(run->claims, run->claim_count, &run->claim_room, sizeof *run->claims);
    run->claims[run->claim_count++] =
        (ulp_claim_entry){verdict, ulp_copy_text(text), numbers.data ? numbers.data : ulp_copy_text("")};
}

void ulp_claim(ulp_run *run, int pass, const char *text, const char *measured, ...) {
    va_list arguments;
    va_start(arguments, measured);
    add_claim(run, pass ? ULP_PASS : ULP_FAIL, text, measured, arguments);
    va_end(arguments);
}

void ulp_claim_skip(ulp_run *run, const char *text, const char *why, ...) {
    va_list arguments;
    va_start(arguments, why);
    add_claim(run, ULP_SKIP, text, why, arguments);
    va_end(arguments);
}

void ulp_beside(ulp_run *run, const char *what, const char *source, const char *published, const char *measured, ...) {
    ulp_text ours = {0};
    va_list arguments;
    va_start(arguments, measured);
    ulp_text_print_list(&ours, measured, arguments);
    va_end(arguments);
    run->besides = ulp_room_for(run->besides, run->beside_count, &run->beside_room, sizeof *run->besides);
    run->besides[run->beside_count++] =
        (ulp_beside_entry){ulp_copy_text(what), ulp_copy_text(source), ulp_copy_text(published),
                           ours.data ? ours.data : ulp_copy_text("")};
}

void ulp_besides_print(const ulp_run *run) {
    if (run->beside_count == 0) return;
    ulp_table *table = ulp_table_new("beside the literature", "quantity,published,measured,source");
    for (size_t i = 0; i < run->beside_count; i++) {
        const ulp_beside_entry *b = &run->besides[i];
        ulp_table_put(table, "%s", b->what);
        ulp_table_put(table, "%s", b->published);
        ulp_table_put(table, "%s", b->measured);
        ulp_table_put(table, "%s", b->source);
    }
    ulp_table_print(table, run);
}

int ulp_claims_print(const ulp_run *run) {
    static const char *const words[] = {"FAIL", "PASS", "SKIP"}, *const colours[] = {"\033[1;31m", "\033[32m",
                                                                                     "\033[33m"};
    FILE *file = ulp_report_file(run);
    int quiet = ulp_option_flag(run, "quiet"), colour = ulp_colour_on(file), count[3] = {0, 0, 0};
    if (!quiet && run->claim_count) fprintf(file, "\n");
    for (size_t i = 0; i < run->claim_count; i++) {
        const ulp_claim_entry *c = &run->claims[i];
        count[c->verdict]++;
        if (quiet && c->verdict != ULP_FAIL) continue;
        fprintf(file, "%s%s%s %s (%s)\n", colour ? colours[c->verdict] : "", words[c->verdict], colour ? "\033[0m" : "",
                c->text, c->measured);
    }
    if (!quiet && run->claim_count)
        fprintf(file, "%s: %d claims passed, %d failed, %d skipped\n", run->experiment->name, count[ULP_PASS],
                count[ULP_FAIL], count[ULP_SKIP]);
    fflush(file);
    return count[ULP_FAIL];
}
