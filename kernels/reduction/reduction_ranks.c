/* reduction_ranks.c - the sum of a reduction by messages between ranks; see reduction.h.
 *
 * Every rank adds what it would add if the ranks were machines: the ring sends chunks to the next rank, the tree sends
 * arrays up and the mean down, doubling exchanges arrays, and a node sends its arrays to its first rank.
 */
#include "reduction_steps.h"

#include <stdlib.h>

/* The sum as one rank sees it. */
typedef struct work {
    const ulp_reduction_job *job;
    const ulp_ranks *ranks;
    float *x, *other; /* (n) backend memory: the partial sum of this rank, and a partial sum that arrived */
    float *out, *in;  /* (n) host memory */
    size_t n;
} work;

static const ulp_elements NOTHING = {0, 0};

static size_t bytes_of(ulp_elements e) { return e.n * sizeof(float); }

/* Send elements of x to a rank, and receive elements from a rank into `into`, which is x or `other`. */
static ulp_status exchange(const work *w, size_t to, ulp_elements sent, size_t from, ulp_elements got, float *into) {
    const ulp_backend *b = w->job->backend;
    if (sent.n) ULP_TRY(b->download(w->out, w->x + sent.first, bytes_of(sent)));
    ULP_TRY(w->ranks->exchange(w->ranks->context, (ulp_message){to, w->out, bytes_of(sent)},
                               (ulp_message){from, w->in, bytes_of(got)}));
    return got.n ? b->upload(into + got.first, w->in, bytes_of(got)) : ULP_OK;
}

static ulp_elements all_of(const work *w) { return (ulp_elements){0, w->n}; }

static ulp_status send(const work *w, size_t to) { return exchange(w, to, all_of(w), 0, NOTHING, w->x); }
static ulp_status receive(const work *w, size_t from) { return exchange(w, 0, NOTHING, from, all_of(w), w->x); }

/* Receive an array and add it as the right operand of sum `number`. */
static ulp_status receive_and_add(const work *w, size_t from, uint64_t number) {
    ULP_TRY(exchange(w, 0, NOTHING, from, all_of(w), w->other));
    return ulp_reduction_add(w->job, w->x, w->x, w->other, all_of(w), number);
}

/* Member q of a ring of N members, which are the ranks 0, stride, 2 stride, ... First the chunks are summed, then every
 * finished chunk goes round. */
static ulp_status add_ring(const work *w, size_t q, size_t N, size_t stride) {
    const size_t next = (q + 1) % N * stride, previous = (q + N - 1) % N * stride;
    for (size_t t = 1; t < N; t++) {
        const ulp_elements out = ulp_reduction_chunk(w->n, N, (q + N - t) % N),
                           in = ulp_reduction_chunk(w->n, N, (q + 2 * N - t - 1) % N);
        ULP_TRY(exchange(w, next, out, previous, in, w->other));
        ULP_TRY(ulp_reduction_add(w->job, w->x, w->other, w->x, in, t));
    }
    ULP_TRY(ulp_reduction_finish(w->job, w->x, ulp_reduction_chunk(w->n, N, q)));
    for (size_t t = 1; t < N; t++) {
        const ulp_elements out = ulp_reduction_chunk(w->n, N, (q + N + 1 - t) % N),
                           in = ulp_reduction_chunk(w->n, N, (q + N - t) % N);
        ULP_TRY(exchange(w, next, out, previous, in, w->x));
    }
    return ULP_OK;
}

/* The mean goes down the tree, from rank 0, in the opposite order of the steps. */
static ulp_status send_down(const work *w) {
    const size_t r = w->ranks->rank, R = w->ranks->count;
    for (size_t d = ulp_reduction_doublers(R); d > 0; d /= 2) {
        if (r % (2 * d) == 0 && r + d < R) ULP_TRY(send(w, r + d));
        else if (r % (2 * d) == d) ULP_TRY(receive(w, r - d));
    }
    return ULP_OK;
}

static ulp_status add_tree(const work *w) {
    const size_t r = w->ranks->rank, R = w->ranks->count;
    for (size_t d = 1; d < R; d *= 2) {
        if (r % (2 * d) == d) ULP_TRY(send(w, r - d));
        else if (r % (2 * d) == 0 && r + d < R) ULP_TRY(receive_and_add(w, r + d, r + d));
    }
    if (r == 0) ULP_TRY(ulp_reduction_finish(w->job, w->x, all_of(w)));
    return send_down(w);
}

/* The steps of number v of the P ranks that remain. */
static ulp_status add_pairs(const work *w, size_t v) {
    const size_t R = w->ranks->count, P = ulp_reduction_doublers(R);
    for (size_t d = 1; d < P; d *= 2) {
        const size_t partner = ulp_reduction_doubler(R, v ^ d), left = v & ~(2 * d - 1);
        const int is_left = !(v & d);
        ULP_TRY(exchange(w, partner, all_of(w), partner, all_of(w), w->other));
        ULP_TRY(ulp_reduction_add(w->job, w->x, is_left ? w->x : w->other, is_left ? w->other : w->x, all_of(w),
                                  ulp_reduction_doubler(R, left + d)));
    }
    return ulp_reduction_finish(w->job, w->x, all_of(w));
}

static ulp_status add_doubling(const work *w) {
    const size_t r = w->ranks->rank, R = w->ranks->count, extra = R - ulp_reduction_doublers(R);
    const int is_paired = r < 2 * extra;
    ulp_status status = ULP_OK;
    if (is_paired && r % 2) {
        status = send(w, r - 1);
        return status == ULP_OK ? receive(w, r - 1) : status;
    }
    if (is_paired) status = receive_and_add(w, r + 1, r + 1);
    if (status == ULP_OK) status = add_pairs(w, is_paired ? r / 2 : r - extra);
    return status == ULP_OK && is_paired ? send(w, r + 1) : status;
}

static ulp_status add_two_level(const work *w) {
    const size_t node = w->job->how->node, q = w->ranks->rank / node, first = q * node,
                 members = ulp_reduction_in_node(w->job, q);
    if (w->ranks->rank != first) {
        ULP_TRY(send(w, first));
        return receive(w, first);
    }
    for (size_t i = 1; i < members; i++) {
        ULP_TRY(exchange(w, 0, NOTHING, first + i, all_of(w), w->other));
        ULP_TRY(ulp_reduction_add_inside(w->job, w->x, w->other, all_of(w)));
    }
    ULP_TRY(ulp_reduction_leave_node(w->job, w->x, all_of(w), q));
    ULP_TRY(add_ring(w, q, ulp_reduction_nodes(w->job), node));
    for (size_t i = 1; i < members; i++) ULP_TRY(send(w, first + i));
    return ULP_OK;
}

static ulp_status add_all(const work *w) {
    switch ((ulp_reduction_order)w->job->how->order) {
    case ULP_REDUCE_RING: return add_ring(w, w->ranks->rank, w->ranks->count, 1);
    case ULP_REDUCE_TREE: return add_tree(w);
    case ULP_REDUCE_DOUBLING: return add_doubling(w);
    case ULP_REDUCE_TWO_LEVEL: return add_two_level(w);
    case ULP_REDUCE_ORDERS: break;
    }
    return ULP_BAD_ARGUMENT;
}

ulp_status ulp_reduction_sum_over(const ulp_reduction_job *job, const ulp_ranks *ranks, float *x, size_t n) {
    if (!n) return ULP_OK;
    if (!job->ranks || job->ranks > ULP_RANKS_MAX || job->ranks != ranks->count) return ULP_BAD_ARGUMENT;
    work w = {.job = job, .ranks = ranks, .x = x, .n = n};
    w.other = job->backend->alloc(n * sizeof *w.other);
    w.out = malloc(n * sizeof *w.out);
    w.in = malloc(n * sizeof *w.in);
    const ulp_status status = w.other && w.out && w.in ? add_all(&w) : ULP_NO_MEMORY;
    if (w.other) job->backend->release(w.other);
    free(w.out);
    free(w.in);
    return status;
}
