/* reductions.c - reading and printing a list of reductions; see reductions.h. */
#include "reductions.h"

#include <stdlib.h>

#include "experiments/harness/cli/types.h"

static ulp_status read_reduction(void *to, const char *item, const ulp_option *option, ulp_error *error) {
    ulp_error why;
    ulp_named_reduction *named = to;
    (void)option;
    if (ulp_reduction_parse(&named->reduction, item, &why) == ULP_OK &&
        ulp_reduction_print(named->name, sizeof named->name, &named->reduction) == ULP_OK)
        return ULP_OK;
    return ulp_refuse(error, ": %s", ulp_after_subject(why.text, "reduction"));
}

static ulp_status read_reductions(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    ulp_named_list list = {.size = sizeof(ulp_named_reduction), .read = read_reduction};
    ULP_TRY(ulp_named_list_read(&list, text, option, error));
    *(ulp_reduction_list *)field = (ulp_reduction_list){list.at, list.count};
    return ULP_OK;
}

static void print_reductions(ulp_text *to, const void *field, const ulp_option *option) {
    const ulp_reduction_list *list = field;
    (void)option;
    for (size_t i = 0; i < list->count; i++) ulp_text_print(to, "%s%s", i ? "," : "", list->at[i].name);
}

static void release_reductions(void *field) { free(((ulp_reduction_list *)field)->at); }

const ulp_option_type ulp_type_reductions = {.value_name = "LIST",
                                             .size = sizeof(ulp_reduction_list),
                                             .read = read_reductions,
                                             .print = print_reductions,
                                             .release = release_reductions,
                                             .topic = "reductions"};
