/* lists.c - finding formats, rules and datapaths by name in the lists of options; see lists.h. */
#include "lists.h"

#include <string.h>

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
