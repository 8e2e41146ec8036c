/* t_range.c - rounding of arrays whose values are in the range of the format, and of arrays with one other value.
 *
 * Array rounding has a fast loop for values in range, and rounds a piece again where it meets another value.
 */
#include "support.h"
#include "instruction_sets.h"

enum { N = 1024 + 72 };

static float x[N], y[N], want[N];
static uint64_t calls;

/* ---- inputs ---- */

static double limit_of(const ulp_format *f) { return f->max < -f->lowest ? f->max : -f->lowest; }

/* Values near members of the format, middles, values of all sizes from far below the least value on, and zeros. */
static void fill(const ulp_format *f, uint64_t seed) {
    for (size_t i = 0; i < N; i++) {
        const uint64_t bits = next_random(&seed);
        const double member = fabs(ulp_decode(bits >> 8, f)), other = ulp_next_up(member, f);
        double v = i % 4 == 0   ? ldexp((double)(bits >> 11), f->qmin - 53 - 12 + (int)(bits % 16))
                   : i % 4 == 1 ? ldexp((double)(bits >> 11), f->emin - 53 + (int)(bits % 4))
                   : i % 4 == 2 ? member
                                : member + (other - member) / 2;
        float near = ulp_from_bits32(ulp_bits32((float)v) + (uint32_t)(bits >> 4) % 3u);
        if (i % 64 == 5) near = 0.0f;
        if (!(fabs((double)near) <= limit_of(f))) near = (float)limit_of(f);
        x[i] = bits & 1 ? -near : near;
    }
}

/* Values beyond the range, the ends of the range, infinities, NaN; the last value is in range. */
static float other_value(const ulp_format *f, size_t i) {
    const float max = (float)f->max, lowest = (float)f->lowest;
    const float above = nextafterf(max, INFINITY), below = nextafterf(lowest, -INFINITY);
    const float values[] = {above,
                            below,
                            above * 2,
                            below * 2,
                            INFINITY,
                            -INFINITY,
                            max * 1.5f,
                            max + ldexpf(1, f->emax - f->prec + 1),
                            ulp_from_bits32(0x7fc00000u),
                            ulp_from_bits32(0xffc00000u),
                            ulp_from_bits32(0x7fffffffu),
                            ulp_from_bits32(0xffffffffu),
                            ulp_from_bits32(0x7f800001u),
                            lowest,
                            max};
    return values[i % (COUNT_OF(values))];
}

/* ---- one array ---- */

static float scalar(float v, const ulp_format *f, ulp_rule rule, ulp_stream s, size_t i) {
    const float r = (float)ulp_round((double)v, f, rule, word_at(rule, s, i));
    return isnan(r) ? ulp_from_bits32(0x7fc00000u) : r;
}

/* Rounds x (n) and compares the bits with `want`. */
static void check(const ulp_backend *b, size_t n, const ulp_format *f, ulp_rule rule, ulp_stream s, int in_place,
                  ulp_stats *stats) {
    memset(y, 0xa5, sizeof y);
    if (in_place) memcpy(y, x, n * sizeof *x);
    assert_ok(ulp_backend_round(b, y, in_place ? y : x, n, (ulp_rounding){f, rule, s, stats}));
    for (size_t i = 0; memcmp(y, want, n * sizeof *y) != 0 && i < n; i++) {
        if (ulp_bits32(y[i]) == ulp_bits32(want[i])) continue;
        char text[80];
        snprintf(text, sizeof text, "%s%s, element %zu of %zu:", b->what, in_place ? " in place" : "", i, n);
        fail_case(text, (double)x[i], 0, 0, f, rule, word_at(rule, s, i), (double)y[i], (double)want[i]);
    }
    for (size_t i = n; i < N; i++) assert_int_equal(ulp_bits32(y[i]), 0xa5a5a5a5u);
    calls++;
}

static void check_counts(const ulp_backend *b, size_t n, const ulp_format *f, ulp_rule rule, ulp_stream s) {
    ulp_stats got = {0}, expected = {.count = n};
    for (size_t i = 0; i < n; i++) {
        const double r = fabs((double)want[i]);
        expected.zero += r == 0.0;
        expected.underflow += r == 0.0 && x[i] != 0.0f;
        expected.subnormal += r > 0.0 && r < f->min_normal;
    }
    check(b, n, f, rule, s, 0, &got);
    if (memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("%s %s %s, %zu elements: zero %llu of %llu, underflow %llu of %llu, subnormal %llu of %llu", b->what,
                 f->name, ulp_mode_name((ulp_mode)rule.mode), n, (unsigned long long)got.zero,
                 (unsigned long long)expected.zero, (unsigned long long)got.underflow,
                 (unsigned long long)expected.underflow, (unsigned long long)got.subnormal,
                 (unsigned long long)expected.subnormal);
}

/* ---- every format and mode ---- */

/* Calls body for each format, mode and number of random bits, with inputs in range. */
static void for_each(void (*body)(const ulp_format *f, ulp_rule rule, ulp_stream s)) {
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++) {
        if (!f.fits_binary32 || !f.is_signed || !f.has_zero || f.overflow == ULP_OVERFLOW_WRAP) continue;
        fill(&f, i);
        for (int m = 0; m < ULP_MODE_COUNT; m++)
            for (int bits = 0; bits < (ulp_mode_is_stochastic((uint32_t)m) ? 32 : 1); bits += 15) {
                const ulp_rule rule = rule_of(m, ULP_OVERFLOW_DEFAULT, bits);
                const ulp_stream s = {i, (uint64_t)m, 3};
                for (size_t e = 0; e < N; e++) want[e] = scalar(x[e], &f, rule, s, e);
                body(&f, rule, s);
            }
    }
}

static void inside(const ulp_format *f, ulp_rule rule, ulp_stream s) {
    static const size_t sizes[] = {0, 1, 2, 15, 16, 31, 32, 33, 63, 64, 100, 1000, 1023, 1024, 1025, 1056, 1057, N};
    for (size_t b = 0; b < offered; b++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            check(backends[b], sizes[i], f, rule, s, 0, NULL);
            check(backends[b], sizes[i], f, rule, s, 1, NULL);
            check_counts(backends[b], sizes[i], f, rule, s);
        }
}

TEST(inside) {
    for_each(inside);
    assert_true(calls > 10000);
}

/* The array with another value at `at`. */
static void check_other(size_t at, const ulp_format *f, ulp_rule rule, ulp_stream s) {
    const float before = x[at], result = want[at];
    x[at] = other_value(f, at + rule.mode);
    want[at] = scalar(x[at], f, rule, s, at);
    for (size_t b = 0; b < offered; b++) {
        ulp_stats stats = {0};
        check(backends[b], N, f, rule, s, at % 2 == 0, at % 16 < 2 ? &stats : NULL);
        check(backends[b], N, f, rule, s, at % 2 == 1, NULL);
        if (at % 16 < 2) assert_int_equal(stats.nan, isnan(want[at]) != 0);
    }
    x[at] = before;
    want[at] = result;
}

static void outside(const ulp_format *f, ulp_rule rule, ulp_stream s) {
    for (size_t at = s.seed % 4; at < N; at += 4 * thinned(7)) check_other(at, f, rule, s); /* each format a quarter */
}

TEST(outside) {
    for_each(outside);
    print_message("%llu calls\n", (unsigned long long)calls);
    assert_true(calls > 100000 / thinned(7));
}

/* The largest value and the next number of the same precision share the upper half of their words. */
TEST(shared_half) {
    const ulp_format f = named("binary16p11se");
    const float beyond = (float)f.max + ldexpf(1, f.emax - f.prec + 1);
    assert_int_equal(ulp_bits32((float)f.max) >> 16, ulp_bits32(beyond) >> 16);
    fill(&f, 1);
    for (int m = 0; m < ULP_MODE_COUNT; m++) {
        const ulp_rule rule = rule_of(m, ULP_OVERFLOW_DEFAULT, 0);
        const ulp_stream s = {1, 2, 3};
        for (size_t at = 5; at < N; at += 400) {
            const float before = x[at];
            x[at] = m % 2 ? beyond : -beyond;
            for (size_t e = 0; e < N; e++) want[e] = scalar(x[e], &f, rule, s, e);
            for (size_t b = 0; b < offered; b++) {
                ulp_stats stats = {0};
                check(backends[b], N, &f, rule, s, 0, &stats);
                check(backends[b], N, &f, rule, s, 0, NULL);
                assert_int_equal(stats.overflow, 1);
            }
            x[at] = before;
        }
    }
}

TESTS(find_backends, NULL)
