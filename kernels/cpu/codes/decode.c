/* decode.c - the values of arrays of codes: computed from the bits, or read from a table of all values. */
#include "codes.h"

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

ULP_INLINE float value_of(uint32_t code, const ulp_reading *r) {
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
    static void name(float *restrict y, const type *restrict codes, size_t n, const ulp_reading *of) {                 \
        const ulp_reading r = *of;                                                                                     \
        const uint32_t mask = 0xffffffffu >> (32 - of->format->bits);                                                  \
        for (size_t i = 0; i < n; i++) y[i] = value((uint32_t)codes[i] & mask, &r);                                    \
    }
RUN(bytes, uint8_t, value_of)
RUN(shorts, uint16_t, value_of)
RUN(fixed_bytes, uint8_t, fixed_value_of)
RUN(fixed_shorts, uint16_t, fixed_value_of)
RUN(unsigned_bytes, uint8_t, unsigned_value_of)
RUN(unsigned_shorts, uint16_t, unsigned_value_of)
RUN(listed_bytes, uint8_t, listed_value_of)
RUN(listed_shorts, uint16_t, listed_value_of)
#undef RUN

void ULP_CPU(ulp_values_of_codes)(float *y, const void *codes, size_t n, unsigned width, const ulp_reading *r) {
    if (r->is_posit) {
        ULP_CPU(ulp_posit_values)(y, codes, n, width, r->format);
        return;
    }
    const int is_fixed = r->format->is_fixed && r->format->is_signed, is_unsigned = r->format->is_fixed && !is_fixed;
    if (width == 16)
        (r->table != NULL ? listed_shorts
         : is_fixed       ? fixed_shorts
         : is_unsigned    ? unsigned_shorts
                          : shorts)(y, codes, n, r);
    else
        (r->table != NULL ? listed_bytes
         : is_fixed       ? fixed_bytes
         : is_unsigned    ? unsigned_bytes
                          : bytes)(y, codes, n, r);
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
