/* formats.c - ulp formats: the registered formats as a table. */
#include "tool.h"

#include <stdio.h>
#include <string.h>

static void nan_text(char to[48], const ulp_format *f, int csv) {
    char first[20], last[20];
    const int digits = (f->bits + 3) / 4;
    unsigned long long top = f->bits == 64 ? ~0ull : (1ull << f->bits) - 1;
    unsigned long long magnitude = f->is_signed ? top >> 1 : top;
    switch (f->nan_codes) {
    case ULP_NAN_NONE: strcpy(to, "none"); return;
    case ULP_NAN_IEEE:
        snprintf(first, sizeof first, "%0*llx", digits, (unsigned long long)f->inf_code + 1);
        snprintf(last, sizeof last, "%0*llx", digits, magnitude);
        if (f->bits > 32 && !csv) strcpy(to, "+-above inf");
        else if (strcmp(first, last) == 0) snprintf(to, 48, "+-%s", first);
        else snprintf(to, 48, "+-%s..%s", first, last);
        return;
    case ULP_NAN_ALL_ONES: snprintf(to, 48, "%s%0*llx", f->is_signed ? "+-" : "", digits, magnitude); return;
    default: snprintf(to, 48, "%0*llx", digits, (unsigned long long)f->nan_code); return;
    }
}

/* The unit roundoff: half a unit in the last place of 1; for fixed point the absolute bound 2^-(F+1). */
static double roundoff(const ulp_format *f) { return f->is_fixed ? ulp_scale(0.5, f->qmin) : ulp_scale(1.0, -f->prec); }

static void print_row(size_t i, int csv) {
    ulp_format f;
    const ulp_format_row *row;
    char nan[48], max[40], normal[40], least[40], u[40];
    ulp_format_get(i, &f, &row);
    nan_text(nan, &f, csv);
    const int width = csv ? 24 : 16;
    tool_exact_text(max, f.max, width);
    tool_exact_text(normal, f.min_normal, width);
    tool_exact_text(least, f.min_positive, width);
    tool_exact_text(u, roundoff(&f), width);
    const char *form = csv ? "%s,%s,%d,%d,%d,%d,%d,%s,%s,%s,%s,%s,%s,%s,%s\n"
                           : "%-12s %-19s %4d %3d %5d %6d %5d %-22s %-15s %-15s %-15s %-4s %-20s %-8s %s\n";
    printf(form, f.name, row->aliases, f.bits, f.prec, f.bias, f.emin, f.emax, max, normal, least, u,
           f.has_inf ? "yes" : "no", nan, ulp_overflow_name((ulp_overflow)f.overflow), row->source);
}

static struct settings { int csv; } given;

static const ulp_option options[] = {
    {.name = "csv", .type = &ulp_type_flag, ULP_AT(struct settings, csv), .help = "with commas between the columns"},
    {0},
};

static int run(const ulp_arguments *a) {
    (void)a;
    if (given.csv)
        puts("name,aliases,bits,p,bias,emin,emax,max,min_normal,min_positive,u,inf,nan_codes,overflow,source");
    else
        printf("%-12s %-19s %4s %3s %5s %6s %5s %-22s %-15s %-15s %-15s %-4s %-20s %-8s %s\n", "name", "aliases",
               "bits", "p", "bias", "emin", "emax", "max", "min normal", "min positive", "u", "inf", "NaN codes",
               "overflow", "source");
    for (size_t i = 0; i < ulp_format_count; i++) print_row(i, given.csv);
    return ULP_EXIT_FINE;
}

const tool_command tool_formats = {
    .command = {.name = "ulp formats",
                .usage = "[--csv]",
                .summary = "the registered formats and their parameters",
                .details =
                    "One row per format: code width, precision p, bias, exponents of the least and the greatest normal "
                    "value, largest finite value, least normal and least positive value, unit roundoff u, whether it "
                    "has infinities, its NaN codes, what overflow gives unless a rule says otherwise, and the defining "
                    "source. Values are exact decimals where short, else hex floats. `ulp help formats` says which "
                    "other names are formats.\n"},
    .groups = {{"options", options, &given}},
    .run = run};
