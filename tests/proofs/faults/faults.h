/* faults.h - families of calls, and counts, shared by the interposed library and the program that replays faults.
 *
 * The library reads these variables of the environment:
 *
 *     FAULT_COUNTS=PATH     a file that holds a fault_counts; the library adds to it
 *     FAULT_ROOT=FOLDER     calls on files count in this folder only
 *     FAULT_AT=FAMILY:N     which call fails, from 1
 *     FAULT_HOW=HOW         the number of an errno; short: half of the bytes; kill or killed: SIGKILL before or after
 *     FAULT_ALL=1           call N and all later calls of the family fail
 *     FAULT_LOG=PATH        a file that gets a line per call that changes files
 *     FAULT_CLOCK=WHICH:STEP:N    from the N-th look at a clock on, real or both clocks are STEP seconds ahead
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdint.h>

typedef enum fault_family {
    FAULT_MEMORY,  /* malloc, calloc, realloc, posix_memalign, aligned_alloc */
    FAULT_THREAD,  /* pthread_create */
    FAULT_CREATE,  /* open for writing */
    FAULT_OPEN,    /* open for reading, also of folders */
    FAULT_READ,    /* of files */
    FAULT_WRITE,   /* to files */
    FAULT_STDOUT,  /* write to standard output */
    FAULT_SYNC,    /* fsync, fdatasync */
    FAULT_RENAME,  /* rename */
    FAULT_LINK,    /* link */
    FAULT_REMOVE,  /* unlink */
    FAULT_CLOSE,   /* of files open for writing */
    FAULT_CUT,     /* ftruncate */
    FAULT_FOLDER,  /* mkdir */
    FAULT_CHANGES, /* of any family that changes files, from create on; for SIGKILL */
    FAULT_FAMILIES
} fault_family;

#define FAULT_NAMES                                                                                                    \
    "memory", "thread", "create", "open", "read", "write", "stdout", "sync", "rename", "link", "remove", "close",      \
        "cut", "folder", "changes"

typedef struct fault_counts {
    uint64_t calls[FAULT_FAMILIES], clock;
    uint64_t fired; /* calls that failed */
    uint64_t ready; /* 1: the library is there, and the kernel has taken its filter */
} fault_counts;

#endif
