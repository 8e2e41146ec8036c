/* t_scaler.c - logmax against its definition; loss scales per layer: exactness, place of an overflow, and benefit. */

#include "formats/rng.h"
#include "training.h"

static ulp_scaler scaler_of(const char *text) {
    ulp_scaler s;
    if (scaler_from_text(&s, text, &error) != ULP_OK) fail_msg("%s: %s", text, error.text);
    return s;
}

/* ---- logmax ---- */

enum { STEPS = 400 };

/* log2 of the scale by the definition: weighted means of x[0..n-1]. */
static double plain_log2(const double *x, int n, double beta1, double beta2, double log_max, double deviations) {
    double mean = 0, slow = 0, square = 0, sum1 = 0, sum2 = 0;
    for (int i = 0; i < n; i++) {
        double w1 = pow(beta1, n - 1 - i), w2 = pow(beta2, n - 1 - i);
        mean += w1 * x[i], slow += w2 * x[i], square += w2 * x[i] * x[i];
        sum1 += w1, sum2 += w2;
    }
    double variance = square / sum2 - slow / sum2 * (slow / sum2);
    return log_max - (mean / sum1 + deviations * sqrt(variance > 0 ? variance : 0));
}

/* Check logmax on gradients of changing size; every 29th step overflows, and every 31st step has only zeros. */
static void check_logmax(const char *text, double beta1, double beta2, double log_max, double deviations, int min,
                         int max) {
    ulp_scaler s = scaler_of(text);
    double x[STEPS];
    int n = 0, moved = 0, before = s.log2, clipped = 0;
    for (int i = 0; i < STEPS; i++) {
        double size =
            -4.0 - 6.0 * (double)i / (double)STEPS + 5.0 * ulp_random_uniform((ulp_stream){1, 2, 0}, (uint64_t)i);
        float largest = i % 29 == 28 ? (i % 2 ? INFINITY : NAN) : i % 31 == 30 ? 0.0f : (float)exp2(size + s.log2);
        if (!isfinite(largest)) x[n++] = log_max;
        else if (largest > 0.0f) x[n++] = log2((double)largest) - s.log2;
        assert_int_equal(ulp_scaler_update(&s, largest), !isfinite(largest));
        double want = plain_log2(x, n, beta1, beta2, log_max, deviations);
        assert_true(fabs(want - round(want)) > 1e-9); /* else rounding errors could change the floor */
        want = floor(want);
        clipped += want < min || want > max;
        assert_int_equal(s.log2, want < min ? min : want > max ? max : (int)want);
        moved += s.log2 != before;
        before = s.log2;
    }
    assert_int_equal(s.overflows, STEPS / 29);
    assert_int_equal(s.skipped, s.overflows);
    assert_true(s.grown + s.backed == (uint64_t)moved && s.grown > 3 && s.backed > 3);
    assert_true(clipped == 0 || clipped > 3);
}

TEST(logmax) {
    check_logmax("logmax", 0.99, 0.999, 16, 3.09, 0, 24);
    check_logmax("logmax,log_max=12,overflow_std_dev=1.5,beta1=0.9,beta2=0.95,min=-3,max=11", 0.9, 0.95, 12, 1.5, -3,
                 11);
    ulp_scaler s = scaler_of("logmax");
    assert_int_equal(s.log2, 0);
    /* a constant gradient: sigma is 0 except for rounding errors. The scale brings the gradient below 2^16; its maximum
     * is 2^24 */
    for (int i = 0; i < 50; i++) ulp_scaler_update(&s, ldexpf(1.4142135f, 3 + s.log2));
    assert_int_equal(s.log2, 12);
    s = scaler_of("logmax");
    for (int i = 0; i < 50; i++) ulp_scaler_update(&s, ldexpf(1.4142135f, -20 + s.log2));
    assert_int_equal(s.log2, 24);
    for (int i = 0; i < 500; i++) ulp_scaler_update(&s, INFINITY);
    assert_int_equal(s.log2, 0);
}

TEST(bad_texts) {
    static const char *const bad[][2] = {
        {"logmax,interval=3", "no key 'interval'; known: init, min, max, skip, log_max, overflow_std_dev"},
        {"logmax,hysteresis=2", "scaler logmax: no key 'hysteresis'"},
        {"logmax,beta1=1", "'beta1=1': beta1 is a number from 0 to 0.9999999"},
        {"logmax,beta2=-0.1", "'beta2=-0.1'"},
        {"logmax,log_max=127", "'log_max=127'"},
        {"logmax,min=1", "init 0 is not between min 1 and max 24"},
        {"logmax,overflow_std_dev=101", "'overflow_std_dev=101'"},
        {"pytorch,beta1=0.5", "no key 'beta1'"},
        {"layer,log_max=3", "no key 'log_max'"},
        {"layer,init=63", "'init=63': init is a whole number from -62 to 62"},
        {"layer,max=63", "'max=63'"},
        {"layer,min=-63", "'min=-63'"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ulp_scaler s;
        assert_int_equal(scaler_from_text(&s, bad[i][0], &error), ULP_BAD_NAME);
        if (!strstr(error.text, bad[i][1])) fail_msg("%s: %s", bad[i][0], error.text);
    }
    assert_int_equal(scaler_of("layer,init=-62,max=62,interval=3,hysteresis=2").rule.hysteresis, 2);
}

/* ---- a scale for every layer ---- */

/* The sums of an observer over unscaled gradients, which are exactly comparable between runs in binary32. */
typedef struct watch {
    uint64_t sum, seen, scaled;
} watch;

static void see(void *context, const ulp_observation *s) {
    watch *w = context;
    for (size_t i = 0; i < s->n; i++) {
        float x = ldexpf(s->rounded[i], -s->scale_log2);
        assert_true(s->raw[i] == s->rounded[i]);
        w->sum = (w->sum ^ ulp_bits32(x)) * 0x100000001b3u + s->layer * 7 + s->point;
    }
    w->seen++;
    w->scaled += s->scale_log2 != 0;
}

/* Train for a number of steps; scales per layer are changed between the steps. */
static void train(const char *net, const char *optimizer, const char *scaler, float *w, watch *watched) {
    ulp_observer observer = {see, watched, 1u << ULP_AT_AGRAD | 1u << ULP_AT_WGRAD};
    training_texts o = {
        .net = net, .scaler = scaler, .optimizer = optimizer, .batch = 32, .seed = 3, .observer = &observer};
    ulp_trainer *t = trainer_of(&digits, &o);
    ulp_step step;
    for (int i = 0; i < 40; i++) {
        for (size_t k = 0; k < t->loss_scales.count; k++)
            t->loss_scales.layer[k].log2 = (int)((k * 37 + (size_t)i * 23) % 41) - 20;
        assert_ok(ulp_trainer_step(t, &step));
        assert_true((step.layer_scale != NULL) == (t->loss_scales.count > 0));
        for (size_t k = 0; k < t->loss_scales.count; k++) {
            if (t->model.net.layers[k].params)
                assert_int_equal(step.layer_scale[k], (int)((k * 37 + (size_t)i * 23) % 41) - 20);
            else assert_int_equal(step.layer_scale[k], step.layer_scale[k ? k - 1 : 1]);
        }
        if (t->loss_scales.count) assert_int_equal(step.scale_log2, step.layer_scale[t->model.net.count - 1]);
    }
    assert_ok(ulp_trainer_weights(t, w, NULL));
    ulp_trainer_free(t);
}

/* In binary32, powers of two commute with every operation. So the weights are those of a run without scale, bit for
 * bit, and so are the unscaled gradients. */
TEST(exact) {
    static const char *const nets[] = {
        "fc20 tanh fc15 relu fc12 fc10", "tanh fc12 tanh tanh fc10 tanh", "rows gru7 lstm6 rnn5 last fc10",
        "conv3@3p1 bn relu pool2 fork conv3@3p1 bn relu fork conv3@3p1 join conv3@3p1 join pool2 fc10",
        "fork conv1@3p1 tanh join fork tanh join fork fork conv1@3p1 join join fc10"};
    static const char *const optimizers[] = {"sgd,rate=0.1,momentum=0.9,decay=0.001", "adam,rate=0.01"};
    static float plain[12000], scaled[12000];
    for (size_t k = 0; k < 2 * COUNT_OF(nets); k++) {
        watch a = {0}, b = {0};
        memset(plain, 0, sizeof plain);
        memset(scaled, 0, sizeof scaled);
        train(nets[k / 2], optimizers[k % 2], "none", plain, &a);
        train(nets[k / 2], optimizers[k % 2], "layer", scaled, &b);
        assert_memory_equal(plain, scaled, sizeof plain);
        assert_true(a.sum == b.sum && a.seen == b.seen && a.scaled == 0 && b.scaled > b.seen / 2);
        assert_true(scaled[0] != 0.0f);
    }
}

static ulp_status round_in_place(ulp_pass *pass, ulp_site site, float *x, const double *exact, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = (float)exact[i];
    return ulp_pass_round(pass, site, x, n);
}

/* A tensor between two scales is first multiplied by the quotient of the scales; other tensors are not. This holds for
 * all kinds of rounding. */
TEST(rescale) {
    static const int scales[] = {3, -2, 40};
    float x[4];
    double wide[4], exact[4];
    ulp_policy policy;
    ulp_pass pass = {.run = {.policy = &policy},
                     .now = {.scales = {.log2 = 9, .layer = scales, .layers = 3}},
                     .scratch = {.wide = wide}};
    assert_ok(ulp_backend_get(&pass.run.backend, "cpu"));
    assert_ok(ulp_policy_parse(&policy, "fp32", NULL));
    assert_ok(ulp_pass_alloc(&pass, 4, 4));
    ulp_status (*const kinds[])(ulp_pass *, ulp_site, float *, const double *,
                                size_t) = {round_in_place, ulp_pass_round_host, ulp_pass_round64};
    for (int round = 0; round < 6; round++)
        for (size_t layer = 0; layer < 4; layer++)
            for (uint32_t point = ULP_AT_WGRAD; point <= ULP_AT_AGRAD; point++) {
                const ulp_site site = ulp_site_of(point, layer, 2);
                int by = point == ULP_AT_WGRAD || layer == 0 || layer == 3 ? 0 : layer == 1 ? 5 : -42;
                if (point == ULP_AT_WGRAD && layer == 3) continue;
                assert_ok(ulp_policy_parse(&policy, round < 3 ? "fp16" : "fp32", NULL));
                for (int i = 0; i < 4; i++) exact[i] = ldexp(1.0 + i / 16.0, 9 * i - 27);
                assert_ok(kinds[round % 3](&pass, site, x, exact, 4));
                for (int i = 0; i < 4; i++)
                    assert_true((double)x[i] == ulp_round(ldexp(1.0 + i / 16.0, 9 * i - 27 + by),
                                                          &policy.at[point].format, (ulp_rule){0}, 0));
                int want = point == ULP_AT_WGRAD ? scales[layer] : scales[layer ? layer - 1 : 0];
                assert_int_equal(ulp_pass_scale(&pass, &site), want);
            }
    const ulp_site activation = ulp_site_of(ULP_AT_ACT, 1, 2);
    assert_int_equal(ulp_pass_scale(&pass, &activation), 9);
    assert_int_equal(ulp_pass_scale_between(&pass, 2, 0), -37);
    ulp_pass_release(&pass);
}

/* Check the scalers of a net with three layers with parameters after one step with these bad gradients. */
static void check_blame(int bad_wgrad, int bad_grad, const int *want, const uint32_t *good) {
    ulp_model model = {0};
    ulp_pass pass = {.now = {.B = 2}};
    ulp_gradient_check check;
    ulp_loss_scales s;
    ulp_scaler scaler = scaler_of("layer,init=5,interval=2");
    float memory[7][8], *grad[7], wgrad[64];
    int bad = bad_wgrad >= 0 || bad_grad > 1;
    assert_ok(ulp_net_parse(&model.net, "relu fc2 relu fc3 fc2 relu", (ulp_dims){2, 1, 1}, &error));
    assert_ok(ulp_backend_get(&pass.run.backend, "cpu"));
    assert_ok(ulp_loss_scales_start(&s, &scaler, &model.net));
    assert_int_equal(s.spans, 3);
    for (int i = 0; i < 7; i++) {
        grad[i] = memory[i];
        for (int k = 0; k < 8; k++) memory[i][k] = i == bad_grad && k == 3 ? INFINITY : 0.5f;
    }
    for (size_t i = 0; i < 64; i++) wgrad[i] = 0.25f;
    if (bad_wgrad >= 0) wgrad[model.net.layers[bad_wgrad].first_param + model.net.layers[bad_wgrad].params - 1] = NAN;
    model.grad = grad;
    model.wgrad = wgrad;
    pass.now.scales = ulp_loss_scales_begin(&s, &scaler);
    assert_true(pass.now.scales.log2 == 5 && s.span[1].first == model.net.layers[3].first_param && s.span[1].n == 9 &&
                s.span[1].scale_log2 == 5);
    assert_ok(ulp_loss_scales_end(&s, &scaler, &pass, &model, &check));
    assert_int_equal(check.overflow, bad);
    assert_int_equal(check.skip, bad);
    assert_int_equal(scaler.skipped, bad);
    for (int i = 0; i < 3; i++) {
        static const int owner[] = {1, 3, 4};
        assert_int_equal(s.layer[owner[i]].log2, want[i]);
        assert_int_equal(s.layer[owner[i]].good, good[i]);
    }
    assert_int_equal(scaler.log2, want[2]);
    assert_int_equal(scaler.backed, bad);
    ulp_loss_scales_release(&s);
    ulp_net_release(&model.net);
}

TEST(blame) {
    /* layers: 0 relu, 1 fc2, 2 relu, 3 fc3, 4 fc2, 5 relu; tensor i is the input of layer i, and its gradient has the
     * scale of layer i - 1 */
    check_blame(-1, -1, (const int[]){5, 5, 5}, (const uint32_t[]){1, 1, 1});
    /* the layers before layer 4 do not count this step */
    check_blame(4, -1, (const int[]){5, 5, 4}, (const uint32_t[]){0, 0, 0});
    check_blame(3, -1, (const int[]){5, 4, 5}, (const uint32_t[]){0, 0, 1});
    check_blame(1, -1, (const int[]){4, 5, 5}, (const uint32_t[]){0, 1, 1});
    check_blame(-1, 6, (const int[]){5, 5, 4}, (const uint32_t[]){0, 0, 0});
    check_blame(-1, 5, (const int[]){5, 5, 4}, (const uint32_t[]){0, 0, 0});
    check_blame(-1, 4, (const int[]){5, 4, 5}, (const uint32_t[]){0, 0, 1});
    check_blame(-1, 3, (const int[]){4, 5, 5}, (const uint32_t[]){0, 1, 1});
    check_blame(-1, 2, (const int[]){4, 5, 5}, (const uint32_t[]){0, 1, 1});
    check_blame(-1, 1, (const int[]){5, 5, 5}, (const uint32_t[]){1, 1, 1}); /* no layer before it has weights */
}

/* If the scale of one layer is far too large, only this scale is reduced, and training succeeds. */
TEST(backs_off) {
    training_texts o = {"fc24 relu fc20 relu fc10", "mixed:fp16", "layer,init=4", "sgd", .batch = 32, .seed = 1};
    ulp_trainer *t = trainer_of(&digits, &o);
    t->loss_scales.layer[2].log2 = 30;
    for (int i = 0; i < 30; i++) assert_ok(ulp_trainer_step(t, NULL));
    assert_true(t->loss_scales.layer[2].log2 < 28 && t->loss_scales.layer[0].log2 == 4 &&
                t->loss_scales.layer[4].log2 == 4);
    assert_true(t->scaler.skipped == (uint64_t)(30 - t->loss_scales.layer[2].log2) &&
                t->scaler.backed == t->scaler.skipped);
    assert_true(t->loss_scales.layer[4].overflows == 0 && t->loss_scales.layer[0].overflows == 0);
    ulp_trainer_free(t);
}

/* The percentage of gradients that a rounding made zero, over the last 100 of 300 steps. */
static double flushed(const char *policy, const char *scaler, double *accuracy) {
    training_texts o = {"fc48 relu fc48 relu fc48 relu fc10",
                        policy,
                        scaler,
                        "sgd,rate=0.1,momentum=0.9",
                        .batch = 64,
                        .seed = 1,
                        .counting = 1};
    ulp_trainer *t = trainer_of(&digits, &o);
    ulp_step step;
    ulp_score score;
    uint64_t zero = 0, all = 0;
    for (int i = 0; i < 300; i++) {
        assert_ok(ulp_trainer_step(t, &step));
        if (i < 200 || step.skipped) continue;
        zero += step.agrad.underflow + step.wgrad.underflow;
        all += step.agrad.count + step.wgrad.count;
    }
    assert_ok(ulp_trainer_score(t, ULP_TEST_PART, &score));
    *accuracy = 100 * score.accuracy;
    print_message("%s, %s: %.3f %% flushed, test %.2f %%\n", policy, scaler, 100 * (double)zero / (double)all,
                  *accuracy);
    ulp_trainer_free(t);
    return 100 * (double)zero / (double)all;
}

TEST(flushed) {
    double accuracy;
    double none = flushed("mixed:fp16", "none", &accuracy),
           layer = flushed("mixed:fp16", "layer,interval=20", &accuracy);
    assert_true(layer < none / 2 && accuracy > 93.0);
    double log = flushed("mixed:fp16", "logmax", &accuracy);
    assert_true(log < none / 2 && accuracy > 93.0);
    /* on so small a net the gain over one dynamic scale is small; only the narrowest format shows a gain */
    double one = flushed("mixed:fp16,agrad=e4m3,wgrad=e4m3", "pytorch,interval=20", &accuracy);
    assert_true(flushed("mixed:fp16,agrad=e4m3,wgrad=e4m3", "layer,interval=20", &accuracy) < one);
}

TESTS(load_digits, free_digits)
