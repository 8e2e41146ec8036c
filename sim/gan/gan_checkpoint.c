/* gan_checkpoint.c - what a checkpoint of a run of two networks holds; see gan_checkpoint.h. */
#include "gan_checkpoint.h"

#include "base/fail.h"
#include "sim/train/saved.h"

static ulp_learning learning_of(const ulp_player *player) {
    ulp_player *p = (ulp_player *)player; /* saving reads the fields, loading writes them */
    return (ulp_learning){.net = &p->model.net,
                          .policy = &p->policy,
                          .start_rule = &p->start_rule,
                          .scaler = &p->scaler,
                          .scales = &p->loss_scales,
                          .optimizer = &p->optimizer,
                          .history = &p->pass.history};
}

static int visit_state(const void *run, ulp_state_visitor visit, void *context) {
    ulp_gan *g = (ulp_gan *)run;
    const ulp_learning generator = learning_of(&g->generator), discriminator = learning_of(&g->discriminator);
    return visit(context, &g->step, sizeof g->step) && ulp_learning_visit(&generator, visit, context) &&
           ulp_learning_visit(&discriminator, visit, context);
}

static ulp_status describe(ulp_lines *lines, const void *run) {
    const ulp_gan *g = run;
    const ulp_learning generator = learning_of(&g->generator), discriminator = learning_of(&g->discriminator);
    ulp_lines_add(lines, "generator\n");
    ulp_status status = ulp_learning_describe(lines, &generator);
    ulp_lines_add(lines, "discriminator\n");
    if (status == ULP_OK) status = ulp_learning_describe(lines, &discriminator);
    ulp_lines_add(lines, "seed: %llu\n", (unsigned long long)g->discriminator.pass.run.seed);
    ulp_lines_add(lines, "batch: %zu\n", g->batch);
    ulp_lines_add(lines, "data: %s, crc32 %08x, %zu for training of %zu\n", g->data->name, (unsigned)g->data->checksum,
                  g->data->n_train, g->data->n);
    return status;
}

static const ulp_arena *arena(const void *run, size_t i) {
    const ulp_gan *g = run;
    return i == 0 ? &g->generator.arena : i == 1 ? &g->discriminator.arena : NULL;
}

static const ulp_saved_kind gan_kind = {describe, visit_state, arena};

ulp_status ulp_gan_save(const ulp_gan *g, const char *path, const void *note, size_t note_bytes, char *error,
                        size_t error_size) {
    return ulp_saved_write(&gan_kind, g, path, note, note_bytes, error, error_size);
}

ulp_status ulp_gan_load(ulp_gan *g, const char *path, void **note, size_t *note_bytes, char *error, size_t error_size) {
    ulp_saved_note stored = {0};
    *note = NULL;
    *note_bytes = 0;
    if (g->step) return ulp_fail(error, error_size, ULP_BAD_ARGUMENT, "%s: the run has begun already", path);
    const ulp_status status = ulp_saved_read(&gan_kind, g, path, &stored, error, error_size);
    if (status != ULP_OK) return status;
    *note = stored.bytes;
    *note_bytes = stored.n;
    g->epoch = 0; /* the next step makes the epoch's order again from the seed */
    return ULP_OK;
}
