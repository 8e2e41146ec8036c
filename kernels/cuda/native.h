/* native.h - what the sources of native products share: operands as codes, and one function for each way to multiply
 * them. */
#ifndef ULP_CUDA_NATIVE_H
#define ULP_CUDA_NATIVE_H

#include "device.h"

/* D (m,n) = A B + C on codes in device memory, padded with zeros to whole tiles. A has m rows of `depth` bytes, B a row
 * of as many for each of its n columns: k runs along both. C and D are rows of result codes; no C means zeros. */
typedef struct ulp_native_job {
    const unsigned char *a, *b;
    const void *c;
    void *d;
    size_t m, n, depth;
    unsigned bytes;         /* of a code of A and of B */
    size_t promote;         /* bytes of k after which the sum leaves for one in binary32; 0: never */
    float a_scale, b_scale; /* fp8 by the library */
} ulp_native_job;

/* Tiles that a family works on: m and n are multiples of the small tile, and where they are more than one, of the large
 * one. */
typedef struct ulp_native_tile {
    unsigned rows, columns;
} ulp_native_tile;

/* Launch a kernel with a block for each tile of D: along x, down the columns of tiles. ULP_UNSUPPORTED with a sentence
 * if there are more than a launch may have. */
static inline ulp_status ulp_native_launch(const char *name, void (*kernel)(ulp_native_job), const ulp_native_job &w,
                                           ulp_native_tile tile, unsigned threads) {
    const size_t down = w.m / tile.rows, across = w.n / tile.columns;
    if (across > 0x7fffffff / down) {
        ulp_cuda_say("%s: %zu times %zu tiles are more than a launch may have blocks", name, down, across);
        return ULP_UNSUPPORTED;
    }
    return ulp_cuda_launch(name, kernel, (unsigned)(down * across), threads, w);
}

/* The first element of the tile of this block. */
struct ulp_native_origin {
    size_t row, column;
};

template <unsigned ROWS, unsigned COLUMNS>
static __device__ inline ulp_native_origin ulp_native_origin_of(const ulp_native_job &w) {
    const unsigned down = (unsigned)(w.m / ROWS);
    return {(size_t)(blockIdx.x % down) * ROWS, (size_t)(blockIdx.x / down) * COLUMNS};
}

/* mma.cu: the instruction of a row of ULP_NATIVE_MMA or ULP_NATIVE_MMA64, whose tiles have one size. */
static const ulp_native_tile ulp_mma_small = {16, 8}, ulp_mma_large = {64, 64}, ulp_mma_64 = {8, 8};
ulp_status ulp_native_mma(unsigned row, const ulp_native_job *job);

/* wgmma.cu: the instruction of a row of ULP_NATIVE_WGMMA. */
static const ulp_native_tile ulp_wgmma_small = {64, 8}, ulp_wgmma_large = {128, 128};
ulp_status ulp_native_wgmma(unsigned row, const ulp_native_job *job);

/* The architecture that the code which runs on this device was compiled for, 10 major + minor, and whether it holds
 * wgmma. */
ulp_status ulp_native_built(int *architecture, int *wgmma);

/* native.cu: the product that a datapath of kind NATIVE names by its row. */
ulp_status ulp_native_of(ulp_cuda_native *native, const ulp_datapath *datapath);

/* ---- native_codes.cu: values to codes and back ---- */

typedef struct ulp_native_array {
    size_t rows, width; /* as given: element (i,j) is at[i row + j column] */
    size_t row, column;
    size_t all_rows, pitch; /* as codes: rows, bytes from one to the next */
    bool minus;             /* binary64 alone: the padding is -0, else +0 */
} ulp_native_array;

/* Bytes of a code in memory; tf32 stands in the upper bits of a binary32 word. */
static inline unsigned ulp_native_bytes(const ulp_format *f) { return f->bits == 19 ? 4u : f->bits / 8u; }

/* codes <- x; ULP_NO_CODE if an element is no value of the format. T is float or double. */
template <typename T>
ulp_status ulp_native_encode(void *codes, const T *x, const ulp_native_array *array, const ulp_format *format);
/* x <- the values of codes of binary32, binary16, int32 or binary64, NaN canonical. */
template <typename T>
ulp_status ulp_native_decode(T *x, const void *codes, const ulp_native_array *array, const ulp_format *format);
/* The codes themselves, one after the other without padding. */
ulp_status ulp_native_widen(uint64_t *to, const void *codes, const ulp_native_array *array, unsigned bytes);

#endif
