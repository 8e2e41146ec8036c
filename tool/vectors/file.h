/* file.h - ulp vectors: the arrays of a .npz file, the cells of a CSV, and writing both. */
#ifndef ULP_TOOL_VECTORS_FILE_H
#define ULP_TOOL_VECTORS_FILE_H

#include "experiments/harness/cli/text.h"
#include "formats/rng.h"

/* What decides all vectors, and where they go. */
typedef struct vectors_request {
    const char *program, *folder;
    uint64_t seed;
    uint64_t sums;   /* of each datapath */
    uint64_t sample; /* breakpoints drawn from each format of more than 8 bits */
    int check;       /* 1: every conversion is compared with MPFR */
} vectors_request;

/* An array that grows. */
typedef struct vectors_array {
    char name[40];
    char kind;   /* 'f': binary64 values; 'u': unsigned integers */
    size_t size; /* bytes of an element */
    ulp_text bytes;
} vectors_array;

enum { VECTORS_ARRAYS = 64 };

/* The arrays of one file; {0} has none. */
typedef struct vectors_file {
    vectors_array at[VECTORS_ARRAYS];
    size_t count;
} vectors_file;

/* Add an empty array; the pointer is good as long as the file. */
vectors_array *vectors_add(vectors_file *file, char kind, size_t size, const char *name, ...) ULP_PRINTF(4, 5);
/* Append an element: an integer, or the bits of a binary64 value. */
void vectors_put(vectors_array *array, uint64_t element);
void vectors_free(vectors_file *file);

/* The bytes of the smallest unsigned integer that holds a code of `bits` bits: 1, 2, 4 or 8. */
size_t vectors_code_bytes(int bits);

/* Append a cell to a CSV: a code of `bits` bits as hex digits, with a comma before every cell but the first. */
void vectors_cell(ulp_text *csv, uint64_t code, int bits);

/* Write FOLDER/PATH, whole or not at all. */
ulp_status vectors_write_npz(const vectors_request *to, const char *path, const vectors_file *file, ulp_error *error);
ulp_status vectors_write_text(const vectors_request *to, const char *path, const ulp_text *text, ulp_error *error);

/* The name of a format or datapath as the name of a file: ':', '/' and '=' become '_'. */
void vectors_file_name(char to[160], const char *folder, const char *name, const char *ending);

/* The random words of one file: a stream of its own. */
typedef struct vectors_draw {
    ulp_stream stream;
    uint64_t next;
} vectors_draw;

vectors_draw vectors_draw_for(uint64_t seed, const char *name);
uint32_t vectors_word(vectors_draw *draw);
/* A whole number from 0 to n - 1. */
uint32_t vectors_below(vectors_draw *draw, uint32_t n);

#endif
