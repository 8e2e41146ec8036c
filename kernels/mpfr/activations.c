/* activations.c - the backend "mpfr": activation functions and their slopes, by functions.c and gelu.c. */
#include "operations.h"

#include <math.h>

static double quiet(double x) { return isnan(x) ? NAN : x; }

ulp_status ulp_mpfr_activate(double *y, const float *x, size_t n, ulp_activation f) {
    for (size_t i = 0; i < n; i++) {
        const double at = (double)x[i];
        double value = NAN;
        switch ((ulp_activation_kind)f.kind) {
        case ULP_LEAKY: value = at > 0.0 ? at : at * f.a; break;
        case ULP_TANH: value = ulp_mpfr_tanh(at); break;
        case ULP_SIGMOID: value = ulp_mpfr_sigmoid(at); break;
        case ULP_GELU: value = ulp_mpfr_gelu(at); break;
        case ULP_GELU_TANH: value = ulp_mpfr_gelu_tanh(at); break;
        case ULP_SILU: value = ulp_mpfr_silu(at); break;
        case ULP_ACTIVATION_COUNT: break;
        }
        y[i] = quiet(value);
    }
    return ULP_OK;
}

ulp_status ulp_mpfr_activate_slope(double *dx, const float *dy, const float *at, size_t n, ulp_activation f) {
    for (size_t i = 0; i < n; i++) {
        const double stored = (double)at[i];
        double slope = NAN;
        switch ((ulp_activation_kind)f.kind) {
        case ULP_LEAKY: slope = stored > 0.0 ? 1.0 : f.a; break;
        case ULP_TANH: slope = 1.0 - stored * stored; break;
        case ULP_SIGMOID: slope = stored * (1.0 - stored); break;
        case ULP_GELU: slope = ulp_mpfr_gelu_slope(stored); break;
        case ULP_GELU_TANH: slope = ulp_mpfr_gelu_tanh_slope(stored); break;
        case ULP_SILU: slope = ulp_mpfr_silu_slope(stored); break;
        case ULP_ACTIVATION_COUNT: break;
        }
        dx[i] = quiet((double)dy[i] * slope);
    }
    return ULP_OK;
}
