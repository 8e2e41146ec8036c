/* judge.c - what the oracle is asked about a run, and why no wrong result is left.
 *
 * Let R0(x) be the exact rounding of x before overflow, and R(x) the right result. The claim: if the questions below
 * are answered as the run says, then every result of the run is right. Within a run the inputs x are of one sign and
 * all finite, or all equal to one infinity, or all NaN (spans of sweep.h); the last two kinds have one right result.
 *
 * Constant runs with the result r: the oracle gives R(a) = R(b) = r for the first input a and the last input b.
 *
 *  - R0 is monotone: in every deterministic mode x <= y gives R0(x) <= R0(y), and R0(0) = 0. So the inputs of one sign
 *    with R0(x) in range are those up to some magnitude. R(x) = R0(x) for them, where a zero has the one sign that the
 *    format gives to zeros of this sign. For the finite inputs beyond, R(x) is one constant c, which depends on format,
 *    mode, policy and sign: an end of the range, an infinity or NaN.
 *  - If a and b are both in range, R0(a) = R0(b) = r, and R0(x) = r for each x between.
 *  - If both are beyond the range, so is each x between, and R(x) = c = r.
 *  - If one is in range and the other beyond, then r = c is a number of the format and R0 of the one: the end of the
 *    range e (every other number of the format is no constant c). For x between, R0(x) is e or beyond e, and R(x) = r.
 *  - An unsigned format: for negative inputs the range is R0(x) = 0, where the result is the least number of the
 *    format, as it is for c under sat. Formats without zero have their least number in place of 0. Both keep R0
 *    monotone and the three cases above true.
 *  - Under wrap R(x) = R0(x) modulo M = 2^bits quanta q, which is not monotone. But |R0(x) - x| < q, and so
 *    |R0(b) - R0(a)| < |b - a| + 2 q. If |b - a| <= M - 2 q, R0(a) and R0(b) are congruent and nearer to each other
 * than M: they are equal, and R0 is monotone. If |x| >= 2^23 M for all x of the run, every x is a multiple of M and has
 *    the result of the first. Of every other constant run all inputs are asked.
 *
 * Exact runs: the run is cut where the exponent of the input changes. In one binade the numbers of every format, from
 * its least to its largest magnitude, are the multiples of one power of two, or one number at most (fixed and floating
 * point by definition; a posit, a takum and hif8 have one precision for each exponent). The inputs of a binade are
 * x, x + s, x + 2 s, ... If the oracle gives the first, the second and the last input of the part their own values,
 * then x and s are multiples of that power of two, and all inputs between are, and in range. So they are numbers of the
 * format, and R(x) = x. Under wrap the same holds of R0(x) = x, because R0(x) - x is a multiple of M less than q.
 *
 * A run that fails is gone through input by input, so that the number of mismatches is exact.
 */
#include "sweep.h"

#include <math.h>

int sweep_agrees(double got, double want) {
    return ulp_bits64(got) == ulp_bits64(want == want ? want : ulp_quiet_nan());
}

double sweep_exact(const sweep_question *q, double x) {
    if (!q->wraps) return x;
    const double whole = ulp_scale(1.0, q->format->bits - q->format->frac_bits), half = 0.5 * whole;
    if (x >= -half && x < half) return x;
    if (fabs(x) >= 0x1p23 * whole) return 0.0;    /* a multiple of the modulus */
    return x - whole * floor((x + half) / whole); /* exact: a multiple of the last place of x or of half */
}

static double input(const sweep_run *run, uint32_t i) { return (double)ulp_from_bits32(sweep_word(&run->inputs, i)); }

static double result_of(const sweep_question *q, const sweep_run *run, uint32_t i) {
    if (run->exact) return q->wide ? sweep_exact(q, input(run, i)) : (double)(float)sweep_exact(q, input(run, i));
    return q->wide ? ulp_from_bits64(run->result) : (double)ulp_from_bits32((uint32_t)run->result);
}

static int is_right(const sweep_question *q, const sweep_run *run, uint32_t i, sweep_result *to) {
    to->asked++;
    return sweep_agrees(result_of(q, run, i), q->oracle(q->judge, input(run, i)));
}

/* Count the wrong results, and report the first. */
static void count_wrong(const sweep_question *q, const sweep_run *run, sweep_result *to) {
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < run->inputs.count; i++) {
        const double x = input(run, (uint32_t)i), got = result_of(q, run, (uint32_t)i), want = q->oracle(q->judge, x);
        to->asked++;
        if (sweep_agrees(got, want)) continue;
        if (wrong++ == 0 && q->wrong) q->wrong(q->context, run, x, got, want);
    }
    to->mismatches += wrong;
    to->wrong_runs += wrong > 0;
}

/* Whether the ends of a constant run under wrap decide the inputs between. */
static int ends_decide(const sweep_question *q, const sweep_run *run) {
    const double quantum = ulp_scale(1.0, -q->format->frac_bits), whole = ulp_scale(quantum, q->format->bits);
    const double a = input(run, 0), b = input(run, run->inputs.count - 1);
    const double least = fmin(fabs(a), fabs(b));
    if (run->inputs.count <= 2 || a - a != 0.0) return 1;
    return fabs(b - a) <= whole - 2 * quantum || least >= 0x1p23 * whole;
}

static int constant_is_right(const sweep_question *q, const sweep_run *run, sweep_result *to) {
    if (q->wraps && !ends_decide(q, run)) return 0;
    if (!is_right(q, run, 0, to)) return 0;
    return run->inputs.count == 1 || is_right(q, run, run->inputs.count - 1, to);
}

/* The exponent of an input: finite inputs with one exponent are one binade. */
static int binade_of(const sweep_run *run, uint32_t i) {
    const double x = input(run, i);
    int e = 0;
    if (x - x == 0.0) frexp(x, &e);
    return e;
}

/* The index after the last input of the binade of input i. */
static uint32_t binade_end(const sweep_run *run, uint32_t i) {
    uint32_t low = i, high = run->inputs.count; /* input `low` has the exponent, input `high` has another */
    const int e = binade_of(run, i);
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (binade_of(run, middle) == e) low = middle;
        else high = middle;
    }
    return high;
}

static int exact_is_right(const sweep_question *q, const sweep_run *run, sweep_result *to) {
    for (uint32_t i = 0, end; i < run->inputs.count; i = end) {
        end = binade_end(run, i);
        if (!is_right(q, run, i, to)) return 0;
        if (end - i > 2 && !is_right(q, run, i + 1, to)) return 0;
        if (end - i > 1 && !is_right(q, run, end - 1, to)) return 0;
    }
    return 1;
}

void sweep_judge(const sweep_question *q, const sweep_run *run, sweep_result *to) {
    if (!(run->exact ? exact_is_right : constant_is_right)(q, run, to)) count_wrong(q, run, to);
}
