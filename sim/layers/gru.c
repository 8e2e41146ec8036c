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
 * Every line is computed in binary64, and each element is rounded once. recurrent.h describes the sums and the streams.
 */
#include "kernels/curves.h"
#include "kernels/functions/elementary.h"
#include "sim/recurrent.h"

enum { GATES, CANDIDATE, HIDDEN };
enum { Q, R, Z, NEW };

static void gates(double *to, const ulp_cell_view *v) {
    size_t N = v->N;
    for (size_t b = 0; b < v->B; b++)
        for (size_t j = 0; j < 3 * N; j++) to[b * 3 * N + j] = (double)v->sums[b * 4 * N + j];
    ulp_sigmoid_rows(to + R * N, v->B, 3 * N, 2 * N);
}

static void candidate(double *to, const ulp_cell_view *v) {
    size_t N = v->N;
    for (size_t b = 0; b < v->B; b++)
        for (size_t j = 0; j < N; j++) {
            const float *g = v->now[GATES] + b * 3 * N + j;
            to[b * N + j] = (double)v->sums[(b * 4 + NEW) * N + j] + (double)g[R * N] * (double)g[Q * N];
        }
    ulp_tanh_rows(to, v->B, N, N);
}

static void hidden(double *to, const ulp_cell_view *v) {
    size_t N = v->N;
    for (size_t b = 0; b < v->B; b++)
        for (size_t j = 0; j < N; j++) {
            double z = (double)v->now[GATES][(b * 3 + Z) * N + j];
            to[b * N + j] = (1.0 - z) * (double)v->now[CANDIDATE][b * N + j] + z * (double)v->was[HIDDEN][b * N + j];
        }
}

static void grad_hidden(double *to, const ulp_cell_view *v) {
    size_t N = v->N;
    for (size_t b = 0; b < v->B; b++)
        for (size_t j = 0; j < N; j++) {
            size_t i = b * N + j;
            to[i] = (double)v->dy[i] + (double)v->p[i] +
                    (double)v->grad_next[0][i] * (double)v->next[GATES][(b * 3 + Z) * N + j];
        }
}

static void grad_sums(double *to, const ulp_cell_view *v) {
    size_t N = v->N;
    for (size_t b = 0; b < v->B; b++)
        for (size_t j = 0; j < N; j++) {
            const float *g = v->now[GATES] + b * 3 * N + j;
            double q = (double)g[Q * N], r = (double)g[R * N], z = (double)g[Z * N];
            double n = (double)v->now[CANDIDATE][b * N + j], was = (double)v->was[HIDDEN][b * N + j];
            double dh = (double)v->grad[0][b * N + j], dn = dh * (1.0 - z) * (1.0 - n * n), *ds = to + b * 4 * N + j;
            ds[Q * N] = dn * r;
            ds[R * N] = dn * q * r * (1.0 - r);
            ds[Z * N] = dh * (was - n) * z * (1.0 - z);
            ds[NEW * N] = dn;
        }
}

static void unit64(double *h, double *c, const double *s, size_t j, size_t N) {
    double r = ulp_sigmoid(s[R * N + j]), z = ulp_sigmoid(s[Z * N + j]),
           n = ulp_tanh(s[NEW * N + j] + r * s[Q * N + j]);
    (void)c;
    h[j] = (1.0 - z) * n + z * h[j];
}

static const ulp_cell cell = {
    .gates = 4,
    .w_from = 1,
    .u_to = 3,
    .stages = 3,
    .width = {3, 1, 1},
    .grads = 2,
    .grad_width = {1, 4},
    .forward = {gates, candidate, hidden},
    .backward = {grad_hidden, grad_sums},
    .unit64 = unit64,
};

extern const ulp_layer_kind ulp_layer_gru;
const ulp_layer_kind ulp_layer_gru = {
    .name = "gru",
    .usage = "gruN: gated recurrent layer, N units (1 to 2^20)",
    .takes = ULP_RECURRENT_TAKES,
    .example = "rows gru3",
    .gain = 1.0,
    .operation = "cell",
    .products = 2,
    .reads = ULP_READS_BOTH,
    .cell = &cell,
    .shape = ulp_recurrent_shape,
    .init = ulp_recurrent_init,
    .forward = ulp_recurrent_forward,
    .backward = ulp_recurrent_backward,
    .forward64 = ulp_recurrent_forward64,
};
