/* claims.c - the table of sr_bits, and the claims about its rows. */
#include <math.h>
#include <stdio.h>

#include "sr_bits.h"

/* ---- rows ---- */

static int is_of_point(const void *of_row, const void *of_point, const void *key) {
    const point *p = of_point, *wanted = key;
    (void)of_row;
    return p->format == wanted->format && p->mode == wanted->mode && p->kind == wanted->kind && p->bits == wanted->bits;
}

/* The first row of a point, or NULL if there is no such row. The first row of a stop is about terms in (0,1). */
static const row *find(const ulp_claims *c, point wanted) {
    return ulp_table_find(c->table, &(size_t){0}, is_of_point, &wanted);
}

typedef struct wanted {
    int kind, mode, input;
} wanted;

static int is_wanted(const void *of_row, const void *of_point, const void *key) {
    const row *r = of_row;
    const wanted *w = key;
    (void)of_point;
    return r->kind == w->kind && r->mode == w->mode && r->input == w->input;
}

/* The next wanted row from row *i on; NULL if there is no more. */
static const row *next(const ulp_claims *c, size_t *i, const wanted *w) {
    return ulp_table_find(c->table, i, is_wanted, w);
}

/* ---- where sums stop ---- */

/* log2 of the number at which the sums of a row stop. */
static int stop_of(const row *r) {
    const int top = (int)r->p + (int)r->bits;
    if (r->input == BELOW_ONE) return r->mode == A ? top - 1 : top;
    return r->mode == B ? top + 1 : top;
}

static void claim_stop(ulp_claims *c, int mode, int input) {
    static const char *const laws[2][MODE_COUNT] = {{"2^(p-1+r)", "2^(p+r)", "2^(p+r)"},
                                                    {"2^(p+r)", "2^(p+r+1)", "2^(p+r)"}};
    const settings *s = c->settings;
    const row *r;
    int rows = 0, ran = 0, wrong = 0;
    for (size_t i = 0; (r = next(c, &i, &(wanted){STOP, mode, input})) != NULL; i++) {
        const double stop = ldexp(1, stop_of(r));
        rows++;
        wrong += r->first_stuck != stop;
        if (ulp_is_no_number(r->least)) continue;
        ran++;
        wrong += r->least != stop || r->most != stop;
    }
    const ulp_word word = ulp_word_of(MODE_WORDS, (size_t)mode);
    const char *text = ulp_claim_text(c, "%s: sums of %s stop at exactly %s", word.text,
                                      input == ONES ? "ones" : "terms in (0,1)", laws[input][mode]);
    if (rows > 0 && input == BELOW_ONE) ulp_summary(c, "stops off the law", wrong, "%s below-one", word.text);
    if (rows > 0)
        ulp_claim(c, wrong == 0, text,
                  "%d pair%s of p and r by asking for the largest word, %d of them also by %lld sums each", rows,
                  ulp_plural((size_t)rows), ran, (long long)s->runs);
}

/* ---- bias ---- */

/* The exact bias of a row, in spacings. */
static double bias_of(const row *r) {
    const int bits = (int)r->bits;
    if (r->input == MIDPOINTS) return r->mode == A ? -ldexp(1, -bits - 1) : 0;
    if (r->cut_bits <= r->bits) return 0;
    return r->mode == A ? -ldexp(1, -bits - 2) : r->mode == B ? ldexp(1, -bits - 2) : 0;
}

static void claim_bias(ulp_claims *c, int mode, int input) {
    static const char *const laws[2][MODE_COUNT] = {
        {"lattice: bias 0 for r bits cut, exactly -2^-(r+2) spacings for r + 1",
         "lattice: bias 0 for r bits cut, exactly +2^-(r+2) spacings for r + 1",
         "lattice: bias exactly 0 for r bits cut and for r + 1"},
        {"evenly spread fractions: bias exactly -2^-(r+1) spacings", "evenly spread fractions: bias exactly 0",
         "evenly spread fractions: bias exactly 0"}};
    const row *r;
    int rows = 0, wrong = 0;
    double largest = 0;
    for (size_t i = 0; (r = next(c, &i, &(wanted){BIAS, mode, input})) != NULL; i++) {
        wrong += r->bias != bias_of(r);
        if (fabs(r->bias) > fabs(largest)) largest = r->bias;
        rows++;
    }
    const ulp_word word = ulp_word_of(MODE_WORDS, (size_t)mode);
    const char *text = ulp_claim_text(c, "%s, %s", word.text, laws[input == MIDPOINTS][mode]);
    if (rows > 0 && input == MIDPOINTS) ulp_summary(c, "biases off the law", wrong, "%s midpoints", word.text);
    if (rows > 0) ulp_claim(c, wrong == 0, text, "%d averages, the largest %.9g", rows, largest);
}

/* ---- errors ---- */

/* The standard deviation of the relative error of the runs. */
static double deviation_of(const row *r) { return sqrt(fmax(0, r->rms * r->rms - r->mean_error * r->mean_error)); }

/* The allowed distance of the mean error from the prediction: 4 standard errors of the mean, and 0.5 % because the
 * prediction neglects the spread of the sums. */
static double allowed(const settings *s, const row *r) {
    return 4 * deviation_of(r) / sqrt((double)s->runs - 1) + 0.005;
}

static void claim_errors(ulp_claims *c) {
    const settings *s = c->settings;
    const ulp_format *format = ulp_formats_find(&s->formats, "bfloat16");
    const row *rows = c->table->rows;
    int count = 0, wrong = 0;
    double farthest = 0;
    const char *text = "bfloat16: mean errors of sums are the biases added up, within 4 standard errors and 0.5 %";
    for (size_t i = 0; i < c->table->count; i++) {
        const point *p = c->table->points[i];
        if (p->kind != ERROR || p->format != format) continue;
        const double off = fabs(rows[i].mean_error - rows[i].predicted), most = allowed(s, &rows[i]);
        wrong += !(off <= most);
        farthest = fmax(farthest, off / most);
        count++;
    }
    if (count == 0) ulp_claim_skip(c, text, "--formats has no bfloat16");
    else if (s->terms < 10000) ulp_claim_skip(c, text, "--terms is %lld: their own chance counts", (long long)s->terms);
    else ulp_claim(c, wrong == 0, text, "%d sums' means, the farthest off by %.0f %% of that", count, 100 * farthest);
}

static void claim_eight(ulp_claims *c) {
    const settings *s = c->settings;
    const ulp_format *format = ulp_formats_find(&s->formats, "bfloat16");
    const char *text = "bfloat16, 8 bits: A loses over 30 % of 100000 terms on average, B and C less than 10 %";
    double mean[MODE_COUNT];
    for (int m = 0; m < MODE_COUNT; m++) {
        const row *r = find(c, (point){format, m, ERROR, 8});
        if (!r || s->terms != 100000) {
            ulp_claim_skip(c, text, "needs bfloat16, all modes, 8 bits and --terms 100000");
            return;
        }
        mean[m] = r->mean_error;
    }
    ulp_claim(c, mean[A] < -0.3 && fabs(mean[B]) < 0.1 && fabs(mean[C]) < 0.1, text, "A %.1f %%, B %.1f %%, C %.1f %%",
              100 * mean[A], 100 * mean[B], 100 * mean[C]);
}

/* ---- the table ---- */

static void print_row(ulp_sheet *sheet, const ulp_claims *c, const ulp_format *format, int64_t bits) {
    ulp_sheet_put_row(sheet, "%s,%lld", format->name, (long long)bits);
    for (int m = 0; m < MODE_COUNT; m++) {
        const row *r = find(c, (point){format, m, STOP, bits});
        ULP_SHEET_PUT_IF(r, sheet, "%.0f", r->first_stuck);
    }
    for (int m = 0; m < MODE_COUNT; m++) {
        const row *r = find(c, (point){format, m, ERROR, bits});
        ULP_SHEET_PUT_IF(r, sheet, "%.2f %%", 100 * r->mean_error);
    }
}

static void print_table(ulp_claims *c) {
    const settings *s = c->settings;
    const char *title = ulp_claim_text(c, "sums of terms in (0,1): where they stop, and the mean error of %lld terms",
                                       (long long)s->terms);
    ulp_sheet *sheet = ulp_sheet_new(title, "format,r,A stops at,B,C,error of A,B,C");
    for (size_t f = 0; f < s->formats.count; f++)
        for (size_t i = 0; i < s->bits.count; i++) print_row(sheet, c, &s->formats.at[f], s->bits.at[i]);
    ulp_sheet_print(sheet, c->file);
}

/* The significant bits of the format, and the standard deviations of the runs. */
static void summarize(ulp_claims *c, const ulp_format *format) {
    const settings *s = c->settings;
    ulp_summary(c, "significant bits", format->prec, "%s", format->name);
    for (int m = 0; m < MODE_COUNT; m++)
        for (size_t i = 0; i < s->bits.count; i++) {
            const row *r = find(c, (point){format, m, ERROR, s->bits.at[i]});
            if (r)
                ulp_summary(c, "sd", deviation_of(r), "%s %s %lld", format->name,
                            ulp_word_of(MODE_WORDS, (size_t)m).text, (long long)s->bits.at[i]);
        }
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    print_table(c);
    for (size_t f = 0; f < s->formats.count; f++) summarize(c, &s->formats.at[f]);
    for (int input = BELOW_ONE; input <= ONES; input++)
        for (int m = 0; m < MODE_COUNT; m++) claim_stop(c, m, input);
    for (int input = LATTICE; input <= MIDPOINTS; input++)
        for (int m = 0; m < MODE_COUNT; m++) claim_bias(c, m, input);
    claim_errors(c);
    claim_eight(c);
}
