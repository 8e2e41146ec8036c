/* pool.h - the maximum of a window and its place: one definition for every backend. */
#ifndef ULP_POOL_H
#define ULP_POOL_H

#include "formats/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Windows of K x K side by side on images (images,h,w): (h / K, w / K) windows for each image. Rows and columns that do
 * not fill a window belong to no window. K is at least 1; for maxima it is at most ULP_WINDOW_MAX, so that places in a
 * window are exact in binary32. */
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

#ifdef __cplusplus
}
#endif
#endif
