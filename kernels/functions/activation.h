/* activation.h - activation functions and their gradients, element by element: one definition for every backend.
 *
 * relu is exact in binary32. The other functions are computed in binary64; the caller rounds their results once.
 */
#ifndef ULP_ACTIVATION_H
#define ULP_ACTIVATION_H

#include "elementary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(identifier, name, f(x), f'(x) dy). `at` is the value that the layer stores: x, or y = f(x) rounded. */
#define ULP_ACTIVATIONS(X)                                                                                             \
    X(ULP_LEAKY, "leaky", x *(x > 0.0 ? 1.0 : a), dy *(at > 0.0 ? 1.0 : a) /* at x */)                                 \
    X(ULP_TANH, "tanh", ulp_tanh(x), dy *(1.0 - at * at) /* at y */)                                                   \
    X(ULP_SIGMOID, "sigmoid", ulp_sigmoid(x), dy *(at * (1.0 - at)) /* at y */)

typedef enum ulp_activation_kind {
#define ULP_ACTIVATION_ID(id, name, f, slope) id,
    ULP_ACTIVATIONS(ULP_ACTIVATION_ID)
#undef ULP_ACTIVATION_ID
        ULP_ACTIVATION_COUNT
} ulp_activation_kind;

typedef struct ulp_activation {
    uint8_t kind; /* ulp_activation_kind */
    double a;     /* the slope of leaky below 0 */
} ulp_activation;

/* max(x, 0). -0 gives -0, and NaN gives NaN. */
ULP_CORE float ulp_relu(float x) { return x < 0.0f ? 0.0f : x; }

/* dy where y > 0 or y is NaN, else +0. A mask replaces a branch, since the signs of y are unpredictable. */
ULP_CORE float ulp_relu_slope(float dy, float y) {
    return ulp_from_bits32(ulp_bits32(dy) & ((uint32_t)(y <= 0.0f) - 1u));
}

/* f(x), within ULP_TANH_BOUND or ULP_SIGMOID_BOUND. leaky is exact where a has at most 24 bits. NaN gives the quiet
 * NaN. */
ULP_CORE double ulp_activation_value(ulp_activation_kind kind, double a, double x) {
    (void)a;
    switch (kind) {
#define ULP_ACTIVATION_CASE(id, name, f, slope)                                                                        \
    case id: return ulp_quieted(f);
        ULP_ACTIVATIONS(ULP_ACTIVATION_CASE)
#undef ULP_ACTIVATION_CASE
    case ULP_ACTIVATION_COUNT: break;
    }
    return ulp_quiet_nan();
}

/* f'(x) dy for binary32 operands. The relative error is below 2^-51. */
ULP_CORE double ulp_activation_slope(ulp_activation_kind kind, double a, double dy, double at) {
    (void)a;
    switch (kind) {
#define ULP_ACTIVATION_CASE(id, name, f, slope)                                                                        \
    case id: return ulp_quieted(slope);
        ULP_ACTIVATIONS(ULP_ACTIVATION_CASE)
#undef ULP_ACTIVATION_CASE
    case ULP_ACTIVATION_COUNT: break;
    }
    return ulp_quiet_nan();
}

#ifdef __cplusplus
}
#endif
#endif
