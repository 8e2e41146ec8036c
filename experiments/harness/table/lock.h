/* lock.h - files that one process at a time adds to: the parts of a sweep, the journal of ulp verify. */
#ifndef ULP_TABLE_LOCK_H
#define ULP_TABLE_LOCK_H

#include <stdio.h>

typedef enum ulp_lock_result {
    ULP_LOCK_OURS,
    ULP_LOCK_TAKEN,   /* by another process */
    ULP_LOCK_SPECIAL, /* the path names a device or a pipe, which nobody may replace by a file */
    ULP_LOCK_FAILED   /* errno says why */
} ulp_lock_result;

/* Open `path` for reading and writing, and lock the file until it is closed. A missing file is made. On a file system
 * without locks every process succeeds. Closing any other stream on the same file drops the lock. */
ulp_lock_result ulp_lock_open(FILE **file, const char *path);

/* Lock `fresh`, which is open under the name `name`, and rename it to `path`, whose lock this process holds. No other
 * process can take the lock between the two steps. Returns 0 on failure; errno says why. */
int ulp_lock_replace(FILE *fresh, const char *name, const char *path);

#endif
