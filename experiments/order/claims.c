/* claims.c - the table of order, and the claims about its rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/claims/spread.h"
#include "order.h"

/* A summary of the results of one kind. Errors are relative to sum |a b|. */
typedef struct spread {
    int count, distinct; /* results, different results */
    double width, error; /* largest minus least error, largest |error| */
} spread;

static spread spread_of(const ulp_claims *c, point kind) {
    spread s = {0};
    double *error = ulp_grow(NULL, (c->table->count + 1) * sizeof *error);
    for (size_t i = 0; i < c->table->count; i++) {
        const point *p = c->table->points[i];
        const double e = ((const row *)c->table->rows)[i].error;
        if (p->datapath != kind.datapath || p->data != kind.data || p->kind != kind.kind) continue;
        error[s.count++] = isnan(e) ? INFINITY : e;
        s.error = fmax(s.error, isnan(e) ? INFINITY : fabs(e));
    }
    if (s.count > 0) {
        ulp_sort_numbers(error, (size_t)s.count);
        s.distinct = 1;
        for (int i = 1; i < s.count; i++) s.distinct += error[i] != error[i - 1];
        s.width = error[s.count - 1] - error[0];
    }
    free(error);
    return s;
}

/* ---- the datapaths of a claim ---- */

static int is_exact(const ulp_datapath *d) {
    return d->kind == ULP_EXACT && d->promote == 0 && !ulp_mode_is_stochastic(d->rule.mode);
}

/* Datapaths that round a sum of normal data many times. Kahan sums are left out: a Kahan sum is close to a sum that
 * is rounded once. */
static int depends_on_order(const ulp_datapath *d) {
    static const char *const names[] = {"fp32",      "serial:fp16:rne", "serial:bf16:rne", "v100-fp16",
                                        "a100-fp16", "h100-fp16",       "v100-fp16-fp16",  "h100-e4m3"};
    int found = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) found |= strcmp(names[i], d->name) == 0;
    return found;
}

static int is_sliced(const ulp_datapath *d) { return depends_on_order(d) && is_serial(d); }

/* ---- claims ---- */

/* The numbers of different results of the sums, under the datapaths that `takes` chooses. */
typedef struct count {
    int sums, least, most; /* least, most: different results of one sum */
} count;

static count count_of(const ulp_claims *c, int kind, int (*takes)(const ulp_datapath *), int data_count) {
    const settings *s = c->settings;
    count n = {0};
    for (size_t i = 0; i < s->datapaths.count; i++)
        for (int data = 0; data < data_count && takes(&s->datapaths.at[i]); data++) {
            const spread x = spread_of(c, (point){&s->datapaths.at[i], data, kind});
            if (x.count < 2) continue;
            n.least = n.sums == 0 || x.distinct < n.least ? x.distinct : n.least;
            n.most = x.distinct > n.most ? x.distinct : n.most;
            n.sums++;
        }
    return n;
}

/* Claims that every sum has one result, on both kinds of data. */
static void claim_one(ulp_claims *c, int kind, int (*takes)(const ulp_datapath *), const char *text) {
    const count n = count_of(c, kind, takes, DATA_COUNT);
    if (n.sums > 0)
        ulp_claim(c, n.most == 1, text, "%d sums, %d to %d different results each", n.sums, n.least, n.most);
}

/* Claims that every sum of normal data has several results. Positive data are left out: a sum of positive data that has
 * stopped growing does not depend on the order. */
static void claim_several(ulp_claims *c, int kind, int (*takes)(const ulp_datapath *), const char *text) {
    const count n = count_of(c, kind, takes, NORMAL + 1);
    if (n.sums > 0)
        ulp_claim(c, n.least > 1, text, "%d sums, %d to %d different results each", n.sums, n.least, n.most);
}

/* Claims that on normal data the spread of `wide` is at least `times` the spread of `narrow`. */
static void claim_wider(ulp_claims *c, const char *wide, const char *narrow, double times, const char *text) {
    const ulp_datapath_list *list = &((const settings *)c->settings)->datapaths;
    const spread w = spread_of(c, (point){ulp_datapaths_find(list, wide), NORMAL, ANY}),
                 n = spread_of(c, (point){ulp_datapaths_find(list, narrow), NORMAL, ANY});
    if (w.count > 0 && n.count > 0)
        ulp_claim(c, w.width >= times * n.width && w.width > 0, text, "%s %.2g, %s %.2g of sum |a b|", wide, w.width,
                  narrow, n.width);
}

static void claim_alone(ulp_claims *c) {
    double outputs = 0, different = 0;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (r->kind != ALONE) continue;
        outputs += (double)r->number;
        different += r->value;
    }
    ulp_claim(c, different == 0,
              "here an output has the same bits alone and inside a matrix product, under every datapath",
              "%.0f outputs, %.0f differ", outputs, different);
}

static void print_table(const ulp_claims *c) {
    const settings *s = c->settings;
    char title[160];
    snprintf(title, sizeof title,
             "one sum of %lld products in %lld orders: different results, and their spread relative to sum |a b|",
             (long long)s->k, (long long)s->orders);
    ulp_sheet *sheet = ulp_sheet_new(
        title, "datapath,normal: results,spread,inside blocks,sliced,uniform: results,spread,inside blocks,sliced");
    for (size_t i = 0; i < s->datapaths.count; i++) {
        const ulp_datapath *d = &s->datapaths.at[i];
        ulp_sheet_put(sheet, "%s", d->name);
        for (int data = 0; data < DATA_COUNT; data++) {
            const spread any = spread_of(c, (point){d, data, ANY});
            ulp_sheet_put_row(sheet, "%d,%.2g", any.distinct, any.width);
            for (int kind = INSIDE; kind <= SLICES; kind++) {
                const spread x = spread_of(c, (point){d, data, kind});
                ULP_SHEET_PUT_IF(x.count, sheet, "%d", x.distinct);
            }
        }
    }
    ulp_sheet_print(sheet, c->file);
}

/* The result of one thread on normal data, and the spacing of the numbers of the result format at this result. */
static void summarise_slices(ulp_claims *c, const ulp_datapath *datapath) {
    for (size_t i = 0; i < c->table->count; i++) {
        const point *p = c->table->points[i];
        const row *r = (const row *)c->table->rows + i;
        if (p->datapath != datapath || p->data != NORMAL || p->kind != SLICES || r->number != 1) continue;
        ulp_summary(c, "value", r->value, "slices %s 1", datapath->name);
        ulp_summary(c, "spacing", ulp_spacing(r->value, &datapath->result), "slices %s 1", datapath->name);
        return;
    }
}

/* The numbers that the figure shows, for normal data: the width and the number of the results, and the result of one
 * thread. */
static void summarise(ulp_claims *c) {
    static const char *const kinds[] = {"any", "inside"};
    const settings *s = c->settings;
    for (size_t i = 0; i < s->datapaths.count; i++) {
        for (int kind = ANY; kind <= INSIDE; kind++) {
            const spread x = spread_of(c, (point){&s->datapaths.at[i], NORMAL, kind});
            if (x.count == 0) continue;
            ulp_summary(c, "width", x.width, "%s %s", kinds[kind], s->datapaths.at[i].name);
            ulp_summary(c, "results", x.distinct, "%s %s", kinds[kind], s->datapaths.at[i].name);
        }
        summarise_slices(c, &s->datapaths.at[i]);
    }
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    print_table(c);
    summarise(c);
    claim_one(c, ANY, is_exact, "a sum that is rounded once has one result, whatever the order");
    claim_one(c, INSIDE, has_blocks, "orders inside the blocks of a Tensor Core give one result");
    claim_alone(c);
    if (s->k < 1000 || s->orders < 100) {
        ulp_claim_skip(c, "how far results lie apart", "the claims are for --k 1000 and --orders 100 or more");
        return;
    }
    claim_several(c, ANY, depends_on_order, "normal data: the order changes serial sums and those of Tensor Cores");
    claim_several(c, SLICES, is_sliced, "normal data: cut among threads, a serial sum depends on their number");
    claim_wider(c, "serial:fp16:rne", "fp32", 1000,
                "normal data: binary16 sums lie 1000 times as far apart as binary32 ones, or more");
    claim_wider(c, "serial:fp16:rne", "pairwise:fp16:rne", 1,
                "normal data: pairwise sums lie closer together than serial ones, in binary16");
    claim_wider(c, "fp32", "kahan:fp32:rne", 1,
                "normal data: Kahan's sums lie closer together than serial ones, in binary32");
}
