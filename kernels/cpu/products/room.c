/* room.c - allocation of memory for the packed operands of matrix products. */
#define _DEFAULT_SOURCE /* madvise */
#include "gemm.h"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

enum { SMALL = 4 << 20, HUGE_PAGE = 2 << 20 };

/* Large allocations use large pages. With pages of 4 KiB the page faults take more time than the sums of a product with
 * few results. */
void *ULP_CPU(ulp_gemm_room)(size_t n, size_t size) {
    const size_t bytes = (n * size + 127) / 64 * 64;
    if (bytes < SMALL) return ulp_aligned_alloc(64, bytes);
    const size_t pages = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *room = ulp_aligned_alloc(HUGE_PAGE, pages);
#ifdef MADV_HUGEPAGE
    if (room != NULL) (void)madvise(room, pages, MADV_HUGEPAGE);
#endif
    return room;
}
