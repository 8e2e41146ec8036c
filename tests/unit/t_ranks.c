/* t_ranks.c - data-parallel training: the mean of the ranks' gradients, ranks by messages, and options that are
 * refused. */
#include "rank_team.h"
#include "reduction_oracle.h"
#include "training.h"

enum { BATCH = 24, STEPS = 5 };

static const training_texts plain = {.net = "fc12 relu fc10", .batch = BATCH, .seed = 5};

static float *gradient_of(const ulp_trainer *t) {
    const size_t n = t->model.net.params;
    float *g = malloc(n * sizeof *g);
    assert_ok(t->pass.run.backend->download(g, t->model.wgrad, n * sizeof *g));
    return g;
}

/* The gradient of a step of R ranks is the mean, by the oracle, of the gradients of R steps of B/R samples with the
 * same weights, which a rate of 0 keeps. */
TEST(mean) {
    static const char *const reductions[] = {"ring:bf16", "tree:fp32", "two-level:fp16:mean=half:node=4"};
    const size_t R = 6;
    for (size_t k = 0; k < COUNT_OF(reductions); k++) {
        training_texts o = plain;
        o.optimizer = "sgd,rate=0";
        ulp_trainer *parts;
        o.batch = BATCH / R;
        parts = trainer_of(&digits, &o);
        o.batch = BATCH;
        o.ranks = R;
        o.reduction = reductions[k];
        ulp_trainer *whole = trainer_of(&digits, &o);
        const size_t n = whole->model.net.params;
        float *x = malloc(R * n * sizeof *x);
        double loss = 0;
        ulp_step s;
        for (size_t r = 0; r < R; r++) {
            assert_ok(ulp_trainer_step(parts, &s));
            float *g = gradient_of(parts);
            memcpy(x + r * n, g, n * sizeof *g);
            free(g);
            loss += s.loss;
        }
        assert_ok(ulp_trainer_step(whole, &s));
        assert_true(s.loss == loss / (double)R);
        float *got = gradient_of(whole);
        const ulp_format single = named("binary32");
        mean_of m = {&whole->reduction,
                     ulp_reference_new(&whole->reduction.format),
                     ulp_reference_new(&single),
                     {0},
                     x,
                     R,
                     n,
                     0};
        for (m.i = 0; m.i < n; m.i++)
            if (!same((double)got[m.i], mean_oracle(&m)))
                fail_msg("%s, parameter %zu: got %a, want %a", reductions[k], m.i, (double)got[m.i], mean_oracle(&m));
        ulp_reference_free(m.ref);
        ulp_reference_free(m.single);
        free(x), free(got);
        ulp_trainer_free(parts);
        ulp_trainer_free(whole);
    }
}

/* ---- by messages ---- */

/* The files that a run leaves. */
typedef struct outcome {
    float *w;
    ulp_step last[STEPS];
    ulp_score test;
} outcome;

static outcome run(training_texts o) {
    ulp_error why;
    outcome r = {0};
    ulp_trainer *t;
    if (trainer_from_texts(&t, &digits, &o, &why) != ULP_OK) abort();
    r.w = calloc(t->model.net.params, sizeof *r.w);
    for (int i = 0; i < STEPS; i++) {
        if (ulp_trainer_step(t, &r.last[i]) != ULP_OK) abort();
        r.last[i].layer_scale = NULL; /* valid until the next step */
    }
    if (ulp_trainer_weights(t, r.w, NULL) != ULP_OK) abort();
    if (ulp_trainer_score(t, ULP_TEST_PART, &r.test) != ULP_OK) abort();
    ulp_trainer_free(t);
    return r;
}

typedef struct work {
    training_texts options;
    outcome result[RANK_TEAM_MAX];
} work;

static void run_rank(void *own, const ulp_ranks *ranks) {
    work *w = own;
    training_texts o = w->options;
    o.group = ranks;
    w->result[ranks->rank] = run(o);
}

static size_t params_of(const training_texts *o) {
    ulp_trainer *t = trainer_of(&digits, o);
    const size_t n = t->model.net.params;
    ulp_trainer_free(t);
    return n;
}

/* Ranks that exchange messages compute the bits of ranks in one process: weights, losses, counts, and the running
 * statistics of batch normalisation, which the score shows. */
TEST(messages) {
    static const struct {
        const char *net, *policy, *scaler, *reduction;
        size_t ranks;
    } runs[] = {
        {"conv2@3 bn relu fc10", "mixed:bf16,mode=sr", "none", "ring:bf16:sr", 3},
        {"fc12 relu drop20 fc10", "mixed:fp16", "pytorch,init=30,interval=2", "tree:fp16:mean=before", 4},
        {"fc12 relu fc10", "mixed:e4m3,act=e4m3@delayed2,agrad=e5m2@delayed2", "none", "doubling:e5m2:sr", 6},
        {"fc12 relu fc10", "fp32", "none", "two-level:bf16:node=2:mean=half", 8},
    };
    for (size_t k = 0; k < COUNT_OF(runs); k++) {
        work w = {.options = plain};
        w.options.net = runs[k].net;
        w.options.policy = runs[k].policy;
        w.options.scaler = runs[k].scaler;
        w.options.reduction = runs[k].reduction;
        w.options.ranks = runs[k].ranks;
        w.options.counting = 1;
        const size_t n = params_of(&w.options);
        const outcome want = run(w.options);
        rank_team_run(runs[k].ranks, run_rank, &w);
        for (size_t r = 0; r < runs[k].ranks; r++) {
            const outcome *got = &w.result[r];
            assert_memory_equal(got->w, want.w, n * sizeof *want.w);
            assert_memory_equal(&got->test, &want.test, sizeof want.test);
            for (int i = 0; i < STEPS; i++) {
                assert_true(same(got->last[i].loss, want.last[i].loss));
                assert_int_equal(got->last[i].skipped, want.last[i].skipped);
                assert_memory_equal(&got->last[i].act, &want.last[i].act, sizeof(ulp_stats));
                assert_memory_equal(&got->last[i].agrad_all, &want.last[i].agrad_all, sizeof(ulp_tally));
            }
            free(got->w);
        }
        free(want.w);
    }
}

/* One rank is a run without ranks, whatever its reduction. Ranks have random words of their own. */
TEST(words) {
    training_texts o = plain;
    o.policy = "mixed:bf16,mode=sr";
    const size_t n = params_of(&o);
    outcome none = run(o);
    o.ranks = 1;
    o.reduction = "ring:e4m3";
    outcome one = run(o);
    assert_memory_equal(none.w, one.w, n * sizeof *one.w);
    o.ranks = 2;
    o.reduction = NULL;
    outcome two = run(o);
    assert_memory_not_equal(one.w, two.w, n * sizeof *one.w);
    ulp_pass pass = {.now = {.rank = 3}};
    assert_true(ulp_pass_first_word(&pass) == (uint64_t)3 << 48);
    free(none.w), free(one.w), free(two.w);
}

TEST(refused) {
    static const struct {
        size_t ranks;
        const char *scaler, *says;
    } cases[] = {
        {5, "none",
         "5 ranks for a batch of 24 samples: ranks have to divide the batch; the nearest numbers are 4 and 6"},
        {13, "none", "at most 4096; the nearest number is 12"},
        {48, "none", "the nearest number is 24"},
        {5000, "none", "the nearest number is 24"},
        {2, "layer", "2 ranks need a scaler of the whole loss"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        training_texts o = plain;
        o.ranks = cases[i].ranks;
        o.scaler = cases[i].scaler;
        assert_int_not_equal(check_texts(&digits, &o, &error), ULP_OK);
        if (!strstr(error.text, cases[i].says)) fail_msg("'%s' does not say '%s'", error.text, cases[i].says);
    }
}

TESTS(load_digits, free_digits)
