/* key_values.h - the reader of texts "key=value,key=value": a table of keys gives parsing, printing and help text.
 *
 * A key describes a field of a struct: its name, type, range and help sentence. A list of keys ends with a key without
 * a name. A description has one or more lists and ends with NULL, so that related structs can share the keys that they
 * all have. Texts of policies, scalers and optimizers have commas between the pairs; texts of datapaths have colons.
 * These functions print nothing: a callback receives the help text line by line.
 */
#ifndef ULP_KEY_VALUES_H
#define ULP_KEY_VALUES_H

#include <stddef.h>

#include "error.h"

ULP_C_BEGIN

typedef enum ulp_key_type {
    ULP_KEY_NUMBER,  /* double */
    ULP_KEY_INTEGER, /* an integer of any size; signed if min is negative */
    ULP_KEY_FLAG,    /* 0 or 1, uint8_t */
    ULP_KEY_OWN      /* read() reads the value */
} ulp_key_type;

typedef struct ulp_key ulp_key;

struct ulp_key {
    const char *name;
    const char *help; /* a sentence, without a full stop */
    ulp_key_type type;
    size_t at, bytes; /* offset and size of the field, from ULP_KEY_FIELD */
    double min, max;  /* range of numbers and integers */

    /* For ULP_KEY_INTEGER: `form`, if not NULL, is a word for the number `index`, which may be outside the range. */

    /* For ULP_KEY_OWN: `form` says how a value is written. `index` is a number for read() and print(). read() stores
     * the value in the struct or writes a sentence to error (may be NULL). print() writes the canonical text of the
     * value and returns its length, or 0 if the canonical text does not have the key. print = NULL: the canonical text
     * never has the key. */
    const char *form;
    int index;
    ulp_status (*read)(void *to, const ulp_key *key, const char *value, ulp_error *error);
    int (*print)(char *text, size_t size, const void *from, const ulp_key *key);
};

#define ULP_KEY_FIELD(type, field) offsetof(type, field), sizeof(((type *)0)->field)

enum { ULP_KEYS_MAX = 64, ULP_VALUE_MAX = 160 }; /* most keys of a description; most characters of "key=value" */

/* The rules for reading texts with these keys. */
typedef struct ulp_key_reader {
    const ulp_key *const *lists;
    char between; /* the character between two pairs; 0 means a comma */
    int plain; /* 0: keys have one spelling, 1e3 is a whole number, and every error is ULP_BAD_NAME; 1: keys are in any
                  case, a whole number is a sign and decimal digits, and a number out of range is ULP_NOT_IN_RANGE */
    /* May be NULL. Returns the reason why the struct at `to` has no such key, as "is of int8 only" (then the status is
     * ULP_UNSUPPORTED), or NULL. */
    const char *(*lacks)(const void *to, const ulp_key *key);
    /* May be NULL. Whether `text`, which stands after a `between`, goes on with the value of the key that is read. */
    int (*goes_on)(const char *key, const char *text);
    /* May be NULL. Reads a pair whose name has a point, as "bn.act=fp16", which no key has. */
    ulp_status (*dotted)(void *to, const char *name, const char *value, ulp_error *error);
} ulp_key_reader;

/* Reads "key=value,..." into the struct at `to`. An empty text changes nothing. A key may occur once. A failure writes
 * a sentence to error (may be NULL): the sentence begins with `of`, quotes the word, and gives the range or the nearest
 * keys. The status is ULP_BAD_NAME, a status of ulp_key_reader, or the status of read(). After a failure the struct may
 * hold some of the values. */
ulp_status ulp_keys_read(void *to, const ulp_key_reader *reader, const char *text, const char *of, ulp_error *error);

/* Writes "key=value,..." with the keys that have a canonical text, in the order of the lists. The text leaves out the
 * keys whose values are equal in the struct at `unlike`; NULL leaves out no key. Returns ULP_BAD_ARGUMENT if the text
 * does not fit. */
ulp_status ulp_keys_print(char *text, size_t size, const ulp_key_reader *reader, const void *from, const void *unlike);

/* Writes the names of all keys with `between` between them: "rate, decay, kahan". */
void ulp_keys_list(char *text, size_t size, const ulp_key *const *lists, const char *between);

/* ---- names ---- */

/* Writes the sentence for a word that is not one of the names: "OF 'word'; did you mean 'x'?", or all names if no name
 * is near. `of` is the kind of thing. names ends with NULL. Returns ULP_BAD_NAME. */
ulp_status ulp_name_refuse(ulp_error *error, const char *of, const char *word, const char *const *names);

/* ---- help text ---- */

/* A receiver of the lines of a help text. A line has no line end and is not yet broken to a width. An entry is one
 * line: a name, at least two blanks, and the meaning. */
typedef struct ulp_help {
    void (*line)(void *context, const char *line);
    void *context;
} ulp_help;

enum { ULP_HELP_COLUMN = 12 }; /* column of the meanings */

/* Prints one line like printf. */
void ulp_help_line(const ulp_help *to, const char *format, ...) ULP_PRINTF(2, 3);

/* Prints an entry: the name padded to ULP_HELP_COLUMN, then the meaning. */
void ulp_help_entry(const ulp_help *to, const char *name, const char *meaning);

/* Prints an entry for each key: its form, its default (from the struct at `defaults`; NULL: no defaults), its help
 * sentence. */
void ulp_help_keys(const ulp_help *to, const ulp_key *const *lists, const void *defaults);

ULP_C_END
#endif
