/* elementwise.c - activation functions, dropout and softmax with their gradients, products with a factor, and
 * conversion to binary32. */
#include "kernels/cpu/philox.h"
#include "kernels/functions/lanes.h"

/* The arrays of an operation; y or z is the result. */
typedef struct work {
    float *y;
    double *z;
    const float *a, *b;
    const double *x;
    double factor;
    ulp_activation f;
    ulp_dropout how;
    ulp_labels labels;
    double *loss;
} work;

static ulp_status run(work w, size_t n, size_t grain, void (*part)(void *context, size_t begin, size_t end)) {
    ulp_parallel_for(n, grain, part, &w);
    return ULP_OK;
}

/* The elements of a piece. An activation function takes several times as long as a rounding. */
enum { ACTIVATION_GRAIN = ULP_GRAIN / 4 };

/* NAME_part: a statement for each element i of a piece. */
#define PART(name, statement)                                                                                          \
    static void name##_part(void *context, size_t begin, size_t end) {                                                 \
        const work *w = context;                                                                                       \
        for (size_t i = begin; i < end; i++) statement;                                                                \
    }
PART(narrow, w->y[i] = ulp_narrowed(w->x[i]))
PART(scale, w->z[i] = ulp_quieted(w->factor * w->x[i]))
PART(relu, w->y[i] = ulp_relu(w->a[i]))
PART(relu_slope, w->y[i] = ulp_relu_slope(w->a[i], w->b[i]))

ulp_status ULP_CPU(ulp_cpu_narrow)(float *y, const double *x, size_t n) {
    return run((work){.y = y, .x = x}, n, ULP_GRAIN, narrow_part);
}

ulp_status ULP_CPU(ulp_cpu_scale)(double *y, const double *x, size_t n, double factor) {
    return run((work){.z = y, .x = x, .factor = factor}, n, ULP_GRAIN, scale_part);
}

ulp_status ULP_CPU(ulp_cpu_relu)(float *y, const float *x, size_t n) {
    return run((work){.y = y, .a = x}, n, ULP_GRAIN, relu_part);
}

ulp_status ULP_CPU(ulp_cpu_relu_slope)(float *dx, const float *dy, const float *y, size_t n) {
    return run((work){.y = dx, .a = dy, .b = y}, n, ULP_GRAIN, relu_slope_part);
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
    else if (kind == ULP_GELU)
        for (size_t i = begin; i < end; i++) z[i] = ulp_quieted(ulp_gelu((double)x[i]));
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
    return run((work){.z = y, .a = x, .f = f}, n, ACTIVATION_GRAIN, activate_part);
}

ulp_status ULP_CPU(ulp_cpu_activate_slope)(double *dx, const float *dy, const float *at, size_t n, ulp_activation f) {
    return run((work){.z = dx, .a = dy, .b = at, .f = f}, n, ACTIVATION_GRAIN, slope_part);
}

/* ---- dropout, with random words for a piece of the array at a time ---- */

static void dropout_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const uint32_t percent = w->how.percent, least = ulp_dropout_least(percent);
    uint32_t words[ULP_PIECE];
    philox p;
    philox_begin(&p, w->how.stream.seed, w->how.stream.stream);
    for (size_t at = begin; at < end; at += ULP_PIECE) {
        const size_t n = end - at < ULP_PIECE ? end - at : ULP_PIECE;
        const float *x = w->a + at;
        double *y = w->z + at;
        ULP_CPU(ulp_philox_words)(words, n, &p, w->how.stream.first + at);
        for (size_t i = 0; i < n; i++) y[i] = ulp_dropout_value(x[i], words[i], least, percent);
    }
}

ulp_status ULP_CPU(ulp_cpu_dropout)(double *y, const float *x, size_t n, ulp_dropout how) {
    return run((work){.z = y, .a = x, .how = how}, n, ULP_GRAIN, dropout_part);
}

/* ---- softmax ---- */

/* The number of rows in a piece. */
static size_t rows_of(size_t C) { return ULP_PIECE / C + 1; }

static void softmax_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t C = w->labels.C;
    for (size_t b = begin; b < end; b++) {
        const float *z = w->a + b * C;
        double *p = w->z + b * C;
        const double largest = ulp_softmax_largest(z, C);
        for (size_t c = 0; c < C; c++) p[c] = ulp_exp((double)z[c] - largest);
        const double sum = ulp_softmax_sum(p, C);
        for (size_t c = 0; c < C; c++) p[c] = ulp_quieted(p[c] / sum);
        w->loss[b] = ulp_softmax_loss(z, w->labels.label[b], C, largest, sum);
    }
}

static void softmax_slope_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t C = w->labels.C;
    for (size_t b = begin; b < end; b++)
        for (size_t c = 0; c < C; c++)
            w->z[b * C + c] =
                ulp_softmax_slope(w->a[b * C + c], (uint32_t)(c == w->labels.label[b]), w->factor, w->labels.B);
}

ulp_status ULP_CPU(ulp_cpu_softmax)(double *p, double *loss, const float *z, ulp_labels labels) {
    return run((work){.z = p, .loss = loss, .a = z, .labels = labels}, labels.B, rows_of(labels.C), softmax_part);
}

ulp_status ULP_CPU(ulp_cpu_softmax_slope)(double *dz, const float *p, ulp_labels labels, double scale) {
    return run((work){.z = dz, .a = p, .labels = labels, .factor = scale}, labels.B, rows_of(labels.C),
               softmax_slope_part);
}
