/* report.c - prints the rows as tables, one for each group. */
#include "bench.h"

#include <string.h>

static void put_spread(ulp_sheet *sheet, double median, double q1, double q3) {
    if (ulp_is_no_number(median)) {
        ulp_sheet_put(sheet, "%s", "");
        ulp_sheet_put(sheet, "%s", "");
        return;
    }
    ulp_sheet_put(sheet, "%.3g", median);
    ulp_sheet_put(sheet, "%.3g to %.3g", q1, q3);
}

static void put_goal(ulp_sheet *sheet, const row *r) {
    if (ulp_is_no_number(r->goal)) ulp_sheet_put(sheet, "%s", "");
    else ulp_sheet_put(sheet, "%s %.3g", r->relation == TIME ? "at most" : "at least", r->goal);
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
    static const char *const units[] = {"G elements/s", "G products/s", "steps/s"};
    const row *rows = c->table->rows;
    const bench *b = c->context;
    ulp_sheet *sheet = NULL;
    *b->rows = c->table;
    for (size_t i = 0; i < c->table->count; i++) {
        const row *before = i ? &rows[i - 1] : NULL;
        if (!before || strcmp(before->group, rows[i].group) != 0) {
            ulp_text columns = {0};
            ulp_text_print(&columns, "work,threads,n,%s,quartiles,beside,ratio,quartiles,goal", units[rows[i].unit]);
            if (sheet) ulp_sheet_print(sheet, c->file);
            sheet = ulp_sheet_new(rows[i].group, ulp_text_of(&columns));
            ulp_text_free(&columns);
        }
        if (strcmp(rows[i].what, "dot") != 0) put_row(sheet, &rows[i], before); /* the ratios to the loops are there */
    }
    if (sheet) ulp_sheet_print(sheet, c->file);
}
