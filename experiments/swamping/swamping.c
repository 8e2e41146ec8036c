/* swamping.c - sums of positive-mean data in a small accumulator: where do they stop, what do chunks and modes change?
 *
 * After Wang et al. 2018 (arXiv 1812.08011), figure 3. The terms are from U[1 - sqrt 3, 1 + sqrt 3] (mean 1, standard
 * deviation 1). They are rounded to the accumulator's format first, so only the additions have errors. The sums have
 * 2^4, 2^5, ... terms. A longer sum begins with the terms and the random words of the shorter sums. Chunk N: serial
 * sums of N terms, and a serial sum of these sums (section 3.1 of the paper).
 */
#include "swamping.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "experiments/harness/training/matrices.h"

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

/* What the points find once and share. */
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
    ulp_status status = ulp_product_open(&terms, s->backend, 1, (size_t)1 << s->longest);
    if (status == ULP_OK) status = fill(&terms, p->format, p->seed);
    if (status == ULP_OK) status = put_lengths(task, &terms);
    ulp_product_close(&terms);
    return status;
}

const ulp_experiment experiment = {
    .name = "swamping",
    .question = "at which length does a sum of positive-mean data stop growing, and what do chunks and stochastic "
                "rounding cure?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(context),
    .release = release,
};
