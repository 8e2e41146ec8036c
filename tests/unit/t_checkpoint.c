/* t_checkpoint.c - a run continued from a file computes the bits of an uninterrupted run; other files are refused. */
#include <unistd.h>

#include "base/checksum.h"
#include "base/file.h"
#include "sim/train/checkpoint.h"
#include "training.h"

enum { STEPS = 61, CUT = 23, BATCH = 48 }; /* 1437 training samples make 29 batches; the cut is in the first epoch */

static const char file[] = "t_checkpoint.tmp.ckpt";

static training_texts options_of(const char *policy, const char *scaler, const char *optimizer) {
    training_texts o = {
        .net = "fc24 relu fc10", .policy = policy, .scaler = scaler, .optimizer = optimizer, .batch = BATCH, .seed = 3};
    return o;
}

/* Run `steps` steps, and write their losses and scales to `trace`. */
static void go_on(ulp_trainer *t, int steps, double *trace) {
    for (int i = 0; i < steps; i++) {
        ulp_step s;
        assert_ok(ulp_trainer_step(t, &s));
        trace[2 * i] = s.loss;
        trace[2 * i + 1] = s.scale_log2;
    }
}

static void assert_alike(ulp_trainer *a, ulp_trainer *b) {
    size_t n = a->model.net.params;
    float *x = calloc(4 * n, sizeof *x);
    ulp_score left, right;
    assert_non_null(x);
    assert_ok(ulp_trainer_weights(a, x, x + n));
    assert_ok(ulp_trainer_weights(b, x + 2 * n, x + 3 * n));
    assert_memory_equal(x, x + 2 * n, 2 * n * sizeof *x);
    assert_ok(ulp_trainer_score(a, ULP_TEST_PART, &left));
    assert_ok(ulp_trainer_score(b, ULP_TEST_PART, &right));
    assert_memory_equal(&left, &right, sizeof left);
    assert_int_equal(a->scaler.log2, b->scaler.log2);
    assert_int_equal(a->scaler.skipped, b->scaler.skipped);
    assert_int_equal(a->step, b->step);
    free(x);
}

TEST(same_bits) {
    static const struct {
        const char *policy, *scaler, *optimizer, *tail;
        uint64_t tail_step;
    } runs[] = {
        {"fp32", "none", "sgd,rate=0.2", NULL, 0},
        {"fp32", "none", "sgd,rate=0.2,momentum=0.9,decay=0.001,warmup=30,cosine=60", NULL, 0},
        {"mixed:fp16", "pytorch,interval=4,init=24", "sgd,rate=0.1,momentum=0.9", NULL,
         0}, /* the scale grows, overflows and skips steps before and after the cut */
        {"mixed:fp16", "megatron,interval=3,init=26", "adam,rate=0.01", NULL, 0}, /* with hysteresis */
        {"mixed:fp16", "pytorch,hysteresis=40,init=30", "sgd,rate=0.1", NULL,
         0}, /* the 40th overflow comes after the cut */
        {"mixed:fp16", "layer,interval=5", "sgd,rate=0.2", NULL, 0},
        {"mixed:fp16", "logmax", "adamw,rate=0.01,decay=0.01,drop=0.5/13", NULL, 0},
        {"q6.10,mode=sr,acc=fp32,loss=fp32", "static:6", "sgd,rate=0.2,momentum=0.5", NULL,
         0}, /* stochastic rounding without master weights */
        {"bf16,mode=sr/8,out=fp32,acc=fp32", "none", "sgd,rate=0.2", NULL, 0},
        {"bf16,acc=fp32", "none", "sgd,rate=0.2,kahan=1", NULL, 0},
        {"mixed:e4m3,act=e4m3@delayed5,agrad=e5m2@delayed5", "none", "sgd,rate=0.1,momentum=0.9", NULL,
         0}, /* tensor scales from past steps */
        {"mixed:fp16", "pytorch,interval=6", "adamw,rate=0.01,clip=0.5,decays=weights,cosine=70,floor=0.1", NULL, 0},
        {"mixed:fp16,mode=sr", "pytorch,interval=6", "sgd,rate=0.1,accumulate=4:bf16/sr,clip=1,clip-at=scaled", NULL,
         0},
        {"mixed:fp16", "pytorch", "sgd,rate=0.1", "mixed:e4m3,act=e4m3@delayed3,mode=sr", CUT - 5},
        {"mixed:bf16,mode=sr", "layer", "adamw", "mixed:fp16,first.act=bf16,weight=e4m3@amax/sr", CUT},
        {"bf16,mode=sr", "none", "sgd,decays=weights,decay=0.1", "fp32", CUT + 1},
        {"mixed:fp16,mode=sr", "pytorch,interval=4", "sgd,rate=0.1", NULL, 0}, /* on three ranks */
    };
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        training_texts o = options_of(runs[i].policy, runs[i].scaler, runs[i].optimizer);
        o.ranks = i + 1 < COUNT_OF(runs) ? 1 : 3;
        o.tail = runs[i].tail;
        o.tail_step = runs[i].tail_step;
        o.reduction = "tree:bf16:sr";
        ulp_trainer *whole = trainer_of(&digits, &o), *first = trainer_of(&digits, &o),
                    *second = trainer_of(&digits, &o);
        double one[2 * STEPS], two[2 * STEPS];
        char note[] = "rows so far";
        void *back;
        size_t bytes;
        go_on(whole, STEPS, one);
        go_on(first, CUT, two);
        assert_ok(ulp_checkpoint_save(first, file, note, sizeof note, &error));
        ulp_trainer_free(first);
        assert_ok(ulp_checkpoint_load(second, file, &back, &bytes, &error));
        assert_int_equal(bytes, sizeof note);
        assert_string_equal(back, note);
        free(back);
        go_on(second, STEPS - CUT, two + 2 * CUT);
        assert_memory_equal(one, two, sizeof one);
        assert_alike(whole, second);
        assert_int_not_equal(access("t_checkpoint.tmp.ckpt.tmp", F_OK), 0);
        ulp_trainer_free(whole);
        ulp_trainer_free(second);
    }
    remove(file);
}

/* The learning rate may change between steps; a checkpoint keeps the present rate. */
TEST(rate) {
    static const double rates[] = {0.05, 0.0};
    for (size_t i = 0; i < 2; i++) {
        training_texts o = options_of("fp32", "none", "sgd,rate=0.2,momentum=0.9");
        ulp_trainer *whole = trainer_of(&digits, &o), *again = trainer_of(&digits, &o);
        double one[2 * STEPS], two[2 * STEPS];
        void *note;
        size_t bytes;
        go_on(whole, 5, one);
        assert_ok(ulp_checkpoint_save(whole, file, NULL, 0, &error));
        assert_ok(ulp_checkpoint_load(again, file, &note, &bytes, &error));
        assert_int_equal(bytes, 0);
        free(note);
        whole->optimizer.rule.rate = again->optimizer.rule.rate = rates[i];
        go_on(whole, 5, one);
        go_on(again, 5, two);
        assert_memory_equal(one, two, 10 * sizeof *one);
        assert_alike(whole, again);
        ulp_trainer_free(again);
        again = trainer_of(&digits, &o);
        assert_ok(ulp_checkpoint_save(whole, file, NULL, 0, &error));
        assert_ok(ulp_checkpoint_load(again, file, &note, &bytes, &error));
        free(note);
        assert_true(again->optimizer.rule.rate == rates[i]);
        ulp_trainer_free(again);
        ulp_trainer_free(whole);
    }
    remove(file);
}

static void fill_between(void *at, size_t from, size_t to, int byte) { memset((char *)at + from, byte, to - from); }

/* The padding between the fields of the state has no defined value; the file does not contain it. */
TEST(padding) {
    training_texts o = options_of("mixed:fp16", "pytorch", "sgd,rate=0.2");
    ulp_trainer *t = trainer_of(&digits, &o);
    unsigned char *saved[2];
    size_t bytes[2];
    for (int i = 0; i < 2; i++) {
        fill_between(&t->scaler, offsetof(ulp_scaler, patience) + sizeof t->scaler.patience,
                     offsetof(ulp_scaler, overflows), 0x20 * i);
        fill_between(&t->optimizer.rule, offsetof(ulp_optimizer_rule, kahan) + sizeof t->optimizer.rule.kahan,
                     sizeof t->optimizer.rule, 0x20 * i);
        assert_ok(ulp_checkpoint_save(t, file, NULL, 0, &error));
        assert_ok(ulp_file_read(&saved[i], &bytes[i], file, SIZE_MAX / 4, &error));
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(saved[0], saved[1], bytes[0]);
    free(saved[0]);
    free(saved[1]);
    ulp_trainer_free(t);
    remove(file);
}

/* Check that a run with these options cannot load the file: the sentence contains `says`, and the run is unchanged. */
static void expect_refusal(const ulp_data *data, const training_texts *o, ulp_status want, const char *says) {
    ulp_trainer *t = trainer_of(data, o), *fresh = trainer_of(data, o);
    void *note = &note;
    size_t bytes;
    ulp_status status = ulp_checkpoint_load(t, file, &note, &bytes, &error);
    if (status != want || !strstr(error.text, says))
        fail_msg("%d, not %d with '%s': %s", status, want, says, error.text);
    assert_null(note);
    assert_alike(t, fresh);
    ulp_trainer_free(t);
    ulp_trainer_free(fresh);
}

TEST(other_runs) {
    training_texts o = options_of("mixed:fp16", "pytorch", "sgd,rate=0.2,momentum=0.9"), other;
    ulp_trainer *t = trainer_of(&digits, &o);
    ulp_data foreign = digits;
    double trace[2 * STEPS];
    void *note;
    size_t bytes;
    go_on(t, 3, trace);
    assert_ok(ulp_checkpoint_save(t, file, "x", 1, &error));
    assert_int_equal(ulp_checkpoint_load(t, file, &note, &bytes, &error), ULP_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "begun already"));
    ulp_trainer_free(t);
#define OTHER(field, value, says)                                                                                      \
    (other = o, other.field = (value), expect_refusal(&digits, &other, ULP_BAD_ARGUMENT, says))
    OTHER(net, "fc24 tanh fc10", "there 'net: fc24 relu fc10', here 'net: fc24 tanh fc10'");
    OTHER(policy, "mixed:bf16", "'policy: weight=");
    OTHER(scaler, "pytorch,interval=7", "interval 7");
    OTHER(scaler, "layer", "scaler: layer");
    OTHER(optimizer, "sgd,rate=0.3,momentum=0.9", "there 'optimizer: sgd, rate 0.2");
    OTHER(optimizer, "sgd,rate=0.2,momentum=0.8", "momentum 0.8");
    OTHER(optimizer, "adam", "here 'optimizer: adam");
    OTHER(seed, 4, "there 'seed: 3', here 'seed: 4'");
    OTHER(batch, 49, "here 'batch: 49'");
#undef OTHER
    foreign.checksum ^= 1;
    expect_refusal(&foreign, &o, ULP_BAD_ARGUMENT, "there 'data: digits, crc32 ");
    remove(file);
}

/* Write the first n bytes to the file, with byte `flip` changed. */
static void rewrite(const unsigned char *bytes, size_t n, size_t flip) {
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < n; i++) fputc(i == flip ? bytes[i] ^ 4 : bytes[i], f);
    assert_int_equal(fclose(f), 0);
}

TEST(damage) {
    training_texts o = options_of("fp32", "none", "sgd");
    ulp_trainer *t = trainer_of(&digits, &o);
    unsigned char *bytes;
    size_t n;
    remove(file);
    expect_refusal(&digits, &o, ULP_BAD_FILE, "cannot be opened");
    assert_ok(ulp_checkpoint_save(t, file, "x", 1, &error));
    assert_ok(ulp_file_read(&bytes, &n, file, SIZE_MAX / 4, &error));
    for (size_t flip = 20; flip < n; flip += n / 17) {
        rewrite(bytes, n, flip);
        expect_refusal(&digits, &o, ULP_BAD_FILE, "damaged");
    }
    rewrite(bytes, n, n - 1);
    expect_refusal(&digits, &o, ULP_BAD_FILE, "damaged");
    rewrite(bytes, n, 2);
    expect_refusal(&digits, &o, ULP_BAD_FILE, "not a checkpoint");
    const size_t cuts[] = {0, 3, 40, 700, n / 2, n - 1};
    for (size_t i = 0; i < COUNT_OF(cuts); i++) {
        rewrite(bytes, cuts[i], n);
        expect_refusal(&digits, &o, ULP_BAD_FILE, i < 3 ? "not a checkpoint" : "damaged or truncated");
    }
    remove(file);
    assert_int_equal(ulp_checkpoint_save(t, "no/such/folder.ckpt", NULL, 0, &error), ULP_BAD_FILE);
    assert_non_null(strstr(error.text, "no/such/folder.ckpt: cannot be written"));
    free(bytes);
    ulp_trainer_free(t);
}

/* A file with a right checksum whose note has a size that is written in another way, or that the file cannot hold. */
TEST(forged) {
    static const char *const sizes[] = {"-1", "18446744073709551615", "01", "1 ", "1\nmore: 1", "0", "2"};
    training_texts o = options_of("fp32", "none", "sgd");
    ulp_trainer *t = trainer_of(&digits, &o);
    unsigned char *bytes;
    size_t n;
    assert_ok(ulp_checkpoint_save(t, file, "x", 1, &error));
    assert_ok(ulp_file_read(&bytes, &n, file, SIZE_MAX / 4, &error));
    const char *note = strstr((char *)bytes, "note: 1\n");
    assert_non_null(note);
    const size_t before = (size_t)(note + 6 - (char *)bytes), behind = n - 4 - before - 1;
    unsigned char *forged = malloc(n + 40);
    assert_non_null(forged);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        const size_t length = strlen(sizes[i]), whole = before + length + behind;
        memcpy(forged, bytes, before);
        memcpy(forged + before, sizes[i], length);
        memcpy(forged + before + length, bytes + before + 1, behind);
        const uint32_t crc = ulp_crc32(0, forged, whole);
        for (int k = 0; k < 4; k++) forged[whole + (size_t)k] = (unsigned char)(crc >> (24 - 8 * k));
        rewrite(forged, whole + 4, whole + 4);
        if (i == 1 || i > 4) expect_refusal(&digits, &o, ULP_BAD_FILE, "damaged or truncated");
        else expect_refusal(&digits, &o, ULP_BAD_ARGUMENT, "there 'note: ");
    }
    remove(file);
    free(forged);
    free(bytes);
    ulp_trainer_free(t);
}

TESTS(load_digits, free_digits)
