/* reduction_oracle.h - the oracle for reductions over ranks: the mean of one element by recursion, every rounding by
 * MPFR.
 *
 * It follows the description in kernels/reduction/reduction.h and shares no code with the tested code.
 */
#ifndef ULP_TESTS_REDUCTION_ORACLE_H
#define ULP_TESTS_REDUCTION_ORACLE_H

#include "support.h"

#include "kernels/reduction/reduction.h"
#include "kernels/mpfr/reference.h"

/* The mean of element i of x (R,n). */
typedef struct mean_of {
    const ulp_reduction *how;
    ulp_reference *ref, *single;
    ulp_stream stream;
    const float *x;
    size_t R, n, i;
} mean_of;

static inline double mean_round(const mean_of *m, ulp_op op, double a, double b, uint64_t number) {
    const uint32_t word =
        ulp_mode_is_stochastic(m->how->rule.mode) ? ulp_random_word(m->stream, (number << 32) + m->i) : 0;
    return ulp_reference_arith(m->ref, (ulp_scalar_op){op, a, b, 0}, m->how->rule, word);
}

static inline double mean_divisor(const mean_of *m, ulp_mean_place place) {
    if (m->how->mean == ULP_MEAN_HALF) return (double)(float)sqrt((double)m->R);
    return m->how->mean == place ? (double)m->R : 1;
}

static inline double mean_leaf(const mean_of *m, size_t r) {
    const double x = (double)m->x[r * m->n + m->i], d = mean_divisor(m, ULP_MEAN_BEFORE);
    if (m->how->order == ULP_REDUCE_TWO_LEVEL)
        return ulp_reference_arith(m->single, (ulp_scalar_op){ULP_DIV, x, d, 0}, (ulp_rule){0}, 0);
    return mean_round(m, ULP_DIV, x, d, m->R + r);
}

/* Members 0 .. N - 1 of a ring are ranks, or nodes of two-level. */
static inline double mean_member(const mean_of *m, size_t q) {
    const size_t first = q * m->how->node, end = first + m->how->node < m->R ? first + m->how->node : m->R;
    if (m->how->order == ULP_REDUCE_RING) return mean_leaf(m, q);
    double sum = mean_leaf(m, first);
    for (size_t r = first + 1; r < end; r++)
        sum = ulp_reference_arith(m->single, (ulp_scalar_op){ULP_ADD, sum, mean_leaf(m, r), 0}, (ulp_rule){0}, 0);
    return mean_round(m, ULP_DIV, sum, 1, 2 * m->R + q);
}

static inline double mean_ring(const mean_of *m, size_t N) {
    const size_t c = m->i / ((m->n + N - 1) / N);
    double sum = mean_member(m, (c + 1) % N);
    for (size_t t = 1; t < N; t++) sum = mean_round(m, ULP_ADD, sum, mean_member(m, (c + 1 + t) % N), t);
    return sum;
}

/* The binomial tree over ranks first .. first + size - 1, size a power of two, as far as they exist. */
static inline double mean_tree(const mean_of *m, size_t first, size_t size) {
    if (size == 1) return mean_leaf(m, first);
    const double left = mean_tree(m, first, size / 2);
    if (first + size / 2 >= m->R) return left;
    return mean_round(m, ULP_ADD, left, mean_tree(m, first + size / 2, size / 2), first + size / 2);
}

/* Numbers v .. v + size - 1 of recursive doubling; `extra` of them stand for two ranks. */
static inline size_t mean_rank(size_t v, size_t extra) { return v < extra ? 2 * v : v + extra; }

static inline double mean_doubling(const mean_of *m, size_t v, size_t size, size_t extra) {
    const size_t r = mean_rank(v, extra);
    if (size == 1 && v >= extra) return mean_leaf(m, r);
    if (size == 1) return mean_round(m, ULP_ADD, mean_leaf(m, r), mean_leaf(m, r + 1), r + 1);
    return mean_round(m, ULP_ADD, mean_doubling(m, v, size / 2, extra), mean_doubling(m, v + size / 2, size / 2, extra),
                      mean_rank(v + size / 2, extra));
}

static inline double mean_oracle(const mean_of *m) {
    size_t P = 1;
    double sum = 0;
    while (P < m->R) P *= 2;
    const size_t below = P > m->R ? P / 2 : P;
    switch ((ulp_reduction_order)m->how->order) {
    case ULP_REDUCE_RING: sum = mean_ring(m, m->R); break;
    case ULP_REDUCE_TREE: sum = mean_tree(m, 0, P); break;
    case ULP_REDUCE_DOUBLING: sum = mean_doubling(m, 0, below, m->R - below); break;
    case ULP_REDUCE_TWO_LEVEL: sum = mean_ring(m, (m->R + m->how->node - 1) / m->how->node); break;
    case ULP_REDUCE_ORDERS: break;
    }
    return mean_round(m, ULP_DIV, sum, mean_divisor(m, ULP_MEAN_AFTER), 0);
}

#endif
