/* tool.c - commands of ulp as functions, with words that hostile input may choose. */
#include "fuzz.h"

#include <ctype.h>

int fuzz_ulp_main(int argc, char **argv); /* main of tool/ulp.c */

enum { WORDS_MAX = 40 };

/* Commands that read their words and files, and end soon. */
static const char *const commands[] = {"arith", "amp",  "block",  "convert", "dot",      "formats",   "gemm", "help",
                                       "round", "show", "verify", "probe",   "backends", "--version", "-h"};

/* A word may name the files of the input and files in the working folder, and nothing else. */
static int is_harmless(const char *word) {
    static const char *const never[] = {"/", "..", "--exec", "--data", "--tree", "--jobs", "--threads", "--resume"};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        if (strstr(word, never[i])) return 0;
    return 1;
}

/* What would take long: products of a size of their own, verifying without files, probing. */
static int is_long(int argc, char **argv) {
    int files = 0, listed = 0;
    for (int i = 2; i < argc; i++) {
        files |= strncmp(argv[i], "/proc/self/fd/", 14) == 0;
        listed |= strcmp(argv[i], "--list") == 0 || strcmp(argv[i], "--help") == 0;
    }
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "gemm") == 0 || strcmp(name, "verify") == 0) return !files && !listed;
    return strcmp(name, "probe") == 0 && !listed;
}

static int is_command(const char *name) {
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(name, commands[i]) == 0) return 1;
    return 0;
}

int fuzz_tool(const char *line) {
    static char files[FUZZ_FILES][32];
    char *copy = ulp_copy_text(line), *argv[WORDS_MAX + 2] = {(char[]){"ulp"}, NULL};
    int argc = 1, good = 1;
    for (char *at = copy; argc < WORDS_MAX;) {
        at += strspn(at, " \t");
        if (!*at) break;
        char *end = at + strcspn(at, " \t");
        char *next = *end ? end + 1 : end;
        *end = '\0';
        if (at[0] == '@' && at[1] >= '0' && at[1] < '0' + FUZZ_FILES && (!at[2] || at[2] == ':')) {
            const int i = at[1] - '0';
            snprintf(files[i], sizeof files[i], "/proc/self/fd/%d", fuzz_file_number(i));
            argv[argc++] = files[i];
        } else {
            good &= is_harmless(at);
            argv[argc++] = at;
        }
        at = next;
    }
    argv[argc] = NULL;
    good = good && argc > 1 && is_command(argv[1]) && !is_long(argc, argv);
    const int status = good ? fuzz_ulp_main(argc, argv) : -1;
    if (good) {
        fflush(stdout);
        fuzz_check_exit(status, line);
    }
    free(copy);
    return status;
}
