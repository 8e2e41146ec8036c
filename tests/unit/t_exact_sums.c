/* t_exact_sums.c - where sums of ones, the harmonic series and a gradient ascent stop.
 *
 * Three computations share no code: ulp_arith(); rounding a binary64 result to p bits by ldexp() and nearbyint(), which
 * is the exact result of + - x / rounded once if 53 >= 2 p + 2 (Figueroa 1995, doi:10.1145/221332.221334); and, for
 * binary32, the machine's float.
 */
#include "support.h"

typedef double (*operation)(ulp_op op, double a, double b, const ulp_format *f);

static double by_library(ulp_op op, double a, double b, const ulp_format *f) {
    return ulp_arith((ulp_scalar_op){op, a, b, 0}, f, (ulp_rule){0}, 0);
}

static double wide(ulp_op op, double a, double b) {
    switch (op) {
    case ULP_ADD: return a + b;
    case ULP_SUB: return a - b;
    case ULP_MUL: return a * b;
    case ULP_DIV: return a / b;
    default: fail_msg("no such operation here"); return 0;
    }
}

/* p, and the exponent of the least normal number, of each format, so that formats/ is not used. No sum of the tests
 * overflows. */
static const struct shape {
    const char *name;
    int prec, emin;
} shapes[] = {{"binary16", 11, -14}, {"tf32", 11, -126}, {"bfloat16", 8, -126},
              {"e6m9", 10, -30},     {"e4m3", 4, -6},    {"e5m2", 3, -14}};

static double round_to(double x, const char *name) {
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        int e;
        if (strcmp(shapes[i].name, name) != 0) continue;
        if (x == 0) return x;
        frexp(x, &e); /* 2^(e-1) <= |x| < 2^e */
        const int least = shapes[i].emin - shapes[i].prec + 1, quantum = e - shapes[i].prec;
        const int q = quantum < least ? least : quantum;
        return ldexp(nearbyint(ldexp(x, -q)), q);
    }
    fail_msg("the test has no shape of %s", name);
    return 0;
}

static double by_hand(ulp_op op, double a, double b, const ulp_format *f) { return round_to(wide(op, a, b), f->name); }

static double by_float(ulp_op op, double a, double b, const ulp_format *f) {
    const float x = (float)a, y = (float)b;
    (void)f;
    switch (op) {
    case ULP_ADD: return (double)(x + y);
    case ULP_SUB: return (double)(x - y);
    case ULP_MUL: return (double)(x * y);
    case ULP_DIV: return (double)(x / y);
    default: fail_msg("no such operation here"); return 0;
    }
}

static operation oracle_of(const char *name) { return strcmp(name, "binary32") == 0 ? by_float : by_hand; }

static void same_end(const char *what, const char *name, double got, double want, int64_t got_n, int64_t want_n) {
    if (got != want || got_n != want_n)
        fail_msg("%s, %s: got %.17g (%lld), want %.17g (%lld)", what, name, got, (long long)got_n, want,
                 (long long)want_n);
}

/* ---- ones ---- */

/* The number of the first addition that does not change the sum; *sum gets this sum. */
static int64_t count_ones(operation by, const ulp_format *f, double from, double *sum) {
    double s = from;
    for (int64_t n = 1;; n++) {
        const double next = by(ULP_ADD, s, 1, f);
        *sum = s;
        if (next == s) return n;
        s = next;
    }
}

TEST(counting) {
    static const struct {
        const char *name;
        double stop;
    } facts[] = {{"binary16", 2048}, {"tf32", 2048}, {"bfloat16", 256}, {"e6m9", 1024}, {"e4m3", 16}, {"e5m2", 8}};
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        const ulp_format f = named(facts[i].name);
        const operation by[] = {by_library, by_hand};
        for (int j = 0; j < 2; j++) {
            double sum;
            const int64_t idle = count_ones(by[j], &f, 0, &sum);
            same_end("ones", f.name, sum, facts[i].stop, idle, (int64_t)facts[i].stop + 1);
        }
        assert_true(facts[i].stop == ldexp(1, f.prec));
    }
}

/* Sixteen million additions in float and by the library; under a sanitizer the library does only the last 1000. */
TEST(counting_binary32) {
    const ulp_format f = named("binary32");
    const double from = THINNED ? 0x1p24 - 1000 : 0;
    double sum;
    int64_t idle = count_ones(by_float, &f, 0, &sum);
    same_end("ones by float", f.name, sum, 16777216, idle, 16777217);
    idle = count_ones(by_library, &f, from, &sum);
    same_end("ones", f.name, sum, 16777216, idle, 16777217 - (int64_t)from);
}

/* For modes and formats: the final sum, and the number of the first addition that does not change it. */
TEST(counting_modes) {
    static const struct {
        const char *name;
        ulp_mode mode;
        double stop;
        int64_t idle;
    } facts[] = {
        {"binary16", ULP_RZ, 2048, 2049},
        {"binary16", ULP_RD, 2048, 2049},
        {"binary16", ULP_RNA, 4096, 3073},
        {"binary16", ULP_RO, 2050, 2050},
        {"binary16", ULP_RU, INFINITY, 7169},
        {"bfloat16", ULP_RNA, 512, 385},
        {"e4m3", ULP_RU, 448, 55},
        {"e4m3", ULP_RNA, 32, 25},
        {"e5m2", ULP_RO, 10, 10},
        {"e5m2", ULP_RU, INFINITY, 61},
        {"q8.8", ULP_RNE, 127.99609375, 129},
        {"q8.8", ULP_RU, 127.99609375, 129},
    };
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        const ulp_format f = named(facts[i].name);
        double s = 0, next;
        int64_t n = 1;
        while ((next = ulp_arith((ulp_scalar_op){ULP_ADD, s, 1, 0}, &f, rule_of((int)facts[i].mode, 0, 0), 0)) != s)
            s = next, n++;
        same_end(ulp_mode_name(facts[i].mode), f.name, s, facts[i].stop, n, facts[i].idle);
    }
}

/* One addition with Kahan's correction. */
static void kahan(operation by, const ulp_format *f, double term, double *sum, double *correction) {
    const double corrected = by(ULP_SUB, term, *correction, f), next = by(ULP_ADD, *sum, corrected, f);
    *correction = by(ULP_SUB, by(ULP_SUB, next, *sum, f), corrected, f);
    *sum = next;
}

TEST(counting_cures) {
    static const char *const names[] = {"bfloat16", "e6m9", "e4m3", "e5m2"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const ulp_format f = named(names[i]);
        const operation by[] = {by_library, by_hand};
        for (int j = 0; j < 2; j++) {
            double sum = 0, correction = 0, before, kept;
            do {
                before = sum;
                kept = correction;
                kahan(by[j], &f, 1, &sum, &correction);
            } while (sum != before || correction != kept);
            same_end("Kahan", f.name, sum, ldexp(1, 2 * f.prec), (int64_t)-correction, (int64_t)1 << f.prec);
            sum = 0;
            do {
                before = sum;
                sum = by[j](ULP_ADD, sum, 8, &f);
            } while (sum != before);
            same_end("chunks of 8", f.name, sum, ldexp(8, f.prec), 0, 0);
        }
    }
}

/* Where a sum to nearest stops, half of all random words change the sum, by 2. */
TEST(counting_stochastic) {
    static const char *const names[] = {"binary16", "bfloat16", "e4m3"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const ulp_format f = named(names[i]);
        const double stop = ldexp(1, f.prec);
        int up = 0;
        for (uint32_t r = 0; r < 256; r++) {
            const double next = ulp_arith((ulp_scalar_op){ULP_ADD, stop, 1, 0}, &f, rule_of(ULP_SRA, 0, 8), r << 24);
            assert_true(next == stop || next == stop + 2);
            up += next != stop;
        }
        assert_int_equal(up, 128);
    }
}

/* ---- the harmonic series ---- */

/* The number of the first term that does not change the sum; the next `more` terms do not change it either. */
static int64_t sum_harmonic(operation by, const ulp_format *f, int64_t more, double *sum) {
    int64_t i = 1;
    double s = 0, next;
    while ((next = by(ULP_ADD, s, by(ULP_DIV, 1, (double)i, f), f)) != s) s = next, i++;
    for (int64_t j = i; j <= i + more; j++) assert_true(by(ULP_ADD, s, by(ULP_DIV, 1, (double)j, f), f) == s);
    *sum = s;
    return i;
}

static double harmonic_number(int64_t n) {
    double sum = 0;
    for (int64_t i = n; i > 0; i--) sum += 1 / (double)i;
    return sum;
}

TEST(harmonic) {
    static const struct {
        const char *name;
        double sum;
        int64_t idle;
    } facts[] = {{"bfloat16", 5.0625, 65},
                 {"binary16", 7.0859375, 513},
                 {"tf32", 7.0859375, 513},
                 {"e4m3", 3, 9},
                 {"e5m2", 2, 5},
                 {"e6m9", 6.40625, 257},
                 {"binary32", 15.403682708740234375, 2097152}};
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        const ulp_format f = named(facts[i].name);
        const operation by[] = {by_library, oracle_of(f.name)};
        for (int j = 0; j < 2; j++) {
            double sum;
            const int64_t idle = sum_harmonic(by[j], &f, 2000, &sum);
            same_end("harmonic series", f.name, sum, facts[i].sum, idle, facts[i].idle);
        }
    }
}

/* Relative errors after 10^6 terms, compared with the four published digits. */
TEST(harmonic_error) {
    const double harmonic = harmonic_number(1000000);
    const ulp_format half = named("binary16"), brain = named("bfloat16");
    double sum;
    assert_true(fabs(harmonic - 14.392726722865724) < 1e-13); /* ln n + gamma + 1 / (2 n) - 1 / (12 n^2) */
    assert_true(sum_harmonic(by_library, &half, 1000, &sum) < 1000000);
    assert_true(floor(1e4 * (1 - sum / harmonic) + 0.5) == 5077);
    assert_true(sum_harmonic(by_library, &brain, 1000, &sum) < 1000000);
    assert_true(floor(1e4 * (1 - sum / harmonic) + 0.5) == 6483);
}

/* ---- gradient ascent on 3 - (w - 3)^2 ---- */

/* The number of updates that change the weight. */
static int64_t ascend(operation by, const ulp_format *f, double rate, double *weight) {
    double w = 0;
    for (int64_t k = 0;; k++) {
        const double gradient = by(ULP_MUL, 2, by(ULP_SUB, 3, w, f), f);
        const double next = by(ULP_ADD, w, by(ULP_MUL, rate, gradient, f), f);
        *weight = w;
        if (next == w) return k;
        w = next;
    }
}

TEST(ascent) {
    static const struct {
        const char *name;
        int64_t updates;
        double weight, rate;
    } facts[] = {{"binary16", 199, 2.953125, 0x1.47cp-7},
                 {"bfloat16", 94, 2.625, 0x1.48p-7},
                 {"e4m3", 17, 1, 0x1.4p-7},
                 {"e5m2", 8, 0.5, 0x1.4p-7},
                 {"binary32", 645, 2.9999942779541015625, 0.01f}};
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        const ulp_format f = named(facts[i].name);
        const operation by[] = {by_library, oracle_of(f.name)};
        assert_true(ulp_round(0.01, &f, (ulp_rule){0}, 0) == facts[i].rate);
        for (int j = 0; j < 2; j++) {
            double weight;
            const int64_t updates = ascend(by[j], &f, facts[i].rate, &weight);
            same_end("ascent", f.name, weight, facts[i].weight, updates, facts[i].updates);
        }
    }
}

/* Weight, rate and update are in binary32; the gradient is in the format, from the weight rounded to the format. */
static float ascend_master(operation by, const ulp_format *f, int rounded_by_hand) {
    float weight = 0;
    for (int k = 0; k < 100000; k++) {
        const double shown =
            rounded_by_hand ? round_to((double)weight, f->name) : ulp_round((double)weight, f, (ulp_rule){0}, 0);
        const float gradient = (float)by(ULP_MUL, 2, by(ULP_SUB, 3, shown, f), f), next = weight + 0.01f * gradient;
        if (next == weight) return weight;
        weight = next;
    }
    fail_msg("%s: the master copy does not stop", f->name);
    return 0;
}

TEST(ascent_cures) {
    static const struct {
        const char *name;
        double millionths, kahan;
    } facts[] = {{"binary16", 2999047, 3}, {"bfloat16", 2992344, 3}, {"e4m3", 2877507, 2.75}, {"e5m2", 2759999, 2}};
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        const ulp_format f = named(facts[i].name);
        const operation by[] = {by_library, by_hand};
        const double rate = ulp_round(0.01, &f, (ulp_rule){0}, 0);
        for (int j = 0; j < 2; j++) {
            const float weight = ascend_master(by[j], &f, j);
            same_end("master copy, millionths", f.name, floor(1e6 * (double)weight + 0.5), facts[i].millionths, 0, 0);
            assert_true(ulp_round((double)weight, &f, (ulp_rule){0}, 0) == 3);
            double w = 0, correction = 0;
            for (int k = 0; k < 5000; k++)
                kahan(by[j], &f, by[j](ULP_MUL, rate, by[j](ULP_MUL, 2, by[j](ULP_SUB, 3, w, &f), &f), &f), &w,
                      &correction);
            same_end("Kahan's update", f.name, w, facts[i].kahan, 0, 0);
        }
    }
}

TESTS(NULL, NULL)
