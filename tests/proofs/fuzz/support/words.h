/* words.h - mutations of texts by words: words of valid inputs replace, follow and separate those of an input. */
#ifndef ULP_TESTS_FUZZ_WORDS_H
#define ULP_TESTS_FUZZ_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Add the words of a valid input to those that mutations use. */
void fuzz_words_add(const void *data, size_t size);

/* Change the text in data (size, of `room` bytes). Of several changes the first is taken that `is_valid` takes. Returns
 * the new size. */
size_t fuzz_words_mutate(uint8_t *data, size_t size, size_t room, unsigned seed, int (*is_valid)(const char *text));

#endif
