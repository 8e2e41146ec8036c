/* product_paths.c - the choice of a product path: the first row of a table that serves, and whose condition holds. */
#include "product_paths.h"

size_t ulp_product_path_for(const ulp_product_path *paths, size_t count, size_t first, const ulp_job *job) {
    while (first < count && !paths[first].serves(job)) first++;
    return first;
}

ulp_status ulp_product_run(const ulp_product_path *paths, size_t count, const ulp_job *job) {
    ulp_status status = ULP_UNSUPPORTED;
    for (size_t i = ulp_product_path_for(paths, count, 0, job); i < count && status == ULP_UNSUPPORTED;
         i = ulp_product_path_for(paths, count, i + 1, job))
        status = paths[i].run(job);
    return status;
}
