/* block_fma.c - matrix products of binary16 data: how does the error grow when blocks of products are added at once?
 *
 * After Blanchard, Higham, Lopez, Mary, Pranesh 2020 (SIAM J. Sci. Comput. 42(3), doi:10.1137/19M1289546), section 5:
 * C = A B with A (m,n) and B (n,m) from U[0,1] or U[-1,1], rounded to binary16. Reported is, over the m^2 outputs, the
 * largest and the mean of |computed - exact| / (|A| |B|), beside the paper's leading terms: n u16 for binary16,
 * n u16 / 4 for Tensor Cores that add 4 products at once and return binary16, n u32 for those that return binary32.
 * Their model rounds each block once and to nearest: the row block4. The hardware truncates (Fasi et al. 2021,
 * doi:10.7717/peerj-cs.330): the row v100-fp16. m is a few dozen here, not n: more outputs raise the largest error a
 * little and the mean not at all. From n = 8192 on m is halved, for the time it takes.
 */
#include "experiments/harness/harness.h"
#include "experiments/harness/training/matrices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAREST "block4:binary32:rne"

static const ulp_option options[] = {
    ULP_TAKES_DATAPATHS("serial:fp16:rne,v100-fp16-fp16,v100-fp16,a100-fp16,h100-fp16," NEAREST, NULL),
    {"sizes", ULP_OPTION_INTEGERS, "16,32,64,128,256,512,1024,2048,4096,8192,16384,32768", "16,32,64,128,256,512,1024",
     NULL, "n, the products in one output", 1, 1e6, NULL, 0},
    {"outputs", ULP_OPTION_INTEGER, "32", NULL, "128", "m: outputs are m x m; half of it for n of 8192 and more", 8,
     4096, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("1", NULL, "3"),
    ULP_TAKES_BACKEND,
    {0},
};

static const char *const data_names[] = {"positive", "signed"}; /* U[0,1] and U[-1,1] */

enum { AT_DATA, AT_N, AT_SEED, POSITIVE = 0, KINDS = 2 };

static ulp_status prepare(ulp_run *run, void **context) {
    size_t sizes, datapaths;
    const double *n = ulp_option_numbers(run, "sizes", &sizes);
    const ulp_datapath *d = ulp_run_datapaths(run, &datapaths);
    (void)context;
    for (size_t i = 0; i < datapaths; i++) {
        const int takes =
            !d[i].has_inputs || (strcmp(d[i].a.name, "binary16") == 0 && strcmp(d[i].b.name, "binary16") == 0);
        if (!takes || !d[i].result.fits_binary32)
            return ulp_run_fail(run, ULP_UNSUPPORTED,
                                "--datapath %s: needs binary16 inputs and results no wider than binary32", d[i].name);
    }
    for (int64_t s = 0; s < ulp_option_integer(run, "seeds"); s++)
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t i = 0; i < sizes; i++) {
                const int64_t seed = (int64_t)ulp_run_seed(run) + s;
                ulp_point point = {.at = {kind, (int64_t)n[i], seed}, .cost = n[i] < 8192 ? n[i] : n[i] / 4};
                ulp_point_add(run, point, "%s n %.0f seed %lld", data_names[kind], n[i], (long long)seed);
            }
    return ULP_OK;
}

/* One product's operands, B as columns, and what is compared. */
typedef struct product {
    size_t m, n;
    float *a, *b, *c;                 /* a (m,n), b (m,n), c (m,m) */
    double *a64, *b64, *exact, *size; /* size: |A| |B| */
    ulp_matrices there;               /* the same in backend memory; c64 (m,m): exact, then size */
} product;

static void fill(product *p, int kind, uint64_t seed) {
    ulp_format half;
    ulp_format_parse(&half, "binary16");
    const ulp_stream a = ulp_stream_named(seed, "block_fma %s A %zu", data_names[kind], p->n);
    const ulp_stream b = ulp_stream_named(seed, "block_fma %s B %zu", data_names[kind], p->n);
    for (size_t i = 0; i < p->m * p->n; i++) {
        const double u = ulp_random_uniform(a, i), v = ulp_random_uniform(b, i);
        p->a64[i] = ulp_round(kind == POSITIVE ? u : 2 * u - 1, &half, (ulp_rule){0}, 0);
        p->b64[i] = ulp_round(kind == POSITIVE ? v : 2 * v - 1, &half, (ulp_rule){0}, 0);
        p->a[i] = (float)p->a64[i];
        p->b[i] = (float)p->b64[i];
    }
}

/* The exact C and |A| |B|, each rounded once to binary64; a64 and b64 may become magnitudes. */
static ulp_status measure(const ulp_backend *backend, product *p, int kind) {
    ulp_status status = ulp_matrices_multiply_exactly(backend, p->exact, &p->there, p->a64, p->b64);
    if (kind == POSITIVE) { /* |A| |B| = A B */
        memcpy(p->size, p->exact, p->m * p->m * sizeof *p->size);
        return status;
    }
    for (size_t i = 0; i < p->m * p->n; i++) {
        p->a64[i] = fabs(p->a64[i]);
        p->b64[i] = fabs(p->b64[i]);
    }
    return status == ULP_OK ? ulp_matrices_multiply_exactly(backend, p->size, &p->there, p->a64, p->b64) : status;
}

static void put_errors(ulp_rows *rows, const product *p, const ulp_point *point, const char *datapath) {
    double most = 0, total = 0, drift = 0;
    const double outputs = (double)(p->m * p->m);
    for (size_t i = 0; i < p->m * p->m; i++) {
        const double error = ((double)p->c[i] - p->exact[i]) / p->size[i];
        most = isnan(error) ? INFINITY : fmax(most, fabs(error));
        total += fabs(error);
        drift += error;
    }
    ulp_put_text(rows, data_names[point->at[AT_DATA]]);
    ulp_put_integer(rows, point->at[AT_N]);
    ulp_put_integer(rows, point->at[AT_SEED]);
    ulp_put_text(rows, datapath);
    ulp_put_integer(rows, (int64_t)(p->m * p->m));
    ulp_put_number(rows, most);
    ulp_put_number(rows, total / outputs);
    ulp_put_number(rows, drift / outputs);
    ulp_row_end(rows);
}

static ulp_status put_product(const ulp_run *run, product *p, const ulp_point *point, ulp_rows *rows) {
    size_t datapaths;
    const ulp_datapath *d = ulp_run_datapaths(run, &datapaths);
    const ulp_backend *backend = ulp_run_backend(run);
    const uint64_t seed = (uint64_t)point->at[AT_SEED];
    const int kind = (int)point->at[AT_DATA];
    fill(p, kind, seed);
    ulp_status status = measure(backend, p, kind);
    if (status == ULP_OK) status = ulp_matrices_upload(backend, &p->there, p->a, p->b);
    for (size_t i = 0; i < datapaths && status == ULP_OK; i++) {
        const ulp_stream stream = ulp_stream_named(seed, "block_fma %s %s %zu", data_names[kind], d[i].name, p->n);
        status = ulp_matrices_multiply(backend, p->c, &p->there, &d[i], stream);
        if (status != ULP_OK) return ulp_run_fail(run, status, "--datapath %s: %s", d[i].name, ulp_status_text(status));
        put_errors(rows, p, point, d[i].name);
        if (ulp_rows_progress(rows, (double)(i + 1) / (double)datapaths)) break;
    }
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    ulp_family family;
    product p = {.m = (size_t)ulp_option_integer(run, "outputs"), .n = (size_t)point->at[AT_N]};
    if (p.n >= 8192) p.m /= 2;
    const size_t in = p.m * p.n, out = p.m * p.m;
    (void)context;
    ulp_family_init(&family, ulp_run_backend(run));
    ulp_matrices_carve(&p.there, &family, p.m, p.n);
    p.a64 = malloc((2 * in + 2 * out) * sizeof(double));
    p.a = malloc((2 * in + out) * sizeof(float));
    ulp_status status = p.a64 != NULL && p.a != NULL ? ulp_family_alloc(&family) : ULP_NO_MEMORY;
    if (status == ULP_OK) {
        ulp_matrices_carve(&p.there, &family, p.m, p.n);
        p.b64 = p.a64 + in;
        p.exact = p.b64 + in;
        p.size = p.exact + out;
        p.b = p.a + in;
        p.c = p.b + in;
        status = put_product(run, &p, point, rows);
    }
    ulp_family_release(&family);
    free(p.a64);
    free(p.a);
    return status;
}

/* ---- claims ---- */

/* Of all seeds; NaN if the run has no such row. */
static double error_of(const ulp_run *run, const char *data, const char *datapath, double n) {
    char size[24];
    double most = NAN;
    snprintf(size, sizeof size, "%.0f", n);
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "n", size, "data", data, "datapath", datapath, (const char *)NULL);
        if (row == ULP_NO_ROW) return most;
        most = fmax(most, ulp_row_number(run, row, "max_error"));
    }
}

/* About, from a drawing of one other set of random numbers: a factor of 2 is granted either way. */
static void claim_published(ulp_run *run) {
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
        const double got = error_of(run, "positive", facts[i].datapath, 1024);
        if (isnan(got))
            ulp_claim_skip(ulp_run_claims(run), facts[i].text, "it is not in --datapath or 1024 not in --sizes");
        else {
            char published[16], what[80];
            snprintf(published, sizeof published, "%.1e", facts[i].error);
            snprintf(what, sizeof what, "largest error, U[0,1], n = 1024, %s", facts[i].datapath);
            ulp_beside(ulp_run_claims(run), &(ulp_published){what, "Blanchard et al. 2020", published}, "%.1e", got);
            ulp_claim(ulp_run_claims(run), got > facts[i].error / 2 && got < facts[i].error * 2, facts[i].text, "%.2e",
                      got);
        }
    }
}

static void claim_truncation(ulp_run *run) {
    const double got = error_of(run, "positive", "v100-fp16", 1024), nearest = error_of(run, "positive", NEAREST, 1024);
    const double narrow = error_of(run, "positive", "v100-fp16-fp16", 1024);
    if (isnan(got)) return;
    if (!isnan(nearest))
        ulp_claim(ulp_run_claims(run), got > 10 * nearest,
                  "U[0,1], n = 1024: Tensor Cores truncate, which costs them a factor of 10 and more against blocks "
                  "rounded to nearest",
                  "%.2e against %.2e", got, nearest);
    if (!isnan(narrow))
        ulp_claim(ulp_run_claims(run), got < narrow / 100,
                  "U[0,1], n = 1024: returning binary32 instead of binary16 gains a factor of 100 and more",
                  "%.2e against %.2e", got, narrow);
}

/* At every n >= 256 each errs more than the next, on both kinds of data where `kinds` is 2. */
static void claim_order(ulp_run *run, const char *const *names, int count, int kinds, const char *text) {
    size_t sizes;
    const double *n = ulp_option_numbers(run, "sizes", &sizes);
    int pairs = 0, wrong = 0;
    for (int kind = 0; kind < kinds; kind++)
        for (size_t i = 0; i < sizes; i++)
            for (int j = 1; j < count && n[i] >= 256; j++) {
                const double more = error_of(run, data_names[kind], names[j - 1], n[i]),
                             less = error_of(run, data_names[kind], names[j], n[i]);
                if (isnan(more) || isnan(less)) continue;
                pairs++;
                wrong += more <= less;
            }
    if (pairs > 0) ulp_claim(ulp_run_claims(run), wrong == 0, text, "%d pairs, %d against it", pairs, wrong);
}

/* The leading term that belongs to a datapath; NaN if none does. */
static double bound_of(const char *datapath, double n) {
    static const struct bound {
        const char *datapath;
        double per_n;
    } bounds[] = {{"serial:fp16:rne", 0x1p-11}, {"v100-fp16-fp16", 0x1p-13}, {"v100-fp16", 0x1p-24},
                  {"a100-fp16", 0x1p-24},       {"h100-fp16", 0x1p-24},      {NEAREST, 0x1p-24}};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        if (strcmp(bounds[i].datapath, datapath) == 0) return n * bounds[i].per_n;
    return NAN;
}

static void claim_bounds(ulp_run *run) {
    double nearest = 0;
    char where[160] = "";
    int count = 0;
    for (long row = 0; row < ulp_row_count(run); row++) {
        const double ratio = ulp_row_number(run, row, "max_error") /
                             bound_of(ulp_row_text(run, row, "datapath"), ulp_row_number(run, row, "n"));
        if (isnan(ratio)) continue;
        count++;
        if (ratio <= nearest) continue;
        nearest = ratio;
        snprintf(where, sizeof where, "%s, %s, n = %s", ulp_row_text(run, row, "datapath"),
                 ulp_row_text(run, row, "data"), ulp_row_text(run, row, "n"));
    }
    if (count > 0)
        ulp_claim(ulp_run_claims(run), nearest <= 1, "every error stays below its curve: n u16, n u16 / 4 or n u32",
                  "%d errors, the nearest at %.2f of it: %s", count, nearest, where);
}

static void print_table(const ulp_run *run) {
    static const double shown[] = {16, 64, 256, 1024, 4096, 16384, 32768};
    size_t datapaths;
    const ulp_datapath *d = ulp_run_datapaths(run, &datapaths);
    char columns[160] = "data,datapath";
    int has[sizeof shown / sizeof shown[0]];
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        has[i] = datapaths > 0 && !isnan(error_of(run, data_names[0], d[0].name, shown[i]));
        if (has[i]) snprintf(columns + strlen(columns), 16, ",n = %.0f", shown[i]);
    }
    ulp_sheet *table =
        ulp_sheet_new("the largest |computed - exact| / (|A| |B|); positive: U[0,1], signed: U[-1,1]", columns);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t j = 0; j < datapaths; j++) {
            ulp_sheet_put(table, "%s", data_names[kind]);
            ulp_sheet_put(table, "%s", d[j].name);
            for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
                if (has[i]) ulp_sheet_put(table, "%.2e", error_of(run, data_names[kind], d[j].name, shown[i]));
        }
    ulp_sheet_print(table, ulp_run_people(run));
}

static void check(ulp_run *run, const void *context) {
    static const char *const widths[] = {"serial:fp16:rne", "v100-fp16-fp16", "v100-fp16", NEAREST};
    static const char *const generations[] = {"v100-fp16", "a100-fp16", "h100-fp16"};
    (void)context;
    print_table(run);
    if (ulp_option_integer(run, "outputs") >= 32) claim_published(run);
    else
        ulp_claim_skip(ulp_run_claims(run), "the published errors at n = 1024",
                       "they are the largest of many outputs: --outputs 32 or more");
    claim_truncation(run);
    claim_order(run, widths, 4, KINDS,
                "n >= 256, both kinds of data: binary16 errs most, then binary16 results, then binary32 results, least "
                "blocks to nearest");
    claim_order(run, generations, 3, 1, "n >= 256, U[0,1]: each later GPU errs less: V100, A100, H100");
    claim_bounds(run);
}

static const ulp_experiment experiment = {
    .name = "block_fma",
    .question = "how does the error of a matrix product grow when blocks of products are added at once, with binary16 "
                "or binary32 results?",
    .columns = "data,n,seed,datapath,outputs,max_error,mean_error,drift",
    .options = options,
    .threads_inside = 1,
    .prepare = prepare,
    .compute = compute,
    .check = check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
