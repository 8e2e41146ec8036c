/* data.h - data sets of labelled images and texts for training, and the table of data sets that can be loaded.
 *
 * Pixels are bytes; the byte `white` stands for 1.0. A set of a caller may have real values instead. Samples [0,
 * n_train) are for training, the other samples for tests. A kind of data set is a const ulp_data_kind ulp_data_NAME
 * that a file of sim/data exports; the Makefile makes the table from the files of the folder.
 *
 * A sample of a text is a sequence of T tokens, an image of shape (1,T,1) whose pixels are the numbers of the tokens:
 * the net gets these numbers as they are, and no policy rounds them. Its label at each position is the next token.
 */
#ifndef ULP_DATA_H
#define ULP_DATA_H

#include "base/error.h"
#include "sim/layers/layer.h"

ULP_C_BEGIN

typedef struct ulp_data {
    char name[16];     /* "digits", "mnist", "text:32" */
    char origin[320];  /* the file or folder that the set was read from */
    uint32_t checksum; /* CRC-32 of the unpacked file, or of several files one after the other */
    size_t n, n_train;
    ulp_dims dims;   /* of one sample: channels, height, width */
    size_t features; /* c h w */
    size_t classes;
    size_t labels; /* places for labels per sample; 1 unless labels are sequences */
    uint8_t white;
    uint8_t tokens;      /* 1: pixels are numbers of tokens below `classes`; white is 1, and no policy rounds them */
    uint8_t positions;   /* 1: label i of a sample belongs to position i; 0: a sequence of labels without places */
    size_t length;       /* positions of a sample, of a set whose kind has a length; else 0 */
    uint32_t *character; /* (classes) the code point or, if the text is not UTF-8, the byte of each token; else NULL */
    uint8_t utf8;        /* 1: characters are code points */
    uint8_t *pixel;      /* (n,features); NULL if there are values */
    float *value;        /* (n,features) real-valued inputs in place of pixels, else NULL */
    uint8_t *label;      /* (n,labels); a shorter sequence is filled up with 255 */
} ulp_data;

enum { ULP_LENGTH_MAX = 4096 }; /* positions of a sample */

typedef struct ulp_data_kind {
    const char *name, *what;
    int ships; /* 1: the set comes with the project and can be loaded without a folder */
    /* Load the set from `folder` alone; NULL: from the place where the set ships. If the set has no split of its own,
     * the split depends on seed alone. data->length is set if the kind has a length. On failure error gets a sentence.
     * ULP_NO_DEVICE: files are missing, or this build cannot unpack them. ULP_BAD_FILE: files are damaged or of another
     * kind. */
    ulp_status (*load)(ulp_data *data, const char *folder, uint64_t seed, ulp_error *error);
    size_t length; /* positions of a sample, which NAME:LENGTH replaces; 0: the name takes no length */
} ulp_data_kind;

/* The i-th kind; NULL past the end. */
const ulp_data_kind *ulp_data_kind_get(size_t i);

/* The kind of the data set called `name`, NAME or NAME:LENGTH, and the length of its samples (0 without a length).
 * ULP_BAD_NAME, with a sentence in error (may be NULL), if the name is unknown or the length is wrong. */
ulp_status ulp_data_find(const ulp_data_kind **kind, size_t *length, const char *name, ulp_error *error);

/* Load the data set called `name` from folder or folder/NAME. If folder is NULL or empty, load the set from
 * $ULPLAB_DATA if that folder holds the set, else from the place where the set ships. The samples do not depend on the
 * path. A text is read from any file: `folder` is the path of the file. On failure *data is empty, and error (may be
 * NULL) names the missing files or lists the known names. The status is one of ulp_data_kind's load, or ULP_BAD_NAME,
 * or ULP_NO_MEMORY. */
ulp_status ulp_data_load(ulp_data *data, const char *name, const char *folder, uint64_t seed, ulp_error *error);

void ulp_data_release(ulp_data *data);

/* Write the characters of n tokens as UTF-8, or as bytes if the text is not UTF-8; the text ends with a zero. Returns
 * the length of the text; as snprintf(), it may be more than there is room for. */
size_t ulp_data_print(char *text, size_t size, const ulp_data *data, const uint8_t *token, size_t n);

/* token (strlen(text)) = the tokens of the characters of a text, *n of them. ULP_BAD_ARGUMENT, with a sentence in error
 * (may be NULL), for a character that the data lack. */
ulp_status ulp_data_read(uint8_t *token, size_t *n, const ulp_data *data, const char *text, ulp_error *error);

/* ---- for the kinds ---- */

/* Find the first of the names (ended by NULL) in a folder, or in the places where sets ship (shipped.c). Returns 0 if
 * there is none. */
int ulp_data_find_in(char *path, size_t size, const char *folder, const char *const *names);
int ulp_data_find_shipped(char *path, size_t size, const char *const *names);

enum { ULP_DATA_PATH = 2048 }; /* bytes of a path of the two */

/* order (n) = a permutation of 0 .. n-1 by Fisher and Yates, a function of the stream alone. Element i is swapped with
 * element floor(word (i + 1) 2^-32); the bias is less than n 2^-32. */
void ulp_permutation(uint32_t *order, size_t n, ulp_stream stream);

/* Permute the samples by a seed, and make the first n_train samples the training part. */
ulp_status ulp_data_split(ulp_data *data, size_t n_train, uint64_t seed);

ULP_C_END
#endif
