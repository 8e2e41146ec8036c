/* t_lanes.c - matrix products with a rounding for each term, with operands at the edges of what the fast methods cover.
 *
 * A fast method rounds vectors of sums under conditions: no sum is too large or too small, no double rounding is near a
 * tie, no sign of a zero is lost. Each kind of data here breaks one condition, for some lanes and some products. All
 * results have the bits of the definition (ulp_dot), on every instruction set.
 */
#include "support.h"
#include "instruction_sets.h"

enum { M = 3, N = 67, K = 40 };

static float a[M * K], b[K * N], start[M * N], c[M * N], want[M * N];

typedef enum edge {
    ORDINARY,
    LEAST,
    CANCELLED,
    LARGEST,
    TIES,
    TIES_BESIDE_SMALL,
    BESIDE_TIES,
    WIDE,
    LONG,
    ZEROS,
    NEGATIVE_ZEROS,
    NANS,
    EDGES
} edge;

static const char *const edge_names[EDGES] = {"ordinary values",
                                              "products near the least normal value",
                                              "cancelled sums beside the least normal value",
                                              "products near the largest value",
                                              "exact ties",
                                              "exact ties beside 2^-60",
                                              "sums beside ties by the last place of a small term",
                                              "exponents from -60 to 60",
                                              "24 significant bits",
                                              "zeros",
                                              "zeros that start from -0",
                                              "sums that start from NaN"};

static uint64_t seed = 1;

static int below(int n) { return (int)(next_random(&seed) >> 33) % n; }
static double sign(void) { return below(2) ? 1.0 : -1.0; }

/* A number with `bits` significant bits in [1, 2), or its negative. */
static double significand(int bits) { return sign() * (1.0 + ldexp((double)below(1 << (bits - 1)), 1 - bits)); }

/* Operands of product k whose product is on the edge. x is the operand of A. */
static double operand(edge kind, int is_a, size_t k, const ulp_format *f) {
    const int p = f->prec;
    switch (kind) {
    case LEAST: return ldexp(significand(11), is_a ? f->emin / 2 : f->emin - f->emin / 2 + below(4) - 2);
    case CANCELLED: /* x - x, then a product near the least normal value */
        if (k % 3 == 2) return ldexp(significand(11), is_a ? f->emin / 2 : f->emin - f->emin / 2 + below(4) - 2);
        return is_a ? 1.0 - 2.0 * (double)(k % 3) : 1.0 + (double)(k / 3 % 8) / 8.0;
    case LARGEST: return ldexp(significand(11), is_a ? f->emax / 2 : f->emax - f->emax / 2 - below(5));
    case TIES: return is_a ? 1.0 : ldexp(significand(p + 1), below(3));
    case TIES_BESIDE_SMALL:
        if (k % 3 == 0) return is_a ? sign() * 0x1p-30 : 0x1p-30; /* a product that binary64 loses beside the others */
        return k % 3 == 1 && is_a ? 1.0 : significand(p + 1 < 12 ? p + 1 : 12);
    case BESIDE_TIES: /* half a unit of the last place, and a little more */
        if (is_a) return 1.0;
        return k % 8 == 0 ? significand(p < 20 ? p : 20) : sign() * ldexp(1.0 + ldexp(1.0, 1 - p), -p);
    case WIDE: return ldexp(significand(8), below(61) - 30);
    case LONG: return ldexp(significand(24), below(8) - 4);
    case ZEROS:
    case NEGATIVE_ZEROS: return below(4) ? sign() * 0.0 : ldexp(significand(3), below(2) ? 0 : f->qmin / 2 - 1);
    default: return ldexp(significand(9), -below(4));
    }
}

static void fill(edge kind, const ulp_format *f) {
    for (size_t i = 0; i < M; i++)
        for (size_t k = 0; k < K; k++) a[i * K + k] = (float)operand(kind, 1, k, f);
    for (size_t k = 0; k < K; k++)
        for (size_t j = 0; j < N; j++) b[k * N + j] = (float)operand(kind, 0, k, f);
    for (size_t i = 0; i < M * N; i++) {
        const double x = kind == NEGATIVE_ZEROS ? -0.0 : operand(kind, 0, 1 + i % 2, f);
        start[i] = (float)ulp_round(x, f, rule_of(ULP_RNE, ULP_OVERFLOW_SAT, 0), 0);
        /* the largest word: an addition to it would give a number */
        if (kind == NANS && i % 5 == 0) start[i] = ulp_from_bits32(0x7fffffffu);
    }
}

static void define(const ulp_datapath *d, size_t m, int accumulate, ulp_stream stream) {
    double x[K], y[K];
    const uint64_t words = ulp_datapath_words(d, K), first = stream.first;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < N; j++) {
            for (size_t k = 0; k < K; k++) x[k] = (double)a[i * K + k], y[k] = (double)b[k * N + j];
            stream.first = first + (i * N + j) * words;
            want[i * N + j] = (float)ulp_dot(d, accumulate ? (double)start[i * N + j] : 0.0,
                                             (ulp_products){x, y, K, NULL, NULL}, stream);
        }
}

/* Whether x is y, or is the NaN of results where y is NaN. */
static int same_bits(float x, float y) {
    return ulp_bits32(x) == ulp_bits32(y) || (isnan(y) && ulp_bits32(x) == 0x7fc00000u);
}

/* One row and several rows have methods of their own. */
static void check(const ulp_datapath *d, edge kind, size_t m, int accumulate) {
    const ulp_stream stream = {3, (uint64_t)kind, 5};
    const ulp_gemm_shape s = {.m = m, .n = N, .k = K, .lda = K, .ldb = N, .ldc = N, .accumulate = (uint8_t)accumulate};
    define(d, m, accumulate, stream);
    for (size_t isa = 0; isa < offered; isa++) {
        memcpy(c, start, sizeof c);
        assert_ok(ulp_backend_gemm(backends[isa], c, a, b, &s, (ulp_summation){d, stream}));
        for (size_t i = 0; i < m * N; i++)
            if (!same_bits(c[i], want[i]))
                fail_msg("%s %s, %s, rows %zu, accumulate %d: element (%zu,%zu) is %a, not %a", backends[isa]->what,
                         d->name, edge_names[kind], m, accumulate, i / N, i % N, (double)c[i], (double)want[i]);
    }
}

/* A mode and a kind of data out of three, and all of them for one format or another. With one random bit, a sum just
 * below a value is as often rounded down as up. */
static void check_all(const char *form, const char *format, int first) {
    for (int m = 0; m < 2 * ULP_MODE_COUNT; m++) {
        const int mode = m / 2, one_bit = m % 2;
        char text[ULP_NAME_MAX];
        if (one_bit && !ulp_mode_is_stochastic((uint32_t)mode)) continue;
        snprintf(text, sizeof text, "%s:%s:%s%s", form, format, ulp_mode_name((ulp_mode)mode), one_bit ? "/1" : "");
        ulp_datapath d = datapath_named(text);
        for (edge kind = 0; kind < EDGES; kind++) {
            const int all = kind == NANS, accumulate = all || (first + (int)kind) / 3 % 2 != 0;
            fill(kind, &d.accumulator);
            if (!all && (first + mode + (int)kind) % 3 != 0) continue;
            check(&d, kind, all ? M : 1 + (size_t)(first + mode) % 2 * 2, accumulate);
        }
    }
}

static const char *const formats[] = {"fp16",  "bf16", "e5m2",       "e4m3",     "e4m3:sat",    "e4m3fnuz",
                                      "q8.8",  "e6m9", "tf32",       "e8m12",    "e5m15",       "fp24",
                                      "e8m22", "fp32", "bf16:nosub", "fp16:sat", "binary8p1se", "e5m0"};
static const char *const forms[] = {"serial", "chunk7", "split", "pairwise", "kahan"};

/* A thinned loop begins at another format for some of the forms. */
static void test_form(void **state) {
    for (size_t i = strlen(*state) % thinned(4); i < COUNT_OF(formats); i += thinned(4))
        check_all(*state, formats[i], (int)i);
}

int main(void) {
    ulp_threads_set(1); /* the products are small */
    static struct CMUnitTest tests[COUNT_OF(forms)];
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        tests[i] =
            (struct CMUnitTest){.name = forms[i], .test_func = test_form, .initial_state = (void *)(uintptr_t)forms[i]};
    return cmocka_run_group_tests(tests, find_backends, NULL);
}
