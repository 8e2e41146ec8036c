/* claims.c - the table of ode.c, and the claims about its rows. */
#include "ode.h"

#include <math.h>
#include <string.h>

#include "kernels/functions/elementary.h"

static long find(const ulp_run *run, int kind, const char *format, const char *mode, int64_t n) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)n);
    return ulp_row_find(run, 0, "n", text, "kind", ode_kinds[kind], "format", format, "mode", mode, (const char *)NULL);
}

/* The published case: best at n = 46 among 10^(k/3), with an error of 2.0e-5. */
static void claim_best(ulp_run *run) {
    const char *text = "bfloat16 rne: of n = 10, 22, 46, 100, ..., 46 is best, y exactly 189 2^-15, its error 2.0e-5";
    const long row = find(run, DECAY, "bfloat16", "rne", 46);
    int best = 1;
    if (row == ULP_NO_ROW) {
        ulp_claim_skip(ulp_run_claims(run), text, "needs --formats bfloat16 --modes rne");
        return;
    }
    const double y = ulp_row_number(run, row, "u"), error = ulp_row_number(run, row, "most");
    for (int k = 3; k <= ode_thirds(run); k++)
        best &= ode_steps(k) == 46 ||
                ulp_row_number(run, find(run, DECAY, "bfloat16", "rne", ode_steps(k)), "most") > error;
    ulp_claim(ulp_run_claims(run), best && y == 189 * 0x1p-15 && fabs(error - 2.0e-5) <= 0.05e-5, text,
              "y %.10g, error %.4g", y, error);
}

/* Steps to nearest that vanish: y stays at y0 from n = 2^(p+1) - 1 on, in the grid and in the scan. */
static void claim_stuck(ulp_run *run, const ulp_format *format) {
    const int64_t from = ((int64_t)2 << format->prec) - 1;
    const char *name = format->name;
    const double exact = ODE_START * ulp_exp(-1);
    long rows = 0, moved = 0;
    double error = 0;
    char text[200];
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "format", name, "mode", "rne", (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        if (!ulp_row_is(run, row, "kind", "decay") && !ulp_row_is(run, row, "kind", "scan")) continue;
        if (ulp_row_number(run, row, "n") < (double)from) continue;
        rows++;
        moved += ulp_row_number(run, row, "u") != ODE_START;
        error = ulp_row_number(run, row, "u") - exact;
    }
    snprintf(text, sizeof text, "%s rne: from n = %lld on y stays exactly at y0, with an error of 9.877e-3", name,
             (long long)from);
    if (rows == 0) ulp_claim_skip(ulp_run_claims(run), text, "no rows of so many steps");
    else
        ulp_claim(ulp_run_claims(run), moved == 0 && fabs(error - 9.877e-3) <= 0.0005e-3, text,
                  "%ld rows, %ld moved, error %.7g", rows, moved, error);
}

/* The scan: the last n that moves, and how many n end at the number of the format that is nearest to the solution. */
static void claim_scan(ulp_run *run, const char *format, int64_t last_moving, int count, int64_t first) {
    ulp_format f;
    const double exact = ODE_START * ulp_exp(-1);
    int64_t last = 0, found = 0, least = 0;
    char text[240];
    if (ulp_format_parse(&f, format) != ULP_OK) return;
    const double nearest = ulp_round(exact, &f, (ulp_rule){0}, 0);
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "kind", "scan", "format", format, (const char *)NULL);
        if (row == ULP_NO_ROW) break;
        const double y = ulp_row_number(run, row, "u");
        const int64_t n = (int64_t)ulp_row_number(run, row, "n");
        if (y != ODE_START) last = n;
        if (y == nearest && found++ == 0) least = n;
    }
    if (last == 0) return;
    snprintf(
        text, sizeof text,
        "%s rne, every n from 10: exactly %d end at the number nearest to the solution, first n = %lld; the last that "
        "moves is %lld",
        format, count, (long long)first, (long long)last_moving);
    ulp_claim(ulp_run_claims(run), last == last_moving && found == count && least == first, text,
              "%lld, the first %lld, the last that moves %lld", (long long)found, (long long)least, (long long)last);
}

/* Runs and their mean, relative to Euler's exact polygon, in units of what the standard deviation is bounded by. */
static void claim_decay(ulp_run *run, const char *format, int prec) {
    const double sd = sqrt(ldexp(1, 1 - prec)), runs = (double)ulp_option_integer(run, "runs");
    const double exact = ODE_START * ulp_exp(-1);
    double run_most = 0, mean_most = 0, better = INFINITY;
    char text[200];
    for (int k = 3; k <= ode_thirds(run); k++) {
        const long row = find(run, DECAY, format, "sra", ode_steps(k)),
                   other = find(run, DECAY, format, "rne", ode_steps(k));
        if (row == ULP_NO_ROW) return;
        const double off = ulp_row_number(run, row, "polygon"), unit = (exact + off) * sd;
        run_most = fmax(run_most, ulp_row_number(run, row, "off") / unit);
        mean_most = fmax(mean_most, fabs(ulp_row_number(run, row, "mean") - off) / unit * sqrt(runs));
        if (other != ULP_NO_ROW && ode_steps(k) > (int64_t)2 << prec)
            better = fmin(better, ulp_row_number(run, other, "rms") / ulp_row_number(run, row, "rms"));
    }
    snprintf(text, sizeof text, "%s sra: no run ends farther from Euler's polygon than 5 2^((1-p)/2) of y, for any n",
             format);
    ulp_claim(ulp_run_claims(run), run_most <= 5, text, "%.2f times 2^((1-p)/2) at most", run_most);
    snprintf(text, sizeof text,
             "%s sra: the mean of the runs follows the polygon, within 4 such deviations / sqrt(runs)", format);
    ulp_claim(ulp_run_claims(run), mean_most <= 4, text, "%.2f at most", mean_most);
    snprintf(text, sizeof text, "%s: where steps to nearest vanish, stochastic errors are less than a tenth (rms)",
             format);
    if (isinf(better))
        ulp_claim_skip(ulp_run_claims(run), text, "no n above %lld with both modes", (long long)2 << prec);
    else ulp_claim(ulp_run_claims(run), better > 10, text, "%.1f times less at least", better);
}

static void claim_circle(ulp_run *run, const char *format, int prec) {
    const double sd = sqrt(ldexp(1, 3 - prec)), still = 6.2831853 * ldexp(1, prec + 1) * (1 + ldexp(1, -prec));
    double near = 0, far = INFINITY;
    long stuck = 0, moved = 0, rows = 0;
    char text[200];
    for (int k = 3; k <= ode_thirds(run); k++) {
        const long row = find(run, CIRCLE, format, "sra", ode_steps(k)),
                   other = find(run, CIRCLE, format, "rne", ode_steps(k));
        if (row != ULP_NO_ROW && ode_steps(k) >= 1000) {
            const double bound = ulp_row_number(run, row, "polygon") + ldexp(6.2831853, -prec) + 4 * sd;
            near = fmax(near, ulp_row_number(run, row, "most") / bound);
            rows++;
        }
        if (other == ULP_NO_ROW || (double)ode_steps(k) < still) continue;
        stuck++;
        moved += ulp_row_number(run, other, "u") != 1;
        far = fmin(far, ulp_row_number(run, other, "most"));
    }
    snprintf(text, sizeof text, "%s rne, circle: from n = %.0f on u stays exactly 1, across from the solution halfway",
             format, ceil(still));
    if (stuck > 0)
        ulp_claim(ulp_run_claims(run), moved == 0 && far >= 1.99, text, "%ld rows, %ld moved, %.4f apart at least",
                  stuck, moved, far);
    else if (find(run, CIRCLE, format, "rne", 10) != ULP_NO_ROW)
        ulp_claim_skip(ulp_run_claims(run), text, "--longest is %lld", (long long)ulp_option_integer(run, "longest"));
    snprintf(text, sizeof text,
             "%s sra, circle, n >= 1000: no run strays by over 4 2^((3-p)/2) = %.2g, Euler's own and h's error added",
             format, 4 * sd);
    if (rows > 0)
        ulp_claim(ulp_run_claims(run), near <= 1, text, "%ld rows, the farthest at %.0f %% of that", rows, 100 * near);
}

static void print_table(const ulp_run *run) {
    size_t formats, modes;
    const ulp_format *format = ulp_run_formats(run, &formats);
    const ulp_named_rule *mode = ulp_run_modes(run, &modes);
    ulp_sheet *table = ulp_sheet_new("y' = -y: rms error and mean error; circle: rms of the farthest distance",
                                     "format,mode,n,first y,rms,mean,circle,radius - 1");
    for (size_t f = 0; f < formats; f++)
        for (size_t m = 0; m < modes; m++)
            for (int k = 3; k <= ode_thirds(run); k++) {
                const long row = find(run, DECAY, format[f].name, mode[m].name, ode_steps(k)),
                           circle = find(run, CIRCLE, format[f].name, mode[m].name, ode_steps(k));
                ulp_sheet_put(table, "%s", format[f].name);
                ulp_sheet_put(table, "%s", mode[m].name);
                ulp_sheet_put(table, "%lld", (long long)ode_steps(k));
                ulp_sheet_put(table, "%.8g", ulp_row_number(run, row, "u"));
                ulp_sheet_put(table, "%.3e", ulp_row_number(run, row, "rms"));
                ulp_sheet_put(table, "%.2e", ulp_row_number(run, row, "mean"));
                ulp_sheet_put(table, "%.3f", ulp_row_number(run, circle, "rms"));
                ulp_sheet_put(table, "%.4f", ulp_row_number(run, circle, "radius"));
            }
    ulp_sheet_print(table, ulp_run_people(run));
}

void ode_check(ulp_run *run, const void *context) {
    size_t formats;
    const ulp_format *format = ulp_run_formats(run, &formats);
    (void)context;
    print_table(run);
    claim_best(run);
    claim_scan(run, "bfloat16", 510, 6, 40);
    claim_scan(run, "binary16", 4062, 11, 164);
    for (size_t f = 0; f < formats; f++) {
        const int published = strcmp(format[f].name, "binary16") == 0 || strcmp(format[f].name, "bfloat16") == 0;
        if (!published) continue; /* other formats: figures without claims */
        claim_stuck(run, &format[f]);
        claim_decay(run, format[f].name, (int)format[f].prec);
        claim_circle(run, format[f].name, (int)format[f].prec);
    }
}
