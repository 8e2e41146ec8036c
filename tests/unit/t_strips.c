/* t_strips.c - strips of several digits: the data, and training with CTC on them. */

#include "sim/losses/answers.h"
#include "support.h"
#include "training.h"

/* ---- the data ---- */

static ulp_data strips;

static int load_both(void **state) {
    return load_digits(state) || ulp_data_load(&strips, "strips", NULL, 1, &error) != ULP_OK;
}

static int free_both(void **state) {
    ulp_data_release(&strips);
    return free_digits(state);
}

/* Whether columns x .. x + 7 of strip i are one of the digits [first, end) and this digit has the label. */
static int holds(size_t i, size_t x, uint8_t label, size_t first, size_t end) {
    for (size_t d = first; d < end; d++) {
        size_t y = 0;
        if (digits.label[d] != label) continue;
        while (y < 8 && memcmp(strips.pixel + i * strips.features + y * strips.dims.w + x,
                               digits.pixel + d * 64 + y * 8, 8) == 0)
            y++;
        if (y == 8) return 1;
    }
    return 0;
}

/* Whether strip i has the digits of label k and of all later labels from column x on, with gaps of 0 to 2 columns. */
static int readable(size_t i, size_t k, size_t x, size_t first, size_t end) {
    const uint8_t *label = strips.label + i * strips.labels;
    if (k == strips.labels || label[k] == ULP_NO_LABEL) return 1;
    for (size_t gap = 0; gap < 3 && x + gap + 8 <= strips.dims.w; gap++)
        if (holds(i, x + gap, label[k], first, end) && readable(i, k + 1, x + gap + 8, first, end)) return 1;
    return 0;
}

TEST(strips) {
    size_t lengths[8] = {0}, ink = 0, drawn = 0;
    assert_true(strips.n == 2500 && strips.n_train == 2000 && strips.dims.c == 1 && strips.dims.h == 8 &&
                strips.dims.w == 60);
    assert_true(strips.features == 480 && strips.classes == 10 && strips.labels == 6 && strips.white == 16);
    for (size_t i = 0; i < strips.n; i++) {
        size_t L = ulp_label_count(strips.label + i * 6, 6);
        lengths[L]++;
        for (size_t k = L; k < 6; k++) assert_int_equal(strips.label[i * 6 + k], ULP_NO_LABEL);
        if (i % 5 && i < 1950) continue; /* a fifth of the training strips; all strips from 1950 on */
        int train = i < strips.n_train;
        assert_true(readable(i, 0, 0, train ? 0 : digits.n_train, train ? digits.n_train : digits.n));
        assert_false(readable(i, 0, 0, train ? digits.n_train : 0, train ? digits.n : digits.n_train));
    }
    assert_true(lengths[4] > 700 && lengths[5] > 700 && lengths[6] > 700 &&
                lengths[4] + lengths[5] + lengths[6] == 2500);
    /* the mean pixel sum of a digit is that of the set digits, 561718 / 1797, within 2 % */
    for (size_t i = 0; i < strips.n * strips.features; i++) ink += strips.pixel[i];
    for (size_t L = 4; L <= 6; L++) drawn += L * lengths[L];
    assert_true(fabs((double)ink / (double)drawn / (561718.0 / 1797.0) - 1.0) < 0.02);
}

/* Random word 0 of a strip gives its number of digits, word 2 k + 1 the digit k, and word 2 k + 2 the gap before it. */
TEST(words_of_strips) {
    for (size_t i = 0; i < strips.n_train; i += 97) {
        const ulp_stream s = {1, ulp_stream_id(ULP_USE_SPLIT, 0, 1, i), 0};
        const uint8_t *strip = strips.pixel + i * strips.features;
        size_t x = 0;
        for (size_t k = 0; k < 4; k++) {
            const size_t digit = (size_t)(ulp_random_uniform(s, 2 * k + 1) * (double)digits.n_train);
            x += (size_t)(ulp_random_uniform(s, 2 * k + 2) * 3.0);
            for (size_t y = 0; y < 8; y++)
                assert_memory_equal(strip + y * strips.dims.w + x, digits.pixel + digit * 64 + y * 8, 8);
            x += 8;
        }
    }
}

TEST(strips_follow_seed) {
    ulp_data again, other;
    assert_ok(ulp_data_load(&again, "strips", NULL, 1, &error));
    assert_ok(ulp_data_load(&other, "strips", NULL, 2, &error));
    assert_memory_equal(again.pixel, strips.pixel, strips.n * strips.features);
    assert_memory_equal(again.label, strips.label, strips.n * strips.labels);
    assert_true(memcmp(other.label, strips.label, strips.n * strips.labels) != 0);
    ulp_data_release(&again);
    ulp_data_release(&other);
    assert_int_equal(ulp_data_load(&again, "strips", "/nowhere", 1, &error), ULP_NO_DEVICE);
    assert_true(again.pixel == NULL && strstr(error.text, "no digits.csv"));
}

TEST(mnist_strips) {
    const char *folder = getenv("ULPLAB_DATA");
    ulp_data mnist;
    ulp_status status = ulp_data_load(&mnist, "mnist-strips", folder && *folder ? folder : "../shared/data", 1, &error);
    if (status == ULP_NO_DEVICE) skip();
    assert_ok(status);
    assert_true(mnist.n == 14000 && mnist.n_train == 12000 && mnist.dims.h == 28 && mnist.dims.w == 204 &&
                mnist.labels == 6);
    ulp_data_release(&mnist);
}

/* ---- training ---- */

#define MIB "fc1048576 " /* ten of these layers need more than 2^47 bytes, which no process has */

TEST(options) {
    static const struct {
        const ulp_data *data;
        training_texts options;
        const char *says;
    } bad[] = {
        {&strips, {.net = "columns gru4 conv10@1", .batch = 8}, "11 x 1 x steps"},
        {&strips, {.net = "fc11 fc10", .batch = 8}, "11 x 1 x steps"},
        {&strips, {.net = "columns gru4 conv11@1", .batch = 8, .loss = "softmax"}, "one label per sample"},
        {&strips, {.net = "columns gru4 conv11@1", .batch = 8, .loss = "mse"}, "known: ctc, ctc-linear, softmax"},
        {&digits, {.net = "fc11", .batch = 8}, "one output per class of the data: it has 11, digits has 10 classes"},
        {&digits,
         {.net = MIB MIB MIB MIB MIB MIB MIB MIB MIB MIB "fc10", .batch = 8},
         "out of memory: the net has 9895692730378 parameters"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ulp_trainer *t;
        assert_int_not_equal(trainer_from_texts(&t, bad[i].data, &bad[i].options, &error), ULP_OK);
        assert_null(t);
        assert_non_null(strstr(error.text, bad[i].says));
    }
}

/* With single labels the label error is 1 - accuracy; ctc treats them as sequences of one label. */
TEST(single_labels) {
    static const training_texts options[] = {
        {.net = "fc10", .batch = 32, .optimizer = "sgd,rate=0.1"},
        {.net = "columns gru8 conv11@1", .batch = 32, .loss = "ctc", .optimizer = "sgd,rate=0.05,momentum=0.9"}};
    for (size_t i = 0; i < 2; i++) {
        ulp_train_result r;
        assert_ok(run_from_texts(&r, &digits, &options[i], 60, &error));
        assert_true(r.test.n == 360 && r.test.labels == 360 && r.test.right <= 360);
        if (i == 0)
            assert_true(r.test.right > 180 && r.test.edits == r.test.n - r.test.right &&
                        r.test.label_error == (double)r.test.edits / 360.0);
        else assert_true(r.test.edits >= r.test.n - r.test.right);
    }
}

/* A loss that underflows becomes Inf, and the scaler skips the step. */
TEST(scaler_sees) {
    training_texts o = {"columns gru8 conv11@1",
                        "fp32,loss=fp16",
                        "pytorch",
                        .loss = "ctc-linear",
                        .batch = 8,
                        .seed = 1,
                        .counting = 1};
    ulp_step step;
    ulp_trainer *t = trainer_of(&strips, &o);
    assert_ok(ulp_trainer_step(t, &step));
    assert_true(step.loss == INFINITY && step.overflow && step.skipped &&
                t->pass.counts.rounded[ULP_AT_LOSS].underflow > 0);
    ulp_trainer_free(t);
}

TEST(learns) {
    training_texts o = {"columns2 gru48 conv11@1",    "mixed:fp16", "pytorch",
                        "sgd,rate=0.02,momentum=0.9", .batch = 32,  .seed = 1};
    ulp_train_result r;
    if (THINNED) skip();
    ulp_threads_set(1); /* the products of a step are too small for several threads */
    assert_ok(run_from_texts(&r, &strips, &o, 300, &error));
    ulp_threads_set(0);
    print_message("strips, mixed:fp16, 300 steps: label error %.2f %%, %.1f %% of the strips right, %d skipped\n",
                  100 * r.test.label_error, 100 * r.test.accuracy, (int)r.skipped);
    assert_true(!isnan(r.test.loss) && r.test.label_error < 0.1 && r.skipped < 20);
}

TESTS(load_both, free_both)
