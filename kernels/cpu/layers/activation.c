/* activation.c - activation functions, their gradients, products with a factor, and conversion to binary32. */
#include "kernels/cpu/cpu.h"
#include "kernels/functions/lanes.h"

/* The arrays of an operation; y or z is the result. */
typedef struct work {
    float *y;
    double *z;
    const float *a, *b;
    const double *x;
    double factor;
    ulp_activation f;
} work;

/* The elements of a piece. An activation function takes several times as long as a rounding. */
enum { ACTIVATION_GRAIN = ULP_GRAIN / 4 };

static void narrow_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t i = begin; i < end; i++) w->y[i] = ulp_narrowed(w->x[i]);
}

ulp_status ULP_CPU(ulp_cpu_narrow)(float *y, const double *x, size_t n) {
    work w = {.y = y, .x = x};
    ulp_parallel_for(n, ULP_GRAIN, narrow_part, &w);
    return ULP_OK;
}

static void scale_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t i = begin; i < end; i++) w->z[i] = ulp_quieted(w->factor * w->x[i]);
}

ulp_status ULP_CPU(ulp_cpu_scale)(double *y, const double *x, size_t n, double factor) {
    work w = {.z = y, .x = x, .factor = factor};
    ulp_parallel_for(n, ULP_GRAIN, scale_part, &w);
    return ULP_OK;
}

static void relu_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t i = begin; i < end; i++) w->y[i] = ulp_relu(w->a[i]);
}

ulp_status ULP_CPU(ulp_cpu_relu)(float *y, const float *x, size_t n) {
    work w = {.y = y, .a = x};
    ulp_parallel_for(n, ULP_GRAIN, relu_part, &w);
    return ULP_OK;
}

static void relu_slope_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    for (size_t i = begin; i < end; i++) w->y[i] = ulp_relu_slope(w->a[i], w->b[i]);
}

ulp_status ULP_CPU(ulp_cpu_relu_slope)(float *dx, const float *dy, const float *y, size_t n) {
    work w = {.y = dx, .a = dy, .b = y};
    ulp_parallel_for(n, ULP_GRAIN, relu_slope_part, &w);
    return ULP_OK;
}

/* The kind is a constant in each instance. The functions of lanes.h have the bits of ulp_activation_value(). */
ULP_INLINE void activate_run(const work *w, size_t begin, size_t end, ulp_activation_kind kind) {
    const float *x = w->a;
    double *z = w->z;
    const double a = w->f.a;
    if (kind == ULP_TANH)
        for (size_t i = begin; i < end; i++) z[i] = ulp_quieted(ulp_tanh_lane((double)x[i]));
    else if (kind == ULP_SIGMOID)
        for (size_t i = begin; i < end; i++) z[i] = ulp_quieted(ulp_sigmoid_lane((double)x[i]));
    else
        for (size_t i = begin; i < end; i++) z[i] = ulp_activation_value(kind, a, (double)x[i]);
}

ULP_INLINE void slope_run(const work *w, size_t begin, size_t end, ulp_activation_kind kind) {
    for (size_t i = begin; i < end; i++) w->z[i] = ulp_activation_slope(kind, w->f.a, (double)w->a[i], (double)w->b[i]);
}

static void activate_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    switch ((ulp_activation_kind)w->f.kind) {
#define CASE(id, name, f, slope)                                                                                       \
    case id: activate_run(w, begin, end, id); break;
        ULP_ACTIVATIONS(CASE)
#undef CASE
    case ULP_ACTIVATION_COUNT: break;
    }
}

static void slope_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    switch ((ulp_activation_kind)w->f.kind) {
#define CASE(id, name, f, slope)                                                                                       \
    case id: slope_run(w, begin, end, id); break;
        ULP_ACTIVATIONS(CASE)
#undef CASE
    case ULP_ACTIVATION_COUNT: break;
    }
}

ulp_status ULP_CPU(ulp_cpu_activate)(double *y, const float *x, size_t n, ulp_activation f) {
    work w = {.z = y, .a = x, .f = f};
    ulp_parallel_for(n, ACTIVATION_GRAIN, activate_part, &w);
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_cpu_activate_slope)(double *dx, const float *dy, const float *at, size_t n, ulp_activation f) {
    work w = {.z = dx, .a = dy, .b = at, .f = f};
    ulp_parallel_for(n, ACTIVATION_GRAIN, slope_part, &w);
    return ULP_OK;
}
