/* output.h - where programs write: files as a whole or not at all (base/replace.h), standard output and devices.
 *
 * If the name is a symbolic link, the file behind the link is replaced, and the link stays. Standard output (-) and
 * devices are written directly.
 */
#ifndef ULP_TABLE_OUTPUT_H
#define ULP_TABLE_OUTPUT_H

#include <stdio.h>

#include "base/replace.h"

/* The path behind a chain of symbolic links; the file may not exist yet. The caller frees the path. */
char *ulp_path_behind_links(const char *path);

/* The place to which a program writes. */
typedef struct ulp_place {
    char *path; /* the name for messages */
    char *file; /* the path behind symbolic links; `.tmp` and `.part` are added to it */
    int direct; /* 1: standard output or a device; no renaming, no resuming */
} ulp_place;

/* Set *place. Returns ULP_GO_ON (-1), or the exit status after a message if `path` is a folder or a device that cannot
 * be written. */
int ulp_place_choose(ulp_place *place, const char *program, const char *path);
void ulp_place_free(ulp_place *place);

/* Begin to replace the file `path`, which messages call `shown`. Returns -1, or the exit status after a message. A file
 * that another process is writing is refused. `named`: see ulp_cannot_write(). */
int ulp_replacement_begin(ulp_replacement **r, const char *program, const char *path, const char *shown, int named);

/* Write a file by write(), which gets the open file and `own`. Returns -1, or the exit status after a message; on
 * failure an old file is unchanged. */
int ulp_place_write(const ulp_place *place, const char *program, void (*write)(FILE *file, const void *own),
                    const void *own);

/* Before a run: returns -1, or the exit status after a message if a folder has the name that
 * ulp_place_write_beside() will write. */
int ulp_place_check_beside(const ulp_place *place, const char *ending, const char *program);

/* As ulp_place_write(), for the file whose name has `ending` in place of `.csv`. If the place is direct, nothing is
 * written and the result is -1. */
int ulp_place_write_beside(const ulp_place *place, const char *ending, const char *program,
                           void (*write)(FILE *file, const void *own), const void *own);

/* Write the message about a path that cannot be written, with the reason in errno. Returns ULP_EXIT_USAGE if `named`,
 * that is, if the user chose a wrong path, and ULP_EXIT_FAILED otherwise. */
int ulp_cannot_write(const char *program, const char *path, int named);

#endif
