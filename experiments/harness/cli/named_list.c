/* named_list.c - lists of things with names, as values of options: reading, "all", and names that are given twice. */
#include <stdlib.h>
#include <string.h>

#include "types.h"

static char *thing_at(const ulp_named_list *list, size_t i) { return (char *)list->at + i * list->size; }

void ulp_named_list_add(ulp_named_list *list, const void *thing) {
    list->at = ulp_room_for(list->at, list->count, &list->room, list->size);
    memcpy(thing_at(list, list->count++), thing, list->size);
}

static ulp_status add_item(ulp_named_list *list, const char *item, const ulp_option *o, ulp_error *error) {
    list->at = ulp_room_for(list->at, list->count, &list->room, list->size);
    char *next = thing_at(list, list->count);
    ulp_status status = list->read(next, item, o, error);
    for (size_t i = 0; status == ULP_OK && i < list->count; i++)
        if (strcmp(thing_at(list, i), next) == 0) status = ulp_refuse_twin(error, item, next);
    list->count += status == ULP_OK;
    return status;
}

ulp_status ulp_named_list_read(ulp_named_list *list, const char *text, const ulp_option *o, ulp_error *error) {
    char item[ULP_DATAPATH_NAME_MAX];
    const char *at = text;
    int more;
    ulp_status status = ULP_OK;
    if (list->add_all && strcmp(text, "all") == 0) {
        list->add_all(list, o);
        return ULP_OK;
    }
    while (status == ULP_OK && (more = ulp_next_item(item, sizeof item, &at)) != 0)
        status = more < 0                                    ? ulp_refuse_item(error, text)
                 : list->add_all && strcmp(item, "all") == 0 ? ulp_refuse_all(error, text)
                                                             : add_item(list, item, o, error);
    if (status == ULP_OK) return status;
    free(list->at);
    *list = (ulp_named_list){0};
    return status;
}
