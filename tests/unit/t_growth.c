/* t_growth.c - the exact numbers of the experiments sum_growth, sr_bits and ode, computed again with formats/ alone. */
#include "support.h"

static const ulp_rule nearest = {0};
static const double per_e = 0x1.78b56362cef38p-2; /* 1 / e to the nearest binary64 number */

/* ---- sum_growth ---- */

/* Sums of 1, 1/2, ... to nearest stop early; their relative errors after 10^6 terms have the published digits. */
TEST(harmonic) {
    static const struct {
        const char *format;
        double sum;
        int digits; /* 10^4 times the error, rounded */
    } want[] = {{"binary16", 7.0859375, 5077}, {"bfloat16", 5.0625, 6483}};
    for (size_t f = 0; f < COUNT_OF(want); f++) {
        const ulp_format format = named(want[f].format);
        double sum = 0, exact = 0;
        for (int i = 1000000; i >= 1; i--) exact += 1.0 / i;
        for (int i = 1; i <= 1000000; i++)
            sum = ulp_arith((ulp_scalar_op){ULP_ADD, sum, ulp_round(1.0 / i, &format, nearest, 0), 0}, &format, nearest,
                            0);
        assert_true(sum == want[f].sum);
        assert_int_equal((int)(10000 * (exact - sum) / exact + 0.5), want[f].digits);
    }
}

/* Sums of terms in [0,1] to nearest: no term changes the sum 2^p, and no sum passes 2^p. */
TEST(unit_stop) {
    static const char *const formats[] = {"binary16", "bfloat16", "e8m2", "e6m9"};
    uint64_t seed = 1;
    for (size_t f = 0; f < COUNT_OF(formats); f++) {
        const ulp_format format = named(formats[f]);
        const double stop = ldexp(1, (int)format.prec), below = stop - 1; /* the number below `stop` */
        double sum = 0;
        assert_true(ulp_round(below, &format, nearest, 0) == below && ulp_spacing(below, &format) == 1);
        for (double x = 0; x <= 1; x += 0x1p-12) {
            assert_true(ulp_arith((ulp_scalar_op){ULP_ADD, stop, x, 0}, &format, nearest, 0) == stop);
            assert_true(ulp_arith((ulp_scalar_op){ULP_ADD, below, x, 0}, &format, nearest, 0) ==
                        (x < 0.5 ? below : stop));
        }
        for (int i = 0; i < 40000; i++) {
            const double x = ulp_round(ldexp((double)(next_random(&seed) >> 32), -32), &format, nearest, 0);
            sum = ulp_arith((ulp_scalar_op){ULP_ADD, sum, x, 0}, &format, nearest, 0);
            assert_true(sum <= stop);
        }
        assert_true(sum == stop);
    }
}

/* |computed - exact| <= n u sum |x| to nearest (Jeannerod and Rump 2013), and gamma_n with 2 u in every mode. */
TEST(bounds) {
    uint64_t seed = 2;
    const ulp_format format = named("bfloat16");
    for (int trial = 0; trial < 400; trial++)
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++) {
            const int n = 2 + trial / 4;
            double sum = 0, exact = 0, size = 0;
            for (int i = 0; i < n; i++) {
                const double u = ldexp((double)(next_random(&seed) >> 32), -32);
                const double x = ulp_round(trial % 2 ? u : 2 * u - 1, &format, nearest, 0);
                sum = ulp_arith((ulp_scalar_op){ULP_ADD, sum, x, 0}, &format, rule_of(mode, 0, 0),
                                (uint32_t)next_random(&seed));
                exact += x;
                size += fabs(x);
            }
            const double bound = mode == ULP_RNE ? n * 0x1p-8 : n * 0x1p-7 / (1 - n * 0x1p-7);
            assert_true(fabs(sum - exact) <= bound * size);
        }
}

/* ---- sr_bits ---- */

static const int stochastic[] = {ULP_SRA, ULP_SRB, ULP_SRC};

/* Word i of 2^steps words of r bits; the least and the largest word are among them. */
static uint32_t word_for(uint32_t i, int r, int steps) {
    const uint32_t last = (1u << r) - 1;
    const uint32_t word = r <= steps ? i : i + 1 == 1u << steps ? last : i << (r - steps);
    return word << (32 - r);
}

/* Check that no random word changes the sum `stop` for terms up to `most`. Some words change the number just below
 * `stop`, and then the sum is `stop`. */
static void check_stop(const ulp_format *f, ulp_rule rule, double stop, double most) {
    const int r = rule.random_bits, steps = r < 8 ? r : 8;
    const double below = stop - ulp_spacing(stop, f) / 2;
    int moved = 0;
    for (uint32_t i = 0; i < 1u << steps; i++) {
        const uint32_t word = word_for(i, r, steps);
        for (double x = most; x > 0x1p-6; x -= 0x1p-5) {
            const double got = ulp_arith((ulp_scalar_op){ULP_ADD, stop, x, 0}, f, rule, word);
            if (got != stop) fail_case("add", stop, x, 0, f, rule, word, got, stop);
            const double next = ulp_arith((ulp_scalar_op){ULP_ADD, below, x, 0}, f, rule, word);
            if (next != below && next != stop) fail_case("add", below, x, 0, f, rule, word, next, stop);
            moved += next == stop;
        }
    }
    if (moved == 0) fail_msg("%s %s r %d: no word changes %g either", f->name, ulp_mode_name(rule.mode), r, below);
}

TEST(stops) {
    for (int p = 2; p <= 8; p++) {
        char name[16];
        snprintf(name, sizeof name, "e8m%d", p - 1);
        const ulp_format f = named(name);
        for (int r = 1; r <= 16; r++) {
            const double below_one[] = {ldexp(1, p - 1 + r), ldexp(1, p + r), ldexp(1, p + r)};
            const double ones[] = {ldexp(1, p + r), ldexp(1, p + r + 1), ldexp(1, p + r)};
            for (int m = 0; m < 3; m++) {
                check_stop(&f, rule_of(stochastic[m], 0, r), below_one[m], 1 - 0x1p-24);
                check_stop(&f, rule_of(stochastic[m], 0, r), ones[m], 1);
            }
        }
    }
}

/* Stochastic sums stop exactly at the computed number. */
TEST(stopped) {
    const ulp_format f = named("e8m2");
    uint64_t seed = 3;
    for (int r = 1; r <= 8; r++)
        for (int m = 0; m < 3; m++) {
            const double stop = ldexp(1, m == 0 ? 2 + r : 3 + r);
            double sum = 0;
            for (long i = 0; i < 200L << r; i++) {
                const double x = ldexp((double)(next_random(&seed) >> 41), -23) + 0x1p-24;
                const uint32_t word = (uint32_t)next_random(&seed);
                sum = ulp_arith((ulp_scalar_op){ULP_ADD, sum, x, 0}, &f, rule_of(stochastic[m], 0, r), word);
                assert_true(sum <= stop);
            }
            assert_true(sum == stop);
        }
}

/* The bias times 2^(r+g+1), an integer, over all words and all fractions (2 i + odd) 2^-(g+1). */
static int64_t scaled_bias(const ulp_format *f, ulp_rule rule, double from, int g, int odd) {
    const int r = rule.random_bits;
    const double spacing = ulp_spacing(from, f);
    int64_t total = 0;
    for (int i = 0; i < 1 << g; i++) {
        int up = 0, before = 0;
        for (uint32_t word = 0; word < 1u << r; word++) {
            const double x = from + ldexp(2 * i + odd, -g - 1) * spacing;
            const double y = ulp_round(x, f, rule, word << (32 - r));
            assert_true(y == from || y == from + spacing);
            assert_true((y > from) >= before); /* if a word rounds up, every larger word does */
            before = y > from;
            up += before;
        }
        total += (int64_t)up * (2 << g) - ((int64_t)(2 * i + odd) << r);
    }
    assert_int_equal(total % (1 << g), 0);
    return total / (1 << g);
}

TEST(bias) {
    static const char *const formats[] = {"bfloat16", "e8m2", "e4m3"};
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        const ulp_format f = named(formats[i]);
        for (int r = 1; r <= (i == 0 ? 8 : 5); r++)
            for (int m = 0; m < 3; m++) {
                const ulp_rule rule = rule_of(stochastic[m], 0, r);
                const double from = 1 + (m + r) % 2 * ulp_spacing(1.0, &f); /* even and odd significands */
                /* midpoints, g = r + 1 and r + 2: the biases of sra, srb, src are -2^-(r+1), 0, 0 */
                for (int g = r + 1; g <= r + 2; g++)
                    assert_int_equal(scaled_bias(&f, rule, from, g, 1), m == 0 ? -(1 << g) : 0);
                /* fractions of g <= r bits: bias 0; of r + 1 bits: -2^-(r+2), +2^-(r+2), 0 */
                for (int g = 1; g <= r; g++) assert_int_equal(scaled_bias(&f, rule, from, g, 0), 0);
                assert_int_equal(scaled_bias(&f, rule, from, r + 1, 0), m == 0 ? -(1 << r) : m == 1 ? 1 << r : 0);
            }
    }
}

/* ---- ode ---- */

/* y(1) after n steps; if fused, y - h y has one rounding. */
static double euler(const ulp_format *f, int n, int fused) {
    const double h = ulp_round(1.0 / n, f, nearest, 0);
    double y = 0x1p-6;
    for (int i = 0; i < n; i++) {
        const double before = y;
        if (fused) y = ulp_arith((ulp_scalar_op){ULP_FUSED, -h, y, y}, f, nearest, 0);
        else
            y = ulp_arith((ulp_scalar_op){ULP_SUB, y, ulp_arith((ulp_scalar_op){ULP_MUL, h, y, 0}, f, nearest, 0), 0},
                          f, nearest, 0);
        if (y == before) break; /* no later step changes y */
    }
    return y;
}

TEST(decay) {
    const ulp_format b = named("bfloat16"), h = named("binary16");
    static const int grid[] = {10, 22, 100, 215, 464, 1000, 2154, 4642, 10000, 21544, 46416, 100000, 215443, 464159};
    const double exact = 0x1p-6 * per_e;
    for (int fused = 0; fused < 2; fused++) {
        assert_true(euler(&b, 46, fused) == 189 * 0x1p-15);
        for (size_t i = 0; i < COUNT_OF(grid); i++) {
            const double y = euler(&b, grid[i], fused);
            assert_true(fabs(y - exact) > fabs(189 * 0x1p-15 - exact));
            if (grid[i] >= 1000) assert_true(y == 0x1p-6);
        }
    }
    assert_int_equal((int)(1e6 * fabs(189 * 0x1p-15 - exact) + 0.5), 20); /* 2.0e-5 */
    assert_int_equal((int)(1e6 * (0x1p-6 - exact) + 0.5), 9877);          /* 9.877e-3 */

    static const struct { int bfloat16, last_moving, hits, first; } want[] = {{1, 510, 6, 40}, {0, 4062, 11, 164}};
    for (int k = 0; k < 2; k++) {
        const ulp_format *f = want[k].bfloat16 ? &b : &h;
        const double best = ulp_round(exact, f, nearest, 0);
        int last = 0, hits = 0, first = 0;
        for (int n = 10; n <= (2 << f->prec) + 8; n++) {
            const double y = euler(f, n, 0);
            if (y != 0x1p-6) last = n;
            if (y == best && hits++ == 0) first = n;
            if (n >= (2 << f->prec) - 1) assert_true(y == 0x1p-6);
        }
        assert_int_equal(last, want[k].last_moving);
        assert_int_equal(hits, want[k].hits);
        assert_int_equal(first, want[k].first);
    }
}

/* The circle with rounding to nearest: for n of 2 pi 2^(p+1) (1 + 2^-p) or more, u stays 1 and v ends in [-1/2, 0). */
TEST(circle) {
    static const struct {
        const char *format;
        int n;
    } cases[] = {{"bfloat16", 3230},  {"bfloat16", 4642},  {"bfloat16", 10000}, {"bfloat16", 100000},
                 {"binary16", 25749}, {"binary16", 46416}, {"binary16", 100000}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const ulp_format f = named(cases[i].format);
        const double h = ulp_round(0x1.921fb54442d18p+2 / cases[i].n, &f, nearest, 0);
        double v = 0;
        for (int step = 0; step < cases[i].n; step++) {
            const double u =
                ulp_arith((ulp_scalar_op){ULP_ADD, 1, ulp_arith((ulp_scalar_op){ULP_MUL, h, v, 0}, &f, nearest, 0), 0},
                          &f, nearest, 0);
            assert_true(u == 1);
            v = ulp_arith((ulp_scalar_op){ULP_SUB, v, ulp_arith((ulp_scalar_op){ULP_MUL, h, u, 0}, &f, nearest, 0), 0},
                          &f, nearest, 0);
        }
        assert_true(v >= -0.5 && v < 0);
    }
}

TESTS(NULL, NULL)
