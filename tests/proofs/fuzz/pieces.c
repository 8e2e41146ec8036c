/* pieces.c - files of finished pieces, of stopped runs, of shards and of ulp verify: what is read is written again. */
#include "experiments/harness/table/pieces.h"
#include "tool/journal.h"
#include "tests/proofs/fuzz/support/fuzz.h"

static const char head[] = "# experiment: fuzz\n# seed: 1\n";
static const char journal_head[] =
    "# journal of ulp verify: format mode overflow bits inputs exhaustive seed kernels piece\n";

/* The first byte says which reader gets the file, and whether the input is the whole file or what follows its head. */
enum { FORGIVING = 1, JOURNAL = 2, WHOLE = 4 };

typedef struct taken {
    ulp_text file; /* the pieces, written again */
    size_t count;
    FILE *to;
} taken;

static int knows(void *own, size_t index, const char *label) {
    (void)own;
    return index < 1000 && *label;
}

static ulp_status take(void *own, const ulp_piece *piece, ulp_error *error) {
    taken *t = own;
    size_t lines = 0;
    for (size_t i = 0; i < piece->length; i++) lines += piece->lines[i] == '\n';
    fuzz_check(lines == piece->count && (piece->length == 0 || piece->lines[piece->length - 1] == '\n'),
               "piece %zu: %zu lines, not %zu", piece->index, lines, piece->count);
    if (t->to) ulp_piece_write(t->to, piece);
    t->count++;
    (void)error;
    return ULP_OK;
}

static int read_pieces(const char *path, int forgiving, taken *t) {
    FILE *file = fopen(path, "r");
    if (!file) abort();
    const ulp_piece_reader reader = {.program = "fuzz",
                                     .path = "FILE",
                                     .file = file,
                                     .head = head,
                                     .forgiving = forgiving,
                                     .own = t,
                                     .knows = knows,
                                     .take = take};
    ulp_error error;
    const ulp_status status = ulp_pieces_read(&reader, &error);
    fclose(file);
    return status == ULP_OK ? -1 : ulp_complain_of("fuzz", &error);
}

static void check_pieces(const char *path, int forgiving) {
    char *written = NULL;
    size_t size = 0;
    taken first = {.to = open_memstream(&written, &size)}, second = {.to = NULL};
    if (!first.to) abort();
    fputs(head, first.to);
    ulp_pieces_begin(first.to);
    const int status = read_pieces(path, forgiving, &first);
    fclose(first.to);
    if (status >= 0) fuzz_check_exit(status, "a file of pieces");
    if (status < 0) {
        fuzz_passed();
        const char *again = fuzz_file(1, (const uint8_t *)written, size);
        fuzz_check(read_pieces(again, 0, &second) < 0 && second.count == first.count,
                   "of %zu pieces %zu are read again: %s", first.count, second.count, fuzz_take_output().error);
    }
    free(written);
}

/* The journal keeps what it had; a file that is refused stays as it is. */
static void check_journal(const uint8_t *data, size_t size) {
    journal *j = NULL;
    FILE *file = fopen("journal", "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
    ulp_error error;
    ulp_error_clear(&error);
    const ulp_status status = journal_open(&j, "fuzz", "journal", &error);
    if (status != ULP_OK) {
        uint8_t *bytes = ulp_grow(NULL, size + 1);
        fuzz_check_status(status, error.text, "a journal");
        fuzz_check(fuzz_read("journal", bytes, size + 1) == size && (size == 0 || memcmp(bytes, data, size) == 0),
                   "a journal that is refused has changed");
        free(bytes);
        return;
    }
    fuzz_passed();
    const char *found = journal_find(j, "binary16 rne inf 32 100 0 1 0");
    char *had = found ? ulp_copy_text(found) : NULL;
    journal_keep(j, "kept", "7 123456789abcdef0");
    fuzz_check(journal_close(j, &error) == ULP_OK, "the journal cannot be closed");
    fuzz_check(journal_open(&j, "fuzz", "journal", &error) == ULP_OK, "the journal cannot be opened again: %s",
               error.text);
    const char *again = journal_find(j, "binary16 rne inf 32 100 0 1 0"), *kept = journal_find(j, "kept");
    fuzz_check(!had || (again && strcmp(again, had) == 0), "the journal has lost a piece");
    fuzz_check(kept != NULL, "the journal has not kept a piece");
    free(had);
    journal_close(j, NULL);
}

static void run(const uint8_t *data, size_t size) {
    const int kind = size ? data[0] : 0;
    ulp_text file = {0};
    if (!(kind & WHOLE)) {
        ulp_text_print(&file, "%s# build: %s\n", kind & JOURNAL ? journal_head : head, ulp_build_id());
    }
    if (size) ulp_text_add(&file, (const char *)data + 1, size - 1);
    const uint8_t *bytes = (const uint8_t *)ulp_text_of(&file);
    if (kind & JOURNAL) check_journal(bytes, file.length);
    else check_pieces(fuzz_file(0, bytes, file.length), kind & FORGIVING);
    ulp_text_free(&file);
}

static size_t repair(uint8_t *data, size_t size, size_t room) {
    if (size < 2) return size;
    data[0] &= (uint8_t)~WHOLE;
    return 1 + fuzz_repair_pieces(data + 1, size - 1, room - 1);
}

static void seeds(void) {
    static const char two[] =
        "# piece 0: binary16 rne\na,1,2\nb,3,4\n# end 0: 0 crc32 0\n# piece 5: e4m3 rz\n# end 5: 0\n";
    static const char results[] =
        "# piece 0: binary16 rne inf 32 100 0 1 0\n0 0123456789abcdef\n# end 0: 1 crc32 0\n"
        "# piece 1: e4m3 rz sat 32 100 0 1 0\n18446744073709551615 ffffffffffffffff\n# end 1\n";
    fuzz_seed_pieces(0, two);
    fuzz_seed_pieces(FORGIVING, two);
    fuzz_seed_pieces(JOURNAL, results);
    fuzz_seed_pieces(
        FORGIVING, "# piece 3: a\n1\n# end 3: 1\n# piece 3: a\n1\n# end 3: 1\nrubbish\n# piece 4: b\r\nx\r\n# end 4\n");
    fuzz_seed_pieces(WHOLE, "\xef\xbb\xbf# experiment: fuzz\r\n# seed: 1\n# shard: 0/2\n# build: 01234567\n");
    fuzz_seed_pieces(WHOLE | JOURNAL, "# journal of ulp verify");
}

const fuzz_target fuzz_target_pieces = {FUZZ_BYTES("pieces", repair, 1000, 1 << 14, 8)};
