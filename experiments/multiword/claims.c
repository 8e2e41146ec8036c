/* claims.c - the tables of multiword, and the claims: published levels, and who gains from more words. */
#include "multiword.h"

#include <math.h>
#include <string.h>

/* The row of a run; NULL if there is none. */
static const row *row_of(const ulp_claims *c, const char *datapath, int64_t words, int64_t n) {
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++)
        if (r->words == words && r->n == n && strcmp(r->datapath, datapath) == 0) return r;
    return NULL;
}

/* ---- published levels ---- */

enum { LENGTHS = 3, LEVELS = 27 };
static const int64_t published_lengths[LENGTHS] = {14384, 162377, 1000000};

/* The errors that Khattak and Mikaitis publish with arXiv 2512.07004 (MATLAB-tensor-core, experiments/data, August
 * 2026), one draw of the matrices for each. Their words are rounded toward zero: the first length of MI300 alone was
 * rounded to nearest, since CPFloat kept the mode of the call before. Two and three words of e5m2 on MI300 are left
 * out: their published errors are larger than those of one word. */
static const struct level {
    const char *datapath;
    int64_t words;
    double error[LENGTHS];
} levels[LEVELS] = {
    {"a100-bf16", 1, {9.47e-05, 2.62e-05, 9.06e-06}},      {"a100-bf16", 2, {8.76e-07, 9.63e-07, 1.95e-06}},
    {"a100-bf16", 3, {3.84e-07, 9.35e-07, 1.81e-06}},      {"b200-bf16", 1, {9.47e-05, 2.63e-05, 9.22e-06}},
    {"b200-bf16", 2, {1.00e-06, 1.33e-06, 2.85e-06}},      {"b200-bf16", 3, {5.48e-07, 1.40e-06, 2.74e-06}},
    {"mi100-bf16", 1, {9.46e-05, 2.59e-05, 8.58e-06}},     {"mi100-bf16", 2, {5.23e-07, 1.21e-07, 3.82e-08}},
    {"mi100-bf16", 3, {1.33e-08, 9.93e-09, 9.73e-09}},     {"mi250-bf16", 1, {9.46e-05, 2.59e-05, 8.58e-06}},
    {"mi250-bf16", 2, {5.24e-07, 1.23e-07, 3.78e-08}},     {"mi250-bf16", 3, {1.24e-08, 1.21e-08, 1.10e-08}},
    {"mi300-bf16", 1, {9.46e-05, 2.59e-05, 8.57e-06}},     {"mi300-bf16", 2, {5.24e-07, 1.17e-07, 5.34e-08}},
    {"mi300-bf16", 3, {1.14e-08, 1.74e-08, 2.04e-08}},     {"l40s-e5m2", 1, {2.89e-03, 6.30e-04, 2.23e-04}},
    {"l40s-e5m2", 4, {3.42e-05, 3.36e-05, 2.84e-05}},      {"l40s-e5m2", 6, {3.31e-05, 2.08e-05, 1.51e-05}},
    {"h100-e5m2", 1, {2.89e-03, 6.30e-04, 2.23e-04}},      {"h100-e5m2", 4, {3.40e-05, 3.35e-05, 2.83e-05}},
    {"h100-e5m2", 6, {3.32e-05, 2.07e-05, 1.51e-05}},      {"b200-e5m2", 1, {2.88e-03, 6.28e-04, 2.22e-04}},
    {"b200-e5m2", 4, {5.67e-06, 3.38e-06, 5.29e-06}},      {"b200-e5m2", 6, {1.03e-06, 3.00e-06, 5.56e-06}},
    {"mi300-e5m2fnuz", 1, {2.88e-03, 6.28e-04, 2.21e-04}}, {"mi300-e5m2fnuz", 4, {5.11e-06, 1.44e-06, 5.43e-07}},
    {"mi300-e5m2fnuz", 6, {6.74e-08, 1.74e-07, 3.25e-07}},
};

/* The longest sums of the run whose errors are published; -1 if there are none. */
static int longest_published(const settings *s) {
    int place = -1;
    for (int t = 0; t < LENGTHS; t++)
        for (size_t i = 0; i < s->lengths.count; i++)
            if (s->lengths.at[i] == published_lengths[t]) place = t;
    return place;
}

static void claim_level(ulp_claims *c, const char *datapath, int place) {
    char measured[120] = "";
    int found = 0, within = 0;
    for (size_t i = 0; i < LEVELS; i++) {
        if (strcmp(levels[i].datapath, datapath) != 0) continue;
        const row *r = row_of(c, datapath, levels[i].words, published_lengths[place]);
        if (r == NULL) continue;
        const double ratio = r->truncated / levels[i].error[place];
        found++;
        within += ratio >= 0.5 && ratio <= 2;
        snprintf(measured + strlen(measured), sizeof measured - strlen(measured), "%s%lld word%s: %.2f times",
                 found > 1 ? ", " : "", (long long)levels[i].words, levels[i].words > 1 ? "s" : "", ratio);
    }
    if (found == 0) return;
    const char *text =
        ulp_claim_text(c, "%s: errors within a factor of 2 of the published ones, words rounded toward zero", datapath);
    ulp_claim(c, within == found, text, "n = %lld; %s", (long long)published_lengths[place], measured);
}

static void claim_levels(ulp_claims *c) {
    const settings *s = c->settings;
    for (size_t i = 0; i < LEVELS; i++)
        for (int t = 0; t < LENGTHS; t++)
            ulp_summary(c, "published error", levels[i].error[t], "%s %lld %lld", levels[i].datapath,
                        (long long)levels[i].words, (long long)published_lengths[t]);
    const int place = longest_published(s);
    if (place < 0 || s->size != 10 || s->decades != 20) {
        ulp_claim_skip(c, "errors within a factor of 2 of the published ones",
                       "needs --lengths with 14384, 162377 or 1000000, and the default --size and --decades");
        return;
    }
    for (size_t p = 0; p < s->datapaths.count; p++) claim_level(c, s->datapaths.at[p].name, place);
}

/* ---- who gains ---- */

/* Why claims about long sums are skipped, or "". */
static const char *reason(ulp_claims *c) {
    if (ulp_integers_most(&((const settings *)c->settings)->lengths) < published_lengths[0])
        return "needs --lengths with 14384 or more";
    return ulp_claim_reason(c, "datapath, words, size, decades");
}

/* The quotient of two errors of the longest sums: words truncated, or smallest words first. NaN without the rows. */
static double gain_of(const ulp_claims *c, const char *datapath, int64_t fewer, int64_t more) {
    const int64_t n = ulp_integers_most(&((const settings *)c->settings)->lengths);
    const row *x = row_of(c, datapath, fewer, n), *y = row_of(c, datapath, more, n);
    return x == NULL || y == NULL ? NAN : x->truncated / y->truncated;
}

static void claim_gains(ulp_claims *c) {
    const char *why = reason(c);
    const double a100 = gain_of(c, "a100-bf16", 2, 3), b200 = gain_of(c, "b200-bf16", 2, 3);
    const double mi100 = gain_of(c, "mi100-bf16", 2, 3), mi300 = gain_of(c, "mi300-bf16", 2, 3);
    ulp_claim_if(c, why, a100 < 2 && b200 < 2,
                 "the third word of bf16 gains less than a factor of 2 on NVIDIA's units, which cut their sums",
                 "errors of 2 words over those of 3: %.2f on A100, %.2f on B200", a100, b200);
    ulp_claim_if(c, why, mi100 > 3 && mi300 > 3,
                 "the third word of bf16 gains a factor of 3 and more on AMD's units, which round to nearest",
                 "%.1f on CDNA1, %.1f on CDNA3", mi100, mi300);
    const double h100 = gain_of(c, "h100-e5m2", 4, 6), fnuz = gain_of(c, "mi300-e5m2fnuz", 4, 6);
    ulp_claim_if(c, why, h100 < 1.2 && fnuz > 3,
                 "more than four words of fp8 gain nothing on H100, which keeps 13 bits, but much on CDNA3",
                 "errors of 4 words over those of 6: %.2f and %.1f", h100, fnuz);
}

/* The least quotient of errors over all units of the longest sums with `words` words. */
static void claim_cures(ulp_claims *c) {
    const settings *s = c->settings;
    const int64_t n = ulp_integers_most(&s->lengths);
    const char *why = reason(c);
    double nearest = INFINITY;
    for (size_t p = 0; p < s->datapaths.count; p++) {
        const row *r = row_of(c, s->datapaths.at[p].name, 1, n);
        if (r != NULL) nearest = fmin(nearest, r->truncated / r->error);
    }
    ulp_claim_if(c, why, nearest > 1.5,
                 "one word: truncation has 1.5 times the error of rounding to nearest or more, on every unit",
                 "%.2f times at least", nearest);
    const row *r = row_of(c, "b200-bf16", 3, n);
    const double cure = r == NULL ? NAN : r->error / r->small_first;
    ulp_claim_if(c, why, cure > 1.5, "B200, three words: the smallest words added first leave a smaller error",
                 "%.2f times smaller", cure);
}

/* ---- the tables ---- */

static void print_tables(ulp_claims *c) {
    const settings *s = c->settings;
    const int64_t n = ulp_integers_most(&s->lengths);
    if (c->file == NULL) return;
    fprintf(c->file, "sums of %lld products: the error relative to the norms of the matrices\n", (long long)n);
    fprintf(c->file, "  %-16s %5s %12s %12s %12s\n", "", "words", "to nearest", "truncated", "small first");
    for (size_t p = 0; p < s->datapaths.count; p++)
        for (size_t w = 0; w < s->words.count; w++) {
            const row *r = row_of(c, s->datapaths.at[p].name, s->words.at[w], n);
            if (r != NULL)
                fprintf(c->file, "  %-16s %5lld %12.1e %12.1e %12.1e\n", r->datapath, (long long)r->words, r->error,
                        r->truncated, r->small_first);
        }
    fprintf(c->file, "\n");
}

void judge(ulp_claims *c) {
    print_tables(c);
    claim_levels(c);
    claim_gains(c);
    claim_cures(c);
}
