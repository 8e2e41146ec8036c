/* t_names.c - parsing names: a refused name has the right status and changes nothing; other names have one spelling. */
#include "support.h"

/* ---- formats ---- */

static void expect_status(const char *name, ulp_status want) {
    ulp_format f, before;
    memset(&f, 0xa5, sizeof f);
    before = f;
    ulp_status got = ulp_format_parse(&f, name);
    if (got != want) fail_msg("'%.60s': %s; should be: %s", name, ulp_status_text(got), ulp_status_text(want));
    if (want != ULP_OK && memcmp(&f, &before, sizeof f) != 0)
        fail_msg("'%.60s' is refused, but the format was written", name);
}

/* Check the status of each name; bars separate the names. */
static void expect_each(const char *names, ulp_status want) {
    char name[64];
    for (const char *at = names;; at++) {
        size_t n = strcspn(at, "|");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        expect_status(name, want);
        at += n;
        if (*at == '\0') return;
    }
}

TEST(bad_names) {
    expect_each(
        "| |:|::|:sat| fp16|fp16 |fp 16|fp16\n|fp16:|fp16::sat|fp16:sat:|fp16: sat|fp16:foo|fp16:default|fp16:sa",
        ULP_BAD_NAME);
    expect_each("fp16:satt|fp16:sat:inf|e4m3:sat:inf|e4m3:sat:sat|nosub|\xff\xfe|fp16:sat\xff", ULP_BAD_NAME);
    expect_each("binary|binary8|binary16p|binary8p3|binary8p3s|binary8p3e|binary8p3xe|binary8p3see|binary08p3se",
                ULP_BAD_NAME);
    expect_each("e|em|e5|e5m|em2|m2|e5m2x|xe5m2|e5m2ieeee|e5m2iee|e05m2|e5m02|e-5m2|e5m-2|e+5m2|e5.m2|e5 m2",
                ULP_BAD_NAME);
    expect_each("q|q8|q8.|q.8|q8.8.8|q8,8|q-0.8|q--8.9|uqq8.8|u8.8|-q8.8|q8.-1|q08.8|q8.08|q8.8x|binaryp3se",
                ULP_BAD_NAME);
    expect_each("e0m3|e12m1|e5m53|e0m0|e99m99|e11m53ieee|e12m3:sat|e1m0:nosub", ULP_NOT_IN_RANGE);
    expect_each(
        "q0.0|uq0.0|q-8.8|q-33.40|q30.24|q54.0|uq54.0|q1.53|q999.999|binary2p1se|binary17p3sf|binary8p0se|binary8p8se",
        ULP_NOT_IN_RANGE);
    expect_each("fp16:wrap|e4m3:wrap|binary8p3se:wrap|e8m0:nosub|dlfloat16:nosub|q8.8:nosub|fp16:nosub:nosub",
                ULP_UNSUPPORTED);
    for (int c = 1; c < 256; c++) {
        char name[] = {'f', 'p', '1', '6', (char)c, '\0'}, front[] = {(char)c, 'f', 'p', '1', '6', '\0'};
        expect_status(name, ULP_BAD_NAME);
        expect_status(front, ULP_BAD_NAME);
    }
}

TEST(long_names) {
    char text[4097];
    for (size_t n = 20; n < sizeof text; n = n * 3 / 2) {
        memset(text, 'e', n), text[n] = '\0';
        expect_status(text, ULP_BAD_NAME);
        memset(text, '1', n), text[0] = 'e';
        expect_status(text, ULP_BAD_NAME);
        for (size_t i = 0; i + 4 <= n; i += 4) memcpy(text + i, i == 0 ? "fp16" : ":sat", 4);
        expect_status(text, ULP_BAD_NAME);
        memset(text, ' ', n), memcpy(text, "fp16", 4);
        expect_status(text, ULP_BAD_NAME);
    }
}

TEST(spelling) {
    ulp_format f = named("FP16:NoSub:SAT");
    assert_string_equal(f.name, "binary16:nosub:sat");
    f = named("TensorFloat32:nan:nosub");
    assert_string_equal(f.name, "tf32:nan:nosub");
    f = named("INT8:Wrap");
    assert_string_equal(f.name, "q8.0:wrap");
    f = named("E6M10IEEE");
    assert_string_equal(f.name, "e6m10ieee");
    static const char *const words[] = {"FP16", "Half", "BINARY16",    "E4M3FN", "TF32",
                                        "Int8", "Q8.8", "BINARY8P3SE", "Single"};
    static const char *const names[] = {"binary16", "binary16", "binary16",    "e4m3",    "tf32",
                                        "q8.0",     "q8.8",     "binary8p3se", "binary32"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        f = named(words[i]);
        assert_string_equal(f.name, names[i]);
    }
}

/* ---- modes, policies, operations ---- */

TEST(other_names) {
    for (int i = 0; i < ULP_OVERFLOW_COUNT; i++) {
        ulp_overflow policy;
        assert_ok(ulp_overflow_parse(&policy, ulp_overflow_name((ulp_overflow)i)));
        assert_int_equal(policy, i);
        ulp_format f = named("e4m3"), g = named("binary16");
        assert_int_equal(ulp_overflow_of(&f, (ulp_overflow)i), i == 0 ? ULP_OVERFLOW_SAT : i);
        assert_int_equal(ulp_overflow_of(&g, (ulp_overflow)i), i == 0 ? ULP_OVERFLOW_INF : i);
    }
    for (int i = 0; i < ULP_MODE_COUNT; i++) {
        ulp_mode mode;
        assert_ok(ulp_mode_parse(&mode, ulp_mode_name((ulp_mode)i)));
        assert_int_equal(mode, i);
        assert_non_null(ulp_mode_meaning((ulp_mode)i));
        assert_int_equal(ulp_mode_is_stochastic((uint32_t)i), ulp_mode_name((ulp_mode)i)[0] == 's');
    }
    for (int i = 0; i < ULP_OP_COUNT; i++) {
        ulp_op op;
        assert_ok(ulp_op_parse(&op, ulp_op_name((ulp_op)i)));
        assert_int_equal(op, i);
    }
    ulp_mode mode = ULP_RD;
    ulp_overflow policy = ULP_OVERFLOW_NAN;
    ulp_op op = ULP_SQRT;
    static const char *const bad[] = {"", "rn", "rnee", " rne", "sr ", "srd", "satt", "sa", "inf ", "addd", "fm", "?"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(ulp_mode_parse(&mode, bad[i]), ULP_BAD_NAME);
        assert_int_equal(ulp_overflow_parse(&policy, bad[i]), ULP_BAD_NAME);
        assert_int_equal(ulp_op_parse(&op, bad[i]), ULP_BAD_NAME);
    }
    assert_true(mode == ULP_RD && policy == ULP_OVERFLOW_NAN && op == ULP_SQRT);
    assert_ok(ulp_mode_parse(&mode, "sr"));
    assert_int_equal(mode, ULP_SRA);
    assert_null(ulp_mode_name(ULP_MODE_COUNT));
    assert_null(ulp_op_name(ULP_OP_COUNT));
    assert_int_equal(ulp_op_operands(ULP_OP_COUNT), 0);
    for (int i = 0; i < ULP_BAD_FILE + 2; i++) assert_true(ulp_status_text((ulp_status)i)[0] != '\0');
}

/* ---- datapaths ---- */

/* Check that `name` gives the row `want`; a unit may have several names for one row. */
static void expect_row(const char *name, const char *want) {
    ulp_datapath d, row;
    ulp_status status = ulp_datapath_parse(&d, name);
    if (status != ULP_OK) fail_msg("%s: %s", name, ulp_status_text(status));
    assert_string_equal(d.name, want);
    assert_ok(ulp_datapath_parse(&row, want));
    assert_memory_equal(&d.fused, &row.fused, sizeof d.fused);
    assert_string_equal(d.a.name, row.a.name);
    assert_string_equal(d.b.name, row.b.name);
    assert_string_equal(d.accumulator.name, row.accumulator.name);
}

TEST(units) {
    static const char same[] = /* a name, and the name of the same row */
        "h100-fp16-mma h100-fp16 h100-fp16-wgmma h100-fp16 h100-fp16-fp16-mma h100-fp16-fp16 "
        "h100-bf16-mma h100-bf16 h100-tf32-mma h100-tf32 h100-e4m3-wgmma h100-e4m3 "
        "h100-e4m3.e5m2-fp16-wgmma h100-e4m3.e5m2-fp16 b200-fp16-tcgen05 b200-fp16 b200-e2m1-tcgen05 b200-e2m1 "
        "v100-fp16-mma v100-fp16 t4-fp16-fp16-mma t4-fp16-fp16 a100-tf32-mma a100-tf32 l40s-e5m2-mma l40s-e5m2 "
        "rtx5090-e4m3-fp16-mma rtx5090-e4m3-fp16 H100-FP16-MMA:F=20:kept=20 h100-fp16:F=20:kept=20";
    for (size_t i = 0; *word_of(same, i); i += 2) expect_row(word_of(same, i), word_of(same, i + 1));
    /* units with their own row, and units that a GPU does not have */
    static const char *const own[] = {"h100-e4m3-mma", "b200-fp16-mma", "h100-fp16-k8", "rtx5090-e4m3-k16"};
    for (size_t i = 0; i < COUNT_OF(own); i++) expect_row(own[i], own[i]);
    static const char *const bad[] = {"h100-fp16-tcgen05", "v100-fp16-wgmma",     "b200-fp16-wgmma", "h100-fp16-",
                                      "h100-fp16-mma-mma", "h100-fp16-wgmma-mma", "a100-fp16-k8"};
    ulp_datapath d;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (ulp_datapath_parse(&d, bad[i]) != ULP_BAD_NAME) fail_msg("'%s' is accepted", bad[i]);
}

/* Every name of another tool is a name, in either case, and stands once; a word without a format is none. */
TEST(names_of_other_tools) {
    const ulp_other_name *other;
    ulp_format f, g;
    for (size_t i = 0; (other = ulp_other_name_get(i)) != NULL; i++) {
        char upper[ULP_NAME_MAX] = "";
        for (size_t k = 0; other->name[k] != '\0'; k++) {
            assert_true(other->name[k] < 'A' || other->name[k] > 'Z');
            upper[k] = (char)(other->name[k] >= 'a' ? other->name[k] - 32 : other->name[k]);
        }
        for (size_t k = 0; k < i; k++) assert_string_not_equal(other->name, ulp_other_name_get(k)->name);
        if (other->format == NULL) {
            assert_int_equal(ulp_format_parse(&f, other->name), ULP_BAD_NAME);
            continue;
        }
        assert_ok(ulp_format_parse(&f, other->format));
        for (int k = 0; k < 2; k++) {
            assert_ok(ulp_format_parse(&g, k == 0 ? other->name : upper));
            if (!ulp_format_equal(&f, &g)) fail_msg("%s is %s, not %s", other->name, g.name, f.name);
        }
    }
    assert_ok(ulp_format_parse(&f, "UE5M3"));
    assert_true(f.max == 114688 && !f.is_signed && f.bits == 8 && f.nan_code == 0xff);
    assert_ok(ulp_format_parse(&f, "float8_e4m3b11fnuz:sat"));
    assert_true(f.max == 30 && f.min_positive == 0x1p-13 && f.overflow == ULP_OVERFLOW_SAT);
    assert_ok(ulp_format_parse(&f, "float8_e4m3"));
    assert_true(f.has_inf && f.max == 240);
}

TESTS(NULL, NULL)
