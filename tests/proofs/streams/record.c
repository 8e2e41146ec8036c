/* record.c - recording the words of every stochastic operation of a backend, and of draws on the host; see record.h. */
#include "record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/functions/ctc.h"

void streams_drawn(ulp_stream stream, uint64_t i);

static const ulp_backend *inner;
static record *records;
static size_t used, room;
static uint64_t operations;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t records_operations(void) { return operations; }
void records_clear(void) { used = 0, operations = 0; }

static void add(const char *what, ulp_stream s, uint64_t n, uint64_t number) {
    if (n == 0) return;
    if (used == room) {
        room = room ? 2 * room : 4096;
        records = realloc(records, room * sizeof *records);
        if (!records) abort();
    }
    records[used++] = (record){s.seed, s.stream, s.first, s.first + (n - 1), what, number, 0};
}

static void take(const char *what, ulp_stream s, uint64_t n) {
    pthread_mutex_lock(&lock);
    add(what, s, n, ++operations);
    pthread_mutex_unlock(&lock);
}

/* The checksum of x (n), by the method of Fowler, Noll and Vo, for words of 32 bits. */
static uint64_t checksum(const float *x, size_t n) {
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        sum = (sum ^ bits) * 0x100000001b3u;
    }
    return sum;
}

/* The words of an operation that replaces each of x (n). */
static void take_each(const char *what, ulp_stream s, const float *x, size_t n) {
    const uint64_t input = checksum(x, n);
    pthread_mutex_lock(&lock);
    add(what, s, n, ++operations);
    if (n) records[used - 1].input = input;
    pthread_mutex_unlock(&lock);
}

/* A word drawn on the host. A word beside the words of the last draw joins them. */
void streams_drawn(ulp_stream s, uint64_t i) {
    const uint64_t at = s.first + i;
    pthread_mutex_lock(&lock);
    record *last = used ? &records[used - 1] : NULL;
    if (last && last->what[0] == 'd' && last->seed == s.seed && last->stream == s.stream && last->last + 1 == at)
        last->last = at;
    else if (last && last->what[0] == 'd' && last->seed == s.seed && last->stream == s.stream && last->first == at + 1)
        last->first = at;
    else add("draw", (ulp_stream){s.seed, s.stream, at}, 1, ++operations);
    pthread_mutex_unlock(&lock);
}

/* ---- the operations ---- */

static void take_rounding(const char *what, ulp_rounding how, uint64_t n) {
    if (ulp_mode_is_stochastic(how.rule.mode)) take(what, how.stream, n);
}

static void take_sums(const char *what, ulp_summation how, uint64_t m, uint64_t n, uint64_t k) {
    take(what, how.stream, m * n * ulp_datapath_words(how.datapath, k));
}

static ulp_status round_(float *y, const float *x, size_t n, ulp_rounding how) {
    float *before = malloc(n * sizeof *x + 1);
    if (!before) abort();
    memcpy(before, x, n * sizeof *x);
    const ulp_status status = inner->round(y, x, n, how);
    if (memcmp(before, y, n * sizeof *x) != 0 && ulp_mode_is_stochastic(how.rule.mode))
        take_each("round", how.stream, before, n);
    free(before);
    return status;
}
static ulp_status round64(double *y, const double *x, size_t n, ulp_rounding how) {
    take_rounding("round64", how, n);
    return inner->round64(y, x, n, how);
}
static ulp_status map(float *y, ulp_array_op op, size_t n, ulp_rounding how) {
    take_rounding("map", how, n);
    return inner->map(y, op, n, how);
}
/* Whether a step copies an array, after the step. */
static int is_copy(const ulp_update_step *s, size_t n) {
    return s->op == ULP_STEP_ROUND && s->y.kind == ULP_OPERAND_ARRAY && s->a.kind == ULP_OPERAND_ARRAY &&
           memcmp(s->y.at, s->a.at, n * sizeof(float)) == 0;
}
static ulp_status update(const ulp_update_step *step, size_t steps, size_t n) {
    const ulp_status status = inner->update(step, steps, n);
    for (size_t i = 0; i < steps; i++)
        if (ulp_mode_is_stochastic(step[i].rule.mode) && !is_copy(&step[i], n)) take("update", step[i].stream, n);
    return status;
}
static ulp_status reduce(float *y, const float *x, size_t m, size_t n, ulp_summation how) {
    take_sums("reduce", how, 1, n, m);
    return inner->reduce(y, x, m, n, how);
}
static ulp_status gemm(float *c, const float *a, const float *b, const ulp_gemm_shape *s, ulp_summation how) {
    take_sums("gemm", how, s->m, s->n, s->k);
    return inner->gemm(c, a, b, s, how);
}
static ulp_status gemm64(double *c, const double *a, const double *b, const ulp_gemm_shape *s, ulp_summation how) {
    take_sums("gemm64", how, s->m, s->n, s->k);
    return inner->gemm64(c, a, b, s, how);
}
static ulp_status gemm_round(float *c, const float *a, const float *b, const ulp_gemm_shape *s, ulp_summation how,
                             ulp_rounding rounding) {
    take_sums("gemm", how, s->m, s->n, s->k);
    take_rounding("round of a product", rounding, (uint64_t)s->m * s->n);
    return inner->gemm_round(c, a, b, s, how, rounding);
}
static ulp_status gemm_batch(float *c, const float *a, const float *b, const ulp_gemm_batch *batch, ulp_summation how) {
    take_sums("gemm", how, batch->outer * batch->inner * batch->shape.m, batch->shape.n, batch->shape.k);
    return inner->gemm_batch(c, a, b, batch, how);
}
static ulp_status row_moments(double *to, const float *x, const ulp_row_moments *how) {
    const uint64_t n = how->rows * ulp_moments_words(how->n);
    if (how->method != ULP_MOMENTS_WIDE && ulp_mode_is_stochastic(how->rule.mode)) take("row_moments", how->stream, n);
    return inner->row_moments(to, x, how);
}
/* The keys of a block have words of their own in each row, as the product with the factor. */
static ulp_status softmax_sums(float *sum, const float *p, const float *factor, const ulp_scores *by,
                               ulp_rounding how) {
    for (uint64_t r = 0; r < by->rows; r++) {
        ulp_rounding of_row = how;
        of_row.stream.first += r * ulp_scores_words(by) + by->from;
        take_rounding("softmax_sums", of_row, by->to - by->from);
        of_row.stream.first += by->keys;
        take_rounding("softmax_sums, a factor", of_row, 1);
    }
    return inner->softmax_sums(sum, p, factor, by, how);
}
/* The words of a cast to blocks: of the elements, or of the scales of groups with a correction. */
static void take_cast(const char *what, const float *x, size_t rows, size_t columns, const ulp_block_cast *cast) {
    if (ulp_mode_is_stochastic(cast->rule.mode) || cast->eden) take_each(what, cast->stream, x, rows * columns);
}
static ulp_status block_cast(float *y, const float *x, size_t rows, size_t columns, const ulp_block_cast *cast) {
    take_cast("block_cast", x, rows, columns, cast);
    return inner->block_cast(y, x, rows, columns, cast);
}
static ulp_status block_parts(float *elements, float *scales, float *tensor_scale, const float *x, size_t rows,
                              size_t columns, const ulp_block_cast *cast) {
    take_cast("block_parts", x, rows, columns, cast);
    return inner->block_parts(elements, scales, tensor_scale, x, rows, columns, cast);
}
static ulp_status low_bit(float *y, float *scale, double *work, const float *x, size_t rows, size_t columns,
                          const ulp_low_bit *how) {
    if (how->stochastic) take_each("low_bit", how->stream, x, rows * columns);
    return inner->low_bit(y, scale, work, x, rows, columns, how);
}
static ulp_status hadamard(float *y, const float *x, size_t rows, size_t columns, const ulp_hadamard *how,
                           ulp_rounding rounding) {
    if (how->signs == ULP_SIGNS_STREAM) take("signs", how->sign_stream, how->g);
    take_rounding("hadamard", rounding, (uint64_t)rows * columns);
    return inner->hadamard(y, x, rows, columns, how, rounding);
}
static ulp_status dropout(double *y, const float *x, size_t n, ulp_dropout how) {
    take("dropout", how.stream, n);
    return inner->dropout(y, x, n, how);
}
static ulp_status ctc(double *dz, double *loss, double *work, const float *p, ulp_sequences of,
                      const ulp_path_sums *sums) {
    const uint64_t n = of.B * ulp_ctc_words(of.L, of.T);
    ulp_rounding back = sums->rounding;
    back.stream.stream = sums->beta_stream;
    take_rounding("alpha", sums->rounding, n);
    take_rounding("beta", back, n);
    return inner->ctc(dz, loss, work, p, of, sums);
}

const ulp_backend *recording(const ulp_backend *backend) {
    static ulp_backend table;
    inner = backend;
    table = *backend;
    table.round = round_;
    table.round64 = round64;
    table.map = map;
    table.update = update;
    table.reduce = reduce;
    table.gemm = gemm;
    table.gemm64 = gemm64;
    table.block_cast = block_cast;
    table.block_parts = block_parts;
    table.low_bit = low_bit;
    table.hadamard = hadamard;
    table.dropout = dropout;
    table.ctc = ctc;
    table.row_moments = row_moments;
    table.softmax_sums = softmax_sums;
    table.gemm_batch = backend->gemm_batch ? gemm_batch : NULL;
    table.gemm_round = backend->gemm_round ? gemm_round : NULL;
    return &table;
}

/* ---- the list ---- */

static int order(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int by_place(const void *left, const void *right) {
    const record *a = left, *b = right;
    int c = order(a->seed, b->seed);
    if (c == 0) c = order(a->stream, b->stream);
    if (c == 0) c = order(a->first, b->first);
    return c != 0 ? c : order(a->number, b->number);
}

const record *records_sorted(size_t *count) {
    if (used) qsort(records, used, sizeof *records, by_place);
    *count = used;
    return records;
}
