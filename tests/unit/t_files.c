/* t_files.c - .npy and .npz files in memory: arrays as they were written, and thousands of files with changed bytes. */
#include <unistd.h>

#include "test.h"

#include "tool/files/array.h"
#include "tool/files/npz_write.h"
#include "tool/tool.h"

static char folder[] = "/tmp/ulp_files_XXXXXX";

/* A file, and the arrays that it holds. */
typedef struct sample {
    unsigned char bytes[4096];
    size_t size;
    const char *name; /* of the file, with the name of an array where it holds several */
} sample;

/* w (2,3) = 1 .. 6 in binary32, deflated by zlib 1.2.13 in an archive by Python's zipfile */
static const char deflated[] =
    "\120\113\003\004\024\000\000\000\010\000\000\000\041\000\174\234\336\242\130\000\000\000\230\000\000\000\005\000"
    "\000\000\167\056\156\160\171\233\354\027\352\033\020\311\310\120\306\120\255\236\222\132\234\134\244\156\245\240"
    "\156\223\146\242\256\243\240\236\226\137\124\122\224\230\027\237\137\224\222\012\022\167\113\314\051\116\005\212"
    "\027\147\044\026\244\002\371\032\106\072\012\306\232\072\012\265\012\144\003\056\006\206\006\173\006\006\006\007"
    "\040\002\342\006\040\136\000\304\007\034\000\120\113\001\002\024\003\024\000\000\000\010\000\000\000\041\000\174"
    "\234\336\242\130\000\000\000\230\000\000\000\005\000\000\000\000\000\000\000\000\000\000\000\200\001\000\000\000"
    "\000\167\056\156\160\171\120\113\005\006\000\000\000\000\001\000\001\000\063\000\000\000\173\000\000\000\000\000";

static const float six[] = {1, 2, 3, 4, 5, 6};

static void write_array(FILE *file, int is_fortran) {
    float x[6];
    memcpy(x, six, sizeof x);
    if (is_fortran) memcpy(x, (float[]){1, 4, 2, 5, 3, 6}, sizeof x);
    npy_write_header(
        file, &(npy_array){.kind = 'f', .size = 4, .is_fortran = is_fortran, .dims = 2, .shape = {2, 3}, .count = 6});
    for (int i = 0; i < 6; i++) {
        const uint32_t bits = ulp_bits32(x[i]);
        for (int shift = 0; shift < 32; shift += 8) putc((int)(bits >> shift & 255), file);
    }
}

static void load(sample *s) {
    FILE *file = fopen("made", "rb");
    s->size = fread(s->bytes, 1, sizeof s->bytes, file);
    fclose(file);
}

static void make_npy(sample *s, int is_fortran) {
    FILE *file = fopen("made", "wb");
    write_array(file, is_fortran);
    fclose(file);
    load(s);
    s->name = "a.npy";
}

static void make_npz(sample *s) {
    npz_writer w = {.file = fopen("made", "wb+")};
    for (int i = 0; i < 3; i++) {
        npz_begin(&w, i == 1 ? "w" : i == 0 ? "layer/k" : "b");
        write_array(w.file, i == 1);
        npz_end(&w);
    }
    assert_int_equal(npz_finish(&w), 0);
    fclose(w.file);
    load(s);
    s->name = "a.npz:w";
}

static void make_deflated(sample *s) {
    s->size = sizeof deflated - 1;
    memcpy(s->bytes, deflated, s->size);
    s->name = "a.npz";
}

/* Write `size` bytes as the file of the sample, and read the array. */
static ulp_status read_back(file_array *a, const sample *s, const unsigned char *bytes, size_t size) {
    char path[32];
    snprintf(path, sizeof path, "%.5s", s->name);
    remove(path); /* some file systems write a file to the disk when it replaces its old bytes */
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    ulp_error error;
    ulp_error_clear(&error);
    const ulp_status status = file_array_read(a, NULL, s->name, NPY_NUMBERS, NULL, &error);
    assert_true((status == ULP_OK) == (error.text[0] == '\0'));
    return status;
}

static int is_six(const file_array *a) {
    if (a->header.dims != 2 || a->header.shape[0] != 2 || a->header.shape[1] != 3) return 0;
    for (int i = 0; i < 6; i++)
        if (((const double *)a->elements)[i] != (double)six[i]) return 0;
    return 1;
}

enum { SAMPLES = 4 };

/* Fill all samples. Returns their number; without zlib there is none with compressed members. */
static size_t make_samples(sample *s) {
    make_npy(&s[0], 0);
    make_npy(&s[1], 1);
    make_npz(&s[2]);
    make_deflated(&s[3]);
    return file_inflates() ? SAMPLES : SAMPLES - 1;
}

static sample samples[SAMPLES];

TEST(arrays_are_read) {
    const size_t count = make_samples(samples);
    for (size_t i = 0; i < count; i++) {
        file_array a;
        assert_ok(read_back(&a, &samples[i], samples[i].bytes, samples[i].size));
        assert_true(is_six(&a));
        file_array_free(&a);
    }
}

TEST(compressed_members_need_zlib) {
    file_array a;
    make_deflated(&samples[3]);
    const ulp_status status = read_back(&a, &samples[3], samples[3].bytes, samples[3].size);
    assert_int_equal(status, file_inflates() ? ULP_OK : ULP_NO_DEVICE);
    file_array_free(&a);
}

/* A file that ends early is refused, wherever it ends. */
TEST(files_that_are_cut_off) {
    const size_t count = make_samples(samples);
    for (size_t i = 0; i < count; i++)
        for (size_t size = 0; size < samples[i].size; size++) {
            file_array a;
            assert_int_equal(read_back(&a, &samples[i], samples[i].bytes, size), ULP_BAD_ARGUMENT);
            file_array_free(&a);
        }
}

/* Change up to three bytes: to any value, to an end of the range, or by one bit. */
static void change(unsigned char *bytes, size_t size, uint64_t *word, ulp_stream stream) {
    const uint32_t changes = 1 + ulp_random_word(stream, (*word)++) % 3;
    for (uint32_t i = 0; i < changes; i++) {
        const uint32_t how = ulp_random_word(stream, (*word)++), value = ulp_random_word(stream, (*word)++);
        unsigned char *const at = &bytes[ulp_random_word(stream, (*word)++) % size];
        *at = (unsigned char)(how % 4 == 0 ? value : how % 4 == 1 ? 0u : how % 4 == 2 ? 255u : *at ^ 1u << value % 8);
    }
}

/* An archive with changed bytes is refused or gives the same array, because the checksum of a member covers its header
 * and its elements. A .npy file with changed bytes is refused or gives an array of its size. */
TEST(changed_bytes) {
    enum { TRIES = 2500 };
    const ulp_stream stream = {7, 1, 0};
    uint64_t word = 0;
    size_t refused = 0, taken = 0;
    const size_t count = make_samples(samples);
    for (size_t i = 0; i < count; i++)
        for (int try = 0; try < TRIES; try++) {
            unsigned char bytes[sizeof samples[i].bytes];
            file_array a;
            memcpy(bytes, samples[i].bytes, samples[i].size);
            change(bytes, samples[i].size, &word, stream);
            const ulp_status status = read_back(&a, &samples[i], bytes, samples[i].size);
            assert_true(status == ULP_OK || status == ULP_BAD_ARGUMENT);
            if (status == ULP_OK && i >= 2) assert_true(is_six(&a));
            if (status == ULP_OK) assert_true(a.header.count * a.header.size <= samples[i].size);
            taken += status == ULP_OK;
            refused += status == ULP_BAD_ARGUMENT;
            file_array_free(&a);
        }
    assert_true(refused > TRIES && taken > TRIES / 10);
}

TEST(an_index_is_named) {
    ulp_text text = {0};
    const npy_array h = {.dims = 3, .shape = {2, 3, 4}, .count = 24}, one = {.dims = 1, .shape = {9}, .count = 9};
    file_array_add_index(&text, &h, 23);
    file_array_add_index(&text, &h, 5);
    file_array_add_index(&text, &one, 8);
    assert_string_equal(ulp_text_of(&text), "(1, 2, 3)(0, 1, 1)(8,)");
    ulp_text_free(&text);
}

static int set_up(void **state) {
    (void)state;
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state) {
    static const char *const names[] = {"made", "a.npy", "a.npz"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) remove(names[i]);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

TESTS(set_up, tear_down)
