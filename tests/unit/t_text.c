/* t_text.c - texts as data sets: characters, sequences, the border between the parts, refusals. */
#include <unistd.h>

#include "test.h"

#include "sim/data/data.h"

static char folder[64];
static ulp_error error;

static int make_folder(void **state) {
    (void)state;
    unsetenv("ULPLAB_DATA"); /* without a folder the shipped set is loaded */
    snprintf(folder, sizeof folder, "/tmp/ulplab-text-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static const char *path_of(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const unsigned char *bytes, size_t n) {
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_true(fwrite(bytes, 1, n, file) == n);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *text, size_t n) { write_file("book.txt", (const unsigned char *)text, n); }

static ulp_status load_book(ulp_data *data, const char *name) {
    return ulp_data_load(data, name, path_of("book.txt"), 7, &error);
}

/* Whether each label of samples first .. end - 1 is the token after it, and sample i begins at character base + i T. */
static void check_sequences(const ulp_data *d, const uint8_t *all, size_t first, size_t end, size_t base) {
    const size_t T = d->length;
    for (size_t i = first; i < end; i++)
        for (size_t t = 0; t < T; t++) {
            assert_int_equal(d->pixel[i * T + t], all[base + (i - first) * T + t]);
            assert_int_equal(d->label[i * T + t], all[base + (i - first) * T + t + 1]);
        }
}

TEST(text_shipped) {
    ulp_data a, b;
    char line[128];
    assert_ok(ulp_data_load(&a, "text", NULL, 1, &error));
    assert_true(a.classes == 61 && a.utf8 && a.tokens && a.positions && a.white == 1 && a.length == 64);
    assert_true(a.dims.c == 1 && a.dims.h == 64 && a.dims.w == 1 && a.features == 64 && a.labels == 64);
    /* 131,072 characters; (117,964 - 1) / 64 and (13,108 - 1) / 64 sequences */
    assert_true(a.n_train == 1843 && a.n == 1843 + 204);
    assert_string_equal(a.name, "text");
    assert_true(a.character[0] == '\n' && a.character[1] == ' ' && a.character[60] == 'z');
    assert_int_equal(ulp_data_print(line, sizeof line, &a, a.pixel, 64), 64);
    assert_string_equal(line, "First Citizen:\nBefore we proceed any further, hear me speak.\n\nAl");
    assert_int_equal(ulp_data_print(line, 6, &a, a.label, 64), 64);
    assert_string_equal(line, "irst ");
    assert_ok(ulp_data_load(&b, "text:32", NULL, 2, &error)); /* the seed changes nothing */
    assert_string_equal(b.name, "text:32");
    assert_true(b.n_train == 3686 && b.n == 3686 + 409 && b.features == 32);
    assert_memory_equal(a.pixel, b.pixel, 1843 * 64);
    ulp_data_release(&a);
    ulp_data_release(&b);
}

/* 3 characters of 1, 2, 3 and 4 bytes: tokens have the order of the code points. */
TEST(text_utf8) {
    static const char *const characters[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    static const uint32_t codes[] = {'a', 0xe9, 0x20ac, 0x1f600};
    enum { N = 100 };
    char text[4 * N + 1] = "", back[64], want[64] = "";
    uint8_t all[N];
    ulp_data d;
    for (size_t i = 0; i < N; i++) {
        all[i] = (uint8_t)((i + i / 5) % 4);
        strcat(text, characters[all[i]]);
        if (i < 8) strcat(want, characters[all[i]]);
    }
    write_text(text, strlen(text));
    if (load_book(&d, "text:8") != ULP_OK) fail_msg("%s", error.text);
    assert_true(d.classes == 4 && d.utf8 && d.n_train == 89 / 8 && d.n == 89 / 8 + 9 / 8);
    assert_memory_equal(d.character, codes, sizeof codes);
    check_sequences(&d, all, 0, d.n_train, 0);
    check_sequences(&d, all, d.n_train, d.n, 90);
    assert_int_equal(ulp_data_print(back, sizeof back, &d, d.pixel, 8), strlen(want));
    uint8_t token[64];
    size_t n;
    assert_ok(ulp_data_read(token, &n, &d, back, &error));
    assert_int_equal(n, 8);
    assert_memory_equal(token, d.pixel, 8);
    assert_int_equal(ulp_data_read(token, &n, &d, "z", &error), ULP_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "has no character 'z'"));
    assert_int_equal(ulp_data_read(token, &n, &d, "\xff", &error), ULP_BAD_ARGUMENT);
    assert_string_equal(back, want);
    ulp_data_release(&d);
    strcat(text, "\xc3"); /* half a character: bytes, and no code points */
    write_text(text, strlen(text));
    assert_ok(load_book(&d, "text:8"));
    assert_true(!d.utf8 && d.classes == 10 && d.character[0] == 'a' && d.character[9] == 0xf0);
    ulp_data_release(&d);
    static const char *const not_utf8[] = {"\xc0\x80",         "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                           "\xf5\x80\x80\x80", "\x80",         "\xe2\x82z"};
    for (size_t i = 0; i < COUNT_OF(not_utf8); i++) {
        char bytes[32];
        snprintf(bytes, sizeof bytes, "abcdef%s", not_utf8[i]);
        write_text(bytes, strlen(bytes));
        assert_ok(load_book(&d, "text:2"));
        if (d.utf8) fail_msg("text %zu is not UTF-8", i);
        ulp_data_release(&d);
    }
    write_text("ab\0cd\0efg", 9); /* zeros are characters */
    assert_ok(load_book(&d, "text:2"));
    assert_true(d.utf8 && d.classes == 8 && d.character[0] == 0 && d.n_train == 3 && d.n == 3);
    ulp_data_release(&d);
    remove(path_of("book.txt"));
}

static void expect_bad_text(const char *name, const char *sentence) {
    ulp_data d;
    assert_int_equal(load_book(&d, name), ULP_BAD_FILE);
    if (!strstr(error.text, sentence)) fail_msg("'%s' does not say '%s'", error.text, sentence);
    assert_true(d.pixel == NULL && d.label == NULL && d.character == NULL);
}

TEST(text_bad) {
    unsigned char bytes[700];
    char text[800] = "";
    ulp_data d;
    write_text("", 0);
    expect_bad_text("text:8", "a text of 0 characters; sequences of 8 characters need at least 10");
    write_text("123456789", 9);
    expect_bad_text("text:8", "a text of 9 characters");
    write_text("1234567890", 10); /* one sequence for training */
    assert_ok(load_book(&d, "text:8"));
    assert_true(d.n_train == 1 && d.n == 1 && d.pixel[7] == 8 && d.label[7] == 9);
    ulp_data_release(&d);
    for (size_t i = 0; i < 256; i++) bytes[i] = (unsigned char)(255 - i); /* 256 different bytes are the most */
    write_file("book.txt", bytes, 256);
    assert_ok(load_book(&d, "text:8"));
    assert_true(d.classes == 256 && d.pixel[0] == 255 && d.label[0] == 254);
    ulp_data_release(&d);
    for (size_t i = 0; i < 257; i++)
        snprintf(text + strlen(text), 4, "%c%c", (int)(0xc4 + i / 64), (int)(0x80 + i % 64));
    write_text(text, strlen(text));
    expect_bad_text("text:8", "more than 256 different characters, the most that a text may have");
    remove(path_of("book.txt"));
    assert_int_equal(load_book(&d, "text"), ULP_NO_DEVICE);
    assert_non_null(strstr(error.text, "no such file"));
    assert_int_equal(ulp_data_load(&d, "text", folder, 1, &error), ULP_NO_DEVICE);
    assert_non_null(strstr(error.text, "is a folder without text.txt"));
    write_file("text.txt", (const unsigned char *)"another text, not the one that ships", 36);
    assert_int_equal(ulp_data_load(&d, "text", folder, 1, &error), ULP_BAD_FILE);
    assert_non_null(strstr(error.text, "CRC-32"));
    assert_ok(ulp_data_load(&d, "text:3", path_of("text.txt"), 1, &error));
    ulp_data_release(&d);
    remove(path_of("text.txt"));
}

TESTS(make_folder, remove_folder)
