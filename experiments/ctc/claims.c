/* claims.c - the tables of ctc, and the claims about its rows. */
#include "ctc.h"

#include <math.h>
#include <string.h>

#include "experiments/harness/claims/spread.h"
#include "kernels/functions/elementary.h"

/* ---- sums ---- */

/* log binomial(T + L, 2 L), the number of paths of L labels without equal neighbours. */
static double log_paths(int64_t L, int64_t T) {
    double sum = 0;
    for (int64_t i = 1; i <= 2 * L; i++) sum += ulp_log((double)(T - L + i)) - ulp_log((double)i);
    return sum;
}

double exact_loss(int64_t C, int64_t L, int64_t T) { return (double)T * ulp_log((double)C) - log_paths(L, T); }

/* The name of format f of the table: binary64 first, then the formats of the run. */
static const char *format_name(const settings *s, size_t f) { return f ? s->formats.at[f - 1].name : "binary64"; }

typedef struct sum {
    int kind, form;
    const char *format;
    int64_t outputs, labels;
} sum;

/* The last row of a kind of sum, which is the row of the longest T. */
static const row *row_of(const ulp_claims *c, sum k) {
    const row *found = NULL;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++)
        if (r->kind == k.kind && r->form == k.form && strcmp(r->format, k.format) == 0 && r->outputs == k.outputs &&
            r->labels == k.labels)
            found = r;
    return found;
}

/* The greatest T whose linear sum is above 0. */
static int64_t last_of(const ulp_claims *c, const char *format, int64_t outputs, int64_t labels) {
    return row_of(c, (sum){GONE, LINEAR, format, outputs, labels})->steps;
}

static void put_sums(ulp_claims *c, ulp_sheet *table, const char *format, int64_t C, int64_t L) {
    const row *longest = row_of(c, (sum){SUM, LOG, format, C, L});
    const int64_t last = last_of(c, format, C, L);
    ulp_sheet_put_row(table, "%s,%lld,%lld,%lld,%.4f,%.4f,%.1e", format, (long long)C, (long long)L, (long long)last,
                      longest->loss, longest->exact, longest->error);
    ulp_summary(c, "last T", (double)last, "%s %lld outputs %lld labels", format, (long long)C, (long long)L);
    ulp_summary(c, "exact loss of the last T", exact_loss(C, L, last), "%s %lld outputs %lld labels", format,
                (long long)C, (long long)L);
    ulp_summary(c, "log loss of the longest T", longest->loss, "%s %lld outputs %lld labels", format, (long long)C,
                (long long)L);
}

static void table_of_sums(ulp_claims *c) {
    const settings *s = c->settings;
    ulp_sheet *table =
        ulp_sheet_new("sums over paths of L labels, C equally probable outputs at each of T steps",
                      "format,C,L,linear: last T with P > 0,log: -log P of the longest T,exact,relative error");
    for (size_t f = 0; f <= s->formats.count; f++)
        for (size_t i = 0; i < s->outputs.count; i++)
            for (size_t l = 0; l < s->labels.count; l++)
                put_sums(c, table, format_name(s, f), s->outputs.at[i], s->labels.at[l]);
    ulp_sheet_print(table, c->file);
}

/* ---- trainings ---- */

/* A setting of trainings. `format` is the format of the sums over paths. */
typedef struct setting {
    int cell, recipe, form;
    const char *format;
} setting;

typedef struct result {
    ulp_spread error, strips;
    double skipped, steps; /* largest over the seeds */
    int diverged;
} result;

/* Whether a row is of a kind and a setting. */
static int is_of(const row *r, int kind, setting s) {
    return r->kind == kind && r->cell == s.cell && r->recipe == s.recipe && r->form == s.form &&
           strcmp(r->format, s.format) == 0;
}

/* The result of the last rows of a setting, over the seeds. */
static result result_of(const ulp_claims *c, setting s) {
    ulp_numbers error = {0}, strips = {0};
    result all = {.diverged = 0};
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (!is_of(r, FINAL, s)) continue;
        ulp_numbers_add(&error, r->label_error);
        ulp_numbers_add(&strips, r->strip_error);
        all.skipped = fmax(all.skipped, (double)r->skipped);
        all.steps = fmax(all.steps, (double)r->steps);
        all.diverged += r->diverged != 0;
    }
    all.error = ulp_numbers_take(&error);
    all.strips = ulp_numbers_take(&strips);
    return all;
}

/* The learning curve of a setting in the figure. `name` has the words of the setting. */
static void sum_up_curve(ulp_claims *c, setting s, const char *name) {
    const settings *set = c->settings;
    for (int64_t next = set->every; next < set->steps + set->every; next += set->every) {
        const int64_t step = next < set->steps ? next : set->steps;
        ulp_numbers errors = {0};
        for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++)
            if (is_of(r, CURVE, s) && r->steps == step) ulp_numbers_add(&errors, r->label_error);
        const ulp_spread e = ulp_numbers_take(&errors);
        if (e.n) ulp_summary_spread(c, "label error at a step", e.mean, &e, "%s %lld", name, (long long)step);
    }
}

static void put_setting(ulp_claims *c, ulp_sheet *table, setting s) {
    const result r = result_of(c, s);
    char name[256];
    if (r.error.n == 0) return;
    const ulp_word cell = ulp_word_of(CELL_WORDS, (size_t)s.cell);
    const ulp_word recipe = ulp_word_of(ROW_RECIPE_WORDS, (size_t)s.recipe);
    const ulp_word form = ulp_word_of(FORM_WORDS, (size_t)s.form);
    ulp_sheet_put_row(table, "%s,%s,%s %s,%.2f,%.2f,%.2f,%.1f,%.0f,%.0f,%d of %d", cell.text, recipe.text, form.text,
                      s.format, r.error.mean, r.error.least, r.error.most, r.strips.mean, r.skipped, r.steps,
                      r.diverged, r.error.n);
    snprintf(name, sizeof name, "%s %s %s %s", cell.text, recipe.text, form.text, s.format);
    ulp_summary(c, "label error", r.error.mean, "%s", name);
    sum_up_curve(c, s, name);
}

static void table_of_training(ulp_claims *c) {
    static const char *const losses[] = {"binary32", "binary32", "binary32", "binary16", "bfloat16", "binary32"};
    const settings *s = c->settings;
    ulp_sheet *table =
        ulp_sheet_new("strips of digits that training has not seen, over the seeds; errors in percent",
                      "cell,recipe,sums over paths,label error,least,most,strips not all right,skipped,steps,diverged");
    for (int cell = 0; cell < CELLS; cell++)
        for (int r = 0; r <= AMP; r++) put_setting(c, table, (setting){cell, r, LOG, losses[r]});
    for (int cell = 0; cell < CELLS; cell++)
        for (int form = 0; form < FORMS; form++)
            for (size_t f = 0; f < s->formats.count; f++)
                if (form == LINEAR || strcmp(s->formats.at[f].name, "binary32") != 0)
                    put_setting(c, table, (setting){cell, FP32, form, s->formats.at[f].name});
    ulp_sheet_print(table, c->file);
}

/* ---- claims about sums ---- */

/* Each operation in logarithms adds an error of at most 4 u times a number below T log C. The weights of the paths add
 * up to 1, so that the errors of T steps add up to at most 4 T u T log C. The closed form gets the same bound again. */
static void claim_counting(ulp_claims *c) {
    double worst = 0, ratio = 0;
    long n = 0;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (r->kind != SUM || r->form != LOG || strcmp(r->format, "binary64") != 0) continue;
        const double T = (double)r->steps, off = fabs(r->loss - r->exact),
                     bound = 8 * T * 0x1p-53 * T * ulp_log((double)r->outputs);
        worst = fmax(worst, off);
        ratio = fmax(ratio, off / bound);
        n++;
    }
    ulp_claim(
        c, n > 0 && ratio <= 1,
        "binary64 in logarithms counts the paths: -log P is T log C - log binomial(T + L, 2 L), within 8 T u T log C",
        "%ld sum%s, off by at most %.1e, %.2f of the bound", n, ulp_plural((size_t)n), worst, ratio);
}

/* log2 C if C is a power of two, else 0. */
static int exact_log2(int64_t C) {
    int e;
    return frexp((double)C, &e) == 0.5 ? e - 1 : 0;
}

static int has_no_labels(const settings *s) {
    for (size_t l = 0; l < s->labels.count; l++)
        if (s->labels.at[l] == 0) return 1;
    return 0;
}

/* Without labels P = C^-T. If C is a power of two, P is exact down to the least positive number of the format, and half
 * of that number rounds to 0. For any other C, the rounding of subnormal numbers may move the end by one step at most,
 * because C > 2. */
static void claim_end(ulp_claims *c) {
    const settings *s = c->settings;
    int n = 0, wrong = 0, near = 0, far = 0;
    for (size_t i = 0; i < s->outputs.count && has_no_labels(s); i++)
        for (size_t f = 0; f <= s->formats.count; f++) {
            const int64_t C = s->outputs.at[i];
            const double least = f ? s->formats.at[f - 1].min_positive : 0x1p-1074,
                         found = (double)last_of(c, format_name(s, f), C, 0);
            const int bits = exact_log2(C);
            const double ends = fmin(bits ? floor(-log2(least) / bits) : floor((1 - log2(least)) / log2((double)C)),
                                     (double)s->longest);
            if (bits) n++, wrong += found != ends;
            else near++, far += fabs(found - ends) > 1;
        }
    const char *exact = "linear sums end where the format says: without labels and with C = 2^k outputs P is 0 from "
                        "the first T with 2^-kT below its least number";
    if (n) ulp_claim(c, wrong == 0, exact, "%d of %d formats and C end exactly there", n - wrong, n);
    else ulp_claim_skip(c, exact, "it needs --labels 0 and a power of two in --outputs");
    const char *text =
        "with other C the last T above 0 is the last one with C^-T at least half the least number, or next to it";
    if (near) ulp_claim(c, far == 0, text, "%d of %d", near - far, near);
    else ulp_claim_skip(c, text, "it needs --labels 0 and --outputs that are no powers of two");
}

static void claim_no_end(ulp_claims *c) {
    long n = 0, lost = 0;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (r->kind != SUM || r->form != LOG) continue;
        n++;
        lost += !isfinite(r->loss);
    }
    ulp_claim(c, n > 0 && lost == 0, "in logarithms no sum over paths underflows", "%ld sum%s, %ld not finite", n,
              ulp_plural((size_t)n), lost);
}

/* The power of two at which a sum of equal terms stops growing: from there on half the spacing is at least the term. 0
 * if there is none. */
static double stop_of(const ulp_format *f, double term) {
    if (f->is_fixed) return 0;
    for (int e = 0; e < f->emax; e++)
        if (ldexp(0.5, e - f->prec + 1) >= term) return ldexp(1, e);
    return 0;
}

/* Below the stop a step adds at least two thirds of log C. The sum therefore reaches the stop if the longest T would
 * reach twice the stop with exact steps. */
static void claim_swamped(ulp_claims *c) {
    const settings *s = c->settings;
    const char *text = "in logarithms a step's term is lost below half a spacing: without labels -log P stops at "
                       "exactly the power of two that the format says";
    char where[256] = "";
    int n = 0, wrong = 0;
    for (size_t f = 0; f < s->formats.count && has_no_labels(s); f++)
        for (size_t i = 0; i < s->outputs.count; i++) {
            const ulp_format *format = &s->formats.at[f];
            const int64_t C = s->outputs.at[i];
            const double term = ulp_round(ulp_log((double)C), format, (ulp_rule){.mode = ULP_RNE}, 0),
                         stop = stop_of(format, term);
            if (stop == 0 || 2 * stop > (double)s->longest * term) continue;
            const double found = row_of(c, (sum){SUM, LOG, format->name, C, 0})->loss;
            ulp_list_add(where, sizeof where, "%s %g with C = %lld", format->name, found, (long long)C);
            n++;
            wrong += found != stop;
        }
    if (n) ulp_claim(c, wrong == 0, text, "%s", where);
    else ulp_claim_skip(c, text, "no format of --formats gets there by --longest, or --labels lacks 0");
}

/* ---- claims about training ---- */

/* Claims about training need the default set-up and long trainings. */
static const char *const set_up = "set, net, optimizer, gru-rate, lstm-rate, batch, steps>=600";

static double standard_error(ulp_spread s) { return s.sd / sqrt(s.n); }

static void claim_reads(ulp_claims *c, int cell, int recipe) {
    const char *why = ulp_claim_reason(c, set_up);
    const ulp_word name = ulp_word_of(CELL_WORDS, (size_t)cell);
    const ulp_word of = ulp_word_of(RECIPE_WORDS, (size_t)recipe);
    const result r = result_of(c, (setting){cell, recipe, LOG, "binary32"});
    const ulp_spread e = r.error;
    const char *text = ulp_claim_text(c,
                                      "%s with CTC reads strips of 4 to 6 digits in %s: no seed diverges, and most "
                                      "labels are right, by three standard errors",
                                      name.text, of.text);
    if (*why) ulp_claim_skip(c, text, "%s", why);
    else if (e.n < 3)
        ulp_claim_skip(c, text, "it needs --cells %s, --recipes %s and --seeds 3 or more", name.text, of.text);
    else
        ulp_claim(c, r.diverged == 0 && e.mean + 3 * standard_error(e) < 50, text,
                  "label error %.2f %%, standard error %.2f", e.mean, standard_error(e));
}

/* Claims that the mean label error of a is at most five standard errors above that of b. The standard error is that of
 * the difference between fp32 and mixed:fp16, for every a. */
static void claim_keeps_up(ulp_claims *c, const char *text, setting a, setting b) {
    const char *why = ulp_claim_reason(c, set_up);
    const result tested = result_of(c, a);
    const ulp_spread x = tested.error, y = result_of(c, b).error,
                     z = result_of(c, (setting){b.cell, MIXED_FP16, LOG, "binary32"}).error;
    const double of_y = standard_error(y), of_z = standard_error(z), error = sqrt(of_y * of_y + of_z * of_z);
    if (*why) ulp_claim_skip(c, text, "%s", why);
    else if (x.n < 3 || y.n < 3 || z.n < 3)
        ulp_claim_skip(c, text, "it needs these settings, --recipes fp32,mixed:fp16 and --seeds 3 or more");
    else
        ulp_claim(c, tested.diverged == 0 && x.mean <= y.mean + 5 * error, text,
                  "%.2f %%; binary32 %.2f %%, standard error of the difference %.2f", x.mean, y.mean, error);
}

/* Before training all outputs are about equally probable. The table of sums says that P of a strip is then 0 in
 * binary16. */
static void claim_linear_fails(ulp_claims *c) {
    const char *text = "linear sums in binary16 end training with NaN within 10 steps: P of a strip is 0 there before "
                       "anything is learned";
    const char *why = ulp_claim_reason(c, "net, set");
    const result r = result_of(c, (setting){GRU, FP32, LINEAR, "binary16"});
    if (r.error.n == 0) ulp_claim_skip(c, text, "it needs --formats fp16 and --cells gru");
    else if (*why) ulp_claim_skip(c, text, "%s", why);
    else
        ulp_claim(c, r.diverged == r.error.n + r.error.lost && r.steps <= 10, text,
                  "%d of %d seed%s, after at most %.0f steps", r.diverged, r.error.n, ulp_plural((size_t)r.error.n),
                  r.steps);
}

void judge(ulp_claims *c) {
    const setting exact_gru = {GRU, FP32, LOG, "binary32"}, exact_lstm = {LSTM, FP32, LOG, "binary32"};
    table_of_sums(c);
    table_of_training(c);
    claim_counting(c);
    claim_end(c);
    claim_no_end(c);
    claim_swamped(c);
    for (int cell = 0; cell < CELLS; cell++)
        for (int r = FP32; r <= MIXED_FP16; r++) claim_reads(c, cell, r);
    claim_keeps_up(c, "gru: mixed:fp16 keeps up with fp32, within five standard errors of label error",
                   (setting){GRU, MIXED_FP16, LOG, "binary32"}, exact_gru);
    claim_keeps_up(c, "lstm: mixed:fp16 keeps up with fp32, within five standard errors of label error",
                   (setting){LSTM, MIXED_FP16, LOG, "binary32"}, exact_lstm);
    claim_keeps_up(c, "sums over paths in binary16 logarithms keep up with binary32, within five standard errors",
                   (setting){GRU, FP32, LOG, "binary16"}, exact_gru);
    const int logarithms_hold = c->entries[c->count - 1].verdict == ULP_PASS;
    claim_keeps_up(c,
                   "15 steps leave room for linear sums in binary32: they keep up with logarithms, within five "
                   "standard errors",
                   (setting){GRU, FP32, LINEAR, "binary32"}, exact_gru);
    claim_linear_fails(c);
    ulp_summary(c, "logarithms keep up and linear sums end",
                logarithms_hold && c->entries[c->count - 1].verdict == ULP_PASS, "gru binary16");
}
