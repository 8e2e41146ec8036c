/* t_policy.c - the texts of policies, policies changed by functions, and the numbers of streams. */
#include <math.h>

#include "test.h"

#include "sim/policy/policy.h"

static ulp_error error;

static ulp_policy policy_of(const char *text) {
    ulp_policy policy;
    if (ulp_policy_parse(&policy, text, &error) != ULP_OK) fail_msg("%s: %s", text, error.text);
    return policy;
}

TEST(policy_presets) {
    ulp_policy p = policy_of("fp32");
    for (int i = 0; i < ULP_AT_COUNT; i++) assert_true(ulp_cast_is_identity(&p.at[i]));
    assert_false(p.has_master);
    p = policy_of("fp16");
    for (int i = 0; i < ULP_AT_COUNT; i++)
        if (!ulp_point_follows(i)) assert_string_equal(p.at[i].format.name, "binary16");
    assert_int_equal(p.own, 0); /* score and prob follow act */
    assert_false(p.has_master);
    assert_string_equal(p.forward.accumulator.name, "binary16");
    assert_string_equal(p.backward.accumulator.name, "binary16");
    p = policy_of("mixed:fp16");
    assert_true(p.has_master);
    for (int i = 0; i < ULP_AT_COUNT; i++)
        assert_string_equal(p.at[i].format.name, i <= ULP_AT_AGRAD ? "binary16" : "binary32");
    assert_string_equal(p.forward.accumulator.name, "binary32");
}

TEST(policy_overrides) {
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
TEST(policy_gradients_overflow) {
    static const ulp_rule rne = {0};
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

TEST(policy_text_returns) {
    static const char texts[] =
        "fp32 fp16 mixed:bf16 mixed:fp16,wgrad=e5m2,agrad=e4m3,acc=serial:fp16:sr/8,master=none,mode=srb/7 "
        "mixed:e4m3,agrad=e4m3:sat q8.8,state=q4.12,mode=sr fp16,conv.mode=sr,loss=fp32 master=binary32:sat";
    char first[ULP_POLICY_TEXT_MAX], second[ULP_POLICY_TEXT_MAX];
    for (size_t i = 0; *word_of(texts, i); i++) {
        ulp_policy p = policy_of(word_of(texts, i));
        assert_ok(ulp_policy_print(first, sizeof first, &p));
        ulp_policy q = policy_of(first);
        assert_ok(ulp_policy_print(second, sizeof second, &q));
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
    p = policy_of("mixed:fp16,fwd=H100-FP16-WGMMA:kept=020:F=20,bwd=h100-fp16:F=25"); /* 25 is the row's own F */
    assert_ok(ulp_policy_print(first, sizeof first, &p));
    assert_non_null(strstr(first, ",fwd=h100-fp16:F=20:kept=20,bwd=h100-fp16"));
    assert_null(strstr(first, "F=25"));
}

/* A row of a matrix unit takes operands in its own format; as a product of words it takes any binary32 numbers, also
 * after a scale per tensor. */
TEST(policy_words) {
    static const char *const texts[] = {"mixed:fp16,fwd=h100-bf16:words=3",
                                        "mixed:fp16,act=fp16@amax,weight=fp16@amax,fwd=h100-fp16:words=2",
                                        "mixed:e4m3@delayed4,wgrad=fp32,fwd=a100-fp16:words=2"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        const ulp_policy p = policy_of(texts[i]);
        assert_int_equal(p.forward.words, i == 0 ? 3 : 2);
        assert_true(p.forward.has_inputs);
    }
}

TEST(policy_bad) {
    static const struct {
        const char *text, *word;
        ulp_status status;
    } bad[] = {
        {"fp17", "'fp17'", ULP_BAD_NAME},
        {"mixed:fp17", "'fp17'", ULP_BAD_NAME},
        {"mixed:fp16,weigth=fp32", "'weigth'; did you mean 'weight'?", ULP_BAD_NAME},
        {"mixed:fp16,act=fp32,mode=sr,act=bf16", "act is given twice", ULP_BAD_NAME},
        {"mixed:fp16,weight", "weight needs a value, as weight=...: ", ULP_BAD_NAME},
        {"mixed:fp16,fp32", "'fp32'", ULP_BAD_NAME},
        {"mixed:fp16,mode=up", "'up'", ULP_BAD_NAME},
        {"mixed:fp16,mode=rne/8", "'rne/8'", ULP_BAD_ARGUMENT},
        {"mixed:fp16,mode=sr/+8", "'sr/+8'", ULP_BAD_ARGUMENT},
        {"mixed:fp16,mode=sr/33", "'sr/33'", ULP_BAD_ARGUMENT},
        {"mixed:fp16,mode=sr/", "'sr/'", ULP_BAD_ARGUMENT},
        {"mixed:fp16,acc=cereal", "'cereal'", ULP_BAD_NAME},
        {"mixed:fp16,agrad=", "''", ULP_BAD_NAME},
        {"mixed:fp16,,mode=sr", "between commas", ULP_BAD_NAME},
        {"mixed:fp16,", "between commas", ULP_BAD_NAME},
        {"", "between commas", ULP_BAD_NAME},
        {"mixed:fp64", "fp64", ULP_UNSUPPORTED},
        {"weight=fp16:wrap", "fp16:wrap", ULP_UNSUPPORTED},
        {"mixed:fp16,agrad=binary8p4uf", "agrad=binary8p4uf: gradients need a format with a sign", ULP_UNSUPPORTED},
        {"mixed:fp16,wgrad=e8m0", "wgrad=e8m0: gradients need a format with a sign and a zero", ULP_UNSUPPORTED},
        {"fp16,state=binary8p4uf", "state=binary8p4uf: gradients need", ULP_UNSUPPORTED},
        {"mixed:fp16,conv.*=binary8p4uf", "conv.*=binary8p4uf: gradients need", ULP_UNSUPPORTED},
        {"mixed:fp16,fwd=h100-bf16", "takes operands in bfloat16, which does not hold all of act=binary16",
         ULP_UNSUPPORTED},
        {"mixed:fp16,act=fp16@amax,fwd=h100-fp16", "moves numbers out of every format", ULP_UNSUPPORTED},
        {"mixed:fp16,weight=e4m3@delayed4,fwd=a100-fp16", "moves numbers out of every format", ULP_UNSUPPORTED},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ulp_policy policy, before;
        memset(&policy, 7, sizeof policy);
        before = policy;
        ulp_status status = ulp_policy_parse(&policy, bad[i].text, &error);
        if (status != bad[i].status || !strstr(error.text, bad[i].word))
            fail_msg("%s -> %d: %s", bad[i].text, status, error.text);
        assert_memory_equal(&policy, &before, sizeof policy);
        assert_int_equal(ulp_policy_parse(&policy, bad[i].text, NULL), bad[i].status);
    }
    assert_int_equal(ulp_policy_parse(NULL, "fp32", &error), ULP_BAD_ARGUMENT);
}

TEST(stream_ids) {
    assert_true(ulp_stream_id(ULP_AT_AGRAD, 0, 0, 0) == 3ull << 56);
    assert_true(ulp_stream_id(ULP_USE_SPLIT, 1, 0xffff, 0xffffffffff) == 0xa2ffffffffffffffull);
    assert_true(ulp_stream_id(1, 0, 2, 3) == (1ull << 56 | 2ull << 40 | 3));
}

/* A policy changed by ulp_policy_set() is the policy of the corresponding text. */
TEST(policy_edited) {
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
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        assert_ok(ulp_policy_parse(&p, same[i].policy, &error));
        assert_ok(ulp_policy_parse(&q, same[i].text, &error));
        assert_ok(ulp_format_parse(&format, same[i].format));
        assert_ok(ulp_policy_set(&p, same[i].point, &format, same[i].when, same[i].history));
        assert_ok(ulp_policy_check(&p, &error));
        assert_ok(ulp_policy_print(first, sizeof first, &p));
        assert_ok(ulp_policy_print(second, sizeof second, &q));
        assert_string_equal(first, second);
    }
    assert_int_equal(ulp_policy_set(&p, ULP_AT_LOSS, &format, ULP_SCALED_NOW, 0), ULP_UNSUPPORTED);
    assert_int_equal(ulp_policy_set(&p, ULP_AT_ACT, &format, ULP_SCALED_NOW, 3), ULP_BAD_ARGUMENT);
    assert_ok(ulp_format_parse(&format, "fp64"));
    assert_int_equal(ulp_policy_set(&p, ULP_AT_ACT, &format, ULP_UNSCALED, 0), ULP_UNSUPPORTED);
    assert_ok(ulp_policy_parse(&p, "bf16", NULL));
    assert_ok(ulp_format_parse(&format, "e4m3"));
    assert_ok(ulp_policy_set(&p, ULP_AT_WEIGHT, &format, ULP_SCALED_NOW, 0));
    assert_int_equal(ulp_policy_check(&p, &error), ULP_UNSUPPORTED); /* without master weights */
}

TESTS(NULL, NULL)
