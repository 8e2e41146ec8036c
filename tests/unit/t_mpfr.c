/* t_mpfr.c - the backend "mpfr" gives the bits of the CPU's backend.
 *
 * The two share no arithmetic, so that an error of one shows as a difference. The CPU's backend is the one of the
 * slowest instruction set; other tests compare the instruction sets with it. t_mpfr_layers.c has batch normalisation,
 * windows but those of adjacent maxima, up-sampling, products with a factor and dropout.
 */
#include "mpfr_pair.h"

#include "kernels/products/unit.h"

enum { MOST = 4096 };

/* A binary32 number of any class, often near the ends of the range and near the quantum of the format. */
static float any_float(const ulp_format *f) {
    const double at[] = {0,
                         -0.0,
                         INFINITY,
                         NAN,
                         f->max,
                         -f->max,
                         f->lowest,
                         f->min_normal,
                         f->min_positive,
                         1.0,
                         f->max + last_quantum(f) / 2};
    switch (below(4)) {
    case 0: return ulp_from_bits32((uint32_t)next_random(&seed));
    case 1: return (float)at[below(11)];
    case 2: return (float)ldexp(1.0 + below(4096) / 4096.0, f->qmin + below(40));
    default: return (float)((below(2) ? 1 : -1) * f->max * (1 + ldexp(below(1024) - 512, -10)));
    }
}

static const char *status_of(ulp_status status) { return ulp_status_text(status); }

static void same_arrays(const char *what, const float *got, const float *want, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!same_result((double)got[i], (double)want[i]))
            fail_msg("%s: element %zu is %a, not %a", what, i, (double)got[i], (double)want[i]);
}

static void same_counts(const char *what, const ulp_stats *got, const ulp_stats *want) {
    if (memcmp(got, want, sizeof *got) != 0)
        fail_msg(
            "%s: count %llu %llu, overflow %llu %llu, saturated %llu %llu, underflow %llu %llu, subnormal %llu %llu, "
            "zero %llu %llu, nan %llu %llu",
            what, (unsigned long long)got->count, (unsigned long long)want->count, (unsigned long long)got->overflow,
            (unsigned long long)want->overflow, (unsigned long long)got->saturated, (unsigned long long)want->saturated,
            (unsigned long long)got->underflow, (unsigned long long)want->underflow, (unsigned long long)got->subnormal,
            (unsigned long long)want->subnormal, (unsigned long long)got->zero, (unsigned long long)want->zero,
            (unsigned long long)got->nan, (unsigned long long)want->nan);
}

/* Every format, mode and policy: round, round64 and map, with their counts. */
TEST(elements) {
    enum { N = 96 };
    static float x[3][N], got[N], want[N];
    static double wide[N], got64[N], want64[N];
    ulp_format f;
    size_t cases = 0;
    for (size_t i = 0; test_format(i, &f); i++)
        for (int m = 0; m < ULP_MODE_COUNT; m++)
            for (int policy = 0; policy < ULP_OVERFLOW_COUNT; policy++) {
                if (!offers(&f, policy)) continue;
                char what[96];
                const int wraps = ulp_overflow_of(&f, (ulp_overflow)policy) == ULP_OVERFLOW_WRAP;
                const ulp_rule rule = rule_of(m, policy, ulp_mode_is_stochastic((uint32_t)m) ? 1 + below(32) : 0);
                ulp_stats counts[2] = {{0}, {0}};
                ulp_rounding how = {&f, rule, {next_random(&seed), (uint64_t)i, next_random(&seed)}, &counts[0]},
                             other = how;
                other.stats = &counts[1];
                for (size_t j = 0; j < N; j++) {
                    for (int o = 0; o < 3; o++) {
                        x[o][j] = any_float(&f);
                        /* round.h: under wrap, operands and results are at most 2^60 quanta */
                        if (wraps && !(fabsf(x[o][j]) < 0x1p12f && fabsf(x[o][j]) > 0x1p-12f)) x[o][j] = 0x1.234p11f;
                    }
                    wide[j] = below(2) ? (double)x[0][j] * (1 + ldexp(below(9) - 4, -52))
                                       : ulp_from_bits64(next_random(&seed));
                }
                snprintf(what, sizeof what, "round64 %s %s %s", f.name, ulp_mode_name((ulp_mode)m),
                         ulp_overflow_name((ulp_overflow)policy));
                assert_ok(ulp_backend_round64(mpfr, got64, wide, N, how));
                assert_ok(ulp_backend_round64(cpu, want64, wide, N, other));
                for (size_t j = 0; j < N; j++)
                    if (!same_result(got64[j], want64[j]))
                        fail_msg("%s: %a gives %a, not %a", what, wide[j], got64[j], want64[j]);
                same_counts(what, &counts[0], &counts[1]);
                cases++;
                if (!f.fits_binary32) continue;
                assert_ok(ulp_backend_round(mpfr, got, x[0], N, how));
                assert_ok(ulp_backend_round(cpu, want, x[0], N, other));
                same_arrays(what, got, want, N);
                same_counts(what, &counts[0], &counts[1]);
                const ulp_array_op op = {(ulp_op)(cases % ULP_OP_COUNT), x[0], x[1], x[2]};
                snprintf(what, sizeof what, "%s %s %s %s", ulp_op_name(op.op), f.name, ulp_mode_name((ulp_mode)m),
                         ulp_overflow_name((ulp_overflow)policy));
                assert_ok(ulp_backend_map(mpfr, got, op, N, how));
                assert_ok(ulp_backend_map(cpu, want, op, N, other));
                same_arrays(what, got, want, N);
                same_counts(what, &counts[0], &counts[1]);
            }
    print_message("%zu formats, modes and policies\n", cases);
}

/* ---- sums of products ---- */

/* A value of a format: special, near the ends of the range, of a small range of exponents so that sums cancel, or (kind
 * 4) zero or far below 1, so that the exponent of a zero product decides. */
static double any_value(const ulp_format *f, int kind) {
    const double any = (double)any_float(f);
    const ulp_rule rule = {ULP_RNE, ULP_OVERFLOW_DEFAULT, 0};
    if (kind == 0) return isnan(any) && f->nan_codes == ULP_NAN_NONE ? 0.0 : ulp_round(any, f, rule, 0);
    if (kind == 1) return ulp_decode(next_random(&seed), f);
    const double middle = f->is_fixed ? f->max / 64 : 1.0;
    if (kind == 4)
        return below(2) ? 0.0 : ulp_round((1 + below(256) / 256.0) * ldexp(below(2) ? 1 : -1, -below(12)), f, rule, 0);
    return ulp_round(middle * (1 + below(256) / 256.0) * ldexp(below(2) ? 1 : -1, below(kind == 2 ? 4 : 20) - 2), f,
                     rule, 0);
}

static float fits(double x) { return fabs(x) <= (double)0x1.fffffep127f || !isfinite(x) ? (float)x : 0.0f; }

/* A product in both backends. */
static void check_product(const ulp_datapath *d, int kind) {
    const size_t m = 1 + (size_t)below(3), n = 1 + (size_t)below(3), most = d->step * 3 + 3;
    const size_t k = below(6) == 0 ? 0 : 1 + (size_t)below((int)(most < 150 ? most : 150));
    const int wide = !d->result.fits_binary32 || (below(4) == 0 && d->words == 0);
    const ulp_format *fa = d->has_inputs ? &d->a : &d->accumulator, *fb = d->has_inputs ? &d->b : &d->accumulator;
    static double a[MOST], b[MOST], c[2][16];
    static float a32[MOST], b32[MOST], c32[2][16], scales[2][512];
    ulp_gemm_shape s = {.m = m,
                        .n = n,
                        .k = k,
                        .a_trans = (uint8_t)below(2),
                        .b_trans = (uint8_t)below(2),
                        .c_trans = (uint8_t)below(2),
                        .accumulate = (uint8_t)below(2)};
    s.lda = s.a_trans ? m : k, s.ldb = s.b_trans ? k : n, s.ldc = (s.c_trans ? m : n) + 1;
    for (size_t i = 0; i < m * k; i++) a[i] = any_value(fa, kind), a32[i] = fits(a[i]);
    for (size_t i = 0; i < n * k; i++) b[i] = any_value(fb, kind), b32[i] = fits(b[i]);
    for (size_t i = 0; i < 16; i++) c[0][i] = any_value(&d->result, kind), c32[0][i] = fits(c[0][i]);
    memcpy(c[1], c[0], sizeof c[0]), memcpy(c32[1], c32[0], sizeof c32[0]);
    if (d->scale_block != 0 && below(4) != 0) {
        for (size_t i = 0; i < 512; i++)
            scales[0][i] = fits(any_value(&d->scale, kind)), scales[1][i] = fits(any_value(&d->scale, 2));
        s.a_scales = scales[0], s.b_scales = below(3) ? scales[1] : NULL;
    }
    const ulp_summation by = {d, {next_random(&seed), 5, next_random(&seed)}};
    const ulp_status got =
        wide ? ulp_backend_gemm64(mpfr, c[0], a, b, &s, by) : ulp_backend_gemm(mpfr, c32[0], a32, b32, &s, by);
    const ulp_status want =
        wide ? ulp_backend_gemm64(cpu, c[1], a, b, &s, by) : ulp_backend_gemm(cpu, c32[1], a32, b32, &s, by);
    if (got != want) fail_msg("%s: %s, not %s", d->name, status_of(got), status_of(want));
    for (size_t i = 0; i < 16; i++) {
        const double x = wide ? c[0][i] : (double)c32[0][i], y = wide ? c[1][i] : (double)c32[1][i];
        if (!same_result(x, y))
            fail_msg("%s, kind %d, m %zu, n %zu, k %zu, transposed %d %d %d, accumulate %d, wide %d: element %zu is "
                     "%a, not %a",
                     d->name, kind, m, n, k, s.a_trans, s.b_trans, s.c_trans, s.accumulate, wide, i, x, y);
    }
    if (!d->result.fits_binary32 || !d->accumulator.has_zero || m * k == 0) return;
    static float sums[2][512];
    const size_t columns = s.a_trans ? m : k, rows = s.a_trans ? k : m;
    const ulp_status status = ulp_backend_reduce(mpfr, sums[0], a32, rows, columns, by);
    assert_int_equal(status, ulp_backend_reduce(cpu, sums[1], a32, rows, columns, by));
    if (status == ULP_OK) same_arrays(d->name, sums[0], sums[1], columns);
}

static void check_datapath(const char *name) {
    ulp_datapath d = datapath_named(name);
    for (int t = 0; t < 16; t += (int)thinned(4)) check_product(&d, t % 4);
}

TEST(rows) {
    ulp_datapath d;
    size_t rows = 0;
    for (; ulp_datapath_get(rows, &d) == ULP_OK; rows++) check_datapath(d.name);
    print_message("%zu rows\n", rows);
}

TEST(forms) {
    static const char *const forms[] = {"serial", "split", "chunk3", "chunk16", "pairwise",
                                        "kahan",  "exact", "block4", "block16"};
    static const char *const formats[] = {"fp32", "fp16", "bf16",   "e4m3",    "e5m2", "q8.8",     "q8.8:wrap", "e8m0",
                                          "tf32", "fp64", "posit8", "takum16", "hif8", "e4m3fnuz", "dlfloat16"};
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        for (size_t j = 0; j < COUNT_OF(formats); j++)
            for (int m = 0; m < ULP_MODE_COUNT; m++) {
                char name[80];
                ulp_datapath d;
                const int bits = ulp_mode_is_stochastic((uint32_t)m) ? 1 + below(32) : 0;
                snprintf(name, sizeof name, bits ? "%s:%s:%s/%d" : "%s:%s:%s", forms[i], formats[j],
                         ulp_mode_name((ulp_mode)m), bits);
                assert_ok(ulp_datapath_parse(&d, name));
                for (int t = 0; t < 4; t += (int)thinned(4)) check_product(&d, t % 4);
                count++;
            }
    print_message("%zu forms, formats and modes\n", count);
}

/* Settings that no row has. */
TEST(settings) {
    static const char names[] =
        "fp32 int8 int8:sat vnni-int8 vnni-int16-sat int8:za=3:zb=-7 h100-fp16:align=rne h100-fp16:align=rd:output=ru "
        "a100-fp16:align=ro a100-fp16:zero_operand=-10 a100-fp16:zero_product=-20:zero_c=-3 a100-fp16:zero_product=9 "
        "h100-e4m3:zero_product=5:zero_c=3 h100-e4m3:promote=64 h100-e4m3:kept=10:output=rne v100-fp16:c_last=1 "
        "v100-fp16:signed_zero=1:output=rne b200-e2m1-nvf4:floor=none b200-e2m1-mxf4:zero_product=4 "
        "mi300-e4m3fnuz:parts=1:c_cut=0 mi300-fp16:join=30:normal=25 mi300-bf16:align=rd riscv-bf16:F=10 "
        "amx-bf16:swapped=1 amx-e5m2:fused=1 arm-e4m3:saturate=1 arm-bf16:mode=rz mi250-fp16:flush=none "
        "arm-e4m3-fp16:shift=5 avx512-bf16:flush=rounded serial:fp16:sr/8:promote=5 pairwise:e4m3:rd:promote=7 "
        "exact:fp16:rne:promote=3 kahan:bf16:srb/3:promote=4 h100-fp16:words=2 h100-bf16:words=3:split=rz:first=small "
        "uint8:za=128:zb=3 uint8.int8:sat maddubs-int8 maddubs-int8-wrap fp32:split-k=3:bf16 int8:split-k=2:q20.0 "
        "serial:fp16:rne:split-k=2:fp16 h100-e4m3:promote=64:split-k=2:e5m2 b200-e2m1-nvf4:split-k=2:fp32 "
        "serial:fp64:ru:split-k=3:fp64 pairwise:fp16:rz:split-k=4:posit16 kahan:q8.8:wrap:rne:split-k=2:q4.4";
    for (size_t i = 0; *word_of(names, i); i++) {
        check_datapath(word_of(names, i));
        ulp_datapath d = datapath_named(word_of(names, i));
        for (int t = 0; t < 4; t++) check_product(&d, 4);
    }
}

/* Sums of squares of several chunks: numbers with all bits over 80 binades, sometimes beside Inf or NaN. */
TEST(squares) {
    enum { N = 3 * ULP_SQUARES_CHUNK, CHUNKS = 3 };
    static float x[N];
    static double a[CHUNKS], b[CHUNKS];
    static const size_t sizes[] = {0, 1, 31, 32, 33, 63, 64, 1000, 4095, 4096, 4097, 8192, 9001, N};
    for (size_t t = 0; t < COUNT_OF(sizes); t += thinned(4)) {
        for (size_t i = 0; i < N; i++)
            x[i] = (float)ldexp((double)(uint32_t)next_random(&seed), -32 - below(80)) * (below(2) ? 1.0f : -1.0f);
        if (t % 5 == 4) x[below((int)sizes[t])] = below(2) ? INFINITY : NAN;
        const size_t chunks = ulp_squares_chunks(sizes[t]);
        assert_int_equal(chunks, (sizes[t] + 4095) / 4096);
        BOTH("squares", a, b, chunks, squares, x, sizes[t]);
    }
}

/* The operations between products. */
TEST(functions) {
    enum { N = 720 };
    static float x[N], y[N], got[N], want[N], place[2][N];
    static double wide[N], a[N], b[N], loss[2][N];
    static uint8_t label[N];
    ulp_format binary32 = named("binary32");
    for (int t = 0; t < 40; t += (int)thinned(8)) {
        for (size_t i = 0; i < N; i++) {
            x[i] = below(3) ? (float)((below(4000) - 2000) * ldexp(1, -below(12))) : any_float(&binary32);
            y[i] = any_float(&binary32);
            wide[i] = below(2) ? (double)x[i] * (1 + ldexp(below(9) - 4, -30)) : ulp_from_bits64(next_random(&seed));
            label[i] = (uint8_t)below(11);
        }
        assert_ok(ulp_backend_narrow(mpfr, got, wide, N));
        ulp_backend_narrow(cpu, want, wide, N);
        same_arrays("narrow", got, want, N);
        ulp_backend_relu(mpfr, got, y, N), ulp_backend_relu(cpu, want, y, N);
        for (size_t i = 0; i < N; i++) assert_true(same((double)got[i], (double)want[i]));
        ulp_backend_relu_slope(mpfr, got, x, y, N), ulp_backend_relu_slope(cpu, want, x, y, N);
        for (size_t i = 0; i < N; i++) assert_true(same((double)got[i], (double)want[i]));
        for (int finite = 0; finite <= 1; finite++) {
            ulp_backend_largest(mpfr, got, x, (size_t)t, finite), ulp_backend_largest(cpu, want, x, (size_t)t, finite);
            same_arrays("largest", got, want, 1);
        }
        for (int kind = 0; kind < ULP_ACTIVATION_COUNT; kind++) {
            const ulp_activation f = {(uint8_t)kind, 0.2};
            BOTH("activation", a, b, N, activate, x, N, f);
            BOTH("slope", a, b, N, activate_slope, x, y, N, f);
        }
        const ulp_windows windows = {3, 12, 20, 1 + (size_t)below(5)};
        const size_t pooled = 3 * (12 / windows.K) * (20 / windows.K);
        ulp_backend_pool(mpfr, got, place[0], y, &windows), ulp_backend_pool(cpu, want, place[1], y, &windows);
        for (size_t i = 0; i < pooled; i++)
            assert_true(same((double)got[i], (double)want[i]) && place[0][i] == place[1][i]);
        ulp_backend_pool_slope(mpfr, got, x, place[0], &windows),
            ulp_backend_pool_slope(cpu, want, x, place[0], &windows);
        for (size_t i = 0; i < N; i++) assert_true(same((double)got[i], (double)want[i]));
        const ulp_labels labels = {label, 72, 10};
        ulp_backend_softmax(mpfr, a, loss[0], x, labels), ulp_backend_softmax(cpu, b, loss[1], x, labels);
        same_doubles("softmax", a, b, N);
        same_doubles("loss", loss[0], loss[1], 72);
        BOTH("gradient of softmax", a, b, N, softmax_slope, x, labels, 8);
    }
}

/* Two steps with a scratch array, a value and random words. */
TEST(update) {
    enum { N = 1500 };
    static float w[2][N], g[N];
    for (int t = 0; t < 30; t += (int)thinned(6)) {
        const ulp_format f = named(t % 3 == 0 ? "q4.12" : t % 3 == 1 ? "bf16" : "fp32"), single = named("fp32");
        for (size_t i = 0; i < N; i++) {
            w[0][i] = w[1][i] = (float)ulp_round(below(1000) / 256.0, &f, (ulp_rule){0}, 0);
            g[i] = (float)(below(1000) - 500) / 512.0f;
        }
        for (int side = 0; side < 2; side++) {
            const ulp_operand scratch = {.kind = ULP_OPERAND_SCRATCH, .slot = 2},
                              gradient = {.kind = ULP_OPERAND_ARRAY, .at = g},
                              weight = {.kind = ULP_OPERAND_ARRAY, .at = w[side]},
                              rate = {.kind = ULP_OPERAND_VALUE, .value = -0.1f},
                              scale = {.kind = ULP_OPERAND_VALUE, .value = 0.125f};
            const ulp_update_step step[] = {{.op = ULP_MUL, .y = scratch, .a = gradient, .b = scale, .format = single},
                                            {.op = ULP_STEP_ROUND,
                                             .y = scratch,
                                             .a = scratch,
                                             .format = f,
                                             .rule = rule_of(ULP_SRB, 0, 9),
                                             .stream = {3, 4, 5}},
                                            {.op = ULP_FUSED,
                                             .y = weight,
                                             .a = rate,
                                             .b = scratch,
                                             .c = weight,
                                             .format = f,
                                             .rule = rule_of(t % ULP_MODE_COUNT, 0, 0),
                                             .stream = {1, 2, 3}}};
            assert_ok(ulp_backend_update(side ? cpu : mpfr, step, 3, N));
        }
        same_arrays("update", w[0], w[1], N);
    }
}

TESTS(find_pair, NULL)
