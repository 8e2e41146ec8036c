/* backend.c - the choice of a backend by name, and of the instruction set of the CPU backend. */
#include "backend.h"

#include "product_paths.h"

#include "kernels/cuda/cuda.h"
#include "kernels/mpfr/oracle.h"

#include <stdlib.h>
#include <string.h>

extern const ulp_backend ulp_cpu_table_baseline;
const ulp_product_path *ulp_product_paths_baseline(size_t *count);
const char *ulp_arithmetic_fault_baseline(void);
#if defined(ULP_WITH_avx2)
extern const ulp_backend ulp_cpu_table_avx2;
const ulp_product_path *ulp_product_paths_avx2(size_t *count);
const char *ulp_arithmetic_fault_avx2(void);
#endif
#if defined(ULP_WITH_avx512)
extern const ulp_backend ulp_cpu_table_avx512;
const ulp_product_path *ulp_product_paths_avx512(size_t *count);
const char *ulp_arithmetic_fault_avx512(void);
#endif

static int runs_baseline(void) { return 1; }

#if defined(ULP_WITH_avx2)
static int runs_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

#if defined(ULP_WITH_avx512)
static int runs_avx512(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

/* The instruction sets of the build, slowest first; ULP_WITH_ of kernels.mk. */
static const struct isa {
    const char *name;
    const ulp_backend *table;
    const ulp_product_path *(*paths)(size_t *count);
    int (*runs)(void);
    const char *(*fault)(void);
} isas[] = {
    {"baseline", &ulp_cpu_table_baseline, ulp_product_paths_baseline, runs_baseline, ulp_arithmetic_fault_baseline},
#if defined(ULP_WITH_avx2)
    {"avx2", &ulp_cpu_table_avx2, ulp_product_paths_avx2, runs_avx2, ulp_arithmetic_fault_avx2},
#endif
#if defined(ULP_WITH_avx512)
    {"avx512", &ulp_cpu_table_avx512, ulp_product_paths_avx512, runs_avx512, ulp_arithmetic_fault_avx512},
#endif
};

enum { ISA_COUNT = sizeof isas / sizeof isas[0] };

const char *ulp_cpu_isa_name(size_t i) { return i < ISA_COUNT ? isas[i].name : NULL; }

int ulp_cpu_isa_offered(size_t i) { return i < ISA_COUNT && isas[i].runs(); }

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
        if (isas[i].runs()) fault = isas[i].fault();
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
