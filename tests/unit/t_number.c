/* t_number.c - the exact value of texts: decimals and hex floats of up to 500 digits round once, in every format and
 * mode.
 *
 * MPFR reads each text with 8000 bits, and the oracle of formats rounds the number as a pair of binary64 numbers, of
 * which the second is rounded to odd: the pair has 106 bits, and no format and mode looks at more than 88.
 */
#include "test.h"
#include <mpfr.h>

#include "base/decimal.h"
#include "formats/rng.h"
#include "kernels/mpfr/reference.h"

#ifndef CASES
#define CASES 25000 /* random texts of each kind */
#endif

enum { PRECISION = 8000, ROOM = 4000 };

static const ulp_stream texts = {.seed = 46};
static uint64_t drawn;
static uint32_t below(uint32_t n) { return ulp_random_word(texts, drawn++) % n; }

/* The numbers hi + lo that round like the text. Returns 0 if they are beyond the range of binary64. */
static int pair_of(double *hi, double *lo, const char *text) {
    mpfr_t x, part;
    mpfr_inits2(PRECISION, x, part, (mpfr_ptr)NULL);
    int inexact = mpfr_strtofr(x, text, NULL, 0, MPFR_RNDZ);
    *hi = mpfr_get_d(x, MPFR_RNDN);
    mpfr_sub_d(x, x, *hi, MPFR_RNDZ);
    *lo = mpfr_get_d(x, MPFR_RNDZ);
    mpfr_set_d(part, *lo, MPFR_RNDZ);
    inexact |= !mpfr_equal_p(part, x);
    const int sign = mpfr_sgn(x);
    mpfr_clears(x, part, (mpfr_ptr)NULL);
    /* x - hi, or what is cut off a zero difference, has the sign of x - hi or else of x */
    if (inexact && *lo == 0) *lo = sign < 0 || (sign == 0 && *hi < 0) ? -0x1p-1000 : 0x1p-1000;
    else if (inexact) *lo = ulp_from_bits64(ulp_bits64(*lo) | 1);
    const double magnitude = *hi < 0 ? -*hi : *hi;
    return magnitude > 0x1p-800 && magnitude < 0x1p1000;
}

/* A format that is drawn: its descriptor and the oracle's. */
typedef struct tried {
    ulp_format format;
    ulp_reference *oracle;
} tried;

static tried *formats;
static size_t format_count;

static void read_formats(void) {
    static const char *const more[] = {"e11m45",    "e10m20",      "e8m23:nosub", "q1.31",
                                       "q8.8:wrap", "q16.16:wrap", "e5m10:sat"};
    format_count = ulp_format_count + COUNT_OF(more);
    formats = calloc(format_count, sizeof *formats);
    assert_non_null(formats);
    for (size_t i = 0; i < format_count; i++) {
        if (i < ulp_format_count) assert_ok(ulp_format_get(i, &formats[i].format, NULL));
        else assert_ok(ulp_format_parse(&formats[i].format, more[i - ulp_format_count]));
        formats[i].oracle = ulp_reference_new(&formats[i].format);
        assert_non_null(formats[i].oracle);
    }
}

static void release_formats(void) {
    for (size_t i = 0; i < format_count; i++) ulp_reference_free(formats[i].oracle);
    free(formats);
}

static void check_value(const char *text, const char *how, const tried *t, ulp_rule rule, uint32_t word, double got,
                        double want) {
    if (ulp_bits64(got) == ulp_bits64(want)) return;
    fail_msg("'%.600s' %s to %s, %s, word %08x: %a, not %a", text, how, t->format.name,
             ulp_mode_name((ulp_mode)rule.mode), (unsigned)word, got, want);
}

/* Round the text to the format in every mode. */
static void check_text(const char *text, const tried *t) {
    double hi, lo;
    if (!pair_of(&hi, &lo, text)) return;
    /* 106 bits are not all that wrap-around looks at where the number is large */
    if (t->format.overflow == ULP_OVERFLOW_WRAP && !(hi > -0x1p20 && hi < 0x1p20)) return;
    char padded[ROOM + ULP_DECIMAL_AFTER] = "";
    strcat(padded, text);
    for (int mode = 0; mode < ULP_MODE_COUNT; mode++) {
        const ulp_rule rule = {.mode = (uint8_t)mode,
                               .random_bits = ulp_mode_is_stochastic((uint32_t)mode) ? (uint8_t)(1 + below(32)) : 0};
        const uint32_t word = ulp_random_word(texts, drawn++);
        const int32_t modulo = ulp_number_modulo(&t->format, rule);
        const double want = ulp_reference_round(t->oracle, hi, lo, rule, word);
        ulp_exact x;
        assert_ok(ulp_exact_read(&x, text, modulo));
        check_value(text, "exactly", t, rule, word, ulp_round_exact(x, &t->format, rule, word), want);
        if (ulp_odd_suffices(&t->format, rule))
            check_value(text, "through odd", t, rule, word, ulp_round(ulp_exact_to_odd(x), &t->format, rule, word),
                        want);
        const char *const after = ulp_decimal_read(&x, padded, ulp_powers_of_ten());
        if (after != NULL && *after == '\0' && modulo == ULP_NUMBER_ALL)
            check_value(text, "fast", t, rule, word, ulp_round_exact(x, &t->format, rule, word), want);
    }
}

/* ---- texts ---- */

static char *add_digits(char *to, size_t n, const char *digits) {
    const uint32_t base = (uint32_t)strlen(digits);
    for (size_t i = 0; i < n; i++) *to++ = digits[below(base)];
    return to;
}

/* A decimal or a hex float of 1 to 500 digits with a magnitude that formats have. */
static void random_text(char *to) {
    const int is_hex = below(4) == 0;
    const char *const digits = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
    const size_t n = 1 + below(below(3) ? 30 : 500), point = below((uint32_t)n + 1);
    if (below(2)) *to++ = '-';
    if (is_hex) to = strcpy(to, "0x") + 2;
    to = add_digits(to, point, digits);
    if (point < n || below(2)) *to++ = '.';
    to = add_digits(to, n - point, digits);
    if (is_hex) sprintf(to, "p%d", (int)below(160) - 80 - 4 * (int)point);
    else if (below(3)) sprintf(to, "e%d", (int)below(80) - 40 - (int)point);
    else *to = '\0';
}

/* The text of the middle between two neighbours of a format, or of one of them, and of numbers that differ from it by a
 * unit of a later digit. Returns 0 if the format has no such numbers of a size that is read here. */
static int border_text(char *to, const ulp_format *f) {
    static const unsigned places[] = {0, 1, 2, 40, 400};
    const unsigned place = places[below(COUNT_OF(places))];
    const int minus = (int)below(2);
    double low = ulp_round(
        ulp_from_bits64((uint64_t)(1023 - 40 + below(80)) << 52 | (uint64_t)ulp_random_word(texts, drawn++) << 20), f,
        (ulp_rule){.overflow = ULP_OVERFLOW_SAT}, 0);
    if (below(8) == 0) low = f->min_positive;
    if (below(8) == 0) low = f->max;
    const double high = ulp_next_up(low, f);
    if (!(low > 0x1p-200 && low < 0x1p200 && high < 0x1p201)) return 0;
    mpfr_t x, unit;
    mpfr_inits2(PRECISION, x, unit, (mpfr_ptr)NULL);
    mpfr_set_d(x, low, MPFR_RNDN);
    if (below(4)) {
        mpfr_add_d(x, x, high, MPFR_RNDN);
        mpfr_div_2ui(x, x, 1, MPFR_RNDN);
    }
    const unsigned digits = 260 + place; /* the middle has at most 260 digits after the point */
    mpfr_ui_pow_ui(unit, 10, digits, MPFR_RNDN);
    mpfr_ui_div(unit, place ? 1 : 0, unit, MPFR_RNDN);
    if (minus) mpfr_sub(x, x, unit, MPFR_RNDN);
    else mpfr_add(x, x, unit, MPFR_RNDN);
    if (f->is_signed && below(2)) mpfr_neg(x, x, MPFR_RNDN);
    mpfr_snprintf(to, ROOM, "%.*RNf", (int)digits, x);
    mpfr_clears(x, unit, (mpfr_ptr)NULL);
    return 1;
}

TEST(random_numbers) {
    char text[ROOM];
    read_formats();
    for (int i = 0; i < CASES; i++) {
        random_text(text);
        for (int j = 0; j < 4; j++) check_text(text, &formats[below((uint32_t)format_count)]);
    }
    release_formats();
}

TEST(borders) {
    char text[ROOM];
    size_t tried_texts = 0;
    read_formats();
    for (int i = 0; i < CASES; i++) {
        const tried *const t = &formats[(size_t)i % format_count];
        if (!border_text(text, &t->format)) continue;
        tried_texts++;
        check_text(text, t);
    }
    assert_true(tried_texts > CASES / 2);
    release_formats();
}

/* ---- forms, and the ends of the range ---- */

static double read_as(const char *text, const char *format, ulp_mode mode) {
    ulp_format f;
    ulp_exact x;
    const ulp_rule rule = {.mode = (uint8_t)mode};
    assert_ok(ulp_format_parse(&f, format));
    assert_ok(ulp_exact_read(&x, text, ulp_number_modulo(&f, rule)));
    return ulp_round_exact(x, &f, rule, 0);
}

static void check_as(const char *text, const char *format, ulp_mode mode, double want) {
    const double got = read_as(text, format, mode);
    if (ulp_bits64(got) != ulp_bits64(want))
        fail_msg("'%.60s' to %s, %s: %a, not %a", text, format, ulp_mode_name(mode), got, want);
}

TEST(forms) {
    static const char good[] =
        "1 +1 -1 1. .5 0x1 0X.8P1 1E5 1e+05 inf -INF Infinity nan NaN 00.00 0x0p99999999999999999999 "
        "1e-99999999999999999999 0x1.8p-3 1e00000000000000000000000005";
    static const char bad[] =
        "+ - . e5 1e 1e+ 0x 0xp1 0x.p1 0x1p 1.2.3 1e5.5 infin nanx nan(1) --1 1,5 1_000 0b1 1e5x 0x1g 1p5 \xe2\x88\x92"
        "1";
    ulp_exact x;
    for (size_t i = 0; *word_of(good, i); i++) assert_ok(ulp_exact_read(&x, word_of(good, i), ULP_NUMBER_ALL));
    for (size_t i = 0; *word_of(bad, i); i++)
        if (ulp_exact_read(&x, word_of(bad, i), ULP_NUMBER_ALL) != ULP_BAD_ARGUMENT)
            fail_msg("'%s' is taken", word_of(bad, i));
    assert_int_equal(ulp_exact_read(&x, "", ULP_NUMBER_ALL), ULP_BAD_ARGUMENT);
    assert_int_equal(ulp_exact_read(&x, " 1", ULP_NUMBER_ALL), ULP_BAD_ARGUMENT);
}

TEST(ends_of_the_range) {
    check_as("2049.00000000000000001", "fp16", ULP_RNE, 2050);
    check_as("2049", "fp16", ULP_RNE, 2048);
    check_as("8.8817857851880284252e-16", "fp32", ULP_RNE, 0x1.000002p-50);
    check_as("0.1", "fp64", ULP_RD, 0x1.9999999999999p-4);
    check_as("4611686018427387904e0", "bf16", ULP_RNE, 0x1p62);
    check_as("4629700416936869889", "bf16", ULP_RNE, 0x1.02p62); /* 2^62 + 2^54 + 1 */
    check_as("1e400", "fp64", ULP_RZ, 0x1.fffffffffffffp1023);
    check_as("-1e99999999999", "fp64", ULP_RNE, -1.0 / 0.0);
    check_as("1e-400", "fp64", ULP_RU, 0x1p-1074);
    check_as("-1e-99999999999", "fp16", ULP_RD, -0x1p-24);
    check_as("1e-400", "e8m0", ULP_RNE, 0x1p-127);
    check_as("2.4703282292062327208e-324", "fp64", ULP_RNE, 0.0);       /* below 2^-1075 */
    check_as("2.4703282292062327209e-324", "fp64", ULP_RNE, 0x1p-1074); /* above */
    check_as("0x1p-1075", "fp64", ULP_RNE, 0.0);
    check_as("0x1.00000000000000000000000000000000000000000000000000000000000000000000000001p-1075", "fp64", ULP_RNE,
             0x1p-1074);
    check_as("1000000000000000000000000000000", "q16.16:wrap", ULP_RNE, 0.0);             /* a multiple of 2^30 */
    check_as("340282366920938463463374607431768211457.25", "q16.16:wrap", ULP_RNE, 1.25); /* 2^128 + 1.25 */
    check_as("-340282366920938463463374607431768211457.25", "q16.16:wrap", ULP_RNE, -1.25);
    check_as("0x1.0000000000000000000000000000000000004p152", "q16.16:wrap", ULP_RNE, 64.0);
    check_as("1e500", "q16.16:wrap", ULP_RNE, 0.0);
}

TEST(long_texts) {
    static char text[ULP_NUMBER_LONGEST + 2];
    ulp_exact x;
    memset(text, '9', ULP_NUMBER_LONGEST);
    memcpy(text, "0.", 2);
    assert_ok(ulp_exact_read(&x, text, ULP_NUMBER_ALL));
    assert_true(x.hi == UINT64_MAX && x.lo == UINT64_MAX && x.sticky);
    check_as(text, "fp64", ULP_RZ, 0x1.fffffffffffffp-1);
    text[2] = '\0';
    strcat(text, "9");
    memset(text + 3, '0', ULP_NUMBER_LONGEST - 3);
    assert_ok(ulp_exact_read(&x, text, ULP_NUMBER_ALL));
    memset(text, '1', ULP_NUMBER_LONGEST + 1);
    assert_int_equal(ulp_exact_read(&x, text, ULP_NUMBER_ALL), ULP_BAD_ARGUMENT);
}

TESTS(NULL, NULL)
