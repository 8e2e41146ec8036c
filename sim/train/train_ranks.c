/* train_ranks.c - a training step over ranks, in one process or by messages; see train_ranks.h. */
#include "train_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/rounding/count.h"

/* ---- options ---- */

/* Refuse ranks that do not divide the batch, and name the nearest numbers that do. */
static ulp_status refuse_ranks(size_t ranks, size_t batch, ulp_error *error) {
    size_t below = ranks < batch ? ranks : batch, above = ranks;
    while (batch % below || below > ULP_RANKS_MAX) below--;
    while (above < batch && batch % above) above++;
    if (above >= batch || above > ULP_RANKS_MAX || ranks > batch)
        return ulp_fail(error, ULP_BAD_ARGUMENT,
                        "%zu ranks for a batch of %zu samples: ranks have to divide the batch and be at most %d; the "
                        "nearest number is %zu",
                        ranks, batch, ULP_RANKS_MAX, below);
    return ulp_fail(error, ULP_BAD_ARGUMENT,
                    "%zu ranks for a batch of %zu samples: ranks have to divide the batch; the nearest numbers are %zu "
                    "and %zu",
                    ranks, batch, below, above);
}

ulp_status ulp_train_ranks_take(ulp_trainer *t, const ulp_train_options *o, ulp_error *error) {
    t->batch = o->batch;
    t->ranks = o->ranks ? o->ranks : 1;
    t->group = o->group;
    if (t->ranks > ULP_RANKS_MAX || t->batch % t->ranks) return refuse_ranks(t->ranks, t->batch, error);
    if (t->group && t->group->count != t->ranks)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "%zu ranks in a group of %zu processes", t->ranks, t->group->count);
    if (t->ranks > 1 && t->scaler.rule.per_layer)
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "scaler %s: it looks at gradients of activations, which every rank has for itself; %zu ranks "
                        "need a scaler of the whole loss, as pytorch",
                        t->scaler.rule.name, t->ranks);
    if (o->reduction) t->reduction = *o->reduction;
    return o->reduction ? ULP_OK : ulp_reduction_init(&t->reduction, &ulp_binary32, (ulp_rule){0}, error);
}

/* ---- memory ---- */

ulp_status ulp_train_ranks_alloc(ulp_trainer *t) {
    if (t->ranks == 1) return ULP_OK;
    t->rank_state = calloc(t->model.net.states + 1, sizeof *t->rank_state);
    if (!t->group) t->shares = t->pass.run.backend->alloc(t->ranks * t->model.net.params * sizeof *t->shares);
    return t->rank_state && (t->group || t->shares) ? ULP_OK : ULP_NO_MEMORY;
}

void ulp_train_ranks_release(ulp_trainer *t) {
    if (t->shares) t->pass.run.backend->release(t->shares);
    free(t->rank_state);
}

/* ---- a step ---- */

static ulp_reduction_job job_of(const ulp_trainer *t) {
    const uint64_t step = t->pass.now.step & 0xfffffffu;
    return (ulp_reduction_job){.how = &t->reduction,
                               .backend = t->pass.run.backend,
                               .stream = {t->pass.run.seed, ulp_stream_id(ULP_USE_REDUCE, 0, 0, step), 0},
                               .ranks = t->ranks};
}

static size_t state_bytes(const ulp_trainer *t) { return t->model.net.states * sizeof(float); }

/* All ranks in this process, one after another. */
static ulp_status step_alone(ulp_trainer *t, ulp_status (*pass)(ulp_trainer *t, double *loss), double *mean) {
    const ulp_backend *backend = t->pass.run.backend;
    const size_t n = t->model.net.params;
    const ulp_reduction_job job = job_of(t);
    double sum = 0;
    for (size_t r = 0; r < t->ranks; r++) {
        double loss = 0;
        t->pass.now.rank = r;
        ULP_TRY(pass(t, &loss));
        ULP_TRY(ulp_reduction_enter(&job, t->shares + r * n, t->model.wgrad, n, r));
        if (r == 0) ULP_TRY(backend->download(t->rank_state, t->model.state, state_bytes(t)));
        sum += loss;
    }
    *mean = sum / (double)t->ranks;
    ULP_TRY(backend->upload(t->model.state, t->rank_state, state_bytes(t)));
    ULP_TRY(ulp_reduction_sum(&job, t->shares, n));
    return ulp_tensor_copy(backend, t->model.wgrad, t->shares, n);
}

/* The results of one rank that all ranks need, besides its gradients: a report, then the state, then the history. */
typedef struct report {
    double loss;
    ulp_pass_counts counts;
} report;

static size_t history_bytes(const ulp_trainer *t) {
    const ulp_amax_history *h = &t->pass.history;
    return ULP_AT_COUNT * h->tensors * sizeof(float);
}

/* The history's entry of tensor i in the column of this step. */
static float *largest_of(const ulp_trainer *t, size_t i) {
    const ulp_amax_history *h = &t->pass.history;
    return h->amax + i * (h->steps + 1) + t->pass.now.step % (h->steps + 1);
}

/* Write the results of this rank to `to`. */
static ulp_status write_report(const ulp_trainer *t, unsigned char *to, double loss) {
    const report own = {loss, t->pass.counts};
    memcpy(to, &own, sizeof own);
    to += sizeof own + state_bytes(t);
    for (size_t i = 0; i < ULP_AT_COUNT * t->pass.history.tensors; i++)
        memcpy(to + i * sizeof(float), largest_of(t, i), sizeof(float));
    return t->pass.run.backend->download(to - state_bytes(t), t->model.state, state_bytes(t));
}

static void add_counts(ulp_pass_counts *to, const ulp_pass_counts *more) {
    for (int i = 0; i < ULP_AT_COUNT; i++) {
        ulp_stats_add(&to->rounded[i], &more->rounded[i]);
        to->all[i].count += more->all[i].count;
        to->all[i].zero += more->all[i].zero;
    }
}

/* Take over the results of rank r: the state of rank 0, sums of counts and losses, and the largest magnitudes. */
static ulp_status read_report(ulp_trainer *t, const unsigned char *from, size_t r, double *sum) {
    report other;
    memcpy(&other, from, sizeof other);
    *sum += other.loss;
    add_counts(&t->pass.counts, &other.counts);
    from += sizeof other;
    ulp_status status = r == 0 ? t->pass.run.backend->upload(t->model.state, from, state_bytes(t)) : ULP_OK;
    from += state_bytes(t);
    for (size_t i = 0; i < ULP_AT_COUNT * t->pass.history.tensors; i++) {
        float most;
        memcpy(&most, from + i * sizeof most, sizeof most);
        if (most > *largest_of(t, i)) *largest_of(t, i) = most;
    }
    return status;
}

static ulp_status share_reports(ulp_trainer *t, double loss, double *mean) {
    const size_t bytes = sizeof(report) + state_bytes(t) + history_bytes(t);
    unsigned char *all = calloc(t->ranks, bytes);
    double sum = 0;
    ulp_status status = all ? write_report(t, all + t->group->rank * bytes, loss) : ULP_NO_MEMORY;
    if (status == ULP_OK) status = ulp_ranks_gather(t->group, all, bytes);
    memset(&t->pass.counts, 0, sizeof t->pass.counts);
    for (size_t r = 0; r < t->ranks && status == ULP_OK; r++) status = read_report(t, all + r * bytes, r, &sum);
    *mean = sum / (double)t->ranks;
    free(all);
    return status;
}

/* This process is one rank. */
static ulp_status step_together(ulp_trainer *t, ulp_status (*pass)(ulp_trainer *t, double *loss), double *mean) {
    const size_t n = t->model.net.params;
    const ulp_reduction_job job = job_of(t);
    double loss = 0;
    t->pass.now.rank = t->group->rank;
    ULP_TRY(pass(t, &loss));
    ULP_TRY(ulp_reduction_enter(&job, t->model.wgrad, t->model.wgrad, n, t->group->rank));
    ULP_TRY(ulp_reduction_sum_over(&job, t->group, t->model.wgrad, n));
    return share_reports(t, loss, mean);
}

ulp_status ulp_train_ranks_step(ulp_trainer *t, ulp_status (*pass)(ulp_trainer *t, double *loss), double *mean) {
    const ulp_status status = t->group ? step_together(t, pass, mean) : step_alone(t, pass, mean);
    t->pass.now.rank = 0;
    return status;
}
