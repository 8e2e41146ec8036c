/* claims.c - the tables of update_ratio.c, and the claims about its rows. */
#include "update_ratio.h"

#include <math.h>

static double sum_of_rows(const ulp_run *run, const char *what, const char *column, const char *format,
                          const char *seed, const char *step) {
    double sum = 0;
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "layer", "all", "what", what, "format", format, (const char *)NULL);
        if (row == ULP_NO_ROW) return sum;
        if ((seed && !ulp_row_is(run, row, "seed", seed)) || (step && !ulp_row_is(run, row, "step", step))) continue;
        sum += ulp_row_number(run, row, column);
    }
}

static double sum_of(const ulp_run *run, const char *column, const char *format, const char *seed, const char *step) {
    return sum_of_rows(run, "share", column, format, seed, step);
}

/* Percent of the non-zero updates that a format loses; over all looks if step is NULL. */
static double lost(const ulp_run *run, const char *format, const char *seed, const char *step) {
    double n = sum_of(run, "count", format, seed, step) - sum_of(run, "zero", format, seed, step);
    return n > 0 ? 100 * sum_of(run, "lost", format, seed, step) / n : 0;
}

static const char *step_text(const ulp_run *run, char *text, size_t size, uint64_t look_number) {
    snprintf(text, size, "%llu", (unsigned long long)look_step(run, look_number));
    return text;
}

/* Mean over seeds of a value after the last step; NaN if there is none. */
static double score(const ulp_run *run, const char *what, const char *format, const char *mode) {
    double sum = 0, n = 0;
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "what", what, "run", format, "mode", mode, (const char *)NULL);
        if (row == ULP_NO_ROW) return n > 0 ? sum / n : (double)NAN;
        sum += ulp_row_number(run, row, "value");
        n++;
    }
}

static void print_formats(const ulp_run *run) {
    size_t formats;
    const ulp_format *f = ulp_run_formats(run, &formats);
    uint64_t looks = (uint64_t)ulp_option_integer(run, "looks");
    ulp_sheet *table = ulp_sheet_new(
        "percent of the non-zero updates of the binary32 run that round(w + u) = w would lose, weights of each format",
        "format,p,first step,middle,at 3/4,last step,all looks,all: ratio below 2^p,2^p to 2^(p+1),of these lost,from "
        "2^(p+1),weight not normal");
    for (size_t i = 0; i < formats; i++) {
        const char *name = f[i].name;
        char step[24];
        double n = sum_of(run, "count", name, NULL, NULL) - sum_of(run, "zero", name, NULL, NULL),
               open = sum_of(run, "open", name, NULL, NULL);
        ulp_sheet_put(table, "%s", name);
        ulp_sheet_put(table, "%d", f[i].prec);
        for (uint64_t q = 0; q < 4; q++)
            ulp_sheet_put(
                table, "%.4g",
                lost(run, name, NULL, step_text(run, step, sizeof step, q == 0 ? 0 : (q + 1) * (looks - 1) / 4)));
        ulp_sheet_put(table, "%.4g", lost(run, name, NULL, NULL));
        ulp_sheet_put(table, "%.4g", 100 * sum_of(run, "safe", name, NULL, NULL) / n);
        ulp_sheet_put(table, "%.4g", 100 * open / n);
        ulp_sheet_put(table, open > 0 ? "%.3g" : "-", 100 * sum_of(run, "open_lost", name, NULL, NULL) / open);
        ulp_sheet_put(table, "%.4g", 100 * sum_of(run, "certain", name, NULL, NULL) / n);
        ulp_sheet_put(table, "%.4g", 100 * sum_of(run, "small", name, NULL, NULL) / n);
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

static void print_runs(const ulp_run *run) {
    ulp_sheet *table =
        ulp_sheet_new("trained with weights of a format and no master weights, all else binary32; means of the seeds",
                      "weights,mode,training loss,training accuracy,test accuracy");
    for (long row = 0; row < ulp_row_count(run); row++) {
        char seed[24];
        snprintf(seed, sizeof seed, "%lld", (long long)ulp_run_seed(run));
        row = ulp_row_find(run, row, "what", "train_loss", "seed", seed, (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        const char *format = ulp_row_text(run, row, "run"), *mode = ulp_row_text(run, row, "mode");
        ulp_sheet_put(table, "%s", format);
        ulp_sheet_put(table, "%s", mode);
        ulp_sheet_put(table, "%.5g", score(run, "train_loss", format, mode));
        ulp_sheet_put(table, "%.2f %%", 100 * score(run, "train_accuracy", format, mode));
        ulp_sheet_put(table, "%.2f %%", 100 * score(run, "test_accuracy", format, mode));
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

/* What holds for every element, whatever the options. */
static void claim_exact(ulp_run *run) {
    size_t formats;
    const ulp_format *f = ulp_run_formats(run, &formats);
    double n = 0, edges = 0, zones = 0, criterion = 0, certain = 0, safe = 0;
    for (size_t i = 0; i < formats; i++) {
        n += sum_of(run, "count", f[i].name, NULL, NULL) - sum_of(run, "zero", f[i].name, NULL, NULL);
        zones += sum_of(run, "against_zones", f[i].name, NULL, NULL);
        criterion += sum_of(run, "against_criterion", f[i].name, NULL, NULL) +
                     sum_of_rows(run, "edge", "against_criterion", f[i].name, NULL, NULL);
        edges += sum_of_rows(run, "edge", "count", f[i].name, NULL, NULL);
        certain += sum_of(run, "certain", f[i].name, NULL, NULL);
        safe += sum_of(run, "safe", f[i].name, NULL, NULL);
    }
    ulp_claim(ulp_run_claims(run), n > 0 && criterion == 0,
              "an update is lost exactly if it is less than half the distance to the weight's neighbour, or that half "
              "and the weight is even",
              "%.0f updates that are not zero and %.0f made ones at and beside that half, %.0f against it", n, edges,
              criterion);
    ulp_claim(ulp_run_claims(run), certain + safe > 0 && zones == 0,
              "from |w/u| = 2^(p+1) on every update is lost; below 2^p every normal weight moves",
              "%.0f and %.0f of the updates, %.0f against it", certain, safe, zones);
    if (!ulp_run_has_format(run, "binary32")) return;
    double all = sum_of(run, "count", "binary32", NULL, NULL),
           other = sum_of(run, "against_run", "binary32", NULL, NULL);
    ulp_claim(ulp_run_claims(run), all > 0 && other == 0,
              "the updates are those of the run: in binary32 w + u is the run's next weight, bit for bit",
              "%.0f weights, %.0f against it", all, other);
}

/* More significand bits, fewer lost updates: at every look of every seed. */
static void claim_order(ulp_run *run) {
    static const char *const names[] = {"e4m3", "bfloat16", "binary16", "binary32"};
    int64_t looks = ulp_option_integer(run, "looks"), seeds = ulp_option_integer(run, "seeds");
    int wrong = 0, formats = 0;
    for (int64_t s = 0; s < seeds * looks; s++) {
        char seed[24], step[24];
        double last = 100;
        snprintf(seed, sizeof seed, "%lld", (long long)ulp_run_seed(run) + (long long)(s / looks));
        step_text(run, step, sizeof step, (uint64_t)(s % looks));
        formats = 0;
        for (size_t i = 0; i < 4; i++) {
            if (!ulp_run_has_format(run, names[i])) continue;
            double share = lost(run, names[i], seed, step);
            wrong += share > last;
            last = share;
            formats++;
        }
    }
    if (formats > 1)
        ulp_claim(ulp_run_claims(run), wrong == 0,
                  "at every look the lost share does not grow with p: e4m3, bfloat16, binary16, binary32",
                  "%lld looks of %d formats, %d against it", (long long)(looks * seeds), formats, wrong);
}

static void claim_growth(ulp_run *run) {
    char first[24], late[24];
    int64_t looks = ulp_option_integer(run, "looks");
    step_text(run, first, sizeof first, 0);
    step_text(run, late, sizeof late, (uint64_t)(3 * (looks - 1) / 4));
    if (ulp_run_has_format(run, "binary16")) {
        double a = lost(run, "binary16", NULL, first), b = lost(run, "binary16", NULL, late);
        ulp_claim(ulp_run_claims(run), a < 50 && b > 50,
                  "binary16 loses less than half of the updates at the first step and more than half at three quarters "
                  "of the training",
                  "%.2f %% at step %s, %.2f %% at step %s", a, first, b, late);
    }
    if (ulp_run_has_format(run, "bfloat16")) {
        double a = lost(run, "bfloat16", NULL, first), b = lost(run, "bfloat16", NULL, late);
        ulp_claim(ulp_run_claims(run), b > a && b > 90,
                  "bfloat16 loses more than nine in ten at three quarters of the training, more than at first",
                  "%.2f %% at step %s, %.2f %% at step %s", a, first, b, late);
    }
    if (ulp_run_has_format(run, "binary32")) {
        double a = lost(run, "binary32", NULL, first);
        ulp_claim(ulp_run_claims(run), a < 0.1, "binary32 loses less than one in a thousand at the first step",
                  "%.4f %%", a);
    }
}

/* One format's runs without master weights. */
static void claim_training(ulp_run *run, const char *format) {
    double whole = score(run, "train_loss", "binary32", "rne"), near = score(run, "train_loss", format, "rne"),
           random = score(run, "train_loss", format, "sra");
    char text[160];
    if (!isnan(near)) {
        snprintf(text, sizeof text,
                 "weights in %s alone, rounded to nearest, end at a higher training loss than in binary32", format);
        ulp_claim(ulp_run_claims(run), near > whole, text, "%.5f, binary32 %.5f", near, whole);
    }
    if (!isnan(near) && !isnan(random)) {
        snprintf(text, sizeof text,
                 "weights in %s alone, rounded stochastically, end nearer to binary32's training loss than rounded to "
                 "nearest",
                 format);
        ulp_claim(ulp_run_claims(run), fabs(random - whole) < fabs(near - whole), text,
                  "%.5f, to nearest %.5f, binary32 %.5f", random, near, whole);
    }
}

/* The measured facts are about the training of the table of options. */
static void claim_measured(ulp_run *run) {
    static const char *const names[] = {"binary16", "bfloat16", "e4m3"};
    char why[256];
    if (ulp_options_differ(ulp_run_claims(run), "net set batch steps rate schedule momentum", why, sizeof why)) {
        ulp_claim_skip(ulp_run_claims(run), "what the formats lose, and what that does to the training", "%s", why);
        return;
    }
    claim_order(run);
    claim_growth(run);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) claim_training(run, names[i]);
}

void update_ratio_check(ulp_run *run, const void *context) {
    (void)context;
    print_formats(run);
    print_runs(run);
    claim_exact(run);
    claim_measured(run);
    if (ulp_run_has_format(run, "binary16")) {
        double n = sum_of(run, "open", "binary16", NULL, NULL);
        ulp_beside(ulp_run_claims(run),
                   &(ulp_published){"ratio |w|/|u| from which binary16 loses updates",
                                    "Micikevicius et al. 2018, section 3.1", "2048"},
                   "%.0f %% of those between 2048 and 4096, all from 4096 on",
                   n > 0 ? 100 * sum_of(run, "open_lost", "binary16", NULL, NULL) / n : 0);
    }
}
