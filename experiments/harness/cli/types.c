/* types.c - the plain types of options: flags, numbers, lists of numbers, texts and choices. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "options.h"
#include "types.h"

enum { ITEM_MAX = 64 };
enum { MOST_IN_RANGE = 1000000 }; /* the largest length of a range a..b */

static int refuse(ulp_text *error, const char *text, const char *why) {
    ulp_text_print(error, "%s: %s", text, why);
    return ULP_EXIT_USAGE;
}

int ulp_refuse_item(ulp_text *error, const char *list) {
    ulp_text_print(error, "'%s': an item is empty or too long; items are separated by single commas", list);
    return ULP_EXIT_USAGE;
}

int ulp_refuse_twin(ulp_text *error, const char *list, const char *item) {
    ulp_text_print(error, "'%s': %s is given twice", list, item);
    return ULP_EXIT_USAGE;
}

int ulp_refuse_all(ulp_text *error, const char *list) {
    ulp_text_print(error, "'%s': all stands alone", list);
    return ULP_EXIT_USAGE;
}

int ulp_refuse_word(ulp_text *error, const char *kind, const char *word, const char *words, const char *more) {
    enum { FEW = 300 };
    ulp_text near = {0};
    ulp_text_print(error, ": no %s '%s'", kind, word);
    if (ulp_nearest_words(&near, word, words, 1)) ulp_text_print(error, "; did you mean '%s'?", ulp_text_of(&near));
    if (strlen(words) < FEW) ulp_text_print(error, "\nknown: %s%s", words, more);
    else ulp_text_print(error, " (--help lists the words)");
    ulp_text_free(&near);
    return ULP_EXIT_USAGE;
}

/* ---- numbers ---- */

static int in_range(const ulp_option *o, double number) {
    return (o->min == 0 && o->max == 0) || (number >= o->min && number <= o->max);
}

static int read_finite(double *number, const char *text, ulp_text *error) {
    char *end;
    *number = strtod(text, &end);
    if (end == text || *end || strspn(text, " \t") > 0) {
        ulp_text_print(error, "'%s': not a number", text);
        return ULP_EXIT_USAGE;
    }
    return isfinite(*number) ? ULP_EXIT_FINE : refuse(error, text, "has to be a finite number");
}

static int read_number(void *field, const char *text, const ulp_option *o, ulp_text *error) {
    double number;
    int status = read_finite(&number, text, error);
    if (status == ULP_EXIT_FINE && !in_range(o, number)) {
        ulp_text_print(error, "%s: has to be from %.15g to %.15g", text, o->min, o->max);
        status = ULP_EXIT_USAGE;
    }
    if (status == ULP_EXIT_FINE) *(double *)field = number;
    return status;
}

static int read_integer(void *field, const char *text, const ulp_option *o, ulp_text *error) {
    double number;
    int status = read_finite(&number, text, error);
    if (status != ULP_EXIT_FINE) return status;
    if (number != nearbyint(number) || fabs(number) > 0x1p53 || !in_range(o, number)) {
        const int open = o->min == 0 && o->max == 0;
        ulp_text_print(error, "%s: has to be a whole number from %.0f to %.0f", text, open ? -0x1p53 : o->min,
                       open ? 0x1p53 : o->max);
        return ULP_EXIT_USAGE;
    }
    *(int64_t *)field = (int64_t)number;
    return ULP_EXIT_FINE;
}

/* Decimal or 0x digits are read exactly; other forms (1e3, 0x1p10) are read as binary64. Returns 0 if the text is not a
 * whole number below 2^64. */
static int parse_unsigned(uint64_t *number, const char *text) {
    char *end;
    if (text[0] < '0' || text[0] > '9') return 0;
    errno = 0;
    const int hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const unsigned long long value = strtoull(text, &end, hex ? 16 : 10);
    if (!*end && errno == 0) return *number = value, 1;
    const double real = strtod(text, &end);
    if (*end || real != nearbyint(real) || !(real < 0x1p64)) return 0;
    return *number = (uint64_t)real, 1;
}

static int read_unsigned(void *field, const char *text, const ulp_option *o, ulp_text *error) {
    const uint64_t least = (uint64_t)o->min, most = o->max > 0 ? (uint64_t)o->max : UINT64_MAX;
    uint64_t number;
    if (!parse_unsigned(&number, text) || number < least || number > most) {
        const char *quote = *text && !strpbrk(text, " \t") ? "" : "'";
        ulp_text_print(error, "%s%s%s: has to be a whole number from %llu to %llu", quote, text, quote,
                       (unsigned long long)least, (unsigned long long)most);
        return ULP_EXIT_USAGE;
    }
    *(uint64_t *)field = number;
    return ULP_EXIT_FINE;
}

static void print_integer(ulp_text *to, const void *field, const ulp_option *o) {
    (void)o;
    ulp_text_print(to, "%lld", (long long)*(const int64_t *)field);
}

static void print_unsigned(ulp_text *to, const void *field, const ulp_option *o) {
    (void)o;
    ulp_text_print(to, "%llu", (unsigned long long)*(const uint64_t *)field);
}

static void print_number(ulp_text *to, const void *field, const ulp_option *o) {
    (void)o;
    ulp_text_print(to, "%.17g", *(const double *)field);
}

/* ---- lists of numbers ---- */

/* Read a number of a list, with the checks for a single number. */
static int read_one(double *number, const char *text, const ulp_option *o, int whole, ulp_text *error) {
    int64_t integer = 0;
    if (!whole) return read_number(number, text, o, error);
    int status = read_integer(&integer, text, o, error);
    *number = (double)integer;
    return status;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Refuse a list that contains a number twice: two points would have the same name. */
static int refuse_twins(const ulp_number_list *list, const char *text, ulp_text *error) {
    double *sorted = ulp_grow(NULL, list->count * sizeof *sorted);
    int status = ULP_EXIT_FINE;
    memcpy(sorted, list->at, list->count * sizeof *sorted);
    qsort(sorted, list->count, sizeof *sorted, by_size);
    for (size_t i = 1; i < list->count && status == ULP_EXIT_FINE; i++) {
        if (sorted[i] != sorted[i - 1]) continue;
        ulp_text_print(error, "'%s': %.15g is given twice", text, sorted[i]);
        status = ULP_EXIT_USAGE;
    }
    free(sorted);
    return status;
}

/* Read an item: x, or a..b for a, a + 1, ..., b. */
static int read_item(ulp_number_list *list, size_t *room, char *item, const ulp_option *o, int whole, ulp_text *error) {
    char *dots = strstr(item, "..");
    double first, last;
    if (dots && (dots == item || !dots[2])) {
        ulp_text_print(error, "'%s': a range is written a..b", item);
        return ULP_EXIT_USAGE;
    }
    if (dots) *dots = '\0';
    int status = read_one(&first, item, o, whole, error);
    last = first;
    if (status == ULP_EXIT_FINE && dots) status = read_one(&last, dots + 2, o, whole, error);
    if (status != ULP_EXIT_FINE) return status;
    if (last < first || last - first >= MOST_IN_RANGE) {
        ulp_text_print(error, "'%s..%s': a range a..b has 1 to %d numbers", item, dots ? dots + 2 : item,
                       MOST_IN_RANGE);
        return ULP_EXIT_USAGE;
    }
    /* counted, since adding 1 to a number above 2^53 may leave it as it is */
    const int64_t steps = (int64_t)(last - first);
    for (int64_t i = 0; i <= steps; i++) {
        list->at = ulp_room_for(list->at, list->count, room, sizeof *list->at);
        list->at[list->count++] = first + (double)i;
    }
    return ULP_EXIT_FINE;
}

static int read_list(ulp_number_list *list, const char *text, const ulp_option *o, int whole, ulp_text *error) {
    char item[ITEM_MAX];
    const char *at = text;
    size_t room = 0;
    int more, status = ULP_EXIT_FINE;
    *list = (ulp_number_list){0};
    while (status == ULP_EXIT_FINE && (more = ulp_next_item(item, sizeof item, &at)) != 0)
        status = more < 0 ? ulp_refuse_item(error, text) : read_item(list, &room, item, o, whole, error);
    if (status == ULP_EXIT_FINE) status = refuse_twins(list, text, error);
    if (status != ULP_EXIT_FINE) free(list->at);
    return status;
}

static int read_numbers(void *field, const char *text, const ulp_option *o, ulp_text *error) {
    return read_list(field, text, o, 0, error);
}

static int read_integers(void *field, const char *text, const ulp_option *o, ulp_text *error) {
    ulp_number_list numbers;
    int status = read_list(&numbers, text, o, 1, error);
    if (status != ULP_EXIT_FINE) return status;
    ulp_integer_list *list = field;
    *list = (ulp_integer_list){.at = ulp_grow(NULL, numbers.count * sizeof *list->at), .count = numbers.count};
    for (size_t i = 0; i < numbers.count; i++) list->at[i] = (int64_t)numbers.at[i];
    free(numbers.at);
    return ULP_EXIT_FINE;
}

static void print_numbers(ulp_text *to, const void *field, const ulp_option *o) {
    const ulp_number_list *list = field;
    (void)o;
    for (size_t i = 0; i < list->count; i++) ulp_text_print(to, "%s%.17g", i ? "," : "", list->at[i]);
}

static void print_integers(ulp_text *to, const void *field, const ulp_option *o) {
    const ulp_integer_list *list = field;
    (void)o;
    for (size_t i = 0; i < list->count; i++) ulp_text_print(to, "%s%lld", i ? "," : "", (long long)list->at[i]);
}

static void release_numbers(void *field) { free(((ulp_number_list *)field)->at); }
static void release_integers(void *field) { free(((ulp_integer_list *)field)->at); }

/* ---- texts and flags ---- */

static int read_text(void *field, const char *text, const ulp_option *o, ulp_text *error) {
    (void)o;
    if (strpbrk(text, "\r\n")) {
        ulp_text_print(error, ": a line break in the value");
        return ULP_EXIT_USAGE;
    }
    *(const char **)field = text;
    return ULP_EXIT_FINE;
}

int ulp_is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static int read_folder(void *field, const char *text, const ulp_option *o, ulp_text *error) {
    if (*text && !ulp_is_folder(text)) return refuse(error, text, "there is no such folder");
    return read_text(field, text, o, error);
}

static void print_text(ulp_text *to, const void *field, const ulp_option *o) {
    const char *text = *(const char *const *)field;
    (void)o;
    ulp_text_print(to, "%s", text ? text : "");
}

static void print_texts(ulp_text *to, const void *field, const ulp_option *o) {
    const ulp_text_list *list = field;
    (void)o;
    for (size_t i = 0; i < list->count; i++) ulp_text_print(to, "%s%s", i ? " " : "", list->at[i]);
}

static void print_flag(ulp_text *to, const void *field, const ulp_option *o) {
    (void)o;
    ulp_text_print(to, *(const int *)field ? "yes" : "no");
}

/* ---- choices ---- */

int ulp_word_index(const char *words, const char *word) {
    int index = 0;
    for (const char *at = words + strspn(words, " "); *at; at += strspn(at, " "), index++) {
        const size_t length = strcspn(at, " ");
        if (strlen(word) == length && strncmp(at, word, length) == 0) return index;
        at += length;
    }
    return -1;
}

ulp_word ulp_word_of(const char *words, size_t i) {
    ulp_word word;
    const char *at = words + strspn(words, " ");
    for (; *at && i > 0; i--) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    snprintf(word.text, sizeof word.text, "%.*s", (int)strcspn(at, " "), at);
    return word;
}

static int read_choice(void *field, const char *text, const ulp_option *o, ulp_text *error) {
    const int index = ulp_word_index(o->words, text);
    if (index < 0) return ulp_refuse_word(error, "choice", text, o->words, "");
    *(int *)field = index;
    return ULP_EXIT_FINE;
}

static uint64_t all_choices(const ulp_option *o) {
    uint64_t bits = 0;
    for (size_t i = 0; i < 64 && ulp_word_of(o->words, i).text[0]; i++) bits |= (uint64_t)1 << i;
    return bits;
}

static int read_choices(void *field, const char *text, const ulp_option *o, ulp_text *error) {
    char item[ITEM_MAX];
    const char *at = text;
    uint64_t bits = strcmp(text, "all") == 0 ? all_choices(o) : 0;
    int more;
    while (!(strcmp(text, "all") == 0) && (more = ulp_next_item(item, sizeof item, &at)) != 0) {
        if (more < 0) return ulp_refuse_item(error, text);
        if (strcmp(item, "all") == 0) return ulp_refuse_all(error, text);
        const int index = ulp_word_index(o->words, item);
        if (index < 0) return ulp_refuse_word(error, "choice", item, o->words, ", or all");
        if (bits >> index & 1) return ulp_refuse_twin(error, text, item);
        bits |= (uint64_t)1 << index;
    }
    *(uint64_t *)field = bits;
    return ULP_EXIT_FINE;
}

static void print_choice(ulp_text *to, const void *field, const ulp_option *o) {
    ulp_text_print(to, "%s", ulp_word_of(o->words, (size_t) * (const int *)field).text);
}

/* Choices equal to a default are printed like the default; other choices as a list in the order of the words. */
static void print_choices(ulp_text *to, const void *field, const ulp_option *o) {
    const char *const defaults[] = {o->value, o->quick, o->full};
    const uint64_t bits = *(const uint64_t *)field;
    ulp_text none = {0};
    int first = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t named;
        if (!defaults[i] || read_choices(&named, defaults[i], o, &none) != ULP_EXIT_FINE || named != bits) continue;
        ulp_text_print(to, "%s", defaults[i]);
        return;
    }
    for (size_t i = 0; i < 64; i++) {
        if (!(bits >> i & 1)) continue;
        ulp_text_print(to, "%s%s", first ? "" : ",", ulp_word_of(o->words, i).text);
        first = 0;
    }
}

const ulp_option_type ulp_type_flag = {.size = sizeof(int), .print = print_flag};
const ulp_option_type ulp_type_integer = {
    .value_name = "N", .size = sizeof(int64_t), .read = read_integer, .print = print_integer};
const ulp_option_type ulp_type_unsigned = {
    .value_name = "N", .size = sizeof(uint64_t), .read = read_unsigned, .print = print_unsigned};
const ulp_option_type ulp_type_number = {
    .value_name = "X", .size = sizeof(double), .read = read_number, .print = print_number};
const ulp_option_type ulp_type_numbers = {.value_name = "X,...",
                                          .size = sizeof(ulp_number_list),
                                          .read = read_numbers,
                                          .print = print_numbers,
                                          .release = release_numbers};
const ulp_option_type ulp_type_integers = {.value_name = "N,...",
                                           .size = sizeof(ulp_integer_list),
                                           .read = read_integers,
                                           .print = print_integers,
                                           .release = release_integers};
const ulp_option_type ulp_type_text = {
    .value_name = "TEXT", .size = sizeof(const char *), .read = read_text, .print = print_text};
const ulp_option_type ulp_type_folder = {
    .value_name = "DIR", .size = sizeof(const char *), .read = read_folder, .print = print_text};
const ulp_option_type ulp_type_texts = {
    .value_name = "FILE...", .size = sizeof(ulp_text_list), .many = 1, .print = print_texts};
const ulp_option_type ulp_type_choice = {
    .value_name = "WORD", .size = sizeof(int), .read = read_choice, .print = print_choice};
const ulp_option_type ulp_type_choices = {
    .value_name = "LIST", .size = sizeof(uint64_t), .read = read_choices, .print = print_choices};
