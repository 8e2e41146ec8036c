/* t_tapered.c - posits, takums and HiF8 against a second implementation: codes by the formulas of the standards, and
 * rounding by comparison with values, not by arithmetic on fields. */
#include "support.h"

/* ---- values by the formulas ---- */

static int bit_of(uint64_t code, int i) { return (int)(code >> i & 1); }

/* The value of a posit of n bits, not 0 and not NaR: ((1 - 3s) + f) 2^((1 - 2s)(2^es r + e + s)), with the fields of
 * the code itself, also if it is negative (Posit Standard 2022, section 3.3). */
static double posit_value(uint64_t code, int n, int es) {
    const int s = bit_of(code, n - 1);
    int at = n - 2, k = 0, e = 0;
    double f = 0, weight = 0.5;
    const int first = bit_of(code, at);
    while (at >= 0 && bit_of(code, at) == first) at--, k++;
    const int r = first ? k - 1 : -k;
    at--;
    for (int i = 0; i < es; i++, at--) e = 2 * e + (at >= 0 ? bit_of(code, at) : 0);
    for (; at >= 0; at--, weight /= 2) f += weight * bit_of(code, at);
    return ldexp(1 - 3 * s + f, (1 - 2 * s) * (r * (1 << es) + e + s));
}

/* The value of a linear takum: ((1 - 3s) + f) 2^((-1)^s (c + s)) (Hunhold 2024, arXiv:2404.18603, definitions 2, 10).
 */
static double takum_value(uint64_t code, int n) {
    const int s = bit_of(code, n - 1), d = bit_of(code, n - 2);
    const int field = 4 * bit_of(code, n - 3) + 2 * bit_of(code, n - 4) + bit_of(code, n - 5),
              r = d ? field : 7 - field;
    int at = n - 6, c = 0;
    double f = 0, weight = 0.5;
    for (int i = 0; i < r; i++, at--) c = 2 * c + (at >= 0 ? bit_of(code, at) : 0);
    c += d ? (1 << r) - 1 : 1 - (1 << (r + 1));
    for (; at >= 0; at--, weight /= 2) f += weight * bit_of(code, at);
    return ldexp(1 - 3 * s + f, s ? -(c + s) : c);
}

/* HiF8 by the tables of Luo et al. 2024, arXiv:2409.16626: dot codes 0000 (powers of two), 0001, 001, 01, 10, 11 with
 * 0, 1, 2, 3, 4 exponent bits: a sign and a magnitude without its leading 1. */
static double hif8_value(uint64_t code) {
    const int s = bit_of(code, 7), m = (int)(code & 0x7f);
    int bits = 0, left = 3;
    if (m < 8) return (s ? -1 : 1) * ldexp(1, m - 23);
    if (m >= 0x60) bits = 4, left = 1;
    else if (m >= 0x40) bits = 3, left = 2;
    else if (m >= 0x20) bits = 2;
    else if (m >= 0x10) bits = 1;
    const int field = m >> left & ((1 << bits) - 1), top = bits > 0 ? 1 << (bits - 1) : 0;
    const int size = bits > 0 ? top + (field & (top - 1)) : 0, e = bits > 0 && field & top ? -size : size;
    return (s ? -1 : 1) * ldexp(1 + (double)(m & ((1 << left) - 1)) / (1 << left), e);
}

/* The value of a code of `bits` bits of the kind of f. */
static double value_of(const ulp_format *f, uint64_t code, int bits) {
    const uint64_t nar = (uint64_t)1 << (bits - 1);
    if (code == 0) return 0;
    if (code == nar) return NAN;
    if (f->taper == ULP_TAPER_POSIT) return posit_value(code, bits, f->exponent_bits);
    if (f->taper == ULP_TAPER_TAKUM) return takum_value(code, bits);
    return (code & 0x7f) == 0x6f ? (code & 0x80 ? -INFINITY : INFINITY) : hif8_value(code);
}

static const char *const names[] = {"posit8",    "posit16",    "takum8",    "takum16",    "hif8",
                                    "posit8es0", "posit16es1", "posit8es4", "posit16es3", "posit12",
                                    "takum12",   "posit3",     "posit5",    "takum6"};
enum { NAMES = COUNT_OF(names) };

TEST(codes) {
    for (int i = 0; i < NAMES; i++) {
        const ulp_format f = named(names[i]);
        for (uint64_t code = 0; code < (uint64_t)1 << f.bits; code++) {
            const double got = ulp_decode(code, &f), want = value_of(&f, code, f.bits);
            uint64_t back = 0;
            if (!same_result(got, want))
                fail_msg("%s: code %llx is %a, not %a", f.name, (unsigned long long)code, got, want);
            if (ulp_encode(&back, want, &f) != ULP_OK || back != code)
                fail_msg("%s: %a has code %llx, not %llx", f.name, want, (unsigned long long)back,
                         (unsigned long long)code);
        }
    }
}

/* ---- rounding by comparison ---- */

/* The values of a format that are not negative, ascending. */
typedef struct ladder {
    ulp_format f;
    double *value; /* (count), then two values of hif8 that its exponents would give */
    size_t count;
} ladder;

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static ladder ladder_of(const char *name) {
    ladder l = {named(name), NULL, 0};
    l.value = malloc((((size_t)1 << (l.f.bits - 1)) + 2) * sizeof *l.value);
    assert_non_null(l.value);
    for (uint64_t code = 0; code < (uint64_t)1 << (l.f.bits - 1); code++) {
        const double x = value_of(&l.f, code, l.f.bits);
        if (isfinite(x)) l.value[l.count++] = x;
    }
    qsort(l.value, l.count, sizeof *l.value, by_value);
    if (l.f.taper == ULP_TAPER_HIF8) l.value[l.count] = 1.5 * 0x1p15, l.value[l.count + 1] = 0x1p16;
    return l;
}

/* A place between two values: `rank` values are below or equal, the fraction has `bits` bits and perhaps more. */
typedef struct place {
    uint64_t rank, fraction;
    int more;
} place;

/* The place of x > 0, which is below the last value of the ladder; not 0. */
static place place_of(const ladder *l, double x, int bits) {
    place p = {0, 0, 0};
    uint64_t high = l->count + (l->f.taper == ULP_TAPER_HIF8);
    while (high - p.rank > 1) {
        const uint64_t middle = (p.rank + high) / 2;
        *(l->value[middle] <= x ? &p.rank : &high) = middle;
    }
    if (l->f.taper == ULP_TAPER_HIF8) { /* a linear scale between two values */
        const double low = l->value[p.rank], part = (x - low) / (l->value[p.rank + 1] - low) * ldexp(1, bits);
        p.fraction = (uint64_t)part;
        p.more = part != (double)p.fraction;
        return p;
    }
    /* the last code with `bits` more bits whose value is not above x */
    uint64_t low = p.rank << bits, end = (p.rank + 1) << bits;
    while (end - low > 1) {
        const uint64_t middle = (low + end) / 2;
        *(value_of(&l->f, middle, l->f.bits + bits) <= x ? &low : &end) = middle;
    }
    p.fraction = low - (p.rank << bits);
    p.more = value_of(&l->f, low, l->f.bits + bits) != x;
    return p;
}

static int goes_up(place p, ulp_rule rule, int neg, uint64_t R, int r) {
    const uint64_t one = (uint64_t)1 << (r + 1), twice = p.fraction;
    const int inexact = twice != 0 || p.more, odd = p.rank & 1;
    switch ((ulp_mode)rule.mode) {
    case ULP_RNE: return twice > one / 2 || (twice == one / 2 && (p.more || odd));
    case ULP_RNA: return twice >= one / 2;
    case ULP_RZ: return 0;
    case ULP_RU: return inexact && !neg;
    case ULP_RD: return inexact && neg;
    case ULP_RO: return inexact && !odd;
    case ULP_SRA: return twice / 2 + R >= one / 2;
    case ULP_SRB: return twice + 2 * R + 1 >= one;
    case ULP_SRC: return twice / 2 + (twice % 2 == 1 && (p.more || twice / 2 % 2 == 1)) + R >= one / 2;
    case ULP_RNU: return twice > one / 2 || (twice == one / 2 && (p.more || !neg));
    case ULP_RNZ: return twice > one / 2 || (twice == one / 2 && p.more);
    case ULP_RND: return twice > one / 2 || (twice == one / 2 && (p.more || neg));
    case ULP_MODE_COUNT: break;
    }
    return 0;
}

static double want_of(const ladder *l, double x, ulp_rule rule, uint32_t word) {
    const int r = rule.random_bits, neg = signbit(x) != 0, hif8 = l->f.taper == ULP_TAPER_HIF8;
    const double size = fabs(x), max = l->value[l->count - 1];
    double y = max;
    if (isnan(x) || (isinf(x) && !hif8)) return NAN;
    if (x == 0) return 0;
    if (isinf(x)) return x;
    if (hif8 || size < max) {
        if (hif8 && size >= 0x1p16) y = INFINITY;
        else {
            const place p = place_of(l, size, r + 1);
            const uint64_t rank = p.rank + (uint64_t)goes_up(p, rule, neg, word >> (32 - r), r);
            y = rank < l->count ? l->value[rank] : INFINITY;
            if (rank == 0 && !hif8) y = l->value[1];
        }
    }
    if (y == 0) return 0;
    if (y > max && (rule.mode == ULP_RZ || rule.mode == ULP_RO || rule.mode == (neg ? ULP_RU : ULP_RD))) y = max;
    return neg ? -y : y;
}

static void check_rounding(const ladder *l, double x, uint64_t *seed) {
    for (int mode = 0; mode < ULP_MODE_COUNT; mode++)
        for (int i = 0; i < (ulp_mode_is_stochastic((uint32_t)mode) ? 3 : 1); i++) {
            const ulp_rule rule = rule_of(mode, ULP_OVERFLOW_DEFAULT, 1 + (int)(next_random(seed) % 10));
            const uint32_t word = (uint32_t)next_random(seed);
            const double got = ulp_round(x, &l->f, rule, word), want = want_of(l, x, rule, word);
            if (!same_result(got, want)) fail_case("round", x, 0, 0, &l->f, rule, word, got, want);
        }
}

static void check_around(const ladder *l, double x, uint64_t *seed) {
    const double near[] = {x, nextafter(x, INFINITY), nextafter(x, 0)};
    for (int i = 0; i < 3; i++) check_rounding(l, near[i], seed), check_rounding(l, -near[i], seed);
}

TEST(rounding) {
    for (int i = 0; i < NAMES; i++) {
        ladder l = ladder_of(names[i]);
        uint64_t seed = (uint64_t)i;
        const uint64_t stride = thinned(l.f.bits > 12 ? 7 : 1);
        for (size_t k = 1; k < l.count; k += stride) check_around(&l, l.value[k], &seed);
        for (uint64_t code = 1; code < (uint64_t)1 << l.f.bits; code += 2 * stride) /* ties: one more bit */
            check_around(&l,
                         l.f.taper == ULP_TAPER_HIF8 ? (l.value[code / 2] + l.value[code / 2 + 1]) / 2
                                                     : value_of(&l.f, code, l.f.bits + 1),
                         &seed);
        for (size_t k = 0; k < 20000 / thinned(7); k++) {
            const int spread = k % 3 == 0 ? 600 : k % 3 == 1 ? 2 * l.f.emax + 4 : 12;
            check_rounding(&l,
                           ldexp(1 + (double)(next_random(&seed) >> 12) * 0x1p-52,
                                 (int)(next_random(&seed) % (uint64_t)spread) - spread / 2) *
                               (k & 1 ? -1 : 1),
                           &seed);
        }
        static const double ends[] = {0, INFINITY, 0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023};
        for (int k = 0; k < 5; k++) check_rounding(&l, ends[k], &seed), check_rounding(&l, -ends[k], &seed);
        check_rounding(&l, NAN, &seed);
        free(l.value);
    }
}

/* Stochastic modes: the number of the words that round up, where the gap has all bits and where bits are cut. */
TEST(words) {
    static const char *const of[] = {"posit8", "takum8", "hif8", "posit16", "takum16"};
    enum { BITS = 8 };
    for (int i = 0; i < 5; i++) {
        ladder l = ladder_of(of[i]);
        uint64_t seed = 7;
        for (size_t k = 1; k + 1 < l.count; k += l.count > 1000 ? 97 : 1)
            for (int mode = ULP_SRA; mode <= ULP_SRC; mode++) {
                const double low = l.value[k], high = l.value[k + 1];
                const double x = low + (high - low) * ((double)(1 + next_random(&seed) % 4095) / 4096);
                const place p = place_of(&l, x, BITS + 1);
                const ulp_rule rule = rule_of(mode, ULP_OVERFLOW_DEFAULT, BITS);
                int ups = 0, want = 0;
                for (uint64_t R = 0; R < 1 << BITS; R++) {
                    const double y = ulp_round(-x, &l.f, rule, (uint32_t)(R << (32 - BITS)) | 0xffff);
                    if (y != -low && y != -high) fail_case("word", -x, 0, 0, &l.f, rule, (uint32_t)R, y, -low);
                    ups += y == -high;
                    want += goes_up(p, rule, 1, R, BITS);
                }
                if (ups != want) fail_msg("%s %d: %a: %d words of 256 round up, not %d", l.f.name, mode, x, ups, want);
            }
        free(l.value);
    }
}

/* ---- numbers of the standards ---- */

TEST(limits) {
    static const struct {
        const char *name;
        double max, least, x, rne; /* x is a tie of the code strings */
    } rows[] = {
        {"posit8", 0x1p24, 0x1p-24, 0x1p22, 0x1p20},
        {"posit8", 0x1p24, 0x1p-24, 0x1p-22, 0x1p-20},
        {"posit16", 0x1p56, 0x1p-56, 0x1p54, 0x1p52},
        {"posit16", 0x1p56, 0x1p-56, 0x1p-54, 0x1p-52},
        {"posit16", 0x1p56, 0x1p-56, 0x1.001p0, 1},
        {"posit32", 0x1p120, 0x1p-120, 0x1p118, 0x1p116},
        {"posit8es0", 64, 0x1p-6, 48, 32},
        {"takum8", 0x1p239, 0x1p-239, 0x1p231, 0x1p223},
        {"takum16", 0x1.fp254, 0x1.1p-255, 0x1.f8p254, 0x1.fp254},
        {"hif8", 0x1p15, 0x1p-22, 1.0625, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const ulp_format f = named(rows[i].name);
        const ulp_rule rne = {0};
        assert_true(f.max == rows[i].max && f.min_positive == rows[i].least && f.lowest == -rows[i].max);
        const double y = ulp_round(-rows[i].x, &f, rne, 0);
        if (y != -rows[i].rne) fail_case("tie", -rows[i].x, 0, 0, &f, rne, 0, y, -rows[i].rne);
    }
    /* the policy decides about infinite inputs alone */
    const ulp_format f = named("posit16");
    static const double inputs[] = {INFINITY, 0x1p1000, 0x1p-1000};
    for (int policy = ULP_OVERFLOW_INF; policy < ULP_OVERFLOW_WRAP; policy++)
        for (int i = 0; i < 3; i++) {
            const double want = i == 2 ? 0x1p-56 : i == 1 || policy == ULP_OVERFLOW_SAT ? 0x1p56 : NAN;
            const double y = ulp_round(inputs[i], &f, rule_of(ULP_RNE, policy, 0), 0);
            if (!same_result(y, want))
                fail_case("policy", inputs[i], 0, 0, &f, rule_of(ULP_RNE, policy, 0), 0, y, want);
        }
    assert_int_equal(ulp_rule_check(&f, rule_of(ULP_RNE, ULP_OVERFLOW_WRAP, 0)), ULP_UNSUPPORTED);
}

TEST(names) {
    ulp_format f;
    static const char *const beyond[] = {"posit2", "posit33", "posit16es5", "takum5", "takum33", "posit400"};
    static const char *const bad[] = {"posit", "posit16es",  "posit16es2x", "posit016",
                                      "takum", "takum16es2", "hif16",       "posit16e2"};
    for (size_t i = 0; i < COUNT_OF(beyond); i++) assert_int_equal(ulp_format_parse(&f, beyond[i]), ULP_NOT_IN_RANGE);
    for (size_t i = 0; i < COUNT_OF(bad); i++) assert_int_equal(ulp_format_parse(&f, bad[i]), ULP_BAD_NAME);
    assert_int_equal(ulp_format_parse(&f, "posit16:nosub"), ULP_UNSUPPORTED);
    assert_int_equal(ulp_format_parse(&f, "takum16:wrap"), ULP_UNSUPPORTED);
    f = named("posit16");
    assert_int_equal(ulp_format_shift(&f, 1), ULP_UNSUPPORTED);
    assert_true(named("POSIT16:sat").overflow == ULP_OVERFLOW_SAT && f.overflow == ULP_OVERFLOW_INF);
    assert_true(f.fits_binary32 && named("hif8").fits_binary32 && !named("takum8").fits_binary32);
    for (int n = 3; n <= 32; n++)
        for (int es = 0; es <= 4; es++) { /* maxpos = 2^(2^es (n - 2)) */
            char name[ULP_NAME_MAX];
            snprintf(name, sizeof name, "posit%des%d", n, es);
            f = named(name);
            assert_true(f.max == ldexp(1, (n - 2) << es) && f.min_positive == ldexp(1, -((n - 2) << es)));
            assert_true(f.bits == n && f.qmin == f.emin && f.prec == (n - 2 - es > 1 ? n - 2 - es : 1));
        }
}

TEST(letters) {
    static const struct {
        const char *name;
        double value;
        const char *letters;
    } rows[] = {{"posit16", 1, "srreefffffffffff"},
                {"posit16", -1.5, "srreefffffffffff"},
                {"posit16", 0x1p56, "srrrrrrrrrrrrrrr"},
                {"posit16", 0x1p-48, "srrrrrrrrrrrrree"},
                {"posit8es0", 0.75, "srrfffff"},
                {"takum8", 1, "sdrrrfff"},
                {"takum16", 0x1p100, "sdrrrccccccfffff"},
                {"hif8", 1, "sddddfff"},
                {"hif8", -0.5, "sdddefff"},
                {"hif8", 0x1p-22, "sddddfff"},
                {"hif8", 4, "sddeefff"},
                {"hif8", -6, "sddeefff"},
                {"hif8", 0x1p15, "sddeeeef"},
                {"q6.2", 1, "iiiiiiff"},
                {"e5m2", -1, "seeeeeff"},
                {"e8m0", 4, "eeeeeeee"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const ulp_format f = named(rows[i].name);
        uint64_t code;
        char letters[65];
        assert_ok(ulp_encode(&code, rows[i].value, &f));
        ulp_code_letters(letters, code, &f);
        assert_string_equal(letters, rows[i].letters);
    }
}

/* Neighbours and spacings by the ladder. */
TEST(neighbours) {
    for (int i = 0; i < NAMES; i++) {
        ladder l = ladder_of(names[i]);
        const size_t n = l.count;
        const double above = l.f.has_inf ? INFINITY : l.f.max;
        for (size_t k = 0; k < n; k++) {
            const double x = l.value[k], up = k + 1 < n ? l.value[k + 1] : above,
                         down = k > 0 ? l.value[k - 1] : -l.value[1];
            assert_true(ulp_next_up(x, &l.f) == up && ulp_next_down(-x, &l.f) == -up);
            assert_true(ulp_next_down(x, &l.f) == down && ulp_next_up(-x, &l.f) == -down);
            if (k + 1 >= n) continue;
            const double inside = nextafter(x, INFINITY), gap = up - x;
            assert_true(ulp_next_up(inside, &l.f) == up && ulp_next_down(inside, &l.f) == x);
            assert_true(ulp_next_up(-inside, &l.f) == -x && ulp_next_down(-inside, &l.f) == -up);
            assert_true(ulp_spacing(x, &l.f) == gap && ulp_spacing(-inside, &l.f) == gap);
        }
        free(l.value);
    }
}

TESTS(NULL, NULL)
