/* file.c - reading whole files; with zlib packed files, too; see file.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(ULP_WITH_ZLIB)
#include <zlib.h>
#endif

#include "file.h"
#include "fail.h"

int ulp_file_exists(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file) fclose(file);
    return file != NULL;
}

const char *ulp_folder_note(const char *folder) {
    struct stat about;
    return stat(folder, &about) == 0 && S_ISDIR(about.st_mode) ? "" : " (no such folder)";
}

#if defined(ULP_WITH_ZLIB)
typedef gzFile source;
static source source_open(const char *path) { return gzopen(path, "rb"); }
static long source_read(source s, unsigned char *to, unsigned n) { return gzread(s, to, n); }
static int source_close(source s) { return gzclose_r(s) == Z_OK; } /* fails if the packed data end too early */
#else
typedef FILE *source;
static source source_open(const char *path) { return fopen(path, "rb"); }
static long source_read(source s, unsigned char *to, unsigned n) {
    size_t got = fread(to, 1, n, s);
    return ferror(s) ? -1 : (long)got;
}
static int source_close(source s) { return fclose(s) == 0; }
#endif

/* Read s to its end into *bytes (*n), which grows as needed. */
static ulp_status read_all(unsigned char **bytes, size_t *n, source s, size_t limit) {
    size_t room = 0;
    for (;;) {
        if (room - *n < 2) {
            size_t more = room ? 2 * room : 1u << 16;
            unsigned char *grown = realloc(*bytes, more);
            if (!grown) return ULP_NO_MEMORY;
            *bytes = grown;
            room = more;
        }
        size_t ask = room - *n - 1 < 1u << 24 ? room - *n - 1 : 1u << 24;
        long got = source_read(s, *bytes + *n, (unsigned)ask);
        if (got < 0) return ULP_BAD_FILE;
        if (got == 0) break;
        *n += (size_t)got;
        if (*n > limit) return ULP_NOT_IN_RANGE;
    }
    (*bytes)[*n] = 0;
    return ULP_OK;
}

ulp_status ulp_file_read(unsigned char **bytes, size_t *n, const char *path, size_t limit, char *error,
                         size_t error_size) {
    size_t length = strlen(path);
    ulp_status status;
    *bytes = NULL;
    *n = 0;
#if !defined(ULP_WITH_ZLIB)
    if (length > 3 && strcmp(path + length - 3, ".gz") == 0)
        return ulp_fail(error, error_size, ULP_NO_DEVICE, "%s: this build has no zlib; unpack the file", path);
#endif
    (void)length;
    source s = source_open(path);
    if (!s) return ulp_fail(error, error_size, ULP_BAD_FILE, "%s: cannot be opened", path);
    status = read_all(bytes, n, s, limit);
    if (!source_close(s) && status == ULP_OK) status = ULP_BAD_FILE;
    if (status == ULP_OK) return ULP_OK;
    free(*bytes);
    *bytes = NULL;
    *n = 0;
    if (status == ULP_NO_MEMORY) return ulp_fail(error, error_size, status, "%s: no memory for it", path);
    return ulp_fail(error, error_size, ULP_BAD_FILE, "%s: %s", path,
                    status == ULP_NOT_IN_RANGE ? "longer than any file of this kind" : "damaged or truncated");
}
