/* aligned.h - memory that begins at a multiple of a power of two. */
#ifndef ULP_BASE_ALIGNED_H
#define ULP_BASE_ALIGNED_H

#include <stdlib.h>

#if defined(_WIN32)
#include <malloc.h>
#endif

/* Memory of `bytes` bytes at a multiple of `alignment`, a power of two of which `bytes` is a multiple. NULL if there is
 * none. The memory goes back by ulp_aligned_free: on Windows `free` does not take it. */
static inline void *ulp_aligned_alloc(size_t alignment, size_t bytes) {
#if defined(_WIN32)
    return _aligned_malloc(bytes, alignment);
#else
    return aligned_alloc(alignment, bytes);
#endif
}

static inline void ulp_aligned_free(void *memory) {
#if defined(_WIN32)
    _aligned_free(memory);
#else
    free(memory);
#endif
}

#endif
