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

static ulp_status ctc_outputs(double *p, const float *z, ulp_sequences of, int linear) {
    walled_enter();
    walled_inside("ctc_outputs", p, of.B * of.C * of.T * sizeof *p);
    walled_inside("ctc_outputs", z, of.B * of.C * of.T * sizeof *z);
    return walled_left(walled_open()->ctc_outputs(p, z, of, linear));
}

static ulp_status ctc(double *dz, double *loss, double *work, const float *p, ulp_sequences of,
                      const ulp_path_sums *sums) {
    walled_enter();
    walled_outside("ctc", sums, sizeof *sums);
    walled_outside("ctc", sums->rounding.format, sizeof *sums->rounding.format);
    walled_outside("ctc", sums->rounding.stats, sizeof *sums->rounding.stats);
    walled_inside("ctc", dz, of.B * of.C * of.T * sizeof *dz);
    walled_inside("ctc", loss, of.B * sizeof *loss);
    walled_inside("ctc", work, of.B * (2 * of.T + 1) * (2 * of.L + 1) * sizeof *work);
    walled_inside("ctc", p, of.B * of.C * of.T * sizeof *p);
    walled_inside("ctc", of.label, of.B * of.L);
    return walled_left(walled_open()->ctc(dz, loss, work, p, of, sums));
}

void walled_add_sequences(ulp_backend *table) {
    table->cell = cell;
    table->ctc_outputs = ctc_outputs;
    table->ctc = ctc;
}
