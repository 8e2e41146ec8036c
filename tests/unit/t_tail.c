/* t_tail.c - a second policy from a step on: what it rounds, what stays, and refusals. */
#include "training.h"

#include "sim/train/tail.h"

enum { BATCH = 32, BEFORE = 9, AFTER = 8, MOST = 4096 };

static training_texts texts_of(const char *policy, const char *tail) {
    return (training_texts){.net = "fc12 relu fc10",
                            .policy = policy,
                            .optimizer = "sgd,rate=0.2,momentum=0.9",
                            .batch = BATCH,
                            .seed = 4,
                            .tail = tail,
                            .tail_step = BEFORE};
}

static void go_on(ulp_trainer *t, int steps, double *loss) {
    for (int i = 0; i < steps; i++) {
        ulp_step s;
        assert_ok(ulp_trainer_step(t, &s));
        loss[i] = s.loss;
    }
}

/* Up to its step a second policy changes nothing, and the first policy again changes nothing at all. */
TEST(same_before) {
    static const char *const cases[][2] = {
        {"mixed:fp16", "mixed:e4m3"}, {"mixed:bf16", "mxfp8"}, {"mixed:fp16", "mixed:fp16"}, {"bf16", "bf16"}};
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        training_texts o = texts_of(cases[k][0], NULL), with = texts_of(cases[k][0], cases[k][1]);
        ulp_trainer *a = trainer_of(&digits, &o), *b = trainer_of(&digits, &with);
        double one[BEFORE + AFTER], two[BEFORE + AFTER];
        float w[2][MOST];
        const size_t bytes = a->model.net.params * sizeof(float);
        go_on(a, BEFORE, one), go_on(b, BEFORE, two);
        assert_ok(ulp_trainer_weights(a, w[0], NULL));
        assert_ok(ulp_trainer_weights(b, w[1], NULL));
        assert_memory_equal(w[0], w[1], bytes);
        go_on(a, AFTER, one + BEFORE), go_on(b, AFTER, two + BEFORE);
        assert_memory_equal(one, two, BEFORE * sizeof *one);
        assert_int_equal(memcmp(one, two, sizeof one) == 0, k > 1);
        ulp_trainer_free(a);
        ulp_trainer_free(b);
    }
}

/* The weights are rounded anew: from the master weights, or from themselves. */
TEST(weights) {
    static const struct {
        const char *policy, *tail, *weight, *master; /* formats of the tail */
    } cases[] = {{"mixed:fp16", "weight=e4m3,act=e4m3,master=fp32", "e4m3", "fp32"},
                 {"mixed:e4m3", "fp32,master=fp32", "fp32", "fp32"},
                 {"mixed:bf16", "weight=fp16,master=tf32", "fp16", "tf32"},
                 {"bf16", "weight=e5m2", "e5m2", NULL},
                 {"bf16", "fp32", "bf16", NULL}}; /* a value of bf16 is its own rounding to binary32 */
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        training_texts o = texts_of(cases[k].policy, cases[k].tail);
        ulp_trainer *t = trainer_of(&digits, &o);
        double loss[BEFORE];
        float w[2][MOST], master[2][MOST];
        ulp_format weight, format;
        assert_ok(ulp_format_parse(&weight, cases[k].weight));
        assert_ok(ulp_format_parse(&format, cases[k].master ? cases[k].master : "fp32"));
        go_on(t, BEFORE, loss);
        assert_ok(ulp_trainer_weights(t, w[0], master[0]));
        assert_ok(ulp_tail_enter(t));
        assert_ok(ulp_trainer_weights(t, w[1], master[1]));
        for (size_t i = 0; i < t->model.net.params; i++) {
            const double m = ulp_round((double)master[0][i], &format, (ulp_rule){0}, 0);
            assert_true((double)w[1][i] == ulp_round(m, &weight, (ulp_rule){0}, 0));
            assert_true((double)master[1][i] == (cases[k].master ? m : (double)w[1][i]));
        }
        ulp_trainer_free(t);
    }
}

/* From its step on, products, activations and scores are under the second policy: here they no longer round. */
TEST(afterwards) {
    training_texts o = texts_of("mixed:e4m3", "fp32,master=fp32");
    o.counting = 1;
    ulp_trainer *t = trainer_of(&digits, &o);
    ulp_step s;
    for (int i = 0; i < BEFORE + AFTER; i++) {
        assert_ok(ulp_trainer_step(t, &s));
        assert_int_equal(s.act.count > 0, i < BEFORE);
    }
    ulp_score score;
    assert_ok(ulp_trainer_score(t, ULP_TEST_PART, &score));
    const float *x = t->model.tensor[0], *y = t->model.tensor[1], *w = t->optimizer.weight;
    size_t inexact = 0;
    for (size_t j = 0; j < 12; j++) {
        float sum = w[64 * 12 + j];
        for (size_t i = 0; i < 64; i++) sum = fmaf(x[i], w[i * 12 + j], sum); /* the datapath fp32 */
        inexact += y[j] != sum;
    }
    assert_int_equal(inexact, 0);
    ulp_trainer_free(t);
}

static void expect_refused(training_texts o, ulp_status status, const char *sentence) {
    assert_int_equal(check_texts(&digits, &o, &error), status);
    if (!strstr(error.text, sentence)) fail_msg("'%s' does not say '%s'", error.text, sentence);
}

TEST(refusals) {
    expect_refused(texts_of("mixed:fp16", "fp32"), ULP_UNSUPPORTED,
                   "tail: layer 0, 'fc12', has its master weights before step 9 and none from this step on; a second "
                   "policy needs the master weights of the first: give both policies a master format, as master=fp32");
    expect_refused(texts_of("bf16", "mixed:fp16"), ULP_UNSUPPORTED, "give both policies master=none");
    expect_refused(texts_of("bf16", "bf16,last.master=fp32"), ULP_UNSUPPORTED,
                   "layer 2, 'fc10', has no master weights");
    expect_refused(texts_of("fp32", "conv.act=bf16"), ULP_BAD_NAME, "tail: ");
    expect_refused(
        texts_of("mixed:bf16", "nvfp4,fwd.x=nvfp4:rht16,fwd.w=nvfp4:rht16"), ULP_BAD_ARGUMENT,
        "tail: policy: fwd.x: layer 2 (fc10) forms these sums over parts of 12 numbers, which the Hadamard transform");
    training_texts o = texts_of("mixed:fp16", "fp32,master=fp32");
    assert_ok(check_texts(&digits, &o, &error));
}

TESTS(load_digits, free_digits)
