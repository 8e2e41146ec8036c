/* claims.c - the table of fp8_accumulation.c, and the claims about its rows. */
#include "fp8_accumulation.h"

#include <math.h>

/* A column of the rows of one datapath (by name, bits or interval, whichever is given), mean over the seeds; NaN if
 * there are none. */
static double mean_of(const ulp_run *run, const char *data, const char *column, const char *by, const char *what) {
    double total = 0;
    int count = 0;
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "data", data, by, what, (const char *)NULL);
        if (row == ULP_NO_ROW) return count ? total / count : NAN;
        total += ulp_row_number(run, row, column);
        count++;
    }
}

static double of_number(const ulp_run *run, const char *data, const char *column, const char *by, int number) {
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    return mean_of(run, data, column, by, text);
}

static double of_row(const ulp_run *run, const char *data, const char *column, const char *datapath) {
    return mean_of(run, data, column, "datapath", datapath);
}

/* The last running sum of 2^-8; NaN if there is none. */
static double end_of(const ulp_run *run, const char *by, const char *what) {
    char k[16];
    snprintf(k, sizeof k, "%d", SUM_LENGTH);
    const long row = ulp_row_find(run, 0, "data", fp8_data[CONSTANT], by, what, "k", k, (const char *)NULL);
    return row == ULP_NO_ROW ? NAN : ulp_row_number(run, row, "sum");
}

static void claim_end(ulp_run *run, const char *datapath, double want) {
    const double got = end_of(run, "datapath", datapath);
    char text[160];
    snprintf(text, sizeof text, "32768 products 1/16 x 1/16: %s ends at %.0f, exactly", datapath, want);
    if (isnan(got)) ulp_claim_skip(ulp_run_claims(run), text, "it is not in --datapath");
    else ulp_claim(ulp_run_claims(run), got == want, text, "%.17g", got);
}

/* Every number of an option: sums of constants end at want(number). */
static void claim_ends(ulp_run *run, const char *option, double (*want)(double), const char *text) {
    size_t count;
    const double *number = ulp_option_numbers(run, option, &count);
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        char what[16];
        snprintf(what, sizeof what, "%.0f", number[i]);
        wrong += !(end_of(run, option, what) == want(number[i]));
    }
    if (count > 0)
        ulp_claim(ulp_run_claims(run), wrong == 0, text, "%zu values of --%s, %d against it", count, option, wrong);
}

static double stop_of_bits(double b) { return b < 15 ? ldexp(1, (int)b - 8) : 128; }
static double no_stop(double interval) { return interval > 0 ? 128 : NAN; }

/* Each number of the list, ascending, errs less (sign -1) or more (sign 1) than the one before it on positive data. */
static void claim_monotone(ulp_run *run, const char *option, int sign, double below, const char *text) {
    size_t count;
    const double *number = ulp_option_numbers(run, option, &count);
    int steps = 0, wrong = 0;
    for (size_t i = 1; i < count; i++) {
        if (number[i] <= number[i - 1] || number[i] > below) continue;
        const double last = of_number(run, "uniform", "mean_error", option, (int)number[i - 1]);
        steps++;
        wrong += !(sign * (of_number(run, "uniform", "mean_error", option, (int)number[i]) - last) > 0);
    }
    if (steps > 0) ulp_claim(ulp_run_claims(run), wrong == 0, text, "%d steps, %d against it", steps, wrong);
}

static void claim_about(ulp_run *run, double got, double want, double room, const char *text) {
    if (isnan(got)) ulp_claim_skip(ulp_run_claims(run), text, "its datapath is not in this run");
    else ulp_claim(ulp_run_claims(run), fabs(got - want) <= room, text, "%.4f %%", 100 * got);
}

/* The published shares, with room for other random numbers. */
static void claim_published(ulp_run *run) {
    const double raw = of_row(run, "uniform", "mean_error", "h100-e4m3"),
                 promoted = of_number(run, "uniform", "mean_error", "promote", 128);
    const double normal = of_row(run, "normal", "norm_error", "h100-e4m3");
    if (!isnan(raw))
        ulp_beside(ulp_run_claims(run),
                   &(ulp_published){"mean relative error, U[0,1], k = 4096, 14 bits kept",
                                    "emulation; cf. DeepSeek-V3 2024", "6.6 %"},
                   "%.2f %%", 100 * raw);
    if (!isnan(promoted))
        ulp_beside(
            ulp_run_claims(run),
            &(ulp_published){"the same, promoted every 128 products", "emulation; cf. DeepSeek-V3 2024", "0.05 %"},
            "%.3f %%", 100 * promoted);
    if (!isnan(normal))
        ulp_beside(ulp_run_claims(run),
                   &(ulp_published){"norm-wise error, N(0,1), k = 4096, 14 bits kept", "emulated", "0.13 %"}, "%.3f %%",
                   100 * normal);
    claim_about(run, raw, 0.066, 0.001,
                "U[0,1], k = 4096: with 14 bits the mean relative error is 6.6 %, within 0.1 points");
    claim_about(run, promoted, 0.0005, 0.00002,
                "U[0,1], k = 4096: promotion every 128 products leaves 0.050 %, within 0.002 points");
    claim_about(run, normal, 0.0013, 0.0003,
                "N(0,1), k = 4096: with 14 bits the error is 0.13 % norm-wise, within 0.03 points");
}

static void claim_cast(ulp_run *run) {
    const double raw = of_row(run, "uniform", "norm_error", "h100-e4m3"),
                 promoted = of_number(run, "uniform", "norm_error", "promote", 128);
    const double cast_error = of_row(run, "uniform", "cast", "h100-e4m3"),
                 normal = of_row(run, "normal", "norm_error", "h100-e4m3");
    const double normal_cast = of_row(run, "normal", "cast", "h100-e4m3"),
                 wide = of_row(run, "uniform", "mean_error", "b200-e4m3");
    if (isnan(raw)) return;
    if (!isnan(promoted))
        ulp_claim(ulp_run_claims(run), raw > 10 * cast_error && promoted < cast_error,
                  "U[0,1]: 14 bits cost over 10 times what rounding the data to e4m3 does, with promotion every 128 "
                  "less than that",
                  "data %.3f %%, 14 bits %.3f %%, promoted %.3f %%", 100 * cast_error, 100 * raw, 100 * promoted);
    ulp_claim(ulp_run_claims(run), normal < normal_cast / 10,
              "N(0,1): 14 bits cost less than a tenth of what rounding the data to e4m3 does",
              "data %.2f %%, 14 bits %.3f %%", 100 * normal_cast, 100 * normal);
    if (!isnan(wide))
        ulp_claim(ulp_run_claims(run), wide < 1e-5, "U[0,1]: Blackwell's 26 bits of alignment err by less than 10^-5",
                  "%.2g", wide);
}

static void print_line(ulp_sheet *table, const ulp_run *run, const char *by, const char *what, const char *name) {
    ulp_sheet_put(table, "%s", name);
    ulp_sheet_put(table, "%.4g %%", 100 * mean_of(run, "uniform", "mean_error", by, what));
    ulp_sheet_put(table, "%.4g %%", 100 * mean_of(run, "uniform", "max_error", by, what));
    ulp_sheet_put(table, "%.4g %%", 100 * mean_of(run, "normal", "norm_error", by, what));
    ulp_sheet_put(table, "%.9g", end_of(run, by, what));
}

static void print_table(const ulp_run *run) {
    static fp8_way ways[WAYS_MAX];
    size_t count = 0;
    if (fp8_ways(run, ways, &count) != ULP_OK || count == 0) return;
    ulp_sheet *table =
        ulp_sheet_new("errors against the exact product of the e4m3 data; the sum of 32768 products 2^-8 is 128",
                      "unit,uniform: mean,largest,normal: norm-wise,32768 x 2^-8");
    for (size_t i = 0; i < count; i++) {
        char text[40] = "";
        if (ways[i].bits) snprintf(text, sizeof text, "%d bits", ways[i].bits);
        if (ways[i].promote) snprintf(text, sizeof text, "promoted every %d", ways[i].promote);
        const char *name = text[0] ? text : ways[i].datapath.name;
        print_line(table, run, "datapath", ways[i].datapath.name, name);
    }
    ulp_sheet_put(table, "rounding the data");
    ulp_sheet_put(table, "%.4g %% norm-wise", 100 * of_row(run, "uniform", "cast", ways[0].datapath.name));
    ulp_sheet_put(table, "-");
    ulp_sheet_put(table, "%.4g %%", 100 * of_row(run, "normal", "cast", ways[0].datapath.name));
    ulp_sheet_put(table, "-");
    ulp_sheet_print(table, ulp_run_people(run));
}

void fp8_check(ulp_run *run, const void *context) {
    (void)context;
    print_table(run);
    claim_end(run, "h100-e4m3", 64);
    claim_end(run, "b200-e4m3", 128);
    claim_end(run, "h100-e4m3-mma", 128);
    claim_ends(run, "promote", no_stop, "32768 products 1/16 x 1/16: with any promotion the sum ends at 128, exactly");
    claim_ends(run, "bits", stop_of_bits,
               "32768 products 1/16 x 1/16: with b bits the sum ends at 2^(b-8), exactly, and at 128 from b = 15 on");
    if (ulp_option_integer(run, "k") != 4096 || !ulp_option_chosen(run, "scaling", "none")) {
        ulp_claim_skip(ulp_run_claims(run), "the published errors", "they are for --k 4096 --scaling none");
        return;
    }
    claim_published(run);
    claim_cast(run);
    claim_monotone(run, "bits", -1, 23, "U[0,1]: every further bit up to 23 lowers the error");
    claim_monotone(run, "promote", 1, 16384, "U[0,1]: every longer interval of promotion raises it");
}
