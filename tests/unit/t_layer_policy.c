/* t_layer_policy.c - policies per layer: selectors, their texts, which layers they select, and trainings with them. */
#include "test.h"

#include "sim/train/checkpoint.h"

static ulp_error error;

#define CNN "conv4@3p1 bn relu pool2 fork conv4@3p1 bn relu join fc16 tanh fc10"
enum { CONV, BN, RELU, POOL, FORK, CONV2, BN2, RELU2, JOIN, FC, TANH, FC2, LAYERS };

static ulp_data digits;
static ulp_net cnn;

static int load(void **state) {
    (void)state;
    if (ulp_data_load(&digits, "digits", "", 1, &error) != ULP_OK) return 1;
    return ulp_net_parse(&cnn, CNN, digits.dims, &error) != ULP_OK;
}

static int unload(void **state) {
    (void)state;
    ulp_net_release(&cnn);
    ulp_data_release(&digits);
    return 0;
}

static ulp_policy policy_of(const char *text) {
    ulp_policy policy;
    if (ulp_policy_parse(&policy, text, &error) != ULP_OK) fail_msg("%s: %s", text, error.text);
    return policy;
}

static ulp_layer_policy *rows_of(const char *text) {
    ulp_policy policy = policy_of(text);
    ulp_layer_policy *rows;
    if (ulp_policy_resolve(&rows, &policy, &cnn, &error) != ULP_OK) fail_msg("%s: %s", text, error.text);
    return rows;
}

/* The format of a point of a layer; -1 is the input. */
static void is_format(const ulp_layer_policy *rows, int layer, ulp_point_kind point, const char *format) {
    const char *found = rows[layer + 1].at[point].format.name;
    if (strcmp(found, format) != 0) fail_msg("layer %d, %s: %s, not %s", layer, ulp_point_name(point), found, format);
}

TEST(selectors) {
    ulp_layer_policy *rows =
        rows_of("mixed:fp16,bn.*=fp32,first.weight=bf16,fc.acc=h100-fp16,last.*=fp32,3.act=e4m3@amax,"
                "input.act=bf16,conv.weight=fp16");
    is_format(rows, -1, ULP_AT_ACT, "bfloat16");
    is_format(rows, CONV, ULP_AT_WEIGHT, "binary16"); /* a later word wins */
    is_format(rows, CONV, ULP_AT_ACT, "binary16");
    for (int p = 0; p < ULP_AT_COUNT; p++) {
        is_format(rows, BN, (ulp_point_kind)p, "binary32");
        is_format(rows, BN2, (ulp_point_kind)p, "binary32");
        is_format(rows, FC2, (ulp_point_kind)p, "binary32");
    }
    assert_false(rows[BN + 1].has_master);
    assert_true(rows[CONV + 1].has_master && rows[FC + 1].has_master);
    is_format(rows, POOL, ULP_AT_ACT, "e4m3");
    assert_int_equal(rows[POOL + 1].at[ULP_AT_ACT].tensor_scale, ULP_SCALED_NOW);
    is_format(rows, FC, ULP_AT_WEIGHT, "binary16");
    assert_string_equal(rows[FC + 1].forward.name, "h100-fp16");
    assert_string_equal(rows[FC + 1].backward.name, "h100-fp16");
    assert_string_equal(rows[CONV2 + 1].forward.name, "fp32");
    assert_string_equal(rows[FC2 + 1].forward.name, "fp32");
    free(rows);
    rows = rows_of("mixed:e4m3,0.agrad=e5m2,fc.*=fp16,fc.bwd=fp32,last.master=fp32,wgrad=bf16,tanh.*=mixed:bf16");
    is_format(rows, CONV, ULP_AT_AGRAD, "e5m2");
    is_format(rows, FC, ULP_AT_STATE, "binary16");
    is_format(rows, FC, ULP_AT_WGRAD, "bfloat16"); /* a word without a selector is for all layers */
    is_format(rows, TANH, ULP_AT_WGRAD, "bfloat16");
    is_format(rows, TANH, ULP_AT_STATE, "binary32");
    assert_string_equal(rows[FC + 1].forward.name, "serial:binary16:rne");
    assert_string_equal(rows[FC + 1].backward.name, "fp32");
    assert_false(rows[FC + 1].has_master);
    assert_true(rows[FC2 + 1].has_master);
    free(rows);
    ulp_policy plain = policy_of("mixed:fp16");
    assert_ok(ulp_policy_resolve(&rows, &plain, &cnn, NULL));
    assert_null(rows);
}

/* A mode that a word gives wins over the mode of its selector, and that one over mode=. */
TEST(modes) {
    ulp_layer_policy *rows =
        rows_of("mixed:fp16,conv.act=e4m3/rz,conv.mode=sr/8,conv.agrad=e5m2,mode=ru,fc.act=bf16,bn.norm=fp32");
    assert_int_equal(rows[CONV + 1].at[ULP_AT_ACT].rule.mode, ULP_RZ);
    assert_int_equal(rows[CONV + 1].at[ULP_AT_AGRAD].rule.mode, ULP_SRA);
    assert_int_equal(rows[CONV + 1].at[ULP_AT_WEIGHT].rule.mode, ULP_SRA);
    assert_int_equal(rows[CONV + 1].at[ULP_AT_WEIGHT].rule.random_bits, 8);
    assert_int_equal(rows[CONV + 1].at[ULP_AT_MASTER].rule.mode, ULP_RNE); /* binary32 keeps its mode */
    assert_int_equal(rows[FC + 1].at[ULP_AT_ACT].rule.mode, ULP_RU);
    assert_int_equal(rows[FC + 1].at[ULP_AT_WEIGHT].rule.mode, ULP_RU);
    assert_int_equal(rows[BN + 1].at[ULP_AT_NORM].rule.mode, ULP_RNE);
    free(rows);
}

/* The canonical text gives the same policies of layers, and is its own canonical text. */
TEST(texts_return) {
    static const char *const texts[] = {
        "mixed:fp16,fc.agrad=e5m2,fc.bwd=fp32,conv.state=bf16,conv.fwd=fp32", /* no two words have one key */
        "mixed:fp16,bn.*=fp32,5.acc=h100-fp16,first.weight=bf16,last.*=fp32,3.act=e4m3@amax",
        "fp32,conv.*=mixed:e5m2/sr/4,fc.mode=sr,fc.act=bf16,mode=rz,tanh.act=fp16",
        "fp16,fc.master=fp32,0.master=none,act=bf16,fwd=fp32,master=none,5.bwd=serial:bf16:rne",
        "mixed:e4m3,conv.agrad=e4m3:sat@delayed8,conv.weight=e4m3@delayed,out=fp32",
        "fp16,fc.mode=sr/17,bwd=fp32,acc=fp32", /* bwd= for all layers twice */
    };
    char first[ULP_POLICY_TEXT_MAX], second[ULP_POLICY_TEXT_MAX];
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        ulp_policy p = policy_of(texts[i]);
        assert_ok(ulp_policy_print(first, sizeof first, &p));
        ulp_policy q = policy_of(first);
        assert_ok(ulp_policy_print(second, sizeof second, &q));
        assert_string_equal(first, second);
        ulp_layer_policy *a = rows_of(texts[i]), *b = rows_of(first);
        for (size_t t = 0; t <= LAYERS; t++) {
            assert_int_equal(a[t].has_master, b[t].has_master);
            assert_string_equal(a[t].forward.name, b[t].forward.name);
            assert_string_equal(a[t].backward.name, b[t].backward.name);
            for (int k = 0; k < ULP_AT_COUNT; k++) {
                if (k == ULP_AT_MASTER && !a[t].has_master) continue;
                assert_string_equal(a[t].at[k].format.name, b[t].at[k].format.name);
                assert_memory_equal(&a[t].at[k].rule, &b[t].at[k].rule, sizeof a[t].at[k].rule);
                assert_int_equal(a[t].at[k].tensor_scale, b[t].at[k].tensor_scale);
                assert_int_equal(a[t].at[k].history, b[t].at[k].history);
            }
        }
        free(a);
        free(b);
    }
}

TEST(bad) {
    static const struct {
        const char *text, *words;
        int parses; /* the net has to refuse the policy */
    } bad[] = {
        {"mixed:fp16,bm.act=fp16", "'bm.' selects no layer; this net has conv, bn, relu, ", 1},
        {"mixed:fp16,gru.*=fp32", "'gru.' selects no layer", 1},
        {"mixed:fp16,relu.weight=bf16", "'relu.weight=bfloat16/rne' changes nothing: no layer 'relu' has weights", 1},
        {"mixed:fp16,relu.master=none", "'relu.master=none' changes nothing: no layer 'relu' has weights", 1},
        {"mixed:fp16,conv.norm=bf16", "no layer 'conv' has means, variances or sums", 1},
        {"mixed:fp16,pool.acc=fp32", "'pool.fwd=fp32' changes nothing: no layer 'pool' has products", 1},
        {"mixed:fp16,12.act=fp16", "numbers 0 to 11", 1},
        {"mixed:fp16,18446744073709551617.act=fp16", "before the point", 0},
        {"mixed:fp16,conv.act=fp17", "no format 'fp17' for act", 0},
        {"mixed:fp16,conv.*=fp17", "no format 'fp17' for conv.*", 0},
        {"mixed:fp16,conv.*=fp16@amax", "only weight, act, wgrad and agrad", 0},
        {"mixed:fp16,conv.acts=fp16", "no key 'acts'; did you mean 'act'?", 0},
        {"mixed:fp16,conv.=fp16", "no key ''", 0},
        {"mixed:fp16,.act=fp16", "before the point", 0},
        {"mixed:fp16,a-b.act=fp16", "before the point", 0},
        {"mixed:fp16,conv.loss=fp16", "take no selector", 0},
        {"mixed:fp16,last.out=fp16", "take no selector", 0},
        {"mixed:fp16,input.weight=fp16", "input.act=FORMAT", 0},
        {"mixed:fp16,conv.act=bf16,conv.act=fp16", "conv.act is given twice", 0},
        {"mixed:fp16,conv.*=bf16,conv.*=mixed:fp16", "conv.* is given twice", 0},
        {"mixed:fp16,conv.acc=cereal", "'cereal'", 0},
        {"mixed:fp16,conv.act=fp64", "does not fit", 0},
        {"mixed:fp16,conv.state=bf16@amax", "only weight, act, wgrad and agrad", 0},
        {"mixed:fp16,fork.act=bf16,conv.bwd=h100-fp16",
         "layer 5 (conv4@3p1): bwd=h100-fp16: takes operands in binary16", 1},
        {"mixed:fp16,pool.act=fp32,conv.acc=h100-fp16,fork.act=bf16",
         "layer 5 (conv4@3p1): fwd=h100-fp16: takes operands in binary16, which does not hold all of act=bfloat16", 1},
        {"fp16,conv.weight=e4m3@amax", "layer 0 (conv4@3p1): weight=e4m3 with a scale per tensor needs master", 1},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ulp_policy policy;
        ulp_layer_policy *rows = NULL;
        ulp_status status = ulp_policy_parse(&policy, bad[i].text, &error);
        if ((status == ULP_OK) != bad[i].parses) fail_msg("%s: %s", bad[i].text, error.text);
        if (bad[i].parses) status = ulp_policy_resolve(&rows, &policy, &cnn, &error);
        assert_null(rows);
        assert_int_not_equal(status, ULP_OK);
        if (!strstr(error.text, bad[i].words)) fail_msg("%s: %s", bad[i].text, error.text);
    }
}

/* ---- trainings ---- */

static ulp_trainer *train(const char *text, const char *optimizer, const char *scaler, int steps) {
    ulp_policy policy = policy_of(text);
    ulp_optimizer_rule rule;
    ulp_scaler_rule scale;
    ulp_trainer *t;
    assert_ok(ulp_optimizer_parse(&rule, optimizer, &error));
    assert_ok(ulp_scaler_parse(&scale, scaler, &error));
    const ulp_train_options options = {
        .net = &cnn, .policy = &policy, .optimizer = &rule, .scaler = &scale, .batch = 16, .seed = 5};
    if (ulp_trainer_new(&t, &digits, &options, &error) != ULP_OK) fail_msg("%s: %s", text, error.text);
    for (int i = 0; i < steps; i++) assert_ok(ulp_trainer_step(t, NULL));
    return t;
}

static void weights_of(const ulp_trainer *t, float **w) {
    const size_t n = t->model.net.params;
    *w = malloc(2 * n * sizeof **w);
    assert_non_null(*w);
    assert_ok(ulp_trainer_weights(t, *w, *w + n));
}

/* A policy that says the same for all layers gives the bytes of the plain one. */
TEST(same_for_all) {
    static const struct {
        const char *plain, *selected, *optimizer, *scaler;
    } pairs[] = {
        {"mixed:fp16",
         "fp32,conv.*=mixed:fp16,bn.*=mixed:fp16,fc.*=mixed:fp16,fork.*=mixed:fp16,join.*=mixed:fp16,"
         "relu.*=mixed:fp16,pool.*=mixed:fp16,tanh.*=mixed:fp16,input.act=fp16",
         "sgd,rate=0.1,momentum=0.9", "pytorch"},
        {"bf16,mode=sr", "fp32,mode=sr,*.*=bf16,loss=bf16", "adam", "none"},
        {"mixed:e4m3,agrad=e5m2@amax,act=e4m3@delayed4,weight=e4m3@amax",
         "mixed:fp16,*.weight=e4m3@amax,act=e4m3@delayed4,wgrad=e4m3,*.agrad=e5m2@amax", "sgd,rate=0.1,momentum=0.9",
         "layer"},
        {"fp16,acc=fp32", "fp16,*.acc=fp32", "sgd,rate=0.1,kahan=1", "static:7"},
    };
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        float *w[2];
        ulp_trainer *t[2] = {train(pairs[i].plain, pairs[i].optimizer, pairs[i].scaler, 3),
                             train(pairs[i].selected, pairs[i].optimizer, pairs[i].scaler, 3)};
        for (int k = 0; k < 2; k++) weights_of(t[k], &w[k]);
        if (memcmp(w[0], w[1], 2 * cnn.params * sizeof(float)) != 0) fail_msg("%s", pairs[i].selected);
        for (int k = 0; k < 2; k++) {
            ulp_trainer_free(t[k]);
            free(w[k]);
        }
    }
}

/* The observer checks that each rounded number is a value of the format that the policy gives its layer. */
typedef struct watch {
    const ulp_layer_policy *rows;
    size_t seen, wrong;
} watch;

static void see(void *context, const ulp_observation *o) {
    watch *w = context;
    if (o->point == ULP_AT_LOSS) return;
    const size_t row = o->point == ULP_AT_ACT || o->point == ULP_AT_AGRAD ? o->layer : o->layer + 1;
    const ulp_format *f = &w->rows[row].at[o->point].format;
    for (size_t i = 0; i < o->n; i++) {
        const float x = o->rounded[i];
        if (x != x) continue;
        w->seen++;
        w->wrong += (float)ulp_round(x, f, (ulp_rule){0}, 0) != x;
    }
}

/* Check that the tensors of a net and their gradients, in host memory, have values of the formats of their rows. */
static void check_tensors(const ulp_trainer *t) {
    for (size_t i = 0; i <= t->model.net.count; i++) {
        const size_t n =
            t->model.batch * ulp_dims_size(i < t->model.net.count ? t->model.net.layers[i].in : t->model.net.out);
        for (int k = 0; k < 2; k++) {
            const float *x = k ? t->model.grad[i] : t->model.tensor[i];
            const ulp_format *f = &t->rows[i].at[k ? ULP_AT_AGRAD : ULP_AT_ACT].format;
            for (size_t j = 0; x && j < n; j++)
                if (x[j] == x[j] && (float)ulp_round(x[j], f, (ulp_rule){0}, 0) != x[j])
                    fail_msg("%s %zu: %a is not in %s", k ? "gradient" : "tensor", i, (double)x[j], f->name);
        }
    }
}

TEST(each_layer_rounds) {
    static const struct {
        const char *net, *policy;
    } cases[] = {
        {CNN, "mixed:fp16,relu.act=e4m3,pool.agrad=e3m2:inf,fork.act=bf16,join.act=fp32,conv.wgrad=e5m2,bn.act=bf16,"
              "5.act=e2m3,5.agrad=bf16,bn.norm=fp16,tanh.agrad=e4m3,input.act=e3m2"},
        {"conv4@3p1 relu fork conv6@3p1s2 tanh shortcut conv6@1s2 join up2 reshape6x1x64 bigru3 last drop20 fc10",
         "fp32,2.act=e4m3,5.act=bf16,5.agrad=e3m2:inf,4.agrad=fp16,up.act=e5m2,reshape.act=fp16,join.agrad=bf16,"
         "bigru.agrad=e4m3,10.act=bf16,10.agrad=e5m2,drop.act=fp16,relu.agrad=bf16,fc.agrad=fp16"},
        {"rows gru6 columns last leaky sigmoid fc10", "fp32,rows.act=bf16,gru.act=fp16,gru.agrad=bf16,columns.act=e5m2,"
                                                      "columns.agrad=e4m3,3.agrad=fp16,leaky.act=e4m3"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        ulp_policy policy = policy_of(cases[i].policy);
        ulp_net net;
        ulp_trainer *t = NULL;
        watch w = {0};
        const ulp_observer observer = {see, &w, ~0u};
        const ulp_train_options options = {.net = &net, .policy = &policy, .batch = 8, .observer = &observer};
        if (ulp_net_parse(&net, cases[i].net, digits.dims, &error) != ULP_OK ||
            ulp_trainer_new(&t, &digits, &options, &error) != ULP_OK)
            fail_msg("%s: %s", cases[i].net, error.text);
        w.rows = t->rows;
        assert_ok(ulp_trainer_step(t, NULL));
        assert_true(w.seen > 1000);
        assert_int_equal(w.wrong, 0);
        check_tensors(t);
        ulp_trainer_free(t);
        ulp_net_release(&net);
    }
}

/* Weights of a layer are values of its weight format, and only layers with master weights keep them. */
TEST(masters) {
    float *w;
    ulp_trainer *t = train("mixed:fp16,bn.*=fp32,fc.weight=bf16,last.*=e5m2", "sgd,rate=0.1", "static:4", 3);
    const size_t n = cnn.params;
    weights_of(t, &w);
    size_t masters = 0, differ = 0;
    for (size_t i = 0; i < cnn.count; i++) {
        const ulp_layer *layer = &cnn.layers[i];
        const int has = i == CONV || i == CONV2 || i == FC;
        ulp_format f;
        assert_ok(ulp_format_parse(&f, i == FC2 ? "e5m2" : i == FC ? "bf16" : has ? "fp16" : "fp32"));
        masters += has ? layer->params : 0;
        for (size_t k = layer->first_param; k < layer->first_param + layer->params; k++) {
            assert_true((float)ulp_round(w[n + k], &f, (ulp_rule){0}, 0) == w[k]);
            if (has) differ += w[k] != w[n + k];
            else assert_true(w[k] == w[n + k]);
        }
    }
    assert_int_equal(t->optimizer.masters, masters);
    assert_true(differ > masters / 2);
    ulp_trainer_free(t);
    free(w);
}

/* Kahan updates take the place of master weights, in every layer. */
TEST(kahan) {
    ulp_policy policy = policy_of("fp16,fc.master=fp32");
    ulp_optimizer_rule rule;
    assert_ok(ulp_optimizer_parse(&rule, "sgd,kahan=1", &error));
    ulp_train_options options = {.net = &cnn, .policy = &policy, .optimizer = &rule, .batch = 16};
    assert_int_equal(ulp_train_check(&digits, &options, &error), ULP_BAD_NAME);
    assert_non_null(strstr(error.text, "master=none"));
    policy = policy_of("mixed:fp16,fc.act=bf16,master=none");
    assert_ok(ulp_train_check(&digits, &options, &error));
}

TEST(checkpoint) {
    static const char text[] = "mixed:e4m3,bn.*=fp32,conv.act=e4m3@delayed2,fc.master=none", file[] = "layer_policy.ck";
    float *w[2];
    void *note;
    size_t bytes;
    ulp_trainer *a = train(text, "adam", "pytorch", 3), *b = train(text, "adam", "pytorch", 0),
                *other = train("mixed:e4m3,bn.*=fp32,conv.act=e4m3@delayed2", "adam", "pytorch", 0);
    assert_ok(ulp_checkpoint_save(a, file, NULL, 0, &error));
    assert_ok(ulp_checkpoint_load(b, file, &note, &bytes, &error));
    free(note);
    assert_int_equal(ulp_checkpoint_load(other, file, &note, &bytes, &error), ULP_BAD_ARGUMENT);
    for (int i = 0; i < 2; i++) {
        assert_ok(ulp_trainer_step(a, NULL));
        assert_ok(ulp_trainer_step(b, NULL));
    }
    weights_of(a, &w[0]);
    weights_of(b, &w[1]);
    assert_memory_equal(w[0], w[1], 2 * cnn.params * sizeof(float));
    free(w[0]);
    free(w[1]);
    ulp_trainer_free(a);
    ulp_trainer_free(b);
    ulp_trainer_free(other);
    remove(file);
}

TESTS(load, unload)
