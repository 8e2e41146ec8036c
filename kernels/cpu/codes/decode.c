/* decode.c - the values of arrays of codes: computed from the bits, or read from a table of all values. */
#include "codes.h"
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

/* Whether a loop computes the values; else they are read from a table. */
static int computes(const ulp_format *f) {
    if (f->taper != ULP_TAPER_NONE || !f->fits_binary32) return 0;
    if (f->is_fixed) return f->qmin >= -126 && f->qmin <= 104;
    if (f->emin == -126 && f->bias == 127 && f->prec <= 23 && f->has_subnormals) return 1; /* words without low bits */
    if (f->is_signed && !f->has_neg_zero && !f->has_subnormals) return 0; /* their zeros of both signs are +0 */
    return f->has_zero && f->emin > -126 && f->qmin >= -126;
}

ulp_status ULP_CPU(ulp_reading_begin)(ulp_reading *r, float room[ULP_READING_ROOM], const ulp_format *f) {
    *r = (ulp_reading){.format = f, .nan = -1, .inf = -1, .nan_above = INT32_MAX};
    r->is_posit = f->taper == ULP_TAPER_POSIT && ULP_CPU(ulp_tapered_codes_serve)(f);
    if (r->is_posit) return ULP_OK;
    if (!computes(f)) {
        const size_t count = (size_t)1 << f->bits;
        float *const table = f->bits <= 8 ? room : malloc(count * sizeof *table);
        if (table == NULL) return ULP_NO_MEMORY;
        for (size_t code = 0; code < count; code++) table[code] = (float)ulp_decode(code, f);
        r->table = table;
        return ULP_OK;
    }
    r->magnitude = 0xffffffffu >> (32 - f->bits + (f->is_signed && !f->is_fixed));
    r->sign_shift = 32u - f->bits;
    r->quantum = f->qmin >= -126 && f->has_subnormals ? (float)ulp_scale(1.0, f->qmin) : 0.0f;
    if (f->is_fixed) {
        r->quantum = (float)ulp_scale(1.0, f->qmin);
        return ULP_OK;
    }
    r->normal = f->emin == -126 ? 0 : f->zero_binade ? 1 : (int32_t)1 << (f->prec - 1);
    r->shift = 24u - f->prec;
    r->bias = (uint32_t)(127 - f->bias) << 23;
    r->signs = f->is_signed ? 0x80000000u : 0;
    if (f->has_inf) r->inf = (int32_t)f->inf_code;
    if (f->nan_codes == ULP_NAN_IEEE) r->nan_above = (int32_t)(f->nan_code >> (f->prec - 1) << (f->prec - 1));
    if (f->nan_codes == ULP_NAN_ALL_ONES) r->nan_above = (int32_t)r->magnitude - 1;
    if (f->nan_codes == ULP_NAN_NEG_ZERO) r->nan = (int32_t)f->nan_code;
    return ULP_OK;
}

void ULP_CPU(ulp_reading_end)(ulp_reading *r, const float room[ULP_READING_ROOM]) {
    if (r->table != room) free((void *)(uintptr_t)r->table);
}

/* ---- loops over codes ---- */

/* Of the formats that the vectors below do not serve. */
ULP_INLINE float any_value_of(uint32_t code, const ulp_reading *r) {
    const int32_t size = (int32_t)(code & r->magnitude);
    const uint32_t many = ((uint32_t)size << r->shift) + r->bias, few = ulp_bits32((float)size * r->quantum);
    const uint32_t finite = size < r->normal ? few : many;
    const uint32_t any = (size == r->inf ? 0x7f800000u : finite) | ((code << r->sign_shift) & r->signs);
    return ulp_from_bits32(size > r->nan_above || (int32_t)code == r->nan ? 0x7fc00000u : any);
}

ULP_INLINE float fixed_value_of(uint32_t code, const ulp_reading *r) {
    return (float)((int32_t)(code << r->sign_shift) >> r->sign_shift) * r->quantum;
}

ULP_INLINE float unsigned_value_of(uint32_t code, const ulp_reading *r) { return (float)(int32_t)code * r->quantum; }

ULP_INLINE float listed_value_of(uint32_t code, const ulp_reading *r) { return r->table[code]; }

/* Bits above the code's width do not count. */
#define RUN(name, type, value)                                                                                         \
    static void name(float *y, const void *from, size_t n, const ulp_reading *of) {                                    \
        const ulp_reading r = *of;                                                                                     \
        const type *restrict const codes = from;                                                                       \
        float *restrict const to = y;                                                                                  \
        const uint32_t mask = 0xffffffffu >> (32 - of->format->bits);                                                  \
        for (size_t i = 0; i < n; i++) to[i] = value((uint32_t)codes[i] & mask, &r);                                   \
    }
#define RUNS(of)                                                                                                       \
    RUN(of##_bytes, uint8_t, of##_value_of)                                                                            \
    RUN(of##_shorts, uint16_t, of##_value_of)
RUNS(any)
RUNS(fixed)
RUNS(unsigned)
RUNS(listed)
#undef RUNS
#undef RUN

/* ---- vectors of codes ---- */

/* The constants of a format for all lanes. */
typedef struct lanes {
    vuint magnitude, shift, bias, sign_shift, signs, nan_above, nan, inf;
    vfloat least; /* 2^emin */
} lanes;

static lanes lanes_of(const ulp_reading *r) {
    return (lanes){
        all_uints(r->magnitude),     all_uints(r->shift),         all_uints(r->bias),
        all_uints(r->sign_shift),    all_uints(r->signs),         all_uints((uint32_t)r->nan_above),
        all_uints((uint32_t)r->nan), all_uints((uint32_t)r->inf), (vfloat){0} + (float)ulp_scale(1.0, r->format->emin)};
}

/* A code as a word with the exponent of binary32 has a leading 1. Below 2^emin it has to have none: 2 v - 2^emin, which
 * is less than v there and only there. */
ULP_INLINE vuint values_of(vuint code, const lanes *r, int has_inf, int has_nan_above, int has_nan) {
    const vuint size = code & r->magnitude;
    const vfloat many = (vfloat)(shifted_left(size, r->shift) + r->bias), few = many + (many - r->least);
    vuint y = smaller_numbers((vuint)many, (vuint)few);
    if (has_inf) y = where_equal(size, r->inf, all_uints(0x7f800000u), y);
    y |= shifted_left(code, r->sign_shift) & r->signs;
    if (has_nan_above) y = where_above(size, r->nan_above, all_uints(0x7fc00000u), y);
    if (has_nan) y = where_equal(code, r->nan, all_uints(0x7fc00000u), y);
    return y;
}

ULP_INLINE vuint finite_values_of(vuint code, const lanes *r) { return values_of(code, r, 0, 0, 0); }
ULP_INLINE vuint plain_values_of(vuint code, const lanes *r) { return values_of(code, r, 0, 1, 0); }
ULP_INLINE vuint ieee_values_of(vuint code, const lanes *r) { return values_of(code, r, 1, 1, 0); }
ULP_INLINE vuint bare_values_of(vuint code, const lanes *r) { return values_of(code, r, 1, 0, 1); }

/* Of a format with the exponents of binary32: its words without low bits. */
ULP_INLINE vuint word_values_of(vuint code, const lanes *r) {
    return where_above(code & r->magnitude, r->nan_above, all_uints(0x7fc00000u), shifted_left(code, r->sign_shift));
}

#define RUN(name, type, words_at, value)                                                                               \
    static void name(float *y, const void *from, size_t n, const ulp_reading *of) {                                    \
        const lanes r = lanes_of(of);                                                                                  \
        const type *const codes = from;                                                                                \
        const vuint mask = all_uints(0xffffffffu >> (32 - of->format->bits));                                          \
        type last[FLOATS] = {0};                                                                                       \
        vuint words;                                                                                                   \
        size_t i = 0;                                                                                                  \
        for (; i + FLOATS <= n; i += FLOATS) {                                                                         \
            words = value(words_at(codes + i) & mask, &r);                                                             \
            memcpy(y + i, &words, sizeof words);                                                                       \
        }                                                                                                              \
        if (i == n) return;                                                                                            \
        memcpy(last, codes + i, (n - i) * sizeof *codes);                                                              \
        words = value(words_at(last) & mask, &r);                                                                      \
        memcpy(y + i, &words, (n - i) * sizeof *y);                                                                    \
    }
#define RUNS(of)                                                                                                       \
    RUN(of##_bytes, uint8_t, words_of_bytes, of##_values_of)                                                           \
    RUN(of##_shorts, uint16_t, words_of_halves, of##_values_of)
RUNS(finite)
RUNS(plain)
RUNS(ieee)
RUNS(bare)
RUNS(word)
#undef RUNS
#undef RUN

/* ---- the choice of a loop ---- */

typedef void run(float *y, const void *codes, size_t n, const ulp_reading *r);

static run *run_of(unsigned width, const ulp_reading *r) {
    const ulp_format *const f = r->format;
#define CHOICE(of) return width == 16 ? of##_shorts : of##_bytes
    if (r->table != NULL) CHOICE(listed);
    if (f->is_fixed && f->is_signed) CHOICE(fixed);
    if (f->is_fixed) CHOICE(unsigned);
    if (f->zero_binade || !f->has_subnormals) CHOICE(any);
    if (r->normal == 0 && f->is_signed && r->nan < 0) CHOICE(word);
    if (r->normal == 0) CHOICE(any);
    if (r->nan >= 0) CHOICE(bare);
    if (r->inf >= 0 && f->nan_codes == ULP_NAN_IEEE) CHOICE(ieee);
    if (r->inf >= 0) CHOICE(any);
    if (r->nan_above < INT32_MAX) CHOICE(plain);
    CHOICE(finite);
#undef CHOICE
}

void ULP_CPU(ulp_values_of_codes)(float *y, const void *codes, size_t n, unsigned width, const ulp_reading *r) {
    if (r->is_posit) ULP_CPU(ulp_posit_values)(y, codes, n, width, r->format);
    else run_of(width, r)(y, codes, n, r);
}

void ULP_CPU(ulp_codes_unpack)(uint8_t *codes, const uint8_t *packed, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        codes[2 * i] = packed[i] & 15u;
        codes[2 * i + 1] = (uint8_t)(packed[i] >> 4);
    }
    if (n % 2 != 0) codes[n - 1] = packed[n / 2] & 15u;
}

/* ---- arrays ---- */

typedef struct work {
    float *y;
    const uint8_t *codes;
    const ulp_reading *reading;
    unsigned width;
} work;

static void decode_part(void *context, size_t begin, size_t end) {
    const work *const w = context;
    const uint8_t *const codes = w->codes + begin * w->width / 8;
    uint8_t unpacked[ULP_PIECE];
    if (w->width != 4) {
        ULP_CPU(ulp_values_of_codes)(w->y + begin, codes, end - begin, w->width, w->reading);
        return;
    }
    for (size_t at = 0; at < end - begin; at += ULP_PIECE) {
        const size_t n = end - begin - at < ULP_PIECE ? end - begin - at : ULP_PIECE;
        ULP_CPU(ulp_codes_unpack)(unpacked, codes + at / 2, n);
        ULP_CPU(ulp_values_of_codes)(w->y + begin + at, unpacked, n, 8, w->reading);
    }
}

ulp_status ULP_CPU(ulp_cpu_decode)(float *y, const void *codes, size_t n, unsigned width, const ulp_format *f) {
    float room[ULP_READING_ROOM];
    ulp_reading reading;
    ULP_TRY(ULP_CPU(ulp_reading_begin)(&reading, room, f));
    work w = {y, codes, &reading, width};
    ulp_parallel_for(n, ULP_GRAIN, decode_part, &w);
    ULP_CPU(ulp_reading_end)(&reading, room);
    return ULP_OK;
}
