// windows.cu - maxima and means of windows, up-sampling, and their gradients: a thread for each element of the result.
#include "device.h"
#include "operations.h"

namespace {

/* Adjacent windows, and their number in a column and in a row. */
struct grid {
    ulp_windows s;
    size_t oh, ow;
};

grid grid_of(const ulp_windows *s) { return {*s, s->h / s->K, s->w / s->K}; }
size_t pixels_of(const grid &g) { return g.s.images * g.s.h * g.s.w; }
size_t windows_of(const grid &g) { return g.s.images * g.oh * g.ow; }

/* The index of the first pixel of window i. */
__device__ size_t pixel_of(const grid &g, size_t i) {
    const size_t q = i % g.ow, row = i / g.ow, p = row % g.oh, image = row / g.oh;
    return (image * g.s.h + p * g.s.K) * g.s.w + q * g.s.K;
}

/* The window that has pixel i; false if there is none. */
__device__ bool window_of(size_t *window, const grid &g, size_t i) {
    const size_t q = i % g.s.w / g.s.K, p = i / g.s.w % g.s.h / g.s.K, image = i / g.s.w / g.s.h;
    *window = (image * g.oh + p) * g.ow + q;
    return p < g.oh && q < g.ow;
}

/* The first window with a stride and a frame that covers pixel `at` of a column or a row, counted from the frame. */
__device__ size_t first_window(size_t at, const ulp_strided_windows &s) {
    return at < s.K ? 0 : (at - s.K) / s.stride + 1;
}

} // namespace

ulp_status ulp_cuda_pool(float *y, float *place, const float *x, const ulp_windows *windows) {
    const grid g = grid_of(windows);
    return ulp_cuda_each(windows_of(g), "pool", [=] __device__(size_t i) {
        float at;
        y[i] = ulp_pool_most(&at, x + pixel_of(g, i), g.s.w, g.s.K);
        place[i] = at;
    });
}

/* The element is the dy of its window if it is the window's maximum, else +0. */
ulp_status ulp_cuda_pool_slope(float *dx, const float *dy, const float *place, const ulp_windows *windows) {
    const grid g = grid_of(windows);
    return ulp_cuda_each(pixels_of(g), "pool_slope", [=] __device__(size_t i) {
        size_t window;
        const size_t at = i / g.s.w % g.s.h % g.s.K * g.s.K + i % g.s.w % g.s.K;
        dx[i] = window_of(&window, g, i) && (size_t)place[window] == at ? dy[window] : 0.0f;
    });
}

ulp_status ulp_cuda_pool_strided(float *y, float *place, const float *x, const ulp_strided_windows *windows) {
    const ulp_strided_windows s = *windows;
    const size_t oh = ulp_strided_count(s.h, &s), ow = ulp_strided_count(s.w, &s);
    return ulp_cuda_each(s.images * oh * ow, "pool_strided", [=] __device__(size_t i) {
        const size_t q = i % ow, row = i / ow, p = row % oh, image = row / oh;
        float at;
        y[i] = ulp_strided_most(&at, x + image * s.h * s.w, s.w, s.K, ulp_strided_cover(p, s.h, &s),
                                ulp_strided_cover(q, s.w, &s));
        place[i] = at;
    });
}

/* A thread looks at the windows that cover its pixel, in their order. */
ulp_status ulp_cuda_pool_strided_slope(double *dx, const float *dy, const float *place,
                                       const ulp_strided_windows *windows) {
    const ulp_strided_windows s = *windows;
    const size_t oh = ulp_strided_count(s.h, &s), ow = ulp_strided_count(s.w, &s);
    return ulp_cuda_each(s.images * s.h * s.w, "pool_strided_slope", [=] __device__(size_t i) {
        const size_t line = i / s.w % s.h + s.pad, column = i % s.w + s.pad, image = i / s.w / s.h;
        double sum = 0.0;
        for (size_t p = first_window(line, s); p < oh && p * s.stride <= line; p++)
            for (size_t q = first_window(column, s); q < ow && q * s.stride <= column; q++) {
                const size_t window = (image * oh + p) * ow + q;
                const size_t at = (line - p * s.stride) * s.K + column - q * s.stride;
                if ((size_t)place[window] == at) sum = ulp_strided_slope(sum, dy[window]);
            }
        dx[i] = sum;
    });
}

ulp_status ulp_cuda_average(double *y, const float *x, const ulp_windows *windows) {
    const grid g = grid_of(windows);
    return ulp_cuda_each(windows_of(g), "average",
                         [=] __device__(size_t i) { y[i] = ulp_average_value(x + pixel_of(g, i), g.s.w, g.s.K); });
}

ulp_status ulp_cuda_average_slope(double *dx, const float *dy, const ulp_windows *windows) {
    const grid g = grid_of(windows);
    return ulp_cuda_each(pixels_of(g), "average_slope", [=] __device__(size_t i) {
        size_t window;
        dx[i] = window_of(&window, g, i) ? ulp_average_slope(dy[window], g.s.K) : 0.0;
    });
}

ulp_status ulp_cuda_upsample(float *y, const float *x, const ulp_windows *windows) {
    const grid g = grid_of(windows);
    return ulp_cuda_each(pixels_of(g), "upsample", [=] __device__(size_t i) {
        size_t window;
        y[i] = window_of(&window, g, i) ? x[window] : 0.0f;
    });
}

ulp_status ulp_cuda_upsample_slope(double *dx, const float *dy, const ulp_windows *windows) {
    const grid g = grid_of(windows);
    const ulp_format binary64 = ulp_binary64;
    return ulp_cuda_each(windows_of(g), "upsample_slope", [=] __device__(size_t i) {
        dx[i] = ulp_upsample_slope(dy + pixel_of(g, i), g.s.w, g.s.K, &binary64);
    });
}
