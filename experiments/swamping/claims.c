/* claims.c - the table of swamping, and the claims: where sums stop, and how large the errors of stochastic sums are.
 *
 * A sum to nearest in precision p stops for this reason. On [2^e, 2^(e+1)) the spacing is 2^(e-p+1), and a term smaller
 * than half the spacing does not change the sum. A single term is below 2.74. The sum of a chunk of N >= 32 terms is
 * below 2 N: the mean of this sum is N and its standard deviation is sqrt N. For N = 32 the distance from N to 2 N is
 * 5.6 standard deviations, and less than one chunk in 10^8 exceeds 2 N. So the sum stops at 2^(p+2) without chunks and
 * at 2 N 2^p with chunks. It stops exactly at these powers, because every spacing on the way divides them.
 */
#include "swamping.h"

#include <math.h>
#include <string.h>

/* The sums and the errors over all seeds, at the lengths 2^from to 2^to. The longest length is 2^to. */
typedef struct reach {
    long rows;
    double least, most; /* sums */
    double error;       /* the largest |relative error| */
    double error_at_longest, mean_at_longest;
} reach;

/* The seed of `kind` is ignored. */
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

/* The values at which sums in e6m9 to nearest stop, and log2 of the length from which on all sums have stopped. The
 * length is twice the stop, and chance changes the needed number of terms by a few percent only. Without chunks, only
 * terms of 2 or more change a sum above 2048, and a sum reaches 4096 after about 4500 terms. */
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
    ulp_claim(c, r.least == stop->at && r.most == stop->at, text, "%ld sum%s, from %.17g to %.17g", r.rows,
              ulp_plural((size_t)r.rows), r.least, r.most);
    if (r.least == r.most) ulp_summary(c, "stop", r.most, "e6m9 rne %d", stop->chunk);
}

/* A bound on the relative standard deviation of a stochastic sum. The stochastic addition of x to the sum S has an
 * error of variance |x| (s - |x|), where s <= S 2^(1-p) is the spacing. The mean of |x| is 2 / sqrt 3. So the standard
 * deviation of a sum of n terms of mean 1 is below n sqrt(2^-p 2 / sqrt 3), 3.36 % of the sum in e6m9. */
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
        "%ld sum%s, the farthest off by %.2f %%", r.rows, ulp_plural((size_t)r.rows), 100 * r.error);
    if (other.rows > 0 && longest >= 14)
        ulp_claim(c, r.error_at_longest < other.error_at_longest / 5,
                  "at the longest sums, stochastic errs less than a fifth of what nearest does",
                  "2^%d terms: stochastic %.2f %% at most, nearest %.2f %%", longest, 100 * r.error_at_longest,
                  100 * other.error_at_longest);
}

/* The largest error of all stochastic sums, with and without chunks, in standard deviations. */
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
                  "%ld sum%s, the farthest off by %.2f %%", chunked.rows, ulp_plural((size_t)chunked.rows),
                  100 * chunked.error);
    ulp_claim(c, wide.error <= 1e-3, "binary32 sums the same terms within 0.1 % at every length",
              "%ld sum%s, the farthest off by %.2g %%", wide.rows, ulp_plural((size_t)wide.rows), 100 * wide.error);
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
            ulp_sheet_put_row(sheet, "%s,%s", format->name, kind.rule->name);
            if (kind.chunk == 1) ulp_sheet_put(sheet, "none");
            else ulp_sheet_put(sheet, "%lld", (long long)kind.chunk);
            print_cells(sheet, c, kind);
        }
    ulp_sheet_put_row(sheet, "binary32,rne,none");
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
