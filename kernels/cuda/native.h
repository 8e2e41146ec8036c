/* native.h - declarations that the sources of native products share: operands as codes, tiles, launches. */
#ifndef ULP_CUDA_NATIVE_H
#define ULP_CUDA_NATIVE_H

#include "device.h"

/* D (m,n) = A B + C on codes in device memory, padded with zeros to whole tiles. A has m rows of `depth` bytes, and
 * B has a row of `depth` bytes for each of its n columns: k runs along both. C and D are rows of result codes. c = NULL
 * means zeros. */
typedef struct ulp_native_job {
    const unsigned char *a, *b;
    const void *c;
    void *d;
    size_t m, n, depth;
    unsigned bytes;         /* bytes of a code of A and of B */
    size_t promote;         /* bytes of k between two additions to a binary32 total; 0: no total */
    float a_scale, b_scale; /* scales of fp8 by the library */
} ulp_native_job;

/* The tiles of a family. m and n are multiples of the small tile, and of the large tile if they exceed the small
 * tile. */
typedef struct ulp_native_tile {
    unsigned rows, columns;
} ulp_native_tile;

/* Launches a kernel with a block for each tile of D, and `shared` bytes of dynamic shared memory. The x index of the
 * grid runs down the columns of tiles. Returns ULP_UNSUPPORTED, with a sentence, if the blocks exceed the limit of a
 * launch. */
static inline ulp_status ulp_native_launch(const char *name, void (*kernel)(ulp_native_job), const ulp_native_job &w,
                                           ulp_native_tile tile, unsigned threads, size_t shared = 0) {
    const size_t down = w.m / tile.rows, across = w.n / tile.columns;
    if (across > 0x7fffffff / down) {
        ulp_cuda_say("%s: %zu times %zu tiles are more than a launch may have blocks", name, down, across);
        return ULP_UNSUPPORTED;
    }
    return ulp_cuda_launch_with(name, kernel, (unsigned)(down * across), threads, shared, w);
}

/* The first element of this block's tile. */
struct ulp_native_origin {
    size_t row, column;
};

template <unsigned ROWS, unsigned COLUMNS>
static __device__ inline ulp_native_origin ulp_native_origin_of(const ulp_native_job &w) {
    const unsigned down = (unsigned)(w.m / ROWS);
    return {(size_t)(blockIdx.x % down) * ROWS, (size_t)(blockIdx.x / down) * COLUMNS};
}

/* mma.cu: the instruction of a row of ULP_NATIVE_MMA, or of ULP_NATIVE_MMA64, which has one size of tiles. */
static const ulp_native_tile ulp_mma_small = {16, 8}, ulp_mma_large = {64, 64}, ulp_mma_64 = {8, 8};
ulp_status ulp_native_mma(unsigned row, const ulp_native_job *job);

/* wgmma.cu: the instruction of a row of ULP_NATIVE_WGMMA. */
static const ulp_native_tile ulp_wgmma_small = {64, 8}, ulp_wgmma_large = {128, 128};
ulp_status ulp_native_wgmma(unsigned row, const ulp_native_job *job);

/* The architecture for which the code on this device was compiled, 10 major + minor, and whether the code has wgmma. */
ulp_status ulp_native_built(int *architecture, int *wgmma);

/* native.cu: the product whose row is in a datapath of kind NATIVE. */
ulp_status ulp_native_of(ulp_cuda_native *native, const ulp_datapath *datapath);

/* ---- native_codes.cu: values to codes and back ---- */

typedef struct ulp_native_array {
    size_t rows, width; /* the caller's array: element (i,j) is at[i row + j column] */
    size_t row, column;
    size_t all_rows, pitch; /* the codes: number of rows, bytes between rows */
    bool minus;             /* binary64 only: the padding is -0, else +0 */
} ulp_native_array;

/* Bytes of a code in memory. A code of tf32 is in the upper bits of a binary32 word. */
static inline unsigned ulp_native_bytes(const ulp_format *f) { return f->bits == 19 ? 4u : f->bits / 8u; }

/* codes = the codes of x. *found becomes 1 if the format does not hold an element. T is float or double. */
template <typename T>
ulp_status ulp_native_encode(uint32_t *found, void *codes, const T *x, const ulp_native_array *array,
                             const ulp_format *format);
/* x = the values of codes of binary32, binary16, int32 or binary64. NaN is canonical. */
template <typename T>
ulp_status ulp_native_decode(T *x, const void *codes, const ulp_native_array *array, const ulp_format *format);
/* Adds the number of 4-byte words in which two arrays differ to *count (device memory). */
ulp_status ulp_native_differ(uint64_t *count, const void *x, const void *y, size_t words);
/* to = the codes in consecutive words, without padding. */
ulp_status ulp_native_widen(uint64_t *to, const void *codes, const ulp_native_array *array, unsigned bytes);

#endif
