/* types.h - declarations for several types of options: refusals, which return ULP_BAD_ARGUMENT, lists of things with
 * names, and the check of a folder. */
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
    void *at;    /* (count), allocated */
    size_t count, room;
} ulp_named_list;

void ulp_named_list_add(ulp_named_list *list, const void *thing);

/* `read` and `print` of a type of lists of things with names, with commas between them, or "all" if the type has
 * add_all. The field is a struct of a pointer and a size_t: the things and their number. */
ulp_status ulp_named_list_read(void *field, const char *text, const ulp_option *option, ulp_error *error);
void ulp_named_list_print(ulp_text *to, const void *field, const ulp_option *option);

/* `print` of a type of such a thing, and `release` of every field that begins with an allocated pointer. */
void ulp_name_print(ulp_text *to, const void *field, const ulp_option *option);
void ulp_list_release(void *field);

int ulp_is_folder(const char *path);

#endif
