/* lstm.c - long short-term memory of Hochreiter and Schmidhuber 1997, doi:10.1162/neco.1997.9.8.1735, with the
 * forget gate of Gers et al. 2000, doi:10.1162/089976600300015015; no peepholes.
 *
 * The sums are s = [i f o g]; W (F,4N) and U (N,4N) take part in all of them. The bias of f starts at 1 (Jozefowicz et
 * al. 2015).
 *
 *   [i f o g]_t <- [sigmoid(s_i), sigmoid(s_f), sigmoid(s_o), tanh(s_g)]
 *   c_t         <- f c_(t-1) + i g
 *   h_t         <- o tanh(c)
 *   dh_t        <- dy_t + p_t
 *   dc_t        <- dc_(t+1) f_(t+1) + dh o (1 - tanh(c)^2)
 *   ds_t        <- [dc g i (1 - i), dc c_(t-1) f (1 - f), dh tanh(c) o (1 - o), dc i (1 - g^2)]
 *
 * Every line is computed in binary64, and each element is rounded once. recurrent.h describes the sums and the streams.
 */
#include "kernels/curves.h"
#include "kernels/functions/elementary.h"
#include "sim/recurrent.h"

enum { GATES, MEMORY, HIDDEN };
enum { IN, FORGET, OUT, NEW };
enum { DH, DC };

static void gates(double *to, const ulp_cell_view *v) {
    for (size_t i = 0; i < 4 * v->B * v->N; i++) to[i] = (double)v->sums[i];
    ulp_sigmoid_rows(to, v->B, 4 * v->N, NEW * v->N);
    ulp_tanh_rows(to + NEW * v->N, v->B, 4 * v->N, v->N);
}

static void memory(double *to, const ulp_cell_view *v) {
    size_t N = v->N;
    for (size_t b = 0; b < v->B; b++)
        for (size_t j = 0; j < N; j++) {
            const float *g = v->now[GATES] + b * 4 * N + j;
            to[b * N + j] =
                (double)g[FORGET * N] * (double)v->was[MEMORY][b * N + j] + (double)g[IN * N] * (double)g[NEW * N];
        }
}

static void hidden(double *to, const ulp_cell_view *v) {
    size_t N = v->N;
    for (size_t i = 0; i < v->B * N; i++) to[i] = (double)v->now[MEMORY][i];
    ulp_tanh_rows(to, v->B, N, N);
    for (size_t b = 0; b < v->B; b++)
        for (size_t j = 0; j < N; j++) to[b * N + j] = (double)v->now[GATES][(b * 4 + OUT) * N + j] * to[b * N + j];
}

static void grad_hidden(double *to, const ulp_cell_view *v) {
    for (size_t i = 0; i < v->B * v->N; i++) to[i] = (double)v->dy[i] + (double)v->p[i];
}

static void grad_memory(double *to, const ulp_cell_view *v) {
    size_t N = v->N;
    for (size_t i = 0; i < v->B * N; i++) to[i] = (double)v->now[MEMORY][i];
    ulp_tanh_rows(to, v->B, N, N);
    for (size_t b = 0; b < v->B; b++)
        for (size_t j = 0; j < N; j++) {
            size_t i = b * N + j;
            double c = to[i], o = (double)v->now[GATES][(b * 4 + OUT) * N + j];
            to[i] = (double)v->grad_next[DC][i] * (double)v->next[GATES][(b * 4 + FORGET) * N + j] +
                    (double)v->grad[DH][i] * o * (1.0 - c * c);
        }
}

static void grad_sums(double *to, const ulp_cell_view *v) {
    size_t N = v->N;
    for (size_t b = 0; b < v->B; b++)
        for (size_t j = 0; j < N; j++) to[(b * 4 + OUT) * N + j] = (double)v->now[MEMORY][b * N + j];
    ulp_tanh_rows(to + OUT * N, v->B, 4 * N, N);
    for (size_t b = 0; b < v->B; b++)
        for (size_t j = 0; j < N; j++) {
            const float *gate = v->now[GATES] + b * 4 * N + j;
            double i = (double)gate[IN * N], f = (double)gate[FORGET * N], o = (double)gate[OUT * N],
                   g = (double)gate[NEW * N];
            double dh = (double)v->grad[DH][b * N + j], dc = (double)v->grad[DC][b * N + j], *ds = to + b * 4 * N + j;
            ds[IN * N] = dc * g * i * (1.0 - i);
            ds[FORGET * N] = dc * (double)v->was[MEMORY][b * N + j] * f * (1.0 - f);
            ds[OUT * N] = dh * ds[OUT * N] * o * (1.0 - o);
            ds[NEW * N] = dc * i * (1.0 - g * g);
        }
}

static void unit64(double *h, double *c, const double *s, size_t j, size_t N) {
    c[j] = ulp_sigmoid(s[FORGET * N + j]) * c[j] + ulp_sigmoid(s[IN * N + j]) * ulp_tanh(s[NEW * N + j]);
    h[j] = ulp_sigmoid(s[OUT * N + j]) * ulp_tanh(c[j]);
}

static const ulp_cell cell = {
    .gates = 4,
    .w_from = 0,
    .u_to = 4,
    .stages = 3,
    .width = {4, 1, 1},
    .grads = 3,
    .grad_width = {1, 1, 4},
    .forward = {gates, memory, hidden},
    .backward = {grad_hidden, grad_memory, grad_sums},
    .open_gate = FORGET + 1,
    .unit64 = unit64,
};

extern const ulp_layer_kind ulp_layer_lstm;
const ulp_layer_kind ulp_layer_lstm = {
    .name = "lstm",
    .usage = "lstmN: long short-term memory layer, N units (1 to 2^20)",
    .takes = ULP_RECURRENT_TAKES,
    .example = "rows lstm3",
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
