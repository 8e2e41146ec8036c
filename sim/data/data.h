/* data.h - data sets of labelled images for training, and the table of data sets that can be loaded.
 *
 * Pixels are bytes; the byte `white` stands for 1.0. Samples [0, n_train) are for training, the other samples for
 * tests. A kind of data set is a const ulp_data_kind ulp_data_NAME that a file of sim/data exports; the Makefile
 * makes the table from the files of the folder.
 */
#ifndef ULP_DATA_H
#define ULP_DATA_H

#include "base/error.h"
#include "sim/layers/layer.h"

ULP_C_BEGIN

typedef struct ulp_data {
    char name[16];     /* "digits", "mnist" */
    char origin[320];  /* the file or folder that the set was read from */
    uint32_t checksum; /* CRC-32 of the unpacked file, or of several files one after the other */
    size_t n, n_train;
    ulp_dims dims;   /* of one sample: channels, height, width */
    size_t features; /* c h w */
    size_t classes;
    size_t labels; /* places for labels per sample; 1 unless labels are sequences */
    uint8_t white;
    uint8_t *pixel; /* (n,features) */
    uint8_t *label; /* (n,labels); a shorter sequence is filled up with 255 */
} ulp_data;

typedef struct ulp_data_kind {
    const char *name, *what;
    int ships; /* 1: the set comes with the project and can be loaded without a folder */
    /* Load the set from `folder` alone; NULL: from the place where the set ships. If the set has no split of its own,
     * the split depends on seed alone. On failure error gets a sentence. ULP_NO_DEVICE: files are missing, or this
     * build cannot unpack them. ULP_BAD_FILE: files are damaged or of another kind. */
    ulp_status (*load)(ulp_data *data, const char *folder, uint64_t seed, ulp_error *error);
} ulp_data_kind;

/* The i-th kind; NULL past the end. */
const ulp_data_kind *ulp_data_kind_get(size_t i);

/* Load the data set called `name` from folder or folder/NAME. If folder is NULL or empty, load the set from
 * $ULPLAB_DATA if that folder holds the set, else from the place where the set ships. The samples do not depend on the
 * path. On failure *data is empty, and error (may be NULL) names the missing files or lists the known names. The status
 * is one of ulp_data_kind's load, or ULP_BAD_NAME, or ULP_NO_MEMORY. */
ulp_status ulp_data_load(ulp_data *data, const char *name, const char *folder, uint64_t seed, ulp_error *error);

void ulp_data_release(ulp_data *data);

/* ---- for the kinds ---- */

/* order (n) = a permutation of 0 .. n-1 by Fisher and Yates, a function of the stream alone. Element i is swapped with
 * element floor(word (i + 1) 2^-32); the bias is less than n 2^-32. */
void ulp_permutation(uint32_t *order, size_t n, ulp_stream stream);

/* Permute the samples by a seed, and make the first n_train samples the training part. */
ulp_status ulp_data_split(ulp_data *data, size_t n_train, uint64_t seed);

ULP_C_END
#endif
