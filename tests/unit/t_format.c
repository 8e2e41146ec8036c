/* t_format.c - parameters of formats against the numbers of the standards and the oracle, for every family of names. */
#include <float.h>

#include "support.h"

#include "kernels/mpfr/reference.h"

#define NONE UINT64_MAX

/* The numbers of a format in its standard. Codes are codes of magnitudes; NONE: the format has no such code. */
typedef struct row {
    const char *name, *aliases;
    int bits, bias, prec;
    double max;
    uint64_t max_code;
    double min_normal, min_positive, lowest;
    uint64_t inf_code, first_nan, last_nan; /* NaN codes without the sign, except a NaN in the place of -0 */
    int overflow, neg_zero;
} row;

#define IEEE(inf_code, last_nan) inf_code, (inf_code) + 1, last_nan, ULP_OVERFLOW_INF, 1
#define SAT ULP_OVERFLOW_SAT

static const row table[] = {
    {"binary64", "fp64 double", 64, 1023, 53, DBL_MAX, 0x7fefffffffffffff, DBL_MIN, 0x1p-1074, -DBL_MAX,
     IEEE(0x7ff0000000000000, 0x7fffffffffffffff)},
    {"binary32", "fp32 single float", 32, 127, 24, FLT_MAX, 0x7f7fffff, 0x1p-126, 0x1p-149, -FLT_MAX,
     IEEE(0x7f800000, 0x7fffffff)},
    {"tf32", "", 19, 127, 11, 2047 * 0x1p117, 0x3fbff, 0x1p-126, 0x1p-136, -2047 * 0x1p117, IEEE(0x3fc00, 0x3ffff)},
    {"binary16", "fp16 half", 16, 15, 11, 65504, 0x7bff, 0x1p-14, 0x1p-24, -65504, IEEE(0x7c00, 0x7fff)},
    {"bfloat16", "bf16", 16, 127, 8, 255 * 0x1p120, 0x7f7f, 0x1p-126, 0x1p-133, -255 * 0x1p120, IEEE(0x7f80, 0x7fff)},
    {"e6m9", "", 16, 31, 10, 1023 * 0x1p22, 0x7dff, 0x1p-30, 0x1p-39, -1023 * 0x1p22, IEEE(0x7e00, 0x7fff)},
    {"e5m2", "", 8, 15, 3, 57344, 0x7b, 0x1p-14, 0x1p-16, -57344, IEEE(0x7c, 0x7f)},
    {"e4m3", "e4m3fn", 8, 7, 4, 448, 0x7e, 0x1p-6, 0x1p-9, -448, NONE, 0x7f, 0x7f, SAT, 1},
    {"e4m3fnuz", "", 8, 8, 4, 240, 0x7f, 0x1p-7, 0x1p-10, -240, NONE, 0x80, 0x80, SAT, 0},
    {"e5m2fnuz", "", 8, 16, 3, 57344, 0x7f, 0x1p-15, 0x1p-17, -57344, NONE, 0x80, 0x80, SAT, 0},
    {"binary8p1se", "", 8, 64, 1, 0x1p62, 0x7e, 0x1p-63, 0x1p-63, -0x1p62, 0x7f, 0x80, 0x80, ULP_OVERFLOW_INF, 0},
    {"binary8p3se", "", 8, 16, 3, 49152, 0x7e, 0x1p-15, 0x1p-17, -49152, 0x7f, 0x80, 0x80, ULP_OVERFLOW_INF, 0},
    {"binary8p4se", "", 8, 8, 4, 224, 0x7e, 0x1p-7, 0x1p-10, -224, 0x7f, 0x80, 0x80, ULP_OVERFLOW_INF, 0},
    {"binary8p3sf", "", 8, 16, 3, 57344, 0x7f, 0x1p-15, 0x1p-17, -57344, NONE, 0x80, 0x80, SAT, 0},
    {"binary8p4sf", "", 8, 8, 4, 240, 0x7f, 0x1p-7, 0x1p-10, -240, NONE, 0x80, 0x80, SAT, 0},
    {"binary8p4ue", "", 8, 16, 4, 53248, 0xfd, 0x1p-15, 0x1p-18, 0, 0xfe, 0xff, 0xff, ULP_OVERFLOW_INF, 0},
    {"binary8p4uf", "", 8, 16, 4, 57344, 0xfe, 0x1p-15, 0x1p-18, 0, NONE, 0xff, 0xff, SAT, 0},
    {"e3m4", "", 8, 3, 5, 15.5, 0x6f, 0x1p-2, 0x1p-6, -15.5, IEEE(0x70, 0x7f)},
    {"e3m2", "", 6, 3, 3, 28, 0x1f, 0x1p-2, 0x1p-4, -28, NONE, NONE, NONE, SAT, 1},
    {"e2m3", "", 6, 1, 4, 7.5, 0x1f, 1, 0x1p-3, -7.5, NONE, NONE, NONE, SAT, 1},
    {"e2m1", "", 4, 1, 2, 6, 0x7, 1, 0.5, -6, NONE, NONE, NONE, SAT, 1},
    {"cfloat8_1_4_3", "cfloat8e4m3", 8, 7, 4, 480, 0x7f, 0x1p-6, 0x1p-9, -480, NONE, NONE, NONE, SAT, 1},
    {"cfloat8_1_5_2", "cfloat8e5m2", 8, 15, 3, 114688, 0x7f, 0x1p-14, 0x1p-16, -114688, NONE, NONE, NONE, SAT, 1},
    {"e8m0", "", 8, 127, 1, 0x1p127, 0xfe, 0x1p-127, 0x1p-127, 0x1p-127, NONE, 0xff, 0xff, SAT, 0},
    {"dlfloat16", "", 16, 31, 10, 1022 * 0x1p23, 0x7ffe, 513 * 0x1p-40, 513 * 0x1p-40, -1022 * 0x1p23, NONE, 0x7fff,
     0x7fff, SAT, 1},
    {"fp24", "", 24, 127, 16, 65535 * 0x1p112, 0x7f7fff, 0x1p-126, 0x1p-141, -65535 * 0x1p112,
     IEEE(0x7f8000, 0x7fffff)},
    {"q8.8", "", 16, 0, 16, 32767 * 0x1p-8, 0x7fff, 0x1p-8, 0x1p-8, -128, NONE, NONE, NONE, SAT, 0},
    {"int8", "q8.0", 8, 0, 8, 127, 0x7f, 1, 1, -128, NONE, NONE, NONE, SAT, 0},
    {"int4", "q4.0", 4, 0, 4, 7, 0x7, 1, 1, -8, NONE, NONE, NONE, SAT, 0},
};
enum { ROWS = COUNT_OF(table) };

static void equal(const char *name, const char *what, double got, double want) {
    if (!same(got, want)) fail_msg("%s: %s is %a, not %a", name, what, got, want);
}

static void equal_code(const char *name, const char *what, uint64_t got, uint64_t want) {
    if (got != want)
        fail_msg("%s: %s is %#llx, not %#llx", name, what, (unsigned long long)got, (unsigned long long)want);
}

/* Check that two descriptors are equal, with their names; padding is not compared. */
static void equal_formats(const ulp_format *a, const ulp_format *b) {
    assert_memory_equal(a, b, offsetof(ulp_format, fits_binary32) + sizeof a->fits_binary32);
    assert_memory_equal(&a->max_code, &b->max_code, offsetof(ulp_format, max) - offsetof(ulp_format, max_code));
    equal(a->name, "max", a->max, b->max);
    equal(a->name, "lowest", a->lowest, b->lowest);
    equal(a->name, "min normal", a->min_normal, b->min_normal);
    equal(a->name, "min positive", a->min_positive, b->min_positive);
}

TEST(standards) {
    for (const row *t = table; t < table + ROWS; t++) {
        ulp_format f = named(t->name);
        equal(t->name, "bits", f.bits, t->bits);
        equal(t->name, "bias", f.bias, t->bias);
        equal(t->name, "p", f.prec, t->prec);
        equal(t->name, "max", f.max, t->max);
        equal(t->name, "lowest", f.lowest, t->lowest);
        equal(t->name, "min normal", f.min_normal, t->min_normal);
        equal(t->name, "min positive", f.min_positive, t->min_positive);
        equal_code(t->name, "the code of max", f.max_code, t->max_code);
        equal(t->name, "the value of max's code", ulp_decode(t->max_code, &f), t->max);
        equal(t->name, "has infinities", f.has_inf, t->inf_code != NONE);
        if (t->inf_code != NONE) {
            equal_code(t->name, "the code of Inf", f.inf_code, t->inf_code);
            equal(t->name, "the value of Inf's code", ulp_decode(t->inf_code, &f), INFINITY);
        }
        equal(t->name, "default overflow", f.overflow, t->overflow);
        equal(t->name, "has -0", f.has_neg_zero, t->neg_zero);
        equal(t->name, "has NaN", f.nan_codes != ULP_NAN_NONE, t->first_nan != NONE);
        uint64_t sign = t->lowest < 0 && t->first_nan != 0x80 ? (uint64_t)1 << (t->bits - 1) : 0, nan = t->first_nan;
        for (int i = 0; i < 4 && nan != NONE; i++) {
            nan = (i & 1) ? t->last_nan : t->first_nan;
            equal(t->name, "the value of a NaN code", ulp_decode(nan | (i & 2 ? sign : 0), &f), NAN);
        }
        for (const char *a = t->aliases; *a != '\0'; a += strcspn(a, " "), a += *a == ' ') {
            char alias[ULP_NAME_MAX];
            snprintf(alias, sizeof alias, "%.*s", (int)strcspn(a, " "), a);
            ulp_format same_format = named(alias);
            equal_formats(&same_format, &f);
        }
    }
}

/* Check the numbers that ulp_format_init() derives against those of the oracle. */
static void check_derived(const ulp_format *f) {
    ulp_reference *ref = ulp_reference_new(f);
    assert_non_null(ref);
    equal(f->name, "max", f->max, ulp_reference_max(ref));
    equal(f->name, "lowest", f->lowest, ulp_reference_lowest(ref));
    equal(f->name, "min normal", f->min_normal, ulp_reference_min_normal(ref));
    equal(f->name, "min positive", f->min_positive, ulp_reference_min_positive(ref));
    equal(f->name, "the value of max's code", ulp_reference_decode(ref, f->max_code), f->max);
    if (f->has_inf) equal(f->name, "the value of Inf's code", ulp_reference_decode(ref, f->inf_code), INFINITY);
    if (f->nan_codes != ULP_NAN_NONE)
        equal(f->name, "the value of the NaN code", ulp_reference_decode(ref, f->nan_code), NAN);
    ulp_reference_free(ref);
    assert_true(f->overflow != ULP_OVERFLOW_DEFAULT && f->overflow < ULP_OVERFLOW_COUNT);
    ulp_format again;
    memset(&again, 0, sizeof again);
    if (ulp_format_parse(&again, f->name) != ULP_OK)
        fail_msg("%s: ulp_format_parse() refuses the format's own name", f->name);
    equal_formats(&again, f);
}

static void upper(char to[64], const char *from) {
    size_t i = 0;
    for (; i < 63 && from[i] != '\0'; i++) to[i] = (char)(from[i] >= 'a' && from[i] <= 'z' ? from[i] - 32 : from[i]);
    to[i] = '\0';
}

TEST(registry) {
    assert_true(ulp_format_count >= ROWS);
    for (size_t i = 0; i < ulp_format_count; i++) {
        ulp_format f, g;
        const ulp_format_row *text;
        memset(&f, 0, sizeof f), memset(&g, 0, sizeof g);
        assert_ok(ulp_format_get(i, &f, &text));
        assert_ok(ulp_format_get(i, NULL, NULL));
        assert_string_equal(f.name, text->name);
        assert_true(text->source[0] != '\0');
        check_derived(&f);
        char words[256], upper_case[64];
        snprintf(words, sizeof words, "%s %s", text->name, text->aliases);
        for (char *at = words, *word; (word = strtok(at, " ")) != NULL; at = NULL) {
            upper(upper_case, word);
            assert_ok(ulp_format_parse(&g, word));
            equal_formats(&f, &g);
            assert_ok(ulp_format_parse(&g, upper_case));
            equal_formats(&f, &g);
        }
    }
    ulp_format f;
    const ulp_format_row *text;
    assert_int_equal(ulp_format_get(ulp_format_count, &f, &text), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_format_get(SIZE_MAX, &f, &text), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_format_parse(NULL, "fp16"), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_format_parse(&f, NULL), ULP_BAD_ARGUMENT);
}

/* ---- families ---- */

TEST(ieee_like) {
    for (int x = 1; x <= 11; x++)
        for (int y = 0; y <= 52; y++)
            for (int ieee = 0; ieee < 2; ieee++) {
                char name[64];
                snprintf(name, sizeof name, "e%dm%d%s", x, y, ieee ? "ieee" : "");
                ulp_format f = named(name);
                check_derived(&f);
                if (strstr(" e4m3 e3m2 e2m3 e2m1 e8m0 ", name) != NULL) continue; /* OCP formats have other rules */
                assert_int_equal(f.bits, 1 + x + y);
                assert_int_equal(f.prec, y + 1);
                assert_int_equal(f.bias, (1 << (x - 1)) - 1);
                assert_true(f.is_signed && f.has_inf && f.has_neg_zero && f.has_subnormals && f.has_zero);
                equal_code(name, "the code of Inf", f.inf_code, ((1ull << x) - 1) << y);
                assert_int_equal(f.nan_codes, y > 0 ? ULP_NAN_IEEE : ULP_NAN_NONE);
            }
}

static void check_fixed(int i, int frac, int is_signed) {
    char name[64];
    snprintf(name, sizeof name, "%sQ%d.%d", is_signed ? "" : "u", i, frac);
    ulp_format f = named(name);
    check_derived(&f);
    assert_true(f.is_fixed && f.bits == i + frac && f.frac_bits == frac && f.overflow == ULP_OVERFLOW_SAT);
    assert_int_equal(f.is_signed, is_signed);
    equal(name, "max", f.max, ldexp(1, i - is_signed) - ldexp(1, -frac));
    equal(name, "lowest", f.lowest, is_signed ? -ldexp(1, i - 1) : 0);
    equal(name, "min positive", f.min_positive, ldexp(1, -frac));
    equal(name, "the value of max's code", ulp_decode(f.max_code, &f), f.max);
    equal(name, "the value of the next code", ulp_decode(f.max_code + 1, &f), f.lowest);
}

TEST(fixed) {
    unsigned count = 0;
    for (int i = -32; i <= ULP_FIXED_MOST; i++)
        for (int frac = i < 1 ? 1 - i : 0; i + frac <= ULP_FIXED_MOST; frac++, count++)
            for (int is_signed = 0; is_signed < 2; is_signed++) check_fixed(i, frac, is_signed);
    assert_true(count > 3000);
}

/* All K and P of every kind; formats with values beyond binary64 are refused. P3109 v4.0, section 4. */
TEST(p3109) {
    int taken = 0;
    for (int k = 1; k <= 18; k++)
        for (int p = 0; p <= 18; p++)
            for (int kind = 0; kind < 4; kind++) {
                int is_signed = kind < 2, extended = kind % 2, field = k - p - is_signed;
                char name[64];
                snprintf(name, sizeof name, "binary%dp%d%c%c", k, p, is_signed ? 's' : 'u', extended ? 'e' : 'f');
                ulp_format f;
                memset(&f, 0, sizeof f);
                ulp_status status = ulp_format_parse(&f, name);
                int good = k >= 3 && k <= 16 && p >= 1 && field >= 0 && field <= 10;
                if ((status == ULP_OK) != good || (!good && status != ULP_NOT_IN_RANGE))
                    fail_msg("%s: %s", name, ulp_status_text(status));
                if (!good) continue;
                taken++;
                check_derived(&f);
                assert_true(f.bits == k && f.prec == p && f.bias == 1 << field && f.is_signed == is_signed &&
                            f.has_inf == extended);
                assert_true(!f.has_neg_zero && f.has_zero && f.has_subnormals);
                equal_code(name, "the NaN code", f.nan_code, is_signed ? 1ull << (k - 1) : (1ull << k) - 1);
                assert_int_equal(f.overflow, extended ? ULP_OVERFLOW_INF : ULP_OVERFLOW_SAT);
            }
    assert_true(taken > 400);
}

TEST(ad_hoc) {
    ulp_format f;
    size_t i = 0;
    for (; test_format(i, &f); i++) check_derived(&f);
    assert_true(i > ulp_format_count);
}

/* ---- suffixes ---- */

TEST(suffixes) {
    for (size_t i = 0; i < ulp_format_count; i++)
        for (int policy = ULP_OVERFLOW_INF; policy < ULP_OVERFLOW_COUNT; policy++)
            for (int nosub = 0; nosub < 3; nosub++) { /* without :nosub; :nosub after the policy; before it */
                const ulp_format_row *text;
                ulp_format base, f;
                char name[64], policy_text[16];
                ulp_format_get(i, &base, &text);
                snprintf(policy_text, sizeof policy_text, ":%s", ulp_overflow_name((ulp_overflow)policy));
                snprintf(name, sizeof name, "%s%s%s%s", text->name, nosub == 2 ? ":nosub" : "", policy_text,
                         nosub == 1 ? ":nosub" : "");
                int no_wrap = policy == ULP_OVERFLOW_WRAP && !base.is_fixed,
                    no_nosub = nosub && (base.is_fixed || !base.has_subnormals);
                if (no_wrap || no_nosub) {
                    assert_int_equal(ulp_format_parse(&f, name), ULP_UNSUPPORTED);
                    continue;
                }
                f = named(name);
                assert_string_equal(f.name, name);
                assert_int_equal(f.overflow, policy);
                assert_int_equal(f.has_subnormals, base.has_subnormals && !nosub);
                equal(name, "min positive", f.min_positive, nosub ? base.min_normal : base.min_positive);
                equal(name, "max", f.max, base.max);
                check_derived(&f);
            }
}

/* The suffix :bias=N: tables 4 and 5 of Tesla's text on CFloat8, normal numbers from 2^(1-N) on. */
TEST(bias) {
    ulp_format f;
    for (int bias = 0; bias <= 63; bias++)
        for (int wide = 0; wide < 2; wide++) {
            char name[64];
            snprintf(name, sizeof name, "cfloat8_1_%s:bias=%d", wide ? "5_2" : "4_3", bias);
            f = named(name);
            check_derived(&f);
            assert_string_equal(f.name, name);
            equal(name, "min normal", f.min_normal, ldexp(1, 1 - bias));
            equal(name, "min positive", f.min_positive, ldexp(1, (wide ? -1 : -2) - bias));
            equal(name, "max", f.max, wide ? ldexp(1.75, 31 - bias) : ldexp(1.875, 15 - bias));
        }
    static const struct {
        const char *name;
        ulp_status status;
    } rows[] = {{"cfloat8_1_4_3:bias=64", ULP_NOT_IN_RANGE},
                {"cfloat8_1_4_3:bias=", ULP_BAD_NAME},
                {"cfloat8_1_4_3:bias=-1", ULP_BAD_NAME},
                {"cfloat8_1_4_3:bias=07", ULP_BAD_NAME},
                {"cfloat8_1_4_3:bias=7x", ULP_BAD_NAME},
                {"cfloat8_1_4_3:bias=7:bias=7", ULP_BAD_NAME},
                {"q8.8:bias=3", ULP_UNSUPPORTED},
                {"posit8:bias=3", ULP_UNSUPPORTED},
                {"binary64:bias=3", ULP_NOT_IN_RANGE},
                {"cfloat8_1_3_4", ULP_BAD_NAME},
                {"CFloat8_1_5_2:SAT:BIAS=3:nosub", ULP_OK}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (ulp_format_parse(&f, rows[i].name) != rows[i].status) fail_msg("%s: another status", rows[i].name);
    assert_non_null(strstr(ulp_format_limits("cfloat8_1_4_3:sat:bias=64"), "from 0 to 63"));
    assert_non_null(strstr(ulp_format_limits("binary64:bias=2"), "at most 10 bits"));
    assert_non_null(strstr(ulp_format_limits("e11m3:nosub:bias=3"), "at most 10 bits"));
    assert_non_null(strstr(ulp_format_limits("e1m2:nosub:bias=3"), ":nosub"));
    assert_non_null(strstr(ulp_format_limits("e12m3:nosub:bias=3"), "eXmY"));
    assert_non_null(strstr(ulp_format_limits("e12m3:sat"), "eXmY"));
    /* the longest exponent field of binaryKpP has 11 bits, as its limits say */
    assert_ok(ulp_format_parse(&f, "binary16p6uf"));
    assert_int_equal(f.bits - f.prec + 1, 11);
    assert_int_equal(ulp_format_parse(&f, "binary16p5uf"), ULP_NOT_IN_RANGE);
    assert_non_null(strstr(ulp_format_limits("binary16p5uf"), "at most 11 bits"));
}

/* ---- descriptors without a name ---- */

TEST(init) {
    ulp_format f = named("binary16"), bad;
#define REFUSES(status, change) bad = f, change, assert_int_equal(ulp_format_init(&bad), status)
    REFUSES(ULP_OK, bad.bias = 20);
    REFUSES(ULP_NOT_IN_RANGE, bad.prec = 0);
    REFUSES(ULP_NOT_IN_RANGE, bad.prec = 16);
    REFUSES(ULP_NOT_IN_RANGE, bad.prec = 54);
    REFUSES(ULP_NOT_IN_RANGE, bad.bits = 1);
    REFUSES(ULP_NOT_IN_RANGE, bad.bits = 65);
    REFUSES(ULP_NOT_IN_RANGE, bad.bias = 2000);
    REFUSES(ULP_NOT_IN_RANGE, bad.bias = -2000);
    REFUSES(ULP_NOT_IN_RANGE, bad.has_inf = 0);
    REFUSES(ULP_NOT_IN_RANGE, bad.nan_codes = ULP_NAN_NEG_ZERO);
    REFUSES(ULP_UNSUPPORTED, bad.overflow = ULP_OVERFLOW_WRAP);
    REFUSES(ULP_BAD_ARGUMENT, bad.overflow = ULP_OVERFLOW_COUNT);
    f = named("q8.8");
    REFUSES(ULP_OK, bad.overflow = ULP_OVERFLOW_WRAP);
    REFUSES(ULP_NOT_IN_RANGE, bad.bits = 54);
    REFUSES(ULP_NOT_IN_RANGE, bad.bits = 0);
    REFUSES(ULP_NOT_IN_RANGE, bad.frac_bits = 49);
#undef REFUSES
}

/* ulp_format_holds() against a check of every value of the inner format. */
TEST(holds) {
    ulp_format outer, inner;
    size_t yes = 0, no = 0;
    for (size_t i = 0; test_format(i, &inner); i++)
        for (size_t o = 0; test_format(o, &outer); o++) {
            if (inner.bits > 16 || (inner.bits > 10 && (i + o) % 3 != 0)) continue;
            int all = 1;
            for (uint64_t code = 0; all && code < (uint64_t)1 << inner.bits; code++) {
                uint64_t outer_code;
                all = ulp_encode(&outer_code, ulp_decode(code, &inner), &outer) == ULP_OK;
            }
            if (ulp_format_holds(&outer, &inner) != all)
                fail_msg("%s holds %s: ulp_format_holds() says %d, a check of all values says %d", outer.name,
                         inner.name, !all, all);
            yes += (size_t)all;
            no += (size_t)!all;
        }
    assert_true(yes > 200 && no > 1000);
}

/* The rows for code are the registered formats, field by field; two formats differ in their name or their numbers. */
TEST(rows) {
    static const ulp_format *const rows[] = {&ulp_binary64, &ulp_binary32, &ulp_binary16,
                                             &ulp_bfloat16, &ulp_e4m3,     &ulp_e5m2};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const ulp_format *r = rows[i];
        ulp_format f, other;
        memset(&f, 0, sizeof f);
        assert_ok(ulp_format_parse(&f, r->name));
        assert_true(ulp_format_equal(r, &f));
        assert_true(r->emin == f.emin && r->emax == f.emax && r->qmin == f.qmin);
        assert_int_equal(r->fits_binary32, f.fits_binary32);
        assert_true(r->max_code == f.max_code && r->inf_code == f.inf_code && r->nan_code == f.nan_code);
        assert_true(r->max == f.max && r->lowest == f.lowest);
        assert_true(r->min_normal == f.min_normal && r->min_positive == f.min_positive);
        for (size_t j = 0; j < COUNT_OF(rows); j++) assert_int_equal(ulp_format_equal(r, rows[j]), i == j);
        other = f;
        if (i > 0) { /* binary64 has the largest range there is */
            assert_ok(ulp_format_shift(&other, 3));
            assert_false(ulp_format_equal(r, &other));
        }
    }
    ulp_format f;
    assert_ok(ulp_format_parse(&f, "e5m10")); /* the same numbers under another name */
    assert_false(ulp_format_equal(&ulp_binary16, &f));
    assert_ok(ulp_format_parse(&f, "binary16:sat"));
    assert_false(ulp_format_equal(&ulp_binary16, &f));
}

TESTS(NULL, NULL)
