/* shipped.c - finding the files of data sets that ship with the project.
 *
 * A file is searched for in these places, in this order:
 *
 *  - ULP_DATA_DIR, if the build defines it
 *  - experiments/data and share/ulplab in the folder of the running program, if the system tells it, and in its parents
 *  - experiments/data and share/ulplab in the working directory and in its parents
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "data.h"

#if defined(__linux__)
#include <unistd.h>
#endif

enum { PARENTS = 6, PATH_SIZE = ULP_DATA_PATH / 2 };

int ulp_data_find_in(char *path, size_t size, const char *folder, const char *const *names) {
    for (; *names; names++) {
        int length = snprintf(path, size, "%s/%s", folder, *names);
        if (length > 0 && (size_t)length < size && ulp_file_exists(path)) return 1;
    }
    return 0;
}

/* Search folder/experiments/data and folder/share/ulplab, then the same in the parents of folder. */
static int find_above(char *path, size_t size, const char *folder, const char *const *names) {
    char up[PATH_SIZE + 64], sub[PATH_SIZE + 96];
    snprintf(up, sizeof up, "%.*s", PATH_SIZE - 1, folder);
    for (int i = 0; i < PARENTS; i++) {
        snprintf(sub, sizeof sub, "%s/experiments/data", up);
        if (ulp_data_find_in(path, size, sub, names)) return 1;
        snprintf(sub, sizeof sub, "%s/share/ulplab", up);
        if (ulp_data_find_in(path, size, sub, names)) return 1;
        snprintf(up + strlen(up), 4, "/..");
    }
    return 0;
}

int ulp_data_find_shipped(char *path, size_t size, const char *const *names) {
#if defined(ULP_DATA_DIR)
    if (ulp_data_find_in(path, size, ULP_DATA_DIR, names)) return 1;
#endif
#if defined(__linux__)
    char program[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = 0;
        char *slash = strrchr(program, '/');
        if (slash) *slash = 0;
        if (find_above(path, size, program, names)) return 1;
    }
#endif
    return find_above(path, size, ".", names);
}
