/* output.c - writing files as a whole or not at all; see output.h. */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/harness/cli/message.h"
#include "experiments/harness/cli/text.h"

int ulp_cannot_write(const char *program, const char *path, int named) {
    ulp_complain(program, "cannot write %s: %s; choose another place with --out", path, strerror(errno));
    return named ? ULP_EXIT_USAGE : ULP_EXIT_FAILED;
}

char *ulp_path_behind_links(const char *path) {
    enum { LINKS = 40 };
    char *at = ulp_copy_text(path), to[PATH_MAX];
    for (int i = 0; i < LINKS; i++) {
        const ssize_t length = readlink(at, to, sizeof to - 1);
        if (length <= 0) break;
        to[length] = '\0';
        ulp_text next = {0};
        const char *slash = strrchr(at, '/');
        if (to[0] != '/' && slash) ulp_text_add(&next, at, (size_t)(slash - at) + 1);
        ulp_text_print(&next, "%s", to);
        free(at);
        at = next.data;
    }
    return at;
}

int ulp_place_choose(ulp_place *place, const char *program, const char *path) {
    struct stat about;
    const int is_stdout = strcmp(path, "-") == 0, exists = !is_stdout && stat(path, &about) == 0;
    *place = (ulp_place){.path = ulp_copy_text(path), .direct = is_stdout || (exists && !S_ISREG(about.st_mode))};
    /* a link of /dev/fd to a pipe names no path */
    place->file = place->direct ? ulp_copy_text(path) : ulp_path_behind_links(path);
    if (exists && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return ulp_cannot_write(program, path, 1);
    }
    return exists && place->direct && access(path, W_OK) != 0 ? ulp_cannot_write(program, path, 1) : -1;
}

void ulp_place_free(ulp_place *place) {
    free(place->path);
    free(place->file);
    *place = (ulp_place){0};
}

static int write_file(const char *path, int direct, const char *shown, const char *program,
                      void (*write)(FILE *file, const void *own), const void *own) {
    char *name = direct ? ulp_copy_text(path) : ulp_path_replace(path, "", ".tmp");
    FILE *file = fopen(name, "w");
    int status = -1;
    if (!file) status = ulp_cannot_write(program, shown, 0);
    else {
        write(file, own);
        const int bad = ferror(file);
        if (fclose(file) != 0 || bad || (!direct && rename(name, path) != 0)) {
            status = ulp_cannot_write(program, shown, 0);
            if (!direct) remove(name);
        }
    }
    free(name);
    return status;
}

int ulp_place_write(const ulp_place *place, const char *program, void (*write)(FILE *file, const void *own),
                    const void *own) {
    if (strcmp(place->path, "-") != 0) return write_file(place->file, place->direct, place->path, program, write, own);
    write(stdout, own);
    return fflush(stdout) == 0 && !ferror(stdout) ? -1 : ulp_cannot_write(program, "standard output", 0);
}

int ulp_place_write_beside(const ulp_place *place, const char *ending, const char *program,
                           void (*write)(FILE *file, const void *own), const void *own) {
    if (place->direct) return -1;
    char *path = ulp_path_replace(place->file, ".csv", ending);
    const int status = write_file(path, 0, path, program, write, own);
    free(path);
    return status;
}
