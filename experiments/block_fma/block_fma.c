/* block_fma.c - matrix products of binary16 data: how does the error grow when blocks of products are added at once?
 *
 * After Blanchard, Higham, Lopez, Mary, Pranesh 2020 (SIAM J. Sci. Comput. 42(3), doi:10.1137/19M1289546), section 5:
 * C = A B with A (m,n) and B (n,m) from U[0,1] or U[-1,1], rounded to binary16. The error of an output is
 * (computed - exact) / (|A| |B|). A row has the largest |error|, the mean |error| and the mean error (drift) over the
 * m^2 outputs. The paper gives these leading terms:
 *   - n u16 for binary16
 *   - n u16 / 4 for Tensor Cores that add 4 products at once and return binary16
 *   - n u32 for Tensor Cores that return binary32
 *
 * The model of the paper rounds each block once and to nearest: the datapath block4. The hardware truncates (Fasi et
 * al. 2021, doi:10.7717/peerj-cs.330): the datapath v100-fp16.
 *
 * Here m is a few dozen, and not n. More outputs raise the largest error a little and do not change the mean error.
 * From n = 8192 on, m is halved to save time.
 */
#include "experiments/harness/experiment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/harness/training/matrices.h"

/* The model of the paper: blocks of 4 products, each rounded once and to nearest. */
#define NEAREST "block4:binary32:rne"

typedef struct settings {
    ulp_datapath_list datapaths;
    ulp_integer_list sizes;
    int64_t outputs, seeds;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

/* The data: U[0,1] and U[-1,1]. */
enum { POSITIVE, SIGNED, KINDS };
#define DATA_WORDS "positive signed"
static const char *const data_names[KINDS] = {"positive", "signed"};

typedef struct point {
    int data;
    int64_t n;
    uint64_t seed;
} point;

typedef struct row {
    int data;
    int64_t n, seed;
    const char *datapath;
    int64_t outputs;
    double max_error, mean_error, drift;
} row;

static const ulp_option options[] = {
    ULP_OPTION_DATAPATHS_OF(settings, datapaths,
                            "serial:fp16:rne,v100-fp16-fp16,v100-fp16,a100-fp16,h100-fp16," NEAREST, NULL),
    ULP_OPTION(settings, sizes, integers, "16,32,64,128,256,512,1024,2048,4096,8192,16384,32768",
               .quick = "16,32,64,128,256,512,1024", .help = "n, the products in one output", .min = 1, .max = 1e6),
    ULP_OPTION(settings, outputs, integer, "32", .full = "128",
               .help = "m: outputs are m x m; half of it for n of 8192 and more", .min = 8, .max = 4096),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_SEEDS(settings, seeds, "1", NULL, "3"),
    ULP_OPTION_BACKEND_OF(settings, backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_WORDS(row, data, DATA_WORDS),
    ULP_COLUMNS(row, n, seed, datapath, outputs, max_error, mean_error, drift),
    {0},
};

static int takes(const ulp_datapath *d) {
    return d->result.fits_binary32 &&
           (!d->has_inputs || (strcmp(d->a.name, "binary16") == 0 && strcmp(d->b.name, "binary16") == 0));
}

static ulp_status plan(ulp_plan *plan) {
    const settings *set = plan->settings;
    for (size_t i = 0; i < set->datapaths.count; i++)
        if (!takes(&set->datapaths.at[i]))
            return ulp_plan_fail(plan, ULP_UNSUPPORTED,
                                 "--datapath %s: needs binary16 inputs and results no wider than binary32",
                                 set->datapaths.at[i].name);
    for (int64_t s = 0; s < set->seeds; s++)
        for (int data = 0; data < KINDS; data++)
            for (size_t i = 0; i < set->sizes.count; i++) {
                const int64_t n = set->sizes.at[i];
                const point p = {data, n, set->seed + (uint64_t)s};
                ulp_plan_add(plan, &p, n < 8192 ? (double)n : (double)n / 4, "%s n %lld seed %llu", data_names[data],
                             (long long)n, (unsigned long long)p.seed);
            }
    return ULP_OK;
}

static void fill(const ulp_product *p, int kind, uint64_t seed) {
    ulp_format half;
    ulp_format_parse(&half, "binary16");
    const ulp_stream a = ulp_stream_named(seed, "block_fma %s A %zu", data_names[kind], p->k);
    const ulp_stream b = ulp_stream_named(seed, "block_fma %s B %zu", data_names[kind], p->k);
    for (size_t i = 0; i < p->m * p->k; i++) {
        const double u = ulp_random_uniform(a, i), v = ulp_random_uniform(b, i);
        p->host.a64[i] = ulp_round(kind == POSITIVE ? u : 2 * u - 1, &half, (ulp_rule){0}, 0);
        p->host.b64[i] = ulp_round(kind == POSITIVE ? v : 2 * v - 1, &half, (ulp_rule){0}, 0);
        p->host.a[i] = (float)p->host.a64[i];
        p->host.b[i] = (float)p->host.b64[i];
    }
}

/* Computes the exact C and p->other = |A| |B|, each rounded once to binary64. For signed data, a64 and b64 become
 * magnitudes. */
static ulp_status measure(const ulp_product *p, int kind) {
    const ulp_status status = ulp_product_multiply_exactly(p, p->host.c64);
    if (kind == POSITIVE) { /* |A| |B| = A B */
        memcpy(p->other, p->host.c64, p->m * p->m * sizeof *p->other);
        return status;
    }
    for (size_t i = 0; i < p->m * p->k; i++) {
        p->host.a64[i] = fabs(p->host.a64[i]);
        p->host.b64[i] = fabs(p->host.b64[i]);
    }
    return status == ULP_OK ? ulp_product_multiply_exactly(p, p->other) : status;
}

static void put_errors(ulp_rows *rows, const ulp_product *p, const point *at, const char *datapath) {
    double most = 0, total = 0, drift = 0;
    const double outputs = (double)(p->m * p->m);
    for (size_t i = 0; i < p->m * p->m; i++) {
        const double error = ((double)p->host.c[i] - p->host.c64[i]) / p->other[i];
        most = isnan(error) ? INFINITY : fmax(most, fabs(error));
        total += fabs(error);
        drift += error;
    }
    ulp_row_put(rows, &(row){.data = at->data,
                             .n = at->n,
                             .seed = (int64_t)at->seed,
                             .datapath = datapath,
                             .outputs = (int64_t)(p->m * p->m),
                             .max_error = most,
                             .mean_error = total / outputs,
                             .drift = drift / outputs});
}

static ulp_status put_product(const ulp_task *task, ulp_product *p) {
    const settings *set = task->settings;
    const point *at = task->point;
    fill(p, at->data, at->seed);
    ulp_status status = measure(p, at->data);
    if (status == ULP_OK) status = ulp_product_upload(p);
    for (size_t i = 0; i < set->datapaths.count && status == ULP_OK; i++) {
        const ulp_datapath *d = &set->datapaths.at[i];
        const ulp_stream stream =
            ulp_stream_named(at->seed, "block_fma %s %s %zu", data_names[at->data], d->name, p->k);
        status = ulp_product_multiply(p, d, stream);
        if (status != ULP_OK) return ulp_task_fail(task, status, "--datapath %s: %s", d->name, ulp_status_text(status));
        put_errors(task->rows, p, at, d->name);
        if (ulp_task_progress(task, (double)(i + 1) / (double)set->datapaths.count)) break;
    }
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    const size_t n = (size_t)((const point *)task->point)->n, m = (size_t)set->outputs / (n >= 8192 ? 2 : 1);
    ulp_product p;
    ulp_status status = ulp_product_open(&p, set->backend, m, m, n, 1);
    if (status == ULP_OK) status = put_product(task, &p);
    ulp_product_close(&p);
    return status;
}

/* ---- the claims ---- */

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
    char heads[160] = "data,datapath";
    int has[sizeof shown / sizeof shown[0]];
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        has[i] = datapaths->count > 0 && !isnan(error_of(c, POSITIVE, datapaths->at[0].name, shown[i]));
        if (has[i]) snprintf(heads + strlen(heads), 16, ",n = %lld", (long long)shown[i]);
    }
    ulp_sheet *table =
        ulp_sheet_new("the largest |computed - exact| / (|A| |B|); positive: U[0,1], signed: U[-1,1]", heads);
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

const ulp_experiment experiment = {
    .name = "block_fma",
    .question = "how does the error of a matrix product grow when blocks of products are added at once, with binary16 "
                "or binary32 results?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .threads_inside = 1,
};
