/* layouts.h - codes and scales as they are stored elsewhere: two codes in a byte, cuBLAS's tiles of scales, GGUF. */
#ifndef ULP_LAYOUTS_H
#define ULP_LAYOUTS_H

#include "block.h"

ULP_C_BEGIN

/* packed (ceil(n / 2)) = n codes of 4 bits, the first of two in the low half of a byte; the last half of an odd n is
 * 0. */
void ulp_pack4(uint8_t *packed, const uint16_t *codes, size_t n);
void ulp_unpack4(uint16_t *codes, const uint8_t *packed, size_t n);

/* The place of scale (row, column) among the scales of a matrix in cuBLAS's layout of 1D block scaling factors: tiles
 * of 128 rows and 4 scales, 512 bytes each, in row-major order; in a tile, byte (row mod 32) 16 + (row mod 128 / 32) 4
 * + column mod 4. NVIDIA, cuBLAS documentation, section "1D Block Scaling Factors Layout". */
size_t ulp_swizzled_place(size_t row, size_t column, size_t columns);

/* The bytes of a swizzled matrix of scales: whole tiles. The bytes that are no scale are 0. SIZE_MAX: too many. */
size_t ulp_swizzled_size(size_t rows, size_t columns);

/* The types of GGUF with one scale for 32 elements; ULP_GGML_COUNT: no type has this name. */
typedef enum ulp_ggml { ULP_GGML_Q8_0, ULP_GGML_Q4_0, ULP_GGML_Q4_1, ULP_GGML_COUNT } ulp_ggml;
enum { ULP_GGML_SIZE = 32 };
ulp_ggml ulp_ggml_parse(const char *text);
size_t ulp_ggml_bytes(ulp_ggml type); /* of a block: 34, 18, 20 */

/* bytes (blocks, ulp_ggml_bytes) = x (blocks, 32) as ggml stores it: d and, of q4_1, the minimum m in binary16, in
 * little-endian order, and the elements. Operations are in binary32, each rounded to nearest, as in ggml's
 * quantize_row_q8_0_ref, quantize_row_q4_0_ref and quantize_row_q4_1_ref (ggml-quants.c), with id = 1 / d, or 0 where
 * d = 0:
 *   - q8_0: d = amax / 127; element x id to the nearest integer, ties away from zero
 *   - q4_0: d = v / -8 for the first v of largest magnitude; element trunc(x id + 8.5), at most 15; it stands for
 *     (element - 8) d
 *   - q4_1: d = (max - m) / 15 for the least m; element trunc((x - m) id + 0.5), at most 15; it stands for
 *     element d + m
 * Elements j and j + 16 of the types of 4 bits are the low and the high half of byte j. The elements are made with d in
 * binary32, and decoded with d in binary16. Returns ULP_NOT_IN_RANGE, and sets *bad to the block, where a number is
 * not finite, where d or m is beyond binary16, and where 1 / d is beyond binary32. */
ulp_status ulp_ggml_encode(uint8_t *bytes, size_t *bad, const float *x, size_t blocks, ulp_ggml type);
void ulp_ggml_decode(float *y, const uint8_t *bytes, size_t blocks, ulp_ggml type);

ULP_C_END
#endif
