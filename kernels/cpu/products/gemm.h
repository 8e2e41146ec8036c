/* gemm.h - declarations that the product paths share: the elements of a job, random words, packing.
 *
 * kernels/products/sum.h defines a result element by element. The blocking changes the speed and never a bit.
 */
#ifndef ULP_CPU_GEMM_H
#define ULP_CPU_GEMM_H

#include <stdlib.h>

#include "paths.h"
#include "base/aligned.h"
#include "kernels/products/sum.h"

ULP_INLINE double job_at(const ulp_job *w, const void *array, size_t i) {
    return w->wide ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

ULP_INLINE size_t a_index(const ulp_job *w, size_t i, size_t k) {
    return w->s.a_trans ? k * w->s.lda + i : i * w->s.lda + k;
}
ULP_INLINE size_t b_index(const ulp_job *w, size_t k, size_t j) {
    return w->s.b_trans ? j * w->s.ldb + k : k * w->s.ldb + j;
}

/* A matrix in memory: rows of `width` elements, ld elements apart. */
typedef struct matrix {
    const void *x;
    size_t rows, width, ld;
} matrix;

static inline matrix matrix_a(const ulp_job *w) {
    return (matrix){w->a, w->s.a_trans ? w->s.k : w->s.m, w->s.a_trans ? w->s.m : w->s.k, w->s.lda};
}
static inline matrix matrix_b(const ulp_job *w) {
    return (matrix){w->b, w->s.b_trans ? w->s.n : w->s.k, w->s.b_trans ? w->s.k : w->s.n, w->s.ldb};
}
static inline matrix matrix_c(const ulp_job *w) { return (matrix){w->c, w->s.m, w->s.n, w->s.ldc}; }

ULP_INLINE float a_at(const ulp_job *w, size_t i, size_t k) { return ((const float *)w->a)[a_index(w, i, k)]; }
ULP_INLINE float b_at(const ulp_job *w, size_t k, size_t j) { return ((const float *)w->b)[b_index(w, k, j)]; }

/* The sign and payload of a NaN depend on the instruction set. All NaN results become one quiet NaN. */
ULP_INLINE float canonical(float x) { return x == x ? x : ulp_from_bits32(0x7fc00000u); }

/* The first random word of element (i,j) of the job, counted from stream.first. */
ULP_INLINE uint64_t word_index(const ulp_job *w, size_t i, size_t j) {
    return ((uint64_t)(w->i0 + i) * w->columns + w->j0 + j) * ulp_datapath_words(w->datapath, w->s.k);
}

/* The number of row blocks that use a panel of B while the panel is in the second-level cache. The number is small
 * enough to give every thread several pieces. */
ULP_INLINE size_t row_grain(size_t blocks) {
    const size_t share = blocks / (4 * (size_t)ulp_threads_get());
    return share < 1 ? 1 : (share > 16 ? 16 : share);
}

/* Allocates n elements of `size` bytes, 64-byte aligned, for ulp_aligned_free. n = 0 gives NULL only if no memory is
 * left. */
void *ULP_CPU(ulp_gemm_room)(size_t n, size_t size);

/* The arrays of a product. */
typedef struct rooms {
    void *array[8];
    int count, failed; /* failed: there was no memory for one of them */
} rooms;

/* One more array, as of ulp_gemm_room. */
static inline void *rooms_take(rooms *r, size_t n, size_t size) {
    void *const array = ULP_CPU(ulp_gemm_room)(n, size);
    r->failed |= array == NULL;
    r->array[r->count++] = array;
    return array;
}

/* Frees the arrays. */
static inline ulp_status rooms_end(rooms *r) {
    while (r->count > 0) ulp_aligned_free(r->array[--r->count]);
    return r->failed ? ULP_NO_MEMORY : ULP_OK;
}

#endif
