/* ulp.c - the tool: ulp formats | show | round | arith | dot | gemm | probe | block | verify | backends.
 * One file per subcommand in ulp/. */
#include "tool.h"

#include "experiments/harness/run.h"

#include <string.h>

static const tool_command *const commands[] = {
    &tool_formats, &tool_show,  &tool_round, &tool_arith,  &tool_dot,
    &tool_gemm,    &tool_probe, &tool_block, &tool_verify, &tool_backends,
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void list_commands(FILE *to) {
    fprintf(to, "usage: ulp COMMAND [OPTION...]\n\nlow-precision arithmetic from the shell: round, compute and look, "
                "bit for bit.\n\n");
    for (size_t i = 0; i < COMMANDS; i++) fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(
        to,
        "\nulp COMMAND --help explains one; ulp --version names the build.\n"
        "environment: ULPLAB_ISA (baseline, avx2, avx512), ULPLAB_CUDA_DEVICE (which GPU, from 0), OMP_NUM_THREADS.\n"
        "exit status: 0 fine, 1 a check, reading or writing failed, 2 usage or bad input, 3 this machine lacks "
        "something.\n");
}

int main(int argc, char **argv) {
    if (argc < 2) {
        list_commands(stderr);
        return TOOL_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        list_commands(stdout);
        return TOOL_FINE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("ulp (ulplab) %s\n", ulp_build_version());
        return TOOL_FINE;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i]->name) == 0) return commands[i]->run(argc - 2, argv + 2);
    fprintf(stderr, "ulp: no command '%s'\n", argv[1]);
    list_commands(stderr);
    return TOOL_USAGE;
}
