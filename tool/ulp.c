/* ulp.c - the main program of the tool: ulp COMMAND [OPTION...]; each command has a file in this folder. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

static const tool_command *const commands[] = {
    &tool_formats, &tool_show, &tool_round,    &tool_convert, &tool_decode,   &tool_arith,
    &tool_dot,     &tool_gemm, &tool_probe,    &tool_block,   &tool_quantize, &tool_verify,
    &tool_compare, &tool_amp,  &tool_backends, &tool_course,  &tool_vectors,  &tool_train,
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* End a command: write the sentence of its failure, and flush stdout. Returns the exit status. */
static int end(const char *program, ulp_status status, ulp_error *error) {
    int result = ULP_EXIT_FINE;
    if (status != ULP_OK) {
        ulp_fail_default(error, status, "%s", ulp_status_text(status));
        result = ulp_complain_of(program, error);
    }
    const int written = ulp_finish_stdout(program, ULP_EXIT_FINE);
    return result == ULP_EXIT_FINE ? written : result;
}

static int run(const tool_command *c, int argc, char **argv) {
    const char *fault = ulp_arithmetic_fault();
    if (fault != NULL) {
        ulp_complain(c->command.name, "%s", fault);
        return ULP_EXIT_LACKING;
    }
    void *settings = calloc(1, c->size);
    ulp_option_group groups[TOOL_GROUPS];
    if (!settings) ulp_out_of_memory(c->size);
    ulp_arguments a = {.command = &c->command, .groups = groups, .group_count = tool_groups(groups, c, settings)};
    ulp_error error = {0};
    ulp_status status = ulp_arguments_read(&a, argc, argv, 0, &error);
    if (status == ULP_OK && !a.is_done) status = ulp_arguments_resolve(&a, ULP_PRESET_DEFAULT, &error);
    if (status == ULP_OK && !a.is_done) status = c->run(settings, &a, &error);
    ulp_arguments_free(&a);
    free(settings);
    return end(c->command.name, status, &error);
}

static ulp_status unknown_command(const char *given, ulp_error *error) {
    ulp_text known = {0};
    for (size_t i = 0; i < COMMANDS; i++) ulp_text_print(&known, "%s ", tool_name(commands[i]));
    ulp_text_print(&known, "help");
    ulp_refuse(error, "no command '%s'%s (`ulp help` lists the commands)", given,
               ulp_guess_of(given, ulp_text_of(&known), 1, "", "").text);
    ulp_text_free(&known);
    return ULP_BAD_ARGUMENT;
}

/* Options belong to a command, and the command comes first. */
static ulp_status option_before_command(int argc, char **argv, ulp_error *error) {
    for (int i = 2; i < argc; i++)
        for (size_t c = 0; c < COMMANDS; c++)
            if (strcmp(argv[i], tool_name(commands[c])) == 0)
                return ulp_refuse(error, "'%s' stands before the command, which comes first: ulp %s %s ...", argv[1],
                                  argv[i], argv[1]);
    return ulp_refuse(error,
                      "'%s' stands where the command belongs: ulp COMMAND [OPTION...] (`ulp help` lists the commands)",
                      argv[1]);
}

int main(int argc, char **argv) {
    ulp_error error = {0};
    if (argc < 2) {
        tool_help(stderr, commands, COMMANDS, argc, argv, &error);
        return ULP_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) {
        printf("ulp (ulplab) %s (build %s)\n", ulp_build_version(), ulp_build_id());
        return ulp_finish_stdout("ulp", ULP_EXIT_FINE);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return end(argc > 2 ? "ulp help" : "ulp", tool_help(stdout, commands, COMMANDS, argc - 1, argv + 1, &error),
                   &error);
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, tool_name(commands[i])) == 0) return run(commands[i], argc - 1, argv + 1);
    const ulp_status status =
        name[0] == '-' ? option_before_command(argc, argv, &error) : unknown_command(name, &error);
    return end("ulp", status, &error);
}
