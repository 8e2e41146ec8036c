/* mpfr_pair.h - the backend "mpfr" and the CPU's backend of the slowest instruction set, for tests that compare them.
 */
#ifndef ULP_TESTS_MPFR_PAIR_H
#define ULP_TESTS_MPFR_PAIR_H

#include "support.h"

#include "kernels/backend.h"

static const ulp_backend *mpfr, *cpu;
static uint64_t seed = 7;

static inline int below(int n) { return (int)(next_random(&seed) >> 33) % n; }

static inline int find_pair(void **state) {
    (void)state;
    cpu = ulp_cpu_backend(0);
    return cpu == NULL || ulp_backend_get(&mpfr, "mpfr") != ULP_OK;
}

static inline void same_doubles(const char *what, const double *got, const double *want, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!same_result(got[i], want[i]))
            fail_msg("%s: element %zu of %zu is %a, not %a", what, i, n, got[i], want[i]);
}

/* Check that an operation gives the same results (n) on both: got on mpfr, want on the CPU. The operation's other
 * arguments follow. */
#define BOTH(what, got, want, n, operation, ...)                                                                       \
    do {                                                                                                               \
        assert_ok(ulp_backend_##operation(mpfr, got, __VA_ARGS__));                                                    \
        assert_ok(ulp_backend_##operation(cpu, want, __VA_ARGS__));                                                    \
        same_doubles(what, got, want, n);                                                                              \
    } while (0)

#endif
