/* amx.c - the instructions of AMX: one row of A times 16 columns of B, on one row of C. */
#include "native.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>

/* The shape of tile registers 0 to 7, as LDTILECFG reads it. */
typedef struct tile_shape {
    uint8_t palette, start, reserved[14];
    uint16_t bytes[16]; /* in a row */
    uint8_t rows[16];
} tile_shape;

enum { WORDS = 16 }; /* of an instruction */

/* Tile 0: C (1,16), tile 1: A (1,n), tile 2: B (n,16), in words; 0 < n <= WORDS. */
static tile_shape shape_of(size_t n) {
    return (tile_shape){.palette = 1, .bytes = {64, (uint16_t)(4 * n), 64}, .rows = {1, 1, (uint8_t)n}};
}

/* The last instruction has fewer words if they are no multiple of WORDS: a product of zeros can change the sign of a
 * sum that is zero. */
#define DOT(name, target_, step)                                                                                       \
    __attribute__((target(target_))) void name(uint32_t *c, const uint32_t *a, const uint32_t *b, size_t words) {      \
        for (size_t i = 0, most = WORDS; i < words; i += most) {                                                       \
            const size_t left = words - i;                                                                             \
            if (i == 0 || left < WORDS) { /* a new shape clears the registers */                                       \
                most = left < WORDS ? left : WORDS;                                                                    \
                const tile_shape shape = shape_of(most);                                                               \
                if (i > 0) _tile_stored(0, c, 64);                                                                     \
                _tile_loadconfig(&shape);                                                                              \
                _tile_loadd(0, c, 64);                                                                                 \
            }                                                                                                          \
            _tile_loadd(1, a + i, 64);                                                                                 \
            _tile_loadd(2, b + ULP_NATIVE_LANES * i, 64);                                                              \
            step(0, 1, 2);                                                                                             \
        }                                                                                                              \
        if (words > 0) _tile_stored(0, c, 64);                                                                         \
        _tile_release();                                                                                               \
    }

DOT(ulp_dot_amx_bf16, "amx-tile,amx-bf16", _tile_dpbf16ps)
DOT(ulp_dot_amx_int8, "amx-tile,amx-int8", _tile_dpbssd)

/* TDPFP16PS tmm0, tmm1, tmm2, for compilers that do not know it. */
#define DPFP16PS(to, a, b) __asm__ volatile(".byte 0xc4, 0xe2, 0x6b, 0x5c, 0xc1" : : : "memory")
DOT(ulp_dot_amx_fp16, "amx-tile", DPFP16PS)

#endif
