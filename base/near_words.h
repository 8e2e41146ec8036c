/* near_words.h - the words of a list that are nearest to a misspelt word. */
#ifndef ULP_NEAR_WORDS_H
#define ULP_NEAR_WORDS_H

#include <stddef.h>

#include "formats/c_linkage.h"

ULP_C_BEGIN

/* Writes to near (size) the words of `words` (separated by blanks) that are nearest to `text`, with ", " between them,
 * at most `most` words. `near` is empty if no word is near enough. A word that begins with `text` is nearest. Otherwise
 * the distance counts letters that are missing, added, changed or exchanged with a neighbour; upper and lower case are
 * the same. Returns the number of words. */
int ulp_near_words(char *near, size_t size, const char *text, const char *words, int most);

ULP_C_END
#endif
