/* npz_write.c - writing .npz files; see npz_write.h. Format: PKWARE, APPNOTE.TXT 6.3.10, sections 4.3 and 4.4. */
#include "npz_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/cli/text.h"
#include "base/checksum.h"

enum { LOCAL_BYTES = 30 };

static void put16(FILE *file, uint32_t x) {
    putc((int)(x & 255), file);
    putc((int)(x >> 8 & 255), file);
}

static void put32(FILE *file, uint32_t x) {
    put16(file, x & 65535);
    put16(file, x >> 16);
}

/* The fields that a local header and an entry of the list share: the time is the first that a zip archive can name, so
 * that equal arrays are equal bytes. */
static void put_shared(FILE *file, const npz_entry *e) {
    enum { VERSION = 20, UTF8_NAME = 1 << 11, FIRST_DAY = 1 << 5 | 1 };
    put16(file, VERSION);
    put16(file, UTF8_NAME);
    put16(file, 0); /* stored */
    put16(file, 0);
    put16(file, FIRST_DAY);
    put32(file, e->crc);
    put32(file, (uint32_t)e->size);
    put32(file, (uint32_t)e->size);
    put16(file, (uint32_t)strlen(e->name));
    put16(file, 0); /* no further fields */
}

static void put_local(FILE *file, const npz_entry *e) {
    fwrite("PK\3\4", 1, 4, file);
    put_shared(file, e);
    fputs(e->name, file);
}

/* The place of the end of what was written; 0 after a failure. */
static uint64_t place_of(npz_writer *w) {
    const long at = ftell(w->file);
    if (at < 0 && !w->failed) w->failed = errno;
    if (at > (long)UINT32_MAX - 65536 && !w->failed) w->failed = EFBIG;
    return at < 0 ? 0 : (uint64_t)at;
}

void npz_begin(npz_writer *w, const char *name) {
    ulp_text member = {0};
    w->entries = ulp_grow(w->entries, (w->count + 1) * sizeof *w->entries);
    ulp_text_print(&member, "%s.npy", name);
    w->entries[w->count] = (npz_entry){.name = member.data, .at = place_of(w)};
    put_local(w->file, &w->entries[w->count++]);
}

long npz_first(const npz_writer *w) {
    const npz_entry *e = &w->entries[w->count - 1];
    return (long)(e->at + LOCAL_BYTES + strlen(e->name));
}

void npz_end(npz_writer *w) {
    static unsigned char bytes[1 << 16];
    npz_entry *e = &w->entries[w->count - 1];
    const uint64_t end = place_of(w);
    if (fseek(w->file, npz_first(w), SEEK_SET) != 0 && !w->failed) w->failed = errno;
    for (size_t n; !w->failed && (n = fread(bytes, 1, sizeof bytes, w->file)) > 0; e->size += n)
        e->crc = ulp_crc32(e->crc, bytes, n);
    if (!w->failed && (uint64_t)npz_first(w) + e->size != end) w->failed = EIO;
    if (fseek(w->file, (long)e->at, SEEK_SET) != 0 && !w->failed) w->failed = errno;
    put_local(w->file, e);
    if (fseek(w->file, 0, SEEK_END) != 0 && !w->failed) w->failed = errno;
}

int npz_finish(npz_writer *w) {
    const uint64_t begin = place_of(w);
    for (size_t i = 0; i < w->count; i++) {
        fwrite("PK\1\2", 1, 4, w->file);
        put16(w->file, 20); /* made by version 2.0 on MS-DOS, which has no access rights */
        put_shared(w->file, &w->entries[i]);
        for (int zero = 0; zero < 5; zero++) put16(w->file, 0); /* comment, part, attributes */
        put32(w->file, (uint32_t)w->entries[i].at);
        fputs(w->entries[i].name, w->file);
        free(w->entries[i].name);
    }
    const uint64_t end = place_of(w);
    if (w->count >= 65535 && !w->failed) w->failed = EFBIG;
    fwrite("PK\5\6", 1, 4, w->file);
    put32(w->file, 0); /* one part */
    put16(w->file, (uint32_t)w->count);
    put16(w->file, (uint32_t)w->count);
    put32(w->file, (uint32_t)(end - begin));
    put32(w->file, (uint32_t)begin);
    put16(w->file, 0); /* no comment */
    free(w->entries);
    w->entries = NULL;
    w->count = 0;
    return w->failed;
}
