/* ctc.c - the backend "mpfr": the loss of sequences of labels, connectionist temporal classification.
 *
 * A second text of the definition in the head comment of kernels/functions/ctc.h. Sums, products and their roundings
 * are MPFR's, on the exact sum or product of two numbers; exp and log are those of functions.c. The extended sequence
 * is written out, and a place collects what the places before it (alpha) or after it (beta) give.
 */
#include "operations.h"
#include "reference.h"
#include "words.h"

#include <math.h>

/* The rounding of one sample's sums. */
typedef struct rounder {
    ulp_reference *ref;
    const ulp_rounding *how;
    ulp_stream stream; /* of alpha or beta, from the sample's first word on */
    int linear;
    double none, one; /* the probabilities 0 and 1 */
} rounder;

/* a + b rounded once. The logarithm of 0 stays what it is, and no one counts it. */
static double rounded_sum(const rounder *r, double a, double b, uint64_t word) {
    const double class = a + b; /* zero, finite, infinite or NaN like the exact sum */
    if (class == -INFINITY) return class;
    const uint32_t random = ulp_mode_is_stochastic(r->how->rule.mode) ? ulp_mpfr_word(r->stream, word) : 0;
    const double y = class == 0.0 ? ulp_reference_round(r->ref, class, 0.0, r->how->rule, random)
                                  : ulp_reference_round(r->ref, a, b, r->how->rule, random);
    ulp_stats *stats = r->how->stats;
    if (stats == NULL) return y;
    stats->count++;
    stats->overflow += (uint64_t)(isfinite(class) && isinf(y));
    stats->underflow += (uint64_t)(isfinite(class) && class != 0.0 && y == 0.0);
    stats->subnormal += (uint64_t)(y != 0.0 && fabs(y) < ulp_reference_min_normal(r->ref));
    stats->zero += (uint64_t)(y == 0.0);
    stats->nan += (uint64_t)isnan(y);
    return y;
}

/* The product of two probabilities: a product of 24-bit numbers is one binary64 number. */
static double both(const rounder *r, double a, double b, uint64_t word) {
    return r->linear ? rounded_sum(r, a * b, 0.0, word) : rounded_sum(r, a, b, word);
}

/* The sum of up to three probabilities, of which absent ones are not in the list. */
static double any(const rounder *r, const double *list, size_t n, uint64_t word) {
    double result = list[0], rest = 0.0;
    if (r->linear) {
        for (size_t i = 1; i < n; i++) result = rounded_sum(r, result, list[i], word++);
        return result;
    }
    for (size_t i = 0; i < n; i++) {
        if (isnan(list[i])) return list[i];
        result = fmax(result, list[i]);
    }
    if (result == -INFINITY) return result;
    for (size_t i = 0; i < n; i++) rest += ulp_mpfr_exp(list[i] - result);
    return rounded_sum(r, result + ulp_mpfr_log(rest), 0.0, word);
}

/* A sample: its extended sequence, and the outputs of the net. */
typedef struct sample {
    size_t S, C, T;
    size_t place[2 * ULP_LABELS_MAX + 1]; /* l (S), the number of an output */
    uint8_t jump[2 * ULP_LABELS_MAX + 1]; /* whether a path can come from two places before */
    const float *p;                       /* (C,T) */
} sample;

static sample sample_of(const ulp_sequences *of, const float *p, size_t b) {
    sample x = {.C = of->C, .T = of->T, .p = p + b * of->C * of->T};
    const uint8_t *label = of->L > 0 ? of->label + b * of->L : NULL;
    x.place[x.S++] = of->C - 1;
    for (size_t k = 0; k < of->L && label[k] != ULP_NO_LABEL; k++) {
        x.jump[x.S] = k > 0 && label[k] != label[k - 1];
        x.place[x.S++] = label[k];
        x.place[x.S++] = of->C - 1;
    }
    return x;
}

static double p_of(const sample *x, size_t s, size_t t) {
    return x->place[s] < x->C ? (double)x->p[x->place[s] * x->T + t] : (double)NAN;
}

/* alpha (T,S); returns P. */
static double forward(double *alpha, const sample *x, const rounder *r) {
    const size_t S = x->S, T = x->T;
    for (size_t s = 0; s < S; s++) alpha[s] = s <= 1 ? p_of(x, s, 0) : r->none;
    for (size_t t = 1; t < T; t++)
        for (size_t s = 0; s < S; s++) {
            double from[3] = {alpha[(t - 1) * S + s]};
            size_t n = 1;
            if (s >= 1) from[n++] = alpha[(t - 1) * S + s - 1];
            if (x->jump[s]) from[n++] = alpha[(t - 1) * S + s - 2];
            const uint64_t word = 4 * (t * S + s);
            alpha[t * S + s] = both(r, any(r, from, n, word), p_of(x, s, t), word + 2);
        }
    const double end[2] = {alpha[T * S - 1], S > 1 ? alpha[T * S - 2] : r->none};
    return any(r, end, S > 1 ? 2 : 1, 4 * T * S);
}

/* beta (T,S) */
static void backward(double *beta, const sample *x, const rounder *r) {
    const size_t S = x->S, T = x->T;
    double q[2 * ULP_LABELS_MAX + 1];
    for (size_t s = 0; s < S; s++) beta[(T - 1) * S + s] = s + 1 == S || s + 2 == S ? r->one : r->none;
    for (size_t t = T - 1; t > 0; t--) { /* row t - 1 from row t */
        for (size_t s = 0; s < S; s++) q[s] = both(r, beta[t * S + s], p_of(x, s, t), 4 * ((t - 1) * S + s) + 2);
        for (size_t s = 0; s < S; s++) {
            double to[3] = {q[s]};
            size_t n = 1;
            if (s + 1 < S) to[n++] = q[s + 1];
            if (s + 2 < S && x->jump[s + 2]) to[n++] = q[s + 2];
            beta[(t - 1) * S + s] = any(r, to, n, 4 * ((t - 1) * S + s));
        }
    }
}

static double quiet(double x) { return isnan(x) ? (double)NAN : x; }

/* The gradient of a sample (C,T) from its alpha, beta and P. */
static void gradient(double *dz, const sample *x, const double *alpha, const double *beta, double P, double loss,
                     const rounder *r, double scale, double samples) {
    for (size_t t = 0; t < x->T; t++)
        for (size_t c = 0; c < x->C; c++) {
            const double p = (double)x->p[c * x->T + t];
            double share = isfinite(loss) ? 0.0 : (double)NAN;
            for (size_t i = t * x->S; i < (t + 1) * x->S && isfinite(loss); i++)
                if (x->place[i - t * x->S] == c)
                    share += r->linear ? alpha[i] * beta[i] / P : ulp_mpfr_exp(alpha[i] + beta[i] - P);
            dz[c * x->T + t] = quiet(((r->linear ? p : ulp_mpfr_exp(p)) - share) * scale / samples);
        }
}

ulp_status ulp_mpfr_ctc(double *dz, double *loss, double *work, const float *p, ulp_sequences of,
                        const ulp_path_sums *sums) {
    rounder r = {.how = &sums->rounding, .linear = sums->linear};
    r.none = r.linear ? 0.0 : -INFINITY;
    r.one = r.linear ? 1.0 : 0.0;
    r.ref = ulp_reference_new(sums->rounding.format);
    if (r.ref == NULL) return ULP_NO_MEMORY;
    const size_t words = 4 * (of.T + 1) * (2 * of.L + 1);
    for (size_t b = 0; b < of.B; b++) {
        const sample x = sample_of(&of, p, b);
        double *alpha = work + b * (2 * of.T + 1) * (2 * of.L + 1), *beta = alpha + x.T * x.S;
        r.stream = sums->rounding.stream;
        r.stream.first += b * words;
        const double P = forward(alpha, &x, &r);
        r.stream.stream = sums->beta_stream;
        backward(beta, &x, &r);
        loss[b] = quiet(r.linear ? -ulp_mpfr_log(P) : -P);
        gradient(dz + b * x.C * x.T, &x, alpha, beta, P, loss[b], &r, sums->scale, (double)of.B);
    }
    ulp_reference_free(r.ref);
    return ULP_OK;
}

ulp_status ulp_mpfr_ctc_outputs(double *p, const float *z, ulp_sequences of, int linear) {
    for (size_t b = 0; b < of.B; b++)
        for (size_t t = 0; t < of.T; t++) {
            const float *in = z + b * of.C * of.T + t;
            double *out = p + b * of.C * of.T + t, largest = (double)in[0], sum = 0.0;
            for (size_t i = of.T; i < of.C * of.T; i += of.T)
                if ((double)in[i] > largest) largest = (double)in[i];
            for (size_t i = 0; i < of.C * of.T; i += of.T) sum += out[i] = ulp_mpfr_exp((double)in[i] - largest);
            const double log = ulp_mpfr_log(sum);
            for (size_t i = 0; i < of.C * of.T; i += of.T)
                out[i] = quiet(linear ? out[i] / sum : (double)in[i] - largest - log);
        }
    return ULP_OK;
}
