/* sums.c - the sums of the experiments stagnation, counting and harmonic, addition by addition.
 *
 * Start, term, rounding and random words are as in these experiments: a stochastic run has the same values as the run
 * with this number and seed in their CSV.
 */
#include "formats/rng.h"
#include "experiments/harness/running_sum.h"
#include "page.h"

#include <stdio.h>
#include <string.h>

enum { STAGNATION, COUNTING, HARMONIC, PROBLEMS };
static const char *const problems[PROBLEMS] = {"stagnation", "counting", "harmonic"};

/* The numbers that a sum depends on. */
static struct numbers {
    double start, term; /* stagnation only */
    uint64_t seed, run; /* run counts from 1 */
    int64_t period;
    uint8_t bits; /* random bits of the stochastic modes */
} numbers = {100, 0.01, 1, 1, 8, 32};

/* The sum in progress. */
static struct state {
    int problem;
    ulp_format format;
    char mode[16];
    ulp_sum sum;
    double term, exact;
    int64_t k, last; /* additions so far, and the last addition that changed the value */
    ulp_stream quotients, sums;
} state;

/* The cure called `text`, or -1. */
static int cure_of(const char *text) {
    const size_t n = strlen(text);
    int cure = 0;
    for (const char *at = ULP_CURE_WORDS; *at != '\0'; cure++) {
        const size_t word = strcspn(at, " ");
        if (word == n && strncmp(at, text, n) == 0) return cure;
        at += word + strspn(at + word, " ");
    }
    return -1;
}

WEB_EXPORT(web_cures) const char *web_cures(void) {
    web_begin();
    web_text_field("cures", ULP_CURE_WORDS);
    return web_end();
}

static ulp_stream stream_of(const char *what) {
    char text[120];
    const char *name = problems[state.problem], *format = state.format.name, *mode = state.sum.mode;
    int n = snprintf(text, sizeof text, "%s %s %s%s", name, format, mode, what);
    if (state.problem == STAGNATION)
        n = snprintf(text, sizeof text, "%s %s %s run %llu", name, format, mode, (unsigned long long)numbers.run);
    return ulp_stream_of_text(numbers.seed, text, (size_t)n);
}

static int is_whole(double x, double low, double high) { return x >= low && x <= high && x == (double)(int64_t)x; }

/* Sets the numbers of the next sum. Answers {} or a sentence. */
WEB_EXPORT(web_sum_numbers)
const char *web_sum_numbers(double start, double term, double seed, double run, double period, double bits) {
    if (!(start >= -1e30 && start <= 1e30))
        return web_refuse("The start %.17g is not possible. Allowed are numbers from -1e30 to 1e30.", start);
    if (!(term >= -1e30 && term <= 1e30))
        return web_refuse("The term %.17g is not possible. Allowed are numbers from -1e30 to 1e30.", term);
    if (!web_seed_read(seed)) return web_answer();
    if (!is_whole(run, 1, 1e6))
        return web_refuse("The run %.17g is not possible. Allowed are whole numbers from 1 to 1000000.", run);
    if (!is_whole(period, 1, 1e6))
        return web_refuse("%.17g terms in a chunk are not possible. Allowed are whole numbers from 1 to 1000000.",
                          period);
    if (!is_whole(bits, 1, 32)) return web_refuse("%.17g random bits are not possible. Allowed are 1 to 32.", bits);
    numbers = (struct numbers){start, term, (uint64_t)seed, (uint64_t)run, (int64_t)period, (uint8_t)bits};
    web_begin();
    return web_end();
}

WEB_EXPORT(web_sum_begin)
const char *web_sum_begin(const char *problem, const char *format, const char *mode, const char *cure) {
    ulp_rule rule;
    const int c = cure_of(cure);
    state.problem = 0;
    while (state.problem < PROBLEMS && strcmp(problem, problems[state.problem]) != 0) state.problem++;
    if (state.problem == PROBLEMS)
        return web_refuse("\"%.40s\" is not a sum. Allowed: stagnation, counting, harmonic.", problem);
    if (c < 0) return web_refuse("\"%.40s\" is not a cure. Allowed: %s.", cure, ULP_CURE_WORDS);
    if (!web_format_read(&state.format, format) || !web_mode_read(&rule, mode, "default", 32, &state.format))
        return web_answer();
    if (c != ULP_CURE_NONE && ulp_mode_is_stochastic(rule.mode))
        return web_refuse(
            "The cure \"%s\" takes a mode without random bits. Choose the cure \"plain\", or a mode such as rne.",
            cure);
    const int few = ulp_mode_is_stochastic(rule.mode) && numbers.bits < 32; /* the name is then sra/8, as in --modes */
    snprintf(state.mode, sizeof state.mode, few ? "%s/%d" : "%s", ulp_mode_name((ulp_mode)rule.mode), numbers.bits);
    rule.random_bits = few ? numbers.bits : 0;
    state.sum = ulp_sum_of(&state.format, state.mode, rule, (ulp_cure)c);
    state.sum.period = numbers.period;
    state.term = state.problem == STAGNATION ? ulp_round(numbers.term, &state.format, (ulp_rule){0}, 0) : 1;
    state.exact = state.problem == STAGNATION ? numbers.start : 0;
    if (state.problem == STAGNATION) ulp_sum_begin(&state.sum, numbers.start);
    state.k = state.last = 0;
    state.sums = stream_of(state.problem == HARMONIC ? " sums" : "");
    state.quotients = stream_of(" quotients");
    web_begin();
    web_exact_field("start", state.sum.value);
    web_exact_field("term", state.term);
    return web_end();
}

/* Term k, and the exact sum up to it. */
static double term_at(int64_t k, uint64_t index) {
    const ulp_scalar_op quotient = {ULP_DIV, 1, (double)k, 0};
    switch (state.problem) {
    case STAGNATION: state.exact = numbers.start + (double)k * numbers.term; return state.term;
    case COUNTING: state.exact = (double)k; return 1;
    default: state.exact += 1 / (double)k; break;
    }
    if (state.sum.native) return (double)(1.0f / (float)k);
    const int random = ulp_mode_is_stochastic(state.sum.rule.mode);
    return ulp_arith(quotient, &state.format, state.sum.rule, random ? ulp_random_word(state.quotients, index) : 0);
}

/* Adds `count` terms. web_values() gets the sum after each, and from WEB_VALUES_MAX / 2 on the exact sums. Returns the
 * number of terms. */
WEB_EXPORT(web_sum_run) uint32_t web_sum_run(uint32_t count) {
    double *to = web_values();
    const int random = ulp_mode_is_stochastic(state.sum.rule.mode);
    if (count > WEB_VALUES_MAX / 2) count = WEB_VALUES_MAX / 2;
    for (uint32_t i = 0; i < count; i++) {
        const double before = state.sum.value;
        state.k++;
        const uint64_t index =
            state.problem == STAGNATION ? (uint64_t)state.k - 1 : ((uint64_t)state.k << 32) + numbers.run - 1;
        ulp_sum_add(&state.sum, term_at(state.k, index), random ? ulp_random_word(state.sums, index) : 0);
        if (!ulp_same(before, state.sum.value)) state.last = state.k;
        to[i] = state.sum.value;
        to[i + WEB_VALUES_MAX / 2] = state.exact;
    }
    return count;
}

WEB_EXPORT(web_sum_report) const char *web_sum_report(void) {
    web_begin();
    web_integer_field("terms", state.k);
    web_integer_field("last", state.last);
    web_exact_field("value", state.sum.value);
    web_code_field("code", state.sum.value, &state.format);
    web_exact_field("spacing", ulp_spacing(state.sum.value, &state.format));
    return web_end();
}
