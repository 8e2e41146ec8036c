/* t_units.c - matrix units of AMD, Intel, Arm and RISC-V against units_oracle.h, and against directed vectors: the
 * definition, and the matrix product of every instruction set. */
#include "support.h"
#include "instruction_sets.h"
#include "units_oracle.h"
#include "units_vectors.h"

enum { CASES = 20000, MOST = 160, TILE = 24 };

static int between(uint64_t *seed, int low, int high) {
    return low + (int)(next_random(seed) % (uint64_t)(high - low + 1));
}

static double value_of(uint32_t code, const unit_format *f) {
    const unit_number x = unit_decode(code, f);
    const double size = x.nan ? (double)NAN : x.inf ? (double)INFINITY : ldexp((double)x.m, x.e - f->fraction);
    return x.neg && !x.nan ? -size : size;
}

/* ---- random operands ---- */

enum { ANY, NEAR, ZEROS, TINY, LARGE, SPECIAL, STYLES };

/* A code whose value has the exponent e, or is subnormal, or is the largest binade. */
static uint32_t code_near(const unit_format *f, int e, uint64_t *seed) {
    const int top = (1 << f->exponent) - (f->specials == UNIT_IEEE ? 2 : 1), field = e + f->bias;
    const uint64_t bits = next_random(seed);
    uint32_t fraction = (uint32_t)(bits >> 32) & ((1u << f->fraction) - 1);
    if (bits % 8 == 0) fraction = 0;
    if (bits % 8 == 1) fraction = (1u << f->fraction) - 1;
    if (field < 1) fraction >>= 1 - field < f->fraction ? 1 - field : f->fraction;
    uint32_t code = (uint32_t)(field < 0 ? 0 : field > top ? top : field) << f->fraction | fraction;
    if (f->specials == UNIT_ONE_NAN && code == (1u << (f->exponent + f->fraction)) - 1) code--;
    if (code == 0) return 0; /* no negative zero: NaN in fnuz formats */
    return code | (uint32_t)(bits >> 8 & 1) << (f->exponent + f->fraction);
}

/* NaN, Inf, zeros, the least and largest numbers of their kinds, and 1. */
static uint32_t code_special(const unit_format *f, uint64_t *seed) {
    const uint32_t full = (1u << (f->exponent + f->fraction)) - 1, inf = unit_infinity(f, 0);
    const uint32_t finite = f->specials == UNIT_IEEE ? inf - 1 : f->specials == UNIT_ONE_NAN ? full - 1 : full;
    const uint32_t codes[] = {0,
                              1,
                              (1u << f->fraction) - 1,
                              1u << f->fraction,
                              finite,
                              (uint32_t)f->bias << f->fraction,
                              f->specials == UNIT_IEEE ? inf : finite,
                              full};
    return codes[between(seed, 0, 7)] | (uint32_t)between(seed, 0, 1) << (f->exponent + f->fraction);
}

typedef struct dot_case {
    uint32_t a[MOST], b[MOST], c;
    int k;
} dot_case;

static int centre_of(const unit_oracle *o, int style, uint64_t *seed) {
    const int wide = o->acc->fraction == 23;
    if (style == TINY) return wide ? between(seed, -165, -118) : between(seed, -40, -8);
    if (style == LARGE) return wide ? between(seed, 118, 132) : between(seed, 8, 18);
    return between(seed, -12, 12);
}

static void fill(dot_case *t, const unit_oracle *o, int style, int k, uint64_t *seed) {
    const int centre = centre_of(o, style, seed), width = between(seed, 0, 3) * 8, special = between(seed, 0, 5) == 0;
    t->k = k;
    for (int i = 0; i < k; i++) {
        const uint64_t bits = next_random(seed);
        int e = centre - (width > 0 ? between(seed, 0, width) : 0), ea = e / 2 + between(seed, -6, 6);
        if (ea < 1 - o->a->bias) ea = 1 - o->a->bias - between(seed, 0, 2);
        if (ea > o->a->bias) ea = o->a->bias;
        t->a[i] =
            style == ANY ? (uint32_t)bits & ((2u << (o->a->exponent + o->a->fraction)) - 1) : code_near(o->a, ea, seed);
        t->b[i] = style == ANY ? (uint32_t)(bits >> 32) & ((2u << (o->b->exponent + o->b->fraction)) - 1)
                               : code_near(o->b, e - ea, seed);
        if (style == ZEROS && bits % 3 != 0) *(bits % 2 ? &t->a[i] : &t->b[i]) = 0;
        if (style == ANY && between(seed, 0, 3) > 0) { /* mostly finite */
            if (unit_decode(t->a[i], o->a).nan || unit_decode(t->a[i], o->a).inf) t->a[i] = 1;
            if (unit_decode(t->b[i], o->b).nan || unit_decode(t->b[i], o->b).inf) t->b[i] = 1;
        }
        if (i > 0 && style == NEAR && bits >> 40 & 1) { /* an earlier product with the other sign */
            const int j = between(seed, 0, i - 1);
            const uint32_t sign = 1u << (o->a->exponent + o->a->fraction);
            t->a[i] = (t->a[j] & (sign - 1)) == 0 ? t->a[j] : t->a[j] ^ sign;
            t->b[i] = t->b[j];
        }
    }
    if (style == SPECIAL || (special && style != ANY)) {
        t->a[between(seed, 0, k - 1)] = code_special(o->a, seed);
        t->b[between(seed, 0, k - 1)] = code_special(o->b, seed);
    }
    const int start = between(seed, 0, 9);
    t->c = start == 0   ? 0
           : start == 1 ? code_special(o->acc, seed)
                        : code_near(o->acc, centre + between(seed, -28, 6), seed);
    if (style == ANY && start > 5)
        t->c = (uint32_t)(next_random(seed) & ((2ull << (o->acc->exponent + o->acc->fraction)) - 1));
}

/* ---- the tested code ---- */

static uint32_t by_definition(const ulp_datapath *d, const unit_oracle *o, const dot_case *t) {
    double a[MOST], b[MOST];
    uint64_t code;
    for (int i = 0; i < t->k; i++) a[i] = value_of(t->a[i], o->a), b[i] = value_of(t->b[i], o->b);
    const double y =
        ulp_dot(d, value_of(t->c, o->acc), (ulp_products){a, b, (size_t)t->k, NULL, NULL}, (ulp_stream){1, 0, 0});
    assert_ok(ulp_datapath_code(&code, y, d));
    return (uint32_t)code;
}

static int same_code(uint32_t x, uint32_t y, const unit_format *f) {
    return x == y || (unit_decode(x, f).nan && unit_decode(y, f).nan);
}

static void show(const char *what, const char *name, const dot_case *t, uint32_t got, uint32_t want) {
    print_message("%s, %s: got %x, want %x: c %x", what, name, got, want, t->c);
    for (int i = 0; i < t->k; i++) print_message(" %x*%x", t->a[i], t->b[i]);
    print_message("\n");
}

/* ---- random sums ---- */

static uint64_t seed_of(const char *name) {
    uint64_t seed = 7;
    for (; *name; name++) seed = seed * 31 + (unsigned char)*name;
    return seed;
}

static void random_case(dot_case *t, const unit_oracle *o, size_t i, uint64_t *seed) {
    const int length = o->row.length, pick = between(seed, 0, 3);
    const int k = pick < 2    ? length
                  : pick == 2 ? between(seed, 1, length)
                              : between(seed, 1, length > 48 ? 2 * length : 3 * length);
    fill(t, o, (int)(i % STYLES), k, seed);
}

static size_t check_definition(const char *name, const unit_oracle *o, const ulp_datapath *d, size_t cases) {
    static dot_case t;
    uint64_t seed = seed_of(name);
    size_t wrong = 0;
    for (size_t i = 0; i < cases; i++) {
        random_case(&t, o, i, &seed);
        const uint32_t want = unit_oracle_dot(o, t.c, t.a, t.b, t.k), got = by_definition(d, o, &t);
        if (!same_code(got, want, o->acc) && wrong++ < 3) show("ulp_dot", name, &t, got, want);
    }
    return wrong;
}

TEST(definition) {
    char name[64];
    unit_oracle o;
    ulp_datapath d;
    size_t rows = 0, wrong = 0;
    for (; unit_oracle_get(rows, name, sizeof name, &o); rows++) {
        if (ulp_datapath_parse(&d, name) != ULP_OK) fail_msg("%s: not a datapath", name);
        wrong += check_definition(name, &o, &d, CASES / thinned(4));
    }
    print_message("%zu rows, %d random sums of each, %zu wrong\n", rows, (int)(CASES / thinned(4)), wrong);
    assert_int_equal(rows, 36);
    assert_int_equal(wrong, 0);
}

/* Every row of the registry that is not NVIDIA's and adds floating-point numbers has an oracle. */
TEST(rows_are_known) {
    static const char *const others[] = {"v100-", "t4-", "a100-", "l40s-", "h100-", "b200-", "rtx5090-"};
    ulp_datapath d;
    unit_oracle o;
    char name[64];
    for (size_t i = 0; ulp_datapath_get(i, &d) == ULP_OK; i++) {
        int known = d.result.is_fixed;
        for (size_t j = 0; j < COUNT_OF(others); j++) known |= strncmp(d.name, others[j], strlen(others[j])) == 0;
        for (size_t j = 0; !known && unit_oracle_get(j, name, sizeof name, &o); j++) known = strcmp(name, d.name) == 0;
        if (!known) fail_msg("%s: no oracle", d.name);
    }
}

/* ---- directed vectors ---- */

static size_t check_vector(const unit_vector *v, const char *name, uint32_t want) {
    double a[UNIT_MOST] = {0}, b[UNIT_MOST] = {0};
    float x[UNIT_MOST], y[UNIT_MOST];
    size_t k = 16, wrong = 0;
    uint64_t code;
    ulp_datapath d = datapath_named(name);
    if (d.step == 2) k = 4;
    for (int i = 0; v->product[i].k != VECTOR_END; i++) {
        a[v->product[i].k] = v->product[i].a;
        b[v->product[i].k] = v->product[i].b;
    }
    for (size_t i = 0; i < k; i++) {
        assert_ok(ulp_encode(&code, a[i], &d.a));
        assert_ok(ulp_encode(&code, b[i], &d.b));
        x[i] = (float)a[i], y[i] = (float)b[i];
    }
    const double sum = ulp_dot(&d, v->c, (ulp_products){a, b, k, NULL, NULL}, (ulp_stream){1, 0, 0});
    assert_ok(ulp_datapath_code(&code, sum, &d));
    wrong += code != want;
    if (code != want) print_message("%s, %s: got %x, want %x\n", name, v->name, (uint32_t)code, want);
    const ulp_gemm_shape shape = {.m = 1, .n = 1, .k = k, .lda = k, .ldb = 1, .ldc = 1, .accumulate = 1};
    for (size_t isa = 0; isa < offered; isa++) {
        float z = (float)v->c;
        assert_ok(ulp_backend_gemm(backends[isa], &z, x, y, &shape, (ulp_summation){.datapath = &d}));
        if (ulp_bits32(z) == want) continue;
        print_message("%s, %s, %s: got %x, want %x\n", name, v->name, backends[isa]->what, ulp_bits32(z), want);
        wrong++;
    }
    return wrong;
}

#define VECTORS(rows, vectors)                                                                                         \
    for (size_t i = 0; i < COUNT_OF(vectors); i++)                                                                     \
        for (size_t r = 0; r < VECTOR_ROWS; r++)                                                                       \
            if (rows[r][0] != '\0') wrong += check_vector(&vectors[i], rows[r], vectors[i].want[r]), count++;

TEST(vectors) {
    size_t wrong = 0, count = 0;
    VECTORS(fp16_rows, fp16_vectors)
    VECTORS(wide_rows, wide_vectors)
    VECTORS(pair_rows, pair_vectors)
    VECTORS(tiny_rows, tiny_vectors)
    VECTORS(fp8_rows, fp8_vectors)
    VECTORS(zero_rows, zero_vectors)
    print_message("%zu directed vectors, %zu wrong\n", count, wrong);
    assert_int_equal(wrong, 0);
}

/* ---- fields of a row that a name changes ---- */

typedef struct change {
    const char *row, *setting;
    void (*apply)(unit_oracle *o);
} change;

static void join_31(unit_oracle *o) { o->join = 31; }
static void normal_28(unit_oracle *o) { o->normal = 28; }
static void no_cut(unit_oracle *o) { o->row.cut = 0; }
static void one_part(unit_oracle *o) { o->row.parts = 1; }
static void keep_tiny(unit_oracle *o) { o->row.tiny = TINY_KEPT; }
static void keep_inputs(unit_oracle *o) { o->row.operands = FLUSH_NONE, o->row.start = FLUSH_NONE; }
static void in_order(unit_oracle *o) { o->row.swapped = 0; }
static void c_first(unit_oracle *o) { o->row.last = 0; }
static void four_lanes(unit_oracle *o) { o->row.lanes = 4; }
static void to_nearest(unit_oracle *o) { o->row.round = NEAREST; }
static void shift_3(unit_oracle *o) { o->shift = 3; }
static void shift_127(unit_oracle *o) { o->shift = 127; }
static void saturated(unit_oracle *o) { o->saturate = 1; }
static void longer(unit_oracle *o) { o->row.length = 16, o->row.fraction = 27; }

static const change changes[] = {
    {"mi300-fp16", "join=31", join_31},         {"mi300-fp16", "normal=28", normal_28},
    {"mi300-e5m2fnuz", "c_cut=0", no_cut},      {"mi300-e5m2fnuz.e4m3fnuz", "parts=1", one_part},
    {"mi250-bf16", "flush=none", keep_tiny},    {"mi250-fp16", "flush_ab=none:flush_c=none", keep_inputs},
    {"avx512-bf16", "flush=none", keep_tiny},   {"avx512-bf16", "swapped=0", in_order},
    {"amx-bf16", "lanes=4", four_lanes},        {"amx-fp16", "last=0", c_first},
    {"amx-e5m2", "lanes=4", four_lanes},        {"arm-bf16", "mode=rne", to_nearest},
    {"arm-bf16", "flush=none", keep_tiny},      {"arm-e4m3", "shift=3", shift_3},
    {"arm-e5m2.e4m3", "shift=127", shift_127},  {"arm-e5m2-fp16", "shift=3", shift_3},
    {"arm-e5m2-fp16", "saturate=1", saturated}, {"arm-bf16-ebf", "saturate=1", saturated},
    {"riscv-bf16", "L=16:F=27", longer},
};

/* An altered row is altered as the oracle says, and some sums show that it is altered. */
TEST(changes) {
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        const change *with = &changes[i];
        char name[96], row[64];
        unit_oracle o, before;
        ulp_datapath d;
        static dot_case t;
        size_t at = 0, differ = 0;
        snprintf(name, sizeof name, "%s:%s", with->row, with->setting);
        do assert_true(unit_oracle_get(at++, row, sizeof row, &o));
        while (strcmp(row, with->row) != 0);
        before = o;
        with->apply(&o);
        if (ulp_datapath_parse(&d, name) != ULP_OK) fail_msg("%s: not a datapath", name);
        wrong += check_definition(name, &o, &d, CASES / 10);
        uint64_t seed = seed_of(name);
        for (size_t n = 0; n < CASES && differ == 0; n++) {
            random_case(&t, &o, n, &seed);
            const uint32_t x = unit_oracle_dot(&o, t.c, t.a, t.b, t.k),
                           y = unit_oracle_dot(&before, t.c, t.a, t.b, t.k);
            differ += !same_code(x, y, o.acc);
        }
        if (differ == 0) fail_msg("%s: no sum shows the setting", name);
    }
    assert_int_equal(wrong, 0);
}

/* Fields that do not fit together are refused. */
TEST(refused) {
    static const char *const names[] = {
        "avx512-bf16:lanes=3",    "avx512-bf16:length=3",   "amx-bf16:length=65",    "amx-e4m3:term=3",
        "arm-bf16:shift=128",     "mi250-fp16:flush=often", "mi250-fp16:F=24",       "mi300-fp16:join=23",
        "mi300-fp16:normal=33",   "mi300-fp16:parts=3",     "mi300-fp16:floor=-140", "mi300-fp16:c_last=1",
        "h100-e4m3-mma:c_last=1", "mi100-fp16:L=8",         "avx512-bf16:mode=sr",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        ulp_datapath d;
        if (ulp_datapath_parse(&d, names[i]) == ULP_OK) fail_msg("%s: taken", names[i]);
    }
}

/* ---- matrix products ---- */

/* A tile of random sums of one length, which all kernels compute at once. */
static size_t check_tile(const char *name, const unit_oracle *o, const ulp_datapath *d, int style, int k,
                         uint64_t *seed) {
    static float a[TILE * MOST], b[MOST * TILE], c[TILE * TILE], y[TILE * TILE];
    static dot_case rows[TILE], columns[TILE], t;
    static uint32_t want[TILE * TILE];
    size_t wrong = 0;
    for (int i = 0; i < TILE; i++) fill(&rows[i], o, style, k, seed), fill(&columns[i], o, style, k, seed);
    for (int i = 0; i < TILE; i++)
        for (int l = 0; l < k; l++) {
            a[i * k + l] = (float)value_of(rows[i].a[l], o->a);
            b[l * TILE + i] = (float)value_of(columns[i].b[l], o->b);
        }
    for (int i = 0; i < TILE * TILE; i++) {
        dot_case *at = i % 2 ? &rows[i / TILE] : &columns[i % TILE];
        c[i] = (float)value_of(at->c, o->acc);
    }
    for (int i = 0; i < TILE * TILE; i++)
        want[i] = unit_oracle_dot(o, (i % 2 ? &rows[i / TILE] : &columns[i % TILE])->c, rows[i / TILE].a,
                                  columns[i % TILE].b, k);
    const ulp_gemm_shape shape = {
        .m = TILE, .n = TILE, .k = (size_t)k, .lda = (size_t)k, .ldb = TILE, .ldc = TILE, .accumulate = 1};
    for (size_t isa = 0; isa < offered; isa++) {
        memcpy(y, c, sizeof y);
        assert_ok(ulp_backend_gemm(backends[isa], y, a, b, &shape, (ulp_summation){.datapath = d}));
        for (int i = 0; i < TILE * TILE; i++) {
            if (same_result((double)y[i], value_of(want[i], o->acc)) || wrong++ >= 3) continue;
            t = rows[i / TILE];
            t.c = (i % 2 ? &rows[i / TILE] : &columns[i % TILE])->c;
            memcpy(t.b, columns[i % TILE].b, sizeof t.b);
            show(backends[isa]->what, name, &t, ulp_bits32(y[i]), want[i]);
        }
    }
    return wrong;
}

TEST(products) {
    char name[64];
    unit_oracle o;
    ulp_datapath d;
    size_t wrong = 0, tiles = 0;
    ulp_threads_set(1); /* the tiles are small */
    const size_t each = (CASES / thinned(4) + TILE * TILE - 1) / (TILE * TILE);
    for (size_t row = 0; unit_oracle_get(row, name, sizeof name, &o); row++) {
        uint64_t seed = seed_of(name) + 1;
        assert_ok(ulp_datapath_parse(&d, name));
        for (size_t i = 0; i < each; i++, tiles++) {
            const int k = i % 3 == 0 ? o.row.length : between(&seed, 1, MOST);
            wrong += check_tile(name, &o, &d, (int)(i % STYLES), k, &seed);
        }
    }
    print_message("%zu tiles of %d sums, %zu instruction sets, %zu wrong\n", tiles, TILE * TILE, offered, wrong);
    assert_int_equal(wrong, 0);
}

TESTS(find_backends, NULL)
