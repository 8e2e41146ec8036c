/* data.c - loading data sets by name; permuting, splitting and freeing their samples; see data.h. */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/rng.h"

static ulp_status load_kind(const ulp_data_kind *kind, ulp_data *data, const char *folder, uint64_t seed,
                            ulp_error *error) {
    const char *usual = getenv("ULPLAB_DATA");
    if (folder && *folder) return kind->load(data, folder, seed, error);
    if (!usual || !*usual) return kind->load(data, NULL, seed, error);
    ulp_status status = kind->load(data, usual, seed, error);
    return status == ULP_NO_DEVICE && kind->ships ? kind->load(data, NULL, seed, error) : status;
}

ulp_status ulp_data_load(ulp_data *data, const char *name, const char *folder, uint64_t seed, ulp_error *error) {
    char known[256] = "";
    size_t used = 0;
    memset(data, 0, sizeof *data);
    ulp_error_clear(error);
    const ulp_data_kind *kind;
    for (size_t i = 0; (kind = ulp_data_kind_get(i)); i++) {
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", kind->name);
        if (strcmp(kind->name, name) != 0) continue;
        ulp_status status = load_kind(kind, data, folder, seed, error);
        if (status == ULP_OK) return ULP_OK;
        ulp_data_release(data);
        return ulp_fail_default(error, status, "%s: %s", name, ulp_status_text(status));
    }
    return ulp_fail(error, ULP_BAD_NAME, "no data set '%s'; known: %s", name, known);
}

void ulp_data_release(ulp_data *data) {
    free(data->pixel);
    free(data->label);
    memset(data, 0, sizeof *data);
}

void ulp_permutation(uint32_t *order, size_t n, ulp_stream stream) {
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    for (size_t i = n; i-- > 1;) {
        size_t j = (size_t)((uint64_t)ulp_random_word(stream, i) * (i + 1) >> 32);
        uint32_t t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

ulp_status ulp_data_split(ulp_data *data, size_t n_train, uint64_t seed) {
    uint32_t *order = malloc((data->n + 1) * sizeof *order);
    uint8_t *pixel = malloc(data->n * data->features + 1), *label = malloc(data->n * data->labels + 1);
    ulp_stream stream = {seed, ulp_stream_id(ULP_USE_SPLIT, 0, 0, 0), 0};
    ulp_status status = order && pixel && label ? ULP_OK : ULP_NO_MEMORY;
    if (status == ULP_OK) {
        ulp_permutation(order, data->n, stream);
        for (size_t i = 0; i < data->n; i++) {
            memcpy(pixel + i * data->features, data->pixel + order[i] * data->features, data->features);
            memcpy(label + i * data->labels, data->label + order[i] * data->labels, data->labels);
        }
        memcpy(data->pixel, pixel, data->n * data->features);
        memcpy(data->label, label, data->n * data->labels);
        data->n_train = n_train;
    }
    free(order);
    free(pixel);
    free(label);
    return status;
}
