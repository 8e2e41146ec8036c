/* strips.c - strips of 4 to 6 digits side by side, for CTC: the labels do not give the places of the digits.
 *
 * The set strips is made from the set digits, with 8 rows, 2,000 strips for training and 500 for tests. mnist-strips is
 * made from MNIST, with 12,000 and 2,000 strips. A training strip draws its digits from the training digits alone, with
 * replacement; a test strip draws them from the test digits. Before every digit there are 0, 1 or 2 empty columns,
 * times width / 8. Empty columns after the last digit fill the strip up to the width of the widest strip. Each strip
 * draws from a random stream of its own: word 0 gives its number of digits, word 2 k + 1 digit k, and word 2 k + 2 the
 * gap before digit k.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/rng.h"
#include "sim/data/data.h"

extern const ulp_data_kind ulp_data_digits, ulp_data_mnist, ulp_data_strips, ulp_data_mnist_strips;

/* A data set of strips: the data set of its digits, its name, and its numbers of strips. */
typedef struct strips {
    const ulp_data_kind *from;
    const char *name;
    size_t train, test;
} strips;

enum { DIGITS_MIN = 4, DIGITS_MAX = 6, GAPS = 3 };

/* floor(word n 2^-32), a number below n; the bias is less than n 2^-32. */
static size_t draw(ulp_stream stream, uint64_t word, size_t n) {
    return (size_t)((uint64_t)ulp_random_word(stream, word) * n >> 32);
}

/* Make strip i from the digits first .. first + count - 1 of `from`. */
static void compose(ulp_data *data, size_t i, const ulp_data *from, size_t first, size_t count, ulp_stream stream) {
    size_t w = from->dims.w, W = data->dims.w, x = 0, n = DIGITS_MIN + draw(stream, 0, DIGITS_MAX - DIGITS_MIN + 1);
    uint8_t *pixel = data->pixel + i * data->features, *label = data->label + i * data->labels;
    memset(label, 255, data->labels);
    for (size_t k = 0; k < n; k++) {
        size_t digit = first + draw(stream, 2 * k + 1, count);
        x += draw(stream, 2 * k + 2, GAPS) * (w / 8);
        for (size_t y = 0; y < data->dims.h; y++)
            memcpy(pixel + y * W + x, from->pixel + digit * from->features + y * w, w);
        label[k] = from->label[digit];
        x += w;
    }
}

static ulp_status fill(ulp_data *data, const ulp_data *from, const strips *r, uint64_t seed) {
    snprintf(data->name, sizeof data->name, "%s", r->name);
    memcpy(data->origin, from->origin, sizeof data->origin);
    data->checksum = from->checksum;
    data->n = r->train + r->test;
    data->n_train = r->train;
    data->dims = (ulp_dims){1, from->dims.h, DIGITS_MAX * (from->dims.w + (GAPS - 1) * (from->dims.w / 8))};
    data->features = ulp_dims_size(data->dims);
    data->classes = from->classes;
    data->labels = DIGITS_MAX;
    data->white = from->white;
    data->pixel = calloc(data->n, data->features);
    data->label = malloc(data->n * data->labels);
    if (!data->pixel || !data->label) return ULP_NO_MEMORY;
    for (size_t i = 0; i < data->n; i++) {
        ulp_stream stream = {seed, ulp_stream_id(ULP_USE_SPLIT, 0, 1, i), 0};
        if (i < r->train) compose(data, i, from, 0, from->n_train, stream);
        else compose(data, i, from, from->n_train, from->n - from->n_train, stream);
    }
    return ULP_OK;
}

static ulp_status load(ulp_data *data, const strips *r, const char *folder, uint64_t seed, ulp_error *error) {
    ulp_data from;
    memset(&from, 0, sizeof from);
    ulp_status status = r->from->load(&from, folder, seed, error);
    if (status == ULP_OK) status = fill(data, &from, r, seed);
    ulp_data_release(&from);
    return status;
}

static ulp_status load_strips(ulp_data *data, const char *folder, uint64_t seed, ulp_error *error) {
    static const strips own = {&ulp_data_digits, "strips", 2000, 500};
    return load(data, &own, folder, seed, error);
}

static ulp_status load_mnist_strips(ulp_data *data, const char *folder, uint64_t seed, ulp_error *error) {
    static const strips own = {&ulp_data_mnist, "mnist-strips", 12000, 2000};
    return load(data, &own, folder, seed, error);
}

const ulp_data_kind ulp_data_strips = {
    .name = "strips", .what = "strips of 4 to 6 joined digits, labels in order", .ships = 1, .load = load_strips};

const ulp_data_kind ulp_data_mnist_strips = {.name = "mnist-strips",
                                             .what = "strips of 4 to 6 joined digits of MNIST, labels in order",
                                             .load = load_mnist_strips};
