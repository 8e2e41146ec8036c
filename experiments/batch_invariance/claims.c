/* claims.c - the tables of batch_invariance, and the claims about its rows. */
#include <math.h>
#include <string.h>

#include "batch_invariance.h"

static const row *row_at(const ulp_claims *c, size_t i) { return (const row *)c->table->rows + i; }

/* ---- tables ---- */

static void print_schedules(ulp_claims *c) {
    ulp_sheet *sheet = ulp_sheet_new("errors of the sums, rms", "products at a time,parts,one after the other,tree");
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = row_at(c, i);
        double tree = NAN;
        if (r->kind != SCHEDULE || r->join != SERIAL) continue;
        for (size_t j = 0; j < c->table->count; j++) {
            const row *t = row_at(c, j);
            if (t->kind == SCHEDULE && t->join == TREE && t->tile == r->tile && t->parts == r->parts) tree = t->value;
        }
        ulp_sheet_put_row(sheet, "%lld,%lld,%.3g", (long long)r->tile, (long long)r->parts, r->value);
        ULP_SHEET_PUT_IF(!isnan(tree), sheet, "%.3g", tree);
    }
    ulp_sheet_print(sheet, c->file);
}

static void print_tokens(ulp_claims *c) {
    ulp_sheet *sheet = ulp_sheet_new("tokens that change between one part and four",
                                     "bits of the accumulator,tokens,changed,by the law");
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = row_at(c, i);
        if (r->kind != TOKENS) continue;
        ulp_sheet_put_row(sheet, "%lld,%lld,%lld,%.2f", (long long)r->bits, (long long)r->number, (long long)r->count,
                          r->law);
    }
    ulp_sheet_print(sheet, c->file);
}

/* The completions under an accumulator. */
typedef struct completed {
    int64_t texts, several, characters; /* characters: before the first difference, of texts with several completions */
    double mean;                        /* different completions of a text */
    double changed;                     /* share of the places whose likeliest character depends on the schedule */
} completed;

static completed completed_of(const ulp_claims *c, int64_t bits) {
    completed n = {0};
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = row_at(c, i);
        if (r->kind == DECISION && r->bits == bits) n.changed = (double)r->count / (double)r->number;
        if (r->kind != COMPLETION || r->bits != bits) continue;
        n.texts++, n.several += r->count > 1, n.mean += (double)r->count;
        if (r->count > 1) n.characters += (int64_t)r->value - 1;
    }
    n.mean /= (double)n.texts;
    return n;
}

static void print_completions(ulp_claims *c) {
    const settings *s = c->settings;
    ulp_sheet *sheet = ulp_sheet_new(
        "completions at temperature 0 under eight schedules",
        "bits of the accumulator,next characters that change %,texts,with several completions,mean number,"
        "equal characters before they part");
    for (size_t i = 0; i < s->widths.count; i++) {
        const completed n = completed_of(c, s->widths.at[i]);
        if (n.texts == 0) continue;
        ulp_sheet_put_row(sheet, "%lld,%.2f,%lld,%lld,%.2f", (long long)s->widths.at[i], 100 * n.changed,
                          (long long)n.texts, (long long)n.several, n.mean);
        ULP_SHEET_PUT_IF(n.several > 0, sheet, "%.1f", (double)n.characters / (double)n.several);
        ulp_summary(c, "completions", n.mean, "model %lld", (long long)s->widths.at[i]);
        ulp_summary(c, "changed", 100 * n.changed, "model %lld", (long long)s->widths.at[i]);
        ulp_summary(c, "several", 100 * (double)n.several / (double)n.texts, "model %lld", (long long)s->widths.at[i]);
    }
    ulp_sheet_print(sheet, c->file);
}

/* ---- claims ---- */

static void claim_batches(ulp_claims *c) {
    int64_t schedules = 0, different = 0;
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = row_at(c, i);
        if (r->kind != BATCH) continue;
        schedules++, different += r->count;
    }
    ulp_claim(c, different == 0, "a schedule that looks at the row alone has the same bits in every batch",
              "%lld schedules and sizes of batches, %lld sums with other bits", (long long)schedules,
              (long long)different);
}

static void claim_pairwise(ulp_claims *c) {
    for (size_t i = 0; i < c->table->count; i++)
        if (row_at(c, i)->kind == PAIRWISE)
            ulp_claim(c, row_at(c, i)->count == 0,
                      "64 parts of one product each, added as a tree, are the pairwise sum",
                      "%lld sums with other bits", (long long)row_at(c, i)->count);
}

static void claim_near(ulp_claims *c) {
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = row_at(c, i);
        if (r->kind != NEAR || r->count == 0 || strcmp(r->format, "binary32") == 0) continue;
        ulp_claim(
            c, r->number <= 2,
            ulp_claim_text(c, "%s: binary32 results within a unit in the last place become at most two", r->format),
            "%lld sums, at most %lld results", (long long)r->count, (long long)r->number);
    }
}

/* The mean number of different results in a format. */
static double mean_distinct(ulp_claims *c, const char *format) {
    double sum = 0, count = 0;
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = row_at(c, i);
        if (r->kind != DISTINCT || strcmp(r->format, format) != 0) continue;
        sum += (double)r->number * (double)r->count, count += (double)r->count;
    }
    return sum / count;
}

static void claim_distinct(ulp_claims *c) {
    static const char *const formats[] = {"binary32", "bfloat16", "binary16"};
    double mean[3];
    for (int i = 0; i < 3; i++) {
        mean[i] = mean_distinct(c, formats[i]);
        ulp_summary(c, "distinct", mean[i], "%s", formats[i]);
    }
    const char *why = ulp_claim_reason(c, "parts, tiles, k, sums>=256");
    ulp_claim_if(c, why, mean[0] >= 8 && mean[0] <= 20, "one dot product has 8 to 20 results in binary32, on average",
                 "%.2f; %.2f in bfloat16 and %.2f in binary16", mean[0], mean[1], mean[2]);
}

/* rms of serial parts of single products, NaN if it is not in the run. */
static double rms_of(const ulp_claims *c, int64_t parts) {
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = row_at(c, i);
        if (r->kind == SCHEDULE && r->join == SERIAL && r->tile == 1 && r->parts == parts) return r->value;
    }
    return NAN;
}

static void claim_parts(ulp_claims *c) {
    const double one = rms_of(c, 1), many = rms_of(c, 32);
    const char *why = ulp_claim_reason(c, "parts, tiles, k");
    ulp_claim_if(c, why, one / many > 3,
                 "32 parts, one after the other, have less than a third of the error of one part",
                 "%.3g and %.3g, %.2f times", one, many, one / many);
}

static void claim_law(ulp_claims *c) {
    ulp_finding found = {0};
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = row_at(c, i);
        if (r->kind != TOKENS || r->bits < 8 || r->bits > 14) continue;
        ulp_finding_add(&found, fabs((double)r->count - r->law) <= 4 * sqrt(r->law) + 2, "%lld bits: %lld, law %.1f",
                        (long long)r->bits, (long long)r->count, r->law);
    }
    ulp_claim_found(c, ulp_claim_reason(c, "tokens>=1000"), &found,
                    "as many tokens change as the density of close decisions says, within four deviations");
}

static void claim_wide(ulp_claims *c) {
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = row_at(c, i);
        if (r->kind == TOKENS && r->bits == 24)
            ulp_claim_if(c, r->number > 20000 ? "the claim is about 20000 tokens or fewer" : "", r->count <= 1,
                         "with binary32 accumulators hardly a token changes: one has to look at many",
                         "%lld of %lld, law %.2g", (long long)r->count, (long long)r->number, r->law);
    }
}

static void claim_completions(ulp_claims *c) {
    const completed few = completed_of(c, 8), more = completed_of(c, 12), many = completed_of(c, 24);
    const char *why = ulp_claim_reason(c, "net, widths, completions>=40, steps");
    ulp_claim_if(c, why, few.changed > 4 * more.changed && more.changed >= many.changed,
                 "four bits more of the sums leave less than a quarter of the changed next characters",
                 "8 bits %.2f %%, 12 bits %.2f %%, 24 bits %.2f %%", 100 * few.changed, 100 * more.changed,
                 100 * many.changed);
    ulp_claim_if(c, ulp_claim_reason(c, "net, widths, length, completions"), many.several == 0,
                 "with sums of 24 bits a text has one completion under all schedules",
                 "8 bits %lld of %lld, 24 bits %lld", (long long)few.several, (long long)few.texts,
                 (long long)many.several);
    const ulp_published large = {"different completions of one text at temperature 0",
                                 "Thinking Machines Lab 2025, Defeating Nondeterminism in LLM Inference",
                                 "80 of 1000 on a server, 1 with one schedule"};
    if (few.texts > 0) ulp_beside(c, &large, "%.2f of 8 schedules on average, sums of 8 bits", few.mean);
}

void judge(ulp_claims *c) {
    print_schedules(c);
    print_tokens(c);
    print_completions(c);
    claim_batches(c);
    claim_pairwise(c);
    claim_near(c);
    claim_distinct(c);
    claim_parts(c);
    claim_law(c);
    claim_wide(c);
    claim_completions(c);
}
