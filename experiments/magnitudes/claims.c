/* claims.c - the table of magnitudes, and the claims about its rows. */
#include "magnitudes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The counts of the bins of one kind of tensors, over all layers and seeds. */
typedef struct spread {
    double bin[ULP_BIN_COUNT], nonzero, zero;
} spread;

static int is_of(const row *r, int kind, int stage) {
    return r->kind == kind && r->stage == stage && strcmp(r->layer, ALL_LAYERS) == 0;
}

static spread spread_of(const ulp_claims *c, int kind, int stage) {
    spread s = {0};
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (!is_of(r, kind, stage)) continue;
        if (r->what == ZERO) s.zero += (double)r->bin.count;
        if (r->what != BIN) continue;
        s.bin[r->bin.x - ULP_BIN_MIN] += (double)r->bin.count;
        s.nonzero += (double)r->bin.count;
    }
    return s;
}

/* The octave e that holds the q-quantile of the non-zero magnitudes: a share of q or more lies below 2^(e+1). */
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

/* The percentage of the values that are not zero in the k octaves from 2^e on. */
static double percent_in(const spread *s, int e, int k) {
    double sum = 0;
    for (int i = e - ULP_BIN_MIN; i < e - ULP_BIN_MIN + k && i < ULP_BIN_COUNT; i++) sum += i < 0 ? 0 : s->bin[i];
    return s->nonzero > 0 ? 100 * sum / s->nonzero : 0;
}

/* The share of the octaves 1 to 4 below the peak, divided by the share of the octaves 5 to 8 below the peak. The
 * quotient is 16 for a density that is finite at zero and flat in these octaves. */
static double fall(const spread *s) {
    double near = percent_in(s, peak(s) - 4, 4), far = percent_in(s, peak(s) - 8, 4);
    return far > 0 ? near / far : (double)INFINITY;
}

/* The percentages of the values that a format flushes, makes subnormal and overflows, among the values of one kind that
 * are not zero, over all seeds. */
typedef struct outcome {
    double flushed, subnormal, overflowed;
} outcome;

static outcome outcome_of(const ulp_claims *c, int kind, int stage, const char *format) {
    outcome sum = {0};
    double whole = 0;
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (!is_of(r, kind, stage) || r->what != SHARE || strcmp(r->format, format) != 0) continue;
        sum.flushed += (double)r->flushed;
        sum.subnormal += (double)r->subnormal;
        sum.overflowed += (double)r->overflowed;
        whole += (double)(r->bin.count - r->zero);
    }
    if (!(whole > 0)) return (outcome){0};
    return (outcome){100 * sum.flushed / whole, 100 * sum.subnormal / whole, 100 * sum.overflowed / whole};
}

static double flushed(const ulp_claims *c, int kind, int stage, const char *format) {
    return outcome_of(c, kind, stage, format).flushed;
}

static int has_format(const ulp_claims *c, const char *name) {
    return ulp_formats_find(&((const settings *)c->settings)->formats, name) != NULL;
}

static void print_table(const ulp_claims *c) {
    const ulp_format_list *formats = &((const settings *)c->settings)->formats;
    const size_t shown = formats->count < 5 ? formats->count : 5;
    ulp_text columns = {0};
    ulp_text_print(&columns, "tensor,stage,zero,median,99 %% from,to,fullest octave,holds");
    for (size_t i = 0; i < shown; i++) ulp_text_print(&columns, ",%s", formats->at[i].name);
    ulp_sheet *table = ulp_sheet_new("zero: percent of all; the rest of the values that are not zero; formats: percent "
                                     "flushed + subnormal + overflowed",
                                     ulp_text_of(&columns));
    for (int i = 0; i < KINDS * STAGES; i++) {
        const int kind = i / STAGES, stage = i % STAGES;
        const spread s = spread_of(c, kind, stage);
        ulp_sheet_put_row(table, "%s,%s,%.3g %%,2^%d,2^%d,2^%d,2^%d,%.3g %%",
                          ulp_word_of(KIND_WORDS, (size_t)kind).text, ulp_word_of(STAGE_WORDS, (size_t)stage).text,
                          s.zero + s.nonzero > 0 ? 100 * s.zero / (s.zero + s.nonzero) : 0, quantile(&s, 0.5),
                          quantile(&s, 0.005), quantile(&s, 0.995) + 1, peak(&s), percent_in(&s, peak(&s), 1));
        for (size_t k = 0; k < shown; k++) {
            const outcome o = outcome_of(c, kind, stage, formats->at[k].name);
            ulp_sheet_put(table, "%.3g + %.3g + %.3g", o.flushed, o.subnormal, o.overflowed);
        }
    }
    ulp_sheet_print(table, c->file);
    ulp_text_free(&columns);
}

/* *end = log2 of half the least positive number of a format. Smaller values are flushed. Returns 0 if the least
 * positive number is not a power of two. */
static int find_flushed_end(int *end, const ulp_format *f) {
    int e;
    if (frexp(f->min_positive, &e) != 0.5) return 0;
    *end = e - 2;
    return 1;
}

/* The numbers of the figure: its labels and the positions of its lines. */
static void sum_up(ulp_claims *c) {
    const ulp_format_list *formats = &((const settings *)c->settings)->formats;
    int end;
    for (size_t k = 0; k < formats->count; k++)
        if (find_flushed_end(&end, &formats->at[k]))
            ulp_summary(c, "log2 below which all is flushed", end, "%s", formats->at[k].name);
    for (int i = 0; i < KINDS * STAGES; i++) {
        const int kind = i / STAGES, stage = i % STAGES;
        const spread s = spread_of(c, kind, stage);
        const ulp_word of = ulp_word_of(KIND_WORDS, (size_t)kind);
        const ulp_word when = ulp_word_of(STAGE_WORDS, (size_t)stage);
        ulp_summary(c, "values not zero", s.nonzero, "%s %s", of.text, when.text);
        ulp_summary(c, "fullest octave", peak(&s), "%s %s", of.text, when.text);
        ulp_summary(c, "percent in the fullest octave", percent_in(&s, peak(&s), 1), "%s %s", of.text, when.text);
        for (size_t k = 0; k < formats->count; k++)
            ulp_summary(c, "percent flushed", flushed(c, kind, stage, formats->at[k].name), "%s %s %s", of.text,
                        when.text, formats->at[k].name);
    }
}

/* Claims that two counts agree: the values in the histogram's bins below half the least positive number, and the values
 * that rounding flushes. They may differ only by ties. A tie is a value of exactly half the least positive number:
 * rounding flushes a tie, but its bin begins at the tie. */
static void claim_counts(ulp_claims *c) {
    const ulp_format_list *formats = &((const settings *)c->settings)->formats;
    int wrong = 0, tested = 0;
    for (int i = 0; i < KINDS * STAGES; i++) {
        const spread s = spread_of(c, i / STAGES, i % STAGES);
        for (size_t k = 0; k < formats->count; k++) {
            int end;
            if (!find_flushed_end(&end, &formats->at[k])) continue;
            double below = 0, found = flushed(c, i / STAGES, i % STAGES, formats->at[k].name) * s.nonzero / 100;
            for (int x = ULP_BIN_MIN; x < end; x++) below += s.bin[x - ULP_BIN_MIN];
            const double tie = end < ULP_BIN_MIN ? 0 : s.bin[end - ULP_BIN_MIN];
            wrong += found < below - 0.25 || found > below + tie + 0.25; /* 0.25: the rounding of the percentage */
            tested++;
        }
    }
    ulp_claim(c, tested > 0 && wrong == 0,
              "what rounding flushes is what the histogram has below half the least positive number, and ties",
              "%d tensors and formats, %d against it", tested, wrong);
}

static void claim_parameters(ulp_claims *c) {
    const spread before = spread_of(c, WEIGHT, INITIAL), weight = spread_of(c, WEIGHT, TRAINED),
                 act = spread_of(c, ACT, TRAINED);
    const double before_held = percent_in(&before, peak(&before) - 1, 3),
                 held = percent_in(&weight, peak(&weight) - 1, 3);
    ulp_claim(c, held > 60 && before_held > 60,
              "parameters are peaked: three octaves around the fullest hold most of them, before and after training",
              "%.1f %% from 2^%d on, %.1f %% from 2^%d on", before_held, peak(&before) - 1, held, peak(&weight) - 1);
    ulp_claim(c, fall(&weight) > 12 && fall(&weight) < 20,
              "below the peak of the trained parameters each octave holds about half of the one above: four octaves, a "
              "factor near 2^4",
              "%.1f; initial parameters %.1f, trained activations %.1f", fall(&weight), fall(&before), fall(&act));
}

static void claim_gradients(ulp_claims *c) {
    const spread agrad = spread_of(c, AGRAD, TRAINED), first = spread_of(c, AGRAD, INITIAL),
                 act = spread_of(c, ACT, TRAINED), before = spread_of(c, WEIGHT, INITIAL),
                 weight = spread_of(c, WEIGHT, TRAINED);
    const int late = quantile(&agrad, 0.5), early = quantile(&first, 0.5), activations = quantile(&act, 0.5);
    const int weights = quantile(&weight, 0.5), start = quantile(&before, 0.5);
    ulp_claim(
        c, fall(&agrad) < 4,
        "trained activation gradients have a long tail: over four octaves below the peak they fall by less than 4",
        "%.2f; in the first step %.1f", fall(&agrad), fall(&first));
    ulp_claim(c, activations - late >= 15,
              "after training the median activation gradient lies at least 2^15 below the median activation",
              "2^%d; the gradients of the first step 2^%d", activations - late, activations - early);
    ulp_claim(c, early > late && abs(weights - start) <= 1,
              "training hardly moves the parameters' median and takes that of the activation gradients far down",
              "2^%d to 2^%d, and 2^%d to 2^%d", start, weights, early, late);
}

static void claim_binary16(ulp_claims *c) {
    double most = 0, over = 0;
    for (int i = 0; i < KINDS * STAGES; i++) {
        const outcome o = outcome_of(c, i / STAGES, i % STAGES, "binary16");
        over += o.overflowed;
        if (i / STAGES <= ACT) most = fmax(most, o.flushed);
    }
    const double early = flushed(c, AGRAD, INITIAL, "binary16"), late = flushed(c, AGRAD, TRAINED, "binary16");
    ulp_claim(c, over == 0 && most <= 0.01,
              "binary16 holds inputs, parameters and activations: it flushes at most one in 10000 of them, and nothing "
              "overflows, gradients included",
              "%.5f %% flushed, %.5f %% overflowed", most, over);
    ulp_claim(c, early < 0.1 && late > 20,
              "binary16 flushes less than one in 1000 of the activation gradients of the first step, and more than a "
              "fifth after training",
              "%.4f %%, %.2f %%", early, late);
}

static void claim_others(ulp_claims *c) {
    if (has_format(c, "bfloat16")) {
        double most = 0;
        for (int i = 0; i < KINDS * STAGES; i++) most = fmax(most, flushed(c, i / STAGES, i % STAGES, "bfloat16"));
        ulp_claim(c, most <= 0.01, "bfloat16 flushes at most one in 10000 of any tensor's values", "%.5f %%", most);
    }
    if (has_format(c, "e4m3")) {
        const double act = flushed(c, ACT, TRAINED, "e4m3"), weight = flushed(c, WEIGHT, TRAINED, "e4m3"),
                     agrad = flushed(c, AGRAD, TRAINED, "e4m3");
        ulp_claim(c, act < 2 && weight < 2 && agrad > 90,
                  "e4m3 holds all but 2 % of the trained parameters and activations, and hardly a tenth of the "
                  "activation gradients",
                  "flushes %.2f %%, %.2f %%, %.3f %%", weight, act, agrad);
    }
}

void judge(ulp_claims *c) {
    if (((const settings *)c->settings)->lesson.how.amp.bits) ulp_claims_skip_all(c, ULP_AMP_OTHER);
    print_table(c);
    sum_up(c);
    claim_counts(c);
    /* the claims about measured numbers hold for the training with the default options */
    const char *why = ulp_claim_reason(c, "net, set, batch, steps, rate, momentum");
    if (*why) {
        ulp_claim_skip(c, "where the tensors lie, and what formats make of them", "%s", why);
        return;
    }
    claim_parameters(c);
    claim_gradients(c);
    if (has_format(c, "binary16")) claim_binary16(c);
    claim_others(c);
}
