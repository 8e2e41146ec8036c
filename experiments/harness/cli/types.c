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

ulp_status ulp_refuse_word(ulp_error *error, const char *kind, const char *word, const char *words, const char *more) {
    enum { FEW = 300 };
    const int few = strlen(words) < FEW;
    return ulp_refuse(error, ": no %s '%s'%s%s%s%s", kind, word, ulp_guess_of(word, words, 1, "'", "'").text,
                      few ? "\nknown: " : " (--help lists the words)", few ? words : "", few ? more : "");
}

/* ---- numbers ---- */

static int in_range(const ulp_option *o, double number) {
    return (o->min == 0 && o->max == 0) || (number >= o->min && number <= o->max);
}

static ulp_status read_finite(double *number, const char *text, ulp_error *error) {
    char *end;
    *number = strtod(text, &end);
    if (end == text || *end || strspn(text, " \t") > 0) return ulp_refuse(error, "'%s': not a number", text);
    return isfinite(*number) ? ULP_OK : ulp_refuse(error, "%s: has to be a finite number", text);
}

static ulp_status read_number(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    double number;
    ULP_TRY(read_finite(&number, text, error));
    if (!in_range(o, number)) return ulp_refuse(error, "%s: has to be from %.15g to %.15g", text, o->min, o->max);
    *(double *)field = number;
    return ULP_OK;
}

static ulp_status read_integer(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    double number;
    ULP_TRY(read_finite(&number, text, error));
    if (number != nearbyint(number) || fabs(number) > 0x1p53 || !in_range(o, number)) {
        const int open = o->min == 0 && o->max == 0;
        return ulp_refuse(error, "%s: has to be a whole number from %.0f to %.0f", text, open ? -0x1p53 : o->min,
                          open ? 0x1p53 : o->max);
    }
    *(int64_t *)field = (int64_t)number;
    return ULP_OK;
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

static ulp_status read_unsigned(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    const uint64_t least = (uint64_t)o->min, most = o->max > 0 ? (uint64_t)o->max : UINT64_MAX;
    uint64_t number;
    if (!parse_unsigned(&number, text) || number < least || number > most) {
        const char *quote = *text && !strpbrk(text, " \t") ? "" : "'";
        return ulp_refuse(error, "%s%s%s: has to be a whole number from %llu to %llu", quote, text, quote,
                          (unsigned long long)least, (unsigned long long)most);
    }
    *(uint64_t *)field = number;
    return ULP_OK;
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
static ulp_status read_one(double *number, const char *text, const ulp_option *o, int whole, ulp_error *error) {
    int64_t integer = 0;
    if (!whole) return read_number(number, text, o, error);
    const ulp_status status = read_integer(&integer, text, o, error);
    *number = (double)integer;
    return status;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Refuse a list that contains a number twice: two points would have the same name. */
static ulp_status refuse_twins(const ulp_number_list *list, const char *text, ulp_error *error) {
    double *sorted = ulp_grow(NULL, list->count * sizeof *sorted);
    ulp_status status = ULP_OK;
    memcpy(sorted, list->at, list->count * sizeof *sorted);
    qsort(sorted, list->count, sizeof *sorted, by_size);
    for (size_t i = 1; i < list->count && status == ULP_OK; i++) {
        if (sorted[i] != sorted[i - 1]) continue;
        status = ulp_refuse(error, "'%s': %.15g is given twice", text, sorted[i]);
    }
    free(sorted);
    return status;
}

/* Read an item: x, or a..b for a, a + 1, ..., b. */
static ulp_status read_item(ulp_number_list *list, size_t *room, char *item, const ulp_option *o, int whole,
                            ulp_error *error) {
    char *dots = strstr(item, "..");
    double first, last;
    if (dots && (dots == item || !dots[2])) return ulp_refuse(error, "'%s': a range is written a..b", item);
    if (dots) *dots = '\0';
    ULP_TRY(read_one(&first, item, o, whole, error));
    last = first;
    if (dots) ULP_TRY(read_one(&last, dots + 2, o, whole, error));
    if (last < first || last - first >= (double)MOST_IN_RANGE)
        return ulp_refuse(error, "'%s..%s': a range a..b has 1 to %d numbers", item, dots ? dots + 2 : item,
                          MOST_IN_RANGE);
    /* counted, since adding 1 to a number above 2^53 may leave it as it is */
    const int64_t steps = (int64_t)(last - first);
    for (int64_t i = 0; i <= steps; i++) {
        list->at = ulp_room_for(list->at, list->count, room, sizeof *list->at);
        list->at[list->count++] = first + (double)i;
    }
    return ULP_OK;
}

static ulp_status read_list(ulp_number_list *list, const char *text, const ulp_option *o, int whole, ulp_error *error) {
    char item[ITEM_MAX];
    const char *at = text;
    size_t room = 0;
    int more;
    ulp_status status = ULP_OK;
    *list = (ulp_number_list){0};
    while (status == ULP_OK && (more = ulp_next_item(item, sizeof item, &at)) != 0)
        status = more < 0 ? ulp_refuse_item(error, text) : read_item(list, &room, item, o, whole, error);
    if (status == ULP_OK) status = refuse_twins(list, text, error);
    if (status != ULP_OK) free(list->at);
    return status;
}

static ulp_status read_numbers(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    return read_list(field, text, o, 0, error);
}

static ulp_status read_integers(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    ulp_number_list numbers;
    ULP_TRY(read_list(&numbers, text, o, 1, error));
    ulp_integer_list *list = field;
    *list = (ulp_integer_list){.at = ulp_grow(NULL, numbers.count * sizeof *list->at), .count = numbers.count};
    for (size_t i = 0; i < numbers.count; i++) list->at[i] = (int64_t)numbers.at[i];
    free(numbers.at);
    return ULP_OK;
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

/* ---- texts and flags ---- */

static ulp_status read_text(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    (void)o;
    if (strpbrk(text, "\r\n")) return ulp_refuse(error, ": a line break in the value");
    *(const char **)field = text;
    return ULP_OK;
}

int ulp_is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static ulp_status read_folder(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    if (*text && !ulp_is_folder(text)) return ulp_refuse(error, "%s: there is no such folder", text);
    return read_text(field, text, o, error);
}

static ulp_status read_place(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    struct stat about;
    if (*text && stat(text, &about) != 0) return ulp_refuse(error, "%s: there is no such folder or file", text);
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

static ulp_status read_choice(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    const int index = ulp_word_index(o->words, text);
    if (index < 0) return ulp_refuse_word(error, "choice", text, o->words, "");
    *(int *)field = index;
    return ULP_OK;
}

static uint64_t all_choices(const ulp_option *o) {
    uint64_t bits = o->all;
    for (size_t i = 0; i < 64 && !o->all && ulp_word_of(o->words, i).text[0]; i++) bits |= (uint64_t)1 << i;
    return bits;
}

static ulp_status read_choices(void *field, const char *text, const ulp_option *o, ulp_error *error) {
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
    return ULP_OK;
}

static void print_choice(ulp_text *to, const void *field, const ulp_option *o) {
    ulp_text_print(to, "%s", ulp_word_of(o->words, (size_t) * (const int *)field).text);
}

/* Choices equal to a default are printed like the default; other choices as a list in the order of the words. */
static void print_choices(ulp_text *to, const void *field, const ulp_option *o) {
    const char *const defaults[] = {o->value, o->quick, o->full};
    const uint64_t bits = *(const uint64_t *)field;
    int first = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t named;
        if (!defaults[i] || read_choices(&named, defaults[i], o, NULL) != ULP_OK || named != bits) continue;
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
                                          .release = ulp_list_release};
const ulp_option_type ulp_type_integers = {.value_name = "N,...",
                                           .size = sizeof(ulp_integer_list),
                                           .read = read_integers,
                                           .print = print_integers,
                                           .release = ulp_list_release};
const ulp_option_type ulp_type_text = {
    .value_name = "TEXT", .size = sizeof(const char *), .read = read_text, .print = print_text};
const ulp_option_type ulp_type_folder = {
    .value_name = "DIR", .size = sizeof(const char *), .read = read_folder, .print = print_text};
const ulp_option_type ulp_type_place = {
    .value_name = "PATH", .size = sizeof(const char *), .read = read_place, .print = print_text};
const ulp_option_type ulp_type_texts = {
    .value_name = "FILE...", .size = sizeof(ulp_text_list), .many = 1, .print = print_texts};
const ulp_option_type ulp_type_choice = {
    .value_name = "WORD", .size = sizeof(int), .read = read_choice, .print = print_choice};
const ulp_option_type ulp_type_choices = {
    .value_name = "LIST", .size = sizeof(uint64_t), .read = read_choices, .print = print_choices};
