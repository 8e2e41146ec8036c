/* digits.c - 1,797 handwritten digits of 8x8 pixels, the data set that ships with the project.
 *
 * The set is the test part of "Optical Recognition of Handwritten Digits", Alpaydin and Kaynak, UCI Machine Learning
 * Repository, doi:10.24432/C50P49, CC BY 4.0. The file has one line per digit: 64 pixels 0..16, then the label. The
 * seed splits the set into 1,437 digits for training and 360 digits for tests. If the caller gives a folder, the file
 * is searched for in this folder alone.
 */
#include "base/checksum.h"
#include "base/file.h"
#include "sim/data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1797, TRAIN = 1437, PIXELS = 64, FILE_LIMIT = 1 << 22 };
#define CHECKSUM 0x2ebe3bb7u

static const char *const names[] = {"digits.csv", "digits.csv.gz", "digits/digits.csv", "digits/digits.csv.gz", NULL};

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
    char path[ULP_DATA_PATH];
    unsigned char *text;
    size_t n;
    if (folder && !ulp_data_find_in(path, sizeof path, folder, names))
        return ulp_fail(error, ULP_NO_DEVICE, "no digits.csv (plain or .gz) in %s or %s/digits%s", folder, folder,
                        ulp_folder_note(folder));
    if (!folder && !ulp_data_find_shipped(path, sizeof path, names))
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

const ulp_data_kind ulp_data_digits = {
    .name = "digits", .what = "1,797 handwritten digits, 8x8, shipped with the project", .ships = 1, .load = load};
