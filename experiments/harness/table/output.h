/* output.h - files that are written whole or not at all: under another name first, then renamed.
 *
 * A name that is a symbolic link stands for the file behind it, and the link stays. Standard output (-) and devices
 * are written directly.
 */
#ifndef ULP_TABLE_OUTPUT_H
#define ULP_TABLE_OUTPUT_H

#include <stdio.h>

/* Where a program writes. */
typedef struct ulp_place {
    char *path; /* as the program says it */
    char *file; /* behind symbolic links; what `.tmp` and `.part` are added to */
    int direct; /* standard output or a device: nothing to rename, nothing to resume */
} ulp_place;

/* ULP_GO_ON (-1); or the exit status after a message: `path` is a folder, or a device that cannot be written. */
int ulp_place_choose(ulp_place *place, const char *program, const char *path);
void ulp_place_free(ulp_place *place);

/* Calls write() with the open file and `own`. -1, or the exit status after a message; then the old file is as it was.
 */
int ulp_place_write(const ulp_place *place, const char *program, void (*write)(FILE *file, const void *own),
                    const void *own);

/* The same beside a place: `.csv` of its file replaced by `ending`. -1 without a word where the place is direct. */
int ulp_place_write_beside(const ulp_place *place, const char *ending, const char *program,
                           void (*write)(FILE *file, const void *own), const void *own);

/* The sentence for a place where nothing can be written (errno says why), and its exit status: `named` if the user
 * chose it wrongly (usage), else the writing itself failed. */
int ulp_cannot_write(const char *program, const char *path, int named);

#endif
