/* text.h - growing strings and arrays, lists of words, paths, shell words, and wrapping of lines. */
#ifndef ULP_CLI_TEXT_H
#define ULP_CLI_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include "base/error.h"

/* A string that grows. {0} is the empty string; after the first addition data ends with NUL. */
typedef struct ulp_text {
    char *data;
    size_t length, room;
} ulp_text;

void ulp_text_add(ulp_text *text, const char *data, size_t length);
void ulp_text_print(ulp_text *text, const char *format, ...) ULP_PRINTF(2, 3);
void ulp_text_print_list(ulp_text *text, const char *format, va_list arguments);
const char *ulp_text_of(const ulp_text *text); /* never NULL */
void ulp_text_free(ulp_text *text);

/* End the program with a message and the exit status 1; `bytes` 0: the number is not known. */
_Noreturn void ulp_out_of_memory(size_t bytes);

/* Allocate memory. Without memory the program ends as above. */
void *ulp_grow(void *memory, size_t bytes);
char *ulp_copy_text(const char *text);
/* Make room for one more element of an array; doubles *room if needed. */
void *ulp_room_for(void *array, size_t count, size_t *room, size_t size);

/* The number of fields between separators in a list; 1 for an empty list. */
size_t ulp_count_fields(const char *list, char separator);

/* Copy the next item of a list with commas to `item` (size), and move *at after it. *at starts as the list and is NULL
 * at the end. Returns 1; 0 at the end; -1 if the item is empty or too long. */
int ulp_next_item(char *item, size_t size, const char **at);

/* Whether a list, with blanks or commas between the items, contains an item. */
int ulp_list_has(const char *list, const char *item);

/* Add an item to a list in `text` (size), which starts empty. Characters that do not fit are cut off. */
void ulp_list_add(char *text, size_t size, const char *item, ...) ULP_PRINTF(3, 4);

/* The ending of a noun after a number in messages: "" for 1, else "s". */
const char *ulp_plural(size_t count);

/* The text "; did you mean BEFORE WORD AFTER?", without the blanks, with the word of `words` (separated by blanks) that
 * is nearest to `text`, or with at most `most` words; "" if no word is near enough to be meant. */
typedef struct ulp_guess {
    char text[440];
} ulp_guess;
ulp_guess ulp_guess_of(const char *text, const char *words, int most, const char *before, const char *after);

/* A copy of `path` with `by` in place of `ending`; if `path` has another ending, `by` is appended. The caller frees the
 * copy. */
char *ulp_path_replace(const char *path, const char *ending, const char *by);

/* Add `word` as one word of a shell command, quoted if needed. */
void ulp_text_quote(ulp_text *to, const char *word);

/* Add `text` with line breaks so that no line is wider than `width` columns. The first line starts at `column`; the
 * following lines begin with `indent` blanks. Line breaks in `text` stay. */
void ulp_text_wrap(ulp_text *to, const char *text, int column, int indent, int width);

#endif
