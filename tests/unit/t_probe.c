/* t_probe.c - the prober finds the properties of a row without reading the row: all rows, altered rows, failures. */
#include "support.h"

#include "kernels/probe/probe.h"

static ulp_probe probed(const ulp_datapath *d) {
    ulp_probe p;
    const ulp_unit unit = ulp_unit_of(d);
    assert_ok(ulp_probe_unit(&p, &unit));
    return p;
}

static void fail_property(const char *name, ulp_property_id id, const ulp_property *p, int64_t want) {
    char got[64], wanted[64];
    ulp_property_text(got, id, p->found, p->value);
    ulp_property_text(wanted, id, ULP_FOUND, want);
    fail_msg("%s: %s: found %s, want %s (%s)", name, ulp_property_name(id), got, wanted, p->how);
}

static void expect(const char *name, const ulp_probe *p, ulp_property_id id, int64_t want) {
    const ulp_property *got = &p->property[id];
    if (got->found != ULP_FOUND || got->value != want) fail_property(name, id, got, want);
}

/* Check that a property has the wanted value; if the formats cannot show the value, a bound has to hold. */
static int expect_reached(const char *name, const ulp_probe *p, ulp_property_id id, int64_t want) {
    const ulp_property *got = &p->property[id];
    if (got->found == ULP_FOUND && got->value != want) fail_property(name, id, got, want);
    if (got->found == ULP_AT_LEAST && got->value > want) fail_property(name, id, got, want);
    if (got->found == ULP_AT_MOST && got->value < want) fail_property(name, id, got, want);
    return got->found == ULP_FOUND;
}

/* ---- every row of hardware ---- */

static void check_row(const ulp_datapath *d, size_t *reached) {
    const ulp_probe p = probed(d);
    const ulp_fused *f = &d->fused;
    const int narrow =
        d->result.prec < 24 && (d->a.bits < 8 || d->b.bits < 8); /* products from 2^-10 to 2^10 cannot show F = 25 */
    expect(d->name, &p, ULP_P_LENGTH, f->length);
    expect(d->name, &p, ULP_P_ORDER, f->late);
    expect(d->name, &p, ULP_P_PLACE, f->late);
    expect(d->name, &p, ULP_P_KEPT, f->kept);
    expect(d->name, &p, ULP_P_OUTPUT, f->output);
    expect(d->name, &p, ULP_P_BETWEEN, 0);
    expect(d->name, &p, ULP_P_PERMUTED, 0);
    expect(d->name, &p, ULP_P_NAN, (int64_t)d->nan_code);
    expect(d->name, &p, ULP_P_ZEROS, 0);
    expect(d->name, &p, ULP_P_CARRY, 0);
    if (!narrow) {
        expect(d->name, &p, ULP_P_FRACTION, f->fraction);
        expect(d->name, &p, ULP_P_ALIGN, f->align);
        expect(d->name, &p, ULP_P_GROUP, f->group != 0 ? f->group : 1);
    }
    if (f->late) expect(d->name, &p, ULP_P_LAST, ULP_RNE);
    else expect(d->name, &p, ULP_P_FRACTION_C, f->fraction);
    const struct {
        ulp_property_id id;
        int64_t want;
    } others[] = {
        {ULP_P_FRACTION, f->fraction},
        {ULP_P_ALIGN, f->align},
        {ULP_P_NORMALISED, 0},
        {ULP_P_SUBNORMAL, 0},
        {ULP_P_SUBNORMAL_IN, 0},
        {ULP_P_SUBNORMAL_OUT, 0},
        {ULP_P_INF_ZERO, 0},
        {ULP_P_INF_INF, 0},
        {ULP_P_CANCEL, 0},
        {ULP_P_OVERFLOW, f->output == ULP_RNE},
        {ULP_P_UNDERFLOW, f->signed_zero},
        {ULP_P_FLOOR, f->floor},
        {ULP_P_ZERO_PRODUCT, f->zero_product},
        {ULP_P_ZERO_OPERAND, f->zero_operand},
        {ULP_P_SCALE, 0},
        {ULP_P_SCALE_BLOCK, d->scale_block},
        {ULP_P_SCALE_NAN, 0},
    };
    for (size_t i = 0; i < COUNT_OF(others); i++)
        reached[others[i].id] += (size_t)expect_reached(d->name, &p, others[i].id, others[i].want);
}

TEST(rows) {
    size_t reached[ULP_PROPERTY_COUNT] = {0}, rows = 0;
    ulp_datapath d;
    for (; ulp_datapath_get(rows, &d) == ULP_OK; rows++)
        if (d.kind == ULP_ALIGNED && d.fused.join == 0 && !d.fused.c_last) check_row(&d, reached);
    assert_true(rows > 100);
    static const ulp_property_id somewhere[] = {
        ULP_P_NORMALISED, ULP_P_SUBNORMAL, ULP_P_SUBNORMAL_IN, ULP_P_SUBNORMAL_OUT, ULP_P_INF_ZERO, ULP_P_INF_INF,
        ULP_P_CANCEL,     ULP_P_OVERFLOW,  ULP_P_UNDERFLOW,    ULP_P_FLOOR,         ULP_P_SCALE,    ULP_P_SCALE_NAN};
    for (size_t i = 0; i < COUNT_OF(somewhere); i++)
        if (reached[somewhere[i]] == 0) fail_msg("%s: found in no row", ulp_property_name(somewhere[i]));
}

/* ---- altered rows, and other datapaths ---- */

/* A number, a rounding mode, or "stochastic". */
static int64_t value_of(const char *word) {
    char *end;
    ulp_mode mode;
    const int64_t value = strtoll(word, &end, 10);
    if (end != word && *end == '\0') return value;
    if (strcmp(word, "stochastic") == 0) return ULP_STOCHASTIC;
    assert_ok(ulp_mode_parse(&mode, word));
    return mode;
}

TEST(altered) {
    static const struct {
        ulp_property_id id;
        const char *wants; /* datapaths, each with the value of the property */
    } cases[] = {
        {ULP_P_FRACTION, "h100-fp16:F=20 20 h100-fp16:L=2 25 v100-fp16:F=5 5 b200-e2m1:F=30 30 mi300-fp16 24 "
                         "mi300-fp16:F=22 22 riscv-bf16 26 t4-fp16-k4 23"},
        {ULP_P_FRACTION_C, "h100-fp16:F=20 20"},
        {ULP_P_KEPT, "h100-fp16:F=20 23 h100-e4m3:kept=16 16 h100-fp16-fp16:kept=8 8 a100-bf16:zero_operand=1 23 "
                     "h100-e4m3-mma:F=10 10 pairwise:fp16:rne 10 chunk32:e6m9:rne 9 fp32 23 serial:fp16:rz 10 "
                     "serial:fp64:rne 52 arm-e4m3:shift=3 23"},
        {ULP_P_LENGTH, "h100-fp16:L=8 8 h100-fp16:L=3 3 h100-fp16:L=2 2 h100-fp16:L=1 1 v100-fp16:F=5 4 "
                       "b200-e2m1:L=24 24 fp32 1 block8:fp32:rne 8 mi100-fp16 4 mi100-bf16 2 mi300-fp16 8 "
                       "mi300-fp16:L=4 4 mi300-tf32 4 t4-fp16-k4 4 arm-e4m3-fp16 2 arm-e4m3:shift=3 4"},
        {ULP_P_ALIGN, "a100-fp16:align=rd rd a100-fp16:align=ru ru a100-fp16:align=rne rne a100-fp16:align=rna rna "
                      "a100-fp16:align=ro ro b200-e2m1:align=rd rd b200-e2m1:align=rne rne riscv-bf16 ro"},
        {ULP_P_OUTPUT, "h100-fp16:output=rne rne h100-fp16:output=rd rd v100-fp16:output=rna rna "
                       "pairwise:fp16:rne rne serial:fp16:sr/8 stochastic fp32 rne serial:fp16:rz rz "
                       "serial:fp64:rne rne arm-bf16 ro arm-bf16:mode=rne rne"},
        {ULP_P_FLOOR, "a100-bf16:floor=-140 -140 a100-bf16:floor=-128 -128 h100-fp16-fp16:floor=-15 -15 "
                      "h100-bf16:zero_c=-126 -126 a100-fp16-fp16:zero_c=-14 -14 "
                      "a100-fp16-fp16:zero_c=-12:floor=-13 -13 rtx5090-bf16 -133"},
        {ULP_P_ZERO_C, "a100-bf16:zero_c=-100 -100 a100-fp16-fp16:zero_c=-10 -10 "
                       "a100-fp16-fp16:zero_c=-12:floor=-13 -12 h100-fp16:zero_c=5 5"},
        {ULP_P_SUBNORMAL_IN, "h100-fp16:zero_c=5 0 v100-fp16:F=1 0 mi250-bf16 1 mi250-bf16:flush_ab=none 0 arm-bf16 1 "
                             "arm-bf16-ebf 0"},
        {ULP_P_SUBNORMAL_OUT, "a100-bf16:zero_c=-100 0 avx512-bf16 1"},
        {ULP_P_ZERO_OPERAND,
         "a100-bf16:zero_operand=1 1 a100-bf16:zero_operand=-126 -126 a100-tf32:zero_operand=-126 -126"},
        {ULP_P_ZERO_PRODUCT, "a100-bf16:zero_operand=1 2 h100-fp16-fp16:zero_product=-15 -15"},
        {ULP_P_PROMOTION, "h100-e4m3:promote=32 32 h100-e4m3:promote=128 128 h100-e4m3:promote=2048 2048 "
                          "h100-fp16:promote=512 512 h100-fp16-fp16:promote=2048 2048 serial:fp16:rne:promote=64 64 "
                          "h100-e4m3 0 h100-e4m3-mma 32 mi300-fp16 0 h100-fp16-fp16:promote=32 32"},
        {ULP_P_LAST, "h100-e4m3:promote=128 rne h100-e4m3-mma:F=10 rne pairwise:fp16:rne rne chunk2:fp16:rne rne"},
        {ULP_P_UNDERFLOW, "h100-fp16-fp16:signed_zero=1 1"},
        {ULP_P_OVERFLOW, "int8 3 int8:sat 2"},
        {ULP_P_PLACE, "mi250-bf16 1 avx512-bf16 0 amx-bf16 1 riscv-bf16 1"},
        {ULP_P_CANCEL, "mi300-bf16 1"},
        {ULP_P_SIGNS, "h100-fp16 0 mi300-bf16 1 serial:fp32:ru 1"},
        {ULP_P_SMALL_C, "h100-bf16 0 mi300-bf16 1 serial:fp16:ru 2 serial:fp32:rz 3 riscv-bf16 4 arm-bf16 4 "
                        "arm-bf16:mode=rne 0"},
        {ULP_P_PAIR, "serial:fp32:rne 0 avx512-bf16 1 avx512-bf16:swapped=0 0 amx-bf16 2 mi100-bf16 2"},
        {ULP_P_SUBNORMAL_C, "avx512-bf16 1 avx512-bf16:flush_c=none 0"},
        {ULP_P_TINY, "avx512-bf16 1 avx512-bf16:flush=none 0 mi100-bf16 0"},
        {ULP_P_FLUSH, "avx512-bf16 1 avx512-bf16:flush=before 0 avx512-bf16:flush=rounded 2 "
                      "amx-bf16:flush=rounded 2 amx-bf16:flush=before 0"},
        {ULP_P_SHIFT, "arm-e4m3 0 arm-e4m3:shift=3 3 arm-e4m3-fp16:shift=15 15"},
        {ULP_P_MINUS_ZERO, "mi250-fp16 0 mi250-fp16:flush_c=signed 1 amx-bf16 0 avx512-bf16 1"},
        {ULP_P_NEGATIVE_C, "mi250-fp16 2 mi250-fp16:flush_c=signed 2 mi250-fp16:flush_c=none 1 mi300-fp16 0"},
        {ULP_P_PARTS, "mi300-e4m3fnuz 2 mi300-e4m3fnuz:parts=1 1 mi300-fp16 1 h100-fp16 1"},
        {ULP_P_CARRY, "arm-e4m3:shift=3 0"},
        {ULP_P_BESIDE_C, "mi300-fp16 32 mi300-fp16:join=31 31 mi300-tf32:join=29:normal=29 29 mi300-e4m3fnuz 32 "
                         "mi300-e5m2fnuz:join=30:normal=30 30"},
        {ULP_P_BEFORE, "mi300-bf16 31 mi300-fp16:normal=28 28 mi300-e4m3fnuz:normal=29 29"},
    };
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t k = 0; *word_of(cases[i].wants, k); k += 2, count++) {
            const ulp_datapath d = datapath_named(word_of(cases[i].wants, k));
            const ulp_probe p = probed(&d);
            expect(word_of(cases[i].wants, k), &p, cases[i].id, value_of(word_of(cases[i].wants, k + 1)));
        }
    assert_int_equal(count, 149);
    static const struct {
        const char *name;
        ulp_property_id id;
    } hidden[] = {{"v100-fp16:F=0", ULP_P_SUBNORMAL_IN},
                  {"v100-fp16:F=0", ULP_P_SUBNORMAL_OUT},
                  {"h100-fp16:zero_operand=1", ULP_P_SUBNORMAL_OUT},
                  {"serial:fp16:sr/8", ULP_P_OVERFLOW},
                  {"serial:fp16:sr/8", ULP_P_UNDERFLOW},
                  {"kahan:fp16:rne", ULP_P_PROMOTION},
                  {"pairwise:fp16:rne", ULP_P_PROMOTION},
                  {"exact:fp32:rne", ULP_P_PROMOTION}};
    for (size_t i = 0; i < COUNT_OF(hidden); i++) {
        const ulp_datapath d = datapath_named(hidden[i].name);
        const ulp_probe p = probed(&d);
        if (p.property[hidden[i].id].found != ULP_NOT_REACHABLE)
            fail_property(d.name, hidden[i].id, &p.property[hidden[i].id], -1);
    }
    const ulp_datapath none = datapath_named("a100-bf16:floor=none");
    const ulp_probe p = probed(&none);
    if (p.property[ULP_P_FLOOR].found != ULP_AT_MOST || p.property[ULP_P_FLOOR].value >= -132)
        fail_property(none.name, ULP_P_FLOOR, &p.property[ULP_P_FLOOR], -132);
}

/* For every datapath the prober ends and has a result for every property. */
TEST(any) {
    static const char names[] =
        "split:fp16:rne chunk64:fp32:rne pairwise:bf16:rne kahan:fp16:rne exact:fp32:rne serial:fp16:sr "
        "serial:e2m1:rne serial:e8m0:rne serial:q8.8:rne serial:fp64:ru serial:e4m3:inf:rne h100-e4m3:promote=128 "
        "b200-e2m1-nvf4:F=20 serial:binary8p1uf:rne serial:dlfloat16:rne";
    for (size_t i = 0; *word_of(names, i); i++) {
        const ulp_datapath d = datapath_named(word_of(names, i));
        const ulp_probe p = probed(&d);
        char text[64];
        for (int id = 0; id < ULP_PROPERTY_COUNT; id++) {
            ulp_property_text(text, (ulp_property_id)id, p.property[id].found, p.property[id].value);
            assert_true(text[0] != '\0' && p.property[id].how[0] != '\0');
        }
    }
}

/* ---- a device that fails ---- */

static ulp_status fails(void *context, uint64_t *code, double c, ulp_products products) {
    (void)c, (void)products;
    int *calls = context;
    *code = 0;
    return ++*calls > 20 ? ULP_NO_DEVICE : ULP_OK;
}

TEST(failure) {
    int calls = 0;
    ulp_probe p;
    ulp_unit unit = {.dot = fails, .context = &calls, .a = named("fp16"), .b = named("fp16"), .result = named("fp32")};
    assert_int_equal(ulp_probe_unit(&p, &unit), ULP_NO_DEVICE);
    assert_int_equal(calls, 21);
    unit.dot = NULL;
    assert_int_equal(ulp_probe_unit(&p, &unit), ULP_BAD_ARGUMENT);
    assert_null(ulp_property_name(ULP_PROPERTY_COUNT));
}

TESTS(NULL, NULL)
