/* paths.c - the table of product paths of one instruction set. */
#include "paths.h"

#define ROW(name, what, condition, example)                                                                            \
    {#name, what, condition, example, ULP_CPU(ulp_serves_##name), ULP_CPU(ulp_product_##name)},
static const ulp_product_path paths[] = {ULP_PATHS(ROW)};

const ulp_product_path *ULP_CPU(ulp_product_paths)(size_t *count) {
    *count = sizeof paths / sizeof *paths;
    return paths;
}
