/* claims.c - the table of cartoon_sgd, and the claims about its rows. */
#include <math.h>
#include <stdio.h>

#include "cartoon_sgd.h"

/* ---- rows ---- */

/* The first row of kind `what` of the weight with this cure under rne; NULL if there is no such row. */
static const row *find(const ulp_claims *c, const ulp_format *format, ulp_cure cure, int what) {
    return ulp_sum_find(c->table, &(ulp_sum_wanted){format, NULL, cure, what});
}

/* find() for the format with this name. */
static const row *find_named(const ulp_claims *c, const char *format, ulp_cure cure, int what) {
    const settings *s = c->settings;
    return find(c, ulp_formats_find(&s->formats, format), cure, what);
}

/* The summary of a stochastic mode after k updates; NULL if there is no such row. */
static const row *runs_at(const ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule, int64_t k) {
    if (!rule) return NULL;
    return ulp_sum_find_at(c->table, &(ulp_sum_wanted){format, rule, ULP_CURE_NONE, SPREAD}, offsetof(row, update), k);
}

/* ---- claims ---- */

static const struct fact {
    const char *format;
    int64_t updates;
    double weight;
} facts[] = {
    {"binary16", 199, 2.953125},
    {"bfloat16", 94, 2.625},
    {"e4m3", 17, 1},
    {"e5m2", 8, 0.5},
    {"binary32", 645, 2.99999427795410156},
};

static void claim_facts(ulp_claims *c) {
    const settings *s = c->settings;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const struct fact *want = &facts[i];
        const row *stop = find_named(c, want->format, ULP_CURE_NONE, STOP);
        char text[160];
        snprintf(text, sizeof text, "%s rne: %lld updates move the weight, which then is stuck at exactly %.14g",
                 want->format, (long long)want->updates, want->weight);
        if (stop)
            ulp_claim(c, stop->weight == want->weight && stop->update == want->updates, text, "%lld updates, %.17g",
                      (long long)stop->update, stop->weight);
        else if (find_named(c, want->format, ULP_CURE_NONE, OPEN))
            ulp_claim_skip(c, text, "--updates is %lld", (long long)s->updates);
    }
}

/* `want` is published to six decimals. */
static void claim_master(ulp_claims *c, const char *format, double want) {
    const row *stop = find_named(c, format, ULP_CURE_MASTER, STOP);
    char text[160];
    if (!stop) return;
    snprintf(text, sizeof text, "%s with a master copy: the copy stops at %.6f, which is 3 in the format", format,
             want);
    ulp_claim(c, floor(1e6 * stop->weight + 0.5) == floor(1e6 * want + 0.5) && stop->value == 3, text, "%.9g, %.9g",
              stop->weight, stop->value);
}

static void claim_cures(ulp_claims *c) {
    static const char *const wide[] = {"binary32", "binary16", "tf32", "bfloat16", "e6m9"}, *const narrow[] = {"e4m3",
                                                                                                               "e5m2"};
    int count = 0, good = 0;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        const row *stop = find_named(c, wide[i], ULP_CURE_KAHAN, STOP);
        count += stop != NULL;
        good += stop && stop->value == 3;
    }
    if (count)
        ulp_claim(c, good == count,
                  "Kahan's compensated update reaches exactly 3 in formats of 8 bits of precision and more", "%d of %d",
                  good, count);
    count = good = 0;
    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++) {
        const row *stop = find_named(c, narrow[i], ULP_CURE_KAHAN, STOP),
                  *plain = find_named(c, narrow[i], ULP_CURE_NONE, STOP);
        if (!stop || !plain) continue;
        count++;
        good += stop->value < 3 && stop->value > plain->value;
    }
    if (count)
        ulp_claim(c, good == count, "in 8 bits it gets further than the plain update, but not to 3", "%d of %d", good,
                  count);
}

/* The distance of w from 3 after k updates without rounding. */
static double exact_distance(double rate, int64_t k) {
    double left = 3;
    for (int64_t i = 0; i < k; i++) left *= 1 - 2 * rate;
    return left;
}

/* The number of updates (a multiple of EVERY) after which the exact distance from 3 is at most 0.75, a quarter of the
 * start's; less if --updates is less. */
static int64_t half_way(const settings *s) {
    int64_t k = 0;
    while (k + EVERY <= s->updates && exact_distance(s->rate, k) > 0.75) k += EVERY;
    return k;
}

/* A bound of the mean number of runs that are not at 3 after --updates updates, by Markov's inequality: the mean
 * distance from 3 after k updates is 3 (1 - 2 rate)^k, and a run that is not at 3 is at least one spacing away. */
static double late_runs(const settings *s, const ulp_format *format) {
    const double distance = exact_distance(rate_in(s, format, ULP_CURE_NONE), s->updates);
    return (double)s->runs * distance / ulp_spacing(3, format);
}

static void claim_arrival(ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule, const row *end) {
    const settings *s = c->settings;
    const double least = end->runs.quantile[0], most = end->runs.quantile[ULP_QUANTILES - 1];
    char text[200];
    snprintf(text, sizeof text, "%s %s: every run ends at exactly 3", format->name, rule->name);
    if (late_runs(s, format) > 1e-6)
        ulp_claim_skip(c, text, "--updates %lld of rate %g may be too few", (long long)s->updates,
                       rate_in(s, format, ULP_CURE_NONE));
    else
        ulp_claim(c, least == 3 && most == 3, text, "least %.9g, most %.9g of %lld run%s", least, most,
                  (long long)s->runs, ulp_plural((size_t)s->runs));
}

static void claim_stochastic(ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule) {
    const settings *s = c->settings;
    const int64_t k = half_way(s);
    const row *end = runs_at(c, format, rule, s->updates), *middle = runs_at(c, format, rule, k);
    const double runs = (double)s->runs;
    char text[200];
    if (!end || !middle) return;
    claim_arrival(c, format, rule, end);
    const double want = 3 - exact_distance(rate_in(s, format, ULP_CURE_NONE), k), mean = middle->runs.mean,
                 error = middle->runs.sd / sqrt(runs);
    snprintf(text, sizeof text, "%s %s: after %lld updates the mean is the exact weight within 5 standard errors",
             format->name, rule->name, (long long)k);
    if (runs < 100 || error == 0)
        ulp_claim_skip(c, text, runs < 100 ? "--runs is less than 100" : "all runs are alike");
    else
        ulp_claim(c, fabs(mean - want) <= 5 * error, text, "mean %.9g, exact %.9g, off by %.2f", mean, want,
                  fabs(mean - want) / error);
}

/* ---- the table and the summary ---- */

static void print_end(ulp_sheet *sheet, const row *stop, const row *open) {
    if (stop) ulp_sheet_put(sheet, "%.8g after %lld", stop->weight, (long long)stop->update);
    else if (open) ulp_sheet_put(sheet, "%.8g, moving", open->weight);
    else ulp_sheet_put(sheet, "-");
}

static void print_format(ulp_sheet *sheet, const ulp_claims *c, const ulp_format *format) {
    static const char *const modes[] = {"rne", "rz", "ru"};
    const settings *s = c->settings;
    const row *runs = runs_at(c, format, ulp_rules_find(&s->modes, "sra"), s->updates);
    ulp_sheet_put(sheet, "%s", format->name);
    ulp_sheet_put(sheet, "%.7g", rate_in(s, format, ULP_CURE_NONE));
    for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
        const ulp_named_rule *rule = ulp_rules_find(&s->modes, modes[m]);
        const ulp_sum_wanted stop = {format, rule, ULP_CURE_NONE, STOP}, open = {format, rule, ULP_CURE_NONE, OPEN};
        print_end(sheet, rule ? ulp_sum_find(c->table, &stop) : NULL, rule ? ulp_sum_find(c->table, &open) : NULL);
    }
    for (int k = 0; k < CURES; k++) print_end(sheet, find(c, format, cures[k], STOP), find(c, format, cures[k], OPEN));
    if (runs) ulp_sheet_put(sheet, "%.7g +- %.2g", runs->runs.mean, runs->runs.sd);
    else ulp_sheet_put(sheet, "-");
}

static void print_table(const ulp_claims *c) {
    const settings *s = c->settings;
    char columns[160];
    snprintf(columns, sizeof columns, "format,rate,rne,rz,ru,kahan,master,sra after %lld", (long long)s->updates);
    ulp_sheet *sheet = ulp_sheet_new("the weight at the end, and the updates that moved it; the top is at 3", columns);
    for (size_t f = 0; f < s->formats.count; f++) print_format(sheet, c, &s->formats.at[f]);
    ulp_sheet_print(sheet, c->file);
}

/* The weight at the stop under rne, and the number of updates that move it. */
static void summarize(ulp_claims *c, const ulp_format *format, ulp_cure cure) {
    const row *stop = find(c, format, cure, STOP);
    if (!stop) return;
    ulp_sum_summary(c, "stop", stop->weight, format, cure);
    ulp_sum_summary(c, "updates", (double)stop->update, format, cure);
}

/* The lowest end of the runs of a stochastic mode. */
static void summarize_runs(ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule) {
    const settings *s = c->settings;
    const row *end = runs_at(c, format, rule, s->updates);
    if (end) ulp_summary(c, "lowest end", end->runs.quantile[0], "%s %s", format->name, rule->name);
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    print_table(c);
    for (size_t f = 0; f < s->formats.count; f++) {
        const ulp_format *format = &s->formats.at[f];
        summarize(c, format, ULP_CURE_NONE);
        for (int k = 0; k < CURES; k++) summarize(c, format, cures[k]);
        for (size_t m = 0; m < s->modes.count; m++) summarize_runs(c, format, &s->modes.at[m]);
    }
    if (s->rate == 0.01) {
        claim_facts(c);
        claim_master(c, "binary16", 2.999047);
        claim_master(c, "bfloat16", 2.992344);
        claim_cures(c);
    } else ulp_claim_skip(c, "the published numbers", "they are for --rate 0.01");
    for (size_t f = 0; f < s->formats.count; f++)
        for (size_t m = 0; m < s->modes.count; m++)
            if (ulp_mode_is_stochastic(s->modes.at[m].rule.mode) && s->modes.at[m].rule.random_bits == 0)
                claim_stochastic(c, &s->formats.at[f], &s->modes.at[m]);
}
