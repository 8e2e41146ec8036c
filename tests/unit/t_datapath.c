/* t_datapath.c - sums of products against an oracle, in every kind, format and mode, and known properties.
 *
 * Other tests check the sums of Tensor Cores. */
#include "sum_oracle.h"

#include <float.h>

/* ---- data ---- */

typedef enum { ORDINARY, CANCELLING, SPECIAL, OVERFLOWING, SUBNORMAL, ZEROS, WIDE, TIES, DATA } data;

enum { ROOM = 1 << 18 };
static double a[ROOM], b[ROOM];

static int below(uint64_t *seed, int n) { return (int)(next_random(seed) >> 33) % n; }

/* A number of magnitude 1/2 to 2, with 53 bits or with few bits. */
static double near_one(uint64_t *seed, const ulp_format *f) {
    const int bits = below(seed, 3) ? below(seed, f->prec < 24 ? f->prec + 1 : 25) : 52;
    const double m = (double)(next_random(seed) >> 12 | 1ull << 52);
    return ldexp(floor(ldexp(m, bits - 52)), -bits - below(seed, 2)) * (below(seed, 2) ? 1 : -1);
}

static double operand(data kind, const ulp_format *f, uint64_t *seed) {
    static const double special[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0, DBL_MAX, 0x1p-1074, -0x1p-1060};
    const double near = near_one(seed, f);
    const int top = ilogb(f->max), least = ilogb(f->min_positive);
    switch (kind) {
    case SPECIAL: return below(seed, 20) ? near : special[below(seed, f->overflow == ULP_OVERFLOW_WRAP ? 5 : 8)];
    case OVERFLOWING: return ldexp(near, top / 2 + below(seed, 3));
    case SUBNORMAL: return ldexp(near, least / 2 + below(seed, 4) - 2);
    case ZEROS: return below(seed, 3) ? (below(seed, 2) ? 0.0 : -0.0) : below(seed, 2) ? ldexp(near, -600) : near;
    case WIDE:
        return ldexp(near, f->prec > 24     ? below(seed, 2000) - 1000
                           : below(seed, 2) ? below(seed, 300) - 150
                                            : below(seed, 40) - 20);
    case TIES: return ldexp(1 - 2 * below(seed, 2), (1 - f->prec) / 2 * below(seed, 2) - below(seed, 2));
    default: return near;
    }
}

static void fill(data kind, const ulp_format *f, size_t k, uint64_t *seed) {
    const int same_sign = below(seed, 2) && kind == ORDINARY;
    for (size_t i = 0; i < k; i++) {
        a[i] = operand(kind, f, seed), b[i] = operand(kind, f, seed);
        if (same_sign) a[i] = fabs(a[i]), b[i] = fabs(b[i]);
        if ((kind == CANCELLING || kind == WIDE) && i > 0 && below(seed, 2)) {
            const size_t j = (size_t)below(seed, (int)i);
            a[i] = -a[j], b[i] = b[j];
        }
    }
}

/* A start value: a value of the format of results. */
static double start_of(data kind, ulp_reference *ref, const ulp_format *f, uint64_t *seed) {
    double c = kind == CANCELLING && below(seed, 2) ? -a[0] * b[0] : operand(kind, f, seed);
    if (kind == OVERFLOWING || kind == SUBNORMAL) c *= operand(kind, f, seed);
    if (below(seed, 3) == 0) c = below(seed, 2) ? 0.0 : -0.0;
    if ((isnan(c) && f->nan_codes == ULP_NAN_NONE) || (isinf(c) && !f->has_inf)) c = 1.0;
    return isinf(c) ? c : ulp_reference_round(ref, c, 0.0, rule_of(ULP_RZ, ULP_OVERFLOW_SAT, 0), 0);
}

/* ---- every kind, format and mode ---- */

static const char *const formats[] = {"fp16",     "bf16",      "e4m3",     "e5m2",     "e6m9",     "fp24",
                                      "tf32",     "q8.8",      "fp32",     "fp64",     "e4m3fnuz", "fp16:nosub",
                                      "fp16:sat", "q4.4:wrap", "e4m3:inf", "dlfloat16"};
enum { FORMATS = COUNT_OF(formats) };

static const struct {
    const char *name; /* the name with its number */
    scheme scheme;
    size_t length, promote;
} variants[] = {
    {"serial", SERIAL, 1, 0}, {"split", SPLIT, 1, 0},    {"block1", BLOCK, 1, 0},       {"block4", BLOCK, 4, 0},
    {"block7", BLOCK, 7, 0},  {"block64", BLOCK, 64, 0}, {"chunk1", CHUNK, 1, 0},       {"chunk4", CHUNK, 4, 0},
    {"chunk7", CHUNK, 7, 0},  {"chunk64", CHUNK, 64, 0}, {"pairwise", PAIRWISE, 1, 0},  {"kahan", KAHAN, 1, 0},
    {"exact", EXACT, 1, 0},   {"serial", SERIAL, 1, 4},  {"serial", SERIAL, 1, 32},     {"split", SPLIT, 1, 3},
    {"block4", BLOCK, 4, 8},  {"kahan", KAHAN, 1, 8},    {"pairwise", PAIRWISE, 1, 16}, {"pairwise", PAIRWISE, 1, 7},
    {"exact", EXACT, 1, 8},
};
enum { VARIANTS = COUNT_OF(variants) };

static ulp_reference *reference(const char *name) {
    ulp_format f = named(name);
    ulp_reference *ref = ulp_reference_new(&f);
    assert_non_null(ref);
    return ref;
}

static double dot(const ulp_datapath *d, double c, size_t k, ulp_stream stream) {
    return ulp_dot(d, c, (ulp_products){a, b, k, NULL, NULL}, stream);
}

static void check(sum_scheme *w, const ulp_datapath *d, data kind, double c, size_t k) {
    const double want = oracle(w, c, a, b, k), got = dot(d, c, k, w->stream);
    if (!same_result(got, want)) {
        for (size_t i = 0; i < k && i < 8; i++) print_message("%a x %a\n", a[i], b[i]);
        fail_msg("%s, data %d, %zu products from %a: %a (%016llx), not %a", d->name, (int)kind, k, c, got,
                 (unsigned long long)ulp_bits64(got), want);
    }
    const uint64_t words = ulp_mode_is_stochastic(w->rule.mode) ? w->used : 0;
    if (ulp_datapath_words(d, k) != words)
        fail_msg("%s: %zu products take %llu words, not %llu", d->name, k, (unsigned long long)ulp_datapath_words(d, k),
                 (unsigned long long)words);
}

static void check_cell(size_t i, size_t f, int mode, uint64_t counted[SCHEMES]) {
    static const size_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 47, 63, 64, 65, 70, 0};
    static size_t turn;
    const ulp_format format = named(formats[f]);
    uint64_t seed = (i * 100 + f) * 100 + (uint64_t)mode;
    const int bits = !ulp_mode_is_stochastic((uint32_t)mode) || seed % 3 == 0 ? 0 : 1 + (int)(seed % 32);
    char name[ULP_DATAPATH_NAME_MAX], number[8] = "", promote[32] = "";
    if (bits != 0) snprintf(number, sizeof number, "/%d", bits);
    if (variants[i].promote != 0) snprintf(promote, sizeof promote, ":promote=%zu", variants[i].promote);
    snprintf(name, sizeof name, "%s:%s:%s%s%s", variants[i].name, formats[f], ulp_mode_name((ulp_mode)mode), number,
             promote);
    if (variants[i].promote != 0 && format.prec == 53) {
        ulp_datapath refused;
        assert_int_equal(ulp_datapath_parse(&refused, name), ULP_UNSUPPORTED);
        return;
    }
    const ulp_datapath d = datapath_named(name);
    assert_string_equal(d.name, name);
    sum_scheme w = {variants[i].scheme,
                    variants[i].length,
                    variants[i].promote,
                    reference(formats[f]),
                    reference("fp32"),
                    rule_of(mode, 0, bits),
                    0,
                    {seed, f, 0},
                    0};
    if (format.overflow == ULP_OVERFLOW_WRAP) w.wrap = format.bits - format.frac_bits;
    for (data kind = 0; kind < DATA; kind++)
        for (size_t n = 0; n < 16; n++) {
            if (kind == WIDE && w.wrap) continue;
            if (++turn % thinned(5) != 0) continue;
            const size_t k = lengths[(turn * 7 + next_random(&seed) % 3) % (COUNT_OF(lengths))];
            const ulp_format results = named(variants[i].promote ? "fp32" : formats[f]);
            fill(kind, &format, k + 1, &seed);
            w.stream.first = next_random(&seed) % (n == 0 ? 1 : 1000);
            check(&w, &d, kind, start_of(kind, variants[i].promote ? w.single : w.ref, &results, &seed), k);
            counted[w.scheme]++;
        }
    ulp_reference_free(w.ref), ulp_reference_free(w.single);
}

TEST(kinds) {
    uint64_t counted[SCHEMES] = {0}, all = 0;
    for (size_t i = 0; i < VARIANTS; i++)
        for (size_t f = 0; f < FORMATS; f++)
            for (int mode = 0; mode < ULP_MODE_COUNT; mode++) {
                const uint64_t before = counted[variants[i].scheme];
                check_cell(i, f, mode, counted);
                if (counted[variants[i].scheme] == before && !(variants[i].promote && strcmp(formats[f], "fp64") == 0))
                    fail_msg("%s in %s, %s: no case", variants[i].name, formats[f], ulp_mode_name((ulp_mode)mode));
            }
    for (int i = 0; i < SCHEMES; i++) {
        assert_true(counted[i] > 0);
        all += counted[i];
    }
    print_message("%llu sums\n", (unsigned long long)all);
}

/* ---- exact sums: any length, any range, any order ---- */

static void shuffle(size_t k, uint64_t *seed) {
    for (size_t i = k; i > 1; i--) {
        const size_t j = next_random(seed) % i;
        const double x = a[i - 1], y = b[i - 1];
        a[i - 1] = a[j], b[i - 1] = b[j], a[j] = x, b[j] = y;
    }
}

/* Products of all exponents, most of which cancel in pairs, so that the sum is small compared with its terms. */
TEST(exact) {
    uint64_t seed = 5, cases = 0;
    for (size_t f = 0; f < FORMATS; f++) {
        const ulp_format format = named(formats[f]);
        if (format.overflow == ULP_OVERFLOW_WRAP) continue;
        sum_scheme w = { EXACT, 1, 0, reference(formats[f]), NULL, rule_of(0, 0, 0), 0, {3, f, 9}, 0 };
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++)
            for (size_t turn = 0; turn < 12; turn++) {
                char name[ULP_DATAPATH_NAME_MAX];
                const size_t pairs = turn < 6 ? 1 + 3 * turn : turn < 11 ? 200 : 4000, k = 2 * pairs + turn % 4;
                if (turn > 9 && (THINNED || mode % 4 != (int)f % 4)) continue;
                snprintf(name, sizeof name, "exact:%s:%s", formats[f], ulp_mode_name((ulp_mode)mode));
                const ulp_datapath d = datapath_named(name);
                for (size_t i = 0; i < pairs; i++) {
                    a[i] = ldexp(near_one(&seed, &format), below(&seed, turn % 2 ? 2040 : 1030) - 1022);
                    b[i] = ldexp(near_one(&seed, &format), below(&seed, turn % 2 ? 2040 : 1030) - 1022);
                    a[i + pairs] = a[i], b[i + pairs] = -b[i];
                }
                const int least = ilogb(format.min_positive), at = below(&seed, 3) == 0 ? 0
                                                                   : turn % 3           ? least - 1
                                                                                        : ilogb(format.max) / 2;
                for (size_t i = 2 * pairs; i < k; i++)
                    a[i] = ldexp(near_one(&seed, &format), at / 2), b[i] = ldexp(near_one(&seed, &format), at - at / 2);
                const double c = turn % 3 == 0 ? format.max : turn % 3 == 1 ? 0.0 : -format.min_positive;
                w.rule.mode = (uint8_t)mode;
                check(&w, &d, WIDE, c, k);
                const double before = dot(&d, c, k, w.stream);
                shuffle(k, &seed);
                assert_int_equal(ulp_bits64(dot(&d, c, k, w.stream)), ulp_bits64(before));
                cases++;
            }
        ulp_reference_free(w.ref);
    }
    assert_true(cases > 400);
    /* a known sum: 1e300 1e300 - 1e300 1e300 + 2^-600 2^-400 */
    a[0] = b[0] = b[1] = 1e300, a[1] = -1e300, a[2] = 0x1p-600, b[2] = 0x1p-400;
    ulp_datapath d = datapath_named("exact:fp64:rne");
    assert_true(dot(&d, 0.0, 3, (ulp_stream){0}) == 0x1p-1000);
    for (size_t i = 0; i < ROOM; i++)
        a[i] = 0x1p-1074, b[i] = 0x1p-18; /* 2^18 products far below the least value, whose sum is the least value */
    assert_true(dot(&d, 0.0, ROOM, (ulp_stream){0}) == 0x1p-1074);
    for (size_t i = 0; i < ROOM; i++) a[i] = DBL_MAX, b[i] = i % 2 ? -DBL_MAX : DBL_MAX;
    assert_true(dot(&d, 3.0, ROOM, (ulp_stream){0}) == 3.0);
    for (size_t i = 0; i < ROOM; i++) b[i] = -DBL_MAX; /* a sum near 2^2066: the sign of the infinity */
    assert_true(dot(&d, DBL_MAX, ROOM, (ulp_stream){0}) == -INFINITY);
}

/* ---- integers ---- */

TEST(int8) {
    static const struct {
        const char *name;
        int clamps, za, zb;
    } rows[] = {{"int8", 0, 0, 0},
                {"int8:sat", 1, 0, 0},
                {"int8:za=128", 0, 128, 0},
                {"int8:zb=-7", 0, 0, -7},
                {"int8:za=-255:zb=255", 0, -255, 255},
                {"int8:sat:za=3:zb=-100", 1, 3, -100},
                {"int8:sat:zb=255", 1, 0, 255}};
    uint64_t seed = 1, wrapped = 0, clamped = 0;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        const ulp_datapath d = datapath_named(rows[r].name);
        assert_int_equal(ulp_datapath_words(&d, 100), 0);
        for (size_t turn = 0; turn < 200; turn++) {
            const size_t k = turn < 100 ? turn : turn < 190 ? 1000 + (size_t)below(&seed, 100) : 150000;
            const int style = below(&seed, 3), from = below(&seed, 4);
            const double c = from == 0   ? 0
                             : from == 1 ? 2147483647 - below(&seed, 50000)
                             : from == 2 ? below(&seed, 50000) - 2147483648.0
                                         : below(&seed, 1000) - 500;
            int64_t sum = (int64_t)c;
            for (size_t i = 0; i < k; i++) {
                const int x = style == 0        ? below(&seed, 256) - 128
                              : style == 1      ? -128
                              : below(&seed, 2) ? 127
                                                : -128,
                          y = style == 1 ? -128 + below(&seed, 2) : below(&seed, 256) - 128;
                a[i] = x, b[i] = y;
                sum += (int64_t)(x - rows[r].za) * (y - rows[r].zb);
                if (rows[r].clamps && (i % 32 == 31 || i + 1 == k)) {
                    clamped += sum > INT32_MAX || sum < INT32_MIN;
                    sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
                }
            }
            wrapped += sum != (int32_t)(uint32_t)sum;
            const double got = dot(&d, c, k, (ulp_stream){0});
            if (!same_result(got, (double)(int32_t)(uint32_t)sum))
                fail_msg("%s, %zu products from %.0f: %.0f, not %.0f", d.name, k, c, got,
                         (double)(int32_t)(uint32_t)sum);
        }
    }
    assert_true(wrapped > 50 && clamped > 50);
}

/* ---- known properties ---- */

static double sum_of(const char *name, double c, size_t k, double each) {
    const ulp_datapath d = datapath_named(name);
    for (size_t i = 0; i < k; i++) a[i] = each, b[i] = 1.0;
    return dot(&d, c, k, (ulp_stream){1, 2, 3});
}

static void expect(const char *name, double c, size_t k, double each, double want) {
    const double got = sum_of(name, c, k, each);
    if (!same_result(got, want)) fail_msg("%s: %zu times %a from %a is %a, not %a", name, k, each, c, got, want);
}

TEST(published) {
    static const struct {
        const char *format;
        double start, rne, rz, ru, kahan;
    } rows[] = {{"fp32", 100, 101.000213623046875, 100.99945068359375, 101.000213623046875, 101},
                {"fp16", 100, 100, 100, 106.25, 101},
                {"tf32", 100, 100, 100, 106.25, 101},
                {"bf16", 100, 100, 100, 172, 101},
                {"e6m9", 100, 100, 100, 112.5, 101},
                {"e4m3", 96, 96, 96, 448, 96},
                {"e4m3:nan", 96, 96, 96, NAN, 96},
                {"e5m2", 96, 96, 96, INFINITY, 96},
                {"q8.8", 100, 101.171875, 101.171875, 101.171875, 101.171875},
                {"q16.16", 100, 100.99945068359375, 100.99945068359375, 100.99945068359375, 100.99945068359375}};
    char name[64];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const ulp_format f = named(rows[i].format);
        const double each = ulp_round(0.01, &f, rule_of(ULP_RNE, 0, 0), 0);
        const double want[] = {rows[i].rne, rows[i].rz, rows[i].ru, rows[i].kahan};
        static const char *const modes[] = {"serial:%s:rne", "serial:%s:rz", "serial:%s:ru", "kahan:%s:rne"};
        for (size_t m = 0; m < 4; m++) {
            int at = (int)(strchr(modes[m], '%') - modes[m]);
            snprintf(name, sizeof name, "%.*s%s%s", at, modes[m], rows[i].format, modes[m] + at + 2);
            expect(name, rows[i].start, 100, each, want[m]);
        }
    }
    expect("serial:fp16:rne", 0, 5000, 1, 2048);
    expect("serial:bf16:rne", 0, 5000, 1, 256);
    expect("serial:e4m3:rne", 0, 5000, 1, 16);
    expect("serial:e5m2:rne", 0, 5000, 1, 8);
    expect("serial:e6m9:rne", 0, 5000, 1, 1024);
    expect("split:fp16:rne", 0, 5000, 1, 2048);
    expect("kahan:fp16:rne", 0, 5000, 1, 5000);
    expect("pairwise:fp16:rne", 0, 5000, 1, 5000);
    expect("chunk64:fp16:rne", 0, 5000, 1, 5000);
    expect("block64:fp16:rne", 0, 4992, 1, 4992);
    expect("exact:fp16:rne", 0, 5001, 1, 5000);
    expect("serial:fp16:rne:promote=32", 0, 5001, 1, 5001);
    expect("fp32", 0x1p24, 100, 1, 0x1p24);
    /* Wang et al. 2018, figure 3: terms with mean 1, up to 1 + sqrt 3 */
    const ulp_format f = named("e6m9");
    uint64_t seed = 1;
    for (size_t i = 0; i < ROOM; i++) {
        const double u = (double)(next_random(&seed) >> 11) * 0x1p-53;
        a[i] = ulp_round(1 + sqrt(3) * (2 * u - 1), &f, rule_of(ULP_RNE, 0, 0), 0), b[i] = 1.0;
    }
    static const char *const stops[] = {"serial:e6m9:rne", "chunk32:e6m9:rne", "chunk64:e6m9:rne"};
    static const double at[] = {4096, 65536, 131072};
    for (size_t i = 0; i < 3; i++) {
        const ulp_datapath d = datapath_named(stops[i]);
        assert_true(dot(&d, 0.0, ROOM, (ulp_stream){0}) == at[i]);
    }
}

/* Pairs of datapaths that define the same sum. */
TEST(identities) {
    static const struct {
        const char *one, *other;
        int negative_zero; /* also for the start value -0 and for zeros of both signs */
    } pairs[] = {{"chunk1:fp16:rne", "split:fp16:rne", 0},     {"chunk70:bf16:ru", "serial:bf16:ru", 0},
                 {"block1:fp16:sr", "serial:fp16:sr", 1},      {"block64:e4m3:rd", "exact:e4m3:rd", 1},
                 {"block64:fp64:sra", "exact:fp64:sra", 1},    {"serial:fp32:rne", "fp32", 1},
                 {"serial:bf16:sr/32", "serial:bf16:sr", 1},   {"serial:fp32:rne:promote=64", "fp32", 0},
                 {"serial:e4m3:sat:rne", "serial:e4m3:rne", 1}};
    uint64_t seed = 77;
    const ulp_format f = named("fp16");
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        const ulp_datapath x = datapath_named(pairs[i].one), y = datapath_named(pairs[i].other);
        for (int turn = 0; turn < 500; turn++) {
            const size_t k = (size_t)below(&seed, 65);
            fill((data)(turn % DATA), &f, k, &seed);
            const double c = pairs[i].negative_zero && turn % 3 == 0 ? -0.0 : 0.0;
            const double got = dot(&x, c, k, (ulp_stream){4, 0, 0}), want = dot(&y, c, k, (ulp_stream){4, 0, 0});
            if (!same_result(got, want) && !(got == 0.0 && want == 0.0 && !pairs[i].negative_zero))
                fail_msg("%s gives %a, %s gives %a", x.name, got, y.name, want);
        }
    }
    /* promote=N with N >= k: a partial sum from +0, then one addition in binary32 */
    const ulp_datapath late = datapath_named("serial:fp16:sr:promote=64"), raw = datapath_named("serial:fp16:sr");
    for (int turn = 0; turn < 2000; turn++) {
        const size_t k = 1 + (size_t)below(&seed, 64);
        fill((data)(turn % DATA), &f, k, &seed);
        const float c = (float)near_one(&seed, &f), want = c + (float)dot(&raw, 0.0, k, (ulp_stream){4, 0, 0});
        assert_true(same_result(dot(&late, (double)c, k, (ulp_stream){4, 0, 0}), (double)want));
    }
}

int main(void) {
    mpz_inits(exact, factor, other, (mpz_ptr)0);
    const int failed = run_listed_tests(NULL, NULL);
    mpz_clears(exact, factor, other, (mpz_ptr)0);
    return failed;
}
