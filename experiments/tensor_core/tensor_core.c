/* tensor_core.c - probe every generation's Tensor Core: how many products it adds at once, how many bits it keeps, what
 * that costs.
 *
 * Rows `probe` hold what the prober found by vectors, beside what published measurements say; rows `dot` hold the error
 * of dot products of random data against the exact sum. The expected values below are typed from the literature, not
 * read from the datapaths: Fasi et al. 2021 (doi:10.7717/peerj-cs.330), Xie et al. 2025 (arXiv 2511.10909), Khattak and
 * Mikaitis 2025 (arXiv 2512.07004), DeepSeek-AI 2024 (arXiv 2412.19437).
 */
#include "experiments/harness/harness.h"
#include "kernels/probe/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ulp_option options[] = {
    ULP_TAKES_DATAPATHS("v100-fp16,v100-fp16-fp16,t4-fp16,t4-fp16-fp16,a100-fp16,a100-fp16-fp16,a100-bf16,a100-tf32,"
                        "l40s-fp16,l40s-e4m3,l40s-e5m2,"
                        "h100-fp16,h100-fp16-fp16,h100-bf16,h100-tf32,h100-e4m3,h100-e5m2,h100-e4m3-mma,b200-fp16,b200-"
                        "bf16,b200-tf32,b200-e4m3,"
                        "b200-e5m2,b200-e2m1,b200-e4m3-mx,b200-e2m1-nvf4,rtx5090-fp16,rtx5090-e4m3,fp32",
                        NULL),
    {"k", ULP_OPTION_INTEGER, "4096", NULL, NULL, "products in a dot product of random data", 1, 1e6, NULL, 0},
    {"outputs", ULP_OPTION_INTEGER, "1024", "256", "16384", "dot products of each kind of data", 16, 1e6, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_BACKEND,
    {0},
};

/* ---- what the literature says ---- */

/* Rows with the same deciding numbers; `rows` with spaces around each name. */
typedef struct fact {
    const char *rows;
    int length, fraction, kept, mode, monotonic; /* monotonic: 1 if c = 1 may give less than c below 1; -1: not said */
} fact;

static const fact facts[] = {
    {" v100-fp16 ", 4, 23, 23, ULP_RZ, 1},
    {" v100-fp16-fp16 ", 4, 23, 10, ULP_RNE, -1},
    {" t4-fp16 a100-fp16 a100-bf16 l40s-fp16 l40s-bf16 ", 8, 24, 23, ULP_RZ, 1},
    {" t4-fp16-fp16 a100-fp16-fp16 l40s-fp16-fp16 ", 8, 24, 10, ULP_RNE, -1},
    {" a100-tf32 l40s-tf32 ", 4, 24, 23, ULP_RZ, 1},
    {" l40s-e4m3 l40s-e5m2 l40s-e4m3.e5m2 l40s-e5m2.e4m3 ", 16, 13, 13, ULP_RZ, 1},
    {" h100-fp16 h100-bf16 b200-fp16 b200-bf16 b200-fp16-mma b200-bf16-mma rtx5090-fp16 rtx5090-bf16 ", 16, 25, 23,
     ULP_RZ, 1},
    {" h100-fp16-fp16 b200-fp16-fp16 rtx5090-fp16-fp16 ", 16, 25, 10, ULP_RNE, -1},
    {" h100-tf32 b200-tf32 b200-tf32-mma rtx5090-tf32 ", 8, 25, 23, ULP_RZ, -1},
    {" h100-e4m3 h100-e5m2 h100-e4m3.e5m2 h100-e5m2.e4m3 ", 32, 13, 13, ULP_RZ, 1},
    {" h100-e4m3-mma h100-e5m2-mma b200-e4m3-mma b200-e5m2-mma ", 16, 25, 23, ULP_RZ, -1},
    {" b200-e4m3 b200-e5m2 b200-e2m1 rtx5090-e4m3 rtx5090-e5m2 rtx5090-e2m1 b200-e4m3-mx b200-e5m2-mx ", 32, 25, 23,
     ULP_RZ, 1},
    {" b200-e2m1-mxf4 b200-e2m1-nvf4 rtx5090-e2m1-mxf4 rtx5090-e2m1-nvf4 ", 64, 35, 23, ULP_RZ, -1},
    {" fp32 ", 1, -1, 23, ULP_RNE, -1},
};

static const fact *fact_of(const char *name) {
    char word[ULP_DATAPATH_NAME_MAX + 2];
    snprintf(word, sizeof word, " %s ", name);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (strstr(facts[i].rows, word) != NULL) return &facts[i];
    return NULL;
}

/* What is said of a property of a row; 0 if nothing is. */
static int said(const char *name, ulp_property_id id, int64_t *value) {
    const fact *f = fact_of(name);
    const int late = strstr(name, "-mma") != NULL && strstr(name, "-e") != NULL;
    if (f == NULL) return 0;
    switch (id) {
    case ULP_P_LENGTH: *value = f->length; return 1;
    case ULP_P_FRACTION: *value = f->fraction; return f->fraction >= 0;
    case ULP_P_FRACTION_C: *value = f->fraction; return f->fraction >= 0 && !late;
    case ULP_P_KEPT: *value = f->kept; return 1;
    case ULP_P_OUTPUT: *value = f->mode; return 1;
    case ULP_P_MONOTONIC: *value = f->monotonic; return f->monotonic >= 0;
    case ULP_P_PLACE:
    case ULP_P_ORDER: *value = late; return f->length > 1;
    case ULP_P_ALIGN: *value = ULP_RZ; return f->length > 1;
    case ULP_P_NORMALISED:
    case ULP_P_CARRY:
    case ULP_P_PERMUTED:
    case ULP_P_ZEROS: *value = 0; return f->length > 1;
    case ULP_P_SUBNORMAL_IN:
    case ULP_P_SUBNORMAL_OUT:
    case ULP_P_INF_ZERO:
    case ULP_P_INF_INF:
    case ULP_P_BETWEEN: *value = 0; return 1;
    default: return 0;
    }
}

/* ---- one row ---- */

static ulp_status prepare(ulp_run *run, void **context) {
    size_t count;
    const ulp_datapath *d = ulp_run_datapaths(run, &count);
    (void)context;
    for (size_t i = 0; i < count; i++) {
        if (d[i].result.is_fixed || !d[i].result.fits_binary32)
            return ulp_run_fail(run, ULP_UNSUPPORTED, "%s: results have to be floating point that fits binary32",
                                d[i].name);
        ulp_point_add(run, (ulp_point){.at = {(int64_t)i}}, "%s", d[i].name);
    }
    return ULP_OK;
}

/* row,what,name,found,number,expected,verdict */
static void put_property(ulp_rows *rows, const char *name, ulp_property_id id, const ulp_property *p) {
    char found[64], wanted[64];
    int64_t value;
    const int reached = p->found != ULP_NOT_REACHABLE, known = said(name, id, &value);
    const int good = reached && known &&
                     (p->found == ULP_AT_LEAST ? value >= p->value
                                               : (p->found == ULP_AT_MOST ? value <= p->value : value == p->value));
    ulp_property_text(found, id, p->found, p->value);
    ulp_put_text(rows, name);
    ulp_put_text(rows, "probe");
    ulp_put_text(rows, ulp_property_name(id));
    ulp_put_text(rows, found);
    if (reached) ulp_put_integer(rows, p->value);
    else ulp_put_none(rows);
    if (known) {
        ulp_property_text(wanted, id, ULP_FOUND, value);
        ulp_put_text(rows, wanted);
    } else ulp_put_none(rows);
    ulp_put_text(rows, !reached ? "not reachable" : (!known ? "not said" : (good ? "PASS" : "FAIL")));
    ulp_row_end(rows);
}

/* 64 and 32 products 2^-8: the sum that stalls. */
static double stall(const ulp_datapath *d) {
    double x[32], y[32];
    for (int i = 0; i < 32; i++) x[i] = y[i] = 0.0625;
    return ulp_dot(d, 64.0, x, y, 32, (ulp_scales){NULL, NULL}, (ulp_stream){1, 0, 0});
}

static int holds(double x, const ulp_format *f) {
    uint64_t code;
    return ulp_encode(&code, x, f) == ULP_OK;
}

static void put_number(ulp_rows *rows, const char *name, const char *what, const char *key, double value) {
    ulp_put_text(rows, name);
    ulp_put_text(rows, what);
    ulp_put_text(rows, key);
    ulp_put_none(rows);
    ulp_put_number(rows, value);
    ulp_put_none(rows);
    ulp_put_none(rows);
    ulp_row_end(rows);
}

/* c (m,n) = a (m,k) times the transpose of b (n,k), host memory. */
static ulp_status multiply(const ulp_backend *backend, float *c, const float *a, const float *b,
                           const ulp_gemm_shape *shape, const ulp_datapath *d) {
    const size_t an = shape->m * shape->k, bn = shape->n * shape->k, cn = shape->m * shape->n;
    float *there = backend->alloc((an + bn + cn) * sizeof *there);
    if (there == NULL) return ULP_NO_MEMORY;
    ulp_status status = backend->upload(there, a, an * sizeof *a);
    if (status == ULP_OK) status = backend->upload(there + an, b, bn * sizeof *b);
    if (status == ULP_OK)
        status = ulp_backend_gemm(backend, there + an + bn, there, there + an, shape, (ulp_summation){.datapath = d});
    if (status == ULP_OK) status = backend->download(c, there + an + bn, cn * sizeof *c);
    backend->release(there);
    return status;
}

/* Root mean square over the outputs of |error| / |a||b|, and the mean of error / |a||b|: the bias. The data are uniform
 * on
 * [-1, 1) or, `positive`, on [0, 1), rounded to the row's formats first: only what the sum does counts. */
static ulp_status put_errors(const ulp_run *run, ulp_rows *rows, const ulp_datapath *d, int positive) {
    const size_t k = (size_t)ulp_option_integer(run, "k"), outputs = (size_t)ulp_option_integer(run, "outputs"), n = 16,
                 m = (outputs + n - 1) / n;
    const ulp_format *fa = d->has_inputs ? &d->a : &d->accumulator, *fb = d->has_inputs ? &d->b : &d->accumulator;
    float *a = malloc(m * k * sizeof *a), *b = malloc(n * k * sizeof *b), *c = malloc(m * n * sizeof *c);
    double *size = calloc(m * n, sizeof *size), *exact = calloc(m * n, sizeof *exact);
    ulp_status status = a && b && c && size && exact ? ULP_OK : ULP_NO_MEMORY;
    const ulp_stream sa = ulp_stream_named(ulp_run_seed(run), "tensor_core a"),
                     sb = ulp_stream_named(ulp_run_seed(run), "tensor_core b");
    const double low = positive ? 0 : -1;
    for (size_t i = 0; i < m * k && status == ULP_OK; i++)
        a[i] = (float)ulp_round(low + (1 - low) * ulp_random_uniform(sa, i), fa, (ulp_rule){0}, 0);
    for (size_t i = 0; i < n * k && status == ULP_OK; i++)
        b[i] = (float)ulp_round(low + (1 - low) * ulp_random_uniform(sb, i), fb, (ulp_rule){0}, 0);
    const ulp_gemm_shape shape = {.m = m, .n = n, .k = k, .lda = k, .ldb = k, .ldc = n, .b_trans = 1};
    if (status == ULP_OK) status = multiply(ulp_run_backend(run), c, a, b, &shape, d);
    double squares = 0, bias = 0;
    for (size_t i = 0; i < m * n && status == ULP_OK; i++) {
        double sum = 0,
               slip = 0; /* the sum of exact products, twice the precision (Ogita et al. 2005, doi:10.1137/030601818) */
        for (size_t l = 0; l < k; l++) {
            const double p = (double)a[i / n * k + l] * (double)b[i % n * k + l], t = sum + p, z = t - sum;
            slip += (sum - (t - z)) + (p - z);
            sum = t;
            size[i] += fabs(p);
        }
        exact[i] = sum + slip;
        const double error = ((double)c[i] - exact[i]) / size[i];
        squares += error * error;
        bias += error;
    }
    if (status == ULP_OK) {
        put_number(rows, d->name, positive ? "positive" : "signed", "rms", sqrt(squares / (double)(m * n)));
        put_number(rows, d->name, positive ? "positive" : "signed", "bias", bias / (double)(m * n));
    }
    free(a), free(b), free(c), free(size), free(exact);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    size_t count;
    const ulp_datapath *d = &ulp_run_datapaths(run, &count)[point->at[0]];
    const ulp_unit unit = ulp_unit_of(d);
    ulp_probe p;
    (void)context;
    ulp_status status = ulp_probe_unit(&p, &unit);
    for (int i = 0; i < ULP_PROPERTY_COUNT && status == ULP_OK; i++)
        put_property(rows, d->name, (ulp_property_id)i, &p.property[i]);
    if (status == ULP_OK && holds(0.0625, &unit.a) && holds(0.0625, &unit.b))
        put_number(rows, d->name, "stall", "64 + 32 x 2^-8", stall(d));
    for (int positive = 0; positive < 2 && status == ULP_OK; positive++) status = put_errors(run, rows, d, positive);
    return status;
}

/* ---- claims ---- */

static const char *cell(const ulp_run *run, const char *name, ulp_property_id id, const char *column) {
    const long row =
        ulp_row_find(run, 0, "row", name, "what", "probe", "name", ulp_property_name(id), (const char *)NULL);
    return row == ULP_NO_ROW ? "-" : ulp_row_text(run, row, column);
}

static void claim_row(ulp_run *run, const char *name) {
    static const ulp_property_id deciding[] = {ULP_P_LENGTH, ULP_P_FRACTION, ULP_P_KEPT, ULP_P_OUTPUT};
    char text[400], wanted[4][64];
    int good = 1, all = 1;
    int64_t value;
    if (fact_of(name) == NULL) {
        ulp_claim_skip(ulp_run_claims(run), "the deciding numbers are the published ones", "%s: none are known", name);
        return;
    }
    for (int i = 0; i < 4; i++) {
        const int known = said(name, deciding[i], &value);
        if (known) ulp_property_text(wanted[i], deciding[i], ULP_FOUND, value);
        else strcpy(wanted[i], "none");
        good &= !known || strcmp(wanted[i], cell(run, name, deciding[i], "found")) == 0;
    }
    for (int i = 0; i < ULP_PROPERTY_COUNT; i++)
        all &= strcmp(cell(run, name, (ulp_property_id)i, "verdict"), "FAIL") != 0;
    snprintf(text, sizeof text, "%s: L %s, F %s, %s bits, %s, as published, and nothing else contradicts", name,
             wanted[0], wanted[1], wanted[2], wanted[3]);
    ulp_claim(ulp_run_claims(run), good && all, text, "L %s, F %s, %s bits, %s", cell(run, name, ULP_P_LENGTH, "found"),
              cell(run, name, ULP_P_FRACTION, "found"), cell(run, name, ULP_P_KEPT, "found"),
              cell(run, name, ULP_P_OUTPUT, "found"));
}

static double number(const ulp_run *run, const char *name, const char *what, const char *key) {
    const long row = ulp_row_find(run, 0, "row", name, "what", what, "name", key, (const char *)NULL);
    return row == ULP_NO_ROW ? NAN : ulp_row_number(run, row, "number");
}

static void claim_all(ulp_run *run) {
    const double stalled = number(run, "h100-e4m3", "stall", "64 + 32 x 2^-8"),
                 later = number(run, "b200-e4m3", "stall", "64 + 32 x 2^-8");
    if (!isnan(stalled))
        ulp_claim(ulp_run_claims(run), stalled == 64, "h100-e4m3: 64 and 32 products 2^-8 stay 64", "%.17g", stalled);
    if (!isnan(later))
        ulp_claim(ulp_run_claims(run), later == 64.125, "b200-e4m3: the same sum is exact, 64.125", "%.17g", later);
    const double hopper = number(run, "h100-e4m3", "positive", "bias"),
                 blackwell = number(run, "b200-e4m3", "positive", "bias"),
                 fp32 = number(run, "fp32", "positive", "rms");
    if (ulp_option_integer(run, "k") >= 1024 && !isnan(hopper) && !isnan(blackwell))
        ulp_claim(ulp_run_claims(run), hopper < 0 && hopper < 100 * blackwell,
                  "long sums of positive data: h100-e4m3 falls short, a hundred times as far as b200-e4m3",
                  "mean relative error %.3g and %.3g; fp32: rms %.3g", hopper, blackwell, fp32);
}

static void print_table(const ulp_run *run, const ulp_datapath *d, size_t count) {
    ulp_sheet *table = ulp_sheet_new(
        "what the vectors show of each model; the last columns: rms error / |a||b| of dot products of random data",
        "row,L,F,bits,rounding,c,monotonic,floor,signed,positive");
    for (size_t i = 0; i < count; i++) {
        static const ulp_property_id shown[] = {ULP_P_LENGTH, ULP_P_FRACTION,  ULP_P_KEPT, ULP_P_OUTPUT,
                                                ULP_P_PLACE,  ULP_P_MONOTONIC, ULP_P_FLOOR};
        ulp_sheet_put(table, "%s", d[i].name);
        for (size_t j = 0; j < sizeof shown / sizeof shown[0]; j++) {
            const char *text = cell(run, d[i].name, shown[j], "found");
            ulp_sheet_put(table, "%s", strcmp(text, "not reachable") == 0 ? "-" : text);
        }
        ulp_sheet_put(table, "%.2e", number(run, d[i].name, "signed", "rms"));
        ulp_sheet_put(table, "%.2e", number(run, d[i].name, "positive", "rms"));
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

static void check(ulp_run *run, const void *context) {
    size_t count;
    const ulp_datapath *d = ulp_run_datapaths(run, &count);
    (void)context;
    print_table(run, d, count);
    for (size_t i = 0; i < count; i++) claim_row(run, d[i].name);
    claim_all(run);
}

static const ulp_experiment experiment = {
    .name = "tensor_core",
    .question = "How does each generation of Tensor Cores add products, how many bits does it keep, and what does that "
                "cost a long sum?",
    .columns = "row,what,name,found,number,expected,verdict",
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
