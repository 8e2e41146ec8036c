/* order.c - the same dot product in a hundred orders and cut among threads: how many results does it have?
 *
 * Floating-point addition is not associative, so the order of a sum decides the last bits of its result (Goldberg 1991,
 * doi:10.1145/103162.103163). The number of threads, the size of a tile and the scheduler choose the order. Demmel and
 * Nguyen 2015, doi:10.1109/TC.2014.2345391, describe sums that do not depend on the order.
 *
 * A sum that is rounded once has one result. A Tensor Core has one result for all orders inside one of its blocks,
 * because it aligns, cuts and adds the products of a block as a set.
 *
 * The sums have k products of N(0,1) or U[0,1] data, rounded to binary16 or to the input format of the datapath. Rows:
 *   - any: the products in a random order. Number 1 is the given order.
 *   - inside: only products of the same block change places.
 *   - slices: the sum as T threads form it. Each thread sums a slice of k / T products, then the sums of the slices are
 *     added. The column number is T.
 *   - alone: the column number counts the outputs of a matrix product. The column value counts the outputs whose bits
 *     change when each output is computed alone.
 *
 * The column error is (value - exact) / sum |a b|. The claims are in order/claims.c.
 */
#include "order.h"
#include "sim/normal.h"
#include "sim/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 13, COLUMNS = 11 }; /* of the product in the rows `alone`: no multiples of a tile */

static const ulp_option options[] = {
    ULP_OPTION_DATAPATHS_OF(
        settings, datapaths,
        "fp32,pairwise:fp32:rne,kahan:fp32:rne,exact:fp32:rne,v100-fp16,a100-fp16,h100-fp16,h100-e4m3,serial:fp16:rne,"
        "pairwise:fp16:rne,kahan:fp16:rne,exact:fp16:rne,v100-fp16-fp16,serial:bf16:rne",
        NULL),
    ULP_OPTION(settings, k, integer, "4096", .quick = "1024", .help = "products in the sum", .min = 2, .max = 1e6),
    ULP_OPTION(settings, orders, integer, "100", .full = "1000", .help = "orders of every kind", .min = 2, .max = 1e5),
    ULP_OPTION(settings, slices, integers, "1,2,3,4,6,8,12,16,24,32,48,64",
               .help = "numbers of threads among which the sum is cut", .min = 1, .max = 1e6),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_BACKEND_OF(settings, backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_WORDS(row, kind, KIND_WORDS),
    ULP_WORDS(row, data, DATA_WORDS),
    ULP_COLUMNS(row, datapath, number, value, code, error),
    {0},
};

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    for (int data = 0; data < DATA_COUNT; data++)
        for (size_t i = 0; i < s->datapaths.count; i++)
            for (int kind = 0; kind < KIND_COUNT; kind++) {
                const ulp_datapath *d = &s->datapaths.at[i];
                if ((kind == INSIDE && !has_blocks(d)) || (kind == SLICES && !is_serial(d))) continue;
                ulp_plan_add(plan, &(point){d, data, kind}, 0, "%s %s %s", ulp_word_of(DATA_WORDS, (size_t)data).text,
                             d->name, ulp_word_of(KIND_WORDS, (size_t)kind).text);
            }
    return ULP_OK;
}

/* The factors of the products, and a permuted copy of the factors. */
typedef struct factors {
    size_t k;
    double *a, *b, *a_moved, *b_moved; /* (k) each */
    double exact, size;                /* sum of a b, sum of |a b| */
} factors;

/* The operands and the result in backend memory. The result is 1 x 1, or ROWS x COLUMNS for the rows `alone`. */
typedef struct machine {
    ulp_arena arena;
    size_t rows, width, k;
    double *a, *b, *y; /* (rows,k), (width,k), (rows,width) */
} machine;

static void carve(void *own, ulp_arena *arena) {
    machine *m = own;
    m->a = ulp_arena_take64(arena, m->rows * m->k);
    m->b = ulp_arena_take64(arena, m->width * m->k);
    m->y = ulp_arena_take64(arena, m->rows * m->width);
}

/* *y = the dot product of a (k) and b (k), which are in backend memory. */
static ulp_status multiply(const machine *m, ulp_summation how, const double *a, const double *b, size_t k, double *y) {
    const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = k, .lda = k, .ldb = k, .ldc = 1, .b_trans = 1};
    ULP_TRY(ulp_backend_gemm64(m->arena.backend, m->y, a, b, &shape, how));
    return m->arena.backend->download(y, m->y, sizeof *y);
}

/* *y = the dot product of a (k) and b (k), which are in host memory. */
static ulp_status product(const machine *m, ulp_summation how, const double *a, const double *b, size_t k, double *y) {
    ULP_TRY(m->arena.backend->upload(m->a, a, k * sizeof *a));
    ULP_TRY(m->arena.backend->upload(m->b, b, k * sizeof *b));
    return multiply(m, how, m->a, m->b, k, y);
}

/* Fills x (n) with random data of the point, rounded to the input format f. `name` selects the random stream: every
 * factor and every matrix has its own stream. */
static void fill(const ulp_task *task, double *x, size_t n, const char *name, const ulp_format *f) {
    const int data = ((const point *)task->point)->data;
    const ulp_stream stream = ulp_stream_named(((const settings *)task->settings)->seed, "order %s %s",
                                               ulp_word_of(DATA_WORDS, (size_t)data).text, name);
    for (size_t i = 0; i < n; i++)
        x[i] = ulp_round(data == NORMAL ? ulp_random_normal(stream, i) : ulp_random_uniform(stream, i), f,
                         (ulp_rule){0}, 0);
}

static ulp_status fill_factors(const ulp_task *task, const machine *m, factors *f) {
    const ulp_datapath *d = ((const point *)task->point)->datapath;
    ulp_format half;
    ulp_datapath exact;
    ULP_TRY(ulp_format_parse(&half, "binary16"));
    ULP_TRY(ulp_datapath_parse(&exact, "exact:binary64:rne"));
    fill(task, f->a, f->k, "a", d->has_inputs ? &d->a : &half);
    fill(task, f->b, f->k, "b", d->has_inputs ? &d->b : &half);
    for (size_t i = 0; i < f->k; i++) {
        f->a_moved[i] = fabs(f->a[i]);
        f->b_moved[i] = fabs(f->b[i]);
    }
    ULP_TRY(product(m, (ulp_summation){.datapath = &exact}, f->a, f->b, f->k, &f->exact));
    return product(m, (ulp_summation){.datapath = &exact}, f->a_moved, f->b_moved, f->k, &f->size);
}

/* Copies the factors in order `number`: shuffled inside groups of `group` products (Fisher and Yates), or unchanged if
 * `number` is 1. All datapaths with the same groups have the same orders. */
static void shuffle(uint64_t seed, factors *f, size_t group, int64_t number) {
    const ulp_stream stream =
        ulp_stream_named(seed, "order of %zu in groups of %zu, number %lld", f->k, group, (long long)number);
    memcpy(f->a_moved, f->a, f->k * sizeof *f->a);
    memcpy(f->b_moved, f->b, f->k * sizeof *f->b);
    for (size_t begin = 0; begin < f->k && number > 1; begin += group) {
        const size_t n = f->k - begin < group ? f->k - begin : group;
        double *a = f->a_moved + begin, *b = f->b_moved + begin;
        for (size_t i = n; i-- > 1;) {
            const size_t j = (size_t)(ulp_random_uniform(stream, begin + i) * (double)(i + 1));
            const double x = a[i], y = b[i];
            a[i] = a[j], b[i] = b[j];
            a[j] = x, b[j] = y;
        }
    }
}

/* A row of the point without code and error. */
static row row_of(const ulp_task *task, int64_t number, double value) {
    const point *p = task->point;
    row r;
    ulp_row_clear(task->rows, &r);
    r.kind = p->kind;
    r.data = p->data;
    r.datapath = p->datapath->name;
    r.number = number;
    r.value = value;
    return r;
}

static void put_sum(const ulp_task *task, const factors *f, int64_t number, double value) {
    row r = row_of(task, number, value);
    r.code = (ulp_code){&((const point *)task->point)->datapath->result, value};
    r.error = (value - f->exact) / f->size;
    ulp_row_put(task->rows, &r);
}

static ulp_status put_orders(const ulp_task *task, const machine *m, factors *f) {
    const settings *s = task->settings;
    const point *p = task->point;
    const ulp_datapath *d = p->datapath;
    const size_t group = p->kind == INSIDE ? d->step : f->k;
    const ulp_summation how = {.datapath = d, .stream = ulp_stream_named(s->seed, "order %s", d->name)};
    ulp_status status = ULP_OK;
    for (int64_t i = 1; i <= s->orders && status == ULP_OK; i++) {
        double y;
        shuffle(s->seed, f, group, i);
        status = product(m, how, f->a_moved, f->b_moved, f->k, &y);
        if (status == ULP_OK) put_sum(task, f, i, y);
        if (ulp_task_progress(task, (double)i / (double)s->orders)) break;
    }
    return status;
}

static ulp_status put_slices(const ulp_task *task, const machine *m, const factors *f) {
    const settings *s = task->settings;
    const ulp_datapath *d = ((const point *)task->point)->datapath;
    for (size_t i = 0; i < s->slices.count; i++) {
        double y;
        const size_t threads = (size_t)s->slices.at[i];
        ulp_datapath cut = *d; /* one chunk per thread */
        cut.kind = ULP_CHUNKED;
        cut.length = (uint32_t)((f->k + threads - 1) / threads);
        ULP_TRY(ulp_datapath_init(&cut));
        const ulp_summation how = {.datapath = &cut, .stream = ulp_stream_named(s->seed, "order %s slices", d->name)};
        ULP_TRY(product(m, how, f->a, f->b, f->k, &y));
        put_sum(task, f, s->slices.at[i], y);
    }
    return ULP_OK;
}

/* Two matrices and their product, host memory. */
typedef struct matrices {
    size_t k;
    double *a, *b, *c; /* (ROWS,k), (COLUMNS,k), (ROWS,COLUMNS) */
} matrices;

/* Computes every output again, alone and with the same random words, and counts the outputs that differ. */
static ulp_status compare_alone(const machine *m, ulp_summation how, const matrices *x, int64_t *different) {
    const ulp_backend *backend = m->arena.backend;
    const size_t k = x->k;
    const ulp_gemm_shape shape = {.m = ROWS, .n = COLUMNS, .k = k, .lda = k, .ldb = k, .ldc = COLUMNS, .b_trans = 1};
    ulp_status status = backend->upload(m->a, x->a, ROWS * k * sizeof *x->a);
    if (status == ULP_OK) status = backend->upload(m->b, x->b, COLUMNS * k * sizeof *x->b);
    if (status == ULP_OK) status = ulp_backend_gemm64(backend, m->y, m->a, m->b, &shape, how);
    if (status == ULP_OK) status = backend->download(x->c, m->y, ROWS * COLUMNS * sizeof *x->c);
    *different = 0;
    for (size_t i = 0; i < ROWS * COLUMNS && status == ULP_OK; i++) {
        ulp_summation alone = how;
        double y = 0;
        alone.stream.first += i * ulp_datapath_words(how.datapath, k);
        status = multiply(m, alone, m->a + i / COLUMNS * k, m->b + i % COLUMNS * k, k, &y);
        *different += ulp_bits64(y) != ulp_bits64(x->c[i]);
    }
    return status;
}

static ulp_status put_alone(const ulp_task *task, const machine *m, size_t k) {
    const ulp_datapath *d = ((const point *)task->point)->datapath;
    const ulp_stream stream = ulp_stream_named(((const settings *)task->settings)->seed, "order %s alone", d->name);
    matrices x = {.k = k, .a = malloc(((ROWS + COLUMNS) * k + ROWS * COLUMNS) * sizeof(double))};
    int64_t different;
    ulp_format half;
    ulp_status status = x.a != NULL ? ulp_format_parse(&half, "binary16") : ULP_NO_MEMORY;
    if (status == ULP_OK) {
        x.b = x.a + ROWS * k;
        x.c = x.b + COLUMNS * k;
        fill(task, x.a, ROWS * k, "A", d->has_inputs ? &d->a : &half);
        fill(task, x.b, COLUMNS * k, "B", d->has_inputs ? &d->b : &half);
        status = compare_alone(m, (ulp_summation){.datapath = d, .stream = stream}, &x, &different);
    }
    if (status == ULP_OK) {
        const row r = row_of(task, ROWS * COLUMNS, (double)different);
        ulp_row_put(task->rows, &r);
    }
    free(x.a);
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    const point *p = task->point;
    const int alone = p->kind == ALONE;
    factors f = {.k = (size_t)s->k};
    machine m = {.rows = alone ? ROWS : 1, .width = alone ? COLUMNS : 1, .k = f.k};
    f.a = malloc(4 * f.k * sizeof *f.a);
    if (f.a == NULL) return ULP_NO_MEMORY;
    f.b = f.a + f.k;
    f.a_moved = f.b + f.k;
    f.b_moved = f.a_moved + f.k;
    ulp_status status = ulp_arena_make(&m.arena, s->backend, carve, &m);
    if (status == ULP_OK) status = fill_factors(task, &m, &f);
    if (status == ULP_OK) switch (p->kind) {
        case SLICES: status = put_slices(task, &m, &f); break;
        case ALONE: status = put_alone(task, &m, f.k); break;
        default: status = put_orders(task, &m, &f); break;
        }
    ulp_arena_release(&m.arena);
    free(f.a);
    return status == ULP_OK
               ? status
               : ulp_task_fail(task, status, "datapath %s: %s", p->datapath->name, ulp_status_text(status));
}

const ulp_experiment experiment = {
    .name = "order",
    .question = "how many results does the same dot product have when its products come in another order, or are cut "
                "among threads?",
    ULP_EXPERIMENT_OF(settings, point, row),
};
