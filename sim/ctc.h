/* ctc.h - connectionist temporal classification: the probability of a sequence of labels whose places in time are
 * unknown.
 *
 * Graves et al. 2006, doi:10.1145/1143844.1143891. C outputs at each of T steps; the last one, C - 1, is the blank. A
 * path (T) stands for the sequence that remains after repetitions are merged and then blanks are removed. The extended
 * sequence l (S), S = 2 L + 1, is the labels with a blank before, between and after them. Sums over paths (p is y in
 * the paper):
 *
 *   alpha_0(0) = p_0(blank), alpha_0(1) = p_0(l_1), else 0
 *   alpha_t(s) = [alpha_(t-1)(s) + alpha_(t-1)(s-1) + alpha_(t-1)(s-2)] p_t(l_s)
 *   beta_(T-1)(S-1) = beta_(T-1)(S-2) = 1, else 0
 *   beta_t(s)  = q(s) + q(s+1) + q(s+2), q(i) = beta_(t+1)(i) p_(t+1)(l_i)
 *   P          = alpha_(T-1)(S-1) + alpha_(T-1)(S-2)
 *
 * The third term is left out where it would skip a blank between equal labels, or a label. Beta does not contain the
 * step's own p, so that the gradient is alpha beta / P, without a division by p.
 *
 * There are two forms. Linear: the numbers are probabilities; every sum of two and every product is rounded once, sums
 * from left to right. Logarithmic: the numbers are natural logarithms; a sum of two or three is one function, computed
 * in binary64 and rounded once, and a product is one rounded sum. In both forms 0 (its logarithm -Inf) means no path,
 * and is exact.
 */
#ifndef ULP_CTC_H
#define ULP_CTC_H

#include "kernels/backend.h"
#include "policy.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ULP_NO_LABEL = 255, ULP_LABELS_MAX = 254 };

/* How the sums are formed. */
typedef struct ulp_ctc_form {
    int linear;
    const ulp_cast *cast; /* of every operation; NULL: binary64, nothing is rounded */
    ulp_stream stream;    /* of stochastic casts; the words from stream.first on, ulp_ctc_words of them */
    ulp_stats *stats;     /* may be NULL; gets count, overflow (to Inf), underflow, subnormal, zero and nan */
} ulp_ctc_form;

/* Random words of one call for up to L labels. */
static inline uint64_t ulp_ctc_words(size_t L, size_t T) { return 4 * ((uint64_t)T + 1) * (2 * (uint64_t)L + 1); }

/* Labels before the first ULP_NO_LABEL, of at most `room`. */
size_t ulp_label_count(const uint8_t *label, size_t room);

/* One sequence of labels, among outputs 0 .. C - 2 (the blank is C - 1), at T steps. */
typedef struct ulp_ctc_task {
    const uint8_t *label; /* (L) */
    size_t L, C, T;
} ulp_ctc_task;

/* P, or log P, and alpha (T, 2 L + 1) from p (C,T), probabilities or their logarithms. */
double ulp_ctc_alpha(double *alpha, const double *p, const ulp_ctc_task *task, const ulp_ctc_form *form);

/* beta (T, 2 L + 1). */
void ulp_ctc_beta(double *beta, const double *p, const ulp_ctc_task *task, const ulp_ctc_form *form);

/* -log P from the result of ulp_ctc_alpha; Inf where there is no path, or where all paths underflowed. */
double ulp_ctc_loss(double P, const ulp_ctc_form *form);

/* e (C,T) = the expected share of the paths of the labels at each output: the sum over s with l_s = c of alpha_t(s)
 * beta_t(s) / P, in binary64. The gradient of the loss with respect to the logits is softmax - e. All NaN where the
 * loss is not finite: no gradient leads towards an impossible sequence, and a loss scaler has to notice. */
void ulp_ctc_expected(double *e, const double *alpha, const double *beta, double P, const ulp_ctc_task *task,
                      const ulp_ctc_form *form);

/* The sequence of the best path, label (T): the largest z (C,T) of each step, the first if several. Its length; 0 if
 * there is NaN in z. */
size_t ulp_ctc_decode(uint8_t *label, const float *z, size_t C, size_t T);

/* Levenshtein 1966: the fewest insertions, deletions and substitutions that turn a (n) into b (m), m <= ULP_LABELS_MAX.
 */
size_t ulp_edit_distance(const uint8_t *a, size_t n, const uint8_t *b, size_t m);

#ifdef __cplusplus
}
#endif
#endif
