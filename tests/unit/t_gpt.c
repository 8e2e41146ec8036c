/* t_gpt.c - small nets of tokens under many policies: the same weights by MPFR, every instruction set and any number of
 * threads; casts of operands by hand; words of layers and policies that are refused. */
#include "layering.h"

#include "instruction_sets.h"

enum { N = 24, N_TRAIN = 20, T = 6, V = 11, BATCH = 8, STEPS = 2 };

static ulp_error error;
static uint8_t token[N * T], next[N * T];
static ulp_data text = {.name = "tokens",
                        .n = N,
                        .n_train = N_TRAIN,
                        .dims = {1, T, 1},
                        .features = T,
                        .classes = V,
                        .labels = T,
                        .positions = 1,
                        .tokens = 1,
                        .white = 1,
                        .pixel = token,
                        .label = next};

static int draw_tokens(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof token; i++) {
        token[i] = (uint8_t)(ulp_random_word((ulp_stream){9, 1, 0}, i) % V);
        next[i] = (uint8_t)((token[i] * 3u + 1u) % V);
    }
    return 0;
}

#define GPT "embed8:11 pos6 fork ln attn2 causal join fork ln lin16 gelu lin8 join ln unembed"
#define LLAMA "embed8:11 fork rms:one-pass attn4:kv=2:rope=bf16 causal join fork rms swiglu12 lin8 join rms lin11"
#define BLOCKS                                                                                                         \
    "embed8:11 pos9 fork ln:welford attn2:block=4:base2:integer causal join ln:two-pass attn1:block=5:beta=1.5 lin11"

static const char *const nets[] = {GPT, LLAMA, BLOCKS};
static const char *const policies[] = {
    "fp32",
    "mixed:fp16",
    "bf16,mode=sr",
    "mixed:fp16,score=fp32,prob=e4m3,norm=fp16/sr",
    "nvfp4",
    "mxfp8",
    "deepseek",
    "fp8-tensorwise",
    "fp8-tensorwise,fwd=h100-e4m3,bwd=h100-e5m2.e4m3",
    "nvfp4,acc=b200-e2m1-nvf4",
    "quartet2",
    "mixed:bf16,fwd.x=int8@amax,fwd.w=xnor,dgrad.w=xnor,fwd=int8,lin.fwd=fp32,lin.fwd.w=sign/sr,lin.dgrad.w=sign/sr,"
    "attn.wgrad.g=ternary,attn.fwd.w=ternary,attn.dgrad.w=ternary",
    "mixed:bf16,fwd.x=nvfp4:mse46,fwd.w=mxfp4:2d,dgrad.g=e5m2@amax/"
    "sr,lin.wgrad.x=mxint8:had16,lin.wgrad.g=mxint8:had16,"
    "0.act=fp16,embed.bwd=exact:fp32:rne",
};

/* The weights after some steps on a backend. */
static void train(float *w, size_t params, const char *net, const char *policy, const ulp_backend *backend) {
    const training_texts o = {.net = net,
                              .policy = policy,
                              .optimizer = "adamw,rate=0.01,clip=1,decays=weights",
                              .scaler = "static:6",
                              .batch = BATCH,
                              .seed = 5};
    training_types types;
    ulp_trainer *t;
    ulp_step step;
    if (read_texts(&types, &o, text.dims, &error) != ULP_OK) fail_msg("%s, %s: %s", net, policy, error.text);
    ulp_train_options options = types.options;
    options.backend = backend;
    if (ulp_trainer_new(&t, &text, &options, &error) != ULP_OK) fail_msg("%s, %s: %s", net, policy, error.text);
    assert_true(t->model.net.params <= params);
    for (int i = 0; i < STEPS; i++) {
        const ulp_status status = ulp_trainer_step(t, &step);
        if (status != ULP_OK) fail_msg("%s, %s: step %d: %s", net, policy, i, ulp_status_text(status));
        if (!(step.loss > 0.5 && step.loss < 10.0)) fail_msg("%s, %s: loss %g", net, policy, step.loss);
    }
    memset(w, 0, params * sizeof *w);
    assert_ok(ulp_trainer_weights(t, w, NULL));
    ulp_trainer_free(t);
    ulp_net_release(&types.net);
}

enum { PARAMS = 2048 };

static void equal_weights(const float *a, const float *b, const char *net, const char *policy, const char *what) {
    for (size_t i = 0; i < PARAMS; i++)
        if (ulp_bits32(a[i]) != ulp_bits32(b[i]))
            fail_msg("%s, %s: weight %zu is %a by %s, not %a", net, policy, i, (double)b[i], what, (double)a[i]);
}

TEST(backends) {
    static float first[PARAMS], other[PARAMS];
    const ulp_backend *mpfr;
    assert_ok(ulp_backend_get(&mpfr, "mpfr"));
    assert_int_equal(find_backends(NULL), 0);
    for (size_t n = 0; n < COUNT_OF(nets); n++)
        for (size_t p = 0; p < COUNT_OF(policies); p++) {
            train(first, PARAMS, nets[n], policies[p], backends[0]);
            for (size_t i = 1; i < offered; i++) {
                train(other, PARAMS, nets[n], policies[p], backends[i]);
                equal_weights(first, other, nets[n], policies[p], backends[i]->what);
            }
            ulp_threads_set(5);
            train(other, PARAMS, nets[n], policies[p], backends[offered - 1]);
            ulp_threads_set(0);
            equal_weights(first, other, nets[n], policies[p], "five threads");
            if (n > 0 && p != 1 && p != 3 && p != COUNT_OF(policies) - 1) continue; /* MPFR takes a second each */
            train(other, PARAMS, nets[n], policies[p], mpfr);
            equal_weights(first, other, nets[n], policies[p], "MPFR");
        }
}

/* A layer lin under casts of its operands computes what lin computes from operands that were cast before. */
TEST(casts) {
    enum { B = 3, ROWS = 4, M = 20, OUT = 6 };
    static float x[B * ROWS * M], w[(M + 1) * OUT], y[B * ROWS * OUT];
    rig plain, cast;
    rig_start(&cast, "lin6", (ulp_dims){1, ROWS, M}, B, "fp32,fwd.x=nvfp4,fwd.w=mxfp4:16:2d");
    memcpy(x, rig_input(&cast), sizeof x);
    memcpy(w, cast.w, sizeof w);
    rig_forward(&cast);
    memcpy(y, rig_output(&cast), sizeof y);
    rig_end(&cast);
    ulp_block_cast of_x = {.has_tensor_scale = 1, .along = ULP_ALONG_ROWS},
                   of_w = {.along = ULP_ALONG_COLUMNS, .tiles = 1};
    assert_ok(ulp_block_parse(&of_x.block, "nvfp4"));
    assert_ok(ulp_block_parse(&of_w.block, "mxfp4:16"));
    rig_start(&plain, "lin6", (ulp_dims){1, ROWS, M}, B, "fp32");
    assert_ok(ulp_block_cast_values(rig_input(&plain), x, B * ROWS, M, &of_x));
    memcpy(plain.w, w, sizeof w);
    assert_ok(ulp_block_cast_values(plain.w, w, M, OUT, &of_w));
    rig_forward(&plain);
    assert_memory_equal(rig_output(&plain), y, sizeof y);
    rig_end(&plain);
}

/* Online softmax with integer maxima and base 2: the same outputs for every size of blocks. */
TEST(block_sizes) {
    enum { B = 2, TOKENS = 7, D = 8 };
    static float first[B * TOKENS * D];
    for (int block = 1; block <= 8; block++) {
        char net[64];
        rig r;
        snprintf(net, sizeof net, "attn2:block=%d:base2:integer causal", block);
        rig_start(&r, net, (ulp_dims){1, TOKENS, D}, B, "fp32");
        rig_forward(&r);
        if (block == 1) memcpy(first, rig_output(&r), sizeof first);
        assert_memory_equal(rig_output(&r), first, sizeof first);
        rig_end(&r);
    }
}

/* An observer of binary32 sees the numbers that the layers leave, also where a sum takes the place of a term. */
static void see(void *context, const ulp_observation *o) {
    size_t *seen = context;
    for (size_t i = 0; i < o->n && o->point == ULP_AT_WGRAD; i++)
        if (ulp_bits32(o->raw[i]) != ulp_bits32(o->rounded[i]))
            fail_msg("point %d, layer %zu, element %zu: %a, not %a", (int)o->point, o->layer, i, (double)o->raw[i],
                     (double)o->rounded[i]);
    *seen += o->point == ULP_AT_WGRAD && o->layer == 0;
}

TEST(observed) {
    size_t seen = 0;
    const ulp_observer observer = {see, &seen, ~0u};
    const training_texts o = {.net = GPT, .batch = BATCH, .seed = 5, .observer = &observer};
    ulp_trainer *t;
    if (trainer_from_texts(&t, &text, &o, &error) != ULP_OK) fail_msg("%s", error.text);
    assert_ok(ulp_trainer_step(t, NULL));
    assert_int_equal(seen, 2); /* the gradient of embed, and its sum with that of unembed */
    ulp_trainer_free(t);
}

TEST(refusals) {
    const ulp_dims tokens = {1, 6, 1}, rows = {1, 6, 8};
    refused("attn3", rows, "'attn3' does not take an input of 1 x 6 x 8");
    refused("attn4:kv=3", rows, "'attn4:kv=3' does not fit the form");
    refused("attn4:integer", rows, "does not fit the form");
    refused("attn8:rope", rows, "2 H with rope");
    refused("attn2:rope=fp64", rows, "does not fit the form");
    refused("attn2:rope=ue8m0", rows, "does not fit the form");
    refused("attn2:block=1", (ulp_dims){1, 1000, 8}, "fewer than 1000 blocks");
    refused("attn2:beta=0.5", rows, "does not fit the form");
    refused("attn2 causal causal", rows, "does not fit the form");
    refused("pos5", rows, "'pos5' does not take an input");
    refused("lin4", (ulp_dims){2, 6, 8}, "tokens");
    refused("unembed", rows, "which the net lacks");
    refused("embed4 unembed unembed", tokens, "at most one 'unembed'");
    refused("embed4 lin3 unembed", tokens, "takes tokens of 4 features");
    refused("lin4 embed4", rows, "is the first layer of a net");
    refused("embed4", rows, "numbers of tokens");
    refused("patch4", rows, "a height that K divides");
    refused("ln:twice", rows, "does not fit the form");
    static const struct {
        const char *net, *policy, *part;
    } bad[] = {
        {GPT, "nvfp4,wgrad.x=nvfp4", "wgrad.x and wgrad.g need the same Hadamard transform"},
        {GPT, "fp32,fwd.x=nvfp5", "a cast of an operand is none"},
        {GPT, "fp32,fwd.x=nvfp4:rht8", "a cast of an operand is none"},
        {GPT, "fp32,fwd.y=nvfp4", "y"},
        {GPT, "fp32,ln.fwd.x=nvfp4", "changes nothing: no layer 'ln' has products"},
        {GPT, "fp32,lin.fwd.x=nvfp4:rht16,lin.fwd.w=nvfp4:rht16", "parts of 8 numbers, which the Hadamard"},
        {GPT, "fp32,gelu.score=fp16", "no layer 'gelu' has scores"},
        {"embed8:10 unembed", "fp32", "the table of 'embed8:10' has tokens 0 to 9, and tokens has tokens 0 to 10"}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const training_texts o = {.net = bad[i].net, .policy = bad[i].policy, .batch = BATCH, .seed = 5};
        ulp_trainer *t;
        if (trainer_from_texts(&t, &text, &o, &error) == ULP_OK) fail_msg("%s was accepted", bad[i].policy);
        if (!strstr(error.text, bad[i].part)) fail_msg("'%s' does not say '%s'", error.text, bad[i].part);
    }
}

/* The canonical text of a policy with casts reads back. */
TEST(canonical) {
    static char first[ULP_POLICY_TEXT_MAX], again[ULP_POLICY_TEXT_MAX];
    for (size_t i = 0; i < COUNT_OF(policies); i++) {
        ulp_policy *p = malloc(sizeof *p), *q = malloc(sizeof *q);
        assert_true(p && q);
        if (ulp_policy_parse(p, policies[i], &error) != ULP_OK) fail_msg("%s", error.text);
        assert_ok(ulp_policy_print(first, sizeof first, p));
        if (ulp_policy_parse(q, first, &error) != ULP_OK) fail_msg("%s: %s", first, error.text);
        assert_ok(ulp_policy_print(again, sizeof again, q));
        assert_string_equal(first, again);
        assert_int_equal(p->has_operands, q->has_operands);
        free(p);
        free(q);
    }
}

TESTS(draw_tokens, NULL)
