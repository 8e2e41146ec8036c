/* counting.c - count by adding ones: at which number does every format stop, and what lets it count further?
 *
 * In precision p the numbers from 2^p to 2^(p+1) are 2 apart. 2^p + 1 is not a number of the format, and the rounding
 * mode decides where the count goes from 2^p:
 *
 *  - to nearest even, toward zero and down: the result is 2^p again. The count stays at 2^p.
 *  - to nearest, ties away from zero: the count goes on in steps of 2 to 2^(p+1), where 1 is a quarter of the spacing.
 *  - to odd: the count goes to 2^p + 2, whose significand is odd, and stays.
 *  - up: the count goes on in steps of one spacing to the end of the range.
 *
 * Fixed point counts exactly up to its largest value.
 *
 * Three cures are tried under rne:
 *
 *  - chunks: the ones are added in chunks of --chunk ones, and then the sums of the chunks are added. The sum stops at
 *    --chunk times 2^p.
 *  - kahan: compensated summation in the format (Kahan 1965, doi:10.1145/363707.363723). The correction counts by ones
 *    too, up to 2^p. A correction of 2^p moves a sum whose spacing is less than 2^(p+1). The sum stops at 2^(2p), where
 *    the spacing is 2^(p+1).
 *  - master: the sum is kept in binary32. Its value is this sum rounded to the format. The sum stops at 2^24.
 *
 * Stochastic rounding is measured over many runs. A step from the sum S adds a variance of at most
 * spacing(S) <= S 2^(1-p), and the mean of S is the number of steps n. The standard deviation after n steps is
 * therefore at most n 2^(-p/2).
 *
 * The kinds of rows:
 *
 *  - path: one run, thinned to 16 rows per octave. A path with the cure chunks has rows at the ends of chunks only.
 *  - stop: the last addition that moves the sum, and the value where the sum stops
 *  - open: the sum still moves after --limit additions
 *  - spread: a summary of all runs of a stochastic mode
 */
#include "experiments/harness/sums.h"

#include <math.h>
#include <stdio.h>

typedef struct settings {
    ulp_sum_settings sums;
    int64_t limit, terms, chunk;
} settings;

static const ulp_sum_cures cures = {{ULP_CURE_CHUNKS, ULP_CURE_KAHAN, ULP_CURE_MASTER}, 3};

/* The rounded value of every number far beyond the format's range: a sum that leaves the range stays there. */
static double end_of(const ulp_format *format, ulp_rule rule) { return ulp_round(4 * format->max, format, rule, 0); }

/* The value where a deterministic count stops, in chunks of `chunk` ones under ULP_CURE_CHUNKS. Returns 1, or 0 if
 * nothing is predicted. */
static int predict(double *value, const ulp_format *f, ulp_rule rule, ulp_cure cure, int64_t chunk) {
    const double top = ldexp(1, f->prec), end = end_of(f, rule), n = (double)chunk;
    if (ulp_mode_is_stochastic(rule.mode) || ulp_overflow_of(f, (ulp_overflow)rule.overflow) == ULP_OVERFLOW_WRAP ||
        (f->prec < 2 && !f->is_fixed) || !f->has_zero)
        return 0;
    int known = 1;
    *value = end;
    switch (cure) {
    case ULP_CURE_CHUNKS: /* powers of two only: other sums of chunks are rounded before the stop */
        known = (chunk & (chunk - 1)) == 0 && n <= f->max && (f->is_fixed || n <= top);
        if (!f->is_fixed && n * top <= f->max) *value = n * top;
        break;
    case ULP_CURE_KAHAN:
        known = !f->is_fixed && f->is_signed &&
                top * top <= f->max; /* the correction is negative: the format needs a sign */
        *value = top * top;
        break;
    case ULP_CURE_MASTER: *value = ulp_round(0x1p24, f, rule, 0); break;
    case ULP_CURE_FIRST:
    case ULP_CURE_NONE:
        if (f->is_fixed || f->max < top) break;
        if (rule.mode == ULP_RNE || rule.mode == ULP_RNZ || rule.mode == ULP_RND || rule.mode == ULP_RZ ||
            rule.mode == ULP_RD)
            *value = top;
        else if ((rule.mode == ULP_RNA || rule.mode == ULP_RNU) && 2 * top <= f->max) *value = 2 * top;
        else if (rule.mode == ULP_RO && top + 2 <= f->max) *value = top + 2;
        break;
    }
    return known;
}

static int takes_format(const ulp_format *f) { return ulp_format_within_binary32(f) && f->taper == ULP_TAPER_NONE; }

static const ulp_option options[] = {
    ULP_OPTION_FORMATS_IF(settings, sums.formats, ULP_SUM_FORMATS, NULL, takes_format,
                          ULP_WANTS_WITHIN_BINARY32 ", " ULP_WANTS_ONE_PRECISION),
    ULP_OPTION_MODES_OF(settings, sums.modes, "rne,rz,ru,sra", NULL),
    ULP_OPTION(settings, limit, integer, "16777218", .quick = "1050000",
               .help = "additions after which a deterministic sum that still moves is left alone", .min = 1,
               .max = 1e9),
    ULP_OPTION(settings, terms, integer, "32768", .help = "additions of a stochastic run", .min = 1, .max = 1e7),
    ULP_OPTION_RUNS(settings, sums.runs, "500", "200", "10000"),
    ULP_OPTION_PATHS(settings, sums.paths, "3"),
    ULP_OPTION(settings, chunk, integer, "8", .help = "ones in a chunk", .min = 1, .max = 1e6),
    ULP_OPTION_SEED(settings, sums.seed),
    ULP_OPTION_BACKEND_OF(settings, sums.backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_SUM_COLUMNS,
    ULP_COLUMNS(ulp_sum_row, n, value, code, predicted),
    ULP_DISTRIBUTION_COLUMNS_OF(ulp_sum_row, runs),
    {0},
};

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    ulp_sum_points(plan, &(ulp_sum_grid){&s->sums, &cures, {1, 30, 4}, {20, 30, 20}});
    return ULP_OK;
}

static void count(ulp_sum *s, int64_t k, const void *own) {
    (void)k, (void)own;
    ulp_sum_add(s, 1, 0);
}

static ulp_status compute(const ulp_task *task) {
    const settings *set = task->settings;
    ulp_sum s = ulp_sum_start(task->point);
    if (ulp_mode_is_stochastic(s.rule.mode))
        return ulp_sum_put_crowd(task, &s,
                                 &(ulp_sum_crowd){.name = "counting",
                                                  .steps = set->terms,
                                                  .arrays = 2, /* the sums, and ones */
                                                  .start = {s.value, 1},
                                                  .operations = 1,
                                                  .operation = {{ULP_ADD, 0, 0, 1, ""}}});
    if (s.cure == ULP_CURE_CHUNKS) s.period = set->chunk;
    /* the value of a master copy may reach the end of the format's range before the copy stops */
    const double range_end = end_of(s.format, s.rule);
    ulp_sum_row end = ulp_sum_follow(
        task, &s,
        &(ulp_sum_way){.step = count, .limit = set->limit, .end = s.cure == ULP_CURE_MASTER ? &range_end : NULL});
    double predicted;
    if (predict(&predicted, s.format, s.rule, s.cure, s.period)) end.predicted = predicted;
    ulp_row_put(task->rows, &end);
    return ULP_OK;
}

/* ---- the claims ---- */

/* log2 of the number at which the plain sum stops in each format under rne. */
static const struct fact {
    const char *format;
    int log2;
} facts[] = {{"binary32", 24}, {"binary16", 11}, {"tf32", 11}, {"bfloat16", 8}, {"e6m9", 10}, {"e4m3", 4}, {"e5m2", 3}};

static void claim_facts(ulp_claims *c) {
    const settings *s = c->settings;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const double want = ldexp(1, facts[i].log2);
        const char *text = ulp_claim_text(
            c, "%s rne: ones add up to exactly 2^%d = %.0f, and no addition after that many moves the sum",
            facts[i].format, facts[i].log2, want);
        const ulp_sum_row *stop = ulp_sum_stop_for(c, facts[i].format, text, "limit", s->limit);
        if (stop)
            ulp_claim(c, stop->value == want && (double)stop->n == want, text, "stops at %.17g after %lld additions",
                      stop->value, (long long)stop->n);
    }
}

/* Compares the ends of the sums with this cure with their predictions, in all deterministic modes of these sums. */
static void claim_predicted(ulp_claims *c, ulp_cure cure, const char *text) {
    int good = 0, bad = 0, open = 0;
    char first_bad[96] = "";
    for (size_t i = 0; i < c->table->count; i++) {
        const ulp_sum_row *r = (const ulp_sum_row *)c->table->rows + i;
        if (r->cure != (int)cure || ulp_is_no_number(r->predicted)) continue; /* ends alone have a prediction */
        if (r->what == ULP_SUM_STOP && ulp_same(r->value, r->predicted)) good++;
        else if (r->what == ULP_SUM_OPEN && !(r->value > r->predicted)) open++;
        else if (bad++ == 0)
            snprintf(first_bad, sizeof first_bad, "; %s %s: predicted %.10g, got %.17g", r->format, r->mode,
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

/* The tests are many, and the sums of 8-bit formats have a skewed distribution. The tests allow 5 standard errors, so
 * that an experiment with another seed does not fail by chance. */
static void claim_stochastic(ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule) {
    const settings *s = c->settings;
    const int64_t n = far_out(s, format);
    const ulp_sum_row *r = n ? ulp_sum_after(c, format, rule, ULP_SUM_SPREAD, n) : NULL;
    const double runs = (double)s->sums.runs, bound = (double)n * sqrt(ldexp(1, -format->prec));
    if (!r) return;
    const double mean = r->runs.mean, sd = r->runs.sd, least = r->runs.quantile[0];
    const char *text = ulp_claim_text(
        c,
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

static void print_end(ulp_sheet *sheet, const ulp_sum_row *stop, const ulp_sum_row *open) {
    if (!stop && !open) ulp_sheet_put(sheet, "-");
    else if (!stop) ulp_sheet_put(sheet, "> %.10g", open->value);
    else if (isfinite(stop->value)) ulp_sheet_put(sheet, "%.10g", stop->value);
    else ulp_sheet_put(sheet, "%g (%lld)", stop->value, (long long)stop->n);
}

static void print_format(ulp_sheet *sheet, const ulp_claims *c, const ulp_format *format) {
    const int64_t far = far_out(c->settings, format), n = far ? far : ((const settings *)c->settings)->terms;
    const ulp_sum_row *runs = ulp_sum_after(c, format, ulp_sum_rule(c, "sra"), ULP_SUM_SPREAD, n);
    double predicted;
    ulp_sheet_put_row(sheet, "%s,%d", format->name, format->prec);
    ULP_SHEET_PUT_IF(predict(&predicted, format, (ulp_rule){0}, ULP_CURE_NONE, 1), sheet, "%.10g", predicted);
    ulp_sum_put_ends(sheet, c, format, "rne rz ru", &cures, print_end);
    ULP_SHEET_PUT_IF(runs, sheet, "%.6g +- %.3g of %lld", runs->runs.mean, runs->runs.sd, (long long)n);
}

static void print_table(ulp_claims *c) {
    const settings *s = c->settings;
    const char *heads =
        ulp_claim_text(c, "format,p,predicted,rne,rz,ru,chunks of %lld,kahan,master,sra", (long long)s->chunk);
    ulp_sheet *sheet = ulp_sheet_new("where adding ones stops; predicted for rne; in brackets: the addition that "
                                     "leaves the range; >: still moving; sra: mean +- sd",
                                     heads);
    for (size_t f = 0; f < s->sums.formats.count; f++) print_format(sheet, c, &s->sums.formats.at[f]);
    ulp_sheet_print(sheet, c->file);
}

/* The number at which the count stops under rne, and its prediction. */
static void summarize(ulp_claims *c, const ulp_sum_row *stop, const char *of) {
    ulp_summary(c, "stop", stop->value, "%s", of);
    if (!ulp_is_no_number(stop->predicted)) ulp_summary(c, "predicted stop", stop->predicted, "%s", of);
}

void judge(ulp_claims *c) {
    const ulp_format_list *formats = &((const settings *)c->settings)->sums.formats;
    print_table(c);
    for (size_t f = 0; f < formats->count; f++) {
        ulp_summary(c, "largest number", formats->at[f].max, "%s", formats->at[f].name);
        ulp_sum_summarize(c, &formats->at[f], &cures, summarize);
    }
    claim_facts(c);
    claim_predicted(c, ULP_CURE_NONE, "every plain sum stops where its format and mode say beforehand");
    claim_predicted(c, ULP_CURE_CHUNKS,
                    "in chunks of a power of two sums stop at the chunk times 2^p, or at the end of the range");
    claim_predicted(c, ULP_CURE_KAHAN,
                    "Kahan's summation squares the reach: it stops at 2^(2p) where the range has room");
    claim_predicted(c, ULP_CURE_MASTER,
                    "with a binary32 master copy the sum stops at 2^24, or at the end of the format's range");
    ulp_sum_each_stochastic(c, claim_stochastic);
}

const ulp_experiment experiment = {
    .name = "counting",
    .question = "Count by adding ones: at which number does every format stop, as predicted, and what counts on?",
    ULP_EXPERIMENT_OF(settings, ulp_sum_point, ulp_sum_row),
};
