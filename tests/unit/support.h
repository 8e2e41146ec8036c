/* support.h - helpers for tests of arithmetic: formats to loop over, random bits, comparison, and failure messages. */
#ifndef ULP_TESTS_SUPPORT_H
#define ULP_TESTS_SUPPORT_H

#include <math.h>

#include "test.h"

#include "formats/rng.h"
#include "kernels/products/datapath.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define THINNED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define THINNED 1
#endif
#endif
#ifndef THINNED
#define THINNED 0
#endif

/* The stride of the largest loops: n under a sanitizer, 1 where ULP_TESTS is "all" as in `make check-all`, else an odd
 * number of about n / 2, so that it visits odd and even codes. */
static inline size_t thinned(size_t n) {
    const char *tests = getenv("ULP_TESTS");
    return THINNED ? n : tests != NULL && strcmp(tests, "all") == 0 ? 1 : n / 4 * 2 + 1;
}

static inline ulp_format named(const char *name) {
    ulp_format f;
    memset(&f, 0, sizeof f);
    ulp_status status = ulp_format_parse(&f, name);
    if (status != ULP_OK) fail_msg("%s: %s", name, ulp_status_text(status));
    return f;
}

static inline ulp_datapath datapath_named(const char *name) {
    ulp_datapath d;
    memset(&d, 0, sizeof d);
    ulp_status status = ulp_datapath_parse(&d, name);
    if (status != ULP_OK) fail_msg("%s: %s", name, ulp_status_text(status));
    return d;
}

/* *f = format i: first the registered formats, then formats of every family and with every suffix. Returns 0 past the
 * end. */
static inline int test_format(size_t i, ulp_format *f) {
    static const char more[] =
        "e1m2 e2m0 e5m0 e8m0ieee e4m3ieee e3m2ieee e4m11 e9m3 e11m4 e7m22 e7m23 "
        "e5m10:nosub bf16:nosub fp32:nosub e4m3:nosub e4m3fnuz:nosub e2m1:nosub binary8p3uf:nosub "
        "e5m2:sat e4m3:inf e4m3:nan q1.0 q1.7 q4.2 q8.0:wrap q9.7:wrap q8.8:wrap "
        "binary4p2sf binary5p3ue binary6p1uf binary8p2uf binary8p7se binary8p8uf binary16p5se "
        "binary16p11sf cfloat8_1_4_3:bias=63 cfloat8_1_5_2:bias=0 e4m3:bias=12:nan posit12 posit5es1 takum9 "
        "uq8.0 uq0.8 uq5.3:wrap uq1.0 q-2.10 uq-3.9:inf q5.25 q20.33 uq20.33 q8.0:sym q4.4:zero e4m3:sym e5m2:zero "
        "uq4.0:zero e8m0:zero posit8:zero ";
    memset(f, 0, sizeof *f);
    if (i < ulp_format_count) {
        assert_ok(ulp_format_get(i, f, NULL));
        return 1;
    }
    const char *name = word_of(more, i - ulp_format_count);
    if (*name == '\0') return 0;
    *f = named(name);
    return 1;
}

static inline ulp_rule rule_of(int mode, int overflow, int random_bits) {
    return (ulp_rule){(uint8_t)mode, (uint8_t)overflow, (uint8_t)random_bits};
}

static inline int offers(const ulp_format *f, int policy) {
    return ulp_rule_check(f, rule_of(ULP_RNE, policy, 0)) == ULP_OK;
}

/* Whether x and y have the same bits, or are both NaN. */
static inline int same(double x, double y) {
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return ulp_bits64(x) == ulp_bits64(y);
}

/* Whether a result has the wanted bits. A NaN must be the positive quiet NaN without payload. */
static inline int same_result(double got, double want) {
    return isnan(want) ? ulp_bits64(got) == ulp_bits64(ulp_quiet_nan()) : ulp_bits64(got) == ulp_bits64(want);
}

static inline const char *code_text(char to[24], double x, const ulp_format *f) {
    uint64_t code;
    if (ulp_encode(&code, x, f) != ULP_OK) return "none";
    snprintf(to, 24, "%0*llx", (f->bits + 3) / 4, (unsigned long long)code);
    return to;
}

/* Fail with a message that gives the operation, the operands, the format, the rule, and both results. */
static inline void fail_case(const char *what, double a, double b, double c, const ulp_format *f, ulp_rule rule,
                             uint32_t word, double got, double want) {
    char g[24], w[24];
    const char *mode = ulp_mode_name((ulp_mode)rule.mode);
    fail_msg("%s %a %a %a, %s %s %s r %d word %08x: got %a (code %s), want %a (code %s)", what, a, b, c, f->name,
             mode != NULL ? mode : "?", ulp_overflow_name((ulp_overflow)rule.overflow), rule.random_bits,
             (unsigned)word, got, code_text(g, got, f), want, code_text(w, want, f));
}

/* splitmix64 (Steele et al. 2014, doi:10.1145/2660193.2660195) */
static inline uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The quantum above max if the exponents continued. */
static inline double last_quantum(const ulp_format *f) {
    if (f->is_fixed) return f->min_positive;
    int exponent;
    frexp(f->max, &exponent);
    double quantum = ldexp(1.0, exponent - f->prec), least = ldexp(1.0, f->qmin);
    return quantum > least ? quantum : least;
}

/* The random word of element i. */
static inline uint32_t word_at(ulp_rule rule, ulp_stream s, size_t i) {
    return ulp_mode_is_stochastic(rule.mode) ? ulp_random_word(s, i) : 0;
}

#endif
