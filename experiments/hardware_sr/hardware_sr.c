/* hardware_sr.c - stochastic rounding as hardware does it: all random words of Blackwell's cvt.rs and of VCVTBIASPH2BF8
 * and VCVTBIASPH2HF8, counted.
 *
 * formats/conversion.h has the conversions as rules of ours. For values between 1 and the next number of the format,
 * the words that round away from zero are counted, so that probabilities, biases and variances are exact. Two values of
 * a pair may share random bits: then their errors are equal, and the variance of their sum is twice as large.
 */
#include "experiments/harness/experiment.h"

#include <math.h>
#include <string.h>

#include "formats/conversion.h"

typedef struct settings {
    int64_t fractions;
} settings;

typedef struct point {
    const ulp_conversion *conversion;
    int negative;
} point;

/* A value lies nu of the way from one number of the format to the next. up: of all `words` of random bits, how many
 * round it away from zero; bias = up / words - nu. variance: of the number of values of a pair that round up, if both
 * values of the pair lie there. NaN for conversions of one value. */
typedef struct row {
    const char *conversion;
    int64_t bits;
    double value, nu;
    int64_t up, words;
    double probability, bias, variance;
} row;

static const ulp_option options[] = {
    ULP_OPTION(settings, fractions, integer, "256", .quick = "32", .full = "4096",
               .help = "values between two numbers of a format", .min = 2, .max = 8192),
    {0},
};

static const ulp_column columns[] = {
    ULP_COLUMNS(row, conversion, bits, value, nu),
    ULP_COLUMNS(row, up, words, probability, bias, variance),
    {0},
};

static ulp_status plan(ulp_plan *plan) {
    const ulp_conversion *c;
    for (size_t i = 0; (c = ulp_conversion_get(i)) != NULL; i++)
        for (int negative = 0; negative < 2 && c->mode == ULP_SRA; negative++)
            ulp_plan_add(plan, &(point){c, negative}, ldexp(1, c->bits), "%s %s", c->name,
                         negative ? "negative" : "positive");
    return ULP_OK;
}

/* The bits of the word that a value gets. */
static uint32_t bits_of(const ulp_conversion *c, uint32_t v) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < c->word_bits; i++)
        if (ulp_conversion_word(c, v, 1u << i, 0) != 0) mask |= 1u << i;
    return mask;
}

/* How many of the words with bits in `mask` round value v away from zero; *both counts the words that round value v and
 * value `other` away from zero. */
static int64_t count_up(const ulp_conversion *c, uint32_t v, uint32_t other, double x, uint32_t mask,
                        const ulp_format *to, int64_t *both) {
    int64_t up = 0;
    uint32_t word = 0;
    *both = 0;
    do { /* all subsets of the mask */
        const int one = fabs(ulp_convert(c, v, x, word, to)) > fabs(x),
                  two = fabs(ulp_convert(c, other, x, word, to)) > fabs(x);
        up += one;
        *both += one && two;
        word = (word - mask) & mask;
    } while (word != 0);
    return up;
}

/* Fraction i of n, in units of 1 / steps: from 0 on, with all values of the last bits. */
static int64_t numerator_of(int64_t i, int64_t n, int64_t steps) {
    const int64_t apart = steps / n;
    return i * steps / n + (apart > 1 ? 7 * i % apart : 0);
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    const point *at = task->point;
    const ulp_conversion *c = at->conversion;
    ulp_format from, to;
    ULP_TRY(ulp_format_parse(&from, c->from));
    ULP_TRY(ulp_format_parse(&to, c->to));
    const int dropped = from.prec - to.prec, depth = dropped < 13 ? dropped : 13;
    const uint32_t mask = bits_of(c, 0), other = c->values > 1 ? bits_of(c, 1) : 0;
    const int64_t words = (int64_t)1 << c->bits, steps = (int64_t)1 << depth;
    for (int64_t i = 0; i < s->fractions; i++) {
        const int64_t numerator = numerator_of(i, s->fractions, steps);
        if (i > 0 && numerator == numerator_of(i - 1, s->fractions, steps)) continue; /* fewer values than asked for */
        const double nu = ldexp((double)numerator, -depth), size = 1 + ldexp(nu, 1 - to.prec);
        const double x = at->negative ? -size : size;
        int64_t both;
        const int64_t up = count_up(c, 0, c->values > 1, x, mask, &to, &both);
        const double p = (double)up / (double)words;
        double variance = NAN;
        if (mask == other) variance = 2 * p * (1 - p) + 2 * ((double)both / (double)words - p * p);
        else if (c->values > 1 && (mask & other) == 0) variance = 2 * p * (1 - p); /* independent */
        ulp_row_put(task->rows, &(row){.conversion = c->name,
                                       .bits = c->bits,
                                       .value = x,
                                       .nu = nu,
                                       .up = up,
                                       .words = words,
                                       .probability = p,
                                       .bias = p - nu,
                                       .variance = variance});
        if (ulp_task_progress(task, (double)i / (double)s->fractions)) break;
    }
    return ULP_OK;
}

/* ---- the claims ---- */

/* The summary of the rows of a conversion. */
typedef struct law {
    size_t rows, unbiased, cut, independent, shared; /* rows that obey a law exactly */
    double most, mean;                               /* largest |bias|, mean bias */
} law;

static law law_of(const ulp_claims *c, const ulp_conversion *conversion) {
    law l = {0};
    for (const row *r = c->table->rows, *end = r + c->table->count; r < end; r++) {
        if (strcmp(r->conversion, conversion->name) != 0) continue;
        const double p = r->probability, cut = floor(ldexp(r->nu, (int)r->bits)) / (double)r->words;
        l.rows++;
        l.unbiased += p == r->nu;
        l.cut += p == cut;
        l.independent += r->variance == 2 * p * (1 - p);
        l.shared += fabs(r->variance - 4 * p * (1 - p)) < 1e-12;
        l.most = fmax(l.most, fabs(r->bias));
        l.mean += r->bias;
    }
    l.mean /= (double)l.rows;
    return l;
}

static int is_split(const ulp_conversion *c) { return strstr(c->name, ":split") != NULL; }
static int is_shared(const ulp_conversion *c) { return strstr(c->name, ":shared") != NULL; }

void judge(ulp_claims *c) {
    const ulp_conversion *x;
    if (c->file != NULL)
        fprintf(c->file, "%-32s %5s %10s %10s  values of a pair\n", "conversion", "bits", "bias, mean", "largest");
    size_t whole = 0, exact = 0, user = 0, user_exact = 0, split = 0, split_cut = 0, split_free = 0, shared = 0,
           shared_equal = 0, shared_cut = 0;
    for (size_t i = 0; (x = ulp_conversion_get(i)) != NULL; i++) {
        if (x->mode != ULP_SRA) continue;
        const law l = law_of(c, x);
        ulp_summary(c, "mean bias", l.mean, "%s", x->name);
        ulp_summary(c, "largest bias", l.most, "%s", x->name);
        if (c->file != NULL)
            fprintf(c->file, "%-32s %5d %10.2g %10.2g  %s\n", x->name, x->bits, l.mean, l.most,
                    x->values == 1            ? "-"
                    : l.shared == l.rows      ? "share their bits"
                    : l.independent == l.rows ? "are independent"
                                              : "neither");
        if (x->values == 1) user++, user_exact += l.unbiased == l.rows && l.rows > 0;
        else if (is_split(x)) split++, split_cut += l.cut == l.rows, split_free += l.independent == l.rows;
        else if (is_shared(x)) shared++, shared_equal += l.shared == l.rows, shared_cut += l.cut == l.rows;
        else whole++, exact += l.unbiased == l.rows && l.independent == l.rows && l.rows > 0;
    }
    if (c->file != NULL) fprintf(c->file, "\n");
    ulp_claim(c, exact == whole && whole == 2,
              "cvt.rs to f16x2 and bf16x2 has as many random bits as it drops: no bias, and the pair is independent",
              "%zu of %zu conversions", exact, whole);
    ulp_claim(c, user_exact == user && user == 4,
              "VCVTBIASPH2BF8 and VCVTBIASPH2HF8 add the user's bits to all bits that they drop: no bias",
              "%zu of %zu conversions", user_exact, user);
    ulp_claim(c, shared_equal == shared && shared_cut == shared && shared == 5,
              "if a pair shares 16 bits: P = floor(2^16 nu) / 2^16, and the sum of two equal values has the variance "
              "4 p (1 - p)",
              "%zu of %zu conversions", shared_equal, shared);
    ulp_claim(c, split_cut == split && split_free == split && split == 5,
              "if a pair splits 16 bits: P = floor(2^8 nu) / 2^8, and the variance is 2 p (1 - p)",
              "%zu of %zu conversions", split_cut, split);
    const law l = law_of(c, ulp_conversion_find("cvt.rs.satfinite.e4m3x4:split"));
    ulp_claim(c, l.mean < 0 && fabs(l.mean + 0x1p-9) < 0x1p-11,
              "8 bits of StochasticA round toward zero too often: the mean bias is -2^-9 of the spacing",
              "%.3g, compared with %.3g", l.mean, -0x1p-9);
}

const ulp_experiment experiment = {
    .name = "hardware_sr",
    .question = "which bias and which variance has stochastic rounding with the random bits that hardware takes?",
    ULP_EXPERIMENT_OF(settings, point, row),
};
