/* t_decimal.c - decimal texts: numbers read and printed without strtod and printf are those of strtod and printf. */
#include <float.h>

#include "test.h"
#include <mpfr.h>

#include "base/decimal.h"
#include "formats/round.h"

#ifndef CASES
#define CASES 300000 /* random texts of each kind */
#endif

static uint64_t state_of_random = 88172645463325252u;

static uint64_t next_random(void) {
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    return state_of_random ^= state_of_random << 17;
}

static double random_number(void) {
    double x;
    do x = ulp_from_bits64(next_random());
    while (!(x - x == 0));
    return x;
}

/* ---- powers ---- */

TEST(powers) {
    const ulp_power_of_ten *const powers = ulp_powers_of_ten();
    mpfr_t x;
    mpfr_init2(x, 1400);
    for (int q = ULP_POWERS_FIRST; q <= ULP_POWERS_LAST; q++) {
        const ulp_power_of_ten *const p = &powers[q - ULP_POWERS_FIRST];
        mpfr_ui_pow_ui(x, 10, (unsigned long)abs(q), MPFR_RNDZ); /* exact */
        if (q < 0) mpfr_ui_div(x, 1, x, MPFR_RNDZ);
        mpfr_mul_2si(x, x, -p->exponent - 64, MPFR_RNDZ);
        assert_true(p->high >> 63 == 1);
        assert_true(mpfr_get_uj(x, MPFR_RNDZ) == p->high);
        mpfr_frac(x, x, MPFR_RNDZ);
        mpfr_mul_2si(x, x, 64, MPFR_RNDZ);
        assert_true(mpfr_get_uj(x, MPFR_RNDZ) == p->low);
        assert_int_equal(mpfr_integer_p(x), q >= 0 && q <= ULP_POWERS_EXACT);
        if (p->low == 0) assert_true(q >= 0 && q <= ULP_POWERS_EXACT); /* what the printer takes for granted */
    }
    mpfr_clear(x);
}

/* ---- reading ---- */

static size_t read_count, decided_count;

/* Both readers give the binary64 number of strtod; the fast one may leave the text to the other. */
static void check_read(const char *text) {
    static char whole[1 << 16];
    char *end;
    ulp_exact exact;
    const double want = strtod(text, &end);
    memcpy(whole, text, (size_t)(end - text));
    whole[end - text] = '\0';
    assert_ok(ulp_exact_read(&exact, whole, ULP_NUMBER_ALL));
    const double slow = ulp_round_exact(exact, &ulp_binary64, (ulp_rule){0}, 0);
    if (ulp_bits64(slow) != ulp_bits64(want)) fail_msg("'%.100s': %a, not %a", whole, slow, want);
    const char *const behind = ulp_decimal_read(&exact, text, ulp_powers_of_ten());
    read_count++;
    if (behind == NULL) return;
    decided_count++;
    const double x = ulp_round_exact(exact, &ulp_binary64, (ulp_rule){0}, 0);
    if (behind != end || ulp_bits64(x) != ulp_bits64(want))
        fail_msg("'%.100s': %a and %zu characters, not %a and %zu", text, x, (size_t)(behind - text), want,
                 (size_t)(end - text));
}

static void check_decided(size_t least_percent) {
    if (100 * decided_count < least_percent * read_count)
        fail_msg("%zu of %zu texts are decided, less than %zu %%", decided_count, read_count, least_percent);
    read_count = decided_count = 0;
}

TEST(forms) {
    static const char forms[] =
        "1 .5 5. -.5e3 +1e5 -0 +0.000 0e5 -0e-400 00001.50 1E5 1e+05 1e-05x 1.2.3 1e5.5 123456789012345678 "
        "1234567890123456789 12345678901234567890 9007199254740993 9007199254740993.0 "
        "9007199254740992.99999999999999999999999999 9007199254740993.00000000000000000000000001 "
        "0.1000000000000000055511151231257827021181583404541015625 1e22 1e23 8.5e22 1e400 -1e400 1e-400 1e308 "
        "1.7976931348623157e308 1.7976931348623158e308 1.7976931348623159e308 4.9e-324 2.4703282292062327e-324 "
        "2.4703282292062328e-324 2.2250738585072011e-308 2.2250738585072014e-308 1e-307 1e00000000000000005 "
        "1e99999999999999999999 0.00000000000000000000000000000000000000012345678901234567890e45 "
        "0.000000000000000000000000000000000000000000000000000000000000000000 "
        "100000000000000000000000000000000000000000000000000000000000000000000 0.3e-342 1e-342 "
        "9999999999999999999e-342";
    static const char blank[][200] = {"7 ", "7\n", "7\r\n"};
    static const char *const none[] = {"",     ".",  "-",   "+",   "e5",   "-e5", "1e", "1e+",
                                       "1e-x", " 1", "inf", "nan", "-inf", "+-1", "\n", "x"};
    for (size_t i = 0; *word_of(forms, i); i++) check_read(word_of(forms, i));
    for (size_t i = 0; i < COUNT_OF(blank); i++) check_read(blank[i]);
    check_decided(50);
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        char text[20] = "";
        ulp_exact x;
        strcat(text, none[i]);
        assert_null(ulp_decimal_read(&x, text, ulp_powers_of_ten()));
    }
}

/* 1 to 24 random digits, a point among them or not, an exponent or not. */
static void random_text(char *to) {
    const int digits = 1 + (int)(next_random() % 24), point = (int)(next_random() % 30);
    if (next_random() % 4 == 0) *to++ = next_random() % 4 ? '-' : '+';
    for (int i = 0; i < digits; i++) {
        if (i == point) *to++ = '.';
        *to++ = (char)('0' + next_random() % (next_random() % 4 ? 10 : 1));
    }
    if (next_random() % 2) sprintf(to, "e%d", (int)(next_random() % 700) - 350);
    else strcpy(to, "\n");
}

TEST(random_texts) {
    char text[200] = "";
    for (int i = 0; i < CASES; i++) {
        random_text(text);
        check_read(text);
    }
    check_decided(75); /* none of more than 19 digits */
    for (int i = 0; i < CASES / 4; i++) {
        const double x = random_number();
        sprintf(text, "%.*g", 1 + i % 25, x);
        check_read(text);
        sprintf(text, "%.17g", x);
        check_read(text);
        sprintf(text, "%.*f", i % 20, (double)(int64_t)next_random() * 0x1p-50);
        check_read(text);
    }
    check_decided(80);
}

/* The middle between two neighbours, all its digits, some of its digits, and numbers just above and below it. */
TEST(halfway) {
    static char text[2000], cut[2000];
    for (int i = 0; LDBL_MANT_DIG >= 64 && i < CASES / 30; i++) {
        const int e = (int)(next_random() % 2000) - 1000, few = i % 3 == 0;
        const uint64_t odd =
            few ? 2 * (next_random() % 4096 + (1ull << 52)) + 1 : (next_random() >> 11 | 1ull << 52) * 2 + 1;
        const double half = ulp_scale(1.0, i % 2 ? e : (int)(next_random() % 60) - 50);
        sprintf(text, "%.1100Lg", (long double)odd * (long double)half);
        check_read(text);
        const size_t length = strcspn(text, "e");
        for (size_t n = 15; n <= 22 && n < length; n++) {
            sprintf(cut, "%.*s%s", (int)n, text, text + length);
            check_read(cut);
            sprintf(cut, "%.*s1%s", (int)n, text, text + length);
            check_read(cut);
        }
        sprintf(cut, "%.*s%s1%s", (int)length, text, strchr(text, '.') ? "" : ".", text + length);
        check_read(cut);
    }
    read_count = decided_count = 0;
}

TEST(long) {
    static char text[1 << 16];
    for (int i = 0; i < 300; i++) {
        const size_t n = 20 + next_random() % 500, point = next_random() % 600, zeros = next_random() % 400;
        size_t at = 0;
        if (i % 2) at += (size_t)sprintf(text, "0.%0*d", (int)zeros + 1, 0);
        for (size_t k = 0; k < n; k++) {
            if (i % 2 == 0 && k == point) text[at++] = '.';
            text[at++] = (char)('0' + next_random() % 10);
        }
        text[at] = '\0';
        if (i % 3) sprintf(text + at, "e%d", (int)(next_random() % 800) - 400);
        check_read(text);
    }
    read_count = decided_count = 0;
    memset(text, '7', sizeof text - 9);
    memset(text + sizeof text - 9, 0, 9);
    check_read(text);
    memset(text, '0', sizeof text - 9);
    check_read(text);
    text[1] = '.';
    check_read(text);
    strcpy(text + sizeof text - 30, "123456789e200");
    check_read(text);
}

/* ---- printing ---- */

static void check_print(double x) {
    char got[ULP_DECIMAL_ROOM + 1], want[64];
    const int length = ulp_decimal_print(got, x, ulp_powers_of_ten());
    assert_true(length > 0 && length <= 24);
    got[length] = '\0';
    if (x != x) strcpy(want, "nan");
    else sprintf(want, "%.17g", x);
    if (strcmp(got, want) != 0) fail_msg("%a: '%s', not '%s'", x, got, want);
}

TEST(print) {
    static const char some[] =
        "0.0 -0.0 1 -1 0.1 100 1e15 1e16 1e17 1e18 99999999999999984 123456 1e-4 1e-5 9.9999999999999991e-05 "
        "0x1p-1074 0x1p-1022 0x1.fffffffffffffp1023 -0x1.fffffffffffffp1023 0x1p53 5e-324 1e22 1e23";
    for (size_t i = 0; *word_of(some, i); i++) check_print(strtod(word_of(some, i), NULL));
    check_print(ulp_quiet_nan());
    check_print(-ulp_quiet_nan());
    check_print(ulp_from_bits64(0x7ff0000000000000u));
    check_print(ulp_from_bits64(0xfff0000000000000u));
    for (int e = -1074; e <= 1023; e++) { /* around the powers of two and the powers of ten */
        check_print(ulp_scale(1.0, e));
        check_print(ulp_from_bits64(ulp_bits64(ulp_scale(1.0, e)) - 1));
    }
    for (int q = -323; q <= 308; q++) {
        char text[20];
        sprintf(text, "1e%d", q);
        const uint64_t near = ulp_bits64(strtod(text, NULL));
        for (uint64_t d = 0; d < 4; d++) {
            check_print(ulp_from_bits64(near + d));
            check_print(ulp_from_bits64(near - d));
        }
    }
    for (int i = 0; i < CASES / 2; i++) check_print(random_number());
    for (int i = 0; i < CASES / 4; i++) { /* few bits: exact decimals and ties of the 17th digit */
        check_print(ulp_scale((double)(next_random() >> 40), (int)(next_random() % 80) - 60));
        check_print((double)ulp_from_bits32((uint32_t)next_random()));
        check_print((double)(int64_t)next_random());
    }
}

/* ---- hex texts ---- */

/* The C library may print subnormal numbers in another way; glibc is the one that prints them in this way. */
static void check_hex(double x) {
    char want[64];
    const char *const got = ULP_HEX(x);
    sprintf(want, "%a", x);
#if defined(__GLIBC__)
    assert_string_equal(got, want);
#else
    if (x == 0 || ulp_bits64(x) >> 52 & 0x7ff) assert_string_equal(got, want);
#endif
    if (x == x) assert_true(ulp_bits64(strtod(got, NULL)) == ulp_bits64(x));
}

TEST(hex) {
    assert_string_equal(ULP_HEX(0x1p-1074), "0x0.0000000000001p-1022");
    assert_string_equal(ULP_HEX(-0x1.8p-1040), "-0x0.00006p-1022");
    assert_string_equal(ULP_HEX(0x1p-1023), "0x0.8p-1022");
    assert_string_equal(ULP_HEX(-0x1.fffffffffffffp-1022), "-0x1.fffffffffffffp-1022");
    assert_string_equal(ULP_HEX(-0.0), "-0x0p+0");
    assert_string_equal(ULP_HEX(1.0), "0x1p+0");
    for (int e = -1074; e <= 1023; e++) {
        check_hex(ulp_scale(1.0, e));
        check_hex(-ulp_from_bits64(ulp_bits64(ulp_scale(1.0, e)) - 1));
    }
    check_hex(ulp_quiet_nan());
    check_hex(ulp_from_bits64(0xfff0000000000000u));
    for (int i = 0; i < CASES / 4; i++) {
        const uint64_t bits = next_random();
        check_hex(ulp_from_bits64(bits));
        check_hex(ulp_from_bits64(bits & 0x800fffffffffffffu));
        check_hex(ulp_from_bits64(bits & ~0ull << next_random() % 64));
    }
}

TESTS(NULL, NULL)
