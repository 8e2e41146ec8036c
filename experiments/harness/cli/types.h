/* types.h - what several types of options share: refusals, which return ULP_BAD_ARGUMENT, lists of things with names,
 * and the check of a folder. */
#ifndef ULP_CLI_TYPES_H
#define ULP_CLI_TYPES_H

#include "message.h"
#include "options.h"

ulp_status ulp_refuse_item(ulp_error *error, const char *list);                   /* an item is empty or too long */
ulp_status ulp_refuse_twin(ulp_error *error, const char *list, const char *item); /* an item is in the list twice */
ulp_status ulp_refuse_all(ulp_error *error, const char *list);                    /* "all" stands beside other items */

/* A word that is not one of `words`, which have blanks between them: "no KIND 'WORD'", then the nearest of the words,
 * then all of them with `more` after them, or only where they are listed if they are many. */
ulp_status ulp_refuse_word(ulp_error *error, const char *kind, const char *word, const char *words, const char *more);

/* A list of things whose first field is their name, an array of characters. */
typedef struct ulp_named_list {
    size_t size; /* of a thing */
    ulp_status (*read)(void *thing, const char *item, const ulp_option *option, ulp_error *error);
    void (*add_all)(struct ulp_named_list *list, const ulp_option *option); /* for "all"; NULL: "all" is an item */
    void *at;                                                               /* (count), allocated */
    size_t count, room;
} ulp_named_list;

void ulp_named_list_add(ulp_named_list *list, const void *thing);

/* Reads items with commas between them, or "all". After a refusal the list is empty. */
ulp_status ulp_named_list_read(ulp_named_list *list, const char *text, const ulp_option *option, ulp_error *error);

int ulp_is_folder(const char *path);

#endif
