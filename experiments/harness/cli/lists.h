/* lists.h - searches in the lists of options: for a name, and for the smallest and the largest number. */
#ifndef ULP_CLI_LISTS_H
#define ULP_CLI_LISTS_H

#include "options.h"

/* The format, rule or datapath of that name; NULL if the list has none. */
const ulp_format *ulp_formats_find(const ulp_format_list *list, const char *name);
const ulp_named_rule *ulp_rules_find(const ulp_rule_list *list, const char *name);
const ulp_datapath *ulp_datapaths_find(const ulp_datapath_list *list, const char *name);

/* The smallest and the largest number of a list that is not empty. */
int64_t ulp_integers_least(const ulp_integer_list *list);
int64_t ulp_integers_most(const ulp_integer_list *list);

#endif
