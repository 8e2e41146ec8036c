/* ulp.c - the main program of the tool: ulp COMMAND [OPTION...]; each command has a file in this folder. */
#include "tool.h"

#include <string.h>

#include "kernels/mpfr/oracle.h"

static const tool_command *const commands[] = {
    &tool_formats, &tool_show,  &tool_round,  &tool_convert, &tool_arith,    &tool_dot,    &tool_gemm,
    &tool_probe,   &tool_block, &tool_verify, &tool_amp,     &tool_backends, &tool_course, &tool_vectors,
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int run(const tool_command *c, int argc, char **argv) {
    ulp_arguments a = {.command = &c->command, .groups = c->groups, .group_count = c->groups[1].options ? 2 : 1};
    int status = ulp_arguments_read(&a, argc, argv, 0);
    if (status == ULP_GO_ON) status = ulp_arguments_resolve(&a, ULP_PRESET_DEFAULT);
    if (status == ULP_GO_ON) {
        status = c->run(&a);
        const int written = ulp_finish_stdout(c->command.name, ULP_EXIT_FINE);
        if (status == ULP_EXIT_FINE) status = written;
    }
    ulp_arguments_free(&a);
    return status;
}

static int unknown_command(const char *given) {
    ulp_text known = {0}, near = {0};
    for (size_t i = 0; i < COMMANDS; i++) ulp_text_print(&known, "%s ", tool_name(commands[i]));
    ulp_text_print(&known, "help");
    const int found = ulp_nearest_words(&near, given, ulp_text_of(&known), 1);
    const int status = ulp_usage_error("ulp", "no command '%s'%s%s%s (`ulp help` lists the commands)", given,
                                       found ? "; did you mean " : "", ulp_text_of(&near), found ? "?" : "");
    ulp_text_free(&known);
    ulp_text_free(&near);
    return status;
}

/* Options belong to a command, and the command comes first. */
static int option_before_command(int argc, char **argv) {
    for (int i = 2; i < argc; i++)
        for (size_t c = 0; c < COMMANDS; c++)
            if (strcmp(argv[i], tool_name(commands[c])) == 0)
                return ulp_usage_error("ulp", "'%s' stands before the command, which comes first: ulp %s %s ...",
                                       argv[1], argv[i], argv[1]);
    return ulp_usage_error(
        "ulp", "'%s' stands where the command belongs: ulp COMMAND [OPTION...] (`ulp help` lists the commands)",
        argv[1]);
}

int main(int argc, char **argv) {
    ulp_reference_allocate_by(ulp_grow);
    if (argc < 2) {
        tool_help(stderr, commands, COMMANDS, argc, argv);
        return ULP_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) {
        printf("ulp (ulplab) %s (build %s)\n", ulp_build_version(), ulp_build_id());
        return ulp_finish_stdout("ulp", ULP_EXIT_FINE);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return tool_help(stdout, commands, COMMANDS, argc - 1, argv + 1);
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, tool_name(commands[i])) == 0) return run(commands[i], argc - 1, argv + 1);
    return name[0] == '-' ? option_before_command(argc, argv) : unknown_command(name);
}
