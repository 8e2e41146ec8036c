/* claims.c - the tables of recurrence, and the claims about its rows. */
#include "curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/harness/claims/spread.h"
#include "kernels/functions/elementary.h"

static const double log_2 = 0x1.62e42fefa39efp-1;

static double least_of(double a, double b) { return isnan(a) || b < a ? b : a; }
static double most_of(double a, double b) { return isnan(a) || b > a ? b : a; }

/* ---- random networks ---- */

/* The Lyapunov exponent of a perturbed run: the slope of the log error, up to an error of 1e-3. The slope begins at
 * step 2 if the perturbation decays, and at step 16 if it grows. */
static double exponent_of(const curve *c, int decays) {
    double to = reaches(c, 1e-3);
    if (isnan(to)) to = ULP_STEPS_MAX;
    /* a decaying perturbation ends where only the rounding errors of binary64 are left */
    for (int i = c->n; i-- > 0 && decays;)
        if (c->value[i] < 1e-14) to = c->step[i];
    return slope(c, decays ? 2 : 16, to);
}

#define ERROR offsetof(row, error)

/* The Lyapunov exponent of the network of a row. */
static double exponent_at(const ulp_claims *c, const row *network, int decays) {
    const row like = {.part = RANDOM, .gain = network->gain, .seed = network->seed, .arithmetic = "perturbed"};
    curve moved;
    read_curve(&moved, c, &like, GAIN | SEED | ARITHMETIC, ERROR);
    return exponent_of(&moved, decays);
}

/* A network is chaotic if its perturbation grows by 0.05 a step or more. With as few units as here, some networks with
 * a gain above 1 are not chaotic. */
static int is_chaotic(const ulp_claims *c, const row *network) { return exponent_at(c, network, 0) >= 0.05; }

static const row perturbed = {.part = RANDOM, .arithmetic = "perturbed"};

/* The first gain at which all networks contract by 0.1 a step or more. NaN if there is none. */
static double contracting_gain(const ulp_claims *c) {
    const row *r, *other;
    for (size_t i = 0; (r = next_run(c, &i, &perturbed, ARITHMETIC)) != NULL; i++) {
        int all = 1;
        for (size_t k = 0; (other = next_run(c, &k, r, ARITHMETIC | GAIN)) != NULL; k++)
            all &= exponent_at(c, other, 1) <= -0.1;
        if (all) return r->gain;
    }
    return NAN;
}

/* The first gain of a chaotic network. NaN if there is none. */
static double chaotic_gain(const ulp_claims *c) {
    const row *r;
    for (size_t i = 0; (r = next_run(c, &i, &perturbed, ARITHMETIC)) != NULL; i++)
        if (is_chaotic(c, r)) return r->gain;
    return NAN;
}

/* Up to a gain of 1/2 every network contracts, because the norm of its weights is about 2 gain, and tanh' <= 1. */
static void claim_regimes(ulp_claims *c) {
    const char *text =
        "Lyapunov exponents: every network below -0.1 at gains from 0.2 to 0.5; at gains from 2 to 4 the "
        "mean over networks above 0, within three standard errors";
    const row *r;
    double contracting = NAN;
    ulp_numbers grown = {0};
    for (size_t i = 0; (r = next_run(c, &i, &perturbed, ARITHMETIC)) != NULL; i++) {
        const double exponent = exponent_at(c, r, r->gain <= 0.5);
        /* below a gain of 0.2 the perturbation vanishes before it shows a slope */
        if (r->gain >= 0.2 && r->gain <= 0.5) contracting = most_of(contracting, exponent);
        if (r->gain >= 2 && r->gain <= 4) ulp_numbers_add(&grown, exponent);
    }
    const ulp_spread growth = ulp_numbers_take(&grown);
    const double error = growth.sd / sqrt(growth.n);
    if ((isnan(contracting) && growth.n < 2) || ((const settings *)c->settings)->units < 64)
        ulp_claim_skip(c, text, "needs such gains, two networks or more, and at least 64 units");
    else
        ulp_claim(c, !(contracting >= -0.1) && !(growth.mean + 3 * error <= 0), text,
                  "at most %.3f; mean %.3f, standard error %.3f", contracting, growth.mean, error);
}

static void claim_bounded(ulp_claims *c, double gain) {
    const char *text =
        "contracting network: after step 32 no error is over twice that at step 32, in any format, mode and sum";
    const row *r;
    double worst = 0;
    curve error;
    for (size_t i = 0; (r = next_run(c, &i, &(row){.part = RANDOM, .gain = gain}, GAIN)) != NULL; i++) {
        if (r->sums == SUMS_BINARY64) continue;
        read_curve(&error, c, r, RUN, ERROR);
        for (int k = 32; k < error.n; k++) worst = fmax(worst, error.value[k] / error.value[31]);
    }
    if (worst > 0) ulp_claim(c, worst <= 2, text, "gain %g: at most %.3g times", gain, worst);
    else ulp_claim_skip(c, text, "no gain at which all seeds contract by 0.1 a step, or only 32 steps");
}

/* The error of runs, divided by the error of the runs with rounding to nearest and sums in binary32: the mean over
 * formats of up to 16 bits, seeds and steps from 32 on. */
static double mean_quotient(const ulp_claims *c, const row *these) {
    const row *r;
    double sum = 0;
    size_t n = 0;
    curve a, b;
    for (size_t i = 0; (r = next_run(c, &i, these, GAIN | MODE | SUMS)) != NULL; i++) {
        row plain = *r;
        if (r->bits > 16) continue; /* wider formats also show the errors of sums in binary32 */
        plain.mode = "rne";
        plain.sums = SUMS_BINARY32;
        read_curve(&a, c, r, RUN, ERROR);
        read_curve(&b, c, &plain, RUN, ERROR);
        for (int k = 31; k < a.n && a.n == b.n; k++, n++) sum += a.value[k] / b.value[k];
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

static void claim_quotients(ulp_claims *c, double gain) {
    const char *sr = "contracting network: stochastic rounding of the state makes errors sqrt(2) times as large as "
                     "rounding to nearest, within 10 % "
                     "(its variance is twice that of rounding to nearest)";
    const char *own =
        "contracting network: sums in the state's own format cost over 3 times the error of sums in binary32";
    const int64_t units = ((const settings *)c->settings)->units;
    double q = mean_quotient(c, &(row){.part = RANDOM, .gain = gain, .mode = "sra", .sums = SUMS_BINARY32});
    if (isnan(q)) ulp_claim_skip(c, sr, "needs both modes, rne and sr, and a contracting gain");
    else ulp_claim(c, fabs(q / sqrt(2) - 1) <= 0.1, sr, "%.3f times", q);
    q = mean_quotient(c, &(row){.part = RANDOM, .gain = gain, .mode = "rne", .sums = SUMS_OWN});
    if (isnan(q) || units < 64) ulp_claim_skip(c, own, "needs both sums, a contracting gain and at least 64 units");
    else ulp_claim(c, q > 3, own, "%.2f times, %lld units", q, (long long)units);
}

/* The relative error of a rounding is between u / 2 and u, depending on the place of the number in its binade. The
 * errors of one format are therefore alike to within one bit. A comparison of two steps has an uncertainty of one bit
 * at each step. */
static const double uncertain_bits = 2;

/* Claims that the error of a format grows as a perturbation does. Measures the difference in bits, from step 16 to the
 * step at which the mean error over the sequences reaches 0.01. Beyond it the errors of some sequences are so large
 * that they grow no more. */
static void claim_slope(ulp_claims *c, double gain) {
    const char *text =
        "chaotic network: the error of every format grows by the network's Lyapunov exponent, within one "
        "bit at either end (where it takes 20 steps from 16 on to reach 0.01)";
    const row these = {.part = RANDOM, .gain = gain, .mode = "rne", .sums = SUMS_BINARY32}, *r;
    ulp_numbers more = {0};
    curve error, moved;
    for (size_t i = 0; (r = next_run(c, &i, &these, GAIN | MODE | SUMS)) != NULL; i++) {
        row other = *r;
        if (!is_chaotic(c, r)) continue;
        other.arithmetic = "perturbed";
        read_curve(&error, c, r, RUN, ERROR);
        read_curve(&moved, c, &other, GAIN | SEED | ARITHMETIC, ERROR);
        double to = reaches(&error, 0.01);
        if (isnan(to)) to = error.step[error.n - 1];
        if (to >= 36) ulp_numbers_add(&more, (slope(&error, 16, to) - slope(&moved, 16, to)) * (to - 16) / log_2);
    }
    const ulp_spread bits = ulp_numbers_take(&more);
    if (bits.n)
        ulp_claim(c, bits.least >= -uncertain_bits && bits.most <= uncertain_bits, text,
                  "gain %g, %d run%s: from %+.2f to %+.2f bits", gain, bits.n, ulp_plural((size_t)bits.n), bits.least,
                  bits.most);
    else ulp_claim_skip(c, text, "no network grows by 0.05 a step, or no format lasts");
}

/* The step at which the error of a format reaches 0.1 in the network of a row. NaN if there is none. */
static double horizon(const ulp_claims *c, const row *network, const char *format) {
    row these = *network;
    curve error;
    these.arithmetic = format;
    these.mode = "rne";
    these.sums = SUMS_BINARY32;
    read_curve(&error, c, &these, RUN, ERROR);
    return reaches(&error, 0.1);
}

/* For one network: the bits that the steps between the first and the last horizon stand for, minus the bits by which
 * the two formats differ. *steps_a_bit gets the number of steps per bit. NaN if there are less than two horizons. */
static double bits_bought(const ulp_claims *c, const row *network, double *steps_a_bit) {
    const settings *s = c->settings;
    double few = 1e9, many = 0, first = NAN, last = NAN;
    for (size_t f = 0; f < s->formats.count; f++) {
        const double bits = s->formats.at[f].prec, h = horizon(c, network, s->formats.at[f].name);
        /* formats above 19 bits also show the errors of sums in binary32 */
        if (isnan(h) || bits > 19) continue;
        if (bits < few) few = bits, first = h;
        if (bits > many) many = bits, last = h;
    }
    if (!(many > few)) return NAN;
    *steps_a_bit = (last - first) / (many - few);
    return (last - first) * exponent_at(c, network, 0) / log_2 - (many - few);
}

static void claim_horizon(ulp_claims *c, double gain) {
    const char *text = "chaotic network: a bit more of significand buys ln 2 / (Lyapunov exponent) more steps below an "
                       "error of 0.1, within one bit at either end, in the mean over networks";
    const row *r;
    double sum = 0, steps = 0, expected = 0;
    int n = 0;
    for (size_t i = 0; (r = next_run(c, &i, &(row){.part = RANDOM, .gain = gain, .arithmetic = "perturbed"},
                                     GAIN | ARITHMETIC)) != NULL;
         i++) {
        double steps_a_bit = 0;
        const double bits = is_chaotic(c, r) ? bits_bought(c, r, &steps_a_bit) : (double)NAN;
        if (isnan(bits)) continue;
        sum += bits;
        steps += steps_a_bit;
        expected += log_2 / exponent_at(c, r, 0);
        n++;
    }
    if (n == 0) ulp_claim_skip(c, text, "needs a network that grows by 0.05 a step and two formats that reach 0.1");
    else
        ulp_claim(c, fabs(sum / n) <= uncertain_bits, text,
                  "%d networks: %.2f steps a bit, %.2f expected; off by %+.2f bits", n, steps / n, expected / n,
                  sum / n);
}

static void print_random(const ulp_claims *c) {
    const int64_t seed = (int64_t)((const settings *)c->settings)->seed;
    const row *r;
    curve error;
    ulp_sheet *table = ulp_sheet_new("random networks: relative error of the state, to nearest, first seed",
                                     "gain,format,sums,step 1,8,32,last");
    for (size_t i = 0; (r = next_run(c, &i, &(row){.part = RANDOM, .seed = seed, .mode = "rne"}, SEED | MODE)) != NULL;
         i++) {
        read_curve(&error, c, r, RUN, ERROR);
        ulp_sheet_put_row(table, "%g,%s,%s,%.3g,%.3g,%.3g,%.3g", r->gain, r->arithmetic,
                          ulp_word_of(SUMS_WORDS, (size_t)r->sums).text, error.value[0], error.value[7],
                          error.value[31], error.value[error.n - 1]);
    }
    ulp_sheet_print(table, c->file);
}

/* Puts the numbers that the figure writes, as means over the seeds: the exponent of each gain, and the horizon of each
 * format in chaotic networks. */
static void sum_up(ulp_claims *c, double contracting, double chaotic) {
    const settings *s = c->settings;
    const row *r;
    ulp_numbers numbers = {0};
    ulp_summary(c, "gain", contracting, "contracting");
    ulp_summary(c, "gain", chaotic, "chaotic");
    for (size_t g = 0; g < s->gains.count; g++) {
        const row these = {.part = RANDOM, .gain = s->gains.at[g], .arithmetic = "perturbed"};
        for (size_t i = 0; (r = next_run(c, &i, &these, GAIN | ARITHMETIC)) != NULL; i++)
            ulp_numbers_add(&numbers, exponent_at(c, r, r->gain <= 0.5));
        ulp_summary(c, "exponent", ulp_numbers_take(&numbers).mean, "gain %g", s->gains.at[g]);
    }
    for (size_t f = 0; f < s->formats.count; f++) {
        const row these = {.part = RANDOM, .gain = chaotic, .arithmetic = "perturbed"};
        for (size_t i = 0; (r = next_run(c, &i, &these, GAIN | ARITHMETIC)) != NULL; i++)
            ulp_numbers_add(&numbers, horizon(c, r, s->formats.at[f].name));
        ulp_summary(c, "horizon", ulp_numbers_take(&numbers).mean, "%d bits", s->formats.at[f].prec);
    }
}

/* ---- random networks, backward ---- */

static void claim_vanishing(ulp_claims *c, double gain) {
    const char *text = "contracting network, backward: a loss scale of 2^12 delays the step at which binary16 has lost "
                       "half of the gradient "
                       "by 12 ln 2 / (its decay a step), within 15 %";
    const row these = {.part = RANDOM_BACK, .gain = gain, .arithmetic = "binary32"}, *r;
    ulp_numbers quotients = {0};
    double late = 0;
    curve plain, scaled, size;
    for (size_t i = 0; (r = next_run(c, &i, &these, GAIN | ARITHMETIC)) != NULL; i++) {
        row k = *r;
        read_curve(&size, c, &k, RUN, offsetof(row, size));
        k.arithmetic = "mixed:binary16";
        k.scale_log2 = 0;
        read_curve(&plain, c, &k, RUN, offsetof(row, zeros));
        k.scale_log2 = 12;
        read_curve(&scaled, c, &k, RUN, offsetof(row, zeros));
        const double at = reaches(&plain, 0.5), later = reaches(&scaled, 0.5);
        if (isnan(at) || isnan(later)) continue;
        ulp_numbers_add(&quotients, (later - at) / (12 * log_2 / -slope(&size, at, later)));
        late += at;
    }
    const ulp_spread q = ulp_numbers_take(&quotients);
    if (q.n)
        ulp_claim(c, q.least >= 0.85 && q.most <= 1.15, text,
                  "%.3f to %.3f times that; without a scale after %.1f steps", q.least, q.most, late / q.n);
    else ulp_claim_skip(c, text, "no contracting gain, or binary16 loses less");
}

static void claim_wrong(ulp_claims *c, double gain) {
    const char *text =
        "chaotic network, backward: from the second step back on binary16's gradient is off by over half of itself, "
        "and at the first step some of it has overflowed";
    const row these = {.part = RANDOM_BACK, .gain = gain, .arithmetic = "mixed:binary16", .scale_log2 = 0}, *r;
    double least = NAN, lost = NAN;
    curve values;
    for (size_t i = 0; (r = next_run(c, &i, &these, GAIN | ARITHMETIC | SCALE)) != NULL; i++) {
        if (!is_chaotic(c, r)) continue;
        read_curve(&values, c, r, RUN, ERROR);
        for (int k = 2; k < values.n; k++)
            if (!isnan(values.value[k])) least = least_of(least, values.value[k]);
        read_curve(&values, c, r, RUN, offsetof(row, lost));
        if (values.step[values.n - 1] >= 127) lost = least_of(lost, values.value[values.n - 1]);
    }
    if (isnan(least) || isnan(lost))
        ulp_claim_skip(c, text, "needs a network that grows by 0.05 a step, and at least 128 steps");
    else
        ulp_claim(c, least > 0.5 && lost > 0, text, "least error %.3g; at least %.3g %% Inf or NaN", least, 100 * lost);
}

/* ---- trained networks ---- */

static void claim_trained(ulp_claims *c) {
    const char *text = "trained networks, every cell: at no step is the state's error over 4 u where sums are wider, "
                       "over 8 u where they are not (u = 2^-bits)";
    double mixed = NAN, own = NAN;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        const double in_u = r->error * ulp_scale(1, (int)r->bits);
        if (r->part != TRAINED) continue;
        if (strncmp(r->arithmetic, "mixed:", 6) == 0) mixed = most_of(mixed, in_u);
        else own = most_of(own, in_u);
    }
    if (isnan(own)) ulp_claim_skip(c, text, "not in this run");
    else ulp_claim(c, mixed <= 4 && own <= 8, text, "at most %.2f u and %.2f u", mixed, own);
}

static void claim_trained_back(ulp_claims *c) {
    const char *text = "trained networks, backward in mixed precision: errors of dL/dh_t stay below 16 u; binary16 "
                       "turns under 2 % of them to zero, "
                       "and none with a loss scale of 2^12";
    double error = NAN, plain = 0, scaled = 0;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (r->part != TRAINED_BACK || strcmp(r->arithmetic, "binary32") == 0) continue;
        error = most_of(error, r->error * ulp_scale(1, (int)r->bits));
        if (r->scale_log2 == 0) plain = fmax(plain, r->zeros);
        else scaled = fmax(scaled, r->zeros);
    }
    if (isnan(error)) ulp_claim_skip(c, text, "not in this run");
    else
        ulp_claim(c, error <= 16 && plain < 0.02 && scaled == 0, text, "%.1f u; %.3f %% and %g %%", error, 100 * plain,
                  100 * scaled);
}

/* The mean accuracy in percent over the seeds, for one cell or for all (CELLS). NaN if there are no rows. */
static double mean_accuracy(const ulp_claims *c, int cell, const char *learnt) {
    ulp_numbers accuracy = {0};
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++)
        if (r->part == TRAINING && (cell == CELLS || r->cell == cell) && strcmp(r->arithmetic, learnt) == 0)
            ulp_numbers_add(&accuracy, 100 * r->accuracy);
    return ulp_numbers_take(&accuracy).mean;
}

static void claim_accuracy(ulp_claims *c) {
    const char *text = "trained from the start in mixed precision or in 16 bits alone: in the mean of cells and seeds "
                       "at most 4 points below binary32";
    double worst = NAN;
    char measured[160] = "";
    ulp_sheet *table = ulp_sheet_new("test accuracy in percent, mean over the seeds", "arithmetic,rnn,gru,lstm");
    for (int i = 0; i < LEARNING; i++) {
        const char *name = learning[i].name;
        const double mean = mean_accuracy(c, CELLS, name);
        ulp_sheet_put_row(table, "%s,%.2f,%.2f,%.2f", name, mean_accuracy(c, RNN, name), mean_accuracy(c, GRU, name),
                          mean_accuracy(c, LSTM, name));
        ulp_list_add(measured, sizeof measured, "%s %.2f %%", name, mean);
        if (i > 0 && !isnan(mean)) worst = most_of(worst, mean_accuracy(c, CELLS, learning[0].name) - mean);
    }
    if (isnan(worst) || ((const settings *)c->settings)->epochs < 5)
        ulp_claim_skip(c, text, "needs the parts trained and training, and at least 5 epochs");
    else ulp_claim(c, worst <= 4, text, "%s", measured);
    ulp_sheet_print(table, c->file);
}

void judge(ulp_claims *c) {
    if (((const settings *)c->settings)->how.amp.bits) ulp_claims_skip_all(c, ULP_AMP_OTHER);
    const double contracting = contracting_gain(c), chaotic = chaotic_gain(c);
    print_random(c);
    sum_up(c, contracting, chaotic);
    claim_regimes(c);
    claim_bounded(c, contracting);
    claim_quotients(c, contracting);
    claim_slope(c, chaotic);
    claim_horizon(c, chaotic);
    claim_vanishing(c, contracting);
    claim_wrong(c, chaotic);
    claim_trained(c);
    claim_trained_back(c);
    claim_accuracy(c);
}
