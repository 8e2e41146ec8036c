/* table.c - the backend table of one instruction set. */
#include "cpu.h"

#include <string.h>

#include "base/aligned.h"

#define ULP_TEXT2(x) #x
#define ULP_TEXT(x) ULP_TEXT2(x)

static void *alloc(size_t bytes) { return ulp_aligned_alloc(64, (bytes + 64) / 64 * 64); }

static ulp_status copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0) memcpy(to, from, bytes);
    return ULP_OK;
}

/* The function of a row of operations.def: of the column `cpu` or `none`. */
#define FUNCTION_cpu(function) function
#define FUNCTION_none(function) NULL

extern const ulp_backend ULP_CPU(ulp_cpu_table);
const ulp_backend ULP_CPU(ulp_cpu_table) = {
    .name = "cpu",
    .what = ULP_TEXT(ULP_ISA),
    .machine = ULP_OF_PROCESSOR,
    .alloc = alloc,
    .release = ulp_aligned_free,
    .upload = copy,
    .download = copy,
#define ULP_OPERATION(name, cpu, cuda, mpfr, ...) .name = FUNCTION_##cpu(ULP_CPU(ulp_cpu_##name)),
#include "kernels/operations.def"
};
