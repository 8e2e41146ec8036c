/* answers.h - the answers of a net, from its outputs on host arrays, and distances of sequences of labels.
 *
 * kernels/functions/ctc.h describes outputs, labels and paths of connectionist temporal classification, and has the
 * sums over paths.
 */
#ifndef ULP_ANSWERS_H
#define ULP_ANSWERS_H

#include "kernels/functions/ctc.h"

ULP_C_BEGIN

/* The index of the largest of n numbers, which lie `stride` elements apart in z. Of equal numbers the first counts. The
 * result is n if a number is NaN. */
size_t ulp_place_of_largest(const float *z, size_t n, size_t stride);

/* The number of rows of z (B,C) whose largest number is in the column of their label, label (B). Of equal numbers the
 * first counts; a row with NaN does not count. Labels are below C. */
size_t ulp_count_right(const float *z, const uint8_t *label, size_t B, size_t C);

/* The labels of the best path, label (T). The path takes the largest z (C,T) of each step; of equal numbers the first.
 * Returns the number of labels; 0 if z contains NaN. */
size_t ulp_ctc_decode(uint8_t *label, const float *z, size_t C, size_t T);

/* The least number of insertions, deletions and substitutions that turn a (n) into b (m), m <= ULP_LABELS_MAX.
 * Levenshtein 1966. */
size_t ulp_edit_distance(const uint8_t *a, size_t n, const uint8_t *b, size_t m);

ULP_C_END
#endif
