/* completions.c - a small language model goes on with held-out texts at temperature 0, under eight schedules of its
 * products.
 */
#include "batch_invariance.h"
#include "sim/named_nets.h"
#include "sim/train/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEDULES = 8, PROMPT = 8 };

/* A model and what it reads. weight (params) are those of the trained net, in host memory. */
typedef struct model {
    ulp_data data;
    ulp_net net;
    ulp_optimizer_rule optimizer;
    float *weight;
    uint8_t *token;  /* (SCHEDULES,prompts,length) */
    uint8_t *choice; /* (SCHEDULES,prompts,places): the likeliest character after each place of a held-out text */
    size_t prompts, length, places;
} model;

static ulp_status fail(const ulp_task *task, ulp_status status, const ulp_error *error) {
    return status == ULP_OK ? status : ulp_task_fail(task, status, "%s", error->text);
}

static ulp_status read_model(model *m, const settings *s, ulp_error *error) {
    char words[ULP_NAMED_LAYERS_MAX];
    ULP_TRY(ulp_data_load(&m->data, s->set, s->data, s->seed, error));
    if (!m->data.tokens) return ulp_fail(error, ULP_BAD_ARGUMENT, "--set: '%s' is no text", s->set);
    ULP_TRY(ulp_net_parse(&m->net, ulp_named_net_words(words, s->net, &m->data), m->data.dims, error));
    ULP_TRY(ulp_optimizer_parse(&m->optimizer, s->optimizer, error));
    m->optimizer.rate = s->rate;
    m->optimizer.cosine = (uint32_t)s->steps;
    m->prompts = (size_t)s->completions;
    m->length = (size_t)s->length + PROMPT;
    m->places = m->net.in.h;
    if (m->data.n - m->data.n_train < m->prompts)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "--completions: %zu, but the set holds out %zu texts", m->prompts,
                        m->data.n - m->data.n_train);
    if (m->places < PROMPT)
        return ulp_fail(error, ULP_BAD_ARGUMENT, "--set: texts of %zu characters; %d or more are needed", m->places,
                        (int)PROMPT);
    m->weight = malloc(m->net.params * sizeof *m->weight);
    m->token = calloc(SCHEDULES * m->prompts, m->length);
    m->choice = calloc(SCHEDULES * m->prompts, m->places);
    return m->weight && m->token && m->choice ? ULP_OK : ulp_fail(error, ULP_NO_MEMORY, "no memory for a model");
}

static void release_model(model *m) {
    free(m->weight);
    free(m->token);
    free(m->choice);
    ulp_net_release(&m->net);
    ulp_data_release(&m->data);
}

static ulp_status start(const ulp_task *task, const model *m, const ulp_policy *policy, ulp_trainer **trainer) {
    const settings *s = task->settings;
    ulp_error error = {0};
    const ulp_train_options options = {.net = &m->net,
                                       .policy = policy,
                                       .optimizer = &m->optimizer,
                                       .batch = (size_t)s->batch,
                                       .seed = s->seed,
                                       .backend = s->backend};
    return fail(task, ulp_trainer_new(trainer, &m->data, &options, &error), &error);
}

/* Trains in binary32. */
static ulp_status train(const ulp_task *task, const model *m) {
    const settings *s = task->settings;
    ulp_trainer *trainer = NULL;
    ulp_policy policy;
    ulp_policy_binary32(&policy);
    ulp_status status = start(task, m, &policy, &trainer);
    for (int64_t k = 0; k < s->steps && status == ULP_OK; k++) {
        status = ulp_trainer_step(trainer, NULL);
        if (ulp_task_progress(task, 0.5 * (double)(k + 1) / (double)s->steps)) break;
    }
    if (status == ULP_OK)
        status = s->backend->download(m->weight, trainer->optimizer.weight, m->net.params * sizeof *m->weight);
    ulp_trainer_free(trainer);
    return status;
}

/* Schedule `number`: 1 or 16 products at a time, in 1, 2, 4 or 8 parts, under an accumulator. */
static ulp_status policy_of(ulp_policy *policy, int number, int64_t bits, ulp_error *error) {
    const int parts = 1 << (number & 3), mantissa = (int)bits - 1;
    char text[160], split[64] = "";
    if (parts > 1) snprintf(split, sizeof split, ":split-k=%d:e8m%d", parts, mantissa);
    snprintf(text, sizeof text, "fp32,fwd=%s:e8m%d:rne%s", number & 4 ? "block16" : "block1", mantissa, split);
    return ulp_policy_parse(policy, text, error);
}

/* choice (places) = the likeliest characters after the places of held-out text i; z (places,classes) is room. */
static ulp_status choose(ulp_trainer *t, const model *m, size_t i, float *z, uint8_t *choice) {
    const size_t sample = m->data.n_train + i;
    ULP_TRY(ulp_trainer_outputs(t, z, m->data.pixel + sample * m->places, m->places, sample));
    for (size_t k = 0; k < m->places; k++) choice[k] = (uint8_t)ulp_likeliest(z + k * m->data.classes, m->data.classes);
    return ULP_OK;
}

static ulp_status complete(const ulp_task *task, const model *m, int64_t bits, int number) {
    const settings *s = task->settings;
    ulp_trainer *trainer = NULL;
    ulp_policy policy;
    ulp_error error = {0};
    ULP_TRY(fail(task, policy_of(&policy, number, bits, &error), &error));
    float *z = malloc(m->places * m->data.classes * sizeof *z);
    ulp_status status = z ? start(task, m, &policy, &trainer) : ULP_NO_MEMORY;
    if (status == ULP_OK) status = ulp_optimizer_start(&trainer->optimizer, &trainer->pass, m->weight);
    for (size_t i = 0; i < m->prompts && status == ULP_OK; i++) {
        uint8_t *token = m->token + ((size_t)number * m->prompts + i) * m->length;
        memcpy(token, m->data.pixel + (m->data.n_train + i) * m->places, PROMPT);
        status = ulp_trainer_sample(trainer, token, PROMPT, m->length, (ulp_sampling){0.0, s->seed});
        if (status == ULP_OK)
            status = choose(trainer, m, i, z, m->choice + ((size_t)number * m->prompts + i) * m->places);
    }
    free(z);
    ulp_trainer_free(trainer);
    return status;
}

/* The first new character in which a schedule differs from schedule 0, from 1; the number of new characters plus 1 if
 * none does. */
static int64_t first_difference(const model *m, size_t prompt) {
    for (size_t k = PROMPT; k < m->length; k++)
        for (size_t j = 1; j < SCHEDULES; j++)
            if (m->token[(j * m->prompts + prompt) * m->length + k] != m->token[prompt * m->length + k])
                return (int64_t)(k - PROMPT) + 1;
    return (int64_t)(m->length - PROMPT) + 1;
}

static int64_t distinct(const model *m, size_t prompt) {
    int64_t count = 0;
    for (size_t j = 0; j < SCHEDULES; j++) {
        int is_new = 1;
        for (size_t i = 0; i < j; i++)
            is_new &= memcmp(m->token + (j * m->prompts + prompt) * m->length,
                             m->token + (i * m->prompts + prompt) * m->length, m->length) != 0;
        count += is_new;
    }
    return count;
}

static void put_rows(const ulp_task *task, const model *m, int64_t bits) {
    const size_t all = m->prompts * m->places;
    row d = row_of(task, DECISION);
    d.bits = bits, d.number = (int64_t)all, d.count = 0;
    for (size_t i = 0; i < all; i++) {
        int differs = 0;
        for (size_t j = 1; j < SCHEDULES; j++) differs |= m->choice[j * all + i] != m->choice[i];
        d.count += differs;
    }
    ulp_row_put(task->rows, &d);
    for (size_t i = 0; i < m->prompts; i++) {
        row r = row_of(task, COMPLETION);
        r.bits = bits, r.number = (int64_t)i;
        r.count = distinct(m, i);
        r.value = (double)first_difference(m, i);
        ulp_row_put(task->rows, &r);
    }
}

ulp_status check_completions(const settings *s, ulp_error *error) {
    model m = {0};
    ulp_policy policy;
    const ulp_train_options options = {.net = &m.net,
                                       .policy = &policy,
                                       .optimizer = &m.optimizer,
                                       .batch = (size_t)s->batch,
                                       .seed = s->seed,
                                       .backend = s->backend};
    ulp_policy_binary32(&policy);
    ulp_status status = read_model(&m, s, error);
    if (status == ULP_OK) status = ulp_train_check(&m.data, &options, error);
    release_model(&m);
    return status;
}

ulp_status put_completions(const ulp_task *task, int64_t bits) {
    model m = {0};
    ulp_error error = {0};
    ulp_status status = fail(task, read_model(&m, task->settings, &error), &error);
    if (status == ULP_OK) status = train(task, &m);
    for (int j = 0; j < SCHEDULES && status == ULP_OK; j++) {
        status = complete(task, &m, bits, j);
        if (ulp_task_progress(task, 0.5 + 0.5 * (double)(j + 1) / (double)SCHEDULES)) break;
    }
    if (status == ULP_OK) put_rows(task, &m, bits);
    release_model(&m);
    return status;
}
