/* message.h - declarations that the sources of foreign.h share: the sentence about the last failure, rounders. */
#ifndef ULP_FOREIGN_MESSAGE_H
#define ULP_FOREIGN_MESSAGE_H

#include "foreign.h"

/* The object of the rounding functions of foreign.h. */
struct ulp_rounder {
    ulp_format format;
    ulp_rule rule;
    const ulp_backend *backend;
};

/* Keeps a text for the thread, which ulp_foreign_error() returns until the next one, and returns the status. */
ulp_status ulp_foreign_fail(ulp_status status, const char *sentence, ...) ULP_PRINTF(2, 3);

/* Keeps "WHAT: the status as a sentence" and returns the status; does nothing if the status is ULP_OK. `backend`: where
 * an operation returned the status; NULL: no operation did. */
ulp_status ulp_foreign_status(ulp_status status, const ulp_backend *backend, const char *what);

/* Keeps the sentence of ulp_arithmetic_fault() and returns ULP_NO_DEVICE; ULP_OK if there is no fault. Every object
 * that computes begins with a format, a block or a backend, which ask here or in ulp_backend_get(). */
ulp_status ulp_foreign_arithmetic(void);

/* A list of words that is made word by word; zeroed, it is empty. */
typedef struct ulp_foreign_words {
    char text[8192]; /* the words, a blank between them */
    size_t used;
} ulp_foreign_words;

/* Adds a word, or words with blanks between them; "" adds none. What has no room is left out. */
void ulp_foreign_add_word(ulp_foreign_words *words, const char *word);

/* Keeps the sentence about a word that no list has: its kind, and the nearest words of the list (separated by blanks).
 * Returns ULP_BAD_NAME. */
ulp_status ulp_foreign_unknown(const char *kind, const char *word, const char *words);

/* A zeroed object of `size` bytes. NULL, with a sentence, if no memory is left. */
void *ulp_foreign_object(size_t size);

/* The backend called `name`; NULL is the CPU's. */
ulp_status ulp_foreign_backend(const ulp_backend **backend, const char *name);

/* The format called `name`, with a sentence if there is none. */
ulp_status ulp_foreign_parse(ulp_format *format, const char *name);

#endif
