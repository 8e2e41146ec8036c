/* elementwise.h - activation functions, dropout and softmax: one definition for every backend.
 *
 * relu is exact in binary32. The other functions are computed in binary64; the caller rounds their results once.
 */
#ifndef ULP_ELEMENTWISE_H
#define ULP_ELEMENTWISE_H

#include "formats/round.h"
#include "gelu.h"

ULP_C_BEGIN

/* ---- activation functions and their gradients ---- */

/* X(identifier, name, f(x), f'(x) dy). `at` is the value that the layer stores: x, or y = f(x) rounded. */
#define ULP_ACTIVATIONS(X)                                                                                             \
    X(ULP_LEAKY, "leaky", x *(x > 0.0 ? 1.0 : a), dy *(at > 0.0 ? 1.0 : a) /* at x */)                                 \
    X(ULP_TANH, "tanh", ulp_tanh(x), dy *(1.0 - at * at) /* at y */)                                                   \
    X(ULP_SIGMOID, "sigmoid", ulp_sigmoid(x), dy *(at * (1.0 - at)) /* at y */)                                        \
    X(ULP_GELU, "gelu", ulp_gelu(x), dy *ulp_gelu_slope(at) /* at x */)                                                \
    X(ULP_GELU_TANH, "gelu_tanh", ulp_gelu_tanh(x), dy *ulp_gelu_tanh_slope(at) /* at x */)                            \
    X(ULP_SILU, "silu", ulp_silu(x), dy *ulp_silu_slope(at) /* at x */)

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

/* f(x), within ULP_TANH_BOUND or ULP_SIGMOID_BOUND, or the bound of gelu.h. leaky is exact where a has at most 24
 * bits. NaN gives the quiet NaN. */
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

/* f'(x) dy for binary32 operands. The relative error is below 2^-51, or that of the slope in gelu.h. */
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

/* ---- dropout ---- */

/* An element is kept if its random word is at least percent/100 2^32, rounded up. A kept element is multiplied by
 * 100 / (100 - percent): the product by 100 is exact for binary32, and the quotient is rounded once. Other elements
 * become +0. */

enum { ULP_DROPOUT_MOST = 99 };

/* The random word of element i has index stream.first + i. */
typedef struct ulp_dropout {
    uint32_t percent; /* 0 to ULP_DROPOUT_MOST */
    ulp_stream stream;
} ulp_dropout;

/* The least random word of an element that is kept. */
ULP_CORE uint32_t ulp_dropout_least(uint32_t percent) {
    return (uint32_t)((percent * (uint64_t)0x100000000u + 99) / 100);
}

ULP_CORE double ulp_dropout_value(float x, uint32_t word, uint32_t least, uint32_t percent) {
    const double kept = ulp_quieted((double)x * 100.0 / (double)(100 - percent));
    return word >= least ? kept : 0.0;
}

/* ---- softmax with cross-entropy ---- */

/* For a row z (C): p = e^(z - largest) / sum with a relative error below 2^-48. The sum runs in the order of the
 * columns. loss = log(sum) - (z[label] - largest), which does not underflow. */

/* The largest of z (C), for C of at least 1. NaN if z[0] is NaN. */
ULP_CORE double ulp_softmax_largest(const float *z, size_t C) {
    double largest = (double)z[0];
    for (size_t c = 1; c < C; c++) largest = (double)z[c] > largest ? (double)z[c] : largest;
    return largest;
}

ULP_CORE double ulp_softmax_sum(const double *e, size_t C) {
    double sum = 0.0;
    for (size_t c = 0; c < C; c++) sum += e[c];
    return sum;
}

/* The loss of a row. NaN for a label that is not a column. */
ULP_CORE double ulp_softmax_loss(const float *z, size_t label, size_t C, double largest, double sum) {
    return label < C ? ulp_quieted(ulp_log(sum) - ((double)z[label] - largest)) : ulp_quiet_nan();
}

/* The gradient of the mean loss of B rows, times scale, in a column with probability p. hit is 1 in the label's
 * column. */
ULP_CORE double ulp_softmax_slope(float p, uint32_t hit, double scale, size_t B) {
    return ulp_quieted(((double)p - (double)hit) * scale / (double)B);
}

ULP_C_END
#endif
