/* instruction_sets.h - the CPU backend of every instruction set that this machine offers, for tests that compare them.
 */
#ifndef ULP_TESTS_INSTRUCTION_SETS_H
#define ULP_TESTS_INSTRUCTION_SETS_H

#include "kernels/backend.h"

enum { ISAS = 8 };

static const ulp_backend *backends[ISAS];
static size_t offered, missing; /* missing: instruction sets that this machine lacks */

/* Fills `backends`; a function for TESTS. */
static inline int find_backends(void **state) {
    (void)state;
    offered = missing = 0;
    for (size_t i = 0; ulp_cpu_isa_name(i) != NULL && i < ISAS; i++) {
        if (ulp_cpu_isa_offered(i)) backends[offered++] = ulp_cpu_backend(i);
        else missing++;
    }
    return offered == 0;
}

/* Runs the check on each of them. */
static inline void on_every_instruction_set(void (*check)(const ulp_backend *backend)) {
    assert_int_equal(find_backends(NULL), 0);
    for (size_t i = 0; i < offered; i++) check(backends[i]);
}

#endif
