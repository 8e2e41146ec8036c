/* lists.c - searches in the lists of options: for a name, and for the smallest and the largest number; see lists.h. */
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
