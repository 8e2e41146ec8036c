/* types.h - what several types of options share: refusals, which return ULP_EXIT_USAGE, and the check of a folder. */
#ifndef ULP_CLI_TYPES_H
#define ULP_CLI_TYPES_H

#include "text.h"

int ulp_refuse_item(ulp_text *error, const char *list);                   /* an item is empty or too long */
int ulp_refuse_twin(ulp_text *error, const char *list, const char *item); /* an item is in the list twice */
int ulp_refuse_all(ulp_text *error, const char *list);                    /* "all" stands beside other items */

/* A word that is not one of `words`, which have blanks between them: "no KIND 'WORD'", then the nearest of the words,
 * then all of them with `more` behind them, or only where they are listed if they are many. */
int ulp_refuse_word(ulp_text *error, const char *kind, const char *word, const char *words, const char *more);

int ulp_is_folder(const char *path);

#endif
