/* near_words.h - the words that someone who wrote another word may have meant. */
#ifndef ULP_NEAR_WORDS_H
#define ULP_NEAR_WORDS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The words of `words` (blanks between them) nearest to `text`, at most `most` of them, with ", " between them in
 * `near` (size; empty if no word is near enough to be meant). Words that begin with `text` are nearest; then the number
 * of letters counts that are left out, added, changed or exchanged with their neighbour, whatever their case. Returns
 * how many words there are. */
int ulp_near_words(char *near, size_t size, const char *text, const char *words, int most);

#ifdef __cplusplus
}
#endif
#endif
