/* claims.c - the table of block_fma, and the claims about its rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "block_fma.h"

/* The largest error over all seeds. NaN if the run does not have the row. */
static double error_of(const ulp_claims *c, int data, const char *datapath, int64_t n) {
    double most = NAN;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++)
        if (r->data == data && r->n == n && strcmp(r->datapath, datapath) == 0) most = fmax(most, r->max_error);
    return most;
}

/* The published errors are approximate and belong to one other set of random numbers, so the claims allow a factor of 2
 * either way. */
static void claim_published(ulp_claims *c) {
    static const struct fact {
        const char *datapath, *text;
        double error;
    } facts[] = {
        {"serial:fp16:rne", "U[0,1], n = 1024: binary16 errs by 1.5e-2, within a factor of 2", 1.5e-2},
        {"v100-fp16-fp16", "U[0,1], n = 1024: Tensor Cores that return binary16 err by 4.8e-3, within a factor of 2",
         4.8e-3},
        {NEAREST, "U[0,1], n = 1024: blocks of 4 rounded to nearest in binary32 err by 1.2e-6, within a factor of 2",
         1.2e-6},
    };
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const double got = error_of(c, POSITIVE, facts[i].datapath, 1024);
        if (isnan(got)) ulp_claim_skip(c, facts[i].text, "it is not in --datapath or 1024 not in --sizes");
        else {
            char published[16], what[80];
            snprintf(published, sizeof published, "%.1e", facts[i].error);
            snprintf(what, sizeof what, "largest error, U[0,1], n = 1024, %s", facts[i].datapath);
            ulp_beside(c, &(ulp_published){what, "Blanchard et al. 2020", published}, "%.1e", got);
            ulp_claim(c, got > facts[i].error / 2 && got < facts[i].error * 2, facts[i].text, "%.2e", got);
        }
    }
}

static void claim_truncation(ulp_claims *c) {
    const double got = error_of(c, POSITIVE, "v100-fp16", 1024), nearest = error_of(c, POSITIVE, NEAREST, 1024);
    const double narrow = error_of(c, POSITIVE, "v100-fp16-fp16", 1024);
    if (isnan(got)) return;
    if (!isnan(nearest))
        ulp_claim(c, got > 10 * nearest,
                  "U[0,1], n = 1024: Tensor Cores truncate, which costs them a factor of 10 and more against blocks "
                  "rounded to nearest",
                  "%.2e against %.2e", got, nearest);
    if (!isnan(narrow))
        ulp_claim(c, got < narrow / 100,
                  "U[0,1], n = 1024: returning binary32 instead of binary16 gains a factor of 100 and more",
                  "%.2e against %.2e", got, narrow);
}

/* Claims that at every n >= 256 each datapath of `names` has a larger error than the next datapath. `kinds` is 2 for
 * both kinds of data, 1 for positive data. */
static void claim_order(ulp_claims *c, const char *const *names, int count, int kinds, const char *text) {
    const ulp_integer_list *sizes = &((const settings *)c->settings)->sizes;
    int pairs = 0, wrong = 0;
    for (int kind = 0; kind < kinds; kind++)
        for (size_t i = 0; i < sizes->count; i++)
            for (int j = 1; j < count && sizes->at[i] >= 256; j++) {
                const double more = error_of(c, kind, names[j - 1], sizes->at[i]),
                             less = error_of(c, kind, names[j], sizes->at[i]);
                if (isnan(more) || isnan(less)) continue;
                pairs++;
                wrong += more <= less;
            }
    if (pairs > 0) ulp_claim(c, wrong == 0, text, "%d pairs, %d against it", pairs, wrong);
}

/* The leading term of the paper for a datapath; NaN if the datapath has none. */
static double bound_of(const char *datapath, int64_t n) {
    static const struct bound {
        const char *datapath;
        double per_n;
    } bounds[] = {{"serial:fp16:rne", 0x1p-11}, {"v100-fp16-fp16", 0x1p-13}, {"v100-fp16", 0x1p-24},
                  {"a100-fp16", 0x1p-24},       {"h100-fp16", 0x1p-24},      {NEAREST, 0x1p-24}};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        if (strcmp(bounds[i].datapath, datapath) == 0) return (double)n * bounds[i].per_n;
    return NAN;
}

static void claim_bounds(ulp_claims *c) {
    const row *where = NULL;
    double nearest = 0;
    int count = 0;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        const double ratio = r->max_error / bound_of(r->datapath, r->n);
        if (isnan(ratio)) continue;
        count++;
        if (ratio <= nearest) continue;
        nearest = ratio;
        where = r;
    }
    if (count > 0)
        ulp_claim(c, nearest <= 1, "every error stays below its curve: n u16, n u16 / 4 or n u32",
                  "%d errors, the nearest at %.2f of it: %s, %s, n = %lld", count, nearest,
                  where ? where->datapath : "", where ? data_names[where->data] : "", where ? (long long)where->n : 0);
}

/* The numbers of the figure: the leading terms and the errors at the largest n. */
static void sum_up(ulp_claims *c) {
    const settings *set = c->settings;
    int64_t longest = 0;
    for (size_t i = 0; i < set->sizes.count; i++)
        if (set->sizes.at[i] > longest) longest = set->sizes.at[i];
    for (size_t j = 0; j < set->datapaths.count; j++) {
        const char *name = set->datapaths.at[j].name;
        const double per_n = bound_of(name, 1);
        if (!isnan(per_n)) ulp_summary(c, "bound per n", per_n, "%s", name);
        for (int data = 0; data < KINDS; data++)
            ulp_summary(c, "largest error at the largest n", error_of(c, data, name, longest), "%s %s",
                        data_names[data], name);
    }
}

static void print_table(const ulp_claims *c) {
    static const int64_t shown[] = {16, 64, 256, 1024, 4096, 16384, 32768};
    const ulp_datapath_list *datapaths = &((const settings *)c->settings)->datapaths;
    char columns[160] = "data,datapath";
    int has[sizeof shown / sizeof shown[0]];
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        has[i] = datapaths->count > 0 && !isnan(error_of(c, POSITIVE, datapaths->at[0].name, shown[i]));
        if (has[i]) snprintf(columns + strlen(columns), 16, ",n = %lld", (long long)shown[i]);
    }
    ulp_sheet *table =
        ulp_sheet_new("the largest |computed - exact| / (|A| |B|); positive: U[0,1], signed: U[-1,1]", columns);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t j = 0; j < datapaths->count; j++) {
            ulp_sheet_put_row(table, "%s,%s", data_names[kind], datapaths->at[j].name);
            for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
                if (has[i]) ulp_sheet_put(table, "%.2e", error_of(c, kind, datapaths->at[j].name, shown[i]));
        }
    ulp_sheet_print(table, c->file);
}

void judge(ulp_claims *c) {
    static const char *const widths[] = {"serial:fp16:rne", "v100-fp16-fp16", "v100-fp16", NEAREST};
    static const char *const generations[] = {"v100-fp16", "a100-fp16", "h100-fp16"};
    print_table(c);
    if (((const settings *)c->settings)->outputs >= 32) claim_published(c);
    else
        ulp_claim_skip(c, "the published errors at n = 1024",
                       "they are the largest of many outputs: --outputs 32 or more");
    claim_truncation(c);
    claim_order(c, widths, 4, KINDS,
                "n >= 256, both kinds of data: binary16 errs most, then binary16 results, then binary32 results, least "
                "blocks to nearest");
    claim_order(c, generations, 3, 1, "n >= 256, U[0,1]: each later GPU errs less: V100, A100, H100");
    claim_bounds(c);
    sum_up(c);
}
