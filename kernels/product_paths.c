/* product_paths.c - the choice of a product path: the first row of a table that serves, and whose condition holds. */
#include "product_paths.h"

const ulp_product_path *ulp_product_paths_baseline(size_t *count);
#if defined(__x86_64__)
const ulp_product_path *ulp_product_paths_avx2(size_t *count), *ulp_product_paths_avx512(size_t *count);
#endif

/* The tables, in the order of ulp_cpu_backend. */
static const ulp_product_path *(*const tables[])(size_t *count) = {ulp_product_paths_baseline,
#if defined(__x86_64__)
                                                                   ulp_product_paths_avx2, ulp_product_paths_avx512
#endif
};

const ulp_product_path *ulp_product_paths(const ulp_backend *backend, size_t *count) {
    for (size_t i = 0; backend != NULL && i < sizeof tables / sizeof *tables; i++)
        if (ulp_cpu_backend(i) == backend) return tables[i](count);
    *count = 0;
    return NULL;
}

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
