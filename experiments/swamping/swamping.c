/* swamping.c - sums of positive-mean data in a small accumulator: where do they stop, what do chunks and chance cure?
 *
 * After Wang et al. 2018 (arXiv 1812.08011), figure 3: terms from U[1 - sqrt 3, 1 + sqrt 3] (mean 1, standard deviation
 * 1), rounded to the accumulator's format first, so that only the additions err. Sums of 2^4, 2^5, ... terms: a longer
 * sum begins with the terms and the random words of the shorter ones. Chunk N: serial sums of N terms, and a serial sum
 * of these (section 3.1 there).
 * Where a sum to nearest stops, in precision p: on [2^e, 2^(e+1)) numbers are 2^(e-p+1) apart, and what is smaller than
 * half of that moves nothing. A single term is below 2.74, a chunk of N >= 32 terms below 2 N (its mean is N, its
 * standard deviation sqrt N; for N = 32 that is 5.6 of them, passed by less than one chunk in 10^8). So the sum stops
 * at 2^(p+2) without chunks and at 2 N 2^p with them, exactly there, since the steps on the way divide these powers.
 */
#include "experiments/harness/experiment.h"
#include "sim/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    ulp_integer_list chunks;
    int64_t longest, seeds;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

/* Chunk 0, without a rule: the same terms in binary32. */
typedef struct point {
    const ulp_format *format;
    const ulp_named_rule *rule;
    int64_t chunk;
    uint64_t seed;
} point;

typedef struct row {
    const char *format, *datapath, *mode;
    int64_t chunk, seed, n;
    double sum;
    ulp_code code;
    double exact, error;
} row;

enum { SHORTEST = 4 };

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "e6m9", NULL, ulp_format_within_binary32, ULP_WANTS_WITHIN_BINARY32),
    ULP_OPTION_MODES_OF(settings, modes, "rne,sra", NULL),
    ULP_OPTION(settings, chunks, integers, "1,8,32,64,256", .help = "terms in a chunk; 1: one serial sum", .min = 1,
               .max = 65536),
    ULP_OPTION(settings, longest, integer, "18", .full = "20",
               .help = "log2 of the longest sum; the shortest has 2^4 terms", .min = SHORTEST, .max = 24),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_SEEDS(settings, seeds, "4", "2", "50"),
    ULP_OPTION_BACKEND_OF(settings, backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMN(row, format),
    ULP_COLUMN(row, datapath),
    ULP_COLUMN(row, mode),
    ULP_COLUMN(row, chunk),
    ULP_COLUMN(row, seed),
    ULP_COLUMN(row, n),
    ULP_COLUMN(row, sum),
    ULP_COLUMN(row, code),
    ULP_COLUMN(row, exact),
    ULP_COLUMN(row, error),
    {0},
};

static void plan_seed(ulp_plan *plan, const settings *s, const ulp_format *format, uint64_t seed) {
    for (size_t m = 0; m < s->modes.count; m++)
        for (size_t i = 0; i < s->chunks.count; i++) {
            const point p = {format, &s->modes.at[m], s->chunks.at[i], seed};
            ulp_plan_add(plan, &p, 16, "%s %s chunk %lld seed %llu", format->name, p.rule->name, (long long)p.chunk,
                         (unsigned long long)seed);
        }
    ulp_plan_add(plan, &(point){.format = format, .seed = seed}, 0, "%s data in binary32 seed %llu", format->name,
                 (unsigned long long)seed);
}

static ulp_status plan(ulp_plan *plan, const void *own, void *context) {
    const settings *s = own;
    (void)context;
    for (size_t f = 0; f < s->formats.count; f++)
        for (int64_t i = 0; i < s->seeds; i++) plan_seed(plan, s, &s->formats.at[f], s->seed + (uint64_t)i);
    return ULP_OK;
}

/* The mode of a point: binary32 rounds to nearest even. */
static const char *mode_of(const point *p) { return p->rule ? p->rule->name : "rne"; }

static ulp_status datapath_of(const point *p, ulp_datapath *datapath) {
    char name[2 * ULP_DATAPATH_NAME_MAX];
    if (p->chunk == 0) snprintf(name, sizeof name, "fp32");
    else if (p->chunk == 1) snprintf(name, sizeof name, "serial:%s:%s", p->format->name, mode_of(p));
    else snprintf(name, sizeof name, "chunk%lld:%s:%s", (long long)p->chunk, p->format->name, mode_of(p));
    return ulp_datapath_parse(datapath, name);
}

/* The terms of a seed, what they are multiplied by, and their sums: backend memory. */
typedef struct terms {
    float *x, *ones, *sum;        /* (n), (n), (1) */
    double *x64, *ones64, *truth; /* the same */
} terms;

static void carve(terms *t, ulp_arena *arena, size_t n) {
    t->x = ulp_arena_take(arena, n);
    t->ones = ulp_arena_take(arena, n);
    t->sum = ulp_arena_take(arena, 1);
    t->x64 = ulp_arena_take64(arena, n);
    t->ones64 = ulp_arena_take64(arena, n);
    t->truth = ulp_arena_take64(arena, 1);
}

static ulp_status fill(const ulp_backend *backend, const terms *t, size_t n, const ulp_format *format, uint64_t seed) {
    const ulp_stream stream = ulp_stream_named(seed, "swamping terms");
    float *x = malloc(n * sizeof *x);
    double *x64 = malloc(n * sizeof *x64);
    ulp_status status = x != NULL && x64 != NULL ? ulp_tensor_fill(backend, t->ones, n, 1.0f) : ULP_NO_MEMORY;
    for (size_t i = 0; i < n && status == ULP_OK; i++) {
        const double u = ulp_random_uniform(stream, i);
        x64[i] = ulp_round(1 + sqrt(3) * (2 * u - 1), format, (ulp_rule){0}, 0);
        x[i] = (float)x64[i];
    }
    if (status == ULP_OK) status = backend->upload(t->x, x, n * sizeof *x);
    if (status == ULP_OK) status = backend->upload(t->x64, x64, n * sizeof *x64);
    for (size_t i = 0; i < n && status == ULP_OK; i++) x64[i] = 1;
    if (status == ULP_OK) status = backend->upload(t->ones64, x64, n * sizeof *x64);
    free(x);
    free(x64);
    return status;
}

/* A way to sum: the datapath, the exact sum beside it, and the random words. */
typedef struct way {
    ulp_datapath rounded, exact;
    ulp_stream stream;
} way;

/* The sums of the first n terms. */
static ulp_status sum_terms(const ulp_backend *backend, const terms *t, const way *w, size_t n, row *r) {
    const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = n, .lda = n, .ldb = 1, .ldc = 1};
    float sum = 0;
    double truth = 0;
    ulp_status status =
        ulp_backend_gemm(backend, t->sum, t->x, t->ones, &shape, (ulp_summation){&w->rounded, w->stream});
    if (status == ULP_OK)
        status =
            ulp_backend_gemm64(backend, t->truth, t->x64, t->ones64, &shape, (ulp_summation){&w->exact, w->stream});
    if (status == ULP_OK) status = backend->download(&sum, t->sum, sizeof sum);
    if (status == ULP_OK) status = backend->download(&truth, t->truth, sizeof truth);
    r->n = (int64_t)n;
    r->sum = (double)sum;
    r->code = (ulp_code){&w->rounded.result, r->sum};
    r->exact = truth;
    r->error = (r->sum - truth) / truth;
    return status;
}

static ulp_status put_lengths(const ulp_task *task, const terms *t) {
    const settings *s = task->settings;
    const point *p = task->point;
    way w;
    ulp_status status = datapath_of(p, &w.rounded);
    if (status == ULP_OK) status = ulp_datapath_parse(&w.exact, "exact:binary64:rne");
    w.stream = ulp_stream_named(p->seed, "swamping %s %s chunk %lld", p->format->name, mode_of(p), (long long)p->chunk);
    row r = {.format = p->format->name, .datapath = w.rounded.name, .mode = mode_of(p), .chunk = p->chunk};
    r.seed = (int64_t)p->seed;
    for (int64_t e = SHORTEST; e <= s->longest && status == ULP_OK; e++) {
        status = sum_terms(s->backend, t, &w, (size_t)1 << e, &r);
        if (status != ULP_OK) break;
        ulp_row_put(task->rows, &r);
        if (ulp_task_progress(task, ldexp(1, (int)(e - s->longest)))) break;
    }
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    const point *p = task->point;
    const size_t n = (size_t)1 << s->longest;
    ulp_arena arena;
    terms t;
    ulp_arena_init(&arena, s->backend);
    carve(&t, &arena, n);
    ulp_status status = ulp_arena_alloc(&arena);
    if (status == ULP_OK) {
        carve(&t, &arena, n);
        status = fill(arena.backend, &t, n, p->format, p->seed);
        if (status == ULP_OK) status = put_lengths(task, &t);
    }
    ulp_arena_release(&arena);
    return status;
}

/* ---- claims ---- */

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

static void judge(ulp_claims *c) {
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

static const ulp_experiment experiment = {
    .name = "swamping",
    .question = "at which length does a sum of positive-mean data stop growing, and what do chunks and stochastic "
                "rounding cure?",
    ULP_EXPERIMENT_OF(settings, point, row),
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
