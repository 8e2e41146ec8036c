/* op.c - relu, tanh, softmax with cross-entropy; see op.h. */
#include "op.h"

#include "elementary.h"

void ulp_relu_forward(float *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] < 0.0f ? 0.0f : x[i];
}

void ulp_relu_backward(float *dx, const float *dy, const float *y, size_t n) {
    /* by mask: which y are positive is as good as random, and a branch would be mispredicted */
    for (size_t i = 0; i < n; i++) dx[i] = ulp_from_bits32(ulp_bits32(dy[i]) & ((uint32_t)(y[i] <= 0.0f) - 1u));
}

void ulp_tanh_forward(double *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = ulp_tanh((double)x[i]);
}

void ulp_tanh_backward(double *dx, const float *dy, const float *y, size_t n) {
    for (size_t i = 0; i < n; i++) dx[i] = (double)dy[i] * (1.0 - (double)y[i] * (double)y[i]);
}

void ulp_softmax_forward(double *p, double *loss, const float *z, const uint8_t *label, size_t B, size_t C) {
    for (size_t b = 0; b < B; b++, p += C, z += C) {
        double max = (double)z[0], sum = 0.0;
        for (size_t c = 1; c < C; c++) max = (double)z[c] > max ? (double)z[c] : max;
        for (size_t c = 0; c < C; c++) sum += p[c] = ulp_exp((double)z[c] - max);
        for (size_t c = 0; c < C; c++) p[c] /= sum;
        loss[b] = ulp_log(sum) - ((double)z[label[b]] - max);
    }
}

void ulp_softmax_backward(double *dz, const float *p, const uint8_t *label, size_t B, size_t C, double scale) {
    for (size_t b = 0; b < B; b++, p += C, dz += C)
        for (size_t c = 0; c < C; c++) dz[c] = ((double)p[c] - (c == label[b] ? 1.0 : 0.0)) * scale / (double)B;
}

size_t ulp_place_of_largest(const float *z, size_t n, size_t stride) {
    size_t best = 0;
    int nan = 0;
    for (size_t i = 0; i < n; i++) {
        nan |= z[i * stride] != z[i * stride];
        if (z[i * stride] > z[best * stride]) best = i;
    }
    return nan ? n : best;
}

size_t ulp_count_right(const float *z, const uint8_t *label, size_t B, size_t C) {
    size_t right = 0;
    for (size_t b = 0; b < B; b++) right += ulp_place_of_largest(z + b * C, C, 1) == label[b];
    return right;
}
