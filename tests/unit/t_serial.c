/* t_serial.c - serial sums in binary64, in fixed point and in tapered formats against scalar sums: full and ragged
 * tiles of the paths for them, special values, start values, transposes, arrays of binary32 and of binary64.
 */
#include "support.h"
#include "instruction_sets.h"

enum { ROOM = 24000 };
static double a[ROOM], b[ROOM], c[ROOM], start[ROOM], want[ROOM];
static float a_narrow[ROOM], b_narrow[ROOM], c_narrow[ROOM];

static const size_t shapes[][3] = {{1, 1, 1},  {12, 16, 9}, {6, 32, 5},  {13, 35, 6},
                                   {7, 67, 5}, {3, 130, 4}, {1, 3, 600}, {3, 64, 0}};

/* The kinds of numbers: small ones, whose sums stay in the range of most formats; any of the format; special values
 * among them; numbers that are no values of the format. */
typedef enum kind { SMALL, ANY, SPECIAL, FOREIGN, KINDS } kind;
static const char *const kind_names[KINDS] = {"small values", "values", "special values", "other numbers"};

static double any_value(const ulp_format *f, uint64_t *seed) {
    double x = NAN;
    for (int tries = 0; tries < 100 && !isfinite(x); tries++) x = ulp_decode(next_random(seed) >> (64 - f->bits), f);
    return isfinite(x) ? x : 1.0;
}

static double number(const ulp_format *f, kind of, uint64_t *seed) {
    static const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-149, -0x1p-1074, 0x1.fffffep127};
    const uint64_t bits = next_random(seed);
    const double near = (double)(bits >> 40) * 0x1p-22 - 2.0;
    if (of == FOREIGN && bits % 5 == 0) return near;
    if (of == SPECIAL && bits % 31 == 0) return specials[bits / 31 % COUNT_OF(specials)];
    if (of == SMALL || bits % 3 == 0) return ulp_round(near, f, rule_of(ULP_RNE, ULP_OVERFLOW_SAT, 0), 0);
    return any_value(f, seed);
}

static void fill(double *x, float *narrow, size_t n, const ulp_format *f, kind of, int wide, uint64_t *seed) {
    for (size_t i = 0; i < n; i++) {
        x[i] = number(f, of, seed);
        if (!wide) x[i] = (double)(float)x[i];
        narrow[i] = (float)x[i];
    }
}

static const ulp_stream stream = {1, 2, 3};

static void define(const ulp_gemm_shape *s, const ulp_datapath *d) {
    const int stochastic = ulp_mode_is_stochastic(d->rule.mode);
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            double sum = s->accumulate ? start[i * s->ldc + j] : 0.0;
            for (size_t k = 0; k < s->k; k++) {
                const double x = a[s->a_trans ? k * s->lda + i : i * s->lda + k],
                             y = b[s->b_trans ? j * s->ldb + k : k * s->ldb + j];
                const uint32_t word = stochastic ? ulp_random_word(stream, (i * s->n + j) * s->k + k) : 0;
                sum = ulp_arith((ulp_scalar_op){ULP_FUSED, x, y, sum}, &d->accumulator, d->rule, word);
            }
            want[i * s->ldc + j] = sum;
        }
}

static void check_one(const ulp_backend *backend, const ulp_gemm_shape *s, const ulp_datapath *d, kind of, int wide) {
    const ulp_summation by = {d, stream};
    for (size_t i = 0; i < s->m * s->ldc; i++) c[i] = start[i], c_narrow[i] = (float)start[i];
    assert_ok(wide ? ulp_backend_gemm64(backend, c, a, b, s, by)
                   : ulp_backend_gemm(backend, c_narrow, a_narrow, b_narrow, s, by));
    for (size_t i = 0; i < s->m * s->ldc; i++) {
        const int column = i % s->ldc < s->n;
        const double got = wide ? c[i] : (double)c_narrow[i], right = column ? want[i] : start[i];
        const uint64_t nan = ulp_bits64(ulp_quiet_nan());
        if (ulp_bits64(got) == (column && right != right && s->k > 0 ? nan : ulp_bits64(right))) continue;
        if (right != right && got != got && !(column && s->k > 0)) continue;
        fail_msg("%s %s, %s, m %zu n %zu k %zu, trans %d %d, accumulate %d, wide %d: element (%zu,%zu) is %a, not %a",
                 backend->what, d->name, kind_names[of], s->m, s->n, s->k, s->a_trans, s->b_trans, s->accumulate, wide,
                 i / s->ldc, i % s->ldc, got, right);
    }
}

/* A datapath: each shape with one layout, and with all kinds of numbers or with one. */
static void check(const char *name, uint64_t seed, int all) {
    const ulp_datapath d = datapath_named(name);
    for (kind of = SMALL; of < KINDS; of++)
        for (size_t at = 0; at < COUNT_OF(shapes); at++) {
            if (!all && (seed + at + of) % KINDS != 0) continue;
            const unsigned layout = (unsigned)(seed + at * 3 + of);
            const size_t m = shapes[at][0], n = shapes[at][1], k = shapes[at][2];
            const int wide = !d.accumulator.fits_binary32 || layout % 3 == 0;
            ulp_gemm_shape s = {.m = m, .n = n, .k = k, .a_trans = layout & 1, .b_trans = (layout >> 1) & 1};
            s.lda = (s.a_trans ? m : k) + at % 3, s.ldb = (s.b_trans ? k : n) + at % 2, s.ldc = n + at % 4;
            s.accumulate = (layout >> 2) & 1;
            assert_true(m * s.ldc <= ROOM);
            assert_true((s.a_trans ? k : m) * s.lda <= ROOM && (s.b_trans ? n : k) * s.ldb <= ROOM);
            fill(a, a_narrow, (s.a_trans ? k : m) * s.lda, &d.accumulator, of, wide, &seed);
            fill(b, b_narrow, (s.b_trans ? n : k) * s.ldb, &d.accumulator, of, wide, &seed);
            for (size_t i = 0; i < m * s.ldc; i++)
                start[i] = ulp_round(number(&d.accumulator, of == FOREIGN ? ANY : of, &seed), &d.accumulator,
                                     rule_of(ULP_RNE, ULP_OVERFLOW_SAT, 0), 0);
            define(&s, &d);
            for (size_t isa = 0; isa < offered; isa++) check_one(backends[isa], &s, &d, of, wide);
        }
}

/* Every mode; of the modes after the first, some for each format in a short run. */
static void check_modes(const char *format, uint64_t seed) {
    for (int mode = 0; mode < ULP_MODE_COUNT; mode++) {
        char name[ULP_NAME_MAX];
        if (mode > 0 && ((uint64_t)mode + seed) % thinned(3) != 0) continue;
        snprintf(name, sizeof name, "serial:%s:%s", format, ulp_mode_name((ulp_mode)mode));
        check(name, seed + (uint64_t)mode, mode == 0);
    }
}

TEST(binary64) {
    for (uint64_t seed = 0; seed < 4; seed++) check("serial:fp64:rne", seed, 1);
    check("serial:fp64:rz", 1, 0);
}

TEST(fixed_point) {
    static const char formats[] = "q8.8 q8.8:sym q8.8:wrap q1.15 q1.15:wrap q4.4 q2.14:sym q15.1 q12.0 q10.12 uq8.8";
    for (size_t i = 0; *word_of(formats, i); i++) check_modes(word_of(formats, i), i);
}

/* Fixed point has one quantum, below every number: also where large operands meet zeros and let sums look large. */
TEST(quantum_of_fixed_point) {
    enum { DEEP = 20 };
    for (int mode = 0; mode < ULP_MODE_COUNT; mode++) {
        const ulp_gemm_shape s = {.m = 5, .n = 67, .k = DEEP, .lda = DEEP, .ldb = 67, .ldc = 67};
        char name[ULP_NAME_MAX];
        uint64_t seed = (uint64_t)mode;
        snprintf(name, sizeof name, "serial:q11.1:%s", ulp_mode_name((ulp_mode)mode));
        const ulp_datapath d = datapath_named(name);
        for (size_t i = 0; i < s.m * DEEP; i++)
            a[i] = i % DEEP < 2 ? (i % DEEP == 0 ? 4096 : 0) : (double)(next_random(&seed) >> 59) * 0.25;
        for (size_t i = 0; i < s.n * DEEP; i++)
            b[i] = i / s.n < 2 ? (i / s.n == 1 ? 4096 : 0) : 4 - (double)(next_random(&seed) >> 59) * 0.25;
        for (size_t i = 0; i < s.n * DEEP; i++) a_narrow[i] = (float)a[i], b_narrow[i] = (float)b[i];
        memset(start, 0, s.m * s.n * sizeof *start);
        define(&s, &d);
        for (size_t isa = 0; isa < offered; isa++)
            for (int wide = 0; wide < 2; wide++) check_one(backends[isa], &s, &d, FOREIGN, wide);
    }
}

TEST(tapered) {
    static const char formats[] = "posit8 posit16 posit32 takum8 takum16 takum32 hif8";
    for (size_t i = 0; *word_of(formats, i); i++) check_modes(word_of(formats, i), i);
}

TEST(unusual) {
    static const char formats[] = "e8m0 dlfloat16 binary8p1uf binary8p4ue e5m0 e8m3:sat";
    for (size_t i = 0; *word_of(formats, i); i++) check_modes(word_of(formats, i), i);
}

TESTS(find_backends, NULL)
