/* operations.h - the operations of the backend "mpfr", which table.c puts into its table; backend.h documents them. */
#ifndef ULP_MPFR_OPERATIONS_H
#define ULP_MPFR_OPERATIONS_H

#include "oracle.h"

ulp_status ulp_mpfr_round(float *y, const float *x, size_t n, ulp_rounding how);
ulp_status ulp_mpfr_round64(double *y, const double *x, size_t n, ulp_rounding how);
ulp_status ulp_mpfr_map(float *y, ulp_array_op op, size_t n, ulp_rounding how);
ulp_status ulp_mpfr_update(const ulp_update_step *step, size_t steps, size_t n);
ulp_status ulp_mpfr_largest(float *y, const float *x, size_t n, int finite);
ulp_status ulp_mpfr_reduce(float *y, const float *x, size_t m, size_t n, ulp_summation by);
ulp_status ulp_mpfr_gemm(float *c, const float *a, const float *b, const ulp_gemm_shape *shape, ulp_summation by);
ulp_status ulp_mpfr_gemm64(double *c, const double *a, const double *b, const ulp_gemm_shape *shape, ulp_summation by);
ulp_status ulp_mpfr_narrow(float *y, const double *x, size_t n);
ulp_status ulp_mpfr_scale(double *y, const double *x, size_t n, double factor);
ulp_status ulp_mpfr_relu(float *y, const float *x, size_t n);
ulp_status ulp_mpfr_relu_slope(float *dx, const float *dy, const float *y, size_t n);
ulp_status ulp_mpfr_activate(double *y, const float *x, size_t n, ulp_activation f);
ulp_status ulp_mpfr_activate_slope(double *dx, const float *dy, const float *at, size_t n, ulp_activation f);
ulp_status ulp_mpfr_pool(float *y, float *place, const float *x, const ulp_windows *windows);
ulp_status ulp_mpfr_pool_slope(float *dx, const float *dy, const float *place, const ulp_windows *windows);
ulp_status ulp_mpfr_pool_strided(float *y, float *place, const float *x, const ulp_strided_windows *windows);
ulp_status ulp_mpfr_pool_strided_slope(double *dx, const float *dy, const float *place,
                                       const ulp_strided_windows *windows);
ulp_status ulp_mpfr_average(double *y, const float *x, const ulp_windows *windows);
ulp_status ulp_mpfr_average_slope(double *dx, const float *dy, const ulp_windows *windows);
ulp_status ulp_mpfr_upsample(float *y, const float *x, const ulp_windows *windows);
ulp_status ulp_mpfr_upsample_slope(double *dx, const float *dy, const ulp_windows *windows);
ulp_status ulp_mpfr_norm_statistics(double *to, const float *x, ulp_channels shape);
ulp_status ulp_mpfr_norm_running(double *to, const float *running, const float *batch, ulp_channels shape);
ulp_status ulp_mpfr_norm(double *y, const float *x, ulp_norm by);
ulp_status ulp_mpfr_norm_sums(double *sums, const float *dy, const float *x, ulp_norm by);
ulp_status ulp_mpfr_norm_slope(double *dx, const float *dy, const float *x, const double *sums, ulp_norm by);
ulp_status ulp_mpfr_dropout(double *y, const float *x, size_t n, ulp_dropout how);
ulp_status ulp_mpfr_softmax(double *p, double *loss, const float *z, ulp_labels labels);
ulp_status ulp_mpfr_softmax_slope(double *dz, const float *p, ulp_labels labels, double scale);
ulp_status ulp_mpfr_cell(double *to, const ulp_cell_arrays *arrays, ulp_cell_stage stage);
ulp_status ulp_mpfr_ctc_outputs(double *p, const float *z, ulp_sequences sequences, int linear);
ulp_status ulp_mpfr_ctc(double *dz, double *loss, double *work, const float *p, ulp_sequences sequences,
                        const ulp_path_sums *sums);

#endif
