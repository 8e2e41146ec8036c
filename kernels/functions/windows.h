/* windows.h - maxima and means of windows of an image, and up-sampling: one definition for every backend.
 *
 * Maxima are exact in binary32. A mean is computed in binary64; its sum starts at +0 and runs row by row. Up-sampling
 * makes a pixel a window of equal pixels; the gradient of the pixel is the exact sum of the gradients of the window.
 */
#ifndef ULP_WINDOWS_H
#define ULP_WINDOWS_H

#include "elementary.h"
#include "formats/round.h"
#include "kernels/products/wide_sum.h"

ULP_C_BEGIN

/* ---- maxima of adjacent windows ---- */

/* Windows of K x K side by side on images (images,h,w): (h / K, w / K) windows for each image. Rows and columns that do
 * not fill a window belong to no window. K is at least 1; for maxima it is at most ULP_WINDOW_MAX, so that places in a
 * window are exact in binary32; means and up-sampling have no upper bound. */
typedef struct ulp_windows {
    size_t images, h, w, K;
} ulp_windows;

enum { ULP_WINDOW_MAX = 4096 };

/* Whether x replaces `most` as the maximum. The maximum is the first of equal numbers (+0 equals -0), or the first
 * NaN. */
ULP_CORE int ulp_pool_wins(float x, float most) { return (x > most) | ((x != x) & (most == most)); }

/* The maximum of the window at x, whose rows are w elements apart. *place = the index of the maximum in the window, row
 * by row. */
ULP_CORE float ulp_pool_most(float *place, const float *x, size_t w, size_t K) {
    float most = x[0], at = 0.0f;
    for (size_t j = 1; j < K * K; j++) {
        const float candidate = x[j / K * w + j % K];
        const int wins = ulp_pool_wins(candidate, most);
        most = wins ? candidate : most;
        at = wins ? (float)j : at;
    }
    *place = at;
    return most;
}

/* ---- windows that overlap, lie apart or reach over the edge ---- */

/* Windows of K x K on images (images,h,w). They begin `stride` rows and columns apart, and `pad` rows and columns
 * without numbers surround an image. stride is at least 1, K is at most ULP_WINDOW_MAX, and pad is below K, so that
 * every window has a pixel. */
typedef struct ulp_strided_windows {
    size_t images, h, w, K, stride, pad;
} ulp_strided_windows;

/* The number of windows in a column, where size = h, or in a row, where size = w. */
ULP_CORE size_t ulp_strided_count(size_t size, const ulp_strided_windows *s) {
    const size_t framed = size + 2 * s->pad;
    return framed < s->K ? 0 : (framed - s->K) / s->stride + 1;
}

/* The pixels begin .. end - 1 of a column or a row that a window covers. The first pixel has index `first` in the
 * window. */
typedef struct ulp_cover {
    size_t begin, end, first;
} ulp_cover;

ULP_CORE ulp_cover ulp_strided_cover(size_t window, size_t size, const ulp_strided_windows *s) {
    const size_t at = window * s->stride, end = at + s->K - s->pad; /* at is counted from the frame */
    const size_t first = at < s->pad ? s->pad - at : 0;
    const ulp_cover cover = {at + first - s->pad, end < size ? end : size, first};
    return cover;
}

/* The maximum of the window of these rows and columns of the image x, whose rows are w elements apart. *place = the
 * index of the maximum in the window, row by row. */
ULP_CORE float ulp_strided_most(float *place, const float *x, size_t w, size_t K, ulp_cover rows, ulp_cover columns) {
    float most = x[rows.begin * w + columns.begin];
    size_t at = rows.first * K + columns.first;
    for (size_t i = rows.begin; i < rows.end; i++)
        for (size_t j = columns.begin; j < columns.end; j++) {
            const float candidate = x[i * w + j];
            if (!ulp_pool_wins(candidate, most)) continue;
            most = candidate;
            at = (i - rows.begin + rows.first) * K + j - columns.begin + columns.first;
        }
    *place = (float)at;
    return most;
}

/* The gradient of a pixel, with one more window whose maximum the pixel is. The sum starts at +0 and has the order of
 * the windows. */
ULP_CORE double ulp_strided_slope(double dx, float dy) { return ulp_quieted(dx + (double)dy); }

/* ---- means ---- */

/* The mean of the window of K x K at x, whose rows are w elements apart. */
ULP_CORE double ulp_average_value(const float *x, size_t w, size_t K) {
    double sum = 0.0;
    for (size_t row = 0; row < K; row++)
        for (size_t column = 0; column < K; column++) sum += (double)x[row * w + column];
    return ulp_quieted(sum / (double)(K * K));
}

/* The gradient of a pixel in a window whose mean has the gradient dy. */
ULP_CORE double ulp_average_slope(float dy, size_t K) { return ulp_quieted((double)dy / (double)(K * K)); }

/* ---- up-sampling ---- */

/* The exact sum of the window of K x K at dy, whose rows are w elements apart, as one binary64 number that rounds like
 * the sum: the sum itself where no addition in binary64 has an error, else the sum rounded to odd. */
ULP_FN double ulp_upsample_slope(const float *dy, size_t w, size_t K, const ulp_format *binary64) {
    double sum = (double)dy[0];
    int exact = 1;
    for (size_t j = 1; j < K; j++) exact &= ulp_two_sum(sum, (double)dy[j], &sum) == 0.0;
    for (size_t i = 1; i < K; i++)
        for (size_t j = 0; j < K; j++) exact &= ulp_two_sum(sum, (double)dy[i * w + j], &sum) == 0.0;
    if (exact) return ulp_quieted(sum);
    ulp_wide wide;
    const ulp_rule odd = {ULP_RO, ULP_OVERFLOW_DEFAULT, 0};
    ulp_wide_clear(&wide);
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++) ulp_wide_add(&wide, (double)dy[i * w + j], 1.0);
    return ulp_round_exact(ulp_wide_exact(&wide), binary64, odd, 0);
}

ULP_C_END
#endif
