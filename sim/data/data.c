/* data.c - loading data sets by name; see data.h. */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static ulp_status load_kind(const ulp_data_kind *kind, ulp_data *data, const char *folder, uint64_t seed, char *error,
                            size_t error_size) {
    const char *usual = getenv("ULPLAB_DATA");
    if (folder && *folder) return kind->load(data, folder, seed, error, error_size);
    if (!usual || !*usual) return kind->load(data, NULL, seed, error, error_size);
    ulp_status status = kind->load(data, usual, seed, error, error_size);
    return status == ULP_NO_DEVICE && kind->ships ? kind->load(data, NULL, seed, error, error_size) : status;
}

ulp_status ulp_data_load(ulp_data *data, const char *name, const char *folder, uint64_t seed, char *error,
                         size_t error_size) {
    char known[256] = "";
    size_t used = 0;
    memset(data, 0, sizeof *data);
    if (error && error_size) error[0] = 0;
    const ulp_data_kind *kind;
    for (size_t i = 0; (kind = ulp_data_kind_get(i)); i++) {
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", kind->name);
        if (strcmp(kind->name, name) != 0) continue;
        ulp_status status = load_kind(kind, data, folder, seed, error, error_size);
        if (status == ULP_OK) return ULP_OK;
        ulp_data_release(data);
        return error && *error ? status : ulp_fail(error, error_size, status, "%s: %s", name, ulp_status_text(status));
    }
    return ulp_fail(error, error_size, ULP_BAD_NAME, "no data set '%s'; known: %s", name, known);
}
