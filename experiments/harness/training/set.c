/* set.c - loads the data set of a training experiment and names it in the header of the CSV; see set.h. */
#include "set.h"

ulp_status ulp_set_load(ulp_plan *plan, ulp_data *data, const ulp_set *set) {
    char error[1024];
    const ulp_status status = ulp_data_load(data, set->name, set->folder, set->seed, error, sizeof error);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s", error);
    ulp_plan_note(plan, "data", "%s, crc32 %08x, %zu for training, %zu for tests", data->name, data->checksum,
                  data->n_train, data->n - data->n_train);
    return ULP_OK;
}
