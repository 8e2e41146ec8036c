/* claims.c - the predicted stops of harmonic (harmonic.c says why), its table, and the claims about its rows. */
#include <math.h>
#include <stdio.h>

#include "harmonic.h"

int64_t predict(const ulp_format *format, int64_t limit) {
    double harmonic = 0;
    for (int64_t i = 1; i <= limit; i++) {
        harmonic += 1 / (double)i;
        if (harmonic > format->max) return 0;
        if (2 <= (double)i * ulp_spacing(harmonic, format)) return i;
    }
    return 0;
}

static const struct fact {
    const char *format;
    double value;
    int64_t idle; /* the first term that does not move the sum */
} facts[] = {
    {"bfloat16", 5.0625, 65},
    {"binary16", 7.0859375, 513},
    {"e4m3", 3, 9},
    {"e5m2", 2, 5},
    {"binary32", 15.403682708740234375, 2097152},
};

static const ulp_sum_row *stop_of(const ulp_claims *c, const ulp_format *format) {
    return ulp_sum_cured(c, format, ULP_CURE_NONE, ULP_SUM_STOP);
}

static void claim_facts(ulp_claims *c) {
    const settings *s = c->settings;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const struct fact *want = &facts[i];
        const char *text =
            ulp_claim_text(c, "%s rne: the sum stops at exactly %.9g, the first term that moves nothing is 1/%lld",
                           want->format, want->value, (long long)want->idle);
        const ulp_sum_row *stop = ulp_sum_stop_for(c, want->format, text, "limit", s->limit);
        if (stop)
            ulp_claim(c, stop->value == want->value && stop->n == want->idle, text, "%.17g at term %lld", stop->value,
                      (long long)stop->n);
    }
}

static int is_default(const ulp_format *format) { return ulp_list_has(ULP_SUM_FORMATS, format->name); }

/* Compares the stops with the prediction from the harmonic numbers, for the default formats only. If the sum of a
 * format crosses a power of two at the stop, the prediction may be wrong by more than the one term of a tie. */
static void claim_predicted(ulp_claims *c) {
    const settings *s = c->settings;
    int good = 0, bad = 0;
    for (size_t f = 0; f < s->sums.formats.count; f++) {
        const ulp_sum_row *stop = stop_of(c, &s->sums.formats.at[f]);
        if (!stop || !is_default(&s->sums.formats.at[f])) continue;
        if ((double)stop->n == stop->predicted || (double)stop->n == stop->predicted + 1) good++;
        else bad++;
    }
    if (good + bad > 0)
        ulp_claim(
            c, bad == 0,
            "to nearest, sums stop at the first term of at most half the spacing at the harmonic number, or one later "
            "if that is a tie",
            "%d formats do, %d do not", good, bad);
}

static double harmonic_number(int64_t n) {
    double total = 0;
    for (int64_t i = n; i > 0; i--) total += 1 / (double)i;
    return total;
}

/* The relative error after 10^6 terms. A sum that stops earlier keeps its value. */
static void claim_error(ulp_claims *c, const char *name, double want) {
    const ulp_sum_row *stop = ulp_sum_named(c, name, ULP_CURE_NONE, ULP_SUM_STOP);
    if (!stop || stop->n > 1000000) return;
    const double error = 1 - stop->value / harmonic_number(1000000);
    ulp_claim(c, floor(1e4 * error + 0.5) == floor(1e4 * want + 0.5),
              ulp_claim_text(c, "%s rne: after 10^6 terms the relative error is %.4f", name, want), "%.8f", error);
}

/* The counts of claim_kahan. late, early: sums that stop late enough or too early. close, far: values that are within a
 * spacing of the harmonic number or farther from it. */
typedef struct kahan_count {
    int late, early, close, far;
} kahan_count;

/* `idle` is the first term that does not move the sum without a cure. */
static void count_kahan(const ulp_claims *c, const ulp_format *format, double idle, kahan_count *count) {
    const ulp_sum_row *stop = ulp_sum_cured(c, format, ULP_CURE_KAHAN, ULP_SUM_STOP);
    if (stop && (double)stop->n <= idle * idle / 2) count->early++;
    else if (stop) count->late++;
    for (int64_t n = 1; (double)n <= idle * idle / 2; n *= 2) {
        const ulp_sum_row *r =
            ulp_sum_find_at(c->table, &(ulp_sum_wanted){format, NULL, ULP_CURE_KAHAN, ULP_SUM_PATH}, n);
        if (!r) break;
        const int near = fabs(r->value - r->exact) <= ulp_spacing(r->exact, format);
        count->close += near;
        count->far += !near;
    }
}

/* Kahan's correction is at most half the spacing of the sum. A term stops moving the correction when the term is about
 * 2^-p of the correction. */
static void claim_kahan(ulp_claims *c) {
    const settings *s = c->settings;
    kahan_count count = {0};
    for (size_t f = 0; f < s->sums.formats.count; f++) {
        const ulp_format *format = &s->sums.formats.at[f];
        const ulp_sum_row *plain = stop_of(c, format);
        if (!format->is_fixed && is_default(format) && plain) count_kahan(c, format, (double)plain->n, &count);
    }
    if (count.late + count.early > 0)
        ulp_claim(c, count.early == 0,
                  "Kahan's sum stops too, but beyond half the square of the term at which the plain one does",
                  "%d formats do, %d do not", count.late, count.early);
    if (count.close + count.far > 0)
        ulp_claim(c, count.far == 0,
                  "up to half that square, Kahan's sums of 1, 2, 4, 8, ... terms are right to a spacing of the format",
                  "%d are, %d are not", count.close, count.far);
}

/* The tests are many, and the sums of 8-bit formats have a skewed distribution. The tests allow 5 standard errors, so
 * that an experiment with another seed does not fail by chance. */
static void claim_stochastic(ulp_claims *c, const ulp_format *format, const ulp_named_rule *rule) {
    const settings *s = c->settings;
    const ulp_sum_row *r = ulp_sum_after(c, format, rule, ULP_SUM_SPREAD, s->terms), *stop = stop_of(c, format);
    const double runs = (double)s->sums.runs;
    if (!r) return;
    const double mean = r->runs.mean, sd = r->runs.sd;
    const char *text =
        ulp_claim_text(c, "%s %s: after %lld terms the mean is the harmonic number within 5 standard errors",
                       format->name, rule->name, (long long)s->terms);
    if (runs < 100 || r->exact > format->max / 2) {
        ulp_claim_skip(c, text, runs < 100 ? "--runs is less than 100" : "it may leave the range");
        return;
    }
    const double errors = fabs(mean - r->exact) / (sd / sqrt(runs));
    const int beyond = !stop || (double)stop->n > (double)s->terms / 8 || mean > stop->value + sd / sqrt(runs);
    ulp_claim(c, errors <= 5 && beyond, text, "mean %.9g, sd %.3g, H %.9g, off by %.2f%s", mean, sd, r->exact, errors,
              beyond ? "" : "; not beyond where nearest stops");
}

/* ---- the table and the summary ---- */

static void print_end(ulp_sheet *sheet, const ulp_sum_row *stop, const ulp_sum_row *open) {
    if (stop) ulp_sheet_put(sheet, "%.9g at %lld", stop->value, (long long)stop->n);
    else if (open) ulp_sheet_put(sheet, "> %.9g", open->value);
    else ulp_sheet_put(sheet, "-");
}

static void print_format(ulp_sheet *sheet, const ulp_claims *c, const ulp_format *format) {
    const settings *s = c->settings;
    const int64_t predicted = predict(format, s->limit);
    const ulp_sum_row *runs = ulp_sum_after(c, format, ulp_sum_rule(c, "sra"), ULP_SUM_SPREAD, s->terms);
    ulp_sheet_put(sheet, "%s", format->name);
    if (predicted) ulp_sheet_put(sheet, "%lld", (long long)predicted);
    else ulp_sheet_put(sheet, "-");
    ulp_sum_put_ends(sheet, c, format, "rne rz", &cures, print_end);
    if (runs) ulp_sheet_put(sheet, "%.7g +- %.2g", runs->runs.mean, runs->runs.sd);
    else ulp_sheet_put(sheet, "-");
}

static void print_table(ulp_claims *c) {
    const settings *s = c->settings;
    char columns[160];
    snprintf(columns, sizeof columns, "format,predicted,rne,rz,kahan,master,sra after %lld", (long long)s->terms);
    const char *title = ulp_claim_text(
        c, "where the harmonic series stops, at the first term that moves nothing; >: still moving; H of %lld is %.8g",
        (long long)s->terms, harmonic_number(s->terms));
    ulp_sheet *sheet = ulp_sheet_new(title, columns);
    for (size_t f = 0; f < s->sums.formats.count; f++) print_format(sheet, c, &s->sums.formats.at[f]);
    ulp_sheet_print(sheet, c->file);
}

/* The value and the term at which the sum stops under rne; the predicted term, and its harmonic number. */
static void summarize(ulp_claims *c, const ulp_sum_row *stop, const char *of) {
    ulp_summary(c, "stop", stop->value, "%s", of);
    ulp_summary(c, "idle term", (double)stop->n, "%s", of);
    if (ulp_is_no_number(stop->predicted)) return;
    ulp_summary(c, "predicted term", stop->predicted, "%s", of);
    ulp_summary(c, "predicted stop", harmonic_number((int64_t)stop->predicted), "%s", of);
}

void judge(ulp_claims *c) {
    const ulp_format_list *formats = &((const settings *)c->settings)->sums.formats;
    print_table(c);
    for (size_t f = 0; f < formats->count; f++) ulp_sum_summarize(c, &formats->at[f], &cures, summarize);
    claim_facts(c);
    claim_predicted(c);
    claim_error(c, "binary16", 0.5077);
    claim_error(c, "bfloat16", 0.6483);
    claim_kahan(c);
    ulp_sum_each_stochastic(c, claim_stochastic);
}
