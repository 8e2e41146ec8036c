/* text.h - strings and arrays that grow, words in lists, paths, words for a shell. */
#ifndef ULP_CLI_TEXT_H
#define ULP_CLI_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#if defined(__GNUC__) || defined(__clang__)
#define ULP_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ULP_PRINTF(text, first)
#endif

/* A string that grows. {0} is empty; data is NUL-terminated once anything was added. */
typedef struct ulp_text {
    char *data;
    size_t length, room;
} ulp_text;

void ulp_text_add(ulp_text *text, const char *data, size_t length);
void ulp_text_print(ulp_text *text, const char *format, ...) ULP_PRINTF(2, 3);
void ulp_text_print_list(ulp_text *text, const char *format, va_list arguments);
const char *ulp_text_of(const ulp_text *text); /* never NULL */
void ulp_text_free(ulp_text *text);

/* Memory, or the end of the program with exit status 1. */
void *ulp_grow(void *memory, size_t bytes);
char *ulp_copy_text(const char *text);
/* Room for one element more: doubles *room as needed. */
void *ulp_room_for(void *array, size_t count, size_t *room, size_t size);

/* The number of fields that `separator` makes of a list; 1 for an empty list. */
size_t ulp_count_fields(const char *list, char separator);

/* The next item of a list with commas, copied to `item` (size); 1, 0 at the end, -1 if it is empty or too long. *at
 * moves on; it begins at the list and is NULL at the end. */
int ulp_next_item(char *item, size_t size, const char **at);

/* Whether an item of a list, with blanks or commas between the items, is this one. */
int ulp_list_has(const char *list, const char *item);

/* Add an item to a list in `text` (size), which starts empty; the part that does not fit is cut off. */
void ulp_list_add(char *text, size_t size, const char *item, ...) ULP_PRINTF(3, 4);

/* The words of `words` (blanks between them) nearest to `text` by edit distance, at most `most` of them, as a list
 * with commas in `near` (empty if no word is near enough to be meant). Returns how many there are. */
int ulp_nearest_words(ulp_text *near, const char *text, const char *words, int most);

/* `path` with `ending` replaced by `by`, or `by` appended where it ends otherwise. The caller frees it. */
char *ulp_path_replace(const char *path, const char *ending, const char *by);

/* Adds `word` as one word of a shell command. */
void ulp_text_quote(ulp_text *to, const char *word);

/* Adds `text` with line breaks so that no line is wider than `width` columns. Lines after the first begin with
 * `indent` blanks; `column` is where the first line stands already. Line breaks in `text` stay. */
void ulp_text_wrap(ulp_text *to, const char *text, int column, int indent, int width);

#endif
