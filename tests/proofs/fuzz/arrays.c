/* arrays.c - .npy and .npz files: an array that is read is written as an array that is read as the same. */
#include "experiments/harness/cli/options.h"
#include "tool/files/array.h"
#include "tool/files/npz_write.h"
#include "tests/proofs/fuzz/support/fuzz.h"

/* Bits of the first byte: 1 codes of blocks, else numbers; 2 an archive, else a .npy file; 4 codes of e4m3 for numbers.
 */
enum { BLOCK_CODES = 1, ARCHIVE = 2, CODES = 4 };

static ulp_status read_array(file_array *a, const char *path, int kind, ulp_error *error) {
    const npy_wanted wanted = kind & BLOCK_CODES ? NPY_BYTES : NPY_NUMBERS;
    const ulp_format *const codes = kind & CODES && wanted == NPY_NUMBERS ? &ulp_e4m3 : NULL;
    return kind & ARCHIVE ? file_array_read_npz(a, "fuzz", path, wanted, codes, error)
                          : file_array_read_npy(a, "fuzz", path, wanted, codes, error);
}

static size_t bytes_of(const file_array *a, int kind) { return (size_t)a->header.count * (kind & BLOCK_CODES ? 1 : 8); }

static void check_again(file_array *a, int kind) {
    char *written = NULL;
    size_t size = 0;
    file_array again;
    ulp_error error;
    ulp_error_clear(&error);
    FILE *to = open_memstream(&written, &size);
    npy_array h = a->header;
    if (!to) abort();
    if (!(kind & BLOCK_CODES)) {
        h.kind = 'f';
        h.size = 8;
    }
    npy_write_header(to, &h);
    fwrite(a->elements, 1, bytes_of(a, kind), to);
    fclose(to);
    fuzz_check(read_array(&again, fuzz_file(1, (const uint8_t *)written, size), kind & BLOCK_CODES, &error) == ULP_OK,
               "an array that was written is refused: %s", error.text);
    fuzz_check(again.header.count == h.count && again.header.dims == h.dims &&
                   memcmp(again.header.shape, h.shape, sizeof h.shape) == 0,
               "an array that was written has another shape");
    fuzz_check(memcmp(again.elements, a->elements, bytes_of(a, kind)) == 0,
               "an array that was written has other elements");
    file_array_free(&again);
    free(written);
}

static void run(const uint8_t *data, size_t size) {
    file_array a;
    ulp_text shape = {0};
    if (!size) return;
    const int kind = data[0] & 7;
    const char *path = fuzz_file(0, data + 1, size - 1);
    ulp_error error;
    ulp_error_clear(&error);
    const ulp_status status = read_array(&a, path, kind, &error);
    if (status == ULP_OK) {
        fuzz_passed();
        fuzz_check(a.header.count <= 1033 * size, "%llu elements in %zu bytes", (unsigned long long)a.header.count,
                   size);
        file_array_add_shape(&shape, &a.header);
        if (a.header.count) file_array_add_index(&shape, &a.header, a.header.count - 1);
        fuzz_check(shape.length > 1, "no shape");
        check_again(&a, kind);
    } else {
        const char *message = error.text;
        fuzz_check_status(status, message, "an array");
        if (strstr(message, "header of the .npy") || strstr(message, "member") || strstr(message, "the archive h"))
            fuzz_passed();
    }
    file_array_free(&a);
    ulp_text_free(&shape);
}

static size_t repair(uint8_t *data, size_t size, size_t room) {
    if (size < 32) return size;
    data[0] &= 3;
    return data[0] & 2 ? 1 + fuzz_repair_npz(data + 1, size - 1) : 1 + fuzz_repair_npy(data + 1, size - 1, room - 1);
}

/* ---- valid files ---- */

static void write_array(FILE *to, char kind, size_t size, int is_fortran, size_t rows, size_t columns) {
    const npy_array h = {.kind = kind,
                         .size = size,
                         .is_fortran = is_fortran,
                         .dims = columns ? 2 : 1,
                         .shape = {rows, columns},
                         .count = columns ? rows * columns : rows};
    npy_write_header(to, &h);
    for (size_t i = 0; i < h.count * size; i++) putc((int)(i % size == size - 1 ? 0x3c + i / size % 4 : i & 255), to);
}

static void seed_stream(int kind, FILE *to, char **text, size_t *size) {
    uint8_t bytes[4096] = {(uint8_t)kind};
    fclose(to);
    if (*size < sizeof bytes) memcpy(bytes + 1, *text, *size);
    fuzz_seed(bytes, *size + 1);
    free(*text);
}

/* w (2,3) = 1 .. 6 in binary32, deflated by zlib 1.2.13 in an archive by Python's zipfile */
static const char deflated[] =
    "\2\120\113\003\004\024\000\000\000\010\000\000\000\041\000\174\234\336\242\130\000\000\000\230\000\000\000\005\000"
    "\000\000\167\056\156\160\171\233\354\027\352\033\020\311\310\120\306\120\255\236\222\132\234\134\244\156\245\240"
    "\156\223\146\242\256\243\240\236\226\137\124\122\224\230\027\237\137\224\222\012\022\167\113\314\051\116\005\212"
    "\027\147\044\026\244\002\371\032\106\072\012\306\232\072\012\265\012\144\003\056\006\206\006\173\006\006\006\007"
    "\040\002\342\006\040\136\000\304\007\034\000\120\113\001\002\024\003\024\000\000\000\010\000\000\000\041\000\174"
    "\234\336\242\130\000\000\000\230\000\000\000\005\000\000\000\000\000\000\000\000\000\000\000\200\001\000\000\000"
    "\000\167\056\156\160\171\120\113\005\006\000\000\000\000\001\000\001\000\063\000\000\000\173\000\000\000\000\000";

static void seeds(void) {
    static const struct {
        char kind;
        size_t size;
        int is_fortran;
        size_t rows, columns;
    } shapes[] = {{'f', 2, 0, 3, 0}, {'f', 4, 1, 2, 3}, {'f', 8, 0, 2, 2}, {'u', 1, 0, 5, 0}, {'f', 4, 0, 0, 0}};
    char *text;
    size_t size;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        FILE *to = open_memstream(&text, &size);
        write_array(to, shapes[i].kind, shapes[i].size, shapes[i].is_fortran, shapes[i].rows, shapes[i].columns);
        seed_stream(shapes[i].kind == 'u', to, &text, &size);
    }
    for (int n = 1; n <= 2; n++) {
        FILE *to = fopen("seed.npz.tmp", "w+b");
        npz_writer w = {.file = to};
        uint8_t bytes[4096] = {2};
        for (int i = 0; i < n; i++) {
            npz_begin(&w, i ? "b/c" : "a");
            write_array(to, 'f', 4, 0, 2, 2);
            npz_end(&w);
        }
        npz_finish(&w);
        rewind(to);
        size = fread(bytes + 1, 1, sizeof bytes - 1, to);
        fclose(to);
        fuzz_seed(bytes, size + 1);
    }
    remove("seed.npz.tmp");
    fuzz_seed(deflated, sizeof deflated - 1);
}

/* deflate makes up to 1032 bytes of one; elements are doubles */
const fuzz_target fuzz_target_arrays = {FUZZ_BYTES("arrays", repair, 2048, (1 << 20) + 64, 8 * 1033)};
