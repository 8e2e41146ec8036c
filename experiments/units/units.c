/* units.c - one dot product on every matrix unit: which units agree, how far they err, and on which side.
 *
 * All datapaths get the same bfloat16 products and start values. Units of GPUs align and cut, units of CPUs round after
 * each addition, and each has its own order. The facts: Xie et al. 2025 (arXiv 2511.10909), Khattak and Mikaitis 2025
 * (arXiv 2512.07004), the manuals of x86 and Arm, and the draft of Zvdota; kernels/products/datapath_rows.c cites them
 * row by row.
 */
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 16 };

static const ulp_option options[] = {
    ULP_OPTION_DATAPATHS_OF(settings, datapaths,
                            "fp32,a100-bf16,h100-bf16,mi100-bf16,mi250-bf16,mi300-bf16,avx512-bf16,amx-bf16,arm-bf16,"
                            "arm-bf16-ebf,riscv-bf16",
                            NULL),
    ULP_OPTION(settings, sums, integer, "4096", .quick = "512", .full = "65536",
               .help = "short sums that all datapaths form", .min = 1, .max = 1 << 24),
    ULP_OPTION(settings, products, integer, "32", .help = "products of a short sum", .min = 1, .max = LONGEST),
    ULP_OPTION(settings, repeats, integer, "64", .quick = "16", .full = "1024", .help = "long sums", .min = 1,
               .max = 1 << 24),
    ULP_OPTION(settings, length, integer, "4096", .help = "products of a long sum", .min = 1, .max = LONGEST),
    ULP_OPTION_SEED(settings, seed),
    {0},
};

static const ulp_column columns[] = {
    ULP_WORDS(row, part, PART_WORDS),
    ULP_WORDS(row, data, DATA_WORDS),
    ULP_COLUMNS(row, datapath, other, products, sums, share),
    ULP_COLUMNS(row, max_error, mean_error, drift, sum, result, code),
    {0},
};

const directed_sum directed_sums[DIRECTED_SUMS] = {
    {"1 + 2^-30", {{0, 1, 1}, {1, 0x1p-15, 0x1p-15}}, 2, 0},
    {"1 - 2^-30", {{0, 1, 1}, {1, -0x1p-15, 0x1p-15}}, 2, 0},
    {"1 and c = -2^-30", {{0, 1, 1}}, 1, -0x1p-30},
    {"2^10 + 2^-15 - 2^10", {{0, 32, 32}, {1, 0x1p-7, 0x1p-8}, {2, -32, 32}}, 3, 0},
    {"-2^24 + 1 and c = 2^24", {{0, -0x1p12, 0x1p12}, {1, 1, 1}}, 2, 0x1p24},
    {"2^-24 + 2^-24 and c = 1", {{0, 0x1p-12, 0x1p-12}, {1, 0x1p-12, 0x1p-12}}, 2, 1},
    {"2^-130 x 2^10", {{0, 0x1p-130, 0x1p10}}, 1, 0},
};

static int takes(const ulp_datapath *d) {
    return d->kind != ULP_NATIVE && d->result.prec == 24 && d->result.fits_binary32 &&
           (!d->has_inputs || (strcmp(d->a.name, "bfloat16") == 0 && strcmp(d->b.name, "bfloat16") == 0));
}

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    for (size_t i = 0; i < s->datapaths.count; i++)
        if (!takes(&s->datapaths.at[i]))
            return ulp_plan_fail(plan, ULP_UNSUPPORTED, "--datapath %s: needs bfloat16 inputs and binary32 results",
                                 s->datapaths.at[i].name);
    const double paths = (double)s->datapaths.count;
    for (int data = 0; data < KINDS; data++) {
        ulp_plan_add(plan, &(point){AGREE, data}, paths * (double)(s->sums * s->products), "agree %s",
                     data_names[data]);
        ulp_plan_add(plan, &(point){ERRORS, data}, paths * (double)(s->repeats * s->length), "errors %s",
                     data_names[data]);
    }
    ulp_plan_add(plan, &(point){NEGATED, MIXED}, 2 * paths * (double)(s->sums * s->products), "negated");
    ulp_plan_add(plan, &(point){DIRECTED, MIXED}, paths, "directed");
    return ULP_OK;
}

/* ---- data ---- */

/* A sum: the products and the start value. */
typedef struct dot {
    double *a, *b, c; /* (k) */
    size_t k;
} dot;

static int open_dot(dot *x, size_t k) {
    x->k = k;
    x->c = 0;
    x->a = calloc(k, sizeof *x->a);
    x->b = calloc(k, sizeof *x->b);
    return x->a != NULL && x->b != NULL;
}

static void close_dot(dot *x) {
    free(x->b);
    free(x->a);
}

/* Uniform numbers of one or both signs, in bfloat16. Start values are below `start`. */
static void fill(dot *x, const settings *s, int data, const char *what, size_t number, double start) {
    ulp_format bfloat16;
    ulp_format_parse(&bfloat16, "bfloat16");
    const ulp_stream stream = ulp_stream_named(s->seed, "units %s %s %zu", what, data_names[data], number);
    for (size_t i = 0; i < x->k; i++) {
        const double u = ulp_random_uniform(stream, 2 * i), v = ulp_random_uniform(stream, 2 * i + 1);
        x->a[i] = ulp_round(data == POSITIVE ? u : 2 * u - 1, &bfloat16, (ulp_rule){0}, 0);
        x->b[i] = ulp_round(data == POSITIVE ? v : 2 * v - 1, &bfloat16, (ulp_rule){0}, 0);
    }
    const double w = ulp_random_uniform(stream, 2 * x->k);
    x->c = (double)(float)(start * (data == POSITIVE ? w : 2 * w - 1));
}

static double sum_of(const ulp_datapath *d, const dot *x) {
    return ulp_dot(d, x->c, (ulp_products){x->a, x->b, x->k, NULL, NULL}, (ulp_stream){0, 0, 0});
}

static void negate(dot *x) {
    for (size_t i = 0; i < x->k; i++) x->a[i] = -x->a[i];
    x->c = -x->c;
}

/* ---- parts ---- */

static ulp_status put_agreements(const ulp_task *task) {
    const settings *s = task->settings;
    const point *at = task->point;
    const size_t paths = s->datapaths.count, sums = (size_t)s->sums;
    dot x;
    double *results = calloc(paths * sums, sizeof *results);
    int enough = open_dot(&x, (size_t)s->products) && results != NULL;
    for (size_t i = 0; i < sums && enough; i++) {
        fill(&x, s, at->data, "agree", i, 4.0);
        for (size_t p = 0; p < paths; p++) results[p * sums + i] = sum_of(&s->datapaths.at[p], &x);
        if (i % 64 == 0 && ulp_task_progress(task, (double)i / (double)sums)) break;
    }
    for (size_t p = 0; p < paths && enough; p++)
        for (size_t q = 0; q < paths; q++) {
            size_t equal = 0;
            for (size_t i = 0; i < sums; i++)
                equal += ulp_bits64(results[p * sums + i]) == ulp_bits64(results[q * sums + i]);
            ulp_row_put(task->rows, &(row){.part = at->part,
                                           .data = at->data,
                                           .datapath = s->datapaths.at[p].name,
                                           .other = s->datapaths.at[q].name,
                                           .products = s->products,
                                           .sums = s->sums,
                                           .share = (double)equal / (double)sums,
                                           .max_error = NAN,
                                           .mean_error = NAN,
                                           .drift = NAN,
                                           .result = NAN});
        }
    close_dot(&x);
    free(results);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

/* The sum of the magnitudes of the products. */
static double size_of(const dot *x) {
    double size = 0;
    for (size_t i = 0; i < x->k; i++) size += fabs(x->a[i] * x->b[i]);
    return size;
}

static ulp_status put_errors(const ulp_task *task) {
    const settings *s = task->settings;
    const point *at = task->point;
    const size_t paths = s->datapaths.count;
    ulp_datapath exact;
    dot x;
    row *rows = calloc(paths, sizeof *rows);
    const int enough = open_dot(&x, (size_t)s->length) && rows != NULL;
    ulp_datapath_parse(&exact, "exact:binary64:rne");
    for (int64_t i = 0; i < s->repeats && enough; i++) {
        fill(&x, s, at->data, "errors", (size_t)i, 0.0);
        const double truth = sum_of(&exact, &x), size = size_of(&x);
        for (size_t p = 0; p < paths; p++) {
            const double error = (sum_of(&s->datapaths.at[p], &x) - truth) / size;
            rows[p].max_error = fmax(rows[p].max_error, fabs(error));
            rows[p].mean_error += fabs(error) / (double)s->repeats;
            rows[p].drift += error / (double)s->repeats;
        }
        if (ulp_task_progress(task, (double)i / (double)s->repeats)) break;
    }
    for (size_t p = 0; p < paths && enough; p++) {
        rows[p].part = at->part, rows[p].data = at->data, rows[p].datapath = s->datapaths.at[p].name;
        rows[p].products = s->length, rows[p].sums = s->repeats, rows[p].share = NAN, rows[p].result = NAN;
        ulp_row_put(task->rows, &rows[p]);
    }
    close_dot(&x);
    free(rows);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

/* How often f(-x) = -f(x), and the mean of f(-x) + f(x) relative to the magnitudes' sum. Small start values show which
 * unit rounds them down. */
static ulp_status put_negated(const ulp_task *task) {
    const settings *s = task->settings;
    const point *at = task->point;
    dot x;
    const int enough = open_dot(&x, (size_t)s->products);
    for (size_t p = 0; p < s->datapaths.count && enough; p++) {
        const ulp_datapath *d = &s->datapaths.at[p];
        size_t odd = 0;
        double drift = 0;
        for (int64_t i = 0; i < s->sums; i++) {
            fill(&x, s, at->data, "negated", (size_t)i, 0x1p-14);
            const double y = sum_of(d, &x), size = size_of(&x) + fabs(x.c);
            negate(&x);
            const double z = sum_of(d, &x);
            odd += y == -z;
            drift += (y + z) / size / (double)s->sums;
        }
        ulp_row_put(task->rows, &(row){.part = at->part,
                                       .data = at->data,
                                       .datapath = d->name,
                                       .products = s->products,
                                       .sums = s->sums,
                                       .share = (double)odd / (double)s->sums,
                                       .max_error = NAN,
                                       .mean_error = NAN,
                                       .drift = drift,
                                       .result = NAN});
        if (ulp_task_progress(task, (double)(p + 1) / (double)s->datapaths.count)) break;
    }
    close_dot(&x);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

static ulp_status put_directed(const ulp_task *task) {
    const settings *s = task->settings;
    const point *at = task->point;
    enum { K = 32 };
    dot x;
    const int enough = open_dot(&x, K);
    for (size_t i = 0; i < DIRECTED_SUMS && enough; i++) {
        const directed_sum *sum = &directed_sums[i];
        memset(x.a, 0, K * sizeof *x.a);
        memset(x.b, 0, K * sizeof *x.b);
        x.c = sum->c;
        for (int t = 0; t < sum->count; t++) {
            x.a[sum->product[t].k] = sum->product[t].a;
            x.b[sum->product[t].k] = sum->product[t].b;
        }
        for (size_t p = 0; p < s->datapaths.count; p++) {
            row r = {.part = at->part,
                     .data = at->data,
                     .datapath = s->datapaths.at[p].name,
                     .products = sum->count,
                     .sums = 1,
                     .share = NAN,
                     .max_error = NAN,
                     .mean_error = NAN,
                     .drift = NAN,
                     .sum = sum->text};
            r.result = sum_of(&s->datapaths.at[p], &x);
            r.code = (ulp_code){&s->datapaths.at[p].result, r.result};
            ulp_row_put(task->rows, &r);
        }
    }
    close_dot(&x);
    return enough ? ULP_OK : ULP_NO_MEMORY;
}

static ulp_status compute(const ulp_task *task) {
    static ulp_status (*const parts[PARTS])(const ulp_task *) = {put_agreements, put_errors, put_negated, put_directed};
    return parts[((const point *)task->point)->part](task);
}

const ulp_experiment experiment = {
    .name = "units",
    .question = "what does one dot product become on the matrix units of NVIDIA, AMD, Intel, Arm and RISC-V?",
    ULP_EXPERIMENT_OF(settings, point, row),
};
