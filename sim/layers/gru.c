/* gru.c - gated recurrent units of Cho et al. 2014, arXiv:1406.1078, section 2.3, reset after the recurrent product.
 *
 * This is the variant of cuDNN and PyTorch: the reset gate r multiplies h U, which has a bias of its own, and not h, so
 * that a step needs one product with U. The gate z is the weight of the old state. The sums are s = [q r z n]. q is the
 * recurrent part of the candidate n. W (F,3N) takes part in r, z, n, and U (N,3N) in q, r, z.
 *
 *   [q r z]_t <- [s_q, sigmoid(s_r), sigmoid(s_z)]
 *   n_t       <- tanh(s_n + r q)
 *   h_t       <- (1 - z) n + z h_(t-1)
 *   dh_t      <- dy_t + p_t + dh_(t+1) z_(t+1)
 *   ds_t      <- [dn r, dn q r (1 - r), dh (h_(t-1) - n) z (1 - z), dn],  dn = dh (1 - z) (1 - n^2)
 *
 * Every line is a stage of kernels/functions/cell.h, computed in binary64; each element is rounded once. recurrent.h
 * describes the sums and the streams.
 */
#include "kernels/functions/elementary.h"
#include "sim/layers/recurrent.h"

enum { GATES, CANDIDATE, HIDDEN };
enum { DH };

static void unit64(double *h, double *c, const double *s, size_t j, size_t N) {
    double r = ulp_sigmoid(s[ULP_GRU_R * N + j]), z = ulp_sigmoid(s[ULP_GRU_Z * N + j]),
           n = ulp_tanh(s[ULP_GRU_N * N + j] + r * s[ULP_GRU_Q * N + j]);
    (void)c;
    h[j] = (1.0 - z) * n + z * h[j];
}

static const ulp_cell cell = {
    .gates = 4,
    .w_from = 1,
    .u_to = 3,
    .stages = 3,
    .grads = 2,
    .forward = {{ULP_GRU_GATES, {ULP_SUMS}},
                {ULP_GRU_CANDIDATE, {ULP_SUMS, ULP_NOW + GATES}},
                {ULP_GRU_HIDDEN, {ULP_NOW + GATES, ULP_NOW + CANDIDATE, ULP_WAS + HIDDEN}}},
    .backward = {{ULP_GRU_GRAD_HIDDEN, {ULP_DY, ULP_P, ULP_GRAD_NEXT + DH, ULP_NEXT + GATES}},
                 {ULP_GRU_GRAD_SUMS, {ULP_GRAD + DH, ULP_NOW + GATES, ULP_NOW + CANDIDATE, ULP_WAS + HIDDEN}}},
    .unit64 = unit64,
};

const ulp_layer_kind ulp_layer_gru = {
    .name = "gru",
    .usage = "gruN: gated recurrent layer, N units (1 to 2^20)",
    .example = "rows gru3",
    ULP_RECURRENT_KIND(cell),
};
