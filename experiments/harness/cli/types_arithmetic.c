/* types_arithmetic.c - the types of options that name arithmetic: formats, modes, overflow policies, operations. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/function.h"
#include "options.h"
#include "types.h"

int ulp_format_within_binary32(const ulp_format *f) { return f->fits_binary32; }
int ulp_format_with_sign(const ulp_format *f) { return f->fits_binary32 && f->is_signed && f->has_zero; }

/* ---- formats ---- */

static void add_suffixes(ulp_text *to) {
    ulp_text_print(to, "; suffixes are :nosub, :bias=N with N from 0 to 63, and one of");
    for (int i = ULP_OVERFLOW_INF; i < ULP_OVERFLOW_COUNT; i++)
        ulp_text_print(to, " :%s", ulp_overflow_name((ulp_overflow)i));
}

static ulp_status refuse_unknown_format(const char *text, ulp_error *error) {
    ulp_text known = {0}, base = {0}, more = {0};
    const ulp_format_row *row;
    const ulp_other_name *other;
    ulp_format format;
    ulp_text_print(&base, "%.*s", (int)strcspn(text, ":"), text);
    if (strchr(text, ':') && ulp_format_parse(&format, ulp_text_of(&base)) == ULP_OK) add_suffixes(&more);
    else {
        for (size_t i = 0; ulp_format_get(i, NULL, &row) == ULP_OK; i++)
            ulp_text_print(&known, "%s %s ", row->name, row->aliases);
        for (size_t i = 0; (other = ulp_other_name_get(i)) != NULL; i++) {
            if (other->format != NULL) ulp_text_print(&known, "%s ", other->name);
            else if (strcasecmp(other->name, ulp_text_of(&base)) == 0) ulp_text_print(&more, ": %s", other->where);
        }
        if (more.length == 0)
            ulp_text_print(&more, "%s", ulp_guess_of(ulp_text_of(&base), ulp_text_of(&known), 1, "'", "'").text);
    }
    ulp_refuse(error, ": no format '%s'%s\n(`ulp help formats` lists them; any eXmY and qI.F are formats, too)", text,
               ulp_text_of(&more));
    ulp_text_free(&known);
    ulp_text_free(&base);
    ulp_text_free(&more);
    return ULP_BAD_ARGUMENT;
}

static ulp_status read_format(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    ulp_format format;
    const ulp_status status = ulp_format_parse(&format, text);
    if (status == ULP_OK && o->takes && !o->takes(&format)) return ulp_refuse(error, "%s: %s", format.name, o->wants);
    if (status == ULP_OK) {
        *(ulp_format *)field = format;
        return ULP_OK;
    }
    if (status == ULP_NOT_IN_RANGE) return ulp_refuse(error, "%s: out of range: %s", text, ulp_format_limits(text));
    if (status == ULP_UNSUPPORTED)
        return ulp_refuse(
            error,
            "%s: only fixed point wraps around, only formats with subnormals take :nosub, and only formats "
            "with an exponent bias take :bias=N",
            text);
    return refuse_unknown_format(text, error);
}

static void add_all_formats(ulp_named_list *list, const ulp_option *o) {
    ulp_format format;
    for (size_t i = 0; i < ulp_format_count; i++)
        if (ulp_format_get(i, &format, NULL) == ULP_OK && (!o->takes || o->takes(&format)))
            ulp_named_list_add(list, &format);
}

/* ---- modes, policies, operations ---- */

#define MODE_WORD(id, name, meaning, stochastic, inward) name " "
static const char mode_words[] = ULP_MODES(MODE_WORD) "sr";
#undef MODE_WORD

void ulp_add_stochastic_modes(ulp_text *to) {
    const size_t from = to->length;
    for (int m = 0; m < ULP_MODE_COUNT; m++)
        if (ulp_mode_is_stochastic((uint32_t)m))
            ulp_text_print(to, "%s%s", to->length > from ? " " : "", ulp_mode_name((ulp_mode)m));
}

static ulp_status refuse_mode(const char *text, const char *more, ulp_error *error) {
    ulp_refuse_word(error, "mode", text, mode_words, more);
    return ulp_refuse_more(error, " (`ulp help modes` says what they do)");
}

static ulp_status read_mode(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    ulp_mode mode;
    (void)o;
    if (strchr(text, '/') != NULL)
        return ulp_refuse(error, ": no mode '%s'; a tool takes the number of random bits by --bits R", text);
    if (ulp_mode_parse(&mode, text) != ULP_OK) return refuse_mode(text, "", error);
    *(ulp_mode *)field = mode;
    return ULP_OK;
}

/* Read MODE[/BITS]: a mode, and the number of random bits of a stochastic mode. */
static ulp_status read_rule(void *to, const char *item, const ulp_option *o, ulp_error *error) {
    ulp_named_rule *rule = to;
    char name[16], *end = NULL;
    (void)o;
    const char *slash = strchr(item, '/');
    ulp_mode mode;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(item, "/"), item);
    if (ulp_mode_parse(&mode, name) != ULP_OK) return refuse_mode(item, ", sr/R with R random bits; or all", error);
    const long bits = slash ? strtol(slash + 1, &end, 10) : 0;
    const int is_number = slash && slash[1] >= '0' && slash[1] <= '9' && !*end;
    if (slash && (!ulp_mode_is_stochastic((uint32_t)mode) || !is_number || bits < 1 || bits > 32)) {
        ulp_text stochastic = {0};
        ulp_add_stochastic_modes(&stochastic);
        ulp_refuse(error, "%s: random bits are 1 to 32, of the stochastic modes (%s) only", item,
                   ulp_text_of(&stochastic));
        ulp_text_free(&stochastic);
        return ULP_BAD_ARGUMENT;
    }
    rule->rule = (ulp_rule){.mode = (uint8_t)mode, .random_bits = (uint8_t)bits};
    if (slash) snprintf(rule->name, sizeof rule->name, "%s/%ld", ulp_mode_name(mode), bits);
    else snprintf(rule->name, sizeof rule->name, "%s", ulp_mode_name(mode));
    return ULP_OK;
}

static void add_all_modes(ulp_named_list *list, const ulp_option *o) {
    ulp_named_rule rule;
    for (int m = 0; m < ULP_MODE_COUNT; m++)
        if (read_rule(&rule, ulp_mode_name((ulp_mode)m), o, NULL) == ULP_OK) ulp_named_list_add(list, &rule);
}

static void print_mode(ulp_text *to, const void *field, const ulp_option *o) {
    (void)o;
    ulp_text_print(to, "%s", ulp_mode_name(*(const ulp_mode *)field));
}

static void list_overflows(ulp_text *to) {
    for (int i = 0; i < ULP_OVERFLOW_COUNT; i++)
        ulp_text_print(to, "%s%s", i ? " " : "", ulp_overflow_name((ulp_overflow)i));
}

static void list_ops(ulp_text *to) {
    for (int i = 0; ulp_operation_name(i) != NULL; i++) ulp_text_print(to, "%s%s", i ? " " : "", ulp_operation_name(i));
}

/* Refuse a word that is not one of the words of `list`. */
static ulp_status refuse_unlisted(ulp_error *error, const char *kind, const char *word, void (*list)(ulp_text *to)) {
    ulp_text words = {0};
    list(&words);
    const ulp_status status = ulp_refuse_word(error, kind, word, ulp_text_of(&words), "");
    ulp_text_free(&words);
    return status;
}

static ulp_status read_overflow(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    (void)o;
    if (ulp_overflow_parse(field, text) == ULP_OK) return ULP_OK;
    return refuse_unlisted(error, "overflow policy", text, list_overflows);
}

static void print_overflow(ulp_text *to, const void *field, const ulp_option *o) {
    (void)o;
    ulp_text_print(to, "%s", ulp_overflow_name(*(const ulp_overflow *)field));
}

static ulp_status read_op(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    (void)o;
    for (int i = 0; ulp_operation_name(i) != NULL; i++) {
        if (strcmp(text, ulp_operation_name(i)) != 0) continue;
        *(int *)field = i;
        return ULP_OK;
    }
    return refuse_unlisted(error, "operation", text, list_ops);
}

static void print_op(ulp_text *to, const void *field, const ulp_option *o) {
    (void)o;
    ulp_text_print(to, "%s", ulp_operation_name(*(const int *)field));
}

const ulp_option_type ulp_type_format = {.value_name = "FORMAT",
                                         .size = sizeof(ulp_format),
                                         .read = read_format,
                                         .print = ulp_name_print,
                                         .topic = "formats"};
const ulp_option_type ulp_type_formats = {.value_name = "LIST",
                                          .size = sizeof(ulp_format_list),
                                          .read = ulp_named_list_read,
                                          .print = ulp_named_list_print,
                                          .release = ulp_list_release,
                                          .item = &ulp_type_format,
                                          .add_all = add_all_formats,
                                          .topic = "formats"};
const ulp_option_type ulp_type_mode = {
    .value_name = "MODE", .size = sizeof(ulp_mode), .read = read_mode, .print = print_mode, .topic = "modes"};
static const ulp_option_type type_rule = {.size = sizeof(ulp_named_rule), .read = read_rule};
const ulp_option_type ulp_type_modes = {.value_name = "LIST",
                                        .size = sizeof(ulp_rule_list),
                                        .read = ulp_named_list_read,
                                        .print = ulp_named_list_print,
                                        .release = ulp_list_release,
                                        .item = &type_rule,
                                        .add_all = add_all_modes,
                                        .topic = "modes"};
const ulp_option_type ulp_type_overflow = {.value_name = "POLICY",
                                           .size = sizeof(ulp_overflow),
                                           .read = read_overflow,
                                           .print = print_overflow,
                                           .list = list_overflows};
const ulp_option_type ulp_type_op = {
    .value_name = "OP", .size = sizeof(int), .read = read_op, .print = print_op, .list = list_ops};
