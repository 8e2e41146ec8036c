/* t_scaled.c - rounding with just-in-time and delayed tensor scales in a training pass, against formats/scale.h. */

#include "formats/scale.h"
#include "sim/normal.h"
#include "training.h"

enum { N = 999 };

static void values(float *x, double spread, uint64_t stream) {
    for (size_t i = 0; i < N; i++) x[i] = (float)(spread * ulp_random_normal((ulp_stream){3, stream, 0}, i));
}

/* A pass whose activations have the cast of a text; its backend memory is host memory. */
typedef struct bench {
    ulp_policy policy;
    ulp_pass pass;
    double wide[N]; /* the backend's part of the scratch */
} bench;

static void start(bench *t, const char *text) {
    ulp_pass_release(&t->pass); /* the pass of the previous case */
    memset(t, 0, sizeof *t);
    assert_ok(ulp_policy_parse(&t->policy, text, &error));
    assert_ok(ulp_backend_get(&t->pass.run.backend, "cpu"));
    t->pass.run.policy = &t->policy;
    t->pass.scratch.wide = t->wide;
    assert_ok(ulp_pass_alloc(&t->pass, N, 2));
    t->pass.run.seed = 7;
}

static const ulp_site activations = {.use = ULP_AT_ACT, .layer = 1};

/* Check that `got` is x rounded with the tensor scale that formats/scale.h defines for `amax`. */
static void expect(const float *got, const float *x, float amax, const bench *t, const ulp_pass *pass) {
    const ulp_cast *cast = &t->policy.at[ULP_AT_ACT];
    ulp_scaling s = ulp_scaling_of(amax, &cast->format, ULP_SCALING_POWER2);
    ulp_stream stream = {pass->run.seed, ulp_stream_id(ULP_AT_ACT, pass->now.evaluation, 1, pass->now.step), 0};
    static float want[N];
    const ulp_scaled_array array = {1, N, ULP_PER_TENSOR, &cast->format, &s};
    assert_ok(ulp_scaling_round(want, x, array, cast->rule, stream));
    for (size_t i = 0; i < N; i++) {
        if (ulp_bits32(want[i]) == ulp_bits32(got[i])) continue;
        fail_msg("%s: element %zu: %a: got %a, want %a", cast->format.name, i, (double)x[i], (double)got[i],
                 (double)want[i]);
    }
}

TEST(just_in_time) {
    static const char *const texts[] = {"act=e4m3@amax",    "act=e5m2@amax/rz", "act=e4m3@amax/sr/7",
                                        "act=e2m1@amax/ro", "act=fp16@amax",    "act=e4m3@amax/srb"};
    static bench t;
    float x[N], y[N];
    double exact[N];
    for (size_t k = 0; k < COUNT_OF(texts); k++)
        for (int e = -30; e <= 30; e += 3) {
            start(&t, texts[k]);
            values(x, ldexp(1.0, e), (uint64_t)(e + 100));
            if (e % 2) x[5] = INFINITY, x[N - 1] = NAN; /* Inf and NaN do not affect the scale */
            memcpy(y, x, sizeof x);
            assert_ok(ulp_pass_round(&t.pass, activations, y, N));
            expect(y, x, ulp_amax(x, N, 1), &t, &t.pass);
            for (size_t i = 0; i < N; i++) exact[i] = (double)x[i];
            assert_ok(ulp_pass_round_host(&t.pass, activations, y, exact, N));
            expect(y, x, ulp_amax(x, N, 1), &t, &t.pass);
            assert_ok(ulp_pass_round64(&t.pass, activations, y, exact, N));
            expect(y, x, ulp_amax(x, N, 1), &t, &t.pass);
        }
}

static void count_observed(void *context, const ulp_observation *observed) { *(size_t *)context += observed->n; }

/* Rounding from binary64 in backend memory and in host memory has the same bits, counters and observations. */
TEST(from) {
    static const char *const texts[] = {
        "fp32", "fp16", "bf16", "act=e4m3@amax", "act=e5m2/sr/9", "act=q4.4", "act=e4m3@delayed2"};
    static bench host, device;
    static double x[N];
    float want[N], got[N];
    for (size_t k = 0; k < 2 * COUNT_OF(texts); k++) {
        size_t seen[2] = {0, 0};
        const ulp_observer at_host = {count_observed, &seen[0], 1u << ULP_AT_ACT},
                           at_device = {count_observed, &seen[1], 1u << ULP_AT_ACT};
        start(&host, texts[k / 2]);
        start(&device, texts[k / 2]);
        host.pass.now.counting = device.pass.now.counting = 1;
        host.pass.now.observer = k % 2 ? &at_host : NULL;
        device.pass.now.observer = k % 2 ? &at_device : NULL;
        for (host.pass.now.step = device.pass.now.step = 0; host.pass.now.step < 4;
             host.pass.now.step++, device.pass.now.step++) {
            ulp_pass_begin(&host.pass);
            ulp_pass_begin(&device.pass);
            for (size_t i = 0; i < N; i++)
                x[i] = ulp_random_normal((ulp_stream){5, host.pass.now.step, 0}, i) * ldexp(1.0, (int)(i % 60) - 40);
            x[17] = host.pass.now.step % 2 ? INFINITY : 1e300;
            const ulp_site site = ulp_site_of(ULP_AT_ACT, 1, 3);
            assert_ok(ulp_pass_round_host(&host.pass, site, want, x, N));
            assert_ok(ulp_pass_round64(&device.pass, site, got, x, N));
            assert_memory_equal(want, got, sizeof want);
            assert_memory_equal(&host.pass.counts, &device.pass.counts, sizeof host.pass.counts);
        }
        assert_true(seen[0] == seen[1] && seen[0] == (k % 2 ? 4 * N : 0));
        assert_true(k / 2 == 0 || host.pass.counts.rounded[ULP_AT_ACT].count == N);
        assert_int_equal(host.pass.counts.all[ULP_AT_ACT].count, N);
    }
}

/* The tensor scale of a step comes from the largest magnitude of the last three steps; evaluations change nothing. */
TEST(delayed) {
    static const double spread[] = {1, 64, 1, 1, 1, 1, 1024, 1.0 / 64, 1, 1, 1, 1};
    static bench t;
    float x[N], y[N], past[COUNT_OF(spread)], most;
    start(&t, "act=e4m3@delayed3");
    for (size_t step = 0; step < COUNT_OF(spread); step++) {
        t.pass.now.step = step;
        t.pass.now.evaluation = 0;
        ulp_pass_begin(&t.pass);
        values(x, spread[step], step);
        past[step] = most = ulp_amax(x, N, 1);
        if (step) most = 0.0f;
        for (size_t back = 1; back <= 3 && back <= step; back++) most = fmaxf(most, past[step - back]);
        memcpy(y, x, sizeof x);
        assert_ok(ulp_pass_round(&t.pass, activations, y, N));
        expect(y, x, most, &t, &t.pass);
        t.pass.now.evaluation = 1;
        values(x, 4096, 99);
        memcpy(y, x, sizeof x);
        assert_ok(ulp_pass_round(&t.pass, activations, y, N));
        expect(y, x, step ? most : ulp_amax(x, N, 1), &t, &t.pass);
    }
}

/* A sum of two tensors is rounded once, although its scale depends on the sums: a part far below binary64 decides a
 * tie.
 */
TEST(sum) {
    static const char *const texts[] = {"act=fp16@amax", "act=e4m3@amax/rz", "act=bf16@amax/sr/7", "act=fp16@delayed2"};
    static bench t;
    float a[N], b[N], sum[N], y[N];
    for (size_t k = 0; k < 2 * COUNT_OF(texts); k++) {
        size_t seen = 0;
        const ulp_observer observer = {count_observed, &seen, 1u << ULP_AT_ACT};
        start(&t, texts[k / 2]);
        t.pass.now.B = N;
        t.pass.now.observer = k % 2 ? &observer : NULL;
        values(a, 8, k), values(b, 1, k + 50);
        if (k % 4 == 3) a[5] = INFINITY, b[7] = NAN;
        a[0] = 1.0f + 0x1p-11f, b[0] = 0x1p-100f; /* just above a tie of fp16 */
        a[1] = 1.0f + 0x1p-11f, b[1] = -0x1p-100f;
        for (size_t i = 0; i < N; i++) sum[i] = a[i] + b[i];
        assert_ok(ulp_pass_add(&t.pass, ulp_site_of(ULP_AT_ACT, 1, 1), y, a, b));
        assert_true(seen == (k % 2 ? N : 0));
        const ulp_cast *cast = &t.policy.at[ULP_AT_ACT];
        const double scale = (double)ulp_scaling_of(ulp_amax(sum, N, 1), &cast->format, ULP_SCALING_POWER2).scale;
        const ulp_stream stream = {7, ulp_stream_id(ULP_AT_ACT, 0, 1, 0), 0};
        for (size_t i = 0; i < N; i++) {
            const double exact = ulp_sum_to_odd((double)a[i], (double)b[i]) * scale;
            const float want = (float)(ulp_round(exact, &cast->format, cast->rule, ulp_random_word(stream, i)) / scale);
            if (ulp_bits32(y[i]) != ulp_bits32(want) && !(isnan(y[i]) && isnan(want)))
                fail_msg("%s: %a + %a: %a, not %a", texts[k / 2], (double)a[i], (double)b[i], (double)y[i],
                         (double)want);
        }
    }
    ulp_pass_release(&t.pass);
}

/* Texts to policies and back, and refused texts. */
TEST(text) {
    static const char *const bad[] = {
        "act=e4m3@",    "act=e4m3@delayed0", "act=e4m3@delayed2000",         "act=e4m3@delayed3x",
        "act=e4m3@max", "state=e4m3@amax",   "weight=e4m3@amax,master=none", "loss=fp16@delayed"};
    ulp_policy p, q;
    char text[ULP_POLICY_TEXT_MAX], again[ULP_POLICY_TEXT_MAX];
    assert_ok(ulp_policy_parse(&p, "mixed:fp16,weight=e4m3@amax,act=e4m3@delayed,agrad=e5m2@delayed7/sr/8,wgrad=e5m2",
                               &error));
    assert_int_equal(p.at[ULP_AT_ACT].history, 16);
    assert_int_equal(p.at[ULP_AT_AGRAD].history, 7);
    assert_ok(ulp_policy_print(text, sizeof text, &p));
    assert_non_null(strstr(text, "weight=e4m3@amax/rne"));
    assert_non_null(strstr(text, "agrad=e5m2@delayed7/sra/8"));
    assert_ok(ulp_policy_parse(&q, text, &error));
    assert_ok(ulp_policy_print(again, sizeof again, &q));
    assert_string_equal(text, again);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ulp_error_clear(&error);
        assert_int_not_equal(ulp_policy_parse(&q, bad[i], &error), ULP_OK);
        assert_true(strlen(error.text) > 10);
    }
}

/* Training on the digits succeeds in FP8 with tensor scales, and fails with gradients in e4m3 without a scale. */
TEST(training) {
    static const char *const policies[] = {"mixed:e4m3@amax", "mixed:e4m3@delayed", "mixed:e4m3", "fp32"};
    double accuracy[4];
    for (int i = 0; i < 4; i++) {
        training_texts o = {"fc64 relu fc64 relu fc10", policies[i], .optimizer = "sgd,rate=0.1,momentum=0.9",
                            .batch = 128, .seed = 1};
        ulp_trainer *t = trainer_of(&digits, &o);
        ulp_score score;
        for (int step = 0; step < 150; step++) assert_ok(ulp_trainer_step(t, NULL));
        assert_ok(ulp_trainer_score(t, ULP_TEST_PART, &score));
        ulp_trainer_free(t);
        accuracy[i] = score.accuracy;
        print_message("%s: %.4f\n", policies[i], accuracy[i]);
    }
    assert_true(accuracy[0] > accuracy[3] - 0.02 && accuracy[1] > accuracy[3] - 0.02);
    assert_true(accuracy[2] < accuracy[3] - 0.03);
}

TESTS(load_digits, free_digits)
