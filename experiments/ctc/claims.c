/* claims.c - the tables of ctc.c, and the claims about its rows. */
#include "ctc.h"

#include <math.h>
#include <string.h>

#include "kernels/functions/elementary.h"

/* ---- tables ---- */

static double last_of(const ulp_run *run, const char *form, const char *format, double C, double L) {
    char outputs[32], labels[32];
    snprintf(outputs, sizeof outputs, "%.0f", C);
    snprintf(labels, sizeof labels, "%.0f", L);
    long row = ulp_row_find(run, 0, "kind", "gone", "form", form, "format", format, "outputs", outputs, "labels",
                            labels, (const char *)NULL);
    return ulp_row_number(run, row, "steps");
}

/* The loss that T steps gave, or its relative error. */
static double sum_at(const ulp_run *run, const char *form, const char *format, double C, double L, double T,
                     const char *column) {
    char outputs[32], labels[32], steps[32];
    snprintf(outputs, sizeof outputs, "%.0f", C);
    snprintf(labels, sizeof labels, "%.0f", L);
    snprintf(steps, sizeof steps, "%.0f", T);
    long row = ulp_row_find(run, 0, "kind", "sum", "form", form, "format", format, "outputs", outputs, "labels", labels,
                            "steps", steps, (const char *)NULL);
    return row == ULP_NO_ROW ? NAN : ulp_row_number(run, row, column);
}

static void table_of_sums(const ulp_run *run) {
    size_t formats, outputs, labels;
    const double *C = ulp_option_numbers(run, "outputs", &outputs), *L = ulp_option_numbers(run, "labels", &labels);
    double longest = (double)ulp_option_integer(run, "longest");
    ulp_run_formats(run, &formats);
    ulp_sheet *table =
        ulp_sheet_new("sums over paths of L labels, C equally probable outputs at each of T steps",
                      "format,C,L,linear: last T with P > 0,log: -log P of the longest T,exact,relative error");
    for (int64_t f = CTC_BINARY64; f < (int64_t)formats; f++)
        for (size_t c = 0; c < outputs; c++)
            for (size_t l = 0; l < labels; l++) {
                const char *format = ctc_format_name(run, f);
                ulp_sheet_put(table, "%s", format);
                ulp_sheet_put(table, "%.0f", C[c]);
                ulp_sheet_put(table, "%.0f", L[l]);
                ulp_sheet_put(table, "%.0f", last_of(run, "linear", format, C[c], L[l]));
                ulp_sheet_put(table, "%.4f", sum_at(run, "log", format, C[c], L[l], longest, "loss"));
                ulp_sheet_put(table, "%.4f", sum_at(run, "log", format, C[c], L[l], longest, "exact"));
                ulp_sheet_put(table, "%.1e", sum_at(run, "log", format, C[c], L[l], longest, "error"));
            }
    ulp_sheet_print(table, ulp_run_people(run));
}

/* A column of a setting's last rows, over the seeds. */
typedef struct setting {
    const char *cell, *recipe, *form, *format;
} setting;

static ulp_spread over_seeds(const ulp_run *run, const setting *s, const char *column) {
    return ulp_row_spread(run, column, "kind", "final", "cell", s->cell, "recipe", s->recipe, "form", s->form, "format",
                          s->format, (const char *)NULL);
}

static void put_setting(ulp_sheet *table, const ulp_run *run, const setting *s) {
    ulp_spread error = over_seeds(run, s, "label_error"), diverged = over_seeds(run, s, "diverged");
    if (error.n == 0) return;
    ulp_sheet_put(table, "%s", s->cell);
    ulp_sheet_put(table, "%s", s->recipe);
    ulp_sheet_put(table, "%s %s", s->form, s->format);
    ulp_sheet_put(table, "%.2f", error.mean);
    ulp_sheet_put(table, "%.2f", error.least);
    ulp_sheet_put(table, "%.2f", error.most);
    ulp_sheet_put(table, "%.1f", over_seeds(run, s, "strip_error").mean);
    ulp_sheet_put(table, "%.0f", over_seeds(run, s, "skipped").most);
    ulp_sheet_put(table, "%.0f", over_seeds(run, s, "steps").most);
    ulp_sheet_put(table, "%.0f of %d", diverged.mean * diverged.n, diverged.n);
}

static void table_of_training(const ulp_run *run) {
    size_t formats;
    ulp_sheet *table =
        ulp_sheet_new("strips of digits that training has not seen, over the seeds; errors in percent",
                      "cell,recipe,sums over paths,label error,least,most,strips not all right,skipped,steps,diverged");
    ulp_run_formats(run, &formats);
    for (int c = 0; c < CTC_CELLS; c++)
        for (int r = 0; r < CTC_RECIPES; r++)
            put_setting(table, run, &(setting){ctc_cells[c], ctc_recipes[r].policy, "log", ctc_recipes[r].loss});
    for (int c = 0; c < CTC_CELLS; c++)
        for (int64_t f = 0; f < 2 * (int64_t)formats; f++) {
            const setting s = {ctc_cells[c], "fp32", ctc_forms[f / (int64_t)formats],
                               ctc_format_name(run, f % (int64_t)formats)};
            if (strcmp(s.form, "linear") == 0 || strcmp(s.format, "binary32") != 0) put_setting(table, run, &s);
        }
    ulp_sheet_print(table, ulp_run_people(run));
}

/* ---- claims about sums ---- */

/* Each operation in logarithms adds at most 4 units of roundoff of a number below T log C, and weights on paths add up
 * to 1: 4 T of them; as much again for the closed form. */
static void claim_counting(ulp_run *run) {
    double worst = 0, ratio = 0;
    long n = 0;
    for (long row = 0; (row = ulp_row_find(run, row, "kind", "sum", "form", "log", "format", "binary64",
                                           (const char *)NULL)) != ULP_NO_ROW;
         row++, n++) {
        double T = ulp_row_number(run, row, "steps"), exact = ulp_row_number(run, row, "exact");
        double off = fabs(ulp_row_number(run, row, "loss") - exact),
               bound = 8 * T * 0x1p-53 * T * ulp_log(ulp_row_number(run, row, "outputs"));
        worst = off > worst ? off : worst;
        ratio = off / bound > ratio ? off / bound : ratio;
    }
    ulp_claim(
        ulp_run_claims(run), n > 0 && ratio <= 1,
        "binary64 in logarithms counts the paths: -log P is T log C - log binomial(T + L, 2 L), within 8 T u T log C",
        "%ld sums, off by at most %.1e, %.2f of the bound", n, worst, ratio);
}

/* log2 C if C is a power of two, else 0. */
static int exact_log2(double C) {
    int e;
    return frexp(C, &e) == 0.5 ? e - 1 : 0;
}

static double least_of(const ulp_run *run, int64_t format) {
    size_t n;
    return format == CTC_BINARY64 ? 0x1p-1074 : ulp_run_formats(run, &n)[format].min_positive;
}

/* P = C^-T of no labels. A power of two is exact down to the least number of the format, and half of that goes to 0;
 * any other C^-T carries the rounding of subnormal numbers, which C > 2 outweighs within a step. */
static void claim_end(ulp_run *run) {
    size_t formats, outputs, labels;
    const double *C = ulp_option_numbers(run, "outputs", &outputs), *L = ulp_option_numbers(run, "labels", &labels);
    double longest = (double)ulp_option_integer(run, "longest");
    int n = 0, wrong = 0, near = 0, far = 0, none = 0;
    ulp_run_formats(run, &formats);
    for (size_t l = 0; l < labels; l++) none |= L[l] == 0;
    for (size_t c = 0; c < outputs && none; c++)
        for (int64_t f = CTC_BINARY64; f < (int64_t)formats; f++) {
            double least = least_of(run, f), found = last_of(run, "linear", ctc_format_name(run, f), C[c], 0);
            int bits = exact_log2(C[c]);
            double ends = bits ? floor(-log2(least) / bits) : floor((1 - log2(least)) / log2(C[c]));
            ends = ends < longest ? ends : longest;
            if (bits) n++, wrong += found != ends;
            else near++, far += fabs(found - ends) > 1;
        }
    const char *exact = "linear sums end where the format says: without labels and with C = 2^k outputs P is 0 from "
                        "the first T with 2^-kT below its least number";
    if (n) ulp_claim(ulp_run_claims(run), wrong == 0, exact, "%d of %d formats and C end exactly there", n - wrong, n);
    else ulp_claim_skip(ulp_run_claims(run), exact, "it needs --labels 0 and a power of two in --outputs");
    const char *text =
        "with other C the last T above 0 is the last one with C^-T at least half the least number, or next to it";
    if (near) ulp_claim(ulp_run_claims(run), far == 0, text, "%d of %d", near - far, near);
    else ulp_claim_skip(ulp_run_claims(run), text, "it needs --labels 0 and --outputs that are no powers of two");
}

static void claim_no_end(ulp_run *run) {
    long n = 0, lost = 0;
    for (long row = 0; (row = ulp_row_find(run, row, "kind", "sum", "form", "log", (const char *)NULL)) != ULP_NO_ROW;
         row++, n++)
        lost += !isfinite(ulp_row_number(run, row, "loss"));
    ulp_claim(ulp_run_claims(run), n > 0 && lost == 0, "in logarithms no sum over paths underflows",
              "%ld sums, %ld not finite", n, lost);
}

/* The power of two at which sums of equal terms stop: half the spacing from there on is no less than a term. 0 if there
 * is none. */
static double stop_of(const ulp_format *f, double term) {
    if (f->is_fixed) return 0;
    for (int e = 0; e < f->emax; e++)
        if (ldexp(0.5, e - f->prec + 1) >= term) return ldexp(1, e);
    return 0;
}

/* Below the stop a step adds at least two thirds of log C, so the sums reach it where twice as much is asked for. */
static void claim_swamped(ulp_run *run) {
    size_t formats, outputs, labels;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const double *C = ulp_option_numbers(run, "outputs", &outputs), *L = ulp_option_numbers(run, "labels", &labels);
    double longest = (double)ulp_option_integer(run, "longest");
    const char *text = "in logarithms a step's term is lost below half a spacing: without labels -log P stops at "
                       "exactly the power of two that the format says";
    char where[256] = "";
    int n = 0, wrong = 0, none = 0;
    for (size_t l = 0; l < labels; l++) none |= L[l] == 0;
    for (size_t f = 0; f < formats && none; f++)
        for (size_t c = 0; c < outputs; c++) {
            double term = ulp_round(ulp_log(C[c]), &format[f], (ulp_rule){.mode = ULP_RNE}, 0),
                   stop = stop_of(&format[f], term);
            if (stop == 0 || 2 * stop > longest * term) continue;
            double found = sum_at(run, "log", format[f].name, C[c], 0, longest, "loss");
            size_t used = strlen(where);
            snprintf(where + used, sizeof where - used, "%s%s %g, C = %.0f", used ? "; " : "", format[f].name, found,
                     C[c]);
            n++;
            wrong += found != stop;
        }
    if (n) ulp_claim(ulp_run_claims(run), wrong == 0, text, "%s", where);
    else
        ulp_claim_skip(ulp_run_claims(run), text,
                       "no format of --formats gets there by --longest, or --labels lacks 0");
}

/* ---- claims about training ---- */

/* They are about long trainings of the table of options. */
static int is_other_setup(const ulp_run *run, char *why, size_t size) {
    static const ulp_wanted long_enough[] = {{"steps", "450", 1}, {0}};
    return ulp_options_differ(ulp_run_claims(run), "set net optimizer gru-rate lstm-rate batch", why, size) ||
           ulp_options_are_other(ulp_run_claims(run), long_enough, why, size);
}

static const setting exact_gru = {"gru", "fp32", "log", "binary32"};

static void claim_reads(ulp_run *run, const char *cell, const char *recipe) {
    char text[200], why[320];
    ulp_spread e = over_seeds(run, &(setting){cell, recipe, "log", "binary32"}, "label_error");
    snprintf(text, sizeof text,
             "%s with CTC reads strips of 4 to 6 digits in %s: a label error below 10 %% with every seed", cell,
             recipe);
    if (is_other_setup(run, why, sizeof why)) ulp_claim_skip(ulp_run_claims(run), text, "%s", why);
    else if (e.n == 0) ulp_claim_skip(ulp_run_claims(run), text, "it needs --cells %s and --recipes %s", cell, recipe);
    else
        ulp_claim(ulp_run_claims(run), e.lost == 0 && e.most < 10, text, "%.2f %%, %.2f to %.2f %%", e.mean, e.least,
                  e.most);
}

/* The mean label error of a is at most two points above that of b. Single seeds of one setting differ by three. */
static void claim_keeps_up(ulp_run *run, const char *text, const setting *a, const setting *b) {
    char why[320];
    ulp_spread x = over_seeds(run, a, "label_error"), y = over_seeds(run, b, "label_error");
    if (is_other_setup(run, why, sizeof why)) ulp_claim_skip(ulp_run_claims(run), text, "%s", why);
    else if (x.n == 0 || y.n == 0)
        ulp_claim_skip(ulp_run_claims(run), text, "it needs %s %s %s and %s %s %s", a->recipe, a->form, a->format,
                       b->recipe, b->form, b->format);
    else if (x.n < 3) ulp_claim_skip(ulp_run_claims(run), text, "it needs --seeds 3 or more");
    else
        ulp_claim(ulp_run_claims(run), x.lost == 0 && x.mean <= y.mean + 2, text, "%.2f %%; binary32 %.2f %%", x.mean,
                  y.mean);
}

/* At first all outputs are about equally probable, and the table of sums says that P of a strip is 0 in binary16. */
static void claim_linear_fails(ulp_run *run) {
    const char *text = "linear sums in binary16 end training with NaN within 10 steps: P of a strip is 0 there before "
                       "anything is learned";
    const setting s = {"gru", "fp32", "linear", "binary16"};
    ulp_spread diverged = over_seeds(run, &s, "diverged"), steps = over_seeds(run, &s, "steps");
    if (diverged.n == 0 || strcmp(ulp_option_text(run, "set"), "strips") != 0 ||
        strcmp(ulp_option_text(run, "net"), "columns4 %64 conv11@1") != 0)
        ulp_claim_skip(ulp_run_claims(run), text,
                       "it needs --formats fp16, --cells gru and the default network and set");
    else
        ulp_claim(ulp_run_claims(run), diverged.least == 1 && steps.most <= 10, text,
                  "%.0f of %d seeds, after at most %.0f steps", diverged.mean * diverged.n, diverged.n, steps.most);
}

void ctc_check(ulp_run *run, const void *context) {
    (void)context;
    table_of_sums(run);
    table_of_training(run);
    claim_counting(run);
    claim_end(run);
    claim_no_end(run);
    claim_swamped(run);
    for (int c = 0; c < 2; c++)
        for (int r = 0; r < 2; r++) claim_reads(run, ctc_cells[c], ctc_recipes[r].policy);
    for (int c = 0; c < 2; c++)
        claim_keeps_up(run,
                       c ? "lstm: mixed:fp16 keeps up with fp32, within 2 points of label error"
                         : "gru: mixed:fp16 keeps up with fp32, within 2 points of label error",
                       &(setting){ctc_cells[c], "mixed:fp16", "log", "binary32"},
                       &(setting){ctc_cells[c], "fp32", "log", "binary32"});
    claim_keeps_up(run, "sums over paths in binary16 logarithms keep up with binary32, within 2 points",
                   &(setting){"gru", "fp32", "log", "binary16"}, &exact_gru);
    claim_keeps_up(run,
                   "15 steps leave room for linear sums in binary32: they keep up with logarithms, within 2 points",
                   &(setting){"gru", "fp32", "linear", "binary32"}, &exact_gru);
    claim_linear_fails(run);
}
