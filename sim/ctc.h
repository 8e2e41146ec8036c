/* ctc.h - connectionist temporal classification: the probability of a sequence of labels at unknown times.
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
#ifndef ULP_CTC_H
#define ULP_CTC_H

#include "kernels/backend.h"
#include "policy.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ULP_NO_LABEL = 255, ULP_LABELS_MAX = 254 };

/* The form of the sums and the rounding of their operations. */
typedef struct ulp_ctc_form {
    int linear;
    const ulp_cast *cast; /* of every operation; NULL: binary64 without rounding */
    ulp_stream stream;    /* of stochastic casts: ulp_ctc_words() words from stream.first on */
    ulp_stats *stats;     /* may be NULL; gets count, overflow (to Inf), underflow, subnormal, zero and nan */
} ulp_ctc_form;

/* The number of random words of one call for up to L labels. */
static inline uint64_t ulp_ctc_words(size_t L, size_t T) { return 4 * ((uint64_t)T + 1) * (2 * (uint64_t)L + 1); }

/* The number of labels before the first ULP_NO_LABEL in label (room). */
size_t ulp_label_count(const uint8_t *label, size_t room);

/* One sequence of L labels at T steps. The labels are among the outputs 0 .. C - 2; output C - 1 is the blank. */
typedef struct ulp_ctc_task {
    const uint8_t *label; /* (L) */
    size_t L, C, T;
} ulp_ctc_task;

/* alpha (T, 2 L + 1) from p (C,T), probabilities or their logarithms. Returns P, or log P in the logarithmic form. */
double ulp_ctc_alpha(double *alpha, const double *p, const ulp_ctc_task *task, const ulp_ctc_form *form);

/* beta (T, 2 L + 1) from p (C,T). */
void ulp_ctc_beta(double *beta, const double *p, const ulp_ctc_task *task, const ulp_ctc_form *form);

/* -log P from the result of ulp_ctc_alpha(); Inf if there is no path, or if all paths underflowed. */
double ulp_ctc_loss(double P, const ulp_ctc_form *form);

/* e (C,T) = the probability that a path of the labels takes output c at step t: the sum over s with l_s = c of
 * alpha_t(s) beta_t(s) / P, in binary64. The gradient of the loss with respect to the logits is softmax - e. If the
 * loss is not finite, e is all NaN: an impossible sequence has no gradient, and a loss scaler has to notice the step.
 */
void ulp_ctc_expected(double *e, const double *alpha, const double *beta, double P, const ulp_ctc_task *task,
                      const ulp_ctc_form *form);

/* The labels of the best path, label (T). The path takes the largest z (C,T) of each step; of equal numbers the first.
 * Returns the number of labels; 0 if z contains NaN. */
size_t ulp_ctc_decode(uint8_t *label, const float *z, size_t C, size_t T);

/* The least number of insertions, deletions and substitutions that turn a (n) into b (m), m <= ULP_LABELS_MAX.
 * Levenshtein 1966. */
size_t ulp_edit_distance(const uint8_t *a, size_t n, const uint8_t *b, size_t m);

#ifdef __cplusplus
}
#endif
#endif
