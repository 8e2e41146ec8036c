/* backend.c - the choice of a backend by name, and of the instruction set of the CPU backend. */
#include "backend.h"

#include "product_paths.h"

#include "kernels/cuda/cuda.h"
#include "kernels/mpfr/oracle.h"

#include <stdlib.h>
#include <string.h>

/* What kernels.mk has built for an instruction set (ULP_WITH_NAME): its operations, its product paths, whether this
 * processor runs it, and the check of its arithmetic. */
#define DECLARE(name)                                                                                                  \
    extern const ulp_backend ulp_cpu_table_##name;                                                                     \
    const ulp_product_path *ulp_product_paths_##name(size_t *count);                                                   \
    const char *ulp_arithmetic_fault_##name(void);
#define BUILT(name) &ulp_cpu_table_##name, ulp_product_paths_##name, runs_##name, ulp_arithmetic_fault_##name
#define NOT_BUILT NULL, NULL, NULL, NULL

DECLARE(baseline)
static int runs_baseline(void) { return 1; }

#if defined(ULP_WITH_neon)
DECLARE(neon)
static int runs_neon(void) { return 1; } /* every processor for aarch64 */
#define NEON BUILT(neon)
#else
#define NEON NOT_BUILT
#endif

#if defined(ULP_WITH_sve256)
#include <sys/auxv.h>
#include <sys/prctl.h>
DECLARE(sve256)
static int runs_sve256(void) { /* only where vectors have 32 bytes */
    return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0 && (prctl(PR_SVE_GET_VL, 0, 0, 0, 0) & PR_SVE_VL_LEN_MASK) == 32;
}
#define SVE256 BUILT(sve256)
#else
#define SVE256 NOT_BUILT
#endif

#if defined(ULP_WITH_avx2)
DECLARE(avx2)
static int runs_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#define AVX2 BUILT(avx2)
#else
#define AVX2 NOT_BUILT
#endif

#if defined(ULP_WITH_avx512)
DECLARE(avx512)
static int runs_avx512(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#define AVX512 BUILT(avx512)
#else
#define AVX512 NOT_BUILT
#endif

/* All instruction sets, those of one kind of processor slowest first. */
static const struct isa {
    const char *name;
    const ulp_backend *table; /* NULL: not built */
    const ulp_product_path *(*paths)(size_t *count);
    int (*runs)(void);
    const char *(*fault)(void);
} isas[] = {{"baseline", BUILT(baseline)}, {"neon", NEON}, {"sve256", SVE256}, {"avx2", AVX2}, {"avx512", AVX512}};

enum { ISA_COUNT = sizeof isas / sizeof isas[0] };

const char *ulp_cpu_isa_name(size_t i) { return i < ISA_COUNT ? isas[i].name : NULL; }

int ulp_cpu_isa_offered(size_t i) { return i < ISA_COUNT && isas[i].runs != NULL && isas[i].runs(); }

const ulp_backend *ulp_cpu_backend(size_t i) { return ulp_cpu_isa_offered(i) ? isas[i].table : NULL; }

const ulp_product_path *ulp_product_paths(const ulp_backend *backend, size_t *count) {
    for (size_t i = 0; backend != NULL && i < ISA_COUNT; i++)
        if (ulp_cpu_backend(i) == backend) return isas[i].paths(count);
    *count = 0;
    return NULL;
}

const char *ulp_arithmetic_fault(void) {
    const char *fault = NULL;
    for (size_t i = 0; i < ISA_COUNT && fault == NULL; i++)
        if (ulp_cpu_isa_offered(i)) fault = isas[i].fault();
    return fault;
}

static ulp_status choose_cpu(const ulp_backend **backend) {
    const char *forced = getenv("ULPLAB_ISA");
    if (forced != NULL && forced[0] != '\0') {
        for (size_t i = 0; i < ISA_COUNT; i++) {
            if (strcmp(forced, isas[i].name) != 0) continue;
            *backend = ulp_cpu_backend(i);
            return *backend != NULL ? ULP_OK : ULP_NO_DEVICE;
        }
        return ULP_BAD_NAME;
    }
    for (size_t i = ISA_COUNT; i-- > 0;) {
        *backend = ulp_cpu_backend(i);
        if (*backend != NULL) return ULP_OK;
    }
    return ULP_NO_DEVICE;
}

static const char *cpu_lacks(void) {
    const ulp_backend *backend;
    if (choose_cpu(&backend) != ULP_NO_DEVICE) return "";
    return "this machine does not run the instruction set that ULPLAB_ISA asks for";
}

/* The backends; the first is the default. */
static const struct choice {
    const char *name;
    ulp_status (*get)(const ulp_backend **backend);
    const char *(*lacks)(void);
} choices[] = {{"cpu", choose_cpu, cpu_lacks},
               {"cuda", ulp_cuda_backend, ulp_cuda_lacks},
               {"mpfr", ulp_mpfr_backend, ulp_mpfr_lacks}};

const char *ulp_backend_names(void) { return "cpu cuda mpfr"; }

static const struct choice *choice_of(const char *name) {
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (name == NULL || strcmp(name, choices[i].name) == 0) return &choices[i];
    return NULL;
}

ulp_status ulp_backend_get(const ulp_backend **backend, const char *name) {
    const struct choice *c = choice_of(name);
    if (backend == NULL) return ULP_BAD_ARGUMENT;
    if (c == NULL) return ULP_BAD_NAME;
    return ulp_arithmetic_fault() == NULL ? c->get(backend) : ULP_NO_DEVICE;
}

const char *ulp_backend_lacks(const char *name) {
    const struct choice *c = choice_of(name);
    const char *fault = ulp_arithmetic_fault();
    if (c == NULL) return "";
    return fault != NULL ? fault : c->lacks();
}
