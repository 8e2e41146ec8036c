/* lesson.c - loads and releases the data set and the network of an experiment, and prepares trainings; see lesson.h. */
#include "lesson.h"

#include "sim/named_nets.h"

ulp_method ulp_method_sgd(double rate, double momentum) {
    ulp_method m = {.scaler = *ulp_scaler_rule_find("none"),
                    .optimizer = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"))};
    ulp_policy_parse(&m.policy, "fp32", NULL);
    m.optimizer.rate = rate;
    m.optimizer.momentum = momentum;
    return m;
}

ulp_status ulp_lesson_load(ulp_plan *plan, ulp_lesson *lesson, const ulp_lesson_settings *s) {
    const int of_text = ulp_named_net_reads_text(s->net) && !ulp_setting_given(plan->arguments, "set");
    char room[ULP_NAMED_LAYERS_MAX];
    lesson->settings = s;
    ULP_TRY(ulp_set_load(plan, &lesson->data, &(ulp_set){of_text ? "text" : s->set, s->data, s->seed}));
    lesson->plain = ulp_method_sgd(0, 0);
    const char *words = ulp_named_net_words(room, s->net, &lesson->data);
    ULP_TRY(ulp_plan_read_net(plan, &lesson->net, words, lesson->data.dims));
    if (words != s->net) ulp_plan_note(plan, "layers", "%s; %zu parameters", words, lesson->net.params);
    return ulp_plan_amp(plan, &lesson->plain.policy, &lesson->plain.scaler, &s->how.amp, &lesson->net, "net");
}

ulp_method ulp_lesson_plain(const ulp_lesson *lesson, double rate, double momentum) {
    ulp_method m = lesson->plain;
    m.optimizer.rate = rate;
    m.optimizer.momentum = momentum;
    return m;
}

void ulp_lesson_release(void *own) {
    ulp_lesson *lesson = own;
    ulp_net_release(&lesson->net);
    ulp_data_release(&lesson->data);
}

uint64_t ulp_lesson_steps(const ulp_lesson *lesson, int64_t epochs) {
    return ulp_epoch_steps(&lesson->data, (size_t)lesson->settings->batch) * (uint64_t)epochs;
}

ulp_status ulp_lesson_admit(const ulp_plan *plan, const ulp_lesson *lesson, const ulp_method *method, const char *of,
                            char full[ULP_POLICY_TEXT_MAX]) {
    const ulp_train_options options = ulp_lesson_options(lesson, method, lesson->settings->seed);
    ULP_TRY(ulp_policy_admit(plan, &method->policy, of, options.backend, full));
    return ulp_training_check(plan, &lesson->data, &options);
}

ulp_train_options ulp_lesson_options(const ulp_lesson *lesson, const ulp_method *method, uint64_t seed) {
    return (ulp_train_options){.net = &lesson->net,
                               .policy = &method->policy,
                               .scaler = &method->scaler,
                               .optimizer = &method->optimizer,
                               .batch = (size_t)lesson->settings->batch,
                               .seed = seed,
                               .backend = lesson->settings->backend};
}

ulp_training ulp_lesson_training(const ulp_lesson *lesson, const ulp_method *method, uint64_t seed) {
    return (ulp_training){.data = &lesson->data,
                          .options = ulp_lesson_options(lesson, method, seed),
                          .steps = ulp_lesson_steps(lesson, lesson->settings->epochs),
                          .every = ulp_lesson_steps(lesson, 1),
                          .want_learned = 1,
                          .checkpoint = lesson->settings->checkpoint};
}
