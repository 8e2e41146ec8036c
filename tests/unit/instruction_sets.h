/* instruction_sets.h - a check on the CPU backend of every instruction set that this machine offers. */
#ifndef ULP_TESTS_INSTRUCTION_SETS_H
#define ULP_TESTS_INSTRUCTION_SETS_H

#include "kernels/backend.h"

/* Runs the check on each of them, at least on one. */
static inline void on_every_instruction_set(void (*check)(const ulp_backend *backend)) {
    size_t offered = 0;
    for (size_t isa = 0; ulp_cpu_isa_name(isa) != NULL; isa++) {
        const ulp_backend *b = ulp_cpu_backend(isa);
        if (b == NULL) continue;
        offered++;
        check(b);
    }
    assert_true(offered > 0);
}

#endif
