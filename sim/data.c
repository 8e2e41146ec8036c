/* data.c - the table of data sets, and what their readers share: files, checksum, split. */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(ULP_WITH_ZLIB)
#include <zlib.h>
#endif

#include "fail.h"
#include "formats/rng.h"

/* One word per kind. */
#define SETS(X)                                                                                                        \
    X(digits)                                                                                                          \
    X(idx)                                                                                                             \
    X(strips)                                                                                                          \
    X(mnist_strips)

#define DECLARE(name) extern const ulp_data_kind ulp_data_##name;
SETS(DECLARE)

#define ENTRY(name) &ulp_data_##name,
static const ulp_data_kind *const kinds[] = {SETS(ENTRY)};

const ulp_data_kind *ulp_data_kind_get(size_t i) { return i < sizeof kinds / sizeof *kinds ? kinds[i] : NULL; }

static ulp_status load_kind(const ulp_data_kind *kind, ulp_data *data, const char *folder, uint64_t seed, char *error,
                            size_t error_size) {
    const char *usual = getenv("ULPLAB_DATA");
    if (folder && *folder) return kind->load(data, folder, seed, error, error_size);
    if (!usual || !*usual) return kind->load(data, NULL, seed, error, error_size);
    ulp_status status = kind->load(data, usual, seed, error, error_size);
    return status == ULP_NO_DEVICE && kind->ships ? kind->load(data, NULL, seed, error, error_size) : status;
}

ulp_status ulp_data_load(ulp_data *data, const char *name, const char *folder, uint64_t seed, char *error,
                         size_t error_size) {
    char known[256] = "";
    size_t used = 0;
    memset(data, 0, sizeof *data);
    if (error && error_size) error[0] = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", kinds[i]->name);
        if (strcmp(kinds[i]->name, name) != 0) continue;
        ulp_status status = load_kind(kinds[i], data, folder, seed, error, error_size);
        if (status == ULP_OK) return ULP_OK;
        ulp_data_release(data);
        return error && *error ? status : ulp_fail(error, error_size, status, "%s: %s", name, ulp_status_text(status));
    }
    return ulp_fail(error, error_size, ULP_BAD_NAME, "no data set '%s'; known: %s", name, known);
}

void ulp_data_release(ulp_data *data) {
    free(data->pixel);
    free(data->label);
    memset(data, 0, sizeof *data);
}

/* ---- files: zlib reads packed and plain ones alike; without it, plain ones only ---- */

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
static int source_close(source s) { return gzclose_r(s) == Z_OK; } /* not OK: the packed data end too early */
#else
typedef FILE *source;
static source source_open(const char *path) { return fopen(path, "rb"); }
static long source_read(source s, unsigned char *to, unsigned n) {
    size_t got = fread(to, 1, n, s);
    return ferror(s) ? -1 : (long)got;
}
static int source_close(source s) { return fclose(s) == 0; }
#endif

/* Read to the end; *bytes grows as needed. */
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

/* ---- order ---- */

void ulp_permutation(uint32_t *order, size_t n, ulp_stream stream) {
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    for (size_t i = n; i-- > 1;) {
        size_t j = (size_t)((uint64_t)ulp_random_word(stream, i) * (i + 1) >> 32);
        uint32_t t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

ulp_status ulp_data_split(ulp_data *data, size_t n_train, uint64_t seed) {
    uint32_t *order = malloc((data->n + 1) * sizeof *order);
    uint8_t *pixel = malloc(data->n * data->features + 1), *label = malloc(data->n * data->labels + 1);
    ulp_stream stream = {seed, ulp_stream_id(ULP_USE_SPLIT, 0, 0, 0), 0};
    ulp_status status = order && pixel && label ? ULP_OK : ULP_NO_MEMORY;
    if (status == ULP_OK) {
        ulp_permutation(order, data->n, stream);
        for (size_t i = 0; i < data->n; i++) {
            memcpy(pixel + i * data->features, data->pixel + order[i] * data->features, data->features);
            memcpy(label + i * data->labels, data->label + order[i] * data->labels, data->labels);
        }
        memcpy(data->pixel, pixel, data->n * data->features);
        memcpy(data->label, label, data->n * data->labels);
        data->n_train = n_train;
    }
    free(order);
    free(pixel);
    free(label);
    return status;
}
