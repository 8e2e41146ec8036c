/* scaled_sums.c - sums of products of elements, times the scales of the operands; see functions/low_bit.h. */
#include "kernels/cpu/cpu.h"
#include "kernels/functions/low_bit_steps.h"

typedef struct job {
    float *c;
    const float *sums;
    const ulp_sum_scales *by;
} job;

static float scale_at(const float *scales, int is_one, size_t i) {
    return scales == NULL ? 1.0f : scales[is_one ? 0 : i];
}

static void rows_part(void *context, size_t begin, size_t end) {
    const job *w = context;
    const ulp_sum_scales *by = w->by;
    const size_t step = by->c_trans ? by->ldc : 1;
    for (size_t i = begin; i < end; i++) {
        const float row = scale_at(by->row, by->row_is_one, i), *sums = w->sums + i * by->n;
        float *c = w->c + (by->c_trans ? i : i * by->ldc);
        for (size_t j = 0; j < by->n; j++)
            c[j * step] = ulp_scaled_sum(by->accumulate ? c[j * step] : 0.0f, sums[j], row,
                                         scale_at(by->column, by->column_is_one, j), by->factor);
    }
}

ulp_status ULP_CPU(ulp_cpu_scaled_sums)(float *c, const float *sums, const ulp_sum_scales *by) {
    job w = {c, sums, by};
    ulp_parallel_for(by->m, ULP_GRAIN / (by->n + 1) + 1, rows_part, &w);
    return ULP_OK;
}
