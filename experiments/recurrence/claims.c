/* claims.c - tables and claims of the experiment, on its rows. */
#include "curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/functions/elementary.h"

static const double log_2 = 0x1.62e42fefa39efp-1;

static double least_of(double a, double b) { return isnan(a) || b < a ? b : a; }
static double most_of(double a, double b) { return isnan(a) || b > a ? b : a; }

/* ---- random networks ---- */

/* The Lyapunov exponent of a perturbed run. */
static double exponent_of(const curve *c, int decays) {
    double to = reaches(c, 1e-3);
    if (isnan(to)) to = ULP_STEPS_MAX;
    /* until binary64's own roundings are all that is left */
    for (int i = c->n; i-- > 0 && decays;)
        if (c->value[i] < 1e-14) to = c->step[i];
    return slope(c, decays ? 2 : 16, to);
}

/* The exponent of one network. */
static double exponent_at(const ulp_run *run, const char *gain, const char *seed, int decays) {
    curve c;
    read_curve(&c, run, &(name){.part = "random", .gain = gain, .seed = seed, .arithmetic = "perturbed"}, "error");
    return exponent_of(&c, decays);
}

/* A network is chaotic if its perturbation grows by 0.05 a step or more. With as few units as here some networks of a
 * gain above 1 are not. */
static int is_chaotic(const ulp_run *run, const name *k) { return exponent_at(run, k->gain, k->seed, 0) >= 0.05; }

/* The first gain at which all networks contract by 0.1 a step or more, as its rows spell it; NULL: none. */
static const char *contracting_gain(const ulp_run *run) {
    for (long row = 0; (row = next_run(run, row, &(name){.part = "random", .arithmetic = "perturbed"})) != ULP_NO_ROW;
         row++) {
        const name same = {.part = "random", .arithmetic = "perturbed", .gain = ulp_row_text(run, row, "gain")};
        int all = 1;
        for (long at = 0; (at = next_run(run, at, &same)) != ULP_NO_ROW; at++)
            all &= exponent_at(run, same.gain, ulp_row_text(run, at, "seed"), 1) <= -0.1;
        if (all) return same.gain;
    }
    return NULL;
}

/* The first gain that makes a network chaotic, as its rows spell it; NULL: none. */
static const char *chaotic_gain(const ulp_run *run) {
    for (long row = 0; (row = next_run(run, row, &(name){.part = "random", .arithmetic = "perturbed"})) != ULP_NO_ROW;
         row++) {
        const name k = name_of(run, row);
        if (is_chaotic(run, &k)) return k.gain;
    }
    return NULL;
}

/* Up to a gain of 1/2 every network contracts: the norm of its weights is about 2 gain, and tanh' <= 1. */
static void claim_regimes(ulp_run *run) {
    const char *text =
        "Lyapunov exponents: every network below -0.1 at gains from 0.2 to 0.5; at gains from 2 to 4 the "
        "mean over networks above 0, within three standard errors";
    double contracting = NAN, sum = 0, squares = 0, n = 0;
    for (long row = 0; (row = next_run(run, row, &(name){.part = "random", .arithmetic = "perturbed"})) != ULP_NO_ROW;
         row++) {
        const name k = name_of(run, row);
        const double gain = ulp_row_number(run, row, "gain"), exponent = exponent_at(run, k.gain, k.seed, gain <= 0.5);
        /* below 0.2 the perturbation is gone before a slope shows */
        if (gain >= 0.2 && gain <= 0.5) contracting = most_of(contracting, exponent);
        if (gain < 2 || gain > 4) continue;
        sum += exponent;
        squares += exponent * exponent;
        n++;
    }
    const double mean = sum / n, error = sqrt(fmax(0, squares - n * mean * mean) / (n * (n - 1)));
    if ((isnan(contracting) && n < 2) || ulp_option_integer(run, "units") < 64)
        ulp_claim_skip(ulp_run_claims(run), text, "needs such gains, two networks or more, and at least 64 units");
    else
        ulp_claim(ulp_run_claims(run), !(contracting >= -0.1) && !(mean + 3 * error <= 0), text,
                  "at most %.3f; mean %.3f, standard error %.3f", contracting, mean, error);
}

static void claim_bounded(ulp_run *run, const char *gain) {
    const char *text =
        "contracting network: after step 32 no error is over twice that at step 32, in any format, mode and sum";
    double worst = 0;
    curve c;
    for (long row = 0; gain && (row = next_run(run, row, &(name){.part = "random", .gain = gain})) != ULP_NO_ROW;
         row++) {
        name k = name_of(run, row);
        if (strcmp(k.arithmetic, "perturbed") == 0) continue;
        read_curve(&c, run, &k, "error");
        for (int i = 32; i < c.n; i++) worst = fmax(worst, c.value[i] / c.value[31]);
    }
    if (worst > 0) ulp_claim(ulp_run_claims(run), worst <= 2, text, "gain %s: at most %.3g times", gain, worst);
    else
        ulp_claim_skip(ulp_run_claims(run), text,
                       "no gain at which all seeds contract by 0.1 a step, or only 32 steps");
}

/* The mean over formats up to 16 bits, seeds and steps from 32 on of the error of one run over that of another. */
static double mean_quotient(const ulp_run *run, const char *gain, const char *mode, const char *sums) {
    double sum = 0, n = 0;
    curve a, b;
    const name these = {.part = "random", .gain = gain, .mode = mode, .sums = sums};
    for (long row = 0; gain && (row = next_run(run, row, &these)) != ULP_NO_ROW; row++) {
        name k = name_of(run, row);
        /* above 16 bits binary32's sums show beside the state's rounding */
        if (ulp_row_number(run, row, "bits") > 16) continue;
        read_curve(&a, run, &k, "error");
        k.mode = "rne";
        k.sums = "binary32";
        read_curve(&b, run, &k, "error");
        for (int i = 31; i < a.n && a.n == b.n; i++, n++) sum += a.value[i] / b.value[i];
    }
    return n > 0 ? sum / n : (double)NAN;
}

static void claim_quotients(ulp_run *run, const char *gain) {
    const char *sr = "contracting network: stochastic rounding of the state makes errors sqrt(2) times as large as "
                     "rounding to nearest, within 10 % "
                     "(its variance is twice that of rounding to nearest)";
    const char *own =
        "contracting network: sums in the state's own format cost over 3 times the error of sums in binary32";
    double q = mean_quotient(run, gain, "sra", "binary32"), units = (double)ulp_option_integer(run, "units");
    if (isnan(q)) ulp_claim_skip(ulp_run_claims(run), sr, "needs both modes, rne and sr, and a contracting gain");
    else ulp_claim(ulp_run_claims(run), fabs(q / sqrt(2) - 1) <= 0.1, sr, "%.3f times", q);
    q = mean_quotient(run, gain, "rne", "own");
    if (isnan(q) || units < 64)
        ulp_claim_skip(ulp_run_claims(run), own, "needs both sums, a contracting gain and at least 64 units");
    else ulp_claim(ulp_run_claims(run), q > 3, own, "%.2f times, %g units", q, units);
}

/* A rounding error is between u / 2 and u of its number, by where the number lies in its binade: errors of one format
 * are alike to within one bit. Where two steps are compared, that is a bit at either of them. */
static const double alike = 2;

/* By how many bits a format's error grows more than a perturbation does, from step 16 until the error reaches 0.1. */
static void claim_slope(ulp_run *run, const char *gain) {
    const char *text =
        "chaotic network: the error of every format grows by the network's Lyapunov exponent, within one "
        "bit at either end (where it takes 20 steps from 16 on to reach 0.1)";
    const name these = {.part = "random", .gain = gain, .mode = "rne", .sums = "binary32"};
    double low = NAN, high = NAN;
    int n = 0;
    curve c, moved;
    for (long row = 0; gain && (row = next_run(run, row, &these)) != ULP_NO_ROW; row++) {
        name k = name_of(run, row);
        if (!is_chaotic(run, &k)) continue;
        read_curve(&c, run, &k, "error");
        read_curve(&moved, run, &(name){.part = "random", .gain = gain, .seed = k.seed, .arithmetic = "perturbed"},
                   "error");
        double to = reaches(&c, 0.1);
        if (isnan(to)) to = c.step[c.n - 1];
        if (to < 36) continue;
        const double bits = (slope(&c, 16, to) - slope(&moved, 16, to)) * (to - 16) / log_2;
        low = least_of(low, bits);
        high = most_of(high, bits);
        n++;
    }
    if (n)
        ulp_claim(ulp_run_claims(run), low >= -alike && high <= alike, text,
                  "gain %s, %d runs: from %+.2f to %+.2f bits", gain, n, low, high);
    else ulp_claim_skip(ulp_run_claims(run), text, "no network grows by 0.05 a step, or no format lasts");
}

/* The step at which the error of a format reaches 0.1 in one network; NaN: never. */
static double horizon(const ulp_run *run, const name *network, const char *format) {
    curve c;
    read_curve(&c, run,
               &(name){.part = "random",
                       .gain = network->gain,
                       .seed = network->seed,
                       .arithmetic = format,
                       .mode = "rne",
                       .sums = "binary32"},
               "error");
    return reaches(&c, 0.1);
}

/* In one network: how many bits the steps between the first and the last horizon stand for, less those that the formats
 * differ by; NaN for less than two horizons. */
static double bits_bought(const ulp_run *run, const name *network, double *steps_a_bit) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    double few = 1e9, many = 0, first = NAN, last = NAN;
    for (size_t f = 0; f < formats; f++) {
        const double bits = format[f].prec, h = horizon(run, network, format[f].name);
        /* sums in binary32 show beside the state's rounding above 19 bits */
        if (isnan(h) || bits > 19) continue;
        if (bits < few) few = bits, first = h;
        if (bits > many) many = bits, last = h;
    }
    if (!(many > few)) return NAN;
    *steps_a_bit = (last - first) / (many - few);
    return (last - first) * exponent_at(run, network->gain, network->seed, 0) / log_2 - (many - few);
}

static void claim_horizon(ulp_run *run, const char *gain) {
    const char *text = "chaotic network: a bit more of significand buys ln 2 / (Lyapunov exponent) more steps below an "
                       "error of 0.1, within one bit at either end, in the mean over networks";
    const name perturbed = {.part = "random", .gain = gain, .arithmetic = "perturbed"};
    double sum = 0, steps = 0, expected = 0;
    int n = 0;
    for (long row = 0; gain && (row = next_run(run, row, &perturbed)) != ULP_NO_ROW; row++) {
        const name network = name_of(run, row);
        double steps_a_bit = 0;
        const double bits = is_chaotic(run, &network) ? bits_bought(run, &network, &steps_a_bit) : NAN;
        if (isnan(bits)) continue;
        sum += bits;
        steps += steps_a_bit;
        expected += log_2 / exponent_at(run, network.gain, network.seed, 0);
        n++;
    }
    if (n == 0)
        ulp_claim_skip(ulp_run_claims(run), text,
                       "needs a network that grows by 0.05 a step and two formats that reach 0.1");
    else
        ulp_claim(ulp_run_claims(run), fabs(sum / n) <= alike, text,
                  "%d networks: %.2f steps a bit, %.2f expected; off by %+.2f bits", n, steps / n, expected / n,
                  sum / n);
}

static void print_random(const ulp_run *run) {
    ulp_sheet *table = ulp_sheet_new("random networks: relative error of the state, to nearest, first seed",
                                     "gain,format,sums,step 1,8,32,last");
    for (long row = 0; (row = next_run(run, row, &(name){.part = "random", .mode = "rne"})) != ULP_NO_ROW; row++) {
        name k = name_of(run, row);
        curve c;
        if (ulp_row_number(run, row, "seed") != (double)ulp_run_seed(run)) continue;
        read_curve(&c, run, &k, "error");
        ulp_sheet_put(table, "%s", k.gain);
        ulp_sheet_put(table, "%s", k.arithmetic);
        ulp_sheet_put(table, "%s", k.sums);
        ulp_sheet_put(table, "%.3g", c.value[0]);
        ulp_sheet_put(table, "%.3g", c.value[7]);
        ulp_sheet_put(table, "%.3g", c.value[31]);
        ulp_sheet_put(table, "%.3g", c.value[c.n - 1]);
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

/* ---- random networks, backward ---- */

static void claim_vanishing(ulp_run *run, const char *gain) {
    const char *text = "contracting network, backward: a loss scale of 2^12 delays the step at which binary16 has lost "
                       "half of the gradient "
                       "by 12 ln 2 / (its decay a step), within 15 %";
    double low = NAN, high = NAN, late = 0, n = 0;
    curve plain, scaled, size;
    for (long row = 0;
         gain && (row = next_run(run, row, &(name){.part = "random-back", .gain = gain, .arithmetic = "binary32"})) !=
                     ULP_NO_ROW;
         row++) {
        name k = name_of(run, row);
        read_curve(&size, run, &k, "size");
        k.arithmetic = "mixed:binary16";
        k.scale = "0";
        read_curve(&plain, run, &k, "zeros");
        k.scale = "12";
        read_curve(&scaled, run, &k, "zeros");
        double at = reaches(&plain, 0.5), later = reaches(&scaled, 0.5);
        if (isnan(at) || isnan(later)) continue;
        double quotient = (later - at) / (12 * log_2 / -slope(&size, at, later));
        low = least_of(low, quotient);
        high = most_of(high, quotient);
        late += at;
        n++;
    }
    if (n > 0)
        ulp_claim(ulp_run_claims(run), low >= 0.85 && high <= 1.15, text,
                  "%.3f to %.3f times that; without a scale after %.1f steps", low, high, late / n);
    else ulp_claim_skip(ulp_run_claims(run), text, "no contracting gain, or binary16 loses less");
}

static void claim_wrong(ulp_run *run, const char *gain) {
    const char *text =
        "chaotic network, backward: from the second step back on binary16's gradient is off by over half of itself, "
        "and at the first step some of it has overflowed";
    const name these = {.part = "random-back", .gain = gain, .arithmetic = "mixed:binary16", .scale = "0"};
    double least = NAN, lost = NAN;
    curve c;
    for (long row = 0; gain && (row = next_run(run, row, &these)) != ULP_NO_ROW; row++) {
        name k = name_of(run, row);
        if (!is_chaotic(run, &k)) continue;
        read_curve(&c, run, &k, "error");
        for (int i = 2; i < c.n; i++)
            if (!isnan(c.value[i])) least = least_of(least, c.value[i]);
        read_curve(&c, run, &k, "lost");
        if (c.step[c.n - 1] >= 127) lost = least_of(lost, c.value[c.n - 1]);
    }
    if (isnan(least) || isnan(lost))
        ulp_claim_skip(ulp_run_claims(run), text, "needs a network that grows by 0.05 a step, and at least 128 steps");
    else
        ulp_claim(ulp_run_claims(run), least > 0.5 && lost > 0, text, "least error %.3g; at least %.3g %% Inf or NaN",
                  least, 100 * lost);
}

/* ---- trained networks ---- */

static void claim_trained(ulp_run *run) {
    const char *text = "trained networks, every cell: at no step is the state's error over 4 u where sums are wider, "
                       "over 8 u where they are not (u = 2^-bits)";
    double mixed = NAN, own = NAN;
    for (long row = 0; (row = ulp_row_find(run, row, "part", "trained", (const char *)NULL)) != ULP_NO_ROW; row++) {
        double in_u = ulp_row_number(run, row, "error") * ulp_scale(1, (int)ulp_row_number(run, row, "bits"));
        if (strncmp(ulp_row_text(run, row, "arithmetic"), "mixed:", 6) == 0) mixed = most_of(mixed, in_u);
        else own = most_of(own, in_u);
    }
    if (isnan(own)) ulp_claim_skip(ulp_run_claims(run), text, "not in this run");
    else ulp_claim(ulp_run_claims(run), mixed <= 4 && own <= 8, text, "at most %.2f u and %.2f u", mixed, own);
}

static void claim_trained_back(ulp_run *run) {
    const char *text = "trained networks, backward in mixed precision: errors of dL/dh_t stay below 16 u; binary16 "
                       "turns under 2 % of them to zero, "
                       "and none with a loss scale of 2^12";
    double error = NAN, plain = 0, scaled = 0;
    for (long row = 0; (row = ulp_row_find(run, row, "part", "trained-back", (const char *)NULL)) != ULP_NO_ROW;
         row++) {
        if (ulp_row_is(run, row, "arithmetic", "binary32")) continue;
        error = most_of(error, ulp_row_number(run, row, "error") * ulp_scale(1, (int)ulp_row_number(run, row, "bits")));
        double zeros = ulp_row_number(run, row, "zeros");
        if (ulp_row_is(run, row, "scale_log2", "0")) plain = fmax(plain, zeros);
        else scaled = fmax(scaled, zeros);
    }
    if (isnan(error)) ulp_claim_skip(ulp_run_claims(run), text, "not in this run");
    else
        ulp_claim(ulp_run_claims(run), error <= 16 && plain < 0.02 && scaled == 0, text, "%.1f u; %.3f %% and %g %%",
                  error, 100 * plain, 100 * scaled);
}

static double mean_accuracy(const ulp_run *run, const char *of, const char *learnt) {
    double sum = 0, n = 0;
    for (long row = 0; row < ulp_row_count(run); row++) {
        if (!is_named(run, row, &(name){.part = "training", .cell = of, .arithmetic = learnt})) continue;
        sum += 100 * ulp_row_number(run, row, "accuracy");
        n++;
    }
    return n > 0 ? sum / n : (double)NAN;
}

static void claim_accuracy(ulp_run *run) {
    const char *text = "trained from the start in mixed precision or in 16 bits alone: in the mean of cells and seeds "
                       "at most 4 points below binary32";
    double worst = NAN;
    char measured[160] = "";
    ulp_sheet *table = ulp_sheet_new("test accuracy in percent, mean over the seeds", "arithmetic,rnn,gru,lstm");
    for (int i = 0; i < LEARNING; i++) {
        size_t at = strlen(measured);
        double mean = mean_accuracy(run, NULL, learning[i].name);
        ulp_sheet_put(table, "%s", learning[i].name);
        for (int c = 0; c < CELLS; c++)
            ulp_sheet_put(table, "%.2f", mean_accuracy(run, cells[c].name, learning[i].name));
        snprintf(measured + at, sizeof measured - at, "%s%s %.2f %%", i ? ", " : "", learning[i].name, mean);
        if (i > 0 && !isnan(mean)) worst = most_of(worst, mean_accuracy(run, NULL, learning[0].name) - mean);
    }
    if (isnan(worst) || ulp_option_integer(run, "epochs") < 5)
        ulp_claim_skip(ulp_run_claims(run), text, "needs the parts trained and training, and at least 5 epochs");
    else ulp_claim(ulp_run_claims(run), worst <= 4, text, "%s", measured);
    ulp_sheet_print(table, ulp_run_people(run));
}

void check_claims(ulp_run *run) {
    const char *contracting = contracting_gain(run), *chaotic = chaotic_gain(run);
    print_random(run);
    claim_regimes(run);
    claim_bounded(run, contracting);
    claim_quotients(run, contracting);
    claim_slope(run, chaotic);
    claim_horizon(run, chaotic);
    claim_vanishing(run, contracting);
    claim_wrong(run, chaotic);
    claim_trained(run);
    claim_trained_back(run);
    claim_accuracy(run);
}
