/* t_range64.c - rounding of binary64 arrays whose values are in the range of the format, and of arrays with one other
 * value.
 *
 * Array rounding has a loop for values that are normal in the format, a loop for values in range, and rounds a piece
 * again where it meets another value. After such a piece it leaves out first attempts for some pieces.
 */
#include "support.h"
#include "instruction_sets.h"

#include <float.h>

enum { PIECE = 1024, N = 11 * PIECE + 72, FEW = PIECE + 72, BEHIND = 64 };

static double x[N], y[N + BEHIND], want[N];
static uint64_t calls;

/* ---- inputs ---- */

static double limit_of(const ulp_format *f) { return f->max < -f->lowest ? f->max : -f->lowest; }

/* Values near members of the format, middles, values of all sizes from `least` on, and zeros. */
static void fill(const ulp_format *f, uint64_t seed, double least) {
    for (size_t i = 0; i < N; i++) {
        const uint64_t bits = next_random(&seed);
        const double member = fabs(ulp_decode(bits >> 8, f)), other = ulp_next_up(member, f);
        double v = i % 4 == 0   ? ldexp((double)(bits >> 11), f->qmin - 53 - 35 + (int)(bits % 39))
                   : i % 4 == 1 ? ldexp((double)(bits >> 11), f->emin - 53 + (int)(bits % 4))
                   : i % 4 == 2 ? member
                                : member + (other - member) / 2;
        v = ulp_from_bits64(ulp_bits64(v) + (bits >> 4) % 3u);
        if (!(v >= least)) v = least;
        if (!(v <= limit_of(f))) v = limit_of(f);
        if (i % 64 == 5) v = 0.0;
        x[i] = bits & 1 ? -v : v;
    }
}

/* Values that one of the loops does not serve; the last value is in range. */
static double other_value(const ulp_format *f, size_t i) {
    static const uint64_t nans[] = {0x7ff8000000000000u, 0xfff8000000000000u, 0x7fffffffffffffffu,
                                    0xffffffffffffffffu, 0x7ff0000000000001u, 0xfff0000000000001u};
    const double max = f->max, lowest = f->lowest;
    const double values[] = {nextafter(max, INFINITY),
                             nextafter(lowest, -INFINITY),
                             max * (1 + 0x1p-22),
                             max * 2,
                             max + ldexp(1, f->emax - f->prec + 1),
                             lowest * 2,
                             INFINITY,
                             -INFINITY,
                             DBL_MAX,
                             -DBL_MAX,
                             0x1p1000,
                             -0x1p975,
                             0x1p-1074,
                             -0x1p-1074,
                             0x1p-1040,
                             -0x1p-1023,
                             f->min_normal / 2,
                             -nextafter(f->min_normal, 0),
                             f->min_positive / 3,
                             lowest,
                             max};
    enum { NANS = COUNT_OF(nans), VALUES = COUNT_OF(values) };
    return i % (NANS + VALUES) < NANS ? ulp_from_bits64(nans[i % (NANS + VALUES)]) : values[i % (NANS + VALUES) - NANS];
}

/* ---- one array ---- */

static double scalar(double v, const ulp_format *f, ulp_rule rule, ulp_stream s, size_t i) {
    const double r = ulp_round(v, f, rule, word_at(rule, s, i));
    return isnan(r) ? ulp_from_bits64(0x7ff8000000000000u) : r;
}

/* Rounds x (n) and compares the bits with `want`. */
static void check(const ulp_backend *b, size_t n, const ulp_format *f, ulp_rule rule, ulp_stream s, int in_place) {
    static const double mark = -0x1.5a5a5p-77;
    for (size_t i = 0; i < n + BEHIND; i++) y[i] = mark;
    if (in_place) memcpy(y, x, n * sizeof *x);
    assert_ok(ulp_backend_round64(b, y, in_place ? y : x, n, (ulp_rounding){f, rule, s, NULL}));
    for (size_t i = 0; memcmp(y, want, n * sizeof *y) != 0 && i < n; i++) {
        if (ulp_bits64(y[i]) == ulp_bits64(want[i])) continue;
        char text[80];
        snprintf(text, sizeof text, "%s%s, element %zu of %zu:", b->what, in_place ? " in place" : "", i, n);
        fail_case(text, x[i], 0, 0, f, rule, word_at(rule, s, i), y[i], want[i]);
    }
    for (size_t i = n; i < n + BEHIND; i++) assert_true(y[i] == mark);
    calls++;
}

/* ---- every format and mode ---- */

/* Calls body for each format, mode and number of random bits, with inputs in range: all sizes, then normal values. */
static void for_each(size_t n, void (*body)(const ulp_format *f, ulp_rule rule, ulp_stream s)) {
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++) {
        if (!f.fits_binary32 || !f.is_signed || !f.has_zero || f.overflow == ULP_OVERFLOW_WRAP) continue;
        for (int normal = 0; normal < 2; normal++) {
            fill(&f, i, normal ? f.min_normal : 0);
            for (int m = 0; m < ULP_MODE_COUNT; m++)
                for (int bits = 0; bits < (ulp_mode_is_stochastic((uint32_t)m) ? 32 : 1); bits += 15) {
                    const ulp_rule rule = rule_of(m, ULP_OVERFLOW_DEFAULT, bits);
                    const ulp_stream s = {i, (uint64_t)m, 3};
                    for (size_t e = 0; e < n; e++) want[e] = scalar(x[e], &f, rule, s, e);
                    body(&f, rule, s);
                }
        }
    }
}

static void inside(const ulp_format *f, ulp_rule rule, ulp_stream s) {
    static const size_t sizes[] = {0, 1, 7, 31, 32, 33, 100, 1023, 1024, 1025, 1056, 1057, FEW};
    for (size_t b = 0; b < offered; b++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++)
            for (int in_place = 0; in_place < 2; in_place++) check(backends[b], sizes[i], f, rule, s, in_place);
}

TEST(inside) {
    for_each(FEW, inside);
    assert_true(calls > 10000);
}

static void outside(const ulp_format *f, ulp_rule rule, ulp_stream s) {
    for (size_t at = s.seed % 16; at < FEW; at += 16 * thinned(7)) {
        const double before = x[at], result = want[at];
        x[at] = other_value(f, at / 3 + rule.mode);
        want[at] = scalar(x[at], f, rule, s, at);
        for (size_t b = 0; b < offered; b++) check(backends[b], FEW, f, rule, s, at % 2 == 0);
        x[at] = before;
        want[at] = result;
    }
}

TEST(outside) {
    calls = 0;
    for_each(FEW, outside);
    assert_true(calls > 10000 / thinned(7));
}

/* A value that no loop serves in the first piece and one in the last piece; the pieces between them are rounded without
 * a first attempt, then with one. */
TEST(pieces) {
    static const char *const names[] = {"bf16", "fp16", "e4m3", "q8.8", "tf32", "fp24", "binary32"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        ulp_format f;
        assert_ok(ulp_format_parse(&f, names[i]));
        for (int m = 0; m < ULP_MODE_COUNT; m++) {
            const ulp_rule rule = rule_of(m, ULP_OVERFLOW_DEFAULT, 0);
            const ulp_stream s = {i, (uint64_t)m, 1};
            fill(&f, 77 + i, f.min_normal);
            x[100] = INFINITY;
            x[N - 100] = f.max * 2;
            for (size_t e = 0; e < N; e++) want[e] = scalar(x[e], &f, rule, s, e);
            for (size_t b = 0; b < offered; b++) check(backends[b], N, &f, rule, s, 0);
        }
    }
}

TESTS(find_backends, NULL)
