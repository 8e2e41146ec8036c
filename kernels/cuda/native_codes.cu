// native_codes.cu - codes of native products: of values, padded, and of scales; results as values; differences.
#include "fragments.h"
#include "native.h"

namespace {

/* A thread for each 16 bytes of codes, padding included, whose value is zero. A code of whole bytes has 16 bytes /
 * in_16_bytes; codes of 4 and of 6 bits lie one after the other. A code of tf32 is in the upper bits of its word. */
template <typename T>
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    encode_kernel(uint32_t *found, uint4 *codes, const T *x, const __grid_constant__ ulp_native_array w,
                  const __grid_constant__ ulp_format f) {
    uint32_t bad = 0;
    const uint32_t width = f.bits < 8 ? f.bits : 128 / w.in_16_bytes, shift = f.bits == 19 ? 13 : 0;
    const size_t across = w.pitch / 16;
    for (size_t at = ulp_cuda_thread(); at < w.all_rows * across; at += ulp_cuda_threads()) {
        const size_t i = w.slabs ? ulp_slab_row(w.all_rows, at) : at / across,
                     piece = w.slabs ? ulp_slab_byte(w.all_rows, at) / 16 : at % across, first = piece * w.in_16_bytes;
        uint64_t half[2] = {0, 0};
        for (uint32_t e = 0; e < w.in_16_bytes; e++) {
            const size_t j = first + e;
            const double value = i < w.rows && j < w.width ? (double)x[i * w.row + j * w.column] : w.minus ? -0.0 : 0.0;
            const uint64_t code = f.bits == 64 ? ulp_bits64(value) : (uint64_t)ulp_code_of(value, &f, &bad) << shift;
            const uint32_t bit = e * width;
            if (bit < 64) half[0] |= code << bit;
            if (bit >= 64) half[1] |= code << (bit - 64);
            else if (bit + width > 64) half[1] |= code >> (64 - bit);
        }
        codes[at] = {(uint32_t)half[0], (uint32_t)(half[0] >> 32), (uint32_t)half[1], (uint32_t)(half[1] >> 32)};
    }
    if (bad) atomicOr(found, 1u);
}

/* Threads take one scale after the other, padding included, which is 1. */
__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    scales_kernel(uint32_t *found, unsigned char *codes, const float *x, const __grid_constant__ ulp_native_array w,
                  size_t groups, const __grid_constant__ ulp_format f) {
    uint32_t bad = 0;
    const size_t across = groups * ULP_SCALES_IN_GROUP, down = (w.rows + ULP_SCALES_ROWS - 1) / ULP_SCALES_ROWS;
    for (size_t at = ulp_cuda_thread(); at < down * ULP_SCALES_ROWS * across; at += ulp_cuda_threads()) {
        const size_t i = at / across, j = at % across, group = i / ULP_SCALES_ROWS * groups + j / ULP_SCALES_IN_GROUP;
        const bool given = x != NULL && i < w.rows && j < w.width;
        codes[group * ULP_SCALES_BYTES + ulp_scale_place((uint32_t)(i % ULP_SCALES_ROWS), j % ULP_SCALES_IN_GROUP)] =
            (unsigned char)ulp_code_of_scale(given ? (double)x[i * w.row + j * w.column] : 1.0, &f, &bad);
    }
    if (bad) atomicOr(found, 1u);
}

/* The bits of a result. */
__device__ inline uint64_t get(const void *codes, size_t at, unsigned bytes) {
    if (bytes == 2) return static_cast<const uint16_t *>(codes)[at];
    return bytes == 4 ? (uint64_t) static_cast<const uint32_t *>(codes)[at] : static_cast<const uint64_t *>(codes)[at];
}

__device__ inline double value_of(uint64_t code, unsigned bits, bool fixed) {
    if (fixed) return (double)(int32_t)(uint32_t)code;
    if (bits == 16) return ulp_value_of_half((uint32_t)code);
    const double x = bits == 32 ? (double)ulp_from_bits32((uint32_t)code) : ulp_from_bits64(code);
    return x == x ? x : ulp_quiet_nan();
}

__global__ void __launch_bounds__(ULP_CUDA_THREADS)
    differ_kernel(uint64_t *count, const uint32_t *x, const uint32_t *y, size_t words) {
    unsigned differ = 0;
    for (size_t i = ulp_cuda_thread(); i < words; i += ulp_cuda_threads()) differ += x[i] != y[i];
    if (differ != 0) atomicAdd(reinterpret_cast<unsigned long long *>(count), (unsigned long long)differ);
}

/* Launches a kernel that sets a word where a format does not hold an element, for `pieces` pieces of work. */
template <typename... Expected, typename... Given>
ulp_status run_encoder(size_t pieces, void (*kernel)(uint32_t *, Expected...), Given... given) {
    if (pieces == 0) return ULP_OK;
    return ulp_cuda_launch("values to codes", kernel, ulp_cuda_blocks(pieces), ULP_CUDA_THREADS, given...);
}

} // namespace

template <typename T>
ulp_status ulp_native_encode(uint32_t *found, void *codes, const T *x, const ulp_native_array *array,
                             const ulp_format *format) {
    return run_encoder(array->all_rows * array->pitch / 16, encode_kernel<T>, found, static_cast<uint4 *>(codes), x,
                       *array, *format);
}

ulp_status ulp_native_encode_scales(uint32_t *found, unsigned char *codes, const float *x,
                                    const ulp_native_array *array, size_t groups, const ulp_format *format) {
    return run_encoder(array->rows * groups, scales_kernel, found, codes, x, *array, groups, *format);
}

template <typename T>
ulp_status ulp_native_decode(T *x, const void *codes, const ulp_native_array *array, const ulp_format *format) {
    const ulp_native_array w = *array;
    const unsigned bits = format->bits;
    const bool fixed = format->is_fixed != 0;
    return ulp_cuda_each(w.rows * w.width, "codes to values", [=] __device__(size_t e) {
        const size_t i = e / w.width, j = e % w.width, across = w.pitch / (bits / 8);
        x[i * w.row + j * w.column] = (T)value_of(get(codes, i * across + j, bits / 8), bits, fixed);
    });
}

template ulp_status ulp_native_encode(uint32_t *, void *, const float *, const ulp_native_array *, const ulp_format *);
template ulp_status ulp_native_encode(uint32_t *, void *, const double *, const ulp_native_array *, const ulp_format *);
template ulp_status ulp_native_decode(float *, const void *, const ulp_native_array *, const ulp_format *);
template ulp_status ulp_native_decode(double *, const void *, const ulp_native_array *, const ulp_format *);

ulp_status ulp_native_differ(uint64_t *count, const void *x, const void *y, size_t words) {
    return ulp_cuda_launch("differences", differ_kernel, ulp_cuda_blocks(words), ULP_CUDA_THREADS, count,
                           static_cast<const uint32_t *>(x), static_cast<const uint32_t *>(y), words);
}

ulp_status ulp_native_widen(uint64_t *to, const void *codes, const ulp_native_array *array, unsigned bytes) {
    const ulp_native_array w = *array;
    return ulp_cuda_each(w.rows * w.width, "codes in a row", [=] __device__(size_t e) {
        to[e] = get(codes, e / w.width * (w.pitch / bytes) + e % w.width, bytes);
    });
}
