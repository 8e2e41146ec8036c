/* lesson.h - a data set, the one network that learns it, and the options of its trainings, shared by all points.
 *
 *     typedef struct settings {
 *         ulp_lesson_settings lesson;    options: ULP_OPTION_NET(settings, lesson, "fc64 relu fc10", NULL, NULL),
 *         ...                                     ULP_OPTION_BATCH(settings, lesson, "100"), ...
 *                                                 ULP_OPTIONS_OF_RUNS(settings, lesson, "5", "2", NULL)
 *     typedef struct context {
 *         ulp_lesson lesson; // first
 *         ...
 *
 *     plan:    status = ulp_lesson_load(plan, &context->lesson, &settings->lesson);
 *              for each way to train: status = ulp_lesson_admit(plan, &context->lesson, &method, "NAME", full);
 *     compute: ulp_training training = ulp_lesson_training(&context->lesson, &method, seed);
 *
 * If the context owns nothing else, the experiment has ulp_lesson_release as its `release`.
 */
#ifndef ULP_TRAINING_LESSON_H
#define ULP_TRAINING_LESSON_H

#include "options.h"
#include "training.h"

typedef struct ulp_lesson_settings {
    const char *net, *set, *data;
    int64_t batch, seeds;
    int64_t epochs; /* of a training; 0 if the experiment counts steps */
    uint64_t seed;
    double checkpoint;
    const ulp_backend *backend;
    ulp_training_settings how;
} ulp_lesson_settings;

/* Options, bound to a field (ulp_lesson_settings) of the settings `s`. */
#define ULP_OPTION_NET(s, field, value_, quick_, full_)                                                                \
    ULP_OPTION_AS(s, field.net, "net", text, value_, .quick = quick_, .full = full_, .topic = "nets",                  \
                  .help = "the network, layer by layer or by name; gpt reads text, for which --batch 16 is usual")
#define ULP_OPTION_BATCH(s, field, value_)                                                                             \
    ULP_OPTION_AS(s, field.batch, "batch", integer, value_, .help = "samples per step", .min = 1, .max = 60000)
#define ULP_OPTION_EPOCHS(s, field, value_, quick_, full_)                                                             \
    ULP_OPTION_AS(s, field.epochs, "epochs", integer, value_, .quick = quick_, .full = full_,                          \
                  .help = "trips through the training part", .min = 1, .max = 1e5)
#define ULP_OPTIONS_OF_RUNS(s, field, seeds_, quick_, full_)                                                           \
    ULP_OPTION_SET(s, field.set), ULP_OPTION_SEED(s, field.seed),                                                      \
        ULP_OPTION_SEEDS(s, field.seeds, seeds_, quick_, full_), ULP_OPTION_CHECKPOINT(s, field.checkpoint),           \
        ULP_OPTION_BACKEND_OF(s, field.backend), ULP_OPTION_DATA(s, field.data), ULP_OPTIONS_TRAINING(s, field.how)

/* A way to train. */
typedef struct ulp_method {
    ulp_policy policy;
    ulp_scaler_rule scaler;
    ulp_optimizer_rule optimizer;
} ulp_method;

typedef struct ulp_lesson {
    const ulp_lesson_settings *settings;
    ulp_data data;
    ulp_net net;
    ulp_method plain; /* the policy and the scaler of ulp_lesson_plain() */
} ulp_lesson;

/* SGD with everything in binary32 and no loss scale. */
ulp_method ulp_method_sgd(double rate, double momentum);

/* SGD without roundings of its own: in binary32 without a loss scale, or, with --amp, as automatic mixed precision. */
ulp_method ulp_lesson_plain(const ulp_lesson *lesson, double rate, double momentum);

/* Loads the set, adds the header line "data", and reads the text of the network. A failure is reported in a sentence.
 * The caller calls ulp_lesson_release() after success and after failure. */
ulp_status ulp_lesson_load(ulp_plan *plan, ulp_lesson *lesson, const ulp_lesson_settings *settings);
void ulp_lesson_release(void *lesson); /* a ulp_lesson, or a struct that begins with one */

/* The number of steps in so many trips through the training part. */
uint64_t ulp_lesson_steps(const ulp_lesson *lesson, int64_t epochs);

/* Called by plan(). Refuses a method as ulp_policy_admit() and ulp_training_check() do. */
ulp_status ulp_lesson_admit(const ulp_plan *plan, const ulp_lesson *lesson, const ulp_method *method, const char *of,
                            char full[ULP_POLICY_TEXT_MAX]);

/* The options for a trainer, and a training of the epochs of the settings with a stretch for each epoch. The caller
 * sets record(). The method has to outlive both. */
ulp_train_options ulp_lesson_options(const ulp_lesson *lesson, const ulp_method *method, uint64_t seed);
ulp_training ulp_lesson_training(const ulp_lesson *lesson, const ulp_method *method, uint64_t seed);

#endif
