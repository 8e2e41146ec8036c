/* ctc.h - connectionist temporal classification, number by number: one definition for every backend.
 *
 * Graves et al. 2006, doi:10.1145/1143844.1143891. A net has C outputs at each of T steps; the last output, C - 1, is
 * the blank. A path (T) takes one output at each step. The path stands for the sequence of labels that remains after
 * repetitions are merged and then blanks are removed. The extended sequence l (S), S = 2 L + 1, has a blank before,
 * between and after the labels. Sums over paths (the paper writes y for p):
 *
 *   alpha_0(0) = p_0(blank), alpha_0(1) = p_0(l_1), else 0
 *   alpha_t(s) = [alpha_(t-1)(s) + alpha_(t-1)(s-1) + alpha_(t-1)(s-2)] p_t(l_s)
 *   beta_(T-1)(S-1) = beta_(T-1)(S-2) = 1, else 0
 *   beta_t(s)  = q(s) + q(s+1) + q(s+2), q(i) = beta_(t+1)(i) p_(t+1)(l_i)
 *   P          = alpha_(T-1)(S-1) + alpha_(T-1)(S-2)
 *
 * The third term is left out where the path would skip a label, or the blank between two equal labels. beta_t does not
 * contain p_t, so that the gradient is alpha beta / P, without a division by p.
 *
 * There are two forms:
 *
 *  - linear: the numbers are probabilities. Every sum of two terms and every product is rounded once. Sums are formed
 *    from left to right.
 *  - logarithmic: the numbers are natural logarithms. A sum of two or three terms is one function, computed in binary64
 *    and rounded once. A product is one rounded sum of logarithms.
 *
 * In both forms the probability 0 (its logarithm is -Inf) means that there is no path. It is exact.
 */
#ifndef ULP_FUNCTIONS_CTC_H
#define ULP_FUNCTIONS_CTC_H

#include "elementary.h"
#include "formats/rng.h"
#include "kernels/backend.h"
#include "kernels/rounding/core.h"

ULP_C_BEGIN

/* The form of the sums and the rounding of their operations. */
typedef struct ulp_ctc_form {
    uint8_t linear, is_binary32; /* is_binary32: the rounding is C's conversion to float */
    ulp_rounding rounding;       /* of every operation; format NULL: binary64 without rounding. Stochastic modes use
                                    ulp_ctc_words() words from stream.first on. The counts leave out `saturated`;
                                    `overflow` counts finite numbers that became Inf. */
} ulp_ctc_form;

ULP_FN ulp_ctc_form ulp_ctc_form_of(int linear, ulp_rounding rounding) {
    ulp_ctc_form form;
    ulp_core core;
    form.linear = (uint8_t)(linear != 0);
    form.rounding = rounding;
    form.is_binary32 =
        rounding.format != NULL && ulp_core_init(&core, rounding.format, rounding.rule) && ulp_core_is_binary32(&core);
    return form;
}

/* The number of random words of alpha or beta for up to L labels. */
ULP_FN uint64_t ulp_ctc_words(size_t L, size_t T) { return 4 * ((uint64_t)T + 1) * (2 * (uint64_t)L + 1); }

/* The number of labels before the first ULP_NO_LABEL in label (room). */
ULP_FN size_t ulp_label_count(const uint8_t *label, size_t room) {
    size_t n = 0;
    while (n < room && label[n] != ULP_NO_LABEL) n++;
    return n;
}

/* One sequence of L labels at T steps. */
typedef struct ulp_ctc_task {
    const uint8_t *label; /* (L) */
    size_t L, C, T;
} ulp_ctc_task;

/* ---- probabilities of the outputs ---- */

/* The outputs of a step: y (C) = log softmax of z (C), whose elements are T apart in both; if linear, softmax. */
ULP_FN void ulp_ctc_outputs(double *y, const float *z, size_t C, size_t T, int linear) {
    double most = (double)z[0], sum = 0.0;
    for (size_t c = 1; c < C; c++) most = (double)z[c * T] > most ? (double)z[c * T] : most;
    for (size_t c = 0; c < C; c++) sum += y[c * T] = ulp_exp((double)z[c * T] - most);
    const double log = ulp_log(sum);
    for (size_t c = 0; c < C; c++) y[c * T] = ulp_quieted(linear ? y[c * T] / sum : (double)z[c * T] - most - log);
}

/* ---- rounded operations ---- */

ULP_FN double ulp_ctc_log_zero(void) { return ulp_from_bits64(0xfff0000000000000u); }
ULP_FN int ulp_ctc_is_finite(double x) { return x - x == 0.0; }

/* The probabilities 0 and 1. */
ULP_FN double ulp_ctc_none(const ulp_ctc_form *form) { return form->linear ? 0.0 : ulp_ctc_log_zero(); }
ULP_FN double ulp_ctc_one(const ulp_ctc_form *form) { return form->linear ? 1.0 : 0.0; }

ULP_FN void ulp_ctc_count(ulp_stats *stats, double x, double y, const ulp_format *format) {
    stats->count++;
    stats->overflow += ulp_ctc_is_finite(x) && !ulp_ctc_is_finite(y) && y == y;
    stats->underflow += x != 0.0 && ulp_ctc_is_finite(x) && y == 0.0;
    stats->subnormal += y != 0.0 && (y < 0.0 ? -y : y) < format->min_normal;
    stats->zero += y == 0.0;
    stats->nan += y != y;
}

/* The rounded result of one operation; `word` is the index of its random word in the call. */
ULP_FN double ulp_ctc_rounded(double x, const ulp_ctc_form *form, uint64_t word) {
    const ulp_rounding *r = &form->rounding;
    if (r->format == NULL || x == ulp_ctc_log_zero()) return x;
    double y;
    if (form->is_binary32) y = (double)(float)x;
    else
        y = ulp_round_exact(ulp_exact_of(x), r->format, r->rule,
                            ulp_mode_is_stochastic(r->rule.mode) ? ulp_random_word(r->stream, word) : 0);
    if (r->stats != NULL) ulp_ctc_count(r->stats, x, y, r->format);
    return y;
}

/* One number that every rounding takes for the exact a + b. Without a rounding: a + b in binary64. */
ULP_FN double ulp_ctc_exact_sum(double a, double b, const ulp_ctc_form *form) {
    return form->rounding.format != NULL ? ulp_sum_to_odd(a, b) : a + b;
}

/* The sum of the probabilities x (n), n from 1 to 3; takes two random words. */
ULP_FN double ulp_ctc_sum(const double *x, size_t n, const ulp_ctc_form *form, uint64_t word) {
    double total = x[0];
    if (form->linear) {
        for (size_t i = 1; i < n; i++)
            total = ulp_ctc_rounded(ulp_ctc_exact_sum(total, x[i], form), form, word + i - 1);
        return total;
    }
    double most = x[0], terms = 0.0;
    for (size_t i = 1; i < n; i++) most = most > x[i] ? most : x[i];
    for (size_t i = 0; i < n; i++)
        if (x[i] != x[i]) return x[i];
    if (most == ulp_ctc_log_zero()) return most;
    for (size_t i = 0; i < n; i++) terms += ulp_exp(x[i] - most);
    return ulp_ctc_rounded(most + ulp_log(terms), form, word);
}

/* The product of two probabilities in binary32 or narrower formats is exact in binary64. */
ULP_FN double ulp_ctc_product(double a, double b, const ulp_ctc_form *form, uint64_t word) {
    return ulp_ctc_rounded(form->linear ? a * b : ulp_ctc_exact_sum(a, b, form), form, word);
}

/* ---- sums over paths ---- */

/* l_s */
ULP_FN size_t ulp_ctc_output(const ulp_ctc_task *task, size_t s) { return s % 2 ? task->label[s / 2] : task->C - 1; }

/* p_t(l_s) of p (C,T); NaN for a label that is not an output. */
ULP_FN double ulp_ctc_p(const double *p, const ulp_ctc_task *task, size_t s, size_t t) {
    const size_t c = ulp_ctc_output(task, s);
    return c < task->C ? p[c * task->T + t] : ulp_quiet_nan();
}

/* The number of places among s, s-1, s-2 from which a path can come to s. */
ULP_FN size_t ulp_ctc_sources(const uint8_t *label, size_t s) {
    if (s < 2) return s + 1;
    return s % 2 && label[s / 2] != label[s / 2 - 1] ? 3 : 2;
}

/* alpha_t(s) from p and from alpha (T,S), whose row t - 1 is complete. */
ULP_FN double ulp_ctc_alpha_at(const double *alpha, const double *p, const ulp_ctc_task *task, const ulp_ctc_form *form,
                               size_t t, size_t s) {
    const size_t S = 2 * task->L + 1, n = ulp_ctc_sources(task->label, s);
    if (t == 0) return s < 2 ? ulp_ctc_p(p, task, s, 0) : ulp_ctc_none(form);
    const uint64_t word = 4 * (t * S + s);
    double x[3];
    for (size_t i = 0; i < n; i++) x[i] = alpha[(t - 1) * S + s - i];
    return ulp_ctc_product(ulp_ctc_sum(x, n, form, word), ulp_ctc_p(p, task, s, t), form, word + 2);
}

/* P, or log P in the logarithmic form, from the last row of alpha. */
ULP_FN double ulp_ctc_end(const double *alpha, const ulp_ctc_task *task, const ulp_ctc_form *form) {
    const size_t S = 2 * task->L + 1, T = task->T;
    const double *last = alpha + (T - 1) * S;
    const double x[2] = {last[S - 1], S > 1 ? last[S - 2] : ulp_ctc_none(form)};
    return ulp_ctc_sum(x, S > 1 ? 2 : 1, form, 4 * T * S);
}

/* beta_(T-1)(s) */
ULP_FN double ulp_ctc_beta_end(const ulp_ctc_task *task, const ulp_ctc_form *form, size_t s) {
    return s + 2 >= 2 * task->L + 1 ? ulp_ctc_one(form) : ulp_ctc_none(form);
}

/* q(s) of step t from p and from row t + 1 of beta (T,S). */
ULP_FN double ulp_ctc_q_at(const double *beta, const double *p, const ulp_ctc_task *task, const ulp_ctc_form *form,
                           size_t t, size_t s) {
    const size_t S = 2 * task->L + 1;
    return ulp_ctc_product(beta[(t + 1) * S + s], ulp_ctc_p(p, task, s, t + 1), form, 4 * (t * S + s) + 2);
}

/* beta_t(s) from q (S) of step t. */
ULP_FN double ulp_ctc_beta_at(const double *q, const ulp_ctc_task *task, const ulp_ctc_form *form, size_t t, size_t s) {
    const size_t S = 2 * task->L + 1;
    double x[3] = {q[s]}; /* s is a source of itself */
    size_t n = 1;
    for (size_t i = s + 1; i < S && i < s + 3; i++)
        if (i - s < ulp_ctc_sources(task->label, i)) x[n++] = q[i];
    return ulp_ctc_sum(x, n, form, 4 * (t * S + s));
}

/* alpha (T,S) from p (C,T), probabilities or their logarithms. Returns P, or log P in the logarithmic form. */
ULP_FN double ulp_ctc_alpha(double *alpha, const double *p, const ulp_ctc_task *task, const ulp_ctc_form *form) {
    const size_t S = 2 * task->L + 1;
    for (size_t t = 0; t < task->T; t++)
        for (size_t s = 0; s < S; s++) alpha[t * S + s] = ulp_ctc_alpha_at(alpha, p, task, form, t, s);
    return ulp_ctc_end(alpha, task, form);
}

/* beta (T,S) from p (C,T). q (S) is scratch memory. */
ULP_FN void ulp_ctc_beta(double *beta, double *q, const double *p, const ulp_ctc_task *task, const ulp_ctc_form *form) {
    const size_t S = 2 * task->L + 1, T = task->T;
    for (size_t s = 0; s < S; s++) beta[(T - 1) * S + s] = ulp_ctc_beta_end(task, form, s);
    for (size_t t = T - 1; t-- > 0;) {
        for (size_t s = 0; s < S; s++) q[s] = ulp_ctc_q_at(beta, p, task, form, t, s);
        for (size_t s = 0; s < S; s++) beta[t * S + s] = ulp_ctc_beta_at(q, task, form, t, s);
    }
}

/* ---- the loss and its gradient ---- */

/* -log P from the result of ulp_ctc_alpha(); Inf if there is no path, or if all paths underflowed. */
ULP_FN double ulp_ctc_loss(double P, const ulp_ctc_form *form) { return ulp_quieted(form->linear ? -ulp_log(P) : -P); }

/* Column t of e (C,T): the probability that a path of the labels takes output c at step t, the sum over s with l_s = c
 * of alpha_t(s) beta_t(s) / P, in binary64. The gradient of the loss with respect to the logits is softmax - e. If the
 * loss is not finite, e is NaN: an impossible sequence has no gradient, and a loss scaler has to notice the step. */
ULP_FN void ulp_ctc_expected_at(double *e, const double *alpha, const double *beta, double P, const ulp_ctc_task *task,
                                const ulp_ctc_form *form, size_t t) {
    const size_t C = task->C, T = task->T, S = 2 * task->L + 1;
    const int finite = ulp_ctc_is_finite(ulp_ctc_loss(P, form));
    for (size_t c = 0; c < C; c++) e[c * T + t] = finite ? 0.0 : ulp_quiet_nan();
    for (size_t s = 0; s < S && finite; s++) {
        const double a = alpha[t * S + s], b = beta[t * S + s];
        e[ulp_ctc_output(task, s) * T + t] += form->linear ? a * b / P : ulp_exp(a + b - P);
    }
}

ULP_FN void ulp_ctc_expected(double *e, const double *alpha, const double *beta, double P, const ulp_ctc_task *task,
                             const ulp_ctc_form *form) {
    for (size_t t = 0; t < task->T; t++) ulp_ctc_expected_at(e, alpha, beta, P, task, form, t);
}

/* The gradient of the mean loss of B samples, times scale, for an output p and its e. */
ULP_FN double ulp_ctc_slope(double p, double e, const ulp_ctc_form *form, double scale, size_t B) {
    return ulp_quieted(((form->linear ? p : ulp_exp(p)) - e) * scale / (double)B);
}

/* The rounding of sample b of a batch: its random words follow the words of the samples before it. */
ULP_FN ulp_ctc_form ulp_ctc_form_at(const ulp_ctc_form *form, const ulp_sequences *of, size_t b) {
    ulp_ctc_form own = *form;
    own.rounding.stream.first += b * ulp_ctc_words(of->L, of->T);
    return own;
}

ULP_FN ulp_ctc_task ulp_ctc_task_at(const ulp_sequences *of, size_t b) {
    ulp_ctc_task task;
    task.label = of->L > 0 ? of->label + b * of->L : of->label;
    task.L = ulp_label_count(task.label, of->L);
    task.C = of->C;
    task.T = of->T;
    return task;
}

ULP_C_END
#endif
