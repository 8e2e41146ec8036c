/* source.h - the bytes of a .npy file: a whole file, a pipe, or a member of an archive. */
#ifndef ULP_TOOL_FILES_SOURCE_H
#define ULP_TOOL_FILES_SOURCE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct file_inflater file_inflater;

typedef struct file_source {
    char *shown;             /* "stdin", the path, or PATH:MEMBER */
    FILE *stream;            /* of a whole file; NULL in an archive, which closes its own */
    int file;                /* its descriptor */
    uint64_t size;           /* bytes; UINT64_MAX: known at the end only */
    uint64_t given;          /* bytes that were read */
    uint64_t at, packed;     /* in an archive: where the next byte stands in the file, and the bytes from there */
    file_inflater *inflater; /* of a compressed member; NULL otherwise */
} file_source;

/* Open a file; "-" is stdin. `program` is as in ulp_input_open(). The caller closes the source in any case. */
ulp_status file_source_open(file_source *s, const char *program, const char *path, ulp_error *error);
void file_source_close(file_source *s);

/* Whether this build can read compressed members. */
int file_inflates(void);
/* Decompress what file_source_read() reads from now on. Returns 0 if memory is out. */
int file_source_inflate(file_source *s);

/* Read `bytes` bytes. Returns the number of bytes read, which is less only at the end and after a failure, when
 * *failed gets an errno: EILSEQ if compressed data are damaged. */
size_t file_source_read(file_source *s, void *to, size_t bytes, int *failed);

/* Read `bytes` bytes at a place of a file. Returns their number; less as in file_source_read(). */
size_t file_read_at(int file, void *to, size_t bytes, uint64_t at, int *failed);

#endif
