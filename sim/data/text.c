/* text.c - sequences of characters of a text, each with the next characters as its labels.
 *
 * The text that ships is the beginning of Shakespeare's plays (experiments/data/README.md). The path of any other file
 * takes the place of a folder. Tokens are the different characters of the whole text, numbered in the order of their
 * codes: code points if the file is valid UTF-8, else bytes.
 *
 * The first nine tenths of the characters are for training, but at least T + 1 characters; the others are held out. In
 * both parts a sequence begins at every multiple of T, counted from the start of the part, and has T characters; its
 * labels are these characters moved by one. So an epoch has each character of the part once as a label, but for its
 * first one and up to T at its end, and no sequence crosses the border. A text of fewer than about 10 (T + 1)
 * characters holds out no sequence. The seed does not change the samples.
 */
#include "base/checksum.h"
#include "base/file.h"
#include "sim/data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODES = 0x110000, TOKENS_MAX = 256, FILE_LIMIT = 1 << 30 };
#define CHECKSUM 0xcf950d16u

static const char *const names[] = {"text.txt", "text.txt.gz", "text/text.txt", "text/text.txt.gz", NULL};

/* ---- characters ---- */

/* The bytes of a file. */
typedef struct text {
    const unsigned char *byte; /* (n), with a zero after them */
    size_t n, characters;
    int utf8;
} text;

/* Read the code point at *at, and move *at after it. Returns 0 if the bytes are not UTF-8 (RFC 3629). A zero follows
 * the text, and no byte of a sequence is zero. */
static int read_point(const unsigned char **at, uint32_t *code) {
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *p = *at;
    const unsigned more = *p < 0x80 ? 0 : *p >> 5 == 6 ? 1 : *p >> 4 == 14 ? 2 : *p >> 3 == 30 ? 3 : 4;
    if (more == 4) return 0;
    uint32_t c = more ? *p & (0x3fu >> more) : *p;
    for (unsigned i = 1; i <= more; i++) {
        if (p[i] >> 6 != 2) return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    *at = p + more + 1;
    *code = c;
    return c >= least[more] && c < CODES && c >> 11 != 0x1b; /* the last: surrogates */
}

/* The next character of a text whose kind is known. */
static uint32_t next(const text *t, const unsigned char **at) {
    uint32_t code = 0;
    if (t->utf8) read_point(at, &code);
    else code = *(*at)++;
    return code;
}

static void find_kind(text *t) {
    const unsigned char *at = t->byte;
    uint32_t code;
    t->utf8 = 1;
    while (at < t->byte + t->n && t->utf8) t->utf8 = read_point(&at, &code);
}

/* The number of codes below `code` among n codes in their order: its token, if it is one of them. */
static size_t token_of(const uint32_t *codes, size_t n, uint32_t code) {
    size_t first = 0;
    while (n > 0) {
        const size_t half = n / 2;
        const int above = codes[first + half] < code;
        first += above ? half + 1 : 0;
        n = above ? n - half - 1 : half;
    }
    return first;
}

/* Count the characters of a text, and number their codes in order: data->character and data->classes. */
static ulp_status number_codes(text *t, ulp_data *data, ulp_error *error) {
    const unsigned char *at = t->byte;
    uint32_t *codes = data->character = malloc(TOKENS_MAX * sizeof *codes);
    size_t n = 0;
    if (!codes) return ULP_NO_MEMORY;
    for (; at < t->byte + t->n; t->characters++) {
        const uint32_t code = next(t, &at);
        const size_t k = token_of(codes, n, code);
        if (k < n && codes[k] == code) continue;
        if (n == TOKENS_MAX)
            return ulp_fail(error, ULP_BAD_FILE, "%s: more than %d different %s, the most that a text may have",
                            data->origin, TOKENS_MAX, t->utf8 ? "characters" : "bytes");
        memmove(codes + k + 1, codes + k, (n++ - k) * sizeof *codes);
        codes[k] = code;
    }
    data->classes = n;
    return ULP_OK;
}

/* ---- samples ---- */

/* Sequence i of the tokens from `first` on. */
static void put_sequence(ulp_data *data, size_t sample, const uint8_t *first, size_t i) {
    const size_t T = data->length;
    memcpy(data->pixel + sample * T, first + i * T, T);
    memcpy(data->label + sample * T, first + i * T + 1, T);
}

static ulp_status fill(ulp_data *data, const text *t) {
    const size_t T = data->length, N = t->characters, tenths = N / 10 * 9 + N % 10 * 9 / 10,
                 border = tenths > T ? tenths : T + 1;
    const unsigned char *at = t->byte;
    uint8_t *token = malloc(N);
    data->n_train = (border - 1) / T;
    data->n = data->n_train + (N > border ? (N - border - 1) / T : 0);
    data->pixel = malloc(data->n * T);
    data->label = malloc(data->n * T);
    const int good = token && data->pixel && data->label;
    for (size_t i = 0; i < N && good; i++) token[i] = (uint8_t)token_of(data->character, data->classes, next(t, &at));
    for (size_t i = 0; i < data->n && good; i++)
        put_sequence(data, i, i < data->n_train ? token : token + border, i < data->n_train ? i : i - data->n_train);
    free(token);
    return good ? ULP_OK : ULP_NO_MEMORY;
}

static ulp_status read_text(ulp_data *data, text *t, ulp_error *error) {
    const size_t T = data->length;
    find_kind(t);
    ULP_TRY(number_codes(t, data, error));
    if (t->characters < T + 2)
        return ulp_fail(error, ULP_BAD_FILE,
                        "%s: a text of %zu characters; sequences of %zu characters need at least %zu", data->origin,
                        t->characters, T, T + 2);
    data->utf8 = (uint8_t)t->utf8;
    data->dims = (ulp_dims){1, T, 1};
    data->features = data->labels = T;
    data->white = data->tokens = data->positions = 1;
    return fill(data, t);
}

/* ---- files ---- */

/* path = the file of the text. *own = 1 if it has to be the text that ships. */
static ulp_status find_file(char *path, size_t size, const char *folder, int *own, ulp_error *error) {
    *own = !folder || !*ulp_folder_note(folder);
    if (!*own) {
        snprintf(path, size, "%s", folder);
        if (strlen(folder) < size && ulp_file_exists(path)) return ULP_OK;
        return ulp_fail(error, ULP_NO_DEVICE, "%s: no such file; the set text reads any file of text", folder);
    }
    if (folder ? ulp_data_find_in(path, size, folder, names) : ulp_data_find_shipped(path, size, names)) return ULP_OK;
    if (folder)
        return ulp_fail(error, ULP_NO_DEVICE,
                        "%s is a folder without text.txt; the set text reads a file: give the path of the file",
                        folder);
    return ulp_fail(error, ULP_NO_DEVICE,
                    "no text.txt in experiments/data or share/ulplab, here, beside the program or above: name a file "
                    "of text by --data");
}

extern const ulp_data_kind ulp_data_text;

static ulp_status load(ulp_data *data, const char *folder, uint64_t seed, ulp_error *error) {
    char path[ULP_DATA_PATH];
    unsigned char *bytes;
    text t = {0};
    int own;
    (void)seed;
    ULP_TRY(find_file(path, sizeof path, folder, &own, error));
    ULP_TRY(ulp_file_read(&bytes, &t.n, path, FILE_LIMIT, error));
    t.byte = bytes;
    if (data->length == ulp_data_text.length) snprintf(data->name, sizeof data->name, "text");
    else snprintf(data->name, sizeof data->name, "text:%u", (unsigned)data->length);
    snprintf(data->origin, sizeof data->origin, "%.300s", path);
    data->checksum = ulp_crc32(0, bytes, t.n);
    ulp_status status = ULP_OK;
    if (own && data->checksum != CHECKSUM)
        status = ulp_fail(error, ULP_BAD_FILE, "%s: CRC-32 is %08x, must be %08x; another text is given by its path",
                          path, data->checksum, CHECKSUM);
    if (status == ULP_OK) status = read_text(data, &t, error);
    free(bytes);
    return status;
}

const ulp_data_kind ulp_data_text = {
    .name = "text",
    .what = "text:T, sequences of T characters (64) and the next ones; Shakespeare, or the file of --data",
    .ships = 1,
    .load = load,
    .length = 64,
};

/* ---- characters of tokens ---- */

static size_t put_character(char to[4], uint32_t code, int utf8) {
    if (!utf8 || code < 0x80) return to[0] = (char)code, 1;
    const unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    to[0] = (char)(0xff00u >> (more + 1) | code >> 6 * more);
    for (unsigned i = 1; i <= more; i++) to[i] = (char)(0x80u | (code >> 6 * (more - i) & 0x3fu));
    return more + 1;
}

size_t ulp_data_print(char *to, size_t size, const ulp_data *data, const uint8_t *token, size_t n) {
    size_t used = 0, kept = 0;
    for (size_t i = 0; i < n; i++) {
        char bytes[4];
        const size_t more = put_character(bytes, data->character[token[i]], data->utf8);
        used += more;
        if (used >= size) continue;
        memcpy(to + kept, bytes, more);
        kept = used;
    }
    if (size) to[kept] = 0;
    return used;
}

ulp_status ulp_data_read(uint8_t *token, size_t *n, const ulp_data *data, const char *of, ulp_error *error) {
    const text t = {.byte = (const unsigned char *)of, .utf8 = data->utf8};
    const unsigned char *at = t.byte;
    for (*n = 0; *at; ++*n) {
        const unsigned char *first = at;
        const uint32_t code = next(&t, &at);
        const size_t k = token_of(data->character, data->classes, code);
        if (k == data->classes || data->character[k] != code || at == first)
            return ulp_fail(error, ULP_BAD_ARGUMENT, "%s has no character '%.*s'", data->name,
                            at > first ? (int)(at - first) : 1, (const char *)first);
        token[*n] = (uint8_t)k;
    }
    return ULP_OK;
}
