/* digits.c - 1,797 handwritten digits of 8x8 pixels, the data set that ships with the project.
 *
 * The set is the test part of "Optical Recognition of Handwritten Digits", Alpaydin and Kaynak, UCI Machine Learning
 * Repository, doi:10.24432/C50P49, CC BY 4.0. The file has one line per digit: 64 pixels 0..16, then the label. The
 * seed splits the set into 1,437 digits for training and 360 digits for tests.
 *
 * If the caller gives a folder, the file is searched for in this folder alone. Otherwise it is searched for in these
 * places, in this order:
 *
 *  - ULP_DATA_DIR, if the build defines it
 *  - experiments/data and share/ulplab in the folder of the running program, if the system tells it, and in its parents
 *  - experiments/data and share/ulplab in the working directory and in its parents
 */
#include "base/checksum.h"
#include "base/file.h"
#include "sim/data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <unistd.h>
#endif

enum { COUNT = 1797, TRAIN = 1437, PIXELS = 64, FILE_LIMIT = 1 << 22, PARENTS = 6, PATH_SIZE = 1024 };
#define CHECKSUM 0x2ebe3bb7u

static const char *const names[] = {"digits.csv", "digits.csv.gz", "digits/digits.csv", "digits/digits.csv.gz"};

static int find_in(char *path, size_t size, const char *folder) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int length = snprintf(path, size, "%s/%s", folder, names[i]);
        if (length > 0 && (size_t)length < size && ulp_file_exists(path)) return 1;
    }
    return 0;
}

/* Search folder/experiments/data and folder/share/ulplab, then the same in the parents of folder. */
static int find_above(char *path, size_t size, const char *folder) {
    char up[PATH_SIZE + 64], sub[PATH_SIZE + 96];
    snprintf(up, sizeof up, "%.*s", PATH_SIZE - 1, folder);
    for (int i = 0; i < PARENTS; i++) {
        snprintf(sub, sizeof sub, "%s/experiments/data", up);
        if (find_in(path, size, sub)) return 1;
        snprintf(sub, sizeof sub, "%s/share/ulplab", up);
        if (find_in(path, size, sub)) return 1;
        snprintf(up + strlen(up), 4, "/..");
    }
    return 0;
}

static int find_shipped(char *path, size_t size) {
#if defined(ULP_DATA_DIR)
    if (find_in(path, size, ULP_DATA_DIR)) return 1;
#endif
#if defined(__linux__)
    char program[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = 0;
        char *slash = strrchr(program, '/');
        if (slash) *slash = 0;
        if (find_above(path, size, program)) return 1;
    }
#endif
    return find_above(path, size, ".");
}

/* Read a number up to max and the character after it. Returns 0 if the text is anything else. */
static int read_number(const unsigned char **at, unsigned max, unsigned char after, uint8_t *value) {
    unsigned v = 0;
    const unsigned char *p = *at;
    if (*p < '0' || *p > '9') return 0;
    while (*p >= '0' && *p <= '9' && v <= max) v = 10 * v + (unsigned)(*p++ - '0');
    if (v > max || *p != after) return 0;
    *at = p + 1;
    *value = (uint8_t)v;
    return 1;
}

static ulp_status parse(ulp_data *data, const unsigned char *text, ulp_error *error) {
    const unsigned char *at = text;
    for (size_t i = 0; i < COUNT; i++) {
        int good = 1;
        for (size_t j = 0; j < PIXELS && good; j++) good = read_number(&at, 16, ',', &data->pixel[i * PIXELS + j]);
        if (good) good = read_number(&at, 9, '\n', &data->label[i]);
        if (!good && at[strspn((const char *)at, "0123456789")] == 0)
            return ulp_fail(error, ULP_BAD_FILE, "%s: truncated: it ends after %zu of %d lines", data->origin, i,
                            COUNT);
        if (!good)
            return ulp_fail(error, ULP_BAD_FILE, "%s: line %zu is not 64 pixels 0..16 and a label 0..9", data->origin,
                            i + 1);
    }
    if (*at) return ulp_fail(error, ULP_BAD_FILE, "%s: more than %d lines", data->origin, COUNT);
    return ULP_OK;
}

static ulp_status load(ulp_data *data, const char *folder, uint64_t seed, ulp_error *error) {
    char path[2 * PATH_SIZE];
    unsigned char *text;
    size_t n;
    if (folder && !find_in(path, sizeof path, folder))
        return ulp_fail(error, ULP_NO_DEVICE, "no digits.csv (plain or .gz) in %s or %s/digits%s", folder, folder,
                        ulp_folder_note(folder));
    if (!folder && !find_shipped(path, sizeof path))
        return ulp_fail(error, ULP_NO_DEVICE,
                        "no digits.csv in experiments/data or share/ulplab, here, beside the program or above: name "
                        "its folder by --data or in the variable ULPLAB_DATA");
    ULP_TRY(ulp_file_read(&text, &n, path, FILE_LIMIT, error));
    snprintf(data->name, sizeof data->name, "digits");
    snprintf(data->origin, sizeof data->origin, "%.300s", path);
    data->n = COUNT;
    data->dims = (ulp_dims){1, 8, 8};
    data->features = PIXELS;
    data->classes = 10;
    data->labels = 1;
    data->white = 16;
    data->pixel = malloc((size_t)COUNT * PIXELS);
    data->label = malloc(COUNT);
    data->checksum = ulp_crc32(0, text, n);
    ulp_status status = data->pixel && data->label ? parse(data, text, error) : ULP_NO_MEMORY;
    if (status == ULP_OK && data->checksum != CHECKSUM)
        status = ulp_fail(error, ULP_BAD_FILE, "%s: CRC-32 is %08x, must be %08x", path, data->checksum, CHECKSUM);
    free(text);
    return status == ULP_OK ? ulp_data_split(data, TRAIN, seed) : status;
}

const ulp_data_kind ulp_data_digits = {"digits", "1,797 handwritten digits, 8x8, shipped with the project", 1, load};
