/* environment.c - checks of the environment variables that every program reads. */
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "types.h"

static const char *given(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int check_isa(const char *program) {
    const char *isa = given("ULPLAB_ISA"), *known;
    char offered[80] = "";
    int exists = 0;
    if (!isa) return ULP_GO_ON;
    for (size_t i = 0; (known = ulp_cpu_isa_name(i)) != NULL; i++) {
        if (strcmp(isa, known) == 0 && ulp_cpu_isa_offered(i)) return ULP_GO_ON;
        exists |= strcmp(isa, known) == 0;
        if (ulp_cpu_isa_offered(i)) ulp_list_add(offered, sizeof offered, "%s", known);
    }
    ulp_complain(program, "ULPLAB_ISA=%s: %s; instruction sets here: %s", isa,
                 exists ? "this machine does not run it" : "no instruction set of that name", offered);
    return exists ? ULP_EXIT_LACKING : ULP_EXIT_USAGE;
}

static int check_data(const char *program) {
    const char *folder = given("ULPLAB_DATA");
    if (!folder || ulp_is_folder(folder)) return ULP_GO_ON;
    return ulp_usage_error(program, "ULPLAB_DATA=%s: there is no such folder", folder);
}

/* OMP_NUM_THREADS is a list with a number of threads for each level of nesting (OpenMP 5.2, section 21.1.2). */
static int check_threads(const char *program) {
    const char *list = given("OMP_NUM_THREADS"), *at = list;
    if (!list) return ULP_GO_ON;
    for (;;) {
        at += strspn(at, " \t");
        const size_t digits = strspn(at, "0123456789");
        const int positive = strspn(at, "0") < digits;
        if (!positive || digits > 9) break;
        at += digits + strspn(at + digits, " \t");
        if (!*at) return ULP_GO_ON;
        if (*at++ != ',') break;
    }
    return ulp_usage_error(program, "OMP_NUM_THREADS=%s: has to be a number of threads from 1 to 999999999", list);
}

int ulp_environment_check(const char *program) {
    int status = check_isa(program);
    if (status == ULP_GO_ON) status = check_data(program);
    return status == ULP_GO_ON ? check_threads(program) : status;
}
