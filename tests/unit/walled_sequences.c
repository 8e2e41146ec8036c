/* walled_sequences.c - the operations of recurrent layers and of sequences of labels behind the wall; see walled.h. */
#include "walled_inside.h"

static ulp_status cell(double *to, const ulp_cell_arrays *arrays, ulp_cell_stage stage) {
    const ulp_cell_widths widths = ulp_cell_widths_of(stage);
    const size_t units = arrays->B * arrays->N;
    walled_enter();
    walled_outside("cell", arrays, sizeof *arrays);
    walled_inside("cell", to, widths.to * units * sizeof *to);
    for (size_t i = 0; i < ULP_CELL_OPERANDS && widths.in[i] > 0; i++)
        walled_inside("cell", arrays->in[i], widths.in[i] * units * sizeof(float));
    return walled_left(walled_open()->cell(to, arrays, stage));
}

static size_t outputs_of(ulp_sequences of) { return of.B * of.C * of.T; }
static size_t work_of(ulp_sequences of) { return of.B * (2 * of.T + 1) * (2 * of.L + 1); }
static size_t labels_of(ulp_sequences of) { return of.B * of.L; }

WALLED(ctc_outputs, (double *p, const float *z, ulp_sequences of, int linear), (p, z, of, linear),
       IN(p, outputs_of(of)), IN(z, outputs_of(of)))

WALLED(ctc, (double *dz, double *loss, double *work, const float *p, ulp_sequences of, const ulp_path_sums *sums),
       (dz, loss, work, p, of, sums), OUT(sums), OUT(sums->rounding.format), OUT(sums->rounding.stats),
       IN(dz, outputs_of(of)), IN(loss, of.B), IN(work, work_of(of)), IN(p, outputs_of(of)),
       IN(of.label, labels_of(of)))

void walled_add_sequences(ulp_backend *table) {
    table->cell = cell;
    table->ctc_outputs = ctc_outputs;
    table->ctc = ctc;
}
