/* named_list.c - lists of things with names, as values of options: reading, refusals, printing, release, searches. */
#include <stdlib.h>
#include <string.h>

#include "types.h"

ulp_status ulp_refuse_item(ulp_error *error, const char *list) {
    return ulp_refuse(error, "'%s': an item is empty or too long; items are separated by single commas", list);
}

ulp_status ulp_refuse_twin(ulp_error *error, const char *list, const char *item) {
    return ulp_refuse(error, "'%s': %s is given twice", list, item);
}

ulp_status ulp_refuse_all(ulp_error *error, const char *list) {
    return ulp_refuse(error, "'%s': all stands alone", list);
}

static char *thing_at(const ulp_named_list *list, size_t i) { return (char *)list->at + i * list->size; }

void ulp_named_list_add(ulp_named_list *list, const void *thing) {
    list->at = ulp_room_for(list->at, list->count, &list->room, list->size);
    memcpy(thing_at(list, list->count++), thing, list->size);
}

static ulp_status add_item(ulp_named_list *list, const char *item, const ulp_option *o, ulp_error *error) {
    list->at = ulp_room_for(list->at, list->count, &list->room, list->size);
    char *next = thing_at(list, list->count);
    ULP_TRY(o->type->item->read(next, item, o, error));
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(thing_at(list, i), next) == 0) return ulp_refuse_twin(error, item, next);
    list->count++;
    return ULP_OK;
}

/* The field of every such option. */
typedef struct things {
    void *at; /* (count) */
    size_t count;
} things;

static things things_of(const void *field) {
    things t;
    memcpy(&t, field, sizeof t);
    return t;
}

ulp_status ulp_named_list_read(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    void (*const add_all)(ulp_named_list *, const ulp_option *) = o->type->add_all;
    ulp_named_list list = {.size = o->type->item->size};
    char item[ULP_DATAPATH_NAME_MAX];
    const char *at = text;
    int more;
    ulp_status status = ULP_OK;
    if (add_all && strcmp(text, "all") == 0) {
        add_all(&list, o);
        at = NULL;
    }
    while (status == ULP_OK && (more = ulp_next_item(item, sizeof item, &at)) != 0)
        status = more < 0                              ? ulp_refuse_item(error, text)
                 : add_all && strcmp(item, "all") == 0 ? ulp_refuse_all(error, text)
                                                       : add_item(&list, item, o, error);
    if (status == ULP_OK) memcpy(field, &(things){list.at, list.count}, sizeof(things));
    else free(list.at);
    return status;
}

void ulp_named_list_print(ulp_text *to, const void *field, const ulp_option *o) {
    const things t = things_of(field);
    for (size_t i = 0; i < t.count; i++)
        ulp_text_print(to, "%s%s", i ? "," : "", (const char *)t.at + i * o->type->item->size);
}

void ulp_name_print(ulp_text *to, const void *field, const ulp_option *o) {
    (void)o;
    ulp_text_print(to, "%s", (const char *)field);
}

void ulp_list_release(void *field) {
    void *at;
    memcpy(&at, field, sizeof at);
    free(at);
}

/* ---- searches ---- */

const ulp_format *ulp_formats_find(const ulp_format_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->at[i].name, name) == 0) return &list->at[i];
    return NULL;
}

const ulp_named_rule *ulp_rules_find(const ulp_rule_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->at[i].name, name) == 0) return &list->at[i];
    return NULL;
}

const ulp_datapath *ulp_datapaths_find(const ulp_datapath_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->at[i].name, name) == 0) return &list->at[i];
    return NULL;
}

int64_t ulp_integers_least(const ulp_integer_list *list) {
    int64_t least = list->at[0];
    for (size_t i = 1; i < list->count; i++) least = list->at[i] < least ? list->at[i] : least;
    return least;
}

int64_t ulp_integers_most(const ulp_integer_list *list) {
    int64_t most = list->at[0];
    for (size_t i = 1; i < list->count; i++) most = list->at[i] > most ? list->at[i] : most;
    return most;
}
