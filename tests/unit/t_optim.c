/* t_optim.c - optimizers against single scalar operations, schedules, texts, and whole runs. */

#include "formats/rng.h"
#include "training.h"

/* ---- every optimizer, operation by operation ---- */

enum { N = 41, UPDATES = 6, SEED = 11 };

/* The state of one run in plain arrays. */
typedef struct plain {
    const ulp_policy *policy;
    const ulp_optimizer_rule *rule;
    uint64_t step;
    int adam, decoupled;
    double coefficient; /* of clipping */
    float w[N], master[N], m[N], v[N], c[N];
} plain;

/* The result of one operation on one element, rounded at a point. */
static double rounded(const plain *p, ulp_scalar_op of, ulp_point_kind point, uint32_t use, size_t i) {
    const ulp_cast *cast = &p->policy->at[point];
    ulp_stream stream = {SEED, ulp_stream_id(use, 0, 0, p->step), 0};
    return ulp_arith(of, &cast->format, cast->rule, ulp_random_word(stream, i));
}

static double in_state(const plain *p, ulp_scalar_op of, uint32_t use, size_t i) {
    return rounded(p, of, ULP_AT_STATE, use, i);
}

/* A constant of an update, rounded to binary32. */
static double constant(double x) { return (double)(float)x; }

static double direction(plain *p, double g, uint64_t j, double *rate, size_t i) {
    const ulp_optimizer_rule *r = p->rule;
    double b1 = constant(r->beta1), b2 = constant(r->beta2), left1 = 1, left2 = 1;
    if (!p->adam && r->momentum == 0.0) return g;
    if (!p->adam)
        return (double)(p->m[i] =
                            (float)in_state(p, (ulp_scalar_op){ULP_FUSED, constant(r->momentum), (double)p->m[i], g},
                                            ULP_USE_MOMENTUM, i));
    for (uint64_t k = 0; k < j; k++) left1 *= b1, left2 *= b2;
    *rate = *rate * sqrt(1 - left2) / (1 - left1);
    double t = in_state(p, (ulp_scalar_op){ULP_MUL, constant(1 - b1), g, 0}, ULP_USE_MEAN_TERM, i);
    p->m[i] = (float)in_state(p, (ulp_scalar_op){ULP_FUSED, b1, (double)p->m[i], t}, ULP_USE_MEAN, i);
    double s = in_state(p, (ulp_scalar_op){ULP_MUL, g, g, 0}, ULP_USE_SQUARE, i);
    t = in_state(p, (ulp_scalar_op){ULP_MUL, constant(1 - b2), s, 0}, ULP_USE_SQUARE_TERM, i);
    p->v[i] = (float)in_state(p, (ulp_scalar_op){ULP_FUSED, b2, (double)p->v[i], t}, ULP_USE_SQUARES, i);
    double q = in_state(p, (ulp_scalar_op){ULP_SQRT, (double)p->v[i], 0, 0}, ULP_USE_ROOT, i);
    q = in_state(p, (ulp_scalar_op){ULP_ADD, q, constant(r->eps * sqrt(1 - left2)), 0}, ULP_USE_DENOMINATOR, i);
    return in_state(p, (ulp_scalar_op){ULP_DIV, (double)p->m[i], q, 0}, ULP_USE_DIRECTION, i);
}

static void plain_update(plain *p, const float *dw, int scale, uint64_t j, double rate0, size_t i) {
    const ulp_optimizer_rule *r = p->rule;
    ulp_point_kind point = p->policy->has_master ? ULP_AT_MASTER : ULP_AT_WEIGHT;
    float *w = p->policy->has_master ? &p->master[i] : &p->w[i];
    double rate = rate0, shrink = constant(-(rate0 * r->decay));
    const int clips = p->coefficient != 1.0;
    double g = (double)dw[i];
    if (clips && r->clip_scaled) g = in_state(p, (ulp_scalar_op){ULP_MUL, g, p->coefficient, 0}, ULP_USE_CLIP, i);
    g = in_state(p, (ulp_scalar_op){ULP_MUL, g, ldexp(1.0, -scale), 0}, ULP_AT_STATE, i);
    if (clips && !r->clip_scaled) g = in_state(p, (ulp_scalar_op){ULP_MUL, g, p->coefficient, 0}, ULP_USE_CLIP, i);
    if (r->decay != 0.0 && !p->decoupled)
        g = in_state(p, (ulp_scalar_op){ULP_FUSED, constant(r->decay), (double)*w, g}, ULP_USE_DECAY, i);
    double d = direction(p, g, j, &rate, i);
    if (r->kahan) {
        double y =
            rounded(p, (ulp_scalar_op){ULP_FUSED, constant(-rate), d, (double)p->c[i]}, point, ULP_USE_UPDATE, i);
        if (p->decoupled && shrink != 0.0)
            y = rounded(p, (ulp_scalar_op){ULP_FUSED, shrink, (double)*w, y}, point, ULP_USE_SHRINK, i);
        double s = rounded(p, (ulp_scalar_op){ULP_ADD, (double)*w, y, 0}, point, ULP_USE_KAHAN_SUM, i);
        double e = rounded(p, (ulp_scalar_op){ULP_SUB, s, (double)*w, 0}, point, ULP_USE_KAHAN_MOVED, i);
        p->c[i] = (float)rounded(p, (ulp_scalar_op){ULP_SUB, y, e, 0}, point, ULP_USE_KAHAN_LOST, i);
        *w = (float)s;
        return;
    }
    if (p->decoupled && shrink != 0.0)
        *w = (float)rounded(p, (ulp_scalar_op){ULP_FUSED, shrink, (double)*w, (double)*w}, point, ULP_USE_SHRINK, i);
    *w = (float)rounded(p, (ulp_scalar_op){ULP_FUSED, constant(-rate), d, (double)*w}, point, ULP_USE_UPDATE, i);
    const double most = constant(r->limit), now = (double)*w, inside = now > most ? most : now < -most ? -most : now;
    if (r->limit != 0.0) *w = (float)rounded(p, (ulp_scalar_op){ULP_MUL, inside, 1, 0}, point, ULP_USE_LIMIT, i);
    const ulp_cast *cast = &p->policy->at[ULP_AT_WEIGHT];
    ulp_stream stream = {SEED, ulp_stream_id(ULP_AT_WEIGHT, 0, 0, p->step), 0};
    if (p->policy->has_master)
        p->w[i] = (float)ulp_round((double)*w, &cast->format, cast->rule, ulp_random_word(stream, i));
}

static void random_floats(float *x, size_t n, uint64_t stream, int log2) {
    for (size_t i = 0; i < n; i++)
        x[i] = (float)ldexp(ulp_random_uniform((ulp_stream){3, stream, 0}, i) - 0.5, log2 - (int)(i % 12));
}

static void same(const char *what, const float *got, const float *want, const char *text, const char *policy,
                 uint64_t step) {
    for (size_t i = 0; i < N; i++)
        if (ulp_bits32(got[i]) != ulp_bits32(want[i]) && !(isnan(got[i]) && isnan(want[i])))
            fail_msg("%s, %s, step %d: %s[%zu] is %a, not %a", text, policy, (int)step, what, i, (double)got[i],
                     (double)want[i]);
}

/* The sum of the squares of x (n), n at most 64, in the order of squares.h, from x 2^-scale. */
static double squares_of(const float *x, size_t n, int scale) {
    double lane[32] = {0};
    for (size_t i = 0; i < n; i++) lane[i % 32] += ldexp((double)x[i], -scale) * ldexp((double)x[i], -scale);
    for (size_t h = 16; h; h /= 2)
        for (size_t j = 0; j < h; j++) lane[j] += lane[j + h];
    return lane[0];
}

/* PyTorch's coefficient, clip_grad_norm_ */
static double coefficient_of(const ulp_optimizer_rule *r, double squares) {
    const double c = r->clip / (sqrt(squares) + 1e-6);
    return r->clip == 0.0 || c > 1.0 ? 1.0 : (double)(float)c;
}

/* Check UPDATES updates, some of them with two spans that have different scales. The step number grows by 3, as if two
 * steps were skipped. */
static void check_optimizer(const char *text, const char *policy_text) {
    ulp_policy policy;
    double wide[N], host[N];
    ulp_pass pass = {.run = {.policy = &policy, .seed = SEED}, .scratch = {.wide = wide, .host = host}};
    ulp_optimizer o;
    ulp_arena f;
    float w[N], dw[N];
    assert_ok(ulp_policy_parse(&policy, policy_text, &error));
    if (optimizer_from_text(&o, text, &policy, &error) != ULP_OK) fail_msg("%s: %s", text, error.text);
    assert_ok(ulp_backend_get(&pass.run.backend, "cpu")); /* its memory is host memory */
    ulp_arena_init(&f, pass.run.backend);
    ulp_optimizer_carve(&o, &f, N);
    assert_ok(ulp_arena_alloc(&f));
    ulp_optimizer_carve(&o, &f, N);
    random_floats(w, N, 99, 1);
    assert_ok(ulp_optimizer_start(&o, &pass, w));
    plain p = {
        .policy = &policy, .rule = &o.rule, .adam = o.squares != NULL, .decoupled = strncmp(text, "adamw", 5) == 0};
    memcpy(p.w, o.weight, sizeof w);
    if (o.master) memcpy(p.master, o.master, sizeof w);
    for (uint64_t j = 1; j <= UPDATES; j++) {
        ulp_span spans[2] = {{0, 17, 3}, {17, N - 17, -2}};
        p.step = pass.now.step = 3 * j;
        pass.now.scales.log2 = j == 1 ? 0 : 5;
        random_floats(dw, N, j, -3);
        const int s = o.rule.clip_scaled ? 0 : pass.now.scales.log2, own = !o.rule.clip_scaled;
        p.coefficient =
            coefficient_of(&o.rule, j % 2 ? squares_of(dw, N, s)
                                          : squares_of(dw, 17, 3 * own) + squares_of(dw + 17, N - 17, -2 * own));
        for (size_t i = 0; i < N; i++)
            plain_update(&p, dw,
                         j % 2    ? pass.now.scales.log2
                         : i < 17 ? 3
                                  : -2,
                         j, ulp_rate_at(&o.rule, pass.now.step), i);
        assert_ok(ulp_optimizer_step(&o, &pass, dw, spans, j % 2 ? 0 : 2));
        same("weight", o.weight, p.w, text, policy_text, j);
        if (o.master) same("master", o.master, p.master, text, policy_text, j);
        if (o.momentum) same("momentum", o.momentum, p.m, text, policy_text, j);
        if (o.squares) same("squares", o.squares, p.v, text, policy_text, j);
        assert_true((double)o.coefficient == p.coefficient && (o.norm > 0) == (o.rule.clip > 0));
        if (o.lost) same("lost", o.lost, p.c, text, policy_text, j);
    }
    for (size_t i = 0; i < N; i += 12)
        assert_true(o.rule.rate == 0.0 || o.weight[i] != w[i]); /* the large weights have changed */
    ulp_arena_release(&f);
}

TEST(operations) {
    static const char texts[] =
        "sgd,rate=0.25 sgd,rate=0.1,decay=0.05 sgd,momentum=0.9,decay=0.01,warmup=40 adam,rate=0.01 "
        "adam,rate=0.01,decay=0.1,cosine=30 adamw,rate=0.01,decay=0.3,beta1=0.5,beta2=0.75,eps=0.001 "
        "adamw,rate=0.02,drop=0.3/4 adam,beta1=0,beta2=0,rate=0.1 sgd,rate=0.2,clip=0.01 "
        "sgd,momentum=0.5,decay=0.1,clip=0.3,clip-at=scaled adamw,rate=0.01,decay=0.1,clip=0.003 adam,clip=1000 "
        "sgd,rate=0.25,limit=0.3 adamw,rate=0.1,limit=1";
    static const char policies[] =
        "fp32 fp16 bf16,mode=sr mixed:fp16 mixed:bf16,state=fp16/sr/8,master=tf32/ru,mode=srb "
        "weight=q2.14/sr,master=none weight=fp16,state=bf16/rd,master=fp32";
    for (size_t k = 0; *word_of(policies, k); k++)
        for (size_t i = 0; *word_of(texts, i); i++) {
            char text[128];
            ulp_policy policy;
            check_optimizer(word_of(texts, i), word_of(policies, k));
            assert_ok(ulp_policy_parse(&policy, word_of(policies, k), NULL));
            snprintf(text, sizeof text, "%s,kahan=1", word_of(texts, i));
            if (!policy.has_master && !strstr(text, "limit")) check_optimizer(text, word_of(policies, k));
        }
}

/* A thousand updates of 2^-12 from the weight 1 in bfloat16: plain updates stop, updates with Kahan sums do not. */
TEST(kahan_moves) {
    float end[2];
    for (int kahan = 0; kahan < 2; kahan++) {
        ulp_policy policy;
        ulp_pass pass = {.run = {.policy = &policy, .seed = 1}};
        ulp_optimizer o;
        float memory[3] = {1.0f, 0.0f, 0.0f}, dw = 1.0f;
        assert_ok(ulp_policy_parse(&policy, "bf16", NULL));
        assert_ok(ulp_backend_get(&pass.run.backend, "cpu"));
        assert_ok(optimizer_from_text(&o, kahan ? "sgd,rate=0x1p-12,kahan=1" : "sgd,rate=0x1p-12", &policy, NULL));
        o.n = 1;
        o.weight = memory;
        o.lost = kahan ? memory + 1 : NULL;
        for (; pass.now.step < 1024; pass.now.step++) assert_ok(ulp_optimizer_step(&o, &pass, &dw, NULL, 0));
        end[kahan] = memory[0];
    }
    assert_true(end[0] == 1.0f && end[1] == 0.75f);
}

/* ---- schedules ---- */

static ulp_optimizer_rule rule_of(const char *text) {
    static const ulp_policy policy;
    ulp_optimizer o;
    if (optimizer_from_text(&o, text, &policy, &error) != ULP_OK) fail_msg("%s: %s", text, error.text);
    return o.rule;
}

TEST(schedules) {
    ulp_optimizer_rule r = rule_of("sgd,rate=0.5");
    assert_true(ulp_rate_at(&r, 0) == 0.5 && ulp_rate_at(&r, 1u << 30) == 0.5);
    r = rule_of("sgd,rate=0.5,warmup=4");
    for (uint64_t t = 0; t < 9; t++) assert_true(ulp_rate_at(&r, t) == 0.5 * (t < 4 ? (double)(t + 1) / 4 : 1.0));
    r = rule_of("adam,rate=1,cosine=1000");
    assert_true(ulp_rate_at(&r, 0) == 1.0 && ulp_rate_at(&r, 500) == 0.5 && ulp_rate_at(&r, 1000) == 0.0 &&
                ulp_rate_at(&r, 99999) == 0.0);
    for (uint64_t t = 0; t < 1000; t++) { /* bound: 2^-51 of half the cosine, and four roundings */
        assert_true(fabs(ulp_rate_at(&r, t) - 0.5 * (1.0 + cos(3.14159265358979323846 * (double)t / 1000.0))) <
                    0x1p-49);
        assert_true(ulp_rate_at(&r, t + 1) < ulp_rate_at(&r, t));
    }
    ulp_optimizer_rule f = rule_of("adam,rate=4,cosine=1000,floor=0.125");
    assert_true(ulp_rate_at(&f, 0) == 4.0 && ulp_rate_at(&f, 500) == 4 * (0.125 + 0.875 / 2) &&
                ulp_rate_at(&f, 1000) == 0.5 && ulp_rate_at(&f, 99999) == 0.5);
    for (uint64_t t = 0; t < 1000; t++) assert_true(ulp_rate_at(&f, t) == 4 * (0.125 + 0.875 * ulp_rate_at(&r, t)));
    f = rule_of("adam,rate=4,floor=0.125,warmup=2");
    assert_true(ulp_rate_at(&f, 0) == 2.0 && ulp_rate_at(&f, 99999) == 4.0);
    r = rule_of("sgd,rate=8,drop=0.5/10");
    for (uint64_t t = 0; t < 100; t++) assert_true(ulp_rate_at(&r, t) == ldexp(8.0, -(int)(t / 10)));
    r = rule_of("sgd,rate=8,drop=0.5/10,warmup=2,cosine=30");
    assert_true(ulp_rate_at(&r, 0) == 4.0 && ulp_rate_at(&r, 15) == 2.0 && ulp_rate_at(&r, 30) == 0.0);
}

/* A run follows its schedule: weights do not change after the rate is 0. */
TEST(schedule_in_a_run) {
    static float before[4096], after[4096];
    training_texts o = {.net = "fc16 relu fc10", .optimizer = "adam,rate=0.01,cosine=7", .batch = 32, .seed = 1};
    ulp_trainer *t = trainer_of(&digits, &o);
    for (int i = 0; i < 12; i++) {
        assert_ok(ulp_trainer_weights(t, before, NULL));
        assert_ok(ulp_trainer_step(t, NULL));
        assert_ok(ulp_trainer_weights(t, after, NULL));
        assert_true((memcmp(before, after, t->model.net.params * sizeof *after) == 0) == (i >= 7));
    }
    ulp_trainer_free(t);
}

/* ---- texts ---- */

TEST(texts) {
    ulp_optimizer_rule r = rule_of("adamw");
    assert_true(r.rate == 1e-3 && r.beta1 == 0.9 && r.beta2 == 0.999 && r.eps == 1e-8 && r.decay == 1e-2 && !r.kahan &&
                !r.warmup);
    r = rule_of("sgd,rate=0.1,momentum=0.9,decay=1e-4,kahan=1,warmup=5,cosine=100,drop=0.1/30");
    assert_true(r.rate == 0.1 && r.momentum == 0.9 && r.decay == 1e-4 && r.kahan && r.warmup == 5 && r.cosine == 100 &&
                r.factor == 0.1 && r.every == 30);
    size_t kinds = 0;
    for (; ulp_optimizer_kind_get(kinds); kinds++) rule_of(ulp_optimizer_kind_get(kinds)->name);
    assert_int_equal(kinds, 3);
}

TEST(bad_texts) {
    static const char *const bad[][2] = {
        {"", "none is called ''; known: adam, adamw, sgd"},
        {"rmsprop", "'rmsprop'; known: adam, adamw, sgd"},
        {"adm", "'adm'; did you mean 'adam'?"},
        {"sgd,", "nothing follows the last comma"},
        {"sgd,,rate=1", "'' is not key=value"},
        {"sgd,beta1=0.9", "no key 'beta1'; known: rate, decay, kahan, warmup, cosine, drop, floor, clip, clip-at, "
                          "decays, limit, accumulate, momentum"},
        {"adam,momentum=0.9", "no key 'momentum'; known: rate, decay, kahan, warmup, cosine, drop, floor, clip, "
                              "clip-at, decays, limit, accumulate, beta1, beta2, eps"},
        {"sgd,rat=1", "no key 'rat'; did you mean 'rate'?"},
        {"sgd,rate", "rate needs a value, as rate=...: a number from 0 to 1000000 (learning rate"},
        {"sgd,rate=", "'rate=': rate is a number from 0 to 1000000"},
        {"sgd,rate=-1", "'rate=-1'"},
        {"sgd,rate=nan", "'rate=nan'"},
        {"sgd,rate=1x", "'rate=1x'"},
        {"sgd,rate=inf", "'rate=inf'"},
        {"sgd,rate=1,decay=0,rate=1", "optimizer sgd: rate is given twice"},
        {"sgd,momentum=1.5", "'momentum=1.5': momentum is a number from 0 to 1"},
        {"adam,beta2=1", "'beta2=1'"},
        {"adam,eps=2", "'eps=2'"},
        {"sgd,warmup=1.5", "'warmup=1.5': warmup is a whole number from 0 to 1e+09"},
        {"sgd,cosine=2e9", "'cosine=2e9'"},
        {"sgd,kahan=2", "'kahan=2': kahan is 0 or 1"},
        {"sgd,drop=0.1", "'drop=0.1': drop is FACTOR/EVERY"},
        {"sgd,drop=2/10", "'drop=2/10'"},
        {"sgd,drop=0.1/0", "'drop=0.1/0'"},
        {"sgd,drop=0.1/5x", "'drop=0.1/5x'"},
        {"sgd,clip=-1", "'clip=-1': clip is a number from 0 to 1e+30"},
        {"sgd,clip=nan", "'clip=nan'"},
        {"sgd,clip-at=after", "optimizer sgd: 'clip-at=after': clip-at is unscaled or scaled"},
        {"sgd,clip-at=un", "'clip-at=un'"},
        {"sgd,decays=biases", "'decays=biases': decays is all or weights"},
        {"sgd,accumulate=4", "'accumulate=4': accumulate is N:FORMAT[/MODE]"},
        {"sgd,accumulate=0:bf16", "'accumulate=0:bf16'"},
        {"sgd,accumulate=5000:bf16", "'accumulate=5000:bf16'"},
        {"sgd,accumulate=4:", "'accumulate=4:'"},
        {"sgd,accumulate=4:fp17x", "optimizer sgd: no format 'fp17x' for accumulate"},
        {"sgd,accumulate=4:fp64", "accumulate=fp64: arrays carry binary32"},
        {"sgd,accumulate=4:bf16@amax", "only weight, act, wgrad and agrad have scales"},
        {"sgd,accumulate=4:bf16/up", "no rounding mode 'up'"},
        {"sgd,floor=1.5", "'floor=1.5': floor is a number from 0 to 1"},
        {"rate=1", "'rate=1'"},
    };
    static const ulp_policy policy;
    ulp_policy mixed;
    ulp_optimizer o;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(optimizer_from_text(&o, bad[i][0], &policy, &error), ULP_BAD_NAME);
        if (!strstr(error.text, bad[i][1])) fail_msg("%s: %s", bad[i][0], error.text);
        assert_int_equal(optimizer_from_text(&o, bad[i][0], &policy, NULL), ULP_BAD_NAME);
    }
    assert_int_equal(optimizer_from_text(&o, "adam,rate=-1", &policy, &error), ULP_BAD_NAME);
    assert_non_null(strstr(error.text, "optimizer adam: 'rate=-1': rate is a number from 0 to 1000000"));
    assert_ok(ulp_policy_parse(&mixed, "mixed:fp16", NULL));
    assert_int_equal(optimizer_from_text(&o, "sgd,kahan=1", &mixed, &error), ULP_BAD_NAME);
    assert_non_null(strstr(error.text, "master=none"));
    assert_int_equal(optimizer_from_text(&o, "sgd,kahan=1,limit=2", &policy, &error), ULP_UNSUPPORTED);
    assert_non_null(strstr(error.text, "limit=2 and kahan=1 do not fit"));
}

/* ---- whole runs ---- */

/* The limit holds for the weights that decay, and not for biases under decays=weights. */
TEST(limit) {
    enum { OUT = 6, IN = 64 };
    for (int all = 0; all < 2; all++) {
        static float w[(IN + 1) * OUT + (OUT + 1) * 10];
        const training_texts o = {.net = "fc6 relu fc10",
                                  .optimizer = all ? "sgd,rate=2,limit=0.03" : "sgd,rate=2,limit=0.03,decays=weights",
                                  .batch = 32,
                                  .seed = 1};
        ulp_trainer *t;
        size_t at_limit = 0;
        float bias = 0.0f;
        if (trainer_from_texts(&t, &digits, &o, &error) != ULP_OK) fail_msg("%s", error.text);
        for (int i = 0; i < 20; i++) assert_ok(ulp_trainer_step(t, NULL));
        assert_ok(ulp_trainer_weights(t, w, NULL));
        for (size_t i = 0; i < IN * OUT; i++) {
            assert_true(fabsf(w[i]) <= 0.03f);
            at_limit += fabsf(w[i]) == 0.03f;
        }
        for (size_t i = COUNT_OF(w) - 10; i < COUNT_OF(w); i++) bias = fmaxf(bias, fabsf(w[i]));
        assert_true(at_limit > 0 && (all ? bias <= 0.03f : bias > 0.03f));
        ulp_trainer_free(t);
    }
}

static ulp_train_result run_of(const char *optimizer, const char *policy, uint64_t steps) {
    training_texts o = {.net = "fc64 relu fc10", .policy = policy, .optimizer = optimizer, .batch = 32, .seed = 1};
    ulp_train_result r;
    assert_ok(run_from_texts(&r, &digits, &o, steps, &error));
    print_message("%s, %s: test %.2f %%\n", optimizer, policy, 100 * r.test.accuracy);
    return r;
}

TEST(learning) {
    assert_true(run_of("adam,rate=0.01,cosine=440", "fp32", 440).test.accuracy >= 0.95);
    assert_true(run_of("adamw,rate=0.01,warmup=20", "fp32", 440).test.accuracy >= 0.95);
    assert_true(run_of("adam,rate=0.01", "mixed:bf16", 440).test.accuracy >= 0.95);
    double plain_bits = run_of("sgd,rate=0.01", "weight=bf16", 880).train.loss,
           kahan = run_of("sgd,rate=0.01,kahan=1", "weight=bf16", 880).train.loss;
    double full = run_of("sgd,rate=0.01", "fp32", 880).train.loss;
    assert_true(fabs(kahan - full) < fabs(plain_bits - full)); /* compensation brings the result nearer to binary32 */
}

/* In binary16 the squares of more than a quarter of the gradients are zero. For these gradients the step divides by
 * eps, which is also zero in binary16. */
TEST(squares_underflow) {
    training_texts o = {
        .net = "fc64 relu fc10", .policy = "fp32,state=fp16", .optimizer = "adam", .batch = 32, .seed = 1};
    size_t lost = 0, some = 0;
    ulp_trainer *t = trainer_of(&digits, &o);
    assert_ok(ulp_trainer_step(t, NULL));
    for (size_t i = 0; i < t->model.net.params; i++) {
        some += t->optimizer.momentum[i] != 0.0f;
        lost += t->optimizer.momentum[i] != 0.0f && t->optimizer.squares[i] == 0.0f;
        if (t->optimizer.momentum[i] != 0.0f && t->optimizer.squares[i] == 0.0f)
            assert_true(isinf(t->optimizer.weight[i]));
    }
    print_message("adam, state in binary16, first step: %zu of %zu squares are zero\n", lost, some);
    assert_true(4 * lost > some);
    ulp_trainer_free(t);
}

TESTS(load_digits, free_digits)
