/* walled_sequences.c - the operations of recurrent layers and of sequences of labels behind the wall; see walled.h. */
#include "walled_operations.h"

ulp_status walled_cell(double *to, const ulp_cell_arrays *arrays, ulp_cell_stage stage) {
    const ulp_cell_widths widths = ulp_cell_widths_of(stage);
    const size_t units = arrays->B * arrays->N;
    enter();
    outside("cell", arrays, sizeof *arrays);
    inside("cell", to, widths.to * units * sizeof *to);
    for (size_t i = 0; i < ULP_CELL_OPERANDS && widths.in[i] > 0; i++)
        inside("cell", arrays->in[i], widths.in[i] * units * sizeof(float));
    return left(open_wall()->cell(to, arrays, stage));
}

ulp_status walled_ctc_outputs(double *p, const float *z, ulp_sequences of, int linear) {
    enter();
    inside("ctc_outputs", p, of.B * of.C * of.T * sizeof *p);
    inside("ctc_outputs", z, of.B * of.C * of.T * sizeof *z);
    return left(open_wall()->ctc_outputs(p, z, of, linear));
}

ulp_status walled_ctc(double *dz, double *loss, double *work, const float *p, ulp_sequences of,
                      const ulp_path_sums *sums) {
    enter();
    outside("ctc", sums, sizeof *sums);
    outside("ctc", sums->rounding.format, sizeof *sums->rounding.format);
    outside("ctc", sums->rounding.stats, sizeof *sums->rounding.stats);
    inside("ctc", dz, of.B * of.C * of.T * sizeof *dz);
    inside("ctc", loss, of.B * sizeof *loss);
    inside("ctc", work, of.B * (2 * of.T + 1) * (2 * of.L + 1) * sizeof *work);
    inside("ctc", p, of.B * of.C * of.T * sizeof *p);
    inside("ctc", of.label, of.B * of.L);
    return left(open_wall()->ctc(dz, loss, work, p, of, sums));
}
