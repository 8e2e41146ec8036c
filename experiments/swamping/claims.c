/* claims.c - the table of swamping, and what must hold: where sums stop, and how far stochastic sums are off.
 *
 * Where a sum to nearest stops, in precision p: on [2^e, 2^(e+1)) numbers are 2^(e-p+1) apart, and what is smaller than
 * half of that moves nothing. A single term is below 2.74, a chunk of N >= 32 terms below 2 N (its mean is N, its
 * standard deviation sqrt N; for N = 32 that is 5.6 of them, passed by less than one chunk in 10^8). So the sum stops
 * at 2^(p+2) without chunks and at 2 N 2^p with them, exactly there, since the steps on the way divide these powers.
 */
#include "swamping.h"

#include <math.h>
#include <string.h>

/* Of all seeds, at lengths 2^from .. 2^to. */
typedef struct reach {
    long rows;
    double least, most; /* sums */
    double error;       /* the largest |relative error| */
    double error_at_longest, mean_at_longest;
} reach;

/* The seed of `kind` does not count. */
static reach reach_of(const ulp_claims *c, point kind, int from, int to) {
    reach r = {.least = INFINITY, .most = -INFINITY};
    double total = 0;
    long last = 0;
    for (size_t i = 0; i < c->table->count; i++) {
        const point *p = c->table->points[i];
        const row *x = (const row *)c->table->rows + i;
        const double n = (double)x->n, size = isnan(x->error) ? INFINITY : fabs(x->error);
        if (p->format != kind.format || p->rule != kind.rule || p->chunk != kind.chunk) continue;
        if (n < ldexp(1, from) || n > ldexp(1, to)) continue;
        r.rows++;
        r.least = isnan(x->sum) ? -INFINITY : fmin(r.least, x->sum);
        r.most = isnan(x->sum) ? INFINITY : fmax(r.most, x->sum);
        r.error = fmax(r.error, size);
        if (n < ldexp(1, to)) continue;
        r.error_at_longest = fmax(r.error_at_longest, size);
        total += x->error;
        last++;
    }
    r.mean_at_longest = total / (double)last;
    return r;
}

/* Where sums in e6m9 to nearest stop, and from which length on all of them have: twice as many terms as the stop, so
 * that chance (a few percent) cannot be in the way; without chunks, 4096 is left behind by 2 standard deviations more.
 */
static const struct stop {
    int chunk, from;
    double at;
} stops[] = {{1, 13, 4096}, {32, 17, 65536}, {64, 18, 131072}, {256, 20, 524288}};

static void claim_stop(ulp_claims *c, const ulp_format *e6m9, const struct stop *stop) {
    const settings *s = c->settings;
    const point kind = {.format = e6m9, .rule = ulp_rules_find(&s->modes, "rne"), .chunk = stop->chunk};
    const reach r = reach_of(c, kind, stop->from, (int)s->longest);
    char text[160], how[40], what[96], exact[16];
    if (reach_of(c, kind, 0, (int)s->longest).rows == 0) return;
    snprintf(how, sizeof how, stop->chunk == 1 ? "without chunks" : "in chunks of %d", stop->chunk);
    snprintf(text, sizeof text, "e6m9 to nearest, %s: every sum of 2^%d terms or more is exactly %.0f", how, stop->from,
             stop->at);
    if (r.rows == 0) {
        ulp_claim_skip(c, text, "--longest is %lld", (long long)s->longest);
        return;
    }
    snprintf(what, sizeof what, "where a sum of mean 1 stops in e6m9, %s", how);
    snprintf(exact, sizeof exact, "%.0f", stop->at);
    ulp_beside(c, &(ulp_published){what, "exact; Wang et al. 2018", exact}, "%.17g", r.most);
    ulp_claim(c, r.least == stop->at && r.most == stop->at, text, "%ld sums, from %.17g to %.17g", r.rows, r.least,
              r.most);
    if (r.least == r.most) ulp_summary(c, "stop", r.most, "e6m9 rne %d", stop->chunk);
}

/* A stochastic step at the sum S errs with variance |x| (s - |x|), s <= S 2^(1-p) the spacing, and E|x| = 2 / sqrt 3:
 * over n terms of mean 1 the standard deviation is below n sqrt(2^-p 2 / sqrt 3), 3.36 % of the sum in e6m9. */
static double stochastic_sd(void) { return sqrt(ldexp(2 / sqrt(3), -10)); }

static void claim_stochastic(ulp_claims *c, const ulp_format *e6m9) {
    const settings *s = c->settings;
    const int longest = (int)s->longest;
    const double sd = stochastic_sd();
    const point stochastic = {.format = e6m9, .rule = ulp_rules_find(&s->modes, "sra"), .chunk = 1},
                nearest = {.format = e6m9, .rule = ulp_rules_find(&s->modes, "rne"), .chunk = 1};
    const reach r = reach_of(c, stochastic, 10, longest), other = reach_of(c, nearest, 10, longest);
    if (r.rows == 0) return;
    ulp_claim(
        c, r.error <= 4 * sd,
        "e6m9 stochastic, without chunks: no sum of 2^10 terms or more errs by over 4 standard deviations, 13.4 %",
        "%ld sums, the farthest off by %.2f %%", r.rows, 100 * r.error);
    if (other.rows > 0 && longest >= 14)
        ulp_claim(c, r.error_at_longest < other.error_at_longest / 5,
                  "at the longest sums, stochastic errs less than a fifth of what nearest does",
                  "2^%d terms: stochastic %.2f %% at most, nearest %.2f %%", longest, 100 * r.error_at_longest,
                  100 * other.error_at_longest);
}

/* The error of the farthest of all stochastic sums, with and without chunks. */
static void summarize_stochastic(ulp_claims *c, const ulp_format *e6m9) {
    const settings *s = c->settings;
    point kind = {.format = e6m9, .rule = ulp_rules_find(&s->modes, "sra")};
    double farthest = 0;
    if (!kind.rule) return;
    for (size_t i = 0; i < s->chunks.count; i++) {
        kind.chunk = s->chunks.at[i];
        farthest = fmax(farthest, reach_of(c, kind, 10, (int)s->longest).error);
    }
    ulp_summary(c, "largest error in deviations", farthest / stochastic_sd(), "e6m9 sra");
}

static void claim_close(ulp_claims *c, const ulp_format *e6m9) {
    const settings *s = c->settings;
    const point in_chunks = {.format = e6m9, .rule = ulp_rules_find(&s->modes, "rne"), .chunk = 256};
    const reach wide = reach_of(c, (point){.format = e6m9}, SHORTEST, (int)s->longest),
                chunked = reach_of(c, in_chunks, 10, 18);
    if (chunked.rows > 0)
        ulp_claim(c, chunked.error <= 0.02,
                  "e6m9 to nearest, in chunks of 256: sums of 2^10 to 2^18 terms err by 2 % at most",
                  "%ld sums, the farthest off by %.2f %%", chunked.rows, 100 * chunked.error);
    ulp_claim(c, wide.error <= 1e-3, "binary32 sums the same terms within 0.1 % at every length",
              "%ld sums, the farthest off by %.2g %%", wide.rows, 100 * wide.error);
}

static void print_cells(ulp_sheet *sheet, const ulp_claims *c, point kind) {
    const int longest = (int)((const settings *)c->settings)->longest, lengths[] = {10, 12, 14, 16, 18, 20};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        if (lengths[i] > longest) continue;
        const reach r = reach_of(c, kind, lengths[i], lengths[i]);
        if (r.rows == 0) ulp_sheet_put(sheet, "-");
        else ulp_sheet_put(sheet, r.least == r.most ? "%.7g" : "%.7g .. %.7g", r.least, r.most);
    }
    ulp_sheet_put(sheet, "%.3g %%", 100 * reach_of(c, kind, longest, longest).mean_at_longest);
}

static void print_format(ulp_sheet *sheet, const ulp_claims *c, const ulp_format *format) {
    const settings *s = c->settings;
    for (size_t m = 0; m < s->modes.count; m++)
        for (size_t i = 0; i < s->chunks.count; i++) {
            const point kind = {.format = format, .rule = &s->modes.at[m], .chunk = s->chunks.at[i]};
            ulp_sheet_put(sheet, "%s", format->name);
            ulp_sheet_put(sheet, "%s", kind.rule->name);
            if (kind.chunk == 1) ulp_sheet_put(sheet, "none");
            else ulp_sheet_put(sheet, "%lld", (long long)kind.chunk);
            print_cells(sheet, c, kind);
        }
    ulp_sheet_put(sheet, "binary32");
    ulp_sheet_put(sheet, "rne");
    ulp_sheet_put(sheet, "none");
    print_cells(sheet, c, (point){.format = format});
}

static void print_table(const ulp_claims *c) {
    const settings *s = c->settings;
    char columns_text[160] = "format,mode,chunk";
    for (int e = 10; e <= s->longest && e <= 20; e += 2)
        snprintf(columns_text + strlen(columns_text), 16, ",n = 2^%d", e);
    strcat(columns_text, ",mean error at the end");
    ulp_sheet *sheet = ulp_sheet_new("sums of n terms of mean 1, least .. most over the seeds", columns_text);
    for (size_t f = 0; f < s->formats.count; f++) print_format(sheet, c, &s->formats.at[f]);
    ulp_sheet_print(sheet, c->file);
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    const ulp_format *e6m9 = ulp_formats_find(&s->formats, "e6m9");
    print_table(c);
    if (!e6m9) {
        ulp_claim_skip(c, "where sums stop", "the claims are about e6m9, which is not in --formats");
        return;
    }
    ulp_summary(c, "significant bits", e6m9->prec, "e6m9");
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) claim_stop(c, e6m9, &stops[i]);
    claim_stochastic(c, e6m9);
    summarize_stochastic(c, e6m9);
    claim_close(c, e6m9);
}
