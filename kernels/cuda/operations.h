/* operations.h - the functions of the backend table. Each function is in the source named for its family. */
#ifndef ULP_CUDA_OPERATIONS_H
#define ULP_CUDA_OPERATIONS_H

#include "kernels/backend.h"

ulp_status ulp_cuda_round(float *y, const float *x, size_t n, ulp_rounding rounding);
ulp_status ulp_cuda_round64(double *y, const double *x, size_t n, ulp_rounding rounding);
ulp_status ulp_cuda_map(float *y, ulp_array_op op, size_t n, ulp_rounding rounding);
ulp_status ulp_cuda_update(const ulp_update_step *step, size_t steps, size_t n);
ulp_status ulp_cuda_largest(float *y, const float *x, size_t n, int finite);
ulp_status ulp_cuda_reduce(float *y, const float *x, size_t m, size_t n, ulp_summation summation);
ulp_status ulp_cuda_gemm(float *c, const float *a, const float *b, const ulp_gemm_shape *shape,
                         ulp_summation summation);
ulp_status ulp_cuda_gemm64(double *c, const double *a, const double *b, const ulp_gemm_shape *shape,
                           ulp_summation summation);
ulp_status ulp_cuda_im2col(float *y, const float *x, const ulp_im2col *geometry);
ulp_status ulp_cuda_permute(float *y, const float *x, ulp_permute_shape shape);
ulp_status ulp_cuda_narrow(float *y, const double *x, size_t n);
ulp_status ulp_cuda_scale(double *y, const double *x, size_t n, double factor);
ulp_status ulp_cuda_relu(float *y, const float *x, size_t n);
ulp_status ulp_cuda_relu_slope(float *dx, const float *dy, const float *y, size_t n);
ulp_status ulp_cuda_activate(double *y, const float *x, size_t n, ulp_activation f);
ulp_status ulp_cuda_activate_slope(double *dx, const float *dy, const float *at, size_t n, ulp_activation f);
ulp_status ulp_cuda_pool(float *y, float *place, const float *x, const ulp_windows *windows);
ulp_status ulp_cuda_pool_slope(float *dx, const float *dy, const float *place, const ulp_windows *windows);
ulp_status ulp_cuda_pool_strided(float *y, float *place, const float *x, const ulp_strided_windows *windows);
ulp_status ulp_cuda_pool_strided_slope(double *dx, const float *dy, const float *place,
                                       const ulp_strided_windows *windows);
ulp_status ulp_cuda_average(double *y, const float *x, const ulp_windows *windows);
ulp_status ulp_cuda_average_slope(double *dx, const float *dy, const ulp_windows *windows);
ulp_status ulp_cuda_upsample(float *y, const float *x, const ulp_windows *windows);
ulp_status ulp_cuda_upsample_slope(double *dx, const float *dy, const ulp_windows *windows);
ulp_status ulp_cuda_norm_statistics(double *to, const float *x, ulp_channels shape);
ulp_status ulp_cuda_norm_running(double *to, const float *running, const float *batch, ulp_channels shape);
ulp_status ulp_cuda_norm(double *y, const float *x, ulp_norm by);
ulp_status ulp_cuda_norm_sums(double *sums, const float *dy, const float *x, ulp_norm by);
ulp_status ulp_cuda_norm_slope(double *dx, const float *dy, const float *x, const double *sums, ulp_norm by);
ulp_status ulp_cuda_dropout(double *y, const float *x, size_t n, ulp_dropout how);
ulp_status ulp_cuda_softmax(double *p, double *loss, const float *z, ulp_labels labels);
ulp_status ulp_cuda_softmax_slope(double *dz, const float *p, ulp_labels labels, double scale);
ulp_status ulp_cuda_cell(double *to, const ulp_cell_arrays *arrays, ulp_cell_stage stage);
ulp_status ulp_cuda_ctc_outputs(double *p, const float *z, ulp_sequences sequences, int linear);
ulp_status ulp_cuda_ctc(double *dz, double *loss, double *work, const float *p, ulp_sequences sequences,
                        const ulp_path_sums *sums);

/* Releases memory of the backend; arrays in it are no longer kept. */
void ulp_cuda_release_array(void *memory);
ulp_status ulp_cuda_keep(const float *x, size_t n);
void ulp_cuda_forget(const float *x, size_t n);
ulp_status ulp_cuda_settle(void);

#endif
