/* label_paths.h - decoding of connectionist temporal classification, and distances of sequences of labels.
 *
 * kernels/functions/ctc.h describes outputs, labels and paths, and has the sums over paths.
 */
#ifndef ULP_LABEL_PATHS_H
#define ULP_LABEL_PATHS_H

#include "kernels/functions/ctc.h"

#ifdef __cplusplus
extern "C" {
#endif

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
