/* t_streams.c - the random words of training: every use has words of its own; the uses are listed.
 *
 * Small trainings of every kind of layer, loss, optimizer and scaler, with ranks, and of two networks run with a
 * stochastic mode at every rounding point and in every sum. A backend records the words that each operation takes, and
 * sources of sim/ that draw words on the host are compiled so that they record theirs (tests/proofs/streams/). No two
 * operations of a training may take one word, but for is_by_design(), and every word belongs to a use of the table
 * below.
 */
#include "sim/gan/gan.h"
#include "sim/train/sample.h"
#include "tests/proofs/streams/record.h"
#include "training.h"
#include "random_images.h"

#include <inttypes.h>

enum { STEPS = 3, BATCH = 8, USES = 128 };

/* Every use of random words in sim/: the field `use` of a stream's number (policy.h), which two uses never share. */
static const struct use {
    uint32_t use;
    const char *name, *layer, *lane, *step, *index;
} uses[] = {
    {ULP_AT_WEIGHT, "weights: rounded for the layers", "0; the layer if scaled", "0", "step", "parameter"},
    {ULP_AT_ACT, "activations", "tensor", "inner tensor", "step", "rank 2^48 + sample, element"},
    {ULP_AT_WGRAD, "gradients of weights", "layer", "inner tensor", "step", "rank 2^48 + parameter"},
    {ULP_AT_AGRAD, "gradients of activations", "tensor", "inner tensor", "step", "rank 2^48 + sample, element"},
    {ULP_AT_STATE, "unscaled gradients", "0", "0", "step", "parameter"},
    {ULP_AT_MASTER, "master weights at the start", "0", "0", "0", "parameter"},
    {ULP_AT_LOSS, "probabilities, losses, sums of ctc", "0 to 3", "0", "step", "rank 2^48 + sample, operation"},
    {ULP_AT_NORM, "means and variances; sums of attention", "layer", "0 and 1; block, 3", "step",
     "rank 2^48 + channel, operation"},
    {ULP_AT_SCORE, "scores of attention", "layer", "0", "step", "rank 2^48 + sample, element"},
    {ULP_AT_PROB, "weights of attention", "layer", "0, block, 4095", "step", "rank 2^48 + sample, element"},
    {ULP_USE_FORWARD, "sums of forward products", "layer", "inner tensor", "step", "rank 2^48 + sum, word of the sum"},
    {ULP_USE_BIAS, "sums that begin at a bias", "layer", "inner tensor", "step", "rank 2^48 + sum, word"},
    {ULP_USE_BACKWARD, "sums for gradients of activations", "layer", "inner tensor", "step", "rank 2^48 + sum, word"},
    {ULP_USE_WPRODUCT, "sums for gradients of weights", "layer", "inner tensor", "step", "rank 2^48 + sum, word"},
    {ULP_USE_BPRODUCT, "sums for gradients of biases", "layer", "inner tensor", "step", "rank 2^48 + sum, word"},
    {ULP_USE_DECAY, "weight decay added to a gradient", "0", "0", "step", "parameter"},
    {ULP_USE_MOMENTUM, "momentum", "0", "0", "step", "parameter"},
    {ULP_USE_UPDATE, "updates of weights", "0", "0", "step", "parameter"},
    {ULP_USE_MEAN_TERM, "adam: (1 - beta1) g", "0", "0", "step", "parameter"},
    {ULP_USE_MEAN, "adam: m", "0", "0", "step", "parameter"},
    {ULP_USE_SQUARE, "adam: g g", "0", "0", "step", "parameter"},
    {ULP_USE_SQUARE_TERM, "adam: (1 - beta2) g g", "0", "0", "step", "parameter"},
    {ULP_USE_SQUARES, "adam: v", "0", "0", "step", "parameter"},
    {ULP_USE_ROOT, "adam: sqrt v", "0", "0", "step", "parameter"},
    {ULP_USE_DENOMINATOR, "adam: sqrt v + eps", "0", "0", "step", "parameter"},
    {ULP_USE_DIRECTION, "adam: m / (sqrt v + eps)", "0", "0", "step", "parameter"},
    {ULP_USE_INIT, "initial weights", "layer", "0", "0", "two words a number"},
    {ULP_USE_SHUFFLE, "order of the samples", "0", "0", "epoch", "place"},
    {ULP_USE_SPLIT, "split of the data; strips of digits", "0; 1: strips", "0", "0; the strip", "place"},
    {ULP_USE_DROP, "which elements dropout keeps", "layer", "0", "step", "rank 2^48 + sample, element"},
    {ULP_USE_LATENT, "latent vectors", "0", "0", "step", "two words a number"},
    {ULP_USE_SHRINK, "decoupled weight decay", "0", "0", "step", "parameter"},
    {ULP_USE_KAHAN_SUM, "compensated update: w + y", "0", "0", "step", "parameter"},
    {ULP_USE_KAHAN_MOVED, "compensated update: s - w", "0", "0", "step", "parameter"},
    {ULP_USE_KAHAN_LOST, "compensated update: y - e", "0", "0", "step", "parameter"},
    {ULP_USE_CLIP, "gradients times the coefficient of clipping", "0", "0", "step", "parameter"},
    {ULP_USE_ACCUMULATE, "sums of gradients of micro-batches", "0", "0", "step", "part 2^48 + parameter"},
    {ULP_USE_TAIL, "weights under a second policy", "0; 1: from masters", "0", "step", "parameter"},
    {ULP_USE_REDUCE, "reduction of gradients over ranks", "0", "0", "step", "2^32 rounding + parameter"},
    {ULP_USE_SAMPLE, "tokens of new text", "0", "0", "0", "token"},
    {ULP_USE_OPERAND + ULP_FORWARD_X, "x of forward products", "layer", "inner tensor", "step",
     "rank 2^48 + sample, element"},
    {ULP_USE_OPERAND + ULP_FORWARD_W, "w of forward products", "layer", "inner tensor", "step", "parameter"},
    {ULP_USE_OPERAND + ULP_DGRAD_G, "g of the gradients of x", "layer", "inner tensor", "step",
     "rank 2^48 + sample, element"},
    {ULP_USE_OPERAND + ULP_DGRAD_W, "w of the gradients of x", "layer", "inner tensor", "step", "parameter"},
    {ULP_USE_OPERAND + ULP_WGRAD_X, "x of the gradients of w", "layer", "inner tensor", "step", "rank 2^48 + element"},
    {ULP_USE_OPERAND + ULP_WGRAD_G, "g of the gradients of w", "layer", "inner tensor", "step", "rank 2^48 + element"},
    {ULP_USE_LIMIT, "weights at a limit that is no number of their format", "0", "0", "step", "parameter"},
    {ULP_USE_SIGNS, "signs for forward products", "layer", "inner tensor", "step", "sign"},
    {ULP_USE_SIGNS + 1, "signs for the gradients of x", "layer", "inner tensor", "step", "sign"},
    {ULP_USE_SIGNS + 2, "signs for the gradients of w", "layer", "inner tensor", "step", "sign"},
};
enum { LISTED = COUNT_OF(uses) };

static const ulp_backend *backend;
static uint64_t seen[USES]; /* words of a use in all trainings */
static size_t trainings, overlaps, designed;
static uint64_t started;
static int listed[USES];

static uint32_t use_of(uint64_t stream) { return (uint32_t)(stream >> 56 & 0x7f); }

static void describe(char to[200], const record *r) {
    snprintf(to, 200,
             "%s (operation %" PRIu64 "): seed %" PRIx64 " use %u eval %u layer %u lane %u step %u words %" PRIu64
             "..%" PRIu64,
             r->what, r->number, r->seed, (unsigned)use_of(r->stream), (unsigned)(r->stream >> 63),
             (unsigned)(r->stream >> 40 & 0xffff), (unsigned)(r->stream >> 28 & 0xfff),
             (unsigned)(r->stream & 0xfffffff), r->first, r->last);
}

/* Whether two operations that take one word do so by design:
 *
 *  - dropout: the backward pass draws the choice of the forward pass again, instead of keeping it (layers/drop.c)
 *  - weights with master weights: the rounding of the initial weights and that after the update of step 0 both have the
 *    stream of step 0 (optim.c). A weight that the update moves by less than a quantum errs twice in one direction. The
 *    words of a run are part of its published results, so they stay. `started` is the last operation of the start.
 *  - casts of weights as operands: every part of a batch, and every rank, casts the same weights to the same numbers;
 *    the two products of a layer draw one choice of signs
 *  - signs: the two operands of a product have the same signs, and so do the parts of a batch */
static int is_by_design(const record *a, const record *b) {
    const uint32_t use = use_of(a->stream);
    const int same = a->first == b->first && a->last == b->last;
    if (use == ULP_USE_DROP) return a->what[0] == 'd' && b->what[0] == 'd' && same;
    if (use == ULP_USE_OPERAND + ULP_FORWARD_W || use == ULP_USE_OPERAND + ULP_DGRAD_W)
        return a->input == b->input && same;
    if (use >= ULP_USE_SIGNS && use <= ULP_USE_SIGNS + 2) return same;
    return use == ULP_AT_WEIGHT && (a->stream & 0xfffffff) == 0 && a->number <= started && b->number > started;
}

/* Check the records of a training. Returns the number of pairs of operations that share words without design. */
static size_t look(const char *what, int quiet) {
    size_t n;
    const record *r = records_sorted(&n), *widest = r;
    size_t found = 0;
    if (n == 0) fail_msg("%s: no random words", what);
    for (size_t i = 0; i < n; i++) {
        char text[200], other[200];
        seen[use_of(r[i].stream)] += r[i].last - r[i].first + 1;
        describe(text, &r[i]);
        if (!listed[use_of(r[i].stream)]) fail_msg("%s: a use that the table does not list: %s", what, text);
        if (i == 0) continue;
        if (widest->seed == r[i].seed && widest->stream == r[i].stream && widest->last >= r[i].first) {
            designed += (size_t)is_by_design(widest, &r[i]);
            if (is_by_design(widest, &r[i])) continue;
            describe(other, widest);
            if (found++ < 20 && !quiet)
                print_message("%s: two operations take one word:\n  %s\n  %s\n", what, other, text);
        }
        if (widest->seed != r[i].seed || widest->stream != r[i].stream || widest->last < r[i].last) widest = &r[i];
    }
    records_clear();
    return found;
}

static void check(const char *what) {
    overlaps += look(what, 0);
    trainings++;
}

/* ---- trainings ---- */

#define EVERY "mixed:bf16,loss=bf16,norm=bf16,state=bf16,acc=serial:fp24:sr,mode=sr"
#define MASTERS EVERY ",master=tf32/sr/16"
#define PURE EVERY ",master=none"
#define CASTS EVERY ",fwd.x=e4m3/sr,fwd.w=e4m3@amax/sr,dgrad.g=e5m2/sr,dgrad.w=e4m3/sr,wgrad.x=e4m3/sr,wgrad.g=e5m2/sr"

static void train(const ulp_data *data, training_texts o) {
    char what[512];
    ulp_score score;
    o.batch = BATCH;
    o.seed = 5;
    o.backend = backend;
    if (!o.policy) o.policy = MASTERS;
    snprintf(what, sizeof what, "%s, %s, %s, %s", o.net, o.policy, o.optimizer ? o.optimizer : "sgd",
             o.scaler ? o.scaler : "none");
    ulp_trainer *t = trainer_of(data, &o);
    started = records_operations();
    for (int i = 0; i < STEPS; i++) assert_ok(ulp_trainer_step(t, NULL));
    for (int part = ULP_TRAIN_PART; part <= ULP_TEST_PART; part++)
        assert_ok(ulp_trainer_score(t, (ulp_part)part, &score));
    ulp_trainer_free(t);
    check(what);
}

TEST(table) {
    for (size_t i = 0; i < LISTED; i++) {
        if (listed[uses[i].use]++) fail_msg("use %u is two uses", (unsigned)uses[i].use);
        assert_true(uses[i].use < USES);
        /* the fields of a stream's number do not touch each other */
        assert_int_equal(use_of(ulp_stream_id(uses[i].use, 1, 0xffff, 0xffffffffffu)), uses[i].use);
    }
    assert_true(ulp_stream_id(127, 1, 0xffff, 0xffffffffffu) == UINT64_MAX);
    assert_true(ulp_stream_id(1, 0, 0, 0) == (uint64_t)1 << 56 && ulp_stream_id(0, 0, 1, 0) == (uint64_t)1 << 40);
}

/* Two roundings that share one word are found; two that do not are not; a value that the format holds takes no word. */
TEST(finds) {
    static float x[64], y[64];
    ulp_format bf16;
    ulp_format_parse(&bf16, "bf16");
    for (int shared = 0; shared < 2; shared++)
        for (int exact = 0; exact < 2; exact++) {
            for (size_t i = 0; i < 64; i++) x[i] = exact ? 1.0f : 1.0f + 0x1p-20f * (float)(i + 1);
            for (int k = 0; k < 2; k++) {
                const ulp_stream s = {1, ulp_stream_id(ULP_AT_ACT, 0, 2, 0), (uint64_t)k * (64 - (uint64_t)shared)};
                assert_ok(ulp_backend_round(backend, y, x, 64, (ulp_rounding){&bf16, {ULP_SRA, 0, 0}, s, NULL}));
            }
            if (exact) assert_int_equal(records_operations(), 0);
            else assert_int_equal(look("two roundings", 1), shared);
        }
    memset(seen, 0, sizeof seen);
}

TEST(layers) {
    const ulp_layer_kind *kind;
    for (size_t i = 0; (kind = ulp_layer_kind_get(i)) != NULL; i++) {
        char net[256];
        snprintf(net, sizeof net, "fc16 %s %s fc%d", kind->example, kind->example, CLASSES);
        ulp_net parsed;
        if (ulp_net_parse(&parsed, net, example_data(kind)->dims, &error) != ULP_OK)
            snprintf(net, sizeof net, "%s fc%d", kind->example, CLASSES);
        else ulp_net_release(&parsed);
        train(example_data(kind), (training_texts){.net = net});
    }
}

#define WHOLE "conv4@3p1 bn relu fork conv4@3p1g2 tanh join drop20 pool2 fc8 sigmoid fork fc8 leaky join drop50 fc3"
#define SEQUENCE "columns2 bigru5 gru5 lstm4 rnn3 last fc3"

TEST(policies) {
    static const char *const policies[] = {
        MASTERS,
        PURE,
        EVERY ",act=e4m3@amax,agrad=e5m2@amax,weight=e4m3@amax,wgrad=e5m2@delayed2,master=fp24/sr",
        EVERY ",first.weight=e4m3@amax,first.master=fp24/sr,last.weight=fp16,last.act=fp16,master=tf32/sr,out=fp16",
        EVERY ",fwd=pairwise:fp24:sr,bwd=chunk4:fp16:sr",
        CASTS,
        EVERY ",fwd.w=sign/sr,dgrad.w=sign/sr,dgrad.g=nvfp4:eden,wgrad.x=nvfp4:eden,wgrad.g=nvfp4:eden",
        EVERY ",fwd.x=mxfp8/sr,fwd.w=mxfp8:2d/sr,dgrad.g=mxfp8/sr,wgrad.x=mxfp8/sr,wgrad.g=mxfp8/sr"};
    for (size_t i = 0; i < COUNT_OF(policies); i++) {
        train(&images, (training_texts){.net = WHOLE, .policy = policies[i], .scaler = "static:4"});
        train(&images, (training_texts){.net = SEQUENCE, .policy = policies[i], .scaler = "static:4"});
    }
}

TEST(scalers) {
    const ulp_scaler_rule *rule;
    for (size_t i = 0; (rule = ulp_scaler_rule_get(i)) != NULL; i++)
        train(&images,
              (training_texts){.net = WHOLE, .scaler = strcmp(rule->name, "static") == 0 ? "static:4" : rule->name});
}

TEST(optimizers) {
    static const char *const more[] = {"decay=0.01",
                                       "momentum=0.9,decay=0.01",
                                       "decay=0.01,kahan=1",
                                       "decay=0.01,decays=weights,clip=1e-3",
                                       "clip=1e-3,clip-at=scaled",
                                       "limit=0.3"};
    const ulp_optimizer_kind *kind;
    for (size_t i = 0; (kind = ulp_optimizer_kind_get(i)) != NULL; i++)
        for (size_t k = 0; k < COUNT_OF(more); k++)
            for (int pure = 0; pure < 2; pure++) {
                char text[64];
                if ((k == 1 && strcmp(kind->name, "sgd") != 0) || (k == 2 && !pure)) continue;
                snprintf(text, sizeof text, "%s,%s", kind->name, more[k]);
                train(&images, (training_texts){.net = WHOLE, .policy = pure ? PURE : MASTERS, .optimizer = text});
            }
}

TEST(losses) {
    const ulp_loss_kind *kind;
    ulp_data strips;
    assert_ok(ulp_data_load(&strips, "strips", NULL, 1, &error));
    check("the strips"); /* the data set has the seed 1 of its own */
    strips.n = strips.n_train + 20;
    for (size_t i = 0; (kind = ulp_loss_kind_get(i)) != NULL; i++) {
        const int single = strcmp(kind->name, "softmax") == 0;
        train(single ? &images : &strips,
              (training_texts){.net = single ? SEQUENCE : "columns4 gru6 conv11@1", .loss = kind->name});
    }
    ulp_data_release(&strips);
}

TEST(ranks) {
    static const char *const reductions[] = {"ring:bf16:sr", "tree:bf16:sr:mean=before", "doubling:bf16:sr:mean=half",
                                             "two-level:bf16:sr:node=2"};
    for (size_t k = 0; k < COUNT_OF(reductions); k++)
        train(&images, (training_texts){.net = WHOLE, .ranks = 4, .reduction = reductions[k]});
}

TEST(tail) {
    train(&images,
          (training_texts){.net = WHOLE, .tail = EVERY ",weight=e4m3,act=e4m3,master=fp24/sr/16", .tail_step = 1});
    train(&images,
          (training_texts){.net = WHOLE, .policy = PURE, .tail = EVERY ",weight=e5m2,master=none", .tail_step = 2});
    train(&images, (training_texts){.net = SEQUENCE, .tail = EVERY ",weight=e4m3@amax,master=fp24/sr", .tail_step = 1});
}

/* Micro-batches, also on ranks, have words of their own; and so have the positions of a sample. */
TEST(micro_batches) {
    train(&images, (training_texts){.net = WHOLE, .optimizer = "sgd,momentum=0.5,accumulate=4:bf16/sr"});
    train(&images, (training_texts){.net = WHOLE, .policy = PURE, .optimizer = "adam,accumulate=8:fp16/sr/9"});
    train(&images, (training_texts){
                       .net = WHOLE, .optimizer = "sgd,accumulate=2:bf16/sr", .ranks = 4, .reduction = "ring:bf16:sr"});
    train(&images, (training_texts){.net = WHOLE,
                                    .policy = CASTS,
                                    .optimizer = "sgd,accumulate=2:bf16/sr",
                                    .ranks = 4,
                                    .reduction = "ring:bf16:sr"});
    ulp_data rows = images;
    static uint8_t row_label[SAMPLES * SIDE];
    for (size_t i = 0; i < sizeof row_label; i++) row_label[i] = (uint8_t)(i % SIDE);
    rows.classes = rows.labels = SIDE;
    rows.positions = 1;
    rows.label = row_label;
    train(&rows, (training_texts){.net = "conv2@3p1 tanh conv1@1", .optimizer = "sgd,accumulate=2:bf16/sr"});
}

/* Tokens with labels of their own; casts to blocks after a transform with random signs; new text. */
TEST(tokens) {
    static uint8_t next[SAMPLES * SIDE];
    for (size_t i = 0; i < sizeof next; i++) next[i] = (uint8_t)((token[i] + 1u) % CLASSES);
    ulp_data rows = sentences;
    rows.labels = SIDE;
    rows.positions = 1;
    rows.label = next;
    training_texts o = {.net = "embed32:3 pos4 fork ln attn2 causal join fork rms lin16 gelu lin32 join ln unembed",
                        .policy = EVERY ",fwd.x=nvfp4:rht16/sr,fwd.w=nvfp4:rht16/sr,dgrad.g=mxfp8/sr,dgrad.w=mxfp8/sr,"
                                        "lin.dgrad.g=nvfp4:rht16/sr,lin.dgrad.w=nvfp4:rht16/sr,"
                                        "wgrad.x=nvfp4:rht16/sr,wgrad.g=nvfp4:rht16/sr,score=bf16,prob=bf16",
                        .batch = BATCH,
                        .seed = 5,
                        .backend = backend};
    train(&rows, o);
    o.optimizer = "sgd,accumulate=2:bf16/sr";
    train(&rows, o);
    uint8_t text[3 * SIDE] = {1};
    ulp_trainer *t = trainer_of(&rows, &o);
    records_clear();
    assert_ok(ulp_trainer_sample(t, text, 1, sizeof text, (ulp_sampling){1.0, 6}));
    check("new text");
    ulp_trainer_free(t);
}

TEST(gan) {
    ulp_net generator, discriminator;
    ulp_policy policy;
    ulp_scaler_rule scaler;
    ulp_optimizer_rule optimizer;
    ulp_gan *gan;
    assert_ok(
        ulp_net_parse(&generator, "fc12 tanh reshape3x2x2 tconv1@2s2 drop20 sigmoid", (ulp_dims){5, 1, 1}, &error));
    assert_ok(ulp_net_parse(&discriminator, "conv3@3p1 leaky fc7 drop20 tanh fc1", images.dims, &error));
    assert_ok(ulp_policy_parse(&policy, MASTERS, &error));
    assert_ok(ulp_scaler_parse(&scaler, "static:4", &error));
    assert_ok(ulp_optimizer_parse(&optimizer, "adam,rate=0.01,decay=0.01", &error));
    const ulp_gan_options o = {.generator = {&generator, &policy, &scaler, &optimizer},
                               .discriminator = {&discriminator, &policy, &scaler, &optimizer},
                               .batch = 6,
                               .seed = 5,
                               .backend = backend};
    if (ulp_gan_new(&gan, &images, &o, &error) != ULP_OK) fail_msg("%s", error.text);
    started = records_operations();
    for (int i = 0; i < STEPS; i++) assert_ok(ulp_gan_step(gan, NULL));
    ulp_gan_free(gan);
    ulp_net_release(&generator);
    ulp_net_release(&discriminator);
    check("a generator and a discriminator");
}

TEST(split) {
    ulp_data data;
    assert_ok(ulp_data_load(&data, "digits", NULL, 1, &error));
    check("the split of the digits");
    ulp_data_release(&data);
}

/* Print the table; every use was seen, and no two operations shared a word. */
TEST(list) {
    print_message("%-38s %3s  %-22s %-12s %-12s %-32s %s\n", "use", "bits", "layer", "lane", "step", "index",
                  "words seen");
    for (size_t i = 0; i < LISTED; i++) {
        const struct use *u = &uses[i];
        print_message("%-38s %3u  %-22s %-12s %-12s %-32s %" PRIu64 "\n", u->name, (unsigned)u->use, u->layer, u->lane,
                      u->step, u->index, seen[u->use]);
    }
    print_message("%zu trainings; pairs of operations that share words: %zu by design, %zu others\n", trainings,
                  designed, overlaps);
    for (size_t i = 0; i < LISTED; i++)
        if (seen[uses[i].use] == 0) fail_msg("no training has the use '%s'", uses[i].name);
    assert_int_equal(overlaps, 0);
}

static int start(void **state) {
    (void)state;
    const ulp_backend *plain;
    ulp_threads_set(1); /* the arrays are too small for several threads */
    draw_images();
    if (ulp_backend_get(&plain, NULL) != ULP_OK) return 1;
    backend = recording(plain);
    return 0;
}

TESTS(start, NULL)
