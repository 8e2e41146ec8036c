/* claims.c - the table of counting, and the claims about its rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "counting.h"

/* log2 of the number at which the plain sum stops in each format under rne. */
static const struct fact {
    const char *format;
    int log2;
} facts[] = {{"binary32", 24}, {"binary16", 11}, {"tf32", 11}, {"bfloat16", 8}, {"e6m9", 10}, {"e4m3", 4}, {"e5m2", 3}};

/* The first row of kind `what` of the sum with this cure under rne; NULL if there is no such row. */
static const row *find(const ulp_claims *c, const ulp_format *format, ulp_cure cure, int what) {
    return ulp_sum_find(c->table, &(ulp_sum_wanted){format, NULL, cure, what});
}

static void claim_facts(ulp_claims *c) {
    const settings *s = c->settings;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const ulp_format *format = ulp_formats_find(&s->formats, facts[i].format);
        const double want = ldexp(1, facts[i].log2);
        const row *stop = find(c, format, ULP_CURE_NONE, STOP);
        char text[160];
        snprintf(text, sizeof text,
                 "%s rne: ones add up to exactly 2^%d = %.0f, and no addition after that many moves the sum",
                 facts[i].format, facts[i].log2, want);
        if (stop)
            ulp_claim(c, stop->value == want && (double)stop->n == want, text, "stops at %.17g after %lld additions",
                      stop->value, (long long)stop->n);
        else if (find(c, format, ULP_CURE_NONE, OPEN)) ulp_claim_skip(c, text, "--limit is %lld", (long long)s->limit);
    }
}

/* Compares the ends of the sums with this cure with their predictions, in all deterministic modes of these sums. */
static void claim_predicted(ulp_claims *c, ulp_cure cure, const char *text) {
    int good = 0, bad = 0, open = 0;
    char first_bad[96] = "";
    for (size_t i = 0; i < c->table->count; i++) {
        const row *r = (const row *)c->table->rows + i;
        if (r->key.cure != (int)cure || (r->key.what != STOP && r->key.what != OPEN) || ulp_is_no_number(r->predicted))
            continue;
        if (r->key.what == STOP && ulp_same(r->value, r->predicted)) good++;
        else if (r->key.what == OPEN && !(r->value > r->predicted)) open++;
        else if (bad++ == 0)
            snprintf(first_bad, sizeof first_bad, "; %s %s: predicted %.10g, got %.17g", r->key.format, r->key.mode,
                     r->predicted, r->value);
    }
    const ulp_word word = ulp_word_of(ULP_CURE_WORDS, cure);
    if (good + bad > 0) ulp_summary(c, "stops off their predictions", bad, "%s", word.text);
    if (good + bad > 0)
        ulp_claim(c, bad == 0, text, "%d as predicted, %d not, %d still moving at --limit%s", good, bad, open,
                  first_bad);
    else ulp_claim_skip(c, text, "nothing is predicted, or not within --limit");
}

/* A number of terms far beyond the stop: the largest power of two up to --terms that is 12 standard deviations below
 * the end of the range, so that the end affects no run. 0 if this power is less than four times the stop. */
static int64_t far_out(const settings *s, const ulp_format *format) {
    const double room = format->max / (1 + 12 * sqrt(ldexp(1, -format->prec)));
    int64_t n = 1;
    if (format->is_fixed || format->prec < 2) return 0;
    while (2 * n <= s->terms && (double)(2 * n) <= room) n *= 2;
    return n >= 4 * (INT64_C(1) << format->prec) ? n : 0;
}

static const row *runs_at(const ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule, int64_t n) {
    return ulp_sum_find_at(c->table, &(ulp_sum_wanted){format, rule, ULP_CURE_NONE, SPREAD}, offsetof(row, n), n);
}

/* The tests are many, and the sums of 8-bit formats have a skewed distribution. The tests allow 5 standard errors, so
 * that an experiment with another seed does not fail by chance. */
static void claim_stochastic(ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule) {
    const settings *s = c->settings;
    const int64_t n = far_out(s, format);
    const row *r = n ? runs_at(c, format, rule, n) : NULL;
    const double runs = (double)s->runs, bound = (double)n * sqrt(ldexp(1, -format->prec));
    char text[200];
    if (!r) return;
    const double mean = r->runs.mean, sd = r->runs.sd, least = r->runs.quantile[0];
    snprintf(text, sizeof text,
             "%s %s: after %lld ones every run is beyond 2^%d, the mean is right within 5 standard errors, and the "
             "standard deviation is at most n 2^(-p/2)",
             format->name, rule->name, (long long)n, format->prec);
    if (runs < 100) {
        ulp_claim_skip(c, text, "--runs %.0f is less than 100", runs);
        return;
    }
    ulp_claim(c, least > ldexp(1, format->prec) && fabs(mean - (double)n) <= 5 * sd / sqrt(runs) && sd <= bound, text,
              "least %.10g, mean %.10g, off by %.2f, sd %.4g, bound %.4g", least, mean,
              fabs(mean - (double)n) / (sd / sqrt(runs)), sd, bound);
}

/* ---- the table ---- */

static void print_end(ulp_sheet *sheet, const row *stop, const row *open) {
    if (!stop && !open) ulp_sheet_put(sheet, "-");
    else if (!stop) ulp_sheet_put(sheet, "> %.10g", open->value);
    else if (isfinite(stop->value)) ulp_sheet_put(sheet, "%.10g", stop->value);
    else ulp_sheet_put(sheet, "%g (%lld)", stop->value, (long long)stop->n);
}

static void print_format(ulp_sheet *sheet, const ulp_claims *c, const ulp_format *format) {
    static const char *const modes[] = {"rne", "rz", "ru"};
    const settings *s = c->settings;
    const int64_t far = far_out(s, format), n = far ? far : s->terms;
    const ulp_named_rule *sra = ulp_rules_find(&s->modes, "sra");
    const row *runs = sra ? runs_at(c, format, sra, n) : NULL;
    double predicted;
    ulp_sheet_put(sheet, "%s", format->name);
    ulp_sheet_put(sheet, "%d", format->prec);
    if (predict(&predicted, format, (ulp_rule){0}, ULP_CURE_NONE, 1)) ulp_sheet_put(sheet, "%.10g", predicted);
    else ulp_sheet_put(sheet, "-");
    for (int m = 0; m < 3; m++) {
        const ulp_named_rule *rule = ulp_rules_find(&s->modes, modes[m]);
        const ulp_sum_wanted stop = {format, rule, ULP_CURE_NONE, STOP}, open = {format, rule, ULP_CURE_NONE, OPEN};
        print_end(sheet, rule ? ulp_sum_find(c->table, &stop) : NULL, rule ? ulp_sum_find(c->table, &open) : NULL);
    }
    for (int k = 0; k < CURES; k++) print_end(sheet, find(c, format, cures[k], STOP), find(c, format, cures[k], OPEN));
    if (runs) ulp_sheet_put(sheet, "%.6g +- %.3g of %lld", runs->runs.mean, runs->runs.sd, (long long)n);
    else ulp_sheet_put(sheet, "-");
}

static void print_table(const ulp_claims *c) {
    const settings *s = c->settings;
    char columns[160];
    snprintf(columns, sizeof columns, "format,p,predicted,rne,rz,ru,chunks of %lld,kahan,master,sra",
             (long long)s->chunk);
    ulp_sheet *sheet = ulp_sheet_new("where adding ones stops; predicted for rne; in brackets: the addition that "
                                     "leaves the range; >: still moving; sra: mean +- sd",
                                     columns);
    for (size_t f = 0; f < s->formats.count; f++) print_format(sheet, c, &s->formats.at[f]);
    ulp_sheet_print(sheet, c->file);
}

/* The number at which the count stops under rne, and its prediction. */
static void summarize(ulp_claims *c, const ulp_format *format, ulp_cure cure) {
    const row *stop = find(c, format, cure, STOP);
    if (!stop) return;
    ulp_sum_summary(c, "stop", stop->value, format, cure);
    if (!ulp_is_no_number(stop->predicted)) ulp_sum_summary(c, "predicted stop", stop->predicted, format, cure);
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    print_table(c);
    for (size_t f = 0; f < s->formats.count; f++) {
        const ulp_format *format = &s->formats.at[f];
        ulp_summary(c, "largest number", format->max, "%s", format->name);
        summarize(c, format, ULP_CURE_NONE);
        for (int k = 0; k < CURES; k++) summarize(c, format, cures[k]);
    }
    claim_facts(c);
    claim_predicted(c, ULP_CURE_NONE, "every plain sum stops where its format and mode say beforehand");
    claim_predicted(c, ULP_CURE_CHUNKS,
                    "in chunks of a power of two sums stop at the chunk times 2^p, or at the end of the range");
    claim_predicted(c, ULP_CURE_KAHAN,
                    "Kahan's summation squares the reach: it stops at 2^(2p) where the range has room");
    claim_predicted(c, ULP_CURE_MASTER,
                    "with a binary32 master copy the sum stops at 2^24, or at the end of the format's range");
    for (size_t f = 0; f < s->formats.count; f++)
        for (size_t m = 0; m < s->modes.count; m++)
            if (ulp_mode_is_stochastic(s->modes.at[m].rule.mode) && s->modes.at[m].rule.random_bits == 0)
                claim_stochastic(c, &s->formats.at[f], &s->modes.at[m]);
}
