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
#include "block_fma.h"

#include <math.h>
#include <string.h>

#include "experiments/harness/training/matrices.h"

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
    const size_t n = (size_t)((const point *)task->point)->n, outputs = (size_t)set->outputs;
    ulp_product p;
    ulp_status status = ulp_product_open(&p, set->backend, n >= 8192 ? outputs / 2 : outputs, n);
    if (status == ULP_OK) status = put_product(task, &p);
    ulp_product_close(&p);
    return status;
}

const ulp_experiment experiment = {
    .name = "block_fma",
    .question = "how does the error of a matrix product grow when blocks of products are added at once, with binary16 "
                "or binary32 results?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .threads_inside = 1,
};
