/* function.h - exp, log, tanh, gelu and other functions of one number, correctly rounded in every format and mode.
 *
 * A function gives the upper 128 bits of its exact value, or three fewer, and a sticky bit, and ulp_round_exact rounds
 * this once. The value is computed with a bound on its error (ball.h). If the bound leaves the 128 bits open, the value
 * is computed again with more limbs (Ziv 1991, doi:10.1145/114697.116813): 192 bits, then 320, 512, 800, 1216 and 1536.
 *
 * This ends if the exact value has more than 128 bits. For arguments x of finite binary expansion:
 *   - values of finite expansion are found beforehand: f(0), log(1), exp2 of an integer, log2 of a power of two, rsqrt
 *     of a power of four; reciprocal and the other rsqrt are decided by integers or differ from 128 bits by 2^-310;
 *   - exp, log, sin, cos, tanh, sigmoid and silu of another x are transcendental (Lindemann 1882: so is e^z for an
 *     algebraic z that is not 0); exp2 of a fraction and log2 of another number are irrational;
 *   - softplus: 1 + e^x = e^y with algebraic x and y contradicts the theorem of Lindemann and Weierstrass (1885), by
 *     which exponentials of different algebraic numbers are linearly independent;
 *   - for gelu and gelu_tanh no theorem is known. A computation that ends is a proof for its argument, and the tests
 *     compute every argument of the registered formats of 16 bits.
 * Where x is so near to 0, or so large, that the value differs from a short number by less than 2^-128 of it, the sign
 * of the difference is used instead. No number of the registered formats of 9 to 16 bits needs more than 512 bits,
 * but for gelu left of -1, which begins with the bits that cancel there. If 1536 bits did not decide, the 128 bits
 * would be taken as the exact value; no test has seen this.
 */
#ifndef ULP_FUNCTION_H
#define ULP_FUNCTION_H

#include "round.h"

ULP_C_BEGIN

/* The functions: X(enumerator, name, meaning). Results for zeros, infinities and domains are those of IEEE
 * 754-2019, 9.2.1, and limits: sigmoid(-Inf) = +0, silu(-Inf) = gelu(-Inf) = -0. */
#define ULP_FUNCTIONS(X)                                                                                               \
    X(ULP_FUNCTION_EXP, "exp", "e^x")                                                                                  \
    X(ULP_FUNCTION_EXP2, "exp2", "2^x")                                                                                \
    X(ULP_FUNCTION_LOG, "log", "the natural logarithm")                                                                \
    X(ULP_FUNCTION_LOG2, "log2", "the logarithm to base 2")                                                            \
    X(ULP_FUNCTION_SIN, "sin", "the sine, x in radians")                                                               \
    X(ULP_FUNCTION_COS, "cos", "the cosine, x in radians")                                                             \
    X(ULP_FUNCTION_TANH, "tanh", "the hyperbolic tangent")                                                             \
    X(ULP_FUNCTION_SIGMOID, "sigmoid", "1 / (1 + e^-x)")                                                               \
    X(ULP_FUNCTION_GELU, "gelu", "x (1 + erf(x / sqrt 2)) / 2")                                                        \
    X(ULP_FUNCTION_GELU_TANH, "gelu_tanh", "x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2")                          \
    X(ULP_FUNCTION_SILU, "silu", "x / (1 + e^-x)")                                                                     \
    X(ULP_FUNCTION_SOFTPLUS, "softplus", "log(1 + e^x)")                                                               \
    X(ULP_FUNCTION_RSQRT, "rsqrt", "1 / sqrt x")                                                                       \
    X(ULP_FUNCTION_RECIPROCAL, "reciprocal", "1 / x")

typedef enum ulp_function {
#define ULP_FUNCTION_ID(id, name, meaning) id,
    ULP_FUNCTIONS(ULP_FUNCTION_ID)
#undef ULP_FUNCTION_ID
        ULP_FUNCTION_COUNT
} ulp_function;

/* NULL past the end. */
const char *ulp_function_name(ulp_function function);
const char *ulp_function_meaning(ulp_function function);
ulp_status ulp_function_parse(ulp_function *function, const char *text);

/* The operations (ulp_op) and, after them, the functions in one list. */
enum { ULP_OPERATION_COUNT = (int)ULP_OP_COUNT + (int)ULP_FUNCTION_COUNT };

/* NULL past the end. */
const char *ulp_operation_name(int i);

/* f(x) for any binary64 number. */
ulp_exact ulp_exact_function(ulp_function function, double x);

/* f(x) rounded once. */
double ulp_evaluate(ulp_function function, double x, const ulp_format *format, ulp_rule rule, uint32_t word);

/* Whether the function is offered under the rule. Returns ULP_UNSUPPORTED for exp and exp2 with wrap-around, which
 * needs the bits of the result below 2^bits, however large the result is. */
ulp_status ulp_function_check(ulp_function function, const ulp_format *format, ulp_rule rule);

ULP_C_END
#endif
