/* checkpoint.c - what a checkpoint of a training run holds; see checkpoint.h. */
#include "checkpoint.h"

#include "saved.h"

static ulp_learning learning_of(const ulp_trainer *trainer) {
    ulp_trainer *t = (ulp_trainer *)trainer; /* saving reads the fields, loading writes them */
    return (ulp_learning){.net = &t->model.net,
                          .policy = t->policy,
                          .start_rule = &t->start_rule,
                          .scaler = &t->scaler,
                          .scales = &t->loss_scales,
                          .optimizer = &t->optimizer,
                          .history = &t->pass.history};
}

/* Visit every piece of state outside of the trainer's arena. */
static int visit_state(const void *run, ulp_state_visitor visit, void *context) {
    ulp_trainer *t = (ulp_trainer *)run;
    const ulp_learning learning = learning_of(t);
    return visit(context, &t->step, sizeof t->step) && ulp_learning_visit(&learning, visit, context);
}

static ulp_status describe(ulp_lines *lines, const void *run) {
    const ulp_trainer *t = run;
    const ulp_learning learning = learning_of(t);
    char reduction[ULP_REDUCTION_TEXT_MAX] = "none";
    ulp_status status = ulp_learning_describe(lines, &learning);
    if (status == ULP_OK && t->ranks > 1) status = ulp_reduction_print(reduction, sizeof reduction, &t->reduction);
    ulp_lines_add(lines, "seed: %llu\n", (unsigned long long)t->pass.run.seed);
    ulp_lines_add(lines, "batch: %zu\n", t->batch);
    ulp_lines_add(lines, "ranks: %zu, reduction %s\n", t->ranks, reduction);
    ulp_lines_add(lines, "loss: %s\n", t->loss.kind->name);
    ulp_lines_add(lines, "data: %s, crc32 %08x, %zu for training of %zu\n", t->data->name, (unsigned)t->data->checksum,
                  t->data->n_train, t->data->n);
    return status;
}

static const ulp_arena *arena(const void *run, size_t i) { return i == 0 ? &((const ulp_trainer *)run)->arena : NULL; }

static const ulp_saved_kind trainer_kind = {describe, visit_state, arena};

ulp_status ulp_checkpoint_save(const ulp_trainer *t, const char *path, const void *note, size_t note_bytes,
                               ulp_error *error) {
    return ulp_saved_write(&trainer_kind, t, path, note, note_bytes, error);
}

ulp_status ulp_checkpoint_load(ulp_trainer *t, const char *path, void **note, size_t *note_bytes, ulp_error *error) {
    ULP_TRY(ulp_saved_read(&trainer_kind, t, t->step, path, note, note_bytes, error));
    t->epoch = 0; /* the next step makes the epoch's order again from the seed */
    return ULP_OK;
}
