/* backends.c - ulp backends: the backends and instruction sets that this build and this machine offer. */
#include "paths.h"

#include "kernels/cpu/native/native.h"
#include "kernels/cuda/cuda.h"

static void print_cuda(void) {
    ulp_cuda_info d;
    if (ulp_cuda_describe(&d) != ULP_OK) {
        tool_print_folded(16, "cuda            not offered: %s", ulp_cuda_lacks());
        return;
    }
    tool_print_folded(16,
                      "cuda            offered: %s, compute capability %d.%d, %d processors, %.1f GiB, driver for CUDA "
                      "%d.%d, built with CUDA %d.%d",
                      d.name, d.capability / 10, d.capability % 10, d.processors, (double)d.memory * 0x1p-30,
                      d.driver / 1000, d.driver % 1000 / 10, d.runtime / 1000, d.runtime % 1000 / 10);
}

static void print_native(const char *name, const char *what, const char *lacks) {
    if (lacks[0] != '\0') tool_print_folded(24, "%-23s not offered: %s", name, lacks);
    else tool_print_folded(24, "%-23s offered: %s", name, what);
}

static void print_processor(void) {
    ulp_cpu_native native;
    for (size_t i = 0; ulp_cpu_native_get(i, &native) == ULP_OK; i++)
        print_native(native.name, native.what, native.lacks);
    print_native("native:f16c", "VCVTPS2PH, VCVTPH2PS: conversions, for `make check-silicon`", ulp_cpu_f16c_lacks());
}

typedef struct settings {
    int products;
} settings;

static const ulp_option options[] = {
    ULP_OPTION(settings, products, flag, NULL,
               .help = "the paths of matrix products on the processor, in the order in which they are tried"),
    {0},
};

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    const settings *s = fields;
    const ulp_backend *chosen = NULL;
    (void)a;
    const ulp_status status = ulp_backend_get(&chosen, "cpu");
    if (status != ULP_OK) return ulp_fail(error, status, "cpu: %s", ulp_status_text(status));
    if (s->products) {
        tool_paths_list(chosen);
        return ULP_OK;
    }
    for (size_t i = 0; ulp_cpu_isa_name(i) != NULL; i++)
        printf("cpu   %-9s %s%s\n", ulp_cpu_isa_name(i),
               ulp_cpu_isa_offered(i) ? "offered" : "not offered: this processor lacks it",
               chosen == ulp_cpu_backend(i) ? ", in use" : "");
    printf("cpu   threads   %d\n", ulp_threads_get());
    print_processor();
    print_cuda();
#if defined(ULP_WITH_MPI)
    tool_print_folded(16, "mpi             offered: mpirun -n N build/bin/EXPERIMENT shares the points of a sweep");
#else
    printf("mpi             not in this build\n");
#endif
#if defined(ULP_WITH_MPFR)
    printf("mpfr            offered: ulp verify, --backend mpfr\n");
#else
    printf("mpfr            not in this build: neither ulp verify nor --backend mpfr is offered\n");
#endif
    return ULP_OK;
}

const tool_command tool_backends = {
    .command = {.name = "ulp backends",
                .usage = "[--products]",
                .summary = "what this build and this machine offer",
                .details = "Instruction sets of the CPU backend (ULPLAB_ISA=NAME forces one), threads "
                           "(OMP_NUM_THREADS), the CUDA device (ULPLAB_CUDA_DEVICE=N chooses one; exit status 0 "
                           "without it), MPI, MPFR.\n"},
    .size = sizeof(settings),
    .groups = {{"options", options, 0}},
    .run = run};
