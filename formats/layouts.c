/* layouts.c - packed codes of 4 bits, swizzled scales, blocks of GGUF; see layouts.h. */
#include "layouts.h"

void ulp_pack4(uint8_t *packed, const uint16_t *codes, size_t n) {
    for (size_t i = 0; i < n; i += 2) {
        const uint32_t high = i + 1 < n ? codes[i + 1] & 15u : 0;
        packed[i / 2] = (uint8_t)((codes[i] & 15u) | high << 4);
    }
}

void ulp_unpack4(uint16_t *codes, const uint8_t *packed, size_t n) {
    for (size_t i = 0; i < n; i++) codes[i] = packed[i / 2] >> (i % 2 ? 4 : 0) & 15;
}

/* ---- scales of cuBLAS ---- */

enum { TILE_ROWS = 128, TILE_COLUMNS = 4, TILE = TILE_ROWS * TILE_COLUMNS };

static size_t tiles(size_t n, size_t size) { return n / size + (n % size != 0); }

size_t ulp_swizzled_place(size_t row, size_t column, size_t columns) {
    const size_t tile = row / TILE_ROWS * tiles(columns, TILE_COLUMNS) + column / TILE_COLUMNS;
    return tile * TILE + row % 32 * 16 + row % TILE_ROWS / 32 * 4 + column % TILE_COLUMNS;
}

size_t ulp_swizzled_size(size_t rows, size_t columns) {
    const size_t down = tiles(rows, TILE_ROWS), across = tiles(columns, TILE_COLUMNS);
    return across > 0 && down > SIZE_MAX / TILE / across ? SIZE_MAX : down * across * TILE;
}

/* ---- GGUF ---- */

enum { HALF = ULP_GGML_SIZE / 2 };

ulp_ggml ulp_ggml_parse(const char *text) {
    static const char names[][5] = {"q8_0", "q4_0", "q4_1"};
    int type = 0;
    for (; type < ULP_GGML_COUNT; type++) {
        size_t i = 0;
        while (i < 5 && (text[i] == 'Q' ? 'q' : text[i]) == names[type][i] && names[type][i] != '\0') i++;
        if (i == 4 && text[i] == '\0') break;
    }
    return (ulp_ggml)type;
}

size_t ulp_ggml_bytes(ulp_ggml type) { return type == ULP_GGML_Q8_0 ? 34 : type == ULP_GGML_Q4_0 ? 18 : 20; }

/* Whether the number is finite in binary16; its bytes go to `to`. */
static int put_half(uint8_t *to, float x) {
    const double half = ulp_round((double)x, &ulp_binary16, (ulp_rule){ULP_RNE, ULP_OVERFLOW_INF, 0}, 0);
    uint64_t code = 0;
    if (ulp_encode(&code, half, &ulp_binary16) != ULP_OK || (code & 0x7c00) == 0x7c00) return 0;
    to[0] = (uint8_t)(code & 255);
    to[1] = (uint8_t)(code >> 8);
    return 1;
}

static float get_half(const uint8_t *from) {
    return (float)ulp_decode((uint64_t)from[0] | (uint64_t)from[1] << 8, &ulp_binary16);
}

/* The extremes of a block. */
typedef struct extremes {
    float least, most, farthest; /* farthest: the first of largest magnitude */
    int are_finite;
} extremes;

static extremes extremes_of(const float *x) {
    extremes e = {x[0], x[0], 0.0f, 1};
    float amax = 0.0f;
    for (int i = 0; i < ULP_GGML_SIZE; i++) {
        const float magnitude = ulp_from_bits32(ulp_bits32(x[i]) & 0x7fffffffu);
        if (!(magnitude <= 0x1.fffffep127f)) e.are_finite = 0;
        if (x[i] < e.least) e.least = x[i];
        if (x[i] > e.most) e.most = x[i];
        if (magnitude > amax) amax = magnitude, e.farthest = x[i];
    }
    return e;
}

/* The element of 4 bits. */
static uint32_t nibble(float x) { return x < 15.0f ? (uint32_t)x : 15; }

/* x to the nearest integer, ties away from zero, |x| < 2^31. */
static int32_t nearest_away(float x) { return x < 0.0f ? -(int32_t)(0.5 - (double)x) : (int32_t)(0.5 + (double)x); }

static int encode_block(uint8_t *bytes, const float *x, ulp_ggml type) {
    const extremes e = extremes_of(x);
    const float amax = e.farthest < 0.0f ? -e.farthest : e.farthest;
    const float d = type == ULP_GGML_Q8_0   ? amax / 127.0f
                    : type == ULP_GGML_Q4_0 ? e.farthest / -8.0f
                                            : (e.most - e.least) / 15.0f;
    const float id = d != 0.0f ? 1.0f / d : 0.0f, magnitude = id < 0.0f ? -id : id;
    if (!e.are_finite || !(magnitude <= 0x1.fffffep127f) || !put_half(bytes, d)) return 0;
    if (type == ULP_GGML_Q4_1 && !put_half(bytes + 2, e.least)) return 0;
    uint8_t *const elements = bytes + (type == ULP_GGML_Q4_1 ? 4 : 2);
    const float minus = type == ULP_GGML_Q4_1 ? e.least : 0.0f, plus = type == ULP_GGML_Q4_1 ? 0.5f : 8.5f;
    for (int i = 0; i < ULP_GGML_SIZE && type == ULP_GGML_Q8_0; i++) elements[i] = (uint8_t)nearest_away(x[i] * id);
    for (int i = 0; i < HALF && type != ULP_GGML_Q8_0; i++) {
        const float low = (x[i] - minus) * id, high = (x[i + HALF] - minus) * id;
        elements[i] = (uint8_t)(nibble(low + plus) | nibble(high + plus) << 4);
    }
    return 1;
}

ulp_status ulp_ggml_encode(uint8_t *bytes, size_t *bad, const float *x, size_t blocks, ulp_ggml type) {
    if (bytes == NULL || x == NULL || (unsigned)type >= ULP_GGML_COUNT) return ULP_BAD_ARGUMENT;
    for (size_t i = 0; i < blocks; i++) {
        if (encode_block(bytes + i * ulp_ggml_bytes(type), x + i * ULP_GGML_SIZE, type)) continue;
        if (bad != NULL) *bad = i;
        return ULP_NOT_IN_RANGE;
    }
    return ULP_OK;
}

void ulp_ggml_decode(float *y, const uint8_t *bytes, size_t blocks, ulp_ggml type) {
    for (size_t block = 0; block < blocks; block++, y += ULP_GGML_SIZE, bytes += ulp_ggml_bytes(type)) {
        const float d = get_half(bytes), m = type == ULP_GGML_Q4_1 ? get_half(bytes + 2) : 0.0f;
        const uint8_t *const elements = bytes + (type == ULP_GGML_Q4_1 ? 4 : 2);
        for (int i = 0; i < ULP_GGML_SIZE; i++) {
            const int32_t half = elements[i % HALF] >> (i < HALF ? 0 : 4) & 15;
            if (type == ULP_GGML_Q8_0) y[i] = (float)((elements[i] ^ 128) - 128) * d;
            else if (type == ULP_GGML_Q4_0) y[i] = (float)(half - 8) * d;
            else y[i] = (float)half * d + m;
        }
    }
}
