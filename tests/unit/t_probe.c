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

TEST(altered) {
    static const struct {
        const char *name;
        ulp_property_id id;
        int64_t want;
    } cases[] = {
        {"h100-fp16:F=20", ULP_P_FRACTION, 20},
        {"h100-fp16:F=20", ULP_P_FRACTION_C, 20},
        {"h100-fp16:F=20", ULP_P_KEPT, 23},
        {"h100-fp16:L=8", ULP_P_LENGTH, 8},
        {"h100-fp16:L=3", ULP_P_LENGTH, 3},
        {"h100-fp16:L=2", ULP_P_LENGTH, 2},
        {"h100-fp16:L=2", ULP_P_FRACTION, 25},
        {"h100-fp16:L=1", ULP_P_LENGTH, 1},
        {"v100-fp16:F=5", ULP_P_LENGTH, 4},
        {"v100-fp16:F=5", ULP_P_FRACTION, 5},
        {"a100-fp16:align=rd", ULP_P_ALIGN, ULP_RD},
        {"a100-fp16:align=ru", ULP_P_ALIGN, ULP_RU},
        {"a100-fp16:align=rne", ULP_P_ALIGN, ULP_RNE},
        {"a100-fp16:align=rna", ULP_P_ALIGN, ULP_RNA},
        {"a100-fp16:align=ro", ULP_P_ALIGN, ULP_RO},
        {"b200-e2m1:align=rd", ULP_P_ALIGN, ULP_RD},
        {"b200-e2m1:align=rne", ULP_P_ALIGN, ULP_RNE},
        {"b200-e2m1:F=30", ULP_P_FRACTION, 30},
        {"b200-e2m1:L=24", ULP_P_LENGTH, 24},
        {"h100-fp16:output=rne", ULP_P_OUTPUT, ULP_RNE},
        {"h100-fp16:output=rd", ULP_P_OUTPUT, ULP_RD},
        {"v100-fp16:output=rna", ULP_P_OUTPUT, ULP_RNA},
        {"h100-e4m3:kept=16", ULP_P_KEPT, 16},
        {"h100-fp16-fp16:kept=8", ULP_P_KEPT, 8},
        {"a100-bf16:floor=-140", ULP_P_FLOOR, -140},
        {"a100-bf16:floor=-128", ULP_P_FLOOR, -128},
        {"h100-fp16-fp16:floor=-15", ULP_P_FLOOR, -15},
        {"h100-bf16:zero_c=-126", ULP_P_FLOOR, -126},
        {"a100-bf16:zero_c=-100", ULP_P_ZERO_C, -100},
        {"a100-fp16-fp16:zero_c=-10", ULP_P_ZERO_C, -10},
        {"a100-fp16-fp16:zero_c=-14", ULP_P_FLOOR, -14},
        {"a100-fp16-fp16:zero_c=-12:floor=-13", ULP_P_ZERO_C, -12},
        {"a100-fp16-fp16:zero_c=-12:floor=-13", ULP_P_FLOOR, -13},
        {"h100-fp16:zero_c=5", ULP_P_ZERO_C, 5},
        {"h100-fp16:zero_c=5", ULP_P_SUBNORMAL_IN, 0},
        {"a100-bf16:zero_c=-100", ULP_P_SUBNORMAL_OUT, 0},
        {"v100-fp16:F=1", ULP_P_SUBNORMAL_IN, 0},
        {"a100-bf16:zero_operand=1", ULP_P_KEPT, 23},
        {"a100-bf16:zero_operand=1", ULP_P_ZERO_OPERAND, 1},
        {"a100-bf16:zero_operand=1", ULP_P_ZERO_PRODUCT, 2},
        {"h100-e4m3:promote=32", ULP_P_PROMOTION, 32},
        {"h100-e4m3:promote=128", ULP_P_PROMOTION, 128},
        {"h100-e4m3:promote=2048", ULP_P_PROMOTION, 2048},
        {"h100-fp16:promote=512", ULP_P_PROMOTION, 512},
        {"h100-fp16-fp16:promote=2048", ULP_P_PROMOTION, 2048},
        {"serial:fp16:rne:promote=64", ULP_P_PROMOTION, 64},
        {"h100-e4m3", ULP_P_PROMOTION, 0},
        {"h100-e4m3-mma", ULP_P_PROMOTION, 32},
        {"h100-e4m3:promote=128", ULP_P_LAST, ULP_RNE},
        {"h100-e4m3-mma:F=10", ULP_P_LAST, ULP_RNE},
        {"h100-e4m3-mma:F=10", ULP_P_KEPT, 10},
        {"pairwise:fp16:rne", ULP_P_KEPT, 10},
        {"pairwise:fp16:rne", ULP_P_OUTPUT, ULP_RNE},
        {"pairwise:fp16:rne", ULP_P_LAST, ULP_RNE},
        {"chunk32:e6m9:rne", ULP_P_KEPT, 9},
        {"chunk2:fp16:rne", ULP_P_LAST, ULP_RNE},
        {"serial:fp16:sr/8", ULP_P_OUTPUT, ULP_STOCHASTIC},
        {"a100-bf16:zero_operand=-126", ULP_P_ZERO_OPERAND, -126},
        {"a100-tf32:zero_operand=-126", ULP_P_ZERO_OPERAND, -126},
        {"h100-fp16-fp16:zero_product=-15", ULP_P_ZERO_PRODUCT, -15},
        {"h100-fp16-fp16:signed_zero=1", ULP_P_UNDERFLOW, 1},
        {"fp32", ULP_P_LENGTH, 1},
        {"fp32", ULP_P_KEPT, 23},
        {"fp32", ULP_P_OUTPUT, ULP_RNE},
        {"serial:fp16:rz", ULP_P_KEPT, 10},
        {"serial:fp16:rz", ULP_P_OUTPUT, ULP_RZ},
        {"serial:fp64:rne", ULP_P_KEPT, 52},
        {"serial:fp64:rne", ULP_P_OUTPUT, ULP_RNE},
        {"block8:fp32:rne", ULP_P_LENGTH, 8},
        {"int8", ULP_P_OVERFLOW, 3},
        {"int8:sat", ULP_P_OVERFLOW, 2},
        {"mi100-fp16", ULP_P_LENGTH, 4},
        {"mi100-bf16", ULP_P_LENGTH, 2},
        {"mi250-bf16", ULP_P_PLACE, 1},
        {"mi250-bf16", ULP_P_SUBNORMAL_IN, 1},
        {"mi250-bf16:flush_ab=none", ULP_P_SUBNORMAL_IN, 0},
        {"mi300-fp16", ULP_P_LENGTH, 8},
        {"mi300-fp16:L=4", ULP_P_LENGTH, 4},
        {"mi300-fp16", ULP_P_FRACTION, 24},
        {"mi300-fp16:F=22", ULP_P_FRACTION, 22},
        {"mi300-tf32", ULP_P_LENGTH, 4},
        {"mi300-bf16", ULP_P_CANCEL, 1},
        {"avx512-bf16", ULP_P_PLACE, 0},
        {"avx512-bf16", ULP_P_SUBNORMAL_OUT, 1},
        {"amx-bf16", ULP_P_PLACE, 1},
        {"arm-bf16", ULP_P_OUTPUT, ULP_RO},
        {"arm-bf16:mode=rne", ULP_P_OUTPUT, ULP_RNE},
        {"arm-bf16", ULP_P_SUBNORMAL_IN, 1},
        {"arm-bf16-ebf", ULP_P_SUBNORMAL_IN, 0},
        {"riscv-bf16", ULP_P_ALIGN, ULP_RO},
        {"riscv-bf16", ULP_P_FRACTION, 26},
        {"riscv-bf16", ULP_P_PLACE, 1},
        {"t4-fp16-k4", ULP_P_LENGTH, 4},
        {"t4-fp16-k4", ULP_P_FRACTION, 23},
        {"rtx5090-bf16", ULP_P_FLOOR, -133},
        {"arm-e4m3-fp16", ULP_P_LENGTH, 2},
        {"h100-fp16", ULP_P_SIGNS, 0},
        {"mi300-bf16", ULP_P_SIGNS, 1},
        {"serial:fp32:ru", ULP_P_SIGNS, 1},
        {"h100-bf16", ULP_P_SMALL_C, 0},
        {"mi300-bf16", ULP_P_SMALL_C, 1},
        {"serial:fp16:ru", ULP_P_SMALL_C, 2},
        {"serial:fp32:rz", ULP_P_SMALL_C, 3},
        {"riscv-bf16", ULP_P_SMALL_C, 4},
        {"arm-bf16", ULP_P_SMALL_C, 4},
        {"arm-bf16:mode=rne", ULP_P_SMALL_C, 0},
        {"serial:fp32:rne", ULP_P_PAIR, 0},
        {"avx512-bf16", ULP_P_PAIR, 1},
        {"avx512-bf16:swapped=0", ULP_P_PAIR, 0},
        {"amx-bf16", ULP_P_PAIR, 2},
        {"mi100-bf16", ULP_P_PAIR, 2},
        {"avx512-bf16", ULP_P_SUBNORMAL_C, 1},
        {"avx512-bf16:flush_c=none", ULP_P_SUBNORMAL_C, 0},
        {"avx512-bf16", ULP_P_TINY, 1},
        {"avx512-bf16:flush=none", ULP_P_TINY, 0},
        {"mi100-bf16", ULP_P_TINY, 0},
        {"avx512-bf16", ULP_P_FLUSH, 1},
        {"avx512-bf16:flush=before", ULP_P_FLUSH, 0},
        {"avx512-bf16:flush=rounded", ULP_P_FLUSH, 2},
        {"amx-bf16:flush=rounded", ULP_P_FLUSH, 2},
        {"amx-bf16:flush=before", ULP_P_FLUSH, 0},
        {"arm-e4m3", ULP_P_SHIFT, 0},
        {"arm-e4m3:shift=3", ULP_P_SHIFT, 3},
        {"arm-e4m3:shift=3", ULP_P_LENGTH, 4},
        {"arm-e4m3:shift=3", ULP_P_KEPT, 23},
        {"arm-e4m3-fp16:shift=15", ULP_P_SHIFT, 15},
        {"mi250-fp16", ULP_P_MINUS_ZERO, 0},
        {"mi250-fp16", ULP_P_NEGATIVE_C, 2},
        {"mi250-fp16:flush_c=signed", ULP_P_MINUS_ZERO, 1},
        {"mi250-fp16:flush_c=signed", ULP_P_NEGATIVE_C, 2},
        {"mi250-fp16:flush_c=none", ULP_P_NEGATIVE_C, 1},
        {"mi300-fp16", ULP_P_NEGATIVE_C, 0},
        {"amx-bf16", ULP_P_MINUS_ZERO, 0},
        {"avx512-bf16", ULP_P_MINUS_ZERO, 1},
        {"mi300-e4m3fnuz", ULP_P_PARTS, 2},
        {"mi300-e4m3fnuz:parts=1", ULP_P_PARTS, 1},
        {"mi300-fp16", ULP_P_PARTS, 1},
        {"h100-fp16", ULP_P_PARTS, 1},
        {"mi300-fp16", ULP_P_PROMOTION, 0},
        {"h100-fp16-fp16:promote=32", ULP_P_PROMOTION, 32},
        {"arm-e4m3:shift=3", ULP_P_CARRY, 0},
        {"mi300-fp16", ULP_P_BESIDE_C, 32},
        {"mi300-fp16:join=31", ULP_P_BESIDE_C, 31},
        {"mi300-tf32:join=29:normal=29", ULP_P_BESIDE_C, 29},
        {"mi300-e4m3fnuz", ULP_P_BESIDE_C, 32},
        {"mi300-e5m2fnuz:join=30:normal=30", ULP_P_BESIDE_C, 30},
        {"mi300-bf16", ULP_P_BEFORE, 31},
        {"mi300-fp16:normal=28", ULP_P_BEFORE, 28},
        {"mi300-e4m3fnuz:normal=29", ULP_P_BEFORE, 29},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const ulp_datapath d = datapath_named(cases[i].name);
        const ulp_probe p = probed(&d);
        expect(cases[i].name, &p, cases[i].id, cases[i].want);
    }
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
