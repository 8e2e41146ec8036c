/* npz.c - reading .npz files; see npz.h. */
#include "npz.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/tool.h"
#include "base/checksum.h"

enum { END_BYTES = 22, ENTRY_BYTES = 46, LOCAL_BYTES = 30, COMMENT_BYTES = 65535 };

static uint32_t number16(const unsigned char *at) { return at[0] | (uint32_t)at[1] << 8; }
static uint32_t number32(const unsigned char *at) { return number16(at) | number16(at + 2) << 16; }

static ULP_PRINTF(3, 4) ulp_status refuse(ulp_error *error, const npz_archive *z, const char *text, ...) {
    va_list arguments;
    va_start(arguments, text);
    ulp_refuse_list(error, ULP_BAD_ARGUMENT, text, arguments);
    va_end(arguments);
    return ulp_fail_within(error, ULP_BAD_ARGUMENT, "%s", z->shown);
}

static ulp_status no_memory(const npz_archive *z, ulp_error *error) {
    return ulp_fail(error, ULP_NO_MEMORY, "%s: out of memory", z->shown);
}

/* Read `bytes` bytes that have to be there. */
static ulp_status read_part(const npz_archive *z, void *to, size_t bytes, uint64_t at, ulp_error *error) {
    int failed;
    if (file_read_at(z->file, to, bytes, at, &failed) == bytes) return ULP_OK;
    if (failed) return ulp_fail(error, ULP_BAD_FILE, "%s: cannot read: %s", z->shown, strerror(failed));
    return refuse(error, z, "the archive is cut off");
}

/* ---- names ---- */

const char *npz_member_of(const char *path) {
    const char *name = NULL;
    for (const char *at = strstr(path, ".npz:"); at != NULL; at = strstr(at + 1, ".npz:")) name = at + 5;
    return name;
}

int npz_is_named(const char *path) {
    const size_t n = strlen(path);
    return npz_member_of(path) != NULL || (n >= 4 && strcmp(path + n - 4, ".npz") == 0);
}

/* The fault of the name of a member; NULL: none. */
static const char *fault_of(const char *name, size_t n) {
    if (memchr(name, '\0', n) != NULL) return "a zero byte";
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 127) return "a control character";
    if (memchr(name, '\\', n) != NULL) return "a backslash";
    if (n > 0 && name[0] == '/') return "a path from the root";
    for (size_t i = 0; i + 1 < n; i++)
        if ((i == 0 || name[i - 1] == '/') && name[i] == '.' && name[i + 1] == '.' &&
            (i + 2 == n || name[i + 2] == '/'))
            return "a path out of its folder";
    return NULL;
}

/* ---- the list of members ---- */

/* Add the member of an entry of the list, if it is an array. */
static ulp_status add_member(npz_archive *z, const unsigned char *entry, const char *name, size_t n, ulp_error *error) {
    const char *const fault = fault_of(name, n);
    if (fault != NULL) return refuse(error, z, "the name of member %zu of the archive holds %s", z->count + 1, fault);
    if (n <= 4 || strncmp(name + n - 4, ".npy", 4) != 0) return ULP_OK;
    const int shown = (int)n - 4, method = (int)number16(entry + 10);
    npz_member m = {.at = number32(entry + 42),
                    .crc = number32(entry + 16),
                    .packed = number32(entry + 20),
                    .size = number32(entry + 24),
                    .is_deflated = method == 8};
    if (number16(entry + 8) & 1) return refuse(error, z, "the member '%.*s' is encrypted", shown, name);
    if (method != 0 && method != 8)
        return refuse(error, z, "the member '%.*s' has the compression method %d; known: 0 (stored), 8 (deflated)",
                      shown, name, method);
    if (m.packed == UINT32_MAX || m.size == UINT32_MAX || m.at == UINT32_MAX)
        return refuse(error, z, "the member '%.*s' is of 4 GiB or more (ZIP64), which is not read", shown, name);
    if (method == 0 && m.packed != m.size)
        return refuse(error, z, "the member '%.*s' is stored in %lu bytes, and the list of members announces %lu",
                      shown, name, (unsigned long)m.packed, (unsigned long)m.size);
    if (m.size / 1032 > m.packed) /* deflate makes no more than 1032 bytes of one */
        return refuse(error, z, "the member '%.*s' cannot hold the %lu bytes that the list of members announces", shown,
                      name, (unsigned long)m.size);
    m.name = malloc(n - 3);
    if (m.name == NULL) return no_memory(z, error);
    memcpy(m.name, name, n - 4);
    m.name[n - 4] = '\0';
    z->members[z->count++] = m;
    return ULP_OK;
}

/* Read the entries of the list, which has `bytes` bytes. */
static ulp_status read_entries(npz_archive *z, const unsigned char *list, size_t bytes, size_t entries,
                               ulp_error *error) {
    size_t at = 0;
    for (size_t i = 0; i < entries; i++) {
        const unsigned char *const entry = list + at;
        if (bytes - at < ENTRY_BYTES || memcmp(entry, "PK\1\2", 4) != 0)
            return refuse(error, z, "the list of members is damaged at entry %zu of %zu", i + 1, entries);
        const size_t name = number16(entry + 28), more = number16(entry + 30) + number16(entry + 32);
        if (bytes - at - ENTRY_BYTES < name + more)
            return refuse(error, z, "entry %zu of %zu in the list of members is cut off", i + 1, entries);
        ULP_TRY(add_member(z, entry, (const char *)entry + ENTRY_BYTES, name, error));
        at += ENTRY_BYTES + name + more;
    }
    return at == bytes ? ULP_OK
                       : refuse(error, z, "the list of members has %zu bytes, and its entries have %zu", bytes, at);
}

/* Read the list of members that the record `end` at the place `at` announces. */
static ulp_status read_list(npz_archive *z, const unsigned char *end, uint64_t at, ulp_error *error) {
    const size_t entries = number16(end + 10), bytes = number32(end + 12);
    z->end = number32(end + 16);
    if (entries == 65535 || bytes == UINT32_MAX || z->end == UINT32_MAX)
        return refuse(error, z, "an archive of 4 GiB or more (ZIP64), which is not read");
    if (number16(end + 4) != 0 || number16(end + 6) != 0 || number16(end + 8) != entries)
        return refuse(error, z, "an archive in several parts, which is not read");
    if (z->end + bytes != at)
        return refuse(error, z,
                      "the list of members is announced at byte %llu with %zu bytes, and its end is byte %llu",
                      (unsigned long long)z->end, bytes, (unsigned long long)at);
    if (entries > bytes / ENTRY_BYTES)
        return refuse(error, z, "a list of %zu bytes does not hold %zu members", bytes, entries);
    unsigned char *const list = malloc(bytes + 1);
    z->members = malloc((entries + 1) * sizeof *z->members);
    ulp_status status =
        list != NULL && z->members != NULL ? read_part(z, list, bytes, z->end, error) : no_memory(z, error);
    if (status == ULP_OK) status = read_entries(z, list, bytes, entries, error);
    free(list);
    return status;
}

/* Find the record at the end of the file, after which only a comment stands. */
static ulp_status read_end(npz_archive *z, ulp_error *error) {
    const off_t size = lseek(z->file, 0, SEEK_END);
    unsigned char start[4] = {0};
    if (size < 0)
        return refuse(error, z, "the list of members of an archive is at its end; name a file, not a pipe or a device");
    if (size >= END_BYTES) ULP_TRY(read_part(z, start, sizeof start, 0, error));
    if (memcmp(start, "PK\3\4", 4) != 0 && memcmp(start, "PK\5\6", 4) != 0)
        return refuse(error, z, "no .npz file: it does not begin with the bytes 50 4b 03 04");
    const size_t bytes = size < END_BYTES + COMMENT_BYTES ? (size_t)size : END_BYTES + COMMENT_BYTES;
    const uint64_t first = (uint64_t)size - bytes;
    unsigned char *const tail = malloc(bytes);
    ulp_status status = tail != NULL ? read_part(z, tail, bytes, first, error) : no_memory(z, error);
    size_t at = bytes - END_BYTES + 1;
    while (status == ULP_OK && at-- > 0)
        if (memcmp(tail + at, "PK\5\6", 4) == 0 && number16(tail + at + 20) == bytes - at - END_BYTES) break;
    if (status == ULP_OK)
        status = at < bytes ? read_list(z, tail + at, first + at, error)
                            : refuse(error, z, "the archive is cut off: the list of members at its end is missing");
    free(tail);
    return status;
}

ulp_status npz_open(npz_archive *z, const char *program, const char *path, ulp_error *error) {
    *z = (npz_archive){.path = ulp_copy_text(path)};
    const char *const name = npz_member_of(path);
    if (name != NULL) {
        z->wanted = ulp_copy_text(name);
        z->path[name - path - 1] = '\0';
    }
    z->shown = ulp_input_name(z->path);
    ULP_TRY(ulp_input_open(&z->stream, program, z->path, error));
    z->file = fileno(z->stream);
    return read_end(z, error);
}

void npz_close(npz_archive *z) {
    for (size_t i = 0; i < z->count; i++) free(z->members[i].name);
    ulp_input_close(z->stream);
    free(z->members);
    free(z->wanted);
    free(z->path);
    *z = (npz_archive){0};
}

/* ---- members ---- */

const npz_member *npz_find(const npz_archive *z, const char *name) {
    for (size_t i = 0; i < z->count; i++)
        if (strcmp(z->members[i].name, name) == 0) return &z->members[i];
    return NULL;
}

static void list_names(ulp_text *to, const npz_archive *z) {
    enum { MOST = 12 };
    for (size_t i = 0; i < z->count && i < MOST; i++) ulp_text_print(to, "%s%s", i > 0 ? " " : "", z->members[i].name);
    if (z->count > MOST) ulp_text_print(to, " and %zu more", z->count - MOST);
}

ulp_status npz_choose(const npz_member **member, const npz_archive *z, ulp_error *error) {
    ulp_text names = {0};
    ulp_status status = ULP_OK;
    *member = z->wanted != NULL ? npz_find(z, z->wanted) : z->members;
    list_names(&names, z);
    if (z->count == 0) status = refuse(error, z, "the archive holds no array");
    else if (*member == NULL)
        status = refuse(error, z, "the archive has no array '%s'; it holds: %s", z->wanted, ulp_text_of(&names));
    else if (z->wanted == NULL && z->count > 1)
        status = refuse(error, z, "the archive holds %zu arrays; name one, as %s:%s: %s", z->count, z->shown,
                        z->members->name, ulp_text_of(&names));
    for (const npz_member *other = *member; status == ULP_OK && ++other < z->members + z->count;)
        if (strcmp(other->name, (*member)->name) == 0)
            status = refuse(error, z, "the archive has two arrays '%s'", other->name);
    ulp_text_free(&names);
    return status;
}

/* Read the local header of the member, and find its first byte. */
static ulp_status find_first(file_source *s, const npz_archive *z, const npz_member *m, ulp_error *error) {
    unsigned char local[LOCAL_BYTES];
    const size_t n = strlen(m->name) + 4;
    if (m->at + LOCAL_BYTES > z->end) return refuse(error, z, "the member '%s' begins after the members", m->name);
    ULP_TRY(read_part(z, local, sizeof local, m->at, error));
    if (memcmp(local, "PK\3\4", 4) != 0 || number16(local + 8) != (m->is_deflated ? 8 : 0) || number16(local + 26) != n)
        return refuse(error, z, "the header of the member '%s' is not that in the list of members", m->name);
    s->at = m->at + LOCAL_BYTES + n + number16(local + 28);
    s->packed = m->packed;
    return s->at + m->packed <= z->end ? ULP_OK : refuse(error, z, "the member '%s' is cut off", m->name);
}

/* Set the source to the first byte of the member. */
static ulp_status rewind_source(file_source *s, const npz_archive *z, const npz_member *m, ulp_error *error) {
    ulp_text shown = {0};
    ulp_text_print(&shown, "%s:%s", z->shown, m->name);
    *s = (file_source){.shown = shown.data, .file = z->file, .size = m->size};
    const ulp_status status = find_first(s, z, m, error);
    if (status != ULP_OK || !m->is_deflated) return status;
    if (!file_inflates())
        return ulp_fail(error, ULP_NO_DEVICE,
                        "%s: the member is compressed, and this build has no zlib; np.savez stores arrays", s->shown);
    return file_source_inflate(s) ? ULP_OK : no_memory(z, error);
}

/* Read the member once, and compare its size and checksum with the list. */
static ulp_status check_member(file_source *s, const npz_archive *z, const npz_member *m, ulp_error *error) {
    static unsigned char bytes[1 << 16];
    uint32_t crc = 0;
    int failed = 0;
    for (size_t n = 1; n > 0 && s->given <= m->size && !failed;) {
        n = file_source_read(s, bytes, sizeof bytes, &failed);
        crc = ulp_crc32(crc, bytes, n);
    }
    if (failed == ENOMEM) return no_memory(z, error);
    if (failed == EILSEQ) return refuse(error, z, "the compressed bytes of the member '%s' are damaged", m->name);
    if (failed) return ulp_fail(error, ULP_BAD_FILE, "%s: cannot read: %s", s->shown, strerror(failed));
    if (s->given != m->size || s->packed > 0)
        return refuse(error, z, "the member '%s' does not have the %lu bytes that the list of members announces",
                      m->name, (unsigned long)m->size);
    return crc == m->crc ? ULP_OK
                         : refuse(error, z, "the member '%s' is damaged: its CRC-32 is %08lx, not %08lx", m->name,
                                  (unsigned long)crc, (unsigned long)m->crc);
}

ulp_status npz_open_member(file_source *s, const npz_archive *z, const npz_member *m, ulp_error *error) {
    ULP_TRY(rewind_source(s, z, m, error));
    ULP_TRY(check_member(s, z, m, error));
    file_source_close(s);
    return rewind_source(s, z, m, error);
}
