/* file.h - reading whole files; with zlib packed files, too. */
#ifndef ULP_FILE_H
#define ULP_FILE_H

#include <stddef.h>

#include "error.h"

ULP_C_BEGIN

/* Read a whole file into *bytes (n); free() it. A zero byte follows the n bytes. Builds with zlib unpack files whose
 * name ends in .gz; other builds return ULP_NO_DEVICE for them. ULP_BAD_FILE: the file is missing, unreadable, damaged
 * or longer than limit. On failure error gets a sentence. */
ulp_status ulp_file_read(unsigned char **bytes, size_t *n, const char *path, size_t limit, ulp_error *error);

/* Whether path can be opened. */
int ulp_file_exists(const char *path);

/* A note for messages: "" if the folder exists, else " (no such folder)". */
const char *ulp_folder_note(const char *folder);

ULP_C_END
#endif
