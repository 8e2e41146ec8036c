/* numbers.h - numbers as they stand in files: the order of their bytes, and the values of binary16. */
#ifndef ULP_TOOL_FILES_NUMBERS_H
#define ULP_TOOL_FILES_NUMBERS_H

#include <stddef.h>

/* Reverse the bytes of n numbers of `size` bytes. */
void file_swap(void *numbers, size_t n, size_t size);
/* Turn n numbers from the byte order of this machine into little-endian order, or back. */
void file_little_endian(void *numbers, size_t n, size_t size);

/* The values (2^16) of the codes of binary16, which the caller frees; NULL: no memory. */
float *file_halves(void);

#endif
