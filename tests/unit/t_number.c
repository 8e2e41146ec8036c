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

/* A text, and for stochastic modes the bits and the word. */
typedef struct written {
    char text[ROOM];
    int random_bits;
    uint32_t word;
} written;

static void check_value(const written *w, const char *how, const tried *t, ulp_rule rule, double got, double want) {
    if (ulp_bits64(got) == ulp_bits64(want)) return;
    fail_msg("'%.600s' %s to %s, %s/%d, word %08x: %a, not %a", w->text, how, t->format.name,
             ulp_mode_name((ulp_mode)rule.mode), rule.random_bits, (unsigned)w->word, got, want);
}

/* Round the text to the format in every mode. */
static void check_text(const written *w, const tried *t) {
    double hi, lo;
    if (!pair_of(&hi, &lo, w->text)) return;
    /* 106 bits are not all that wrap-around looks at where the number is large */
    if (t->format.overflow == ULP_OVERFLOW_WRAP && !(hi > -0x1p20 && hi < 0x1p20)) return;
    char padded[ROOM + ULP_DECIMAL_AFTER] = "";
    strcat(padded, w->text);
    for (int mode = 0; mode < ULP_MODE_COUNT; mode++) {
        const int bits = ulp_mode_is_stochastic((uint32_t)mode) ? w->random_bits : 0;
        const ulp_rule rule = {.mode = (uint8_t)mode, .random_bits = (uint8_t)bits};
        const int32_t modulo = ulp_number_modulo(&t->format, rule);
        const double want = ulp_reference_round(t->oracle, hi, lo, rule, w->word);
        ulp_exact x;
        assert_ok(ulp_exact_read(&x, w->text, modulo));
        check_value(w, "exactly", t, rule, ulp_round_exact(x, &t->format, rule, w->word), want);
        if (ulp_odd_suffices(&t->format, rule))
            check_value(w, "through odd", t, rule, ulp_round(ulp_exact_to_odd(x), &t->format, rule, w->word), want);
        const char *const after = ulp_decimal_read(&x, padded, ulp_powers_of_ten());
        if (after != NULL && *after == '\0' && modulo == ULP_NUMBER_ALL)
            check_value(w, "fast", t, rule, ulp_round_exact(x, &t->format, rule, w->word), want);
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

/* x = a point between two neighbours of a format at which a mode changes its mind: a neighbour, the middle, or the
 * place where one more word of a stochastic mode rounds up; w gets this word. Returns 0 if the format has no such
 * numbers of a size that is read here. */
static int border(mpfr_t x, written *w, const ulp_format *f) {
    const uint64_t drawn_bits = (uint64_t)(983u + below(80)) << 52 | (uint64_t)ulp_random_word(texts, drawn++) << 20;
    double low = ulp_round(ulp_from_bits64(drawn_bits), f, (ulp_rule){.overflow = ULP_OVERFLOW_SAT}, 0);
    if (below(8) == 0) low = f->min_positive;
    if (below(8) == 0) low = f->max;
    const double high = ulp_next_up(low, f);
    if (!(low > 0x1p-200 && low < 0x1p200 && high < 0x1p201)) return 0;
    const int kind = (int)below(4), r = w->random_bits, half = kind > 2;
    const uint64_t part = ((uint64_t)ulp_random_word(texts, drawn++) >> (32 - r)) % (UINT64_C(1) << r);
    mpfr_set_d(x, low, MPFR_RNDN);
    if (kind == 0) return 1;
    if (kind > 1) { /* low + (high - low) (part + half / 2) / 2^r */
        mpfr_d_sub(x, high, x, MPFR_RNDN);
        mpfr_mul_d(x, x, (double)(2 * part + (uint64_t)half), MPFR_RNDN);
        mpfr_div_2ui(x, x, (unsigned long)r + 1, MPFR_RNDN);
        mpfr_add_d(x, x, low, MPFR_RNDN);
        w->word = (uint32_t)((UINT64_C(1) << r) - part - (uint64_t)half) << (32 - r);
        return 1;
    }
    mpfr_add_d(x, x, high, MPFR_RNDN);
    mpfr_div_2ui(x, x, 1, MPFR_RNDN);
    return 1;
}

/* The text of a border, and of numbers that differ from it by a unit of a later digit. */
static int border_text(written *w, const ulp_format *f) {
    static const unsigned places[] = {0, 1, 2, 40, 400};
    const unsigned place = places[below(COUNT_OF(places))],
                   digits = 300 + place; /* a border has fewer than 300 digits */
    mpfr_t x, unit;
    mpfr_inits2(PRECISION, x, unit, (mpfr_ptr)NULL);
    const int found = border(x, w, f);
    if (found) {
        mpfr_ui_pow_ui(unit, 10, digits, MPFR_RNDN);
        mpfr_si_div(unit, place == 0 ? 0 : below(2) ? 1 : -1, unit, MPFR_RNDN);
        mpfr_add(x, x, unit, MPFR_RNDN);
        if (f->is_signed && below(2)) mpfr_neg(x, x, MPFR_RNDN);
        mpfr_snprintf(w->text, ROOM, "%.*RNf", (int)digits, x);
    }
    mpfr_clears(x, unit, (mpfr_ptr)NULL);
    return found;
}

static written drawn_words(void) {
    written w = {.random_bits = 1 + (int)below(32)};
    w.word = ulp_random_word(texts, drawn++);
    return w;
}

TEST(random_numbers) {
    read_formats();
    for (int i = 0; i < CASES; i++) {
        written w = drawn_words();
        random_text(w.text);
        for (int j = 0; j < 4; j++) check_text(&w, &formats[below((uint32_t)format_count)]);
    }
    release_formats();
}

/* Few digits: many of these numbers are numbers of the formats. */
TEST(short_numbers) {
    read_formats();
    for (int i = 0; i < CASES; i++) {
        written w = drawn_words();
        snprintf(w.text, ROOM, "%s%u%s%se%d", below(2) ? "-" : "", below(1000), below(2) ? "." : "",
                 below(2) ? (const char *[]){"5", "25", "75", "125", "0625"}[below(5)] : "0", (int)below(12) - 6);
        for (int j = 0; j < 4; j++) check_text(&w, &formats[below((uint32_t)format_count)]);
    }
    release_formats();
}

TEST(borders) {
    size_t tried_texts = 0;
    read_formats();
    for (int i = 0; i < 2 * CASES; i++) {
        const tried *const t = &formats[(size_t)i % format_count];
        written w = drawn_words();
        if (!border_text(&w, &t->format)) continue;
        tried_texts++;
        check_text(&w, t);
    }
    assert_true(tried_texts > CASES);
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
