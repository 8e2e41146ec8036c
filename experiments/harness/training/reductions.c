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

static const ulp_option_type type_reduction = {.size = sizeof(ulp_named_reduction), .read = read_reduction};
const ulp_option_type ulp_type_reductions = {.value_name = "LIST",
                                             .size = sizeof(ulp_reduction_list),
                                             .read = ulp_named_list_read,
                                             .print = ulp_named_list_print,
                                             .release = ulp_list_release,
                                             .item = &type_reduction,
                                             .topic = "reductions"};
