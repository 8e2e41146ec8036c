/* gemm.h - declarations that the kinds of matrix products share: the job, its elements, packing.
 *
 * kernels/products/sum.h defines a result element by element. The blocking changes the speed and never a bit. Each kind
 * of product is a source with the function ULP_CPU(ulp_gemm_KIND). The function computes the job or returns
 * ULP_UNSUPPORTED; then the next kind is tried. The last kind, gemm_any.c, computes every job.
 */
#ifndef ULP_CPU_GEMM_H
#define ULP_CPU_GEMM_H

#include "kernels/cpu/cpu.h"
#include "kernels/products/sum.h"

typedef struct ulp_job {
    void *c; /* float, or double if wide */
    const void *a, *b;
    int wide;
    ulp_gemm_shape s;
    size_t i0, j0,
        columns; /* the tile's place in the whole result, and the result's columns; random words depend on them */
    const ulp_datapath *datapath;
    ulp_stream stream;
    const ulp_rounding *rounding; /* of C, a whole result with ldc = n; NULL: none. gemm_fp32.c alone rounds C. */
} ulp_job;

ULP_INLINE double job_at(const ulp_job *w, const void *array, size_t i) {
    return w->wide ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

ULP_INLINE size_t a_index(const ulp_job *w, size_t i, size_t k) {
    return w->s.a_trans ? k * w->s.lda + i : i * w->s.lda + k;
}
ULP_INLINE size_t b_index(const ulp_job *w, size_t k, size_t j) {
    return w->s.b_trans ? j * w->s.ldb + k : k * w->s.ldb + j;
}

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

/* Allocates n elements of `size` bytes, 64-byte aligned. n = 0 gives NULL only if no memory is left. */
void *ULP_CPU(ulp_gemm_room)(size_t n, size_t size);

ulp_status ULP_CPU(ulp_gemm_fp32)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_chains)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_blocks)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_odd)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_serial)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_terms)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_lanes)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_exact)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_narrow)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_aligned)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_groups)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_int8)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_native)(const ulp_job *job);
ulp_status ULP_CPU(ulp_gemm_any)(const ulp_job *job);

#endif
