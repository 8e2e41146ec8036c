/* t_sim.c - the texts of policies, nets and scalers, traces of scalers, and small functions of sim/. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/argmax.h"
#include "sim/net.h"
#include "sim/scaler.h"
#include "sim/tensor.h"
#include "texts.h"

static char error[2048];

/* ---- policies ---- */

static ulp_policy policy_of(const char *text) {
    ulp_policy policy;
    ulp_status status = ulp_policy_parse(&policy, text, error, sizeof error);
    if (status != ULP_OK) print_message("%s: %s\n", text, error);
    assert_int_equal(status, ULP_OK);
    return policy;
}

static void test_policy_presets(void **state) {
    (void)state;
    ulp_policy p = policy_of("fp32");
    for (int i = 0; i < ULP_AT_COUNT; i++) assert_true(ulp_cast_is_identity(&p.at[i]));
    assert_false(p.has_master);
    p = policy_of("fp16");
    for (int i = 0; i < ULP_AT_COUNT; i++) assert_string_equal(p.at[i].format.name, "binary16");
    assert_false(p.has_master);
    assert_string_equal(p.forward.accumulator.name, "binary16");
    assert_string_equal(p.backward.accumulator.name, "binary16");
    p = policy_of("mixed:fp16");
    assert_true(p.has_master);
    for (int i = 0; i < ULP_AT_COUNT; i++)
        assert_string_equal(p.at[i].format.name, i <= ULP_AT_AGRAD ? "binary16" : "binary32");
    assert_string_equal(p.forward.accumulator.name, "binary32");
}

static void test_policy_overrides(void **state) {
    (void)state;
    ulp_policy p = policy_of("mixed:fp16,wgrad=e5m2,agrad=e5m2/srb/8,acc=serial:fp16:rne,bwd=fp32,master=none,mode=ru");
    assert_false(p.has_master);
    assert_string_equal(p.at[ULP_AT_WGRAD].format.name, "e5m2");
    assert_int_equal(p.at[ULP_AT_WGRAD].rule.mode, ULP_RU);
    assert_int_equal(p.at[ULP_AT_AGRAD].rule.mode, ULP_SRB); /* a mode of its own is stronger than mode= */
    assert_int_equal(p.at[ULP_AT_AGRAD].rule.random_bits, 8);
    assert_int_equal(p.at[ULP_AT_WEIGHT].rule.mode, ULP_RU);
    assert_int_equal(p.at[ULP_AT_STATE].rule.mode, ULP_RNE); /* binary32 keeps its mode */
    assert_string_equal(p.forward.accumulator.name, "binary16");
    assert_string_equal(p.backward.accumulator.name, "binary32");
    p = policy_of("weight=bf16,mode=sr/4");
    assert_string_equal(p.at[ULP_AT_WEIGHT].format.name, "bfloat16");
    assert_int_equal(p.at[ULP_AT_WEIGHT].rule.mode, ULP_SRA);
    assert_int_equal(p.at[ULP_AT_WEIGHT].rule.random_bits, 4);
    assert_string_equal(p.at[ULP_AT_ACT].format.name, "binary32");
}

/* Gradients in a saturating format overflow to Inf unless the name says ":sat"; other points keep the default. */
static void test_policy_gradients_overflow(void **state) {
    static const ulp_rule rne = {0};
    (void)state;
    ulp_policy p = policy_of("mixed:e4m3");
    assert_true(isnan(ulp_round(1e6, &p.at[ULP_AT_AGRAD].format, rne, 0)));
    assert_true(isnan(ulp_round(1e6, &p.at[ULP_AT_WGRAD].format, rne, 0)));
    assert_true(ulp_round(1e6, &p.at[ULP_AT_ACT].format, rne, 0) == 448.0);
    p = policy_of("mixed:e4m3,agrad=e4m3:sat");
    assert_true(ulp_round(1e6, &p.at[ULP_AT_AGRAD].format, rne, 0) == 448.0);
    p = policy_of("mixed:e5m2");
    assert_true(isinf(ulp_round(1e6, &p.at[ULP_AT_AGRAD].format, rne, 0)));
    p = policy_of("mixed:q8.8");
    assert_true(ulp_round(1e6, &p.at[ULP_AT_AGRAD].format, rne, 0) == 127.99609375);
}

static void test_policy_text_returns(void **state) {
    static const char *const texts[] = {"fp32",
                                        "fp16",
                                        "mixed:bf16",
                                        "mixed:fp16,wgrad=e5m2,agrad=e4m3,acc=serial:fp16:sr/8,master=none,mode=srb/7",
                                        "mixed:e4m3,agrad=e4m3:sat",
                                        "q8.8,state=q4.12,mode=sr",
                                        "master=binary32:sat"};
    char first[ULP_POLICY_TEXT_MAX], second[ULP_POLICY_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ulp_policy p = policy_of(texts[i]);
        assert_int_equal(ulp_policy_print(first, sizeof first, &p), ULP_OK);
        ulp_policy q = policy_of(first);
        assert_int_equal(ulp_policy_print(second, sizeof second, &q), ULP_OK);
        assert_string_equal(first, second);
        assert_int_equal(p.has_master, q.has_master);
        for (int k = 0; k < ULP_AT_COUNT; k++) {
            if (k == ULP_AT_MASTER && !p.has_master) continue;
            assert_memory_equal(&p.at[k].format, &q.at[k].format, sizeof p.at[k].format);
            assert_memory_equal(&p.at[k].rule, &q.at[k].rule, sizeof p.at[k].rule);
        }
    }
    ulp_policy p = policy_of("fp16");
    assert_int_equal(ulp_policy_print(first, 20, &p), ULP_BAD_ARGUMENT);
}

static void test_policy_bad(void **state) {
    static const struct {
        const char *text, *word;
        ulp_status status;
    } bad[] = {
        {"fp17", "'fp17'", ULP_BAD_NAME},
        {"mixed:fp17", "'fp17'", ULP_BAD_NAME},
        {"mixed:fp16,weigth=fp32", "'weigth'; did you mean 'weight'?", ULP_BAD_NAME},
        {"mixed:fp16,act=fp32,mode=sr,act=bf16", "act is given twice", ULP_BAD_NAME},
        {"mixed:fp16,weight", "'weight'", ULP_BAD_NAME},
        {"mixed:fp16,fp32", "'fp32'", ULP_BAD_NAME},
        {"mixed:fp16,mode=up", "'up'", ULP_BAD_NAME},
        {"mixed:fp16,mode=rne/8", "'rne/8'", ULP_BAD_ARGUMENT},
        {"mixed:fp16,mode=sr/33", "'sr/33'", ULP_BAD_ARGUMENT},
        {"mixed:fp16,mode=sr/", "'sr/'", ULP_BAD_ARGUMENT},
        {"mixed:fp16,acc=cereal", "'cereal'", ULP_BAD_NAME},
        {"mixed:fp16,agrad=", "''", ULP_BAD_NAME},
        {"mixed:fp16,,mode=sr", "between commas", ULP_BAD_NAME},
        {"mixed:fp16,", "between commas", ULP_BAD_NAME},
        {"", "between commas", ULP_BAD_NAME},
        {"mixed:fp64", "fp64", ULP_UNSUPPORTED},
        {"weight=fp16:wrap", "fp16:wrap", ULP_UNSUPPORTED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ulp_policy policy, before;
        memset(&policy, 7, sizeof policy);
        before = policy;
        ulp_status status = ulp_policy_parse(&policy, bad[i].text, error, sizeof error);
        if (status != bad[i].status || !strstr(error, bad[i].word))
            print_message("%s -> %d: %s\n", bad[i].text, status, error);
        assert_int_equal(status, bad[i].status);
        assert_non_null(strstr(error, bad[i].word));
        assert_memory_equal(&policy, &before, sizeof policy);
        assert_int_equal(ulp_policy_parse(&policy, bad[i].text, NULL, 0), bad[i].status);
    }
    assert_int_equal(ulp_policy_parse(NULL, "fp32", error, sizeof error), ULP_BAD_ARGUMENT);
}

static void test_stream_ids(void **state) {
    (void)state;
    assert_true(ulp_stream_id(ULP_AT_AGRAD, 0, 0, 0) == 3ull << 56);
    assert_true(ulp_stream_id(ULP_USE_SPLIT, 1, 0xffff, 0xffffffffff) == 0xa2ffffffffffffffull);
    assert_true(ulp_stream_id(1, 0, 2, 3) == (1ull << 56 | 2ull << 40 | 3));
}

/* A policy changed by ulp_policy_set() is the policy of the corresponding text. */
static void test_policy_edited(void **state) {
    static const struct {
        const char *policy, *format, *text;
        ulp_point_kind point;
        ulp_tensor_scale when;
        int history;
    } same[] = {
        {"mixed:fp16", "e5m2", "mixed:fp16,agrad=e5m2", ULP_AT_AGRAD, ULP_UNSCALED, 0},
        {"mixed:fp16", "e4m3", "mixed:fp16,wgrad=e4m3", ULP_AT_WGRAD, ULP_UNSCALED, 0},
        {"mixed:fp16", "e4m3:sat", "mixed:fp16,wgrad=e4m3:sat", ULP_AT_WGRAD, ULP_UNSCALED, 0},
        {"mixed:fp16", "e4m3", "mixed:fp16,agrad=e4m3@amax", ULP_AT_AGRAD, ULP_SCALED_NOW, 0},
        {"mixed:fp16", "e4m3", "mixed:fp16,weight=e4m3@delayed16", ULP_AT_WEIGHT, ULP_SCALED_DELAYED, 16},
        {"fp32", "fp32", "fp32,master=fp32", ULP_AT_MASTER, ULP_UNSCALED, 0},
        {"fp16,mode=sr", "bf16", "fp16,act=bf16,mode=sr", ULP_AT_ACT, ULP_UNSCALED, 0},
    };
    char first[ULP_POLICY_TEXT_MAX], second[ULP_POLICY_TEXT_MAX];
    ulp_policy p, q;
    ulp_format format;
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_int_equal(ulp_policy_parse(&p, same[i].policy, error, sizeof error), ULP_OK);
        assert_int_equal(ulp_policy_parse(&q, same[i].text, error, sizeof error), ULP_OK);
        assert_int_equal(ulp_format_parse(&format, same[i].format), ULP_OK);
        assert_int_equal(ulp_policy_set(&p, same[i].point, &format, same[i].when, same[i].history), ULP_OK);
        assert_int_equal(ulp_policy_check(&p, error, sizeof error), ULP_OK);
        assert_int_equal(ulp_policy_print(first, sizeof first, &p), ULP_OK);
        assert_int_equal(ulp_policy_print(second, sizeof second, &q), ULP_OK);
        assert_string_equal(first, second);
    }
    assert_int_equal(ulp_policy_set(&p, ULP_AT_LOSS, &format, ULP_SCALED_NOW, 0), ULP_UNSUPPORTED);
    assert_int_equal(ulp_policy_set(&p, ULP_AT_ACT, &format, ULP_SCALED_NOW, 3), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_format_parse(&format, "fp64"), ULP_OK);
    assert_int_equal(ulp_policy_set(&p, ULP_AT_ACT, &format, ULP_UNSCALED, 0), ULP_UNSUPPORTED);
    assert_int_equal(ulp_policy_parse(&p, "bf16", NULL, 0), ULP_OK);
    assert_int_equal(ulp_format_parse(&format, "e4m3"), ULP_OK);
    assert_int_equal(ulp_policy_set(&p, ULP_AT_WEIGHT, &format, ULP_SCALED_NOW, 0), ULP_OK);
    assert_int_equal(ulp_policy_check(&p, error, sizeof error), ULP_UNSUPPORTED); /* without master weights */
}

/* ---- nets ---- */

static void test_net_good(void **state) {
    ulp_net net;
    (void)state;
    assert_int_equal(ulp_net_parse(&net, " fc128 relu,fc64\ttanh fc10 ", (ulp_dims){1, 8, 8}, error, sizeof error),
                     ULP_OK);
    assert_true(net.count == 5 && ulp_dims_size(net.out) == 10 && net.widest == 128);
    assert_true(net.params == 65 * 128 + 129 * 64 + 65 * 10);
    assert_true(net.layers[2].first_param == 65 * 128 && net.layers[4].first_param == 65 * 128 + 129 * 64);
    assert_true(net.layers[0].gain == 2.0 && net.layers[2].gain == 1.0 && net.layers[4].gain == 1.0);
    assert_string_equal(net.layers[2].word, "fc64");
    ulp_net_release(&net);
    assert_int_equal(ulp_net_parse(&net, "fc1", (ulp_dims){1, 1, 1}, NULL, 0), ULP_OK);
    assert_true(net.params == 2);
    ulp_net_release(&net);
}

static void test_net_deep(void **state) {
    static char text[400 * 9 + 8];
    ulp_net net;
    (void)state;
    for (int i = 0; i < 400; i++) memcpy(text + 9 * i, "fc3 relu ", 9);
    memcpy(text + 3600, "fc10", 5);
    assert_int_equal(ulp_net_parse(&net, text, (ulp_dims){1, 8, 8}, error, sizeof error), ULP_OK);
    assert_int_equal(net.count, 801);
    ulp_net_release(&net);
}

static void test_net_bad(void **state) {
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
        {"fc10 averyveryverylongwordthatnobodyreads", "too long"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ulp_net net;
        ulp_status status = ulp_net_parse(&net, bad[i][0], (ulp_dims){1, 8, 8}, error, sizeof error);
        assert_true(status == ULP_BAD_NAME || status == ULP_BAD_ARGUMENT);
        if (!strstr(error, bad[i][1])) print_message("%s: %s\n", bad[i][0], error);
        assert_non_null(strstr(error, bad[i][1]));
        if (strstr(error, "'fc"))
            assert_non_null(
                strstr(error, "is not written as its kind is: fcN: fully connected, N outputs (1 to 2^20)"));
        /* the message lists all kinds, with the last one, for an unknown name alone */
        assert_true((strstr(error, "; lstmN: ") != NULL) == (strstr(error, "no layer called") != NULL));
        assert_null(net.layers);
        assert_int_equal(net.count, 0);
    }
}

/* Initial weights are a function of the seed, with the variance of He, of Glorot, or of std; biases are zero. */
static void test_net_init(void **state) {
    static float w[65 * 200 + 201 * 100], v[65 * 200 + 201 * 100];
    ulp_net net;
    double squares[2] = {0};
    (void)state;
    assert_int_equal(ulp_net_parse(&net, "fc200 relu fc100", (ulp_dims){1, 8, 8}, error, sizeof error), ULP_OK);
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

/* ---- scalers ---- */

/* Update a scaler with good steps '.' and overflows '!', and compare the scale after every step. */
static void trace(const char *text, const char *events, const int *scales, uint64_t skipped) {
    ulp_scaler s;
    assert_int_equal(scaler_from_text(&s, text, error, sizeof error), ULP_OK);
    for (size_t i = 0; events[i]; i++) {
        int skip = ulp_scaler_update(&s, events[i] != '!' ? 1.0f : i % 2 ? INFINITY : NAN);
        assert_int_equal(skip, events[i] == '!' && s.rule.skip);
        if (s.log2 != scales[i]) print_message("%s, step %zu: 2^%d, want 2^%d\n", text, i, s.log2, scales[i]);
        assert_int_equal(s.log2, scales[i]);
    }
    assert_int_equal(s.skipped, skipped);
}

static void test_scaler_traces(void **state) {
    (void)state;
    trace("none", ".!.", (const int[]){0, 0, 0}, 0);
    trace("static:8", "..!!", (const int[]){8, 8, 8, 8}, 0);
    trace("static:8,skip=1", ".!!", (const int[]){8, 8, 8}, 2);
    /* the scale grows after 3 good steps in a row; an overflow halves it and restarts the count */
    trace("pytorch,interval=3", ".....!..!...", (const int[]){16, 16, 17, 17, 17, 16, 16, 16, 15, 15, 15, 16}, 2);
    trace("apex,interval=1,init=23", "....!.", (const int[]){24, 24, 24, 24, 23, 24}, 1);
    trace("keras,interval=2,init=1", "!!!..", (const int[]){0, 0, 0, 0, 1}, 3);
    /* the second and every further overflow halves the scale, until a growth restores the patience */
    trace("megatron,interval=2", "!!!..!!..", (const int[]){32, 31, 30, 30, 31, 31, 30, 30, 31}, 5);
    trace("backoff", "!..!....", (const int[]){23, 23, 23, 22, 22, 22, 22, 22}, 2);
}

static void test_scaler_rows(void **state) {
    static const struct {
        const char *name;
        int init, max;
        unsigned interval;
    } want[] = {{"pytorch", 16, 126, 2000}, {"apex", 16, 24, 2000}, {"keras", 15, 126, 2000}};
    ulp_scaler s;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(scaler_from_text(&s, want[i].name, error, sizeof error), ULP_OK);
        assert_true(s.log2 == want[i].init && s.rule.max == want[i].max && s.rule.interval == want[i].interval &&
                    s.rule.skip);
        for (unsigned k = 1; k < want[i].interval; k++) ulp_scaler_update(&s, 0.0f);
        assert_int_equal(s.log2, want[i].init);
        ulp_scaler_update(&s, 0.0f);
        assert_int_equal(s.log2, want[i].init + 1);
    }
    for (size_t i = 0; ulp_scaler_rule_get(i); i++)
        assert_int_equal(scaler_from_text(&s, ulp_scaler_rule_get(i)->name, error, sizeof error), ULP_OK);
}

/* The init of a changed rule has to be within its limits. */
static void test_scaler_edited(void **state) {
    ulp_scaler s;
    ulp_scaler_rule rule = *ulp_scaler_rule_find("apex");
    (void)state;
    rule.init = 25;
    assert_int_equal(ulp_scaler_init(&s, &rule, error, sizeof error), ULP_BAD_NAME);
    rule = ulp_scaler_static(-7);
    assert_int_equal(ulp_scaler_init(&s, &rule, error, sizeof error), ULP_OK);
    assert_true(s.log2 == -7 && !s.rule.skip);
    assert_null(ulp_scaler_rule_find("torch"));
}

static void test_scaler_bad(void **state) {
    static const char *const bad[][2] = {
        {"", "no rule ''; known: none, static, pytorch, apex, keras"},
        {"torch", "no rule 'torch'; did you mean 'pytorch'?"},
        {"xyzzy", "no rule 'xyzzy'; known: none, static, pytorch, apex, keras, megatron, backoff, logmax, layer"},
        {"pytorsh", "no rule 'pytorsh'; did you mean 'pytorch'?"},
        {"static:", "'init=': init is a whole number from -126 to 126"},
        {"static:x", "'init=x'"},
        {"static:127", "'init=127'"},
        {"pytorch:3", "no rule 'pytorch:3'"},
        {"pytorch,interval", "'interval' is not key=value"},
        {"pytorch,interval=-1", "'interval=-1': interval is a whole number from 0 to 1e+09"},
        {"pytorch,init=12x", "'init=12x'"},
        {"apex,init=25", "init 25 is not between min -126 and max 24"},
        {"pytorch,,init=3", "'' is not key=value"},
        {"pytorch,init=3,init=3", "scaler pytorch: init is given twice"},
        {"pytorch,speed=3", "no key 'speed'; known: init, min, max, skip, interval, hysteresis"},
        {"pytorch,skip=2", "'skip=2': skip is 0 or 1"},
    };
    ulp_scaler s;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(scaler_from_text(&s, bad[i][0], error, sizeof error), ULP_BAD_NAME);
        if (!strstr(error, bad[i][1])) fail_msg("%s: %s", bad[i][0], error);
        assert_int_equal(scaler_from_text(&s, bad[i][0], NULL, 0), ULP_BAD_NAME);
    }
}

/* ---- elementwise ---- */

static void test_relu(void **state) {
    static const float x[] = {-1.0f, -0.0f, 0.0f, 2.0f, INFINITY, -INFINITY, NAN}, dy[] = {1, 2, 3, 4, 5, 6, 7};
    float y[7], dx[7];
    (void)state;
    const ulp_backend *backend;
    assert_int_equal(ulp_backend_get(&backend, NULL), ULP_OK);
    assert_int_equal(ulp_backend_relu(backend, y, x, 7), ULP_OK);
    assert_int_equal(ulp_backend_relu_slope(backend, dx, dy, y, 7), ULP_OK);
    assert_true(y[0] == 0.0f && y[1] == 0.0f && y[2] == 0.0f && y[3] == 2.0f && isinf(y[4]) && y[5] == 0.0f &&
                isnan(y[6]));
    assert_true(dx[0] == 0.0f && dx[1] == 0.0f && dx[2] == 0.0f && dx[3] == 4.0f && dx[4] == 5.0f && dx[5] == 0.0f &&
                dx[6] == 7.0f);
}

static void test_softmax(void **state) {
    static const float z[] = {0, 0, 0, 1000, 0, -1000, 1, 2, 3, NAN, 0, 0, INFINITY, 0, 0};
    static const uint8_t label[] = {0, 2, 1, 0, 0};
    double p[15], loss[5], dz[15];
    float rounded[15];
    (void)state;
    const ulp_backend *backend;
    assert_int_equal(ulp_backend_get(&backend, NULL), ULP_OK);
    assert_int_equal(ulp_backend_softmax(backend, p, loss, z, (ulp_labels){label, 5, 3}), ULP_OK);
    assert_true(fabs(p[0] - 1.0 / 3) < 1e-15 && fabs(loss[0] - log(3.0)) < 1e-15);
    assert_true(p[3] == 1.0 && p[5] == 0.0 && loss[1] == 2000.0);
    assert_true(fabs(loss[2] - (log(1 + exp(-1) + exp(1)) + 0)) < 1e-14);
    assert_true(isnan(p[9]) && isnan(p[10]) && isnan(loss[3]) && isnan(loss[4]));
    for (int i = 0; i < 15; i++) rounded[i] = (float)p[i];
    assert_int_equal(ulp_backend_softmax_slope(backend, dz, rounded, (ulp_labels){label, 5, 3}, 1024.0), ULP_OK);
    assert_true(fabs(dz[1] - 1024.0 / 15) < 1e-5 && fabs(dz[0] + 2048.0 / 15) < 1e-5);
    assert_true(dz[3] == 1024.0 / 5 && dz[5] == -1024.0 / 5);
}

static void test_count_right(void **state) {
    static const float z[] = {1, 2, 3, 3, 3, 1, NAN, 0, 0, 0, 0, NAN, NAN, NAN, NAN, -INFINITY, -INFINITY, -INFINITY};
    (void)state;
    assert_int_equal(ulp_count_right(z, (const uint8_t[]){2, 0, 0, 0, 0, 0}, 6, 3),
                     3); /* a row with NaN is never right */
    assert_int_equal(ulp_count_right(z, (const uint8_t[]){1, 1, 1, 1, 1, 1}, 6, 3), 0);
}

static void test_family(void **state) {
    const ulp_backend *backend;
    ulp_arena f;
    float *a = NULL, *b = NULL;
    double *c = NULL;
    (void)state;
    assert_int_equal(ulp_backend_get(&backend, NULL), ULP_OK);
    ulp_arena_init(&f, backend);
    for (int pass = 0; pass < 2; pass++) {
        a = ulp_arena_take(&f, 3);
        b = ulp_arena_take(&f, 3000);
        c = ulp_arena_take64(&f, 5);
        if (pass == 0) assert_true(!a && !b && !c);
        if (pass == 0) assert_int_equal(ulp_arena_alloc(&f), ULP_OK);
    }
    assert_true(a && b == a + 16 && (uintptr_t)c % 64 == 0 && (float *)(void *)c >= b + 3000);
    assert_null(ulp_arena_take(&f, 1)); /* the array was not counted, so there is no room */
    float host[3000];
    assert_int_equal(backend->download(host, b, sizeof host), ULP_OK);
    for (int i = 0; i < 3000; i++) assert_true(host[i] == 0.0f);
    assert_int_equal(ulp_tensor_fill(backend, b, 2500, 1.5f), ULP_OK);
    assert_int_equal(backend->download(host, b, sizeof host), ULP_OK);
    for (int i = 0; i < 3000; i++) assert_true(host[i] == (i < 2500 ? 1.5f : 0.0f));
    host[0] = NAN, host[1] = -0.0f, host[2] = -INFINITY;
    assert_int_equal(backend->upload(b, host, 3 * sizeof *host), ULP_OK);
    assert_int_equal(ulp_tensor_copy(backend, b + 1000, b, 999), ULP_OK); /* up to b[1998] */
    assert_int_equal(ulp_tensor_copy(backend, b, b + 2500, 0), ULP_OK);
    float copied[2500];
    assert_int_equal(backend->download(copied, b, sizeof copied), ULP_OK);
    assert_memory_equal(copied, host, 1000 * sizeof *host);
    assert_memory_equal(copied + 1000, host, 999 * sizeof *host);
    assert_memory_equal(copied + 1999, host + 1999, 501 * sizeof *host);
    ulp_backend lacking = *backend;
    lacking.permute = NULL;
    assert_int_equal(ulp_tensor_copy(&lacking, b, b + 1000, 3), ULP_UNSUPPORTED);
    ulp_arena_release(&f);
    ulp_arena_release(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy_presets),
        cmocka_unit_test(test_policy_overrides),
        cmocka_unit_test(test_policy_gradients_overflow),
        cmocka_unit_test(test_policy_text_returns),
        cmocka_unit_test(test_policy_edited),
        cmocka_unit_test(test_policy_bad),
        cmocka_unit_test(test_stream_ids),
        cmocka_unit_test(test_net_good),
        cmocka_unit_test(test_net_deep),
        cmocka_unit_test(test_net_bad),
        cmocka_unit_test(test_net_init),
        cmocka_unit_test(test_scaler_traces),
        cmocka_unit_test(test_scaler_rows),
        cmocka_unit_test(test_scaler_edited),
        cmocka_unit_test(test_scaler_bad),
        cmocka_unit_test(test_relu),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_count_right),
        cmocka_unit_test(test_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
