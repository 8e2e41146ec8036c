/* t_arith.c - operations against the oracle: every pair of 8-bit codes, boundary patterns, random operands, arrays. */
#include <float.h>

#include "support.h"

#include "kernels/backend.h"
#include "kernels/mpfr/reference.h"

static uint64_t checked[ULP_OP_COUNT];

/* Whether the pair hi + lo may lack low bits of the exact result. Only wrap-around needs these bits. */
static int too_wide(ulp_op op, double a, double b, double c, const ulp_format *f) {
    const double top = ldexp(1.0, f->qmin + 60);
    if (f->overflow != ULP_OVERFLOW_WRAP) return 0;
    if (op == ULP_MUL || op == ULP_FUSED) return fabs(a * b) > top || fabs(c) > top;
    if (op == ULP_DIV) return fabs(a) > top * fabs(b);
    return fabs(a) > top || fabs(b) > top;
}

static void check(ulp_reference *ref, ulp_scalar_op of, const ulp_format *f, ulp_rule rule, uint32_t word) {
    double got = ulp_arith(of, f, rule, word), want = ulp_reference_arith(ref, of, rule, word);
    if (!same_result(got, want) && !too_wide(of.op, of.a, of.b, of.c, f))
        fail_case(ulp_op_name(of.op), of.a, of.b, of.c, f, rule, word, got, want);
    checked[of.op]++;
}

/* Check every operation in every mode, with a random word, the largest word, or a word next to the middle. */
static void check_all(ulp_reference *ref, double a, double b, double c, const ulp_format *f, uint64_t *seed) {
    for (int op = 0; op < ULP_OP_COUNT; op++)
        for (int m = 0; m < ULP_MODE_COUNT; m++) {
            uint64_t bits = next_random(seed);
            uint32_t word = bits & 1     ? (uint32_t)(bits >> 32)
                            : (bits & 2) ? 0xffffffffu
                                         : 0x80000000u - (uint32_t)(bits >> 2 & 1);
            int r = ulp_mode_is_stochastic((uint32_t)m) ? (int)(bits >> 8 & 1 ? 32 : bits >> 9 & 31) : 0;
            check(ref, (ulp_scalar_op){(ulp_op)op, a, b, c}, f, rule_of(m, ULP_OVERFLOW_DEFAULT, r), word);
        }
}

/* Check that each operation had at least `least` cases, and reset the counts. */
static void expect_cases(uint64_t least) {
    for (int op = 0; op < ULP_OP_COUNT; op++) {
        if (checked[op] < least) fail_msg("%s: %llu cases", ulp_op_name((ulp_op)op), (unsigned long long)checked[op]);
        checked[op] = 0;
    }
}

/* ---- all codes ---- */

/* Check all pairs of codes for the four operations, and all codes for sqrt. */
static void check_pairs(const ulp_format *f, int mode, uint64_t stride) {
    static const ulp_op pairs[] = {ULP_ADD, ULP_SUB, ULP_MUL, ULP_DIV};
    const uint64_t codes = (uint64_t)1 << f->bits;
    const ulp_rule rule = rule_of(mode, ULP_OVERFLOW_DEFAULT, 0);
    ulp_reference *ref = ulp_reference_new(f);
    uint64_t seed = (uint64_t)mode;
    for (uint64_t i = 0; i < codes; i++) {
        double a = ulp_decode(i, f);
        check(ref, (ulp_scalar_op){ULP_SQRT, a, 0, 0}, f, rule, (uint32_t)next_random(&seed));
        for (uint64_t j = i % stride; j < codes; j += stride)
            for (int op = 0; op < 4; op++)
                check(ref, (ulp_scalar_op){pairs[op], a, ulp_decode(j, f), 0}, f, rule, (uint32_t)next_random(&seed));
    }
    ulp_reference_free(ref);
}

static int in_words(const char *word, const char *words) {
    const char *at = strstr(words, word);
    return at != NULL && at[strlen(word)] == ' ' && (at == words || at[-1] == ' ');
}

/* Four formats in every mode; the other formats of up to 8 bits in one mode each, with every overflow suffix. */
TEST(every_pair) {
    ulp_format f;
    int whole = 0;
    for (size_t i = 0; test_format(i, &f); i++) {
        if (f.bits > 8) continue;
        int full = in_words(f.name, "e4m3 e5m2 e4m3fnuz binary8p4se ");
        whole += full;
        for (int m = 0; m < ULP_MODE_COUNT; m++)
            if (full || m == (int)(i % ULP_MODE_COUNT))
                check_pairs(&f, m, full && !ulp_mode_is_stochastic((uint32_t)m) ? thinned(4) : thinned(7));
    }
    assert_int_equal(whole, 4);
    for (int op = 0; op < ULP_OP_COUNT; op++) checked[ULP_FUSED] += checked[op] / ULP_OP_COUNT;
    expect_cases(256 * 6 * 4);
}

/* fma on all triples of codes of formats of up to 5 bits, and on a selection of codes of wider formats. */
TEST(triples) {
    ulp_format f;
    uint64_t seed = 1, cases = 0;
    for (size_t i = 0; test_format(i, &f); i++) {
        if (f.bits > 8) continue;
        const uint64_t codes = (uint64_t)1 << f.bits, stride = f.bits <= 5 ? 1 : thinned(5) * 131;
        ulp_reference *ref = ulp_reference_new(&f);
        for (uint64_t t = 0; t < codes * codes * codes; t += stride)
            for (int m = 0; m < ULP_MODE_COUNT; m++, cases++) {
                if (f.bits == 8 && (t / stride + (uint64_t)m) % 5 != 0) continue;
                double a = ulp_decode(t, &f), b = ulp_decode(t >> f.bits, &f), c = ulp_decode(t >> 2 * f.bits, &f);
                check(ref, (ulp_scalar_op){ULP_FUSED, a, b, c}, &f, rule_of(m, ULP_OVERFLOW_DEFAULT, 0),
                      (uint32_t)next_random(&seed));
            }
        ulp_reference_free(ref);
    }
    assert_true(cases > 500000 && checked[ULP_FUSED] > 100000);
    memset(checked, 0, sizeof checked);
}

/* ---- boundary patterns ---- */

enum { ROOM = 512 };

/* Values with exponents at the ends and in the middle and with significands of few bits, of both signs; zeros, Inf,
 * NaN. */
static size_t patterns(const ulp_format *f, double x[ROOM]) {
    const int wide = f->is_fixed ? f->bits - 1 : f->prec - 1, fields = (int)(f->max_code >> wide);
    const uint64_t ones = wide > 0 ? ((uint64_t)1 << wide) - 1 : 0, half = ((ones >> 1) + 1) & ones;
    const uint64_t significand[] = {0, 1, half, half | 1, ones - (ones > 0), ones};
    const int field[] = {0, 1, f->bias, f->bias + f->prec, fields};
    size_t n = 0;
    for (size_t i = 0; i < COUNT_OF(field); i++)
        for (size_t j = 0; j < COUNT_OF(significand); j++) {
            uint64_t code = (uint64_t)(field[i] < 0        ? 0
                                       : field[i] > fields ? fields
                                                           : field[i])
                                << wide |
                            significand[j];
            double value = ulp_decode(code > f->max_code ? f->max_code : code, f);
            x[n++] = value;
            if (f->is_signed) x[n++] = -value;
        }
    const double more[] = {f->lowest, 1.0, f->has_inf ? INFINITY : f->max,
                           f->has_inf && f->is_signed ? -INFINITY : f->lowest, NAN};
    memcpy(x + n, more, sizeof more);
    return n + COUNT_OF(more);
}

static const char *const wide_formats[] = {"binary16",  "bfloat16",     "e6m9",       "dlfloat16", "q8.8",
                                           "q8.8:wrap", "tf32",         "fp24",       "q16.16",    "binary32",
                                           "binary64",  "binary16p5se", "e5m10:nosub"};
enum { WIDE_FORMATS = COUNT_OF(wide_formats) };

TEST(patterns) {
    for (int i = 0; i < WIDE_FORMATS; i++) {
        ulp_format f = named(wide_formats[i]);
        ulp_reference *ref = ulp_reference_new(&f);
        double x[ROOM];
        size_t n = patterns(&f, x), step = thinned(5);
        uint64_t seed = (uint64_t)i;
        for (size_t j = 0; j < n * n; j += step) {
            double a = x[j / n], b = x[j % n],
                   c = j % 3 == 0 ? ulp_round(-(a * b), &f, rule_of(ULP_RNE, 0, 0), 0) : x[(j * 7 + j / n) % n];
            check_all(ref, a, b, c, &f, &seed);
        }
        ulp_reference_free(ref);
    }
    expect_cases(100000 / thinned(5));
}

/* ---- random operands ---- */

/* A random value of the format, a value near 1, a value near the ends of the range, or a double that the format does
 * not hold. */
static double random_operand(const ulp_format *f, uint64_t *seed) {
    uint64_t bits = next_random(seed), choice = next_random(seed) % 16;
    double anywhere = ulp_decode(bits, f), near = (double)(bits >> 11) * 0x1p-52 + 0x1p-3;
    const ulp_rule rne = rule_of(ULP_RNE, ULP_OVERFLOW_SAT, 0);
    if (bits & 1) near = -near;
    if (choice < 6) return anywhere;
    if (choice < 11) return ulp_round(near, f, rne, 0);
    if (choice == 11) return ulp_round(near * f->max, f, rne, 0);
    if (choice == 12) return ulp_round(near * f->min_normal, f, rne, 0);
    if (choice == 13) return ulp_round(near * sqrt(f->max), f, rne, 0);
    return choice == 14 ? ulp_from_bits64(bits) : near * 0x1p20;
}

TEST(random) {
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++) {
        ulp_reference *ref = ulp_reference_new(&f);
        uint64_t seed = i;
        size_t rounds = (f.bits > 16 ? 12000 : 3000) / thinned(5);
        for (size_t j = 0; j < rounds; j++) {
            double a = random_operand(&f, &seed), b = random_operand(&f, &seed), c = random_operand(&f, &seed);
            if (j % 4 == 0) c = ulp_round(-(a * b), &f, rule_of(ULP_RNE, 0, 0), 0);
            if (j % 8 == 1) b = ulp_next_up(-a, &f);
            check_all(ref, a, b, c, &f, &seed);
        }
        ulp_reference_free(ref);
    }
    expect_cases(1000000 / thinned(5));
}

/* ---- known results ---- */

static double arith(const char *format, ulp_op op, int mode, double a, double b, double c) {
    ulp_format f = named(format);
    return ulp_arith((ulp_scalar_op){op, a, b, c}, &f, rule_of(mode, 0, 0), 0);
}

TEST(facts) {
    /* the operations of the machine */
    uint64_t seed = 5;
    ulp_format wide = named("binary64"), narrow = named("binary32");
    const ulp_rule rne = {0};
    for (int i = 0; i < 100000; i++) {
        double x[3], got[6];
        float y[3];
        for (int j = 0; j < 3; j++) x[j] = random_operand(&wide, &seed), y[j] = (float)random_operand(&narrow, &seed);
        double want[] = {x[0] + x[1], x[0] - x[1], x[0] * x[1], x[0] / x[1], sqrt(x[0]), fma(x[0], x[1], x[2])};
        float want32[] = {y[0] + y[1], y[0] - y[1], y[0] * y[1], y[0] / y[1], sqrtf(y[0]), fmaf(y[0], y[1], y[2])};
        for (int op = 0; op < ULP_OP_COUNT; op++) {
            got[op] = ulp_arith((ulp_scalar_op){(ulp_op)op, x[0], x[1], x[2]}, &wide, rne, 0);
            if (!same_result(got[op], want[op]))
                fail_case(ulp_op_name((ulp_op)op), x[0], x[1], x[2], &wide, rne, 0, got[op], want[op]);
            double a = (double)y[0], b = (double)y[1], c = (double)y[2], w = (double)want32[op];
            got[op] = ulp_arith((ulp_scalar_op){(ulp_op)op, a, b, c}, &narrow, rne, 0);
            if (!same_result(got[op], w)) fail_case(ulp_op_name((ulp_op)op), a, b, c, &narrow, rne, 0, got[op], w);
        }
    }
    /* double rounding: 1 + (2^-11 + 2^-53) is above a tie of binary16; a first rounding to binary64 gives the tie */
    assert_true(arith("binary16", ULP_FUSED, ULP_RNE, 0x1p-53, 1, 1 + 0x1p-11) == 1 + 0x1p-10);
    assert_true(arith("binary16", ULP_FUSED, ULP_RNE, -0x1p-54, 1, 1 + 0x1p-11) == 1);
    assert_true(arith("binary16", ULP_ADD, ULP_RU, 1, 0x1p-1074, 0) == 1 + 0x1p-10);
    assert_true(arith("binary16", ULP_ADD, ULP_RO, 1, -0x1p-1074, 0) == 1 - 0x1p-11);
    assert_true(arith("e4m3", ULP_DIV, ULP_RNE, 1, 3, 0) == 0.34375);
    assert_true(isnan(arith("binary16", ULP_SQRT, ULP_RNE, -1, 0, 0)) &&
                isnan(arith("binary16", ULP_DIV, ULP_RNE, 0, 0, 0)));
    for (int m = 0; m < ULP_MODE_COUNT; m++) {
        assert_true(same(arith("binary16", ULP_SUB, m, 3, 3, 0), m == ULP_RD ? -0.0 : 0.0));
        assert_true(same(arith("binary16", ULP_ADD, m, -0.0, -0.0, 0), -0.0));
        assert_true(same(arith("binary16", ULP_SQRT, m, -0.0, 0, 0), -0.0));
        assert_true(same(arith("e4m3fnuz", ULP_SUB, m, 3, 3, 0), 0.0));
    }
    assert_true(isnan(arith("binary16", ULP_OP_COUNT, ULP_RNE, 1, 1, 1)));
}

/* ---- arrays ---- */

enum { N = 1500 };

static int exact_is_finite(ulp_op op, double a, double b, double c) {
    if (!isfinite(a) || (ulp_op_operands(op) > 1 && !isfinite(b)) || (op == ULP_FUSED && !isfinite(c))) return 0;
    return op == ULP_DIV ? b != 0.0 : op != ULP_SQRT || a >= 0.0;
}

static void check_map(const ulp_backend *b, ulp_op op, float operands[3][N], const ulp_format *f, ulp_rule rule,
                      ulp_stream stream) {
    static float y[N];
    ulp_stats stats = {0}, want = {.count = N};
    const int stochastic = ulp_mode_is_stochastic(rule.mode), n = ulp_op_operands(op);
    ulp_rule nan_rule = rule;
    nan_rule.overflow = ULP_OVERFLOW_NAN;
    assert_ok(ulp_backend_map(b, y,
                              (ulp_array_op){op, operands[0], n > 1 ? operands[1] : NULL, n > 2 ? operands[2] : NULL},
                              N, (ulp_rounding){f, rule, stream, &stats}));
    for (size_t i = 0; i < N; i++) {
        double v[3] = {(double)operands[0][i], (double)operands[1][i], (double)operands[2][i]};
        uint32_t word = stochastic ? ulp_random_word(stream, i) : 0;
        double scalar = ulp_arith((ulp_scalar_op){op, v[0], v[1], v[2]}, f, rule, word), got = (double)y[i];
        int fine = isnan(scalar) ? ulp_bits32(y[i]) == 0x7fc00000u : same(got, scalar);
        if (!fine) fail_case(ulp_op_name(op), v[0], v[1], v[2], f, rule, word, got, scalar);
        want.nan += isnan(scalar) != 0;
        want.zero += scalar == 0.0;
        want.subnormal += scalar != 0.0 && fabs(scalar) < f->min_normal;
        const double unlimited = ulp_arith((ulp_scalar_op){op, v[0], v[1], v[2]}, f, nan_rule, word);
        const int is_sym = ulp_overflow_of(f, (ulp_overflow)rule.overflow) == ULP_OVERFLOW_SYM;
        want.overflow +=
            exact_is_finite(op, v[0], v[1], v[2]) && (isnan(unlimited) || (is_sym && unlimited < fmin(-f->max, 0)));
        checked[op]++;
    }
    if (stats.count != want.count || stats.nan != want.nan || stats.subnormal != want.subnormal ||
        stats.overflow != want.overflow || stats.zero != want.zero)
        fail_msg(
            "%s %s %s counts %llu, NaN %llu, subnormal %llu, overflow %llu, zero %llu; want %llu %llu %llu %llu %llu",
            ulp_op_name(op), f->name, ulp_mode_name((ulp_mode)rule.mode), (unsigned long long)stats.count,
            (unsigned long long)stats.nan, (unsigned long long)stats.subnormal, (unsigned long long)stats.overflow,
            (unsigned long long)stats.zero, (unsigned long long)want.count, (unsigned long long)want.nan,
            (unsigned long long)want.subnormal, (unsigned long long)want.overflow, (unsigned long long)want.zero);
}

/* Operands about 1, so that no result of most formats is beyond the range, and other code rounds the array. */
static void fill_calm(float calm[3][N], uint64_t *seed) {
    for (size_t i = 0; i < N; i++)
        for (int j = 0; j < 3; j++) {
            const uint32_t word = (uint32_t)next_random(seed), sign = j > 0 ? word & 0x80000000u : 0;
            calm[j][i] = ulp_from_bits32(sign | 0x3f800000u | (word & 0x7fffffu));
        }
}

TEST(map) {
    static float operands[3][N], calm[3][N];
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++) {
        uint64_t seed = i;
        for (int j = 0; j < 3 * N; j++)
            operands[j / N][j % N] =
                j % 5 ? (float)random_operand(&f, &seed) : ulp_from_bits32((uint32_t)next_random(&seed));
        fill_calm(calm, &seed);
        for (size_t isa = 0; ulp_cpu_isa_name(isa) != NULL; isa++) {
            const ulp_backend *b = ulp_cpu_backend(isa);
            if (b == NULL) continue;
            if (!f.fits_binary32) {
                assert_int_equal(ulp_backend_map(b, operands[0],
                                                 (ulp_array_op){ULP_ADD, operands[0], operands[1], NULL}, N,
                                                 (ulp_rounding){.format = &f, .stream = (ulp_stream){1, 0, 0}}),
                                 ULP_UNSUPPORTED);
                continue;
            }
            for (int op = 0; op < ULP_OP_COUNT; op++)
                for (int m = 0; m < ULP_MODE_COUNT; m++)
                    if ((i + isa + (size_t)m + (size_t)op) % thinned(5) == 0)
                        check_map(b, (ulp_op)op, (i + (size_t)op) % 2 ? operands : calm, &f,
                                  rule_of(m, 0, m % 2 ? 11 : 0), (ulp_stream){3, 1, isa + (size_t)m});
        }
    }
    expect_cases(100000);
}

TEST(map_refusals) {
    const ulp_backend *b = ulp_cpu_backend(0);
    const ulp_stream s = {1, 0, 0};
    const ulp_rule rne = {0};
    ulp_format f = named("binary16");
    float x[4] = {1, 2, 3, 4}, y[4];
    assert_int_equal(ulp_backend_map(b, y, (ulp_array_op){ULP_OP_COUNT, x, x, x}, 4, (ulp_rounding){&f, rne, s, NULL}),
                     ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_map(b, y, (ulp_array_op){ULP_ADD, x, NULL, x}, 4, (ulp_rounding){&f, rne, s, NULL}),
                     ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_map(b, y, (ulp_array_op){ULP_FUSED, x, x, NULL}, 4, (ulp_rounding){&f, rne, s, NULL}),
                     ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_map(b, y, (ulp_array_op){ULP_SQRT, NULL, x, x}, 4, (ulp_rounding){&f, rne, s, NULL}),
                     ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_map(b, NULL, (ulp_array_op){ULP_SQRT, x, x, x}, 4, (ulp_rounding){&f, rne, s, NULL}),
                     ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_map(b, y, (ulp_array_op){ULP_ADD, x, x, NULL}, 4, (ulp_rounding){NULL, rne, s, NULL}),
                     ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_map(b, y, (ulp_array_op){ULP_ADD, x, x, NULL}, 4,
                                     (ulp_rounding){&f, rule_of(0, ULP_OVERFLOW_WRAP, 0), s, NULL}),
                     ULP_UNSUPPORTED);
    assert_ok(ulp_backend_map(b, NULL, (ulp_array_op){ULP_ADD, NULL, NULL, NULL}, 0, (ulp_rounding){&f, rne, s, NULL}));
    assert_ok(ulp_backend_map(b, x, (ulp_array_op){ULP_ADD, x, x, NULL}, 4, (ulp_rounding){&f, rne, s, NULL}));
    assert_true(x[0] == 2 && x[1] == 4 && x[2] == 6 && x[3] == 8);
}

TESTS(NULL, NULL)
