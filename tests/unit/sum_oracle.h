/* sum_oracle.h - the oracle for sums of products, except those of Tensor Cores.
 *
 * It follows the description in kernels/products/datapath.h and shares no code with the tested code. MPFR does each
 * rounding, exact sums are GMP integers, and random words are taken in the order of the roundings. */
#ifndef ULP_TESTS_SUM_ORACLE_H
#define ULP_TESTS_SUM_ORACLE_H

#include "support.h"

#include <gmp.h>

#include "kernels/mpfr/reference.h"

typedef enum { SERIAL, SPLIT, BLOCK, CHUNK, PAIRWISE, KAHAN, EXACT, SCHEMES } scheme;

/* A scheme of addition and its parameters; `used` counts the random words. */
typedef struct sum_scheme {
    scheme scheme;
    size_t length, promote; /* products in a block or chunk; products between promotions, 0: no promotion */
    ulp_reference *ref, *single;
    ulp_rule rule;
    int wrap; /* bits before the point of a format that wraps around; 0: no wrap-around */
    ulp_stream stream;
    uint64_t used;
} sum_scheme;

enum { UNIT = -2148 }; /* every product of binary64 values is a multiple of 2^UNIT */

static mpz_t exact, factor, other;

static uint32_t take_word(sum_scheme *w) {
    uint64_t i = w->used++;
    return ulp_mode_is_stochastic(w->rule.mode) ? ulp_random_word(w->stream, i) : 0;
}

static double rounded(sum_scheme *w, ulp_op op, double x, double y, double z) {
    uint32_t word = take_word(w);
    return ulp_reference_arith(w->ref, (ulp_scalar_op){op, x, y, z}, w->rule, word);
}

/* Round `exact`, which is not zero, as the fma hi + a b. hi has the first 53 bits, but is at most the largest binary64
 * number. The product a b has the next 53 bits; its last bit is 1 if lower bits are not zero. This is enough, because
 * no breakpoint has more than 87 bits. */
static double round_integer(sum_scheme *w, uint32_t word) {
    const double sign = mpz_sgn(exact) < 0 ? -1 : 1;
    mpz_abs(exact, exact);
    if (w->wrap) mpz_tdiv_r_2exp(exact, exact, (mp_bitcnt_t)(w->wrap + 2 - UNIT));
    if (mpz_sizeinbase(exact, 2) > 1030 - UNIT) mpz_set_ui(exact, 0), mpz_setbit(exact, 1030 - UNIT);
    long cut = (long)mpz_sizeinbase(exact, 2) - 53;
    if (cut < -1074 - UNIT) cut = -1074 - UNIT;
    if (cut > 971 - UNIT) cut = 971 - UNIT;
    mpz_tdiv_q_2exp(factor, exact, (mp_bitcnt_t)cut);
    if (mpz_sizeinbase(factor, 2) > 53)
        mpz_set_ui(factor, 1), mpz_mul_2exp(factor, factor, 53), mpz_sub_ui(factor, factor, 1);
    const double hi = sign * ldexp(mpz_get_d(factor), (int)cut + UNIT);
    mpz_mul_2exp(factor, factor, (mp_bitcnt_t)cut);
    mpz_sub(exact, exact, factor);
    long below = (long)mpz_sizeinbase(exact, 2) - 53;
    if (below < 0) below = 0;
    mpz_tdiv_q_2exp(factor, exact, (mp_bitcnt_t)below);
    if (below > 0 && mpz_scan1(exact, 0) < (mp_bitcnt_t)below) mpz_setbit(factor, 0);
    const int e = (int)below + UNIT, half = e / 2;
    return ulp_reference_arith(
        w->ref, (ulp_scalar_op){ULP_FUSED, sign * ldexp(mpz_get_d(factor), half), ldexp(1, e - half), hi}, w->rule,
        word);
}

/* The number of products that are NaN, infinite or zero of each sign, and other. */
typedef struct tally {
    size_t nan, infinite[2], zero[2], other;
} tally;

/* Count x y, and add it to `exact` if it is finite and not zero. */
static void add_product(tally *t, double x, double y) {
    const int neg = !signbit(x) != !signbit(y);
    if (isnan(x) || isnan(y) || (isinf(x) && y == 0.0) || (isinf(y) && x == 0.0)) t->nan++;
    else if (isinf(x) || isinf(y)) t->infinite[neg]++;
    else if (x == 0.0 || y == 0.0) t->zero[neg]++;
    else {
        int i, j;
        t->other++;
        mpz_set_d(factor, ldexp(frexp(x, &i), 53)), mpz_set_d(other, ldexp(frexp(y, &j), 53));
        mpz_mul(factor, factor, other);
        const long shift = (long)i + j - 106 - UNIT;
        if (shift < 0) mpz_tdiv_q_2exp(factor, factor, (mp_bitcnt_t)-shift);
        else mpz_mul_2exp(factor, factor, (mp_bitcnt_t)shift);
        mpz_add(exact, exact, factor);
    }
}

/* c + a (k) b (k), exact and rounded once. A sum of zeros of one sign is the zero of this sign; any other zero sum has
 * the sign that x - x has in the mode. */
static double exact_sum(sum_scheme *w, double c, const double *a, const double *b, size_t k) {
    const uint32_t word = take_word(w);
    tally t = {0};
    mpz_set_ui(exact, 0);
    add_product(&t, c, 1.0);
    for (size_t i = 0; i < k; i++) add_product(&t, a[i], b[i]);
    double special = 0.0;
    if (t.nan || (t.infinite[0] && t.infinite[1])) special = NAN;
    else if (t.infinite[0] || t.infinite[1]) special = t.infinite[1] ? -INFINITY : INFINITY;
    else if (mpz_sgn(exact) != 0) return round_integer(w, word);
    else if (t.other == 0 && (t.zero[0] == 0 || t.zero[1] == 0)) special = t.zero[1] ? -0.0 : 0.0;
    else special = w->rule.mode == ULP_RD ? -0.0 : 0.0;
    return ulp_reference_round(w->ref, special, 0.0, w->rule, word);
}

/* The sum of k > 0 products by a tree: first the left child, then the right child, then their parent. */
static double tree(sum_scheme *w, const double *a, const double *b, size_t k) {
    size_t left = 1;
    if (k == 1) return rounded(w, ULP_MUL, a[0], b[0], 0.0);
    while (2 * left < k) left *= 2;
    const double x = tree(w, a, b, left), y = tree(w, a + left, b + left, k - left);
    return rounded(w, ULP_ADD, x, y, 0.0);
}

/* One sum without promotion. */
static double plain(sum_scheme *w, double c, const double *a, const double *b, size_t k) {
    double acc = c, e = 0.0;
    if (w->scheme == EXACT) return exact_sum(w, c, a, b, k);
    if (w->scheme == PAIRWISE && k > 0) {
        acc = tree(w, a, b, k);
        return rounded(w, ULP_ADD, c, acc, 0.0);
    }
    for (size_t i = 0; i < k;) {
        const size_t n = k - i < w->length ? k - i : w->length;
        if (w->scheme == BLOCK) acc = exact_sum(w, acc, a + i, b + i, n), i += n;
        else if (w->scheme == SERIAL) acc = rounded(w, ULP_FUSED, a[i], b[i], acc), i++;
        else if (w->scheme == SPLIT) {
            const double product = rounded(w, ULP_MUL, a[i], b[i], 0.0);
            acc = rounded(w, ULP_ADD, acc, product, 0.0), i++;
        } else if (w->scheme == CHUNK) {
            double part = 0.0;
            for (size_t j = 0; j < n; j++, i++) part = rounded(w, ULP_FUSED, a[i], b[i], part);
            acc = rounded(w, ULP_ADD, acc, part, 0.0);
        } else {
            const double y = rounded(w, ULP_FUSED, a[i], b[i], -e), t = rounded(w, ULP_ADD, acc, y, 0.0);
            const double gained = rounded(w, ULP_SUB, t, acc, 0.0);
            e = rounded(w, ULP_SUB, gained, y, 0.0), acc = t, i++;
        }
    }
    return acc;
}

static double oracle(sum_scheme *w, double c, const double *a, const double *b, size_t k) {
    double total = c;
    w->used = 0;
    if (w->promote == 0) return plain(w, c, a, b, k);
    for (size_t i = 0; i < k; i += w->promote) {
        const double part = plain(w, 0.0, a + i, b + i, k - i < w->promote ? k - i : w->promote);
        total = ulp_reference_arith(w->single, (ulp_scalar_op){ULP_ADD, total, part, 0.0}, rule_of(ULP_RNE, 0, 0), 0);
    }
    return total;
}

#endif
