/* t_walled.c - training in memory that the host cannot access gives the bits of training in host memory. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "sim/train/checkpoint.h"
#include "training.h"
#include "random_images.h"
#include "walled.h"

enum { STEPS = 6, CUT = 3, BATCH = 8 };

static const char left_file[] = "t_walled.left.ckpt", right_file[] = "t_walled.right.ckpt";
static const ulp_backend *plain, *wall;

/* ---- a run in host memory and a run in walled memory ---- */

/* Hash all bytes that an observer sees (FNV-1a 64). */
static void see(void *context, const ulp_observation *observed) {
    uint64_t *hash = context;
    const unsigned char *bytes[] = {(const unsigned char *)observed->raw, (const unsigned char *)observed->rounded};
    for (size_t i = 0; i < 2 * observed->n * sizeof(float); i++) *hash = (*hash ^ bytes[i % 2][i / 2]) * 0x100000001b3u;
    *hash =
        (*hash ^ (uint64_t)observed->point ^ (uint64_t)(unsigned)observed->scale_log2 << 8 ^ observed->layer << 32) *
        0x100000001b3u;
}

typedef struct pair {
    const char *what;
    const ulp_data *data;
    training_texts options;
    uint64_t hash[2];
    ulp_observer observer[2];
    ulp_trainer *left, *right; /* in host memory; in walled memory */
} pair;

static ulp_trainer *begin(pair *p, int side) {
    p->hash[side] = 0;
    p->observer[side] = (ulp_observer){see, &p->hash[side], UINT32_MAX};
    p->options.backend = side ? wall : plain;
    p->options.observer = &p->observer[side];
    return trainer_of(p->data, &p->options);
}

static void same_bytes(const pair *p, const char *what, const void *a, const void *b, size_t bytes) {
    if (memcmp(a, b, bytes) != 0)
        fail_msg("%s, %s, %s, %s: %s", p->what, p->options.policy ? p->options.policy : "fp32",
                 p->options.scaler ? p->options.scaler : "none", p->options.optimizer ? p->options.optimizer : "sgd",
                 what);
}

static void same_number(const pair *p, const char *what, double a, double b) { same_bytes(p, what, &a, &b, sizeof a); }

static void steps(pair *p, int n) {
    for (int i = 0; i < n; i++) {
        ulp_step a, b;
        assert_ok(ulp_trainer_step(p->left, &a));
        assert_ok(ulp_trainer_step(p->right, &b));
        same_number(p, "loss", a.loss, b.loss);
        same_number(p, "scale", a.scale_log2, b.scale_log2);
        same_number(p, "overflow, skipped", 2 * a.overflow + a.skipped, 2 * b.overflow + b.skipped);
        same_bytes(p, "counts of activations", &a.act, &b.act, sizeof a.act);
        same_bytes(p, "counts of activation gradients", &a.agrad, &b.agrad, sizeof a.agrad);
        same_bytes(p, "counts of weight gradients", &a.wgrad, &b.wgrad, sizeof a.wgrad);
        assert_true((a.layer_scale == NULL) == (b.layer_scale == NULL));
        if (a.layer_scale)
            same_bytes(p, "scales of layers", a.layer_scale, b.layer_scale,
                       p->left->model.net.count * sizeof *a.layer_scale);
        same_bytes(p, "what is shown", &p->hash[0], &p->hash[1], sizeof p->hash[0]);
    }
}

/* Check that weights, master weights and all other arrays of both arenas are equal. */
static void same_arrays(const pair *p) {
    const ulp_arena *a = &p->left->arena, *b = &p->right->arena;
    const size_t n = p->left->model.net.params;
    float *w = calloc(4 * n + 1, sizeof *w);
    unsigned char *x = malloc(2 * a->bytes);
    assert_true(w && x);
    unsigned char *y = x + a->bytes;
    assert_ok(ulp_trainer_weights(p->left, w, w + n));
    assert_ok(ulp_trainer_weights(p->right, w + 2 * n, w + 3 * n));
    same_bytes(p, "weights", w, w + 2 * n, 2 * n * sizeof *w);
    assert_int_equal(a->bytes, b->bytes);
    assert_ok(plain->download(x, a->memory, a->bytes));
    assert_ok(wall->download(y, b->memory, b->bytes));
    same_bytes(p, "arrays", x, y, a->bytes);
    free(w);
    free(x);
}

static void same_scores(const pair *p) {
    for (int part = ULP_TRAIN_PART; part <= ULP_TEST_PART; part++) {
        ulp_score a, b;
        assert_ok(ulp_trainer_score(p->left, (ulp_part)part, &a));
        assert_ok(ulp_trainer_score(p->right, (ulp_part)part, &b));
        same_number(p, "score", a.loss, b.loss);
        same_number(p, "answers", (double)a.right, (double)b.right);
        same_number(p, "edits", (double)a.edits, (double)b.edits);
    }
}

static void assert_same_file(const char *a, const char *b) {
    unsigned char *x, *y;
    size_t n, m;
    assert_ok(ulp_file_read(&x, &n, a, SIZE_MAX / 4, &error));
    assert_ok(ulp_file_read(&y, &m, b, SIZE_MAX / 4, &error));
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
}

/* Save both runs: the files have the same bytes. Then load the walled run from its file. */
static void save_and_resume(pair *p) {
    void *note;
    size_t bytes;
    const uint64_t hash = p->hash[1];
    assert_ok(ulp_checkpoint_save(p->left, left_file, NULL, 0, &error));
    assert_ok(ulp_checkpoint_save(p->right, right_file, NULL, 0, &error));
    assert_same_file(left_file, right_file);
    ulp_trainer_free(p->right);
    p->right = begin(p, 1);
    assert_ok(ulp_checkpoint_load(p->right, right_file, &note, &bytes, &error));
    p->hash[1] = hash;
    free(note);
    remove(left_file);
    remove(right_file);
}

/* Compare two runs of a few steps, in host memory and in walled memory, with a checkpoint between the steps. */
static void compare(const char *what, const ulp_data *data, training_texts options) {
    pair p = {.what = what, .data = data, .options = options};
    const size_t before = walled_operations();
    p.options.batch = BATCH;
    p.options.seed = 5;
    p.options.counting = 1;
    p.left = begin(&p, 0);
    p.right = begin(&p, 1);
    assert_ptr_equal(p.right->pass.run.backend, wall);
    steps(&p, CUT);
    save_and_resume(&p);
    steps(&p, STEPS - CUT);
    same_scores(&p);
    same_arrays(&p);
    assert_true(walled_operations() > before + 10 * STEPS);
    ulp_trainer_free(p.left);
    ulp_trainer_free(p.right);
    assert_int_equal(walled_blocks(), 0);
}

/* ---- the compared trainings ---- */

/* Every kind of layer with its example net, under several policies. */
TEST(layers) {
    static const char *const policies[] = {
        "fp32", "mixed:fp16,mode=sr/8", "bf16,mode=sr",
        "mixed:e4m3,act=e4m3@amax,agrad=e5m2@delayed2,weight=e4m3@amax,wgrad=e5m2@amax"};
    const ulp_layer_kind *kind;
    for (size_t i = 0; (kind = ulp_layer_kind_get(i)) != NULL; i++)
        for (size_t k = 0; k < COUNT_OF(policies); k++) {
            char net[256];
            snprintf(net, sizeof net, "%s fc%d", kind->example, CLASSES);
            compare(
                net, example_data(kind),
                (training_texts){.net = net, .policy = policies[k], .scaler = k ? "layer,init=12,interval=2" : NULL});
        }
}

#define WHOLE "conv4@3p1 bn relu fork conv4@3p1 tanh join drop20 pool2 fc8 sigmoid fork fc8 leaky join fc3"
#define SEQUENCE "columns2 gru5 lstm4 rnn3 last fc3"

TEST(policies) {
    static const char policies[] =
        "fp16 bf16 e5m2,acc=fp32 mixed:fp16 mixed:bf16,out=fp32 mixed:fp16,mode=sr,acc=serial:fp16:sr "
        "mixed:e4m3,acc=h100-e4m3 q6.10,mode=sr,acc=fp32,loss=fp32 mixed:fp16,fwd=kahan:fp16:rne,bwd=chunk4:fp16:rne "
        "mixed:e4m3,act=e4m3@amax,agrad=e5m2@amax mixed:e4m3,act=e4m3@delayed3,agrad=e5m2@delayed,weight=e4m3@delayed2 "
        "mixed:fp16,weight=fp16@amax,wgrad=fp16@delayed2,act=fp16@amax/sr/8";
    for (size_t i = 0; *word_of(policies, i); i++) {
        compare("images", &images,
                (training_texts){.net = WHOLE, .policy = word_of(policies, i), .scaler = "static:4"});
        compare("sequences", &images,
                (training_texts){.net = SEQUENCE, .policy = word_of(policies, i), .scaler = "static:4"});
    }
}

/* Every rule of the table, also with a scale that overflows and grows during the steps. */
TEST(scalers) {
    const ulp_scaler_rule *rule;
    for (size_t i = 0; (rule = ulp_scaler_rule_get(i)) != NULL; i++)
        for (int moved = 0; moved <= (rule->way == ULP_SCALE_BY_OVERFLOW); moved++) {
            char text[64];
            snprintf(text, sizeof text, "%s%s", rule->name,
                     moved                          ? ",init=22,interval=2"
                     : strcmp(rule->name, "static") ? ""
                                                    : ":7");
            compare(text, &images, (training_texts){.net = WHOLE, .policy = "mixed:fp16", .scaler = text});
            compare(text, &images, (training_texts){.net = SEQUENCE, .policy = "mixed:fp16", .scaler = text});
        }
}

TEST(optimizers) {
    static const char *const more[] = {"momentum=0.9", "decay=0.01,warmup=3,cosine=5", "decay=0.01,drop=0.5/2",
                                       "kahan=1"};
    const ulp_optimizer_kind *kind;
    for (size_t i = 0; (kind = ulp_optimizer_kind_get(i)) != NULL; i++)
        for (size_t k = 0; k < COUNT_OF(more); k++)
            for (int pure = 0; pure < 2; pure++) {
                char text[64];
                if ((k == 0 && strcmp(kind->name, "sgd") != 0) || (k == 3 && !pure))
                    continue; /* kahan needs a policy without master weights */
                snprintf(text, sizeof text, "%s,%s", kind->name, more[k]);
                compare("images", &images,
                        (training_texts){.net = WHOLE,
                                         .policy = pure ? "bf16,acc=fp32,mode=sr/8" : "mixed:fp16",
                                         .scaler = pure ? "none" : "layer,init=10",
                                         .optimizer = text});
            }
}

/* Every kind of loss; the losses of label sequences on strips of digits. */
TEST(losses) {
    const ulp_loss_kind *kind;
    ulp_data strips;
    size_t tested = 0;
    assert_ok(ulp_data_load(&strips, "strips", NULL, 1, &error));
    strips.n = strips.n_train + 20;
    for (size_t i = 0; (kind = ulp_loss_kind_get(i)) != NULL; i++) {
        training_texts o = {
            .net = "columns4 gru6 conv11@1", .loss = kind->name, .policy = "mixed:fp16", .scaler = "pytorch,init=8"};
        const int single = strcmp(kind->name, "softmax") == 0;
        if (single) o.net = SEQUENCE;
        compare(kind->name, single ? &images : &strips, o);
        tested++;
    }
    assert_true(tested >= 3);
    ulp_data_release(&strips);
}

/* ---- the wall itself ---- */

enum { READ, WRITE, HOST_ARRAY, TOO_LONG, RELEASED, DEVICE_RESULT, HOST_SCALES, HOST_OPERAND, FINE, MISUSES };

/* Whether a process survives a misuse of the memory. */
static int survives(int misuse) {
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(0);
        signal(SIGSEGV, SIG_DFL); /* not the handler of the test framework */
        float host[64] = {0}, *device = wall->alloc(64 * sizeof *device), *other = wall->alloc(64 * sizeof *other);
        volatile float *device_view = device;
        ulp_format half;
        ulp_datapath scaled;
        ulp_format_parse(&half, "binary16");
        ulp_datapath_parse(&scaled, "b200-e4m3-mx");
        wall->upload(device, host, sizeof host);
        wall->upload(other, host, sizeof host);
        const ulp_gemm_shape shape = {
            .m = 1, .n = 1, .k = 32, .lda = 32, .ldb = 32, .ldc = 1, .b_trans = 1, .a_scales = host};
        ulp_update_step step = {.op = ULP_STEP_ROUND,
                                .y = {.kind = ULP_OPERAND_ARRAY, .at = device},
                                .a = {.kind = ULP_OPERAND_ARRAY, .at = misuse == HOST_OPERAND ? host : other},
                                .format = half};
        switch (misuse) {
        case READ: host[0] = device_view[3]; break;
        case WRITE: device_view[3] = 1; break;
        case HOST_ARRAY: ulp_backend_round(wall, device, host, 64, (ulp_rounding){.format = &half}); break;
        case TOO_LONG: ulp_backend_round(wall, device, other, 65, (ulp_rounding){.format = &half}); break;
        case RELEASED: wall->release(device), wall->download(host, device, sizeof host); break;
        case DEVICE_RESULT: ulp_backend_largest(wall, device, other, 64, 0); break;
        case HOST_SCALES:
            ulp_backend_gemm(wall, device, other, other + 32, &shape, (ulp_summation){.datapath = &scaled});
            break;
        default: ulp_backend_update(wall, &step, 1, 64); break;
        }
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(wall) {
    for (int misuse = 0; misuse < MISUSES; misuse++)
        if (survives(misuse) != (misuse == FINE)) fail_msg("misuse %d of %d", misuse, MISUSES);
}

static int start(void **state) {
    (void)state;
    ulp_threads_set(1); /* the arrays are too small for several threads */
    draw_images();
    if (ulp_backend_get(&plain, NULL) != ULP_OK) return 1;
    wall = walled(plain);
    return 0;
}

TESTS(start, NULL)
