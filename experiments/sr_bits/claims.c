/* claims.c - the table of sr_bits.c, and the claims about its rows. */
#include "sr_bits.h"

#include <math.h>

/* log2 of where sums stop. */
static int stop_of(int p, int mode, int bits, int input) {
    if (input == BELOW_ONE) return mode == A ? p - 1 + bits : p + bits;
    return mode == B ? p + bits + 1 : p + bits;
}

static void claim_stop(ulp_run *run, int mode, int input) {
    static const char *const laws[2][MODE_COUNT] = {{"2^(p-1+r)", "2^(p+r)", "2^(p+r)"},
                                                    {"2^(p+r)", "2^(p+r+1)", "2^(p+r)"}};
    long rows = 0, ran = 0, wrong = 0;
    char text[160];
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "kind", "stop", "mode", sr_bits_modes[mode], "input", sr_bits_inputs[input],
                           (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        const int p = (int)ulp_row_number(run, row, "p"), bits = (int)ulp_row_number(run, row, "bits");
        const double stop = ldexp(1, stop_of(p, mode, bits, input)), least = ulp_row_number(run, row, "least");
        rows++;
        wrong += ulp_row_number(run, row, "first_stuck") != stop;
        if (isnan(least)) continue;
        ran++;
        wrong += least != stop || ulp_row_number(run, row, "most") != stop;
    }
    snprintf(text, sizeof text, "%s: sums of %s stop at exactly %s", sr_bits_modes[mode],
             input == ONES ? "ones" : "terms in (0,1)", laws[input][mode]);
    if (rows > 0)
        ulp_claim(ulp_run_claims(run), wrong == 0, text,
                  "%ld pairs of p and r by asking for the largest word, %ld of them also by %lld sums each", rows, ran,
                  (long long)ulp_option_integer(run, "runs"));
}

/* In spacings, exactly. */
static double bias_of(int mode, int bits, int input, int cut_bits) {
    if (input == MIDPOINTS) return mode == A ? -ldexp(1, -bits - 1) : 0;
    if (cut_bits <= bits) return 0;
    return mode == A ? -ldexp(1, -bits - 2) : mode == B ? ldexp(1, -bits - 2) : 0;
}

static void claim_bias(ulp_run *run, int mode, int input) {
    static const char *const laws[2][MODE_COUNT] = {
        {"lattice: bias 0 for r bits cut, exactly -2^-(r+2) spacings for r + 1",
         "lattice: bias 0 for r bits cut, exactly +2^-(r+2) spacings for r + 1",
         "lattice: bias exactly 0 for r bits cut and for r + 1"},
        {"evenly spread fractions: bias exactly -2^-(r+1) spacings", "evenly spread fractions: bias exactly 0",
         "evenly spread fractions: bias exactly 0"}};
    long rows = 0, wrong = 0;
    double largest = 0;
    char text[160];
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "kind", "bias", "mode", sr_bits_modes[mode], "input", sr_bits_inputs[input],
                           (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        const int bits = (int)ulp_row_number(run, row, "bits"), cut = (int)ulp_row_number(run, row, "cut_bits");
        const double bias = ulp_row_number(run, row, "bias");
        wrong += bias != bias_of(mode, bits, input, cut);
        if (fabs(bias) > fabs(largest)) largest = bias;
        rows++;
    }
    snprintf(text, sizeof text, "%s, %s", sr_bits_modes[mode], laws[input == MIDPOINTS][mode]);
    if (rows > 0) ulp_claim(ulp_run_claims(run), wrong == 0, text, "%ld averages, the largest %.9g", rows, largest);
}

/* What a run of many sums allows: 4 standard errors of the mean, and 0.5 % for the spread, which the law leaves out. */
static double allowed(const ulp_run *run, long row) {
    const double mean = ulp_row_number(run, row, "mean_error"), rms = ulp_row_number(run, row, "rms");
    const double runs = (double)ulp_option_integer(run, "runs");
    return 4 * sqrt(fmax(0, rms * rms - mean * mean) / (runs - 1)) + 0.005;
}

static void claim_errors(ulp_run *run) {
    long rows = 0, wrong = 0;
    double farthest = 0;
    const char *text = "bfloat16: mean errors of sums are the biases added up, within 4 standard errors and 0.5 %";
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "kind", "error", "format", "bfloat16", (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        const double off = fabs(ulp_row_number(run, row, "mean_error") - ulp_row_number(run, row, "predicted"));
        wrong += !(off <= allowed(run, row));
        farthest = fmax(farthest, off / allowed(run, row));
        rows++;
    }
    if (rows == 0) ulp_claim_skip(ulp_run_claims(run), text, "--formats has no bfloat16");
    else if (ulp_option_integer(run, "terms") < 10000)
        ulp_claim_skip(ulp_run_claims(run), text, "--terms is %lld: their own chance counts",
                       (long long)ulp_option_integer(run, "terms"));
    else
        ulp_claim(ulp_run_claims(run), wrong == 0, text, "%ld sums' means, the farthest off by %.0f %% of that", rows,
                  100 * farthest);
}

static void claim_eight(ulp_run *run) {
    const char *text = "bfloat16, 8 bits: A loses over 30 % of 100000 terms on average, B and C less than 10 %";
    double mean[MODE_COUNT];
    for (int m = 0; m < MODE_COUNT; m++) {
        const long row = ulp_row_find(run, 0, "kind", "error", "format", "bfloat16", "mode", sr_bits_modes[m], "bits",
                                      "8", (const char *)NULL);
        if (row == ULP_NO_ROW || ulp_option_integer(run, "terms") != 100000) {
            ulp_claim_skip(ulp_run_claims(run), text, "needs bfloat16, all modes, 8 bits and --terms 100000");
            return;
        }
        mean[m] = ulp_row_number(run, row, "mean_error");
    }
    ulp_claim(ulp_run_claims(run), mean[A] < -0.3 && fabs(mean[B]) < 0.1 && fabs(mean[C]) < 0.1, text,
              "A %.1f %%, B %.1f %%, C %.1f %%", 100 * mean[A], 100 * mean[B], 100 * mean[C]);
}

static void print_table(const ulp_run *run) {
    size_t formats, bits;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const double *r = ulp_option_numbers(run, "bits", &bits);
    char title[120];
    snprintf(title, sizeof title, "sums of terms in (0,1): where they stop, and the mean error of %lld terms",
             (long long)ulp_option_integer(run, "terms"));
    ulp_sheet *table = ulp_sheet_new(title, "format,r,A stops at,B,C,error of A,B,C");
    for (size_t f = 0; f < formats; f++)
        for (size_t i = 0; i < bits; i++) {
            char text[8];
            snprintf(text, sizeof text, "%.0f", r[i]);
            ulp_sheet_put(table, "%s", format[f].name);
            ulp_sheet_put(table, "%s", text);
            for (int k = 0; k < 2 * MODE_COUNT; k++) {
                const int errors = k >= MODE_COUNT;
                const long row = ulp_row_find(run, 0, "kind", errors ? "error" : "stop", "format", format[f].name,
                                              "mode", sr_bits_modes[k % MODE_COUNT], "bits", text, (const char *)NULL);
                if (row == ULP_NO_ROW) ulp_sheet_put(table, "-");
                else
                    ulp_sheet_put(table, errors ? "%.2f %%" : "%.0f",
                                  errors ? 100 * ulp_row_number(run, row, "mean_error")
                                         : ulp_row_number(run, row, "first_stuck"));
            }
        }
    ulp_sheet_print(table, ulp_run_people(run));
}

void sr_bits_check(ulp_run *run, const void *context) {
    (void)context;
    print_table(run);
    for (int input = BELOW_ONE; input <= ONES; input++)
        for (int m = 0; m < MODE_COUNT; m++) claim_stop(run, m, input);
    for (int input = LATTICE; input <= MIDPOINTS; input++)
        for (int m = 0; m < MODE_COUNT; m++) claim_bias(run, m, input);
    claim_errors(run);
    claim_eight(run);
}
