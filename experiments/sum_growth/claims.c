/* claims.c - the table of sum_growth.c, and the claims about its rows. */
#include "sum_growth.h"

#include <math.h>
#include <string.h>

#include "kernels/functions/elementary.h"

/* The row of a length; ULP_NO_ROW. */
static long find(const ulp_run *run, const char *format, int data, const char *mode, size_t n) {
    char text[24];
    snprintf(text, sizeof text, "%zu", n);
    return ulp_row_find(run, 0, "n", text, "mode", mode, "format", format, "data", growth_data[data],
                        (const char *)NULL);
}

/* A claim about random sums fails with this probability at most where what it says is true. */
static const double false_alarm = 1e-6;

/* A sum of the row left the format's range or is held at its end: the bounds are about sums within the range. */
static int has_left(const ulp_run *run, long row) {
    ulp_format format;
    if (ulp_format_parse(&format, ulp_row_text(run, row, "format")) != ULP_OK) return 1;
    const double least = ulp_row_number(run, row, "least"), most = ulp_row_number(run, row, "most");
    return !isfinite(ulp_row_number(run, row, "most_error")) || !(fmax(fabs(least), fabs(most)) < format.max);
}

/* How many rows have this bound, and in how many the largest error exceeds it; the closest, as a share of the bound. */
static void claim_bound(ulp_run *run, const char *bound, const char *text) {
    long rows = 0, broken = 0;
    double closest = 0;
    for (long row = 0; row < ulp_row_count(run); row++) {
        const double limit = ulp_row_number(run, row, bound), error = ulp_row_number(run, row, "most_error");
        if (isnan(limit) || has_left(run, row)) continue;
        rows++;
        broken += !(error <= limit);
        closest = fmax(closest, error / limit);
    }
    if (rows == 0) ulp_claim_skip(ulp_run_claims(run), text, "no row has this bound");
    else
        ulp_claim(ulp_run_claims(run), broken == 0, text, "%ld rows of %lld sums, the closest at %.1f %% of the bound",
                  rows, (long long)ulp_option_integer(run, "runs"), 100 * closest);
}

/* lambda sqrt(n) u of a row, without what `likely` adds to it. */
static double plain_bound(const ulp_run *run, long row) {
    ulp_format format;
    const double n = ulp_row_number(run, row, "n"), delta = ulp_option_number(run, "delta");
    if (ulp_format_parse(&format, ulp_row_text(run, row, "format")) != ULP_OK) return NAN;
    return sqrt(2 * n * ulp_log(2 * n / delta)) * ldexp(1, 1 - (int)format.prec);
}

/* Of all stochastic sums, over all lengths where the likely bound says anything (below 1): 1 - delta of them keep it.
 * What is added to lambda sqrt(n) u is less than half of it there, as exp(x) - 1 <= x / ln 2 where it is below 1. */
static void claim_likely(ulp_run *run) {
    size_t modes;
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    const double runs = (double)ulp_option_integer(run, "runs"), delta = ulp_option_number(run, "delta");
    double count = 0, within = 0, closest = 0;
    int sound = 1;
    char text[200];
    snprintf(text, sizeof text,
             "stochastic: %.4g %% of the sums at least are within the likely bound, about lambda sqrt(n) u, where that "
             "is below 1",
             100 * (1 - delta));
    for (long row = 0; row < ulp_row_count(run); row++)
        for (size_t m = 0; m < modes; m++) {
            if (!growth_is_unbiased(mode[m].rule) || !ulp_row_is(run, row, "mode", mode[m].name)) continue;
            if (ulp_row_is(run, row, "data", "harmonic") || has_left(run, row)) continue;
            if (!(ulp_row_number(run, row, "likely") < 1)) continue;
            const double times = ulp_row_number(run, row, "likely") / plain_bound(run, row);
            sound &= times >= 1 && times < 1.5;
            count += runs;
            within += ulp_row_number(run, row, "within");
            closest = fmax(closest, ulp_row_number(run, row, "most_error") / ulp_row_number(run, row, "likely"));
        }
    if (count == 0)
        ulp_claim_skip(ulp_run_claims(run), text, "needs sra, srb or src in --modes, and --data other than harmonic");
    else
        ulp_claim(ulp_run_claims(run), sound && within >= (1 - delta) * count, text,
                  "%.0f of %.0f, the farthest at %.1f %% of the bound", within, count, 100 * closest);
}

/* The probability that a term of U[0,1], or a product of two of them, is over 1/2 after rounding to nearest: numbers
 * between 1/2 and 1 are `spacing` apart, and a tie at 1/2 goes to 1/2. */
static double share_over_half(const ulp_format *format, int data) {
    const double spacing = ldexp(1, -(int)format->prec);
    double share = 0;
    if (data == POSITIVE) return 0.5 - spacing / 2;
    for (double x = 0.5 + spacing; x <= 1; x += spacing) {
        /* the least factor y whose product with x is over 1/2 */
        const double y = spacing * (floor((1 + spacing) / (2 * x * spacing)) + 1);
        if (y <= 1) share += (x < 1 ? spacing : spacing / 2) * (1 + spacing / 2 - y);
    }
    return share;
}

/* The least n for which fewer than `needed` of n terms are over 1/2 with a probability of at most `chance`, by the
 * Chernoff bound of the binomial distribution. */
static double enough_terms(double needed, double share, double chance) {
    for (double n = ceil(needed / share);; n = ceil(1.001 * n)) {
        const double part = needed / n;
        if (part < share &&
            n * (part * ulp_log(share / part) + (1 - part) * ulp_log((1 - share) / (1 - part))) <= ulp_log(chance))
            return n;
    }
}

/* Sums of U[0,1] and of products of these, to nearest. No term lowers the sum. A term over 1/2 adds 1/2 or more to a
 * sum below 2^(p-1), whose spacing is 1/2 at most, and 1 to a sum from there to 2^p: 3 2^(p-1) such terms reach 2^p.
 * There the spacing is 2, and only the tie 2^p + 1 can move the sum: it goes to 2^p, or with one bit of significand,
 * where every significand is odd and the even code decides, perhaps to 2^(p+1), whose spacing is 4. */
static void claim_stop(ulp_run *run, const ulp_format *format, int data) {
    const double power = ldexp(1, (int)format->prec), stop = ulp_round(power + 1, format, (ulp_rule){0}, 0);
    const double needed = 1.5 * power + (stop > power), chance = false_alarm / (double)ulp_option_integer(run, "runs");
    double least = INFINITY, most = -INFINITY;
    long rows = 0;
    char text[160];
    if (format->emin > -1 || stop > format->max / 2 ||
        ulp_row_find(run, 0, "format", format->name, "data", growth_data[data], "mode", "rne", (const char *)NULL) ==
            ULP_NO_ROW)
        return;
    const double from = enough_terms(needed, share_over_half(format, data), chance);
    for (int q = 4; q <= growth_quarters(run); q++) {
        const long row = find(run, format->name, data, "rne", growth_length(q));
        if (row == ULP_NO_ROW || (double)growth_length(q) < from) continue;
        least = fmin(least, ulp_row_number(run, row, "least"));
        most = fmax(most, ulp_row_number(run, row, "most"));
        rows++;
    }
    snprintf(text, sizeof text, "%s to nearest, %s of U[0,1]: every one of %.0f terms or more is exactly %.0f",
             format->name, data == POSITIVE ? "sums" : "inner products", from, stop);
    if (rows == 0) ulp_claim_skip(ulp_run_claims(run), text, "--longest is %g", ulp_option_number(run, "longest"));
    else
        ulp_claim(ulp_run_claims(run), least == stop && most == stop, text, "%ld lengths, from %.17g to %.17g", rows,
                  least, most);
}

/* The slope of log rms error over log n by least squares, lengths from `from` to `to`; NaN for less than 3 of them. */
static double slope(const ulp_run *run, const char *format, int data, const char *mode, double from, double to) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0, rows = 0;
    for (int q = 4; q <= growth_quarters(run); q++) {
        const double n = (double)growth_length(q);
        const long row = n < from || n > to ? ULP_NO_ROW : find(run, format, data, mode, growth_length(q));
        if (row == ULP_NO_ROW || has_left(run, row)) continue;
        const double x = q / 4.0, y = ulp_log(ulp_row_number(run, row, "rms")) / ulp_log(10);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        rows++;
    }
    return rows < 3 ? NAN : (rows * sxy - sx * sy) / (rows * sxx - sx * sx);
}

/* A slope lies between two numbers. */
static void claim_slope(ulp_run *run, const ulp_format *format, int data, const char *mode, double from, double to,
                        double low, double high, const char *what) {
    const double got = slope(run, format->name, data, mode, from, to),
                 reached = (double)growth_length(growth_quarters(run));
    char text[240];
    if (find(run, format->name, data, mode, 10) == ULP_NO_ROW) return;
    snprintf(text, sizeof text, "%s %s, %s, n from %.0f to %.0f: %s", format->name, mode, growth_data[data], from,
             fmin(to, reached), what);
    if (isnan(got) || reached < 1e4 || (to < INFINITY && reached < 0.7 * to))
        ulp_claim_skip(ulp_run_claims(run), text, "--longest is %g", ulp_option_number(run, "longest"));
    else if (ulp_option_integer(run, "runs") < 16)
        ulp_claim_skip(ulp_run_claims(run), text, "--runs is %lld: too much chance",
                       (long long)ulp_option_integer(run, "runs"));
    else ulp_claim(ulp_run_claims(run), got >= low && got <= high, text, "slope %.3f", got);
}

/* Slopes where there is a decade to measure them in, for the formats whose terms are not coarser than their sums. */
static void claim_slopes(ulp_run *run, const ulp_format *format) {
    const double half = ldexp(1, (int)format->prec - 1);
    if (format->prec < 8 || format->prec > 16) return;
    for (int data = POSITIVE; data <= DOT_POSITIVE; data += DOT_POSITIVE - POSITIVE) {
        if (format->prec >= 11)
            claim_slope(run, format, data, "sra", 10, half, 0.35, 0.65,
                        "the error grows like sqrt(n), with a slope of 0.35 to 0.65");
        claim_slope(run, format, data, "rne", 0.7 * half, 7 * half, 0.9, INFINITY,
                    "the error grows like n or faster, with a slope of 0.9 or more");
    }
    claim_slope(run, format, SIGNED, "rne", 10, INFINITY, -0.15, 0.15,
                "the error does not grow, with a slope of -0.15 to 0.15");
    claim_slope(run, format, SIGNED, "sra", 10, INFINITY, -0.15, 0.15,
                "the error does not grow, with a slope of -0.15 to 0.15");
}

/* A bound of the probability that a stochastic sum S of positive terms errs by `error` times the exact sum T or more.
 * The spacing around S is at most g S, g = 2^(1-p). Above: a step of x adds at most c_m x S^(m-1) to the mean of S^m,
 * c_m = ((1 + g)^m - 1) / g, so that E (S/T)^m is at most the product of c_j / j for j = 1 to m; then Markov's
 * inequality. Below: E exp(-t S) is at most that of a Gamma variable of mean T and shape 2 / g; then Chernoff's. */
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

/* The least error, to six digits, that has this chance at most. */
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

/* Stochastic sums of positive terms: no error at any length over one that all these sums together reach by chance once
 * in a million runs of the experiment. */
static void claim_level(ulp_run *run, const ulp_format *format) {
    double most = 0;
    long rows = 0;
    char text[200];
    for (int q = 4; q <= growth_quarters(run); q++)
        for (int data = POSITIVE; data <= DOT_POSITIVE; data += DOT_POSITIVE - POSITIVE) {
            const long row = find(run, format->name, data, "sra", growth_length(q));
            if (row == ULP_NO_ROW || has_left(run, row)) continue;
            most = fmax(most, ulp_row_number(run, row, "most_error"));
            rows++;
        }
    if (rows == 0) return;
    const double limit = error_of_chance(format, false_alarm / (double)(rows * ulp_option_integer(run, "runs")));
    snprintf(text, sizeof text,
             "%s sra, positive terms: no sum of any length errs by over %.3g %%, %.1f times the standard deviation's "
             "bound 2^(-p/2)",
             format->name, 100 * limit, limit / sqrt(ldexp(1, -(int)format->prec)));
    ulp_claim(ulp_run_claims(run), most <= limit, text, "%ld rows, the farthest sum off by %.3g %%", rows, 100 * most);
}

/* Croci et al. 2022, to the four digits given there: harmonic sums of 10^6 terms to nearest. */
static void claim_harmonic(ulp_run *run) {
    static const struct {
        const char *format;
        double sum, error;
    } facts[] = {{"binary16", 7.0859375, 0.5077}, {"bfloat16", 5.0625, 0.6483}};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        char text[160];
        const long row = find(run, facts[i].format, HARMONIC, "rne", 1000000);
        snprintf(text, sizeof text, "%s to nearest: the harmonic sum of 10^6 terms is exactly %.10g, its error %.4f",
                 facts[i].format, facts[i].sum, facts[i].error);
        if (row == ULP_NO_ROW) {
            if (find(run, facts[i].format, HARMONIC, "rne", 10) != ULP_NO_ROW)
                ulp_claim_skip(ulp_run_claims(run), text, "--longest is %g", ulp_option_number(run, "longest"));
            continue;
        }
        const double least = ulp_row_number(run, row, "least"), most = ulp_row_number(run, row, "most"),
                     error = ulp_row_number(run, row, "most_error");
        ulp_claim(ulp_run_claims(run),
                  least == facts[i].sum && most == facts[i].sum && fabs(error - facts[i].error) <= 0.5e-4, text,
                  "sums from %.10g to %.10g, error %.6f", least, most, error);
    }
}

static void print_table(const ulp_run *run) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    const int last = growth_quarters(run) - growth_quarters(run) % 4;
    char columns[240] = "format,terms,mode";
    for (int q = 8; q <= last; q += 4)
        snprintf(columns + strlen(columns), 40, ",n = 10^%d%s", q / 4, q == last ? ",gamma,likely" : "");
    ulp_sheet *table = ulp_sheet_new("rms error / sum of magnitudes, and two bounds at the last length", columns);
    for (size_t f = 0; f < formats && last >= 8; f++)
        for (int d = 0; d < DATA_COUNT; d++)
            for (size_t m = 0; m < modes && ulp_option_chosen(run, "data", growth_data[d]); m++) {
                ulp_sheet_put(table, "%s", format[f].name);
                ulp_sheet_put(table, "%s", growth_data[d]);
                ulp_sheet_put(table, "%s", mode[m].name);
                for (int q = 8; q <= last; q += 4) {
                    const long row = find(run, format[f].name, d, mode[m].name, growth_length(q));
                    const double rms = ulp_row_number(run, row, "rms");
                    ulp_sheet_put(table, isfinite(rms) ? "%.2e" : "overflow", rms);
                    if (q < last) continue;
                    const double gamma = ulp_row_number(run, row, "gamma"), likely = ulp_row_number(run, row, "likely");
                    ulp_sheet_put(table, isnan(gamma) ? "none" : "%.2e", gamma);
                    ulp_sheet_put(table, isnan(likely) ? "none" : "%.2e", likely);
                }
            }
    ulp_sheet_print(table, ulp_run_people(run));
}

void growth_check(ulp_run *run, const void *context) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    (void)context;
    print_table(run);
    claim_bound(run, "gamma",
                "no error of a sum within the format's range exceeds gamma_n = n u / (1 - n u), where n u < 1");
    claim_bound(run, "linear", "to nearest: no error of a sum within the format's range exceeds n u, at any length");
    claim_likely(run);
    for (size_t f = 0; f < formats; f++) {
        claim_stop(run, &format[f], POSITIVE);
        claim_stop(run, &format[f], DOT_POSITIVE);
        claim_slopes(run, &format[f]);
        claim_level(run, &format[f]);
    }
    claim_harmonic(run);
}
