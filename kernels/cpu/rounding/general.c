/* general.c - rounding of arrays by kernels/rounding/general.h; kind and mode are constants in each instance. */
#include "kernels/cpu/cpu.h"

#include <string.h>

#include "kernels/rounding/general.h"

#define RUN(name, number)                                                                                              \
    ULP_INLINE void name(number *restrict y, const number *restrict x, size_t n, const ulp_general *of, int kind,      \
                         uint32_t mode) {                                                                              \
        const ulp_general g = *of;                                                                                     \
        for (size_t i = 0; i < n; i++) y[i] = (number)ulp_general_round((double)x[i], &g, kind, mode);                 \
    }
RUN(float_run, float)
RUN(double_run, double)

/* A function for each kind and type: the instances of its modes. */
#define CASE(id, name, meaning, stochastic, inward)                                                                    \
    case id:                                                                                                           \
        if (!(stochastic)) run(y, x, n, g, KIND, id);                                                                  \
        break;
#define BY_MODE(name, number, of_kind)                                                                                 \
    static void name(number *y, const number *x, size_t n, const ulp_general *g, uint32_t mode) {                      \
        enum { KIND = of_kind };                                                                                       \
        switch (mode) {                                                                                                \
            ULP_MODES(CASE)                                                                                            \
        default: break;                                                                                                \
        }                                                                                                              \
    }
#define run float_run
BY_MODE(floats_of_float, float, ULP_GENERAL_FLOAT)
BY_MODE(floats_of_single, float, ULP_GENERAL_SINGLE)
BY_MODE(floats_of_hif8, float, ULP_GENERAL_HIF8)
BY_MODE(floats_of_wrapped, float, ULP_GENERAL_WRAPPED)
#undef run
#define run double_run
BY_MODE(doubles_of_float, double, ULP_GENERAL_FLOAT)
BY_MODE(doubles_of_single, double, ULP_GENERAL_SINGLE)
BY_MODE(doubles_of_hif8, double, ULP_GENERAL_HIF8)
BY_MODE(doubles_of_wrapped, double, ULP_GENERAL_WRAPPED)
#undef run

static void doubles_of_kept(double *y, const double *x, size_t n, const ulp_general *g, uint32_t mode) {
    (void)mode;
    double_run(y, x, n, g, ULP_GENERAL_KEPT, ULP_RZ);
}

#define ARRAY(name, number, ...)                                                                                       \
    void ULP_CPU(name)(number * y, const number *x, size_t n, ulp_rounding how) {                                      \
        static void (*const run[])(number *, const number *, size_t, const ulp_general *, uint32_t) = {__VA_ARGS__};   \
        const ulp_general_kind kind = ulp_general_offers(how.format, how.rule);                                        \
        const ulp_general g = ulp_general_of(how.format, how.rule);                                                    \
        number held[ULP_PIECE];                                                                                        \
        for (size_t at = 0; at < n; at += ULP_PIECE) {                                                                 \
            const size_t count = n - at < ULP_PIECE ? n - at : ULP_PIECE;                                              \
            const number *from = y == x ? memcpy(held, x + at, count * sizeof *held) : x + at;                         \
            run[kind](y + at, from, count, &g, how.rule.mode);                                                         \
        }                                                                                                              \
    }
ARRAY(ulp_round_general32, float, floats_of_float, floats_of_single, floats_of_hif8, floats_of_wrapped)
ARRAY(ulp_round_general64, double, doubles_of_float, doubles_of_single, doubles_of_hif8, doubles_of_wrapped,
      doubles_of_kept)
