/* claims.c - the table of sum_growth, and the claims about its rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/functions/elementary.h"
#include "sum_growth.h"

/* The format, terms, mode and length of a row. */
typedef struct key {
    const ulp_format *format;
    int data;
    const char *mode;
    size_t n;
} key;

static int matches(const void *row_, const void *point_, const void *key_) {
    const row *r = row_;
    const point *p = point_;
    const key *k = key_;
    return p->format == k->format && p->data == k->data && r->n == (int64_t)k->n && strcmp(r->mode, k->mode) == 0;
}

/* The row of a key; NULL if there is no such row. */
static const row *find(const ulp_claims *c, key k) { return ulp_table_find(c->table, &(size_t){0}, matches, &k); }

/* The largest probability that a true claim about random sums fails. */
static const double false_alarm = 1e-6;

/* Whether a sum of the row left the format's range or stays at the end of the range. The bounds hold for sums within
 * the range only. */
static int has_left(const ulp_format *format, const row *r) {
    return !isfinite(r->most_error) || !(fmax(fabs(r->least), fabs(r->most)) < format->max);
}

/* ---- bounds ---- */

static double gamma_of(const row *r) { return r->gamma; }
static double linear_of(const row *r) { return r->linear; }

/* Claims that no error of a row exceeds the bound, over all rows with this bound. */
static void claim_bound(ulp_claims *c, double (*bound)(const row *r), const char *text) {
    const settings *s = c->settings;
    long rows = 0, broken = 0;
    double closest = 0;
    for (size_t i = 0; i < c->table->count; i++) {
        const point *p = c->table->points[i];
        const row *r = (const row *)c->table->rows + i;
        const double limit = bound(r);
        if (isnan(limit) || has_left(p->format, r)) continue;
        rows++;
        broken += !(r->most_error <= limit);
        closest = fmax(closest, r->most_error / limit);
    }
    if (rows == 0) ulp_claim_skip(c, text, "no row has this bound");
    else
        ulp_claim(c, broken == 0, text, "%ld rows of %lld sums, the closest at %.1f %% of the bound", rows,
                  (long long)s->runs, 100 * closest);
}

/* lambda sqrt(n) u of a row, the leading term of the likely bound. */
static double plain_bound(const settings *s, const ulp_format *format, const row *r) {
    const double n = (double)r->n;
    return sqrt(2 * n * ulp_log(2 * n / s->delta)) * ldexp(1, 1 - (int)format->prec);
}

/* Whether the likely bound is a theorem about the sums of a row, and less than 1: a larger bound says nothing. */
static int is_likely(const settings *s, const point *p, const row *r) {
    const ulp_named_rule *rule = ulp_rules_find(&s->modes, r->mode);
    return rule && growth_is_unbiased(rule->rule) && p->data != HARMONIC && !has_left(p->format, r) && r->likely < 1;
}

/* Claims that 1 - delta of all stochastic sums, of all lengths at which the likely bound is less than 1, are within the
 * likely bound. There the bound is less than 1.5 times lambda sqrt(n) u, because exp(x) - 1 <= x / ln 2 where
 * exp(x) - 1 <= 1. */
static void claim_likely(ulp_claims *c) {
    const settings *s = c->settings;
    double count = 0, within = 0, closest = 0;
    int sound = 1;
    const char *text = ulp_claim_text(
        c,
        "stochastic: %.4g %% of the sums at least are within the likely bound, about lambda sqrt(n) u, where that "
        "is below 1",
        100 * (1 - s->delta));
    for (size_t i = 0; i < c->table->count; i++) {
        const point *p = c->table->points[i];
        const row *r = (const row *)c->table->rows + i;
        if (!is_likely(s, p, r)) continue;
        const double times = r->likely / plain_bound(s, p->format, r);
        sound &= times >= 1 && times < 1.5;
        count += (double)s->runs;
        within += (double)r->within;
        closest = fmax(closest, r->most_error / r->likely);
    }
    if (count == 0) ulp_claim_skip(c, text, "needs sra, srb or src in --modes, and --data other than harmonic");
    else
        ulp_claim(c, sound && within >= (1 - s->delta) * count, text,
                  "%.0f of %.0f, the farthest at %.1f %% of the bound", within, count, 100 * closest);
}

/* ---- where sums to nearest stop ---- */

/* The probability that a term of U[0,1], or a product of two such factors, is greater than 1/2 after rounding to
 * nearest. The numbers between 1/2 and 1 are `spacing` apart, and a tie at 1/2 goes to 1/2. */
static double share_over_half(const ulp_format *format, int data) {
    const double spacing = ldexp(1, -(int)format->prec);
    double share = 0;
    if (data == POSITIVE) return 0.5 - spacing / 2;
    for (double x = 0.5 + spacing; x <= 1; x += spacing) {
        /* the least factor y for which the rounded x y is greater than 1/2 */
        const double y = spacing * (floor((1 + spacing) / (2 * x * spacing)) + 1);
        if (y <= 1) share += (x < 1 ? spacing : spacing / 2) * (1 + spacing / 2 - y);
    }
    return share;
}

/* A number of terms n large enough that fewer than `needed` of the n terms exceed 1/2 with a probability of at most
 * `chance`. A term exceeds 1/2 with probability `share`. The Chernoff bound of the binomial distribution decides, and n
 * grows in steps of 0.1 %. */
static double enough_terms(double needed, double share, double chance) {
    for (double n = ceil(needed / share);; n = ceil(1.001 * n)) {
        const double part = needed / n;
        if (part < share &&
            n * (part * ulp_log(share / part) + (1 - part) * ulp_log((1 - share) / (1 - part))) <= ulp_log(chance))
            return n;
    }
}

/* Claims where sums of U[0,1] and inner products of U[0,1] stop to nearest. No term lowers the sum. A term over 1/2
 * adds at least 1/2 to a sum below 2^(p-1), where the spacing is at most 1/2, and 1 to a sum from 2^(p-1) to 2^p. A
 * number of 3 2^(p-1) such terms reaches 2^p. At 2^p the spacing is 2, and only the tie 2^p + 1 can move the sum. The
 * tie goes to 2^p. With a significand of one bit, every significand is odd and the even code decides: the tie may go to
 * 2^(p+1), where the spacing is 4. */
static void claim_stop(ulp_claims *c, const ulp_format *format, int data) {
    const settings *s = c->settings;
    const double power = ldexp(1, (int)format->prec), stop = ulp_round(power + 1, format, (ulp_rule){0}, 0);
    const double needed = 1.5 * power + (stop > power), chance = false_alarm / (double)s->runs;
    double least = INFINITY, most = -INFINITY;
    long rows = 0;
    if (format->emin > -1 || stop > format->max / 2 || !find(c, (key){format, data, "rne", growth_length(4)})) return;
    const double from = enough_terms(needed, share_over_half(format, data), chance);
    for (int q = 4; q <= growth_quarters(s); q++) {
        const row *r = find(c, (key){format, data, "rne", growth_length(q)});
        if (!r || (double)r->n < from) continue;
        least = fmin(least, r->least);
        most = fmax(most, r->most);
        rows++;
    }
    const char *text = ulp_claim_text(c, "%s to nearest, %s of U[0,1]: every one of %.0f terms or more is exactly %.0f",
                                      format->name, data == POSITIVE ? "sums" : "inner products", from, stop);
    if (rows == 0) {
        ulp_claim_skip(c, text, "--longest is %g", s->longest);
        return;
    }
    ulp_claim(c, least == stop && most == stop, text, "%ld lengths, from %.17g to %.17g", rows, least, most);
    if (least == most)
        ulp_summary(c, "stop", most, "%s rne %s", format->name, ulp_word_of(DATA_WORDS, (size_t)data).text);
}

/* ---- slopes ---- */

/* Sums of one kind at lengths `from` to `to`, and the limits of the slope of their errors. */
typedef struct slope {
    int data;
    const char *mode;
    double from, to, low, high;
} slope;

/* The slope of log rms error over log n by least squares; NaN for less than 3 lengths. */
static double slope_of(const ulp_claims *c, const ulp_format *format, const slope *wanted) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0, rows = 0;
    for (int q = 4; q <= growth_quarters(c->settings); q++) {
        const size_t n = growth_length(q);
        const row *r = find(c, (key){format, wanted->data, wanted->mode, n});
        if ((double)n < wanted->from || (double)n > wanted->to || !r || has_left(format, r)) continue;
        const double x = q / 4.0, y = ulp_log(r->rms) / ulp_log(10);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        rows++;
    }
    return rows < 3 ? (double)NAN : (rows * sxy - sx * sy) / (rows * sxx - sx * sx);
}

static void claim_slope(ulp_claims *c, const ulp_format *format, slope wanted, const char *what) {
    const settings *s = c->settings;
    const double got = slope_of(c, format, &wanted), reached = (double)growth_length(growth_quarters(s));
    if (!find(c, (key){format, wanted.data, wanted.mode, 10})) return;
    const char *text =
        ulp_claim_text(c, "%s %s, %s, n from %.0f to %.0f: %s", format->name, wanted.mode,
                       ulp_word_of(DATA_WORDS, (size_t)wanted.data).text, wanted.from, fmin(wanted.to, reached), what);
    if (isnan(got) || reached < 1e4 || (wanted.to < INFINITY && reached < 0.7 * wanted.to))
        ulp_claim_skip(c, text, "--longest is %g", s->longest);
    else if (s->runs < 16) ulp_claim_skip(c, text, "--runs is %lld: too much chance", (long long)s->runs);
    else ulp_claim(c, got >= wanted.low && got <= wanted.high, text, "slope %.3f", got);
}

/* Claims slopes for formats of 8 to 16 bits of precision: they have a decade of lengths to measure a slope in, and
 * their terms are not coarser than their sums. */
static void claim_slopes(ulp_claims *c, const ulp_format *format) {
    const double half = ldexp(1, (int)format->prec - 1);
    if (format->prec < 8 || format->prec > 16) return;
    for (int data = POSITIVE; data <= DOT_POSITIVE; data += DOT_POSITIVE - POSITIVE) {
        if (format->prec >= 11)
            claim_slope(c, format, (slope){data, "sra", 10, half, 0.35, 0.65},
                        "the error grows like sqrt(n), with a slope of 0.35 to 0.65");
        claim_slope(c, format, (slope){data, "rne", 0.7 * half, 7 * half, 0.9, INFINITY},
                    "the error grows like n or faster, with a slope of 0.9 or more");
    }
    claim_slope(c, format, (slope){SIGNED, "rne", 10, INFINITY, -0.15, 0.15},
                "the error does not grow, with a slope of -0.15 to 0.15");
    claim_slope(c, format, (slope){SIGNED, "sra", 10, INFINITY, -0.15, 0.15},
                "the error does not grow, with a slope of -0.15 to 0.15");
}

/* ---- where stochastic errors level off ---- */

/* A bound of the probability that a stochastic sum S of positive terms has an error of at least `error` times the exact
 * sum T. The spacing around S is at most g S, g = 2^(1-p).
 *
 *  - S too large: a step of x adds at most c_m x S^(m-1) to the mean of S^m, c_m = ((1 + g)^m - 1) / g. E (S/T)^m is
 *    therefore at most the product of c_j / j for j = 1 to m, and Markov's inequality gives the bound.
 *  - S too small: E exp(-t S) is at most E exp(-t X) for a Gamma variable X of mean T and shape 2 / g, and Chernoff's
 *    inequality gives the bound. */
static double chance_of_error(const ulp_format *format, double error) {
    const double gap = ldexp(1, 1 - (int)format->prec);
    double power = 1, above = 1;
    for (double m = 1;; m++) {
        power *= 1 + gap;
        const double factor = (power - 1) / (gap * m * (1 + error));
        if (!(factor < 1)) break;
        above *= factor;
    }
    return above + (error < 1 ? ulp_exp(2 / gap * (ulp_log(1 - error) + error)) : 0);
}

/* The least error, to six digits, whose chance_of_error() is at most `chance`. */
static double error_of_chance(const ulp_format *format, double chance) {
    double low = 0, high = 1;
    while (chance_of_error(format, high) > chance) high *= 2;
    while (high - low > 1e-6 * high) {
        const double middle = (low + high) / 2;
        if (chance_of_error(format, middle) > chance) low = middle;
        else high = middle;
    }
    return high;
}

/* Claims that the error of no stochastic sum of positive terms, at any length, exceeds a limit. At most one in a
 * million runs of the experiment has a sum that exceeds this limit by chance. */
static void claim_level(ulp_claims *c, const ulp_format *format) {
    const settings *s = c->settings;
    double most = 0;
    long rows = 0;
    for (int q = 4; q <= growth_quarters(s); q++)
        for (int data = POSITIVE; data <= DOT_POSITIVE; data += DOT_POSITIVE - POSITIVE) {
            const row *r = find(c, (key){format, data, "sra", growth_length(q)});
            if (!r || has_left(format, r)) continue;
            most = fmax(most, r->most_error);
            rows++;
        }
    if (rows == 0) return;
    const double level = sqrt(ldexp(1, -(int)format->prec));
    ulp_summary(c, "level", level, "%s sra", format->name);
    const double limit = error_of_chance(format, false_alarm / (double)(rows * s->runs));
    const char *text = ulp_claim_text(
        c,
        "%s sra, positive terms: no sum of any length errs by over %.3g %%, %.1f times the standard deviation's "
        "bound 2^(-p/2)",
        format->name, 100 * limit, limit / level);
    ulp_claim(c, most <= limit, text, "%ld row%s, the farthest sum off by %.3g %%", rows, ulp_plural((size_t)rows),
              100 * most);
}

/* Harmonic sums of 10^6 terms to nearest, with the errors to four digits of Croci et al. 2022. */
static const struct fact {
    const char *format;
    double sum, error;
} facts[] = {{"binary16", 7.0859375, 0.5077}, {"bfloat16", 5.0625, 0.6483}};

static void claim_harmonic(ulp_claims *c, const struct fact *fact) {
    const settings *s = c->settings;
    const ulp_format *format = ulp_formats_find(&s->formats, fact->format);
    const row *r = find(c, (key){format, HARMONIC, "rne", 1000000});
    char text[160];
    snprintf(text, sizeof text, "%s to nearest: the harmonic sum of 10^6 terms is exactly %.10g, its error %.4f",
             fact->format, fact->sum, fact->error);
    if (r)
        ulp_claim(c, r->least == fact->sum && r->most == fact->sum && fabs(r->most_error - fact->error) <= 0.5e-4, text,
                  "sums from %.10g to %.10g, error %.6f", r->least, r->most, r->most_error);
    else if (find(c, (key){format, HARMONIC, "rne", 10})) ulp_claim_skip(c, text, "--longest is %g", s->longest);
}

/* ---- the table ---- */

static void print_bound(ulp_sheet *sheet, double bound) {
    if (isnan(bound)) ulp_sheet_put(sheet, "none");
    else ulp_sheet_put(sheet, "%.2e", bound);
}

/* One line of the table, for lengths 10^2 to 10^(last / 4). */
static void print_sums(ulp_sheet *sheet, const ulp_claims *c, key k, int last) {
    ulp_sheet_put_row(sheet, "%s,%s,%s", k.format->name, ulp_word_of(DATA_WORDS, (size_t)k.data).text, k.mode);
    for (int q = 8; q <= last; q += 4) {
        k.n = growth_length(q);
        const row *r = find(c, k);
        if (!r) ulp_sheet_put(sheet, "-");
        else if (isfinite(r->rms)) ulp_sheet_put(sheet, "%.2e", r->rms);
        else ulp_sheet_put(sheet, "overflow");
        if (q < last) continue;
        print_bound(sheet, r ? r->gamma : (double)NAN);
        print_bound(sheet, r ? r->likely : (double)NAN);
    }
}

static void print_table(const ulp_claims *c) {
    const settings *s = c->settings;
    const int last = growth_quarters(s) - growth_quarters(s) % 4;
    char heads[240] = "format,terms,mode";
    for (int q = 8; q <= last; q += 4)
        snprintf(heads + strlen(heads), 40, ",n = 10^%d%s", q / 4, q == last ? ",gamma,likely" : "");
    ulp_sheet *sheet = ulp_sheet_new("rms error / sum of magnitudes, and two bounds at the last length", heads);
    for (size_t f = 0; f < s->formats.count && last >= 8; f++)
        for (int data = 0; data < DATA_COUNT; data++)
            for (size_t m = 0; m < s->modes.count && (s->data >> data & 1); m++)
                print_sums(sheet, c, (key){&s->formats.at[f], data, s->modes.at[m].name, 0}, last);
    ulp_sheet_print(sheet, c->file);
}

void judge(ulp_claims *c) {
    const settings *s = c->settings;
    print_table(c);
    claim_bound(c, gamma_of,
                "no error of a sum within the format's range exceeds gamma_n = n u / (1 - n u), where n u < 1");
    claim_bound(c, linear_of, "to nearest: no error of a sum within the format's range exceeds n u, at any length");
    claim_likely(c);
    for (size_t f = 0; f < s->formats.count; f++) {
        claim_stop(c, &s->formats.at[f], POSITIVE);
        claim_stop(c, &s->formats.at[f], DOT_POSITIVE);
        claim_slopes(c, &s->formats.at[f]);
        claim_level(c, &s->formats.at[f]);
    }
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) claim_harmonic(c, &facts[i]);
}
