/* hardware_sr.c - stochastic rounding as hardware does it: all random words of Blackwell's cvt.rs and of VCVTBIASPH2BF8
 * and VCVTBIASPH2HF8, counted.
 *
 * formats/conversion.h has the conversions as rules of ours. For values between 1 and the next number of the format,
 * the words that round away from zero are counted, so that probabilities, biases and variances are exact. Two values of
 * a pair may share random bits: then their errors are equal, and the variance of their sum is twice as large.
 */
#include "hardware_sr.h"

#include <math.h>

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

const ulp_experiment experiment = {
    .name = "hardware_sr",
    .question = "which bias and which variance has stochastic rounding with the random bits that hardware takes?",
    ULP_EXPERIMENT_OF(settings, point, row),
};
