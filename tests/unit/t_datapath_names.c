/* t_datapath_names.c - names of datapaths: the status of each name, rows by name and number, canonical texts. */
#include "support.h"

static void expect_name(const char *text, ulp_status right) {
    ulp_datapath d, before;
    memset(&d, 0x5a, sizeof d);
    before = d;
    ulp_status status = ulp_datapath_parse(&d, text);
    if (status != right) fail_msg("'%s': %s; should be: %s", text, ulp_status_text(status), ulp_status_text(right));
    if (right == ULP_OK) assert_string_equal(d.name, text);
    else if (memcmp(&d, &before, sizeof d) != 0) fail_msg("'%s' is refused, but the datapath was written", text);
}

/* Check the status of each name; bars separate the names. */
static void expect_names(const char *names, ulp_status right) {
    char name[128];
    for (const char *at = names;; at++) {
        size_t n = strcspn(at, "|");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        expect_name(name, right);
        at += n;
        if (*at == '\0') return;
    }
}

TEST(names) {
    expect_names(
        "|fp16|fp32:rne|serial|serial:|serial:fp16|serial:fp16:|serial:fp16:up|serial::rne|serial:fp17:rne|"
        "serial:fp16:rne |serial:fp16:rne/8|serial:fp16:sr/|serial:fp16:sr/x|serial:fp16:sr/8x|serial:fp16:sr/ "
        "8|serial:fp16:sr/+8|"
        "tensor:fp16:rne|serial:fp16:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:sat:rne",
        ULP_BAD_NAME);
    expect_names("serial:fp16:sr/0|serial:fp16:sr/33|serial:fp16:sr/-1|serial:e12m3:rne", ULP_NOT_IN_RANGE);
    expect_names(
        "chunk:fp16:rne|chunk-4:fp16:rne|chunk+4:fp16:rne|chunk 4:fp16:rne|chunk4x:fp16:rne|chunk4|chunk4:|"
        "chunk4:fp16|block:fp16:rne|serial4:fp16:rne|split2:fp16:rne|kahan|kahan:fp16:|pairwise:rne|"
        "exact:fp16:rne:|exact:fp17:rne|int8:wrap|int8:|int4|int8:sat:sat|h100|h100-|h100-fp17|h100-fp16-|"
        "h100-fp16-fp32|h100-e4m3.fp16|h100-e4m3.|h100-.e4m3|a100-e4m3|v100-bf16|h200-fp16|"
        "h100-fp16:Q=1|h100-fp16:L|h100-fp16:L=|h100-fp16:=3|h100-fp16:=|h100-fp16:L=8:|h100-fp16:L=8x|"
        "h100-fp16:L=0x8|h100-fp16:F=20:f=21|h100-fp16:align=|h100-fp16:align=up|h100-fp16:floor=|"
        "serial:fp16:rne:promote=|serial:fp16:rne:promote=x|serial:fp16:promote=8|promote=8|fp32:promote|"
        "int8:za=|int8:za|int8:za=none|fp32:promote=none|h100-fp16:L=none|h100-fp16:L=8:L=4|fp32:promote=8:PROMOTE=8",
        ULP_BAD_NAME);
    expect_names("chunk0:fp16:rne|chunk16777217:fp16:rne|chunk99999999999:fp16:rne|"
                 "chunk18446744073709551617:fp16:rne|block0:fp16:rne|block65:fp16:rne|block4:fp16:rne:promote=6|"
                 "fp32:promote=-1|serial:fp16:rne:promote=0|serial:fp16:rne:promote=16777217|"
                 "serial:fp16:rne:promote=99999999999999999999|h100-fp16:L=0|h100-fp16:L=65|h100-fp16:L=-1|"
                 "h100-fp16:L=256|h100-fp16:F=99|h100-fp16:F=41|h100-fp16:kept=0|h100-fp16:kept=24|"
                 "h100-fp16-fp16:kept=11|h100-e4m3-mma:L=33|h100-fp16:floor=2000|h100-fp16:zero_c=-1001|"
                 "h100-fp16:promote=100|h100-e4m3-mma:promote=16|b200-e4m3-mx:L=16|b200-e2m1-nvf4:L=40|int8:za=300|"
                 "int8:zb=-256|h100-fp16:signed_zero=2",
                 ULP_NOT_IN_RANGE);
    expect_names("serial:fp16:wrap:rne|exact:fp64:rne:promote=4|serial:fp64:rne:promote=8|chunk4:fp16:rne:promote=8|"
                 "int8:promote=32|int8:sat:promote=32|serial:fp16:rne:za=3|h100-fp16:zb=1|serial:fp16:rne:L=4|"
                 "int8:F=3|fp32:align=rz|h100-fp16:align=sr|h100-fp16:output=srb",
                 ULP_UNSUPPORTED);
    expect_names("fp32|fp32:promote=1|chunk1:fp16:rne|chunk16777216:fp16:sr/8|chunk64:q8.8:wrap:rd|"
                 "block64:e4m3:inf:rne|kahan:bf16:sr|pairwise:fp16:rne:promote=16777216|exact:fp64:src/1|"
                 "split:e5m2:sat:ru|int8|int8:sat|int8:za=-255:zb=255|int8:sat:za=1|serial:fp16:sr/32:promote=7|"
                 "h100-fp16:L=64:F=40:kept=1|h100-fp16:align=rd:output=rne:floor=none:zero_c=-1000|"
                 "h100-bf16:signed_zero=1:zero_operand=-126:zero_product=5|h100-e4m3:F=20:kept=20|"
                 "h100-e4m3:promote=128|h100-e4m3-mma:L=32|h100-fp16:L=8|serial:posit16:rne|exact:takum16:rd|"
                 "kahan:hif8:rna|serial:cfloat8_1_4_3:bias=3:rne|serial:cfloat8_1_5_2:bias=20:sat:rne:promote=8",
                 ULP_OK);
    expect_name("h100-fp16:L=000000000000000000000000000000000000000000000000000000000000000000000000000000000008",
                ULP_BAD_NAME);
    expect_names("v100-fp16|v100-fp16-fp16|t4-fp16|t4-fp16-fp16|a100-fp16|a100-fp16-fp16|a100-bf16|a100-tf32|"
                 "l40s-fp16|l40s-fp16-fp16|l40s-bf16|l40s-tf32|l40s-e4m3|l40s-e5m2|l40s-e4m3-fp16|l40s-e5m2-fp16|"
                 "rtx5090-fp16|rtx5090-bf16|rtx5090-tf32|rtx5090-e4m3|rtx5090-e5m2",
                 ULP_OK);
    static const char *const gpus[] = {"h100", "b200"};
    static const char *const inputs[] = {
        "fp16",      "fp16-fp16", "bf16",     "tf32",          "e4m3",          "e5m2",      "e4m3-fp16",
        "e5m2-fp16", "e4m3-mma",  "e5m2-mma", "e4m3-fp16-mma", "e5m2-fp16-mma", "e4m3.e5m2", "e5m2.e4m3-fp16-mma"};
    for (size_t i = 0; i < 2 * COUNT_OF(inputs); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s-%s", gpus[i % 2], inputs[i / 2]);
        expect_name(name, ULP_OK);
    }
    expect_names("b200-fp16-mma|b200-fp16-fp16-mma|b200-bf16-mma|b200-tf32-mma", ULP_OK);
    ulp_datapath d;
    memset(&d, 0, sizeof d);
    assert_ok(ulp_datapath_parse(&d, "serial:fp16:srb/8"));
    assert_int_equal(ulp_datapath_parse(NULL, "fp32"), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_datapath_parse(&d, NULL), ULP_BAD_ARGUMENT);
    assert_non_null(strstr(ulp_datapath_names(), "serial:FORMAT:MODE"));
    assert_true(d.rule.mode == ULP_SRB && d.rule.random_bits == 8 && strcmp(d.accumulator.name, "binary16") == 0);
}

/* The name of a row gives this row, no name occurs twice, and there is no row past the end. */
TEST(rows) {
    ulp_datapath d, before, again;
    size_t n = 0;
    for (; ulp_datapath_get(n, &d) == ULP_OK; n++) {
        assert_ok(ulp_datapath_parse(&again, d.name));
        assert_memory_equal(&d, &again, sizeof d);
        for (size_t i = 0; i < n; i++)
            assert_true(ulp_datapath_get(i, &again) == ULP_OK && strcmp(again.name, d.name) != 0);
    }
    assert_true(n > 100);
    before = d;
    for (size_t i = 0; i < 3; i++) assert_int_equal(ulp_datapath_get(i < 2 ? n + i : SIZE_MAX, &d), ULP_BAD_ARGUMENT);
    assert_memory_equal(&d, &before, sizeof d);
    assert_int_equal(ulp_datapath_get(0, NULL), ULP_BAD_ARGUMENT);
}

static void assert_same_datapath(const ulp_datapath *x, const ulp_datapath *y) {
    assert_string_equal(x->name, y->name);
    assert_memory_equal(&x->fused, &y->fused, sizeof x->fused);
    assert_memory_equal(&x->rule, &y->rule, sizeof x->rule);
    assert_string_equal(x->accumulator.name, y->accumulator.name);
    assert_string_equal(x->a.name, y->a.name);
    assert_string_equal(x->b.name, y->b.name);
    assert_string_equal(x->scale.name, y->scale.name);
    assert_string_equal(x->result.name, y->result.name);
    assert_true(x->kind == y->kind && x->length == y->length && x->step == y->step && x->promote == y->promote);
    assert_true(x->has_inputs == y->has_inputs && x->scale_block == y->scale_block && x->nan_code == y->nan_code);
    assert_true(x->zero_a == y->zero_a && x->zero_b == y->zero_b && x->rounded.prec == y->rounded.prec);
}

/* Check that `text` has the canonical text `want`, and that the canonical text gives an equal datapath. */
static void expect_canonical(const char *text, const char *want) {
    ulp_datapath d, again;
    char printed[ULP_DATAPATH_NAME_MAX];
    if (ulp_datapath_parse(&d, text) != ULP_OK) fail_msg("%s: no datapath", text);
    assert_string_equal(d.name, want);
    assert_ok(ulp_datapath_print(printed, sizeof printed, &d));
    assert_string_equal(printed, want);
    assert_ok(ulp_datapath_parse(&again, printed));
    assert_same_datapath(&d, &again);
    assert_int_equal(ulp_datapath_print(printed, strlen(want), &d), ULP_BAD_ARGUMENT);
}

TEST(canonical_texts) {
    static const char same[] =
        "fp32 int8 int8:sat vnni-int8 vnni-int8-sat vnni-int16 vnni-int16-sat int8:za=3:zb=-5 int8:sat:zb=255 "
        "uint8 uint8:sat:za=255 uint8.int8:zb=-128 int8.uint8:sat maddubs-int8 maddubs-int8-wrap fp32:split-k=2:e5m2 "
        "serial:fp16:rne serial:bf16:sr/8 serial:e4m3:rz serial:q8.8:rne serial:e4m3:sat:rne split:fp16:rne "
        "split:e5m2:ru chunk32:e6m9:rne chunk64:bf16:sr block16:fp16:rne block4:fp32:rz pairwise:fp16:rne "
        "kahan:bf16:rne exact:fp32:rne exact:bf16:sr serial:fp16:rne:promote=64 h100-e4m3:promote=128 "
        "h100-e4m3:F=20:kept=20 h100-bf16:floor=none h100-fp16:align=rd:output=rne:floor=none:zero_c=-1000 "
        "h100-bf16:signed_zero=1:zero_operand=-126:zero_product=5";
    static const char *const other[][2] = {
        {"h100-e4m3:kept=20:F=20", "h100-e4m3:F=20:kept=20"},
        {"h100-e4m3:zero_c=5:L=16:promote=64", "h100-e4m3:promote=64:L=16:zero_c=5"},
        {"int8:zb=-5:za=3", "int8:za=3:zb=-5"},
        {"h100-e4m3:F=13:kept=13", "h100-e4m3"},
        {"h100-fp16:L=16:F=25:kept=23:align=rz:output=rz:signed_zero=0:floor=-133:zero_c=none", "h100-fp16"},
        {"h100-fp16:floor=-133:F=24", "h100-fp16:F=24"},
        {"b200-e4m3:floor=-133", "b200-e4m3"},
        {"MI300-FP16:JOIN=31:c_cut=0", "mi300-fp16:join=31"},
        {"avx512-bf16:Flush=Rounded:swapped=1", "avx512-bf16:flush=rounded"},
        {"arm-bf16-bfmmla:mode=RNE", "arm-bf16:mode=rne"},
        {"int8:za=0:zb=0", "int8"},
        {"H100-E4M3:f=20:KEPT=020:ALIGN=RD", "h100-e4m3:F=20:kept=20:align=rd"},
        {"h100-fp16-wgmma:F=+20", "h100-fp16:F=20"},
        {"int8:za=-0:zb=+07", "int8:zb=7"},
        {"Serial:FP16:RNE:PROMOTE=064", "serial:fp16:rne:promote=64"},
        {"chunk064:bf16:sr", "chunk64:bf16:sr"},
        {"serial:bf16:sr/08", "serial:bf16:sr/8"},
        {"INT8:SAT:ZA=1", "int8:sat:za=1"},
        {"FP32", "fp32"},
        {"h100-fp16:FLOOR=None", "h100-fp16:floor=none"},
        {"int8:sat:za=0", "int8:sat"},
        {"h100-fp16:L=08", "h100-fp16:L=8"},
        {"h100-fp16:L=00000000000000000000000000000000000000000000000000000000000000000000000000000000008",
         "h100-fp16:L=8"},
    };
    ulp_datapath d;
    char text[ULP_DATAPATH_NAME_MAX];
    for (size_t i = 0; *word_of(same, i); i++) expect_canonical(word_of(same, i), word_of(same, i));
    for (size_t i = 0; i < COUNT_OF(other); i++) expect_canonical(other[i][0], other[i][1]);
    for (size_t i = 0; ulp_datapath_get(i, &d) == ULP_OK; i++) expect_canonical(d.name, d.name);
    /* the settings of a struct that a program has changed */
    assert_ok(ulp_datapath_parse(&d, "h100-e4m3:F=20"));
    d.fused.fraction = 13, d.fused.kept = 10, d.promote = 32;
    assert_ok(ulp_datapath_print(text, sizeof text, &d));
    assert_string_equal(text, "h100-e4m3:promote=32:kept=10");
    d = (ulp_datapath){.kind = ULP_NATIVE, .name = "native:wgmma:e4m3", .promote = 64};
    assert_ok(ulp_datapath_print(text, sizeof text, &d));
    assert_string_equal(text, "native:wgmma:e4m3:promote=64");
    strcpy(d.name, "nothing");
    d.kind = ULP_SERIAL;
    assert_int_equal(ulp_datapath_print(text, sizeof text, &d), ULP_BAD_NAME);
    assert_int_equal(ulp_datapath_print(text, sizeof text, NULL), ULP_BAD_ARGUMENT);
}

TESTS(NULL, NULL)
