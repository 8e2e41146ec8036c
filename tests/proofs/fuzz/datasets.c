/* datasets.c - IDX files, plain and packed, the CSV of the digits, and texts: what is loaded fits together. */
#include "sim/data/data.h"
#include "tests/proofs/fuzz/support/fuzz.h"

static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                    "t10k-labels-idx1-ubyte"};

/* Bits 0 to 3 of the first byte: that file is packed; bit 4: the input is digits.csv. Three lengths follow, of two
 * bytes each, and the bytes of the four files. If the upper half of the first byte is 6, the other bytes are a text. */
enum { DIGITS = 16, TEXT = 6, FIRST = 7 };

static void write_file(const char *name, int packed, const uint8_t *data, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "%s%s", name, packed ? ".gz" : "");
    FILE *file = fopen(path, "wb");
    if (!file || (size && fwrite(data, 1, size, file) != size) || fclose(file) != 0) abort();
}

/* The beginnings and the ends of the four files. */
static void cut(size_t at[5], const uint8_t *data, size_t size) {
    at[0] = FIRST < size ? FIRST : size;
    for (int i = 0; i < 3; i++) {
        const size_t n = size > FIRST ? (size_t)(data[1 + 2 * i] << 8 | data[2 + 2 * i]) : 0;
        at[i + 1] = n < size - at[i] ? at[i] + n : size;
    }
    at[4] = size;
}

static void check_data(const ulp_data *d) {
    fuzz_check(d->n >= 1 && d->n_train <= d->n && d->features == d->dims.c * d->dims.h * d->dims.w,
               "%zu samples of %zu", d->n, d->features);
    for (size_t i = 0; i < d->n; i++) fuzz_check(d->label[i] < d->classes, "label %u of %zu", d->label[i], d->classes);
    fuzz_check(d->label != NULL && d->pixel[d->n * d->features - 1] <= d->white, "no last pixel");
}

/* A sequence goes on with its labels, and its characters are those of the file. */
static void check_text(const ulp_data *d, const uint8_t *bytes) {
    char text[64];
    fuzz_check(d->n_train >= 1 && d->n_train <= d->n && d->classes >= 1 && d->classes <= 256, "%zu samples", d->n);
    for (size_t i = 0; i < d->n * d->length; i++) {
        fuzz_check(d->pixel[i] < d->classes && d->label[i] < d->classes, "token %u of %zu", d->pixel[i], d->classes);
        fuzz_check((i + 1) % d->length == 0 || d->label[i] == d->pixel[i + 1], "label %zu is not the next token", i);
    }
    const size_t n = ulp_data_print(text, sizeof text, d, d->pixel, d->length);
    fuzz_check(n >= d->length && n <= 4 * d->length && memcmp(text, bytes, n) == 0, "%zu other bytes", n);
}

static void run_text(const uint8_t *data, size_t size) {
    ulp_error error = {0};
    ulp_data loaded;
    write_file("book.txt", 0, data, size);
    const ulp_status status = ulp_data_load(&loaded, "text:5", "book.txt", 1, &error);
    fuzz_check_status(status, error.text, "a text");
    if (status != ULP_OK) return;
    fuzz_passed();
    check_text(&loaded, data);
    ulp_data_release(&loaded);
}

static void run(const uint8_t *data, size_t size) {
    ulp_error error = {0};
    ulp_data loaded;
    size_t at[5];
    if (!size) return;
    if (data[0] >> 4 == TEXT) {
        run_text(data + 1, size - 1);
        return;
    }
    const int digits = data[0] & DIGITS;
    cut(at, data, size);
    if (digits) write_file("digits.csv", data[0] & 1, data + 1, size - 1);
    else
        for (int i = 0; i < 4; i++) write_file(names[i], data[0] >> i & 1, data + at[i], at[i + 1] - at[i]);
    const ulp_status status = ulp_data_load(&loaded, digits ? "digits" : "mnist", fuzz_folder(), 1, &error);
    fuzz_check_status(status, error.text, "a data set");
    if (status == ULP_OK) {
        fuzz_passed();
        check_data(&loaded);
        ulp_data_release(&loaded);
    }
    if (strstr(error.text, "bytes of data") || strstr(error.text, "label") || strstr(error.text, "images"))
        fuzz_passed();
}

static void put32(uint8_t *at, size_t n) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(n >> (24 - 8 * i));
}

/* Magic numbers of plain files, and counts that fit their lengths. */
static size_t repair(uint8_t *data, size_t size, size_t room) {
    size_t at[5], items = 0;
    (void)room;
    if (size < FIRST + 50) return size;
    if (data[0] >> 4 == TEXT) return size;
    data[0] &= 31;
    if (data[0] & DIGITS) return size;
    cut(at, data, size);
    for (int i = 0; i < 4; i++) {
        uint8_t *file = data + at[i];
        const size_t n = at[i + 1] - at[i], header = i % 2 ? 8 : 16;
        if (data[0] >> i & 1 || n < header) continue;
        put32(file, i % 2 ? 0x801 : 0x803);
        if (i % 2 == 0) {
            const size_t side = 1 + file[11] % 3;
            put32(file + 8, side);
            put32(file + 12, 1);
            items = (n - header) / side;
        }
        put32(file + 4, i % 2 ? n - header : items);
    }
    return size;
}

/* Two images of 2x1 pixels for training, and one for tests; by gzip with an unknown name and time. */
static const uint8_t packed_labels[] = {0x1f, 0x8b, 8,    0,    0,    0,    0,    0,    2,    3,
                                        0x63, 0x60, 0x60, 0x64, 0x60, 0x60, 0x60, 0x62, 0x60, 2,
                                        0,    0x64, 0x9a, 0x79, 0x5f, 10,   0,    0,    0};

static void seeds(void) {
    uint8_t bytes[200] = {0};
    size_t at = FIRST;
    for (int i = 0; i < 4; i++) {
        const size_t n = i < 2 ? 2 : 1, length = i % 2 ? 8 + n : 16 + 2 * n;
        put32(bytes + at, i % 2 ? 0x801 : 0x803);
        put32(bytes + at + 4, n);
        if (i % 2 == 0) put32(bytes + at + 8, 2), put32(bytes + at + 12, 1);
        for (size_t k = i % 2 ? 8 : 16; k < length; k++) bytes[at + k] = (uint8_t)(k % 9);
        if (i < 3) bytes[1 + 2 * i] = 0, bytes[2 + 2 * i] = (uint8_t)length;
        at += length;
    }
    fuzz_seed(bytes, at);
    /* the labels of the training part, packed */
    uint8_t other[240];
    const size_t first = FIRST + 20;
    memcpy(other, bytes, first);
    memcpy(other + first, packed_labels, sizeof packed_labels);
    memcpy(other + first + sizeof packed_labels, bytes + first + 10, at - first - 10);
    other[0] = 2;
    other[4] = sizeof packed_labels;
    fuzz_seed(other, at + sizeof packed_labels - 10);
    fuzz_seed("\x60"
              "t\xc3\xa9xt \xe2\x82\xac \xf0\x9f\x98\x80: a text of several characters",
              44);
    fuzz_seed("\x10"
              "0,0,5,13,9,1,0,0,0,0,13,15,10,15,5,0,0,3,15,2,0,11,8,0,0,4,12,0,0,8,8,0,0,5,8,0,0,9,8,0,0,4,11,0,1,"
              "12,7,0,0,2,14,5,10,12,0,0,0,0,6,13,10,0,0,0,0\n",
              140);
}

const fuzz_target fuzz_target_datasets = {FUZZ_BYTES("datasets", repair, 600, 1 << 18, 2 * 1033)};
