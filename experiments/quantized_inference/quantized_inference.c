/* quantized_inference.c - how many bits, which scheme and which accumulator does a trained network need to answer?
 *
 * A network learns the digits in binary32. Its answers to the test part are then computed again: in integers, after
 * Jacob et al. 2018, doi:10.1109/CVPR.2018.00286, and in narrow floating point.
 *
 * Integers. A tensor x of weights or activations is held as integers q of b bits with x = S (q - Z). Each layer has one
 * S and one Z for its weights, from the range of the weights, and one S and one Z for its activations, from their range
 * over the training part. The schemes:
 *   - affine: S = (high - low) / (2^b - 1); q starts at 0; Z is the code of 0 (their section 2.1)
 *   - symmetric: S = largest magnitude / (2^(b-1) - 1); q starts at -(2^(b-1) - 1); Z = 0
 *
 * A layer forms a sum of the integer products (q - Z)(q' - Z') in one of the accumulators:
 *   - int32: computed in binary32, which is exact for sums below 2^24; the plan checks this bound
 *   - int16: wraps around; k ascends
 *   - int16-sat: saturates; k ascends
 *
 * The layer then adds the int32 bias and multiplies by S S' / S'', as a 31-bit integer and a shift, rounded to nearest
 * (their section 2.2). The result is clamped to the range of b bits. relu and pooling work on q - Z directly. The sums
 * of the last layer are the answer.
 *
 * Floating point. Weights and activations are rounded to the format. Sums are formed in binary32. The scheme `scaled`
 * multiplies each tensor by a power of two that brings it to the top of the range of the format.
 *
 * Columns of a row:
 *   - accuracy, agreement: right answers, and answers equal to those of binary32, in percent of the test part
 *   - changed: the percentage of sums that a narrow accumulator got wrong
 */
#include "quantized_inference.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/harness/training/training.h"

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, formats, "fp16,bf16,e4m3,e5m2,e3m2,e2m1", NULL, ulp_format_with_sign,
                          ULP_WANTS_WITH_SIGN),
    ULP_OPTION(settings, bits, integers, "2,3,4,5,6,7,8", .help = "bits of weights and activations", .min = 2,
               .max = 8),
    ULP_OPTION(settings, schemes, choices, "affine,symmetric", .help = "how codes stand for values",
               .words = INTEGER_SCHEMES),
    ULP_OPTION(settings, accumulators, choices, "int32,int16,int16-sat", .help = "where sums of products are formed",
               .words = INTEGER_ACCUMULATOR_WORDS),
    ULP_OPTION_AS(settings, nets, "net", text,
                  "fc64 relu fc64 relu fc10 / conv8@3p1 relu pool2 conv16@3p1 relu pool2 fc64 relu fc10",
                  .quick = "fc64 relu fc64 relu fc10",
                  .help = "the networks, ' / ' between them: of fc, conv, relu and pool"),
    ULP_OPTION(settings, epochs, integer, "10", .quick = "10", .full = "40", .help = "of training", .min = 1,
               .max = 1000),
    ULP_OPTION(settings, batch, integer, "32", .help = "samples per training step", .min = 1, .max = 10000),
    ULP_OPTION(settings, optimizer, optimizer, "sgd,rate=0.05,momentum=0.9", .help = "of the training"),
    ULP_OPTION_SET(settings, set),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_SEEDS(settings, seeds, "2", "2", "10"),
    ULP_OPTION_BACKEND_OF(settings, backend),
    ULP_OPTIONS_TRAINING(settings, how),
    ULP_OPTION_DATA(settings, data),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, net, seed),
    ULP_COLUMNS_OF(row, way, kind),
    ULP_WORDS_AS(row, way.scheme, "scheme", SCHEME_WORDS),
    ULP_COLUMNS_OF(row, way, bits),
    ULP_WORDS_AS(row, way.accumulator, "accumulator", ACCUMULATOR_WORDS),
    ULP_COLUMNS(row, accuracy, agreement, changed),
    {0},
};

/* ---- the grid ---- */

static ulp_status check_layer(const ulp_plan *plan, const ulp_layer *layer) {
    static const char *const known[] = {"fc", "conv", "relu", "pool"};
    /* the factors of a product are below 2^8 */
    const size_t k = layer->params ? (layer->params - layer->out.c) / layer->out.c : 0;
    int is_known = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) is_known |= strcmp(layer->kind->name, known[i]) == 0;
    if (!is_known)
        return ulp_plan_fail(plan, ULP_UNSUPPORTED,
                             "--net: '%s' is not computed in integers; known: fc, conv, relu, pool", layer->word);
    if (k > 256)
        return ulp_plan_fail(plan, ULP_UNSUPPORTED, "--net: '%s' sums %zu products, 256 of 8 bits are exact here",
                             layer->word, k);
    return ULP_OK;
}

/* Checks that a network can run in integers: its layers form sums of products, or only compare. */
static ulp_status check_net(const ulp_plan *plan, size_t classes, const ulp_net *net, const char *text) {
    for (size_t i = 0; i < net->count; i++) ULP_TRY(check_layer(plan, &net->layers[i]));
    if (net->count == 0 || ulp_dims_size(net->out) != classes || net->layers[net->count - 1].params == 0)
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT, "--net: '%s' does not end in a layer with one output per class",
                             text);
    return ULP_OK;
}

/* Adds the network that the first `length` characters of a text describe. */
static ulp_status add_net(const ulp_plan *plan, context *x, const char *text, size_t length) {
    ulp_error error;
    char own[256];
    if (x->nets == NETS_MAX || length >= sizeof own || memchr(text, ',', length))
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT,
                             "--net: up to %d networks of %zu characters, blanks between layers", NETS_MAX,
                             sizeof own - 1);
    memcpy(own, text, length);
    own[length] = 0;
    ulp_net *net = &x->net[x->nets++];
    const ulp_status status = ulp_net_parse(net, own, x->data.dims, &error);
    return status == ULP_OK ? check_net(plan, x->data.classes, net, own)
                            : ulp_plan_fail(plan, status, "--net: %s", ulp_after_subject(error.text, "net"));
}

/* Sets the policy of the training of the last network: binary32, or that of --amp. */
static ulp_status choose_policy(ulp_plan *plan, const settings *set, context *x) {
    char name[24];
    const size_t i = (size_t)x->nets - 1;
    snprintf(name, sizeof name, "net %zu", i + 1);
    x->scaler[i] = *ulp_scaler_rule_find("none");
    ULP_TRY(ulp_plan_read_policy(plan, &x->policy[i], "fp32", name));
    return ulp_plan_amp(plan, &x->policy[i], &x->scaler[i], &set->how.amp, &x->net[i], name);
}

static ulp_status plan(ulp_plan *plan) {
    static const char *const narrow[INTEGER_ACCUMULATORS] = {
        [INT32] = "fp32", [INT16] = "serial:q16.0:wrap:rne", [INT16_SAT] = "serial:q16.0:sat:rne"};
    const settings *set = plan->settings;
    context *x = plan->context;
    ulp_status status = ulp_set_load(plan, &x->data, &(ulp_set){set->set, set->data, set->seed});
    if (status == ULP_OK) status = ulp_plan_read_policy(plan, &x->binary32, "fp32,master=fp32", "the run in binary32");
    for (int a = 0; a < INTEGER_ACCUMULATORS && status == ULP_OK; a++)
        status = ulp_datapath_parse(&x->narrow[a], narrow[a]);
    for (const char *text = set->nets; status == ULP_OK;) {
        const char *end = strstr(text, " / ");
        status = add_net(plan, x, text, end ? (size_t)(end - text) : strlen(text));
        if (status == ULP_OK) status = choose_policy(plan, set, x);
        for (int64_t s = 0; s < set->seeds && status == ULP_OK; s++) {
            const point p = {x->nets - 1, set->seed + (uint64_t)s};
            ulp_plan_add(plan, &p, 1, "net %lld seed %llu", (long long)x->nets, (unsigned long long)p.seed);
        }
        if (!end) break;
        text = end + 3;
    }
    return status;
}

static void release(void *shared) {
    context *x = shared;
    for (int64_t i = 0; i < x->nets; i++) ulp_net_release(&x->net[i]);
    ulp_data_release(&x->data);
}

/* ---- rows ---- */

static void put_row(const ulp_task *task, const engine *e, way how) {
    const point *p = task->point;
    const double tests = (double)(e->data->n - e->data->n_train);
    const row r = {.net = p->net + 1,
                   .seed = (int64_t)p->seed,
                   .way = how,
                   .accuracy = 100 * (double)e->right / tests,
                   .agreement = 100 * (double)e->agreed / tests,
                   .changed = e->formed ? 100 * (double)e->changed / (double)e->formed : 0};
    ulp_row_put(task->rows, &r);
}

/* Runs the codes of activations x (count) and of weights w (count) in each accumulator of the settings. */
static ulp_status compute_accumulators(const ulp_task *task, engine *e, const code *x, const code *w, way how) {
    const settings *set = task->settings;
    const context *shared = task->context;
    for (int a = 0; a < INTEGER_ACCUMULATORS; a++) {
        if (!(set->accumulators >> a & 1)) continue;
        how.accumulator = a;
        engine_begin(e);
        ULP_TRY(engine_run_integers(e, x, w, a == INT32 ? NULL : &shared->narrow[a]));
        put_row(task, e, how);
    }
    return ULP_OK;
}

static ulp_status compute_integers(const ulp_task *task, engine *e, int bits) {
    const settings *set = task->settings;
    const size_t count = e->model.net.count;
    code *x = calloc(2 * (count + 1), sizeof *x), *w = x + count + 1;
    ulp_status status = x ? ULP_OK : ULP_NO_MEMORY;
    for (int s = AFFINE; s <= SYMMETRIC && status == ULP_OK; s++) {
        if (!(set->schemes >> s & 1)) continue;
        for (size_t i = 0; i < count; i++) x[i] = engine_code_of(e->low[i], e->high[i], bits, s);
        status = engine_put_weights(e, w, bits, s);
        if (status == ULP_OK)
            status = compute_accumulators(task, e, x, w, (way){.kind = INTEGER, .scheme = s, .bits = bits});
    }
    free(x);
    return status;
}

static ulp_status compute_floating(const ulp_task *task, engine *e, const ulp_format *format, int scheme) {
    const ulp_tensor_scale when = scheme == SCALED ? ULP_SCALED_NOW : ULP_UNSCALED;
    e->policy = ((const context *)task->context)->binary32;
    ulp_status status = ulp_policy_set(&e->policy, ULP_AT_WEIGHT, format, when, 0);
    if (status == ULP_OK) status = ulp_policy_set(&e->policy, ULP_AT_ACT, format, when, 0);
    if (status != ULP_OK)
        return ulp_task_fail(task, status, "--formats %s: not a format of weights and activations", format->name);
    engine_begin(e);
    e->pass.now.step = 1;
    status = engine_round_weights(e);
    if (status == ULP_OK) status = engine_run_floating(e, 0);
    if (status == ULP_OK) put_row(task, e, (way){format->name, scheme, format->bits, BINARY32});
    return status;
}

/* Trains a network. *trained gets the weights (params); the caller frees them. */
static ulp_status train(const ulp_task *task, float **trained) {
    const settings *set = task->settings;
    const context *x = task->context;
    const point *p = task->point;
    const size_t batch = (size_t)set->batch;
    const ulp_train_options o = {.net = &x->net[p->net],
                                 .policy = &x->policy[p->net],
                                 .scaler = &x->scaler[p->net],
                                 .optimizer = &set->optimizer.rule,
                                 .batch = batch,
                                 .seed = p->seed,
                                 .backend = set->backend};
    const uint64_t steps = (uint64_t)set->epochs * ulp_epoch_steps(&x->data, batch);
    ulp_trainer *t;
    ulp_status status = ulp_training_before(&t, task, &x->data, &o, steps, 0.9);
    if (status == ULP_OK) *trained = calloc(t->model.net.params, sizeof **trained);
    if (status == ULP_OK) status = *trained ? ulp_trainer_weights(t, *trained, NULL) : ULP_NO_MEMORY;
    ulp_training_close(task, t);
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    const context *x = task->context;
    float *trained = NULL;
    engine e = {0};
    ulp_status status = train(task, &trained);
    if (status == ULP_OK)
        status = engine_start(&e, set->backend, &x->data, &x->net[((const point *)task->point)->net], trained);
    if (status == ULP_OK) status = engine_round_weights(&e);
    if (status == ULP_OK) status = engine_run_floating(&e, 1);
    if (status == ULP_OK) status = engine_run_floating(&e, 0);
    if (status == ULP_OK) put_row(task, &e, (way){"binary32", PLAIN, 32, BINARY32});
    for (size_t i = 0; i < set->bits.count && status == ULP_OK; i++)
        status = compute_integers(task, &e, (int)set->bits.at[i]);
    for (size_t f = 0; f < set->formats.count && status == ULP_OK; f++)
        for (int scheme = PLAIN; scheme <= SCALED && status == ULP_OK; scheme++)
            status = compute_floating(task, &e, &set->formats.at[f], scheme);
    engine_end(&e);
    free(trained);
    return status;
}

const ulp_experiment experiment = {
    .name = "quantized_inference",
    .question = "how many bits does a trained network need to answer, and how wide an accumulator?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(context),
    .release = release,
};
