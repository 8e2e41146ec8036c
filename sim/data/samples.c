/* samples.c - permuting, splitting and freeing the samples of a data set; see data.h. */
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "formats/rng.h"

void ulp_data_release(ulp_data *data) {
    free(data->pixel);
    free(data->value);
    free(data->label);
    free(data->character);
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
