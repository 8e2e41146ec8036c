/* train.c - ulp train: trains a net under a policy, prints its losses and scores, and writes new text. */
#include "experiments/harness/training/training.h"
#include "sim/named_nets.h"
#include "sim/policy/explain.h"
#include "sim/train/sample.h"
#include "tool.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct settings {
    const char *net, *set, *data, *scaler, *optimizer, *prompt;
    ulp_named_policy policy;
    ulp_named_tail tail;
    const ulp_backend *backend;
    int64_t batch, steps, every, sample;
    uint64_t seed;
    double temperature;
    int explain;
} settings;

static const ulp_option options[] = {
    ULP_OPTION(settings, net, text, "small", .topic = "nets",
               .help = "the network, layer by layer or by name (`ulp help nets`)"),
    ULP_OPTION(settings, set, text, "", .value_name = "NAME", .topic = "data",
               .help = "the data set; without it text for gpt, else digits"),
    ULP_OPTION(settings, data, place, "", .help = "its folder or file; without it $ULPLAB_DATA, or what ships"),
    ULP_OPTION(settings, policy, policy, "fp32", .help = "what is rounded where, as mixed:fp16 or nvfp4"),
    ULP_OPTION(settings, scaler, text, "none", .value_name = "SCALER", .topic = "scalers", .help = "the loss scale"),
    ULP_OPTION(settings, optimizer, text, "", .value_name = "OPTIMIZER", .topic = "optimizers",
               .help = "without it that of the named network, or sgd,rate=0.1,momentum=0.9"),
    ULP_OPTION(settings, batch, integer, "0", .help = "samples of a step; 0: the named network's own, or 32",
               .max = 60000),
    ULP_OPTION(settings, steps, integer, "300", .help = "steps", .min = 1, .max = 1e9),
    ULP_OPTION_TAIL(settings, tail),
    ULP_OPTION(settings, seed, unsigned, "1", .help = "of weights, order of the samples and stochastic rounding",
               .max = 0x1p53),
    ULP_OPTION(settings, every, integer, "0", .help = "steps between two lines; 0: a tenth of the steps", .max = 1e9),
    ULP_OPTION(settings, backend, backend, "cpu", .help = "the machine that computes, which changes no number"),
    ULP_OPTION(settings, explain, flag, NULL,
               .help = "print how each product with weights takes its operands and which word says so; train nothing"),
    ULP_OPTION(settings, sample, integer, "0", .help = "characters of new text after the training", .max = 1e6),
    ULP_OPTION(settings, prompt, text, "",
               .help = "the text that the new text goes on with; else the first character of the set"),
    ULP_OPTION(settings, temperature, number, "0.8", .help = "of the new text; 0: the likeliest character each time",
               .max = 1000),
    {0}};

/* A run with its parts. */
typedef struct run_parts {
    ulp_data data;
    ulp_net net;
    ulp_scaler_rule scaler;
    ulp_optimizer_rule optimizer;
    ulp_train_options options;
    ulp_trainer *trainer;
    uint8_t *token; /* of the new text, of which `given` are read: those of the prompt, or token 0 */
    size_t given, length;
} run_parts;

static ulp_status read_optimizer(run_parts *r, const settings *s, const ulp_named_net *row, ulp_error *error) {
    const char *text = *s->optimizer ? s->optimizer : row ? row->optimizer : "sgd";
    ULP_TRY(ulp_optimizer_parse(&r->optimizer, text, error));
    if (*s->optimizer) return ULP_OK;
    r->optimizer.rate = row ? row->rate : 0.1;
    if (r->optimizer.kind == &ulp_optimizer_sgd) r->optimizer.momentum = 0.9;
    if (row && row->cosine) r->optimizer.cosine = (uint32_t)s->steps;
    return ULP_OK;
}

static ulp_status read_parts(run_parts *r, const settings *s, ulp_error *error) {
    const ulp_named_net *row = ulp_named_net_find(s->net);
    const char *set = *s->set ? s->set : ulp_named_net_reads_text(s->net) ? "text" : "digits";
    char layers[ULP_NAMED_LAYERS_MAX];
    ULP_TRY(ulp_data_load(&r->data, set, s->data, s->seed, error));
    ulp_status status = ulp_net_parse(&r->net, ulp_named_net_words(layers, s->net, &r->data), r->data.dims, error);
    if (status == ULP_OK) status = ulp_scaler_parse(&r->scaler, s->scaler, error);
    if (status == ULP_OK) status = read_optimizer(r, s, row, error);
    if (status != ULP_OK) return tool_refused(error);
    r->options = (ulp_train_options){.net = &r->net,
                                     .policy = &s->policy.policy,
                                     .scaler = &r->scaler,
                                     .optimizer = &r->optimizer,
                                     .batch = s->batch ? (size_t)s->batch
                                              : row    ? row->batch
                                                       : 32,
                                     .seed = s->seed,
                                     .backend = s->backend};
    ulp_training_tail(&r->options, &s->tail, (uint64_t)s->steps);
    return ULP_OK;
}

static ulp_status read_prompt(run_parts *r, const settings *s, ulp_error *error) {
    if (!r->data.tokens) return ulp_refuse(error, "--sample: the set %s has no text", r->data.name);
    r->token = calloc(strlen(s->prompt) + (size_t)s->sample + 1, 1);
    if (!r->token) return ulp_fail(error, ULP_NO_MEMORY, "no memory for a text");
    if (ulp_data_read(r->token, &r->given, &r->data, s->prompt, error) != ULP_OK)
        return ulp_fail_within(error, ULP_BAD_ARGUMENT, "--prompt");
    if (r->given == 0) r->given = 1;
    r->length = r->given + (size_t)s->sample;
    return ULP_OK;
}

static void release(run_parts *r) {
    free(r->token);
    ulp_trainer_free(r->trainer);
    ulp_net_release(&r->net);
    ulp_data_release(&r->data);
    free(r);
}

/* ---- output ---- */

static void print_line(void *context, const ulp_policy_line *line) {
    size_t *last = context;
    char number[24] = "";
    const int is_new = *last != line->layer;
    if (is_new) snprintf(number, sizeof number, "%zu", line->layer);
    *last = line->layer;
    tool_print_folded(34, "%-4s%-16s %-6s %-5s %s  (%s)", number, is_new ? line->word : "", line->product,
                      line->operand, line->how, line->from);
}

static ulp_status explain(const run_parts *r, ulp_error *error) {
    size_t last = r->net.count;
    tool_print_folded(34, "%-4s%-16s %-6s %-5s %s", "no.", "layer", "of", "what", "how  (the word that says so)");
    const ulp_status status = ulp_policy_explain(r->options.policy, &r->net, print_line, &last, error);
    return status == ULP_OK ? ULP_OK : tool_refused(error);
}

static void print_score(const char *part, const ulp_score *score, const ulp_data *data) {
    printf("%-6s loss %.5f", part, score->loss);
    if (data->tokens) printf(", %.4f bits per character", score->bits);
    printf(", %.2f %% right\n", 100.0 * score->accuracy);
}

static ulp_status print_sample(const run_parts *r, const settings *s, ulp_error *error) {
    const size_t size = 4 * r->length + 1;
    char *text = malloc(size);
    if (!text) return ulp_fail(error, ULP_NO_MEMORY, "no memory for a text");
    const ulp_status status =
        ulp_trainer_sample(r->trainer, r->token, r->given, r->length, (ulp_sampling){s->temperature, s->seed});
    if (status == ULP_OK) {
        ulp_data_print(text, size, &r->data, r->token, r->length);
        printf("\n%s\n", text);
    }
    free(text);
    return status == ULP_OK ? ULP_OK : ulp_fail(error, status, "--sample: %s", ulp_status_text(status));
}

static ulp_status train(const run_parts *r, const settings *s, ulp_error *error) {
    const uint64_t every = s->every ? (uint64_t)s->every : (uint64_t)(s->steps + 9) / 10, steps = (uint64_t)s->steps;
    uint64_t skipped = 0, since = 0;
    double sum = 0.0;
    for (uint64_t k = 1; k <= steps; k++) {
        ulp_step step;
        const ulp_status status = ulp_trainer_step(r->trainer, &step);
        if (status != ULP_OK)
            return ulp_fail(error, status, "step %llu: %s", (unsigned long long)k - 1, ulp_status_text(status));
        sum += step.loss;
        skipped += (uint64_t)step.skipped;
        since++;
        if (k % every != 0 && k != steps) continue;
        printf("step %-8llu loss %.5f", (unsigned long long)k, sum / (double)since);
        if (r->data.tokens) printf(", %.4f bits", sum / (double)since / 0.6931471805599453);
        if (step.scale_log2) printf(", scale 2^%d", step.scale_log2);
        if (skipped) printf(", %llu skipped", (unsigned long long)skipped);
        printf("\n");
        fflush(stdout);
        sum = 0.0;
        since = 0;
    }
    return ULP_OK;
}

static ulp_status run_all(run_parts *r, const settings *s, ulp_error *error) {
    ulp_score score;
    ULP_TRY(read_parts(r, s, error));
    if (s->explain) return explain(r, error);
    if (s->sample) ULP_TRY(read_prompt(r, s, error));
    const ulp_status status = ulp_trainer_new(&r->trainer, &r->data, &r->options, error);
    if (status != ULP_OK) return status == ULP_NO_MEMORY ? status : tool_refused(error);
    printf("%s, %zu samples for training, %zu for tests; %zu parameters, batch %zu\n", r->data.name, r->data.n_train,
           r->data.n - r->data.n_train, r->net.params, r->options.batch);
    ULP_TRY(train(r, s, error));
    for (int part = 0; part < 2; part++) {
        const ulp_status scored = ulp_trainer_score(r->trainer, part ? ULP_TEST_PART : ULP_TRAIN_PART, &score);
        if (scored != ULP_OK) return ulp_fail(error, scored, "score: %s", ulp_status_text(scored));
        print_score(part ? "test" : "train", &score, &r->data);
    }
    return s->sample ? print_sample(r, s, error) : ULP_OK;
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    run_parts *r = calloc(1, sizeof *r);
    (void)a;
    if (!r) return ulp_fail(error, ULP_NO_MEMORY, "no memory for a training");
    const ulp_status status = run_all(r, fields, error);
    release(r);
    return status;
}

const tool_command tool_train = {
    .command = {.name = "ulp train",
                .usage = "[--net TEXT] [--policy POLICY] [OPTION...]",
                .summary = "trains a network under a policy and prints losses, scores and new text",
                .details = "The same options give the same numbers on every machine.\n\n"
                           "  ulp train --net gpt --steps 300 --sample 200\n"
                           "  ulp train --net gpt --policy nvfp4 --explain\n"
                           "  ulp train --net vit --policy mixed:fp16 --scaler pytorch\n"},
    .size = sizeof(settings),
    .groups = {{"options", options, 0}},
    .run = run};
