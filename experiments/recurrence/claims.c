/* claims.c - tables and claims of the experiment, on its rows. */
#include "recurrence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/functions/elementary.h"

static const double log_2 = 0x1.62e42fefa39efp-1;

/* One column of one run against its steps. */
typedef struct curve {
    int n;
    double step[ULP_STEPS_MAX + 1], value[ULP_STEPS_MAX + 1]; /* (n) */
} curve;

/* What names a run; NULL: any. */
typedef struct name {
    const char *part, *cell, *gain, *seed, *arithmetic, *mode, *sums, *scale;
} name;

static int is_named(const ulp_run *run, long row, const name *k) {
    const char *const column[] = {"part", "cell", "gain", "seed", "arithmetic", "mode", "sums", "scale_log2"};
    const char *const want[] = {k->part, k->cell, k->gain, k->seed, k->arithmetic, k->mode, k->sums, k->scale};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (want[i] && !ulp_row_is(run, row, column[i], want[i])) return 0;
    return 1;
}

/* The first row, at or after `row`, of a run of states or gradients; ULP_NO_ROW: none. */
static long next_run(const ulp_run *run, long row, const name *k) {
    for (; row < ulp_row_count(run); row++)
        if (is_named(run, row, k) &&
            ulp_row_is(run, row, "step", strstr(ulp_row_text(run, row, "part"), "back") ? "0" : "1"))
            return row;
    return ULP_NO_ROW;
}

static name name_of(const ulp_run *run, long row) {
    return (name){ulp_row_text(run, row, "part"), ulp_row_text(run, row, "cell"),       ulp_row_text(run, row, "gain"),
                  ulp_row_text(run, row, "seed"), ulp_row_text(run, row, "arithmetic"), ulp_row_text(run, row, "mode"),
                  ulp_row_text(run, row, "sums"), ulp_row_text(run, row, "scale_log2")};
}

static void read_curve(curve *c, const ulp_run *run, const name *k, const char *column) {
    c->n = 0;
    for (long row = 0; row < ulp_row_count(run); row++) {
        if (!is_named(run, row, k) || c->n > ULP_STEPS_MAX) continue;
        c->step[c->n] = ulp_row_number(run, row, "step");
        c->value[c->n++] = ulp_row_number(run, row, column);
    }
}

/* Least squares slope of log value on step, where from <= step <= to; NaN below 5 rows. */
static double slope(const curve *c, double from, double to) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < c->n; i++) {
        if (c->step[i] < from || c->step[i] > to || !(c->value[i] > 0)) continue;
        double log_value = ulp_log(c->value[i]);
        n += 1;
        x += c->step[i];
        y += log_value;
        xx += c->step[i] * c->step[i];
        xy += c->step[i] * log_value;
    }
    return n < 5 ? (double)NAN : (n * xy - x * y) / (n * xx - x * x);
}

/* The step at which value first reaches a level, log value between two rows taken as straight; NaN: never, or from the
 * start. */
static double reaches(const curve *c, double level) {
    for (int i = 0; i < c->n; i++) {
        if (!(c->value[i] >= level)) continue;
        if (i == 0) return NAN;
        if (!(c->value[i - 1] > 0)) return c->step[i];
        double before = ulp_log(c->value[i - 1]), after = ulp_log(c->value[i]);
        return c->step[i - 1] + (c->step[i] - c->step[i - 1]) * (ulp_log(level) - before) / (after - before);
    }
    return NAN;
}

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

/* The first gain at which the exponents of all seeds lie within [low, high], as its rows spell it; NULL: none. */
static const char *gain_between(const ulp_run *run, double low, double high, double *mean) {
    const name perturbed = {.part = "random", .arithmetic = "perturbed"};
    curve c;
    for (long row = 0; (row = next_run(run, row, &perturbed)) != ULP_NO_ROW; row++) {
        name same = {.part = "random", .arithmetic = "perturbed", .gain = ulp_row_text(run, row, "gain")};
        int n = 0, in = 0;
        *mean = 0;
        for (long at = row; (at = next_run(run, at, &same)) != ULP_NO_ROW; at++, n++) {
            name k = name_of(run, at);
            read_curve(&c, run, &k, "error");
            double exponent = exponent_of(&c, low < 0);
            in += exponent >= low && exponent <= high;
            *mean += exponent;
        }
        *mean /= n;
        if (in == n) return same.gain;
    }
    return NULL;
}

static void claim_regimes(ulp_run *run) {
    const char *text =
        "Lyapunov exponents, every seed: below -0.1 at gains from 0.2 to 0.5, above 0.05 at gains from 2 to 4";
    double contracting = NAN, chaotic = NAN;
    curve c;
    for (long row = 0; (row = next_run(run, row, &(name){.part = "random", .arithmetic = "perturbed"})) != ULP_NO_ROW;
         row++) {
        name k = name_of(run, row);
        double gain = ulp_row_number(run, row, "gain");
        read_curve(&c, run, &k, "error");
        /* below 0.2 the perturbation is gone before a slope shows */
        if (gain >= 0.2 && gain <= 0.5) contracting = most_of(contracting, exponent_of(&c, 1));
        if (gain >= 2 && gain <= 4) chaotic = least_of(chaotic, exponent_of(&c, 0));
    }
    if ((isnan(contracting) && isnan(chaotic)) || ulp_option_integer(run, "units") < 64)
        ulp_claim_skip(ulp_run_claims(run), text, "needs such gains and at least 64 units");
    else
        ulp_claim(ulp_run_claims(run), !(contracting >= -0.1) && !(chaotic <= 0.05), text,
                  "at most %.3f; at least %.3f", contracting, chaotic);
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

/* Slopes of the formats' errors, from step 16 until 0.1 is reached, over that of the perturbed run on the same steps.
 */
static void claim_slope(ulp_run *run, const char *gain) {
    const char *text =
        "chaotic network: the error of every format grows by the network's Lyapunov exponent, within 25 % "
        "(where it takes 20 steps from 16 on to reach 0.1)";
    const name these = {.part = "random", .gain = gain, .mode = "rne", .sums = "binary32"};
    double low = NAN, high = NAN;
    int n = 0;
    curve c, moved;
    for (long row = 0; gain && (row = next_run(run, row, &these)) != ULP_NO_ROW; row++) {
        name k = name_of(run, row);
        read_curve(&c, run, &k, "error");
        read_curve(&moved, run, &(name){.part = "random", .gain = gain, .seed = k.seed, .arithmetic = "perturbed"},
                   "error");
        double to = reaches(&c, 0.1);
        if (isnan(to)) to = c.step[c.n - 1];
        if (to < 36) continue;
        double quotient = slope(&c, 16, to) / slope(&moved, 16, to);
        low = least_of(low, quotient);
        high = most_of(high, quotient);
        n++;
    }
    if (n)
        ulp_claim(ulp_run_claims(run), low >= 0.75 && high <= 1.25, text, "gain %s, %d runs: from %.3f to %.3f times",
                  gain, n, low, high);
    else
        ulp_claim_skip(ulp_run_claims(run), text,
                       "no gain at which all seeds grow by 0.05 a step, or no format that lasts");
}

/* The step at which the error of a format reaches 0.1, mean over the seeds; NaN if one never does. */
static double horizon(const ulp_run *run, const char *gain, const char *format) {
    const name these = {.part = "random", .gain = gain, .arithmetic = format, .mode = "rne", .sums = "binary32"};
    double sum = 0, n = 0;
    curve c;
    for (long row = 0; (row = next_run(run, row, &these)) != ULP_NO_ROW; row++, n++) {
        name k = name_of(run, row);
        read_curve(&c, run, &k, "error");
        sum += reaches(&c, 0.1);
    }
    return sum / n;
}

static void claim_horizon(ulp_run *run, const char *gain, double exponent) {
    const char *text = "chaotic network: a bit more of significand buys ln 2 / (Lyapunov exponent) more steps below an "
                       "error of 0.1, within 25 %";
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    double few = 1e9, many = 0, first = NAN, last = NAN;
    char measured[256] = "";
    for (size_t f = 0; f < formats && gain; f++) {
        double bits = format[f].prec, h = horizon(run, gain, format[f].name);
        /* sums in binary32 show beside the state's rounding above 19 bits */
        if (isnan(h) || bits > 19) continue;
        size_t at = strlen(measured);
        snprintf(measured + at, sizeof measured - at, "%s%g bits: %.1f", at ? ", " : "", bits, h);
        if (bits < few) few = bits, first = h;
        if (bits > many) many = bits, last = h;
    }
    if (!(many > few))
        ulp_claim_skip(ulp_run_claims(run), text,
                       "needs a gain at which all seeds grow by 0.05 a step and two formats that reach 0.1");
    else {
        double per_bit = (last - first) / (many - few), expected = log_2 / exponent;
        ulp_claim(ulp_run_claims(run), fabs(per_bit / expected - 1) <= 0.25, text,
                  "%.2f steps a bit, %.2f expected; %s", per_bit, expected, measured);
    }
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
        read_curve(&c, run, &k, "error");
        for (int i = 2; i < c.n; i++)
            if (!isnan(c.value[i])) least = least_of(least, c.value[i]);
        read_curve(&c, run, &k, "lost");
        if (c.step[c.n - 1] >= 127) lost = least_of(lost, c.value[c.n - 1]);
    }
    if (isnan(least) || isnan(lost))
        ulp_claim_skip(ulp_run_claims(run), text,
                       "needs a gain at which all seeds grow by 0.05 a step, and at least 128 steps");
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
    double decay, growth;
    const char *contracting = gain_between(run, -HUGE_VAL, -0.1, &decay),
               *chaotic = gain_between(run, 0.05, HUGE_VAL, &growth);
    print_random(run);
    claim_regimes(run);
    claim_bounded(run, contracting);
    claim_quotients(run, contracting);
    claim_slope(run, chaotic);
    claim_horizon(run, chaotic, growth);
    claim_vanishing(run, contracting);
    claim_wrong(run, chaotic);
    claim_trained(run);
    claim_trained_back(run);
    claim_accuracy(run);
}
