/* claims.c - the tables of update_ratio, and the claims about its rows. */
#include "update_ratio.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Selects the tallies of a sum. */
typedef struct wanted {
    int what; /* SHARE or EDGE */
    const char *format;
    int64_t seed, step; /* ULP_NO_INTEGER: all seeds, all steps */
} wanted;

static tally sum_of(const ulp_claims *c, wanted w) {
    tally sum = {0};
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (r->what != w.what || strcmp(r->format, w.format) != 0 || strcmp(r->layer, ALL_LAYERS) != 0) continue;
        if ((w.seed != ULP_NO_INTEGER && r->seed != w.seed) || (w.step != ULP_NO_INTEGER && r->step != w.step))
            continue;
        tally of_row = r->tally;
        of_row.count = r->bin.count;
        tally_add(&sum, &of_row);
    }
    return sum;
}

static tally all_of(const ulp_claims *c, int what, const char *format) {
    return sum_of(c, (wanted){what, format, ULP_NO_INTEGER, ULP_NO_INTEGER});
}

static double percent_lost(tally t) {
    const int64_t n = t.count - t.zero;
    return n > 0 ? 100 * (double)t.lost / (double)n : 0;
}

/* The percentage of the non-zero updates of a step that a format loses, over all seeds. */
static double lost(const ulp_claims *c, const char *format, int64_t step) {
    return percent_lost(sum_of(c, (wanted){SHARE, format, ULP_NO_INTEGER, step}));
}

/* The step of the look after `quarters` quarters of the looks. */
static int64_t quarter(const settings *set, int64_t quarters) {
    return look_step(set, quarters * (set->looks - 1) / 4);
}

static int has_format(const ulp_claims *c, const char *name) {
    return ulp_formats_find(&((const settings *)c->settings)->formats, name) != NULL;
}

/* The mean over the seeds of a value after the last step. NaN if there is no row. */
static double score(const ulp_claims *c, int what, const char *format, const char *mode) {
    double sum = 0, n = 0;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (r->what != what || strcmp(r->run, format) != 0 || strcmp(r->mode, mode) != 0) continue;
        sum += r->value;
        n++;
    }
    return n > 0 ? sum / n : (double)NAN;
}

static void print_formats(const ulp_claims *c) {
    const settings *set = c->settings;
    ulp_sheet *table = ulp_sheet_new(
        "percent of the non-zero updates of the binary32 run that round(w + u) = w would lose, weights of each format",
        "format,p,first step,middle,at 3/4,last step,all looks,all: ratio below 2^p,2^p to 2^(p+1),of these lost,from "
        "2^(p+1),weight not normal");
    for (size_t i = 0; i < set->formats.count; i++) {
        const ulp_format *f = &set->formats.at[i];
        const tally all = all_of(c, SHARE, f->name);
        const double n = (double)(all.count - all.zero), open = (double)all.open;
        ulp_sheet_put_row(table, "%s,%d,%.4g", f->name, f->prec, lost(c, f->name, quarter(set, 0)));
        for (int q = 2; q <= 4; q++) ulp_sheet_put(table, "%.4g", lost(c, f->name, quarter(set, q)));
        ulp_sheet_put_row(table, "%.4g,%.4g,%.4g", percent_lost(all), 100 * (double)all.safe / n, 100 * open / n);
        ulp_sheet_put(table, open > 0 ? "%.3g" : "-", 100 * (double)all.open_lost / open);
        ulp_sheet_put_row(table, "%.4g,%.4g", 100 * (double)all.certain / n, 100 * (double)all.small / n);
    }
    ulp_sheet_print(table, c->file);
}

static void print_runs(const ulp_claims *c) {
    const int64_t seed = (int64_t)((const settings *)c->settings)->lesson.seed;
    ulp_sheet *table =
        ulp_sheet_new("trained with weights of a format and no master weights, all else binary32; means of the seeds",
                      "weights,mode,training loss,training accuracy,test accuracy");
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (r->what != TRAIN_LOSS || r->seed != seed) continue;
        ulp_sheet_put_row(table, "%s,%s,%.5g,%.2f %%,%.2f %%", r->run, r->mode, score(c, TRAIN_LOSS, r->run, r->mode),
                          100 * score(c, TRAIN_ACCURACY, r->run, r->mode),
                          100 * score(c, TEST_ACCURACY, r->run, r->mode));
    }
    ulp_sheet_print(table, c->file);
}

/* Claims that hold for every element under all options. */
static void claim_exact(ulp_claims *c) {
    const settings *set = c->settings;
    tally share = {0}, edge = {0};
    for (size_t i = 0; i < set->formats.count; i++) {
        const tally shares = all_of(c, SHARE, set->formats.at[i].name),
                    edges = all_of(c, EDGE, set->formats.at[i].name);
        tally_add(&share, &shares);
        tally_add(&edge, &edges);
    }
    const long long n = share.count - share.zero, criterion = share.against_criterion + edge.against_criterion;
    ulp_claim(c, n > 0 && criterion == 0,
              "an update is lost exactly if it is less than half the distance to the weight's neighbour, or that half "
              "and the weight is even",
              "%lld updates that are not zero and %lld made ones at and beside that half, %lld against it", n,
              (long long)edge.count, criterion);
    ulp_claim(c, share.certain + share.safe > 0 && share.against_zones == 0,
              "from |w/u| = 2^(p+1) on every update is lost; below 2^p every normal weight moves",
              "%lld and %lld of the updates, %lld against it", (long long)share.certain, (long long)share.safe,
              (long long)share.against_zones);
    if (!has_format(c, "binary32")) return;
    const tally whole = all_of(c, SHARE, "binary32");
    ulp_claim(c, whole.count > 0 && whole.against_run == 0,
              "the updates are those of the run: in binary32 w + u is the run's next weight, bit for bit",
              "%lld weights, %lld against it", (long long)whole.count, (long long)whole.against_run);
}

/* Claims that a format with more significand bits does not lose more updates, at every look of every seed. */
static void claim_order(ulp_claims *c) {
    static const char *const names[] = {"e4m3", "bfloat16", "binary16", "binary32"};
    const settings *set = c->settings;
    int wrong = 0, formats = 0;
    for (int64_t s = 0; s < set->lesson.seeds * set->looks; s++) {
        const int64_t seed = (int64_t)set->lesson.seed + s / set->looks, step = look_step(set, s % set->looks);
        double last = 100;
        formats = 0;
        for (size_t i = 0; i < 4; i++) {
            if (!has_format(c, names[i])) continue;
            const double share = percent_lost(sum_of(c, (wanted){SHARE, names[i], seed, step}));
            wrong += share > last;
            last = share;
            formats++;
        }
    }
    if (formats > 1)
        ulp_claim(
            c, wrong == 0, "at every look the lost share does not grow with p: e4m3, bfloat16, binary16, binary32",
            "%lld looks of %d formats, %d against it", (long long)(set->looks * set->lesson.seeds), formats, wrong);
}

/* A format with fewer significand bits also loses the updates that p bits lose. So the updates that binary32 loses are
 * among the updates that binary16 loses. */
static void claim_binary32(ulp_claims *c, int64_t first) {
    const char *text =
        "binary32 loses less than half of what binary16 loses at the first step (13 octaves further out)";
    const double wide = lost(c, "binary32", first), half = lost(c, "binary16", first);
    if (!has_format(c, "binary32")) return;
    if (!has_format(c, "binary16")) ulp_claim_skip(c, text, "binary16 is not in --formats");
    else ulp_claim(c, wide < half / 2, text, "%.4f %%, binary16 %.2f %%", wide, half);
}

static void claim_growth(ulp_claims *c) {
    const settings *set = c->settings;
    const int64_t first = quarter(set, 0), late = quarter(set, 3);
    if (has_format(c, "binary16")) {
        const double a = lost(c, "binary16", first), b = lost(c, "binary16", late);
        ulp_claim(c, a < 50 && b > 50,
                  "binary16 loses less than half of the updates at the first step and more than half at three quarters "
                  "of the training",
                  "%.2f %% at step %lld, %.2f %% at step %lld", a, (long long)first, b, (long long)late);
    }
    if (has_format(c, "bfloat16")) {
        const double a = lost(c, "bfloat16", first), b = lost(c, "bfloat16", late);
        ulp_claim(c, b > a && b > 90,
                  "bfloat16 loses more than nine in ten at three quarters of the training, more than at first",
                  "%.2f %% at step %lld, %.2f %% at step %lld", a, (long long)first, b, (long long)late);
    }
    claim_binary32(c, first);
}

/* Claims about the runs with weights of one format and without master weights. */
static void claim_training(ulp_claims *c, const char *format) {
    double whole = score(c, TRAIN_LOSS, "binary32", "rne"), near = score(c, TRAIN_LOSS, format, "rne"),
           random = score(c, TRAIN_LOSS, format, "sra");
    char text[160];
    if (!isnan(near)) {
        snprintf(text, sizeof text,
                 "weights in %s alone, rounded to nearest, end at a higher training loss than in binary32", format);
        ulp_claim(c, near > whole, text, "%.5f, binary32 %.5f", near, whole);
    }
    if (!isnan(near) && !isnan(random)) {
        snprintf(text, sizeof text,
                 "weights in %s alone, rounded stochastically, end nearer to binary32's training loss than rounded to "
                 "nearest",
                 format);
        ulp_claim(c, fabs(random - whole) < fabs(near - whole), text, "%.5f, to nearest %.5f, binary32 %.5f", random,
                  near, whole);
    }
}

/* Claims about measured numbers. They hold for the training with the default options. */
static void claim_measured(ulp_claims *c) {
    static const char *const names[] = {"binary16", "bfloat16", "e4m3"};
    const char *why = ulp_claim_reason(c, "net, set, batch, steps, rate, schedule, momentum");
    if (*why) {
        ulp_claim_skip(c, "what the formats lose, and what that does to the training", "%s", why);
        return;
    }
    claim_order(c);
    claim_growth(c);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) claim_training(c, names[i]);
}

/* The numbers of the figure: its labels, its headline and the positions of its bands. */
static void sum_up(ulp_claims *c) {
    const settings *set = c->settings;
    for (int q = 0; q <= 4; q++) ulp_summary(c, "step", (double)quarter(set, q), "quarter %d", q);
    for (size_t i = 0; i < set->formats.count; i++) {
        const char *name = set->formats.at[i].name;
        ulp_summary(c, "significant bits", set->formats.at[i].prec, "%s", name);
        for (int q = 0; q <= 4; q++)
            ulp_summary(c, "percent lost", lost(c, name, quarter(set, q)), "%s quarter %d", name, q);
    }
}

void judge(ulp_claims *c) {
    if (((const settings *)c->settings)->lesson.how.amp.bits) ulp_claims_skip_all(c, ULP_AMP_OTHER);
    print_formats(c);
    print_runs(c);
    sum_up(c);
    claim_exact(c);
    claim_measured(c);
    if (has_format(c, "binary16")) {
        const tally all = all_of(c, SHARE, "binary16");
        ulp_beside(c,
                   &(ulp_published){"ratio |w|/|u| from which binary16 loses updates",
                                    "Micikevicius et al. 2018, section 3.1", "2048"},
                   "%.0f %% of those between 2048 and 4096, all from 4096 on",
                   all.open > 0 ? 100 * (double)all.open_lost / (double)all.open : 0);
    }
}
