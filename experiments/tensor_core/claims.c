/* claims.c - the table of tensor_core, and the claims about its rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/probe/probe.h"
#include "tensor_core.h"

/* The key of a row. */
typedef struct key {
    const ulp_datapath *datapath;
    int what;
    const char *name;
} key;

static int matches(const void *row_, const void *point_, const void *key_) {
    const row *r = row_;
    const key *k = key_;
    return ((const point *)point_)->datapath == k->datapath && r->what == k->what && strcmp(r->name, k->name) == 0;
}

/* Returns NULL if this run does not have the row or the datapath. */
static const row *find(const ulp_claims *c, const ulp_datapath *d, int what, const char *name) {
    return ulp_table_find(c->table, &(size_t){0}, matches, &(key){d, what, name});
}

static const char *or_word(const char *cell, const char *word) { return cell ? cell : word; }

/* The value of a property that the vectors show, as text. */
static const char *found(const ulp_claims *c, const ulp_datapath *d, ulp_property_id id) {
    const row *r = find(c, d, PROBE, ulp_property_name(id));
    return or_word(r ? r->found : NULL, "-");
}

static void claim_row(ulp_claims *c, const ulp_datapath *d) {
    static const ulp_property_id deciding[] = {ULP_P_LENGTH, ULP_P_FRACTION, ULP_P_KEPT, ULP_P_OUTPUT};
    const char *wanted[4];
    int good = 1, all = 1;
    const row *length = find(c, d, PROBE, ulp_property_name(ULP_P_LENGTH));
    if (!length || !length->expected) {
        ulp_claim_skip(c, "the deciding numbers are the published ones", "%s: none are known", d->name);
        return;
    }
    for (int i = 0; i < 4; i++) {
        const row *r = find(c, d, PROBE, ulp_property_name(deciding[i]));
        wanted[i] = or_word(r ? r->expected : NULL, "none");
        good &= r && (!r->expected || strcmp(r->expected, or_word(r->found, "-")) == 0);
    }
    for (int i = 0; i < ULP_PROPERTY_COUNT; i++) {
        const row *r = find(c, d, PROBE, ulp_property_name((ulp_property_id)i));
        all &= r && strcmp(r->verdict, "FAIL") != 0;
    }
    const char *text = ulp_claim_text(c, "%s: L %s, F %s, %s bits, %s, as published, and nothing else contradicts",
                                      d->name, wanted[0], wanted[1], wanted[2], wanted[3]);
    ulp_claim(c, good && all, text, "L %s, F %s, %s bits, %s", found(c, d, ULP_P_LENGTH), found(c, d, ULP_P_FRACTION),
              found(c, d, ULP_P_KEPT), found(c, d, ULP_P_OUTPUT));
}

static double number(const ulp_claims *c, const char *datapath, int what, const char *name) {
    const ulp_datapath *d = ulp_datapaths_find(&((const settings *)c->settings)->datapaths, datapath);
    const row *r = d ? find(c, d, what, name) : NULL;
    return r ? r->number : (double)NAN;
}

static void claim_sums(ulp_claims *c) {
    const settings *s = c->settings;
    const double stalled = number(c, "h100-e4m3", STALL, STALLING), later = number(c, "b200-e4m3", STALL, STALLING);
    if (!isnan(stalled)) ulp_claim(c, stalled == 64, "h100-e4m3: 64 and 32 products 2^-8 stay 64", "%.17g", stalled);
    if (!isnan(later)) ulp_claim(c, later == 64.125, "b200-e4m3: the same sum is exact, 64.125", "%.17g", later);
    const double hopper = number(c, "h100-e4m3", POSITIVE, "bias"),
                 blackwell = number(c, "b200-e4m3", POSITIVE, "bias"), fp32 = number(c, "fp32", POSITIVE, "rms");
    if (s->k >= 1024 && !isnan(hopper) && !isnan(blackwell))
        ulp_claim(c, hopper < 0 && hopper < 100 * blackwell,
                  "long sums of positive data: h100-e4m3 falls short, a hundred times as far as b200-e4m3",
                  "mean relative error %.3g and %.3g; fp32: rms %.3g", hopper, blackwell, fp32);
}

static void print_table(const ulp_claims *c) {
    static const ulp_property_id shown[] = {ULP_P_LENGTH, ULP_P_FRACTION,  ULP_P_KEPT, ULP_P_OUTPUT,
                                            ULP_P_PLACE,  ULP_P_MONOTONIC, ULP_P_FLOOR};
    const settings *s = c->settings;
    ulp_sheet *sheet = ulp_sheet_new(
        "what the vectors show of each model; the last columns: rms error / |a||b| of dot products of random data",
        "row,L,F,bits,rounding,c,monotonic,floor,signed,positive");
    for (size_t i = 0; i < s->datapaths.count; i++) {
        const ulp_datapath *d = &s->datapaths.at[i];
        ulp_sheet_put(sheet, "%s", d->name);
        for (size_t j = 0; j < sizeof shown / sizeof shown[0]; j++) {
            const row *r = find(c, d, PROBE, ulp_property_name(shown[j]));
            ulp_sheet_put(sheet, "%s", r && !ulp_is_no_number(r->number) ? r->found : "-");
        }
        ulp_sheet_put_row(sheet, "%.2e,%.2e", number(c, d->name, SIGNED, "rms"), number(c, d->name, POSITIVE, "rms"));
    }
    ulp_sheet_print(sheet, c->file);
}

/* The numbers of a datapath that the figure shows. */
static void summarize(ulp_claims *c, const ulp_datapath *d) {
    static const struct drawn {
        ulp_property_id id;
        const char *quantity;
    } drawn[] = {{ULP_P_LENGTH, "products"},
                 {ULP_P_FRACTION, "fraction bits of a product"},
                 {ULP_P_KEPT, "fraction bits of a result"},
                 {ULP_P_OUTPUT, "rounding"}};
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) {
        const row *r = find(c, d, PROBE, ulp_property_name(drawn[i].id));
        if (r && !ulp_is_no_number(r->number)) ulp_summary(c, drawn[i].quantity, r->number, "%s", d->name);
    }
    ulp_summary(c, "rms error", number(c, d->name, SIGNED, "rms"), "%s signed", d->name);
    ulp_summary(c, "rms error", number(c, d->name, POSITIVE, "rms"), "%s positive", d->name);
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    print_table(c);
    for (size_t i = 0; i < s->datapaths.count; i++) summarize(c, &s->datapaths.at[i]);
    for (size_t i = 0; i < s->datapaths.count; i++) claim_row(c, &s->datapaths.at[i]);
    claim_sums(c);
}
