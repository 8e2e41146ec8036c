/* t_kernels.c - array rounding against scalar rounding, for every instruction set, thread count, size, alignment. */
#include "support.h"
#include "instruction_sets.h"

enum { N = 2 * 16 * 1024 + 777, FEW = 2100, MARGIN = 32 };

static float x[N], want[N], y[N + 2 * MARGIN];
static double x64[FEW], y64[FEW + 2 * MARGIN];
static uint64_t cells;

static void fail_at(const ulp_backend *b, const char *what, size_t i, size_t n, double in, const ulp_format *f,
                    ulp_rule rule, uint32_t word, double got, double expected) {
    char text[160];
    snprintf(text, sizeof text, "%s %s, %d threads, element %zu of %zu:", b->what, what, ulp_threads_get(), i, n);
    fail_case(text, in, 0, 0, f, rule, word, got, expected);
}

/* ---- inputs and expected results ---- */

/* Inputs of random bits, inputs near values of the format, and all special values. */
static void fill_inputs(const ulp_format *f, uint64_t seed) {
    static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
                                       0x7f800001, 0xffbfffff, 0x7fffffff, 1,          0x80000001, 0x007fffff,
                                       0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff};
    for (size_t i = 0; i < N; i++) {
        uint64_t bits = next_random(&seed);
        float value = ulp_from_bits32((uint32_t)(bits >> 32));
        if (i % 8 == 1) value = ulp_from_bits32(special[bits % (COUNT_OF(special))]);
        if (i % 8 >= 4) { /* a value or a middle, and up to 3 units of binary32 away from it */
            double member = ulp_decode(bits >> 8, f), other = ulp_next_up(member, f);
            if (i % 8 >= 6) member += (other - member) / 2;
            value =
                ulp_from_bits32(ulp_bits32((float)member) + (uint32_t)(bits & 7) % 4u * (bits & 4 ? 1u : 0xffffffffu));
        }
        memcpy(x + i, &value, sizeof value);
        if (i < FEW) x64[i] = i % 2 ? (double)value : i % 4 ? ulp_from_bits64(bits) : nextafter((double)value, 0);
    }
}

static void count(ulp_stats *stats, double in, double out, const ulp_format *f, ulp_rule rule, uint32_t word) {
    ulp_overflow policy = ulp_overflow_of(f, (ulp_overflow)rule.overflow);
    rule.overflow = ULP_OVERFLOW_NAN;
    const double unlimited = ulp_round(in, f, rule, word); /* NaN beyond the range */
    int beyond = isfinite(in) && (isnan(unlimited) || (policy == ULP_OVERFLOW_SYM && unlimited < fmin(-f->max, 0)));
    stats->count++;
    stats->overflow += (uint64_t)beyond;
    const double low = policy == ULP_OVERFLOW_SYM && f->is_signed ? -f->max : f->lowest;
    stats->saturated += (beyond || isinf(in)) && policy != ULP_OVERFLOW_WRAP && (out == f->max || out == low);
    stats->underflow += isfinite(in) && in != 0.0 && out == 0.0 && !beyond;
    stats->subnormal += out != 0.0 && fabs(out) < f->min_normal;
    stats->zero += out == 0.0;
    stats->nan += isnan(out) != 0;
}

static void equal_stats(const ulp_stats *got, const ulp_stats *expected, const ulp_backend *b, const ulp_format *f,
                        ulp_rule rule) {
    const uint64_t g[] = {got->count,     got->overflow, got->saturated, got->underflow,
                          got->subnormal, got->zero,     got->nan};
    const uint64_t w[] = {expected->count,     expected->overflow, expected->saturated, expected->underflow,
                          expected->subnormal, expected->zero,     expected->nan};
    static const char *const names[] = {"count", "overflow", "saturated", "underflow", "subnormal", "zero", "nan"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (g[i] != w[i])
            fail_msg("%s %s %s %s: counter %s is %llu, not %llu", b->what, f->name, ulp_mode_name((ulp_mode)rule.mode),
                     ulp_overflow_name((ulp_overflow)rule.overflow), names[i], (unsigned long long)g[i],
                     (unsigned long long)w[i]);
}

/* ---- one call ---- */

static int same_bits(float got, float expected) {
    return isnan(expected) ? ulp_bits32(got) == 0x7fc00000u : ulp_bits32(got) == ulp_bits32(expected);
}

static void clear(void *to, size_t bytes) { memset(to, 0xa5, bytes); }

static int untouched(const void *from, size_t bytes) {
    const unsigned char *at = from;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != 0xa5) return 0;
    return 1;
}

/* Check the elements at .. at + n - 1 as a separate array, `shift` elements off the alignment, in place or not. */
static void check_part(const ulp_backend *b, size_t at, size_t n, size_t shift, int in_place, const ulp_format *f,
                       ulp_rule rule, ulp_stream s, ulp_stats *stats) {
    ulp_stream part = s;
    part.first += at;
    float *out = y + MARGIN / 2 + shift;
    clear(y, (n + 2 * MARGIN) * sizeof *y);
    if (in_place) memcpy(out, x + at, n * sizeof *x);
    assert_ok(ulp_backend_round(b, out, in_place ? out : x + at, n, (ulp_rounding){f, rule, part, stats}));
    for (size_t i = 0; i < n; i++)
        if (!same_bits(out[i], want[at + i]))
            fail_at(b, in_place ? "round in place" : "round", at + i, n, (double)x[at + i], f, rule,
                    word_at(rule, s, at + i), (double)out[i], (double)want[at + i]);
    if (!untouched(y, (MARGIN / 2 + shift) * sizeof *y) || !untouched(out + n, MARGIN * sizeof *y))
        fail_msg("%s round %s %s: wrote outside %zu elements", b->what, f->name, ulp_mode_name((ulp_mode)rule.mode), n);
    cells++;
}

static void check_sizes(const ulp_backend *b, const ulp_format *f, ulp_rule rule, ulp_stream s) {
    static const size_t sizes[] = {0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 63, 65, 1023, 1025};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        ulp_stats stats = {0};
        size_t at = (i * 131 + rule.mode * 7) % 1000;
        check_part(b, at, sizes[i], i % 16, i % 2, f, rule, s, i % 3 ? NULL : &stats);
        if (i % 3 == 0) assert_int_equal(stats.count, sizes[i]);
    }
}

static void check_round64(const ulp_backend *b, const ulp_format *f, ulp_rule rule, ulp_stream s) {
    ulp_stats got = {0}, expected = {0};
    double *out = y64 + MARGIN / 2 + rule.mode % 8;
    clear(y64, sizeof y64);
    assert_ok(ulp_backend_round64(b, out, x64, FEW, (ulp_rounding){f, rule, s, &got}));
    for (size_t i = 0; i < FEW; i++) {
        uint32_t word = word_at(rule, s, i);
        double scalar = ulp_round(x64[i], f, rule, word);
        if (!same_result(out[i], scalar)) fail_at(b, "round64", i, FEW, x64[i], f, rule, word, out[i], scalar);
        count(&expected, x64[i], scalar, f, rule, word);
    }
    assert_true(untouched(y64, (MARGIN / 2 + rule.mode % 8) * sizeof *y64) &&
                untouched(out + FEW, MARGIN * sizeof *y64));
    equal_stats(&got, &expected, b, f, rule);
}

/* ---- every format, mode, policy ---- */

static void check_rule(const ulp_format *f, ulp_rule rule, ulp_stream s) {
    const size_t turn = rule.mode + (size_t)f->bits,
                 n = rule.overflow == ULP_OVERFLOW_DEFAULT && turn % thinned(8) == 0 ? N : FEW;
    ulp_stats expected = {0};
    for (size_t i = 0; i < n; i++) {
        uint32_t word = word_at(rule, s, i);
        double scalar = ulp_round((double)x[i], f, rule, word);
        want[i] = (float)scalar;
        count(&expected, (double)x[i], scalar, f, rule, word);
    }
    for (size_t isa = 0; isa < offered; isa++) {
        for (int threads = 1; threads <= (n == N ? 3 : 1); threads++) {
            ulp_stats got = {0};
            ulp_threads_set(threads);
            const int counted = threads != 2;
            check_part(backends[isa], 0, n, (size_t)threads, threads == 2, f, rule, s, counted ? &got : NULL);
            if (counted) equal_stats(&got, &expected, backends[isa], f, rule);
            if (threads == 1) check_part(backends[isa], 0, n, 5, 0, f, rule, s, NULL);
        }
        ulp_threads_set(1);
        check_sizes(backends[isa], f, rule, s);
        ulp_threads_set(0);
    }
}

TEST(round) {
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++) {
        fill_inputs(&f, i);
        for (int m = 0; m < ULP_MODE_COUNT; m++)
            for (int policy = 0; policy < ULP_OVERFLOW_COUNT; policy++)
                for (int r = 0; r < (ulp_mode_is_stochastic((uint32_t)m) ? 3 : 1); r++) {
                    static const int bits[] = {32, 1, 7};
                    ulp_rule rule = rule_of(m, policy, bits[r]);
                    /* where the numbers of the blocks of words get another upper half, or return to 0: in the first
                     * piece of an array, or after it */
                    static const uint64_t before[ULP_OVERFLOW_COUNT] = {
                        [ULP_OVERFLOW_INF] = 600, [ULP_OVERFLOW_NAN] = 1600};
                    const uint64_t from = ((uint64_t)r << 34) + (uint64_t)policy - before[policy];
                    ulp_stream s = {i + 1, (uint64_t)m << 33 | 5, from};
                    uint64_t cells_before = cells;
                    if (!offers(&f, policy)) continue;
                    for (size_t isa = 0; isa < offered; isa++) check_round64(backends[isa], &f, rule, s);
                    if (f.fits_binary32) check_rule(&f, rule, s);
                    else
                        assert_int_equal(ulp_backend_round(backends[0], y, x, 5, (ulp_rounding){&f, rule, s, NULL}),
                                         ULP_UNSUPPORTED);
                    if (f.fits_binary32 && cells == cells_before) fail_msg("%s: no case", f.name);
                }
    }
    print_message("%llu calls on %zu instruction sets; %zu skipped, not offered here\n", (unsigned long long)cells,
                  offered, missing);
    assert_true(cells > 10000);
}

/* A rounding adds to its counters, and counters may be NULL. */
TEST(stats_add) {
    ulp_format f = named("e4m3");
    float in[] = {1e9f, -INFINITY, 0x1p-20f, 0x1p-8f, NAN, 0.0f, 1.0f}, out[7];
    for (size_t isa = 0; isa < offered; isa++) {
        ulp_stats stats = {100, 200, 300, 400, 500, 600, 700}, expected = {107, 201, 302, 401, 501, 602, 701};
        assert_ok(ulp_backend_round(backends[isa], out, in, 7,
                                    (ulp_rounding){&f, rule_of(ULP_RNE, 0, 0), (ulp_stream){1, 0, 0}, &stats}));
        equal_stats(&stats, &expected, backends[isa], &f, rule_of(ULP_RNE, 0, 0));
    }
}

/* ---- the backend itself ---- */

TEST(backends) {
    const ulp_backend *b = NULL;
    assert_string_equal(ulp_cpu_isa_name(0), "baseline");
    assert_true(offered >= 1 && ulp_cpu_isa_offered(0));
    for (size_t i = 0; ulp_cpu_isa_name(i) != NULL; i++) {
        setenv("ULPLAB_ISA", ulp_cpu_isa_name(i), 1);
        assert_int_equal(ulp_backend_get(&b, NULL), ulp_cpu_isa_offered(i) ? ULP_OK : ULP_NO_DEVICE);
        assert_ptr_equal(ulp_cpu_isa_offered(i) ? b : NULL, ulp_cpu_backend(i));
        if (ulp_cpu_isa_offered(i)) assert_string_equal(b->what, ulp_cpu_isa_name(i));
    }
    setenv("ULPLAB_ISA", "nonsense", 1);
    assert_int_equal(ulp_backend_get(&b, NULL), ULP_BAD_NAME);
    setenv("ULPLAB_ISA", "", 1);
    assert_ok(ulp_backend_get(&b, "cpu"));
    assert_ptr_equal(b, backends[offered - 1]);
    unsetenv("ULPLAB_ISA");
    assert_ok(ulp_backend_get(&b, NULL));
    assert_int_equal(ulp_backend_get(&b, "abacus"), ULP_BAD_NAME);
    assert_int_equal(ulp_backend_get(NULL, NULL), ULP_BAD_ARGUMENT);
    assert_null(ulp_cpu_isa_name(ISAS));
    assert_null(ulp_cpu_backend(ISAS));
    for (size_t bytes = 0; bytes < 5000; bytes = bytes * 2 + 1) {
        unsigned char text[64] = "abc", back[64] = {0}, *memory = b->alloc(bytes);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 64, 0);
        size_t n = bytes < sizeof text ? bytes : sizeof text;
        assert_ok(b->upload(memory, text, n));
        assert_ok(b->download(back, memory, n));
        assert_memory_equal(text, back, n);
        b->release(memory);
    }
}

static unsigned char seen[100000];

static void mark(void *context, size_t begin, size_t end) {
    const size_t *shape = context; /* n, grain */
    if (begin % shape[1] != 0 || (end % shape[1] != 0 && end != shape[0]) || begin >= end || end > shape[0])
        seen[0] = 100;
    for (size_t i = begin; i < end && i < sizeof seen; i++) seen[i]++;
}

static void nested(void *context, size_t begin, size_t end) {
    (void)context;
    size_t shape[2] = {1000, 10};
    (void)end;
    if (begin == 0) ulp_parallel_for(shape[0], shape[1], mark, shape);
}

/* A product that is rounded part by part has the bits and the counts of a product that is rounded afterwards: as tall,
 * wide and small products, with and without a start, under datapaths that round parts and datapaths that do not. */
TEST(gemm_round) {
    static const struct {
        size_t m, n, k;
    } sizes[] = {{300, 70, 40}, {61, 700, 300}, {700, 130, 100}, {1, 33, 5}, {7, 1, 0}, {200, 16, 9}, {0, 4, 4}};
    static const char *const paths[] = {"fp32", "serial:fp16:rne"}, *const formats[] = {"q8.8", "bf16"};
    static const int modes[] = {ULP_RNE, ULP_SRA};
    enum { MOST = 700 * 130 };
    static float a[700 * 300], b[700 * 300], expected[MOST], got_c[MOST];
    uint64_t seed = 9;
    for (size_t i = 0; i < COUNT_OF(a); i++) {
        a[i] = (float)((double)(next_random(&seed) >> 40) * 0x1p-22 - 2.0);
        b[i] = (float)((double)(next_random(&seed) >> 40) * 0x1p-22 - 2.0);
    }
    for (size_t z = 0; z < COUNT_OF(sizes); z++)
        for (size_t way = 0; way < 16; way++) {
            ulp_datapath d = datapath_named(paths[way & 1]);
            if (way & 1 && sizes[z].m * sizes[z].n * sizes[z].k > 1000000) continue;
            const ulp_format f = named(formats[way >> 1 & 1]);
            const size_t m = sizes[z].m, n = sizes[z].n, k = sizes[z].k;
            const ulp_gemm_shape shape = {.m = m,
                                          .n = n,
                                          .k = k,
                                          .lda = way & 8 ? m : k,
                                          .ldb = n,
                                          .ldc = n,
                                          .a_trans = way & 8 ? 1 : 0,
                                          .accumulate = way & 8 ? 1 : 0};
            for (size_t isa = 0; ulp_cpu_isa_name(isa); isa++) {
                ulp_stats one = {0}, two = {0};
                const ulp_backend *backend = ulp_cpu_backend(isa);
                const ulp_summation by = {&d, {1, 2, 3}};
                ulp_rounding how = {&f, rule_of(modes[way >> 2 & 1], 0, 0), {4, 5, 6}, &one};
                if (!backend) continue;
                ulp_threads_set(1 + 2 * (int)(isa + way) % 4);
                memset(expected, 0, sizeof expected);
                memset(got_c, 0, sizeof got_c);
                assert_ok(ulp_backend_gemm(backend, expected, a, b, &shape, by));
                assert_ok(ulp_backend_round(backend, expected, expected, m * n, how));
                how.stats = &two;
                assert_ok(ulp_backend_gemm_round(backend, got_c, a, b, &shape, by, how));
                assert_memory_equal(got_c, expected, sizeof expected);
                assert_memory_equal(&one, &two, sizeof one);
                ulp_gemm_shape bad = shape;
                bad.ldc = n + 1;
                if (m > 1)
                    assert_int_equal(ulp_backend_gemm_round(backend, got_c, a, b, &bad, by, how), ULP_BAD_ARGUMENT);
            }
        }
    ulp_threads_set(0);
}

TEST(parallel_for) {
    static const size_t sizes[] = {0, 1, 9, 10, 11, 99, 100, 1001, 65536, 99999}, grains[] = {1, 10, 4096, 200000};
    for (int threads = 1; threads <= 5; threads++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++)
            for (size_t g = 0; g < 4; g++) {
                size_t shape[2] = {sizes[i], grains[g]};
                ulp_threads_set(threads);
                memset(seen, 0, sizeof seen);
                ulp_parallel_for(shape[0], shape[1], mark, shape);
                for (size_t j = 0; j < sizeof seen; j++)
                    if (seen[j] != (j < shape[0]))
                        fail_msg("%d threads, n %zu grain %zu: index %zu seen %d times", threads, shape[0], shape[1], j,
                                 seen[j]);
            }
    memset(seen, 0, sizeof seen);
    ulp_threads_set(4);
    ulp_parallel_for(8, 1, nested, NULL);
    for (size_t j = 0; j < 1000; j++) assert_int_equal(seen[j], 1);
    ulp_threads_set(0);
    int normal = ulp_threads_get();
    ulp_threads_set(-3);
    assert_int_equal(ulp_threads_get(), normal);
    ulp_threads_set(3);
    assert_true(ulp_threads_get() == 3 || normal == 1);
    ulp_threads_set(0);
    assert_true(ulp_threads_get() == normal && normal >= 1);
}

TESTS(find_backends, NULL)
