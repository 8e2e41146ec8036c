/* foreign_training.c - training runs for other languages. */
#include "foreign_training.h"

#include "kernels/foreign/message.h"
#include "sim/named_nets.h"
#include "train.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ulp_foreign_run {
    ulp_data data;
    ulp_net net;
    ulp_policy policy, tail;
    uint64_t tail_step;
    ulp_scaler_rule scaler;
    ulp_optimizer_rule optimizer;
    const ulp_loss_kind *loss;
    ulp_trainer *trainer;
    ulp_observer observer;
    ulp_foreign_observer *see;
};

/* ---- the parts of a run ---- */

enum { BYTES, VALUES, TOKENS };

static ulp_status check_samples(const ulp_data *data, uint64_t kind, uint64_t white, const uint8_t *tokens,
                                const uint8_t *labels, ulp_error *error) {
    const size_t most = data->positions ? 256 : 255;
    if (data->n < 1 || data->n_train < 1 || data->n_train > data->n || data->features < 1 || data->classes < 1 ||
        data->classes > most || kind > TOKENS || white > 255 || (kind == BYTES && white < 1))
        return ulp_fail(
            error, ULP_BAD_ARGUMENT,
            "images need at least one sample for training, one pixel, 1 to %zu classes, and a white of 1 to 255", most);
    for (size_t i = 0; i < data->n * data->labels; i++)
        if (labels[i] >= data->classes)
            return ulp_fail(error, ULP_BAD_ARGUMENT, "a label is not below the number of classes");
    for (size_t i = 0; i < data->n * data->features && kind == TOKENS; i++)
        if (tokens[i] >= data->classes)
            return ulp_fail(error, ULP_BAD_ARGUMENT, "a token is not below the number of classes");
    return ULP_OK;
}

/* The samples of the caller as a data set. */
static ulp_status take_images(ulp_data *data, const uint64_t *number, const void *samples, const uint8_t *labels,
                              ulp_error *error) {
    const uint64_t kind = number[ULP_FOREIGN_IMAGES_KIND], white = number[ULP_FOREIGN_IMAGES_WHITE],
                   places = number[ULP_FOREIGN_IMAGES_LABELS];
    const ulp_dims dims = {number[ULP_FOREIGN_IMAGES_C], number[ULP_FOREIGN_IMAGES_H], number[ULP_FOREIGN_IMAGES_W]};
    ulp_data own = {.name = "images",
                    .n = number[ULP_FOREIGN_IMAGES],
                    .n_train = number[ULP_FOREIGN_IMAGES_TRAIN],
                    .dims = dims,
                    .features = ulp_dims_size(dims),
                    .classes = number[ULP_FOREIGN_IMAGES_CLASSES],
                    .labels = places ? places : 1,
                    .positions = places != 0,
                    .tokens = kind == TOKENS,
                    .white = (uint8_t)(kind == TOKENS ? 1 : white)};
    ULP_TRY(check_samples(&own, kind, white, samples, labels, error));
    const size_t n = own.n * own.features, bytes = n * (kind == VALUES ? sizeof *own.value : sizeof *own.pixel);
    void *const copy = malloc(bytes);
    own.label = malloc(own.n * own.labels);
    if (kind == VALUES) own.value = copy;
    else own.pixel = copy;
    *data = own;
    if (copy == NULL || own.label == NULL) return ULP_NO_MEMORY;
    memcpy(copy, samples, bytes);
    memcpy(own.label, labels, own.n * own.labels);
    return ULP_OK;
}

/* Reads STEP:POLICY. */
static ulp_status read_tail(ulp_foreign_run *run, const char *text, ulp_error *error) {
    char *end;
    errno = 0;
    const unsigned long long step = strtoull(text, &end, 10);
    if (end == text || *end != ':' || errno || text[0] < '0' || text[0] > '9')
        return ulp_fail(error, ULP_BAD_ARGUMENT, "tail '%s': it is STEP:POLICY, as 1000:fp32", text);
    run->tail_step = step;
    const ulp_status status = ulp_policy_parse(&run->tail, end + 1, error);
    return status == ULP_OK ? ULP_OK : ulp_fail_within(error, status, "tail");
}

/* Reads the texts into the run. */
static ulp_status read_texts(ulp_foreign_run *run, const char *const *text, uint64_t seed, const uint64_t *images,
                             const void *samples, const uint8_t *labels, ulp_error *error) {
    const char *data = text[ULP_FOREIGN_RUN_DATA], *loss = text[ULP_FOREIGN_RUN_LOSS], *net = text[ULP_FOREIGN_RUN_NET],
               *policy = text[ULP_FOREIGN_RUN_POLICY], *scaler = text[ULP_FOREIGN_RUN_SCALER],
               *optimizer = text[ULP_FOREIGN_RUN_OPTIMIZER];
    char layers[ULP_NAMED_LAYERS_MAX];
    ULP_TRY(data != NULL ? ulp_data_load(&run->data, data, text[ULP_FOREIGN_RUN_FOLDER], seed, error)
                         : take_images(&run->data, images, samples, labels, error));
    net = ulp_named_net_words(layers, net != NULL ? net : "", &run->data);
    ULP_TRY(ulp_net_parse(&run->net, net, run->data.dims, error));
    if (policy != NULL) ULP_TRY(ulp_policy_parse(&run->policy, policy, error));
    if (text[ULP_FOREIGN_RUN_TAIL] != NULL) ULP_TRY(read_tail(run, text[ULP_FOREIGN_RUN_TAIL], error));
    if (scaler != NULL) ULP_TRY(ulp_scaler_parse(&run->scaler, scaler, error));
    if (optimizer != NULL) ULP_TRY(ulp_optimizer_parse(&run->optimizer, optimizer, error));
    if (loss != NULL) ULP_TRY(ulp_loss_parse(&run->loss, loss, error));
    return ULP_OK;
}

/* ---- runs ---- */

void ulp_foreign_run_release(ulp_foreign_run *run) {
    if (run == NULL) return;
    ulp_trainer_free(run->trainer);
    ulp_net_release(&run->net);
    ulp_data_release(&run->data);
    free(run);
}

ulp_status ulp_foreign_run_new(ulp_foreign_run **run, const char *const texts[ULP_FOREIGN_RUN_TEXTS], uint64_t batch,
                               uint64_t seed, double init_std, const uint64_t images[ULP_FOREIGN_IMAGES_NUMBERS],
                               const void *samples, const uint8_t *labels) {
    ulp_error error = {0};
    const ulp_backend *backend;
    ulp_status status = ulp_foreign_backend(&backend, texts[ULP_FOREIGN_RUN_BACKEND]);
    if (status != ULP_OK) return status;
    ulp_foreign_run *const made = ulp_foreign_object(sizeof *made);
    if (made == NULL) return ULP_NO_MEMORY;
    status = read_texts(made, texts, seed, images, samples, labels, &error);
    const ulp_train_options options = {.net = &made->net,
                                       .policy = texts[ULP_FOREIGN_RUN_POLICY] ? &made->policy : NULL,
                                       .scaler = texts[ULP_FOREIGN_RUN_SCALER] ? &made->scaler : NULL,
                                       .optimizer = texts[ULP_FOREIGN_RUN_OPTIMIZER] ? &made->optimizer : NULL,
                                       .loss = made->loss,
                                       .batch = batch,
                                       .seed = seed,
                                       .init_std = init_std,
                                       .backend = backend,
                                       .tail = texts[ULP_FOREIGN_RUN_TAIL] ? &made->tail : NULL,
                                       .tail_step = made->tail_step};
    if (status == ULP_OK) status = ulp_trainer_new(&made->trainer, &made->data, &options, &error);
    if (status == ULP_OK) {
        *run = made;
        return ULP_OK;
    }
    ulp_foreign_run_release(made);
    return ulp_foreign_fail(status, "%s", error.text[0] != '\0' ? error.text : ulp_status_text(status));
}

uint64_t ulp_foreign_run_number(const ulp_foreign_run *run, int which) {
    switch (which) {
    case ULP_FOREIGN_PARAMS: return run->net.params;
    case ULP_FOREIGN_LAYERS: return run->net.count;
    case ULP_FOREIGN_SAMPLES_TRAIN: return run->data.n_train;
    case ULP_FOREIGN_SAMPLES: return run->data.n;
    case ULP_FOREIGN_FEATURES: return run->data.features;
    default: return run->data.classes;
    }
}

const char *ulp_foreign_run_layer(const ulp_foreign_run *run, uint64_t i, uint64_t *first, uint64_t *n) {
    if (i >= run->net.count) return NULL;
    const ulp_layer *layer = &run->net.layers[i];
    *first = layer->first_param;
    *n = layer->params;
    return layer->word;
}

/* ---- steps ---- */

static void show(void *context, const ulp_observation *o) {
    const ulp_foreign_run *run = context;
    run->see((int)o->point, o->layer, o->step, o->scale_log2, o->n, o->raw, o->rounded);
}

void ulp_foreign_run_observe(ulp_foreign_run *run, ulp_foreign_observer *observer, uint32_t points) {
    run->see = observer;
    run->observer = (ulp_observer){show, run, points};
    run->trainer->observer = observer != NULL ? &run->observer : NULL;
}

const char *ulp_foreign_point(int i) { return i >= 0 && i < ULP_AT_COUNT ? ulp_point_name((ulp_point_kind)i) : NULL; }

ulp_status ulp_foreign_run_step(ulp_foreign_run *run, double report[4]) {
    ulp_step step = {0};
    const ulp_status status = ulp_trainer_step(run->trainer, &step);
    report[0] = step.loss;
    report[1] = step.scale_log2;
    report[2] = step.overflow;
    report[3] = step.skipped;
    return ulp_foreign_status(status, run->trainer->pass.run.backend, "a training step");
}

ulp_status ulp_foreign_run_score(ulp_foreign_run *run, int test, double score[4]) {
    ulp_score found = {0};
    const ulp_status status = ulp_trainer_score(run->trainer, test ? ULP_TEST_PART : ULP_TRAIN_PART, &found);
    score[0] = found.loss;
    score[1] = found.accuracy;
    score[2] = found.label_error;
    score[3] = (double)found.n;
    return ulp_foreign_status(status, run->trainer->pass.run.backend, "a score");
}

ulp_status ulp_foreign_run_weights(const ulp_foreign_run *run, float *w, float *master) {
    return ulp_foreign_status(ulp_trainer_weights(run->trainer, w, master), run->trainer->pass.run.backend,
                              "the weights");
}
