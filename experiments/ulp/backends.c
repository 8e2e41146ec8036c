/* backends.c - ulp backends: what this build and this machine offer. */
#include "tool.h"

static int run(int argc, char **argv) {
    const tool_option options[] = {{0}};
    if (tool_parse(&tool_backends, options, argc, argv) != 0) tool_usage(&tool_backends, "takes no words: '%s'", argv[0]);
    const ulp_backend *chosen = NULL;
    ulp_status status = ulp_backend_get(&chosen, "cpu");
    for (size_t i = 0; ulp_cpu_isa_name(i) != NULL; i++)
        printf("cpu   %-9s %s%s\n", ulp_cpu_isa_name(i), ulp_cpu_isa_offered(i) ? "offered" : "not offered: this processor lacks it",
               chosen != NULL && chosen == ulp_cpu_backend(i) ? ", in use" : "");
    if (status == ULP_BAD_NAME) printf("cpu   ULPLAB_ISA names no instruction set; known are those above\n");
    else if (status != ULP_OK) printf("cpu   ULPLAB_ISA asks for one that is not offered\n");
    printf("cpu   threads   %d\n", ulp_threads_get());
    printf("cuda            not in this version\n");
#if defined(ULP_WITH_MPI)
    printf("mpi             offered: mpirun -n N build/bin/EXPERIMENT shares the points of a sweep\n");
#else
    printf("mpi             not in this build\n");
#endif
#if defined(ULP_WITH_MPFR)
    printf("mpfr            offered: ulp verify\n");
#else
    printf("mpfr            not in this build: ulp verify is not offered\n");
#endif
    return status == ULP_OK ? tool_finish(&tool_backends) : TOOL_LACKING;
}

const tool_command tool_backends = {
    "backends", "backends", "what this build and this machine offer",
    "Instruction sets of the CPU backend (ULPLAB_ISA=baseline|avx2|avx512 forces one), threads (OMP_NUM_THREADS), CUDA, MPI, MPFR.\n",
    run};
