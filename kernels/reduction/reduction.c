/* reduction.c - the roundings of a reduction, and the sum over simulated ranks; see reduction.h. */
#include "reduction_steps.h"

#include <math.h>
#include <stdlib.h>

/* ---- roundings ---- */

static ulp_stream words_of(const ulp_reduction_job *job, uint64_t number, ulp_elements e) {
    ulp_stream stream = job->stream;
    stream.first += (number << 32) + e.first;
    return stream;
}

static ulp_rounding rounding_of(const ulp_reduction_job *job, uint64_t number, ulp_elements e) {
    return (ulp_rounding){&job->how->format, job->how->rule, words_of(job, number, e), NULL};
}

/* y = x / divisor, rounded once as `r` says. */
static ulp_status divide(const ulp_reduction_job *job, float *y, const float *x, size_t n, float divisor,
                         ulp_rounding r) {
    const ulp_update_step step = {.op = ULP_DIV,
                                  .y = {.kind = ULP_OPERAND_ARRAY, .at = y},
                                  .a = {.kind = ULP_OPERAND_ARRAY, .at = (float *)x}, /* read only */
                                  .b = {.kind = ULP_OPERAND_VALUE, .value = divisor},
                                  .format = *r.format,
                                  .rule = r.rule,
                                  .stream = r.stream};
    return ulp_backend_update(job->backend, &step, 1, n);
}

/* The divisor before the sum and after the sum. */
static float divisor_of(const ulp_reduction_job *job, ulp_mean_place place) {
    if (job->how->mean == ULP_MEAN_HALF) return sqrtf((float)job->ranks);
    return job->how->mean == place ? (float)job->ranks : 1.0f;
}

ulp_status ulp_reduction_enter(const ulp_reduction_job *job, float *y, const float *x, size_t n, size_t rank) {
    const float divisor = divisor_of(job, ULP_MEAN_BEFORE);
    ulp_rounding r = rounding_of(job, job->ranks + rank, (ulp_elements){0, n});
    if (job->how->order == ULP_REDUCE_TWO_LEVEL) r = (ulp_rounding){.format = &job->how->inside};
    return divisor == 1.0f ? ulp_backend_round(job->backend, y, x, n, r) : divide(job, y, x, n, divisor, r);
}

ulp_status ulp_reduction_add(const ulp_reduction_job *job, float *y, const float *a, const float *b, ulp_elements e,
                             uint64_t number) {
    return ulp_backend_map(job->backend, y + e.first, (ulp_array_op){ULP_ADD, a + e.first, b + e.first, NULL}, e.n,
                           rounding_of(job, number, e));
}

ulp_status ulp_reduction_add_inside(const ulp_reduction_job *job, float *y, const float *x, ulp_elements e) {
    return ulp_backend_map(job->backend, y + e.first, (ulp_array_op){ULP_ADD, y + e.first, x + e.first, NULL}, e.n,
                           (ulp_rounding){.format = &job->how->inside});
}

ulp_status ulp_reduction_leave_node(const ulp_reduction_job *job, float *y, ulp_elements e, size_t q) {
    return ulp_backend_round(job->backend, y + e.first, y + e.first, e.n, rounding_of(job, 2 * job->ranks + q, e));
}

ulp_status ulp_reduction_finish(const ulp_reduction_job *job, float *y, ulp_elements e) {
    const float divisor = divisor_of(job, ULP_MEAN_AFTER);
    if (divisor == 1.0f) return ULP_OK;
    return divide(job, y + e.first, y + e.first, e.n, divisor, rounding_of(job, 0, e));
}

/* ---- who adds what ---- */

size_t ulp_reduction_nodes(const ulp_reduction_job *job) { return (job->ranks + job->how->node - 1) / job->how->node; }

size_t ulp_reduction_in_node(const ulp_reduction_job *job, size_t q) {
    const size_t left = job->ranks - q * job->how->node;
    return left < job->how->node ? left : job->how->node;
}

ulp_elements ulp_reduction_chunk(size_t n, size_t N, size_t c) {
    const size_t size = (n + N - 1) / N, first = c * size < n ? c * size : n;
    return (ulp_elements){first, n - first < size ? n - first : size};
}

size_t ulp_reduction_doublers(size_t ranks) {
    size_t P = 1;
    while (2 * P <= ranks) P *= 2;
    return P;
}

size_t ulp_reduction_doubler(size_t ranks, size_t v) {
    const size_t extra = ranks - ulp_reduction_doublers(ranks);
    return v < extra ? 2 * v : v + extra;
}

/* ---- simulated ranks: each block of elements is summed over all ranks while it is in the cache ---- */

enum { BLOCK = 2048 };

/* One sum over simulated ranks, cut into blocks: `per_chunk` blocks in each of `chunks` chunks. */
typedef struct work {
    const ulp_reduction_job *job;
    float *x; /* (ranks,n) */
    size_t n, chunks, per_chunk;
    ulp_status *status; /* (chunks * per_chunk) */
} work;

static float *row(const work *w, size_t rank) { return w->x + rank * w->n; }

/* Add the rows 0, stride, 2 stride, ... of N members as the chain of chunk c. Row 0 gets the sum. */
static ulp_status add_ring(const work *w, ulp_elements e, size_t c, size_t N, size_t stride) {
    float *sum = row(w, (c + 1) % N * stride);
    for (size_t t = 1; t < N; t++)
        ULP_TRY(ulp_reduction_add(w->job, t + 1 < N ? sum : w->x, sum, row(w, (c + 1 + t) % N * stride), e, t));
    return ULP_OK;
}

static ulp_status add_tree(const work *w, ulp_elements e) {
    const size_t R = w->job->ranks;
    for (size_t d = 1; d < R; d *= 2)
        for (size_t r = 0; r + d < R; r += 2 * d)
            ULP_TRY(ulp_reduction_add(w->job, row(w, r), row(w, r), row(w, r + d), e, r + d));
    return ULP_OK;
}

static ulp_status add_doubling(const work *w, ulp_elements e) {
    const size_t R = w->job->ranks, P = ulp_reduction_doublers(R);
    ulp_status status = ULP_OK;
    for (size_t r = 0; r < 2 * (R - P) && status == ULP_OK; r += 2)
        status = ulp_reduction_add(w->job, row(w, r), row(w, r), row(w, r + 1), e, r + 1);
    for (size_t d = 1; d < P; d *= 2)
        for (size_t v = 0; v < P && status == ULP_OK; v += 2 * d) {
            const size_t left = ulp_reduction_doubler(R, v), right = ulp_reduction_doubler(R, v + d);
            status = ulp_reduction_add(w->job, row(w, left), row(w, left), row(w, right), e, right);
        }
    return status;
}

static ulp_status add_two_level(const work *w, ulp_elements e, size_t c) {
    const size_t nodes = ulp_reduction_nodes(w->job), node = w->job->how->node;
    for (size_t q = 0; q < nodes; q++) {
        const size_t members = ulp_reduction_in_node(w->job, q);
        for (size_t i = 1; i < members; i++)
            ULP_TRY(ulp_reduction_add_inside(w->job, row(w, q * node), row(w, q * node + i), e));
        ULP_TRY(ulp_reduction_leave_node(w->job, row(w, q * node), e, q));
    }
    return add_ring(w, e, c, nodes, node);
}

static ulp_status add_block(const work *w, ulp_elements e, size_t c) {
    switch ((ulp_reduction_order)w->job->how->order) {
    case ULP_REDUCE_RING: return add_ring(w, e, c, w->job->ranks, 1);
    case ULP_REDUCE_TREE: return add_tree(w, e);
    case ULP_REDUCE_DOUBLING: return add_doubling(w, e);
    case ULP_REDUCE_TWO_LEVEL: return add_two_level(w, e, c);
    case ULP_REDUCE_ORDERS: break;
    }
    return ULP_BAD_ARGUMENT;
}

static void blocks_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t i = begin; i < end; i++) {
        const size_t c = i / w->per_chunk, skip = i % w->per_chunk * BLOCK;
        ulp_elements e = ulp_reduction_chunk(w->n, w->chunks, c);
        if (skip >= e.n) continue;
        e = (ulp_elements){e.first + skip, e.n - skip < BLOCK ? e.n - skip : BLOCK};
        w->status[i] = add_block(w, e, c);
        if (w->status[i] == ULP_OK) w->status[i] = ulp_reduction_finish(w->job, w->x, e);
    }
}

/* The number of chunks whose chains differ. */
static size_t chunks_of(const ulp_reduction_job *job) {
    if (job->how->order == ULP_REDUCE_RING) return job->ranks;
    return job->how->order == ULP_REDUCE_TWO_LEVEL ? ulp_reduction_nodes(job) : 1;
}

ulp_status ulp_reduction_sum(const ulp_reduction_job *job, float *x, size_t n) {
    if (!job->ranks || job->ranks > ULP_RANKS_MAX) return ULP_BAD_ARGUMENT;
    const size_t chunks = chunks_of(job), size = ulp_reduction_chunk(n, chunks, 0).n;
    work w = {.job = job, .x = x, .n = n, .chunks = chunks, .per_chunk = (size + BLOCK - 1) / BLOCK};
    const size_t blocks = w.chunks * w.per_chunk;
    if (!blocks) return ULP_OK;
    w.status = calloc(blocks, sizeof *w.status);
    if (!w.status) return ULP_NO_MEMORY;
    ulp_parallel_for(blocks, 1, blocks_part, &w);
    ulp_status status = ULP_OK;
    for (size_t i = 0; i < blocks && status == ULP_OK; i++) status = w.status[i];
    free(w.status);
    return status;
}
