/* ranks.c - gathering the data of all ranks by messages to neighbours; see ranks.h. */
#include "ranks.h"

#include "base/error.h"

ulp_status ulp_ranks_gather(const ulp_ranks *r, void *all, size_t bytes) {
    unsigned char *row = all;
    const size_t N = r->count, next = (r->rank + 1) % N, previous = (r->rank + N - 1) % N;
    for (size_t s = 0; s + 1 < N; s++) {
        const size_t out = (r->rank + N - s) % N, in = (r->rank + 2 * N - 1 - s) % N;
        ULP_TRY(r->exchange(r->context, (ulp_message){next, row + out * bytes, bytes},
                            (ulp_message){previous, row + in * bytes, bytes}));
    }
    return ULP_OK;
}
