/* t_net.c - the texts of nets, and the initial weights of a net. */

#include "test.h"

#include "sim/net.h"

static ulp_error error;

TEST(net_good) {
    ulp_net net;
    assert_ok(ulp_net_parse(&net, " fc128 relu,fc64\ttanh fc10 ", (ulp_dims){1, 8, 8}, &error));
    assert_true(net.count == 5 && ulp_dims_size(net.out) == 10 && net.widest == 128);
    assert_true(net.params == 65 * 128 + 129 * 64 + 65 * 10);
    assert_true(net.layers[2].first_param == 65 * 128 && net.layers[4].first_param == 65 * 128 + 129 * 64);
    assert_true(net.layers[0].gain == 2.0 && net.layers[2].gain == 1.0 && net.layers[4].gain == 1.0);
    assert_string_equal(net.layers[2].word, "fc64");
    ulp_net_release(&net);
    assert_ok(ulp_net_parse(&net, "fc1", (ulp_dims){1, 1, 1}, NULL));
    assert_true(net.params == 2);
    ulp_net_release(&net);
}

TEST(net_deep) {
    static char text[400 * 9 + 8];
    ulp_net net;
    for (int i = 0; i < 400; i++) memcpy(text + 9 * i, "fc3 relu ", 9);
    memcpy(text + 3600, "fc10", 5);
    assert_ok(ulp_net_parse(&net, text, (ulp_dims){1, 8, 8}, &error));
    assert_int_equal(net.count, 801);
    ulp_net_release(&net);
}

TEST(net_bad) {
    static const char *const bad[][2] = {
        {"fc128 rely fc10", "'rely'"},
        {"fc", "'fc'"},
        {"fc0", "'fc0'"},
        {"fc-3", "'fc-3'"},
        {"fc12x", "'fc12x'"},
        {"relu3", "'relu3'"},
        {"128", "'128'"},
        {"", "no layer"},
        {"  , ", "no layer"},
        {"FC10", "'FC10'"},
        {"fc99999999999999999999", "'fc9999999"},
        {"fc10 averyveryverylongwordthatnobodyreadsandthatgoesonuntilithasmorethaneightyofthelettersofthealphabet",
         "too long"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ulp_net net;
        ulp_status status = ulp_net_parse(&net, bad[i][0], (ulp_dims){1, 8, 8}, &error);
        assert_true(status == ULP_BAD_NAME || status == ULP_BAD_ARGUMENT);
        if (!strstr(error.text, bad[i][1])) fail_msg("%s: %s", bad[i][0], error.text);
        if (strstr(error.text, "'fc"))
            assert_non_null(
                strstr(error.text, "does not fit the form of its kind, fcN: fully connected, N outputs (1 to 2^20)"));
        /* only the message for an unknown name lists the kinds, and it lists them all */
        assert_true((strstr(error.text, ", lstmN, ") != NULL) == (strstr(error.text, "no layer called") != NULL));
        for (size_t k = 0; strstr(error.text, "no layer called") && ulp_layer_kind_get(k); k++) {
            char word[64];
            snprintf(word, sizeof word, " %.*s", (int)strcspn(ulp_layer_kind_get(k)->usage, ":"),
                     ulp_layer_kind_get(k)->usage);
            assert_non_null(strstr(error.text, word));
        }
        assert_null(net.layers);
        assert_int_equal(net.count, 0);
    }
}

/* Blocks with two branches: which layer is whose partner, and the shapes. */
TEST(net_branches) {
    static const char text[] = "fork conv8@3s2p1 fork relu join shortcut conv8@1s2 join fc10";
    ulp_net net;
    assert_ok(ulp_net_parse(&net, text, (ulp_dims){1, 8, 8}, &error));
    const ulp_layer *l = net.layers;
    assert_true(l[0].partner == 5 && l[5].fork == 0 && l[5].partner == 7 && l[7].partner == 5);
    assert_true(l[2].partner == 4 && l[4].partner == 2);
    assert_true(l[5].in.c == 8 && l[5].out.c == 1 && l[5].out.h == 8 && l[7].out.c == 8 && l[7].out.h == 4);
    assert_true(net.depth == 2);
    ulp_net_release(&net);
}

TEST(net_bad_branches) {
    static const char *const bad[][2] = {
        {"fc8 shortcut fc8", "net: no fork before 'shortcut'"},
        {"fc8 fork fc8 join shortcut fc8", "net: no fork before 'shortcut'"},
        {"fc8 fork fc8 shortcut fc8 shortcut fc8 join", "net: a block has at most one 'shortcut'"},
        {"fork fc9 shortcut fc8 join",
         "net: the branches of a block end with the same shape, because join adds them: it is 9 x 1 x 1 before the "
         "shortcut and 8 x 1 x 1 before the join"},
        {"fork fc9 join", "net: between fork and join a tensor keeps its shape, unless the block has a shortcut: it is "
                          "1 x 8 x 8 before and 9 x 1 x 1 after"},
        {"fork fc9 shortcut fc9", "net: no join after 'fork'"},
        {"fork fc9 shortcut2 fc9 join", "'shortcut2' does not fit the form of its kind"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ulp_net net;
        assert_true(ulp_net_parse(&net, bad[i][0], (ulp_dims){1, 8, 8}, &error) != ULP_OK);
        if (!strstr(error.text, bad[i][1])) fail_msg("%s: %s", bad[i][0], error.text);
    }
}

/* Initial weights are a function of the seed, with the variance of He, of Glorot, or of std; biases are zero. */
TEST(net_init) {
    static float w[65 * 200 + 201 * 100], v[65 * 200 + 201 * 100];
    ulp_net net;
    double squares[2] = {0};
    assert_ok(ulp_net_parse(&net, "fc200 relu fc100", (ulp_dims){1, 8, 8}, &error));
    ulp_net_init(&net, w, NULL, 1, 0.0);
    ulp_net_init(&net, v, NULL, 1, 0.0);
    assert_memory_equal(w, v, sizeof w);
    for (size_t i = 0; i < 64 * 200; i++) squares[0] += (double)w[i] * (double)w[i];
    for (size_t i = 65 * 200; i < 65 * 200 + 200 * 100; i++) squares[1] += (double)w[i] * (double)w[i];
    assert_true(fabs(squares[0] / (64 * 200) * 64 / 2.0 - 1.0) < 5 * sqrt(2.0 / (64 * 200)));
    assert_true(fabs(squares[1] / (200 * 100) * 300 / 2.0 - 1.0) < 5 * sqrt(2.0 / (200 * 100)));
    for (size_t i = 64 * 200; i < 65 * 200; i++) assert_true(w[i] == 0.0f);
    ulp_net_init(&net, v, NULL, 1, 0.01);
    assert_true(fabs((double)v[5] / (double)w[5] - 0.01 / sqrt(2.0 / 64)) < 1e-6);
    ulp_net_init(&net, v, NULL, 2, 0.0);
    assert_true(memcmp(w, v, sizeof w) != 0);
    ulp_net_release(&net);
}

TESTS(NULL, NULL)
