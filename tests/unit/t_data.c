/* t_data.c - reading good, truncated, foreign and packed data files; checksums, splits and histograms. */
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#if defined(ULP_WITH_ZLIB)
#include <zlib.h>
#endif

#include "base/checksum.h"
#include "base/file.h"
#include "sim/data/data.h"
#include "sim/stats.h"

static char folder[64];
static char mnist_folder[512]; /* $ULPLAB_DATA, or a folder beside the tree */
static ulp_error error;

static int make_folder(void **state) {
    (void)state;
    const char *given = getenv("ULPLAB_DATA");
    snprintf(mnist_folder, sizeof mnist_folder, "%s", given && *given ? given : "../shared/data");
    unsetenv("ULPLAB_DATA"); /* without a folder the shipped set is loaded */
    snprintf(folder, sizeof folder, "/tmp/ulplab-data-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static const char *path_of(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int remove_folder(void **state) {
    (void)state;
    static const char *const names[] = {"digits.csv",
                                        "digits.csv.gz",
                                        "train-images-idx3-ubyte",
                                        "train-labels-idx1-ubyte",
                                        "t10k-images-idx3-ubyte",
                                        "t10k-labels-idx1-ubyte",
                                        "train-images-idx3-ubyte.gz"};
    for (size_t i = 0; i < COUNT_OF(names); i++) remove(path_of(names[i]));
    return rmdir(folder);
}

static void write_file(const char *name, const unsigned char *bytes, size_t n) {
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_true(fwrite(bytes, 1, n, file) == n);
    assert_int_equal(fclose(file), 0);
}

/* ---- digits ---- */

TEST(digits) {
    ulp_data data;
    size_t count[10] = {0}, ink = 0;
    assert_ok(ulp_data_load(&data, "digits", NULL, 1, &error));
    assert_true(data.n == 1797 && data.n_train == 1437 && data.features == 64 && data.classes == 10 &&
                data.white == 16);
    assert_int_equal(data.checksum, 0x2ebe3bb7);
    for (size_t i = 0; i < data.n; i++) count[data.label[i]]++;
    for (size_t i = 0; i < data.n * 64; i++) ink += data.pixel[i];
    /* number of digits per class, and pixel sum, of the published file */
    static const size_t want[10] = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
    for (size_t c = 0; c < 10; c++) assert_int_equal(count[c], want[c]);
    assert_int_equal(ink, 561718);
    ulp_data_release(&data);
}

TEST(split_follows_seed) {
    ulp_data a, b, c;
    assert_ok(ulp_data_load(&a, "digits", NULL, 1, &error));
    assert_ok(ulp_data_load(&b, "digits", "", 1, &error));
    assert_ok(ulp_data_load(&c, "digits", NULL, 2, &error));
    assert_memory_equal(a.pixel, b.pixel, a.n * a.features);
    assert_memory_equal(a.label, b.label, a.n);
    assert_true(memcmp(a.label, c.label, a.n) != 0);
    ulp_data_release(&a);
    ulp_data_release(&b);
    ulp_data_release(&c);
}

TEST(permutation) {
    enum { N = 1000 };
    uint32_t order[N], seen[N] = {0};
    size_t moved = 0;
    ulp_permutation(order, N, (ulp_stream){1, 1, 0});
    for (size_t i = 0; i < N; i++) {
        assert_true(order[i] < N);
        seen[order[i]]++;
        moved += order[i] != i;
    }
    for (size_t i = 0; i < N; i++) assert_int_equal(seen[i], 1);
    assert_true(moved > N - 10);
    ulp_permutation(order, 0, (ulp_stream){1, 1, 0});
    /* all permutations of three occur, also those that leave an element in its place */
    size_t times[27] = {0}, kinds = 0;
    for (uint64_t stream = 0; stream < 120; stream++) {
        ulp_permutation(order, 3, (ulp_stream){1, stream, 0});
        times[9 * order[0] + 3 * order[1] + order[2]]++;
    }
    for (size_t i = 0; i < 27; i++) kinds += times[i] > 5;
    assert_int_equal(kinds, 6);
}

/* A given folder has to hold the set; no other folder is read. $ULPLAB_DATA is only the first folder of a search. */
TEST(folder_counts) {
    ulp_data a, b;
    assert_int_equal(ulp_data_load(&a, "digits", folder, 1, &error), ULP_NO_DEVICE);
    assert_true(a.pixel == NULL && strstr(error.text, "no digits.csv") && strstr(error.text, folder) &&
                !strstr(error.text, "no such folder"));
    assert_int_equal(ulp_data_load(&a, "digits", path_of("none"), 1, &error), ULP_NO_DEVICE);
    assert_true(strstr(error.text, path_of("none")) && strstr(error.text, "no such folder"));
    assert_int_equal(ulp_data_load(&a, "mnist", folder, 1, &error), ULP_NO_DEVICE);
    assert_true(strstr(error.text, folder) && strstr(error.text, "train-images-idx3-ubyte") &&
                strstr(error.text, "t10k-labels-idx1-ubyte"));
    assert_ok(ulp_data_load(&a, "digits", NULL, 1, &error));
    setenv("ULPLAB_DATA", folder, 1);
    assert_ok(ulp_data_load(&b, "digits", NULL, 1, &error));
    assert_true(a.checksum == b.checksum && strcmp(a.name, b.name) == 0 && strcmp(a.origin, b.origin) == 0);
    ulp_data_release(&b);
    assert_int_equal(ulp_data_load(&b, "mnist", NULL, 1, &error), ULP_NO_DEVICE);
    assert_non_null(strstr(error.text, folder));
    write_file("digits.csv", (const unsigned char *)"0,0\n", 4); /* the file exists, so it is read */
    assert_int_equal(ulp_data_load(&b, "digits", NULL, 1, &error), ULP_BAD_FILE);
    assert_non_null(strstr(error.text, folder));
    unsetenv("ULPLAB_DATA");
    remove(path_of("digits.csv"));
    ulp_data_release(&a);
}

/* The shipped file with one changed digit is foreign; a shorter file is truncated. */
TEST(digits_damaged) {
    ulp_data data;
    unsigned char *text;
    size_t n;
    assert_ok(ulp_data_load(&data, "digits", NULL, 1, &error));
    char origin[sizeof data.origin];
    snprintf(origin, sizeof origin, "%s", data.origin);
    ulp_data_release(&data);
    assert_ok(ulp_file_read(&text, &n, origin, 1 << 22, &error));
    assert_int_equal(text[0], '0');
    text[0] = '1';
    write_file("digits.csv", text, n);
    assert_int_equal(ulp_data_load(&data, "digits", folder, 1, &error), ULP_BAD_FILE);
    assert_non_null(strstr(error.text, "CRC-32"));
    assert_null(data.pixel);
    write_file("digits.csv", text, n / 2);
    assert_int_equal(ulp_data_load(&data, "digits", folder, 1, &error), ULP_BAD_FILE);
    assert_non_null(strstr(error.text, "truncated: it ends after "));
    text[0] = 'x';
    write_file("digits.csv", text, n);
    assert_int_equal(ulp_data_load(&data, "digits", folder, 1, &error), ULP_BAD_FILE);
    assert_non_null(strstr(error.text, "line 1 "));
    free(text);
    remove(path_of("digits.csv"));
}

TEST(unknown_set) {
    ulp_data data;
    assert_int_equal(ulp_data_load(&data, "cifar", NULL, 1, &error), ULP_BAD_NAME);
    assert_non_null(strstr(error.text, "'cifar'"));
    assert_non_null(strstr(error.text, "digits, mnist"));
    static const char *const bad[][2] = {{"digits:8", "digits takes no length"},
                                         {"text:", "a whole number from 1 to 4096"},
                                         {"text:0", "a whole number from 1 to 4096"},
                                         {"text:4097", "'text:4097'"},
                                         {"text:+3", "'text:+3'"},
                                         {"text:8x", "'text:8x'"},
                                         {"texts:8", "no data set 'texts:8'"},
                                         {"tex", "no data set 'tex'"}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(ulp_data_load(&data, bad[i][0], NULL, 1, &error), ULP_BAD_NAME);
        if (!strstr(error.text, bad[i][1])) fail_msg("%s: %s", bad[i][0], error.text);
    }
    assert_int_equal(ulp_data_load(&data, "cifar", NULL, 1, NULL), ULP_BAD_NAME);
    assert_int_equal(ulp_data_load(&data, "mnist", NULL, 1, &error), ULP_NO_DEVICE);
    assert_non_null(strstr(error.text, "does not ship"));
}

/* ---- IDX ---- */

enum { SIDE = 3, TRAIN = 5, HELD = 2 };

static size_t header(unsigned char *to, uint32_t magic, uint32_t n) {
    uint32_t words[4] = {magic, n, SIDE, SIDE};
    size_t count = magic == 0x803 ? 4 : 2;
    for (size_t i = 0; i < 4 * count; i++) to[i] = (unsigned char)(words[i / 4] >> (24 - 8 * (i % 4)));
    return 4 * count;
}

/* Write four small files with these magic numbers and counts. */
static void write_set(uint32_t magic, uint32_t images, uint32_t labels, int missing_bytes, unsigned char label) {
    unsigned char bytes[256] = {0};
    for (uint32_t part = 0; part < 2; part++) {
        uint32_t n = part ? HELD : images;
        size_t at = header(bytes, part ? 0x803 : magic, n);
        for (size_t i = 0; i < n * SIDE * SIDE; i++) bytes[at + i] = (unsigned char)(i + 100 * part);
        size_t size = at + (size_t)n * SIDE * SIDE;
        write_file(part ? "t10k-images-idx3-ubyte" : "train-images-idx3-ubyte", bytes,
                   part ? size : size - (size_t)missing_bytes);
        n = part ? HELD : labels;
        at = header(bytes, 0x801, n);
        for (size_t i = 0; i < n; i++) bytes[at + i] = label;
        write_file(part ? "t10k-labels-idx1-ubyte" : "train-labels-idx1-ubyte", bytes, at + n);
    }
}

TEST(idx_good) {
    ulp_data data;
    write_set(0x803, TRAIN, TRAIN, 0, 9);
    assert_ok(ulp_data_load(&data, "mnist", folder, 1, &error));
    assert_true(data.n == TRAIN + HELD && data.n_train == TRAIN && data.features == 9 && data.dims.h == SIDE &&
                data.dims.w == SIDE);
    assert_int_equal(data.pixel[10], 10);
    assert_int_equal(data.pixel[TRAIN * 9 + 1], 101);
    assert_int_equal(data.label[TRAIN], 9);
    ulp_data_release(&data);
}

static void expect_bad(const char *sentence) {
    ulp_data data;
    assert_int_equal(ulp_data_load(&data, "mnist", folder, 1, &error), ULP_BAD_FILE);
    if (!strstr(error.text, sentence)) fail_msg("'%s' does not say '%s'", error.text, sentence);
    assert_null(data.pixel);
    assert_null(data.label);
}

TEST(idx_bad) {
    write_set(0x803, TRAIN, TRAIN, 1, 9);
    expect_bad("truncated");
    write_set(0x803, TRAIN, TRAIN, -1, 9);
    expect_bad("too long");
    write_set(0x803, TRAIN, TRAIN, 16 + TRAIN * SIDE * SIDE - 3, 9);
    expect_bad("shorter than its header");
    write_set(0x804, TRAIN, TRAIN, 0, 9);
    expect_bad("magic number");
    write_set(0x803, 0, TRAIN, 0, 9);
    expect_bad("0 items");
    write_set(0x803, TRAIN, TRAIN - 1, 0, 9);
    expect_bad("4 labels");
    write_set(0x803, TRAIN, TRAIN, 0, 10);
    expect_bad("must be 0..9");
    write_file("train-images-idx3-ubyte", (const unsigned char *)"hello, this is a text", 21);
    expect_bad("magic number");
    ulp_data data;
    remove(path_of("train-images-idx3-ubyte"));
    assert_int_equal(ulp_data_load(&data, "mnist", folder, 1, &error), ULP_NO_DEVICE);
    assert_non_null(strstr(error.text, "no train-images-idx3-ubyte"));
}

TEST(idx_packed) {
#if defined(ULP_WITH_ZLIB)
    ulp_data data;
    unsigned char bytes[256];
    write_set(0x803, TRAIN, TRAIN, 0, 3);
    FILE *file = fopen(path_of("train-images-idx3-ubyte"), "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    remove(path_of("train-images-idx3-ubyte"));
    gzFile packed = gzopen(path_of("train-images-idx3-ubyte.gz"), "wb");
    assert_int_equal(gzwrite(packed, bytes, (unsigned)n), (int)n);
    gzclose(packed);
    assert_ok(ulp_data_load(&data, "mnist", folder, 1, &error));
    assert_int_equal(data.pixel[10], 10);
    ulp_data_release(&data);
    /* half of the packed file */
    file = fopen(path_of("train-images-idx3-ubyte.gz"), "rb");
    assert_non_null(file);
    n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    write_file("train-images-idx3-ubyte.gz", bytes, n - 12);
    expect_bad("truncated");
    remove(path_of("train-images-idx3-ubyte.gz"));
#else
    skip();
#endif
}

TEST(mnist) {
    ulp_data data;
    ulp_status status = ulp_data_load(&data, "mnist", mnist_folder, 1, &error);
    if (status == ULP_NO_DEVICE) skip();
    assert_ok(status);
    assert_true(data.n == 70000 && data.n_train == 60000 && data.features == 784);
    /* the first labels of the published set: 5 0 4 1 9 and 7 2 1 0 4 */
    assert_memory_equal(data.label, "\5\0\4\1\11", 5);
    assert_memory_equal(data.label + 60000, "\7\2\1\0\4", 5);
    ulp_data_release(&data);
}

/* ---- files, checksums and permutations ---- */

TEST(crc) {
    assert_int_equal(ulp_crc32(0, (const unsigned char *)"123456789", 9), 0xcbf43926);
    assert_int_equal(ulp_crc32(ulp_crc32(0, (const unsigned char *)"1234", 4), (const unsigned char *)"56789", 5),
                     0xcbf43926);
}

TEST(file_errors) {
    unsigned char *bytes;
    size_t n;
    assert_int_equal(ulp_file_read(&bytes, &n, path_of("nothing"), 10, &error), ULP_BAD_FILE);
    assert_non_null(strstr(error.text, "cannot be opened"));
    write_file("digits.csv", (const unsigned char *)"0123456789", 10);
    assert_int_equal(ulp_file_read(&bytes, &n, path_of("digits.csv"), 9, &error), ULP_BAD_FILE);
    assert_null(bytes);
    assert_ok(ulp_file_read(&bytes, &n, path_of("digits.csv"), 10, &error));
    assert_int_equal(n, 10);
    assert_int_equal(bytes[10], 0);
    free(bytes);
    remove(path_of("digits.csv"));
}

/* ---- magnitudes ---- */

TEST(histogram) {
    static const float x[] = {0.0f,        -0.0f,     1.0f,     -1.5f,     2.0f, 0x1p-149f,
                              0x1.8p-149f, 0x1p-126f, INFINITY, -INFINITY, NAN,  0x1.fffffep127f};
    ulp_histogram h, g;
    ulp_histogram_clear(&h);
    assert_true(h.min > h.max && ulp_histogram_mean(&h) == 0.0);
    ulp_histogram_add(&h, x, 4);
    assert_true(h.min == -1.5 && h.max == 1.0 && ulp_histogram_mean(&h) == -0.125);
    ulp_histogram_clear(&g);
    ulp_histogram_add(&g, x + 4, COUNT_OF(x) - 4);
    ulp_histogram_merge(&h, &g);
    assert_true(h.count == 12 && h.zero == 2 && h.inf == 2 && h.nan == 1);
    assert_int_equal(h.bin[0 - ULP_BIN_MIN], 2);
    assert_int_equal(h.bin[1 - ULP_BIN_MIN], 1);
    assert_int_equal(h.bin[-149 - ULP_BIN_MIN], 1);
    assert_int_equal(h.bin[-148 - ULP_BIN_MIN], 1); /* 1.5 2^-149 rounds to nearest even: 2^-148 */
    assert_int_equal(h.bin[-126 - ULP_BIN_MIN], 1);
    assert_int_equal(h.bin[127 - ULP_BIN_MIN], 1);
    assert_int_equal(ulp_histogram_below(&h, 0), 3);
    assert_int_equal(ulp_histogram_from(&h, 0), 4);
    assert_int_equal(ulp_histogram_from(&h, 128), 0);
    assert_int_equal(ulp_histogram_below(&h, 128), 7);
    ulp_histogram_merge(&g, &h); /* counts of both, also where both are not zero */
    assert_true(g.count == 20 && g.zero == 2 && g.inf == 4 && g.nan == 2);
}

TESTS(make_folder, remove_folder)
