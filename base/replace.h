/* replace.h - writing a file whole or not at all: it is written as PATH.tmp, which becomes PATH at the end.
 *
 *     ulp_replacement *r;
 *     if (ulp_replacement_open(&r, path) != ULP_LOCK_OURS) ... errno says why ...
 *     fprintf(r->file, ...);
 *     if (!ulp_replacement_finish(r)) ... errno says why; PATH is as before ...
 *
 * The order is: write, fsync, rename, fsync of the folder. So PATH is the old file or the new one, also after a loss of
 * power. PATH.tmp is locked while it is written, so two processes never write to it. What a killed process has left in
 * PATH.tmp is written over. A process that ends in the ordinary way removes every PATH.tmp of its own.
 */
#ifndef ULP_REPLACE_H
#define ULP_REPLACE_H

#include "lock.h"

ULP_C_BEGIN

typedef struct ulp_replacement {
    FILE *file; /* for reading and writing, empty at first */
    char *name, *path;
    struct ulp_replacement *next; /* of the replacements that the end of the process removes */
} ulp_replacement;

/* Open PATH.tmp. *r is NULL unless the result is ULP_LOCK_OURS; then one of the functions below ends it. */
ulp_lock_result ulp_replacement_open(ulp_replacement **r, const char *path);

/* Give the file its name, and close it. Returns 0 on failure: errno says why, and the file is removed. Also then PATH
 * is whole: the old file, or the new one if only the fsync of the folder failed. */
int ulp_replacement_finish(ulp_replacement *r);

/* As ulp_replacement_finish(), but PATH must be new: EEXIST if it is there. */
int ulp_replacement_finish_new(ulp_replacement *r);

/* As ulp_replacement_finish(), but the file stays open and locked under its name. The caller closes it. NULL on
 * failure.
 */
FILE *ulp_replacement_keep(ulp_replacement *r);

/* Remove the file. */
void ulp_replacement_drop(ulp_replacement *r);

/* The errno of what could not be written to a stream; 0 if all bytes are with the system. A stream does not keep the
 * reason of an earlier failure: then it is errno, if a write may fail for that, else `failed`, else EIO. */
int ulp_stream_failure(FILE *file, int failed);

/* Wait until the names in the folder of PATH are on the disk. Returns 0 on failure; errno says why. Where a folder
 * cannot be read, or a file system has no such operation, nothing is done. */
int ulp_folder_sync(const char *path);

ULP_C_END
#endif
