/* strips.h - strips of joined digits, made from a set of single digits. */
#ifndef ULP_STRIPS_H
#define ULP_STRIPS_H

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A set of strips: the digits that it is made from, and how many strips. */
typedef struct ulp_strips {
    const ulp_data_kind *from;
    const char *name;
    size_t train, test;
} ulp_strips;

/* As ulp_data_kind's load. */
ulp_status ulp_strips_load(ulp_data *data, const ulp_strips *strips, const char *folder, uint64_t seed, char *error,
                           size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
