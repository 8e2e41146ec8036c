/* split_k.c - the parts of a sum with the setting split-k=N:FORMAT. */
#include "split_k.h"

size_t ulp_split_k_length(const ulp_datapath *d, size_t k) {
    const size_t steps = k / d->step + (k % d->step != 0), of_part = (steps + d->split_k - 1) / d->split_k;
    return (of_part > 0 ? of_part : 1) * d->step;
}

ulp_status ulp_split_k_part(ulp_datapath *part, const ulp_datapath *d) {
    *part = *d;
    part->split_k = 0;
    return ulp_datapath_init(part);
}
