/* amx.c - the instructions of AMX: one row of A (16 words) times 16 rows of B, on one row of C. */
#include "native.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>

/* The shape of tile registers 0 to 7, as LDTILECFG reads it. */
typedef struct tile_shape {
    uint8_t palette, start, reserved[14];
    uint16_t bytes[16]; /* in a row */
    uint8_t rows[16];
} tile_shape;

/* Tile 0: C (1,16), tile 1: A (1,16), tile 2: B (16,16), in words. */
static const tile_shape shape = {.palette = 1, .bytes = {64, 64, 64}, .rows = {1, 1, 16}};

#define DOT(name, target_, step)                                                                                       \
    __attribute__((target(target_))) void name(uint32_t *c, const uint32_t *a, const uint32_t *b, size_t words) {      \
        _tile_loadconfig(&shape);                                                                                      \
        _tile_loadd(0, c, 64);                                                                                         \
        for (size_t i = 0; i < words; i += 16) {                                                                       \
            _tile_loadd(1, a + i, 64);                                                                                 \
            _tile_loadd(2, b + ULP_NATIVE_LANES * i, 64);                                                              \
            step(0, 1, 2);                                                                                             \
        }                                                                                                              \
        _tile_stored(0, c, 64);                                                                                        \
        _tile_release();                                                                                               \
    }

DOT(ulp_dot_amx_bf16, "amx-tile,amx-bf16", _tile_dpbf16ps)
DOT(ulp_dot_amx_int8, "amx-tile,amx-int8", _tile_dpbssd)

#else

void ulp_dot_amx_bf16(uint32_t *c, const uint32_t *a, const uint32_t *b, size_t words) {
    ulp_dot_avx512_bf16(c, a, b, words);
}
void ulp_dot_amx_int8(uint32_t *c, const uint32_t *a, const uint32_t *b, size_t words) {
    ulp_dot_avx512_bf16(c, a, b, words);
}

#endif
