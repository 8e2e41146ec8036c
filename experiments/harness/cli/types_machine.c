/* types_machine.c - the types of options that name datapaths and backends. */
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "types.h"

/* ---- datapaths ---- */

/* Write why a name is refused: the parser's reason, else the nearest known names. */
static int refuse_datapath(const char *text, ulp_status status, ulp_text *error) {
    char why[ULP_EXPLAIN_MAX];
    ulp_datapath row;
    ulp_text known = {0}, near = {0};
    ulp_datapath_explain(why, text);
    for (size_t i = 0; ulp_datapath_get(i, &row) == ULP_OK; i++) ulp_text_print(&known, "%s ", row.name);
    const int found = !why[0] && ulp_nearest_words(&near, text, ulp_text_of(&known), 3);
    if (status == ULP_BAD_NAME) ulp_text_print(error, ": no datapath '%s'", text);
    else ulp_text_print(error, "%s: %s", text, ulp_status_text(status));
    if (why[0]) ulp_text_print(error, "; %s", why);
    if (found) ulp_text_print(error, "; did you mean %s?", ulp_text_of(&near));
    ulp_text_print(error, "\n(`ulp help datapaths` lists them)");
    ulp_text_free(&known);
    ulp_text_free(&near);
    return ULP_EXIT_USAGE;
}

static int read_datapath(void *field, const char *text, const ulp_option *o, ulp_text *error) {
    const ulp_status status = ulp_datapath_parse(field, text);
    (void)o;
    return status == ULP_OK ? ULP_EXIT_FINE : refuse_datapath(text, status, error);
}

static int add_datapath(ulp_datapath_list *list, size_t *room, const char *item, ulp_text *error) {
    list->at = ulp_room_for(list->at, list->count, room, sizeof *list->at);
    ulp_datapath *next = &list->at[list->count];
    int status = read_datapath(next, item, NULL, error);
    for (size_t i = 0; status == ULP_EXIT_FINE && i < list->count; i++)
        if (strcmp(list->at[i].name, next->name) == 0) status = ulp_refuse_twin(error, item, next->name);
    list->count += status == ULP_EXIT_FINE;
    return status;
}

static int read_datapaths(void *field, const char *text, const ulp_option *o, ulp_text *error) {
    ulp_datapath_list list = {0};
    char item[ULP_DATAPATH_NAME_MAX];
    const char *at = text;
    size_t room = 0;
    int more, status = ULP_EXIT_FINE;
    (void)o;
    while (status == ULP_EXIT_FINE && (more = ulp_next_item(item, sizeof item, &at)) != 0)
        status = more < 0 ? ulp_refuse_item(error, text) : add_datapath(&list, &room, item, error);
    if (status == ULP_EXIT_FINE) *(ulp_datapath_list *)field = list;
    else free(list.at);
    return status;
}

static void print_datapath(ulp_text *to, const void *field, const ulp_option *o) {
    (void)o;
    ulp_text_print(to, "%s", ((const ulp_datapath *)field)->name);
}

static void print_datapaths(ulp_text *to, const void *field, const ulp_option *o) {
    const ulp_datapath_list *list = field;
    (void)o;
    for (size_t i = 0; i < list->count; i++) ulp_text_print(to, "%s%s", i ? "," : "", list->at[i].name);
}

static void release_datapaths(void *field) { free(((ulp_datapath_list *)field)->at); }

/* ---- backends ---- */

static int read_backend(void *field, const char *text, const ulp_option *o, ulp_text *error) {
    const ulp_status status = ulp_backend_get(field, text);
    (void)o;
    if (status == ULP_OK) return ULP_EXIT_FINE;
    if (status == ULP_BAD_NAME) return ulp_refuse_word(error, "backend", text, ulp_backend_names(), "");
    ulp_text_print(error, "%s: %s", text, ulp_backend_lacks(text));
    return status == ULP_NO_DEVICE ? ULP_EXIT_LACKING : ULP_EXIT_USAGE;
}

static void list_backends(ulp_text *to) { ulp_text_print(to, "%s", ulp_backend_names()); }

static void print_backend(ulp_text *to, const void *field, const ulp_option *o) {
    (void)o;
    ulp_text_print(to, "%s", (*(const ulp_backend *const *)field)->name);
}

const ulp_option_type ulp_type_datapath = {.value_name = "NAME",
                                           .size = sizeof(ulp_datapath),
                                           .read = read_datapath,
                                           .print = print_datapath,
                                           .topic = "datapaths"};
const ulp_option_type ulp_type_datapaths = {.value_name = "LIST",
                                            .size = sizeof(ulp_datapath_list),
                                            .read = read_datapaths,
                                            .print = print_datapaths,
                                            .release = release_datapaths,
                                            .topic = "datapaths"};
const ulp_option_type ulp_type_backend = {.value_name = "NAME",
                                          .size = sizeof(const ulp_backend *),
                                          .read = read_backend,
                                          .print = print_backend,
                                          .list = list_backends};
