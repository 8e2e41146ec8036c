/* cell.c - the backend "mpfr": the stages of the cells of recurrent layers, and of swiglu.
 *
 * Like functions.c this is a second text of a definition in binary64, the head comments of sim/layers/rnn.c, gru.c and
 * lstm.c: it names the numbers of a unit and has neither vectors nor the functions of kernels/functions/cell.h.
 */
#include "operations.h"
#include "reference.h"

#include <math.h>

/* The numbers of a unit: gate k of operand i is x[i][k]. */
typedef struct unit {
    double x[ULP_CELL_OPERANDS][4], y[4];
} unit;

/* ref: of binary64, for the one stage that does not round to nearest. */
static void compute(unit *u, ulp_cell_stage stage, ulp_reference *ref) {
    const double *a = u->x[0], *b = u->x[1], *c = u->x[2], *d = u->x[3], *e = u->x[4];
    switch (stage) {
    case ULP_CELL_SUM: u->y[0] = a[0] + b[0]; break;
    case ULP_CELL_SUM_TO_ODD:
        u->y[0] = ulp_reference_arith(ref, (ulp_scalar_op){ULP_ADD, a[0], b[0], 0.0}, (ulp_rule){.mode = ULP_RO}, 0);
        break;
    case ULP_RNN_HIDDEN: u->y[0] = ulp_mpfr_tanh(a[0]); break;
    case ULP_RNN_GRAD_SUMS: u->y[0] = a[0] * (1.0 - b[0] * b[0]); break;
    case ULP_GRU_GATES: /* s */
        u->y[0] = a[0];
        u->y[1] = ulp_mpfr_sigmoid(a[1]);
        u->y[2] = ulp_mpfr_sigmoid(a[2]);
        break;
    case ULP_GRU_CANDIDATE: u->y[0] = ulp_mpfr_tanh(a[3] + b[1] * b[0]); break; /* s, [q r z] */
    case ULP_GRU_HIDDEN: u->y[0] = (1.0 - a[2]) * b[0] + a[2] * c[0]; break;    /* [q r z], n, h of the step before */
    case ULP_GRU_GRAD_HIDDEN: u->y[0] = a[0] + b[0] + c[0] * d[2]; break; /* dy, p; dh and [q r z] of the next step */
    case ULP_GRU_GRAD_SUMS: {                                             /* dh, [q r z], n, h of the step before */
        const double dh = a[0], q = b[0], r = b[1], z = b[2], n = c[0], dn = dh * (1.0 - z) * (1.0 - n * n);
        u->y[0] = dn * r;
        u->y[1] = dn * q * r * (1.0 - r);
        u->y[2] = dh * (d[0] - n) * z * (1.0 - z);
        u->y[3] = dn;
        break;
    }
    case ULP_LSTM_GATES: /* s */
        for (int k = 0; k < 3; k++) u->y[k] = ulp_mpfr_sigmoid(a[k]);
        u->y[3] = ulp_mpfr_tanh(a[3]);
        break;
    case ULP_LSTM_MEMORY: u->y[0] = a[1] * b[0] + a[0] * a[3]; break;  /* [i f o g], c of the step before */
    case ULP_LSTM_HIDDEN: u->y[0] = a[2] * ulp_mpfr_tanh(b[0]); break; /* [i f o g], c */
    case ULP_LSTM_GRAD_MEMORY: { /* dc and [i f o g] of the next step, dh, [i f o g], c */
        const double tanh_c = ulp_mpfr_tanh(e[0]);
        u->y[0] = a[0] * b[1] + c[0] * d[2] * (1.0 - tanh_c * tanh_c);
        break;
    }
    case ULP_LSTM_GRAD_SUMS: { /* dh, dc, [i f o g], c, c of the step before */
        const double i = c[0], f = c[1], o = c[2], g = c[3], dc = b[0];
        u->y[0] = dc * g * i * (1.0 - i);
        u->y[1] = dc * e[0] * f * (1.0 - f);
        u->y[2] = a[0] * ulp_mpfr_tanh(d[0]) * o * (1.0 - o);
        u->y[3] = dc * i * (1.0 - g * g);
        break;
    }
    case ULP_SWIGLU: u->y[0] = ulp_mpfr_silu(a[0]) * a[1]; break; /* [a b] */
    case ULP_SWIGLU_GRAD:                                         /* dy, [a b] */
        u->y[0] = a[0] * b[1] * ulp_mpfr_silu_slope(b[0]);
        u->y[1] = a[0] * ulp_mpfr_silu(b[0]);
        break;
    case ULP_CELL_STAGE_COUNT: break;
    }
}

/* The gates of the result and of the operands. */
static const uint8_t gates[][1 + ULP_CELL_OPERANDS] = {
    [ULP_CELL_SUM] = {1, 1, 1},
    [ULP_CELL_SUM_TO_ODD] = {1, 1, 1},
    [ULP_RNN_HIDDEN] = {1, 1},
    [ULP_RNN_GRAD_SUMS] = {1, 1, 1},
    [ULP_GRU_GATES] = {3, 4},
    [ULP_GRU_CANDIDATE] = {1, 4, 3},
    [ULP_GRU_HIDDEN] = {1, 3, 1, 1},
    [ULP_GRU_GRAD_HIDDEN] = {1, 1, 1, 1, 3},
    [ULP_GRU_GRAD_SUMS] = {4, 1, 3, 1, 1},
    [ULP_LSTM_GATES] = {4, 4},
    [ULP_LSTM_MEMORY] = {1, 4, 1},
    [ULP_LSTM_HIDDEN] = {1, 4, 1},
    [ULP_LSTM_GRAD_MEMORY] = {1, 1, 4, 1, 4, 1},
    [ULP_LSTM_GRAD_SUMS] = {4, 1, 1, 4, 1, 1},
    [ULP_SWIGLU] = {1, 2},
    [ULP_SWIGLU_GRAD] = {2, 1, 2},
};
_Static_assert(sizeof gates / sizeof *gates == ULP_CELL_STAGE_COUNT, "a row for each stage");

ulp_status ulp_mpfr_cell(double *to, const ulp_cell_arrays *arrays, ulp_cell_stage stage) {
    const size_t results = gates[stage][0], N = arrays->N;
    ulp_reference *ref = ulp_reference_new(&ulp_binary64);
    if (ref == NULL) return ULP_NO_MEMORY;
    for (size_t b = 0; b < arrays->B; b++)
        for (size_t j = 0; j < N; j++) {
            unit u = {0};
            for (size_t i = 0; i < ULP_CELL_OPERANDS; i++)
                for (size_t k = 0; k < gates[stage][1 + i]; k++)
                    u.x[i][k] = (double)arrays->in[i][(b * gates[stage][1 + i] + k) * N + j];
            compute(&u, stage, ref);
            for (size_t k = 0; k < results; k++) to[(b * results + k) * N + j] = isnan(u.y[k]) ? (double)NAN : u.y[k];
        }
    ulp_reference_free(ref);
    return ULP_OK;
}
