/* footprint.c - which bytes does training in few bits save, and which speed does a roofline predict?
 *
 * Everything is counted from the shapes of the layers and the formats of a policy (sim/train/footprint.h): nothing is
 * trained. The small networks of other experiments are counted for a batch of their own and for the digits; AlexNet,
 * VGG-16, ResNet-50 and a stack of bidirectional recurrent layers for --large-batch samples. The optimizer is SGD with
 * --momentum.
 *
 * Rows:
 *   - memory: bytes by kind, per layer and of the whole net, as a machine stores them
 *   - work: multiply-adds and bytes moved by the operations of a step, per layer and of the whole net
 *   - step: PREDICTED seconds of a step on a machine, by what bounds the operations
 *   - roof: the PREDICTED rate (10^12 operations per second) of each operation with products on the machine of
 * --roofline
 *   - trainer: bytes that our own trainer of a small network has for each purpose: counted from its options (bytes),
 * and read from the places of its arrays (allocated)
 *   - throughput: images per second that others measured and published (published), and the PREDICTED seconds of a step
 *     with the same batch (seconds)
 *
 * A predicted time is that of a roofline (sim/train/machine.h): each operation takes as long as its products at the
 * peak of the data sheet, or as its bytes at the full bandwidth of the memory, whichever is longer. Real programs reach
 * neither, and fuse operations, which moves fewer bytes. Some form fewer products than the definition of a convolution
 * has (Lavin and Gray 2016, arXiv:1509.09308). No published training throughputs of AlexNet and of stacks of gated
 * recurrent layers were found that name the machine, the batch and both precisions; these networks have predictions
 * alone.
 */
#include "footprint.h"

#include <stdlib.h>
#include <string.h>

static const ulp_option options[] = {
    ULP_OPTIONS_NETWORKS(settings, networks, "all", "cnn,gru", NULL),
    ULP_OPTION(settings, large, choices, "all", .quick = "alexnet,resnet50", .words = LARGE_WORDS,
               .help = "large networks by name, separated by commas, or all"),
    ULP_OPTION_AS(settings, large_batch, "large-batch", integer, "64", .min = 1, .max = 65536,
                  .help = "samples per step of large networks"),
    ULP_OPTION(settings, policies, choices, "all", .words = POLICY_WORDS,
               .help = "policies by name, separated by commas, or all"),
    ULP_OPTION(settings, policy, text, "", .topic = "policies", .help = "one more policy, which gets the name own"),
    ULP_OPTION(settings, machines, choices, "all", .words = &ulp_machine_words[1],
               .help = "machines for predicted times, separated by commas, or all"),
    ULP_OPTION(settings, roofline, choice, "v100", .words = &ulp_machine_words[1],
               .help = "the machine of the rows roof"),
    ULP_OPTION_DATA(settings, networks.data),
    {0},
};

static const ulp_column columns[] = {ULP_COLUMNS(row, net),
                                     ULP_WORDS(row, policy, ALL_POLICY_WORDS),
                                     ULP_WORDS(row, what, WHAT_WORDS),
                                     ULP_COLUMNS(row, machine, batch, layer, word, part, params, products),
                                     ULP_COLUMNS(row, bytes, allocated, intensity, type, seconds, rate, published),
                                     {0}};

typedef struct context {
    ulp_networks small;
    ulp_network large[LARGE_COUNT];
    size_t larges;
    ulp_policy policy[POLICY_COUNT];
} context;

/* ---- the plan ---- */

/* The key of a header line: "WHAT NAME". */
typedef struct key {
    char text[48];
} key;
static key key_of(const char *what, const char *name) {
    key k;
    snprintf(k.text, sizeof k.text, "%s %s", what, name);
    return k;
}

static ulp_status read_policies(ulp_plan *plan, const settings *s, context *x) {
    ulp_status status = ULP_OK;
    for (int i = 0; i < OWN && status == ULP_OK; i++) {
        status = ulp_plan_read_policy(plan, &x->policy[i], variants[i].policy, variants[i].name);
        if (s->policies >> i & 1)
            ulp_plan_note(plan, key_of("policy", variants[i].name).text, "%s", variants[i].policy);
    }
    if (status == ULP_OK && *s->policy) status = ulp_plan_read_policy(plan, &x->policy[OWN], s->policy, "--policy");
    return status;
}

static ulp_status read_large(ulp_plan *plan, const settings *s, context *x) {
    ulp_status status = ULP_OK;
    for (size_t i = 0; i < LARGE_COUNT && status == ULP_OK; i++) {
        if (!(s->large >> i & 1)) continue;
        ulp_network *to = &x->large[x->larges];
        *to = (ulp_network){.name = large[i].name, .batch = (size_t)s->large_batch};
        to->optimizer = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
        to->optimizer.momentum = s->networks.momentum;
        status = ulp_plan_read_net(plan, &to->net, large[i].text, large[i].in);
        x->larges += status == ULP_OK;
        ulp_plan_note(plan, key_of("network", large[i].name).text, "%s; input %zu x %zu x %zu", large[i].text,
                      large[i].in.c, large[i].in.h, large[i].in.w);
    }
    return status;
}

/* The points of the measurements of a network on the chosen machines under the chosen policies. */
static void add_measurements(ulp_plan *plan, const settings *s, const ulp_network *network) {
    for (size_t i = 0; i < MEASUREMENTS; i++) {
        const struct measurement *m = &measurements[i];
        const int machine = ulp_word_index(&ulp_machine_words[1], m->machine);
        if (strcmp(m->net, network->name) != 0 || !(s->machines >> machine & 1) || !is_chosen(s, m->from) ||
            !is_chosen(s, m->to))
            continue;
        for (int of = 0; of < 2; of++) {
            const point p = {network, of ? m->to : m->from, (size_t)m->batch[of], m, of};
            ulp_plan_add(plan, &p, 1, "%s %s %s %s", m->source, m->net, m->machine, variants[p.policy].name);
        }
    }
}

/* Check that the policy of --policy fits a network. */
static ulp_status admit(ulp_plan *plan, const ulp_policy *policy, const ulp_network *network) {
    ulp_error error;
    ulp_layer_policy *rows;
    const ulp_status status = ulp_policy_resolve(&rows, policy, &network->net, &error);
    if (status != ULP_OK)
        return ulp_plan_fail(plan, status, "--policy and network %s: %s", network->name,
                             ulp_after_subject(error.text, "policy"));
    free(rows);
    return ULP_OK;
}

static ulp_status add_network(ulp_plan *plan, const settings *s, const context *x, const ulp_network *network) {
    ulp_status status = *s->policy ? admit(plan, &x->policy[OWN], network) : ULP_OK;
    for (int i = 0; i < POLICY_COUNT; i++)
        if (is_chosen(s, i))
            ulp_plan_add(plan, &(point){network, i, network->batch, NULL, 0}, 1, "%s %s", network->name,
                         i == OWN ? "own" : variants[i].name);
    return status;
}

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    context *x = plan->context;
    const ulp_machine *machine;
    ulp_status status = read_policies(plan, s, x);
    if (status == ULP_OK) status = ulp_networks_load(plan, &x->small, &s->networks, 1, 0);
    if (status == ULP_OK) status = read_large(plan, s, x);
    if (status != ULP_OK) return status;
    for (size_t i = 0; (machine = ulp_machine_get(i)) != NULL; i++)
        if (s->machines >> i & 1 || (int)i == s->roofline)
            ulp_plan_note(plan, key_of("machine", machine->name).text, "%s; %s", machine->what, machine->source);
    for (size_t i = 0; i < x->small.count && status == ULP_OK; i++) status = add_network(plan, s, x, &x->small.at[i]);
    for (size_t i = 0; i < x->larges && status == ULP_OK; i++) {
        status = add_network(plan, s, x, &x->large[i]);
        add_measurements(plan, s, &x->large[i]);
    }
    return status;
}

static void release(void *shared) {
    context *x = shared;
    for (size_t i = 0; i < x->larges; i++) ulp_net_release(&x->large[i].net);
    ulp_networks_release(&x->small);
}

/* ---- rows ---- */

/* The counts of a point. */
typedef struct counts {
    const ulp_task *task;
    const point *p;
    const ulp_net *net;
    ulp_footprint *layer, whole; /* [net->count] */
} counts;

static row row_of(const counts *c, int what) {
    row r;
    ulp_row_clear(c->task->rows, &r);
    r.net = c->p->network->name;
    r.policy = c->p->policy;
    r.what = what;
    r.batch = (int64_t)c->p->batch;
    return r;
}

static void put_memory(const counts *c, row r, const ulp_footprint *f) {
    for (int k = 0; k < ULP_BYTES_KINDS; k++) {
        r.part = ulp_bytes_kind_name((ulp_bytes_kind)k);
        r.bytes = (int64_t)f->bytes[k];
        if (r.bytes) ulp_row_put(c->task->rows, &r);
    }
}

static void put_work(const counts *c, row r, const ulp_footprint *f) {
    for (int k = 0; k < ULP_EFFORT_KINDS; k++) {
        const ulp_effort *e = &f->effort[k];
        r.part = ulp_effort_kind_name((ulp_effort_kind)k);
        r.products = (int64_t)e->products;
        r.bytes = (int64_t)e->bytes;
        r.intensity = e->bytes ? 2 * (double)e->products / (double)e->bytes : 0;
        r.type = r.word && e->products ? ulp_peak_type_name(e->type) : NULL;
        if (e->bytes) ulp_row_put(c->task->rows, &r);
    }
}

/* The type in which the operands of an operation are multiplied. */
static ulp_peak_type type_of(const counts *c, const ulp_effort *e) {
    const int tf32 = c->p->policy != OWN && variants[c->p->policy].tf32;
    return tf32 && e->type == ULP_PEAK_FP32 ? ULP_PEAK_TF32 : e->type;
}

static double seconds_of(const counts *c, const ulp_effort *e, const ulp_machine *m) {
    return ulp_machine_seconds(m, type_of(c, e), (double)e->products, (double)e->bytes);
}

static int bound_of(const counts *c, int kind, const ulp_effort *e, const ulp_machine *m) {
    if (kind == ULP_EFFORT_UPDATE) return UPDATES;
    if (!e->products) return WITHOUT_PRODUCTS;
    return 2 * (double)e->products / (double)e->bytes >= ulp_machine_balance(m, type_of(c, e)) ? BY_PRODUCTS : BY_BYTES;
}

static void put_step(const counts *c, const ulp_machine *m) {
    double seconds[BOUNDS] = {0};
    row r = row_of(c, STEP);
    r.machine = m->name;
    for (size_t i = 0; i < c->net->count; i++)
        for (int k = 0; k < ULP_EFFORT_KINDS; k++) {
            const ulp_effort *e = &c->layer[i].effort[k];
            if (e->bytes) seconds[bound_of(c, k, e, m)] += seconds_of(c, e, m);
        }
    for (int b = 0; b < BOUNDS; b++) {
        const ulp_word bound = ulp_word_of(BOUND_WORDS, (size_t)b);
        r.part = bound.text;
        r.seconds = seconds[b];
        ulp_row_put(c->task->rows, &r);
    }
}

static void put_roof(const counts *c, const ulp_machine *m) {
    for (size_t i = 0; i < c->net->count; i++)
        for (int k = 0; k < ULP_EFFORT_KINDS; k++) {
            const ulp_effort *e = &c->layer[i].effort[k];
            row r = row_of(c, ROOF);
            if (!e->products) continue;
            r.machine = m->name;
            r.layer = (int64_t)i;
            r.word = c->net->layers[i].word;
            r.part = ulp_effort_kind_name((ulp_effort_kind)k);
            r.type = ulp_peak_type_name(ulp_machine_type(m, type_of(c, e)));
            r.intensity = 2 * (double)e->products / (double)e->bytes;
            r.seconds = seconds_of(c, e, m);
            r.rate = 2e-12 * (double)e->products / r.seconds;
            ulp_row_put(c->task->rows, &r);
        }
}

/* The memory of a trainer of a small network. */
static ulp_status put_trainer(const counts *c) {
    const context *x = c->task->context;
    ulp_error error;
    ulp_memory counted, allocated;
    ulp_trainer *t;
    ulp_train_options o = ulp_network_options(c->p->network, 1, NULL);
    o.policy = &x->policy[c->p->policy];
    ulp_status status = ulp_memory_count(&counted, &x->small.data, &o, &error);
    if (status == ULP_OK) status = ulp_trainer_new(&t, &x->small.data, &o, &error);
    if (status != ULP_OK) return ulp_task_fail(c->task, status, "%s: %s", c->p->network->name, error.text);
    status = ulp_memory_measure(&allocated, t);
    for (int k = 0; k < ULP_MEMORY_RANKS && status == ULP_OK; k++) {
        row r = row_of(c, TRAINER);
        r.part = ulp_memory_kind_name((ulp_memory_kind)k);
        r.bytes = (int64_t)counted.bytes[k];
        r.allocated = (int64_t)allocated.bytes[k];
        if (r.bytes || r.allocated) ulp_row_put(c->task->rows, &r);
    }
    ulp_trainer_free(t);
    return status;
}

static void put_throughput(const counts *c) {
    const struct measurement *m = c->p->measured;
    const ulp_machine *machine;
    row r = row_of(c, THROUGHPUT);
    if (ulp_machine_find(&machine, m->machine, NULL) != ULP_OK) return;
    r.machine = m->machine;
    r.part = m->source;
    r.seconds = ulp_footprint_seconds(c->layer, c->net->count, machine, variants[c->p->policy].tf32);
    r.published = m->throughput[c->p->of];
    ulp_row_put(c->task->rows, &r);
}

static ulp_status put_rows(const counts *c) {
    const settings *s = c->task->settings;
    const context *x = c->task->context;
    const ulp_machine *machine;
    if (c->p->measured) return put_throughput(c), ULP_OK;
    for (size_t i = 0; i <= c->net->count; i++) {
        const ulp_footprint *f = i < c->net->count ? &c->layer[i] : &c->whole;
        row r = row_of(c, MEMORY);
        if (i < c->net->count) {
            r.layer = (int64_t)i;
            r.word = c->net->layers[i].word;
        }
        r.params = (int64_t)(i < c->net->count ? c->net->layers[i].params : c->net->params);
        put_memory(c, r, f);
        r.what = WORK;
        put_work(c, r, f);
    }
    for (size_t i = 0; (machine = ulp_machine_get(i)) != NULL; i++) {
        if (s->machines >> i & 1) put_step(c, machine);
        if ((int)i == s->roofline) put_roof(c, machine);
    }
    const int is_small = c->p->network >= x->small.at && c->p->network < x->small.at + x->small.count;
    return is_small && c->p->policy != TF32 ? put_trainer(c) : ULP_OK; /* tf32 is a way to multiply binary32 */
}

static ulp_status compute(const ulp_task *task) {
    const context *x = task->context;
    const point *p = task->point;
    ulp_error error;
    counts c = {.task = task, .p = p, .net = &p->network->net};
    const ulp_footprint_run run = {c.net, &x->policy[p->policy], &p->network->optimizer, p->batch};
    c.layer = malloc(c.net->count * sizeof *c.layer);
    if (!c.layer) return ULP_NO_MEMORY;
    ulp_status status = ulp_footprint_count(c.layer, &c.whole, &run, &error);
    status = status == ULP_OK ? put_rows(&c) : ulp_task_fail(task, status, "%s: %s", p->network->name, error.text);
    free(c.layer);
    return status;
}

const ulp_experiment experiment = {
    .name = "footprint",
    .question = "which bytes does training in few bits save, and which speed does a roofline predict?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(context),
    .release = release,
};
