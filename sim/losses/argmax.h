/* argmax.h - the index of the largest number of a row, on host arrays. */
#ifndef ULP_ARGMAX_H
#define ULP_ARGMAX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The index of the largest of n numbers, which lie `stride` elements apart in z. Of equal numbers the first counts. The
 * result is n if a number is NaN. */
size_t ulp_place_of_largest(const float *z, size_t n, size_t stride);

/* The number of rows of z (B,C) whose largest number is in the column of their label, label (B). Of equal numbers the
 * first counts; a row with NaN does not count. Labels are below C. */
size_t ulp_count_right(const float *z, const uint8_t *label, size_t B, size_t C);

#ifdef __cplusplus
}
#endif
#endif
