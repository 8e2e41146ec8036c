/* tensor_core.c - each generation of Tensor Cores: products added at once, bits kept, and the error of long sums.
 *
 * Rows:
 *   - probe: a property that the prober found by test vectors, against its published value
 *   - stall: the sum of 64 and 32 products 2^-8
 *   - signed, positive: the errors of dot products of random data against the exact sum
 *
 * The expected values below are typed from the literature and not read from the datapaths: Fasi et al. 2021
 * (doi:10.7717/peerj-cs.330), Xie et al. 2025 (arXiv 2511.10909), Khattak and Mikaitis 2025 (arXiv 2512.07004),
 * DeepSeek-AI 2024 (arXiv 2412.19437).
 */
#include "experiments/harness/experiment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/harness/training/matrices.h"
#include "kernels/probe/probe.h"

typedef struct settings {
    ulp_datapath_list datapaths;
    int64_t k, outputs;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

typedef struct point {
    const ulp_datapath *datapath;
} point;

/* Rows: a property found by vectors, the sum that stalls, errors on data of both signs, errors on positive data. */
enum { PROBE, STALL, SIGNED, POSITIVE };
#define WHAT_WORDS "probe stall signed positive"

typedef struct row {
    const char *datapath;
    int what;
    const char *name, *found;
    double number;
    const char *expected, *verdict;
} row;

#define STALLING "64 + 32 x 2^-8"

static const ulp_option options[] = {
    ULP_OPTION_DATAPATHS_OF(
        settings, datapaths,
        "v100-fp16,v100-fp16-fp16,t4-fp16,t4-fp16-fp16,a100-fp16,a100-fp16-fp16,a100-bf16,a100-tf32,l40s-fp16,l40s-"
        "e4m3,l40s-e5m2,h100-fp16,h100-fp16-fp16,h100-bf16,h100-tf32,h100-e4m3,h100-e5m2,h100-e4m3-mma,b200-fp16,b200-"
        "bf16,b200-tf32,b200-e4m3,b200-e5m2,b200-e2m1,b200-e4m3-mx,b200-e2m1-nvf4,rtx5090-fp16,rtx5090-e4m3,fp32",
        NULL),
    ULP_OPTION(settings, k, integer, "4096", .help = "products in a dot product of random data", .min = 1, .max = 1e6),
    ULP_OPTION(settings, outputs, integer, "1024", .quick = "256", .full = "16384",
               .help = "dot products of each kind of data", .min = 16, .max = 1e6),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_BACKEND_OF(settings, backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMN_AS(row, datapath, "row"),
    ULP_WORDS(row, what, WHAT_WORDS),
    ULP_COLUMNS(row, name, found, number, expected, verdict),
    {0},
};

/* ---- the published values ---- */

/* The published values that several datapaths share. `rows` has a space before and after the name of each datapath.
 * `monotonic` is 1 if c = 1 may give a smaller result than a c below 1; it is -1 if nothing is published. */
typedef struct fact {
    const char *rows;
    int length, fraction, kept, mode, monotonic;
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

/* Returns NULL if nothing is published. */
static const fact *fact_of(const char *name) {
    char word[ULP_DATAPATH_NAME_MAX + 2];
    snprintf(word, sizeof word, " %s ", name);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (strstr(facts[i].rows, word) != NULL) return &facts[i];
    return NULL;
}

/* *value = the published value of a property of a datapath. Returns 0 if nothing is published. */
static int find_published(const char *name, ulp_property_id id, int64_t *value) {
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

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    for (size_t i = 0; i < s->datapaths.count; i++) {
        const ulp_datapath *d = &s->datapaths.at[i];
        if (d->result.is_fixed || !d->result.fits_binary32)
            return ulp_plan_fail(plan, ULP_UNSUPPORTED, "%s: results have to be floating point that fits binary32",
                                 d->name);
        ulp_plan_add(plan, &(point){d}, 0, "%s", d->name);
    }
    return ULP_OK;
}

static row row_of(const ulp_task *task, int what, const char *name) {
    row r;
    ulp_row_clear(task->rows, &r);
    r.datapath = ((const point *)task->point)->datapath->name;
    r.what = what;
    r.name = name;
    return r;
}

static void put_number(const ulp_task *task, int what, const char *name, double value) {
    row r = row_of(task, what, name);
    r.number = value;
    ulp_row_put(task->rows, &r);
}

/* Whether the value that the vectors show agrees with the published value. */
static int agrees(const ulp_property *p, int64_t value) {
    if (p->found == ULP_AT_LEAST) return value >= p->value;
    return p->found == ULP_AT_MOST ? value <= p->value : value == p->value;
}

static void put_property(const ulp_task *task, ulp_property_id id, const ulp_property *p) {
    char found[64], wanted[64];
    int64_t value;
    row r = row_of(task, PROBE, ulp_property_name(id));
    const int reached = p->found != ULP_NOT_REACHABLE, known = find_published(r.datapath, id, &value);
    ulp_property_text(found, id, p->found, p->value);
    r.found = found;
    if (reached) r.number = (double)p->value;
    if (known) {
        ulp_property_text(wanted, id, ULP_FOUND, value);
        r.expected = wanted;
    }
    if (!reached) r.verdict = "not reachable";
    else if (!known) r.verdict = "not said";
    else r.verdict = agrees(p, value) ? "PASS" : "FAIL";
    ulp_row_put(task->rows, &r);
}

/* The sum of 64 and 32 products 1/16 x 1/16 = 2^-8. It stays 64 in a unit that keeps 14 significant bits. */
static double stall(const ulp_datapath *d) {
    double x[32], y[32];
    for (int i = 0; i < 32; i++) x[i] = y[i] = 0.0625;
    return ulp_dot(d, 64.0, (ulp_products){x, y, 32, NULL, NULL}, (ulp_stream){1, 0, 0});
}

static int holds(double x, const ulp_format *f) {
    uint64_t code;
    return ulp_encode(&code, x, f) == ULP_OK;
}

/* ---- random data ---- */

/* Fills x (n) with uniform data on [low, 1). The data are rounded to the input format f, so all errors come from the
 * sum. */
static void fill(float *x, size_t n, double low, const ulp_format *f, ulp_stream stream) {
    for (size_t i = 0; i < n; i++)
        x[i] = (float)ulp_round(low + (1 - low) * ulp_random_uniform(stream, i), f, (ulp_rule){0}, 0);
}

/* The error of output i relative to |a||b|. The products of the reference are exact, and their sum has twice the
 * precision of binary64 (Ogita et al. 2005, doi:10.1137/030601818). */
static double error_of(const ulp_product *x, size_t i) {
    double sum = 0, slip = 0, size = 0;
    for (size_t l = 0; l < x->k; l++) {
        const double p = (double)x->host.a[i / x->n * x->k + l] * (double)x->host.b[i % x->n * x->k + l], t = sum + p,
                     z = t - sum;
        slip += (sum - (t - z)) + (p - z);
        sum = t;
        size += fabs(p);
    }
    return ((double)x->host.c[i] - (sum + slip)) / size;
}

/* Puts the root mean square (rms) and the mean (bias) of the errors over the outputs. */
static ulp_status put_errors(const ulp_task *task, int what, const ulp_product *x) {
    const uint64_t seed = ((const settings *)task->settings)->seed;
    const ulp_datapath *d = ((const point *)task->point)->datapath;
    const double low = what == POSITIVE ? 0 : -1, outputs = (double)(x->m * x->n);
    double squares = 0, bias = 0;
    fill(x->host.a, x->m * x->k, low, d->has_inputs ? &d->a : &d->accumulator, ulp_stream_named(seed, "tensor_core a"));
    fill(x->host.b, x->n * x->k, low, d->has_inputs ? &d->b : &d->accumulator, ulp_stream_named(seed, "tensor_core b"));
    ULP_TRY(ulp_product_upload(x));
    ULP_TRY(ulp_product_multiply(x, d, (ulp_stream){0, 0, 0}));
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double error = error_of(x, i);
        squares += error * error;
        bias += error;
    }
    put_number(task, what, "rms", sqrt(squares / outputs));
    put_number(task, what, "bias", bias / outputs);
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    const ulp_datapath *d = ((const point *)task->point)->datapath;
    const ulp_unit unit = ulp_unit_of(d);
    ulp_probe p;
    ULP_TRY(ulp_probe_unit(&p, &unit));
    for (int i = 0; i < ULP_PROPERTY_COUNT; i++) put_property(task, (ulp_property_id)i, &p.property[i]);
    if (holds(0.0625, &unit.a) && holds(0.0625, &unit.b)) put_number(task, STALL, STALLING, stall(d));
    ulp_product x;
    ulp_status status = ulp_product_open(&x, s->backend, ((size_t)s->outputs + 15) / 16, 16, (size_t)s->k, 0);
    for (int what = SIGNED; what <= POSITIVE && status == ULP_OK; what++) status = put_errors(task, what, &x);
    ulp_product_close(&x);
    return status;
}

/* ---- the claims ---- */

/* The key of a row. */
typedef struct key {
    const ulp_datapath *datapath;
    int what;
    const char *name;
} key;

static int matches(const void *row_, const void *point_, const void *key_) {
    const row *r = row_;
    const key *k = key_;
    return ((const point *)point_)->datapath == k->datapath && r->what == k->what && strcmp(r->name, k->name) == 0;
}

/* Returns NULL if this run does not have the row or the datapath. */
static const row *find(const ulp_claims *c, const ulp_datapath *d, int what, const char *name) {
    return ulp_table_find(c->table, &(size_t){0}, matches, &(key){d, what, name});
}

static const char *or_word(const char *cell, const char *word) { return cell ? cell : word; }

/* The value of a property that the vectors show, as text. */
static const char *found(const ulp_claims *c, const ulp_datapath *d, ulp_property_id id) {
    const row *r = find(c, d, PROBE, ulp_property_name(id));
    return or_word(r ? r->found : NULL, "-");
}

static void claim_row(ulp_claims *c, const ulp_datapath *d) {
    static const ulp_property_id deciding[] = {ULP_P_LENGTH, ULP_P_FRACTION, ULP_P_KEPT, ULP_P_OUTPUT};
    const char *wanted[4];
    int good = 1, all = 1;
    const row *length = find(c, d, PROBE, ulp_property_name(ULP_P_LENGTH));
    if (!length || !length->expected) {
        ulp_claim_skip(c, "the deciding numbers are the published ones", "%s: none are known", d->name);
        return;
    }
    for (int i = 0; i < 4; i++) {
        const row *r = find(c, d, PROBE, ulp_property_name(deciding[i]));
        wanted[i] = or_word(r ? r->expected : NULL, "none");
        good &= r && (!r->expected || strcmp(r->expected, or_word(r->found, "-")) == 0);
    }
    for (int i = 0; i < ULP_PROPERTY_COUNT; i++) {
        const row *r = find(c, d, PROBE, ulp_property_name((ulp_property_id)i));
        all &= r && strcmp(r->verdict, "FAIL") != 0;
    }
    const char *text = ulp_claim_text(c, "%s: L %s, F %s, %s bits, %s, as published, and nothing else contradicts",
                                      d->name, wanted[0], wanted[1], wanted[2], wanted[3]);
    ulp_claim(c, good && all, text, "L %s, F %s, %s bits, %s", found(c, d, ULP_P_LENGTH), found(c, d, ULP_P_FRACTION),
              found(c, d, ULP_P_KEPT), found(c, d, ULP_P_OUTPUT));
}

static double number(const ulp_claims *c, const char *datapath, int what, const char *name) {
    const ulp_datapath *d = ulp_datapaths_find(&((const settings *)c->settings)->datapaths, datapath);
    const row *r = d ? find(c, d, what, name) : NULL;
    return r ? r->number : (double)NAN;
}

static void claim_sums(ulp_claims *c) {
    const settings *s = c->settings;
    const double stalled = number(c, "h100-e4m3", STALL, STALLING), later = number(c, "b200-e4m3", STALL, STALLING);
    if (!isnan(stalled)) ulp_claim(c, stalled == 64, "h100-e4m3: 64 and 32 products 2^-8 stay 64", "%.17g", stalled);
    if (!isnan(later)) ulp_claim(c, later == 64.125, "b200-e4m3: the same sum is exact, 64.125", "%.17g", later);
    const double hopper = number(c, "h100-e4m3", POSITIVE, "bias"),
                 blackwell = number(c, "b200-e4m3", POSITIVE, "bias"), fp32 = number(c, "fp32", POSITIVE, "rms");
    if (s->k >= 1024 && !isnan(hopper) && !isnan(blackwell))
        ulp_claim(c, hopper < 0 && hopper < 100 * blackwell,
                  "long sums of positive data: h100-e4m3 falls short, a hundred times as far as b200-e4m3",
                  "mean relative error %.3g and %.3g; fp32: rms %.3g", hopper, blackwell, fp32);
}

static void print_table(const ulp_claims *c) {
    static const ulp_property_id shown[] = {ULP_P_LENGTH, ULP_P_FRACTION,  ULP_P_KEPT, ULP_P_OUTPUT,
                                            ULP_P_PLACE,  ULP_P_MONOTONIC, ULP_P_FLOOR};
    const settings *s = c->settings;
    ulp_sheet *sheet = ulp_sheet_new(
        "what the vectors show of each model; the last columns: rms error / |a||b| of dot products of random data",
        "row,L,F,bits,rounding,c,monotonic,floor,signed,positive");
    for (size_t i = 0; i < s->datapaths.count; i++) {
        const ulp_datapath *d = &s->datapaths.at[i];
        ulp_sheet_put(sheet, "%s", d->name);
        for (size_t j = 0; j < sizeof shown / sizeof shown[0]; j++) {
            const row *r = find(c, d, PROBE, ulp_property_name(shown[j]));
            ulp_sheet_put(sheet, "%s", r && !ulp_is_no_number(r->number) ? r->found : "-");
        }
        ulp_sheet_put_row(sheet, "%.2e,%.2e", number(c, d->name, SIGNED, "rms"), number(c, d->name, POSITIVE, "rms"));
    }
    ulp_sheet_print(sheet, c->file);
}

/* The numbers of a datapath that the figure shows. */
static void summarize(ulp_claims *c, const ulp_datapath *d) {
    static const struct drawn {
        ulp_property_id id;
        const char *quantity;
    } drawn[] = {{ULP_P_LENGTH, "products"},
                 {ULP_P_FRACTION, "fraction bits of a product"},
                 {ULP_P_KEPT, "fraction bits of a result"},
                 {ULP_P_OUTPUT, "rounding"}};
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) {
        const row *r = find(c, d, PROBE, ulp_property_name(drawn[i].id));
        if (r && !ulp_is_no_number(r->number)) ulp_summary(c, drawn[i].quantity, r->number, "%s", d->name);
    }
    ulp_summary(c, "rms error", number(c, d->name, SIGNED, "rms"), "%s signed", d->name);
    ulp_summary(c, "rms error", number(c, d->name, POSITIVE, "rms"), "%s positive", d->name);
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    print_table(c);
    for (size_t i = 0; i < s->datapaths.count; i++) summarize(c, &s->datapaths.at[i]);
    for (size_t i = 0; i < s->datapaths.count; i++) claim_row(c, &s->datapaths.at[i]);
    claim_sums(c);
}

const ulp_experiment experiment = {
    .name = "tensor_core",
    .question = "How does each generation of Tensor Cores add products, how many bits does it keep, and what does that "
                "cost a long sum?",
    ULP_EXPERIMENT_OF(settings, point, row),
};
