/* texts.h - training options as texts, for tests: reading them into the types of sim/. */
#ifndef ULP_TESTS_TEXTS_H
#define ULP_TESTS_TEXTS_H

#include "sim/train/train.h"

/* The options of ulp_train_options as texts. */
typedef struct training_texts {
    const char *net;
    const char *policy, *scaler, *optimizer, *loss; /* NULL: as in ulp_train_options; most tests give four by place */
    size_t batch;
    uint64_t seed;
    double init_std;
    const ulp_backend *backend;
    int counting;
    const ulp_observer *observer;
    size_t ranks;
    const char *reduction; /* NULL: as in ulp_train_options */
    const ulp_ranks *group;
    const char *tail; /* NULL: none */
    uint64_t tail_step;
} training_texts;

/* The parsed texts; options point into this struct. ulp_net_release(&net) frees its memory. */
typedef struct training_types {
    ulp_net net;
    ulp_policy policy, tail;
    ulp_scaler_rule scaler;
    ulp_optimizer_rule optimizer;
    ulp_reduction reduction;
    ulp_train_options options;
} training_types;

static inline ulp_status read_texts(training_types *to, const training_texts *from, ulp_dims in, ulp_error *why) {
    *to = (training_types){.options = {.batch = from->batch,
                                       .seed = from->seed,
                                       .init_std = from->init_std,
                                       .backend = from->backend,
                                       .counting = from->counting,
                                       .observer = from->observer,
                                       .ranks = from->ranks,
                                       .group = from->group,
                                       .tail_step = from->tail_step}};
    ulp_error_clear(why);
    ulp_status status = ulp_net_parse(&to->net, from->net, in, why);
    if (status == ULP_OK && from->policy) status = ulp_policy_parse(&to->policy, from->policy, why);
    if (status == ULP_OK && from->tail) status = ulp_policy_parse(&to->tail, from->tail, why);
    if (status == ULP_OK && from->scaler) status = ulp_scaler_parse(&to->scaler, from->scaler, why);
    if (status == ULP_OK && from->optimizer) status = ulp_optimizer_parse(&to->optimizer, from->optimizer, why);
    if (status == ULP_OK && from->loss) status = ulp_loss_parse(&to->options.loss, from->loss, why);
    if (status == ULP_OK && from->reduction) status = ulp_reduction_parse(&to->reduction, from->reduction, why);
    to->options.reduction = from->reduction ? &to->reduction : NULL;
    to->options.tail = from->tail ? &to->tail : NULL;
    to->options.net = &to->net;
    to->options.policy = from->policy ? &to->policy : NULL;
    to->options.scaler = from->scaler ? &to->scaler : NULL;
    to->options.optimizer = from->optimizer ? &to->optimizer : NULL;
    return status;
}

static inline ulp_status trainer_from_texts(ulp_trainer **trainer, const ulp_data *data, const training_texts *texts,
                                            ulp_error *why) {
    training_types types;
    *trainer = NULL;
    ulp_status status = read_texts(&types, texts, data->dims, why);
    if (status == ULP_OK) status = ulp_trainer_new(trainer, data, &types.options, why);
    ulp_net_release(&types.net);
    return status;
}

static inline ulp_status check_texts(const ulp_data *data, const training_texts *texts, ulp_error *why) {
    training_types types;
    ulp_status status = read_texts(&types, texts, data->dims, why);
    if (status == ULP_OK) status = ulp_train_check(data, &types.options, why);
    ulp_net_release(&types.net);
    return status;
}

static inline ulp_status run_from_texts(ulp_train_result *result, const ulp_data *data, const training_texts *texts,
                                        uint64_t steps, ulp_error *why) {
    training_types types;
    ulp_status status = read_texts(&types, texts, data->dims, why);
    if (status == ULP_OK) status = ulp_train_run(result, data, &types.options, steps, why);
    ulp_net_release(&types.net);
    return status;
}

/* A scaler in its initial state. */
static inline ulp_status scaler_from_text(ulp_scaler *scaler, const char *text, ulp_error *why) {
    ulp_scaler_rule rule;
    ulp_status status = ulp_scaler_parse(&rule, text, why);
    return status == ULP_OK ? ulp_scaler_init(scaler, &rule, why) : status;
}

/* An optimizer without arrays. */
static inline ulp_status optimizer_from_text(ulp_optimizer *optimizer, const char *text, const ulp_policy *policy,
                                             ulp_error *why) {
    ulp_optimizer_rule rule;
    ulp_status status = ulp_optimizer_parse(&rule, text, why);
    return status == ULP_OK ? ulp_optimizer_init(optimizer, &rule, policy, why) : status;
}

static inline ulp_status model_from_text(ulp_model *model, const char *net, ulp_dims in, size_t batch, size_t room,
                                         ulp_error *why) {
    ulp_net parsed;
    ulp_status status = ulp_net_parse(&parsed, net, in, why);
    if (status == ULP_OK) status = ulp_model_init(model, &parsed, batch, room);
    ulp_net_release(&parsed);
    return status;
}

#endif
