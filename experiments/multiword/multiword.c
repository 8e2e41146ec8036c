/* multiword.c - how exact is a product of binary32 matrices on a unit for 16- or 8-bit operands, if each operand is a
 * sum of several words?
 *
 * The experiment of Mary and Mikaitis (2024, hal-04671474) in the form of Khattak and Mikaitis (2025, arXiv
 * 2512.07004; the code and the numbers: MATLAB-tensor-core): A (10,n) and B (n,10) have elements of both signs whose
 * logarithms are uniform in 20 decades. Powers of two scale each row of A and each column of B, so that the largest
 * element is at most theta = min(the largest number of the unit's format, sqrt(largest binary32 number / n)). Each
 * operand becomes N words (kernels/products/multiword.h), and the unit adds N (N + 1) / 2 products of words. The error
 * is the norm of the result's error, divided by the norms of A and B; the norm of a matrix is its largest row sum of
 * magnitudes.
 *
 * Here A and B are rounded to binary32 before everything else, and words are not scaled. Words whose bits do not
 * matter, beyond 24 in all, are left out.
 */
#include "multiword.h"
#include "kernels/functions/elementary.h"
#include "kernels/products/multiword.h"
#include "experiments/harness/training/matrices.h"

#include <math.h>
#include <stdlib.h>

static const ulp_option options[] = {
    ULP_OPTION_DATAPATHS_OF(settings, datapaths,
                            "a100-bf16,b200-bf16,mi100-bf16,mi250-bf16,mi300-bf16,l40s-e5m2,h100-e5m2,b200-e5m2,"
                            "mi300-e5m2fnuz",
                            NULL),
    ULP_OPTION(settings, words, integers, "1,2,3,4,6", .help = "words of an operand", .min = 1, .max = ULP_WORDS_MAX),
    ULP_OPTION(settings, lengths, integers, "10,112,1274,14384,162377", .quick = "10,379,14384",
               .full = "10,18,33,61,112,206,379,695,1274,2335,4281,7847,14384,26366,48329,88586,162377,297635,545559,"
                       "1000000",
               .help = "products of a sum", .min = 1, .max = 1 << 24),
    ULP_OPTION(settings, size, integer, "10", .help = "rows of A and columns of B", .min = 1, .max = 1024),
    ULP_OPTION(settings, decades, number, "20", .help = "decades that the elements span", .min = 0, .max = 36),
    ULP_OPTION_BACKEND_OF(settings, backend),
    ULP_OPTION_SEED(settings, seed),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, datapath, format, words, n, sums, error, truncated, small_first),
    {0},
};

/* Ways to form a product of words. */
enum { TO_NEAREST, TRUNCATED, SMALL_FIRST, WAYS };

/* Whether all bits of a binary32 number are in one word less. */
static int has_enough(const ulp_datapath *d, int64_t words) { return (words - 1) * d->a.prec >= 24; }

static ulp_status with_words(ulp_datapath *to, const ulp_datapath *d, int64_t words, int way) {
    *to = *d;
    to->words = (uint8_t)words;
    to->words_cut = way == TRUNCATED;
    to->words_small_first = way == SMALL_FIRST;
    return ulp_datapath_init(to);
}

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    for (size_t i = 0; i < s->datapaths.count; i++) {
        const ulp_datapath *d = &s->datapaths.at[i];
        ulp_datapath with;
        if (d->kind == ULP_NATIVE || d->words != 0 || with_words(&with, d, 1, TO_NEAREST) != ULP_OK ||
            !d->result.fits_binary32)
            return ulp_plan_fail(plan, ULP_UNSUPPORTED,
                                 "--datapath %s: has to be a row with floating-point operands, without block scales "
                                 "and without words",
                                 d->name);
        for (size_t t = 0; t < s->lengths.count; t++) {
            int64_t products = 0;
            for (size_t w = 0; w < s->words.count; w++)
                if (!has_enough(d, s->words.at[w]))
                    products += WAYS * (s->words.at[w] * (s->words.at[w] + 1) / 2 * s->lengths.at[t]);
            ulp_plan_add(plan, &(point){d, s->lengths.at[t]}, (double)products * (double)(s->size * s->size), "%s %lld",
                         d->name, (long long)s->lengths.at[t]);
        }
    }
    return ULP_OK;
}

/* ---- data ---- */

/* A (m,n), and B (n,m) as its transpose (m,n), in the product. Each is values times the scale of its row. */
typedef struct matrices {
    ulp_product product;       /* its k is n */
    double *a_scale, *b_scale; /* (m), powers of two */
    double *exact;             /* (m,m) A B, computed in binary64 */
    double norm;               /* the product of the norms of A and B */
} matrices;

/* Elements of both signs whose logarithms are uniform, then scaled: the largest of a row is in (theta / 2, theta]. */
static void fill(const settings *s, const char *name, float *x, double *scale, size_t m, size_t n, double theta) {
    const double range = s->decades * 2.302585092994046; /* ln 10 */
    for (size_t i = 0; i < m; i++) {
        const ulp_stream stream = ulp_stream_named(s->seed, "multiword %s %zu %zu", name, n, i);
        double most = 0;
        for (size_t k = 0; k < n; k++) {
            const double size = ulp_exp(range * (ulp_random_uniform(stream, 2 * k) - 0.5));
            x[i * n + k] = (float)(ulp_random_uniform(stream, 2 * k + 1) < 0.5 ? -size : size);
            most = fmax(most, fabs((double)x[i * n + k]));
        }
        int e;
        frexp(theta / most, &e);
        scale[i] = ldexp(1, e - 1);
        for (size_t k = 0; k < n; k++) x[i * n + k] = (float)((double)x[i * n + k] * scale[i]);
    }
}

static void multiply_exactly(matrices *x) {
    const ulp_product *p = &x->product;
    double a_norm = 0, b_norm = 0;
    for (size_t i = 0; i < p->m; i++) {
        double a = 0;
        for (size_t k = 0; k < p->k; k++) a += fabs((double)p->host.a[i * p->k + k]) / x->a_scale[i];
        a_norm = fmax(a_norm, a);
        for (size_t j = 0; j < p->m; j++) {
            double sum = 0;
            for (size_t k = 0; k < p->k; k++) sum += (double)p->host.a[i * p->k + k] * (double)p->host.b[j * p->k + k];
            x->exact[i * p->m + j] = sum;
        }
    }
    for (size_t k = 0; k < p->k; k++) {
        double b = 0;
        for (size_t j = 0; j < p->m; j++) b += fabs((double)p->host.b[j * p->k + k]) / x->b_scale[j];
        b_norm = fmax(b_norm, b);
    }
    x->norm = a_norm * b_norm;
}

static double error_of(const matrices *x) {
    const ulp_product *p = &x->product;
    double most = 0;
    for (size_t i = 0; i < p->m; i++) {
        double sum = 0;
        for (size_t j = 0; j < p->m; j++) {
            const double error = (double)p->host.c[i * p->m + j] - x->exact[i * p->m + j];
            sum += fabs(error) / x->a_scale[i] / x->b_scale[j];
        }
        if (!(sum <= most)) most = sum; /* NaN counts as the largest */
    }
    return most / x->norm;
}

/* ---- products ---- */

static ulp_status put_words(const ulp_task *task, matrices *x, int64_t words) {
    const point *at = task->point;
    row r = {.datapath = at->datapath->name,
             .format = at->datapath->a.name,
             .words = words,
             .n = at->n,
             .sums = (int64_t)(x->product.m * x->product.m)};
    double *const errors[WAYS] = {&r.error, &r.truncated, &r.small_first};
    for (int way = 0; way < WAYS; way++) {
        ulp_datapath d;
        ULP_TRY(with_words(&d, at->datapath, words, way));
        ULP_TRY(ulp_product_multiply(&x->product, &d, (ulp_stream){0, 0, 0}));
        *errors[way] = error_of(x);
    }
    ulp_row_put(task->rows, &r);
    return ULP_OK;
}

static ulp_status put_all_words(const ulp_task *task, matrices *x) {
    const settings *s = task->settings;
    const point *at = task->point;
    const ulp_product *p = &x->product;
    const double largest = sqrt(0x1.fffffep127 / (double)at->n);
    fill(s, "A", p->host.a, x->a_scale, p->m, p->k, fmin(at->datapath->a.max, largest));
    fill(s, "B", p->host.b, x->b_scale, p->m, p->k, fmin(at->datapath->b.max, largest));
    multiply_exactly(x);
    ULP_TRY(ulp_product_upload(p));
    for (size_t w = 0; w < s->words.count; w++) {
        if (!has_enough(at->datapath, s->words.at[w])) ULP_TRY(put_words(task, x, s->words.at[w]));
        if (ulp_task_progress(task, (double)(w + 1) / (double)s->words.count)) break;
    }
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    const size_t m = (size_t)s->size;
    matrices x = {.exact = malloc((m * m + 2 * m) * sizeof *x.exact)};
    ulp_status status = ulp_product_open(&x.product, s->backend, m, m, (size_t)((const point *)task->point)->n, 0);
    if (!x.exact) status = ULP_NO_MEMORY;
    if (status == ULP_OK) {
        x.a_scale = x.exact + m * m;
        x.b_scale = x.a_scale + m;
        status = put_all_words(task, &x);
    }
    ulp_product_close(&x.product);
    free(x.exact);
    return status;
}

const ulp_experiment experiment = {
    .name = "multiword",
    .question = "how exact are products of binary32 matrices on 16- and 8-bit units, if operands are several words?",
    .threads_inside = 1,
    ULP_EXPERIMENT_OF(settings, point, row),
};
