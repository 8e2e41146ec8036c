/* claims.c - the tables of units, and the claims: who agrees, who drifts, who is not symmetric. */
#include "units.h"

#include <math.h>
#include <string.h>

/* The first row of a part and kind of data for a datapath, and another one or NULL. NULL if the run has none. */
static const row *row_of(const ulp_claims *c, int part, int data, const char *datapath, const char *other) {
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++)
        if (r->part == part && r->data == data && strcmp(r->datapath, datapath) == 0 &&
            (other == NULL || (r->other != NULL && strcmp(r->other, other) == 0)))
            return r;
    return NULL;
}

/* ---- agreement ---- */

static void claim_agreement(ulp_claims *c) {
    const ulp_datapath_list *paths = &((const settings *)c->settings)->datapaths;
    size_t pairs = 0, always = 0;
    char equal[200] = "";
    for (size_t p = 0; p < paths->count; p++)
        for (size_t q = 0; q < p; q++) {
            const row *r = row_of(c, AGREE, MIXED, paths->at[p].name, paths->at[q].name);
            if (r == NULL) continue;
            ulp_summary(c, "agreement", r->share, "%s %s", r->datapath, r->other);
            pairs++;
            if (r->share < 1) continue;
            always++;
            snprintf(equal + strlen(equal), sizeof equal - strlen(equal), " %s and %s", r->other, r->datapath);
        }
    const row *self = row_of(c, AGREE, MIXED, "fp32", "fp32");
    ulp_claim_if(c, ulp_claim_reason(c, "datapath, sums>=512, products"),
                 always == 0 && self != NULL && self->share == 1,
                 "sums of 32 products of both signs: no two of these machines agree on every sum",
                 "%zu pairs, %zu agree always%s", pairs, always, equal);
}

/* ---- symmetry ---- */

static void claim_symmetry(ulp_claims *c) {
    const ulp_datapath_list *paths = &((const settings *)c->settings)->datapaths;
    size_t others = 0, odd = 0;
    double cdna3 = NAN;
    for (size_t p = 0; p < paths->count; p++) {
        const row *r = row_of(c, NEGATED, MIXED, paths->at[p].name, NULL);
        if (r == NULL) continue;
        ulp_summary(c, "sums with f(-x) = -f(x)", r->share, "%s", r->datapath);
        if (strncmp(r->datapath, "mi300-", 6) == 0) cdna3 = r->share;
        else others++, odd += r->share == 1;
    }
    if (others > 0)
        ulp_claim(c, odd == others, "f(-x) = -f(x) on every sum of every machine but CDNA3", "%zu of %zu datapaths",
                  odd, others);
    if (!isnan(cdna3))
        ulp_claim(c, cdna3 < 0.9,
                  "CDNA3 rounds sums down: with a small start value, f(-x) differs from -f(x) on more than a tenth of "
                  "the sums",
                  "equal on %.1f %% of the sums", 100 * cdna3);
}

/* ---- errors ---- */

/* The drift of a long sum of positive products; NaN if the run has none. */
static double drift_of(const ulp_claims *c, const char *datapath) {
    const row *r = row_of(c, ERRORS, POSITIVE, datapath, NULL);
    return r == NULL ? NAN : r->drift;
}

static void claim_errors(ulp_claims *c) {
    const ulp_datapath_list *paths = &((const settings *)c->settings)->datapaths;
    for (int data = 0; data < KINDS; data++)
        for (size_t p = 0; p < paths->count; p++) {
            const row *r = row_of(c, ERRORS, data, paths->at[p].name, NULL);
            if (r == NULL) continue;
            ulp_summary(c, "largest error", r->max_error, "%s %s", data_names[data], r->datapath);
            ulp_summary(c, "mean error", r->mean_error, "%s %s", data_names[data], r->datapath);
            ulp_summary(c, "drift", r->drift, "%s %s", data_names[data], r->datapath);
        }
    const double a100 = drift_of(c, "a100-bf16"), h100 = drift_of(c, "h100-bf16"), mi100 = drift_of(c, "mi100-bf16");
    if (isnan(a100) || isnan(h100) || isnan(mi100)) return;
    const char *why = ulp_claim_reason(c, "length, repeats>=16");
    ulp_claim_if(
        c, why, a100 < 0 && h100 < 0 && -a100 > 10 * fabs(mi100),
        "4096 positive products: NVIDIA's units cut, so their sums drift down, ten times as far as those of CDNA1",
        "%.1e and %.1e against %.1e", a100, h100, mi100);
}

/* ---- directed sums ---- */

/* The result of a directed sum in a datapath; NaN if the run has none. */
static double directed_result(const ulp_claims *c, const char *sum, const char *datapath) {
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++)
        if (r->part == DIRECTED && strcmp(r->sum, sum) == 0 && strcmp(r->datapath, datapath) == 0) return r->result;
    return NAN;
}

/* The results that UNITS of the vendors' texts demand, computed by hand in exact fractions. */
static void claim_directed(ulp_claims *c) {
    static const struct {
        const char *sum, *datapath, *text;
        double want;
    } facts[] = {
        {"1 + 2^-30", "arm-bf16", "Arm's BFDOT rounds to odd: 1 + 2^-30 is 1 + 2^-23", 0x1.000002p0},
        {"1 + 2^-30", "h100-bf16", "H100: 1 + 2^-30 is 1", 1},
        {"1 - 2^-30", "arm-bf16", "Arm's BFDOT rounds to odd: 1 - 2^-30 is 1 - 2^-24", 0x1.fffffep-1},
        {"1 and c = -2^-30", "mi300-bf16", "CDNA3 rounds c down: 1 with c = -2^-30 is 1 - 2^-24", 0x1.fffffep-1},
        {"2^10 + 2^-15 - 2^10", "mi100-bf16",
         "CDNA1 adds a pair exactly: 2^10 + 2^-15 - 2^10 loses 2^-15 in its second step", 0},
        {"2^10 + 2^-15 - 2^10", "h100-bf16", "H100 aligns 16 products: 2^10 + 2^-15 - 2^10 is 2^-15", 0x1p-15},
        {"-2^24 + 1 and c = 2^24", "avx512-bf16", "VDPBF16PS adds the odd product first: -2^24 + 1 with c = 2^24 is 0",
         0},
        {"-2^24 + 1 and c = 2^24", "amx-bf16", "AMX adds c last: -2^24 + 1 with c = 2^24 is 1", 1},
        {"2^-130 x 2^10", "avx512-bf16", "VDPBF16PS takes subnormal operands for zeros: 2^-130 x 2^10 is 0", 0},
        {"2^-130 x 2^10", "arm-bf16-ebf", "Arm with EBF = 1 keeps subnormal operands: 2^-130 x 2^10 is 2^-120",
         0x1p-120},
    };
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const double got = directed_result(c, facts[i].sum, facts[i].datapath);
        if (isnan(got)) ulp_claim_skip(c, facts[i].text, "%s is not in --datapath", facts[i].datapath);
        else ulp_claim(c, got == facts[i].want, facts[i].text, "%.9g", got);
    }
}

/* ---- the tables ---- */

static void print_tables(ulp_claims *c) {
    const settings *s = c->settings;
    if (c->file == NULL) return;
    fprintf(c->file, "%lld sums of %lld products of both signs: per cent of equal results\n", (long long)s->sums,
            (long long)s->products);
    for (size_t p = 0; p < s->datapaths.count; p++) {
        fprintf(c->file, "  %-14s", s->datapaths.at[p].name);
        for (size_t q = 0; q <= p; q++) {
            const row *r = row_of(c, AGREE, MIXED, s->datapaths.at[p].name, s->datapaths.at[q].name);
            fprintf(c->file, " %5.1f", r == NULL ? NAN : 100 * r->share);
        }
        fprintf(c->file, "\n");
    }
    fprintf(c->file, "\n%lld products: errors relative to the sum of the magnitudes\n", (long long)s->length);
    fprintf(c->file, "  %-14s %10s %10s %10s %10s\n", "", "positive", "drift", "mixed", "drift");
    for (size_t p = 0; p < s->datapaths.count; p++) {
        const char *name = s->datapaths.at[p].name;
        const row *x = row_of(c, ERRORS, POSITIVE, name, NULL), *y = row_of(c, ERRORS, MIXED, name, NULL);
        if (x != NULL && y != NULL)
            fprintf(c->file, "  %-14s %10.1e %10.1e %10.1e %10.1e\n", name, x->max_error, x->drift, y->max_error,
                    y->drift);
    }
    fprintf(c->file, "\n");
}

void judge(ulp_claims *c) {
    print_tables(c);
    claim_agreement(c);
    claim_symmetry(c);
    claim_errors(c);
    claim_directed(c);
}
