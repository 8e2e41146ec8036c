/* round.h - rounding of a real number to a member of a format: modes, rules, the one rounding.
 *
 * ulp_round_exact rounds the exact value once. It rounds to precision p, with the exponent at least emin and without an
 * upper bound. Then it applies the overflow policy (IEEE 754-2019, 4.3 and 7.4; P3109 interim report v4.0, section
 * 4.6). ulp_round_up decides the direction and has one case for each mode. The scalar path here, the branch-free array
 * core (kernels/rounding/core.h) and CUDA share ulp_round_up.
 *
 * Standards are silent or differ in the following cases:
 *   - unsigned formats: a negative value that does not round to zero is out of range. It gives the smallest value under
 *     sat and sym, and NaN under nan and, if the format has NaN, under inf. Negative zero becomes +0.
 *   - e8m0 has no zero: a value that would round to zero becomes 2^-127.
 *   - dlfloat16 (Agrawal et al. 2019, doi:10.1109/ARITH.2019.00023) has no value between 0 and its least value 513
 *     2^-40. A mode chooses one of the two numbers; the nearest modes round ties to 0.
 *   - x + (-x) gives +0, and -0 in mode rd (IEEE 754-2019, 6.3).
 *   - a NaN result is a positive quiet NaN; its payload is not kept.
 */
#ifndef ULP_ROUND_H
#define ULP_ROUND_H

#include "exact.h"

ULP_C_BEGIN

/* The rounding modes: X(enumerator, name, meaning, stochastic, inward). `stochastic` is 1 where the mode uses random
 * words. `inward` is the sum of POSITIVE and NEGATIVE: values of these signs overflow to max in the mode, and values of
 * other signs overflow to infinity (IEEE 754-2019, 7.4). A mode is a row here and a case in ulp_round_up. Every table
 * over modes is made from these rows. */
enum { ULP_INWARD_NONE, ULP_INWARD_POSITIVE, ULP_INWARD_NEGATIVE, ULP_INWARD_BOTH };
#define ULP_MODES(X)                                                                                                   \
    X(ULP_RNE, "rne", "to nearest, ties to even", 0, ULP_INWARD_NONE)                                                  \
    X(ULP_RNA, "rna", "to nearest, ties away from zero", 0, ULP_INWARD_NONE)                                           \
    X(ULP_RZ, "rz", "toward zero", 0, ULP_INWARD_BOTH)                                                                 \
    X(ULP_RU, "ru", "toward +infinity", 0, ULP_INWARD_NEGATIVE)                                                        \
    X(ULP_RD, "rd", "toward -infinity", 0, ULP_INWARD_POSITIVE)                                                        \
    X(ULP_RO, "ro", "to odd: toward zero, then the last bit set if inexact", 0, ULP_INWARD_BOTH)                       \
    X(ULP_SRA, "sra", "stochastic A: up iff floor(nu 2^r) + R >= 2^r", 1, ULP_INWARD_NONE)                             \
    X(ULP_SRB, "srb", "stochastic B: up iff floor(nu 2^(r+1)) + 2R + 1 >= 2^(r+1)", 1, ULP_INWARD_NONE)                \
    X(ULP_SRC, "src", "stochastic C: up iff roundeven(nu 2^r) + R >= 2^r", 1, ULP_INWARD_NONE)                         \
    X(ULP_RNU, "rnu", "to nearest, ties toward +infinity: floor(x + 1/2), AP_RND", 0, ULP_INWARD_NONE)                 \
    X(ULP_RNZ, "rnz", "to nearest, ties toward zero: AP_RND_ZERO", 0, ULP_INWARD_NONE)                                 \
    X(ULP_RND, "rnd", "to nearest, ties toward -infinity: AP_RND_MIN_INF", 0, ULP_INWARD_NONE)

typedef enum ulp_mode {
#define ULP_MODE_ID(id, name, meaning, stochastic, inward) id,
    ULP_MODES(ULP_MODE_ID)
#undef ULP_MODE_ID
        ULP_MODE_COUNT
} ulp_mode;

/* Sets of modes: bit `mode` is set if the mode belongs to the set. */
enum {
#define ULP_MODE_BIT(id, name, meaning, stochastic, inward) | (stochastic) << id
    ULP_STOCHASTIC_MODES = 0 ULP_MODES(ULP_MODE_BIT),
#undef ULP_MODE_BIT
#define ULP_MODE_BIT(id, name, meaning, stochastic, inward) | ((inward)&ULP_INWARD_POSITIVE ? 1 : 0) << id
    ULP_MODES_INWARD_POSITIVE = 0 ULP_MODES(ULP_MODE_BIT),
#undef ULP_MODE_BIT
#define ULP_MODE_BIT(id, name, meaning, stochastic, inward) | ((inward)&ULP_INWARD_NEGATIVE ? 1 : 0) << id
    ULP_MODES_INWARD_NEGATIVE = 0 ULP_MODES(ULP_MODE_BIT),
#undef ULP_MODE_BIT
    ULP_DETERMINISTIC_MODES = ((1 << ULP_MODE_COUNT) - 1) & ~ULP_STOCHASTIC_MODES
};

/* Whether a mode belongs to a set. A number past the last mode belongs to no set. */
ULP_FN uint32_t ulp_mode_in(uint32_t mode, uint32_t set) { return mode < ULP_MODE_COUNT ? set >> mode & 1u : 0u; }

/* The rule of a rounding. {0} is mode rne with the format's own overflow policy. */
typedef struct ulp_rule {
    uint8_t mode;        /* ulp_mode */
    uint8_t overflow;    /* ulp_overflow */
    uint8_t random_bits; /* r of the stochastic modes, 1..32; 0 means 32 */
} ulp_rule;

/* The source of random words: the word of array element i is a pure function of (seed, stream, first + i), see
 * rng.h. */
typedef struct ulp_stream {
    uint64_t seed, stream; /* stream stands for the use of the words: the tensor, the step, the operand */
    uint64_t first;        /* index of the array's element 0; a part of an array can be rounded alone */
} ulp_stream;

/* The name of a mode ("rne", "rna", ...) and its meaning. NULL past the end. */
const char *ulp_mode_name(ulp_mode mode);
const char *ulp_mode_meaning(ulp_mode mode);

/* The mode called `text`. "sr" is another name of sra. */
ulp_status ulp_mode_parse(ulp_mode *mode, const char *text);

/* 1 for the stochastic modes, which use random words. */
ULP_FN int ulp_mode_is_stochastic(uint32_t mode) { return (int)ulp_mode_in(mode, ULP_STOCHASTIC_MODES); }

/* Whether `format` offers `rule`. Returns ULP_UNSUPPORTED for wrap on floating point, and ULP_BAD_ARGUMENT for numbers
 * out of range. */
ulp_status ulp_rule_check(const ulp_format *format, ulp_rule rule);

/* The same for single operations and for the rounding of arrays. They offer formats that flush subnormals, which
 * ulp_rule_check refuses as ULP_UNSUPPORTED: no sum of products and no network flushes by the name of a format. */
ulp_status ulp_rule_check_single(const ulp_format *format, ulp_rule rule);

/* The discarded part f of a magnitude, as a fraction of one quantum. */
typedef struct ulp_fraction {
    uint32_t nu;   /* floor(2^32 f) */
    uint32_t tail; /* the part of f that nu lacks: bit 1 has the weight 2^-33; bit 0 is set if any lower bit is set */
} ulp_fraction;

/* 1 if the magnitude is rounded up (away from zero), else 0. Branch-free for a constant mode.
 *   - odd: 1 if the significand is odd (p = 1: if its code is odd)
 *   - lost: the discarded part
 *   - neg: 1 if the value is negative
 *   - word: 32 random bits; the top r bits are R
 */
ULP_CORE uint32_t ulp_round_up(uint32_t mode, uint32_t odd, ulp_fraction lost, uint32_t neg, uint32_t word,
                               uint32_t r) {
    const uint32_t half = 0x80000000u, nu = lost.nu, tail = lost.tail;
    const uint32_t inexact = (uint32_t)((nu | tail) != 0);
    switch ((ulp_mode)mode) {
    case ULP_RNE: return (uint32_t)(nu > half) | ((uint32_t)(nu == half) & ((uint32_t)(tail != 0) | odd));
    case ULP_RNA: return nu >> 31;
    case ULP_RZ: return 0;
    case ULP_RU: return inexact & (neg ^ 1u);
    case ULP_RD: return inexact & neg;
    case ULP_RO: return inexact & (odd ^ 1u);
    case ULP_SRA: {
        uint32_t random = word & (0xffffffffu << (32 - r)); /* R 2^(32-r): the sum carries iff condition A holds */
        return (uint32_t)((uint32_t)(nu + random) < nu);
    }
    case ULP_SRB: {
        /* R + 1/2 replaces R. At r = 32 the 1/2 has the weight 2^-33, like bit 1 of tail. */
        uint32_t below = half >> (r - 1) >> 1; /* 2^(31-r), and 0 at r = 32 */
        uint32_t random = (word & (0xffffffffu << (32 - r))) | below;
        uint32_t sum = nu + random;
        uint32_t carry_in = (uint32_t)(r == 32) & (tail >> 1);
        return (uint32_t)(sum < nu) | (uint32_t)((uint32_t)(sum + carry_in) < sum);
    }
    case ULP_SRC: {
        uint32_t mask = 0xffffffffu << (32 - r), unit = mask & (0u - mask); /* 2^(32-r) */
        uint32_t kept = nu & mask;
        /* the bits below the top r bits of nu, in units of 2^-33 of a quantum, with the sticky bit in bit 0 */
        uint64_t rest = (uint64_t)(nu & ~mask) << 2 | tail, tie = (uint64_t)unit << 1;
        uint32_t kept_odd = (uint32_t)((nu & unit) != 0);
        uint32_t bump = (uint32_t)(rest > tie) | ((uint32_t)(rest == tie) & kept_odd);
        uint32_t sum = kept + (word & mask);
        uint32_t carry = (uint32_t)(sum < kept);
        return carry | (uint32_t)((uint32_t)(sum + (unit & (0u - bump))) < sum);
    }
    case ULP_RNU: return (uint32_t)(nu > half) | ((uint32_t)(nu == half) & ((uint32_t)(tail != 0) | (neg ^ 1u)));
    case ULP_RNZ: return (uint32_t)(nu > half) | ((uint32_t)(nu == half) & (uint32_t)(tail != 0));
    case ULP_RND: return (uint32_t)(nu > half) | ((uint32_t)(nu == half) & ((uint32_t)(tail != 0) | neg));
    case ULP_MODE_COUNT: break;
    }
    return 0;
}

/* The format's result for a magnitude of zero. */
ULP_FN double ulp_zero_value(const ulp_format *f, uint32_t neg) {
    if (!f->has_zero) return f->min_positive;
    return neg && f->has_neg_zero ? -0.0 : 0.0;
}

/* The largest magnitude of a sign. */
ULP_FN double ulp_magnitude_limit(const ulp_format *f, uint32_t policy, uint32_t neg) {
    return neg && !(policy == ULP_OVERFLOW_SYM && f->is_signed) ? -f->lowest : f->max;
}

/* The result of an infinite value or of a value beyond the range. `policy` is never DEFAULT or WRAP. */
ULP_FN double ulp_overflow_value(const ulp_format *f, uint32_t mode, uint32_t policy, uint32_t neg, uint32_t infinite) {
    double end = neg ? f->lowest : f->max;
    uint32_t inward = ulp_mode_in(mode, neg ? ULP_MODES_INWARD_NEGATIVE : ULP_MODES_INWARD_POSITIVE);
    if (policy == ULP_OVERFLOW_NAN) return ulp_quiet_nan();
    if (policy == ULP_OVERFLOW_SAT) return end;
    if (policy == ULP_OVERFLOW_SYM) return neg ? -ulp_magnitude_limit(f, policy, neg) : end;
    if (policy == ULP_OVERFLOW_ZERO) return ulp_zero_value(f, neg);
    if (neg && !f->is_signed) return f->nan_codes != ULP_NAN_NONE ? ulp_quiet_nan() : end;
    if (inward && !infinite) return end;
    if (f->has_inf) return ulp_from_bits64((uint64_t)neg << 63 | 0x7ff0000000000000u);
    return f->nan_codes != ULP_NAN_NONE ? ulp_quiet_nan() : end;
}

/* A value cut at a quantum: the significand that is kept, and the discarded part. */
typedef struct ulp_cut {
    uint64_t kept;
    ulp_fraction lost;
} ulp_cut;

/* |x| in units of 2^q: the integer part modulo 2^64, and the fraction. */
ULP_FN ulp_cut ulp_cut_at(ulp_exact x, int32_t q) {
    ulp_cut cut = {0, {0, 0}};
    uint64_t hi = x.hi, lo = x.lo;
    uint32_t sticky = x.sticky;
    int64_t shift = (int64_t)q - x.exp;
    if (shift <= 0) { /* x is an integer multiple of 2^q; only wrap-around has this case */
        cut.kept = shift > -64 ? lo << -shift : 0;
        return cut;
    }
    if (shift < 64) {
        cut.kept = hi << (64 - shift) | lo >> shift;
        hi = lo << (64 - shift);
        lo = 0;
    } else if (shift < 128) {
        cut.kept = shift == 64 ? hi : hi >> (shift - 64);
        hi = shift == 64 ? lo : hi << (128 - shift) | lo >> (shift - 64);
        lo = shift == 64 ? 0 : lo << (128 - shift);
    } else {
        ulp_shift_right(&hi, &lo, shift > 300 ? 172 : (int32_t)(shift - 128), &sticky);
    }
    cut.lost.nu = (uint32_t)(hi >> 32);
    cut.lost.tail = (uint32_t)(hi >> 31 & 1) << 1 | (uint32_t)(((hi & 0x7fffffffu) | lo | sticky) != 0);
    return cut;
}

/* |x| in units of odd 2^q, for |x| < odd 2^q and 2^9 < odd < 2^32. This unit is the gap below the least value of
 * dlfloat16. */
ULP_FN ulp_cut ulp_cut_by(ulp_exact x, uint32_t odd, int32_t q) {
    ulp_cut cut = {0, {0, 0}};
    uint64_t hi = x.hi, lo = x.lo, quotient = 0, rem;
    uint32_t sticky = x.sticky;
    int32_t right = q - 64 - x.exp; /* |x| 2^(64-q) = (hi:lo) >> right, below odd 2^64 */
    ulp_shift_right(&hi, &lo, right > 200 ? 200 : right, &sticky);
    rem = hi << 32 | lo >> 32;
    quotient = rem / odd << 32;
    rem = (rem % odd) << 32 | (lo & 0xffffffffu);
    quotient |= rem / odd;
    sticky |= (uint32_t)(rem % odd != 0);
    cut.lost.nu = (uint32_t)(quotient >> 32);
    cut.lost.tail = (uint32_t)(quotient >> 31 & 1) << 1 | (uint32_t)(((quotient & 0x7fffffffu) | sticky) != 0);
    return cut;
}

/* Rounds to fixed point modulo 2^bits. */
ULP_FN double ulp_round_wrapped(ulp_exact x, const ulp_format *f, uint32_t mode, uint32_t word, uint32_t r) {
    ulp_cut cut = ulp_cut_at(x, f->qmin);
    uint64_t n = cut.kept + ulp_round_up(mode, (uint32_t)cut.kept & 1u, cut.lost, x.neg, word, r);
    uint64_t half = 1ull << (f->bits - 1);
    n = (x.neg ? 0 - n : n) & (2 * half - 1);
    double value = f->is_signed && n >= half ? -(double)(2 * half - n) : (double)n;
    return ulp_scale(value, f->qmin);
}

/* Rounds the rank of a finite x in a tapered format. Every mode decides by the last bit of the rank below (`odd`) and
 * by the fraction of the rank. So rne is the rounding of the Posit Standard 2022, section 4.1, and of takums: where
 * exponent bits are cut, the tie is the value whose code has one more bit, not the mean. Directed modes give the next
 * value in their direction, except that a value beyond the least or the largest value gives that value: posits and
 * takums neither underflow nor overflow. The stochastic modes round up with the fraction of the rank as probability,
 * which is the fraction of the gap where the gap has no cut exponent bits. */
#if defined(__CUDACC__) /* device code links no function of another file */
#define ULP_DEFINES_TAPERED
#define ULP_TAPERED_FN ULP_FN
#else
#define ULP_TAPERED_FN
#endif
ULP_TAPERED_FN double ulp_round_tapered(ulp_exact x, const ulp_format *f, ulp_rule rule, uint32_t policy,
                                        uint32_t word);
#if defined(ULP_DEFINES_TAPERED)
#include "taper.h"
ULP_TAPERED_FN double ulp_round_tapered(ulp_exact x, const ulp_format *f, ulp_rule rule, uint32_t policy,
                                        uint32_t word) {
    const int32_t e = x.exp + 127; /* 2^e <= |x| < 2^(e+1) */
    const uint64_t last = ulp_taper_last(f);
    const int saturates = ulp_taper_saturates(f);
    ulp_cut cut = {0, {0, 0}};
    if (e > f->emax) cut.kept = last + 1;
    else if (e >= f->emin) cut = ulp_cut_at(ulp_taper_rank(x, f, e), 0);
    else if (!saturates) cut = ulp_cut_at(x, f->emin); /* between 0 and the least value, a power of two */
    uint64_t rank = cut.kept + ulp_round_up(rule.mode, (uint32_t)cut.kept & 1u, cut.lost, x.neg, word,
                                            rule.random_bits ? rule.random_bits : 32u);
    if (saturates) rank = rank < 1 ? 1 : rank > last ? last : rank;
    if (rank == 0) return ulp_zero_value(f, x.neg);
    if (rank > last) return ulp_overflow_value(f, rule.mode, policy, x.neg, 0);
    const double magnitude = ulp_taper_value(f, rank);
    return x.neg ? -magnitude : magnitude;
}
#endif

/* Whether a finite x, rounded to precision p as if the exponent had no lower end, is below the least normal number: it
 * is tiny after rounding (IEEE 754-2019, 7.5). For formats of one precision. */
ULP_FN int ulp_is_tiny(ulp_exact x, const ulp_format *f, ulp_rule rule, uint32_t word) {
    const int32_t e = x.exp + 127, above = e - f->emin; /* 2^e <= |x| < 2^(e+1) */
    if (above > 0) return 0;
    if (above < -1) return 1;
    const ulp_cut cut = ulp_cut_at(x, e - f->prec + 1);
    const uint64_t last = f->prec == 1 ? (uint64_t)(int64_t)(e + f->bias) : cut.kept;
    const uint32_t up =
        ulp_round_up(rule.mode, (uint32_t)last & 1u, cut.lost, x.neg, word, rule.random_bits ? rule.random_bits : 32u);
    const double rounded = ulp_scale((double)(cut.kept + up), above + 1 - f->prec); /* in units of 2^emin */
    return rounded < ulp_scale(f->min_normal, -f->emin);
}

/* A number as an operand: zero if it is subnormal and the format flushes operands. */
ULP_FN ulp_exact ulp_flush_operand(ulp_exact x, const ulp_format *f) {
    const int flushed = (f->flushes & ULP_FLUSH_INPUTS) != 0 && x.kind == ULP_EXACT_FINITE && x.exp + 127 < f->emin;
    return flushed ? ulp_exact_special(ULP_EXACT_ZERO, x.neg) : x;
}

/* The one rounding: the value of `format` that `rule` chooses for the exact value x. `word` holds the random bits of
 * the stochastic modes (R is its top r bits); the other modes ignore `word`. */
ULP_CALLED double ulp_round_exact(ulp_exact x, const ulp_format *f, ulp_rule rule, uint32_t word) {
    const uint32_t mode = rule.mode, r = rule.random_bits ? rule.random_bits : 32u;
    uint32_t policy = rule.overflow == ULP_OVERFLOW_DEFAULT ? f->overflow : rule.overflow;
    if (x.kind == ULP_EXACT_NAN) return ulp_quiet_nan();
    if (x.kind == ULP_EXACT_INF)
        return ulp_overflow_value(f, mode, policy == ULP_OVERFLOW_WRAP ? (uint32_t)ULP_OVERFLOW_SAT : policy, x.neg, 1);
    if (x.kind == ULP_EXACT_ZERO) return ulp_zero_value(f, x.neg);
    if (x.kind == ULP_EXACT_CANCELLED) return ulp_zero_value(f, mode == ULP_RD);
    if (f->taper != ULP_TAPER_NONE) return ulp_round_tapered(x, f, rule, policy, word);
    if (policy == ULP_OVERFLOW_WRAP) return ulp_round_wrapped(x, f, mode, word, r);

    int32_t e = x.exp + 127; /* 2^e <= |x| < 2^(e+1) */
    int32_t q = e < f->emin ? f->qmin : e - f->prec + 1;
    ulp_cut cut = ulp_cut_at(x, q);
    uint32_t odd = (uint32_t)cut.kept & 1u;
    double unit = 1.0;
    if (f->prec == 1 && !f->is_fixed && cut.kept != 0) odd = (uint32_t)(e + f->bias) & 1u;
    if (f->zero_binade && (e < f->emin || (e == f->emin && cut.kept == 1ull << (f->prec - 1)))) {
        unit = (double)((1u << (f->prec - 1)) + 1u);
        q = f->emin - f->prec + 1;
        cut = ulp_cut_by(x, (uint32_t)unit, q);
        odd = 0;
    }
    if ((f->flushes & ULP_FLUSH_RESULTS) != 0 && ulp_is_tiny(x, f, rule, word)) return ulp_zero_value(f, x.neg);
    uint32_t up = ulp_round_up(mode, odd, cut.lost, x.neg, word, r);
    double magnitude = ulp_scale((double)(cut.kept + up) * unit, q);
    if (magnitude == 0.0) return ulp_zero_value(f, x.neg);
    if (x.neg && !f->is_signed) return ulp_overflow_value(f, mode, policy, 1, 0);
    if (magnitude > ulp_magnitude_limit(f, policy, x.neg)) return ulp_overflow_value(f, mode, policy, x.neg, 0);
    return x.neg ? -magnitude : magnitude;
}

/* Whether the rounded magnitude of a finite value is out of range: then the policy nan gives NaN. */
ULP_FN int ulp_rounding_overflows(ulp_exact x, const ulp_format *f, ulp_rule rule, uint32_t word) {
    const uint32_t policy = rule.overflow == ULP_OVERFLOW_DEFAULT ? f->overflow : rule.overflow;
    rule.overflow = ULP_OVERFLOW_NAN;
    const double y = ulp_round_exact(x, f, rule, word);
    const int below = policy == ULP_OVERFLOW_SYM && y < -ulp_magnitude_limit(f, policy, 1);
    return x.kind == ULP_EXACT_FINITE && (y != y || below);
}

/* The operations: X(enumerator, name, operands). An operation rounds its exact result once. IEEE 754-2019, 5.4.1 */
#define ULP_OPS(X)                                                                                                     \
    X(ULP_ADD, "add", 2)                                                                                               \
    X(ULP_SUB, "sub", 2)                                                                                               \
    X(ULP_MUL, "mul", 2)                                                                                               \
    X(ULP_DIV, "div", 2)                                                                                               \
    X(ULP_SQRT, "sqrt", 1)                                                                                             \
    X(ULP_FUSED, "fma", 3)

typedef enum ulp_op {
#define ULP_OP_ID(id, name, operands) id,
    ULP_OPS(ULP_OP_ID)
#undef ULP_OP_ID
        ULP_OP_COUNT
} ulp_op;

/* The operation op(a, b, c) on numbers. An operation ignores the operands that it does not need. */
typedef struct ulp_scalar_op {
    ulp_op op;
    double a, b, c;
} ulp_scalar_op;

/* The exact result of an operation on any binary64 operands. */
ULP_FN ulp_exact ulp_exact_op(ulp_scalar_op of) {
    const ulp_exact a = ulp_exact_of(of.a);
    switch (of.op) {
    case ULP_ADD: return ulp_exact_add(a, ulp_exact_of(of.b));
    case ULP_SUB: return ulp_exact_add(a, ulp_exact_negate(ulp_exact_of(of.b)));
    case ULP_MUL: return ulp_exact_mul(a, ulp_exact_of(of.b));
    case ULP_DIV: return ulp_exact_div(a, ulp_exact_of(of.b));
    case ULP_SQRT: return ulp_exact_sqrt(a);
    case ULP_FUSED: return ulp_exact_fma(a, ulp_exact_of(of.b), ulp_exact_of(of.c));
    case ULP_OP_COUNT: break;
    }
    return ulp_exact_special(ULP_EXACT_NAN, 0);
}

/* ---- plain functions (round.c) ---- */

/* x, as an operand, rounded once. An x of type float converts to double exactly. */
double ulp_round(double x, const ulp_format *format, ulp_rule rule, uint32_t word);

/* The exact value hi + lo rounded once, for any two doubles. Under wrap, |hi| and |lo| must be at most 2^60 quanta of
 * the format: the sum of larger numbers loses bits that count modulo 2^bits. This limit also holds for operands and
 * results of ulp_arith. */
double ulp_round_pair(double hi, double lo, const ulp_format *format, ulp_rule rule, uint32_t word);

const char *ulp_op_name(ulp_op op);
int ulp_op_operands(ulp_op op);
ulp_status ulp_op_parse(ulp_op *op, const char *text);

/* The operation on numbers as operands of the format: subnormal ones are zero where it flushes them. */
ulp_scalar_op ulp_op_of_operands(ulp_scalar_op op, const ulp_format *format);

/* a + b, a - b, a b, a / b, sqrt(a) or a b + c for any binary64 operands, as operands of the format, rounded once. */
double ulp_arith(ulp_scalar_op op, const ulp_format *format, ulp_rule rule, uint32_t word);

ULP_C_END
#endif
