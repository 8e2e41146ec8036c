/* t_footprint.c - bytes and products of nets against hand counts, what backward reads, machines and the roofline. */
#include "layering.h"

#include "sim/train/footprint.h"

static ulp_error error;

/* ---- tensors that backward reads ---- */

/* Backward of every kind reads no tensors but those that the kind names: NaN in the others changes no gradient. */
TEST(reads) {
    enum { B = 3 };
    const ulp_layer_kind *kind;
    for (size_t i = 0; (kind = ulp_layer_kind_get(i)) != NULL; i++)
        for (int poison = 0; poison < 2; poison++) {
            static float dw[4096], dx[4096];
            rig r;
            rig_start(&r, kind->example, example_dims(kind), B, "mixed:fp16");
            const ulp_net *net = &r.model.net;
            const size_t m = B * ulp_dims_size(net->in);
            assert_true(net->params <= 4096 && m <= 4096);
            rig_forward(&r);
            for (size_t t = 0; t <= net->count && poison; t++) {
                const ulp_layer_reads next = t < net->count ? net->layers[t].kind->reads : ULP_READS_NEITHER,
                                      own = t ? net->layers[t - 1].kind->reads : ULP_READS_NEITHER;
                if (next == ULP_READS_INPUT || next == ULP_READS_BOTH || own == ULP_READS_OUTPUT ||
                    own == ULP_READS_BOTH)
                    continue;
                const size_t n = B * ulp_dims_size(t < net->count ? net->layers[t].in : net->out);
                for (size_t j = 0; j < n; j++) r.model.tensor[t][j] = NAN;
            }
            rig_backward(&r);
            if (poison && (memcmp(dw, r.model.wgrad, net->params * sizeof *dw) != 0 ||
                           memcmp(dx, r.model.grad[0], m * sizeof *dx) != 0))
                fail_msg("%s: backward reads more than the kind says", kind->example);
            memcpy(dw, r.model.wgrad, net->params * sizeof *dw);
            memcpy(dx, r.model.grad[0], m * sizeof *dx);
            rig_end(&r);
        }
}

/* ---- bytes and products by hand ---- */

enum { LAYERS_MAX = 16 };

static ulp_footprint layer[LAYERS_MAX], whole;

static void count_texts(const char *net, ulp_dims in, const char *policy, const char *optimizer, size_t batch) {
    const training_texts texts = {.net = net, .policy = policy, .optimizer = optimizer};
    training_types types;
    assert_ok(read_texts(&types, &texts, in, &error));
    const ulp_footprint_run run = {&types.net, &types.policy, &types.optimizer, batch};
    assert_true(types.net.count <= LAYERS_MAX);
    assert_ok(ulp_footprint_count(layer, &whole, &run, &error));
    ulp_net_release(&types.net);
}

static void same_effort(const char *what, ulp_effort have, uint64_t products, uint64_t bytes, ulp_peak_type type) {
    if (have.products != products || have.bytes != bytes || have.type != type)
        fail_msg("%s: %llu products, %llu bytes, %s", what, (unsigned long long)have.products,
                 (unsigned long long)have.bytes, ulp_peak_type_name(have.type));
}

/* A chain: the numbers of each layer, with 2 bytes for fp16 and 4 for binary32, B = 5, images of 2 x 8 x 8. */
TEST(chain) {
    enum { B = 5, X = B * 2 * 64, C = B * 4 * 64, P = B * 4 * 16, W = 4 * 18 + 4, F = 64 * 10 + 10 };
    count_texts("conv4@3p1 bn relu pool2 fc10", (ulp_dims){2, 8, 8}, "mixed:fp16", "sgd,momentum=0.9", B);
    assert_true(layer[0].bytes[ULP_BYTES_WEIGHT] == 2 * W && layer[0].bytes[ULP_BYTES_MASTER] == 4 * W &&
                layer[0].bytes[ULP_BYTES_STATE] == 4 * W && layer[0].bytes[ULP_BYTES_WGRAD] == 2 * W);
    assert_int_equal(layer[0].bytes[ULP_BYTES_ACT], 2 * X + 2 * C); /* the images; bn reads its input */
    assert_int_equal(layer[1].bytes[ULP_BYTES_ACT], 4 * 8);         /* statistics; relu does not read its input */
    assert_int_equal(layer[1].bytes[ULP_BYTES_NORM], 4 * 8);
    assert_int_equal(layer[2].bytes[ULP_BYTES_ACT], 2 * C); /* relu reads its output */
    assert_int_equal(layer[3].bytes[ULP_BYTES_ACT], P + 2 * P);
    assert_int_equal(layer[4].bytes[ULP_BYTES_ACT], 0);
    assert_true(layer[0].bytes[ULP_BYTES_AGRAD] == 0 && layer[1].bytes[ULP_BYTES_AGRAD] == 2 * C &&
                layer[4].bytes[ULP_BYTES_AGRAD] == 2 * P);
    assert_int_equal(whole.bytes[ULP_BYTES_AGRAD], 2 * 2 * C); /* relu and bn: a gradient in, a gradient out */
    same_effort("conv", layer[0].effort[ULP_EFFORT_FORWARD], B * 64 * 4 * 18, 2 * (X + C + W), ULP_PEAK_FP16);
    same_effort("conv dw", layer[0].effort[ULP_EFFORT_WGRAD], B * 64 * 4 * 18, 2 * (X + C + W), ULP_PEAK_FP16);
    same_effort("conv dx", layer[0].effort[ULP_EFFORT_AGRAD], 0, 0, ULP_PEAK_FP16);
    same_effort("conv update", layer[0].effort[ULP_EFFORT_UPDATE], 0, (2 + 8 + 8 + 2) * W, ULP_PEAK_FP32);
    same_effort("bn", layer[1].effort[ULP_EFFORT_FORWARD], 0, 2 * (2 * C + C + 8) + 4 * 8, ULP_PEAK_FP16);
    same_effort("bn dx", layer[1].effort[ULP_EFFORT_AGRAD], 0, 2 * (3 * C + 8) + 4 * 8, ULP_PEAK_FP16);
    same_effort("relu dx", layer[2].effort[ULP_EFFORT_AGRAD], 0, 2 * 3 * C, ULP_PEAK_FP16);
    same_effort("pool dx", layer[3].effort[ULP_EFFORT_AGRAD], 0, 2 * (P + C) + P, ULP_PEAK_FP16);
    same_effort("fc dw", layer[4].effort[ULP_EFFORT_WGRAD], B * 640, 2 * (P + B * 10 + F), ULP_PEAK_FP16);
    same_effort("fc dx", layer[4].effort[ULP_EFFORT_AGRAD], B * 640, 2 * (P + B * 10 + F), ULP_PEAK_FP16);
    assert_int_equal(whole.effort[ULP_EFFORT_FORWARD].products, B * (64 * 4 * 18 + 640));
}

/* Layers with policies of their own: a tensor has the format of the layer whose output it is. */
TEST(policies_of_layers) {
    enum { B = 5, X = B * 16, H = B * 6, F = 17 * 6, L = 7 * 3 };
    count_texts("fc6 tanh fc3", (ulp_dims){1, 4, 4}, "mixed:fp16,last.*=fp32,input.act=e4m3", "sgd,momentum=0.9", B);
    assert_true(layer[0].bytes[ULP_BYTES_WEIGHT] == 2 * F && layer[0].bytes[ULP_BYTES_MASTER] == 4 * F);
    assert_true(layer[2].bytes[ULP_BYTES_WEIGHT] == 4 * L && layer[2].bytes[ULP_BYTES_MASTER] == 0);
    assert_true(layer[0].bytes[ULP_BYTES_ACT] == X && layer[1].bytes[ULP_BYTES_ACT] == 2 * H);
    same_effort("fc6", layer[0].effort[ULP_EFFORT_FORWARD], B * 16 * 6, X + 2 * (F + H), ULP_PEAK_FP16);
    same_effort("fc3 dw", layer[2].effort[ULP_EFFORT_WGRAD], B * 18, 2 * H + 4 * (B * 3 + L), ULP_PEAK_FP32);
    same_effort("fc3 update", layer[2].effort[ULP_EFFORT_UPDATE], 0, (4 + 8 + 8) * L, ULP_PEAK_FP32);
}

/* out= is the format of the output of the net. The gradient of the output keeps the format of agrad. */
TEST(output) {
    count_texts("fc3 tanh fc6", (ulp_dims){1, 4, 4}, "mixed:fp16", "sgd", 5);
    const uint64_t gradients = whole.bytes[ULP_BYTES_AGRAD];
    count_texts("fc3 tanh fc6", (ulp_dims){1, 4, 4}, "mixed:fp16,out=fp32", "sgd", 5);
    assert_true(gradients > 0 && whole.bytes[ULP_BYTES_AGRAD] == gradients);
}

TEST(wrong_selector) {
    const training_texts texts = {.net = "fc6 fc3", .policy = "mixed:fp16,conv.*=fp32", .optimizer = "sgd"};
    training_types types;
    assert_ok(read_texts(&types, &texts, (ulp_dims){1, 4, 4}, &error));
    const ulp_footprint_run run = {&types.net, &types.policy, &types.optimizer, 1};
    assert_int_equal(ulp_footprint_count(layer, &whole, &run, &error), ULP_BAD_NAME);
    assert_non_null(strstr(error.text, "'conv.' selects no layer"));
    ulp_net_release(&types.net);
}

/* Transposed convolution: each input pixel meets all elements of its kernels; the input of the net is the first
 * layer's. */
TEST(transposed) {
    count_texts("tconv4@3s2nobias", (ulp_dims){2, 3, 5}, "fp32", "sgd", 2);
    same_effort("tconv", layer[0].effort[ULP_EFFORT_FORWARD], 2 * 15 * 2 * 36, 4 * (2 * 30 + 2 * 4 * 7 * 11 + 72),
                ULP_PEAK_FP32);
}

/* A block with two branches: no copies, and three gradients are alive where the second branch ends. */
TEST(block) {
    enum { B = 2, N = B * 3 * 16 };
    count_texts("relu fork conv6@3s2p1 tanh shortcut conv6@1s2nobias join relu", (ulp_dims){3, 4, 4}, "bf16",
                "adam,kahan=1", B);
    enum { H = B * 6 * 4 };
    assert_int_equal(layer[0].bytes[ULP_BYTES_ACT],
                     2 * N); /* read by relu, and by both convolutions through the fork */
    assert_true(layer[1].bytes[ULP_BYTES_ACT] == 0 && layer[4].bytes[ULP_BYTES_ACT] == 0);
    assert_int_equal(layer[3].bytes[ULP_BYTES_ACT], 2 * H); /* tanh reads its output */
    assert_int_equal(layer[5].bytes[ULP_BYTES_ACT], 0);
    assert_int_equal(layer[5].bytes[ULP_BYTES_STATE], (2 + 1) * 2 * 18);
    same_effort("fork", layer[1].effort[ULP_EFFORT_FORWARD], 0, 0, ULP_PEAK_BF16);
    same_effort("fork dx", layer[1].effort[ULP_EFFORT_AGRAD], 0, 2 * 3 * N, ULP_PEAK_BF16);
    same_effort("shortcut", layer[4].effort[ULP_EFFORT_FORWARD], 0, 0, ULP_PEAK_BF16);
    same_effort("shortcut dx", layer[4].effort[ULP_EFFORT_AGRAD], 0, 0, ULP_PEAK_BF16);
    same_effort("join", layer[6].effort[ULP_EFFORT_FORWARD], 0, 2 * 3 * H, ULP_PEAK_BF16);
    same_effort("join dx", layer[6].effort[ULP_EFFORT_AGRAD], 0, 0, ULP_PEAK_BF16);
    same_effort("1 x 1", layer[5].effort[ULP_EFFORT_WGRAD], B * 4 * 18, 2 * (N + H + 18), ULP_PEAK_BF16);
    /* the fork reads the gradients of both branches and writes their sum; the join's gradient is no longer needed */
    assert_int_equal(whole.bytes[ULP_BYTES_AGRAD], 2 * 3 * N);
}

/* A block without shortcut: the join's gradient is one with its input's, and alive until the fork reads it. */
TEST(identity_block) {
    count_texts("fc16 fork fc7 relu fc16 join fc4", (ulp_dims){1, 4, 4}, "fp32", "sgd", 1);
    assert_int_equal(layer[6].bytes[ULP_BYTES_AGRAD], 4 * 16);
    assert_int_equal(layer[5].bytes[ULP_BYTES_AGRAD], 0);
    assert_int_equal(layer[4].bytes[ULP_BYTES_AGRAD], 4 * 7);
    assert_int_equal(whole.bytes[ULP_BYTES_AGRAD], 4 * (16 + 16 + 16)); /* the fork adds two gradients */
    count_texts("fc16 fork fc70 relu fc16 join fc4", (ulp_dims){1, 4, 4}, "fp32", "sgd", 1);
    assert_int_equal(whole.bytes[ULP_BYTES_AGRAD], 4 * (16 + 70 + 70)); /* in the relu */
}

/* A recurrent layer keeps all stages of its cell, and reads U in every step. */
TEST(recurrent) {
    enum { B = 3, T = 8, F = 8, N = 5, W = 3 * N * F, U = 3 * N * N };
    count_texts("rows gru5 bigru2 last", (ulp_dims){1, 8, 8}, "mixed:bf16,weight=e4m3,act=e4m3,agrad=e5m2", "sgd", B);
    assert_int_equal(layer[1].bytes[ULP_BYTES_WEIGHT], W + U + 4 * N);
    assert_int_equal(layer[1].bytes[ULP_BYTES_MASTER], 4 * (W + U + 4 * N));
    assert_int_equal(layer[1].bytes[ULP_BYTES_ACT], B * T * N * (4 + 1)); /* q, r, z and n; h */
    same_effort("gru", layer[1].effort[ULP_EFFORT_FORWARD], B * T * (W + U),
                B * T * (F + N + 4 * N) + W + U + 4 * N + (T - 1) * U, ULP_PEAK_FP8);
    same_effort("gru dx", layer[1].effort[ULP_EFFORT_AGRAD], B * T * (W + U),
                B * T * (N + F + 4 * N + N) + W + U + 4 * N + (T - 1) * U, ULP_PEAK_FP8);
    same_effort("bigru", layer[2].effort[ULP_EFFORT_FORWARD], 2 * B * T * 3 * 2 * (N + 2),
                B * T * (N + 4 + 16) + 2 * (3 * 2 * (N + 2) + 8) + 2 * (T - 1) * 12, ULP_PEAK_FP8);
    assert_int_equal(layer[1].effort[ULP_EFFORT_WGRAD].type, ULP_PEAK_FP8);
    count_texts("gru5", (ulp_dims){F, 1, T}, "fp32", "sgd", B); /* no dx, but the way back through time */
    same_effort("first gru", layer[0].effort[ULP_EFFORT_AGRAD], B * T * U,
                4 * (B * T * (N + 4 * N + N) + W + U + 4 * N + (T - 1) * U), ULP_PEAK_FP32);
}

/* ---- machines ---- */

static ulp_peak_type type_of(const char *a, const char *b) {
    const ulp_format x = named(a), y = named(b);
    return ulp_peak_type_of(&x, &y);
}

TEST(machines) {
    const ulp_machine *m;
    assert_true(type_of("fp32", "fp16") == ULP_PEAK_FP32 && type_of("fp16", "bf16") == ULP_PEAK_FP32);
    assert_true(type_of("fp16", "e5m2:inf") == ULP_PEAK_FP16 && type_of("bf16", "e4m3") == ULP_PEAK_BF16);
    assert_true(type_of("e4m3:sat", "e5m2") == ULP_PEAK_FP8 && type_of("tf32", "tf32") == ULP_PEAK_FP32);
    assert_ok(ulp_machine_find(&m, "v100", &error));
    assert_int_equal(ulp_machine_type(m, ULP_PEAK_FP8), ULP_PEAK_FP16);
    assert_int_equal(ulp_machine_type(m, ULP_PEAK_BF16), ULP_PEAK_FP32);
    assert_int_equal(ulp_machine_type(m, ULP_PEAK_TF32), ULP_PEAK_FP32);
    assert_true(fabs(ulp_machine_balance(m, ULP_PEAK_FP16) - 125e12 / 900e9) < 1e-9);
    assert_true(fabs(ulp_machine_seconds(m, ULP_PEAK_FP32, 15.7e12, 0) - 2) < 1e-12);
    assert_true(fabs(ulp_machine_seconds(m, ULP_PEAK_FP32, 1, 900e9) - 1) < 1e-12);
    assert_int_equal(ulp_machine_find(&m, "v101", &error), ULP_BAD_NAME);
    assert_string_equal(error.text, "no machine 'v101'; known: p100, v100, a100, h100, b200");
    for (size_t i = 0; (m = ulp_machine_get(i)) != NULL; i++) {
        assert_true(strstr(m->source, "NVIDIA") && m->peak[ULP_PEAK_FP32] > 0 && m->bandwidth > 0);
        for (int t = 1; t < ULP_PEAK_TYPES; t++)
            assert_true(m->peak[t] == 0 || m->peak[t] >= 2 * m->peak[ULP_PEAK_FP32]);
    }
}

/* The seconds of a net are the sum over its operations, each bound by products or by bytes. */
TEST(seconds) {
    const ulp_machine *m;
    double sum = 0;
    count_texts("conv64@3p1 relu fc10", (ulp_dims){16, 28, 28}, "fp32", "sgd", 8);
    assert_ok(ulp_machine_find(&m, "a100", &error));
    for (size_t i = 0; i < 3; i++)
        for (int k = 0; k < ULP_EFFORT_KINDS; k++) {
            const ulp_effort e = layer[i].effort[k];
            sum += fmax((double)e.products * 2 / 19.5e12, (double)e.bytes / 2039e9);
        }
    const double seconds = ulp_footprint_seconds(layer, 3, m, 0);
    assert_true(fabs(seconds - sum) < 1e-12 * sum);
    assert_true(ulp_footprint_seconds(layer, 3, m, 1) < seconds); /* tf32 shortens the convolution */
}

TESTS(NULL, NULL)
