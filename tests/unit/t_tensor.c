/* t_tensor.c - dot products of random codes by every Tensor Core row against tensor_oracle.h, bit for bit. */
#include "tensor_cases.h"

enum { CASES = 20000, SETTING_CASES = 20000, NAMES = 1024 };

typedef enum { IS_NAN, IS_INF, IS_ZERO, IS_SUBNORMAL, IS_LARGEST, IS_NORMAL, KINDS } kind;
static const char *const kind_names[KINDS] = {"NaN", "Inf", "zero", "subnormal", "largest", "normal"};

static kind kind_of(uint32_t code, const oracle_format *f, int kept) {
    const oracle_number x = oracle_decode(code, f);
    if (x.nan) return IS_NAN;
    if (x.inf) return IS_INF;
    if (x.m == 0) return IS_ZERO;
    if (x.m < (int64_t)1 << f->f) return IS_SUBNORMAL;
    const uint32_t magnitude = code & ((1u << (f->e + f->f)) - 1);
    return f->specials == ORACLE_IEEE && magnitude + (1u << (f->f - kept)) == oracle_inf(f, 0) ? IS_LARGEST : IS_NORMAL;
}

typedef struct tally {
    size_t cases, inputs[KINDS], starts[KINDS], results[KINDS], negative_zeros, chains, ragged, overflows, cancelled,
        by_floor;
} tally;
static tally all;
static size_t failures, rows;

static void count_case(tally *n, const oracle *o, const tensor_case *t, uint32_t result) {
    int infinite = 0;
    for (size_t i = 0; i < t->k; i++) {
        const kind x = kind_of(t->a[i], o->a, o->a->f), y = kind_of(t->b[i], o->b, o->b->f);
        n->inputs[x]++, n->inputs[y]++;
        n->negative_zeros += x == IS_ZERO && t->a[i] != 0;
        infinite |= x == IS_INF || y == IS_INF;
    }
    const oracle_format *c = o->promote > 0 ? &oracle_formats[0] : o->acc;
    const kind start = kind_of(t->c, c, c->f), end = kind_of(result, c, o->promote > 0 ? 23 : o->kept);
    n->cases++;
    n->starts[start]++, n->results[end]++;
    n->chains += t->k > step_of(o);
    n->ragged += t->k % step_of(o) != 0;
    n->overflows += end == IS_INF && !infinite && start != IS_INF;
    n->cancelled += end == IS_ZERO && start != IS_ZERO;
}

/* Check `cases` dot products of one row; *changed counts the cases in which `other` gives another result. */
static void check_row(const char *name, size_t cases, const oracle *other, size_t *changed, tally *n) {
    oracle o;
    uint64_t seed = 0;
    size_t wrong = 0;
    ulp_status status;
    for (const char *at = name; *at; at++) seed = seed * 31 + (unsigned char)*at;
    if (!oracle_find(&o, name)) fail_msg("%s: no row of the oracle", name);
    ulp_datapath d = datapath_named(name);
    const int step = (int)step_of(&o);
    for (size_t i = 0; i < cases; i++) {
        static tensor_case t;
        const int length = between(&seed, 0, 3);
        const int k = length < 2    ? step
                      : length == 2 ? between(&seed, 1, step)
                                    : between(&seed, 1, step > 32 ? 2 * step : 3 * step);
        case_fill(&t, &o, i % 8 < STYLES ? (int)(i % 8) : (int)(i % 4) + 1, (size_t)k, &seed);
        const uint32_t want = oracle_dot(&o, t.c, t.a, t.b, t.k, t.sa, t.sb), got = case_model(&d, &o, &t, &status);
        count_case(n, &o, &t, want);
        if (other != NULL) *changed += want != oracle_dot(other, t.c, t.a, t.b, t.k, t.sa, t.sb);
        if (status == ULP_OK && got == want) continue;
        char text[4096];
        failures++;
        if (wrong++ < 3)
            print_message("%s: %s: got %x (%s), want %x\n", name, case_text(text, sizeof text, &o, &t), got,
                          ulp_status_text(status), want);
    }
    if (wrong > 3) print_message("%s: %zu of %zu wrong\n", name, wrong, cases);
    rows++;
}

static void add(tally *to, const tally *n) {
    size_t *x = (size_t *)to;
    const size_t *y = (const size_t *)n;
    for (size_t i = 0; i < sizeof *to / sizeof *x; i++) x[i] += y[i];
}

/* Whether a row belongs to a GPU of the oracle. */
static int is_of_oracle(const char *name) {
    for (size_t i = 0; i < ORACLE_LINES; i++) {
        const size_t n = strlen(oracle_lines[i].gpu);
        if (strncmp(name, oracle_lines[i].gpu, n) == 0 && name[n] == '-') return 1;
    }
    return 0;
}

/* The listed rows of NVIDIA are the rows of the oracle. t_units.c checks all other rows. */
TEST(names) {
    static char known[NAMES][64];
    static int seen[NAMES];
    size_t count = 0, listed = 0, others = 0;
    ulp_datapath d;
    while (oracle_name(count, known[count], sizeof known[count])) assert_true(++count < NAMES);
    for (; ulp_datapath_get(listed, &d) == ULP_OK; listed++) {
        size_t i = 0;
        if (!is_of_oracle(d.name)) {
            others++;
            continue;
        }
        while (i < count && strcmp(known[i], d.name) != 0) i++;
        if (i == count) fail_msg("%s: the oracle has no row of this name", d.name);
        if (seen[i]++) fail_msg("%s: listed twice", d.name);
    }
    for (size_t i = 0; i < count; i++)
        if (!seen[i]) fail_msg("%s: not listed", known[i]);
    assert_int_equal(ulp_datapath_get(listed, &d), ULP_BAD_ARGUMENT);
    assert_int_equal(listed, count + others);
    assert_true(count > 200);
}

TEST(rows) {
    char name[64];
    size_t narrow = 0;
    for (size_t i = 0; oracle_name(i, name, sizeof name); i++) {
        tally n = {0};
        oracle o, unbounded;
        size_t changed = 0;
        assert_true(oracle_find(&o, name));
        unbounded = o, unbounded.floor = ORACLE_NONE;
        check_row(name, CASES / thinned(5), o.floor != ORACLE_NONE ? &unbounded : NULL, &changed, &n);
        for (int j = 0; j < KINDS; j++)
            if (!THINNED && n.results[j] == 0 && j != IS_LARGEST)
                fail_msg("%s: no case whose result is %s", name, kind_names[j]);
        assert_true(n.chains > 0 && n.ragged > 0 && n.cancelled > 0);
        /* the floor is above the least products of bf16 and tf32; few sums of fp16 with fp16 results show it */
        narrow += o.acc->f == 10 ? changed : 0;
        if (!THINNED && o.floor != ORACLE_NONE && o.a->e == 8 && changed == 0)
            fail_msg("%s: the floor changes no result", name);
        n.by_floor = changed;
        add(&all, &n);
    }
    for (int j = 0; j < KINDS; j++) {
        if (all.inputs[j] == 0 || all.starts[j] == 0 || all.results[j] == 0) fail_msg("no case with %s", kind_names[j]);
        print_message("%-9s %10zu operands %8zu start values %8zu results\n", kind_names[j], all.inputs[j],
                      all.starts[j], all.results[j]);
    }
    assert_true(all.negative_zeros > 0 && all.overflows > 0 && all.by_floor > 0 && (THINNED || narrow > 0));
    print_message(
        "%zu cases in %zu rows: %zu chains, %zu ragged, %zu overflows, %zu cancelled, %zu decided by the floor\n",
        all.cases, rows, all.chains, all.ragged, all.overflows, all.cancelled, all.by_floor);
    assert_int_equal(failures, 0);
}

/* Rows with settings, also with settings that no measurement has decided. Each setting must change some results. */
TEST(settings) {
    static const char names[] =
        "h100-bf16:zero_operand=-126 a100-tf32:zero_operand=-126 h100-fp16-fp16:zero_operand=-14 "
        "l40s-e4m3:zero_operand=-6 b200-e4m3:zero_operand=5 h100-e4m3-mma:zero_operand=6 "
        "rtx5090-bf16:zero_product=-127 rtx5090-fp16-fp16:zero_product=-15 b200-tf32:zero_product=-100 "
        "h100-bf16:zero_c=-126 a100-fp16-fp16:zero_c=-14 b200-e4m3:zero_c=10 h100-bf16:floor=none a100-tf32:floor=-120 "
        "t4-fp16-fp16:floor=-12 b200-e5m2:floor=-20 h100-fp16:F=20:kept=20 a100-bf16:F=13:kept=13 "
        "b200-e4m3:F=13:kept=13 v100-fp16:L=8 h100-tf32:L=4 h100-e4m3:L=16 a100-fp16:align=rd h100-e5m2:align=rd "
        "h100-fp16:output=rne h100-fp16-fp16:output=rz b200-e4m3-mx:align=rd h100-bf16:floor=none:signed_zero=1 "
        "rtx5090-tf32:signed_zero=1 h100-e4m3:promote=32 h100-e4m3:promote=64 l40s-e5m2:promote=32 "
        "a100-fp16-fp16:promote=8 a100-bf16:promote=16 h100-e5m2-fp16-mma:promote=32 b200-e4m3-mx:promote=32 "
        "v100-fp16:L=8:F=30:kept=20:align=rd:zero_c=-3";
    const size_t failed = failures;
    size_t cases = 0;
    size_t set = 0;
    for (; *word_of(names, set); set++) {
        tally n = {0};
        oracle base;
        char row[64];
        size_t changed = 0;
        snprintf(row, sizeof row, "%.*s", (int)strcspn(word_of(names, set), ":"), word_of(names, set));
        assert_true(oracle_find(&base, row));
        if (strstr(word_of(names, set), "promote")) base.promote = 1 << 20;
        check_row(word_of(names, set), SETTING_CASES / thinned(5), &base, &changed, &n);
        cases += n.cases;
        if (!THINNED && changed == 0) fail_msg("%s: the setting changes no result", word_of(names, set));
    }
    print_message("%zu cases with settings in %zu set\n", cases, set);
    assert_int_equal(failures, failed);
}

/* Without products the result is the start value; missing scales are ones. */
TEST(edges) {
    char name[64];
    uint64_t seed = 5;
    for (size_t i = 0; oracle_name(i, name, sizeof name); i++) {
        oracle o;
        tensor_case t;
        uint64_t code;
        ulp_status status;
        assert_true(oracle_find(&o, name));
        ulp_datapath d = datapath_named(name);
        case_fill(&t, &o, NEAR, step_of(&o), &seed);
        t.k = 0;
        assert_int_equal(case_model(&d, &o, &t, &status), oracle_decode(t.c, o.acc).nan ? oracle_nan(o.acc) : t.c);
        if (!is_scaled(&o)) continue;
        double x[64], y[64];
        for (size_t j = 0; j < step_of(&o); j++)
            x[j] = oracle_value(oracle_decode(t.a[j], o.a)), y[j] = oracle_value(oracle_decode(t.b[j], o.b));
        assert_ok(ulp_datapath_code(
            &code, ulp_dot(&d, 0.0, (ulp_products){x, y, step_of(&o), NULL, NULL}, (ulp_stream){0}), &d));
        assert_int_equal(code, oracle_dot(&o, 0, t.a, t.b, step_of(&o), NULL, NULL));
    }
}

TESTS(NULL, NULL)
