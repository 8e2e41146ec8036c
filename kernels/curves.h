/* curves.h - tanh and sigmoid of binary64 numbers in host memory, for cells of recurrent layers. */
#ifndef ULP_CURVES_H
#define ULP_CURVES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* x (rows, n) = tanh(x) or sigmoid(x) in place, with rows ld elements apart; the bits of elementary.h. */
void ulp_tanh_rows(double *x, size_t rows, size_t ld, size_t n);
void ulp_sigmoid_rows(double *x, size_t rows, size_t ld, size_t n);

#ifdef __cplusplus
}
#endif
#endif
