/* numbers.c - numbers as they stand in files; see numbers.h. */
#include "numbers.h"

#include <stdlib.h>
#include <string.h>

#include "formats/round.h"

void file_swap(void *numbers, size_t n, size_t size) {
    unsigned char *at = numbers;
    for (size_t i = 0; i < n; i++, at += size)
        for (size_t low = 0, high = size - 1; low < high; low++, high--) {
            const unsigned char byte = at[low];
            at[low] = at[high];
            at[high] = byte;
        }
}

void file_little_endian(void *numbers, size_t n, size_t size) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    if (first == 0) file_swap(numbers, n, size);
}

float *file_halves(void) {
    float *halves = malloc(65536 * sizeof *halves);
    for (uint64_t code = 0; halves != NULL && code < 65536; code++)
        halves[code] = (float)ulp_decode(code, &ulp_binary16);
    return halves;
}
