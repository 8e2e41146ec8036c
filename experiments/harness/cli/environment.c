/* environment.c - checks of the environment variables that every program reads. */
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "types.h"

static const char *given(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static ulp_status check_isa(ulp_error *error) {
    const char *isa = given("ULPLAB_ISA"), *known;
    char offered[80] = "";
    int exists = 0;
    if (!isa) return ULP_OK;
    for (size_t i = 0; (known = ulp_cpu_isa_name(i)) != NULL; i++) {
        if (strcmp(isa, known) == 0 && ulp_cpu_isa_offered(i)) return ULP_OK;
        exists |= strcmp(isa, known) == 0;
        if (ulp_cpu_isa_offered(i)) ulp_list_add(offered, sizeof offered, "%s", known);
    }
    return ulp_fail(error, exists ? ULP_NO_DEVICE : ULP_BAD_NAME, "ULPLAB_ISA=%s: %s; instruction sets here: %s", isa,
                    exists ? "this machine does not run it" : "no instruction set of that name", offered);
}

static ulp_status check_data(ulp_error *error) {
    const char *folder = given("ULPLAB_DATA");
    if (!folder || ulp_is_folder(folder)) return ULP_OK;
    return ulp_refuse(error, "ULPLAB_DATA=%s: there is no such folder", folder);
}

/* OMP_NUM_THREADS is a list with a number of threads for each level of nesting (OpenMP 5.2, section 21.1.2). */
static ulp_status check_threads(ulp_error *error) {
    const char *list = given("OMP_NUM_THREADS"), *at = list;
    if (!list) return ULP_OK;
    for (;;) {
        at += strspn(at, " \t");
        const size_t digits = strspn(at, "0123456789");
        const int positive = strspn(at, "0") < digits;
        if (!positive || digits > 9) break;
        at += digits + strspn(at + digits, " \t");
        if (!*at) return ULP_OK;
        if (*at++ != ',') break;
    }
    return ulp_refuse(error, "OMP_NUM_THREADS=%s: has to be a number of threads from 1 to 999999999", list);
}

ulp_status ulp_environment_check(ulp_error *error) {
    ULP_TRY(check_isa(error));
    ULP_TRY(check_data(error));
    return check_threads(error);
}
