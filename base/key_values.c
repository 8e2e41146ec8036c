/* key_values.c - parsing, printing and explaining texts "key=value,key=value"; see key_values.h. */
#include "key_values.h"
#include "near_words.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 640, NAME = 48 };

/* The i-th key of all lists. NULL past the end. */
static const ulp_key *key_at(const ulp_key *const *lists, size_t i) {
    for (; *lists; lists++)
        for (const ulp_key *key = *lists; key->name; key++)
            if (i-- == 0) return key;
    return NULL;
}

/* The character between two pairs. */
static char between_of(const ulp_key_reader *reader) { return reader->between ? reader->between : ','; }

/* ---- names ---- */

static void list_names(char *text, size_t size, const char *const *names, const char *between) {
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; names[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? between : "", names[i]);
}

ulp_status ulp_name_refuse(ulp_error *error, const char *of, const char *word, const char *const *names) {
    char known[LINE], near[NAME];
    list_names(known, sizeof known, names, " ");
    const int found = ulp_near_words(near, sizeof near, word, known, 1);
    list_names(known, sizeof known, names, ", ");
    return ulp_fail(error, ULP_BAD_NAME, "%s '%.60s'; %s%s%sknown: %s", of, word, found ? "did you mean '" : "", near,
                    found ? "'? " : "", known);
}

/* names [ULP_KEYS_MAX + 1] = the names of all keys, then NULL. */
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

/* The rules for a text, the kind of thing that the text describes, and the place for the sentence. */
typedef struct reading {
    const ulp_key_reader *reader;
    const char *of;
    ulp_error *error;
} reading;

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

/* Writes the form of a value: "a number from 0 to 1". */
static void form_of(char *text, size_t size, const ulp_key *key) {
    const char *what = key->type == ULP_KEY_NUMBER ? "a number" : "a whole number";
    if (key->type == ULP_KEY_OWN) snprintf(text, size, "%s", key->form);
    else if (key->type == ULP_KEY_FLAG) snprintf(text, size, "0 or 1");
    else
        snprintf(text, size, "%s from %.8g to %.8g%s%s", what, key->min, key->max, key->form ? ", or " : "",
                 key->form ? key->form : "");
}

/* Reads a number, or a whole number of decimal digits if `plain`. 0 if the text is not a number. */
static int read_number(double *number, const char *text, int plain) {
    char *end;
    if (plain && text[strspn(text, "+-0123456789")]) return 0;
    *number = strtod(text, &end);
    return end != text && !*end && !isspace((unsigned char)text[0]);
}

static ulp_status read_value(void *to, const ulp_key *key, const char *value, const reading *r) {
    char form[LINE];
    double v = 0;
    if (key->type == ULP_KEY_OWN) return key->read(to, key, value, r->error);
    if (key->type == ULP_KEY_INTEGER && key->form && strcmp(value, key->form) == 0) {
        put_integer(to, key, key->index);
        return ULP_OK;
    }
    const double min = key->type == ULP_KEY_FLAG ? 0 : key->min, max = key->type == ULP_KEY_FLAG ? 1 : key->max;
    const int whole = key->type != ULP_KEY_NUMBER, plain = r->reader->plain;
    const int is_number = read_number(&v, value, plain && whole), within = is_number && v >= min && v <= max;
    if (!within || (whole && v != (double)(int64_t)v)) {
        form_of(form, sizeof form, key);
        return ulp_fail(r->error, plain && is_number ? ULP_NOT_IN_RANGE : ULP_BAD_NAME, "%s: '%s=%s': %s is %s", r->of,
                        key->name, value, key->name, form);
    }
    if (key->type == ULP_KEY_NUMBER) memcpy((unsigned char *)to + key->at, &v, sizeof v);
    else put_integer(to, key, (int64_t)v);
    return ULP_OK;
}

static int is_same_key(const char *a, const char *b, int any_case) {
    if (!any_case) return strcmp(a, b) == 0;
    for (; *a && tolower((unsigned char)*a) == tolower((unsigned char)*b); a++) b++;
    return *a == *b;
}

/* The key of that name, and its index in all lists; NULL if there is none. */
static const ulp_key *key_named(const ulp_key_reader *reader, const char *name, size_t *at) {
    const ulp_key *key;
    for (*at = 0; (key = key_at(reader->lists, *at)) && !is_same_key(key->name, name, reader->plain);) ++*at;
    return key;
}

/* Refuses a word without an equals sign; if the word is a key, the sentence says which values the key takes. */
static ulp_status refuse_pair(const reading *r, const char *word) {
    char form[LINE];
    const ulp_key *key = key_named(r->reader, word, &(size_t){0});
    if (!key)
        return ulp_fail(r->error, ULP_BAD_NAME, "%s: '%s' is not key=value; words stand between %s", r->of, word,
                        between_of(r->reader) == ':' ? "colons" : "commas");
    form_of(form, sizeof form, key);
    return ulp_fail(r->error, ULP_BAD_NAME, "%s: %s needs a value, as %s=...: %s (%s)", r->of, key->name, key->name,
                    form, key->help);
}

/* Finds the key of "key=value". *at is its index in all lists. The function replaces the equals sign by a terminator,
 * so that the value begins after it. */
static const ulp_key *find_key(const reading *r, char *word, size_t *at) {
    const char *names[ULP_KEYS_MAX + 1];
    char what[LINE], *equals = strchr(word, '=');
    if (!equals) {
        refuse_pair(r, word);
        return NULL;
    }
    *equals = 0;
    const ulp_key *key = key_named(r->reader, word, at);
    if (key) return key;
    names_of(names, r->reader->lists);
    snprintf(what, sizeof what, "%s: no key", r->of);
    ulp_name_refuse(r->error, what, word, names);
    return NULL;
}

/* Reads one pair. Bit i of *given is set if key i has occurred. */
static ulp_status read_pair(void *to, char *word, uint64_t *given, const reading *r) {
    size_t at;
    char *equals = strchr(word, '=');
    if (r->reader->dotted && equals && memchr(word, '.', (size_t)(equals - word))) {
        *equals = 0;
        return r->reader->dotted(to, word, equals + 1, r->error);
    }
    const ulp_key *key = find_key(r, word, &at);
    if (!key) return ULP_BAD_NAME;
    const char *value = word + strlen(word) + 1, *lacks = r->reader->lacks ? r->reader->lacks(to, key) : NULL;
    if (*given >> at & 1) return ulp_fail(r->error, ULP_BAD_NAME, "%s: %s is given twice", r->of, key->name);
    *given |= (uint64_t)1 << at;
    if (lacks)
        return ulp_fail(r->error, ULP_UNSUPPORTED, "%s: '%s=%s': %s %s", r->of, key->name, value, key->name, lacks);
    return read_value(to, key, value, r);
}

/* The length of the pair at the start of a text: up to the next `between` that is not part of the value. */
static size_t length_of(const char *text, const ulp_key_reader *reader) {
    const char between[] = {between_of(reader), 0};
    char key[NAME] = "";
    const size_t name = strcspn(text, "=");
    size_t length = strcspn(text, between);
    if (name < sizeof key && name < length) memcpy(key, text, name);
    while (reader->goes_on && text[length] && reader->goes_on(key, text + length + 1))
        length += 1 + strcspn(text + length + 1, between);
    return length;
}

ulp_status ulp_keys_read(void *to, const ulp_key_reader *reader, const char *text, const char *of, ulp_error *error) {
    const reading r = {reader, of, error};
    uint64_t given = 0;
    while (*text) {
        char word[ULP_VALUE_MAX];
        const size_t length = length_of(text, reader);
        if (length >= sizeof word)
            return ulp_fail(error, ULP_BAD_NAME, "%s: '%.40s...' is longer than %d characters", of, text,
                            ULP_VALUE_MAX - 1);
        memcpy(word, text, length);
        word[length] = 0;
        const ulp_status status = read_pair(to, word, &given, &r);
        if (status != ULP_OK) return status;
        text += length;
        if (*text && !*++text) return refuse_pair(&r, "");
    }
    return ULP_OK;
}

/* ---- printing ---- */

/* Writes the canonical text of a value. Returns 0 if the value has none. */
static int print_value(char *text, size_t size, const void *from, const ulp_key *key) {
    double number;
    if (key->type == ULP_KEY_OWN) return key->print ? key->print(text, size, from, key) : 0;
    if (key->type == ULP_KEY_INTEGER && key->form && integer_of(from, key) == key->index)
        return snprintf(text, size, "%s", key->form);
    if (key->type != ULP_KEY_NUMBER) return snprintf(text, size, "%lld", (long long)integer_of(from, key));
    memcpy(&number, (const unsigned char *)from + key->at, sizeof number);
    return snprintf(text, size, "%.17g", number);
}

ulp_status ulp_keys_print(char *text, size_t size, const ulp_key_reader *reader, const void *from, const void *unlike) {
    const char between[] = {between_of(reader), 0};
    size_t used = 0;
    const ulp_key *key;
    if (size) text[0] = 0;
    for (size_t i = 0; (key = key_at(reader->lists, i)) && used < size; i++) {
        char value[ULP_VALUE_MAX], other[ULP_VALUE_MAX];
        if (!print_value(value, sizeof value, from, key)) continue;
        if (unlike && print_value(other, sizeof other, unlike, key) && strcmp(value, other) == 0) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", used ? between : "", key->name, value);
    }
    return used < size ? ULP_OK : ULP_BAD_ARGUMENT;
}

/* ---- help text ---- */

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

/* Writes a default with at most 7 digits: 0.001 instead of 17 digits. */
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
