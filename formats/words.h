/* words.h - words of names, without the C library: lower case, lists of words, names that grow. */
#ifndef ULP_WORDS_H
#define ULP_WORDS_H

#include "format.h"

static inline char ulp_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static inline size_t ulp_length(const char *text) {
    size_t n = 0;
    while (text[n] != '\0') n++;
    return n;
}

/* The length of the part of a name before the next ':', at most ULP_NAME_MAX. */
static inline size_t ulp_word_length(const char *text) {
    size_t n = 0;
    while (text[n] != '\0' && text[n] != ':' && n < ULP_NAME_MAX) n++;
    return n;
}

/* Whether the first n characters of the text, in upper or lower case, are one of the words, which have blanks between
 * them. */
static inline int ulp_is_one_of(const char *text, size_t n, const char *words) {
    while (*words != '\0') {
        size_t w = 0, i = 0;
        while (words[w] != '\0' && words[w] != ' ') w++;
        while (i < n && i < w && ulp_lower(text[i]) == words[i]) i++;
        if (i == n && i == w) return 1;
        words += w + (words[w] == ' ');
    }
    return 0;
}

/* Appends n characters in lower case to a name (ULP_NAME_MAX). Returns 0 if they do not fit. */
static inline int ulp_name_add(char *name, const char *from, size_t n) {
    const size_t at = ulp_length(name);
    if (at + n >= ULP_NAME_MAX) return 0;
    for (size_t i = 0; i < n; i++) name[at + i] = ulp_lower(from[i]);
    name[at + n] = '\0';
    return 1;
}

#endif
