/* t_mpfr_sequences.c - the backend "mpfr" gives the bits of the CPU's backend in cells and in sums over paths. */
#include "mpfr_pair.h"

static float number(void) {
    switch (below(12)) {
    case 0: return ulp_from_bits32((uint32_t)next_random(&seed));
    case 1: return below(2) ? 0.0f : -0.0f;
    case 2: return below(2) ? INFINITY : -INFINITY;
    default: return (float)((below(8000) - 4000) * ldexp(1, -9 - below(6)));
    }
}

TEST(cells) {
    enum { UNITS = 60 };
    static float x[ULP_CELL_OPERANDS][4 * UNITS];
    static double a[4 * UNITS], b[4 * UNITS];
    seed = 19;
    for (int stage = 0; stage < ULP_CELL_STAGE_COUNT; stage++)
        for (int t = 0; t < 30; t += (int)thinned(6)) {
            const size_t N = 1 + (size_t)below(12), B = UNITS / N;
            ulp_cell_arrays arrays = {.B = B, .N = N};
            const ulp_cell_widths widths = ulp_cell_widths_of((ulp_cell_stage)stage);
            char what[32];
            for (size_t i = 0; i < ULP_CELL_OPERANDS; i++) {
                for (size_t k = 0; k < 4 * UNITS; k++) x[i][k] = number();
                arrays.in[i] = x[i];
            }
            snprintf(what, sizeof what, "stage %d", stage);
            BOTH(what, a, b, widths.to * B * N, cell, &arrays, (ulp_cell_stage)stage);
        }
}

/* One batch: outputs, and sums over paths with every count. */
static void check_batch(ulp_sequences of, ulp_path_sums sums, const char *what) {
    enum { MOST = 2000 };
    static float z[MOST], p[MOST];
    static double exact[2][MOST], loss[2][16], work[16 * 40 * 20];
    static uint8_t label[16 * 10];
    ulp_stats counts[2] = {{0}, {0}};
    const size_t n = of.B * of.C * of.T;
    assert_true(n <= MOST && of.B <= 16 && of.B * (2 * of.T + 1) * (2 * of.L + 1) <= COUNT_OF(work));
    for (size_t i = 0; i < n; i++) z[i] = below(200) ? (float)((below(8000) - 4000) * 0x1p-10) : number();
    for (size_t i = 0; i < of.B * of.L; i++) {
        label[i] = (uint8_t)below((int)of.C + (below(20) == 0));
        if (of.C > 1 && label[i] == of.C - 1) label[i] = 0;
        if (i % of.L > 0 && below(3) == 0) label[i] = label[i - 1];
        if (below((int)of.L + 1) == 0) label[i] = ULP_NO_LABEL;
    }
    of.label = label;
    BOTH(what, exact[0], exact[1], n, ctc_outputs, z, of, sums.linear);
    ulp_rounding rounding = sums.rounding;
    rounding.stats = NULL;
    ulp_backend_round64(cpu, exact[1], exact[1], n, rounding);
    ulp_backend_narrow(cpu, p, exact[1], n);
    for (int side = 0; side < 2; side++) {
        sums.rounding.stats = &counts[side];
        assert_ok(ulp_backend_ctc(side ? cpu : mpfr, exact[side], loss[side], work, p, of, &sums));
    }
    same_doubles(what, loss[0], loss[1], of.B);
    same_doubles(what, exact[0], exact[1], n);
    if (memcmp(&counts[0], &counts[1], sizeof counts[0]) != 0)
        fail_msg("%s: counts %llu %llu, underflow %llu %llu", what, (unsigned long long)counts[0].count,
                 (unsigned long long)counts[1].count, (unsigned long long)counts[0].underflow,
                 (unsigned long long)counts[1].underflow);
}

/* Both forms under every mode, in formats that round, underflow, saturate and lack infinities. */
TEST(paths) {
    static const char *const formats[] = {"fp32", "fp16", "bf16", "e4m3", "e5m2", "q6.10", "e8m1"};
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        const ulp_format f = named(formats[i]);
        for (int mode = 0; mode < ULP_MODE_COUNT; mode++)
            for (int linear = 0; linear < 2; linear++)
                for (int t = 0; t < 6; t += (int)thinned(2)) {
                    const ulp_sequences of = {NULL, 1 + (size_t)below(5), 1 + (size_t)below(6), 1 + (size_t)below(12),
                                              (size_t)below(6)};
                    const int policy = t % 3 == 2 ? ULP_OVERFLOW_SAT : ULP_OVERFLOW_DEFAULT;
                    const ulp_rule rule =
                        rule_of(mode, policy, ulp_mode_is_stochastic((uint32_t)mode) ? 1 + below(32) : 0);
                    char what[96];
                    snprintf(what, sizeof what, "%s %s %s (%zu,%zu,%zu) of %zu labels", formats[i],
                             ulp_mode_name((ulp_mode)mode), linear ? "linear" : "logarithmic", of.B, of.C, of.T, of.L);
                    check_batch(
                        of,
                        (ulp_path_sums){.linear = (uint8_t)linear,
                                        .scale = 64,
                                        .rounding = {&f, rule, {next_random(&seed), 4, next_random(&seed)}, NULL},
                                        .beta_stream = 9},
                        what);
                }
    }
}

TESTS(find_pair, NULL)
