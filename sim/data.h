/* data.h - labelled images for training: what a data set is, and the table of those that can be loaded.
 *
 * Pixels stay bytes; `white` is the byte that stands for 1.0. Samples [0, n_train) are for training, the rest for
 * tests. A kind of data set is one file sim/data/NAME.c that exports one const ulp_data_kind ulp_data_NAME; the
 * Makefile makes the table from the files of the folder.
 */
#ifndef ULP_DATA_H
#define ULP_DATA_H

#include "layer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ulp_data {
    char name[16];     /* "digits", "mnist" */
    char origin[320];  /* the file or folder it was read from */
    uint32_t checksum; /* CRC-32 of the unpacked file, of several files one after the other */
    size_t n, n_train;
    ulp_dims dims;   /* of one sample: channels, height, width */
    size_t features; /* c h w */
    size_t classes;
    size_t labels; /* places for labels per sample; 1 unless labels are sequences */
    uint8_t white;
    uint8_t *pixel; /* (n,features) */
    uint8_t *label; /* (n,labels); 255: no more, the rest of the row too */
} ulp_data;

typedef struct ulp_data_kind {
    const char *name, *what;
    int ships; /* comes with the project: it can be loaded without a folder */
    /* Load from `folder` and nowhere else (NULL: where it ships, if it does). The split, if the set has none of its
     * own, depends on seed alone. On failure, with a sentence in error: ULP_NO_DEVICE if files are missing or this
     * build cannot unpack them, ULP_BAD_FILE if they are damaged or foreign. */
    ulp_status (*load)(ulp_data *data, const char *folder, uint64_t seed, char *error, size_t error_size);
} ulp_data_kind;

/* The i-th kind; NULL past the end. */
const ulp_data_kind *ulp_data_kind_get(size_t i);

/* The data set called `name`, from folder or folder/NAME. If folder is NULL or empty: from $ULPLAB_DATA if it holds the
 * set, else from where it ships. The samples are those of the files, whatever the path. On failure *data is empty and
 * error (may be NULL) names what was looked for, or lists the known names; the status as of ulp_data_kind, or
 * ULP_BAD_NAME, ULP_NO_MEMORY. */
ulp_status ulp_data_load(ulp_data *data, const char *name, const char *folder, uint64_t seed, char *error,
                         size_t error_size);

void ulp_data_release(ulp_data *data);

/* ---- for the readers ---- */

/* A whole file in memory, ended by a zero byte that is not counted; free() it. Files that end in .gz are
 * unpacked, in builds with zlib; ULP_NO_DEVICE in others. ULP_BAD_FILE: missing, unreadable, damaged or longer than
 * limit; the sentence is in error. */
ulp_status ulp_file_read(unsigned char **bytes, size_t *n, const char *path, size_t limit, char *error,
                         size_t error_size);

/* Whether path can be opened. */
int ulp_file_exists(const char *path);

/* For messages about a folder: "" or " (no such folder)". */
const char *ulp_folder_note(const char *folder);

/* order (n) = a permutation of 0 .. n-1 by Fisher and Yates, a function of the stream alone. Element i swaps with
 * floor(word (i + 1) 2^-32): biased by less than n 2^-32. */
void ulp_permutation(uint32_t *order, size_t n, ulp_stream stream);

/* Put samples in the order of a seed and make the first n_train the training part. */
ulp_status ulp_data_split(ulp_data *data, size_t n_train, uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
