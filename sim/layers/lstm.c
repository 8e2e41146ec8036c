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
 * Every line is a stage of kernels/functions/cell.h, computed in binary64; each element is rounded once. recurrent.h
 * describes the sums and the streams.
 */
#include "kernels/functions/elementary.h"
#include "sim/layers/recurrent.h"

enum { GATES, MEMORY, HIDDEN };
enum { DH, DC };

static void unit64(double *h, double *c, const double *s, size_t j, size_t N) {
    c[j] = ulp_sigmoid(s[ULP_LSTM_F * N + j]) * c[j] +
           ulp_sigmoid(s[ULP_LSTM_I * N + j]) * ulp_tanh(s[ULP_LSTM_G * N + j]);
    h[j] = ulp_sigmoid(s[ULP_LSTM_O * N + j]) * ulp_tanh(c[j]);
}

static const ulp_cell cell = {
    .gates = 4,
    .w_from = 0,
    .u_to = 4,
    .stages = 3,
    .grads = 3,
    .forward = {{ULP_LSTM_GATES, {ULP_SUMS}},
                {ULP_LSTM_MEMORY, {ULP_NOW + GATES, ULP_WAS + MEMORY}},
                {ULP_LSTM_HIDDEN, {ULP_NOW + GATES, ULP_NOW + MEMORY}}},
    .backward = {{ULP_CELL_SUM, {ULP_DY, ULP_P}},
                 {ULP_LSTM_GRAD_MEMORY,
                  {ULP_GRAD_NEXT + DC, ULP_NEXT + GATES, ULP_GRAD + DH, ULP_NOW + GATES, ULP_NOW + MEMORY}},
                 {ULP_LSTM_GRAD_SUMS,
                  {ULP_GRAD + DH, ULP_GRAD + DC, ULP_NOW + GATES, ULP_NOW + MEMORY, ULP_WAS + MEMORY}}},
    .open_gate = ULP_LSTM_F + 1,
    .unit64 = unit64,
};

const ulp_layer_kind ulp_layer_lstm = {
    .name = "lstm",
    .usage = "lstmN: long short-term memory layer, N units (1 to 2^20)",
    .example = "rows lstm3",
    ULP_RECURRENT_KIND(cell),
};
