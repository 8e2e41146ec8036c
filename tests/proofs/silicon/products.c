/* products.c - a native product of the processor against its model. */
#include "check.h"

#include "kernels/products/summation_tree.h"

enum { MOST = 96 };

/* A product and its model as devices. */
typedef struct pair {
    const ulp_cpu_native *native;
    ulp_datapath model;
    ulp_unit silicon, row;
} pair;

static int same(const pair *p, uint64_t x, uint64_t y) {
    const double a = ulp_decode(x, &p->silicon.result), b = ulp_decode(y, &p->silicon.result);
    return x == y || (a != a && b != b); /* payloads and signs of NaN have rows of their own */
}

/* ---- properties and the order ---- */

static void check_properties(check_plan *plan, const pair *p) {
    ulp_probe found, wanted;
    if (ulp_probe_unit(&found, &p->silicon) != ULP_OK || ulp_probe_unit(&wanted, &p->row) != ULP_OK) {
        check_row(plan, 0, p->native->name, "the prober failed");
        return;
    }
    int same_all = 1, reached = 0;
    for (int i = 0; i < ULP_PROPERTY_COUNT; i++) {
        const ulp_property_id id = (ulp_property_id)i;
        const ulp_property *x = &found.property[i], *y = &wanted.property[i];
        char name[160], is[64], row[64];
        const int good = x->found == y->found && x->value == y->value;
        ulp_property_text(is, id, x->found, x->value);
        ulp_property_text(row, id, y->found, y->value);
        snprintf(name, sizeof name, "%s, property '%s'", p->native->name, ulp_property_name(id));
        same_all &= good;
        reached += x->found != ULP_NOT_REACHABLE;
        if (plan->tap ? !good : x->found != ULP_NOT_REACHABLE || !good)
            check_row(plan, good, name, good ? "%s" : "%s, but the row has %s", is, row);
    }
    if (plan->tap) check_row(plan, same_all, p->native->name, "%d properties as of %s", reached, p->native->model);
}

static void check_order(check_plan *plan, const pair *p) {
    char name[160], got[400], want[400];
    ulp_order found, wanted;
    snprintf(name, sizeof name, "%s, summation tree", p->native->name);
    const ulp_status status = ulp_order_find(&found, &p->silicon, 12, 1);
    if (status == ULP_UNSUPPORTED && p->silicon.result.is_fixed) return;
    if (status != ULP_OK || ulp_order_find(&wanted, &p->row, 12, 1) != ULP_OK) {
        check_row(plan, 0, name, "%s", ulp_status_text(status));
        return;
    }
    ulp_order_text(got, sizeof got, &found, 1);
    ulp_order_text(want, sizeof want, &wanted, 1);
    const int good = strcmp(got, want) == 0;
    check_row(plan, good, name, good ? "%s" : "%s, but the row has %s", got, want);
    ulp_order_free(&found);
    ulp_order_free(&wanted);
}

/* ---- sums ---- */

/* A sum by codes, so that every bit is as it was drawn. */
typedef struct sum {
    uint64_t c, a[MOST], b[MOST];
    size_t k;
} sum;

static uint64_t code_mask(const ulp_format *f) { return f->bits == 64 ? ~0ull : (1ull << f->bits) - 1; }

/* A random code: any, near a power of two of moderate size, small, large, or a special value. */
static uint64_t draw(const ulp_format *f, int kind, uint64_t *state) {
    const uint64_t r = check_random(state), mask = code_mask(f);
    const int fraction = f->prec - 1;
    const uint64_t sign = (r >> 63) << (f->bits - 1), low = r >> 8 & ((1ull << fraction) - 1);
    if (f->is_fixed) {
        if (kind % 4 == 1)
            return (r & 1 ? 0x7fffffffull >> (32 - f->bits) : 1ull << (f->bits - 1)) & mask; /* the ends */
        if (kind % 4 == 2) return (r & 1 ? r >> 8 & 3 : 0ull - (r >> 8 & 3)) & mask;
        return r & mask;
    }
    const uint64_t most = (1ull << (f->bits - 1 - fraction)) - 1; /* the largest exponent field */
    switch (kind) {
    case 0: return r & mask;
    case 1: return sign | (most / 2 - 6 + (r >> 56 & 15)) << fraction | low;   /* near 1 */
    case 2: return sign | (r >> 56 & 1) << fraction | (r >> 57 & 1 ? low : 0); /* subnormal or just above */
    case 3: return sign | (most - 1 - (r >> 56 & 3)) << fraction | low;        /* large */
    case 4: return sign | most << fraction | (r >> 57 & 3 ? 0 : low);          /* infinity, NaN */
    case 5: return sign | (most / 2 - (r >> 56 & 31)) << fraction | (r >> 52 & 7) << (fraction > 3 ? fraction - 3 : 0);
    case 6: return sign;
    case 8: return sign | 1ull << fraction; /* the least normal number */
    case 9:
        return sign | (most / 2 - 75 + (r >> 56 & 1)) << fraction | (r >> 57 & 1 ? low : 0); /* products near its ulp */
    default: return sign | (most / 4 + (r >> 56 & 15)) << fraction | low; /* products near the least normal number */
    }
}

/* Sums at the least normal number: 0: c is this number, and products are near its last place; 1: the first product is,
 * too; 2: negative zeros and products that become negative zeros. */
static void draw_tiny(const pair *p, sum *s, int kind, uint64_t r, uint64_t *state) {
    const ulp_format *a = &p->silicon.a, *b = &p->silicon.b, *c = &p->silicon.result;
    const uint64_t negative = 1ull << (a->bits - 1), one = (uint64_t)a->bias << (b->prec - 1);
    s->k = 1 + r % (kind == 2 ? 8 : 4);
    s->c = kind == 2 ? 1ull << (c->bits - 1) : draw(c, 8, state);
    for (size_t i = 0; i < s->k; i++) {
        const int subnormal = kind == 2 && check_random(state) % 3 == 0;
        s->a[i] = draw(a, kind == 0 || (kind == 1 && i > 0) ? 9 : 8, state);
        s->b[i] = kind == 1 && i == 0 ? one : draw(b, 9, state);
        if (kind == 1 && i > 0 && check_random(state) % 2) s->b[i] -= 1ull << (b->prec - 1); /* half of it */
        if (kind != 2) continue;
        s->a[i] = (subnormal ? s->a[i] & ((1ull << (a->prec - 1)) - 1) : s->a[i]) | negative;
        s->b[i] = subnormal ? one : s->b[i] & ~negative;
        if (subnormal && s->a[i] == negative) s->a[i] |= 1;
    }
}

static void draw_sum(const pair *p, sum *s, uint64_t *state) {
    const uint64_t r = check_random(state);
    static const int mixes[][4] = {{1, 1, 1, 1}, {1, 1, 5, 5}, {0, 0, 0, 0}, {2, 1, 3, 1}, {7, 7, 7, 2},
                                   {3, 3, 3, 1}, {1, 6, 4, 1}, {5, 5, 5, 5}, {7, 1, 2, 7}, {1, 1, 1, 5}};
    const int *mix = mixes[r % (sizeof mixes / sizeof mixes[0])];
    s->k = (r >> 8) % 4 == 0 ? 1 + (r >> 16) % MOST : 1 + (r >> 16) % 6;
    const uint64_t c = check_random(state), special = (c >> 8) % 16;
    if (special < 3 && !p->silicon.result.is_fixed && p->silicon.a.emax > 100) {
        draw_tiny(p, s, (int)special, c >> 16, state);
        return;
    }
    s->c = draw(&p->silicon.result, (c & 3) == 0 ? 6 : mix[c >> 4 & 3], state);
    for (size_t i = 0; i < s->k; i++) {
        const uint64_t kinds = check_random(state);
        s->a[i] = draw(&p->silicon.a, mix[kinds & 3], state);
        s->b[i] = draw(&p->silicon.b, mix[kinds >> 2 & 3], state);
        if (i > 0 && (kinds >> 4 & 3) == 0) { /* cancels an earlier product */
            const size_t of = (kinds >> 8) % i;
            s->a[i] = s->a[of] ^ (p->silicon.a.is_fixed ? 0 : 1ull << (p->silicon.a.bits - 1));
            s->b[i] = s->b[of];
        }
    }
}

static ulp_status run_sum(const ulp_unit *unit, uint64_t *code, const sum *s) {
    double a[MOST], b[MOST];
    for (size_t i = 0; i < s->k; i++) {
        a[i] = ulp_decode(s->a[i], &unit->a);
        b[i] = ulp_decode(s->b[i], &unit->b);
    }
    return unit->dot(unit->context, code, ulp_decode(s->c, &unit->result), (ulp_products){a, b, s->k, NULL, NULL});
}

static void sum_text(char *to, size_t size, const sum *s) {
    size_t used = (size_t)snprintf(to, size, "c %llx", (unsigned long long)s->c);
    for (size_t i = 0; i < s->k && i < 12 && used < size; i++)
        used += (size_t)snprintf(to + used, size - used, " %llx*%llx", (unsigned long long)s->a[i],
                                 (unsigned long long)s->b[i]);
    if (s->k > 12 && used < size) snprintf(to + used, size - used, " ... of %zu", s->k);
}

/* The codes of NaN results: those of sums without a NaN operand, and all others. */
typedef struct nan_codes {
    uint64_t made, count, other; /* the code of the first NaN that a sum made; NaN results; made NaN of other codes */
} nan_codes;

static int has_nan(const pair *p, const sum *s) {
    double y = ulp_decode(s->c, &p->silicon.result);
    int found = y != y;
    for (size_t i = 0; i < s->k; i++) {
        const double a = ulp_decode(s->a[i], &p->silicon.a), b = ulp_decode(s->b[i], &p->silicon.b);
        found |= a != a || b != b;
    }
    return found;
}

static void watch_nan(nan_codes *n, const pair *p, const sum *s, uint64_t got) {
    const double y = ulp_decode(got, &p->silicon.result);
    if (y == y) return;
    n->count++;
    if (has_nan(p, s)) return;
    if (n->made == 0) n->made = got;
    n->other += n->made != got;
}

/* Random sums with the control word `control`, judged by `row`. Returns the number of wrong results; text[400] has the
 * first. */
static size_t count_wrong(const pair *p, const ulp_unit *row, unsigned control, size_t count, char *text,
                          nan_codes *nan) {
    uint64_t state = 2026;
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        sum s;
        uint64_t got = 0, want = 0;
        draw_sum(p, &s, &state);
        const ulp_status model = run_sum(row, &want, &s);
        check_control_set(control);
        const ulp_status silicon = run_sum(&p->silicon, &got, &s);
        check_control_set(CHECK_DEFAULT_CONTROL);
        watch_nan(nan, p, &s, got);
        if (model == ULP_OK && silicon == ULP_OK && same(p, got, want)) continue;
        if (wrong++ > 0) continue;
        sum_text(text, 300, &s);
        snprintf(text + strlen(text), 100, " is %llx, the row says %llx", (unsigned long long)got,
                 (unsigned long long)want);
    }
    return wrong;
}

static void check_random_sums(check_plan *plan, const pair *p, unsigned control, size_t count, const char *what) {
    char name[200], text[400] = "";
    nan_codes nan = {0, 0, 0};
    const size_t wrong = count_wrong(p, &p->row, control, count, text, &nan);
    snprintf(name, sizeof name, "%s, %zu random sums%s", p->native->name, count, what);
    if (wrong > 0) check_row(plan, 0, name, "%zu wrong; the first: %s", wrong, text);
    else if (nan.count > 0)
        check_row(plan, nan.other == 0, name, "0 wrong; %llu are NaN, %llx where no operand is NaN",
                  (unsigned long long)nan.count, (unsigned long long)nan.made);
    else check_row(plan, 1, name, "0 wrong");
}

/* ---- altered rows: the random sums tell them from the processor ---- */

static void expect_altered(check_plan *plan, const pair *p, const char *what, const ulp_datapath *model) {
    char name[200], text[400] = "";
    nan_codes nan = {0, 0, 0};
    const ulp_unit row = ulp_unit_of(model);
    const size_t wrong = count_wrong(p, &row, CHECK_DEFAULT_CONTROL, 20000, text, &nan);
    snprintf(name, sizeof name, "%s, not with %s", p->native->name, what);
    check_row(plan, wrong > 0, name, "%zu of 20000 random sums differ", wrong);
}

static void check_altered(check_plan *plan, const pair *p) {
    ulp_datapath d = p->model;
    if (d.kind == ULP_CHAINS) {
        d.chains.swapped = !d.chains.swapped;
        if (d.chains.lanes == 1) expect_altered(plan, p, "the other product first", &d); /* two chains are exchanged */
        d = p->model;
        d.chains.flush_ab = ULP_KEEP_INPUT;
        expect_altered(plan, p, "subnormal operands", &d);
        d = p->model;
        d.chains.flush_c = ULP_KEEP_INPUT;
        expect_altered(plan, p, "a subnormal start value", &d);
        d = p->model;
        d.chains.flush = 0;
        expect_altered(plan, p, "subnormal sums", &d);
        d = p->model;
        /* a tiny sum stays tiny if it is rounded to odd: the three readings are one */
        for (uint8_t flush = ULP_FLUSH_BEFORE; flush <= ULP_FLUSH_ROUNDED && d.rule.mode != ULP_RO; flush++) {
            static const char *const readings[] = {"exact sums that are tiny flushed",
                                                   "sums flushed that are tiny after rounding",
                                                   "rounded sums flushed that are subnormal"};
            d.chains.flush = flush;
            if (flush != p->model.chains.flush) expect_altered(plan, p, readings[flush - ULP_FLUSH_BEFORE], &d);
        }
        d = p->model;
        d.chains.flush_ab = ULP_FLUSH_POSITIVE;
        expect_altered(plan, p, "operands flushed to +0", &d);
        d = p->model;
        d.chains.fused = !d.chains.fused;
        expect_altered(plan, p, "rounded products", &d);
        d = p->model;
        d.rule.mode = ULP_RZ;
        expect_altered(plan, p, "rounding to zero", &d);
    } else if (d.kind == ULP_PAIRS) {
        d.pairs_wrap = !d.pairs_wrap;
        expect_altered(plan, p, "pairs that wrap in 16 bits", &d);
        d = p->model;
        d.rule.overflow = ULP_OVERFLOW_SAT;
        expect_altered(plan, p, "sums that clamp in 32 bits", &d);
        d = p->model;
        d.kind = ULP_SERIAL;
        expect_altered(plan, p, "exact sums of pairs", &d);
    } else if (d.a.is_fixed) {
        const int clamps = strstr(p->native->name, "-sat") != NULL;
        d.rule.overflow = clamps ? ULP_OVERFLOW_WRAP : ULP_OVERFLOW_SAT;
        expect_altered(plan, p, clamps ? "sums that wrap" : "sums that clamp", &d);
        d = p->model;
        d.zero_a = d.zero_a != 0 ? 0 : -128;
        expect_altered(plan, p, d.zero_a != 0 ? "another zero point of a" : "signed codes of a", &d);
        d = p->model;
        d.length = d.step = 1;
        if (clamps) expect_altered(plan, p, "clamps after each product", &d);
    }
}

/* ---- flags ---- */

/* Operands that make inexact, overflowing, tiny and invalid sums leave the flags as they are. */
static void check_flags(check_plan *plan, const pair *p) {
    enum { WORDS = 16 };
    char name[200];
    uint32_t a[WORDS], b[WORDS * ULP_NATIVE_LANES], c[ULP_NATIVE_LANES];
    uint64_t state = 11;
    unsigned changed = 0;
    for (int trial = 0; trial < 1000; trial++) {
        for (size_t i = 0; i < WORDS; i++) a[i] = (uint32_t)check_random(&state);
        for (size_t i = 0; i < WORDS * ULP_NATIVE_LANES; i++) b[i] = (uint32_t)check_random(&state);
        for (size_t i = 0; i < ULP_NATIVE_LANES; i++) c[i] = (uint32_t)check_random(&state);
        check_control_set(CHECK_DEFAULT_CONTROL);
        ulp_cpu_native_run(p->native, c, a, b, WORDS);
        changed += check_control_get() != CHECK_DEFAULT_CONTROL;
    }
    snprintf(name, sizeof name, "%s, flags of " CHECK_STATUS, p->native->name);
    check_row(plan, changed == 0, name, "changed by %u of 1000 runs", changed);
}

/* ---- directed vectors ---- */

/* Vectors of pairs in bf16 (Intel's definition computed in exact rationals), results of VDPBF16PS and TDPBF16PS. */
static const struct directed {
    double c, a[4], b[4];
    size_t k;
    uint32_t vdpbf16ps, tdpbf16ps;
} directed[] = {
    {0x1p24, {-0x1p24, 1}, {1, 1}, 2, 0x00000000, 0x3f800000},
    {0, {1, 0x1p-30}, {1, 1}, 2, 0x3f800000, 0x3f800000},
    {0, {1, -0x1p-30}, {1, 1}, 2, 0x3f800000, 0x3f800000},
    {1, {0x1p-24, 0x1p-24}, {1, 1}, 2, 0x3f800000, 0x3f800001},
    {1, {0x1p-24, 0}, {1, 1}, 2, 0x3f800000, 0x3f800000},
    {1, {0x1p-25, 0x1p-25, 0x1p-25, 0x1p-25}, {1, 1, 1, 1}, 4, 0x3f800000, 0x3f800001},
    {0, {0x1p-130}, {0x1p10}, 1, 0x00000000, 0x00000000},
    {0, {0x1p-100}, {0x1p-27}, 1, 0x00000000, 0x00000000},
    /* tiny before its rounding, but not after; tiny after a rounding to 24 bits, but not to the last place of
       subnormals */
    {0x1p-126, {-0x1p-75}, {0x1p-76}, 1, 0x00800000, 0x00800000},
    {0x1p-126, {-0x1.02p-75}, {0x1p-76}, 1, 0x00000000, 0x00800000},
};

static void check_directed(check_plan *plan, const pair *p) {
    const int odd_first = strcmp(p->native->what, "VDPBF16PS") == 0, lanes = strcmp(p->native->what, "TDPBF16PS") == 0;
    for (size_t i = 0; (odd_first || lanes) && i < sizeof directed / sizeof directed[0]; i++) {
        const struct directed *d = &directed[i];
        const uint32_t want = odd_first ? d->vdpbf16ps : d->tdpbf16ps;
        uint64_t got = 0, model = 0;
        char name[200];
        const ulp_products products = {d->a, d->b, d->k, NULL, NULL};
        snprintf(name, sizeof name, "%s, c = %g, products %g, %g ...", p->native->name, d->c, d->a[0] * d->b[0],
                 d->a[1] * d->b[1]);
        const ulp_status status = p->silicon.dot(p->silicon.context, &got, d->c, products),
                         modelled = p->row.dot(p->row.context, &model, d->c, products);
        check_row(plan, status == ULP_OK && modelled == ULP_OK && got == want && model == want, name,
                  "%08llx, the definition says %08x, the row %08llx", (unsigned long long)got, want,
                  (unsigned long long)model);
    }
}

/* ---- a matrix product ---- */

static void check_matrix(check_plan *plan, const pair *p) {
    enum { M = 19, N = 37, K = 75 };
    static double a[M * K], b[K * N], c[M * N], want[M * N];
    const ulp_backend *cpu;
    ulp_datapath d;
    ulp_error why;
    char name[200];
    uint64_t state = 5;
    size_t wrong = 0;
    for (size_t i = 0; i < M * K; i++) a[i] = ulp_decode(draw(&p->silicon.a, 1, &state), &p->silicon.a);
    for (size_t i = 0; i < K * N; i++) b[i] = ulp_decode(draw(&p->silicon.b, i % 2 ? 1 : 5, &state), &p->silicon.b);
    for (size_t i = 0; i < M * N; i++)
        want[i] = c[i] = ulp_decode(draw(&p->silicon.result, 1, &state), &p->silicon.result);
    const ulp_gemm_shape shape = {.m = M, .n = N, .k = K, .lda = K, .ldb = N, .ldc = N, .accumulate = 1};
    snprintf(name, sizeof name, "%s, a matrix product", p->native->name);
    ulp_status status = ulp_backend_get(&cpu, "cpu");
    if (status == ULP_OK) status = ulp_datapath_native(&d, p->native->name, &why);
    if (status == ULP_OK) status = ulp_backend_gemm64(cpu, c, a, b, &shape, (ulp_summation){&d, {0}});
    if (status == ULP_OK) status = ulp_backend_gemm64(cpu, want, a, b, &shape, (ulp_summation){&p->model, {0}});
    for (size_t i = 0; i < M * N; i++) wrong += ulp_bits64(c[i]) != ulp_bits64(want[i]);
    check_row(plan, status == ULP_OK && wrong == 0, name, "%zu of %d elements wrong%s%s", wrong, M * N,
              status == ULP_OK ? "" : "; ", status == ULP_OK ? "" : ulp_status_text(status));
}

/* ---- all ---- */

void check_product(check_plan *plan, const ulp_cpu_native *native) {
    pair p = {.native = native};
    if (ulp_datapath_parse(&p.model, native->model) != ULP_OK) {
        check_row(plan, 0, native->name, "the row %s is not there", native->model);
        return;
    }
    p.silicon = ulp_cpu_native_unit(native);
    p.row = ulp_unit_of(&p.model);
    check_properties(plan, &p);
    check_order(plan, &p);
    check_directed(plan, &p);
    check_random_sums(plan, &p, CHECK_DEFAULT_CONTROL, plan->small ? 20000 : 1000000, "");
    if (!p.silicon.result.is_fixed) {
        const size_t count = plan->small ? 2000 : 100000;
        check_random_sums(plan, &p, CHECK_DEFAULT_CONTROL | CHECK_FTZ | CHECK_DAZ, count, ", " CHECK_FLUSHING " set");
        check_random_sums(plan, &p, CHECK_DEFAULT_CONTROL | 1u << CHECK_ROUNDING, count,
                          ", " CHECK_CONTROL " rounding down");
        check_random_sums(plan, &p, CHECK_DEFAULT_CONTROL | 2u << CHECK_ROUNDING, count,
                          ", " CHECK_CONTROL " rounding up");
        check_random_sums(plan, &p, CHECK_DEFAULT_CONTROL | 3u << CHECK_ROUNDING, count,
                          ", " CHECK_CONTROL " rounding to zero");
    }
    check_altered(plan, &p);
    check_flags(plan, &p);
    check_matrix(plan, &p);
}
