/* output.c - writing files as a whole or not at all; see output.h. */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "experiments/harness/cli/message.h"
#include "experiments/harness/cli/text.h"

ulp_status ulp_cannot_write(ulp_error *error, const char *path, int named) {
    ulp_refuse(error, "cannot write %s: %s; choose another place with --out", path, strerror(errno));
    if (!named && error) error->status = ULP_BAD_FILE;
    return named ? ULP_BAD_ARGUMENT : ULP_BAD_FILE;
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

ulp_status ulp_place_choose(ulp_place *place, const char *path, ulp_error *error) {
    struct stat about;
    const int is_stdout = strcmp(path, "-") == 0, exists = !is_stdout && stat(path, &about) == 0;
    const int is_circle = !is_stdout && !exists && errno == ELOOP; /* of symbolic links */
    *place = (ulp_place){.path = ulp_copy_text(path), .direct = is_stdout || (exists && !S_ISREG(about.st_mode))};
    /* a link of /dev/fd to a pipe names no path */
    place->file = place->direct ? ulp_copy_text(path) : ulp_path_behind_links(path);
    if (is_circle || (exists && S_ISDIR(about.st_mode))) {
        errno = is_circle ? ELOOP : EISDIR;
        return ulp_cannot_write(error, path, 1);
    }
    return exists && place->direct && access(path, W_OK) != 0 ? ulp_cannot_write(error, path, 1) : ULP_OK;
}

void ulp_place_free(ulp_place *place) {
    free(place->path);
    free(place->file);
    *place = (ulp_place){0};
}

ulp_status ulp_replacement_begin(ulp_replacement **r, const char *path, const char *shown, int named,
                                 ulp_error *error) {
    ulp_text name = {0};
    switch (ulp_replacement_open(r, path)) {
    case ULP_LOCK_OURS: return ULP_OK;
    case ULP_LOCK_TAKEN:
        return ulp_refuse(error, "another run is writing %s: let it end, or choose another place with --out", shown);
    case ULP_LOCK_SPECIAL: errno = EEXIST; break;
    case ULP_LOCK_FAILED: break;
    }
    const int why = errno;
    ulp_text_print(&name, "%s.tmp", shown);
    errno = why;
    const ulp_status status = ulp_cannot_write(error, ulp_text_of(&name), named);
    ulp_text_free(&name);
    return status;
}

static ulp_status write_direct(const char *path, const char *shown, void (*write)(FILE *file, const void *own),
                               const void *own, ulp_error *error) {
    FILE *file = fopen(path, "w");
    if (!file) return ulp_cannot_write(error, shown, 0);
    write(file, own);
    int failed = ulp_stream_failure(file, 0);
    if (fclose(file) != 0 && !failed) failed = errno;
    errno = failed;
    return failed ? ulp_cannot_write(error, shown, 0) : ULP_OK;
}

static ulp_status write_file(const char *path, const char *shown, void (*write)(FILE *file, const void *own),
                             const void *own, ulp_error *error) {
    ulp_replacement *r;
    ULP_TRY(ulp_replacement_begin(&r, path, shown, 0, error));
    write(r->file, own);
    return ulp_replacement_finish(r) ? ULP_OK : ulp_cannot_write(error, shown, 0);
}

ulp_status ulp_place_write(const ulp_place *place, void (*write)(FILE *file, const void *own), const void *own,
                           ulp_error *error) {
    if (!place->direct) return write_file(place->file, place->path, write, own, error);
    if (strcmp(place->path, "-") != 0) return write_direct(place->file, place->path, write, own, error);
    write(stdout, own);
    const int failed = ulp_stream_failure(stdout, 0);
    errno = failed;
    return failed ? ulp_cannot_write(error, "standard output", 0) : ULP_OK;
}

ulp_status ulp_place_check_beside(const ulp_place *place, const char *ending, ulp_error *error) {
    struct stat about;
    if (place->direct) return ULP_OK;
    char *path = ulp_path_replace(place->file, ".csv", ending);
    ulp_status status = ULP_OK;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        status = ulp_cannot_write(error, path, 1);
    }
    free(path);
    return status;
}

ulp_status ulp_place_write_beside(const ulp_place *place, const char *ending,
                                  void (*write)(FILE *file, const void *own), const void *own, ulp_error *error) {
    if (place->direct) return ULP_OK;
    char *path = ulp_path_replace(place->file, ".csv", ending);
    const ulp_status status = write_file(path, path, write, own, error);
    free(path);
    return status;
}

/* ---- JSON ---- */

void ulp_json_text(FILE *file, const char *text, size_t length) {
    fputc('"', file);
    for (size_t i = 0; i < length && text[i]; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') fprintf(file, "\\%c", c);
        else if (c < 0x20) fprintf(file, "\\u%04x", c);
        else fputc(c, file);
    }
    fputc('"', file);
}

void ulp_json_pair(FILE *file, const char *key, const char *text) {
    fprintf(file, "  \"%s\": ", key);
    ulp_json_text(file, text, SIZE_MAX);
    fprintf(file, ",\n");
}

void ulp_json_date(FILE *file) {
    char date[40] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    ulp_json_pair(file, "date", date);
}
