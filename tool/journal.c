/* journal.c - keeping the finished pieces of ulp verify in a file; see journal.h. */
#include "journal.h"

#include "experiments/harness/cli/options.h"
#include "experiments/harness/table/output.h"
#include "experiments/harness/table/pieces.h"
#include "base/replace.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char head[] = "# journal of ulp verify: format mode overflow bits inputs exhaustive seed kernels piece\n";

typedef struct entry {
    char *name, *result; /* the result has no line break */
} entry;

struct journal {
    const char *program, *path; /* the name for messages */
    char *place;                /* behind symbolic links */
    FILE *file;                 /* locked */
    entry *entries;             /* (count) sorted by name */
    size_t count, room;
    size_t most;          /* pieces that the file can hold */
    size_t next;          /* index of the next piece in the file */
    int failed;           /* errno of the first piece that could not be written; 0: none */
    pthread_mutex_t lock; /* protects file, next and failed while threads keep pieces */
};

/* ---- reading ---- */

/* Pieces are numbered from 0, and each has bytes of its own. */
static int knows(void *own, size_t index, const char *label) {
    return index < ((const journal *)own)->most && *label != '\0';
}

static ulp_status take(void *own, const ulp_piece *piece, ulp_error *error) {
    journal *j = own;
    entry e = {0};
    (void)error;
    if (piece->count != 1 || piece->length < 2) {
        ulp_complain(j->program, "%s: piece '%s' holds no result; it is computed again", j->path, piece->label);
        return ULP_OK;
    }
    e.name = ulp_copy_text(piece->label);
    e.result = ulp_copy_text(piece->lines);
    e.result[strcspn(e.result, "\r\n")] = '\0';
    j->entries = ulp_room_for(j->entries, j->count, &j->room, sizeof *j->entries);
    j->entries[j->count++] = e;
    return ULP_OK;
}

static int by_name(const void *a, const void *b) { return strcmp(((const entry *)a)->name, ((const entry *)b)->name); }

static void free_entry(entry *e) {
    free(e->name);
    free(e->result);
}

/* Drop all pieces whose name occurs more than once: none of them can be trusted. */
static void drop_repeated(journal *j) {
    size_t kept = 0, run = 0;
    if (j->count) qsort(j->entries, j->count, sizeof *j->entries, by_name);
    for (size_t i = 0; i < j->count; i += run) {
        for (run = 1; i + run < j->count && strcmp(j->entries[i].name, j->entries[i + run].name) == 0;) run++;
        if (run > 1)
            ulp_complain(j->program, "%s: piece '%s' stands there %zu times; it is computed again", j->path,
                         j->entries[i].name, run);
        if (run == 1) j->entries[kept++] = j->entries[i];
        for (size_t k = 0; run > 1 && k < run; k++) free_entry(&j->entries[i + k]);
    }
    j->count = kept;
}

/* Whether the file begins like a journal. *stopped gets 1 if the file ends within its head and has nothing to read. */
static int begins_like_one(FILE *file, int *stopped) {
    char begin[sizeof head + 3] = "";
    size_t n = fread(begin, 1, sizeof begin - 1, file);
    const char *at = begin;
    if (n >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0) at += 3, n -= 3;
    const size_t length = strlen(head) - 1; /* without the line break, which may be a CRLF */
    *stopped = n <= length;
    rewind(file);
    return memcmp(at, head, n < length ? n : length) == 0 && (*stopped || at[length] == '\n' || at[length] == '\r');
}

static ulp_status read_journal(journal *j, FILE *file, ulp_error *error) {
    const ulp_piece_reader reader = {.program = j->program,
                                     .path = j->path,
                                     .file = file,
                                     .head = head,
                                     .forgiving = 1,
                                     .own = j,
                                     .knows = knows,
                                     .take = take};
    struct stat about;
    int stopped;
    if (fstat(fileno(file), &about) == 0) j->most = (size_t)about.st_size;
    if (!begins_like_one(file, &stopped))
        return ulp_refuse(error, "--resume %s: this file is no journal of ulp verify; it stays as it is", j->path);
    if (stopped) return ULP_OK;
    ULP_TRY(ulp_pieces_read(&reader, error));
    drop_repeated(j);
    return ULP_OK;
}

/* ---- writing ---- */

static void write_entry(journal *j, FILE *file, const entry *e) {
    ulp_text line = {0};
    ulp_text_print(&line, "%s\n", e->result);
    const ulp_piece piece = {
        .index = j->next++, .label = e->name, .lines = line.data, .length = line.length, .count = 1};
    ulp_piece_write(file, &piece);
    ulp_text_free(&line);
}

static ulp_status cannot_write(const journal *j, ulp_error *error) {
    return ulp_refuse(error, "cannot write %s: %s", j->path, strerror(errno));
}

/* Write the file again with the pieces that were read; unfinished and damaged pieces are left out. */
static ulp_status begin_anew(journal *j, ulp_error *error) {
    ulp_replacement *r;
    if (ulp_replacement_open(&r, j->place) != ULP_LOCK_OURS) return cannot_write(j, error);
    fputs(head, r->file);
    ulp_pieces_begin(r->file);
    for (size_t i = 0; i < j->count; i++) write_entry(j, r->file, &j->entries[i]);
    FILE *fresh = ulp_replacement_keep(r);
    if (!fresh) return cannot_write(j, error);
    fclose(j->file);
    j->file = fresh;
    return ULP_OK;
}

static void release(journal *j) {
    for (size_t i = 0; i < j->count; i++) free_entry(&j->entries[i]);
    free(j->entries);
    free(j->place);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

static ulp_status lock_journal(journal *j, ulp_error *error) {
    switch (ulp_lock_open(&j->file, j->place)) {
    case ULP_LOCK_OURS: return ULP_OK;
    case ULP_LOCK_FAILED: return cannot_write(j, error);
    case ULP_LOCK_SPECIAL:
        return ulp_refuse(error, "--resume %s: a device or a pipe keeps no journal; name a file", j->path);
    case ULP_LOCK_TAKEN: break;
    }
    return ulp_refuse(error, "another run is writing %s: let it end, or choose another file with --resume", j->path);
}

ulp_status journal_open(journal **opened, const char *program, const char *path, ulp_error *error) {
    journal *j = ulp_grow(NULL, sizeof *j);
    *j = (journal){.program = program, .path = path, .place = ulp_path_behind_links(path)};
    pthread_mutex_init(&j->lock, NULL);
    ulp_status status = lock_journal(j, error);
    if (status == ULP_OK) status = read_journal(j, j->file, error);
    if (status == ULP_OK) status = begin_anew(j, error);
    if (status == ULP_OK) *opened = j;
    else {
        if (j->file) fclose(j->file);
        release(j);
    }
    return status;
}

const char *journal_find(const journal *j, const char *name) {
    const entry wanted = {.name = (char *)(uintptr_t)name};
    const entry *found = j->count ? bsearch(&wanted, j->entries, j->count, sizeof *j->entries, by_name) : NULL;
    return found ? found->result : NULL;
}

void journal_keep(journal *j, const char *name, const char *result) {
    const entry e = {(char *)(uintptr_t)name, (char *)(uintptr_t)result};
    pthread_mutex_lock(&j->lock);
    write_entry(j, j->file, &e);
    if (fflush(j->file) != 0 && !j->failed) j->failed = errno;
    pthread_mutex_unlock(&j->lock);
}

ulp_status journal_close(journal *j, ulp_error *error) {
    ulp_status status = ULP_OK;
    if (fclose(j->file) != 0 && !j->failed) j->failed = errno;
    if (j->failed)
        status = ulp_fail(error, ULP_BAD_FILE, "cannot write %s: %s; finished pieces are missing there", j->path,
                          strerror(j->failed));
    release(j);
    return status;
}
