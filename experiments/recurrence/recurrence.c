/* recurrence.c - rounding errors that are fed back: how they grow through the time steps of recurrent networks.
 *
 * Parts:
 *   - random: an untrained Elman network of N units runs from h = 0. Its recurrent weights are U ~ N(0, gain^2 / N).
 *     Its 4 inputs are N(0, 1) with weights N(0, 1 / 64). The recurrence contracts, is near-critical or is chaotic,
 *     depending on the gain (Sompolinsky et al. 1988, doi:10.1103/PhysRevLett.61.259). Weights and inputs are numbers
 *     of both binary16 and bfloat16, so that only the state is rounded.
 *   - random, arithmetic `perturbed`: a run in binary64 with the first input moved by 2^-40. The slope of the log error
 *     over time is the Lyapunov exponent.
 *   - random-back: the same network backward in mixed precision, with and without a loss scale. dL/dh_T is N(0,1), and
 *     no other step has a loss.
 *   - trained: an Elman network, a GRU or an LSTM learns the digits in binary32. It reads a digit in pieces, from the
 *     top. It then answers again in fewer bits. In the arithmetics `mixed`, weights, states and gates are in the
 *     format, and sums are in binary32; e4m3 has a tensor scale.
 *   - trained-back: the same networks backward, from the loss gradient of the answers of binary32
 *   - training: the test accuracy of a training in few bits from the start. eps of Adam is 1e-4, because binary16
 *     rounds the usual 1e-8 to zero.
 *
 * Columns:
 *   - error, of a state: |h_t - h_t of binary64| / |h_t of binary64| in the Euclidean norm; the geometric mean over the
 *     sequences, each of which counts with at least 2^-53
 *   - error, of a gradient dL/dh_t: the same quotient against binary32, over all sequences together; empty if a
 *     gradient is Inf or NaN
 *   - size: the root mean square of the gradient in binary32
 *   - zeros: of the elements that are not zero in binary32, the share that binary16 or bfloat16 turns to zero
 *   - lost: the number of Inf and NaN, divided by the number of elements that are not zero in binary32
 *   - step: counts from 1 for states. For gradients it counts back from the last step, which is 0.
 *   - arithmetic, sums: the format of the state, and the format of sums: binary32, or the format of the state (`own`)
 */
#include "recurrence.h"

#include <stdlib.h>

#include "experiments/harness/training/options.h"

static int takes_format(const ulp_format *f) {
    return !f->is_fixed && f->is_signed && f->fits_binary32 && f->has_subnormals && f->prec >= 8 && f->emin <= -14 &&
           f->emax >= 15;
}

static const ulp_option options[] = {
    ULP_OPTION(settings, parts, choices, "random,trained,training", .quick = "random,trained", .words = RUN_WORDS,
               .help = "what to run; trained has the gradients"),
    ULP_OPTION_FORMATS_IF(
        settings, formats, "bf16,fp16,e8m13,e8m18,fp32", "bf16,fp16,e8m13", takes_format,
        "needs the weights' numbers, 8 bits of significand and the range of binary16, within binary32"),
    ULP_OPTION_MODES_OF(settings, modes, "rne,sr", NULL),
    ULP_OPTION(settings, sums, choices, "binary32,own", .words = "binary32 own",
               .help = "where the random network's sums are formed; own: to nearest"),
    ULP_OPTION(settings, gains, numbers, "0.5,1,2", .help = "of the random network's recurrent weights", .max = 16),
    ULP_OPTION(settings, units, integer, "64", .help = "of the random network", .min = 1, .max = 1024),
    ULP_OPTION(settings, steps, integer, "256", .quick = "128", .full = "512", .help = "of the random network",
               .min = 32, .max = ULP_STEPS_MAX),
    ULP_OPTION(settings, sequences, integer, "16", .quick = "8", .full = "64", .help = "of the random network",
               .min = 1, .max = 4096),
    ULP_OPTION(settings, cells, choices, "rnn,gru,lstm", .words = CELL_WORDS, .help = "kinds of trained layers"),
    ULP_OPTION(settings, hidden, integer, "16", .full = "64", .help = "units of the trained networks", .min = 1,
               .max = 1024),
    ULP_OPTION(settings, piece, integer, "4", .help = "pixels that a step reads; divides 64", .min = 1, .max = 64),
    ULP_OPTION(settings, epochs, integer, "5", .quick = "1", .full = "40", .help = "of training", .min = 1,
               .max = 1000),
    ULP_OPTION(settings, batch, integer, "32", .help = "samples per training step", .min = 1, .max = SAMPLES_MAX),
    ULP_OPTION(settings, optimizer, optimizer, "adam,rate=0.005,eps=1e-4", .help = "of the training"),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_SEEDS(settings, seeds, "2", NULL, "10"),
    ULP_OPTION_BACKEND_OF(settings, backend),
    ULP_OPTION_DATA(settings, data),
    ULP_OPTIONS_TRAINING(settings, how),
    {0},
};

static const ulp_column columns[] = {
    ULP_WORDS(row, part, PART_WORDS),
    ULP_WORDS(row, cell, CELL_WORDS),
    ULP_COLUMNS(row, gain, seed, arithmetic, bits, mode),
    ULP_WORDS(row, sums, SUMS_WORDS),
    ULP_COLUMNS(row, scale_log2, step, error, size, zeros, lost, accuracy),
    {0},
};

/* ---- reading of texts and data ---- */

static ulp_status read_policies(ulp_plan *plan, ulp_policy *to, const arithmetic *from, int n) {
    for (int i = 0; i < n; i++) ULP_TRY(ulp_plan_read_policy(plan, &to[i], from[i].policy, from[i].name));
    return ULP_OK;
}

static ulp_status read_arithmetics(ulp_plan *plan, const settings *s, context *x) {
    ulp_status status = ulp_plan_read_policy(plan, &x->fp32, "fp32", "the run in binary32");
    if (status == ULP_OK) status = read_policies(plan, x->answering, answering, ANSWERING);
    if (status == ULP_OK) status = read_policies(plan, x->backward, backward, BACKWARD);
    if (status == ULP_OK) status = read_policies(plan, x->learning, learning, LEARNING);
    x->own = ulp_grow(NULL, s->formats.count * sizeof *x->own);
    for (size_t f = 0; f < s->formats.count && status == ULP_OK; f++)
        status = ulp_plan_read_policy(plan, &x->own[f], s->formats.at[f].name, "--formats");
    return status;
}

static ulp_status read_data(ulp_plan *plan, const settings *s, ulp_data *data) {
    const size_t piece = (size_t)s->piece;
    ULP_TRY(ulp_set_load(plan, data, &(ulp_set){"digits", s->data, s->seed}));
    if (data->features % piece != 0)
        return ulp_plan_fail(plan, ULP_BAD_ARGUMENT, "--piece %zu: a digit has %zu pixels, the pieces have to fill it",
                             piece, data->features);
    data->dims = (ulp_dims){1, data->features / piece, piece};
    return ULP_OK;
}

/* ---- the grid ---- */

static ulp_status add_random(ulp_plan *plan, const settings *s, context *x) {
    char text[32];
    snprintf(text, sizeof text, "rnn%lld", (long long)s->units);
    for (size_t i = 0; i < s->gains.count; i++)
        for (int64_t k = 0; k < s->seeds; k++) {
            const point p = {.run = RUN_RANDOM, .gain = s->gains.at[i], .cell = RNN, .seed = s->seed + (uint64_t)k};
            ulp_plan_add(plan, &p, 1, "random gain %g seed %llu", p.gain, (unsigned long long)p.seed);
        }
    return ulp_plan_read_net(plan, &x->random_net, text, (ulp_dims){FEATURES, 1, (size_t)s->steps});
}

static ulp_status add_cell(ulp_plan *plan, const settings *s, context *x, int run, int c) {
    /* the trained networks learn in arithmetic 0, the runs `training` in the other arithmetics */
    const int first = run == RUN_TRAINING, end = run == RUN_TRAINING ? LEARNING : 1;
    const ulp_word cell = ulp_word_of(CELL_WORDS, (size_t)c);
    for (int64_t k = 0; k < s->seeds; k++)
        for (int p = first; p < end; p++) {
            const point at = {.run = run, .cell = c, .learning = p, .seed = s->seed + (uint64_t)k};
            ulp_plan_add(plan, &at, 1, "%s %s%s%s seed %llu", run == RUN_TRAINING ? "training" : "trained", cell.text,
                         first ? " " : "", first ? learning[p].name : "", (unsigned long long)at.seed);
        }
    return plan_training(plan, s, x, c, end);
}

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    context *x = plan->context;
    ulp_status status = read_data(plan, s, &x->data);
    if (status == ULP_OK) status = read_arithmetics(plan, s, x);
    if (status == ULP_OK && s->parts & 1 << RUN_RANDOM) status = add_random(plan, s, x);
    for (int run = RUN_TRAINED; run < RUNS; run++)
        for (int c = 0; c < CELLS && status == ULP_OK; c++)
            if (s->parts >> run & 1 && s->cells >> c & 1) status = add_cell(plan, s, x, run, c);
    return status;
}

static void release(void *shared) {
    context *x = shared;
    for (int c = 0; c < CELLS; c++) ulp_net_release(&x->net[c]);
    ulp_net_release(&x->random_net);
    ulp_data_release(&x->data);
    free(x->own);
}

static ulp_status compute(const ulp_task *task) {
    const int run = ((const point *)task->point)->run;
    return run == RUN_RANDOM    ? compute_random(task)
           : run == RUN_TRAINED ? compute_trained(task)
                                : compute_training(task);
}

const ulp_experiment experiment = {
    .name = "recurrence",
    .question = "does feedback through time steps make rounding errors grow?",
    ULP_EXPERIMENT_OF(settings, point, row),
    .context_size = sizeof(context),
    .release = release,
};
