/* lock.h - files that one process at a time writes to: parts of a sweep, journals, files that are to replace others. */
#ifndef ULP_LOCK_H
#define ULP_LOCK_H

#include <stdio.h>

#include "formats/c_linkage.h"

ULP_C_BEGIN

typedef enum ulp_lock_result {
    ULP_LOCK_OURS,
    ULP_LOCK_TAKEN,   /* by another process */
    ULP_LOCK_SPECIAL, /* the path names a device or a pipe, which nobody may replace by a file */
    ULP_LOCK_FAILED   /* errno says why */
} ulp_lock_result;

/* Open `path` for reading and writing, and lock the file until it is closed. A missing file is made. On a file system
 * without locks every process succeeds. Closing any other stream on the same file drops the lock. */
ulp_lock_result ulp_lock_open(FILE **file, const char *path);

ULP_C_END
#endif
