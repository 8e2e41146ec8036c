/* lock.c - files that one process at a time adds to; see lock.h. */
#include "lock.h"
#include "system.h"

#include <sys/stat.h>

/* Take the lock; returns 0 if another process has it. */
static int lock_file(int file) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file, F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN);
}

/* Whether `path` still names the open file. */
static int is_named(int file, const char *path) {
    struct stat held, there;
    return fstat(file, &held) == 0 && stat(path, &there) == 0 && held.st_dev == there.st_dev &&
           held.st_ino == there.st_ino;
}

static int is_special(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

/* Close a locked file, and remove it if it is empty, as a new file is. */
static void drop_empty(int file, const char *path) {
    struct stat about;
    if (fstat(file, &about) == 0 && about.st_size == 0) unlink(path);
    close(file);
}

/* If the owner of the lock replaced or removed the file between the two steps, both steps are repeated. */
ulp_lock_result ulp_lock_open(FILE **file, const char *path) {
    enum { TRIES = 100 };
    if (is_special(path)) return ULP_LOCK_SPECIAL;
    for (int i = 0; i < TRIES; i++) {
        const int opened = open(path, O_RDWR | O_CREAT, 0666);
        if (opened < 0) return ULP_LOCK_FAILED;
        const int ours = lock_file(opened);
        if (ours && is_named(opened, path)) {
            *file = fdopen(opened, "r+");
            if (*file) return ULP_LOCK_OURS;
            const int why = errno;
            drop_empty(opened, path);
            errno = why;
            return ULP_LOCK_FAILED;
        }
        close(opened);
        if (!ours) break;
    }
    return ULP_LOCK_TAKEN;
}
