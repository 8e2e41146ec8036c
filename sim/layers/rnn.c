/* rnn.c - the simple recurrent layer of Elman 1990, doi:10.1207/s15516709cog1402_1.
 *
 *   h_t  <- tanh(s_t)                        s_t = b + x_t W + h_(t-1) U
 *   dh_t <- dy_t + p_t
 *   ds_t <- dh_t (1 - h_t^2)
 *
 * Every line is a stage of kernels/functions/cell.h, computed in binary64; each element is rounded once. recurrent.h
 * describes the tensors and the sums.
 */
#include "kernels/functions/elementary.h"
#include "sim/layers/recurrent.h"

enum { HIDDEN };
enum { DH };

static void unit64(double *h, double *c, const double *s, size_t j, size_t N) {
    (void)c;
    (void)N;
    h[j] = ulp_tanh(s[j]);
}

static const ulp_cell cell = {
    .gates = 1,
    .w_from = 0,
    .u_to = 1,
    .stages = 1,
    .grads = 2,
    .forward = {{ULP_RNN_HIDDEN, {ULP_SUMS}}},
    .backward = {{ULP_CELL_SUM, {ULP_DY, ULP_P}}, {ULP_RNN_GRAD_SUMS, {ULP_GRAD + DH, ULP_NOW + HIDDEN}}},
    .unit64 = unit64,
};

const ulp_layer_kind ulp_layer_rnn = {
    .name = "rnn",
    .usage = "rnnN: recurrent layer with tanh, N units (1 to 2^20)",
    .example = "rows rnn5",
    ULP_RECURRENT_KIND(cell),
};
