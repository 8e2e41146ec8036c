/* order.c - the same dot product in a hundred orders and cut among threads: how many results does it have?
 *
 * Floating-point addition is not associative, so that the order of a sum decides its last bits, and with it whatever
 * chooses the order: the number of threads, the size of a tile, the scheduler (Goldberg 1991,
 * doi:10.1145/103162.103163; Demmel and Nguyen 2015, doi:10.1109/TC.2014.2345391, on sums that do not depend on it). A
 * sum that is rounded once has one result; a Tensor Core has one for all orders inside one of its blocks, since it
 * aligns, cuts and adds them as a set. Rows, for k products of N(0,1) or U[0,1] data, rounded to binary16 or to the
 * datapath's own input format:
 *   any      the products in a random order; number 1 is the order given
 *   inside   only products of the same block change places
 *   slices   as T threads do it: each sums a slice of k / T products, then the slices' sums are added; number is T
 *   alone    outputs of a matrix product whose bits change when they are computed alone; number is how many there were
 * error is (value - exact) / sum |a b|.
 */
#include "experiments/harness/harness.h"
#include "experiments/harness/claims/spread.h"
#include "sim/normal.h"
#include "sim/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ulp_option options[] = {
    ULP_TAKES_DATAPATHS(
        "fp32,pairwise:fp32:rne,kahan:fp32:rne,exact:fp32:rne,v100-fp16,a100-fp16,h100-fp16,h100-e4m3,serial:fp16:rne,"
        "pairwise:fp16:rne,kahan:fp16:rne,exact:fp16:rne,v100-fp16-fp16,serial:bf16:rne",
        NULL),
    {"k", ULP_OPTION_INTEGER, "4096", "1024", NULL, "products in the sum", 2, 1e6, NULL, 0},
    {"orders", ULP_OPTION_INTEGER, "100", NULL, "1000", "orders of every kind", 2, 1e5, NULL, 0},
    {"slices", ULP_OPTION_INTEGERS, "1,2,3,4,6,8,12,16,24,32,48,64", NULL, NULL,
     "numbers of threads among which the sum is cut", 1, 1e6, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_BACKEND,
    {0},
};

enum { NORMAL, UNIFORM, DATA_COUNT };
static const char *const data_names[DATA_COUNT] = {"normal", "uniform"};
enum { ANY, INSIDE, SLICES, ALONE, KIND_COUNT };
static const char *const kind_names[KIND_COUNT] = {"any", "inside", "slices", "alone"};

enum { AT_DATA, AT_DATAPATH, AT_KIND, ROWS = 13, COLUMNS = 11 }; /* of the product for `alone`: no multiple of a tile */

/* Whether one step of a datapath adds several products as a set. */
static int has_blocks(const ulp_datapath *d) { return d->step > 1 && !d->fused.late && d->fused.group == 0; }

static int is_serial(const ulp_datapath *d) {
    return d->kind == ULP_SERIAL && d->length == 1 && !d->has_inputs && d->promote == 0;
}

static ulp_status prepare(ulp_run *run, void **context) {
    size_t datapaths;
    const ulp_datapath *d = ulp_run_datapaths(run, &datapaths);
    (void)context;
    for (int data = 0; data < DATA_COUNT; data++)
        for (size_t i = 0; i < datapaths; i++)
            for (int kind = 0; kind < KIND_COUNT; kind++) {
                if ((kind == INSIDE && !has_blocks(&d[i])) || (kind == SLICES && !is_serial(&d[i]))) continue;
                ulp_point point = {.at = {data, (int64_t)i, kind}};
                ulp_point_add(run, point, "%s %s %s", data_names[data], d[i].name, kind_names[kind]);
            }
    return ULP_OK;
}

/* The factors and a permuted copy of them. */
typedef struct factors {
    size_t k;
    double *a, *b, *a_moved, *b_moved; /* (k) each */
    double exact, size;                /* sum of a b, sum of |a b| */
} factors;

/* What is multiplied, and the result, in backend memory: 1 x 1, or ROWS x COLUMNS of the products that are formed
 * twice. */
typedef struct machine {
    ulp_family family;
    double *a, *b, *y; /* (rows,k), (columns,k), (rows,columns) */
} machine;

static void carve(machine *m, size_t rows, size_t columns, size_t k) {
    m->a = ulp_family_take64(&m->family, rows * k);
    m->b = ulp_family_take64(&m->family, columns * k);
    m->y = ulp_family_take64(&m->family, rows * columns);
}

static ulp_status machine_new(machine *m, const ulp_run *run, size_t rows, size_t columns, size_t k) {
    ulp_family_init(&m->family, ulp_run_backend(run));
    carve(m, rows, columns, k);
    const ulp_status status = ulp_family_alloc(&m->family);
    if (status == ULP_OK) carve(m, rows, columns, k);
    return status;
}

/* *y = a (k) b (k), backend memory. */
static ulp_status multiply(const machine *m, const ulp_datapath *d, const double *a, const double *b, size_t k,
                           ulp_stream stream, double *y) {
    const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = k, .lda = k, .ldb = k, .ldc = 1, .b_trans = 1};
    const ulp_status status = ulp_backend_gemm64(m->family.backend, m->y, a, b, &shape, (ulp_summation){d, stream});
    return status == ULP_OK ? m->family.backend->download(y, m->y, sizeof *y) : status;
}

/* *y = a (k) b (k), host memory. */
static ulp_status product(const machine *m, const ulp_datapath *d, const double *a, const double *b, size_t k,
                          ulp_stream stream, double *y) {
    ulp_status status = m->family.backend->upload(m->a, a, k * sizeof *a);
    if (status == ULP_OK) status = m->family.backend->upload(m->b, b, k * sizeof *b);
    return status == ULP_OK ? multiply(m, d, m->a, m->b, k, stream, y) : status;
}

/* x (n): data rounded to the input format `f`; columns of one matrix have names of their own. */
static void fill(double *x, size_t n, int data, uint64_t seed, const char *name, const ulp_format *f) {
    const ulp_stream stream = ulp_stream_named(seed, "order %s %s", data_names[data], name);
    for (size_t i = 0; i < n; i++)
        x[i] = ulp_round(data == NORMAL ? ulp_random_normal(stream, i) : ulp_random_uniform(stream, i), f,
                         (ulp_rule){0}, 0);
}

static ulp_status fill_factors(const ulp_run *run, const machine *m, factors *f, int data, const ulp_datapath *d) {
    ulp_format half;
    ulp_datapath exact;
    ulp_status status = ulp_format_parse(&half, "binary16");
    if (status == ULP_OK) status = ulp_datapath_parse(&exact, "exact:binary64:rne");
    if (status != ULP_OK) return status;
    fill(f->a, f->k, data, ulp_run_seed(run), "a", d->has_inputs ? &d->a : &half);
    fill(f->b, f->k, data, ulp_run_seed(run), "b", d->has_inputs ? &d->b : &half);
    for (size_t i = 0; i < f->k; i++) {
        f->a_moved[i] = fabs(f->a[i]);
        f->b_moved[i] = fabs(f->b[i]);
    }
    status = product(m, &exact, f->a, f->b, f->k, (ulp_stream){0}, &f->exact);
    return status == ULP_OK ? product(m, &exact, f->a_moved, f->b_moved, f->k, (ulp_stream){0}, &f->size) : status;
}

/* The factors in order `number`, shuffled inside groups of `group` products (Fisher and Yates); 1 is as they are. Every
 * datapath with the same groups gets the same orders. */
static void shuffle(const ulp_run *run, factors *f, size_t group, int64_t number) {
    const ulp_stream stream = ulp_stream_named(ulp_run_seed(run), "order of %zu in groups of %zu, number %lld", f->k,
                                               group, (long long)number);
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

static void put_row(ulp_rows *rows, const ulp_point *point, const char *datapath, int64_t number, double value,
                    const ulp_format *result, double error) {
    ulp_put_text(rows, kind_names[point->at[AT_KIND]]);
    ulp_put_text(rows, data_names[point->at[AT_DATA]]);
    ulp_put_text(rows, datapath);
    ulp_put_integer(rows, number);
    ulp_put_number(rows, value);
    if (result != NULL) {
        ulp_put_code(rows, value, result);
        ulp_put_number(rows, error);
    } else {
        ulp_put_none(rows);
        ulp_put_none(rows);
    }
    ulp_row_end(rows);
}

static ulp_status put_orders(const ulp_run *run, const machine *m, ulp_rows *rows, const ulp_point *point,
                             const ulp_datapath *d, factors *f) {
    const int64_t orders = ulp_option_integer(run, "orders");
    const size_t group = point->at[AT_KIND] == INSIDE ? d->step : f->k;
    ulp_status status = ULP_OK;
    for (int64_t i = 1; i <= orders && status == ULP_OK; i++) {
        double y;
        shuffle(run, f, group, i);
        status =
            product(m, d, f->a_moved, f->b_moved, f->k, ulp_stream_named(ulp_run_seed(run), "order %s", d->name), &y);
        if (status == ULP_OK) put_row(rows, point, d->name, i, y, &d->result, (y - f->exact) / f->size);
        if (ulp_rows_progress(rows, (double)i / (double)orders)) break;
    }
    return status;
}

static ulp_status put_slices(const ulp_run *run, const machine *m, ulp_rows *rows, const ulp_point *point,
                             const ulp_datapath *d, const factors *f) {
    size_t count;
    const double *threads = ulp_option_numbers(run, "slices", &count);
    ulp_status status = ULP_OK;
    for (size_t i = 0; i < count && status == ULP_OK; i++) {
        double y;
        const size_t t = (size_t)threads[i];
        ulp_datapath cut = *d; /* a slice each: chunks */
        cut.kind = ULP_CHUNKED;
        cut.length = (uint32_t)((f->k + t - 1) / t);
        status = ulp_datapath_init(&cut);
        if (status == ULP_OK)
            status =
                product(m, &cut, f->a, f->b, f->k, ulp_stream_named(ulp_run_seed(run), "order %s slices", d->name), &y);
        if (status == ULP_OK) put_row(rows, point, d->name, (int64_t)t, y, &d->result, (y - f->exact) / f->size);
    }
    return status;
}

/* a (ROWS, k), b (COLUMNS, k), c (ROWS, COLUMNS): every output again, alone, with the random words that it had. */
static ulp_status compare_alone(const ulp_run *run, const machine *m, const ulp_datapath *d, size_t k, const double *a,
                                const double *b, double *c, int64_t *different) {
    const ulp_backend *backend = m->family.backend;
    const ulp_gemm_shape shape = {.m = ROWS, .n = COLUMNS, .k = k, .lda = k, .ldb = k, .ldc = COLUMNS, .b_trans = 1};
    const ulp_stream stream = ulp_stream_named(ulp_run_seed(run), "order %s alone", d->name);
    ulp_status status = backend->upload(m->a, a, ROWS * k * sizeof *a);
    if (status == ULP_OK) status = backend->upload(m->b, b, COLUMNS * k * sizeof *b);
    if (status == ULP_OK) status = ulp_backend_gemm64(backend, m->y, m->a, m->b, &shape, (ulp_summation){d, stream});
    if (status == ULP_OK) status = backend->download(c, m->y, ROWS * COLUMNS * sizeof *c);
    *different = 0;
    for (size_t i = 0; i < ROWS * COLUMNS && status == ULP_OK; i++) {
        ulp_stream its = stream;
        double y;
        its.first += i * ulp_datapath_words(d, k);
        status = multiply(m, d, m->a + i / COLUMNS * k, m->b + i % COLUMNS * k, k, its, &y);
        *different += memcmp(&y, &c[i], sizeof y) != 0;
    }
    return status;
}

static ulp_status put_alone(const ulp_run *run, const machine *m, ulp_rows *rows, const ulp_point *point,
                            const ulp_datapath *d, size_t k) {
    double *a = malloc(((ROWS + COLUMNS) * k + ROWS * COLUMNS) * sizeof *a);
    int64_t different;
    ulp_format half;
    ulp_status status = a != NULL ? ulp_format_parse(&half, "binary16") : ULP_NO_MEMORY;
    if (status == ULP_OK) {
        double *b = a + ROWS * k;
        fill(a, ROWS * k, (int)point->at[AT_DATA], ulp_run_seed(run), "A", d->has_inputs ? &d->a : &half);
        fill(b, COLUMNS * k, (int)point->at[AT_DATA], ulp_run_seed(run), "B", d->has_inputs ? &d->b : &half);
        status = compare_alone(run, m, d, k, a, b, b + COLUMNS * k, &different);
        if (status == ULP_OK) put_row(rows, point, d->name, ROWS * COLUMNS, (double)different, NULL, 0);
    }
    free(a);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    size_t datapaths;
    const ulp_datapath *d = &ulp_run_datapaths(run, &datapaths)[point->at[AT_DATAPATH]];
    const int alone = point->at[AT_KIND] == ALONE;
    factors f = {.k = (size_t)ulp_option_integer(run, "k")};
    machine m;
    (void)context;
    f.a = malloc(4 * f.k * sizeof *f.a);
    if (f.a == NULL) return ULP_NO_MEMORY;
    f.b = f.a + f.k;
    f.a_moved = f.b + f.k;
    f.b_moved = f.a_moved + f.k;
    ulp_status status = machine_new(&m, run, alone ? ROWS : 1, alone ? COLUMNS : 1, f.k);
    if (status == ULP_OK) status = fill_factors(run, &m, &f, (int)point->at[AT_DATA], d);
    if (status == ULP_OK) switch (point->at[AT_KIND]) {
        case SLICES: status = put_slices(run, &m, rows, point, d, &f); break;
        case ALONE: status = put_alone(run, &m, rows, point, d, f.k); break;
        default: status = put_orders(run, &m, rows, point, d, &f); break;
        }
    ulp_family_release(&m.family);
    free(f.a);
    return status == ULP_OK ? status : ulp_run_fail(run, status, "datapath %s: %s", d->name, ulp_status_text(status));
}

/* ---- claims ---- */

/* The results of one kind: how many, how many different ones, how far apart relative to sum |a b|, the largest |error|.
 */
typedef struct spread {
    int count, distinct;
    double width, error;
} spread;

static spread spread_of(const ulp_run *run, int kind, int data, const char *datapath) {
    spread s = {0};
    double *error = malloc((size_t)(ulp_row_count(run) + 1) * sizeof *error);
    for (long row = 0; error != NULL; row++) {
        row = ulp_row_find(run, row, "kind", kind_names[kind], "data", data_names[data], "datapath", datapath,
                           (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        const double e = ulp_row_number(run, row, "error");
        error[s.count++] = isnan(e) ? INFINITY : e;
        s.error = fmax(s.error, isnan(e) ? INFINITY : fabs(e));
    }
    if (s.count > 0) {
        ulp_sort_numbers(error, (size_t)s.count);
        s.distinct = 1;
        for (int i = 1; i < s.count; i++) s.distinct += error[i] != error[i - 1];
        s.width = error[s.count - 1] - error[0];
    }
    free(error);
    return s;
}

/* All datapaths that `takes` chooses have one result, on both kinds of data, or (one = 0) more, on normal data: a sum
 * of positive data that has stopped growing does not depend on the order either. */
static void claim_distinct(ulp_run *run, int kind, int (*takes)(const ulp_datapath *), int one, const char *text) {
    size_t datapaths;
    const ulp_datapath *d = ulp_run_datapaths(run, &datapaths);
    int least = 0, most = 0, found = 0;
    for (size_t i = 0; i < datapaths; i++)
        for (int data = 0; data < (one ? DATA_COUNT : UNIFORM) && takes(&d[i]); data++) {
            const spread s = spread_of(run, kind, data, d[i].name);
            if (s.count < 2) continue;
            least = found == 0 || s.distinct < least ? s.distinct : least;
            most = s.distinct > most ? s.distinct : most;
            found++;
        }
    if (found > 0)
        ulp_claim(ulp_run_claims(run), one ? most == 1 : least > 1, text, "%d sums, %d to %d different results each",
                  found, least, most);
}

static int is_exact(const ulp_datapath *d) {
    return d->kind == ULP_EXACT && d->promote == 0 && !ulp_mode_is_stochastic(d->rule.mode);
}

/* Datapaths that round sums of normal data again and again, without coming close to one rounding as Kahan's do. */
static int is_ordered(const ulp_datapath *d) {
    static const char *const names[] = {"fp32",      "serial:fp16:rne", "serial:bf16:rne", "v100-fp16",
                                        "a100-fp16", "h100-fp16",       "v100-fp16-fp16",  "h100-e4m3"};
    int found = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) found |= strcmp(names[i], d->name) == 0;
    return found;
}

static int is_sliced(const ulp_datapath *d) { return is_ordered(d) && is_serial(d); }

/* The spread of one datapath is `times` that of another, at least, on normal data. */
static void claim_wider(ulp_run *run, const char *wide, const char *narrow, double times, const char *text) {
    const spread w = spread_of(run, ANY, NORMAL, wide), n = spread_of(run, ANY, NORMAL, narrow);
    if (w.count > 0 && n.count > 0)
        ulp_claim(ulp_run_claims(run), w.width >= times * n.width && w.width > 0, text, "%s %.2g, %s %.2g of sum |a b|",
                  wide, w.width, narrow, n.width);
}

static void claim_alone(ulp_run *run) {
    double outputs = 0, different = 0;
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "kind", kind_names[ALONE], (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        outputs += ulp_row_number(run, row, "number");
        different += ulp_row_number(run, row, "value");
    }
    ulp_claim(ulp_run_claims(run), different == 0,
              "here an output has the same bits alone and inside a matrix product, under every datapath",
              "%.0f outputs, %.0f differ", outputs, different);
}

static void print_table(const ulp_run *run) {
    size_t datapaths;
    const ulp_datapath *d = ulp_run_datapaths(run, &datapaths);
    char title[160];
    snprintf(title, sizeof title,
             "one sum of %lld products in %lld orders: different results, and their spread relative to sum |a b|",
             (long long)ulp_option_integer(run, "k"), (long long)ulp_option_integer(run, "orders"));
    ulp_sheet *table = ulp_sheet_new(
        title, "datapath,normal: results,spread,inside blocks,sliced,uniform: results,spread,inside blocks,sliced");
    for (size_t i = 0; i < datapaths; i++) {
        ulp_sheet_put(table, "%s", d[i].name);
        for (int data = 0; data < DATA_COUNT; data++) {
            const spread any = spread_of(run, ANY, data, d[i].name);
            ulp_sheet_put(table, "%d", any.distinct);
            ulp_sheet_put(table, "%.2g", any.width);
            for (int kind = INSIDE; kind <= SLICES; kind++) {
                const spread s = spread_of(run, kind, data, d[i].name);
                ulp_sheet_put(table, s.count ? "%d" : "-", s.distinct);
            }
        }
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

static void check(ulp_run *run, const void *context) {
    (void)context;
    print_table(run);
    claim_distinct(run, ANY, is_exact, 1, "a sum that is rounded once has one result, whatever the order");
    claim_distinct(run, INSIDE, has_blocks, 1, "orders inside the blocks of a Tensor Core give one result");
    claim_alone(run);
    if (ulp_option_integer(run, "k") < 1000 || ulp_option_integer(run, "orders") < 100) {
        ulp_claim_skip(ulp_run_claims(run), "how far results lie apart",
                       "the claims are for --k 1000 and --orders 100 or more");
        return;
    }
    claim_distinct(run, ANY, is_ordered, 0, "normal data: the order changes serial sums and those of Tensor Cores");
    claim_distinct(run, SLICES, is_sliced, 0, "normal data: cut among threads, a serial sum depends on their number");
    claim_wider(run, "serial:fp16:rne", "fp32", 1000,
                "normal data: binary16 sums lie 1000 times as far apart as binary32 ones, or more");
    claim_wider(run, "serial:fp16:rne", "pairwise:fp16:rne", 1,
                "normal data: pairwise sums lie closer together than serial ones, in binary16");
    claim_wider(run, "fp32", "kahan:fp32:rne", 1,
                "normal data: Kahan's sums lie closer together than serial ones, in binary32");
}

static const ulp_experiment experiment = {
    .name = "order",
    .question = "how many results does the same dot product have when its products come in another order, or are cut "
                "among threads?",
    .columns = "kind,data,datapath,number,value,code,error",
    .options = options,
    .prepare = prepare,
    .compute = compute,
    .check = check,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
