/* ball_functions.c - exp, log, sin, gelu and other functions with a bound on the error; see ball.h. */
#include "ball.h"

/* ---- numbers ---- */

static void of_double(ulp_ball *y, double x, uint32_t n) { ulp_ball_of(y, ulp_exact_of(x), n); }

/* y = y + x, to n limbs. */
static void add_double(ulp_ball *y, double x, uint32_t n) {
    ulp_ball other;
    of_double(&other, x, n);
    ulp_ball_add(y, y, &other);
}

static void negate(ulp_ball *y) { y->neg ^= 1u; }

static void lose(ulp_ball *y) { y->radius = ULP_BALL_LOST; }

/* ---- power series ---- */

typedef enum series { OF_EXP, OF_SIN, OF_COS, OF_ERF, OF_ATANH } series;

/* Term k is term k - 1 times t and over this number; in OF_ATANH the power is, and this number divides what is added.
 */
static uint32_t divisor(series of, uint32_t k) {
    switch (of) {
    case OF_EXP: return k;
    case OF_SIN: return 2 * k * (2 * k + 1);
    case OF_COS: return (2 * k - 1) * (2 * k);
    case OF_ERF:
    case OF_ATANH: break;
    }
    return 2 * k + 1;
}

/* sum = first + its terms k = first_k, first_k + 1, ... The terms end when one is below the last bit of the sum and
 * below half of the one before; the ratio of terms only falls, so that this one and all that follow are below two last
 * bits. */
static void add_series(ulp_ball *sum, series of, const ulp_ball *first, const ulp_ball *t, uint32_t first_k) {
    ulp_ball term = *first, part;
    *sum = *first;
    for (uint32_t k = first_k;; k++) {
        const int32_t before = ulp_ball_top(&term);
        ulp_ball_cut(&term, sum->exp - 32);
        ulp_ball_mul(&term, &term, t);
        if (of != OF_ATANH) ulp_ball_over(&term, divisor(of, k));
        const int32_t top = ulp_ball_top(&term);
        if (term.radius >= ULP_BALL_LOST || sum->radius >= ULP_BALL_LOST) break;
        if (top < sum->exp && top + 2 <= before) break;
        if (of == OF_ATANH) {
            part = term;
            ulp_ball_over(&part, divisor(of, k));
            ulp_ball_add(sum, sum, &part);
        } else {
            ulp_ball_add(sum, sum, &term);
        }
    }
    sum->radius = term.radius < ULP_BALL_LOST ? sum->radius + 2 : ULP_BALL_LOST;
}

/* y = e^x for |x| < 2^12. */
static void exp_ball(ulp_ball *y, const ulp_ball *x) {
    ulp_ball r = *x, part, one;
    const uint32_t n = x->n < 4 ? 4 : x->n;
    const double quotient = ulp_ball_near(x) * 1.4426950408889634;
    const int32_t k = (int32_t)(quotient < 0 ? quotient - 0.5 : quotient + 0.5);
    if (k != 0) {
        ulp_ball_of_constant(&part, ULP_LN_2, n);
        ulp_ball_times(&part, (uint32_t)(k < 0 ? -k : k));
        part.neg = k > 0;
        ulp_ball_add(&r, &r, &part);
    }
    /* e^r = (e^(r 2^-halvings))^(2^halvings) */
    const int32_t halvings = ulp_ball_top(&r) < -32 ? 0 : n < 15 ? (int32_t)(2 * n + 2) : 32;
    r.exp -= halvings;
    of_double(&one, 1, n);
    add_series(y, OF_EXP, &one, &r, 1);
    for (int32_t i = 0; i < halvings; i++) ulp_ball_mul(y, y, y);
    y->exp += k;
}

/* y = e^x - 1. */
static void expm1_ball(ulp_ball *y, const ulp_ball *x) {
    if (ulp_ball_top(x) < -20) {
        add_series(y, OF_EXP, x, x, 2);
        return;
    }
    exp_ball(y, x);
    add_double(y, -1, x->n);
}

/* y = log((1 + t) / (1 - t)) = 2 atanh t for |t| < 1/4. */
static void twice_atanh(ulp_ball *y, const ulp_ball *t) {
    ulp_ball square;
    ulp_ball_mul(&square, t, t);
    add_series(y, OF_ATANH, t, &square, 1);
    y->exp++;
}

/* y = log(1 + d) for |d| < 1/2. */
static void log1p_ball(ulp_ball *y, const ulp_ball *d) {
    ulp_ball sum = *d, quotient;
    add_double(&sum, 2, d->n < 4 ? 4 : d->n);
    ulp_ball_div(&quotient, d, &sum);
    twice_atanh(y, &quotient);
}

/* log x with an error below 2^-40, for 1/2 < x < 2. */
static double log_near(double x) {
    const double t = (x - 1) / (x + 1), square = t * t;
    double sum = 0;
    for (int k = 25; k > 0; k -= 2) sum = sum * square + 1.0 / k;
    return 2 * t * sum;
}

/* y = log x for x > 0 that is not 1. With x = m 2^e and a number c near log m, log x = e log 2 + c + log(m e^-c). */
static void log_ball(ulp_ball *y, const ulp_ball *x) {
    ulp_ball m = *x, part;
    int32_t e = ulp_ball_top(x) + 1;
    m.exp -= e; /* 1/2 <= m < 1 */
    if (ulp_ball_near(&m) < 0.7071067811865476) {
        m.exp++;
        e--;
    }
    const double near = ulp_ball_near(&m), from_1 = near < 1 ? 1 - near : near - 1;
    double c = 0;
    if (near == 1 && x->radius == 0) { /* x = 2^e */
        ulp_ball_of_constant(y, ULP_LN_2, x->n);
        ulp_ball_times(y, (uint32_t)(e < 0 ? -e : e));
        y->neg = e < 0;
        return;
    }
    if (from_1 > 0x1p-6) {
        c = log_near(near);
        of_double(&part, -c, x->n);
        exp_ball(&part, &part);
        ulp_ball_mul(&m, &m, &part);
    }
    add_double(&m, -1, x->n);
    log1p_ball(y, &m);
    if (c != 0) add_double(y, c, x->n);
    if (e == 0) return;
    ulp_ball_of_constant(&part, ULP_LN_2, x->n);
    ulp_ball_times(&part, (uint32_t)(e < 0 ? -e : e));
    part.neg = e < 0;
    ulp_ball_add(y, y, &part);
}

/* y = sin or cos of x. */
static void circle(ulp_ball *y, double x, uint32_t n, uint32_t quarters) {
    ulp_ball r, square, one;
    const uint32_t q = (ulp_ball_quadrant(&r, ulp_exact_of(x), n) + quarters) & 3u;
    ulp_ball_mul(&square, &r, &r);
    negate(&square);
    if (q & 1u) {
        of_double(&one, 1, n);
        add_series(y, OF_COS, &one, &square, 1);
    } else {
        add_series(y, OF_SIN, &r, &square, 1);
    }
    if (q & 2u) negate(y);
}

/* y = 1 / (1 + e^-x). */
static void sigmoid_ball(ulp_ball *y, const ulp_ball *x) {
    ulp_ball power = *x, one;
    negate(&power);
    exp_ball(&power, &power);
    of_double(&one, 1, x->n);
    ulp_ball_add(&power, &power, &one);
    ulp_ball_div(y, &one, &power);
}

/* y = x (1 + erf(x / sqrt 2)) / 2 = x (1/2 + e^(-x^2/2) / sqrt(2 pi) (x + x^3/3 + x^5/(3 5) + ...)) (Abramowitz and
 * Stegun 1964, 26.2.11). */
static void gelu(ulp_ball *y, const ulp_ball *x) {
    ulp_ball square, sum, density, factor;
    ulp_ball_mul(&square, x, x);
    add_series(&sum, OF_ERF, x, &square, 1);
    square.exp--;
    negate(&square);
    exp_ball(&density, &square);
    ulp_ball_of_constant(&factor, ULP_DENSITY_AT_0, x->n);
    ulp_ball_mul(&density, &density, &factor);
    ulp_ball_mul(&sum, &sum, &density);
    add_double(&sum, 0.5, x->n);
    ulp_ball_mul(y, &sum, x);
}

/* y = x sigmoid(4 / sqrt(2 pi) x (1 + 0.044715 x^2)) */
static void gelu_tanh(ulp_ball *y, const ulp_ball *x) {
    ulp_ball v, factor;
    ulp_ball_mul(&v, x, x);
    ulp_ball_times(&v, 44715);
    ulp_ball_over(&v, 1000000);
    add_double(&v, 1, x->n);
    ulp_ball_mul(&v, &v, x);
    ulp_ball_of_constant(&factor, ULP_DENSITY_AT_0, x->n);
    factor.exp += 2;
    ulp_ball_mul(&v, &v, &factor);
    sigmoid_ball(&v, &v);
    ulp_ball_mul(y, &v, x);
}

/* y = tanh x = sign(x) (e^(2 |x|) - 1) / (e^(2 |x|) + 1). */
static void tanh_ball(ulp_ball *y, const ulp_ball *x) {
    ulp_ball twice = *x, above, below;
    twice.exp++;
    twice.neg = 0;
    expm1_ball(&above, &twice);
    below = above;
    add_double(&below, 2, x->n);
    ulp_ball_div(y, &above, &below);
    y->neg = x->neg;
}

/* y = log(1 + e^x) = max(x, 0) + log(1 + e^-|x|). */
static void softplus(ulp_ball *y, const ulp_ball *x) {
    ulp_ball t = *x, power;
    t.neg = 1;
    exp_ball(&power, &t);
    if (ulp_ball_top(&power) < -6) {
        log1p_ball(y, &power);
    } else {
        add_double(&power, 1, x->n);
        log_ball(y, &power);
    }
    if (!x->neg) ulp_ball_add(y, y, x);
}

/* y = 1 / sqrt x. Newton's step from a number z with z^2 x = 1 - d: 1 / sqrt x = z (1 - d)^(-1/2) = z (1 + d/2) + z c
 * with |c| < d^2 for |d| < 1/2. */
static void rsqrt(ulp_ball *y, const ulp_ball *x) {
    ulp_ball m = *x, d, part;
    const int32_t half = ulp_ball_top(x) >> 1;
    m.exp -= 2 * half; /* 1 <= m < 4 */
    const double near = ulp_ball_near(&m);
    double z = 1.17 - 0.18 * near;
    for (int i = 0; i < 5; i++) z = z * (1.5 - 0.5 * near * z * z);
    of_double(y, z, x->n);
    for (int32_t top = 0; - 2 * (top + 1) < 32 * (int32_t)x->n;) {
        y->radius = 0; /* z is the middle of the last ball */
        ulp_ball_mul(&d, y, y);
        ulp_ball_mul(&d, &d, &m);
        negate(&d);
        add_double(&d, 1, x->n);
        top = ulp_ball_top(&d);
        if (d.radius >= ULP_BALL_LOST || top > -2) {
            lose(y);
            return;
        }
        d.exp--;
        ulp_ball_mul(&part, y, &d);
        ulp_ball_add(y, y, &part);
        y->radius += 2;
    }
    y->exp -= half;
}

/* ---- all ---- */

void ulp_ball_function(ulp_ball *y, ulp_function f, double of, uint32_t n) {
    ulp_ball x, part;
    if (of == 0) { /* of softplus */
        ulp_ball_of_constant(y, ULP_LN_2, n);
        return;
    }
    of_double(&x, of, n);
    switch (f) {
    case ULP_FUNCTION_EXP: exp_ball(y, &x); break;
    case ULP_FUNCTION_EXP2:
        ulp_ball_of_constant(&part, ULP_LN_2, n);
        ulp_ball_mul(&part, &part, &x);
        exp_ball(y, &part);
        break;
    case ULP_FUNCTION_LOG: log_ball(y, &x); break;
    case ULP_FUNCTION_LOG2:
        log_ball(y, &x);
        ulp_ball_of_constant(&part, ULP_LN_2, n);
        ulp_ball_div(y, y, &part);
        break;
    case ULP_FUNCTION_SIN: circle(y, of, n, 0); break;
    case ULP_FUNCTION_COS: circle(y, of, n, 1); break;
    case ULP_FUNCTION_TANH: tanh_ball(y, &x); break;
    case ULP_FUNCTION_SIGMOID: sigmoid_ball(y, &x); break;
    case ULP_FUNCTION_GELU: gelu(y, &x); break;
    case ULP_FUNCTION_GELU_TANH: gelu_tanh(y, &x); break;
    case ULP_FUNCTION_SILU:
        sigmoid_ball(y, &x);
        ulp_ball_mul(y, y, &x);
        break;
    case ULP_FUNCTION_SOFTPLUS: softplus(y, &x); break;
    case ULP_FUNCTION_RSQRT: rsqrt(y, &x); break;
    case ULP_FUNCTION_RECIPROCAL:
    case ULP_FUNCTION_COUNT: lose(y); break;
    }
}
