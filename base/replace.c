/* replace.c - writing a file whole or not at all; see replace.h. */
#include "replace.h"
#include "system.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The replacements of this process that are not ended. The lock also covers the moment at which a file gets its name:
 * at exit a name that another process uses by now is not removed. */
static ulp_replacement *pending;
static pthread_mutex_t pending_lock = PTHREAD_MUTEX_INITIALIZER;

static void remove_pending(void) {
    pthread_mutex_lock(&pending_lock);
    for (const ulp_replacement *r = pending; r; r = r->next) remove(r->name);
    pending = NULL;
    pthread_mutex_unlock(&pending_lock);
}

static void enlist(ulp_replacement *r) {
    static int at_exit;
    pthread_mutex_lock(&pending_lock);
    if (!at_exit) at_exit = atexit(remove_pending) == 0;
    r->next = pending;
    pending = r;
    pthread_mutex_unlock(&pending_lock);
}

/* Call it with the lock held. */
static void strike(const ulp_replacement *r) {
    ulp_replacement **at = &pending;
    while (*at && *at != r) at = &(*at)->next;
    if (*at) *at = r->next;
}

/* ---- to the disk ---- */

/* Whether fsync() failed because the file system has no such operation. */
static int has_no_sync(int why) { return why == EINVAL || why == ENOSYS || why == ENOTSUP || why == EROFS; }

static int sync_file(int file) {
    int failed;
    do failed = fsync(file) != 0;
    while (failed && errno == EINTR);
    return !failed || has_no_sync(errno);
}

int ulp_folder_sync(const char *path) {
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = malloc(length + 2);
    if (!folder) return 0;
    memcpy(folder, path, length);
    memcpy(folder + length, ".", 2);
    const int file = open(folder, O_RDONLY | O_DIRECTORY);
    free(folder);
    if (file < 0) return errno == EACCES || errno == EPERM;
    const int good = sync_file(file), why = errno;
    close(file);
    errno = why;
    return good;
}

/* Whether a write may fail for this reason. */
static int is_of_write(int why) {
    static const int reasons[] = {ENOSPC, EFBIG, EDQUOT, EIO, EINTR, EPIPE, EROFS, ENXIO, ENODEV};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (why == reasons[i]) return 1;
    return 0;
}

int ulp_stream_failure(FILE *file, int failed) {
    const int bad = ferror(file), latest = errno;
    if (fflush(file) != 0) return errno;
    if (bad && is_of_write(latest)) return latest;
    return failed ? failed : bad ? EIO : 0;
}

/* Whether everything that was written is on the disk; else errno says why. */
static int sync_stream(FILE *file) {
    const int failed = ulp_stream_failure(file, 0);
    if (failed) errno = failed;
    return !failed && sync_file(fileno(file));
}

/* ---- one replacement ---- */

static char *join(const char *a, const char *b) {
    const size_t n = strlen(a), m = strlen(b) + 1;
    char *text = malloc(n + m);
    if (!text) return NULL;
    memcpy(text, a, n);
    memcpy(text + n, b, m);
    return text;
}

/* Free everything but the stream; errno stays. */
static void release(ulp_replacement *r) {
    const int why = errno;
    free(r->name);
    free(r->path);
    free(r);
    errno = why;
}

ulp_lock_result ulp_replacement_open(ulp_replacement **opened, const char *path) {
    ulp_replacement *r = calloc(1, sizeof *r);
    ulp_lock_result result = ULP_LOCK_FAILED;
    *opened = NULL;
    if (!r) return ULP_LOCK_FAILED;
    r->name = join(path, ".tmp");
    r->path = join(path, "");
    if (r->name && r->path) result = ulp_lock_open(&r->file, r->name);
    if (result != ULP_LOCK_OURS) {
        release(r);
        return result;
    }
    enlist(r);
    if (ftruncate(fileno(r->file), 0) == 0) {
        *opened = r;
        return ULP_LOCK_OURS;
    }
    const int why = errno;
    ulp_replacement_drop(r);
    errno = why;
    return ULP_LOCK_FAILED;
}

void ulp_replacement_drop(ulp_replacement *r) {
    pthread_mutex_lock(&pending_lock);
    remove(r->name);
    strike(r);
    pthread_mutex_unlock(&pending_lock);
    fclose(r->file);
    release(r);
}

/* Give the new file PATH its name, if there is no such file. Where the file system has no links, another process may
 * make PATH between the two steps. */
static int name_new(const ulp_replacement *r) {
    if (link(r->name, r->path) == 0) return remove(r->name) == 0;
    if (errno == EEXIST) return 0;
    if (access(r->path, F_OK) != 0) return rename(r->name, r->path) == 0;
    errno = EEXIST;
    return 0;
}

/* The file gets its name while it is open and locked: else another process could write to it between the two steps. */
static FILE *finish(ulp_replacement *r, int is_new) {
    int good = sync_stream(r->file);
    pthread_mutex_lock(&pending_lock);
    good = good && (is_new ? name_new(r) : rename(r->name, r->path) == 0);
    if (good) strike(r);
    pthread_mutex_unlock(&pending_lock);
    if (!good) {
        const int why = errno;
        ulp_replacement_drop(r);
        errno = why;
        return NULL;
    }
    FILE *file = r->file;
    if (!ulp_folder_sync(r->path)) {
        const int why = errno;
        fclose(file);
        file = NULL;
        errno = why;
    }
    release(r);
    return file;
}

FILE *ulp_replacement_keep(ulp_replacement *r) { return finish(r, 0); }

/* All bytes are on the disk, so closing the file cannot lose any. */
static int finish_closed(ulp_replacement *r, int is_new) {
    FILE *file = finish(r, is_new);
    if (file) fclose(file);
    return file != NULL;
}

int ulp_replacement_finish(ulp_replacement *r) { return finish_closed(r, 0); }
int ulp_replacement_finish_new(ulp_replacement *r) { return finish_closed(r, 1); }
