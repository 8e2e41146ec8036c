/* set.c - the option of a data set, and loading the set and naming it in the header of the CSV; see set.h. */
#include "set.h"

#include <string.h>

#include "experiments/harness/cli/types.h"
#include "profile.h"

static void list_sets(ulp_text *to) {
    const ulp_data_kind *kind;
    for (size_t i = 0; (kind = ulp_data_kind_get(i)); i++) ulp_text_print(to, "%s%s", i ? " " : "", kind->name);
}

static ulp_status read_set(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    ulp_text known = {0};
    const ulp_data_kind *kind;
    (void)option;
    *(const char **)field = text;
    for (size_t i = 0; (kind = ulp_data_kind_get(i)); i++)
        if (strcmp(kind->name, text) == 0) return ULP_OK;
    list_sets(&known);
    ulp_refuse_word(error, "data set", text, ulp_text_of(&known), "");
    ulp_text_free(&known);
    return ULP_BAD_ARGUMENT;
}

static void print_set(ulp_text *to, const void *field, const ulp_option *option) {
    (void)option;
    ulp_text_print(to, "%s", *(const char *const *)field);
}

const ulp_option_type ulp_type_set = {.value_name = "NAME",
                                      .size = sizeof(const char *),
                                      .read = read_set,
                                      .print = print_set,
                                      .list = list_sets,
                                      .topic = "data"};

ulp_status ulp_set_load(ulp_plan *plan, ulp_data *data, const ulp_set *set) {
    ulp_error error;
    ulp_profile_plan(plan);
    const ulp_status status = ulp_data_load(data, set->name, set->folder, set->seed, &error);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s", error.text);
    ulp_plan_note(plan, "data", "%s, crc32 %08x, %zu for training, %zu for tests", data->name, data->checksum,
                  data->n_train, data->n - data->n_train);
    return ULP_OK;
}
