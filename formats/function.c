/* function.c - functions of one number, correctly rounded; see function.h. */
#include "function.h"
#include "ball.h"

enum { LEAST = 6 /* limbs of the first computation */ };

/* ---- values that are found without a series ---- */

static ulp_exact special(ulp_kind kind, uint32_t neg) { return ulp_exact_special(kind, neg); }

/* A number between the short number v and its neighbour of 128 bits, of larger magnitude or else of smaller. */
static ulp_exact next_to(ulp_exact v, int larger) {
    if (!larger && !v.sticky) {
        v.hi -= v.lo == 0;
        v.lo--;
        if (v.hi >> 63 == 0) { /* v was a power of two */
            v.hi = v.lo = UINT64_MAX;
            v.exp--;
        }
    }
    v.sticky = 1;
    return v;
}

/* A number beyond the range of every format, or nearer to zero than every format tells. */
static ulp_exact far_from_all(uint32_t neg, int is_large) {
    return ulp_exact_pack(neg, 1ull << 63, 0, 1, is_large ? 5000 : -5000);
}

/* f(x) for zeros and infinities. Returns 0 for softplus(0). */
static int at_end(ulp_exact *y, ulp_function f, uint32_t neg, int is_zero) {
    const ulp_exact inf = special(ULP_EXACT_INF, 0), nan = special(ULP_EXACT_NAN, 0), zero = special(ULP_EXACT_ZERO, 0);
    const ulp_exact same = special(is_zero ? ULP_EXACT_ZERO : ULP_EXACT_INF, neg), one = ulp_exact_of(1);
    switch (f) {
    case ULP_FUNCTION_EXP:
    case ULP_FUNCTION_EXP2: *y = is_zero ? one : neg ? zero : inf; break;
    case ULP_FUNCTION_LOG:
    case ULP_FUNCTION_LOG2: *y = is_zero ? special(ULP_EXACT_INF, 1) : neg ? nan : inf; break;
    case ULP_FUNCTION_SIN: *y = is_zero ? same : nan; break;
    case ULP_FUNCTION_COS: *y = is_zero ? one : nan; break;
    case ULP_FUNCTION_TANH: *y = is_zero ? same : ulp_exact_of(neg ? -1 : 1); break;
    case ULP_FUNCTION_SIGMOID: *y = is_zero ? ulp_exact_of(0.5) : neg ? zero : one; break;
    case ULP_FUNCTION_GELU:
    case ULP_FUNCTION_GELU_TANH:
    case ULP_FUNCTION_SILU: *y = is_zero || !neg ? same : special(ULP_EXACT_ZERO, 1); break;
    case ULP_FUNCTION_SOFTPLUS: *y = neg ? zero : inf; return !is_zero;
    case ULP_FUNCTION_RSQRT: *y = is_zero ? special(ULP_EXACT_INF, neg) : neg ? nan : zero; break;
    case ULP_FUNCTION_RECIPROCAL: *y = special(is_zero ? ULP_EXACT_INF : ULP_EXACT_ZERO, neg); break;
    case ULP_FUNCTION_COUNT: *y = nan; break;
    }
    return 1;
}

/* f(x) for x near to zero: where the next term of the series is below the last bit of 128 and, if the number to which
 * it is added has more bits, below the last of these; x has 53. */
static int near_zero(ulp_exact *y, ulp_function f, ulp_exact x, double size) {
    const ulp_exact one = ulp_exact_of(1);
    ulp_exact half = x, square = ulp_exact_mul(x, x);
    half.exp--;
    switch (f) {
    case ULP_FUNCTION_EXP: *y = next_to(ulp_exact_add(one, x), 1); return size < 0x1p-66; /* 1 + x + x^2/2 */
    case ULP_FUNCTION_EXP2: *y = next_to(one, !x.neg); return size < 0x1p-130;            /* 1 + x log 2 */
    case ULP_FUNCTION_SIN:                                                                /* x - x^3/6 */
    case ULP_FUNCTION_TANH: *y = next_to(x, 0); return size < 0x1p-66;                    /* x - x^3/3 */
    case ULP_FUNCTION_COS:                                                                /* 1 - x^2/2 + x^4/24 */
        square.exp--;
        *y = next_to(ulp_exact_add(one, ulp_exact_negate(square)), 1);
        return size < 0x1p-54;
    case ULP_FUNCTION_SIGMOID: /* 1/2 + x/4 - x^3/48 */
        half.exp--;
        *y = next_to(ulp_exact_add(ulp_exact_of(0.5), half), x.neg);
        return size < 0x1p-44;
    case ULP_FUNCTION_GELU: /* x/2 + x^2 / sqrt(2 pi) */
    case ULP_FUNCTION_GELU_TANH: *y = next_to(half, !x.neg); return size < 0x1p-132;
    case ULP_FUNCTION_SILU: /* x/2 + x^2/4 - x^4/48 */
        square.exp -= 2;
        *y = next_to(ulp_exact_add(half, square), x.neg);
        return size < 0x1p-54;
    default: return 0;
    }
}

/* f(x) for x so far from zero that f is within 2^-128 of its asymptote, or beyond the range of every format. */
static int far_off(ulp_exact *y, ulp_function f, ulp_exact x, double size) {
    const int left = x.neg;
    switch (f) {
    case ULP_FUNCTION_EXP: *y = far_from_all(0, !left); return size > 800;
    case ULP_FUNCTION_EXP2: *y = far_from_all(0, !left); return size > 1200;
    case ULP_FUNCTION_TANH:
        *y = next_to(ulp_exact_of(left ? -1 : 1), 0); /* 1 - 2 e^(-2 x) */
        return size > 48;
    case ULP_FUNCTION_SIGMOID:
        *y = left ? far_from_all(0, 0) : next_to(ulp_exact_of(1), 0);
        return size > (left ? 800 : 96);
    case ULP_FUNCTION_SILU: *y = left ? far_from_all(1, 0) : next_to(x, 0); return size > (left ? 820 : 96);
    case ULP_FUNCTION_GELU: *y = left ? far_from_all(1, 0) : next_to(x, 0); return size > (left ? 40 : 14);
    case ULP_FUNCTION_GELU_TANH: *y = left ? far_from_all(1, 0) : next_to(x, 0); return size > (left ? 25 : 11);
    case ULP_FUNCTION_SOFTPLUS: *y = left ? far_from_all(0, 0) : next_to(x, 1); return size > (left ? 800 : 96);
    default: return 0;
    }
}

/* f(x) where it has a finite binary expansion and x is neither 0 nor infinite, and outside the domain. */
static int of_finite_expansion(ulp_exact *y, ulp_function f, ulp_exact x, double value) {
    const int32_t e = x.exp + 127; /* 2^e <= |x| < 2^(e+1) */
    const int is_power = x.hi == 1ull << 63;
    const ulp_exact one = ulp_exact_of(1);
    *y = special(ULP_EXACT_NAN, 0);
    switch (f) {
    case ULP_FUNCTION_EXP2:
        *y = one;
        if (!(value >= -1200 && value <= 1200) || value != (double)(int32_t)value) return 0;
        y->exp += (int32_t)value;
        return 1;
    case ULP_FUNCTION_LOG:
        if (value == 1) *y = special(ULP_EXACT_ZERO, 0);
        return value == 1 || x.neg;
    case ULP_FUNCTION_LOG2:
        if (!x.neg && is_power) *y = ulp_exact_of(e);
        return x.neg || is_power;
    case ULP_FUNCTION_RSQRT:
        if (!x.neg) *y = one;
        y->exp -= e / 2;
        return x.neg || (is_power && e % 2 == 0);
    case ULP_FUNCTION_RECIPROCAL: *y = ulp_exact_div(one, x); return 1;
    default: return 0;
    }
}

/* The limbs of the first computation: 64 bits more than the result, and for gelu the bits that cancel left of zero,
 * x^2 log2(e) / 2 and a few. */
static uint32_t first_limbs(ulp_function f, double x) {
    return f == ULP_FUNCTION_GELU && x < -1 ? LEAST + (uint32_t)(x * x * 0.7213475204444817 + 48) / 32
                                            : (uint32_t)LEAST;
}

ulp_exact ulp_exact_function(ulp_function f, double x) {
    const ulp_exact number = ulp_exact_of(x);
    const double size = x < 0 ? -x : x;
    ulp_exact y = special(ULP_EXACT_NAN, 0);
    ulp_ball ball;
    if (number.kind == ULP_EXACT_NAN || (unsigned)f >= ULP_FUNCTION_COUNT) return y;
    if (number.kind != ULP_EXACT_FINITE) {
        if (at_end(&y, f, number.neg, number.kind == ULP_EXACT_ZERO)) return y;
    } else if (of_finite_expansion(&y, f, number, x) || near_zero(&y, f, number, size) ||
               far_off(&y, f, number, size)) {
        return y;
    }
    for (uint32_t n = first_limbs(f, x);; n += n / 2 + 1) {
        if (n > ULP_BALL_MOST) n = ULP_BALL_MOST;
        ulp_ball_function(&ball, f, x, n);
        if (ulp_ball_exact(&y, &ball) || n == ULP_BALL_MOST) return y;
    }
}

double ulp_evaluate(ulp_function f, double x, const ulp_format *format, ulp_rule rule, uint32_t word) {
    const double operand =
        ulp_op_of_operands((ulp_scalar_op){ULP_SQRT, x, 0.0, 0.0}, format).a; /* a suffix may flush */
    return ulp_round_exact(ulp_exact_function(f, operand), format, rule, word);
}

/* ---- names ---- */

static const char *const names[] = {
#define ULP_FUNCTION_NAME(id, name, meaning) name,
    ULP_FUNCTIONS(ULP_FUNCTION_NAME)
#undef ULP_FUNCTION_NAME
};

static const char *const meanings[] = {
#define ULP_FUNCTION_MEANING(id, name, meaning) meaning,
    ULP_FUNCTIONS(ULP_FUNCTION_MEANING)
#undef ULP_FUNCTION_MEANING
};

const char *ulp_function_name(ulp_function f) { return (unsigned)f < ULP_FUNCTION_COUNT ? names[f] : NULL; }

const char *ulp_function_meaning(ulp_function f) { return (unsigned)f < ULP_FUNCTION_COUNT ? meanings[f] : NULL; }

const char *ulp_operation_name(int i) {
    return i < ULP_OP_COUNT ? ulp_op_name((ulp_op)i) : ulp_function_name((ulp_function)(i - ULP_OP_COUNT));
}

ulp_status ulp_function_parse(ulp_function *f, const char *text) {
    if (f == NULL || text == NULL) return ULP_BAD_ARGUMENT;
    for (int i = 0; i < ULP_FUNCTION_COUNT; i++) {
        const char *a = names[i], *b = text;
        while (*a != '\0' && *a == *b) a++, b++;
        if (*a != *b) continue;
        *f = (ulp_function)i;
        return ULP_OK;
    }
    return ULP_BAD_NAME;
}

ulp_status ulp_function_check(ulp_function f, const ulp_format *format, ulp_rule rule) {
    if ((unsigned)f >= ULP_FUNCTION_COUNT) return ULP_BAD_ARGUMENT;
    ULP_TRY(ulp_rule_check(format, rule));
    const int wraps = ulp_overflow_of(format, (ulp_overflow)rule.overflow) == ULP_OVERFLOW_WRAP;
    return wraps && (f == ULP_FUNCTION_EXP || f == ULP_FUNCTION_EXP2) ? ULP_UNSUPPORTED : ULP_OK;
}
