/* tensor_core.c - each generation of Tensor Cores: products added at once, bits kept, and the error of long sums.
 *
 * Rows:
 *   - probe: a property that the prober found by test vectors, against its published value
 *   - stall: the sum of 64 and 32 products 2^-8
 *   - signed, positive: the errors of dot products of random data against the exact sum
 *
 * The expected values below are typed from the literature and not read from the datapaths: Fasi et al. 2021
 * (doi:10.7717/peerj-cs.330), Xie et al. 2025 (arXiv 2511.10909), Khattak and Mikaitis 2025 (arXiv 2512.07004),
 * DeepSeek-AI 2024 (arXiv 2412.19437). The claims are in tensor_core/claims.c.
 */
#include "tensor_core.h"
#include "kernels/probe/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* The factors a (m,k) and b (n,k), and c (m,n), the dot products of their rows. Host memory. */
typedef struct matrices {
    size_t m, n, k;
    float *a, *b, *c;
} matrices;

static int matrices_new(matrices *x) {
    x->a = malloc((x->m * x->k + x->n * x->k + x->m * x->n) * sizeof *x->a);
    if (x->a == NULL) return 0;
    x->b = x->a + x->m * x->k;
    x->c = x->b + x->n * x->k;
    return 1;
}

/* Fills x (n) with uniform data on [low, 1). The data are rounded to the input format f, so all errors come from the
 * sum. */
static void fill(float *x, size_t n, double low, const ulp_format *f, ulp_stream stream) {
    for (size_t i = 0; i < n; i++)
        x[i] = (float)ulp_round(low + (1 - low) * ulp_random_uniform(stream, i), f, (ulp_rule){0}, 0);
}

static ulp_status multiply(const ulp_backend *backend, const matrices *x, const ulp_datapath *d) {
    const size_t an = x->m * x->k, bn = x->n * x->k, cn = x->m * x->n;
    const ulp_gemm_shape shape = {.m = x->m, .n = x->n, .k = x->k, .lda = x->k, .ldb = x->k, .ldc = x->n, .b_trans = 1};
    float *memory = backend->alloc((an + bn + cn) * sizeof *memory); /* a, b, c in backend memory */
    if (memory == NULL) return ULP_NO_MEMORY;
    ulp_status status = backend->upload(memory, x->a, (an + bn) * sizeof *memory);
    if (status == ULP_OK)
        status =
            ulp_backend_gemm(backend, memory + an + bn, memory, memory + an, &shape, (ulp_summation){.datapath = d});
    if (status == ULP_OK) status = backend->download(x->c, memory + an + bn, cn * sizeof *memory);
    backend->release(memory);
    return status;
}

/* The error of output i relative to |a||b|. The products of the reference are exact, and their sum has twice the
 * precision of binary64 (Ogita et al. 2005, doi:10.1137/030601818). */
static double error_of(const matrices *x, size_t i) {
    double sum = 0, slip = 0, size = 0;
    for (size_t l = 0; l < x->k; l++) {
        const double p = (double)x->a[i / x->n * x->k + l] * (double)x->b[i % x->n * x->k + l], t = sum + p,
                     z = t - sum;
        slip += (sum - (t - z)) + (p - z);
        sum = t;
        size += fabs(p);
    }
    return ((double)x->c[i] - (sum + slip)) / size;
}

/* Puts the root mean square (rms) and the mean (bias) of the errors over the outputs. */
static ulp_status put_errors(const ulp_task *task, int what) {
    const settings *s = task->settings;
    const ulp_datapath *d = ((const point *)task->point)->datapath;
    const double low = what == POSITIVE ? 0 : -1;
    matrices x = {.m = ((size_t)s->outputs + 15) / 16, .n = 16, .k = (size_t)s->k};
    if (!matrices_new(&x)) return ULP_NO_MEMORY;
    fill(x.a, x.m * x.k, low, d->has_inputs ? &d->a : &d->accumulator, ulp_stream_named(s->seed, "tensor_core a"));
    fill(x.b, x.n * x.k, low, d->has_inputs ? &d->b : &d->accumulator, ulp_stream_named(s->seed, "tensor_core b"));
    const ulp_status status = multiply(s->backend, &x, d);
    if (status == ULP_OK) {
        const double outputs = (double)(x.m * x.n);
        double squares = 0, bias = 0;
        for (size_t i = 0; i < x.m * x.n; i++) {
            const double error = error_of(&x, i);
            squares += error * error;
            bias += error;
        }
        put_number(task, what, "rms", sqrt(squares / outputs));
        put_number(task, what, "bias", bias / outputs);
    }
    free(x.a);
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const ulp_datapath *d = ((const point *)task->point)->datapath;
    const ulp_unit unit = ulp_unit_of(d);
    ulp_probe p;
    ULP_TRY(ulp_probe_unit(&p, &unit));
    for (int i = 0; i < ULP_PROPERTY_COUNT; i++) put_property(task, (ulp_property_id)i, &p.property[i]);
    if (holds(0.0625, &unit.a) && holds(0.0625, &unit.b)) put_number(task, STALL, STALLING, stall(d));
    for (int what = SIGNED; what <= POSITIVE; what++) ULP_TRY(put_errors(task, what));
    return ULP_OK;
}

const ulp_experiment experiment = {
    .name = "tensor_core",
    .question = "How does each generation of Tensor Cores add products, how many bits does it keep, and what does that "
                "cost a long sum?",
    ULP_EXPERIMENT_OF(settings, point, row),
};
