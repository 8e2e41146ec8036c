/* ctc.c - sums over paths, forward and backward; best path and edit distance; see ctc.h. */
#include "ctc.h"

#include "argmax.h"
#include "formats/exact.h"
#include "formats/rng.h"
#include "kernels/functions/elementary.h"

/* -Inf */
static double log_zero(void) { return ulp_from_bits64(0xfff0000000000000u); }

static int is_finite(double x) { return x - x == 0.0; }

static void count(ulp_stats *stats, double x, double y, const ulp_format *format) {
    stats->count++;
    stats->overflow += is_finite(x) && !is_finite(y) && y == y;
    stats->underflow += x != 0.0 && is_finite(x) && y == 0.0;
    stats->subnormal += y != 0.0 && (y < 0.0 ? -y : y) < format->min_normal;
    stats->zero += y == 0.0;
    stats->nan += y != y;
}

/* The rounded result of one operation; `word` is the index of its random word in the call. */
static double rounded(double x, const ulp_ctc_form *form, uint64_t word) {
    const ulp_cast *cast = form->cast;
    if (!cast || x == log_zero()) return x;
    double y;
    if (ulp_cast_is_binary32(cast)) y = (double)(float)x;
    else
        y = ulp_round(x, &cast->format, cast->rule,
                      ulp_mode_is_stochastic(cast->rule.mode) ? ulp_random_word(form->stream, word) : 0);
    if (form->stats) count(form->stats, x, y, &cast->format);
    return y;
}

/* One number that every cast rounds like the exact a + b. Without a cast: a + b in binary64. */
static double exact_sum(double a, double b, const ulp_ctc_form *form) {
    return form->cast ? ulp_sum_to_odd(a, b) : a + b;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* The sum of the probabilities x (n), n from 1 to 3; takes two random words. */
static double sum(const double *x, size_t n, const ulp_ctc_form *form, uint64_t word) {
    double total = x[0];
    if (form->linear) {
        for (size_t i = 1; i < n; i++) total = rounded(exact_sum(total, x[i], form), form, word + i - 1);
        return total;
    }
    double max = x[0], terms = 0.0;
    for (size_t i = 1; i < n; i++) max = larger(max, x[i]);
    for (size_t i = 0; i < n; i++)
        if (x[i] != x[i]) return x[i];
    if (max == log_zero()) return max;
    for (size_t i = 0; i < n; i++) terms += ulp_exp(x[i] - max);
    return rounded(max + ulp_log(terms), form, word);
}

/* The product of two probabilities in binary32 or narrower formats is exact in binary64. */
static double product(double a, double b, const ulp_ctc_form *form, uint64_t word) {
    return rounded(form->linear ? a * b : exact_sum(a, b, form), form, word);
}

size_t ulp_label_count(const uint8_t *label, size_t room) {
    size_t n = 0;
    while (n < room && label[n] != ULP_NO_LABEL) n++;
    return n;
}

/* l_s */
static size_t extended(const uint8_t *label, size_t s, size_t C) { return s % 2 ? label[s / 2] : C - 1; }

/* The number of places among s, s-1, s-2 from which a path can come to s. */
static size_t sources(const uint8_t *label, size_t s) {
    if (s < 2) return s + 1;
    return s % 2 && label[s / 2] != label[s / 2 - 1] ? 3 : 2;
}

double ulp_ctc_alpha(double *alpha, const double *p, const ulp_ctc_task *task, const ulp_ctc_form *form) {
    const uint8_t *label = task->label;
    size_t C = task->C, T = task->T, S = 2 * task->L + 1;
    double none = form->linear ? 0.0 : log_zero(), x[3];
    for (size_t s = 0; s < S; s++) alpha[s] = s < 2 ? p[extended(label, s, C) * T] : none;
    for (size_t t = 1; t < T; t++)
        for (size_t s = 0; s < S; s++) {
            const double *from = alpha + (t - 1) * S + s;
            size_t n = sources(label, s);
            for (size_t i = 0; i < n; i++) x[i] = *(from - i);
            uint64_t word = 4 * (t * S + s);
            alpha[t * S + s] = product(sum(x, n, form, word), p[extended(label, s, C) * T + t], form, word + 2);
        }
    const double *last = alpha + (T - 1) * S;
    x[0] = last[S - 1];
    x[1] = S > 1 ? last[S - 2] : none;
    return sum(x, S > 1 ? 2 : 1, form, 4 * T * S);
}

void ulp_ctc_beta(double *beta, const double *p, const ulp_ctc_task *task, const ulp_ctc_form *form) {
    const uint8_t *label = task->label;
    size_t C = task->C, T = task->T, S = 2 * task->L + 1;
    double none = form->linear ? 0.0 : log_zero(), one = form->linear ? 1.0 : 0.0, q[2 * ULP_LABELS_MAX + 1], x[3];
    for (size_t s = 0; s < S; s++) beta[(T - 1) * S + s] = s + 2 >= S ? one : none;
    for (size_t t = T - 1; t-- > 0;) {
        for (size_t s = 0; s < S; s++)
            q[s] = product(beta[(t + 1) * S + s], p[extended(label, s, C) * T + t + 1], form, 4 * (t * S + s) + 2);
        for (size_t s = 0; s < S; s++) {
            size_t n = 0;
            for (size_t i = s; i < S && i < s + 3; i++)
                if (i - s < sources(label, i)) x[n++] = q[i];
            beta[t * S + s] = sum(x, n, form, 4 * (t * S + s));
        }
    }
}

double ulp_ctc_loss(double P, const ulp_ctc_form *form) { return form->linear ? -ulp_log(P) : -P; }

void ulp_ctc_expected(double *e, const double *alpha, const double *beta, double P, const ulp_ctc_task *task,
                      const ulp_ctc_form *form) {
    const uint8_t *label = task->label;
    size_t C = task->C, T = task->T, S = 2 * task->L + 1;
    int finite = is_finite(ulp_ctc_loss(P, form));
    for (size_t i = 0; i < C * T; i++) e[i] = finite ? 0.0 : ulp_quiet_nan();
    for (size_t t = 0; t < T && finite; t++)
        for (size_t s = 0; s < S; s++) {
            double a = alpha[t * S + s], b = beta[t * S + s];
            e[extended(label, s, C) * T + t] += form->linear ? a * b / P : ulp_exp(a + b - P);
        }
}

size_t ulp_ctc_decode(uint8_t *label, const float *z, size_t C, size_t T) {
    size_t n = 0, before = C - 1;
    for (size_t t = 0; t < T; t++) {
        size_t best = ulp_place_of_largest(z + t, C, T);
        if (best == C) return 0;
        if (best != before && best != C - 1) label[n++] = (uint8_t)best;
        before = best;
    }
    return n;
}

size_t ulp_edit_distance(const uint8_t *a, size_t n, const uint8_t *b, size_t m) {
    size_t row[ULP_LABELS_MAX + 1]; /* distances of a[0..i) to b[0..j) */
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t change = corner + (a[i - 1] != b[j - 1]), drop = row[j] + 1, add = row[j - 1] + 1;
            corner = row[j];
            row[j] = change < drop ? change : drop;
            if (add < row[j]) row[j] = add;
        }
    }
    return row[m];
}
