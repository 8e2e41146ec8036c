/* line.c - the number line: the values of a format in an interval, and stochastic rounding as coins. */
#include "formats/rng.h"
#include "page.h"

/* Writes the values of the format in [low, high] to web_values(), in ascending order. Returns their number, or -1 if
 * there are more than `most` of them. */
WEB_EXPORT(web_line_values) int web_line_values(const char *format, double low, double high, uint32_t most) {
    ulp_format f;
    double *to = web_values();
    int n = 0;
    if (!web_format_read(&f, format)) return -2;
    if (most > WEB_VALUES_MAX) most = WEB_VALUES_MAX;
    if (low < f.lowest) low = f.lowest;
    if (high > f.max) high = f.max;
    double x = low <= f.lowest ? f.lowest : ulp_next_up(low, &f);
    if (low > f.lowest && ulp_round(low, &f, (ulp_rule){ULP_RZ, ULP_OVERFLOW_SAT, 0}, 0) == low) x = low;
    for (; x <= high; n++) {
        if (n == (int)most) return -1;
        to[n] = x == 0 ? 0 : x;
        const double next = ulp_next_up(x, &f);
        if (!(next > x) || next - next != 0) return n + 1;
        x = next;
    }
    return n;
}

/* Writes the `count` values around x to web_values(), in ascending order. Returns their number. */
WEB_EXPORT(web_line_around) int web_line_around(const char *format, double x, uint32_t count) {
    ulp_format f;
    if (!web_format_read(&f, format)) return -2;
    double low = ulp_round(x, &f, (ulp_rule){ULP_RD, ULP_OVERFLOW_SAT, 0}, 0), high = low;
    for (uint32_t i = 0; i < count / 2 && low > f.lowest; i++) low = ulp_next_down(low, &f);
    for (uint32_t i = 0; i < count / 2 && high < f.max; i++) high = ulp_next_up(high, &f);
    return web_line_values(format, low, high, WEB_VALUES_MAX);
}

/* Rounds the first `count` numbers of web_values(): number i takes word i of (seed, stream 0). Answers {} or a
 * sentence. */
WEB_EXPORT(web_round_values)
const char *web_round_values(const char *format, const char *mode, const char *overflow, uint32_t bits, double seed,
                             uint32_t count) {
    ulp_format f;
    ulp_rule rule;
    double *at = web_values();
    if (!web_format_read(&f, format) || !web_mode_read(&rule, mode, overflow, bits, &f) || !web_seed_read(seed))
        return web_answer();
    if (count > WEB_VALUES_MAX)
        return web_refuse("%u numbers are too many. Allowed are at most %d.", (unsigned)count, WEB_VALUES_MAX);
    const ulp_stream stream = {(uint64_t)seed, 0, 0};
    const int random = ulp_mode_is_stochastic(rule.mode);
    for (uint32_t i = 0; i < count; i++) at[i] = ulp_round(at[i], &f, rule, random ? ulp_random_word(stream, i) : 0);
    web_begin();
    return web_end();
}

/* The two results of a stochastic rounding of x, and the exact probability of the second: ups / words. */
WEB_EXPORT(web_coin_sides)
const char *web_coin_sides(const char *format, const char *mode, uint32_t bits, double x) {
    ulp_format f;
    ulp_rule rule;
    if (!web_format_read(&f, format) || !web_mode_read(&rule, mode, "default", bits, &f)) return web_answer();
    const web_coin coin = web_coin_of(ulp_exact_of(x), &f, rule);
    web_begin();
    web_exact_field("low", coin.low);
    web_exact_field("high", coin.high);
    web_integer_field("ups", (int64_t)coin.ups);
    web_integer_field("words", (int64_t)coin.words);
    return web_end();
}
