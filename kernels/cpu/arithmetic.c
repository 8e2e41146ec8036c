/* arithmetic.c - whether flags of the compiler and settings of the process leave IEEE arithmetic: sums of known bits.
 *
 * format.h refuses the flags that a compiler tells by a macro. clang tells few of them, and no compiler tells the
 * settings of a process, as FTZ, DAZ and the rounding direction. Each computation here shows one of them. Operands go
 * through volatile memory, so that the processor computes. Results are compared as bits.
 */
#include "cpu.h"

static inline double wide(double x) {
    volatile double y = x;
    return y;
}

static inline float narrow(float x) {
    volatile float y = x;
    return y;
}

typedef struct known {
    double got, want;
    const char *fault;
} known;

#define FAULT(what, cause) "the arithmetic of this process is wrong: " what "; the usual cause is " cause
#define FLUSHED FAULT("subnormal numbers are zero", "a program or library that is linked with -ffast-math or -Ofast")
#define DIRECTED FAULT("results are not the nearest numbers", "a rounding direction that the program sets")
#define TWICE FAULT("results are rounded twice", "-mfpmath=387")
#define REORDERED FAULT("sums are formed in another order or precision", "-fassociative-math or -mfpmath=387")
#define FUSED FAULT("a product and a sum are one operation", "that -ffp-contract=off is missing")
#define RECIPROCAL FAULT("a quotient is a product with a reciprocal", "-freciprocal-math or -mrecip")
#define ROOT FAULT("square roots are approximate", "-mrecip or -fapprox-func")
#define UNSIGNED FAULT("zeros lose their sign", "-fno-signed-zeros")
#define FINITE FAULT("NaN compares as a number", "-ffinite-math-only or -fno-honor-nans")
#define ENDLESS FAULT("infinity computes as a number", "-ffinite-math-only or -fno-honor-infinities")
#define ROUNDING FAULT("ulp_round() returns other values", "one of the flags of -ffast-math")

/* Cold functions of all instruction sets stand together: a program reads one page of memory for them. */
__attribute__((cold)) const char *ULP_CPU(ulp_arithmetic_fault)(void) {
    const ulp_rule nearest = {.mode = ULP_RNE};
    const double one = wide(1.0), square = wide(1.0 + 0x1p-30), nan = wide(ulp_quiet_nan());
    const double infinite = wide(ulp_from_bits64(0x7ff0000000000000u));
    const float one32 = narrow(1.0f), square32 = narrow(1.0f + 0x1p-13f);
    double sum;
    const double error = ulp_two_sum(one, wide(0x1p-60), &sum);
    const known all[] = {
        {wide(0x1p-1022) * wide(0.5), 0x1p-1023, FLUSHED},
        {wide(0x1p-1074) * wide(0x1p52), 0x1p-1022, FLUSHED},
        {(double)(narrow(0x1p-126f) * narrow(0.5f)), 0x1p-127, FLUSHED},
        {(double)(narrow(0x1p-149f) * narrow(0x1p23f)), 0x1p-126, FLUSHED},
        {one + wide(0x1p-53), 1.0, DIRECTED},
        {one + wide(0x1.8p-53), 1.0 + 0x1p-52, DIRECTED},
        {(double)(one32 + narrow(0x1.8p-24f)), 1.0 + 0x1p-23, DIRECTED},
        {one + wide(0x1.000002p-53), 1.0 + 0x1p-52, TWICE},
        {(double)(float)wide(1.0 + 0x1.000002p-24), 1.0 + 0x1p-23, TWICE},
        {(one + wide(0x1p-60)) - one, 0.0, REORDERED},
        {(double)((one32 + narrow(0x1p-30f)) - one32), 0.0, REORDERED},
        {error, 0x1p-60, REORDERED},
        {square * square - wide(1.0 + 0x1p-29), 0.0, FUSED},
        {(double)(square32 * square32 - narrow(1.0f + 0x1p-12f)), 0.0, FUSED},
        {wide(5.0) / 3.0, 0x1.aaaaaaaaaaaabp0, RECIPROCAL},
        {(double)(narrow(5.0f) / 3.0f), 0x1.aaaaaap0, RECIPROCAL},
        {(double)__builtin_sqrtf(narrow(2.0f)), 0x1.6a09e6p0, ROOT},
        {wide(-0.0) + 0.0, 0.0, UNSIGNED},
        {0.0 - wide(0.0), 0.0, UNSIGNED},
        {nan != nan, 1.0, FINITE},
        {nan >= one, 0.0, FINITE},
        {infinite - infinite == 0.0, 0.0, ENDLESS},
        {infinite == __builtin_inf(), 1.0, ENDLESS},
        {ulp_round(wide(0x1.0020000001p0), &ulp_binary16, nearest, 0), 0x1.004p0, ROUNDING},
        {ulp_round(wide(-0x1p-25), &ulp_binary16, nearest, 0), -0.0, ROUNDING},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (ulp_bits64(all[i].got) != ulp_bits64(all[i].want)) return all[i].fault;
    return NULL;
}
