/* native.h - declarations that the sources of native products share: operands as codes, tiles, launches. */
#ifndef ULP_CUDA_NATIVE_H
#define ULP_CUDA_NATIVE_H

#include "device.h"

/* D (m,n) = A B + C on codes in device memory, padded with zeros to whole tiles. A has m rows of `depth` bytes, and
 * B has a row of `depth` bytes for each of its n columns: k runs along both. wgmma and tcgen05 have both in slabs
 * (fragments.h). C and D are rows of result codes. c = NULL means zeros. With block scales, a_scales and b_scales hold
 * the codes of scales in groups of ULP_SCALES_BYTES: a group has four scales of each of 128 rows, and the `groups`
 * groups along k follow each other (ulp_native_encode_scales). */
typedef struct ulp_native_job {
    const unsigned char *a, *b;
    const void *c;
    void *d;
    size_t m, n, depth;
    const unsigned char *a_scales, *b_scales;
    size_t groups;
    size_t k;               /* codes of A and of B in a row, padding included */
    size_t promote;         /* bytes of k between two additions to a binary32 total; 0: no total */
    float a_scale, b_scale; /* scales of fp8 by the library */
} ulp_native_job;

/* The tiles of a family. m and n are multiples of the small tile, and of a larger tile if they exceed the small tile.
 */
typedef struct ulp_native_tile {
    unsigned rows, columns;
} ulp_native_tile;

/* Launches a kernel with a block for each tile of D, and `shared` bytes of dynamic shared memory; `more` are the
 * kernel's arguments after the job. Returns ULP_UNSUPPORTED, with a sentence, if the blocks exceed the limit of a
 * launch. */
template <typename... More>
static inline ulp_status ulp_native_launch(const char *name, void (*kernel)(ulp_native_job, More...),
                                           const ulp_native_job &w, ulp_native_tile tile, unsigned threads,
                                           size_t shared = 0, More... more) {
    const size_t down = w.m / tile.rows, across = w.n / tile.columns;
    if (across > 0x7fffffff / down) {
        ulp_cuda_say("%s: %zu times %zu tiles are more than a launch may have blocks", name, down, across);
        return ULP_UNSUPPORTED;
    }
    return ulp_cuda_launch_with(name, kernel, (unsigned)(down * across), threads, shared, w, more...);
}

/* The first element of this block's tile. */
struct ulp_native_origin {
    size_t row, column;
};

/* Blocks go down strips of 8 columns of tiles, so that those that run at the same time share rows and columns. */
template <unsigned ROWS, unsigned COLUMNS>
static __device__ inline ulp_native_origin ulp_native_origin_of(const ulp_native_job &w) {
    const unsigned strip = 8;
    const unsigned down = (unsigned)(w.m / ROWS), across = (unsigned)(w.n / COLUMNS);
    const unsigned first = blockIdx.x / (strip * down) * strip, rest = blockIdx.x - first * down,
                   columns = across - first < strip ? across - first : strip;
    return {(size_t)(rest / columns) * ROWS, (size_t)(first + rest % columns) * COLUMNS};
}

/* mma.cu: the instruction of a row of ULP_NATIVE_MMA, or of ULP_NATIVE_MMA64, which has one size of tiles. */
static const ulp_native_tile ulp_mma_small = {16, 8}, ulp_mma_large = {64, 64}, ulp_mma_64 = {8, 8};
ulp_status ulp_native_mma(unsigned row, const ulp_native_job *job);

/* wgmma.cu: the instruction of a row of ULP_NATIVE_WGMMA. */
static const ulp_native_tile ulp_wgmma_small = {64, 8}, ulp_wgmma_large = {128, 128}, ulp_wgmma_wide = {128, 256};
ulp_status ulp_native_wgmma(unsigned row, const ulp_native_job *job);

/* tcgen05.cu: the instruction of a row of ULP_NATIVE_TCGEN05. */
static const ulp_native_tile ulp_tcgen05_small = {128, 16}, ulp_tcgen05_large = {128, 128};
ulp_status ulp_native_tcgen05(unsigned row, const ulp_native_job *job);

/* The code on this device: the architecture for which it was compiled, 10 major + minor; whether it has wgmma; whether
 * it has tcgen05. */
typedef struct ulp_native_code {
    int architecture, wgmma, tcgen05;
} ulp_native_code;
ulp_status ulp_native_built(ulp_native_code *code);

/* ---- native.cu ---- */

typedef enum ulp_native_family {
    ULP_NATIVE_BY_MMA,
    ULP_NATIVE_BY_WGMMA,
    ULP_NATIVE_BY_TCGEN05,
    ULP_NATIVE_BY_LIBRARY
} ulp_native_family;

/* Opens the device and describes the list, once. The functions below want it to be open. */
ulp_status ulp_native_open(void);
ulp_native_family ulp_native_family_of(const ulp_cuda_native *native);
/* Codes of A, and of B, in 16 bytes. */
unsigned ulp_native_operand_codes(const ulp_cuda_native *native);
static inline bool ulp_native_is_fp8(const ulp_cuda_native *n) { return n->a.bits == 8 && !n->a.is_fixed; }
/* The product whose row is in a datapath of kind NATIVE. */
ulp_status ulp_native_of(ulp_cuda_native *native, const ulp_datapath *datapath);

/* ---- native_codes.cu: values to codes and back ---- */

typedef struct ulp_native_array {
    size_t rows, width; /* the caller's array: element (i,j) is at[i row + j column] */
    size_t row, column;
    size_t all_rows, pitch; /* the codes: number of rows, bytes between rows */
    unsigned in_16_bytes;   /* codes in 16 bytes */
    bool minus;             /* binary64 only: the padding is -0, else +0 */
    bool slabs;             /* operands: the codes lie in slabs (fragments.h), else in rows */
} ulp_native_array;

/* Codes of whole bytes in 16 bytes. A code of tf32 is in the upper bits of a binary32 word. */
static inline unsigned ulp_native_in_16_bytes(const ulp_format *f) { return f->bits == 19 ? 4u : 128u / f->bits; }

/* codes = the codes of x. Codes of 4 and of 6 bits lie one after the other, from the lowest bit on, from the begin of
 * each 16 bytes; zeros follow where 16 bytes hold more bits than codes. *found becomes 1 if the format does not hold an
 * element. T is float or double. */
template <typename T>
ulp_status ulp_native_encode(uint32_t *found, void *codes, const T *x, const ulp_native_array *array,
                             const ulp_format *format);

/* codes (ceil(rows / 128), groups, ULP_SCALES_BYTES) = the codes of the magnitudes of scales x (array->rows,
 * array->width). x = NULL, and padding: 1. array->all_rows and array->pitch are not used. *found becomes 1 if the
 * format does not hold a scale. */
ulp_status ulp_native_encode_scales(uint32_t *found, unsigned char *codes, const float *x,
                                    const ulp_native_array *array, size_t groups, const ulp_format *format);
/* x = the values of codes of binary32, binary16, int32 or binary64. NaN is canonical. */
template <typename T>
ulp_status ulp_native_decode(T *x, const void *codes, const ulp_native_array *array, const ulp_format *format);
/* Adds the number of 4-byte words in which two arrays differ to *count (device memory). */
ulp_status ulp_native_differ(uint64_t *count, const void *x, const void *y, size_t words);
/* to = the codes in consecutive words, without padding. */
ulp_status ulp_native_widen(uint64_t *to, const void *codes, const ulp_native_array *array, unsigned bytes);

/* ---- library.cu: products by cuBLASLt, which is opened at its first use: programs start without it ---- */

/* The reason why the library cannot be used, in a sentence that names the library. "" if it can be used. */
const char *ulp_native_library_lacks(void);

/* D = A B + C by the call of a row of ULP_NATIVE_LIBRARY. The call does not split k into parts (reduction scheme NONE).
 * Returns ULP_UNSUPPORTED, with a sentence, if the library has no algorithm for the product. */
ulp_status ulp_native_library(unsigned row, const ulp_native_job *job);

#endif
