/* t_integers.c - matrix products whose sums are integers, at the ends of the ranges in which they are computed so.
 *
 * Products of int8, e2m1 and e2m3, with and without scales, are sums of 8-bit integers while no partial sum leaves a
 * range, and other loops compute them beyond it. The sums here end just inside and just outside of each range. All
 * results have the bits of the definition (ulp_dot), on every instruction set and one thread.
 */
#include "support.h"
#include "instruction_sets.h"

enum { M = 2, N = 5, DEPTH = 132000 };

static size_t sums;
static double a[M * DEPTH], b[N * DEPTH], start[M * N], want[M * N], c[M * N]; /* a (M, k), b (N, k) */
static double a_scale[M * DEPTH], b_scale[N * DEPTH]; /* a scale for each block of a row or column */
static float a_factors[M * DEPTH], b_factors[N * DEPTH];
static float a_narrow[M * DEPTH], b_narrow[N * DEPTH], c_narrow[M * N];
static uint64_t seed = 1;

static int below(int n) { return (int)(next_random(&seed) >> 33) % n; }

/* A random value of a format: a code that is a number. */
static double any(const ulp_format *f) {
    double x;
    do x = ulp_decode(next_random(&seed) & ((1ull << f->bits) - 1), f);
    while (x - x != 0.0);
    return x;
}

/* The operands: all numbers are the given ones. */
static void fill_with(double x, double y, size_t k) {
    for (size_t i = 0; i < M * k; i++) a[i] = x;
    for (size_t i = 0; i < N * k; i++) b[i] = y;
}

static void fill_any(const ulp_datapath *d, size_t k) {
    for (size_t i = 0; i < M * k; i++) a[i] = any(&d->a);
    for (size_t i = 0; i < N * k; i++) b[i] = any(&d->b);
}

/* Few operands that are not zero, and these of the least magnitude. */
static void fill_few(const ulp_datapath *d, size_t k) {
    for (size_t i = 0; i < M * k; i++) a[i] = (below(2) - below(2)) * d->a.min_positive;
    for (size_t i = 0; i < N * k; i++) b[i] = below(9) ? 0.0 : (below(2) - below(2)) * d->b.min_positive;
}

static void start_at(double x) {
    for (size_t i = 0; i < M * N; i++) start[i] = x;
}

/* Compares the product of k terms that starts at `start` with the definition. */
static void check(const ulp_datapath *d, size_t k, int accumulate) {
    ulp_gemm_shape s = {
        .m = M, .n = N, .k = k, .lda = k, .ldb = k, .ldc = N, .b_trans = 1, .accumulate = (uint8_t)accumulate};
    const int wide = !d->result.fits_binary32;
    const size_t blocks = d->scale_block == 0 ? 0 : (k + d->scale_block - 1) / d->scale_block;
    if (blocks > 0) s.a_scales = a_factors, s.b_scales = b_factors;
    for (size_t i = 0; i < M * blocks; i++) a_factors[i] = (float)a_scale[i];
    for (size_t i = 0; i < N * blocks; i++) b_factors[i] = (float)b_scale[i];
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++, sums++) {
            const ulp_products products = {a + i * k, b + j * k, k, a_scale + i * blocks, b_scale + j * blocks};
            want[i * N + j] = ulp_dot(d, accumulate ? start[i * N + j] : 0.0, products, (ulp_stream){0});
        }
    for (size_t i = 0; i < M * k; i++) a_narrow[i] = (float)a[i];
    for (size_t i = 0; i < N * k; i++) b_narrow[i] = (float)b[i];
    for (size_t isa = 0; isa < offered; isa++) {
        const ulp_summation by = {d, {0}};
        for (size_t i = 0; i < M * N; i++) c[i] = start[i], c_narrow[i] = (float)start[i];
        assert_ok(wide ? ulp_backend_gemm64(backends[isa], c, a, b, &s, by)
                       : ulp_backend_gemm(backends[isa], c_narrow, a_narrow, b_narrow, &s, by));
        for (size_t i = 0; i < M * N; i++) {
            const double got = wide ? c[i] : (double)c_narrow[i];
            if (!same_result(got, want[i]))
                fail_msg("%s %s, k %zu, accumulate %d from %a: element %zu is %a, not %a", backends[isa]->what, d->name,
                         k, accumulate, start[i], i, got, want[i]);
        }
    }
}

/* ---- int8 ---- */

static const char integer_names[] =
    "int8 int8:sat int8:za=255:zb=-255 int8:sat:za=255:zb=-255 int8:sat:za=-128 int8:sat:zb=127 int8:za=-3:zb=77 "
    "vnni-int8 vnni-int8-sat vnni-int16 vnni-int16-sat vnni-int16:za=255:zb=-3";

/* Sums that reach and pass the ends of 32-bit integers by their last terms. */
TEST(integer_ends) {
    for (size_t t = 0; *word_of(integer_names, t); t++) {
        const ulp_datapath d = datapath_named(word_of(integer_names, t));
        const double ends[2] = {d.a.lowest, d.a.max};
        for (int x = 0; x < 2; x++)
            for (int y = 0; y < 2; y++) {
                const double term = (ends[x] - d.zero_a) * (ends[y] - d.zero_b);
                const size_t most = term == 0.0 ? 0 : (size_t)floor(0x1p31 / fabs(term));
                for (size_t k = most - 1; most > 0 && k < most + 2; k++) {
                    if (k > DEPTH) continue;
                    fill_with(ends[x], ends[y], k);
                    check(&d, k, 0);
                }
            }
    }
    ulp_datapath clamps = datapath_named("int8:sat"), wraps = datapath_named("int8");
    fill_with(-128, -128, 131072); /* 2^31 */
    check(&clamps, 131072, 0);
    assert_true(want[0] == 2147483647.0);
    check(&wraps, 131072, 0);
    assert_true(want[0] == -2147483648.0);
}

/* Starts from which the largest sum just stays in the range, and just leaves it. */
TEST(integer_starts) {
    for (size_t t = 0; *word_of(integer_names, t); t++) {
        const ulp_datapath d = datapath_named(word_of(integer_names, t));
        for (size_t k = 1; k < 200; k = k * 2 + (k == 4)) {
            const double reach = (double)k * (abs(d.zero_a) - d.a.lowest) * (abs(d.zero_b) - d.b.lowest);
            if (reach >= 0x1p32) continue; /* the starts are 32-bit integers */
            const double near[] = {
                0x1p31 - 1 - reach, 0x1p31 - reach, reach - 0x1p31, reach - 0x1p31 + 1, 0x1p31 - 1, -0x1p31, 0, -1};
            for (size_t i = 0; i < COUNT_OF(near); i++) {
                start_at(near[i]);
                fill_any(&d, k);
                check(&d, k, 1);
                fill_with(i % 2 ? d.a.lowest : d.a.max, d.b.lowest, k);
                check(&d, k, 1);
                for (size_t p = 1; p < M * k; p += 2)
                    a[p] = -a[p] <= d.a.max ? -a[p] : d.a.max; /* away from the end and back */
                check(&d, k, 1);
            }
        }
    }
}

/* ---- e2m1 and e2m3 ---- */

static const char *const narrow_names[] = {
    "b200-e2m3",         "b200-e2m1",      "b200-e2m1.e2m3", "rtx5090-e2m3.e2m1", "b200-e2m3:promote=64",
    "b200-e2m3:F=24",    "b200-e2m3:F=23", "b200-e2m3:F=22", "b200-e2m1:F=6",     "b200-e2m1:floor=30",
    "b200-e2m1:floor=22"};
enum { NARROW_NAMES = COUNT_OF(narrow_names) };

/* Sums that reach and pass 2^24 units, where binary32 begins to round. */
TEST(narrow_ends) {
    for (size_t t = 0; t < NARROW_NAMES; t++) {
        const ulp_datapath d = datapath_named(narrow_names[t]);
        const size_t most = (size_t)floor(ldexp(1 / (d.a.max * d.b.max), 24 + d.a.qmin + d.b.qmin));
        for (size_t k = most - 1; k < most + 3 && k <= DEPTH; k++) {
            fill_with(d.a.max, k % 2 ? d.b.max : -d.b.max, k);
            for (size_t i = 0; i < M; i++) a[i * k + k - 1] = ldexp(1, d.a.qmin); /* a last bit that may be lost */
            for (size_t i = 0; i < N; i++) b[i * k + k - 1] = ldexp(1, d.b.qmin);
            check(&d, k, 0);
        }
        fill_any(&d, 700);
        check(&d, 700, 0);
    }
}

/* Starts on and off the grid of the products, and so large that the sum passes 2^24 units. */
TEST(narrow_starts) {
    for (size_t t = 0; t < NARROW_NAMES; t++) {
        const ulp_datapath d = datapath_named(narrow_names[t]);
        const int unit = d.a.qmin + d.b.qmin;
        for (size_t k = 1; k < 200; k = k * 2 + (k == 4)) {
            const double one = ldexp(1, unit), reach = (double)k * d.a.max * d.b.max, end = ldexp(1, unit + 24);
            const double near[] = {
                end - one - reach, end - reach, reach - end, one,      -one / 2, one + one / 1024, end, -0.0,
                0x1p127,           -0x1p-149,   0x1p60,      INFINITY, NAN,      -end * 4};
            for (size_t i = 0; i < COUNT_OF(near); i++) {
                start_at((double)(float)near[i]);
                start[0] = (double)below(1 << 20) * one; /* all lanes but one are alike */
                fill_any(&d, k);
                check(&d, k, 1);
                fill_with(i % 2 ? -d.a.max : d.a.max, d.b.max, k);
                check(&d, k, 1);
                fill_with(i % 2 ? -0.0 : 0.0, -d.b.max, k);
                check(&d, k, 1);
            }
        }
    }
}

/* ---- mxf4 and nvf4 ---- */

static const char *const scaled_names[] = {"b200-e2m1-mxf4",      "b200-e2m1-nvf4",         "b200-e2m1-nvf4:F=22",
                                           "b200-e2m1-mxf4:F=25", "b200-e2m1-mxf4:F=40",    "b200-e2m1-nvf4:F=37",
                                           "b200-e2m1-nvf4:F=14", "b200-e2m1-mxf4:floor=9", "b200-e2m1-nvf4:floor=28"};
enum { SCALED_NAMES = COUNT_OF(scaled_names), STYLES = 7 };

/* A scale. The largest and the least exponents of a style differ by about F, the most at which nothing is truncated. */
static double scale_of(const ulp_datapath *d, int style) {
    const int fraction = d->fused.fraction, low = d->scale.emin, high = d->scale.emax;
    int e = 0;
    if (style == 1) e = below(7) - 3;
    if (style == 2) e = below(9) == 0 ? -(fraction - 8 + below(12)) / 2 : 0;
    if (style == 3) e = below(9) == 0 ? (fraction - 14 + below(16)) / 2 : 0;
    if (style == 4) return below(3) ? 0.0 : 1.0;
    if (style == 5) e = below(2) ? low : high - 1;
    if (style == 6 && below(20) == 0) return NAN;
    e = e < low - 3 ? low - 3 : e > high - 1 ? high - 1 : e;
    return ldexp(d->scale.prec > 1 ? 1.0 + below(8) / 8.0 : 1.0, e);
}

static void fill_scales(const ulp_datapath *d, int a_style, int b_style) {
    const ulp_rule nearest = {ULP_RNE, ULP_OVERFLOW_SAT, 0};
    for (size_t i = 0; i < N * 32; i++) {
        if (i < M * 32) a_scale[i] = ulp_round(scale_of(d, a_style), &d->scale, nearest, 0);
        b_scale[i] = ulp_round(scale_of(d, b_style), &d->scale, nearest, 0);
    }
}

/* Scales whose terms are and are not far apart, and starts beside these terms. */
TEST(scaled) {
    for (size_t t = 0; t < SCALED_NAMES; t++) {
        const ulp_datapath d = datapath_named(scaled_names[t]);
        const double near[] = {0,       -0.0,    1,      -0x1.fffffep-9, -0x1p7, 0x1.000002p20, 0x1p7,  -0x1p45,
                               -0x1p28, 0x1p-30, 0x1p13, 0x1.8p-140,     0x1p28, NAN,           0x1p126};
        for (int style = 0; style < STYLES * STYLES; style++)
            for (size_t i = 0; i < COUNT_OF(near); i++) {
                const size_t k = 1 + (size_t)below(300);
                start_at(near[i]);
                if (below(2)) start[below(M * N)] = near[below(15)];
                if (i % 2) fill_any(&d, k);
                else fill_few(&d, k);
                fill_scales(&d, style % STYLES, style / STYLES);
                check(&d, k, i > 0);
            }
        for (int i = 0; i < 400; i++) { /* one start, or few scales, just beyond the range */
            const size_t k = 1 + (size_t)below(128);
            start_at(0);
            start[0] = i % 2 ? 0 : below(2) ? 0x1p7 : -0x1p7;
            fill_few(&d, k);
            fill_scales(&d, i % 2 ? 2 : 0, i % 4 == 3 ? 3 : 0);
            check(&d, k, 1);
        }
        fill_with(-1, 1, 64); /* terms of -0 beside a start of -0 */
        for (size_t i = 0; i < N * 32; i++) a_scale[i % (M * 32)] = d.scale.has_zero ? 0.0 : 1.0, b_scale[i] = 1.0;
        start_at(-0.0);
        check(&d, 64, 1);
        check(&d, 0, 1);
        b_scale[1] = NAN; /* beside scales of zero */
        check(&d, 64, 0);
    }
}

/* Values that the formats lack are refused. */
TEST(refused) {
    static const double bad[] = {128, -129, 0.5, 127.5, 1e10, -1e300, INFINITY, -INFINITY, NAN, 0x1p-1074};
    const ulp_datapath d = datapath_named("int8");
    const ulp_gemm_shape s = {.m = M, .n = N, .k = 300, .lda = 300, .ldb = N, .ldc = N};
    for (size_t isa = 0; isa < offered; isa++)
        for (size_t t = 0; t < 2 * COUNT_OF(bad); t++) {
            fill_with(-128, 127, 300);
            (t % 2 ? a : b)[below(M * 300)] = bad[t / 2];
            assert_int_equal(ulp_backend_gemm64(backends[isa], c, a, b, &s, (ulp_summation){&d, {0}}), ULP_NO_CODE);
            fill_with(-0.0, 127, 300);
            assert_ok(ulp_backend_gemm64(backends[isa], c, a, b, &s, (ulp_summation){&d, {0}}));
            for (size_t i = 0; i < M * N; i++) assert_true(same_result(c[i], 0.0));
        }
}

int main(void) {
    ulp_threads_set(1);
    const int failed = run_listed_tests(find_backends, NULL);
    print_message("%zu sums\n", sums);
    return failed;
}
