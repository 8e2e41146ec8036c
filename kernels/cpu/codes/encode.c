/* encode.c - the codes of arrays of numbers: each piece is rounded, and its codes are made while it is in the cache. */
#include "codes.h"

#include <string.h>

/* The parts of the code of a binary32 value. A magnitude below 2^emin counts quanta: it is the difference of the words
 * of unit + magnitude and of unit, where unit = 2^(qmin + 23) has the spacing 2^qmin. Above, the code is the word with
 * fewer fraction bits and another bias. A fixed-point code counts quanta in two's complement. */
typedef struct recipe {
    uint32_t normal; /* word of 2^emin */
    uint32_t bias;   /* what the shifted word exceeds the magnitude code by */
    uint32_t shift, inf, nan, sign, mask;
    float unit, quanta; /* quanta: 2^-qmin */
} recipe;

/* Whether recipe_of serves the format. */
static int serves(const ulp_format *f) {
    if (f->taper != ULP_TAPER_NONE || !f->fits_binary32 || !f->has_zero) return 0;
    return f->is_fixed ? f->qmin >= -126 && f->qmin <= 126 : f->emin >= -126 && f->qmin >= -149 && f->qmin <= 104;
}

static recipe recipe_of(const ulp_format *f) {
    recipe r = {.inf = (uint32_t)f->inf_code, .nan = (uint32_t)f->nan_code, .mask = 0xffffffffu >> (32 - f->bits)};
    if (f->is_fixed) {
        r.quanta = (float)ulp_scale(1.0, -f->qmin);
        return r;
    }
    r.normal = ulp_bits32((float)ulp_scale(1.0, f->emin));
    r.shift = 24u - f->prec;
    r.bias = (uint32_t)(127 - f->bias) << (f->prec - 1);
    r.sign = f->is_signed ? 1u << (f->bits - 1) : 0;
    r.unit = (float)ulp_scale(1.0, f->qmin + 23);
    return r;
}

/* A zero of a format without -0, and each number of an unsigned format, has no sign already. */
ULP_INLINE uint32_t code_of(float x, const recipe *r) {
    const uint32_t u = ulp_bits32(x), size = u & 0x7fffffffu;
    const uint32_t few = ulp_bits32(ulp_from_bits32(size) + r->unit) - ulp_bits32(r->unit);
    const uint32_t many = (size >> r->shift) - r->bias, finite = (int32_t)size < (int32_t)r->normal ? few : many;
    const uint32_t any = size == 0x7f800000u ? r->inf : finite, sign = (0u - (u >> 31)) & r->sign;
    return (int32_t)size > 0x7f800000 ? r->nan : any | sign;
}

ULP_INLINE uint32_t fixed_code_of(float x, const recipe *r) { return (uint32_t)(int32_t)(x * r->quanta) & r->mask; }

#define RUN(name, type, code)                                                                                          \
    static void name(type *restrict to, const float *restrict x, size_t n, const recipe *of) {                         \
        const recipe r = *of;                                                                                          \
        for (size_t i = 0; i < n; i++) to[i] = (type)code(x[i], &r);                                                   \
    }
RUN(bytes, uint8_t, code_of)
RUN(shorts, uint16_t, code_of)
RUN(fixed_bytes, uint8_t, fixed_code_of)
RUN(fixed_shorts, uint16_t, fixed_code_of)
#undef RUN

ULP_INLINE int has_nan(const float *x, size_t n) {
    uint32_t nan = 0;
    for (size_t i = 0; i < n; i++) nan |= (uint32_t)((int32_t)(ulp_bits32(x[i]) & 0x7fffffffu) > 0x7f800000);
    return nan != 0;
}

ulp_status ULP_CPU(ulp_codes_of_values)(void *codes, const float *x, size_t n, unsigned width, const ulp_format *f) {
    if (f->nan_codes == ULP_NAN_NONE && has_nan(x, n)) return ULP_NO_NAN;
    if (f->taper == ULP_TAPER_POSIT && ULP_CPU(ulp_tapered_codes_serve)(f)) {
        ULP_CPU(ulp_posit_codes)(codes, x, n, width, f);
        return ULP_OK;
    }
    if (!serves(f)) {
        double values[ULP_PIECE];
        for (size_t at = 0; at < n; at += ULP_PIECE) {
            const size_t some = n - at < ULP_PIECE ? n - at : ULP_PIECE;
            for (size_t i = 0; i < some; i++) values[i] = (double)x[at + i];
            ULP_TRY(ULP_CPU(ulp_codes_of_doubles)((uint8_t *)codes + at * width / 8, values, some, width, f));
        }
        return ULP_OK;
    }
    const recipe r = recipe_of(f);
    if (width == 16) (f->is_fixed ? fixed_shorts : shorts)(codes, x, n, &r);
    else (f->is_fixed ? fixed_bytes : bytes)(codes, x, n, &r);
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_codes_of_doubles)(void *codes, const double *x, size_t n, unsigned width, const ulp_format *f) {
    uint64_t each[ULP_PIECE];
    if (f->taper == ULP_TAPER_TAKUM && ULP_CPU(ulp_tapered_codes_serve)(f)) {
        ULP_CPU(ulp_takum_codes)(codes, x, n, width, f);
        return ULP_OK;
    }
    if (ulp_encode_array(each, x, n, f) < n) return f->nan_codes == ULP_NAN_NONE ? ULP_NO_NAN : ULP_NO_CODE;
    for (size_t i = 0; i < n && width == 16; i++) ((uint16_t *)codes)[i] = (uint16_t)each[i];
    for (size_t i = 0; i < n && width == 8; i++) ((uint8_t *)codes)[i] = (uint8_t)each[i];
    return ULP_OK;
}

void ULP_CPU(ulp_codes_pack)(uint8_t *packed, const uint8_t *codes, size_t n) {
    for (size_t i = 0; i < n / 2; i++) packed[i] = (uint8_t)(codes[2 * i] | codes[2 * i + 1] << 4);
    if (n % 2 != 0) packed[n / 2] = codes[n - 1];
}

/* ---- arrays ---- */

typedef struct work {
    uint8_t *codes;
    const float *x;
    const ulp_rounding *how;
    unsigned width;
    int is_nearest; /* whether `nearest` serves */
    ulp_nearest nearest;
    _Atomic int status; /* of a piece that failed */
} work;

/* Elements at .. at + n - 1, n <= ULP_PIECE. */
static ulp_status encode_piece(const work *w, size_t at, size_t n) {
    const ulp_format *const f = w->how->format;
    uint8_t *const to = w->codes + at * w->width / 8, bytes_of_piece[ULP_PIECE];
    void *const codes = w->width == 4 ? bytes_of_piece : to;
    const unsigned width = w->width == 4 ? 8 : w->width;
    ulp_rounding how = *w->how;
    how.stream.first += at;
    if (w->is_nearest && ULP_CPU(ulp_nearest_codes)(codes, w->x + at, n, width, &w->nearest)) {
        if (w->width == 4) ULP_CPU(ulp_codes_pack)(to, bytes_of_piece, n);
        return ULP_OK;
    }
    if (f->fits_binary32) {
        float values[ULP_PIECE];
        ULP_TRY(ULP_CPU(ulp_cpu_round)(values, w->x + at, n, how));
        ULP_TRY(ULP_CPU(ulp_codes_of_values)(codes, values, n, width, f));
    } else {
        double values[ULP_PIECE];
        for (size_t i = 0; i < n; i++) values[i] = (double)w->x[at + i];
        ULP_TRY(ULP_CPU(ulp_cpu_round64)(values, values, n, how));
        ULP_TRY(ULP_CPU(ulp_codes_of_doubles)(codes, values, n, width, f));
    }
    if (w->width == 4) ULP_CPU(ulp_codes_pack)(to, bytes_of_piece, n);
    return ULP_OK;
}

static void encode_part(void *context, size_t begin, size_t end) {
    work *const w = context;
    for (size_t at = begin; at < end; at += ULP_PIECE) {
        const ulp_status status = encode_piece(w, at, end - at < ULP_PIECE ? end - at : ULP_PIECE);
        if (status != ULP_OK) w->status = (int)status;
    }
}

ulp_status ULP_CPU(ulp_cpu_encode)(void *codes, const float *x, size_t n, unsigned width, ulp_rounding how) {
    work w = {.codes = codes, .x = x, .how = &how, .width = width, .status = ULP_OK};
    w.is_nearest = how.stats == NULL && ULP_CPU(ulp_nearest_begin)(&w.nearest, how.format, how.rule);
    ulp_parallel_for(n, ULP_GRAIN, encode_part, &w);
    return (ulp_status)w.status;
}
