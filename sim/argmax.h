/* argmax.h - which answer a net's output is: the largest of a row, on host arrays. */
#ifndef ULP_ANSWER_H
#define ULP_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The place of the largest of z (n), `stride` apart, the first one if several; n if there is NaN. */
size_t ulp_place_of_largest(const float *z, size_t n, size_t stride);

/* How many rows have their largest z in the label's column, the first one if several; a row with NaN has none. Labels
 * are below C. */
size_t ulp_count_right(const float *z, const uint8_t *label, size_t B, size_t C);

#ifdef __cplusplus
}
#endif
#endif
