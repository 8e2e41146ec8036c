/* arguments.h - what the operations of a backend ask of their arguments, on whatever machine: one answer for the same
 * call everywhere.
 *
 * Each function stands for the operation of its name (backend.h) and is called first: ULP_OK, or the status with which
 * the operation ends before it has read or written an array. What a machine lacks beside that, it says itself
 * afterwards.
 */
#ifndef ULP_ASKED_H
#define ULP_ASKED_H

#include "backend.h"

#ifdef __cplusplus
extern "C" {
#endif

ulp_status ulp_asked_round(const float *y, const float *x, size_t n, const ulp_format *format, ulp_rule rule);
ulp_status ulp_asked_round64(const double *y, const double *x, size_t n, const ulp_format *format, ulp_rule rule);
ulp_status ulp_asked_map(ulp_op op, const float *y, const float *a, const float *b, const float *c, size_t n,
                         const ulp_format *format, ulp_rule rule);
ulp_status ulp_asked_update(const ulp_update_step *step, size_t steps);
ulp_status ulp_asked_largest(const float *y, const float *x, size_t n);
ulp_status ulp_asked_reduce(const float *y, const float *x, size_t m, size_t n, const ulp_datapath *datapath);
ulp_status ulp_asked_gemm(const float *c, const float *a, const float *b, const ulp_gemm_shape *shape,
                          const ulp_datapath *datapath);
ulp_status ulp_asked_gemm64(const double *c, const double *a, const double *b, const ulp_gemm_shape *shape,
                            const ulp_datapath *datapath);
ulp_status ulp_asked_patches(const float *y, const float *x, const ulp_places *places);
ulp_status ulp_asked_permute(const float *y, const float *x, size_t count, size_t a, size_t b, size_t n);
ulp_status ulp_asked_narrow(const float *y, const double *x, size_t n);
ulp_status ulp_asked_relu(const float *y, const float *x, size_t n);
ulp_status ulp_asked_relu_slope(const float *dx, const float *dy, const float *y, size_t n);
ulp_status ulp_asked_curve(ulp_curve f, const double *y, const float *x, size_t n);
ulp_status ulp_asked_slope(ulp_curve f, const double *dx, const float *dy, const float *at, size_t n);
ulp_status ulp_asked_pool(const float *y, const float *place, const float *x, const ulp_windows *windows);
ulp_status ulp_asked_pool_slope(const float *dx, const float *dy, const float *place, const ulp_windows *windows);
ulp_status ulp_asked_softmax(const double *p, const double *loss, const float *z, const uint8_t *label, size_t B,
                             size_t C);
ulp_status ulp_asked_softmax_slope(const double *dz, const float *p, const uint8_t *label, size_t B, size_t C);

/* The part of a product's that knows no datapath: operands that are there where they are read, rows that do not
 * overlap. */
ulp_status ulp_asked_shape(const void *a, const void *b, const ulp_gemm_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
