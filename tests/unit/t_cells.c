/* t_cells.c - the stages of the cells of recurrent layers in arrays: every instruction set has the bits of one unit. */
#include "support.h"

#include "kernels/backend.h"

enum { MOST = 4 * 3000 };

static float x[ULP_CELL_OPERANDS][MOST];
static double got[MOST], want[MOST];

static void fill(void) {
    for (uint64_t i = 0; i < ULP_CELL_OPERANDS * MOST; i++) {
        const ulp_stream s = {11, 5, 0};
        const uint32_t word = ulp_random_word(s, i);
        x[i / MOST][i % MOST] = word % 7 == 0 ? ulp_from_bits32(ulp_random_word(s, MOST * 8 + i))
                                              : (float)(ulp_random_uniform(s, MOST * 16 + i) * 8.0 - 4.0);
    }
}

static void one_unit(double *to, const float *const in[], size_t N, ulp_cell_stage stage) {
    switch (stage) {
#define CASE(id, unit, result, a, b, c, d, e)                                                                          \
    case id: unit(to, in, N); break;
        ULP_CELL_STAGES(CASE)
#undef CASE
    case ULP_CELL_STAGE_COUNT: break;
    }
}

static void check(const ulp_backend *backend, ulp_cell_stage stage, size_t B, size_t N) {
    const ulp_cell_widths widths = ulp_cell_widths_of(stage);
    ulp_cell_arrays arrays = {.B = B, .N = N};
    assert_true(4 * B * N <= MOST);
    for (size_t i = 0; i < ULP_CELL_OPERANDS; i++) arrays.in[i] = widths.in[i] > 0 ? x[i] : NULL;
    for (size_t b = 0; b < B; b++)
        for (size_t j = 0; j < N; j++) {
            const float *in[ULP_CELL_OPERANDS];
            for (size_t i = 0; i < ULP_CELL_OPERANDS; i++) in[i] = x[i] + b * widths.in[i] * N + j;
            one_unit(want + b * widths.to * N + j, in, N, stage);
        }
    memset(got, 0x55, sizeof got);
    assert_ok(ulp_backend_cell(backend, got, &arrays, stage));
    for (size_t i = 0; i < widths.to * B * N; i++)
        if (ulp_bits64(got[i]) != ulp_bits64(want[i]) ||
            (isnan(got[i]) && ulp_bits64(got[i]) != ulp_bits64(ulp_quiet_nan())))
            fail_msg("%s, stage %d of (%zu,%zu): element %zu is %a, not %a", backend->what, (int)stage, B, N, i, got[i],
                     want[i]);
    if (MOST > widths.to * B * N) assert_int_equal(ulp_bits64(got[widths.to * B * N]), 0x5555555555555555u);
}

TEST(instruction_sets) {
    static const size_t sizes[][2] = {{1, 1},   {1, 3000}, {3000, 1}, {7, 8},   {90, 8},
                                      {50, 16}, {100, 24}, {33, 31},  {43, 67}, {9, 127},
                                      {3, 128}, {5, 129},  {2, 1001}, {0, 5},   {5, 0}};
    size_t offered = 0;
    fill();
    for (size_t isa = 0; ulp_cpu_isa_name(isa) != NULL; isa++) {
        const ulp_backend *backend = ulp_cpu_backend(isa);
        offered += backend != NULL;
        for (int threads = 1; threads <= 3 && backend != NULL; threads += 2) {
            ulp_threads_set(threads);
            for (int stage = 0; stage < ULP_CELL_STAGE_COUNT; stage++)
                for (size_t s = 0; s < COUNT_OF(sizes); s++)
                    check(backend, (ulp_cell_stage)stage, sizes[s][0], sizes[s][1]);
        }
    }
    ulp_threads_set(0);
    assert_true(offered > 0);
}

/* Where an operand is NaN the result is NaN, and a stage reads every gate that its formula has and no other. */
TEST(operands) {
    static const struct {
        ulp_cell_stage stage;
        const char *reads; /* for each result, the numbers that it depends on: operand and gate */
    } stages[] = {
        {ULP_CELL_SUM, "00 10"},
        {ULP_CELL_SUM_TO_ODD, "00 10"},
        {ULP_RNN_HIDDEN, "00"},
        {ULP_RNN_GRAD_SUMS, "00 10"},
        {ULP_GRU_GATES, "00,01,02"},
        {ULP_GRU_CANDIDATE, "03 10 11"},
        {ULP_GRU_HIDDEN, "02 10 20"},
        {ULP_GRU_GRAD_HIDDEN, "00 10 20 32"},
        {ULP_GRU_GRAD_SUMS, "00 11 12 20,00 10 11 12 20,00 12 20 30,00 12 20"},
        {ULP_LSTM_GATES, "00,01,02,03"},
        {ULP_LSTM_MEMORY, "00 01 03 10"},
        {ULP_LSTM_HIDDEN, "02 10"},
        {ULP_LSTM_GRAD_MEMORY, "00 11 20 32 40"},
        {ULP_LSTM_GRAD_SUMS, "10 20 23,10 21 40,00 22 30,10 20 23"},
        {ULP_SWIGLU, "00 01"},
        {ULP_SWIGLU_GRAD, "00 10 11,00 10"},
    };
    const ulp_backend *backend;
    assert_int_equal(COUNT_OF(stages), ULP_CELL_STAGE_COUNT);
    assert_ok(ulp_backend_get(&backend, "cpu"));
    for (size_t s = 0; s < ULP_CELL_STAGE_COUNT; s++) {
        const ulp_cell_widths widths = ulp_cell_widths_of(stages[s].stage);
        for (size_t i = 0; i < ULP_CELL_OPERANDS; i++)
            for (size_t k = 0; k < widths.in[i]; k++) {
                float one[ULP_CELL_OPERANDS][4];
                ulp_cell_arrays arrays = {.B = 1, .N = 1};
                const char *reads = stages[s].reads;
                double to[4];
                for (size_t o = 0; o < ULP_CELL_OPERANDS; o++) {
                    for (size_t g = 0; g < 4; g++) one[o][g] = o == i && g == k ? NAN : 0.25f;
                    arrays.in[o] = widths.in[o] > 0 ? one[o] : NULL;
                }
                assert_ok(ulp_backend_cell(backend, to, &arrays, stages[s].stage));
                for (size_t g = 0; g < widths.to; g++) {
                    int reads_it = 0;
                    for (; *reads != '\0' && *reads != ','; reads += *reads == ' ' ? 1 : 2)
                        if (*reads != ' ') reads_it |= (size_t)(reads[0] - '0') == i && (size_t)(reads[1] - '0') == k;
                    reads += *reads == ',';
                    if ((isnan(to[g]) != 0) != reads_it)
                        fail_msg("stage %zu: result %zu with gate %zu of operand %zu NaN is %g", s, g, k, i, to[g]);
                }
            }
    }
}

TESTS(NULL, NULL)
