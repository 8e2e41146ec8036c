/* course_oracle.h - the answers to the questions of `ulp course`, computed by MPFR from the texts of the questions.
 *
 * The oracle shares no code with the keys: it reads the sentence that a student reads, and it knows formats from their
 * names. A value is a double that holds it exactly; every operation is MPFR's in 400 bits, and every rounding MPFR's
 * rounding to an integer in units of the spacing.
 */
#ifndef ULP_TESTS_COURSE_ORACLE_H
#define ULP_TESTS_COURSE_ORACLE_H

#include <mpfr.h>

#include "support.h"

static mpfr_t oracle_x, oracle_y;

static void oracle_start(void) {
    mpfr_init2(oracle_x, 400);
    mpfr_init2(oracle_y, 400);
}

static void oracle_stop(void) {
    mpfr_clears(oracle_x, oracle_y, (mpfr_ptr)0);
    mpfr_free_cache();
}

/* A format of the oracle: significant bits, exponents, the largest number. */
typedef struct oracle_format {
    int p, emin, exponent_bits;
    double max; /* 0: no overflow in the questions */
} oracle_format;

static oracle_format oracle_named(const char *name) {
    int e, m;
    if (strcmp(name, "binary16") == 0) return (oracle_format){11, -14, 5, 65504};
    if (strcmp(name, "bfloat16") == 0) return (oracle_format){8, -126, 8, 0};
    if (strcmp(name, "binary32") == 0) return (oracle_format){24, -126, 8, 0};
    if (strcmp(name, "e4m3") == 0) return (oracle_format){4, -6, 4, 448};
    if (strcmp(name, "e2m1") == 0) return (oracle_format){2, 0, 2, 6};
    if (sscanf(name, "e%dm%d", &e, &m) != 2) fail_msg("the oracle knows no format '%s'", name);
    return (oracle_format){m + 1, 2 - (1 << (e - 1)), e, 0};
}

/* 2^e */
static double oracle_power(int e) {
    mpfr_set_si_2exp(oracle_y, 1, e, MPFR_RNDN);
    return mpfr_get_d(oracle_y, MPFR_RNDN);
}

/* The exponent of the spacing of a format at oracle_x, which is not zero. */
static int oracle_quantum(oracle_format f) {
    const int e = (int)mpfr_get_exp(oracle_x) - 1;
    return (e < f.emin ? f.emin : e) - f.p + 1;
}

static int oracle_quantum_at(double x, oracle_format f) {
    mpfr_set_d(oracle_x, x, MPFR_RNDN);
    return oracle_quantum(f);
}

/* oracle_x rounded to multiples of 2^q: n to nearest even, z toward zero, u up, d down. */
static double oracle_to_multiple(int q, char mode) {
    mpfr_mul_2si(oracle_x, oracle_x, -q, MPFR_RNDN);
    if (mode == 'n') mpfr_roundeven(oracle_x, oracle_x);
    if (mode == 'z') mpfr_trunc(oracle_x, oracle_x);
    if (mode == 'u') mpfr_ceil(oracle_x, oracle_x);
    if (mode == 'd') mpfr_floor(oracle_x, oracle_x);
    mpfr_mul_2si(oracle_x, oracle_x, q, MPFR_RNDN);
    return mpfr_get_d(oracle_x, MPFR_RNDN);
}

/* oracle_x rounded to a format; e4m3 and e2m1 saturate. */
static double oracle_round_x(oracle_format f, char mode) {
    if (mpfr_zero_p(oracle_x)) return mpfr_get_d(oracle_x, MPFR_RNDN);
    const double y = oracle_to_multiple(oracle_quantum(f), mode);
    return f.max != 0 && f.p <= 4 && fabs(y) > f.max ? copysign(f.max, y) : y;
}

static double oracle_round(double x, oracle_format f, char mode) {
    mpfr_set_d(oracle_x, x, MPFR_RNDN);
    return oracle_round_x(f, mode);
}

static double oracle_round_text(const char *decimal, oracle_format f, char mode) {
    if (mpfr_set_str(oracle_x, decimal, 10, MPFR_RNDN) != 0) fail_msg("'%s' is no decimal", decimal);
    return oracle_round_x(f, mode);
}

static double oracle_add(double a, double b, oracle_format f, char mode) {
    mpfr_set_d(oracle_x, a, MPFR_RNDN);
    mpfr_add_d(oracle_x, oracle_x, b, MPFR_RNDN);
    return oracle_round_x(f, mode);
}

/* The value of 5, -0.25, 2^-7 or 3*2^-7. */
static double oracle_value(const char *text) {
    char *end;
    const int negative = *text == '-';
    mpfr_strtofr(oracle_x, text + negative, &end, 10, MPFR_RNDN);
    if (strncmp(text + negative, "2^", 2) == 0) {
        mpfr_set_ui_2exp(oracle_x, 1, strtol(text + negative + 2, &end, 10), MPFR_RNDN);
    } else if (strncmp(end, "*2^", 3) == 0) {
        mpfr_mul_2si(oracle_x, oracle_x, strtol(end + 3, &end, 10), MPFR_RNDN);
    }
    if (*end || end == text) fail_msg("'%s' is no number", text);
    if (negative) mpfr_neg(oracle_x, oracle_x, MPFR_RNDN);
    return mpfr_get_d(oracle_x, MPFR_RNDN);
}

/* The value of a code of binary16 or bfloat16. */
static double oracle_decode(unsigned code, oracle_format f) {
    const int bias = 1 - f.emin, field = (int)(code >> (f.p - 1)) & ((1 << f.exponent_bits) - 1);
    const unsigned fraction = code & ((1u << (f.p - 1)) - 1);
    mpfr_set_ui_2exp(oracle_x, fraction | (field ? 1u << (f.p - 1) : 0), (field ? field : 1) - bias - f.p + 1,
                     MPFR_RNDN);
    if (code >> (f.p - 1 + f.exponent_bits) & 1) mpfr_neg(oracle_x, oracle_x, MPFR_RNDN);
    return mpfr_get_d(oracle_x, MPFR_RNDN);
}

/* Terms on a machine that aligns: multiples of 2^(E-F), cut, added exactly, and rounded toward zero to `kept` bits
 * after the leading one. */
static double oracle_aligned(const double *terms, size_t n, int F, int kept) {
    int top = -10000;
    double sum = 0; /* exact: all terms are multiples of 2^(E-F) and far below 2^53 times that */
    for (size_t i = 0; i < n; i++) {
        if (terms[i] == 0) continue;
        mpfr_set_d(oracle_x, terms[i], MPFR_RNDN);
        if (mpfr_get_exp(oracle_x) - 1 > top) top = (int)mpfr_get_exp(oracle_x) - 1;
    }
    for (size_t i = 0; i < n; i++) {
        mpfr_set_d(oracle_x, terms[i], MPFR_RNDN);
        sum += oracle_to_multiple(top - F, 'z');
    }
    mpfr_set_d(oracle_x, sum, MPFR_RNDN);
    return sum == 0 ? 0 : oracle_to_multiple((int)mpfr_get_exp(oracle_x) - 1 - kept, 'z');
}

#endif
