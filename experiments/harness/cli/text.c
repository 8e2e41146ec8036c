/* text.c - growing strings and arrays, lists of words, paths, shell words, and wrapping of lines; see text.h. */
#include "text.h"

#include "base/near_words.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Only one thread may call exit(); others for which memory is out wait here for the end. */
void ulp_out_of_memory(size_t bytes) {
    static pthread_mutex_t last = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&last);
    if (bytes) fprintf(stderr, "out of memory (%zu bytes)\n", bytes);
    else fputs("out of memory\n", stderr);
    exit(EXIT_FAILURE);
}

void *ulp_grow(void *memory, size_t bytes) {
    void *grown = realloc(memory, bytes ? bytes : 1);
    if (!grown) ulp_out_of_memory(bytes);
    return grown;
}

void *ulp_room_for(void *array, size_t count, size_t *room, size_t size) {
    if (count < *room) return array;
    *room = *room ? 2 * *room : 16;
    return ulp_grow(array, *room * size);
}

char *ulp_copy_text(const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(ulp_grow(NULL, bytes), text, bytes);
}

static void text_reserve(ulp_text *text, size_t more) {
    if (text->length + more + 1 <= text->room) return;
    text->room = 2 * (text->length + more + 1);
    text->data = ulp_grow(text->data, text->room);
}

void ulp_text_add(ulp_text *text, const char *data, size_t length) {
    text_reserve(text, length);
    if (length) memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void ulp_text_print_list(ulp_text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) return;
    text_reserve(text, (size_t)length);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    text->length += (size_t)length;
}

void ulp_text_print(ulp_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    ulp_text_print_list(text, format, arguments);
    va_end(arguments);
}

const char *ulp_text_of(const ulp_text *text) { return text->data ? text->data : ""; }

void ulp_text_free(ulp_text *text) {
    free(text->data);
    *text = (ulp_text){0};
}

/* ---- lists ---- */

size_t ulp_count_fields(const char *list, char separator) {
    size_t count = 1;
    for (; *list; list++) count += *list == separator;
    return count;
}

int ulp_next_item(char *item, size_t size, const char **at) {
    if (!*at) return 0;
    const char *from = *at;
    size_t length = strcspn(from, ",");
    *at = from[length] ? from + length + 1 : NULL;
    if (length == 0 || length >= size) return -1;
    memcpy(item, from, length);
    item[length] = '\0';
    return 1;
}

/* strchr(" ,", 0) is not NULL, so the end of the list ends an item, too. */
int ulp_list_has(const char *list, const char *item) {
    const size_t length = strlen(item);
    for (const char *at = list; length > 0 && (at = strstr(at, item)) != NULL; at += length)
        if ((at == list || strchr(" ,", at[-1])) && strchr(" ,", at[length])) return 1;
    return 0;
}

void ulp_list_add(char *text, size_t size, const char *item, ...) {
    va_list arguments;
    size_t used = strlen(text);
    if (used) used += (size_t)snprintf(text + used, size - used, ", ");
    if (used >= size) return;
    va_start(arguments, item);
    vsnprintf(text + used, size - used, item, arguments);
    va_end(arguments);
}

const char *ulp_plural(size_t count) { return count == 1 ? "" : "s"; }

ulp_guess ulp_guess_of(const char *text, const char *words, int most, const char *before, const char *after) {
    char near[400];
    ulp_guess guess = {""};
    if (ulp_near_words(near, sizeof near, text, words, most))
        snprintf(guess.text, sizeof guess.text, "; did you mean %s%s%s?", before, near, after);
    return guess;
}

/* ---- paths and lines ---- */

char *ulp_path_replace(const char *path, const char *ending, const char *by) {
    size_t length = strlen(path), cut = strlen(ending);
    if (length >= cut && strcmp(path + length - cut, ending) == 0) length -= cut;
    ulp_text text = {0};
    ulp_text_add(&text, path, length);
    ulp_text_add(&text, by, strlen(by));
    return text.data;
}

void ulp_text_quote(ulp_text *to, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
    if (*word && strspn(word, plain) == strlen(word)) {
        ulp_text_add(to, word, strlen(word));
        return;
    }
    ulp_text_add(to, "'", 1);
    for (; *word; word++) *word == '\'' ? ulp_text_add(to, "'\\''", 4) : ulp_text_add(to, word, 1);
    ulp_text_add(to, "'", 1);
}

static void break_line(ulp_text *to, int indent) {
    while (to->length && to->data[to->length - 1] == ' ') to->data[--to->length] = '\0';
    ulp_text_print(to, "\n%*s", indent, "");
}

/* How many characters of a word go on a line with `room` columns: the whole word; else up to the last comma; else
 * `room`. */
static int piece_of(const char *word, int length, int room) {
    if (length <= room || room < 1) return length;
    for (int i = room; i > 0; i--)
        if (word[i - 1] == ',') return i;
    return room;
}

/* The line that a text is wrapped into: the column after its last word, the blanks before a next line, and the width.
 */
typedef struct margins {
    int column, indent, width;
} margins;

/* Add `blanks` blanks and a word of `length` characters. */
static void wrap_word(ulp_text *to, const char *text, int blanks, int length, margins *m) {
    const char *word = text + blanks;
    if (m->column > m->indent && m->column + blanks + length > m->width) {
        break_line(to, m->indent);
        m->column = m->indent;
    } else {
        ulp_text_add(to, text, (size_t)blanks);
        m->column += blanks;
    }
    for (;;) {
        const int piece = piece_of(word, length, m->width - m->column);
        ulp_text_add(to, word, (size_t)piece);
        word += piece;
        length -= piece;
        m->column += piece;
        if (length == 0) return;
        break_line(to, m->indent);
        m->column = m->indent;
    }
}

void ulp_text_wrap(ulp_text *to, const char *text, int column, int indent, int width) {
    margins m = {column, indent, width};
    while (*text) {
        if (*text == '\n') {
            ulp_text_add(to, "\n", 1);
            if (text[1] && text[1] != '\n') ulp_text_print(to, "%*s", indent, "");
            m.column = indent;
            text++;
            continue;
        }
        const int blanks = (int)strspn(text, " "), length = (int)strcspn(text + blanks, " \n");
        wrap_word(to, text, blanks, length, &m);
        text += blanks + length;
    }
}
