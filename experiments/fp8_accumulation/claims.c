/* claims.c - the table of fp8_accumulation, and the claims about its rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fp8_accumulation.h"

#define COLUMN(field) offsetof(row, field)

/* Selects the ways of a claim: by name (NULL: all ways), by bits or by interval. */
typedef struct wanted {
    kind by;
    const char *name;
    int64_t number;
} wanted;

static wanted named(const char *name) { return (wanted){.by = BY_NAME, .name = name}; }
static wanted bits(int64_t n) { return (wanted){.by = BY_BITS, .number = n}; }
static wanted promoted_every(int64_t n) { return (wanted){.by = BY_PROMOTE, .number = n}; }

static wanted every_way(void) { return (wanted){.by = BY_NAME}; }

static int is_of(const row *r, int data, wanted w) {
    if (r->data != data) return 0;
    if (w.by == BY_NAME) return w.name == NULL || strcmp(r->datapath, w.name) == 0;
    return (w.by == BY_BITS ? r->bits : r->promote) == w.number;
}

/* The mean of a column over the rows of the selected ways and over all seeds. NaN if there are no rows. */
static double mean_of(const ulp_claims *c, int data, size_t column, wanted w) {
    double total = 0;
    int count = 0;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (!is_of(r, data, w)) continue;
        total += *(const double *)((const char *)r + column);
        count++;
    }
    return count ? total / count : NAN;
}

/* The last running sum of the products 2^-8. NaN if there is no row. */
static double end_of(const ulp_claims *c, wanted w) {
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++)
        if (r->k == SUM_LENGTH && is_of(r, CONSTANT, w)) return r->sum;
    return NAN;
}

static void claim_end(ulp_claims *c, const char *datapath, double want) {
    const double got = end_of(c, named(datapath));
    const char *text = ulp_claim_text(c, "32768 products 1/16 x 1/16: %s ends at %.0f, exactly", datapath, want);
    if (isnan(got)) ulp_claim_skip(c, text, "it is not in --datapath");
    else ulp_claim(c, got == want, text, "%.17g", got);
}

/* An option whose numbers select ways to sum. */
typedef struct varied {
    const char *option;
    const ulp_integer_list *numbers;
    wanted (*way)(int64_t number);
} varied;

/* Claims that for every number of an option the sum of constants ends at want(number). */
static void claim_ends(ulp_claims *c, const varied *v, double (*want)(int64_t), const char *text) {
    int wrong = 0;
    for (size_t i = 0; i < v->numbers->count; i++) {
        const int64_t n = v->numbers->at[i];
        wrong += !(end_of(c, v->way(n)) == want(n));
    }
    if (v->numbers->count > 0)
        ulp_claim(c, wrong == 0, text, "%zu values of --%s, %d against it", v->numbers->count, v->option, wrong);
}

static double stop_of_bits(int64_t b) { return b < 15 ? ldexp(1, (int)b - 8) : 128; }
static double no_stop(int64_t interval) { return interval > 0 ? 128 : NAN; }

/* Claims that on uniform data the error falls (sign -1) or grows (sign 1) from each number of the list to the next
 * larger number. Numbers above `below` are left out. */
static void claim_monotone(ulp_claims *c, const varied *v, int sign, int64_t below, const char *text) {
    const int64_t *number = v->numbers->at;
    int steps = 0, wrong = 0;
    for (size_t i = 1; i < v->numbers->count; i++) {
        if (number[i] <= number[i - 1] || number[i] > below) continue;
        const double last = mean_of(c, UNIFORM, COLUMN(mean_error), v->way(number[i - 1]));
        steps++;
        wrong += !(sign * (mean_of(c, UNIFORM, COLUMN(mean_error), v->way(number[i])) - last) > 0);
    }
    if (steps > 0) ulp_claim(c, wrong == 0, text, "%d steps, %d against it", steps, wrong);
}

static void claim_about(ulp_claims *c, double got, double want, double room, const char *text) {
    if (isnan(got)) ulp_claim_skip(c, text, "its datapath is not in this run");
    else ulp_claim(c, fabs(got - want) <= room, text, "%.4f %%", 100 * got);
}

/* The published errors, with a tolerance for other random numbers. */
static void claim_published(ulp_claims *c) {
    const double raw = mean_of(c, UNIFORM, COLUMN(mean_error), named("h100-e4m3")),
                 promoted = mean_of(c, UNIFORM, COLUMN(mean_error), promoted_every(128));
    const double normal = mean_of(c, NORMAL, COLUMN(norm_error), named("h100-e4m3"));
    if (!isnan(raw))
        ulp_beside(c,
                   &(ulp_published){"mean relative error, U[0,1], k = 4096, 14 bits kept",
                                    "emulation; cf. DeepSeek-V3 2024", "6.6 %"},
                   "%.2f %%", 100 * raw);
    if (!isnan(promoted))
        ulp_beside(
            c, &(ulp_published){"the same, promoted every 128 products", "emulation; cf. DeepSeek-V3 2024", "0.05 %"},
            "%.3f %%", 100 * promoted);
    if (!isnan(normal))
        ulp_beside(c, &(ulp_published){"norm-wise error, N(0,1), k = 4096, 14 bits kept", "emulated", "0.13 %"},
                   "%.3f %%", 100 * normal);
    claim_about(c, raw, 0.066, 0.001,
                "U[0,1], k = 4096: with 14 bits the mean relative error is 6.6 %, within 0.1 points");
    claim_about(c, promoted, 0.0005, 0.00002,
                "U[0,1], k = 4096: promotion every 128 products leaves 0.050 %, within 0.002 points");
    claim_about(c, normal, 0.0013, 0.0003,
                "N(0,1), k = 4096: with 14 bits the error is 0.13 % norm-wise, within 0.03 points");
}

static void claim_cast(ulp_claims *c) {
    const double raw = mean_of(c, UNIFORM, COLUMN(norm_error), named("h100-e4m3")),
                 promoted = mean_of(c, UNIFORM, COLUMN(norm_error), promoted_every(128));
    const double cast_error = mean_of(c, UNIFORM, COLUMN(cast), named("h100-e4m3")),
                 normal = mean_of(c, NORMAL, COLUMN(norm_error), named("h100-e4m3"));
    const double normal_cast = mean_of(c, NORMAL, COLUMN(cast), named("h100-e4m3")),
                 wide = mean_of(c, UNIFORM, COLUMN(mean_error), named("b200-e4m3"));
    if (isnan(raw)) return;
    if (!isnan(promoted))
        ulp_claim(c, raw > 10 * cast_error && promoted < cast_error,
                  "U[0,1]: 14 bits cost over 10 times what rounding the data to e4m3 does, with promotion every 128 "
                  "less than that",
                  "data %.3f %%, 14 bits %.3f %%, promoted %.3f %%", 100 * cast_error, 100 * raw, 100 * promoted);
    ulp_claim(c, normal < normal_cast / 10,
              "N(0,1): 14 bits cost less than a tenth of what rounding the data to e4m3 does",
              "data %.2f %%, 14 bits %.3f %%", 100 * normal_cast, 100 * normal);
    if (!isnan(wide))
        ulp_claim(c, wide < 1e-5, "U[0,1]: Blackwell's 26 bits of alignment err by less than 10^-5", "%.2g", wide);
}

static void print_line(ulp_sheet *table, const ulp_claims *c, wanted w, const char *name) {
    ulp_sheet_put_row(table, "%s,%.4g %%,%.4g %%,%.4g %%,%.9g", name, 100 * mean_of(c, UNIFORM, COLUMN(mean_error), w),
                      100 * mean_of(c, UNIFORM, COLUMN(max_error), w), 100 * mean_of(c, NORMAL, COLUMN(norm_error), w),
                      end_of(c, w));
}

static void print_table(const ulp_claims *c) {
    const ways *all = c->context;
    if (all->count == 0) return;
    ulp_sheet *table =
        ulp_sheet_new("errors against the exact product of the e4m3 data; the sum of 32768 products 2^-8 is 128",
                      "unit,uniform: mean,largest,normal: norm-wise,32768 x 2^-8");
    for (size_t i = 0; i < all->count; i++) {
        const way *w = &all->at[i];
        char text[40] = "";
        if (w->by == BY_BITS) snprintf(text, sizeof text, "%lld bits", (long long)w->number);
        if (w->by == BY_PROMOTE) snprintf(text, sizeof text, "promoted every %lld", (long long)w->number);
        print_line(table, c, named(w->name), text[0] ? text : w->name);
    }
    ulp_sheet_put_row(table, "rounding the data,%.4g %% norm-wise,-,%.4g %%,-",
                      100 * mean_of(c, UNIFORM, COLUMN(cast), named(all->at[0].name)),
                      100 * mean_of(c, NORMAL, COLUMN(cast), named(all->at[0].name)));
    ulp_sheet_print(table, c->file);
}

/* The numbers of the figure: 14 bits, promotion every 128 products, Blackwell, and the rounding of the data. */
static void sum_up(ulp_claims *c) {
    static const char *const names[] = {"uniform", "normal"};
    for (int data = UNIFORM; data <= NORMAL; data++) {
        ulp_summary(c, "norm-wise error", mean_of(c, data, COLUMN(norm_error), bits(14)), "%s bits 14", names[data]);
        ulp_summary(c, "norm-wise error", mean_of(c, data, COLUMN(norm_error), promoted_every(128)), "%s promote 128",
                    names[data]);
        ulp_summary(c, "norm-wise error", mean_of(c, data, COLUMN(cast), every_way()), "%s cast", names[data]);
    }
    ulp_summary(c, "sum of constants", end_of(c, bits(14)), "bits 14");
    ulp_summary(c, "sum of constants", end_of(c, promoted_every(128)), "promote 128");
    ulp_summary(c, "sum of constants", end_of(c, named("b200-e4m3")), "b200-e4m3");
}

void judge(ulp_claims *c) {
    const settings *set = c->settings;
    const varied by_bits = {"bits", &set->bits, bits}, by_interval = {"promote", &set->promote, promoted_every};
    print_table(c);
    sum_up(c);
    claim_end(c, "h100-e4m3", 64);
    claim_end(c, "b200-e4m3", 128);
    claim_end(c, "h100-e4m3-mma", 128);
    claim_ends(c, &by_interval, no_stop, "32768 products 1/16 x 1/16: with any promotion the sum ends at 128, exactly");
    claim_ends(c, &by_bits, stop_of_bits,
               "32768 products 1/16 x 1/16: with b bits the sum ends at 2^(b-8), exactly, and at 128 from b = 15 on");
    if (set->k != 4096 || set->scaling != SCALING_NONE) {
        ulp_claim_skip(c, "the published errors", "they are for --k 4096 --scaling none");
        return;
    }
    claim_published(c);
    claim_cast(c);
    claim_monotone(c, &by_bits, -1, 23, "U[0,1]: every further bit up to 23 lowers the error");
    claim_monotone(c, &by_interval, 1, 16384, "U[0,1]: every longer interval of promotion raises it");
}
