/* gan.h - training of a generative adversarial network: a generator and a discriminator, each with its own policy.
 *
 * After Goodfellow et al. 2014, arXiv:1406.2661, algorithm 1 with one step of the discriminator. Step t of a run:
 *
 *  - The generator makes a batch of samples from latent vectors of normal numbers.
 *  - The discriminator takes the batch t of the data (in the order of train.h) as class 1, and the made samples as
 * class 0, in one pass. Its loss is the mean logistic loss of the data plus that of the made samples. It is updated.
 *  - The discriminator takes the made samples again, as class 1: the loss of the generator that does not saturate
 *    (section 3). The gradient passes back through the discriminator to its input, and from there through the
 * generator. The generator is updated.
 *
 * Each network has a policy, an optimizer and a scaler of its own, and skips its own updates. What holds at the border:
 *
 *  - Samples: the generator rounds its output, and the discriminator rounds its input, each at ULP_AT_ACT of its
 * policy.
 *  - Gradients: the policy of the discriminator rounds down to the gradient of its input. Then the policy of the
 *    generator rounds the gradient of the generator's output, as the gradient of a loss.
 *  - Scale: a loss scale belongs to a loss. In the pass that computes the gradient of the generator, the gradients
 * carry the scale of the generator's loss on the way through the discriminator, too, and the scaler of the generator
 * sees an overflow wherever it began. If each layer of the generator has a scale of its own, the whole discriminator
 * has the scale of the generator's last layer.
 *  - The gradients of the discriminator's weights in this pass are computed and not used.
 *
 * Random streams: the discriminator has the seed of the run, which is below 2^62; the generator has the seed plus 2^63,
 * and the discriminator in the pass of the generator's loss has the seed plus 2^62. So no two roundings share words.
 * The latent vectors are a function of seed, step and sample. With delayed tensor scales, the discriminator's history
 * has one column for both passes of a step.
 */
#ifndef ULP_GAN_H
#define ULP_GAN_H

#include "sim/train/train.h"

ULP_C_BEGIN

/* The rules of one of the two networks. A run copies what the pointers point to. */
typedef struct ulp_player_options {
    const ulp_net *net;
    const ulp_policy *policy;            /* NULL: "fp32" */
    const ulp_scaler_rule *scaler;       /* NULL: "none" */
    const ulp_optimizer_rule *optimizer; /* NULL: "sgd" */
} ulp_player_options;

typedef struct ulp_gan_options {
    ulp_player_options generator; /* its inputs are latent vectors, its outputs have the shape of the data's samples */
    ulp_player_options discriminator; /* its inputs have the shape of the data's samples, its output is one number */
    size_t batch;                     /* data per step, and made samples per step */
    uint64_t seed;                    /* below 2^62 */
    double init_std;                  /* standard deviation of initial weights; 0: He and Glorot */
    const ulp_backend *backend;       /* NULL: the default */
    int counting;                     /* 1: fill the counts of ulp_step;  changes no other result */
    double (*clock)(void);            /* seconds; may be NULL; fills the players' profiles and changes no result */
} ulp_gan_options;

/* The report of one step. */
typedef struct ulp_gan_report {
    uint64_t step; /* from 0 */
    ulp_step generator, discriminator;
    double right; /* share of the discriminator's samples, data and made ones, on the right side of 1/2 */
} ulp_gan_report;

/* One run in progress. The caller may read the fields. Each network is a ulp_trainer without a loss of its own. */
typedef struct ulp_gan {
    const ulp_data *data;
    ulp_trainer generator, discriminator; /* generator.step is the number of steps so far */
    size_t batch;

    float *
        border; /* (2 batch,features) backend memory: the gradient of the discriminator's input, before the generator */
    float *row; /* (2 batch) backend memory, scratch of the loss */
    float *host;   /* (room,latents) or (2 batch) host memory */
    double *exact; /* (2 batch) host memory */
} ulp_gan;

/* Check the options. Status and sentence are those of ulp_gan_new(). */
ulp_status ulp_gan_check(const ulp_data *data, const ulp_gan_options *options, ulp_error *error);

/* A run before its first step. `data` has to outlive the run. On failure *gan is NULL, and error (may be NULL) gets a
 * sentence. */
ulp_status ulp_gan_new(ulp_gan **gan, const ulp_data *data, const ulp_gan_options *options, ulp_error *error);

/* One step of both networks; report may be NULL. */
ulp_status ulp_gan_step(ulp_gan *gan, ulp_gan_report *report);

/* x (n,features), host memory = samples first .. first + n - 1 that the generator makes with its present weights. Their
 * latent vectors depend on the seed and the number of the sample, and not on the step. */
ulp_status ulp_gan_make(ulp_gan *gan, float *x, size_t first, size_t n);

void ulp_gan_free(ulp_gan *gan);

/* As ulp_checkpoint_save() and ulp_checkpoint_load() of checkpoint.h. */
ulp_status ulp_gan_save(const ulp_gan *gan, const char *path, const void *note, size_t note_bytes, ulp_error *error);
ulp_status ulp_gan_load(ulp_gan *gan, const char *path, void **note, size_t *note_bytes, ulp_error *error);

ULP_C_END
#endif
