/* ball.h - numbers of many limbs with a bound on their error: the arithmetic of function.h.
 *
 * A ball is a number and a radius (van der Hoeven 2009, Ball arithmetic; Johansson 2017, doi:10.1109/TC.2017.2690633):
 * the exact value lies within the radius. Each operation adds what it may lose to the radius, so that the radius of a
 * result needs no proof for a whole function. A radius of ULP_BALL_LOST or more says that nothing is known.
 */
#ifndef ULP_BALL_H
#define ULP_BALL_H

#include "function.h"

ULP_C_BEGIN

enum { ULP_BALL_MOST = 48 }; /* limbs */
#define ULP_BALL_LOST (1ull << 60)

/* The value is (-1)^neg (limb + d) 2^exp with |d| <= radius; limb is an integer of n limbs, the lowest first, and the
 * top bit of limb[n - 1] is set. */
typedef struct ulp_ball {
    uint64_t radius;
    int32_t exp;
    uint32_t n, neg;
    uint32_t limb[ULP_BALL_MOST];
} ulp_ball;

/* The constants of which a ball holds n limbs. */
typedef enum ulp_ball_constant { ULP_HALF_PI, ULP_LN_2, ULP_DENSITY_AT_0 /* 1/sqrt(2 pi) */ } ulp_ball_constant;
void ulp_ball_of_constant(ulp_ball *y, ulp_ball_constant constant, uint32_t n);

/* x, a finite number that is not zero, without its sticky bit; n >= 4. */
void ulp_ball_of(ulp_ball *y, ulp_exact x, uint32_t n);

/* 2^top <= |x| < 2^(top + 1), but for the radius. */
static inline int32_t ulp_ball_top(const ulp_ball *x) { return x->exp + 32 * (int32_t)x->n - 1; }

/* A binary64 number near x, whose exponent fits binary64. */
double ulp_ball_near(const ulp_ball *x);

/* a + b, a b, a / b. The result may be an operand. It has the fewer limbs of the operands' numbers; a sum has what is
 * known of the larger operand, less leading zeros. */
void ulp_ball_add(ulp_ball *y, const ulp_ball *a, const ulp_ball *b);
void ulp_ball_mul(ulp_ball *y, const ulp_ball *a, const ulp_ball *b);
void ulp_ball_div(ulp_ball *y, const ulp_ball *a, const ulp_ball *b);

/* x k and x / k for an integer k > 0. */
void ulp_ball_times(ulp_ball *x, uint32_t k);
void ulp_ball_over(ulp_ball *x, uint32_t k);

/* Leaves out limbs of x below 2^exp, and keeps two at least. */
void ulp_ball_cut(ulp_ball *x, int32_t exp);

/* The quadrant q and the ball r with x = q pi/2 + r and |r| <= 1; x as for ulp_ball_of. */
uint32_t ulp_ball_quadrant(ulp_ball *r, ulp_exact x, uint32_t n);

/* The upper 128 bits of x and a sticky bit, if each number of the ball that is not its end has these. Returns 0 else,
 * and sets *y to the upper bits of the middle without a sticky bit. */
int ulp_ball_exact(ulp_exact *y, const ulp_ball *x);

/* f(x) to about n limbs, for a finite x for which f is neither of finite expansion nor beyond the range of binary64; x
 * may be zero for softplus alone. */
void ulp_ball_function(ulp_ball *y, ulp_function f, double x, uint32_t n);

ULP_C_END
#endif
