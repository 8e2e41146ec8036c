/* numbers.h - numbers as they stand in files: the order of their bytes, floats, integers and codes. */
#ifndef ULP_TOOL_FILES_NUMBERS_H
#define ULP_TOOL_FILES_NUMBERS_H

#include <stddef.h>

#include "formats/format.h"

/* Reverse the bytes of n numbers of `size` bytes. */
void file_swap(void *numbers, size_t n, size_t size);
/* Turn n numbers from the byte order of this machine into little-endian order, or back. */
void file_little_endian(void *numbers, size_t n, size_t size);

/* An integer of 1, 2, 4 or 8 bytes in the order of this machine, with its sign bit in all higher bits. */
uint64_t file_integer(const void *bytes, size_t size);

/* The values (2^16) of the codes of binary16, which the caller frees; NULL: no memory. */
float *file_halves(void);

/* Reads elements of one type. */
typedef struct file_reader {
    char kind;   /* as in npy_array */
    size_t size; /* bytes of an element */
    ulp_format format;
    double *values; /* (2^bits) of a format of at most 16 bits; NULL: none */
} file_reader;

/* `codes` is the format of codes (kind 'c'), else NULL. Returns 0 if there is no memory. file_reader_close() is called
 * in any case. */
int file_reader_open(file_reader *r, char kind, size_t size, const ulp_format *codes);
/* The value of the element at `bytes`, in the order of this machine. Returns 0 for a code of more bits than the format
 * has, and for an integer that binary64 does not hold. */
int file_reader_take(const file_reader *r, double *value, const void *bytes);
void file_reader_close(file_reader *r);

#endif
