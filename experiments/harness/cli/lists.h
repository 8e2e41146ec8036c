/* lists.h - finding formats, rules and datapaths by name in the lists of options. */
#ifndef ULP_CLI_LISTS_H
#define ULP_CLI_LISTS_H

#include "options.h"

/* The format, rule or datapath of that name; NULL if the list has none. */
const ulp_format *ulp_formats_find(const ulp_format_list *list, const char *name);
const ulp_named_rule *ulp_rules_find(const ulp_rule_list *list, const char *name);
const ulp_datapath *ulp_datapaths_find(const ulp_datapath_list *list, const char *name);

#endif
