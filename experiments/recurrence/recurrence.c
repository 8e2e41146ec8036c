/* recurrence.c - rounding errors that are fed back: how they grow through the time steps of recurrent networks.
 *
 * random: an Elman network of N units, U ~ N(0, gain^2 / N), 4 inputs N(0, 1) with weights N(0, 1 / 64), nothing
 * trained, runs from h = 0: the recurrence contracts, is near-critical or chaotic, by its gain (Sompolinsky et al.
 * 1988, doi:10.1103/PhysRevLett.61.259). Weights and inputs are numbers of binary16 and of bfloat16 at once, so that
 * only the state is rounded. `perturbed` runs in binary64 with the first input moved by 2^-40: the slope of log error
 * against time is the Lyapunov exponent. random-back: dL/dh_T is N(0,1), no other step has a loss; backward in mixed
 * precision, with and without a loss scale. trained: the digits read in pieces, from the top; an Elman network, GRU or
 * LSTM trained in binary32 answers again in fewer bits (mixed: weights, states and gates in the format, sums in
 * binary32; e4m3 with a scale per tensor). trained-back: the same networks backward from the loss gradient that
 * binary32's answers have. training: test accuracy of training from the start. Adam's eps is 1e-4: binary16 rounds the
 * usual 1e-8 to zero.
 *
 * error of a state: |h_t - h_t of binary64| / |h_t of binary64|, Euclidean, geometric mean over the sequences, each at
 * least 2^-53; of a gradient dL/dh_t: the same quotient against binary32's, over all sequences together, empty where
 * one is Inf or NaN. size: the root mean square of binary32's gradient. zeros: the share that binary16 or bfloat16 made
 * zero of what is not zero in binary32. lost: Inf and NaN, over what is not zero in binary32. step counts from 1, for
 * gradients back from the last step, which is 0. arithmetic, sums: the state is rounded to a format, sums are in
 * binary32 or in the format (`own`).
 */
#include <stdio.h>

#include "experiments/harness/training/load.h"
#include "recurrence.h"

static const ulp_option options[] = {
    {"parts", ULP_OPTION_CHOICES, "random,trained,training", "random,trained", NULL,
     "what to run; trained has the gradients", 0, 0, "random trained training", 0},
    ULP_TAKES_FORMATS("bf16,fp16,e8m13,e8m18,fp32", "bf16,fp16,e8m13"),
    ULP_TAKES_MODES("rne,sr", NULL),
    {"sums", ULP_OPTION_CHOICES, "binary32,own", NULL, NULL,
     "where the random network's sums are formed; own: to nearest", 0, 0, "binary32 own", 0},
    {"gains", ULP_OPTION_NUMBERS, "0.5,1,2", NULL, NULL, "of the random network's recurrent weights", 0, 16, NULL, 0},
    {"units", ULP_OPTION_INTEGER, "64", NULL, NULL, "of the random network", 1, 1024, NULL, 0},
    {"steps", ULP_OPTION_INTEGER, "256", "128", "512", "of the random network", 32, ULP_STEPS_MAX, NULL, 0},
    {"sequences", ULP_OPTION_INTEGER, "16", "8", "64", "of the random network", 1, 4096, NULL, 0},
    {"cells", ULP_OPTION_CHOICES, "rnn,gru,lstm", NULL, NULL, "kinds of trained layers", 0, 0, "rnn gru lstm", 0},
    {"hidden", ULP_OPTION_INTEGER, "16", "16", "64", "units of the trained networks", 1, 1024, NULL, 0},
    {"piece", ULP_OPTION_INTEGER, "4", NULL, NULL, "pixels that a step reads; divides 64", 1, 64, NULL, 0},
    {"epochs", ULP_OPTION_INTEGER, "5", "1", "40", "of training", 1, 1000, NULL, 0},
    {"batch", ULP_OPTION_INTEGER, "32", NULL, NULL, "samples per training step", 1, 256, NULL, 0},
    {"optimizer", ULP_OPTION_TEXT, "adam,rate=0.005,eps=1e-4", NULL, NULL, "of the training", 0, 0, NULL, 0},
    ULP_TAKES_SEED,
    ULP_TAKES_SEEDS("3", "2", "10"),
    ULP_TAKES_BACKEND,
    ULP_TAKES_DATA,
    {0},
};

static const char *const parts[PARTS] = {"random", "trained", "training"};

static int takes_format(const ulp_format *f) {
    return !f->is_fixed && f->is_signed && f->fits_binary32 && f->has_subnormals && f->prec >= 8 && f->emin <= -14 &&
           f->emax >= 15;
}

static void add_points(ulp_run *run, int part, int which, const char *name) {
    for (int64_t s = 0; s < ulp_option_integer(run, "seeds"); s++) {
        ulp_point point = {.at = {part, which, (int64_t)ulp_run_seed(run) + s}};
        /* the first arithmetic of training is what the trained networks learn in */
        for (size_t p = part == TRAINING ? 1 : 0; p < (part == TRAINING ? LEARNING : 1); p++) {
            point.at[AT_POLICY] = (int64_t)p;
            if (part != TRAINING)
                ulp_point_add(run, point, "%s %s seed %lld", parts[part], name, (long long)point.at[AT_SEED]);
            else
                ulp_point_add(run, point, "%s %s %s seed %lld", parts[part], name, learning[p].name,
                              (long long)point.at[AT_SEED]);
        }
    }
}

static ulp_status prepare(ulp_run *run, void **context) {
    char name[32];
    size_t gains, piece = (size_t)ulp_option_integer(run, "piece");
    const double *gain = ulp_option_numbers(run, "gains", &gains);
    ulp_status status = ulp_context_prepare(run, context, "digits");
    if (status != ULP_OK) return status;
    ulp_data *data = *context;
    if (data->features % piece != 0)
        return ulp_run_fail(run, ULP_BAD_ARGUMENT, "--piece %zu: a digit has %zu pixels, the pieces have to fill it",
                            piece, data->features);
    data->dims = (ulp_dims){1, data->features / piece, piece};
    for (size_t i = 0; i < gains && ulp_option_chosen(run, "parts", "random"); i++) {
        snprintf(name, sizeof name, "gain %g", gain[i]);
        add_points(run, RANDOM, (int)i, name);
    }
    for (int part = TRAINED; part < PARTS; part++)
        for (int c = 0; c < CELLS && status == ULP_OK; c++) {
            if (!ulp_option_chosen(run, "parts", parts[part]) || !ulp_option_chosen(run, "cells", cells[c].name))
                continue;
            status = check_training(run, data, &(ulp_point){.at = {part, c}});
            add_points(run, part, c, cells[c].name);
        }
    return status;
}

static ulp_status compute(const ulp_run *run, const void *context, const ulp_point *point, ulp_rows *rows) {
    if (point->at[AT_PART] == RANDOM) return compute_random(run, point, rows);
    if (point->at[AT_PART] == TRAINED) return compute_trained(run, context, point, rows);
    return compute_training(run, context, point, rows);
}

static void check(ulp_run *run, const void *context) {
    (void)context;
    check_claims(run);
}

static const ulp_experiment experiment = {
    .name = "recurrence",
    .question = "does feedback through time steps make rounding errors grow?",
    .columns = "part,cell,gain,seed,arithmetic,bits,mode,sums,scale_log2,step,error,size,zeros,lost,accuracy",
    .options = options,
    .takes_format = takes_format,
    .format_wants = "needs the weights' numbers, 8 bits of significand and the range of binary16, within binary32",
    .prepare = prepare,
    .compute = compute,
    .check = check,
    .release = ulp_context_release,
};

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
