/* cell.c - the stages of the cells of recurrent layers.
 *
 * A loop runs over the units of a sample. Where a row of units is no whole number of vectors, the units of several
 * samples are first copied to arrays in which the gates of a unit are UNITS apart.
 */
#include <string.h>

#include "kernels/cpu/cpu.h"

/* Units of a piece of copied rows; most gates of an array; units of the widest vector; units of a row for which a part
 * of a vector at its end does not matter. */
enum { UNITS = 128, GATES = 4, STEP = 8, LONG_ROW = 128 };

typedef struct work {
    double *to;
    ulp_cell_arrays arrays;
    ulp_cell_widths widths;
    ulp_cell_stage stage;
} work;

/* The stage of n units; gates are `apart` elements apart. The function is a constant in each instance. */
#define RUN(id, unit, result, a, b, c, d, e)                                                                           \
    static void run_##id(double *to, const float *const row[], size_t apart, size_t n) {                               \
        const float *const x0 = row[0], *const x1 = row[1], *const x2 = row[2], *const x3 = row[3],                    \
                           *const x4 = row[4];                                                                         \
        ELEMENTWISE                                                                                                    \
        for (size_t j = 0; j < n; j++) {                                                                               \
            const float *const in[ULP_CELL_OPERANDS] = {x0 + j, x1 + j, x2 + j, x3 + j, x4 + j};                       \
            unit(to + j, in, apart);                                                                                   \
        }                                                                                                              \
    }
ULP_CELL_STAGES(RUN)
#undef RUN

static void (*const run[])(double *to, const float *const row[], size_t apart, size_t n) = {
#define ENTRY(id, unit, result, a, b, c, d, e) run_##id,
    ULP_CELL_STAGES(ENTRY)
#undef ENTRY
};

/* Units begin .. end - 1, where every array has one number for each unit. */
static void units_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const float *row[ULP_CELL_OPERANDS];
    for (size_t i = 0; i < ULP_CELL_OPERANDS; i++) row[i] = w->arrays.in[w->widths.in[i] > 0 ? i : 0] + begin;
    run[w->stage](w->to + begin, row, 0, end - begin);
}

/* Samples begin .. end - 1, each a row. */
static void rows_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t N = w->arrays.N;
    for (size_t b = begin; b < end; b++) {
        const float *row[ULP_CELL_OPERANDS];
        for (size_t i = 0; i < ULP_CELL_OPERANDS; i++) {
            const size_t k = w->widths.in[i] > 0 ? i : 0; /* a pointer that exists, for an operand that is not read */
            row[i] = w->arrays.in[k] + b * w->widths.in[k] * N;
        }
        run[w->stage](w->to + b * w->widths.to * N, row, N, N);
    }
}

/* ---- copied rows ---- */

/* x = gate k of `samples` samples of an array (samples, width N), and zeros up to a multiple of STEP. */
static void gather(float *x, const float *array, size_t width, size_t k, size_t samples, size_t N) {
    size_t n = 0;
    for (size_t b = 0; b < samples; b++)
        for (size_t j = 0; j < N; j++) x[n++] = array[(b * width + k) * N + j];
    for (; n % STEP != 0; n++) x[n] = 0.0f;
}

static void scatter(double *array, const double *y, size_t width, size_t k, size_t samples, size_t N) {
    for (size_t b = 0; b < samples; b++)
        for (size_t j = 0; j < N; j++) array[(b * width + k) * N + j] = y[b * N + j];
}

/* Samples begin .. end - 1, as many in each piece as fit. */
static void pieces_part(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t N = w->arrays.N, most = UNITS / N;
    float x[ULP_CELL_OPERANDS][GATES * UNITS];
    double y[GATES * UNITS];
    const float *const row[ULP_CELL_OPERANDS] = {x[0], x[1], x[2], x[3], x[4]};
    for (size_t b = begin; b < end; b += most) {
        const size_t samples = end - b < most ? end - b : most;
        for (size_t i = 0; i < ULP_CELL_OPERANDS; i++)
            for (size_t k = 0; k < w->widths.in[i]; k++)
                gather(x[i] + k * UNITS, w->arrays.in[i] + b * w->widths.in[i] * N, w->widths.in[i], k, samples, N);
        run[w->stage](y, row, UNITS, (samples * N + STEP - 1) / STEP * STEP);
        for (size_t k = 0; k < w->widths.to; k++)
            scatter(w->to + b * w->widths.to * N, y + k * UNITS, w->widths.to, k, samples, N);
    }
}

/* Whether every array has one number for each unit. */
static int is_narrow(const ulp_cell_widths *w) {
    int narrow = w->to == 1;
    for (size_t i = 0; i < ULP_CELL_OPERANDS; i++) narrow &= w->in[i] <= 1;
    return narrow;
}

ulp_status ULP_CPU(ulp_cpu_cell)(double *to, const ulp_cell_arrays *arrays, ulp_cell_stage stage) {
    work w = {to, *arrays, ulp_cell_widths_of(stage), stage};
    const size_t N = arrays->N, B = arrays->B, grain = 8 * ULP_PIECE / w.widths.to;
    if (N == 0) return ULP_OK;
    if (is_narrow(&w.widths)) ulp_parallel_for(B * N, grain, units_part, &w);
    else ulp_parallel_for(B, grain / N + 1, (N > STEP && N % STEP == 0) || N >= LONG_ROW ? rows_part : pieces_part, &w);
    return ULP_OK;
}
