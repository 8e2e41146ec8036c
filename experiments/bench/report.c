/* report.c - the rows for people, as a table for each group, and for machines, as one JSON object. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

/* The Makefile defines it for this file alone. */
#ifndef ULP_COMMIT_DATE
#define ULP_COMMIT_DATE "unknown"
#endif

static const char *const units[] = {"G elements/s", "G products/s", "steps/s", "GB/s", "T operations/s"};

/* ---- the tables ---- */

static void put_spread(ulp_sheet *sheet, double median, double q1, double q3) {
    if (ulp_is_no_number(median)) {
        ulp_sheet_put(sheet, "%s", "");
        ulp_sheet_put(sheet, "%s", "");
        return;
    }
    ulp_sheet_put(sheet, "%.3g", median);
    ulp_sheet_put(sheet, "%.3g to %.3g", q1, q3);
}

static int is_met(const row *r) { return r->relation == TIME ? r->ratio <= r->goal : r->ratio >= r->goal; }

static void put_goal(ulp_sheet *sheet, const row *r) {
    if (ulp_is_no_number(r->goal)) ulp_sheet_put(sheet, "%s", "");
    else
        ulp_sheet_put(sheet, "%s %.3g: %s", r->relation == TIME ? "at most" : "at least", r->goal,
                      is_met(r) ? "met" : "missed");
}

/* A second comparison of the same work leaves the cells of the work empty. */
static int same_work(const row *a, const row *b) {
    const char *const texts[][2] = {{a->what, b->what}, {a->of, b->of}, {a->mode, b->mode}, {a->by, b->by}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i][0] ? texts[i][0] : "", texts[i][1] ? texts[i][1] : "") != 0) return 0;
    return a->threads == b->threads && a->n == b->n;
}

static void put_row(ulp_sheet *sheet, const row *r, const row *before) {
    static const char *const relations[] = {"speed", "time"};
    if (before && same_work(before, r)) ulp_sheet_put_row(sheet, ",,,,");
    else {
        const int ours = strcmp(r->by, "ulplab") == 0;
        ulp_sheet_put(sheet, "%s%s%s%s%s%s%s", r->what, r->of ? " " : "", r->of ? r->of : "", r->mode ? " " : "",
                      r->mode ? r->mode : "", ours ? "" : " by ", ours ? "" : r->by);
        ulp_sheet_put(sheet, "%lld", (long long)r->threads);
        if (r->n == ULP_NO_INTEGER) ulp_sheet_put(sheet, "%s", "");
        else ulp_sheet_put(sheet, "%lld", (long long)r->n);
        put_spread(sheet, r->rate, r->q1, r->q3);
    }
    if (r->beside) ulp_sheet_put(sheet, "%s / %s", relations[r->relation], r->beside);
    else ulp_sheet_put(sheet, "%s", "");
    put_spread(sheet, r->ratio, r->ratio_q1, r->ratio_q3);
    put_goal(sheet, r);
}

void judge(ulp_claims *c) {
    static const ulp_published published = {"mixed binary16 over binary32, times", "Micikevicius et al. 2018",
                                            "2 to 6 (operations of DeepBench on Volta)"};
    const row *rows = c->table->rows;
    const bench *b = c->context;
    const int device = b->timer != NULL;
    size_t met = 0, missed = 0;
    ulp_sheet *sheet = NULL;
    *b->rows = c->table;
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = &rows[i], *before = i ? &rows[i - 1] : NULL;
        if (!before || strcmp(before->group, r->group) != 0) {
            ulp_text columns = {0};
            ulp_text_print(&columns, "work,threads,n,%s,quartiles,beside,ratio,quartiles,goal%s", units[r->unit],
                           device ? ",MHz" : "");
            if (sheet) ulp_sheet_print(sheet, c->file);
            sheet = ulp_sheet_new(r->group, ulp_text_of(&columns));
            ulp_text_free(&columns);
        }
        if (!ulp_is_no_number(r->goal)) is_met(r) ? met++ : missed++;
        if (strcmp(r->what, "dot") == 0) continue; /* the ratios to the loops are there */
        put_row(sheet, r, before);
        if (device && ulp_is_no_number(r->clock)) ulp_sheet_put(sheet, "%s", "");
        else if (device) ulp_sheet_put(sheet, "%.0f", r->clock);
        if (r->mode && strcmp(r->mode, "fp16") == 0 && r->beside) ulp_beside(c, &published, "%.2f", r->ratio);
    }
    if (sheet) ulp_sheet_print(sheet, c->file);
    if (c->file && met + missed) fprintf(c->file, "\ngoals: %zu met, %zu missed\n", met, missed);
}

/* ---- JSON: a key, or a row of the CSV, in each line ---- */

/* Returns 0 for an empty cell. */
static int put_cell(FILE *file, const ulp_column *c, const void *cell) {
    const char *text = c->type == ULP_CELL_TEXT ? *(const char *const *)cell : c->words;
    switch (c->type) {
    case ULP_CELL_TEXT:
        if (text) ulp_json_text(file, text, SIZE_MAX);
        return text != NULL;
    case ULP_CELL_WORD:
        if (*(const int *)cell < 0) return 0;
        for (int i = 0; i < *(const int *)cell; i++) text += strcspn(text, " ") + 1;
        ulp_json_text(file, text, strcspn(text, " "));
        return 1;
    case ULP_CELL_INTEGER:
        if (*(const int64_t *)cell == ULP_NO_INTEGER) return 0;
        return fprintf(file, "%lld", (long long)*(const int64_t *)cell);
    default:
        if (ulp_is_no_number(*(const double *)cell)) return 0;
        return fprintf(file, "%.6g", *(const double *)cell);
    }
}

void write_json(FILE *file, const void *own) {
    const bench *b = own;
    const ulp_table *table = *b->rows;
    fprintf(file, "{\n");
    ulp_json_pair(file, "program", "bench");
    ulp_json_pair(file, "version", ulp_build_version());
    ulp_json_pair(file, "commit", ulp_build_commit());
    ulp_json_pair(file, "commit_date", ULP_COMMIT_DATE);
    ulp_json_date(file);
    ulp_json_pair(file, "processor", b->device);
    ulp_json_pair(file, "isa", b->isa);
    ulp_json_pair(file, "compiler", ulp_build_compiler());
    ulp_json_pair(file, "flags", ulp_build_flags());
    ulp_json_pair(file, "load_before", b->load);
    fprintf(file, "  \"threads\": %d,\n  \"rows\": [\n", b->threads);
    for (size_t i = 0; table && i < table->count; i++) {
        for (const ulp_column *c = table->columns; c->name; c++) {
            fprintf(file, "%s\"%s\": ", c == table->columns ? "    {" : ", ", c->name);
            if (!put_cell(file, c, (const char *)table->rows + i * table->row_size + c->at)) fprintf(file, "null");
        }
        fprintf(file, "}%s\n", i + 1 < table->count ? "," : "");
    }
    fprintf(file, "  ]\n}\n");
}
