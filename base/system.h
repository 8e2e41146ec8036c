/* system.h - what base/ needs of POSIX and Windows lacks: there no file is locked, no folder is synchronised, and there
 * are no links. */
#ifndef ULP_BASE_SYSTEM_H
#define ULP_BASE_SYSTEM_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(_WIN32)
#include <io.h>

#define O_DIRECTORY 0
#define EDQUOT ENOSPC
#define F_WRLCK 0
#define F_SETLK 0

struct flock {
    int l_type, l_whence;
};

static inline int fcntl(int file, int command, struct flock *lock) { return (void)file, (void)command, (void)lock, 0; }
static inline int fsync(int file) { return _commit(file); }
static inline int link(const char *from, const char *to) { return (void)from, (void)to, errno = ENOSYS, -1; }
#endif

#endif
