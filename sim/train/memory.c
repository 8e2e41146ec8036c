/* memory.c - the memory of a trainer, counted and measured; see memory.h. */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#include "footprint.h"
#include "micro.h"
#include "sim/policy/operand_parts.h"

const char *ulp_memory_kind_name(ulp_memory_kind kind) {
    static const char *const names[ULP_MEMORY_KINDS] = {"weights",
                                                        "master weights",
                                                        "optimizer state",
                                                        "statistics",
                                                        "activations",
                                                        "weight gradients",
                                                        "activation gradients",
                                                        "loss",
                                                        "scratch",
                                                        "ranks",
                                                        "host"};
    return (unsigned)kind < ULP_MEMORY_KINDS ? names[kind] : NULL;
}

size_t ulp_memory_arena(const ulp_memory *memory) {
    size_t sum = 0;
    for (int k = 0; k < ULP_MEMORY_RANKS; k++) sum += memory->bytes[k];
    return sum;
}

/* ---- counting ---- */

/* Bytes of an array in the arena. */
static size_t array(size_t n, size_t size) { return (n * size + 63) / 64 * 64; }
static size_t floats(size_t n) { return array(n, sizeof(float)); }

/* The settings that decide the sizes. */
typedef struct sizes {
    const ulp_net *net;
    const ulp_data *data;
    const ulp_policy *policy; /* NULL: "fp32" */
    ulp_layer_policy *rows;   /* policy.h */
    const ulp_policy *tail;   /* NULL: none */
    ulp_layer_policy *tail_rows;
    ulp_optimizer_rule optimizer;
    ulp_loss loss;                       /* without arrays */
    int per_layer;                       /* whether layers have loss scales of their own */
    size_t ranks, batch, room, elements; /* batch: of a pass; elements: of the largest tensor that is rounded */
} sizes;

/* Take the sizes from options that ulp_train_check() has accepted. */
static ulp_status take_sizes(sizes *s, const ulp_data *data, const ulp_train_options *o) {
    s->net = o->net;
    s->data = data;
    s->optimizer = o->optimizer ? *o->optimizer : ulp_optimizer_rule_of(&ulp_optimizer_sgd);
    s->per_layer = o->scaler && o->scaler->per_layer;
    s->ranks = o->ranks ? o->ranks : 1;
    s->batch = o->batch / s->ranks / (s->optimizer.accumulate ? s->optimizer.accumulate : 1);
    s->room = ulp_larger(s->batch, ulp_score_batch(o->net));
    s->elements = ulp_larger(s->room * o->net->widest, o->net->params);
    s->policy = o->policy;
    s->tail = o->tail;
    s->rows = s->tail_rows = NULL;
    if (o->policy) ULP_TRY(ulp_policy_resolve(&s->rows, o->policy, o->net, NULL));
    if (o->tail) ULP_TRY(ulp_policy_resolve(&s->tail_rows, o->tail, o->net, NULL));
    return ulp_loss_init(&s->loss, o->loss, o->net->out, data, NULL);
}

/* The number of parameters with master weights. */
static size_t masters_of(const sizes *s) {
    size_t sum = 0;
    if (!s->rows) return s->policy && s->policy->has_master ? s->net->params : 0;
    for (size_t i = 0; i < s->net->count; i++)
        if (s->rows[i + 1].has_master) sum += s->net->layers[i].params;
    return sum;
}

static void count_optimizer(size_t *bytes, const sizes *s) {
    const size_t n = s->net->params;
    bytes[ULP_MEMORY_WEIGHT] = floats(n);
    bytes[ULP_MEMORY_MASTER] = floats(masters_of(s));
    bytes[ULP_MEMORY_STATE] = (ulp_optimizer_arrays(&s->optimizer) + (s->optimizer.kahan != 0)) * floats(n);
}

static void count_model(size_t *bytes, const sizes *s) {
    const ulp_net *net = s->net;
    for (size_t i = 0; i <= net->count; i++) {
        const size_t n = ulp_dims_size(i < net->count ? net->layers[i].in : net->out);
        bytes[ULP_MEMORY_ACT] += floats(s->room * n);
        if (i) bytes[ULP_MEMORY_AGRAD] += floats(s->batch * n);
        if (i < net->count) bytes[ULP_MEMORY_ACT] += floats(s->room * net->layers[i].saved);
    }
    bytes[ULP_MEMORY_WGRAD] = floats(net->params) * (ulp_micro_has_sum(&s->optimizer) ? 2 : 1);
    bytes[ULP_MEMORY_NORM] = floats(net->states);
    bytes[ULP_MEMORY_SCRATCH] = floats(s->room * net->ones) + floats(s->room * net->work) +
                                array(s->elements, sizeof(double)) +
                                ulp_pass_scratch_bytes((s->policy ? ulp_policy_scratch(s->policy) : 0) |
                                                           (s->tail ? ulp_policy_scratch(s->tail) : 0),
                                                       ulp_larger(s->elements, s->room * net->work));
}

static void count_loss(size_t *bytes, const sizes *s) {
    const size_t out = ulp_dims_size(s->net->out), room = s->room, rows = room * s->loss.rows,
                 work = s->loss.kind->work ? s->batch * s->loss.kind->work(&s->loss) : 0;
    bytes[ULP_MEMORY_LOSS] = floats(room * out) + floats(rows) + array(rows, sizeof(double)) +
                             array(room * out, sizeof(double)) + array(room * s->loss.labels, 1) +
                             array(work, sizeof(double));
}

/* A process that computes all ranks has the gradients of each of them. */
static size_t count_ranks(const sizes *s, int is_one_rank) {
    if (s->ranks == 1) return 0;
    return ((is_one_rank ? 0 : s->ranks * s->net->params) + s->net->states + 1) * sizeof(float);
}

/* The policies of the layers, if they have policies of their own, and the parts of the optimizer. */
static size_t rows_of(const sizes *s, const ulp_layer_policy *rows) {
    return (rows ? (s->net->count + 1) * sizeof(ulp_layer_policy) : 0) +
           ulp_optimizer_parts(&s->optimizer, s->net->count, rows != NULL) * sizeof(ulp_update_part);
}

/* The host memory of the model and the pass, of the loss, of the samples, and of a scale per layer. */
static size_t count_host(const sizes *s) {
    const ulp_data *data = s->data;
    const size_t count = s->net->count, out = ulp_dims_size(s->net->out),
                 more = s->loss.kind->scratch ? s->loss.kind->scratch(&s->loss) : 0;
    const size_t first_steps = s->policy ? ulp_longest_history(s->policy, s->rows, count + 1) : 0,
                 tail_steps = s->tail ? ulp_longest_history(s->tail, s->tail_rows, count + 1) : 0,
                 steps = ulp_larger(first_steps, tail_steps),
                 tail = s->tail ? sizeof(ulp_policy) + rows_of(s, s->tail_rows) : 0;
    const size_t scratch = s->elements * (2 * sizeof(float) + sizeof(double)),
                 lists = (3 * count + 2) * sizeof(float *) + count * sizeof(ulp_layer) + 1,
                 history = ULP_AT_COUNT * (count + 1) * (steps + 1) * sizeof(float),
                 loss = (s->room * s->loss.rows + more) * sizeof(double) + s->room * out * sizeof(float),
                 samples = data->n_train * sizeof(uint32_t) + s->room * (data->labels + data->features * sizeof(float)),
                 scales = count * (sizeof(ulp_scaler) + sizeof(size_t) + sizeof(int) + sizeof(ulp_span));
    return sizeof(ulp_trainer) + sizeof(ulp_policy) + scratch + rows_of(s, s->rows) + tail + lists + history + loss +
           samples + (s->per_layer ? scales : 0);
}

ulp_status ulp_memory_count(ulp_memory *memory, const ulp_data *data, const ulp_train_options *options,
                            ulp_error *error) {
    sizes s;
    memset(memory, 0, sizeof *memory);
    ULP_TRY(ulp_train_check(data, options, error));
    ULP_TRY(take_sizes(&s, data, options)); /* of the check: the options have passed it */
    count_optimizer(memory->bytes, &s);
    count_model(memory->bytes, &s);
    count_loss(memory->bytes, &s);
    memory->bytes[ULP_MEMORY_RANKS] = count_ranks(&s, options->group != NULL);
    memory->bytes[ULP_MEMORY_HOST] = count_host(&s);
    free(s.rows);
    free(s.tail_rows);
    return ULP_OK;
}

/* ---- measuring ---- */

typedef struct place {
    const unsigned char *at; /* where an array begins; NULL: the trainer has no such array */
    ulp_memory_kind kind;
} place;

static int by_address(const void *a, const void *b) {
    const place *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Append an array of n elements; an array without elements begins where the next one begins, and is left out. */
static size_t put(place *to, size_t used, const void *at, size_t n, ulp_memory_kind kind) {
    to[used] = (place){at, kind};
    return used + (at != NULL && n > 0);
}

/* The arrays of a trainer; returns their number. */
static size_t list_arrays(place *to, const ulp_trainer *t) {
    const ulp_model *m = &t->model;
    const ulp_optimizer *o = &t->optimizer;
    const float *of_weights[] = {o->weight, o->master, o->momentum, o->squares, o->lost, m->wgrad, t->sum};
    static const ulp_memory_kind weight_kinds[] = {ULP_MEMORY_WEIGHT, ULP_MEMORY_MASTER, ULP_MEMORY_STATE,
                                                   ULP_MEMORY_STATE,  ULP_MEMORY_STATE,  ULP_MEMORY_WGRAD,
                                                   ULP_MEMORY_WGRAD};
    const void *of_loss[] = {t->loss.p, t->loss.row, t->loss.wide, t->loss.exact, t->loss.label};
    size_t n = 0;
    for (size_t i = 0; i < sizeof of_weights / sizeof *of_weights; i++)
        n = put(to, n, of_weights[i], i == 1 ? o->masters : m->net.params, weight_kinds[i]);
    for (size_t i = 0; i < sizeof of_loss / sizeof *of_loss; i++) n = put(to, n, of_loss[i], 1, ULP_MEMORY_LOSS);
    n = put(to, n, t->loss.work, t->loss.kind->work != NULL, ULP_MEMORY_LOSS);
    for (size_t i = 0; i <= m->net.count; i++) {
        n = put(to, n, m->tensor[i], 1, ULP_MEMORY_ACT);
        n = put(to, n, m->grad[i], 1, ULP_MEMORY_AGRAD);
        if (i < m->net.count) n = put(to, n, m->saved[i], m->net.layers[i].saved, ULP_MEMORY_ACT);
    }
    n = put(to, n, m->state, m->net.states, ULP_MEMORY_NORM);
    n = put(to, n, m->ones, 1, ULP_MEMORY_SCRATCH);
    n = put(to, n, m->own.work, m->net.work, ULP_MEMORY_SCRATCH);
    return put(to, n, t->pass.scratch.wide, 1, ULP_MEMORY_SCRATCH);
}

ulp_status ulp_memory_measure(ulp_memory *memory, const ulp_trainer *t) {
    place *places = malloc((3 * t->model.net.count + 32) * sizeof *places);
    memset(memory, 0, sizeof *memory);
    if (!places) return ULP_NO_MEMORY;
    const size_t n = list_arrays(places, t);
    qsort(places, n, sizeof *places, by_address);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *end = i + 1 < n ? places[i + 1].at : t->arena.memory + t->arena.bytes;
        memory->bytes[places[i].kind] += (size_t)(end - places[i].at);
    }
    free(places);
    return ULP_OK;
}
