/* forms.c - forms of files: JSON, pieces, .npy, .npz; what readers check first is put right. */
#include "fuzz.h"

#include <ctype.h>

#include "base/checksum.h"

/* ---- JSON ---- */

static const char *skip(const char *at) { return at + strspn(at, " \t\r\n"); }
static const char *value(const char *at, int depth);

static const char *string(const char *at) {
    if (*at++ != '"') return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20) return NULL;
        if (*at != '\\') continue;
        at++;
        if (*at == 'u') {
            for (int i = 0; i < 4; i++)
                if (!isxdigit((unsigned char)*++at)) return NULL;
        } else if (!*at || !strchr("\"\\/bfnrt", *at)) return NULL;
    }
    return at + 1;
}

static const char *number(const char *at) {
    at += *at == '-';
    if (*at == '0') at++;
    else if (isdigit((unsigned char)*at)) at += strspn(at, "0123456789");
    else return NULL;
    if (*at == '.') {
        if (!isdigit((unsigned char)*++at)) return NULL;
        at += strspn(at, "0123456789");
    }
    if (*at != 'e' && *at != 'E') return at;
    at += 1 + (at[1] == '+' || at[1] == '-');
    return isdigit((unsigned char)*at) ? at + strspn(at, "0123456789") : NULL;
}

/* The members of an object or the elements of an array, up to the closing bracket. */
static const char *members(const char *at, char close, int depth) {
    at = skip(at + 1);
    if (*at == close) return at + 1;
    for (;;) {
        if (close == '}') {
            at = string(skip(at));
            if (!at) return NULL;
            at = skip(at);
            if (*at++ != ':') return NULL;
        }
        at = value(at, depth + 1);
        if (!at) return NULL;
        at = skip(at);
        if (*at == close) return at + 1;
        if (*at++ != ',') return NULL;
    }
}

static const char *value(const char *at, int depth) {
    static const char *const words[] = {"true", "false", "null"};
    at = skip(at);
    if (depth > 64) return NULL;
    if (*at == '{') return members(at, '}', depth);
    if (*at == '[') return members(at, ']', depth);
    if (*at == '"') return string(at);
    for (int i = 0; i < 3; i++)
        if (strncmp(at, words[i], strlen(words[i])) == 0) return at + strlen(words[i]);
    return number(at);
}

int fuzz_is_json(const char *text) {
    const char *end = value(text, 0);
    return end && !*skip(end);
}

/* ---- pieces ---- */

static const char *line_end(const char *at, const char *end) {
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found + 1 : end;
}

static int begins(const char *at, const char *end, const char *with) {
    return (size_t)(end - at) >= strlen(with) && memcmp(at, with, strlen(with)) == 0;
}

size_t fuzz_repair_pieces(uint8_t *data, size_t size, size_t room) {
    const char *at = (const char *)data, *const end = at + size;
    ulp_text made = {0};
    while (at < end) {
        const char *next = line_end(at, end);
        ulp_text_add(&made, at, (size_t)(next - at));
        const char *label = begins(at, end, "# piece ") ? memchr(at + 8, ':', (size_t)(next - at - 8)) : NULL;
        if (!label || label + 2 > next || next[-1] != '\n') {
            at = next;
            continue;
        }
        const size_t index = strtoull(at + 8, NULL, 10);
        uint32_t crc = ulp_crc32(0, label + 2, (size_t)(next - label - 2));
        size_t lines = 0;
        for (at = next; at < end && *at != '#'; at = next, lines++) {
            next = line_end(at, end);
            crc = ulp_crc32(crc, at, (size_t)(next - at));
            ulp_text_add(&made, at, (size_t)(next - at));
        }
        if (begins(at, end, "# end ")) at = line_end(at, end);
        ulp_text_print(&made, "# end %zu: %zu crc32 %08x\n", index, lines, (unsigned)crc);
    }
    if (made.length && made.length <= room) memcpy(data, made.data, size = made.length);
    ulp_text_free(&made);
    return size;
}

void fuzz_seed_pieces(int byte, const char *pieces) {
    uint8_t bytes[1000] = {(uint8_t)byte};
    memcpy(bytes + 1, pieces, strlen(pieces));
    fuzz_seed(bytes, 1 + fuzz_repair_pieces(bytes + 1, strlen(pieces), sizeof bytes - 1));
}

/* ---- .npy ---- */

/* The number of bytes that the shape and the type of a header announce, at most `most`. */
static size_t announced(const char *header, size_t most) {
    const char *shape = strstr(header, "shape"), *type = strstr(header, "descr");
    const char *at = shape ? strchr(shape, '(') : NULL;
    size_t bytes = 1;
    if (type && (type = strpbrk(type, "<>|")) != NULL && type[1] && isdigit((unsigned char)type[2]))
        bytes = (size_t)(type[2] - '0');
    for (; at && *at && *at != ')'; at++) {
        if (!isdigit((unsigned char)*at)) continue;
        char *end;
        const unsigned long long n = strtoull(at, &end, 10);
        bytes = n == 0 || bytes <= most / n ? bytes * (size_t)n : most;
        at = end - 1;
    }
    return bytes < most ? bytes : most;
}

size_t fuzz_repair_npy(uint8_t *data, size_t size, size_t room) {
    if (size < 16 || room < 128) return size;
    memcpy(data, "\x93NUMPY", 6);
    if (data[6] < 1 || data[6] > 3) data[6] = 1;
    data[7] = 0;
    const size_t first = data[6] == 1 ? 10 : 12;
    const uint8_t *brace = memchr(data + first, '}', size - first);
    const uint8_t *line = brace ? memchr(brace, '\n', (size_t)(data + size - brace)) : NULL;
    if (!line) return size;
    const size_t header = (size_t)(line + 1 - data) - first;
    data[8] = (uint8_t)header;
    data[9] = (uint8_t)(header >> 8);
    if (first == 12) data[10] = data[11] = 0;
    char *text = ulp_grow(NULL, header + 1);
    memcpy(text, data + first, header);
    text[header] = '\0';
    const size_t wanted = first + header + announced(text, room - first - header);
    free(text);
    if (wanted > size) memset(data + size, 0x3c, wanted - size);
    return wanted;
}

/* ---- archives ---- */

static uint32_t number_at(const uint8_t *at, int bytes) {
    uint32_t n = 0;
    for (int i = 0; i < bytes; i++) n |= (uint32_t)at[i] << 8 * i;
    return n;
}

static void put(uint8_t *at, uint32_t n, int bytes) {
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(n >> 8 * i);
}

static size_t find(const uint8_t *data, size_t size, size_t from, const char *sign) {
    for (size_t at = from; at + 4 <= size; at++)
        if (memcmp(data + at, sign, 4) == 0) return at;
    return size;
}

/* The sizes, the checksum and the place of a member, in its entry of the list. */
static void repair_entry(uint8_t *data, size_t end, uint8_t *entry, size_t local) {
    const size_t first = local + 30 + number_at(data + local + 26, 2) + number_at(data + local + 28, 2);
    size_t next = find(data, end, local + 4, "PK\3\4");
    if (next > end) next = end;
    if (first > next) return;
    const uint32_t bytes = (uint32_t)(next - first);
    put(entry + 42, (uint32_t)local, 4);
    if (number_at(entry + 10, 2) != 0) return; /* deflated: size and checksum are those of other bytes */
    put(entry + 16, ulp_crc32(0, data + first, bytes), 4);
    put(entry + 20, bytes, 4);
    put(entry + 24, bytes, 4);
    put(data + local + 8, 0, 2);
}

/* Put the list of members, and what it says of them, in order. */
size_t fuzz_repair_npz(uint8_t *data, size_t size) {
    const size_t list = find(data, size, 0, "PK\1\2"), end = find(data, size, list, "PK\5\6");
    size_t local = find(data, list, 0, "PK\3\4"), entries = 0, at = list;
    if (end + 22 > size || list >= end) return size;
    while (at + 46 <= end && memcmp(data + at, "PK\1\2", 4) == 0) {
        uint8_t *entry = data + at;
        const size_t name = number_at(entry + 28, 2), more = number_at(entry + 30, 2) + number_at(entry + 32, 2);
        if (local + 30 <= list) {
            put(entry + 8, 0, 2);
            put(data + local + 26, (uint32_t)name, 2);
            repair_entry(data, list, entry, local);
            local = find(data, list, local + 4, "PK\3\4");
        }
        at += 46 + name + more;
        entries++;
    }
    uint8_t *record = data + end;
    memset(record + 4, 0, 4);
    put(record + 8, (uint32_t)entries, 2);
    put(record + 10, (uint32_t)entries, 2);
    put(record + 12, (uint32_t)(end - list), 4);
    put(record + 16, (uint32_t)list, 4);
    put(record + 20, (uint32_t)(size - end - 22), 2);
    return size;
}
