/* t_positions.c - labels that belong to positions: the loss of each position against its definition, and token inputs.
 */
#include "training.h"

#include "formats/rng.h"
#include "kernels/functions/elementary.h"

enum { N = 40, N_TRAIN = 30, T = 6, C = 5, BATCH = 6 };

/* Rows of C pixels, each with a label: the column of its largest pixel, or another one. */
static uint8_t pixel[N * T * C], label[N * T];
static ulp_data rows = {.name = "rows",
                        .n = N,
                        .n_train = N_TRAIN,
                        .dims = {1, T, C},
                        .features = T * C,
                        .classes = C,
                        .labels = T,
                        .positions = 1,
                        .white = 255,
                        .pixel = pixel,
                        .label = label};

static int draw_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof pixel; i++) pixel[i] = (uint8_t)(ulp_random_word((ulp_stream){9, 1, 0}, i) >> 24);
    for (size_t i = 0; i < N * T; i++) {
        label[i] = (uint8_t)(ulp_random_word((ulp_stream){9, 2, 0}, i) % C);
        if (i % 4) pixel[i * C + label[i]] = 255;
    }
    return 0;
}

/* The loss of a row of outputs in binary64, and its probabilities. */
static double loss_of(const float *z, size_t right, double p[C]) {
    double sum = 0, largest = -INFINITY;
    for (size_t c = 0; c < C; c++) largest = fmax(largest, (double)z[c]);
    for (size_t c = 0; c < C; c++) sum += p[c] = exp((double)z[c] - largest);
    for (size_t c = 0; c < C; c++) p[c] /= sum;
    return log(sum) - ((double)z[right] - largest);
}

static int is_near(double a, double b) { return fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b)) + 1e-9; }

/* The mean over all positions, and (p - t) / (B T) as the gradient of the outputs. */
TEST(step) {
    ulp_trainer *t =
        trainer_of(&rows, &(training_texts){.net = "conv3@3p1 tanh conv1@1", .scaler = "static:3", .batch = BATCH});
    ulp_step step;
    float z[BATCH * T * C], dz[BATCH * T * C];
    double mean = 0, p[C];
    assert_ok(ulp_trainer_step(t, &step));
    memcpy(z, t->model.tensor[3], sizeof z); /* the memory of the CPU */
    memcpy(dz, t->model.grad[3], sizeof dz);
    for (size_t i = 0; i < BATCH * T; i++) {
        const size_t right = t->label[i];
        mean += loss_of(z + i * C, right, p) / (BATCH * T);
        for (size_t c = 0; c < C; c++)
            assert_true(is_near((double)dz[i * C + c], 8 * (p[c] - (c == right)) / (BATCH * T)));
    }
    assert_true(is_near(step.loss, mean));
    ulp_trainer_free(t);
}

/* Every position counts; a score in pieces is the score of all samples. */
TEST(score) {
    ulp_trainer *t = trainer_of(&rows, &(training_texts){.net = "conv3@3p1 tanh conv1@1", .batch = BATCH});
    ulp_score s;
    float x[N * T * C];
    double mean = 0, p[C];
    size_t right = 0;
    for (int i = 0; i < 20; i++) assert_ok(ulp_trainer_step(t, NULL));
    assert_ok(ulp_trainer_score(t, ULP_TRAIN_PART, &s));
    memcpy(x, t->model.tensor[3], N_TRAIN * T * C * sizeof *x);
    for (size_t i = 0; i < N_TRAIN * T; i++) {
        size_t best = 0;
        mean += loss_of(x + i * C, label[i], p) / (N_TRAIN * T);
        for (size_t c = 1; c < C; c++) best = p[c] > p[best] ? c : best;
        right += best == label[i];
    }
    assert_true(s.n == N_TRAIN && s.labels == N_TRAIN * T && s.right == right && s.edits == s.labels - right);
    assert_true(is_near(s.loss, mean) && is_near(s.bits, mean / log(2.0)));
    assert_true(s.accuracy == (double)right / (N_TRAIN * T) && is_near(s.label_error, 1 - s.accuracy));
    ulp_trainer_free(t);
}

/* One position is one label: the same bits as data with single labels. */
TEST(one_position) {
    static uint8_t single[N];
    for (size_t i = 0; i < N; i++) single[i] = label[i * T];
    ulp_data one = rows, plain;
    one.labels = one.dims.h = 1;
    one.dims.w = one.features = C;
    one.label = single;
    plain = one;
    plain.positions = 0;
    static const char *const policies[] = {"fp32", "mixed:bf16,loss=bf16,mode=sr,out=bf16"};
    for (size_t k = 0; k < COUNT_OF(policies); k++) {
        const training_texts texts = {.net = "conv2@1 relu conv1@1", .policy = policies[k], .batch = BATCH, .seed = 4};
        ulp_trainer *a = trainer_of(&one, &texts), *b = trainer_of(&plain, &texts);
        ulp_step left, right;
        ulp_score s, u;
        for (int i = 0; i < 12; i++) {
            assert_ok(ulp_trainer_step(a, &left));
            assert_ok(ulp_trainer_step(b, &right));
            assert_true(left.loss == right.loss);
        }
        assert_memory_equal(a->optimizer.weight, b->optimizer.weight, a->model.net.params * sizeof(float));
        assert_ok(ulp_trainer_score(a, ULP_TEST_PART, &s));
        assert_ok(ulp_trainer_score(b, ULP_TEST_PART, &u));
        assert_true(s.loss == u.loss && s.right == u.right && s.accuracy == u.accuracy && s.bits == u.bits);
        ulp_trainer_free(a);
        ulp_trainer_free(b);
    }
}

static void expect_refused(const ulp_data *data, const training_texts *texts, const char *sentence) {
    assert_int_equal(check_texts(data, texts, &error), ULP_BAD_ARGUMENT);
    if (!strstr(error.text, sentence)) fail_msg("'%s' does not say '%s'", error.text, sentence);
}

TEST(refusals) {
    ulp_data sequences = rows;
    sequences.positions = 0;
    expect_refused(
        &rows, &(training_texts){.net = "fc5", .batch = 4},
        "a row of outputs for each label, 1 x 6 x 5, since rows has 6 labels of 5 classes per sample; it ends "
        "with 5 x 1 x 1");
    expect_refused(&rows, &(training_texts){.net = "conv2@1", .batch = 4}, "it ends with 2 x 6 x 5");
    expect_refused(&rows, &(training_texts){.net = "conv1@1", .loss = "ctc", .batch = 4},
                   "the labels of rows belong to positions");
    expect_refused(&sequences, &(training_texts){.net = "conv1@1", .loss = "softmax", .batch = 4},
                   "loss softmax takes one label per sample");
    expect_refused(&sequences, &(training_texts){.net = "conv1@1", .batch = 4}, "for loss ctc the net ends");
}

/* Numbers of tokens reach the first layer as they are, whatever the policy says about inputs. */
TEST(tokens) {
    enum { LENGTH = 4 };
    static uint8_t token[N * LENGTH], next[N * LENGTH];
    ulp_data text = {.name = "tokens",
                     .n = N,
                     .n_train = N_TRAIN,
                     .dims = {1, LENGTH, 1},
                     .features = LENGTH,
                     .classes = 2,
                     .labels = LENGTH,
                     .white = 1,
                     .tokens = 1,
                     .positions = 1,
                     .pixel = token,
                     .label = next};
    for (size_t i = 0; i < sizeof token; i++) token[i] = (uint8_t)(i * 37 + 201), next[i] = (uint8_t)(i % 3 == 0);
    const training_texts texts = {
        .net = "up2 conv1@3s3p2", .policy = "fp32,act=e2m1,input.act=e2m1", .batch = BATCH, .seed = 2};
    for (int tokens = 0; tokens < 2; tokens++) {
        text.tokens = (uint8_t)tokens;
        ulp_trainer *t = trainer_of(&text, &texts);
        ulp_score s;
        assert_ok(ulp_trainer_step(t, NULL));
        size_t exact = 0;
        for (size_t b = 0; b < BATCH; b++)
            for (size_t i = 0; i < LENGTH; i++)
                exact += t->model.tensor[0][b * LENGTH + i] == (float)token[t->order[b] * LENGTH + i];
        assert_int_equal(exact == BATCH * LENGTH, tokens);
        assert_ok(ulp_trainer_score(t, ULP_TEST_PART, &s));
        assert_true(!tokens || t->model.tensor[0][0] == (float)token[N_TRAIN * LENGTH]);
        ulp_trainer_free(t);
    }
}

/* Four ranks take a quarter of the batch each: the mean of their gradients is the gradient of the batch. */
TEST(ranks) {
    training_texts texts = {.net = "conv3@3p1 tanh conv1@1", .batch = 8, .seed = 3, .reduction = "tree:fp32"};
    ulp_step whole, split;
    ulp_trainer *a = trainer_of(&rows, &texts);
    texts.ranks = 4;
    ulp_trainer *b = trainer_of(&rows, &texts);
    assert_ok(ulp_trainer_step(a, &whole));
    assert_ok(ulp_trainer_step(b, &split));
    assert_true(is_near(whole.loss, split.loss));
    for (size_t i = 0; i < a->model.net.params; i++)
        assert_true(fabs((double)a->model.wgrad[i] - (double)b->model.wgrad[i]) < 1e-6);
    ulp_trainer_free(a);
    ulp_trainer_free(b);
}

TESTS(draw_rows, NULL)
