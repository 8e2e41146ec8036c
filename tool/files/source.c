/* source.c - the bytes of a .npy file; see source.h. */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(ULP_WITH_ZLIB)
#include <zlib.h>
#endif

#include "tool/tool.h"

/* ---- bytes as they are ---- */

size_t file_read_at(int file, void *to, size_t bytes, uint64_t at, int *failed) {
    size_t done = 0;
    *failed = 0;
    while (done < bytes) {
        const ssize_t n = pread(file, (char *)to + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) *failed = errno;
        if (n <= 0) break;
        done += (size_t)n;
    }
    return done;
}

static size_t read_stream(int file, void *to, size_t bytes, int *failed) {
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = read(file, (char *)to + done, bytes - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) *failed = errno;
        if (n <= 0) break;
        done += (size_t)n;
    }
    return done;
}

/* Read stored bytes of a member. */
static size_t read_member(file_source *s, void *to, size_t bytes, int *failed) {
    const size_t wanted = bytes < s->packed ? bytes : (size_t)s->packed;
    const size_t n = file_read_at(s->file, to, wanted, s->at, failed);
    s->at += n;
    s->packed -= n;
    return n;
}

/* ---- compressed bytes ---- */

#if defined(ULP_WITH_ZLIB)

struct file_inflater {
    z_stream stream;
    int ended;
    unsigned char input[1 << 16];
};

int file_inflates(void) { return 1; }

int file_source_inflate(file_source *s) {
    s->inflater = calloc(1, sizeof *s->inflater);
    if (s->inflater == NULL) return 0;
    if (inflateInit2(&s->inflater->stream, -MAX_WBITS) == Z_OK) return 1; /* a raw stream, as archives hold it */
    free(s->inflater);
    s->inflater = NULL;
    return 0;
}

static void end_inflater(file_inflater *inflater) {
    if (inflater != NULL) inflateEnd(&inflater->stream);
    free(inflater);
}

static size_t inflate_bytes(file_source *s, void *to, size_t bytes, int *failed) {
    file_inflater *f = s->inflater;
    z_stream *z = &f->stream;
    size_t done = 0;
    while (done < bytes && !f->ended && !*failed) {
        const uInt room = bytes - done < 1u << 30 ? (uInt)(bytes - done) : 1u << 30;
        if (z->avail_in == 0) {
            z->next_in = f->input;
            z->avail_in = (uInt)read_member(s, f->input, sizeof f->input, failed);
        }
        z->next_out = (unsigned char *)to + done;
        z->avail_out = room;
        const int result = inflate(z, Z_NO_FLUSH);
        done += room - z->avail_out;
        f->ended = result == Z_STREAM_END;
        if (f->ended) s->packed += z->avail_in; /* bytes after the end of the stream */
        if (result != Z_OK && !f->ended && !*failed) *failed = result == Z_MEM_ERROR ? ENOMEM : EILSEQ;
    }
    return done;
}

#else

int file_inflates(void) { return 0; }
int file_source_inflate(file_source *s) { return s->inflater != NULL; }
static void end_inflater(file_inflater *inflater) { (void)inflater; }
static size_t inflate_bytes(file_source *s, void *to, size_t bytes, int *failed) {
    return read_member(s, to, bytes, failed);
}

#endif

/* ---- sources ---- */

size_t file_source_read(file_source *s, void *to, size_t bytes, int *failed) {
    *failed = 0;
    const size_t n = s->inflater != NULL ? inflate_bytes(s, to, bytes, failed)
                     : s->stream == NULL ? read_member(s, to, bytes, failed)
                                         : read_stream(s->file, to, bytes, failed);
    s->given += n;
    return n;
}

ulp_status file_source_open(file_source *s, const char *program, const char *path, ulp_error *error) {
    struct stat about;
    *s = (file_source){.shown = ulp_copy_text(ulp_input_name(path)), .size = UINT64_MAX};
    ULP_TRY(ulp_input_open(&s->stream, program, path, error));
    s->file = fileno(s->stream);
    const off_t at = lseek(s->file, 0, SEEK_CUR);
    if (at >= 0 && fstat(s->file, &about) == 0 && S_ISREG(about.st_mode))
        s->size = about.st_size > at ? (uint64_t)(about.st_size - at) : 0;
    return ULP_OK;
}

void file_source_close(file_source *s) {
    ulp_input_close(s->stream);
    end_inflater(s->inflater);
    free(s->shown);
    *s = (file_source){0};
}
