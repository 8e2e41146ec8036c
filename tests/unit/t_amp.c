/* t_amp.c - automatic mixed precision: derived policies, the lines of an explanation, and refusals. */
#include "test.h"

#include "sim/policy/amp.h"
#include "sim/train/footprint.h"

static ulp_error error;
static const ulp_dims image = {1, 8, 8};

static ulp_net net_of(const char *text) {
    ulp_net net;
    if (ulp_net_parse(&net, text, image, &error) != ULP_OK) fail_msg("%s", error.text);
    return net;
}

static ulp_amp amp_of(const ulp_net *net, const char *format) {
    ulp_format f;
    ulp_amp amp;
    assert_ok(ulp_format_parse(&f, format));
    if (ulp_amp_derive(&amp, net, &f, &error) != ULP_OK) fail_msg("%s", error.text);
    return amp;
}

TEST(texts) {
    static const struct {
        const char *net, *format, *policy, *scaler;
    } cases[] = {
        {"fc8 relu fc10", "fp16", "mixed:binary16", "pytorch"},
        {"fc8 relu fc10", "bf16", "mixed:bfloat16", "none"},
        {"fc8 relu fc10", "fp32", "fp32", "none"},
        {"fc8 relu fc10", "e4m3", "mixed:e4m3@amax,wgrad=fp32", "none"},
        {"conv4@3p1 bn relu pool2 fc10", "fp16", "mixed:binary16,bn.weight=fp32,bn.wgrad=fp32,bn.master=none",
         "pytorch"},
        {"rows gru6 last fc10", "fp16", "mixed:binary16,input.act=fp32", "pytorch"},
        /* the first branch is in low precision, the second one is not: the sum has the wider format; the convolution
         * after it reads the sum in low precision */
        {"fork fc64 reshape1x8x8 join relu conv2@3 fc10", "fp16",
         "mixed:binary16,input.act=fp32,join.act=fp32,join.agrad=fp32", "pytorch"},
        {NULL, NULL, NULL, NULL},
    };
    for (size_t i = 0; cases[i].format; i++) {
        ulp_net net = net_of(cases[i].net);
        ulp_amp amp = amp_of(&net, cases[i].format);
        assert_string_equal(amp.text, cases[i].policy);
        assert_string_equal(amp.scaler.name, cases[i].scaler);
        ulp_net_release(&net);
    }
}

/* A layer of a kind: on the list low, or in the format of its input, or fully in binary32. The policy of every layer
 * agrees with the explanation. */
typedef struct seen {
    const ulp_net *net;
    const ulp_layer_policy *rows;
    const ulp_amp *amp;
    size_t lines, layers, casts;
} seen;

static void look(void *context, const ulp_amp_line *line) {
    seen *s = context;
    s->lines++;
    s->casts += line->casts;
    assert_non_null(line->why);
    if (strcmp(line->word, "input") == 0 || line->layer >= s->net->count) return;
    if (strcmp(line->what, "sums") == 0 || strcmp(line->what, "statistics") == 0) {
        assert_int_equal(line->list, ULP_AMP_BINARY32);
        return;
    }
    const ulp_layer_policy *row = &s->rows[line->layer + 1];
    const ulp_layer *layer = &s->net->layers[line->layer];
    s->layers++;
    assert_string_equal(line->word, layer->word);
    assert_string_equal(line->out, row->at[ULP_AT_ACT].format.name);
    assert_string_equal(line->in, s->rows[line->layer].at[ULP_AT_ACT].format.name);
    assert_string_equal(row->at[ULP_AT_AGRAD].format.name, line->out);
    if (line->list == ULP_AMP_LOW) assert_string_equal(row->at[ULP_AT_WEIGHT].format.name, s->amp->format.name);
    if (line->list == ULP_AMP_LOW) assert_true(row->has_master);
    if (line->list != ULP_AMP_LOW && layer->params) assert_string_equal(row->at[ULP_AT_WEIGHT].format.name, "binary32");
    assert_string_equal(row->forward.name, "fp32");
}

/* The casts of a policy, which footprint.c counts from the formats of its points. */
static uint64_t casts_of(const ulp_net *net, const ulp_policy *policy, size_t batch) {
    const ulp_optimizer_rule sgd = ulp_optimizer_rule_of(ulp_optimizer_kind_find("sgd"));
    ulp_footprint layer[32], whole;
    assert_true(net->count <= 32);
    assert_ok(ulp_footprint_count(layer, &whole, &(ulp_footprint_run){net, policy, &sgd, batch}, NULL));
    return whole.casts;
}

TEST(explanation) {
    static const char *const nets[] = {
        "bn conv8@3p1 bn relu pool2 fork conv8@3p1 bn tanh conv8@3p1 bn join leaky avg2 up2 drop20 fc10",
        "rows bn gru6 lstm4 last sigmoid fc10",
        "fork tanh shortcut conv1@1 join tconv2@2s2 reshape1x16x32 fc10",
    };
    for (size_t i = 0; i < COUNT_OF(nets); i++) {
        ulp_net net = net_of(nets[i]);
        ulp_amp amp = amp_of(&net, "fp16");
        ulp_layer_policy *rows;
        const ulp_loss_kind *loss;
        assert_ok(ulp_policy_resolve(&rows, &amp.policy, &net, &error));
        assert_non_null(rows);
        assert_ok(ulp_loss_parse(&loss, "softmax", NULL));
        seen s = {.net = &net, .rows = rows, .amp = &amp};
        assert_ok(ulp_amp_explain(&amp, &net, loss, 4, look, &s));
        assert_int_equal(s.layers, net.count);
        assert_int_equal(s.casts, casts_of(&net, &amp.policy, 4));
        free(rows);
        ulp_net_release(&net);
    }
}

/* The conversions of a small net, counted by hand: the input, the weights forward, their gradients in the update, the
 * output and its gradient. */
TEST(casts) {
    enum { B = 4, WEIGHTS = 65 * 3 + 4 * 10 };
    ulp_net net = net_of("fc3 relu fc10");
    ulp_amp amp = amp_of(&net, "fp16");
    const ulp_loss_kind *loss;
    ulp_layer_policy rows[4];
    assert_ok(ulp_loss_parse(&loss, "softmax", NULL));
    for (int i = 0; i < 4; i++) {
        rows[i] = (ulp_layer_policy){.has_master = amp.policy.has_master, .forward = amp.policy.forward};
        memcpy(rows[i].at, amp.policy.at, sizeof rows[i].at);
    }
    seen s = {.net = &net, .rows = rows, .amp = &amp};
    assert_ok(ulp_amp_explain(&amp, &net, loss, B, look, &s));
    assert_int_equal(s.casts, B * 64 + 2 * WEIGHTS + 2 * B * 10);
    assert_int_equal(s.lines, 1 + 2 + 1 + 2 + 3);
    assert_int_equal(casts_of(&net, &amp.policy, B), s.casts);
    ulp_net_release(&net);
}

/* Every kind of layer names an operation of the table; a kind that forms products is on the list low, but for tables,
 * whose gradients alone are sums. */
TEST(every_kind) {
    const ulp_layer_kind *kind;
    for (size_t i = 0; (kind = ulp_layer_kind_get(i)); i++) {
        const ulp_amp_operation *o = ulp_amp_operation_of(kind);
        if (!o) fail_msg("%s: no operation %d", kind->name, (int)kind->operation);
        const int is_table = kind->operation == ULP_OPERATION_EMBEDDING || kind->operation == ULP_OPERATION_SUM;
        assert_int_equal(o->list == ULP_AMP_LOW, kind->products > 0 && !is_table);
    }
}

TEST(refused) {
    static const char *const formats[] = {"q8.8", "e8m0", "fp64", "binary8p4uf", "posit8", "hif8"};
    ulp_net net = net_of("fc10");
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        ulp_format f;
        ulp_amp amp;
        assert_ok(ulp_format_parse(&f, formats[i]));
        assert_false(ulp_amp_takes(&f));
        assert_int_equal(ulp_amp_derive(&amp, &net, &f, &error), ULP_UNSUPPORTED);
        assert_non_null(strstr(error.text, f.name));
    }
    ulp_net_release(&net);
}

TESTS(NULL, NULL)
