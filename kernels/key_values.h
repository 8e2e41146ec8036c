/* key_values.h - the one reader of texts "key=value,key=value": a table of keys gives parsing, printing and the
 * reference text.
 *
 * A key names a field of a struct, its type, its range and its sentence. Lists of keys end with a key without a name;
 * a description has one or more lists, ended by NULL, so that kinds of a thing share the keys that all of them have.
 * Policies, scalers and optimizers write commas between the pairs, and datapaths write colons.
 * Nothing is printed here: reference text goes to a callback, line by line.
 */
#ifndef ULP_KEY_VALUES_H
#define ULP_KEY_VALUES_H

#include <stddef.h>

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ulp_key_type {
    ULP_KEY_NUMBER,  /* double */
    ULP_KEY_INTEGER, /* an integer of any size; signed if min is negative */
    ULP_KEY_FLAG,    /* 0 or 1, uint8_t */
    ULP_KEY_OWN      /* what read() makes of it */
} ulp_key_type;

typedef struct ulp_key ulp_key;

struct ulp_key {
    const char *name;
    const char *help; /* a sentence, without a full stop */
    ulp_key_type type;
    size_t at, bytes; /* of the field, as ULP_KEY_FIELD gives them */
    double min, max;  /* of numbers and integers */

    /* Of ULP_KEY_INTEGER: `form`, if not NULL, is a word that stands for the number `index`, which may lie beyond the
     * range. */

    /* Of ULP_KEY_OWN: how a value is written; a number for read() and print(); read() puts the value into the struct or
     * leaves a sentence in error (may be NULL); print() writes "value" for the canonical text and returns its length,
     * 0 where the key is not part of it. print NULL: the key never is. */
    const char *form;
    int index;
    ulp_status (*read)(void *to, const ulp_key *key, const char *value, char *error, size_t error_size);
    int (*print)(char *text, size_t size, const void *from, const ulp_key *key);
};

#define ULP_KEY_FIELD(type, field) offsetof(type, field), sizeof(((type *)0)->field)

enum { ULP_KEYS_MAX = 64, ULP_VALUE_MAX = 160 }; /* keys of a description; characters of "key=value" */

/* How texts with these keys are read. */
typedef struct ulp_key_reader {
    const ulp_key *const *lists;
    char between; /* the character between two pairs; 0: a comma */
    int plain;    /* 1: keys in any case; a whole number is a sign and decimal digits, and a number out of its range is
                     ULP_NOT_IN_RANGE; 0: keys as they are spelled, 1e3 is a whole number, all faults ULP_BAD_NAME */
    /* May be NULL: what the struct at `to` lacks for a key, as "is of int8 only" (then ULP_UNSUPPORTED), or NULL. */
    const char *(*lacks)(const void *to, const ulp_key *key);
} ulp_key_reader;

/* Put "key=value,..." into the struct at `to`; an empty text changes nothing. Each key at most once. On failure a
 * sentence in error (may be NULL) that begins with `of`, quotes the word, and says the range or the nearest keys; the
 * status is ULP_BAD_NAME, one that the reader says, or the status of read(). The struct may then hold some of the
 * values. */
ulp_status ulp_keys_read(void *to, const ulp_key_reader *reader, const char *text, const char *of, char *error,
                         size_t error_size);

/* "key=value,..." with all keys that have a canonical text; ULP_BAD_ARGUMENT if it does not fit. */
ulp_status ulp_keys_print(char *text, size_t size, const ulp_key *const *lists, const void *from);

/* "rate, decay, kahan", with `between` between them. */
void ulp_keys_list(char *text, size_t size, const ulp_key *const *lists, const char *between);

/* ---- names ---- */

/* The sentence for a word that is no name of a kind of thing: "OF 'word'; did you mean 'x'?", or with all names where
 * none is near. names end with NULL. Returns ULP_BAD_NAME. */
ulp_status ulp_name_refuse(char *error, size_t error_size, const char *of, const char *word, const char *const *names);

/* ---- reference text ---- */

/* Gets the lines of a reference text, without their ends and not yet broken to a width: an entry is a name, two blanks
 * or more, and what it means, in one line. */
typedef struct ulp_help {
    void (*line)(void *context, const char *line);
    void *context;
} ulp_help;

enum { ULP_HELP_COLUMN = 12 }; /* where the meanings begin */

/* printf into one line. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void ulp_help_line(const ulp_help *to, const char *format, ...);

/* An entry: the name padded to ULP_HELP_COLUMN, then the meaning. */
void ulp_help_entry(const ulp_help *to, const char *name, const char *meaning);

/* An entry for every key: how values are written, the default (of the struct at `defaults`; NULL: none), the sentence.
 */
void ulp_help_keys(const ulp_help *to, const ulp_key *const *lists, const void *defaults);

#ifdef __cplusplus
}
#endif
#endif
