/* t_micro.c - micro-batches: sums of gradients step by step, ranks, and refusals. */
#include "training.h"

#include "formats/rng.h"
#include "sim/gan/gan.h"

enum { BATCH = 24, MOST = 4096 };

/* The gradients of one micro-batch as the layers hand them on. */
typedef struct seen {
    float gradient[16][MOST];
    size_t at, parts, params;
    const ulp_net *net;
} seen;

static void see(void *context, const ulp_observation *o) {
    seen *s = context;
    const ulp_layer *layer = &s->net->layers[o->layer];
    assert_true(s->at < 16 && o->n == layer->params && layer->first_param + o->n <= MOST);
    memcpy(s->gradient[s->at] + layer->first_param, o->rounded, o->n * sizeof(float));
    if (o->layer == 0) s->at++; /* backward ends at the first layer */
}

/* The sum in the declared format, one operation after the other, and the update of sgd with rate 1. */
static void check_sum(const char *optimizer, const char *policy, size_t parts, size_t ranks) {
    static seen s;
    const ulp_observer observer = {see, &s, 1u << ULP_AT_WGRAD};
    training_texts o = {.net = "fc8 tanh fc10",
                        .policy = policy,
                        .scaler = "static:4",
                        .optimizer = optimizer,
                        .batch = BATCH,
                        .seed = 6,
                        .observer = &observer,
                        .ranks = ranks,
                        .reduction = "tree:fp32"};
    ulp_trainer *t = trainer_of(&digits, &o);
    const ulp_cast *cast = &t->optimizer.rule.sum;
    const size_t n = t->model.net.params;
    float *sum = calloc(ranks * n, sizeof *sum);
    assert_true(t->model.batch == BATCH / parts / ranks && t->micro == parts);
    s.net = &t->model.net;
    for (uint64_t step = 0; step < 3; step++) {
        s.at = 0;
        assert_ok(ulp_trainer_step(t, NULL));
        assert_int_equal(s.at, parts * ranks);
        for (size_t r = 0; r < ranks; r++)
            for (size_t m = 0; m < parts; m++)
                for (size_t i = 0; i < n; i++) {
                    const ulp_stream stream = {6, ulp_stream_id(53, 0, 0, step), (uint64_t)(r * parts + m) << 48};
                    const uint32_t word = ulp_random_word(stream, i);
                    const double g = (double)s.gradient[r * parts + m][i], before = (double)sum[r * n + i];
                    sum[r * n + i] = (float)(m == 0 ? ulp_round(g, &cast->format, cast->rule, word)
                                                    : ulp_arith((ulp_scalar_op){ULP_ADD, before, g, 0}, &cast->format,
                                                                cast->rule, word));
                }
        for (size_t i = 0; i < n && ranks == 1; i++)
            if (sum[i] != t->model.wgrad[i])
                fail_msg("%s, step %d: %zu is %a, not %a", optimizer, (int)step, i, (double)t->model.wgrad[i],
                         (double)sum[i]);
        for (size_t i = 0; i < n && ranks == 2; i++) assert_true(t->model.wgrad[i] == (sum[i] + sum[n + i]) * 0.5f);
    }
    free(sum);
    ulp_trainer_free(t);
}

TEST(sums) {
    check_sum("sgd,rate=1,accumulate=1:bf16", "fp32", 1, 1);
    check_sum("sgd,rate=1,accumulate=2:bf16", "fp32", 2, 1);
    check_sum("sgd,rate=1,accumulate=3:e5m2/sr", "mixed:fp16", 3, 1);
    check_sum("sgd,rate=1,accumulate=12:fp16/sr/7", "mixed:bf16,mode=sr", 12, 1);
    check_sum("sgd,rate=1,accumulate=4:fp32", "fp32", 4, 1);
    check_sum("sgd,rate=1,accumulate=4:q2.14/rz", "fp32", 4, 1);
    check_sum("sgd,rate=1,accumulate=3:bf16/sr", "mixed:bf16,mode=sr", 3, 2);
}

/* The gradients are those of the mean over the whole batch: in binary32 they are near the gradients without
 * micro-batches. In e4m3 the last of many terms no longer reach a large sum. */
TEST(whole_batch) {
    static const char *const ways[] = {"sgd,rate=0.5", "sgd,rate=0.5,accumulate=3:fp32",
                                       "sgd,rate=0.5,accumulate=24:fp32", "sgd,rate=0.5,accumulate=24:e4m3"};
    float gradient[4][MOST];
    double loss[4], error_of[4] = {0}, size = 0;
    for (size_t k = 0; k < COUNT_OF(ways); k++) {
        training_texts o = {.net = "fc8 tanh fc10", .optimizer = ways[k], .batch = BATCH, .seed = 6};
        ulp_trainer *t = trainer_of(&digits, &o);
        ulp_step s;
        assert_ok(ulp_trainer_step(t, &s));
        loss[k] = s.loss;
        memcpy(gradient[k], t->model.wgrad, t->model.net.params * sizeof(float));
        for (size_t i = 0; i < t->model.net.params; i++) {
            const double d = (double)gradient[k][i] - (double)gradient[0][i];
            error_of[k] += d * d;
            size += k == 0 ? (double)gradient[0][i] * (double)gradient[0][i] : 0;
        }
        ulp_trainer_free(t);
    }
    for (size_t k = 1; k < 4; k++) assert_true(fabs(loss[k] / loss[0] - 1) < 1e-6);
    assert_true(error_of[1] < 1e-10 * size && error_of[2] < 1e-10 * size && error_of[3] > 1e-4 * size);
}

static void expect_refused(training_texts o, ulp_status status, const char *sentence) {
    o.net = "fc10";
    assert_int_equal(check_texts(&digits, &o, &error), status);
    if (!strstr(error.text, sentence)) fail_msg("'%s' does not say '%s'", error.text, sentence);
}

TEST(refusals) {
    expect_refused(
        (training_texts){.optimizer = "sgd,accumulate=5:bf16", .batch = 24}, ULP_BAD_ARGUMENT,
        "accumulate=5: micro-batches have to divide the 24 samples of a rank's step; the nearest numbers are "
        "4 and 6");
    expect_refused((training_texts){.optimizer = "sgd,accumulate=30:bf16", .batch = 24}, ULP_BAD_ARGUMENT,
                   "the nearest number is 24");
    expect_refused((training_texts){.optimizer = "sgd,accumulate=4:bf16", .batch = 24, .ranks = 4}, ULP_BAD_ARGUMENT,
                   "the 6 samples of a rank's step; the nearest number is 3");
    expect_refused((training_texts){.optimizer = "sgd,accumulate=4:bf16", .scaler = "layer", .batch = 24},
                   ULP_UNSUPPORTED, "accumulate=4 needs a scaler of the whole loss");
    ulp_net nets[2];
    ulp_optimizer_rule optimizer;
    assert_ok(ulp_net_parse(&nets[0], "fc64 reshape1x8x8", (ulp_dims){5, 1, 1}, &error));
    assert_ok(ulp_net_parse(&nets[1], "fc1", digits.dims, &error));
    assert_ok(ulp_optimizer_parse(&optimizer, "sgd,accumulate=2:bf16", &error));
    const ulp_gan_options o = {
        .generator = {.net = &nets[0]}, .discriminator = {.net = &nets[1], .optimizer = &optimizer}, .batch = 6};
    assert_int_equal(ulp_gan_check(&digits, &o, &error), ULP_UNSUPPORTED);
    assert_non_null(strstr(error.text, "discriminator: optimizer: accumulate=2"));
    ulp_net_release(&nets[0]);
    ulp_net_release(&nets[1]);
}

TESTS(load_digits, free_digits)
