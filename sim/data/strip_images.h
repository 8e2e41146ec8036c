/* strip_images.h - data sets of strips: images of several digits, made from a data set of single digits. */
#ifndef ULP_STRIP_IMAGES_H
#define ULP_STRIP_IMAGES_H

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A data set of strips: the data set of its digits, its name, and its numbers of strips. */
typedef struct ulp_strips {
    const ulp_data_kind *from;
    const char *name;
    size_t train, test;
} ulp_strips;

/* As `load` of ulp_data_kind. */
ulp_status ulp_strips_load(ulp_data *data, const ulp_strips *strips, const char *folder, uint64_t seed,
                           ulp_error *error);

#ifdef __cplusplus
}
#endif
#endif
