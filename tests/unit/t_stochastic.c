/* t_stochastic.c - stochastic modes: the number of random words that round up is the integer of the formulas. */
#include <float.h>

#include "support.h"

enum { PARTS = 17 }; /* a gap is divided into 2^PARTS parts */

static const int some_bits[] = {1, 2, 3, 5, 8, 12};
static uint64_t counted;

_Static_assert(ULP_STOCHASTIC_MODES == (1 << ULP_SRA | 1 << ULP_SRB | 1 << ULP_SRC), "a mode without a formula here");

/* The number of R among 0 .. 2^r - 1 that round nu = j / 2^PARTS up (IEEE P3109 v4.0, section 4.6), in integers. */
static uint64_t ups_of(int mode, uint64_t j, int r) {
    const uint64_t one = (uint64_t)1 << PARTS;
    if (mode == ULP_SRA) return (j << r) / one;                 /* R >= 2^r - floor(nu 2^r) */
    if (mode == ULP_SRB) return ((j << (r + 1)) / one + 1) / 2; /* 2R + 1 >= 2^(r+1) - floor(nu 2^(r+1)) */
    uint64_t whole = (j << r) / one, rest = (j << r) % one;
    return whole + (rest > one / 2 || (rest == one / 2 && whole % 2 == 1));
}

/* A gap between neighbouring magnitudes low and high = low + width of a format. `high` may be above the largest value,
 * and is infinite if binary64 does not hold it. */
typedef struct gap {
    double low, high, width, sign;
} gap;

/* Whether y is the upper end of the gap; beyond the range the upper end is NaN, because the policy is nan. */
static int is_up(double y, const gap *g, double value, ulp_rule rule, uint32_t word, const ulp_format *f) {
    double up = g->sign * g->high, down = g->sign * g->low;
    if (fabs(up) > fabs(g->sign < 0 ? f->lowest : f->max)) up = NAN;
    if (down == 0.0) down = ulp_zero_value(f, g->sign < 0);
    int went_up = isnan(up) ? isnan(y) : y == up;
    if (!went_up && !same(y, down)) fail_case("stochastic: neither neighbour", value, down, up, f, rule, word, y, down);
    return went_up;
}

static void check_count(const ulp_format *f, const gap *g, uint64_t j, int mode, int r) {
    const ulp_rule rule = rule_of(mode, ULP_OVERFLOW_NAN, r);
    const double x = g->sign * (g->low + g->width * ((double)j * ldexp(1.0, -PARTS)));
    uint64_t ups = 0, low_bits = 0x5bd1e995u * (j + 1);
    for (uint64_t R = 0; R < (uint64_t)1 << r; R++) {
        /* the bits below the top r bits of the word must not matter */
        uint32_t word = (uint32_t)(R << (32 - r)) | ((uint32_t)(low_bits += 0x9e3779b9u) & (0xffffffffu >> r));
        ups += (uint64_t)is_up(ulp_round(x, f, rule, word), g, x, rule, word, f);
    }
    uint64_t want = ups_of(mode, j, r);
    if (ups != want)
        fail_msg("%s %s r %d: %a, %llu/2^%d of the gap from %a to %a, is rounded up for %llu words of 2^%d, not %llu",
                 f->name, ulp_mode_name((ulp_mode)mode), r, x, (unsigned long long)j, PARTS, g->low, g->high,
                 (unsigned long long)ups, r, (unsigned long long)want);
    counted++;
}

/* Check places in a gap: the ends, halves, one part next to multiples of 2^-r, and random places. */
static void check_gap(const ulp_format *f, gap g, uint64_t *seed, int thin) {
    const uint64_t one = (uint64_t)1 << PARTS;
    for (int mode = ULP_SRA; mode <= ULP_SRC; mode++)
        for (size_t i = 0; i < COUNT_OF(some_bits); i++) {
            const int r = some_bits[i];
            uint64_t cell = one >> r, k = next_random(seed) % ((uint64_t)1 << r) * cell, any = next_random(seed);
            uint64_t places[] = {any % one,    k + cell / 2, k + cell / 2 - 1, k + cell / 2 + 1,
                                 k + (k == 0), k + cell - 1, k + cell / 4,     1,
                                 one / 2,      one - 1};
            size_t count = COUNT_OF(places), first = thin && r > 5 ? any / one % count : 0,
                   n = thin && r > 5 ? 3 : count;
            for (size_t p = first; p < first + n; p++) check_count(f, &g, places[p % count], mode, r);
        }
}

/* The gap above the magnitude code `code`. Above the largest value its width is that of continued exponents. */
static gap gap_above(const ulp_format *f, uint64_t code, int neg) {
    double low = ulp_decode(code, f), width = code < f->max_code ? ulp_decode(code + 1, f) - low : last_quantum(f);
    return (gap){low, low + width, width, neg ? -1.0 : 1.0};
}

/* Every gap of formats of up to 8 bits, with overflow and underflow; of wider formats the ends and random gaps. */
TEST(counts) {
    ulp_format f;
    size_t narrow = 0, wide = 0;
    for (size_t i = 0; test_format(i, &f); i++) {
        uint64_t seed = i, before = counted;
        if (!f.has_zero || f.bits > 16 || f.max_code < 3 || f.taper != ULP_TAPER_NONE) continue; /* t_tapered.c */
        const int every = f.bits <= 8;
        const uint64_t last = f.max_code, first = f.has_subnormals || f.zero_binade ? 0 : (uint64_t)1 << (f.prec - 1);
        if (!f.has_subnormals && !f.zero_binade) check_gap(&f, (gap){0, f.min_normal, f.min_normal, 1}, &seed, 0);
        const uint64_t chosen[] = {first, first + 1, ((uint64_t)1 << (f.is_fixed ? 1 : f.prec - 1)) - 1, last - 1,
                                   last};
        for (uint64_t n = 0; n < (every ? last + 1 - first : 24); n++) {
            uint64_t code = every ? first + n : n < 5 ? chosen[n] : first + next_random(&seed) % (last + 1 - first);
            if (code < first) continue;
            if ((n + i) % thinned(9) != 0 && code != first && code != last) continue;
            check_gap(&f, gap_above(&f, code, 0), &seed, every && code != first && code != last);
            if (f.is_signed) check_gap(&f, gap_above(&f, code, 1), &seed, 1);
        }
        if (f.is_signed && f.is_fixed)
            check_gap(&f, (gap){-f.lowest, -f.lowest + last_quantum(&f), last_quantum(&f), -1}, &seed, 0);
        if (counted == before) fail_msg("%s: no case", f.name);
        narrow += (size_t)every, wide += (size_t)!every;
    }
    print_message("%llu counts\n", (unsigned long long)counted);
    assert_true(narrow > 20 && wide > 10);
}

/* Values of the format do not change, for any word, number of random bits and policy. */
TEST(exact_values) {
    static const uint32_t words[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    ulp_format f;
    for (size_t i = 0; test_format(i, &f); i++) {
        uint64_t seed = i, n = f.bits <= 16 ? (uint64_t)1 << f.bits : 4000;
        for (uint64_t j = 0; j < n; j++) {
            double x = ulp_decode(f.bits <= 16 ? j : next_random(&seed), &f);
            int policy = (int)(j % (f.is_fixed ? ULP_OVERFLOW_COUNT : ULP_OVERFLOW_WRAP)),
                r = (int)(next_random(&seed) % 33);
            if (!isfinite(x)) continue;
            for (int mode = ULP_SRA; mode <= ULP_SRC; mode++)
                for (size_t w = 0; w < COUNT_OF(words); w++) {
                    ulp_rule rule = rule_of(mode, policy, r);
                    double y = ulp_round(x, &f, rule, words[w]);
                    if (!same(y, x)) fail_case("an exact value moves", x, 0, 0, &f, rule, words[w], y, x);
                }
        }
    }
}

/* ---- 32 random bits ---- */

/* The least word that rounds nu = j / 2^t up, in integers; t <= 40 < 64 - 24. */
static uint64_t first_up(int mode, uint64_t j, int t) {
    const uint64_t one = (uint64_t)1 << 32;
    if (mode == ULP_SRA) return one - (j >> (t - 32));
    if (mode == ULP_SRB) return one - ((j >> (t - 33)) + 1) / 2;
    uint64_t whole = j >> (t - 32), rest = j & (((uint64_t)1 << (t - 32)) - 1), half = (uint64_t)1 << (t - 33);
    return one - whole - (rest > half || (rest == half && whole % 2 == 1));
}

static void check_threshold(const ulp_format *f, double low, double quantum, uint64_t j, int t) {
    const double x = low + quantum * ldexp((double)j, -t);
    for (int mode = ULP_SRA; mode <= ULP_SRC; mode++)
        for (int neg = 0; neg <= f->is_signed; neg++) {
            uint64_t least = first_up(mode, j, t);
            gap g = {low, low + quantum, quantum, neg ? -1 : 1};
            ulp_rule rule = rule_of(mode, ULP_OVERFLOW_NAN, neg ? 32 : 0);
            for (uint64_t word = least - 2; word < least + 2; word++) {
                if (word >> 32 != 0) continue;
                double y = ulp_round(g.sign * x, f, rule, (uint32_t)word);
                if (is_up(y, &g, g.sign * x, rule, (uint32_t)word, f) != (word >= least))
                    fail_case("threshold", g.sign * x, 0, 0, f, rule, (uint32_t)word, y,
                              g.sign * (word >= least ? g.high : g.low));
                counted++;
            }
        }
}

TEST(32_bits) {
    ulp_format f;
    size_t cases = 0;
    for (size_t i = 0; test_format(i, &f); i++) {
        if (!f.has_zero || f.zero_binade || f.is_fixed || f.taper || f.prec > 12 || f.max_code < 3) continue;
        const int t = 53 - f.prec < 40 ? 53 - f.prec : 40;
        uint64_t seed = i;
        const double lows[] = {f.min_normal, 1.0, f.max, f.max - last_quantum(&f)};
        for (int c = 0; c < 400; c++) {
            double low = lows[c % 4];
            if (low < f.min_normal || low > f.max || ulp_round(low, &f, rule_of(ULP_RZ, ULP_OVERFLOW_SAT, 0), 0) != low)
                continue;
            uint64_t unit = (uint64_t)1 << (t - 32), any = next_random(&seed) >> (64 - t);
            /* multiples of 2^-32, of 2^-33 and of 2^-34, and one step to each side */
            uint64_t j = (any / unit * unit + unit / 4 * (uint64_t)(c / 4 % 4) + (uint64_t)(c / 16 % 3) - 1) &
                         (((uint64_t)1 << t) - 1);
            check_threshold(&f, low, ulp_spacing(low, &f), j == 0 ? 1 : j, t);
            cases++;
        }
        /* the gap above 0: a double holds j / 2^40 of the least value */
        for (int c = 0; c < 100; c++) check_threshold(&f, 0.0, f.min_positive, (next_random(&seed) >> 24) | 1, 40);
    }
    assert_true(cases > 5000);
}

/* The documented limits of the number of bits: 0 is 32, and one bit gives probability 0, 1/2 or 1. */
TEST(number_of_bits) {
    ulp_format f = named("binary16");
    for (int mode = ULP_SRA; mode <= ULP_SRC; mode++)
        for (uint64_t i = 0, seed = 1; i < 10000; i++) {
            double x = ldexp((double)(next_random(&seed) >> 11), (int)(i % 40) - 65);
            uint32_t word = (uint32_t)next_random(&seed);
            double a = ulp_round(x, &f, rule_of(mode, 0, 0), word), b = ulp_round(x, &f, rule_of(mode, 0, 32), word);
            if (!same(a, b)) fail_case("0 bits is 32 bits", x, 0, 0, &f, rule_of(mode, 0, 0), word, a, b);
            a = ulp_round(x, &f, rule_of(mode, 0, 1), word),
            b = ulp_round(x, &f, rule_of(mode, 0, 1), word & 0x80000000u);
            if (!same(a, b)) fail_case("one bit counts", x, 0, 0, &f, rule_of(mode, 0, 1), word, a, b);
        }
}

TESTS(NULL, NULL)
