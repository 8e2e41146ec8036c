/* data.c - loading data sets by name; see data.h. */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ulp_status load_kind(const ulp_data_kind *kind, ulp_data *data, const char *folder, uint64_t seed,
                            ulp_error *error) {
    const char *usual = getenv("ULPLAB_DATA");
    if (folder && *folder) return kind->load(data, folder, seed, error);
    if (!usual || !*usual) return kind->load(data, NULL, seed, error);
    ulp_status status = kind->load(data, usual, seed, error);
    return status == ULP_NO_DEVICE && kind->ships ? kind->load(data, NULL, seed, error) : status;
}

static ulp_status refuse_length(const ulp_data_kind *kind, const char *name, ulp_error *error) {
    if (!kind->length) return ulp_fail(error, ULP_BAD_NAME, "data set '%s': %s takes no length", name, kind->name);
    return ulp_fail(error, ULP_BAD_NAME, "data set '%s': the length after %s: is a whole number from 1 to %d", name,
                    kind->name, ULP_LENGTH_MAX);
}

ulp_status ulp_data_find(const ulp_data_kind **kind, size_t *length, const char *name, ulp_error *error) {
    char known[256] = "";
    size_t used = 0;
    const size_t letters = strcspn(name, ":");
    for (size_t i = 0; (*kind = ulp_data_kind_get(i)); i++) {
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", (*kind)->name);
        if (strlen((*kind)->name) != letters || strncmp((*kind)->name, name, letters) != 0) continue;
        *length = (*kind)->length;
        if (!name[letters]) return ULP_OK;
        const char *digits = name + letters + 1;
        const int good = *length && strspn(digits, "0123456789") == strlen(digits) &&
                         ulp_args_number(length, digits, 1, ULP_LENGTH_MAX) == ULP_OK;
        return good ? ULP_OK : refuse_length(*kind, name, error);
    }
    return ulp_fail(error, ULP_BAD_NAME, "no data set '%s'; known: %s", name, known);
}

ulp_status ulp_data_load(ulp_data *data, const char *name, const char *folder, uint64_t seed, ulp_error *error) {
    const ulp_data_kind *kind;
    size_t length = 0;
    memset(data, 0, sizeof *data);
    ulp_error_clear(error);
    ULP_TRY(ulp_data_find(&kind, &length, name, error));
    data->length = length;
    ulp_status status = load_kind(kind, data, folder, seed, error);
    if (status == ULP_OK) return ULP_OK;
    ulp_data_release(data);
    return ulp_fail_default(error, status, "%s: %s", name, ulp_status_text(status));
}
