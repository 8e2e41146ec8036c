/* output.h - where programs write: files as a whole or not at all (base/replace.h), standard output and devices.
 *
 * If the name is a symbolic link, the file behind the link is replaced, and the link stays. Standard output (-) and
 * devices are written directly.
 */
#ifndef ULP_TABLE_OUTPUT_H
#define ULP_TABLE_OUTPUT_H

#include <stdio.h>

#include "base/error.h"
#include "base/replace.h"

/* The path behind a chain of symbolic links; the file may not exist yet. The caller frees the path. */
char *ulp_path_behind_links(const char *path);

/* The place to which a program writes. */
typedef struct ulp_place {
    char *path; /* the name for messages */
    char *file; /* the path behind symbolic links; `.tmp` and `.part` are added to it */
    int direct; /* 1: standard output or a device; no renaming, no resuming */
} ulp_place;

/* Set *place. A folder, and a device that cannot be written, are refused. */
ulp_status ulp_place_choose(ulp_place *place, const char *path, ulp_error *error);
void ulp_place_free(ulp_place *place);

/* Begin to replace the file `path`, which sentences call `shown`. A file that another process is writing is refused.
 * `named`: see ulp_cannot_write(). */
ulp_status ulp_replacement_begin(ulp_replacement **r, const char *path, const char *shown, int named, ulp_error *error);

/* Write a file by write(), which gets the open file and `own`. After a failure an old file is unchanged. */
ulp_status ulp_place_write(const ulp_place *place, void (*write)(FILE *file, const void *own), const void *own,
                           ulp_error *error);

/* Before a run: refuse a folder that has the name that ulp_place_write_beside() will write. */
ulp_status ulp_place_check_beside(const ulp_place *place, const char *ending, ulp_error *error);

/* As ulp_place_write(), for the file whose name has `ending` in place of `.csv`. If the place is direct, nothing is
 * written. */
ulp_status ulp_place_write_beside(const ulp_place *place, const char *ending,
                                  void (*write)(FILE *file, const void *own), const void *own, ulp_error *error);

/* The failure to write a path, with the reason in errno. Returns ULP_BAD_ARGUMENT if `named`, that is, if the user
 * chose a wrong path, and ULP_BAD_FILE otherwise. */
ulp_status ulp_cannot_write(ulp_error *error, const char *path, int named);

/* ---- JSON ---- */

/* Write a text, at most `length` characters of it, in quotes. */
void ulp_json_text(FILE *file, const char *text, size_t length);
/* Write a line with a key and a text, and one with the key "date" and the present time. */
void ulp_json_pair(FILE *file, const char *key, const char *text);
void ulp_json_date(FILE *file);

#endif
