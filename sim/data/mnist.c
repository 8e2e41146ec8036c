/* mnist.c - MNIST and data sets in its form: four IDX files in a folder, plain or packed by gzip.
 *
 * LeCun, Cortes, Burges, "The MNIST database". An IDX file is big-endian. It starts with the magic number 0x00000803
 * (images; count, rows and columns follow) or 0x00000801 (labels; count follows); then come the bytes. The files give
 * the split: train-* is the training part, t10k-* the test part.
 */
#include "base/checksum.h"
#include "base/file.h"
#include "sim/data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRAIN_IMAGES "train-images-idx3-ubyte"
#define TRAIN_LABELS "train-labels-idx1-ubyte"
#define TEST_IMAGES "t10k-images-idx3-ubyte"
#define TEST_LABELS "t10k-labels-idx1-ubyte"
#define FOUR_FILES TRAIN_IMAGES ", " TRAIN_LABELS ", " TEST_IMAGES " and " TEST_LABELS ", each plain or .gz"

enum { MAGIC_IMAGES = 0x803, MAGIC_LABELS = 0x801, SIDE_MAX = 4096 };
#define FILE_LIMIT ((size_t)1 << 31)

/* The bytes of one file with its header, and the numbers in the header. */
typedef struct idx {
    unsigned char *bytes;
    size_t n, count, rows, columns, header;
    char path[512];
} idx;

static uint32_t word_at(const unsigned char *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int find(char *path, size_t size, const char *folder, const char *name) {
    static const char *const between[] = {"/", "/mnist/"}, *const after[] = {"", ".gz"};
    for (size_t i = 0; i < 4; i++) {
        int length = snprintf(path, size, "%s%s%s%s", folder, between[i / 2], name, after[i % 2]);
        if (length > 0 && (size_t)length < size && ulp_file_exists(path)) return 1;
    }
    return 0;
}

/* Read the header, and check it against the length of the file. */
static ulp_status check_header(idx *f, uint32_t magic, ulp_error *error) {
    f->header = magic == MAGIC_IMAGES ? 16 : 8;
    if (f->n < f->header) return ulp_fail(error, ULP_BAD_FILE, "%s: %zu bytes, shorter than its header", f->path, f->n);
    if (word_at(f->bytes) != magic)
        return ulp_fail(error, ULP_BAD_FILE, "%s: magic number %08x, must be %08x", f->path, word_at(f->bytes), magic);
    f->count = word_at(f->bytes + 4);
    f->rows = f->columns = 1;
    if (magic == MAGIC_IMAGES) {
        f->rows = word_at(f->bytes + 8);
        f->columns = word_at(f->bytes + 12);
    }
    if (f->count < 1 || f->rows < 1 || f->columns < 1 || f->rows > SIDE_MAX || f->columns > SIDE_MAX)
        return ulp_fail(error, ULP_BAD_FILE, "%s: %zu items of %zux%zu", f->path, f->count, f->rows, f->columns);
    size_t have = f->n - f->header, item = f->rows * f->columns;
    if (have / item != f->count || have % item != 0)
        return ulp_fail(error, ULP_BAD_FILE, "%s: %zu bytes of data for %zu items of %zu bytes: %s", f->path, have,
                        f->count, item, have / item < f->count ? "truncated" : "too long");
    return ULP_OK;
}

static ulp_status read_idx(idx *f, const char *folder, const char *name, uint32_t magic, ulp_error *error) {
    if (!find(f->path, sizeof f->path, folder, name))
        return ulp_fail(error, ULP_NO_DEVICE, "no %s in %s or %s/mnist%s; expected there: " FOUR_FILES, name, folder,
                        folder, ulp_folder_note(folder));
    ULP_TRY(ulp_file_read(&f->bytes, &f->n, f->path, FILE_LIMIT, error));
    return check_header(f, magic, error);
}

/* Append images and labels to data, which has enough room. */
static ulp_status append(ulp_data *data, const idx *images, const idx *labels, ulp_error *error) {
    if (images->count != labels->count)
        return ulp_fail(error, ULP_BAD_FILE, "%s has %zu images, %s %zu labels", images->path, images->count,
                        labels->path, labels->count);
    if (images->rows != data->dims.h || images->columns != data->dims.w)
        return ulp_fail(error, ULP_BAD_FILE, "%s: %zux%zu pixels, the training images have %zux%zu", images->path,
                        images->rows, images->columns, data->dims.h, data->dims.w);
    const unsigned char *label = labels->bytes + labels->header;
    for (size_t i = 0; i < labels->count; i++)
        if (label[i] >= data->classes)
            return ulp_fail(error, ULP_BAD_FILE, "%s: label %zu is %u, must be 0..%zu", labels->path, i, label[i],
                            data->classes - 1);
    memcpy(data->pixel + data->n * data->features, images->bytes + images->header, images->count * data->features);
    memcpy(data->label + data->n, label, labels->count);
    data->n += images->count;
    data->checksum = ulp_crc32(data->checksum, images->bytes, images->n);
    data->checksum = ulp_crc32(data->checksum, labels->bytes, labels->n);
    return ULP_OK;
}

static ulp_status fill(ulp_data *data, idx f[4], ulp_error *error) {
    size_t n = f[0].count + f[2].count;
    data->dims = (ulp_dims){1, f[0].rows, f[0].columns};
    data->features = f[0].rows * f[0].columns;
    data->classes = 10;
    data->labels = 1;
    data->white = 255;
    data->pixel = malloc(n * data->features);
    data->label = malloc(n);
    if (!data->pixel || !data->label) return ULP_NO_MEMORY;
    ulp_status status = append(data, &f[0], &f[1], error);
    data->n_train = data->n;
    return status == ULP_OK ? append(data, &f[2], &f[3], error) : status;
}

static ulp_status load(ulp_data *data, const char *folder, uint64_t seed, ulp_error *error) {
    static const char *const names[4] = {TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS};
    idx f[4];
    ulp_status status = ULP_OK;
    (void)seed;
    if (!folder)
        return ulp_fail(
            error, ULP_NO_DEVICE,
            "mnist does not ship with the project: give a folder (--data or $ULPLAB_DATA) with " FOUR_FILES);
    memset(f, 0, sizeof f);
    snprintf(data->name, sizeof data->name, "mnist");
    snprintf(data->origin, sizeof data->origin, "%.300s", folder);
    for (size_t i = 0; i < 4 && status == ULP_OK; i++)
        status = read_idx(&f[i], folder, names[i], i % 2 ? MAGIC_LABELS : MAGIC_IMAGES, error);
    if (status == ULP_OK) status = fill(data, f, error);
    for (size_t i = 0; i < 4; i++) free(f[i].bytes);
    return status;
}

const ulp_data_kind ulp_data_mnist = {
    .name = "mnist", .what = "MNIST, or any set in its four IDX files, 10 classes", .load = load};
