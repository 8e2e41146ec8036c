/* footprint.c - bytes and products of a training step from shapes and formats; see footprint.h. */
#include "footprint.h"

#include <stdlib.h>
#include <string.h>

const char *ulp_bytes_kind_name(ulp_bytes_kind kind) {
    static const char *const names[ULP_BYTES_KINDS] = {
        "weights",     "master weights",   "optimizer state",     "statistics",
        "activations", "weight gradients", "activation gradients"};
    return (unsigned)kind < ULP_BYTES_KINDS ? names[kind] : NULL;
}

const char *ulp_effort_kind_name(ulp_effort_kind kind) {
    static const char *const names[ULP_EFFORT_KINDS] = {"forward", "weight gradient", "input gradient", "update"};
    return (unsigned)kind < ULP_EFFORT_KINDS ? names[kind] : NULL;
}

size_t ulp_optimizer_arrays(const ulp_optimizer_rule *rule) {
    enum { N = 16 }; /* 64 bytes, the alignment of arrays */
    ulp_arena counting;
    ulp_optimizer o = {.rule = *rule, .n = N};
    ulp_arena_init(&counting, NULL);
    rule->kind->carve(&o, &counting);
    return counting.used / (N * sizeof(float));
}

/* ---- formats and tensors ---- */

/* A ulp_footprint_run with the policies of its layers. */
typedef struct counting {
    const ulp_net *net;
    const ulp_policy *policy;
    ulp_layer_policy *rows; /* policy.h */
    const ulp_optimizer_rule *optimizer;
    size_t batch;
} counting;

static uint64_t bytes_of(const ulp_format *f, uint64_t n) { return (n * f->bits + 7) / 8; }

static const ulp_layer *layer_at(const counting *r, size_t i) { return &r->net->layers[i]; }

static const ulp_cast *casts_of(const counting *r, size_t row) { return r->rows ? r->rows[row].at : r->policy->at; }

/* The format of layer i at a point that is about weights, their gradients, statistics or products. */
static const ulp_format *format_at(const counting *r, size_t i, ulp_point_kind point) {
    return &casts_of(r, i + 1)[point].format;
}

static int has_master(const counting *r, size_t i) {
    return r->rows ? r->rows[i + 1].has_master : r->policy->has_master;
}

/* The format of tensor t at ULP_AT_ACT or of its gradient at ULP_AT_AGRAD; tensor t is the output of layer t - 1. */
static const ulp_format *tensor_format(const counting *r, size_t t, ulp_point_kind point) {
    const int is_output = point == ULP_AT_ACT && t == r->net->count;
    return r->policy->has_out && is_output ? &r->policy->out.format : &casts_of(r, t)[point].format;
}

static uint64_t tensor_size(const counting *r, size_t t) {
    return r->batch * ulp_dims_size(t < r->net->count ? layer_at(r, t)->in : r->net->out);
}

static uint64_t tensor_bytes(const counting *r, size_t t, ulp_point_kind point) {
    return bytes_of(tensor_format(r, t, point), tensor_size(r, t));
}

static int reads_input(const ulp_layer *l) {
    return l->kind->reads == ULP_READS_INPUT || l->kind->reads == ULP_READS_BOTH;
}
static int reads_output(const ulp_layer *l) {
    return l->kind->reads == ULP_READS_OUTPUT || l->kind->reads == ULP_READS_BOTH;
}

/* The tensor whose memory tensor t has: the output of a fork and of a shortcut is the input of the fork. */
static size_t owner_of(const counting *r, size_t t) {
    while (t > 0 && (layer_at(r, t - 1)->kind->nesting > 0 || layer_at(r, t - 1)->kind->turns))
        t = layer_at(r, t - 1)->kind->turns ? layer_at(r, t - 1)->fork : t - 1;
    return t;
}

/* The gradient whose memory gradient t has: a join and a shortcut pass the gradient of the join's output on. */
static size_t gradient_owner_of(const counting *r, size_t t) {
    while (t < r->net->count && (layer_at(r, t)->kind->nesting < 0 || layer_at(r, t)->kind->turns))
        t = layer_at(r, t)->kind->turns ? layer_at(r, t)->partner + 1 : t + 1;
    return t;
}

/* ---- memory ---- */

static void count_weights(const counting *r, size_t i, uint64_t *bytes) {
    const ulp_layer *l = layer_at(r, i);
    const ulp_format *weight = format_at(r, i, ULP_AT_WEIGHT);
    bytes[ULP_BYTES_WEIGHT] = bytes_of(weight, l->params);
    bytes[ULP_BYTES_MASTER] = has_master(r, i) ? bytes_of(format_at(r, i, ULP_AT_MASTER), l->params) : 0;
    bytes[ULP_BYTES_STATE] = ulp_optimizer_arrays(r->optimizer) * bytes_of(format_at(r, i, ULP_AT_STATE), l->params) +
                             (r->optimizer->kahan ? bytes_of(weight, l->params) : 0);
    bytes[ULP_BYTES_NORM] = bytes_of(format_at(r, i, ULP_AT_NORM), l->states);
    bytes[ULP_BYTES_WGRAD] = bytes_of(format_at(r, i, ULP_AT_WGRAD), l->params);
}

/* The inner numbers of a layer that backward needs; a layer with running statistics keeps those of the batch. */
static uint64_t inner_bytes(const counting *r, size_t i) {
    const ulp_layer *l = layer_at(r, i);
    return bytes_of(tensor_format(r, i + 1, ULP_AT_ACT), r->batch * l->inner) + r->batch * l->places +
           bytes_of(format_at(r, i, ULP_AT_NORM), l->states);
}

/* kept [count + 1]: whether a backward function reads the tensor. */
static void find_kept(const counting *r, unsigned char *kept) {
    for (size_t i = 0; i < r->net->count; i++) {
        if (reads_input(layer_at(r, i))) kept[owner_of(r, i)] = 1;
        if (reads_output(layer_at(r, i))) kept[owner_of(r, i + 1)] = 1;
    }
}

static void count_activations(const counting *r, const unsigned char *kept, ulp_footprint *layer) {
    for (size_t i = 0; i < r->net->count; i++) {
        uint64_t *bytes = &layer[i].bytes[ULP_BYTES_ACT];
        *bytes = inner_bytes(r, i);
        if (i == 0 && kept[0]) *bytes += tensor_bytes(r, 0, ULP_AT_ACT);
        if (kept[i + 1]) *bytes += tensor_bytes(r, i + 1, ULP_AT_ACT);
    }
}

/* The largest sum of gradients that are alive while one layer runs backward. first [count + 1]: scratch. */
static uint64_t most_gradients(const counting *r, size_t *first) {
    const size_t count = r->net->count;
    uint64_t most = 0;
    for (size_t t = 0; t <= count; t++)
        first[t] = t; /* the last layer that reads gradient t; the layer that makes it */
    for (size_t t = 1; t <= count; t++) {
        size_t *of = &first[gradient_owner_of(r, t)];
        if (t - 1 < *of) *of = t - 1;
    }
    for (size_t i = 0; i < count; i++) { /* a fork reads the gradient that comes through the second branch */
        const ulp_layer *l = layer_at(r, i);
        size_t *of = l->kind->nesting > 0 ? &first[gradient_owner_of(r, l->partner + 1)] : NULL;
        if (of && i < *of) *of = i;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t alive = 0;
        for (size_t t = i > 0 ? i : 1; t <= count; t++)
            if (gradient_owner_of(r, t) == t && first[t] <= i) alive += tensor_bytes(r, t, ULP_AT_AGRAD);
        most = alive > most ? alive : most;
    }
    return most;
}

/* ---- products and bytes moved ---- */

static ulp_effort forward_of(const counting *r, size_t i, const ulp_footprint *f) {
    const ulp_layer *l = layer_at(r, i);
    const uint64_t in = tensor_bytes(r, i, ULP_AT_ACT), out = tensor_bytes(r, i + 1, ULP_AT_ACT);
    const ulp_format *weight = format_at(r, i, ULP_AT_WEIGHT);
    ulp_effort e = {.products = r->batch * l->multiply_adds,
                    .type = ulp_peak_type_of(tensor_format(r, i, ULP_AT_ACT), weight)};
    if (l->kind->nesting > 0 || l->kind->turns) return e;
    e.bytes = in * (l->kind->passes ? (uint64_t)l->kind->passes : 1) + out + inner_bytes(r, i) +
              f->bytes[ULP_BYTES_WEIGHT] + bytes_of(weight, l->reread);
    if (l->kind->nesting < 0) e.bytes += tensor_bytes(r, l->partner, ULP_AT_ACT);
    return e;
}

static ulp_effort wgrad_of(const counting *r, size_t i, const ulp_footprint *f) {
    const ulp_layer *l = layer_at(r, i);
    ulp_effort e = {.products = r->batch * l->multiply_adds,
                    .type = ulp_peak_type_of(tensor_format(r, i, ULP_AT_ACT), tensor_format(r, i + 1, ULP_AT_AGRAD))};
    if (l->params)
        e.bytes = tensor_bytes(r, i, ULP_AT_ACT) + tensor_bytes(r, i + 1, ULP_AT_AGRAD) + f->bytes[ULP_BYTES_WGRAD];
    return e;
}

static ulp_effort agrad_of(const counting *r, size_t i, const ulp_footprint *f) {
    const ulp_layer *l = layer_at(r, i);
    const ulp_format *weight = format_at(r, i, ULP_AT_WEIGHT);
    ulp_effort e = {.products = r->batch * (i ? l->multiply_adds : l->feedback),
                    .type = ulp_peak_type_of(tensor_format(r, i + 1, ULP_AT_AGRAD), weight)};
    if (l->kind->nesting < 0 || l->kind->turns || (i == 0 && !l->feedback)) return e;
    e.bytes = tensor_bytes(r, i + 1, ULP_AT_AGRAD) + (i ? tensor_bytes(r, i, ULP_AT_AGRAD) : 0) + inner_bytes(r, i) +
              f->bytes[ULP_BYTES_WEIGHT] + bytes_of(weight, l->reread);
    if (l->kind->nesting > 0) e.bytes += tensor_bytes(r, l->partner + 1, ULP_AT_AGRAD);
    if (reads_input(l) && !l->multiply_adds) e.bytes += tensor_bytes(r, i, ULP_AT_ACT);
    if (reads_output(l)) e.bytes += tensor_bytes(r, i + 1, ULP_AT_ACT);
    return e;
}

/* Master weights and state are read and written; weights are written, and read if there are no master weights. */
static ulp_effort update_of(const uint64_t *bytes) {
    const uint64_t changed = bytes[bytes[ULP_BYTES_MASTER] ? ULP_BYTES_MASTER : ULP_BYTES_WEIGHT];
    return (ulp_effort){.bytes = bytes[ULP_BYTES_WGRAD] + 2 * changed + 2 * bytes[ULP_BYTES_STATE] +
                                 (bytes[ULP_BYTES_MASTER] ? bytes[ULP_BYTES_WEIGHT] : 0)};
}

/* ---- casts ---- */

static int differ(const ulp_format *a, const ulp_format *b) { return !ulp_format_equal(a, b); }

static uint64_t cast_numbers(const counting *r, size_t i) {
    const ulp_layer *l = layer_at(r, i);
    const ulp_format *in = tensor_format(r, l->kind->turns ? l->fork : i, ULP_AT_ACT),
                     *out = tensor_format(r, i + 1, ULP_AT_ACT);
    uint64_t n = 0;
    if (has_master(r, i) && differ(format_at(r, i, ULP_AT_WEIGHT), format_at(r, i, ULP_AT_MASTER))) n += l->params;
    if (differ(format_at(r, i, ULP_AT_WGRAD), format_at(r, i, ULP_AT_STATE))) n += l->params;
    if (!l->kind->products && differ(in, out)) n += 2 * tensor_size(r, i + 1);
    if (l->kind->nesting < 0 && differ(tensor_format(r, l->partner, ULP_AT_ACT), out)) n += 2 * tensor_size(r, i + 1);
    if (i == 0 && differ(in, &ulp_binary32)) n += tensor_size(r, 0);
    if (i + 1 == r->net->count && differ(out, format_at(r, i, ULP_AT_LOSS))) n += 2 * tensor_size(r, i + 1);
    return n;
}

/* ---- a net ---- */

static void add(ulp_footprint *whole, const ulp_footprint *layer) {
    for (int k = 0; k < ULP_BYTES_KINDS; k++) whole->bytes[k] += layer->bytes[k];
    whole->casts += layer->casts;
    for (int k = 0; k < ULP_EFFORT_KINDS; k++) {
        whole->effort[k].products += layer->effort[k].products;
        whole->effort[k].bytes += layer->effort[k].bytes;
    }
}

static void count_layers(const counting *r, const unsigned char *kept, ulp_footprint *layer, ulp_footprint *whole) {
    count_activations(r, kept, layer);
    for (size_t i = 0; i < r->net->count; i++) {
        ulp_footprint *f = &layer[i];
        count_weights(r, i, f->bytes);
        if (i && gradient_owner_of(r, i) == i) f->bytes[ULP_BYTES_AGRAD] = tensor_bytes(r, i, ULP_AT_AGRAD);
        f->effort[ULP_EFFORT_FORWARD] = forward_of(r, i, f);
        f->effort[ULP_EFFORT_WGRAD] = wgrad_of(r, i, f);
        f->effort[ULP_EFFORT_AGRAD] = agrad_of(r, i, f);
        f->effort[ULP_EFFORT_UPDATE] = update_of(f->bytes);
        f->casts = cast_numbers(r, i);
        add(whole, f);
    }
}

ulp_status ulp_footprint_count(ulp_footprint *layer, ulp_footprint *whole, const ulp_footprint_run *run,
                               ulp_error *error) {
    const size_t count = run->net->count;
    counting r = {run->net, run->policy, NULL, run->optimizer, run->batch};
    memset(layer, 0, count * sizeof *layer);
    memset(whole, 0, sizeof *whole);
    ULP_TRY(ulp_policy_resolve(&r.rows, run->policy, run->net, error));
    ulp_status status = ULP_OK;
    size_t *first = calloc(count + 1, sizeof *first);
    unsigned char *kept = calloc(count + 1, 1);
    if (first && kept) {
        find_kept(&r, kept);
        count_layers(&r, kept, layer, whole);
        whole->bytes[ULP_BYTES_AGRAD] = most_gradients(&r, first);
    } else status = ulp_fail(error, ULP_NO_MEMORY, "no memory for the counts of %zu layers", count);
    free(first);
    free(kept);
    free(r.rows);
    return status;
}

double ulp_footprint_seconds(const ulp_footprint *layer, size_t count, const ulp_machine *machine, int tf32) {
    double seconds = 0.0;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < ULP_EFFORT_KINDS; k++) {
            const ulp_effort *e = &layer[i].effort[k];
            const int demanded = tf32 && e->type == ULP_PEAK_FP32;
            seconds +=
                ulp_machine_seconds(machine, demanded ? ULP_PEAK_TF32 : e->type, (double)e->products, (double)e->bytes);
        }
    return seconds;
}
