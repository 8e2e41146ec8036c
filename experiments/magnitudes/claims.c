/* claims.c - the table of magnitudes.c, and the claims about its rows. */
#include "magnitudes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/stats.h"

/* Counts of the bins of a whole kind, over the seeds. */
typedef struct spread {
    double bin[ULP_BIN_COUNT], nonzero, zero;
} spread;

static spread spread_of(const ulp_run *run, const char *kind, const char *stage) {
    spread s = {0};
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "layer", "all", "kind", kind, "stage", stage, (const char *)NULL);
        if (row == ULP_NO_ROW) return s;
        double count = ulp_row_number(run, row, "count");
        if (ulp_row_is(run, row, "what", "zero")) s.zero += count;
        if (!ulp_row_is(run, row, "what", "bin")) continue;
        s.bin[(int)ulp_row_number(run, row, "x") - ULP_BIN_MIN] += count;
        s.nonzero += count;
    }
}

/* The octave that holds the q-quantile of the magnitudes that are not zero: below 2^(e+1) lies a share of q or more. */
static int quantile(const spread *s, double q) {
    double sum = 0;
    for (int i = 0; i < ULP_BIN_COUNT; i++) {
        sum += s->bin[i];
        if (sum >= q * s->nonzero && sum > 0) return ULP_BIN_MIN + i;
    }
    return ULP_BIN_MIN;
}

static int peak(const spread *s) {
    int best = 0;
    for (int i = 1; i < ULP_BIN_COUNT; i++)
        if (s->bin[i] > s->bin[best]) best = i;
    return ULP_BIN_MIN + best;
}

/* The share that the k octaves from 2^e on hold, in percent. */
static double percent_in(const spread *s, int e, int k) {
    double sum = 0;
    for (int i = e - ULP_BIN_MIN; i < e - ULP_BIN_MIN + k && i < ULP_BIN_COUNT; i++) sum += i < 0 ? 0 : s->bin[i];
    return s->nonzero > 0 ? 100 * sum / s->nonzero : 0;
}

/* How many times fuller the octaves 1 to 4 below the peak are than the octaves 5 to 8 below it. A density that is
 * finite at zero gives 16, if it is flat there. */
static double fall(const spread *s) {
    double near = percent_in(s, peak(s) - 4, 4), far = percent_in(s, peak(s) - 8, 4);
    return far > 0 ? near / far : (double)INFINITY;
}

/* Percent of the values of a kind that are not zero: column is flushed, subnormal or overflowed. */
static double percent_of(const ulp_run *run, const char *column, const char *kind, const char *stage,
                         const char *format) {
    double part = 0, whole = 0;
    for (long row = 0;; row++) {
        row = ulp_row_find(run, row, "layer", "all", "what", "share", "format", format, "kind", kind, "stage", stage,
                           (const char *)NULL);
        if (row == ULP_NO_ROW) return whole > 0 ? 100 * part / whole : 0;
        part += ulp_row_number(run, row, column);
        whole += ulp_row_number(run, row, "count") - ulp_row_number(run, row, "zero");
    }
}

static void print_table(const ulp_run *run) {
    char columns[512] = "tensor,stage,zero,median,99 % from,to,fullest octave,holds";
    size_t formats, used = strlen(columns);
    const ulp_format *f = ulp_run_formats(run, &formats);
    size_t shown = formats < 5 ? formats : 5;
    for (size_t i = 0; i < shown; i++)
        used += (size_t)snprintf(columns + used, sizeof columns - used, ",%.40s", f[i].name);
    ulp_sheet *table = ulp_sheet_new("zero: percent of all; the rest of the values that are not zero; formats: percent "
                                     "flushed + subnormal + overflowed",
                                     columns);
    for (int i = 0; i < KINDS * STAGES; i++) {
        const char *kind = kind_names[i / STAGES], *stage = stage_names[i % STAGES];
        spread s = spread_of(run, kind, stage);
        ulp_sheet_put(table, "%s", kind);
        ulp_sheet_put(table, "%s", stage);
        ulp_sheet_put(table, "%.3g %%", s.zero + s.nonzero > 0 ? 100 * s.zero / (s.zero + s.nonzero) : 0);
        ulp_sheet_put(table, "2^%d", quantile(&s, 0.5));
        ulp_sheet_put(table, "2^%d", quantile(&s, 0.005));
        ulp_sheet_put(table, "2^%d", quantile(&s, 0.995) + 1);
        ulp_sheet_put(table, "2^%d", peak(&s));
        ulp_sheet_put(table, "%.3g %%", percent_in(&s, peak(&s), 1));
        for (size_t k = 0; k < shown; k++)
            ulp_sheet_put(table, "%.3g + %.3g + %.3g", percent_of(run, "flushed", kind, stage, f[k].name),
                          percent_of(run, "subnormal", kind, stage, f[k].name),
                          percent_of(run, "overflowed", kind, stage, f[k].name));
    }
    ulp_sheet_print(table, ulp_run_people(run));
}

/* Two counts of the same thing: the histogram's bins below half the least positive number, and what rounding flushes.
 * Only a tie, exactly that half, may differ: it is flushed and its bin counts from there on. */
static void claim_counts(ulp_run *run) {
    size_t formats;
    const ulp_format *f = ulp_run_formats(run, &formats);
    int wrong = 0, tested = 0;
    for (int i = 0; i < KINDS * STAGES; i++) {
        spread s = spread_of(run, kind_names[i / STAGES], stage_names[i % STAGES]);
        for (size_t k = 0; k < formats; k++) {
            int e;
            if (frexp(f[k].min_positive, &e) != 0.5) continue;
            double below = 0,
                   flushed = percent_of(run, "flushed", kind_names[i / STAGES], stage_names[i % STAGES], f[k].name) *
                             s.nonzero / 100;
            for (int x = ULP_BIN_MIN; x < e - 2; x++) below += s.bin[x - ULP_BIN_MIN];
            double tie = e - 2 < ULP_BIN_MIN ? 0 : s.bin[e - 2 - ULP_BIN_MIN];
            wrong += flushed < below - 0.25 || flushed > below + tie + 0.25; /* counts: the percentage is rounded */
            tested++;
        }
    }
    ulp_claim(ulp_run_claims(run), tested > 0 && wrong == 0,
              "what rounding flushes is what the histogram has below half the least positive number, and ties",
              "%d tensors and formats, %d against it", tested, wrong);
}

static void claim_shapes(ulp_run *run) {
    spread before = spread_of(run, "weight", "initial"), weight = spread_of(run, "weight", "trained"),
           act = spread_of(run, "act", "trained");
    spread agrad = spread_of(run, "agrad", "trained"), first = spread_of(run, "agrad", "initial");
    ulp_claim(ulp_run_claims(run),
              percent_in(&weight, peak(&weight) - 1, 3) > 60 && percent_in(&before, peak(&before) - 1, 3) > 60,
              "parameters are peaked: three octaves around the fullest hold most of them, before and after training",
              "%.1f %% from 2^%d on, %.1f %% from 2^%d on", percent_in(&before, peak(&before) - 1, 3),
              peak(&before) - 1, percent_in(&weight, peak(&weight) - 1, 3), peak(&weight) - 1);
    ulp_claim(ulp_run_claims(run), fall(&weight) > 12 && fall(&weight) < 20,
              "below the peak of the trained parameters each octave holds about half of the one above: four octaves, a "
              "factor near 2^4",
              "%.1f; initial parameters %.1f, trained activations %.1f", fall(&weight), fall(&before), fall(&act));
    ulp_claim(
        ulp_run_claims(run), fall(&agrad) < 4,
        "trained activation gradients have a long tail: over four octaves below the peak they fall by less than 4",
        "%.2f; in the first step %.1f", fall(&agrad), fall(&first));
    int apart = quantile(&act, 0.5) - quantile(&agrad, 0.5), at_first = quantile(&act, 0.5) - quantile(&first, 0.5);
    ulp_claim(ulp_run_claims(run), apart >= 15,
              "after training the median activation gradient lies at least 2^15 below the median activation",
              "2^%d; the gradients of the first step 2^%d", apart, at_first);
    ulp_claim(ulp_run_claims(run),
              quantile(&first, 0.5) > quantile(&agrad, 0.5) &&
                  abs(quantile(&weight, 0.5) - quantile(&before, 0.5)) <= 1,
              "training hardly moves the parameters' median and takes that of the activation gradients far down",
              "2^%d to 2^%d, and 2^%d to 2^%d", quantile(&before, 0.5), quantile(&weight, 0.5), quantile(&first, 0.5),
              quantile(&agrad, 0.5));
}

static void claim_binary16(ulp_run *run) {
    double most = 0, over = 0;
    for (int i = 0; i < KINDS * STAGES; i++) {
        int kind = i / STAGES;
        double share = percent_of(run, "flushed", kind_names[kind], stage_names[i % STAGES], "binary16");
        over += percent_of(run, "overflowed", kind_names[kind], stage_names[i % STAGES], "binary16");
        if (kind <= ACT && share > most) most = share;
    }
    double early = percent_of(run, "flushed", "agrad", "initial", "binary16"),
           late = percent_of(run, "flushed", "agrad", "trained", "binary16");
    ulp_claim(ulp_run_claims(run), over == 0 && most <= 0.01,
              "binary16 holds inputs, parameters and activations: it flushes at most one in 10000 of them, and nothing "
              "overflows, gradients included",
              "%.5f %% flushed, %.5f %% overflowed", most, over);
    ulp_claim(ulp_run_claims(run), early < 0.1 && late > 20,
              "binary16 flushes less than one in 1000 of the activation gradients of the first step, and more than a "
              "fifth after training",
              "%.4f %%, %.2f %%", early, late);
}

static void claim_others(ulp_run *run) {
    if (ulp_run_has_format(run, "bfloat16")) {
        double most = 0;
        for (int i = 0; i < KINDS * STAGES; i++)
            most = fmax(most, percent_of(run, "flushed", kind_names[i / STAGES], stage_names[i % STAGES], "bfloat16"));
        ulp_claim(ulp_run_claims(run), most <= 0.01, "bfloat16 flushes at most one in 10000 of any tensor's values",
                  "%.5f %%", most);
    }
    if (ulp_run_has_format(run, "e4m3")) {
        double act = percent_of(run, "flushed", "act", "trained", "e4m3"),
               weight = percent_of(run, "flushed", "weight", "trained", "e4m3");
        double agrad = percent_of(run, "flushed", "agrad", "trained", "e4m3");
        ulp_claim(ulp_run_claims(run), act < 2 && weight < 2 && agrad > 90,
                  "e4m3 holds all but 2 % of the trained parameters and activations, and hardly a tenth of the "
                  "activation gradients",
                  "flushes %.2f %%, %.2f %%, %.3f %%", weight, act, agrad);
    }
}

void magnitudes_check(ulp_run *run, const void *context) {
    char why[256];
    (void)context;
    print_table(run);
    claim_counts(run);
    /* the measured facts are about the training of the table of options */
    if (ulp_options_differ(ulp_run_claims(run), "net set batch steps rate momentum", why, sizeof why)) {
        ulp_claim_skip(ulp_run_claims(run), "where the tensors lie, and what formats make of them", "%s", why);
        return;
    }
    claim_shapes(run);
    if (ulp_run_has_format(run, "binary16")) claim_binary16(run);
    claim_others(run);
}
