/* quantized_inference.c - a trained network put into few bits: how many are enough, in which scheme and accumulator?
 *
 * A network learns the digits in binary32; then its test answers are computed again in integers after Jacob et al.
 * 2018, doi:10.1109/CVPR.2018.00286, and in narrow floating point. A tensor x of weights or activations is held as q of
 * b bits with x = S (q - Z), one S and Z per layer, from its range over the training part (activations) or itself
 * (weights): affine     S = (high - low) / (2^b - 1), q from 0 on, Z the code of 0                       (their
 * section 2.1) symmetric  S = largest magnitude / (2^(b-1) - 1), q from -(2^(b-1) - 1) on, Z = 0 A layer's sum of
 * products (q - Z)(q' - Z') of integers is formed in int32 (in binary32, where these sums are exact below 2^24: prepare
 * checks it), in int16 that wraps around, or in int16 that saturates (ascending k); then comes the int32 bias and a
 * multiplication by S S' / S'' as a 31-bit integer and a shift, to nearest (their section 2.2), cut to b bits. relu and
 * pooling work on q - Z as they are; the last layer's sums are the answer. Floating point: weights and activations
 * rounded to the format, sums in binary32; `scaled` moves each tensor by a power of two to the format's top. Rows:
 * accuracy and agreement with binary32's answers in percent of the test part; changed: the percentage of sums that a
 * narrow accumulator got wrong.
 */
#include "experiments/harness/training/load.h"
#include "experiments/harness/training/training.h"
#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ulp_option options[] = {
    ULP_TAKES_FORMATS("fp16,bf16,e4m3,e5m2,e3m2,e2m1", NULL),
    {"bits", ULP_OPTION_INTEGERS, "2,3,4,5,6,7,8", NULL, NULL, "bits of weights and activations", 2, 8, NULL, 0},
    {"schemes", ULP_OPTION_CHOICES, "affine,symmetric", NULL, NULL, "how codes stand for values", 0, 0,
     "affine symmetric", 0},
    {"accumulators", ULP_OPTION_CHOICES, "int32,int16,int16-sat", NULL, NULL, "where sums of products are formed", 0, 0,
     "int32 int16 int16-sat", 0},
    {"net", ULP_OPTION_TEXT, "fc64 relu fc64 relu fc10 / conv8@3p1 relu pool2 conv16@3p1 relu pool2 fc64 relu fc10",
     "fc64 relu fc64 relu fc10", NULL, "the networks, ' / ' between them: of fc, conv, relu and pool", 0, 0, NULL, 0},
    {"epochs", ULP_OPTION_INTEGER, "10", "10", "40", "of training", 1, 1000, NULL, 0},
    {"batch", ULP_OPTION_INTEGER, "32", NULL, NULL, "samples per training step", 1, 10000, NULL, 0},
    {"optimizer", ULP_OPTION_TEXT, "sgd,rate=0.05,momentum=0.9", NULL, NULL, "of the training", 0, 0, NULL, 0},
    ULP_TAKES_SET,
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("2", "2", "10"),
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

enum { AT_NET, AT_SEED, NETS_MAX = 8 };
static const char *const schemes[] = {"affine", "symmetric"};
static const char *const accumulators[] = {"int32", "int16", "int16-sat"};
static const char *const datapaths[] = {"fp32", "serial:q16.0:wrap:rne", "serial:q16.0:sat:rne"};
enum { INT32 = 0 }; /* place in accumulators */

/* ---- the grid ---- */

typedef struct shared {
    ulp_data data;
    ulp_net net[NETS_MAX];
    int nets;
} shared;

/* Whether integers go through a net: sums of products, and what only compares. */
static ulp_status check_net(const ulp_run *run, const shared *s, const ulp_net *net, const char *text) {
    static const char *const known[] = {"fc", "conv", "relu", "pool"};
    ulp_status status = ULP_OK;
    for (size_t i = 0; i < net->count && status == ULP_OK; i++) {
        const ulp_layer *layer = &net->layers[i];
        int is_known = 0;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) is_known |= strcmp(layer->kind->name, known[k]) == 0;
        if (!is_known)
            status = ulp_run_fail(run, ULP_UNSUPPORTED,
                                  "--net: '%s' is not computed in integers; known: fc, conv, relu, pool", layer->word);
        /* products of two numbers below 2^8 */
        size_t k = layer->params ? (layer->params - layer->out.c) / layer->out.c : 0;
        if (status == ULP_OK && k > 256)
            status = ulp_run_fail(run, ULP_UNSUPPORTED, "--net: '%s' sums %zu products, 256 of 8 bits are exact here",
                                  layer->word, k);
    }
    if (status == ULP_OK &&
        (net->count == 0 || ulp_dims_size(net->out) != s->data.classes || net->layers[net->count - 1].params == 0))
        status =
            ulp_run_fail(run, ULP_BAD_ARGUMENT, "--net: '%s' does not end in a layer with one output per class", text);
    return status;
}

/* The next network, from the first `length` characters of a text. */
static ulp_status add_net(const ulp_run *run, shared *s, const char *text, size_t length) {
    char own[256], error[1536];
    if (s->nets == NETS_MAX || length >= sizeof own || memchr(text, ',', length))
        return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--net: up to %d networks of %zu characters, blanks between layers",
                            NETS_MAX, sizeof own - 1);
    memcpy(own, text, length);
    own[length] = 0;
    ulp_net *net = &s->net[s->nets++];
    ulp_status status = ulp_net_parse(net, own, s->data.dims, error, sizeof error);
    return status == ULP_OK ? check_net(run, s, net, own) : ulp_run_fail(run, status, "--net: %s", error);
}

static ulp_status prepare(ulp_run *run, void **context) {
    shared *s = calloc(1, sizeof *s);
    if (s == NULL) return ULP_NO_MEMORY;
    *context = s;
    ulp_status status = ulp_data_prepare(run, &s->data, ulp_option_text(run, "set"));
    for (const char *text = ulp_option_text(run, "net"); status == ULP_OK;) {
        const char *end = strstr(text, " / ");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        status = add_net(run, s, text, length);
        for (int64_t seed = 0; seed < ulp_option_integer(run, "seeds") && status == ULP_OK; seed++) {
            ulp_point point = {.at = {s->nets - 1, (int64_t)ulp_run_seed(run) + seed}};
            ulp_point_add(run, point, "net %d seed %lld", s->nets, (long long)point.at[AT_SEED]);
        }
        if (!end) break;
        text = end + 3;
    }
    return status;
}

static void release(void *context) {
    shared *s = context;
    for (int i = 0; s != NULL && i < s->nets; i++) ulp_net_release(&s->net[i]);
    if (s != NULL) ulp_data_release(&s->data);
    free(s);
}

/* ---- rows ---- */

static void put_row(ulp_rows *rows, const engine *e, const ulp_point *point, const char *kind, const char *scheme,
                    int bits, const char *accumulator) {
    double tests = (double)(e->data->n - e->data->n_train);
    ulp_put_integer(rows, point->at[AT_NET] + 1);
    ulp_put_integer(rows, point->at[AT_SEED]);
    ulp_put_text(rows, kind);
    ulp_put_text(rows, scheme);
    ulp_put_integer(rows, bits);
    ulp_put_text(rows, accumulator);
    ulp_put_number(rows, 100 * (double)e->right / tests);
    ulp_put_number(rows, 100 * (double)e->agreed / tests);
    ulp_put_number(rows, e->formed ? 100 * (double)e->changed / (double)e->formed : 0);
    ulp_row_end(rows);
}

static ulp_status compute_integers(const ulp_run *run, engine *e, const ulp_point *point, int bits, ulp_rows *rows) {
    size_t count = e->model.net.count;
    code *x = calloc(2 * (count + 1), sizeof *x), *w = x + count + 1;
    ulp_status status = x ? ULP_OK : ULP_NO_MEMORY;
    for (int s = 0; s < 2 && status == ULP_OK; s++) {
        if (!ulp_option_chosen(run, "schemes", schemes[s])) continue;
        for (size_t i = 0; i < count; i++) x[i] = engine_code_of(e->low[i], e->high[i], bits, s);
        status = engine_put_weights(e, w, bits, s);
        for (int a = 0; a < 3 && status == ULP_OK; a++) {
            ulp_datapath narrow;
            if (!ulp_option_chosen(run, "accumulators", accumulators[a])) continue;
            engine_begin(e);
            status = ulp_datapath_parse(&narrow, datapaths[a]);
            if (status == ULP_OK) status = engine_run_integers(e, x, w, a == INT32 ? NULL : &narrow);
            if (status == ULP_OK) put_row(rows, e, point, "integer", schemes[s], bits, accumulators[a]);
        }
    }
    free(x);
    return status;
}

static ulp_status compute_floating(const ulp_run *run, engine *e, const ulp_point *point, const ulp_format *format,
                                   int scaled, ulp_rows *rows) {
    const ulp_scaling_time when = scaled ? ULP_SCALED_NOW : ULP_UNSCALED;
    ulp_status status = ulp_policy_read(run, &e->policy, "fp32,master=fp32", "the run in binary32");
    if (status == ULP_OK) status = ulp_policy_set(&e->policy, ULP_AT_WEIGHT, format, when, 0);
    if (status == ULP_OK) status = ulp_policy_set(&e->policy, ULP_AT_ACT, format, when, 0);
    if (status != ULP_OK)
        return ulp_run_fail(run, status, "--formats %s: not a format of weights and activations", format->name);
    engine_begin(e);
    e->pass.now.step = 1;
    status = engine_round_weights(e);
    if (status == ULP_OK) status = engine_run_floating(e, 0);
    if (status == ULP_OK) put_row(rows, e, point, format->name, scaled ? "scaled" : "plain", format->bits, "binary32");
    return status;
}

static ulp_status train(const ulp_run *run, const shared *s, const ulp_point *point, float **trained, ulp_rows *rows) {
    size_t batch = (size_t)ulp_option_integer(run, "batch");
    ulp_optimizer_rule optimizer;
    ulp_status status = ulp_optimizer_read(run, &optimizer, ulp_option_text(run, "optimizer"));
    if (status != ULP_OK) return status;
    const ulp_train_options o = {.net = &s->net[point->at[AT_NET]],
                                 .optimizer = &optimizer,
                                 .batch = batch,
                                 .seed = (uint64_t)point->at[AT_SEED],
                                 .backend = ulp_run_backend(run)};
    ulp_trainer *t;
    const uint64_t steps = (uint64_t)ulp_option_integer(run, "epochs") * ulp_epoch_steps(&s->data, batch);
    status = ulp_training_before(&t, ulp_rows_task(rows), &s->data, &o, steps, 0.9);
    if (status == ULP_OK) *trained = calloc(t->model.net.params, sizeof **trained);
    if (status == ULP_OK) status = *trained ? ulp_trainer_weights(t, *trained, NULL) : ULP_NO_MEMORY;
    ulp_trainer_free(t);
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    const shared *s = context;
    size_t count, formats;
    const double *bits = ulp_option_numbers(run, "bits", &count);
    const ulp_format *format = ulp_run_formats(run, &formats);
    float *trained = NULL;
    engine e = {0};
    ulp_status status = train(run, s, point, &trained, rows);
    if (status == ULP_OK)
        status = engine_start(&e, ulp_run_backend(run), &s->data, &s->net[point->at[AT_NET]], trained);
    if (status == ULP_OK) status = engine_round_weights(&e);
    if (status == ULP_OK) status = engine_run_floating(&e, 1);
    if (status == ULP_OK) status = engine_run_floating(&e, 0);
    if (status == ULP_OK) put_row(rows, &e, point, "binary32", "plain", 32, "binary32");
    for (size_t i = 0; i < count && status == ULP_OK; i++)
        status = compute_integers(run, &e, point, (int)bits[i], rows);
    for (size_t f = 0; f < formats && status == ULP_OK; f++)
        for (int scaled = 0; scaled < 2 && status == ULP_OK; scaled++)
            status = compute_floating(run, &e, point, &format[f], scaled, rows);
    engine_end(&e);
    free(trained);
    return status;
}

/* ---- claims ---- */

typedef struct mean {
    double accuracy, agreement, changed, least;
    int n;
} mean;

static mean mean_of(const ulp_run *run, const char *net, const char *kind, const char *scheme, const char *bits,
                    const char *accumulator) {
    mean m = {.least = 100};
    for (long row = 0; (row = ulp_row_find(run, row, "net", net, "kind", kind, "scheme", scheme, "bits", bits,
                                           "accumulator", accumulator, (const char *)NULL)) != ULP_NO_ROW;
         row++) {
        double accuracy = ulp_row_number(run, row, "accuracy");
        m.accuracy += accuracy;
        m.least = fmin(m.least, accuracy);
        m.agreement += ulp_row_number(run, row, "agreement");
        m.changed += ulp_row_number(run, row, "changed");
        m.n++;
    }
    double n = m.n ? (double)m.n : (double)NAN;
    return (mean){m.accuracy / n, m.agreement / n, m.changed / n, m.least, m.n};
}

static void print_table(const ulp_run *run, const char *net) {
    ulp_sheet *table = ulp_sheet_new(
        "test accuracy in percent, mean over the seeds; changed: sums that the accumulator got wrong, in percent",
        "net,numbers,scheme,accumulator,accuracy,as binary32,changed");
    for (long row = 0; row < ulp_row_count(run); row++) {
        const char *cells[5] = {ulp_row_text(run, row, "net"), ulp_row_text(run, row, "kind"),
                                ulp_row_text(run, row, "scheme"), ulp_row_text(run, row, "bits"),
                                ulp_row_text(run, row, "accumulator")};
        if (strcmp(cells[0], net) != 0) continue;
        if (ulp_row_find(run, 0, "net", cells[0], "kind", cells[1], "scheme", cells[2], "bits", cells[3], "accumulator",
                         cells[4], (const char *)NULL) != row)
            continue;
        mean m = mean_of(run, cells[0], cells[1], cells[2], cells[3], cells[4]);
        ulp_sheet_put(table, "%s", cells[0]);
        if (strcmp(cells[1], "integer") == 0) ulp_sheet_put(table, "%s bits", cells[3]);
        else ulp_sheet_put(table, "%s", cells[1]);
        ulp_sheet_put(table, "%s", cells[2]);
        ulp_sheet_put(table, "%s", cells[4]);
        ulp_sheet_put(table, "%.2f", m.accuracy);
        ulp_sheet_put(table, "%.2f", m.agreement);
        ulp_sheet_put(table, "%.3g", m.changed);
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

/* All rows of one kind, against binary32 of the same net: the largest loss of mean accuracy in points. */
static void claim_loss(ulp_run *run, int nets, const char *kind, const char *scheme, const char *bits,
                       const char *accumulator, double most, const char *text) {
    double worst = -100;
    char net[16], measured[128] = "";
    for (int i = 1; i <= nets; i++) {
        snprintf(net, sizeof net, "%d", i);
        mean m = mean_of(run, net, kind, scheme, bits, accumulator),
             reference = mean_of(run, net, "binary32", "plain", "32", "binary32");
        if (m.n == 0) {
            ulp_claim_skip(ulp_run_claims(run), text, "not in this run");
            return;
        }
        worst = fmax(worst, reference.accuracy - m.accuracy);
        snprintf(measured + strlen(measured), sizeof measured - strlen(measured), "%snet %d: %.2f %% against %.2f %%",
                 i > 1 ? "; " : "", i, m.accuracy, reference.accuracy);
    }
    ulp_claim(ulp_run_claims(run), worst <= most, text, "%s", measured);
}

/* An int16 sum of products of codes of b bits cannot leave the range while k 2^(2 b - 2) < 2^15, symmetric codes. */
static void claim_room(ulp_run *run) {
    int rows = 0, wrong = 0;
    for (long row = 0; row < ulp_row_count(run); row++) {
        if (!ulp_row_is(run, row, "scheme", "symmetric") || !ulp_row_is(run, row, "accumulator", "int16")) continue;
        double bits = ulp_row_number(run, row, "bits"), half = ldexp(1, (int)bits - 1) - 1;
        if (256 * half * half >= 32768) continue;
        rows++;
        wrong += ulp_row_number(run, row, "changed") != 0;
    }
    if (rows)
        ulp_claim(ulp_run_claims(run), wrong == 0,
                  "where 256 products of two codes stay below 2^15, no int16 sum differs from int32",
                  "%d runs, %d against it", rows, wrong);
}

/* The mean over all nets and bits where one way is better than another. */
static void claim_better(ulp_run *run, int nets, const char *scheme, const char *accumulator, const char *scheme2,
                         const char *accumulator2, const char *bits, double by, const char *text) {
    double gain = 0;
    char net[16];
    for (int i = 1; i <= nets; i++) {
        snprintf(net, sizeof net, "%d", i);
        mean a = mean_of(run, net, "integer", scheme, bits, accumulator),
             b = mean_of(run, net, "integer", scheme2, bits, accumulator2);
        gain += (a.accuracy - b.accuracy) / nets;
    }
    if (isnan(gain)) ulp_claim_skip(ulp_run_claims(run), text, "not in this run");
    else ulp_claim(ulp_run_claims(run), gain > by, text, "%+.2f points in the mean of the networks", gain);
}

static void check(ulp_run *run, const void *context) {
    const shared *s = context;
    for (int i = 1; i <= s->nets; i++) {
        char net[16];
        snprintf(net, sizeof net, "%d", i);
        print_table(run, net);
    }
    claim_loss(run, s->nets, "integer", "affine", "8", "int32", 0.5,
               "8 bits, affine, int32: within half a point of binary32, without training again");
    claim_loss(run, s->nets, "integer", "symmetric", "8", "int32", 0.5,
               "8 bits, symmetric, int32: within half a point");
    claim_loss(run, s->nets, "integer", "affine", "5", "int32", 1.5, "5 bits, affine, int32: within 1.5 points");
    claim_loss(run, s->nets, "binary16", "plain", "16", "binary32", 0.2,
               "binary16: within 0.2 points, no scale needed");
    claim_loss(run, s->nets, "e4m3", "plain", "8", "binary32", 0.75,
               "e4m3, sums in binary32: within 0.75 points, no scale needed");
    claim_better(run, s->nets, "affine", "int32", "symmetric", "int32", "3", 2,
                 "3 bits: affine codes beat symmetric ones by over 2 points (after relu nothing is negative: half of "
                 "the symmetric codes is idle)");
    claim_better(run, s->nets, "affine", "int32", "affine", "int16", "8", 20,
                 "8 bits, affine: an int16 accumulator that wraps around costs over 20 points (codes reach 255, and "
                 "their products 2^16)");
    claim_better(run, s->nets, "symmetric", "int32", "symmetric", "int16", "8", 2,
                 "8 bits, symmetric: it costs over 2 points");
    claim_better(run, s->nets, "symmetric", "int16-sat", "symmetric", "int16", "8", 2,
                 "8 bits, symmetric: one that saturates gives back over 2 of them");
    claim_room(run);
}

static const ulp_experiment experiment = {
    .name = "quantized_inference",
    .question = "how many bits does a trained network need to answer, and how wide an accumulator?",
    .columns = "net,seed,kind,scheme,bits,accumulator,accuracy,agreement,changed",
    .options = options,
    .takes_format = ulp_format_with_sign,
    .format_wants = ULP_WANTS_WITH_SIGN,
    .prepare = prepare,
    .compute = compute,
    .check = check,
    .release = release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
