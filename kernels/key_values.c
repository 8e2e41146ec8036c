/* key_values.c - parsing, printing and explaining texts "key=value,key=value"; see key_values.h. */
#include "key_values.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 640, NAME = 48 };

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static ulp_status
refuse(char *error, size_t size, ulp_status status, const char *format, ...) {
    va_list arguments;
    if (!error || !size) return status;
    va_start(arguments, format);
    vsnprintf(error, size, format, arguments);
    va_end(arguments);
    return status;
}

/* The i-th key of all lists; NULL past the end. */
static const ulp_key *key_at(const ulp_key *const *lists, size_t i) {
    for (; *lists; lists++)
        for (const ulp_key *key = *lists; key->name; key++)
            if (i-- == 0) return key;
    return NULL;
}

/* ---- near names ---- */

/* Insertions, deletions and substitutions that turn a into b, at most `limit` + 1. Levenshtein 1966. */
static size_t distance(const char *a, const char *b, size_t limit) {
    size_t row[NAME + 1], n = strlen(b);
    if (n > NAME || strlen(a) > NAME) return limit + 1;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]), least = row[j] < row[j - 1] ? row[j] : row[j - 1];
            diagonal = row[j];
            row[j] = change < least + 1 ? change : least + 1;
        }
    }
    return row[n] < limit + 1 ? row[n] : limit + 1;
}

/* One that begins with the word, or differs from it in a third of its letters at most; NULL: none is near. */
static const char *nearest(const char *word, const char *const *names) {
    const char *found = NULL;
    size_t limit = strlen(word) < 3 ? 1 : strlen(word) / 3;
    for (; *names; names++) {
        size_t d = distance(word, *names, limit);
        if (strlen(word) > 1 && strncmp(*names, word, strlen(word)) == 0) return *names;
        if (d > limit) continue;
        found = *names;
        limit = d ? d - 1 : 0;
    }
    return found;
}

static void list_names(char *text, size_t size, const char *const *names, const char *between) {
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; names[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? between : "", names[i]);
}

ulp_status ulp_name_refuse(char *error, size_t error_size, const char *of, const char *word, const char *const *names) {
    char known[LINE];
    const char *near = nearest(word, names);
    list_names(known, sizeof known, names, ", ");
    if (near) return refuse(error, error_size, ULP_BAD_NAME, "%s '%.60s'; did you mean '%s'?", of, word, near);
    return refuse(error, error_size, ULP_BAD_NAME, "%s '%.60s'; known: %s", of, word, known);
}

/* names [ULP_KEYS_MAX + 1] of all keys. */
static void names_of(const char **names, const ulp_key *const *lists) {
    size_t n = 0;
    for (const ulp_key *key; n < ULP_KEYS_MAX && (key = key_at(lists, n)); n++) names[n] = key->name;
    names[n] = NULL;
}

void ulp_keys_list(char *text, size_t size, const ulp_key *const *lists, const char *between) {
    const char *names[ULP_KEYS_MAX + 1];
    names_of(names, lists);
    list_names(text, size, names, between);
}

/* ---- reading ---- */

static void put_integer(void *to, const ulp_key *key, int64_t value) {
    unsigned char *at = (unsigned char *)to + key->at;
    if (key->bytes == 1) memcpy(at, &(uint8_t){(uint8_t)value}, 1);
    if (key->bytes == 2) memcpy(at, &(uint16_t){(uint16_t)value}, 2);
    if (key->bytes == 4) memcpy(at, &(uint32_t){(uint32_t)value}, 4);
    if (key->bytes == 8) memcpy(at, &value, 8);
}

static int64_t integer_of(const void *from, const ulp_key *key) {
    const unsigned char *at = (const unsigned char *)from + key->at;
    const int is_signed = key->min < 0;
    uint8_t one;
    uint16_t two;
    uint32_t four;
    int64_t eight = 0;
    if (key->bytes == 1) return memcpy(&one, at, 1), is_signed ? (int8_t)one : one;
    if (key->bytes == 2) return memcpy(&two, at, 2), is_signed ? (int16_t)two : two;
    if (key->bytes == 4) return memcpy(&four, at, 4), is_signed ? (int32_t)four : (int64_t)four;
    memcpy(&eight, at, sizeof eight);
    return eight;
}

/* "a number from 0 to 1". */
static void form_of(char *text, size_t size, const ulp_key *key) {
    const char *what = key->type == ULP_KEY_NUMBER ? "a number" : "a whole number";
    if (key->type == ULP_KEY_OWN) snprintf(text, size, "%s", key->form);
    else if (key->type == ULP_KEY_FLAG) snprintf(text, size, "0 or 1");
    else snprintf(text, size, "%s from %.7g to %.7g", what, key->min, key->max);
}

static ulp_status read_value(void *to, const ulp_key *key, const char *value, const char *of, char *error,
                             size_t error_size) {
    char form[LINE], *end;
    if (key->type == ULP_KEY_OWN) return key->read(to, key, value, error, error_size);
    const double v = strtod(value, &end), min = key->type == ULP_KEY_FLAG ? 0 : key->min,
                 max = key->type == ULP_KEY_FLAG ? 1 : key->max;
    const int is_number = end != value && !*end && v >= min && v <= max;
    if (!is_number || (key->type != ULP_KEY_NUMBER && v != (double)(int64_t)v)) {
        form_of(form, sizeof form, key);
        return refuse(error, error_size, ULP_BAD_NAME, "%s: '%s=%s': %s is %s", of, key->name, value, key->name, form);
    }
    if (key->type == ULP_KEY_NUMBER) memcpy((unsigned char *)to + key->at, &v, sizeof v);
    else put_integer(to, key, (int64_t)v);
    return ULP_OK;
}

/* The key that a word names, and where it is among all; its value begins behind the equals sign, which is cut. */
static const ulp_key *find_key(const ulp_key *const *lists, char *word, size_t *at, const char *of, char *error,
                               size_t error_size) {
    const char *names[ULP_KEYS_MAX + 1];
    char what[LINE], *equals = strchr(word, '=');
    const ulp_key *key = NULL;
    if (!equals) {
        refuse(error, error_size, ULP_BAD_NAME, "%s: '%s' is not key=value; words stand between commas", of, word);
        return NULL;
    }
    *equals = 0;
    for (*at = 0; (key = key_at(lists, *at)) && strcmp(key->name, word) != 0;) ++*at;
    if (key) return key;
    names_of(names, lists);
    snprintf(what, sizeof what, "%s: no key", of);
    ulp_name_refuse(error, error_size, what, word, names);
    return NULL;
}

ulp_status ulp_keys_read(void *to, const ulp_key *const *lists, const char *text, const char *of, char *error,
                         size_t error_size) {
    uint64_t seen = 0;
    while (*text) {
        char word[ULP_VALUE_MAX];
        size_t length = strcspn(text, ","), at;
        if (length >= sizeof word)
            return refuse(error, error_size, ULP_BAD_NAME, "%s: '%.40s...' is longer than %d characters", of, text,
                          ULP_VALUE_MAX - 1);
        memcpy(word, text, length);
        word[length] = 0;
        const ulp_key *key = find_key(lists, word, &at, of, error, error_size);
        if (!key) return ULP_BAD_NAME;
        if (seen >> at & 1) return refuse(error, error_size, ULP_BAD_NAME, "%s: %s is given twice", of, key->name);
        seen |= (uint64_t)1 << at;
        ulp_status status = read_value(to, key, word + strlen(word) + 1, of, error, error_size);
        if (status != ULP_OK) return status;
        text += length;
        if (*text && !*++text)
            return refuse(error, error_size, ULP_BAD_NAME, "%s: '' is not key=value; words stand between commas", of);
    }
    return ULP_OK;
}

/* ---- printing ---- */

/* The value's canonical text; 0 characters: it has none. */
static int print_value(char *text, size_t size, const void *from, const ulp_key *key) {
    double number;
    if (key->type == ULP_KEY_OWN) return key->print ? key->print(text, size, from, key) : 0;
    if (key->type != ULP_KEY_NUMBER) return snprintf(text, size, "%lld", (long long)integer_of(from, key));
    memcpy(&number, (const unsigned char *)from + key->at, sizeof number);
    return snprintf(text, size, "%.17g", number);
}

ulp_status ulp_keys_print(char *text, size_t size, const ulp_key *const *lists, const void *from) {
    size_t used = 0;
    const ulp_key *key;
    if (size) text[0] = 0;
    for (size_t i = 0; (key = key_at(lists, i)) && used < size; i++) {
        char value[ULP_VALUE_MAX];
        if (print_value(value, sizeof value, from, key) > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%s", used ? "," : "", key->name, value);
    }
    return used < size ? ULP_OK : ULP_BAD_ARGUMENT;
}

/* ---- reference text ---- */

void ulp_help_line(const ulp_help *to, const char *format, ...) {
    char line[2 * LINE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    to->line(to->context, line);
}

void ulp_help_entry(const ulp_help *to, const char *name, const char *meaning) {
    ulp_help_line(to, "%-*s  %s", ULP_HELP_COLUMN - 2, name, meaning);
}

/* 0.001 as 0.001 and not with 17 digits. */
static void print_default(char *text, size_t size, const void *from, const ulp_key *key) {
    double number;
    text[0] = 0;
    if (!from) return;
    if (key->type != ULP_KEY_NUMBER) {
        print_value(text, size, from, key);
        return;
    }
    memcpy(&number, (const unsigned char *)from + key->at, sizeof number);
    snprintf(text, size, "%.7g", number);
}

void ulp_help_keys(const ulp_help *to, const ulp_key *const *lists, const void *defaults) {
    const ulp_key *key;
    for (size_t i = 0; (key = key_at(lists, i)); i++) {
        char form[LINE], value[ULP_VALUE_MAX], meaning[2 * LINE];
        form_of(form, sizeof form, key);
        print_default(value, sizeof value, defaults, key);
        snprintf(meaning, sizeof meaning, "%s (%s%s%s)", key->help, form, value[0] ? "; default " : "", value);
        ulp_help_entry(to, key->name, meaning);
    }
}
