/* t_train.c - training: fp32 against plain C loops, rounding points, determinism, accuracy. */

#include "training.h"

/* ---- policy fp32 is plain float32 training: fused multiply-adds, k ascending ---- */

typedef struct plain {
    float w[64 * 20 + 20 + 20 * 10 + 10], v[64 * 20 + 20 + 20 * 10 + 10], g[64 * 20 + 20 + 20 * 10 + 10];
} plain;

enum { M = 64, H = 20, C = 10, N = 24 };

static void plain_dense(float *y, const float *x, const float *w, int m, int n) {
    for (int b = 0; b < N; b++)
        for (int j = 0; j < n; j++) {
            float sum = fmaf(1.0f, w[m * n + j], 0.0f);
            for (int i = 0; i < m; i++) sum = fmaf(x[b * m + i], w[i * n + j], sum);
            y[b * n + j] = sum;
        }
}

static void plain_dense_back(float *g, float *dx, const float *dy, const float *x, const float *w, int m, int n) {
    for (int i = 0; i <= m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int b = 0; b < N; b++) sum = fmaf(i < m ? x[b * m + i] : 1.0f, dy[b * n + j], sum);
            g[i * n + j] = sum;
        }
    for (int b = 0; dx && b < N; b++)
        for (int i = 0; i < m; i++) {
            float sum = 0.0f;
            for (int j = 0; j < n; j++) sum = fmaf(dy[b * n + j], w[i * n + j], sum);
            dx[b * m + i] = sum;
        }
}

static void plain_step(plain *p, const float *x, const uint8_t *label) {
    static float h[N * H], z[N * C], dz[N * C], dh[N * H];
    float *w2 = p->w + M * H + H;
    plain_dense(h, x, p->w, M, H);
    for (int i = 0; i < N * H; i++) h[i] = (float)ulp_tanh((double)h[i]);
    plain_dense(z, h, w2, H, C);
    for (int b = 0; b < N; b++) {
        double e[C], sum = 0.0, max = (double)z[b * C];
        for (int c = 1; c < C; c++) max = fmax(max, (double)z[b * C + c]);
        for (int c = 0; c < C; c++) sum += e[c] = ulp_exp((double)z[b * C + c] - max);
        for (int c = 0; c < C; c++)
            dz[b * C + c] = (float)(((double)(float)(e[c] / sum) - (c == label[b])) / (double)N);
    }
    plain_dense_back(p->g + M * H + H, dh, dz, h, w2, H, C);
    for (int i = 0; i < N * H; i++) dh[i] = (float)((double)dh[i] * (1.0 - (double)h[i] * (double)h[i]));
    plain_dense_back(p->g, NULL, dh, x, p->w, M, H);
    for (size_t i = 0; i < sizeof p->w / sizeof *p->w; i++) {
        float g = fmaf(0.001f, p->w[i], p->g[i]);
        p->v[i] = fmaf(0.9f, p->v[i], g);
        p->w[i] = fmaf(-0.1f, p->v[i], p->w[i]);
    }
}

TEST(fp32_is_plain) {
    static plain p;
    static float x[N * M], w[COUNT_OF(p.w)];
    training_texts o = {
        .net = "fc20 tanh fc10", .optimizer = "sgd,rate=0.1,momentum=0.9,decay=0.001", .batch = N, .seed = 4};
    ulp_trainer *t = trainer_of(&digits, &o);
    memset(&p, 0, sizeof p);
    assert_ok(ulp_trainer_weights(t, p.w, NULL));
    for (int i = 0; i < 70; i++) { /* up to the second epoch */
        assert_ok(ulp_trainer_step(t, NULL));
        assert_ok(t->pass.run.backend->download(x, t->model.tensor[0], sizeof x));
        plain_step(&p, x, t->label);
        assert_ok(ulp_trainer_weights(t, w, NULL));
        assert_memory_equal(w, p.w, sizeof w);
    }
    ulp_trainer_free(t);
}

/* ---- rounding points ---- */

typedef struct watch {
    const ulp_policy *policy;
    size_t counted[ULP_AT_COUNT], changed[ULP_AT_COUNT], elements[ULP_AT_COUNT], zeros[ULP_AT_COUNT];
    int scale;
} watch;

/* Check that every value after a point is a value of its format, and is the raw value rounded once. */
static void see(void *context, const ulp_observation *s) {
    watch *w = context;
    const ulp_cast *cast = &w->policy->at[s->point];
    w->counted[s->point]++;
    w->scale = s->scale_log2;
    for (size_t i = 0; i < s->n; i++) {
        double want = ulp_round((double)s->raw[i], &cast->format, cast->rule, 0);
        w->changed[s->point] += s->raw[i] != s->rounded[i];
        /* softmax and its gradient are rounded from binary64; raw is the binary64 value rounded to binary32 */
        if (s->point == ULP_AT_LOSS || (s->point == ULP_AT_AGRAD && s->layer == 3))
            want = ulp_round((double)s->rounded[i], &cast->format, cast->rule, 0);
        assert_true(want == (double)s->rounded[i] || want != want);
    }
}

static void sum_up(void *context, const ulp_observation *s) {
    watch *w = context;
    w->elements[s->point] += s->n;
    for (size_t i = 0; i < s->n; i++) w->zeros[s->point] += s->rounded[i] == 0.0f;
}

/* The counts of a pass are those of an observer that reads every array, for roundings from binary32 and from binary64,
 * exact sums, exact operations, formats with a tensor scale, and binary32. */
TEST(tallies) {
    static const char *const policies[] = {"fp32", "mixed:fp16", "mixed:fp16,agrad=e4m3,wgrad=e4m3,act=e5m2/sr/8",
                                           "mixed:bf16,agrad=e4m3@amax,wgrad=e5m2:sat@delayed3"};
    static const char *const nets[] = {"conv3@3 bn relu pool2 fork conv3@1 relu join drop20 fc10",
                                       "rows gru5 last tanh fc10"};
    for (size_t i = 0; i < 8; i++) {
        watch w = {0};
        ulp_observer observer = {sum_up, &w, (1u << ULP_AT_COUNT) - 1};
        training_texts o = {nets[i % 2], policies[i / 2], "static:-12",         .batch = 16,
                            .seed = 1,   .counting = 1,   .observer = &observer};
        ulp_trainer *t = trainer_of(&digits, &o);
        ulp_step step;
        assert_ok(ulp_trainer_step(t, &step));
        assert_true(step.agrad_all.count == w.elements[ULP_AT_AGRAD] && w.zeros[ULP_AT_AGRAD] > 0);
        assert_int_equal(step.agrad_all.zero, w.zeros[ULP_AT_AGRAD]);
        assert_int_equal(step.wgrad_all.count, w.elements[ULP_AT_WGRAD]);
        assert_int_equal(step.wgrad_all.zero, w.zeros[ULP_AT_WGRAD]);
        assert_int_equal(t->pass.counts.all[ULP_AT_ACT].zero, w.zeros[ULP_AT_ACT]);
        assert_true(i < 2 ? step.agrad.count == 0 : step.agrad.zero > 0 && step.agrad.zero <= step.agrad_all.zero);
        ulp_trainer_free(t);
    }
}

TEST(points) {
    ulp_policy policy;
    watch w = {.policy = &policy};
    ulp_observer observer = {see, &w, (1u << ULP_AT_COUNT) - 1};
    training_texts o = {"fc16 relu fc10", "fp16,acc=fp32,wgrad=e5m2,agrad=e4m3,loss=bf16",
                        "static:7",       "sgd,rate=0.1,momentum=0.9,decay=0.001",
                        .batch = 32,      .seed = 1,
                        .counting = 1,    .observer = &observer};
    assert_ok(ulp_policy_parse(&policy, o.policy, &error));
    ulp_trainer *t = trainer_of(&digits, &o);
    ulp_step step;
    for (int i = 0; i < 5; i++) assert_ok(ulp_trainer_step(t, &step));
    assert_int_equal(w.counted[ULP_AT_ACT], 5 * 4);   /* input, fc16, relu, fc10 */
    assert_int_equal(w.counted[ULP_AT_AGRAD], 5 * 3); /* loss, fc10's input, relu's input */
    assert_int_equal(w.counted[ULP_AT_WGRAD], 5 * 2);
    assert_int_equal(w.counted[ULP_AT_LOSS], 5 * 2);
    assert_true(w.changed[ULP_AT_ACT] && w.changed[ULP_AT_AGRAD] && w.changed[ULP_AT_WGRAD]);
    assert_int_equal(w.scale, 7);
    assert_int_equal(step.agrad.count, 32 * 10 + 32 * 16);
    assert_int_equal(step.wgrad.count, t->model.net.params);
    /* without master weights the weights are fp16 values */
    float *v = calloc(t->model.net.params, sizeof *v);
    assert_ok(ulp_trainer_weights(t, v, NULL));
    for (size_t i = 0; i < t->model.net.params; i++)
        assert_true((double)v[i] == ulp_round((double)v[i], &policy.at[ULP_AT_WEIGHT].format, (ulp_rule){0}, 0));
    free(v);
    ulp_trainer_free(t);
}

/* The weights are the rounded binary32 master weights. Power-of-two loss scales change no weight if no gradient
 * overflows or underflows. */
TEST(master_and_scale) {
    float *w[3], *master[3];
    size_t n = 0;
    for (int k = 0; k < 3; k++) {
        static const char *const scalers[] = {"none", "static:6", "pytorch,init=3,interval=5"};
        training_texts o = {"fc16 relu fc10", k < 2 ? "mixed:bf16" : "mixed:bf16,agrad=fp32,wgrad=fp32,act=fp32",
                            scalers[k],       "sgd,rate=0.1,momentum=0.9,decay=0.001",
                            .batch = 32,      .seed = 1};
        ulp_trainer *t = trainer_of(&digits, &o);
        for (int i = 0; i < 40; i++) assert_ok(ulp_trainer_step(t, NULL));
        n = t->model.net.params;
        w[k] = calloc(n, sizeof **w);
        master[k] = calloc(n, sizeof **w);
        assert_ok(ulp_trainer_weights(t, w[k], master[k]));
        for (size_t i = 0; i < n; i++)
            assert_true((double)w[k][i] ==
                        ulp_round((double)master[k][i], &t->policy->at[ULP_AT_WEIGHT].format, (ulp_rule){0}, 0));
        if (k == 2) assert_int_equal(t->scaler.log2, 3 + 40 / 5);
        ulp_trainer_free(t);
    }
    assert_memory_equal(master[0], master[1], n * sizeof(float));
    assert_true(memcmp(master[0], master[2], n * sizeof(float)) != 0);
    for (int k = 0; k < 3; k++) {
        free(w[k]);
        free(master[k]);
    }
}

/* ---- determinism ---- */

static void run_weights(const char *policy, int threads, int score, float *w, size_t *n, double *accuracy) {
    training_texts o = {"fc33 tanh fc17 relu fc10",
                        policy,
                        "static:4",
                        "sgd,rate=0.05,momentum=0.9,decay=0.0001",
                        .batch = 31,
                        .seed = 9};
    ulp_score s;
    ulp_threads_set(threads);
    ulp_trainer *t = trainer_of(&digits, &o);
    for (int i = 0; i < 20; i++) {
        assert_ok(ulp_trainer_step(t, NULL));
        if (score) assert_ok(ulp_trainer_score(t, ULP_TEST_PART, &s));
    }
    assert_ok(ulp_trainer_score(t, ULP_TEST_PART, &s));
    assert_ok(ulp_trainer_weights(t, w, NULL));
    *n = t->model.net.params;
    *accuracy = s.loss;
    ulp_trainer_free(t);
    ulp_threads_set(0);
}

TEST(threads) {
    static const char *const policies[] = {"fp32", "mixed:fp16,mode=sr", "mixed:e5m2,acc=serial:bf16:sr/8,mode=srb/6",
                                           "mixed:fp16,master=none,mode=sr"};
    static float one[4096], two[4096], scored[4096];
    for (size_t k = 0; k < COUNT_OF(policies); k++) {
        size_t n;
        double a, b, c;
        run_weights(policies[k], 1, 0, one, &n, &a);
        run_weights(policies[k], 2, 0, two, &n, &b);
        run_weights(policies[k], 1, 1, scored, &n, &c);
        assert_true(n <= 4096 && a == b && a == c);
        assert_memory_equal(one, two, n * sizeof *one);
        assert_memory_equal(one, scored, n * sizeof *one);
    }
}

/* ---- whole runs ---- */

static ulp_train_result run_of(const ulp_data *data, const char *net, const char *policy, const char *scaler,
                               uint64_t steps) {
    training_texts o = {net, policy, scaler, "sgd,rate=0.1,momentum=0.9", .batch = 32, .seed = 1};
    ulp_train_result r;
    if (run_from_texts(&r, data, &o, steps, &error) != ULP_OK) fail_msg("%s", error.text);
    return r;
}

TEST(accuracy) {
    ulp_train_result r = run_of(&digits, "fc64 relu fc10", "fp32", "none", 440);
    print_message("digits, fp32: train %.2f %%, test %.2f %%\n", 100 * r.train.accuracy, 100 * r.test.accuracy);
    assert_true(r.test.accuracy >= 0.95 && !r.diverged && r.steps == 440 && r.test.n == 360);
    r = run_of(&digits, "fc64 relu fc10", "mixed:fp16", "pytorch,init=10", 440);
    print_message("digits, mixed:fp16: test %.2f %%\n", 100 * r.test.accuracy);
    assert_true(r.test.accuracy >= 0.95);
}

TEST(divergence_is_a_result) {
    ulp_train_result r = run_of(&digits, "fc16 relu fc10", "mixed:fp16", "static:30", 50);
    assert_true(r.diverged && r.steps < 50 && r.test.right == 0 && isnan(r.test.loss));
    r = run_of(&digits, "fc16 relu fc10", "mixed:fp16", "backoff,init=24", 120);
    assert_true(!r.diverged && r.skipped > 5 && r.skipped == r.overflows && r.test.accuracy > 0.85);
    r = run_of(&digits, "fc16 relu fc10", "mixed:e4m3,agrad=e4m3:sat,wgrad=e4m3:sat", "pytorch,init=24", 20);
    assert_int_equal(r.overflows, 0); /* a scaler does not see saturation */
}

TEST(bad_options) {
    static const training_texts bad[] = {
        {.net = "fc9", .batch = 32},
        {.net = "fc10", .batch = 0},
        {.net = "fc10", .batch = 1438},
        {.net = "fc10", .batch = 32, .policy = "nothing"},
        {.net = "fc10", .batch = 32, .scaler = "nothing"},
        {.net = "nothing", .batch = 32},
        {.net = "fc10", .batch = 32, .loss = "nothing"},
        {.net = "fc10", .batch = 32, .optimizer = "nothing"},
        {.net = "fc10", .batch = 32, .optimizer = "sgd,kahan=1", .policy = "mixed:fp16"},
    };
    static const training_texts good = {
        .net = "fork conv1@3p1 join bn fc10", .batch = 1437, .optimizer = "sgd,kahan=1", .policy = "fp16"};
    ulp_error checked;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ulp_trainer *t = (ulp_trainer *)&digits;
        ulp_status status = trainer_from_texts(&t, &digits, &bad[i], &error);
        assert_int_not_equal(status, ULP_OK);
        assert_null(t);
        assert_true(strlen(error.text) > 10);
        assert_int_equal(check_texts(&digits, &bad[i], &checked), status);
        assert_string_equal(checked.text, error.text);
    }
    assert_ok(check_texts(&digits, &good, &checked));
    assert_string_equal(checked.text, "");
    ulp_trainer_free(NULL);
}

TEST(mnist) {
    const char *folder = getenv("ULPLAB_DATA");
    ulp_data mnist;
    ulp_status status = ulp_data_load(&mnist, "mnist", folder && *folder ? folder : "../shared/data", 1, &error);
    if (status == ULP_NO_DEVICE) skip();
    assert_ok(status);
    ulp_train_result r = run_of(&mnist, "fc32 relu fc10", "fp32", "none", 400);
    print_message("mnist, 400 steps: test %.2f %%\n", 100 * r.test.accuracy);
    assert_true(r.test.accuracy > 0.85);
    ulp_data_release(&mnist);
}

/* out= changes only the rounding of the net's output: the logits are rounded differently, the hidden layer is not. */
TEST(out) {
    static const char *const policies[] = {"fp32,act=e4m3", "fp32,act=e4m3,out=fp32", "fp32,out=e4m3/sr"};
    float hidden[3], logit[3];
    for (int i = 0; i < 3; i++) {
        training_texts o = {.net = "fc20 tanh fc10", .policy = policies[i], .optimizer = "sgd", .batch = 24, .seed = 5};
        ulp_trainer *t = trainer_of(&digits, &o);
        const size_t count = t->model.net.count;
        ulp_format e4m3;
        char text[ULP_POLICY_TEXT_MAX];
        ulp_policy again;
        int coarse[2] = {1, 1}; /* whether all values of the hidden layer, and of the output, are in e4m3 */
        assert_ok(ulp_format_parse(&e4m3, "e4m3"));
        assert_ok(ulp_trainer_step(t, NULL));
        for (size_t k = 0; k < 24 * 10; k++) {
            uint64_t code;
            coarse[0] &= ulp_encode(&code, (double)t->model.tensor[1][k], &e4m3) == ULP_OK;
            coarse[1] &= ulp_encode(&code, (double)t->model.tensor[count][k], &e4m3) == ULP_OK;
        }
        assert_int_equal(coarse[0], i < 2);
        assert_int_equal(coarse[1], i != 1);
        hidden[i] = t->model.tensor[1][7];
        logit[i] = t->model.tensor[count][7];
        assert_ok(ulp_policy_print(text, sizeof text, t->policy));
        assert_int_equal(strstr(text, "out=") != NULL, i > 0);
        assert_ok(ulp_policy_parse(&again, text, &error));
        assert_memory_equal(&again, t->policy, sizeof again);
        ulp_trainer_free(t);
    }
    assert_true(hidden[0] == hidden[1] && logit[0] != logit[1]);
    assert_int_not_equal(ulp_policy_parse(&(ulp_policy){0}, "out=e4m3@amax", &error), ULP_OK);
    assert_non_null(strstr(error.text, "out=e4m3@amax: only weight, act"));
    assert_int_not_equal(ulp_policy_parse(&(ulp_policy){0}, "out=e4m9z", &error), ULP_OK);
}

TESTS(load_digits, free_digits)
