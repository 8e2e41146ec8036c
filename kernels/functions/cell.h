/* cell.h - the stages of the cells of recurrent layers, and of swiglu, unit by unit, in binary64: one definition for
 * every backend.
 *
 * A stage computes one array from others. An array has N numbers for each of its gates: (B, width N). The comment above
 * a stage is its formula for one unit of one sample; the layers (sim/layers/) say which tensors the operands are. exp
 * and tanh are those of lanes.h, which have the bits of elementary.h, so that loops over units run in vectors.
 */
#ifndef ULP_CELL_H
#define ULP_CELL_H

#include <stddef.h>

#include "gelu.h"

ULP_C_BEGIN

/* X(identifier, function, width of the result, widths of the operands). 0: no operand. */
#define ULP_CELL_STAGES(X)                                                                                             \
    X(ULP_CELL_SUM, ulp_cell_sum, 1, 1, 1, 0, 0, 0)                                                                    \
    X(ULP_CELL_SUM_TO_ODD, ulp_cell_sum_to_odd, 1, 1, 1, 0, 0, 0)                                                      \
    X(ULP_RNN_HIDDEN, ulp_rnn_hidden, 1, 1, 0, 0, 0, 0)                                                                \
    X(ULP_RNN_GRAD_SUMS, ulp_rnn_grad_sums, 1, 1, 1, 0, 0, 0)                                                          \
    X(ULP_GRU_GATES, ulp_gru_gates, 3, 4, 0, 0, 0, 0)                                                                  \
    X(ULP_GRU_CANDIDATE, ulp_gru_candidate, 1, 4, 3, 0, 0, 0)                                                          \
    X(ULP_GRU_HIDDEN, ulp_gru_hidden, 1, 3, 1, 1, 0, 0)                                                                \
    X(ULP_GRU_GRAD_HIDDEN, ulp_gru_grad_hidden, 1, 1, 1, 1, 3, 0)                                                      \
    X(ULP_GRU_GRAD_SUMS, ulp_gru_grad_sums, 4, 1, 3, 1, 1, 0)                                                          \
    X(ULP_LSTM_GATES, ulp_lstm_gates, 4, 4, 0, 0, 0, 0)                                                                \
    X(ULP_LSTM_MEMORY, ulp_lstm_memory, 1, 4, 1, 0, 0, 0)                                                              \
    X(ULP_LSTM_HIDDEN, ulp_lstm_hidden, 1, 4, 1, 0, 0, 0)                                                              \
    X(ULP_LSTM_GRAD_MEMORY, ulp_lstm_grad_memory, 1, 1, 4, 1, 4, 1)                                                    \
    X(ULP_LSTM_GRAD_SUMS, ulp_lstm_grad_sums, 4, 1, 1, 4, 1, 1)                                                        \
    X(ULP_SWIGLU, ulp_swiglu, 1, 2, 0, 0, 0, 0)                                                                        \
    X(ULP_SWIGLU_GRAD, ulp_swiglu_grad, 2, 1, 2, 0, 0, 0)

enum { ULP_CELL_OPERANDS = 5 };

typedef enum ulp_cell_stage {
#define ULP_CELL_ID(id, unit, to, a, b, c, d, e) id,
    ULP_CELL_STAGES(ULP_CELL_ID)
#undef ULP_CELL_ID
        ULP_CELL_STAGE_COUNT
} ulp_cell_stage;

/* The operands of a stage, in the order of its row, for B samples and N units. Operands that the stage does not have
 * may be NULL. */
typedef struct ulp_cell_arrays {
    size_t B, N;
    const float *in[ULP_CELL_OPERANDS]; /* (B, width N) */
} ulp_cell_arrays;

/* The widths of a stage. */
typedef struct ulp_cell_widths {
    uint8_t to, in[ULP_CELL_OPERANDS];
} ulp_cell_widths;

ULP_FN ulp_cell_widths ulp_cell_widths_of(ulp_cell_stage stage) {
#define ULP_CELL_WIDTHS(id, unit, to, a, b, c, d, e) {to, {a, b, c, d, e}},
    const ulp_cell_widths widths[] = {ULP_CELL_STAGES(ULP_CELL_WIDTHS)};
#undef ULP_CELL_WIDTHS
    return widths[stage];
}

/* ---- the stages ----
 *
 * `to` and in[i] point to the number of the unit in gate 0; gate k starts k N elements later.
 */

/* The gates of s of gru and lstm, in their order in an array. The array [q r z] of gru has no gate n. */
enum { ULP_GRU_Q, ULP_GRU_R, ULP_GRU_Z, ULP_GRU_N };
enum { ULP_LSTM_I, ULP_LSTM_F, ULP_LSTM_O, ULP_LSTM_G };

/* a + b */
ULP_CORE void ulp_cell_sum(double *to, const float *const in[], size_t N) {
    (void)N;
    to[0] = ulp_quieted((double)in[0][0] + (double)in[1][0]);
}

/* a + b as one number that rounds like the exact sum; residual blocks use it, too */
ULP_CORE void ulp_cell_sum_to_odd(double *to, const float *const in[], size_t N) {
    (void)N;
    to[0] = ulp_quieted(ulp_sum_to_odd((double)in[0][0], (double)in[1][0]));
}

/* h = tanh(s) */
ULP_CORE void ulp_rnn_hidden(double *to, const float *const in[], size_t N) {
    (void)N;
    to[0] = ulp_quieted(ulp_tanh_lane((double)in[0][0]));
}

/* ds = dh (1 - h^2) from dh, h */
ULP_CORE void ulp_rnn_grad_sums(double *to, const float *const in[], size_t N) {
    const double h = (double)in[1][0];
    (void)N;
    to[0] = ulp_quieted((double)in[0][0] * (1.0 - h * h));
}

/* [q r z] = [s_q, sigmoid(s_r), sigmoid(s_z)] */
ULP_CORE void ulp_gru_gates(double *to, const float *const in[], size_t N) {
    const float *const s = in[0];
    to[ULP_GRU_Q * N] = ulp_quieted((double)s[ULP_GRU_Q * N]);
    to[ULP_GRU_R * N] = ulp_quieted(ulp_sigmoid_lane((double)s[ULP_GRU_R * N]));
    to[ULP_GRU_Z * N] = ulp_quieted(ulp_sigmoid_lane((double)s[ULP_GRU_Z * N]));
}

/* n = tanh(s_n + r q) from s, [q r z] */
ULP_CORE void ulp_gru_candidate(double *to, const float *const in[], size_t N) {
    const float *const s = in[0], *const gate = in[1];
    to[0] = ulp_quieted(
        ulp_tanh_lane((double)s[ULP_GRU_N * N] + (double)gate[ULP_GRU_R * N] * (double)gate[ULP_GRU_Q * N]));
}

/* h = (1 - z) n + z h_(t-1) from [q r z], n, h_(t-1) */
ULP_CORE void ulp_gru_hidden(double *to, const float *const in[], size_t N) {
    const double z = (double)in[0][ULP_GRU_Z * N], n = (double)in[1][0], was = (double)in[2][0];
    to[0] = ulp_quieted((1.0 - z) * n + z * was);
}

/* dh = dy + p + dh_(t+1) z_(t+1) from dy, p, dh_(t+1), [q r z]_(t+1) */
ULP_CORE void ulp_gru_grad_hidden(double *to, const float *const in[], size_t N) {
    to[0] = ulp_quieted((double)in[0][0] + (double)in[1][0] + (double)in[2][0] * (double)in[3][ULP_GRU_Z * N]);
}

/* ds = [dn r, dn q r (1 - r), dh (h_(t-1) - n) z (1 - z), dn], dn = dh (1 - z) (1 - n^2), from dh, [q r z], n, h_(t-1)
 */
ULP_CORE void ulp_gru_grad_sums(double *to, const float *const in[], size_t N) {
    const float *const gate = in[1];
    const double q = (double)gate[ULP_GRU_Q * N], r = (double)gate[ULP_GRU_R * N], z = (double)gate[ULP_GRU_Z * N];
    const double dh = (double)in[0][0], n = (double)in[2][0], was = (double)in[3][0];
    const double dn = dh * (1.0 - z) * (1.0 - n * n);
    to[ULP_GRU_Q * N] = ulp_quieted(dn * r);
    to[ULP_GRU_R * N] = ulp_quieted(dn * q * r * (1.0 - r));
    to[ULP_GRU_Z * N] = ulp_quieted(dh * (was - n) * z * (1.0 - z));
    to[ULP_GRU_N * N] = ulp_quieted(dn);
}

/* [i f o g] = [sigmoid(s_i), sigmoid(s_f), sigmoid(s_o), tanh(s_g)] */
ULP_CORE void ulp_lstm_gates(double *to, const float *const in[], size_t N) {
    const float *const s = in[0];
    to[ULP_LSTM_I * N] = ulp_quieted(ulp_sigmoid_lane((double)s[ULP_LSTM_I * N]));
    to[ULP_LSTM_F * N] = ulp_quieted(ulp_sigmoid_lane((double)s[ULP_LSTM_F * N]));
    to[ULP_LSTM_O * N] = ulp_quieted(ulp_sigmoid_lane((double)s[ULP_LSTM_O * N]));
    to[ULP_LSTM_G * N] = ulp_quieted(ulp_tanh_lane((double)s[ULP_LSTM_G * N]));
}

/* c = f c_(t-1) + i g from [i f o g], c_(t-1) */
ULP_CORE void ulp_lstm_memory(double *to, const float *const in[], size_t N) {
    const float *const gate = in[0];
    to[0] = ulp_quieted((double)gate[ULP_LSTM_F * N] * (double)in[1][0] +
                        (double)gate[ULP_LSTM_I * N] * (double)gate[ULP_LSTM_G * N]);
}

/* h = o tanh(c) from [i f o g], c */
ULP_CORE void ulp_lstm_hidden(double *to, const float *const in[], size_t N) {
    to[0] = ulp_quieted((double)in[0][ULP_LSTM_O * N] * ulp_tanh_lane((double)in[1][0]));
}

/* dc = dc_(t+1) f_(t+1) + dh o (1 - tanh(c)^2) from dc_(t+1), [i f o g]_(t+1), dh, [i f o g], c */
ULP_CORE void ulp_lstm_grad_memory(double *to, const float *const in[], size_t N) {
    const double c = ulp_tanh_lane((double)in[4][0]);
    to[0] = ulp_quieted((double)in[0][0] * (double)in[1][ULP_LSTM_F * N] +
                        (double)in[2][0] * (double)in[3][ULP_LSTM_O * N] * (1.0 - c * c));
}

/* ds = [dc g i (1 - i), dc c_(t-1) f (1 - f), dh tanh(c) o (1 - o), dc i (1 - g^2)] from dh, dc, [i f o g], c, c_(t-1)
 */
ULP_CORE void ulp_lstm_grad_sums(double *to, const float *const in[], size_t N) {
    const float *const gate = in[2];
    const double i = (double)gate[ULP_LSTM_I * N], f = (double)gate[ULP_LSTM_F * N], o = (double)gate[ULP_LSTM_O * N],
                 g = (double)gate[ULP_LSTM_G * N];
    const double dh = (double)in[0][0], dc = (double)in[1][0], c = ulp_tanh_lane((double)in[3][0]);
    to[ULP_LSTM_I * N] = ulp_quieted(dc * g * i * (1.0 - i));
    to[ULP_LSTM_F * N] = ulp_quieted(dc * (double)in[4][0] * f * (1.0 - f));
    to[ULP_LSTM_O * N] = ulp_quieted(dh * c * o * (1.0 - o));
    to[ULP_LSTM_G * N] = ulp_quieted(dc * i * (1.0 - g * g));
}

/* y = silu(a) b from [a b]. Shazeer 2020, arXiv:2002.05202 */
ULP_CORE void ulp_swiglu(double *to, const float *const in[], size_t N) {
    to[0] = ulp_quieted(ulp_silu((double)in[0][0]) * (double)in[0][N]);
}

/* [da db] = [dy b silu'(a), dy silu(a)] from dy, [a b] */
ULP_CORE void ulp_swiglu_grad(double *to, const float *const in[], size_t N) {
    const double dy = (double)in[0][0], a = (double)in[1][0], b = (double)in[1][N];
    to[0] = ulp_quieted(dy * b * ulp_silu_slope(a));
    to[N] = ulp_quieted(dy * ulp_silu(a));
}

ULP_C_END
#endif
