/* t_round.c - rounding of scalars and arrays against the oracle: every breakpoint, mode and overflow policy. */
#include <float.h>

#include "support.h"

#include "kernels/backend.h"
#include "kernels/mpfr/reference.h"

enum { ROOM = 1 << 20, CHUNK = 4096, ALL_POLICIES = 10 }; /* formats of up to 10 bits: every input with every policy */

static double input[ROOM];
static size_t inputs;
static const ulp_backend *backend;
static uint64_t checked;

/* ---- inputs ---- */

static void add(double x) {
    assert_true(inputs + 2 <= ROOM);
    input[inputs++] = x;
    input[inputs++] = -x;
}

/* Add x and its neighbours in binary64 and in binary32, with both signs. */
static void add_around(double x) {
    add(x);
    add(nextafter(x, INFINITY));
    add(nextafter(x, -INFINITY));
    if (fabs(x) > FLT_MAX || (double)(float)x != x) return;
    add((double)nextafterf((float)x, INFINITY));
    add((double)nextafterf((float)x, -INFINITY));
}

/* Add values around the ends of the range and beyond, and values that do not depend on the format. */
static void add_edges(const ulp_format *f, uint64_t seed) {
    const double q = f->max < 0x1p1000 ? last_quantum(f) : 0.0, least = f->min_positive;
    for (int i = 0; i <= 8; i++) add_around(f->max + q * i / 4), add_around(f->lowest - q * i / 4);
    for (int i = 1; i <= 8; i++) add_around(least * i / 4), add_around(f->min_normal * i / 4);
    add_around(least / 0x1p30), add_around(least * 0x1.5p-31), add_around(least * 0x1.8p-33);
    const double far[] = {0.0,     1.0,     FLT_MIN, 0x1p-149, DBL_MIN, 0x1p-1074,  0x1p127,
                          FLT_MAX, 0x1p128, DBL_MAX, INFINITY, NAN,     f->max * 2, f->max * 3};
    for (size_t i = 0; i < COUNT_OF(far); i++) add_around(far[i]);
    for (size_t i = 0; i < 512 / thinned(5); i++) {
        uint64_t bits = next_random(&seed);
        add((double)ulp_from_bits32((uint32_t)bits));
        add(ulp_from_bits64(next_random(&seed)));
        add(ldexp((double)(bits >> 11), (int)(bits % (uint64_t)(f->emax - f->qmin + 8)) + f->qmin - 55));
        add((double)(float)ldexp((double)(bits >> 11), (int)(bits % 60) - 83));
    }
}

/* Add the value of the magnitude code `code`, and the middle between it and the next value. Above the last value the
 * next value is that of a format whose exponents continue. */
static void add_code(const ulp_format *f, uint64_t code) {
    double low = ulp_decode(code, f), high = code < f->max_code ? ulp_decode(code + 1, f) : f->max + last_quantum(f);
    add_around(low);
    add_around(low + (high - low) / 2);
}

/* For wide formats: add exponents at the ends and in the middle with significands of few bits, and random codes. */
static void add_patterns(const ulp_format *f, uint64_t seed) {
    const int wide = f->is_fixed ? f->bits - 1 : f->prec - 1, fields = (int)(f->max_code >> wide);
    const uint64_t ones = ((uint64_t)1 << wide) - 1, half = (uint64_t)1 << (wide - 1);
    const uint64_t significand[] = {0, 1, 2, 3, half - 1, half, half + 1, half | 1 << 3, ones - 2, ones - 1, ones};
    const int field[] = {0, 1, 2, 3, fields / 2 - 1, fields / 2, fields / 2 + 1, fields - 1, fields};
    for (size_t i = 0; i < COUNT_OF(field); i++)
        for (size_t j = 0; j < COUNT_OF(significand); j++)
            if (field[i] >= 0 && field[i] <= fields) add_code(f, (uint64_t)field[i] << wide | significand[j]);
    for (size_t i = 0; i < 8000 / thinned(5); i++) add_code(f, next_random(&seed) % (f->max_code + 1));
}

/* Add codes: all codes of formats of up to 8 bits, in complete loops of registered formats of up to 16 bits, too; of
 * other formats of up to 16 bits every 7th code. */
static void add_inner(const ulp_format *f, size_t row) {
    if (f->bits > 16) {
        add_patterns(f, row);
        return;
    }
    uint64_t stride = f->bits <= 8 ? 1 : row < ulp_format_count ? thinned(13) : thinned(3) * 7;
    for (uint64_t code = 0; code <= f->max_code; code += stride) add_code(f, code);
}

/* ---- comparing ---- */

static void check_chunk(ulp_reference *ref, const double *x, size_t n, const ulp_format *f, ulp_rule rule,
                        ulp_stream stream) {
    double y[CHUNK];
    float x32[CHUNK], y32[CHUNK];
    for (size_t i = 0; i < n; i++) x32[i] = (float)x[i];
    assert_ok(ulp_backend_round64(backend, y, x, n, (ulp_rounding){f, rule, stream, NULL}));
    assert_int_equal(ulp_backend_round(backend, y32, x32, n, (ulp_rounding){f, rule, stream, NULL}),
                     f->fits_binary32 ? ULP_OK : ULP_UNSUPPORTED);
    for (size_t i = 0; i < n; i++) {
        uint32_t word = ulp_mode_is_stochastic(rule.mode) ? ulp_random_word(stream, i) : 0x9e3779b9u;
        double want = ulp_reference_round(ref, x[i], 0.0, rule, word), scalar = ulp_round(x[i], f, rule, word);
        if (!same_result(scalar, want)) fail_case("ulp_round", x[i], 0, 0, f, rule, word, scalar, want);
        if (!same_result(y[i], want)) fail_case("round64", x[i], 0, 0, f, rule, word, y[i], want);
        if (!f->fits_binary32 || !same((double)x32[i], x[i])) continue;
        int fine = isnan(want) ? ulp_bits32(y32[i]) == 0x7fc00000u : same((double)y32[i], want);
        if (!fine) fail_case("round", x[i], 0, 0, f, rule, word, (double)y32[i], want);
    }
    checked += n;
}

/* Check every mode on the first n inputs. Stochastic modes have one number of random bits there, and other numbers on
 * the first `few` inputs. */
static void check_policy(const ulp_format *f, int policy, size_t n, size_t few, uint64_t seed) {
    ulp_reference *ref = ulp_reference_new(f);
    for (int m = 0; m < ULP_MODE_COUNT; m++)
        for (int bits = 0; bits < (ulp_mode_is_stochastic((uint32_t)m) ? 9 : 1); bits += 4) { /* 0 means 32 */
            uint64_t before = checked;
            size_t last = bits == m % 3 * 4 ? n : few;
            for (size_t i = 0; i < last; i += CHUNK)
                check_chunk(ref, input + i, last - i < CHUNK ? last - i : CHUNK, f, rule_of(m, policy, bits),
                            (ulp_stream){seed, 7, i});
            if (checked == before) fail_msg("%s %s: no case", f->name, ulp_mode_name((ulp_mode)m));
        }
    ulp_reference_free(ref);
}

TEST(breakpoints) {
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++) {
        inputs = 0;
        add_edges(&f, i);
        size_t edges = inputs;
        add_inner(&f, i);
        for (int policy = 0; policy < ULP_OVERFLOW_COUNT; policy++)
            if (offers(&f, policy))
                check_policy(&f, policy, policy == 0 || f.bits <= ALL_POLICIES ? inputs : edges, edges, i);
    }
    print_message("%llu conversions\n", (unsigned long long)checked);
    assert_true(checked > 10000000 / thinned(13));
}

/* ---- pairs ---- */

/* Check hi + lo. Wrap-around is not checked if lo is not zero and |hi| or |lo| is above 2^60 quanta. */
static void check_pair(ulp_reference *ref, double hi, double lo, const ulp_format *f) {
    if (f->overflow == ULP_OVERFLOW_WRAP && lo != 0.0 && fmax(fabs(hi), fabs(lo)) > ldexp(1.0, f->qmin + 60)) return;
    for (int m = 0; m < ULP_MODE_COUNT; m++)
        for (uint32_t turn = 0; turn < (ulp_mode_is_stochastic((uint32_t)m) ? 2u : 1u); turn++) {
            ulp_rule rule = rule_of(m, ULP_OVERFLOW_DEFAULT, turn == 0 ? 32 : 3);
            uint32_t word = 0x7fffffffu + turn;
            double want = ulp_reference_round(ref, hi, lo, rule, word), got = ulp_round_pair(hi, lo, f, rule, word);
            if (!same_result(got, want)) fail_case("ulp_round_pair", hi, lo, 0, f, rule, word, got, want);
            checked++;
        }
}

/* Check pairs for which the last of hundreds of bits decides: hi is a breakpoint or a neighbour of it, lo is tiny, with
 * either sign. */
static void check_pairs_of(ulp_reference *ref, double x, const ulp_format *f) {
    int e;
    frexp(x, &e);
    const double unit = ldexp(1.0, e > -1021 ? e - 53 : -1074), q = ulp_spacing(x, f);
    const double little[] = {0x1p-1074, 0x1p-600, unit / 4, unit / 2, nextafter(unit / 2, 0), nextafter(unit / 2, 1),
                             unit,      q / 2,    q / 4,    x};
    for (size_t i = 0; i < COUNT_OF(little); i++)
        for (int sign = 0; sign < 4; sign++) {
            double lo = sign & 1 ? -little[i] : little[i], hi = sign & 2 ? -x : x;
            check_pair(ref, hi, lo, f);
            if (fabs(lo) > unit && fabs(hi) < 0x1p1000) check_pair(ref, hi - lo, lo, f);
        }
}

TEST(pairs) {
    ulp_format f;
    checked = 0;
    for (size_t i = 0; test_format(i, &f); i++) {
        ulp_reference *ref = ulp_reference_new(&f);
        uint64_t steps = thinned(5) > 1 ? 40 : 120, stride = f.max_code / steps + 1, seed = i;
        for (uint64_t code = 0; code <= f.max_code; code += stride) {
            double low = ulp_decode(code, &f), high = code < f.max_code ? ulp_decode(code + 1, &f) : low;
            check_pairs_of(ref, low, &f);
            check_pairs_of(ref, low + (high - low) / 2, &f);
            if (stride > 1) check_pairs_of(ref, ulp_decode(next_random(&seed) % f.max_code, &f), &f);
        }
        const double ends[] = {
            0.0, f.max, f.max + last_quantum(&f) / 2, f.min_positive, f.min_positive / 2, DBL_MAX, INFINITY, NAN};
        for (size_t j = 0; j < COUNT_OF(ends); j++)
            for (size_t k = 0; k < COUNT_OF(ends); k++)
                check_pair(ref, ends[j], ends[k], &f), check_pair(ref, ends[j], -ends[k], &f),
                    check_pair(ref, -ends[j], -ends[k], &f);
        ulp_reference_free(ref);
    }
    assert_true(checked > 1000000 / thinned(5));
}

/* ---- NaN ---- */

/* Payload i of NaN: first each single bit, then all bits, then random bits. */
static uint64_t payload(size_t i, int width, uint64_t *seed) {
    if (i < (size_t)width) return (uint64_t)1 << i;
    if (i == (size_t)width) return ((uint64_t)1 << width) - 1;
    return next_random(seed) >> (64 - width) | 1;
}

TEST(nan) {
    enum { N = 300 };
    float x32[N], y32[N];
    double x[N], y[N];
    uint64_t seed = 1;
    for (size_t i = 0; i < N; i++) {
        uint32_t bits32 = (uint32_t)(i % 2) << 31 | 0x7f800000u | (uint32_t)payload(i / 2, 23, &seed);
        uint64_t bits64 = (uint64_t)(i % 2) << 63 | 0x7ff0000000000000u | payload(i / 2, 52, &seed);
        memcpy(x32 + i, &bits32, sizeof bits32);
        memcpy(x + i, &bits64, sizeof bits64);
    }
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++)
        for (int c = 0; c < (int)ULP_MODE_COUNT * (int)ULP_OVERFLOW_COUNT * 2; c++) {
            ulp_rule rule = rule_of(c / 2 % ULP_MODE_COUNT, c / 2 / ULP_MODE_COUNT, 0);
            ulp_stats stats = {0}, *counted = c % 2 ? &stats : NULL;
            if (!offers(&f, rule.overflow)) continue;
            memset(y32, 0, sizeof y32), memset(y, 0, sizeof y);
            ulp_backend_round64(backend, y, x, N, (ulp_rounding){&f, rule, (ulp_stream){1, 2, 3}, counted});
            if (f.fits_binary32)
                ulp_backend_round(backend, y32, x32, N, (ulp_rounding){&f, rule, (ulp_stream){1, 2, 3}, counted});
            for (size_t j = 0; j < N; j++) {
                double scalar = ulp_round(x[j], &f, rule, 0xffffffffu);
                if (!same_result(scalar, NAN)) fail_case("ulp_round", x[j], 0, 0, &f, rule, 0, scalar, NAN);
                if (!same_result(y[j], NAN)) fail_case("round64", x[j], 0, 0, &f, rule, 0, y[j], NAN);
                if (f.fits_binary32 && ulp_bits32(y32[j]) != 0x7fc00000u)
                    fail_msg("round: NaN %08x, %s mode %d policy %d: got %08x", (unsigned)ulp_bits32(x32[j]), f.name,
                             rule.mode, rule.overflow, (unsigned)ulp_bits32(y32[j]));
            }
            if (counted != NULL) assert_int_equal(stats.nan, f.fits_binary32 ? 2 * N : N);
        }
}

/* ---- facts of the standards ---- */

static const struct fact {
    const char *format;
    int mode, policy;
    double x, want;
} facts[] = {
    /* OCP OFP8 v1.0, section 5: 464 and 61440 are the ties above max */
    {"e4m3", ULP_RNE, ULP_OVERFLOW_INF, 464, 448},
    {"e4m3", ULP_RNE, ULP_OVERFLOW_INF, 0x1.d00002p8, NAN},
    {"e4m3", ULP_RNE, ULP_OVERFLOW_DEFAULT, 464, 448},
    {"e4m3", ULP_RNE, ULP_OVERFLOW_DEFAULT, -1e9, -448},
    {"e4m3", ULP_RNE, ULP_OVERFLOW_NAN, 480, NAN},
    {"e4m3", ULP_RNE, ULP_OVERFLOW_NAN, INFINITY, NAN},
    {"e4m3", ULP_RNE, ULP_OVERFLOW_INF, INFINITY, NAN},
    {"e4m3", ULP_RNE, ULP_OVERFLOW_SAT, -INFINITY, -448},
    {"e4m3", ULP_RZ, ULP_OVERFLOW_INF, 1e9, 448},
    {"e5m2", ULP_RNE, ULP_OVERFLOW_DEFAULT, 61440, INFINITY},
    {"e5m2", ULP_RNE, ULP_OVERFLOW_DEFAULT, -0x1.dffffep15, -57344},
    {"e5m2", ULP_RNE, ULP_OVERFLOW_SAT, INFINITY, 57344},
    {"e5m2", ULP_RO, ULP_OVERFLOW_INF, 1e9, 57344},
    {"binary16", ULP_RNE, ULP_OVERFLOW_DEFAULT, 65520, INFINITY},
    {"binary16", ULP_RNE, ULP_OVERFLOW_DEFAULT, 0x1.ffdffep15, 65504},
    {"binary16", ULP_RU, ULP_OVERFLOW_DEFAULT, -1e9, -65504},
    {"binary16", ULP_RD, ULP_OVERFLOW_DEFAULT, -65505, -INFINITY},
    {"binary16", ULP_RNE, ULP_OVERFLOW_DEFAULT, -1e-30, -0.0},
    {"binary16", ULP_RNE, ULP_OVERFLOW_DEFAULT, 0x1p-25, 0.0},
    {"binary16", ULP_RNE, ULP_OVERFLOW_DEFAULT, 0x1.000002p-25, 0x1p-24},
    {"binary16", ULP_RO, ULP_OVERFLOW_DEFAULT, 2049, 2050},
    {"bf16:nosub", ULP_RNE, ULP_OVERFLOW_DEFAULT, 0x1p-128, 0.0},
    {"bf16:nosub", ULP_RU, ULP_OVERFLOW_DEFAULT, 0x1p-149, 0x1p-126},
    {"e4m3fnuz", ULP_RNE, ULP_OVERFLOW_INF, 248, NAN},
    {"e4m3fnuz", ULP_RNE, ULP_OVERFLOW_INF, 0x1.effffep7, 240},
    {"e4m3fnuz", ULP_RNE, ULP_OVERFLOW_DEFAULT, -0.0, 0.0},
    {"e4m3fnuz", ULP_RD, ULP_OVERFLOW_DEFAULT, -0x1p-40, -0x1p-10},
    {"e2m1", ULP_RNE, ULP_OVERFLOW_INF, 7, 6},
    {"e2m1", ULP_RNE, ULP_OVERFLOW_DEFAULT, 5, 4},
    {"e2m1", ULP_RNE, ULP_OVERFLOW_SAT, NAN, NAN},
    {"e8m0", ULP_RNE, ULP_OVERFLOW_DEFAULT, 1.5, 2},
    {"e8m0", ULP_RNE, ULP_OVERFLOW_DEFAULT, 3, 2},
    {"q8.8", ULP_RNE, ULP_OVERFLOW_DEFAULT, -1e-30, 0.0},
    {"q8.8", ULP_RNE, ULP_OVERFLOW_DEFAULT, 128, 127.99609375},
    {"q8.8", ULP_RNE, ULP_OVERFLOW_WRAP, 128, -128},
    {"q8.8", ULP_RNE, ULP_OVERFLOW_WRAP, 256.5, 0.5},
    {"int8", ULP_RNE, ULP_OVERFLOW_WRAP, -129, 127},
    {"int8", ULP_RNA, ULP_OVERFLOW_DEFAULT, -2.5, -3},
    {"int8", ULP_RNE, ULP_OVERFLOW_DEFAULT, -2.5, -2},
};

TEST(facts) {
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        const struct fact *t = &facts[i];
        ulp_format f = named(t->format);
        ulp_rule rule = rule_of(t->mode, t->policy, 0);
        double got = ulp_round(t->x, &f, rule, 0);
        if (!same_result(got, t->want)) fail_case("ulp_round", t->x, 0, 0, &f, rule, 0, got, t->want);
        float x[3], y[3];
        for (int j = 0; j < 3; j++) x[j] = (float)t->x;
        if (!same((double)x[0], t->x)) continue;
        assert_ok(ulp_backend_round(backend, y, x, 3, (ulp_rounding){&f, rule, (ulp_stream){1, 0, 0}, NULL}));
        if (!same((double)y[2], t->want)) fail_case("round", t->x, 0, 0, &f, rule, 0, (double)y[2], t->want);
    }
}

TEST(refusals) {
    ulp_format f = named("binary16"), q = named("q8.8");
    float x[2] = {1, 2}, y[2];
    double x64[2] = {1, 2}, y64[2];
    const ulp_stream s = {1, 0, 0};
    const ulp_rule rne = {0};
    assert_int_equal(ulp_rule_check(&f, rule_of(ULP_MODE_COUNT, 0, 0)), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_rule_check(&f, rule_of(0, ULP_OVERFLOW_COUNT, 0)), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_rule_check(&f, rule_of(ULP_SRA, 0, 33)), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_rule_check(&f, rule_of(0, ULP_OVERFLOW_WRAP, 0)), ULP_UNSUPPORTED);
    assert_ok(ulp_rule_check(&q, rule_of(0, ULP_OVERFLOW_WRAP, 0)));
    assert_int_equal(ulp_backend_round(backend, y, x, 2, (ulp_rounding){&f, rule_of(ULP_MODE_COUNT, 0, 0), s, NULL}),
                     ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_round(backend, y, x, 2, (ulp_rounding){&f, rule_of(0, ULP_OVERFLOW_WRAP, 0), s, NULL}),
                     ULP_UNSUPPORTED);
    assert_int_equal(ulp_backend_round(backend, y, x, 2, (ulp_rounding){NULL, rne, s, NULL}), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_round(backend, NULL, x, 2, (ulp_rounding){&f, rne, s, NULL}), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_round(backend, y, NULL, 2, (ulp_rounding){&f, rne, s, NULL}), ULP_BAD_ARGUMENT);
    assert_ok(ulp_backend_round(backend, NULL, NULL, 0, (ulp_rounding){&f, rne, s, NULL}));
    assert_int_equal(ulp_backend_round64(backend, y64, x64, 2, (ulp_rounding){&f, rule_of(0, 0, 33), s, NULL}),
                     ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_round64(backend, NULL, x64, 2, (ulp_rounding){&f, rne, s, NULL}), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_backend_round64(backend, y64, x64, 2, (ulp_rounding){NULL, rne, s, NULL}), ULP_BAD_ARGUMENT);
}

int main(void) {
    if (ulp_backend_get(&backend, NULL) != ULP_OK) return 3;
    return run_listed_tests(NULL, NULL);
}
