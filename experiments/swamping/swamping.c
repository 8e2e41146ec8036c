/* swamping.c - sums of positive-mean data in a small accumulator: where do they stop, what do chunks and modes change?
 *
 * After Wang et al. 2018 (arXiv 1812.08011), figure 3. The terms are from U[1 - sqrt 3, 1 + sqrt 3] (mean 1, standard
 * deviation 1). They are rounded to the accumulator's format first, so only the additions have errors. The sums have
 * 2^4, 2^5, ... terms. A longer sum begins with the terms and the random words of the shorter sums. Chunk N: serial
 * sums of N terms, and a serial sum of these sums (section 3.1 of the paper).
 */
#include "experiments/harness/experiment.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/training/matrices.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    ulp_integer_list chunks;
    int64_t longest, seeds;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

/* A series of sums of growing length. Chunk 0 without a rule: the terms are summed in binary32. */
typedef struct point {
    const ulp_format *format;
    const ulp_named_rule *rule;
    int64_t chunk;
    uint64_t seed;
    size_t data; /* the number of the format and the seed, from 0 */
} point;

typedef struct row {
    const char *format, *datapath, *mode;
    int64_t chunk, seed, n;
    double sum;
    ulp_code code;
    double exact, error;
} row;

enum { SHORTEST = 4, LONGEST = 24 };

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "e6m9", NULL, ulp_format_within_binary32, ULP_WANTS_WITHIN_BINARY32),
    ULP_OPTION_MODES_OF(settings, modes, "rne,sra", NULL),
    ULP_OPTION(settings, chunks, integers, "1,8,32,64,256", .help = "terms in a chunk; 1: one serial sum", .min = 1,
               .max = 65536),
    ULP_OPTION(settings, longest, integer, "18", .full = "20",
               .help = "log2 of the longest sum; the shortest has 2^4 terms", .min = SHORTEST, .max = LONGEST),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_SEEDS(settings, seeds, "4", "2", "50"),
    ULP_OPTION_BACKEND_OF(settings, backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, format, datapath, mode, chunk, seed),
    ULP_COLUMNS(row, n, sum, code, exact, error),
    {0},
};

/* The exact sums of the terms of a format and a seed, which its points share: of 2^e terms at place e. */
typedef struct exact_sums {
    double sum[LONGEST + 1];
    int known;
} exact_sums;

/* Data that the points find once and share. */
typedef struct found {
    pthread_mutex_t lock;
    exact_sums exact[]; /* (formats * seeds) */
} found;

typedef struct context {
    found *found;
} context;

static void plan_seed(ulp_plan *plan, const settings *s, size_t data) {
    const ulp_format *format = &s->formats.at[data / (size_t)s->seeds];
    const uint64_t seed = s->seed + data % (size_t)s->seeds;
    for (size_t m = 0; m < s->modes.count; m++)
        for (size_t i = 0; i < s->chunks.count; i++) {
            const point p = {format, &s->modes.at[m], s->chunks.at[i], seed, data};
            ulp_plan_add(plan, &p, 16, "%s %s chunk %lld seed %llu", format->name, p.rule->name, (long long)p.chunk,
                         (unsigned long long)seed);
        }
    ulp_plan_add(plan, &(point){.format = format, .seed = seed, .data = data}, 0, "%s data in binary32 seed %llu",
                 format->name, (unsigned long long)seed);
}

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    context *x = plan->context;
    const size_t count = s->formats.count * (size_t)s->seeds;
    x->found = calloc(1, sizeof *x->found + count * sizeof *x->found->exact);
    if (!x->found) return ULP_NO_MEMORY;
    pthread_mutex_init(&x->found->lock, NULL);
    for (size_t i = 0; i < count; i++) plan_seed(plan, s, i);
    return ULP_OK;
}

static void release(void *shared) {
    context *x = shared;
    if (x->found) pthread_mutex_destroy(&x->found->lock);
    free(x->found);
}

/* The mode of a point. Sums in binary32 have no rule and round to nearest even. */
static const char *mode_of(const point *p) { return p->rule ? p->rule->name : "rne"; }

static ulp_status datapath_of(const point *p, ulp_datapath *datapath) {
    char name[2 * ULP_DATAPATH_NAME_MAX];
    if (p->chunk == 0) snprintf(name, sizeof name, "fp32");
    else if (p->chunk == 1) snprintf(name, sizeof name, "serial:%s:%s", p->format->name, mode_of(p));
    else snprintf(name, sizeof name, "chunk%lld:%s:%s", (long long)p->chunk, p->format->name, mode_of(p));
    return ulp_datapath_parse(datapath, name);
}

/* Fills a product with the terms of a seed in A, and ones, which multiply the terms, in B. */
static ulp_status fill(const ulp_product *terms, const ulp_format *format, uint64_t seed) {
    const ulp_stream stream = ulp_stream_named(seed, "swamping terms");
    for (size_t i = 0; i < terms->k; i++) {
        const double u = ulp_random_uniform(stream, i);
        terms->host.a64[i] = ulp_round(1 + sqrt(3) * (2 * u - 1), format, (ulp_rule){0}, 0);
        terms->host.a[i] = (float)terms->host.a64[i];
        terms->host.b64[i] = terms->host.b[i] = 1;
    }
    return ulp_product_upload(terms);
}

/* The product of the first 2^e terms. */
static ulp_product first_of(const ulp_product *terms, int64_t e) {
    ulp_product first = *terms;
    first.k = (size_t)1 << e;
    return first;
}

/* Sum the first 2^e terms for every e without a rounding error. */
static ulp_status find_exact(exact_sums *to, const settings *s, const ulp_product *terms) {
    for (int64_t e = SHORTEST; e <= s->longest; e++) {
        const ulp_product first = first_of(terms, e);
        ULP_TRY(ulp_product_multiply_exactly(&first, &to->sum[e]));
    }
    to->known = 1;
    return ULP_OK;
}

/* A way to sum: the datapath and the stream of random words. */
typedef struct way {
    ulp_datapath rounded;
    ulp_stream stream;
} way;

/* Sums the first 2^e terms, and puts the sum into *r, which has the exact sum. */
static ulp_status sum_terms(const ulp_product *terms, const way *w, int64_t e, row *r) {
    const ulp_product first = first_of(terms, e);
    ULP_TRY(ulp_product_multiply(&first, &w->rounded, w->stream));
    r->n = (int64_t)first.k;
    r->sum = (double)*first.host.c;
    r->code = (ulp_code){&w->rounded.result, r->sum};
    r->error = (r->sum - r->exact) / r->exact;
    return ULP_OK;
}

static ulp_status put_lengths(const ulp_task *task, const ulp_product *terms) {
    const settings *s = task->settings;
    const point *p = task->point;
    found *shared = ((const context *)task->context)->found;
    exact_sums *exact = &shared->exact[p->data];
    way w;
    ULP_TRY(datapath_of(p, &w.rounded));
    pthread_mutex_lock(&shared->lock);
    const ulp_status status = exact->known ? ULP_OK : find_exact(exact, s, terms);
    pthread_mutex_unlock(&shared->lock);
    ULP_TRY(status);
    w.stream = ulp_stream_named(p->seed, "swamping %s %s chunk %lld", p->format->name, mode_of(p), (long long)p->chunk);
    row r = {.format = p->format->name, .datapath = w.rounded.name, .mode = mode_of(p), .chunk = p->chunk};
    r.seed = (int64_t)p->seed;
    for (int64_t e = SHORTEST; e <= s->longest; e++) {
        r.exact = exact->sum[e];
        ULP_TRY(sum_terms(terms, &w, e, &r));
        ulp_row_put(task->rows, &r);
        if (ulp_task_progress(task, ldexp(1, (int)(e - s->longest)))) break;
    }
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    const point *p = task->point;
    ulp_product terms;
    ulp_status status = ulp_product_open(&terms, s->backend, 1, 1, (size_t)1 << s->longest, 1);
    if (status == ULP_OK) status = fill(&terms, p->format, p->seed);
    if (status == ULP_OK) status = put_lengths(task, &terms);
    ulp_product_close(&terms);
    return status;
}

/* ---- the claims ---- */

/* A sum to nearest in precision p stops for this reason. On [2^e, 2^(e+1)) the spacing is 2^(e-p+1), and a term smaller
 * than half the spacing does not change the sum. A single term is below 2.74. The sum of a chunk of N >= 32 terms is
 * below 2 N: the mean of this sum is N and its standard deviation is sqrt N. For N = 32 the distance from N to 2 N is
 * 5.6 standard deviations, and less than one chunk in 10^8 exceeds 2 N. So the sum stops at 2^(p+2) without chunks and
 * at 2 N 2^p with chunks. It stops exactly at these powers, because every spacing on the way divides them.
 */

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

const ulp_experiment experiment = {
    .name = "swamping",
    .question = "at which length does a sum of positive-mean data stop growing, and what do chunks and stochastic "
                "rounding cure?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(context),
    .release = release,
};
